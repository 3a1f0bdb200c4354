"""Products, fits and signals of batched arrays."""

from __future__ import annotations

from .. import linalg
from .._core import ElementwiseKernel
from .._functions import elementwise as UFUNCS
from .._numpy.calculus import interp
from .._numpy.conversion import asarray, ascontiguousarray
from .._numpy.creation import arange, empty, eye, zeros
from .._numpy.dtypes import finfo
from .._numpy.einsum import einsum
from .._numpy.histogram import searchsorted
from .._numpy.polynomials import polyfit, polyval
from .._numpy.products import cross, matmul, vecdot
from .._numpy.shapes import concatenate, result_type
from .table import flat, lift, row, shifted, spread, with_ndim
from .values import is_batched


@row("matmul")
def _matmul(tracer, a, b, **keywords):
    left, right = lift(tracer, a), lift(tracer, b)
    if left.ndim == 0 or right.ndim == 0 or keywords:
        tracer.refuse("matmul gets a number")
    if left.ndim == right.ndim == 1:
        return vecdot(UFUNCS["conjugate"](left.data), right.data)
    if left.ndim == 2 and right.ndim == 1 and left.data.shape[0] == 1:
        return matmul(right.data, left.data[0].T)
    if left.ndim == 1 and right.ndim == 2 and right.data.shape[0] == 1:
        return matmul(left.data, right.data[0])
    if right.ndim == 1:
        data = right.data.reshape((right.data.shape[0], *(1,) * (left.ndim - 2), right.size, 1))
        return matmul(left.data, data)[..., 0]
    if left.ndim == 1:
        data = left.data.reshape((left.data.shape[0], *(1,) * (right.ndim - 2), 1, left.size))
        return matmul(data, right.data)[..., 0, :]
    ndim = max(left.ndim, right.ndim)
    return matmul(with_ndim(left, ndim), with_ndim(right, ndim))


@row("dot")
def _dot(tracer, a, b):
    left, right = lift(tracer, a), lift(tracer, b)
    if left.ndim == 0 or right.ndim == 0:
        return tracer.call("multiply", left, right)
    if left.ndim > 1 and right.ndim > 2:
        tracer.refuse("dot of arrays of more than two axes has no form for many slices")
    return tracer.call("matmul", left, right)


@row("inner")
def _inner(tracer, a, b):
    left, right = lift(tracer, a), lift(tracer, b)
    if max(left.ndim, right.ndim) > 1:
        tracer.refuse("inner of several axes has no form for many slices")
    return _dot(tracer, left, right)


@row("tensordot linalg.tensordot")
def _tensordot(tracer, a, b, axes=2):
    left, right = lift(tracer, a), lift(tracer, b)
    if axes != 1 or min(left.ndim, right.ndim) < 1 or max(left.ndim, right.ndim) > 2:
        tracer.refuse("tensordot over several axes has no form for many slices")
    return tracer.call("matmul", left, right)


@row("vdot")
def _vdot(tracer, a, b):
    left, right = (flat(lift(tracer, each)) for each in (a, b))
    return vecdot(left.data, right.data)


@row("vecdot linalg.vecdot")
def _vecdot(tracer, x1, x2, *, axis=-1):
    left, right = lift(tracer, x1), lift(tracer, x2)
    ndim = max(left.ndim, right.ndim)
    if axis not in (-1, ndim - 1):
        tracer.refuse("vecdot along this axis has no form for many slices")
    return vecdot(with_ndim(left, ndim), with_ndim(right, ndim))


@row("outer")
def _outer(tracer, a, b):
    left, right = (flat(lift(tracer, each)) for each in (a, b))
    return left.data[:, :, None] * right.data[:, None, :]


@row("einsum")
def _einsum(tracer, subscripts, *operands, **keywords):
    if not isinstance(subscripts, str) or "." in subscripts or "Z" in subscripts or keywords:
        tracer.refuse("einsum with these arguments has no form for many slices")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow:
        letters = inputs.replace(",", "")
        output = "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    parts = [spread(lift(tracer, each)) if is_batched(each) else asarray(each) for each in operands]
    names = ["Z" + name if is_batched(each) else name for name, each in zip(inputs.split(","), operands, strict=True)]
    return einsum(f"{','.join(names)}->Z{output}", *parts)


