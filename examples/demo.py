"""Rebuilds a photograph from the patches of another, with NumPy and with a kernel string, and compares their speed.

    python examples/demo.py [--patch-size 3] [--output out/demo.png] [--all-rows]

The photographs come with scikit-image: a cup of coffee (Rachel Michetti, CC0) and an astronaut (NASA, public domain).
NumPy is timed on every fourth row of the picture, with --all-rows on all of them; Iruka always does the whole picture.
"""

import argparse
import importlib.resources
import os
import pathlib
import sys
import time

import numpy as np
from patch_match import ExactPatchMatch

import iruka
from iruka import image


def photograph(name, reduction=3):
    """uint8 (height, width, 3): a photograph of scikit-image, `reduction` times smaller by block means."""
    path = importlib.resources.files("skimage") / "data" / name
    full = iruka.asnumpy(image.imread(str(path))).astype(np.float64)
    height, width = (extent // reduction for extent in full.shape[:2])
    blocks = full[: height * reduction, : width * reduction].reshape(height, reduction, width, reduction, 3)
    return blocks.mean((1, 3)).round().astype(np.uint8)


class Progress:
    """A progress bar on a terminal; elsewhere a line at each quarter."""

    def __init__(self, label):
        self.label = label
        self.start = time.perf_counter()
        self.quarter = 0
        self.terminal = sys.stderr.isatty()

    def __call__(self, done, total):
        seconds = time.perf_counter() - self.start
        if self.terminal:
            bar = ("#" * (30 * done // total)).ljust(30, ".")
            print(
                f"\r{self.label:<9}[{bar}] row {done} of {total}, {seconds:.1f} s", end="", file=sys.stderr, flush=True
            )
            if done == total:
                print(file=sys.stderr)
        elif 4 * done // total > self.quarter:
            self.quarter = 4 * done // total
            print(f"{self.label:<9}row {done} of {total}, {seconds:.1f} s", file=sys.stderr, flush=True)


def timed(function, *arguments, **options):
    start = time.perf_counter()
    result = function(*arguments, **options)
    return result, time.perf_counter() - start


def side_by_side(pictures, enlarge=3, gap=12):
    """The pictures side by side on white, each pixel a square of `enlarge` pixels."""
    large = [picture.repeat(enlarge, 0).repeat(enlarge, 1) for picture in pictures]
    height = max(picture.shape[0] for picture in large)
    width = sum(picture.shape[1] for picture in large) + gap * (len(large) + 1)
    sheet = np.full((height + 2 * gap, width, 3), 255, np.uint8)
    left = gap
    for picture in large:
        sheet[gap : gap + picture.shape[0], left : left + picture.shape[1]] = picture
        left += picture.shape[1] + gap
    return sheet


def print_table(rows):
    """rows: (label, pixels, seconds, pairs per second)."""
    print(f"\n{'':<52}{'pixels':>8}{'seconds':>10}{'million pairs/s':>17}")
    for label, pixels, seconds, speed in rows:
        print(f"{label:<52}{pixels:>8}{seconds:>10.2f}{speed / 1e6:>17.1f}")
    print(f"{'ratio':<70}{rows[1][3] / rows[0][3]:>16.1f}x")


def main():
    parser = argparse.ArgumentParser(description="Rebuilds a photograph from the patches of another.")
    parser.add_argument("--patch-size", type=int, default=3, help="side of a patch, odd (default: 3)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/demo.png"))
    parser.add_argument("--all-rows", action="store_true", help="time NumPy on the whole picture too")
    arguments = parser.parse_args()

    coffee, astronaut = photograph("coffee.png"), photograph("astronaut.png")
    height, width = coffee.shape[:2]
    candidates = astronaut.shape[0] * astronaut.shape[1]
    rows = range(0, height, 1 if arguments.all_rows else 4)
    print(
        f"Each of the {width} x {height} pixels of the coffee looks for the nearest of {candidates} patches of the "
        f"astronaut ({arguments.patch_size} x {arguments.patch_size}, colour)."
    )

    match = ExactPatchMatch(arguments.patch_size, coffee, astronaut)
    nnf, kernel_seconds = timed(match.get_nnf, strip=8, progress=Progress("Iruka"))
    numpy_nnf, numpy_seconds = timed(match.get_nnf_numpy, rows, progress=Progress("NumPy"))

    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    image.imwrite(arguments.output, iruka.asarray(side_by_side([coffee, astronaut, match.reconstruct()])))

    measured = len(rows) * width
    part = "all rows" if len(rows) == height else f"{len(rows)} of {height} rows"
    print_table(
        [
            (
                f"NumPy, stacked patches and argmin ({part})",
                measured,
                numpy_seconds,
                measured * candidates / numpy_seconds,
            ),
            (
                f"kernel string through Iruka ({os.environ.get('IRUKA_DEVICE', 'cpu')})",
                height * width,
                kernel_seconds,
                height * width * candidates / kernel_seconds,
            ),
        ]
    )
    equal = np.count_nonzero((nnf[list(rows)] == numpy_nnf).all(-1))
    print(f"\nThe two agree on {equal} of {measured} pixels ({100 * equal / measured:.2f} %).")
    print(f"The photographs and the rebuilt one: {arguments.output}")
    return 0 if equal == measured else 1


if __name__ == "__main__":
    sys.exit(main())
