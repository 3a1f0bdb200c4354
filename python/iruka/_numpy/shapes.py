"""Shapes, joining, and choosing between arrays."""

from __future__ import annotations

import math
import operator

import numpy

from .. import _core
from .._array import clip as _clip
from .._array.float_errors import tell_of_invalid
from .._core import ndarray
from .._functions import elementwise
from ..errors import ShapeError, TypeError, ValueError, _axis_error
from .conversion import _array, _holds_gpu_array
from .dtypes import isscalar


def reshape(a, /, shape, order: str = "C", *, copy: bool | None = None) -> ndarray:
    """The same elements in another shape; one extent may be -1. Raises ValueError where sizes differ.

    copy=True always copies; copy=False raises ValueError where a copy is needed.
    """
    return _array(a).reshape(shape, order=order, copy=copy)


def ravel(a, order: str = "C") -> ndarray:
    """The elements along one axis; a view where strides allow it."""
    return _array(a).ravel(order)


def transpose(a, axes=None) -> ndarray:
    """View with the axes in the given order; reversed without one."""
    return _array(a).transpose(axes)


def swapaxes(a, axis1: int, axis2: int) -> ndarray:
    """View with two axes exchanged."""
    return _array(a).swapaxes(axis1, axis2)


def squeeze(a, axis=None) -> ndarray:
    """View without axes of extent 1: all of them, or the given. Raises ValueError for another extent."""
    return _array(a).squeeze(axis)


def _axes(function: str, axis, ndim: int, repeat: bool = False) -> tuple[int, ...]:
    axes = tuple(map(operator.index, axis)) if isinstance(axis, (tuple, list)) else (operator.index(axis),)
    for a in axes:
        if not -ndim <= a < ndim:
            raise _axis_error(a, ndim, function)
    normalized = tuple(a % ndim for a in axes)
    if not repeat and len(set(normalized)) != len(normalized):
        raise ValueError(f"{function}: axis {axis} names one axis twice")
    return normalized


def expand_dims(a, axis) -> ndarray:
    """View with new axes of extent 1 at the given places of the result."""
    a = _array(a)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    for place in sorted(_axes("expand_dims", axes, a.ndim + len(axes))):
        a = a._expand_dims(place)
    return a


def moveaxis(a, source, destination) -> ndarray:
    """View with axes moved to other places; the others keep their order."""
    return _core.moveaxis(_array(a), source, destination)


def broadcast_to(array, shape, subok: bool = False) -> ndarray:
    """Read-only view of a larger shape. Raises ValueError where broadcasting does not give it."""
    return _array(array)._broadcast_to(shape)


def broadcast_arrays(*args, subok: bool = False) -> tuple[ndarray, ...]:
    """Read-only views of the arrays in the shape they all broadcast to; the arrays themselves where all have it."""
    arrays = tuple(map(_array, args))
    return arrays if len({a.shape for a in arrays}) == 1 else _core.broadcast_arrays(arrays)


def _check_out(out, what: str = "out") -> None:
    """Raises TypeError for an output that is no array."""
    if not (out is None or isinstance(out, (ndarray, numpy.ndarray))):
        raise TypeError(f"{what} must be an iruka.ndarray, not {type(out)!r}")


def _check_shape(out, shape: tuple[int, ...]) -> None:
    if out is not None and out.shape != shape:
        raise ShapeError(f"out has shape {out.shape}, the result {shape}")


def _into(out, result: ndarray, casting: str = "same_kind") -> ndarray:
    _check_out(out)
    if out is None:
        return result if result.ndim else result[()]
    if isinstance(out, ndarray):
        _core.check_out_device(out, result)
    _check_shape(out, result.shape)
    if not can_cast(result.dtype, out.dtype, casting):
        raise TypeError(f"cannot cast the result from {result.dtype} to {out.dtype} by the rule {casting!r}")
    out[...] = result if result.ndim else result.reshape(1)  # an array is cast, whereas a number may be out of range
    return out


