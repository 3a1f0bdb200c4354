"""Functions of the user's that a pipeline calls for each sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._core import ndarray
from ..errors import TypeError


def name_of(function: Callable) -> str:
    """What errors and reports call a function."""
    names = (getattr(function, "__name__", None), getattr(function, "name", None), type(function).__name__)
    return next(name for name in names if isinstance(name, str) and name)


def arrays_returned(made, name: str, outputs: int) -> list:
    """The arrays that a function has returned for so many outputs. Raises TypeError for what are none."""
    if outputs > 1 and not isinstance(made, (tuple, list)):
        raise TypeError(f"{name} returned {_described(made)}; its {outputs} outputs are a tuple of as many arrays")
    values = list(made) if outputs > 1 or isinstance(made, tuple) else [made]
    for value in values:
        if not isinstance(value, (np.ndarray, ndarray, int, float)):
            _check_array(value, name)
    return values


def _check_array(value, name: str) -> None:
    if value is None:
        raise TypeError(f"{name} returned None; it returns the array that takes the place of its argument")
    if not hasattr(value, "__dlpack__") and np.asarray(value).dtype.kind not in "biufc":
        raise TypeError(f"{name} returned {_described(value)}, which is no array of numbers")


def _described(value) -> str:
    if value is None:
        return "None"
    return f"an array of shape {tuple(value.shape)}" if hasattr(value, "shape") else f"a {type(value).__name__}"
