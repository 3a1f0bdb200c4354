"""Linear algebra: NumPy's linalg and the array API's extension, on every device.

Arrays of more than two axes are batches of matrices. float32 and complex64 stay what they are, integers and booleans
are computed in float64, 16-bit floats are refused with TypeError. OpenBLAS works on the CPU, cuBLAS and cuSOLVER on a
GPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from . import _core
from ._core import ndarray
from ._functions import elementwise, reductions
from ._numpy.conversion import _array
from ._numpy.creation import empty
from ._numpy.indexing import take_along_axis
from ._numpy.products import (
    _conjugate,
    _multiply,
    _pair,
    _product,
    cross as _cross,
    matmul,
    outer as _outer,
    tensordot as tensordot,
    vecdot as vecdot,
)
from ._numpy.rearranging import matrix_transpose
from ._numpy.shapes import _axes, _into, moveaxis, stack
from ._numpy.sorting import argsort, sort
from .errors import LinAlgError, ShapeError, TypeError, ValueError

_where = elementwise["where"]


class EigResult(NamedTuple):
    """Eigenvalues (..., n) and eigenvectors (..., n, n), a column a vector."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class EighResult(NamedTuple):
    """Eigenvalues (..., n), ascending, and eigenvectors (..., n, n), a column a vector."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """Q with orthonormal columns and upper triangular R."""

    Q: ndarray
    R: ndarray


class SlogdetResult(NamedTuple):
    """Sign (or phase) and logarithm of the magnitude of determinants."""

    sign: ndarray
    logabsdet: ndarray


class SVDResult(NamedTuple):
    """U, the singular values S, descending, and Vh with U @ diag(S) @ Vh."""

    U: ndarray
    S: ndarray
    Vh: ndarray


def _inexact(a: ndarray) -> ndarray:
    return a.astype("float64") if a.dtype.kind in "iub" else a


def _check_matrices(function: str, a: ndarray) -> ndarray:
    if a.ndim < 2:
        raise LinAlgError(f"{function}: {a.ndim}-dimensional array given. Array must be at least two-dimensional")
    return a


def _check_square(function: str, a: ndarray) -> ndarray:
    if _check_matrices(function, a).shape[-1] != a.shape[-2]:
        raise LinAlgError(f"{function}: Last 2 dimensions of the array must be square, not {a.shape}")
    return a


def _check_finite(function: str, a: ndarray) -> None:
    if a.dtype.kind not in "iub" and not bool(elementwise["isfinite"](a).all()):
        raise LinAlgError(f"{function}: Array must not contain infs or NaNs")


def _epsilon(a: ndarray) -> float:
    return float(numpy.finfo(a.dtype).eps)


def _identity_like(a: ndarray) -> ndarray:
    """Identities of a's shape and dtype."""
    result = empty(a.shape, a.dtype) if a.device == _core.default_device() else a.copy()
    result.fill(0)
    _core.diagonal(result, 0, -2, -1).fill(1)
    return result


