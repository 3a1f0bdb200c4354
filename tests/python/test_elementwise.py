"""Every row of the elementwise table, every dtype, several layouts, against NumPy."""

import numpy as np
import pytest

import iruka
from helpers import (
    BFLOAT16,
    DTYPE_IDS,
    DTYPES,
    NUMPY_DTYPES,
    assert_close,
    assert_same,
    beyond_numbers,
    kind,
    layouts,
    values,
    widened,
)

pytestmark = beyond_numbers
NAMES = iruka.elementwise_names()
# Compared with a reference in the next larger precision; the rest is exact and compared with NumPy in the same dtype.
APPROXIMATE = {
    "sqrt",
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "logaddexp",
    "logaddexp2",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "arctan2",
    "hypot",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "degrees",
    "radians",
    "angle",
    "power",
    "float_power",
    "divide",
    "reciprocal",
    "absolute",
    "square",
    "multiply",
    "sign",
    "i0",
}


def inputs_of(name, count, dtype, rng):
    """Inputs that suit the function: shifts stay below the width, integer powers stay in range."""
    shape = (3, 14)
    inputs = [values(dtype, shape, rng) for _ in range(count)]
    if name in ("left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"):
        inputs[1] = np.abs(inputs[1]) % 7
    if name in ("power", "pow", "float_power") and kind(dtype) in "iu":
        inputs[1] = np.abs(inputs[1]) % 4
    if name in ("where",):
        inputs[0] = values("bool", shape, rng)
    if name == "clip":
        inputs[1], inputs[2] = np.minimum(inputs[1], inputs[2]), np.maximum(inputs[1], inputs[2])
    if name == "ldexp":
        inputs[1] = rng.integers(-5, 6, shape)
    if kind(dtype) == "f" and count <= 2 and name != "ldexp":
        for array, special in zip(
            inputs, ([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 0.25], [1.0, np.inf, 2.0, -0.0, 0.0, np.nan, 0.5])
        ):
            array[0, :7] = np.array(special).astype(array.dtype)
    if name == "reciprocal" and kind(dtype) in "iu":
        inputs[0][inputs[0] == 0] = 1  # 0 by our rule, undefined in NumPy
    if name == "spacing":  # NumPy's and ml_dtypes' signs differ for 16-bit floats and for -0.0
        inputs[0] = np.abs(inputs[0]) if np.dtype(dtype).itemsize <= 2 else inputs[0] + np.dtype(dtype).type(0)
    return [
        array.astype(dtype) if name not in ("where", "ldexp") or k != (0 if name == "where" else 1) else array
        for k, array in enumerate(inputs)
    ]


def reference_function(name):
    return getattr(np, name, None)


def numpy_result(function, inputs):
    with np.errstate(all="ignore"):
        result = function(*inputs)
    return result if isinstance(result, tuple) else (result,)


ROWS = [name for name in NAMES if iruka._functions.elementwise[name].__name__ == name]
TABLE = [name for name in ROWS if name not in ("isclose", "nan_to_num", "round")]


def test_every_name_has_a_reference():
    assert all(reference_function(name) is not None for name in NAMES)
    assert set(ROWS) - set(TABLE) == {"isclose", "nan_to_num", "round"}  # these two have tests of their own


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(ROWS)))
def test_second_names(name):
    """A second name is the same function in NumPy too, or does the same."""
    ours, numpys = iruka._functions.elementwise[name], reference_function(name)
    row = repr(ours).split("'")[1]
    assert numpys is reference_function(row) or name in ("fix", "deg2rad", "rad2deg")


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_against_numpy(name, dtype, rng):
    function, reference = iruka._functions.elementwise[name], reference_function(name)
    inputs = inputs_of(name, function.nin, dtype, rng)
    expected = reference_results(name, reference, inputs, dtype)
    if expected is None:
        with pytest.raises(TypeError):
            function(*map(iruka.array, inputs))
        return
    for (layout, *_), columns in zip(list(layouts(inputs[0])), zip(*[list(layouts(a)) for a in inputs])):
        if layout in ("backwards", "transposed") and dtype.name not in ("float32", "int16"):
            continue  # each layout is another compilation
        actual = function(*(column[1] for column in columns))
        actual = actual if isinstance(actual, tuple) else (actual,)
        flipped = [e[::-1] if layout == "backwards" else e for e in expected]
        for one, wanted in zip(actual, flipped, strict=True):
            compare(name, dtype, layout, one, wanted)


