"""The copy of a function that is called on batched arrays.

It has the function's code. What the code reaches outside is replaced: functions of NumPy and Iruka by the rules, arrays
by read-only ones, lists and dictionaries by copies that cannot be changed, functions and objects of Python by
their own copies. Everything that has, or may have, a side effect or another result in each call is replaced by a
`Refused`, which stops the tracer when it is used.
"""

from __future__ import annotations

import builtins
import cmath
import dis
import functools
import itertools
import math
import operator
import types
from typing import Any

import numpy

from .._core import ElementwiseKernel, ndarray
from .._functions import elementwise as UFUNCS
from .._numpy.shapes import broadcast_to
from . import families, indexing, products, shapes  # noqa: F401  # their rows of the table
from .python_functions import FUNCTIONS, Math
from .table import RULES, aligned, lift, name_of
from .values import Tracer, contains_batched, is_batched

_PURE_MODULES = (cmath, itertools, functools, operator)
_ARRAY_MODULES = {
    package + tail for package in ("numpy", "iruka") for tail in ("", ".linalg", ".fft", ".lib", ".lib.stride_tricks")
}
_PLAIN = (bool, int, float, complex, str, bytes, range, slice, type(None), type(Ellipsis), type(NotImplemented),
          numpy.generic, numpy.dtype)  # fmt: skip
_PURE_BUILTINS = (
    "abs callable dict divmod enumerate filter frozenset hasattr iter len list map next pow range reversed round set "
    "slice tuple zip object str repr complex super property staticmethod classmethod NotImplemented Ellipsis"
).split()
# Functions of arrays alone, called on numbers, that write somewhere or have another result each time.
_IMPURE = {
    "copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "seterr", "seterrcall", "setbufsize",
    "save", "savetxt", "savez", "savez_compressed", "set_printoptions", "scatter_add", "scatter_max", "scatter_min",
    "load", "loadtxt", "fromfile", "genfromtxt", "shares_memory", "may_share_memory", "apply_along_axis", "clear_cache",
}  # fmt: skip
_NEW_ARRAYS = ("zeros", "ones", "empty", "full")
_STORES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"}


class Refused:
    """Something that a trace must not use."""

    def __init__(self, tracer: Tracer, reason: str):
        vars(self).update(_tracer=tracer, _reason=reason)

    def _refuse(self, *arguments, **keywords):
        self._tracer.refuse(self._reason)

    def __getattr__(self, name):
        self._refuse()

    __hash__ = None  # type: ignore[assignment]
    __call__ = __iter__ = __next__ = _refuse
    __len__ = __bool__ = __getitem__ = __setitem__ = __contains__ = __enter__ = __exit__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = __float__ = __str__ = __repr__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = _refuse
    __neg__ = __array__ = __array_ufunc__ = __array_function__ = __rmatmul__ = __pow__ = __rpow__ = _refuse


class _Function:
    """A function of arrays in the traced function."""

    _name: Any

    def __init__(self, tracer: Tracer, function: Any, name: str | None):
        self._tracer, self._function, self._name = tracer, function, name

    def __call__(self, *arguments, **keywords):
        arguments, keywords = _plain(arguments), _plain(keywords)
        tracer, name = self._tracer, self._name or getattr(self._function, "__name__", "a function")
        if name in _IMPURE:
            tracer.refuse(f"it calls {name}")
        if contains_batched((arguments, keywords)):
            return self._batched(tracer, name, arguments, keywords)
        made = self._function(*arguments, **keywords)
        if name.rpartition(".")[2] in _NEW_ARRAYS:  # which the function fills
            made = lift(tracer, made)
            return tracer.batched(broadcast_to(made.data, (tracer.count, *made.shape)).copy())
        return _constants(tracer, made)

    def _batched(self, tracer, name, arguments, keywords):
        if self._name is None and isinstance(self._function, numpy.ufunc):
            tracer.refuse(f"{name} has no form for many slices")
        if name in RULES or "." in name:
            return tracer.call(name, *arguments, **keywords)
        if all(_is_shared(each) for each in (*arguments, *keywords.values())):  # nothing of the slice
            made = self._function(*map(_unshared, arguments), **{k: _unshared(v) for k, v in keywords.items()})
            return _constants(tracer, made)
        if name in _NEW_ARRAYS and name == "full" and not contains_batched(arguments[0]):
            made = lift(tracer, arguments[1])
            return tracer.call("full_like", made, made, keywords.get("dtype", *arguments[2:3] or (None,)), arguments[0])
        tracer.refuse(f"{name} has no form for many slices")

    def __getattr__(self, method):
        if method in ("reduce", "accumulate", "outer") and self._name in UFUNCS:
            return _Function(self._tracer, getattr(self._function, method), f"{self._name}.{method}")
        return getattr(self._function, method)


