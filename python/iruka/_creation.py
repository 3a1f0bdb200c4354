"""Arrays from nothing, from values, and from arrays of other libraries."""

from __future__ import annotations

import builtins
import contextlib
import math
import operator
import types
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from . import _core, _functions
from ._core import asnumpy as _asnumpy, ndarray
from .errors import DeviceError, ValueError


def _order(function: str, order, allowed: str = "CFKA") -> str | None:
    """An order of elements as one of the capital letters allowed; None stays None."""
    if order is None:
        return None
    letter = order.upper() if isinstance(order, str) else ""
    if len(letter) != 1 or letter not in allowed:
        raise ValueError(f"{function}: order must be one of {', '.join(allowed)}, not {order!r}")
    return letter


def _extents(shape) -> tuple:
    return tuple(shape) if hasattr(shape, "__len__") or hasattr(shape, "__iter__") else (shape,)


_here = contextlib.nullcontext()


def _place(device):
    """A context in which arrays are made on a device; None is the default device."""
    return _here if device is None else _core.device(device)


def _made(make, shape, *arguments, order, device=None) -> ndarray:
    """What `make` gives for the shape, in that order of elements."""
    if device is not None:
        with _core.device(device):
            return _made(make, shape, *arguments, order=order)
    if order != "F":
        return make(shape, *arguments)
    return make(_extents(shape)[::-1], *arguments).transpose()


def _laid(result: ndarray, order, always: bool = False) -> ndarray:
    """The array itself where it has that order, else a copy; `always`: a copy in any case."""
    if order in ("C", "F"):
        c_order, f_order, *_ = result._layout
        fits = c_order if order == "C" else f_order
        return result if fits and not always else result.copy(order)
    return result.copy("K") if always else result


def _check_shared(a, result: ndarray) -> None:
    moved = isinstance(a, numpy.ndarray) and a.size and a.__array_interface__["data"][0] != result._address
    if moved or isinstance(a, (list, tuple, bool, int, float, complex, numpy.generic)):
        raise ValueError(f"asarray: {type(a).__name__} needs a copy, which copy=False forbids")


def _holds_gpu_array(a) -> bool:
    if isinstance(a, (list, tuple)):
        return any(map(_holds_gpu_array, a))
    return isinstance(a, ndarray) and a.device.name != "cpu"


def asarray(a, dtype=None, order=None, *, copy: bool | None = None, device=None, blocking: bool = True) -> ndarray:
    """An array of anything array-like: NumPy arrays, buffers, tensors of CPUs and GPUs, scalars, nested lists.

    Arrays of ours, and tensors on a GPU (DLPack, __cuda_array_interface__), stay where they are; the rest comes to the
    default device. device, where it is given, is where the result lies. On the CPU it shares memory with a NumPy array
    or buffer whose dtype, alignment and byte order fit (and is read-only when that is); copies otherwise. copy=True
    always copies, copy=False raises ValueError where a copy is needed. blocking has no effect: what is copied from may
    be changed on return.
    Raises TypeError for a dtype that arrays cannot have.

        >>> iruka.asarray([[1, 2], [3, 4]])
        array([[1, 2],
               [3, 4]])
    """
    order = _order("asarray", order)
    if isinstance(a, ndarray) and a._is_value and copy is not False:
        a = a[...]  # an array that may be written to, as NumPy's of a scalar
    wanted = None if dtype is None else _core.dtype_of(dtype)
    if (
        wanted is not None
        and not isinstance(a, (ndarray, numpy.ndarray, numpy.generic))
        and not hasattr(a, "__dlpack__")
        and not hasattr(a, "__cuda_array_interface__")
    ):
        try:
            a = numpy.asarray(a, dtype=wanted)  # lists and Python scalars take the dtype as they are read
        except builtins.TypeError:
            if not _holds_gpu_array(a):
                raise
    result = found = _core.as_array(a, device)
    if device is not None:
        result = found.to_device(device)
    if copy is False:
        if result is not found and result._address != found._address:
            raise ValueError(f"asarray: {found.device!r} to {result.device!r} needs a copy, which copy=False forbids")
        if not isinstance(a, ndarray):
            _check_shared(a, result)
    if wanted is not None and result.dtype != wanted:
        if copy is False:
            raise ValueError(f"asarray: {result.dtype} as {wanted} needs a copy, which copy=False forbids")
        result = result.astype(wanted)
    laid = _laid(result, order, bool(copy) and result._address == found._address)
    if copy is False and laid._address != found._address:
        raise ValueError(f"asarray: order {order!r} needs a copy, which copy=False forbids")
    return laid


