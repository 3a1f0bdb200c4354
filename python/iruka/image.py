"""Reading and writing images: JPEG and PNG. An image is an array (height, width, channels) or (height, width)."""

from __future__ import annotations

import os

from . import _core
from ._core import ndarray

_codecs = _core._image


def imread(
    path: str | os.PathLike, mode: str = "rgb", max_pixels: int | None = None, apply_orientation: bool = True
) -> ndarray:
    """Reads a picture file: uint8, in C order; grey pictures have shape (height, width).

    mode: 'rgb', 'gray', 'rgba', or 'unchanged' for the channels and, in a 16-bit PNG, the uint16 samples that the file
    holds. apply_orientation: turn the picture upright by its EXIF tag. Raises OSError for a file that cannot be read,
    ValueError for one that is no picture, is damaged, or holds more than max_pixels (2**28).
    """
    return _codecs.imread(os.fsencode(path), mode, max_pixels, apply_orientation)


def imdecode(data, mode: str = "rgb", max_pixels: int | None = None, apply_orientation: bool = True) -> ndarray:
    """The picture in the bytes of a JPEG or PNG file; otherwise as imread."""
    return _codecs.imdecode(data, mode, max_pixels, apply_orientation)


def imwrite(path: str | os.PathLike, picture, quality: int = 95, compression: int = 6) -> None:
    """Writes a picture in the format of the path's extension; no half file is ever left.

    quality, 1 to 100, is JPEG's; compression, 0 to 9, is PNG's.
    """
    _codecs.imwrite(os.fsencode(path), picture, quality, compression)


def imencode(format: str, picture, quality: int = 95, compression: int = 6) -> bytes:
    """The bytes of a picture file; format is 'png' or 'jpeg' ('.jpg' is understood)."""
    return _codecs.imencode(format.lstrip(".").lower(), picture, quality, compression)
