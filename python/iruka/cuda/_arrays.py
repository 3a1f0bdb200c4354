"""Arrays under Numba's names: to_device, device_array, pinned_array, mapped_array, as_cuda_array; stream, event."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from ._pinned import empty_pinned, order_of
from ._stream import Event, Stream


def _scope(stream: Any) -> Any:
    return stream if isinstance(stream, Stream) else contextlib.nullcontext()


def _check_order(caller: str, order: str) -> None:
    if order not in ("C", "F"):
        raise ValueError(f"{caller}: order must be 'C' or 'F', not {order!r}")


def _check_strides(caller: str, strides: Any, order: str, own: tuple[int, ...]) -> None:
    if strides is not None and tuple(numpy.atleast_1d(strides)) != own:
        raise ValueError(f"{caller}: strides {strides} are not those of order {order!r}, {own}")


def to_device(obj, stream=0, copy: bool = True, to: ndarray | None = None) -> ndarray:
    """The elements of an array as an array of the default device; `to` is an array to copy them into.

    An array of that device is returned as it is with copy=False. Raises ValueError where `to` has another shape, and
    TypeError where it has another dtype.

    >>> iruka.cuda.to_device([1.0, 2.0]).copy_to_host()
    array([1., 2.])
    """
    with _scope(stream):
        if to is None and isinstance(obj, ndarray) and obj.device != _core.default_device():
            return obj.to_device(_core.default_device())
        if to is None:  # the CPU's arrays share the memory of NumPy's
            made = obj if isinstance(obj, ndarray) else _core.as_array(obj)
            return made.copy() if copy else made
        to.copy_to_device(obj)
        return to


def device_array(shape, dtype=numpy.float64, strides=None, order: str = "C", stream=0) -> ndarray:
    """An array of the default device, whose elements are not set; order is 'C' or 'F'.

    Raises ValueError for another order, and for strides that are not of the order.
    """
    _check_order("device_array", order)
    with _scope(stream):
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        made = _core.empty(shape[::-1], dtype).T if order == "F" else _core.empty(shape, dtype)
    _check_strides("device_array", strides, order, made.strides)
    return made


def device_array_like(ary, stream=0) -> ndarray:
    """An array of the shape, dtype and order of another one, whose elements are not set."""
    return device_array(ary.shape, ary.dtype, order=order_of(ary), stream=stream)


def pinned_array(shape, dtype=numpy.float64, strides=None, order: str = "C") -> numpy.ndarray:
    """A NumPy array in page-locked memory, which copies to and from a GPU faster; in ordinary memory without a GPU."""
    if not _core.cuda_is_available():
        return numpy.empty(shape, dtype, "F" if order == "F" else "C")
    return empty_pinned(shape, dtype, order)


class MappedArray(numpy.ndarray):
    """A NumPy array whose memory kernels reach as well: mapped_array() makes it, as_cuda_array() gives it to them."""

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] if return_scalar else numpy.asarray(array)  # what NumPy computes is in memory of its own


class _InterfaceOf:
    """The device's side of a mapped array."""

    def __init__(self, array: MappedArray) -> None:
        self._array = array
        interface = array.__array_interface__
        own = {name: interface[name] for name in ("shape", "typestr", "data", "strides")}
        self.__cuda_array_interface__ = own | {"version": 3}


def mapped_array(
    shape, dtype=numpy.float64, strides=None, order: str = "C", stream=0, portable: bool = False, wc: bool = False
) -> MappedArray:
    """A NumPy array in page-locked memory that a GPU reads and writes in place, over the link; nothing is copied.

    as_cuda_array() gives it to kernels. What they have written is there after synchronize(). Without a GPU it is an
    array in ordinary memory. `portable` and `wc` are for Numba's callers: such memory is always portable, and never
    write-combined.
    Raises ValueError for another order than 'C' and 'F', and for strides that are not of the order.
    """
    _check_order("mapped_array", order)
    if numpy.dtype(dtype).hasobject:
        raise TypeError(f"mapped_array: an array of a device has numbers, not {numpy.dtype(dtype)}")
    made = pinned_array(shape, dtype, order=order).view(MappedArray)
    _check_strides("mapped_array", strides, order, made.strides)
    return made


def mapped_array_like(ary, stream=0, portable: bool = False, wc: bool = False) -> MappedArray:
    """A mapped array of the shape, dtype and order of another array."""
    ary = ary if isinstance(ary, ndarray) else numpy.asarray(ary)
    return mapped_array(ary.shape, ary.dtype, order=order_of(ary))


def is_cuda_array(obj) -> bool:
    """Whether an object is an array of a device: Iruka's, a mapped one, or one with `__cuda_array_interface__`."""
    return isinstance(obj, (ndarray, MappedArray)) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync: bool = True) -> ndarray:
    """An array over the memory of an array of Iruka, or of an object with `__cuda_array_interface__`.

    Raises TypeError for another object.
    """
    if not is_cuda_array(obj):
        raise TypeError(
            f"as_cuda_array: a {type(obj).__name__} does not implement the cuda array interface; to_device() copies it"
        )
    if isinstance(obj, MappedArray) and _core.cuda_is_available():
        return _core.as_array(_InterfaceOf(obj))
    return _core.as_array(obj)


def stream() -> Stream:
    """A new stream of the current GPU; without a GPU the CPU's."""
    return Stream() if _core.cuda_is_available() else Stream.null


def default_stream() -> Stream:
    """The stream of launches that name none."""
    return Stream.null


def event(timing: bool = True) -> Event:
    """A new event of the current GPU; timing=False is for one that only orders streams."""
    return Event(disable_timing=not timing)


def synchronize() -> None:
    """Waits for all work of the current GPU."""
    _core.default_device().synchronize()
