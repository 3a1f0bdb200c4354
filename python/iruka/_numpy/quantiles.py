"""Medians, percentiles and quantiles: elements by rank, and interpolation between two of them."""

from __future__ import annotations

import numpy

from .. import _core
from .._core import ndarray
from .conversion import _array
from .shapes import _into


def _shares(q):
    """A Python number, which leaves a float array's dtype as it is, or an array on the host."""
    return q if type(q) in (int, float) or isinstance(q, ndarray) else _core.as_array(numpy.asarray(q), "cpu")


def _given(weights):
    return None if weights is None else _array(weights)


def _checked(function, a, q, axis, out, method: str, keepdims: bool, weights) -> ndarray:
    result = function(_array(a), _shares(q), axis, method, bool(keepdims), _given(weights))
    return result if out is None else _into(out, result)


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
    return _checked(_core.quantile, a, q, axis, out, method, keepdims, weights)


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
    return _checked(_core.percentile, a, q, axis, out, method, keepdims, weights)


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
    return _checked(_core.nanquantile, a, q, axis, out, method, keepdims, weights)


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
    return _checked(_core.nanpercentile, a, q, axis, out, method, keepdims, weights)


def median(a, axis=None, out: ndarray | None = None, overwrite_input: bool = False, keepdims: bool = False) -> ndarray:
    """Middle element along axes, or the mean of the middle two; NaN where one is met or there is none.

    Integers give float64; complex numbers are in the order of `sort`. The result is cast to out's dtype.

    >>> iruka.median(iruka.array([3.0, 1.0, 2.0]))
    array(2.)
    """
    return _into(out, _core.median(_array(a), axis, bool(keepdims)), "unsafe")


def nanmedian(
    a, axis=None, out: ndarray | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> ndarray:
    """`median` of the elements that are not NaN; NaN and a RuntimeWarning where there are none.

    >>> iruka.nanmedian(iruka.array([3.0, iruka.nan, 2.0]))
    array(2.5)
    """
    return _into(out, _core.nanmedian(_array(a), axis, bool(keepdims)), "unsafe")
