"""guvectorize: assignments to whole arrays whose expressions call functions that change arrays, and their indices.

Each function itself, called with NumPy's arrays, is the reference.
"""

import numpy as np
import pytest

from iruka import guvectorize
from iruka.errors import TranslationError


def spoilt(array, value):
    array[0] = 100.0
    return value * 2


def changed(array):
    array[1] = 7.0
    return array


def given_back(x, out):
    out[0] = 7.0
    return x


def first_of(array):
    return array[0]


def call_behind_an_input(x, out):
    out[:] = x * 2 + spoilt(out, x[1])


def call_behind_the_output(x, out):
    out[:] = out + spoilt(out, 1.0)


def call_in_front(x, out):
    out[:] = spoilt(out, 1.0) + out * 2


def call_among_arguments(x, out):
    out[:] = np.where(x > 2, spoilt(out, 3.0), out)


def call_that_gives_the_output(x, out):
    out[:] = x + changed(out)


def call_that_gives_the_input(x, out):
    out[:] = given_back(x, out)


def call_that_chooses(x, out):
    out[:] = (x if spoilt(out, 1.0) > 0 else out) + out


def call_that_reads(x, out):
    out[:] = out * 2 + first_of(out)


def element_of_the_output(x, out):
    out[:] = out[2] - out + out[0]


def update(x, out):
    out[:] += spoilt(out, 1.0)
    out *= spoilt(out, x[0]) + out


def other_name(x, out):
    same = out
    same[...] = same[3] - out


EFFECTS = [
    call_behind_an_input, call_behind_the_output, call_in_front, call_among_arguments, call_that_gives_the_output,
    call_that_gives_the_input, call_that_chooses, call_that_reads, element_of_the_output, update, other_name,
]  # fmt: skip


