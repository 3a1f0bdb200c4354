"""apply_along_axis: functions that order the slice by keys, write into out=, or find roots, for all slices at once."""

import warnings

import numpy as np
import pytest

import iruka

rng = np.random.default_rng(4)


def into_own_arrays(m):
    def function(v):
        made = m.empty_like(v)
        m.add(v, 1, out=made)
        m.multiply(made, made, out=made)
        m.cumsum(made, out=made)
        return made

    return function


def into_a_tuple(m):
    def function(v):
        whole, part = m.zeros(v.shape), m.zeros(v.shape)
        m.modf(v, out=(part, whole))
        return whole - 2 * part

    return function


def largest_pair(m):
    def function(v):
        pairs = sorted([v[0], v[1] * 2, v[2] - 1, v[3]], key=lambda each: each * each)
        return m.array([pairs[0], pairs[-1]])

    return function


FUNCTIONS = {
    "roots": lambda m: lambda v: m.sort(abs(m.roots(v + 20))),
    "lexsort": lambda m: lambda v: m.lexsort((v, m.round(v), m.round(v) % 2)),
    "lexsort of one": lambda m: lambda v: m.lexsort([m.round(v)]),
    "unique with counts": lambda m: lambda v: m.max(m.unique(m.round(v), return_counts=True)[1]),
    "unique with the inverse": lambda m: lambda v: m.unique(m.round(v), return_inverse=True)[1],
    "unique with all": lambda m: lambda v: sum(each[0] + each[-1] for each in m.unique(m.round(v), True, True, True)),
    "unique of rows": lambda m: lambda v: m.unique(m.round(v).reshape(2, -1), return_inverse=True)[1],
    "sorted by a key": lambda m: lambda v: m.array(sorted(v, key=lambda each: -each)),
    "sorted backwards by a key": lambda m: (
        lambda v: m.array(sorted(v, key=lambda each: abs(m.round(each)), reverse=True))
    ),
    "sorted backwards": lambda m: lambda v: m.array(sorted([v[0], v[2], v[1]], reverse=True)),
    "min by a key": lambda m: lambda v: min(v, key=lambda each: abs(each - 0.5)),
    "max by a key": lambda m: lambda v: max(v, key=lambda each: abs(m.round(each))),
    "the first of equal keys": lambda m: (
        lambda v: m.array([min(v, key=lambda each: each * 0), max(v, key=lambda each: each * 0)])
    ),
    "pairs": largest_pair,
    "out": into_own_arrays,
    "out of two": into_a_tuple,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_functions_run_on_all_slices_at_once(name, dtype):
    x = (3 * rng.normal(size=(40, 20, 6))).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = iruka.apply_along_axis(FUNCTIONS[name](iruka), 2, iruka.array(x))
    expected = np.apply_along_axis(FUNCTIONS[name](np), 2, x)
    assert made.dtype == expected.dtype and made.shape == expected.shape
    np.testing.assert_allclose(iruka.asnumpy(made), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda v: iruka.roots(v * 0 + 1 - (iruka.arange(6) == 0)).size, "first or last coefficient is zero"),
        (lambda v: iruka.unique(iruka.where(v > 0, iruka.nan, v), return_counts=True)[1].max(), "unique of NaN"),
        (lambda v: sorted(v, key=lambda each: (each, 1))[0], "sorted"),
    ],
)
def test_what_the_loop_runs(function, words):
    x = iruka.array(rng.normal(size=(20, 6)))
    with pytest.warns(UserWarning, match="for each slice in Python") as caught:
        try:
            iruka.apply_along_axis(function, 1, x)
        except (TypeError, ValueError):
            pass  # what the function raises for one slice, too
    assert words in str(caught[0].message)
