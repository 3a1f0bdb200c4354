"""Resizing, warping and chains of picture operations beside OpenCV and Pillow, on one thread and in one run.

python benchmarks/geometry.py [--rounds N] [--photograph FILE]
Times are processor time, medians of alternating calls into given memory. A ratio is the other library's time over
Iruka's. Like is compared with like: filters without antialiasing and area with OpenCV, antialiased ones with Pillow.
The last rows are reading a JPEG, resizing it to 240 x 240 and normalising it to planes of float32, against reading
alone.
"""

import argparse
import functools
import io
import pathlib

import cv2
import numpy as np
from PIL import Image

import iruka
from iruka import image
from measure import print_ratios

OPENCV = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "area": cv2.INTER_AREA, "cubic": cv2.INTER_CUBIC}
PILLOW = {"area": 4, "linear": 2, "cubic": 3, "lanczos3": 1}
SIZES = [((1080, 1920), (640, 640)), ((256, 256), (224, 224)), ((1080, 1920), (224, 224)), ((480, 640), (960, 1280))]


def resize_cases(rng):
    cases = {}
    for source, size in SIZES:
        for dtype, channels in (
            (np.uint8, 3),
            (np.uint8, 1),
            (np.uint8, 4),
            (np.uint16, 3),
            (np.float32, 3),
            (np.float32, 1),
        ):
            picture = rng.integers(0, 256, (*source, channels)).astype(dtype)
            out, other = np.empty((*size, channels), dtype), np.empty((*size, channels), dtype)
            name = f"{source[0]}x{source[1]} to {size[0]}x{size[1]}, {np.dtype(dtype).name} x {channels}"
            for filter, flag in OPENCV.items():
                cases[f"{name}, {filter}"] = {
                    "iruka": functools.partial(image.resize, picture, size, filter, convention="opencv", out=out),
                    "OpenCV": functools.partial(cv2.resize, picture, size[::-1], dst=other, interpolation=flag),
                }
            if dtype != np.uint8 or channels == 4:  # Pillow multiplies by alpha
                continue
            pillow = Image.fromarray(picture.squeeze())
            for filter, flag in PILLOW.items():
                cases[f"{name}, {filter}, antialiased"] = {
                    "iruka": functools.partial(image.resize, picture, size, filter, out=out),
                    "Pillow": functools.partial(pillow.resize, size[::-1], flag),
                }
    return cases


def warp_cases(rng):
    cases = {}
    for zoom in (0.8, 2.0):
        affine = cv2.getRotationMatrix2D((960, 540), 30, zoom)
        perspective = np.vstack([affine, [1e-5, 2e-5, 1]])
        for dtype, channels in ((np.uint8, 3), (np.uint8, 1), (np.float32, 1)):
            picture = rng.integers(0, 256, (1080, 1920, channels)).astype(dtype)
            out, other = np.empty_like(picture), np.empty_like(picture)
            for filter in ("nearest", "linear", "cubic"):
                name = f"1080x1920 by 30 degrees and {zoom}, {np.dtype(dtype).name} x {channels}, {filter}"
                size, flags = (1080, 1920), OPENCV[filter]
                cases[f"{name}, affine"] = {
                    "iruka": functools.partial(image.warp_affine, picture, affine, size, filter, out=out),
                    "OpenCV": functools.partial(cv2.warpAffine, picture, affine, size[::-1], dst=other, flags=flags),
                }
                cases[f"{name}, perspective"] = {
                    "iruka": functools.partial(image.warp_perspective, picture, perspective, size, filter, out=out),
                    "OpenCV": functools.partial(
                        cv2.warpPerspective, picture, perspective, size[::-1], dst=other, flags=flags
                    ),
                }
    return cases


def preprocessing_cases(data):
    """A file, and what a network takes of it."""
    shape = image.peek(data).shape
    whole, planes = np.empty(shape, np.uint8), np.empty((3, 240, 240), np.float32)
    mean, std = np.float32([123.7, 116.3, 103.5]), np.float32([58.4, 57.1, 57.4])
    chain = image.Chain([image.Resize((240, 240)), image.Normalize(mean, std), image.Layout("CHW")])

    def opencv():
        resized = cv2.resize(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB), (240, 240))
        return ((resized - mean) / std).transpose(2, 0, 1)

    return {
        "iruka": lambda: image.imdecode(data, chain=chain, out=planes),
        "iruka, decoding alone": lambda: image.imdecode(data, out=whole),
        "iruka, reducing_gap=1": lambda: image.imdecode(data, chain=chain, reducing_gap=1, out=planes),
        "iruka, reducing_gap=2": lambda: image.imdecode(data, chain=chain, reducing_gap=2, out=planes),
        "OpenCV and NumPy": opencv,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--photograph", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    iruka.set_num_threads(1)
    rng = np.random.default_rng(0)
    if options.photograph:
        data = options.photograph.read_bytes()
    else:
        buffer = io.BytesIO()
        noise = cv2.resize(
            rng.integers(0, 256, (60, 80, 3)).astype(np.uint8), (1024, 768), interpolation=cv2.INTER_CUBIC
        )
        Image.fromarray(noise).save(buffer, "jpeg", quality=90)
        data = buffer.getvalue()
    cases = {**resize_cases(rng), **warp_cases(rng), "JPEG to 240x240 float32 planes": preprocessing_cases(data)}
    print_ratios(cases, options.rounds, options.only)


if __name__ == "__main__":
    main()
