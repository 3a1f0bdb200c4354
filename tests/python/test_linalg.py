"""Decompositions, equations, determinants and norms, against NumPy and against what defines them."""

import itertools

import numpy as np
import pytest

import iruka
from helpers import beyond_numbers
from iruka import errors, linalg

INEXACT = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(1, 1), (3, 3), (4, 6), (6, 4), (2, 3, 5, 4), (2, 40, 36), (0, 3), (3, 0), (2, 0, 0)]
SQUARE = [(1, 1), (5, 5), (2, 3, 4, 4), (2, 36, 36), (90, 90), (0, 0), (3, 0, 0), (0, 2, 2)]


def matrix(dtype, shape, rng):
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x).astype(dtype)


def hermitian(dtype, shape, rng, definite=False):
    x = matrix(dtype, shape, rng)
    adjoint = x.conj().swapaxes(-1, -2)
    return x @ adjoint + shape[-1] * np.eye(shape[-1], dtype=dtype) if definite else (x + adjoint) / 2


def close(actual, expected, factor=500.0):
    expected = np.asarray(expected)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    scale = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0)))
    np.testing.assert_allclose(
        iruka.asnumpy(actual), expected, rtol=0, atol=factor * np.finfo(expected.dtype).eps * scale
    )


def adjoint(x):
    return np.conj(x).swapaxes(-1, -2)


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SQUARE)
def test_inv_det_slogdet(dtype, shape, rng):
    a = hermitian(dtype, shape, rng, definite=True) + np.triu(np.ones(shape[-1:] * 2, dtype))
    for x, same in ((iruka.array(a), a), (iruka.array(a).mT, a.mT), (iruka.array(a)[..., ::-1, :], a[..., ::-1, :])):
        close(linalg.inv(x), np.linalg.inv(same))
        sign, logarithm = np.linalg.slogdet(same)
        close(linalg.slogdet(x).sign, sign)
        close(linalg.slogdet(x).logabsdet, logarithm)
        if shape[-1] < 10:
            close(linalg.det(x), np.linalg.det(same))


