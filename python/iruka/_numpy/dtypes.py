"""Functions of dtypes: NumPy's, which also know bfloat16 and Iruka's arrays."""

from __future__ import annotations

import numpy

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError


def _is_bfloat16(dtype) -> bool:
    return getattr(dtype, "name", getattr(dtype, "__name__", dtype)) == "bfloat16"


def _dtype_of(value):
    return value.dtype if isinstance(value, ndarray) else value


def finfo(dtype) -> numpy.finfo:
    """Limits of a float dtype (of its parts, for a complex one), by dtype or array: bits, eps, max, min, tiny...

    Raises ValueError for other dtypes.

    >>> float(iruka.finfo('bfloat16').eps)
    0.0078125
    """
    dtype = _dtype_of(dtype)
    if _is_bfloat16(dtype):
        import ml_dtypes

        return ml_dtypes.finfo(ml_dtypes.bfloat16)
    return numpy.finfo(dtype)


def iinfo(dtype) -> numpy.iinfo:
    """Limits of an integer dtype, by dtype or array: bits, min, max. Raises ValueError for other dtypes."""
    return numpy.iinfo(_dtype_of(dtype))


def isdtype(dtype, kind) -> bool:
    """Whether a dtype is of a kind: a dtype, 'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating',
    'complex floating', 'numeric', or a tuple of these.

    Raises TypeError for a `dtype` that is none, ValueError for an unknown kind.
    """
    if _is_bfloat16(dtype):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        numpy.isdtype(numpy.dtype("float32"), tuple(k for k in kinds if not _is_bfloat16(k)))  # refuses unknown kinds
        return any(_is_bfloat16(k) or k in ("real floating", "numeric") for k in kinds)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    return not _is_bfloat16(kind) and numpy.isdtype(dtype, kind)


def issubdtype(arg1, arg2) -> bool:
    """Whether the first dtype is below the second in NumPy's hierarchy of scalar types; bfloat16 is a floating type."""
    if _is_bfloat16(arg1) and not _is_bfloat16(arg2):
        return arg2 in (numpy.floating, numpy.inexact, numpy.number, numpy.generic)
    return False if _is_bfloat16(arg2) and not _is_bfloat16(arg1) else numpy.issubdtype(arg1, arg2)


def isscalar(element) -> bool:
    """Whether NumPy would have a scalar: Python's and NumPy's numbers and texts, and 0-d values (x[3], x.sum())."""
    return element._is_value if isinstance(element, ndarray) else numpy.isscalar(element)


def min_scalar_type(a, /) -> numpy.dtype:
    """The smallest dtype that holds a scalar; the dtype of an array."""
    if isinstance(a, ndarray):
        return a.dtype if a.ndim else numpy.min_scalar_type(a.item())
    return numpy.min_scalar_type(a)


def common_type(*arrays) -> type:
    """The scalar type, inexact at least, that arrays are computed in together; integers count as float64."""
    dtypes = [a.dtype if hasattr(a, "dtype") else numpy.asarray(a).dtype for a in arrays]
    if any(d.kind == "b" for d in dtypes):
        raise TypeError("can't get common type for non-numeric array")
    floats = [numpy.dtype("float64") if d.kind in "iu" else d for d in dtypes]
    return _core.result_type(*floats).type if floats else numpy.float16


def astype(x: ndarray, dtype, /, *, copy: bool = True, device=None) -> ndarray:
    """A copy with another dtype, on another device where one is named; x itself where copy=False and nothing changes.

    Raises TypeError for anything but an array.
    """
    if not isinstance(x, ndarray):
        raise TypeError(f"astype: expected an iruka.ndarray, not {type(x)!r}")
    result = x.astype(dtype, copy=copy)
    return result if device is None else result.to_device(device)


_kinds = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_kinds["integral"] = _kinds["signed integer"] + _kinds["unsigned integer"]
_kinds["numeric"] = _kinds["integral"] + _kinds["real floating"] + _kinds["complex floating"]


class _NamespaceInfo:
    """The inspection functions of the array API standard; see iruka.__array_namespace_info__()."""

    def capabilities(self) -> dict:
        """What may depend on values: masks as indices and shapes made from data; and the largest rank."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self):
        """Where arrays are made unless a call says otherwise."""
        return _core.default_device()

    def default_dtypes(self, *, device=None) -> dict:
        """dtypes of arrays made without one, by kind."""
        names = {
            "real floating": "float64",
            "complex floating": "complex128",
            "integral": "int64",
            "indexing": "int64",
        }
        return {kind: numpy.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device=None, kind=None) -> dict:
        """The standard's dtypes by name, of one kind or a tuple of kinds. Raises ValueError for an unknown kind."""
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _kinds]
        if unknown:
            raise ValueError(f"unsupported kind: {unknown[0]!r}")
        return {name: numpy.dtype(name) for k in kinds for name in _kinds[k]}

    def devices(self) -> list:
        """Every device there is: the CPU first, then GPUs."""
        from .. import cuda

        count = cuda.runtime.getDeviceCount() if cuda.is_available() else 0
        return [_core.device("cpu"), *(_core.device(f"cuda:{k}") for k in range(count))]


def __array_namespace_info__() -> _NamespaceInfo:
    """The inspection functions of the array API standard: capabilities, default_device, default_dtypes, dtypes,
    devices."""
    return _NamespaceInfo()
