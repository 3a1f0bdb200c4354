"""What iruka.ndarray does with its bytes: resizing, byte order, files, and updates at repeated indices."""

from __future__ import annotations

import math
import operator
import os
import pickle

from .. import _core
from .._core import ElementwiseKernel, ndarray
from .._functions import elementwise
from ..errors import ValueError

_swap = ElementwiseKernel(
    "T x", "T y",
    """
    T swapped = 0;
    for (int byte = 0; byte < int(sizeof(T)); ++byte) swapped = T(swapped << 8) | T(T(x >> (8 * byte)) & T(255));
    y = swapped
    """,
    "byteswap",
)  # fmt: skip


def ctypes_of(x: ndarray):
    """NumPy's ctypes object over the same memory."""
    if x.device.name != "cpu":
        raise AttributeError(
            f"ctypes: the array is on {x.device.name}, whose memory ctypes cannot read; see x.data.ptr"
        )
    return _core.numpy_view(x).ctypes


def _order_of(x: ndarray) -> str:
    c_order, f_order, writeable, _ = x._layout
    if not (c_order or f_order):
        raise ValueError("resize only works on single-segment arrays")
    if not writeable:
        raise ValueError("resize: the array is read-only")
    return "C" if c_order else "F"


def resized(x: ndarray, shape: tuple, is_shared: bool) -> ndarray | None:
    """What x.resize(shape) makes of x; None where nothing changes."""
    if len(shape) == 1 and shape[0] is None or not shape:
        return None
    shape = tuple(map(operator.index, shape[0] if hasattr(shape[0], "__len__") else shape))
    if any(extent < 0 for extent in shape):
        raise ValueError(f"resize: all elements of 'new_shape' must be non-negative, not {shape}")
    order = _order_of(x)
    extents = shape if order == "C" else shape[::-1]
    if math.prod(shape) == x.size:
        made = x.ravel(order).reshape(extents)
        return made if order == "C" else made.T
    if is_shared:
        raise ValueError(
            "cannot resize an array that references or is referenced\nby another array in this way.\n"
            "Use the iruka.resize function or refcheck=False."
        )
    with x.device:
        made = _core.zeros(extents, x.dtype)
    count = min(made.size, x.size)
    made.ravel()[:count] = x.ravel(order)[:count]
    return made if order == "C" else made.T


def byteswap(x: ndarray, inplace: bool) -> ndarray:
    size = x.itemsize // (2 if x.dtype.kind == "c" else 1)
    swapped = x.copy()
    if size > 1 and x.size:
        words = swapped.reshape(-1).view(f"uint{8 * size}")
        _swap(words, words)
    if not inplace:
        return swapped
    x[...] = swapped
    return x


def tofile(x: ndarray, fid, sep: str, format: str) -> None:
    _core.numpy_view(x).tofile(fid, sep, format)


def dump(x: ndarray, file) -> None:
    if hasattr(file, "write"):
        pickle.dump(x, file)
        return
    with open(os.fspath(file), "wb") as stream:
        pickle.dump(x, stream)


def dumps(x: ndarray) -> bytes:
    return pickle.dumps(x)


def scatter(function: str, x: ndarray, slices, value) -> None:
    elementwise[function].at(x, slices, value)
