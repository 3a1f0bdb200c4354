"""Products of vectors, matrices and arrays."""

from __future__ import annotations

import operator

from .. import _core
from .._core import ndarray
from .._functions import elementwise
from ..errors import TypeError, ValueError
from .conversion import _array
from .shapes import _check_out, _into, can_cast, moveaxis, result_type


def _pair(a, b) -> tuple[ndarray, ndarray]:
    """Both as arrays on the device of the first array among them."""
    if not isinstance(a, ndarray) and isinstance(b, ndarray):
        return _core.as_array(a, b.device), b
    a = _array(a)
    return a, b if isinstance(b, ndarray) else _core.as_array(b, a.device)


def _conjugate(a: ndarray) -> ndarray:
    return elementwise["conjugate"](a) if a.dtype.kind == "c" else a


def _operands(function: str, x1, x2, dtype, casting: str) -> tuple:
    """Both as arrays of `dtype` where that or a rule is given. Raises TypeError if `casting` forbids the cast."""
    if dtype is None and casting in ("same_kind", "unsafe"):
        return x1, x2
    x1, x2 = _pair(x1, x2)
    wanted = result_type(x1.dtype, x2.dtype) if dtype is None else _core.dtype_of(dtype)
    for x in (x1, x2):
        if not can_cast(x.dtype, wanted, casting):
            raise TypeError(f"{function}: cannot cast an input from {x.dtype} to {wanted} by the rule {casting!r}")
    return x1.astype(wanted, copy=False), x2.astype(wanted, copy=False)


def _written(function: str, out, result: ndarray, casting: str) -> ndarray:
    """The result, written to `out` if it is given. Raises TypeError if `casting` forbids the cast."""
    if out is None:
        return result
    if not can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"{function}: cannot cast the result from {result.dtype} to {out.dtype} by the rule {casting!r}"
        )
    if casting != "unsafe":
        return _into(out, result)
    return _into(out, result.astype(out.dtype, copy=False))


def _moved(x: ndarray, axes) -> ndarray:
    """The array with these axes last, in their order."""
    axes = tuple(axes) if hasattr(axes, "__iter__") else (axes,)
    return moveaxis(x, axes, tuple(range(-len(axes), 0)))


def matmul(x1, x2, /, out: ndarray | None = None, *, casting: str = "same_kind", dtype=None, axes=None) -> ndarray:
    """Matrix product over the last axis of x1 and the last but one of x2; the other axes broadcast. Operator @.

    x1: (..., n, k) or (k,); x2: (..., k, m) or (k,). The result has the promoted dtype, also for integers and booleans;
    16-bit floats are summed in float32. axes: the axes of the matrices in x1, x2 and the result, [(-2, -1), (-2, -1),
    (-2, -1)] by default. Raises ValueError where k differs or an operand has no axes, TypeError where `casting` forbids
    a cast.

        >>> iruka.matmul(iruka.ones((2, 3)), iruka.ones((3, 2)))
        array([[3., 3.],
               [3., 3.]])
    """
    x1, x2 = _operands("matmul", x1, x2, dtype, casting)
    if axes is not None:
        x1, x2 = _pair(x1, x2)
        if len(axes) != 3:
            raise ValueError(f"matmul: axes needs an entry for each of 3 arrays, not {len(axes)}")
        result = _core.matmul(_moved(x1, axes[0]), _moved(x2, axes[1]), None)
        last = tuple(axes[2]) if hasattr(axes[2], "__iter__") else (axes[2],)
        return _written("matmul", out, moveaxis(result, tuple(range(-len(last), 0)), last), casting)
    if out is not None and casting == "unsafe":
        return _written("matmul", out, _core.matmul(x1, x2, None), casting)
    return _core.matmul(x1, x2, out)


def dot(a, b, out: ndarray | None = None) -> ndarray:
    """Product over the last axis of a and the last but one of b; of two vectors their inner product.

    Scalars multiply. Raises ValueError where the extents differ, or out is not a C-contiguous array of the
    result's shape and dtype; TypeError where it is no array.
    """
    if out is None:
        return _core.dot(a, b)
    _check_out(out, "dot: out")
    result = _core.dot(a, b)
    if out.dtype != result.dtype or out.ndim != result.ndim or not out.flags.c_contiguous:
        raise ValueError(
            f"dot: out must be a C-contiguous array of {result.dtype} and {result.ndim} axes, "
            f"not of {out.dtype} and {out.ndim}"
        )
    return _into(out, result)


def inner(a, b, /) -> ndarray:
    """Product over the last axes of both; scalars multiply."""
    return _core.inner(a, b)


def vdot(a, b, /) -> ndarray:
    """Inner product of all elements of both in C order, the first ones conjugated."""
    return _core.vdot(a, b)


def outer(a, b, out: ndarray | None = None) -> ndarray:
    """Every element of a times every element of b, both flattened: (a.size, b.size)."""
    return _core.outer(a, b) if out is None else _into(out, _core.outer(a, b))


def vecdot(x1, x2, /, out: ndarray | None = None, *, axis: int = -1, casting: str = "same_kind", dtype=None) -> ndarray:
    """Inner product along one axis of both, x1 conjugated; the other axes broadcast."""
    x1, x2 = _operands("vecdot", x1, x2, dtype, casting)
    return _written("vecdot", out, _core.vecdot(x1, x2, axis), casting)


def matvec(x1, x2, /, out: ndarray | None = None, *, casting: str = "same_kind", dtype=None) -> ndarray:
    """Matrices (..., m, n) times vectors (..., n): (..., m)."""
    x1, x2 = _operands("matvec", x1, x2, dtype, casting)
    return _written("matvec", out, _core.matvec(x1, x2), casting)


def vecmat(x1, x2, /, out: ndarray | None = None, *, casting: str = "same_kind", dtype=None) -> ndarray:
    """Conjugated vectors (..., n) times matrices (..., n, m): (..., m)."""
    x1, x2 = _operands("vecmat", x1, x2, dtype, casting)
    return _written("vecmat", out, _core.vecmat(x1, x2), casting)


def tensordot(a, b, axes=2) -> ndarray:
    """Sum of products over pairs of axes: the last `axes` of a with the first of b, or two lists of axes.

    Raises ValueError where extents differ.
    """
    if not hasattr(axes, "__iter__"):
        return _core.tensordot(a, b, operator.index(axes), None)
    axes_a, axes_b = (tuple(x) if hasattr(x, "__iter__") else (x,) for x in axes)
    return _core.tensordot(a, b, axes_a, axes_b)


def kron(a, b) -> ndarray:
    """Kronecker product: every element of a times all of b, as blocks. Missing axes are added in front."""
    return _core.kron(a, b)


def cross(a, b, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> ndarray:
    """Cross product along an axis of 2- or 3-element vectors; two 2-element vectors give only the third component.

    Raises ValueError for other extents. Vectors of two elements are deprecated, as in NumPy.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    return _core.cross(a, b, axisa, axisb, axisc)
