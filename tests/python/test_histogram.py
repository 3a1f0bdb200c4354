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
    if dtype == bool:
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
        (ValueError, "small depth", (iruka.array(1),)),
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
