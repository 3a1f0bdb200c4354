"""Differences, integrals, interpolation and convolution along an axis."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .._core import ElementwiseKernel, ndarray
from .._functions import elementwise, reductions
from ..errors import TypeError, ValueError
from .conversion import _array, asarray
from .creation import empty_like
from .scans import cumsum
from .shapes import _axes, moveaxis, result_type
from .statistics import _kind

_add, _subtract, _multiply, _divide = (elementwise[name] for name in ("add", "subtract", "multiply", "divide"))
_where = elementwise["where"]
_sum: Any = reductions["sum"]


def _along(axis: int, *slices):
    """The index that slices one axis."""
    return [(slice(None),) * axis + (each,) for each in slices]


def diff(a, n: int = 1, axis: int = -1, prepend=None, append=None) -> ndarray:
    """The n-th difference along an axis: x[1:] - x[:-1], n times; of bools, whether neighbours differ.

    `prepend` and `append` are joined to x first. Raises ValueError for negative n or an array without axes.

    >>> iruka.diff(iruka.array([1, 4, 9]))
    array([3, 5])
    """
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = _array(a)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if not -x.ndim <= axis < x.ndim:
        _axes("diff", axis, x.ndim)  # raises
    axis %= x.ndim
    if prepend is not None or append is not None:
        x = _extended(x, axis, prepend, append)
    whole = (slice(None),) * axis
    later, earlier = (*whole, slice(1, None)), (*whole, slice(None, -1))
    step = elementwise["not_equal"] if x.dtype.kind == "b" else _subtract
    for _ in range(n):
        x = step(x[later], x[earlier])
    return x


def unwrap(p, discont=None, axis: int = -1, *, period: float = 2 * numpy.pi) -> ndarray:
    """p with multiples of `period` added so that no step along an axis is larger than max(discont, period / 2).

    Integers stay integers where period is one. Raises AxisError, and ValueError for a 0-d array.

    >>> iruka.unwrap(iruka.array([0, 1, 2, -1, 0]), period=4)
    array([0, 1, 2, 3, 4])
    """
    x = _array(p)
    step = diff(x, axis=axis)
    axis %= x.ndim
    dtype = result_type(step, period)
    discont = period / 2 if discont is None else discont
    is_integer = dtype.kind in "iu"
    high, odd = divmod(period, 2) if is_integer else (period / 2, 0)
    low = -high
    near = elementwise["remainder"](step - low, period) + low
    if not odd:  # half a period keeps its sign
        near = _where((near == low) & (step > 0), high, near)
    correction = _where(abs(step) < discont, 0, near - step)
    result = x.astype(dtype)
    rest = (slice(None),) * axis + (slice(1, None),)
    result[rest] = x[rest] + cumsum(correction, axis=axis)
    return result


def _extended(x: ndarray, axis: int, prepend, append) -> ndarray:
    """x with `prepend` before and `append` after it, scalars as one element of the axis."""
    ends = []
    for end in (prepend, append):
        end = None if end is None else _array(end)
        if end is not None and end.ndim == 0:
            end = end._broadcast_to(x.shape[:axis] + (1,) + x.shape[axis + 1 :])
        ends.append(end)
    return _core.concatenate([part for part in (ends[0], x, ends[1]) if part is not None], axis)


def ediff1d(ary, to_end=None, to_begin=None) -> ndarray:
    """Differences of the flattened array's neighbours, between `to_begin` and `to_end`.

    Raises TypeError where those cannot be cast to x's dtype by 'same_kind'.

    >>> iruka.ediff1d(iruka.array([1, 4, 9]), to_begin=0)
    array([0, 3, 5])
    """
    x = _array(ary).ravel()
    parts = [_subtract(x[1:], x[:-1])]
    for name, end, place in (("to_end", to_end, 1), ("to_begin", to_begin, 0)):
        if end is None:
            continue
        end = asarray(end).ravel()
        if not numpy.can_cast(end.dtype, x.dtype, "same_kind"):
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        parts.insert(len(parts) * place, end.astype(x.dtype, copy=False))
    return parts[0] if len(parts) == 1 else _core.concatenate(parts, 0)


def _float(x: ndarray) -> ndarray:
    return x if _kind(x.dtype) in "fc" else x.astype("float64")


def gradient(f, *varargs, axis=None, edge_order: int = 1) -> Any:
    """Second-order central differences inside, first or second order (`edge_order`) at the ends: f's shape.

    `varargs`: a distance for all axes, one an axis, or arrays of coordinates. One array for one axis, else a tuple.
    Raises ValueError for fewer than edge_order + 1 elements or coordinates of another length, TypeError for a wrong
    count of distances.

    >>> iruka.gradient(iruka.array([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])
    """
    f = _array(f)
    axes = tuple(range(f.ndim)) if axis is None else _axes("gradient", axis, f.ndim)
    spacings = _spacings(f, varargs, axes)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    results = []
    for along, spacing in zip(axes, spacings):
        if f.shape[along] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
        if f.dtype.kind == "b":
            raise TypeError("gradient: booleans have no differences")
        results.append(_gradient(f, along, spacing, edge_order))
    return results[0] if len(axes) == 1 else tuple(results)


def _spacings(f: ndarray, given, axes) -> list:
    """A number or an array of distances for each axis."""
    if len(given) == 0:
        return [1.0] * len(axes)
    if len(given) == 1 and numpy.ndim(given[0]) == 0:
        return [given[0]] * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    spacings = []
    for along, each in zip(axes, given):
        if numpy.ndim(each) == 0:
            spacings.append(each)
            continue
        each = _array(each)
        if each.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if len(each) != f.shape[along]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        steps = diff(each.astype("float64") if each.dtype.kind in "iu" else each)
        spacings.append(steps[0].item() if bool((steps == steps[0]).all()) else steps)
    return spacings


_slope = ElementwiseKernel("T after, T before, T step", "T z", "z = (after - before) / step;", "gradient")


def _gradient(f: ndarray, axis: int, spacing, edge_order: int) -> ndarray:
    y = _float(f)
    result = out = empty_like(y)
    if axis != f.ndim - 1:
        y, out = moveaxis(y, axis, -1), moveaxis(result, axis, -1)
    length = y.shape[-1]
    if isinstance(spacing, ndarray):
        left, right = spacing[:-1], spacing[1:]
        a, b = -right / (left * (left + right)), (right - left) / (left * right)
        c = left / (right * (left + right))
        out[..., 1:-1] = a * y[..., :-2] + b * y[..., 1:-1] + c * y[..., 2:]
        first, last = spacing[0].item(), spacing[-1].item()
    else:
        _slope(y[..., 2:], y[..., :-2], 2.0 * spacing, out[..., 1:-1])
        first = last = spacing
    if edge_order == 1 and length > 2 and first is last:  # both ends at once
        _slope(y[..., 1 :: length - 2], y[..., : length - 1 : length - 2], first, out[..., :: length - 1])
    elif edge_order == 1:
        _slope(y[..., 1:2], y[..., :1], first, out[..., :1])
        _slope(y[..., -1:], y[..., -2:-1], last, out[..., -1:])
    else:
        _second_order_edges(out, y, spacing)
    return result


def _second_order_edges(out: ndarray, y: ndarray, spacing) -> None:
    if not isinstance(spacing, ndarray):
        a, b, c = 1.5 / spacing, 2.0 / spacing, 0.5 / spacing
        out[..., :1] = -a * y[..., :1] + b * y[..., 1:2] - c * y[..., 2:3]
        out[..., -1:] = c * y[..., -3:-2] - b * y[..., -2:-1] + a * y[..., -1:]
        return
    h = _core.asnumpy(spacing).tolist()
    p, q = h[0], h[1]
    out[..., :1] = (
        -(2.0 * p + q) / (p * (p + q)) * y[..., :1] + (p + q) / (p * q) * y[..., 1:2] - p / (q * (p + q)) * y[..., 2:3]
    )
    p, q = h[-2], h[-1]
    n = y.shape[-1]
    out[..., -1:] = (
        q / (p * (p + q)) * y[..., n - 3 : n - 2]
        - (p + q) / (p * q) * y[..., n - 2 : n - 1]
        + (2.0 * q + p) / (q * (p + q)) * y[..., n - 1 :]
    )


def trapezoid(y, x=None, dx=1.0, axis: int = -1) -> ndarray:
    """Integral of y along an axis by the trapezoidal rule, at points x or `dx` apart. Integers count as floats.

    >>> iruka.trapezoid(iruka.array([1.0, 2.0, 3.0]))
    array(4.)
    """
    y = _array(y)
    (axis,) = _axes("trapezoid", axis, y.ndim)
    x = None if x is None else _array(x)
    if x is not None and x.ndim == 0:
        raise ValueError("trapezoid: x must have at least one axis")
    dtype = result_type(y, dx if x is None else x, 0.0)
    # Sums and differences of integers and of 16 bits would overflow.
    y = y.astype("float32" if dtype.itemsize == 2 else dtype, copy=False)
    if x is None and numpy.ndim(dx) == 0 and y.shape[axis] > 1:
        first, last, inner = _along(axis, 0, -1, slice(1, -1))
        return (dx * (_sum(y[inner], axis=axis) + (y[first] / 2.0 + y[last] / 2.0))).astype(dtype, copy=False)
    if x is not None:
        x = _float(x)
        dx = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            dx = dx.reshape(tuple(-1 if k == axis else 1 for k in range(y.ndim)))
    later, earlier = _along(axis, slice(1, None), slice(None, -1))
    return _sum(dx * (y[later] / 2.0 + y[earlier] / 2.0), axis=axis).astype(dtype, copy=False)


# Output k of the full convolution needs k - j >= 0 of the long one for each j of the short one.
_convolve = ElementwiseKernel(
    "raw const T x, raw const T y, int64 nx, int64 ny, int64 first",
    "raw T z",
    """
    const int64_t k = i + first;
    const int64_t from = k - nx + 1 > 0 ? k - nx + 1 : 0, to = k < ny - 1 ? k : ny - 1;
    S sum = S(0);
    for (int64_t j = from; j <= to; ++j) sum = sum + PRODUCT;
    z[i] = T(sum);
    """.replace("PRODUCT", "product((S)x[k - j], (S)y[j])"),
    "convolve",
    preamble="""
    template <class T> struct Computing { using Type = T; };
    template <iruka::Small T> struct Computing<T> { using Type = float; };
    using S = Computing<T>::Type;
    __device__ inline S product(S a, S b) { return a * b; }
    """,
)


def _direct(x: ndarray, y: ndarray, mode: str, function: str) -> ndarray:
    """The convolution of two 1-d arrays, x the longer one."""
    nx, ny = x.size, y.size
    ranges = {"full": (0, nx + ny - 1), "same": ((ny - 1) // 2, nx), "valid": (ny - 1, nx - ny + 1)}
    if isinstance(mode, int) and 0 <= mode <= 2:  # NumPy's numbers of the modes
        mode = ("valid", "same", "full")[mode]
    if mode not in ranges:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    first, size = ranges[mode]
    if x.dtype.kind == "b":
        return _direct(x.astype("int32"), y.astype("int32"), mode, function) != 0
    with x.device:
        out = _core.empty((size,), x.dtype)
        _convolve(x, y, nx, ny, first, out, size=size)
    return out


def _pair(a, v) -> tuple[ndarray, ndarray]:
    for name, part in (("a", a), ("v", v)):
        if part.ndim != 1:
            raise ValueError(f"object {'too deep' if part.ndim else 'of too small depth'} for desired array")
        if part.size == 0:
            raise ValueError(f"{name} cannot be empty")
    dtype = result_type(a, v)
    return a.astype(dtype, copy=False), v.astype(dtype, copy=False)


def convolve(a, v, mode: str = "full") -> ndarray:
    """Discrete convolution of two 1-d arrays: sum over m of a[m] v[n - m], term by term.

    Lengths N >= M: 'full' gives N + M - 1 elements, 'same' N, 'valid' N - M + 1. Raises ValueError for an empty array,
    more than one axis, or another mode.

    >>> iruka.convolve(iruka.array([1, 2, 3]), [0, 1])
    array([0, 1, 2, 3])
    """
    a, v = _pair(*(part.reshape(1) if part.ndim == 0 else part for part in (_array(a), _array(v))))
    if v.size > a.size:
        a, v = v, a
    return _direct(a, v, mode, "convolve")


def correlate(a, v, mode: str = "valid") -> ndarray:
    """Cross-correlation of two 1-d arrays: sum over n of a[n + k] conj(v[n]), with `convolve`'s modes and errors.

    >>> iruka.correlate(iruka.array([1, 2, 3]), [0, 1, 2])
    array([8])
    """
    a, v = _pair(_array(a), _array(v))
    v = elementwise["conjugate"](v) if _kind(v.dtype) == "c" else v
    if a.size >= v.size:
        return _direct(a, v[::-1], mode, "correlate")
    # The roles change, and with them the direction. 'same' keeps the length of the longer one.
    return _direct(v, a[::-1], mode, "correlate")[::-1].copy()


def interp(x, xp, fp, left=None, right=None, period: float | None = None) -> ndarray:
    """Piecewise linear interpolation of points (xp, fp) at x: float64 or complex128, x's shape.

    xp ascends (with `period` it need not: x and xp are taken modulo it). `left` and `right` are the values outside, by
    default the first and last of fp. Raises ValueError for lengths that differ, empty points, or period 0.

    >>> iruka.interp(2.5, [1, 2, 3], [3, 2, 0])
    array(1.)
    """
    return _core.interp(_array(x), _array(xp), _array(fp), left, right, period)
