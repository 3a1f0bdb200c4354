"""ufuncs as objects: keywords of a call, attributes, and the methods reduce, accumulate, reduceat, outer, at."""

import functools
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, assert_same, beyond_numbers, folds_rightly, layouts, values
from iruka import errors

BINARY = (
    "add multiply subtract divide power logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor maximum "
    "minimum fmax fmin hypot logaddexp gcd lcm arctan2 remainder floor_divide equal left_shift"
).split()


def both(call_ours, call_numpys):
    """The results of both, or None where both raise; errors are of one family."""
    try:
        with np.errstate(all="ignore"):
            expected = call_numpys()
    except Exception as error:
        family = next(c for c in (ValueError, TypeError, IndexError, OverflowError) if isinstance(error, c))
        with pytest.raises(family):
            call_ours()
        return None
    return call_ours(), expected


def compare(call_ours, call_numpys, ulps=0, message=""):
    results = both(call_ours, call_numpys)
    if results is not None:
        assert_same(results[0], results[1], ulps, message)


# Calls.


@beyond_numbers
@pytest.mark.parametrize("name", ["add", "divide", "maximum", "less", "logical_and", "negative", "exp", "isfinite"])
@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
def test_where(name, dtype, rng):
    ours, numpys = getattr(iruka, name), getattr(np, name)
    inputs = [values(dtype, (4, 6), rng) for _ in range(ours.nin)]
    mask = rng.integers(0, 2, (4, 6)).astype(bool)
    for where in (mask, mask[0], mask[:, :1], False):
        with np.errstate(all="ignore"):
            natural = numpys(*inputs).dtype
            expected = np.full((4, 6), 7, natural)
            numpys(*inputs, out=expected, where=where)
        out = iruka.full((4, 6), 7, natural)
        given = iruka.asarray(where) if isinstance(where, np.ndarray) else where
        assert ours(*map(iruka.array, inputs), out=out, where=given) is out
        assert_same(out, expected, 4)


def test_where_widens_the_result_and_warns():
    mask = np.array([[True], [False]])
    with pytest.warns(UserWarning, match="without 'out'"):
        result = iruka.add(iruka.arange(3), 1, where=iruka.asarray(mask))
    assert result.shape == (2, 3) and result[0].tolist() == [1, 2, 3]
    assert iruka.add(iruka.arange(3), 1, where=[True, True, True], out=None).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match=r"Cannot cast array data from dtype\('int64'\) to dtype\('bool'\)"):
        iruka.add(1, 2, where=iruka.arange(2))
    with pytest.raises(ValueError):
        iruka.add(iruka.arange(3), 1, where=iruka.asarray(mask), out=iruka.zeros(3, "int64"))


def test_masked_output_that_overlaps_an_input():
    x = np.arange(20.0)
    a = iruka.array(x)
    mask = np.arange(19) % 3 != 0
    iruka.add(a[:-1], a[1:], out=a[1:], where=iruka.asarray(mask))
    np.add(x[:-1], x[1:], out=x[1:], where=mask)
    assert_same(a, x)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
def test_casting_and_dtype(casting, dtype):
    for source in ("int32", "float32", "float64", "uint8"):
        x = np.arange(4).astype(source)
        compare(
            lambda: iruka.add(iruka.array(x), iruka.array(x), dtype=dtype, casting=casting),
            lambda: np.add(x, x, dtype=dtype, casting=casting),
            message=f"{source} to {dtype} by {casting}",
        )
        out, expected = iruka.zeros(4, dtype), np.zeros(4, dtype)
        compare(
            lambda: iruka.multiply(iruka.array(x), iruka.array(x), out=out, casting=casting),
            lambda: np.multiply(x, x, out=expected, casting=casting),
        )


def test_unsafe_calls_teach_safe_ones_nothing():
    x = iruka.arange(3, dtype="float64")
    assert iruka.add(x, x, dtype="int32", casting="unsafe").dtype == np.int32
    with pytest.raises(
        TypeError,
        match=r"Cannot cast ufunc 'add' input 0 from dtype\('float64'\) to dtype\('int32'\) with casting rule",
    ):
        iruka.add(x, x, dtype="int32")
    with pytest.raises(TypeError, match="with casting rule 'no'"):
        iruka.add(x, iruka.arange(3), casting="no")


