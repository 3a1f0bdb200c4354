"""Chooses how a function of a slice runs on all slices: traced, as a kernel, or by a loop in Python."""

from __future__ import annotations

import builtins
import math
import os
from collections.abc import Callable

import numpy
from numpy import ndindex

from .._array.float_errors import warn
from .._core import ndarray
from .._functions import elementwise
from .._numpy.conversion import asarray, asnumpy
from .._numpy.creation import empty, empty_like
from .._numpy.shapes import expand_dims, stack
from ..errors import CompileError, TranslationError, TypeError
from . import table
from .kernels import kernel_of
from .rebound import Rebinding
from .table import lift
from .values import Diverges, Split, Tracer, Untraceable

isfinite = elementwise["isfinite"]

BYTES_OF_A_CHUNK = 4 << 20  # on the CPU, whose caches keep what one operation leaves to the next
BYTES_OF_A_LARGE_CHUNK = 128 << 20
FIRST_SLICES = 256  # which tell how large the arrays are that the function makes
SLICES_OF_A_GROUP = 16  # so many slices, on average, make a group of their own cheaper than the loop

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def along_axis(function: Callable, slices: ndarray, arguments: tuple, keywords: dict) -> ndarray:
    """function(slice, *arguments, **keywords) for each slice along the last axis; results take its place."""
    outer = slices.shape[:-1]
    first = _as_array(function, function(slices[(0,) * len(outer)], *arguments, **keywords))
    with slices.device:
        result = empty(outer + first.shape, first.dtype)
    if math.prod(outer) == 1:
        result[(0,) * len(outer)] = first
        return result
    reason: BaseException
    try:
        with slices.device:  # where constants are put
            _all_at_once(function, slices, arguments, keywords, first, result)
        return result
    except Untraceable as error:
        reason = error
    line = _line(reason)
    warn(f"apply_along_axis calls {_name(function)} for each slice in Python{line}: {reason}", UserWarning)
    for place in ndindex(outer):
        result[place] = (
            first if not any(place) else _as_array(function, function(slices[place], *arguments, **keywords))
        )
    return result


def _as_array(function: Callable, result) -> ndarray:
    """A function's result, if it is of numbers. NumPy makes no array of a sequence of arrays of bfloat16."""
    parts = result if isinstance(result, (tuple, list)) else ()
    if any(isinstance(each, ndarray) and each.dtype.kind == "V" for each in parts):
        return stack([asarray(each) for each in parts])
    try:
        return asarray(result)
    except builtins.TypeError as error:
        of = f" and dtype {numpy.asarray(result).dtype}" if numpy.ndim(result) else ""
        raise TypeError(
            f"apply_along_axis: {_name(function)} returned a result of type {type(result).__name__}{of}; results are "
            "numbers and arrays of numbers"
        ) from error


def _name(function: Callable) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _line(error: BaseException) -> str:
    """Where in the user's code the trace ended."""
    found = ""
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith(_PACKAGE) and not file.startswith("<frozen"):
            found = f" ({os.path.basename(file)}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    return found if error.__traceback__ is not None else ""


def _all_at_once(function, slices, arguments, keywords, first, result) -> None:
    """Fills the result. Raises Untraceable where the function has to be called for each slice."""
    given = function, slices, arguments, keywords, first, result
    try:
        return _by_kernel(*given, only_accepted=True)
    except (TranslationError, CompileError, Untraceable):
        pass
    try:
        _traced(*given, is_strict=True)
        return _check(*given)
    except Untraceable as error:
        reason = error
    no_kernel: BaseException
    try:
        return _by_kernel(*given)
    except (TranslationError, CompileError) as error:
        no_kernel = error
    except Untraceable as untraceable:
        reason = no_kernel = untraceable
    if not isinstance(reason, Diverges):
        raise reason
    try:
        _traced(*given, is_strict=False)
        _check(*given)
    except Untraceable as error:
        raise Untraceable(f"{error}; and it is no kernel: {no_kernel}").with_traceback(error.__traceback__) from None


def _by_kernel(function, slices, arguments, keywords, first, result, only_accepted: bool = False) -> None:
    """Fills the result by a kernel; one that an earlier call has accepted need not be tried after the trace."""
    kernel, extra = kernel_of(function, slices, arguments, keywords, first, only_accepted)
    made = kernel(slices, extra, first)
    _check(function, slices, arguments, keywords, first, made, _infinite_place(made, slices))
    kernel.is_accepted = True
    result[...] = made


def _infinite_place(made: ndarray, slices: ndarray) -> list[tuple[int, ...]]:
    """A slice whose result is not finite: Python may have raised ZeroDivisionError."""
    ndim = slices.ndim - 1
    is_finite = isfinite(made).all(axis=tuple(range(ndim, made.ndim))).ravel()
    if bool(is_finite.all()):
        return []
    place = numpy.unravel_index(int(is_finite.argmin()), slices.shape[:-1])
    return [tuple(map(int, place))]


def _check(function, slices, arguments, keywords, first, result, places=()) -> None:
    """Compares the first slice, the last one and those at `places` with what the function gives for them."""
    start = (0,) * (slices.ndim - 1)
    end = tuple(extent - 1 for extent in slices.shape[:-1])
    scale = numpy.abs(asnumpy(slices[start]))
    for place in (start, end, *places):
        expected = empty_like(first)
        try:
            made = first if place == start else _as_array(function, function(slices[place], *arguments, **keywords))
            expected[...] = made
        except Exception as error:  # which the loop raises, if no slice before raises another
            raise Untraceable(f"{type(error).__name__}: {error}") from None
        if not _is_close(asnumpy(result[place]), asnumpy(expected), scale):
            raise Untraceable("its results for all slices at once are others than for one slice")


