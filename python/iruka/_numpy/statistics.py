"""Variance, averages, covariance and other functions built from reductions."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from .._functions import reductions
from ..errors import TypeError, ValueError
from .conversion import _array, _is_fused, asarray
from .shapes import _axes, _check_out, _into, can_cast

_mean = reductions["mean"]


def _kind(dtype) -> str:
    """NumPy's letter for the kind of a dtype, with bfloat16 a float (dtype.name takes microseconds)."""
    return "f" if dtype.kind == "V" else dtype.kind


def _mask(where):
    """The mask, or None if it selects everything."""
    return None if where is None or where is True else _array(where)


def _is_inexact(x: ndarray) -> bool:
    return _kind(x.dtype) in "fc"


def _is_exact_in(dtype, x: ndarray) -> bool:
    """Whether x, of floats, may be cast to the floats of `dtype` before anything else."""
    return _kind(dtype) == _kind(x.dtype) == "f" and can_cast(x.dtype, dtype)


def _moment(function, a, axis, dtype, out, ddof, keepdims, where, mean, correction, root: bool) -> ndarray:
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    x = _array(a)
    return _into(out, function(x, axis, dtype, keepdims, ddof, root, _mask(where), mean), "unsafe")


def _variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction, root: bool) -> ndarray:
    x: Any = _array(a)
    if _is_fused(x):
        return x._variance("std" if root else "var", axis, dtype, out, ddof, keepdims, where, mean, correction)
    if out is not None:
        _check_out(out, "std: out" if root else "var: out")
        if root and _kind(out.dtype) in "biu":
            raise TypeError(f"std: cannot cast the square root to {out.dtype} by the rule 'same_kind'")
        if dtype is None and _is_exact_in(out.dtype, x):
            dtype = out.dtype
    return _moment(_core.variance, x, axis, dtype, out, ddof, keepdims, where, mean, correction, root)


def var(
    a,
    axis=None,
    dtype=None,
    out: ndarray | None = None,
    ddof=0,
    keepdims: bool = False,
    *,
    where=None,
    mean=None,
    correction=None,
) -> ndarray:
    """Mean of |x - mean(x)|**2 along axes (all of them without one), divided by n - ddof.

    One pass over memory; as exact for a large mean as for none (Chan, Golub and LeVeque, 1979). Integers give float64,
    complex numbers a real variance. `correction` is another name for `ddof`; `mean` a known mean with kept axes;
    `where` a mask of what counts. Warns (RuntimeWarning) and gives NaN where n - ddof <= 0.

    >>> iruka.var(iruka.array([1.0, 2.0, 3.0, 4.0]), ddof=1)
    array(1.66666667)
    """
    return _variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction, False)


def std(
    a,
    axis=None,
    dtype=None,
    out: ndarray | None = None,
    ddof=0,
    keepdims: bool = False,
    *,
    where=None,
    mean=None,
    correction=None,
) -> ndarray:
    """Standard deviation: the square root of `var`, with its arguments.

    >>> iruka.std(iruka.array([1.0, 3.0]))
    array(1.)
    """
    return _variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction, True)


def ptp(a, axis=None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Largest minus smallest element along axes. Raises ValueError for an empty axis.

    >>> iruka.ptp(iruka.array([4, 9, 2]))
    array(7)
    """
    if _is_fused(a):
        return a.ptp(axis, out, keepdims)
    return _into(out, _core.ptp(_array(a), axis, keepdims))


def average(a, axis=None, weights=None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Weighted mean along axes; with `returned` also the sum of weights.

    `weights` has a's shape, or that of the axes. Raises TypeError or ValueError where its shape is another, and
    ZeroDivisionError where weights add up to zero.

    >>> iruka.average(iruka.array([1.0, 4.0]), weights=[3, 1])
    array(1.75)
    """
    x = _array(a)
    if axis is not None:
        _axes("average", axis, x.ndim)
    if weights is None:
        result = _mean(x, axis=axis, keepdims=keepdims)
        scale = numpy.asarray(x.size / max(result.size, 1), result.dtype)
        return (result, asarray(numpy.full(result.shape, scale), device=x.device)[()]) if returned else result
    result, scale = _core.average(x, _array(weights), axis, keepdims)
    if not returned:
        return result
    return result, scale._broadcast_to(result.shape).copy() if scale.shape != result.shape else scale


# --- NaN left out ---


def nanmean(a, axis=None, dtype=None, out: ndarray | None = None, keepdims: bool = False, *, where=None) -> ndarray:
    """Mean of the elements that are not NaN. Warns (RuntimeWarning) and gives NaN where there are none.

    >>> iruka.nanmean(iruka.array([1.0, iruka.nan, 3.0]))
    array(2.)
    """
    if _is_fused(a):
        return a._reduced("nanmean", axis, dtype, out, keepdims, where)
    x = _array(a)
    if not _is_inexact(x):
        return _mean(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)
    _check_inexact(out)
    return _into(out, _core.nanmean(x, axis, dtype, keepdims, where), "unsafe")


def _check_inexact(out) -> None:
    if out is not None and _kind(out.dtype) not in "fc":
        raise TypeError("If a is inexact, then out must be inexact")


def _nan_variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction, root: bool) -> ndarray:
    if _is_fused(a):
        return a._variance("nanstd" if root else "nanvar", axis, dtype, out, ddof, keepdims, where, mean, correction)
    x = _array(a)
    if not _is_inexact(x):
        return _variance(x, axis, dtype, out, ddof, keepdims, where, mean, correction, root)
    _check_inexact(out)
    return _moment(_core.nanvariance, x, axis, dtype, out, ddof, keepdims, where, mean, correction, root)