@pytest.mark.parametrize("dtype", INEXACT)
def test_solve(dtype, rng):
    for a_shape, b_shape in (
        ((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (2, 3, 4)), ((3, 3), (5, 3, 4)),
        ((50, 50), (50, 7)),
        ((2, 40, 40), (40, 3)), ((5, 13, 13), (13, 33)), ((32, 32), (32, 32)), ((3, 9, 9), (9,)),
        ((0, 0), (0, 2)), ((0, 0), (0,)), ((3, 3), (3, 0)),
    ):  # fmt: skip
        a = matrix(dtype, a_shape, rng) + 3 * a_shape[-1] * np.eye(a_shape[-1], dtype=dtype)
        b = matrix(dtype, b_shape, rng)
        close(linalg.solve(iruka.array(a), iruka.array(b)), np.linalg.solve(a, b))
        close(linalg.solve(iruka.array(a).mT, iruka.array(b)), np.linalg.solve(a.mT, b))


def test_integers_are_computed_in_float64(rng):
    a = np.array([[4, 1], [2, 3]])
    x = iruka.array(a.astype("int8"))
    close(linalg.inv(x), np.linalg.inv(a))
    close(linalg.det(x), np.linalg.det(a))
    close(linalg.solve(x, iruka.array(np.array([1, 2]))), np.linalg.solve(a, [1, 2]))
    close(linalg.svdvals(x), np.linalg.svdvals(a))
    close(linalg.norm(x, 2), np.linalg.norm(a, 2))
    for dtype in ("float16", "bfloat16"):
        for function in (linalg.inv, linalg.det, linalg.svd, linalg.qr, linalg.eigh, linalg.cholesky, linalg.eigvals):
            with pytest.raises(errors.TypeError, match=f"{dtype} is unsupported in linalg"):
                function(iruka.eye(2).astype(dtype))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky(dtype, shape, rng):
    a = hermitian(dtype, shape, rng, definite=True)
    close(linalg.cholesky(iruka.array(a)), np.linalg.cholesky(a))
    close(linalg.cholesky(iruka.array(a), upper=True), np.linalg.cholesky(a, upper=True))
    half = np.tril(a)
    close(linalg.cholesky(iruka.array(half)), np.linalg.cholesky(half))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(dtype, shape, rng):
    a = matrix(dtype, shape, rng)
    for mode in ("reduced", "complete"):
        expected = np.linalg.qr(a, mode)
        q, r = linalg.qr(iruka.array(a), mode)
        assert q.shape == expected.Q.shape and q.dtype == a.dtype
        close(r, np.triu(iruka.asnumpy(r)))
        q, r = iruka.asnumpy(q), iruka.asnumpy(r)
        close(iruka.array(q @ r), a)
        close(
            iruka.array(adjoint(q) @ q),
            np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), adjoint(q).shape[:-1] + q.shape[-1:]),
        )
    close(linalg.qr(iruka.array(a), "r"), iruka.asnumpy(linalg.qr(iruka.array(a)).R))
    h, tau = linalg.qr(iruka.array(a), "raw")
    expected = np.linalg.qr(a, "raw")
    assert h.shape == expected[0].shape and tau.shape == expected[1].shape


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(dtype, shape, rng):
    a = matrix(dtype, shape, rng)
    for full in (True, False):
        expected = np.linalg.svd(a, full)
        result = linalg.svd(iruka.array(a), full)
        close(result.S, expected.S)
        assert result.U.shape == expected.U.shape and result.Vh.shape == expected.Vh.shape
        u, s, vh = map(iruka.asnumpy, result)
        k = s.shape[-1]
        close(iruka.array((u[..., :k] * s[..., None, :]) @ vh[..., :k, :]), a)
        close(iruka.array(u @ adjoint(u)) if full else iruka.array(adjoint(u) @ u),
              np.broadcast_to(np.eye(u.shape[-1], dtype=dtype), u.shape[:-2] + (u.shape[-1],) * 2))  # fmt: skip
    close(linalg.svdvals(iruka.array(a)), expected.S)
    close(linalg.svd(iruka.array(a), compute_uv=False), expected.S)


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SQUARE)
def test_eigh(dtype, shape, rng):
    a = hermitian(dtype, shape, rng)
    values, vectors = linalg.eigh(iruka.array(a))
    close(values, np.linalg.eigvalsh(a))
    w, v = iruka.asnumpy(values), iruka.asnumpy(vectors)
    close(iruka.array(a @ v), (v * w[..., None, :]).astype(dtype))
    close(linalg.eigvalsh(iruka.array(np.tril(a))), np.linalg.eigvalsh(a))
    close(linalg.eigvalsh(iruka.array(np.triu(a)), "U"), np.linalg.eigvalsh(a))
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(iruka.array(a), "X")


@pytest.mark.parametrize("dtype", INEXACT)
def test_eig(dtype, rng):
    for shape in ((1, 1), (6, 6), (2, 3, 4, 4), (30, 30), (0, 0)):
        a = matrix(dtype, shape, rng)
        values, vectors = linalg.eig(iruka.array(a))
        expected = np.linalg.eigvals(a).astype(
            np.result_type(dtype, "complex64")
        )  # real ones are real before NumPy 2.5
        assert vectors.dtype == values.dtype and values.dtype == expected.dtype and values.shape == expected.shape
        w, v = iruka.asnumpy(values), iruka.asnumpy(vectors)
        close(iruka.array(a @ v), (v * w[..., None, :]))
        close(iruka.array(np.sort_complex(iruka.asnumpy(linalg.eigvals(iruka.array(a))))), np.sort_complex(w), 1e4)
    symmetric = iruka.array(hermitian(dtype, (5, 5), rng).real)
    values, vectors = linalg.eig(symmetric)
    assert values.dtype == vectors.dtype == linalg.eigvals(symmetric).dtype == expected.dtype
    close(iruka.array(np.sort(iruka.asnumpy(values.real))), np.linalg.eigvalsh(iruka.asnumpy(symmetric)))
    with pytest.raises(errors.LinAlgError, match="infs or NaNs"):
        linalg.eig(iruka.full((2, 2), np.nan))


