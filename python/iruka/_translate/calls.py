"""Calls of functions as C++ expressions, and Python's built-in functions."""

from __future__ import annotations

import abc
import ast
import functools
import math
import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy

from .. import _core, _thread_names as jit
from . import functions as table
from .array_expressions import is_array
from .expressions import Expressions
from .knowledge import form_of
from .number_types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UINT,
    ArrayView,
    Closure,
    LocalArray,
    Number,
    Object,
    arithmetic,
    inexact,
    is_whole,
    is_wide,
    part_of,
)
from .values import Value, constant, literal, tuple_of

_KERNELS = (_core.ElementwiseKernel, _core.ReductionKernel, _core.StagedKernel, _core.RawKernel)
_INSTEAD: dict[Any, str] = {
    map: "call the function for each element, in a tuple or a loop",
    filter: "write a loop with `if`",
    functools.reduce: "write a loop",
    sorted: "order the numbers with min() and max(), or in an array of fixed size, with loops",
    list: "a list has no fixed size; use a tuple, or numpy.zeros for an array of fixed size",
    dict: "a dict has no place in a kernel; use a tuple and indices, or conditional expressions",
    set: "a set has no place in a kernel; compare with each of its elements",
    str: "strings have no place in a kernel, except in raise and assert",
    isinstance: "the types are known when the kernel is made, and each combination of types has a kernel of its own",
    **dict.fromkeys((range, enumerate, zip, reversed), "it stands in the head of a loop, as in for k in range(n)"),
    **dict.fromkeys((numpy.matmul, numpy.dot, numpy.inner, numpy.vdot, numpy.vecdot), "write loops over the elements"),
}
_ARRAY_MAKERS = ("empty_like", "full_like", "ones_like", "zeros_like", "arange", "linspace", "copy")
_FARTHEST = 10_000  # exponent of a power of two that matters to a float
_MOST_DIGITS = 22  # of round(): no float is a farther power of ten


def _is_elementwise(function: Any) -> bool:
    """Whether it is a function of elements where it is called with arrays."""
    others = (abs, numpy.clip, numpy.round, numpy.around, numpy.where)
    is_of_elements = isinstance(function, numpy.ufunc) and function.signature is None
    return is_of_elements or any(function is each for each in others)


def _most_inputs(function: Any) -> int:
    """How many arguments an elementwise function has that are no outputs."""
    if isinstance(function, numpy.ufunc):
        return function.nin
    return {abs: 1, numpy.round: 2, numpy.around: 2}.get(function, 3)


def _as_argument(value: Value) -> Any:
    """A constant of Python's as it is, whose dtype adapts; of another number its type, which has a dtype."""
    return value.constant if type(value.constant) in (bool, int, float, complex) else value.type


def _cast_to(dtype: numpy.dtype, value: Value) -> Value:
    type = Number(dtype)
    return Value(type, value.as_type(type)) if value.is_number else value


