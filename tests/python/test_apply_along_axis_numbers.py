"""apply_along_axis of functions of numbers, for every dtype, against numpy.apply_along_axis."""

import math
import warnings

import ml_dtypes
import numpy as np
import pytest

import iruka
import iruka.testing

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
WEIGHT = 0.3


def sum_of_positive(v):
    total = 0.0
    for x in v:
        if x > 0:
            total += x
    return total


def sum_from_an_integer(v):
    total = 0
    for x in v:
        if x > 1:
            total += x
    return total


def smoothed(v, weight=WEIGHT):
    level = v[0]
    for k in range(1, len(v)):
        level = weight * v[k] + (1 - weight) * level if v[k] > level else level
    return level


def first_beyond(v, limit=2):
    for k in range(len(v)):
        if v[k] > limit:
            return k
    return -1


def extremes(v):
    low = high = v[0]
    for x in v:
        if x < low:
            low = x
        if x > high:
            high = x
    return low, high


def one_of_two(v):
    if v[0] > v[1]:
        return v[0] * 2
    return v[1]


def variance_of_large(v):
    mean = 0.0
    for x in v:
        mean += x
    mean /= len(v)
    total = 0.0
    for x in v:
        d = x - mean
        if d > 0:
            total += d * d
    return total / len(v)


def longest_rise(v):
    best = run = 0
    for k in range(1, len(v)):
        run = run + 1 if v[k] >= v[k - 1] else 0
        best = max(best, run)
    return best


def wrapped(v):
    product = v[0]
    for x in v:
        if x > 1:
            product = product * x + x - 1
    return product


def halves(v):
    best = v[0] / 2
    for x in v:
        if x / 2 > best:
            best = x / 2
    return best


def powers(v):
    total = v[0] ** 2
    for x in v:
        if x**3 > total:
            total = x**3
    return total


def clipped_by_builtins(v):
    total = 0
    for x in v:
        total = total + min(max(x, 1), 3)
    return total if total > 2 else v[0]


def signs(v):
    up = down = 0
    for x in v:
        if not x > 0:
            down += 1
        elif abs(x) > 2 and x != 3:
            up += 1
    return [up, down, up - down]


def of_numpy_functions(v):
    best = np.sqrt(abs(v[0]))
    for x in v:
        best = np.maximum(best, np.float32(0.5)) if np.isfinite(x) and x > 0 else best
    return best


def of_math(v):
    total = 0.0
    for x in v:
        if x > 0:
            total += math.sqrt(x) * math.exp(-float(x) / 100)
    return total


def remainders(v):
    count = 0
    for x in v:
        if x % 3 == 1 or x // 2 > 4:
            count += 1
    return count


def bits(v):
    made = v[0] ^ v[1]
    for x in v:
        made = (made << 1) ^ x if x & 1 else made | (x >> 1)
    return ~made


def counts_of_signs(v):
    counts = np.zeros(3, "int16")
    last = np.array((v[0], 0.5))
    for x in v:
        counts[0 if x < 1 else 1 if x == 1 else 2] += 1
        last[1] = x if x > last[1] else last[1]
    return counts[0] * 2, counts[2], last[1]


def by_helpers(v):
    second = lambda x, y=2: x * y if x > y else y
    total = 0
    for x in v:
        if x > 0:
            total = total + larger(x, second(x))
    return total


def larger(x, y):
    return x if x > y else y


def assigned_in_tests(v):
    k = x = 0
    while k < len(v) and (x := v[k]) > 0:
        k += 1
    return k + x if k > 1 else x


STEPS = (1, 2, 0, 3, 1, 0, 1)
RATES = [0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0]


def of_tables(v):
    best = v[0]
    for k, x in enumerate(v):
        for factor in (1, 2.5):
            if x * factor > best:
                best = x * RATES[k] + STEPS[k]
    return best


def hashed(v):
    code = 7
    for x in v:
        if x > 0:
            code = (code * 31 + int(x)) % 1000003
    return code


ORDERED = [
    sum_of_positive,
    sum_from_an_integer,
    smoothed,
    first_beyond,
    extremes,
    one_of_two,
    variance_of_large,
    wrapped,
]
REAL = [
    longest_rise,
    counts_of_signs,
    by_helpers,
    assigned_in_tests,
    halves,
    powers,
    clipped_by_builtins,
    signs,
    of_numpy_functions,
    of_math,
    remainders,
    hashed,
]


def array_of(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) > 0.4
    x = rng.normal(size=shape) * 4
    if dtype in COMPLEX:
        return (x + 1j * rng.normal(size=shape)).astype(dtype)
    x = x.astype("int64") if dtype in INTEGERS else x
    return abs(x).astype(dtype) if dtype.startswith("u") else x.astype(dtype)


