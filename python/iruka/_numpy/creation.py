"""Arrays made from a shape, a value or a range."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from .. import _core, _functions
from .._core import ndarray
from ..errors import ValueError
from .conversion import _array, _has_axes, _is_fused, _laid, _order, _place, asarray
from .shapes import copyto, moveaxis


def _extents(shape) -> tuple:
    return tuple(shape) if hasattr(shape, "__len__") or hasattr(shape, "__iter__") else (shape,)


def _made(make, shape, *arguments, order, device=None) -> ndarray:
    """The result of `make` for the shape, in that order of elements."""
    if device is not None:
        with _core.device(device):
            return _made(make, shape, *arguments, order=order)
    if order != "F":
        return make(shape, *arguments)
    return make(_extents(shape)[::-1], *arguments).transpose()


def empty(shape, dtype=float, order="C", *, device=None) -> ndarray:
    """An uninitialised array, on the device named or the default one."""
    order = _order("empty", order, "CF")
    return _made(_core.empty, shape, dtype, order=order, device=device)


def zeros(shape, dtype=float, order="C", *, device=None) -> ndarray:
    """An array of zeros, on the device named or the default one."""
    order = _order("zeros", order, "CF")
    return _made(_core.zeros, shape, dtype, order=order, device=device)


def ones(shape, dtype=float, order="C", *, device=None) -> ndarray:
    """An array of ones, on the device named or the default one."""
    order = _order("ones", order, "CF")
    return _made(_core.ones, shape, dtype, order=order, device=device)


def full(shape, fill_value, dtype=None, order="C", *, device=None) -> ndarray:
    """An array of one value, which also gives the dtype unless one is given; on the device named or the default one."""
    order = _order("full", order, "CF")
    if isinstance(fill_value, (list, tuple, numpy.ndarray)) or getattr(fill_value, "ndim", 0) > 0:
        values = asarray(fill_value)
        result = _made(_core.empty, shape, values.dtype if dtype is None else dtype, order=order, device=device)
        result[...] = values
        return result
    return _made(_core.full, shape, fill_value, dtype, order=order, device=device)


def empty_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None) -> ndarray:
    """An uninitialised array with the shape and dtype of another, on its device or the one named."""
    return _core.empty_like(a, dtype, order, shape, device)


def zeros_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None) -> ndarray:
    """Zeros with the shape and dtype of another array, on its device or the one named."""
    return a._like(0, dtype, shape) if _is_fused(a) else _core.zeros_like(a, dtype, order, shape, device)


def ones_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None) -> ndarray:
    """Ones with the shape and dtype of another array, on its device or the one named."""
    return a._like(1, dtype, shape) if _is_fused(a) else _core.ones_like(a, dtype, order, shape, device)


def full_like(a, fill_value, dtype=None, order="K", subok=None, shape=None, *, device=None) -> ndarray:
    """One value with the shape and dtype of another array, on its device or the one named."""
    if _is_fused(a):
        return a._like(fill_value, dtype, shape)
    result = _core.empty_like(a, dtype, order, shape, device)
    copyto(result, fill_value, "unsafe")  # also casts values that an assignment does not accept
    return result


def arange(start, stop=None, step=1, dtype=None, *, device=None) -> ndarray:
    """start, start + step... up to, not including, stop; arange(n) counts from 0. device: where, if not on the default.

    Raises ZeroDivisionError for a step of 0.

        >>> iruka.arange(3)
        array([0, 1, 2])
    """
    with _place(device):
        return _core.arange(start, stop, step, dtype)


if TYPE_CHECKING:  # at run time, typing's registry of overloads would keep the whole package alive

    @overload
    def linspace(
        start,
        stop,
        num: int = 50,
        endpoint: bool = True,
        retstep: Literal[False] = False,
        dtype=None,
        axis: int = 0,
        *,
        device=None,
    ) -> ndarray: ...
    @overload
    def linspace(
        start,
        stop,
        num: int = 50,
        endpoint: bool = True,
        *,
        retstep: Literal[True],
        dtype=None,
        axis: int = 0,
        device=None,
    ) -> tuple[ndarray, float]: ...


def linspace(
    start, stop, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype=None, axis: int = 0, *, device=None
) -> Any:
    """num evenly spaced values from start to stop, which is left out without endpoint.

    start and stop may be arrays, which broadcast; the values then lie along `axis` of the result. With retstep returns
    (values, step). device: where, if not on the default one. Raises ValueError for a negative num, AxisError.
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, but is {num}")
    computing = _core.result_type(start, stop, 0.0)
    wanted = computing if dtype is None else _core.dtype_of(dtype)
    parts = num - 1 if endpoint else num
    with _place(device):
        has_numbers = computing == numpy.float64 and not (_has_axes(start) or _has_axes(stop))
        if has_numbers and math.isfinite(float(stop) - float(start)):  # no value overflows
            values = _core.linspace(start, stop, num, bool(endpoint), computing)
            step = numpy.float64((float(stop) - float(start)) / parts) if parts > 0 and retstep else float("nan")
        else:
            values, step = _core.spaced(_array(start), _array(stop), num, bool(endpoint), computing)
            step = numpy.nan if step is None else numpy.float64(step) if has_numbers else step
    if axis != 0:
        values = moveaxis(values, 0, axis)
    if wanted.kind in "iu":
        values = _functions.elementwise["floor"](values)
    values = values.astype(wanted, copy=False)
    return (values, step) if retstep else values


def eye(N: int, M: int | None = None, k: int = 0, dtype=float, order="C", *, device=None) -> ndarray:
    """Ones on the k-th diagonal of an N by M array, zeros elsewhere; on the device named or the default one."""
    order = _order("eye", order, "CF")
    with _place(device):
        return _laid(_core.eye(N, M, k, dtype), order)


def identity(n: int, dtype=float, *, device=None) -> ndarray:
    """The n by n identity matrix, on the device named or the default one."""
    return eye(n, dtype=dtype, device=device)
