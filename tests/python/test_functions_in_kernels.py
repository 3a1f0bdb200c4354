"""Functions that vectorize, guvectorize, fuse and jit.rawkernel made, and kernels, called from other Python functions."""

import math

import numpy as np
import pytest

import iruka
from iruka import guvectorize, jit, vectorize
from iruka.errors import TranslationError

rng = np.random.default_rng(8)


@vectorize(["float64(float64)", "float32(float32)"])
def squared(x):
    return x * x


@vectorize(target="cpu")
def shifted(x, by=1):
    return x + by


@vectorize
def numpys(x):
    return x / 2


@vectorize(["float32(float32)"])
def single(x):
    return x / 3


@vectorize(["UniTuple(float32, 2)(float64, float64)"])
def polar(x, y):
    return math.hypot(x, y), math.atan2(y, x)


@jit.rawkernel(device=True)
def halved(x):
    return x / 2


@jit.rawkernel()
def threads(x):
    x[jit.grid(1)] = 1


@guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def total(x, out):
    out[0] = 0
    for value in x:
        out[0] += value


@iruka.fuse
def fused(x):
    return x + 1


element = iruka.ElementwiseKernel("T x", "T y", "y = x", "element")


def test_vectorized_functions_are_called_by_vectorized_functions():
    x = rng.normal(size=50)

    @vectorize(["float64(float64)"])
    def both(x):
        return squared(x) + shifted(x, 2) + numpys(x) + halved(x)

    np.testing.assert_allclose(both(x), x * x + x + 2 + x, rtol=1e-14)
    np.testing.assert_allclose(vectorize(lambda x: shifted(by=x, x=3))(x).get(), x + 3)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64"])
def test_casts_are_those_of_the_signature(dtype):
    """As in a call: the arguments go to the first signature that takes them, the results have its dtypes."""
    x = rng.integers(1, 90, 20).astype(dtype)
    calling = vectorize(target="cpu")(lambda x: squared(x))
    np.testing.assert_array_equal(calling(x), squared(x))
    assert calling(x).dtype == squared(x).dtype


def test_results_are_rounded_as_the_signature_says():
    x = rng.normal(size=20).astype("f4")
    r, angle = vectorize(target="cpu")(lambda x, y: polar(x, y))(x.astype("f8"), 1.5)
    expected = polar(x.astype("f8"), 1.5)
    assert r.dtype == angle.dtype == "f4"
    np.testing.assert_array_equal(r, expected[0])
    np.testing.assert_array_equal(angle, expected[1])
    np.testing.assert_array_equal(vectorize(target="cpu")(lambda x: single(x) * 3.0)(x), single(x).astype("f8") * 3)


def test_other_forms_call_them():
    x = rng.normal(size=(4, 5))

    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def rows(x, out):
        for k in range(len(x)):
            out[k] = squared(x[k]) + numpys(x[k])

    np.testing.assert_allclose(rows(x), x * x + x / 2, rtol=1e-14)

    @jit.rawkernel()
    def kernel(x, y):
        k = jit.grid(1)
        if k < x.size:
            y[k] = shifted(squared(x[k])) + halved(x[k])

    y = iruka.zeros(20)
    kernel[1, 32](iruka.asarray(x.ravel()), y)
    np.testing.assert_allclose(y.get(), (x * x + 1 + x / 2).ravel(), rtol=1e-14)


def test_a_python_function_of_arrays_is_called():
    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
    def both(x, y, out):
        total.py_func(x, out)
        first = out[0]
        total.py_func(y, out)
        out[0] += first

    x, y = rng.normal(size=(2, 3, 4))
    np.testing.assert_allclose(both(x, y), x.sum(1) + y.sum(1))


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda x: total(x), r"total\(\) is a generalized function.*total.py_func, with the outputs"),
        (lambda x: fused(x), r"fused\(\) is a fused function.*fused.__wrapped__"),
        (lambda x: threads(x), r"threads\(\) is a kernel, which is launched from outside; .*device=True"),
        (
            lambda x: element(x),
            "ElementwiseKernel, which is launched from outside; write its body as a Python function",
        ),
        (lambda x: squared((x, x)), r"squared\(\) takes numbers, not \(float64, float64\)"),
        (lambda x: squared(x * 1j), r"'squared' did not contain a loop with signature matching types \(complex128\)"),
        (lambda x: squared(x, x), r"squared\(\) too many positional arguments"),
        (lambda x: jit.grid(1), r"jit.grid\(\) has a meaning only in a function under @jit.rawkernel"),
        (lambda x: jit.threadIdx.x + x, "threadIdx.x has a meaning only in a function under @jit.rawkernel"),
        (lambda x: excluding(x), "vectorized without a kernel; write a Python function of numbers"),
    ],
)
def test_what_cannot_be_called(function, words):
    with pytest.raises(TranslationError, match=words) as caught:
        vectorize(["float64(float64)"])(function)
    assert "test_functions_in_kernels.py, line" in str(caught.value) and str(caught.value).endswith("^")


excluding = vectorize(lambda x, y=1: x, excluded=[1])


def test_a_vectorized_function_that_calls_itself():
    with pytest.raises(TranslationError, match="calls itself; a kernel has no recursion"):
        factorial(np.ones(1))


@vectorize(target="cpu")
def factorial(n):
    return n * factorial(n - 1) if n > 0 else 1
