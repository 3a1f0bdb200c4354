"""Numbers and dtypes that an array has no place for: what is refused, what is cast, and what stays exact."""

import operator
import warnings

import numpy as np
import pytest

import iruka as cp

DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
RULES = ["no", "equiv", "safe", "same_kind", "unsafe"]


def outcome(function):
    """What a call gives, or the class of its exception."""
    try:
        result = function()
    except (TypeError, ValueError, OverflowError) as error:
        return next(kind for kind in (TypeError, OverflowError, ValueError) if isinstance(error, kind))
    return cp.asnumpy(result) if isinstance(result, cp.ndarray) else np.asarray(result)


def check(function):
    """`function` of a module does the same for both."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, actual = outcome(lambda: function(np)), outcome(lambda: function(cp))
    if isinstance(expected, type) or isinstance(actual, type):
        assert actual is expected, f"{actual!r} instead of {expected!r}"
    else:
        inexact = expected.dtype.kind in "fc"
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=4 * np.finfo(expected.dtype).eps if inexact else 0)


def assigned(m, dtype, key, value):
    x = m.ones(4, dtype)
    x[m.asarray(key) if isinstance(key, np.ndarray) else key] = value
    return x


def filled(m, dtype, value):
    x = m.ones(4, dtype)
    x.fill(value)
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [300, -1, 2**70, 1.5, np.nan, np.inf, 1j, True], ids=str)
def test_an_element_takes_what_numpys_takes(dtype, value):
    for key in (1, slice(None), np.array([1, 2]), np.array([True, False, False, True])):
        check(lambda m: assigned(m, dtype, key, value))
    check(lambda m: filled(m, dtype, value))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
@pytest.mark.parametrize("values", [[300, 1], [-1, 2], [np.nan, 1], [1j, 1], [1.5, 2.5]], ids=str)
def test_lists_are_converted_as_elements(dtype, values):
    check(lambda m: assigned(m, dtype, slice(1, 3), values))
    check(lambda m: assigned(m, dtype, np.array([0, 2]), values))


# Ways to write a number into elements of a dtype: name, function of a module, the dtype and the number.
WRITES = {
    "element": lambda m, dtype, number: assigned(m, dtype, 1, number),
    "slice": lambda m, dtype, number: assigned(m, dtype, slice(None), number),
    "indices": lambda m, dtype, number: assigned(m, dtype, np.array([1, 2]), number),
    "mask": lambda m, dtype, number: assigned(m, dtype, np.array([True, False, False, True]), number),
    "fill": filled,
    "full": lambda m, dtype, number: m.full(4, number, dtype),
    "full_like": lambda m, dtype, number: m.full_like(m.ones(4, dtype), number),
    "array": lambda m, dtype, number: m.array(number, dtype),
    "put": lambda m, dtype, number: written(m, dtype, lambda x: m.put(x, [0, 2], number)),
    "putmask": lambda m, dtype, number: written(m, dtype, lambda x: m.putmask(x, x == x, number)),
    "place": lambda m, dtype, number: written(m, dtype, lambda x: m.place(x, x == x, [number])),
    "put_along_axis": lambda m, dtype, number: written(
        m, dtype, lambda x: m.put_along_axis(x, m.asarray([1]), number, 0)
    ),
    "fill_diagonal": lambda m, dtype, number: written(m, dtype, lambda x: m.fill_diagonal(x.reshape(2, 2), number)),
    "copyto": lambda m, dtype, number: written(m, dtype, lambda x: m.copyto(x, number)),
    "unsafe copyto": lambda m, dtype, number: written(m, dtype, lambda x: m.copyto(x, number, "unsafe")),
    "insert": lambda m, dtype, number: m.insert(m.ones(2, dtype), 1, number),
    "pad": lambda m, dtype, number: m.pad(m.ones(2, dtype), 1, constant_values=number),
    "pad by two": lambda m, dtype, number: m.pad(m.ones(2, dtype), 1, constant_values=(number, number)),
}
TYPED = [
    np.int64(300), np.int8(-1), np.uint64(2**64 - 1), np.float64(-1.5), np.float32(100.7), np.float64(1e10),
    np.float32(np.nan), np.float64(np.inf), np.bool_(True),
]  # fmt: skip


def written(m, dtype, write):
    x = m.ones(4, dtype)
    write(x)
    return x


def is_out_of_range(number, dtype):
    """Whether C++ and NumPy leave the cast undefined."""
    if np.dtype(dtype).kind not in "iu" or number.dtype.kind != "f":
        return False
    limits = np.iinfo(dtype)
    return not (np.isfinite(number) and limits.min <= int(number) <= limits.max)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("name", WRITES)
def test_typed_scalars(name, dtype):
    """NumPy's scalars can be out of bounds of signed integers and wrap among unsigned ones; functions cast them."""
    write = WRITES[name]
    for number in TYPED:
        with np.errstate(all="ignore"):
            expected = outcome(lambda: write(np, dtype, number))
            if isinstance(expected, np.ndarray) and is_out_of_range(number, dtype):
                write(cp, dtype, number)  # is taken; docs/arrays.md says what becomes of it
                continue
        check(lambda m: write(m, dtype, number))


