"""vectorize: NumPy's and Numba's, compiled; arrays of the host give arrays of the host, those of a device stay there."""

import copy
import itertools
import math
import pickle
import threading
import types

import numpy as np
import pytest

import iruka
from iruka import vectorize
from iruka.errors import TranslationError

rng = np.random.default_rng(5)
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex64"]


@vectorize(["int64(int64, int64)", "float32(float32, float32)", "float64(float64, float64)"], identity=0)
def plus(x, y):
    return x + y


@vectorize(target="cpu")
def scaled(x, y):
    """x, y times"""
    return x * 2 + y if x > y else y / 4


@vectorize(["float64(float64)"])
def root(x):
    if x < 0:
        raise ValueError(f"no root of {x}")
    return math.sqrt(x)


@vectorize
def numpys(x):
    return x + 1


def halved(x):
    return x / 2


def doubled(x):
    return x * 2


@vectorize(["UniTuple(float64, 2)(float64, float64)"])
def polar(x, y):
    return math.hypot(x, y), math.atan2(y, x)


def test_host_arrays_give_host_arrays():
    x, y = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    for given in (x, x.T.copy().T, x[::-1], np.asfortranarray(x)):
        made = plus(given, y)
        assert type(made) is np.ndarray and made.dtype == "f8"
        np.testing.assert_array_equal(made, given + y)
    assert type(plus(1, 2)) is np.int64 and plus(1, 2) == 3
    assert plus([1, 2], 3).tolist() == [4, 5]
    assert plus(np.zeros((0, 3)), 1).shape == (0, 3)


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_arrays_of_a_device_stay_there(target):
    add = vectorize(["float32(float32, float32)"], target=target)(lambda x, y: x + y)
    x = iruka.arange(5, dtype="float32")
    made = add(x, x)
    assert isinstance(made, iruka.ndarray) and made.device == x.device
    assert made.tolist() == [0, 2, 4, 6, 8] and add(x, 1).dtype == "float32"
    assert isinstance(add(x, np.ones(5, "float32")), iruka.ndarray)


def test_loops_are_chosen_as_by_a_ufunc():
    assert plus.types == ["ll->l", "ff->f", "dd->d"] and (plus.nin, plus.nout, plus.nargs, plus.ntypes) == (2, 1, 3, 3)
    i2, f4, f8 = np.ones(2, "i2"), np.ones(2, "f4"), np.ones(2)
    assert plus(i2, i2).dtype == "i8" and plus(f4, f4).dtype == "f4" and plus(f4, f8).dtype == "f8"
    assert plus(f4, 2.5).dtype == "f4" and plus(i2, f4).dtype == "f4" and plus(i2, 2.5).dtype == "f8"
    with pytest.raises(
        TypeError, match=r"'plus' did not contain a loop with signature matching types \(complex128, int64\)"
    ):
        plus(1j, np.ones(2, "i8"))
    for wrong in ((1,), (1, 2, 3, 4)):
        with pytest.raises(TypeError, match="takes 2 arguments"):
            plus(*wrong)


def test_kernels_are_made_when_they_are_needed():
    @vectorize(target="cpu")
    def half(x):
        return x / 2

    assert half.ntypes == 0
    for dtype in DTYPES[1:]:
        x = np.array([1, 2, 5]).astype(dtype)
        np.testing.assert_allclose(half(x), x / 2)
        assert half(x).dtype == ("c16" if dtype == "complex64" else "f8")  # 2 is an int64, as in Numba
    assert half.ntypes == len(DTYPES) - 1
    half.add("float32(int64)")
    with pytest.raises(TypeError, match="keyword"):
        vectorize(target="cpu", nonsense=1)
    with pytest.raises(ValueError, match="target"):
        vectorize(["f8(f8)"], target="tpu")


