"""Arrays turned, rolled, repeated, split and joined. Views wherever strides allow it."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import AxisError, IndexError, TypeError, ValueError
from .conversion import _array, asarray
from .shapes import concatenate, transpose

concat = concatenate
permute_dims = transpose


def _ints(values) -> tuple[int, ...]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    return tuple(map(operator.index, values)) if isinstance(values, (tuple, list, range)) else (operator.index(values),)


# --- more axes -------------------------------------------------------------------------------------------------------


def _each(arrays, function):
    results = tuple(function(_array(a)) for a in arrays)
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys) -> Any:
    """Views with at least one axis; a tuple of them for several arrays."""
    return _each(arys, _core.atleast_1d)


def atleast_2d(*arys) -> Any:
    """Views with at least two axes, new ones in front; a tuple of them for several arrays."""
    return _each(arys, _core.atleast_2d)


def atleast_3d(*arys) -> Any:
    """Views with at least three axes: (n,) becomes (1, n, 1) and (m, n) becomes (m, n, 1)."""
    return _each(arys, _core.atleast_3d)


def matrix_transpose(x, /) -> ndarray:
    """View with the last two axes exchanged. Raises ValueError for fewer than two."""
    return _core.matrix_transpose(_array(x))


def rollaxis(a, axis: int, start: int = 0) -> ndarray:
    """View with one axis moved before position `start`. moveaxis says the same more clearly.

    Raises AxisError for an axis that the array does not have, or a start outside [-a.ndim, a.ndim].
    """
    a, axis, start = _array(a), operator.index(axis), operator.index(start)
    if -a.ndim <= axis < a.ndim and not -a.ndim <= start <= a.ndim:
        raise AxisError(f"rollaxis: start must be from {-a.ndim} to {a.ndim}, not {start}")
    return _core.rollaxis(a, axis, start)


# --- turning ---------------------------------------------------------------------------------------------------------


def flip(m, axis=None) -> ndarray:
    """View with the order of elements reversed along an axis, several, or all of them.

    >>> iruka.flip(iruka.arange(3))
    array([2, 1, 0])
    """
    m = _array(m)
    return m[()] if axis is None and not m.ndim else _core.flip(m, axis)


def fliplr(m) -> ndarray:
    """View with columns in reverse order. Raises ValueError for fewer than two axes."""
    return _core.fliplr(_array(m))


def flipud(m) -> ndarray:
    """View with rows in reverse order. Raises ValueError for a 0-d array."""
    return _core.flipud(_array(m))


def rot90(m, k: int = 1, axes=(0, 1)) -> ndarray:
    """View turned k times by 90 degrees from the first of two axes towards the second."""
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError(f"rot90: axes must be two, not {len(axes)}")
    return _core.rot90(_array(m), operator.index(k) % 4, *axes)


def roll(a, shift, axis=None) -> ndarray:
    """A copy whose elements have moved by `shift` places, the last ones to the front; of the flat array without an
    axis.

    Several axes take one shift each, or the same; a number, a sequence or an array says by how much.
    """
    a = _array(a)
    shift = shift.tolist() if hasattr(shift, "tolist") else shift
    shifts = tuple(shift if isinstance(shift, (tuple, list, range)) else (shift,))
    if any(isinstance(by, (tuple, list)) for by in shifts):
        raise ValueError(f"roll: shift must be a number or a sequence of numbers, not {shift}")
    return _core.roll(a, tuple(map(int, shifts)), None if axis is None else _ints(axis))


# --- repeating -------------------------------------------------------------------------------------------------------


def tile(A, reps) -> ndarray:
    """The array laid `reps` times side by side along each axis.

    >>> iruka.tile(iruka.arange(2), (2, 2))
    array([[0, 1, 0, 1],
           [0, 1, 0, 1]])
    """
    return _core.tile(_array(A), _ints(reps))


def resize(a, new_shape) -> ndarray:
    """A copy of another size: the elements in C order, again from the start where they do not suffice."""
    return _core.resize(_array(a), _ints(new_shape))


# --- splitting -------------------------------------------------------------------------------------------------------


def array_split(ary, indices_or_sections, axis: int = 0) -> list[ndarray]:
    """Views of the parts along an axis: as many as given, of nearly equal extent, or between the given indices."""
    return _core.array_split(_array(ary), _sections(indices_or_sections), axis)


def _sections(parts):
    """A number of sections, or the places between them."""
    several = hasattr(parts, "__len__") and getattr(parts, "ndim", 1) > 0
    return list(map(operator.index, parts)) if several else int(parts)


def _equal_sections(parts):
    """The same for parts of one extent. Raises ZeroDivisionError for 0 sections, ValueError for a fraction of one."""
    sections = _sections(parts)
    if sections == 0:
        raise ZeroDivisionError("split: the number of parts must not be 0")
    if isinstance(sections, int) and sections != parts:
        raise ValueError(f"split: the number of parts must be whole, not {parts}")
    return sections


def split(ary, indices_or_sections, axis: int = 0) -> list[ndarray]:
    """array_split into parts of one extent.

    Raises ValueError where the number of parts does not divide the axis, ZeroDivisionError for 0 parts.
    """
    parts = _equal_sections(indices_or_sections)
    return (_core.array_split if isinstance(parts, list) else _core.split)(_array(ary), parts, axis)


def hsplit(ary, indices_or_sections) -> list[ndarray]:
    """split along the second axis, along the first of a 1-d array."""
    return _core.hsplit(_array(ary), _equal_sections(indices_or_sections))


def vsplit(ary, indices_or_sections) -> list[ndarray]:
    """split along the first axis of at least two."""
    return _core.vsplit(_array(ary), _equal_sections(indices_or_sections))


def dsplit(ary, indices_or_sections) -> list[ndarray]:
    """split along the third axis."""
    return _core.dsplit(_array(ary), _equal_sections(indices_or_sections))


def unstack(x, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Views of the slices along an axis. Raises ValueError for a 0-d array."""
    return _core.unstack(_array(x), axis)