def test_singular_and_wrong_matrices():
    singular = iruka.array(np.array([[1.0, 2.0], [2.0, 4.0]]))
    stack = iruka.array(np.array([np.eye(2), [[1.0, 2.0], [2.0, 4.0]]]))
    for call in (
        lambda: linalg.inv(singular),
        lambda: linalg.inv(stack),
        lambda: linalg.inv(iruka.zeros((3, 3), "float32")),
        lambda: linalg.solve(singular, iruka.ones(2)),
        lambda: linalg.matrix_power(singular, -1),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as caught:
            call()
        assert isinstance(caught.value, errors.LinAlgError) and isinstance(caught.value, ValueError)
    for wrong in (-iruka.eye(3), stack - iruka.array(np.eye(2))):
        with pytest.raises(errors.LinAlgError, match="not positive definite"):
            linalg.cholesky(wrong)
    for shape in ((3, 3), (2, 4, 3)):
        undefined = np.ones(shape)
        undefined[..., -1, 1] = np.nan
        with pytest.raises(errors.LinAlgError, match="SVD did not converge"):
            linalg.svd(iruka.array(undefined))
    with pytest.raises(errors.LinAlgError, match="Singular matrix"):
        linalg.solve(singular, iruka.ones((2, 0)))
    assert float(linalg.det(singular)) == 0
    assert float(linalg.slogdet(singular).logabsdet) == -np.inf
    for function in (linalg.inv, linalg.det, linalg.slogdet, linalg.cholesky, linalg.eigh, linalg.eig, linalg.eigvalsh):
        with pytest.raises(errors.LinAlgError, match="square"):
            function(iruka.ones((2, 3)))
        with pytest.raises(errors.LinAlgError, match="two-dimensional"):
            function(iruka.ones(3))
    for function in (linalg.svd, linalg.qr, linalg.pinv, linalg.cond, linalg.svdvals):
        with pytest.raises(errors.LinAlgError, match="two-dimensional"):
            function(iruka.ones(3))
    with pytest.raises(ValueError, match="core dimension 0"):
        linalg.solve(iruka.eye(3), iruka.ones((2, 2)))
    with pytest.raises(ValueError, match="mode"):
        linalg.qr(iruka.eye(3), "full")


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_pinv_rank_lstsq(dtype, rng):
    a = matrix(dtype, (6, 2), rng) @ matrix(dtype, (2, 5), rng)
    close(linalg.pinv(iruka.array(a), rcond=1e-5), np.linalg.pinv(a, rcond=1e-5))
    close(linalg.pinv(iruka.array(a), rtol=1e-5), np.linalg.pinv(a, rtol=1e-5))
    assert int(linalg.matrix_rank(iruka.array(a))) == 2 and int(linalg.matrix_rank(iruka.ones(3))) == 1
    stack = np.stack([a, np.zeros_like(a)])
    assert iruka.asnumpy(linalg.matrix_rank(iruka.array(stack))).tolist() == [2, 0]
    assert int(linalg.matrix_rank(iruka.array(a), tol=1e3)) == 0
    for shape, sides in (((8, 3), (8,)), ((8, 3), (8, 2)), ((3, 5), (3, 2)), ((4, 4), (4,))):
        a, b = matrix(dtype, shape, rng), matrix(dtype, sides, rng)
        x, rest, rank, s = linalg.lstsq(iruka.array(a), iruka.array(b))
        expected = np.linalg.lstsq(a, b)
        close(x, expected[0])
        close(rest, expected[1])
        assert rank == expected[2]
        close(s, expected[3])
    with pytest.raises(ValueError, match="both"):
        linalg.pinv(iruka.eye(2), 0.1, rtol=0.1)
    with pytest.raises(errors.LinAlgError, match="Incompatible"):
        linalg.lstsq(iruka.ones((3, 2)), iruka.ones(4))


def test_powers_and_chains(rng):
    a = matrix("float64", (2, 3, 3), rng)
    for n in (0, 1, 2, 3, 7, -1, -3):
        close(linalg.matrix_power(iruka.array(a), n), np.linalg.matrix_power(a, n), 1e5)
    integers = np.array([[1, 1], [1, 0]])
    close_integers = iruka.asnumpy(linalg.matrix_power(iruka.array(integers), 40))
    np.testing.assert_array_equal(close_integers, np.linalg.matrix_power(integers, 40))
    with pytest.raises(TypeError):
        linalg.matrix_power(iruka.eye(2), 1.5)
    chain = [matrix("float64", shape, rng) for shape in ((10, 30), (30, 5), (5, 60), (60, 4))]
    close(linalg.multi_dot([iruka.array(x) for x in chain]), np.linalg.multi_dot(chain))
    chain = [chain[0][0], *chain[1:3], chain[3][:, 0]]
    close(linalg.multi_dot([iruka.array(x) for x in chain]), np.linalg.multi_dot(chain))
    with pytest.raises(ValueError, match="at least two"):
        linalg.multi_dot([iruka.eye(2)])


def test_tensor_equations(rng):
    a = matrix("float64", (2, 3, 6), rng)
    b = matrix("float64", (2, 3), rng)
    close(linalg.tensorsolve(iruka.array(a), iruka.array(b)), np.linalg.tensorsolve(a, b))
    close(linalg.tensorsolve(iruka.array(a.transpose(2, 0, 1)), iruka.array(b), (0,)),
          np.linalg.tensorsolve(a.transpose(2, 0, 1), b, (0,)))  # fmt: skip
    close(linalg.tensorinv(iruka.array(a), 2), np.linalg.tensorinv(a, 2))
    with pytest.raises(ValueError, match="ind"):
        linalg.tensorinv(iruka.array(a), 0)
    with pytest.raises(errors.LinAlgError):
        linalg.tensorsolve(iruka.array(a), iruka.ones(5))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 2, 3)])