class Calls(Expressions):
    """Translates calls."""

    variables: dict[str, Any]

    @abc.abstractmethod
    def matched(self, function: Any, arguments: list[Value], keywords: dict, node: ast.Call) -> list[Value]: ...
    @abc.abstractmethod
    def call_made(self, function: Any, values: list[Value], node: ast.Call) -> Value: ...

    def _Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate":
            owner = self.value(node.func.value)
            if owner.is_number:
                return self._conjugate(owner)
        called = self.value(node.func)
        if not isinstance(called.type, (Object, Closure)):
            self.refuse(node, f"{called.type} is no function")
        arguments = self.values(node.args)
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse(node, "arguments with ** are not supported; write each")
            keywords[keyword.arg] = self.value(keyword.value)
        if isinstance(called.type, Closure):
            return self.call_nested(called, arguments, keywords, node)
        return self.call(table.of_iruka(called.constant), arguments, keywords, node)

    def function_named(self, node: ast.expr) -> Value | None:
        """What a name or a module's attribute is, which is called; None for methods of numbers, which have no value."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return None
        is_known = root is node or isinstance(self.variables.get(root.id, Object(None)), Object)
        return self.value(node) if is_known else None

    @staticmethod
    def _conjugate(value: Value) -> Value:
        return Value(value.type, f"conj({value.text})") if value.type.kind == "c" else value

    def call(self, function: Any, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """A call of what is known when the function is translated."""
        if not isinstance(function, Hashable):
            self.refuse(node, f"{type(function).__name__} is no function")
        if _is_elementwise(function) and any(map(is_array, arguments)) and not keywords:
            if len(arguments) > _most_inputs(function):
                name = getattr(function, "__name__", "a function")
                self.refuse(
                    node, f"an output among the arguments of {name}() is not supported; write out[:] = {name}(...)"
                )
            made = self.of_arrays(lambda *given: self.call(function, [*given], {}, node), arguments, node)
            if made is not None:
                return made
        if (own := _OWN.get(function)) is not None:
            return own(self, arguments, keywords, node)
        if isinstance(function, types.FunctionType):
            if function.__module__ == jit.__name__:
                self.refuse(node, f"jit.{function.__name__}() has a meaning only in a function under @jit.rawkernel")
            return self.call_function(function, arguments, keywords, node)
        if hasattr(type(function), "_iruka_in_kernel_"):
            return self.call_made_function(function, arguments, keywords, node)
        name = getattr(function, "__name__", str(function))
        try:
            if keywords:
                raise TypeError("takes no keywords in a kernel")
            if function in table.FUNCTIONS:
                return table.FUNCTIONS[function](arguments)
            if function in table.BINARY_FUNCTIONS and len(arguments) == 2:
                return self.compared(table.BINARY_FUNCTIONS[function], arguments[0], arguments[1], node)
            if function in table.UNARY_FUNCTIONS and len(arguments) == 1:
                return self.unary(table.UNARY_FUNCTIONS[function], arguments[0], node)
            if (made := self.call_of_numpy(function, arguments, node)) is not None:
                return made
            if (target := table.cast_to(function)) is not None:
                is_kept = function is int and len(arguments) == 1 and arguments[0].is_number
                return self._cast(UINT if is_kept and is_wide(arguments[0].type) else target, arguments)
        except TypeError as error:
            self.refuse(node, f"{name}() {error}{self.advice_on(arguments)}")
        self.refuse(node, f"{name}() has no kernel; {self._instead_of(function, name, arguments)}")

    def _instead_of(self, function: Any, name: str, arguments: list[Value]) -> str:
        """What to write in place of a call that has no kernel."""
        if isinstance(function, _KERNELS):
            return (
                f"it is an {type(function).__name__}, which is launched from outside; write its body as a Python "
                "function"
            )
        if function in _INSTEAD:
            return _INSTEAD[function]
        if name in _ARRAY_MAKERS:
            return (
                "a kernel makes arrays of known shape alone, as numpy.zeros(4); for one as large as an argument add an "
                "output to the layout of guvectorize"
            )
        if advice := self.advice_on(arguments):
            return f"it takes numbers here{advice}"
        return (
            "functions of numbers from math, cmath and numpy, and Python functions whose text is there, may be called"
        )

    def call_made_function(
        self, function: Any, arguments: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        """A call of what vectorize or jit.rawkernel made: of its Python function, with the casts of its signature."""
        name = getattr(function, "__name__", str(function))
        if wrong := [each.type for each in (*arguments, *keywords.values()) if not each.is_number]:
            self.refuse(node, f"{name}() takes numbers, not {wrong[0]}{self.advice_on(arguments)}")
        try:
            made_of, inputs, outputs = function._iruka_in_kernel_([_as_argument(each) for each in arguments])
        except TypeError as error:
            self.refuse(node, str(error))
        values = self.matched(made_of, arguments, keywords, node)
        if inputs is not None:
            values = [_cast_to(dtype, each) for dtype, each in zip(inputs, values, strict=True)]
        result = self.call_made(made_of, values, node)
        if outputs is None:
            return result
        items = result.items or (result,)
        if len(items) != len(outputs):
            self.refuse(node, f"{name}() has {len(outputs)} results, and its function returns {len(items)}")
        casts = [_cast_to(*each) for each in zip(outputs, items, strict=True)]
        return tuple_of(casts) if result.items else casts[0]

    def call_of_numpy(self, function: Any, arguments: list[Value], node: ast.Call) -> Value | None:
        if function is numpy.where and len(arguments) == 3 and all(each.is_number for each in arguments):
            return self.chosen(self.truth_of(arguments[0], node), arguments[1], arguments[2], node)
        if function in (numpy.conj, numpy.conjugate) and len(arguments) == 1 and arguments[0].is_number:
            return self._conjugate(arguments[0])
        if function in (numpy.logical_and, numpy.logical_or) and len(arguments) == 2:
            sign = "&&" if function is numpy.logical_and else "||"
            return Value(BOOL, f"({f' {sign} '.join(self.truth_of(each, node) for each in arguments)})")
        if function in (numpy.zeros, numpy.ones, numpy.empty, numpy.full, numpy.array):
            self.refuse(node, "an array is made by an assignment to a name: a = numpy.zeros(3)")
        if function in (numpy.round, numpy.around) and arguments and arguments[0].is_number:
            return self._around(arguments)
        if function is numpy.real or function is numpy.imag:
            return self._part(self._number(arguments, {}, node), function.__name__)
        return None

    @staticmethod
    def _around(arguments: list[Value]) -> Value:
        """numpy.round, which leaves integers as they are."""
        value, digits = arguments[0], arguments[1].constant if len(arguments) > 1 else 0
        if len(arguments) > 2 or not isinstance(digits, int):
            raise TypeError("takes a number, and a known number of digits")
        if is_whole(value.type) and digits >= 0:
            return value
        type = FLOAT if is_whole(value.type) else value.type
        made = Value(type, f"iruka::around({value.as_type(type)}, {digits})")
        return Value(value.type, made.as_type(value.type)) if value.type.kind in "iu" else made

    def _cast(self, type: Number, arguments: list[Value]) -> Value:
        if len(arguments) == 1 and isinstance(arguments[0].constant, str):  # float("inf")
            try:
                return constant(type.dtype.type(arguments[0].constant).item())
            except ValueError as error:
                raise TypeError(f"cannot take this: {error}") from error
        if type == COMPLEX and len(arguments) == 2:
            return Value(COMPLEX, f"complex<double>({', '.join(each.as_type(FLOAT) for each in arguments)})")
        if len(arguments) > 1 or not all(value.is_number for value in arguments):
            raise TypeError("takes one number here")
        if not arguments:
            return Value(type, literal(0, type), type.dtype.type(0).item())
        if arguments[0].type.kind == "c" and type.kind != "c":
            raise TypeError("takes no complex number")
        if arguments[0].is_constant and arguments[0].type.kind in "iufb" and type.kind in "iufb":
            try:
                value = type.dtype.type(int(arguments[0].constant) if type == INT else arguments[0].constant)
            except (OverflowError, ValueError) as error:
                raise TypeError(f"cannot take {arguments[0].constant}: {error}") from error
            return constant(value if type not in (INT, FLOAT, BOOL) else value.item())
        return self.with_form(Value(type, arguments[0].as_type(type)), form_of(arguments[0]))

    # Functions whose arguments are more than numbers, or known when the function is translated

    def _number(self, arguments: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        """The only argument."""
        if len(arguments) != 1 or keywords or not arguments[0].is_number:
            self.refuse(node, "takes one number here")
        return arguments[0]

    def _two_numbers(self, arguments: list[Value], keywords: dict[str, Value], node: ast.AST) -> list[Value]:
        if len(arguments) != 2 or keywords or not all(value.is_number for value in arguments):
            self.refuse(node, "takes two numbers here")
        return arguments

    def _items(self, arguments: list[Value], keywords: dict[str, Value], node: ast.AST) -> tuple[Value, ...]:
        """The elements of the only argument."""
        if len(arguments) != 1 or keywords:
            self.refuse(node, "takes one tuple here")
        return self.items_of(arguments[0], node)

    def _abs(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        value = self._number(arguments, keywords, node)
        if value.type.kind == "c":
            return Value(part_of(value.type), f"abs({value.text})")
        type = arithmetic(value.type, value.type) if is_whole(value.type) else value.type
        return Value(type, value.as_type(type) if type.kind == "u" else f"python::absolute({value.as_type(type)})")

    def _extreme(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call, name: str) -> Value:
        """min and max: `name` is the C++ function of two numbers."""
        own = "min" if name == "first_min" else "max"
        if keywords:
            self.refuse(node, f"{own}() takes no {next(iter(keywords))}= in a kernel; compare the numbers with `if`")
        if len(arguments) > 1 and any(map(is_array, arguments)):
            self.refuse(node, f"{own}() takes numbers; for arrays write numpy.{own}imum, as in out[:] = "
                              f"numpy.{own}imum(x, y)")  # fmt: skip
        items = self.items_of(arguments[0], node) if len(arguments) == 1 else arguments
        if not items or not all(item.is_number for item in items):
            self.refuse(node, f"{own}() takes one number or more{self.advice_on(arguments)}")
        result = items[0]
        for item in items[1:]:
            type = self.unify(result.type, item.type)
            made = Value(type, f"python::{name}({result.as_type(type)}, {item.as_type(type)})")
            result = self.with_extreme(name, result, item, made) if is_whole(type) else made
        return result

    def _sum(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        if len(arguments) not in (1, 2) or keywords:
            self.refuse(node, "sum() takes a tuple here")
        result = arguments[1] if len(arguments) == 2 else constant(0)
        for item in self.items_of(arguments[0], node):
            result = self.binary("+", result, item, node)
        return result

    def _len(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        if len(arguments) == 1 and self.is_sequence(arguments[0]):
            return constant(len(arguments[0].constant))
        if len(arguments) == 1 and isinstance(arguments[0].type, LocalArray):
            return constant(arguments[0].type.shape[0])
        if len(arguments) == 1 and isinstance(arguments[0].type, ArrayView):
            return self.length(arguments[0], 0)
        return constant(len(self._items(arguments, keywords, node)))

    def _pow(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        a, b = self._two_numbers(arguments, keywords, node)
        return self.binary("**", a, b, node)

    def _divmod(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        a, b = (self.kept(value, node) for value in self._two_numbers(arguments, keywords, node))
        return tuple_of([self.binary("//", a, b, node), self.binary("%", a, b, node)])

    def _round(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        digits = keywords.get("ndigits") or (arguments[1] if len(arguments) == 2 else None)
        value = arguments[0] if arguments and arguments[0].is_number else None
        is_known = digits is None or isinstance(digits.constant, (int, types.NoneType))
        if value is None or value.type.kind == "c" or not is_known:
            self.refuse(node, "round() takes a real number, and a known number of digits")
        count = None if digits is None or digits.constant is None else int(digits.constant)
        if is_whole(value.type):
            return self._as_sum(value) if not count or count > 0 else self._rounded_integer(self._as_sum(value), -count)
        if count is None:
            return Value(INT, f"((int64_t)rint({value.text}))")
        if abs(count) > _MOST_DIGITS:
            self.refuse(node, f"round() takes from -{_MOST_DIGITS} to {_MOST_DIGITS} digits in a kernel, not {count}, "
                              "as no float is a farther power of ten; use numpy.round, which rounds that power, "
                              "too")  # fmt: skip
        name = "rounded_to" if count >= 0 else "rounded_above"
        text = f"python::{name}({value.as_type(FLOAT)}, {literal(10.0 ** abs(count))})"
        return Value(value.type, Value(FLOAT, text).as_type(value.type))

    @staticmethod
    def _rounded_integer(value: Value, zeros: int) -> Value:
        """The nearest integer that ends with so many zeros."""
        if 10**zeros >= 2**64:
            return Value(value.type, literal(0, value.type))
        given = f"({value.type.c_type}){value.text}, {literal(10**zeros, UINT)}"
        return Value(value.type, f"python::rounded_above({given})")

    @staticmethod
    def _as_sum(value: Value) -> Value:
        """An integer in the type of sums of such integers."""
        type = arithmetic(value.type, value.type)
        return Value(type, value.as_type(type))

    def _log(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        rows = table.FUNCTIONS[math.log]
        if len(arguments) == 2 and not keywords:
            return self.binary("/", rows(arguments[:1]), rows(arguments[1:]), node)
        return rows([self._number(arguments, keywords, node)])

    def _rounded(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call, function: Any) -> Value:
        """floor, ceil and trunc, which leave integers as they are."""
        value = self._number(arguments, keywords, node)
        return self._as_sum(value) if is_whole(value.type) else table.FUNCTIONS[function](arguments)

    def _ldexp(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        value, exponent = self._two_numbers(arguments, keywords, node)
        if not is_whole(exponent.type):
            self.refuse(node, f"ldexp() takes an integer as the exponent, not {exponent.type}")
        type, least, most = inexact(value.type), literal(-_FARTHEST, INT), literal(_FARTHEST, INT)
        inside = f"python::first_min(python::first_max({self.as_signed(exponent).as_type(INT)}, {least}), {most})"
        return Value(type, f"ldexp({value.as_type(type)}, (int){inside})")

    def _isqrt(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        value = self._number(arguments, keywords, node)
        if not is_whole(value.type):
            self.refuse(node, f"isqrt() takes an integer, not {value.type}")
        type = UINT if value.type.kind == "u" else INT
        return Value(type, f"python::isqrt({self.failure()}, {value.as_type(type)})")

    def _isclose(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        given = {"rel_tol": constant(1e-9), "abs_tol": constant(0.0), **keywords}
        numbers = [*arguments, *given.values()]
        are_real = all(each.is_number and each.type.kind != "c" for each in numbers)
        if len(arguments) != 2 or len(given) > 2 or not are_real:
            self.refuse(node, "isclose() takes two real numbers, and by name rel_tol and abs_tol")
        return Value(BOOL, f"python::is_close({', '.join(each.as_type(FLOAT) for each in numbers)})")

    def _all(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        parts = [self.truth_of(item, node) for item in self._items(arguments, keywords, node)]
        return Value(BOOL, f"({' && '.join(['true', *parts])})")

    def _any(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        parts = [self.truth_of(item, node) for item in self._items(arguments, keywords, node)]
        return Value(BOOL, f"({' || '.join(['false', *parts])})")

    def _tuple(self, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        return tuple_of(self._items(arguments, keywords, node) if arguments else ())


_OWN: dict[Any, Callable[..., Value]] = {
    abs: Calls._abs, numpy.absolute: Calls._abs,
    min: functools.partial(Calls._extreme, name="first_min"), max: functools.partial(Calls._extreme, name="first_max"),
    sum: Calls._sum, len: Calls._len, pow: Calls._pow, divmod: Calls._divmod,
    round: Calls._round, all: Calls._all, any: Calls._any, tuple: Calls._tuple,
    math.isqrt: Calls._isqrt, math.isclose: Calls._isclose,
    math.log: Calls._log, math.ldexp: Calls._ldexp,
    **{each: functools.partial(Calls._rounded, function=each) for each in (math.floor, math.ceil, math.trunc)},
}  # fmt: skip
