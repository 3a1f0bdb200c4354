"""The types of numbers in translated functions: unsigned integers with constants, and names of variables."""

import numpy as np
import pytest

import iruka
from iruka import jit

BYTES = np.array([0, 1, 5, 100, 127, 128, 200, 255], "uint8")
WIDE = np.array([0, 1, 2, 7, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2], "uint64")
SIGNED = np.array([0, -1, 3, -(2**62), 2**62, 5, -7, 11], "int64")


def computed(function, *arrays):
    """The function's results by a kernel that is made at the call, and by one whose types are declared."""
    lazy = iruka.vectorize(target="cpu")(function)(*map(iruka.array, arrays)).get()
    declared = f"{lazy.dtype}({', '.join(str(each.dtype) for each in arrays)})"
    np.testing.assert_array_equal(lazy, iruka.vectorize([declared])(function)(*arrays))
    return lazy


def expected(function, *arrays):
    return [function(*(each.item() for each in items)) for items in zip(*arrays, strict=True)]


def less_literal(a):
    return a - 200


def literal_less(a):
    return 100 - a


def centred(a):
    return (a - 128) / 2


def scaled(a):
    return (a * 3 - 7) // 2 % 5


def is_below(a):
    return a - 5 < 0


def magnitude(a):
    return abs(a - 128)


@pytest.mark.parametrize("function", [less_literal, literal_less, centred, scaled, is_below, magnitude])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_narrow_unsigned_with_literals(function, dtype):
    """Numba computes them as int64, which holds Python's values."""
    x = np.array([0, 1, 5, 127, 128, 200, np.iinfo(dtype).max], dtype)
    found = computed(function, x)
    assert found.tolist() == expected(function, x)
    assert found.dtype == {"centred": "float64", "is_below": "bool"}.get(function.__name__, "int64")


def sum_less_literal(a, b):
    return a + b - 200


def conditional_sum(a, b):
    s = 0
    if a > 3:
        s = a + b
    return s - 300


def mean(a, b):
    return (a + b) // 2 - 128


@pytest.mark.parametrize("function", [sum_less_literal, conditional_sum, mean])
def test_sums_of_narrow_unsigned_with_literals(function):
    """uint8 + uint8 is a uint64 as in Numba, and with a literal an int64."""
    found = computed(function, BYTES, BYTES[::-1].copy())
    assert found.dtype == "int64"
    assert found.tolist() == expected(function, BYTES, BYTES[::-1])


def test_sums_of_narrow_unsigned():
    assert computed(lambda a, b: a + b, BYTES, BYTES).dtype == "uint64"
    assert computed(lambda a, b: a - b, BYTES[1:2], BYTES[2:3])[0] == 2**64 - 4
    assert computed(lambda a, b: int(a - b), BYTES[1:2], BYTES[2:3])[0] == -4
    assert computed(lambda a, b: a - b < -1, BYTES[1:2], BYTES[2:3])[0]
    assert computed(lambda a, b, i: a + b + i, BYTES, BYTES, SIGNED).dtype == "int64"


def helper(a):
    return a - 200


def calls_helper_of_both(a, b, wide):
    return helper(a + b), helper(wide)


def test_helpers_of_sums_and_of_wide_integers():
    """One helper has two kernels: for uint64, and for uint64 of sums of narrower integers."""
    wide = np.array([2**64 - 1, 2**63 + 200], "uint64")
    narrow, broad = iruka.vectorize(target="cpu")(calls_helper_of_both)(BYTES[:2], BYTES[:2], wide)
    assert narrow.tolist() == [-200, -198]
    assert broad.dtype == "uint64" and broad.tolist() == [2**64 - 201, 2**63]


def added(a):
    return a + 1


def largest(a):
    return max(a, 1)


def least(a):
    return min(a, 2**63)


def chosen(a):
    return a if a > 3 else 1


def counted(a):
    s = 0
    if a > 3:
        s = a
    return s


def accumulated(a):
    s = 0
    for k in range(1):  # noqa: B007
        s += a
    return s


def or_one(a):
    return a or 1


def as_int(a):
    return int(a)


def in_tuple(a):
    t = (a, 5)
    return t[0] if a > 3 else t[1]


@pytest.mark.parametrize(
    "function",
    [added, largest, least, chosen, counted, accumulated, or_one, as_int, in_tuple],
    ids=lambda f: f.__name__,
)
def test_uint64_with_literals_keeps_its_digits(function):
    found = computed(function, WIDE)
    assert found.dtype == "uint64"
    assert found.tolist() == expected(function, WIDE)


def test_uint64_with_signed_variables():
    assert computed(lambda a, i: a + i, WIDE[:3], SIGNED[:3]).dtype == "float64"
    assert computed(lambda a, i: a if i > 0 else i, WIDE[:3], SIGNED[:3]).dtype == "float64"

    def both(a, i):
        s = 0
        t = s + a
        s = i
        return t + s

    assert computed(both, WIDE[:3], SIGNED[:3]).dtype == "float64"
    assert computed(lambda a: np.int64(a), WIDE).tolist() == WIDE.astype("int64").tolist()


