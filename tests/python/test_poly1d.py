"""poly1d against NumPy's."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import assert_same

LISTS = [[1, 0, -2], [2.5], [0, 0, 3, 1], [], 4, [0], [1 + 2j, 0, 1], [1.0, -6, 11, -6], np.array([1, 2], np.float32)]
coefficients = st.lists(st.integers(-5, 5), max_size=5)


def both(*arguments, **keywords):
    return iruka.poly1d(*arguments, **keywords), np.poly1d(*arguments, **keywords)


def same(actual, expected):
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            same(a, e)
    elif isinstance(expected, np.poly1d):
        assert isinstance(actual, iruka.poly1d)
        np.testing.assert_allclose(iruka.asnumpy(actual.coeffs), expected.coeffs, rtol=1e-12, atol=1e-14)
        assert actual.coeffs.dtype == expected.coeffs.dtype
    else:
        assert_same(actual, expected, ulps=8)


@pytest.mark.parametrize("c", LISTS, ids=str)
def test_attributes_and_texts(c):
    p, expected = both(c)
    same(p, expected)
    assert p.order == p.o == len(p) == expected.order and p.variable == "x"
    assert repr(p) == repr(expected) and str(p) == str(expected)
    assert str(iruka.poly1d(p, variable="z")) == str(np.poly1d(expected, variable="z"))
    assert iruka.poly1d(iruka.poly1d(c, variable="t")).variable == "t"
    for name in ("c", "coef", "coefficients"):
        assert_same(getattr(p, name), expected.coeffs)
    np.testing.assert_allclose(iruka.asnumpy(p.roots), expected.roots, rtol=1e-12)
    np.testing.assert_allclose(iruka.asnumpy(p.r), expected.r, rtol=1e-12)
    assert [x.item() for x in p] == list(expected)
    for power in range(-1, 6):
        assert_same(p[power], np.asarray(expected[power]))


def test_roots_in():
    same(*both([1, 2, 3], r=True))
    same(*both([1, 2, 3], True, "y"))
    same(*both([], r=True))


@given(coefficients, st.lists(st.integers(-5, 5), min_size=1, max_size=4).filter(any))
def test_arithmetic(a, b):
    (p, expected_p), (q, expected_q) = both(a), both(b)
    for operate in (
        lambda x, y, other: x + y, lambda x, y, other: x - y, lambda x, y, other: x * y, lambda x, y, other: x / y,
        lambda x, y, other: x + 2, lambda x, y, other: 2 - x, lambda x, y, other: 3 * x, lambda x, y, other: x / 4,
        lambda x, y, other: x + other, lambda x, y, other: x * other, lambda x, y, other: [1, 2] * y,
        lambda x, y, other: [1, 2] / y, lambda x, y, other: [1, 2] - x,
        lambda x, y, other: -x, lambda x, y, other: +x, lambda x, y, other: x**3, lambda x, y, other: x**0,
        lambda x, y, other: x(y), lambda x, y, other: x.deriv(), lambda x, y, other: x.deriv(2),
        lambda x, y, other: x.integ(), lambda x, y, other: x.integ(2, [3, 4]),
    ):  # fmt: skip
        same(operate(p, q, [1, 0, 1]), operate(expected_p, expected_q, [1, 0, 1]))
    assert (p == q) == (expected_p == expected_q) and p == iruka.poly1d(a) and (p != q) == (expected_p != expected_q)
    for points in (3, 2.5, [1, 2], np.linspace(-1, 1, 7)):
        same(p(iruka.asarray(points)), np.asarray(expected_p(np.asarray(points))))


@given(coefficients, coefficients.filter(any))
def test_functions_take_and_give_them(a, b):
    p, q = np.poly1d(a), np.poly1d(b)
    for name in ("polyadd", "polysub", "polymul", "polydiv"):
        same(getattr(iruka, name)(iruka.poly1d(a), iruka.array(q.coeffs)), getattr(np, name)(p, q.coeffs))
        same(getattr(iruka, name)(iruka.array(p.coeffs), iruka.poly1d(b)), getattr(np, name)(p.coeffs, q))
    same(iruka.polyder(iruka.poly1d(a)), np.polyder(p))
    same(iruka.polyint(iruka.poly1d(a), 1, 2), np.polyint(p, 1, 2))
    same(iruka.polyval(iruka.poly1d(a), iruka.arange(3)), np.polyval(p, np.arange(3)))
    np.testing.assert_allclose(iruka.asnumpy(iruka.roots(iruka.poly1d(b))), np.roots(q), rtol=1e-9)


def test_polynomials_stay_so_beside_arrays_and_numpys_scalars():
    p, expected = both([1.0, 2, 3])
    for left in (np.float64(2), np.arange(1, 3), iruka.arange(1, 3)):
        array = iruka.asnumpy(left)
        same(left * p, np.poly1d(np.polymul(array, expected.coeffs)))
        same(left + p, np.poly1d(np.polyadd(array, expected.coeffs)))
        same(left - p, np.poly1d(np.polysub(array, expected.coeffs)))


def test_setting_coefficients():
    p, expected = both([1.0, 2, 3])
    for power, value in ((0, 7), (2, 9), (4, 5)):
        p[power] = expected[power] = value
        same(p, expected)
    with pytest.raises(ValueError, match="negative powers"):
        p[-1] = 2


@pytest.mark.cpu_only
def test_numpy_reads_one():
    assert list(np.asarray(iruka.poly1d([1, 2]))) == [1, 2]


def test_errors():
    with pytest.raises(ValueError, match="Polynomial must be 1d only"):
        iruka.poly1d([[1, 2]])
    for power in (-1, 1.5, [1]):
        with pytest.raises(ValueError, match="Power to non-negative integers only"):
            iruka.poly1d([1, 2]) ** power
    with pytest.raises(TypeError):
        hash(iruka.poly1d([1]))
    assert iruka.poly1d([1]) != 1


def test_polyval_of_booleans_rows_and_numbers():
    for p in ([True, False, True], [[1, 2], [3, 4]], [], [1.5, 2]):
        for x in (True, np.array([True, False]), np.array([2, 3], "int8"), np.array([0.5, 2])):
            expected = np.polyval(np.array(p), x)
            actual = iruka.polyval(iruka.array(np.array(p)), iruka.array(x))
            assert actual.dtype == expected.dtype and actual.tolist() == expected.tolist()
    with pytest.raises(TypeError):
        iruka.polyval(iruka.array(3), iruka.array(2))


def test_ufuncs_take_coefficients():
    p, expected = iruka.poly1d([1, 2, 3]), np.poly1d([1, 2, 3])
    x = np.array([4.0, 5, 6])
    for ours, numpys in (
        (iruka.add(p, 1), np.add(expected, 1)),
        (iruka.multiply(iruka.array(x), p), np.multiply(x, expected)),
        (iruka.sin(p), np.sin(expected)),
        (iruka.where(p, p, 0), np.where(expected, expected, 0)),
        (iruka.power(p, 2), np.power(expected, 2)),
    ):
        assert_same(ours, numpys, ulps=2)
        assert ours.device == p.coeffs.device == iruka.zeros(1).device
    shared = iruka.asarray(p)
    assert shared.device == p.coeffs.device and shared.data.ptr == p.coeffs.data.ptr
    if p.coeffs.device.name == "cpu":
        np.testing.assert_array_equal(np.add(p, x), np.add(expected, x))
    else:
        with pytest.raises(TypeError, match="Implicit conversion"):
            np.add(p, x)
    assert isinstance(iruka.array(x) * p, iruka.poly1d) and isinstance(x * p, iruka.poly1d)
