"""reduce and accumulate of vectorized functions, failed elements, and ways to write signatures."""

import math

import numpy as np
import pytest

import iruka

lazy = iruka.vectorize(target="cpu")


@lazy
def mean_of_two(a, b):
    return (a + b) / 2


def test_folds_take_the_dtype_of_their_own_results():
    x = np.array([1, 2, 4])
    expected = np.frompyfunc(mean_of_two.py_func, 2, 1)
    assert mean_of_two.reduce(x) == expected.reduce(x.astype(object)) == 2.75
    np.testing.assert_array_equal(mean_of_two.accumulate(x), [1, 1.5, 2.75])
    rows = np.array([[1, 2], [4, 8]], "float32")
    made = mean_of_two.reduce(rows, axis=np.int64(0))
    assert made.dtype == mean_of_two(rows, rows).dtype
    np.testing.assert_array_equal(made, [2.5, 5])
    np.testing.assert_array_equal(mean_of_two.reduce(rows, axis=None, keepdims=True), [[5.375]])
    assert lazy(lambda a, b: a + b).reduce(np.array([100, 100, 100], "int8")) == 300
    turned = lazy(lambda a, b: a * 1j + b).reduce(np.ones(3))
    assert turned == 1j


def test_folds_without_a_dtype_of_their_own_are_refused():
    with pytest.raises(TypeError, match="cannot fold float64: of two float64 it makes bool"):
        lazy(lambda a, b: a > b).reduce(np.ones(3))


@pytest.mark.parametrize("axis", [None, (0, 1)])
def test_accumulate_takes_one_axis(axis):
    with pytest.raises(ValueError, match="one axis, not 2"):
        mean_of_two.accumulate(np.ones((2, 2)), axis=axis)


def test_axes_of_folds():
    with pytest.raises(ValueError, match="repeated axis"):
        mean_of_two.reduce(np.ones((2, 2)), axis=(0, 0))
    with pytest.raises(np.exceptions.AxisError):
        mean_of_two.reduce(np.ones((2, 2)), axis=-3)


def added_below_four(a, b):
    if a + b >= 4:
        raise KeyError("mine")
    return a + b


def element_of_three(a, b):
    t = np.array([1, 0, 2])
    return t[a] + b


@pytest.mark.cpu_only
def test_folds_raise_what_the_function_raises():
    add = iruka.vectorize(["float64(float64, float64)"])(added_below_four)
    rows = np.array([[1.0, 1.0], [0.5, 1.0], [1.0, 3.0], [9.0, 9.0]])
    for fold in (lambda: add.reduce([1.0, 3.0]), lambda: add.accumulate([1.0, 3.0])):
        with pytest.raises(KeyError) as caught:
            fold()
        assert caught.value.args == ("mine",) and caught.value.__notes__ == ["added_below_four: in the fold"]
    for fold in (lambda: add.reduce(rows, axis=1), lambda: add.accumulate(rows, axis=1)):
        with pytest.raises(KeyError) as caught:
            fold()
        assert caught.value.__notes__ == ["added_below_four: in the fold at (2,)"]
    assert add.reduce([1.0, 1.0, 1.5]) == 3.5 and add.accumulate([1.0, 1.0]).tolist() == [1, 2]
    for dtype in ("int64", "uint8"):
        with pytest.raises(IndexError):
            lazy(element_of_three).reduce(np.array([1, 2, 2, 1], dtype))
    assert lazy(element_of_three).reduce(np.array([1, 2, 0])) == 2


@pytest.mark.cpu_only
def test_folds_are_replayed_in_their_dtype():
    """Results wrap on the way, so that other numbers than Python's reach the exception."""

    def function(a, b):
        if a < 0:
            raise ValueError(f"below 0: {a}")
        return a + b

    add = iruka.vectorize(["int8(int8, int8)"])(function)
    with pytest.raises(ValueError, match="below 0: -56"):
        add.reduce(np.array([100, 100, 1], "int8"))


