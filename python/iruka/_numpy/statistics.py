"""Variance, averages, covariance and other functions built from reductions."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .._array.float_errors import warn as _warn
from .._core import ndarray
from .._functions import elementwise, reductions
from ..errors import TypeError, ValueError
from .conversion import _array, asarray
from .shapes import _axes, _check_out, _into, can_cast, result_type

_add, _subtract, _multiply, _divide = (elementwise[name] for name in ("add", "subtract", "multiply", "divide"))
_where, _isnan, _sqrt = elementwise["where"], elementwise["isnan"], elementwise["sqrt"]
_sum, _min, _max, _mean = (reductions[name] for name in ("sum", "min", "max", "mean"))


def _kind(dtype) -> str:
    """NumPy's letter for the kind of a dtype, with bfloat16 a float (dtype.name takes microseconds)."""
    return "f" if dtype.kind == "V" else dtype.kind


def _on_cpu(x: ndarray) -> bool:
    return x.device.name == "cpu"


def _mask(where):
    """The mask, or None if it selects everything."""
    return None if where is None or where is True else _array(where)


def _given_mean(x: ndarray, mean, axis, dtype, keepdims: bool, where) -> ndarray:
    """Sum in `dtype` of squared distances from `mean`, which has x's axes."""
    distance = _subtract(x, mean)
    squares = elementwise["square"](elementwise["absolute"](distance) if _kind(distance.dtype) == "c" else distance)
    return _sum(squares, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


def _per_count(total: ndarray, count) -> ndarray:
    """total / count in total's dtype; a large count does not fit 16 bits."""
    return _divide(total, count).astype(total.dtype, copy=False)


def _silent_division():
    """A context without division errors, because a count of zero has a warning of its own."""
    return numpy.errstate(divide="ignore", invalid="ignore")


def _widened(x: ndarray) -> ndarray:
    """Floats of 16 bits as float32, in which sums do not overflow."""
    return x.astype("float32") if _kind(x.dtype) == "f" and x.dtype.itemsize == 2 else x


def _is_exact_in(dtype, x: ndarray) -> bool:
    """Whether x, of floats, may be cast to the floats of `dtype` before anything else."""
    return _kind(dtype) == _kind(x.dtype) == "f" and can_cast(x.dtype, dtype)


def _count(x: ndarray, axis, keepdims: bool, where) -> ndarray | int:
    """The number of elements reduced to each result."""
    if where is not None:
        return _sum(where._broadcast_to(x.shape), axis=axis, keepdims=keepdims)
    axes = range(x.ndim) if axis is None else _axes("var", axis, x.ndim)
    return int(numpy.prod([x.shape[k] for k in axes], dtype=int))


def _variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction, root: bool) -> ndarray:
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    _check_out(out, "std: out" if root else "var: out")
    if root and out is not None:
        _check_root(out.dtype)
    x, where = _array(a), _mask(where)
    if dtype is None and out is not None and _is_exact_in(out.dtype, x):
        dtype = out.dtype
    dtype = asked = None if dtype is None else _core.dtype_of(dtype)
    if dtype is not None and _is_exact_in(dtype, x):
        x, dtype = x.astype(dtype, copy=False), None
    count = _count(x, axis, keepdims, where)
    if (
        isinstance(count, int)
        and count - ddof <= 0
        or not isinstance(count, int)
        and _on_cpu(x)
        and bool((count <= ddof).any())
    ):
        _warn("Degrees of freedom <= 0 for slice")
    if where is None and mean is None and dtype is None:
        return _into(out, _core.variance(x, axis, keepdims, ddof, root), "unsafe")
    own = None
    if dtype is None and _is_inexact(x):
        own = x.dtype if mean is None else asked or result_type(x, mean)
    is_whole = dtype is not None and _kind(dtype) in "biu"  # squares of integers wrap in their dtype then
    x = _widened(x if _is_inexact(x) or is_whole else x.astype("float64"))
    if mean is None:
        mean = _mean(x, axis=axis, dtype=dtype, keepdims=True, where=where)
    squares = _given_mean(x, mean, axis, dtype, keepdims, where)
    count = max(count - ddof, 0) if isinstance(count, int) else elementwise["maximum"](_subtract(count, ddof), 0)
    result = _per_count(squares, count)
    result = _root(result) if root else result
    return _into(out, result if own is None or _kind(own) == "c" else result.astype(own, copy=False), "unsafe")