def _joined(function: str, arrays, axis: tuple[int, ...], out, dtype, casting: str) -> ndarray:
    """What the function of _core gives of the arrays, cast where a dtype is given, in `out` if there is one.

    Raises TypeError where `casting` forbids the cast to dtype or out, but before that what the function raises.
    """
    join = getattr(_core, function)
    arrays = [_array(a) for a in arrays]
    _check_out(out, f"{function}: out")
    if out is not None and dtype is not None:
        raise TypeError(f"{function}: only one of out and dtype can be given")
    if out is None and dtype is None and casting == "same_kind":
        return join(arrays, *axis)
    if out is None and dtype is None:
        dtype = result_type(*arrays)
    wanted = _core.dtype_of(dtype) if out is None else out.dtype
    for a in arrays:
        if not can_cast(a.dtype, wanted, casting):
            _check_shape(out, getattr(_core, f"{function}_shape")(arrays, *axis))
            raise TypeError(f"{function}: cannot cast from {a.dtype} to {wanted} by the rule {casting!r}")
    arrays = arrays if dtype is None else [a.astype(wanted, copy=False) for a in arrays]
    return _into(out, join(arrays, *axis), "unsafe")  # `casting` was checked for each array


def concatenate(
    arrays, axis: int | None = 0, out: ndarray | None = None, *, dtype=None, casting: str = "same_kind"
) -> ndarray:
    """The arrays one after the other along an axis (flattened first when axis is None).

    Raises ValueError where the other axes differ or no array is given, TypeError where `casting` forbids the cast to
    dtype or out.
    """
    if axis is None and out is None and dtype is None:
        arrays = list(arrays)
        if any(type(a) in (bool, int, float, complex) for a in arrays):  # their dtypes adapt to the arrays
            dtype, casting = (
                result_type(*(a if type(a) in (bool, int, float, complex) else _array(a) for a in arrays)),
                "unsafe",
            )
    if axis is None:
        arrays, axis = [_array(a).ravel() for a in arrays], 0
    return _joined("concatenate", arrays, (axis,), out, dtype, casting)


def stack(arrays, axis: int = 0, out: ndarray | None = None, *, dtype=None, casting: str = "same_kind") -> ndarray:
    """The arrays, all of one shape, along a new axis. Raises what concatenate raises."""
    return _joined("stack", arrays, (axis,), out, dtype, casting)


def vstack(tup, *, dtype=None, casting: str = "same_kind") -> ndarray:
    """The arrays below each other: along the first axis, 1-d ones as rows."""
    return _joined("vstack", tup, (), None, dtype, casting)


def hstack(tup, *, dtype=None, casting: str = "same_kind") -> ndarray:
    """The arrays beside each other: along the second axis, 1-d ones along the first."""
    return _joined("hstack", tup, (), None, dtype, casting)


def clip(a, a_min=None, a_max=None, out: ndarray | None = None, *, min=None, max=None) -> ndarray:
    """Every element held within [a_min, a_max], or [min, max]; None leaves a side open.

    Raises ValueError where a side is given under both names.
    """
    if min is not None or max is not None:
        if a_min is not None or a_max is not None:
            raise ValueError(
                "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
            )
        a_min, a_max = min, max
    return _clip(_array(a), a_min, a_max, out)


def _check_tolerances(rtol, atol) -> None:
    """Reports tolerances that are infinite or NaN as an invalid value, unless they are on a GPU."""
    for given in (rtol, atol):
        if isinstance(given, float) and math.isfinite(given) or type(given) is int and -(2**63) <= given < 2**64:
            continue
        if not _holds_gpu_array(given) and not numpy.isfinite(given).all():
            tell_of_invalid(f"One of rtol or atol is not valid, atol: {atol}, rtol: {rtol}")
            return


