"""Memory pools under CuPy's names."""

from . import _core
from ._core import PinnedMemory
from .errors import DeviceError, ValueError


class MemoryPool:
    """What get_default_memory_pool() returns: at each call the pool of the default device."""

    def used_bytes(self) -> int:
        """Bytes in arrays that live."""
        return _core.memory_statistics()["used_bytes"]

    def free_bytes(self) -> int:
        """Bytes held for reuse."""
        return _core.memory_statistics()["held_bytes"]

    def total_bytes(self) -> int:
        """Bytes used and held."""
        statistics = _core.memory_statistics()
        return statistics["used_bytes"] + statistics["held_bytes"]

    def n_free_blocks(self) -> int:
        """Blocks held for reuse, of a GPU. Raises DeviceError on the CPU, whose pool does not count them."""
        device = _core.default_device()
        if device.name == "cpu":
            raise DeviceError("n_free_blocks: the CPU's pool does not count blocks; free_bytes() says what it holds")
        return _core.cuda_free_blocks(device)

    def free_all_blocks(self, stream=None) -> None:
        """Gives held memory back to the system: all of it, or that of one stream of a GPU."""
        _core.free_held_memory(stream=stream)

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Most bytes the pool may hold, or the fraction of the device's memory; 0 lifts the limit."""
        if (size is None) == (fraction is None):
            raise ValueError("set_limit: give one of size and fraction")
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"set_limit: fraction must be in [0, 1], but is {fraction}")
            size = int(fraction * _memory_bytes())
        assert size is not None
        _core.set_memory_limit(size)

    def get_limit(self) -> int:
        """The limit in bytes; 0: none."""
        return _core.memory_statistics()["limit_bytes"]


def _memory_bytes() -> int:
    device = _core.default_device()
    if device.name != "cpu":
        return device.mem_info[1]
    import os

    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class PinnedMemoryPool:
    """What get_default_pinned_memory_pool() returns: the pool of page-locked host memory."""

    def n_free_blocks(self) -> int:
        """Blocks held for reuse."""
        return _core.pinned_free_blocks()

    def free_all_blocks(self) -> None:
        """Gives held memory back to the system."""
        _core.free_pinned_blocks()

    def malloc(self, size: int) -> PinnedMemory:
        """Memory of that many bytes, with the buffer protocol."""
        return PinnedMemory(size)


_default, _default_pinned = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """The pool that arrays come from."""
    return _default


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """The pool of page-locked host memory."""
    return _default_pinned