@pytest.mark.cpu_only  # a GPU's values are cast without a wait
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32"])
@pytest.mark.parametrize("name", ["element", "slice", "indices", "mask", "fill", "put", "copyto"])
def test_values_are_taken_as_numpys_scalars_are(name, dtype):
    for number in (np.int64(300), np.int64(-1), np.float64(np.nan), np.float64(1e10), np.uint64(2**64 - 1)):
        if name in ("indices", "mask", "put", "copyto") or dtype == "uint8":
            number = number if number.dtype.kind in "iu" else np.int64(7)
        check(lambda m: WRITES[name](m, dtype, m.asarray(np.array([number]))[0]))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float64"])
@pytest.mark.parametrize("name", [name for name in WRITES if name != "copyto"])
@pytest.mark.parametrize("wrap", ["scalar", "array", "value"])
def test_a_warning_of_lost_imaginary_parts(name, dtype, wrap):
    number = np.complex64(3 + 2j)
    for m in (np, cp):
        array, value = m.asarray(np.array(number)), m.asarray(np.array([number]))[0]
        value = {"scalar": number, "array": array, "value": value}[wrap]
        if wrap == "array" and name == "putmask" or wrap != "scalar" and name == "place":
            continue  # arrays are cast by the rule 'safe'
        with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
            result = WRITES[name](m, dtype, value)
        assert 3 in result.ravel().tolist() and result.dtype == dtype
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WRITES[name](cp, "complex64", number)
        WRITES[name](cp, "bool", number)


def test_casts_of_complex_arrays_warn():
    x = cp.asarray(np.array([1 + 2j, 3]))
    for cast in (
        lambda: x.astype("float32"),
        lambda: cp.asarray(x, dtype="int64"),
        lambda: cp.array(x, dtype="float64"),
        lambda: cp.zeros(2).__setitem__(slice(None), x),
        lambda: x.sum(out=cp.zeros(())),
        lambda: cp.add.reduce(x, out=cp.zeros((), "float32")),
        lambda: cp.cumsum(x, out=cp.zeros(2)),
        lambda: cp.add.at(cp.zeros(2), [0, 1], x),
    ):
        with pytest.warns(np.exceptions.ComplexWarning):
            cast()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("source", DTYPES)
def test_casting_rules(rule, source):
    x = np.array([0, 1, 1, 0]).astype(source)

    def copied(m, value, target):
        y = m.zeros(4, target)
        m.copyto(y, value, casting=rule)
        return y

    for target in DTYPES:
        check(lambda m: m.asarray(x).astype(target, casting=rule))
        check(lambda m: copied(m, m.asarray(x), target))
        check(lambda m: copied(m, x.dtype.type(1), target))
        for join in ("concatenate", "stack", "vstack", "hstack"):
            check(lambda m: getattr(m, join)([m.asarray(x), m.asarray(x)], dtype=target, casting=rule))
        check(lambda m: m.concatenate([m.asarray(x), m.asarray(x)], out=m.zeros(8, target), casting=rule))


