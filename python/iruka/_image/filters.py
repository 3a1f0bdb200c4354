"""Filters of pictures."""

from __future__ import annotations

import builtins
import functools
from typing import NamedTuple

import numpy as _np

from .. import _core, _functions
from .._core import ndarray
from ..errors import ValueError
from .stages import pair_of, types_of

_filters = _core._filters


class Components(NamedTuple):
    """What connected_components finds: see there."""

    labels: ndarray
    number: int
    areas: ndarray | None
    boxes: ndarray | None
    centroids: ndarray | None


@functools.lru_cache(maxsize=512)
def _known_filter(types, *fields):
    return _filters.filter(fields)


def _run(picture, layout, out, *fields):
    """The picture behind the filter that `fields` describe. Filters are kept where fields have a hash."""
    try:
        made = _known_filter(types_of(fields), *fields)
    except builtins.TypeError:
        made = _filters.filter(fields)
    return made(picture, layout, out)


def _pair(value) -> tuple:
    """(value, value) of a number, and of a pair itself."""
    value = value.item() if getattr(value, "ndim", None) == 0 else value
    if not hasattr(value, "__len__"):
        return value, value
    if len(value) != 2:
        raise ValueError(f"size and sigma are numbers or pairs of these for (rows, columns), not {value!r}")
    return tuple(value)


def _value(value):
    return tuple(value) if hasattr(value, "__len__") else value


def _table(numbers):
    """Numbers of a kernel as tuples, which have a hash. Iruka's arrays stay what they are."""
    if isinstance(numbers, ndarray):
        return numbers
    array = _np.asarray(numbers)
    if array.size == 0 or array.ndim not in (1, 2):
        return array
    return tuple(array.tolist()) if array.ndim == 1 else tuple(map(tuple, array.tolist()))


def _anchor(anchor):
    return anchor if anchor is None else pair_of(anchor, "a filter", "the anchor's (y, x)")


def filter2d(
    picture, kernel, *, anchor=None, dtype=None, mode: str = "reflect", value=0, layout: str = "HWC", out=None
):
    """Sums of the pixels in a window times the weights of `kernel` (rows, columns), which are not mirrored: a
    correlation, as OpenCV's filter2D. They are summed in float32 in the order of the kernel; zeros cost nothing.

    anchor: the (y, x) of the kernel that lies on the pixel; by default the middle, of an even number the one behind it.
    dtype: of the result: the picture's (the default), int16 or float32. Integers are rounded, ties to even, and
        saturate.
    mode: what lies beyond the picture, as numpy.pad has it: 'reflect', 'edge', 'symmetric', 'wrap' or 'constant', of
        `value`, a number or one for each channel.
    layout: 'HWC' or 'CHW'; a picture of two axes has one channel.

    picture: (height, width, channels), (channels, height, width) or (height, width) of uint8, uint16, float16 or
        float32; a list of pictures of any sizes, whose result is a list; or an array of four axes, a batch of pictures
        of one size. All are filtered on all threads.
    out: an array of the result's shape and dtype, Iruka's or NumPy's, which is filled and returned; for a list of
        pictures a list of these, or one array whose first axis counts the pictures.

    Raises TypeError for other dtypes, ShapeError (a ValueError) for other shapes, ValueError for a window with a side
    over 2047 or an anchor outside.
    """
    return _run(picture, layout, out, "correlation", _table(kernel), _anchor(anchor), dtype, mode, _value(value))


def separable_filter(
    picture, column, row, *, anchor=None, dtype=None, mode: str = "reflect", value=0, layout: str = "HWC", out=None
):
    """As filter2d with the kernel whose weights are the products of `column` and `row`, in less time. Where these are
    integers, and all sums of a uint8 picture lie within int16, sums are exact; else they are summed in float32 along
    columns, then along rows."""
    fields = (_anchor(anchor), dtype, mode, _value(value))
    return _run(picture, layout, out, "separable", _table(column), _table(row), *fields)