def test_out():
    x = np.arange(4.0)
    out = np.empty(4)
    assert plus(x, x, out=out) is out and out.tolist() == [0, 2, 4, 6]
    assert plus(x, x, out) is out
    narrow = np.empty(4, "f4")
    assert plus(x, x, out=(narrow,)) is narrow and narrow.tolist() == [0, 2, 4, 6]
    with pytest.raises(TypeError, match="same_kind"):
        plus(x, x, out=np.empty(4, "i8"))
    on_device = iruka.zeros(4)
    assert plus(x, x, out=on_device) is on_device and on_device.tolist() == [0, 2, 4, 6]
    r, angle = np.empty(4), np.empty(4)
    for arguments, keywords in 2 * [((x, 1.0), {"out": (r, angle)}), ((x, 1.0, r, angle), {})]:
        returned = polar(*arguments, **keywords)
        assert type(returned) is tuple and returned[0] is r and returned[1] is angle
        np.testing.assert_allclose(r, np.hypot(x, 1))
        r[:] = angle[:] = 7
    overlapping = iruka.arange(6.0)
    plus(overlapping[:-1], overlapping[1:], out=overlapping[1:])
    assert overlapping.tolist() == [0, 1, 3, 5, 7, 9]


@vectorize(["int64(int64)"])
def overflowing(x):
    larger = x + 1 > x
    smaller = x - 1 < x
    return (-x < 0) + 2 * larger + 4 * smaller + 8 * (abs(x) < 0) + 16 * (x * x < 0) + 32 * (x * 2 // 2 == x)


def test_integers_wrap():
    x = np.array([-(2**63), 1 - 2**63, -1, 0, 1, 2**32, 2**33 - 1, 2**62, 2**63 - 1])
    with np.errstate(all="ignore"):
        larger, smaller = x + 1 > x, x - 1 < x
        expected = (-x < 0) + 2 * larger + 4 * smaller + 8 * (abs(x) < 0) + 16 * (x * x < 0) + 32 * (x * 2 // 2 == x)
    np.testing.assert_array_equal(overflowing(x), expected)


def test_several_results():
    x, y = np.linspace(-2, 2, 7), np.linspace(1, -3, 7)
    r, angle = polar(x, y)
    np.testing.assert_allclose(r, np.hypot(x, y))
    np.testing.assert_allclose(angle, np.arctan2(y, x))
    assert polar.nout == 2


def test_folds():
    a = np.arange(1, 25).reshape(2, 3, 4)
    for axis in (0, 1, 2, -1, None, (0, 2)):
        np.testing.assert_array_equal(plus.reduce(a, axis=axis), np.add.reduce(a, axis=axis))
        shape = np.add.reduce(a, axis=axis, keepdims=True).shape
        assert plus.reduce(a, axis=axis, keepdims=True).shape == shape
    for axis in (0, 1, 2):
        np.testing.assert_array_equal(plus.accumulate(a, axis=axis), np.add.accumulate(a, axis=axis))
    minus = vectorize(["int64(int64, int64)"])(lambda x, y: x - y)
    np.testing.assert_array_equal(minus.reduce(a, axis=1), np.subtract.reduce(a, axis=1))
    np.testing.assert_array_equal(minus.accumulate(a, axis=-1), np.subtract.accumulate(a, axis=-1))
    assert plus.reduce(np.zeros((0, 3))).tolist() == [0, 0, 0] and plus.reduce([1, 2], initial=10) == 13
    with pytest.raises(ValueError, match="no identity"):
        minus.reduce(np.zeros(0, "i8"))
    with pytest.raises(ValueError, match="binary"):
        root.reduce(a)
    with pytest.raises(np.exceptions.AxisError):
        plus.reduce(a, axis=3)
    on_device = iruka.asarray(a)
    assert isinstance(plus.reduce(on_device), iruka.ndarray)
    out = np.empty((3, 4), "i8")
    assert plus.reduce(a, out=out) is out and (out == a.sum(0)).all()


def test_folds_without_signatures_translate_once(monkeypatch):
    from iruka import _vectorize

    made = []

    class Counted(_vectorize._Loop):
        def __init__(self, *arguments):
            made.append(arguments[1])
            super().__init__(*arguments)

    monkeypatch.setattr(_vectorize, "_Loop", Counted)
    minus = vectorize(target="cpu")(lambda x, y: x - y)
    for dtype in ("i8", "f4", "i8"):
        a = np.arange(20).reshape(4, 5).astype(dtype)
        for axis in (0, 1):
            np.testing.assert_array_equal(minus.reduce(a, axis=axis), np.subtract.reduce(a, axis=axis))
            np.testing.assert_array_equal(minus.accumulate(a, axis=axis), np.subtract.accumulate(a, axis=axis))
    assert made == [(np.dtype("i8"),) * 2, (np.dtype("f4"),) * 2]
    np.testing.assert_array_equal(plus.outer([1, 2], [3, 4]), np.add.outer([1, 2], [3, 4]))


@pytest.mark.cpu_only
def test_errors_of_the_function_are_raised():
    x = np.ones((3, 4))
    x[1, 2] = -2
    with pytest.raises(ValueError, match=r"no root of -2\.0") as caught:
        root(x)
    if hasattr(caught.value, "__notes__"):
        assert caught.value.__notes__ == ["root: at element (1, 2)"]
    assert root(np.abs(x)).max() == math.sqrt(2)

    @vectorize(["float64(int64)"])
    def table(k):
        values = np.array([1.0, 2.0, 4.0])
        return values[k]

    assert table([0, 1, -1]).tolist() == [1, 2, 4]
    with pytest.raises(IndexError, match="out of bounds"):
        table([0, 3])


def test_signatures():
    for text in ("f4(f4,f4)", "float32(float32,float32)", "(float32, float32) -> float32"):
        assert vectorize([text])(lambda x, y: x + y).types == ["ff->f"]
    assert vectorize("int32(int32)")(lambda x: x).types == ["i->i"]
    for text, words in (
        ("float32", "no signature"), ("f99(f4)", "'f99'"), ("void(f4)", "result"), ("f4(f4, f4)", "2 arguments"),
        ("UniTuple(f4, 2)(f4)", "the signature has 2 results, and the function returns 1"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=words):
            vectorize([text])(lambda x: x)
    with pytest.raises(TypeError, match="returns complex128"):
        vectorize(["float64(float64)"])(lambda x: x * 1j)
    with pytest.raises(TranslationError, match="list has no fixed size"):
        vectorize(["float64(float64)"])(lambda x: [x][0])


def test_scalar_types_of_numpy_are_called():
    function = lambda x: np.float32(x) * np.int8(2) if x > 0 else np.float64(0)
    x = np.arange(-3.0, 4)
    np.testing.assert_array_equal(iruka.vectorize(["float64(float64)"])(function)(x), np.vectorize(function)(x))


def test_numpys_vectorize():
    @vectorize
    def clamp(x, top=2):
        return min(x, top)

    for given in ({}, {"top": 2}, {"top": np.int64(2)}):
        assert clamp(iruka.arange(5), **given).tolist() == [0, 1, 2, 2, 2]
    assert isinstance(clamp(np.arange(5), 2), iruka.ndarray)
    whole = vectorize(lambda x: x / 2, otypes=["int32"])
    assert whole(iruka.arange(4.0)).dtype == "int32" and whole([1.0, 4.0]).tolist() == [0, 2]
    with pytest.warns(UserWarning, match="runs in Python, element by element: .*has no kernel") as told:
        text = vectorize(lambda x: len(str(x)))(iruka.arange(9, 12))
    assert [each.filename for each in told] == [__file__]
    assert text.tolist() == [1, 2, 2]
    total = vectorize(np.sum, signature="(n)->()")
    assert total(np.ones((2, 3))).tolist() == [3, 3]


FACTOR = 2


def times_a_global(x):
    return x * FACTOR


def test_numpys_meaning_sees_globals_and_outer_variables_as_they_are():
    global FACTOR
    module = types.SimpleNamespace(offset=1.0)
    table = {"bias": 1}
    made, made_of_floats = iruka.vectorize(times_a_global), iruka.frompyfunc(times_a_global, 1, 1)
    decorated = iruka.vectorize(["int64(int64)"])(times_a_global)
    x = np.arange(5)
    for factor in (2, 7, 2, 0.5, True):
        FACTOR = factor
        np.testing.assert_array_equal(iruka.asnumpy(made(x)), np.vectorize(times_a_global)(x))
        np.testing.assert_array_equal(iruka.asnumpy(made_of_floats(x * 1.0)), np.vectorize(times_a_global)(x * 1.0))
        np.testing.assert_array_equal(iruka.asnumpy(decorated(x)), x * 2)  # Numba's meaning keeps what was there

    def outer():
        bias = 1

        def inner(x):
            return x + bias + module.offset + table["bias"] + times_a_global(x)

        def assign(value):
            nonlocal bias
            bias = value

        return inner, assign

    inner, assign = outer()
    made, expected = iruka.vectorize(inner), np.vectorize(inner)
    np.testing.assert_array_equal(iruka.asnumpy(made(x)), expected(x))
    for change in (lambda: assign(100), lambda: setattr(module, "offset", 9.0), lambda: table.update(bias=-3.5)):
        change()
        np.testing.assert_array_equal(iruka.asnumpy(made(x)), expected(x))
    FACTOR = 11
    np.testing.assert_array_equal(iruka.asnumpy(made(x)), expected(x))
    FACTOR = 2


def magnitude(x):
    return abs(x) + max(x, 1)


def test_a_global_may_hide_a_built_in_later():
    made = iruka.vectorize(magnitude)
    x = np.arange(-3, 4)
    try:
        for hidden in ({}, {"abs": float}, {"max": min}, {}):
            globals().update(hidden)
            np.testing.assert_array_equal(iruka.asnumpy(made(x)), [magnitude(each) for each in x.tolist()])
            for name in hidden:
                del globals()[name]
            np.testing.assert_array_equal(iruka.asnumpy(made(x)), [magnitude(each) for each in x.tolist()])
    finally:
        for name in {"abs", "max"} & set(globals()):
            del globals()[name]


@pytest.mark.parametrize("otypes", ["O", [object]])
def test_objects_are_made_by_python(otypes):
    function = lambda x: x + 1
    with pytest.warns(UserWarning, match="otypes has object"):
        made = iruka.vectorize(function, otypes=otypes)(np.arange(4))
    np.testing.assert_array_equal(iruka.asnumpy(made), np.vectorize(function, otypes=otypes)(np.arange(4)).astype(int))


def test_vectorized_functions_are_objects():
    assert (scaled.__name__, scaled.__doc__) == ("scaled", "x, y times")
    assert repr(scaled) == "<vectorized function scaled(x, y)>"
    assert pickle.loads(pickle.dumps(scaled)) is scaled and scaled != plus
    assert pickle.loads(pickle.dumps(numpys)) is numpys and repr(numpys) == "<vectorized function numpys(x)>"
    makers = [
        lambda function: vectorize(["f8(f8)"])(function),
        lambda function: vectorize(target="parallel")(function),
        lambda function: vectorize(function, otypes=["float32"]),
    ]
    for number, make in enumerate(makers):
        made = make(halved)
        for same in (make(halved), pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
            assert same == made and hash(same) == hash(made) and {made: 1}[same] == 1
            assert same(np.array([3.0])).tolist() == [1.5]
        for other in (makers[number - 1](halved), make(doubled), halved, None):
            assert made != other
    for function in (lambda x: x, vectorize(lambda x: x).pyfunc):
        for made in (vectorize(["f8(f8)"])(function), vectorize(function)):
            assert copy.deepcopy(made) == made
            with pytest.raises(pickle.PicklingError, match="pickled by their names, and .*<lambda> is not this one"):
                pickle.dumps(made)


@pytest.mark.parametrize("decorator", [vectorize(target="cpu"), vectorize(["f8(f8, f8)", "i8(i8, i8)"]), vectorize])
def test_vectorized_functions_are_called_from_threads(decorator):
    @decorator
    def added(x, y):
        return x + y

    start, results = threading.Barrier(8), []

    def call(number):
        start.wait(60)
        dtypes = (np.float64, np.int64, np.float32)
        given = np.arange(9).astype(dtypes[number % 3])
        results.append(added(given, given).sum() == 72)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


class Indirect(Exception):
    pass


@pytest.fixture
def direct():
    """The function, which is called once with its own dtypes; from then on, only calls of its kernels are possible."""

    def prepared(function, *arguments, **attributes):
        function(*arguments)

        def refuse(*arguments, **keywords):
            raise Indirect

        function.call = refuse
        return function

    return prepared


@pytest.mark.cpu_only
def test_calls_of_known_kernels(direct):
    add = direct(vectorize(["f4(f4, f4)"])(lambda x, y: x + y), np.ones(3, "f4"), np.ones(3, "f4"))
    x, y = np.arange(12, dtype="f4").reshape(3, 4), np.arange(4, dtype="f4")
    device = iruka.asarray(x)
    for given in (x, x.T.copy().T, x[::-1, ::2], x[:, 1], x[:, None], x[:0], np.broadcast_to(x, (2, 3, 4))):
        made = add(given, given)
        assert type(made) is np.ndarray and made.dtype == "f4"
        np.testing.assert_array_equal(made, given + given)
    np.testing.assert_array_equal(add(x, y), x + y)
    for number in (2, True, 2.5, -(2**53) + 1, math.inf, -math.nan, 1e-60):
        np.testing.assert_array_equal(add(x, number), x + np.float32(number))
        np.testing.assert_array_equal(add(number, device).get(), x + np.float32(number))
    assert type(add(device, x)) is type(add(x, device)) is iruka.ndarray and add(device, 1).shape == (3, 4)
    for out in (np.empty((3, 4), "f4"), iruka.empty((3, 4), "f4"), np.empty((4, 3), "f4").T):
        for given, expected in ((x, x + x), (device, x + x), (1, x + 1)):
            assert add(x, given, out) is out
            np.testing.assert_array_equal(iruka.asnumpy(iruka.asarray(out)), expected)
    shifted = np.arange(10, dtype="f4")
    assert add(shifted[:-1], 1, shifted[1:]) is not None
    assert shifted.tolist() == [0, *range(1, 10)]
    for scalar in (np.float32(2), np.array(2, "f4")):
        np.testing.assert_array_equal(add(x, scalar), x + np.float32(2))
        assert type(add(scalar, 2)) is np.float32 and add(scalar, 2) == 4 and add(scalar, 2).dtype == "f4"
        assert type(add(scalar, iruka.asarray(np.float32(1)))) is iruka.ndarray
    assert add(x, x, out=None).flags.owndata and add(x, x, out=(out,)) is out


@pytest.mark.cpu_only
def test_other_calls_are_pythons_work(direct):
    add = direct(vectorize(["f4(f4, f4)"])(lambda x, y: x + y), np.ones(3, "f4"), np.ones(3, "f4"))
    x = np.ones((3, 4), "f4")
    read_only, misaligned = x.copy(), np.zeros(49, "i1")[1:].view("f4").reshape(3, 4)
    read_only.flags.writeable = False
    for arguments in (
        (x, x.astype("f8")), (x, x.astype(">f4")), (x, [1, 2, 3, 4]), (x, np.float64(1)), (x, None), (x,), (x, 1j),
        (x, np.longdouble(1)), (x, x[0, :3]), (1, 2), (x, 1e300), (x, 2**60), (x, 2**100), (x, np.datetime64(1, "s")),
        (x, misaligned), (x, np.ma.masked_array(x)), (x, x, x, x), (x, x, read_only), (x, x, misaligned),
        (x, x, np.empty((2, 3, 4), "f4")), (x, x, np.empty((3, 4), "f8")), (x, x, 1), (x, 1, "out"), (),
    ):  # fmt: skip
        with pytest.raises(Indirect):
            add(*arguments)
    for keywords in ({"out": read_only}, {"out": [x]}, {"out": ()}, {"out": (x, x)}, {"out": x, "stream": None}):
        with pytest.raises(Indirect):
            add(x, x, **keywords)
    out = np.empty_like(x)
    assert add(x, x, out=out) is out and (out == x + x).all()
    small = direct(vectorize(["i1(i1, i1)", "u8(u8, u8)"])(lambda x, y: x + y), np.ones(3, "i1"), np.ones(3, "i1"))
    a = np.ones(3, "i1")
    assert small(a, -128).tolist() == [-127] * 3 and small(a, True).tolist() == [2] * 3
    for number in (128, -129, 1.0, 1j):
        with pytest.raises(Indirect):
            small(a, number)
    doubled_integers = direct(vectorize(["i8(i8)"])(doubled), np.ones(3, "i8"))
    assert doubled_integers(np.arange(3, dtype=np.longlong)).tolist() == [0, 2, 4]
    lazy = direct(vectorize(target="cpu")(lambda x, y: x + y), a, 1)
    assert lazy(a, 2).dtype == "i8" and lazy(a, 300).tolist() == [301] * 3
    for arguments in ((a, 1.0), (a, True), (a, a), (a, 2**63)):
        with pytest.raises(Indirect):
            lazy(*arguments)
    roots = direct(vectorize(["f8(f8)"])(root.py_func), np.ones(3))
    assert roots(np.full(3, 4.0)).tolist() == [2.0] * 3
    for arguments in ((np.array([1, -1.0]),), (np.array([1, -1.0]), out[0].astype("f8")[:2])):  # what it raises
        with pytest.raises(Indirect):
            roots(*arguments)
    values = np.full(3, 9.0)
    assert roots(values, np.empty(3)).tolist() == [3] * 3
    with pytest.raises(Indirect):  # the inputs are needed again if it raises
        roots(values, values)


@pytest.mark.cpu_only
def test_casts_in_direct_calls(direct):
    combine = vectorize(["f4(f4, f4)", "f8(f8, f8)"])(lambda x, y: x * 2 + y)
    for first, second in itertools.product(("i2", "u1", "f4", "i8", "f8"), repeat=2):
        combine(np.ones(2, first), np.ones(2, second))
    combine = direct(combine, np.ones(2, "i2"), 1.5)
    for first, second in itertools.product(("i2", "u1", "f4", "i8", "f8"), repeat=2):
        for shape in ((5,), (3, 4), (20_000,), ()):
            x, y = (np.asarray(rng.integers(0, 99, shape)).astype(dtype) for dtype in (first, second))
            y = y[..., ::-1] if y.ndim else y
            wanted = "f8" if np.result_type(x, y) == "f8" or "i8" in (first, second) else "f4"
            for made in (combine(x, y), combine(iruka.asarray(x), y)):
                assert made.dtype == wanted and made.shape == shape
                np.testing.assert_array_equal(iruka.asnumpy(made), x.astype(wanted) * 2 + y)
    scalar = combine(np.int16(3), np.uint8(4))
    assert type(scalar) is np.float32 and scalar == 10
    assert combine(np.ones(2, "i2"), 2.5).dtype == "f8"  # as numpy.result_type says


@pytest.mark.cpu_only
@pytest.mark.parametrize("size", [16, 20_000])
def test_outputs_that_share_memory(direct, size):
    add = direct(vectorize(["f8(f8, f8)"])(lambda x, y: x - y), np.ones(3), np.ones(3))
    for place in (
        lambda a: (a[1:], a[:-1], a[1:]), lambda a: (a[1:], a[:-1], a[:-1]), lambda a: (a, a[::-1], a),
        lambda a: (a[::2], a[1::2], a[::2]), lambda a: (a, a[0], a), lambda a: (a, a[:1], a),
    ):  # fmt: skip
        for convert in (lambda x: x, iruka.asarray):
            a = rng.random(size)
            x, y, _ = place(a)
            expected = x - y
            x, y, out = place(convert(a.copy()))
            assert add(x, y, out=out) is out
            np.testing.assert_array_equal(iruka.asnumpy(out), expected)
    both = vectorize(["UniTuple(f8, 2)(f8, f8)"])(lambda x, y: (x + y, x - y))
    a, b = rng.random(size), rng.random(size)
    expected = a + b, a - b
    for _ in range(2):
        x = a.copy()
        assert both(x, b, out=(x, np.empty(size)))[0] is x
        np.testing.assert_array_equal(x, expected[0])


def test_calls_as_python_allows_them():
    x = np.arange(3.0)
    call = type(plus).__call__
    for made in (plus.__call__(x, x), call(plus, x, x), plus(*[x, x]), plus(x, x, out=None)):
        assert made.tolist() == [0, 2, 4]
    with pytest.raises(TypeError, match="not initialised"):
        type(plus).__new__(type(plus))(x, x)
    for keywords in ({"y": x}, {"outs": x}):
        with pytest.raises(TypeError, match="keyword"):
            plus(x, **keywords)
    with pytest.raises(TypeError):
        plus(x, x, x, out=x)

    class Counted(type(plus)):
        def __call__(self, *arguments):
            return len(arguments)

    assert Counted(lambda x: x, ["f8(f8)"])(x, x, x) == 3


def test_short_calls_in_many_threads():
    add = vectorize(["f8(f8, f8)"])(lambda x, y: x + y)
    wrong = []

    def work(seed):
        mine = np.random.default_rng(seed)
        for _ in range(300):
            x, y = mine.random((2, mine.integers(1, 40)))
            if (add(x, y) != x + y).any():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.cpu_only
def test_direct_calls_give_several_results(direct):
    made = direct(vectorize(["UniTuple(f8, 2)(f8, f8)"])(polar.py_func), np.ones(3), np.ones(3))(np.ones(2), 0.0)
    assert type(made) is tuple and [type(each) for each in made] == [np.ndarray] * 2
    assert [each.tolist() for each in made] == [[1, 1], [0, 0]]


def test_streams():
    x = iruka.arange(5.0)
    for stream in (None, 0, iruka.cuda.Stream.null, iruka.cuda.default_stream(), iruka.cuda.get_current_stream()):
        assert plus(x, 1.5, stream=stream).tolist() == plus(np.arange(5.0), 1.5, stream=stream).tolist()
    before = iruka.cuda.get_current_stream()
    for stream in ("first", 1.5):
        with pytest.raises(TypeError, match="stream must be None, an integer or have an attribute ptr"):
            plus(x, x, stream=stream)
    with pytest.raises(ValueError, match="broadcast"):
        plus(x, x[:2], stream=0)
    assert iruka.cuda.get_current_stream() == before


def test_arrays_under_numbas_names():
    cuda = iruka.cuda
    host = np.arange(6.0).reshape(2, 3)
    x = cuda.to_device(host)
    assert isinstance(x, iruka.ndarray) and x.shape == (2, 3)
    assert (x.copy_to_host() == host).all() and cuda.to_device(x) is not x and cuda.to_device(x, copy=False) is x
    target = np.empty((2, 3))
    assert x.copy_to_host(target) is target and (target == host).all()
    x.copy_to_device(host + 1)
    assert x.tolist() == (host + 1).tolist()
    assert cuda.to_device(host, to=x) is x and x.tolist() == host.tolist()
    made = cuda.device_array((2, 3), np.float32)
    assert made.shape == (2, 3) and made.dtype == "f4" and cuda.device_array(5).shape == (5,)
    assert cuda.device_array_like(iruka.asarray(np.asfortranarray(host))).flags.f_contiguous
    assert cuda.pinned_array((3,), "i4").shape == (3,)
    for action in (
        lambda: x.copy_to_host(np.empty(2)),
        lambda: x.copy_to_device(np.ones(7)),
        lambda: cuda.to_device(host, to=made[0]),
        lambda: cuda.device_array((2, 3), strides=(8, 16)),
    ):
        with pytest.raises(ValueError, match="shape|strides"):
            action()
    assert not cuda.is_cuda_array(host)
    with pytest.raises(TypeError, match="cuda array interface"):
        cuda.as_cuda_array(host)
    cuda.synchronize()


def test_out_by_keyword_is_written_in_place():
    added = iruka.vectorize(["float32(float32, float32)"])(lambda x, y: x + y)
    x, out = np.arange(6, dtype="f4"), np.zeros(6, "f4")
    for _ in range(3):  # the first call makes the kernel
        assert added(x, x, out=out) is out
        np.testing.assert_array_equal(out, x + x)
        out[:] = 0
    wide = np.zeros((2, 6), "f4")
    assert added(x, x, out=wide) is wide
    np.testing.assert_array_equal(wide, [x + x] * 2)
    with pytest.raises(TypeError):
        added(x, out=out)
    with pytest.raises(TypeError):
        added(x, x, x, out=out)
    with pytest.raises(ValueError, match="read-only"):
        added(x, x, out=np.broadcast_to(np.float32(0), 6))


def test_streams_and_arrays_under_numbas_names():
    cuda = iruka.cuda
    stream = cuda.stream()
    x = np.arange(5.0)
    on_device = cuda.to_device(x, stream=stream)
    doubled = iruka.vectorize(["float64(float64)"], target="cuda")(lambda a: a * 2)(on_device, stream=stream)
    stream.synchronize()
    assert cuda.is_cuda_array(on_device)
    assert cuda.as_cuda_array(doubled).copy_to_host().tolist() == [0, 2, 4, 6, 8]
    from iruka.cuda.stream import Stream

    assert Stream is cuda.Stream is cuda.stream.Stream
