"""Differences, integrals, interpolation and convolution against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPES, assert_same, beyond_numbers, values

PLAIN = [d for d in DTYPES if d != BFLOAT16]


@pytest.mark.parametrize("dtype", PLAIN, ids=[d.name for d in PLAIN])
def test_diff(dtype, rng):
    x = values(dtype, (4, 6), rng)
    a = iruka.array(x)
    for axis in (0, 1, -1):
        for n in (1, 2):
            assert_same(iruka.diff(a, n, axis), np.diff(x, n, axis))
    assert_same(
        iruka.diff(a, axis=0, prepend=iruka.array(x[:1]), append=iruka.array(x[1:3])),
        np.diff(x, axis=0, prepend=x[:1], append=x[1:3]),
    )
    if dtype == np.float64:
        assert_same(iruka.diff(a, prepend=0), np.diff(x, prepend=0))
        assert_same(iruka.diff(a, 9), np.diff(x, 9))


def test_diff_errors_and_ediff1d():
    x = np.array([1, 4, 9, 16])
    with pytest.raises(ValueError, match="non-negative"):
        iruka.diff(iruka.array(x), -1)
    with pytest.raises(ValueError, match="one dimensional"):
        iruka.diff(iruka.array(1))
    assert_same(iruka.ediff1d(iruka.array(x)), np.ediff1d(x))
    assert_same(iruka.ediff1d(iruka.array(x.reshape(2, 2)), 7, [1, 2]), np.ediff1d(x.reshape(2, 2), 7, [1, 2]))
    assert_same(iruka.ediff1d(iruka.array([], dtype="float32")), np.ediff1d(np.array([], "float32")))
    with pytest.raises(TypeError, match="to_end"):
        iruka.ediff1d(iruka.array(x), to_end=0.5)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient(edge_order, rng):
    x = rng.standard_normal((5, 6))
    points = np.cumsum(rng.random(6) + 0.1)
    for spacing in ((), (2.0,), (0.5, 3.0), (0.5, points), (np.arange(5) * 2, points)):
        actual, expected = (
            iruka.gradient(iruka.array(x), *spacing, edge_order=edge_order),
            np.gradient(x, *spacing, edge_order=edge_order),
        )
        assert isinstance(actual, tuple)
        for found, wanted in zip(actual, expected):
            np.testing.assert_allclose(iruka.asnumpy(found), wanted, rtol=1e-12, atol=1e-12)
    for dtype in ("float32", "int32", "complex128"):
        y = values(dtype, (7, 8), rng)
        assert_same(
            iruka.gradient(iruka.array(y), axis=1, edge_order=edge_order),
            np.gradient(y, axis=1, edge_order=edge_order),
            16,
        )
    with pytest.raises(ValueError, match="too small"):
        iruka.gradient(iruka.ones(edge_order), edge_order=edge_order)
    with pytest.raises(TypeError, match="number of arguments"):
        iruka.gradient(iruka.ones((3, 3)), 1, 2, 3)
    with pytest.raises(ValueError, match="match the length"):
        iruka.gradient(iruka.ones(4), [1, 2, 3])


def test_trapezoid(rng):
    y, x = rng.standard_normal((4, 6)), np.cumsum(rng.random(6))
    a = iruka.array(y)
    assert_same(iruka.trapezoid(a), np.trapezoid(y), 16)
    assert_same(iruka.trapezoid(a, dx=0.5, axis=0), np.trapezoid(y, dx=0.5, axis=0), 16)
    assert_same(iruka.trapezoid(a, iruka.array(x)), np.trapezoid(y, x), 64)
    assert_same(iruka.trapezoid(iruka.array([1, 2, 4])), np.trapezoid([1, 2, 4]))


@pytest.mark.parametrize("dtype", PLAIN, ids=[d.name for d in PLAIN])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolutions(name, dtype, rng):
    for lengths in ((9, 4), (4, 9), (1, 5), (6, 6), (10, 3)):
        x, v = values(dtype, lengths[0], rng, -3, 3), values(dtype, lengths[1], rng, -3, 3)
        for mode in ("full", "same", "valid"):
            actual = getattr(iruka, name)(iruka.array(x), iruka.array(v), mode)
            assert_same(actual, getattr(np, name)(x, v, mode), 64, f"{lengths} {mode}")


def test_long_convolution_and_errors(rng):
    x, v = rng.integers(-9, 9, 20_000), rng.integers(-9, 9, 50)
    assert_same(iruka.convolve(iruka.array(x), iruka.array(v)[::-1]), np.convolve(x, v[::-1]))
    assert_same(iruka.convolve(iruka.array([1, 2]), 0.5), np.convolve([1, 2], 0.5))
    with pytest.raises(ValueError, match="v cannot be empty"):
        iruka.convolve(iruka.ones(3), [])
    with pytest.raises(ValueError, match="mode must be"):
        iruka.convolve(iruka.ones(3), [1], "all")
    with pytest.raises(ValueError, match="too deep"):
        iruka.correlate(iruka.ones((2, 2)), [1])


@given(st.lists(st.floats(-4, 12, allow_nan=False), min_size=1, max_size=12))
def test_interp(points):
    xp, fp = np.array([0.0, 1.0, 2.5, 7.0]), np.array([1.0, -1.0, 4.0, 0.5])
    x = np.array(points + [0.0, 7.0, 2.5, np.nan, np.inf, -np.inf])
    assert_same(iruka.interp(iruka.array(x), xp, fp), np.interp(x, xp, fp), 8)
    assert_same(iruka.interp(iruka.array(x), xp, fp, -5, 5), np.interp(x, xp, fp, -5, 5), 8)
    finite = x[np.isfinite(x)]
    found = iruka.asnumpy(iruka.interp(iruka.array(finite), xp, fp, period=6))
    np.testing.assert_allclose(found, np.interp(finite, xp, fp, period=6), rtol=1e-12, atol=1e-12)


def test_interp_of_complex_and_errors():
    xp, fp = [0, 1, 2], [0, 1j, 2]
    assert_same(iruka.interp([0.5, 1.5, 9], xp, fp), np.interp([0.5, 1.5, 9], xp, fp), 8)
    assert_same(iruka.interp(1.5, xp, [1, 2, 4]), np.asarray(np.interp(1.5, xp, [1, 2, 4])))
    assert_same(iruka.interp([-1, 3, 4], [3], [2]), np.interp([-1, 3, 4], [3], [2]))
    for message, arguments in (
        ("same length", ([1], [1, 2], [1])),
        ("is empty", ([1], [], [])),
        ("too deep", ([1], [[1]], [[1]])),
    ):
        with pytest.raises(ValueError, match=message):
            iruka.interp(*arguments)
    with pytest.raises(ValueError, match="non-zero"):
        iruka.interp([1], [1, 2], [1, 2], period=0)


@pytest.mark.parametrize("length", [2, 3, 4, 9])
def test_gradient_of_few_elements(length):
    x = np.arange(length, dtype="float64") ** 2
    table = np.add.outer(x, 3 * x)
    np.testing.assert_allclose(iruka.asnumpy(iruka.gradient(iruka.array(x), 0.5)), np.gradient(x, 0.5))
    for axis in (0, 1):
        ours = iruka.gradient(iruka.array(table), axis=axis)
        np.testing.assert_allclose(iruka.asnumpy(ours), np.gradient(table, axis=axis))


@beyond_numbers
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "complex64"])
def test_trapezoid_does_not_overflow(dtype, rng):
    if dtype in ("float16", "complex64"):
        x = np.full((3, 5), 60000, dtype)
    else:
        x = rng.integers(0, 2**62, (3, 5)).astype(dtype)
    wide = x.astype("complex128" if dtype == "complex64" else "float64")
    for keywords in (
        {"axis": 0, "dx": 0.125},
        {"x": np.array([200, 100, 150, 10, 20], "uint8")},
        {"dx": np.float32(0.5)},
    ):
        given = {name: iruka.array(value) if name == "x" else value for name, value in keywords.items()}
        if "x" in keywords:
            keywords["x"] = keywords["x"].astype(float)
        expected = np.trapezoid(wide, **keywords)
        actual = iruka.trapezoid(iruka.array(x), **given)
        if dtype == "float16":
            with np.errstate(over="ignore"):
                expected = expected.astype(
                    "float32" if "dx" in keywords and type(keywords["dx"]) is np.float32 else "float16"
                )
        rtol = {"float16": 2e-3, "complex64": 1e-5}.get(dtype, 1e-6)
        np.testing.assert_allclose(iruka.asnumpy(actual).astype(expected.dtype), expected, rtol=rtol, atol=1e-4)
    assert iruka.trapezoid(iruka.array([1, 2], dtype="int8"), dx=np.float32(1)).dtype == np.float32


def test_gradient_has_the_order_of_its_array(rng):
    for x in (rng.random((4, 5, 6)), np.asfortranarray(rng.random((4, 5))), rng.integers(0, 9, (4, 5)).astype("uint8")):
        for actual, expected in zip(iruka.gradient(iruka.asarray(x)), np.gradient(x)):
            assert actual.strides == expected.strides
            np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-12, atol=1e-14)
    with pytest.raises(TypeError):
        iruka.gradient(iruka.array([True, False]))


def test_correlate_is_contiguous_and_takes_numbers_of_modes():
    short, long = np.array([1, 2]), np.array([3, 1, 4, 1])
    for mode in ("full", "same", "valid", 0, 1, 2):
        for a, v in ((short, long), (long, short)):
            actual = iruka.correlate(iruka.array(a), iruka.array(v), mode)
            assert_same(actual, np.correlate(a, v, mode))
            assert actual.flags.c_contiguous
            assert_same(iruka.convolve(iruka.array(a), iruka.array(v), mode), np.convolve(a, v, mode))
    with pytest.raises(ValueError):
        iruka.correlate(iruka.array(1), iruka.array(long))


def test_differences_that_numpy_refuses():
    with pytest.raises(TypeError):
        iruka.ediff1d(iruka.array([True, False]))
    with pytest.raises(OverflowError):
        iruka.unwrap(iruka.array([0, 3, 8], dtype="uint64"), period=360)
    with pytest.raises(TypeError):
        iruka.interp(iruka.array([1j]), [0.0, 1.0], [0.0, 1.0])


def test_interp_of_complex_values_and_of_infinities():
    x = np.array([-1.0, 0.25, 0.5, 1.5, 2.0, 3.0, np.inf, -np.inf])
    for xp, fp in (
        ([0, 1, 2], [1j, 2, 3 - 1j]),
        ([0, 1, 2], [0, np.inf, 5]),
        ([0, 1, np.inf], [1, 2, 3]),
        ([-np.inf, 0, 2], [np.inf, 1, -np.inf]),
    ):
        for keywords in ({}, {"left": -7, "right": np.inf}):
            with np.errstate(all="ignore"):
                expected = np.interp(x, xp, fp, **keywords)
            assert_same(iruka.interp(iruka.array(x), iruka.array(xp), iruka.array(fp), **keywords), expected)


def test_second_order_ends_of_even_points():
    for step in (np.float32(0.1), 0.5, 2, np.float64(0.1)):
        for x in (np.array([9, 7, -7, 5], "int32"), np.array([1.5, 2, 4, 8], "float32")):
            assert_same(iruka.gradient(iruka.array(x), step, edge_order=2), np.gradient(x, step, edge_order=2), ulps=4)


def test_interp_repairs_each_part_of_a_complex_value(rng):
    points, values = [0.0, 1.0, 2.0], [complex(np.inf, 1), complex(1, np.inf), complex(np.inf, np.inf)]
    x = [0.25, 0.5, 1.5]
    with np.errstate(all="ignore"):
        assert_same(iruka.interp(x, points, values), np.interp(x, points, values))
    points, values, x = np.sort(rng.random(100)), rng.random(100) + 1j * rng.random(100), rng.random(1000)
    assert_same(iruka.interp(x, points, values), np.interp(x, points, values))
    assert_same(iruka.interp(x, points, values.real), np.interp(x, points, values.real))


def test_interp_where_a_point_is_nan():
    for xp, fp, x in (
        ([0.5], [7.0], [-1.0, 0.5, 5.0, np.nan, np.inf]),
        ([np.nan], [2.0], [0.0, np.nan]),
        ([0.0, np.nan, 1.0], [1.0, 2.0, 3.0], [-1.0, 5.0, np.nan]),
        ([np.nan, 0.0, 1.0], [1.0, 2.0, 3.0], [5.0]),
    ):
        for sides in ({}, {"left": -7.0, "right": 9.0}):
            assert_same(iruka.interp(x, xp, fp, **sides), np.interp(x, xp, fp, **sides))


def test_numbers_that_interp_takes():
    for m in (np, iruka):
        points = m.array([0.0, 1.0])
        assert float(m.interp(-1.0, points, points, left=10**30)) == 1e30
        for name, number, error in (
            ("left", 5j, TypeError),
            ("right", "2", TypeError),
            ("left", 10**400, OverflowError),
            ("period", "2", TypeError),
            ("period", [1], TypeError),
            ("period", 10**400, OverflowError),
        ):
            with pytest.raises(error):
                m.interp(0.5, points, points, **{name: number})
