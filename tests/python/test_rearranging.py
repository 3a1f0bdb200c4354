"""Turning, rolling, repeating, splitting, joining and padding, against NumPy."""

import time
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import DTYPE_IDS, DTYPES, assert_same, layouts, values

SHAPES = [(), (5,), (4, 6), (2, 3, 4), (0, 3), (1, 1)]


def same(actual, expected):
    if isinstance(expected, (list, tuple)):
        assert type(actual) is type(expected) and len(actual) == len(expected)
        for a, e in zip(actual, expected):
            same(a, e)
    else:
        assert_same(actual, expected)


def both(name, *arguments, **keywords):
    """The same call of iruka and NumPy: equal results, or an error of the same class."""

    def of(module, convert):
        turn = lambda a: convert(a) if isinstance(a, np.ndarray) else a
        return getattr(module, name)(
            *[[turn(b) for b in a] if isinstance(a, list) else turn(a) for a in arguments], **keywords
        )

    try:
        expected = of(np, np.asarray)
    except (ValueError, TypeError, IndexError) as error:
        kind = next(k for k in (IndexError, ValueError, TypeError) if isinstance(error, k))
        with pytest.raises(kind):
            of(iruka, iruka.array)
        return
    same(of(iruka, iruka.array), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_every_dtype_and_layout(dtype, rng):
    for _, x, expected in layouts(values(dtype, (4, 6), rng)):
        same(iruka.flip(x), np.flip(expected))
        same(iruka.rot90(x), np.rot90(expected))
        same(iruka.roll(x, (1, -2), (0, 1)), np.roll(expected, (1, -2), (0, 1)))
        same(iruka.tile(x, (2, 1)), np.tile(expected, (2, 1)))
        same(iruka.split(x, 2, 1), np.split(expected, 2, 1))
        same(iruka.pad(x, ((1, 2), (0, 3)), "edge"), np.pad(expected, ((1, 2), (0, 3)), "edge"))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_axes(shape):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for name in ("flip", "fliplr", "flipud", "rot90", "matrix_transpose", "unstack", "hsplit", "vsplit", "dsplit"):
        both(name, x, *([1] if name.endswith("split") else []))
    for axis in range(-len(shape) - 1, len(shape) + 1):
        both("flip", x, axis)
        both("rollaxis", x, axis)
        both("rollaxis", x, 0, axis)
        both("unstack", x, axis=axis)
        both("roll", x, 3, axis)
        both("array_split", x, 3, axis)
        both("split", x, 2, axis)
        both("split", x, [1, 3], axis)
    for k in range(-5, 6):
        both("rot90", x, k)
        both("roll", x, k)


def test_flips_and_turns_are_views():
    x = iruka.zeros((3, 4))
    for view in (
        iruka.flip(x),
        iruka.fliplr(x),
        iruka.flipud(x),
        iruka.rot90(x),
        iruka.rot90(x, 2),
        iruka.split(x, 2, 1)[1],
    ):
        view[...] = 7
        assert bool((view == 7).all()) and bool((x == 7).any())
        x[...] = 0


@given(st.lists(st.integers(0, 3), max_size=3), st.lists(st.integers(0, 3), max_size=4))
def test_tile(shape, reps):
    both("tile", np.arange(np.prod(shape, dtype=int)).reshape(shape), reps)


@given(st.integers(0, 7), st.lists(st.integers(0, 4), max_size=3))
def test_resize(size, shape):
    both("resize", np.arange(size), tuple(shape))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=3), st.lists(st.integers(-3, 3), min_size=1, max_size=3))
def test_roll_of_several_axes(shifts, axes):
    both("roll", np.arange(60).reshape(3, 4, 5), tuple(shifts), tuple(axes))


def test_at_least():
    for shape in SHAPES:
        x = np.ones(shape)
        for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
            both(name, x)
            both(name, x, 3)


def test_joining():
    x, v = np.arange(12.0).reshape(3, 4), np.arange(3)
    both("column_stack", [v, x, v])
    both("dstack", [v, v])
    both("dstack", [x, x])
    both("append", x, [[1, 2, 3, 4]], 0)
    both("append", x, v)
    both("append", x, v, 0)
    a = iruka.array
    same(iruka.block([[a(x), a(x)], [a(x), a(x)]]), np.block([[x, x], [x, x]]))
    same(iruka.block([1, a(v)]), np.block([1, v]))
    same(iruka.block([[1, a(v)], [a(np.arange(4))]]), np.block([[1, v], [np.arange(4)]]))
    same(iruka.block(a(x)), np.block(x))
    for wrong, kind in (([[1], 2], ValueError), ([], ValueError), ((1, 2), TypeError), ([[1, 2], [3]], ValueError)):
        with pytest.raises(kind):
            iruka.block(wrong)
        with pytest.raises(kind):
            np.block(wrong)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, 2])
