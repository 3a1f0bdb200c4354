"""Differences, integrals, interpolation and convolution against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPES, assert_same, kind, values

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
        actual, expected = iruka.gradient(iruka.array(x), *spacing, edge_order=edge_order), np.gradient(
            x, *spacing, edge_order=edge_order
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
