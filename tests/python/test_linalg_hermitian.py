"""hermitian=True of svd, pinv and matrix_rank: eigh's way, against NumPy's."""

import numpy as np
import pytest

import iruka
from helpers import assert_same

DTYPES = ["float32", "float64", "complex64", "complex128", "int64"]


def hermitian_matrices(rng, dtype, shape):
    """Some of full rank, of any signs; the last of rank 2."""
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    if np.dtype(dtype).kind == "i":
        a = np.round(a * 4)
    a = a + a.conj().swapaxes(-1, -2)
    if a.ndim == 3:
        v = np.round(rng.standard_normal((2, shape[-1])) * 4)
        a[-1] = np.outer(v[0], v[0]) - np.outer(v[1], v[1])
    return a.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (3, 6, 6)], ids=str)
def test_against_numpy(dtype, shape, rng):
    a = hermitian_matrices(rng, dtype, shape)
    x = iruka.array(a)
    tolerance = 1e-4 if np.dtype(dtype).itemsize // (1 + (a.dtype.kind == "c")) == 4 else 1e-11
    expected = np.linalg.svd(a, hermitian=True)
    u, s, vh = iruka.linalg.svd(x, hermitian=True)
    assert (u.dtype, s.dtype, vh.dtype) == tuple(part.dtype for part in expected)
    u, s, vh = map(iruka.asnumpy, (u, s, vh))
    np.testing.assert_allclose(s, expected.S, atol=tolerance * 10)
    np.testing.assert_allclose((u * s[..., None, :]) @ vh, a, atol=tolerance * 10)
    for vectors in (u, vh):  # also where a singular value is 0
        np.testing.assert_allclose(
            vectors @ vectors.conj().swapaxes(-1, -2), np.eye(shape[-1]) + 0 * s[..., None], atol=tolerance
        )
    values = iruka.linalg.svd(x, compute_uv=False, hermitian=True)
    np.testing.assert_allclose(iruka.asnumpy(values), expected.S, atol=tolerance * 10)
    assert_same(iruka.linalg.matrix_rank(x, hermitian=True), np.linalg.matrix_rank(a, hermitian=True))
    assert_same(iruka.linalg.matrix_rank(x, tol=1.5, hermitian=True), np.linalg.matrix_rank(a, tol=1.5, hermitian=True))
    inverse = iruka.asnumpy(iruka.linalg.pinv(x, 1e-4, hermitian=True))
    np.testing.assert_allclose(
        inverse, np.linalg.pinv(a, 1e-4, hermitian=True), atol=tolerance * 100, rtol=tolerance * 100
    )


def test_only_the_lower_triangle_is_read(rng):
    a = hermitian_matrices(rng, "float64", (5, 5))
    spoilt = np.tril(a) + np.triu(np.full((5, 5), 99.0), 1)
    for call in (
        lambda m, x: m.linalg.svd(x, compute_uv=False, hermitian=True),
        lambda m, x: m.linalg.pinv(x, hermitian=True),
    ):
        actual = iruka.asnumpy(call(iruka, iruka.array(spoilt)))
        np.testing.assert_allclose(actual, call(np, spoilt), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(actual, call(np, a), rtol=1e-9, atol=1e-12)


def test_errors():
    for call in (iruka.linalg.svd, iruka.linalg.pinv, iruka.linalg.matrix_rank):
        with pytest.raises(np.linalg.LinAlgError, match="square"):
            call(iruka.ones((2, 3)), hermitian=True)
