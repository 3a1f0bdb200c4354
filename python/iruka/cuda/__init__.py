"""CUDA devices under CuPy's names: Device, Stream, Event, graphs, page-locked memory; device arrays under Numba's.

Without a GPU is_available() is False, the default streams and events are the CPU's, and everything that needs a GPU
raises DeviceError that says what is missing.
"""

import sys as _sys

from .._core import (
    Device,
    PinnedMemory,
    cuda_is_available as _is_available,
    cuda_unavailable_reason as _unavailable_reason,
)
from .._numba_names import CUDA as _NAMES_OF_NUMBA
from ..memory import MemoryPool, PinnedMemoryPool
from . import _modules, memory_hooks, runtime
from ._arrays import (
    as_cuda_array,
    default_stream,
    device_array,
    device_array_like,
    event,
    is_cuda_array,
    mapped_array,
    mapped_array_like,
    pinned_array,
    stream,
    synchronize,
    to_device,
)
from ._pinned import alloc_pinned_memory, empty_like_pinned, empty_pinned, zeros_like_pinned, zeros_pinned
from ._stream import (
    Event,
    ExternalStream,
    Graph,
    Stream,
    current_gpu as _current_gpu,
    get_current_stream,
    get_elapsed_time,
)
from .memory_hooks import MemoryHook


def is_available() -> bool:
    """Whether a GPU can be used; never raises."""
    return _is_available()


def unavailable_reason() -> str:
    """What is missing, and what to install; '' where a GPU can be used."""
    return _unavailable_reason()


def get_device_id() -> int:
    """The number of the GPU that the calling thread uses."""
    return _current_gpu().id


_KERNEL = "use iruka.RawKernel and iruka.RawModule"
_POOLS = "all memory comes from iruka.get_default_memory_pool(); set_limit() bounds it and MemoryHook tells of it"

#: What to use in place of CuPy's and Numba's names that are not here.
_INSTEAD = {
    **_NAMES_OF_NUMBA,
    **dict.fromkeys(("Function", "Module", "RawKernel", "compile_with_cache"), _KERNEL),
    **dict.fromkeys(
        ("CFunctionAllocator", "ManagedMemory", "Memory", "MemoryAsync", "MemoryAsyncPool", "MemoryPointer",
         "PythonFunctionAllocator", "UnownedMemory", "alloc", "get_allocator", "malloc_async", "malloc_managed",
         "malloc_system", "set_allocator", "using_allocator", "set_pinned_memory_allocator"), _POOLS),
    **dict.fromkeys(("cublas", "cusolver"), "iruka.matmul and iruka.linalg call it"),
    **dict.fromkeys(("cusparse", "cutensor", "cudnn"), "nothing here calls it; DLPack shares arrays with who does"),
    "curand": "use iruka.random",
    **dict.fromkeys(("managed_array", "pinned_array_like"),
                    "use iruka.cuda.pinned_array, and iruka.cuda.to_device or copy_to_host to copy it"),
    "cufft": "use iruka.fft",
    "nccl": "arrays go from one GPU to another by x.to_device(i)",
    "nvrtc": "iruka.cuda.runtime.runtimeGetVersion() is NVRTC's version, and kernel.assembly(...) its PTX",
    "nvtx": "use the package nvtx; iruka.profiler.benchmark() times functions",
    "profiler": "use iruka.profiler",
    "profile": "use iruka.profiler.benchmark()",
    "get_cublas_handle": "iruka.matmul and iruka.linalg call cuBLAS and cuSOLVER by themselves",
    "get_cuda_path": "NVRTC is found in CUDA_PATH, in nvidia-* packages and by the system; see unavailable_reason()",
    "get_local_runtime_version": "use iruka.cuda.runtime.runtimeGetVersion()",
    "get_nvcc_path": "kernels are compiled by NVRTC, in the process",
    "check_cuda_available": "use iruka.cuda.is_available() or unavailable_reason()",
    "available": "use iruka.cuda.is_available()",
}  # fmt: skip


def __getattr__(name):
    hint = f"; {_INSTEAD.get(name) or 'it has ' + ', '.join(sorted(__all__))}" if not name.startswith("_") else ""
    # Python adds a name that is spelled alike, which would mislead beside advice; an object without names has none.
    raise AttributeError(f"module 'iruka.cuda' has no attribute {name!r}{hint}", name=name, obj=object())


_names = _modules.add_to(_sys.modules[__name__])

__all__ = [
    *_names,
    "Device",
    "Event",
    "ExternalStream",
    "Graph",
    "MemoryHook",
    "MemoryPool",
    "PinnedMemory",
    "PinnedMemoryPool",
    "Stream",
    "alloc_pinned_memory",
    "as_cuda_array",
    "default_stream",
    "device_array",
    "device_array_like",
    "empty_like_pinned",
    "empty_pinned",
    "event",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "is_cuda_array",
    "mapped_array",
    "mapped_array_like",
    "memory_hooks",
    "pinned_array",
    "runtime",
    "stream",
    "synchronize",
    "to_device",
    "unavailable_reason",
    "zeros_like_pinned",
    "zeros_pinned",
]
