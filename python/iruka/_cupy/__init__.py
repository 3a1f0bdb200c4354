"""Functions that CuPy has and NumPy lacks, and older names of NumPy that CuPy keeps."""

from __future__ import annotations

import functools
import sys

import numpy

from .. import _core
from .._core import ElementwiseKernel, ndarray
from .._functions import elementwise
from .._numpy.conversion import _array, asarray
from .._numpy.sets import isin
from .._numpy.sorting import sort
from ..errors import TypeError

_rsqrt = ElementwiseKernel("T x", "T y", "y = T(1) / sqrt(x)", "rsqrt")


def scatter_add(a: ndarray, slices, value) -> None:
    """a[slices] += value, where repeated indices add up: iruka.add.at.

    >>> a = iruka.zeros(3)
    >>> iruka.scatter_add(a, iruka.array([0, 2, 0]), 1)
    >>> a
    array([2., 0., 1.])
    """
    elementwise["add"].at(a, slices, value)


def scatter_max(a: ndarray, slices, value) -> None:
    """a[slices] = maximum(a[slices], value), index after index: iruka.maximum.at."""
    elementwise["maximum"].at(a, slices, value)


def scatter_min(a: ndarray, slices, value) -> None:
    """a[slices] = minimum(a[slices], value), index after index: iruka.minimum.at."""
    elementwise["minimum"].at(a, slices, value)


def rsqrt(x) -> ndarray:
    """1 / sqrt(x); integers are computed in float64. Raises TypeError for complex numbers."""
    x = _array(x)
    if x.dtype.kind == "c":
        raise TypeError(f"rsqrt: {x.dtype} is not supported; use x ** -0.5")
    return _rsqrt(x.astype("float64") if x.dtype.kind in "biu" else x)


def byte_bounds(a) -> tuple[int, int]:
    """The addresses of an array's first byte in memory and of the one behind its last."""
    a = _array(a)
    reaches = [(extent - 1) * stride for extent, stride in zip(a.shape, a.strides)] if a.size else []
    low = a._address + sum(reach for reach in reaches if reach < 0)
    return low, a._address + sum(reach for reach in reaches if reach > 0) + (a.itemsize if a.size else 0)


def is_available() -> bool:
    """Whether a GPU can be used; never raises."""
    return _core.cuda_is_available()


_memos: list[dict] = []


def memoize(for_each_device: bool = False):
    """A decorator: the function's result is kept for each set of (hashable) arguments, and for each default device.

    clear_memo() forgets all results.
    """

    def decorate(function):
        memo: dict = {}
        _memos.append(memo)

        @functools.wraps(function)
        def remembered(*args, **kwargs):
            device = _core.default_device().name if for_each_device else None
            key = (device, args, frozenset(kwargs.items()))
            if key not in memo:
                memo[key] = function(*args, **kwargs)
            return memo[key]

        return remembered

    return decorate


def clear_memo() -> None:
    """Forgets the results of all functions that memoize decorates."""
    for memo in _memos:
        memo.clear()


def _configuration() -> dict[str, object]:
    import platform

    from .. import cuda

    found = {
        "Iruka": sys.modules["iruka"].__version__,
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "Platform": platform.platform(),
        "Threads": _core.get_num_threads(),
        "Cache of kernels": _core.cache_directory() or "none",
        "Default device": _core.default_device().name,
    }
    if not cuda.is_available():
        return found | {"GPUs": f"none: {cuda.unavailable_reason()}"}
    found["CUDA's driver"] = cuda.runtime.driverGetVersion()
    for number in range(cuda.runtime.getDeviceCount()):
        properties = cuda.runtime.getDeviceProperties(number)
        capability = cuda.Device(number).compute_capability
        found[f"cuda:{number}"] = f"{properties['name'].decode()}, compute capability {capability}"
    return found


def show_config() -> None:
    """Prints versions, threads, folders and devices to standard output."""
    found = _configuration()
    width = max(map(len, found))
    print("\n".join(f"{name:{width}} : {value}" for name, value in found.items()))


# Names that NumPy 2 has dropped.


def in1d(ar1, ar2, assume_unique: bool = False, invert: bool = False) -> ndarray:
    """isin of the flattened array."""
    return isin(_array(ar1).ravel(), ar2, assume_unique, invert)


def msort(a) -> ndarray:
    """sort along the first axis."""
    return sort(a, axis=0)


def asfarray(a, dtype=numpy.float64) -> ndarray:
    """asarray with a floating-point or complex dtype: float64 in place of another."""
    dtype = _core.dtype_of(dtype)
    return asarray(a, dtype if dtype.kind in "fcV" else numpy.float64)