def test_delete_and_insert(axis):
    x = np.arange(12).reshape(3, 4)
    for where in (
        0,
        -1,
        1,
        [0, 2],
        [2, 0, 2],
        [],
        slice(None, None, 2),
        slice(5, 1),
        99,
        -99,
        np.array([1]),
        [True, False, True],
    ):
        if isinstance(where, list) and (not where or isinstance(where[0], bool) and axis != 0):
            continue
        both("delete", x, where, axis)
    for where, what in (
        (1, 5),
        (1, [5]),
        (-1, 5),
        ([0, 2], 5),
        ([2, 0, 0], [7, 8, 9]),
        (slice(0, 2), 3),
        (99, 1),
        ([1], 4),
    ):
        both("insert", x, where, what, axis)
    both("insert", x, 1, [[1, 2, 3, 4], [5, 6, 7, 8]], 0)
    both("insert", x, 1, [1, 2, 3], 1)
    both("insert", x, [0, 2], [[1], [2]], 0)
    assert_same(iruka.delete(iruka.arange(5), []), np.arange(5))


def test_trim_zeros():
    for x in ([0, 0, 1, 0, 2, 0], [0, 0], [1], [], [[0, 0, 0], [0, 3, 0]]):
        for trim in ("fb", "f", "b", "FB"):
            both("trim_zeros", np.array(x), trim)
    both("trim_zeros", np.array([1]), "x")


MODES = [
    ("constant", {}),
    ("constant", {"constant_values": (3, 4)}),
    ("edge", {}),
    ("linear_ramp", {}),
    ("linear_ramp", {"end_values": ((5, -2),)}),
    ("maximum", {}),
    ("minimum", {"stat_length": 2}),
    ("mean", {}),
    ("mean", {"stat_length": 2}),
    ("reflect", {}),
    ("symmetric", {}),
    ("reflect", {"reflect_type": "odd"}),
    ("symmetric", {"reflect_type": "odd"}),
    ("wrap", {}),
]


@pytest.mark.parametrize("mode, keywords", MODES, ids=str)
def test_pad(mode, keywords):
    for shape in ((5,), (4, 3), (1,), (2, 3, 4)):
        for dtype in ("int32", "float32"):
            x = (np.arange(np.prod(shape)).reshape(shape) * 7 % 11).astype(dtype)
            for widths in (1, (2, 1), 7, 0, [(0, 3)], {-1: (1, 2)}):
                found, expected = (
                    iruka.pad(iruka.array(x), widths, mode, **keywords),
                    np.pad(x, widths, mode, **keywords),
                )
                assert_same(found, expected, ulps=2 if mode == "mean" else 0)


def test_pad_by_a_function():
    def fill(vector, widths, axis, keywords):
        vector[: widths[0]] = keywords.get("value", 1)
        vector[len(vector) - widths[1] :] = axis

    x = np.arange(6).reshape(2, 3)
    same(iruka.pad(iruka.array(x), 2, fill, value=9), np.pad(x, 2, fill, value=9))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap", "linear_ramp"])
@pytest.mark.parametrize("widths", [(2**63 - 1, 2**63 - 1), (2**63 - 1, 0), (0, 2**63 - 1)])
def test_pad_overflows(mode, widths):
    with pytest.raises(ValueError, match="elements more on axis 0 are too many"):
        iruka.pad(iruka.ones(3), widths, mode)


def test_pad_errors():
    x = iruka.ones((2, 3))
    for arguments, keywords in (
        ((-1,), {}),
        ((1, "nothing"), {}),
        ((1, "edge"), {"constant_values": 1}),
        (([1, 2, 3],), {}),
    ):
        with pytest.raises(ValueError):
            iruka.pad(x, *arguments, **keywords)
        with pytest.raises(ValueError):
            np.pad(np.ones((2, 3)), *arguments, **keywords)
    with pytest.raises(ValueError, match="strange"):
        iruka.pad(x, 1, "reflect", reflect_type="strange")
    with pytest.raises(ValueError, match="empty axis"):
        iruka.pad(iruka.ones((0, 2)), 1, "edge")
    assert iruka.pad(iruka.ones((0, 2)), 1).shape == (2, 4)
    assert iruka.pad(x, 1, "empty").shape == (4, 5)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("kind", ["even", "odd"])
