"""Variance, reductions with `where` and `initial`, and ufunc.reduce's core, against NumPy."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import (
    BFLOAT16,
    DTYPE_IDS,
    DTYPES,
    assert_close,
    assert_same,
    beyond_numbers,
    folds_rightly,
    kind,
    layouts,
    values,
)


def reference(name, x, **keywords):
    """In float64 or better, and the dtype that NumPy gives."""
    if x.dtype == BFLOAT16:
        return getattr(np, name)(x.astype("float64"), **keywords), BFLOAT16
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dtype = np.asarray(getattr(np, name)(x, **keywords)).dtype
        wide = {"f": "longdouble", "c": "clongdouble"}.get(kind(x.dtype))
        return getattr(np, name)(x.astype(wide) if wide else x, **keywords), dtype


def check(name, x, a, ulps=8, **keywords):
    expected, dtype = reference(name, x, **keywords)
    actual = getattr(iruka, name)(a, **keywords)
    assert actual.dtype == dtype and actual.shape == np.shape(expected), (actual.dtype, dtype, actual.shape)
    assert_close(iruka.asnumpy(actual), np.asarray(expected), dtype, ulps, f"{name} {x.dtype} {x.shape} {keywords}")


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_every_dtype(name, dtype, rng):
    x = values(dtype, (3, 4, 5), rng)
    for axis in (None, 0, -1, (0, 2)):
        check(name, x, iruka.array(x), axis=axis)
    check(name, x, iruka.array(x), axis=1, keepdims=True, ddof=1)
    for _, a, same in layouts(x):
        check(name, np.ascontiguousarray(same), a, axis=1, ddof=1)


@pytest.mark.parametrize(
    "shape",
    [(200_000,), (70_000, 3), (3, 70_000), (300, 700), (5, 40_000, 2), (20_000, 17), (100_000, 5), (4, 1500, 40)],
)
def test_long_axes(shape, rng):
    x = (rng.standard_normal(shape) + 1e6).astype("float64")
    a = iruka.array(x)
    for axis in [None, *range(x.ndim)]:
        check("var", x, a, 64, axis=axis)
    single = rng.standard_normal(shape).astype("float32")
    for axis in [None, *range(x.ndim)]:
        check("std", single, iruka.array(single), 8, axis=axis)


@pytest.mark.parametrize("mean", [0, 1e3, 1e8, -1e12])
def test_a_large_mean_ruins_nothing(mean, rng):
    x = rng.standard_normal(300_001) + mean
    exact = np.var(x.astype("longdouble") - np.longdouble(mean))
    for a in (iruka.array(x), iruka.array(x).reshape(-1, 1), iruka.array(np.repeat(x[:, None], 3, 1))):
        found = iruka.asnumpy(iruka.var(a, axis=0))
        assert np.all(np.abs(found - exact) <= exact * (1e-12 + abs(mean) * 1e-19)), (mean, found, exact)


def test_keywords(rng):
    x = rng.standard_normal((4, 6))
    a, mask = iruka.array(x), rng.random((4, 6)) < 0.6
    mask[:, :2] = True
    for name in ("var", "std"):
        for keywords in (
            {"correction": 1},
            {"ddof": 2, "axis": 0},
            {"ddof": 0.5, "axis": 1},
            {"dtype": "float32", "axis": 0},
        ):
            assert_same(getattr(iruka, name)(a, **keywords), getattr(np, name)(x, **keywords), ulps=16)
            assert_same(getattr(a, name)(**keywords), getattr(np, name)(x, **keywords), ulps=16)
        for axis in (None, 0, 1):
            expected = getattr(np, name)(x, axis=axis, where=mask, ddof=1)
            assert_same(getattr(iruka, name)(a, axis=axis, where=iruka.array(mask), ddof=1), expected, ulps=16)
        mean = x.mean(axis=1, keepdims=True)
        assert_same(
            getattr(iruka, name)(a, axis=1, mean=iruka.array(mean)), getattr(np, name)(x, axis=1, mean=mean), 16
        )
        with pytest.raises(ValueError, match="simultaneously"):
            getattr(iruka, name)(a, ddof=1, correction=1)
    out = iruka.empty(6)
    assert iruka.var(a, axis=0, out=out) is out
    assert_same(out, x.var(axis=0), ulps=16)
    assert_same(a.ptp(axis=1), np.ptp(x, axis=1))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_integers_take_a_variance_and_no_root(dtype):
    for m in (np, iruka):
        x = m.asarray(np.arange(12.0).reshape(3, 4))
        for axis, shape, variance in ((0, (4,), [32 / 3] * 4), (None, (), 143 / 12)):
            assert m.var(x, axis=axis, out=m.zeros(shape, dtype)).tolist() == np.array(variance).astype(dtype).tolist()
            with pytest.raises(TypeError, match="same_kind"):
                m.std(x, axis=axis, out=m.zeros(shape, dtype))
        for name in ("var", "std"):
            with pytest.raises(TypeError):
                getattr(m, name)(x, out=5)


@pytest.mark.cpu_only  # a GPU would have to be waited for
@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.nanmin(x * m.nan),
        lambda m, x: m.nanmax(x * m.nan, axis=1),
        lambda m, x: m.nanmax(m.where(x > 1, x, m.nan), axis=1),
        lambda m, x: m.nanmin(x * m.inf),
        lambda m, x: m.mean(x, axis=1, where=x > 1),
        lambda m, x: m.mean(x, where=x > 9),
        lambda m, x: m.mean(x, axis=0, where=x > 0),
        lambda m, x: m.var(x[:1, :1], ddof=1),
        lambda m, x: m.nanvar(x * m.nan),
        lambda m, x: m.nanpercentile(x * m.nan, 3),
    ],
)
def test_warnings_of_no_elements_are_numpys(call):
    told = []
    for m in (np, iruka):
        x = m.asarray([[1.0, 1.0], [1.0, 2.0]])
        with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call(m, x)
        told.append([str(warning.message).rstrip(".") for warning in found])
    assert told[0] == told[1]
    assert all(warning.filename == __file__ for warning in found)


def test_results_too_large_for_an_output_are_cast():
    for m in (np, iruka):
        x = m.asarray([[1, 1], [1, 1000]])
        for axis, shape in ((None, ()), (0, (2,))):
            largest, extent = m.zeros(shape, "int8"), m.zeros(shape, "int8")
            m.max(x, axis=axis, out=largest)
            m.ptp(x, axis=axis, out=extent)
            assert (largest.tolist(), extent.tolist()) == ((-24, -25) if axis is None else ([1, -24], [0, -25]))
        taken = m.zeros((), "int8")
        m.take(x, 3, out=taken, mode="clip")
        assert taken.item() == -24


@beyond_numbers
def test_warnings_and_nothing():
    for function, keywords, message in (
        (iruka.var, {}, "Degrees of freedom"),
        (iruka.std, {"axis": 0}, "Degrees of freedom"),
        (iruka.mean, {}, "Mean of empty"),
    ):
        with pytest.warns(RuntimeWarning, match=message):
            result = function(iruka.zeros((0, 3)), **keywords)
        assert np.isnan(iruka.asnumpy(result)).all()
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        assert np.isnan(float(iruka.var(iruka.ones(1), ddof=1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert iruka.mean(iruka.zeros((3, 0)), axis=0).shape == (0,)
        assert float(iruka.var(iruka.ones(1))) == 0.0
        with pytest.raises(RuntimeWarning):
            iruka.mean(iruka.zeros(0))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.data())
def test_where_and_initial(shape, data):
    x = np.arange(int(np.prod(shape, dtype=int)), dtype="int32").reshape(shape) - 3
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=x.size, max_size=x.size)), bool).reshape(shape)
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    keepdims = data.draw(st.booleans())
    a, m = iruka.array(x), iruka.array(mask)
    for name in ("sum", "prod", "any", "all"):
        expected = getattr(np, name)(x, axis=axis, keepdims=keepdims, where=mask)
        assert_same(getattr(iruka, name)(a, axis=axis, keepdims=keepdims, where=m), expected)
    for name in ("min", "max", "sum"):
        for keywords in ({"initial": 2}, {"initial": -7, "where": mask}):
            expected = getattr(np, name)(x, axis=axis, keepdims=keepdims, **keywords)
            keywords = {key: m if key == "where" else value for key, value in keywords.items()}
            assert_same(getattr(a, name)(axis=axis, keepdims=keepdims, **keywords), expected)


def test_mean_where(rng):
    x, mask = rng.standard_normal((4, 5)).astype("float32"), rng.random((4, 5)) < 0.7
    mask[0] = True
    for axis in (None, 0):
        assert_same(
            iruka.mean(iruka.array(x), axis=axis, where=iruka.array(mask)), np.mean(x, axis=axis, where=mask), 8
        )
    assert_same(
        iruka.mean(iruka.arange(4), where=[True, False, True, True]),
        np.mean(np.arange(4), where=[1, 0, 1, 1] > np.zeros(4)),
    )
    with pytest.raises(ValueError, match="does not have an identity, so to use a where mask"):
        iruka.max(iruka.array(x), where=iruka.array(mask))
    with pytest.raises(TypeError, match="bool"):
        iruka.sum(iruka.array(x), where=iruka.array(x))
    assert_same(iruka.max(iruka.array(x), 1, iruka.empty(4, "float32")), x.max(1))


NAN_ROWS = np.array([[1.0, np.nan, 3.0, -2.0], [np.nan, 5.0, 0.5, 4.0], [2.0, 1.0, 7.0, np.nan]])


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd", "nanargmin", "nanargmax"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int16"])
def test_nan_left_out(name, dtype):
    x = np.nan_to_num(NAN_ROWS).astype(dtype) if dtype == "int16" else NAN_ROWS.astype(dtype)
    for axis in (None, 0, 1):
        expected = getattr(np, name)(x, axis=axis)
        assert_same(getattr(iruka, name)(iruka.array(x), axis=axis), expected, ulps=8)
    assert_same(
        getattr(iruka, name)(iruka.array(x), axis=1, keepdims=True), getattr(np, name)(x, axis=1, keepdims=True), 8
    )


@pytest.mark.cpu_only
def test_nan_warnings():
    x = iruka.array([[np.nan, np.nan], [1.0, 2.0]])
    for function, message in ((iruka.nanmean, "Mean of empty"), (iruka.nanvar, "Degrees of freedom")):
        with pytest.warns(RuntimeWarning, match=message):
            found = iruka.asnumpy(function(x, axis=1))
        assert np.isnan(found[0]) and not np.isnan(found[1])


def test_nan_selection_of_nothing():
    for function in (iruka.nanargmin, iruka.nanargmax):
        with pytest.raises(ValueError, match="All-NaN slice encountered"):
            function(iruka.array([[np.nan, np.nan], [1.0, 2.0]]), axis=1)


UFUNCS = [
    "add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor", "subtract",
    "divide", "power", "hypot", "logaddexp", "arctan2", "floor_divide",
]  # fmt: skip


@pytest.mark.parametrize("name", UFUNCS)
def test_reduce_with(name, rng):
    x = rng.integers(0, 4, (3, 4)).astype("float64")
    ufunc, function, a = getattr(np, name), getattr(iruka, name), iruka.array(x)
    if not folds_rightly(ufunc, x):
        pytest.skip("NumPy's own reduce is wrong on this processor")
    with np.errstate(all="ignore"):
        for axis in (0, 1, -1):
            for keepdims in (False, True):
                actual = function.reduce(a, axis, keepdims=keepdims)
                assert_same(actual, ufunc.reduce(x, axis, keepdims=keepdims), ulps=8)
        if ufunc.identity is not None or name in ("maximum", "minimum"):
            assert_same(function.reduce(a, None), ufunc.reduce(x, None), ulps=8)
        else:
            mask = np.array([True, False, True])[:, None]
            actual = function.reduce(a, 0, initial=2.0, where=iruka.array(mask))
            assert_same(actual, ufunc.reduce(x, 0, initial=2.0, where=mask), ulps=8)


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64"])
def test_reduce_with_integers(name, dtype, rng):
    x = rng.integers(0, 100 if dtype != "bool" else 2, (3, 40)).astype(dtype)
    function, a = getattr(iruka, name), iruka.array(x)
    if dtype == "bool" and name in ("gcd", "lcm"):
        for reduce in (function.reduce, getattr(np, name).reduce):
            with pytest.raises(TypeError, match="did not contain a loop"):
                reduce(a if reduce == function.reduce else x, 0)
        return
    assert_same(function.reduce(a, 0), getattr(np, name).reduce(x, 0))
    assert_same(function.reduce(a, 1), getattr(np, name).reduce(x, 1))
    if getattr(np, name).identity is not None:
        assert_same(function.reduce(a[:0], 0), getattr(np, name).reduce(x[:0], 0))


def test_reduce_with_errors():
    x = iruka.ones((2, 3))
    with pytest.raises(ValueError, match="not reorderable"):
        iruka.subtract.reduce(x, None)
    with pytest.raises(ValueError, match="no identity"):
        iruka.subtract.reduce(x[:0], 0)
    with pytest.raises(TypeError):
        iruka.bitwise_and.reduce(x, 0)
    with pytest.raises(ValueError, match="binary"):
        iruka.sqrt.reduce(x, 0)


def test_average(rng):
    x, w = rng.standard_normal((3, 4)), rng.random((3, 4))
    a = iruka.array(x)
    assert_same(iruka.average(a), np.average(x), ulps=8)
    for axis in (None, 0, 1):
        assert_same(iruka.average(a, axis, iruka.array(w)), np.average(x, axis, w), ulps=16)
        for actual, expected in zip(iruka.average(a, axis, w, returned=True), np.average(x, axis, w, returned=True)):
            assert_same(actual, expected, ulps=16)
    assert_same(iruka.average(a, 1, w[0]), np.average(x, 1, w[0]), ulps=16)
    assert_same(iruka.average(iruka.arange(4), weights=[1, 2, 3, 4]), np.average(np.arange(4), weights=[1, 2, 3, 4]), 8)
    with pytest.raises(TypeError, match="Axis must be specified"):
        iruka.average(a, weights=w[0])
    with pytest.raises(ValueError, match="consistent"):
        iruka.average(a, 0, w[0])
    with pytest.raises(ZeroDivisionError):
        iruka.average(a, weights=w * 0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_covariance(dtype, rng):
    x = values(dtype, (3, 20), rng)
    y = values(dtype, (20,), rng)
    a = iruka.array(x)
    for keywords in (
        {},
        {"rowvar": False},
        {"bias": True},
        {"ddof": 2},
        {"fweights": np.arange(20)},
        {"aweights": np.arange(20.0)},
        {"fweights": np.arange(20), "aweights": np.linspace(0, 1, 20)},
    ):
        if keywords.get("rowvar") is False:
            keywords, x, a = {}, x.T, a.T
            assert_close(
                iruka.asnumpy(iruka.cov(a, rowvar=False)),
                np.cov(x, rowvar=False),
                iruka.cov(a, rowvar=False).dtype,
                1024,
            )
            x, a = x.T, a.T
        actual, expected = iruka.cov(a, **keywords), np.cov(x, **keywords)
        assert actual.dtype == expected.dtype and actual.shape == expected.shape
        np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(iruka.asnumpy(iruka.cov(a, iruka.array(y))), np.cov(x, y), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(iruka.asnumpy(iruka.cov(a[0])), np.cov(x[0]), rtol=1e-11)
    np.testing.assert_allclose(iruka.asnumpy(iruka.corrcoef(a)), np.corrcoef(x), rtol=1e-11, atol=1e-12)
    with pytest.raises(ValueError, match="2 dimensions"):
        iruka.cov(iruka.ones((2, 2, 2)))
    with pytest.raises(TypeError, match="fweights must be integer"):
        iruka.cov(a, fweights=np.full(20, 0.5))
    with pytest.raises(RuntimeError, match="incompatible numbers"):
        iruka.cov(a, aweights=np.ones(3))


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd", "nanmean"])
def test_dtypes_of_spreads(name, rng):
    for x in (
        rng.integers(0, 99, (4, 5)).astype("uint8"),
        rng.random((4, 5)).astype("float32"),
        (rng.random((4, 5)) + 1j * rng.random((4, 5))).astype("complex64"),
    ):
        for dtype in ("float32", "float64", "complex128"):
            for axis in (None, 1):
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of parts that are dropped
                    expected = getattr(np, name)(x, axis, dtype=dtype)
                actual = getattr(iruka, name)(iruka.array(x), axis, dtype=dtype)
                assert actual.dtype == expected.dtype, (x.dtype, dtype)
                np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-5)
    if name.startswith("nan"):
        with pytest.raises(TypeError, match="inexact"):
            getattr(iruka, name)(iruka.ones(3), dtype="int32")


def test_counts_beyond_16_bits():
    x = iruka.full(70000, 2, dtype="float16")
    every = iruka.ones(70000, dtype=bool)
    assert iruka.nanmean(x).item() == 2 and iruka.nanvar(x).item() == 0 and iruka.nanstd(x).item() == 0
    assert iruka.nanmean(x, where=every).item() == 2 and iruka.var(x, where=every).item() == 0
    assert iruka.nanmean(x).dtype == np.float16


@pytest.mark.parametrize("name", ["var", "std"])
def test_an_array_without_axes_has_no_axis(name):
    with pytest.raises(iruka.AxisError):
        getattr(iruka, name)(iruka.array(3.0), axis=0)


def test_covariances_of_one_row(rng):
    x = rng.integers(0, 9, (1, 6))
    for keywords in ({"rowvar": False}, {"rowvar": True}, {"rowvar": False, "bias": True}):
        np.testing.assert_allclose(
            iruka.asnumpy(iruka.cov(iruka.array(x[:, :4].repeat(2, 0)), **keywords)),
            np.cov(x[:, :4].repeat(2, 0), **keywords),
            atol=1e-14,
        )
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert iruka.cov(iruka.array(x), **keywords).shape == np.cov(x, **keywords).shape


def test_spreads_take_any_output(rng):
    x = rng.random((4, 5)).astype("float32") * 9
    for name in ("var", "std"):
        for dtype in ("float64", "float16", "int32", "complex64"):
            if name == "std" and dtype == "int32":
                continue
            out, expected = iruka.empty(5, dtype=dtype), np.empty(5, dtype)
            if name == "std" and dtype == "int32":
                continue  # both refuse it
            assert getattr(iruka, name)(iruka.array(x), 0, out=out) is out
            getattr(np, name)(x, 0, out=expected)  # squares in float32
            np.testing.assert_allclose(iruka.asnumpy(out), expected, rtol=2e-3 if dtype == "float16" else 1e-5)
    mean = x.mean(0, keepdims=True, dtype="float64")
    for name in ("var", "std", "nanvar", "nanstd"):
        expected = getattr(np, name)(x, 0, mean=mean)
        actual = getattr(iruka, name)(iruka.array(x), 0, mean=iruka.array(mean))
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-5)
