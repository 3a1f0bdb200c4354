"""What translated functions round, refuse, and take from decorated functions: Python's results, and the user's lines."""

import cmath  # noqa: F401
import functools
import math
import operator

import numpy as np
import pytest

import iruka
from iruka import jit
from iruka.errors import TranslationError

rng = np.random.default_rng(3)
DECIMALS = np.concatenate([
    [2.675, 0.285, 1.005, 0.125, 0.375, 2.5, -2.675, 1e308, -1e308, 5e-324, -0.0, -0.001, 0.5, 1.5, 1e15 + 0.3, 2**53 + 1],
    [math.inf, -math.inf, math.nan, 1250.0, 1350.0, 1e22, 123456789.5, 1e300, 4503599627370497.5],
    rng.integers(-10000, 10000, 300) / 1000, rng.integers(-10**7, 10**7, 300) / 16, rng.normal(size=200) * 1e6,
    np.ldexp(rng.normal(size=200), rng.integers(-40, 70, 200)),
])  # fmt: skip


def rounding(digits):
    return lambda x: round(x, digits)


def around(digits):
    return lambda x: np.round(x, digits)


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 6, 15, 22, -1, -2, -5, -20, -22])
def test_round_gives_the_nearest_decimal(digits):
    found = iruka.vectorize(target="cpu")(rounding(digits))(iruka.array(DECIMALS)).get()
    wanted = np.array([round(x, digits) if math.isfinite(x) else x for x in DECIMALS.tolist()])
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_round_of_narrow_floats(dtype):
    x = DECIMALS[np.abs(DECIMALS) < 6e4].astype(dtype)
    found = iruka.vectorize(target="cpu")(rounding(2))(iruka.array(x)).get()
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array([round(each, 2) for each in x.tolist()]).astype(dtype))


def test_round_of_numpy():
    def both(x):
        return np.round(x, 2), np.around(x), np.round(x, -1)

    x = DECIMALS[np.abs(DECIMALS) < 1e300]
    for found, digits in zip(iruka.vectorize(target="cpu")(both)(iruka.array(x)), (2, 0, -1), strict=True):
        np.testing.assert_array_equal(found.get(), np.round(x, digits))


@pytest.mark.parametrize("digits", [0, 2, 30, -1, -2, -5, -17, -18, -19, -20, -25])
def test_round_of_integers_stays_an_integer(digits):
    whole = [
        2**60 + 7,
        2**63 - 1,
        -(2**63),
        0,
        5,
        15,
        25,
        -15,
        -25,
        150,
        250,
        350,
        -250,
        5 * 10**17,
        15 * 10**17,
        5 * 10**18,
    ]
    for values in (
        np.array(whole),
        np.array([2**64 - 1, 2**63, 2**63 + 5, 25], "uint64"),
        np.array([250, 150, 5], "uint8"),
    ):
        found = iruka.vectorize(target="cpu")(rounding(digits))(values)
        wanted = [round(each, digits) for each in values.tolist()]
        assert found.dtype == ("uint64" if values.dtype.kind == "u" else "int64")
        assert found.tolist() == [
            (each + 2**63) % 2**64 - 2**63 if values.dtype.kind == "i" else each % 2**64 for each in wanted
        ]


def test_round_of_integers_by_numpy():
    values = np.array([2**53 - 1, 2**60 + 7, 25, 35, -25])
    for digits in (1, -1, -3):
        wanted = np.round(values, digits)
        found = iruka.vectorize(target="cpu")(around(digits))(values)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_exponents_of_ldexp():
    """Those beyond C's int do not wrap; infinity stands for Python's OverflowError, as in all arithmetic."""
    exponents = np.array([0, 5, -5, 1100, -1100, 2**32 + 1, -(2**32) - 1, 2**62, -(2**63)])
    with np.errstate(all="ignore"):
        wanted = np.ldexp(3.0, np.clip(exponents, -5000, 5000))
    np.testing.assert_array_equal(iruka.vectorize(target="cpu")(lambda e: math.ldexp(3.0, e))(exponents), wanted)
    wide = np.array([3, 2**32 + 1, 2**64 - 1], "uint64")
    assert iruka.vectorize(target="cpu")(lambda e: math.ldexp(1.0, e))(wide).tolist() == [8, math.inf, math.inf]


def test_methods_of_numbers_in_assignments():
    def function(z):
        y = z.conjugate()
        w: complex = (z + 1).conjugate()
        w += y.conjugate()
        return y * w

    z = rng.normal(size=6) + 1j * rng.normal(size=6)
    np.testing.assert_allclose(iruka.vectorize(target="cpu")(function)(z), [function(each) for each in z.tolist()])


