"""guvectorize: arithmetic of whole arrays in the function, and the keywords axis, axes and keepdims of its calls."""

import math

import numpy as np
import pytest

import iruka
from iruka import guvectorize, jit, vectorize
from iruka.errors import AxisError, TranslationError

rng = np.random.default_rng(4)


def scaled(x, y, out):
    out[:] = x * 2 + y


def mixed(x, y, out):
    out[:] = np.where(x > 1, -x, np.sin(x)) + abs(x) ** 2 / (x[0] + 3)


def in_place(x, y, out):
    out[...] = y
    out[:] += x[:]
    out *= 2
    out[:] = np.minimum(out, out[1]) - out[1]


def conditions(x, y, out):
    out[:] = (x > 0) & (x < 1) | np.isfinite(y)


def clipped(x, y, out):
    out[:] = np.clip(np.round(x, 1), -1, y)


def filled(x, y, out):
    out[:] = x[1] if y > 0 else 7


@pytest.mark.parametrize("function", [scaled, mixed, in_place, conditions, clipped, filled])
def test_assignments_of_arrays(function):
    """The function itself computes the same with NumPy's arrays."""
    made = guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")(function)
    x, y = rng.normal(size=(4, 5, 6)), rng.normal(size=5)
    expected = np.empty_like(x)
    for i, j in np.ndindex(4, 5):
        function(x[i, j], y[j], expected[i, j])
    np.testing.assert_allclose(made(x, y), expected, rtol=1e-13)
    np.testing.assert_allclose(made(x[..., ::-1], y), made(np.ascontiguousarray(x[..., ::-1]), y), rtol=1e-13)
    assert made(x[:0], y).shape == (0, 5, 6)


def rows(x, y, out):
    out[:] = x * y
    out[0, :] = out[0] * 10 - y
    out[1][:] -= y[:]
    for row in out:
        row[:] = row / 2


def columns_of_one_row(x, y, out):
    out[:, :] = x - x[0]


@pytest.mark.parametrize("function", [rows, columns_of_one_row])
def test_rows_and_matrices(function):
    made = guvectorize(["void(float64[:,:], float64[:], float64[:,:])"], "(m,n),(n)->(m,n)")(function)
    x, y = rng.normal(size=(3, 2, 5)), rng.normal(size=5)
    expected = np.empty_like(x)
    for k in range(3):
        function(x[k], y, expected[k])
    np.testing.assert_allclose(made(x, y), expected, rtol=1e-13)


def row_of_the_target(x, y, out):
    out[:] = x
    out[:] = out[0] * 2


def test_a_row_of_the_target_is_not_read_while_it_changes():
    signature, layout = ["void(float64[:,:], float64[:], float64[:,:])"], "(m,n),(n)->(m,n)"
    with pytest.raises(TranslationError, match="may be one of those that are assigned to; write a loop"):
        guvectorize(signature, layout)(row_of_the_target)
    made = guvectorize(signature, layout)(lambda x, y, out: copy_row(x, out))
    x = rng.normal(size=(3, 2))
    np.testing.assert_array_equal(made(x, x[0]), [x[1]] * 3)


def copy_row(x, out):
    out[:] = x
    out[:] = out[1]


def test_elements_are_those_of_a_loop():
    """Integers of an expression have 64 bits, as in a loop."""
    made = guvectorize(["void(int8[:], int8[:], int64[:])"], "(n),(n)->(n)")(summed)
    x = np.array([100, -100, 3], "i1")
    assert made(x, x).tolist() == [200, -200, 6]
    fixed = guvectorize(["void(float64[:], float64[:])"], "(3)->(3)")(lambda x, out: set_double(x, out))
    assert fixed(np.arange(3.0)).tolist() == [0, 2, 4]


def summed(x, y, out):
    out[:] = x + y


def set_double(x, out):
    out[:] = 2 * x


