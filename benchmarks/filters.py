"""Filters of pictures beside OpenCV, on one thread (or several) and in one run.

python benchmarks/filters.py [--rounds N] [--only TEXT] [--threads N]
Times are medians of alternating calls into given memory, for 1080 x 1920 pixels. A ratio is OpenCV's time over Iruka's.
"""

import argparse
import functools
import time

import cv2
import numpy as np

import iruka
from iruka import image
from measure import print_ratios

SHAPE = (1080, 1920)


def smooth_cases(picture, out, other):
    cases = {}
    for size, sigma in ((3, 0), (5, 0), (5, 1.1), (7, 1.5), (13, 2.0), (31, 5.0)):
        cases[f"gaussian {size}, sigma {sigma}"] = (
            functools.partial(image.gaussian_filter, picture, sigma, size, out=out),
            functools.partial(cv2.GaussianBlur, picture, (size, size), sigma, dst=other),
        )
    for size in (3, 5, 9, 31):
        cases[f"box {size}"] = (
            functools.partial(image.box_filter, picture, size, out=out),
            functools.partial(cv2.blur, picture, (size, size), dst=other),
        )
    for size in (3, 5, 7, 11, 21, 51):
        if picture.dtype != np.uint8 and size > 5:
            continue
        cases[f"median {size}"] = (
            functools.partial(image.median_filter, picture, size, out=out),
            functools.partial(cv2.medianBlur, picture, size, dst=other),
        )
    if picture.dtype != np.uint16 and picture.shape[-1] != 4:
        color = 30.0 if picture.dtype == np.uint8 else 30.0 / 255
        for size in (5, 9):
            cases[f"bilateral {size}"] = (
                functools.partial(image.bilateral_filter, picture, size, color, 3.0, out=out),
                functools.partial(cv2.bilateralFilter, picture, size, color, 3.0, dst=other),
            )
    return cases


def other_cases(rng, picture, out, other):
    cases = {}
    for size in (3, 5, 7):
        kernel = rng.normal(size=(size, size)).astype(np.float32) / size
        cases[f"filter2d {size}"] = (
            functools.partial(image.filter2d, picture, kernel, out=out),
            functools.partial(cv2.filter2D, picture, -1, kernel, dst=other),
        )
    if picture.dtype == np.uint8:
        deep, other_deep = np.empty(picture.shape, np.int16), np.empty(picture.shape, np.int16)
        for size in (3, 5, 7):
            cases[f"sobel {size}"] = (
                functools.partial(image.sobel, picture, 1, 0, size, out=deep),
                functools.partial(cv2.Sobel, picture, cv2.CV_16S, 1, 0, ksize=size, dst=other_deep),
            )
        cases["scharr"] = (
            functools.partial(image.scharr, picture, 1, 0, out=deep),
            functools.partial(cv2.Scharr, picture, cv2.CV_16S, 1, 0, dst=other_deep),
        )
        cases["laplacian 1"] = (
            functools.partial(image.laplacian, picture, out=deep),
            functools.partial(cv2.Laplacian, picture, cv2.CV_16S, ksize=1, dst=other_deep),
        )
    for name, size in (("rectangle", 3), ("rectangle", 5), ("rectangle", 31), ("ellipse", 5), ("ellipse", 15)):
        element = iruka.asnumpy(image.structuring_element(name, size))
        cases[f"erode {name} {size}"] = (
            functools.partial(image.erode, picture, element, out=out),
            functools.partial(cv2.erode, picture, element, dst=other),
        )
    element = iruka.asnumpy(image.structuring_element("rectangle", 5))
    cases["open rectangle 5"] = (
        functools.partial(image.morphology, picture, "open", element, out=out),
        functools.partial(cv2.morphologyEx, picture, cv2.MORPH_OPEN, element, dst=other),
    )
    return cases


def region_cases(rng):
    noise = cv2.GaussianBlur(rng.random(SHAPE).astype(np.float32), (0, 0), 3)
    cases = {}
    for name, mask in (("blobs", noise > noise.mean()), ("noise", rng.random(SHAPE) < 0.5)):
        mask = mask.astype(np.uint8)
        cases[f"distance_transform, {name}"] = (
            functools.partial(image.distance_transform, mask),
            functools.partial(cv2.distanceTransform, mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE),
        )
        for connectivity in (4, 8):
            cases[f"connected_components {connectivity}, {name}"] = (
                functools.partial(image.connected_components, mask, connectivity),
                functools.partial(cv2.connectedComponents, mask, connectivity=connectivity),
            )
        cases[f"components' statistics, {name}"] = (
            functools.partial(image.connected_components, mask, statistics=True),
            functools.partial(cv2.connectedComponentsWithStats, mask),
        )
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    cv2.setNumThreads(options.threads)
    iruka.set_num_threads(options.threads)
    rng = np.random.default_rng(0)
    pairs = {}
    for dtype, channels in ((np.uint8, 3), (np.uint8, 1), (np.uint16, 1), (np.float32, 1)):
        shape = (*SHAPE, channels) if channels > 1 else SHAPE
        base = cv2.resize(rng.integers(0, 256, (135, 240, channels)).astype(np.float32), SHAPE[::-1]).reshape(shape)
        noisy = np.clip(base + rng.normal(size=shape) * 8, 0, 255)
        picture = (noisy if dtype != np.float32 else noisy / 255).astype(dtype)
        out, other = np.empty_like(picture), np.empty_like(picture)
        made = {**smooth_cases(picture, out, other), **other_cases(rng, picture, out, other)}
        pairs.update({f"{name}, {np.dtype(dtype).name} x {channels}": pair for name, pair in made.items()})
    pairs.update(region_cases(rng))
    cases = {name: {"iruka": ours, "OpenCV": theirs} for name, (ours, theirs) in pairs.items()}
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print_ratios(cases, options.rounds, options.only, clock)


if __name__ == "__main__":
    main()
