"""Medians, percentiles and quantiles: elements by rank, and interpolation between two of them."""

from __future__ import annotations

import math

import numpy

from .. import _core
from .._core import ElementwiseKernel, ndarray
from .._functions import elementwise, reductions
from ..errors import TypeError, ValueError
from .conversion import _array, asarray
from .indexing import take_along_axis
from .scans import cumsum
from .shapes import _axes, _into, result_type
from .sorting import argsort, sort
from .statistics import _is_inexact, _kind, _on_cpu, _warn, _weights_for, nanmean

_between = ElementwiseKernel(
    "T a, T b, U t",
    "V y",
    """
    const V low = (V)a, high = (V)b, share = (V)t, width = high - low;
    const bool is_too_wide = width - width != (V)0 && low - low == (V)0 && high - high == (V)0;
    if (is_too_wide) y = (V)(low * ((V)1 - share) + high * share);
    else y = share >= (V)0.5 ? (V)(high - width * ((V)1 - share)) : (V)(low + width * share);
    """,
    "quantile",
)
_middle = ElementwiseKernel(
    "T a, T b",
    "V y",
    "const double low = (double)a, high = (double)b, sum = low + high;"
    "y = (V)(sum - sum == 0 ? sum / 2 : low / 2 + high / 2);",  # halves where the sum overflows
    "median",
)
# Element `rank` of each row of a sorted array; a negative rank gives NaN.
_at_rank = ElementwiseKernel(
    "raw const T rows, int64 rank, int64 row, int64 length, T none",
    "T y",
    "y = rank < 0 ? none : rows[row * length + rank];",
    "at_rank",
)


def _discrete(index, takes_previous):
    previous = numpy.floor(index)
    return numpy.maximum(numpy.where(takes_previous(index - previous, index), previous, previous + 1).astype(int), 0)


def _continuous(alpha: float, beta: float):
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


# Hyndman and Fan, "Sample quantiles in statistical packages" (1996), and NumPy's further ones: where a quantile of n
# elements is among the sorted ones, and for some methods how its fraction becomes a weight.
_POSITIONS = {
    "inverted_cdf": lambda n, q: _discrete(n * q - 1, lambda gamma, _: gamma == 0),
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "closest_observation": lambda n, q: _discrete(
        n * q - 1.5, lambda gamma, index: (gamma == 0) & (numpy.floor(index) % 2 == 1)
    ),
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "linear": lambda n, q: (n - 1) * q,
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
    "lower": lambda n, q: numpy.floor((n - 1) * q).astype(int),
    "higher": lambda n, q: numpy.ceil((n - 1) * q).astype(int),
    "midpoint": lambda n, q: 0.5 * (numpy.floor((n - 1) * q) + numpy.ceil((n - 1) * q)),
    "nearest": lambda n, q: numpy.around((n - 1) * q).astype(int),
}
_WEIGHTS = {
    "averaged_inverted_cdf": lambda gamma, _: numpy.where(gamma == 0, 0.5, 1.0),
    "midpoint": lambda gamma, index: numpy.where(index % 1 == 0, 0.0, 0.5),
}


def _neighbours(n, q, method: str):
    """For n elements (a number, or an array beside q): ranks below and above, and the upper one's weight or None."""
    index = numpy.asarray(_POSITIONS[method](n, q))
    if index.dtype.kind in "iu":
        return index, index, None
    previous = numpy.floor(index)
    lower = numpy.minimum(numpy.maximum(previous, 0), n - 1).astype(int)
    upper = numpy.minimum(numpy.maximum(previous + 1, 0), n - 1).astype(int)
    # NumPy weighs by the distance from where it looked, also beyond the ends, where both neighbours are one.
    gamma = index - previous
    return lower, upper, _WEIGHTS.get(method, lambda gamma, _: gamma)(gamma, index)


