"""Products of vectors, matrices and arrays, and einsum, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, assert_close, assert_same, kind, layouts, run_python, values
from iruka import errors

RNG = np.random.default_rng(7)


def check(actual, expected, dtype=None, terms=64):
    """Equal, or within a few units in the last place of what a sum of `terms` products can hold."""
    expected = np.asarray(expected)
    dtype = expected.dtype if dtype is None else dtype
    assert actual.shape == expected.shape and actual.dtype == dtype, (actual.shape, expected.shape, actual.dtype, dtype)
    actual = iruka.asnumpy(actual)
    if kind(dtype) in "biu":
        np.testing.assert_array_equal(actual, expected)
    elif dtype == BFLOAT16 or kind(dtype) == "f" and dtype.itemsize == 2:
        assert_close(actual, expected, dtype, 2)
    else:
        scale = max(1.0, float(np.abs(expected).max())) if expected.size else 1.0
        assert np.abs(actual - expected).max(initial=0) <= terms * np.finfo(dtype).eps * scale


def wide(x):
    return x.astype("float32") if kind(x.dtype) == "f" and x.dtype.itemsize == 2 else x


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_matmul_of_every_dtype(dtype, rng):
    for m, k, n in ((1, 1, 1), (3, 4, 5), (1, 7, 1), (66, 130, 35)):
        a, b = values(dtype, (m, k), rng), values(dtype, (k, n), rng)
        for _, left, same in layouts(a):
            check(iruka.matmul(left, iruka.array(b)), wide(same) @ wide(b), dtype)
        for _, right, same in layouts(b):
            check(iruka.array(a) @ right, wide(a) @ wide(same), dtype)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int32", "int8", "bool"])
@pytest.mark.parametrize(
    "left, right",
    [
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((7, 3, 4), (7, 4, 5)),
        ((4,), (4,)),
        ((4,), (2, 4, 3)),
        ((2, 3, 4), (4,)),
        ((3, 0), (0, 2)),
        ((0, 4), (4, 2)),
        ((0, 3, 4), (4, 2)),
        ((2, 3, 4), (2, 4, 0)),
    ],
)
def test_shapes_of_matmul(dtype, left, right, rng):
    a, b = values(dtype, left, rng), values(dtype, right, rng)
    check(iruka.array(a) @ iruka.array(b), a @ b)


@given(st.lists(st.integers(0, 3), max_size=2), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.data())
def test_matmul_of_views(batch, m, k, n, data):
    """Steps, negative strides and transposes of integers are exact."""
    a = np.arange(int(np.prod([*batch, m, k], dtype=int)) * 2, dtype="int64").reshape([*batch, m, 2 * k])
    b = np.arange(n * k * 2, dtype="int64").reshape([2 * n, k])
    steps = data.draw(st.sampled_from([(2, 1), (-2, -1), (2, -1)]))
    x, y = iruka.array(a)[..., :: steps[0]], iruka.array(b)[: 2 * n : 2, :: steps[1]].T
    check(x @ y, a[..., :: steps[0]] @ b[: 2 * n : 2, :: steps[1]].T)
    check(x.astype("float64") @ y, a[..., :: steps[0]].astype("float64") @ b[: 2 * n : 2, :: steps[1]].T)


def test_promotion_and_operators(rng):
    a, b = values("int32", (3, 4), rng), values("float32", (4, 2), rng)
    check(iruka.array(a) @ iruka.array(b), a @ b)
    check(a @ iruka.array(b), a @ b)
    check(iruka.array(b).T @ a.T, b.T @ a.T)
    c = iruka.array(np.eye(3))
    kept = c
    c @= iruka.array(np.full((3, 3), 2.0))
    assert c is kept
    check(c, np.full((3, 3), 2.0))
    for call in (lambda: iruka.ones(3) @ 2, lambda: 2 @ iruka.ones(3), lambda: iruka.ones((2, 3)) @ iruka.ones((2, 3))):
        with pytest.raises((TypeError, ValueError)):
            call()


def test_integers_wrap():
    a = np.full((5, 300), 100, dtype="int8")
    check(iruka.array(a) @ iruka.array(a.T), a @ a.T)
    big = np.full((2, 3), 2**62, dtype="int64")
    check(iruka.array(big) @ iruka.array(big.T), big @ big.T)


def test_out(rng):
    a, b = values("float32", (3, 4), rng), values("float32", (4, 2), rng)
    for out in (iruka.empty((3, 2), "float32"), iruka.empty((3, 2)), iruka.empty((2, 3), "float32").T):
        assert iruka.matmul(iruka.array(a), iruka.array(b), out=out) is out
        check(out, (a @ b).astype(out.dtype))
    square = iruka.array(a[:, :3])
    iruka.matmul(square, square, out=square)
    check(square, a[:, :3] @ a[:, :3])
    with pytest.raises(errors.ShapeError, match=r"out has shape \(2, 3\), the result \(3, 2\)"):
        iruka.matmul(iruka.array(a), iruka.array(b), out=iruka.empty((2, 3), "float32"))
    with pytest.raises(errors.TypeError, match="same_kind"):
        iruka.matmul(iruka.array(a), iruka.array(b), out=iruka.empty((3, 2), "int32"))
    with pytest.raises(errors.ShapeError, match="mismatch in its core dimension"):
        iruka.matmul(iruka.array(a), iruka.array(a))
    with pytest.raises(errors.ShapeError, match="enough dimensions"):
        iruka.matmul(iruka.array(a), iruka.array(2.0))
    with pytest.raises(errors.TypeError, match="casting|rule"):
        iruka.matmul(iruka.array(a), iruka.array(b), dtype="int32")
    check(iruka.matmul(iruka.array(a), iruka.array(b), dtype="float64"), np.matmul(a, b, dtype="float64"))


PAIRS = [((), ()), ((), (3,)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 5, 3), (4, 3, 2))]


@pytest.mark.parametrize("dtype", ["float64", "complex64", "int16", "bool"])
def test_dot_inner_outer_vdot_kron(dtype, rng):
    for left, right in PAIRS:
        a, b = values(dtype, left, rng), values(dtype, right, rng)
        x, y = iruka.array(a), iruka.array(b)
        check(iruka.dot(x, y), np.dot(a, b))
        check(iruka.outer(x, y), np.outer(a, b))
        check(iruka.kron(x, y), np.kron(a, b))
        if a.size == b.size:
            check(iruka.vdot(x, y), np.vdot(a, b))
    a, b = values(dtype, (2, 3), rng), values(dtype, (4, 5, 3), rng)
    check(iruka.inner(iruka.array(a), iruka.array(b)), np.inner(a, b))
    check(iruka.vecdot(iruka.array(a), iruka.array(b[:, :2])), np.vecdot(a, b[:, :2]))
    check(iruka.vecdot(iruka.array(a[0]), iruka.array(a[1])), np.vecdot(a[0], a[1]))
    check(iruka.vecdot(iruka.array(a), iruka.array(a), axis=0), np.vecdot(a, a, axis=0))
    check(iruka.matvec(iruka.array(b), iruka.array(a[0])), np.matvec(b, a[0]))
    check(iruka.vecmat(iruka.array(a[0]), iruka.array(b).mT), np.vecmat(a[0], b.mT))
    check(iruka.array(a).dot(iruka.array(b[0].T)), a.dot(b[0].T))
    with pytest.raises(ValueError):
        iruka.vdot(iruka.ones(3), iruka.ones(4))
    with pytest.raises(ValueError):
        iruka.vecdot(iruka.ones(3), iruka.ones(4))


@pytest.mark.parametrize("axes", [0, 1, 2, ((1, 2), (0, 1)), (2, 1), ((-1,), (-2,)), ((), ())])
def test_tensordot(axes, rng):
    a, b = values("float64", (2, 3, 3), rng), values("float64", (3, 3, 4), rng)
    check(iruka.tensordot(iruka.array(a), iruka.array(b), axes), np.tensordot(a, b, axes))
    with pytest.raises(ValueError, match="shape-mismatch"):
        iruka.tensordot(iruka.array(a), iruka.array(b), ((0,), (0,)))


def test_cross_and_trace(rng):
    a, b = values("float64", (4, 3), rng), values("float64", (3,), rng)
    check(iruka.cross(iruka.array(a), iruka.array(b)), np.cross(a, b))
    check(iruka.cross(iruka.array(a.T), iruka.array(a.T), axis=0), np.cross(a.T, a.T, axis=0))
    check(iruka.cross(iruka.array(a.T), iruka.array(b), axisa=0, axisc=0), np.cross(a.T, b, axisa=0, axisc=0))
    with pytest.raises(ValueError):
        iruka.cross(iruka.ones(4), iruka.ones(4))
    x = values("int16", (3, 4, 5), rng)
    for offset in (0, 1, -2, 7, -7):
        check(iruka.trace(iruka.array(x), offset), np.trace(x, offset))
        check(iruka.array(x).trace(offset, 2, 0), np.trace(x, offset, 2, 0))
    check(iruka.trace(iruka.array(x), dtype="float32"), np.trace(x, dtype="float32"))
    check(iruka.linalg.trace(iruka.array(x), offset=1), np.linalg.trace(x, offset=1))
    check(iruka.linalg.diagonal(iruka.array(x), offset=-1), np.linalg.diagonal(x, offset=-1))
    check(iruka.array(x).mT, x.mT)
    for call in (
        lambda: iruka.trace(iruka.ones(3)),
        lambda: iruka.ones(3).mT,
        lambda: iruka.matrix_transpose(iruka.ones(3)),
    ):
        with pytest.raises(ValueError):
            call()


EINSUMS = [
    "ij,jk->ik", "ij,jk", "ij->ji", "ii", "ii->i", "ij->", "i,i", "i,j->ij", "ij,ij->ij", "ij,ij", "bij,bjk->bik",
    "...ij,...jk->...ik", "i...,i...->...", "ijk,kl,lm->ijm", "ij,kj,lj->ikl", "iij->ij", "ij,j->i", "ab,bc,cd,da",
    "ij,i,j",
    "iji,j->ij", "abc,cd->abd",
]  # fmt: skip


@pytest.mark.parametrize("subscripts", EINSUMS)
@pytest.mark.parametrize("optimize", [False, True, "optimal"])
def test_einsum(subscripts, optimize, rng):
    terms = subscripts.partition("->")[0].split(",")
    shapes = [tuple(4 for _ in term.replace("...", "XY")) for term in terms]
    for dtype in ("float64", "int32"):
        operands = [values(dtype, shape, rng) for shape in shapes]
        expected = np.einsum(subscripts, *operands, optimize=optimize)
        actual = iruka.einsum(subscripts, *map(iruka.array, operands), optimize=optimize)
        check(actual, expected, terms=512)


def test_einsum_in_other_ways(rng):
    a, b = values("float64", (3, 4), rng), values("float64", (4, 5), rng)
    x, y = iruka.array(a), iruka.array(b)
    check(iruka.einsum(x, [0, 1], y, [1, 2], [0, 2]), a @ b)
    check(iruka.einsum(x, [0, 1], y, [1, 2]), a @ b)
    check(iruka.einsum("ij,jk", x, y, dtype="complex128"), np.einsum("ij,jk", a, b, dtype="complex128"))
    out = iruka.empty((3, 5))
    assert iruka.einsum("ij,jk->ik", x, y, out=out) is out
    check(out, a @ b)
    check(iruka.einsum("ij,jk->ik", x[:, :1], y), np.einsum("ij,jk->ik", a[:, :1], b))
    check(iruka.einsum("bij,jk->bik", iruka.ones((2, 3, 4)), y), np.einsum("bij,jk->bik", np.ones((2, 3, 4)), b))
    truth = np.array([[True, False], [False, False]])
    check(iruka.einsum("ij,jk", iruka.array(truth), iruka.array(truth)), np.einsum("ij,jk", truth, truth))
    diagonal = iruka.einsum("ii->i", iruka.eye(3))
    diagonal[...] = 5
    check(diagonal, np.full(3, 5.0))
    for bad in ("ij,jk,kl", "ijk,jk", "ij,kl->iz", "ij,jk->ii", "i$,jk"):
        with pytest.raises(ValueError):
            iruka.einsum(bad, x, y)
    with pytest.raises(ValueError, match="extents"):
        iruka.einsum("ij,ik", x, y)
    with pytest.raises(TypeError, match="safe"):
        iruka.einsum("ij,jk", x, y, dtype="float32")
    assert iruka.einsum_path("ij,jk,kl", x, y, iruka.ones((5, 2)))[0][0] == "einsum_path"


@pytest.mark.cpu_only
def test_a_child_of_fork_multiplies():
    done = run_python("""
