"""What an expression of a Python function becomes: C++ text of a known type, or a Python object."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy

from .bounds import Form
from .number_types import INT, NATURAL, Closure, Number, Object, OneOf, Tuple, of_python, part_of

UNKNOWN = object()


class Value:
    """One value. `text` is a C++ expression that may stand between any operators; a tuple has `items` instead.

    `constant` is the Python object where the value is known when the function is translated, `form` what is known of an
    integer.
    """

    __slots__ = ("constant", "form", "items", "text", "type")

    def __init__(
        self,
        type: Any,
        text: str = "",
        constant: Any = UNKNOWN,
        items: tuple[Value, ...] = (),
        form: Form | None = None,
    ):
        self.type, self.text, self.constant, self.items, self.form = type, text, constant, items, form

    @property
    def is_constant(self) -> bool:
        return self.constant is not UNKNOWN

    @property
    def is_number(self) -> bool:
        return isinstance(self.type, Number)

    def as_type(self, type: Number) -> str:
        """The text, converted to another type of number."""
        if self.type == type:
            return self.text
        if isinstance(type, OneOf) or isinstance(self.type, OneOf):
            return _between_options(self, type)
        if self.is_constant:
            return literal(self.constant, type)
        if type.dtype.kind == "b":
            return f"({self.text} != {literal(0, self.type)})"
        if self.type.dtype.kind == "c" and type.dtype.kind != "c":
            raise ValueError("a complex number has no real value")
        if type.dtype.kind == "c" and self.type.dtype.kind != "c":
            return f"{type.c_type}(({part_of(type).c_type}){self.text})"
        return f"(({type.c_type}){self.text})"


def _between_options(value: Value, type: Number) -> str:
    """Conversion to or from a number of one of several types."""
    if not isinstance(value.type, OneOf):
        assert isinstance(type, OneOf)
        place = type.options.index(value.type)
        return f"{type.c_type}{{{place}, {'{}, ' * place}{value.text}}}"
    name = value.text if value.text.isidentifier() else "number"
    text = ""
    for k, option in reversed(list(enumerate(value.type.options))):
        converted = Value(option, f"{name}.v{k}").as_type(type)
        text = f"({name}.kind == {k} ? {converted} : {text})" if text else converted
    return text if name == value.text else f"([&](const auto &number) {{ return {text}; }}({value.text}))"


def literal(value: Any, type: Number | None = None) -> str:
    """A number as C++ text, of its own type or of another one."""
    type = type or of_python(value)
    assert type is not None, value
    kind = type.dtype.kind
    if kind == "b":
        return "true" if value else "false"
    if kind in "iu":
        if not _fits(int(value)):
            raise OverflowError(f"{value} does not fit {type}")
        number = int(numpy.array(int(value)).astype(type.dtype))
        if number == -(2**63):
            return "((int64_t)(-9223372036854775807ll - 1))"
        return f"(({type.c_type}){number}{'ull' if number >= 2**63 else 'll'})"
    if kind == "c":
        part = part_of(type)
        return f"{type.c_type}({literal(complex(value).real, part)}, {literal(complex(value).imag, part)})"
    return f"(({type.c_type}){_float_text(float(value))})"


def _fits(value: int) -> bool:
    return -(2**63) <= value < 2**64


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    return f"({value!r})" if math.copysign(1, value) < 0 else repr(value)


def constant(value: Any) -> Value:
    """A Python object as a value: a number, a tuple of values, or an object that only the translation uses."""
    if isinstance(value, tuple):
        items = tuple(map(constant, value))
        return Value(Tuple(tuple(item.type for item in items)), constant=value, items=items)
    if isinstance(value, numpy.ndarray) and value.ndim == 0:
        value = value[()]
    type = of_python(value)
    if type is None:
        return Value(Object(value), constant=value)
    return Value(NATURAL if type == INT and value >= 0 else type, literal(value, type), value)


def tuple_of(items: list[Value] | tuple[Value, ...], like: Any = None) -> Value:
    """A tuple of these values, or what else has parts: a function such as `like`."""
    if isinstance(like, Closure):
        return Value(dataclasses.replace(like, items=tuple(item.type for item in items)), items=tuple(items))
    known = all(item.is_constant for item in items)
    return Value(
        Tuple(tuple(item.type for item in items)),
        constant=tuple(item.constant for item in items) if known else UNKNOWN,
        items=tuple(items),
    )


def integer(text: str, form: Form | None = None) -> Value:
    return Value(INT, text, form=form)