def _is_shared(value: Any) -> bool:
    return value.data.shape[0] == 1 < value.tracer.count if is_batched(value) else not contains_batched(value)


def _unshared(value: Any) -> Any:
    return value.data[0] if is_batched(value) else value


def _constants(tracer: Tracer, made: Any) -> Any:
    """Arrays that a function made of constants, as batched arrays that all slices share."""
    if isinstance(made, (list, tuple)):
        parts = [_constants(tracer, each) for each in made]
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)
    return tracer.constant(made) if isinstance(made, (numpy.ndarray, ndarray)) else made


class _Type:
    """A type of numbers: converts batched numbers, and is the type where one is asked for."""

    def __init__(self, tracer: Tracer, real: type):
        self._tracer, self._real = tracer, real

    def __call__(self, *arguments, **keywords):
        if not contains_batched(arguments):
            return self._real(*arguments, **keywords)
        if self._real in (float, int, bool):
            return self._tracer.call(self._real.__name__, *arguments)
        return self._tracer.call("astype", *arguments, numpy.dtype(self._real))

    def __eq__(self, other):
        return self._real == _plain(other)

    def __hash__(self):
        return hash(self._real)

    def __getattr__(self, name):
        return getattr(self._real, name)


def _plain(value: Any) -> Any:
    """The types that stand-ins stand for, in arguments of functions."""
    if type(value) is _Type:
        return value._real
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {name: _plain(each) for name, each in value.items()}
    return value


class _Module:
    """A module whose members are stand-ins."""

    def __init__(self, copies: Rebinding, real: types.ModuleType):
        self._copies, self._real = copies, real

    def __getattr__(self, name):
        return self._copies.stand_in(getattr(self._real, name), f"{self._real.__name__}.{name}")


def _frozen(kind: type, names: str) -> Any:
    """list, dict or set without the methods that change it."""

    def refuse(self, *arguments, **keywords):
        self.tracer.refuse("it changes an object of outside")

    return type(kind.__name__, (kind,), dict.fromkeys(names.split(), refuse))


_List = _frozen(list, "append extend insert pop remove sort reverse clear __setitem__ __delitem__ __iadd__ __imul__")
_Dict = _frozen(dict, "update pop popitem setdefault clear __setitem__ __delitem__ __ior__")
_Set = _frozen(
    set,
    "add discard remove pop clear update difference_update intersection_update symmetric_difference_update __ior__ "
    "__iand__ __isub__ __ixor__",
)