def test_signatures():
    x = iruka.arange(3, dtype="int32")
    for keywords in ({"signature": "dd->d"}, {"sig": "dd->d"}, {"signature": (float, None, None)}):
        assert iruka.add(x, x, **keywords).dtype == np.float64
    assert iruka.add(x, x, signature=(None, None, "float32"), casting="unsafe").dtype == np.float32
    assert iruka.less(x, x, signature="dd->?").dtype == bool
    assert iruka.subtract(iruka.ones(2, bool), iruka.ones(2, bool), dtype="int8").tolist() == [0, 0]
    for keywords, cls, text in (
        ({"signature": "d"}, TypeError, "Use `dtype`"),
        ({"signature": "dd->d", "dtype": "d"}, TypeError, "cannot specify both 'signature' and 'dtype'"),
        ({"signature": "ddd->d"}, ValueError, r"a type-string for add, 2 typecode\(s\) before and 1 after"),
        ({"signature": ("d", "d")}, ValueError, "a type-tuple must be specified of length 3 for ufunc 'add'"),
        ({"signature": "dF->d"}, TypeError, "No loop matching"),
        ({"signature": 3}, TypeError, "must be a string or a tuple"),
        ({"sig": "dd->d", "signature": "dd->d"}, TypeError, "both 'sig' and 'signature'"),
        ({"casting": "same_value"}, ValueError, r"got 'same_value'"),
        ({"order": "Z"}, ValueError, r"order must be one of 'C', 'F', 'A', or 'K' \(got 'Z'\)"),
        ({"foo": 1}, TypeError, r"add\(\) got an unexpected keyword argument 'foo'"),
        ({"out": 3}, TypeError, "return arrays must be of ArrayType"),
        ({"out": (x, x)}, ValueError, "exactly one entry per ufunc output"),
    ):
        with pytest.raises(cls, match=text) as caught:
            iruka.add(x, x, **keywords)
        assert isinstance(caught.value, errors.Error)
    with pytest.raises(TypeError, match="both a positional and keyword"):
        iruka.add(x, x, x, out=x)
    with pytest.raises(TypeError, match="from 2 to 3 positional arguments but 5 were given"):
        iruka.add(1, 2, 3, 4, 5)
    with pytest.raises(TypeError, match="'out' must be a tuple of arrays"):
        iruka.divmod(x, 2, out=x)
    with pytest.raises(TypeError, match="No loop matching"):
        iruka.equal(x, x, dtype=float)
    with pytest.raises(TypeError, match="'bitwise_and' not supported for the input types"):
        iruka.bitwise_and(1.5, 2.5)