@pytest.mark.parametrize("order", [None, 1, 2, np.inf, "fro", "nuc"])
def test_norms_of_matrices_without_elements_are_zero(shape, order):
    x = np.zeros(shape, "float32")
    expected = np.linalg.norm(x, order, axis=(-2, -1))
    actual = iruka.asnumpy(linalg.norm(iruka.asarray(x), order, axis=(-2, -1)))
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)
    assert float(linalg.norm(iruka.zeros(0), np.inf)) == 0


@beyond_numbers
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int32"])
def test_matrix_norms(dtype, rng):
    a = (
        (matrix("complex128", (2, 4, 3), rng) * 9).real.astype(dtype)
        if dtype == "int32"
        else matrix(dtype, (2, 4, 3), rng)
    )
    x = iruka.array(a)
    for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        close(linalg.norm(x, order, axis=(1, 2)), np.linalg.norm(a, order, axis=(1, 2)))
        close(linalg.norm(x, order, axis=(2, 0), keepdims=True), np.linalg.norm(a, order, axis=(2, 0), keepdims=True))
        close(linalg.norm(x[0], order), np.linalg.norm(a[0], order))
        if order is not None:
            close(linalg.matrix_norm(x, ord=order), np.linalg.matrix_norm(a, ord=order))
    for order in (0, 1, 2, 3.5, np.inf, -np.inf, -1):
        close(linalg.vector_norm(x, ord=order, axis=(0, 2)), np.linalg.vector_norm(a, ord=order, axis=(0, 2)))
        close(linalg.vector_norm(x, ord=order, axis=(0, 2), keepdims=True),
              np.linalg.vector_norm(a, ord=order, axis=(0, 2), keepdims=True))  # fmt: skip
        close(linalg.vector_norm(x, ord=order), np.linalg.vector_norm(a, ord=order))
    for order, axis in (("bad", (0, 1)), (3, (0, 1)), ("fro", 0), (None, (0, 1, 2)), (1, None)):
        with pytest.raises(ValueError):
            linalg.norm(x, order, axis=axis)


def test_condition(rng):
    a = matrix("float64", (3, 4, 4), rng)
    for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"):
        close(linalg.cond(iruka.array(a), p), np.linalg.cond(a, p), 1e5)
    assert float(linalg.cond(iruka.zeros((2, 2)), 1)) == np.inf and float(linalg.cond(iruka.zeros((2, 2)))) == np.inf
    with pytest.raises(errors.LinAlgError, match="empty"):
        linalg.cond(iruka.zeros((0, 0)))


def test_names_of_the_array_api():
    names = """cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank
        matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm""".split()
    assert len(names) == 25 and all(callable(getattr(linalg, name)) for name in names)
    public = [
        name
        for name in dir(np.linalg)
        if not name.startswith("_") and name != "test" and callable(getattr(np.linalg, name))
    ]
    assert [name for name in public if not hasattr(linalg, name)] == []
    close(linalg.outer(iruka.ones(2), iruka.ones(3)), np.ones((2, 3)))
    close(linalg.cross(iruka.array([1.0, 0, 0]), iruka.array([0, 1.0, 0])), np.array([0, 0, 1.0]))
    with pytest.raises(ValueError, match="one-dimensional"):
        linalg.outer(iruka.ones((2, 2)), iruka.ones(3))