def test_reflections_wider_than_the_array(mode, kind):
    for extent in (1, 2, 3, 5):
        x = np.arange(extent * 2).reshape(2, extent) ** 2
        for width in ((0, 17), (17, 0), (3, 20), (11, 4), (1, 1), (29, 30)):
            expected = np.pad(x, ((0, 0), width), mode, reflect_type=kind)
            assert_same(iruka.pad(iruka.array(x), ((0, 0), width), mode, reflect_type=kind), expected)


def test_rolls_by_arrays():
    x = np.arange(12).reshape(3, 4)
    for shift, axis in (
        (np.array([1, 2]), (0, 1)),
        (np.array([1, 2]), 0),
        (np.array([5]), None),
        ([1, -2], None),
        (2.0, 1),
        (np.int8(3), 0),
        (range(2), (0, 1)),
    ):
        assert_same(iruka.roll(iruka.array(x), shift, axis), np.roll(x, shift, axis))
    assert_same(iruka.roll(iruka.array(x), iruka.array([1, 2]), (0, 1)), np.roll(x, [1, 2], (0, 1)))
    assert_same(iruka.tile(iruka.array(x), np.array([2, 1])), np.tile(x, np.array([2, 1])))
    assert_same(iruka.resize(iruka.array(x), np.array([2, 7])), np.resize(x, np.array([2, 7])))


def test_delete_and_insert_take_every_index(rng):
    for x in (np.arange(7), rng.random((5, 4)), np.asfortranarray(rng.random((5, 4)))):
        for axis in (None, 0, -1):
            extent = x.size if axis is None else x.shape[axis]
            for obj in (
                0,
                -1,
                [0, 2],
                [2, 0, 0, -1],
                np.array([1, 3], "int8"),
                slice(None, None, 2),
                slice(3, 0, -1),
                [],
                np.zeros(0, int),
                range(2),
                rng.random(extent) < 0.5,
                np.array(1),
                [[0, 1]],
                np.array([2]),
            ):
                given = iruka.array(obj) if isinstance(obj, np.ndarray) else obj
                assert_same(iruka.delete(iruka.asarray(x), given, axis), np.delete(x, obj, axis))
                if np.ndim(obj if not isinstance(obj, slice) else 0) < 2:
                    assert_same(iruka.insert(iruka.asarray(x), given, 7, axis), np.insert(x, obj, 7, axis))
    assert_same(iruka.insert(iruka.arange(5), [1, 3, 3], [7, 8, 9]), np.insert(np.arange(5), [1, 3, 3], [7, 8, 9]))
    for wrong, of_delete, of_insert in (
        ([9], IndexError, IndexError), (-9, IndexError, IndexError), (2**70, IndexError, IndexError), ([True], ValueError, None),
        (1.5, IndexError, TypeError), ([1.0], IndexError, TypeError), ([1.0, 2.0], IndexError, IndexError),
        (np.array(1.0), IndexError, TypeError), ("1", IndexError, TypeError), (None, IndexError, TypeError),
    ):  # fmt: skip
        for name, error, more in (("delete", of_delete, ()), ("insert", of_insert, (0,))):
            for m in (np, iruka) if error else ():
                with pytest.raises(error):
                    getattr(m, name)(m.arange(7), wrong, *more)
    with pytest.raises(ValueError):
        iruka.insert(iruka.arange(7), [[1, 2]], 0)


def test_splits_into_no_parts_and_into_unequal_ones_are_refused():
    for m in (np, iruka):
        for name, parts, error in (
            ("split", 0, ZeroDivisionError),
            ("split", 3, ValueError),
            ("array_split", 0, ValueError),
        ):
            with pytest.raises(error):
                getattr(m, name)(m.arange(10), parts)


def test_deleting_many_costs_no_more_than_copying_them():
    x, places = iruka.arange(200_000.0), np.arange(0, 200_000, 3)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        iruka.delete(x, places)
        iruka.insert(x, places, 0.0)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.1  # half a second when each piece was an array


@pytest.mark.parametrize("name", ["concatenate", "stack", "hstack", "vstack"])
def test_joining_by_casting_rules(name):
    parts = [np.array([1, 2], "int16"), np.array([3, 4], "float32")]
    given = list(map(iruka.array, parts))
    for keywords in (
        {"dtype": "float64"},
        {"dtype": "int8", "casting": "unsafe"},
        {"casting": "safe"},
        {"casting": "unsafe"},
    ):
        assert_same(getattr(iruka, name)(given, **keywords), getattr(np, name)(parts, **keywords))
    for keywords in (
        {"dtype": "int16"},
        {"dtype": "bool"},
        {"casting": "no"},
        {"dtype": "float32", "casting": "equiv"},
    ):
        with pytest.raises(TypeError):
            getattr(np, name)(parts, **keywords)
        with pytest.raises(TypeError):
            getattr(iruka, name)(given, **keywords)
    with pytest.raises(ValueError):
        getattr(iruka, name)(given, dtype="float64", casting="any")