@row("cross linalg.cross")
def _cross(tracer, a, b, **keywords):
    if keywords:
        tracer.refuse("cross with axes has no form for many slices")
    left, right = lift(tracer, a), lift(tracer, b)
    ndim = max(left.ndim, right.ndim)
    return cross(with_ndim(left, ndim), with_ndim(right, ndim))


@row("kron")
def _kron(tracer, a, b):
    left, right = lift(tracer, a), lift(tracer, b)
    if left.ndim != 1 or right.ndim != 1:
        tracer.refuse("kron of several axes has no form for many slices")
    return tracer.call("ravel", tracer.call("outer", left, right))


# --- Linear algebra ---


@row("linalg.norm linalg.vector_norm")
def _norm(tracer, x, ord=None, axis=None, keepdims=False):
    array = lift(tracer, x)
    if axis is None and array.ndim > 2:
        tracer.refuse("norm of more than two axes has no form for many slices")
    axis = shifted(array, axis)
    return linalg.norm(array.data, ord, axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis, keepdims)


@row("linalg.solve")
def _solve(tracer, a, b):
    left, right = lift(tracer, a), lift(tracer, b)
    if right.ndim > 1:
        return linalg.solve(left.data, right.data)
    if left.data.shape[0] == 1:
        return linalg.solve(left.data[0], right.data.T).T
    return linalg.solve(left.data, right.data[..., None])[..., 0]


@row("linalg.lstsq")
def _lstsq(tracer, a, b, rcond=None):
    left, right = lift(tracer, a), lift(tracer, b)
    if left.data.shape[0] != 1 or right.ndim != 1:
        tracer.refuse("lstsq with a matrix of the slice has no form for many slices")
    solution, residuals, rank, singular = linalg.lstsq(left.data[0], right.data.T, rcond)
    residuals = residuals.reshape((tracer.count, 1)) if residuals.size else residuals.reshape((1, 0))
    return solution.T, residuals, int(rank), singular.reshape((1, -1))


# --- Polynomials and interpolation ---


MOST_PLACES = 512  # to which a fit is made of the fits of unit vectors


@row("polyfit")
def _polyfit(tracer, x, y, deg, rcond=None, full=False, w=None, cov=False):
    places, values = lift(tracer, x), lift(tracer, y)
    if places.ndim != 1 or values.ndim != 1 or full or cov:
        tracer.refuse("polyfit of several columns, or with full or cov, has no form for many slices")
    rounds = w is not None and values.dtype.kind == "f"  # NumPy multiplies by weights in the dtype of the values
    if places.data.shape[0] != 1 or is_batched(w) and w.data.shape[0] != 1 or rounds and values.dtype.itemsize < 8:
        return _fit_of_each(tracer, places, values, deg, rcond, w)
    x, weights = places.data[0], w.data[0] if is_batched(w) else w
    if values.size > MOST_PLACES:
        return polyfit(x, values.data.T, deg, rcond, w=weights).T
    with values.device:  # the fit is linear in y: the fits of unit vectors make that of each slice
        units = eye(values.size)
    return matmul(values.data, polyfit(x, units, deg, rcond, w=weights).T)


