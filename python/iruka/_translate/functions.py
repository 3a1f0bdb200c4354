"""The functions of Python, math, cmath and NumPy that translated functions may call, and how each is written in C++.

A row gives the C++ function and the rule for its types. Every function takes and gives scalars.
"""

from __future__ import annotations

import builtins
import cmath
import functools
import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy

from .number_types import BOOL, FLOAT, INT, Number, arithmetic, inexact, is_whole, of_python
from .values import Value, constant

# Rule: the types in which the arguments are computed, and the type of the result.
Rule = Callable[..., tuple[Number, Number]]


def _common(arguments: list[Value]) -> Number:
    """The type of the arguments' sum."""
    return functools.reduce(arithmetic, (value.type for value in arguments))


def _inexact(arguments: list[Value]) -> tuple[Number, Number]:
    type = inexact(_common(arguments))
    return type, type


def _real(arguments: list[Value]) -> tuple[Number, Number]:
    types = _inexact(arguments)
    if types[0].kind == "c":
        raise TypeError("takes no complex numbers")
    return types


def _complex(arguments: list[Value]) -> tuple[Number, Number]:
    type = Number(numpy.promote_types(_inexact(arguments)[0].dtype, numpy.complex64))
    return type, type


def _to_bool(arguments: list[Value]) -> tuple[Number, Number]:
    return _inexact(arguments)[0], BOOL


def _to_int(arguments: list[Value]) -> tuple[Number, Number]:
    return _real(arguments)[0], INT


def _same(arguments: list[Value]) -> tuple[Number, Number]:
    type = _common(arguments)
    return type, type


def _whole(arguments: list[Value]) -> tuple[Number, Number]:
    types = _same(arguments)
    if not is_whole(types[0]):
        raise TypeError("takes integers")
    return types


def _floats(arguments: list[Value]) -> tuple[Number, Number]:
    return FLOAT, FLOAT


class Function:
    """A row: the number of arguments, the rule, and the text with {0}, {1}... for the arguments."""

    def __init__(self, count: int, rule: Rule, text: str):
        self.count, self.rule, self.text = count, rule, text

    def __call__(self, arguments: list[Value]) -> Value:
        if len(arguments) != self.count:
            raise TypeError(f"takes {self.count} argument{'s' * (self.count != 1)}, not {len(arguments)}")
        for value in arguments:
            if not value.is_number:
                raise TypeError(f"takes numbers, not {value.type}")
        computed, result = self.rule(arguments)
        return Value(result, self.text.format(*(value.as_type(computed) for value in arguments)))


def _named(rule: Rule, count: int, *names: str, space: str = "") -> dict[str, Function]:
    """Rows of functions that have one name in Python and in C++."""
    given = ", ".join(f"{{{k}}}" for k in range(count))
    return {name: Function(count, rule, f"{space}{name}({given})") for name in names}


_ONE = (
    "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "asin", "acos",
    "atan",
)  # fmt: skip
_ONE_REAL = ("exp2", "expm1", "log2", "log10", "log1p", "cbrt")
_NUMPY_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "atan2": "arctan2",
}  # fmt: skip

_BOTH = {
    **_named(_real, 1, *_ONE_REAL, "fabs"),
    **_named(_real, 2, "atan2", "hypot", "copysign", "nextafter"),
    **_named(_to_bool, 1, "isnan", "isinf", "isfinite"),
    **_named(_whole, 2, "gcd", "lcm", space="iruka::"),
    "degrees": Function(1, _real, "iruka::rad2deg({0})"),
    "radians": Function(1, _real, "iruka::deg2rad({0})"),
}
_MATH = {
    **_BOTH,
    **_named(_real, 1, *_ONE, "erf", "erfc", "lgamma"),
    **_named(_real, 2, "pow", "fmod", "remainder"),
    **_named(_real, 3, "fma"),
    "gamma": Function(1, _real, "tgamma({0})"),
    "floor": Function(1, _to_int, "((int64_t)floor({0}))"),
    "ceil": Function(1, _to_int, "((int64_t)ceil({0}))"),
    "trunc": Function(1, _to_int, "((int64_t){0})"),
}
_NUMPY = {
    **{_NUMPY_NAMES.get(name, name): row for name, row in (_BOTH | _named(_inexact, 1, *_ONE)).items()},
    **_named(_real, 1, "floor", "ceil", "trunc"),
    **_named(_to_bool, 1, "signbit"),
    **_named(_same, 1, "sign", "square", space="iruka::"),
    **_named(_same, 2, "fmod", "maximum", "minimum", "fmax", "fmin", space="iruka::"),
    **_named(_same, 3, "clip", space="iruka::"),
    **_named(_inexact, 1, "reciprocal", space="iruka::"),
    **_named(_real, 1, "rad2deg", "deg2rad", "sinc", space="iruka::"),
    **_named(_real, 2, "logaddexp", "logaddexp2", "heaviside", space="iruka::"),
    "rint": Function(1, _inexact, "iruka::around({0}, 0)"),
    "float_power": Function(2, _floats, "pow({0}, {1})"),
}

# NumPy's functions that are Python's operators.
_OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "floor_divide": "//",
    "remainder": "%", "mod": "%", "power": "**", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
    "left_shift": "<<", "right_shift": ">>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "equal": "==", "not_equal": "!=",
}  # fmt: skip
_UNARY = {"negative": "-", "positive": "+", "invert": "~", "bitwise_not": "~", "logical_not": "not"}
_PYTHON_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "and_": "&",
    "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
    "ne": "!=", "matmul": "@",
}  # fmt: skip
_PYTHON_UNARY = {"neg": "-", "pos": "+", "invert": "~", "inv": "~", "not_": "not"}


def _rows() -> tuple[dict[Any, Function], dict[Any, str], dict[Any, str]]:
    functions = {getattr(math, name): row for name, row in _MATH.items() if hasattr(math, name)}
    functions |= {getattr(numpy, name): row for name, row in _NUMPY.items()}
    functions |= {getattr(cmath, name): row for name, row in _named(_complex, 1, *_ONE).items()}
    binary = {getattr(numpy, name): sign for name, sign in _OPERATORS.items()}
    binary |= {getattr(operator, name): sign for name, sign in _PYTHON_OPERATORS.items()}
    unary = {getattr(numpy, name): sign for name, sign in _UNARY.items()}
    unary |= {getattr(operator, name): sign for name, sign in _PYTHON_UNARY.items()}
    return functions, binary, unary


FUNCTIONS, BINARY_FUNCTIONS, UNARY_FUNCTIONS = _rows()


def of_iruka(value: Any) -> Any:
    """NumPy's function for one of Iruka's with its name, so that both may be called."""
    package = vars(sys.modules["iruka"])  # complete by now, and imported nowhere below it
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and package.get(name) is value and not isinstance(value, type):
        return getattr(numpy, name, value)
    return value


def cast_to(value: Any) -> Number | None:
    """The type that a call of int, float, bool, complex or one of NumPy's scalar types converts a number to."""
    if value in (builtins.int, builtins.float, builtins.bool, builtins.complex):
        return of_python(value(0))
    if isinstance(value, type) and issubclass(value, numpy.generic):
        sample = constant(value(0)) if value is not numpy.generic else None
        return sample.type if sample and sample.is_number else None
    return None
