"""Arrays turned, rolled, repeated, split and joined. Views wherever strides allow it."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from .. import _core
from .._core import asnumpy, ndarray
from ..errors import AxisError, IndexError, TypeError, ValueError
from .conversion import _array, asarray
from .shapes import _axes, concatenate, moveaxis, transpose

concat = concatenate
permute_dims = transpose


def _ints(values) -> tuple[int, ...]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    return tuple(map(operator.index, values)) if isinstance(values, (tuple, list, range)) else (operator.index(values),)


def _axis(function: str, axis: int, ndim: int) -> int:
    return _axes(function, operator.index(axis), ndim)[0]


def _at(ndim: int, axis: int, index) -> tuple:
    """The index that takes `index` of one axis and all of the others."""
    return (slice(None),) * axis + (index,)


# --- more axes -------------------------------------------------------------------------------------------------------


def _each(arrays, function):
    results = tuple(function(_array(a)) for a in arrays)
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys) -> Any:
    """Views with at least one axis; a tuple of them for several arrays."""
    return _each(arys, lambda a: a.reshape(1) if a.ndim == 0 else a)


def atleast_2d(*arys) -> Any:
    """Views with at least two axes, new ones in front; a tuple of them for several arrays."""
    return _each(arys, lambda a: a if a.ndim >= 2 else a.reshape((1,) * (2 - a.ndim) + a.shape))


def atleast_3d(*arys) -> Any:
    """Views with at least three axes: (n,) becomes (1, n, 1) and (m, n) becomes (m, n, 1)."""

    def view(a):
        if a.ndim >= 3:
            return a
        return a.reshape((1,) * (2 - max(a.ndim, 1)) + (a.shape or (1,)) + (1,))

    return _each(arys, view)


def matrix_transpose(x, /) -> ndarray:
    """View with the last two axes exchanged. Raises ValueError for fewer than two."""
    x = _array(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: the array must have at least two axes, not {x.ndim}")
    return x.swapaxes(-1, -2)


def rollaxis(a, axis: int, start: int = 0) -> ndarray:
    """View with one axis moved before position `start`. moveaxis says the same more clearly."""
    a = _array(a)
    axis = _axis("rollaxis", axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise AxisError(f"rollaxis: start {start} is out of bounds for an array of {a.ndim} axes")
    start += a.ndim if start < 0 else 0
    return moveaxis(a, axis, start - 1 if axis < start else start)


# --- turning ---------------------------------------------------------------------------------------------------------


def flip(m, axis=None) -> ndarray:
    """View with the order of elements reversed along an axis, several, or all of them.

    >>> iruka.flip(iruka.arange(3))
    array([2, 1, 0])
    """
    m = _array(m)
    if axis is None:
        return m[(slice(None, None, -1),) * m.ndim]
    axes = _axes("flip", axis, m.ndim)
    return m[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(m.ndim))]


def fliplr(m) -> ndarray:
    """View with columns in reverse order. Raises ValueError for fewer than two axes."""
    m = _array(m)
    if m.ndim < 2:
        raise ValueError(f"fliplr: the array must have at least two axes, not {m.ndim}")
    return flip(m, 1)


def flipud(m) -> ndarray:
    """View with rows in reverse order. Raises ValueError for a 0-d array."""
    m = _array(m)
    if m.ndim < 1:
        raise ValueError("flipud: the array must have at least one axis")
    return flip(m, 0)


def rot90(m, k: int = 1, axes=(0, 1)) -> ndarray:
    """View turned k times by 90 degrees from the first of two axes towards the second."""
    m = _array(m)
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError(f"rot90: axes must be two, not {len(axes)}")
    first, second = _axes("rot90", axes, m.ndim)
    k = operator.index(k) % 4
    if k == 0:
        return m[...]
    if k == 2:
        return flip(m, (first, second))
    if k == 1:
        return flip(m, second).swapaxes(first, second)
    return flip(m.swapaxes(first, second), second)


def roll(a, shift, axis=None) -> ndarray:
    """A copy whose elements have moved by `shift` places, the last ones to the front; of the flat array without an
    axis.

    Several axes take one shift each, or the same; a number, a sequence or an array says by how much.
    """
    a = _array(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    axes = tuple(_axis("roll", k, a.ndim) for k in _ints(axis))
    shift = shift.tolist() if hasattr(shift, "tolist") else shift
    shifts = tuple(shift if isinstance(shift, (tuple, list, range)) else (shift,))
    if any(isinstance(by, (tuple, list)) for by in shifts):
        raise ValueError(f"roll: shift must be a number or a sequence of numbers, not {shift}")
    shifts = tuple(map(int, shifts))
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(f"roll: {len(shifts)} shifts but {len(axes)} axes")
    total = dict.fromkeys(axes, 0)
    for k in range(max(len(shifts), len(axes)) if shifts and axes else 0):
        total[axes[k % len(axes)]] += shifts[k % len(shifts)]
    moves = [(axis, shift % a.shape[axis]) for axis, shift in total.items() if a.shape[axis]]
    with a.device:
        result = _core.empty(a.shape, a.dtype)
    parts: list[tuple] = [((), ())]
    for axis in range(a.ndim):
        by = dict(moves).get(axis, 0)
        halves: list = (
            [(slice(None), slice(None))]
            if by == 0
            else [(slice(by, None), slice(None, -by)), (slice(None, by), slice(-by, None))]
        )
        parts = [(to + (t,), source + (s,)) for to, source in parts for t, s in halves]
    for to, source in parts:
        result[to] = a[source]
    return result


# --- repeating -------------------------------------------------------------------------------------------------------


def tile(A, reps) -> ndarray:
    """The array laid `reps` times side by side along each axis.

    >>> iruka.tile(iruka.arange(2), (2, 2))
    array([[0, 1, 0, 1],
           [0, 1, 0, 1]])
    """
    A = _array(A)
    reps = _ints(reps)
    if any(r < 0 for r in reps):
        raise ValueError(f"tile: repetitions must not be negative, but are {reps}")
    ndim = max(A.ndim, len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - A.ndim) + A.shape
    laid = A.reshape(tuple(n for extent in shape for n in (1, extent)))
    laid = laid._broadcast_to(tuple(n for r, extent in zip(reps, shape) for n in (r, extent)))
    return laid.copy().reshape(tuple(r * extent for r, extent in zip(reps, shape)))


def resize(a, new_shape) -> ndarray:
    """A copy of another size: the elements in C order, again from the start where they do not suffice."""
    a = _array(a).ravel()
    shape = _ints(new_shape)
    size = 1
    for extent in shape:
        if extent < 0:
            raise ValueError(f"resize: extents must not be negative, but the shape is {shape}")
        size *= extent
    if a.size == 0 or size == 0:
        with a.device:
            return _core.zeros(shape, a.dtype)
    return tile(a, -(-size // a.size))[:size].reshape(shape)


# --- splitting -------------------------------------------------------------------------------------------------------


def array_split(ary, indices_or_sections, axis: int = 0) -> list[ndarray]:
    """Views of the parts along an axis: as many as given, of nearly equal extent, or between the given indices."""
    ary = _array(ary)
    axis = _axis("array_split", axis, ary.ndim)
    extent = ary.shape[axis]
    if hasattr(indices_or_sections, "__len__"):
        places = [0, *map(operator.index, indices_or_sections), extent]
        return [ary[_at(ary.ndim, axis, slice(a, b))] for a, b in zip(places, places[1:])]
    sections = int(indices_or_sections)
    if sections <= 0:
        raise ValueError(f"array_split: the number of sections must be larger than 0, but is {sections}")
    each, extra = divmod(extent, sections)
    places = [k * each + min(k, extra) for k in range(sections + 1)]
    return [ary[_at(ary.ndim, axis, slice(a, b))] for a, b in zip(places, places[1:])]


def split(ary, indices_or_sections, axis: int = 0) -> list[ndarray]:
    """array_split into parts of one extent. Raises ValueError where the number of parts does not divide the axis."""
    ary = _array(ary)
    if not hasattr(indices_or_sections, "__len__"):
        extent = ary.shape[_axis("split", axis, ary.ndim)]
        if extent % indices_or_sections:
            raise ValueError(f"split: an axis of {extent} does not divide into {indices_or_sections} equal parts")
    return array_split(ary, indices_or_sections, axis)


def _split_along(function: str, ary, indices_or_sections, axis: int, least: int) -> list[ndarray]:
    ary = _array(ary)
    if ary.ndim < least:
        raise ValueError(f"{function}: the array must have at least {least} axes, not {ary.ndim}")
    return split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections) -> list[ndarray]:
    """split along the second axis, along the first of a 1-d array."""
    ary = _array(ary)
    return _split_along("hsplit", ary, indices_or_sections, 1 if ary.ndim > 1 else 0, 1)


def vsplit(ary, indices_or_sections) -> list[ndarray]:
    """split along the first axis of at least two."""
    return _split_along("vsplit", ary, indices_or_sections, 0, 2)


def dsplit(ary, indices_or_sections) -> list[ndarray]:
    """split along the third axis."""
    return _split_along("dsplit", ary, indices_or_sections, 2, 3)


def unstack(x, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Views of the slices along an axis. Raises ValueError for a 0-d array."""
    x = _array(x)
    if x.ndim == 0:
        raise ValueError("unstack: the array must have at least one axis")
    axis = _axis("unstack", axis, x.ndim)
    return tuple(x[_at(x.ndim, axis, k)] for k in range(x.shape[axis]))


