"""Products of vectors, matrices and arrays."""

from __future__ import annotations

import operator

from . import _core
from ._core import ndarray
from ._creation import _array
from ._functions import elementwise
from ._manipulation import _axes, _into, can_cast, moveaxis, result_type
from .errors import ShapeError, TypeError, ValueError

_multiply = elementwise["multiply"]


def _pair(a, b) -> tuple[ndarray, ndarray]:
    """Both as arrays, where the first array among them lies."""
    if not isinstance(a, ndarray) and isinstance(b, ndarray):
        return _core.as_array(a, b.device), b
    a = _array(a)
    return a, b if isinstance(b, ndarray) else _core.as_array(b, a.device)


def _conjugate(a: ndarray) -> ndarray:
    return elementwise["conjugate"](a) if a.dtype.kind == "c" else a


def _sum(a: ndarray, axis) -> ndarray:
    """A sum in the array's own dtype; whether any is true, for booleans."""
    return a.any(axis=axis) if a.dtype.kind == "b" else a.sum(axis=axis, dtype=a.dtype)


def matmul(x1, x2, /, out: ndarray | None = None, *, casting: str = "same_kind", dtype=None) -> ndarray:
    """Matrix product over the last axis of x1 and the last but one of x2; the other axes broadcast. Operator @.

    x1: (..., n, k) or (k,); x2: (..., k, m) or (k,). The result has the promoted dtype, also for integers and booleans; 16-bit
    floats are summed in float32. Raises ValueError where k differs or an operand has no axes.

        >>> iruka.matmul(iruka.ones((2, 3)), iruka.ones((3, 2)))
        array([[3., 3.],
               [3., 3.]])
    """
    x1, x2 = _pair(x1, x2)
    if dtype is not None:
        for x in (x1, x2):
            if not can_cast(x.dtype, dtype, casting):
                raise TypeError(f"matmul: cannot cast an input from {x.dtype} to {dtype} by the rule {casting!r}")
        x1, x2 = x1.astype(dtype, copy=False), x2.astype(dtype, copy=False)
    return _core.matmul(x1, x2, out)


def dot(a, b, out: ndarray | None = None) -> ndarray:
    """Product over the last axis of a and the last but one of b; of two vectors their inner product.

    Scalars multiply. Raises ValueError where the extents differ.
    """
    a, b = _pair(a, b)
    if out is None and a.ndim > 0 and 0 < b.ndim <= 2:
        return a @ b
    if a.ndim == 0 or b.ndim == 0:
        result = _multiply(a, b)
    elif b.ndim <= 2:
        result = matmul(a, b)
    else:
        result = tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))
    return _into(out, result)


def inner(a, b, /) -> ndarray:
    """Product over the last axes of both; scalars multiply."""
    a, b = _pair(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return _multiply(a, b)
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


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


def vecdot(x1, x2, /, out: ndarray | None = None, *, axis: int = -1) -> ndarray:
    """Inner product along one axis of both, x1 conjugated; the other axes broadcast."""
    x1, x2 = _pair(x1, x2)
    if x1.ndim == 0 or x2.ndim == 0:
        raise ShapeError(f"vecdot: each operand needs an axis: shapes {x1.shape} and {x2.shape}")
    x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"vecdot: the extents along the axis differ: {x1.shape[-1]} and {x2.shape[-1]}")
    if x1.ndim == 1 and x2.ndim == 1:
        return _into(out, matmul(_conjugate(x1), x2))
    return _into(out, _sum(_multiply(_conjugate(x1), x2), -1))


def matvec(x1, x2, /, out: ndarray | None = None) -> ndarray:
    """Matrices (..., m, n) times vectors (..., n): (..., m)."""
    x1, x2 = _pair(x1, x2)
    if x1.ndim < 2 or x2.ndim < 1:
        raise ShapeError(f"matvec: a matrix and a vector are needed, not shapes {x1.shape} and {x2.shape}")
    return _into(out, matmul(x1, x2[..., None])[..., 0])


def vecmat(x1, x2, /, out: ndarray | None = None) -> ndarray:
    """Conjugated vectors (..., n) times matrices (..., n, m): (..., m)."""
    x1, x2 = _pair(x1, x2)
    if x1.ndim < 1 or x2.ndim < 2:
        raise ShapeError(f"vecmat: a vector and a matrix are needed, not shapes {x1.shape} and {x2.shape}")
    return _into(out, matmul(_conjugate(x1)[..., None, :], x2)[..., 0, :])


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
    """Cross product of vectors of three elements along an axis. Raises ValueError for other extents."""
    a, b = _pair(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError("cross: at least one array has zero dimension")
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError(f"cross: vectors must have 3 elements, not {a.shape[-1]} and {b.shape[-1]}")
    parts = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        parts.append(_multiply(a[..., i], b[..., j]) - _multiply(a[..., j], b[..., i]))
    return moveaxis(_core.stack(parts, -1), -1, axisc)


def common_dtype(*arrays):
    """The dtype that arrays are multiplied in together."""
    return result_type(*(a.dtype for a in arrays))
