"""DALI's random numbers. Each is drawn from the sample's own counter (seed, epoch, index)."""

from __future__ import annotations

import numpy as _np

from ...errors import ValueError
from ..checks import number, numbers as checked_numbers
from .nodes import DataNode, Operation, constant_of, function_node
from .operators import operator
from .types import UnsupportedError, dtype_of
from .values import converted

_SEEDED_PLACE = 1 << 30  # no node's own


class Drawing(Operation):
    """Numbers drawn by the core. As parameters of other operators they are used as they are; elsewhere in `dtype`."""

    def __init__(self, name: str, distribution: tuple, shape, seed, dtype):
        super().__init__(name, [], self._emit)
        self._distribution = distribution
        self._shape, self._seed, self._dtype = shape, seed, dtype

    def emit_number(self, lowering, inputs):
        if self not in lowering.drawn:
            operation = lowering.core.draw(self._distribution, self._shape, self._seed)
            # Operators that were given the same seed draw the same numbers.
            place = None if self._seed is None else _SEEDED_PLACE
            lowering.drawn[self] = [lowering.add(operation, [], place)]
        return lowering.drawn[self]

    def _emit(self, lowering, inputs):
        drawn = self.emit_number(lowering, inputs)
        if self._dtype == _np.dtype("float32"):
            return drawn
        return lowering.function(self.name, lambda x: converted(x, self._dtype), drawn)


def _drawn(name: str, distribution: tuple, shape, seed, dtype, like) -> DataNode:
    if like is not None:
        raise UnsupportedError(f"{name}: the shape of another value is not there; give shape=")
    extents = None
    if shape is not None:
        given = constant_of(shape, name)
        extents = tuple(int(each) for each in (given if _np.ndim(given) else [given]))
    number = None if seed is None or int(seed) < 0 else int(seed)
    return DataNode(Drawing(name, distribution, extents, number, dtype), dtype=dtype)


def _number(name: str, value) -> float:
    return number(constant_of(value, name), f"{name}: an argument")


@operator("random.uniform")
def uniform(shape_like=None, *, range=(-1.0, 1.0), values=None, shape=None, dtype=None, seed=None, device=None):
    """Numbers in [low, high), or of `values`, each as often as any other."""
    name = "random.uniform"
    dtype = dtype_of(dtype, name) or _np.dtype("float32")
    if values is not None:
        numbers = list(checked_numbers(constant_of(values, name), f"{name}: values"))
        return _drawn(name, ("choice", numbers, None), shape, seed, dtype, shape_like)
    if not isinstance(range, DataNode) and not (hasattr(range, "__len__") and len(range) == 2):
        raise ValueError(f"{name}: range is (low, high), not {range!r}")
    if isinstance(range, DataNode) or any(isinstance(each, DataNode) for each in range):
        unit = _drawn(name, ("uniform", 0.0, 1.0), shape, seed, _np.dtype("float32"), shape_like)
        low, high = range[0], range[1]
        return _as(unit * (high - low) + low, dtype)
    low, high = (_number(name, each) for each in range)
    if not low <= high:
        raise ValueError(f"{name}: range is (low, high), not {tuple(range)}")
    return _drawn(name, ("uniform", low, high), shape, seed, dtype, shape_like)


@operator("random.coin_flip")
def coin_flip(shape_like=None, *, probability=0.5, shape=None, dtype=None, seed=None, device=None):
    """1 with this probability, else 0; int32 by default."""
    name = "random.coin_flip"
    dtype = dtype_of(dtype, name) or _np.dtype("int32")
    if isinstance(probability, DataNode):
        unit = _drawn(name, ("uniform", 0.0, 1.0), shape, seed, _np.dtype("float32"), shape_like)
        return _as(unit < probability, dtype)
    return _drawn(name, ("bernoulli", _number(name, probability)), shape, seed, dtype, shape_like)


@operator("random.normal")
def normal(shape_like=None, *, mean=0.0, stddev=1.0, shape=None, dtype=None, seed=None, device=None):
    """Normally distributed numbers."""
    name = "random.normal"
    dtype = dtype_of(dtype, name) or _np.dtype("float32")
    if isinstance(mean, DataNode) or isinstance(stddev, DataNode):
        unit = _drawn(name, ("normal", 0.0, 1.0), shape, seed, _np.dtype("float32"), shape_like)
        return _as(unit * stddev + mean, dtype)
    return _drawn(name, ("normal", _number(name, mean), _number(name, stddev)), shape, seed, dtype, shape_like)


def _as(node: DataNode, dtype) -> DataNode:
    return function_node("cast", lambda x: converted(x, dtype), [node], dtype=dtype)
