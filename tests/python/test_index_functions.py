"""take, put, nonzero, diagonals and their neighbours against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import iruka as cp
from helpers import DTYPE_IDS, DTYPES, assert_same, error_of, layouts, values


@pytest.fixture(autouse=True)
def immediate_check():
    before = cp.set_index_check("immediate")
    yield
    cp.set_index_check(before)


def assert_same_all(actual, expected):
    assert isinstance(actual, tuple) and len(actual) == len(expected)
    for ours, theirs in zip(actual, expected):
        assert_same(ours, theirs)


def assert_same_error(ours, theirs):
    """The same class and text of error."""
    expected, actual = error_of(theirs), error_of(ours)
    assert isinstance(actual, type(expected)), (actual, expected)
    assert str(actual).strip() == str(expected).strip()


SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)


@given(SHAPES, st.data())
def test_take_put_and_along_axis(shape, data):
    x = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    axis = data.draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1)))
    extent = x.size if axis is None else shape[axis]
    mode = data.draw(st.sampled_from(["raise", "wrap", "clip"]))
    reach = (-extent, extent - 1) if mode == "raise" else (-20, 20)
    index = data.draw(
        hnp.arrays(
            "int64", hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3), elements=st.integers(*reach)
        )
    )
    assert_same(cp.take(cp.array(x), cp.array(index), axis, mode=mode), np.take(x, index, axis, mode=mode))
    turned = None if axis is None else x.ndim - 1 - axis % x.ndim
    assert_same(cp.array(x).T.take(index, turned, mode=mode), x.T.take(index, turned, mode=mode))
    along = data.draw(st.integers(-len(shape), len(shape) - 1))
    where = np.argsort(np.random.default_rng(0).random(shape), axis=along)
    assert_same(cp.take_along_axis(cp.array(x), cp.array(where), along), np.take_along_axis(x, where, along))
    y, b = x.copy(), cp.array(x)
    np.put_along_axis(y, where, x * 2, along)
    cp.put_along_axis(b, cp.array(where), x * 2, along)
    assert_same(b, y)


def test_take_and_put_details():
    x = np.arange(12).reshape(3, 4)
    a = cp.array(x)
    out = cp.zeros(2, int)
    assert cp.take(a, [1, 2], out=out) is out
    assert_same(out, np.take(x, [1, 2]))
    assert_same(cp.take(5, [0, 0]), np.take(5, [0, 0]))
    assert_same(cp.take(a, 3), np.take(x, 3))
    assert_same(cp.take(a, [True, False]), np.take(x, [True, False]))
    assert_same(cp.take_along_axis(a, cp.array([[1]]), 0), np.take_along_axis(x, np.array([[1]]), 0))
    assert_same(cp.take_along_axis(a, cp.array([1, 5]), None), np.take_along_axis(x, np.array([1, 5]), None))
    for ind, v, mode in (
        ([0, -1], 7, "raise"),
        ([0, 1, 2], [5, 6], "raise"),
        ([40, -1, 3], [8, 9], "wrap"),
        ([40, -3], 1, "clip"),
        ([], 1, "raise"),
        ([2], [1.5], "raise"),
        ([[1, 2], [3, 4]], [1, 2, 3, 4, 5], "raise"),
    ):
        for transposed in (False, True):
            y, b = x.copy(), cp.array(x)
            (y.T if transposed else y).put(ind, v, mode)
            (b.T if transposed else b).put(ind, v, mode)
            assert_same(b, y)
    y, b = x.copy(), cp.array(x)
    np.put_along_axis(y, np.array([0, 7]), -1, None)
    cp.put_along_axis(b, cp.array([0, 7]), -1, None)
    assert_same(b, y)
    for call in (
        lambda m, z: m.take(z, [12]),
        lambda m, z: m.take(z, [0, 4], 1),
        lambda m, z: m.take(z, [0], 2),
        lambda m, z: m.take(z, [0], mode="round"),
        lambda m, z: m.take(z[:0], [0], 0),
        lambda m, z: m.take_along_axis(z, m.asarray([1]), 0),
        lambda m, z: m.take_along_axis(z, m.asarray([[1.0]]), 0),
        lambda m, z: m.take_along_axis(z, m.asarray([[3]]), 0),
        lambda m, z: m.take_along_axis(z, m.asarray([[1]]), None),
        lambda m, z: m.put(z, [12], 1),
        lambda m, z: m.put_along_axis(z, m.asarray([[3]]), 1, 0),
    ):
        expected, actual = error_of(lambda: call(np, x)), error_of(lambda: call(cp, a))
        wanted = IndexError if isinstance(expected, IndexError) else type(expected)
        assert isinstance(actual, wanted), (actual, expected)
    with pytest.raises(TypeError):
        cp.put([1, 2], [0], 1)
    with pytest.raises(ValueError, match="read-only"):
        cp.put(cp.broadcast_to(a, (2, 3, 4)), [0], 1)


@given(hnp.arrays("int8", hnp.array_shapes(max_dims=4, min_side=0, max_side=4), elements=st.integers(-1, 1)))
def test_nonzero(x):
    a = cp.array(x)
    assert_same_all(cp.nonzero(a), np.nonzero(x))
    assert_same_all(a.T.nonzero(), x.T.nonzero())
    assert_same(cp.argwhere(a), np.argwhere(x))
    assert_same(cp.flatnonzero(a), np.flatnonzero(x))
    assert_same_all(cp.where(a), np.where(x))


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_nonzero_of_every_dtype(dtype, rng):
    x = values(dtype, (40, 7), rng)
    if x.dtype.kind == "f":
        x[0, :3] = -0.0, np.nan, np.inf
    for _, ours, theirs in layouts(x):
        assert_same(cp.flatnonzero(ours), np.flatnonzero(np.asarray(theirs).astype(bool)))


@pytest.mark.parametrize("size", [1, 15, 16, 4095, 4096, 4097, 32768, 300000])
def test_nonzero_of_many(size, rng):
    for density in (0, 0.001, 0.5, 1):
        x = rng.random(size) < density
        assert_same(cp.flatnonzero(cp.array(x)), np.flatnonzero(x))
        assert_same(cp.flatnonzero(cp.array(x)[1:]), np.flatnonzero(x[1:]))
    assert_same(cp.argwhere(cp.array(3)), np.argwhere(3))
    assert_same(cp.argwhere(cp.array(0)), np.argwhere(0))


def test_masks():
    x = np.arange(12.0).reshape(3, 4)
    a = cp.array(x)
    mask = x % 3 == 0
    assert_same(cp.compress([True, False, True], a, 0), np.compress([True, False, True], x, 0))
    assert_same(a.compress([False, True], 1), x.compress([False, True], 1))
    assert_same(cp.compress([False, True, True], a), np.compress([False, True, True], x))
    assert_same(cp.extract(mask, a), np.extract(mask, x))
    for name, *arguments in (
        ("putmask", mask, [-1, -2, -3]),
        ("putmask", mask, -7),
        ("putmask", mask, x * 2),
        ("place", mask, [-1, -2]),
        ("place", mask, [9]),
        ("place", ~mask | mask, range(5)),
        ("copyto", -1),
    ):
        y, b = x.copy(), cp.array(x)
        getattr(np, name)(y, *arguments)
        getattr(cp, name)(b, *arguments)
        assert_same(b, y)
    assert_same_error(lambda: cp.compress([[True]], a), lambda: np.compress([[True]], x))
    assert_same_error(lambda: cp.place(cp.array(x), mask, []), lambda: np.place(x.copy(), mask, []))
    for call in (lambda m, z: m.putmask(z, [True], 1), lambda m, z: m.place(z, [True], 1)):
        with pytest.raises(ValueError, match="same size"):
            call(cp, cp.array(x))
    with pytest.raises(IndexError):
        cp.compress([False] * 4 + [True], a, 0)


def test_choose_select_piecewise():
    choices = [np.arange(4), np.arange(4) * 10, np.array(7)]
    numbers = np.array([2, 0, 1, 1])
    assert_same(cp.choose(numbers, choices), np.choose(numbers, choices))
    assert_same(cp.array(numbers).choose(choices), numbers.choose(choices))
    assert_same(cp.choose(numbers[:, None] % 2, choices), np.choose(numbers[:, None] % 2, choices))
    for mode in ("wrap", "clip"):
        assert_same(cp.choose([-4, 5, 1, 9], choices, mode=mode), np.choose([-4, 5, 1, 9], choices, mode=mode))
    assert_same(cp.choose(numbers, np.arange(12).reshape(3, 4)), np.choose(numbers, np.arange(12).reshape(3, 4)))
    for bad in ([3, 0, 0, 0], [-1, 0, 0, 0]):
        assert_same_error(lambda: cp.choose(bad, choices), lambda: np.choose(bad, choices))
    with pytest.raises(TypeError):
        cp.choose([0.5], choices)
    x = np.arange(6)
    a = cp.array(x)
    assert_same(cp.select([a < 2, a > 3], [a, a * 1.5], -1), np.select([x < 2, x > 3], [x, x * 1.5], -1))
    assert_same(cp.select([a < 2, a < 4], [a, 10]), np.select([x < 2, x < 4], [x, 10]))
    assert_same(cp.select([a[:, None] < 2], [a], 5), np.select([x[:, None] < 2], [x], 5))
    for call in (lambda m, z: m.select([], []), lambda m, z: m.select([z < 2], []), lambda m, z: m.select([z], [z])):
        assert_same_error(lambda: call(cp, a), lambda: call(np, x))
    y = x - 2.5
    b = cp.array(y)
    assert_same(cp.piecewise(b, [b < 0, b >= 0], [-1, 1]), np.piecewise(y, [y < 0, y >= 0], [-1, 1]))
    assert_same(
        cp.piecewise(b, [b < 0], [lambda v: -v, lambda v: v * 2]),
        np.piecewise(y, [y < 0], [lambda v: -v, lambda v: v * 2]),
    )
    assert_same(cp.piecewise(b, b < 0, [lambda v, k: v * k, 0], 3), np.piecewise(y, y < 0, [lambda v, k: v * k, 0], 3))
    with pytest.raises(ValueError, match="1 condition"):
        cp.piecewise(b, [b < 0], [1, 2, 3])


@pytest.mark.parametrize("k", [-5, -1, 0, 2, 7])
def test_diagonals_and_triangles(k):
    x = np.arange(60).reshape(3, 4, 5)
    a = cp.array(x)
    assert_same(cp.diagonal(a, k), np.diagonal(x, k))
    assert_same(a.diagonal(k, 2, 0), x.diagonal(k, 2, 0))
    assert_same(a.trace(k), x.trace(k))
    assert_same(cp.trace(a, k, -1, 1, "float32"), np.trace(x, k, -1, 1, "float32"))
    assert_same(cp.diag(a[0], k), np.diag(x[0], k))
    assert_same(cp.diag([1, 2, 3], k), np.diag([1, 2, 3], k))
    assert_same(cp.diagflat([[1.5, 2], [3, 4]], k), np.diagflat([[1.5, 2], [3, 4]], k))
    for z, b in ((x, a), (x[:, ::-1, ::2], a[:, ::-1, ::2]), (x[0, 0], a[0, 0])):
        assert_same(cp.tril(b, k), np.tril(z, k))
        assert_same(cp.triu(b, k), np.triu(z, k))
    assert_same(cp.tri(3, 5, k), np.tri(3, 5, k))
    assert_same(cp.tri(4, k=k, dtype="int8"), np.tri(4, k=k, dtype="int8"))
    assert_same_all(cp.tril_indices(4, k, 6), np.tril_indices(4, k, 6))
    assert_same_all(cp.triu_indices(4, k), np.triu_indices(4, k))
    assert_same_all(cp.tril_indices_from(a[0], k), np.tril_indices_from(x[0], k))
    assert_same_all(cp.triu_indices_from(a[0], k), np.triu_indices_from(x[0], k))
    assert_same_all(cp.mask_indices(4, cp.triu, k), np.mask_indices(4, np.triu, k))


def test_diagonals_more(rng):
    a = cp.arange(9).reshape(3, 3)
    x = a.get()
    assert not cp.diagonal(a).flags.writeable and cp.diag(a).flags.writeable
    assert_same_all(cp.diag_indices(3, 3), np.diag_indices(3, 3))
    assert_same_all(cp.diag_indices_from(a), np.diag_indices_from(x))
    for shape, value, wrap in (
        ((4, 4), 5, False),
        ((6, 3), 5, False),
        ((7, 3), 5, True),
        ((3, 3, 3), [1, 2], False),
        ((3, 5), 2, True),
        ((6, 3), [7, 8], False),
    ):
        y, b = np.zeros(shape, "int16"), cp.zeros(shape, "int16")
        np.fill_diagonal(y, value, wrap)
        cp.fill_diagonal(b, value, wrap)
        assert_same(b, y)
    for dtype in DTYPES:
        z = values(dtype, (4, 5), rng)
        assert_same(cp.tril(cp.array(z)), np.tril(z))
    for call in (
        lambda m, z: m.diagonal(z[0]),
        lambda m, z: m.diagonal(z, 0, 0, 0),
        lambda m, z: m.diag(z[None]),
        lambda m, z: m.fill_diagonal(z[0], 1),
        lambda m, z: m.fill_diagonal(m.zeros((2, 2, 3)), 1),
        lambda m, z: m.diag_indices_from(m.zeros((2, 3))),
        lambda m, z: m.tril_indices_from(z[0]),
        lambda m, z: m.nonzero(m.asarray(1)),
    ):
        assert_same_error(lambda: call(cp, a), lambda: call(np, x))
    with pytest.raises(IndexError):
        cp.diagonal(a, 0, 0, 2)
    with pytest.raises(ValueError):
        cp.tril(1)


def test_index_tricks():
    keys = [np.s_[0:4], np.s_[0:2:5j], np.s_[0:2, 0:1:3j], np.s_[-1:1:0.5, 3:9:2, 0:2]]
    for key in keys:
        assert_same(cp.mgrid[key], np.mgrid[key])
    assert_same(cp.ogrid[keys[0]], np.ogrid[keys[0]])
    assert_same_all(cp.ogrid[keys[3]], np.ogrid[keys[3]])
    row, block = np.arange(3), np.arange(6).reshape(2, 3)
    for ours, theirs in ((cp.r_, np.r_), (cp.c_, np.c_)):

        def arrays(*parts):
            return tuple(cp.array(p) if isinstance(p, np.ndarray) else p for p in parts)

        for key in ((row, 0, 0, row * 2), (1, 2.5, row), (row, row), (row,)):
            if ours is cp.c_ and any(not isinstance(part, np.ndarray) for part in key):
                continue
            assert_same(ours[arrays(*key)], theirs[key])
    assert_same(cp.r_[1:4, 7, -1:1:3j], np.r_[1:4, 7, -1:1:3j])
    assert_same(cp.r_["-1", cp.array(block), cp.array(block)], np.r_["-1", block, block])
    assert_same(cp.r_["0,2", [1, 2, 3], [4, 5, 6]], np.r_["0,2", [1, 2, 3], [4, 5, 6]])
    assert_same(cp.r_["0,2,0", [1, 2, 3], [4, 5, 6]], np.r_["0,2,0", [1, 2, 3], [4, 5, 6]])
    assert_same(cp.r_["1,2,0", [1, 2, 3], [4, 5, 6]], np.r_["1,2,0", [1, 2, 3], [4, 5, 6]])
    assert_same(cp.c_[cp.array(block), [[7], [8]]], np.c_[block, [[7], [8]]])
    assert_same(cp.r_[cp.float32(1), cp.array([2], "float32")], np.r_[np.float32(1), np.array([2], "float32")])
    with pytest.raises(ValueError):
        cp.r_[1, "0"]
    with pytest.raises(ValueError):
        cp.r_["zero", 1]
    assert_same_all(cp.ix_([1, 0], cp.array([True, False, True]), []), np.ix_([1, 0], [True, False, True], []))
    assert_same_error(lambda: cp.ix_([[1]]), lambda: np.ix_([[1]]))
    assert_same(cp.indices((2, 3)), np.indices((2, 3)))
    assert_same(cp.indices((2, 3), "float32"), np.indices((2, 3), "float32"))
    assert_same_all(cp.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True))
    assert list(cp.ndindex(2, 2)) == list(np.ndindex(2, 2)) and cp.s_[1:2] == slice(1, 2) and cp.index_exp[1] == (1,)
    assert list(cp.ndenumerate(cp.array(block))) == list(np.ndenumerate(block))


def test_unravel_and_ravel(rng):
    index = rng.integers(0, 60, (4, 5))
    for order in "CF":
        ours, theirs = cp.unravel_index(cp.array(index), (3, 4, 5), order), np.unravel_index(index, (3, 4, 5), order)
        assert_same_all(ours, theirs)
        flat = np.ravel_multi_index(theirs, (3, 4, 5), order=order)
        assert_same(cp.ravel_multi_index(ours, (3, 4, 5), order=order), flat)
    assert_same_all(cp.unravel_index(7, 10), np.unravel_index(7, 10))
    for mode in ("wrap", "clip", ("wrap", "clip")):
        parts = np.array([[5, -7, 1], [9, -1, 2]])
        assert_same(cp.ravel_multi_index(cp.array(parts), (3, 4), mode), np.ravel_multi_index(parts, (3, 4), mode))
    for call in (
        lambda m: m.unravel_index([60], (3, 4, 5)),
        lambda m: m.unravel_index([-1], (3,)),
        lambda m: m.ravel_multi_index(([3], [0]), (3, 4)),
        lambda m: m.ravel_multi_index(([0],), (3, 4)),
    ):
        assert_same_error(lambda: call(cp), lambda: call(np))
    with pytest.raises(TypeError):
        cp.unravel_index([1.5], (3,))
    with pytest.raises(ValueError):
        cp.unravel_index([1], (3,), "K")


def test_flat():
    x = np.arange(12).reshape(3, 4)
    for turned in (False, True):
        z, a = (x.T.copy(), cp.array(x).T.copy()) if turned else (x.copy(), cp.array(x))
        z, a = (z.T, a.T) if turned else (z, a)
        for key in (5, -1, slice(2, 9, 3), slice(None), ..., [1, 5], np.array([[0, -1]]), z.ravel() > 4):
            assert_same(a.flat[key], z.flat[key])
            for value in (7, [1, 2, 3], [[4, 5]]):
                if np.ndim(key) == 0 and isinstance(key, int) and np.ndim(value):
                    continue
                y, b = z.copy(order="K"), a.copy()
                y.flat[key] = value
                b.flat[key] = value
                assert_same(b, y)
        assert [int(v) for v in a.flat] == list(z.flat) and len(a.flat) == 12
        a.flat = [1, 2]
        z.flat = [1, 2]
        assert_same(a, z)
        assert_same(a.flat.copy(), z.flat.copy())
        assert np.array_equal(cp.asnumpy(a.flat == 1), z.flat == 1)
        assert np.array_equal(cp.asnumpy(a.flat != 1), z.flat != 1)
    walk = cp.array(x).flat
    next(walk), next(walk), next(walk), next(walk), next(walk)
    assert walk.index == 5 and walk.coords == (1, 1) and walk.base.shape == (3, 4)
    for key in (12, -13, (0, 1), [12]):
        with pytest.raises(IndexError):
            walk[key]
        with pytest.raises(IndexError):
            walk[key] = 1


AT = ["add", "subtract", "multiply", "maximum", "minimum", "power", "logical_or", "bitwise_xor"]


@pytest.mark.parametrize("name", AT)
@pytest.mark.parametrize("dtype", ["int16", "int64", "float32", "float64"])
def test_scatter_at(name, dtype, rng):
    x = values(dtype, (7, 3), rng)
    if name == "bitwise_xor" and "float" in dtype:
        for module in (np, cp):
            with pytest.raises(TypeError, match="not supported for the input types"):
                module.bitwise_xor.at(module.asarray(x), 0, module.asarray(x[0]))
        return
    if name == "power" and "float" in dtype:
        pytest.skip("roundings that the order of the updates decides")
    index = rng.integers(-7, 7, 50)
    source = rng.integers(0, 3, (50, 3)).astype(dtype)
    function, ufunc = cp._core.ufunc(name), getattr(np, name)
    for key, second in (
        (index, source),
        (index, source[0]),
        ((index, index % 3), source[:, 0]),
        (slice(2, 5), source[:3]),
        (np.arange(21).reshape(7, 3) % 2 == 0, source[0, 0]),
        (3, source[0]),
    ):
        y, b = x.copy(), cp.array(x)
        with np.errstate(over="ignore"):
            ufunc.at(y, key, second)
        cp._core.scatter_at(b, key, function, cp.array(second))
        assert_same(b, y, ulps=8 if "float" in dtype else 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_scatter_at_of_every_dtype(dtype, rng):
    x = values(dtype, 6, rng)
    index = np.array([0, 1, 1, -1, 5, 0])
    source = values(dtype, 6, rng, 0, 2)
    y, b = x.copy(), cp.array(x)
    np.add.at(y, index, source)
    cp._core.scatter_at(b, index, cp._core.ufunc("add"), cp.array(source))
    assert_same(b, y)


def test_scatter_at_more():
    function = cp._core.ufunc
    y, b = np.arange(5), cp.arange(5)
    np.negative.at(y, [0, 1, 1, 3])
    cp._core.scatter_at(b, [0, 1, 1, 3], function("negative"), None)
    assert_same(b, y)
    b = cp.zeros(4, "float64")
    cp._core.scatter_at(b, cp.array([1, 1]), function("add"), cp.array([1, 2], "int8"))
    assert_same(b, np.array([0.0, 3, 0, 0]))
    b = cp.arange(4)
    cp._core.scatter_at(b, [0, 1], function("add"), b[:2])
    assert_same(b, np.array([0, 2, 2, 3]))
    cp._core.scatter_at(b, [], function("add"), cp.array([], "int64"))
    frozen = cp.broadcast_to(b, (2, 4))
    for call, error, words in (
        (lambda: cp._core.scatter_at(b, [4], function("add"), cp.array(1)), IndexError, "index 4 is out of bounds"),
        (lambda: cp._core.scatter_at(b, [0], function("add"), None), ValueError, "second operand needed"),
        (lambda: cp._core.scatter_at(b, [0], function("negative"), cp.array(1)), ValueError, "second operand provided"),
        (lambda: cp._core.scatter_at(b, [0], function("divmod"), cp.array(1)), ValueError, "single output"),
        (lambda: cp._core.scatter_at(b, [0], function("where"), cp.array(1)), ValueError, "unary and binary"),
        (lambda: cp._core.scatter_at(b, [0, 1], function("add"), cp.array([1, 2, 3])), ValueError, "not broadcastable"),
        (lambda: cp._core.scatter_at(frozen, [0], function("add"), cp.array(1)), ValueError, "read-only"),
    ):
        with pytest.raises(error, match=words):
            call()


def test_dtypes_and_orders_of_choices(rng):
    half, mask = rng.random((3, 4)).astype("float16"), np.asfortranarray(rng.random((3, 4)) < 0.5)
    choose = ([1, 0, 1, 0], [np.inf, half]), ([0, 1, 2, 0], [np.complex64(1j), 128, 2.5]), ([0, 0, 1, 1], [half, 3])
    for a, choices in choose:
        a = np.broadcast_to(np.array(a), (3, 4))
        given = [cp.array(c) if isinstance(c, np.ndarray) else c for c in choices]
        actual, expected = cp.choose(cp.array(a), given), np.choose(a, choices)
        assert actual.dtype == expected.dtype and actual.tolist() == expected.tolist()
    found = cp.select([cp.asarray(mask)], [cp.asarray(np.asfortranarray(half))], 2)
    assert found.flags.c_contiguous and found.tolist() == np.select([mask], [half], 2).tolist()
    with pytest.raises(TypeError):
        cp.choose(cp.array([0, 1], dtype="uint64"), [1, 2])
    x = rng.integers(0, 9, (2, 3))
    conditions = np.stack([x > 4, x <= 2])
    expected = np.piecewise(x, conditions, [-1, 7])
    assert cp.piecewise(cp.array(x), cp.array(conditions), [-1, 7]).tolist() == expected.tolist()


def test_masked_writes_cast_safely():
    for name in ("place", "putmask"):
        x = cp.zeros(3, dtype="int32")
        with pytest.raises(TypeError, match="safe"):
            getattr(cp, name)(x, cp.array([True, False, True]), cp.array([1.5, 2.5]))
        getattr(cp, name)(x, cp.array([True, False, True]), cp.array([5, 6], dtype="int8"))
        expected = np.zeros(3, "int32")
        getattr(np, name)(expected, [True, False, True], np.array([5, 6], "int8"))
        assert x.tolist() == expected.tolist()


def test_positions_must_be_integers():
    with pytest.raises(TypeError):
        cp.unravel_index([], (2, 3))
    assert cp.unravel_index(cp.array([], dtype=int), (2, 3))[0].dtype == np.int64


def test_an_element_takes_no_array_with_axes():
    x, expected = cp.zeros((2, 3)), np.zeros((2, 3))
    for value in ([5.0], (5.0,), np.ones(1), np.ones((1, 1)), cp.ones(1)):
        with pytest.raises(ValueError, match="sequence"):
            x[0, 1] = value
        if not isinstance(value, cp.ndarray):
            with pytest.raises(ValueError, match="sequence"):
                expected[0, 1] = value
    for value in (5.0, np.float32(6), np.array(7), cp.array(8), True):
        x[0, 1] = value
        assert x[0, 1].item() == float(value)
    x[0] = [1]
    x[0:1, 0] = [2]
    assert x.tolist() == [[2, 1, 1], [0, 0, 0]]
    x.flat[0:3] = []
    assert x.tolist() == [[2, 1, 1], [0, 0, 0]]
    with pytest.raises(ValueError):
        cp.where(cp.array(3), None)


def test_an_iterator_of_elements_writes_numbers_alone():
    for module in (np, cp):
        x = module.zeros((2, 3))
        for several in (module.ones(1), [1.0, 2.0]):
            with pytest.raises(ValueError):
                x.flat[1] = several
        x.flat[1] = module.array(7.0)
        assert x.flat[1] == 7


def test_put_into_nothing():
    for module in (np, cp):
        with pytest.raises(IndexError, match="cannot replace elements of an empty array"):
            module.put(module.zeros((0, 3)), [0, 0], module.zeros(0))


def test_grids_of_ranges_that_end_before_they_begin():
    for key in ((slice(3, 1), slice(0, 2)), (slice(0, 2), slice(0, 5, -1)), (slice(0, 2), slice(0.5, -0.6, 0.5))):
        for module in (np, cp):
            with pytest.raises(ValueError, match="negative dimensions are not allowed"):
                module.mgrid[key]
    for key in (
        (slice(3, 3), slice(0, 2)),
        slice(3, 1),
        (slice(0.5, 0.1, 0.5), slice(2, 1, 3)),
        (slice(2), slice(5, 0, -2)),
    ):
        assert_same(cp.mgrid[key], np.mgrid[key])


def test_take_of_nothing_checks_no_index():
    for m in (np, cp):
        x = m.zeros((0, 3))
        assert m.take(x, m.array([99]), axis=1).shape == x.take(m.array([99]), axis=1).shape == (0, 1)
        assert m.take_along_axis(x, m.full((1, 3), 99), 1).shape == (0, 3)
        for call in (lambda: x[:, m.array([99])], lambda: m.take(x, m.array([99]), axis=0)):
            with pytest.raises(IndexError):
                call()


def test_shapes_of_flat_positions():
    for m in (np, cp):
        for call in (
            lambda: m.unravel_index(5, (2**40, 2**40)),
            lambda: m.unravel_index(0, (2**40, 2**40)),
            lambda: m.ravel_multi_index((1, 1), (-1, 3)),
        ):
            with pytest.raises(ValueError):
                call()


@pytest.mark.parametrize("position", [[0], [], [0, 0]])
def test_several_positions_in_a_shape_without_axes(position):
    for xp in (np, cp):
        with pytest.raises(ValueError, match="multiple indices are not supported for 0d arrays"):
            xp.unravel_index(xp.asarray(position, dtype="int64"), ())
    assert cp.unravel_index(0, ()) == np.unravel_index(0, ()) == ()


def test_truths_are_positions():
    truths = np.array([True, False])
    for order in "CF":
        for got, expected in zip(
            cp.unravel_index(cp.asarray(truths), (2, 2), order), np.unravel_index(truths, (2, 2), order)
        ):
            assert_same(got, expected)
    expected = np.ravel_multi_index((truths, truths), (2, 3))
    assert_same(cp.ravel_multi_index((cp.asarray(truths), cp.asarray(truths)), (2, 3)), expected)


@pytest.mark.parametrize("shape", [(2.0, 2), 4.0, None, (None, 2), ("2", 2)])
def test_extents_are_integers(shape):
    for xp in (np, cp):
        with pytest.raises(TypeError):
            xp.unravel_index(3, shape)


def test_there_is_a_mode_for_each_axis():
    for xp in (np, cp):
        with pytest.raises(ValueError, match="mode"):
            xp.ravel_multi_index((1, 2), (3, 4), mode=("raise",))
