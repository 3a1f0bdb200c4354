"""What `if`, `and`, `or` and `not` become in a graph: both branches are defined, each with a condition under which the
core runs its operators, and the values that they leave are selected for each sample. rewriting.py puts calls of these
functions into the code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as _np

from ...errors import TypeError
from .nodes import DataNode, Guard, Operation, ScalarConstant, device_of, function_node, is_of_branch, under
from .values import constant_node

_BOOL = _np.dtype(bool)
_RETURNED = "value that the function returns"
_NUMBERS = (bool, int, float, _np.number, _np.bool_)


class Undefined:
    """A variable that has no value yet."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self):
        return f"<the variable {self.name!r}, which has no value in one of the branches>"


def is_undefined(value) -> bool:
    return isinstance(value, Undefined)


class Unfinished:
    """What a branch leaves that may return and else goes on behind its if: `value` is what the function returns for the
    samples that `has_returned` names (False: for none), `variables` are those of the others."""

    def __init__(self, names: Sequence[str], variables: Sequence, has_returned: DataNode | bool = False, value=None):
        self.names, self.variables = names, variables
        self.has_returned, self.value = has_returned, value


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
    return choice(test, lambda: if_true(*values), lambda: if_false(*values), _RETURNED)


def continued(test, if_true: Callable, if_false: Callable, values: Sequence, rest: Callable):
    """What a function returns whose branches may return, or else go on with rest(*variables)."""
    left = returned(test, if_true, if_false, values)
    if not isinstance(left, Unfinished):
        return left
    if left.has_returned is False:
        return rest(*left.variables)
    assert isinstance(left.has_returned, DataNode)
    with under(Guard(left.has_returned, False)):
        made = rest(*left.variables)
    return merged(left.has_returned, left.value, made, _RETURNED)


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
    if isinstance(left, Unfinished) or isinstance(right, Unfinished):
        return _merged_ends(test, left, right)
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


def _merged_ends(test: DataNode, left, right) -> Unfinished:
    """Of branches that may return: an Unfinished each, or what the function returns for all samples of the branch."""
    ends = [each if isinstance(each, Unfinished) else Unfinished((), (), True, each) for each in (left, right)]
    has_returned = merged(test, ends[0].has_returned, ends[1].has_returned, _RETURNED)
    if ends[0].has_returned is False or ends[1].has_returned is False:
        is_left = ends[1].has_returned is False
        value = _alone(test, ends[not is_left].value, is_left)
    else:
        value = merged(test, ends[0].value, ends[1].value, _RETURNED)
    if ends[0].has_returned is True or ends[1].has_returned is True:
        is_left = ends[1].has_returned is True
        going = ends[not is_left]
        return Unfinished(going.names, _alone(test, going.variables, is_left), has_returned, value)
    names = ends[0].names
    pairs = zip(names, ends[0].variables, ends[1].variables, strict=True)
    variables = tuple(merged(test, one, other, f"variable {name!r}") for name, one, other in pairs)
    return Unfinished(names, variables, has_returned, value)


def _alone(test: DataNode, value, is_left: bool):
    """A value that one branch has and the other has not, behind the if: nobody takes it for the other's samples."""
    if isinstance(value, (tuple, list)):
        parts = [_alone(test, each, is_left) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: _alone(test, each, is_left) for key, each in value.items()}
    if not isinstance(value, DataNode) or not is_of_branch(value, test):
        return value
    nothing = constant_node(False)
    return _selection(test, *((value, nothing) if is_left else (nothing, value)), value)


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
    layout = left.layout if left.layout == right.layout else ""
    like = DataNode(
        left.operation,
        device=device_of([left, right]),
        layout=layout,
        dtype=left.dtype if right.dtype is not None else None,
        picture=left.is_picture and right.is_picture and bool(layout),
    )
    like.is_flat = left.is_flat or right.is_flat
    return _selection(test, left, right, like)


def _selection(test: DataNode, left: DataNode, right: DataNode, like: DataNode) -> DataNode:
    """left where the condition is true, else right: values that are as `like` says."""

    def emit(lowering, numbers):
        return [lowering.select(lowering.number(test), numbers[1], numbers[2])]

    operation = Operation("if", [test, left, right], emit, merges=True)
    operation.takes_flat = True
    made = DataNode(operation, device=like.device, layout=like.layout, dtype=like.dtype, picture=like.is_picture)
    made.is_flat = like.is_flat
    return made