@pytest.mark.cpu_only
def test_errors_within_an_expression():
    made = guvectorize(["void(float64[:,:], int64, float64[:])"], "(m,n),()->(n)")(row_at)
    x = rng.normal(size=(2, 3, 4))
    np.testing.assert_array_equal(made(x, 2), x[:, 2] * 2)
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        made(x, 3)


def row_at(x, k, out):
    out[:] = x[k] * 2


def other_axes(x, y, out):
    out[:] = x + y


def a_new_array(x, y, out):
    z = x * 2
    out[:] = z


def a_number_for_an_array(x, y, out):
    out[0] = x * 2


def a_slice(x, y, out):
    out[:] = x[1:]


def a_method(x, y, out):
    out[0] = x.sum()


def a_reduction(x, y, out):
    out[0] = np.sum(x)


def a_sum(x, y, out):
    out[0] = sum(x)


def an_array_like(x, y, out):
    z = np.empty_like(x)
    out[0] = z[0]


def an_array_as_long(x, y, out):
    z = np.zeros(x.shape[0])
    out[0] = z[0]


def of_math(x, y, out):
    out[:] = math.sin(x)


def a_condition(x, y, out):
    if x > 1:
        out[0] = 1


def two_targets(x, y, out):
    out[:] = out[:] = x * 2


def writes_an_input(x, y, out):
    x[:] = 2 * x


def a_positional_output(x, y, out):
    np.add(x, 1, out)


def a_clipped_output(x, y, out):
    np.clip(x, 0, 1, out)


def nothing_takes_it(x, y, out):
    out[:] = 1
    x + 1


def several_at_once(x, y, out):
    out[:], out[0] = x * 2, 3


def a_local_array(x, y, out):
    z = np.zeros(3)
    out[0] = (z * 2)[0]


@pytest.mark.parametrize(
    "function, words",
    [
        (other_axes, r"axes \(n\) and \(m\) of the layout may have different lengths; write a loop"),
        (a_new_array, r"assign to one that is there, as out\[:\] = ..., and for 'z' add an output to the layout"),
        (a_number_for_an_array, r"an element must be a number, not an array that is computed; write a loop"),
        (a_slice, r"slices of arrays are not supported here; .*for k in range\(1, x.shape\[0\]\)"),
        (a_method, r"has no attribute 'sum' in a kernel; write a loop over the elements, for k in range"),
        (a_reduction, r"sum\(\) has no kernel; it takes numbers here; write a loop"),
        (a_sum, "cannot be unpacked; write its elements, .* or a loop over them"),
        (an_array_like, r"empty_like\(\) has no kernel; .*numpy.zeros\(4\); .* add an output to the layout"),
        (an_array_as_long, "the shape of an array must be known .* add an output to the layout"),
        (of_math, r"sin\(\) takes numbers, not float64 array of 1 axis; write a loop"),
        (a_condition, "an array that is computed is neither true nor false here; write a loop"),
        (two_targets, "one target; write a statement for each"),
        (writes_an_input, "this array is an input"),
        (a_positional_output, r"an output among the arguments of add\(\) .* write out\[:\] = add"),
        (a_clipped_output, r"an output among the arguments of clip\(\)"),
        (nothing_takes_it, "an array that nothing takes; assign it"),
        (several_at_once, "one by one: each in a statement of its own"),
        (a_local_array, r"\* takes numbers, not float64 array of shape \(3,\) and int64; write a loop"),
    ],
)
def test_what_has_no_kernel(function, words):
    with pytest.raises(TranslationError, match=words) as caught:
        guvectorize(["void(float64[:], float64[:], float64[:])"], "(m),(n)->(m)")(function)
    first, line, caret = str(caught.value).split("\n")
    assert f"{function.__name__} has no kernel" in first and "test_guvectorize_arrays.py, line" in first
    assert caret.strip() == "^" and len(caret) <= len(line)


