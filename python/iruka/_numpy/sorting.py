"""Sorting and partial sorting."""

from __future__ import annotations

import builtins
import operator

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .conversion import _array

_KINDS = {"quicksort", "heapsort", "mergesort", "stable"}


def _is_stable(function: str, kind, stable) -> bool:
    if kind is not None and stable is not None:
        raise ValueError(f"{function}: kind and stable cannot be given at the same time")
    # As NumPy, the first letter decides.
    if kind is not None and (not isinstance(kind, str) or kind[:1].lower() not in {name[0] for name in _KINDS}):
        raise ValueError(
            f"{function}: kind must be one of 'quicksort', 'heapsort', 'mergesort', 'stable', not {kind!r}"
        )
    return bool(stable) or (kind is not None and kind[0].lower() in "ms")


def _no_order(function: str, order) -> None:
    if order is not None:
        raise ValueError(f"{function}: order={order!r} names fields, and no array has any")


def sort(a, axis: int | None = -1, kind: str | None = None, order=None, *, stable=None, descending=False) -> ndarray:
    """A sorted copy along an axis; of the flattened array for None. Same dtype; NaN comes last.

    With `stable`, equal elements keep their order; `descending` reverses the order, so that NaN comes first.
    Raises AxisError for an axis out of range or an array without axes, ValueError for an unknown kind.

    >>> iruka.sort([3, 1, 2])
    array([1, 2, 3])
    """
    _no_order("sort", order)
    return _core.sort(_array(a), axis, _is_stable("sort", kind, stable), bool(descending))


def argsort(a, axis: int | None = -1, kind: str | None = None, order=None, *, stable=None, descending=False) -> ndarray:
    """The int64 indices that sort along an axis; of the flattened array for None. Equal elements keep their order.

    Raises AxisError for an axis out of range, ValueError for an unknown kind.

    >>> iruka.argsort([3, 1, 2])
    array([1, 2, 0])
    """
    _no_order("argsort", order)
    _is_stable("argsort", kind, stable)
    return _core.argsort(_array(a), axis, bool(descending))


def lexsort(keys, axis: int = -1) -> ndarray:
    """The int64 indices that sort by the last key, then by the one before it, and so on.

    `keys` is a sequence of arrays of one shape, or an array of them. Raises TypeError without keys, ValueError where
    shapes differ.

    >>> iruka.lexsort(([9, 4, 0], [1, 5, 1]))
    array([2, 0, 1])
    """
    if isinstance(keys, ndarray):
        keys = [keys[k] for k in range(keys.shape[0])] if keys.ndim else []
    elif not hasattr(keys, "__len__") or getattr(keys, "ndim", 1) == 0:
        raise TypeError(f"lexsort: need a sequence of keys, not {keys!r}")
    return _core.lexsort([_array(key) for key in keys], axis)


def _positions(function: str, kth, kind) -> list[int]:
    if kind != "introselect":
        raise ValueError(f"{function}: kind must be 'introselect', not {kind!r}")
    if isinstance(kth, bool) or getattr(getattr(kth, "dtype", None), "kind", "") == "b":
        raise ValueError(f"{function}: kth must be integers, not booleans")
    if isinstance(kth, ndarray) or hasattr(kth, "tolist"):
        kth = kth.tolist()
    try:
        return [operator.index(k) for k in (kth if isinstance(kth, (list, tuple, range)) else [kth])]
    except builtins.TypeError:
        raise TypeError(f"{function}: kth must be integers, not {kth!r}") from None


def partition(a, kth, axis: int | None = -1, kind: str = "introselect", order=None) -> ndarray:
    """A copy in which the elements at positions `kth` are those of the sorted array, with no larger ones before them
    and no smaller ones behind; along an axis, or of the flattened array for None.

    Raises ValueError for a position out of bounds, TypeError for one that is no integer, AxisError.

    >>> iruka.partition([5, 1, 4, 2], 1)[1]
    array(2)
    """
    _no_order("partition", order)
    return _core.partition(_array(a), _positions("partition", kth, kind), axis)


def argpartition(a, kth, axis: int | None = -1, kind: str = "introselect", order=None) -> ndarray:
    """The int64 indices of what partition gives. Raises what it raises.

    >>> iruka.argpartition([5, 1, 4, 2], 0)[0]
    array(1)
    """
    _no_order("argpartition", order)
    return _core.argpartition(_array(a), _positions("argpartition", kth, kind), axis)


def sort_complex(a) -> ndarray:
    """A copy sorted along the last axis as complex numbers: by real part, then imaginary part.

    As NumPy has it, integers of up to 16 bits become complex64, and all else that is real complex128.
    """
    sorted_ = sort(_array(a))
    if sorted_.dtype.kind == "c":
        return sorted_
    is_small = sorted_.dtype.name in ("int8", "int16", "uint8", "uint16")
    return sorted_.astype("complex64" if is_small else "complex128")


def _sort_in_place(x: ndarray, axis, kind, stable, descending) -> None:
    if axis is None:
        raise TypeError("sort: an array is sorted in place along one axis, not None")
    x[...] = sort(x, axis, kind, stable=stable, descending=descending)


def _partition_in_place(x: ndarray, kth, axis, kind) -> None:
    if axis is None:
        raise TypeError("partition: an array is partitioned in place along one axis, not None")
    x[...] = partition(x, kth, axis, kind)