def isclose(a, b, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> ndarray:
    """Whether |a - b| <= atol + rtol * |b|, element by element.

    Tolerances that are infinite or NaN are an invalid value for numpy.errstate, which warns by default.
    """
    _check_tolerances(rtol, atol)
    return elementwise["isclose"](a, b, rtol, atol, equal_nan)


def allclose(a, b, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether isclose holds for every element."""
    _check_tolerances(rtol, atol)
    return _core.allclose(a, b, rtol, atol, equal_nan)


def nan_to_num(
    x, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> ndarray:
    """NaN as `nan`, infinities as `posinf` and `neginf` (without them the dtype's largest and smallest values)."""
    x = _array(x)
    if x.dtype.kind in "iub":
        return x.copy() if copy else x
    limits = numpy.finfo(x.dtype) if x.dtype.name != "bfloat16" else __import__("ml_dtypes").finfo(x.dtype)
    posinf = float(limits.max) if posinf is None else posinf
    neginf = float(limits.min) if neginf is None else neginf
    return elementwise["nan_to_num"](x, nan, posinf, neginf, out=None if copy else x)


# The kinds of dtypes that a Python number is cast to; V is bfloat16's. By the rule 'equiv' only its own dtype.
_NUMBER_KINDS = {int: "iufVc", float: "fVc", complex: "c"}


def _may_take(number: type, dtype, casting: str) -> bool:
    if casting == "equiv":
        return dtype == numpy.dtype(number)
    return casting == "unsafe" or dtype.kind in _NUMBER_KINDS[number]


def copyto(dst: ndarray, src, casting: str = "same_kind", where=None) -> None:
    """Writes src, broadcast and cast, into dst; only where a mask holds, when one is given.

    Raises TypeError where `casting` forbids the cast (a Python number has a kind and no size), ValueError where there
    is no such rule, OverflowError for a Python integer that dst cannot hold.
    """
    can_cast(dst.dtype, dst.dtype, casting)  # raises for an unknown rule
    if casting == "unsafe" and type(src) in (float, complex):
        src = numpy.asarray(src)  # which is cast
    if type(src) in _NUMBER_KINDS:
        source, may_cast = type(src).__name__, _may_take(type(src), dst.dtype, casting)
    else:
        src = src if isinstance(src, numpy.generic) else _array(src)
        source, may_cast = src.dtype, can_cast(src.dtype, dst.dtype, casting)
    if not may_cast:
        raise TypeError(f"copyto: cannot cast from {source} to {dst.dtype} by the rule {casting!r}")
    if where is None or where is True:
        is_typed = isscalar(src) and type(src) not in _NUMBER_KINDS
        dst[...] = _core.values_array(src, dst) if is_typed else src
        return
    mask = _array(where)
    if isinstance(where, (list, tuple)):
        mask = mask.astype(bool, copy=False)
    if mask.dtype != bool:
        raise TypeError(f"copyto: where must be an array of bools, not of {mask.dtype}")
    values = _core.values_array(src, dst).astype(dst.dtype, copy=False)
    elementwise["where"](mask, values, dst, out=dst)


def copy(a, order: str = "K") -> ndarray:
    """A copy with its own memory, which may be written to; order K keeps that of the elements in memory."""
    a = _array(a)
    return a[...] if a._is_value else a.copy(order)


def can_cast(from_, to, casting: str = "safe") -> bool:
    """NumPy's can_cast; an iruka array counts as its dtype."""
    if isinstance(from_, ndarray):
        from_ = from_.dtype
    return numpy.can_cast(_core.dtype_of(from_), _core.dtype_of(to), casting)  # type: ignore[arg-type]  # NumPy checks it


def result_type(*arrays_and_dtypes) -> numpy.dtype:
    """The dtype that arrays, scalars and dtypes are computed in together (NumPy 2)."""
    return _core.result_type(*arrays_and_dtypes)


def promote_types(type1, type2) -> numpy.dtype:
    """The smallest dtype that holds both; bfloat16 with float16 gives float32."""
    return _core.promote_types(type1, type2)


def shape(a) -> tuple[int, ...]:
    """The shape of anything array-like."""
    return a.shape if hasattr(a, "shape") else _array(a).shape


def ndim(a) -> int:
    """The number of axes of anything array-like."""
    return len(shape(a))


def size(a, axis: int | tuple[int, ...] | None = None) -> int:
    """The number of elements, or of those along an axis or a tuple of axes. Raises AxisError."""
    extents = shape(a)
    if axis is None:
        return int(numpy.prod(extents, dtype=int))
    return int(numpy.prod([extents[k] for k in _axes("size", axis, len(extents))], dtype=int))
