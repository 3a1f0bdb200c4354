"""0-d values: where NumPy returns a scalar, the result never changes, even if its source array does."""

import copy
import math
import pickle

import numpy as np
import pytest

import iruka
from fake_driver import needs_fake_driver, run
from helpers import DTYPE_IDS, DTYPES, NUMPY_DTYPES, assert_same, kind, values

MODULES = (np, iruka)


def is_value(x):
    """By what it can do: a value hashes, a 0-d array that may change does not."""
    assert isinstance(x, iruka.ndarray)
    try:
        hash(x)
    except TypeError:
        return False
    return x.ndim == 0 and not x.flags.writeable


def both(program):
    """What the program gives of NumPy and of Iruka."""
    return program(np), program(iruka)


def swap(m):
    v = m.arange(6.0)
    for j in range(5):
        if v[j] < v[j + 1]:
            v[j], v[j + 1] = v[j + 1], v[j]
    return v


def collect(m):
    p, h = m.zeros(2), []
    for k in range(4):
        p[0] = k
        h.append(p[0])
    return h


def running_minima(m):
    v, found = m.array([3.0, 5.0, 1.0, 4.0]), []
    best = v[0]
    for t in v:
        if t < best:
            best = t
        v += 0.5  # what the loop has seen must not move
        found.append(best)
    return found


def aliases(m):
    v = m.arange(5.0)
    s = v.sum()
    s2 = s
    s += 1
    e = v[2]
    before = e
    e *= 10
    e -= 1
    return s, s2, e, before, v


def accumulate(m):
    v = m.array([[1, 2], [3, 4]])
    total = v[0, 0]
    for row in v:
        for element in row:
            total += element
    return total, v


@pytest.mark.parametrize("program", [swap, collect, running_minima, aliases, accumulate])
def test_programs_that_keep_elements(program):
    expected, actual = both(program)
    for a, b in zip(actual, expected):
        assert_same(a, b)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_elements_are_copies(dtype, rng):
    source = values(dtype, (3, 4), rng)
    x = iruka.array(source)
    elements = [x[1, 2], x[-1, -1], x[1][2], x.T[2, 1], x[(0, 0)], x.ravel()[5], list(x[1])[2], x[iruka.array(1), 2]]
    expected = [
        source[1, 2],
        source[2, 3],
        source[1, 2],
        source[1, 2],
        source[0, 0],
        source[1, 1],
        source[1, 2],
        source[1, 2],
    ]
    x[...] = 1
    for element, number in zip(elements, expected):
        assert element.dtype == dtype and element.shape == () and element.item() == number
        assert (not element.flags.writeable) and element.flags.owndata


def test_errors_of_element_indices_are_numpys():
    for m in MODULES:
        x = m.arange(3)
        for index in (3, -4, (0, 0), (1.5,), ((),) + (0,)):
            with pytest.raises(IndexError):
                x[index]
        assert [int(t) for t in x] == [0, 1, 2]
        with pytest.raises(TypeError, match="0-d|without axes"):
            iter(x[0]) if m is iruka else iter(np.array(0))


