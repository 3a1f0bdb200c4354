"""Arrays with margins."""

from __future__ import annotations

import operator

import numpy

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .conversion import _array


def _pairs(function: str, widths, ndim: int, convert=operator.index) -> list[tuple]:
    """(before, after) of each axis, from one number, one pair, a pair for each axis, or a dict of axes."""
    if isinstance(widths, dict):
        pairs = [(0, 0)] * ndim
        for axis, pair in widths.items():
            pairs[axis] = _pairs(function, pair, 1, convert)[0]
        return pairs
    if hasattr(widths, "tolist"):
        widths = widths.tolist()
    if not isinstance(widths, (tuple, list)):
        return [(convert(widths), convert(widths))] * ndim
    rows = list(widths)
    if not rows:
        raise TypeError(f"{function} must be of integral type.")
    if rows and not isinstance(rows[0], (tuple, list)):
        if len(rows) == 1:
            return [(convert(rows[0]), convert(rows[0]))] * ndim
        if len(rows) == 2:
            return [(convert(rows[0]), convert(rows[1]))] * ndim
        rows = [(row, row) for row in rows]  # refused below
    if len(rows) == 1:
        rows = rows * ndim
    if len(rows) != ndim or any(len(row) not in (1, 2) for row in rows):
        raise ValueError(f"{function}: {widths} is not a number, a pair, or a pair for each of {ndim} axes")
    return [(convert(row[0]), convert(row[-1])) for row in rows]


_KEYWORDS = {
    "constant": {"constant_values"},
    "edge": set(),
    "empty": set(),
    "wrap": set(),
    "linear_ramp": {"end_values"},
    "maximum": {"stat_length"},
    "minimum": {"stat_length"},
    "mean": {"stat_length"},
    "median": {"stat_length"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
}


def _pad_with_function(array, widths, function, keywords):
    """NumPy's protocol: function(vector, (before, after), axis, keywords) changes each 1-d slice of the result."""
    padded = numpy.asarray(pad(array, widths).get())
    for axis in range(padded.ndim):
        view = numpy.moveaxis(padded, axis, -1)
        for index in numpy.ndindex(view.shape[:-1]):
            function(view[index], widths[axis], axis, keywords)
    with array.device:
        return _core.as_array(padded)


def pad(array, pad_width, mode="constant", **kwargs) -> ndarray:
    """The array with margins of the given widths: a number, a pair (before, after), a pair for each axis, or a dict.

    mode: 'constant' (constant_values=0), 'edge', 'linear_ramp' (end_values=0), 'maximum', 'mean', 'median', 'minimum'
    (stat_length=None), 'reflect', 'symmetric' (reflect_type='even'), 'wrap', 'empty', or a function as NumPy's.
    Raises ValueError for negative widths, for keywords of another mode, and where an empty axis has nothing to repeat.

        >>> iruka.pad(iruka.arange(3), 1, mode='edge')
        array([0, 0, 1, 2, 2])
    """
    array = _array(array)
    widths = _pairs("pad: pad_width", pad_width, array.ndim)
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError("index can't contain negative values")
    if callable(mode):
        return _pad_with_function(array, widths, mode, kwargs)
    if mode not in _KEYWORDS:
        raise ValueError(f"pad: mode {mode!r} is not supported")
    if unknown := set(kwargs) - _KEYWORDS[mode]:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    kind = kwargs.get("reflect_type", "even")
    if kind not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type must be 'even' or 'odd', not {kind!r}")
    values = kwargs.get("constant_values", kwargs.get("end_values", 0))
    lengths = kwargs.get("stat_length")
    return _core.pad(
        array,
        widths,
        mode,
        _pairs("pad", values, array.ndim, _itself) if array.ndim else [],
        [] if lengths is None else _pairs("pad", lengths, array.ndim, _index_or_none),
        kind == "odd",
    )


def _itself(value):
    return value


def _index_or_none(length):
    return None if length is None else operator.index(length)
