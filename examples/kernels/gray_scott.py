"""Spots and stripes out of two reacting chemicals (Gray and Scott 1984), by two forms of kernels.

The chemical U is fed, V lives on U and is taken away, and both spread to the eight neighbours. The rate of feeding
grows from left to right and that of taking away from bottom to top, so each place shows the pattern of its rates.

    python examples/kernels/gray_scott.py [--steps 4000] [--form elementwise|rawkernel] [--output out/gray_scott.png]
"""

import numpy as np
from pictures import colours, command_line, write

import iruka
from iruka import jit

reaction = iruka.ElementwiseKernel(
    "raw const float32 u, raw const float32 v, float32 feed, float32 kill, int32 width, int32 height",
    "float32 next_u, float32 next_v",
    """
    int x = i % width, y = i / width;
    int left = (x == 0 ? width : x) - 1, right = x == width - 1 ? 0 : x + 1;
    int here = y * width, above = (y == 0 ? height - 1 : y - 1) * width, below = (y == height - 1 ? 0 : y + 1) * width;
    float spread_u = 0.2f * (u[above + x] + u[below + x] + u[here + left] + u[here + right]) +
        0.05f * (u[above + left] + u[above + right] + u[below + left] + u[below + right]) - u[i];
    float spread_v = 0.2f * (v[above + x] + v[below + x] + v[here + left] + v[here + right]) +
        0.05f * (v[above + left] + v[above + right] + v[below + left] + v[below + right]) - v[i];
    float reacting = u[i] * v[i] * v[i];
    next_u = u[i] + spread_u - reacting + feed * (1 - u[i]);
    next_v = v[i] + 0.5f * spread_v + reacting - (kill + feed) * v[i];
    """,
    "reaction",
)

TILE = 16  # a block has 16 x 16 threads, and their cells with a margin of one cell in shared memory
SIDE = TILE + 2


@jit.rawkernel(device=True)
def spread(cells, k):
    """What flows into cell k of a tile: the mean of its neighbours less its own."""
    straight = cells[k - SIDE] + cells[k + SIDE] + cells[k - 1] + cells[k + 1]
    diagonal = cells[k - SIDE - 1] + cells[k - SIDE + 1] + cells[k + SIDE - 1] + cells[k + SIDE + 1]
    return 0.2 * straight + 0.05 * diagonal - cells[k]


@jit.rawkernel()
def reaction_of_tiles(u, v, feed, kill, next_u, next_v):
    height, width = u.shape
    us = jit.shared_memory(np.float32, SIDE * SIDE)
    vs = jit.shared_memory(np.float32, SIDE * SIDE)
    for k in range(jit.threadIdx.y * TILE + jit.threadIdx.x, SIDE * SIDE, TILE * TILE):
        row = (jit.blockIdx.y * TILE + k // SIDE - 1) % height  # Python's %: row -1 is the last one
        column = (jit.blockIdx.x * TILE + k % SIDE - 1) % width
        us[k], vs[k] = u[row, column], v[row, column]
    jit.syncthreads()
    x, y = jit.grid(2)
    if x < width and y < height:
        k = (jit.threadIdx.y + 1) * SIDE + jit.threadIdx.x + 1
        reacting = us[k] * vs[k] * vs[k]
        next_u[y, x] = us[k] + spread(us, k) - reacting + feed[x] * (1 - us[k])
        next_v[y, x] = vs[k] + 0.5 * spread(vs, k) + reacting - (kill[y] + feed[x]) * vs[k]


def simulated(u, v, feed, kill, steps, form="elementwise"):
    """The chemicals after some steps: float32 (height, width), from rates of each column (feed) and row (kill)."""
    height, width = u.shape
    now, after = (u.copy(), v.copy()), (iruka.empty_like(u), iruka.empty_like(v))
    grid = (width + TILE - 1) // TILE, (height + TILE - 1) // TILE
    for _ in range(steps):
        if form == "elementwise":
            reaction(*now, feed, kill[:, None], width, height, *after)  # the rates broadcast
        else:
            reaction_of_tiles(grid, (TILE, TILE), (*now, feed, kill, *after))
        now, after = after, now
    return now


def start(height, width):
    """U everywhere, and V in scattered squares."""
    u, v = np.ones((height, width), np.float32), np.zeros((height, width), np.float32)
    for row, column in np.random.default_rng(1).integers(0, (height - 6, width - 6), (height * width // 400, 2)):
        u[row : row + 6, column : column + 6], v[row : row + 6, column : column + 6] = 0.5, 0.25
    return iruka.asarray(u), iruka.asarray(v)


def main():
    parser = command_line(__doc__)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--form", choices=("elementwise", "rawkernel"), default="elementwise")
    options = parser.parse_args()
    u, v = start(256, 256)
    feed, kill = iruka.linspace(0.02, 0.06, 256, dtype=np.float32), iruka.linspace(0.067, 0.058, 256, dtype=np.float32)
    frames = []
    for _ in range(3):  # three moments of the development
        u, v = simulated(u, v, feed, kill, options.steps // 3, options.form)
        frames.append(v)
        print(f"V covers {100 * float((v > 0.1).mean()):.1f} % of the area")
    write(options.output, *(colours(frame, 0, 0.4) for frame in frames))


if __name__ == "__main__":
    main()
