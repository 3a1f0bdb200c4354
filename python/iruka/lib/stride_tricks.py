"""Views of an array's memory in other shapes and strides."""

from __future__ import annotations

from .._core import broadcast_shapes, ndarray
from .._numpy.conversion import asarray
from .._numpy.shapes import _axes, broadcast_arrays, broadcast_to
from ..errors import ValueError

__all__ = ["as_strided", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"]


def as_strided(x, shape=None, strides=None, subok: bool = False, writeable: bool = True) -> ndarray:
    """A view of the memory of x, from its first element, with any shape and strides (bytes); elements may share memory.

    Raises ValueError where the view would leave the memory that x lies in, or a stride splits elements.

    >>> iruka.lib.stride_tricks.as_strided(iruka.arange(5), (3, 3), (8, 8))
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]])
    """
    x = asarray(x)
    return x._as_strided(x.shape if shape is None else shape, x.strides if strides is None else strides, writeable)


def sliding_window_view(x, window_shape, axis=None, *, subok: bool = False, writeable: bool = False) -> ndarray:
    """Every window of x along axes (all of them without one), as new axes at the end; read-only unless `writeable`.

    An axis of n elements keeps n - window + 1 of them. Raises ValueError for a window that is negative, larger than its
    axis, or not one for each axis.
    """
    x = asarray(x)
    windows = tuple(window_shape) if isinstance(window_shape, (tuple, list)) else (window_shape,)
    axes = tuple(range(x.ndim)) if axis is None else _axes("sliding_window_view", axis, x.ndim, repeat=True)
    if len(windows) != len(axes):
        raise ValueError(
            f"sliding_window_view: window_shape {windows} must have one extent for each of the axes {axes}"
        )
    if any(extent < 0 for extent in windows):
        raise ValueError("`window_shape` cannot contain negative values")
    shape = list(x.shape)
    for a, extent in zip(axes, windows):
        if shape[a] < extent:
            raise ValueError(f"sliding_window_view: a window of {extent} is larger than axis {a} of shape {x.shape}")
        shape[a] -= extent - 1
    return x._as_strided((*shape, *windows), (*x.strides, *(x.strides[a] for a in axes)), writeable)