# What NumPy returns as a scalar (numpy.generic) is a value; what it returns as a 0-d array is one here.
KINDS = {
    "element": lambda m, x: x[3],
    "element, NumPy's integer": lambda m, x: x[np.int32(3)],
    "element, value": lambda m, x: x[m.arange(4)[3]],
    "element, tuple": lambda m, x: x[(3,)],
    "element, array": lambda m, x: x[m.array(3)],
    "element, ellipsis": lambda m, x: x[3, ...],
    "element, ellipsis, array": lambda m, x: x[..., m.array(3)],
    "element of 0-d": lambda m, x: m.array(2.0)[()],
    "ellipsis of 0-d": lambda m, x: m.array(2.0)[...],
    "iteration": lambda m, x: next(iter(x)),
    "flat": lambda m, x: x.reshape(2, 3).flat[3],
    "flat, iteration": lambda m, x: next(iter(x.flat)),
    "take": lambda m, x: x.take(3),
    "np.take": lambda m, x: m.take(x, m.array(3)),
    "choose": lambda m, x: m.choose(m.array(1), [m.array(1.0), m.array(2.0)]),
    "array": lambda m, x: m.array(3.0),
    "asarray": lambda m, x: m.asarray(x[3]),
    "array of element": lambda m, x: m.array(x[3]),
    "zeros": lambda m, x: m.zeros(()),
    "ones": lambda m, x: m.ones(()),
    "full": lambda m, x: m.full((), 2.0),
    "empty": lambda m, x: m.empty(()),
    "zeros_like": lambda m, x: m.zeros_like(x[3]),
    "full_like": lambda m, x: m.full_like(x[3], 2),
    "reshape": lambda m, x: x[:1].reshape(()),
    "squeeze": lambda m, x: x[:1].squeeze(),
    "np.squeeze": lambda m, x: m.squeeze(x[:1]),
    "copy of 0-d": lambda m, x: m.array(3.0).copy(),
    "astype of 0-d": lambda m, x: m.array(3.0).astype("int32"),
    "transpose of 0-d": lambda m, x: m.array(3.0).T,
    "where": lambda m, x: m.where(True, 1.0, 2.0),
    "ufunc": lambda m, x: m.add(m.array(1.0), 2.0),
    "ufunc of element": lambda m, x: m.sin(x[3]),
    "ufunc of numbers": lambda m, x: m.add(1.0, 2.0),
    "two outputs": lambda m, x: m.modf(x[3])[1],
    "divmod": lambda m, x: divmod(x[3], 2)[0],
    "operator": lambda m, x: x[3] * 2,
    "operator of 0-d": lambda m, x: m.array(3.0) * 2,
    "negative": lambda m, x: -x[3],
    "comparison": lambda m, x: x[3] < 2,
    "reduce": lambda m, x: m.add.reduce(x),
    "sum": lambda m, x: x.sum(),
    "np.sum": lambda m, x: m.sum(x),
    "sum of 0-d": lambda m, x: m.sum(m.array(3.0)),
    "sum of no axes": lambda m, x: m.sum(m.array(3.0), axis=()),
    "max": lambda m, x: x.max(),
    "argmax": lambda m, x: x.argmax(),
    "any": lambda m, x: x.any(),
    "mean": lambda m, x: x.mean(),
    "var": lambda m, x: x.var(),
    "std": lambda m, x: m.std(x),
    "ptp": lambda m, x: m.ptp(x),
    "median": lambda m, x: m.median(x),
    "quantile": lambda m, x: m.quantile(x, 0.3),
    "percentile": lambda m, x: m.percentile(x, 30),
    "average": lambda m, x: m.average(x, weights=x),
    "nanmean": lambda m, x: m.nanmean(x),
    "nansum": lambda m, x: m.nansum(x),
    "nanmax": lambda m, x: m.nanmax(x),
    "nanargmax": lambda m, x: m.nanargmax(x),
    "nanvar": lambda m, x: m.nanvar(x),
    "nanmedian": lambda m, x: m.nanmedian(x),
    "nanquantile": lambda m, x: m.nanquantile(x, 0.5),
    "dot": lambda m, x: m.dot(x, x),
    "dot of numbers": lambda m, x: m.dot(3.0, x[2]),
    "vdot": lambda m, x: m.vdot(x, x),
    "inner": lambda m, x: m.inner(x, x),
    "matmul": lambda m, x: x @ x,
    "einsum": lambda m, x: m.einsum("i,i", x, x),
    "tensordot": lambda m, x: m.tensordot(x, x, 1),
    "trace": lambda m, x: m.trace(x.reshape(2, 3)),
    "det": lambda m, x: m.linalg.det(x[:4].reshape(2, 2)),
    "slogdet": lambda m, x: m.linalg.slogdet(x[:4].reshape(2, 2))[1],
    "norm": lambda m, x: m.linalg.norm(x),
    "norm of a matrix": lambda m, x: m.linalg.norm(x.reshape(2, 3), 2),
    "cond": lambda m, x: m.linalg.cond(x[:4].reshape(2, 2)),
    "matrix_rank": lambda m, x: m.linalg.matrix_rank(x.reshape(2, 3)),
    "trapezoid": lambda m, x: m.trapezoid(x),
    "interp": lambda m, x: m.interp(2.5, x, x),
    "searchsorted": lambda m, x: m.searchsorted(x, 2.5),
    "digitize": lambda m, x: m.digitize(2.5, x),
    "polyval": lambda m, x: m.polyval(x, 2.0),
    "clip": lambda m, x: m.clip(x[3], 1, 2),
    "round": lambda m, x: m.round(x[3], 1),
    "sinc": lambda m, x: m.sinc(x[3]),
    "angle": lambda m, x: m.angle(x[3]),
    "real": lambda m, x: m.real(x[3]),
    "imag": lambda m, x: x[3].imag,
    "real of complex": lambda m, x: (x[3] * 1j).real,
    "nan_to_num": lambda m, x: m.nan_to_num(x[3]),
    "isclose": lambda m, x: m.isclose(x[3], 3.0),
    "unravel_index": lambda m, x: m.unravel_index(4, (2, 3))[1],
    "ravel_multi_index": lambda m, x: m.ravel_multi_index((1, 1), (2, 3)),
    "logaddexp.reduce": lambda m, x: m.logaddexp.reduce(x),
    "corrcoef": lambda m, x: m.corrcoef(x),
    "cov": lambda m, x: m.cov(x),
    "piecewise": lambda m, x: m.piecewise(x[3], [x[3] < 2], [1.0, 2.0]),
    "select": lambda m, x: m.select([m.array(True)], [m.array(2.0)]),
    "fix": lambda m, x: m.fix(x[3]),
    "heaviside": lambda m, x: m.heaviside(x[3], 1.0),
    "value.copy": lambda m, x: x[3].copy(),
    "value.astype": lambda m, x: x[3].astype("float32"),
    "value.T": lambda m, x: x[3].T,
    "value.reshape": lambda m, x: x[3].reshape(()),
    "value.squeeze": lambda m, x: x[3].squeeze(),
    "value.view": lambda m, x: x[3].view("int64"),
    "value.conj": lambda m, x: x[3].conj(),
    "value.round": lambda m, x: x[3].round(1),
    "value.sum": lambda m, x: x[3].sum(),
    "value[()]": lambda m, x: x[3][()],
    "value[...]": lambda m, x: x[3][...],
    "copy.copy": lambda m, x: copy.copy(x[3]),
    "copy.deepcopy": lambda m, x: copy.deepcopy(x[3]),
    "copy.copy of 0-d": lambda m, x: copy.copy(m.array(3.0)),
    "pickle": lambda m, x: pickle.loads(pickle.dumps(x[3])),
    "pickle of 0-d": lambda m, x: pickle.loads(pickle.dumps(m.array(3.0))),
}