def test_some_outputs_given():
    x = np.array([5, 7, -3])
    rest = iruka.zeros(3, "int64")
    quotient, same = iruka.divmod(iruka.array(x), 4, out=(None, rest))
    assert same is rest
    assert_same(quotient, x // 4)
    assert_same(rest, x % 4)
    assert iruka.add(1, 2, out=(None,)).item() == 3


@pytest.mark.parametrize("order", ["K", "C", "F", "A"])
def test_order_of_new_outputs(order):
    base = np.arange(24.0).reshape(2, 3, 4)
    for view in (
        lambda x: x,
        lambda x: x.T,
        lambda x: x.transpose(1, 0, 2),
        lambda x: x[:, ::-1],
        lambda x: x[:, :1],
    ):
        x, a = view(base), view(iruka.array(base))
        for ours, numpys in (
            (iruka.negative(a, order=order), np.negative(x, order=order)),
            (iruka.add(a, 1, order=order), np.add(x, 1, order=order)),
            (iruka.add(a, a.copy(), order=order), np.add(x, x.copy(), order=order)),
            (iruka.add(a, a[..., :1], order=order), np.add(x, x[..., :1], order=order)),
        ):
            assert_same(ours, numpys)
            assert ours.strides == numpys.strides, (order, x.strides)


def test_attributes():
    for name in ("add", "sin", "divmod", "logical_xor", "bitwise_and", "logaddexp", "maximum", "subtract", "frexp"):
        ours, numpys = getattr(iruka, name), getattr(np, name)
        for attribute in ("nin", "nout", "nargs", "identity", "signature", "__name__"):
            assert getattr(ours, attribute) == getattr(numpys, attribute), (name, attribute)
        assert repr(ours) == repr(numpys) and ours.ntypes == len(ours.types)
        assert isinstance(ours, iruka.ufunc) and ours.__doc__.startswith(f"{name}(")
        known = {t.replace("q", "l").replace("Q", "L") for t in numpys.types}
        assert {t for t in ours.types if "E" not in t} - {"??->?"} <= known
        for protocol in (2, 5):
            assert pickle.loads(pickle.dumps(ours, protocol)) is ours
    assert iruka.mod is iruka.remainder and iruka.abs is iruka.absolute and iruka.mod.__name__ == "remainder"


# Methods.


@beyond_numbers
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32"])
def test_reduce_accumulate_reduceat(name, dtype, rng):
    ours, numpys = getattr(iruka, name), getattr(np, name)
    x = np.abs(values(dtype, (3, 5, 4), rng, high=3)).astype(dtype)
    if not folds_rightly(numpys, x):
        pytest.skip("NumPy's own reduce is wrong on this processor")
    a = iruka.array(x)
    mask = np.array([True, False, True, True])
    for axis in (0, 1, -1, None, (0, 2), ()):
        for keywords in ({}, {"keepdims": True}, {"initial": 2}, {"initial": 1, "where": mask}):
            given = {k: iruka.asarray(v) if k == "where" else v for k, v in keywords.items()}
            message = f"{name}.reduce of {dtype}, axis={axis}, {keywords}"
            ulps = 64 if name == "power" else 6
            if name in ("hypot", "logaddexp") and dtype in ("bool", "uint8"):
                ulps = 64  # float16 rounds every step, and the steps have no order
            compare(
                lambda: ours.reduce(a, axis=axis, **given),
                lambda: numpys.reduce(x, axis=axis, **keywords),
                ulps,
                message,
            )
    ulps = 64 if name == "power" else 4
    for axis in (0, 1, 2):
        message = f"{name}.accumulate or reduceat of {dtype}"
        compare(lambda: ours.accumulate(a, axis), lambda: numpys.accumulate(x, axis), ulps, message)
        starts = [0, 2, 1]
        compare(lambda: ours.reduceat(a, starts, axis), lambda: numpys.reduceat(x, starts, axis), ulps, message)


@given(
    name=st.sampled_from(["add", "subtract", "maximum", "bitwise_xor", "gcd", "logical_or"]),
    shape=st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple),
    axis=st.integers(-1, 0),
    layout=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_methods_over_shapes_and_layouts(name, shape, axis, layout, seed):
    rng = np.random.default_rng(seed)
    ours, numpys = getattr(iruka, name), getattr(np, name)
    variants = list(layouts(values("int32", shape, rng)))
    _, a, x = variants[layout % len(variants)]
    for keepdims in (False, True):
        compare(lambda: ours.reduce(a, axis, keepdims=keepdims), lambda: numpys.reduce(x, axis, keepdims=keepdims))
    compare(lambda: ours.accumulate(a, axis), lambda: numpys.accumulate(x, axis))
    starts = rng.integers(0, 4, 3)
    compare(lambda: ours.reduceat(a, iruka.asarray(starts), axis), lambda: numpys.reduceat(x, starts, axis))


@pytest.mark.parametrize("name", ["hypot", "fmax", "bitwise_xor", "gcd", "logical_xor", "logaddexp"])
@pytest.mark.parametrize("shape, axis", [((100_003,), 0), ((3, 5000), 1), ((5000, 3), 0), ((2, 3000, 3), 1)])
def test_long_axes_are_folded_in_pieces(name, shape, axis, rng):
    dtype = "float64" if name in ("hypot", "fmax", "logaddexp") else "int64"
    x = values(dtype, shape, rng, low=0)
    if name == "gcd":
        x *= 6
    compare(
        lambda: getattr(iruka, name).reduce(iruka.array(x), axis), lambda: getattr(np, name).reduce(x, axis), ulps=5000
    )


@pytest.mark.parametrize("name", ["hypot", "gcd", "lcm", "logaddexp"])
def test_lines_that_are_masked_as_a_whole(name):
    """NumPy returns the initial value unchanged, although the function would return its magnitude."""
    x = np.array([[-7, 3], [1, 2], [5, 6]], "int64" if name in ("gcd", "lcm") else "float64")
    for mask in (np.array([[False, True], [False, False], [False, True]]), np.zeros((3, 2), bool)):
        for axis in (0, 1) if name == "lcm" else (0, 1, (0, 1), None):
            for keepdims in (False, True):
                expected = getattr(np, name).reduce(x, axis, initial=-5, where=mask, keepdims=keepdims)
                actual = getattr(iruka, name).reduce(
                    iruka.array(x), axis, initial=-5, where=iruka.array(mask), keepdims=keepdims
                )
                assert_same(actual, expected, 4)


def test_reduction_dtypes_and_outputs(rng):
    x = values("int8", (4, 5), rng)
    a = iruka.array(x)
    for dtype in ("int8", "float32", "int64", "complex64"):
        assert_same(iruka.add.reduce(a, dtype=dtype), np.add.reduce(x, dtype=dtype))
        assert_same(iruka.add.accumulate(a, dtype=dtype), np.add.accumulate(x, dtype=dtype))
    out = iruka.zeros(5, "float64")
    assert iruka.add.reduce(a, out=out) is out and iruka.add.reduce(a, 0, None, (out,)) is out
    assert_same(out, np.add.reduce(x, out=np.zeros(5)))
    assert iruka.multiply.accumulate(a, 1, out=iruka.zeros((4, 5))).dtype == np.float64
    assert iruka.add.reduce(iruka.ones(3), out=iruka.zeros((), "int32")).item() == 3  # methods cast into any output
    with pytest.raises(ValueError, match=r"out has shape \(4,\), the result \(5,\)"):
        iruka.add.reduce(a, out=iruka.zeros(4))
    assert iruka.maximum.reduce(iruka.zeros((0, 3)), initial=3).tolist() == [3, 3, 3]
    assert iruka.add.reduce(5).item() == 5 and iruka.add.reduce([1, 2]).item() == 3
    half = values("float32", 64, rng).astype(BFLOAT16)
    assert_same(
        iruka.maximum.accumulate(iruka.array(half)), np.maximum.accumulate(half.astype("float32")).astype(BFLOAT16)
    )


@pytest.mark.parametrize(
    "call, cls, text",
    [
        (
            lambda f, x: f.subtract.reduce(x, axis=None),
            ValueError,
            "'subtract' is not reorderable, so at most one axis",
        ),
        (
            lambda f, x: f.subtract.reduce(x[:0]),
            ValueError,
            "zero-size array to reduction operation subtract which has no",
        ),
        (lambda f, x: f.add.reduce(x[:0], initial=None), ValueError, "operation add which has no identity"),
        (
            lambda f, x: f.maximum.reduce(x, where=x > 1),
            ValueError,
            "does not have an identity, so to use a where mask",
        ),
        (lambda f, x: f.less.reduce(x), TypeError, "No loop matching the specified signature and casting"),
        (lambda f, x: f.logical_and.reduce(x, dtype=int), TypeError, "No loop matching the specified signature"),
        (lambda f, x: f.sin.reduce(x), ValueError, "reduce only supported for binary functions"),
        (lambda f, x: f.divmod.reduce(x), ValueError, "reduce only supported for functions returning a single value"),
        (lambda f, x: f.add.reduce(x, axis=5), IndexError, "5"),
        (lambda f, x: f.add.accumulate(x.sum()), TypeError, "cannot accumulate on a scalar"),
        (lambda f, x: f.add.accumulate(x, axis=(0, 1)), ValueError, "accumulate does not allow multiple axes"),
        (lambda f, x: f.add.reduceat(x, [0, 9]), IndexError, r"index 9 out-of-bounds in add.reduceat \[0, 2\)"),
        (lambda f, x: f.add.reduceat(x, [0, -1]), IndexError, r"index -1 out-of-bounds in add.reduceat \[0, 2\)"),
        (lambda f, x: f.negative.outer(x, x), ValueError, "outer product only supported for binary functions"),
        (lambda f, x: f.add.outer(x, x, x), TypeError, "exactly two arguments expected"),
        (lambda f, x: f.add.at(x, [9], 1), IndexError, "index 9 is out of bounds for axis 0 with size 2"),
        (lambda f, x: f.add.at(x, [0]), ValueError, "second operand needed for ufunc"),
        (lambda f, x: f.negative.at(x, [0], 1), ValueError, "second operand provided when ufunc is unary"),
        (lambda f, x: f.add.at(3, [0], 1), TypeError, "first operand must be array"),
        (lambda f, x: f.add.reduce(x, foo=1), TypeError, "reduce|incompatible"),
    ],
)
def test_errors_of_methods(call, cls, text):
    for module in (np, iruka):
        own = module.asarray(np.arange(6.0).reshape(2, 3))
        with pytest.raises(cls, match=text):
            call(module, own)
            iruka.asnumpy(own)  # a GPU reports an index at the next wait


def test_outer(rng):
    x, y = values("int16", (2, 3), rng), values("float32", 4, rng)
    for p, q in ((x, y), (y, x), (x, 3), (2, y)):  # a literal counts as an array here
        ours = [iruka.array(v) if isinstance(v, np.ndarray) else v for v in (p, q)]
        assert_same(iruka.multiply.outer(*ours), np.multiply.outer(p, q))
    assert iruka.add.outer(iruka.array(y), iruka.array(y), dtype="float64").dtype == np.float64


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8", "complex64"])
def test_at(dtype, rng):
    for name in ("add", "multiply", "subtract", "maximum"):
        for shape, index in (
            ((10,), [1, 1, -2, 1]),
            ((4, 5), ([0, 0, 3], [1, 1, -1])),
            ((4, 5), (slice(None), [2, 2])),
            ((6,), np.array([True, False, True, True, False, False])),
        ):
            x = values(dtype, shape, rng)
            count = np.arange(x.size).reshape(shape)[index].shape
            for y in (values(dtype, count, rng), 2):
                a = iruka.array(x)
                ours = iruka.asarray(index) if isinstance(index, np.ndarray) else index
                getattr(iruka, name).at(a, ours, iruka.array(y) if isinstance(y, np.ndarray) else y)
                expected = x.copy()
                getattr(np, name).at(expected, index, y)
                assert_same(a, expected, 4)
    a = iruka.array(values(dtype, 5, rng))
    expected = iruka.asnumpy(a)
    iruka.square.at(a, [0, 0, 3])
    np.square.at(expected, [0, 0, 3])
    assert_same(a, expected, 4)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_at_of_functions_of_one_number(dtype):
    x = np.array([0.25, -0.5, 0.75, 0.125]).astype(dtype)
    for name in sorted(
        name for name, ufunc in vars(np).items() if isinstance(ufunc, np.ufunc) and ufunc.nin == ufunc.nout == 1
    ):
        if not isinstance(getattr(iruka, name, None), iruka.ufunc):
            continue
        a, expected = iruka.array(x), x.copy()
        if both(lambda: getattr(iruka, name).at(a, [0, 3, 3]), lambda: getattr(np, name).at(expected, [0, 3, 3])):
            assert_same(a, expected, 64, name)


def test_at_writes_through_views_and_refuses_read_only():
    a = iruka.zeros((4, 6))
    iruka.add.at(a[::2, 1::2].T, ([0, 0, 2], [1, 1, 0]), 1.0)
    expected = np.zeros((4, 6))
    np.add.at(expected[::2, 1::2].T, ([0, 0, 2], [1, 1, 0]), 1.0)
    assert_same(a, expected)
    with pytest.raises(ValueError, match="read-only"):
        iruka.add.at(iruka.broadcast_to(a, (2, 4, 6)), 0, 1)


def test_at_takes_numbers_as_numpy_does():
    for name, dtype, number in [
        ("ldexp", "float32", 3), ("ldexp", "float16", True), ("add", "int8", 300), ("subtract", "uint16", -5),
        ("less_equal", "uint16", -1),
        ("arctan2", "int32", 2**63 - 1), ("add", "float32", 2**64 - 1), ("multiply", "int16", 2**31 + 3),
        ("ldexp", "float64", 2.0),
    ]:  # fmt: skip
        x = np.array([1, 2, 3]).astype(dtype)
        a = iruka.array(x)
        if both(
            lambda: getattr(iruka, name).at(a, [0, 0, 2], number), lambda: getattr(np, name).at(x, [0, 0, 2], number)
        ):
            np.testing.assert_array_equal(iruka.asnumpy(a), x, err_msg=f"{name} of {dtype} and {number}")


def test_at_with_values_of_too_many_axes():
    for index, added in ((0, [1.0]), ([0, 1], [[1.0, 2.0]])):
        for module in (np, iruka):
            with pytest.raises(ValueError, match="not broadcastable to correct shape"):
                module.add.at(module.zeros(3), index, module.asarray(added))


def test_at_without_indices_writes_nothing():
    iruka.add.at(iruka.broadcast_to(iruka.zeros(1), (3,)), iruka.array([], dtype="int64"), 1)  # read-only


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.power.reduce(x),
        lambda m, x: m.power.accumulate(x, axis=1),
        lambda m, x: m.power.accumulate(x, axis=1, dtype="uint8"),
        lambda m, x: m.power.reduce(x, initial=2),
        lambda m, x: m.power.reduce(x, where=x > 0, initial=2),
        lambda m, x: m.power.outer(x, x[0]),
        lambda m, x: m.power(x, x, where=x > 0, out=m.zeros_like(x)),
        lambda m, x: m.power(x[:0], x[:1]),
        lambda m, x: m.power.at(m.array([3, 4]), [0], x[0, :1]),
    ],
)
@pytest.mark.parametrize("x", [[[2, 1], [-1, 3]], [[-2, 1], [1, 3]], [[2, -1], [1, 1]]])
def test_negative_powers_of_integers(call, x):
    both(lambda: call(iruka, iruka.array(x)), lambda: call(np, np.array(x)))


