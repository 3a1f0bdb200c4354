"""Reductions over every axis, layout and dtype, against NumPy."""

import ast
import inspect
import itertools
import operator
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, assert_close, assert_same, beyond_numbers, kind, layouts, values

FOLDS = ["sum", "prod", "mean", "min", "max", "any", "all"]
SELECTIONS = ["argmin", "argmax"]


def numpy_fold(name, x, **keywords):
    """NumPy's answer and the dtype the result must have; floats are folded in float64 or more."""
    if x.dtype == BFLOAT16:
        result = getattr(np, name)(x.astype("float64"), **keywords)
        return np.asarray(result), (
            BFLOAT16 if name in ("sum", "prod", "mean", "min", "max") else np.asarray(result).dtype
        )
    dtype = np.asarray(getattr(np, name)(x, **keywords)).dtype
    if kind(x.dtype) in "fc" and name in ("sum", "prod", "mean"):
        wide = x.astype("complex128" if kind(x.dtype) == "c" else "float64")
        return np.asarray(getattr(np, name)(wide, **keywords)), dtype
    return np.asarray(getattr(np, name)(x, **keywords)), dtype


def check(name, x, a, **keywords):
    with np.errstate(all="ignore"):
        expected, dtype = numpy_fold(name, x, **keywords)
    actual = getattr(iruka, name)(a, **keywords)
    message = f"{name} of {x.dtype.name} {x.shape} {keywords}"
    assert actual.dtype == dtype, (message, actual.dtype, dtype)
    if kind(dtype) in "biu" or name in ("min", "max"):
        assert_same(actual, expected.astype(dtype), message=message)
    else:
        assert actual.shape == expected.shape, message
        assert_close(iruka.asnumpy(actual), expected, dtype, 8, message)


@beyond_numbers
@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_against_numpy(name, dtype, rng):
    x = values(dtype, (3, 4, 5), rng, 1, 3) if name == "prod" else values(dtype, (3, 4, 5), rng)
    if kind(dtype) == "c" and name in ("min", "max"):
        x = x.real.astype(dtype)
    for axis in (None, 0, -1, (0, 2)):
        check(name, x, iruka.array(x), axis=axis)
    check(name, x, iruka.array(x), axis=1, keepdims=True)
    for layout, a, same in layouts(x):
        if layout != "contiguous":
            check(name, np.ascontiguousarray(same), a, axis=1)


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if kind(d) != "c"], ids=[d.name for d in DTYPES if kind(d) != "c"])
def test_selections(name, dtype, rng):
    x = values(dtype, (6, 7), rng)
    reference = x.astype("float32") if dtype == BFLOAT16 else x
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            expected = getattr(np, name)(reference, axis=axis, keepdims=keepdims)
            assert_same(getattr(iruka.array(x), name)(axis=axis, keepdims=keepdims), expected)
            assert_same(getattr(iruka.array(x).T, name)(axis=axis), getattr(np, name)(reference.T, axis=axis))


@given(st.lists(st.integers(0, 4), min_size=0, max_size=4), st.data())
def test_any_shape_any_axes(shape, data):
    x = np.arange(int(np.prod(shape, dtype=int)), dtype="int64").reshape(shape)
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1))) if shape else set()
    keepdims = data.draw(st.booleans())
    axis = tuple(sorted(axes))
    assert_same(iruka.sum(iruka.array(x), axis=axis, keepdims=keepdims), np.sum(x, axis=axis, keepdims=keepdims))
    assert_same(iruka.array(x).all(axis=axis, keepdims=keepdims), np.all(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("size", [1, 7, 1000, 65537, 1 << 20])
def test_large_sums_are_exact_to_a_few_ulps(size, rng):
    x = rng.standard_normal(size).astype("float32")
    exact = float(np.sum(x.astype("longdouble")))
    scale = float(np.sum(np.abs(x), dtype="longdouble"))
    assert abs(float(iruka.array(x).sum()) - exact) <= 8 * np.finfo("float32").eps * scale
    y = rng.integers(-1000, 1000, size)
    assert int(iruka.array(y).sum()) == int(y.sum())


def test_nan_and_empty():
    x = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, -np.inf]])
    for name in ("min", "max", "sum", "argmin", "argmax"):
        assert_same(getattr(iruka.array(x), name)(axis=1), getattr(x, name)(axis=1))
    for name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError):
            getattr(iruka.zeros((0,)), name)()
    assert_same(iruka.zeros((0, 3)).sum(axis=0), np.zeros((0, 3)).sum(axis=0))
    assert_same(iruka.zeros((0, 3)).prod(), np.zeros((0, 3)).prod())
    assert_same(iruka.zeros((3, 0)).max(axis=0), np.zeros((3, 0)).max(axis=0))
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert np.isnan(float(iruka.zeros(0).mean()))


