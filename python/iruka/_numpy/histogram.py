"""Histograms, counts, and searches in sorted arrays."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy

from .. import _core
from .._array.float_errors import warn as _warn
from .._core import ElementwiseKernel, ndarray
from .._functions import elementwise, reductions
from ..errors import TypeError, ValueError
from .conversion import _array, asarray
from .quantiles import percentile
from .shapes import can_cast, result_type
from .statistics import _kind, std

# The bin of x among n equally wide ones; n if it is in none. The guess is off by at most one, and the edges decide.
_even_bin = ElementwiseKernel(
    "T x, raw const E edges, float64 first, float64 scale, int32 n",
    "int32 y",
    """
    int k = (int)(((double)x - first) * scale);
    k = k < 0 ? 0 : k > n - 1 ? n - 1 : k;
    const int down = x < edges[k] && k > 0, up = k < n - 1 && x >= edges[k + 1];
    y = x >= edges[0] && x <= edges[n] ? k - down + up : n;
    """,
    "histogram",
)
_uneven_bin = ElementwiseKernel(
    "T x, raw const E edges, int32 n",
    "int32 y",
    """
    int low = 0, high = n - 1;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      const bool down = x < edges[middle];
      low = down ? low : middle;
      high = down ? middle - 1 : high;
    }
    y = x >= edges[0] && x <= edges[n] ? low : n;
    """,
    "histogram",
)


def searchsorted(a, v, side: str = "left", sorter=None) -> ndarray:
    """Where each element of v belongs in the sorted 1-d array a: int64, v's shape.

    side='left': the first index i with a[i] >= v, 'right': the first with a[i] > v. NaN comes last. `sorter` is the
    order that would sort a. Raises ValueError for another side or a of more than one axis.

    >>> iruka.searchsorted(iruka.array([1, 3, 5]), [0, 3, 9])
    array([0, 1, 3])
    """
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

    With `weights` the sums of what the occurrences weigh, float64. Raises TypeError for other dtypes, ValueError for
    negative elements or lengths that differ.

    >>> iruka.bincount(iruka.array([0, 2, 2]))
    array([1, 0, 2])
    """
    x = _array(x)
    dtype = x.dtype
    if _kind(dtype) in "fc" and x.size:
        raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('int64') according to the rule 'safe'")
    if x.ndim != 1:
        raise ValueError(
            "object too deep for desired array" if x.ndim else "object of too small depth for desired array"
        )
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    x = _indices(x)
    smallest, largest = _core.index_range(x)
    if smallest < 0:
        raise ValueError("'list' argument must have no negative elements")
    bins = max(minlength, largest + 1)
    if weights is not None:
        weights = _array(weights)
        if not can_cast(weights.dtype, "float64", "safe"):
            raise TypeError(
                f"Cannot cast array data from {weights.dtype!r} to dtype('float64') according to the rule 'safe'"
            )
        weights = weights.astype("float64", copy=False)
        if weights.shape != x.shape:
            raise ValueError("The weights and list don't have the same length.")
    if x.size == 0:
        weights = None
    return _core.count_bins(x, weights, bins)


def _indices(x: ndarray) -> ndarray:
    dtype = x.dtype
    if dtype.kind == "i" and dtype.itemsize >= 4:
        return x
    is_narrow = dtype.itemsize < 4
    return x.astype("int32" if is_narrow else "int64", copy=False)


# --- Histograms ---


