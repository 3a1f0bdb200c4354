"""What layers and their methods are given, checked. `what` names the function and the argument: 'nn.Conv2d: stride'."""

from __future__ import annotations

import builtins
import operator

import numpy

from ..errors import AxisError, TypeError, ValueError

FLOATS = ("float32", "float64")


def integer(value, what: str, least: int | None = None) -> int:
    """An integer of Python or NumPy, which is at least `least`; bools are none."""
    try:
        if isinstance(value, (bool, numpy.bool_)):
            raise builtins.TypeError
        made = operator.index(value)
    except builtins.TypeError:
        raise TypeError(f"{what} must be an integer, not {value!r}") from None
    if least is not None and made < least:
        raise ValueError(f"{what} must be at least {least}, but is {value}")
    return made


def integers(value, count: int | None, what: str, least: int | None = None) -> tuple[int, ...]:
    """An integer for all axes, or one for each of `count` axes; without a count, one or more of them."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what} must be an integer or some of them, not {value!r}")
    try:
        given = tuple(value)
    except builtins.TypeError:  # a single one
        return (integer(value, what, least),) * (count or 1)
    if count is None and not given:
        raise ValueError(f"{what} must be an int or some of them, not {value!r}")
    if count is not None and len(given) != count:
        raise ValueError(f"{what} must be an int or {count} of them, not {value!r}")
    return tuple(integer(each, what, least) for each in given)


def number(value, what: str, least: float | None = None) -> float:
    """A real number, which is at least `least`."""
    try:
        if isinstance(value, (str, bytes)):
            raise builtins.TypeError
        made = float(value)
    except (builtins.TypeError, builtins.ValueError):
        raise TypeError(f"{what} must be a number, not {value!r}") from None
    if least is not None and not made >= least:
        raise ValueError(f"{what} must be at least {least:g}, but is {value!r}")
    return made


def float_dtype(dtype, what: str) -> str:
    """The dtype of parameters: float32 where none is given. `what` is the function alone."""
    if dtype is None:
        return "float32"
    try:
        name = numpy.dtype(dtype).name
    except builtins.TypeError:
        name = dtype if isinstance(dtype, str) else repr(dtype)
    if name not in FLOATS:
        raise TypeError(f"{what}: parameters are float32 or float64, not {name}")
    return name


def axis_of(axis, ndim: int, what: str) -> int:
    """The axis as a number that is not negative; `what` is the function alone."""
    at = integer(axis, f"{what}: axis")
    if not -ndim <= at < ndim:
        raise AxisError(at, ndim, what)
    return at + ndim if at < 0 else at


def check_progress(progress, what: str) -> None:
    """Raises TypeError for what cannot be called; `what` is the method."""
    if progress is not None and not callable(progress):
        raise TypeError(f"{what}: progress must be a function of two numbers, not {type(progress).__name__}")
