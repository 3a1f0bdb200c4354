"""Pictures: reading and writing JPEG, PNG, WebP, TIFF, BMP, GIF (first frame) and PNM; geometry (resize, Chain and
others), filters, colours and statistics, on every device; and on a screen (show). A picture is an array (height, width,
channels) or, in grey, (height, width), on any device.

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
device: where the picture goes. A GPU's own decoder (jpeg_decoder) takes the JPEGs of the modes 'rgb', 'bgr' and 'gray',
    and under 'unchanged'; its pixels differ from the CPU's by a few levels. All other pictures are decoded by the CPU
    and copied. None: the CPU decodes, and the result is copied to the default device.
chain: a Chain that is applied to each picture; what it cuts off at first is not decoded.
reducing_gap: with a chain that begins with an antialiased resize, or a crop and such a resize, a JPEG is decoded at
    1/8, 1/4 or 1/2 of its size where it remains at least so many times (1 or more) as large as the resize makes it: in
    a fraction of the time, and nearly the same (Pillow's name; None decodes at full size).
out: a C-contiguous array on any device, of Iruka or NumPy, of the result's shape and dtype, which is filled and
    returned.

They raise OSError for a file that cannot be read, and ValueError for one that is no picture, is damaged or cut short,
or holds more than max_pixels; the message names the file, the format and the reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING as _TYPE_CHECKING, NamedTuple

import numpy as _np

from . import _core
from ._core import ndarray
from ._image.color import (
    Brightness as Brightness,
    ColorMatrix as ColorMatrix,
    Contrast as Contrast,
    ConvertColor as ConvertColor,
    Gamma as Gamma,
    Hue as Hue,
    Lookup as Lookup,
    Saturation as Saturation,
    brightness as brightness,
    clahe as clahe,
    color_matrix as color_matrix,
    contrast as contrast,
    convert_color as convert_color,
    equalize as equalize,
    gamma as gamma,
    hue as hue,
    lookup as lookup,
    saturation as saturation,
)
from ._image.display import Picture as Picture, contact_sheet as contact_sheet, show as show
from ._image.elsewhere import missing as _missing
from ._image.filters import (
    Components as Components,
    bilateral_filter as bilateral_filter,
    block_reduce as block_reduce,
    box_filter as box_filter,
    connected_components as connected_components,
    dilate as dilate,
    distance_transform as distance_transform,
    erode as erode,
    filter2d as filter2d,
    gaussian_filter as gaussian_filter,
    laplacian as laplacian,
    median_filter as median_filter,
    morphology as morphology,
    scharr as scharr,
    separable_filter as separable_filter,
    sobel as sobel,
    structuring_element as structuring_element,
)
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
from ._image.statistics import (
    ChannelMoments as ChannelMoments,
    channel_moments as channel_moments,
    histogram as histogram,
    psnr as psnr,
    ssim as ssim,
)
from ._public_names import dir_of as _dir_of

_codecs = _core._image

if not _TYPE_CHECKING:  # checkers know the names

    def __getattr__(name: str):
        raise _missing(__name__, name, "iruka.pipeline")


class NearestPatches(NamedTuple):
    """What nnf finds. A tuple (field, distances)."""

    field: ndarray
    distances: ndarray


class PictureInfo(NamedTuple):
    """What a file says of its picture: see peek."""

    format: str
    shape: tuple[int, ...]
    dtype: _np.dtype
    orientation: int


class JpegDecoder(NamedTuple):
    """What decodes JPEGs into a device's memory: see jpeg_decoder."""

    name: str
    problem: str


def imread(
    source,
    mode: str = "rgb",
    max_pixels: int | None = None,
    apply_orientation: bool = True,
    *,
    dtype=None,
    roi: tuple[int, int, int, int] | None = None,
    at_least: tuple[int, int] | None = None,
    device=None,
    chain: Chain | None = None,
    reducing_gap: float | None = None,
    out=None,
) -> ndarray:
    """Reads a picture from a path (str, bytes, PathLike) or from an open binary file: (height, width, channels) or, in
    grey, (height, width), in C order. Arguments and errors: see the module."""
    options = _options(mode, max_pixels, apply_orientation, dtype, roi, at_least, device, chain, reducing_gap)
    if hasattr(source, "read"):
        return _codecs.decode(source.read(), _place("imread", source), options, out)
    return _codecs.read(_path(source, "imread"), options, out)