@pytest.mark.parametrize("name", KINDS)
def test_is_a_value_where_numpy_has_a_scalar(name):
    make = KINDS[name]
    expected, actual = make(np, np.arange(6.0) + 1), make(iruka, iruka.arange(6.0) + 1)
    assert is_value(actual) == (not isinstance(expected, np.ndarray))


@pytest.mark.parametrize("view", ["reshape(1)", "ravel()", "flatten()", "__getitem__(None)", "reshape(1, 1)"])
def test_views_with_axes_are_copies(view):
    value = iruka.arange(4.0)[3]
    array = eval(f"value.{view}")
    array[...] = 7
    assert float(value) == 3 and float(array.ravel()[0]) == 7


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_hash(dtype):
    source = np.array([0, 1, 2, 100, 1]).astype(dtype)
    x = iruka.array(source)
    assert [hash(t) for t in x] == [hash(t.item()) for t in source]
    assert {float(t.real) for t in set(x)} == {float(t.real) for t in set(source)}
    table = {x[1]: "one", x[2]: "other"}
    assert table[x[4]] == table[1] == "one" if kind(dtype) != "b" else table[True] == "other"
    for mutable in (x, iruka.array(1.5), x[1, ...], iruka.zeros(())):
        with pytest.raises(TypeError, match="unhashable type: 'iruka.ndarray'"):
            hash(mutable)


