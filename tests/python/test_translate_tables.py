"""Arrays, lists and tuples outside of translated functions: tables that a variable indexes, with Python's results."""

import math
import types

import numpy as np
import pytest

import iruka
from iruka import jit
from iruka.errors import TranslationError

rng = np.random.default_rng(7)
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip
NUMBERS = [3, -1, 4, 1, -5, 9, 2, 6]
MIXED = (0, 0.5, True, 2, 3.25, -1e300)
EXTREMES = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, 0.1]
WIDE = [2**63 - 1, -(2**63), 0]
UNSIGNED = [2**64 - 1, 2**63, 0]
TRUTHS = (True, False, False, True, True)
MATRIX = rng.integers(-(2**15), 2**15, (3, 4)).astype("int16")
CUBE = rng.normal(size=(2, 3, 4))
NESTED = ((1, 2, 3), (4, 5, 6))
NEIGHBOURS = [(0, 1, 0.5), (1, 0, 0.25), (-1, 0, 0.125), (0, -1, 1.0), (2, 2, -2.0)]
STEPS = [[0, 1], [1, 0], [-1, -1]]
DEVICE = iruka.array([1.5, -2.5, 4.0])
SCALAR = np.array(2.5)
LARGE, LARGEST = np.zeros(4097), np.arange(4096.0)
WORDS, RAGGED, NAMED = [1, "two"], [[1], [2, 3]], {0: 1}
module = types.SimpleNamespace(table=rng.normal(size=6))
INDICES = np.arange(-2, 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_all_dtypes(dtype):
    values = rng.normal(size=9) * 100 + (1j * rng.normal(size=9) if "complex" in dtype else 0)
    table = values.astype(dtype) if dtype[0] != "u" else np.abs(values).astype(dtype)
    table[0] = 1
    if table.dtype.kind in "iu":
        table[1:3] = np.iinfo(dtype).max, np.iinfo(dtype).min
    elif table.dtype.kind == "f":
        table[1:4] = np.nan, np.inf, np.finfo(dtype).smallest_subnormal

    def at(i):
        return table[i]

    places = np.arange(-9, 9)
    found = iruka.vectorize(target="cpu")(at)(iruka.array(places))
    np.testing.assert_array_equal(found.get(), table[places])
    assert found.dtype == dtype


def of_numbers(i):
    return NUMBERS[i] * 10 + NUMBERS[i + 2] + NUMBERS[0] + NUMBERS[-1]


def of_mixed(i):
    return MIXED[i + 2]


def of_two(i):
    return (1, 2.5)[i]


def of_extremes(i):
    return EXTREMES[i], EXTREMES[i + 3], EXTREMES[i - 3]


def of_wide(i):
    return WIDE[i]


def of_unsigned(i):
    return UNSIGNED[i]


def of_truths(i):
    return TRUTHS[i]


def of_rows(i):
    return MATRIX[i, i + 2] + MATRIX[i][1 - i] * 2 + MATRIX[-1, i] * 3 + MATRIX[1][i] + MATRIX[2, 3]


def of_planes(i):
    return CUBE[i][-1, i] + CUBE[i, i][i] + CUBE[1][2][i + 2] + CUBE[1, 2, 3]


def of_nested(i):
    return NESTED[i][i] * 10 + NESTED[i][-1] + NESTED[1][i]


def of_a_slice(i):
    return NUMBERS[1:5][i] + NUMBERS[::-2][i]


def of_a_module(i):
    return module.table[i] * module.table[0]


def of_a_device(i):
    return float(DEVICE[i]) + float(DEVICE[1])


def with_a_scalar(i):
    return SCALAR * i + SCALAR


def loops(i):
    total = 0
    for number in NUMBERS:
        total = total * 3 + number
    for row in MATRIX:
        for number in row:
            total += int(number)
        total += int(row[i]) * 2
    for k, (dx, dy, weight) in enumerate(NEIGHBOURS):
        total += k * dx * i + dy * weight
    for dx, dy in STEPS:
        total = total * 2 + dx * i - dy
    for a, b in zip(NUMBERS, reversed(MIXED)):
        total += a * min(b, 3.0)
    return total


def whole_sequences(i):
    a, b, c = WIDE
    return (len(NUMBERS) + sum(NUMBERS) + max(NUMBERS) + min(NUMBERS) + len(MATRIX) + MATRIX.shape[1] + MATRIX.size,
            i in NUMBERS, i not in NUMBERS, a, b + i * 0, c)  # fmt: skip


def of_largest(i):
    return LARGEST[i * 1000] + LARGEST[-1]


def weighted(table, i):
    return table[i] * 2 + len(table)


def given_to_functions(i):
    row = MATRIX[i]
    return weighted(NUMBERS, i) + weighted(row, i) + weighted(MATRIX[1], -i - 1)


def rows_in_variables(i):
    row = MATRIX[0]
    if i > 0:
        row = MATRIX[i]
    take = lambda k: int(row[k])
    return take(i) + take(-1)


FUNCTIONS = [
    of_numbers, of_mixed, of_two, of_extremes, of_wide, of_unsigned, of_truths, of_rows, of_planes, of_nested,
    of_a_slice, of_a_module, of_a_device, with_a_scalar, loops, whole_sequences, of_largest, given_to_functions,
    rows_in_variables,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_pythons(function):
    found = iruka.vectorize(target="cpu")(function)(iruka.array(INDICES))
    with np.errstate(over="ignore"):
        wanted = [function(i) for i in INDICES.tolist()]
    columns = list(zip(*wanted, strict=True)) if isinstance(wanted[0], tuple) else [wanted]
    for one, column in zip(found if isinstance(found, tuple) else [found], columns, strict=True):
        if function is of_rows:  # kernels add int16 in 64 bits
            column = [
                int(MATRIX[i, i + 2]) + int(MATRIX[i][1 - i]) * 2 + int(MATRIX[-1, i]) * 3 + int(MATRIX[1][i])
                + int(MATRIX[2, 3]) for i in INDICES.tolist()
            ]  # fmt: skip
        if function is given_to_functions:
            column = [
                weighted(NUMBERS, i) + int(MATRIX[i][i]) * 2 + 4 + int(MATRIX[1][-i - 1]) * 2 + 4
                for i in INDICES.tolist()
            ]
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one.get(), np.array(column, "float64"), rtol=1e-14)
        else:
            assert one.dtype.kind in "iub" and one.tolist() == list(column)


def test_results_of_many_threads_and_lanes():
    places = rng.integers(-8, 8, 100003)
    found = iruka.vectorize(["int64(int64)"])(lambda i: NUMBERS[i])(iruka.array(places))
    np.testing.assert_array_equal(found.get(), np.array(NUMBERS)[places])


@pytest.mark.parametrize("place", [8, -9, 2**40, -(2**63)])
def test_indices_are_checked(place):
    f = iruka.vectorize(target="cpu")(lambda i: NUMBERS[i])
    with iruka.device("cpu"), pytest.raises(IndexError, match="list index out of range"):
        f(np.array([0, 7, place]))
    g = iruka.vectorize(target="cpu")(lambda i: CUBE[0, i, 1])
    with iruka.device("cpu"), pytest.raises(IndexError, match="out of bounds"):
        g(np.array([0, place]))


def test_values_are_those_when_the_kernel_is_made():
    table = [1, 2, 3]
    f = iruka.vectorize(target="cpu")(lambda i: table[i])
    assert f(np.array([0, -1])).tolist() == [1, 3]
    table[0] = 100
    assert f(np.array([0, -1])).tolist() == [1, 3]
    assert iruka.vectorize(target="cpu")(lambda i: table[i])(np.array([0, -1])).tolist() == [100, 3]


@iruka.guvectorize(["void(int64[:], float64[:])"], "(n)->(n)")
def looked_up(x, out):
    for k in range(len(x)):
        out[k] = 0
        for column in range(4):
            out[k] += CUBE[x[k], -1, column] * NUMBERS[column]


@jit.rawkernel()
def gathered(x, numbers, weights, z):
    k = jit.grid(1)
    if k < x.size:
        numbers[k] = NUMBERS[x[k]] + MATRIX[1, x[k]]
        weights[k] = 0
        for dx, dy, weight in NEIGHBOURS:
            weights[k] += (dx + 2 * dy) * weight
        z[k] = Z[x[k]] + HALVES[x[k]]


Z = np.array([1 + 2j, -3.5, 1j])
HALVES = np.array([0.5, 65504, -1], "float16")


def test_kernels_of_arrays():
    x = np.array([0, 1, 1, 0, -1])
    np.testing.assert_allclose(looked_up(iruka.array(x)).get(), (CUBE[x, -1] * NUMBERS[:4]).sum(-1), rtol=1e-14)
    x = np.array([0, 1, 2, 1, 0])
    out = [iruka.zeros(5, dtype) for dtype in ("int64", "float32", "complex128")]
    gathered[1, 32](iruka.array(x), *out)
    assert out[0].tolist() == (np.array(NUMBERS)[x] + MATRIX[1, x].astype(int)).tolist()
    assert out[1].tolist() == [sum((dx + 2 * dy) * weight for dx, dy, weight in NEIGHBOURS)] * 5
    np.testing.assert_array_equal(out[2].get(), Z[x] + HALVES[x].astype(float))


def of_large(i):
    return LARGE[i]


def of_words(i):
    return WORDS[i]


def of_ragged(i):
    return RAGGED[i][0]


def of_a_dict(i):
    return NAMED[i]


def slice_of_an_array(i):
    return MATRIX[0][1:3]


def too_many_indices(i):
    return MATRIX[i, i, i]


def too_large_an_index(i):
    return MATRIX[i, 4]


def changes_a_row(i):
    row = MATRIX[i]
    row[0] = 1
    return row[0]


def changes_a_list(i):
    NUMBERS[0] = i
    return i


def sum_of_many(i):
    return sum(LARGEST)


def of_a_float(i):
    return NUMBERS[i * 0.5]


REFUSED = {
    of_large: ("4097 elements are too many for a constant.*at most 4096; make the array an argument", "LARGE[i]"),
    of_words: ("an element of this list is str, so the index must be known", "WORDS[i]"),
    of_ragged: ("the rows differ in length", "RAGGED[i]"),
    of_a_dict: ("the index of this dict must be known", "NAMED[i]"),
    slice_of_an_array: ("slices of arrays are not supported here; use a loop", "1:3]"),
    too_many_indices: (r"an array of shape \(3, 4\) takes 2 indices, not 3", "MATRIX[i, i, i]"),
    too_large_an_index: ("index 4 is out of bounds for an axis of 4", "MATRIX[i, 4]"),
    changes_a_row: (r"constant int16 array of shape \(4,\) cannot be changed", "row[0] = 1"),
    changes_a_list: ("list cannot be changed", "NUMBERS[0] = i"),
    sum_of_many: ("has 4096 elements; use a loop", "sum(LARGEST)"),
    of_a_float: ("an index must be an integer, not float64", "NUMBERS[i * 0.5]"),
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refusals_show_the_line(function):
    message, line = REFUSED[function]
    with pytest.raises(TranslationError, match=message) as caught:
        iruka.vectorize(target="cpu")(function)(INDICES)
    shown = str(caught.value).splitlines()
    assert line in shown[1] and shown[2].strip() == "^"
