"""Arrays with margins."""

from __future__ import annotations

import operator

import numpy

from .. import _core
from .._core import ndarray
from .._functions import elementwise, reductions
from ..errors import TypeError, ValueError
from .conversion import _array
from .creation import linspace
from .quantiles import median


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


def _number(value):
    """A number as a NumPy scalar: assigning one out of range is an error only among signed integers."""
    return value if isinstance(value, (ndarray, tuple, list, dict)) else numpy.asarray(value)[()]


def _slab(ndim: int, axis: int, start, stop) -> tuple:
    return (slice(None),) * axis + (slice(start, stop),) + (slice(None),) * (ndim - axis - 1)


def _ramp(edge, end, count: int, axis: int, from_end: bool):
    """Values from `end` towards `edge`, which is excluded."""
    values = linspace(end, edge.squeeze(axis), count, endpoint=False, dtype=edge.dtype, axis=axis)
    return values if from_end else values[_slab(edge.ndim, axis, None, None)[:axis] + (slice(None, None, -1),)]


def _statistic(mode: str, part: ndarray, axis: int):
    if mode == "median":
        found = median(part, axis=axis, keepdims=True)
    else:
        found = reductions[{"maximum": "max", "minimum": "min", "mean": "mean"}[mode]](part, axis=axis, keepdims=True)
    if part.dtype.kind in "iu" and found.dtype.kind == "f":
        found = elementwise["rint"](found)
    return found.astype(part.dtype, copy=False)


def _mirror(inside: ndarray, result: ndarray, axis: int, before: int, after: int, include_edge: bool, odd: bool):
    """Fills both margins with reflections of the adjacent elements, repeated if a margin is wider."""
    ndim, extent = inside.ndim, inside.shape[axis]
    start, stop = before, before + extent
    if extent == 1 and not include_edge:  # nothing to reflect but the edge itself
        for a, b in ((0, start), (stop, result.shape[axis])):
            if b > a:
                result[_slab(ndim, axis, a, b)] = inside
        return
    backwards = _slab(ndim, axis, None, None)[:axis] + (slice(None, None, -1),)
    # Each round reflects whole copies of what was there first, as many as there are.
    unit = extent if include_edge else extent - 1
    while start > 0 or stop < result.shape[axis]:
        period = (stop - start - (not include_edge)) // unit * unit
        if start > 0:
            count = min(period, start)
            offset = start if include_edge else start + 1
            chunk = result[_slab(ndim, axis, offset, offset + count)][backwards]
            if odd:
                chunk = 2 * result[_slab(ndim, axis, start, start + 1)] - chunk
            result[_slab(ndim, axis, start - count, start)] = chunk
        filled_from = max(start - period, 0) if start > 0 else start
        if stop < result.shape[axis]:
            count = min(period, result.shape[axis] - stop)
            offset = stop if include_edge else stop - 1
            chunk = result[_slab(ndim, axis, offset - count, offset)][backwards]
            if odd:
                chunk = 2 * result[_slab(ndim, axis, stop - 1, stop)] - chunk
            result[_slab(ndim, axis, stop, stop + count)] = chunk
            stop += count
        start = filled_from


def _wrap(result: ndarray, axis: int, before: int, extent: int):
    ndim, whole = result.ndim, result.shape[axis]
    start, stop = before, before + extent
    while start > 0:
        count = min(extent, start)
        result[_slab(ndim, axis, start - count, start)] = result[
            _slab(ndim, axis, start + extent - count, start + extent)
        ]
        start -= count
    while stop < whole:
        count = min(extent, whole - stop)
        result[_slab(ndim, axis, stop, stop + count)] = result[_slab(ndim, axis, stop - extent, stop - extent + count)]
        stop += count


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


_CACHED_BYTES = 8 << 20


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
    with array.device:
        result = _core.empty(tuple(a + n + b for (a, b), n in zip(widths, array.shape)), array.dtype)
        inside = tuple(slice(a, a + n) for (a, _), n in zip(widths, array.shape))
        constant = _number(kwargs.get("constant_values", 0)) if mode == "constant" else None
        if isinstance(constant, numpy.generic) and result.nbytes <= _CACHED_BYTES:
            result[...] = constant  # two calls: writing twice in a cache costs less than a call for each margin
            result[inside] = array
            return result
        result[inside] = array
        if mode != "empty":
            _fill_margins(result, array, widths, inside, mode, kwargs)
    return result


def _fill_margins(result, array, widths, inside, mode, kwargs):
    numbers = lambda values: _pairs("pad", values, array.ndim, _number)
    for axis, (before, after) in enumerate(widths):
        if before == after == 0:
            continue
        # Earlier axes have their margins already; of later ones only the inside is there.
        region = result[(slice(None),) * (axis + 1) + inside[axis + 1 :]]
        ndim, extent, end = array.ndim, array.shape[axis], before + array.shape[axis]
        if extent == 0 and mode not in ("constant",) and result.size:
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        own = region[_slab(ndim, axis, before, end)]
        margins = ((0, before), (end, region.shape[axis]))
        if mode == "constant":
            values = numbers(kwargs.get("constant_values", 0))[axis]
            for (a, b), value in zip(margins, values):
                region[_slab(ndim, axis, a, b)] = value
        elif mode == "edge":
            for (a, b), edge in zip(margins, (before, end - 1)):
                region[_slab(ndim, axis, a, b)] = region[_slab(ndim, axis, edge, edge + 1)]
        elif mode == "linear_ramp":
            ends = numbers(kwargs.get("end_values", 0))[axis]
            for (a, b), edge, value, from_end in zip(margins, (before, end - 1), ends, (True, False)):
                if b > a:
                    ramp = _ramp(region[_slab(ndim, axis, edge, edge + 1)], value, b - a, axis, from_end)
                    region[_slab(ndim, axis, a, b)] = ramp
        elif mode in ("reflect", "symmetric"):
            odd = kwargs.get("reflect_type", "even")
            if odd not in ("even", "odd"):
                raise ValueError(f"pad: reflect_type must be 'even' or 'odd', not {odd!r}")
            _mirror(own, region, axis, before, after, mode == "symmetric", odd == "odd")
        elif mode == "wrap":
            _wrap(region, axis, before, extent)
        else:
            lengths = kwargs.get("stat_length")
            lengths = (None, None) if lengths is None else numbers(lengths)[axis]
            for (a, b), length, at_front in zip(margins, lengths, (True, False)):
                length = extent if length is None else min(operator.index(length), extent)
                if length < 0 or (length == 0 and mode in ("maximum", "minimum")):
                    raise ValueError(f"pad: stat_length must be positive, not {length}")
                part = (before, before + length) if at_front else (end - length, end)
                region[_slab(ndim, axis, a, b)] = _statistic(mode, region[_slab(ndim, axis, *part)], axis)