def nanvar(
    a,
    axis=None,
    dtype=None,
    out: ndarray | None = None,
    ddof=0,
    keepdims: bool = False,
    *,
    where=None,
    mean=None,
    correction=None,
) -> ndarray:
    """`var` of the elements that are not NaN, with its arguments.

    >>> iruka.nanvar(iruka.array([1.0, iruka.nan, 3.0]))
    array(1.)
    """
    return _nan_variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction, False)


def nanstd(
    a,
    axis=None,
    dtype=None,
    out: ndarray | None = None,
    ddof=0,
    keepdims: bool = False,
    *,
    where=None,
    mean=None,
    correction=None,
) -> ndarray:
    """`std` of the elements that are not NaN, with its arguments.

    >>> iruka.nanstd(iruka.array([1.0, iruka.nan, 3.0]))
    array(1.)
    """
    return _nan_variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction, True)


def _nan_selection(name: str, a, axis, out, keepdims: bool) -> ndarray:
    if isinstance(axis, tuple):
        raise TypeError(f"nan{name}: axis must be an integer or None, not {axis}")
    result = getattr(_core, f"nan{name}")(_array(a), axis, keepdims)
    if out is not None and not can_cast(out.dtype, "int64", "safe"):
        raise TypeError(f"nan{name}: out holds {out.dtype}, which cannot be cast to int64 by the rule 'safe'")
    return _into(out, result, "unsafe")


def nanargmin(a, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
    """Index of the first smallest element that is not NaN. Raises ValueError where all are NaN.

    >>> iruka.nanargmin(iruka.array([iruka.nan, 2.0, 1.0]))
    array(2)
    """
    return _nan_selection("argmin", a, axis, out, keepdims)


def nanargmax(a, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
    """Index of the first largest element that is not NaN. Raises ValueError where all are NaN.

    >>> iruka.nanargmax(iruka.array([iruka.nan, 2.0, 1.0]))
    array(1)
    """
    return _nan_selection("argmax", a, axis, out, keepdims)


# --- Covariance ---


def cov(
    m,
    y=None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights=None,
    aweights=None,
    *,
    dtype=None,
) -> ndarray:
    """Covariance matrix of variables (rows; columns with rowvar=False), float64 or wider.

    `y`: further variables. Divides by n - 1 (n with `bias`, n - ddof with `ddof`); `fweights` repeat observations,
    `aweights` weigh them. Raises ValueError for more than two axes, TypeError or RuntimeError for malformed weights.

    >>> iruka.cov(iruka.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m, y = _array(m), None if y is None else _array(y)
    count = m.size if m.ndim < 2 else m.shape[1 if rowvar else 0]
    fweights, aweights = _observed("fweights", fweights, count), _observed("aweights", aweights, count)
    correction = (0 if bias else 1) if ddof is None else int(ddof)
    return _core.cov(m, y, bool(rowvar), correction, fweights, aweights, dtype)


def _observed(name: str, weights, count: int) -> ndarray | None:
    """The weights of `count` observations, whose shape they must have."""
    if weights is None:
        return None
    weights = _array(weights)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape != (count,):
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    return weights


def corrcoef(x, y=None, rowvar: bool = True, *, dtype=None) -> ndarray:
    """Pearson's correlation coefficients of variables, within [-1, 1]. Arguments and errors as `cov`.

    >>> iruka.corrcoef(iruka.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _core.corrcoef(_array(x), None if y is None else _array(y), bool(rowvar), 1, None, None, dtype)
