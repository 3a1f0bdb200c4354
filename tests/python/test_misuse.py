"""Objects whose __init__ never ran, text that is no UTF-8, numbers too large: an exception, never a crash or a guess."""

import operator

import numpy as np
import pytest

import iruka
from helpers import assert_same, run_python
from iruka import errors

Kernel = iruka.ElementwiseKernel
HUGE = 10**30


@pytest.fixture
def twice():
    return Kernel("float32 x", "float32 y", "y = x * 2;", "twice")


class Unmade(Kernel):
    def __init__(self):
        pass


class UnmadeArray(iruka.ndarray):
    def __init__(self):
        pass


UNMADE_CALLABLES = [
    Unmade,
    lambda: Kernel.__new__(Kernel),
    lambda: type(iruka.add).__new__(type(iruka.add)),
    lambda: type(iruka.sum).__new__(type(iruka.sum)),
]


@pytest.mark.filterwarnings("ignore:nanobind")
@pytest.mark.parametrize("make", UNMADE_CALLABLES)
def test_unmade_callables(make):
    with pytest.raises(TypeError):
        make()(iruka.ones(3))
    with pytest.raises(TypeError):
        repr(make())


def test_unmade_kernel_says_why():
    with pytest.raises(errors.TypeError, match="Unmade.*__init__ was not called"):
        Unmade()(iruka.ones(3))


USES = {
    "add": lambda u: u + 1,
    "reflected": lambda u: 1 + u,
    "beside": lambda u: iruka.ones(2) + u,
    "in place": lambda u: operator.iadd(iruka.ones(2), u),
    "into": lambda u: operator.iadd(u, 1),
    "divmod": lambda u: divmod(u, 2),
    "power": lambda u: u**2,
    "compare": lambda u: u == 1,
    "negative": operator.neg,
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "len": len,
    "iter": iter,
    "list": list,
    "contains": lambda u: 1 in u,
    "get item": lambda u: u[0],
    "set item": lambda u: operator.setitem(u, 0, 1),
    "assign": lambda u: operator.setitem(iruka.ones(2), slice(None), u),
    "memoryview": memoryview,
    "bytes": bytes,
    "asarray": np.asarray,
    "ufunc": lambda u: np.add(u, 1),
    "dlpack": lambda u: u.__dlpack__(),
    "repr": repr,
    "str": str,
    "shape": lambda u: u.shape,
    "sum": lambda u: u.sum(),
    "function": iruka.sum,
    "kernel": lambda u: Kernel("T x", "T y", "y = x;")(u),
    "out": lambda u: iruka.add(1, 2, out=u),
    "dims": iruka.zeros,
    "where": lambda u: iruka.where(u, 1, 2),
    "concatenate": lambda u: iruka.concatenate([iruka.ones(2), u]),
}


@pytest.mark.filterwarnings("ignore:nanobind")
@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
@pytest.mark.parametrize("make", [UnmadeArray, lambda: iruka.ndarray.__new__(iruka.ndarray)], ids=["subclass", "new"])
def test_unmade_arrays(make, use):
    with pytest.raises(TypeError):
        use(make())


def test_every_attribute_of_an_unmade_array(tmp_path):
    """In a process of its own, for what this looks for is a crash, and a folder of its own, for some attributes write
    files.
    """
    done = run_python(
        """
import iruka, warnings
warnings.simplefilter('ignore')
for name in dir(iruka.ndarray):
    for arguments in ((), (1,), (1, 1), ('f4',), (iruka.ones(2),)):
        array = iruka.ndarray.__new__(iruka.ndarray)
        try:
            attribute = getattr(array, name)
            if callable(attribute):
                attribute(*arguments)
        except Exception:
            pass
print('alive')
""",
        folder=tmp_path,
    )
    assert done.returncode == 0 and done.stdout.strip() == "alive", done.stderr


@pytest.mark.parametrize("name", ["get", "tobytes", "__dlpack__", "__array__", "__repr__", "__str__"])
def test_methods_of_arrays_refuse_other_objects(name):
    with pytest.raises(TypeError):
        getattr(iruka.ndarray, name)(5)


@pytest.mark.filterwarnings("ignore:nanobind")
def test_made_objects_cannot_be_made_again(twice):
    with pytest.raises(TypeError):
        twice.__init__("T x", "T y", "y = x;")
    assert twice(iruka.ones(2, "float32")).tolist() == [2, 2]


