"""Random arrays with NumPy's and CuPy's signatures, from a Philox counter: one seed, one sequence, on every device.

size=None gives a 0-d array, as CuPy does.
"""

from __future__ import annotations

import os

from . import _core
from ._core import ndarray
from .errors import ShapeError, ValueError

_generator = _core._random


def _shape(size):
    return () if size is None else size


def _is_number(value) -> bool:
    return not getattr(value, "ndim", 0) and not isinstance(value, (list, tuple))


def seed(seed: int | None = None) -> None:
    """Restarts the stream; from the system's entropy without a seed."""
    _generator.seed(int.from_bytes(os.urandom(7), "little") if seed is None else seed)


def random(size=None, dtype=float) -> ndarray:
    """Uniform in [0, 1)."""
    return _generator.random(_shape(size), dtype)


random_sample = ranf = sample = random


def rand(*size: int, dtype=float) -> ndarray:
    """Uniform in [0, 1), with extents as arguments."""
    return _generator.random(size, dtype)


def randn(*size: int, dtype=float) -> ndarray:
    """Standard normal, with extents as arguments."""
    return _generator.normal(0.0, 1.0, size, dtype)


def standard_normal(size=None, dtype=float) -> ndarray:
    """Standard normal."""
    return _generator.normal(0.0, 1.0, _shape(size), dtype)


def randint(low: int, high: int | None = None, size=None, dtype=int) -> ndarray:
    """Integers in [low, high), or [0, low) without high. Raises ValueError when that is empty."""
    if high is None:
        low, high = 0, low
    return _generator.randint(low, high, _shape(size), dtype)


def _broadcast_size(size, *parameters):
    """The result's shape when parameters are arrays: theirs, which must broadcast to `size` when that is given."""
    shapes = [getattr(p, "shape", ()) for p in parameters]
    shape = _core.broadcast_shapes(*shapes)
    if size is None:
        return shape
    full = (size,) if hasattr(size, "__index__") else tuple(size)
    if _core.broadcast_shapes(shape, full) != full:
        raise ShapeError(f"size {full} is not what parameters of shape {shape} broadcast to")
    return full


def normal(loc=0.0, scale=1.0, size=None, dtype=float) -> ndarray:
    """Normal with mean loc and standard deviation scale, which may be arrays. Raises ValueError for a negative scale."""
    if _is_number(loc) and _is_number(scale):
        return _generator.normal(float(loc), float(scale), _shape(size), dtype)
    loc, scale = _core.as_array(loc), _core.as_array(scale)
    if bool((scale < 0).any()):
        raise ValueError("normal: scale must not be negative")
    values = _generator.normal(0.0, 1.0, _broadcast_size(size, loc, scale), dtype)
    return (values * scale + loc).astype(dtype, copy=False)


def uniform(low=0.0, high=1.0, size=None, dtype=float) -> ndarray:
    """Uniform in [low, high), which may be arrays."""
    if _is_number(low) and _is_number(high):
        return _generator.uniform(float(low), float(high), _shape(size), dtype)
    low, high = _core.as_array(low), _core.as_array(high)
    values = _generator.random(_broadcast_size(size, low, high), dtype)
    return (values * (high - low) + low).astype(dtype, copy=False)
