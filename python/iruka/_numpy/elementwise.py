"""Elementwise functions with arguments of their own, and Python functions called for every element."""

from __future__ import annotations

import math
import numbers

import numpy

from .. import _core
from .._core import ndarray
from .._functions import elementwise
from ..errors import TypeError
from .conversion import _array, asarray, asnumpy
from .shapes import _check_out


def round(a, decimals: int = 0, out: ndarray | None = None) -> ndarray:
    """The nearest multiple of 10**-decimals, halves to even; complex numbers part by part.

    Integers stay as they are for decimals >= 0. Same shape and dtype as `a`; float16 for bools, as in NumPy. Raises
    TypeError for other decimals of bools, and for multiples of powers of 10 into an `out` of integers.

    >>> iruka.round(iruka.asarray([1.25, 0.05]), 1)
    array([1.2, 0. ])
    """
    _check_out(out, "round: out")
    a = _array(a)
    decimals = decimals.__index__()
    if a.dtype.kind in "iu" and decimals >= 0:
        return elementwise["positive"](a, out=out)
    if decimals == 0:
        return elementwise["rint"](a, out=out)
    target = a if out is None and a.dtype.kind == "b" else out
    if a.dtype.kind in "biu" and target is not None and target.dtype.kind in "biu":
        raise TypeError(f"round: cannot cast from float64 to {target.dtype} by the rule 'same_kind'")
    scale = 10.0 ** abs(decimals) if abs(decimals) < 309 else math.inf
    if a.dtype.kind in "iu":
        rounded = elementwise["round"](a, scale, False, dtype="float64").astype(a.dtype)
        return rounded if out is None else elementwise["positive"](rounded, out=out)
    return elementwise["round"](a, scale, decimals > 0, out=out)


around = round


def real(val) -> ndarray:
    """Real part: the array itself where it is real."""
    return _array(val).real


def imag(val) -> ndarray:
    """Imaginary part; zeros for a real array."""
    return _array(val).imag


def angle(z, deg: bool = False) -> ndarray:
    """Argument of complex numbers, in radians or degrees.

    >>> iruka.angle(1j, deg=True)
    array(90.)
    """
    z = _array(z)
    radians = elementwise["angle"](z.astype("int64") if z.dtype == bool else z)
    return radians * (180 / numpy.pi) if deg else radians


def fix(x, out: ndarray | None = None) -> ndarray:
    """Nearest integer towards zero, as a float; integers stay as they are."""
    return elementwise["trunc"](x, out=out)


def isnat(x, /, out=None, **keywords) -> ndarray:
    """Always a TypeError: arrays hold no dates here, and NumPy's isnat is for these only."""
    raise TypeError("ufunc 'isnat' is only defined for np.datetime64 and np.timedelta64.")


def real_if_close(a, tol: float = 100) -> ndarray:
    """The real part where every imaginary part is below `tol`: machine epsilons for tol > 1, else an absolute size."""
    return _core.real_if_close(a, tol)


def _to_host(value):
    return asnumpy(value) if isinstance(value, ndarray) else value


def _from_host(result, name: str):
    """NumPy's result of a call of the Python function `name` for each element, as an array of numbers."""
    if isinstance(result, tuple):
        return tuple(_from_host(each, name) for each in result)
    result = numpy.asarray(result)
    if result.dtype != object:
        return asarray(result)
    for each in result.flat:
        if not isinstance(each, (numbers.Number, numpy.number, numpy.bool_)):
            raise TypeError(f"{name}: the function returned a {type(each).__name__}, and arrays hold numbers alone")
    return asarray(numpy.array(result.tolist()))


def iscomplexobj(x) -> bool:
    """Whether the dtype is complex, for any values."""
    return numpy.dtype(getattr(x, "dtype", type(x))).kind == "c" if _is_typed(x) else numpy.iscomplexobj(x)


def isrealobj(x) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def _is_typed(x) -> bool:
    return isinstance(x, ndarray)


def isfortran(a) -> bool:
    """Whether the array is in Fortran order and not also in C order."""
    return a.flags.fnc


class _Address:
    """An array's addresses for NumPy's overlap solver, which never reads elements."""

    def __init__(self, array):
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": f"|V{array.itemsize}",
            "data": (array._address, False),
            "strides": array.strides,
        }


def _places(a, b):
    """Both as NumPy arrays over the same addresses; None if they cannot overlap."""
    sides = [side if isinstance(side, ndarray) else asarray(side) for side in (a, b)]
    if sides[0].device != sides[1].device or 0 in (sides[0].size, sides[1].size):
        return None
    return [numpy.asarray(_Address(side)) for side in sides]


def shares_memory(a, b, max_work: int = -1) -> bool:
    """Whether two arrays have a byte in common: exact, by numpy.shares_memory. Reads no element."""
    places = _places(a, b)
    return places is not None and numpy.shares_memory(places[0], places[1], max_work)  # type: ignore[arg-type]  # any count


def may_share_memory(a, b, max_work: int = 0) -> bool:
    """Whether the spans of two arrays in memory overlap."""
    places = _places(a, b)
    return places is not None and numpy.may_share_memory(places[0], places[1], max_work)  # type: ignore[arg-type]


def array_equal(a1, a2, equal_nan: bool = False) -> bool:
    """Whether two arrays have one shape and equal elements; NaNs are equal where `equal_nan` says so."""
    return _core.array_equal(a1, a2, equal_nan)


def array_equiv(a1, a2) -> bool:
    """Whether two arrays broadcast to one shape and have equal elements there."""
    return _core.array_equiv(a1, a2)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None) -> str:
    """numpy.array_repr of the elements."""
    return numpy.array_repr(asnumpy(_array(arr)), max_line_width, precision, suppress_small)


def array_str(a, max_line_width=None, precision=None, suppress_small=None) -> str:
    """numpy.array_str of the elements."""
    return numpy.array_str(asnumpy(_array(a)), max_line_width, precision, suppress_small)


def array2string(a, *args, **kwargs) -> str:
    """numpy.array2string of the elements."""
    return numpy.array2string(asnumpy(_array(a)), *args, **kwargs)