def _fit_of_each(tracer, places, values, deg, rcond, w):
    """polyfit whose places or weights are the slice's own.

    Modified Gram-Schmidt makes the powers' columns orthogonal, which for least squares is as accurate as Householder's
    reflections (Bjorck 1967). Where NumPy raises, or warns of a poor condition, the loop runs.
    """
    if is_batched(deg):
        tracer.refuse("polyfit of a degree that the slice gives has no form for many slices")
    deg, weights = int(deg), lift(tracer, 1.0 if w is None else w)
    extents = {places.size, values.size} | (set() if w is None else {weights.size})
    complexes = any(each.dtype.kind == "c" for each in (places, values, weights))
    if deg < 0 or len(extents) > 1 or weights.ndim != (w is not None) or complexes:
        tracer.refuse("polyfit of complex numbers, or of arguments that do not fit, has no form for many slices")
    x, y, weight = (each.data.astype("float64") for each in (places, values, weights))
    weight = weight.reshape((weight.shape[0], -1))
    powers = [x**k * weight for k in range(deg, -1, -1)]
    scales = [UFUNCS["sqrt"](_dots(each, each)) for each in powers]
    columns = [each / scale for each, scale in zip(powers, scales, strict=True)]
    right = (y * weight).astype(values.dtype if values.dtype.kind == "f" else "float64").astype("float64")
    factors, parts, lengths = [], [], []
    for k in range(deg + 1):
        lengths.append(UFUNCS["sqrt"](_dots(columns[k], columns[k])))
        unit = columns[k] / lengths[k]
        factors.append([_dots(unit, other) for other in columns[k + 1 :]])
        columns[k + 1 :] = [other - each * unit for other, each in zip(columns[k + 1 :], factors[k], strict=True)]
        parts.append(_dots(unit, right))
        right = right - parts[k] * unit
    if rcond is None:
        rcond = x.shape[1] * finfo(places.dtype if places.dtype.kind == "f" else "float64").eps
    if not all((each > 100 * rcond).all() for each in lengths):  # NaN, too
        tracer.refuse("a polyfit of poor condition, or of NaN, has no form for many slices")
    solution: list = [None] * (deg + 1)
    for k in range(deg, -1, -1):
        known = [factor * after for factor, after in zip(factors[k], solution[k + 1 :], strict=True)]
        solution[k] = (parts[k] - sum(known)) / lengths[k]
    return concatenate([each / scale for each, scale in zip(solution, scales, strict=True)], 1)


def _dots(a, b):
    """The products of rows, (slices, 1)."""
    return (a * b).sum(axis=1, keepdims=True)


@row("polyval")
def _polyval(tracer, p, x):
    coefficients, places = lift(tracer, p), lift(tracer, x)
    if coefficients.data.shape[0] == 1:
        return polyval(coefficients.data[0], places.data)
    result = tracer.call("zeros_like", places)
    for k in range(coefficients.size):
        result = result * places + coefficients[k]
    return result


@row("roots")
def _roots(tracer, p):
    """The eigenvalues of companion matrices, as numpy.roots."""
    array = lift(tracer, p)
    degree = array.size - 1
    if array.ndim != 1 or degree < 1:
        tracer.refuse("roots of a number have no form for many slices")
    ends = (array.data[:, 0] != 0) & (array.data[:, -1] != 0)
    if not tracer.number(tracer.batched(ends, bool)):
        tracer.refuse("roots of polynomials whose first or last coefficient is zero have no form for many slices")
    data = array.data.astype(result_type(array.dtype, float), copy=False)
    matrices = zeros((data.shape[0], degree, degree), data.dtype)
    matrices[:, arange(1, degree), arange(degree - 1)] = 1
    matrices[:, 0, :] = -data[:, 1:] / data[:, :1]
    return linalg.eigvals(matrices)


@row("interp")
def _interp(tracer, x, xp, fp, left=None, right=None, period=None):
    where, places, values = (lift(tracer, each) for each in (x, xp, fp))
    if places.data.shape[0] != 1 or is_batched(left) or is_batched(right):
        tracer.refuse("interp at places of the slice has no form for many slices")
    if values.data.shape[0] == 1:
        return interp(where.data, places.data[0], values.data[0], left, right, period)
    if where.data.shape[0] != 1 or period is not None or values.dtype.kind == "c":
        tracer.refuse("interp of values of the slice at places of the slice has no form for many slices")
    x, xp, fp = where.data[0].astype("float64"), places.data[0].astype("float64"), values.data.astype("float64")
    last = xp.shape[0] - 1
    if last == 0:
        tracer.refuse("interp of one place")
    start = UFUNCS["clip"](searchsorted(xp, x, "right") - 1, 0, last - 1)
    slope = (fp[:, start + 1] - fp[:, start]) / (xp[start + 1] - xp[start])
    result = slope * (x - xp[start]) + fp[:, start]
    result = UFUNCS["where"](x == xp[last], fp[:, -1].reshape((-1, *(1,) * x.ndim)), result)
    for is_outside, end, given in ((x < xp[0], fp[:, 0], left), (x > xp[last], fp[:, -1], right)):
        result = UFUNCS["where"](is_outside, end.reshape((-1, *(1,) * x.ndim)) if given is None else given, result)
    return result


