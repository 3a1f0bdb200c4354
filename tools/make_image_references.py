"""Writes tests/cpp/image_references.inc and the seeds of the picture fuzzers with Pillow.

Each reference is a small JPEG and the pixels that Pillow decodes from it. Run it from anywhere; needs NumPy, Pillow and
tifffile. The files it wrote are committed, so that the C++ tests need none of them.
"""

import io
import pathlib
import sys

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/python"))
import image_files  # noqa: E402

WIDTH, HEIGHT = 25, 18  # no multiple of a block


def picture():
    """A smooth colour picture with a hard edge."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    channels = [255 * x / (WIDTH - 1), 255 * y / (HEIGHT - 1), 127 + 120 * np.sin(x / 4) * np.cos(y / 3)]
    rgb = np.stack(channels, -1).round().astype(np.uint8)
    rgb[5:9, 10:15] = (200, 30, 60)
    return Image.fromarray(rgb)


def encode(image, **options):
    buffer = io.BytesIO()
    image.save(buffer, "jpeg", **options)
    return buffer.getvalue()


def references():
    rgb = picture()
    return {
        "gray": encode(rgb.convert("L"), quality=90),
        "full_chroma": encode(rgb, quality=90, subsampling=0),
        "half_chroma": encode(rgb, quality=90, subsampling=1),
        "quarter_chroma": encode(rgb, quality=60, subsampling=2),
        "progressive": encode(rgb, quality=80, progressive=True),
        "restarts": encode(rgb, quality=75, restart_marker_blocks=1),
        "rgb_coded": encode(rgb, quality=90, keep_rgb=True),
        "cmyk": encode(rgb.convert("CMYK"), quality=95),
    }


def decoded(data):
    """RGB and grey pixels, grey as libjpeg itself makes it."""
    rgb = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    image = Image.open(io.BytesIO(data))
    if image.mode == "CMYK":
        return rgb, np.asarray(Image.fromarray(rgb).convert("L"))
    image.draft("L", image.size)
    return rgb, np.asarray(image.convert("L"))


def literal(data, indent):
    """A hexadecimal string literal over several lines."""
    text = bytes(data).hex()
    lines = [text[k : k + 110] for k in range(0, len(text), 110)]
    return "\n".join(f'{indent}"{line}"' for line in lines)


def write_references(files):
    parts = ["// Made by tools/make_image_references.py: name, JPEG file, RGB pixels, grey pixels, all hexadecimal.\n"]
    for name, data in files.items():
        rgb, gray = decoded(data)
        parts.append(
            '{"%s",\n%s,\n%s,\n%s},\n'
            % (name, literal(data, " "), literal(rgb.tobytes(), " "), literal(gray.tobytes(), " "))
        )
    (ROOT / "tests/cpp/image_references.inc").write_text("".join(parts))


def write_seeds(files):
    folder = ROOT / "tests/fuzz/seeds"
    for kind in ("jpeg", "png"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / "jpeg" / f"{name}.jpg").write_bytes(data)
    rgb = picture()
    exif = Image.Exif()
    exif[0x0112] = 6
    rgb.save(folder / "jpeg/turned.jpg", quality=70, exif=exif)
    rgb.save(folder / "png/turned.png", exif=exif)
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA"):
        rgb.convert(mode).save(folder / f"png/{mode.lower()}.png")
    Image.fromarray(np.arange(HEIGHT * WIDTH, dtype=np.uint16).reshape(HEIGHT, WIDTH) * 100).save(
        folder / "png/i16.png"
    )
    rgb.quantize(4).save(folder / "png/p2.png", bits=2)
    rgb.quantize(16).save(folder / "png/transparent_palette.png", transparency=3, bits=4)
    kinds = {"webp": "webp", "gif": "gif", "bmp": "bmp", "tif": "tiff"}
    for name, data in image_files.small_files().items():
        ending = name.split(".")[1]
        if ending in ("jpg", "png"):
            continue
        (folder / kinds.get(ending, "pnm")).mkdir(exist_ok=True)
        (folder / kinds.get(ending, "pnm") / name).write_bytes(data)


if __name__ == "__main__":
    files = references()
    write_references(files)
    write_seeds(files)
