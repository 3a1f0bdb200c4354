"""Histograms, counts and searches against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPES, assert_same, kind, values

REAL = [d for d in DTYPES if kind(d) != "c" and d != BFLOAT16]


def same_histogram(x, *arguments, **keywords):
    actual = iruka.histogram(iruka.array(x), *arguments, **keywords)
    expected = np.histogram(x, *arguments, **keywords)
    for found, wanted in zip(actual, expected):
        assert_same(found, wanted, ulps=8)


@pytest.mark.parametrize("dtype", REAL, ids=[d.name for d in REAL])
def test_histogram_of_every_dtype(dtype, rng):
    x = values(dtype, (4, 50), rng, 0, 9)
    if dtype == np.bool_:
        x = x.astype("uint8")
    same_histogram(x)
    same_histogram(x, 7)
    same_histogram(x, [0, 1, 2.5, 4])
    same_histogram(x, 5, (1, 6))


def test_edges_decide(rng):
    for n in (1, 3, 10, 49, 1000):
        edges = np.linspace(-1.7, 2.3, n + 1)
        x = np.concatenate([edges, np.nextafter(edges, -9), np.nextafter(edges, 9), rng.uniform(-3, 3, 1000)])
        same_histogram(x, n, (-1.7, 2.3))
        same_histogram(x, edges)
    x[:3] = np.nan, np.inf, -np.inf
    same_histogram(x, 10, (-1, 1))


def test_weights_density_and_range(rng):
    x, w = rng.standard_normal(1000), rng.random(1000)
    same_histogram(x, 8, density=True)
    same_histogram(x, [-1, 0, 0.5, 3], density=True)
    same_histogram(x, 8, weights=w)
    same_histogram(x, 8, weights=rng.integers(0, 5, 1000))
    same_histogram(x, 8, weights=w + 1j * w[::-1])
    same_histogram(np.array([1.0, 2.0, 2.0]), 3, weights=np.array([1, complex(0, np.inf), 3]))
    same_histogram(x, 8, weights=w, density=True)
    same_histogram(np.array([]), 4)
    same_histogram(np.array([3.0, 3.0]), 4)
    assert_same(iruka.histogram_bin_edges(iruka.array(x), 6), np.histogram_bin_edges(x, 6))


@pytest.mark.filterwarnings("ignore:The number of bins estimated")
@pytest.mark.parametrize("estimator", ["auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"])
def test_estimators(estimator, rng):
    for x in (rng.standard_normal(500), rng.integers(0, 30, 400), np.array([1.0, 1.0]), np.zeros(0)):
        same_histogram(x, estimator)
    same_histogram(rng.standard_normal(500), estimator, (-1, 2))


def test_histogram_errors():
    x = iruka.arange(4)
    cases = [
        (ValueError, "must be positive", {"bins": 0}),
        (TypeError, "must be an integer", {"bins": 2.5}),
        (ValueError, "increase monotonically", {"bins": [2, 1]}),
        (ValueError, "1d", {"bins": [[1, 2]]}),
        (ValueError, "larger than min", {"range": (2, 1)}),
        (ValueError, "not finite", {"range": (0, np.inf)}),
        (ValueError, "not a valid estimator", {"bins": "best"}),
        (TypeError, "not supported for weighted", {"bins": "auto", "weights": [1, 1, 1, 1]}),
        (ValueError, "same shape", {"weights": [1]}),
    ]
    for error, message, keywords in cases:
        with pytest.raises(error, match=message):
            iruka.histogram(x, **keywords)
    with pytest.raises(ValueError, match="autodetected range"):
        iruka.histogram(iruka.array([0.0, np.nan]))


def test_more_dimensions(rng):
    x, y, w = rng.standard_normal(500), rng.random(500), rng.random(500)
    for arguments in ((), (5,), ([4, 6],), ([[-1, 0, 1], [0, 0.5, 1]],), ([-1, 0.2, 1],)):
        actual = iruka.histogram2d(iruka.array(x), iruka.array(y), *arguments)
        for found, expected in zip(actual, np.histogram2d(x, y, *arguments)):
            assert_same(found, expected, ulps=8)
    for keywords in ({"density": True}, {"weights": w}, {"range": [(-1, 1), (0, 0.5)]}):
        for found, expected in zip(iruka.histogram2d(x, y, 4, **keywords), np.histogram2d(x, y, 4, **keywords)):
            assert_same(found, expected, ulps=16)
    sample = rng.standard_normal((300, 3))
    found, edges = iruka.histogramdd(iruka.array(sample), (3, 4, 5))
    expected, wanted = np.histogramdd(sample, (3, 4, 5))
    assert_same(found, expected)
    for own, other in zip(edges, wanted):
        assert_same(own, other, ulps=4)
    with pytest.raises(ValueError, match="dimension of bins"):
        iruka.histogramdd(iruka.array(sample), (3, 4))
    with pytest.raises(ValueError, match="same length"):
        iruka.histogram2d(x, y[:3])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint32"])
def test_bincount(dtype, rng):
    x = rng.integers(0, 2 if dtype == "bool" else 50, 300_000).astype(dtype)
    w = rng.integers(0, 8, x.size) / 4
    for a, same, weights in (
        (iruka.array(x), x, w),
        (iruka.array(x)[::-3], x[::-3], w[::-3]),
        (iruka.array(x[:7]), x[:7], w[:7]),
    ):
        assert_same(iruka.bincount(a), np.bincount(same))
        assert_same(iruka.bincount(a, minlength=70), np.bincount(same, minlength=70))
        assert_same(iruka.bincount(a, weights), np.bincount(same, weights), ulps=8)
    assert_same(
        iruka.bincount(iruka.array([], dtype="int64"), minlength=3), np.bincount(np.array([], int), minlength=3)
    )


def test_bincount_of_many_bins(rng):
    x = rng.integers(0, 3_000_000, 200_000)
    assert_same(iruka.bincount(iruka.array(x)), np.bincount(x))


def test_bincount_errors():
    for error, message, arguments in (
        (TypeError, "safe", (iruka.ones(3),)),
        (ValueError, "negative elements", (iruka.array([1, -1]),)),
        (ValueError, "too deep", (iruka.array([[1]]),)),
        (ValueError, "too deep", (iruka.array([[1.0]]),)),
        (ValueError, "small depth", (iruka.array(1),)),
        (ValueError, "small depth", (iruka.array(1.0),)),
        (ValueError, "same length", (iruka.array([1, 2]), [1.0])),
        (ValueError, "must not be negative", (iruka.array([1]), None, -1)),
        (TypeError, "safe", (iruka.array([1]), [1j])),
    ):
        with pytest.raises(error, match=message):
            iruka.bincount(*arguments)


@pytest.mark.parametrize("dtype", DTYPES, ids=[d.name for d in DTYPES])
def test_searchsorted_of_every_dtype(dtype, rng):
    x, v = values(dtype, (40,), rng), values(dtype, (5, 6), rng)
    x = np.sort(x)
    for side in ("left", "right"):
        assert_same(iruka.searchsorted(iruka.array(x), iruka.array(v), side), np.searchsorted(x, v, side))
        assert_same(iruka.array(x)[::2].searchsorted(iruka.array(v).T, side), x[::2].searchsorted(v.T, side))


@given(
    st.lists(st.floats(allow_infinity=True, allow_nan=True, width=32), max_size=20), st.sampled_from(["left", "right"])
)
def test_searchsorted_of_anything(numbers, side):
    x, v = np.sort(np.array(numbers, "float32")), np.array(numbers + [0.0, np.nan, np.inf], "float32")
    assert_same(iruka.searchsorted(iruka.array(x), iruka.array(v), side), np.searchsorted(x, v, side))


def test_searchsorted_keywords(rng):
    x = rng.permutation(20)
    order = np.argsort(x)
    assert_same(iruka.searchsorted(iruka.array(x), [3, 7.5], sorter=order), np.searchsorted(x, [3, 7.5], sorter=order))
    assert_same(iruka.searchsorted(iruka.arange(5), 2.5), np.array(3))
    with pytest.raises(ValueError, match="'left' or 'right'"):
        iruka.searchsorted(iruka.arange(5), 1, "middle")
    with pytest.raises(ValueError, match="too deep"):
        iruka.searchsorted(iruka.ones((2, 2)), 1)
    with pytest.raises(ValueError, match="sorter"):
        iruka.searchsorted(iruka.arange(5), 1, sorter=[0])
    with pytest.raises(TypeError, match="integers"):
        iruka.searchsorted(iruka.arange(1), 1, sorter=[0.5])


def test_digitize(rng):
    x, edges = rng.uniform(-1, 4, (5, 6)), np.array([0.0, 1.0, 1.0, 2.5])
    for bins in (edges, edges[::-1]):
        for right in (False, True):
            assert_same(iruka.digitize(iruka.array(x), bins, right), np.digitize(x, bins, right))
    with pytest.raises(ValueError, match="monotonically"):
        iruka.asnumpy(iruka.digitize(iruka.array(x), [1, 0, 2]))
    with pytest.raises(ValueError, match="monotonically"):
        iruka.asnumpy(iruka.digitize(iruka.array(x[:1, :1]), [3, 1, 1, 2, 0]))
    assert_same(iruka.digitize(iruka.array(x), edges[:1]), np.digitize(x, edges[:1]))
    assert_same(iruka.digitize(iruka.array(x), edges[:0]), np.digitize(x, edges[:0]))
    assert_same(iruka.digitize(iruka.array(x[:0]), edges), np.digitize(x[:0], edges))
    with pytest.raises(TypeError, match="complex"):
        iruka.digitize(iruka.array([1j]), edges)


def test_sorters_and_complex_numbers():
    a = iruka.array([2.0, 1.0])
    for sorter in ([2**50, 2**50], [1, 7], [-1, 0]):
        with pytest.raises(ValueError, match="Sorter index out of range."):
            iruka.searchsorted(a, iruka.array([1.5]), sorter=iruka.array(sorter))
    z = np.sort([complex(x, y) for x in (1, np.nan, 0) for y in (np.nan, 2, 1)])
    for side in ("left", "right"):
        assert_same(iruka.searchsorted(iruka.array(z), iruka.array(z), side), np.searchsorted(z, z, side))
    with pytest.raises(TypeError, match="bins may not be complex"):
        iruka.digitize(a, iruka.array([0j, 1]))
    with pytest.raises(TypeError, match="real numbers"):
        iruka.histogram(a, bins=iruka.array([0j, 1]))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint64"])
@pytest.mark.parametrize("bins", ["auto", "fd", "doane", "scott", "rice", "sturges", "sqrt"])
def test_estimators_of_the_full_range(dtype, bins, rng):
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, 60, dtype, endpoint=True)
    x[:2] = limits.min, limits.max
    expected = np.histogram_bin_edges(x.astype(float), bins)
    actual = iruka.histogram_bin_edges(iruka.array(x), bins)
    assert abs(actual.size - expected.size) <= 1
    np.testing.assert_allclose(iruka.asnumpy(actual)[[0, -1]], expected[[0, -1]], rtol=1e-15)
    few = np.array([6, 8], dtype)
    assert_same(iruka.histogram_bin_edges(iruka.array(few), bins), np.histogram_bin_edges(few, bins))


def test_histograms_of_several_dimensions_have_numpys_edges(rng):
    x, y = rng.integers(-5, 5, 30).astype("int16"), rng.normal(0, 3, 30).astype("float32")
    wide = rng.normal(0, 2, 30)
    several = [
        ((x, y), {"bins": [4, [-1, 0, 5, 300]]}), ((x, y), {"bins": [[0.0, 0.5, 3], [-3, 1]]}),
        ((x, wide), {"bins": 3, "density": True}), ((y, y), {"bins": 3, "range": [(0, 1), None]}),
        ((x, x), {"bins": [[-5, 0, 5]] * 2}), ((y, y), {}), ((x[:0], y[:0]), {"bins": 3}),
        ((x, y), {"bins": np.array([-4.0, -1, 0, 7])}), ((x, y),
            {"bins": [np.array([0, 1], "int8"), 2], "weights": wide}),
    ]  # fmt: skip
    for arrays, keywords in several:
        actual = iruka.histogram2d(*map(iruka.array, arrays), **keywords)
        for a, e in zip(actual, np.histogram2d(*arrays, **keywords), strict=True):
            assert_same(a, e, ulps=8)
    for sample, keywords in ((np.stack([x, y, x], 1), {"bins": [2, [0, 1, 4], 3]}), (np.stack([y, y], 1), {"bins": 2})):
        (a, edges), (e, expected) = (
            iruka.histogramdd(iruka.array(sample), **keywords),
            np.histogramdd(sample, **keywords),
        )
        assert_same(a, e)
        for one, other in zip(edges, expected, strict=True):
            assert_same(one, other, ulps=4)
    with pytest.raises(TypeError):
        iruka.histogram2d(iruka.array(x), iruka.array(y), weights=iruka.array(wide * 1j))
    with pytest.raises(ValueError):
        iruka.histogram2d(iruka.array(x), iruka.array(y[:-1]))


def test_bins_with_nan():
    x = np.array([-1.0, 0, 2, 5, np.inf, np.nan])
    for bins in ([-2, 0, 4, np.nan], [0, 4, np.inf, np.nan], [5, 3, 0], [1, 1, 1], []):
        for right in (False, True):
            assert_same(
                iruka.digitize(iruka.array(x), iruka.array(bins, dtype=float), right), np.digitize(x, bins, right)
            )
    for bins in ([1, 3, 2], [np.nan, 1, 2]):
        with pytest.raises(ValueError, match="monoton"):
            np.digitize(x, bins)
        with pytest.raises(ValueError, match="monoton"):
            iruka.asnumpy(iruka.digitize(iruka.array(x), iruka.array(bins)))


def test_searches_for_numbers_that_the_dtype_does_not_hold():
    for dtype, numbers in (("uint8", [300, -1, 7, 2.5]), ("int8", [-300, 1000]), ("float32", [0.1, 1e300, 2.0])):
        x = np.array([0, 0.1 if dtype == "float32" else 1, 7]).astype(dtype)
        for number in numbers:
            assert_same(iruka.searchsorted(iruka.array(x), number), np.searchsorted(x, number))


def test_bincount_of_64_bits_and_of_nothing():
    x = np.array([2, 4], "uint64")
    assert_same(iruka.bincount(iruka.array(x)), np.bincount(x))
    assert_same(
        iruka.bincount(iruka.array(x[:0]), iruka.array([], dtype=float)), np.bincount(x[:0], np.array([], float))
    )


def test_edges_of_another_sign_than_the_elements():
    for dtype, kind_of_edges in (
        ("uint64", "int64"),
        ("uint32", "int32"),
        ("uint64", "int8"),
        ("int32", "uint32"),
        ("int64", "uint64"),
    ):
        x = np.array([0, 1, 2, 6], dtype)
        edges = np.array([0, 1, 2, 6] if kind_of_edges[0] == "u" else [-5, 0, 2, 6], kind_of_edges)
        x = x - np.array(1, dtype) if dtype[0] == "i" else x
        assert_same(iruka.histogram(iruka.array(x), iruka.array(edges))[0], np.histogram(x, edges)[0])
        assert_same(
            iruka.histogram2d(iruka.array(x), iruka.array(x), [edges, edges])[0],
            np.histogram2d(x, x, [edges, edges])[0],
        )


def test_sums_of_small_weights_wrap():
    x, weights = np.array([0, 0, 0, 1]), np.array([100, 100, 100, 7], "uint8")
    assert_same(
        iruka.histogram(iruka.array(x), 2, weights=iruka.array(weights))[0], np.histogram(x, 2, weights=weights)[0]
    )


def test_kinds_of_sides_and_sorters():
    for m in (np, iruka):
        x = m.array([2.0, 1.0, 3.0])
        for side in (None, 0, True):
            with pytest.raises(TypeError, match="side must be str"):
                m.searchsorted(x, 1.0, side)
        with pytest.raises(ValueError, match="sorter"):
            m.searchsorted(x, 1.0, sorter=m.array([1, 0, 2], dtype="uint64"))
        order = m.array([1, 0, 2], dtype="uint8")
        assert m.searchsorted(x, m.array([0.5, 2.5]), sorter=order).tolist() == [0, 2]
        with pytest.raises(ValueError, match="Sorter index out of range"):
            m.searchsorted(x, m.array([[1.0], [2.0]]), "right", sorter=m.array([1, 0, -1]))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integer_weights_keep_every_bit(dtype, rng):
    limits = np.iinfo(dtype)
    x, weights = rng.random(1000), rng.integers(limits.min, limits.max, 1000, dtype, endpoint=True)
    edges = [0.0, 0.1, 0.5, 1.0]
    expected, _ = np.histogram(x, edges, weights=weights)
    for each in (weights, np.repeat(weights, 2)[::2]):
        assert_same(iruka.histogram(iruka.asarray(x), edges, weights=iruka.asarray(each))[0], expected)
    # NumPy adds those of equal bins as float64.
    exact = [int(weights[(x >= a) & (x < b)].sum(dtype=dtype)) for a, b in ((0, 0.5), (0.5, 1.0))]
    assert_same(iruka.histogram(iruka.asarray(x), 2, (0, 1), weights=iruka.asarray(weights))[0], np.array(exact, dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("count", [0, 2])
def test_counts_of_floats_are_refused(dtype, count):
    for xp in (np, iruka):
        with pytest.raises(TypeError, match="Cannot cast array data"):
            xp.bincount(xp.zeros(count, dtype))
    assert_same(iruka.bincount([], minlength=3), np.bincount([], minlength=3))
