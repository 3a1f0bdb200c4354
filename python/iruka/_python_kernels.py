"""What vectorize and guvectorize share: kernels of Python functions, signatures, and where the work is done."""

from __future__ import annotations

import abc
import builtins
import contextlib
import functools
import importlib
import itertools
import pickle
import re
import threading
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy

from . import _core, cuda
from ._core import ElementwiseKernel, ndarray
from ._numpy.conversion import asarray, asnumpy
from ._numpy.creation import full
from .errors import IndexError, TypeError, ValueError

if TYPE_CHECKING:
    from ._translate import Translation

CPU = _core.device("cpu")
NOT_FAILED = 2**63 - 1  # no element failed
_NAMES = {
    "boolean": "bool", "bool_": "bool", "b1": "bool", "byte": "uint8", "char": "int8", "uchar": "uint8",
    "short": "int16", "ushort": "uint16", "int_": "int64", "uint": "uint64", "intc": "int32", "uintc": "uint32",
    "intp": "int64", "uintp": "uint64", "long_": "int64", "longlong": "int64", "ulonglong": "uint64", "ulong": "uint64",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32",
    "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "float_": "float32", "double": "float64",
    "c8": "complex64", "c16": "complex128",
}  # fmt: skip


def dtype_named(caller: str, name: str, signature: str) -> numpy.dtype:
    """The dtype of NumPy's or Numba's name in a signature."""
    try:
        dtype = numpy.dtype(_NAMES.get(name, name))
        if dtype.name == "bfloat16" or (dtype.kind in "biufc" and dtype.char not in "gG"):
            return dtype
        reason = "has no place in a kernel"
    except (builtins.TypeError, builtins.ValueError):
        reason = "is unknown"
    raise TypeError(f"{caller}: the type {name!r} of the signature {signature!r} {reason}")


class Loop(abc.ABC):
    """A Python function for one combination of dtypes: a kernel for the CPU, and one for GPUs."""

    def __init__(self, function: types.FunctionType, name: str, arguments: tuple, has_own_arrays: bool = False):
        from ._translate import translate  # Python's syntax trees are not loaded before they are needed

        self.function, self.name = function, name
        self.translation: Translation = translate(function, arguments, has_own_arrays)
        self._lock = threading.Lock()
        self._kernels: dict[bool, ElementwiseKernel] = {}

    @abc.abstractmethod
    def texts(self) -> tuple[list[str], list[str], str]:
        """The inputs, the outputs and the body of the kernel."""

    def kernel(self, on_host: bool) -> ElementwiseKernel:
        """The kernel for the CPU or for a GPU. They differ in how they report an element that failed."""
        if (made := self._kernels.get(on_host)) is not None:
            return made
        with self._lock:
            if on_host not in self._kernels:
                self._kernels[on_host] = self._made(on_host)
            return self._kernels[on_host]

    def _made(self, on_host: bool) -> ElementwiseKernel:
        inputs, outputs, body = self.texts()
        name = kernel_name(self.name)
        if self.translation.can_fail and on_host:
            inputs.append("raw _non_const int64 first")
            body = reporting(body)
        elif self.translation.can_fail:
            body = asserting(body, name)
        return ElementwiseKernel(
            ", ".join(inputs),
            ", ".join(outputs),
            body,
            name,
            preamble=self.translation.preamble,
            diagnose_early=False,  # type: ignore[call-arg]  # the text is valid, and this keyword is not public
        )

    def launch(
        self,
        inputs: list[ndarray],
        outputs: list[ndarray],
        device: Any,
        *,
        before: list[ndarray] | None = None,
        **options: Any,
    ) -> Any:
        """What the kernel returns. On the CPU, raises what the function raises for the first element that fails.

        `before`: the inputs with their values from before the launch, where it changes some.
        """
        kernel = self.kernel(device == CPU)
        if not self.translation.can_fail or device != CPU:
            return kernel(*inputs, *outputs, **options)
        with device:
            first = full((1,), NOT_FAILED, "int64")
        result = kernel(*inputs, first, *outputs, **options)
        if (place := int(first[0])) != NOT_FAILED:
            self.raise_of(self.function, *self.arguments_at(place, before or inputs))
        return result

    @abc.abstractmethod
    def arguments_at(self, place: int, inputs: list[ndarray]) -> tuple[list[Any], str]:
        """The function's arguments in this step of the loop, and words that say which one it is."""

    def raise_of(self, function: Callable[..., Any], arguments: list[Any], where: str) -> None:
        """Raises what Python raises for these arguments: the function runs once more, in Python.

        It takes Python's numbers; where it does not fail for these, NumPy's numbers, which round as the kernel does.
        """
        numbers = [each.item() if isinstance(each, numpy.generic) else each for each in arguments]
        try:
            function(*map(_own_outputs, numbers))
            with numpy.errstate(all="ignore"):
                function(*arguments)
        except Exception as error:
            if where and hasattr(error, "add_note"):
                error.add_note(f"{self.name}: {where}")
            raise
        raise IndexError(f"{self.name}: an index is out of bounds {where}".rstrip())


