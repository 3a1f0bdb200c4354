"""Basic indexing and assignment against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import iruka
from helpers import DTYPE_IDS, DTYPES, assert_same, beyond_numbers, values

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


@given(SHAPES, st.data())
def test_getitem(shape, data):
    x = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    assert_same(iruka.array(x)[index], x[index])


@given(SHAPES, st.data())
def test_setitem_scalar_and_array(shape, data):
    x = np.arange(int(np.prod(shape, dtype=int)), dtype="float32").reshape(shape)
    a = iruka.array(x)
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    x[index] = -1
    a[index] = -1
    assert_same(a, x)
    source = np.arange(x[index].size, dtype="int64").reshape(x[index].shape)
    x[index] = source
    a[index] = iruka.array(source)
    assert_same(a, x)
    x[index] = source * 2
    a[index] = source * 2  # NumPy's
    assert_same(a, x)


@given(SHAPES, st.data())
def test_views_of_views(shape, data):
    x = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    first = data.draw(hnp.basic_indices(shape))
    y = np.asarray(x[first])
    second = data.draw(hnp.basic_indices(y.shape))
    assert_same(iruka.array(x)[first][second], y[second])


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_every_dtype(dtype, rng):
    x = values(dtype, (4, 6), rng)
    a = iruka.array(x)
    assert_same(a[1:, ::-2], x[1:, ::-2])
    y = x.copy()
    y[::2, 1] = x[0, 0]
    a[::2, 1] = a[0, 0]
    assert_same(a, y)


def test_integers_give_arrays_without_axes():
    a = iruka.arange(6).reshape(2, 3)
    element = a[1, 2]
    assert isinstance(element, iruka.ndarray) and element.shape == () and int(element) == 5
    assert int(a[np.int8(1), np.uint64(2)]) == 5 and int(a[iruka.asarray(1), -1]) == 5
    assert int(a[-2, -3]) == 0


def test_out_of_bounds():
    a = iruka.arange(6).reshape(2, 3)
    for index in (2, -3, (0, 3), (slice(None), -4), 2**70):
        with pytest.raises(IndexError):
            a[index]
    with pytest.raises(IndexError, match="index 7 .*axis 1.*3"):
        a[0, 7]
    with pytest.raises(IndexError):
        a[0, 0, 0]
    with pytest.raises(IndexError):
        a[..., ...]
    with pytest.raises(ValueError):
        a[::0]
    with pytest.raises(IndexError):
        iruka.asarray(1)[0]


def test_overlapping_assignment():
    for first, second in [
        (slice(1, None), slice(None, -1)),
        (slice(None, -1), slice(1, None)),
        (slice(None), slice(None, None, -1)),
    ]:
        x = np.arange(1000)
        a = iruka.array(x)
        expected = x.copy()
        expected[first] = x[second].copy()
        a[first] = a[second]
        assert_same(a, expected)
    x = np.arange(2500).reshape(50, 50)
    a = iruka.array(x)
    a[...] = a.T
    assert_same(a, x.T)


def test_assignment_broadcasts_and_casts():
    x, a = np.zeros((3, 4), "int16"), iruka.zeros((3, 4), "int16")
    x[...] = np.arange(4)
    a[...] = iruka.arange(4)
    assert_same(a, x)
    a[:, 1] = 2.7
    x[:, 1] = 2.7
    assert_same(a, x)
    a[0] = [7, 8, 9, 10]
    x[0] = [7, 8, 9, 10]
    assert_same(a, x)
    with pytest.raises(ValueError, match=r"\(3,\).*\(4,\)|\(4,\).*\(3,\)"):
        a[0] = iruka.zeros(3)
    with pytest.raises(OverflowError):
        a[0, 0] = 1 << 20
    with pytest.raises(TypeError):
        a[0] = None
    with pytest.raises(ValueError):
        del a[0]


def test_read_only():
    frozen = iruka.broadcast_to(iruka.arange(3), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        frozen[0, 0] = 1
    assert not frozen[0].flags.writeable and frozen.copy().flags.writeable


def test_slice_bounds_saturate():
    x, a = np.arange(5), iruka.arange(5)
    for s in (
        slice(-100, 100),
        slice(10**30),
        slice(None, -(10**30), -1),
        slice(4, None, -3),
        slice(np.int8(1), np.int8(4)),
    ):
        assert_same(a[s], x[s])


WRITERS = {
    "element": lambda xp, x, v: x.__setitem__(0, v),
    "all": lambda xp, x, v: x.__setitem__(Ellipsis, v),
    "array of indices": lambda xp, x, v: x.__setitem__([0], v),
    "fill": lambda xp, x, v: x.fill(v),
    "put": lambda xp, x, v: xp.put(x, [0], v),
    "putmask": lambda xp, x, v: xp.putmask(x, xp.asarray([True, False]), v),
    "place": lambda xp, x, v: xp.place(x, xp.asarray([True, False]), v),
}


@beyond_numbers
@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32", "complex64", "bool"])
def test_numbers_that_no_element_can_be_are_refused(dtype, writer):
    """What int() and float() refuse, and integers out of range: the errors of NumPy; the array stays as it is."""
    for value in (
        float("nan"),
        float("inf"),
        1e300,
        300.5,
        -1.5,
        -128.5,
        127.5,
        2.0**62,
        2.0**63,
        2.0**64,
        1j,
        2**63,
        -1,
    ):
        expected, own = np.zeros(2, dtype), iruka.zeros(2, dtype)
        try:
            with np.errstate(all="ignore"):
                writer(np, expected, value)
        except (TypeError, ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                writer(iruka, own, value)
        else:
            writer(iruka, own, value)
        np.testing.assert_array_equal(own.get(), expected, err_msg=f"{value}")


def test_lists_are_read_as_numbers_of_the_arrays_dtype():
    for numbers, error in (
        ([1j, 2], TypeError),
        ([float("nan"), 1.0], ValueError),
        ([300, 1], OverflowError),
        ([1, 2], None),
    ):
        expected, own = np.zeros(2, "int8"), iruka.zeros(2, "int8")
        for x in (expected, own):
            if error:
                with pytest.raises(error):
                    x[:] = numbers
            else:
                x[:] = numbers
        np.testing.assert_array_equal(own.get(), expected)
    own[:] = [iruka.asarray(5), iruka.asarray(6)]
    np.testing.assert_array_equal(own.get(), [5, 6])
