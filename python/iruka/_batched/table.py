"""The table of rules, which say how each array function works on all slices: `perform` looks them up.

The rows are in families.py (functions that are alike), indexing.py, products.py and shapes.py.
"""

from __future__ import annotations

import functools
import importlib
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy

from .._core import ndarray
from .._functions import elementwise as UFUNCS
from .._numpy.shapes import can_cast, expand_dims, result_type, stack
from .values import Batched, Split, Tracer, Untraceable, contains_batched, is_batched, spread

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}


_NAMES_OF_WORDS = ("get item", "set item")


def row(names: str) -> Callable[[Rule], Rule]:
    """Puts a rule, called with the tracer and the arguments, into the table."""

    def put(rule: Rule) -> Rule:
        for name in [names] if names in _NAMES_OF_WORDS else names.split():
            RULES[name] = rule
        return rule

    return put


def family(rule: Callable, names: str) -> None:
    for name in names.split():
        function = _public(name)
        if function is not None:
            RULES[name] = functools.partial(rule, function)


def _public(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module("iruka" + ("." + module if module else "")), last, None)


# --- Calls ---


def perform(tracer: Tracer, name: str, arguments: tuple, keywords: dict) -> Any:
    """Array function `name` on arguments of which some are batched; results are batched."""
    tracer.step()
    rule = RULES.get(name)
    if rule is None and "." in name and name.split(".")[0] in UFUNCS:
        ufunc, method = name.split(".")
        rule = functools.partial(RULES["method of a ufunc"], UFUNCS[ufunc], method)
    if rule is None:
        tracer.refuse(f"{name} has no form for many slices")
    out = keywords.pop("out", None)
    try:
        made = _wrapped(tracer, rule(tracer, *arguments, **keywords))
        return made if out is None else _stored(tracer, name, made, out)
    except (Untraceable, Split):
        raise
    except Exception as error:  # the function could catch it, for all slices
        tracer.refuse(f"{name}: {error}")


def _stored(tracer: Tracer, name: str, made: Any, out: Any) -> Any:
    """The results in the arrays that out= gives, which the function made itself."""
    results, targets = (each if isinstance(each, tuple) else (each,) for each in (made, out))
    if len(results) != len(targets):
        tracer.refuse(f"{name} gets {len(targets)} arrays as `out` for {len(results)} results")
    for result, target in zip(results, targets, strict=True):
        if target is None:
            continue
        if not (is_batched(target) and target.kind is None and is_batched(result)):
            tracer.refuse(f"{name} gets an array of outside as `out`")
        if target.shape != result.shape or not can_cast(result.dtype, target.dtype, "same_kind"):
            tracer.refuse(f"{name} gets an `out` of another shape or dtype")
        perform(tracer, "set item", (target, ..., result), {})
    kept = tuple(result if target is None else target for result, target in zip(results, targets, strict=True))
    return kept if isinstance(made, tuple) else kept[0]


def _wrapped(tracer: Tracer, result: Any) -> Any:
    if type(result) is ndarray:
        return tracer.batched(result)
    if isinstance(result, tuple) and not is_batched(result):
        parts = [_wrapped(tracer, each) for each in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result


@functools.cache
def _names() -> dict[int, tuple[str, Any]]:
    """The names of the functions of NumPy and Iruka by their identity, kept alive."""
    found: dict[int, tuple[str, Any]] = {}
    for prefix in ("", "linalg.", "fft.", "lib.stride_tricks."):
        for package in (sys.modules["iruka"], numpy):
            module = functools.reduce(getattr, prefix.split(".")[:-1], package)
            for name, value in vars(module).items():
                if callable(value) and not isinstance(value, type):
                    known = found.get(id(value), ("", None))[0]
                    if known not in RULES:
                        found[id(value)] = (prefix + name, value)
    return found


def name_of(function: Any) -> str | None:
    """The name of a function of NumPy or Iruka in the table; None for another object."""
    found = _names().get(id(function))
    return found[0] if found and found[1] is function else None


# --- Operands ---


def stacked(tracer: Tracer, parts: Any) -> Batched:
    """A list or tuple of batched values and others as one batched array, as asarray makes an array of a list."""
    values = [lift(tracer, each) for each in parts]
    typed = [each.dtype for each, part in zip(values, parts, strict=True) if not is_python_number(part)]
    untyped = [_python_zero(part) for part in parts if is_python_number(part)]
    dtype = result_type(*typed, *(untyped if not typed else [numpy.asarray(zero).dtype for zero in untyped]))
    data = [spread(each).astype(dtype, copy=False) for each in values]
    if len({each.shape for each in data}) > 1:
        tracer.refuse("it makes an array of parts of several shapes")
    return tracer.batched(stack(data, axis=1))


def is_python_number(value: Any) -> bool:
    if is_batched(value):
        return value.kind is not None
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, numpy.generic)


def _python_zero(value: Any) -> Any:
    return (value.kind if is_batched(value) else type(value))(0)


def lift(tracer: Tracer, value: Any) -> Batched:
    """Any array or number as a batched one."""
    if is_batched(value):
        return value
    if isinstance(value, (list, tuple)) and contains_batched(value):
        return stacked(tracer, value)
    if value is None or isinstance(value, str):
        tracer.refuse(f"{value!r} is no array")
    return tracer.constant(value)


def aligned(tracer: Tracer, operands: tuple) -> list:
    """Arrays whose data broadcast against each other; numbers of Python stay as they are."""
    made: list[Any] = [
        each if isinstance(each, (bool, int, float, complex, numpy.generic)) and not is_batched(each) else
        lift(tracer, each)
        for each in operands
    ]  # fmt: skip
    ndim = max((each.ndim for each in made if is_batched(each)), default=0)
    return [with_ndim(each, ndim) if is_batched(each) else each for each in made]


def with_ndim(batched: Batched, ndim: int) -> ndarray:
    missing = ndim - batched.ndim
    return expand_dims(batched.data, tuple(range(1, 1 + missing))) if missing else batched.data


def shifted(array: Batched, axis: Any) -> Any:
    """An axis, or several, of a slice in the batched data; None is all of them."""
    if axis is None:
        return tuple(range(1, 1 + array.ndim))
    if isinstance(axis, (tuple, list)):
        return tuple(shifted(array, each) for each in axis)
    axis = operator.index(axis)
    if not -array.ndim <= axis < array.ndim:
        array.tracer.refuse(f"axis {axis} is out of bounds for array of dimension {array.ndim}")
    return axis + 1 if axis >= 0 else axis


def flat(array: Batched) -> Batched:
    return array if array.ndim == 1 else Batched(array.tracer, array.data.reshape(array.data.shape[0], -1), None)
