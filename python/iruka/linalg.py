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
from ._numpy.conversion import _array
from ._numpy.products import (
    _pair,
    cross as _cross,
    matmul as matmul,
    outer as _outer,
    tensordot as tensordot,
    vecdot as vecdot,
)
from ._numpy.rearranging import matrix_transpose as matrix_transpose
from ._numpy.shapes import _into
from ._public_names import dir_of as _dir_of
from .errors import LinAlgError as LinAlgError, ShapeError, TypeError, ValueError


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


def inv(a) -> ndarray:
    """Inverse of square matrices (..., n, n). Raises LinAlgError for a singular one, on every device.

    >>> iruka.linalg.inv(iruka.asarray([[2., 0.], [0., 4.]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return _core.linalg_inv(a)


def solve(a, b) -> ndarray:
    """x with a @ x = b. a: (..., n, n); b: (n,), or (..., n, k). By LU with partial pivoting.

    Raises LinAlgError where a is singular or not square, ValueError where b does not fit.
    """
    return _core.linalg_solve(a, b)


def det(a) -> ndarray:
    """Determinants of square matrices (..., n, n), by LU."""
    return _core.linalg_det(a)


def slogdet(a) -> SlogdetResult:
    """Sign and logarithm of the magnitude of determinants: for those that over- or underflow."""
    return SlogdetResult(*_core.linalg_slogdet(a))


def cholesky(a, /, *, upper: bool = False) -> ndarray:
    """Triangular L with L @ L.conj().mT = a, or the upper factor. Only that triangle of a is read.

    Raises LinAlgError where a is not positive definite.
    """
    return _core.linalg_cholesky(a, upper)


def qr(a, mode: str = "reduced") -> Any:
    """Q and R of (..., m, n) matrices by Householder reflections.

    mode 'reduced': (..., m, k) and (..., k, n) with k = min(m, n); 'complete': (..., m, m) and (..., m, n); 'r': R
    alone; 'raw': the reflectors, transposed, and their factors. Raises ValueError for another mode.
    """
    q, r = _core.linalg_qr(a, mode)
    if mode == "r":
        return r
    return (q, r) if mode == "raw" else QRResult(q, r)


def svd(a, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular value decomposition of (..., m, n) matrices: U (..., m, m), S (..., k), Vh (..., n, n), k = min(m, n).

    Without full_matrices U is (..., m, k) and Vh (..., k, n); without compute_uv S is given alone. hermitian: a is
    square and its own conjugate transpose, and the faster eigh (which reads the lower triangle) finds the values. By
    divide and conquer (LAPACK's gesdd) on the CPU. Raises LinAlgError where it does not converge.
    """
    parts = _core.svd_hermitian(a, compute_uv) if hermitian else _core.linalg_svd(a, full_matrices, compute_uv)
    return SVDResult(*parts) if compute_uv else parts[1]


def svdvals(x, /) -> ndarray:
    """Singular values (..., min(m, n)), descending."""
    return _core.linalg_svd(x, False, False)[1]


def _triangle(function: str, uplo: str) -> bool:
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise ValueError(f"{function}: UPLO argument must be 'L' or 'U', not {uplo!r}")
    return uplo.upper() == "L"


def eigh(a, UPLO: str = "L") -> EighResult:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices; the lower (or upper) triangle is read."""
    return EighResult(*_core.linalg_eigh(a, _triangle("eigh", UPLO), True))


def eigvalsh(a, UPLO: str = "L") -> ndarray:
    """Eigenvalues of Hermitian matrices, ascending."""
    return _core.linalg_eigh(a, _triangle("eigvalsh", UPLO), False)[0]


def eig(a) -> EigResult:
    """Eigenvalues (..., n) and right eigenvectors (..., n, n) of square matrices, complex also where all of them are
    real.

    NumPy has done so since 2.5, as the array API says. complex64 for float32 and complex64, else complex128. A GPU's
    arrays are computed on the CPU. Raises LinAlgError for infinities and NaN.
    """
    return EigResult(*_core.linalg_eig(a, True))


def eigvals(a) -> ndarray:
    """Eigenvalues (..., n) of square matrices, complex as those of eig."""
    return _core.linalg_eig(a, False)[0]


def matrix_power(a, n: int) -> ndarray:
    """Square matrices to an integer power, by repeated squaring; a negative one inverts first."""
    try:
        n = n.__index__()
    except AttributeError:
        raise TypeError(f"matrix_power: exponent must be an integer, not {n!r}") from None
    return _core.matrix_power(a, n)


def pinv(a, rcond=None, hermitian: bool = False, *, rtol=numpy._NoValue) -> ndarray:
    """Moore-Penrose inverse (..., n, m) by singular values; those up to rtol times the largest count as 0.

    rcond (NumPy's older name) defaults to 1e-15; rtol=None is max(m, n) times the dtype's precision. hermitian as in
    svd.
    """
    if rcond is not None and rtol is not numpy._NoValue:
        raise ValueError("pinv: `rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = 1e-15 if rtol is numpy._NoValue else rtol
    return _core.pinv(a, rcond, hermitian)


def matrix_rank(A, tol=None, hermitian: bool = False, *, rtol=None) -> ndarray:
    """Number of singular values over tol, or over rtol (max(m, n) times the precision) times the largest.

    hermitian as in svd.
    """
    return _core.matrix_rank(A, tol, rtol, hermitian)


def lstsq(a, b, rcond: float | None = None) -> Any:
    """x that minimises |b - a @ x|: (x, sums of squared residuals, rank of a, singular values).

    a: (m, n); b: (m,) or (m, k). Singular values up to rcond (max(m, n) times the precision) times the largest count as
    0. Sums are given where the rank is n and m > n, else an empty array.
    """
    if isinstance(rcond, numpy.ndarray) and rcond.size == 1:
        rcond = rcond.item()
    x, rest, rank, s = _core.lstsq(a, b, rcond)
    return x, rest, numpy.int32(rank), s


def vector_norm(x, /, *, axis=None, keepdims: bool = False, ord: float = 2) -> ndarray:
    """Norm of order `ord` along axes, all of them by default, as of one long vector."""
    return _core.vector_norm(x, ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> ndarray:
    """Norm of the matrices in the last two axes: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."""
    return _core.matrix_norm(x, "fro" if ord is None else ord, keepdims)


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
    return _core.norm(x, ord, axis, keepdims)


def cond(x, p: float | str | None = None) -> ndarray:
    """Condition number: the ratio of singular values for None, 2 and -2, else norm(x, p) * norm(inv(x), p).

    Infinite for singular matrices. Raises LinAlgError for empty ones.
    """
    return _core.cond(x, p)


def tensorsolve(a, b, axes=None) -> ndarray:
    """x with tensordot(a, x, x.ndim) = b; `axes` of a are moved to its end first."""
    return _core.tensorsolve(a, b, axes)


def tensorinv(a, ind: int = 2) -> ndarray:
    """The inverse for tensordot(a, x, ind): the first `ind` axes go to the end."""
    return _core.tensorinv(a, ind)


def multi_dot(arrays, *, out: ndarray | None = None) -> ndarray:
    """Product of two or more matrices in the cheapest order; the first and last may be vectors."""
    result = _core.multi_dot(arrays if isinstance(arrays, (list, tuple)) else list(arrays))
    return result if out is None else _into(out, result)


def diagonal(x, /, *, offset: int = 0) -> ndarray:
    """View of the diagonals of the matrices in the last two axes."""
    return _core.diagonal(_array(x), offset, -2, -1)


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


__dir__ = _dir_of(globals())