# --- joining ---------------------------------------------------------------------------------------------------------


def column_stack(tup) -> ndarray:
    """1-d arrays as the columns of a matrix, matrices beside each other."""
    arrays = [_array(a) for a in tup]
    return concatenate([a if a.ndim >= 2 else a.reshape(-1, 1) for a in arrays], 1)


def dstack(tup) -> ndarray:
    """The arrays behind each other: along the third axis."""
    return concatenate([atleast_3d(a) for a in tup], 2)


def _block(parts, depth: int, deepest: int):
    if depth == deepest:
        a = _array(parts)
        return a
    joined = [_block(part, depth + 1, deepest) for part in parts]
    ndim = max([a.ndim for a in joined] + [deepest - depth])
    return concatenate([a.reshape((1,) * (ndim - a.ndim) + a.shape) for a in joined], -(deepest - depth))


def block(arrays) -> ndarray:
    """An array of nested lists of blocks: the innermost lists joined along the last axis, the next along the one
    before.

    Raises ValueError for lists of unequal depth, or an empty one.
    """

    def depth_of(part, place: str) -> int:
        if isinstance(part, tuple):
            raise TypeError(f"block: {place} is a tuple; only lists hold blocks")
        if not isinstance(part, list):
            return 0
        if not part:
            raise ValueError(f"block: {place} is an empty list")
        depths = {depth_of(p, f"{place}[{k}]") for k, p in enumerate(part)}
        if len(depths) > 1:
            raise ValueError(f"block: the lists in {place} are of unequal depths {sorted(depths)}")
        return 1 + depths.pop()

    depth = depth_of(arrays, "arrays")
    leaves = arrays
    result = _block(leaves, 0, depth)
    result = result.reshape((1,) * (depth - result.ndim) + result.shape) if result.ndim < depth else result
    return result.copy() if depth == 0 else result