@pytest.mark.parametrize(
    "body", [lambda x: x * 2, lambda x: -x, lambda x: np.exp(x), lambda x: x.sum(), lambda x: np.sum(x)]
)
def test_threads_compute_with_elements(body):
    with pytest.raises(TranslationError, match=r"a thread computes with elements, x\[i\] with i = jit.grid\(1\)"):
        jit.rawkernel()(body)[1, 1](iruka.zeros(3))


# The keywords of calls


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def inner(x, y, out):
    out[0] = 0
    for k in range(len(x)):
        out[0] += x[k] * y[k]


@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def running(x, out):
    total = 0.0
    for k in range(len(x)):
        total += x[k]
        out[k] = total


@guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


@guvectorize(["void(float64[:,:], float64, float64[:], float64[:])"], "(m,n),()->(m),()")
def sums(x, y, rows, total):
    total[0] = y
    for i in range(x.shape[0]):
        rows[i] = 0
        for value in x[i]:
            rows[i] += value
            total[0] += value


HOST, DEVICE = (lambda x: x), iruka.asarray


@pytest.mark.parametrize("convert", [HOST, DEVICE])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_axis(convert, axis):
    x, y = rng.normal(size=(2, 3, 4, 5))
    expected = (x * y).sum(axis)
    made = inner(convert(x), convert(y), axis=axis)
    assert type(made) is type(convert(x))
    np.testing.assert_allclose(iruka.asnumpy(made), expected, rtol=1e-12)
    kept = inner(convert(x), convert(y), axis=axis, keepdims=True)
    np.testing.assert_allclose(iruka.asnumpy(kept), np.expand_dims(expected, axis), rtol=1e-12)
    np.testing.assert_allclose(iruka.asnumpy(running(convert(x), axis=axis)), x.cumsum(axis), rtol=1e-12)
    out = convert(np.empty_like(x))
    assert running(convert(x), out, axis=axis) is out
    np.testing.assert_allclose(iruka.asnumpy(out), x.cumsum(axis), rtol=1e-12)
    out = convert(np.empty_like(expected))
    assert inner(convert(x), convert(y), axis=axis, out=(out,)) is out
    np.testing.assert_allclose(iruka.asnumpy(out), expected, rtol=1e-12)
    out = convert(np.empty_like(np.expand_dims(expected, axis)))
    assert inner(convert(x), convert(y), axis=axis, keepdims=True, out=out) is out
    np.testing.assert_allclose(iruka.asnumpy(out), np.expand_dims(expected, axis), rtol=1e-12)


