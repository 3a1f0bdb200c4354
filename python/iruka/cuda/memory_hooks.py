"""Hooks into the pools of GPU memory, under CuPy's names.

>>> with iruka.cuda.memory_hooks.DebugPrintHook():
...     x = iruka.ones(3)
"""

from __future__ import annotations

import json
import sys
import threading

from .._core import PoolListener

__all__ = ["DebugPrintHook", "LineProfileHook", "MemoryHook"]


class _Entered(threading.local):
    """The hooks active in this thread, by name."""

    def __init__(self):
        self.listeners = {}


_entered = _Entered()


class MemoryHook:
    """In a `with` statement, is called for the calling thread's requests to the pools of GPU memory.

    Subclasses say what to do.

    The methods get keyword arguments: device_id, the GPU's number; size, the bytes that were asked for; mem_size, the
    bytes of the whole block or chunk; mem_ptr and pmem_id, its address, 0 where there is none. What they raise goes to
    sys.unraisablehook. A thread has one hook of each `name`; KeyError for a second one.
    """

    name = "MemoryHook"

    def __enter__(self):
        if self.name in _entered.listeners:
            raise KeyError(f"memory hook {self.name} already exists")
        listener = PoolListener(self)
        listener.enter()
        _entered.listeners[self.name] = listener
        return self

    def __exit__(self, *exception):
        _entered.listeners.pop(self.name).leave()

    def alloc_preprocess(self, **kwargs) -> None:
        """Before the pool allocates a chunk on the GPU: device_id, mem_size."""

    def alloc_postprocess(self, **kwargs) -> None:
        """After that: device_id, mem_size, mem_ptr."""

    def malloc_preprocess(self, **kwargs) -> None:
        """Before a block is taken from the pool: device_id, size, mem_size."""

    def malloc_postprocess(self, **kwargs) -> None:
        """After that: device_id, size, mem_size, mem_ptr, pmem_id."""

    def free_preprocess(self, **kwargs) -> None:
        """Before a block goes back to the pool: device_id, mem_size, mem_ptr, pmem_id."""

    def free_postprocess(self, **kwargs) -> None:
        """After that: the same."""


class DebugPrintHook(MemoryHook):
    """Prints a line of JSON for each chunk that comes from the GPU and each block that is taken or goes back.

    file: where to, by default sys.stdout. flush: after each line.
    """

    name = "DebugPrintHook"

    def __init__(self, file=None, flush: bool = True):
        self.file = file
        self.flush = flush

    def _print(self, hook, values):
        if "pmem_id" in values:
            values["pmem_id"] = hex(values["pmem_id"])
        line = json.dumps({"hook": hook, **values}, separators=(",", ":"))
        print(line, file=sys.stdout if self.file is None else self.file, flush=self.flush)

    def alloc_postprocess(self, **kwargs) -> None:
        self._print("alloc", kwargs)

    def malloc_postprocess(self, **kwargs) -> None:
        self._print("malloc", kwargs)

    def free_postprocess(self, **kwargs) -> None:
        self._print("free", kwargs)


class _Line:
    """A line of a program in a chain of calls: bytes taken from the pool, and by the pool from the GPU."""

    def __init__(self):
        self.used = self.acquired = 0
        self.callees = {}

    def add(self, used, acquired):
        self.used += used
        self.acquired += acquired


class LineProfileHook(MemoryHook):
    """Adds up by lines of Python and their callers what is taken from the pools, and what they take from the GPU.

    max_depth: levels of the report, the root among them; 0: all.

    >>> hook = iruka.cuda.memory_hooks.LineProfileHook()
    >>> with hook:
    ...     x = iruka.ones(1000)
    >>> hook.print_report()  # a GPU's has the lines that took memory below
    _root (0.00B, 0.00B)
    """

    name = "LineProfileHook"

    def __init__(self, max_depth: int = 0):
        self._root = _Line()
        self._max_depth = max_depth

    def malloc_preprocess(self, *, mem_size=0, **kwargs) -> None:
        self._add(sys._getframe(1), mem_size, 0)

    def alloc_preprocess(self, *, mem_size=0, **kwargs) -> None:
        self._add(sys._getframe(1), 0, mem_size)

    def _add(self, frame, used, acquired):
        places = []
        while frame:
            places.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        places.reverse()
        line = self._root
        line.add(used, acquired)
        for place in places[: self._max_depth - 1] if self._max_depth > 0 else places:
            line = line.callees.setdefault(place, _Line())
            line.add(used, acquired)

    def print_report(self, file=None) -> None:
        """Prints a line for each line of Python: where, bytes taken from the pools, bytes these took from the GPU."""
        file = sys.stdout if file is None else file

        def show(name, line, depth):
            print(f"{'  ' * depth}{name} ({_bytes(line.used)}, {_bytes(line.acquired)})", file=file)
            for (path, number, function), callee in line.callees.items():
                show(f"{path}:{number}:{function}", callee, depth + 1)

        show("_root", self._root, 0)
        file.flush()


def _bytes(size):
    power = (max(size, 1).bit_length() - 1) // 10
    return f"{size / 1024**power:.2f}{'KMGTPE'[power - 1 : power]}B"