@pytest.mark.parametrize(
    "exponents, dtype",
    [([1.5, -2.0], "int64"), ([1.0, -0.5], "int64"), (np.array([200, 3], "uint8"), "int8"),
        (np.array([2**64 - 1], "uint64"), "int64"),
     (np.array([-1], "int8"), "uint8"), (np.array([200, 3], "uint8"), "int16")],
)  # fmt: skip
def test_exponents_are_negative_in_the_dtype_of_the_loop(exponents, dtype):
    exponents = np.array(exponents)
    for call in (
        lambda m, x, y: m.power(x, y, dtype=dtype, casting="unsafe"),
        lambda m, x, y: m.power(x, y.ravel()[-1].item(), dtype=dtype, casting="unsafe"),
        lambda m, x, y: m.power.accumulate(y, dtype=dtype),
        lambda m, x, y: m.power.outer(x, y, dtype=dtype, casting="unsafe"),
    ):
        compare(
            lambda: call(iruka, iruka.array([2, 3]), iruka.array(exponents)),
            lambda: call(np, np.array([2, 3]), exponents),
        )


def test_masks_have_no_more_axes_than_what_they_mask():
    for module in (np, iruka):
        for call in (
            lambda x, m: module.bitwise_and.reduce(x, where=m),
            lambda x, m: module.sum(x, where=m),
            lambda x, m: x.max(where=m, initial=0),
        ):
            with pytest.raises(ValueError):
                call(module.ones((2, 3), dtype="int64"), module.ones((1, 2, 3), dtype=bool))