def check(function, x, *arguments, axis=-1, given=None, **keywords):
    """Compares with NumPy. That a loop ran in Python is an error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = np.apply_along_axis(function, axis, x, *arguments, **keywords)
        warnings.simplefilter("error", UserWarning)
        actual = iruka.apply_along_axis(
            function, axis, iruka.array(x) if given is None else given, *arguments, **keywords
        )
    assert actual.dtype == expected.dtype, function.__name__
    assert actual.shape == expected.shape
    eps = np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
    np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=8 * eps, atol=0, equal_nan=True)


@pytest.mark.parametrize("function", ORDERED, ids=lambda each: each.__name__)
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + COMPLEX)
def test_dtypes(function, dtype):
    check(function, array_of(dtype, (70, 7)))


@pytest.mark.parametrize("function", REAL, ids=lambda each: each.__name__)
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_real_dtypes(function, dtype):
    x = array_of(dtype, (70, 7))
    if function is counts_of_signs and not iruka.default_device().name.startswith("cpu"):
        with pytest.raises(TypeError, match="Implicit conversion"):  # it gives NumPy elements of a GPU's slice
            check(function, x)
    else:
        check(function, x)


@pytest.mark.parametrize("function", [sum_from_an_integer, first_beyond, extremes, longest_rise, of_math, hashed])
def test_booleans(function):
    check(function, array_of("bool", (70, 7)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_of_integers(dtype):
    check(bits, array_of(dtype, (70, 7)))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("function", [wrapped, extremes, sum_from_an_integer, powers, bits, signs, halves])
def test_integers_of_full_scale_wrap(function, dtype):
    limits = np.iinfo(dtype)
    x = np.random.default_rng(3).integers(limits.min, limits.max, (60, 5), dtype, endpoint=True)
    x[0], x[1] = limits.max, limits.min
    check(function, x)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("function", [sum_of_positive, smoothed, extremes, halves, longest_rise, clipped_by_builtins])
def test_nan_infinity_and_denormals(function, dtype):
    x = array_of(dtype, (64, 5))
    x[3, 1], x[4, 0], x[5, 2], x[6, 4] = np.nan, np.nan, np.inf, -np.inf
    x[7], x[8], x[9] = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max, -0.0
    check(function, x)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "float16"])
def test_layouts_axes_and_arguments(dtype):
    x = array_of(dtype, (5, 6, 7))
    for axis in (0, 1, 2, -1, -3):
        check(smoothed, x, axis=axis)
        check(extremes, np.asfortranarray(x), axis=axis, given=iruka.asarray(np.asfortranarray(x)))
    turned = x[::-1, :, ::-2]
    check(sum_of_positive, turned, axis=-1, given=iruka.array(x)[::-1, :, ::-2])
    check(first_beyond, x, 1)
    check(first_beyond, x, limit=3)
    check(smoothed, x, np.float32(0.25))
    check(smoothed, x, weight=1)
    check(extremes, array_of(dtype, (9,)), axis=0)
    check(sum_from_an_integer, x[:, :, :0])


def test_the_first_slice_decides_the_dtype():
    def one(v):
        return 0 if v[0] > 0 else v[1] * 1.5

    x = array_of("float32", (40, 3))
    for start in (1, -1):
        x[0] = start
        check(one, x)


def test_bfloat16():
    x = array_of("float32", (40, 5)).astype(ml_dtypes.bfloat16)
    rows = iruka.array(x)
    for function in (sum_of_positive, smoothed, extremes, first_beyond, variance_of_large):
        results = [function(row) for row in rows]
        parts = [part for each in results for part in (each if isinstance(each, tuple) else (each,))]
        expected = [float(part) for part in parts]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            actual = iruka.asnumpy(iruka.apply_along_axis(function, 1, rows)).ravel()
        np.testing.assert_array_equal(actual.astype("float32"), np.array(expected, "float32"))


# What raises exceptions.


def divided(v):
    total = 0.0
    for x in v:
        if x > 0:
            total += 1 / int(x)
        else:
            total += 1.0 % float(x)
    return total


def root(v):
    return math.sqrt(v[1]) if v[0] > 0 else 0.0


def out_of_bounds(v):
    return v[int(v[0]) * 2] if v[1] > 0 else v[0]


def negative_power(v):
    return v[0] ** v[1] if v[0] > 0 else v[1]


def too_large(v):
    return v[1] + int(v[0]) * 100 if v[0] > 0 else v[1]


@pytest.mark.parametrize(
    ("function", "dtype", "error"),
    [(divided, "float32", ZeroDivisionError), (root, "float32", ValueError), (out_of_bounds, "int32", IndexError),
     (negative_power, "int16", ValueError), (too_large, "uint8", OverflowError)],
)  # fmt: skip
def test_exceptions_are_pythons(function, dtype, error):
    x = np.ones((30, 4), dtype)
    x[::2, 0] = 0 if function is not divided else 2
    x[20] = {divided: 0, root: [1, -1, 1, 1], out_of_bounds: 3, negative_power: [2, -1, 1, 1], too_large: 9}[function]
    with pytest.raises(error), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.apply_along_axis(function, 1, x)
    with pytest.raises(error), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iruka.apply_along_axis(function, 1, iruka.array(x))
    check(function, x[:20])


def test_long_integers_of_python_are_computed_by_python():
    def long(v):
        made = int(v[0])
        for x in v:
            if x > 0:
                made = made * 1000003
        return made % 97

    x = np.ones((30, 9), "int16")
    x[::3, :5] = -3
    with pytest.warns(UserWarning, match="Python integers leave 64 bits"):
        actual = iruka.apply_along_axis(long, 1, iruka.array(x))
    np.testing.assert_array_equal(iruka.asnumpy(actual), np.apply_along_axis(long, 1, x))


def test_the_warning_says_why_there_is_no_kernel():
    def texts(v):
        best = 0
        for x in v:
            if x > 0 and len(str(x)) > best:
                best = len(str(x))
        return best

    with pytest.warns(UserWarning, match=r"it is no kernel: texts has no kernel .*str\(\)"):
        iruka.apply_along_axis(texts, 1, iruka.array(array_of("float32", (40, 6))))


LIMIT = 1


def beyond_limit(v):
    for k in range(len(v)):
        if v[k] > LIMIT:
            return k
    return -1


def test_globals_and_closures_are_those_of_the_call():
    global LIMIT
    x = array_of("float32", (50, 6))
    for limit in (1, 3, 0.5, 1):
        LIMIT = limit
        check(beyond_limit, x)

    def above(limit):
        def function(v):
            total = 0
            for value in v:
                if value > limit:
                    total += 1
            return total

        return function

    for limit in (0, 2, np.float32(1.5), 0):
        check(above(limit), x)


def counted_in_a_chain(v):
    k = 0
    for x in v:
        if x < (k := k + 1) < v[1]:
            pass
    return k


def chains(v):
    total = 0
    for x in v:
        total += (v[0] < x < v[1]) + (0 < total < 5) + (x < 3 < v[1])
    return total


def converted(v):
    y = v[0].item()
    z = v[1].astype(np.float32)
    total = z * 0
    for k in range(3):
        if y > 0:
            total += z * k
    last: np.float32 = v[-1].astype(np.float32)
    return total + last


@pytest.mark.parametrize("function", [counted_in_a_chain, chains, converted], ids=lambda each: each.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_chains_and_methods_of_scalars(function, dtype):
    check(function, array_of(dtype, (40, 6)))


def test_methods_of_scalars_have_kernels():
    from iruka._translate.number_types import ArrayView
    from iruka._translate.numpy_scalars import translate_scalars

    assert str(translate_scalars(converted, (ArrayView(np.dtype("float64"), 1, False),)).returned) == "float32"


def exact_orders(v):
    n = 2**53 + 1
    for x in v:
        n += int(x)
    y = float(n)
    tests = n == y, n != y, n < y, n <= y, n > y, n >= y, y == n, y < n, y >= n, n == complex(y), n != complex(y)
    count = 0
    for test in tests:
        count = 2 * count + test
    return count


def orders_of_limits(v):
    n, count = int(v[0]), 0
    for y in (math.inf, -math.inf, math.nan, 9223372036854775808.0, -9223372036854775808.0, 0.5, -0.0):
        count = 64 * count + (n < y) + 2 * (n <= y) + 4 * (n == y) + 8 * (y < n) + 16 * (y <= n) + 32 * (n != y)
    return count


@pytest.mark.parametrize("function", [exact_orders, orders_of_limits], ids=lambda each: each.__name__)
def test_integers_and_floats_of_python_compare_by_their_values(function):
    large = [0, 1, -1, 2**53, 2**62, -(2**62), 2**60 + 3, -(2**55) + 1]
    x = np.array([[each, 0, 0] for each in large] + [[2**62, 2**62 - 2**54, 0]])
    check(function, x if function is exact_orders else np.concatenate([x, [[2**63 - 1, 0, 0], [-(2**63), 0, 0]]]))


def ratio(v):
    n = 0
    for x in v:
        n += int(x)
    return n / (n + 2)


def test_quotients_of_long_integers_are_rounded_once():
    check(ratio, np.array([[1, 2, 3], [2**53, -5, 0], [2**52, 7, 1]]))
    x = np.array([[2**53, 1, 0], [1, 2, 3]])
    with pytest.warns(UserWarning, match="for each slice in Python"):
        found = iruka.apply_along_axis(ratio, -1, iruka.array(x))
    assert found.tolist() == [(2**53 + 1) / (2**53 + 3), 6 / 8]
