"""Sorting, searching, sets."""

import dataclasses

import numpy as np

import cases
import compare
from cases import Code
from compare import Rule
from table import row


def sort(d, name):
    array = d.array(least=0 if d.chance(0.05) else 1)
    if name.startswith("ndarray."):
        array = d.writable(array.shape, array.dtype)
    kwargs = {"axis": d.one_axis(array.ndim, 0.1)} if d.chance(0.7) else {}
    if d.chance(0.3):
        kwargs["kind"] = d.one("quicksort", "mergesort", "heapsort", "stable", "none")
    if d.chance(0.15):
        kwargs["stable"] = d.one(True, False, None)
    return [array], kwargs


def ordered(case, ours, theirs):
    """An order of NumPy's unstable argsort: the values that it picks, and that it is a permutation."""
    return picked(case, ours, theirs, None)


def picked(case, ours, theirs, kth):
    import cases
    import compare

    found = compare.difference(case, ours, theirs)
    if not found:
        return None
    if found[0] != "value":
        return found[1]
    array = np.asarray(cases.Run(np).value(case.args[0]))
    axis = case.kwargs.get("axis", -1)
    own = np.asarray(compare.host(ours))
    if axis is None or array.ndim == 0:
        array, axis = array.ravel(), 0
    if not (
        np.sort(own, axis)
        == np.arange(array.shape[axis]).reshape([-1 if i == axis % array.ndim else 1 for i in range(array.ndim)])
    ).all():
        return "indices are no permutation: " + found[1]
    taken, wanted = np.take_along_axis(array, own, axis), np.take_along_axis(array, np.asarray(theirs), axis)
    if kth is not None:
        return parts_differ(taken, array, kth, axis)
    equal = (taken == wanted) | (np.isnan(taken) & np.isnan(wanted)) if array.dtype.kind in "fc" else taken == wanted
    return None if equal.all() else "other values in order: " + found[1]


def in_order(array, axis):
    """Sorted; NumPy 2.4 puts some elements of float16 in the wrong place."""
    return (
        np.sort(array.astype("float32"), axis).astype("float16") if array.dtype == "float16" else np.sort(array, axis)
    )


def parts_differ(own, array, kth, axis):
    """Whether an array is no partition of another: element k as sorted, smaller ones before, all of them there."""
    sorted_array = in_order(array, axis)
    for k in np.atleast_1d(kth):
        k = int(k) % sorted_array.shape[axis] if sorted_array.shape[axis] else 0
        for low, high in ((0, k), (k, k + 1), (k + 1, None)):
            index = [slice(None)] * own.ndim
            index[axis] = slice(low, high)
            mine, right = in_order(own[tuple(index)], axis), sorted_array[tuple(index)]
            same = (mine == right) | (np.isnan(mine) & np.isnan(right)) if own.dtype.kind in "fc" else mine == right
            if not same.all():
                return f"elements {low}:{high} of the partition at {k} are not those of the sorted array"
    return None


def partitioned(case, ours, theirs):
    import cases
    import compare

    if tuple(ours.shape) != theirs.shape or np.dtype(ours.dtype) != theirs.dtype:
        return f"{ours.dtype}{tuple(ours.shape)} where NumPy has {theirs.dtype}{theirs.shape}"
    array, axis = np.asarray(cases.Run(np).value(case.args[0])), case.kwargs.get("axis", -1)
    own = np.asarray(compare.host(ours))
    if axis is None or array.ndim == 0:
        array, axis, own = array.ravel(), 0, own.ravel()
    if array.size == 0:
        return None
    kth = cases.Run(np).value(case.args[1])
    if "arg" in case.name:
        own = np.take_along_axis(array, own, axis)
    return parts_differ(own, array, kth, axis)


row("sort", Rule(signed=False), large=True)(sort)
row("ndarray.sort", Rule(signed=False), "lambda x, **k: (x.sort(**k), x.copy())[1]", large=True)(sort)
row("argsort ndarray.argsort", Rule(check=ordered), large=True)(sort)
row("sort_complex", Rule(signed=False))(lambda d, name: ([d.array(least=1)], {}))
row("lexsort")(
    lambda d, name: (
        lambda s: (
            [[d.array(s, kind=d.one("ties", "small")) for _ in range(d.randint(1, 3))]],
            {"axis": d.one(0, -1)} if d.chance(0.3) else {},
        )
    )(d.shape(1, 2))
)


