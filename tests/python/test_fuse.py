"""iruka.fuse against the same functions of NumPy's arrays, and against Iruka's own operations one by one."""

import copy
import pickle
import threading

import numpy as np
import pytest

import iruka

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the operations one by one

REAL = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]
EVERY = [*REAL, "complex64", "complex128"]
FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]


def sample(dtype, shape=(3, 4), seed=0):
    generator = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return generator.random(shape) < 0.5
    if kind in "iu":
        return generator.integers(1, 7, shape).astype(dtype)
    values = generator.random(shape) + 0.5
    return (values + 1j * generator.random(shape) if kind == "c" else values).astype(dtype)


def to_host(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(to_host, value))
    return iruka.asnumpy(value) if isinstance(value, iruka.ndarray) else value


def check_same(made, expected):
    """Same shapes, dtypes and bits, NaNs where there are NaNs."""
    if isinstance(expected, (tuple, list)):
        assert type(made) is type(expected) and len(made) == len(expected)
        for one, other in zip(made, expected, strict=True):
            check_same(one, other)
        return
    if expected is None or isinstance(expected, (int, float, complex, str)):
        assert made == expected
        return
    made, expected = to_host(made), to_host(expected)
    assert made.dtype == expected.dtype and made.shape == expected.shape
    np.testing.assert_array_equal(made, expected)


