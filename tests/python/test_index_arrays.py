"""Indexing with integer and boolean arrays against NumPy: reading, assigning, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import iruka
from helpers import DTYPE_IDS, DTYPES, assert_same, error_of, layouts, values

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.fixture(autouse=True)
def immediate_check():
    """The call with the wrong index raises the error of a GPU."""
    before = iruka.set_index_check("immediate")
    yield
    iruka.set_index_check(before)


@st.composite
def mixed_indices(draw):
    """A shape, and an index of every kind of entry that fits it."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    common = draw(st.sampled_from([(), (1,), (2,), (3, 1), (2, 3), (0,)]))
    entries, axis, has_ellipsis = [], 0, False
    while axis < len(shape):
        extent = shape[axis]
        kind = draw(st.sampled_from("stop integer slice new ellipsis array array array mask truth".split()))
        if kind == "stop":
            break
        if kind == "integer":
            entries.append(draw(st.integers(-extent, extent - 1)))
        elif kind == "slice":
            entries.append(draw(st.slices(extent)))
        elif kind == "new":
            entries.append(None)
            continue
        elif kind == "truth":
            entries.append(draw(st.booleans()))
            continue
        elif kind == "ellipsis":
            if not has_ellipsis:
                entries.append(...)
                axis += draw(st.integers(0, len(shape) - axis))
            has_ellipsis = True
            continue
        elif kind == "mask":
            ndim = draw(st.integers(1, min(2, len(shape) - axis)))
            entries.append(draw(hnp.arrays(bool, shape[axis : axis + ndim])))
            axis += ndim
            continue
        else:
            own = draw(st.sampled_from([common, common[1:], ()]))
            dtype = draw(st.sampled_from(["int32", "int64"]))
            entries.append(draw(hnp.arrays(dtype, own, elements=st.integers(-extent, extent - 1))))
        axis += 1
    return shape, tuple(entries)


def on_device(entries):
    """Every other array as ours, the rest as NumPy's."""
    return tuple(iruka.array(e) if isinstance(e, np.ndarray) and k % 2 == 0 else e for k, e in enumerate(entries))


@pytest.mark.parametrize("shape", [(2, 1), (2, 0)])
@pytest.mark.parametrize(
    "entries", [(np.array([5]), np.zeros(0, int)), (..., np.array([1]), False), (np.array([[5], [-9]]), [])]
)
def test_no_index_is_checked_where_they_broadcast_to_nothing(shape, entries):
    x = np.zeros(shape)
    a = iruka.array(x)
    assert a[on_device(entries)].shape == x[entries].shape
    a[on_device(entries)] = 1
    assert not a.tolist() or not np.any(a.tolist())
    with pytest.raises(IndexError):
        a[np.array([5])]


@given(mixed_indices())
def test_getitem_and_setitem(case):
    shape, entries = case
    x = np.arange(int(np.prod(shape)), dtype="float32").reshape(shape)
    a = iruka.array(x)
    try:
        expected = x[entries]
    except IndexError as error:
        with pytest.raises(IndexError) as raised:
            a[on_device(entries)]
        assert str(raised.value).strip() == str(error).strip()
        return
    assert_same(a[on_device(entries)], expected)
    source = np.arange(expected.size, dtype="float32").reshape(np.shape(expected)) + 100
    y, b = np.zeros(shape, "float32"), iruka.zeros(shape, "float32")
    y[entries] = -5
    b[on_device(entries)] = -5
    assert_same(b, y)
    is_repeated = len(np.unique(np.arange(x.size).reshape(shape)[entries])) != expected.size
    if iruka.default_device().name != "cpu" and is_repeated:
        return  # which of repeated indices wins is not said
    y[entries] = source
    b[on_device(entries)] = source
    assert_same(b, y)


