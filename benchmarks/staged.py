"""StagedKernel beside the same work kernel by kernel: python benchmarks/staged.py [--size 16777216] [--row 1024]

Milliseconds of a call on large float32 arrays and microseconds of a call on a few elements: staged, as
ElementwiseKernels one after the other, as Iruka's functions of arrays, by Numba's parallel loops, and on a GPU by
CuPy's ElementwiseKernels. Ratios are to the staged kernel's time. The floor is a kernel that copies the input.
IRUKA_DEVICE=cuda measures the GPU. Numba and CuPy are left out where they are not installed.
"""

import argparse
import os

import numpy as np

import iruka
from measure import device_timer, interleaved, markdown, per_call, processor

ON_GPU = os.environ.get("IRUKA_DEVICE") == "cuda"
try:
    import numba
except ImportError:
    numba = None
try:
    import cupy
except ImportError:
    cupy = None

SLOPES = "slope[i] = _J + 1 < _slice.size() ? x[i + 1] - x[i] : 0;"
ENERGY = """
float sum = 0;
for (int k = -2; k <= 2; ++k)
  if (_J + k >= 0 && _J + k < _slice.size()) sum += slope[i + k] * slope[i + k];
y = sum;
"""
PLACE = "const ptrdiff_t _J = i % width; struct { ptrdiff_t n; ptrdiff_t size() { return n; } } _slice{width};"
# Each of 64 elements takes every 64th; then half as many in each of six steps.
PARTS = "for (ptrdiff_t k = _J + 64; k < _slice.size(); k += 64) {join};"
HALVES = "const int half = 32 >> _step;\nif (_J + half < _slice.size()) {join};"
SOFTMAX = [
    "most[i] = x;",
    (PARTS.format(join="most[i] = fmaxf(most[i], most[_slice[k]])"), 1, "64"),
    (HALVES.format(join="most[i] = fmaxf(most[i], most[_slice[_J + half]])"), 6, "32 >> _step"),
    "y = expf(x - most[_slice[0]]); sums[i] = y;",
    (PARTS.format(join="sums[i] += sums[_slice[k]]"), 1, "64"),
    (HALVES.format(join="sums[i] += sums[_slice[_J + half]]"), 6, "32 >> _step"),
    "y /= sums[_slice[0]];",
]
copy = iruka.ElementwiseKernel("float32 x", "float32 y", "y = x", "copy")
energy = iruka.StagedKernel("raw float32 x", "float32 y", "float32 slope", [SLOPES, ENERGY], "energy", axis=-1)
softmax = iruka.StagedKernel("float32 x", "float32 y", "float32 most, float32 sums", SOFTMAX, "softmax", axis=-1)


def two_kernels(xp):
    """The stages of `energy` as ElementwiseKernels of `xp`."""
    slopes = xp.ElementwiseKernel(
        "raw float32 x, int64 width", "raw float32 slope", PLACE + SLOPES, "slopes", no_return=True
    )
    sums = xp.ElementwiseKernel("raw float32 slope, int64 width", "float32 y", PLACE + ENERGY, "sums")

    def run(x, y):
        slope = xp.empty_like(x)
        slopes(x, x.shape[-1], slope, size=x.size)
        return sums(slope, x.shape[-1], y)

    return run


def softmax_of_arrays(xp, x):
    e = xp.exp(x - x.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return e


def numbas():
    """Numba's loops over rows: what a row leaves between its passes stays in the cache."""

    @numba.njit(parallel=True)
    def energy_of(x, y):
        for row in numba.prange(x.shape[0]):
            width = x.shape[1]
            slope = np.zeros(width, np.float32)
            for k in range(width - 1):
                slope[k] = x[row, k + 1] - x[row, k]
            for k in range(width):
                total = np.float32(0)
                for d in range(max(k - 2, 0), min(k + 3, width)):
                    total += slope[d] * slope[d]
                y[row, k] = total

    @numba.njit(parallel=True)
    def softmax_of(x, y):
        for row in numba.prange(x.shape[0]):
            most = x[row].max()
            total = np.float32(0)
            for k in range(x.shape[1]):
                y[row, k] = np.exp(x[row, k] - most)
                total += y[row, k]
            for k in range(x.shape[1]):
                y[row, k] /= total

    return energy_of, softmax_of


def candidates(shape):
    """For each work the callables, by name, on arrays of a shape."""
    values = np.random.default_rng(1).normal(size=shape).astype("float32")
    x, y = iruka.asarray(values), iruka.empty(shape, "float32")
    apart = two_kernels(iruka)
    energies = {"staged": lambda: energy(x, y), "kernels": lambda: apart(x, y)}
    softmaxes = {"staged": lambda: softmax(x, y), "arrays": lambda: softmax_of_arrays(iruka, x)}
    if numba and not ON_GPU:
        energy_of, softmax_of = numbas()
        out = np.empty_like(values)
        energies["Numba"] = lambda: energy_of(values, out)
        softmaxes["Numba"] = lambda: softmax_of(values, out)
    if cupy and ON_GPU:
        theirs, to = cupy.asarray(values), cupy.empty(shape, "float32")
        theirs_apart = two_kernels(cupy)
        energies["CuPy"] = lambda: theirs_apart(theirs, to)
        softmaxes["CuPy"] = lambda: softmax_of_arrays(cupy, theirs)
    for calls in (energies, softmaxes):
        calls["floor"] = lambda: copy(x, y)
    return {"two-pass stencil of rows": energies, "softmax of rows": softmaxes}


def cells(seconds, names, scale):
    staged = seconds["staged"]
    return [f"{seconds[name] * scale:.2f} ({seconds[name] / staged:.2f})" if name in seconds else "" for name in names]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=2**24)
    options.add_argument("--row", type=int, default=1024)
    options = options.parse_args()
    names = ["staged", "kernels", "arrays", *(["CuPy"] if ON_GPU else ["Numba"]), "floor"]
    large, small = candidates((options.size // options.row, options.row)), candidates((4, 64))
    rows, timer = [], device_timer(iruka.default_device().synchronize)
    for what, calls in large.items():
        seconds = interleaved(calls, repeats=9, timer=timer)
        rows.append([what, "call ms", *cells(seconds, names, 1e3)])
        few = {name: per_call(call, calls=300) for name, call in small[what].items()}
        rows.append([what, "4 rows of 64 µs", *cells(few, names, 1e6)])
    print(f"{processor()}, {iruka.default_device()}, rows of {options.row}, {options.size} elements\n")
    print(markdown(rows, ["work", "", *names]))


if __name__ == "__main__":
    main()