def test_isqrt_and_isclose():
    whole = np.array([0, 1, 2, 3, 4, 24, 25, 2**52, (2**31) ** 2 - 1, 3037000499**2 - 1, 3037000499**2, 2**63 - 1])
    wide = np.array([2**64 - 1, 4294967295**2 - 1, 4294967295**2, 2**63, 0], "uint64")
    root = iruka.vectorize(target="cpu")(lambda n: math.isqrt(n))
    for values in (whole, wide, whole[:7].astype("uint8")):
        assert root(iruka.array(values)).tolist() == [math.isqrt(n) for n in values.tolist()]
    with iruka.device("cpu"), pytest.raises(ValueError, match="isqrt"):
        root(np.array([4, -1]))

    def close(a, b):
        return math.isclose(a, b), math.isclose(a, b, rel_tol=1e-3), math.isclose(a, b, abs_tol=0.5, rel_tol=0)

    a = np.array([1.0, 1.0, 0.0, 100.0, math.inf, math.inf, math.nan, 1e308, -1.0])
    b = np.array([1 + 1e-10, 1.0005, 1e-12, 100.4, math.inf, 1.0, math.nan, -1e308, -1.4])
    found = iruka.vectorize(target="cpu")(close)(iruka.array(a), iruka.array(b))
    assert list(zip(*(each.tolist() for each in found), strict=True)) == list(map(close, a.tolist(), b.tolist()))


def wide_constant(x):
    return np.uint8(300) + x


def infinite_constant(x):
    return int(math.inf) + x


def huge_constant(x):
    return int(1e30) + x


def infinite_element(x):
    a = np.zeros(2, int)
    a[0] = math.inf
    return a[0] + x


def undefined_element(x):
    a = np.zeros(2, int)
    a[0] = math.nan
    return a[0] + x


def huge_element(x):
    a = np.zeros(2, int)
    a[1] = 1e30
    return a[1] + x


def long_tuple(x):
    t = (1.0, 2.0) * 300000000
    return x * t[0]


def repeated_list(x):
    return SMALL * 10**12


def longer_tuple(x):
    return x * len(10**10 * (1, 2))


def many_digits(x):
    return round(x, 23)


def many_zeros(x):
    return round(x, -23)


def broken_exponent(x):
    return math.ldexp(x, 0.5)


def unknown_function(x):
    return math.comb(x, 2)