def partition(d, name):
    array = d.array(least=1) if not name.startswith("ndarray.p") else d.writable(d.shape(1), d.dtype())
    axis = d.one_axis(array.ndim, 0.1)
    size = (
        array.size
        if axis is None
        else array.shape[axis]
        if isinstance(axis, int) and -array.ndim <= axis < array.ndim
        else 1
    )
    kth = d.randint(-size, size - 1) if size else 0
    if d.chance(0.2) and size:
        kth = [d.randint(0, size - 1) for _ in range(2)]
    if d.chance(0.02):
        kth = size
    return [array, kth], {"axis": axis}


row("partition argpartition ndarray.argpartition", Rule(check=partitioned), large=True)(partition)
row(
    "ndarray.partition",
    Rule(check=partitioned),
    "lambda x, *a, **k: (lambda y: (y.partition(*a, **k), y)[1])(x.copy())",
)(partition)


def searchsorted(d, name):
    values = d.array(d.shape(most=2), classes="biuf")
    dtype = d.dtype("biuf") if d.chance(0.5) else values.dtype
    kind = d.one("small", "edge", "full", "unit", "ties")
    seed = d.getrandbits(32)
    array = Code(f"xp.asarray(np.sort(values.make('{dtype}', '{kind}', {seed}, ({d.size()},))))")
    kwargs = {"side": d.one("left", "right", "x")} if d.chance(0.6) else {}
    return [array, values if d.chance(0.8) else d.scalar()], kwargs


row("searchsorted ndarray.searchsorted", large=True)(searchsorted)


def unique(d, name):
    array = d.array(kind=d.one("ties", "small", None, None))
    kwargs = {key: True for key in ("return_index", "return_inverse", "return_counts") if d.chance(0.3)}
    if d.chance(0.2):
        kwargs["axis"] = d.one_axis(array.ndim, 0.1)
    if d.chance(0.15):
        kwargs["equal_nan"] = d.one(True, False)
    return [array], kwargs if name == "unique" else {}


row("unique", Rule(signed=False), large=True)(unique)


def unique_places(case, ours, theirs):
    """Several NaN are values of their own, in whatever order the sort leaves them: places lead to equal values."""
    found = compare.difference(dataclasses.replace(case, rule=Rule(signed=False)), ours, theirs)
    if not found or found[0] != "value" or not np.isnan(theirs.values).any():
        return found and found[1]
    x, own = cases.Run(np).value(case.args[0]), [compare.host(part) for part in ours]
    fields = dict(zip(theirs._fields, own))
    agree = np.array_equal(fields["values"], theirs.values, equal_nan=True)
    if agree and "inverse_indices" in fields:
        places = fields["inverse_indices"]
        agree = np.array_equal(fields["values"][places], x, equal_nan=True) and len(
            set(places.ravel().tolist())
        ) == len(theirs.values)
    if agree and "indices" in fields:
        first, numbers = fields["indices"], ~np.isnan(theirs.values)
        agree = np.array_equal(first[numbers], theirs.indices[numbers]) and sorted(first.tolist()) == sorted(
            theirs.indices.tolist()
        )
    if agree and "counts" in fields:
        agree = np.array_equal(fields["counts"], theirs.counts)
    return None if agree else found[1]


row("unique_all unique_counts unique_inverse", Rule(check=unique_places), large=True)(unique)
row("unique_values", Rule(signed=False, sort=True), large=True)(unique)  # NumPy's come from a hash table


def two_sets(d, name):
    dtype = d.dtype()
    kind = d.one("ties", "small", "full", None)
    first = d.array(d.shape(most=2), dtype, kind)
    second = d.array(d.shape(most=2), dtype if d.chance(0.7) else None, kind)
    kwargs = {"assume_unique": False} if name != "union1d" and d.chance(0.2) else {}
    if name == "intersect1d" and d.chance(0.3):
        kwargs["return_indices"] = True
    if name == "isin":
        if d.chance(0.3):
            kwargs["invert"] = True
        if d.chance(0.3):
            kwargs["kind"] = d.one(None, "sort", "table")
    return [first, second], kwargs


row("union1d intersect1d setdiff1d setxor1d isin", Rule(signed=False), large=True)(two_sets)