def imdecode(
    data,
    mode: str = "rgb",
    max_pixels: int | None = None,
    apply_orientation: bool = True,
    *,
    dtype=None,
    roi: tuple[int, int, int, int] | None = None,
    at_least: tuple[int, int] | None = None,
    device=None,
    chain: Chain | None = None,
    reducing_gap: float | None = None,
    out=None,
) -> ndarray:
    """The picture in the bytes of a file, any object with a contiguous buffer; otherwise as imread."""
    return _codecs.decode(
        data,
        "imdecode",
        _options(mode, max_pixels, apply_orientation, dtype, roi, at_least, device, chain, reducing_gap),
        out,
    )


def imread_batch(
    sources: Iterable,
    mode: str = "rgb",
    max_pixels: int | None = None,
    apply_orientation: bool = True,
    *,
    dtype=None,
    roi: tuple[int, int, int, int] | None = None,
    at_least: tuple[int, int] | None = None,
    device=None,
    chain: Chain | None = None,
    reducing_gap: float | None = None,
) -> list[ndarray | Exception]:
    """Reads the files of paths on all threads, or by the decoder of a GPU. In place of a picture that imread would
    refuse, the list has the exception: one bad file is never an error of the batch."""
    options = _options(mode, max_pixels, apply_orientation, dtype, roi, at_least, device, chain, reducing_gap)
    if isinstance(sources, (str, bytes, os.PathLike)):
        raise TypeError(f"imread_batch: sources are several paths, not one: {sources!r}")
    made: list = []
    for source in sources:
        try:
            made.append(os.fsencode(source))
        except TypeError:
            made.append(TypeError(f"imread_batch: a source is a path, not {source!r}"))
    pictures = iter(_codecs.read_batch([path for path in made if isinstance(path, bytes)], options))
    return [next(pictures) if isinstance(path, bytes) else path for path in made]


def imdecode_batch(
    sources: Iterable,
    mode: str = "rgb",
    max_pixels: int | None = None,
    apply_orientation: bool = True,
    *,
    dtype=None,
    roi: tuple[int, int, int, int] | None = None,
    at_least: tuple[int, int] | None = None,
    device=None,
    chain: Chain | None = None,
    reducing_gap: float | None = None,
) -> list[ndarray | Exception]:
    """The pictures in the bytes of files, as imread_batch."""
    if isinstance(sources, (bytes, bytearray, memoryview)):
        raise TypeError(f"imdecode_batch: sources are the bytes of several files, not {type(sources).__name__}")
    return _codecs.decode_batch(
        list(sources), _options(mode, max_pixels, apply_orientation, dtype, roi, at_least, device, chain, reducing_gap)
    )


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


def jpeg_decoder(device=None) -> JpegDecoder:
    """What decodes JPEGs for `device` (the default device): 'libjpeg', 'nvJPEG (hardware engine)' or
    'nvJPEG (kernels)'. Where a GPU gets its pictures from libjpeg, `problem` says why, and what to install."""
    return JpegDecoder(*_codecs.jpeg_decoder(device))


def imwrite(
    target, picture, quality: int = 95, compression: int = 6, *, lossless: bool = False, format: str | None = None
) -> None:
    """Writes a picture to a path, of which no half file is ever left, or to an open binary file.

    format: as in imencode; by default that of the path's extension, or of the open file's name. quality, 1 to 100, is
    JPEG's and lossy WebP's; compression, 0 to 9, is PNG's and TIFF's; lossless is WebP's. Raises OSError for a file
    that cannot be written, and otherwise what imencode raises.
    """
    if format is None and not hasattr(target, "write"):
        return _codecs.imwrite(_path(target, "imwrite"), picture, (quality, compression, lossless))
    if format is None:
        name = getattr(target, "name", "")
        format = os.path.splitext(os.fsdecode(name))[1] if isinstance(name, (str, bytes)) else ""
        if not format:
            raise ValueError(f"imwrite: format must be given, since the open file's name, {name!r}, has no extension")
    data = imencode(format, picture, quality, compression, lossless=lossless)
    if hasattr(target, "write"):
        target.write(data)
    else:
        _codecs.write_bytes(_path(target, "imwrite"), data)


def imencode(format: str, picture, quality: int = 95, compression: int = 6, *, lossless: bool = False) -> bytes:
    """The bytes of a picture file; format is 'jpeg', 'png', 'webp' or 'tiff', or an ending of such files ('.jpg').

    picture: an array (height, width) or (height, width, channels), of 1 to 4 channels (grey, grey + alpha, RGB, RGBA;
    JPEG: 1 or 3), uint8; PNG also takes uint16, and TIFF uint16 and float32. A WebP has no grey: its three channels are
    equal. Raises ValueError for another format, quality or compression, ShapeError (a ValueError) for another shape,
    TypeError for another dtype.
    """
    if not isinstance(format, str):
        raise TypeError(f"imencode: format must be a string, not {format!r}")
    return _codecs.imencode(format.lstrip(".").lower(), picture, (quality, compression, lossless))