SMALL = [1, 2]
REFUSED = {
    wide_constant: (r"uint8\(\) cannot take 300", "np.uint8(300)"),
    infinite_constant: (r"int\(\) cannot take inf", "int(math.inf)"),
    huge_constant: (r"int\(\) cannot take 1e\+30", "int(1e30)"),
    infinite_element: ("cannot convert float infinity to integer", "a[0] = math.inf"),
    undefined_element: ("cannot convert float NaN to integer", "a[0] = math.nan"),
    huge_element: (r"1e\+30 does not fit int64", "a[1] = 1e30"),
    long_tuple: (r"the result of this \* is too large", "t = (1.0, 2.0) * 300000000"),
    repeated_list: (r"the result of this \* is too large", "SMALL * 10**12"),
    longer_tuple: (r"the result of this \* is too large", "10**10 * (1, 2)"),
    many_digits: ("takes from -22 to 22 digits in a kernel, not 23, .*; use numpy.round", "round(x, 23)"),
    many_zeros: ("takes from -22 to 22 digits in a kernel, not -23", "round(x, -23)"),
    broken_exponent: ("takes an integer as the exponent, not float64", "math.ldexp(x, 0.5)"),
    unknown_function: (r"comb\(\) has no kernel", "math.comb(x, 2)"),
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refusals_show_the_line(function):
    message, line = REFUSED[function]
    with pytest.raises(TranslationError, match=message) as caught:
        iruka.vectorize(target="cpu")(function)(np.arange(3.0))
    shown = str(caught.value).splitlines()
    assert line in shown[1] and shown[2].strip() == "^"


def original(x, power=2):
    return -x


@functools.wraps(original)
def wrapper(x, power=3):
    return x**power + original(x)


def wrapping(function):
    @functools.wraps(function)
    def inner(x):
        return function(x) * 10

    return inner


def any_arguments(function):
    @functools.wraps(function)
    def inner(*arguments):
        return function(*arguments)

    return inner


async def asynchronous(x):
    return x


def test_functions_behind_wraps():
    x = np.arange(-3.0, 4.0)
    np.testing.assert_array_equal(iruka.vectorize(["float64(float64, float64)"])(wrapper)(x, 3), x**3 - x)
    np.testing.assert_array_equal(iruka.vectorize(["float64(float64)"])(wrapping(original))(x), -x * 10)
    np.testing.assert_array_equal(iruka.vectorize(["float64(float64)"])(lambda x: wrapper(x) * 2)(x), (x**3 - x) * 2)
    renamed = lambda x: x + 1
    renamed.__name__ = "renamed"
    np.testing.assert_array_equal(iruka.vectorize(["float64(float64)"])(renamed)(x), x + 1)
    with pytest.raises(TranslationError, match=r"parameters with \* or \*\*"):
        iruka.vectorize(target="cpu")(any_arguments(original))(x)


def test_async_functions():
    with pytest.raises(TranslationError, match="it is an async function.*write it with def"):
        iruka.vectorize(["float64(float64)"])(asynchronous)


def test_dtypes_without_kernels():
    half = iruka.zeros(3, "bfloat16")
    with pytest.raises(TranslationError, match=r"no kernel for the dtype bfloat16; convert the array"):
        iruka.vectorize(target="cpu")(lambda a: a + 1)(half)
    with pytest.raises(TranslationError, match="bfloat16"):
        iruka.vectorize(["bfloat16(bfloat16)"])(lambda a: a)
    with pytest.raises(TranslationError, match="bfloat16"):
        iruka.guvectorize(["void(bfloat16[:], bfloat16[:])"], "(n)->(n)")(lambda a, out: None)
    assert iruka.vectorize(target="cpu")(lambda a: a + 1)(half.astype("float32")).tolist() == [1, 1, 1]


@iruka.guvectorize(["void(float64[:,:], float64[:])"], "(m,n)->(n)")
def rows_of_a_tuple(a, out):
    for k in range(len(out)):
        out[k] = 0
    for row in (a[0], a[1], a[0]):
        for k in range(len(row)):
            out[k] = out[k] * 2 + row[k]
    for place, (row, weight) in enumerate(zip((a[-1], a[0]), (0.5, 3.0))):
        out[place] += row[-1] * weight
    for row in reversed((a[0], a[1])):
        out[0] = out[0] * 3 + row[0]


@jit.rawkernel()
def rows_in_a_kernel(a, out):
    k = jit.grid(1)
    if k < a.shape[1]:
        total = np.float64(0)
        for row in (a[1], a[0]):
            total = total * 2 + row[k]
        out[k] = total


def test_loops_over_rows_of_a_tuple():
    a = rng.normal(size=(5, 3, 4))
    wanted = a[:, 0] * 5 + a[:, 1] * 2
    wanted[:, 0] += a[:, -1, -1] * 0.5
    wanted[:, 1] += a[:, 0, -1] * 3
    wanted[:, 0] = (wanted[:, 0] * 3 + a[:, 1, 0]) * 3 + a[:, 0, 0]
    np.testing.assert_allclose(rows_of_a_tuple(iruka.array(a)).get(), wanted, rtol=1e-12)
    out = iruka.zeros(4)
    rows_in_a_kernel[1, 32](iruka.array(a[0]), out)
    np.testing.assert_allclose(out.get(), a[0, 1] * 2 + a[0, 0], rtol=1e-14)


def test_inversion_of_a_bool_is_its_negation():
    positive = iruka.vectorize(["boolean(float64)"])(lambda x: ~(x > 0))
    assert positive(np.array([1.0, -1.0])).tolist() == [False, True]
    chosen = iruka.vectorize(["float64(float64, boolean)"])(lambda x, m: x if ~m else 0.0)
    assert chosen(np.array([1.0, 2.0]), np.array([True, False])).tolist() == [0, 2]
    inverted = iruka.vectorize(["boolean(boolean)"])(lambda m: np.invert(m))
    assert inverted(np.array([True, False])).tolist() == [False, True]

    @iruka.jit.rawkernel
    def marked(m, x):
        k = iruka.jit.grid(1)
        if ~m[k]:
            x[k] = 1

    x = iruka.zeros(2)
    marked[1, 2](iruka.array([True, False]), x)
    assert x.tolist() == [0, 1]


# What refusals say to write instead


def product_of_numbers(x):
    return x @ x


def product_by_name(x):
    return operator.matmul(x, x)


def largest_by_key(x):
    return max((x, 1.0), key=lambda v: -v)


def largest_of_nothing(x):
    return max(())


def mapped(x):
    return sum(map(math.sqrt, (x, 1)))


def in_order(x):
    return sorted((x, 1))[0]


def folded(x):
    return functools.reduce(lambda a, b: a + b, (x, 1))


def range_as_a_value(x):
    return range(3)[0] + x


def kind_of(x):
    return 1 if isinstance(x, int) else 2


def one_of_two_functions(x):
    function = (lambda v: v * 2) if x > 1 else (lambda v: v + 1)
    return function(x)


def one_of_two_known_functions(x):
    function = math.sin if x > 1 else math.cos
    return function(x)


def functions_in_turn(x):
    total = 0.0
    for function in (lambda v: v * 2, lambda v: v + 1):
        total += function(x)
    return total


def any_number_of_arguments(x):
    function = lambda *values: values[0]
    return function(x)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (product_of_numbers, r"@ multiplies matrices, .* write loops over the elements, and \* for numbers"),
        (product_by_name, "@ multiplies matrices"),
        (largest_by_key, r"max\(\) takes no key= in a kernel; compare the numbers with `if`"),
        (largest_of_nothing, r"max\(\) takes one number or more"),
        (mapped, r"map\(\) has no kernel; call the function for each element"),
        (in_order, r"sorted\(\) has no kernel; order the numbers with min\(\) and max\(\)"),
        (folded, r"reduce\(\) has no kernel; write a loop"),
        (range_as_a_value, r"range\(\) has no kernel; it stands in the head of a loop"),
        (kind_of, r"isinstance\(\) has no kernel; the types are known when the kernel is made"),
        (one_of_two_functions, r"one type, not the function .*; choose between their results, f\(x\) if"),
        (one_of_two_known_functions, r"; choose between their results, f\(x\) if"),
        (functions_in_turn, "write a call for each of these functions"),
        (any_number_of_arguments, r"write each parameter, with none behind a \*"),
    ],
)
def test_advice(function, words):
    with pytest.raises(TranslationError, match=words) as error:
        iruka.vectorize(["float64(float64)"])(function)
    assert "\n" in str(error.value) and str(error.value).endswith("^")