def gaussian_filter(picture, sigma=0, size=0, *, mode: str = "reflect", value=0, layout: str = "HWC", out=None):
    """Smooths by weights exp(-d^2 / (2 sigma^2)).

    sigma: a number, or one for rows and one for columns; 0 is 0.3 ((size - 1) / 2 - 1) + 0.8.
    size: of the window, odd, or (rows, columns); 0 is round(6 sigma + 1) for uint8 and round(8 sigma + 1) for others,
        made odd by adding 1.

    uint8 pictures have weights of 8 bits and exact sums, so that the result is that of OpenCV's GaussianBlur, bit for
    bit; others are summed in float32. picture, mode, value, layout, out: as for filter2d. Raises ValueError if both
    sigma and size are 0.
    """
    return _run(picture, layout, out, "gaussian", *_pair(sigma), *_pair(size), mode, _value(value))


def box_filter(picture, size, *, anchor=None, mode: str = "reflect", value=0, layout: str = "HWC", out=None):
    """The mean of a window of `size`, a number or (rows, columns). Integers are summed exactly, by running sums, in a
    time that hardly depends on the size. Other arguments: as for filter2d."""
    return _run(picture, layout, out, "box", *_pair(size), _anchor(anchor), mode, _value(value))


def median_filter(picture, size: int, *, mode: str = "edge", value=0, layout: str = "HWC", out=None):
    """The median of a square window of odd size, 1 to 255; OpenCV's medianBlur with its mode, 'edge'. Other arguments:
    as for filter2d."""
    return _run(picture, layout, out, "median", size, mode, _value(value))


def bilateral_filter(
    picture,
    size: int,
    sigma_color: float,
    sigma_space: float,
    *,
    mode: str = "reflect",
    value=0,
    layout: str = "HWC",
    out=None,
):
    """Smooths and keeps edges: means by weights exp(-distance^2 / (2 sigma_space^2) - difference^2 / (2 sigma_color^2))
    of the pixels up to size // 2 away. The difference of two pixels is the sum of those of their channels, as in
    OpenCV's bilateralFilter.

    size: 0 is 2 round(1.5 sigma_space) + 1. Other arguments: as for filter2d.
    """
    return _run(picture, layout, out, "bilateral", size, sigma_color, sigma_space, mode, _value(value))


def sobel(
    picture,
    dx: int,
    dy: int,
    size: int = 3,
    *,
    dtype=None,
    mode: str = "reflect",
    value=0,
    layout: str = "HWC",
    out=None,
):
    """The derivative of order dx along rows and dy along columns by Sobel's weights, as OpenCV has them.

    size: odd, 1 to 31; 1 is three weights without smoothing.
    dtype: of the result: int16 for uint8 (the default), float32, or the picture's, which is the default of floats;
        uint16 becomes float32 by default.

    Other arguments: as for filter2d.
    """
    return _run(picture, layout, out, "sobel", dy, dx, size, dtype, mode, _value(value))


def scharr(picture, dx: int, dy: int, *, dtype=None, mode: str = "reflect", value=0, layout: str = "HWC", out=None):
    """The first derivative along rows (dx = 1, dy = 0) or along columns by Scharr's weights (3, 10, 3). Other
    arguments: as for sobel."""
    return _run(picture, layout, out, "scharr", dy, dx, 3, dtype, mode, _value(value))


def laplacian(picture, size: int = 1, *, dtype=None, mode: str = "reflect", value=0, layout: str = "HWC", out=None):
    """The sum of the second derivatives along both axes, of Sobel's weights of `size`; 1 is the sum of the four
    neighbours minus four times the pixel. Other arguments: as for sobel."""
    return _run(picture, layout, out, "laplacian", 0, 0, size, dtype, mode, _value(value))


def structuring_element(shape: str, size) -> ndarray:
    """An element for morphology, uint8 of `size`, a number or (rows, columns): 'rectangle', 'cross' or 'ellipse', as
    OpenCV's getStructuringElement."""
    return _filters.structuring_element(shape, *_pair(size))