def _rows(x: ndarray, axis):
    """x with the reduced axes last and joined, the kept shape, and the shape with kept axes."""
    axes = tuple(range(x.ndim)) if axis is None else _axes("quantile", axis, x.ndim)
    kept = [k for k in range(x.ndim) if k not in axes]
    shape = tuple(x.shape[k] for k in kept)
    length = math.prod(x.shape[k] for k in axes)
    whole = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    if x.ndim == 1 and axes:
        return x, shape, whole
    return x.transpose(kept + sorted(axes)).reshape(shape + (length,)), shape, whole


def _at(rows: ndarray, ranks: numpy.ndarray, count: int) -> ndarray:
    """Of sorted rows, shape (count, length), those of each row's ranks, shape (quantiles, count)."""
    none = numpy.nan if _is_inexact(rows) else 0
    with rows.device:
        wanted = asarray(numpy.broadcast_to(ranks, (ranks.shape[0], count)))
        return _at_rank(
            rows.ravel(), wanted, asarray(numpy.arange(count)), rows.shape[-1], numpy.asarray(none, rows.dtype)[()]
        )


def _select(rows: ndarray, ranks: numpy.ndarray) -> ndarray:
    """The elements of each row at flat, unsorted `ranks`: shape (ranks, rows' shape). NaN for rows that have one."""
    if _on_cpu(rows) and _kind(rows.dtype) != "c":
        return _core.select_ranks(rows, ranks.tolist())
    ordered = sort(rows)
    found = _core.stack([ordered[..., k] for k in ranks], 0)
    if not _is_inexact(rows):
        return found
    last = ordered[..., -1]
    return elementwise["where"](last == last, found, last)


def _result_dtype(x: ndarray, q: numpy.ndarray, weak: bool, is_discrete: bool):
    if is_discrete:
        return x.dtype
    if x.dtype.kind == "b":
        raise TypeError("quantile: booleans have no differences; cast them, or choose a method that picks an element")
    return result_type(x.dtype, 0.0 if weak else q.dtype)


def _check(a, q, method: str, what: str) -> tuple[ndarray, numpy.ndarray]:
    x = _array(a)
    if _kind(x.dtype) == "c":
        raise TypeError("a must be an array of real numbers")
    if method not in _POSITIONS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(_POSITIONS)}")
    if q.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if not ((q >= 0) & (q <= 1)).all():
        raise ValueError(what)
    # Integers would give integer positions, which select elements without interpolation; only 'linear' allows that.
    return x, q.astype("float64") if q.dtype.kind in "biu" and method != "linear" else q


def _finish(result: ndarray, x: ndarray, q: numpy.ndarray, shape, whole, keepdims: bool, out) -> ndarray:
    return _into(out, result.reshape(q.shape + (whole if keepdims else shape)))


def _quantile(function, a, q, axis, out, method, keepdims, weights, weak, what) -> ndarray:
    x, q = _check(a, q, method, what)
    rows, shape, whole = _rows(x, axis)
    n = rows.shape[-1]
    if n == 0:
        raise IndexError(f"{function}: cannot take a quantile of no elements, shape {x.shape}")
    if weights is not None:
        return _weighted(x, q, axis, out, method, keepdims, weights)
    lower, upper, weight = _neighbours(n, q.ravel(), method)
    dtype = _result_dtype(x, q, weak, weight is None)
    if weight is None:
        return _finish(_select(rows, lower), x, q, shape, whole, keepdims, out)
    found = _select(rows, numpy.concatenate([lower, upper]))
    with x.device:
        result = _core.empty((q.size, *shape), dtype)
        _between(found[: q.size], found[q.size :], asarray(weight).reshape((-1,) + (1,) * len(shape)), result)
    return _finish(result, x, q, shape, whole, keepdims, out)


def _weighted(x: ndarray, q, axis, out, method: str, keepdims: bool, weights) -> ndarray:
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    w = _weights_for(x, weights, axis).astype("float64")._broadcast_to(x.shape)
    if bool((w < 0).any()):
        raise ValueError("Weights must be non-negative.")
    rows, shape, whole = _rows(x, axis)
    select = _core.select_weighted if _on_cpu(x) else _select_weighted
    return _finish(select(rows, _rows(w, axis)[0], q.ravel().tolist()), x, q, shape, whole, keepdims, out)


