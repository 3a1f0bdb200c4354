"""Scans along any axis of any layout, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, assert_close, assert_same, beyond_numbers, kind, layouts, values

SCANS = ["cumsum", "cumprod"]


def expected_scan(name, x, axis, **keywords):
    """NumPy's answer with floats carried in float64, and its dtype."""
    if x.dtype == BFLOAT16:
        return getattr(np, name)(x.astype("float64"), axis, **keywords), BFLOAT16
    dtype = getattr(np, name)(x[..., :0] if x.ndim else x, axis, **keywords).dtype
    wide = {"f": "float64", "c": "complex128"}.get(kind(x.dtype))
    return getattr(np, name)(x.astype(wide) if wide else x, axis, **keywords), dtype


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_every_dtype_axis_and_layout(name, dtype, rng):
    x = values(dtype, (3, 4, 5), rng) if name == "cumsum" else values(dtype, (3, 4, 5), rng, -1, 1)
    for layout, a, same in layouts(x):
        for axis in (None, 0, 1, -1) if layout == "contiguous" else (0, 2):
            expected, result_dtype = expected_scan(name, np.ascontiguousarray(same), axis)
            actual = getattr(iruka, name)(a, axis)
            assert actual.dtype == result_dtype and actual.shape == expected.shape
            if kind(result_dtype) in "fc":
                assert_close(iruka.asnumpy(actual), expected, result_dtype, 4, f"{layout} {axis}")
            else:
                assert_same(actual, expected, message=f"{layout} {axis}")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.data())