class Rebinding:
    """Makes the copies for one tracer of calls."""

    def __init__(self, tracer: Tracer):
        self.tracer = tracer
        self._made: dict[int, tuple[Any, Any]] = {}  # by identity, with the original, which stays alive
        self._globals: dict[int, dict] = {}
        self._builtins: dict[str, Any] = {"__import__": self._import, "__build_class__": __build_class__}

    def stand_in(self, value: Any, name: str = "") -> Any:
        """What the traced function gets for an object of outside; `name` says what it is called there."""
        if isinstance(value, _PLAIN) and not is_batched(value):
            return value
        known = self._made.get(id(value))
        if known is None:
            made = self._new(value, name)
            known = self._made.setdefault(id(value), (value, made))
        return known[1]

    def _new(self, value: Any, name: str) -> Any:
        if isinstance(value, numpy.ndarray | ndarray):
            return self._array(value, name)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if type(value) is tuple or isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = [self.stand_in(each, name) for each in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if type(value) in (list, dict, set):
            return self._container(value, name)
        if type(value) is frozenset:
            return value
        if isinstance(value, types.FunctionType) and not _of_library(value):
            return self.function(value)
        if isinstance(value, types.MethodType):
            return types.MethodType(self.stand_in(value.__func__), self.stand_in(value.__self__, name))
        if isinstance(value, functools.partial):
            parts = [self.stand_in(each, name) for each in (value.func, *value.args)]
            return functools.partial(
                parts[0], *parts[1:], **{k: self.stand_in(v, k) for k, v in value.keywords.items()}
            )
        if isinstance(value, type):
            return self._type(value)
        return self._callable(value, name) if callable(value) else self._object(value, name)

    def _refused(self, reason: str) -> Refused:
        return Refused(self.tracer, reason)

    def _array(self, value: Any, name: str) -> Any:
        if isinstance(value, numpy.ndarray) and value.dtype.kind not in "biufcV":
            return self._refused(f"{name} is an array of objects or text")
        made = self.tracer.constant(value)
        made.data = made.data[:]
        made.data.setflags(write=False)
        return made

    def _module(self, value: types.ModuleType) -> Any:
        if value in _PURE_MODULES:
            return value
        if value is math:
            return Math(self.tracer)
        if value.__name__ in _ARRAY_MODULES:
            return _Module(self, value)
        if value.__name__ in ("numpy.random", "iruka.random", "random"):
            return self._refused("it draws random numbers")
        if _is_user_module(value):
            return _Module(self, value)
        return self._refused(f"it uses the module {value.__name__}")

    def _container(self, value: Any, name: str) -> Any:
        if type(value) is list:
            made: Any = _List(self.stand_in(each, name) for each in value)
        elif type(value) is dict:
            made = _Dict({key: self.stand_in(each, name) for key, each in value.items()})
        else:
            made = _Set(value)
        made.tracer = self.tracer
        return made

    def _callable(self, value: Any, name: str) -> Any:
        if (known := name_of(value)) is not None:
            return _Function(self.tracer, value, known)
        if isinstance(value, numpy.ufunc):
            return _Function(self.tracer, value, value.__name__ if value.__name__ in UFUNCS else None)
        module: str = getattr(value, "__module__", None) or ""
        if isinstance(value, types.BuiltinFunctionType) and module in ("math", "cmath", "_operator"):
            return getattr(Math(self.tracer), value.__name__) if module == "math" else value
        if isinstance(value, types.BuiltinFunctionType) and module == "builtins":
            return self._builtin(value.__name__)
        if type(value).__module__.startswith("iruka._fuse"):  # its operations run one by one
            return self.stand_in(value.__wrapped__, name)
        is_elementwise = isinstance(value, ElementwiseKernel) and "raw" not in str(value.in_params)
        if is_elementwise or type(value).__module__ == "iruka._vectorize" and hasattr(value, "py_func"):
            return lambda *arguments: self._kernel(value, arguments)
        if module.split(".")[0] == "numpy" and isinstance(value, types.FunctionType | types.BuiltinFunctionType):
            return _Function(self.tracer, value, None)
        return self._object(value, name)

    def _kernel(self, kernel: Any, arguments: tuple) -> Any:
        self.tracer.step()
        made = kernel(*aligned(self.tracer, arguments))
        return tuple(map(self.tracer.batched, made)) if isinstance(made, tuple) else self.tracer.batched(made)

    def _type(self, value: type) -> Any:
        if issubclass(value, BaseException) or value in (object, str, list, tuple, dict, set, frozenset):
            return value
        if issubclass(value, tuple) and hasattr(value, "_fields"):
            return value
        if value in (float, int, bool, complex) or issubclass(value, numpy.generic):
            return _Type(self.tracer, value)
        if (
            value in (numpy.ndarray, ndarray, numpy.dtype)
            or value.__name__ == "errstate"
            or value.__module__
            in (
                "itertools",
                "builtins",
            )
        ):
            return value
        if value.__module__ in ("functools", "operator", "_operator", "numpy"):
            return value
        return self._refused(f"it uses the class {value.__name__}")

    def _object(self, value: Any, name: str) -> Any:
        """An object of a class of Python, with its attributes and methods replaced."""
        kind = type(value)
        if (
            kind.__module__.split(".")[0] in ("numpy", "iruka", "builtins")
            or not hasattr(value, "__dict__")
            or not all(_is_plain_class(each) for each in kind.__mro__[:-1])
        ):
            return self._refused(f"it uses {name or 'an object'}, which is a {kind.__name__}")
        made = object.__new__(self._class(kind))
        self._made[id(value)] = (value, made)
        vars(made).update({key: self.stand_in(each, f"{name}.{key}") for key, each in vars(value).items()})
        return made

    def _class(self, kind: type) -> Any:
        known = self._made.get(id(kind) + 1)
        if known is not None:
            return known[1]
        members: dict[str, Any] = {}
        for base in reversed(kind.__mro__[:-1]):
            for key, value in vars(base).items():
                if key not in ("__dict__", "__weakref__", "__module__", "__doc__", "__init_subclass__", "__new__"):
                    members[key] = self._member(value, key)
        made = type(kind.__name__, (), members)
        self._made[id(kind) + 1] = (kind, made)
        return made

    def _member(self, value: Any, name: str) -> Any:
        if isinstance(value, (staticmethod, classmethod)):
            return type(value)(self.stand_in(value.__func__, name))
        if isinstance(value, property):
            return property(None if value.fget is None else self.stand_in(value.fget, name))
        return self.stand_in(value, name)

    def function(self, function: types.FunctionType) -> Any:
        """The copy of a Python function."""
        reason = _side_effect(function.__code__)
        if reason:
            return self._refused(f"{function.__name__} {reason}")
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        made = types.FunctionType(function.__code__, self._globals_of(function), function.__name__, None, cells or None)
        self._made[id(function)] = (function, made)
        made.__defaults__ = self.stand_in(function.__defaults__, "a default")
        if function.__kwdefaults__:
            made.__kwdefaults__ = {k: self.stand_in(v, k) for k, v in function.__kwdefaults__.items()}
        for name, cell, given in zip(function.__code__.co_freevars, cells, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.stand_in(given.cell_contents, name)
            except builtins.ValueError:  # not assigned yet
                continue
        return made

    def _globals_of(self, function: types.FunctionType) -> dict:
        own = function.__globals__
        made = self._globals.setdefault(id(own), {"__builtins__": self._builtins, "__name__": own.get("__name__")})
        for name in _global_names(function.__code__):
            if name not in made and name in own:
                made[name] = None  # a function may name itself
                made[name] = self.stand_in(own[name], name)
            elif hasattr(builtins, name):
                self._builtin(name)
        return made

    def _builtin(self, name: str) -> Any:
        """What the traced function gets for a name of Python's own."""
        if name not in self._builtins:
            self._builtins[name] = self._new_builtin(name)
        return self._builtins[name]

    def _new_builtin(self, name: str) -> Any:
        value = vars(builtins)[name]
        if name in _PURE_BUILTINS or isinstance(value, type) and issubclass(value, BaseException):
            return value
        if name in ("float", "int", "bool"):
            return _Type(self.tracer, value)
        if name in FUNCTIONS:
            return functools.partial(FUNCTIONS[name], self.tracer)
        if name == "isinstance":
            return lambda value, kinds: isinstance(value, _plain(kinds))
        return self._refused(f"it calls {name}()")

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        if level:
            self.tracer.refuse("it imports a module")
        return self.stand_in(__import__(name, None, None, fromlist), name)


def _of_library(function: Any) -> bool:
    return (function.__module__ or "").split(".")[0] in ("numpy", "iruka", "functools")


def _is_user_module(module: types.ModuleType) -> bool:
    """Whether the module is a file beside the user's programs, and no library."""
    file = getattr(module, "__file__", None) or ""
    return file.endswith(".py") and "site-packages" not in file and "dist-packages" not in file and not file.startswith(
        builtins.str(dis.__file__).rpartition("/")[0]
    )  # fmt: skip


def _is_plain_class(kind: type) -> bool:
    return isinstance(vars(kind).get("__dict__", vars(kind).get("__weakref__")), types.GetSetDescriptorType) or (
        "__slots__" not in vars(kind) and kind.__flags__ & (1 << 9) != 0
    )


def _codes(code: types.CodeType):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


@functools.lru_cache(maxsize=256)
def _global_names(code: types.CodeType) -> set[str]:
    return {
        instruction.argval
        for each in _codes(code)
        for instruction in dis.get_instructions(each)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }


@functools.lru_cache(maxsize=256)
def _side_effect(code: types.CodeType) -> str | None:
    """What the code changes outside of its own call, if it is to be seen there."""
    for each in _codes(code):
        for instruction in dis.get_instructions(each):
            name, argument = instruction.opname, instruction.argval
            if name in _STORES:
                return f"sets the {'attribute' if 'ATTR' in name else 'global variable'} {argument}"
            if name in ("STORE_DEREF", "DELETE_DEREF") and argument in code.co_freevars:
                return f"sets the variable {argument} of an outer function"
    return None