def _limits(a: ndarray, range) -> tuple:
    """First and last edge, as scalars of a's dtype or Python's."""
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (numpy.isfinite(first) and numpy.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif a.size == 0:
        first, last = 0, 1
    else:
        first, last = (_core.asnumpy(reductions[name](a))[()] for name in ("min", "max"))
        if not (numpy.isfinite(first) and numpy.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last


def _distance(first, last):
    """last - first; of integers exactly, where their dtype may be too small."""
    return (
        int(last) - int(first) if isinstance(first, numpy.integer) and isinstance(last, numpy.integer) else last - first
    )


def _range_width(a: ndarray) -> float:
    return float(_distance(*(_core.asnumpy(reductions[name](a))[()] for name in ("min", "max"))))


def _width_fd(a: ndarray) -> float:
    upper, lower = (float(v) for v in _core.asnumpy(percentile(a, [75, 25])))
    return 2.0 * (upper - lower) * a.size ** (-1.0 / 3.0)


def _width_doane(a: ndarray) -> float:
    if a.size <= 2:
        return 0.0
    n, deviation = a.size, float(std(a))
    if deviation <= 0.0:
        return 0.0
    x = a.astype("float64", copy=False)
    normal = (x - float(reductions["mean"](x))) / deviation
    skew = float(reductions["mean"](normal * normal * normal))
    spread = (6.0 * (n - 2) / ((n + 1.0) * (n + 3))) ** 0.5
    return _range_width(a) / (1.0 + numpy.log2(n) + numpy.log2(1.0 + abs(skew) / spread))


def _width_stone(a: ndarray, limits) -> float:
    n, width = a.size, _range_width(a)
    if n <= 1 or width == 0:
        return 0.0

    def error(bins):
        shares = _core.asnumpy(histogram(a, bins, limits)[0]) / n
        return (2 - (n + 1) * shares.dot(shares)) * bins / width

    most = max(100, int(n**0.5))
    best = min(builtins.range(1, most + 1), key=error)
    if best == most:
        _warn("The number of bins estimated may be suboptimal.")
    return width / best


def _width(estimator: str, a: ndarray, limits) -> float:
    """The bins' width by one of NumPy's estimators (numpy.histogram_bin_edges names their sources)."""
    n = a.size
    simple = {
        "sqrt": lambda: _range_width(a) / n**0.5,
        "sturges": lambda: _range_width(a) / (numpy.log2(n) + 1.0),
        "rice": lambda: _range_width(a) / (2.0 * n ** (1.0 / 3)),
        "scott": lambda: (24.0 * numpy.pi**0.5 / n) ** (1.0 / 3.0) * float(std(a)),
        "doane": lambda: _width_doane(a),
        "fd": lambda: _width_fd(a),
        "stone": lambda: _width_stone(a, limits),
    }
    if estimator in simple:
        return simple[estimator]()
    spread, sturges = _width_fd(a), simple["sturges"]()
    return min(max(spread, simple["sqrt"]() / 2), sturges)


_ESTIMATORS = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


def _estimated_count(a: ndarray, estimator: str, range, weights) -> int:
    if estimator not in _ESTIMATORS:
        raise ValueError(f"{estimator!r} is not a valid estimator for `bins`")
    if weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    first, last = _limits(a, range)
    if range is not None:
        keep = _core.asnumpy((a >= first) & (a <= last))
        if not keep.all():
            a = asarray(_core.asnumpy(a)[keep])
    if a.size == 0:
        return 1
    width = _width(estimator, a, (first, last))
    if width and _kind(a.dtype) in "iu":
        width = max(width, 1)
    return int(numpy.ceil(float(_distance(first, last)) / width)) if width else 1


def _edges(a: ndarray, bins, range, weights) -> tuple[numpy.ndarray, bool]:
    """The bins' edges, on the host, and whether all are equally wide."""
    if isinstance(bins, str):
        bins = _estimated_count(a, bins, range, weights)
    if numpy.ndim(bins) == 0:
        try:
            count = operator.index(bins.item() if isinstance(bins, ndarray) else bins)  # type: ignore[arg-type]  # raises
        except builtins.TypeError as error:
            raise TypeError("`bins` must be an integer, a string, or an array") from error
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        first, last = _limits(a, range)
        dtype = numpy.result_type(first, last, numpy.empty(0, "float32" if a.dtype.kind == "V" else a.dtype))
        if dtype.kind in "iub":
            dtype = numpy.result_type(dtype, float)
        edges = numpy.linspace(first, last, count + 1, endpoint=True, dtype=dtype)
        if (edges[:-1] >= edges[1:]).any():
            raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
        return edges, True
    edges = _core.asnumpy(bins) if isinstance(bins, ndarray) else numpy.asarray(bins)
    if edges.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    if edges.dtype.kind == "c":
        raise TypeError("`bins` must be real numbers")
    if (edges[:-1] > edges[1:]).any():
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges, False


def _flat(a, weights) -> tuple[ndarray, ndarray | None]:
    a = _array(a)
    if a.dtype.kind == "b":
        a = a.astype("uint8")
    if _kind(a.dtype) == "c":
        raise TypeError("histogram: the elements must be real numbers")
    if weights is None:
        return a.ravel(), None
    weights = _array(weights)
    if weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    return a.ravel(), weights.ravel()


def histogram_bin_edges(a, bins=10, range=None, weights=None) -> ndarray:
    """The edges that `histogram` would use: shape (bins + 1,).

    >>> iruka.histogram_bin_edges(iruka.array([0.0, 4.0]), bins=2)
    array([0., 2., 4.])
    """
    a, weights = _flat(a, weights)
    with a.device:
        return asarray(_edges(a, bins, range, weights)[0])


def _bin_numbers(a: ndarray, edges: numpy.ndarray, even: bool) -> ndarray:
    """The bin of each element, and the number of bins for one that is in none."""
    n = len(edges) - 1
    if {_kind(a.dtype), edges.dtype.kind} == {"i", "u"}:  # C++ would compare both as unsigned
        edges = edges.astype(numpy.result_type(a.dtype, edges))
    with a.device:
        if even:
            return _even_bin(a, asarray(edges), float(edges[0]), float(n / (float(edges[-1]) - float(edges[0]))), n)
        return _uneven_bin(a, asarray(edges), n)


def _counted(numbers: ndarray, weights: ndarray | None, bins: int) -> ndarray:
    """The count of each bin; an extra bin counts the elements outside all bins."""
    if weights is None:
        return _core.count_bins(numbers, None, bins + 1)[:bins]
    if _kind(weights.dtype) == "c":
        parts = [_counted(numbers, elementwise[part](weights), bins) for part in ("real", "imag")]
        return (parts[0] + parts[1] * 1j).astype(weights.dtype)
    sums = _core.count_bins(numbers, weights.astype("float64", copy=False), bins + 1)[:bins]
    if weights.dtype.kind in "iu" and weights.dtype.itemsize < 8:
        sums = sums.astype("int64")  # from which the smaller dtypes wrap
    return sums.astype(weights.dtype, copy=False)


def histogram(a, bins=10, range=None, density: bool | None = None, weights=None) -> tuple[ndarray, ndarray]:
    """How many elements fall into each bin (int64; sums of weights in their dtype), and the bins' edges.

    `bins`: their number over `range` (default: from the smallest to the largest element), the edges, or an estimator's
    name ('auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges', 'sqrt'). Bins are half-open but the last. With
    `density`, a density whose integral is 1. Raises ValueError for edges that descend, a range that is not finite, or
    weights of another shape.

    >>> iruka.histogram(iruka.array([1, 2, 1]), bins=[0, 1, 2, 3])
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    a, weights = _flat(a, weights)
    edges, even = _edges(a, bins, range, weights)
    if len(edges) < 2:
        counts = _core.zeros((0,), "int64" if weights is None else weights.dtype)
    else:
        counts = _counted(_bin_numbers(a, edges, even), weights, len(edges) - 1)
    with a.device:
        result = asarray(edges)
    if density:
        with a.device:
            widths = asarray(numpy.diff(edges).astype(float))
        counts = counts / widths / reductions["sum"](counts)
    return counts, result


def histogramdd(sample, bins=10, range=None, density: bool | None = None, weights=None) -> tuple[ndarray, tuple]:
    """Counts of points in D dimensions, float64 of shape (bins, ...), and a tuple of D arrays of edges.

    `sample` has shape (points, D) or is a sequence of D arrays; `bins` a number, D numbers, or D arrays of edges.
    Raises ValueError for bins or ranges of another count.

    >>> iruka.histogramdd(iruka.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    columns = _columns(sample)
    dimensions = len(columns)
    if _is_one_number(bins):
        bins = dimensions * [bins]
    if len(bins) != dimensions:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is not None and len(range) != dimensions:
        raise ValueError("range argument must have one entry per dimension")
    edges, number, inside = [], None, None
    for k, column in enumerate(columns):
        own, even = _edges_of_dimension(k, column, bins[k], None if range is None else range[k])
        each, count = _bin_numbers(column, own, even), len(own) - 1
        edges.append(own)
        fits = each < count
        number = each.astype("int64") if number is None else number * count + each
        inside = fits if inside is None else inside & fits
    shape = tuple(len(own) - 1 for own in edges)
    total = int(numpy.prod(shape, dtype=int))
    number = elementwise["where"](inside, number, total)
    counts = _counted(number, _real_weights(weights, number), total).astype("float64", copy=False).reshape(shape)
    with counts.device:
        if density:
            whole = reductions["sum"](counts)
            for k, own in enumerate(edges):
                counts = counts / asarray(numpy.diff(own)).reshape(
                    tuple(-1 if j == k else 1 for j in numpy.arange(dimensions))
                )
            counts = counts / whole
        return counts, tuple(asarray(own) for own in edges)


def _is_one_number(bins) -> bool:
    return not hasattr(bins, "__len__") or getattr(bins, "ndim", 1) == 0


def _edges_of_dimension(k: int, column: ndarray, bins, range) -> tuple[numpy.ndarray, bool]:
    """The edges of one dimension, as NumPy's linspace of its limits or as they are given, and whether they are even."""
    if not _is_one_number(bins) and not isinstance(bins, str):
        return _edges(column, bins, range, None)
    if isinstance(bins, ndarray):
        bins = bins.item()
    if bins < 1:
        raise ValueError(f"`bins[{k}]` must be positive, when an integer")
    first, last = _limits(column, range)
    try:
        return numpy.linspace(first, last, operator.index(bins) + 1), True
    except builtins.TypeError as error:
        raise TypeError(f"`bins[{k}]` must be an integer, when a scalar") from error


def _real_weights(weights, numbers: ndarray) -> ndarray | None:
    if weights is None:
        return None
    weights = _array(weights)
    if not can_cast(weights.dtype, "float64"):
        raise TypeError(
            f"Cannot cast array data from {weights.dtype!r} to dtype('float64') according to the rule 'safe'"
        )
    if weights.shape != numbers.shape:
        raise ValueError("The weights and list don't have the same length.")
    return weights.astype("float64", copy=False)


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