def _select_weighted(rows: ndarray, weights: ndarray, quantiles: list[float]) -> ndarray:
    """What _core.select_weighted gives, of functions that every device has."""
    if not quantiles:
        return _core.empty((0, *rows.shape[:-1]), rows.dtype)
    order = argsort(rows, axis=-1)
    ordered, shares = take_along_axis(rows, order, -1), cumsum(take_along_axis(weights, order, -1), axis=-1)
    shares = shares / shares[..., -1:]
    if rows.shape[-1] == 0 or bool(elementwise["isnan"](shares[..., -1]).any()):
        raise ValueError("Weights included NaN, inf or were all zero.")
    shares = elementwise["where"](shares == 0, -1.0, shares)  # elements without weight are none, for 0 as well
    ranks = _core.stack([reductions["sum"](shares < share, axis=-1) for share in quantiles], -1)
    found = take_along_axis(ordered, elementwise["minimum"](ranks, rows.shape[-1] - 1), -1)
    if _is_inexact(rows):
        last = ordered[..., -1:]
        found = elementwise["where"](last == last, found, last)
    return _core.stack([found[..., k] for k in range(len(quantiles))], 0)


def _nan_quantile(function, a, q, axis, out, method, keepdims, weights, weak, what) -> ndarray:
    x, q = _check(a, q, method, what)
    if x.size == 0:
        return nanmean(x, axis, out=out, keepdims=keepdims)
    if weights is not None:
        valid = ~elementwise["isnan"](x) if _is_inexact(x) else None
        w = _weights_for(x, weights, axis).astype("float64")._broadcast_to(x.shape)
        if valid is None:
            return _weighted(x, q, axis, out, method, keepdims, w)
        some = reductions["any"](valid, axis=axis, keepdims=True)
        if not bool(some.all()):
            _warn("All-NaN slice encountered")
        where = elementwise["where"]
        large = where(valid, x, where(some, numpy.inf, numpy.nan)).astype(x.dtype, copy=False)
        return _weighted(large, q, axis, out, method, keepdims, where(valid, w, where(some, 0.0, 1.0)))
    if not _is_inexact(x):
        return _quantile(function, x, q, axis, out, method, keepdims, None, weak, what)
    rows, shape, whole = _rows(x, axis)
    ordered = sort(rows)
    counts = _core.asnumpy(reductions["sum"](ordered == ordered, axis=-1)).ravel()
    if (counts == 0).any():
        _warn("All-NaN slice encountered")
    lower, upper, weight = _neighbours(numpy.maximum(counts, 1), q.reshape(-1, 1), method)
    lower, upper = (numpy.where(counts > 0, ranks, -1) for ranks in (lower, upper))
    below = _at(ordered, lower, len(counts))
    if weight is None:
        return _finish(below, x, q, shape, whole, keepdims, out)
    with x.device:
        result = _core.empty(below.shape, _result_dtype(x, q, weak, False))
        _between(below, _at(ordered, upper, len(counts)), asarray(numpy.ascontiguousarray(weight)), result)
    return _finish(result, x, q, shape, whole, keepdims, out)


def _as_quantiles(q) -> tuple[numpy.ndarray, bool]:
    """q on the host, and whether it is a Python number, which leaves a float array's dtype as it is."""
    return numpy.asarray(_core.asnumpy(q) if isinstance(q, ndarray) else q), type(q) in (int, float)


_OUTSIDE, _OUTSIDE_PERCENT = "Quantiles must be in the range [0, 1]", "Percentiles must be in the range [0, 100]"


