"""Arrays written as an index: mgrid, ogrid, r_, c_; and loops over indices."""

from __future__ import annotations

import builtins
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import ValueError
from .conversion import asarray
from .creation import arange, linspace
from .shapes import concatenate


def _is_backwards(axis: slice) -> bool:
    """Whether a range of an mgrid ends before it begins."""
    step = 1 if axis.step is None else axis.step
    return not isinstance(step, complex) and (axis.stop - (axis.start or 0)) / step <= -1


class _Grid:
    """mgrid[a:b:c, ...] and ogrid[...]: evenly spaced values along each axis; an imaginary step is a count.

    mgrid is dense, of shape (ndim, *extents); ogrid gives a tuple of arrays that broadcast to that.

        >>> iruka.ogrid[0:2, 0:1:3j]
        (array([[0.],
               [1.]]), array([[0. , 0.5, 1. ]]))
    """

    def __init__(self, sparse: bool):
        self.sparse = sparse

    def __getitem__(self, key):
        axes = numpy.ogrid[key]  # the arrays of single axes are small
        if isinstance(axes, numpy.ndarray):
            return asarray(axes)
        if self.sparse:
            return tuple(map(asarray, axes))
        if any(map(_is_backwards, key)):
            raise ValueError(f"mgrid: negative dimensions are not allowed, as in {key}")
        shape = numpy.broadcast_shapes(*(axis.shape for axis in axes))
        result = _core.empty((len(axes), *shape), numpy.result_type(*axes))
        for number, axis in enumerate(axes):
            result[number] = asarray(axis)
        return result

    def __len__(self) -> int:
        return 0


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)


class _Concatenator:
    """r_[...] joins slices, scalars and arrays along an axis; a first string 'axis,ndim,place' says how.

    start:stop:step is arange, start:stop:countj is linspace. c_ joins columns: r_['-1,2,0', ...].

        >>> iruka.r_[1:3, 7, [8, 9]]
        array([1, 2, 7, 8, 9])
    """

    def __init__(self, axis: int = 0, ndmin: int = 1, trans1d: int = -1):
        self.axis, self.ndmin, self.trans1d = axis, ndmin, trans1d

    def __getitem__(self, key) -> ndarray:
        parts = key if isinstance(key, tuple) else (key,)
        axis, ndmin, place = self.axis, self.ndmin, self.trans1d
        if parts and isinstance(parts[0], str):
            axis, ndmin, place = self._directive(parts[0])
            parts = parts[1:]
        if any(isinstance(part, str) for part in parts):
            raise ValueError("special directives must be the first entry.")
        weak = [part for part in parts if type(part) in (bool, int, float, complex)]
        arrays = [self._part(part, ndmin, place) for part in parts]
        dtype = _core.result_type(*weak, *(a for a, part in zip(arrays, parts) if not any(part is w for w in weak)))
        return concatenate([a.astype(dtype, copy=False) for a in arrays], axis)

    def _directive(self, text: str) -> tuple[int, int, int]:
        if text in ("r", "c"):
            raise ValueError("r_: matrices ('r', 'c') are not supported; arrays have any number of axes")
        values = [self.axis, self.ndmin, self.trans1d]
        try:
            given = [int(value) for value in text.split(",")]
            values[: len(given)] = given
        except builtins.ValueError as error:
            raise ValueError(f"unknown special directive {text!r}") from error
        if len(values) != 3:
            raise ValueError(f"unknown special directive {text!r}")
        return values[0], values[1], values[2]

    @staticmethod
    def _part(part: Any, ndmin: int, place: int) -> ndarray:
        """One entry as an array of at least ndmin axes; its own begin at `place`."""
        if isinstance(part, slice):
            start, step = part.start or 0, 1 if part.step is None else part.step
            if isinstance(step, (complex, numpy.complexfloating)):
                a = linspace(start, part.stop, int(numpy.abs(step)))
            else:
                a = arange(start, part.stop, step)
            ndim = 1
        else:
            a = part if isinstance(part, ndarray) else asarray(part)
            ndim = a.ndim
        if ndim >= ndmin:
            return a
        missing = ndmin - ndim
        if isinstance(part, slice) or ndim > 0:
            first = place if place >= 0 else place + missing + 1
            first = min(max(first, 0), missing)
        else:
            first = missing
        return a.reshape((1,) * first + a.shape + (1,) * (missing - first))

    def __len__(self) -> int:
        return 0


r_ = _Concatenator()
c_ = _Concatenator(-1, 2, 0)


class ndenumerate:
    """Pairs of an index and its element, in C order: for index, value in ndenumerate(a)."""

    def __init__(self, arr):
        arr = arr if isinstance(arr, ndarray) else asarray(arr)
        self._pairs = zip(numpy.ndindex(arr.shape), arr.get().ravel())

    def __next__(self):
        return next(self._pairs)

    def __iter__(self):
        return self
