"""What a fused function computes, as a graph: each node is a value for every element of its shape."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy

from .. import _core
from .._functions import elementwise
from ..errors import ShapeError, ValueError
from .numbers import FusedNumber

COMPARISONS = {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}
Shape = frozenset  # of what the shapes broadcast from: numbers of arguments, and nodes of reductions and views


class Node:
    """A value: an argument, a number, an operation, a cast, a reduction or a view. Equal nodes are one object."""

    __slots__ = ("data", "dtype", "inputs", "kind", "ndim", "order", "shape")

    def __init__(self, kind: str, data: Any, inputs: tuple, dtype: str, ndim: int, shape: Shape, order: int):
        self.kind, self.data, self.inputs, self.dtype = kind, data, inputs, dtype
        self.ndim, self.shape, self.order = ndim, shape, order


class Place:
    """Memory that the function sees: an argument, or an array that it made. Assignments give it another node."""

    __slots__ = ("argument", "node")

    def __init__(self, node: Node, argument: int | None = None):
        self.node, self.argument = node, argument


class Graph:
    """The nodes of one trace, and the arguments of the call that it is made for."""

    call_ufunc: Any  #: of a graph, a ufunc, its method, inputs and keywords

    def __init__(self, name: str, values: tuple, by_value: frozenset):
        self.name, self.values = name, values
        self.by_value = by_value  # the arguments whose numbers, or whose shapes, are part of the signature
        self._nodes: dict[tuple, Node] = {}
        self.places: dict[int, Place] = {}
        self.fits: list[tuple[Shape, Shape]] = []  # the first must broadcast to the second
        self.exponents: list[Node] = []  # bools, none of which may be true
        self.shape_nodes: dict[Any, Node] = {}
        self.constants: dict[str, Any] = {"int64": numpy.int64}  # names in the launcher's text
        self._arrays = {k: value for k, value in enumerate(values) if isinstance(value, _core.ndarray)}
        shapes = [array.shape for array in self._arrays.values()]
        try:
            common = _core.broadcast_shapes(*shapes) if shapes else ()
        except ShapeError:
            common = None
        self._whole = next((self._first_like(k) for k in self._arrays if self._arrays[k].shape == common), None)

    def _first_like(self, argument: int) -> int:
        shape = self._arrays[argument].shape
        return next(k for k, other in self._arrays.items() if other.shape == shape)

    def node(self, kind: str, data: Any, inputs: tuple, dtype: str, ndim: int = 0, shape: Shape = frozenset()) -> Node:
        key = (kind, data, inputs, dtype, shape)
        if key not in self._nodes:
            self._nodes[key] = Node(kind, data, inputs, dtype, ndim, shape, len(self._nodes))
        return self._nodes[key]

    def argument(self, k: int) -> Place:
        array = self._arrays[k]
        shape = frozenset((self._first_like(k),)) if array.ndim else frozenset()
        self.places[k] = Place(self.node("argument", k, (), name_of(array.dtype), array.ndim, shape), k)
        return self.places[k]

    def joined(self, nodes: Any) -> Shape:
        """What the shapes of the nodes broadcast to."""
        joined: Shape = frozenset().union(*(node.shape for node in nodes))
        if self._whole in joined and all(map(self._fits_whole, joined)):
            return frozenset((self._whole,))
        return joined

    def _fits_whole(self, part: Any) -> bool:
        if isinstance(part, int):
            return True
        kind, base, axes, keepdims = part
        return kind == "reduce" and (keepdims or axes == tuple(range(len(axes)))) and all(map(self._fits_whole, base))

    def constant(self, value: Any) -> str:
        """The object's name in the launcher's text."""
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    # Values

    def operand(self, value: Any, dtype: str, as_parameter: bool = False) -> Node:
        """A number as a node of that dtype."""
        if isinstance(value, FusedNumber):
            return self.node("number", value.recipe, (), dtype)
        if as_parameter:
            return self.node("number", self.constant(value), (), dtype)
        return self.node("constant", _core._number_text(value, dtype), (), dtype)

    def cast(self, node: Node, dtype: str) -> Node:
        return node if node.dtype == dtype else self.node("cast", None, (node,), dtype, node.ndim, node.shape)

    def operation(self, name: str, inputs: Any, dtype: Any = None, casting: str = "same_kind") -> tuple[Node, ...]:
        """The outputs of a row of the elementwise table; inputs are nodes and numbers."""
        inputs = list(inputs)
        if name in COMPARISONS:
            inputs = [_comparable(each, other) for each, other in zip(inputs, reversed(inputs), strict=True)]
        if name == "power" and (made := self._power(inputs, dtype, casting)) is not None:
            return made
        described = tuple((each.dtype,) if isinstance(each, Node) else _value(each) for each in inputs)
        loop, *types = _core._operation_types(name, described, dtype, casting)
        # Compilers replace pow of a constant by other functions, which round differently.
        is_power = name in ("power", "float_power") and not is_integer(loop)
        nodes = tuple(
            each if isinstance(each, Node) else self.operand(each, type, as_parameter=is_power)
            for each, type in zip(inputs, types, strict=False)
        )
        if name == "power":
            self._check_exponent(inputs[1], loop)
        data = (name, loop, tuple(types))
        ndim, shape = max((node.ndim for node in nodes), default=0), self.joined(nodes)
        outputs = types[len(nodes) :]
        return tuple(self.node("operation", (*data, k), nodes, output, ndim, shape) for k, output in enumerate(outputs))

    def _power(self, inputs: list, dtype: Any, casting: str) -> tuple[Node, ...] | None:
        """x ** 2 is x * x for Python's own numbers, as in the array functions."""
        base, exponent = inputs
        value = _value(exponent)
        if dtype is not None or not isinstance(base, Node) or isinstance(value, (Node, numpy.generic, bool)):
            return None
        if isinstance(value, complex) or base.dtype == "bool":
            return None
        if is_integer(base.dtype) and isinstance(value, int):
            value = int(exponent)  # decides whether there is an error
        elif is_integer(base.dtype):
            return None
        elif isinstance(exponent, FusedNumber):
            inputs[1] = value = FusedNumber(exponent.graph, float(value), f"float({exponent.recipe})", exponent.sources)
            loop = _core._operation_types("power", ((base.dtype,), value.value), None, casting)[0]
            general = self._plain_power(base, self.operand(value, loop), loop)
            is_two = self.node("number", f"{value.recipe} == 2", (), "bool")
            return self.operation("where", (is_two, *self.operation("square", (base,)), general))
        return self.operation("square", (base,)) if value == 2 else None

    def _plain_power(self, base: Node, exponent: Node, loop: str) -> Node:
        types = (loop, loop, loop)
        return self.node("operation", ("power", loop, types, 0), (base, exponent), loop, base.ndim, base.shape)

    def _check_exponent(self, exponent: Any, loop: str) -> None:
        """Integers have no negative powers: an array of exponents is looked at in each call."""
        if numpy_kind(loop) != "i":
            return
        if not isinstance(exponent, Node):
            if int(exponent) < 0:
                raise ValueError("Integers to negative integer powers are not allowed.")
        elif numpy_kind(exponent.dtype) == "i":
            (negative,) = self.operation("less", (exponent, 0))
            self.exponents.append(self.reduction("any", negative, None, False))

    # Reductions and views

    def reduction(self, name: str, x: Node, axes: tuple | None, keepdims: bool, extra: float = 0) -> Node:
        reduced = tuple(range(x.ndim)) if axes is None else axes
        ndim = x.ndim if keepdims else x.ndim - len(reduced)
        key = ("reduce", x.shape, reduced, keepdims)
        made = self.node(
            "reduce",
            (name, axes, keepdims, extra),
            (x,),
            reduced_dtype(name, x.dtype),
            ndim,
            Shape((key,) if ndim else ()),
        )
        self.shape_nodes.setdefault(key, made)
        return made

    def view(self, base: Node, text: str, data: Any, ndim: int) -> Node:
        key = ("view", base.order, text, data)
        made = self.node("view", (text, data), (base,), base.dtype, ndim, Shape((key,) if ndim else ()))
        self.shape_nodes.setdefault(key, made)
        return made

    def fit(self, value: Node, old: Node, name: str) -> Node:
        """The value, broadcast to the shape that is assigned to."""
        if value.ndim > old.ndim:
            raise ShapeError(
                f"{name}: non-broadcastable output operand: a value of {value.ndim} axes for an array of {old.ndim}"
            )
        if value.shape == old.shape:
            return value
        if not value.shape <= old.shape and self.joined((value, old)) != old.shape:
            self.fits.append((value.shape, old.shape))
        return self.node("fit", None, (value, old), value.dtype, old.ndim, old.shape)