def erode(
    picture,
    element=(3, 3),
    *,
    anchor=None,
    iterations: int = 1,
    mode: str = "constant",
    value=None,
    layout: str = "HWC",
    out=None,
):
    """The least value of the pixels in a structuring element.

    element: an array (rows, columns) of which the pixels other than zero belong to it; or a size, a number or (rows,
        columns), of which all do. Like OpenCV's it is not mirrored.
    anchor: as for filter2d.
    iterations: how often, 4096 times at most.
    mode, value: as for filter2d; by default what lies beyond the picture changes nothing.

    picture, layout, out: as for filter2d. Raises ValueError for an element without pixels.
    """
    return morphology(
        picture, "erode", element, anchor=anchor, iterations=iterations, mode=mode, value=value, layout=layout, out=out
    )


def dilate(
    picture,
    element=(3, 3),
    *,
    anchor=None,
    iterations: int = 1,
    mode: str = "constant",
    value=None,
    layout: str = "HWC",
    out=None,
):
    """The greatest value of the pixels in a structuring element. Arguments: as for erode."""
    return morphology(
        picture, "dilate", element, anchor=anchor, iterations=iterations, mode=mode, value=value, layout=layout, out=out
    )


def morphology(
    picture,
    operation: str,
    element=(3, 3),
    *,
    anchor=None,
    iterations: int = 1,
    mode: str = "constant",
    value=None,
    layout: str = "HWC",
    out=None,
):
    """What erosions and dilations make: 'erode'; 'dilate'; 'open', which erodes, then dilates; 'close', which dilates,
    then erodes; 'gradient', dilated minus eroded; 'top_hat', the picture minus what is opened; 'black_hat', what is
    closed minus the picture. Differences saturate. Arguments: as for erode."""
    is_size = not hasattr(element, "__len__") or (
        len(element) == 2 and not any(hasattr(row, "__len__") for row in element)
    )
    element = _pair(element) if is_size else _table(element)
    fields = (element, _anchor(anchor), iterations, mode, value if value is None else _value(value))
    return _run(picture, layout, out, "morphology", operation, *fields)


def block_reduce(picture, block_size=2, func=None, cval=0, func_kwargs=None):
    """Reduces each block of an array of any axes and dtype to one value, as scikit-image's block_reduce.

    block_size: an integer for all axes, or one for each. Axes that are no multiple of it are padded by `cval` at their
        ends.
    func: takes an array and `axis`, a tuple: iruka.sum (the default), iruka.mean, iruka.max, iruka.median, numpy's
        functions or your own.
    func_kwargs: further arguments of func.

    Raises ValueError unless block_size has a positive number for each axis.
    """
    array = _core.as_array(picture, None)
    sizes = (block_size,) * array.ndim if not hasattr(block_size, "__len__") else tuple(block_size)
    blocks = _filters.block_view(array, sizes, cval)
    reduce = _functions.reductions["sum"] if func is None else func
    return reduce(blocks, axis=tuple(range(array.ndim, 2 * array.ndim)), **(func_kwargs or {}))


def distance_transform(picture, metric: str = "euclidean") -> ndarray:
    """How far each pixel is from the nearest pixel that is zero; exact.

    picture: (height, width) of any real dtype.
    metric: 'euclidean', sqrt(dy^2 + dx^2), in float32; 'cityblock', |dy| + |dx|, or 'chessboard', the greater of both,
        in int32.

    Where no pixel is zero: infinity, or the largest int32. Raises ShapeError (a ValueError) for other shapes, TypeError
    for complex numbers.
    """
    return _filters.distance_transform(picture, metric)


def connected_components(picture, connectivity: int = 8, *, statistics: bool = False) -> Components:
    """The components of pixels that are not zero.

    picture: (height, width) of any real dtype.
    connectivity: 4 or 8 neighbours.
    statistics: whether areas, boxes and centroids are wanted; else they are None.

    Returns a named tuple: labels, int32 (height, width), 0 for pixels that are zero, else 1, 2, ... in the order of the
    components' first pixels; number, of components; and with a row for each label, the first one for the background:
    areas, int64; boxes, int32 (number + 1, 4) of y, x, height, width; centroids, float64 (count + 1, 2) of y, x, which
    are NaN for an empty background. Raises ShapeError (a ValueError) for other shapes, ValueError for another
    connectivity, TypeError for complex numbers.
    """
    return Components(*_filters.connected_components(picture, connectivity, statistics))