def _own_outputs(argument: Any) -> Any:
    """A copy of an array that a function may write to."""
    return argument.copy() if isinstance(argument, numpy.ndarray) and argument.flags.writeable else argument


def reporting(body: str) -> str:
    """The body, which writes the least number of an element that failed to the parameter `first`."""
    return f"int64_t failed = 0;\n{body}\nif (failed) python::note_failed((int64_t *)first.data_, i);"


def asserting(body: str, name: str) -> str:
    """The body with an assertion that no call in it failed."""
    return f'int64_t failed = 0;\n{body}\nassert(!failed && "raise in {name}");'


def kernel_name(name: str) -> str:
    """The function's name as one of C++: other characters are replaced, and keywords have an underscore behind."""
    made = re.sub(r"\W|[^\x00-\x7f]", "_", name)
    return made if _core.is_cpp_name(made) else f"{made}_"


class FunctionValue:
    """What is made of a Python function is a value: equal where the functions and the options are."""

    kind: str  # in repr
    _made_of: tuple  # the function and the options, as the class takes them
    _public: tuple[str, ...]  # the names in dir(), beside those that every function has

    def __dir__(self: Any) -> list[str]:
        own = {name for name in object.__dir__(self) if name.startswith("__") and name.endswith("__")}
        return sorted({*own, *self._public})

    def __repr__(self: Any) -> str:
        function = self._made_of[0]
        code = getattr(function, "__code__", None)
        parameters = ", ".join(code.co_varnames[: code.co_argcount]) if code else "..."
        return f"<{self.kind} {getattr(function, '__name__', type(function).__name__)}({parameters})>"

    def __eq__(self: Any, other: Any) -> Any:
        return self._made_of == other._made_of if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash((type(self), self._made_of[0]))

    def __copy__(self: Any) -> Any:
        return self

    def __deepcopy__(self: Any, memo: dict) -> Any:
        return self

    def __reduce__(self: Any) -> Any:
        function = self._made_of[0]
        module, name = function.__module__, getattr(function, "__qualname__", None)
        if name is None:  # another callable object, which pickles itself
            return type(self), self._made_of
        found = _found_or_none(module, name)
        if found is self:
            return _found, (module, name)
        if found is function:
            return type(self), self._made_of
        raise pickle.PicklingError(
            f"{self!r} cannot be pickled: functions are pickled by their names, and {module}.{name} is not this one; "
            "define it with def at the top of a module"
        )


