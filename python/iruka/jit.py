"""Kernels for the threads of a GPU, written in Python: CuPy's jit.rawkernel, on GPUs and on the CPU.

The other names stand for what a thread finds in CUDA; they have a meaning only in a function under @rawkernel.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import sys
import threading
import types
from typing import Any

from ._core import RawKernel
from ._numba_names import JIT_IS_A_MODULE
from ._public_names import dir_of as _dir_of
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
    cg,
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


def rawkernel(function: Any = None, *, mode: str = "cuda", device: bool = False) -> Any:
    """A decorator, with parentheses or without: a kernel of a Python function that says what one thread does.

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
    if function is None:
        return lambda function: JitRawKernel(checked_function("rawkernel", function), mode, bool(device))
    return JitRawKernel(checked_function("rawkernel", function), mode, bool(device))


class JitRawKernel(ThreadFunction):
    """What iruka.jit.rawkernel makes. `function` is the Python function.

    kernel(grid, block, args, *, shared_mem=0, stream=None) launches over a grid of blocks of threads, each an int or up
    to three; kernel[grid, block](*args) is the same, as in Numba. The arguments are arrays and numbers. Arrays need not
    be contiguous. `shared_mem` is the number of bytes of shared memory of each block whose size is None. Raises
    TypeError, ValueError, and what RawKernel raises.
    """

    kind = "jit kernel"
    __name__: str
    __repr__, __eq__, __hash__ = FunctionValue.__repr__, FunctionValue.__eq__, FunctionValue.__hash__
    __copy__, __deepcopy__ = FunctionValue.__copy__, FunctionValue.__deepcopy__
    __reduce__, __dir__ = FunctionValue.__reduce__, FunctionValue.__dir__
    _public = ("cached_code", "cached_codes", "function", "is_device", "mode")

    def __init__(self, function: types.FunctionType, mode: str = "cuda", device: bool = False):
        count = function.__code__.co_argcount
        super().__init__(function.__name__, count, halves_floats=mode == "cuda", is_device=device)
        functools.update_wrapper(self, function)
        self.function, self.mode, self.is_device = function, mode, device
        self._made_of = (function, mode, device)
        self._kernels: dict[tuple[tuple, bool], RawKernel] = {}
        self._lock = threading.Lock()

    def _iruka_in_kernel_(self, arguments: list[Any]) -> tuple[Any, tuple | None, tuple | None]:
        if not self.is_device:
            raise TypeError(
                f"{self.__name__}() is a kernel, which is launched from outside; what kernels call is made by "
                "jit.rawkernel(device=True)"
            )
        return self.function, None, None

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """The C++ of each combination of types that was called."""
        return {
            types: str(kernel.code) for (types, _), kernel in sorted(self._kernels.items(), key=lambda item: item[0][1])
        }

    @property
    def cached_code(self) -> str:
        """The C++ of the first of them."""
        if not self._kernels:
            raise ValueError(f"{self.__name__} has no C++ before it is called")
        return next(iter(self.cached_codes.values()))

    def _made(self, types: tuple, has_small_grid: bool) -> RawKernel:
        """The kernel for arguments of these types, as ThreadDispatcher describes them."""
        from ._translate.number_types import C_TYPES, ArrayView, Number
        from ._translate.threads import translate_kernel

        types_: list[Number | ArrayView] = []
        for k, (dtype, *rest) in enumerate(types):
            if dtype.name not in C_TYPES:
                raise TypeError(f"{self.__name__}(): the dtype {dtype} has no place in a rawkernel")
            if not rest:
                types_.append(Number(dtype))
                continue
            ndim, is_writable, is_contiguous, is_small = rest
            axes = tuple(f"{k} {axis}" for axis in builtins.range(ndim))
            types_.append(ArrayView(dtype, ndim, is_writable, is_contiguous, axes, is_small))
        name = f"jit_{kernel_name(self.__name__)}"
        with self._lock:
            key = types, has_small_grid
            if key not in self._kernels:
                code = translate_kernel(self.function, name, types_, self.mode, has_small_grid)
                self._kernels[key] = RawKernel(code, name)
            return self._kernels[key]


class _Module(types.ModuleType):
    """iruka.jit, whose name is a decorator of Numba's."""

    def __call__(self, *args, **kwargs):
        raise TypeError(JIT_IS_A_MODULE)

    def __reduce__(self):
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Module


def __getattr__(name):
    from ._cupy.alternatives import find

    return find("iruka.jit", name)


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
    "cg",
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


__dir__ = _dir_of(globals())
