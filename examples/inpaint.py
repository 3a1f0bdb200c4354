"""Fills a hole of a picture with patches of the rest of it.

From a small picture to the full one, near patches are sought among those that lie outside of the hole, the picture is
rebuilt from them, and the hole takes what was rebuilt (Wexler, Shechtman and Irani, "Space-Time Completion of Video",
PAMI 2007; Barnes et al., "PatchMatch", ACM Transactions on Graphics 2009).

    python examples/inpaint.py PICTURE OUT --hole 40 60 80 100        # y, x, height, width
    python examples/inpaint.py PICTURE OUT --mask MASK                # pixels to fill are not black
"""

import argparse

import numpy as np

import iruka
from iruka import image


def shrunk(picture, size):
    return iruka.asnumpy(image.resize(picture, size, "area"))


def grown(hole, patch):
    """Pixels whose patches see the hole: the field must not take them."""
    before = patch // 2
    margin = (before, patch - 1 - before)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(hole, (margin, margin)), (patch, patch))
    return windows.any((2, 3))


def first_guess(picture, hole):
    """Fills the hole from its edge inwards with means of neighbours."""
    picture, known = picture.astype(np.float64), ~hole
    picture[hole] = 0
    while not known.all():
        total, count = np.zeros_like(picture), np.zeros(known.shape)
        for shift in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            y, x = (slice(max(0, s), n + min(0, s)) for s, n in zip(shift, known.shape))
            from_y, from_x = (slice(max(0, -s), n + min(0, -s)) for s, n in zip(shift, known.shape))
            total[y, x] += picture[from_y, from_x] * known[from_y, from_x, None]
            count[y, x] += known[from_y, from_x]
        edge = ~known & (count > 0)
        picture[edge] = total[edge] / count[edge, None]
        known |= edge
    return np.rint(picture).astype(np.uint8)


def inpaint(picture, hole, patch=7, rounds=6, seed=0):
    """The picture, uint8 (height, width, channels), with new pixels where `hole`, bool (height, width), is true."""
    sizes = [hole.shape]
    while min(sizes[-1]) >= 8 * patch:
        sizes.append(tuple((n + 1) // 2 for n in sizes[-1]))
    filled = None
    for size in reversed(sizes):
        level = shrunk(picture, size)
        # A pixel that has any of the hole is part of it.
        level_hole = shrunk((hole * np.uint8(255))[..., None], size)[..., 0] > 0
        allowed = ~grown(level_hole, patch)
        if not allowed.any():
            continue
        if filled is None:
            filled = first_guess(level, level_hole)
        else:
            larger = iruka.asnumpy(image.resize(filled, size, "cubic"))
            filled = np.where(level_hole[..., None], larger, level)
        for number in range(rounds):
            found = image.nnf(filled, filled, patch, "patchmatch", mask=allowed, seed=seed + number)
            rebuilt = iruka.asnumpy(image.reconstruct(found.field, filled, patch))
            filled = np.where(level_hole[..., None], rebuilt, level)
    if filled is None:
        raise ValueError(f"the hole leaves no patch of {patch} x {patch} pixels in a picture of shape {picture.shape}")
    return filled


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture")
    parser.add_argument("out")
    parser.add_argument("--hole", nargs=4, type=int, metavar=("Y", "X", "HEIGHT", "WIDTH"))
    parser.add_argument("--mask")
    parser.add_argument("--patch-size", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if (given.hole is None) == (given.mask is None):
        parser.error("give either --hole or --mask")
    picture = iruka.asnumpy(image.imread(given.picture))
    if given.mask:
        hole = iruka.asnumpy(image.imread(given.mask, mode="gray")) > 0
        if hole.shape != picture.shape[:2]:
            parser.error(f"the mask is of shape {hole.shape}, the picture of {picture.shape[:2]}")
    else:
        y, x, height, width = given.hole
        hole = np.zeros(picture.shape[:2], bool)
        hole[y : y + height, x : x + width] = True
    if not hole.any():
        parser.error("the hole has no pixels of the picture")
    image.imwrite(given.out, inpaint(picture, hole, given.patch_size, seed=given.seed))


if __name__ == "__main__":
    main()