@pytest.mark.parametrize("function", EFFECTS)
def test_effects_come_in_numpys_order(function):
    x, expected = np.arange(1.0, 5), np.arange(4.0) + 10
    made, out = guvectorize("(n)->(n)")(function), expected.copy()
    function(x, expected)
    made(x, out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("function", EFFECTS)
@pytest.mark.parametrize("given", [slice(0, 4), slice(2, 6), slice(4, None, -1)])
def test_inputs_that_overlap_the_output_keep_their_values(function, given):
    buffer = np.arange(8.0) + 1
    x, expected = buffer[given][:4].copy(), buffer[1:5].copy()
    function(x, expected)
    guvectorize("(n)->(n)")(function)(buffer[given][:4], buffer[1:5])
    np.testing.assert_array_equal(buffer, [1, *expected, 6, 7, 8])


def call_behind_a_computed_array(x, out):
    out[:] = out * 1.0 + spoilt(out, 1.0)


def call_behind_a_condition(x, out):
    out[:] = np.where(out > 2, spoilt(out, 3.0), x)


def call_in_an_update(x, out):
    out += -out + spoilt(out, 1.0)


@pytest.mark.parametrize(
    "function", [call_behind_a_computed_array, call_behind_a_condition, call_in_an_update],
)  # fmt: skip
def test_a_call_that_changes_what_is_yet_to_be_read(function):
    """NumPy would have computed the expression before the call; a kernel computes it element by element afterwards."""
    with pytest.raises(TranslationError, match="changes an array, and the expression before it .* own") as error:
        guvectorize("(n)->(n)")(function)(np.ones(4), np.ones(4))
    line, caret = str(error.value).split("\n")[1:]
    assert line[caret.index("^") :].startswith("spoilt(out")


def computed(x):
    return x * 2 + 1


def a_function_of_an_array(x, out):
    out[:] = computed(x)


def a_lambda_of_an_array(x, out):
    scaled = lambda values: values * 2
    out[:] = scaled(x)


@pytest.mark.parametrize("function", [a_function_of_an_array, a_lambda_of_an_array])
def test_functions_return_no_computed_arrays(function):
    with pytest.raises(
        TranslationError, match=r"returns no arrays .*def f\(x, out\): out\[:\] = ..., or return a number"
    ):
        guvectorize("(n)->(n)")(function)(np.ones(4), np.ones(4))


# Indices of whole arrays


def ellipsis_in_front(x, out):
    out[:, :] = x[..., 0, 0]


def ellipsis_between(x, out):
    out[1, ..., 1] = x[0, ..., 2]
    out[0, 0, ...] = 5
    out[0, 1, ...] += x[1, 1]


def ellipsis_behind(x, out):
    out[1, ...] = x[0, ...]
    out[..., :] += 1
    out[0, :] -= x[1, :]


def empty_index(x, out):
    out[()] = x[()]


@pytest.mark.parametrize("function", [ellipsis_in_front, ellipsis_between, ellipsis_behind, empty_index])
def test_ellipses(function):
    x, expected = np.arange(6.0).reshape(2, 3), np.full((2, 3), 9.0)
    out = expected.copy()
    function(x, expected)
    guvectorize("(m,n)->(m,n)")(function)(x, out)
    np.testing.assert_array_equal(out, expected)


def three_for_a_number(x, out):
    out[:, :, :] = 1


def three_for_an_array(x, out):
    out[:] = x[:, :, :]


def a_row_too_deep(x, out):
    out[0, 0, :] = 5


def an_update_too_deep(x, out):
    out[0, :, :] += x[0]


def an_element_too_deep(x, out):
    out[0, 1, 2] = 1


def dots_and_three(x, out):
    out[..., :, :, :] = x


TOO_MANY = [
    three_for_a_number, three_for_an_array, a_row_too_deep, an_update_too_deep, an_element_too_deep, dots_and_three,
]  # fmt: skip


@pytest.mark.parametrize("function", TOO_MANY)
def test_more_indices_than_axes(function):
    with pytest.raises(IndexError, match="too many indices"):
        function(np.ones((2, 3)), np.ones((2, 3)))
    words = "too many indices: float64 array of 2 axes takes 2 indices, not 3"
    with pytest.raises(TranslationError, match=words) as error:
        guvectorize("(m,n)->(m,n)")(function)(np.ones((2, 3)), np.ones((2, 3)))
    assert f"line {function.__code__.co_firstlineno + 1}" in str(error.value)


def two_dots(x, out):
    out[..., ...] = x


def a_column(x, out):
    out[:, 0] = 5


def test_indices_without_a_kernel():
    for function, words in ((two_dots, "a single ellipsis"), (a_column, "slices of arrays are not supported here")):
        with pytest.raises(TranslationError, match=words):
            guvectorize("(m,n)->(m,n)")(function)(np.ones((2, 3)), np.ones((2, 3)))


# Updates of arrays of integers


def scaled_in_place(x, out):
    out *= 1.5


def scaled_elements(x, out):
    out[:] /= 2


def scaled_row(x, out):
    out[...] += x * 0.5


@pytest.mark.parametrize("function", [scaled_in_place, scaled_elements, scaled_row])
def test_floats_do_not_become_integers_in_place(function):
    x = np.arange(4)
    with pytest.raises(TypeError, match="same_kind"):
        function(x, x.copy())
    with pytest.raises(
        TranslationError, match=r"= makes float64 of the elements, and the array has int64; .* out\[:\] ="
    ):
        guvectorize("(n)->(n)")(function)(x, x.copy())
    out = np.arange(4.0)
    guvectorize("(n)->(n)")(function)(x, out)
    expected = np.arange(4.0)
    function(x, expected)
    np.testing.assert_array_equal(out, expected)


def integers_in_place(x, out):
    out[:] //= 2
    out += x
    out[1] *= 1.5
    out[:] |= 1


def test_integers_in_place():
    x, expected, out = np.arange(4), np.arange(4) + 7, np.arange(4) + 7
    integers_in_place(x, expected)
    guvectorize("(n)->(n)")(integers_in_place)(x, out)
    np.testing.assert_array_equal(out, expected)
