"""Reading and writing pictures beside OpenCV, Pillow and libjpeg-turbo's own loop, on one thread and in one run.

python benchmarks/codecs.py [--rounds N] [--photographs FOLDER]
Times are processor time, medians of alternating calls. A ratio is the other library's time over Iruka's. JPEGs are all
of FOLDER or, without it, a photograph of scikit-image; the other formats hold a photograph of 1024 x 1024.
"""

import argparse
import ctypes
import functools
import importlib.resources
import io
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np
from PIL import Image

from iruka import image
from measure import print_ratios

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python"))
from image_files import pillow, tiff

LOOP = pathlib.Path(__file__).resolve().parent / "baseline" / "jpeg_loop.cpp"


@functools.cache
def libjpeg():
    """LOOP's function, compiled by the system's compiler."""
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder, "loop.so")
        subprocess.run(["c++", "-O2", "-shared", "-fPIC", LOOP, "-o", library, "-ljpeg"], check=True)
        return ctypes.CDLL(str(library)).decode


def by_loop(data, out):
    libjpeg()(data, ctypes.c_ulong(len(data)), out.ctypes.data_as(ctypes.c_void_p))


def by_opencv(data):
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)


def by_pillow(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def photograph():
    file = importlib.resources.files("skimage") / "data" / "astronaut.png"
    return np.tile(np.asarray(Image.open(file).convert("RGB")), (2, 2, 1))


def jpeg_cases(files):
    """All files by each function; those of a size that is known get memory that is there."""
    ours = [np.empty(image.peek(data).shape, np.uint8) for data in files]
    theirs = [np.empty_like(out) for out in ours]
    thirds = [(out.shape[0] // 3, out.shape[1] // 3) for out in ours]
    return {
        "iruka": lambda: [image.imdecode(data, out=out) for data, out in zip(files, ours)],
        "libjpeg's loop": lambda: [by_loop(data, out) for data, out in zip(files, theirs)],
        "OpenCV": lambda: [by_opencv(data) for data in files],
        "Pillow": lambda: [by_pillow(data) for data in files],
        "iruka, at_least a third": lambda: [image.imdecode(d, at_least=third) for d, third in zip(files, thirds)],
        "iruka, roi of a ninth": lambda: [image.imdecode(d, roi=third + third) for d, third in zip(files, thirds)],
    }


def decode_cases(picture):
    files = {
        "PNG": pillow(picture, "png"),
        "PNG, palette": pillow(picture, "png", "P"),
        "WebP": pillow(picture, "webp", quality=80),
        "WebP, lossless": pillow(picture, "webp", lossless=True, method=0),
        "TIFF": pillow(picture, "tiff"),
        "TIFF, tiles": tiff(picture, photometric="rgb", tile=(256, 256)),
        "TIFF, LZW": pillow(picture, "tiff", compression="tiff_lzw"),
        "TIFF, deflate": pillow(picture, "tiff", compression="tiff_adobe_deflate"),
        "TIFF, Group 4": pillow(picture, "tiff", "1", compression="group4"),
        "BMP": pillow(picture, "bmp"),
        "BMP, palette": pillow(picture, "bmp", "P"),
        "GIF": pillow(picture, "gif", "P"),
        "PPM": pillow(picture, "ppm"),
    }
    readers = {"iruka": image.imdecode, "OpenCV": by_opencv, "Pillow": by_pillow}
    return {name: {who: functools.partial(read, data) for who, read in readers.items()} for name, data in files.items()}


def encode_cases(picture):
    bgr = np.ascontiguousarray(picture[..., ::-1])
    cases = {}
    for format, options in (("jpeg", {"quality": 95}), ("webp", {"quality": 95}), ("png", {}), ("tiff", {})):
        deflate = {"compression": "tiff_adobe_deflate"} if format == "tiff" else options
        flags = {"jpeg": [cv2.IMWRITE_JPEG_QUALITY, 95], "webp": [cv2.IMWRITE_WEBP_QUALITY, 95]}.get(format, [])
        cases[f"write {format}"] = {
            "iruka": functools.partial(image.imencode, format, picture),
            "OpenCV": functools.partial(cv2.imencode, f".{format}", bgr, flags),
            "Pillow": functools.partial(pillow, picture, format, **deflate),
        }
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--photographs", type=pathlib.Path)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    picture = photograph()
    if options.photographs:
        files = [path.read_bytes() for path in sorted(options.photographs.rglob("*.jpg"))]
    else:
        files = [pillow(picture, "jpeg", quality=90)]
    cases = {f"{len(files)} JPEG": jpeg_cases(files), **decode_cases(picture), **encode_cases(picture)}
    print_ratios(cases, options.rounds)


if __name__ == "__main__":
    main()