def reference_results(name, reference, inputs, dtype):
    """NumPy's answers, in NumPy's dtype; None where NumPy has no loop. bfloat16 is answered in float32, then rounded."""
    try:
        if dtype == BFLOAT16:
            floats = [a.astype(np.float32) if a.dtype == BFLOAT16 else a for a in inputs]
            if name in ("nextafter", "spacing"):
                return bfloat16_neighbours(name, inputs)
            results = numpy_result(reference, floats)
            return tuple(r.astype(BFLOAT16) if r.dtype == np.float32 else r for r in results)
        if name == "sinc" and np.dtype(dtype).name == "float16":  # NumPy rounds pi x to 16 bits
            return tuple(Wide(np.empty(0, dtype), r) for r in numpy_result(reference, [inputs[0].astype("float32")]))
        results = numpy_result(reference, inputs)
    except TypeError:
        return None
    if name == "angle" and dtype == np.bool_:
        results = tuple(r.astype("float16") for r in results)  # no ufunc in NumPy: its float64 is a side effect
    if name not in APPROXIMATE:
        return results
    try:
        wide = numpy_result(reference, [widened(a) for a in inputs])
    except TypeError:
        return results
    return tuple(Wide(r, w) for r, w in zip(results, wide))


class Wide:
    """A reference in a larger precision, with the dtype that the result must have."""

    def __init__(self, result, wide):
        self.dtype, self.values = np.asarray(result).dtype, np.asarray(wide)

    def __getitem__(self, index):
        return Wide(np.empty(0, self.dtype), self.values[index])


def bfloat16_neighbours(name, inputs):
    import ml_dtypes  # noqa: F401  registers NumPy's loops

    with np.errstate(all="ignore"):
        if name == "nextafter":
            return (np.nextafter(*inputs),)
        return (np.spacing(inputs[0]),)


def compare(name, dtype, layout, actual, expected):
    message = f"{name} of {np.dtype(dtype).name}, {layout}"
    ulps = 4
    if kind(dtype) == "c":  # exp(y log x) magnifies the error of the logarithm by the size of y log x
        ulps = 128 if name in ("power", "float_power") else 8
    if isinstance(expected, Wide):
        assert actual.dtype == expected.dtype, (message, actual.dtype, expected.dtype)
        if kind(expected.dtype) in "biu":
            assert_same(actual, expected.values.astype(expected.dtype), message=message)
        else:
            assert_close(iruka.asnumpy(actual), expected.values, expected.dtype, ulps, message)
    elif dtype == BFLOAT16:
        assert_same(actual, expected, ulps=1, message=message)
    elif name in APPROXIMATE or name == "sinc":
        assert_same(actual, expected, ulps=ulps, message=message)
    else:
        assert_same(actual, expected, message=message)


@pytest.mark.parametrize("a", NUMPY_DTYPES, ids=lambda d: d.name)
def test_promotion_follows_numpy(a, rng):
    x = values(a, 5, rng)
    for b in NUMPY_DTYPES:
        y = values(b, 5, rng)
        expected = np.add(x, y)
        assert (
            (iruka.array(x) + iruka.array(y)).dtype
            == expected.dtype
            == iruka.result_type(iruka.array(x), iruka.array(y))
        )
        assert iruka.promote_types(a, b) == np.promote_types(a, b)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("scalar", [True, 3, 2.5, 1 + 2j], ids=repr)
def test_python_scalars_are_weak(dtype, scalar, rng):
    x = values(dtype, 6, rng)
    for operation in (lambda p, q: p + q, lambda p, q: q * p):
        assert_same(operation(iruka.array(x), scalar), operation(x, scalar), ulps=2)


