"""Expressions of Python as C++ expressions."""

from __future__ import annotations

import abc
import ast
import dataclasses
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy

from .. import _thread_names as jit
from .array_expressions import ArrayExpressions
from .bounds import HIGHEST, Form, joined, symbol
from .knowledge import form_as, form_of
from .number_types import (
    BOOL,
    FLOAT,
    INT,
    SMALL,
    UINT,
    ArrayView,
    Closure,
    LocalArray,
    Number,
    Object,
    Tuple,
    arithmetic,
    is_tuple,
    is_whole,
    is_wide,
    part_of,
)
from .tables import Table, Tables
from .values import Value, constant, integer, literal, tuple_of

BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_WRAPPING = {"+": "wrapping_add", "-": "wrapping_subtract", "*": "wrapping_multiply"}
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_FOLDED = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
MOST_CHOICES = 4  # of tuples, among which comparisons choose as fast as an array
_MOST_BITS = 4096  # of integers on the way to a constant
_MOST_ITEMS = 4096  # of tuples
_IN_WORDS = {
    ast.Dict: "a dict has no place in a kernel; use a tuple and indices, or conditional expressions",
    ast.Set: "a set has no place in a kernel; compare with each of its elements",
    ast.List: "a list has no fixed size; use a tuple, or numpy.zeros for an array of fixed size",
    ast.ListComp: "a list has no fixed size; use a loop, or numpy.zeros for an array of fixed size",
    ast.SetComp: "a set has no place in a kernel; use a loop",
    ast.DictComp: "a dict has no place in a kernel; use a loop",
    ast.GeneratorExp: "generators have no place in a kernel; use a loop",
    ast.JoinedStr: "strings have no place in a kernel, except in raise and assert",
    ast.Await: "a kernel does not wait for coroutines",
    ast.Yield: "a kernel gives one result; return a tuple for several",
    ast.YieldFrom: "a kernel gives one result; return a tuple for several",
    ast.Slice: "slices of arrays are not supported here; use a loop over their indices",
    ast.Starred: "arguments with * are not supported here; write each",
}


def is_function(value: Value) -> bool:
    """Whether a value can be called."""
    return isinstance(value.type, Closure) or (isinstance(value.type, Object) and callable(value.constant))


def _is_long(sign: str, a: Any, b: Any) -> bool:
    """Whether Python would compute an integer of many digits, or a long text."""
    if isinstance(a, (str, bytes)) or isinstance(b, (str, bytes)):
        return sign in "*%"
    if isinstance(a, (tuple, list)) or isinstance(b, (tuple, list)):
        sequence, count = (a, b) if isinstance(a, (tuple, list)) else (b, a)
        return sign == "*" and isinstance(count, int) and len(sequence) * count > _MOST_ITEMS
    if sign not in ("*", "**", "<<") or not (isinstance(a, int) and isinstance(b, int)):
        return False
    bits = {"*": a.bit_length() + b.bit_length(), "**": a.bit_length() * abs(b), "<<": a.bit_length() + b}[sign]
    return bits > _MOST_BITS