def test_joining_flat_lets_numbers_give_way():
    for number in (3, 2.5, True, 1j):
        for dtype in ("int8", "float16", "complex64"):
            x = np.ones((2, 1), dtype)
            assert_same(iruka.concatenate([iruka.array(x), number], None), np.concatenate([x, number], None))
    out = iruka.empty(4, dtype="float32")
    assert iruka.concatenate([iruka.arange(2), iruka.arange(2)], out=out, casting="same_kind") is out
    assert out.tolist() == [0, 1, 0, 1]


def test_pad_values_wrap_and_ramps_are_linspace():
    x = np.array([[3, 200], [7, 1]], "uint8")
    for keywords in ({"constant_values": -1}, {"constant_values": (-1, 300)}):
        assert_same(iruka.pad(iruka.array(x), 2, **keywords), np.pad(x, 2, **keywords))
    for dtype in ("uint8", "int64", "float16", "float64", "complex64", "uint64"):
        y = x.astype(dtype)
        if dtype == "uint64":
            y[0] = 2**64 - 2
        for ends in (0, (1, 9), ((0, 3), (5, 2))):
            assert_same(
                iruka.pad(iruka.array(y), 3, "linear_ramp", end_values=ends),
                np.pad(y, 3, "linear_ramp", end_values=ends),
                ulps=2,
            )
    with pytest.raises(TypeError):
        iruka.pad(iruka.array(x), [])


