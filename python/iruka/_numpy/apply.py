"""Functions applied along axes or over grids of indices, and broadcasting as an object."""

from __future__ import annotations

from collections.abc import Iterator

import numpy

from .. import _core
from .._core import ndarray
from ..errors import ValueError
from .conversion import _array
from .indexing import indices
from .shapes import _axes, broadcast_arrays, expand_dims, moveaxis


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """function(*indices(shape, dtype), **kwargs): called once, with one array of coordinates an axis.

    >>> iruka.fromfunction(lambda i, j: i + j, (2, 3), dtype=int)
    array([[0, 1, 2],
           [1, 2, 3]])
    """
    return function(*indices(shape, dtype=dtype), **kwargs)


def apply_along_axis(func1d, axis: int, arr, *args, **kwargs) -> ndarray:
    """func1d(slice, *args, **kwargs) for each 1-d slice along an axis, whose place the results' axes take.

    func1d is called a few times, on an array that behaves as a slice and holds all of them, and on the first and the
    last slice, which check it; a function of single numbers becomes a kernel. What has side effects, draws random
    numbers or does something else for each slice is called for one slice after another, and a UserWarning says why. The
    first result's dtype and shape are those of all. Raises ValueError where another axis has no extent.

    >>> iruka.apply_along_axis(lambda row: row - row.min(), 1, [[5, 7], [2, 1]])
    array([[0, 2],
           [1, 0]])
    """
    arr = _array(arr)
    axis = _axes("apply_along_axis", axis, arr.ndim)[0]
    slices = moveaxis(arr, axis, -1)
    outer = slices.shape[:-1]
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    from .._batched import along_axis  # loaded on first use

    result = along_axis(func1d, slices, args, kwargs)
    inner = result.ndim - len(outer)
    return moveaxis(result, tuple(range(len(outer), result.ndim)), tuple(range(axis, axis + inner)))


def apply_over_axes(func, a, axes) -> ndarray:
    """func(func(a, axes[0]), axes[1]) and so on; where func drops its axis, one of extent 1 takes the place.

    Raises ValueError where func gives neither that many axes nor one less.
    """
    result = _array(a)
    ndim = result.ndim
    for axis in axes if hasattr(axes, "__len__") else (axes,):
        axis = axis + ndim if axis < 0 else axis
        made = _array(func(result, axis))
        result = made if made.ndim == ndim else expand_dims(made, axis)
        if result.ndim != ndim:
            raise ValueError("function is not returning an array of the correct shape")
    return result


class broadcast:
    """What arrays broadcast to: shape, ndim (nd), size, and `values`, read-only views of the arrays in that shape.

    Iterating gives a tuple of elements for each place, in C order. Raises ValueError where shapes do not broadcast.

    >>> iruka.broadcast(iruka.ones((3, 1)), iruka.ones(2)).shape
    (3, 2)
    """

    def __init__(self, *arrays):
        parts = [part for a in arrays for part in (a.values if isinstance(a, broadcast) else (_array(a),))]
        self.values: tuple[ndarray, ...] = tuple(broadcast_arrays(*parts))
        self.shape = self.values[0].shape if parts else ()
        self.ndim = self.nd = len(self.shape)
        self.size = int(numpy.prod(self.shape, dtype=int))
        self.numiter = len(self.values)
        self.reset()

    @property
    def iters(self) -> tuple:
        """One flat iterator an array."""
        return tuple(value.flat for value in self.values)

    def reset(self) -> None:
        """Begins the iteration again."""
        self.index = 0
        self._elements: Iterator[tuple] | None = None

    def __iter__(self):
        return self

    def __next__(self) -> tuple:
        if self._elements is None:
            self._elements = zip(*(_core.asnumpy(value).ravel() for value in self.values))
        elements = next(self._elements)
        self.index += 1
        return elements
