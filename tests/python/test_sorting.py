"""Sorting and partial sorting give NumPy's results for every dtype, layout and axis."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import helpers
import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, NUMPY_DTYPES, kind, layouts, values

ALL = pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)


def sortable(dtype, shape, rng):
    """Values with many that are equal, and in floats NaN, infinities and both zeros."""
    x = values(dtype, shape, rng)
    if kind(dtype) not in "fc":
        return x
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    parts = [rng.choice(special, shape) for _ in range(2)]
    if kind(dtype) == "c":
        real, imaginary = (np.where(rng.random(shape) < 0.3, p, q) for p, q in zip(parts, (x.real, x.imag)))
        mixed = np.empty(shape, dtype)
        mixed.real, mixed.imag = real, imaginary
        return mixed
    return np.where(rng.random(shape) < 0.3, parts[0], x).astype(dtype)


def wide(x):
    """What NumPy sorts: ml_dtypes' bfloat16 has no order for NaN."""
    return x.astype(np.float32) if x.dtype == BFLOAT16 else x


def assert_same(actual, expected, message=""):
    if expected.dtype == BFLOAT16:  # numpy.testing takes its NaN for numbers
        assert actual.dtype == BFLOAT16
        actual, expected = actual.astype(np.float32), expected.astype(np.float32)
    helpers.assert_same(actual, expected, message=message)


def expected_sort(x, axis):
    return np.sort(wide(x), axis=axis, kind="stable").astype(x.dtype)


@ALL
def test_sort_and_argsort_in_every_layout(dtype, rng):
    for name, x, reference in layouts(sortable(dtype, (7, 33), rng)):
        for axis in (0, 1, -1, None):
            assert_same(iruka.sort(x, axis), expected_sort(reference, axis), message=name)
            assert_same(iruka.sort(x, axis, stable=True), expected_sort(reference, axis), message=name)
            assert_same(iruka.argsort(x, axis), np.argsort(wide(reference), axis, kind="stable"), message=name)


@ALL
@pytest.mark.parametrize("n", [1, 2, 25, 300, 3000, 70_000])
def test_sort_and_argsort_of_one_axis(dtype, n, rng):
    x = sortable(dtype, n, rng)
    assert_same(iruka.sort(iruka.array(x)), expected_sort(x, 0))
    assert_same(iruka.argsort(iruka.array(x)), np.argsort(wide(x), kind="stable"))


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("n", [5000, 200_000, 1_100_000])
def test_random_bits(name, n, rng):
    """All bits random, so that floats hold subnormals and NaN of either sign and any payload."""
    dtype = np.dtype(name)
    x = rng.integers(0, 256, n * dtype.itemsize, dtype=np.uint8).view(dtype)
    y = iruka.array(x)
    assert_same(iruka.sort(y), np.sort(x))
    assert_same(iruka.argsort(y), np.argsort(x, kind="stable"))
    if n == 200_000:
        rows = x.reshape(100, -1)
        assert_same(iruka.sort(iruka.array(rows)), np.sort(rows))
        assert_same(iruka.argsort(iruka.array(rows), axis=0), np.argsort(rows, axis=0, kind="stable"))


SPREADS = {
    "one value": lambda rng, n: np.full(n, 7),
    "one outlier": lambda rng, n: np.r_[rng.integers(0, 1000, n - 1), 2**62],
    "ascending": lambda rng, n: np.arange(n),
    "descending": lambda rng, n: np.arange(n)[::-1],
    "powers": lambda rng, n: 1 << rng.integers(0, 62, n),
    "clusters": lambda rng, n: (rng.integers(0, 5, n) << 58) + rng.integers(0, 4000, n),
    "nested clusters": lambda rng, n: (
        (rng.integers(0, 3, n) << 60) + (rng.integers(0, 3, n) << 40) + rng.integers(0, 9, n)
    ),
}


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("n", [20_000, 600_000])
def test_uneven_spreads(name, n, rng):
    x = SPREADS[name](rng, n).astype(np.int64)
    assert_same(iruka.sort(iruka.array(x)), np.sort(x))
    assert_same(iruka.argsort(iruka.array(x)), np.argsort(x, kind="stable"))


@ALL
def test_descending_is_the_reverse_and_stable(dtype, rng):
    x = sortable(dtype, 500, rng)
    y = iruka.array(x)
    assert_same(iruka.sort(y, descending=True), np.flip(expected_sort(x, 0)))
    backwards = np.argsort(wide(x)[::-1], kind="stable")[::-1]
    assert_same(iruka.argsort(y, descending=True), 499 - backwards)
    assert_same(y.argsort(descending=True), 499 - backwards)


def test_a_stable_sort_keeps_the_zeros_signs(rng):
    x = rng.choice([0.0, -0.0, 1.0], 1000)
    sorted_ = iruka.asnumpy(iruka.sort(iruka.array(x), stable=True))
    np.testing.assert_array_equal(np.signbit(sorted_), np.signbit(np.sort(x, kind="stable")))


