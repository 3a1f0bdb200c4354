"""What cannot be fused: the message names the operation as it is written, its line, and what to do instead."""

import math

import numpy as np
import pytest

import iruka
from iruka import guvectorize, jit, vectorize

x = iruka.arange(6.0)
element = iruka.ElementwiseKernel("T x", "T y", "y = x", "element")
reduction = iruka.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "reduction")
staged = iruka.StagedKernel("float64 x", "float64 y", "float64 t", ["t[i] = x;", "y = t[i];"], "staged")
raw = iruka.RawKernel('extern "C" __global__ void raw(double *x) {}', "raw")
numbas = vectorize(["float64(float64)"])(lambda x: x * x)
numpys = vectorize(lambda x: x * x)
of_python = iruka.frompyfunc(lambda x: x, 1, 1)


@guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def first(x, out):
    out[0] = x[0]


@jit.rawkernel()
def threads(x):
    x[jit.grid(1)] = 1


class Holder:
    def __init__(self):
        self.kernel = element


holder = Holder()
OUTSIDE = r"elementwise functions, reductions, where\(condition, x, y\) and views are; call it outside"
JOINED = "return the parts as a tuple, and join them outside"
INDICES = r"where\(condition, x, y\) can be fused, and indices of elements are found outside"
VECTORIZED = r"write its expression with operators and where\(condition, x, y\), or call it outside"
KERNEL = "it is a kernel of its own: call it outside"


@pytest.mark.parametrize(
    "function, called, advice",
    [
        (lambda x: iruka.cumsum(x), "iruka.cumsum", OUTSIDE),
        (lambda x: np.cumsum(x) + 1, "np.cumsum", OUTSIDE),
        (lambda x: iruka.sort(x), "iruka.sort", OUTSIDE),
        (lambda x: iruka.dot(x, x), "iruka.dot", OUTSIDE),
        (lambda x: iruka.linalg.norm(x), "iruka.linalg.norm", OUTSIDE),
        (lambda x: iruka.add.accumulate(x), "iruka.add.accumulate", OUTSIDE),
        (lambda x: iruka.arange(x), "iruka.arange", OUTSIDE),
        (lambda x: iruka.concatenate([x, x]), "iruka.concatenate", JOINED),
        (lambda x: np.concatenate([x, x]), "np.concatenate", JOINED),
        (lambda x: iruka.hstack([x, x]), "iruka.hstack", JOINED),
        (lambda x: iruka.stack([x, x]), "iruka.stack", JOINED),
        (lambda x: iruka.where(x > 0), "iruka.where", INDICES),
        (lambda x: np.where(x > 0), "np.where", INDICES),
        (lambda x: iruka.nonzero(x), "iruka.nonzero", INDICES),
        (lambda x: numbas(x), "numbas", VECTORIZED),
        (lambda x: numpys(x), "numpys", VECTORIZED),
        (lambda x: first(x), "first", VECTORIZED),
        (lambda x: of_python(x), "of_python", VECTORIZED),
        (lambda x: element(x), "element", KERNEL),
        (lambda x: holder.kernel(x), "holder.kernel", KERNEL),
        (lambda x: reduction(x), "reduction", KERNEL),
        (lambda x: staged(x), "staged", KERNEL),
        (lambda x: raw((1,), (1,), (x,)), "raw", KERNEL),
        (lambda x: threads((1,), (6,), (x,)), "threads", KERNEL),
        (lambda x: threads[1, 6](x), r"threads\[1, 6\]", KERNEL),
    ],
)
def test_calls(function, called, advice):
    words = rf"^<lambda> cannot be fused \(.*test_fuse_refusals.py, line \d+\): {called} is not part of a fused function; {advice}"
    with pytest.raises(TypeError, match=words) as caught:
        iruka.fuse(function)(x)
    _, line, carets = str(caught.value).split("\n")
    marked = line[carets.index("^") : carets.rindex("^") + 1]
    assert marked.startswith(called.replace("\\", "")) and marked.endswith(")")


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda x: x.cumsum(), rf"ndarray.cumsum is not part of a fused function; {OUTSIDE}"),
        (lambda x: x.tolist(), "so it is no Python number, list or index"),
        (lambda x: math.sin(x), "so it is no Python number, list or index"),
        (lambda x: x + iruka.zeros(6), "give it as an argument; zeros_like, ones_like and full_like make one inside"),
        (
            lambda x: iruka.sort(
                x,
            ),
            rf"sort is not part of a fused function; {OUTSIDE}",
        ),
    ],
)
def test_other_operations(function, words):
    with pytest.raises(TypeError, match=words):
        iruka.fuse(function)(x)
