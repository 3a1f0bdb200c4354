"""Pictures: reading and writing JPEG, PNG, WebP, TIFF, BMP, GIF (first frame) and PNM, in the CPU's memory; geometry
(resize, Chain and others), on every device.

A picture is an array (height, width, channels) or, in grey, (height, width). Decoding has no device argument: the
result is copied to the default device.

The functions that read share these arguments:

mode: 'rgb', 'bgr', 'gray', 'rgba', 'ycbcr' (JPEG's full range), or 'unchanged' for the channels and the dtype that the
    file holds. Alpha is dropped, not blended, except under 'rgba' and 'unchanged'.
max_pixels: larger pictures are refused before memory is allocated (2**28).
apply_orientation: turn the picture upright by its EXIF tag.
dtype: uint8 or uint16, to which samples are scaled; the default is uint8, and under 'unchanged' the file's own dtype.
roi: (y, x, height, width) in the upright picture: decodes that part alone, with the pixels that cropping would give.
at_least: (height, width): a JPEG is decoded at 1/8, 1/4 or 1/2 of its size, in a fraction of the time, where the result
    is still that large. The ends of `roi`, which counts pixels of full size, are divided, outwards. Other formats keep
    their size.
out: a C-contiguous array in the CPU's memory, of Iruka or NumPy, of the picture's shape and dtype, which is filled and
    returned.

They raise OSError for a file that cannot be read, and ValueError for one that is no picture, is damaged or cut short,
or holds more than max_pixels; the message names the file, the format and the reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as _np

from . import _core
from ._core import ndarray
from ._image.geometry import (
    Chain as Chain,
    apply as apply,
    crop as crop,
    flip as flip,
    pad as pad,
    pyramid as pyramid,
    remap as remap,
    resize as resize,
    rotate as rotate,
    transpose as transpose,
    warp_affine as warp_affine,
    warp_perspective as warp_perspective,
)
from ._image.stages import (
    Cast as Cast,
    Crop as Crop,
    Flip as Flip,
    Layout as Layout,
    Normalize as Normalize,
    Pad as Pad,
    PyramidDown as PyramidDown,
    Resize as Resize,
    Rotate as Rotate,
    Transpose as Transpose,
    WarpAffine as WarpAffine,
    WarpPerspective as WarpPerspective,
)

_codecs = _core._image


class PictureInfo(NamedTuple):
    """What a file says of its picture: see peek."""

    format: str
    shape: tuple[int, ...]
    dtype: _np.dtype
    orientation: int


def imread(
    source,
    mode: str = "rgb",
    max_pixels: int | None = None,
    apply_orientation: bool = True,
    *,
    dtype=None,
    roi: tuple[int, int, int, int] | None = None,
    at_least: tuple[int, int] | None = None,
    out=None,
) -> ndarray:
    """Reads a picture from a path (str, bytes, PathLike) or from an open binary file: (height, width, channels) or, in
    grey, (height, width), in C order. Arguments and errors: see the module."""
    options = (mode, max_pixels, apply_orientation, dtype, roi, at_least)
    if hasattr(source, "read"):
        return _codecs.decode(source.read(), _place("imread", source), options, out)
    return _codecs.read(os.fsencode(source), options, out)


def imdecode(
    data,
    mode: str = "rgb",
    max_pixels: int | None = None,
    apply_orientation: bool = True,
    *,
    dtype=None,
    roi: tuple[int, int, int, int] | None = None,
    at_least: tuple[int, int] | None = None,
    out=None,
) -> ndarray:
    """The picture in the bytes of a file, any object with a contiguous buffer; otherwise as imread."""
    return _codecs.decode(data, "imdecode", (mode, max_pixels, apply_orientation, dtype, roi, at_least), out)


def imread_batch(
    sources: Iterable,
    mode: str = "rgb",
    max_pixels: int | None = None,
    apply_orientation: bool = True,
    *,
    dtype=None,
    roi: tuple[int, int, int, int] | None = None,
    at_least: tuple[int, int] | None = None,
) -> list[ndarray | Exception]:
    """Reads the files of paths on all threads. In place of a picture that imread would refuse, the list has the
    exception: one bad file is never an error of the batch."""
    options = (mode, max_pixels, apply_orientation, dtype, roi, at_least)
    return _codecs.read_batch([os.fsencode(source) for source in sources], options)


def imdecode_batch(
    sources: Iterable,
    mode: str = "rgb",
    max_pixels: int | None = None,
    apply_orientation: bool = True,
    *,
    dtype=None,
    roi: tuple[int, int, int, int] | None = None,
    at_least: tuple[int, int] | None = None,
) -> list[ndarray | Exception]:
    """The pictures in the bytes of files, as imread_batch."""
    return _codecs.decode_batch(list(sources), (mode, max_pixels, apply_orientation, dtype, roi, at_least))


def peek(source) -> PictureInfo:
    """What a file says of its picture, read without decoding pixels: a picture may be damaged all the same.

    source: a path (str, PathLike), an open binary file, or bytes of a file. The result has the `format` ('JPEG', 'PNG',
    'WebP', 'TIFF', 'BMP', 'GIF', 'PNM'), the `shape` and `dtype` that mode='unchanged' gives, and the `orientation` of
    the EXIF tag, 1 (upright as stored) to 8. Raises OSError and ValueError, as imread.
    """
    if isinstance(source, (str, os.PathLike)):
        return PictureInfo(*_codecs.peek_file(os.fsencode(source)))
    data = source.read() if hasattr(source, "read") else source
    return PictureInfo(*_codecs.peek(data, _place("peek", source)))


def imwrite(
    target, picture, quality: int = 95, compression: int = 6, *, lossless: bool = False, format: str | None = None
) -> None:
    """Writes a picture to a path, of which no half file is ever left, or to an open binary file.

    format: as in imencode; by default that of the path's extension, or of the open file's name. quality, 1 to 100, is
    JPEG's and lossy WebP's; compression, 0 to 9, is PNG's and TIFF's; lossless is WebP's. Raises OSError for a file
    that cannot be written, and otherwise what imencode raises.
    """
    if format is None and not hasattr(target, "write"):
        return _codecs.imwrite(os.fsencode(target), picture, quality, compression, lossless)
    if format is None:
        format = os.path.splitext(os.fspath(getattr(target, "name", "")))[1]
    data = imencode(format, picture, quality, compression, lossless=lossless)
    if hasattr(target, "write"):
        target.write(data)
    else:
        _codecs.write_bytes(os.fsencode(target), data)


def imencode(format: str, picture, quality: int = 95, compression: int = 6, *, lossless: bool = False) -> bytes:
    """The bytes of a picture file; format is 'jpeg', 'png', 'webp' or 'tiff', or an ending of such files ('.jpg').

    picture: an array (height, width) or (height, width, channels), of 1 to 4 channels (grey, grey + alpha, RGB, RGBA;
    JPEG: 1 or 3), uint8; PNG also takes uint16, and TIFF uint16 and float32. A WebP has no grey: its three channels are
    equal. Raises ValueError for another format, quality or compression, ShapeError (a ValueError) for another shape,
    TypeError for another dtype.
    """
    return _codecs.imencode(format.lstrip(".").lower(), picture, quality, compression, lossless)


def _place(function: str, source) -> str:
    """What errors call an open file."""
    name = getattr(source, "name", None)
    return f"{function}: {os.fsdecode(name)!r}" if isinstance(name, (str, bytes)) else function
