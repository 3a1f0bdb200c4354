"""Arithmetic, comparisons, functions of numbers and indices of DataNodes, with DALI's dtypes: a function of Python is
called for each sample. Numbers without a dtype are int32 or float32."""

from __future__ import annotations

import operator

import numpy as _np

from ...errors import TypeError
from .nodes import DataNode, ScalarConstant, device_of, function_node

_FLOAT = _np.dtype("float32")


def promoted(a: _np.dtype, b: _np.dtype) -> _np.dtype:
    """The dtype of a result of operands of two dtypes: bool gives way to all, integers to floats; of integers of unlike
    signs the signed one has more bits than the unsigned one, 64 at most."""
    if "f" in a.kind + b.kind:
        floats = [each for each in (a, b) if each.kind == "f"]
        return max(floats, key=lambda each: each.itemsize)
    if a.kind == b.kind or "b" in a.kind + b.kind:
        return max(a, b, key=lambda each: (each.kind != "b", each.itemsize))
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    bits = max(signed.itemsize, min(2 * unsigned.itemsize, 8))
    return _np.dtype(f"int{8 * bits}")


def _numeric(a, b):
    dtype = promoted(a.dtype, b.dtype)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def _integers_divided(a, b, remainder: bool):
    """Quotient or remainder of integers, cut off towards zero; division by zero gives 0."""
    whole = _np.where(b == 0, 1, b).astype(b.dtype)
    rest = _np.fmod(a, whole)
    result = rest if remainder else (a - rest) // whole
    return _np.where(b == 0, 0, result).astype(a.dtype)


def _divide(a, b):
    dtype = promoted(a.dtype, b.dtype)
    dtype = dtype if dtype.kind == "f" else _FLOAT
    return a.astype(dtype) / b.astype(dtype)


def _floor_divide(a, b):
    a, b = _numeric(a, b)
    return a / b if a.dtype.kind == "f" else _integers_divided(a, b, False)


def _remainder(a, b):
    a, b = _numeric(a, b)
    return _np.fmod(a, b) if a.dtype.kind == "f" else _integers_divided(a, b, True)


def _integer_pair(name: str):
    function = getattr(operator, name)

    def call(a, b):
        if "f" in a.dtype.kind + b.dtype.kind:
            raise TypeError(
                f"{name.strip('_')}: bitwise operators take integers and bools, not {a.dtype} and {b.dtype}"
            )
        return function(*_numeric(a, b))

    return call


def _promoting(function):
    def call(a, b):
        a, b = _numeric(a, b)
        with _np.errstate(all="ignore"):
            return _np.asarray(function(a, b)).astype(a.dtype, copy=False)

    return call