def _check_root(dtype) -> None:
    if _kind(dtype) in "biu":
        raise TypeError(f"std: cannot cast the square root to {dtype} by the rule 'same_kind'")


def _root(squares: ndarray) -> ndarray:
    if squares.ndim:
        _check_root(squares.dtype)
    return _sqrt(squares).astype(squares.dtype, copy=False)


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
    x = _array(a)
    if not _on_cpu(x) and _kind(x.dtype) in "iuf":
        return _into(out, _core.reduce_gpu(x, "ptp", axis, keepdims))
    return _into(out, _subtract(_max(x, axis=axis, keepdims=keepdims), _min(x, axis=axis, keepdims=keepdims)))


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
    w = _weights_for(x, weights, axis)
    dtype = result_type(x.dtype, w.dtype, *(["float64"] if _kind(x.dtype) in "biu" else []))
    scale = _sum(w, axis=axis, dtype=dtype, keepdims=keepdims)
    if bool((scale == 0).any()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = _divide(_sum(_multiply(x, w, dtype=dtype), axis=axis, keepdims=keepdims), scale)
    if not returned:
        return result
    return result, scale._broadcast_to(result.shape).copy() if scale.shape != result.shape else scale


def _weights_for(x: ndarray, weights, axis) -> ndarray:
    """Weights that broadcast against x."""
    w = _array(weights)
    if w.shape == x.shape:
        return w
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = _axes("average", axis, x.ndim)
    if w.shape != tuple(x.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axes)), key=axes.__getitem__)
    return w.transpose(order).reshape(tuple(n if k in axes else 1 for k, n in enumerate(x.shape)))


# --- NaN left out ---


def _is_inexact(x: ndarray) -> bool:
    return _kind(x.dtype) in "fc"


def nanmean(a, axis=None, dtype=None, out: ndarray | None = None, keepdims: bool = False, *, where=None) -> ndarray:
    """Mean of the elements that are not NaN. Warns (RuntimeWarning) and gives NaN where there are none.

    >>> iruka.nanmean(iruka.array([1.0, iruka.nan, 3.0]))
    array(2.)
    """
    x = _array(a)
    if not _is_inexact(x):
        return _mean(x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)
    _check_inexact(dtype, out)
    if not _on_cpu(x) and dtype is None and _mask(where) is None:
        return _into(out, _core.reduce_gpu(x, "nanmean", axis, keepdims), "unsafe")
    count = _sum(_valid(x, where), axis=axis, keepdims=keepdims)
    if _on_cpu(x) and bool((count == 0).any()):
        _warn("Mean of empty slice")
    total = _nan_total(_widened(x) if dtype is None else x, axis, dtype, keepdims, where)
    with _silent_division():
        result = _per_count(total, count)
    return _into(out, result.astype(x.dtype, copy=False) if dtype is None else result, "unsafe")


def _nan_total(x: ndarray, axis, dtype, keepdims: bool, where) -> ndarray:
    return reductions["nansum"](x, axis=axis, dtype=dtype, keepdims=keepdims, where=_mask(where))


def _check_inexact(dtype, out) -> None:
    for name, given in (("dtype", dtype), ("out", None if out is None else out.dtype)):
        if given is not None and _kind(_core.dtype_of(given)) not in "fc":
            raise TypeError(f"If a is inexact, then {name} must be inexact")


def _valid(x: ndarray, where) -> ndarray:
    valid = elementwise["equal"](x, x)
    return valid if _mask(where) is None else elementwise["logical_and"](valid, _mask(where))