def quantile(
    a,
    q,
    axis=None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights=None,
) -> ndarray:
    """Values below which shares q of the elements lie, along axes: shape q.shape + the kept shape.

    NaN where one is met.

    `method` is one of NumPy's thirteen; `weights` go with method='inverted_cdf'. Integers give float64, or their own
    dtype where the method picks an element. Raises ValueError for q outside [0, 1] or an unknown method, TypeError for
    complex numbers.

    >>> iruka.quantile(iruka.array([1.0, 2.0, 3.0, 4.0]), [0.25, 0.5])
    array([1.75, 2.5 ])
    """
    shares, weak = _as_quantiles(q)
    return _quantile("quantile", a, shares, axis, out, method, keepdims, weights, weak, _OUTSIDE)


def percentile(
    a,
    q,
    axis=None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights=None,
) -> ndarray:
    """`quantile` with q in percent.

    >>> iruka.percentile(iruka.array([1.0, 2.0, 3.0]), 50)
    array(2.)
    """
    shares, weak = _as_quantiles(q)
    shares = numpy.true_divide(shares, 100)
    return _quantile("percentile", a, shares, axis, out, method, keepdims, weights, weak, _OUTSIDE_PERCENT)


def nanquantile(
    a,
    q,
    axis=None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights=None,
) -> ndarray:
    """`quantile` of the elements that are not NaN; NaN and a RuntimeWarning where there are none.

    >>> iruka.nanquantile(iruka.array([1.0, iruka.nan, 3.0]), 0.5)
    array(2.)
    """
    shares, weak = _as_quantiles(q)
    return _nan_quantile("nanquantile", a, shares, axis, out, method, keepdims, weights, weak, _OUTSIDE)


def nanpercentile(
    a,
    q,
    axis=None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights=None,
) -> ndarray:
    """`percentile` of the elements that are not NaN; NaN and a RuntimeWarning where there are none.

    >>> iruka.nanpercentile(iruka.array([1.0, iruka.nan, 3.0]), 50)
    array(2.)
    """
    shares, weak = _as_quantiles(q)
    shares = numpy.true_divide(shares, 100)
    return _nan_quantile("nanpercentile", a, shares, axis, out, method, keepdims, weights, weak, _OUTSIDE_PERCENT)


def _mean_of(low: ndarray, high: ndarray) -> ndarray:
    if _kind(low.dtype) == "c":
        return low / 2 + high / 2
    with low.device:
        result = _core.empty(low.shape, low.dtype if _is_inexact(low) else "float64")
    _middle(low, high, result)
    return result


def median(a, axis=None, out: ndarray | None = None, overwrite_input: bool = False, keepdims: bool = False) -> ndarray:
    """Middle element along axes, or the mean of the middle two; NaN where one is met or there is none.

    Integers give float64; complex numbers are in the order of `sort`.

    >>> iruka.median(iruka.array([3.0, 1.0, 2.0]))
    array(2.)
    """
    x = _array(a)
    rows, shape, whole = _rows(x, axis)
    n = rows.shape[-1]
    if n == 0:
        return reductions["mean"](x, axis=axis, out=out, keepdims=keepdims)
    found = _select(rows, numpy.arange((n - 1) // 2, n // 2 + 1))
    result = found[0] if n % 2 and _is_inexact(x) else _mean_of(found[0], found[-1])
    return _into(out, result.reshape(whole) if keepdims else result)


def nanmedian(
    a, axis=None, out: ndarray | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> ndarray:
    """`median` of the elements that are not NaN; NaN and a RuntimeWarning where there are none.

    >>> iruka.nanmedian(iruka.array([3.0, iruka.nan, 2.0]))
    array(2.5)
    """
    x = _array(a)
    if not _is_inexact(x) or x.size == 0:
        return median(x, axis, out, keepdims=keepdims)
    rows, shape, whole = _rows(x, axis)
    ordered = sort(rows)
    counts = _core.asnumpy(reductions["sum"](ordered == ordered, axis=-1)).ravel()
    if (counts == 0).any():
        _warn("All-NaN slice encountered")
    low, high = ((numpy.where(counts > 0, ranks, -1))[None] for ranks in ((counts - 1) // 2, counts // 2))
    result = _mean_of(_at(ordered, low, len(counts)), _at(ordered, high, len(counts)))
    return _into(out, result.reshape(whole if keepdims else shape))
