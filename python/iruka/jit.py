"""Kernels for the threads of a GPU, written in Python: CuPy's jit.rawkernel, on GPUs and on the CPU.

The other names stand for what a thread finds in CUDA; they have a meaning only in a function under @rawkernel.
"""

from __future__ import annotations

import functools
import threading
import types
from typing import Any

import numpy

from ._core import RawKernel, ndarray
from ._numpy.conversion import asarray
from ._python_kernels import FunctionValue, checked_function, kernel_name
from ._thread_names import (
    ThreadFunction,
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_dec,
    atomic_exch,
    atomic_inc,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_sub,
    atomic_xor,
    blockDim,
    blockIdx,
    cub,
    grid,
    gridDim,
    gridsize,
    laneid,
    range,
    shared_memory,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncwarp,
    threadIdx,
    thrust,
    warpsize,
)
from .errors import TypeError, ValueError


def rawkernel(*, mode: str = "cuda", device: bool = False) -> Any:
    """A decorator: a kernel of a Python function that says what one thread does.

    The function is translated to CUDA C++ for each combination of the arguments' types, and runs on the device of the
    arrays; see docs/jit.md. With device=True it is a function that kernels call. `mode` "cuda" computes floats of the
    text in float32 and an integer with a float in the float's type; "numpy" in float64 and by NumPy's rules. Raises
    TranslationError for what has no place in a kernel, at the first call.

        >>> @iruka.jit.rawkernel()
        ... def copy(x, y):
        ...     k = iruka.jit.grid(1)
        ...     if k < x.size:
        ...         y[k] = x[k]
        >>> copy[4, 128](iruka.arange(500), iruka.empty(500, int))
    """
    if mode not in ("cuda", "numpy"):
        raise ValueError(f"rawkernel: mode must be 'cuda' or 'numpy', not {mode!r}")
    return lambda function: JitRawKernel(checked_function("rawkernel", function), mode, bool(device))


class JitRawKernel(FunctionValue, ThreadFunction):
    """What iruka.jit.rawkernel makes. `function` is the Python function."""

    kind = "jit kernel"
    __name__: str

    def __init__(self, function: types.FunctionType, mode: str = "cuda", device: bool = False):
        functools.update_wrapper(self, function)
        self.function, self.mode, self.is_device = function, mode, device
        self._made_of = (function, mode, device)
        self._kernels: dict[tuple, RawKernel] = {}
        self._lock = threading.Lock()

    def __call__(self, grid: Any, block: Any, args: tuple, shared_mem: int = 0, stream: Any = None) -> None:
        """Launches the kernel over a grid of blocks of threads, each an int or up to three.

        The arguments are arrays and numbers. Arrays need not be contiguous. `shared_mem` is the number of bytes of
        shared memory of each block whose size is None. Raises TypeError, ValueError, and what RawKernel raises.
        """
        if self.is_device:
            raise TypeError(f"{self.__name__}() is a function that kernels call (device=True), no kernel")
        if not isinstance(args, (tuple, list)):
            raise TypeError(f"{self.__name__}(): the arguments must be a tuple, not {type(args).__name__}")
        if len(args) != (count := self.function.__code__.co_argcount):
            raise TypeError(f"{self.__name__}() takes {count} arguments, not {len(args)}")
        given: list[Any] = []
        key = tuple([self._added(argument, given) for argument in args])
        kernel = self._kernels.get(key) or self._made(key)
        kernel(grid, block, tuple(given), shared_mem=shared_mem, stream=stream)

    def __getitem__(self, grid_and_block: Any) -> Any:
        """kernel[grid, block](*arguments), as in Numba."""
        if not isinstance(grid_and_block, tuple) or len(grid_and_block) != 2:
            raise TypeError(f"{self.__name__}[grid, block]: two are needed, not {grid_and_block!r}")
        return lambda *arguments: self(*grid_and_block, arguments)

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """The C++ of each combination of types that was called."""
        return {key: str(kernel.code) for key, kernel in self._kernels.items()}

    @property
    def cached_code(self) -> str:
        """The C++ of the first of them."""
        if not self._kernels:
            raise ValueError(f"{self.__name__} has no C++ before it is called")
        return next(iter(self.cached_codes.values()))

    def _added(self, argument: Any, given: list[Any]) -> tuple:
        """The type of an argument: a dtype, and of arrays the axes and whether they may be written and are contiguous.

        Adds the arguments of the C++ kernel to `given`.
        """
        if isinstance(argument, (bool, int, float, complex, numpy.generic)):
            given.append(argument)
            return (self._dtype_of_number(argument),)
        if not isinstance(argument, (ndarray, numpy.ndarray)):
            argument = self._array(argument)
        given.append(argument)
        if (ndim := argument.ndim) == 0:
            return (argument.dtype,)
        given += argument.shape
        flags = argument.flags
        if not (is_contiguous := flags.c_contiguous):
            given += argument.strides
        return argument.dtype, ndim, flags.writeable, is_contiguous

    def _array(self, argument: Any) -> ndarray:
        if not any(hasattr(argument, each) for each in ("__cuda_array_interface__", "__dlpack__")):
            raise TypeError(f"{self.__name__}() takes arrays and numbers, not {type(argument).__name__}")
        return asarray(argument)

    def _dtype_of_number(self, value: Any) -> numpy.dtype:
        if isinstance(value, numpy.generic):
            return value.dtype
        if isinstance(value, (float, complex)):
            wide = numpy.dtype(float if isinstance(value, float) else complex)
            return wide if self.mode == "numpy" else numpy.dtype(f"{wide.kind}{wide.itemsize // 2}")
        return numpy.dtype(bool if isinstance(value, bool) else "int64" if value < 2**63 else "uint64")

    def _made(self, key: tuple) -> RawKernel:
        from ._translate.number_types import C_TYPES, ArrayView, Number
        from ._translate.threads import translate_kernel

        types_: list[Any] = []
        for dtype, *axes in key:
            if dtype.name not in C_TYPES:
                raise TypeError(f"{self.__name__}(): the dtype {dtype} has no place in a rawkernel")
            if axes:
                types_.append((ArrayView(dtype, axes[0], axes[1]), axes[2]))
            else:
                types_.append((Number(dtype), True))
        name = f"jit_{kernel_name(self.__name__)}"
        with self._lock:
            if key not in self._kernels:
                self._kernels[key] = RawKernel(translate_kernel(self.function, name, types_, self.mode), name)
            return self._kernels[key]


__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_dec",
    "atomic_exch",
    "atomic_inc",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "blockDim",
    "blockIdx",
    "cub",
    "grid",
    "gridDim",
    "gridsize",
    "laneid",
    "range",
    "rawkernel",
    "shared_memory",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "syncthreads",
    "syncwarp",
    "threadIdx",
    "thrust",
    "warpsize",
]