def test_a_stable_sort_keeps_nan_bits():
    bits = np.array([0x7FC00001, 0xFFC00002, 0x3F800000, 0x7F800003, 0xFF800004], np.uint32)
    sorted_ = iruka.asnumpy(iruka.sort(iruka.array(bits.view(np.float32)), kind="stable")).view(np.uint32)
    assert sorted(sorted_) == sorted(bits) and sorted_[0] == 0x3F800000
    plain = iruka.asnumpy(iruka.sort(iruka.array(bits.view(np.float32)))).view(np.uint32)
    assert sorted(plain) == sorted(bits) and plain[0] == 0x3F800000


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=4),
    st.sampled_from(["int32", "float64", "complex64", "bool"]),
    st.integers(-4, 3),
    st.integers(0, 2**32 - 1),
)
def test_any_shape_and_axis(shape, name, axis, seed):
    x = sortable(np.dtype(name), tuple(shape), np.random.default_rng(seed))
    y = iruka.array(x)
    if not -x.ndim <= axis < x.ndim:
        for function in (iruka.sort, iruka.argsort):
            with pytest.raises(np.exceptions.AxisError):
                function(y, axis)
        return
    assert_same(iruka.sort(y, axis), np.sort(x, axis))
    assert_same(iruka.argsort(y, axis), np.argsort(x, axis, kind="stable"))


def test_arrays_without_axes_and_without_elements():
    for axis in (-1, 0, None):
        assert_same(iruka.argsort(iruka.array(3), axis), np.argsort(np.array(3), axis))
    assert_same(iruka.sort(iruka.array(3), None), np.array([3]))
    for shape in ((0,), (3, 0), (0, 3)):
        for axis in (-1, 0, None):
            assert_same(iruka.sort(iruka.zeros(shape), axis), np.sort(np.zeros(shape), axis))
            assert_same(iruka.argsort(iruka.zeros(shape), axis), np.argsort(np.zeros(shape), axis))
    assert_same(iruka.partition(iruka.zeros(0), 0), np.zeros(0))


def test_broadcast_and_overlapping_views(rng):
    x = rng.integers(0, 9, 50)
    y = iruka.broadcast_to(iruka.array(x), (3, 50))
    assert_same(iruka.sort(y), np.sort(np.broadcast_to(x, (3, 50))))
    assert_same(iruka.sort(y, 0), np.sort(np.broadcast_to(x, (3, 50)), 0))


@pytest.mark.parametrize("kind_", ["quicksort", "heapsort", "mergesort", "stable", None])
def test_kinds(kind_):
    assert_same(iruka.sort(iruka.array([3, 1, 2]), kind=kind_), np.array([1, 2, 3]))
    assert_same(iruka.argsort([3, 1, 2], kind=kind_), np.array([1, 2, 0]))


def test_sort_in_place(rng):
    x = rng.integers(0, 99, (6, 8))
    y = iruka.array(x)
    assert y.sort() is None
    assert_same(y, np.sort(x))
    y.sort(axis=0, kind="stable")
    assert_same(y, np.sort(np.sort(x), axis=0))
    z = iruka.array(x)
    z[::2, ::-1].sort(1)
    x[::2, ::-1].sort(1)
    assert_same(z, x)
    y.sort(descending=True)
    assert_same(y[:, ::-1], np.sort(iruka.asnumpy(y)))


@pytest.mark.parametrize("names", [("int32",), ("int8", "float64"), ("complex128", "int64", "bool")])
def test_lexsort(names, rng):
    keys = [sortable(np.dtype(name), (4, 300), rng) for name in names]
    ours = [iruka.array(key) for key in keys]
    for axis in (-1, 0):
        assert_same(iruka.lexsort(ours, axis), np.lexsort(keys, axis))
    assert_same(iruka.lexsort(keys), np.lexsort(keys))


def test_lexsort_of_one_array(rng):
    table = rng.integers(0, 3, (3, 200))
    assert_same(iruka.lexsort(iruka.array(table)), np.lexsort(table))
    assert_same(iruka.lexsort(([9, 4, 0], [1, 5, 1])), np.lexsort(([9, 4, 0], [1, 5, 1])))
    assert_same(iruka.lexsort([1, 2]), np.lexsort([1, 2]).reshape(iruka.lexsort([1, 2]).shape))


def check_partition(result, x, kth, axis):
    ordered = np.sort(x, axis)
    result, ordered = np.moveaxis(result, axis, 0), np.moveaxis(ordered, axis, 0)
    np.testing.assert_array_equal(np.sort(result, 0), ordered)
    levels = np.unique(ordered)
    for k in np.atleast_1d(kth) % len(ordered):
        np.testing.assert_array_equal(result[k], ordered[k])
        ranks = np.searchsorted(levels, result)  # NaN last
        assert np.all(ranks[:k] <= ranks[k]) and np.all(ranks[k:] >= ranks[k])


