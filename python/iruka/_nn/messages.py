"""Errors of networks in the words of their layers."""

from __future__ import annotations

import re
from typing import Any

from ..errors import AxisError, Error, IndexError, ShapeError, TypeError, ValueError

# What errors of the core name: the node of a graph, or a layer of a perceptron.
_OF_CORE = re.compile(r"^nn\.(Model: node '[^']*' \([^)]*\)|Perceptron(: layer \d+)?): ")
_OF_PERCEPTRON = re.compile(r"^nn\.Perceptron(\.\w+)?: ")
_CLASSES = (ShapeError, ValueError, TypeError, IndexError)


def _axis_error(error: AxisError, what: str) -> AxisError:
    return AxisError(error.axis, error.ndim, what)  # type: ignore[arg-type]  # None in NumPy's class alone


def layer_error(error: Exception, leaves: list[tuple[str, Any]], x, run) -> Exception:
    """The error of a call as that of the layer which does not take what it gets, with the shape that it gets.

    run(leaf, x) runs the layers one after the other until one raises an error. Where none does, it is the error as it
    is.
    """
    kind: type[Error] = next((kind for kind in _CLASSES if isinstance(error, kind)), Error)
    if kind is Error:
        return error
    is_alone = len(leaves) == 1 and not leaves[0][0]
    for name, leaf in leaves:
        label = f"nn.{type(leaf).__name__}" + ("" if is_alone else f" {name!r}")
        given = x
        if not is_alone:
            try:
                x = run(leaf, x)
                continue
            except (ValueError, TypeError, IndexError) as own:
                error = own
        if isinstance(error, AxisError):
            return _axis_error(error, label)
        words = _OF_CORE.sub("", str(error)).removeprefix(f"nn.{type(leaf).__name__}: ")
        kind = next((kind for kind in _CLASSES if isinstance(error, kind)), kind)
        if kind is not TypeError and (problem := getattr(leaf, "problem", lambda x: "")(given)):
            return (ShapeError if kind is ValueError else kind)(f"{label}: {problem}")
        is_known = kind is TypeError or str(given.shape) in words
        return kind(f"{label}: {words}" + ("" if is_known else f" (the input has shape {given.shape})"))
    return error


def renamed(error: Exception, what: str) -> Exception:
    """The error of a perceptron as that of the function which the user called; any other as it is."""
    if isinstance(error, AxisError):
        return error if str(error).startswith("nn.") else _axis_error(error, what)
    text, count = _OF_PERCEPTRON.subn(f"{what}: ", str(error))
    return type(error)(text) if count else error
