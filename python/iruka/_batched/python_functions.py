"""Python's own functions of sequences, and those of math, on batched numbers."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy

from .table import lift, stacked
from .values import Batched, Tracer, contains_batched, is_batched


def sum_of(tracer, values, start=0):
    if is_batched(values) and values.ndim == 1 and type(start) is int and start == 0 and values.size:
        return values.sum(dtype="int64" if values.dtype == bool else values.dtype)
    total = start
    for value in values:
        total = total + value
    return total


def _extreme(tracer: Tracer, name: str, values: tuple, options: dict) -> Any:
    sequence: Any = values[0] if len(values) == 1 else values
    if "key" in options and options["key"] is not None and set(options) == {"key"}:
        return _extreme_by(tracer, name, list(sequence), options["key"])
    if set(options) - {"key"}:
        tracer.refuse(f"it calls {name}() with {', '.join(options)}")
    if is_batched(sequence) and sequence.ndim == 1 and sequence.size:
        _check_order(tracer, sequence, name)
        return getattr(sequence, name)()
    items = list(sequence)
    if not contains_batched(items):
        return getattr(builtins, name)(items)
    best = items[0]
    for value in items[1:]:
        parts = [lift(tracer, each) for each in (best, value)]
        if any(each.ndim for each in parts) or parts[0].dtype != parts[1].dtype:
            best = value if (value > best if name == "max" else value < best) else best
            continue
        kind = {each.kind if is_batched(each) else type(each) for each in (best, value)}
        made = tracer.call("where", value > best if name == "max" else value < best, *parts[::-1])
        best = Batched(tracer, made.data, parts[0].kind if kind == {parts[0].kind} else None)
    return best


def _extreme_by(tracer: Tracer, name: str, items: list, key: Any) -> Any:
    """The first item whose key is the smallest or the largest."""
    if not items:
        tracer.refuse(f"it calls {name}() of nothing")
    order = _order(tracer, name, [key(item) for item in items])
    best = order[0] if name == "min" else _order(tracer, name, [key(item) for item in reversed(items)])[-1]
    if name == "max":
        best = len(items) - 1 - best
    return _items_at(tracer, items, [best])[0]


def _order(tracer: Tracer, name: str, keys: list) -> Any:
    """The stable order of the keys, as an array of places."""
    table = stacked(tracer, keys)
    if table.ndim != 1:
        tracer.refuse(f"it calls {name}() with a key that is no number")
    _check_order(tracer, table, name)
    return tracer.call("argsort", table, stable=True)


def _items_at(tracer: Tracer, items: list, places: Any) -> list:
    """The items at places that may differ between slices."""
    kinds = {each.kind if is_batched(each) else type(each) for each in items}
    table = stacked(tracer, items)
    kind = kinds.pop() if len(kinds) == 1 and table.ndim == 1 else None
    return [Batched(tracer, tracer.call("get item", table, each).data, kind if kind in (bool, int, float) else None)
            for each in places]  # fmt: skip


def _check_order(tracer: Tracer, values: Batched, name: str) -> None:
    if values.dtype.kind == "c" or values.dtype.kind == "f" and bool((values.data != values.data).any()):
        tracer.refuse(f"it calls {name}() of numbers without an order")


def min_of(tracer, *values, **options):
    return _extreme(tracer, "min", values, options)


def max_of(tracer, *values, **options):
    return _extreme(tracer, "max", values, options)


def _truth(tracer: Tracer, name: str, values: Any) -> Any:
    """any() or all(): of numbers that differ between slices, all are looked at."""
    items = [values] if is_batched(values) else list(values)
    if not contains_batched(items):
        return getattr(builtins, name)(items)
    answers = [getattr(each if is_batched(each) else lift(tracer, bool(each)), name)() for each in items]
    if is_batched(values):
        return Batched(tracer, answers[0].data, bool)
    return Batched(tracer, getattr(tracer.call("stack", answers), name)(axis=0).data, bool)


def any_of(tracer, values):
    return _truth(tracer, "any", values)


def all_of(tracer, values):
    return _truth(tracer, "all", values)


def sorted_of(tracer, values, **options):
    key = options.get("key")
    items = None if is_batched(values) and key is None else list(values)
    if items is not None and not contains_batched(items):
        return sorted(items, **options)
    if set(options) - {"reverse", "key"}:
        tracer.refuse(f"it calls sorted() with {', '.join(options)}")
    if items is not None:
        if not items:
            return []
        is_reverse = bool(options.get("reverse"))
        items = items[::-1] if is_reverse else items  # equal items keep their order, also in reverse
        order = list(_order(tracer, "sorted", [item if key is None else key(item) for item in items]))
        return _items_at(tracer, items, order[::-1] if is_reverse else order)
    if values.ndim != 1:
        tracer.refuse("it calls sorted() of several axes")
    _check_order(tracer, values, "sorted")
    made = tracer.call("sort", values, stable=True)
    return list(made[::-1] if options.get("reverse") else made)


class Math:
    """The module math: functions of batched numbers give Python's floats."""

    _NAMES = {
        "sqrt": "sqrt", "exp": "exp", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
        "expm1": "expm1", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos",
        "atan": "arctan", "sinh": "sinh",
        "atan2": "arctan2", "hypot": "hypot", "cosh": "cosh", "tanh": "tanh", "fabs": "fabs", "pow": "power",
        "degrees": "degrees", "radians": "radians", "copysign": "copysign", "floor": "floor", "ceil": "ceil",
        "trunc": "trunc",
    }  # fmt: skip
    _ANSWERS = {"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite"}

    def __init__(self, tracer: Tracer):
        self._tracer = tracer

    def __getattr__(self, name: str):
        real: Callable = getattr(math, name)
        if not callable(real):
            return real

        def function(*arguments):
            if not contains_batched(arguments):
                return real(*arguments)
            tracer = self._tracer
            if name not in self._NAMES | self._ANSWERS or any(each.size != 1 for each in arguments if is_batched(each)):
                tracer.refuse(f"math.{name} has no form for many slices")
            if name in self._ANSWERS:
                return tracer.call("item", tracer.call(self._ANSWERS[name], *arguments))
            numbers = [tracer.call("float", each) if is_batched(each) else float(each) for each in arguments]
            made = tracer.call(self._NAMES[name], *numbers)
            if not bool(numpy.isfinite(made.data).all()):
                tracer.refuse(f"math.{name} has no value in some slices")
            return tracer.call("int" if name in ("floor", "ceil", "trunc") else "float", made)

        return function


FUNCTIONS = {"sum": sum_of, "min": min_of, "max": max_of, "any": any_of, "all": all_of, "sorted": sorted_of}
