"""What `if`, `and`, `or` and `not` become in a graph: both branches are defined, each with a condition under which the
core runs its operators, and the values that they leave are selected for each sample. rewriting.py puts calls of these
functions into the code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as _np

from ...errors import TypeError
from .nodes import DataNode, Guard, Operation, ScalarConstant, device_of, function_node, under
from .values import constant_node

_BOOL = _np.dtype(bool)
_NUMBERS = (bool, int, float, _np.number, _np.bool_)


class Undefined:
    """A variable that has no value yet."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self):
        return f"<the variable {self.name!r}, which has no value in one of the branches>"


def is_undefined(value) -> bool:
    return isinstance(value, Undefined)


def value_of(name: str, get: Callable):
    """The variable's value, or an Undefined in its place."""
    try:
        return get()
    except NameError:
        return Undefined(name)


def branch(test, if_true: Callable, if_false: Callable, names: Sequence[str], values: Sequence) -> tuple:
    """The variables behind an if: each branch is called with their values before it and returns those behind it."""
    if not isinstance(test, DataNode):
        return (if_true if test else if_false)(*values)
    left, right = _both_branches(test, lambda: if_true(*values), lambda: if_false(*values))
    pairs = zip(left, right, names, strict=True)
    return tuple(merged(test, one, other, f"variable {name!r}") for one, other, name in pairs)


def returned(test, if_true: Callable, if_false: Callable, values: Sequence):
    """What a function returns whose branches both return."""
    return choice(test, lambda: if_true(*values), lambda: if_false(*values), "value that the function returns")


def choice(test, if_true: Callable, if_false: Callable, what: str = "value"):
    """if_true() if test else if_false()."""
    if not isinstance(test, DataNode):
        return if_true() if test else if_false()
    left, right = _both_branches(test, if_true, if_false)
    return merged(test, left, right, what)


def both(left, right: Callable):
    """left and right()."""
    if not isinstance(left, DataNode):
        return left and right()
    left = _boolean(left, "and")
    with under(Guard(left, True)):
        rest = _boolean(right(), "and")
    return merged(left, rest, False, "value of `and`")


def either(left, right: Callable):
    """left or right()."""
    if not isinstance(left, DataNode):
        return left or right()
    left = _boolean(left, "or")
    with under(Guard(left, False)):
        rest = _boolean(right(), "or")
    return merged(left, True, rest, "value of `or`")


def negated(value):
    """not value."""
    if not isinstance(value, DataNode):
        return not value
    return function_node("not", _np.logical_not, [_boolean(value, "not")], dtype=_BOOL)


def _both_branches(test: DataNode, if_true: Callable, if_false: Callable) -> list:
    made = []
    for is_true, run in ((True, if_true), (False, if_false)):
        with under(Guard(test, is_true)):
            made.append(run())
    return made


def _boolean(value, where: str):
    """A value of logic. Raises TypeError for others, where their dtype is known; else a sample with another fails."""

    def refuse(dtype):
        raise TypeError(f"`{where}` takes values of bool, not {dtype}; compare them with a number")

    def checked(x):
        return x if x.dtype == _BOOL else refuse(x.dtype)

    if isinstance(value, (bool, _np.bool_)):
        return bool(value)
    if not isinstance(value, DataNode):
        refuse(type(value).__name__)
    if value.dtype is None:
        return function_node(where, checked, [value], dtype=_BOOL)
    return value if value.dtype == _BOOL else refuse(value.dtype)


def merged(test: DataNode, left, right, what: str):
    """left where the condition is true, else right: values of samples, numbers, or tuples, lists and dictionaries of
    them. Raises TypeError for unlike ones."""
    if left is right:
        return left
    if is_undefined(left) or is_undefined(right):
        return left if is_undefined(left) else right
    if isinstance(left, (tuple, list)) and type(left) is type(right) and len(left) == len(right):
        parts = [merged(test, *pair, what) for pair in zip(left, right, strict=True)]
        return type(left)(*parts) if hasattr(left, "_fields") else type(left)(parts)
    if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
        return {key: merged(test, left[key], right[key], what) for key in left}
    if type(left) is type(right) and isinstance(left, (*_NUMBERS, str)) and left == right:
        return left
    nodes = [_node_of(each) for each in (left, right)]
    if nodes[0] is None or nodes[1] is None:
        raise TypeError(
            f"if: the {what} is {left!r} in one branch and {right!r} in the other, which no DataNode can be"
        )
    return _selected(test, nodes[0], nodes[1], what)


def _node_of(value) -> DataNode | None:
    if isinstance(value, DataNode):
        return value
    if isinstance(value, ScalarConstant):
        return constant_node(value.value, value.dtype)
    return constant_node(value) if isinstance(value, (*_NUMBERS, _np.ndarray)) else None


def _selected(test: DataNode, left: DataNode, right: DataNode, what: str) -> DataNode:
    if left.dtype is not None and right.dtype is not None and left.dtype != right.dtype:
        raise TypeError(
            f"if: the {what} is {left.dtype} in one branch and {right.dtype} in the other; cast one of them"
        )

    def emit(lowering, numbers):
        return [lowering.select(lowering.number(test), numbers[1], numbers[2])]

    operation = Operation("if", [test, left, right], emit, merges=True)
    operation.takes_flat = True
    layout = left.layout if left.layout == right.layout else ""
    made = DataNode(
        operation,
        device=device_of([left, right]),
        layout=layout,
        dtype=left.dtype if right.dtype is not None else None,
        picture=left.is_picture and right.is_picture and bool(layout),
    )
    made.is_flat = left.is_flat or right.is_flat
    return made
