"""fuse: reductions with initial=, where=, several axes and without NaN, beside NumPy's of the same function."""

import warnings

import numpy as np
import pytest

import iruka
from iruka._fuse import plan
from iruka.errors import TypeError, ValueError

TOLERANCE = {"f2": 1e-2, "f4": 1e-5, "c8": 1e-4, "f8": 1e-12, "c16": 1e-12}


def operands(dtype, shape=(4, 5, 6)):
    rng = np.random.default_rng(7)
    x, y = ((rng.random(shape) * 3).astype(dtype) for _ in range(2))
    if np.dtype(dtype).kind == "c":
        x = x + 1j * y
    if np.dtype(dtype).kind in "fc" and x.size > 9:
        x.reshape(-1)[[3, 9]] = np.nan
    return x, y, rng.random(shape) > 0.4


def check(function, dtype, *arguments):
    """The fused function gives what NumPy gives for the same arrays."""
    fused = iruka.fuse(lambda *given: function(iruka, *given))
    made = iruka.asnumpy(fused(*(iruka.asarray(each) for each in arguments)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.asarray(function(np, *arguments))
    assert made.dtype == expected.dtype and made.shape == expected.shape
    tolerance = TOLERANCE.get(dtype, 1e-12)
    np.testing.assert_allclose(made, expected, rtol=tolerance, atol=tolerance)


# Each kind of accumulator once, and each kind of neutral element.
SAMPLES = {
    "sum": ["?", "u1", "f2", "f4", "c8"], "prod": ["i4", "f8"], "mean": ["i4", "f2", "f4", "c16"], "max": ["?", "i4", "f4"],
    "min": ["u1", "f2"], "any": ["f4"], "all": ["c8"], "var": ["f4", "c8"], "std": ["f2"], "count_nonzero": ["f8"],
    "nansum": ["f4", "c8", "i4"], "nanprod": ["f8"], "nanmax": ["f4", "f2"], "nanmin": ["f8"], "nanmean": ["f2", "f4", "i4"],
    "nanvar": ["f4", "c16"], "nanstd": ["f8"],
}  # fmt: skip
EACH = [(name, dtype) for name, dtypes in SAMPLES.items() for dtype in dtypes]


@pytest.mark.parametrize("name, dtype", EACH)
def test_several_axes(name, dtype):
    x, y, _ = operands(dtype)
    check(lambda xp, x, y: getattr(xp, name)(x + y, axis=(0, 2)), dtype, x, y)
    check(lambda xp, x, y: getattr(xp, name)(x + y, axis=(-1, 0), keepdims=True), dtype, x, y)


@pytest.mark.parametrize("name, dtype", [(n, d) for n, d in EACH if n.endswith(("sum", "prod", "max", "min"))])
def test_initial(name, dtype):
    x, y, mask = operands(dtype)
    options = {"axis": 1, "initial": 1 if dtype == "?" else 2}
    check(lambda xp, x, y: getattr(xp, name)(x + y, **options), dtype, x, y)
    check(lambda xp, x, y, m: getattr(xp, name)(x + y, where=m, **options), dtype, x, y, mask)


@pytest.mark.parametrize(
    "name, dtype", [(n, d) for n, d in EACH if not n.endswith(("max", "min")) and n != "count_nonzero"]
)
def test_where(name, dtype):
    x, y, mask = operands(dtype)
    check(lambda xp, x, y, m: getattr(xp, name)(x + y, axis=(0, 1), where=m, keepdims=True), dtype, x, y, mask)
    check(lambda xp, x, m: getattr(xp, name)(x, axis=-1, where=m), dtype, x, mask[0])
    if name in ("var", "nanstd"):
        check(lambda xp, x, m: getattr(xp, name)(x * 2, axis=1, where=m, ddof=2), dtype, x, mask)


def test_nothing_to_reduce():
    empty = np.zeros((3, 0))
    for name in ("max", "min"):
        check(lambda xp, x: getattr(xp, name)(x * 2, axis=1, initial=-1.5), "f8", empty)
        check(
            lambda xp, x, m: getattr(xp, name)(x, axis=0, initial=2.5, where=m), "f8", np.ones((2, 3)), np.zeros(3, "?")
        )
    check(lambda xp, x: xp.nansum(x + 1, axis=1), "f8", np.full((2, 3), np.nan))
    check(lambda xp, x: xp.nanmean(x + 1, axis=1), "f8", np.array([[np.nan, np.nan], [1, np.nan]]))
    check(lambda xp, x, m: xp.mean(x + 1, axis=1, where=m), "f8", np.ones((2, 2)), np.array([[False], [True]]))


def test_methods_and_ufuncs():
    x, y, mask = operands("f8")
    check(lambda xp, x, y: (x + y).sum(axis=0, initial=3) + (x - y).max(axis=0, initial=0), "f8", x, y)
    check(lambda xp, x, m: (2 * x).mean(axis=0, where=m) + (2 * x).std(axis=0, where=m), "f8", np.abs(y), mask)
    check(lambda xp, x: xp.add.reduce(x * 2, axis=1, initial=4) + xp.maximum.reduce(x, axis=1, initial=9.0), "f8", y)


def test_numbers_of_the_call():
    fused = iruka.fuse(lambda x, start: (2 * x).max(axis=1, initial=start))
    x = np.random.default_rng(1).random((4, 5))
    for start in (0.5, 1.0, 3.0):
        np.testing.assert_array_equal(iruka.asnumpy(fused(iruka.asarray(x), start)), (2 * x).max(axis=1, initial=start))


PAIRS = {
    "?": [("any", "sum")], "i1": [("sum", "max")], "u2": [("mean", "count_nonzero")], "i4": [("prod", "all"), ("min", "sum")],
    "u8": [("min", "max")], "f2": [("max", "mean")], "f4": [("sum", "max"), ("mean", "count_nonzero")], "f8": [("min", "max")],
    "c8": [("sum", "prod")], "c16": [("max", "mean")],
}  # fmt: skip


@pytest.mark.parametrize("dtype", PAIRS)
def test_reductions_of_the_same_elements_share_a_kernel(dtype):
    for shape, axis in [((40, 50), 0), ((40, 50), 1), ((300, 3), (0, 1)), ((), None)]:
        x, y, _ = operands(dtype, shape)
        x, y = (np.nan_to_num(each) for each in (x, y))
        for one, other in PAIRS[dtype]:
            over = {"axis": axis, "keepdims": axis == 1}
            check_all(
                lambda xp, x, y: [getattr(xp, one)(x + y, **over), getattr(xp, other)(x * y, **over)], dtype, x, y
            )


def check_all(function, dtype, *arguments):
    """As check(), of several results; one kernel computes them."""
    fused = iruka.fuse(lambda *given: function(iruka, *given))
    before = plan._reduction_kernel.cache_info()
    made = [iruka.asnumpy(each) for each in fused(*(iruka.asarray(each) for each in arguments))]
    after = plan._reduction_kernel.cache_info()
    assert after.hits + after.misses == before.hits + before.misses + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [np.asarray(each) for each in function(np, *arguments)]
    tolerance = TOLERANCE.get(dtype, 1e-12)
    for one, other in zip(made, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_what_follows_several_reductions():
    x, y, _ = operands("f8", (30, 40))
    x = np.nan_to_num(x)

    def spread(xp, x, y):
        low, high = (x * y).min(axis=0), (x * y).max(axis=0)
        return (x * y - low) / (high - low), xp.sqrt(high) * 2, low

    check_each(spread, x, y)
    # The second reduction needs the first one's result.
    check_each(
        lambda xp, x, y: [(x + y).max(axis=0), (x + y - (x + y).max(axis=0)).min(axis=0), (x - y).min(axis=0)], x, y
    )
    # Other axes, other shapes, places.
    check_each(
        lambda xp, x, y: [(x + y).sum(axis=0), (x + y).sum(axis=1), (x[0] + 1).sum(), (x * 2).argmax(axis=0)], x, y
    )
    # More than one kernel takes.
    check_each(lambda xp, x, y: [(x + k * y).sum(axis=0) for k in range(11)], x, y)
    check_each(lambda xp, x, y: [(x + y).max(axis=1, initial=k) for k in (0, 5)] + [(x * y).min(axis=1)], x, y)
    with pytest.raises(ValueError, match="zero-size array to reduction operation"):
        iruka.fuse(lambda x: ((x + 1).sum(axis=0), (x + 1).max(axis=0)))(iruka.zeros((0, 3)))
    check_each(lambda xp, x: [(x + 1).sum(axis=0), (x + 1).prod(axis=0)], np.zeros((0, 3)))


def check_each(function, *arguments):
    made = iruka.fuse(lambda *given: function(iruka, *given))(*(iruka.asarray(each) for each in arguments))
    for one, other in zip(made, function(np, *arguments), strict=True):
        np.testing.assert_allclose(iruka.asnumpy(one), other, rtol=1e-12, atol=1e-12)


def test_nan_and_overflow_in_a_shared_kernel():
    x = np.ones((400, 30))
    x[399, 2] = x[0, 29] = np.nan
    check_each(lambda xp, x: [(x * 2).max(axis=0), (x * 2).min(axis=0), xp.nanmax(x * 2, axis=0)], x)
    x = np.random.default_rng(2).integers(-(2**63), 2**63 - 1, (300, 40))
    fused = iruka.fuse(lambda x: ((x * 3).sum(axis=0), (x * 3).max(axis=0), (x * 3).prod(axis=0)))
    made = fused(iruka.asarray(x))
    with np.errstate(over="ignore"):
        for one, other in zip(made, ((x * 3).sum(axis=0), (x * 3).max(axis=0), (x * 3).prod(axis=0)), strict=True):
            np.testing.assert_array_equal(iruka.asnumpy(one), other)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "row", "column"])
def test_leading_axes(layout):
    rng = np.random.default_rng(3)
    for shape, axis in [((3000, 7), 0), ((40, 900), 0), ((30, 20, 50), 0), ((30, 20, 50), 1), ((30, 20, 50), (0, 1))]:
        x, y = (rng.integers(-4, 5, shape).astype("f4") for _ in range(2))
        if layout == "F":
            x, y = np.asfortranarray(x), np.asfortranarray(y)
        elif layout == "strided":
            x = np.repeat(x, 2, axis=-1)[..., ::2]
        elif layout == "row":
            y = y.reshape(-1, shape[-1])[0]
        elif layout == "column":
            y = y[(slice(None), *(slice(0, 1),) * (len(shape) - 1))]
        check(lambda xp, x, y: (x * y).sum(axis=axis), "f4", x, y)
        check(lambda xp, x, y: (x + y).max(axis=axis, keepdims=True), "f4", x, y)


@pytest.mark.parametrize(
    "function, error, words",
    [
        (lambda x: iruka.max(x, where=x > 0), ValueError, "does not have an identity, so to use a where mask"),
        (lambda x: iruka.max(x + 1, axis=0, where=x > 0), ValueError, "one has to specify 'initial'"),
        (lambda x: iruka.nanargmax(x + 1), TypeError, "nanargmax"),
        (lambda x: x.__setitem__(slice(1, None), 0), TypeError, "write x[...] = where(mask, value, x)"),
    ],
)
def test_what_is_refused(function, error, words):
    with pytest.raises(error) as caught:
        iruka.fuse(function)(iruka.ones(4))
    assert words in str(caught.value) and "test_fuse_reductions.py, line" in str(caught.value)
