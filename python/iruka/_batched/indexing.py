"""Indexing of batched arrays, and functions that find or take elements."""

from __future__ import annotations

from typing import Any

import numpy

from .._core import ndarray
from .._functions import elementwise as UFUNCS
from .._numpy.conversion import asarray
from .._numpy.creation import arange
from .._numpy.histogram import bincount, digitize, histogram_bin_edges, searchsorted
from .._numpy.indexing import nonzero, take_along_axis, unravel_index
from .._numpy.sets import isin
from .._numpy.shapes import result_type
from .table import flat, is_python_number, lift, row, shifted, with_ndim
from .values import Batched, Tracer, contains_batched, is_batched, spread


def _whole(tracer: Tracer, key: Any) -> Any:
    """A key without batched parts: shared arrays as arrays, batched bounds of slices as numbers."""
    if type(key) is tuple:
        return tuple(_whole(tracer, each) for each in key)
    if type(key) is slice:
        return slice(*(tracer.number(each) if is_batched(each) else each for each in (key.start, key.stop, key.step)))
    if isinstance(key, list) and contains_batched(key):
        return _whole(tracer, lift(tracer, key))
    if is_batched(key) and key.data.shape[0] == 1 and (key.dtype.kind in "iu" or tracer.count > 1):
        return key.data[0] if key.ndim else tracer.number(key)
    return key


def _is_array(key: Any) -> bool:
    return isinstance(key, (list, numpy.ndarray, ndarray)) and not is_batched(key)


def _check_arrays(tracer: Tracer, key: tuple) -> None:
    """Arrays in a key have to stand side by side, for their axes to stay where they are."""
    if not any(map(_is_array, key)):
        return
    places = [k for k, each in enumerate(key) if _is_array(each) or isinstance(each, (int, numpy.integer))]
    if places[-1] - places[0] + 1 != len(places):
        tracer.refuse("it indexes with arrays that do not stand side by side")


@row("get item")
def _get_item(tracer, x, key):
    key = _whole(tracer, key)
    if is_batched(key):
        return _picked(tracer, x, key)
    key = key if type(key) is tuple else (key,)
    if any(map(is_batched, key)):
        return _gathered(tracer, x, key)
    _check_arrays(tracer, key)
    data = x.data[(slice(None), *key)]
    if data.ndim == 1 and x.data.flags.writeable:  # a number, which stays as it is when the array changes
        data = data.copy()
    return tracer.batched(data, x.kind if x.ndim == 0 else None)


def _rows(tracer: Tracer, ndim: int) -> ndarray:
    return arange(tracer.count).reshape((tracer.count, *(1,) * ndim))


def _gathered(tracer: Tracer, x: Batched, key: tuple) -> ndarray:
    """x[i, j] with batched integers and whole numbers."""
    if not all(isinstance(each, int) and not is_batched(each) or
               is_batched(each) and each.dtype.kind in "iu" for each in key):  # fmt: skip
        tracer.refuse("it indexes with several kinds of indices of the slice")
    ndim = max(each.ndim for each in key if is_batched(each))
    indices = [with_ndim(each, ndim) if is_batched(each) else each for each in key]
    return spread(x)[(_rows(tracer, ndim), *indices)]


def _picked(tracer: Tracer, x: Batched, key: Batched) -> Any:
    if key.dtype.kind in "iu":
        if key.ndim == 1 and x.ndim == 1:
            return _elements(tracer, x, key)
        return _gathered(tracer, x, (key,))
    if key.dtype.kind != "b" or key.ndim == 0 or key.shape != x.shape[: key.ndim]:
        tracer.refuse(f"it indexes shape {x.shape} with {key.dtype} of shape {key.shape}")
    mask = spread(key)
    count = tracer.number(tracer.batched(mask.sum(axis=tuple(range(1, mask.ndim)))))
    return spread(x)[mask].reshape((tracer.count, count, *x.shape[key.ndim :]))


def _elements(tracer: Tracer, x: Batched, key: Batched) -> ndarray:
    """x[key], both of one axis."""
    length = x.shape[0]
    if key.data.size and (int(key.data.min()) < -length or int(key.data.max()) >= length):
        tracer.refuse("an index is out of bounds")
    return take_along_axis(spread(x), spread(key).astype("int64", copy=False), axis=1)