def matrix_product(x, out):
    out[:] = x @ x


def matrix_product_in_place(x, out):
    out @= x


def matrix_product_by_name(x, out):
    out[:] = np.matmul(x, x)


def inner_product(x, out):
    out[0, 0] = np.dot(x[0], x[0])


def larger_elements(x, out):
    out[:] = max(x, 1.0)


def smaller_elements(x, out):
    out[:] = min(1.0, x)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (matrix_product, "@ multiplies matrices, .* float64 array of 2 axes"),
        (matrix_product_in_place, "@ multiplies matrices"),
        (matrix_product_by_name, r"matmul\(\) has no kernel; write loops over the elements"),
        (inner_product, r"dot\(\) has no kernel; write loops over the elements"),
        (larger_elements, r"max\(\) takes numbers; for arrays write numpy.maximum, as in out\[:\] = numpy.maximum"),
        (smaller_elements, r"min\(\) takes numbers; for arrays write numpy.minimum"),
    ],
)
def test_advice_for_arrays(function, words):
    with pytest.raises(TranslationError, match=words):
        iruka.guvectorize(["void(float64[:,:], float64[:,:])"], "(n,n)->(n,n)")(function)


def extremes(x, y):
    return max(x, 1.0), min(x, y, 2.5), max(1, x), max((y, x, 0.5)), min(True, y)


@pytest.mark.parametrize(
    "dtypes", [("int64", "int64"), ("int32", "float64"), ("float32", "int8"), ("uint8", "float64")]
)
def test_extremes_of_mixed_types(dtypes):
    x, y = (np.array(values, dtype) for values, dtype in zip(([0, 1, 2, 5], [3, 0, 1, 7]), dtypes, strict=True))
    for k, found in enumerate(iruka.vectorize(target="cpu")(extremes)(x, y)):
        assert found.tolist() == [extremes(*each)[k] for each in zip(x.tolist(), y.tolist(), strict=True)]


def in_place(n):
    whole = 3
    whole *= 1.5
    n /= 2
    n -= whole
    count = 7
    for k in range(3):
        count += 0.25 * k
    return whole, n, count


def not_in_place(n):
    whole = 3
    whole = whole * 1.5
    n = n / 2
    n = n - whole
    count = 7
    for k in range(3):
        count = count + 0.25 * k
    return whole, n, count


def test_integers_become_floats_in_place_as_in_an_assignment():
    n = np.arange(4)
    for made, same, k in zip(*(iruka.vectorize(target="cpu")(f)(n) for f in (in_place, not_in_place)), range(3)):
        assert made.dtype == same.dtype == "float64"
        assert made.tolist() == same.tolist() == [in_place(each)[k] for each in n.tolist()]
