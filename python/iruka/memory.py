"""The CPU pool under CuPy's names."""

from . import _core
from .errors import ValueError


class MemoryPool:
    """What get_default_memory_pool() returns."""

    def used_bytes(self) -> int:
        """Bytes in arrays that live."""
        return _core.memory_statistics()["used_bytes"]

    def free_bytes(self) -> int:
        """Bytes held for reuse."""
        return _core.memory_statistics()["held_bytes"]

    def total_bytes(self) -> int:
        """Bytes used and held."""
        return self.used_bytes() + self.free_bytes()

    def free_all_blocks(self, stream=None) -> None:
        """Gives held memory back to the system."""
        _core.free_held_memory()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Most bytes the pool may hold; 0 lifts the limit."""
        if (size is None) == (fraction is None):
            raise ValueError("set_limit: give one of size and fraction")
        if fraction is not None:
            import os

            if not 0 <= fraction <= 1:
                raise ValueError(f"set_limit: fraction must be in [0, 1], but is {fraction}")
            size = int(fraction * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        _core.set_memory_limit(size)

    def get_limit(self) -> int:
        """The limit in bytes; 0: none."""
        return _core.memory_statistics()["limit_bytes"]


_default = MemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """The pool that arrays come from."""
    return _default