def test_dtype_and_out(rng):
    x = values("int8", (5, 6), rng)
    assert_same(iruka.array(x).sum(dtype="int16"), x.sum(dtype="int16"))
    assert_same(iruka.array(x).sum(axis=0, dtype="float32"), x.sum(axis=0, dtype="float32"))
    out = iruka.empty(6, "int64")
    assert iruka.array(x).sum(axis=0, out=out) is out
    assert_same(out, x.sum(axis=0))
    with pytest.raises(ValueError, match=r"out has shape \(5,\)"):
        iruka.array(x).sum(axis=0, out=iruka.empty(5, "int64"))
    out = iruka.empty(6, "uint8")
    iruka.array(x).sum(axis=0, out=out)  # added up in int16, which holds both
    assert_same(out, x.sum(axis=0).astype("uint8"))


@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_indices_go_into_integers_that_int64_holds(name, dtype, rng):
    x = rng.permuted(np.tile(np.arange(300.0), (4, 1)), axis=1)
    if np.can_cast(dtype, "int64"):
        expected, out = np.empty(4, dtype), iruka.empty(4, dtype)
        getattr(np, name)(x, axis=1, out=expected)
        assert getattr(iruka, name)(iruka.array(x), axis=1, out=out) is out
        assert_same(out, expected)
        return
    for m in (np, iruka):
        with pytest.raises(TypeError, match="safe"):
            getattr(m, name)(m.asarray(x), axis=1, out=m.empty(4, dtype))


INITIALS = [np.nan, np.inf, 1j, 1.5, 300, -1, 2**70, True]
INITIALS += [np.float64(np.nan), np.float32(1e10), np.int64(300), np.int8(-1)]
REFUSED = (TypeError, ValueError, OverflowError)


@beyond_numbers
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64", "float32"])
@pytest.mark.parametrize("initial", INITIALS, ids=repr)
def test_initial_is_taken_as_an_element_is(initial, dtype):
    x = np.array([1, 0, 1]).astype(dtype)
    calls = [lambda m, x, name=name: getattr(m, name)(x, initial=initial) for name in ("max", "min", "sum", "prod")]
    calls += [lambda m, x, f=f: getattr(m, f).reduce(x, initial=initial) for f in ("add", "multiply", "maximum")]
    calls.append(lambda m, x: m.max(x, where=x > 0, initial=initial))
    for call in calls:
        with np.errstate(all="ignore"):
            try:
                expected = call(np, x)
            except REFUSED as error:
                with pytest.raises(next(kind for kind in REFUSED if isinstance(error, kind))):
                    call(iruka, iruka.asarray(x))
                continue
        result = call(iruka, iruka.asarray(x))
        assert result.dtype == expected.dtype
        if not (dtype in ("bool", "uint8") and isinstance(initial, np.floating)):  # which NumPy casts by chance
            np.testing.assert_equal(result.item(), expected.item())


def test_a_complex_initial_value_warns():
    for m in (np, iruka):
        for call in (m.sum, m.add.reduce):
            with pytest.warns(np.exceptions.ComplexWarning):
                assert call(m.ones(3), initial=np.complex64(2 + 1j)) == 5


def test_bad_axes():
    x = iruka.ones((2, 3))
    for axis in (2, -3, (0, 5)):
        with pytest.raises(IndexError):
            x.sum(axis=axis)
    with pytest.raises(ValueError, match="duplicate value in 'axis'"):
        x.sum(axis=(0, 0))
    for name in ("argmax", "argmin", "nanargmax", "nanargmin"):
        for module in (np, iruka):
            with pytest.raises(TypeError):
                getattr(module, name)(module.ones((2, 3)), axis=())
    for name in ("mean", "var", "std"):  # these count along the axis, which there is none of
        for module in (np, iruka):
            with pytest.raises(IndexError):
                getattr(module, name)(module.array(2.0), axis=0)
    assert iruka.sum(iruka.array(2.0), axis=0).item() == np.sum(np.array(2.0), axis=0)
    with pytest.raises(TypeError):
        x.sum(axis=1.5)


