"""Distinct elements, membership, and sets as sorted arrays."""

from __future__ import annotations

import operator
import sys
from typing import Any, NamedTuple

import numpy

from .. import _core
from .._core import ndarray
from ..errors import ValueError
from .conversion import _array
from .shapes import _axes, concatenate, moveaxis, result_type


class UniqueAllResult(NamedTuple):
    """What unique_all gives."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """What unique_counts gives."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """What unique_inverse gives."""

    values: ndarray
    inverse_indices: ndarray


def _along_axis(x: ndarray, axis: int, index: bool, inverse: bool, counts: bool):
    front = moveaxis(x, axis, 0)
    width = 1
    for extent in front.shape[1:]:
        width *= extent
    # As NumPy compares slices: NaN differs from NaN.
    values, *rest = _core.unique_rows(front.reshape((front.shape[0], width)), index, inverse, counts, False)
    return moveaxis(values.reshape((values.shape[0], *front.shape[1:])), 0, axis), *rest


def unique(
    ar,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The distinct elements of the flattened array, sorted; or the distinct slices along an axis.

    With a flag set, a tuple: the values, int64 indices of where each comes first, which value each element is (of the
    shape of `ar`; along an axis, one number a slice), and how often each occurs. With `equal_nan`, all NaN are one
    value. The result is sorted whatever `sorted` says. Raises AxisError.

    >>> iruka.unique([2, 1, 2], return_counts=True)
    (array([1, 2]), array([1, 2]))
    """
    ar = _array(ar)
    if axis is not None:
        (axis,) = _axes("unique", operator.index(axis), ar.ndim)
    if axis is None or ar.ndim == 1:
        values, index, inverse, counts = _core.unique(ar, return_index, return_inverse, return_counts, bool(equal_nan))
        inverse = inverse.reshape(ar.shape) if return_inverse else None
    else:
        values, index, inverse, counts = _along_axis(ar, axis, return_index, return_inverse, return_counts)
    parts = [part for part in (index, inverse, counts) if part is not None]
    return (values, *parts) if parts else values


def unique_values(x) -> ndarray:
    """The distinct elements, sorted; each NaN is one of its own (array API)."""
    return unique(x, equal_nan=False)


def unique_counts(x) -> UniqueCountsResult:
    """The distinct elements, sorted, and how often each occurs; each NaN is one of its own (array API)."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x) -> UniqueInverseResult:
    """The distinct elements, sorted, and which each element of x is, in x's shape (array API)."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_all(x) -> UniqueAllResult:
    """Distinct elements, where each comes first, which each element is, and how often each occurs (array API)."""
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def _flat_pair(ar1, ar2) -> tuple[ndarray, ndarray]:
    """Both flattened, in the dtype that holds both."""
    ar1, ar2 = _array(ar1), _array(ar2)
    dtype = result_type(ar1, ar2)
    return ar1.ravel().astype(dtype, copy=False), ar2.ravel().astype(dtype, copy=False)


def _members(elements: ndarray, of: ndarray, invert: bool = False) -> ndarray:
    return _core.is_among_sorted(_core.sort(of, 0, False, False), elements, invert)


def _select(x: ndarray, mask: ndarray) -> ndarray:
    return _core.take_flat(x, _core.true_indices(mask))


def _tests(given, of_integers: bool):
    """Test elements as an array; Python integers beyond 64 bits, which no integer is, are floats among floats."""
    try:
        return _array(given)
    except OverflowError:
        numbers = numpy.asarray(given, object).ravel().tolist()
        within = (lambda n: -(2**63) <= n < 2**64) if of_integers else (lambda n: abs(n) <= sys.float_info.max)
        return _array([n if of_integers else float(n) for n in numbers if within(n)])


def isin(element, test_elements, assume_unique: bool = False, invert: bool = False, *, kind=None) -> ndarray:
    """Whether each element is among the test elements: bool, of the shape of `element`. NaN is among none.

    `kind` is None, 'sort' or 'table' as NumPy's, and changes nothing. Raises ValueError for another.

    >>> iruka.isin([1, 2, 3], [2, 5])
    array([False,  True, False])
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"isin: kind must be None, 'sort' or 'table', not {kind!r}")
    element = _array(element)
    test_elements = _tests(test_elements, element.dtype.kind in "biu")
    flat, tests = _flat_pair(element, test_elements)
    if kind == "table" and not all(_array(a).dtype.kind in "biu" for a in (element, test_elements)):
        raise ValueError("isin: kind='table' takes bools and integers only")
    return _members(flat, tests, bool(invert)).reshape(element.shape)


def union1d(ar1, ar2) -> ndarray:
    """The distinct elements of both arrays, sorted.

    >>> iruka.union1d([1, 3], [2, 3])
    array([1, 2, 3])
    """
    return unique(concatenate((ar1, ar2), axis=None))


def intersect1d(ar1, ar2, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The distinct elements that both arrays have, sorted; with `return_indices`, also where each comes first in
    either.

    >>> iruka.intersect1d([3, 1, 2], [2, 3])
    array([2, 3])
    """
    flat1, flat2 = _flat_pair(ar1, ar2)
    values1, first1, *_ = _core.unique(flat1, return_indices, False, False, True)
    values2, first2, *_ = _core.unique(flat2, return_indices, False, False, True)
    places = _core.find_sorted(values2, values1)
    common = _core.true_indices(places >= 0)
    values = _core.take_flat(values1, common)
    if not return_indices:
        return values
    return values, _core.take_flat(first1, common), _core.take_flat(first2, _core.take_flat(places, common))


def setdiff1d(ar1, ar2, assume_unique: bool = False) -> ndarray:
    """The distinct elements of the first array that the second lacks, sorted (in their order with `assume_unique`).

    >>> iruka.setdiff1d([3, 1, 2], [2])
    array([1, 3])
    """
    ar1 = _array(ar1).ravel()
    values = ar1 if assume_unique else unique(ar1)
    return _select(values, isin(values, ar2, invert=True))


def setxor1d(ar1, ar2, assume_unique: bool = False) -> ndarray:
    """The distinct elements that just one of the arrays has, sorted.

    >>> iruka.setxor1d([1, 2], [2, 3])
    array([1, 3])
    """
    values1, values2 = (unique(x) for x in _flat_pair(ar1, ar2))
    only1, only2 = (
        _select(values1, _members(values1, values2, True)),
        _select(values2, _members(values2, values1, True)),
    )
    return _core.sort(concatenate((only1, only2)), 0, False, False)