def _found(module: str, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def _found_or_none(module: str, name: str) -> Any:
    try:
        return _found(module, name)
    except (ImportError, AttributeError):
        return None


class ArrayFunction(_core.KernelDispatcher):
    """A Python function as a function of arrays, with a loop for each combination of dtypes.

    A call is that of KernelDispatcher: to a kernel that fits the arguments, else to `call`.
    """

    kind: str
    __name__: str
    _made_of: tuple
    _takes: str  # the keywords of a call
    _instead: dict[str, str]  # what to write in place of methods of ufuncs that are not there
    __repr__, __eq__, __hash__ = FunctionValue.__repr__, FunctionValue.__eq__, FunctionValue.__hash__
    __copy__, __deepcopy__ = FunctionValue.__copy__, FunctionValue.__deepcopy__
    __reduce__, __dir__ = FunctionValue.__reduce__, FunctionValue.__dir__

    def __init__(self, function: types.FunctionType, target: str, nin: int, is_lazy: bool, layout: tuple | None = None):
        super().__init__(nin, has_signatures=not is_lazy, layout=layout)
        self.py_func = self.__wrapped__ = function
        self.is_lazy = is_lazy
        functools.update_wrapper(self, function)
        self.target = target
        self._lock = threading.Lock()
        self._loops: dict[tuple, Any] = {}
        self._dispatched: set[tuple] = set()  # what KernelDispatcher knows

    def dtypes_of(self, arguments: list[Any]) -> tuple[numpy.dtype, ...]:
        """The dtypes of arrays; those of Python's numbers adapt to the arrays, as in NumPy, where loops are given."""
        typed = [numpy.dtype(each.dtype) for each in arguments if hasattr(each, "dtype")]

        def dtype_of(value: Any) -> numpy.dtype:
            if hasattr(value, "dtype"):
                return numpy.dtype(value.dtype)
            if self.is_lazy or not typed:
                return numpy.dtype(type(value))
            return numpy.result_type(*typed, value)

        return tuple(map(dtype_of, arguments))

    def _iruka_in_kernel_(self, arguments: list[Any]) -> tuple[Any, tuple | None, tuple | None]:
        """What a kernel calls for these numbers, or things with their dtypes: a Python function, and the dtypes to
        which arguments and results are cast. Raises TypeError where there is nothing to call."""
        if self.is_lazy:
            return self.py_func, None, None
        key = self.dtypes_of(arguments)
        if (loop := self._loops.get(key) or self.fitting_loop(arguments)) is None:
            raise self.no_loop(key, ", ".join(self.types))
        return self.py_func, loop.inputs, loop.outputs

    def refuse_keywords(self, others: dict[str, Any]) -> None:
        """Raises TypeError where there are keywords beside those of a call."""
        if others:
            raise TypeError(
                f"{self.__name__}() got an unexpected keyword argument {next(iter(others))!r}; it takes {self._takes}"
            )

    def __getattr__(self, name: str) -> Any:
        hint = type(self)._instead.get(name)
        message = f"{self.kind} {self.__dict__.get('__name__', '')!r} has no attribute {name!r}"
        raise AttributeError(f"{message}; {hint}" if hint else message, name=name, obj=object() if hint else self)

    def fitting_loop(self, arguments: list[Any]) -> Any:
        """The first of the given loops whose inputs take these arguments by the rule 'safe'; None if there is none.

        Python's numbers adapt to the arrays; if no loop takes them so, they have the dtypes of their own types.
        """
        own = tuple(numpy.dtype(getattr(each, "dtype", type(each))) for each in arguments)
        for key in dict.fromkeys((self.dtypes_of(arguments), own)):
            for inputs, loop in list(self._loops.items()):
                if _can_cast(key, inputs):
                    return loop
        return None

    def dispatch(self, loop: Loop, arguments: list[Any], dtypes: tuple, on_host: bool) -> None:
        """Later calls with arguments of these types go to the loop's kernel without this class's checks."""
        if any(isinstance(each, int) and not -(2**63) <= each < 2**63 for each in arguments):
            return  # the dtype is not that of its type
        types = tuple(numpy.dtype(each.dtype) if hasattr(each, "dtype") else type(each) for each in arguments)
        takes_numpy = on_host and not (self.target == "cuda" and cuda.is_available())
        keys: set[tuple[Any, ...]] = {types, self.dtypes_of(arguments)}
        with self._lock:
            for inputs in keys:
                known = (inputs, dtypes, on_host)
                if known in self._dispatched or not all(map(_is_plain_type, inputs)):
                    continue
                if inputs is not types and not _can_cast(inputs, dtypes):
                    continue
                self._dispatched.add(known)
                reports = on_host and loop.translation.can_fail
                self.add_kernel(inputs, dtypes, loop.kernel(on_host), on_host, takes_numpy, reports)

    def no_loop(self, dtypes: tuple, known: str) -> TypeError:
        names = ", ".join(map(str, dtypes))
        return TypeError(
            f"ufunc {self.__name__!r} did not contain a loop with signature matching types ({names}); it has {known}"
        )

    def delivered(self, made: list[ndarray], out: Any, on_device: bool) -> Any:
        """What a call returns: `out` with the results in it, arrays of the device, or arrays of the host."""
        if out is None:
            finished = [each if on_device else asnumpy(each)[()] for each in made]
            return finished[0] if len(finished) == 1 else tuple(finished)
        for value, target in zip(made, listed(out) or (), strict=True):
            store_result(self.__name__, value, target)
        return out[0] if isinstance(out, (tuple, list)) and len(out) == 1 else out


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, numpy.generic))


def _can_cast(dtypes: tuple[numpy.dtype, ...], to: tuple[numpy.dtype, ...]) -> bool:
    """Whether the first dtypes of `to` take these by the rule 'safe'."""
    return all(numpy.can_cast(each, target) for each, target in zip(dtypes, to, strict=False))


def _is_plain_type(value: Any) -> bool:
    """Whether KernelDispatcher knows it as the type of an argument."""
    return isinstance(value, numpy.dtype) or value in (bool, int, float, complex)


