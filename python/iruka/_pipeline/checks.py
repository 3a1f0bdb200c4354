"""Arguments of stages and pipelines, or errors that name them: `what` is "Uniform: low", for example."""

from __future__ import annotations

import builtins
import contextlib
import operator

import numpy as np

from ..errors import TypeError, ValueError


def number(value, what: str) -> float:
    """A real number. Raises TypeError for text and all else that is none."""
    if not isinstance(value, (str, bytes)) and hasattr(type(value), "__float__"):
        try:
            return float(value)
        except (builtins.TypeError, builtins.ValueError):
            pass
    raise TypeError(f"{what} is a number, not {value!r}")


def numbers(values, what: str) -> tuple[float, ...]:
    """A sequence of numbers. Raises TypeError for others."""
    if not isinstance(values, (str, bytes)) and hasattr(values, "__iter__"):
        with contextlib.suppress(TypeError):
            return tuple(number(value, what) for value in values)
    raise TypeError(f"{what} are a list of numbers, not {values!r}")


def pair(values, what: str) -> tuple[float, float]:
    """Two numbers. Raises TypeError and ValueError for others."""
    made = numbers(values, what)
    if len(made) != 2:
        raise ValueError(f"{what} are two numbers, not {values!r}")
    return made


def integer(value, what: str, least: int, most: int = 2**63 - 1) -> int:
    """An integer within bounds. Raises TypeError and ValueError for others."""
    try:
        made = operator.index(value)
    except builtins.TypeError:
        raise TypeError(f"{what} must be an integer, not {value!r}") from None
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} must be an integer, not {value!r}")
    if made < least:
        raise ValueError(f"{what} must be at least {least}, not {made}")
    if made > most:
        raise ValueError(f"{what} must be at most {most}, not {made}")
    return made


def boolean(value, what: str) -> bool:
    """True or False, or 1 or 0. Raises TypeError for others, such as the text 'no'."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{what} is True or False, not {value!r}")


def one_of(value, what: str, choices) -> str:
    """One of some names. Raises ValueError for others."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return value
