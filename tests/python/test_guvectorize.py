"""guvectorize: Python functions of the last axes of arrays, over all the others."""

import copy
import pickle
import threading

import numpy as np
import pytest

import iruka
from iruka import guvectorize
from iruka.errors import TranslationError

rng = np.random.default_rng(3)


@guvectorize(["void(int64[:], int64, int64[:])", "void(float64[:], float64, float64[:])"], "(n),()->(n)")
def plus(x, y, out):
    """x + y of each row"""
    for k in range(x.shape[0]):
        out[k] = x[k] + y


@guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def product(a, b, out):
    m, n = a.shape
    _, p = b.shape
    for i in range(m):
        row = a[i]
        for j in range(p):
            total = 0.0
            for k in range(n):
                total += row[k] * b[k, j]
            out[i, j] = total


@guvectorize("void(float32[:], float64[:], int64[:])", "(n)->(),()")
def mean_and_place(x, mean, place):
    mean[0] = place[0] = 0
    best = x[0]
    for k, value in enumerate(x):
        mean[0] += value
        if value > best:
            best, place[0] = value, k
    mean[0] /= len(x)


LAYOUTS = [
    lambda x: x,
    lambda x: np.asfortranarray(x),
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    lambda x: x[::-1, ..., ::-1],
    lambda x: np.broadcast_to(x[:1], x.shape),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows(layout):
    x = layout(rng.integers(-9, 9, (4, 3, 5)))
    y = rng.integers(-9, 9, (3,))
    assert type(plus(x, y)) is np.ndarray
    np.testing.assert_array_equal(plus(x, y), x + y[:, None])
    np.testing.assert_array_equal(plus(x * 0.5, 1.5), x * 0.5 + 1.5)
    on_device = plus(iruka.asarray(x), y)
    assert isinstance(on_device, iruka.ndarray)
    np.testing.assert_array_equal(on_device.get(), x + y[:, None])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices(layout):
    a, b = layout(rng.normal(size=(7, 1, 3, 4))), layout(rng.normal(size=(5, 4, 2)))
    np.testing.assert_allclose(product(a, b), a @ b, rtol=1e-12, atol=1e-12)
    assert product(a[0, 0], b[0]).shape == (3, 2)
    assert product(np.ones((0, 3, 4)), b[0]).shape == (0, 3, 2)
    assert not product(np.ones((2, 3, 0)), np.ones((0, 2))).any()


def test_numbers_as_results():
    x = rng.normal(size=(6, 9)).astype("float32")
    mean, place = mean_and_place(x)
    np.testing.assert_allclose(mean, x.astype("f8").mean(axis=1))
    np.testing.assert_array_equal(place, x.argmax(axis=1))
    assert mean_and_place(x[0])[1] == x[0].argmax() and mean_and_place.nout == 2


def test_out():
    x, out = np.arange(6.0).reshape(2, 3), np.empty((2, 3))
    assert plus(x, 1, out=out) is out and (out == x + 1).all()
    plus(x, 2, out)
    assert (out == x + 2).all()
    narrow = np.empty((2, 3), "f4")
    plus(x, 1, out=narrow)
    assert (narrow == x + 1).all()
    shifted = np.arange(6.0)
    plus(shifted[:-1], 1.0, out=shifted[1:])
    assert shifted.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(TypeError, match="same_kind"):
        plus(x, 1.5, out=np.empty((2, 3), "i8"))
    with pytest.raises(ValueError, match="shape"):
        plus(x, 1, out=np.empty(3))


def test_without_signatures():
    @guvectorize("(n)->(n)")
    def reverse(x, out):
        for k in range(len(x)):
            out[-1 - k] = x[k]

    for dtype in ("int8", "float32", "complex128"):
        x = np.arange(6).reshape(2, 3).astype(dtype)
        out = np.zeros_like(x)
        reverse(x, out)
        np.testing.assert_array_equal(out, x[:, ::-1])
    with pytest.raises(TypeError, match="the outputs must be given"):
        reverse(x)


def test_wrong_calls():
    for arguments, kind, words in (
        ((np.ones((2, 3)), np.ones((4, 2))), ValueError, r"core dimension 0.*\(size 4 is different from 3\)"),
        ((np.ones(3), np.ones((3, 2))), ValueError, "does not have enough dimensions"),
        ((np.ones((2, 3, 4)), np.ones((3, 4, 5))), ValueError, "broadcast"),
        ((np.ones((2, 3)),), TypeError, "takes 2 inputs, not 1"),
        ((np.ones((2, 3)) * 1j, np.ones((3, 2))), TypeError, "did not contain a loop"),
    ):
        with pytest.raises(kind, match=words):
            product(*arguments)
    for layout in ("(n)", "(n)->(m)", "n->n", "(n,)->()", ""):
        with pytest.raises(ValueError, match=r"layout|dimension"):
            guvectorize(["void(f8[:], f8[:])"], layout)(lambda x, out: None)
    with pytest.raises(TypeError, match="axes"):
        guvectorize(["void(f8[:,:], f8[:])"], "(n)->(n)")(plus.py_func)
    with pytest.raises(TypeError, match="arrays, and the signature"):
        guvectorize(["void(f8[:])"], "(n)->(n)")(plus.py_func)


def writes_to_an_input(x, out):
    x[0] = 1


def takes_a_slice(x, out):
    out[0] = x[1:][0]


def takes_too_many_indices(x, out):
    out[0] = x[0, 0]


def returns_a_number(x, out):
    return x[0]


def unpacks_an_array(x, out):
    out[0], b = x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (writes_to_an_input, "this array is an input"),
        (takes_a_slice, "slices of arrays"),
        (takes_too_many_indices, "takes 1 indices, not 2"),
        (unpacks_an_array, r"float64 array of 1 axis cannot be unpacked; write its elements, a\[0\], a\[1\]"),
    ],
)
def test_what_has_no_kernel(function, words):
    with pytest.raises(TranslationError, match=words):
        guvectorize(["void(f8[:], f8[:])"], "(n)->()")(function)


