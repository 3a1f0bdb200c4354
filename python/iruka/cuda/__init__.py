"""CUDA devices under CuPy's names: Device, Stream, Event, graphs, page-locked memory.

Without a GPU is_available() is False, and everything that needs one raises DeviceError that says what is missing.
"""

from .._core import Device, PinnedMemory, cuda_is_available as _is_available
from .._core import cuda_unavailable_reason as _unavailable_reason
from ..memory import MemoryPool, PinnedMemoryPool
from . import memory_hooks, runtime
from ._pinned import alloc_pinned_memory, empty_like_pinned, empty_pinned, zeros_like_pinned, zeros_pinned
from ._stream import Event, ExternalStream, Graph, Stream, current_gpu as _current_gpu, get_current_stream
from ._stream import get_elapsed_time
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


def __getattr__(name):
    raise AttributeError(
        f"module 'iruka.cuda' has no attribute {name!r}; it has {', '.join(sorted(__all__))}"
        if not name.startswith("_")
        else f"module 'iruka.cuda' has no attribute {name!r}"
    )


__all__ = [
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
    "empty_like_pinned",
    "empty_pinned",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "memory_hooks",
    "runtime",
    "unavailable_reason",
    "zeros_like_pinned",
    "zeros_pinned",
]