@given(mixed_indices())
def test_views_and_broadcast_values(case):
    shape, entries = case
    x = np.arange(int(np.prod(shape)) * 2, dtype="int32").reshape(shape + (2,))
    view, ours = x[::-1, ..., 1], iruka.array(x)[::-1, ..., 1]
    try:
        expected = view[entries]
    except IndexError:
        with pytest.raises(IndexError):
            ours[on_device(entries)]
        return
    assert_same(ours[on_device(entries)], expected)
    if expected.ndim and expected.shape[-1] > 1:
        return
    y, b = x.copy(), iruka.array(x)
    source = np.array([7], "int64")
    if expected.ndim:
        y[::-1, ..., 1][entries] = source
        b[::-1, ..., 1][entries] = iruka.array(source)
    assert_same(b, y)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_every_dtype(dtype, rng):
    x = values(dtype, (5, 6), rng)
    rows, columns = np.array([3, -1, 0]), np.array([[1], [5]])
    mask = rng.integers(0, 2, (5, 6)).astype(bool)
    for _, ours, theirs in layouts(x):
        assert_same(ours[rows], theirs[rows])
        assert_same(ours[:, rows], theirs[:, rows])
        assert_same(ours[rows, columns], theirs[rows, columns])
        if theirs.shape == mask.shape:
            assert_same(ours[mask], theirs[mask])
    y, b = x.copy(), iruka.array(x)
    y[rows, columns] = x[0, 0]
    b[rows, columns] = b[0, 0]
    y[:, rows] = x[:, :3]
    b[:, rows] = iruka.array(x)[:, :3]
    y[mask] = x[0, 1]
    b[mask] = iruka.array(x)[0, 1]
    assert_same(b, y)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_index_dtype(dtype):
    x = np.arange(20).reshape(4, 5)
    index = np.array([3, 0, 2, 3], dtype)
    assert_same(iruka.array(x)[iruka.array(index)], x[index])
    assert_same(iruka.array(x)[1, index], x[1, index])
    assert_same(iruka.array(x)[iruka.array(index)[::-2]], x[index[::-2]])


def test_sequences_and_scalars_as_indices():
    x = np.arange(24).reshape(2, 3, 4)
    a = iruka.array(x)
    for key in (
        [0, 1],
        [[0, 1], [1, 0]],
        ([0, 1], [2, 0]),
        [],
        ([],),
        (..., [0, 3]),
        [True, False],
        True,
        False,
        np.True_,
        np.array(1),
        (np.array(1), [0, 2]),
        ((1, 0),),
        range(2),
        (slice(None), (0, 2), None),
        np.zeros((2, 0), int),
        (None, [1], None),
        ([[0], [1]], slice(None), [0, 1]),
    ):
        assert_same(a[key], x[key])
        y, b = x.copy(), iruka.array(x)
        y[key] = 7
        b[key] = 7
        assert_same(b, y)
    assert_same(a[iruka.array(1)], x[1])
    assert_same(a[iruka.array(True)], x[np.array(True)])
    assert_same(iruka.array(5)[True], np.array(5)[True])
    assert_same(iruka.array(5)[iruka.array(False)], np.array(5)[False])


@pytest.mark.parametrize("size", [1, 511, 512, 513, 40000, 300001])
def test_many_elements(size, rng):
    x = rng.integers(0, 1000, size).astype("float32")
    index = rng.integers(-size, size, size)
    assert_same(iruka.array(x)[iruka.array(index)], x[index])
    mask = rng.random(size) < 0.3
    assert_same(iruka.array(x)[iruka.array(mask)], x[mask])
    y, b = x.copy(), iruka.array(x)
    order = rng.permutation(size)
    y[order] = x
    b[iruka.array(order)] = iruka.array(x)
    assert_same(b, y)
    y[mask] = np.arange(mask.sum())
    b[mask] = iruka.arange(int(mask.sum()))
    assert_same(b, y)
    for density in (0, 0.001, 1):
        mask = rng.random(size) < density
        assert_same(iruka.array(x)[mask], x[mask])


@pytest.mark.parametrize("row", [1, 3, 4, 7, 16, 100])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_rows(row, dtype, rng):
    x = values(dtype, (50, row), rng)
    index = rng.integers(-50, 50, 70)
    assert_same(iruka.array(x)[index], x[index])
    assert_same(iruka.array(x)[::2][index % 25, 1 % row :], x[::2][index % 25, 1 % row :])
    y, b = x.copy(), iruka.array(x)
    order = rng.permutation(50)[:20]
    y[order] = x[:20]
    b[order] = iruka.array(x[:20])
    y[order[:5]] = x[0]
    b[order[:5]] = iruka.array(x[0])
    assert_same(b, y)


@pytest.mark.cpu_only
def test_the_last_of_repeated_indices_wins(rng):
    index = rng.integers(0, 50, 100000)
    y, b = np.zeros(50), iruka.zeros(50)
    y[index] = np.arange(100000)
    b[index] = np.arange(100000)
    assert_same(b, y)


def test_source_index_and_target_may_be_one():
    x = np.array([2, 0, 1, 3])
    y, b = x.copy(), iruka.array(x)
    y[y] = np.array([5, 6, 7, 8])
    b[b] = np.array([5, 6, 7, 8])
    assert_same(b, y)
    y, b = np.arange(1000), iruka.arange(1000)
    index = np.arange(1000)[::-1].copy()
    y[index] = y
    b[index] = b
    assert_same(b, y)
    y[y > 500] = y[y <= 500][:499]
    b[b > 500] = b[b <= 500][:499]
    assert_same(b, y)


