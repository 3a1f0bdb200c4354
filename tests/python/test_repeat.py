"""repeat against NumPy: every dtype and layout, one count and one for each, and every error."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import DTYPE_IDS, DTYPES, assert_same, layouts, values


def result_of(module, x, repeats, axis):
    try:
        return module.repeat(module.asarray(x), repeats, axis)
    except (ValueError, TypeError, IndexError) as error:
        return next(kind for kind in (IndexError, ValueError, TypeError) if isinstance(error, kind))


def check(x, repeats, axis=None):
    expected, actual = result_of(np, x, repeats, axis), result_of(iruka, x, repeats, axis)
    if isinstance(expected, type):
        assert actual is expected, (x.shape, repeats, axis, actual)
    else:
        assert_same(actual, expected, message=f"{x.shape} {repeats} {axis}")


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_every_dtype_and_layout(dtype, rng):
    for name, x, expected in layouts(values(dtype, (4, 6), rng)):
        for repeats, axis in ((3, None), (2, 0), (40, 1), ([1, 0, 2, 5], 0), ([0, 1, 2, 3, 40, 5], 1)):
            assert_same(iruka.repeat(x, repeats, axis), np.repeat(expected, repeats, axis), message=name)


@pytest.mark.parametrize("shape", [(), (5,), (4, 6), (2, 3, 4), (0, 3)], ids=str)
def test_axes_and_kinds_of_counts(shape):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    kinds = (0, 1, 3, [2], [1, 2, 3], [0, 2, 1, 3], [], 2.0, -1, [1, -1, 2], np.uint64(3), True, [[1, 2]], range(12),
        np.int32(2),
             np.array([1.0, 2.0]), np.arange(4, dtype=np.int8), np.arange(4, dtype=np.uint64), "two")  # fmt: skip
    for axis in (None, *range(-len(shape) - 1, len(shape) + 1)):
        for repeats in kinds:
            if axis is not None and not shape:
                continue  # NumPy lets an axis of a 0-d array be anything within one
            check(x, repeats, axis)
    check(x, 2, None)


@given(st.lists(st.integers(0, 9), max_size=50))
def test_own_counts(counts):
    check(np.arange(len(counts)), counts)
    check(np.arange(3.0 * len(counts)).reshape(len(counts), 3), np.array(counts, np.int64), 0)


def test_large(rng):
    x, counts = rng.integers(0, 256, 300_000).astype(np.uint8), rng.integers(0, 60, 300_000)
    assert_same(iruka.repeat(iruka.array(x), counts), np.repeat(x, counts))
    assert_same(iruka.repeat(iruka.array(x), iruka.array(counts)), np.repeat(x, counts))
    assert_same(iruka.array(x.reshape(3, -1)).repeat(7, axis=1), x.reshape(3, -1).repeat(7, axis=1))


def test_counts_of_ours():
    x = iruka.arange(3)
    assert_same(iruka.repeat(x, iruka.array([2, 0, 1])), [0, 0, 2])
    assert_same(x.repeat(iruka.array([True, False, True])), [0, 2])
    assert_same(x.repeat(iruka.array(2)), [0, 0, 1, 1, 2, 2])
    for dtype in ("float64", "uint64"):
        with pytest.raises(TypeError, match=f"Cannot cast array data from dtype.'{dtype}'. to dtype.'int64'"):
            x.repeat(iruka.ones(3, dtype))
    with pytest.raises(ValueError, match="repeats may not contain negative values"):
        x.repeat(iruka.array([1, -1, 1]))
    with pytest.raises(ValueError, match=r"could not be broadcast together with shape \(3,\) \(2,\)"):
        x.repeat(iruka.array([1, 2]))
    with pytest.raises(ValueError, match="repeats must have one axis, not shape"):
        x.repeat(iruka.ones((3, 1), "int64"))
    with pytest.raises(ValueError, match="more elements than 64 bits can count"):
        x.repeat(iruka.array([2**62, 2**62, 2**62]))