@pytest.mark.parametrize("ends", [1 + 1j, [(2, 1 + 1j)], np.complex64(3)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool", "complex64"])
def test_ramps_to_complex_ends_discard_the_imaginary_parts(dtype, ends):
    def padded(xp):
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            result = xp.pad(xp.asarray([1, 0], dtype), 1, "linear_ramp", end_values=ends)
        return result, {(warning.category, str(warning.message)) for warning in log}

    (found, found_log), (expected, expected_log) = padded(iruka), padded(np)
    assert_same(found, expected)
    assert found_log == expected_log


def test_inserted_numbers_must_fit():
    for number, dtype in ((1j, "float32"), (np.nan, "int32"), (300, "uint8"), (np.inf, "int64")):
        x = np.zeros(3, dtype)
        with pytest.raises((TypeError, ValueError, OverflowError)) as expected:
            np.insert(x, 1, number)
        with pytest.raises(expected.type):
            iruka.insert(iruka.array(x), 1, number)


@pytest.mark.parametrize("shift", [[[1]], [[1], [2]], np.array([[1]])], ids=str)
@pytest.mark.parametrize("axis", [0, None, (0, 1)])
def test_shifts_have_one_axis(shift, axis):
    for m in (np, iruka):
        with pytest.raises(ValueError, match="roll: shift must be|'shift' and 'axis' should be"):
            m.roll(m.arange(6).reshape(2, 3), shift, axis)


def test_axes_are_integers():
    for function in (
        lambda: iruka.flip(iruka.ones(3), 0.0),
        lambda: iruka.diff(iruka.ones(3), axis=0.0),
        lambda: iruka.var(iruka.ones(3), axis=0.0),
    ):
        with pytest.raises(TypeError):
            function()
    assert iruka.roll(iruka.arange(3), 5, axis=()).tolist() == [0, 1, 2]


def test_masks_of_inserts_have_any_length():
    x = np.arange(5)
    for mask in ([True], [False, True, True], [False] * 5 + [True], [False] * 9):
        mask = np.array(mask)
        assert_same(iruka.insert(iruka.array(x), mask, 9), np.insert(x, mask, 9))
    with pytest.raises(IndexError):
        iruka.insert(iruka.array(x), np.array([False] * 8 + [True]), 9)


@pytest.mark.parametrize("name, arguments", [("insert", (0, 1)), ("delete", (0,))])
def test_errors_name_the_function(name, arguments):
    with pytest.raises(iruka.errors.AxisError, match=f"^{name}: axis 4"):
        getattr(iruka, name)(iruka.ones(3), *arguments, axis=4)


@pytest.mark.parametrize("name", ["concatenate", "stack"])
def test_out_must_be_an_array(name):
    with pytest.raises(TypeError, match=f"^{name}: out must be an iruka.ndarray"):
        getattr(iruka, name)([iruka.ones(3)], out=5)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_many_places_are_deleted_and_inserted(axis, rng):
    for x in (rng.random((300, 250)), np.asfortranarray(rng.integers(0, 9, (300, 250), "int16"))):
        extent = x.size if axis is None else x.shape[axis]
        for obj in (
            rng.integers(-extent, extent, 200),
            np.arange(extent),
            np.arange(0, extent, 3),
            rng.random(extent) < 0.5,
            np.zeros(extent, bool),
            np.ones(extent, bool),
            slice(None, None, 2),
            slice(None, None, -3),
            slice(5, 205),
            slice(205, 5, -1),
            slice(None),
            slice(9, 9),
        ):
            given = iruka.array(obj) if isinstance(obj, np.ndarray) else obj
            assert_same(iruka.delete(iruka.asarray(x), given, axis), np.delete(x, obj, axis))
            assert_same(iruka.insert(iruka.asarray(x), given, 7, axis), np.insert(x, obj, 7, axis))


def test_what_splits_an_axis():
    x = np.arange(4)
    for parts in ([2**63], [1, 2**70], [-(2**70)], np.array(2), np.array([2]), np.float64(2), [True], ()):
        for m_name in ("split", "array_split", "hsplit"):
            ours, theirs = getattr(iruka, m_name)(iruka.array(x), parts), getattr(np, m_name)(x, parts)
            assert [iruka.asnumpy(part).tolist() for part in ours] == [part.tolist() for part in theirs]
    for parts, error in ((2.5, ValueError), ([1.5], TypeError), ("2", TypeError), ([1, "2"], TypeError)):
        for m in (np, iruka):
            with pytest.raises(error):
                m.split(m.arange(4), parts)


def test_tile_of_many_axes():
    x = np.arange(4).reshape((2,) + (1,) * 20 + (2,))
    assert_same(iruka.tile(iruka.array(x), 2), np.tile(x, 2))
    assert_same(iruka.tile(iruka.array(x), (3,) + (1,) * 20 + (2,)), np.tile(x, (3,) + (1,) * 20 + (2,)))


def test_extents_that_add_up_to_more_than_64_bits_are_refused():
    for m in (np, iruka):
        with pytest.raises(ValueError):
            m.concatenate([m.zeros((2**62, 0)), m.zeros((2**62, 0))])


@pytest.mark.parametrize("start", [-5, -4, 4, 5, 2**40])
def test_rollaxis_names_the_start(start):
    with pytest.raises(np.exceptions.AxisError, match="start"):
        np.rollaxis(np.zeros((2, 3, 4)), 1, start)
    with pytest.raises(np.exceptions.AxisError, match=f"start must be from -3 to 3, not {start}"):
        iruka.rollaxis(iruka.zeros((2, 3, 4)), 1, start)


JOINS = [
    lambda xp, *more, **keywords: xp.concatenate([xp.zeros((2, 2)), *more], **keywords),
    lambda xp, *more, **keywords: xp.stack([xp.zeros((2, 2)), *more], **keywords),
    lambda xp, *more, **keywords: xp.vstack([xp.zeros((2, 2)), *more], **keywords),
    lambda xp, *more, **keywords: xp.hstack([xp.zeros((2, 2)), *more], **keywords),
]


@pytest.mark.parametrize("join", JOINS)
def test_what_neither_fits_nor_casts_does_not_fit(join):
    for xp in (np, iruka):
        with pytest.raises(ValueError, match="same|match"):
            join(xp, xp.zeros((3, 3)), dtype="int8")
        with pytest.raises(ValueError, match="same|match"):
            join(xp, xp.zeros((3, 3), "complex64"), casting="no")
        with pytest.raises(TypeError, match="annot cast"):
            join(xp, xp.zeros((2, 2)), dtype="int8")
    for join in JOINS[:2]:
        for xp in (np, iruka):
            with pytest.raises(ValueError):
                join(xp, xp.zeros((2, 2)), out=xp.zeros((9, 9), "int8"))
            with pytest.raises(np.exceptions.AxisError):
                join(xp, xp.zeros((2, 2)), axis=5, dtype="int8")


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", ["concatenate", "stack", "hstack", "vstack"])
def test_what_does_not_cast_is_not_joined(name):
    huge = iruka.broadcast_to(iruka.zeros(1), (2**55,))  # no memory holds two of them
    with pytest.raises(TypeError, match="annot cast"):
        getattr(iruka, name)([huge, huge], dtype="int8")
    if name in ("concatenate", "stack"):
        with pytest.raises(ValueError, match="out has shape"):
            getattr(iruka, name)([huge, huge], out=iruka.zeros(3, "int8"))
