"""The Python part of iruka.ndarray: attributes that are objects, printing, pickling."""

import builtins
import contextlib
import math
import operator

import numpy

from .. import _core
from .._functions import elementwise
from ..errors import TypeError, ValueError


class Flags:
    """Memory layout of an array, as attributes and by NumPy's names: flags['C_CONTIGUOUS']."""

    _names = {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned"}

    _array: _core.ndarray
    aligned: bool
    c_contiguous: bool
    contiguous: bool
    f_contiguous: bool
    fnc: bool
    forc: bool
    owndata: bool

    def __init__(self, array):
        c_order, f_order, _, owns = array._layout
        vars(self).update(_array=array, c_contiguous=c_order, f_contiguous=f_order, owndata=owns, aligned=True)
        vars(self).update(fnc=f_order and not c_order, forc=f_order or c_order, contiguous=c_order)

    @property
    def writeable(self) -> bool:
        """Whether elements may be changed; may be set, as by ndarray.setflags(write=...)."""
        return self._array._layout[2]

    @writeable.setter
    def writeable(self, value) -> None:
        self._array.setflags(write=value)

    def __setattr__(self, name, value) -> None:
        if name == "aligned" and value:  # as every array is
            return
        if name != "writeable":
            raise AttributeError(f"attribute {name!r} of flags is not writable; only 'writeable' is")
        super().__setattr__(name, value)

    def _attribute(self, name) -> str:
        attribute = self._names.get(name, str(name).lower())
        if attribute != "writeable" and attribute not in self.__dict__ or attribute == "_array":
            raise KeyError(f"unknown flag {name!r}")
        return attribute

    def __getitem__(self, name):
        return getattr(self, self._attribute(name))

    def __setitem__(self, name, value) -> None:
        if self._attribute(name) != "writeable":
            raise ValueError(f"flag {name!r} cannot be set; only WRITEABLE can")
        self.writeable = value

    def __repr__(self):
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in self._names.values())


class Memory:
    """The memory of an array: ptr is the address of its first element."""

    def __init__(self, array):
        self._array = array  # keeps the memory
        self.ptr = array._address

    def __int__(self):
        return self.ptr

    def __repr__(self):
        return f"<Memory at {self.ptr:#x} of {self._array.device!r}>"


def _part(x, number):
    """View of the real (0) or imaginary (1) parts of complex numbers."""
    size = x.itemsize // 2
    return x.getfield(f"float{8 * size}", number * size)


def real(x):
    return _part(x, 0) if x.dtype.kind == "c" else x


def set_imag(x, values):
    if x.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    _part(x, 1)[...] = values


def imag(x):
    if x.dtype.kind == "c":
        return _part(x, 1)
    with x.device:
        zeros = _core.zeros(x.shape, x.dtype)
    return zeros[()] if x._is_value else zeros


def conjugate(x):
    return elementwise["conjugate"](x) if x.dtype.kind == "c" else x


def clip(x, low=None, high=None, out=None):
    if (
        type(low) is int or type(high) is int
    ) and x.dtype.kind in "iu":  # a Python integer outside the dtype bounds nothing
        limits = numpy.iinfo(x.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is None and high is None:
        return elementwise["positive"](x, out=out)
    if low is None:
        return elementwise["minimum"](x, high, out=out)
    if high is None:
        return elementwise["maximum"](x, low, out=out)
    return elementwise["clip"](x, low, high, out=out)


def copy_to_host(x, ary, stream):
    if ary is None:
        return x.get(stream=stream or None)
    _check_compatible("copy_to_host", ary, x)
    ary[...] = x.get(stream=stream or None)
    return ary


def copy_to_device(x, ary, stream):
    _check_compatible("copy_to_device", ary, x)
    with stream or contextlib.nullcontext():
        x[...] = ary


def _check_compatible(function, ary, x):
    """Raises ValueError and TypeError where an array has another shape or dtype, as Numba does."""
    if numpy.shape(ary) != x.shape:
        raise ValueError(f"{function}: an array of shape {numpy.shape(ary)} does not fit one of shape {x.shape}")
    if getattr(ary, "dtype", x.dtype) != x.dtype:
        raise TypeError(
            f"{function}: an array of dtype {ary.dtype} does not fit one of {x.dtype}; convert it by astype()"
        )


def tolist(x):
    if x.dtype.name == "bfloat16":
        x = x.astype("float32")
    return _core.numpy_view(x).tolist()


def _is_dense(array, like):
    return (
        array.shape == like.shape
        and array.dtype == like.dtype
        and array.dtype.isnative
        and (array.flags.c_contiguous or array.flags.f_contiguous)
        and array.flags.writeable
        and array.flags.aligned
    )


def get_elements(x, stream=None, order="C", out=None, blocking=True):
    """ndarray.get: a NumPy array with a copy of the elements."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"get: order must be 'C', 'F', 'A' or 'K', not {order!r}")
    if out is not None and not isinstance(out, numpy.ndarray):
        raise TypeError(f"get: out must be a numpy.ndarray, not {type(out)!r}")
    if x.device.name == "cpu":
        if out is None:
            return numpy.array(_core.numpy_view(x), order=order, copy=True)
        numpy.copyto(out, _core.numpy_view(x), casting="same_kind")
        return out
    if out is not None and not _is_dense(out, x):
        numpy.copyto(out, get_elements(x, stream), casting="same_kind")
        return out
    if out is None:
        c_order, f_order, *_ = x._layout
        is_fortran = order == "F" or order in "AK" and f_order and not c_order
        out = numpy.empty(x.shape, x.dtype, "F" if is_fortran else "C")
    if out.size:
        _core.cuda_copy_host(x, out, True, stream, blocking)
    return out


def set_elements(x, array, stream=None):
    """ndarray.set: copies the elements of any array into this one."""
    c_order, f_order, writable, _ = x._layout
    same = isinstance(array, numpy.ndarray) and array.shape == x.shape and array.dtype == x.dtype and x.size > 0
    if x.device.name != "cpu" and same and writable and (c_order or f_order):
        array = numpy.asarray(array, order="C" if c_order else "F")
        _core.cuda_copy_host(x, array, False, stream, stream is None)
    elif stream is None or x.device.name == "cpu":
        x[...] = array
    else:
        from ..cuda import ExternalStream

        with ExternalStream(getattr(stream, "ptr", stream), x.device.id):
            x[...] = array


def format_array(x, spec):
    if x.ndim == 0:
        return format(x.item(), spec)
    if not spec:
        return str(x)
    raise TypeError(f"format specification {spec!r} needs a 0-d array, not one of shape {x.shape}")


def round_value(x, digits=None):
    """round(x) is an int, round(x, 2) another value."""
    if not x._is_value or x.dtype.kind in "bc":
        raise TypeError(
            f"round: an iruka.ndarray of shape {x.shape} and dtype {x.dtype} defines no __round__; iruka.round does"
        )
    return builtins.round(x.item()) if digits is None else x.round(operator.index(digits))


def whole_number(x, function):
    if x.size != 1:
        raise TypeError(f"{function}: only an array of one element can be converted, not one of shape {x.shape}")
    return getattr(math, function)(x.item())


def restore_value(elements):
    return _core.as_array(elements)[()]


def restore(elements):
    """Unpickles: an array over what NumPy unpickled."""
    return _core.as_array(elements)


def reduce_array(x):
    """Pickles as NumPy does, so that protocol 5 keeps large arrays out of band."""
    return restore_value if x._is_value else restore, (_core.numpy_view(x),)
