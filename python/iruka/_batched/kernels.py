"""Functions of the numbers of a slice as kernels: one thread for each slice."""

from __future__ import annotations

import dis
import inspect
import types
from typing import Any

import numpy

from .._core import ElementwiseKernel, ndarray
from .._numpy.conversion import asarray
from .._numpy.creation import empty, zeros
from .._numpy.shapes import broadcast_to, stack
from .._python_kernels import kernel_name
from .._translate import translate
from .._translate.number_types import ArrayView, Number
from ..errors import TranslationError
from .rebound import _codes


def _check_arithmetic(function: types.FunctionType, dtype: numpy.dtype) -> None:
    """Refuses what kernels compute in another way: small integers, which wrap in NumPy, and divisions of Python's
    numbers, which raise ZeroDivisionError."""
    is_wide = dtype.kind in "fc" and dtype.name != "float16" or dtype.name == "int64"
    for code in _codes(function.__code__):
        has_python_numbers = not {"float", "int", "math"}.isdisjoint(code.co_names)
        divisor_is_constant = False
        for instruction in dis.get_instructions(code):
            operator = instruction.argrepr.rstrip("=") if instruction.opname == "BINARY_OP" else ""
            if (operator or instruction.opname == "UNARY_NEGATIVE") and not is_wide and operator != "[]":
                raise TranslationError(f"it computes with {dtype}, which kernels do in another width")
            divides = operator in ("//", "%") or operator == "/" and has_python_numbers
            if divides and not divisor_is_constant:
                raise TranslationError("it divides numbers of Python, perhaps by zero")
            divisor_is_constant = instruction.opname == "LOAD_CONST"


def _extra(value: Any) -> tuple[Any, Any]:
    """A further argument as a kernel gets it, and its type."""
    if isinstance(value, (bool, int, float, complex)):
        return value, Number(numpy.dtype(type(value)))
    if isinstance(value, numpy.generic):
        return value, Number(value.dtype)
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


def by_kernel(function: Any, slices: ndarray, arguments: tuple, keywords: dict) -> ndarray:
    """The results for all slices, whose last axes those of the result are. Raises TranslationError."""
    if not isinstance(function, types.FunctionType):
        raise TranslationError("it is no Python function")
    dtype = numpy.dtype(slices.dtype)
    _check_arithmetic(function, dtype)
    extra = [_extra(each) for each in _arguments(function, arguments, keywords)]
    try:
        translation = translate(function, (ArrayView(dtype, 1, False), *(kind for _, kind in extra)))
    except (AttributeError, KeyError, LookupError, RecursionError) as error:
        raise TranslationError(str(error)) from error
    if not translation.results:
        raise TranslationError("it gives no number")
    outer = slices.shape[:-1]
    parameters, parts, given = [f"raw {dtype} slices"], ["python::part_of<1>(slices, i)"], [slices]
    for k, (value, kind) in enumerate(extra):
        if isinstance(kind, Number):
            parameters.append(f"{kind} x{k}")
            parts.append(f"x{k}")
        else:
            parameters.append(f"raw {kind.dtype} x{k}")
            parts.append(f"python::part_of<{kind.ndim}>(x{k}, i)")
            value = broadcast_to(value, (*(1,) * len(outer), *value.shape))
            value = broadcast_to(value, (*outer, *value.shape[len(outer) :]))
        given.append(value)
    names = [f"y{k}" for k in range(len(translation.results))]
    body = translation.call(parts, names)
    if translation.can_fail:
        body = f"int64_t failed = 0;\n{body}\nif (failed) atomicMax(&has_failed[0], 1);"
        parameters.append("raw _non_const int32 has_failed")
    kernel = ElementwiseKernel(
        ", ".join(parameters),
        ", ".join(f"{kind} {name}" for kind, name in zip(translation.results, names, strict=True)),
        body,
        kernel_name(getattr(function, "__name__", "function")),
        preamble=translation.preamble,
    )
    with slices.device:
        made = [empty(outer, kind.dtype) for kind in translation.results]
        has_failed = zeros(1, "int32")
    kernel(*given, *([has_failed] if translation.can_fail else []), *made)
    if translation.can_fail and int(has_failed[0]):
        raise TranslationError("it raises an exception for some slices")
    return made[0] if len(made) == 1 and isinstance(translation.returned, Number) else stack(made, axis=-1)