def check(function, *arguments, rtol=None, **keywords):
    """The fused function against Iruka's operations, bit for bit, and against NumPy's to some digits."""
    plain = [iruka.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    fused = [iruka.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    host = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    expected = function(*plain, **keywords)
    made = iruka.fuse(function)(*fused, **keywords)
    if rtol is None:
        check_same(made, expected)
        check_same(fused, plain)  # what the function wrote
    with np.errstate(all="ignore"):
        reference = function(*host, **keywords)
    for one, other in zip(flat(made) + fused, flat(reference) + host, strict=True):
        if isinstance(other, (np.ndarray, np.generic)):
            other = np.asarray(other)
            assert one.dtype == other.dtype and one.shape == other.shape
            digits = {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5}.get(other.dtype.name, 1e-12)
            np.testing.assert_allclose(to_host(one), other, rtol=rtol or digits, atol=digits)
    return made


def flat(value):
    if isinstance(value, (tuple, list)):
        return [each for one in value for each in flat(one)]
    return [value]


def count_kernels(fused, *arguments):
    """How many kernels of its name are made for a first call."""
    iruka.clear_kernel_history()
    fused(*arguments)
    return [event.kernel for event in iruka.kernel_history()].count(fused.kernel_name)


OPERATORS = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "divmod": lambda x, y: divmod(x, y),
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "left_shift": lambda x, y: x << y,
    "right_shift": lambda x, y: x >> y,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_promote_and_compute_as_arrays_do(name):
    function = OPERATORS[name]
    fused = iruka.fuse(function)
    for first in ["bool", "uint8", "int64", "float16", "complex64"]:
        for second in ["bool", "int8", "uint64", "float32"]:
            x, y = iruka.array(sample(first)), iruka.array(sample(second, seed=1))
            try:
                expected = function(x, y)
            except TypeError:
                with pytest.raises(TypeError, match="cannot be fused"):
                    fused(x, y)
                continue
            check_same(fused(x, y), expected)


@pytest.mark.parametrize("dtype", EVERY)
def test_chains_of_every_dtype(dtype):
    check(lambda x, y: (x + y) * x + 1, sample(dtype), sample(dtype, seed=1))
    check(lambda x, y: abs(x) * 2.5 + y, sample(dtype), sample(dtype, seed=1))
    check(lambda x: x != 0, sample(dtype))


def test_bfloat16_rounds_after_each_operation():
    x = iruka.array(sample("float32", (100,))).astype(iruka.bfloat16)
    y = iruka.array(sample("float32", (100,), 1)).astype(iruka.bfloat16)
    made = iruka.fuse(lambda x, y: x * y + x - 0.3)(x, y)
    expected = x * y + x - 0.3
    assert made.dtype == expected.dtype == iruka.bfloat16
    np.testing.assert_array_equal(to_host(made.astype("float32")), to_host(expected.astype("float32")))


def test_products_and_sums_are_not_contracted():
    x, y, z = (iruka.array(sample("float64", (1000,), k)) for k in range(3))
    check_same(iruka.fuse(lambda x, y, z: x * y - z * x + y * z)(x, y, z), x * y - z * x + y * z)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_functions_of_iruka_and_numpy(dtype):
    x = iruka.array(sample(dtype))
    check_same(iruka.fuse(lambda x: iruka.exp(x) * iruka.sin(x))(x), iruka.exp(x) * iruka.sin(x))
    check_same(iruka.fuse(lambda x: np.exp(x) * np.sin(x))(x), iruka.exp(x) * iruka.sin(x))


def test_every_row_of_the_elementwise_table():
    for name in iruka.elementwise_names():
        function = getattr(iruka, name)
        if not isinstance(function, iruka.ufunc):  # has arguments of its own
            continue
        tried = 0
        for dtype in ("bool", "int32", "float16", "float32", "complex64"):
            arguments = [iruka.array(sample(dtype, (5,), k)) for k in range(function.nin)]
            try:
                expected = function(*arguments)
            except TypeError:
                continue
            tried += 1
            check_same(iruka.fuse(lambda *each, function=function: function(*each))(*arguments), expected)
        assert tried, name


def test_functions_with_arguments_of_their_own():
    x, y = sample("float32", (50,)) * 3 - 4, sample("float32", (50,), 1)
    for module in (iruka, np):
        for function in (
            lambda x, y: module.where(x > -1, x, y),
            lambda x, y: module.clip(x, -2, -1),
            lambda x, y: module.clip(x, None, y),
            lambda x, y: module.round(x, 1),
            lambda x, y: module.nan_to_num(x / (y - y)),
            lambda x, y: module.isclose(x, y),
            lambda x, y: module.angle(x + 1j * y),
            lambda x, y: module.maximum(x, 0) + module.minimum(y, 0.7),
            lambda x, y: module.hypot(x, y) + module.arctan2(x, y),
        ):
            made = iruka.fuse(function)(iruka.array(x), iruka.array(y))
            with np.errstate(all="ignore"):
                reference = np.asarray(
                    function(x, y) if module is np else function(iruka.array(x), iruka.array(y)).get()
                )
            assert made.dtype == reference.dtype
            np.testing.assert_allclose(to_host(made), reference, rtol=1e-5, atol=1e-6)


def test_complex_parts():
    x = sample("complex64")
    check(lambda x: (x.real, x.imag * 2, x.conj() * x, abs(x)), x)
    check(lambda x: x.real + x.imag, sample("float32"))


@pytest.mark.parametrize("scalar", [2, 2.5, 1 + 2j, True, np.float32(0.1), np.int8(3), np.float64(0.1), np.uint64(5)])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32", "complex64"])
def test_numbers_as_arguments_and_as_constants(dtype, scalar):
    check(lambda x, a: x * a + a, sample(dtype), scalar)
    check(lambda x: x + scalar, sample(dtype))
    check(lambda x: scalar - x if np.dtype(dtype) != bool else x, sample(dtype))


def test_numbers_may_change_from_call_to_call():
    traces = []

    @iruka.fuse
    def scaled(x, a, b):
        traces.append(1)
        return x * (a + 2 * b) / b - a // 2

    x = sample("float32")
    for a, b in ((1, 2.0), (5, 0.5), (-3, 7.25)):
        expected = iruka.array(x) * (a + 2 * b) / b - a // 2
        check_same(scaled(iruka.array(x), a, b), expected)
    assert len(traces) == 1


def test_a_number_that_is_looked_at_is_part_of_the_signature():
    traces = []

    @iruka.fuse
    def power(x, n):
        traces.append(1)
        result = x
        for _ in range(n):
            result = result * x
        return result if n > 1 else -result

    x = sample("float32")
    check_same(power(iruka.array(x), 1), -(x * x))
    check_same(power(iruka.array(x), 3), x * x * x * x)
    before = len(traces)
    check_same(power(iruka.array(x), 1), -(x * x))
    assert len(traces) == before


def test_none_flags_and_text_choose_the_way():
    @iruka.fuse
    def function(x, y, mode="sum", negate=False):
        if y is None:
            y = 1
        result = x + y if mode == "sum" else x * y
        return -result if negate else result

    x = sample("float64")
    a = iruka.array(x)
    check_same(function(a, None), x + 1)
    check_same(function(a, a), x + x)
    check_same(function(a, a, "product"), x * x)
    check_same(function(a, a, mode="product", negate=True), -(x * x))
    check_same(function(y=a, x=a, negate=True), -(x + x))


def test_integers_out_of_range():
    x = iruka.array([1, 2], dtype="uint8")
    with pytest.raises(OverflowError):
        iruka.fuse(lambda x: x + 300)(x)
    add = iruka.fuse(lambda x, a: x + a)
    check_same(add(x, 3), x + 3)
    with pytest.raises(OverflowError):
        add(x, 300)
    less = iruka.fuse(lambda x, a: (x < a, x < 300, x > -1))
    check_same(less(x, 2), (x < 2, x < 300, x > -1))
    check_same(less(x, 1000), (x < 1000, x < 300, x > -1))
    check_same(less(x, 2**63), (x < 2**63, x < 300, x > -1))
    large = iruka.array([1.0, 2.0])
    check_same(iruka.fuse(lambda x: x + 10**30)(large), large + 10**30)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_division_and_shifts_of_integers_at_their_limits(dtype):
    limits = np.iinfo(dtype)
    values = np.array([limits.min, limits.min + 1, 0, 1, 3, limits.max], dtype)
    x, y = (iruka.array(part.ravel()) for part in np.meshgrid(values, values))
    check_same(iruka.fuse(lambda x, y: (x // y, x % y, x << y, x >> y, -x))(x, y), (x // y, x % y, x << y, x >> y, -x))


def test_special_values_and_casts():
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e38, -1e38, 1e-45, 300.7, -300.7], "float32")
    x = iruka.array(values)
    for dtype in EVERY:
        check_same(iruka.fuse(lambda x, dtype=dtype: x.astype(dtype))(x), x.astype(dtype))
    check_same(
        iruka.fuse(lambda x: (x * x, x / x, x.astype("float16") * 2))(x), (x * x, x / x, x.astype("float16") * 2)
    )
    check_same(
        iruka.fuse(lambda x: (np.maximum(x, 1), np.fmin(x, np.nan)))(x), (iruka.maximum(x, 1), iruka.fmin(x, np.nan))
    )
    constants = iruka.fuse(lambda x: (x + np.inf, x * -np.inf, iruka.copysign(x, np.nan), x + 0.1, x + 2**60))(x)
    check_same(constants, (x + np.inf, x * -np.inf, iruka.copysign(x, np.nan), x + 0.1, x + 2**60))
    least = iruka.array([0, -1])
    check_same(iruka.fuse(lambda x: x + (-(2**63)))(least), least + (-(2**63)))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_wrap(dtype):
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([least, least + 1, 0, 1, 2, 77, most - 1, most], dtype)
    with np.errstate(all="ignore"):
        for function in (
            lambda x: (x + 1, x - 1, x * 3, x * x, -x, abs(x)),
            lambda x: (x + 1 > x, x - 1 < x, x * 2 // 2 == x, -x > 0, abs(x) < 0, x * x < 0),
            lambda x: (x + most, x - most, x * most, x + x - x, np.square(x) * x, np.negative(x) - 1 < 0),
            lambda x: (x // most, x % most, np.lcm(x, x + 3), np.gcd(x - 1, x), x**3),
        ):
            check_same(iruka.fuse(function)(iruka.array(x)), function(x))


def test_powers():
    for dtype in ("int32", "float32", "complex64"):
        x = iruka.array(sample(dtype))
        for exponent in (0, 1, 2, 3, 2.0, 0.5, -1.0, 2.5):
            check_same(iruka.fuse(lambda x, exponent=exponent: x**exponent)(x), x**exponent)
            check_same(iruka.fuse(lambda x, p: x**p)(x, exponent), x**exponent)
    check(lambda x, y: x**y, sample("int32"), sample("int32", seed=1))
    check(lambda x: 2**x, sample("float64"))
    x = iruka.array([1, 2, 3])
    for function, arguments in (
        (lambda x: x**-1, (x,)),
        (lambda x, n: x**n, (x, -1)),
        (lambda x, y: x**y, (x, iruka.array([1, -1, 0]))),
    ):
        with pytest.raises(ValueError, match="Integers to negative integer powers"):
            iruka.fuse(function)(*arguments)


# Shapes


def test_broadcasting():
    check(lambda x, y: x * y + 1, sample("float32"), sample("float32", (4,)))
    check(lambda x, y: x * y + 1, sample("float32", (3, 1)), sample("float32", (1, 4)))
    check(lambda x, y: (x + y, x * 2, y * 3), sample("float32", (3, 1)), sample("float32", (1, 4)))
    check(lambda x, y: (x + y, x * 2, y * 3), sample("float32", (3, 4)), sample("float32", (4,)))
    check(lambda x, y: (x + y, x * 2, y * 3), sample("float32", (3, 4)), sample("float32", (3, 4)))
    function = iruka.fuse(lambda x, y: (x + y, x * 2))
    for shapes in (((3, 4), (3, 4)), ((1, 4), (3, 4)), ((3, 4), (1, 4)), ((3, 1), (1, 4))):  # one signature by ndim
        x, y = (iruka.array(sample("float32", shape, k)) for k, shape in enumerate(shapes))
        check_same(function(x, y), (x + y, x * 2))
    with pytest.raises(ValueError, match="broadcast"):
        function(iruka.ones((3, 4)), iruka.ones((3, 5)))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (2, 3, 4, 5)])
def test_shapes_of_any_number_of_axes(shape):
    check(lambda x, y: (x + y, x > y), sample("float32", shape), sample("float32", shape, 1))
    check(lambda x: x.sum(), sample("int32", shape))
    check(lambda x: (x * 2).sum(), sample("int32", shape))


def test_strided_and_overlapping_inputs():
    values = iruka.array(sample("float32", (8, 6)))
    function = iruka.fuse(lambda x, y: x * y - x)
    for x, y in (
        (values[::2], values[1::2]),
        (values.T, values[::-1, ::-1].T),
        (values[:, 1:], values[:, :-1]),
        (values, values),
        (iruka.broadcast_to(values[0], (8, 6)), values),
    ):
        check_same(function(x, y), x * y - x)


def test_views_and_their_shapes():
    check(lambda x: x[1:] - x[:-1], sample("float32", (9,)))
    check(lambda x: x[..., None] * x[:, None], sample("float32", (4,)))
    check(lambda x: x.T + x.swapaxes(0, 1) + x.transpose(1, 0) + np.transpose(x), sample("float32", (3, 4)))
    check(lambda x: (x + 1)[0] * x[-1], sample("float32", (3, 4)))
    check(lambda x: np.expand_dims(x * 2, 0) + x, sample("float32", (3, 4)))
    check(lambda x: x[:2], sample("float32", (3, 4)))
    check(lambda x: x / x.shape[0] + x.size * x.ndim, sample("float32", (3, 4)))
    check(lambda x, y: (x + y) / (x + y).size, sample("float32", (3, 1)), sample("float32", (4,)))
    function = iruka.fuse(lambda x: x / x.shape[0])
    check_same(function(iruka.ones(4)), iruka.full(4, 0.25))
    check_same(function(iruka.ones(2)), iruka.full(2, 0.5))
    unrolled = iruka.fuse(lambda x: sum(x[k] for k in range(x.shape[0])))
    check_same(unrolled(iruka.ones((3, 2))), iruka.full(2, 3.0))
    check_same(unrolled(iruka.ones((5, 2))), iruka.full(2, 5.0))


# Writing


def test_in_place_operators_write_the_arguments():
    def several(x, y, z):
        x += y
        z[...] = x * 2
        x *= z
        return x, z - 1

    made = check(several, sample("float32"), sample("float32", (4,), 1), sample("float32", seed=2))
    x, y, z = (iruka.array(sample("float32")) for _ in range(3))
    made = iruka.fuse(several)(x, y, z)
    assert made[0] is x

    def everything(x, y):
        x -= y
        x //= 2
        x %= 5
        x <<= 1
        x |= y
        x &= 7
        x ^= y
        x >>= 1

    assert check(everything, sample("int32"), sample("int32", seed=1)) is None


def test_out_and_where():
    def outputs(x, y, z, u):
        np.add(x, y, out=z)
        np.multiply(z, x, u)
        np.subtract(u, 1, out=u, where=x > 1)
        np.sum(x, axis=0, out=y)
        return z

    check(outputs, sample("float64"), sample("float64", (4,)), sample("float64"), sample("float64"))
    with pytest.raises(
        TypeError, match="Cannot cast ufunc 'add' output from dtype\\('float64'\\) to dtype\\('int32'\\)"
    ):
        iruka.fuse(lambda x, z: np.add(x, 0.5, out=z))(iruka.ones(3), iruka.ones(3, dtype="int32"))


def test_writing_casts_and_broadcasts():
    def fill(x, y):
        x[...] = 3.7
        y[:] = x + 0.5

    check(fill, sample("int32"), sample("float32", (2, 3, 4)))

    def local(x, y):
        t = x + 0
        t += y
        return t

    check(local, sample("float32"), sample("float32", (4,)))
    for x, y in ((iruka.ones((1, 4)), iruka.ones((3, 4))), (iruka.ones((4,)), iruka.ones((3, 4)))):
        for function in (local, lambda x, y: x.__iadd__(y)):
            with pytest.raises(ValueError, match="non-broadcastable output"):
                iruka.fuse(function)(x, y)
    check_same(x, iruka.ones(4))


def test_masks():
    def masked(x, y):
        x[x > 1] = 0
        return (
            iruka.where((x > 0.5) & ~(y > 1), x, -y)
            if isinstance(x, iruka.ndarray)
            else np.where((x > 0.5) & ~(y > 1), x, -y)
        )

    x, y = sample("float32", (40,)), sample("float32", (40,), 1)
    plain = iruka.array(x)
    expected = masked(plain, iruka.array(y))
    fused = iruka.array(x)

    def traced(x, y):
        x[x > 1] = 0
        return iruka.where((x > 0.5) & ~(y > 1), x, -y)

    check_same(iruka.fuse(traced)(fused, iruka.array(y)), expected)
    check_same(fused, plain)


def test_arguments_that_share_memory_are_written_in_order():
    def both(x, y):
        x += 1
        y += x
        return x * y

    values = sample("int64", (10,))
    for cut in (lambda a: (a, a), lambda a: (a[1:], a[:-1]), lambda a: (a[:5], a[5:])):
        plain, fused = iruka.array(values), iruka.array(values)
        expected = both(*cut(plain))
        check_same(iruka.fuse(both)(*cut(fused)), expected)
        check_same(fused, plain)


def test_kernels_that_write_do_not_change_what_others_read():
    def crossed(x, y):
        old = x * 1
        x += y[0]
        y *= old.sum()
        x -= y[1]
        return x.sum(), y.max(), old

    check(crossed, sample("int64", (4,)), sample("int64", (3, 4)))


# Reductions


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float16", "float32", "complex64"])
def test_reductions_of_chains(dtype, axis):
    x, y = sample(dtype, (3, 5, 4)), sample(dtype, (4,), 1)
    check(lambda x, y: (x + y).sum(axis=axis), x, y, rtol=2e-3 if dtype == "float16" else 1e-5)
    check(lambda x, y: np.sum(x * y, axis, keepdims=True), x, y, rtol=2e-3 if dtype == "float16" else 1e-5)
    check(lambda x, y: (x * y).mean(axis) + 1, x, y, rtol=2e-3 if dtype == "float16" else 1e-5)
    check(lambda x, y: np.prod(x * 1, axis=axis), x[:, :2], y, rtol=1e-2 if dtype == "float16" else 1e-5)
    check(lambda x, y: (np.max(x * y, axis=axis), (x * y).min(axis)), x, y)
    check(lambda x, y: (np.any(x * y, axis=axis), (x & x if dtype == "bool" else x - x).all(axis)), x, y)


def test_more_reductions():
    x = sample("float32", (6, 7))
    x[2, 3] = np.nan
    for function in (
        lambda x: np.argmax(x * 1, axis=0),
        lambda x: np.argmin(-x, axis=1, keepdims=True),
        lambda x: np.argmax(x * 2),
        lambda x: np.count_nonzero(x > 1, axis=0),
        lambda x: np.nansum(x * 2, axis=0),
        lambda x: np.nanprod(x * 2, axis=0),
        lambda x: np.nanmax(x * 2, axis=0) + np.nanmin(x * 2, axis=0),
        lambda x: (x * 2).max(axis=0),
        lambda x: np.add.reduce(x * 2, axis=1) + np.maximum.reduce(x - 1, axis=1),
        lambda x: np.sum(x, axis=0, where=x > 1),
    ):
        check(function, x, rtol=1e-5)
    clean = np.nan_to_num(x)
    for function in (
        lambda x: (x * 2).var(axis=0),
        lambda x: np.std(x + 1, axis=1, ddof=1, keepdims=True),
        lambda x: x.var() + x.std(axis=0),
        lambda x: np.ptp(x * 2, axis=0) + np.ptp(x, axis=0),
        lambda x: (x.astype("int32") * 3).var(axis=0),
        lambda x: (x + 1j * x).std(axis=0),
        lambda x: np.sum(x, axis=0, dtype="float64") + np.mean(x * 1, axis=0, dtype="float64"),
    ):
        check(function, clean, rtol=1e-5)


def test_reductions_in_the_middle():
    def softmax(x):
        exponentials = np.exp(x - x.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def normalised(x):
        centred = x - x.mean(axis=0)
        return centred / np.sqrt((centred * centred).mean(axis=0) + 1e-5), centred.max()

    check(softmax, sample("float32", (7, 9)), rtol=1e-5)
    check(normalised, sample("float64", (7, 9)), rtol=1e-9)
    check(lambda x, y: (x * y).sum() / (x.sum() + y.sum()), sample("float64"), sample("float64"), rtol=1e-12)
    check(lambda x: (x * 2).sum(axis=0).max() + 1, sample("int64"))


def test_empty_reductions():
    x = np.zeros((0, 3), "float32")
    check(lambda x: (x + 1).sum(axis=0) + 2, x)
    check(lambda x: (x + 1).max(axis=1), x)
    check(lambda x: (x * 2).all(), x)
    with pytest.raises(ValueError):
        iruka.fuse(lambda x: (x + 1).max(axis=0))(iruka.array(x))
    with np.errstate(all="ignore"):
        assert np.isnan(to_host(iruka.fuse(lambda x: (x + 1).mean(axis=0))(iruka.array(x)))).all()


def test_as_few_kernels_as_possible():
    x = iruka.array(sample("float32", (30, 40)))
    assert count_kernels(iruka.fuse(lambda x: np.sqrt(x * x + 1) - np.exp(-x), kernel_name="one_chain"), x) == 1
    assert count_kernels(iruka.fuse(lambda x: (x * 2, x + 1, x > 3), kernel_name="one_of_three"), x) == 1
    assert count_kernels(iruka.fuse(lambda x: np.sqrt((x * x).sum(axis=1) + 1), kernel_name="one_norm"), x) == 1


# Results, names, caches


def test_forms_of_results():
    x = iruka.array(sample("float32"))
    fused = iruka.fuse(lambda x: {"a": [x + 1, (x, None)], "b": 3, "c": "text"})(x)
    assert list(fused) == ["a", "b", "c"] and fused["a"][1] == (x, None) and fused["b"] == 3 and fused["c"] == "text"
    check_same(fused["a"][0], x + 1)
    assert iruka.fuse(lambda x: None)(x) is None
    assert iruka.fuse(lambda x: ())(x) == ()
    assert iruka.fuse(lambda x: (x,))(x)[0] is x
    first, second, third = iruka.fuse(lambda x: ((y := x + 1), y, x + 1))(x)
    second += 1
    check_same(third, x + 1)
    copy = iruka.fuse(lambda x: x.copy())(x)
    copy += 1
    check_same(copy, x + 1)
    assert iruka.fuse(lambda x, n: (x + 1, n * 2))(x, 4)[1] == 8
    check_same(iruka.fuse(lambda x: (iruka.zeros_like(x), iruka.ones_like(x), iruka.full_like(x, 7)))(x),
               (iruka.zeros_like(x), iruka.ones_like(x), iruka.full_like(x, 7)))  # fmt: skip


def threefold(x):
    return x * 3


@iruka.fuse
def documented(x, y):
    """Adds."""
    return x + y


def test_the_object():
    assert (documented.__name__, documented.__doc__) == ("documented", "Adds.")
    assert documented.__wrapped__(1, 2) == 3 and documented(1, 2) == 3
    assert repr(documented) == "<fused function documented(x, y)>"
    assert pickle.loads(pickle.dumps(documented)) is documented
    made = iruka.fuse(threefold)
    for same in (iruka.fuse(threefold), pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert same == made and hash(same) == hash(made) and same(iruka.ones(2)).tolist() == [3, 3]
    assert made != iruka.fuse(threefold, kernel_name="other_name") and made != documented and made != threefold
    with pytest.raises(pickle.PicklingError, match="<lambda> is not this one"):
        pickle.dumps(iruka.fuse(lambda x: x + 1))
    named = iruka.fuse(kernel_name="other_name")(lambda x: x * 3 + 1)
    iruka.clear_kernel_history()
    named(iruka.ones(3))
    assert "other_name" in {event.kernel for event in iruka.kernel_history()}
    named.clear_cache()
    check_same(named(iruka.ones(3)), iruka.full(3, 4.0))
    with pytest.raises(TypeError, match="kernel_name must be a str"):
        iruka.fuse(kernel_name=3)
    with pytest.raises(TypeError, match="a function is needed"):
        iruka.fuse(3)

    class Model:
        scale = 3.0

        @iruka.fuse
        def run(self, x):
            return x * self.scale

    check_same(Model().run(iruka.ones(3)), iruka.full(3, 3.0))


def test_fused_functions_inside_others():
    @iruka.fuse
    def inner(x, y):
        return x - y * 2, x + y

    @iruka.fuse(kernel_name="outermost")
    def outer(x, y, n):
        a, b = inner(x + y, n)
        return a * b - inner(x, y)[0]

    x, y = iruka.array(sample("float32")), iruka.array(sample("float32", seed=1))
    iruka.clear_kernel_history()
    made = outer(x, y, 3)
    assert [event.kernel for event in iruka.kernel_history() if event.kernel in ("inner", "outermost")] == ["outermost"]
    check_same(made, (x + y - 3 * 2) * (x + y + 3) - (x - y * 2))


def test_numpy_arrays_as_arguments():
    x = sample("float32")
    made = documented(x, [1.0, 2.0, 3.0, 4.0])
    assert isinstance(made, iruka.ndarray)
    np.testing.assert_array_equal(to_host(made), x + [1.0, 2.0, 3.0, 4.0])

    @iruka.fuse
    def writes(x):
        x += 1

    with pytest.raises(TypeError, match="writes to argument 1, which is no iruka.ndarray"):
        writes(x)


def test_read_only_arguments():
    x = iruka.ones(3)
    x.flags.writeable = False

    @iruka.fuse
    def writes(x):
        x += 1

    with pytest.raises(ValueError, match="read-only"):
        writes(x)


def test_array_module_inside():
    assert iruka.fuse(lambda x: iruka.get_array_module(x) is iruka)(iruka.ones(2)) is True


def test_many_threads_call_first():
    @iruka.fuse
    def function(x, y):
        return x + y * 2

    arrays = [iruka.array(sample(dtype)) for dtype in ("float32", "int64")]
    results = [None] * 16

    def run(k):
        results[k] = function(arrays[k % 2], arrays[k % 2])

    threads = [threading.Thread(target=run, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, result in enumerate(results):
        check_same(result, arrays[k % 2] + arrays[k % 2] * 2)


# What is refused


def refused_if(x):
    y = x + 1
    if y > 0:
        return x
    return y


captured = np.ones(3)


@pytest.mark.parametrize(
    "function, message, marked",
    [
        (refused_if, r"neither true nor false .* use where\(condition, x, y\)", "y > 0"),
        (lambda x: x @ x, r"@ \(matmul\) is not part of a fused function", "x @ x"),
        (lambda x: iruka.sort(x) + 1, "sort is not part of a fused function", "iruka.sort(x)"),
        (lambda x: np.cumsum(x), "is not part of a fused function", "np.cumsum(x)"),
        (lambda x: x.reshape(3, 1), "ndarray.reshape is not part of a fused function", "x.reshape"),
        (lambda x: x + captured, "array from outside of the fused function", "x + captured"),
        (lambda x: [float(each) for each in x], "is no Python number, list or index", None),
        (lambda x: x[x > 1], "an array as an index .* use where", "x[x > 1]"),
        (lambda x: x[5, 5], "too many indices", "x[5, 5]"),
        (lambda x: x.sum(axis=4), "axis 4 is out of bounds", "x.sum(axis=4)"),
        (lambda x: x << 0.5, "left_shift", "x << 0.5"),
        (lambda x: x & iruka.add.outer(x, x), "add.outer is not part of a fused function", "iruka.add.outer(x, x)"),
    ],
)
def test_errors_name_the_operation_and_the_line(function, message, marked):
    with pytest.raises((TypeError, ValueError, IndexError), match=message) as caught:
        iruka.fuse(function)(iruka.ones(3))
    text = str(caught.value)
    assert "cannot be fused (" in text and "test_fuse.py, line " in text
    if marked is not None:
        *_, source, carets = text.splitlines()
        assert source[carets.index("^") : carets.rindex("^") + 1] == marked


def test_the_users_own_errors_pass():
    def function(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        iruka.fuse(function)(iruka.ones(3))

    def wrong(x):
        raise ValueError("of the user")

    with pytest.raises(ValueError, match="^of the user$"):
        iruka.fuse(wrong)(iruka.ones(3))
