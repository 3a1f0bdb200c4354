"""The largest difference between GPU and CPU for each elementwise function and dtype, in units in the last place.

python benchmarks/gpu_accuracy.py [--output build/benchmarks]
Inputs: random numbers of many magnitudes, the special values, and small integers; both devices get the same.
"""

import argparse
import pathlib

import numpy as np

import iruka as ik
from iruka import _core
from measure import markdown

FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
COUNT = 200_000
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 3.0, -7.0, 1e4]


def inputs(dtype, rng):
    """Numbers of many magnitudes, then of the unit interval, then special ones."""
    real = np.dtype(dtype).type(0).real.dtype
    exponents = {"float16": 4, "float32": 30, "float64": 200}[real.name]

    def part():
        wide = rng.standard_normal(COUNT) * np.exp2(rng.uniform(-exponents, exponents, COUNT))
        narrow = rng.uniform(-2, 2, COUNT)
        special = rng.choice(SPECIAL, 2000)
        with np.errstate(over="ignore"):
            return np.concatenate([wide, narrow, special]).astype(real)

    return part() if np.dtype(dtype).kind == "f" else (part() + 1j * part()).astype(dtype)


def ulps(a, b):
    """Largest distance of equal-typed arrays in units in the last place; inf where one is NaN and the other is not."""
    if a.dtype.kind == "c":
        return max(ulps(a.real.copy(), b.real.copy()), ulps(a.imag.copy(), b.imag.copy()))
    if a.dtype.kind != "f":
        return float(np.max(a != b, initial=False))
    integer = f"i{a.itemsize}"
    both = np.isnan(a) & np.isnan(b)
    if np.any(np.isnan(a) != np.isnan(b)):
        return np.inf

    def ordered(x):
        bits = x.view(integer).astype(np.int64)
        return np.where(bits < 0, np.iinfo(integer).min - bits, bits)

    a, b = ordered(a), ordered(b)
    distance = np.maximum(a, b).view(np.uint64) - np.minimum(a, b).view(np.uint64)
    return float(np.max(np.where(both, 0, distance), initial=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    arguments = parser.parse_args()
    rng = np.random.default_rng(5)
    rows = []
    for name in sorted(_core.elementwise_names()):
        function = getattr(ik, name, None)
        if not isinstance(function, type(ik.exp)):
            continue
        row = [name]
        for dtype in FLOATS:
            values = [inputs(dtype, rng) for _ in range(function.nin)]
            try:
                with ik.device("cpu"):
                    want = function(*map(ik.asarray, values))
                with ik.device("cuda"):
                    got = function(*map(ik.asarray, values))
            except TypeError:
                row.append("")
                continue
            pairs = zip(want, got) if isinstance(want, tuple) else [(want, got)]
            row.append(f"{max(ulps(ik.asnumpy(w), ik.asnumpy(g)) for w, g in pairs):.4g}")
        rows.append(row)
    text = markdown(rows, ["ulp, GPU against CPU", *FLOATS])
    print(text)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "gpu_accuracy.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
