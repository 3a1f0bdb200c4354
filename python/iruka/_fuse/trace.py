"""Runs a fused function once on arrays that record."""

from __future__ import annotations

import builtins
import sys
from typing import Any

from .. import _core, errors
from .arrays import FusedArray
from .graph import Graph
from .numbers import FusedNumber, is_number
from .plan import Plan
from .wording import PACKAGE, with_place

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
        if event == "call" and not frame.f_code.co_filename.startswith(PACKAGE):
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
        worded = with_place(error, fused.__name__)
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
