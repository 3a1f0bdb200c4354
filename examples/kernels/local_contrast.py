"""Brings out the detail of a pale photograph of the moon: contrast-limited adaptive histogram equalisation.

The picture is cut into tiles. Each tile has a table of new greys by which each grey is equally frequent in it; a limit
for the counts keeps noise small (Zuiderveld 1994, "CLAHE"). A pixel mixes the tables of the four nearest tiles.

    python examples/kernels/local_contrast.py [--output out/local_contrast.jpg]
"""

import numpy as np
from pictures import command_line, photograph, write

import iruka

tables_of_tiles = iruka.RawKernel(
    r"""
__global__ void tables_of_tiles(const unsigned char* picture, int width, int tile, int limit, float* tables) {
    __shared__ int counts[256], sums[8];
    int bin = threadIdx.x, lane = bin % 32, warp = bin / 32, pixels = tile * tile;  // a block for a tile
    counts[bin] = 0;
    __syncthreads();
    for (int k = bin; k < pixels; k += 256) {
        int y = blockIdx.y * tile + k / tile, x = blockIdx.x * tile + k % tile;
        atomicAdd(&counts[picture[y * width + x]], 1);
    }
    __syncthreads();
    int below = min(counts[bin], limit);
    for (int distance = 1; distance < 32; distance *= 2) {      // the prefix sum of a warp's 32 counts
        int other = __shfl_up_sync(0xffffffff, below, distance);
        if (lane >= distance) below += other;
    }
    if (lane == 31) sums[warp] = below;
    __syncthreads();
    int total = 0;
    for (int k = 0; k < 8; k++) {
        if (k == warp) below += total;                          // what the warps before this one have counted
        total += sums[k];
    }
    float evenly = (pixels - total) / 256.0f;                   // what was above the limit goes to all greys alike
    tables[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + bin] = 255.0f / pixels * (below + (bin + 1) * evenly);
}""",
    "tables_of_tiles",
)

looked_up = iruka.ElementwiseKernel(
    "uint8 grey, raw const float32 tables, int32 width, int32 tile, int32 rows, int32 columns",
    "float32 out",
    """
    float y = (i / width + 0.5f) / tile - 0.5f, x = (i % width + 0.5f) / tile - 0.5f;   // in tiles, from their middles
    y = min(max(y, 0.0f), rows - 1.0f);
    x = min(max(x, 0.0f), columns - 1.0f);
    int top = y, left = x, bottom = min(top + 1, rows - 1), right = min(left + 1, columns - 1);
    y -= top;
    x -= left;
    top *= columns;
    bottom *= columns;
    float above = (1 - x) * tables[(top + left) * 256 + grey] + x * tables[(top + right) * 256 + grey];
    float below = (1 - x) * tables[(bottom + left) * 256 + grey] + x * tables[(bottom + right) * 256 + grey];
    out = (1 - y) * above + y * below;
    """,
    "looked_up",
)


def equalised(picture, tile=64, limit=3.0):
    """float32 (height, width) of 0...255; extents are multiples of `tile`, `limit` is relative to an even histogram."""
    height, width = picture.shape
    rows, columns = height // tile, width // tile
    tables = iruka.empty((rows, columns, 256), np.float32)
    tables_of_tiles((columns, rows), (256,), (picture, width, tile, int(limit * tile * tile / 256), tables))
    return looked_up(picture, tables, width, tile, rows, columns)


def main():
    options = command_line(__doc__).parse_args()
    picture = photograph("moon.png", "gray")
    result = equalised(picture)
    print(f"deviation of the greys: {float(picture.std()):.1f} before, {float(result.std()):.1f} after")
    part = np.s_[100:400, 100:400]
    write(options.output, picture[part], result[part])


if __name__ == "__main__":
    main()