@row("set item")
def _set_item(tracer, x, key, value):
    if x.data.shape[0] != tracer.count:
        tracer.refuse("it changes an array that all slices share")
    if not x.data.flags.writeable:
        tracer.refuse("it changes the slice, or an array of outside")
    key = _whole(tracer, key)
    value = lift(tracer, value)
    if is_batched(key) and key.dtype.kind == "b" and value.ndim == 0:
        mask = expanded(spread(key), x.ndim - key.ndim)
        x.data[...] = UFUNCS["where"](mask, with_ndim(value, x.ndim).astype(x.dtype), x.data)
        return
    if is_batched(key) and key.dtype.kind == "b":
        mask = spread(key)
        count = tracer.number(tracer.batched(mask.sum(axis=tuple(range(1, mask.ndim)))))
        if value.shape != (count, *x.shape[key.ndim :]):
            tracer.refuse("it assigns one shape to a mask of another")
        x.data[mask] = spread(value).reshape((tracer.count * count, *value.shape[1:]))
        return
    key = key if type(key) is tuple else (key,)
    if any(map(is_batched, key)):
        if not all(is_batched(each) and each.dtype.kind in "iu" or type(each) is int for each in key):
            tracer.refuse("it assigns to several kinds of indices of the slice")
        ndim = max(each.ndim for each in key if is_batched(each))
        indices = [with_ndim(each, ndim) if is_batched(each) else each for each in key]
        x.data[(_rows(tracer, ndim), *indices)] = with_ndim(value, max(ndim + x.ndim - len(key), value.ndim))
        return
    _check_arrays(tracer, key)
    target = x.data[(slice(None), *key)]
    if value.ndim > target.ndim - 1:
        tracer.refuse(f"it assigns shape {value.shape} to {target.shape[1:]}")
    x.data[(slice(None), *key)] = with_ndim(value, target.ndim - 1)


def expanded(data: ndarray, count: int) -> ndarray:
    return data.reshape((*data.shape, *(1,) * count)) if count else data


@row("unravel_index")
def _unravel_index(tracer, indices, shape, order="C"):
    return unravel_index(lift(tracer, indices).data, shape, order)


@row("take")
def _take(tracer, a, indices, axis=None, out=None, mode="raise"):
    array = lift(tracer, a)
    if mode != "raise":
        tracer.refuse("take gets a mode")
    if axis is None:
        return tracer.call("get item", flat(array), indices if is_batched(indices) else asarray(indices))
    axis = shifted(array, axis) % array.data.ndim - 1
    if is_batched(indices) and axis:
        tracer.refuse("take gets indices of the slice and an axis")
    return tracer.call(
        "get item", array, (*(slice(None),) * axis, indices if is_batched(indices) else asarray(indices))
    )


@row("take_along_axis")
def _take_along_axis(tracer, arr, indices, axis=-1):
    array, places = lift(tracer, arr), lift(tracer, indices)
    if axis is None:
        array, axis = flat(array), 0
    return take_along_axis(spread(array), spread(places), axis=shifted(array, axis))


@row("flatnonzero")
def _places(tracer: Tracer, a: Any) -> ndarray:
    """The positions of the elements that are not zero, of which all slices have the same number."""
    array = lift(tracer, a)
    mask = spread(flat(array)) != 0
    count = tracer.number(tracer.batched(mask.sum(axis=1)))
    return nonzero(mask)[1].reshape(tracer.count, count)


@row("nonzero")
def _nonzero(tracer, a):
    if lift(tracer, a).ndim != 1:
        tracer.refuse("nonzero of several axes has no form for many slices")
    return (_places(tracer, a),)


@row("argwhere")
def _argwhere(tracer, a):
    if lift(tracer, a).ndim != 1:
        tracer.refuse("argwhere of several axes has no form for many slices")
    return expanded(_places(tracer, a), 1)


@row("extract")
def _extract(tracer, condition, arr):
    return tracer.call(
        "get item",
        tracer.call("ravel", arr),
        tracer.call("ravel", tracer.call("astype", lift(tracer, condition), bool)),
    )


@row("searchsorted")
def _searchsorted(tracer, a, v, side="left", sorter=None):
    sequence, values = lift(tracer, a), lift(tracer, v)
    if sorter is not None:
        tracer.refuse("searchsorted gets a sorter")
    if sequence.data.shape[0] == 1:
        return searchsorted(sequence.data[0], values.data, side)
    if sequence.size * values.size > 1 << 14:
        tracer.refuse("searchsorted of many values in a slice has no form for many slices")
    left = expanded(values.data, 1)
    right = with_ndim(sequence, values.ndim + 1)
    return (right < left if side == "left" else right <= left).sum(axis=-1)


@row("digitize")
def _digitize(tracer, x, bins, right=False):
    if is_batched(bins) and bins.data.shape[0] != 1:
        tracer.refuse("digitize gets bins of the slice")
    return digitize(lift(tracer, x).data, lift(tracer, bins).data[0], right)