_BINARY = {
    "add": _promoting(operator.add),
    "sub": _promoting(lambda a, b: _np.subtract(a, b)),
    "mul": _promoting(operator.mul),
    "truediv": _divide,
    "floordiv": _floor_divide,
    "mod": _remainder,
    "pow": _promoting(_np.power),
    "and": _integer_pair("and_"),
    "or": _integer_pair("or_"),
    "xor": _integer_pair("xor"),
    "lshift": _integer_pair("lshift"),
    "rshift": _integer_pair("rshift"),
}
_COMPARISONS = {
    name: (lambda function: lambda a, b: function(*_numeric(a, b)))(getattr(operator, name))
    for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
_FLOAT_RESULTS = ("truediv",)


def operands_of(values) -> tuple[list[DataNode], list]:
    """The nodes among operands, and for each operand its place among the nodes, or a constant array. Raises TypeError
    for other objects."""
    nodes: list[DataNode] = []
    places: list = []
    for value in values:
        if isinstance(value, DataNode):
            places.append(len(nodes))
            nodes.append(value)
        elif isinstance(value, (bool, int, float, _np.number, _np.bool_, ScalarConstant)):
            constant = value if isinstance(value, ScalarConstant) else ScalarConstant(value, _dtype_of_number(value))
            places.append(_np.asarray(constant.value))
        else:
            raise TypeError(
                f"an operand of a DataNode is a DataNode or a number, not {type(value).__name__}; "
                "types.Constant makes a DataNode of an array"
            )
    return nodes, places


def _dtype_of_number(value):
    return value.dtype if isinstance(value, (_np.number, _np.bool_)) else None


def elementwise(name: str, call, values, result) -> DataNode:
    """A node of call(*arrays), whose dtype is `result(*dtypes)` where all dtypes are known."""
    nodes, places = operands_of(values)

    def called(*arrays):
        with _np.errstate(all="ignore"):
            return call(*(arrays[place] if isinstance(place, int) else place for place in places))

    dtypes = [nodes[place].dtype if isinstance(place, int) else place.dtype for place in places]
    dtype = None if None in dtypes else result(*dtypes)
    layout = next((node.layout for node in nodes if node.layout), "")
    picture = any(node.is_picture for node in nodes) and dtype is not None and dtype.name in _PICTURES
    return function_node(name, called, nodes, dtype=dtype, layout=layout, picture=picture, device=device_of(nodes))


_PICTURES = ("uint8", "uint16", "float16", "float32")


def _result_of(name: str):
    if name in _COMPARISONS:
        return lambda a, b: _np.dtype(bool)
    if name in _FLOAT_RESULTS:
        return lambda a, b: promoted(a, b) if promoted(a, b).kind == "f" else _FLOAT
    return promoted


def _method(name: str, call, is_reflected: bool):
    result = _result_of(name)

    def method(self, other):
        return elementwise(name, call, (other, self) if is_reflected else (self, other), result)

    return method


def _unary(name: str, call):
    return lambda self: elementwise(name, call, (self,), lambda a: a)


def _inverted(x):
    if x.dtype.kind == "f":
        raise TypeError(f"invert: bitwise operators take integers and bools, not {x.dtype}")
    return ~x


def _declare(kind: type) -> None:
    """Gives a class the operators."""
    methods = {}
    for name, call in {**_BINARY, **_COMPARISONS}.items():
        methods[f"__{name}__"] = _method(name, call, False)
        if name in _BINARY:
            methods[f"__r{name}__"] = _method(name, call, True)
    methods["__neg__"] = _unary("neg", lambda x: _np.negative(x))
    methods["__pos__"] = lambda self: self
    methods["__abs__"] = _unary("abs", _np.abs)
    methods["__invert__"] = _unary("invert", _inverted)
    methods["__hash__"] = object.__hash__
    for name, method in methods.items():
        setattr(kind, name, method)


_declare(DataNode)
_declare(ScalarConstant)


def _floats(function):
    return lambda x: function(x if x.dtype.kind == "f" else x.astype(_FLOAT))


def _float_of(dtype):
    return dtype if dtype.kind == "f" else _FLOAT


#: Functions of one number whose result is a float, by DALI's names in nvidia.dali.math.
FLOAT_FUNCTIONS = {
    **{name: getattr(_np, name) for name in ("sqrt", "cbrt", "exp", "log", "log2", "log10", "floor", "ceil", "sin",
        "cos", "tan", "sinh", "cosh", "tanh", "fabs")},
    "asin": _np.arcsin, "acos": _np.arccos, "atan": _np.arctan, "asinh": _np.arcsinh, "acosh": _np.arccosh,
    "atanh": _np.arctanh, "rsqrt": lambda x: (1 / _np.sqrt(x)).astype(x.dtype),
}  # fmt: skip


def float_function(name: str):
    """DALI's math function of one node."""
    call = _floats(FLOAT_FUNCTIONS[name])

    def function(x):
        return elementwise(name, call, (x,), _float_of)

    function.__name__, function.__doc__ = name, f"{name} of each element, a float (float32 for integers)."
    return function


def absolute(x) -> DataNode:
    """The absolute value, in the operand's dtype."""
    return elementwise("abs", _np.abs, (x,), lambda a: a)


def minimum(a, b) -> DataNode:
    """The lesser of two values."""
    return elementwise("min", _promoting(_np.minimum), (a, b), promoted)


def maximum(a, b) -> DataNode:
    """The greater of two values."""
    return elementwise("max", _promoting(_np.maximum), (a, b), promoted)


def clamp(value, low, high) -> DataNode:
    """The value, low or high, so that it is between them."""
    return minimum(maximum(value, low), high)


def power(base, exponent) -> DataNode:
    """base ** exponent, in the operands' dtype."""
    return elementwise("pow", _promoting(_np.power), (base, exponent), promoted)


def float_power(base, exponent) -> DataNode:
    """base ** exponent as a float."""
    call = _floats_of_two(_np.power)
    return elementwise("fpow", call, (base, exponent), lambda a, b: _float_of(promoted(a, b)))


def arctan2(y, x) -> DataNode:
    """The angle of (x, y)."""
    return elementwise("atan2", _floats_of_two(_np.arctan2), (y, x), lambda a, b: _float_of(promoted(a, b)))


def _floats_of_two(function):
    def call(a, b):
        dtype = _float_of(promoted(a.dtype, b.dtype))
        return function(a.astype(dtype), b.astype(dtype))

    return call


def indexed(node: DataNode, index) -> DataNode:
    """The part of each sample at an index of integers, slices and ..., any of whose numbers may be DataNodes."""
    parts = index if isinstance(index, tuple) else (index,)
    nodes = [node]

    def place_of(value):
        if isinstance(value, DataNode):
            nodes.append(value)
            return len(nodes) - 1
        return None

    places = []
    for part in parts:
        bounds = (part.start, part.stop, part.step) if isinstance(part, slice) else (part,)
        for each in bounds:
            if not isinstance(each, DataNode) and each is not None and each is not Ellipsis:
                operator.index(each)
        places.append(tuple(map(place_of, bounds)))

    def number(value, place, arrays):
        return value if place is None else int(arrays[place].item())

    def call(*arrays):
        made = []
        for part, place in zip(parts, places, strict=True):
            if isinstance(part, slice):
                bounds = zip((part.start, part.stop, part.step), place, strict=True)
                made.append(slice(*(number(value, k, arrays) for value, k in bounds)))
            else:
                made.append(number(part, place[0], arrays))
        return arrays[0][tuple(made)]

    return function_node("slice", call, nodes, dtype=node.dtype, device=device_of([node]))


setattr(DataNode, "__getitem__", indexed)  # noqa: B010