@pytest.mark.parametrize("order", [None, 1, 2, np.inf, -np.inf, 0, 3, 2.5])
def test_vector_norms(order, rng):
    x = rng.standard_normal((4, 5))
    assert_same(iruka.linalg.norm(iruka.array(x), order, axis=1), np.linalg.norm(x, order, axis=1), ulps=16)
    assert_same(iruka.linalg.norm(iruka.array(x[0]), order), np.linalg.norm(x[0], order), ulps=16)


def test_norm_of_matrices_and_integers(rng):
    x = rng.standard_normal((3, 4, 5)).astype("float32")
    assert_same(iruka.linalg.norm(iruka.array(x)), np.linalg.norm(x), ulps=16)
    assert_same(iruka.linalg.norm(iruka.array(x), axis=(0, 2)), np.linalg.norm(x, axis=(0, 2)), ulps=16)
    assert_same(iruka.linalg.norm(iruka.array(x[0]), "fro"), np.linalg.norm(x[0], "fro"), ulps=16)
    assert_same(iruka.linalg.norm(iruka.arange(10)), np.linalg.norm(np.arange(10)), ulps=16)
    z = x[0, 0] + 1j * x[0, 1]
    assert_same(iruka.linalg.norm(iruka.array(z)), np.linalg.norm(z), ulps=16)


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmin", "nanmax", "count_nonzero"])
def test_further_reductions(name):
    x = np.array([[1.0, np.nan, 0.0], [4.0, 0.0, -2.0]])
    for axis in (None, 0, 1):
        expected = getattr(np, name)(x, axis=axis)
        assert_same(getattr(iruka, name)(iruka.array(x), axis=axis), np.asarray(expected), ulps=4)


def test_methods_and_functions_agree(rng):
    x = iruka.array(values("float64", (3, 4), rng))
    for name, axis in itertools.product(FOLDS + SELECTIONS, (None, 0, 1)):
        assert iruka.array_equal(getattr(x, name)(axis=axis), getattr(iruka, name)(x, axis=axis))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "float16"])
def test_positions_and_counts_in_long_rows(dtype, rng):
    x = values(dtype, (3, 5000), rng)
    x[1, 4321] = 1 if dtype == "bool" else 100
    if kind(x.dtype) == "f":
        x[2, [4100, 4999]], x[0, 7] = np.nan, -0.0
    for name, a, y in (("rows", iruka.array(x), x), ("strided", iruka.array(x)[:, ::2], x[:, ::2])):
        for function in ("argmax", "argmin", "count_nonzero"):
            expected = getattr(np, function)(y, axis=1)
            assert_same(getattr(iruka, function)(a, axis=1), expected, message=f"{function} of {name}")
    if dtype == "bool":
        assert_same(iruka.array(x).sum(axis=1), x.sum(axis=1))


def test_columns_of_float32_are_added_as_exactly_as_rows(rng):
    for rows in (1, 7, 8, 9, 4099):
        x = rng.random((rows, 40)).astype("float32")
        expected = x.astype("float64").sum(axis=0).astype("float32")
        np.testing.assert_allclose(iruka.asnumpy(iruka.array(x).sum(axis=0)), expected, rtol=1e-6)


def test_flags_are_what_is_true():
    x = np.ones((2, 3))
    for flag in (1, 0, np.True_, "yes"):
        assert iruka.sum(iruka.array(x), axis=0, keepdims=flag).shape == x.sum(axis=0, keepdims=bool(flag)).shape
        assert iruka.array(x).max(axis=1, keepdims=flag).shape == x.max(axis=1, keepdims=bool(flag)).shape
        assert iruka.linalg.norm(iruka.array(x), axis=0, keepdims=flag).shape == x.sum(0, keepdims=bool(flag)).shape