# --- joining ---------------------------------------------------------------------------------------------------------


def column_stack(tup) -> ndarray:
    """1-d arrays as the columns of a matrix, matrices beside each other."""
    return _core.column_stack(list(map(_array, tup)))


def dstack(tup) -> ndarray:
    """The arrays behind each other: along the third axis."""
    return _core.dstack(list(map(_array, tup)))


def block(arrays) -> ndarray:
    """An array of nested lists of blocks: the innermost lists joined along the last axis, the next along the one
    before.

    Raises ValueError for lists of unequal depth, or an empty one, TypeError for a tuple.
    """
    return _core.block(arrays)


def append(arr, values, axis: int | None = None) -> ndarray:
    """`arr` with `values` behind it along an axis; both flat without one."""
    return _core.append(_array(arr), _array(values), axis)


def _places(function: str, obj):
    """What names places as C++ takes it: an int, a slice, or an array, on the host unless it is ours."""
    if type(obj) is int or isinstance(obj, (slice, ndarray)):
        return obj
    places = numpy.asarray(obj)
    if places.size == 0 and not isinstance(obj, numpy.ndarray):
        places = places.astype(int)
    if places.dtype.kind not in "biufcV":  # which no array of ours holds
        error = TypeError if function == "insert" and places.size == 1 else IndexError
        raise error(f"{function}: obj must be integers or booleans, not {places.dtype}")
    return _core.as_array(places, "cpu")


def delete(arr, obj, axis: int | None = None) -> ndarray:
    """A copy without the elements, or the slices along an axis, at an index, a slice, or a sequence of indices or
    bools.

    Raises IndexError for an index out of bounds, ValueError for a mask of another length, AxisError.
    """
    return _core.delete(_array(arr), _places("delete", obj), axis)


def insert(arr, obj, values, axis: int | None = None) -> ndarray:
    """A copy with `values` put in front of the places that an index, a slice or a sequence of indices or bools names.

    Raises IndexError for indices out of bounds or that are no integers (TypeError for a single one), ValueError for
    values that do not broadcast, AxisError.
    """
    arr = _array(arr)
    return _core.insert(arr, _places("insert", obj), asarray(values, arr.dtype, device=arr.device), axis)


def trim_zeros(filt, trim: str = "fb", axis=None) -> ndarray:
    """View without the zeros at the front ('f'), the back ('b') or both ends, of each axis or the given ones."""
    filt = _array(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"trim_zeros: trim must be 'fb', 'f' or 'b', not {trim!r}")
    return _core.trim_zeros(filt, "f" in trim, "b" in trim, axis)
