"""iruka.fuse: a Python function of arrays as one kernel for each signature of its calls."""

from __future__ import annotations

import functools
import threading
import types
from typing import Any

from .. import _core
from .._python_kernels import FunctionValue, kernel_name as name_in_c
from ..errors import TypeError

_MOST_LAUNCHERS = 512  # of one function; a function that looks at values has one for each


def fuse(function: Any = None, *, kernel_name: str | None = None) -> Any:
    """A decorator: the function's array operations become one kernel, or as few as its reductions allow.

    fuse(function), fuse(), fuse(kernel_name='name'). At the first call with given dtypes, numbers of axes and types of
    numbers, the function runs once with arrays that record what is done with them. The results are those of the same
    operations on arrays: dtypes, rounding and broadcasting. What cannot be recorded is refused with its line; see
    docs/fuse.md. Numbers may differ from call to call, unless the function looks at their values. Other arguments
    (None, bools, strings) are part of the signature. A call raises what the operations raise (TypeError, ValueError,
    OverflowError), and iruka.errors.CompileError.

        >>> @iruka.fuse
        ... def squared_difference(x, y):
        ...     return (x - y) * (x - y)
        >>> squared_difference(iruka.arange(4), iruka.arange(4)[::-1])
        array([9, 1, 1, 9])
    """
    if function is not None and not callable(function):
        raise TypeError(f"fuse: a function is needed, not {type(function).__name__}")
    if kernel_name is not None and not isinstance(kernel_name, str):
        raise TypeError(f"fuse: kernel_name must be a str, not {type(kernel_name).__name__}")
    if function is None:
        return functools.partial(fuse, kernel_name=kernel_name)
    return FusedFunction(function, kernel_name)


class FusedFunction(_core.FusedDispatcher):
    """What iruka.fuse makes. `__wrapped__` is the function itself, whose operations run one by one."""

    kind = "fused function"
    __name__: str
    __qualname__: str
    __repr__, __eq__, __hash__ = FunctionValue.__repr__, FunctionValue.__eq__, FunctionValue.__hash__
    __copy__, __deepcopy__ = FunctionValue.__copy__, FunctionValue.__deepcopy__
    __reduce__, __dir__ = FunctionValue.__reduce__, FunctionValue.__dir__
    _public = ("clear_cache", "kernel_name")

    def __init__(self, function: Any, kernel_name: str | None = None):
        super().__init__()
        functools.update_wrapper(self, function)
        self._function = function
        self._given_name = kernel_name
        self._made_of = (function, kernel_name)
        self._launchers: dict[Any, Any] = {}
        self._by_value: frozenset = frozenset()  # numbers at whose values the function looks
        self._attributes: frozenset = frozenset()  # names in the code that traces have run
        self._lock = threading.RLock()

    def _first_call(self, args: tuple, kwargs: dict) -> Any:
        from .arrays import FusedArray
        from .numbers import FusedNumber

        values = (*args, *kwargs.values())
        if any(isinstance(each, (FusedArray, FusedNumber)) for each in values):
            return self._function(*args, **kwargs)  # inside another fused function
        values = tuple(map(_converted, values))
        if not any(isinstance(each, _core.ndarray) for each in values):
            return self._function(*args, **kwargs)
        foreign = {
            k for k, (new, old) in enumerate(zip(values, (*args, *kwargs.values()), strict=True)) if new is not old
        }
        return self._launcher(values, len(args), tuple(kwargs), foreign)(values)

    def _launcher(self, values: tuple, count: int, names: tuple, foreign: set) -> Any:
        from .numbers import NeedsValue
        from .trace import CodeThatRuns, launcher_of

        with self._lock:
            while True:
                by_value = self._by_value
                key = _core._call_signature(values, names or None, by_value, self._attributes)
                if key is None:
                    raise TypeError(
                        f"{self.__name__}: an argument is neither an array, a number nor a value of its own"
                    )
                if (found := self._launchers.get(key)) is not None and not foreign:
                    return found
                try:
                    with CodeThatRuns() as code:
                        found = launcher_of(self, values, count, names, foreign, by_value)
                except NeedsValue as needed:
                    self._by_value = by_value | needed.sources
                    continue
                self._attributes |= code.names
                key = _core._call_signature(values, names or None, by_value, self._attributes)
                while len(self._launchers) >= _MOST_LAUNCHERS:
                    del self._launchers[next(iter(self._launchers))]  # the oldest
                self._launchers[key] = found
                return found

    def _iruka_in_kernel_(self, arguments: list[Any]) -> Any:
        raise TypeError(
            f"{self.__name__}() is a fused function, of arrays; call its Python function, {self.__name__}.__wrapped__"
        )

    @property
    def kernel_name(self) -> str:
        """The name of its kernels: that which was given, or the function's."""
        return name_in_c(str(self._given_name or getattr(self._function, "__name__", "fused")))

    def clear_cache(self) -> None:
        """Forgets the kernels, so that the next calls trace the function again."""
        with self._lock:
            self._launchers, self._by_value, self._attributes = {}, frozenset(), frozenset()

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)


def _converted(value: Any) -> Any:
    """What iruka.asarray makes an array of, as an array; anything else itself."""
    if isinstance(value, (_core.ndarray, bool, int, float, complex, str, bytes, tuple, type(None))) or callable(value):
        return value
    import numpy

    if isinstance(value, numpy.generic):
        return value
    protocols = ("__array_interface__", "__cuda_array_interface__", "__dlpack__", "__array__")
    if isinstance(value, (list, numpy.ndarray)) or any(hasattr(value, each) for each in protocols):
        return _core.as_array(value)
    return value


__all__ = ["fuse"]
