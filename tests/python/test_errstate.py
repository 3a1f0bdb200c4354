"""Floating-point errors as in NumPy: which are reported, their messages, and the effects of the error state."""

import io
import itertools
import os
import threading
import warnings

import numpy as np
import pytest

import iruka
from helpers import NUMPY_DTYPES, run_python
from iruka import _core

pytestmark = pytest.mark.cpu_only
EVERY = {"divide", "over", "invalid"}  # reported by default
WORDS = {"divide": "divide by zero", "over": "overflow", "under": "underflow", "invalid": "invalid value"}
UFUNCS = sorted(
    {_core.ufunc(name)._name for name in _core.elementwise_names() if isinstance(getattr(np, name, None), np.ufunc)}
)


def said(call, *arguments, **keywords):
    """The lines that a call logs: 'overflow encountered in add'."""
    log = io.StringIO()
    with np.errstate(all="log", call=log):
        call(*arguments, **keywords)
    return sorted(line.removeprefix("Warning: ") for line in log.getvalue().splitlines())


def kinds(call, *arguments, **keywords):
    lines = said(call, *arguments, **keywords)
    return {kind for kind, words in WORDS.items() if any(line.startswith(words) for line in lines)}


def special(dtype):
    """Zeros, infinities, NaN and the numbers next to where functions end."""
    limits = np.finfo(dtype)
    values = [0.0, -0.0, 1, -1, 2, -0.5, 3, -100, 1000, limits.max, -limits.max, limits.tiny, np.inf, -np.inf, np.nan]
    values += [float(limits.max) ** 0.5 * 2, -1 - limits.eps]
    values = np.array(values).astype(dtype)
    if np.dtype(dtype).kind == "c":
        values = np.array([complex(a, b) for a in values.real[::2] for b in values.real[::3]]).astype(dtype)
    return values


def operands(ufunc, dtype):
    """Tuples of special numbers for each input."""
    values = special(dtype)
    if ufunc.__name__ == "ldexp":
        return itertools.product(values, np.array([-5000, 0, 1, 5000]))
    step = 1 if np.dtype(dtype).kind != "c" else 5
    return itertools.product(*[values[::step]] * ufunc.nin)


def takes(ufunc, dtype):
    """Whether it has a loop for that dtype: some functions have none for integers or complex numbers."""
    codes = ufunc.types
    return any(np.dtype(dtype).char in code.split("->")[0] for code in codes)


def leaves_no_trace(ufunc, arrays):
    """Whether results are finite, so that an overflow was one of a formula's parts."""
    with np.errstate(all="ignore"):
        results = ufunc(*arrays)
    return all(np.isfinite(result).all() for result in (results if isinstance(results, tuple) else (results,)))


def test_the_state_is_numpys():
    for name in ("errstate", "seterr", "geterr", "seterrcall", "geterrcall"):
        assert getattr(iruka, name) is getattr(np, name)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("count", [1, 37])
def test_ufuncs_say_what_numpys_say(name, dtype, count):
    ours, theirs = getattr(iruka, name), getattr(np, name)
    if not takes(theirs, dtype):
        return
    for numbers in operands(theirs, dtype):
        arrays = [np.full(count, number) for number in numbers]
        expected, got = kinds(theirs, *arrays) & EVERY, kinds(ours, *map(iruka.asarray, arrays)) & EVERY
        if leaves_no_trace(theirs, arrays):
            assert got <= expected, numbers
        else:
            assert got == expected, numbers


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", UFUNCS)
def test_complex_ufuncs_say_nothing_that_numpys_do_not(name, dtype):
    ours, theirs = getattr(iruka, name), getattr(np, name)
    if not takes(theirs, dtype):
        return
    for numbers in operands(theirs, dtype):
        arrays = [np.full(3, number) for number in numbers]
        expected = kinds(theirs, *arrays)
        got = kinds(ours, *map(iruka.asarray, arrays))
        assert got <= expected, numbers
        if name in ("add", "subtract", "multiply", "square", "negative", "exp", "sqrt", "log"):
            assert got & EVERY == expected & EVERY, numbers


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "square"])
def test_underflow_of_arithmetic(name, dtype):
    ours, theirs = getattr(iruka, name), getattr(np, name)
    small = [
        np.finfo(dtype).tiny,
        np.finfo(dtype).smallest_subnormal,
        1 - np.finfo(dtype).epsneg,
        3,
        float(np.finfo(dtype).tiny) ** 0.5 / 2,
    ]
    for numbers in itertools.product(np.array(small).astype(dtype), repeat=theirs.nin):
        arrays = [np.full(19, number) for number in numbers]
        assert ("under" in kinds(ours, *map(iruka.asarray, arrays))) == ("under" in kinds(theirs, *arrays)), numbers
    assert "under" in kinds(iruka.exp, iruka.asarray([-1000.0]))