def test_any_shape(shape, data):
    x = np.arange(int(np.prod(shape, dtype=int)), dtype="int32").reshape(shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    assert_same(iruka.cumsum(iruka.array(x), axis), np.cumsum(x, axis))
    order = data.draw(st.permutations(range(len(shape))))
    assert_same(iruka.cumsum(iruka.array(x).transpose(order), axis), np.cumsum(x.transpose(order), axis))


@pytest.mark.parametrize("shape", [(1 << 20,), (70001, 3), (3, 70001), (300, 700), (2, 66000, 2), (5000, 17)])
def test_long_axes(shape, rng):
    x = rng.integers(-100, 100, shape)
    a = iruka.array(x)
    for axis in range(x.ndim):
        assert_same(iruka.cumsum(a, axis), np.cumsum(x, axis))
        assert_same(iruka.cumsum(a[::-1], axis), np.cumsum(x[::-1], axis))
        largest = iruka.maximum.accumulate(a, axis)
        assert_same(largest, np.maximum.accumulate(x, axis))
    narrow = x.astype("int8")
    assert_same(iruka.cumsum(iruka.array(narrow), 0), np.cumsum(narrow, 0))
    assert_same(iruka.cumsum(iruka.array(narrow), 0, dtype="int8"), np.cumsum(narrow, 0, dtype="int8"))


def test_float_scans_are_accurate_and_the_same_on_every_run(rng):
    x = rng.standard_normal(1_000_003).astype("float32")
    a = iruka.array(x)
    first = iruka.asnumpy(iruka.cumsum(a))
    exact = np.cumsum(x.astype("longdouble"))
    bound = np.finfo("float32").eps * (np.abs(exact) + 1e-9 * np.cumsum(np.abs(x)))
    assert np.all(np.abs(first - exact) <= bound)
    for _ in range(3):
        assert first.tobytes() == iruka.asnumpy(iruka.cumsum(a)).tobytes()


@pytest.mark.cpu_only
def test_the_number_of_threads_changes_nothing(rng):
    x = iruka.array(rng.standard_normal((400_000, 3)))
    results, before = [], iruka.get_num_threads()
    for threads in (1, 2, 5):
        iruka.set_num_threads(threads)
        results.append([iruka.asnumpy(iruka.cumsum(x, axis)).tobytes() for axis in (None, 0, 1)])
    iruka.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_nan_and_signed_zeros():
    x = np.array([-0.0, -0.0, 1.0, np.nan, 2.0, np.inf, -np.inf])
    with np.errstate(invalid="ignore"):
        for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
            expected = getattr(np, name)(x)
            actual = iruka.asnumpy(getattr(iruka, name)(iruka.array(x)))
            np.testing.assert_array_equal(actual, expected)
    assert np.signbit(iruka.asnumpy(iruka.cumsum(iruka.array(x)))[:2]).all()
    for name in ("maximum", "minimum"):
        actual = getattr(iruka, name).accumulate(iruka.array(x))
        assert_same(actual, getattr(np, name).accumulate(x))


@beyond_numbers
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_products_start_from_the_first_element(dtype):
    for x in ([np.inf + 0j, 1], [1 - 0j], [complex(-0.0, -0.0), 2j], [1, 2, np.inf + 0j]):
        x = np.array(x, dtype)
        with np.errstate(invalid="ignore"):
            expected = np.cumprod(x)
        actual = iruka.asnumpy(iruka.cumprod(iruka.array(x)))
        np.testing.assert_array_equal(actual.real, expected.real)
        np.testing.assert_array_equal(actual.imag, expected.imag)
        assert np.signbit(actual[0].imag) == np.signbit(expected[0].imag)


def test_halves_are_rounded_at_each_step():
    x = np.array([60000, 60000, -60000], "float16")
    with np.errstate(over="ignore"):
        assert_same(iruka.add.accumulate(iruka.array(x)), np.add.accumulate(x))


def test_cumulative_functions(rng):
    x = rng.integers(-5, 5, (4, 5)).astype("int16")
    for name in ("cumulative_sum", "cumulative_prod"):
        for axis in (0, 1, -1):
            for initial in (False, True):
                keywords = {"axis": axis, "include_initial": initial}
                assert_same(getattr(iruka, name)(iruka.array(x), **keywords), getattr(np, name)(x, **keywords))
        with pytest.raises(ValueError, match="axis"):
            getattr(iruka, name)(iruka.array(x))
        assert_same(getattr(iruka, name)(iruka.array(x[0])), getattr(np, name)(x[0]))


def test_out_dtype_and_methods(rng):
    x = rng.integers(0, 9, (3, 4)).astype("uint8")
    a = iruka.array(x)
    assert_same(a.cumsum(), x.cumsum())
    assert_same(a.cumprod(axis=1), x.cumprod(axis=1))
    assert_same(a.cumsum(0, dtype="float32"), x.cumsum(0, dtype="float32"))
    out = iruka.empty((3, 4), "uint64")
    assert a.cumsum(axis=0, out=out) is out
    assert_same(out, x.cumsum(axis=0))
    own = iruka.array([1.0, 2.0, 3.0])
    iruka.cumsum(own, out=own)
    assert_same(own, np.array([1.0, 3.0, 6.0]))
    assert_same(iruka.cumsum(3), np.cumsum(3))
    assert_same(iruka.cumsum(iruka.zeros((0, 3)), 0), np.cumsum(np.zeros((0, 3)), 0))


def test_errors():
    x = iruka.ones((2, 3))
    for axis in (2, -3):
        with pytest.raises(IndexError, match="out of bounds"):
            iruka.cumsum(x, axis)
    with pytest.raises(ValueError, match="shape"):
        iruka.cumsum(x, 0, out=iruka.empty(3))
    with pytest.raises(TypeError, match="iruka.ndarray"):
        iruka.cumsum(x, 0, out=True)


@pytest.mark.parametrize("name", ["subtract", "divide", "logaddexp", "bitwise_xor", "fmax", "hypot"])
def test_accumulate_of_other_functions(name, rng):
    x = rng.integers(1, 9, (3, 4)).astype("int32" if name == "bitwise_xor" else "float64")
    for axis in (0, 1):
        actual = getattr(iruka, name).accumulate(iruka.array(x), axis)
        assert_same(actual, getattr(np, name).accumulate(x, axis), ulps=8)
    with pytest.raises(ValueError, match="binary"):
        iruka.negative.accumulate(iruka.array(x))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint64"])
def test_integers_wrap(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, info.min, -1 if info.min else 1, info.max, 7], dtype)
    with np.errstate(over="ignore"):
        for name in ("cumsum", "cumprod"):
            expected = getattr(np, name)(x, dtype=dtype)
            np.testing.assert_array_equal(iruka.asnumpy(getattr(iruka, name)(iruka.array(x), dtype=dtype)), expected)
