"""Functions of NumPy's scalars: the elements of arrays keep their dtypes, and Python's numbers adapt to them.

The rules are those of NumPy 2. `Number` is the type of Python's numbers here and `Scalar` that of NumPy's; a variable
that holds several of them is `OneOf`. ufunc.resolve_dtypes says in which dtypes NumPy computes. What raises an
exception in Python sets `failed`, as do integers of Python that leave 64 bits.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import math
import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy

from ..errors import TranslationError
from . import HEADER, Program, Translation, functions as table
from .expressions import Expressions
from .knowledge import form_of
from .loops import Range
from .number_types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UINT,
    LocalArray,
    Number,
    OneOf,
    Scalar,
    Tuple,
    is_whole,
    name_of,
    part_of,
    unify,
)
from .statements import FunctionTranslator
from .values import Value, constant, tuple_of

_UFUNCS = {
    "+": numpy.add, "-": numpy.subtract, "*": numpy.multiply, "/": numpy.divide, "//": numpy.floor_divide,
    "%": numpy.remainder, "**": numpy.power, "&": numpy.bitwise_and, "|": numpy.bitwise_or, "^": numpy.bitwise_xor,
    "<<": numpy.left_shift, ">>": numpy.right_shift, "<": numpy.less, "<=": numpy.less_equal, ">": numpy.greater,
    ">=": numpy.greater_equal, "==": numpy.equal, "!=": numpy.not_equal,
}  # fmt: skip
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_ORDERS: dict[str, Any] = {
    "<": ("before", 0, 1), ">": ("before", 1, 0), "<=": ("not_behind", 0, 1), ">=": ("not_behind", 1, 0),
}  # fmt: skip
_WRAPPING = {"+": "wrapping_add", "-": "wrapping_subtract", "*": "wrapping_multiply"}
_CHECKED = {
    "+": "added", "-": "subtracted", "*": "multiplied", "//": "floor_divided", "**": "raised", "<<": "shifted_left",
    ">>": "shifted_right",
}  # fmt: skip
_NAMED = {"//": "floor_divide", "%": "remainder", "**": "power", "<<": "left_shift", ">>": "right_shift"}
_PYTHON = {"i": int, "u": int, "f": float, "c": complex}
_BOOL = Scalar(numpy.dtype(bool))
_BFLOAT16 = "bfloat16"
_MOST_OPTIONS = 4
_MOST_CHARACTERS = 20_000
_RAISES_NOTHING = (math.atan2, math.copysign, math.hypot, math.nextafter, math.fabs, math.degrees, math.radians)
_ANSWERS = (math.isnan, math.isinf, math.isfinite)


def is_python(type: Number) -> bool:
    return not isinstance(type, (Scalar, OneOf))


def _is_exact_float(value: Value) -> bool:
    """Whether a float64 is known to hold the integer."""
    form = form_of(value)
    return value.type == BOOL or (form is not None and form.fits(-(2**53), 2**53))


def _name(function: Any) -> str:
    return getattr(function, "__name__", str(function))


def is_small_float(dtype: numpy.dtype) -> bool:
    return name_of(dtype) in ("float16", _BFLOAT16)


def promoted(dtypes: list[numpy.dtype]) -> numpy.dtype:
    """The dtype that holds numbers of all these."""
    names = {name_of(dtype) for dtype in dtypes}
    if _BFLOAT16 in names and len(names) > 1:  # NumPy has no such dtype
        dtypes = [numpy.dtype("float32") if name_of(dtype) == _BFLOAT16 else dtype for dtype in dtypes]
    return functools.reduce(numpy.promote_types, dtypes)


def _options(type: Number) -> tuple[Number, ...]:
    if isinstance(type, OneOf):
        return type.options
    return (type if isinstance(type, Scalar) else Number(type.dtype),)


def _joined(a: Any, b: Any) -> Any:
    """The type of a variable that holds values of both types."""
    if a == b:
        return unify(a, b)
    if isinstance(a, Number) and isinstance(b, Number):
        found = sorted({*_options(a), *_options(b)}, key=lambda each: (isinstance(each, Scalar), name_of(each.dtype)))
        if len(found) > _MOST_OPTIONS:
            return None
        return OneOf(promoted([each.dtype for each in found]), options=tuple(found))
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        items = tuple(itertools.starmap(_joined, zip(a.items, b.items, strict=True)))
        is_one = dataclasses.replace(a, items=items) == dataclasses.replace(b, items=items)
        return None if None in items or not is_one else dataclasses.replace(a, items=items)
    return unify(a, b)


@functools.lru_cache(maxsize=4096)
def _resolved(function: numpy.ufunc, types: tuple[Number, ...]) -> tuple[numpy.dtype, ...]:
    """The dtypes in which NumPy computes, and those of the results."""
    brain = next((each.dtype for each in types if name_of(each.dtype) == _BFLOAT16), None)
    given: list[Any] = []
    for each in types:
        is_weak = is_python(each) and each != BOOL
        given.append(each.dtype if not is_weak else brain if brain and each.kind != "c" else _PYTHON[each.kind])
    try:
        return function.resolve_dtypes((*given, *[None] * function.nout))
    except TypeError:
        raise TypeError(f"has no loop for {', '.join(map(str, types))}") from None


class NumpyFunction(FunctionTranslator):
    """A function whose arrays' elements are NumPy's scalars."""

    # Types

    def unify(self, a: Any, b: Any) -> Any:
        return _joined(a, b)

    def value(self, node: ast.expr) -> Value:
        return self._typed(super().value(node))

    def _typed(self, value: Value) -> Value:
        """A constant that is a scalar of NumPy has its type."""
        if isinstance(value.constant, numpy.generic) and value.is_number:
            value.type = Scalar(value.type.dtype)
        elif isinstance(value.constant, tuple) and value.items:
            return tuple_of([self._typed(item) for item in value.items])
        return value

    @staticmethod
    def _as_scalar(value: Value) -> Value:
        value.type = Scalar(value.type.dtype)
        return value

    def element(self, array: Value, node: ast.Subscript) -> Value:
        return self._as_scalar(super().element(array, node))

    def at(self, array: Value, indices: list[Value], node: ast.AST) -> Value:
        return self._as_scalar(super().at(array, indices, node))

    def table(self, value: Value, node: ast.AST) -> Value:
        self._check_sequence(value, node)
        return super().table(value, node)

    def known_items(self, value: Value, node: ast.AST) -> tuple[Value, ...]:
        self._check_sequence(value, node)
        return super().known_items(value, node)

    def _check_sequence(self, value: Value, node: ast.AST) -> None:
        if not isinstance(value.constant, (list, tuple)):
            self.refuse(node, "an array outside of a function of slices has no kernel; give it as an argument")

    def items_of(self, value: Value, node: ast.AST) -> tuple[Value, ...]:
        items = super().items_of(value, node)
        return tuple(map(self._as_scalar, items)) if isinstance(value.type, LocalArray) else items

    def iterated(self, node: ast.expr) -> Any:
        made = super().iterated(node)
        is_array = isinstance(node, ast.Name) and isinstance(self.variables.get(node.id), LocalArray)
        if is_array and not isinstance(made, Range):
            count, item = made
            return count, lambda k: self._as_scalar(item(k))
        return made

    def _in_array(self, items: tuple[Value, ...], node: ast.AST) -> Value | None:
        kinds = {item.type for item in items}
        return super()._in_array(items, node) if len(kinds) == 1 and kinds <= {INT, FLOAT} else None

    def table_of_numbers(self, items: tuple[Value, ...]) -> Value | None:
        kinds = {item.type for item in items}
        return super().table_of_numbers(items) if len(kinds) == 1 and kinds <= {INT, FLOAT} else None

    def _made_table(self, known: Any, node: ast.AST) -> Value:
        made = super()._made_table(known, node)
        kinds = {type(each) for each in numpy.ravel(numpy.array(known, object))}
        if len(kinds) != 1 or not kinds <= {int, float}:
            self.refuse(node, "a list or tuple outside of a function of slices needs numbers of one of Python's types")
        return made

    def distributed(self, compute: Callable[..., Value], values: list[Value], node: ast.AST) -> Value:
        """compute(*values), where values that have one of several types are computed with in each of them."""
        if not any(isinstance(value.type, OneOf) for value in values):
            return compute(*values)
        held = [self.kept(value, node) if value.is_number else value for value in values]
        choices: list[list[Value]] = []
        for value in held:
            if isinstance(value.type, OneOf):
                name = value.text if value.text.isidentifier() else f"({value.text})"
                choices.append([Value(type, f"{name}.v{k}") for k, type in enumerate(value.type.options)])
            else:
                choices.append([value])
        made: list[Value | None] = []
        reason = None
        with self.conditional() as lines:
            for chosen in itertools.product(*choices):
                try:
                    made.append(compute(*chosen))
                except TranslationError as error:  # as Python raises, if it comes to this
                    made.append(None)
                    reason = error
        self.lines += lines
        types_ = [each.type for each in made if each is not None]
        if not types_ and reason is not None:
            raise reason
        type = self.unified(types_)
        if not isinstance(type, Number):
            self.refuse(node, f"it computes with too many types of numbers: {', '.join(sorted(set(map(str, types_))))}")
        results = iter(made)
        text = self._selected(held, "", lambda: self._result(next(results), type))
        if len(text) > _MOST_CHARACTERS:
            self.refuse(node, "its numbers have too many types; use a variable for one type")
        return Value(type, f"({text})")

    def _result(self, value: Value | None, type: Number) -> str:
        return f"python::failing<{type.c_type}>({self.failure()})" if value is None else value.as_type(type)

    def _selected(self, values: list[Value], text: str, result: Callable[[], str]) -> str:
        """A choice between results by the kinds of the values, in the order of itertools.product."""
        if not values:
            return result()
        type = values[0].type
        if not isinstance(type, OneOf):
            return self._selected(values[1:], text, result)
        name = values[0].text if values[0].text.isidentifier() else f"({values[0].text})"
        parts = [f"({self._selected(values[1:], text, result)})" for _ in type.options]
        tests = [f"{name}.kind == {k} ? {part} : " for k, part in enumerate(parts[:-1])]
        return "".join(tests) + parts[-1]

    def as_dtype(self, value: Value, dtype: numpy.dtype, node: ast.AST) -> str:
        """The text in a dtype that NumPy's promotion gives: integers of Python must fit it."""
        type = Number(dtype)
        if not (is_python(value.type) and value.type.kind in "iu" and dtype.kind in "iu"):
            return value.as_type(type)
        if value.is_constant:
            limits = numpy.iinfo(dtype)
            if not limits.min <= value.constant <= limits.max:
                self.refuse(node, f"OverflowError: Python integer {value.constant} out of bounds for {dtype}")
            return value.as_type(type)
        return value.text if type == INT else f"python::fitting<{type.c_type}>({self.failure()}, {value.text})"

    # Operators

    def binary(self, sign: str, a: Value, b: Value, node: ast.AST) -> Value:
        known = a.is_constant and b.is_constant and not self._is_typed(a, b)
        if known or not (a.is_number and b.is_number) or sign not in _UFUNCS:
            return super().binary(sign, a, b, node)

        def compute(a: Value, b: Value) -> Value:
            rule = self._of_python if is_python(a.type) and is_python(b.type) else self._of_numpy
            try:
                return rule(sign, a, b, node)
            except TypeError as error:
                self.refuse(node, f"{sign} {error}, not {a.type} and {b.type}")

        return self.distributed(compute, [a, b], node)

    def _of_python(self, sign: str, a: Value, b: Value, node: ast.AST) -> Value:
        """Python's own arithmetic: integers that leave 64 bits, and what raises exceptions, fail."""
        whole = is_whole(a.type) and is_whole(b.type)
        is_real = "c" not in (a.type.kind, b.type.kind)
        if sign in _COMPARISONS and self._is_between_int_and_float(a, b):
            return self._exact_comparison(sign, a, b)
        if sign in "&|^" or sign in _COMPARISONS or (not is_real and sign in "+-*"):
            return super().binary(sign, a, b, node)
        if not is_real:
            if sign != "/":
                raise TypeError("takes real numbers")
            return Value(COMPLEX, f"({a.as_type(COMPLEX)} / python::divisor({self.failure()}, {b.as_type(COMPLEX)}))")
        if sign in ("<<", ">>") and not whole:
            raise TypeError("takes integers")
        if whole and sign in "+-*" and (plain := self.plain_text(sign, a, b)):
            return self.with_result(sign, a, b, Value(INT, plain))
        if not whole and sign in "+-*":
            return Value(FLOAT, f"({a.as_type(FLOAT)} {sign} {b.as_type(FLOAT)})")
        is_known = b.is_constant and b.constant != 0
        if sign == "/" and whole and not (_is_exact_float(a) and _is_exact_float(b)):
            return Value(FLOAT, f"python::quotient({self.failure()}, {a.as_type(INT)}, {b.as_type(INT)})")
        if sign == "/":
            divisor = b.as_type(FLOAT) if is_known else f"python::divisor({self.failure()}, {b.as_type(FLOAT)})"
            return Value(FLOAT, f"({a.as_type(FLOAT)} / {divisor})")
        type = INT if whole and not (sign == "**" and b.is_constant and b.constant < 0) else FLOAT
        if is_known and (sign == "%" or (sign == "//" and b.constant != -1)):
            return Value(type, f"iruka::{_NAMED[sign]}({a.as_type(type)}, {b.as_type(type)})")
        if sign == "%":
            divisor = f"python::divisor({self.failure()}, {b.as_type(type)})"
            return Value(type, f"iruka::remainder({a.as_type(type)}, {divisor})")
        return Value(type, f"python::{_CHECKED[sign]}({self.failure()}, {a.as_type(type)}, {b.as_type(type)})")

    @staticmethod
    def _is_between_int_and_float(a: Value, b: Value) -> bool:
        """Whether one is an integer, which a float may not hold, and the other is none."""
        whole, other = (a, b) if is_whole(a.type) else (b, a)
        return is_whole(whole.type) and not is_whole(other.type) and not _is_exact_float(whole)

    def _exact_comparison(self, sign: str, a: Value, b: Value) -> Value:
        """Python compares integers with floats by their values, without rounding."""
        whole, other = (a, b) if is_whole(a.type) else (b, a)
        if other.type.kind == "c":
            if sign not in ("==", "!="):
                raise TypeError("takes real numbers")
            same = f"python::is_equal({whole.as_type(INT)}, {other.text})"
            return Value(BOOL, f"({same} == {'true' if sign == '==' else 'false'})")
        order = f"python::order({whole.as_type(INT)}, {other.text})"
        return Value(BOOL, f"({order} {sign} 0.0)" if whole is a else f"(0.0 {sign} {order})")

    def _of_numpy(self, sign: str, a: Value, b: Value, node: ast.AST) -> Value:
        """NumPy's arithmetic of scalars, of which at least one is NumPy's."""
        if sign in _COMPARISONS:
            return self._compared_scalars(sign, a, b, node)
        computed, _, result = _resolved(_UFUNCS[sign], (a.type, b.type))
        x, y = self.as_dtype(a, computed, node), self.as_dtype(b, computed, node)
        type = Scalar(result)
        c_type = type.c_type
        if computed.kind == "b" and sign in "+*":
            return Value(type, f"({x} {'||' if sign == '+' else '&&'} {y})")
        if sign in _WRAPPING and computed.kind == "i":
            return Value(type, f"iruka::{_WRAPPING[sign]}<{c_type}>({x}, {y})")
        if sign in "+-*/&|^":
            return Value(type, f"(({c_type})({x} {sign} {y}))")
        if is_small_float(computed):
            x, y = f"(float){x}", f"(float){y}"
        if sign == "**" and computed.kind == "c":
            raise TypeError("takes real numbers")
        if sign == "**" and not (b.is_constant and b.constant >= 0) and computed.kind == "i":
            return Value(type, f"python::power_of({self.failure()}, {x}, {y})")
        if sign == "**" and b.is_constant and b.constant in (2, 3):
            return Value(type, f"(({c_type})python::{'square' if b.constant == 2 else 'cube'}({x}))")
        return Value(type, f"(({c_type})iruka::{_NAMED[sign]}({x}, {y}))")

    def _compared_scalars(self, sign: str, a: Value, b: Value, node: ast.AST) -> Value:
        if is_whole(a.type) and is_whole(b.type):  # by their values, also where an integer does not fit the dtype
            wide = [self._widest(value) for value in (a, b)]
            return Value(_BOOL, self._comparison(sign, *wide).text)
        computed, other, _ = _resolved(_UFUNCS[sign], (a.type, b.type))
        parts = [self.as_dtype(value, dtype, node) for value, dtype in ((a, computed), (b, other))]
        if computed.kind == "c" and sign in _ORDERS:
            name, *places = _ORDERS[sign]
            return Value(_BOOL, f"python::{name}({parts[places[0]]}, {parts[places[1]]})")
        if is_small_float(computed):
            parts = [f"(float){part}" for part in parts]
        return Value(_BOOL, f"({parts[0]} {sign} {parts[1]})")

    @staticmethod
    def _widest(value: Value) -> Value:
        type = UINT if value.type.dtype == numpy.uint64 else INT
        return Value(type, value.as_type(type), value.constant)

    def unary(self, sign: str, value: Value, node: ast.AST) -> Value:
        if sign == "not" or not value.is_number or (value.is_constant and not self._is_typed(value)):
            return super().unary(sign, value, node)
        return self.distributed(lambda each: self._unary_of(sign, each, node), [value], node)

    def _unary_of(self, sign: str, value: Value, node: ast.AST) -> Value:
        if is_python(value.type):
            if sign == "-" and is_whole(value.type):
                return Value(INT, f"python::negated({self.failure()}, {value.as_type(INT)})")
            return super().unary(sign, value, node)
        kind, c_type = value.type.kind, value.type.c_type
        if (kind == "b" and sign != "~") or (kind in "fc" and sign == "~"):
            self.refuse(node, f"{sign} has no loop for {value.type}")
        if sign == "+":
            return Value(value.type, value.text)
        if sign == "~":
            return Value(value.type, f"(!{value.text})" if kind == "b" else f"(({c_type})~{value.text})")
        return Value(value.type, f"iruka::wrapping_negate<{c_type}>({value.text})")

    def type_of_chain(self, types: list[Any]) -> Number:
        return _BOOL if all(each == _BOOL for each in types) else BOOL

    # Parts of values

    def _Attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.attr in ("dtype", "ndim", "size", "shape"):
            value = self.value(node.value)
            if isinstance(value.type, Scalar):
                return constant({"dtype": value.type.dtype, "ndim": 0, "size": 1, "shape": ()}[node.attr])
        return super()._Attribute(node)

    def _part(self, value: Value, name: str) -> Value:  # type: ignore[override]
        def part(value: Value) -> Value:
            made = Expressions._part(value, name)
            return Value(Scalar(made.type.dtype), made.text) if isinstance(value.type, Scalar) else made

        return self.distributed(part, [value], None)  # type: ignore[arg-type]

    # Calls

    def _Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "astype") and not node.keywords:
            owner = self.value(node.func.value)
            if owner.is_number and not is_python(owner.type):
                return self._method(node.func.attr, owner, self.values(node.args), node)
        return super()._Call(node)

    def _method(self, name: str, owner: Value, arguments: list[Value], node: ast.AST) -> Value:
        if name == "item" and not arguments:
            return self.distributed(lambda each: self._item_of(each), [owner], node)
        try:
            dtype = numpy.dtype(arguments[0].constant) if len(arguments) == 1 and arguments[0].is_constant else None
        except TypeError as error:
            self.refuse(node, str(error))
        if name != "astype" or dtype is None:
            self.refuse(node, f"{name}() takes other arguments here")
        return Value(Scalar(dtype), owner.as_type(Number(dtype)))

    def _item_of(self, value: Value) -> Value:
        """A scalar as a number of Python."""
        if is_python(value.type):
            return value
        if value.type.dtype == numpy.uint64:
            return Value(INT, f"python::whole_of({self.failure()}, {value.text})")
        type = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}[value.type.kind]
        return Value(type, value.as_type(type))

    def call(self, function: Any, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        if not isinstance(function, Hashable) or isinstance(function, types.FunctionType):
            return super().call(function, arguments, keywords, node)
        if (own := _WHOLE.get(function)) is not None:
            return own(self, arguments, keywords, node)
        rule = self._rule(function, arguments, keywords)
        if rule is None:
            if function in table.FUNCTIONS or function in _UNKNOWN:
                self.refuse(node, f"{_name(function)}() has no kernel here with these arguments")
            return super().call(function, arguments, keywords, node)

        def compute(*given: Value) -> Value:
            try:
                return rule(list(given), keywords, node)
            except TypeError as error:
                self.refuse(node, f"{_name(function)}() {error}")

        return self.distributed(compute, arguments, node)

    def call_made_function(
        self, function: Any, arguments: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        self.refuse(node, f"{_name(function)}() gives no scalars of NumPy's types here")

    def _rule(self, function: Any, arguments: list[Value], keywords: dict) -> Callable[..., Value] | None:
        """What writes the call of a function of numbers of known types."""
        if not arguments or not all(value.is_number for value in arguments):
            return None
        if (own := _NUMBERS.get(function)) is not None:
            return functools.partial(own, self)
        if keywords:
            return None
        if isinstance(function, numpy.ufunc):
            return functools.partial(self._ufunc, function)
        if getattr(function, "__module__", None) == "math" and function in table.FUNCTIONS:
            return functools.partial(self._of_math, function)
        if getattr(function, "__module__", None) == "cmath" and function in table.FUNCTIONS:
            row = table.FUNCTIONS[function]
            return lambda given, *_: row([Value(COMPLEX, each.as_type(COMPLEX)) for each in given])
        is_type = isinstance(function, type) and table.cast_to(function) is not None
        return functools.partial(self._cast_by, function) if is_type and len(arguments) == 1 else None

    def _cast_by(self, function: Any, arguments: list[Value], keywords: dict, node: ast.AST) -> Value:
        """int(), float() and NumPy's types of scalars."""
        value = arguments[0]
        target = table.cast_to(function)
        assert target is not None
        if value.type.kind == "c" and target.kind != "c" and function is not bool:
            raise TypeError("takes no complex number")
        if issubclass(function, numpy.generic):
            dtype = target.dtype
            if is_python(value.type) and value.type.kind == "f" and dtype.kind in "iu":
                value = self._truncated(value)
            return Value(Scalar(dtype), self.as_dtype(value, dtype, node))
        if value.is_constant:
            return self.folded(lambda: function(value.constant), node)
        if function is not int:
            return Value(target, value.as_type(target))
        return self._item_of(value) if is_whole(value.type) and value.type != BOOL else self._truncated(value)

    def _truncated(self, value: Value, c_function: str = "") -> Value:
        """An integer of Python; one with many digits, infinity and NaN fail."""
        if is_whole(value.type):
            whole = self._item_of(value)
            return Value(INT, whole.as_type(INT))
        return Value(INT, f"python::truncated({self.failure()}, {c_function}({value.as_type(FLOAT)}))")

    def _of_math(self, function: Any, arguments: list[Value], keywords: dict, node: ast.AST) -> Value:
        """A function of the module math: it computes with floats of Python and raises where it has no value."""
        row = table.FUNCTIONS[function]
        if function in (math.gcd, math.lcm):
            return row([self._truncated(value) for value in arguments])
        floats = [self.kept(Value(FLOAT, value.as_type(FLOAT)), node) for value in arguments]
        made = row(floats)
        if function in _ANSWERS or function in _RAISES_NOTHING:
            return made
        texts = ", ".join(value.text for value in (made, *floats))
        return Value(FLOAT, f"python::defined({self.failure()}, {texts})")

    def _log(self, arguments: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        logarithms = [self._of_math(math.log, [value], {}, node) for value in arguments]
        return logarithms[0] if len(logarithms) == 1 else self._of_python("/", logarithms[0], logarithms[1], node)

    def _rounded_by(self, name: str, arguments: list[Value], keywords: dict, node: ast.AST) -> Value:
        return self._truncated(arguments[0], name)

    def _ufunc(self, function: numpy.ufunc, arguments: list[Value], keywords: dict, node: ast.AST) -> Value:
        """A function of NumPy, whose results are scalars of NumPy."""
        if len(arguments) != function.nin:
            raise TypeError(f"takes {function.nin} arguments, not {len(arguments)}")
        *computed, _ = resolved = _resolved(function, tuple(value.type for value in arguments))
        result = resolved[-1]
        if all(is_python(value.type) for value in arguments):
            arguments = [
                Value(Scalar(dtype), self.as_dtype(value, dtype, node))
                for value, dtype in zip(arguments, computed, strict=False)
            ]
        if function in table.BINARY_FUNCTIONS:
            return self.binary(table.BINARY_FUNCTIONS[function], arguments[0], arguments[1], node)
        if function in (numpy.logical_and, numpy.logical_or):
            sign = "&&" if function is numpy.logical_and else "||"
            return Value(_BOOL, f"({f' {sign} '.join(value.as_type(BOOL) for value in arguments)})")
        if function is numpy.logical_not:
            return Value(_BOOL, f"(!{arguments[0].as_type(BOOL)})")
        if function in table.UNARY_FUNCTIONS:
            return self._unary_of(table.UNARY_FUNCTIONS[function], arguments[0], node)
        if function is numpy.absolute:
            return self._absolute(arguments, keywords, node)
        if function is numpy.conjugate:
            return self._conjugate(arguments[0])
        row = table.FUNCTIONS.get(function)
        if row is None:
            raise TypeError("has no kernel")
        wide = [numpy.dtype("float32") if is_small_float(dtype) else dtype for dtype in computed]
        if function in (numpy.isnan, numpy.isinf, numpy.isfinite) and wide[0].kind in "iub":
            wide = [numpy.dtype("float64")]
        if row.rule([Value(Number(dtype)) for dtype in wide])[0].kind == "f" and wide[0].kind in "iub":
            raise TypeError("takes floats")
        given = zip(arguments, computed, wide, strict=False)
        texts = [
            Value(Number(dtype), self.as_dtype(value, dtype, node)).as_type(Number(to)) for value, dtype, to in given
        ]
        return Value(Scalar(result), f"(({Scalar(result).c_type}){row.text.format(*texts)})")

    def _absolute(self, arguments: list[Value], keywords: dict, node: ast.AST) -> Value:
        if len(arguments) != 1:
            raise TypeError("takes one number")
        value = arguments[0]
        type = value.type
        if type.kind == "c":
            part = part_of(type)
            return Value(Scalar(part.dtype) if isinstance(type, Scalar) else part, f"abs({value.text})")
        if is_python(type) and is_whole(type):
            return Value(INT, f"python::magnitude({self.failure()}, {value.as_type(INT)})")
        if type.kind in "bu":
            return value
        if is_small_float(type.dtype):
            return Value(type, f"(({type.c_type})fabs((float){value.text}))")
        return Value(type, f"python::absolute({value.text})")

    def _round_by(self, arguments: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        value = arguments[0]
        given = keywords.get("ndigits") or (arguments[1] if len(arguments) == 2 else constant(None))
        digits, type = given.constant, value.type
        if type == _BOOL or type.kind == "c" or not isinstance(digits, (int, types.NoneType)):
            raise TypeError("takes a real number, and a known number of digits")
        if digits is None:
            return self._truncated(value, "rint")
        if is_whole(type) and digits >= 0:
            return value if type != BOOL else Value(INT, value.as_type(INT))
        if is_whole(type) or is_python(type):
            raise TypeError("to digits takes floats of NumPy in a kernel")
        return Value(type, f"(({type.c_type})iruka::around({value.text}, {int(digits)}))")

    def _extreme(self, arguments: list[Value], keywords: dict, node: ast.Call, name: str) -> Value:
        """min and max give one of their arguments, in its type."""
        if keywords:
            self.refuse(node, "min() and max() take no keywords in a kernel")
        items = self.items_of(arguments[0], node) if len(arguments) == 1 else arguments
        if not items or not all(item.is_number for item in items):
            self.refuse(node, "min() and max() take numbers")
        result = self.kept(items[0], node)
        for each in items[1:]:
            item = self.kept(each, node)
            test = self.truth_of(self.compared("<" if name == "first_min" else ">", item, result, node), node)
            result = self.kept(self.chosen(test, item, result, node), node)
        return result

    def _where(self, arguments: list[Value], keywords: dict, node: ast.Call) -> Value:
        if len(arguments) != 3 or keywords or not all(value.is_number for value in arguments):
            self.refuse(node, "where() takes three numbers here")
        test = self.truth_of(arguments[0], node)

        def compute(a: Value, b: Value) -> Value:
            _, _, dtype = _resolved(numpy.multiply, (a.type, b.type))
            return Value(Scalar(dtype), f"({test} ? {self.as_dtype(a, dtype, node)} : {self.as_dtype(b, dtype, node)})")

        return self.distributed(compute, arguments[1:], node)

    def _clip(self, arguments: list[Value], keywords: dict, node: ast.AST) -> Value:
        if len(arguments) != 3:
            raise TypeError("takes a number and two bounds here")
        raised = self._ufunc(numpy.maximum, arguments[:2], {}, node)
        return self._ufunc(numpy.minimum, [raised, arguments[2]], {}, node)

    # Statements

    def _return(self, value: Value, node: ast.AST) -> None:
        if isinstance(value.type, LocalArray) and len(value.type.shape) == 1:
            value = tuple_of(self.items_of(value, node))
        super()._return(value, node)

    def _Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.List):
            return self._return(tuple_of(self.values(node.value.elts)), node)
        made = self.array(node.value) if node.value is not None else None
        if made is not None and len(made.type.shape) == 1 and made.type.shape[0] == len(made.items):
            item = Scalar(made.type.dtype)
            items = [Value(item, self.as_dtype(each, item.dtype, node)) for each in made.items]
            return self._return(tuple_of(items), node)
        super()._Return(node)

    def set_element(self, place: Value, value: Value, node: ast.AST) -> None:
        if value.is_number:
            dtype = place.type.dtype
            compute = lambda each: Value(Scalar(dtype), self.as_dtype(each, dtype, node))
            value = self.distributed(compute, [value], node)
        super().set_element(place, value, node)


_WHOLE: dict[Any, Callable[..., Value]] = {
    min: functools.partial(NumpyFunction._extreme, name="first_min"),
    max: functools.partial(NumpyFunction._extreme, name="first_max"),
    numpy.where: NumpyFunction._where,
}
_NUMBERS: dict[Any, Callable[..., Value]] = {
    abs: NumpyFunction._absolute, math.log: NumpyFunction._log, numpy.clip: NumpyFunction._clip,
    round: NumpyFunction._round_by,
    **{each: functools.partial(lambda self, *given, name: self._rounded_by(name, *given), name=each.__name__)
       for each in (math.floor, math.ceil, math.trunc)},
}  # fmt: skip
_UNKNOWN = (math.ldexp,)


class NumpyProgram(Program):
    """The C++ functions of one function of slices."""

    translator = NumpyFunction
    header = HEADER + '#include "jit/kernels/python_numbers.h"\n'


def translate_scalars(function: types.FunctionType, arguments: tuple[Any, ...]) -> Translation:
    """The Python function for arrays whose elements are NumPy's scalars. Raises TranslationError."""
    return Translation(function, arguments, program=NumpyProgram())


__all__ = ["NumpyFunction", "translate_scalars"]