def inv(a) -> ndarray:
    """Inverse of square matrices (..., n, n). Raises LinAlgError for a singular one, on every device.

    >>> iruka.linalg.inv(iruka.asarray([[2., 0.], [0., 4.]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return _core.linalg_inv(_array(a))


def solve(a, b) -> ndarray:
    """x with a @ x = b. a: (..., n, n); b: (n,), or (..., n, k). By LU with partial pivoting.

    Raises LinAlgError where a is singular or not square, ValueError where b does not fit.
    """
    return _core.linalg_solve(*_pair(a, b))


def det(a) -> ndarray:
    """Determinants of square matrices (..., n, n), by LU."""
    return _core.linalg_det(_array(a))


def slogdet(a) -> SlogdetResult:
    """Sign and logarithm of the magnitude of determinants: for those that over- or underflow."""
    return SlogdetResult(*_core.linalg_slogdet(_array(a)))


def cholesky(a, /, *, upper: bool = False) -> ndarray:
    """Triangular L with L @ L.conj().mT = a, or the upper factor. Only that triangle of a is read.

    Raises LinAlgError where a is not positive definite.
    """
    return _core.linalg_cholesky(_array(a), upper)


def qr(a, mode: str = "reduced") -> Any:
    """Q and R of (..., m, n) matrices by Householder reflections.

    mode 'reduced': (..., m, k) and (..., k, n) with k = min(m, n); 'complete': (..., m, m) and (..., m, n); 'r': R
    alone; 'raw': the reflectors, transposed, and their factors. Raises ValueError for another mode.
    """
    q, r = _core.linalg_qr(_array(a), mode)
    if mode == "r":
        return r
    return (q, r) if mode == "raw" else QRResult(q, r)


def svd(a, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular value decomposition of (..., m, n) matrices: U (..., m, m), S (..., k), Vh (..., n, n), k = min(m, n).

    Without full_matrices U is (..., m, k) and Vh (..., k, n); without compute_uv S is given alone. hermitian: a is
    square and its own conjugate transpose, and the faster eigh (which reads the lower triangle) finds the values. By
    divide and conquer (LAPACK's gesdd) on the CPU. Raises LinAlgError where it does not converge.
    """
    a = _check_matrices("svd", _array(a))
    if hermitian:
        return _hermitian_svd(_check_square("svd", a), compute_uv)
    u, s, vh = _core.linalg_svd(a, full_matrices, compute_uv)
    return SVDResult(u, s, vh) if compute_uv else s


def _hermitian_svd(a: ndarray, compute_uv: bool):
    """Magnitudes of the eigenvalues, and eigenvectors; the signs go into Vh."""
    if not compute_uv:
        return sort(elementwise["absolute"](eigvalsh(a)))[..., ::-1]
    values, vectors = eigh(a)
    sizes = elementwise["absolute"](values)
    order = argsort(sizes)[..., ::-1]
    u = take_along_axis(vectors, order[..., None, :], -1)
    negative = take_along_axis(values, order, -1)[..., None, :] < 0
    vh = matrix_transpose(_conjugate(_where(negative, -u, u)))
    return SVDResult(u, take_along_axis(sizes, order, -1), vh)


def svdvals(x, /) -> ndarray:
    """Singular values (..., min(m, n)), descending."""
    return svd(x, compute_uv=False)


def _triangle(function: str, uplo: str) -> bool:
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise ValueError(f"{function}: UPLO argument must be 'L' or 'U', not {uplo!r}")
    return uplo.upper() == "L"


