"""polyfit in functions that apply_along_axis calls, with weights or places of the slice itself, against NumPy's loop."""

import re
import warnings

import numpy as np
import pytest

import iruka
from helpers import error_of

N = 12
PLACES = np.linspace(-1, 2, N)
WEIGHTS = np.random.default_rng(5).uniform(0.5, 2, N)
FITS = {
    "weights": lambda m: lambda v: m.polyfit(PLACES, v, 1, w=WEIGHTS),
    "weights of the slice": lambda m: lambda v: m.polyfit(PLACES, v, 2, w=abs(v) + 0.1),
    "places of the slice": lambda m: lambda v: m.polyfit(m.cumsum(abs(v) + 0.1), PLACES, 3),
    "the slice at its own places": lambda m: lambda v: m.polyfit(v, v * v + 1, 2, w=WEIGHTS),
    "all of the slice": lambda m: lambda v: m.polyfit(m.cumsum(abs(v) + 1), v, 1, w=abs(v) + 1, rcond=1e-9),
    "a mean": lambda m: lambda v: m.polyfit(v, v * 2, 0),
    "as many places as coefficients": lambda m: lambda v: m.polyfit(m.cumsum(abs(v[:3]) + 1), v[:3], 2),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("name", FITS)
def test_fits_of_each_slice(name, dtype, rng):
    x = rng.normal(size=(20, 7, N)) if dtype != "int64" else rng.permuted(np.tile(np.arange(1, N + 1), (40, 1)), axis=1)
    x = x.astype(dtype)
    expected = np.apply_along_axis(FITS[name](np), -1, x)
    tolerance = 1e-4 if dtype == "float32" else 1e-8  # NumPy multiplies float32 by weights in float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the loop would warn
        for given in (iruka.array(x), iruka.array(np.asfortranarray(x))):
            for module in (np, iruka):
                actual = iruka.apply_along_axis(FITS[name](module), -1, given)
                assert actual.dtype == expected.dtype and actual.shape == expected.shape
                np.testing.assert_allclose(actual.get(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("bad", [3, np.nan, np.inf])
def test_fits_of_poor_condition_are_a_loop(bad, rng):
    x = rng.normal(size=(40, 6))
    x[17] = bad

    def line(v):
        try:
            return np.polyfit(v, v * 2, 1)
        except np.linalg.LinAlgError:  # of what is not finite
            return np.zeros(2)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.RankWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.warns(UserWarning, match="a polyfit of poor condition, or of NaN"):
            actual = iruka.apply_along_axis(line, 1, iruka.array(x))
        np.testing.assert_allclose(actual.get(), np.apply_along_axis(line, 1, x), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("function", [
    lambda v: np.polyfit(v, v, 1, w=v[:3]), lambda v: np.polyfit(v, v, -1), lambda v: np.polyfit(v, v[:2], 1),
    lambda v: np.polyfit(v, v, 1, w=v.reshape(2, 3)),
])  # fmt: skip
def test_errors_are_numpys(function, rng):
    x = rng.normal(size=(20, 6))
    error = error_of(lambda: np.apply_along_axis(function, 1, x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(type(error), match=re.escape(str(error))):
            iruka.apply_along_axis(function, 1, iruka.array(x))


def test_complex_slices_are_a_loop(rng):
    x = rng.normal(size=(20, 6)) + 1j * rng.normal(size=(20, 6))
    with pytest.warns(UserWarning, match="polyfit of complex numbers"):
        actual = iruka.apply_along_axis(lambda v: np.polyfit(v, v * 1j, 1), 1, iruka.array(x))
    np.testing.assert_allclose(actual.get(), np.apply_along_axis(lambda v: np.polyfit(v, v * 1j, 1), 1, x), atol=1e-10)
