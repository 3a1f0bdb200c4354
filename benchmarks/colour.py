"""Colours, tables, equalisation and statistics of pictures beside OpenCV and scikit-image, on one thread, in one run.

python benchmarks/colour.py [--rounds N] [--only TEXT]
Times are processor time, medians of alternating calls into given memory. A ratio is the other library's time over
Iruka's. Pictures have 1080 x 1920 pixels.
"""

import argparse
import functools

import cv2
import numpy as np
from skimage.metrics import structural_similarity

import iruka
from iruka import image
from measure import print_ratios

CONVERSIONS = {
    ("rgb", "gray"): cv2.COLOR_RGB2GRAY,
    ("rgb", "hsv"): cv2.COLOR_RGB2HSV,
    ("rgb", "lab"): cv2.COLOR_RGB2LAB,
    ("rgb", "ycbcr"): cv2.COLOR_RGB2YCrCb,
    ("hsv", "rgb"): cv2.COLOR_HSV2RGB,
    ("lab", "rgb"): cv2.COLOR_LAB2RGB,
    ("ycbcr", "rgb"): cv2.COLOR_YCrCb2RGB,
    ("gray", "rgb"): cv2.COLOR_GRAY2RGB,
    ("rgb", "bgr"): cv2.COLOR_RGB2BGR,
}


def pictures(rng, dtype):
    noise = rng.integers(0, 256, (135, 240, 3)).astype(np.uint8)
    smooth = cv2.resize(noise, (1920, 1080), interpolation=cv2.INTER_CUBIC)
    smooth = np.clip(smooth.astype(int) + rng.integers(-8, 9, smooth.shape), 0, 255).astype(np.uint8)
    if dtype == np.uint16:
        return smooth * np.uint16(257)
    return smooth if dtype == np.uint8 else (smooth / np.float32(255)).astype(np.float32)


def conversion_cases(rng):
    cases = {}
    for dtype in (np.uint8, np.uint16, np.float32):
        colors = pictures(rng, dtype)
        for (source, target), code in CONVERSIONS.items():
            if dtype == np.uint16 and {"hsv", "lab"} & {source, target}:
                continue  # OpenCV has none
            picture = colors[..., 0].copy() if source == "gray" else colors
            if source in ("hsv", "lab"):
                picture = cv2.cvtColor(colors, cv2.COLOR_RGB2HSV if source == "hsv" else cv2.COLOR_RGB2LAB)
            shape = colors.shape[:2] if target == "gray" else colors.shape
            out, other = np.empty(shape, dtype), np.empty(shape, dtype)
            cases[f"{source} to {target}, {np.dtype(dtype).name}"] = {
                "iruka": functools.partial(image.convert_color, picture, source, target, out=out),
                "OpenCV": functools.partial(cv2.cvtColor, picture, code, dst=other),
            }
    return cases


def table_cases(rng):
    colors = pictures(rng, np.uint8)
    gray = np.ascontiguousarray(colors[..., 0])
    table = rng.integers(0, 256, 256).astype(np.uint8)
    tables = rng.integers(0, 256, (3, 256)).astype(np.uint8)
    out, other, flat, plain = (np.empty_like(each) for each in (colors, colors, gray, gray))
    matrix = rng.normal(size=(3, 3)).astype(np.float32)
    clahe = cv2.createCLAHE(2.0, (8, 8))
    return {
        "lookup, one table, RGB": {
            "iruka": functools.partial(image.lookup, colors, table, out=out),
            "OpenCV": functools.partial(cv2.LUT, colors, table, dst=other),
        },
        "lookup, a table for each channel, RGB": {
            "iruka": functools.partial(image.lookup, colors, tables, out=out),
            "OpenCV": functools.partial(cv2.LUT, colors, tables.T.reshape(1, 256, 3).copy(), dst=other),
        },
        "equalize, grey": {
            "iruka": functools.partial(image.equalize, gray, out=flat),
            "OpenCV": functools.partial(cv2.equalizeHist, gray, dst=plain),
        },
        "clahe, grey": {
            "iruka": functools.partial(image.clahe, gray, 2.0, out=flat),
            "OpenCV": lambda: clahe.apply(gray, plain),
        },
        "matrix, RGB": {
            "iruka": functools.partial(image.color_matrix, colors, matrix, out=out),
            "OpenCV": functools.partial(cv2.transform, colors, matrix, dst=other),
        },
        "brightness, RGB": {
            "iruka": functools.partial(image.brightness, colors, 1.3, out=out),
            "OpenCV": functools.partial(cv2.convertScaleAbs, colors, other, 1.3),
        },
        "histogram, grey": {
            "iruka": functools.partial(image.histogram, gray),
            "OpenCV": functools.partial(cv2.calcHist, [gray], [0], None, [256], [0, 256]),
        },
        "channel_moments, RGB": {
            "iruka": functools.partial(image.channel_moments, colors),
            "OpenCV": functools.partial(cv2.meanStdDev, colors),
        },
        "psnr, RGB": {
            "iruka": functools.partial(image.psnr, colors, out),
            "OpenCV": functools.partial(cv2.PSNR, colors, out),
        },
    }


def chain_cases(rng):
    """What a network's training does to a picture."""
    colors = pictures(rng, np.uint8)
    planes = np.empty((3, 224, 224), np.float32)
    stages = [image.Resize((224, 224)), image.Saturation(1.2), image.Brightness(0.9),
              image.Normalize((123.7, 116.3, 103.5), (58.4, 57.1, 57.4)), image.Layout("CHW")]  # fmt: skip
    chain, plain = image.Chain(stages), image.Chain([stages[0], *stages[3:]])
    return {
        "1080p to 224 x 224, saturation, brightness, normalised planes": {
            "iruka": functools.partial(chain, colors, out=planes),
            "iruka without colours": functools.partial(plain, colors, out=planes),
        }
    }


def similarity_cases(rng):
    a = pictures(rng, np.uint8)[:540, :960, 0].copy()
    b = np.clip(a.astype(int) + rng.integers(-9, 10, a.shape), 0, 255).astype(np.uint8)
    options = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 255}
    return {
        "ssim, grey 540 x 960": {
            "iruka": functools.partial(image.ssim, a, b),
            "scikit-image": functools.partial(structural_similarity, a, b, **options),
        }
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    iruka.set_num_threads(1)
    rng = np.random.default_rng(0)
    cases = {**conversion_cases(rng), **table_cases(rng), **chain_cases(rng), **similarity_cases(rng)}
    print_ratios(cases, options.rounds, options.only)


if __name__ == "__main__":
    main()