def _is_close(actual: numpy.ndarray, expected: numpy.ndarray, inputs: numpy.ndarray) -> bool:
    """Equal up to rounding; `inputs` are absolute values of the slice."""
    if actual.dtype.kind not in "fcV":
        return bool(numpy.all(actual == expected))
    eps = numpy.finfo("float32" if actual.dtype.kind == "V" else actual.dtype).eps
    actual, expected = (
        each.astype("complex128" if each.dtype.kind == "c" else "float64") for each in (actual, expected)
    )
    finite = inputs[numpy.isfinite(inputs)].astype("float64") if inputs.dtype.kind in "fc" else inputs.astype("float64")
    scale = max(numpy.max(finite, initial=0.0), numpy.max(numpy.abs(expected[numpy.isfinite(expected)]), initial=0.0))
    return bool(numpy.allclose(actual, expected, rtol=float(eps) ** 0.6, atol=32 * float(eps) * scale, equal_nan=True))


def _traced(function, slices, arguments, keywords, first, result, is_strict: bool) -> None:
    try:
        run = _Run(function, arguments, keywords, first, math.prod(slices.shape[:-1]), is_strict)
        _in_parts(run, *_in_line(slices, result), is_strict)
    except Exception as error:  # an object that has no copy, results that do not fit
        raise Untraceable(f"{type(error).__name__}: {error}") from error


def _in_parts(run: _Run, slices: ndarray, result: ndarray, axis: int, is_strict: bool) -> None:
    """Calls the function on parts of the slices, along their longest axis."""
    extent, start = slices.shape[axis], 0
    others = math.prod(slices.shape[:-1]) // extent
    size = BYTES_OF_A_CHUNK if slices.device.name == "cpu" and is_strict else BYTES_OF_A_LARGE_CHUNK
    step = max(1, FIRST_SLICES // others)
    while start < extent:
        place = (*(slice(None),) * axis, slice(start, start + step))
        part, target = slices[place], result[place]
        made = run.on(part.reshape((math.prod(part.shape[:-1]), part.shape[-1]))[:], start == 0)
        target[...] = made.reshape(target.shape) if made.shape[0] > 1 else made
        start += step
        step = max(1, size // max(1, others * run.largest))


def _in_line(slices: ndarray, result: ndarray) -> tuple[ndarray, ndarray, int]:
    """The slices, and views of their results, in one axis where that copies nothing large; and the longest axis."""
    outer = slices.shape[:-1]
    if slices.flags.c_contiguous or slices.nbytes <= BYTES_OF_A_CHUNK:
        count = math.prod(outer)
        slices, result = slices.reshape((count, slices.shape[-1])), result.reshape((count, *result.shape[len(outer) :]))
        outer = (count,)
    return slices, result, max(range(len(outer)), key=lambda k: outer[k])


class _Run:
    """Calls of the function on many slices."""

    def __init__(self, function, arguments, keywords, first: ndarray, count: int, is_strict: bool):
        self.tracer = Tracer(is_strict, table)
        copies = Rebinding(self.tracer)
        self.function: Callable = copies.stand_in(function, getattr(function, "__name__", "the function"))
        self.arguments = tuple(copies.stand_in(each, "an argument") for each in arguments)
        self.keywords = {name: copies.stand_in(each, name) for name, each in keywords.items()}
        self.first, self.groups, self.most_groups = first, 0, max(4, count // SLICES_OF_A_GROUP)
        self.largest = 0  # bytes for each slice of the largest array

    def on(self, part: ndarray, has_first: bool) -> ndarray:
        """The results for all slices of `part`, or one for all of them. `has_first`: it begins with the first slice."""
        part.setflags(write=False)
        self.tracer.begin(part.shape[0])
        try:
            made = self.function(self.tracer.batched(part), *self.arguments, **self.keywords)
            if self.tracer.refusal is not None:
                raise self.tracer.refusal
            value = lift(self.tracer, made)
        except Split as split:
            return self._of_groups(part, split.keys, has_first)
        except Exception as error:
            raise Untraceable(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__) from None
        if has_first and (value.shape != self.first.shape or value.dtype != self.first.dtype):
            self.tracer.refuse(
                f"its results for all slices at once have the shape {value.shape} and the dtype {value.dtype}, for one "
                f"slice {self.first.shape} and {self.first.dtype}"
            )
        self.largest = max(self.largest, self.tracer.largest)
        missing = self.first.ndim - value.ndim
        return expand_dims(value.data, tuple(range(1, 1 + missing))) if missing > 0 else value.data

    def _of_groups(self, part: ndarray, keys: numpy.ndarray, has_first: bool) -> ndarray:
        """The results of the slices that take the same way, one way after the other."""
        _, places = numpy.unique(keys.view(f"u{keys.itemsize}"), return_inverse=True)
        count = int(places.max()) + 1
        self.groups += count
        if self.groups > self.most_groups:
            raise Untraceable("what it does depends on the values of the slice, in too many ways")
        with part.device:
            result = empty((part.shape[0], *self.first.shape), self.first.dtype)
        order = numpy.argsort(places, kind="stable")
        for chosen in numpy.split(order, numpy.flatnonzero(numpy.diff(places[order])) + 1):
            index = asarray(chosen)
            result[index] = self.on(part[index], has_first and chosen[0] == 0)
        return result
