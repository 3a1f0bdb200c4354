"""Creation, joining and choosing, against NumPy."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, assert_same, beyond_numbers, kind, values


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_constants(dtype):
    for shape in ((), 3, (2, 3), (0, 4)):
        assert_same(iruka.zeros(shape, dtype), np.zeros(shape, dtype))
        assert_same(iruka.ones(shape, dtype), np.ones(shape, dtype))
        assert_same(iruka.full(shape, 1, dtype), np.full(shape, 1, dtype))
        assert iruka.empty(shape, dtype).shape == np.empty(shape).shape
    like = np.zeros((2, 3), dtype)
    for name in ("zeros_like", "ones_like"):
        assert_same(getattr(iruka, name)(iruka.array(like)), getattr(np, name)(like))
    assert_same(iruka.full_like(iruka.array(like), 1), np.full_like(like, 1))
    assert iruka.empty_like(iruka.array(like), "int8", shape=(4,)).shape == (4,)


def test_default_dtypes():
    assert iruka.zeros(2).dtype == iruka.ones(2).dtype == iruka.empty(2).dtype == np.float64
    for value in (True, 2, 2.5, 1j, np.float32(1), np.int8(1)):
        assert_same(iruka.full(3, value), np.full(3, value))
    assert_same(iruka.full((2, 3), [1, 2, 3]), np.full((2, 3), [1, 2, 3]))


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-7, 7))
def test_arange_of_integers(start, stop, step):
    assume(step != 0)
    assert_same(iruka.arange(start, stop, step), np.arange(start, stop, step))
    assert_same(iruka.arange(stop), np.arange(stop))


@given(st.floats(-5, 5), st.floats(-5, 5), st.sampled_from([0.5, 0.1, -0.3, 1.7]))
def test_arange_of_floats(start, stop, step):
    assert_same(iruka.arange(start, stop, step), np.arange(start, stop, step), ulps=64)


def test_arange_dtypes_and_errors():
    for dtype in ("int8", "uint16", "float32", "float16", "complex64"):
        assert_same(iruka.arange(0, 9, 2, dtype), np.arange(0, 9, 2, dtype))
    assert_same(iruka.arange(5, dtype=BFLOAT16), np.arange(5).astype(BFLOAT16))
    assert iruka.arange(np.int16(3)).dtype == np.arange(np.int16(3)).dtype
    with pytest.raises((TypeError, ValueError)):
        iruka.arange("a")


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.integers(0, 60), st.booleans())
def test_linspace(start, stop, num, endpoint):
    actual, expected = iruka.linspace(start, stop, num, endpoint), np.linspace(start, stop, num, endpoint)
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-13, atol=1e-11)


def test_linspace_details():
    values_, step = iruka.linspace(0, 1, 5, retstep=True)
    assert step == 0.25 and values_.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert_same(iruka.linspace(0, 10, 5, dtype="int32"), np.linspace(0, 10, 5, dtype="int32"))
    assert_same(iruka.linspace(0, 1, 3, dtype="float32"), np.linspace(0, 1, 3, dtype="float32"))
    with pytest.raises(ValueError):
        iruka.linspace(0, 1, -1)


def test_arange_of_bools_and_of_complex_bounds():
    for arguments in ((1, -0.5, -1), (0, 2), (2, 4), (-1, 1), (0, 1, 0.5), (5, 5)):
        assert_same(iruka.arange(*arguments, dtype="bool"), np.arange(*arguments, dtype="bool"))
    for module in (np, iruka):
        with pytest.raises(TypeError):
            module.arange(1j, 2, dtype="float32")
        with pytest.raises(ValueError):
            module.fromstring("1.5 2")
    with pytest.raises(TypeError, match="not <class 'NoneType'>"):
        iruka.asarray(None)


def test_arange_computes_its_second_element_as_scalars_do():
    half, single = np.float16(0.1), np.float32(0.1)
    for arguments in ((0.5, 3, single), (single, 3), (0, 3, single), (np.float32(1), 2.5, single), (0, 1, half)):
        assert_same(iruka.arange(*arguments), np.arange(*arguments))
    for arguments in ((-3, 0, 0.5), (0, 5, 1.5), (5, 0, -0.5), (2.5, -3, -1)):
        for dtype in (int, "int8", "float32", "complex64"):
            assert_same(iruka.arange(*arguments, dtype), np.arange(*arguments, dtype))
    for arguments in ((-3, 1, 1), (-1.5, 2.5, 1), (0, 300000, 70000)):
        with pytest.raises(OverflowError, match="out of bounds for uint16"):
            np.arange(*arguments, dtype="uint16")
        with pytest.raises(OverflowError, match="out of bounds for uint16"):
            iruka.arange(*arguments, dtype="uint16")
    assert_same(iruka.arange(0, 70000, 70000, "uint16"), np.arange(0, 70000, 70000, "uint16"))


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
@pytest.mark.parametrize("axis", [0, -1, 1, 2])
@pytest.mark.parametrize("num", [0, 1, 2, 5])
@pytest.mark.parametrize("endpoint", [True, False])
def test_spaced_arrays(name, axis, num, endpoint):
    start = np.array([[1.0], [4.0]])
    for stop in (np.array([2, 3, 7]), np.array([1j, 2, 3]), 5, np.array([1, 1, 1])):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(start, stop, num, endpoint, axis=axis)
        actual = getattr(iruka, name)(iruka.array(start), stop, num, endpoint, axis=axis)
        assert actual.dtype == expected.dtype and actual.shape == expected.shape
        np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-12)


@beyond_numbers
@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
def test_spaced_scalars(name):
    for start, stop in ((1, 1), (2, -3), (np.float32(1), 5), (1j, 3), (np.int8(3), np.float16(5)), (-2, -8)):
        for num in (0, 1, 2, 4):
            for endpoint in (True, False):
                with np.errstate(all="ignore"):
                    expected = getattr(np, name)(start, stop, num, endpoint)
                actual = getattr(iruka, name)(start, stop, num, endpoint)
                assert actual.dtype == expected.dtype
                rtol = 1e-12 if expected.dtype in (float, complex) else 4e-3
                np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=rtol)
    with pytest.raises(iruka.AxisError):
        getattr(iruka, name)(1, 2, axis=1)


@pytest.mark.parametrize("arguments", [(0, 5, 0), (0, 5, 0.0), (5, 5, 0), (0.5, 2, 0), (0, 5, np.int8(0))], ids=str)
def test_a_step_of_zero(arguments):
    if not isinstance(arguments[2], np.generic):  # NumPy's own division warns
        with pytest.raises(ZeroDivisionError):
            np.arange(*arguments)
    with pytest.raises(ZeroDivisionError, match="arange: step must not be 0"):
        iruka.arange(*arguments)


def test_linspace_of_one_value_and_its_step():
    values_, step = iruka.linspace(1, 1, 1, retstep=True)
    assert values_.tolist() == [1.0] and np.isnan(step)
    values_, steps = iruka.linspace([0, 1], [4, 2], 5, retstep=True)
    assert_same(steps, np.array([1, 0.25]))
    assert_same(iruka.linspace(0, 1, 3, dtype=bool), np.linspace(0, 1, 3, dtype=bool))


@pytest.mark.parametrize("order", ["c", "f", "C", "F"])
def test_orders_are_of_either_case(order):
    x = np.arange(6).reshape(2, 3)
    for name in ("zeros", "ones", "empty"):
        assert getattr(iruka, name)((2, 3), order=order).strides == getattr(np, name)((2, 3), order=order).strides
    for name in ("zeros_like", "array", "asarray", "ones_like"):
        found, expected = getattr(iruka, name)(iruka.array(x), order=order), getattr(np, name)(x, order=order)
        assert found.strides == expected.strides
    assert iruka.full((2, 3), 1, order=order).strides == np.full((2, 3), 1, order=order).strides
    assert_same(iruka.array(x).reshape(3, 2, order=order), x.reshape(3, 2, order=order))
    assert_same(iruka.ravel_multi_index((1, 2), (2, 3), order=order), np.ravel_multi_index((1, 2), (2, 3), order=order))
    for name in ("zeros", "ones", "empty", "eye"):
        with pytest.raises(ValueError):
            getattr(iruka, name)(3, order="K")


@pytest.mark.parametrize("arguments", [(3,), (3, 4), (4, 3, 1), (4, 3, -2), (2, 2, 5), (0,), (3, 0)])
def test_eye(arguments):
    assert_same(iruka.eye(*arguments), np.eye(*arguments))
    assert_same(iruka.eye(*arguments, dtype="int8"), np.eye(*arguments, dtype="int8"))
    assert_same(iruka.identity(3), np.identity(3))


@pytest.mark.parametrize(
    "value",
    [
        3,
        2.5,
        True,
        1j,
        [1, 2],
        [[1.5, 2], [3, 4]],
        [],
        [[], []],
        (1, 2),
        [True, False],
        [1, 2.5, 3j],
        [np.float32(1), np.float32(2)],
        2**63,
        [2**63, 1],
        range(3),
        np.int8(3),
    ],
    ids=repr,
)
def test_arrays_of_python_values(value):
    assert_same(iruka.array(value), np.array(value))
    assert_same(iruka.asarray(value), np.array(value))
    assert_same(iruka.array(value, dtype="complex64"), np.array(value, dtype="complex64"))


def test_array_options():
    assert_same(iruka.array([1, 2], ndmin=3), np.array([1, 2], ndmin=3))
    assert_same(iruka.array([iruka.arange(3), iruka.arange(3)]), np.array([[0, 1, 2], [0, 1, 2]]))
    assert_same(iruka.array([1.7, 2], dtype="int32"), np.array([1.7, 2], dtype="int32"))
    with pytest.raises((ValueError, TypeError)):
        iruka.array([[1, 2], [3]])
    for bad in (["a"], [None], object(), "abc", b"abc", {"a": 1}, None):
        with pytest.raises(TypeError):
            iruka.array(bad)
    with pytest.raises(ValueError, match="order"):
        iruka.zeros(2, order="Z")
    with pytest.raises(OverflowError):
        iruka.array([300], dtype="uint8")


def test_ascontiguousarray_has_an_axis():
    for name in ("ascontiguousarray", "asfortranarray"):
        assert_same(getattr(iruka, name)(3.5), getattr(np, name)(3.5))
        assert_same(getattr(iruka, name)(iruka.array(3)), getattr(np, name)(np.array(3)))


def test_ascontiguousarray():
    a = iruka.arange(6).reshape(2, 3)
    assert iruka.ascontiguousarray(a).data.ptr == a.data.ptr
    assert iruka.ascontiguousarray(a.T).flags.c_contiguous
    assert_same(iruka.ascontiguousarray(a.T), np.ascontiguousarray(np.arange(6).reshape(2, 3).T))


@given(st.integers(1, 4), st.integers(0, 3), st.data())
def test_concatenate(count, rank, data):
    rank = max(rank, 1)
    shape = data.draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank))
    axis = data.draw(st.integers(-rank, rank - 1))
    parts = []
    for k in range(count):
        extents = list(shape)
        extents[axis] = data.draw(st.integers(0, 3))
        parts.append((np.arange(int(np.prod(extents, dtype=int))) + 10 * k).reshape(extents))
    assert_same(iruka.concatenate([iruka.array(p) for p in parts], axis), np.concatenate(parts, axis))


def test_joining(rng):
    parts = [values(dtype, (2, 3), rng) for dtype in ("int8", "float32", "uint8")]
    arrays = [iruka.array(p) for p in parts]
    assert_same(iruka.concatenate(arrays), np.concatenate(parts))
    assert_same(iruka.concatenate(arrays, axis=None), np.concatenate(parts, axis=None))
    assert_same(iruka.concatenate(parts, 1, dtype="float64"), np.concatenate(parts, 1, dtype="float64"))
    for axis in (0, 1, 2, -1):
        assert_same(iruka.stack(arrays, axis), np.stack(parts, axis))
    assert_same(iruka.vstack([a[0] for a in arrays]), np.vstack([p[0] for p in parts]))
    assert_same(iruka.hstack([a[0] for a in arrays]), np.hstack([p[0] for p in parts]))
    assert_same(iruka.hstack(arrays), np.hstack(parts))
    out = iruka.empty((6, 3), "float64")
    assert iruka.concatenate(arrays, out=out) is out
    assert_same(out, np.concatenate(parts).astype("float64"))
    with pytest.raises(ValueError):
        iruka.concatenate([])
    with pytest.raises(ValueError, match="size 3.*size 4"):
        iruka.concatenate([iruka.ones((2, 3)), iruka.ones((2, 4))])
    with pytest.raises(ValueError):
        iruka.stack([iruka.ones(2), iruka.ones(3)])
    with pytest.raises(IndexError):
        iruka.concatenate(arrays, 2)


def test_a_view_of_more_bytes_than_an_index_counts_is_refused():
    with pytest.raises(
        ValueError, match=r"shape \(4611686018427387904,\) with elements of 8 bytes has more than 2\^63"
    ):
        iruka.broadcast_to(iruka.ones(1), (2**62,))
    with pytest.raises(ValueError, match="more than 2"):
        iruka.lib.stride_tricks.as_strided(iruka.ones(1), (2**61,), (0,))
    assert iruka.broadcast_to(iruka.ones(1, "int8"), (2**62,)).nbytes == 2**62


def test_broadcasting():
    x = np.arange(3).reshape(3, 1)
    assert_same(iruka.broadcast_to(iruka.array(x), (2, 3, 4)), np.broadcast_to(x, (2, 3, 4)))
    first, second = iruka.broadcast_arrays(iruka.array(x), iruka.arange(4))
    assert first.shape == second.shape == (3, 4)
    assert not first.flags.writeable and not second.flags.writeable
    for m in (np, iruka):  # what has the shape already comes back
        a, b = m.ones((2, 3)), m.zeros((2, 3))
        assert [given is found for given, found in zip((a, b), m.broadcast_arrays(a, b))] == [True, True]
    assert iruka.broadcast_shapes((3, 1), (4,)) == (3, 4)
    with pytest.raises(ValueError):
        iruka.broadcast_to(iruka.ones(3), (4,))
    with pytest.raises(ValueError):
        iruka.broadcast_arrays(iruka.ones(3), iruka.ones(4))


def test_expand_and_move():
    x = np.arange(24).reshape(2, 3, 4)
    a = iruka.array(x)
    for axis in (0, -1, (0, 2), (1, -1)):
        assert_same(iruka.expand_dims(a, axis), np.expand_dims(x, axis))
    assert_same(iruka.moveaxis(a, (0, 1), (-1, 0)), np.moveaxis(x, (0, 1), (-1, 0)))
    with pytest.raises(np.exceptions.AxisError):
        iruka.expand_dims(a, 5)
    with pytest.raises(ValueError):
        iruka.moveaxis(a, (0, 1), (0,))


def test_where_and_copyto(rng):
    x, y, mask = values("float32", (3, 4), rng), values("int16", (4,), rng), values("bool", (3, 4), rng)
    assert_same(iruka.where(iruka.array(mask), iruka.array(x), iruka.array(y)), np.where(mask, x, y))
    assert_same(iruka.where(iruka.array(x) > 0, 1, 2.5), np.where(x > 0, 1, 2.5))
    with pytest.raises(ValueError, match="either both or neither"):
        iruka.where(iruka.array(mask), 1)
    target, expected = iruka.array(x), x.copy()
    iruka.copyto(target, y)
    np.copyto(expected, y)
    assert_same(target, expected)
    iruka.copyto(target, 9.0, where=iruka.array(mask))
    np.copyto(expected, 9.0, where=mask)
    assert_same(target, expected)
    with pytest.raises(TypeError):
        iruka.copyto(iruka.zeros(3, "int8"), np.ones(3))


def test_shape_queries():
    assert iruka.shape([[1, 2], [3, 4]]) == (2, 2) and iruka.ndim(iruka.ones((2, 3))) == 2
    assert iruka.size(iruka.ones((2, 3))) == 6 and iruka.size(iruka.ones((2, 3)), 1) == 3


def test_names_of_the_package():
    assert iruka.float32 is np.float32 and iruka.newaxis is None and iruka.pi == np.pi and np.isnan(iruka.nan)
    assert iruka.inf == np.inf and iruka.bool_ is np.bool_ and kind(iruka.bfloat16) == "f"
    assert iruka.__version__.count(".") == 2
    with pytest.raises(AttributeError):
        iruka.no_such_name


def test_orders():
    """New arrays have the memory layout of NumPy's."""
    x = np.arange(24).reshape(2, 3, 4)
    for v in (
        x,
        x.T,
        np.moveaxis(x, 0, 1),
        x[:, ::2],
        np.asfortranarray(x),
        x[::-1],
        x[0],
        np.ones(3),
        np.array(4),
        x[:1],
    ):
        a = iruka.asarray(v) if iruka.default_device().name == "cpu" else iruka.array(v)
        if a.strides != v.strides:
            continue  # a copy of another layout
        for order in "CFKA":
            for name in ("empty_like", "zeros_like", "ones_like"):
                made, expected = getattr(iruka, name)(a, order=order), getattr(np, name)(v, order=order)
                assert (made.shape, made.strides) == (expected.shape, expected.strides), (name, order)
            for made, expected in (
                (iruka.array(a, order=order), np.array(v, order=order)),
                (iruka.copy(a, order), np.copy(v, order)),
                (a.astype("float32", order=order), v.astype("float32", order=order)),
                (iruka.full_like(a, 7, order=order), np.full_like(v, 7, order=order)),
            ):
                assert_same(made, expected)
                assert made.strides == expected.strides, order
        assert (
            iruka.asfortranarray(a).flags.f_contiguous
            and iruka.asarray(a, order="F").strides == np.asarray(v, order="F").strides
        )
    for name in ("empty", "zeros", "ones"):
        assert getattr(iruka, name)((2, 3), order="F").strides == (8, 16) and getattr(iruka, name)(
            3, order="F"
        ).shape == (3,)
    assert_same(iruka.full((2, 3), [1, 2, 3], order="F"), np.full((2, 3), [1, 2, 3]))
    assert_same(iruka.eye(3, 4, order="F"), np.eye(3, 4))
    with pytest.raises(ValueError, match="order"):
        iruka.empty(3, order="X")
    with pytest.raises(ValueError, match="copy"):
        iruka.asarray(iruka.ones((2, 3)), order="F", copy=False)


