"""Python functions as kernels: what they compute is what Python computes, and what has no kernel is refused."""

import cmath
import math
import operator

import numpy as np
import pytest

import iruka
from iruka._translate import translate
from iruka.errors import TranslationError

LIMIT, WEIGHTS, MATRIX = 30, (0.25, 0.5, 0.25), ((1, 2), (3, 4))
rng = np.random.default_rng(1)
FLOATS = np.concatenate([rng.normal(size=60) * 5, [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e-300, 1e15, 7.0]])
INTEGERS = np.concatenate([rng.integers(-100, 100, 60), [0, 1, -1, 2, -2, 3, 7, -7, 2**31, -(2**31)]])
POSITIVE = np.abs(FLOATS) + 0.25


def kernel_of(function, *arrays):
    made = translate(function, tuple(each.dtype for each in arrays))
    inputs, outputs = [f"x{k}" for k in range(len(arrays))], [f"y{k}" for k in range(len(made.results))]
    parameters = ", ".join(f"{each.dtype} {name}" for each, name in zip(arrays, inputs, strict=True))
    results = ", ".join(f"{each.dtype} {name}" for each, name in zip(made.results, outputs, strict=True))
    body = f"int64_t failed = 0; {made.call(inputs, outputs)}"
    return iruka.ElementwiseKernel(parameters, results, body, "translated", preamble=made.preamble)


def results_of(function, *arrays):
    made = kernel_of(function, *arrays)(*map(iruka.asarray, arrays))
    return [each.get() for each in (made if isinstance(made, (list, tuple)) else [made])]


def check(function, *arrays, rtol=1e-13):
    """Compares with Python's own numbers, element by element."""
    found = results_of(function, *arrays)
    expected = [function(*(each.item() for each in elements)) for elements in zip(*arrays, strict=True)]
    columns = list(zip(*expected, strict=True)) if isinstance(expected[0], tuple) else [expected]
    assert len(found) == len(columns)
    for one, column in zip(found, columns, strict=True):
        kinds = {type(each) for each in column}
        assert (one.dtype.kind == "b") == (kinds == {bool})
        assert (one.dtype.kind in "iu") == (kinds != {bool} and kinds <= {bool, int, np.int64})
        np.testing.assert_allclose(one, np.array(column), rtol=rtol)


def escape_time(re, im):
    x = y = 0.0
    for k in range(LIMIT):  # noqa: B007
        if x * x + y * y > 4.0:
            break
        x, y = x * x - y * y + re, 2 * x * y + im
    else:
        k = LIMIT
    return k


def difference(a, b):
    if a > b:
        return a - b, 1
    return b - a, 0


def calls_helpers(x, y):
    d, s = difference(x, y)
    total = 0
    for place, weight in enumerate(WEIGHTS):
        total += weight * place
    return d + s + total


def collatz(n):
    n = abs(n) % 1000 + 1
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def newton(x):
    guess = 1.0
    while True:
        after = (guess + x / guess) / 2
        if abs(after - guess) <= 1e-12 * after:
            return after
        guess = after


def loops_with_else(n):
    found = -1
    for k in range(2, 12):
        if n % k == 3:
            found = k
            break
        if k == 9:
            continue
        found -= 1
    else:
        found = 1000
    return found


def counts_down(n):
    total = k = 0
    for k in range(10, -(n % 5), -3):
        total = total * 2 + k
    return total, k


def nested(n):
    total = 0
    for a in range(abs(n) % 6):
        for b in range(a, 0, -1):
            if b == 3:
                break
            if (a + b) % 2:
                continue
            total += a * b
    return total


def local_arrays(x, y):
    window = np.zeros(4)
    for k in range(4):
        window[k] = x * k - y
    window[-1] += 10
    best = window[0]
    for value in window:
        best = max(best, value)
    table = np.array([[1, 2, 3], [4, 5, 6]])
    total = 0
    for i in range(2):
        for j in range(3):
            total += table[i, j] * (i - j)
    return best, total, len(window), table.shape[1]


def tuples(x, y):
    a = (x, y, x + y)
    b = a[::-1] + (1,)
    return a[0], b[1], len(b), sum(a), min(a), max(b), 2 in b, a == b[:3]