def test_a_joined_dtype_is_cast_by_same_kind():
    x = cp.arange(3)
    with pytest.raises(TypeError, match="same_kind"):
        cp.concatenate([x, x], dtype="uint8")
    with pytest.raises(TypeError, match="only one of out and dtype"):
        cp.concatenate([x, x], out=cp.zeros(6, "int64"), dtype="int64")


@pytest.mark.parametrize("number", [3, -1, 1.5, 1j, np.nan, 2**70], ids=str)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "complex64"])
def test_copyto_of_python_numbers(dtype, number):
    def copied(m, **keywords):
        x = m.ones(4, dtype)
        m.copyto(x, number, **keywords)
        return x

    if dtype == "bool" and number == 2**70:
        pytest.skip("NumPy raises OverflowError before it looks at the rule")
    check(copied)
    check(lambda m: copied(m, where=m.asarray(np.array([True, False, True, False]))))


def test_copyto_leaves_other_elements_alone():
    def copied(m):
        x = m.asarray(np.array([2**53 + 1, -(2**53) - 1, 2**62 + 1, 3]))
        m.copyto(x, m.asarray(np.array([1, 2, 3, 4], "uint64")), where=m.asarray(np.array([False, False, False, True])))
        return x

    check(copied)
    with pytest.raises(TypeError, match="bools"):
        cp.copyto(cp.zeros(2), 1.0, where=cp.asarray([1, 0]))


HUGE = [2**70, -(2**70), 2**64, 2**63, -(2**63) - 1, 2**64 - 1]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("number", HUGE, ids=str)
def test_comparison_with_integers_beyond_the_dtype(dtype, number):
    limits = [] if dtype[0] in "fc" else [np.iinfo(dtype).min, np.iinfo(dtype).max]
    x = np.array([0, 1, *limits]).astype(dtype) if not limits else np.array([0, 1, *limits], dtype)
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        check(lambda m: compare(m.asarray(x), number))
        check(lambda m: compare(number, m.asarray(x)))
    for name in ("equal", "less", "greater_equal"):
        check(lambda m: getattr(m, name)(m.asarray(x), number))


def test_functions_of_floats_take_huge_integers():
    x = np.array([1, 2, 3])
    for name in ("divide", "hypot", "copysign"):
        check(lambda m: getattr(m, name)(m.asarray(x), 2**70))
    with pytest.raises(OverflowError):
        cp.asarray(x) + 2**70


@pytest.mark.parametrize("other", [None, "text", b"bytes"])
def test_nothing_equals_none_or_text(other):
    x = np.arange(6).reshape(2, 3)
    for compare in (operator.eq, operator.ne):
        check(lambda m: compare(m.asarray(x), other))
        check(lambda m: compare(other, m.asarray(x)))
    assert bool(cp.not_equal(cp.asarray(x), other).all())
    with pytest.raises(TypeError):
        cp.asarray(x) < other
    assert None not in cp.asarray(x)


@pytest.mark.parametrize(
    "dtype,number", [("uint8", 300), ("uint8", -1), ("int8", 200), ("uint64", -1), ("float32", 2**70)]
)
def test_initial_values_are_not_wrapped(dtype, number):
    x = np.arange(5).astype(dtype)
    for name in ("max", "min", "sum", "prod"):
        check(lambda m: getattr(m, name)(m.asarray(x), initial=number))
        check(lambda m: getattr(m, name)(m.asarray(x), initial=number, where=m.asarray(x > 2)))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "uint64", "float16", "float32"])
