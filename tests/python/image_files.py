"""Picture files of every format for the tests, made by Pillow and tifffile or byte by byte."""

import io
import struct

import numpy as np
import pytest
from PIL import Image

from picture_samples import pillow as pillow, smooth as smooth

tifffile = pytest.importorskip("tifffile")


def tiff(picture, **options):
    buffer = io.BytesIO()
    tifffile.imwrite(buffer, picture, metadata=None, **options)
    return buffer.getvalue()


def tiff_of_tags(tags, strip, tiled=False):
    """A little-endian TIFF of short tags and one strip or tile."""
    offset, count = (324, 325) if tiled else (273, 279)
    tags = {**tags, offset: 0, count: len(strip)}
    entries, extra = b"", b""
    extra_at = 8 + 2 + 12 * len(tags) + 4
    for tag in sorted(tags):
        values = tags[tag] if isinstance(tags[tag], tuple) else (tags[tag],)
        kind, size = (4, "<I") if tag in (offset, count) else (3, "<H")
        packed = b"".join(struct.pack(size, value) for value in values)
        if tag == offset:
            packed = struct.pack("<I", 0xFFFFFFFF)
        if len(packed) > 4:
            entries += struct.pack("<HHII", tag, kind, len(values), extra_at + len(extra))
            extra += packed + bytes(len(packed) % 2)
        else:
            entries += struct.pack("<HHI", tag, kind, len(values)) + packed.ljust(4, b"\0")
    entries = entries.replace(b"\xff\xff\xff\xff", struct.pack("<I", extra_at + len(extra)))
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4) + extra + strip


def bmp(height, width, bits, rows, *, compression=0, palette=b"", masks=b"", core=False):
    """A BMP of the given rows; height is negative for rows from the top."""
    if core:
        header = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        used = len(palette) // 4
        header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(rows), 0, 0, used, 0)
    offset = 14 + len(header) + len(masks) + len(palette)
    start = struct.pack("<2sIHHI", b"BM", offset + len(rows), 0, 0, offset)
    return start + header + masks + palette + rows


def pam(picture, maximum=255, tuple_type="RGB"):
    height, width, depth = picture.shape
    header = f"P7\n# a comment\nWIDTH {width}\nHEIGHT {height}\nDEPTH {depth}\nMAXVAL {maximum}\n"
    samples = picture.astype(">u2" if maximum > 255 else np.uint8).tobytes()
    return f"{header}TUPLTYPE {tuple_type}\nENDHDR\n".encode() + samples


def small_files():
    """One small file of each kind by name, for damage and options."""
    rgb, rgba, gray = smooth(9, 13), smooth(9, 13, 4), smooth(9, 13, 1)
    words = smooth(9, 13, 3, np.uint16)
    frames = [Image.fromarray(np.roll(rgb, k, 1)) for k in range(3)]
    animated = {"save_all": True, "append_images": frames[1:]}
    files = {
        "gray.jpg": pillow(gray, "jpeg"),
        "color.jpg": pillow(rgb, "jpeg", quality=90),
        "progressive.jpg": pillow(rgb, "jpeg", progressive=True),
        "cmyk.jpg": pillow(rgb, "jpeg", "CMYK"),
        "rgb.png": pillow(rgb, "png"),
        "rgba.png": pillow(rgba, "png"),
        "palette.png": pillow(rgb, "png", "P"),
        "lossy.webp": pillow(rgb, "webp"),
        "lossless.webp": pillow(rgba, "webp", lossless=True, exact=True),
        "alpha.webp": pillow(rgba, "webp", quality=90),
        "animated.webp": pillow(rgb, "webp", **animated),
        "palette.gif": pillow(rgb, "gif", "P"),
        "flat.gif": pillow(rgb, "gif", "P", interlace=0),
        "gray.gif": pillow(gray, "gif"),
        "transparent.gif": pillow(rgb, "gif", "P", transparency=3),
        "animated.gif": pillow(rgb, "gif", **animated),
        "bits.bmp": pillow(rgb, "bmp", "1"),
        "gray.bmp": pillow(gray, "bmp"),
        "palette.bmp": pillow(rgb, "bmp", "P"),
        "rgb.bmp": pillow(rgb, "bmp"),
        "rgba.bmp": pillow(rgba, "bmp"),
        "bits.pbm": pillow(rgb, "ppm", "1"),
        "gray.pgm": pillow(gray, "ppm"),
        "rgb.ppm": pillow(rgb, "ppm"),
        "words.pam": pam(words, 65535),
        "text.ppm": b"P3 2 2 # a comment\n255\n" + b" ".join(b"%d" % v for v in range(12)) + b"\n",
    }
    for mode in ("1", "L", "P", "RGB", "CMYK", "YCbCr"):
        files[f"{mode.lower()}.tif"] = pillow(rgb, "tiff", mode)
    files["rgba.tif"] = pillow(rgba, "tiff")
    for compression in ("packbits", "tiff_lzw", "tiff_adobe_deflate", "jpeg", "zstd"):
        files[f"{compression}.tif"] = pillow(rgb, "tiff", compression=compression)
    for compression in ("group3", "group4", "tiff_ccitt"):
        files[f"{compression}.tif"] = pillow(rgb, "tiff", "1", compression=compression)
    files["words.tif"] = tiff(words, photometric="rgb", predictor=True, compression="zlib")
    files["tiles.tif"] = tiff(rgb, photometric="rgb", tile=(16, 16))
    files["planes.tif"] = tiff(
        np.ascontiguousarray(words.transpose(2, 0, 1)), photometric="rgb", planarconfig="separate"
    )
    files["float.tif"] = tiff(gray.astype(np.float32) / 255)
    return files