def nnf(
    a,
    b,
    patch: int = 3,
    method: str = "exact",
    k: int = 1,
    mask=None,
    window: int | tuple[int, int] | None = None,
    border: str = "edge",
    *,
    seed: int = 0,
    iterations: int = 5,
    progress: Callable[[int, int], object] | None = None,
) -> NearestPatches:
    """The nearest-neighbour field: for each pixel of a, the pixel of b whose surrounding patch is nearest.

    a, b: pictures (height, width) or (height, width, channels) of any size, with the same channels, of real numbers.
    patch: side of a patch in pixels. It begins patch // 2 pixels above and to the left of its pixel, which is thus the
        patch's centre, or the one behind the centre where the side is even.
    method: 'exact' compares each patch with every other one. 'patchmatch' finds near ones in a fraction of the time: of
        bytes without a window by trees and propagation (He and Sun, "Computing Nearest-Neighbor Fields via
        Propagation-Assisted KD-Trees", CVPR 2012), of others by random search and propagation (Barnes, Shechtman,
        Finkelstein and Goldman, "PatchMatch", ACM Transactions on Graphics 28(3), 2009), `iterations` times; a `seed`
        gives the same field on every device.
    k: neighbours of each pixel, 1 to 8, nearest first.
    mask: bool (height, width) of b, true for the pixels that may be neighbours.
    window: the largest displacement of a neighbour from its pixel, a number or (rows, columns).
    border: what a patch sees outside of its picture: 'edge', 'reflect', 'symmetric', 'constant' (zeros) or 'wrap',
        as numpy.pad.
    progress: called with the pixels of a that are done, and all of them. What it raises ends the call.

    Returns NearestPatches(field, distances). field: int32 (height, width, 2), with k > 1 (height, width, k, 2), of y
    and x in b. distances: (height, width) or (height, width, k), sums of squared differences over a patch and its
    channels: int64 and exact for integers and bool, float64 for float64, else float32, rounded alike on every device.
    Of patches at the same distance the first in scan order of b is nearer. A patch at a distance that is NaN or
    infinite is no neighbour; where there are fewer than k, the field is -1 and the distance the largest int64, or
    infinity.

    Raises ShapeError (a ValueError) for pictures that do not fit, TypeError for complex pictures and masks that are not
    bool, ValueError for other arguments and for integers whose distances may exceed 2**61.
    """
    options = (patch, method, k, mask, window, border, seed, iterations, progress)
    return NearestPatches(*_codecs.nnf(a, b, options))


def reconstruct(field, b, patch: int = 3, border: str = "edge") -> ndarray:
    """A picture of the field's size that is rebuilt from b, in b's dtype: the patches that the field names are laid
    over one another and averaged in float64. Integers are rounded to the nearest one, halves to even.

    field: int32 (height, width, 2), as nnf gives it; for k neighbours pass field[:, :, 0]. Pixels with -1 lay nothing,
    and a place that no patch covers is 0. patch, border: as for nnf. Raises ShapeError and TypeError for another field,
    IndexError for one that leaves b.
    """
    return _codecs.reconstruct(field, b, patch, border)


def _options(mode, max_pixels, apply_orientation, dtype, roi, at_least, device, chain, reducing_gap) -> tuple:
    """The options as the core takes them."""
    if chain is not None and not isinstance(chain, Chain):
        raise TypeError(f"chain must be an image.Chain, not {type(chain).__name__}")
    if reducing_gap is not None and chain is None:
        raise ValueError("reducing_gap needs a chain, whose first resize it is about")
    core = None if chain is None else chain._chain
    return (mode, max_pixels, apply_orientation, dtype, roi, at_least, device, core, reducing_gap)


def _path(source, function: str) -> bytes:
    if isinstance(source, bytes) and b"\0" in source:
        raise ValueError(f"{function}: the path holds a NUL byte; imdecode takes the bytes of a file")
    try:
        return os.fsencode(source)
    except TypeError:
        kind = type(source).__name__
        raise TypeError(f"{function}: expected a path or a binary file, not {kind}") from None


def _place(function: str, source) -> str:
    """What errors call an open file."""
    name = getattr(source, "name", None)
    return f"{function}: {os.fsdecode(name)!r}" if isinstance(name, (str, bytes)) else function


__dir__ = _dir_of(globals())