def array(object, dtype=None, copy: bool = True, order="K", subok: bool = False, ndmin: int = 0) -> ndarray:
    """A new array with the values of anything array-like; copy=False is asarray. ndmin adds axes in front.

    Raises TypeError for a dtype that arrays cannot have.
    """
    order = _order("array", order)
    if dtype is None and ndmin == 0 and order != "F":
        made = _core.array_of_numbers(object)
        if made is not None:
            return made
    if isinstance(object, (list, tuple)) and any(isinstance(item, ndarray) for item in object):
        from ._manipulation import stack

        object = stack([asarray(item) for item in object])
    result = asarray(object, dtype, order)
    if copy and (isinstance(object, ndarray) and result._address == object._address or not result._layout[3]):
        result = result.copy("K" if order is None else order)
    missing = ndmin - result.ndim
    return result.reshape((1,) * missing + result.shape) if missing > 0 else result


def ascontiguousarray(a, dtype=None) -> ndarray:
    """The array itself when it is C-contiguous, else a copy that is; of one axis at least."""
    result = a if dtype is None and type(a) is ndarray else asarray(a, dtype)
    return _with_axis(result if result._layout[0] else result.copy())


def asfortranarray(a, dtype=None) -> ndarray:
    """The array itself when it is Fortran-contiguous, else a copy that is; of one axis at least."""
    return _with_axis(_laid(asarray(a, dtype), "F"))


def _with_axis(a: ndarray) -> ndarray:
    return a if a.ndim else a.reshape(1)


def asarray_chkfinite(a, dtype=None, order=None) -> ndarray:
    """asarray that raises ValueError where an element is infinite or NaN."""
    result = asarray(a, dtype, order)
    if result.dtype.kind not in "biu" and not bool(_functions.elementwise["isfinite"](result).all()):
        raise ValueError("array must not contain infs or NaNs")
    return result


def require(a, dtype=None, requirements=None) -> ndarray:
    """An array with what `requirements` names: 'C', 'F', 'A' (aligned), 'W' (writeable), 'O' (its own memory); a copy
    where needed.
    """
    wanted = {
        str(name).upper()[0] for name in ([requirements] if isinstance(requirements, str) else requirements or [])
    }
    if unknown := wanted - set("CFAWOE"):
        raise ValueError(f"require: unknown requirements {sorted(unknown)}")
    if {"C", "F"} <= wanted:
        raise ValueError("Cannot specify both 'C' and 'F' order")
    order = "C" if "C" in wanted else "F" if "F" in wanted else "A"
    result = asarray(a, dtype, order)
    _, _, writable, own = result._layout
    if ("W" in wanted and not writable) or ("O" in wanted and not own):
        result = _laid(result, order if order != "A" else "K", always=True)
    return result


def asnumpy(a, stream=None, order: str = "C", out=None, *, blocking: bool = True) -> numpy.ndarray:
    """A NumPy array with a copy of the elements; anything that is no iruka array goes through numpy.asarray.

    out, a NumPy array of the same shape, is filled and returned when given. stream: the GPU's stream to copy in order
    with. blocking=False returns before a copy to pinned memory is done.
    """
    if isinstance(a, ndarray):
        return _asnumpy(a) if out is None and order == "C" and stream is None else a.get(stream, order, out, blocking)
    if out is None:
        return numpy.asarray(a, order=order)  # type: ignore[call-overload]  # NumPy checks the order
    numpy.copyto(out, a, casting="same_kind")
    return out


def from_dlpack(x, /, *, device=None, copy: bool | None = None) -> ndarray:
    """An array over the memory of another library's tensor (anything with __dlpack__), on the CPU or a GPU.

    device: where the result lies; a tensor elsewhere is copied. copy=True always copies; copy=False raises ValueError
    where another device needs one. Raises BufferError for a tensor that cannot be shared.
    """
    try:
        place = None if device is None else _core.device(device)
    except DeviceError as error:
        raise ValueError(f"from_dlpack: device {device!r}: {error}") from error
    result = _core.from_dlpack(x, copy)
    if place is None or place == result.device:
        return result
    if copy is False:
        raise ValueError(f"from_dlpack: {result.device!r} to {place!r} needs a copy, which copy=False forbids")
    return result.to_device(place)