def _nan_variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction, root: bool) -> ndarray:
    x = _array(a)
    if not _is_inexact(x):
        return _variance(x, axis, dtype, out, ddof, keepdims, where, mean, correction, root)
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    _check_inexact(dtype, out)
    dtype = None if dtype is None else _core.dtype_of(dtype)
    if dtype is not None and _is_exact_in(dtype, x):
        x, dtype = x.astype(dtype, copy=False), None
    own = None if dtype is not None else x.dtype if _kind(x.dtype) == "f" else numpy.finfo(x.dtype).dtype
    x = _widened(x)
    valid = _valid(x, where)
    count = _sum(valid, axis=axis, keepdims=True)
    if mean is None:
        with _silent_division():
            mean = _per_count(_nan_total(x, axis, dtype, True, where), count)
    squares = _given_mean(x, mean, axis, dtype, keepdims, valid)
    degrees = _subtract(count, ddof) if keepdims else _subtract(count.reshape(squares.shape), ddof)
    if _on_cpu(x) and bool((degrees <= 0).any()):
        _warn("Degrees of freedom <= 0 for slice.")
    with _silent_division():
        result = _per_count(squares, _where(degrees > 0, degrees, numpy.nan))
        result = _sqrt(result) if root else result
    return _into(out, result if own is None else result.astype(own, copy=False), "unsafe")


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
    x = _array(a)
    if isinstance(axis, tuple):
        raise TypeError(f"nan{name}: axis must be an integer or None, not {axis}")
    if _is_inexact(x):
        if bool(reductions["all"](_isnan(x), axis=axis).any()):
            raise ValueError("All-NaN slice encountered")
        x = _where(_isnan(x), numpy.inf if name == "argmin" else -numpy.inf, x).astype(x.dtype, copy=False)
    return reductions[name](x, axis=axis, out=out, keepdims=keepdims)


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


# --- Scans ---


def _observations(name: str, m, dtype) -> ndarray:
    x = _array(m)
    if x.ndim > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    return x.astype(dtype, copy=False).reshape((1, -1) if x.ndim < 2 else x.shape)


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
    m = _array(m)
    if dtype is None:
        dtype = result_type(m, numpy.dtype("float64"), *([] if y is None else [_array(y)]))
    x = _observations("m", m, dtype)
    y = None if y is None else _observations("y", y, dtype)
    x = x.T if not rowvar and m.ndim != 1 else x
    if x.shape[0] == 0:
        return asarray(numpy.empty((0, 0)))
    if y is not None:
        x = _core.concatenate([x, y.T if not rowvar and y.shape[0] != 1 else y], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = _cov_weights(fweights, aweights, x.shape[1])
    total = x.shape[1] if weights is None else float(_sum(weights))
    mean = _mean(x, axis=1, keepdims=True) if weights is None else average(x, axis=1, weights=weights, keepdims=True)
    factor = total - ddof
    if weights is not None and aweights is not None and ddof:
        factor = total - ddof * float(_sum(_multiply(weights, _array(aweights)))) / total
    if factor <= 0:
        _warn("Degrees of freedom <= 0 for slice")
        factor = 0.0
    x = _subtract(x, mean)
    weighted = x if weights is None else _multiply(x, weights.astype(x.dtype))
    products = _core.matmul(x, (elementwise["conjugate"](weighted) if _kind(x.dtype) == "c" else weighted).T, None)
    return _divide(products, factor).squeeze()


def _cov_weights(fweights, aweights, n: int) -> ndarray | None:
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        w = _array(given).astype("float64")
        if name == "fweights" and not bool((w == elementwise["rint"](w)).all()):
            raise TypeError("fweights must be integer")
        if w.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if w.shape[0] != n:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if bool((w < 0).any()):
            raise ValueError(f"{name} cannot be negative")
        weights = w if weights is None else _multiply(weights, w)
    return weights


def corrcoef(x, y=None, rowvar: bool = True, *, dtype=None) -> ndarray:
    """Pearson's correlation coefficients of variables, within [-1, 1]. Arguments and errors as `cov`.

    >>> iruka.corrcoef(iruka.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return _divide(c, c)
    deviation = _sqrt(elementwise["real"](c.ravel()[:: c.shape[0] + 1]))
    c = _divide(_divide(c, deviation.reshape(-1, 1)), deviation.reshape(1, -1))
    if _kind(c.dtype) != "c":
        return elementwise["clip"](c, -1.0, 1.0)
    re, im = (elementwise["clip"](elementwise[part](c), -1.0, 1.0) for part in ("real", "imag"))
    return _add(re, _multiply(im, 1j))