def reversed_row(x, out):
    for k in range(len(x)):
        out[k] = x[-1 - k]


def test_generalized_functions_are_objects():
    assert repr(plus) == "<generalized function plus(x, y, out) of (n),()->(n)>"
    assert plus.__doc__ == "x + y of each row" and pickle.loads(pickle.dumps(plus)) is plus != product
    makers = [
        lambda: guvectorize(["void(f8[:], f8[:])"], "(n)->(n)")(reversed_row),
        lambda: guvectorize(["void(f8[:], f8[:])"], "(m)->(m)")(reversed_row),
        lambda: guvectorize(["void(f4[:], f8[:])"], "(n)->(n)")(reversed_row),
        lambda: guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", target="parallel")(reversed_row),
    ]
    for number, make in enumerate(makers):
        made = make()
        for same in (make(), pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
            assert same == made and hash(same) == hash(made)
            assert same(np.arange(3, dtype="f4")).tolist() == [2, 1, 0]
        assert all(made != other() for other in makers[:number] + makers[number + 1 :]) and made != reversed_row

    @guvectorize(["void(f8[:], f8[:])"], "(n)->()")
    def inner(x, out):
        out[0] = x[0]

    with pytest.raises(pickle.PicklingError, match="<locals>.inner is not this one"):
        pickle.dumps(inner)


@pytest.mark.parametrize("signatures", [["void(f8[:], f8, f8[:])"], None])
def test_generalized_functions_are_called_from_threads(signatures):
    start, results = threading.Barrier(8), []
    layout = "(n),()->(n)"
    shift = (guvectorize(signatures, layout) if signatures else guvectorize(layout))(plus.py_func)

    def call(dtype):
        start.wait(60)
        out = np.zeros((2, 3))
        shift(np.ones((2, 3), dtype), dtype(2), out, stream=0)
        results.append((out == 3).all())

    threads = [threading.Thread(target=call, args=((np.float32, np.float64)[k % 2],)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


@pytest.mark.cpu_only
def test_errors_of_the_function_are_raised():
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def beyond(x, out):
        out[:] = 7
        if x[0] < 0:
            raise ValueError(f"negative: {x[0]}")
        out[int(x[0])] = 1

    assert beyond(np.array([[1.0, 0, 0], [2, 0, 0]])).tolist() == [[7, 1, 7], [7, 7, 1]]
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        beyond(np.array([[1.0, 0, 0], [3, 0, 0]]))
    with pytest.raises(ValueError, match=r"negative: -1\.0") as caught:
        beyond(np.array([[1.0, 0, 0], [-1, 0, 0]]))
    assert caught.value.__notes__ == ["beyond: at (1,)"]


def set_first(out, value):
    out[0] = value


def test_a_helper_writes_into_an_array_it_is_given():
    @guvectorize("void(float64[:], float64[:])", "(n)->()")
    def total(x, out):
        set_first(out, 0)
        for value in x:
            set_first(out, out[0] + value)

    x = rng.random((5, 7))
    np.testing.assert_allclose(total(x), x.sum(1))


class Indirect(Exception):
    pass


@pytest.fixture
def direct():
    """The function, which is called once with its own dtypes; from then on, only calls of its kernels are possible."""

    def prepared(function, *arguments):
        function(*arguments)

        def refuse(*arguments, **keywords):
            raise Indirect

        function.call = refuse
        return function

    return prepared


def added(x, y, out):
    for k in range(len(x)):
        out[k] = x[k] + y


@pytest.mark.cpu_only
@pytest.mark.parametrize("layout", LAYOUTS)
def test_calls_of_known_kernels(direct, layout):
    add = direct(guvectorize(["void(f8[:], f8, f8[:])"], "(n),()->(n)")(added), np.ones(3), 1.0)
    x, y = layout(rng.random((4, 3, 5))), rng.random((3,))
    expected = x + y[:, None]
    for given in (x, iruka.asarray(x)):
        for other in (y, iruka.asarray(y)):
            made = add(given, other)
            assert type(made) is (np.ndarray if given is x and other is y else iruka.ndarray)
            np.testing.assert_array_equal(iruka.asnumpy(made), expected)
    np.testing.assert_array_equal(add(x, 2.5), x + 2.5)
    np.testing.assert_array_equal(add(x[0, 0], rng.random((0, 2))), np.zeros((0, 2, 5)))
    assert add(x[..., :0], y).shape == (4, 3, 0)
    for out in (np.empty((4, 3, 5)), np.empty((5, 3, 4)).T, iruka.empty((4, 3, 5))):
        for arguments, keywords in (((x, y, out), {}), ((x, y), {"out": out}), ((x, y), {"out": (out,)})):
            assert add(*arguments, **keywords) is out
            np.testing.assert_array_equal(iruka.asnumpy(out), expected)
            out[...] = 7
    for number in (2.5, 3, True, np.float64(2.5), np.array(2.5)):
        np.testing.assert_array_equal(add(x, number), x + number)
        np.testing.assert_array_equal(add(iruka.asarray(x), number).get(), x + number)
    for flip in (slice(None), slice(None, None, -1)):
        copied = x.copy()
        assert add(copied, y, copied[flip]) is not None
        np.testing.assert_array_equal(copied[flip], expected)


@pytest.mark.cpu_only
def test_direct_calls_of_matrices_and_several_results(direct):
    multiply = direct(
        guvectorize(["void(f8[:,:], f8[:,:], f8[:,:])"], "(m,n),(n,p)->(m,p)")(product.py_func),
        np.ones((2, 2)), np.ones((2, 2)),
    )  # fmt: skip
    a, b = rng.random((4, 1, 2, 3)), rng.random((5, 3, 7))
    np.testing.assert_allclose(multiply(a, b), a @ b, rtol=1e-14)
    signature = "void(f4[:], f8[:], i8[:])"
    means = direct(guvectorize([signature], "(n)->(),()")(mean_and_place.py_func), np.ones((1, 2), "f4"))
    x = rng.random((3, 4, 6)).astype("f4")
    mean, place = means(x)
    np.testing.assert_allclose(mean, x.mean(-1), rtol=1e-6)
    np.testing.assert_array_equal(place, x.argmax(-1))


@pytest.mark.cpu_only
def test_other_calls_are_pythons_work(direct):
    add = direct(guvectorize(["void(f8[:], f8, f8[:])"], "(n),()->(n)")(added), np.ones(3), 1.0)
    x, read_only = np.ones((2, 3)), np.empty((2, 3))
    read_only.flags.writeable = False
    for arguments in (
        (x,), (x, 1j), (x.astype("f4"), 1.0), (1.0, 1.0), (x, np.ones(3)), ([1.0], 1.0), (x, np.longdouble(1)),
        (x, "1"), (x, 2**70), (x, 1.0, np.empty((2, 3), "f4")), (x, 1.0, np.empty((3, 2))), (x, 1.0, 2.0),
        (x, 1.0, read_only), (x, 1.0, np.empty((4, 2, 3))), (x, 1.0, x, x), (),
    ):  # fmt: skip
        with pytest.raises(Indirect):
            add(*arguments)
    with pytest.raises(Indirect):
        add(x, 1.0, out=[np.empty((2, 3))])
    largest = direct(guvectorize(["void(f8[:], f8[:])"], "(n)->()")(lambda x, out: first_to(x, out)), np.ones((1, 3)))
    assert largest(np.arange(6.0).reshape(2, 3)).tolist() == [0.0, 3.0]
    assert type(largest(np.arange(3.0))) is np.float64 and largest(np.arange(2.0, 4)) == 2
    for arguments in ((np.ones((2, 0)),), (x, x[:, 0])):  # an IndexError, and an input that is needed if there is one
        with pytest.raises(Indirect):
            largest(*arguments)


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64"])
def test_numbers_as_inputs(dtype):
    """What Numba's functions take, whose ufuncs read Python's numbers by the dtypes of the arrays."""
    name = np.dtype(dtype).char
    scaled = guvectorize([f"void({dtype}[:], {dtype}, {dtype}[:])"], "(n),()->(n)")(multiplied)
    x = np.arange(1, 5).astype(dtype)
    numbers = [3, True, -2, np.dtype(dtype).type(3)] + ([2.5, np.float32(1.5)] if name in "fd" else [])
    for number in (number for number in numbers for _ in range(2)):
        for made in (scaled(x, number), scaled(x, number, np.empty_like(x))):
            assert made.dtype == dtype
            np.testing.assert_array_equal(made, (x * number).astype(dtype))
        np.testing.assert_array_equal(scaled(iruka.asarray(x), number).get(), (x * number).astype(dtype))
    for number in [1j, "3", None] + ([] if name in "fd" else [2.5]) + ([np.float64(2)] if name != "d" else []):
        for _ in range(2):
            with pytest.raises(TypeError):
                scaled(x, number)
    if dtype == "int8":
        with pytest.raises(OverflowError, match="300"):
            scaled(x, 300)
    with pytest.raises(TypeError, match="out must be an array"):
        scaled(x, 1, 2)


@pytest.mark.parametrize("size", [4, 3000])
def test_outputs_that_share_memory(size):
    add = guvectorize(["void(f8[:], f8, f8[:])"], "(n),()->(n)")(added)
    pairs = guvectorize(["void(f8[:], f8[:])"], "(n)->()")(summed)
    for k in range(4):
        x, y = rng.random((size, 5)), rng.random(size)
        expected = x + y[:, None]
        out = (x, x[::-1], x[:, ::-1], x)[k]
        assert add(x, y, out) is out
        np.testing.assert_array_equal(out, expected)
        total = expected.sum(axis=1)
        assert pairs(out, out[:, k]) is not None
        np.testing.assert_allclose(out[:, k], total, rtol=1e-12)


def test_positional_outputs_are_returned():
    x, mean, place = rng.random((5, 3)).astype("f4"), np.empty(5), np.empty(5, "i8")
    for _ in range(2):
        returned = mean_and_place(x, mean, place)
        assert type(returned) is tuple and returned[0] is mean and returned[1] is place
        assert type(mean_and_place(x, out=(mean, place))) is tuple
        number, index = mean_and_place(x[0])
        assert type(number) is np.float64 and type(index) is np.int64
    out = np.empty((2, 3))
    for _ in range(2):
        assert plus(np.ones((2, 3)), 1.0, out) is out and plus(np.ones((2, 3)), 1.0, out=(out,)) is out


def summed(x, out):
    total = 0.0
    for value in x:
        total += value
    out[0] = total


def multiplied(x, y, out):
    for k in range(len(x)):
        out[k] = x[k] * y


def first_to(x, out):
    out[0] = x[0]


def test_functions_whose_result_is_a_call():
    def returning(x, out):
        return first_to(x, out)

    for function in (returning, lambda x, out: first_to(x, out)):
        last = guvectorize(["void(f8[:], f8[:])"], "(n)->()")(function)
        np.testing.assert_array_equal(last(np.arange(6.0).reshape(2, 3)), [0, 3])
        with pytest.raises(IndexError):
            last(np.ones((2, 0)))


def test_errors_of_calls_that_wrote_before():
    with pytest.raises(IndexError):
        for size in (3, 3, 0):
            first(np.ones((2, size)))
    x = np.arange(6.0).reshape(2, 3)
    shifted = guvectorize(["void(f8[:], f8, f8[:])"], "(n),()->(n)")(added)
    for _ in range(2):
        shifted(x, 1.0, x)
    np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3) + 2)


@guvectorize(["void(f8[:], f8[:])"], "(n)->()")
def first(x, out):
    out[0] = x[0]


@pytest.mark.skipif(iruka.default_device().name != "cpu", reason="a GPU's kernel asserts")
def test_a_function_that_raises_sees_the_outputs_as_they_were_given():
    @iruka.guvectorize(["void(float64, float64[:])"], "()->()")
    def added(x, out):
        out[0] += x
        if out[0] == 1:
            raise KeyError("one")

    for calls in range(3):  # the first is that of the Python class
        out = np.array([0.0, 5.0])
        with pytest.raises(KeyError, match="one"):
            added(np.ones(2), out)
        assert out.tolist() == [1, 6], calls
        device = iruka.asarray([[5.0], [0.0]])
        with pytest.raises(KeyError, match="one"):
            added(iruka.ones((2, 1)), device)
        assert device.tolist() == [[6], [1]]
        out = np.array([5.0, 5.0])
        added(np.ones(2), out)
        assert out.tolist() == [6, 6]


def test_other_keywords_are_refused_by_the_functions_name():
    @iruka.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", fastmath=True)
    def copied(x, out):
        for k in range(len(x)):
            out[k] = x[k]

    twice = iruka.vectorize(["float64(float64)"])(lambda x: 2 * x)
    assert copied(np.ones(3)).tolist() == [1, 1, 1]
    for call, name in ((copied, "copied"), (twice, "<lambda>")):
        with pytest.raises(TypeError, match=f"^{name}.. got an unexpected keyword argument 'order'; it takes out="):
            call(np.ones(3), order=0)
