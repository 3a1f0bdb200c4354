"""Factors of covariance matrices for multivariate normals. Covariances are small, so they use LAPACK on the host."""

from __future__ import annotations

import numpy

from .._array.float_errors import warn
from ..errors import ValueError


def _check(is_valid: bool, check_valid: str) -> None:
    if is_valid or check_valid == "ignore":
        return
    message = "random.multivariate_normal: covariance is not symmetric positive-semidefinite."
    if check_valid == "raise":
        raise ValueError(message)
    warn(message)


def factor(cov: numpy.ndarray, check_valid: str, tol: float, method: str) -> numpy.ndarray:
    """Rows R with R.T @ R = cov, so that z @ R of standard normals z has that covariance; as NumPy's Generator does."""
    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError(f"random.multivariate_normal: method must be 'svd', 'eigh' or 'cholesky', not {method!r}")
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError(
            f"random.multivariate_normal: check_valid must be 'warn', 'raise' or 'ignore', not {check_valid!r}"
        )
    if method == "cholesky":
        return numpy.linalg.cholesky(cov).T
    if method == "svd":
        _, sizes, vectors = numpy.linalg.svd(cov)
        _check(numpy.allclose((vectors.T * sizes) @ vectors, cov, rtol=tol, atol=tol), check_valid)
        return numpy.sqrt(sizes)[:, None] * vectors
    sizes, vectors = numpy.linalg.eigh(cov)
    _check(not (sizes < -tol).any(), check_valid)
    return numpy.sqrt(numpy.abs(sizes))[:, None] * vectors.T