def _comparable(value: Any, other: Any) -> Any:
    """A Python integer that is compared with integers: as the 64-bit integer it is, if it may not fit their dtype."""
    number = _value(value)
    if not isinstance(other, Node) or not is_integer(other.dtype) or type(number) is not int:
        return value
    if isinstance(value, FusedNumber):
        return FusedNumber(value.graph, numpy.int64(number), f"int64({value.recipe})", value.sources)
    limits = numpy.iinfo(other.dtype)
    if limits.min <= number <= limits.max or not -(2**63) <= number < 2**64:
        return value
    return numpy.int64(number) if number < 2**63 else numpy.uint64(number)


def _value(value: Any) -> Any:
    return value.value if isinstance(value, FusedNumber) else value


def name_of(dtype: Any) -> str:
    return numpy.dtype(dtype).name


def numpy_kind(dtype: str) -> str:
    return _core.dtype_of(dtype).kind


def is_integer(dtype: str) -> bool:
    return numpy_kind(dtype) in "iu"


@functools.cache
def reduced_dtype(name: str, dtype: str) -> str:
    """What the reduction returns for the dtype, which one element tells."""
    package = sys.modules["iruka"]
    with _core.device("cpu"):
        return name_of(getattr(package, name)(package.ones((1,), dtype)).dtype)


def row_name(function: Any) -> str | None:
    """The row of the elementwise table that a ufunc of Iruka or NumPy is."""
    if (name := getattr(function, "_name", None)) is not None:
        return name
    found = elementwise.get(getattr(function, "__name__", ""))
    return None if found is None else found._name