INTEGERS = [dtype for dtype in NUMPY_DTYPES if dtype.kind in "iu"]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "divmod"])
def test_integers_divided_by_zero(name, dtype):
    ours = getattr(iruka, name)
    line = [f"divide by zero encountered in {name}"]
    for count in (1, 7, 64, 100):
        x = iruka.asarray(np.arange(count).astype(dtype))
        for place in {0, count // 2, count - 1}:
            by = np.arange(1, count + 1).astype(dtype) | 1
            assert said(ours, x, iruka.asarray(by)) == []
            by[place] = 0
            assert said(ours, x, iruka.asarray(by)) == line, (count, place)
            assert (
                said(
                    ours,
                    x,
                    iruka.asarray(by),
                    where=iruka.asarray(by != 0),
                    out=None if name != "divmod" else (None, None),
                )
                == []
            )
        assert said(ours, x, 0) == said(ours, x, iruka.asarray(0, dtype=dtype)) == line
        assert said(ours, x, 3) == []
        if name != "divmod":
            assert said(ours, x.copy(), iruka.asarray(by), out=x.copy()) == line
            in_place = x.copy()
            assert said(ours, in_place, iruka.asarray(by), out=in_place) == line
            assert said(ours, in_place, iruka.asarray(by | 1), out=in_place) == []
            for divisors, expected in ((by, line), (by | 1, [])):
                overwritten = iruka.array(divisors)
                assert said(ours, x, overwritten, out=overwritten) == expected
                every_second = iruka.array(np.repeat(divisors, 2))[::2]
                assert said(ours, x, every_second, out=every_second) == expected
                assert said(ours.at, x.copy(), iruka.arange(count), iruka.asarray(divisors)) == expected
            assert said(ours.at, x.copy(), slice(0, 0), 0) == []


def test_these_tests_with_shorter_vectors():
    """Which exceptions a loop raises depends on how the processor's vectors divide it."""
    if os.environ.get("IRUKA_CPU_LEVEL"):
        pytest.skip("this is a run of that test")
    options = [__file__, "-q", "-n0", "-p", "no:cacheprovider", "-k", "divided_by_zero or ufuncs_say or in_place"]
    code = f"import pytest; raise SystemExit(pytest.main({options!r}))"
    done = run_python(code, 300, IRUKA_CPU_LEVEL="x86-64-v3")
    assert done.returncode == 0, done.stdout


def test_other_integer_functions():
    for dtype in INTEGERS:
        zeros, ones = np.zeros(19, dtype), np.ones(19, dtype)
        assert said(iruka.reciprocal, iruka.asarray(zeros)) == said(np.reciprocal, zeros)
        assert said(iruka.reciprocal, iruka.asarray(ones)) == []
        assert said(lambda x: x / x, iruka.asarray(zeros)) == said(lambda x: x / x, zeros)
        assert said(iruka.power, iruka.asarray(zeros), 0) == said(iruka.gcd, iruka.asarray(zeros), 0) == []
    for numbers in (np.arange(3), np.arange(3.0)):
        assert said(divmod, iruka.asarray(numbers), 0) == said(divmod, numbers, 0) != []


@pytest.mark.parametrize("name", ["exp", "exp2", "expm1", "sinh", "cosh"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_exponentials_far_beyond_the_range(name, dtype):
    for number in (12.0, 90.0, 710.0, 1e3, 1e4, 6e4, 1e30, 1e300):
        with np.errstate(all="ignore"):
            x = np.full(19, number).astype(dtype)
        if np.isfinite(x[0]):  # NumPy's exp2 of floats says nothing of some numbers that overflow
            with np.errstate(all="ignore"):
                overflows = bool(np.isinf(getattr(np, name)(x.astype("longdouble")).astype(dtype)).any())
            assert (kinds(getattr(iruka, name), iruka.asarray(x)) == {"over"}) == overflows, number


def test_results_cast_to_integers():
    for numbers in ([np.nan, 1.0], [1e300, 1.0], [1.0, 2.0]):
        lines = [said(m.add, m.asarray(numbers), 1, out=m.zeros(2, "int32"), casting="unsafe") for m in (np, iruka)]
        assert lines[0] == lines[1]


def test_outputs_between_the_inputs_elements():
    for m in (np, iruka):
        x = m.asarray([-1.0, 4.0, 9.0, 16.0])
        assert said(m.log, x[::2], out=x[1::2]) == ["invalid value encountered in log"]


OPERATORS = {
    "x + y": [(1e308, 1e308), (np.inf, -np.inf), (1.0, 2.0)],
    "x - y": [(-1e308, 1e308), (np.inf, np.inf)],
    "x * y": [(1e200, 1e200), (np.inf, 0.0)],
    "x / y": [(1.0, 0.0), (0.0, 0.0), (1e300, 1e-300)],
    "x // y": [(1.0, 0.0), (0.0, 0.0), (1e300, 1e-300)],
    "x % y": [(1.0, 0.0), (np.inf, 2.0)],
    "x ** y": [(0.0, -2.5), (-1.0, 0.5), (1e300, 3.0)],
    "x ** 2": [(1e200, 0.0)],
    "x ** -1": [(0.0, 0.0)],
    "x ** 0.5": [(-1.0, 0.0)],
    "-x": [(np.inf, 0.0)],
    "abs(x)": [(-np.inf, 0.0)],
    "x @ y": [(1e200, 1e200), (np.inf, 0.0)],
    "x < y": [(np.nan, 1.0)],
    "x == y": [(np.nan, 1.0)],
}


@pytest.mark.parametrize("text", OPERATORS)
def test_operators_say_what_numpys_say(text):
    operator = eval(f"lambda x, y: {text}")
    for x, y in OPERATORS[text]:
        x, y = np.full(5, x), np.full(5, y)
        assert said(operator, iruka.asarray(x), iruka.asarray(y)) == said(operator, x, y)
    for x, y in OPERATORS[text] if "@" not in text else ():  # scalars, which NumPy names 'scalar add'
        assert kinds(operator, iruka.asarray([x])[0], y) == kinds(operator, np.float64(x), y)


IN_PLACE = ["+=", "-=", "*=", "/="]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("operator", IN_PLACE)
def test_operations_in_place(operator, dtype, rng):
    """Of the elements' infinities and NaNs some were there before: the flags tell."""
    code = compile(f"x {operator} y", "test", "exec")
    choices = special(dtype)
    for count in [*range(1, 20), 64, 100, 257]:
        for some in (choices, choices[:4], choices[-6:], choices[[2, 12, 14, 0]]):
            x, y = some[rng.integers(0, len(some), count)], some[rng.integers(0, len(some), count)]
            ours = kinds(exec, code, {"x": iruka.array(x), "y": iruka.asarray(y)})
            theirs = kinds(exec, code, {"x": x.copy(), "y": y})
            if dtype == "complex64" and operator in ("*=", "/="):
                assert ours <= theirs
            else:
                assert ours & EVERY == theirs & EVERY, (count, x, y)


@pytest.mark.parametrize("name", UFUNCS)
def test_what_overwrites_its_operands_says_nothing_wrong(name, rng):
    ours, theirs = getattr(iruka, name), getattr(np, name)
    if theirs.nout > 1 or name in ("ldexp",):
        return
    for count in (1, 5, 19, 70):
        x = special("float64")[rng.integers(0, 17, count)]
        others = [special("float64")[rng.integers(0, 17, count)]] if theirs.nin == 2 else []
        array = iruka.array(x)
        try:
            expected = kinds(theirs, x.copy(), *others, out=x.copy(), casting="unsafe")
        except TypeError:
            return
        got = kinds(ours, array, *map(iruka.asarray, others), out=array, casting="unsafe")
        assert got <= expected, (x, others)


def test_masked_elements_are_not_told_of():
    for count in (3, 50):
        x = iruka.asarray(np.tile([1.0, 0.0, -1.0], count))
        assert said(iruka.log, x, where=x > 0, out=iruka.zeros(x.shape)) == []
        assert said(iruka.divide, 1.0, x, where=x != 0, out=iruka.zeros(x.shape)) == []
        assert said(iruka.log, x, where=x >= 0, out=iruka.zeros(x.shape)) == ["divide by zero encountered in log"]


def test_layouts_and_broadcasting():
    x = np.ones((40, 30))
    x[17, 13] = 0
    line = ["divide by zero encountered in divide"]
    for view in (
        lambda a: a,
        lambda a: a.T,
        lambda a: a[:, ::-1],
        lambda a: a[1::2, 1:20:3],
        lambda a: a[17],
        lambda a: a[None, :, 5:20],
    ):
        ours = view(iruka.asarray(x))
        assert said(lambda y: 1 / y, ours) == line
        assert said(iruka.divide, 1, ours, out=iruka.zeros((*ours.shape, 2))[..., 0]) == line
    assert said(iruka.divide, iruka.ones(30), iruka.asarray(x)) == line
    assert said(iruka.divide, iruka.ones((2, 1, 30)), iruka.asarray(x)[:, 3:4]) == []
    assert (
        said(iruka.log, 0.0)
        == said(iruka.log, [1, 0])
        == said(iruka.log, np.zeros(2))
        == ["divide by zero encountered in log"]
    )
    with np.errstate(all="raise"):
        assert said(iruka.divide, iruka.zeros(0), 0) == []


@pytest.mark.parametrize("place", [0, 1, 123_456, 999_999, 1_000_002])
def test_one_element_of_many(place):
    """Threads share the elements, and the one that finds something is not the caller's."""
    x = iruka.ones(1_000_003)
    x[place] = 0
    assert said(lambda y: 1 / y, x) == ["divide by zero encountered in divide"]
    assert said(iruka.log, x.astype("float32")) == ["divide by zero encountered in log"]
    x[place] = 1e308
    assert said(lambda y: y * y, x) == ["overflow encountered in multiply"]
    assert said(iruka.exp, x) == ["overflow encountered in exp"]
    assert said(iruka.sum, x) == []
    x[place] = np.inf
    assert said(lambda y: y * 2, x) == []
    assert said(lambda y: y - y, x) == ["invalid value encountered in subtract"]
    integers = iruka.ones(1_000_003, "int32")
    assert said(lambda y: 5 // y, integers) == []
    integers[place] = 0
    assert said(lambda y: 5 // y, integers) == ["divide by zero encountered in floor_divide"]


CASTS = [0.0, 1.5, -1.0, 127.0, 300.0, 65520.0, 2.0**31, -(2.0**31), 3e9, 2.0**32, 1e10, 2.0**63, 1e19, 1e20, 1e30,
    3e38, 1e39, 1e308, -1e30, np.inf, -np.inf, np.nan]  # fmt: skip


@pytest.mark.parametrize("source", ["float16", "float32", "float64", "complex64", "complex128"])
def test_casts_say_what_numpys_say(source):
    with np.errstate(all="ignore"):
        values = np.array(CASTS).astype(source)
    for target in NUMPY_DTYPES:
        for value in values:
            for count in (1, 40):
                x = np.full(count, value)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
                    expected, got = said(x.astype, target), said(iruka.asarray(x).astype, target)
                assert [line for line in got if "underflow" not in line] == expected, (value, target, count)


def test_where_casts_happen():
    large, single = np.array([1e200, 1.0]), iruka.ones(2, "float32")
    over, invalid = ["overflow encountered in cast"], ["invalid value encountered in cast"]
    x = iruka.asarray(large)
    assert said(iruka.asarray, x, "float32") == said(iruka.array, x, dtype="float32") == over
    assert said(iruka.array, [1e200], dtype="float32") == said(iruka.full, 3, 1e200, "float32") == over
    assert said(single.__setitem__, slice(None), x) == said(single.__setitem__, slice(None), 1e200) == over
    assert said(single.__setitem__, slice(None), large) == said(single.__setitem__, [0, 1], x) == over
    assert said(iruka.copyto, single, x) == over
    assert set(said(iruka.concatenate, [x, x], dtype="float32", casting="same_kind")) == set(over)
    integers = iruka.ones(2, "int32")
    assert said(integers.__setitem__, slice(None), x) == said(integers.__setitem__, [1, 0], x) == invalid
    assert said(single.__setitem__, slice(None), 1.0) == said(integers.__setitem__, 0, 1.0) == []
    assert said(lambda: single * 1e200) == said(lambda: np.ones(2, "float32") * 1e200)
    assert said(iruka.multiply, x, 1.0, out=single) == ["overflow encountered in multiply"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize(
    "value",
    [1e300, 70000.0, -1e20, 1e20, 2.0**63, -(2.0**63), 2.0**64, -1.5, -128.5, -129.0, 3.7, np.nan, np.inf, -np.inf],
)
def test_a_number_that_does_not_fit_is_told_of(dtype, value):
    assert said(iruka.full, 3, value, dtype) == said(np.full, 3, value, dtype)
    assert said(iruka.full_like, iruka.ones(3, dtype), value) == said(np.full_like, np.ones(3, dtype), value)


@pytest.mark.parametrize("value", [65504, 65519, 65520, 70000, -70000, 10**30, 65519.0, 65520.0, 1e300])
def test_numbers_beyond_float16(value):
    def results(xp):
        x = xp.ones(3, "float16")
        calls = [lambda: xp.full(3, value, "float16"), lambda: x.fill(value), lambda: x.__setitem__(0, value)]
        calls += [lambda: x + value, lambda: value * x, lambda: xp.copyto(x, value), lambda: xp.sum(x, initial=value)]
        return [said(call) for call in calls]

    assert results(iruka) == results(np)


BIG, INF, NAN = [1e308] * 10, [np.inf, -np.inf, 1.0], [np.nan, 1.0]
FUNCTIONS = [
    "xp.sum(big)", "xp.prod(big)", "xp.mean(big)", "xp.cumsum(big)", "xp.cumprod(big)", "big.sum()", "big.sum(axis=0)",
    "xp.sum(inf)", "xp.mean(inf)", "xp.var(inf)", "xp.std(inf)", "xp.cumsum(inf)", "xp.sum(nan)", "xp.mean(nan)",
    "xp.var(nan)",
    "xp.nansum(inf)", "xp.nansum(nan)", "xp.nanprod(big)", "xp.nanmean(nan)", "xp.nanvar(nan)", "xp.nanstd(nan)",
    "xp.add.reduce(big)", "xp.add.accumulate(big)", "xp.add.reduceat(big, [0, 3])", "xp.multiply.reduce(big)",
    "xp.add.outer(big, big)", "xp.subtract.reduce(inf)", "xp.divide.reduce(zeros)", "xp.add.reduce(inf, where=inf > 0)",
    "xp.divide.at(zeros, [0], 0.0)", "xp.add.at(big, [0, 0], 1e308)", "xp.matmul(big, big)", "square @ square",
    "xp.linalg.det(square)",
    "xp.linalg.det(xp.eye(3) * 1e200)", "xp.linalg.norm(square, 1)", "xp.linalg.det(xp.zeros((3, 3)))", "xp.max(inf)",
    "xp.max(nan)", "xp.min(nan)",
    "xp.ptp(inf)", "xp.diff(inf)", "xp.average(inf)", "xp.median(inf)", "xp.corrcoef(xp.ones(3), xp.ones(3))",
    *(f"xp.linalg.norm({x}, {p})" for x in ("zeros", "inf", "[1, 0, 2]", "[1e-200, 0]") for p in (-3, -1, -0.5)),
    "xp.isclose(inf, inf)",
    "xp.allclose(nan, nan)", "xp.nan_to_num(inf)", "xp.sinc(xp.zeros(3))", "xp.sinc(inf)", "xp.i0(big)",
    "xp.round(big, 3)",
    "xp.round(inf, 1)", "xp.clip(nan, 0, 1)", "xp.where(nan > 0, nan, 1)", "xp.sort(nan)", "xp.argmax(nan)",
    "xp.unique(nan)",
    "xp.trapezoid(inf)", "xp.gradient(inf)", "xp.unwrap(inf)", "xp.kron(big, big)", "xp.outer(big, big)",
    "xp.trace(square)",
    "xp.linalg.cond(xp.zeros((2, 2)))", "xp.linalg.inv(xp.eye(2))", "xp.linspace(0, 1e308, 5)",
    "xp.logspace(1, 400, 5)",
    "xp.linspace(-1.7e308, 1.7e308, 5)", "xp.linspace(0, xp.inf, 3)", "xp.linspace(xp.inf, xp.inf, 3)",
    "xp.linspace(-xp.inf, xp.inf, 3)", "xp.linspace(0, xp.nan, 3)", "xp.linspace(xp.inf, xp.inf, 4, endpoint=False)",
    "xp.linspace(0, xp.inf, 1)", "xp.linspace(0, xp.inf, 0)", "xp.linspace(-1.7e308, 1.7e308, 5, retstep=True)",
    "xp.logspace(0, xp.inf, 3)", "xp.geomspace(1, xp.inf, 3)",
    "xp.geomspace(1, 1e308, 5)", "xp.histogram(inf[2:])", "xp.interp(inf, zeros, zeros)", "xp.nanmax(nan)",
    "xp.nanmedian(nan)",
    "xp.frexp(inf)", "xp.modf(inf)", "xp.heaviside(nan, 0)", "xp.float_power(zeros, -1)", "xp.maximum(nan, 0)",
    "xp.fmax(nan, 0)",
]  # fmt: skip


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions_say_what_numpys_say(text):
    def run(xp):
        names = {
            "xp": xp,
            "big": xp.asarray(BIG),
            "inf": xp.asarray(INF),
            "nan": xp.asarray(NAN),
            "zeros": xp.asarray([0.0, 0.0]),
        }
        names["square"] = xp.asarray([[1e200, 1.0], [1.0, 1e200]])
        return [line.replace("scalar ", "") for line in said(eval, text, names)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of degrees of freedom and the like, which have tests of their own
        assert run(iruka) == run(np)


def test_half_sums_overflow_in_their_own_dtype():
    x = np.full(3, 60000, "float16")
    assert said(iruka.asarray(x).mean) == said(x.mean) == []
    assert "overflow" in " ".join(said(lambda: iruka.asarray(x) * iruka.asarray(x)))
    assert said(lambda: iruka.asarray(x) + 60000) == ["overflow encountered in add"]


def test_bfloat16():
    x = iruka.asarray([0.0, 1.0, -1.0]).astype("bfloat16")
    assert said(lambda: x / x) == ["invalid value encountered in divide"]
    assert said(iruka.log, x) == ["divide by zero encountered in log", "invalid value encountered in log"]
    assert said(lambda: x + x) == said(iruka.sum, x) == []
    assert said(iruka.asarray([1e300]).astype, "bfloat16") == ["overflow encountered in cast"]


@pytest.mark.parametrize("tolerance", [np.inf, np.nan, -np.inf, [0.0, np.inf], -1.0, 0, 2**64 - 1, True])
def test_tolerances_that_are_not_finite(tolerance):
    for name, keyword in itertools.product(("isclose", "allclose"), ("rtol", "atol")):

        def result(xp, name=name, keyword=keyword):
            limit = xp.asarray(tolerance) if isinstance(tolerance, list) else tolerance
            with warnings.catch_warnings(record=True) as log:
                warnings.simplefilter("always")
                getattr(xp, name)(xp.ones(2), xp.ones(2), **{keyword: limit})
            return [(str(warning.message), warning.category) for warning in log]

        assert result(iruka) == result(np)
    for call in (iruka.isclose, iruka.allclose, np.isclose):
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="One of rtol or atol is not valid"):
            call(1.0, 1.0, atol=np.inf)
        for beyond in (2**64, -(2**63) - 1, 10**400):
            with pytest.raises(TypeError, match="isfinite"):
                call(1.0, 1.0, atol=beyond)


# --- The effects of the error state ---


def both(work):
    """What `work` gives with NumPy's array and with ours."""
    return [work(xp, xp.asarray([1.0, 0.0, 1e308])) for xp in (np, iruka)]


def test_warnings_have_numpys_words_category_and_the_callers_line():
    def work(xp, x):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            x / 0
            xp.multiply(x, 1e10)
            x *= 1e10
            xp.corrcoef(xp.ones(3), xp.ones(3))
        return caught

    theirs, ours = both(work)
    assert [(str(w.message), w.category) for w in ours] == [(str(w.message), w.category) for w in theirs]
    assert all(w.filename == __file__ for w in ours)
    assert [w.lineno for w in ours[:4]] == [w.lineno for w in theirs[:4]]


def test_a_warning_comes_once_for_each_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            iruka.ones(3) / 0
        iruka.ones(3) / 0
    assert len(caught) == 2


def test_the_default_warns_of_all_but_underflow():
    assert np.geterr() == {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = iruka.asarray([1e-200, 1e200, 1.0])
        x * x, x / 0, iruka.sqrt(-x), iruka.exp(-x)
    assert [str(w.message).split(" encountered")[0] for w in caught] == ["overflow", "divide by zero", "invalid value"]


def test_raise():
    with np.errstate(all="raise"):
        for call in (
            lambda x: x / 0,
            lambda x: x * 1e10,
            lambda x: 0 * (x * 1e10),
            lambda x: x * 1e-320,
            lambda x: x.astype("float32"),
        ):
            errors = []
            for xp in (np, iruka):
                with pytest.raises(FloatingPointError) as error:
                    call(xp.asarray([1e-10, 2.0, 1e308]))
                errors.append(str(error.value))
            assert errors[0] == errors[1]
        x = iruka.asarray([1.0, 2.0])
        with pytest.raises(FloatingPointError):
            x /= 0
        assert iruka.isinf(x).all()  # written, as NumPy's is
    with np.errstate(divide="raise", invalid="ignore"):
        iruka.zeros(3) / 0
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            iruka.ones(3) / 0


def test_a_warning_that_is_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
            iruka.ones(3) / 0


def test_call_and_log():
    calls = []
    with np.errstate(all="call", call=lambda *arguments: calls.append(arguments)):
        theirs = both(lambda xp, x: x / xp.asarray([0.0, 0.0, 1e-10])) and calls[: len(calls) // 2]
        ours = calls[len(calls) // 2 :]
    assert theirs == ours and len(ours) == 3
    logs = []
    for xp in (np, iruka):
        log = io.StringIO()
        with np.errstate(all="log", call=log):
            xp.asarray([1.0, 0.0]) / 0
        logs.append(log.getvalue())
    assert logs[0] == logs[1] != ""


def test_call_and_log_without_a_place():
    for way in ("call", "log"):
        for xp in (np, iruka):
            with np.errstate(all=way, call=None), pytest.raises(NameError):
                xp.asarray([1.0, 0.0]) / 0


def test_print(capfd):
    texts = []
    for xp in (np, iruka):
        with np.errstate(all="print"):
            xp.asarray([1.0, 0.0]) / 0
        texts.append(capfd.readouterr().err)
    assert texts[0] == texts[1] != ""


def test_seterr_holds_outside_with():
    done = run_python("""
import iruka, numpy as np
old = iruka.seterr(all="ignore")
iruka.ones(3) / 0
np.seterr(divide="raise")
try:
    iruka.ones(3) / 0
except FloatingPointError as error:
    print(error)
iruka.seterr(**old)
iruka.ones(3) / 0
""")
    assert done.stdout == "divide by zero encountered in divide\n"
    assert done.stderr.count("RuntimeWarning: divide by zero encountered in divide") == 1


def test_nothing_is_looked_at_where_all_is_ignored(monkeypatch):
    from iruka._array import float_errors

    monkeypatch.setattr(float_errors, "_computed_anew", lambda *arguments: pytest.fail("looked at"))
    with np.errstate(all="ignore"):
        iruka.ones(3) / 0
        iruka.log(iruka.zeros(10_000))
        iruka.asarray([1e300]).astype("float32")
        iruka.asarray(BIG).sum()
        iruka.arange(3) // 0


def test_threads_have_states_of_their_own():
    outcomes = {}
    ready = threading.Barrier(2)

    def work(way):
        with np.errstate(all=way):
            ready.wait()
            for _ in range(50):
                try:
                    iruka.ones(1000) / 0
                    outcomes.setdefault(way, "done")
                except FloatingPointError:
                    outcomes.setdefault(way, "raised")

    threads = [threading.Thread(target=work, args=(way,)) for way in ("ignore", "raise")]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert outcomes == {"ignore": "done", "raise": "raised"}


def test_flags_of_others_are_not_told_of():
    """What NumPy, a kernel of the caller's or a function that says nothing left behind."""
    divide = iruka.ElementwiseKernel("float64 x, float64 y", "float64 z", "z = x / y;", "divide_here")
    zeros, more = iruka.zeros(3), iruka.zeros(100_000)
    with np.errstate(all="ignore"):
        np.ones(3) / 0
    assert said(divide, iruka.ones(3), zeros) == said(divide, 1.0, more) == []
    assert said(lambda: zeros + zeros) == said(lambda: more + more) == said(iruka.sum, more) == []
    infinite = iruka.full(3, np.inf)
    divide(1.0, zeros)
    assert said(lambda: infinite + 1) == said(lambda: infinite * 2) == said(iruka.add, infinite, 1, out=infinite) == []


def test_subclass_and_protocol_calls_tell_too():
    x = iruka.ones(3)
    assert (
        said(np.divide, x, 0)
        == said(lambda: x.__array_ufunc__(np.divide, "__call__", x, 0))
        == ["divide by zero encountered in divide"]
    )
    assert said(np.log, iruka.zeros(2)) == ["divide by zero encountered in log"]


@pytest.mark.parametrize(
    "text",
    [
        "m.median(m.zeros(0))",
        "m.mean(m.zeros(0))",
        "m.nanmedian(m.full(3, np.nan))",
        "m.nanquantile(m.zeros(0), 0.5)",
        "m.put(m.zeros(3), [0, 1], m.array([1j, 2j]))",
        "m.copyto(m.zeros(3), m.full(3, 1j), casting='unsafe')",
        "m.full(3, 1j).astype(float)",
        "m.add(1.0, m.ones(3), where=m.array([True, False, True]))",
    ],
)
def test_warnings_name_the_line_of_the_caller(text):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        eval(compile(text, "caller", "eval"), {"m": iruka, "np": np})
    assert [w.filename for w in caught] == ["caller"]
