"""Distinct elements and sets give NumPy's results."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, assert_same, kind, values


def with_nans(dtype, shape, rng):
    x = values(dtype, shape, rng, -3, 3)
    return np.where(rng.random(shape) < 0.2, np.nan, x).astype(dtype) if kind(dtype) in "fc" else x


def assert_all_same(actual, expected):
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual, expected):
        assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
@pytest.mark.parametrize("equal_nan", [True, False])
def test_unique_of_every_dtype(dtype, equal_nan, rng):
    if dtype == BFLOAT16:  # ml_dtypes has no order for NaN
        x, reference = values(dtype, (5, 40), rng), values(dtype, (5, 40), rng)
        x, reference = reference, reference.astype(np.float32)
    else:
        x = reference = with_nans(dtype, (5, 40), rng)
    y = iruka.array(x)
    flags = {"return_index": True, "return_inverse": True, "return_counts": True, "equal_nan": equal_nan}
    expected = np.unique(reference, **flags)
    assert_all_same(iruka.unique(y, **flags), (expected[0].astype(dtype), *expected[1:]))
    plain = np.unique(reference, return_counts=True, equal_nan=equal_nan)[0]
    assert_same(iruka.unique(y, equal_nan=equal_nan), plain.astype(dtype))


@pytest.mark.parametrize("flags", range(8))
@pytest.mark.parametrize("shape", [(), (0,), (1,), (300,), (6, 7), (2, 0, 3)], ids=str)
def test_unique_parts(flags, shape, rng):
    x = rng.integers(0, 9, shape)
    parts = dict(zip(("return_index", "return_inverse", "return_counts"), map(bool, (flags & 1, flags & 2, flags & 4))))
    ours, theirs = iruka.unique(iruka.array(x), **parts), np.unique(x, **parts)
    if flags:
        assert_all_same(ours, theirs)
    else:
        assert_same(ours, theirs)


def test_unique_along_the_only_axis_takes_nan_for_one_value():
    x = np.array([np.nan, -0.0, 0.0, np.nan, 1.0, 0.0])
    for equal_nan in (True, False):
        flags = {
            "return_index": True,
            "return_inverse": True,
            "return_counts": True,
            "axis": -1,
            "equal_nan": equal_nan,
        }
        for own, expected in zip(iruka.unique(iruka.array(x), **flags), np.unique(x, **flags), strict=True):
            assert_same(own, expected)


@pytest.mark.parametrize("name", ["int8", "float32", "complex64", "bool"])
@pytest.mark.parametrize("shape", [(40, 2), (3, 4, 5), (1, 3), (0, 3), (3, 0)], ids=str)
def test_unique_along_an_axis(name, shape, rng):
    x = values(np.dtype(name), shape, rng, 0, 1)
    for axis in range(-len(shape), len(shape)):
        if x.shape[axis] == 0 and name != "bool":
            continue
        if x.size == 0 and x.shape[axis] == 0:
            assert_same(iruka.unique(iruka.array(x), axis=axis), np.unique(x, axis=axis))
            continue
        flags = {"return_index": True, "return_inverse": True, "return_counts": True, "axis": axis}
        assert_all_same(iruka.unique(iruka.array(x), **flags), np.unique(x, **flags))


def test_unique_of_long_arrays(rng):
    x = rng.integers(0, 50_000, 300_000)
    flags = {"return_index": True, "return_inverse": True, "return_counts": True}
    assert_all_same(iruka.unique(iruka.array(x), **flags), np.unique(x, **flags))
    assert_same(iruka.unique(iruka.array(x)), np.unique(x))


def test_unique_of_the_array_api(rng):
    x = np.array([[1.0, np.nan, 2.0], [np.nan, 1.0, 0.0]])
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        ours, theirs = getattr(iruka, name)(iruka.array(x)), getattr(np, name)(x)
        assert ours._fields == theirs._fields
        assert_all_same(ours, theirs)
    assert_same(iruka.unique_values(iruka.array(x)), np.array([0.0, 1.0, 2.0, np.nan, np.nan]))


PAIRS = [("int32", "int32"), ("int64", "uint64"), ("float32", "int8"), ("complex64", "float32"), ("bool", "uint8")]
SET_FUNCTIONS = ["intersect1d", "union1d", "setdiff1d", "setxor1d", "isin"]


@pytest.mark.parametrize("names", PAIRS, ids=str)
@pytest.mark.parametrize("function", SET_FUNCTIONS)
@pytest.mark.parametrize("sizes", [(50, 7), (3, 200), (0, 5), (5, 0), (1, 1)], ids=str)
def test_sets(names, function, sizes, rng):
    a, b = (values(np.dtype(name), size, rng, -20, 20) for name, size in zip(names, sizes))
    ours = getattr(iruka, function)(iruka.array(a), iruka.array(b))
    assert_same(ours, getattr(np, function)(a, b))


@given(st.lists(st.integers(-5, 5), max_size=30), st.lists(st.integers(-5, 5), max_size=30))
def test_intersection_with_indices(first, second):
    a, b = np.array(first, np.int64), np.array(second, np.int64)
    ours = iruka.intersect1d(iruka.array(a), iruka.array(b), return_indices=True)
    assert_all_same(ours, np.intersect1d(a, b, return_indices=True))


def test_sets_of_many_axes_scalars_and_lists():
    a, b = [[3, 1], [2, 3]], [[1, 5, 3]]
    for function in SET_FUNCTIONS:
        assert_same(getattr(iruka, function)(a, b), getattr(np, function)(a, b))
    assert_same(iruka.isin(2, [2, 3]), np.isin(2, [2, 3]))
    assert_same(iruka.isin(a, 3, invert=True), np.isin(a, 3, invert=True))
    assert_same(iruka.isin(a, b, kind="table"), np.isin(a, b, kind="table"))
    for dtype in ("int64", "uint8", "bool", "float32", "float64"):
        x = np.array([0, 1, 2]).astype(dtype)
        x = x * x.dtype.type(2.0**70) if x.dtype.kind == "f" else x
        for tests in ([2**70, 1], 2**70, [-(2**64)], [[0], [2**64]], [2**70, 1.5], (2**71, 0)):
            for invert in (False, True):
                assert_same(iruka.isin(iruka.asarray(x), tests, invert=invert), np.isin(x, tests, invert=invert))
    assert_same(iruka.setdiff1d([3, 1, 3], [2], assume_unique=True), np.setdiff1d([3, 1, 3], [2], assume_unique=True))


def test_nan_is_in_no_set():
    a, b = np.array([np.nan, 1.0, -0.0, np.inf]), np.array([np.nan, 0.0, np.inf, 4])
    assert_same(iruka.isin(iruka.array(a), iruka.array(b)), np.isin(a, b))
    z = np.array([1 + 1j, complex(1, np.nan), complex(np.nan, 1), 2])
    assert_same(iruka.isin(iruka.array(z), iruka.array(z)), np.isin(z, z))


ERRORS = [
    (lambda: iruka.unique(iruka.array(3), axis=0), np.exceptions.AxisError, "axis 0 is out of bounds"),
    (
        lambda: iruka.unique([[1, 2]], axis=5),
        np.exceptions.AxisError,
        "axis 5 is out of bounds for array of dimension 2",
    ),
    (lambda: iruka.isin([1], [1], kind="foo"), ValueError, "kind must be None, 'sort' or 'table', not 'foo'"),
    (lambda: iruka.isin([1.5], [1], kind="table"), ValueError, "bools and integers only"),
]


@pytest.mark.parametrize("call, error, words", ERRORS, ids=[words for _, _, words in ERRORS])
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_isin_of_integers_beyond_floats():
    for x in (np.array([1.5, np.inf, np.nan]), np.arange(3)):
        for tests in ([2**1100, 1.5], [-(2**1100), 1], [2**70, 2]):
            assert_same(iruka.isin(iruka.asarray(x), tests), np.isin(x, tests))