def test_require_and_finite():
    x = iruka.ones((2, 3))
    assert iruka.require(x).flags.c_contiguous and iruka.require(x, requirements="F").flags.f_contiguous
    assert iruka.require(iruka.broadcast_to(x, (4, 2, 3)), requirements=["W", "O"]).flags.writeable
    with pytest.raises(ValueError):
        iruka.require(x, requirements=["C", "F"])
    with pytest.raises(ValueError, match="unknown"):
        iruka.require(x, requirements=["Z"])
    assert_same(iruka.asarray_chkfinite([1.0, 2.0]), np.array([1.0, 2.0]))
    for bad in (np.inf, np.nan):
        with pytest.raises(ValueError, match="infs or NaNs"):
            iruka.asarray_chkfinite([1.0, bad])


def test_dtype_of_several_arrays():
    for dtypes in (
        ("int16", "uint16", "float16"),
        ("uint8", "int8", "float16"),
        ("int16", "uint16", "complex64"),
        ("int8", "uint8", "int16"),
        ("int32", "uint32", "float32"),
        ("bool", "int8", "float32", "uint16"),
    ):
        assert iruka.result_type(*dtypes) == np.result_type(*dtypes)
        arrays = [np.ones(2, dtype) for dtype in dtypes]
        assert_same(iruka.concatenate(list(map(iruka.array, arrays))), np.concatenate(arrays))


