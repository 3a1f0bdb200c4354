"""Indices, ranges and quotients made of unsigned integers, which may be above those of int64 or wrap below 0."""

import numpy as np
import pytest

import iruka
from iruka import jit

TABLE = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
LARGEST = 2**64 - 1


def shifted(x, y):
    t = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    return t[x >> 60]


def shifted_in_a_table(x, y):
    return TABLE[x >> 60] + TABLE[y & 7]


def itself(x, y):
    return TABLE[x] + TABLE[y]


def compared(x, y):
    t = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    return t[x] if x < len(t) else t[y % 8]


def difference(x, y):
    t = np.zeros(8)
    d = x - y
    if d < len(t):
        t[d] = 5
    return t[0] + t[7]


def least(x, y):
    d = x - y
    return TABLE[min(d, 7)]


def as_signed(x, y):
    i = np.int64(x)
    if i < len(TABLE):
        return TABLE[i]
    return -1.0


def chosen(x, y):
    d = x - y
    i = d if d < 7 else 7
    return TABLE[i]


def summed(x, y):
    total = 0.0
    for i in range(x, 8):
        total += TABLE[i]
    for i in range(7, y % 8, -1):
        total += i
    return total


def counted_up(x, y):
    total, i = 0.0, x % 8
    while i < 8:
        total += TABLE[i]
        i += 3
    return total


def moved(x, y):
    t = np.zeros(8)
    d = x - y
    for k in range(3):
        if d < 8:
            t[d] = k + 1
        d = d + 1
    return t[0] + t[1]


def quotients(x, y):
    d = x - y
    return float(d % 7), float(d // 4), float(d % -5), float((x + y) // 3)


BODIES = (
    shifted,
    shifted_in_a_table,
    itself,
    compared,
    difference,
    least,
    as_signed,
    chosen,
    summed,
    counted_up,
    moved,
)
SMALL = (0, 1, 2, 7, 8, 12, 200)
WIDE = (0, 1, 7, 8, 2**60, 2**63 - 1, 2**63, 2**64 - 15, LARGEST)


def in_python(body, x, y):
    """The result for Python's or NumPy's numbers; None where it raises an exception."""
    try:
        with np.errstate(all="ignore"):
            return body(x, y)
    except (IndexError, OverflowError):
        return None


def check(body, dtype, x, y, expected):
    kernel = iruka.vectorize([f"float64({dtype}, {dtype})"])(body)
    if expected is None:
        with pytest.raises((IndexError, OverflowError)):
            kernel(np.dtype(dtype).type(x), np.dtype(dtype).type(y))
    else:
        assert kernel(np.dtype(dtype).type(x), np.dtype(dtype).type(y)) == expected, (x, y)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
@pytest.mark.parametrize("dtype", ["uint8", "uint32"])
def test_small_integers(body, dtype):
    for x in SMALL:
        for y in SMALL:
            check(body, dtype, x, y, in_python(body, x, y))


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_wide_integers(body):
    """They wrap, as NumPy's do."""
    for x in WIDE:
        for y in WIDE:
            check(body, "uint64", x, y, in_python(body, np.uint64(x), np.uint64(y)))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_quotients_of_differences(dtype):
    x, y = (np.array(each).astype(dtype) for each in ((0, 0, 9, 200, 1), (1, 9, 2, 255, 1)))
    found = iruka.vectorize(target="cpu")(quotients)(x, y)
    expected = [quotients(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]
    np.testing.assert_array_equal(np.array(found).T, expected)


def test_quotients_in_threads():
    @jit.rawkernel()
    def kernel(a, b, out):
        d = a[0] - b[0]
        out[0], out[1], out[2] = d % 7, d // 4, min(d, 3)

    out = iruka.zeros(3, dtype="int64")
    kernel((1,), (1,), (iruka.array([0], dtype="uint8"), iruka.array([2], dtype="uint8"), out))
    assert out.tolist() == [-2 % 7, -2 // 4, -2]


def test_what_lies_around_an_array_is_not_written():
    @iruka.guvectorize(["void(uint8, uint8, float64[:], float64[:])"], "(),(),(n)->(n)")
    def function(a, b, x, out):
        d = a - b
        if d < len(out):
            out[d] = 99

    memory = np.zeros(40)
    with pytest.raises(IndexError):
        function(np.uint8(0), np.uint8(12), np.zeros(8), memory[20:28])
    assert not memory.any()


def test_a_counter_that_wraps_is_checked():
    def downward(x):
        total, i = 0.0, x % 8
        while i >= 0:
            total += TABLE[i]
            i -= 1
        return total

    assert iruka.vectorize(["float64(uint8)"])(downward)(np.uint8(5)) == downward(5)
    with np.errstate(all="ignore"), pytest.raises((IndexError, OverflowError)):
        iruka.vectorize(["float64(uint64)"])(downward)(np.uint64(5))


def test_a_parameter_of_a_wider_type():
    def function(x, n):
        for _ in range(n):
            x = x * 3 - 400
        return TABLE[x] if x < 8 else 0.0

    kernel = iruka.vectorize(["float64(uint8, int64)"])(function)
    for x, n in ((3, 0), (200, 1), (136, 1)):
        assert kernel(np.uint8(x), n) == function(x, n)
    with pytest.raises(IndexError):
        kernel(np.uint8(5), 1)


def test_long_axes():
    """A broadcast array has more elements than memory; kernels for short axes know more of their extents."""

    @iruka.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def function(x, out):
        t = np.array([1.0, 2.0])
        out[0] = t[len(x) >> 48] + x[-1]

    for _ in range(2):  # the second time without the class's checks
        assert function(np.broadcast_to(1.0, (5,))) == 2
        assert function(np.broadcast_to(1.0, (2**48,))) == 3
        with pytest.raises(IndexError):
            function(np.broadcast_to(1.0, (2**52,)))


def test_numbers_in_a_layout_are_bounds():
    @iruka.guvectorize(["void(float64[:], float64[:])"], "(3)->(3)")
    def turned(x, out):
        out[0], out[1], out[2] = x[1], x[2], x[-3]

    x = np.arange(6.0).reshape(2, 3)
    for _ in range(2):
        np.testing.assert_array_equal(turned(x), np.roll(x, -1, 1))
    assert not turned._loops[(np.dtype(float),) * 2].translation.can_fail
    for _ in range(2):
        with pytest.raises(ValueError, match="size 4 is different from 3"):
            turned(np.zeros(4))


@pytest.mark.parametrize("name", ["3a", "²", "n3"])
def test_names_with_digits(name):
    @iruka.guvectorize(["void(float64[:], float64[:])"], f"({name})->({name})")
    def twice(x, out):
        for k in range(len(x)):
            out[k] = 2 * x[k]

    for n in (3, 5):
        np.testing.assert_array_equal(twice(np.arange(n, dtype=float)), 2.0 * np.arange(n))


def test_numbers_in_a_layout_fit_int64():
    with pytest.raises(ValueError, match="no axis has 9223372036854775808 elements"):
        iruka.guvectorize("(9223372036854775808)->()")(lambda x, out: None)