def test_axes_as_those_of_numpys_matmul():
    a, b = rng.normal(size=(3, 2, 4)), rng.normal(size=(4, 5, 3))
    for axes in (
        [(1, 2), (0, 1), (1, 2)], [(1, 2), (0, 1), (0, 1)], [(-2, -1), (-3, -2), (2, 0)],
    ):  # fmt: skip
        expected = np.matmul(a, b, axes=axes)
        np.testing.assert_allclose(product(a, b, axes=axes), expected, rtol=1e-12)
        out = np.empty_like(expected)
        assert product(a, b, out, axes=axes) is out
        np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_axes_of_several_results():
    x, y = rng.normal(size=(3, 4, 5)), rng.normal(size=5)
    rows, total = sums(x, y, axes=[(0, 1), (), (1,), ()])
    np.testing.assert_allclose(rows, x.sum(1).T, rtol=1e-12)
    np.testing.assert_allclose(total, x.sum((0, 1)) + y, rtol=1e-12)
    given = np.empty((5, 3)), np.empty(5)
    made = sums(x, y, out=given, axes=[(0, 1), (), (1,), ()])
    assert made[0] is given[0] and made[1] is given[1]
    np.testing.assert_allclose(given[0], x.sum(1).T, rtol=1e-12)
    assert inner([1.0, 2.0], [3.0, 4.0], axes=[0, 0]) == 11
    assert inner([1.0, 2.0], [3.0, 4.0], keepdims=True).tolist() == [11]
    with pytest.raises(TypeError, match="did not contain a loop"):
        inner(x * 1j, x, axis=0)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda x: product(x, x, axis=0), TypeError, "axis needs one core dimension that all share.*use axes"),
        (lambda x: running(x, keepdims=True), TypeError, "keepdims needs .* outputs without any"),
        (lambda x: inner(x, x, axis=0, axes=[0, 0]), TypeError, "cannot specify both 'axis' and 'axes'"),
        (lambda x: inner(x, x, axes=(0, 0)), TypeError, "axes must be a list of tuples"),
        (lambda x: inner(x, x, axes=[0]), ValueError, "axes needs 3 tuples, one for each input and output, not 1"),
        (lambda x: product(x, x, axes=[(0, 1), (0, 1)]), ValueError, "axes needs 3 tuples"),
        (lambda x: inner(x, x, axes=[(0, 1), 0, ()]), AxisError, "operand 0 has 1 core dimensions, and axes gives 2"),
        (lambda x: inner(x, x, axis=2), np.exceptions.AxisError, "axis 2 is out of bounds"),
        (lambda x: inner(x, x, axis=0.5), TypeError, "integer"),
        (lambda x: inner(x, x, where=x > 0), TypeError, "unexpected keyword argument 'where'; it takes out=, axis="),
        (lambda x: inner(x, x[:1], axis=0), ValueError, "mismatch in its core dimension"),
        (lambda x: inner(x, x, keepdims=True, out=np.zeros((3, 4))), ValueError, "keepdims=True out has .*\\(3, 4\\)"),
        (lambda x: inner(x, x, keepdims=True, out=np.zeros((3, 0))), ValueError, "keepdims=True out has .*\\(3, 0\\)"),
    ],
)
def test_wrong_axes(call, kind, words):
    with pytest.raises(kind, match=words):
        call(rng.normal(size=(3, 3)))


NUMPYS = {"inner": np.vecdot, "product": np.matmul}
KEYWORDS = [
    ("inner", each)
    for each in (
        *({"keepdims": each} for each in (True, 0, 1, None, np.True_, [], "no")),
        *({"axis": each} for each in (0, -2, 5, -4, True, 1.0, "1", (1,), [1], np.int8(1))),
        *({"axes": each} for each in ([0, 0, 0], [5, 0, ()], [0, -9], [(0, 1), 0], [1.5, 0], [(1.5,), 0], [[0], 0])),
        *({"axes": each} for each in ([True, 0], [(), 0, ()], [0], (0, 0), 3, [2, 1, ()])),
        *({"axes": each, "keepdims": True} for each in ([0, 0, 0], [0, 0, 5], [0, 1], [1, 1, -3], [0, 0, ()])),
    )
] + [
    ("product", {"axes": [*each]})
    for each in (
        ((1, 1), (1, 2), (1, 2)), ((1, 2), (1, 2), (1, 1)), ((1, -2), (1, 2), (1, 2)), ((1, 2), (1, 2), (1, 7)),
        ((1, 2), (1, 2), (1.0, 2)), ((1, 2), (1, 2), 1), ((1, 2, 0), (1, 2), (1, 0)), ((0, 2), (0, 2), (0, 2)),
    )
]  # fmt: skip


@pytest.mark.parametrize(("name", "keywords"), KEYWORDS, ids=str)
@pytest.mark.parametrize("given", [False, True])
def test_keywords_as_numpys(name, keywords, given):
    """The same result, or an exception of the same class that names the function and what was given."""
    x = rng.normal(size=(3, 3, 3))
    try:
        expected = NUMPYS[name](x, x, **keywords)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            globals()[name](x, x, **keywords, **({"out": np.empty(x.shape)} if given and name == "product" else {}))
        assert str(raised.value).startswith(name), raised.value
        wrong = keywords.get("keepdims", keywords.get("axis"))
        assert "axes" in keywords or repr(wrong) in str(raised.value)
        return
    out = {"out": np.empty_like(expected)} if given else {}
    np.testing.assert_allclose(globals()[name](x, x, **keywords, **out), expected, rtol=1e-12)