def test_an_output_takes_part_in_the_choice_of_the_loop():
    for name, dtype, target in [
        ("float_power", "float32", "float32"), ("float_power", "complex64", "complex64"),
        ("multiply", "int64", "float64"),
        ("floor_divide", "int8", "int64"), ("maximum", "int64", "float64"), ("add", "float16", "float64"),
        ("hypot", "float64", "int32"),
    ]:  # fmt: skip
        x = np.array([[-128, 3, 2], [-1, 2, 1]]).astype(dtype)
        x = np.full_like(x, 10**18) if name == "multiply" else x
        for method, shape, more in (("reduce", (3,), ()), ("accumulate", (2, 3), ()), ("reduceat", (2, 3), ([0, 0],))):
            outs = [module.zeros(shape, target) for module in (np, iruka)]
            for module, out in zip((np, iruka), outs):
                getattr(getattr(module, name), method)(module.asarray(x), *more, out=out)
            assert_same(outs[1], outs[0], 4, f"{name}.{method} of {dtype} into {target}")


@pytest.mark.parametrize("initial", [np.inf, -np.inf, np.nan, 300, -129, 300.0, 1e300, 1j, 2**64])
def test_initial_that_the_dtype_cannot_hold(initial):
    x = np.array([1, 2, 3], "int8")
    for name in ("gcd.reduce", "bitwise_or.reduce", "maximum.reduce", "max", "min", "nanmax"):
        numpys, ours = (functools.reduce(getattr, name.split("."), module) for module in (np, iruka))
        assert both(lambda: ours(iruka.array(x), initial=initial), lambda: numpys(x, initial=initial)) is None


