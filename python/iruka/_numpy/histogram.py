"""Histograms, counts, and searches in sorted arrays."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .conversion import _array
from .shapes import result_type


def searchsorted(a, v, side: str = "left", sorter=None) -> ndarray:
    """Where each element of v belongs in the sorted 1-d array a: int64, v's shape.

    side='left': the first index i with a[i] >= v, 'right': the first with a[i] > v. NaN comes last. `sorter` is the
    order that would sort a. Raises ValueError for another side, a of more than one axis, or a sorter with an index
    outside a; TypeError for a side that is no str.

    >>> iruka.searchsorted(iruka.array([1, 3, 5]), [0, 3, 9])
    array([0, 1, 3])
    """
    if not isinstance(side, str):
        raise TypeError(f"search side must be str, not {type(side).__name__}")
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    return _core.searchsorted(_array(a), v, side == "right", None if sorter is None else _array(sorter))


def digitize(x, bins, right: bool = False) -> ndarray:
    """The bin that each element of x falls into: i with bins[i-1] <= x < bins[i].

    With `right`, bins[i-1] < x <= bins[i].

    `bins` is 1-d and ascends or descends, else ValueError (on a GPU when it is next waited for). Raises TypeError for
    complex x. int64, x's shape.

    >>> iruka.digitize(iruka.array([0.2, 6.4, 3.0]), [0.0, 1.0, 2.5, 4.0])
    array([1, 4, 3])
    """
    return _core.digitize(_array(x), _array(bins), bool(right))


def bincount(x, weights=None, minlength: int = 0) -> ndarray:
    """How often each value of a 1-d array of non-negative integers occurs: int64, shape (max(x) + 1 or minlength,).

    With `weights` the sums of what the occurrences weigh, float64. An empty list counts as one of integers. Raises
    TypeError for other dtypes, ValueError for negative elements or lengths that differ.

    >>> iruka.bincount(iruka.array([0, 2, 2]))
    array([1, 0, 2])
    """
    is_sequence, x = isinstance(x, (list, tuple)), _array(x)
    if is_sequence and x.size == 0:
        x = x.astype("int64")
    return _core.bincount(x, None if weights is None else _array(weights), operator.index(minlength))


# --- Histograms ---


def _is_one_number(bins) -> bool:
    return not hasattr(bins, "__len__") or getattr(bins, "ndim", 1) == 0


def _bins(bins, message: str = "`bins` must be an integer, a string, or an array"):
    """A rule's name, a number of bins as an int, or an array of edges."""
    if isinstance(bins, str):
        return bins
    if numpy.ndim(bins) > 0:
        return bins if isinstance(bins, ndarray) else _core.as_array(numpy.asarray(bins), "cpu")
    try:
        return operator.index(bins.item() if isinstance(bins, ndarray) else bins)  # type: ignore[arg-type]  # raises
    except builtins.TypeError as error:
        raise TypeError(message) from error


def _given(weights) -> ndarray | None:
    return None if weights is None else _array(weights)


def histogram_bin_edges(a, bins=10, range=None, weights=None) -> ndarray:
    """The edges that `histogram` would use: shape (bins + 1,).

    >>> iruka.histogram_bin_edges(iruka.array([0.0, 4.0]), bins=2)
    array([0., 2., 4.])
    """
    return _core.histogram_bin_edges(_array(a), _bins(bins), range, _given(weights))


def histogram(a, bins=10, range=None, density: bool | None = None, weights=None) -> tuple[ndarray, ndarray]:
    """How many elements fall into each bin (int64; sums of weights in their dtype), and the bins' edges.

    `bins`: their number over `range` (default: from the smallest to the largest element), the edges, or an estimator's
    name ('auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges', 'sqrt'). Bins are half-open but the last. With
    `density`, a density whose integral is 1. Raises ValueError for edges that descend, a range that is not finite, or
    weights of another shape.

    >>> iruka.histogram(iruka.array([1, 2, 1]), bins=[0, 1, 2, 3])
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    return _core.histogram(_array(a), _bins(bins), range, density, _given(weights))


def histogramdd(sample, bins=10, range=None, density: bool | None = None, weights=None) -> tuple[ndarray, tuple]:
    """Counts of points in D dimensions, float64 of shape (bins, ...), and a tuple of D arrays of edges.

    `sample` has shape (points, D) or is a sequence of D arrays; `bins` a number, D numbers, or D arrays of edges.
    Raises ValueError for bins or ranges of another count.

    >>> iruka.histogramdd(iruka.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    columns = _columns(sample)
    divided = len(columns) * [bins] if _is_one_number(bins) else bins
    each = [_bins(own, f"`bins[{k}]` must be an integer, when a scalar") for k, own in enumerate(divided)]
    return _core.histogramdd(columns, each, range, density, _given(weights))


def _columns(sample) -> list[ndarray]:
    """The coordinates of points, an array a dimension, all of one dtype."""
    if getattr(sample, "ndim", 0) == 2:
        sample = _array(sample)
        return [sample[:, k] for k in numpy.arange(sample.shape[1])]
    columns = [_array(sample)] if getattr(sample, "ndim", 0) == 1 else [_array(column) for column in sample]
    if len({column.shape for column in columns}) > 1 or columns[0].ndim > 1:
        raise ValueError("histogramdd: the coordinates must be arrays of one axis and one length")
    common = result_type(*columns)
    return [column.astype(common, copy=False).reshape(-1) for column in columns]


def histogram2d(x, y, bins=10, range=None, density: bool | None = None, weights=None) -> Any:
    """Counts of points (x, y): float64 of shape (bins of x, bins of y), and both arrays of edges.

    `bins`: a number, edges for both, or a pair of either. Raises ValueError for x and y of unlike lengths.

    >>> iruka.histogram2d(iruka.array([0.0, 1.0]), iruka.array([0.0, 1.0]), bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    x, y = _array(x), _array(y)
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if not _is_one_number(bins) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, *edges
