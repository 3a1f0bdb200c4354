"""The names that a function under jit.rawkernel has beside Python's: places of threads, shared memory, atomics."""

from __future__ import annotations

from typing import Any, NoReturn

from ._core import ThreadDispatcher
from .errors import TypeError

_ALL_LANES = 0xFFFFFFFF


class ThreadFunction(ThreadDispatcher):
    """A Python function for threads: `function`, and whether kernels call it."""

    __name__: str
    function: Any
    is_device: bool


class Coordinate:
    """A number that each thread has, such as threadIdx.x."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self):
        return f"<{self.name} of a thread>"


class Coordinates:
    """Three numbers of a thread: x, y and z."""

    x: Any  # which type checkers take for a number, as kernels do
    y: Any
    z: Any

    def __init__(self, name: str):
        self.x, self.y, self.z = (Coordinate(f"{name}.{axis}") for axis in "xyz")
        self._name = name

    def __repr__(self):
        return f"<{self._name} of a thread>"


class Absent:
    """A name of CuPy's that rawkernels do not have; `instead` says what to write."""

    def __init__(self, name: str, instead: str):
        self.name, self.instead = name, instead

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.name}.{name}", self.instead)

    def __getitem__(self, key: Any) -> Absent:
        return self

    def __repr__(self):
        return f"<{self.name}, which rawkernels do not have>"


threadIdx, blockIdx = Coordinates("threadIdx"), Coordinates("blockIdx")
blockDim, gridDim = Coordinates("blockDim"), Coordinates("gridDim")
warpsize = 32
cg = Absent(
    "cg",
    "a block waits in syncthreads(), a warp in syncwarp(); where the grid must wait, launch several kernels, or write "
    "an iruka.RawKernel with enable_cooperative_groups=True",
)
cub = Absent("cub", "write the block's reduction or scan with shared memory and shuffles, or call iruka.sum and cumsum")
thrust = Absent("thrust", "write a loop, or call iruka.sort, searchsorted and the like outside the kernel")


def _in_a_kernel(name: str) -> NoReturn:
    raise TypeError(f"jit.{name}() has a meaning only in a function under @jit.rawkernel")


def grid(ndim):
    """The thread's place in the grid: a number, or for ndim 2 and 3 a tuple."""
    _in_a_kernel("grid")


def gridsize(ndim):
    """The number of threads of the grid: a number, or for ndim 2 and 3 a tuple."""
    _in_a_kernel("gridsize")


def laneid():
    """The thread's place in its warp, from 0 to 31."""
    _in_a_kernel("laneid")


def range(start, stop=None, step=None, *, unroll=None):
    """Python's range for a loop that is unrolled: True for all of it, a number for so many steps, False for none."""
    _in_a_kernel("range")


def shared_memory(dtype, size, alignment=None):
    """A 1-d array that the threads of a block share; size None takes what `shared_mem` of the launch gives."""
    _in_a_kernel("shared_memory")


def syncthreads():
    """Waits for all threads of the block."""
    _in_a_kernel("syncthreads")


def syncwarp(*, mask=_ALL_LANES):
    """Waits for the threads of the warp that `mask` names."""
    _in_a_kernel("syncwarp")


def shfl_sync(mask, var, val_id, *, width=32):
    """The value of `var` of the lane val_id."""
    _in_a_kernel("shfl_sync")


def shfl_up_sync(mask, var, val_id, *, width=32):
    """The value of `var` of the lane val_id below this one; its own where there is none."""
    _in_a_kernel("shfl_up_sync")


def shfl_down_sync(mask, var, val_id, *, width=32):
    """The value of `var` of the lane val_id above this one; its own where there is none."""
    _in_a_kernel("shfl_down_sync")


def shfl_xor_sync(mask, var, val_id, *, width=32):
    """The value of `var` of the lane whose number is this one's xor val_id."""
    _in_a_kernel("shfl_xor_sync")


def _atomic(name: str, meaning: str) -> Any:
    """A function of an element array[index], which no other thread changes meanwhile."""

    def atomic(array, index, value, alt_value=None):
        _in_a_kernel(f"atomic_{name}")

    atomic.__name__ = atomic.__qualname__ = f"atomic_{name}"
    atomic.__doc__ = f"{meaning} without another thread in between; gives the value that was there before."
    return atomic


atomic_add = _atomic("add", "array[index] += value")
atomic_sub = _atomic("sub", "array[index] -= value")
atomic_exch = _atomic("exch", "array[index] = value")
atomic_min = _atomic("min", "array[index] = min(array[index], value)")
atomic_max = _atomic("max", "array[index] = max(array[index], value)")
atomic_inc = _atomic("inc", "array[index] += 1, or 0 from `value` on,")
atomic_dec = _atomic("dec", "array[index] -= 1, or `value` from 0 and above `value`,")
atomic_cas = _atomic("cas", "array[index] = alt_value where it is equal to value")
atomic_and = _atomic("and", "array[index] &= value")
atomic_or = _atomic("or", "array[index] |= value")
atomic_xor = _atomic("xor", "array[index] ^= value")