def test_casting_rules_and_literals():
    for call in (
        lambda m: m.copysign(m.ones(2), False, casting="no"),
        lambda m: m.fmod(m.ones(2, "uint64"), True, casting="no"),
        lambda m: m.sinh(False, casting="equiv"),
        lambda m: m.invert(4, dtype="int8", casting="safe"),
    ):
        for module in (np, iruka):
            with pytest.raises(TypeError, match="Cannot cast"):
                call(module)
    assert_same(iruka.add(iruka.ones(2, "int8"), 3, casting="no"), np.add(np.ones(2, "int8"), 3, casting="no"))
    assert iruka.frexp(8.0)[1].dtype == "int32"
    for module in (np, iruka):
        with pytest.raises(TypeError, match="No loop matching"):
            module.frexp(module.ones(2), dtype="float32")


# Values at the edges.


def test_powers_do_not_overflow_early():
    x = np.array([3.4028234663852886e38, -2.0, 2.0, -2.0, 0.5, 10.0, -10.0, 0.0, 2.0, np.inf, 0.0, 5e-324])
    y = np.array(
        [8.0, 1023.0, 1023.999999, 1024.0, -1023.999999, 308.25471555, 309.0, -3.0, 1024.0, 5e-324, -5e-324, -0.999]
    )
    with np.errstate(all="ignore"):
        assert_same(iruka.power(iruka.array(x), iruka.array(y)), x**y, 4)
        x, y = np.array([2, 2, -3.4e38, 10, 2], "float32"), np.array([127.99999, 128, 1, 38.5, -127.5], "float32")
        assert_same(iruka.power(iruka.array(x), iruka.array(y)), x**y, 4)


