"""Words errors of a fused function that is traced: the operation, the user's line, and what to write instead."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import os
import re
import traceback
from typing import Any

from .. import _core, errors
from .._numpy.apply import frompyfunc
from .._python_kernels import ArrayFunction, FunctionValue

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
NO_ELEMENTS = "an array of a fused function has no elements while the function is traced"
NOT_PART = "is not part of a fused function"
_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_KERNELS = (
    _core.ElementwiseKernel, _core.ReductionKernel, _core.StagedKernel, _core.RawKernel, _core.ThreadDispatcher,
    _core.ConfiguredKernel,
)  # fmt: skip
_JOINS = ("append", "block", "column_stack", "concat", "concatenate", "dstack", "hstack", "stack", "tile", "vstack")
_INDICES = ("where", "nonzero", "argwhere", "flatnonzero")


def instead_of(name: str, called: Any = None) -> str:
    """What to write in place of an operation that cannot be fused."""
    if isinstance(called, (ArrayFunction, FunctionValue, frompyfunc)):
        return "write its expression with operators and where(condition, x, y), or call it outside"
    if isinstance(called, _KERNELS):
        return "it is a kernel of its own: call it outside, or write its expression with operators and functions"
    if name in _JOINS:
        return "return the parts as a tuple, and join them outside"
    if name in _INDICES:
        return "where(condition, x, y) can be fused, and indices of elements are found outside"
    return "elementwise functions, reductions, where(condition, x, y) and views are; call it outside"


def with_place(error: BaseException, name: str) -> BaseException | None:
    """The same error, worded with the line of the user's code that it comes from; None for the user's own errors."""
    place = None
    frames = list(traceback.walk_tb(error.__traceback__))
    for frame, line in frames[1:]:
        if not frame.f_code.co_filename.startswith(PACKAGE) and not _is_library(frame.f_code.co_filename):
            place = frame, line
    if place is None:
        return None
    is_users_own = frames[-1][0] is place[0] and not _mentions_array(error)
    if is_users_own and not isinstance(error, errors.Error):
        return None
    frame, line = place
    positions = _positions(error, frame)
    file = frame.f_code.co_filename
    source = linecache.getline(file, line)
    message = str(error)
    below = [each.f_code for each, _ in frames[frames.index(place) + 1 :]]
    if _says_too_little(error, len(below)):
        message = _of_call(source, positions, frame) or _of_frames(below, error) or message
    text = f"{name} cannot be fused ({file}, line {line}): {message}"
    if source.strip():
        indent = len(source) - len(source.lstrip())
        text += f"\n    {source.strip()}"
        if positions is not None:
            start, end = positions
            text += "\n    " + " " * (start - indent) + "^" * max(1, end - start)
    kind = type(error) if type(error).__module__ == "iruka.errors" else getattr(errors, type(error).__name__, None)
    if kind is None:
        kind = errors.TypeError
    try:
        return kind(text)
    except builtins.TypeError:
        return errors.TypeError(text)


def _is_library(file: str) -> bool:
    import numpy

    return file.startswith((os.path.dirname(numpy.__file__) + os.sep, "<__array_function__"))


def _mentions_array(error: BaseException) -> bool:
    return "FusedArray" in str(error) or "FusedNumber" in str(error)


def _says_too_little(error: BaseException, depth: int) -> bool:
    """Whether the message is of a function that knows no such arrays, or of one that the called function calls."""
    message = str(error)
    says_no_name = rf"{NO_ELEMENTS};|{NOT_PART};|incompatible function arguments|axes, of the fused function"
    return _mentions_array(error) or bool(re.search(says_no_name, message)) or (depth > 1 and NO_ELEMENTS in message)


def _of_call(source: str, positions: tuple[int, int] | None, frame: Any) -> str | None:
    """The message for a call in the user's line; None where the operation is none."""
    if positions is None:
        return None
    part = source.encode()[positions[0] : positions[1]].decode(errors="replace")
    try:
        node = ast.parse(part.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(node, ast.Call):
        return None
    called, name = _object_of(node.func, frame), ast.unparse(node.func)
    return f"{name} {NOT_PART}; {instead_of(name.rpartition('.')[2], called)}"


def _object_of(node: ast.expr, frame: Any) -> Any:
    """What an expression of names stands for, without running code; None where that is unknown."""
    if isinstance(node, ast.Name):
        scopes = (frame.f_locals, frame.f_globals, vars(builtins))
        return next((scope[node.id] for scope in scopes if node.id in scope), None)
    if isinstance(node, ast.Attribute):
        return inspect.getattr_static(_object_of(node.value, frame), node.attr, None)
    return _object_of(node.value, frame) if isinstance(node, ast.Subscript) else None


def _of_frames(below: list[Any], error: BaseException) -> str | None:
    """The message where the user's line is not known: the called function is the first one with a public name."""
    if not _mentions_array(error):
        return None
    public = [code.co_name for code in below if not code.co_name.startswith("_") and _FOLDER not in code.co_filename]
    called = public[0] if public else "this operation"
    return f"{called} {NOT_PART}; {instead_of(called)}"


def _positions(error: BaseException, frame: Any) -> tuple[int, int] | None:
    """Columns of the expression in its line, from 0."""
    traceback_of = error.__traceback__
    while traceback_of is not None and traceback_of.tb_frame is not frame:
        traceback_of = traceback_of.tb_next
    if traceback_of is None:
        return None
    for k, position in enumerate(frame.f_code.co_positions()):
        if k == traceback_of.tb_lasti // 2:
            first, last, start, end = position
            return (start, end) if first == last and start is not None and end is not None else None
    return None
