"""Arithmetic of the arrays that guvectorize's functions get: `out[:] = 2 * x + y` is a loop over the elements."""

from __future__ import annotations

import abc
import ast
import dataclasses
from collections.abc import Callable
from typing import Any, NoReturn

from .bounds import facts_with
from .loops import Range
from .number_types import ArrayView, LocalArray, Number, is_whole
from .order import Order
from .values import Value, constant, integer

_WHOLE = (None, None, None)  # the bounds and the step of x[:]


@dataclasses.dataclass(frozen=True, eq=False)
class ArrayExpression:
    """An array that no memory holds: `element` computes one element, where the expression is assigned to an array.

    `written` are the numbers of axes of those arrays in it that the function may write to.
    """

    axes: tuple[str | int, ...]
    element: Callable[[list[Value]], Value]
    written: frozenset[int]

    def __str__(self):
        return "an array that is computed"


def is_array(value: Value) -> bool:
    return isinstance(value.type, (ArrayView, ArrayExpression))


def _written(array: Value) -> frozenset[int]:
    if isinstance(array.type, ArrayExpression):
        return array.type.written
    return frozenset({array.type.ndim} if array.type.is_writable else ())


def is_whole_axis(node: ast.expr) -> bool:
    """Whether an index is `:` or `...`."""
    if isinstance(node, ast.Slice):
        return (node.lower, node.upper, node.step) == _WHOLE
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def indices_in(node: ast.expr) -> list[ast.expr]:
    """What stands between the brackets, of which a tuple has several."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


class ArrayExpressions(Order):
    """Translates them."""

    program: Any
    unread: ast.AST | None = None  # an expression of the statement that is yet to read arrays that may be written to

    @abc.abstractmethod
    def at(self, array: Value, indices: list[Value], node: ast.AST) -> Value: ...
    @abc.abstractmethod
    def length(self, array: Value, axis: int) -> Value: ...
    @abc.abstractmethod
    def range_loop(self, items: Range) -> str: ...
    @abc.abstractmethod
    def snapshot(self, value: Value) -> Value: ...
    @abc.abstractmethod
    def leave_if_failed(self) -> None: ...
    @abc.abstractmethod
    def check_writable(self, array: Value, target: ast.AST) -> None: ...
    @abc.abstractmethod
    def refuse(self, node: ast.AST, message: str) -> NoReturn: ...
    @abc.abstractmethod
    def value(self, node: ast.expr) -> Value: ...
    @abc.abstractmethod
    def view_element(self, array: Value, nodes: list[ast.expr], node: ast.AST) -> Value: ...
    @abc.abstractmethod
    def set_element(self, place: Value, value: Value, node: ast.AST) -> None: ...

    def of_arrays(self, compute: Callable[..., Value], values: list[Value], node: ast.AST) -> Value | None:
        """What `compute` gives for each element of the arrays; None where there are none, or other things."""
        arrays = [each for each in values if is_array(each)]
        are_others = any(not (is_array(each) or each.is_number) for each in values)
        if not self.program.has_own_arrays or not arrays or are_others:
            return None
        axes = max((each.type.axes for each in arrays), key=len)
        for each in arrays:
            self._check_axes(each, axes, node)
        kept = [self.snapshot(each) for each in values]  # numbers as they are before the loop
        element = lambda at: compute(*(self._element_of(each, at, node) for each in kept))
        written = frozenset().union(*map(_written, arrays))
        if written:
            self.unread = node
        return Value(ArrayExpression(axes, element, written))

    def check_unread(self, node: ast.AST) -> None:
        """Refuses a call with effects where an expression of the statement has yet to read arrays that may change."""
        if self.unread is None:
            return
        self.refuse(node, "this call changes an array, and the expression before it "
                          f"({ast.unparse(self.unread)}) is computed afterwards, element by element; write the call in "
                          "a statement of its own")  # fmt: skip

    def _check_axes(self, array: Value, axes: tuple[str | int, ...], node: ast.AST) -> None:
        own = array.type.axes
        if not own or own != axes[len(axes) - len(own) :]:
            names = [f"({','.join(map(str, each))})" for each in (own, axes)]
            self.refuse(node, f"axes {names[0]} and {names[1]} of the layout may have different lengths; write a loop")

    def _element_of(self, value: Value, indices: list[Value], node: ast.AST) -> Value:
        if not is_array(value):
            return value
        own = indices[len(indices) - len(value.type.axes) :]
        if isinstance(value.type, ArrayExpression):
            return value.type.element(own)
        return self.read(self.at(value, own, node))

    def indices_of(self, array: Value, node: ast.Subscript) -> list[ast.expr]:
        """The indices of an array that was given, without `:` at the end; `...` is as many `:` as are missing.

        Refuses more indices than axes, as NumPy does.
        """
        nodes, ndim = indices_in(node.slice), array.type.ndim
        dots = [k for k, each in enumerate(nodes) if isinstance(each, ast.Constant) and each.value is Ellipsis]
        if len(dots) > 1:
            self.refuse(nodes[dots[1]], "an index has a single ellipsis ('...')")
        if len(nodes) - len(dots) > ndim:
            self.refuse(node, f"too many indices: {array.type} takes {ndim} indices, not {len(nodes) - len(dots)}")
        for k in dots:
            whole = ast.copy_location(ast.Slice(), nodes[k])
            nodes = [*nodes[:k], *[whole] * (ndim - len(nodes) + 1), *nodes[k + 1 :]]
        while nodes and is_whole_axis(nodes[-1]):
            nodes = nodes[:-1]
        return nodes

    def whole_array(self, target: ast.expr) -> Value | None:
        """The array that was given, or its row, to all of whose elements an assignment goes; None for other targets."""
        if not isinstance(target, ast.Subscript):
            return None
        nodes = indices_in(target.slice)
        array = self.value(target.value) if not nodes or any(map(is_whole_axis, nodes)) else None
        if array is None or not isinstance(array.type, ArrayView):
            return None
        nodes = self.indices_of(array, target)
        return self.view_element(array, nodes, target) if len(nodes) < array.type.ndim else None

    def assign_whole(self, array: Value, value: Value, target: ast.AST, node: ast.AST) -> None:
        """Assigns a number to all elements, or an array of the same axes, each element by itself."""
        self.check_writable(array, target)
        if self.program.has_own_arrays and is_array(value):
            self._check_axes(value, array.type.axes, node)
            if isinstance(value.type, ArrayExpression) and min(value.type.written, default=64) < array.type.ndim:
                self.refuse(node, "a row in this expression may be one of those that are assigned to; write a loop")
            array, self.unread = self.snapshot(array), None
            self.leave_if_failed()
            return self._fill_axes(array, value, [], node)
        if not value.is_number:
            self.refuse(node, f"an element must be a number, not {value.type}{self.advice_on([value])}")
        self.emit(f"{array.text}.fill({value.as_type(Number(array.type.dtype))});")

    def in_kind_of(self, array: Value, made: Value, sign: str, node: ast.AST) -> Value:
        """What is computed of an array and goes back to it: floats are no integers there, as in NumPy."""

        def element(indices: list[Value]) -> Value:
            value = made.type.element(indices)
            if is_whole(Number(array.type.dtype)) and not is_whole(value.type):
                self.refuse(node, f"{sign}= makes {value.type} of the elements, and the array has {array.type.dtype}; "
                                  f"where they are to be truncated, write the whole, as in out[:] = out {sign} "
                                  "...")  # fmt: skip
            return value

        return Value(dataclasses.replace(made.type, element=element))

    def _fill_axes(self, array: Value, value: Value, indices: list[Value], node: ast.AST) -> None:
        axis = len(indices)
        if axis == array.type.ndim:
            self.set_element(self.at(array, indices, node), self._element_of(value, indices, node), node)
            return self.leave_if_failed()
        items = Range(constant(0), self.length(array, axis), constant(1))
        place, form = self.range_loop(items), items.counter()
        with self.indented(), self.assuming([]):
            self.facts.known += facts_with(form)
            self._fill_axes(array, value, [*indices, integer(place, form)], node)
        self.emit("}")

    def advice_on(self, values: list[Value]) -> str:
        """What an error message says beside where some of the values are arrays."""
        is_any = any(is_array(each) or isinstance(each.type, LocalArray) for each in values)
        return "; write a loop over the elements, for k in range(x.shape[0])" if is_any else ""