def test_hash_of_nan():
    x = iruka.array([np.nan, np.nan, complex(0, np.nan)])
    a, b = x[0], x[1]
    assert hash(a) == hash(a) and len({a, b, a}) == 2 and a in {a, b}
    assert hash(x[2]) is not None


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=[d.name for d in NUMPY_DTYPES])
def test_round(dtype):
    for number in (0, 25, 2.5, 3.5):
        scalar = dtype.type(number)
        value = iruka.array([scalar])[0]
        for digits in (None, 0, 1, -1):
            if dtype.kind in "bc":
                with pytest.raises(TypeError, match="__round__"):
                    round(value, digits)
                continue
            expected, actual = round(scalar, digits), round(value, digits)
            assert type(actual) is int if digits is None else actual.dtype == expected.dtype and is_value(actual)
            assert actual == expected
        if dtype.kind != "c":
            assert [math.floor(value), math.ceil(value)] == [math.floor(scalar), math.ceil(scalar)]
            assert math.trunc(value) == int(scalar)
    with pytest.raises(TypeError, match="__round__"):
        round(iruka.ones(3, dtype))
    with pytest.raises(TypeError, match="only an array of one element"):
        math.floor(iruka.ones(3, dtype))


def test_text_and_conversions():
    value = iruka.array([1, 2.25])[1]
    assert f"{value:.1f}" == "2.2" and str(value) == "2.25" and repr(value) == "array(2.25)"
    assert (
        float(value) == 2.25 and int(value) == 2 and complex(value) == 2.25 and value.item() == value.tolist() == 2.25
    )
    assert "abcd"[iruka.arange(4)[2]] == "c" and list(range(iruka.arange(4)[3])) == [0, 1, 2]
    assert bool(value) and not iruka.zeros(1)[0]
    assert iruka.isscalar(value) and not iruka.isscalar(iruka.array(2.25))


@pytest.mark.parametrize(
    "write, error, words",
    [
        (lambda v, x: iruka.add(1, 2, out=v), ValueError, ("add", "x[3:4]", "x[3, ...]")),
        (lambda v, x: iruka.add(1, 2, v), ValueError, ("add", "x[3:4]")),
        (lambda v, x: x.sum(out=v), ValueError, ("sum", "x[3, ...]")),
        (lambda v, x: iruka.add.reduce(x, out=v), ValueError, ("add", "x[3, ...]")),
        (lambda v, x: iruka.matmul(x, x, out=v), ValueError, ("matmul", "x[3, ...]")),
        (lambda v, x: iruka.dot(x, x, out=v), (ValueError, TypeError), ("x[3, ...]",)),
        (lambda v, x: iruka.ElementwiseKernel("T x", "T z", "z = x", "once")(x[0], v), ValueError, ("once", "x[3:4]")),
        (lambda v, x: v.fill(3), ValueError, ("x[3:4]",)),
        (lambda v, x: iruka.copyto(v, 3), (ValueError, TypeError), ("x[3:4]",)),
        (lambda v, x: v.__setitem__((), 3), TypeError, ("item assignment", "x[3:4]")),
        (lambda v, x: v.__setitem__(..., 3), TypeError, ("item assignment", "x[3:4]")),
        (lambda v, x: setattr(v, "shape", (1,)), AttributeError, ("shape",)),
        (lambda v, x: setattr(v, "real", 2), TypeError, ()),
        (lambda v, x: v.setflags(write=True), ValueError, ("WRITEABLE",)),
        (lambda v, x: v.resize((2,)), ValueError, ("read-only",)),
        (lambda v, x: v.view("int64").fill(0), ValueError, ("read-only",)),
        (lambda v, x: v.T.setflags(write=True), ValueError, ("WRITEABLE",)),
    ],
)
def test_values_do_not_change(write, error, words):
    x = iruka.arange(6.0)
    value = x[3]
    with pytest.raises(error) as caught:
        write(value, x)
    assert all(word in str(caught.value) for word in words), caught.value
    assert float(value) == 3 and float(x[3]) == 3


def test_views_of_elements_change():
    x = iruka.arange(6.0)
    iruka.add(1, 9, out=x[3, ...])
    x[4, ...] += 1
    iruka.add(1, 19, out=x[5:6])
    x[0] += 7
    assert_same(x, [7.0, 1, 2, 10, 5, 20])


