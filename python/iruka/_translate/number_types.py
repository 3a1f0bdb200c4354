"""The types of values in a translated function, and the rules that combine them.

Numbers combine as in Numba: integers are computed in 64 bits, and a Python float is a float64.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any

import numpy

C_TYPES = {
    "bool": "bool",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}


@functools.lru_cache(maxsize=256)
def name_of(dtype: numpy.dtype) -> str:
    """The dtype's name, which NumPy takes long to make."""
    return dtype.name


def c_type_of(dtype: numpy.dtype) -> str:
    return C_TYPES[name_of(dtype)]


@functools.lru_cache(maxsize=256)
def _kind_of(dtype: numpy.dtype) -> str:
    return "f" if name_of(dtype) == "bfloat16" else dtype.kind


@dataclasses.dataclass(frozen=True)
class Number:
    """A scalar of a NumPy dtype.

    `known` is "natural" for int64 of constants that are not negative, and "small" for uint64 that was computed from
    integers of at most 32 bits. It says with which types others combine, and is no part of the type itself.
    """

    dtype: numpy.dtype
    known: str = dataclasses.field(default="", compare=False)

    @property
    def c_type(self) -> str:
        return c_type_of(self.dtype)

    @property
    def kind(self) -> str:
        return _kind_of(self.dtype)

    def __str__(self):
        return name_of(self.dtype)


@dataclasses.dataclass(frozen=True)
class Scalar(Number):
    """A scalar of NumPy, where they and Python's numbers are told apart (numpy_scalars.py)."""


@dataclasses.dataclass(frozen=True)
class OneOf(Number):
    """A number whose type, one of several, is known when the kernel runs. `dtype` holds them all."""

    options: tuple[Number, ...] = ()

    @property
    def c_type(self) -> str:
        return f"python::OneOf<{', '.join(option.c_type for option in self.options)}>"

    def __str__(self):
        return " or ".join(map(str, self.options))


@dataclasses.dataclass(frozen=True)
class Tuple:
    """A tuple, whose length and types are known."""

    items: tuple[Any, ...]

    def __str__(self):
        return f"({', '.join(map(str, self.items))}{',' if len(self.items) == 1 else ''})"


@dataclasses.dataclass(frozen=True)
class Closure(Tuple):
    """A function inside of a function. Its parts are default values, and where it is captured the outer variables."""

    function: Any
    is_captured: bool = False

    def __str__(self):
        return f"the function {self.function.__name__}"


@dataclasses.dataclass(frozen=True)
class LocalArray:
    """An array of fixed shape that each element's computation has for itself."""

    dtype: numpy.dtype
    shape: tuple[int, ...]

    def __str__(self):
        return f"{name_of(self.dtype)} array of shape {self.shape}"


@dataclasses.dataclass(frozen=True)
class ArrayView:
    """A part of an array that the kernel was given."""

    dtype: numpy.dtype
    ndim: int
    is_writable: bool
    is_contiguous: bool = False  # known to be in C order
    axes: tuple[str | int, ...] = ()  # the extents, or names of extents; axes of one name have one extent
    is_small: bool = False  # extents, and places and bytes within the array, are known to fit int32
    longest: int = 2**63 - 1  # no axis has more elements

    @property
    def c_type(self) -> str:
        return f"python::View<{c_type_of(self.dtype)}, {self.ndim}>"

    def __str__(self):
        return f"{name_of(self.dtype)} array of {self.ndim} ax{'i' if self.ndim == 1 else 'e'}s"


@dataclasses.dataclass(frozen=True, eq=False)
class Object:
    """A Python object that is known when the function is translated: a function, a module, a string, None."""

    value: Any

    def __eq__(self, other):
        return isinstance(other, Object) and (self.value is other.value or self._same(other.value))

    def _same(self, other) -> bool:
        return type(self.value) is type(other) and isinstance(other, (str, bytes)) and self.value == other

    def __hash__(self):
        return hash(id(type(self.value)))

    def __str__(self):
        return "None" if self.value is None else type(self.value).__name__


def number(dtype: Any) -> Number:
    return Number(numpy.dtype(dtype))