class Expressions(ArrayExpressions, Tables):
    """Translates expressions of one function. FunctionTranslator adds statements and the function's variables."""

    program: Any
    has_threads = False  # the function is one of iruka.jit

    @abc.abstractmethod
    def failure(self) -> str: ...
    @abc.abstractmethod
    def c_name(self, name: str) -> str: ...
    @abc.abstractmethod
    def assign_name(self, name: str, type: Any, node: ast.AST) -> Any: ...
    @abc.abstractmethod
    def store(self, name: str, type: Any, value: Value) -> None: ...
    @abc.abstractmethod
    def call_nested(
        self, called: Value, arguments: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value: ...
    @abc.abstractmethod
    def call_function(
        self, function: types.FunctionType, arguments: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value: ...

    def value(self, node: ast.expr) -> Value:
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            self.refuse(node, _IN_WORDS.get(type(node), f"{type(node).__name__} expressions are not supported"))
        return method(node)

    def number_of(self, node: ast.expr, what: str) -> Value:
        value = self.value(node)
        if not value.is_number:
            self.refuse(node, f"{what} must be a number, not {value.type}")
        return value

    def truth(self, node: ast.expr) -> str:
        """A condition, as the test of an `if`."""
        if isinstance(node, ast.BoolOp):
            read = lambda each: Value(BOOL, self.truth(each))
            return self._either(node, *self.in_turn(node.values, read, isinstance(node.op, ast.And))).text
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            test = self.truth(node.operand)
            self.tests[f"(!{test})"] = self.said(test)[::-1]
            return f"(!{test})"
        return self.truth_of(self.value(node), node)

    def truth_of(self, value: Value, node: ast.expr) -> str:
        if value.is_constant and not value.is_number:
            return "true" if value.constant else "false"
        if isinstance(value.type, Tuple):
            return "true" if value.items or isinstance(value.type, Closure) else "false"
        if not value.is_number:
            self.refuse(node, f"{value.type} is neither true nor false here{self.advice_on([value])}")
        return value.as_type(BOOL)

    # Names and constants

    def _Constant(self, node: ast.Constant) -> Value:
        if node.value is Ellipsis:
            self.refuse(node, "... has no meaning here")
        if isinstance(node.value, int) and constant(node.value).type == Object(node.value):
            self.refuse(node, f"the integer {node.value} does not fit 64 bits")
        return constant(node.value)

    def _Tuple(self, node: ast.Tuple) -> Value:
        return tuple_of(self.values(node.elts))

    def values(self, nodes: list[ast.expr]) -> list[Value]:
        """The values of several expressions, some of which may be unpacked with *."""
        items: list[Value] = []
        for each in nodes:
            if isinstance(each, ast.Starred):
                items += self.items_of(self.value(each.value), each)
            else:
                items.append(self.value(each))
        return items

    def items_of(self, value: Value, node: ast.AST) -> tuple[Value, ...]:
        """The elements of a tuple, or of a local array of one axis."""
        if is_tuple(value.type):
            return value.items
        if self.is_sequence(value):
            return self.known_items(value, node)
        if isinstance(value.type, Table):
            return tuple(self.table_part(value, integer(str(k))) for k in range(value.type.shape[0]))
        if isinstance(value.type, LocalArray) and len(value.type.shape) == 1:
            item = Number(value.type.dtype)
            return tuple(self.read(Value(item, f"{value.text}[{k}]")) for k in range(value.type.shape[0]))
        if isinstance(value.type, (ArrayView, LocalArray)):
            self.refuse(node, f"{value.type} cannot be unpacked; write its elements, a[0], a[1], or a loop over them")
        self.refuse(node, f"{value.type} has no elements")

    def _NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.number_of(node.value, "what := assigns")
        self.order()
        type = self.assign_name(node.target.id, value.type, node)
        self.store(self.c_name(node.target.id), type, value)
        self.tests.clear()
        name = self.c_name(node.target.id)
        return self.read(Value(type, name, form=self.known.get(name)))

    # Operators

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        sign = _UNARY[type(node.op)]
        if sign == "not":
            return Value(BOOL, self.truth(node))
        return self.unary(sign, self.value(node.operand), node)

    def unary(self, sign: str, value: Value, node: ast.AST) -> Value:
        if not value.is_number:
            made = self.of_arrays(lambda each: self.unary(sign, each, node), [value], node)
            return made or self.refuse(
                node, f"the operand of {sign} must be a number, not {value.type}{self.advice_on([value])}"
            )
        if sign == "not":
            return Value(BOOL, f"(!{value.as_type(BOOL)})")
        if value.is_constant and sign in "+-" and not isinstance(value.constant, numpy.generic):
            return self.folded(lambda: -value.constant if sign == "-" else +value.constant, node)
        result = INT if value.type == BOOL else value.type
        if sign == "~":
            if not is_whole(value.type):
                self.refuse(node, f"~ takes integers, not {value.type}")
            if value.type == BOOL:  # NumPy's and Numba's; Python's own, which is -1 or -2, is deprecated
                return Value(BOOL, f"(!{value.as_type(BOOL)})")
        if is_whole(result):
            result = arithmetic(result, result)
        if sign == "-" and result.kind == "i":
            made = Value(result, f"iruka::wrapping_negate<{result.c_type}>({value.as_type(result)})")
            return self.with_result("-", constant(0), value, made)
        return Value(result, f"({sign}{value.as_type(result)})")

    def folded(self, compute: Callable[[], Any], node: ast.AST) -> Value:
        """What Python computes from constants, with Python's errors at this line."""
        try:
            return constant(compute())
        except Exception as error:
            self.refuse(node, f"{type(error).__name__}: {error}")

    def _BinOp(self, node: ast.BinOp) -> Value:
        return self.binary(BINARY[type(node.op)], self.value(node.left), self.value(node.right), node)

    def binary(self, sign: str, a: Value, b: Value, node: ast.AST) -> Value:
        if is_tuple(a.type) and is_tuple(b.type) and sign == "+":
            return tuple_of(a.items + b.items)
        if a.is_constant and b.is_constant and sign in _FOLDED and not self._is_typed(a, b):
            if _is_long(sign, a.constant, b.constant):
                self.refuse(node, f"the result of this {sign} is too large for a kernel")
            return self.folded(lambda: _FOLDED[sign](a.constant, b.constant), node)
        if sign == "@":
            self.refuse(node, "@ multiplies matrices, for which a kernel has no function: write loops over the "
                              f"elements, and * for numbers; these are {a.type} and {b.type}")  # fmt: skip
        if not (a.is_number and b.is_number):
            made = self.of_arrays(lambda left, right: self.binary(sign, left, right, node), [a, b], node)
            advice = self.advice_on([a, b])
            return made or self.refuse(node, f"{sign} takes numbers, not {a.type} and {b.type}{advice}")
        common = arithmetic(a.type, b.type)
        try:
            return self.with_result(sign, a, b, self._operation(sign, a, b, common))
        except TypeError as error:
            self.refuse(node, f"{sign} {error}, not {a.type} and {b.type}")

    @staticmethod
    def _is_typed(*values: Value) -> bool:
        """Whether NumPy's scalars take part, whose arithmetic is not that of Python's numbers."""
        return any(isinstance(value.constant, numpy.generic) for value in values)

    def _operation(self, sign: str, a: Value, b: Value, common: Number) -> Value:
        if sign in ("<", "<=", ">", ">=", "==", "!="):
            return self._comparison(sign, a, b)
        if common == INT and (plain := self.plain_text(sign, a, b)):
            return Value(INT, plain)
        if sign in _WRAPPING and common.kind == "i":
            return Value(common, f"iruka::{_WRAPPING[sign]}<{common.c_type}>({a.as_type(common)}, {b.as_type(common)})")
        if sign in "+-*":
            return Value(common, f"({a.as_type(common)} {sign} {b.as_type(common)})")
        if sign == "/":
            common = FLOAT if is_whole(common) else common
            return Value(common, f"({a.as_type(common)} / {b.as_type(common)})")
        if sign == "**":
            return self._power(a, b, common)
        if sign in ("//", "%"):
            if common.kind == "c":
                raise TypeError("takes real numbers")
            name = "floor_divide" if sign == "//" else "remainder"
            return Value(common, f"iruka::{name}({a.as_type(common)}, {b.as_type(common)})")
        if not (is_whole(a.type) and is_whole(b.type)):
            raise TypeError("takes integers")
        if sign in ("<<", ">>"):
            common = arithmetic(a.type, a.type)
            name = "left_shift" if sign == "<<" else "right_shift"
            return Value(common, f"iruka::{name}({a.as_type(common)}, {b.as_type(common)})")
        if sign not in ("&", "|", "^"):
            raise TypeError("has no meaning for scalars")
        common = BOOL if a.type == b.type == BOOL else INT if common == FLOAT else common
        text = f"({a.as_type(common)} {sign} {b.as_type(common)})"
        return Value(common, f"((bool){text})" if common == BOOL else text)

    @staticmethod
    def _power(a: Value, b: Value, common: Number) -> Value:
        """a ** b. A small known exponent multiplies; integers to a known negative power are floats."""
        if b.is_constant and b.type == INT and 0 <= b.constant <= 3:
            common = a.type if not is_whole(a.type) else common
            text = a.as_type(common)
            if b.constant == 0:
                return Value(common, literal(1, common))
            if b.constant == 1:
                return Value(common, text)
            return Value(common, f"python::{'square' if b.constant == 2 else 'cube'}({text})")
        if is_whole(common) and b.is_constant and b.constant < 0:
            common = FLOAT
        if common.kind == "f" and is_whole(b.type) and not is_whole(a.type):
            common = a.type  # an integer exponent does not widen a float
        return Value(common, f"iruka::power({a.as_type(common)}, {b.as_type(common)})")

    def _comparison(self, sign: str, a: Value, b: Value) -> Value:
        if "c" in (a.type.kind, b.type.kind) and sign not in ("==", "!="):
            raise TypeError("takes real numbers")
        kinds = {a.type.kind, b.type.kind}
        if kinds == {"i", "u"} and not (a.type.known or b.type.known):
            names = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal"}
            if sign == "!=":
                return Value(BOOL, f"(!python::equal({a.text}, {b.text}))")
            return Value(BOOL, f"python::{names[sign]}({a.text}, {b.text})")
        common = arithmetic(a.type, b.type)
        return Value(BOOL, f"({a.as_type(common)} {sign} {b.as_type(common)})")

    def _Compare(self, node: ast.Compare) -> Value:
        """A chain such as a < b < c, whose operands are computed once."""
        signs = [_COMPARISONS[type(each)] for each in node.ops]
        left = self.value(node.left)
        if len(signs) == 1:
            return self.compared(signs[0], left, self.value(node.comparators[0]), node)
        rest, sides = self.in_turn(node.comparators, lambda each: self.kept(self.value(each), each))
        values = [left, *rest]
        types: list[Any] = []  # of the comparisons

        def test(k: int, a: Value, b: Value) -> str:
            made = self.compared(signs[k], a, b, node)
            types.append(made.type)
            return self.truth_of(made, node)

        if any(sides):
            made = self.chain(values, sides, test)
            return Value(self.type_of_chain(types), made.text)
        tests = list(map(test, range(len(signs)), values[:-1], values[1:]))
        self.both_said(text := f"({' && '.join(tests)})", tests, True)
        return Value(self.type_of_chain(types), text)

    def type_of_chain(self, types: list[Any]) -> Number:
        """The type of a < b < c from those of its comparisons."""
        return BOOL

    def compared(self, sign: str, a: Value, b: Value, node: ast.AST) -> Value:
        if sign in ("is", "is not"):
            if a.is_number and b.is_number and not (a.is_constant and b.is_constant):
                self.refuse(node, f"numbers are compared with {'==' if sign == 'is' else '!='}, not with {sign!r}")
            same = a.is_constant and b.is_constant and a.constant is b.constant
            return constant(same == (sign == "is"))
        if sign in ("in", "not in"):
            tests = [f"({self.compared('==', a, item, node).text})" for item in self.items_of(b, node)]
            found = f"({' || '.join(tests)})" if tests else "false"
            return Value(BOOL, found if sign == "in" else f"(!{found})")
        if is_tuple(a.type) and is_tuple(b.type) and sign in ("==", "!="):
            return self._equal_tuples(sign, a, b, node)
        if not (a.is_number and b.is_number) and a.is_constant and b.is_constant and sign in ("==", "!="):
            return constant((a.constant == b.constant) == (sign == "=="))
        return self.binary(sign, a, b, node)

    def _equal_tuples(self, sign: str, a: Value, b: Value, node: ast.AST) -> Value:
        if len(a.items) != len(b.items):
            return constant(sign == "!=")
        parts = [self.compared("==", *pair, node) for pair in zip(a.items, b.items, strict=True)]
        text = f"({' && '.join(['true', *(part.text for part in parts)])})"
        return Value(BOOL, text if sign == "==" else f"(!{text})")

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        """`and` and `or` give one of their operands, in the type that holds all of them."""
        return self._either(node, *self.in_turn(node.values, lambda each: self.kept(self.value(each), each)))

    def _either(self, node: ast.BoolOp, values: list[Value], sides: list[list[str]]) -> Value:
        if all(value.type == BOOL for value in values):
            sign = " && " if isinstance(node.op, ast.And) else " || "
            made = Value(BOOL, f"({sign.join(value.text for value in values)})")
            made = self.until(made, values, sides, node) if any(sides) else made
            self.both_said(made.text, [value.text for value in values], isinstance(node.op, ast.And))
            return made
        result = values[-1]
        for value, each in zip(values[-2::-1], node.values[-2::-1], strict=True):
            truth = self.truth_of(value, each)
            ways = (result, value) if isinstance(node.op, ast.And) else (value, result)
            result = self.chosen(truth, *ways, node)
        return self.until(result, values, sides, node) if any(sides) else result

    def _IfExp(self, node: ast.IfExp) -> Value:
        test = self.truth(node.test)
        if test in ("true", "false"):
            return self.value(node.body if test == "true" else node.orelse)
        made, body, orelse = self.choice(test, lambda: self.value(node.body), lambda: self.value(node.orelse), node)
        if not (body.is_number and orelse.is_number and made.type.kind in "iu"):
            return made
        said = self.said(test)
        sides = [(form_as(each, made.type), said[k]) for k, each in enumerate((body, orelse))]
        return self.with_form(made, joined(sides, self.facts))

    def chosen(self, test: str, a: Value, b: Value, node: ast.AST) -> Value:
        """`test ? a : b` in the type of both."""
        type = self.unify(a.type, b.type)
        if type is None:
            advice = (
                "; choose between their results, f(x) if ... else g(x)" if is_function(a) and is_function(b) else ""
            )
            self.refuse(node, f"both sides need one type, not {a.type} and {b.type}{advice}")
        if isinstance(type, Tuple):
            return tuple_of([self.chosen(test, *pair, node) for pair in zip(a.items, b.items, strict=True)], type)
        if isinstance(type, LocalArray) and a.text != b.text:
            self.refuse(node, "a choice between arrays is not supported; choose between their elements")
        if isinstance(type, ArrayView):
            return Value(type, f"({test} ? {a.text} : {b.text})")
        if not isinstance(type, Number):
            return a
        return Value(type, f"({test} ? {a.as_type(type)} : {b.as_type(type)})")

    # Parts of values

    def _Attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.value(node.value), node)

    def attribute(self, value: Value, node: ast.Attribute) -> Value:
        if isinstance(value.type, Object):
            try:
                found = getattr(value.constant, node.attr)
            except AttributeError as error:
                self.refuse(node, str(error))
            if isinstance(found, jit.Coordinate) and not self.has_threads:
                self.refuse(node, f"jit.{found.name} has a meaning only in a function under @jit.rawkernel")
            self.program.outer.add_attribute(value.constant, node.attr, found)
            return constant(found)
        if isinstance(value.type, ArrayView) and node.attr in ("shape", "ndim", "size", "dtype"):
            lengths = [self.length(value, axis) for axis in range(value.type.ndim)]
            known = {"ndim": value.type.ndim, "dtype": value.type.dtype}
            if node.attr in known:
                return constant(known[node.attr])
            return tuple_of(lengths) if node.attr == "shape" else integer(f"{value.text}.size()")
        if isinstance(value.type, LocalArray) and node.attr in ("shape", "ndim", "size", "dtype"):
            shape = value.type.shape
            parts = {"shape": shape, "ndim": len(shape), "size": int(numpy.prod(shape)), "dtype": value.type.dtype}
            return constant(parts[node.attr])
        if value.is_number and node.attr in ("real", "imag"):
            return self._part(value, node.attr)
        self.refuse(node, f"{value.type} has no attribute {node.attr!r} in a kernel{self.advice_on([value])}")

    @staticmethod
    def _part(value: Value, name: str) -> Value:
        """The real or the imaginary part."""
        if value.type.kind == "c":
            return Value(part_of(value.type), f"{value.text}.{name}()")
        return value if name == "real" else Value(value.type, literal(0, value.type))

    def _Subscript(self, node: ast.Subscript) -> Value:
        value = self.value(node.value)
        if is_tuple(value.type):
            return self._item(value, node)
        if isinstance(value.type, Table):
            return self.table_element(value, self.value(node.slice), node)
        if isinstance(value.type, LocalArray):
            return self.read(self.element(value, node))
        if isinstance(value.type, ArrayView):
            return self.read(self.view_element(value, self.indices_of(value, node), node))
        if isinstance(value.type, Object):
            return self.known_element(value, node)
        self.refuse(node, f"{value.type} has no elements")

    def _item(self, value: Value, node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            parts = [each and self.value(each) for each in (node.slice.lower, node.slice.upper, node.slice.step)]
            if any(part and not part.is_constant for part in parts):
                self.refuse(node, "the bounds of a tuple's slice must be constants")
            bounds: list[Any] = [part and part.constant for part in parts]
            return tuple_of(self._folded_item(value, slice(*bounds), node))
        index = self.value(node.slice)
        if index.is_constant:
            return self._folded_item(value, index.constant, node)
        if not (index.is_number and is_whole(index.type)):
            self.refuse(node, f"an index must be an integer, not {index.type}")
        if value.is_constant and (len(value.items) > MOST_CHOICES or not all(item.is_number for item in value.items)):
            return self.table_element(self.table(value, node), index, node)
        type = self.unified(value.type.items)
        if not isinstance(type, Number):
            self.refuse(node, f"the elements of {value.type} have different types, so their index must be a constant")
        items = ", ".join(item.as_type(type) for item in value.items)
        return Value(type, f"python::item({self.failure()}, {self.as_signed(index).text}, {items})")

    def _folded_item(self, value: Value, index: Any, node: ast.AST) -> Any:
        try:
            return value.items[index]
        except (IndexError, TypeError, ValueError) as error:
            self.refuse(node, f"{type(error).__name__}: {error}")

    def element(self, array: Value, node: ast.Subscript) -> Value:
        """An element of a local array; an index out of bounds is Python's IndexError."""
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        shape = array.type.shape
        if len(nodes) != len(shape):
            self.refuse(node, f"an array of shape {shape} takes {len(shape)} indices, not {len(nodes)}")
        indices = [self.index_of(each) for each in nodes]
        self.check_known(indices, shape, node)
        return Value(Number(array.type.dtype), f"{array.text}[{self.place_of(shape, indices, node)}]")

    def check_known(self, indices: list[Value], shape: tuple[Any, ...], node: ast.AST) -> None:
        """Refuses indices of a local array that are known and have no place in it, beside those beyond its ends."""

    def place_of(self, shape: tuple[int, ...], indices: list[Value], node: ast.AST) -> str:
        """The place of an element in an array of known shape."""
        place = "0"
        for index, extent in zip(indices, shape, strict=True):
            if index.is_constant and not -extent <= index.constant < extent:
                self.refuse(node, f"index {index.constant} is out of bounds for an axis of {extent}")
            if index.is_constant:
                inside = str(index.constant % extent)
            else:
                known = self.place_in(index, str(extent), Form(extent))
                inside = known or self.inside(self.as_signed(index).text, extent)
            place = inside if place == "0" else f"({place} * {extent} + {inside})"
        return place

    def view_element(self, array: Value, nodes: list[ast.expr], node: ast.AST) -> Value:
        """An element of an array that was given, or with fewer indices than axes a row of it."""
        indices = []
        for each in nodes:
            if isinstance(each, ast.Slice):
                self.refuse(each, "slices of arrays are not supported here; use a loop over their indices, as in "
                                  "for k in range(1, x.shape[0])")  # fmt: skip
            indices.append(self.index_of(each))
        if len(nodes) == array.type.ndim:
            return self.at(array, indices, node)
        for index in indices:
            array = self.row(array, index, node)
        return array

    def index_of(self, node: ast.expr) -> Value:
        index = self.number_of(node, "an index")
        if not is_whole(index.type):
            self.refuse(node, f"an index must be an integer, not {index.type}")
        return index

    @staticmethod
    def as_signed(value: Value) -> Value:
        """An integer as an index or as a bound of a range: above those of int64 it is the largest of them."""
        form = form_as(value, INT)
        if value.is_constant:
            return constant(min(int(value.constant), HIGHEST))
        if form is None and value.type.dtype == UINT.dtype and value.type.known != SMALL.known:
            least = f"((int64_t)python::first_min<uint64_t>({value.as_type(UINT)}, {literal(HIGHEST, UINT)}))"
            return integer(least, symbol(0, HIGHEST))
        return integer(value.as_type(INT), form)

    # How indices are used; here they are checked, and count from the end where they are negative.

    def inside(self, index: str, extent: int) -> str:
        """The place of an index in an axis of known extent."""
        return f"python::within({self.failure()}, {index}, {extent})"

    def length(self, array: Value, axis: int) -> Value:
        """The extent of an axis."""
        return integer(f"{array.text}.shape[{axis}]", self.extent(array.type, axis))

    def place_in(self, index: Value, extent_text: str, extent: Form | None) -> str | None:
        """Where an index is in an axis, if it is known to be inside; else None, and its place is known afterwards."""
        form = form_of(index)
        if form is None or extent is None:
            return None
        if self.facts.is_within(form, extent):
            return index.as_type(INT)
        if form.high < 0 and self.facts.holds(form.plus(extent)):
            return f"({extent_text} + {index.as_type(INT)})"
        if not self.conditions and (form.high <= HIGHEST or is_wide(index.type)):
            self.awaited += [form.plus(extent)] if form.high < 0 else [extent.minus(form).shifted(-1)]
        return None

    def at(self, array: Value, indices: list[Value], node: ast.AST) -> Value:
        """The element of an array that was given."""
        lengths = [self.length(array, axis) for axis in range(len(indices))]
        places = [self.place_in(index, each.text, each.form) for index, each in zip(indices, lengths, strict=True)]
        item = Number(array.type.dtype)
        if None in places:
            failed, parts = self.failure(), zip(places, indices, lengths, strict=True)
            places = [
                place or f"python::within({failed}, {self.as_signed(index).text}, {length.text})"
                for place, index, length in parts
            ]
        # Written out, because compilers take long to instantiate and inline templates.
        offsets = [f"{place} * {array.text}.strides[{axis}]" for axis, place in enumerate(places)]
        return Value(item, f"(*({item.c_type} *)({' + '.join([f'{array.text}.data', *offsets])}))")

    def row(self, array: Value, index: Value, node: ast.AST) -> Value:
        """The part of an array of several axes at one index of its first axis."""
        view = dataclasses.replace(array.type, ndim=array.type.ndim - 1, axes=array.type.axes[1:])
        length = self.length(array, 0)
        place = self.place_in(index, length.text, length.form)
        if place is not None:
            return Value(view, f"{array.text}.row_at({place})")
        return Value(view, f"{array.text}.row({self.failure()}, {self.as_signed(index).text})")
