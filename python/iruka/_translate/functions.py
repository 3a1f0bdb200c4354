"""The functions of Python, math, cmath and NumPy that translated functions may call, and how each is written in C++.

A row gives the C++ function and the rule for its types. Every function takes and gives scalars.
"""

from __future__ import annotations

import builtins
import cmath
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
    """The type of the arguments' sum. A known integer that is not negative leaves an unsigned integer unsigned."""
    result = arguments[0].type
    for value in arguments[1:]:
        result = combined(result, arguments[0] if len(arguments) == 2 else None, value)
    return result


def combined(type: Number, left: Value | None, right: Value) -> Number:
    for known, other in ((right, type), (left, right.type)):
        if known and known.is_constant and known.type == INT and other.kind == "u" and known.constant >= 0:
            return Number(numpy.dtype("uint64"))
    return arithmetic(type, right.type)


def _inexact(arguments: list[Value]) -> tuple[Number, Number]:
    type = inexact(_common(arguments))
    return type, type


def _real(arguments: list[Value]) -> tuple[Number, Number]:
    type = inexact(_common(arguments))
    if type.kind == "c":
        raise TypeError("takes no complex numbers")
    return type, type


def _to_bool(arguments: list[Value]) -> tuple[Number, Number]:
    type = inexact(_common(arguments))
    return type, BOOL


def _to_int(arguments: list[Value]) -> tuple[Number, Number]:
    return _real(arguments)[0], INT


def _same(arguments: list[Value]) -> tuple[Number, Number]:
    type = _common(arguments)
    return type, type


def _whole(arguments: list[Value]) -> tuple[Number, Number]:
    type = _common(arguments)
    if not is_whole(type):
        raise TypeError("takes integers")
    return type, type


class Function:
    """A row: the number of arguments, the rule, and the text with {0}, {1}... for the arguments, {T} for their type."""

    def __init__(self, count: int, rule: Rule, text: str):
        self.count, self.rule, self.text = count, rule, text

    def __call__(self, arguments: list[Value]) -> Value:
        if len(arguments) != self.count:
            raise TypeError(f"takes {self.count} argument{'s' * (self.count != 1)}, not {len(arguments)}")
        for value in arguments:
            if not value.is_number:
                raise TypeError(f"takes numbers, not {value.type}")
        computed, result = self.rule(arguments)
        texts = [value.as_type(computed) for value in arguments]
        return Value(result, self.text.format(*texts, T=computed.c_type, R=result.c_type))


def _call(name: str, count: int = 1) -> str:
    return f"{name}({', '.join(f'{{{k}}}' for k in range(count))})"


_ONE = {
    "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "asin", "acos",
    "atan",
}  # fmt: skip
_ONE_REAL = {
    "exp2", "expm1", "log2", "log10", "log1p", "cbrt", "erf", "erfc",
}  # fmt: skip
_NUMPY_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "atan2": "arctan2",
}  # fmt: skip

_MATH = {name: Function(1, _real, _call(name)) for name in _ONE | _ONE_REAL}
_MATH |= {
    "atan2": Function(2, _real, _call("atan2", 2)),
    "hypot": Function(2, _real, _call("hypot", 2)),
    "pow": Function(2, _real, _call("pow", 2)),
    "fmod": Function(2, _real, _call("fmod", 2)),
    "remainder": Function(2, _real, _call("remainder", 2)),
    "copysign": Function(2, _real, _call("copysign", 2)),
    "nextafter": Function(2, _real, _call("nextafter", 2)),
    "fma": Function(3, _real, _call("fma", 3)),
    "fabs": Function(1, _real, _call("fabs")),
    "gamma": Function(1, _real, _call("tgamma")),
    "lgamma": Function(1, _real, _call("lgamma")),
    "degrees": Function(1, _real, "iruka::rad2deg({0})"),
    "radians": Function(1, _real, "iruka::deg2rad({0})"),
    "floor": Function(1, _to_int, "((int64_t)floor({0}))"),
    "ceil": Function(1, _to_int, "((int64_t)ceil({0}))"),
    "trunc": Function(1, _to_int, "((int64_t){0})"),
    "isnan": Function(1, _to_bool, _call("isnan")),
    "isinf": Function(1, _to_bool, _call("isinf")),
    "isfinite": Function(1, _to_bool, _call("isfinite")),
    "gcd": Function(2, _whole, "iruka::gcd({0}, {1})"),
    "lcm": Function(2, _whole, "iruka::lcm({0}, {1})"),
}

