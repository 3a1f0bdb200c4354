"""Runs a fused function once on arrays that record, and words its errors with the user's line."""

from __future__ import annotations

import builtins
import linecache
import os
import sys
import traceback
from typing import Any

from .. import _core, errors
from .arrays import FusedArray
from .graph import Graph
from .numbers import FusedNumber, is_number
from .plan import Plan

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_WORDED = (
    builtins.TypeError, builtins.ValueError, builtins.IndexError, builtins.OverflowError, builtins.AttributeError,
    builtins.ZeroDivisionError,
)  # fmt: skip


class CodeThatRuns:
    """A context whose `names` are those that the code which this thread runs inside of it mentions, as strings too.

    They hold the attributes that the code can read, but for names that are put together. The library's own code does
    not count.
    """

    def __enter__(self) -> CodeThatRuns:
        self._codes: set[Any] = set()
        self._before: Any = sys.getprofile()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is None or callable(self._before):
            sys.setprofile(self._before)
        else:  # cProfile's, which is no function
            sys.setprofile(None)
            self._before.enable()

    def _note(self, frame: Any, event: str, argument: Any) -> None:
        if event == "call" and not frame.f_code.co_filename.startswith(_PACKAGE):
            self._codes.add(frame.f_code)
        if callable(self._before):
            self._before(frame, event, argument)

    @property
    def names(self) -> frozenset:
        constants = (each for code in self._codes for each in code.co_consts if isinstance(each, str))
        return frozenset(name for code in self._codes for name in code.co_names).union(constants)


def launcher_of(fused: Any, values: tuple, count: int, names: tuple, foreign: set, by_value: frozenset) -> Any:
    """The function that launches the kernels of a call with arguments like these, given as one tuple."""
    function = fused.__wrapped__
    graph = Graph(fused.__name__, values, by_value)
    arguments = [_recording(graph, k, value) for k, value in enumerate(values)]
    keywords = dict(zip(names, arguments[count:], strict=True))
    try:
        result = function(*arguments[:count], **keywords)
    except _WORDED as error:
        worded = _with_place(error, fused.__name__)
        if worded is None:
            raise
        raise worded from error
    written = [k for k, place in graph.places.items() if place.node.kind != "argument"]
    if any(k in foreign for k in written):
        raise errors.TypeError(
            f"{fused.__name__}() writes to argument {min(set(written) & foreign) + 1}, which is no iruka.ndarray; give "
            "iruka.asarray(it), which shares its memory where it can"
        )
    if written and _share_memory(values):
        return lambda a: function(*a[:count], **dict(zip(names, a[count:], strict=True)))
    code = getattr(function, "__code__", None)
    made_at = f"{code.co_filename}:{code.co_firstlineno}" if code else ""
    return Plan(graph, result, fused.kernel_name, made_at).launcher()


def _recording(graph: Graph, k: int, value: Any) -> Any:
    if isinstance(value, _core.ndarray):
        return FusedArray(graph, graph.argument(k))
    if is_number(value) and not isinstance(value, bool) and k not in graph.by_value:
        if type(value) is int and not -(2**63) <= value < 2**63:
            return value  # part of the signature
        return FusedNumber(graph, value, f"a[{k}]", frozenset((k,)))
    return value


def _share_memory(values: tuple) -> bool:
    from .._numpy.elementwise import shares_memory

    arrays = [value for value in values if isinstance(value, _core.ndarray)]
    return any(shares_memory(x, y) for k, x in enumerate(arrays) for y in arrays[:k])


def _with_place(error: BaseException, name: str) -> BaseException | None:
    """The same error, worded with the line of the user's code that it comes from; None for the user's own errors."""
    place = None
    frames = list(traceback.walk_tb(error.__traceback__))
    for frame, line in frames[1:]:
        if not frame.f_code.co_filename.startswith(_PACKAGE) and not _is_library(frame.f_code.co_filename):
            place = frame, line
    if place is None:
        return None
    is_users_own = frames[-1][0] is place[0] and not _mentions_array(error)
    if is_users_own and not isinstance(error, errors.Error):
        return None
    frame, line = place
    positions = _positions(error, frame)
    file = frame.f_code.co_filename
    message = str(error)
    if _mentions_array(error):  # a function that knows no such arrays
        below = [each.f_code for each, _ in frames[frames.index(place) + 1 :]]
        public = [
            code.co_name for code in below if not code.co_name.startswith("_") and _FOLDER not in code.co_filename
        ]
        called = public[0] if public else "this operation"
        message = f"{called} is not part of a fused function; elementwise functions, reductions, where and views are"
    text = f"{name} cannot be fused ({file}, line {line}): {message}"
    source = linecache.getline(file, line)
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
