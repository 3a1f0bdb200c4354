"""Products of vectors, matrices and arrays."""

from __future__ import annotations

import operator
import warnings

from .. import _core
from .._core import ndarray
from .._functions import elementwise
from ..errors import ShapeError, TypeError, ValueError
from .conversion import _array
from .shapes import _axes, _check_out, _into, can_cast, moveaxis, result_type

_multiply = elementwise["multiply"]


def _pair(a, b) -> tuple[ndarray, ndarray]:
    """Both as arrays on the device of the first array among them."""
    if not isinstance(a, ndarray) and isinstance(b, ndarray):
        return _core.as_array(a, b.device), b
    a = _array(a)
    return a, b if isinstance(b, ndarray) else _core.as_array(b, a.device)


def _conjugate(a: ndarray) -> ndarray:
    return elementwise["conjugate"](a) if a.dtype.kind == "c" else a


def _sum(a: ndarray, axis) -> ndarray:
    """A sum in the array's own dtype; whether any is true, for booleans."""
    return a.any(axis=axis) if a.dtype.kind == "b" else a.sum(axis=axis, dtype=a.dtype)


def _operands(function: str, x1, x2, dtype, casting: str) -> tuple[ndarray, ndarray]:
    """Both as arrays, of `dtype` if it is given. Raises TypeError if `casting` forbids the cast."""
    x1, x2 = _pair(x1, x2)
    if dtype is None and casting in ("same_kind", "unsafe"):
        return x1, x2
    wanted = result_type(x1.dtype, x2.dtype) if dtype is None else _core.dtype_of(dtype)
    for x in (x1, x2):
        if not can_cast(x.dtype, wanted, casting):
            raise TypeError(f"{function}: cannot cast an input from {x.dtype} to {wanted} by the rule {casting!r}")
    return x1.astype(wanted, copy=False), x2.astype(wanted, copy=False)


def _written(function: str, out, result: ndarray, casting: str) -> ndarray:
    """The result, written to `out` if it is given. Raises TypeError if `casting` forbids the cast."""
    if out is not None and not can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"{function}: cannot cast the result from {result.dtype} to {out.dtype} by the rule {casting!r}"
        )
    if out is None or casting != "unsafe":
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
    _check_out(out, "dot: out")
    a, b = _pair(a, b)
    if out is None and a.ndim > 0 and 0 < b.ndim <= 2:
        return a @ b
    if a.ndim == 0 or b.ndim == 0:
        result = _multiply(a, b, order="C")
    elif b.ndim <= 2:
        result = matmul(a, b)
    else:
        result = tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))
    if out is not None and (out.dtype != result.dtype or out.ndim != result.ndim or not out.flags.c_contiguous):
        raise ValueError(
            f"dot: out must be a C-contiguous array of {result.dtype} and {result.ndim} axes, "
            f"not of {out.dtype} and {out.ndim}"
        )
    return _into(out, result)


def inner(a, b, /) -> ndarray:
    """Product over the last axes of both; scalars multiply."""
    a, b = _pair(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return _multiply(a, b, order="C")
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))[()]


def vdot(a, b, /) -> ndarray:
    """Inner product of all elements of both in C order, the first ones conjugated."""
    a, b = _pair(a, b)
    if a.size != b.size:
        raise ShapeError(f"vdot: cannot multiply {a.size} by {b.size} elements")
    return matmul(_conjugate(a.ravel()), b.ravel())


def outer(a, b, out: ndarray | None = None) -> ndarray:
    """Every element of a times every element of b, both flattened: (a.size, b.size)."""
    a, b = _pair(a, b)
    return _into(out, _multiply(a.ravel()[:, None], b.ravel()[None, :]))


def vecdot(x1, x2, /, out: ndarray | None = None, *, axis: int = -1, casting: str = "same_kind", dtype=None) -> ndarray:
    """Inner product along one axis of both, x1 conjugated; the other axes broadcast."""
    x1, x2 = _operands("vecdot", x1, x2, dtype, casting)
    if x1.ndim == 0 or x2.ndim == 0:
        raise ShapeError(f"vecdot: each operand needs an axis: shapes {x1.shape} and {x2.shape}")
    x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"vecdot: the extents along the axis differ: {x1.shape[-1]} and {x2.shape[-1]}")
    if x1.ndim == 1 and x2.ndim == 1:
        return _written("vecdot", out, matmul(_conjugate(x1), x2), casting)
    return _written("vecdot", out, _sum(_multiply(_conjugate(x1), x2), -1), casting)