@pytest.mark.parametrize(
    "scalar",
    [np.float64(2.5), np.float32(2.5), np.int8(3), np.uint64(7), np.bool_(True), np.complex64(1j)],
    ids=lambda s: s.dtype.name,
)
@pytest.mark.parametrize("dtype", ["int16", "float32", "complex64"])
def test_numpy_scalars_are_typed(dtype, scalar, rng):
    x = values(dtype, 6, rng)
    assert_same(iruka.array(x) + scalar, x + scalar, ulps=2)
    assert_same(scalar + iruka.array(x), scalar + x, ulps=2)


def test_integers_out_of_range_overflow():
    with pytest.raises(OverflowError):
        iruka.zeros(3, "uint8") + 256
    with pytest.raises(OverflowError):
        iruka.zeros(3, "int8") + (-129)
    with pytest.raises(OverflowError):
        iruka.zeros(3, "int64") + 2**64


BINARY = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">", ">=", "&", "|", "^", "<<", ">>"]


@pytest.mark.parametrize("operator", BINARY)
@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8", "bool"])
def test_operators(operator, dtype, rng):
    if dtype == "float32" and operator in ("&", "|", "^", "<<", ">>"):
        with pytest.raises(TypeError):
            eval(f"x {operator} x", {"x": iruka.ones(3, dtype)})
        return
    x, y = (
        values(dtype, (4, 5), rng),
        (np.abs(values(dtype, (4, 5), rng)) % 5 if dtype != "bool" else values(dtype, (4, 5), rng)),
    )
    y = y.astype(dtype)
    scope = {"x": x, "y": y, "a": iruka.array(x), "b": iruka.array(y)}
    try:
        with np.errstate(all="ignore"):
            expected = eval(f"x {operator} y", scope)
    except TypeError:
        with pytest.raises(TypeError):
            eval(f"a {operator} b", scope)
        return
    ulps = 4
    assert_same(eval(f"a {operator} b", scope), expected, ulps)
    assert_same(eval(f"a {operator} y", scope), expected, ulps)  # NumPy on the right
    assert_same(eval(f"x {operator} b", scope), expected, ulps)  # NumPy on the left
    if dtype != "bool":
        with np.errstate(all="ignore"):
            assert_same(eval(f"a {operator} 3", scope), eval(f"x {operator} 3", scope), ulps)
            assert_same(eval(f"3 {operator} b", scope), eval(f"3 {operator} y", scope), ulps)


@pytest.mark.parametrize("operator", ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "**"])
def test_in_place(operator, rng):
    x, y = values("int32", (3, 4), rng), np.abs(values("int32", (3, 4), rng)) % 5
    y = y.astype("int32")
    expected = x.copy()
    y[y == 0] = 1 if operator in ("//", "%") else 0
    a, b = iruka.array(x), iruka.array(y)
    same = a
    scope = {"a": a, "b": b, "x": expected, "y": y}
    exec(f"a {operator}= b\nx {operator}= y", scope)
    assert scope["a"] is same
    assert_same(same, expected)


def test_in_place_writes_through_views():
    x = iruka.arange(10)
    x[2:5] += 100
    assert x.tolist() == [0, 1, 102, 103, 104, 5, 6, 7, 8, 9]


def test_in_place_keeps_same_kind():
    x = iruka.arange(4)
    with pytest.raises(TypeError):
        x += 1.5
    with pytest.raises(TypeError):
        x /= 2
    assert x.tolist() == [0, 1, 2, 3]


