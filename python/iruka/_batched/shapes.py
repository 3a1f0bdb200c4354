"""Shapes and joins of batched arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .._numpy.conversion import asarray
from .._numpy.indexing import diagonal, trace as sum_of_diagonal
from .._numpy.padding import pad
from .._numpy.rearranging import array_split
from .._numpy.shapes import broadcast_to, concatenate, expand_dims, moveaxis, result_type, stack
from .table import flat, lift, row, shifted, spread
from .values import Batched, Tracer, is_batched


@row("reshape")
def _reshape(tracer, a, shape=None, order="C", *, copy=None):
    if order not in ("C", "A", "K"):
        tracer.refuse(f"it reshapes in the order {order!r}")
    array = lift(tracer, a)
    shape = (shape,) if isinstance(shape, int) else tuple(int(each) for each in shape)
    if -1 in shape:
        known = -math.prod(shape)
        shape = tuple(array.size // known if each == -1 and known else each for each in shape)
    return array.data.reshape((array.data.shape[0], *shape))


@row("ravel")
def _ravel(tracer, a, order="C"):
    array = lift(tracer, a)
    if not _is_contiguous(array):  # NumPy copies, and so leaves the original as it is
        array = tracer.batched(array.data.copy())
    return _reshape(tracer, array, (array.size,), order)


def _is_contiguous(array: Batched) -> bool:
    expected = array.itemsize
    for extent, stride in zip(array.shape[::-1], array.data.strides[:0:-1], strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


@row("transpose permute_dims")
def _transpose(tracer, a, axes=None):
    array = lift(tracer, a)
    order = tuple(range(array.ndim))[::-1] if axes is None else tuple(each % array.ndim for each in axes)
    return array.data.transpose((0, *(each + 1 for each in order)))


@row("swapaxes")
def _swapaxes(tracer, a, axis1, axis2):
    array = lift(tracer, a)
    return array.data.swapaxes(shifted(array, axis1), shifted(array, axis2))


@row("moveaxis")
def _moveaxis(tracer, a, source, destination):
    array = lift(tracer, a)
    return moveaxis(array.data, shifted(array, source), shifted(array, destination))


@row("expand_dims")
def _expand_dims(tracer, a, axis):
    array = lift(tracer, a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = array.ndim + len(axes)
    return expand_dims(array.data, tuple(each % ndim + 1 for each in axes))


@row("squeeze")
def _squeeze(tracer, a, axis=None):
    array = lift(tracer, a)
    axes = [k for k, extent in enumerate(array.shape) if extent == 1] if axis is None else axis
    return array.data.squeeze(shifted(array, tuple(axes) if isinstance(axes, list) else axes))


@row("atleast_1d")
def _atleast_1d(tracer, *arrays):
    made = [lift(tracer, each) for each in arrays]
    made = [each if each.ndim else tracer.call("reshape", each, (1,)) for each in made]
    return made[0] if len(made) == 1 else tuple(made)


@row("atleast_2d")
def _atleast_2d(tracer, *arrays):
    made = [lift(tracer, each) for each in arrays]
    made = [each if each.ndim > 1 else tracer.call("reshape", each, (1, each.size)) for each in made]
    return made[0] if len(made) == 1 else tuple(made)


@row("broadcast_to")
def _broadcast_to(tracer, array, shape):
    array = lift(tracer, array)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    data = expand_dims(array.data, tuple(range(1, 1 + len(shape) - array.ndim)))
    return broadcast_to(data, (array.data.shape[0], *shape))


def _joined(tracer: Tracer, arrays: Any) -> list[Batched]:
    if is_batched(arrays):
        return list(arrays)
    return [lift(tracer, each) for each in arrays]


@row("concatenate concat")
def _concatenate(tracer, arrays, axis=0, *, dtype=None, casting="same_kind"):
    parts = _joined(tracer, arrays)
    if axis is None:
        parts, axis = [flat(each) for each in parts], 0
    return concatenate([spread(each) for each in parts], shifted(parts[0], axis), dtype=dtype, casting=casting)


@row("stack")
def _stack(tracer, arrays, axis=0, *, dtype=None, casting="same_kind"):
    parts = _joined(tracer, arrays)
    axis = axis % (parts[0].ndim + 1) + 1
    return stack([spread(each) for each in parts], axis, dtype=dtype, casting=casting)


@row("hstack")
def _hstack(tracer, tup, **keywords):
    parts = [tracer.call("atleast_1d", each) for each in _joined(tracer, tup)]
    return tracer.call("concatenate", parts, 0 if parts[0].ndim == 1 else 1, **keywords)


@row("vstack row_stack")
def _vstack(tracer, tup, **keywords):
    return tracer.call("concatenate", [tracer.call("atleast_2d", each) for each in _joined(tracer, tup)], 0, **keywords)


@row("column_stack")
def _column_stack(tracer, tup):
    columns = [each if each.ndim > 1 else tracer.call("reshape", each, (each.size, 1)) for each in _joined(tracer, tup)]
    return tracer.call("concatenate", columns, 1)


@row("append")
def _append(tracer, arr, values, axis=None):
    return tracer.call("concatenate", (arr, values), axis)


@row("insert")
def _insert(tracer, arr, obj, values, axis=None):
    array = lift(tracer, arr)
    if axis is not None and array.ndim > 1 or not isinstance(obj, int) or is_batched(obj):
        tracer.refuse("insert with these arguments has no form for many slices")
    array, values = flat(array), lift(tracer, values)
    place = obj + array.size if obj < 0 else obj
    values = tracer.call("astype", tracer.call("atleast_1d", values), array.dtype)
    return tracer.call("concatenate", (array[:place], values, array[place:]))


@row("split")
def _split(tracer, ary, indices_or_sections, axis=0):
    array = lift(tracer, ary)
    if isinstance(indices_or_sections, int) and array.shape[axis] % indices_or_sections:
        tracer.refuse("array split does not result in an equal division")
    return _array_split(tracer, array, indices_or_sections, axis)


@row("array_split hsplit")
def _array_split(tracer, ary, indices_or_sections, axis=0):
    array = lift(tracer, ary)
    return [tracer.batched(each) for each in array_split(array.data, indices_or_sections, shifted(array, axis))]


@row("tile")
def _tile(tracer, A, reps):
    array = lift(tracer, A)
    if array.ndim != 1 or not isinstance(reps, int) or is_batched(reps):
        tracer.refuse("tile of or to several axes has no form for many slices")
    return concatenate([array.data] * reps, axis=1) if reps else array.data[:, :0]


@row("pad")
def _pad(tracer, array, pad_width, mode="constant", **keywords):
    array = lift(tracer, array)
    widths = numpy.broadcast_to(numpy.asarray(pad_width), (array.ndim, 2)).tolist()
    if any(numpy.ndim(each) for each in keywords.values()):
        tracer.refuse("pad with several values has no form for many slices")
    return pad(array.data, [(0, 0), *map(tuple, widths)], mode, **keywords)


@row("diag")
def _diag(tracer, v, k=0):
    array = lift(tracer, v)
    if array.ndim == 2:
        return diagonal(array.data, k, 1, 2)
    extent = array.size + abs(k)
    made = tracer.call("zeros_like", array, shape=(extent, extent))
    rows = numpy.arange(array.size) + max(-k, 0)
    made.data[:, asarray(rows), asarray(rows + k)] = spread(array)
    return made


@row("diagonal")
def _diagonal(tracer, a, offset=0, axis1=0, axis2=1):
    array = lift(tracer, a)
    return diagonal(array.data, offset, shifted(array, axis1), shifted(array, axis2))


@row("trace")
def _trace(tracer, a, offset=0, axis1=0, axis2=1, dtype=None):
    array = lift(tracer, a)
    return sum_of_diagonal(array.data, offset, shifted(array, axis1), shifted(array, axis2), dtype)


@row("fliplr")
def _fliplr(tracer, m):
    return tracer.call("flip", m, 1)


@row("flipud")
def _flipud(tracer, m):
    return tracer.call("flip", m, 0)


@row("vander")
def _vander(tracer, x, N=None, increasing=False):
    array = lift(tracer, x)
    count = array.size if N is None else N
    powers = [tracer.call("ones_like", array, dtype=result_type(array.dtype, int))]
    for _ in range(1, count):
        powers.append(powers[-1] * array)
    return tracer.call("stack", powers if increasing else powers[::-1], 1)


@row("meshgrid")
def _meshgrid(tracer, *arrays, **keywords):
    tracer.refuse("meshgrid of parts of a slice has no form for many slices")


@row("ediff1d")
def _ediff1d(tracer, ary, to_end=None, to_begin=None):
    if to_end is not None or to_begin is not None:
        tracer.refuse("ediff1d with ends has no form for many slices")
    return tracer.call("diff", tracer.call("ravel", ary))


@row("linspace")
def _linspace(tracer, start, stop, num=50, endpoint=True, *, dtype=None):
    first: Any = lift(tracer, start)
    last: Any = lift(tracer, stop)
    if first.ndim or last.ndim or num < 2 or dtype is not None:
        tracer.refuse("linspace of arrays, or with a dtype, has no form for many slices")
    places = lift(tracer, numpy.arange(num))
    made = places * ((last * 1.0 - first) / (num - 1 if endpoint else num)) + first
    if endpoint:
        made.data[:, -1] = last.data
    return made
