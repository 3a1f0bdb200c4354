"""Functions applied to elements, along axes or over grids of indices, and broadcasting as an object."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from .._nn.model import Model
from .._nn.module import Module
from ..errors import CompileError, TranslationError, TypeError, ValueError
from .conversion import _array, asarray
from .elementwise import _from_host, _to_host
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
    first result's dtype and shape are those of all. A module or model of iruka.nn gives what its map() gives. Raises
    ValueError where another axis has no extent.

    >>> iruka.apply_along_axis(lambda row: row - row.min(), 1, [[5, 7], [2, 1]])
    array([[0, 2],
           [1, 0]])
    """
    arr = _array(arr)
    axis = _axes("apply_along_axis", operator.index(axis), arr.ndim)[0]
    slices = moveaxis(arr, axis, -1)
    outer = slices.shape[:-1]
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    if isinstance(func1d, (Module, Model)):
        if args or kwargs:
            raise TypeError("apply_along_axis: a network of iruka.nn takes no arguments besides the slice")
        return func1d.map(arr, axis)
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


class frompyfunc:
    """A Python function of scalars as a function of arrays.

    frompyfunc(func, nin, nout, identity=None). Inputs broadcast. A function of floats and bools with results of these
    types becomes a kernel, as by `vectorize`, where it has one: see docs/python_functions.md for what differs, such as
    division by zero, which gives infinity or NaN. All others are called element by element on the host: integers are
    Python's, and results have the dtype that numpy.array gives them. Raises TypeError for results that are no numbers.

    >>> iruka.frompyfunc(lambda x, y: x + 2 * y, 2, 1)(iruka.arange(3), 1)
    array([2, 3, 4])
    """

    def __init__(self, func, /, nin: int, nout: int, *, identity=None):
        self._function = numpy.frompyfunc(func, nin, nout, identity=identity)
        self._source = func
        self._kernel: Any = None
        self._has_kernel: dict[tuple, bool] = {}  # by the dtypes of the inputs
        self.nin, self.nout, self.nargs, self.identity = nin, nout, nin + nout, identity
        self.__name__ = getattr(func, "__name__", "?")
        self.__doc__ = getattr(func, "__doc__", None)

    def __call__(self, *inputs):
        made = self._by_kernel(inputs)
        return made if made is not None else _from_host(self._function(*map(_to_host, inputs)), self.__name__)

    def _by_kernel(self, inputs: tuple) -> Any:
        """The results by a kernel; None where there is none."""
        is_array = [isinstance(each, (ndarray, numpy.ndarray)) and each.dtype.kind in "fbV" for each in inputs]
        is_number = [isinstance(each, (float, bool)) for each in inputs]
        if (
            not isinstance(self._source, FunctionType)
            or len(inputs) != self.nin
            or not any(is_array)
            or not all(map(operator.or_, is_array, is_number))
        ):
            return None
        kinds = [numpy.dtype(getattr(each, "dtype", type(each))).kind for each in inputs]
        dtypes = tuple("bool" if kind == "b" else "float64" for kind in kinds)
        if not self._has_kernel.get(dtypes, True):
            return None
        from .._vectorize import vectorize  # loaded on first use

        if self._kernel is None or not self._kernel.is_current():
            self._has_kernel.clear()
            decorated: Any = vectorize(target="cpu")
            self._kernel = decorated(self._source)
        try:
            made = self._kernel(*(asarray(each).astype(dtype) for each, dtype in zip(inputs, dtypes)))
        except (TranslationError, CompileError):
            made = None
        results = made if isinstance(made, tuple) else (made,)
        self._has_kernel[dtypes] = (
            made is not None and len(results) == self.nout and all(each.dtype.kind in "fb" for each in results)
        )
        return made if self._has_kernel[dtypes] else None

    def __dir__(self):
        return [name for name in super().__dir__() if name.startswith("__") or not name.startswith("_")]

    def __repr__(self):
        return f"<ufunc '{self.__name__} (vectorized)'>"


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