def test_dtypes_of_ranks_and_of_empty_inverses():
    a, b = np.array([[1.0, 2], [3, 4], [5, 6]]), np.ones(3)
    assert type(iruka.linalg.lstsq(iruka.array(a), iruka.array(b))[2]) is type(np.linalg.lstsq(a, b)[2])
    for dtype, shape in itertools.product(("int32", "float32", "bool"), ((2, 0, 3), (0, 2, 3))):
        empty = np.zeros(shape, dtype)
        own, expected = iruka.linalg.pinv(iruka.array(empty)), np.linalg.pinv(empty)
        assert own.dtype == expected.dtype and own.shape == expected.shape


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_singular_matrices_are_refused_where_lapack_does(dtype):
    rng = np.random.default_rng(7)
    for n in (2, 3, 5, 8, 17, 40):
        for _ in range(10):
            x = rng.integers(-4, 5, (n, n)).astype(dtype)
            x[:, rng.integers(1, n)] = x[:, 0]  # whose pivot is exactly 0, as both columns take the same steps
            with pytest.raises(np.linalg.LinAlgError):
                np.linalg.inv(x)
            for call in (lambda a: linalg.inv(a), lambda a: linalg.solve(a, a[0])):
                with pytest.raises(errors.LinAlgError, match="Singular"):
                    call(iruka.asarray(x))
    for scale in (1e-30, 1e30):  # small or large is not singular
        y = (np.eye(5) + rng.random((5, 5))).astype("float64") * scale
        np.testing.assert_allclose(iruka.asnumpy(linalg.inv(iruka.asarray(y))), np.linalg.inv(y), rtol=1e-9)


def test_least_squares_of_halves_and_conditions_of_no_matrices():
    for m in (np, iruka):
        for a, b in (("float16", "float64"), ("float64", "float16")):
            with pytest.raises(TypeError, match="float16 is unsupported"):
                m.linalg.lstsq(m.eye(2, dtype=a), m.ones(2, dtype=b))
        assert m.linalg.cond(m.zeros((0, 2, 2))).shape == (0,)
        for shape in ((2, 0, 0), (0, 0)):
            with pytest.raises(m.linalg.LinAlgError, match="not defined on empty arrays"):
                m.linalg.cond(m.zeros(shape))


def test_orders_of_norms_that_are_no_real_numbers():
    for m in (np, iruka):
        x = m.arange(4.0)
        for order, error in ((10**400, OverflowError), (1j, TypeError)):
            with pytest.raises(error):
                m.linalg.norm(x, order, axis=0)


def test_a_share_of_least_squares_may_be_an_array_of_one_element():
    a, b = np.array([[1.0, 0.0], [0.0, 0.1], [0.0, 0.0]]), np.array([1.0, 2.0, 3.0])
    for share in (np.array([0.5]), np.array([[0.5]]), np.array(0.5), iruka.array([0.5])):
        x, rest, rank, values = iruka.linalg.lstsq(iruka.asarray(a), iruka.asarray(b), rcond=share)
        for got, expected in zip((x, rest, rank, values), np.linalg.lstsq(a, b, rcond=0.5), strict=True):
            np.testing.assert_allclose(iruka.asnumpy(got), expected, 1e-12)
    for share in (np.array([0.1, 0.2]), np.array([0.1j])):
        with pytest.raises(TypeError, match="rcond must be a real number"):
            iruka.linalg.lstsq(iruka.asarray(a), iruka.asarray(b), rcond=share)


@pytest.mark.parametrize("share", [None, -1, -0.5, 0, 1e-30, 0.5, 0.99, 1, 2, 10.0, np.inf, True])
def test_least_squares_with_any_share(share):
    a, b = np.array([[1.0, 0.0], [0.0, 1e-20], [0.0, 0.0]]), np.array([1.0, 2.0, 3.0])
    x, rest, rank, values = iruka.linalg.lstsq(iruka.asarray(a), iruka.asarray(b), rcond=share)
    expected_x, expected_rest, expected_rank, expected_values = np.linalg.lstsq(a, b, rcond=share)
    assert rank == expected_rank and rest.shape == expected_rest.shape
    for got, expected in ((x, expected_x), (values, expected_values), (rest, expected_rest)):
        np.testing.assert_allclose(iruka.asnumpy(got), expected, 1e-12)
