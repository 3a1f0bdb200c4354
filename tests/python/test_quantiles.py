"""Medians and quantiles against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import assert_close, assert_same, layouts

METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip
SHARES = [0.0, 0.1, 0.25, 0.5, 0.77, 1.0]
REAL = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method, rng):
    for n in (1, 2, 5, 10, 11):
        x = rng.integers(0, 20, (3, n))
        for numbers in (x, x / 4):
            a = iruka.array(numbers)
            for q in (0.3, 0.5, SHARES, np.array([[0.2], [0.9]])):
                for axis in (None, 0, 1):
                    expected = np.quantile(numbers, q, axis=axis, method=method)
                    assert_same(iruka.quantile(a, q, axis=axis, method=method), expected, 4, f"{n} {q} {axis}")
        assert_same(
            iruka.percentile(a, 37, axis=1, method=method), np.percentile(numbers, 37, axis=1, method=method), 4
        )


@pytest.mark.parametrize("dtype", REAL)
def test_every_dtype(dtype, rng):
    x = rng.integers(0, 100, (5, 8)).astype(dtype)
    for layout, a, same in layouts(x):
        assert_same(iruka.median(a, axis=0), np.median(same, axis=0), 1, layout)
        assert_same(iruka.median(a), np.median(same), 1, layout)
        for q in (0.3, [0.2, 0.6]):
            assert_same(iruka.quantile(a, q, axis=1), np.quantile(same, q, axis=1), 2, layout)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_axes_and_keepdims(shape, data):
    x = np.random.default_rng(len(shape)).permutation(int(np.prod(shape))).reshape(shape).astype("float64")
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    axis, keepdims = tuple(sorted(axes)), data.draw(st.booleans())
    assert_same(iruka.median(iruka.array(x), axis=axis, keepdims=keepdims), np.median(x, axis=axis, keepdims=keepdims))
    expected = np.percentile(x, [10, 60], axis=axis, keepdims=keepdims)
    assert_same(iruka.percentile(iruka.array(x), [10, 60], axis=axis, keepdims=keepdims), expected, 4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "int64", "uint32"])
@pytest.mark.parametrize("spread", ["wide", "narrow", "equal"])
def test_long_rows_shared_by_threads(dtype, spread, rng):
    n = 300_001
    x = {"wide": rng.standard_normal(n) * 1000, "narrow": 100 + rng.random(n), "equal": np.full(n, 7)}[spread]
    x = x.astype("int64").astype(dtype) if dtype[0] != "f" else x.astype(dtype)
    shares = [0.0, 0.001, 0.5, 0.5001, 0.999, 1.0]
    assert_same(iruka.quantile(iruka.array(x), shares), np.quantile(x, shares), 4)
    two = np.stack([x, x[::-1]])
    assert_same(iruka.median(iruka.array(two), axis=1), np.median(two, axis=1), 1)
    if dtype[0] == "f":
        x[n // 2] = np.nan
        assert np.isnan(float(iruka.median(iruka.array(x))))
        assert_same(iruka.nanmedian(iruka.array(x)), np.nanmedian(x), 1)


def test_nan():
    x = np.array([[1.0, np.nan, 3.0, 9.0], [4.0, 5.0, 6.0, 0.5], [np.nan, np.nan, 2.0, np.nan]])
    a = iruka.array(x)
    for axis in (None, 0, 1):
        assert_same(iruka.median(a, axis=axis), np.median(x, axis=axis))
        assert_same(iruka.nanmedian(a, axis=axis), np.nanmedian(x, axis=axis), 2)
        for q in (0.3, [0.1, 0.5, 1.0]):
            assert_same(iruka.quantile(a, q, axis=axis), np.quantile(x, q, axis=axis), 4)
            for method in METHODS:
                expected = np.nanquantile(x, q, axis=axis, method=method)
                assert_same(iruka.nanquantile(a, q, axis=axis, method=method), expected, 4, f"{method} {axis} {q}")
    assert_same(
        iruka.nanpercentile(a.astype("float32"), 40, axis=1), np.nanpercentile(x.astype("float32"), 40, axis=1), 4
    )
    assert_same(iruka.nanmedian(a, axis=1, keepdims=True), np.nanmedian(x, axis=1, keepdims=True), 2)
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        assert_same(iruka.nanmedian(iruka.array([[np.nan], [1.0]]), axis=1), np.array([np.nan, 1.0]))


def test_weights(rng):
    x, w = rng.integers(0, 9, (3, 8)) / 2, rng.integers(0, 4, (3, 8)) + np.eye(3, 8)
    a = iruka.array(x)
    for axis in (None, 1):
        for q in (0.4, SHARES):
            expected = np.quantile(x, q, axis=axis, method="inverted_cdf", weights=w)
            assert_same(iruka.quantile(a, q, axis=axis, method="inverted_cdf", weights=w), expected)
    expected = np.percentile(x, [20, 70], axis=1, method="inverted_cdf", weights=w[0])
    assert_same(iruka.percentile(a, [20, 70], axis=1, method="inverted_cdf", weights=w[0]), expected)
    with pytest.raises(ValueError, match="Only method 'inverted_cdf' supports weights"):
        iruka.quantile(a, 0.5, weights=w)
    with pytest.raises(ValueError, match="non-negative"):
        iruka.quantile(a, 0.5, method="inverted_cdf", weights=-w)
    with pytest.raises(ValueError, match="all zero"):
        iruka.quantile(a, 0.5, method="inverted_cdf", weights=w * 0)
    for m in (np, iruka):
        with pytest.raises(IndexError):
            m.quantile(m.ones((2, 0)), 0.5, axis=1, method="inverted_cdf", weights=m.ones((2, 0)))


def test_out_overwrite_and_errors():
    x = iruka.array([[3.0, 1.0], [2.0, 5.0]])
    out = iruka.empty(2)
    assert iruka.median(x, axis=0, out=out, overwrite_input=True) is out
    assert_same(out, np.array([2.5, 3.0]))
    assert iruka.quantile(iruka.array([1, 2, 3]), 0).dtype == np.quantile([1, 2, 3], 0).dtype
    for bad in (-0.1, 1.1, [0.5, 2], np.nan):
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            iruka.quantile(x, bad)
    with pytest.raises(ValueError, match=r"\[0, 100\]"):
        iruka.percentile(x, 101)
    with pytest.raises(ValueError, match="not a valid method"):
        iruka.quantile(x, 0.5, method="cubic")
    for function in (iruka.nanquantile, iruka.quantile):
        with pytest.raises(TypeError, match="real numbers"):
            function(iruka.array([1j]), 0.5)
    with pytest.raises(IndexError):
        iruka.quantile(iruka.zeros(0), 0.5)
    with pytest.warns(RuntimeWarning, match="Mean of empty"):
        assert np.isnan(float(iruka.median(iruka.zeros(0))))


def test_halves_and_dtypes():
    x = np.array([0.1, 0.7, 0.4, 0.3])
    half = iruka.array(x.astype("float16"))
    assert_close(iruka.asnumpy(iruka.median(half)), np.median(x.astype("float16")), "float16", 1)
    for q in (0.5, [0.5], np.float32(0.5)):
        single = x.astype("float32")
        assert iruka.quantile(iruka.array(single), q).dtype == np.quantile(single, q).dtype


@pytest.mark.parametrize("method", METHODS)
def test_integer_shares(method):
    for x in (np.array([4.0, 1, 3, 7, 5]), np.array([7, 7, 2]), np.array([2.5, np.nan], "float32")):
        for function in ("quantile", "nanquantile"):
            for q in (0, 1, [0, 1]):
                expected = getattr(np, function)(x, q, method=method)
                found = getattr(iruka, function)(iruka.array(x), q, method=method)
                np.testing.assert_allclose(iruka.asnumpy(found), expected, rtol=1e-6, err_msg=f"{function} {q}")


def test_weights_without_shares_or_numbers():
    x = iruka.array([[1.0, np.nan, 3.0], [np.nan] * 3])
    w = iruka.ones((2, 3))
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        found = iruka.nanquantile(x, 0.5, axis=1, method="inverted_cdf", weights=w)
    assert_same(found, np.array([1.0, np.nan]))
    assert iruka.quantile(w, [], axis=1, method="inverted_cdf", weights=w).shape == (0, 2)


def test_quantiles_of_far_apart_values():
    for dtype in ("int8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64"):
        limits = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
        x = np.array([limits.min, limits.max], dtype)
        low, high = (np.longdouble(v.item()) for v in x)
        for q in (0.0, 0.25, 0.5, 0.75, 1.0):
            expected = float(low * (1 - q) + high * q)
            size = float(max(abs(low), abs(high)))
            eps = np.finfo(dtype).eps if np.dtype(dtype).kind == "f" else 1e-15
            for function in (iruka.quantile, iruka.nanquantile):
                assert abs(function(iruka.array(x), q).item() - expected) <= 4 * eps * size
        for function in (iruka.median, iruka.nanmedian):
            top = iruka.array(np.array([limits.max, limits.max], dtype))
            assert function(top).item() == float(np.array(limits.max, dtype))


def test_dtype_of_quantiles():
    for dtype in ("int8", "int32", "uint16", "float16", "float32", "float64"):
        x = np.arange(5).astype(dtype)
        for q in (0.3, [0.3], np.float32(0.3), np.float16(0.5), np.array([0.25], "float32"), 1):
            for name in ("quantile", "nanquantile", "percentile", "nanpercentile"):
                assert getattr(iruka, name)(iruka.array(x), q).dtype == getattr(np, name)(x, q).dtype, (dtype, q, name)
    for name in ("quantile", "nanquantile"):
        with pytest.raises(TypeError):
            getattr(iruka, name)(iruka.array([True, False]), 0.3)


def test_medians_of_complex_numbers(rng):
    for shape in ((5,), (4, 6), (1, 3)):
        x = (rng.integers(-3, 3, shape) + 1j * rng.integers(-3, 3, shape)).astype("complex64")
        for axis in (None, 0, -1):
            assert_same(iruka.median(iruka.array(x), axis), np.median(x, axis))
            if x.shape[0] > 1:
                x.flat[0] = np.nan
                np.testing.assert_array_equal(
                    iruka.asnumpy(iruka.nanmedian(iruka.array(x), axis)), np.nanmedian(x, axis)
                )
                x.flat[0] = 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_typed_shares_of_numbers_beside_nan(method, dtype):
    for numbers in (np.arange(1001.0), np.append(np.arange(700, dtype="float32"), np.nan)):
        for q in (np.dtype(dtype).type(0.3), np.array([0.3, 0.77], dtype)):
            expected = np.nanquantile(numbers, q, method=method)
            assert_same(iruka.nanquantile(iruka.array(numbers), q, method=method), np.asarray(expected))


def test_no_shares_of_integers():
    for method in METHODS:
        for function in ("quantile", "nanquantile"):
            expected = getattr(np, function)([1, 2, 3], np.zeros(0), method=method)
            assert_same(getattr(iruka, function)(iruka.array([1, 2, 3]), iruka.zeros(0), method=method), expected)


def test_shares_and_weights_are_checked_where_there_are_no_elements():
    for m in (np, iruka):
        x = m.zeros((0, 3))
        for message, q, keywords in (
            (r"\[0, 1\]", 2.0, {}),
            ("not a valid method|is unknown", 0.5, {"method": "other"}),
            ("weights", 0.5, {"weights": m.ones((0, 3))}),
        ):
            if m is np and "method" in keywords:
                continue
            with pytest.raises(ValueError, match=message):
                m.nanquantile(x, q, **keywords)
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            assert m.nanquantile(x, [0.2, 0.3], axis=0, keepdims=True).shape == (1, 3)


def test_medians_are_cast_to_out():
    for m in (np, iruka):
        for function in (m.median, m.nanmedian):
            for numbers in ([1.0, 2.5, 4.0], [1, 2, 3, 4]):
                out = m.zeros((), int)
                assert function(m.array(numbers), out=out) is out and int(out) == 2