_INSTEAD_OF_OPTIONS = {
    "locals": "a variable has the type of what is assigned to it: write numpy.float32(x)",
    "writable_args": "inputs are read-only: make the argument an output, which the function may read, too",
    "forceobj": "iruka.vectorize(function) runs in Python what has no kernel",
}
_HARMLESS_OPTIONS = ("boundscheck", "inline", "no_cpython_wrapper")  # indices are checked in any case


def check_options(caller: str, options: dict[str, Any]) -> None:
    """Raises TypeError for options of Numba's decorators that would mean something, and for others."""
    for name, value in options.items():
        if name in _HARMLESS_OPTIONS or (name in _INSTEAD_OF_OPTIONS and not value):
            continue
        hint = f"; {_INSTEAD_OF_OPTIONS[name]}" if name in _INSTEAD_OF_OPTIONS else ""
        raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}{hint}")


def checked_function(caller: str, function: Any) -> types.FunctionType:
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{caller}: a Python function is needed, not {type(function).__name__}")
    return function


def is_signature(value: Any) -> bool:
    """Whether it is a signature of Numba's, float64(float64)."""
    return value is not None and not callable(value) and type(value).__name__ == "Signature"


def check_target(caller: str, target: Any) -> None:
    if target not in ("cpu", "parallel", "cuda"):
        raise ValueError(f"{caller}: target must be 'cpu', 'parallel' or 'cuda', not {target!r}")


def store_result(name: str, value: Any, target: Any, where: Any = ...) -> None:
    """Writes a result into what out= gives, or into its elements at a mask, cast by the rule 'same_kind'."""
    if value is target:
        return
    if hasattr(target, "__cuda_array_interface__") and not isinstance(target, ndarray):
        target = asarray(target)
    if not isinstance(target, (ndarray, numpy.ndarray)):
        raise TypeError(f"{name}: out must be an array, or a tuple of arrays, not {type(target).__name__}")
    if not numpy.can_cast(value.dtype, target.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc {name!r} output from {value.dtype!r} to {target.dtype!r} with casting rule 'same_kind'"
        )
    if isinstance(target, ndarray):
        target[where] = value
    else:
        target[where if where is ... else asnumpy(where)] = asnumpy(value)


def listed(out: Any) -> tuple | None:
    """The arrays of out=; None where there is none."""
    return tuple(out) if isinstance(out, (tuple, list)) else None if out is None else (out,)


# Where the work is done


def is_on_device(value: Any) -> bool:
    return isinstance(value, ndarray) or hasattr(value, "__cuda_array_interface__")


def device_of(arguments: Any, results: Any, target: str) -> Any:
    """The device of the first array that has one; else the target's."""
    for each in itertools.chain(arguments, results or ()):
        if isinstance(each, ndarray):
            return each.device
        if hasattr(each, "__cuda_array_interface__"):
            return asarray(each).device
    return _core.device("cuda") if target == "cuda" and cuda.is_available() else CPU


def placed(value: Any, device: Any) -> ndarray:
    with device:
        array = asarray(value)
    return array if array.device == device else array.to_device(device)


def given_array(name: str, value: Any, device: Any) -> ndarray:
    """An argument of the function `name` as an array of the device. Raises TypeError for what holds no numbers."""
    try:
        return placed(value, device)
    except builtins.TypeError as error:
        dtype = None if is_on_device(value) else numpy.asarray(value).dtype
        if dtype is None or dtype.kind in "biufc":
            raise
        given = f"an array of dtype {dtype}" if numpy.ndim(value) else f"a {type(value).__name__}"
        raise TypeError(f"{name}() takes numbers and arrays of numbers, not {given}") from error


@contextlib.contextmanager
def working_on(device: Any, stream: Any) -> Iterator[None]:
    """New arrays lie on the device, and it works in the order of the stream where one is given."""
    with device:
        if stream is None:
            yield
            return
        before = _core.cuda_set_current_stream(device, stream)
        try:
            yield
        finally:
            _core.cuda_set_current_stream(device, before)


__all__ = [
    "CPU",
    "NOT_FAILED",
    "ArrayFunction",
    "FunctionValue",
    "Loop",
    "asserting",
    "check_options",
    "check_target",
    "checked_function",
    "device_of",
    "dtype_named",
    "given_array",
    "is_number",
    "is_on_device",
    "is_signature",
    "kernel_name",
    "listed",
    "placed",
    "reporting",
    "store_result",
    "working_on",
]