def eigh(a, UPLO: str = "L") -> EighResult:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices; the lower (or upper) triangle is read."""
    return EighResult(*_core.linalg_eigh(_array(a), _triangle("eigh", UPLO), True))


def eigvalsh(a, UPLO: str = "L") -> ndarray:
    """Eigenvalues of Hermitian matrices, ascending."""
    return _core.linalg_eigh(_array(a), _triangle("eigvalsh", UPLO), False)[0]


def _eig(function: str, a, vectors: bool):
    a = _check_square(function, _array(a))
    _check_finite(function, a)
    return _core.linalg_eig(a, vectors)


def eig(a) -> EigResult:
    """Eigenvalues (..., n) and right eigenvectors (..., n, n) of square matrices, complex also where all of them are
    real.

    NumPy has done so since 2.5, as the array API says. complex64 for float32 and complex64, else complex128. A GPU's
    arrays are computed on the CPU. Raises LinAlgError for infinities and NaN.
    """
    return EigResult(*_eig("eig", a, True))


def eigvals(a) -> ndarray:
    """Eigenvalues (..., n) of square matrices, complex as those of eig."""
    return _eig("eigvals", a, False)[0]


def matrix_power(a, n: int) -> ndarray:
    """Square matrices to an integer power, by repeated squaring; a negative one inverts first."""
    a = _check_square("matrix_power", _array(a))
    try:
        n = n.__index__()
    except AttributeError:
        raise TypeError(f"matrix_power: exponent must be an integer, not {n!r}") from None
    if n < 0:
        a, n = inv(a), -n
    if n == 0:
        return _identity_like(a)
    result: Any = None
    while n:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        if n:
            a = matmul(a, a)
    return result.copy() if result is a else result


def _reciprocals(s: ndarray, cutoff) -> ndarray:
    """1 / s where s is over the cutoff, else 0."""
    large = s > cutoff
    return _where(large, 1.0 / _where(large, s, 1.0), 0.0).astype(s.dtype, copy=False)


def pinv(a, rcond=None, hermitian: bool = False, *, rtol=numpy._NoValue) -> ndarray:
    """Moore-Penrose inverse (..., n, m) by singular values; those up to rtol times the largest count as 0.

    rcond (NumPy's older name) defaults to 1e-15; rtol=None is max(m, n) times the dtype's precision. hermitian as in
    svd.
    """
    given = _check_matrices("pinv", _array(a))
    a = _inexact(given)
    if rcond is None:
        rcond = 1e-15 if rtol is numpy._NoValue else rtol
        if rcond is None:
            rcond = max(a.shape[-2:]) * _epsilon(a)
    elif rtol is not numpy._NoValue:
        raise ValueError("pinv: `rtol` and `rcond` can't be both set.")
    if a.size == 0:
        return _core.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), given.dtype if 0 in a.shape[-2:] else a.dtype)
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    cutoff = (_array(rcond)[..., None] if not isinstance(rcond, float) else rcond) * s.max(axis=-1, keepdims=True)
    scaled = _multiply(_reciprocals(s, cutoff)[..., None], _conjugate(matrix_transpose(u)))
    return matmul(_conjugate(matrix_transpose(vh)), scaled)


def matrix_rank(A, tol=None, hermitian: bool = False, *, rtol=None) -> ndarray:
    """Number of singular values over tol, or over rtol (max(m, n) times the precision) times the largest.

    hermitian as in svd.
    """
    if rtol is not None and tol is not None:
        raise ValueError("matrix_rank: `tol` and `rtol` can't be both set.")
    a = _inexact(_array(A))
    if a.ndim < 2:
        return (a != 0).any().astype("int64")
    s = svd(a, compute_uv=False, hermitian=hermitian)
    if tol is None:
        rtol = max(a.shape[-2:]) * _epsilon(a) if rtol is None else _array(rtol)[..., None]
        tol = s.max(axis=-1, keepdims=True) * rtol if s.shape[-1] else 0.0
    else:
        tol = _array(tol)[..., None]
    return reductions["count_nonzero"](s > tol, axis=-1)


def lstsq(a, b, rcond: float | None = None) -> Any:
    """x that minimises |b - a @ x|: (x, sums of squared residuals, rank of a, singular values).

    a: (m, n); b: (m,) or (m, k). Singular values up to rcond (max(m, n) times the precision) times the largest count as
    0. Sums are given where the rank is n and m > n, else an empty array.
    """
    a, b = _pair(a, b)
    if _check_matrices("lstsq", a).ndim != 2 or b.ndim not in (1, 2):
        raise LinAlgError(f"lstsq: two-dimensional arrays are needed, not shapes {a.shape} and {b.shape}")
    if a.shape[0] != b.shape[0]:
        raise LinAlgError(f"lstsq: Incompatible dimensions: {a.shape[0]} and {b.shape[0]} rows")
    if "float16" in (a.dtype, b.dtype):
        raise TypeError("lstsq: array type float16 is unsupported in linalg")
    dtype = _core.result_type(_inexact(a).dtype, _inexact(b).dtype)
    a, sides = a.astype(dtype, copy=False), (b[:, None] if b.ndim == 1 else b).astype(dtype, copy=False)
    m, n = a.shape
    u, s, vh = svd(a, full_matrices=False)
    limit = _epsilon(a) * max(m, n) if rcond is None else _epsilon(a) if rcond == -1 else rcond
    rank = int(reductions["count_nonzero"](s > limit * s[0])) if s.size else 0
    weights = _reciprocals(s, limit * s[0]) if s.size else s
    x = matmul(_conjugate(vh.T), _multiply(weights[:, None], matmul(_conjugate(u.T), sides)))
    rest = _core.zeros((0,), s.dtype)
    if rank == n and m > n:
        rest = elementwise["square"](elementwise["absolute"](sides - matmul(a, x))).sum(axis=0)
    return (x[:, 0] if b.ndim == 1 else x), rest, numpy.int32(rank), s


def vector_norm(x, /, *, axis=None, keepdims: bool = False, ord: float = 2) -> ndarray:
    """Norm of order `ord` along axes, all of them by default, as of one long vector."""
    x = _inexact(_array(x))
    if axis is None:
        result = _core.norm(x.ravel(), ord, 0, False)
        return result.reshape((1,) * x.ndim) if keepdims else result
    axes = _axes("vector_norm", axis, x.ndim)
    if len(axes) == 1:
        return _core.norm(x, ord, axes[0], keepdims)
    rest = [k for k in range(x.ndim) if k not in axes]
    flat = x.transpose([*axes, *rest]).reshape((_product(x.shape[k] for k in axes), *(x.shape[k] for k in rest)))
    result = _core.norm(flat, ord, 0, False)
    return result.reshape(tuple(1 if k in axes else n for k, n in enumerate(x.shape))) if keepdims else result


def matrix_norm(x, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> ndarray:
    """Norm of the matrices in the last two axes: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."""
    x = _check_matrices("matrix_norm", _array(x))
    return norm(x, "fro" if ord is None else ord, axis=(-2, -1), keepdims=keepdims)


def _singular_norm(x: ndarray, ord, axes: tuple[int, int], keepdims: bool) -> ndarray:
    s = svdvals(moveaxis(x, axes, (-2, -1)))
    result = s.sum(axis=-1) if ord == "nuc" else s.max(axis=-1, initial=0) if ord == 2 else s.min(axis=-1)
    if keepdims:
        for axis in sorted(axes):
            result = result._expand_dims(axis)
    return result


def norm(
    x, ord: float | str | None = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> ndarray:
    """Norm of vectors along one axis, of matrices over two, or the 2-norm of all elements.

    Vectors: None or 2 (Euclidean), 1, inf, -inf, 0 (number of nonzeros) or any p. Matrices: None or 'fro' (Frobenius),
    'nuc' (sum of singular values), 2 and -2 (largest and smallest of them), 1 and -1 (columns' sums of magnitudes), inf
    and -inf (rows'). Raises ValueError for another order or number of axes.

        >>> float(iruka.linalg.norm(iruka.asarray([3., 4.])))
        5.0
    """
    x = _inexact(_core.as_array(x))
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            return (
                _core.norm(x, None, tuple(range(x.ndim)), keepdims)
                if x.ndim <= 2
                else vector_norm(x, keepdims=keepdims)
            )
        axis = tuple(range(x.ndim))
    axes = _axes("norm", axis, x.ndim)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"norm: Invalid norm order {ord!r} for vectors")
        return _core.norm(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: Improper number of dimensions to norm: {len(axes)}; ord {ord!r} needs one or two axes")
    if ord in (None, "f", "fro"):
        return _core.norm(x, None, axes, keepdims)
    if ord in (2, -2, "nuc"):
        return _singular_norm(x, ord, axes, keepdims)
    if isinstance(ord, str) or abs(ord) not in (1, numpy.inf):
        raise ValueError(f"norm: Invalid norm order {ord!r} for matrices")
    return _core.norm(x, ord, axes, keepdims)


def _inverse_or_infinite(x: ndarray) -> ndarray:
    """The inverse; infinities for singular matrices."""
    try:
        return inv(x)
    except LinAlgError:
        if x.ndim > 2:
            return stack([_inverse_or_infinite(part) for part in x])
        result = x.copy()
        result.fill(numpy.inf)
        return result


def cond(x, p: float | str | None = None) -> ndarray:
    """Condition number: the ratio of singular values for None, 2 and -2, else norm(x, p) * norm(inv(x), p).

    Infinite for singular matrices. Raises LinAlgError for empty ones.
    """
    x = _inexact(_check_matrices("cond", _array(x)))
    if 0 in x.shape[-2:]:
        raise LinAlgError("cond: cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = svdvals(x)
        with numpy.errstate(all="ignore"):
            result = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        _check_square("cond", x)
        inverse = _inverse_or_infinite(x)
        with numpy.errstate(all="ignore"):
            result = _multiply(norm(x, p, axis=(-2, -1)), norm(inverse, p, axis=(-2, -1)))
    has_nan = elementwise["isnan"](x).any(axis=(-2, -1))
    unknown = elementwise["isnan"](result)
    return _where(unknown & ~has_nan, numpy.inf, result).astype(result.dtype, copy=False)


def tensorsolve(a, b, axes=None) -> ndarray:
    """x with tensordot(a, x, x.ndim) = b; `axes` of a are moved to its end first."""
    a, b = _pair(a, b)
    if axes is not None:
        moved = _axes("tensorsolve", axes, a.ndim)
        a = a.transpose([*(k for k in range(a.ndim) if k not in moved), *moved])
    shape = a.shape[b.ndim :] if b.ndim else a.shape
    if _product(shape) ** 2 != a.size or b.size != _product(shape):
        raise LinAlgError(
            "tensorsolve: Input arrays must satisfy prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]): "
            f"{a.shape}, {b.shape}"
        )
    return solve(a.reshape((b.size, _product(shape))), b.ravel()).reshape(shape)


def tensorinv(a, ind: int = 2) -> ndarray:
    """The inverse for tensordot(a, x, ind): the first `ind` axes go to the end."""
    a = _array(a)
    if ind <= 0:
        raise ValueError(f"tensorinv: Invalid ind argument {ind}.")
    first = _product(a.shape[:ind])
    return inv(a.reshape((first, _product(a.shape[ind:])))).reshape(a.shape[ind:] + a.shape[:ind])


def _cheapest(shapes) -> list[list[int]]:
    """Where to split each range of a chain of products (dynamic programming over the extents; Cormen et al., 15.2)."""
    count = len(shapes)
    extents = [shapes[0][0], *(s[1] for s in shapes)]
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + extents[i] * extents[k + 1] * extents[j + 1], k) for k in range(i, j)
            )
    return split


def multi_dot(arrays, *, out: ndarray | None = None) -> ndarray:
    """Product of two or more matrices in the cheapest order; the first and last may be vectors."""
    arrays = [_array(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError("multi_dot: Expecting at least two arrays.")
    first, last = arrays[0].ndim, arrays[-1].ndim
    if first == 1:
        arrays[0] = arrays[0][None, :]
    if last == 1:
        arrays[-1] = arrays[-1][:, None]
    if any(a.ndim != 2 for a in arrays):
        raise LinAlgError(f"multi_dot: arrays must be two-dimensional, not {[a.ndim for a in arrays]}")
    split = _cheapest([a.shape for a in arrays])

    def product(i, j):
        return arrays[i] if i == j else matmul(product(i, split[i][j]), product(split[i][j] + 1, j))

    result = product(0, len(arrays) - 1)
    result = result[0] if first == 1 else result
    return _into(out, result[..., 0] if last == 1 else result)


def diagonal(x, /, *, offset: int = 0) -> ndarray:
    """View of the diagonals of the matrices in the last two axes."""
    return _core.diagonal(_check_matrices("diagonal", _array(x)), offset, -2, -1)


def trace(x, /, *, offset: int = 0, dtype=None) -> ndarray:
    """Sums of the diagonals of the matrices in the last two axes."""
    return diagonal(x, offset=offset).sum(axis=-1, dtype=dtype)


def cross(x1, x2, /, *, axis: int = -1) -> ndarray:
    """Cross product of vectors of three elements along an axis. Raises ValueError for other extents."""
    x1, x2 = _array(x1), _array(x2)
    for x in (x1, x2):
        if x.ndim and -x.ndim <= axis < x.ndim and x.shape[axis] != 3:
            raise ValueError(f"linalg.cross: vectors must have 3 elements, not {x.shape[axis]}")
    return _cross(x1, x2, axis=axis)


def outer(x1, x2, /) -> ndarray:
    """Outer product of two vectors. Raises ValueError for other arrays."""
    x1, x2 = _pair(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(f"outer: Input arrays must be one-dimensional, not {x1.ndim} and {x2.ndim} axes")
    return _outer(x1, x2)