def part_of(type: Number) -> Number:
    """The type of the parts of a complex number."""
    return number("float32" if type.dtype == numpy.complex64 else "float64")


BOOL, INT, UINT, FLOAT, COMPLEX = (number(name) for name in ("bool", "int64", "uint64", "float64", "complex128"))
NATURAL, SMALL = Number(INT.dtype, "natural"), Number(UINT.dtype, "small")


def of_python(value: Any) -> Number | None:
    """The type of a Python or NumPy scalar; None for another object."""
    if isinstance(value, numpy.generic):
        return Number(value.dtype) if name_of(value.dtype) in C_TYPES else None
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT if -(2**63) <= value < 2**63 else UINT if 0 <= value < 2**64 else None
    if isinstance(value, float):
        return FLOAT
    return COMPLEX if isinstance(value, complex) else None


def is_tuple(type: Any) -> bool:
    """Whether this is a tuple as Python has it; functions have parts, too."""
    return isinstance(type, Tuple) and not isinstance(type, Closure)


def is_whole(kind: Number) -> bool:
    return kind.kind in "iub"


def is_wide(type: Number) -> bool:
    """Whether unsigned integers of this type may be above those of int64."""
    return type == UINT and type.known != "small"


def arithmetic(a: Number, b: Number) -> Number:
    """The type of a + b: integers have 64 bits. uint64 with a signed integer is float64, except with constants that
    are not negative."""
    if not (is_whole(a) and is_whole(b)):
        return Number(numpy.promote_types(a.dtype, b.dtype))
    unsigned = [each.kind == "u" for each in (a, b)]
    if all(unsigned):
        return UINT if is_wide(a) or is_wide(b) else SMALL
    if not (is_wide(a) or is_wide(b)):
        return SMALL if BOOL in (a, b) and UINT in (a, b) else INT
    return UINT if BOOL in (a, b) or "natural" in (a.known, b.known) else FLOAT


def inexact(a: Number) -> Number:
    """The type in which mathematical functions of `a` are computed."""
    return FLOAT if is_whole(a) else a


def known_of(types: Iterable[Any]) -> tuple:
    """What is known of each of these types beyond itself."""
    return tuple(known_of(each.items) if isinstance(each, Tuple) else getattr(each, "known", "") for each in types)


def has_array(type: Any) -> bool:
    """Whether a local array is part of values of the type."""
    return any(map(has_array, type.items)) if isinstance(type, Tuple) else isinstance(type, LocalArray)


def unify(a: Any, b: Any) -> Any:
    """The type of a variable to which values of both types are assigned; None where there is none."""
    if isinstance(a, Number) and isinstance(b, Number):
        return _unify_numbers(a, b)
    if a == b:
        return a
    if isinstance(a, ArrayView) and isinstance(b, ArrayView) and (a.dtype, a.ndim) == (b.dtype, b.ndim):
        return ArrayView(
            a.dtype,
            a.ndim,
            a.is_writable and b.is_writable,
            a.is_contiguous and b.is_contiguous,
            a.axes if a.axes == b.axes else (),
            a.is_small and b.is_small,
            max(a.longest, b.longest),
        )
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        items = tuple(unify(left, right) for left, right in zip(a.items, b.items, strict=True))
        is_one = dataclasses.replace(a, items=items) == dataclasses.replace(b, items=items)
        return None if None in items or not is_one else dataclasses.replace(a, items=items)
    return None


def _unify_numbers(a: Number, b: Number) -> Number:
    if a == b:
        return a if a.known == b.known else Number(a.dtype)
    if BOOL in (a, b) and is_whole(a) and is_whole(b):
        return b if a == BOOL else a
    if {a, b} == {INT, UINT} and (SMALL.known in (a.known, b.known) or NATURAL.known in (a.known, b.known)):
        return UINT if is_wide(a) or is_wide(b) else INT
    both = Number(numpy.promote_types(a.dtype, b.dtype))
    return SMALL if both == UINT and not (is_wide(a) or is_wide(b)) else both


def unified(types: Iterable[Any]) -> Any:
    """The type that holds values of all these types; None where there is none."""
    return functools.reduce(lambda a, b: a if a is None else unify(a, b), types)
