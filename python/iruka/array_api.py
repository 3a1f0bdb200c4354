"""The namespace of the array API standard, which x.__array_namespace__() returns: iruka's names.

The standard knows arrays alone, which may all change. So what these functions return without axes is an array that may
change, and so is what operators make of it; iruka's own functions return values there, and so do indexing and `@` of
arrays with axes.

>>> s = iruka.array_api.sum(iruka.arange(3))
>>> s[()] = 7
>>> s + 1
array(8)
"""

from __future__ import annotations

import builtins as _builtins
import functools as _functools
import sys as _sys
import types as _types
import typing as _typing

from . import errors as _errors, fft as _fft, linalg as _linalg
from ._core import ndarray as _ndarray

if _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> _typing.Any: ...


_versions = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def _namespace(api_version: str | None) -> _types.ModuleType:
    """What ndarray.__array_namespace__ returns: this module. Raises ValueError for other versions."""
    if api_version not in (None, *_versions):
        supported = ", ".join(_versions)
        raise _errors.ValueError(f"the array API version {api_version!r} is not supported; supported are {supported}")
    return _sys.modules[__name__]


class _Variable(_ndarray):
    """A mutable 0-d array whose operators give mutable 0-d arrays; those of an ndarray give values."""

    def __reduce_ex__(self, protocol):
        return _variables, (_ndarray.copy(self),)


def _variables(results):
    """Results of a function of iruka, with mutable 0-d arrays."""
    if isinstance(results, _ndarray):
        if results.ndim or isinstance(results, _Variable):
            return results
        own = results[...] if results._is_value else results  # a copy: others may have the value
        return _Variable((), own.dtype, own.data)
    if isinstance(results, list | tuple):
        made = map(_variables, results)
        return results._make(made) if hasattr(results, "_make") else type(results)(made)
    return results


_ARRAYS_OF = ("asarray", "from_dlpack", "reshape")  # functions that have copy=False


def _with_variables(function, module: str, name: str):
    """The function with variables for results, of the name by which pickle finds it."""

    @_functools.wraps(function)
    def _call(*arguments, **keywords):
        results = function(*arguments, **keywords)
        if _builtins.any(results is given for given in (*arguments, *keywords.values())):  # iruka.any is here, too
            return results
        if name in _ARRAYS_OF and keywords.get("copy") is False and results._is_value:
            raise _errors.ValueError(f"{name}: an array that may change is a copy of a value, which copy=False forbids")
        return _variables(results)

    _call.__module__, _call.__qualname__ = module, name
    return _call


_BINARY = "add sub mul matmul truediv floordiv mod divmod pow and or xor lshift rshift".split()
_OTHERS = "neg pos abs invert lt le eq ne gt ge copy deepcopy".split()
for _name in [*_BINARY, *(f"r{name}" for name in _BINARY), *_OTHERS]:
    _operator = getattr(_ndarray, f"__{_name}__")
    setattr(_Variable, f"__{_name}__", _with_variables(_operator, __name__, f"_Variable.__{_name}__"))


def _take_names(place: _types.ModuleType, source: _types.ModuleType) -> None:
    """Gives `place` the names of `source`, each function with variables for results."""

    def find(name):
        if name == "__path__":  # which would make a package of it
            raise AttributeError(f"module {place.__name__!r} has no attribute {name!r}")
        found = getattr(source, name)
        if not callable(found) or isinstance(found, type):
            return found
        setattr(place, name, _with_variables(found, place.__name__, name))
        return getattr(place, name)

    vars(place).update(__getattr__=find, __dir__=lambda: dir(source))


def _extension(source: _types.ModuleType) -> _types.ModuleType:
    place = _types.ModuleType(f"{__name__}.{source.__name__.rpartition('.')[2]}", source.__doc__)
    _take_names(place, source)
    _sys.modules[place.__name__] = place
    return place


_take_names(_sys.modules[__name__], _sys.modules["iruka"])
linalg, fft = _extension(_linalg), _extension(_fft)