def test_in_place_operators_and_casts():
    x = np.arange(6, dtype="int32")
    a = iruka.array(x)
    x[[1, 1, 4]] += 10
    a[[1, 1, 4]] += 10
    assert_same(a, x)
    a[[0]] = 2.75
    x[[0]] = 2.75
    a[[1, 2]] = iruka.array([3.5, -4.5])
    x[[1, 2]] = np.array([3.5, -4.5])
    a[[3]] = True
    x[[3]] = True
    assert_same(a, x)
    a[a > 2] *= 2
    x[x > 2] *= 2
    assert_same(a, x)


@pytest.mark.parametrize(
    "key",
    [
        [5],
        [-4],
        [0, 1, 3],
        ([0], [4]),
        (slice(None), [1, -5]),
        np.array([[0], [7]], "int8"),
        [True, False],
        np.ones((3, 3), bool),
        np.ones((2, 4), bool),
        ([1, 2], [1, 2, 3]),
        ([0], [0], [0]),
        [1.0],
        np.array([1.0]),
        np.array(1.0),
        "a",
        b"a",
        1.0,
        {},
        [None],
        (..., [0], ...),
        np.ones((3, 4, 1), bool),
        (5, [0]),
        np.array(["a"]),
        1j,
        [slice(None)],
    ],
    ids=repr,
)
def test_errors(key):
    x = np.arange(12).reshape(3, 4)
    a = iruka.array(x)
    expected = error_of(lambda: x[key])
    actual = error_of(lambda: a[key])
    assert isinstance(actual, type(expected)) and str(actual).strip() == str(expected).strip()
    actual = error_of(lambda: a.__setitem__(key, 1))
    assert isinstance(actual, type(expected))
    if iruka.default_device().name == "cpu":
        assert_same(a, x)  # nothing was written


def test_errors_of_values():
    x, a = np.arange(12).reshape(3, 4), iruka.arange(12).reshape(3, 4)
    for key, source in (([0, 1], np.zeros((3, 4))), (a.get() > 3, np.zeros(3)), ([0], np.zeros((2, 2, 4)))):
        expected = error_of(lambda: x.__setitem__(key, source))
        with pytest.raises(type(expected)):
            a[key] = source
    with pytest.raises(ValueError, match=r"value array of shape \(3,\) could not be broadcast .*\(2, 4\)"):
        a[[0, 1]] = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        iruka.broadcast_to(a, (2, 3, 4))[[0]] = 1
    with pytest.raises(OverflowError):
        iruka.zeros(3, "int8")[[0]] = 1000
    with pytest.raises(TypeError):
        a[[0]] = "text"
    with pytest.raises(ValueError):
        del a[[0]]
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 0"):
        iruka.zeros((0, 3))[[2]]
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
        iruka.zeros((3, 0))[[5]]


def test_deferred_check_finds_the_error_when_elements_come():
    iruka.set_index_check("deferred")
    a = iruka.arange(3)
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 3"):
        iruka.asnumpy(a[iruka.array([0, 9])])
    assert_same(a[iruka.array([0, 2])], np.array([0, 2]))
    with pytest.raises(ValueError, match="'deferred' or 'immediate', not 'never'"):
        iruka.set_index_check("never")
    assert iruka.set_index_check("immediate") == "deferred"
    assert iruka.set_index_check("deferred") == "immediate"


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_masks_of_the_first_axes(dtype, rng):
    x = values(dtype, (5, 6, 3), rng)
    for _, ours, theirs in layouts(x):
        mask = rng.random(theirs.shape[:2]) < 0.4
        assert_same(ours[mask], theirs[mask])
        assert_same(ours[mask[:, 0]], theirs[mask[:, 0]])
        y, b = theirs.copy(), ours.copy()
        last = np.arange(1, y.shape[2] + 1).astype(dtype)
        for source in (3, last, y[mask] * 2, np.array([[5]], dtype)):
            y[mask] = source
            b[iruka.array(mask)] = iruka.array(source) if isinstance(source, np.ndarray) else source
            assert_same(b, y)
        with pytest.raises(ValueError):
            b[mask] = np.zeros((1, 1, 1, 2))
    view, target = x.copy()[::2, ::-1], iruka.array(x)[::2, ::-1]
    mask = rng.random(view.shape[:2]) < 0.4
    view[mask] = 7
    target[mask] = 7
    view[mask] = view[mask] + 1
    target[mask] = target[mask] + 1
    assert_same(target, view)


@pytest.mark.parametrize("shape,mask", [((3,), (0,)), ((3, 3), (0, 0)), ((0, 3), (0,)), ((2, 3), (2, 0))], ids=str)
def test_masks_of_nothing_choose_nothing(shape, mask):
    expected = np.zeros(shape)[np.zeros(mask, bool)]
    x = iruka.zeros(shape)
    assert x[iruka.zeros(mask, bool)].shape == expected.shape
    x[iruka.zeros(mask, bool)] = 1
    assert not iruka.any(x)
