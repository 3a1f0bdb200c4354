"""Colours of pictures: stages of an image.Chain that see one pixel at a time, and the functions that apply one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as _np

from .. import _core
from .elsewhere import explain_arguments
from .geometry import Chain, _run
from .stages import Stage, numbers_of, pair_of

_color = _core._color


@dataclasses.dataclass(frozen=True)
class ConvertColor(Stage):
    """From one colour space to another: see image.convert_color."""

    source: str
    target: str

    def _fields(self):
        return ("convert_color", self.source, self.target)


@dataclasses.dataclass(frozen=True)
class Brightness(Stage):
    """x * factor: see image.brightness."""

    factor: float

    def _fields(self):
        return ("brightness", self.factor)


@dataclasses.dataclass(frozen=True)
class Contrast(Stage):
    """center + (x - center) * factor: see image.contrast."""

    factor: float
    center: float | None = None

    def _fields(self):
        return ("contrast", self.factor, self.center)


@dataclasses.dataclass(frozen=True)
class Saturation(Stage):
    """Grey plus the distance from it times `factor`: see image.saturation."""

    factor: float

    def _fields(self):
        return ("saturation", self.factor)


@dataclasses.dataclass(frozen=True)
class Hue(Stage):
    """Turns colours about grey: see image.hue."""

    degrees: float

    def _fields(self):
        return ("hue", self.degrees)


@dataclasses.dataclass(frozen=True)
class Gamma(Stage):
    """white * gain * (x / white) ** gamma: see image.gamma."""

    gamma: float
    gain: float = 1.0

    def _fields(self):
        return ("gamma", self.gamma, self.gain)


@dataclasses.dataclass(frozen=True)
class ColorMatrix(Stage):
    """matrix @ pixel + offset: see image.color_matrix."""

    matrix: Sequence[Sequence[float]]
    offset: float | Sequence[float] = 0.0

    def _fields(self):
        matrix = _np.asarray(self.matrix, dtype=_np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"color_matrix: the matrix has shape (outputs, inputs), not {matrix.shape}")
        return ("color_matrix", tuple(matrix.ravel().tolist()), matrix.shape[0], numbers_of(self.offset))


@dataclasses.dataclass(frozen=True, eq=False)
class Lookup(Stage):
    """table[x]: see image.lookup. The table is copied."""

    table: Any

    def __post_init__(self):
        object.__setattr__(self, "table", _core.as_array(self.table, None).copy())

    def __repr__(self):
        return f"Lookup(table=<{self.table.dtype} of shape {self.table.shape}>)"

    def _fields(self):
        return ("lookup", self.table)


explain_arguments(Stage)


def convert_color(picture, source: str, target: str, *, layout: str = "HWC", out=None):
    """The picture in another colour space. Names are 'rgb', 'bgr', 'rgba', 'gray', 'hsv', 'lab' and 'ycbcr'.

    | | uint8 | uint16 | float16, float32 |
    |---|---|---|---|
    | rgb, bgr, rgba, gray | 0..255 | 0..65535 | 0..1 |
    | hsv: hue; then saturation and value as colours | 0..179, half degrees | 0..65535 of 65536 | 0..360 degrees |
    | lab (CIE, of sRGB, D65): L*; a* and b* | L* 255 / 100; a* + 128 | L* 655.35; (a* + 128) 257 | L* to 100; a* |
    | ycbcr (JPEG's, full range): Cb and Cr of grey | 128 | 32768 | 0.5 |

    Conversions go by way of rgb in the picture's dtype. A gray result has two axes, and a gray picture two, or three
    with one channel. Alpha is dropped ('rgba' to others) or opaque. uint8 is libjpeg's for gray and ycbcr, OpenCV's for
    hsv, bit for bit; other conversions are computed in float32. Integers are rounded, ties to even, and saturate;
    floats are not cut off. picture, layout and out: as for a Chain. Raises ValueError for another name or number of
    channels, TypeError for another dtype, ShapeError for another shape.
    """
    return _run(picture, out, layout, ConvertColor, source, target)


def brightness(picture, factor: float, *, layout: str = "HWC", out=None):
    """x * factor for all channels, rounded and saturated for integers. Raises ValueError for a negative factor."""
    return _run(picture, out, layout, Brightness, factor)


def contrast(picture, factor: float, center: float | None = None, *, layout: str = "HWC", out=None):
    """center + (x - center) * factor for all channels. The centre is half of white by default (127.5, 32767.5, 0.5), as
    DALI has it; pass the mean of the grey picture for Pillow's. Raises ValueError for a negative factor."""
    return _run(picture, out, layout, Contrast, factor, center)


def saturation(picture, factor: float, *, layout: str = "HWC", out=None):
    """gray + (x - gray) * factor of RGB with gray = 0.299 R + 0.587 G + 0.114 B: 0 gives grey, 1 the picture. Raises
    ValueError for a negative factor and for pictures that do not have 3 channels."""
    return _run(picture, out, layout, Saturation, factor)


def hue(picture, degrees: float, *, layout: str = "HWC", out=None):
    """Turns the colours of RGB about grey, in the plane of I and Q of NTSC's YIQ, red towards yellow: a linear map, as
    DALI's hue. Raises ValueError for pictures that do not have 3 channels."""
    return _run(picture, out, layout, Hue, degrees)


def gamma(picture, gamma: float, gain: float = 1.0, *, layout: str = "HWC", out=None):
    """white * gain * (x / white) ** gamma for all channels, white being 255, 65535 or 1. uint8 is exact; others are
    computed in float32, to 2e-6 of the result. Negative numbers and NaN become 0. Raises ValueError for a gamma that is
    not positive and a negative gain."""
    return _run(picture, out, layout, Gamma, gamma, gain)


def color_matrix(picture, matrix, offset=0.0, *, layout: str = "HWC", out=None):
    """matrix @ pixel + offset for each pixel, in float32 in the order of the channels, from the offset on.

    matrix: (outputs, inputs), of which inputs are the picture's channels and outputs the result's, 256 at most.
    offset: a number, or one for each output. Raises ValueError for a matrix of another shape.
    """
    rows = tuple(map(tuple, _np.atleast_2d(_np.asarray(matrix, dtype=_np.float64)).tolist()))
    return _run(picture, out, layout, ColorMatrix, rows, numbers_of(offset))


def lookup(picture, table, *, layout: str = "HWC", out=None):
    """table[x] for each value, or table[channel, x]: OpenCV's LUT.

    picture: uint8 or uint16. table: an array (256,) or (channels, 256) for uint8, of 65536 levels for uint16, of uint8,
    uint16, float16 or float32, which becomes the result's dtype. Raises ShapeError (a ValueError) for a table of
    another shape, TypeError for another dtype.
    """
    return Chain([Lookup(table)], layout)(picture, out)


def equalize(picture, *, layout: str = "HWC", out=None):
    """Spreads the values of each channel so that their histogram becomes even: cv2.equalizeHist, bit for bit for uint8.

    Value v becomes white * (pixels up to v - pixels of the least value) / (all pixels - pixels of the least value). A
    channel of one value stays as it is. picture: uint8 or uint16, others raise TypeError.
    """
    return _color.equalize(picture, layout, out)


def clahe(picture, clip_limit: float = 40.0, tiles: tuple[int, int] = (8, 8), *, layout: str = "HWC", out=None):
    """Equalises the histogram of each channel by parts of the picture, with bounded contrast (contrast-limited adaptive
    histogram equalisation, Zuiderveld, "Graphics Gems IV", 1994): cv2.CLAHE, bit for bit.

    clip_limit: the most that a value may have in a tile's histogram, in units of an even histogram; more is spread over
        all values. Not positive: there is no limit.
    tiles: (rows, columns) of tiles. The tables of the four nearest tiles are interpolated linearly.
    picture: uint8 or uint16, others raise TypeError. Raises ValueError for tiles that are not positive.
    """
    return _color.clahe(picture, clip_limit, pair_of(tiles, "clahe", "(rows, columns)"), layout, out)
