"""Functions of the numbers of a slice as kernels: one thread for each slice."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy

from .._core import ElementwiseKernel, ndarray
from .._numpy.conversion import asarray
from .._numpy.creation import empty, zeros
from .._numpy.shapes import broadcast_to
from .._python_kernels import kernel_name
from .._translate import Translation
from .._translate.number_types import ArrayView, Number, Scalar
from .._translate.numpy_scalars import promoted, translate_scalars
from ..errors import TranslationError

LONG = 2  # iruka::python::kIsLong
REASONS = {
    1: "it raises an exception for some slices",
    LONG: "its Python integers leave 64 bits for some slices, or 53 bits in a division, or their powers are floats",
}


def _extra(value: Any) -> tuple[Any, Any]:
    """A further argument as a kernel gets it, and its type."""
    if isinstance(value, (bool, int, float, complex)):
        return value, Number(numpy.dtype(type(value)))
    if isinstance(value, numpy.generic):
        return value, Scalar(value.dtype)
    if isinstance(value, (numpy.ndarray, ndarray)) and value.ndim:
        array = asarray(value)
        return array, ArrayView(numpy.dtype(array.dtype), array.ndim, False)
    raise TranslationError(f"an argument is a {type(value).__name__}")


def _arguments(function: types.FunctionType, arguments: tuple, keywords: dict) -> list[Any]:
    """The arguments after the slice, by position."""
    bound = inspect.signature(function).bind(None, *arguments, **keywords)
    bound.apply_defaults()
    if bound.kwargs:
        raise TranslationError("it has parameters that are given by name alone")
    return list(bound.args[1:])


class SliceKernel:
    """A function of slices as a kernel, for one combination of types."""

    def __init__(self, function: types.FunctionType, dtype: numpy.dtype, kinds: tuple, first: ndarray):
        try:
            made = translate_scalars(function, (ArrayView(dtype, 1, False), *kinds))
        except (AttributeError, KeyError, LookupError, RecursionError) as error:
            raise TranslationError(str(error)) from error
        if not made.results:
            raise TranslationError("it gives no number")
        _check_results(made, first)
        self.outer, self.can_fail, self.count = made.outer, made.can_fail, len(made.results)
        self.is_accepted = False  # its results were compared with the function's
        parameters, parts = [f"raw {dtype} slices"], ["python::part_of<1>(slices, i)"]
        for k, kind in enumerate(kinds):
            is_number = isinstance(kind, Number)
            parameters.append(f"{kind} x{k}" if is_number else f"raw {kind.dtype} x{k}")
            parts.append(f"x{k}" if is_number else f"python::part_of<{kind.ndim}>(x{k}, i)")
        names = [f"y{k}" for k in range(self.count)]
        body = made.call(parts, names, [Number(numpy.dtype(first.dtype))] * self.count)
        if self.can_fail:
            body = f"int64_t failed = 0;\n{body}\nif (failed) atomicMax(&has_failed[0], failed == {LONG} ? {LONG} : 1);"
            parameters.append("raw _non_const int32 has_failed")
        self._kernel = ElementwiseKernel(
            ", ".join(parameters),
            ", ".join(f"{first.dtype} {name}" for name in names),
            body,
            kernel_name(getattr(function, "__name__", "function")),
            preamble=made.preamble,
            options=("--fmad=false",),  # as NumPy rounds
        )

    def __call__(self, slices: ndarray, extra: list, first: ndarray) -> ndarray:
        """The results for all slices. Raises TranslationError where the function raises an exception for some."""
        outer = slices.shape[:-1]
        given: list[Any] = [slices]
        for value in extra:
            if isinstance(value, ndarray):
                value = broadcast_to(value, (*(1,) * len(outer), *value.shape))
                value = broadcast_to(value, (*outer, *value.shape[len(outer) :]))
            given.append(value)
        with slices.device:
            made = empty((*outer, self.count), first.dtype)
            has_failed = zeros(1, "int32")
        self._kernel(*given, *([has_failed] if self.can_fail else []), *(made[..., k] for k in range(self.count)))
        if self.can_fail and (reason := int(has_failed[0])):
            raise TranslationError(REASONS[reason])
        return made.reshape((*outer, *first.shape))


_known: dict[tuple, SliceKernel] = {}
_MOST_KNOWN = 256


def kernel_of(
    function: Any, slices: ndarray, arguments: tuple, keywords: dict, first: ndarray, only_accepted: bool
) -> tuple[SliceKernel, list[Any]]:
    """The function's kernel, and what it takes besides the slices. Raises TranslationError where there is none."""
    if not isinstance(function, types.FunctionType):
        raise TranslationError("it is no Python function")
    dtype = numpy.dtype(slices.dtype)
    extra = [_extra(each) for each in _arguments(function, arguments, keywords)]
    kinds = tuple(kind for _, kind in extra)
    key = function.__code__, dtype, kinds, numpy.dtype(first.dtype), first.shape
    made = _known.get(key)
    if made is not None and not made.outer.are_same(function):
        made = None
    if only_accepted and (made is None or not made.is_accepted):
        raise TranslationError("no kernel of this function was accepted yet")
    if made is None:
        made = SliceKernel(function, dtype, kinds, first)
        while len(_known) >= _MOST_KNOWN:
            _known.pop(next(iter(_known)), None)
        _known[key] = made
    return made, [value for value, _ in extra]


def _check_results(translation: Translation, first: ndarray) -> None:
    """Refuses a function whose first result is none that the kernel would give."""
    given = [option.dtype for kind in translation.results for option in getattr(kind, "options", (kind,))]
    shape = () if isinstance(translation.returned, Number) else (len(translation.results),)
    if first.shape != shape:
        raise TranslationError(f"its first result has the shape {first.shape}, in a kernel {shape}")
    if numpy.dtype(first.dtype) not in given and (not shape or first.dtype != promoted(given)):
        raise TranslationError(f"its first result is {first.dtype}, in a kernel {' or '.join(map(str, given))}")
    if first.dtype.kind != "c" and any(each.kind == "c" for each in given):
        raise TranslationError(f"its first result is {first.dtype}, others are complex")