def test_keywords_with_a_lone_surrogate(twice):
    x = iruka.ones(3, "float32")
    for call in (
        lambda k: twice(x, **k),
        lambda k: iruka.add(x, 1, **k),
        lambda k: Kernel("T x", "T y", "y = x;", **k),
    ):
        with pytest.raises(TypeError, match="unexpected keyword"):
            call({"\ud800": 1})


@pytest.mark.parametrize("bad", ["y = x;\0 y = 2 * x;", "y = x; // \ud800"])
@pytest.mark.parametrize("place", ["in_params", "out_params", "operation", "name", "preamble", "loop_prep", "options"])
def test_text_that_no_compiler_reads(place, bad):
    texts = {"in_params": "float32 x", "out_params": "float32 y", "operation": "y = x;"}
    texts[place] = (bad,) if place == "options" else bad
    with pytest.raises(ValueError):
        Kernel(**texts)


def test_other_text_is_not_cut_at_a_nul(tmp_path):
    with pytest.raises(ValueError):
        iruka.ones(3).ravel("C\0")
    with pytest.raises(TypeError):
        iruka.zeros(3, "bfloat16\0")
    with pytest.raises(ValueError):
        iruka.image.imread(f"{tmp_path}/a\0.png")
    with pytest.raises(ValueError):
        iruka.image.imwrite(f"{tmp_path}/a\0.png", np.zeros((2, 2), "uint8"))
    assert list(tmp_path.iterdir()) == []


def test_streams(twice):
    x = iruka.ones(2, "float32")
    with pytest.raises(OverflowError):
        twice(x, stream=1 << 80)
    with pytest.raises(errors.TypeError, match="stream"):
        twice(x, stream="x")


@pytest.mark.parametrize("scalar", [1 + 2j, np.complex64(3j)])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_complex_scalars_do_not_lose_a_part(dtype, scalar):
    typed = Kernel(f"{dtype} left, float32 x", "float32 y", "y = x;", "typed")
    placed = Kernel("T left, T x", "T y", "y = x;", "placed")
    with pytest.raises(TypeError, match="left"):
        typed(scalar, iruka.ones(2, "float32"))
    with pytest.raises(TypeError, match="left"):
        placed(scalar, iruka.ones(2, dtype))
    assert_same(placed(scalar, iruka.ones(2, "complex64")), np.ones(2, "complex64"))


@pytest.mark.parametrize("number", [HUGE, -HUGE, 2**64])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_huge_integers_become_floats(dtype, number):
    expected = np.full(2, number, dtype)
    x = iruka.zeros(2, dtype)
    assert_same(Kernel(f"{dtype} a, {dtype} x", f"{dtype} y", "y = x + a;", "typed")(number, x), expected)
    assert_same(Kernel("T a, T x", "T y", "y = x + a;", "placed")(number, x), expected)
    assert_same(x + number, np.zeros(2, dtype) + number)
    assert_same(number * iruka.ones(2, dtype), expected)
    assert_same(iruka.add(number, np.zeros(2, dtype)), expected)
    assert_same(iruka.full(2, number, dtype), expected)
    x[:] = number
    assert_same(x, expected)


def test_huge_integers_beside_integers():
    x = iruka.ones(2, "int64")
    for use in (
        lambda: x + HUGE,
        lambda: iruka.add(HUGE, x),
        lambda: iruka.full(2, HUGE, "int64"),
        lambda: x.fill(HUGE),
        lambda: operator.setitem(x, 0, -HUGE),
        lambda: Kernel("int32 a, float32 x", "float32 y", "y = x;")(HUGE, iruka.ones(2, "float32")),
        lambda: Kernel("T a, T x", "T y", "y = x;")(HUGE, x),
        lambda: Kernel("float32 a", "float32 y", "y = a;")(10**400, size=2),
    ):
        with pytest.raises(OverflowError):
            use()
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize("axis", [2**32, -(2**32), 2**31, 2**62])
def test_axes_beyond_32_bits(axis):
    x = iruka.ones((1, 2))
    for use in (
        lambda: x.sum(axis=axis),
        lambda: x.sum(axis=(0, axis)),
        lambda: x.argmax(axis=axis),
        lambda: iruka.linalg.norm(x, axis=axis),
        lambda: x.squeeze(axis),
        lambda: x.squeeze((axis, 0)),
        lambda: x.transpose(axis, 1),
        lambda: x.swapaxes(0, axis),
        lambda: iruka.expand_dims(x, axis),
        lambda: x._expand_dims(axis),
        lambda: iruka.stack([x, x], axis),
        lambda: iruka.concatenate([x, x], axis),
        lambda: iruka.moveaxis(x, axis, 0),
    ):
        with pytest.raises(errors.AxisError, match=str(axis)):
            use()