@pytest.mark.parametrize(
    "name", ["max", "argmin", "nanmax", "subtract.reduce", "maximum.reduce", "power.reduce", "add.reduce"]
)
@pytest.mark.parametrize("shape, axis", [((0, 0), 0), ((0, 0), 1), ((0, 3), 0), ((0, 3), 1), ((3, 0), 0), ((3, 0), 1)])
def test_an_axis_without_elements(name, shape, axis):
    """Reducing an empty axis without an identity is an error, even if the result has no elements."""
    ours, numpys = (operator.attrgetter(name)(module) for module in (iruka, np))
    try:
        expected = numpys(np.zeros(shape), axis=axis)
    except ValueError:
        with pytest.raises(ValueError, match="has no identity|of an empty sequence"):
            ours(iruka.zeros(shape), axis=axis)
        return
    assert_same(ours(iruka.zeros(shape), axis=axis), expected)


# Every out= below holds the exact result, so that neither wrapping nor saturation occurs.
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("target", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("source", ["bool", "int8", "uint64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "any", "nansum", "cumsum", "cumprod", "nancumsum"])
def test_any_result_is_cast_into_out(name, source, target):
    x = np.array([[1, 1], [0, 1], [1, 1]]).astype(source)
    axis = {"axis": 0}
    shape = x.shape if name.startswith(("cum", "nancum")) else (2,)
    expected, actual = np.zeros(shape, target), iruka.zeros(shape, target)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(np, name)(x, out=expected, **axis)
    assert getattr(iruka, name)(iruka.asarray(x), out=actual, **axis) is actual
    np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-3)


@pytest.mark.parametrize("name", ["all", "any", "max", "min", "nanmax", "nanmin"])
def test_selections_take_out_and_keepdims_by_position(name):
    x = np.arange(12).reshape(3, 4)
    expected = getattr(np, name)(x, 0, None, True)
    a = iruka.asarray(x)
    assert_same(getattr(iruka, name)(a, 0, None, True), expected)
    out = iruka.zeros((1, 4), expected.dtype)
    assert getattr(iruka, name)(a, 0, out, True) is out
    assert_same(out, expected)


def test_an_array_is_no_dtype():
    x = iruka.ones((2, 3))
    with pytest.raises(TypeError, match="dtype from an array"):
        iruka.sum(x, 1, iruka.zeros(2))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float16", "float32", "complex64"])
@pytest.mark.parametrize("source", ["bool", "int8", "uint8", "int64", "float16", "float32"])
def test_a_mean_is_computed_in_its_dtype(source, dtype):
    x = np.arange(1, 41).reshape(4, 10).astype(source)
    with np.errstate(all="ignore"):
        expected = np.mean(x, axis=1, dtype=dtype)
    actual = iruka.mean(iruka.asarray(x), axis=1, dtype=dtype)
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=2e-3)


def test_means_of_halves_count_beyond_their_largest_number():
    n = 200_000
    x = np.ones(n, "float16")
    x[::4] = np.nan
    counts = np.arange(n) % 4 != 0
    a = iruka.asarray(x)
    for result in (iruka.nanmean(a), iruka.mean(a, where=iruka.asarray(counts)), iruka.mean(iruka.ones(n, "float16"))):
        assert result.dtype == "float16" and result.item() == 1
    spread = np.where(counts, np.tile([1, 1, 3, 3], n // 4), np.nan).astype("float16")
    exact = np.nanvar(spread.astype("float64"))
    for function, expected in ((iruka.nanvar, exact), (iruka.nanstd, exact**0.5)):
        assert abs(function(iruka.asarray(spread)).item() - expected) < 1e-3
    for function, expected in ((iruka.var, exact), (iruka.std, exact**0.5)):
        assert abs(function(iruka.asarray(spread), where=iruka.asarray(counts)).item() - expected) < 1e-3


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
def test_what_may_be_nan_refuses_integer_results(name):
    x = iruka.asarray([1.0, np.nan])
    with pytest.raises(TypeError, match="must be inexact"):
        getattr(iruka, name)(x, dtype="int64")
    with pytest.raises(TypeError, match="must be inexact"):
        getattr(iruka, name)(x, out=iruka.zeros((), "int64"))


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize(
    "source, dtype",
    [("float16", "float16"), ("float16", "float32"), ("float32", "float32"), ("int8", "float32"), ("float32", None)],
)
@pytest.mark.parametrize("of_mean", ["float32", "float64", "int64"])
def test_a_variance_about_a_given_mean_has_the_dtype_that_is_asked(name, source, dtype, of_mean):
    x, mean = np.array([[1, 2], [3, 5]], source), np.array([[1], [2]], of_mean)
    expected = getattr(np, name)(x, axis=1, dtype=dtype, mean=mean)
    actual = getattr(iruka, name)(iruka.asarray(x), axis=1, dtype=dtype, mean=iruka.asarray(mean))
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-2)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("source", ["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["var", "std"])
def test_a_variance_is_computed_in_its_dtype(name, source, dtype):
    x = np.random.default_rng(5).integers(0, 50, (4, 9)).astype(source)
    if source[0] == "c" and dtype[0] != "c":
        pytest.skip("NumPy drops imaginary parts of the mean alone")
    if name == "std" and np.dtype(dtype).kind in "iu":
        pytest.skip("NumPy takes this for one result, not for an array of them")
    if np.dtype(source).kind == "f" and dtype in ("int8", "uint16"):
        pytest.skip("floats out of range become what the processor gives")
    expected = getattr(np, name)(x, axis=1, dtype=dtype)
    actual = getattr(iruka, name)(iruka.asarray(x), axis=1, dtype=dtype)
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-4)


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean"])
def test_complex_numbers_that_are_nan_in_one_part(name):
    parts = [1.5, np.nan, -2.0, 3.25]
    x = np.array([[complex(a, b) for b in parts] for a in parts[:3]], "complex64")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for axis in (None, 0, 1):
            for dtype in ("float32", "float64", "complex128", None):
                actual = getattr(iruka, name)(iruka.asarray(x), axis=axis, dtype=dtype)
                assert_same(actual, getattr(np, name)(x, axis=axis, dtype=dtype), 4)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_products_after_an_infinite_initial_value(dtype):
    small, large = np.full(3000, -0.25, dtype), np.full(3001, -4, dtype)
    for factors in (small, large, np.append(small, 0).astype(dtype), np.append(small, np.nan).astype(dtype)):
        for initial in (np.inf, -np.inf, np.nan):
            for call in (
                lambda m, x, v: m.prod(x, initial=v),
                lambda m, x, v: m.multiply.reduce(x, initial=v),
                lambda m, x, v: m.prod(x, initial=v, where=x != 0),
                lambda m, x, v: m.nanprod(x, initial=v),
            ):
                with np.errstate(all="ignore"):
                    assert_same(call(iruka, iruka.asarray(factors), initial), call(np, factors, initial))


@pytest.mark.cpu_only  # a GPU would have to be waited for to learn that a product left the range
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_do_not_leave_the_range_by_their_order(dtype):
    large = dtype == "float64" and 1e200 or 1e30
    x = np.tile(np.array([large, 1 / large], dtype), 3000)
    a = iruka.asarray(x)
    np.testing.assert_allclose(iruka.prod(a).item(), np.prod(x), rtol=1e-3)
    np.testing.assert_allclose(iruka.multiply.reduce(a).item(), np.prod(x), rtol=1e-3)
    table = np.stack([x, np.ones_like(x), np.full_like(x, 2)])
    with np.errstate(all="ignore"):
        for y, axis in ((table, 1), (table.T.copy(), 0), (table[:2], None)):
            np.testing.assert_allclose(
                iruka.asnumpy(iruka.prod(iruka.asarray(y), axis=axis)), np.prod(y, axis=axis), rtol=1e-3
            )
    mixed = np.stack([x, np.where(np.arange(x.size) == 7, 0, x), np.where(np.arange(x.size) // 2 == 4, np.nan, x)])
    for function in ("prod", "nanprod"):  # a row with a factor of 0 or NaN, and one whose products overflow
        for y, axis in ((mixed, 1), (mixed.T.copy(), 0), (mixed[:, None], (1, 2)), (mixed[:, ::-1], -1)):
            with np.errstate(all="ignore"):
                actual = getattr(iruka, function)(iruka.asarray(y), axis=axis)
                np.testing.assert_allclose(iruka.asnumpy(actual), getattr(np, function)(y, axis=axis), rtol=1e-3)
    infinite = np.array([np.inf] + [1 / large] * 40, dtype)
    assert iruka.prod(iruka.asarray(infinite)).item() == np.prod(infinite) == np.inf
    for special in (0.0, np.nan, np.inf):
        assert_same(
            iruka.prod(iruka.asarray(np.array([2, special, 3], dtype))), np.prod(np.array([2, special, 3], dtype))
        )


def test_masks_in_lists_are_of_numbers():
    x = np.array([1, 2, 4], "int8")
    for name, more in (("sum", {}), ("max", {"initial": 0}), ("mean", {})):
        expected = getattr(np, name)(x, where=[1, 0, 1], **more)
        assert getattr(iruka, name)(iruka.array(x), where=[1, 0, 1], **more).item() == expected
    with pytest.raises(TypeError):
        iruka.array(x).sum(where=iruka.array([1, 0, 1]))


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
@pytest.mark.parametrize(
    "source, target", [("int8", "int64"), ("uint8", "float64"), ("int16", "int8"), ("float32", "float64")]
)
def test_an_output_holds_the_initial_value_of_a_selection(name, source, target):
    x = np.array([[1, 2, 3], [5, 4, 7]]).astype(source)
    mask = np.array([[True, False, True], [False, False, False]])
    for initial in (300, 100, 0):
        for where in (True, mask):
            outs = [np.zeros(2, target), iruka.zeros(2, target)]
            getattr(np, name)(x, axis=1, initial=initial, out=outs[0], where=where)
            where = where if where is True else iruka.asarray(where)
            getattr(iruka, name)(iruka.asarray(x), axis=1, initial=initial, out=outs[1], where=where)
            assert_same(outs[1], outs[0])


def test_a_standard_deviation_is_no_integer():
    for module in (np, iruka):
        x = module.array([1.0, 2.0])
        for call in (lambda out: x.std(out=out), lambda out: module.nanstd(x, out=out)):
            with pytest.raises(TypeError):
                call(module.array(0))


@pytest.mark.parametrize("name", ["nansum", "nanprod"])
@pytest.mark.parametrize("source", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64", "uint8", "uint64"])
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_nan_is_ignored_in_results_of_integers(name, source, dtype):
    x = np.array([[1, np.nan, 3], [np.nan, np.nan, 2], [np.nan] * 3], source)
    for axis in (None, 0, 1):
        expected = getattr(np, name)(x, axis=axis, dtype=dtype)
        assert_same(getattr(iruka, name)(iruka.array(x), axis=axis, dtype=dtype), np.asarray(expected))


def test_nan_of_bfloat16_is_ignored_in_results_of_integers():
    x = iruka.array([1, np.nan, 3]).astype("bfloat16")
    assert iruka.nanprod(x, dtype=int) == 3 and iruka.nansum(x, dtype=int) == 4


def test_axes_of_arrays_without_axes():
    for m in (np, iruka):
        x = m.asarray(2.0)
        assert float(m.sum(x, axis=0)) == float(m.max(x, axis=-1)) == float(m.sum(x, axis=())) == 2
        for axis in ((0,), (-1,), (0, 0)):
            for function in (m.sum, m.max, m.any, m.add.reduce, m.hypot.reduce):
                with pytest.raises(np.exceptions.AxisError):
                    function(x, axis=axis)


def test_numbers_as_masks():
    for m in (np, iruka):
        x = m.array([1, 2])
        assert [int(m.sum(x, where=number)) for number in (0, 1, 1.5, np.int64(1))] == [0, 3, 3, 3]
        assert int(m.max(x, where=1, initial=0)) == 2


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "complex64"])
def test_any_and_all_of_many_elements_wherever_they_are_decided(dtype):
    n = 200_000
    for place in (None, 0, 3, 4095, 4096, n - 1):
        for filled in (False, True):
            x = np.full((2, n // 2), filled).astype(dtype)
            if place is not None:
                x.flat[place] = not filled
            for name in ("any", "all"):
                for axis, keepdims in ((None, False), (None, True), ((0, 1), False), (1, False)):
                    expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
                    assert_same(
                        getattr(iruka, name)(iruka.array(x), axis=axis, keepdims=keepdims), np.asarray(expected)
                    )
    odd = np.zeros(n, dtype)
    odd[:3] = 1
    assert bool(iruka.logical_xor.reduce(iruka.array(odd))) == bool(np.logical_xor.reduce(odd))
    odd[5000] = 1
    assert bool(iruka.logical_xor.reduce(iruka.array(odd))) == bool(np.logical_xor.reduce(odd))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sums_and_means_of_many_complex_numbers(dtype, rng):
    x = (rng.standard_normal((60, 50, 40)) + 1j * rng.random((60, 50, 40))).astype(dtype)
    rules = {"rtol": 2e-5, "atol": 1e-4} if dtype == "complex64" else {"rtol": 1e-12, "atol": 1e-11}
    for view in (
        lambda m, x: x,
        lambda m, x: x.T,
        lambda m, x: x[::2, ::-1, 1:],
        lambda m, x: m.broadcast_to(x[:1], x.shape),
    ):
        for name in ("sum", "mean"):
            for axis in (None, 0, 1, -1, (0, 2), ()):
                exact = getattr(np, name)(view(np, x.astype("complex128")), axis=axis, keepdims=True)
                actual = getattr(iruka, name)(view(iruka, iruka.array(x)), axis=axis, keepdims=True)
                assert actual.dtype == dtype and actual.shape == exact.shape
                np.testing.assert_allclose(iruka.asnumpy(actual), exact, **rules)
    x[3, 4, 5] = complex(np.inf, np.nan)
    with np.errstate(all="ignore"):
        assert_same(iruka.sum(iruka.array(x)), np.asarray(complex(np.inf, np.nan), dtype))


@pytest.mark.parametrize("name", [*FOLDS, *SELECTIONS, "count_nonzero", "nansum", "nanprod", "nanmin", "nanmax"])
def test_reductions_take_the_keywords_of_numpy(name):
    x = np.array([1.0, 2.0])
    keywords = [{"dtype": None}, {"out": None}, {"keepdims": True}, {"initial": None}, {"initial": 1}, {"where": True}]
    for keyword in keywords:

        def call(module, keyword=keyword):
            return getattr(module, name)(module.asarray(x), **keyword)

        def call_method(module, keyword=keyword):
            return getattr(module.asarray(x), name)(**keyword)

        # NumPy's methods any and all take a dtype that they do not document.
        has_method = hasattr(x, name) and not (name in ("any", "all") and "dtype" in keyword)
        for function in (call, call_method) if has_method else (call,):
            try:
                expected = function(np)
            except (TypeError, ValueError) as error:  # ValueError: a maximum of chosen elements needs an initial value
                with pytest.raises(type(error)):
                    function(iruka)
            else:
                assert_same(function(iruka), np.asarray(expected))


@pytest.mark.parametrize("name", [*FOLDS, *SELECTIONS, "count_nonzero", "nansum", "nanprod", "nanmin", "nanmax"])
def test_reductions_take_the_positional_arguments_of_numpy(name):
    x = np.array([1.0, 2.0])
    values = {"axis": 0, "dtype": None, "out": None, "keepdims": True, "initial": 1, "where": True}
    names = [key for key in inspect.signature(getattr(np, name)).parameters if key != "a"]
    for count in range(1, len(names) + 1):
        arguments = [values[key] for key in names[:count]]

        def call(module, arguments=arguments):
            return getattr(module, name)(module.asarray(x), *arguments)

        def call_method(module, arguments=arguments):
            return getattr(module.asarray(x), name)(*arguments)

        # NumPy's methods any and all take a dtype before out, which they do not document.
        has_method = hasattr(x, name) and not (name in ("any", "all") and count == 3)
        for function in (call, call_method) if has_method else (call,):
            try:
                expected = function(np)
            except TypeError:
                with pytest.raises(TypeError):
                    function(iruka)
            else:
                assert_same(function(iruka), np.asarray(expected))


def parameters_of(text):
    """Names and defaults, and which are given by name alone, of a def's line without its first parameter."""
    arguments = ast.parse(f"def {text}: ...").body[0].args
    defaults = [ast.unparse(value) for value in (*arguments.defaults, *arguments.kw_defaults)]
    return [each.arg for each in arguments.args[1:]], [each.arg for each in arguments.kwonlyargs], defaults


METHODS = "sum prod mean min max any all argmin argmax var std ptp cumsum cumprod searchsorted".split()


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_the_parameters_of_their_functions(name):
    method = getattr(iruka.ndarray, name).__doc__.splitlines()[0]
    function = inspect.signature(getattr(iruka, name))
    assert parameters_of(method) == parameters_of(f"{name}{function}")