def test_complex_division_rounds_as_numpys(rng):
    for dtype in ("complex64", "complex128"):
        x, y = (values(dtype, 1000, rng) for _ in range(2))
        y[:20] = [complex(a, b) for a in (0.0, -0.0, np.inf, np.nan) for b in (0.0, -0.0, np.inf, np.nan, 2.5)]
        with np.errstate(all="ignore"):
            assert_same(iruka.divide(iruka.array(x), iruka.array(y)), x / y)


def test_complex_powers_at_the_edges():
    parts = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a in parts for b in parts])
    for exponents in (z, np.array([2, 3, -1, -3, 5, 0.5, 99, 100, -0.5 + 2j])):
        x, y = np.repeat(z, len(exponents)), np.tile(exponents, len(z))
        with np.errstate(all="ignore"):
            assert_same(iruka.power(iruka.array(x), iruka.array(y)), np.power(x, y), 64)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_inverses_and_roots_by_the_operator(dtype):
    """NumPy's `**` takes -1 and 0.5 as reciprocal and sqrt, which differ from its power at infinities and at -0."""
    parts = [0.0, -0.0, 1.0, -2.5, 2.0**-14, np.inf, -np.inf, np.nan]
    x = np.array([complex(a, b) for a in parts for b in parts] if dtype.startswith("c") else parts, dtype)
    with np.errstate(all="ignore"):
        for exponent in (-1, 0.5, -1.0, 1, 0):
            assert_same(iruka.array(x) ** exponent, x**exponent, 4)
            changed = iruka.array(x)
            changed **= exponent
            assert_same(changed, x**exponent, 4)


def test_a_scalar_given_to_at_is_of_the_loops_dtype():
    x, at = np.array([-6.25, 3.0, 9.0], "float16"), np.array([0, 1, 1])
    for value in (1e-320, 0.3333333333, 70000.0):
        expected, actual = x.copy(), iruka.array(x)
        with np.errstate(all="ignore"):
            np.float_power.at(expected, at, value)
            iruka.float_power.at(actual, iruka.array(at), value)
        assert_same(actual, expected)


def test_logarithms_of_nan_and_a_tiny_part():
    for dtype, tiny in (("complex128", 1e-308), ("complex64", 1e-38)):
        z = np.array([complex(np.nan, tiny), complex(tiny, np.nan), complex(np.inf, tiny), complex(0, tiny)], dtype)
        for name in ("log", "log2", "log10"):
            assert_same(getattr(iruka, name)(iruka.array(z)), getattr(np, name)(z), 4)


def test_nextafter_of_zeros_of_two_signs():
    for dtype in ("float16", "float32", "float64"):
        x, y = np.array([0.0, -0.0], dtype), np.array([-0.0, 0.0], dtype)
        actual = iruka.nextafter(iruka.array(x), iruka.array(y))
        np.testing.assert_array_equal(np.signbit(iruka.asnumpy(actual)), np.signbit(y))