@pytest.mark.parametrize("name", ["bool", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("kth", [0, 5, -1, [3, 17], (0, -2)], ids=str)
def test_partition(name, kth, rng):
    x = sortable(np.dtype(name), (30, 20), rng)
    y = iruka.array(x)
    for axis in (0, 1):
        check_partition(iruka.asnumpy(iruka.partition(y, kth, axis)), x, kth, axis)
        taken = np.take_along_axis(x, iruka.asnumpy(iruka.argpartition(y, kth, axis)), axis)
        check_partition(taken, x, kth, axis)
    flat = iruka.asnumpy(iruka.partition(y, kth, None))
    check_partition(flat, x.ravel(), kth, 0)
    y.partition(kth)
    check_partition(iruka.asnumpy(y), x, kth, 1)
    assert iruka.array(x).argpartition(kth).dtype == np.int64


@pytest.mark.parametrize("kth", [0, 123_456, [7, 250_000, 499_999]], ids=str)
def test_partition_of_a_long_axis(kth, rng):
    x = rng.standard_normal(500_000)
    check_partition(iruka.asnumpy(iruka.partition(iruka.array(x), kth)), x, kth, 0)
    indices = iruka.asnumpy(iruka.argpartition(iruka.array(x), kth))
    check_partition(x[indices], x, kth, 0)


@pytest.mark.parametrize("name", ["int8", "int32", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("n", [300, 70_000, 300_000])
def test_partition_of_random_bits(name, n, rng):
    """Many positions, and in floats NaN of any payload: some positions are among the NaNs."""
    x = rng.integers(0, 256, n * np.dtype(name).itemsize, dtype=np.uint8).view(name)
    if kind(np.dtype(name)) == "f":
        x[: n // 4] = np.nan
        rng.shuffle(x)
    kth = [0, n // 3, n // 2, n // 2 + 1, n * 9 // 10, n - 1]
    check_partition(iruka.asnumpy(iruka.partition(iruka.array(x), kth)), x, kth, 0)
    indices = iruka.asnumpy(iruka.argpartition(iruka.array(x), kth))
    np.testing.assert_array_equal(np.sort(indices), np.arange(n))
    check_partition(x[indices], x, kth, 0)


def test_partition_of_nothing_but_nan():
    assert np.isnan(iruka.asnumpy(iruka.partition(iruka.full(1000, np.nan), [0, 500, 999]))).all()


def test_partition_of_complex(rng):
    x = rng.standard_normal(100) + 1j * rng.standard_normal(100)
    result = iruka.asnumpy(iruka.partition(iruka.array(x), 40))
    assert result[40] == np.sort(x)[40]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=str)
def test_sort_complex(dtype, rng):
    x = values(dtype, (3, 9), rng)
    assert_same(iruka.sort_complex(iruka.array(x)), np.sort_complex(x))


ERRORS = [
    (lambda x: iruka.sort(x, 2), np.exceptions.AxisError, "sort: axis 2"),
    (lambda x: iruka.sort(iruka.array(3)), np.exceptions.AxisError, "sort: axis -1"),
    (lambda x: iruka.argsort(x, -3), np.exceptions.AxisError, "argsort: axis -3"),
    (lambda x: iruka.sort(x, kind="foo"), ValueError, "kind must be one of .* not 'foo'"),
    (lambda x: iruka.sort(x, kind="stable", stable=True), ValueError, "kind and stable"),
    (lambda x: iruka.argsort(x, order="f"), ValueError, "order='f' names fields"),
    (lambda x: iruka.lexsort([]), TypeError, "lexsort: need a sequence of keys"),
    (lambda x: iruka.lexsort(3), TypeError, "lexsort: need a sequence of keys, not 3"),
    (lambda x: iruka.lexsort([[1, 2], [1, 2, 3]]), ValueError, r"one shape, not \(2,\) and \(3,\)"),
    (lambda x: iruka.partition(x, 9), ValueError, r"partition: kth\(=9\) is out of bounds for an axis of 3"),
    (lambda x: iruka.argpartition(x, [0, -4]), ValueError, r"kth\(=-4\) is out of bounds"),
    (lambda x: iruka.partition(x, 1.5), TypeError, "kth must be integers, not 1.5"),
    (lambda x: iruka.partition(x, True), ValueError, "not booleans"),
    (lambda x: iruka.partition(x, 0, kind="foo"), ValueError, "kind must be 'introselect', not 'foo'"),
    (lambda x: x.sort(None), TypeError, "in place along one axis"),
    (lambda x: x.partition(0, None), TypeError, "in place along one axis"),
    (lambda x: iruka.broadcast_to(x, (4, 2, 3)).sort(), ValueError, "read-only"),
]


@pytest.mark.parametrize("call, error, words", ERRORS, ids=[words for _, _, words in ERRORS])
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call(iruka.array([[3, 1, 2], [6, 5, 4]]))


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "int8"])
def test_positions_of_a_partition_may_repeat(dtype, rng):
    x = rng.integers(0, 100, 1000).astype(dtype)
    for kth in ((3, 3), (3, -997), (5, 3, 3, 999)):
        order = iruka.asnumpy(iruka.argpartition(iruka.array(x), kth))
        assert sorted(order) == list(range(1000))
        for k in kth:
            assert x[order][k] == np.sort(x)[k] == iruka.asnumpy(iruka.partition(iruka.array(x), kth))[k]
