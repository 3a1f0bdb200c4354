"""The rules of functions that are alike: elementwise ones broadcast, those with an axis get it shifted by one, those of
the last axes work as they are."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy

from .._functions import elementwise as UFUNCS
from .._numpy.conversion import asarray
from .._numpy.creation import full
from .._numpy.rearranging import roll
from .._numpy.shapes import expand_dims, moveaxis, result_type
from .._numpy.statistics import average
from .table import RULES, aligned, family, flat, is_python_number, lift, row, shifted, with_ndim
from .values import Tracer, contains_batched, is_batched, spread

# --- Elementwise functions ---


def _elementwise(function, tracer, *operands, **keywords):
    if contains_batched(keywords):
        tracer.refuse(f"{function.__name__} gets an array of the slice by its name")
    if keywords.get("where", True) is not True:
        tracer.refuse(f"{function.__name__} gets `where`")
    return function(*aligned(tracer, operands), **keywords)


family(_elementwise, " ".join(name for name in UFUNCS if name != "where"))
family(_elementwise, "around nan_to_num isclose")


@row("where")
def _where(tracer, condition, *choices):
    if not choices:
        return tracer.call("nonzero", condition)
    return UFUNCS["where"](*aligned(tracer, (condition, *_adapted(tracer, choices))))


@row("clip")
def _clip(tracer, a, a_min=None, a_max=None, *, min=None, max=None, dtype=None):
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is not None:
        a = tracer.call("operator maximum", a, low)
    return a if high is None else tracer.call("operator minimum", a, high)


def _adapted(tracer: Tracer, operands: tuple) -> list:
    """Numbers of Python in the dtype that the others give them."""
    weak = [is_batched(each) and each.kind is not None for each in operands]
    if not any(weak):
        return list(operands)
    others = [each for each in operands if not is_python_number(each)]
    strong = [numpy.dtype(getattr(each, "dtype", None) or numpy.asarray(each).dtype) for each in others]
    if not strong:
        return list(operands)
    made = []
    for each, is_weak in zip(operands, weak, strict=True):
        if is_weak:
            dtype = result_type(*strong, each.kind(0))
            if each.kind is int and numpy.dtype(dtype).kind in "iu" and dtype.itemsize < 8:
                tracer.refuse("a Python integer has to fit the dtype of an array")
            each = tracer.batched(each.data.astype(dtype, copy=False))
        made.append(each)
    return made


_ARITHMETIC = {"add", "subtract", "multiply", "true_divide", "floor_divide", "remainder", "power"}
_COMPARISONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
_EXACT = _COMPARISONS | {"maximum", "minimum"}  # of integers and floats, which Python compares without rounding


def _operator(name, tracer, *operands):
    """An operator, for which a number of Python adapts to the dtype of an array."""
    if any(map(is_batched, operands)) and all(map(is_python_number, operands)):
        return _python_operator(name, tracer, *operands)
    return UFUNCS[name](*aligned(tracer, tuple(_adapted(tracer, operands))))


def _python_operator(name: str, tracer: Tracer, left: Any, right: Any):
    """An operator of two Python numbers: no overflow, no division by zero, which would raise."""
    kinds = [each.kind if is_batched(each) else type(each) for each in (left, right)]
    if name not in _ARITHMETIC | _EXACT or complex in kinds:
        tracer.refuse("it computes with Python's numbers")
    is_exact = float in kinds if name in _EXACT else name == "true_divide" and float not in kinds
    if is_exact and any(_has_many_digits(each) for each in (left, right)):
        tracer.refuse("an integer of Python has more digits than a float")
    data = UFUNCS[name](*(_python_data(each) for each in (left, right)))
    if name in _COMPARISONS:
        return tracer.batched(data, bool)
    kind = float if float in kinds or name == "true_divide" else int
    if name in ("true_divide", "floor_divide", "remainder") and (lift(tracer, right).data == 0).any():
        tracer.refuse("it divides Python's numbers by zero")
    if kind is int and (abs(UFUNCS[name](*(_python_data(each, "float64") for each in (left, right)))) > 2.0**62).any():
        tracer.refuse("an integer of Python is too large for 64 bits")
    if name == "power" and (kind is int and (lift(tracer, right).data < 0).any() or not numpy.isfinite(data).all()):
        tracer.refuse("it computes powers of Python's numbers")
    return tracer.batched(data, kind)


def _has_many_digits(value: Any) -> bool:
    """Whether this is an integer of Python that a float may not hold."""
    if not is_batched(value):
        return type(value) is int and abs(value) > 2**53
    return value.kind is int and bool((abs(value.data.astype("float64", copy=False)) >= 2.0**53).any())


def _python_data(value: Any, dtype: str | None = None) -> Any:
    if not is_batched(value):
        return asarray(value, dtype or {bool: "int64", int: "int64"}.get(type(value), "float64"))
    return value.data.astype(dtype or ("float64" if value.kind is float else "int64"), copy=False)


for _name in UFUNCS:
    RULES["operator " + _name] = functools.partial(_operator, _name)
RULES["operator divide"] = functools.partial(_operator, "true_divide")


def _sign(function, tracer, x):
    return tracer.batched(
        function(x.data.astype("int64") if x.kind is bool else x.data), int if x.kind is bool else x.kind
    )


RULES["operator negative"] = functools.partial(_sign, UFUNCS["negative"])
RULES["operator abs"] = functools.partial(_sign, UFUNCS["absolute"])


def _in_place(name, tracer, target, other):
    operands = aligned(tracer, tuple(_adapted(tracer, (target, other))))
    if operands[0].ndim != target.data.ndim or target.data.shape[0] != tracer.count:
        tracer.refuse("it changes an array that all slices share")
    UFUNCS[name](*operands, out=target.data)
    return target


for _name in UFUNCS:
    RULES["in-place " + _name] = functools.partial(_in_place, _name)


def _ufunc_method(ufunc, method, tracer, array, *others, axis=0, keepdims=False, dtype=None, **keywords):
    if method == "outer":
        left, right = lift(tracer, array), lift(tracer, *others)
        return ufunc(expand_dims(left.data, tuple(range(left.data.ndim, left.data.ndim + right.ndim))),
                     with_ndim(right, left.ndim + right.ndim))  # fmt: skip
    array = lift(tracer, array)
    axis = others[0] if others else axis
    if method not in ("reduce", "accumulate") or keywords or len(others) > 1:
        tracer.refuse(f"{ufunc.__name__}.{method} has no form for many slices")
    options = {"keepdims": keepdims} if method == "reduce" else {}
    return getattr(ufunc, method)(array.data, axis=shifted(array, axis), dtype=dtype, **options)


RULES["method of a ufunc"] = _ufunc_method


# --- Functions with an axis ---


@functools.cache
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


def _along(whole: str, function, tracer, *arguments, **keywords):
    """A function whose first argument is an array. Without an axis it works on all axes, on the flattened array, or
    is refused."""
    bound = _signature(function).bind(*arguments, **keywords)
    given = bound.arguments
    first = next(iter(given))
    for name, value in given.items():
        if name != first:
            given[name] = _shared(tracer, function, value)
    array = lift(tracer, given[first])
    name = "axes" if "axes" in _signature(function).parameters else "axis"
    axis = given.get(name, _signature(function).parameters[name].default)
    if axis is None and whole == "flat":
        array, axis = flat(array), 0
    elif axis is None and whole == "one":
        if array.ndim != 1:
            tracer.refuse(f"{function.__name__} of several axes has no form for many slices")
        axis = 0
    if array.ndim == 0:
        tracer.refuse(f"{function.__name__} of a number has no form for many slices")
    given[first], given[name] = array.data, shifted(array, axis)
    return function(*bound.args, **bound.kwargs)


def _shared(tracer: Tracer, function: Any, value: Any) -> Any:
    """A further argument, which has to be the same for all slices."""
    if is_batched(value) and value.data.shape[0] == 1:
        return value.data[0]
    if contains_batched(value):
        tracer.refuse(f"{function.__name__} gets several arrays of the slice")
    return value


def _reduction(function, tracer, *arguments, **keywords):
    """A function of all axes or some; a number is its own reduction where an axis is put to it."""
    array: Any = arguments[0] if arguments else None
    if is_batched(array) and array.ndim == 0:
        array = tracer.batched(array.data.reshape(array.data.shape[0], 1))
        arguments = (array, *arguments[1:])
    where = keywords.pop("where", None)
    if is_batched(where):
        keywords["where"] = with_ndim(where, array.ndim if is_batched(array) else where.ndim)
    return _along("all", function, tracer, *arguments, **keywords)


family(
    _reduction,
    "sum prod min max amin amax mean std var any all count_nonzero ptp median average "
    "nansum nanprod nanmin nanmax nanmean nanstd nanvar nanmedian",
)
family(functools.partial(_along, "all"), "flip fft.fftshift fft.ifftshift")
family(
    functools.partial(_along, "flat"),
    "argmin argmax nanargmin nanargmax cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod sort argsort "
    "partition argpartition repeat delete compress",
)
family(
    functools.partial(_along, "one"),
    "diff unwrap gradient fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft trapezoid "
    "lib.stride_tricks.sliding_window_view",
)


@row("roll")
def _rolled(tracer, a, shift, axis=None):
    array = lift(tracer, a)
    made = tracer.batched(_along("flat", roll, tracer, array, shift, axis))
    return made.data.reshape(array.data.shape) if axis is None else made


@row("average")
def _average(tracer, a, axis=None, weights=None, returned=False, *, keepdims=False):

    if weights is None or not is_batched(weights) and numpy.ndim(weights) == 1 and lift(tracer, a).ndim == 1:
        array = lift(tracer, a)
        weights = None if weights is None else asarray(weights)
        return average(array.data, shifted(array, axis) if weights is None else 1, weights, returned, keepdims=keepdims)
    array, weights = lift(tracer, a), lift(tracer, weights)
    if array.shape != weights.shape:
        tracer.refuse("average gets weights of another shape")
    return average(spread(array), shifted(array, axis), spread(weights), returned, keepdims=keepdims)


def _quantile(function, tracer, a, q, axis=None, **keywords):
    array = lift(tracer, a)
    q = _shared(tracer, function, q)
    keywords = {name: _shared(tracer, function, each) for name, each in keywords.items()}
    result = function(array.data, q, shifted(array, axis), **keywords)
    count = numpy.ndim(q)
    return moveaxis(result, tuple(range(count)), tuple(range(1, 1 + count))) if count else result


family(_quantile, "percentile quantile nanpercentile nanquantile")


# --- Functions of the last axes, and those whose elements need no others ---


def _last_axes(least: int, function, tracer, *arrays, **keywords):
    made = [lift(tracer, each).data if is_batched(each) or hasattr(each, "shape") else each for each in arrays]
    if contains_batched(keywords) or any(is_batched(each) and each.ndim < least for each in arrays):
        tracer.refuse(f"{function.__name__} gets an array of fewer than {least} axes")
    return function(*made, **keywords)


family(functools.partial(_last_axes, 2), "linalg.inv linalg.det linalg.slogdet linalg.eigh linalg.eigvalsh linalg.svd")
family(functools.partial(_last_axes, 2), "linalg.cholesky linalg.pinv linalg.matrix_power linalg.svdvals linalg.qr")
family(functools.partial(_last_axes, 2), "linalg.eigvals linalg.eig linalg.matrix_rank linalg.cond triu tril")
family(functools.partial(_last_axes, 2), "linalg.matrix_norm matrix_transpose linalg.matrix_transpose")


# --- Python's own functions, and conversions ---


def _to_number(kind, tracer, x):
    if x.size != 1:
        tracer.refuse(f"{kind.__name__}() of an array of shape {x.shape}")
    data = x.data.reshape(x.data.shape[0])
    if data.dtype.kind == "c" or kind is int and data.dtype.kind == "f" and not bool(numpy.isfinite(data).all()):
        tracer.refuse(f"{kind.__name__}() of a number that has none")
    if kind is int and data.dtype.kind == "f" and bool((abs(data) >= 2.0**62).any()) or data.dtype == "uint64":
        tracer.refuse("an integer of Python is too large for 64 bits")
    return tracer.batched(data != 0 if kind is bool else data.astype("float64" if kind is float else "int64"), kind)


for _kind in (float, int):
    RULES[_kind.__name__] = functools.partial(_to_number, _kind)
RULES["bool"] = lambda tracer, x: bool(tracer.number(x))


@row("item")
def _item(tracer, x):
    kind = {"f": float, "i": int, "u": int, "b": bool}.get(x.dtype.kind)
    if kind is None:
        tracer.refuse("it takes an item as a Python number")
    return tracer.batched(x.data.reshape(x.data.shape[0]), bool) if kind is bool else _to_number(kind, tracer, x)


@row("asarray asanyarray ascontiguousarray")
def _as_array(tracer, a, dtype=None, **keywords):
    is_same = is_batched(a) and a.kind is None and (dtype is None or numpy.dtype(dtype) == a.dtype)
    return a if is_same else _array(tracer, a, dtype)


@row("array copy")
def _array(tracer, a, dtype=None, **keywords):
    array = lift(tracer, a)
    return spread(array).astype(array.dtype if dtype is None else dtype)


@row("astype")
def _astype(tracer, x, dtype, **keywords):
    return x.data.astype(dtype)


def _filled(value, tracer, a, fill=None, dtype=None, shape=None, **keywords):

    array = lift(tracer, a)
    if value is not None:  # zeros_like(a, dtype)
        dtype = dtype if fill is None else fill
    shape = array.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    with array.device:
        made = tracer.batched(full((tracer.count, *shape), 0 if value is None else value, dtype or array.dtype))
    if value is None:
        made[...] = fill
    return made.data


for _name, _value in {"zeros_like": 0, "ones_like": 1, "empty_like": 0, "full_like": None}.items():
    RULES[_name] = functools.partial(_filled, _value)


@row("shape")
def _shape(tracer, a):
    return lift(tracer, a).shape


@row("ndim")
def _ndim(tracer, a):
    return lift(tracer, a).ndim


@row("size")
def _size(tracer, a, axis=None):
    return lift(tracer, a).size if axis is None else lift(tracer, a).shape[axis]


@row("iscomplexobj")
def _iscomplexobj(tracer, x):
    return x.dtype.kind == "c"


@row("isrealobj")
def _isrealobj(tracer, x):
    return x.dtype.kind != "c"


def _all_equal(function, tracer, a, b, *arguments, **keywords):
    left, right = lift(tracer, a), lift(tracer, b)
    if function == "equal" and (left.shape != right.shape or arguments or keywords):
        tracer.refuse("array_equal of several shapes")
    made = tracer.call(function, left, right, *arguments, **keywords)
    return tracer.batched(made.data.reshape(made.data.shape[0], -1).all(axis=1), bool)


RULES["array_equal"] = functools.partial(_all_equal, "equal")
RULES["allclose"] = functools.partial(_all_equal, "isclose")