# --- Signals ---

# One element of all overlaps of a row of `signal` with a row of `taps`; a step of 0 is one row for all.
_CONVOLUTION = ElementwiseKernel(
    "raw T signal, raw T taps, int64 length, int64 count, int64 step, int64 tap_step, int64 width, int64 start",
    "T result",
    """
    const int64_t row = i / width, place = i % width + start;
    const int64_t first = place < length ? 0 : place - length + 1, last = place < count ? place : count - 1;
    T total = 0;
    for (int64_t k = first; k <= last; ++k) total = total + taps[row * tap_step + k] * signal[row * step + place - k];
    result = total;
    """,
    "convolve_rows",
)


@row("convolve")
def _convolve(tracer, a, v, mode="full"):
    signal, taps = lift(tracer, a), lift(tracer, v)
    if signal.ndim != 1 or taps.ndim != 1 or 0 in (signal.size, taps.size):
        tracer.refuse("convolve needs arrays of one axis with elements")
    if mode not in ("full", "same", "valid"):
        tracer.refuse(f"convolve gets the mode {mode!r}")
    if taps.size > signal.size:
        signal, taps = taps, signal
    length, count = signal.size, taps.size
    start, width = {
        "full": (0, length + count - 1),
        "same": ((count - 1) // 2, length),
        "valid": (count - 1, length - count + 1),
    }[mode]
    dtype = result_type(signal.dtype, taps.dtype)
    rows = [ascontiguousarray(each.data.astype(dtype, copy=False)) for each in (signal, taps)]
    steps = [0 if each.shape[0] == 1 else each.shape[1] for each in rows]
    with signal.device:
        result = empty((max(each.shape[0] for each in rows), width), dtype)
    return _CONVOLUTION(*rows, length, count, *steps, width, start, result)


@row("correlate")
def _correlate(tracer, a, v, mode="valid"):
    kernel = lift(tracer, v)
    if kernel.size > lift(tracer, a).size:
        tracer.refuse("correlate with the longer array second has no form for many slices")
    turned = tracer.call("conjugate", kernel[::-1]) if kernel.dtype.kind == "c" else kernel[::-1]
    return tracer.call("convolve", a, turned, mode)


# --- Statistics of several variables ---


@row("cov")
def _cov(tracer, m, y=None, rowvar=True, bias=False, ddof=None, *, dtype=None):
    if not rowvar or dtype is not None:
        tracer.refuse("cov with these arguments has no form for many slices")
    rows = tracer.call("atleast_2d", m)
    if y is not None:
        rows = tracer.call("concatenate", [rows, tracer.call("atleast_2d", y)])
    data = rows.data if rows.dtype.kind == "c" else rows.data.astype(result_type(rows.dtype, "float64"))
    divisor = rows.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    if divisor <= 0:
        tracer.refuse("cov of too few observations")
    data = data - data.mean(axis=2, keepdims=True)
    made = matmul(data, UFUNCS["conjugate"](data).transpose((0, 2, 1))) / divisor
    return made.reshape(made.shape[0]) if made.shape[1] == 1 else made


@row("corrcoef")
def _corrcoef(tracer, x, y=None, rowvar=True, *, dtype=None):
    made = _cov(tracer, x, y, rowvar, dtype=dtype)
    if made.ndim == 1:
        return made / made
    scale = UFUNCS["sqrt"](made.diagonal(0, 1, 2).real)
    made = made / scale[:, :, None] / scale[:, None, :]
    return made if made.dtype.kind == "c" else UFUNCS["clip"](made, -1, 1)