def get_array_module(*args) -> types.ModuleType:
    """The module whose functions take these arrays: iruka where one of them is an iruka.ndarray, else numpy."""
    import iruka

    return iruka if any(isinstance(a, ndarray) for a in args) else numpy


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


def _array(a) -> ndarray:
    """The array itself, or what asarray makes of anything else."""
    return a if isinstance(a, ndarray) else asarray(a)


def _like(function: str, make, a, order, dtype, shape, device) -> ndarray:
    """What `make` gives, on the array's device unless one is named; K and A keep the elements' order in memory."""
    order = _order(function, order)
    a = _array(a)
    dtype = a.dtype if dtype is None else dtype
    extents = a.shape if shape is None else _extents(shape)
    with a.device if device is None else _core.device(device):
        if order == "K" and len(extents) == a.ndim:
            axes = sorted(range(a.ndim), key=lambda k: -builtins.abs(a.strides[k]))
            if axes != sorted(axes):
                return make(tuple(extents[k] for k in axes), dtype).transpose(
                    sorted(range(a.ndim), key=axes.__getitem__)
                )
        c_order, f_order, *_ = a._layout
        return _made(
            make, extents, dtype, order="F" if order == "F" or order == "A" and f_order and not c_order else "C"
        )


def empty_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None) -> ndarray:
    """An uninitialised array with the shape and dtype of another, on its device or the one named."""
    return _like("empty_like", _core.empty, a, order, dtype, shape, device)


def zeros_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None) -> ndarray:
    """Zeros with the shape and dtype of another array, on its device or the one named."""
    return _like("zeros_like", _core.zeros, a, order, dtype, shape, device)


def ones_like(a, dtype=None, order="K", subok=None, shape=None, *, device=None) -> ndarray:
    """Ones with the shape and dtype of another array, on its device or the one named."""
    return _like("ones_like", _core.ones, a, order, dtype, shape, device)


def full_like(a, fill_value, dtype=None, order="K", subok=None, shape=None, *, device=None) -> ndarray:
    """One value with the shape and dtype of another array, on its device or the one named."""
    from ._manipulation import copyto

    result = _like("full_like", _core.empty, a, order, dtype, shape, device)
    copyto(result, fill_value, "unsafe")  # casts what an assignment may refuse
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
            values, step = _spaced(_array(start), _array(stop), num, parts, bool(endpoint), computing)
            step = numpy.float64(step) if has_numbers else step
    if axis != 0:
        from ._manipulation import moveaxis

        values = moveaxis(values, 0, axis)
    if wanted.kind in "iu":
        values = _functions.elementwise["floor"](values)
    values = values.astype(wanted, copy=False)
    return (values, step) if retstep else values


def _has_axes(value) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def _spaced(start: ndarray, stop: ndarray, num: int, parts: int, endpoint: bool, dtype) -> tuple:
    """linspace of arrays along a new first axis, in a dtype of floats or complex numbers, and the steps."""
    delta = _functions.elementwise["subtract"](stop, start, dtype=dtype)
    with delta.device:
        count = _core.arange(0, num, 1, dtype).reshape((num,) + (1,) * delta.ndim)
    step: Any
    if parts > 0:
        step = delta / parts
        # A step that underflows to 0 is multiplied last.
        where, is_lost = _functions.elementwise["where"], step == 0
        values = where(is_lost, count / parts, count) * where(is_lost, delta, step) + start
    else:
        step, values = numpy.nan, count * delta + start
    if endpoint and num > 1:
        values[-1, ...] = stop
    return values.astype(dtype, copy=False), step


def eye(N: int, M: int | None = None, k: int = 0, dtype=float, order="C", *, device=None) -> ndarray:
    """Ones on the k-th diagonal of an N by M array, zeros elsewhere; on the device named or the default one."""
    order = _order("eye", order, "CF")
    with _place(device):
        return _laid(_core.eye(N, M, k, dtype), order)


def identity(n: int, dtype=float, *, device=None) -> ndarray:
    """The n by n identity matrix, on the device named or the default one."""
    return eye(n, dtype=dtype, device=device)