def zips(x, y):
    total = 0.0
    for a, b in zip((x, y, 1.0), reversed((1.0, 2.0, 3.0))):
        total = total * 0.5 + a * b
    for k, (a, b) in enumerate(MATRIX):
        total += k * a - b
    return total


def widened_variables(x, y):
    t = 0
    if x > y:
        t = x
    elif x < -1:
        t = True
    x = x + t
    return x


def swaps(x, y):
    for _ in range(3):
        x, y = y, x + 0.5
    return x, y


FUNCTIONS_OF_TWO = [
    lambda x, y: x + y * 2 - (x - y) / 3,
    lambda x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y),
    lambda x, y: -5 < x < y < 5,
    lambda x, y: (x and y, x or y, not x, x and y or 3),
    lambda x, y: x if x > y else y,
    lambda x, y: abs(x) + max(x, y, 1) - min(x, y),
    lambda x, y: (x > 0) + (y > 0) * 2,
    lambda x, y: (x > 0 and y > 0, x > 0 or y > 0),
    lambda x, y: -x + +y,
    lambda x, y: x // 2 + y % 3,
    lambda x, y: (x // -3, y % -7, divmod(x, 5)[1]),
    lambda x, y: x**2 + y**3 - x**1 * y**0,
    lambda x, y: (int(x / 10), float(y), bool(x), round(y / 3)),
    lambda x, y: (z := x + y) * z,
    lambda x, y: pow(x, 2) + math.pow(abs(y) + 1, 0.5),
    lambda x, y: operator.add(x, y) + operator.neg(x),
    lambda x, y: (lambda_helper(x), lambda_helper(y)),
    lambda x, y: x in (1, 2, 0.5) and y not in (0, 1),
    calls_helpers, swaps, widened_variables, zips, local_arrays, tuples,
]  # fmt: skip


def lambda_helper(x, scale=2):
    return x * scale if x > 0 else x


@pytest.mark.parametrize("function", FUNCTIONS_OF_TWO)
def test_functions_of_two_numbers(function):
    check(function, FLOATS, rng.permutation(FLOATS))
    check(function, INTEGERS % 1000, rng.permutation(INTEGERS) % 1000)
    check(function, INTEGERS.astype("int32") % 1000, FLOATS)


@pytest.mark.parametrize("function", [collatz, loops_with_else, counts_down, nested])
def test_loops_of_integers(function):
    check(function, INTEGERS)
    check(function, INTEGERS[:60].astype("int8"))


def test_loops():
    check(escape_time, FLOATS / 5, rng.permutation(FLOATS) / 5)
    check(newton, POSITIVE[np.abs(POSITIVE) < 1e6])


@pytest.mark.parametrize(
    "function",
    [
        lambda n, m: (n & m, n | m, n ^ m, ~n),
        lambda n, m: (n << 3, n >> 2, (n & 0xFF) << (m & 7)),
        lambda n, m: divmod(n, m | 1),
        lambda n, m: math.gcd(n, m) + math.lcm(n % 50, m % 50),
        lambda n, m: (n % 7) ** (abs(m) % 5),
        lambda n, m: (n % 7 + 1) ** -2,
    ],
)
def test_integers(function):
    check(function, INTEGERS, rng.permutation(INTEGERS))


MATH = [
    "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan",
    "erf", "erfc", "fabs", "degrees", "radians", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "gamma", "lgamma",
]  # fmt: skip


@pytest.mark.parametrize("name", MATH)
def test_functions_of_math(name):
    function = getattr(math, name)
    x = np.linspace(0.1, 5, 57)
    rtol = 1e-12 if name in ("gamma", "lgamma") else 1e-14
    found = results_of(lambda x: function(x), x)[0]
    np.testing.assert_allclose(found, [function(each) for each in x.tolist()], rtol=rtol, atol=1e-15)


def fills(values, x):
    for k in range(len(values)):
        values[k] = x * k
    return values[-1]


def arrays_in_helpers(x, y):
    window = np.zeros(5)
    last = fills(window, x)
    total = 0.0
    for value in window:
        total += value
    return last, total + y


PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)


