"""Dtypes, values and comparisons that the tests share. Expected values always come from NumPy."""

import functools
import os
import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import iruka

PATIENCE = float(os.environ.get("IRUKA_TEST_PATIENCE", 1))  # how much longer time limits are; sanitizers need more
HAS_THREAD_SANITIZER = "libtsan" in os.environ.get("LD_PRELOAD", "")
HAS_SANITIZER = any(name in os.environ.get("LD_PRELOAD", "") for name in ("libasan", "libtsan"))
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NUMPY_DTYPES = [
    np.dtype(name)
    for name in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
]
DTYPES = NUMPY_DTYPES + [BFLOAT16]
# Of tests that divide by zero, overflow and the like on purpose. What is warned of, test_errstate.py tests.
beyond_numbers = pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")
DTYPE_IDS = [d.name for d in DTYPES]


def kind(dtype):
    """numpy's kind letter, with bfloat16 a float."""
    return "f" if dtype == BFLOAT16 else np.dtype(dtype).kind


def values(dtype, shape, rng, low=-9, high=9):
    """Small values of a dtype: exact in every dtype, with some zeros."""
    dtype = np.dtype(dtype)
    if kind(dtype) == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind(dtype) == "u":
        return rng.integers(0, high + 1, shape).astype(dtype)
    if kind(dtype) == "i":
        return rng.integers(low, high + 1, shape).astype(dtype)
    numbers = rng.integers(low * 4, high * 4 + 1, shape) / 4
    if kind(dtype) == "c":
        return (numbers + 1j * rng.integers(low * 4, high * 4 + 1, shape) / 4).astype(dtype)
    return np.asarray(numbers).astype(dtype)


def layouts(array):
    """The same values in several layouts: (name, array of iruka, NumPy's view of the same kind)."""
    yield "contiguous", iruka.array(array), array
    if array.ndim:
        doubled = np.repeat(array, 2, axis=-1)
        yield "every other", iruka.array(doubled)[..., ::2], doubled[..., ::2]
        yield "backwards", iruka.array(array)[::-1], array[::-1]
    if array.ndim > 1:
        yield "transposed", iruka.array(np.ascontiguousarray(array.T)).T, array


def widened(array):
    """A NumPy array in the next larger precision, for a reference that is more exact than what is tested."""
    wider = {
        "bfloat16": "float64",
        "float16": "float64",
        "float32": "float64",
        "float64": "longdouble",
        "complex64": "complex128",
        "complex128": "clongdouble",
    }
    return array.astype(wider[array.dtype.name]) if array.dtype.name in wider else array


def epsilon(dtype):
    return float(finfo(dtype).eps)


def finfo(dtype):
    return (ml_dtypes.finfo if np.dtype(dtype) == BFLOAT16 else np.finfo)(dtype)


def smallest(dtype):
    return float(finfo(dtype).smallest_subnormal)


def overflowed(reference, dtype):
    """What is too large for `dtype` is infinite in it."""
    largest = np.longdouble(float(finfo(dtype).max)) * (1 + np.longdouble(epsilon(dtype)) / 4)
    return np.where(np.abs(reference) > largest, np.copysign(np.longdouble(np.inf), reference), reference)


def assert_same(actual, expected, ulps=0, message=""):
    """Equal shape, dtype and elements; floats may differ by `ulps` units in the last place."""
    assert isinstance(actual, iruka.ndarray), type(actual)
    actual = iruka.asnumpy(actual)
    expected = np.asarray(expected)
    assert actual.shape == expected.shape, (actual.shape, expected.shape, message)
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype, message)
    if ulps == 0 or kind(expected.dtype) in "biu":
        np.testing.assert_array_equal(actual, expected, err_msg=message)
        return
    assert_close(actual, expected, expected.dtype, ulps, message)


def assert_close(actual, reference, dtype, ulps, message=""):
    """`actual` within `ulps` units in the last place of `dtype` from a reference that may be more exact."""
    if kind(np.dtype(dtype)) == "c":
        size = np.abs(np.asarray(reference).astype(np.clongdouble))
        for part in ("real", "imag"):
            _assert_parts(getattr(actual, part), getattr(reference, part), dtype, ulps, size, message)
    else:
        _assert_parts(actual, reference, dtype, ulps, np.abs(np.asarray(reference).astype(np.longdouble)), message)


def _assert_parts(actual, reference, dtype, ulps, size, message):
    actual, reference = np.asarray(actual).astype(np.longdouble), np.asarray(reference).astype(np.longdouble)
    with np.errstate(all="ignore"):
        reference = overflowed(reference, dtype)
        tolerance = ulps * np.maximum(size * epsilon(dtype), smallest(dtype))
        fine = (
            (actual == reference) | (np.isnan(actual) & np.isnan(reference)) | (np.abs(actual - reference) <= tolerance)
        )
    if not np.all(fine):
        first = np.unravel_index(np.argmin(fine), fine.shape)
        raise AssertionError(
            f"{message}: element {tuple(map(int, first))} is {actual[first]!r}, expected {reference[first]!r} "
            f"within {ulps} ulps of {np.dtype(dtype).name}; {np.sum(~fine)} of {fine.size} differ"
        )


def folds_rightly(ufunc, x):
    """Whether NumPy's reduce is what its own steps give: power's and arctan2's are not where NumPy uses AVX-512."""
    if ufunc not in (np.power, np.arctan2):
        return True
    try:
        with np.errstate(all="ignore"):
            steps = functools.reduce(ufunc, np.moveaxis(x, -1, 0))
            return np.allclose(ufunc.reduce(x, axis=-1), steps, rtol=1e-3, equal_nan=True)
    except TypeError:  # no such loop, which is the test's to compare
        return True


def run_python(code, timeout=120, folder=None, **environment):
    """Runs a program in a new process, in `folder`; returns what it did. Objects of the binding do not outlive it."""
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=timeout * PATIENCE, env=env
    )
    assert "nanobind: leaked" not in done.stderr, done.stderr
    return done


def run_program(program, *arguments, folder):
    """Runs a program's file in a new process, in `folder`; returns what it did."""
    return subprocess.run(
        [sys.executable, program, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300 * PATIENCE,
    )


def run_fuzzer(name, *arguments, planted=""):
    """Runs tests/fuzz/NAME in a new process, after the statements of `planted`, which may plant a fault."""
    folder = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / name
    return run_python(f"""
import runpy, sys
{planted}
sys.argv = [{name!r}, *{list(map(str, arguments))!r}]
runpy.run_path({str(folder)!r}, run_name='__main__')""")


def error_of(call):
    """What the call raises; it must."""
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("no error")