def test_a_missing_function_names_numpys():
    with pytest.raises(AttributeError, match=r"no attribute 'busday_count'; .*numpy\.busday_count\(iruka\.asnumpy"):
        iruka.busday_count
    with pytest.raises(AttributeError, match="no attribute 'nothing_at_all'$"):
        iruka.nothing_at_all


def test_a_kernel_given_only_scalars_says_so():
    with pytest.raises(ValueError, match="no argument is an array: pass size="):
        iruka.ElementwiseKernel("T x", "T y", "y = x;", "only_scalars")(3)


def test_floats_for_integer_parameters_are_truncated():
    """As in CuPy and by numpy.int32; what has no integer is refused where it is one, and saturates as casts in bodies."""
    x = iruka.arange(3.0)
    times = Kernel("T x, int32 n", "T y", "y = x * n;", "times_whole")
    for number in (2.5, -2.5, 2.0, np.float32(2.9), np.float64(-0.5)):
        assert times(x, number).tolist() == (np.arange(3) * int(number)).tolist()
    for number, kind, words in ((2**40, OverflowError, "does not fit int32"), (1j, TypeError, "complex number 1j")):
        with pytest.raises(kind, match=words):
            times(x, number)
    with pytest.raises(TypeError, match="kernels do not cast arrays"):
        times(x, iruka.array(2.5))


STRINGS = np.array(["a", "bb"])
OBJECTS = np.array([1, "a"], object)
DATES = np.array(["2020-01-01"], "M8[D]")


@iruka.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def first_of(x, out):
    out[0] = x[0]


@pytest.mark.parametrize(
    "make", [lambda f: iruka.vectorize(["f8(f8)"])(f), lambda f: iruka.vectorize(target="cpu")(f), lambda f: first_of]
)
@pytest.mark.parametrize(
    "given, words",
    [
        (STRINGS, "an array of dtype <U2"),
        (["a", "bb"], "an array of dtype <U2"),
        (OBJECTS, "an array of dtype object"),
        (DATES, r"an array of dtype datetime64\[D\]"),
        ("abc", "a str"),
        (None, "a NoneType"),
    ],
)
def test_functions_of_numbers_name_the_dtype_that_they_do_not_take(make, given, words):
    def squared(x):
        return x * x

    function = make(squared)
    with pytest.raises(
        errors.TypeError, match=rf"^{function.__name__}\(\) takes numbers and arrays of numbers, not {words}$"
    ):
        function(given)


def test_numpys_vectorize_of_other_objects_runs_in_python():
    for given in (STRINGS, OBJECTS, DATES):
        with pytest.warns(UserWarning, match="runs in Python, element by element: dtype '.*' is not supported"):
            made = iruka.vectorize(lambda x: len(str(x)))(given)
        assert made.tolist() == [len(str(each)) for each in given]


@pytest.mark.parametrize(
    "function, words",
    [
        (str, "str returned a result of type str;"),
        (lambda v: None, "<lambda> returned a result of type NoneType;"),
        (lambda v: {"a": 1}, "returned a result of type dict;"),
        (lambda v: [1, "a"], "returned a result of type list and dtype <U21;"),
        (lambda v: STRINGS, "returned a result of type ndarray and dtype <U2;"),
    ],
)
def test_slices_give_numbers(function, words):
    for shape in ((3, 4), (3, 1)):
        with pytest.raises(errors.TypeError, match=f"^apply_along_axis: .*{words} results are numbers and arrays of"):
            iruka.apply_along_axis(function, 0, iruka.ones(shape))


def test_slices_that_give_something_else_later():
    def later(v):
        return "text" if float(v[0]) == 2 else 1.0

    with pytest.warns(UserWarning, match="calls later for each slice"):
        with pytest.raises(errors.TypeError, match="apply_along_axis: later returned a result of type str"):
            iruka.apply_along_axis(later, 1, [[0.0], [2.0], [1.0]])