def long_tuples(x, y):
    total = 0
    for place, prime in enumerate(PRIMES):
        total += place * prime
    for prime in PRIMES:
        if prime > abs(y):
            break
        total -= prime
    return total + x


def from_its_parts(x, y):
    inf = float("inf")
    best = inf
    for each in (x, y, power(2, 3)):
        best = each if each < best else best
    return best, np.conjugate(x), math.floor(x), best == inf


power = math.pow


@pytest.mark.parametrize("function", [arrays_in_helpers, long_tuples, from_its_parts])
def test_more_functions_of_two_numbers(function):
    check(function, FLOATS, rng.permutation(FLOATS))
    if function is long_tuples:
        check(function, INTEGERS % 1000, rng.permutation(INTEGERS) % 1000)


@pytest.mark.cpu_only
def test_a_failed_index_ends_loops():
    def search(x):
        values = np.array([1.0, 2.0, 3.0])
        k = 0
        while values[k] != x:
            k += 1
        return k

    def nested_search(x):
        return search(x) + 1 if x > 0 else 0

    find = iruka.vectorize(["int64(float64)"])(search)
    assert find([1.0, 3.0]).tolist() == [0, 2]
    for function in (search, nested_search):
        with pytest.raises(IndexError, match="out of bounds"):
            iruka.vectorize(["int64(float64)"])(function)([1.0, 4.0])
    assert iruka.vectorize(["int64(float64)"])(nested_search)([-4.0, 3.0]).tolist() == [0, 3]


def test_complex_numbers():
    z = FLOATS[:40] + 1j * FLOATS[20:60]

    def rotate(z, w):
        u = z * w.conjugate() + 2j
        return u.real if abs(u) > 3 else cmath.exp(u * 0.1).imag

    check(rotate, z, z[::-1].copy(), rtol=1e-12)
    check(lambda z: (z == 1, z != z, z + 1, z / (2 + 1j), -z), z, rtol=1e-12)
    check(lambda x: complex(x, 1) * 1j, FLOATS)


def test_types_are_numbas():
    f4, i4, u8 = np.dtype("f4"), np.dtype("i4"), np.dtype("u8")
    for function, arguments, expected in (
        (lambda x: x + 1.5, [f4], "f8"),
        (lambda x, y: x * y, [f4, f4], "f4"),
        (lambda x, y: x * y, [f4, i4], "f8"),
        (lambda x, y: x + y, [i4, i4], "i8"),
        (lambda x: x + 1, [u8], "u8"),
        (lambda x, y: x + y, [u8, i4], "f8"),
        (lambda x: x / 2, [i4], "f8"),
        (lambda x: math.sin(x), [f4], "f4"),
        (lambda x: np.sqrt(x), [i4], "f8"),
        (lambda x: np.float32(x) * np.float32(2), [np.dtype("f8")], "f4"),
        (lambda x: x > 1, [f4], "?"),
        (lambda x: x**2, [f4], "f4"),
    ):
        assert translate(function, tuple(arguments)).results[0].dtype == np.dtype(expected)


def undefined_name(x):
    return x + undefined  # noqa: F821


def maybe_without_value(x):
    if x > 0:
        y = 1
    return x + y


def makes_a_list(x):
    values = [x, 2 * x]
    return values[0]


def calls_itself(x):
    return 1 if x < 2 else x * calls_itself(x - 1)


def has_two_types(x):
    y = (x, x)
    y = 1
    return y + x


def returns_nothing(x):
    x + 1


def returns_sometimes(x):
    if x > 0:
        return x


