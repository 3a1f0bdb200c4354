"""CuPy's modules below cupy.cuda, which programs import errors and classes from: the same objects under its names."""

import sys
import types

from .. import errors, memory as _memory
from .._core import Device, PinnedMemory
from . import _pinned, _stream
from .memory_hooks import MemoryHook

_STREAM = ("Event", "ExternalStream", "Stream", "get_current_stream", "get_elapsed_time")

#: What each module has, by its name in CuPy.
_CONTENTS: dict[str, dict] = {
    "compiler": {"CompileException": errors.CompileError},
    "device": {"Device": Device},
    "driver": {"CUDADriverError": errors.DeviceError},
    "graph": {"Graph": _stream.Graph},
    "memory": {"MemoryPool": _memory.MemoryPool, "OutOfMemoryError": errors.OutOfMemoryError},
    "memory_hook": {"MemoryHook": MemoryHook},
    "pinned_memory": {
        "PinnedMemory": PinnedMemory,
        "PinnedMemoryPool": _memory.PinnedMemoryPool,
        "alloc_pinned_memory": _pinned.alloc_pinned_memory,
    },
    "stream": {name: getattr(_stream, name) for name in _STREAM},
}


class _CallableModule(types.ModuleType):
    """A module of CuPy's whose name is a function of Numba's."""

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def add_to(package: types.ModuleType) -> list[str]:
    """Makes the modules parts of a package, for `from package.memory import ...`; returns their names."""
    for name, contents in _CONTENTS.items():
        function = vars(package).get(name)
        kind = _CallableModule if callable(function) else types.ModuleType
        module = kind(f"{package.__name__}.{name}", f"What programs take from CuPy's cuda.{name}.")
        vars(module).update(contents, __all__=sorted(contents), _function=function)
        sys.modules[module.__name__] = module
        setattr(package, name, module)
    return list(_CONTENTS)
