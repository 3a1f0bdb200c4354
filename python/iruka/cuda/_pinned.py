"""Page-locked host memory, and NumPy arrays over it. Copies to and from a GPU run at the link's full speed."""

from __future__ import annotations

import math

import numpy

from .._core import PinnedMemory, dtype_of


def alloc_pinned_memory(size: int) -> PinnedMemory:
    """Page-locked memory of that many bytes, with the buffer protocol.

    >>> numpy.frombuffer(iruka.cuda.alloc_pinned_memory(1024), 'float32').size >= 256
    True
    """
    return PinnedMemory(size)


def empty_pinned(shape, dtype=float, order: str = "C") -> numpy.ndarray:
    """An uninitialised NumPy array in page-locked memory."""
    dtype = dtype_of(dtype)
    shape = (shape,) if numpy.ndim(shape) == 0 else tuple(shape)
    memory = PinnedMemory(math.prod(shape) * dtype.itemsize)
    return numpy.ndarray(shape, dtype, memory, order=order)  # type: ignore[arg-type]  # it has the buffer protocol


def zeros_pinned(shape, dtype=float, order: str = "C") -> numpy.ndarray:
    """A NumPy array of zeros in page-locked memory."""
    result = empty_pinned(shape, dtype, order)
    result[...] = 0
    return result


def order_of(a) -> str:
    """The order of an array's elements in memory: 'F', or 'C' also where it is neither."""
    return "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"


def _like(a, dtype, order, shape):
    if order in ("A", "K"):
        order = order_of(a)
    return (a.shape if shape is None else shape), (a.dtype if dtype is None else dtype), order


def empty_like_pinned(a, dtype=None, order: str = "K", subok=None, shape=None) -> numpy.ndarray:
    """An uninitialised NumPy array in page-locked memory, with the shape and dtype of another array."""
    return empty_pinned(*_like(a, dtype, order, shape))


def zeros_like_pinned(a, dtype=None, order: str = "K", subok=None, shape=None) -> numpy.ndarray:
    """A NumPy array of zeros in page-locked memory, with the shape and dtype of another array."""
    return zeros_pinned(*_like(a, dtype, order, shape))