def append(arr, values, axis: int | None = None) -> ndarray:
    """`arr` with `values` behind it along an axis; both flat without one."""
    arr, values = _array(arr), _array(values)
    if axis is None:
        return concatenate([arr.ravel(), values.ravel()], 0)
    return concatenate([arr, values], axis)


def _places(function: str, obj, extent: int, limit: int) -> numpy.ndarray:
    """The places that an int, a slice, or a sequence of ints or bools names, counted from the front; 0-d for an int.

    Raises IndexError for a place at or beyond `limit` and for what is no index (NumPy's insert: TypeError for a single
    one), ValueError for a mask of another length.
    """
    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(extent))
    if type(obj) is int and -extent <= obj < limit:
        return numpy.array(obj + extent if obj < 0 else obj)
    places = asnumpy(obj) if isinstance(obj, ndarray) else numpy.asarray(obj)
    if places.size == 0 and not isinstance(obj, (ndarray, numpy.ndarray)):
        places = places.astype(int)
    if places.dtype == bool:
        # NumPy's insert takes masks of any length.
        if places.ndim != 1 or limit == extent != places.size:
            raise ValueError(f"{function}: a boolean obj must have the shape {(extent,)}, not {places.shape}")
        places = numpy.flatnonzero(places)
    if places.dtype.kind not in "iu":
        error = TypeError if function == "insert" and places.size == 1 else IndexError
        raise error(f"{function}: obj must be integers or booleans, not {places.dtype}")
    outside = (places < -extent) | (places >= limit)
    if outside.any():
        raise IndexError(f"index {places[outside][0]} is out of bounds for axis of size {extent}")
    places = places.astype(int)
    return numpy.where(places < 0, places + extent, places)