def catches(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0


def prints(x):
    print(x)
    return x


def reads_a_file(x):
    return len(open("file").read()) + x


def formats(x):
    return f"{x}"


def unpacks_wrongly(x):
    a, b = (x, x, x)
    return a + b


def index_out_of_bounds(x):
    return (x, 1)[2]


def unknown_attribute(x):
    return math.sine(x)


def dynamic_array(x):
    return np.zeros(int(x))[0]


def dynamic_shape(x):
    values = np.zeros(int(x))
    return values[0]


def chooses_an_array(x):
    a = np.zeros(2)
    b = np.ones(2)
    return (a if x > 0 else b)[0]


def calls_a_tuple(x):
    pair = (x, 1)
    return pair(x)


def names_an_array_twice(x):
    a = np.zeros(2)
    b = a
    return b[0] + x


def stores_a_complex_number(x):
    a = np.zeros(2)
    a[0] = x * 1j
    return a[0]


def starred(*x):
    return x[0]


@pytest.mark.parametrize(
    ("function", "words", "mark"),
    [
        (undefined_name, "the name 'undefined' is not defined", "undefined"),
        (maybe_without_value, "'y' may be used before it has a value", "y"),
        (makes_a_list, "a list has no fixed size; use a tuple", "[x"),
        (calls_itself, "calls itself; a kernel has no recursion", "calls_itself("),
        (has_two_types, "'y' would be int64 here and is (float64, float64) elsewhere", "y = 1"),
        (returns_nothing, "it returns nothing", ""),
        (returns_sometimes, "the function ends here without a result", ""),
        (catches, "a kernel cannot catch exceptions", "try:"),
        (prints, "print() has no place in a kernel", "print"),
        (reads_a_file, "open() has no kernel", "open("),
        (formats, "strings have no place", 'f"'),
        (unpacks_wrongly, "3 values for 2 names", "a, b"),
        (index_out_of_bounds, "IndexError: tuple index out of range", "(x, 1)"),
        (unknown_attribute, "module 'math' has no attribute 'sine'", "math"),
        (dynamic_array, "an array is made by an assignment to a name", "np.zeros"),
        (dynamic_shape, "the shape of an array must be known", "np.zeros"),
        (chooses_an_array, "a choice between arrays is not supported", "a if"),
        (names_an_array_twice, "an array has one name", "b = a"),
        (calls_a_tuple, "(float64, int64) is no function", "pair(x)"),
        (lambda x: [].append(x), "list", "[]"),
        (starred, "parameters with *", ""),
        (lambda x: "a" + x, "+ takes numbers, not str and float64", '"a"'),
        (lambda x: x @ x, "@ has no meaning for scalars", "x @ x"),
        (lambda x: x << 1, "<< takes integers, not float64 and int64", "x << 1"),
        (lambda x: {1: x}[1], "a dict has no place in a kernel", "{1"),
        (lambda x: 10**400 * x, "does not fit", ""),
        (lambda x: (x, None), "it returns (float64, None); a kernel returns numbers or tuples of numbers", "lambda"),
        (lambda x: ((x, x), x), "it returns ((float64, float64), float64)", "lambda"),
        (lambda x: (x, x)[::0], "ValueError: slice step cannot be zero", "(x, x)"),
        (lambda x: complex("a", x), "could not convert", ""),
        (lambda x: round(x, "a"), "round() takes a real number", "round"),
        (lambda x: np.real() + x, "takes one number here", "np.real()"),
        (lambda x: math.ldexp(x), "takes two numbers here", "math.ldexp"),
        (lambda x: any(x, x), "takes one tuple here", "any("),
        (lambda x: len() + x, "takes one tuple here", "len()"),
        (stores_a_complex_number, "a complex number has no real value", "a[0]"),
    ],
)
def test_what_has_no_kernel(function, words, mark):
    with pytest.raises(TranslationError) as caught:
        translate(function, (np.dtype("f8"),))
    text = str(caught.value)
    assert words in text and __file__ in text
    lines = text.splitlines()
    if mark:
        column = lines[-1].index("^")
        assert lines[-2][column:].startswith(mark), text


def test_columns_of_other_characters():
    def named(größe):
        return "é" + größe

    with pytest.raises(TranslationError) as caught:
        translate(named, (np.dtype("f8"),))
    lines = str(caught.value).splitlines()
    assert lines[-2][lines[-1].index("^") :].startswith('"é" + größe')
    check(lambda größe: größe + 1, FLOATS)


def test_functions_without_text():
    scope = {}
    exec("def made(x):\n    return x", scope)
    for function in (scope["made"], math.sin, np.sin, len, 3):
        with pytest.raises(TranslationError, match="text"):
            translate(function, (np.dtype("f8"),))


def test_lambdas_on_one_line():
    pair = (lambda x: x + 1, lambda x: x + 2)
    check(pair[1], FLOATS)
    check(pair[0], FLOATS)