def test_powers_of_negative_variables():
    """Integers to a variable negative power are integers: the quotient without its fraction, as in Numba."""
    base, exponent = np.array([2, 1, -1, -1, 10]), np.array([-1, -2, -3, -4, -20])
    assert computed(lambda a, b: a**b, base, exponent).tolist() == [0, 1, -1, 1, 0]
    np.testing.assert_array_equal(computed(lambda a: a**-2, base[:4]), [0.25, 1, 1, 1])


def similar_names(x, xgiven):
    t = (x, 2)
    t_0 = 5
    p0_v_t = 7
    t = (x + 1.5, 3)
    x = x + 0.5
    é, ue9, u00e9 = 1, 2, 3
    return t[0] + t_0 * 10 + p0_v_t + xgiven * 100 + x + é * 1000 + ue9 + u00e9


def test_similar_names_of_variables():
    x = np.arange(-3.0, 4.0).astype("int64")
    assert computed(similar_names, x, x[::-1].copy()).tolist() == expected(similar_names, x, x[::-1])


@jit.rawkernel()
def similar_parameters(x, x_shape_0, shape0_v_x, out):
    k = jit.grid(1)
    if k < x.shape[0]:
        out[k] = x[k] + x_shape_0 * 10 + shape0_v_x


def test_similar_names_of_parameters():
    x, out = iruka.arange(6)[::2], iruka.zeros(3, int)
    similar_parameters[1, 32](x, 4, 100, out)
    assert out.tolist() == [140, 142, 144]


@jit.rawkernel(mode="numpy")
def bytes_less_literal(x, out, wide):
    k = jit.grid(1)
    if k < x.size:
        out[k] = x[k] - 128
        wide[k] = max(wide[k], 1)


@iruka.guvectorize(["void(uint8[:], uint64[:], int64[:], uint64[:])"], "(n),(n)->(n),(n)")
def rows_less_literal(x, wide, out, wider):
    for k in range(len(x)):
        out[k] = x[k] - 128
        wider[k] = max(wide[k], 1)


def test_kernels_of_arrays_with_literals():
    wide = WIDE[: BYTES.size]
    out, numbers = iruka.zeros(BYTES.size, "int64"), iruka.array(wide)
    bytes_less_literal[1, 32](iruka.array(BYTES), out, numbers)
    wanted = (BYTES.astype(int) - 128).tolist(), [max(each, 1) for each in wide.tolist()]
    assert (out.tolist(), numbers.tolist()) == wanted
    assert tuple(each.tolist() for each in rows_less_literal(BYTES, wide)) == wanted


# The least integer divided by -1, whose quotient is no integer of 64 bits: it wraps. Processors trap at it.


def wrapped(value):
    return (value + 2**63) % 2**64 - 2**63


def quotients(a, b):
    return a // b, a % b, divmod(a, b)[0], divmod(a, b)[1]


def quotients_by_constants(a, b):
    return a // -1, a % -1, -a // -1, -9223372036854775808 // b, -9223372036854775808 % b


def quotients_of_variables(a, b):
    least, one = -9223372036854775808, -1
    least //= one
    rest = -9223372036854775808
    rest %= one
    return least, rest, a + 0 * b


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("function", [quotients, quotients_by_constants, quotients_of_variables])
def test_the_least_integer_by_minus_one(dtype, function):
    """The references are Python's integers, wrapped; a division by zero gives 0."""
    least = np.iinfo(dtype).min
    a, b = (np.array(values, dtype) for values in ([least, least, -7, least + 1, least], [-1, 1, -1, -1, 2]))
    found = iruka.vectorize(target="cpu")(function)(a, b)
    expected = np.array([[wrapped(each) for each in function(*pair)] for pair in zip(a.tolist(), b.tolist())])
    np.testing.assert_array_equal(np.array(found).T, expected)
    if function is quotients:
        assert not any(made.any() for made in iruka.vectorize(target="cpu")(quotients)(a, np.zeros_like(a)))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("mode", ["cuda", "numpy"])
def test_the_least_integer_by_minus_one_in_threads(dtype, mode):
    @jit.rawkernel(mode=mode)
    def kernel(a, b, out):
        k = jit.threadIdx.x
        narrow = k - 2147483647 - 1
        out[k, 0] = a[k] // b[k]
        out[k, 1] = a[k] % b[k]
        out[k, 2] = narrow // -1
        out[k, 3] = narrow % -1
        out[k, 4] = narrow // (b[k] - b[k] - 1)

    least = np.iinfo(dtype).min
    a, b = (iruka.array(np.array(values, dtype)) for values in ([least, least, -7], [-1, 1, -1]))
    out = iruka.zeros((3, 5), "int64")
    kernel((1,), (3,), (a, b, out))
    expected = [
        [wrapped(each) for each in (x // y, x % y, (k - 2**31) // -1, 0, (k - 2**31) // -1)]
        for k, (x, y) in enumerate(zip(iruka.asnumpy(a).tolist(), iruka.asnumpy(b).tolist()))
    ]
    np.testing.assert_array_equal(iruka.asnumpy(out), expected)