import os, iruka
x = iruka.ones((300, 300))
assert float((x @ x)[0, 0]) == 300
child = os.fork()
if child == 0:
    os._exit(0 if float((x @ x)[5, 7]) == 300 and float(iruka.linalg.det(iruka.eye(200))) == 1 else 1)
assert os.waitpid(child, 0)[1] == 0
assert float((x @ x)[1, 1]) == 300
""")
    assert done.returncode == 0, done.stderr


def test_products_with_the_own_transpose():
    for dtype in ("float32", "float64", "complex64", "int32"):
        x = RNG.integers(-3, 4, (70, 33)).astype(dtype)
        a = iruka.array(x)
        check(a.T @ a, x.T @ x)
        check(a @ a.T, x @ x.T)
        check(a[::2] @ a[::2].T, x[::2] @ x[::2].T)
        check(a[:33] @ a[:33], x[:33] @ x[:33])
        check(a[:1].T @ a[:1], x[:1].T @ x[:1])


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 70, 3), (5, 64, 64), (40, 3, 130), (3, 0, 4)])
def test_products_of_booleans(shape):
    m, k, n = shape
    x, y = RNG.random((2, m, k)) < 0.2, RNG.random((2, k, n)) < 0.2
    a, b = iruka.array(x), iruka.array(y)
    check(a @ b, x @ y)
    check(a[0] @ b, x[0] @ y)
    check(b.mT @ a.mT, y.mT @ x.mT)
    check(a[0] @ b[0, :, 0], x[0] @ y[0, :, 0])


@pytest.mark.parametrize("extents", [(2, 2, 2), (3, 5, 4), (4, 4, 4), (8, 8, 8), (7, 3, 9), (1, 6, 5), (5, 6, 1)])
def test_stacks_of_small_matrices(extents):
    m, k, n = extents
    for dtype in ("float32", "float64", "complex64"):
        x, y = RNG.integers(-3, 4, (6, m, k)).astype(dtype), RNG.integers(-3, 4, (6, k, n)).astype(dtype)
        a, b = iruka.array(x), iruka.array(y)
        check(a @ b, x @ y)
        check(b.mT @ a.mT, y.mT @ x.mT)
        check(a @ b[:1], x @ y[:1])
        check(a[::2] @ b[::2], x[::2] @ y[::2])


@pytest.mark.parametrize(
    "subscripts", ["ij,jk->ik", "ij,kj->ki", "ij,ik->kj", "ij,ij->", "ij,jk", "ij,ji->i", "ij,jk->k"]
)
def test_einsum_of_two_matrices_again_and_with_other_shapes(subscripts):
    for extent in (3, 4, 3, 1):
        x, y = RNG.integers(-3, 4, (2, extent, extent)).astype("float64")
        check(iruka.einsum(subscripts, iruka.array(x), iruka.array(y)), np.einsum(subscripts, x, y))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_stacks_times_turned_parts_of_themselves(dtype, rng):
    x = rng.random((4, 20, 20)).astype(dtype)
    a = iruka.array(x)
    for ours, theirs in (
        (a[0] @ a.transpose(0, 2, 1), x[0] @ x.transpose(0, 2, 1)),
        (a.transpose(0, 2, 1) @ a[0], x.transpose(0, 2, 1) @ x[0]),
        (a[::2] @ a[:2].transpose(0, 2, 1), x[::2] @ x[:2].transpose(0, 2, 1)),
        (a[:1] @ a.mT, x[:1] @ x.transpose(0, 2, 1)),
        (a @ a.mT, x @ x.transpose(0, 2, 1)),
    ):
        np.testing.assert_allclose(iruka.asnumpy(ours), theirs, rtol=1e-4)


def test_out_is_an_array():
    for m in (np, iruka):
        x, y = m.arange(3.0), m.ones((3, 3))
        for function in (lambda out: m.dot(x, x, out), lambda out: m.dot(y, y, out=out), lambda out: y.dot(y, out)):
            for out in (5, [1.0]):
                with pytest.raises(TypeError, match="out"):
                    function(out)


def test_out_of_folded_booleans(rng):
    # A GPU folds the rows of all matrices, and computes that many in another dtype.
    a, b = rng.random((1000, 8, 200)) < 0.02, rng.random((200, 8)) < 0.02
    out = iruka.zeros((1000, 8, 8), "bool")
    assert iruka.matmul(iruka.array(a), iruka.array(b), out=out) is out
    assert_same(out, a @ b)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_cross_of_two_elements(rng):
    def in_space(x):  # NumPy 2.5 accepts only vectors of three elements
        return np.concatenate([x, np.zeros((*x.shape[:-1], 3 - x.shape[-1]), x.dtype)], -1)

    for a, b in (((2,), (2,)), ((4, 2), (4, 3)), ((4, 3), (2,)), ((4, 2), (4, 2))):
        x, y = rng.integers(-5, 5, a), rng.integers(-5, 5, b)
        expected = np.cross(in_space(x), in_space(y))
        assert_same(iruka.cross(iruka.array(x), iruka.array(y)), expected[..., 2] if a[-1] == b[-1] == 2 else expected)
    with pytest.raises(ValueError):
        iruka.cross(iruka.ones(4), iruka.ones(3))
    with pytest.warns(DeprecationWarning):
        iruka.cross(iruka.ones(2), iruka.ones(2))
    with pytest.raises(ValueError):
        iruka.linalg.cross(iruka.ones(2), iruka.ones(2))


def test_products_with_a_number_are_in_c_order():
    x = iruka.asarray(np.asfortranarray(np.ones((3, 4))))
    assert iruka.dot(x, 2).flags.c_contiguous and iruka.inner(2, x).flags.c_contiguous


def test_axes_dtype_and_casting_of_products(rng):
    a, b = rng.integers(-9, 9, (3, 2, 4)) / 4, rng.integers(-9, 9, (4, 3, 5)) / 4
    axes = [(1, 2), (0, 2), (2, 0)]
    expected = np.matmul(a, b, axes=axes)
    assert_same(iruka.matmul(iruka.array(a), iruka.array(b), axes=axes), expected)
    assert_same(iruka.matmul(iruka.array(a), iruka.array(b[:, 0, 0]), axes=[(1, 2), 0, 1]),
                np.matmul(a, b[:, 0, 0], axes=[(1, 2), 0, 1]))  # fmt: skip
    with pytest.raises(ValueError, match="3 arrays, not 2"):
        iruka.matmul(iruka.array(a), iruka.array(b), axes=axes[:2])
    whole = np.arange(6).reshape(2, 3)
    for name, other in (
        ("matmul", whole.T),
        ("vecdot", whole),
        ("matvec", whole[0]),
        ("vecmat", np.stack([whole.T] * 2)),
    ):
        function = getattr(iruka, name)
        wanted = getattr(np, name)(whole, other, dtype="float32")
        assert_same(function(iruka.array(whole), iruka.array(other), dtype="float32"), wanted)
        with pytest.raises(TypeError, match="'safe'"):
            function(iruka.array(whole), iruka.array(other), dtype="float32", casting="safe")
        out, expected = iruka.zeros(wanted.shape, "int8"), np.zeros(wanted.shape, "int8")
        with pytest.raises(TypeError, match="int8"):
            function(iruka.array(whole), iruka.array(other) * 0.5, out=out)
        getattr(np, name)(whole, other * 0.5, out=expected, casting="unsafe")
        function(iruka.array(whole), iruka.array(other) * 0.5, out=out, casting="unsafe")
        assert_same(out, expected)


def test_dot_writes_into_its_own_dtype_alone():
    x = iruka.ones((2, 2))
    for dtype in ("float32", "complex128", "int64"):
        with pytest.raises(ValueError):
            np.dot(np.ones((2, 2)), np.ones((2, 2)), out=np.zeros((2, 2), dtype))
        with pytest.raises(ValueError, match=dtype):
            iruka.dot(x, x, out=iruka.zeros((2, 2), dtype))


def test_dot_writes_where_numpy_does():
    x, out = iruka.ones((2, 3)), iruka.empty((2, 2))
    assert iruka.dot(x, x.T, out) is out and out.tolist() == [[3, 3], [3, 3]]
    for wrong in (
        iruka.empty((2, 2), dtype="float32"),
        iruka.empty((2, 3)),
        iruka.empty(4),
        iruka.empty((2, 2), order="F"),
    ):
        with pytest.raises(ValueError):
            iruka.dot(x, x.T, wrong)