def test_axis_errors_have_the_numbers():
    x = np.ones((2, 3, 3))
    for call, axis, ndim, operand in (
        (lambda: inner(x, x, axis=2**70), 2**70, 3, 0),
        (lambda: inner(x, x[0], axes=[0, -3]), -3, 2, 1),
        (lambda: running(x, axis=0, out=np.empty(())), 0, 0, 1),
        (lambda: product(x, x, axes=[(0, 1), (1, 2), (3, 1)]), 3, 3, 2),
    ):
        with pytest.raises(AxisError, match=f"operand {operand}: axis {axis} is out of bounds.* {ndim}") as error:
            call()
        assert (error.value.axis, error.value.ndim) == (axis, ndim)
    with pytest.raises(
        ValueError, match=r"product\(\): the axes \(1, -2\) of operand 1, which has 3, name axis 1 twice"
    ):
        product(x, x, axes=[(0, 1), (1, -2), (0, 1)])
    with pytest.raises(ValueError, match="Input operand 1 does not have enough dimensions"):
        inner(x, 1.0, axis=0)
    with pytest.raises(TypeError, match="out must be an array, or a tuple of arrays, not int"):
        inner(x, x, axis=0, out=3)


# where= of functions of numbers


@vectorize(["float64(float64, float64)", "int64(int64, int64)"])
def quotient(x, y):
    if y == 0:
        raise ZeroDivisionError("y is 0")
    return x / y


@pytest.mark.parametrize("convert", [HOST, DEVICE])
def test_where(convert):
    x, y = rng.normal(size=(3, 4)), rng.integers(0, 2, 4).astype(float)
    out = convert(np.full((3, 4), 9.0))
    mask = y != 0
    assert quotient(convert(x), convert(y), out=out, where=convert(mask)) is out
    np.testing.assert_array_equal(iruka.asnumpy(out), np.where(mask, x, 9))
    made = quotient(convert(x), 2, where=convert(x > 0))
    assert type(made) is type(convert(x)) and made.shape == (3, 4)
    np.testing.assert_array_equal(iruka.asnumpy(made)[x > 0], x[x > 0] / 2)
    out = convert(np.zeros((2, 3, 4)))
    quotient(convert(x), 1.0, out, where=convert(np.array([True, False, True])[:, None]))
    np.testing.assert_array_equal(iruka.asnumpy(out), [x * [[1], [0], [1]]] * 2)
    assert quotient(6, 3, where=True) == 2 and quotient(x, 1.0, where=np.True_).tolist() == x.tolist()
    both = vectorize(["UniTuple(float64, 2)(float64)"])(lambda x: (x, -x))
    outs = convert(np.zeros((3, 4))), convert(np.zeros((3, 4)))
    assert both(convert(x), out=outs, where=convert(x > 0))[1] is outs[1]
    np.testing.assert_array_equal(iruka.asnumpy(outs[1]), -np.maximum(x, 0))


def test_wrong_masks():
    x = np.ones(3)
    for arguments, kind, words in (
        ({"where": [1, 0, 1]}, TypeError, "where must be bools, not int64"),
        ({"where": [True] * 4}, ValueError, "broadcast"),
        ({"where": [[True]] * 2, "out": np.empty(3)}, ValueError, r"out has the shape \(3,\), and the result \(2, 3\)"),
        ({"where": True, "out": (x, x)}, ValueError, "out has 2 arrays, and there are 1 results"),
        ({"where": x > 0, "out": (x, x)}, ValueError, "out has 2 arrays, and there are 1 results"),
        ({"where": x > 0, "out": np.empty(3, "i4")}, TypeError, "same_kind"),
    ):
        with pytest.raises(kind, match=words):
            quotient(x, x, **arguments)
    if iruka.default_device().name == "cpu":
        with pytest.raises(ZeroDivisionError, match="y is 0"):
            quotient(x, [1.0, 0.0, 1.0], where=[False, True, True])