# NumPy's functions of scalars. Those of math that keep the type of their argument have NumPy's names, too.
_NUMPY = {_NUMPY_NAMES.get(name, name): Function(1, _inexact, _call(name)) for name in _ONE}
_NUMPY |= {_NUMPY_NAMES.get(name, name): Function(1, _real, _call(name)) for name in _ONE_REAL - {"erf", "erfc"}}
_NUMPY |= {
    _NUMPY_NAMES.get(name, name): _MATH[name]
    for name in ("atan2", "hypot", "copysign", "nextafter", "fabs", "isnan", "isinf", "isfinite", "gcd", "lcm",
                 "degrees", "radians")
}  # fmt: skip
_NUMPY |= {
    "rad2deg": _MATH["degrees"],
    "deg2rad": _MATH["radians"],
    "floor": Function(1, _real, _call("floor")),
    "ceil": Function(1, _real, _call("ceil")),
    "trunc": Function(1, _real, _call("trunc")),
    "rint": Function(1, _inexact, "iruka::around({0}, 0)"),
    "fmod": Function(2, _same, "iruka::fmod({0}, {1})"),
    "maximum": Function(2, _same, "iruka::maximum({0}, {1})"),
    "minimum": Function(2, _same, "iruka::minimum({0}, {1})"),
    "fmax": Function(2, _same, "iruka::fmax({0}, {1})"),
    "fmin": Function(2, _same, "iruka::fmin({0}, {1})"),
    "clip": Function(3, _same, "iruka::clip({0}, {1}, {2})"),
    "sign": Function(1, _same, "iruka::sign({0})"),
    "square": Function(1, _same, "iruka::square({0})"),
    "reciprocal": Function(1, _inexact, "iruka::reciprocal({0})"),
    "logaddexp": Function(2, _real, "iruka::logaddexp({0}, {1})"),
    "logaddexp2": Function(2, _real, "iruka::logaddexp2({0}, {1})"),
    "heaviside": Function(2, _real, "iruka::heaviside({0}, {1})"),
    "sinc": Function(1, _real, "iruka::sinc({0})"),
    "float_power": Function(2, lambda arguments: (FLOAT, FLOAT), "pow({0}, {1})"),
    "signbit": Function(1, _to_bool, "signbit({0})"),
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
    "ne": "!=",
}  # fmt: skip
_PYTHON_UNARY = {"neg": "-", "pos": "+", "invert": "~", "inv": "~", "not_": "not"}


def _rows() -> tuple[dict[Any, Function], dict[Any, str], dict[Any, str]]:
    functions = {getattr(math, name): row for name, row in _MATH.items() if hasattr(math, name)}
    functions |= {getattr(numpy, name): row for name, row in _NUMPY.items()}
    functions |= {getattr(cmath, name): Function(1, lambda a: (_complex(a), _complex(a)), _call(name)) for name in _ONE}
    binary = {getattr(numpy, name): sign for name, sign in _OPERATORS.items()}
    binary |= {getattr(operator, name): sign for name, sign in _PYTHON_OPERATORS.items()}
    unary = {getattr(numpy, name): sign for name, sign in _UNARY.items()}
    unary |= {getattr(operator, name): sign for name, sign in _PYTHON_UNARY.items()}
    return functions, binary, unary


def _complex(arguments: list[Value]) -> Number:
    return Number(numpy.promote_types(inexact(_common(arguments)).dtype, numpy.complex64))


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