def matvec(x1, x2, /, out: ndarray | None = None, *, casting: str = "same_kind", dtype=None) -> ndarray:
    """Matrices (..., m, n) times vectors (..., n): (..., m)."""
    x1, x2 = _operands("matvec", x1, x2, dtype, casting)
    if x1.ndim < 2 or x2.ndim < 1:
        raise ShapeError(f"matvec: a matrix and a vector are needed, not shapes {x1.shape} and {x2.shape}")
    return _written("matvec", out, matmul(x1, x2[..., None])[..., 0], casting)


def vecmat(x1, x2, /, out: ndarray | None = None, *, casting: str = "same_kind", dtype=None) -> ndarray:
    """Conjugated vectors (..., n) times matrices (..., n, m): (..., m)."""
    x1, x2 = _operands("vecmat", x1, x2, dtype, casting)
    if x1.ndim < 1 or x2.ndim < 2:
        raise ShapeError(f"vecmat: a vector and a matrix are needed, not shapes {x1.shape} and {x2.shape}")
    return _written("vecmat", out, matmul(_conjugate(x1)[..., None, :], x2)[..., 0, :], casting)


def tensordot(a, b, axes=2) -> ndarray:
    """Sum of products over pairs of axes: the last `axes` of a with the first of b, or two lists of axes.

    Raises ValueError where extents differ.
    """
    a, b = _pair(a, b)
    if hasattr(axes, "__iter__"):
        axes_a, axes_b = (tuple(x) if hasattr(x, "__iter__") else (x,) for x in axes)
    else:
        count = operator.index(axes)
        axes_a, axes_b = tuple(range(-count, 0)), tuple(range(count))
    if len(axes_a) != len(axes_b):
        raise ValueError(f"tensordot: shape-mismatch for sum: {len(axes_a)} and {len(axes_b)} axes")
    axes_a, axes_b = _axes("tensordot", axes_a, a.ndim), _axes("tensordot", axes_b, b.ndim)
    summed = [a.shape[axis] for axis in axes_a]
    if summed != [b.shape[axis] for axis in axes_b]:
        raise ShapeError(f"tensordot: shape-mismatch for sum: {a.shape} over {axes_a} and {b.shape} over {axes_b}")
    kept_a = [axis for axis in range(a.ndim) if axis not in axes_a]
    kept_b = [axis for axis in range(b.ndim) if axis not in axes_b]
    shape = [a.shape[axis] for axis in kept_a], [b.shape[axis] for axis in kept_b]
    left = a.transpose([*kept_a, *axes_a]).reshape((_product(shape[0]), _product(summed)))
    right = b.transpose([*axes_b, *kept_b]).reshape((_product(summed), _product(shape[1])))
    return matmul(left, right).reshape((*shape[0], *shape[1]))


def _product(extents) -> int:
    result = 1
    for extent in extents:
        result *= extent
    return result


def kron(a, b) -> ndarray:
    """Kronecker product: every element of a times all of b, as blocks. Missing axes are added in front."""
    a, b = _pair(a, b)
    ndim = max(a.ndim, b.ndim)
    shape_a, shape_b = (1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - b.ndim) + b.shape
    left = a.reshape(tuple(extent for n in shape_a for extent in (n, 1)))
    right = b.reshape(tuple(extent for n in shape_b for extent in (1, n)))
    return _multiply(left, right).reshape(tuple(m * n for m, n in zip(shape_a, shape_b)))


def cross(a, b, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> ndarray:
    """Cross product along an axis of 2- or 3-element vectors; two 2-element vectors give only the third component.

    Raises ValueError for other extents. Vectors of two elements are deprecated, as in NumPy.
    """
    a, b = _pair(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError("cross: at least one array has zero dimension")
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    extents = a.shape[-1], b.shape[-1]
    if not set(extents) <= {2, 3}:
        raise ValueError(f"cross: vectors must have 2 or 3 elements, not {extents[0]} and {extents[1]}")

    def determinant(i, j):
        """a[i] * b[j] - a[j] * b[i]; what a vector has no element for is 0."""
        pairs = [(a, i, b, j), (a, j, b, i)]
        products = [
            _multiply(u[..., k], v[..., m]) if k < u.shape[-1] and m < v.shape[-1] else None for u, k, v, m in pairs
        ]
        if products[1] is None:
            return products[0]
        return -products[1] if products[0] is None else products[0] - products[1]

    if 2 in extents:
        warnings.warn("cross: vectors of 2 elements are deprecated; use 3", DeprecationWarning, stacklevel=2)
    if extents == (2, 2):
        return determinant(0, 1)
    return moveaxis(_core.stack([determinant((k + 1) % 3, (k + 2) % 3) for k in range(3)], -1), -1, axisc)


def common_dtype(*arrays):
    """The dtype that arrays are multiplied in together."""
    return result_type(*(a.dtype for a in arrays))