def test_searchsorted_compares_exactly(dtype):
    x = np.arange(5).astype(dtype)
    for number in (300, -1, 200, 2**70, -(2**70), 2.5, np.nan, 2**63, 0.1):
        for side in ("left", "right"):
            check(lambda m: m.searchsorted(m.asarray(x), number, side))
            check(lambda m: m.asarray(x).searchsorted(number, side))
    tenth = np.array([0.1], "float32")  # larger than the double 0.1
    check(lambda m: m.searchsorted(m.asarray(tenth), 0.1, "right"))


@pytest.mark.parametrize("function", ["add", "subtract", "multiply", "maximum", "divide"])
@pytest.mark.parametrize("values", ["float32", "float64", "complex64", "int64"])
def test_at_casts_what_it_makes(function, values):
    def updated(m, dtype):
        x = m.asarray(np.arange(1, 6).astype(dtype))
        getattr(m, function).at(x, [0, 1, 1], m.asarray(np.full(3, 2.5).astype(values)))
        return x

    for dtype in ("int8", "int64", "float32"):
        check(lambda m: updated(m, dtype))


@pytest.mark.parametrize("given", [">i4", ">f8", ">f4", ">c8", ">u2", ">i8", ">f2"])
def test_the_other_byte_order_is_swapped(given):
    x = np.array([1, 2, 258], given)
    native = x.astype(x.dtype.newbyteorder("="))
    for array in (cp.asarray(x), cp.array(x)):
        assert array.dtype == native.dtype
        np.testing.assert_array_equal(cp.asnumpy(array), native)
    np.testing.assert_array_equal(cp.asnumpy(cp.add(cp.asarray(native), x)), native + native)


@pytest.mark.parametrize("given", [">i4", ">f8", ">c8", ">u2"])
def test_the_other_byte_order_as_an_argument(given):
    """Stored elements may be in it; arrays are not."""
    stored = np.array([1, 2, 258], given)
    for read in (cp.frombuffer(stored.tobytes(), given), cp.frombuffer(stored.tobytes(), np.dtype(given))):
        assert read.dtype == stored.dtype.newbyteorder("=") and read.tolist() == stored.tolist()
    for ask in (lambda: cp.zeros(2, given), lambda: cp.ones(2).astype(given), lambda: cp.ones(2).view(np.dtype(given))):
        with pytest.raises(TypeError, match=r"byte order.*use dtype.newbyteorder\('='\)"):
            ask()


@pytest.mark.parametrize("numbers", [[2**64, 1], [[1], [-(2**63) - 1]], [2**70, 1.5], (2**70,)], ids=str)
def test_huge_integers_in_lists(numbers):
    assert np.array(numbers).dtype == object
    for make in (cp.array, cp.asarray, lambda n: cp.arange(2) + n, lambda n: cp.concatenate([n, n])):
        with pytest.raises(OverflowError, match=r"Python integer -?\d+ is out of bounds for int64 and uint64"):
            make(numbers)
    check(lambda m: m.array(numbers, float))
    check(lambda m: m.ones(np.shape(numbers), "float32").__iadd__(m.array(numbers, "float32")))


@pytest.mark.parametrize("name", ["c_contiguous", "f_contiguous", "owndata", "fnc", "forc", "nothing"])
def test_flags_but_writeable_stay_as_they_are(name):
    x = cp.zeros((2, 3))
    with pytest.raises(AttributeError, match=name):
        setattr(x.flags, name, True)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1


@pytest.mark.parametrize("rule", RULES)
def test_copyto_of_python_numbers_by_rules(rule):
    for number in (1, 1.5, 1j, True):
        for dtype in DTYPES:

            def write(m):
                x = m.zeros(2, dtype)
                m.copyto(x, number, casting=rule)
                return x

            check(write)


def test_copyto_masks_and_rules():
    x = cp.zeros(3)
    cp.copyto(x, 9, where=[1, 0, 1])
    assert x.tolist() == [9, 0, 9]
    with pytest.raises(ValueError, match="casting must be one of"):
        cp.copyto(x, 1, casting="any")
