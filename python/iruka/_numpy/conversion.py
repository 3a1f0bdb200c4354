"""Arrays from values and from arrays of other libraries, and back."""

from __future__ import annotations

import builtins
import contextlib
import sys
import types

import numpy

from .. import _core, _functions
from .._core import asnumpy as _asnumpy, ndarray
from ..errors import DeviceError, ValueError


def _order(function: str, order, allowed: str = "CFKA") -> str | None:
    """An order of elements as one of the capital letters allowed; None stays None."""
    if order is None:
        return None
    letter = order.upper() if isinstance(order, str) else ""
    if len(letter) != 1 or letter not in allowed:
        raise ValueError(f"{function}: order must be one of {', '.join(allowed)}, not {order!r}")
    return letter


_here = contextlib.nullcontext()


def _place(device):
    """A context in which arrays are made on a device; None is the default device."""
    return _here if device is None else _core.device(device)


def _laid(result: ndarray, order, always: bool = False) -> ndarray:
    """The array itself if it has that order, else a copy; with `always` a copy in any case."""
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

    Iruka's arrays, and tensors on a GPU (DLPack, __cuda_array_interface__), stay on their device; others come to the
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
            a = numpy.asarray(a, dtype=wanted)  # lists and Python scalars are read with the dtype
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
        object = _core.stack([asarray(item) for item in object], 0)
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
    is_ours = any(isinstance(a, ndarray) or _is_fused(a) for a in args)
    return sys.modules["iruka"] if is_ours else numpy


def _is_fused(a) -> bool:
    """Whether it is an array of a fused function, which records what is done with it."""
    return not isinstance(a, ndarray) and hasattr(type(a), "_iruka_function_")


def _array(a) -> ndarray:
    """The array itself, also one of a fused function; asarray of any other object."""
    return a if isinstance(a, ndarray) or _is_fused(a) else asarray(a)


def _has_axes(value) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0