def test_mutable_arrays_without_axes():
    for make in (lambda: iruka.array(3.0), lambda: iruka.full((), 3.0), lambda: iruka.full(1, 3.0).reshape(())):
        x = make()
        other = x
        x += 1
        x[...] *= 2
        assert other is x and float(x) == 8
    kernel = iruka.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "sum_of_all")
    total = kernel(iruka.arange(4.0))
    kernel(iruka.arange(5.0), total)  # a kernel's output is an array, as in CuPy, which may be its output again
    assert float(total) == 10 and total.flags.writeable


def test_in_place_operators_promote_as_those_of_scalars():
    expected, actual = np.int32(3), iruka.array([3], "int32")[0]
    expected += 2.5
    actual += 2.5
    assert_same(actual, expected)
    actual **= 2
    actual //= 4
    assert float(actual) == 7 and is_value(actual)


def test_rows_by_values_are_views_on_the_cpu():
    x = iruka.zeros((3, 2))
    for k in iruka.array([0, 2]):
        row = x[k]
        if x.device.name == "cpu":
            row[...] = 1
        else:
            x[k] = 1
    assert_same(x, [[1.0, 1], [0, 0], [1, 1]])


@pytest.mark.cpu_only
def test_other_libraries_get_copies():
    value = iruka.arange(4.0)[3]
    for copied in (np.asarray(value), np.from_dlpack(value), iruka.asnumpy(value), np.array(memoryview(value))):
        copied[...] = 9
    assert float(value) == 3
    assert np.arange(5)[iruka.arange(4)[3]] == 3 and np.add(np.float32(2), value) == 5


@needs_fake_driver
def test_values_stay_on_their_gpu_without_a_wait():
    run("""
def use(x):
    value = x[3]
    others = [t for t in x]
    x[3] = eight
    row = x.reshape(2, 3)[1, 0]
    total = x.sum()
    kept = total
    total += 1
    assert total is not kept
    return value, others, row
eight = iruka.asarray(np.array(8.0))
use(iruka.zeros(6))         # loads the kernels' code; a driver may wait for all streams when it loads code
x = iruka.asarray(np.arange(6.0))
stream = iruka.cuda.Stream()
with stream:
    hold(stream)
    value, others, row = use(x)   # this would hang if anything in it waited for the stream
    let_go(stream)
    stream.synchronize()
assert value.device.id == 0 and float(value) == 3 and float(row) == 8 and [float(t) for t in others] == [0, 1, 2, 3, 4, 5]
assert hash(value) == hash(3.0) and round(value, 1).device.id == 0 and round(value) == 3
raises(ValueError, lambda: iruka.add(1, 2, out=value), "add", "x[3:4]")
raises(TypeError, lambda: hash(x[3, ...]), "unhashable")
""")


@needs_fake_driver
def test_values_of_a_gpu_are_written_without_a_wait():
    run("""
def use(x, small):
    small[1] = x.sum()
    small[2:4] = x[3]
    iruka.copyto(small, x[3], "unsafe")
    total = iruka.array_api.sum(x)
    half = total / 2
    half += 1
    iruka.pad(small, 1, constant_values=(x[0], x[1]))
    return total, half
x, small = iruka.asarray(np.arange(6.0)), iruka.zeros(6, "int8")
use(x, small)               # loads the kernels' code; a driver may wait for all streams when it loads code
stream = iruka.cuda.Stream()
with stream:
    hold(stream)
    total, half = use(x, small)   # this would hang if anything in it waited for the stream
    let_go(stream)
    stream.synchronize()
assert total.device.id == half.device.id == 0 and half.flags.writeable and total.shape == ()
""")


def test_what_else_gives_values():
    x = iruka.array([1.0, 2.0, 3.0])
    for value in (*iruka.average(x, returned=True), iruka.random.rand(), iruka.random.randn(), iruka.random.choice(5)):
        assert is_value(value)
    copied = iruka.copy(x[0])
    copied[...] = 5
    assert (copied.item(), x[0].item()) == (5, 1)
    with pytest.raises(TypeError, match="does not support item assignment"):
        x[0].flat[:] = 5
    with pytest.raises(TypeError):
        round(x[0], 1.5)
