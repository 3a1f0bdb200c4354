"""Geometry of pictures as functions, each a chain of one stage, and chains."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Hashable, Iterable, Sequence

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .stages import (
    Crop,
    Flip,
    Pad,
    PyramidDown,
    Resize,
    Rotate,
    Stage,
    Transpose,
    WarpAffine,
    WarpPerspective,
    matrix_of,
    numbers_of,
    pair_of,
    types_of,
)

_geometry = _core._geometry


class Chain:
    """Operations that are applied one after the other, in one pass over the output where that is possible.

    stages: of Resize, Crop, Pad, Flip, Transpose, Rotate, WarpAffine, WarpPerspective, PyramidDown, Normalize, Cast,
        Layout, and of colours ConvertColor, Brightness, Contrast, Saturation, Hue, Gamma, ColorMatrix and Lookup.
    layout: 'HWC' (also None) or 'CHW', of the pictures that it takes. In a pipeline 'HWC' also says that an array which
        looks like CHW, because it has few rows, is none.

    Crops, pads, flips, transpositions, colours, normalisation, casts and changes of layout join the resize or warp
    before them, and crops join the one behind them. The bits are those of separate calls, on every device.

    chain(picture) takes an array (height, width, channels), (channels, height, width) or (height, width) of uint8,
    uint16, float16 or float32; a list of pictures of any sizes, and returns a list; or an array of four axes, a batch
    of pictures of one size, and returns such an array. All pictures are computed on all threads.
    """

    def __init__(self, stages: Iterable[Stage], layout: str | None = None):
        self.stages = tuple(stages)
        for stage in self.stages:
            if not isinstance(stage, Stage):
                raise TypeError(f"Chain: a stage is a Resize, a Crop or another of image's stages, not {stage!r}")
        self._given_layout = layout
        self.layout = "HWC" if layout is None else layout
        self._chain = _geometry.chain([stage._fields() for stage in self.stages], self.layout)

    def __call__(self, picture, out=None):
        """The picture, or list or batch of pictures, behind all stages.

        out: an array of the result's shape and dtype, Iruka's or NumPy's, which is filled and returned; for a list of
        pictures a list of these, or one array whose first axis counts the pictures. Raises TypeError for other dtypes,
        ShapeError (a ValueError) for other shapes, ValueError for a crop or roi outside of the picture.
        """
        return self._chain(picture, out)

    def result(self, shape, dtype) -> tuple:
        """The shape and dtype of the result for a picture of this shape and dtype."""
        return self._chain.result(shape, dtype)

    def passes(self, shape, dtype) -> int:
        """How many passes over memory the stages are for such a picture."""
        return self._chain.passes(shape, dtype)

    def __repr__(self):
        return f"Chain([{', '.join(map(repr, self.stages))}], layout={self.layout!r})"

    def __len__(self):
        return len(self.stages)

    def __iter__(self):
        return iter(self.stages)

    def __eq__(self, other):
        return isinstance(other, Chain) and (self.stages, self.layout) == (other.stages, other.layout)

    def __hash__(self):
        return hash((self.stages, self.layout))

    def __reduce__(self):
        return Chain, (self.stages, self._given_layout)


def apply(chains: Sequence[Chain], pictures: Sequence, out=None) -> list[ndarray]:
    """Applies each chain to the picture of the same number, all on all threads: a batch with parameters of its own for
    each sample. out: as for a list of pictures of Chain. Raises ValueError unless there are as many chains as
    pictures."""
    for chain in chains:
        if not isinstance(chain, Chain):
            raise TypeError(f"apply: expected Chains, not {chain!r}")
    return _geometry.apply([chain._chain for chain in chains], list(pictures), out)


@functools.lru_cache(maxsize=512)
def _known_chain(types, layout: str, kind, *fields):
    return _geometry.chain([kind(*fields)._fields()], layout)


def _run(picture, out, layout: str, kind: Hashable, *fields):
    try:
        chain = _known_chain(types_of(fields), layout, kind, *fields)
    except builtins.TypeError:  # a list among the fields has no hash
        chain = _known_chain.__wrapped__((), layout, kind, *fields)
    return chain(picture, out)


def resize(
    picture,
    size: tuple[int, int],
    filter: str = "linear",
    *,
    antialias: bool | None = None,
    convention: str = "pillow",
    fit: str = "stretch",
    roi: tuple[float, float, float, float] | None = None,
    layout: str = "HWC",
    out=None,
):
    """Resamples a picture to size (height, width).

    filter: 'nearest', 'linear', 'triangular' (linear with antialiasing), 'area', 'cubic', 'lanczos3', 'lanczos4',
        'gaussian' (of standard deviation scale / sqrt(8), cut at scale).
    antialias: whether the filter is widened where the picture shrinks; None is as the convention has it. It does not
        change 'nearest', 'triangular', and OpenCV's 'area'.
    convention: 'pillow' antialiases, cuts windows at the ends of the picture and has a = -0.5 for 'cubic'; 'opencv'
        does not antialias, repeats the pixels at the ends, has a = -0.75, takes floor(x * scale) for 'nearest' and
        weighs pixels by their overlap for 'area'. uint8 results are within one level of these libraries' (two for rare
        values of Pillow's 'cubic' and 'lanczos3').
    fit: 'stretch' gives the size; 'not_larger' the largest result of the picture's proportions within it, 'not_smaller'
        the smallest that covers it.
    roi: (y, x, height, width), not necessarily whole numbers: the part of the picture that becomes the result. Windows
        also see pixels around it, unlike those behind a crop.
    layout: 'HWC' or 'CHW'; a picture of two axes has one channel.

    picture and out: as for a Chain. uint8 is computed by exact sums of integer weights of 14 bits and rounded once per
    axis; other dtypes in float32 in a fixed order. Raises TypeError for another dtype, ShapeError for another shape,
    ValueError for a size, name or roi that is none.
    """
    return _run(
        picture,
        out,
        layout,
        Resize,
        pair_of(size, "resize"),
        filter,
        antialias,
        convention,
        fit,
        roi,
    )


def crop(picture, size: tuple[int, int], at: tuple[int, int] | None = None, *, layout: str = "HWC", out=None):
    """The rectangle of size (height, width) whose first pixel is at (y, x); by default it is in the centre, rounded
    towards the first pixel. Raises ValueError for one that is not within the picture."""
    return _run(picture, out, layout, Crop, pair_of(size, "crop"), at if at is None else pair_of(at, "crop", "(y, x)"))


def pad(picture, margins, mode: str = "constant", value=0, *, layout: str = "HWC", out=None):
    """Adds rows and columns.

    margins: an integer for all sides, (rows, columns), or ((top, bottom), (left, right)).
    mode: 'constant', 'edge', 'reflect', 'symmetric' or 'wrap', as numpy.pad has them; other than there, margins may be
        larger than the picture in all of them.
    value: of 'constant': a number, or one for each channel.
    """
    return _run(picture, out, layout, Pad, margins, mode, value)


def flip(picture, horizontal: bool = True, vertical: bool = False, *, layout: str = "HWC", out=None):
    """Mirrors the order of the columns (horizontal), of the rows (vertical), or both."""
    return _run(picture, out, layout, Flip, horizontal, vertical)


def transpose(picture, *, layout: str = "HWC", out=None):
    """Rows become columns; channels stay."""
    return _run(picture, out, layout, Transpose)


def rotate(
    picture,
    angle: float,
    *,
    expand: bool = False,
    filter: str = "linear",
    mode: str = "constant",
    value=0,
    layout: str = "HWC",
    out=None,
):
    """Turns a picture about its centre by `angle` degrees, counter-clockwise.

    expand: whether the result is as large as the turned picture; else it has the picture's size. Multiples of 90
        degrees move pixels without interpolation where the size allows it (expand, a square picture, 180 degrees).
    filter, mode, value: as for warp_affine.
    """
    return _run(picture, out, layout, Rotate, angle, expand, filter, mode, value)


def warp_affine(
    picture,
    matrix,
    size: tuple[int, int] | None = None,
    filter: str = "linear",
    *,
    inverse: bool = False,
    mode: str = "constant",
    value=0,
    layout: str = "HWC",
    out=None,
):
    """Moves the pixel at (x, y) to matrix @ (x, y, 1); the centres of pixels have whole numbers, as in OpenCV.

    matrix: shape (2, 3), float64. With inverse it leads from the result to the picture.
    size: (height, width) of the result; by default the picture's.
    filter: 'nearest', 'linear' or 'cubic' (a = -0.75). Places are computed in float32, weights have 11 bits for uint8.
    mode: what lies beyond the picture: 'constant', 'edge', 'reflect', 'symmetric' or 'wrap', as numpy.pad has them.
    value: of 'constant': a number, or one for each channel.
    """
    return _run(picture, out, layout, WarpAffine, matrix_of(matrix), size, filter, inverse, mode, value)


def warp_perspective(
    picture,
    matrix,
    size: tuple[int, int] | None = None,
    filter: str = "linear",
    *,
    inverse: bool = False,
    mode: str = "constant",
    value=0,
    layout: str = "HWC",
    out=None,
):
    """As warp_affine with a matrix of shape (3, 3), whose third row gives the number by which x and y are divided."""
    return _run(picture, out, layout, WarpPerspective, matrix_of(matrix), size, filter, inverse, mode, value)


def remap(
    picture, map_y, map_x, filter: str = "linear", *, mode: str = "constant", value=0, layout: str = "HWC"
) -> ndarray:
    """The value at (y, x) is that of the picture at (map_y[y, x], map_x[y, x]), two float32 arrays of the result's
    height and width. filter, mode, value: as for warp_affine. NaN is a place before the first pixel. Raises TypeError
    for maps of another dtype, ShapeError (a ValueError) for maps of unequal shapes."""
    return _geometry.remap(picture, map_y, map_x, (filter, mode, numbers_of(value)), layout)


def pyramid(picture, levels: int, *, layout: str = "HWC") -> list[ndarray]:
    """A copy of the picture and `levels` - 1 smaller ones, each half the size, rounded up, of the one before: OpenCV's
    pyrDown, bit for bit for uint8. Raises ValueError for levels < 1."""
    if levels < 1:
        raise ValueError(f"pyramid: levels must be at least 1, not {levels}")
    made = [_core.as_array(picture, None).copy()]
    for _ in range(levels - 1):
        made.append(_run(made[-1], None, layout, PyramidDown))
    return made