@row("isin")
def _isin(tracer, element, test_elements, **keywords):
    tests = lift(tracer, test_elements)
    if tests.data.shape[0] != 1:
        tracer.refuse("isin gets tests of the slice")
    return isin(lift(tracer, element).data, tests.data[0], **keywords)


@row("select")
def _select(tracer, condlist, choicelist, default=0):
    choices = [*choicelist, default]
    dtype = result_type(*(each if is_python_number(each) else lift(tracer, each).dtype for each in choices))
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = tracer.call("where", condition, choice, result)
    return tracer.call("astype", lift(tracer, result), dtype)


@row("unique")
def _unique(tracer, ar, return_index=False, return_inverse=False, return_counts=False, axis=None, **options):
    """Of slices that differ in the number of unique elements, those that agree are computed together."""
    given = lift(tracer, ar)
    array = flat(given)
    if axis is not None and given.ndim != 1 or set(options) - {"equal_nan", "sorted"}:
        tracer.refuse("unique along an axis has no form for many slices")
    if array.dtype.kind == "c" or array.dtype.kind == "f" and bool(UFUNCS["isnan"](array.data).any()):
        tracer.refuse("unique of NaN or complex numbers has no form for many slices")
    places = tracer.call("argsort", array, stable=True)
    ordered = tracer.call("take_along_axis", array, places, 0)
    is_first = tracer.call("ones_like", ordered, bool)
    if array.size > 1:
        is_first = tracer.call("concatenate", [[True], ordered[1:] != ordered[:-1]])
    made = [ordered[is_first]]
    if return_index:
        made.append(places[is_first])
    if return_inverse:
        number = tracer.call("cumsum", is_first) - 1
        made.append(tracer.call("take_along_axis", number, tracer.call("argsort", places), 0).reshape(given.shape))
    if return_counts:
        begins = tracer.batched(spread(tracer.constant(arange(array.size))))[is_first]
        made.append(tracer.call("diff", tracer.call("concatenate", [begins, [array.size]])))
    return made[0] if len(made) == 1 else tuple(made)


@row("lexsort")
def _lexsort(tracer, keys, axis=-1):
    parts = [lift(tracer, each) for each in keys]
    if axis not in (-1, 0) or not parts or any(each.shape != parts[0].shape or each.ndim != 1 for each in parts):
        tracer.refuse("lexsort of several axes has no form for many slices")
    order = tracer.call("argsort", parts[0], stable=True)
    for each in parts[1:]:
        ordered = tracer.call("take_along_axis", each, order, 0)
        order = tracer.call("take_along_axis", order, tracer.call("argsort", ordered, stable=True), 0)
    return order


def _counted(tracer: Tracer, bins: ndarray, is_counted: ndarray | None, count: int) -> ndarray:
    """How often each number below `count` occurs in each row of bins."""
    places = bins + _rows(tracer, 1) * count
    places = places.reshape(-1) if is_counted is None else places[is_counted]
    return bincount(places, minlength=tracer.count * count).reshape(tracer.count, count)


@row("bincount")
def _bincount(tracer, x, weights=None, minlength=0):
    array = lift(tracer, x)
    if weights is not None or array.ndim != 1 or array.dtype.kind not in "iu" or bool((array.data < 0).any()):
        tracer.refuse("bincount with weights, or of numbers that are not counted, has no form for many slices")
    if array.size == 0:
        tracer.refuse("bincount of no elements")
    largest = UFUNCS["maximum"](array.data.max(axis=1) + 1, minlength)
    return _counted(tracer, spread(array).astype("int64"), None, tracer.number(tracer.batched(largest)))


@row("histogram")
def _histogram(tracer, a, bins=10, range=None, density=None, weights=None):
    if weights is not None or density or is_batched(bins) and bins.data.shape[0] != 1 or isinstance(bins, str):
        tracer.refuse("histogram with weights, density or bins of the slice has no form for many slices")
    array = flat(lift(tracer, a))
    if isinstance(bins, int) and range is None:
        low, high = array.data.min(axis=1), array.data.max(axis=1)
        range = tracer.number(tracer.batched(low)), tracer.number(tracer.batched(high))
    edges = histogram_bin_edges(asarray([0.0]), bins.data[0] if is_batched(bins) else bins, range)
    count = len(edges) - 1
    data = spread(array)
    places = searchsorted(edges, data, "right") - 1
    places = UFUNCS["where"](data == edges[-1], count - 1, places)
    return _counted(tracer, places, (places >= 0) & (places < count) & (data <= edges[-1]), count), edges.reshape(1, -1)