def test_a_failed_element_is_that_of_the_inputs():
    @iruka.vectorize(["float64(float64)"])
    def positive(x):
        if x < 0:
            raise ValueError("negative")
        return x + 1

    x = np.array([3.0, -1.0])
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            positive(x, out=x)
        np.testing.assert_array_equal(x, [3, -1])


@pytest.mark.cpu_only
def test_elements_that_fail_in_the_dtype_alone():
    @iruka.vectorize(["float32(float32)"])
    def square(x):
        if x * x == math.inf:
            raise ValueError("too large")
        return x * x

    with pytest.raises(ValueError, match="too large"):
        square(np.array([1, 1e30], "float32"))


@pytest.mark.parametrize(
    "signature",
    [
        "void(float64[::1], float64[:, ::1], float64[:])",
        "(array(float64, 1d, C), array(float64, 2d, A), array(float64, 1d, A)) -> none",
        "void(Array(float64, 1, 'C'), Array(float64, 2, 'C', False, aligned=True), float64[:])",
    ],
)
def test_types_of_arrays_as_numba_writes_them(signature):
    @iruka.guvectorize([signature], "(n),(m,n)->(n)")
    def add_first(x, rows, out):
        for k in range(len(x)):
            out[k] = x[k] + rows[0, k]

    np.testing.assert_array_equal(add_first(np.arange(3.0), np.ones((2, 3))), [1, 2, 3])


def test_equal_signatures_make_equal_functions():
    def double(x):
        return 2 * x

    first, second = (iruka.vectorize([text])(double) for text in ("float64( float64 )", "(float64,) -> float64"))
    assert first == second and hash(first) == hash(second)
    with pytest.raises(TypeError, match="guvectorize: the type 'float65'"):
        iruka.guvectorize(["(float65[:], float64[:])"], "(n)->(n)")(lambda x, out: None)


def test_given_outputs_of_generalized_functions_keep_what_they_hold():
    @iruka.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def add(x, out):
        for k in range(len(x)):
            out[k] += x[k]

    for _ in range(3):  # the first call is another way than the later ones
        for dtype in ("float64", "float32"):
            total = np.full((2, 3), 10, dtype)
            add(np.ones((2, 3)), total)
            np.testing.assert_array_equal(total, np.full((2, 3), 11))
        own = np.array([1.0, 2.0, 3.0])
        add(own, out=own)
        np.testing.assert_array_equal(own, [2, 4, 6])
        shifted = np.arange(5.0)
        add(shifted[:-1], out=shifted[1:])  # as if the input had been copied before
        np.testing.assert_array_equal(shifted, [0, 1, 3, 5, 7])


def test_numbers_in_a_layout_are_extents():
    @iruka.guvectorize(["void(float64[:], float64[:], float64[:], float64[:])"], "(n),(3)->(n),(2)")
    def scaled(x, weights, out, ends):
        for k in range(len(x)):
            out[k] = x[k] * weights[1]
        ends[0], ends[1] = weights[0], weights[2]

    for _ in range(2):
        out, ends = scaled(np.ones((2, 4)), np.arange(3.0))
        np.testing.assert_array_equal(out, np.ones((2, 4)))
        np.testing.assert_array_equal(ends, [[0, 2], [0, 2]])
        with pytest.raises(ValueError, match="size 4 is different from 3"):
            scaled(np.ones(4), np.arange(4.0))


def test_python_integers_are_integers_where_no_loop_takes_them_as_the_arrays():
    @iruka.guvectorize(["void(float64[:, :], int64, float64[:])"], "(m,n),()->(n)")
    def row(x, k, out):
        for j in range(x.shape[1]):
            out[j] = x[k, j]

    power = iruka.vectorize(["float64(float64, int64)"])(lambda x, k: x**k)
    x = np.arange(6.0).reshape(2, 3)
    for _ in range(3):
        np.testing.assert_array_equal(row(x, 1), x[1])
        np.testing.assert_array_equal(power(x, 3), x**3)
        for call in (lambda: row(x, 1.0), lambda: row(x, np.float64(1)), lambda: power(x, 2.5), lambda: power(x, x)):
            with pytest.raises(TypeError, match="did not contain a loop"):
                call()