def _pieces(arr: ndarray, axis: int, cuts) -> list[ndarray]:
    return [arr[_at(arr.ndim, axis, slice(a, b))] for a, b in cuts if b > a]


def _along(function: str, arr, axis) -> tuple[ndarray, int]:
    """The array and one of its axes; the flat array without an axis."""
    arr = _array(arr)
    if axis is None:
        arr, axis = arr.ravel(), 0
    return arr, _axis(function, axis, arr.ndim)


def delete(arr, obj, axis: int | None = None) -> ndarray:
    """A copy without the elements, or the slices along an axis, at an index, a slice, or a sequence of indices or
    bools.

    Raises IndexError for an index out of bounds, ValueError for a mask of another length, AxisError.
    """
    arr, axis = _along("delete", arr, axis)
    extent = arr.shape[axis]
    gone = _places("delete", obj, extent, extent)
    if gone.size == 1:
        k = gone.item()
        pieces = _pieces(arr, axis, [(0, k), (k + 1, extent)])
        return concatenate(pieces, axis) if pieces else arr[_at(arr.ndim, axis, slice(0, 0))].copy()
    stays = numpy.ones(extent, bool)
    stays[gone] = False
    return _core.take(arr, asarray(numpy.flatnonzero(stays), device=arr.device), axis, "raise")


def insert(arr, obj, values, axis: int | None = None) -> ndarray:
    """A copy with `values` put in front of the places that an index, a slice or a sequence of indices or bools names.

    Raises IndexError for indices out of bounds or that are no integers (TypeError for a single one), ValueError for
    values that do not broadcast, AxisError.
    """
    arr, axis = _along("insert", arr, axis)
    extent = arr.shape[axis]
    places = _places("insert", obj, extent, extent + 1)
    if places.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    values = asarray(values, arr.dtype, device=arr.device)
    if values.ndim < arr.ndim:
        values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
    if places.size == 1:  # NumPy's rule: any number of slices go to one place
        if places.ndim == 0:
            values = moveaxis(values, 0, axis)
        values = values._broadcast_to(arr.shape[:axis] + (values.shape[axis],) + arr.shape[axis + 1 :])
        k = places.item()
        return concatenate([*_pieces(arr, axis, [(0, k)]), values, *_pieces(arr, axis, [(k, extent)])], axis)
    order = numpy.argsort(places, kind="stable")
    places[order] += numpy.arange(places.size)  # the positions of the new slices in the result
    is_old = numpy.ones(extent + places.size, bool)
    is_old[places] = False
    with arr.device:
        result = _core.empty(arr.shape[:axis] + is_old.shape + arr.shape[axis + 1 :], arr.dtype)
        result[_at(arr.ndim, axis, asarray(places))] = values
        result[_at(arr.ndim, axis, asarray(numpy.flatnonzero(is_old)))] = arr
    return result


def trim_zeros(filt, trim: str = "fb", axis=None) -> ndarray:
    """View without the zeros at the front ('f'), the back ('b') or both ends, of each axis or the given ones."""
    filt = _array(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"trim_zeros: trim must be 'fb', 'f' or 'b', not {trim!r}")
    axes = range(filt.ndim) if axis is None else _axes("trim_zeros", axis, filt.ndim)
    index = [slice(None)] * filt.ndim
    nonzero = filt != 0
    for k in axes:
        others = tuple(a for a in range(filt.ndim) if a != k)
        found = nonzero.any(axis=others) if others else nonzero
        extent = filt.shape[k]
        if not extent or not bool(found.any()):
            index[k] = slice(0, 0)
            continue
        first = int(found.argmax()) if "f" in trim else 0
        last = extent - int(flip(found).argmax()) if "b" in trim else extent
        index[k] = slice(first, last)
    return filt[tuple(index)]
