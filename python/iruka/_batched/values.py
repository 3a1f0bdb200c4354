"""The array that a function of one slice is called on: it holds all slices, and each operation works on all of them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy

from .._core import ndarray
from .._numpy.conversion import asarray, asnumpy
from .._numpy.shapes import broadcast_to

# Operations after which a function is first tried as a kernel, and after which few slices are run by the loop.
STEPS_OF_A_SHORT_FUNCTION = 400
FEW_SLICES = 16


class Untraceable(BaseException):
    """The function has to be called for one slice after another. No Exception, which the function could catch."""


class Diverges(Untraceable):
    """The function does not do the same for all slices, or takes many steps; a kernel may be better."""


class Split(BaseException):
    """The function needs a Python number, and slices differ in it: `keys` has the number of each slice."""

    def __init__(self, keys: numpy.ndarray):
        super().__init__()
        self.keys = keys


class Tracer:
    """One call of the function on `count` slices; `table` has the rules of its operations."""

    def __init__(self, is_strict: bool, table: Any):
        self.is_strict, self.table = is_strict, table
        self.refusal: BaseException | None = None
        self.begin(0)

    def begin(self, count: int) -> None:
        self.count, self.steps, self.refusal = count, 0, None
        self.largest = 0  # bytes for each slice of the largest array that the function makes

    def step(self) -> None:
        self.steps += 1
        if self.steps > STEPS_OF_A_SHORT_FUNCTION and (self.is_strict or self.count < FEW_SLICES):
            self.stop(Diverges(f"it takes more than {STEPS_OF_A_SHORT_FUNCTION} steps for {self.count} slices"))

    def refuse(self, reason: str) -> NoReturn:
        self.stop(Untraceable(reason))

    def stop(self, error: BaseException) -> NoReturn:
        self.refusal = error  # for a function that catches everything
        raise error

    def call(self, name: str, *arguments, **keywords) -> Any:
        """Array function `name` for all slices."""
        return self.table.perform(self, name, arguments, keywords)

    def batched(self, data: ndarray, kind: type | None = None) -> Batched:
        if data.shape[0] not in (1, self.count):
            self.refuse(f"a result has {data.shape[0]} parts for {self.count} slices")
        self.largest = max(self.largest, data.nbytes // self.count)
        return Batched(self, data, kind)

    def constant(self, value: Any) -> Batched:
        """An array that is the same for all slices."""
        array = asarray(value)
        return Batched(self, array.reshape((1, *array.shape)), None)

    def number(self, batched: Batched) -> Any:
        """The Python number that a batched scalar is in all slices. Raises Split where slices differ."""
        if batched.data.size != batched.data.shape[0]:
            self.refuse(f"an array of shape {batched.shape} has no truth value and is no number")
        host = asnumpy(batched.data).reshape(-1)
        first = host[0].item()
        is_same = (host == host[0]) | (host != host) if first != first else host == host[0]
        if is_same.all() or len(host) == 1:
            return first
        if self.is_strict:
            self.stop(Diverges("what it does depends on the values of the slice"))
        self.stop(Split(host))


def _method(name: str) -> Callable:
    def method(self, *arguments, **keywords):
        return self.tracer.call(name, self, *arguments, **keywords)

    return method


def _operator(name: str, is_reflected: bool = False) -> Callable:
    def operator(self, other):
        if not is_operand(other):
            return NotImplemented
        pair = (other, self) if is_reflected else (self, other)
        return self.tracer.call(name if name == "matmul" else "operator " + name, *pair)

    return operator


def _comparison(name: str) -> Callable:
    def comparison(self, other):
        if not is_operand(other):
            self.tracer.refuse(f"it compares a slice with a {type(other).__name__}")
        return self.tracer.call("operator " + name, self, other)

    return comparison


def _in_place(name: str) -> Callable:
    def operator(self, other):
        if not is_operand(other):
            return NotImplemented
        if self.ndim == 0:  # a number, which has no place
            return self.tracer.call("operator " + name, self, other)
        return self.tracer.call("in-place " + name, self, other)

    return operator


def _number(convert: Callable) -> Callable:
    return lambda self: convert(self.tracer.number(self))


def is_operand(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, numpy.generic, numpy.ndarray, list, tuple, ndarray))


_METHODS = (
    "all any argmax argmin argpartition argsort choose clip compress conj conjugate cumprod cumsum diagonal dot max "
    "mean min nonzero prod ptp ravel repeat round searchsorted squeeze std sum swapaxes take trace var astype"
)
_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}


class Batched:
    """An array, or a number, of each slice. `data` has the slices as its first axis; extent 1 where all are the same.

    `kind` is the Python type of a number that adapts to the dtypes of arrays (float, int, bool), else None.
    """

    __slots__ = ("data", "kind", "tracer")
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000.0

    def __init__(self, tracer: Tracer, data: ndarray, kind: type | None):
        self.tracer, self.data, self.kind = tracer, data, kind

    @property  # type: ignore[misc]
    def __class__(self):  # isinstance answers as for a slice
        return self.kind or ndarray

    shape = property(lambda self: self.data.shape[1:])
    ndim = property(lambda self: self.data.ndim - 1)
    size = property(lambda self: math.prod(self.shape))
    dtype = property(lambda self: self.data.dtype)
    itemsize = property(lambda self: self.data.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    device = property(lambda self: self.data.device)
    T = property(lambda self: self.tracer.call("transpose", self))
    mT = property(lambda self: self.tracer.call("matrix_transpose", self))
    real = property(lambda self: self.tracer.call("real", self))
    imag = property(lambda self: self.tracer.call("imag", self))
    flat = property(lambda self: self.tracer.call("ravel", self))

    def __getattr__(self, name: str):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self.tracer.refuse(f"the attribute {name!r} of a slice has no counterpart for many slices")

    def __len__(self) -> int:
        if self.ndim == 0:
            raise builtins.TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator:
        if self.ndim == 0:
            raise builtins.TypeError("iteration over a 0-d array")
        return (self[k] for k in range(self.shape[0]))

    def __getitem__(self, key):
        return self.tracer.call("get item", self, key)

    def __setitem__(self, key, value):
        self.tracer.call("set item", self, key, value)

    def __contains__(self, value):
        return bool((self == value).any())

    __bool__ = _number(bool)
    __int__ = _number(int)
    __index__ = _number(lambda value: value.__index__())
    __float__ = _number(float)
    __complex__ = _number(complex)
    __neg__, __pos__, __abs__, __invert__ = map(_method, ("operator negative", "positive", "operator abs", "invert"))
    __matmul__ = _operator("matmul")
    __rmatmul__ = _operator("matmul", True)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __round__(self, digits=None):
        if digits is not None:
            return self.tracer.call("round", self, digits)
        return self.tracer.call("int", self.tracer.call("rint", self))

    def __str__(self):
        self.tracer.refuse("it writes values as text")

    __repr__ = __str__

    def __format__(self, specification):
        return str(self)

    def __array__(self, *arguments, **keywords):
        self.tracer.refuse("it passes a slice to a function that is not known here")

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        if method == "__call__" and ufunc.__name__ in _UFUNCS_OF_OPERATORS:
            name = "operator " + ufunc.__name__
        return self.tracer.call(name, *inputs, **keywords)

    def __array_function__(self, function, types, arguments, keywords):
        return self.tracer.call(self.tracer.table.name_of(function) or function.__name__, *arguments, **keywords)

    # Methods that are no functions of the same name

    def item(self, *place):
        return self.tracer.call("item", self[place] if place else self)

    def tolist(self):
        return self.item() if self.ndim == 0 else [part.tolist() for part in self]

    def copy(self, order="C"):
        return self.tracer.call("copy", self)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def flatten(self, order="C"):
        return self.tracer.call("copy", self.tracer.call("ravel", self, order))

    def reshape(self, *shape, **keywords):
        return self.tracer.call("reshape", self, shape[0] if len(shape) == 1 else shape, **keywords)

    def transpose(self, *axes):
        return self.tracer.call("transpose", self, (axes[0] if len(axes) == 1 else axes) or None)

    def fill(self, value):
        self[...] = value

    def sort(self, axis=-1, kind=None, order=None, **keywords):
        self[...] = self.tracer.call("sort", self, axis, kind, order, **keywords)

    def partition(self, kth, axis=-1, kind="introselect", order=None):
        self[...] = self.tracer.call("partition", self, kth, axis, kind, order)


_UFUNCS_OF_OPERATORS = {*_OPERATORS.values(), *_COMPARISONS.values(), "divide"}

for _name in _METHODS.split():
    setattr(Batched, _name, _method(_name))
for _name, _function in _OPERATORS.items():
    setattr(Batched, f"__{_name}__", _operator(_function))
    setattr(Batched, f"__r{_name}__", _operator(_function, True))
    setattr(Batched, f"__i{_name}__", _in_place(_function))
for _name, _function in _COMPARISONS.items():
    setattr(Batched, f"__{_name}__", _comparison(_function))


def is_batched(value: Any) -> bool:
    return type(value) is Batched


def contains_batched(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and not is_batched(value):
        return any(map(contains_batched, value))
    if type(value) is dict:
        return any(map(contains_batched, value.values()))
    if type(value) is slice:
        return any(map(is_batched, (value.start, value.stop, value.step)))
    return is_batched(value)


def spread(batched: Batched) -> ndarray:
    """The data, with one part for each slice."""
    data = batched.data
    count = batched.tracer.count
    return data if data.shape[0] == count else broadcast_to(data, (count, *data.shape[1:]))