def test_unary_operators(rng):
    x = values("int16", 7, rng)
    a = iruka.array(x)
    assert_same(-a, -x)
    assert_same(+a, +x)
    assert_same(abs(a), abs(x))
    assert_same(~a, ~x)
    quotient, rest = divmod(a, 4)
    assert_same(quotient, x // 4)
    assert_same(rest, x % 4)


def test_overlapping_output():
    x = np.arange(20.0)
    a = iruka.array(x)
    iruka.add(a[:-1], a[1:], out=a[1:])
    expected = x.copy()
    np.add(expected[:-1], expected[1:], out=expected[1:])
    assert_same(a, expected)


def test_out_and_dtype(rng):
    x = values("float32", (3, 4), rng)
    out = iruka.empty((3, 4), "float64")
    assert iruka.multiply(iruka.array(x), 2, out=out) is out
    assert_same(out, (x * np.float32(2)).astype("float64"))
    assert iruka.add(iruka.arange(3), 1, dtype="float32").dtype == np.float32
    with pytest.raises(ValueError):
        iruka.multiply(iruka.array(x), 2, out=iruka.empty((4, 4)))
    with pytest.raises(TypeError):
        iruka.multiply(iruka.array(x), 2, out=iruka.empty((3, 4), "int32"))
    with pytest.raises(TypeError, match="unexpected keyword argument 'whre'"):
        iruka.add(1, 2, whre=3)
    with pytest.raises(TypeError, match="takes from 2 to 3 positional arguments but 1 was given"):
        iruka.add(iruka.ones(3))


def test_division_of_integers_by_zero_gives_zero():
    x = iruka.array([1, -2, 0], dtype="int32")
    assert (x // 0).tolist() == [0, 0, 0]
    assert (x % 0).tolist() == [0, 0, 0]


def test_broadcasting(rng):
    x, y = values("float64", (4, 1, 3), rng), values("float64", (5, 1), rng)
    assert_same(iruka.array(x) + iruka.array(y), x + y)
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(4,\)"):
        iruka.ones((2, 3)) + iruka.ones(4)


def test_zero_size_and_zero_rank():
    assert_same(iruka.zeros((0, 3)) + 1, np.zeros((0, 3)) + 1)
    assert_same(iruka.asarray(2.0) * iruka.asarray(3.0), np.array(6.0))


def test_isclose_and_nan_to_num():
    x, y = np.array([1.0, np.nan, np.inf, 1.0, -np.inf]), np.array([1.0 + 1e-9, np.nan, np.inf, 1.1, np.inf])
    for equal_nan in (False, True):
        assert_same(
            iruka.isclose(iruka.array(x), iruka.array(y), equal_nan=equal_nan), np.isclose(x, y, equal_nan=equal_nan)
        )
    assert iruka.allclose(iruka.ones(3), 1.0) and not iruka.allclose(iruka.ones(3), 1.1)
    for dtype in ("float32", "float64", "float16"):
        z = np.array([np.nan, np.inf, -np.inf, 2.5], dtype)
        assert_same(iruka.nan_to_num(iruka.array(z)), np.nan_to_num(z))
    assert_same(
        iruka.nan_to_num(iruka.array(x), nan=7.0, posinf=8.0, neginf=9.0),
        np.nan_to_num(x, nan=7.0, posinf=8.0, neginf=9.0),
    )


def test_function_objects_describe_themselves():
    assert iruka.add.__name__ == "add"
    assert (iruka.add.nin, iruka.add.nout, iruka.add.nargs) == (2, 1, 3)
    assert iruka.add.__doc__ and iruka.divmod.nout == 2
    assert repr(iruka.add) == "<ufunc 'add'>"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_functions_at_subnormal_and_huge_parts(dtype):
    limits = np.finfo(dtype)
    small, large = float(limits.smallest_subnormal), float(limits.max)
    parts = [small, -small, 3 * small, float(limits.tiny), 1.0, -large, large, large / 4]
    z = np.array([complex(a, b) for a in parts for b in parts]).astype(dtype)
    # An independent formula: numbers of one size, and the power of two that was taken out.
    wide = z.astype("complex128")
    exponent = np.frexp(np.maximum(abs(wide.real), abs(wide.imag)))[1]
    unit = np.ldexp(wide.real, -exponent) + 1j * np.ldexp(wide.imag, -exponent)
    logarithm = np.log(abs(unit)) + exponent * np.log(2) + 1j * np.arctan2(wide.imag, wide.real)
    for name, scale in (("log", 1), ("log2", np.log(2)), ("log10", np.log(10))):
        actual = iruka.asnumpy(getattr(iruka, name)(iruka.asarray(z)))
        np.testing.assert_allclose(actual, logarithm / scale, rtol=16 * limits.eps, atol=2 * small)
    direction = iruka.asnumpy(iruka.sign(iruka.asarray(z)))
    np.testing.assert_allclose(direction, unit / abs(unit), rtol=8 * limits.eps, atol=2 * small)
    for name in ("sin", "cos", "sinh", "cosh"):
        z = np.array([complex(small, large), complex(large, small), complex(0.5, small)]).astype(dtype)
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(z)
        actual = iruka.asnumpy(getattr(iruka, name)(iruka.asarray(z)))
        finite = np.isfinite(expected.real) & np.isfinite(expected.imag)
        np.testing.assert_allclose(actual[finite], expected[finite], rtol=16 * limits.eps)
    assert np.isinf(iruka.asnumpy(iruka.sinh(iruka.asarray(np.array([complex(large, small)], dtype)))).imag).all()


def test_spacing_of_float16_is_numpys():
    x = np.arange(65536).astype("uint16").view("float16")
    with np.errstate(all="ignore"):
        expected = np.spacing(x)
    assert_same(iruka.spacing(iruka.asarray(x)), expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int64", "uint64"])
def test_integers_are_close_as_float64(dtype):
    limits = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    x = np.array([limits[0], limits[1], 0, 1, 1, limits[1]], dtype)
    y = np.array([limits[1], limits[1], 0, 0, 1, limits[1] - 1], dtype)
    for tolerances in ({}, {"rtol": 0, "atol": 1}, {"rtol": 0.01}, {"rtol": 0, "atol": 0}):
        assert_same(iruka.isclose(iruka.asarray(x), iruka.asarray(y), **tolerances), np.isclose(x, y, **tolerances))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex64"])
def test_angle_dtypes(dtype):
    x = np.array([1, 0, 1]).astype(dtype)
    assert_same(iruka.angle(iruka.asarray(x)), np.angle(x))


@pytest.mark.parametrize("name", ["less", "less_equal", "equal", "not_equal", "logical_and", "logical_or", "maximum"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "float16", "int64", "complex64"])
def test_masked_elements_of_an_input_keep_their_values(name, dtype):
    rng = np.random.default_rng(3)
    x, y = values(dtype, (40, 50), rng), values(dtype, (40, 50), rng)
    mask = rng.random((40, 50)) < 0.3
    for view in (lambda m: m, lambda m: m[::2, ::-1], lambda m: m.T):
        expected, actual = x.copy(), iruka.array(x)
        getattr(np, name)(view(expected), view(y), out=view(expected), where=view(mask), casting="unsafe")
        a = view(actual)
        getattr(iruka, name)(a, view(iruka.array(y)), out=a, where=view(iruka.array(mask)), casting="unsafe")
        assert_same(actual, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["arcsinh", "arccosh", "log1p", "sinh", "cosh", "exp", "expm1", "log", "cbrt", "arctan", "tanh"]
)
def test_results_are_finite_as_far_as_they_are_numbers(name, dtype):
    limits = np.finfo(dtype)
    rng = np.random.default_rng(0)
    x = np.exp2(rng.uniform(limits.minexp, limits.maxexp, 20_000)).astype(dtype)
    last = np.log(limits.max)
    ends = [limits.max, limits.tiny, np.inf, np.nan, last + 0.6, last + 0.8, 1e18, 2e18, 3e150, 4e150, 80, 700]
    with np.errstate(all="ignore"):
        x = np.concatenate([x, np.linspace(last - 20, last + 1, 5000), ends]).astype(dtype)
        x = np.concatenate([x, -x])
        wide = getattr(np, name)(x.astype(np.longdouble))
        expected = wide.astype(dtype)
    actual = iruka.asnumpy(getattr(iruka, name)(iruka.asarray(x)))
    assert actual.dtype == dtype
    finite = np.isfinite(expected) & np.isfinite(actual)
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    edge = abs(wide) > limits.max * (1 - 4 * np.longdouble(limits.eps))  # rounding decides which of the two it is
    assert (finite | same | edge).all(), x[~(finite | same | edge)][:5]
    error = abs(actual[finite] - wide[finite])
    assert (error <= 4 * limits.eps * abs(wide[finite]) + limits.smallest_subnormal).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_spacing_of_zeros_is_positive(dtype):
    x = np.array([-0.0, 0.0, -1.0, 1.0, -np.finfo(dtype).smallest_subnormal], dtype)
    assert_same(iruka.spacing(iruka.asarray(x)), np.spacing(x))
    y = iruka.ElementwiseKernel("T x", "T y", "y = iruka::spacing(x)", "spacing_of_a_body")(iruka.asarray(x))
    assert_same(y, np.spacing(x))


@pytest.mark.parametrize("name, dtype", [("hypot", "float64"), ("hypot", "float32"), ("gcd", "int64"), ("gcd", "int8")])
def test_reductions_of_one_element_start_from_the_identity(name, dtype):
    x = np.array([[-3], [5], [-7]], dtype)
    ours, theirs = getattr(iruka, name), getattr(np, name)
    a = iruka.asarray(x)
    for options in (
        {"axis": 1},
        {"axis": 1, "keepdims": True},
        {"axis": 1, "initial": 4},
        {"axis": 0},
        {"axis": None},
        {"axis": ()},
    ):
        assert_same(ours.reduce(a, **options), theirs.reduce(x, **options))
    assert_same(ours.reduce(a[0]), theirs.reduce(x[0]))
    assert_same(ours.accumulate(a, axis=1), theirs.accumulate(x, axis=1))
    assert_same(ours.reduceat(a[:, 0], [0, 1]), theirs.reduceat(x[:, 0], [0, 1]))


@pytest.mark.parametrize("decimals", [308, 309, 400, -309, -400])
def test_rounding_to_more_places_than_a_float_has(decimals):
    x = np.array([1.5, 0.0, -3.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        expected = np.round(x, decimals)
    assert_same(iruka.round(iruka.asarray(x), decimals), expected)


def test_comparison_with_a_literal_out_of_bounds_and_a_mask():
    x, mask = np.arange(1000).astype("uint8"), np.arange(1000) % 3 == 0  # NumPy 2 itself crashes here
    for number, expected in ((-129, False), (300, True)):
        out = iruka.ones(1000, bool)
        iruka.less(iruka.asarray(x), number, out=out, where=iruka.asarray(mask))
        np.testing.assert_array_equal(iruka.asnumpy(out), ~mask | expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_folds_in_order_are_those_of_a_loop(dtype):
    x = np.random.default_rng(1).integers(0, 100, 20).astype(dtype)  # where NumPy's own reduce is not
    steps = [np.asarray(x[0], "float32" if dtype == "float32" else "float64")]
    for value in x[1:]:
        steps.append(np.arctan2(steps[-1], value))
    a = iruka.asarray(x)
    np.testing.assert_allclose(iruka.asnumpy(iruka.arctan2.accumulate(a)), np.array(steps), rtol=1e-5)
    np.testing.assert_allclose(iruka.arctan2.reduce(a).item(), steps[-1], rtol=1e-5)
    np.testing.assert_allclose(iruka.asnumpy(iruka.arctan2.reduceat(a, [0]))[0], steps[-1], rtol=1e-5)


@pytest.mark.parametrize("out", [None, "bool", "int8", "int64", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32"])
def test_rounding_into_another_dtype(dtype, out):
    """Integers take no multiples of powers of ten that are given an output, and bools none at all."""
    x = np.array([1, 0, 27]).astype(dtype)
    for decimals in (0, 1, -1):
        for name in ("round", "around"):
            given = {} if out is None else {"out": np.zeros(3, out)}
            own = {} if out is None else {"out": iruka.zeros(3, out)}
            try:
                expected = getattr(np, name)(x, decimals, **given)
            except TypeError:
                with pytest.raises(TypeError):
                    getattr(iruka, name)(iruka.asarray(x), decimals, **own)
                continue
            assert_same(getattr(iruka, name)(iruka.asarray(x), decimals, **own), expected, ulps=1)
    for m in (np, iruka):
        with pytest.raises(TypeError):
            m.round(m.asarray(x), -1, out=5)
