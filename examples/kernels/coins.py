"""Counts the coins in a photograph: connected components by union and find, kernels written in Python (jit.rawkernel).

Each pixel points to a pixel of its component that comes earlier; the first one points to itself. All threads join
neighbours at the same time: an atomic minimum sees to it that no link is lost (Komura 2015).

    python examples/kernels/coins.py [--output out/coins.png]
"""

import numpy as np
from pictures import command_line, photograph, write

import iruka
from iruka import jit


@jit.rawkernel(device=True)
def first_of(links, k):
    while links[k] != k:
        k = links[k]
    return k


@jit.rawkernel(device=True)
def join(links, a, b):
    while True:
        a, b = first_of(links, a), first_of(links, b)
        if a == b:
            return
        a, b = max(a, b), min(a, b)
        before = jit.atomic_min(links, a, b)
        if before == a:  # it still was the first of its component
            return
        a = before


@jit.rawkernel()
def join_neighbours(mask, links):
    height, width = mask.shape
    x, y = jit.grid(2)
    if x >= width or y >= height or not mask[y, x]:
        return
    k = y * width + x
    if x > 0 and mask[y, x - 1]:
        join(links, k, k - 1)
    if y > 0:
        for dx in range(-1, 2):
            if 0 <= x + dx < width and mask[y - 1, x + dx]:
                join(links, k, k - width + dx)


@jit.rawkernel()
def point_to_first(mask, links):
    height, width = mask.shape
    x, y = jit.grid(2)
    if x < width and y < height and mask[y, x]:
        links[y * width + x] = first_of(links, y * width + x)


def components(mask):
    """int64 (height, width): 0 outside of the mask; components of eight neighbours are 1, 2, ... in reading order."""
    height, width = mask.shape
    links = iruka.arange(mask.size, dtype=np.int32)
    grid, block = ((width + 31) // 32, (height + 7) // 8), (32, 8)
    join_neighbours(grid, block, (mask, links))
    point_to_first(grid, block, (mask, links))
    firsts = mask.ravel() & (links == iruka.arange(mask.size))
    numbers = iruka.cumsum(firsts)
    return iruka.where(mask.ravel(), numbers[links], 0).reshape(mask.shape)


def coins_in(picture, window=61, least=400):
    """Components brighter than their surroundings, of at least so many pixels, away from the border; their sizes."""
    grey = picture.astype(np.float64)
    padded = iruka.pad(grey, window // 2, mode="reflect")
    around = iruka.lib.stride_tricks.sliding_window_view(padded, (window, window)).mean(axis=(2, 3))
    found = components(grey > around + 8)
    sizes = iruka.bincount(found.ravel())
    large = sizes >= least
    for border in (found[0], found[-1], found[:, 0], found[:, -1]):
        large[border] = False
    return iruka.where(large[found], found, 0), sizes[large]


def main():
    options = command_line(__doc__).parse_args()
    picture = photograph("coins.png", "gray")
    found, sizes = coins_in(picture)
    print(f"{sizes.size} coins of {int(sizes.min())} to {int(sizes.max())} pixels")
    palette = np.random.default_rng(4).integers(60, 256, (int(found.max()) + 1, 3))
    palette[0] = 0
    write(options.output, picture, palette[iruka.asnumpy(found)])


if __name__ == "__main__":
    main()