@pytest.mark.filterwarnings("ignore")
def test_full_casts_floats_and_complex_numbers():
    for value, dtype in ((1 - 2j, "float32"), (2.75, "int8"), (-2.5, "int16"), (1j, "complex64"), (0.5, "bool")):
        x = np.zeros((2, 3), dtype)
        assert_same(iruka.full_like(iruka.array(x), value), np.full_like(x, value))
        assert_same(iruka.full((2, 3), value, dtype), np.full((2, 3), value, dtype))


@pytest.mark.parametrize(
    "numbers",
    [
        [1, 2, 3],
        (1, 2.5),
        [True, False],
        [True, 2],
        [False, 1.5],
        [1, 2j],
        [[1, 2], (3, 4.0)],
        [[[True], [False]]],
        [-(2**63), 2**63 - 1],
        [2**63],
        [2**63, 1],
        [2**53 + 1, 1.0],
        [1.5, float("nan"), float("inf"), -0.0],
        [],
        [[]],
        [[], []],
        [np.float32(1), 2],
        [1, np.int8(2)],
        [np.array([1, 2]), [3, 4]],
        list(range(1000)),
        [[0.5] * 7] * 5,
    ],
    ids=lambda numbers: str(numbers)[:30],
)
def test_lists_of_numbers_are_numpys_arrays(numbers):
    for make in ("array", "asarray"):
        actual, expected = getattr(iruka, make)(numbers), getattr(np, make)(numbers)
        assert_same(actual, expected)
        assert actual.flags.c_contiguous and actual.flags.writeable
    assert_same(iruka.array(numbers, ndmin=4), np.array(numbers, ndmin=4))
    assert_same(iruka.array(numbers, "complex64", order="F"), np.array(numbers, "complex64", order="F"))


@pytest.mark.parametrize("numbers", [[1, [2]], [[1], [2, 3]], [[1, 2], 3], [1, "a"], [[1], ["b"]], [None], [2**64]])
def test_lists_that_are_no_arrays(numbers):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        iruka.array(numbers)


def test_list_subclasses_and_deep_lists():
    class Own(list):
        pass

    assert_same(iruka.array(Own([1, Own([2])[0]])), np.array([1, 2]))
    deep = 3
    for _ in range(32):
        deep = [deep]
    assert iruka.array(deep).shape == (1,) * 32
    with pytest.raises((ValueError, TypeError)):
        iruka.array([deep])
