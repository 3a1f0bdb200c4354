"""Distinct elements, membership, and sets as sorted arrays."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy

from .. import _core
from .._core import ndarray
from ..errors import ValueError
from .conversion import _array
from .shapes import result_type

_NUMBERS = (bool, int, float, complex)  # their dtypes adapt to those of arrays


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
    return _core.unique(ar, return_index, return_inverse, return_counts, axis, equal_nan)


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
    if kind == "table" and not all(a.dtype.kind in "biu" for a in (element, test_elements)):
        raise ValueError("isin: kind='table' takes bools and integers only")
    return _core.isin(element, test_elements, invert)


def union1d(ar1, ar2) -> ndarray:
    """The distinct elements of both arrays, sorted.

    >>> iruka.union1d([1, 3], [2, 3])
    array([1, 2, 3])
    """
    if type(ar1) in _NUMBERS or type(ar2) in _NUMBERS:
        dtype = result_type(ar1, ar2)
        ar1, ar2 = _array(ar1).astype(dtype, copy=False), _array(ar2).astype(dtype, copy=False)
    return _core.union1d(ar1, ar2)


def intersect1d(ar1, ar2, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The distinct elements that both arrays have, sorted; with `return_indices`, also where each comes first in
    either.

    >>> iruka.intersect1d([3, 1, 2], [2, 3])
    array([2, 3])
    """
    values, first, second = _core.intersect1d(ar1, ar2, return_indices)
    return (values, first, second) if return_indices else values


def setdiff1d(ar1, ar2, assume_unique: bool = False) -> ndarray:
    """The distinct elements of the first array that the second lacks, sorted (in their order with `assume_unique`).

    >>> iruka.setdiff1d([3, 1, 2], [2])
    array([1, 3])
    """
    ar1 = _array(ar1)
    return _core.setdiff1d(ar1, _tests(ar2, ar1.dtype.kind in "biu"), assume_unique)


def setxor1d(ar1, ar2, assume_unique: bool = False) -> ndarray:
    """The distinct elements that just one of the arrays has, sorted.

    >>> iruka.setxor1d([1, 2], [2, 3])
    array([1, 3])
    """
    return _core.setxor1d(ar1, ar2)