@pytest.mark.parametrize("starts", [[0, 1], [0], [2, 0, 3], [3, 3], [1, 2], [0, 2, 1, 3]], ids=str)
def test_exponents_of_segments_are_not_negative(starts):
    for x, axis in (
        (np.array([3, -1, 2, 2]), 0),
        (np.array([-3, 1, 2, 2]), 0),
        (np.array([[2, 1, 2, -1], [2, 2, 1, -2]]), 1),
        (np.array([[2, 1, 2, -1], [2, 2, 1, -2]]).T.copy(), 0),
        (np.array([[2, 1, 2, -1], [2, 2, 1, -2]]).T, 0),
    ):
        compare(
            lambda: iruka.power.reduceat(iruka.asarray(x), starts, axis), lambda: np.power.reduceat(x, starts, axis)
        )


def test_clip_and_isclose_of_complex_numbers_at_the_edges():
    z = np.array([complex(a, b) for a in (1, 2, np.nan) for b in (0, 1, np.nan)])
    x, low, high = (grid.ravel() for grid in np.meshgrid(z, z, z))
    assert_same(iruka.clip(*map(iruka.array, (x, low, high))), np.clip(x, low, high))
    z = np.array([complex(a, b) for a in (0, 1e308, -1.7e308, np.inf) for b in (0, 1.7e308, np.nan)])
    x, y = (grid.ravel() for grid in np.meshgrid(z, z))
    with np.errstate(all="ignore"):
        assert_same(iruka.isclose(iruka.array(x), iruka.array(y)), np.isclose(x, y))


# Overflow of literals and operators (NEP 50).


@pytest.mark.parametrize("dtype, literal", [("uint8", 300), ("uint8", -1), ("int8", 128), ("int32", 2**31)])
def test_literals_out_of_range(dtype, literal):
    x = np.ones(2, dtype)
    for call in (lambda a, m: a + literal, lambda a, m: m.maximum(a, literal)):
        for module, array in ((np, x), (iruka, iruka.array(x))):
            with pytest.raises(OverflowError, match=f"Python integer {literal} out of bounds for {dtype}"):
                call(array, module)
    assert_same(iruka.array(x) < literal, x < literal)
    assert_same(iruka.array(x) == literal, x == literal)


def test_at_reads_indices_as_they_lie(rng):
    for index in (
        rng.integers(-50, 50, 300),
        rng.integers(0, 50, 300).astype("int32")[::-2],
        np.array([[3, 3], [-1, 3]]),
    ):
        expected = np.arange(50.0)
        a = iruka.array(expected)
        y = rng.integers(0, 9, index.shape).astype("float64")
        iruka.add.at(a, iruka.array(index), iruka.array(y))
        iruka.multiply.at(a, index, 2)
        np.add.at(expected, index, y)
        np.multiply.at(expected, index, 2)
        assert_same(a, expected)
    with pytest.raises(IndexError, match="index 50 is out of bounds for axis 0 with size 50"):
        iruka.add.at(a, iruka.array([1, 50]), 1)
        iruka.asnumpy(a)  # a GPU tells when it is waited for, and has gone on until then
    if a.device.name == "cpu":
        assert_same(a, expected)


def test_at_with_the_array_itself_as_indices():
    x = np.array([1, 2, 3, 4, 0])
    for step in (1, 10**12):
        y, b = x.copy(), iruka.array(x)
        np.add.at(y, x, step)
        iruka.add.at(b, b, step)
        assert_same(b, y)
    y, b = np.arange(40000) // 2, iruka.arange(40000) // 2
    np.add.at(y.reshape(2, -1), (np.array([[0], [1]]), (np.arange(40000) // 2)[:20000]), 1)
    iruka.add.at(b.reshape(2, -1), (iruka.array([[0], [1]]), b[:20000]), 1)
    assert_same(b, y)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize(
    "dtype, target", [("float32", "float32"), ("float64", "float32"), ("float32", "complex64"), ("int8", "float64")]
)
def test_logical_folds_write_numbers(name, dtype, target):
    x = np.array([[3, 0, 1], [0, 0, 2]], dtype)
    for method, shape, more in (("reduce", (2,), ()), ("accumulate", (2, 3), ()), ("reduceat", (2, 2), ([0, 1],))):
        outs = [module.zeros(shape, target) for module in (np, iruka)]
        for module, out in zip((np, iruka), outs):
            getattr(getattr(module, name), method)(module.asarray(x), *more, axis=1, out=out)
        np.testing.assert_array_equal(iruka.asnumpy(outs[1]), outs[0])
