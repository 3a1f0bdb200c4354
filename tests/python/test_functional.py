"""Functions along axes and over grids, broadcast objects, unwrap and kaiser, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import assert_same

X = np.arange(24).reshape(2, 3, 4)


def test_fromfunction():
    for dtype in (float, "int32", np.int8):
        for function in (lambda i, j: i + 2 * j, lambda i, j: i == j, lambda i, j: (j, i)[0]):
            assert_same(
                iruka.fromfunction(function, (3, 4), dtype=dtype), np.fromfunction(function, (3, 4), dtype=dtype)
            )
    assert_same(iruka.fromfunction(lambda i, scale: i * scale, (3,), scale=2.5), np.arange(3) * 2.5)
    assert iruka.fromfunction(lambda i: 7, (3,)) == 7


@pytest.mark.parametrize("axis", range(-4, 4))
def test_apply_along_axis(axis):
    for name, of in (
        ("scalars", lambda m: lambda v: v.sum()),
        ("vectors", lambda m: lambda v: v[::-1] * 2),
        ("matrices", lambda m: lambda v: m.outer(v, v) / 2),
        ("arguments", lambda m: lambda v, k, *, more: v.max() + k + more),
        ("Python's numbers", lambda m: lambda v: 2.5),
    ):
        extra = ((3,), {"more": 0.5}) if name == "arguments" else ((), {})
        if not -3 <= axis < 3:
            with pytest.raises(np.exceptions.AxisError):
                iruka.apply_along_axis(of(iruka), axis, iruka.array(X), *extra[0], **extra[1])
            continue
        expected = np.apply_along_axis(of(np), axis, X, *extra[0], **extra[1])
        assert_same(
            iruka.apply_along_axis(of(iruka), axis, iruka.array(X), *extra[0], **extra[1]), expected, message=name
        )
        assert_same(iruka.apply_along_axis(of(iruka), axis, X.tolist(), *extra[0], **extra[1]), expected)


@pytest.mark.filterwarnings("ignore:apply_along_axis calls")
def test_apply_along_axis_casts_to_the_first_result_and_refuses_nothing():
    assert_same(iruka.apply_along_axis(lambda v: v * 1 if int(v[0]) == 0 else v * 1.5, 1, X[0]),
                np.apply_along_axis(lambda v: v * 1 if int(v[0]) == 0 else v * 1.5, 1, X[0]))  # fmt: skip
    with pytest.raises(ValueError, match="iteration dimensions are 0"):
        iruka.apply_along_axis(lambda v: v, 1, iruka.ones((0, 3)))


@pytest.mark.parametrize("axes", [0, -1, [0, 2], (2, 0), [1], np.array([0, 1])], ids=str)
def test_apply_over_axes(axes):
    assert_same(iruka.apply_over_axes(iruka.sum, iruka.array(X), axes), np.apply_over_axes(np.sum, X, axes))
    assert_same(iruka.apply_over_axes(iruka.cumsum, iruka.array(X), axes), np.apply_over_axes(np.cumsum, X, axes))
    with pytest.raises(ValueError, match="correct shape"):
        iruka.apply_over_axes(lambda a, axis: a[..., None, None], iruka.array(X), axes)


@given(st.lists(st.lists(st.sampled_from([1, 2, 3]), max_size=3), min_size=1, max_size=3))
def test_broadcast(shapes):
    arrays = [np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in shapes]
    try:
        expected = np.broadcast(*arrays)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            iruka.broadcast(*map(iruka.array, arrays))
        return
    actual = iruka.broadcast(*map(iruka.array, arrays))
    for name in ("shape", "ndim", "nd", "size", "numiter", "index"):
        assert getattr(actual, name) == getattr(expected, name), name
    for value, array in zip(actual.values, np.broadcast_arrays(*arrays)):
        assert_same(value, array)
    assert list(actual) == list(expected) and actual.index == expected.index
    actual.reset()
    assert actual.index == 0 and list(actual)[:1] == list(zip(*(a.ravel() for a in np.broadcast_arrays(*arrays))))[:1]
    assert [next(iter(flat)) for flat in actual.iters] == [array.flat[0] for array in np.broadcast_arrays(*arrays)]
    assert iruka.broadcast(actual, 3.0).numiter == len(arrays) + 1


@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=12),
    st.sampled_from([2 * np.pi, 7, 6, 4.5]),
    st.sampled_from([None, 1, 3.5, 10]),
)
def test_unwrap(numbers, period, discont):
    for x in (np.array(numbers), np.array(numbers) / 4, np.stack([numbers, numbers[::-1]]).astype("int32")):
        for axis in range(-x.ndim, x.ndim):
            expected = np.unwrap(x, discont, axis, period=period)
            actual = iruka.unwrap(iruka.array(x), discont, axis, period=period)
            assert actual.dtype == expected.dtype and actual.shape == expected.shape
            np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-12, atol=1e-12)


def test_unwrap_of_phases_and_its_errors():
    phase = np.linspace(0, 60, 500)
    for dtype, tolerance in (("float32", 1e-4), ("float64", 1e-12)):
        wrapped = np.angle(np.exp(1j * phase)).astype(dtype)
        actual = iruka.unwrap(iruka.array(wrapped))
        assert actual.dtype == np.unwrap(wrapped).dtype
        np.testing.assert_allclose(iruka.asnumpy(actual), phase, atol=tolerance)
    with pytest.raises(np.exceptions.AxisError):
        iruka.unwrap(iruka.ones(3), axis=1)
    with pytest.raises(ValueError):
        iruka.unwrap(iruka.ones(()))


def test_kaiser():
    for size in (-1, 0, 1, 2, 5, 12, 101):
        for beta in (0, 5, 8.6, 14.0):
            actual, expected = iruka.kaiser(size, beta), np.kaiser(size, beta)
            assert actual.dtype == expected.dtype and actual.shape == expected.shape
            np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-12, atol=1e-15)


def test_other_names_of_the_same():
    assert iruka.row_stack is iruka.vstack and iruka.asanyarray is iruka.asarray
    assert_same(iruka.row_stack([iruka.arange(2), [3, 4]]), [[0, 1], [3, 4]])


def test_frompyfunc_makes_kernels_of_functions_of_floats():
    def shrink(x, limit):
        if abs(x) <= limit:
            return 0.0
        return x - limit if x > 0 else x + limit

    x, limits = np.linspace(-2, 2, 30).reshape(5, 6), np.array([0.25, 0.5, 0, 1, 1.5, 3])
    expected = np.frompyfunc(shrink, 2, 1)(x, limits).astype(float)
    iruka.clear_kernel_history()
    function = iruka.frompyfunc(shrink, 2, 1)
    assert_same(function(iruka.array(x), iruka.array(limits)), expected)
    assert any("shrink" in entry.kernel for entry in iruka.kernel_history())
    assert_same(function(iruka.array(x, "float32"), 0.5), np.frompyfunc(shrink, 2, 1)(np.float32(x), 0.5).astype(float))
    halves = iruka.frompyfunc(lambda x: (x / 2, x > 0), 1, 2)(iruka.array(x))
    assert_same(halves[0], x / 2)
    assert_same(halves[1], x > 0)


def test_frompyfunc_of_integers_and_objects_is_python():
    assert_same(iruka.frompyfunc(lambda x: x**40 % 7, 1, 1)(iruka.arange(5)), np.array([n**40 % 7 for n in range(5)]))
    assert_same(iruka.frompyfunc(lambda x: int(x), 1, 1)(iruka.array([1.5, -2.5])), np.array([1, -2]))
    assert_same(iruka.frompyfunc(lambda x: len(str(x)), 1, 1)(iruka.array([1.5, -2.25])), np.array([3, 5]))
    seen = []
    iruka.frompyfunc(lambda x: seen.append(x) or x, 1, 1)(iruka.array([1.5, 2.5]))
    assert seen == [1.5, 2.5]
    with pytest.raises(TypeError):
        iruka.frompyfunc(lambda x, y: x, 2, 1)(iruka.array([1.5]))


def test_frompyfunc_refuses_results_that_are_no_numbers():
    for results, kind in (((1, 2), "tuple"), ("text", "str"), (None, "NoneType"), ([1], "list")):
        for values in ([results], [1, results]):
            function = iruka.frompyfunc(lambda k, values=values: values[k], 1, 1)
            with pytest.raises(TypeError, match=f"<lambda>: the function returned a {kind}, and arrays hold numbers"):
                function(iruka.arange(len(values)))
