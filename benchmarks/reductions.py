"""Reductions, scans, order statistics and histograms beside NumPy: ratios above 1 mean that Iruka is faster.

python benchmarks/reductions.py [--sizes 1000 1000000 100000000] [--only NAME...] [--repeats 7]
"""

import argparse

import numpy as np

import iruka as ik
from measure import interleaved, markdown


def vectors(size, rng):
    """Arrays of `size` elements: the names that cases use."""
    x = rng.standard_normal(size).astype("float32")
    side = max(int(size**0.5), 1)
    table = x[: side * side].reshape(side, side)
    return {
        "x": x,
        "d": x.astype("float64"),
        "k": rng.integers(0, 1000, size).astype("int32"),
        "table": table,
        "narrow": x[: size // 4 * 4].reshape(-1, 4),
        "mask": rng.random(size) < 0.5,
        "edges": np.linspace(-3, 3, 101),
        "few": rng.standard_normal(15).astype("float32"),
    }


# Name, and what to do with a module and the arrays.
CASES = {
    "sum": lambda m, v: m.sum(v["x"]),
    "sum axis=0": lambda m, v: m.sum(v["table"], axis=0),
    "sum where": lambda m, v: m.sum(v["x"], where=v["mask"]),
    "mean float64": lambda m, v: m.mean(v["d"]),
    "var": lambda m, v: m.var(v["x"]),
    "var float64": lambda m, v: m.var(v["d"]),
    "var axis=0": lambda m, v: m.var(v["table"], axis=0),
    "var axis=1": lambda m, v: m.var(v["table"], axis=1),
    "std of rows of 4": lambda m, v: m.std(v["narrow"], axis=1),
    "var of 4 columns": lambda m, v: m.var(v["narrow"], axis=0),
    "nanmean": lambda m, v: m.nanmean(v["x"]),
    "ptp": lambda m, v: m.ptp(v["x"]),
    "argmax": lambda m, v: m.argmax(v["x"]),
    "cumsum": lambda m, v: m.cumsum(v["x"]),
    "cumsum float64": lambda m, v: m.cumsum(v["d"]),
    "cumsum int32": lambda m, v: m.cumsum(v["k"]),
    "cumsum axis=0": lambda m, v: m.cumsum(v["table"], axis=0),
    "cumsum axis=1": lambda m, v: m.cumsum(v["table"], axis=1),
    "cumsum of 4 columns": lambda m, v: m.cumsum(v["narrow"], axis=0),
    "cumprod": lambda m, v: m.cumprod(v["x"]),
    "median": lambda m, v: m.median(v["x"]),
    "median axis=1": lambda m, v: m.median(v["table"], axis=1),
    "percentile": lambda m, v: m.percentile(v["d"], [5, 50, 95]),
    "histogram": lambda m, v: m.histogram(v["x"], 100, (-3, 3)),
    "histogram of edges": lambda m, v: m.histogram(v["x"], v["edges"]),
    "bincount": lambda m, v: m.bincount(v["k"]),
    "searchsorted": lambda m, v: m.searchsorted(v["edges"], v["d"]),
    "digitize": lambda m, v: m.digitize(v["d"], v["edges"]),
    "diff": lambda m, v: m.diff(v["x"]),
    "gradient": lambda m, v: m.gradient(v["x"]),
    "interp": lambda m, v: m.interp(v["d"], v["edges"], v["edges"]),
    "convolve 15": lambda m, v: m.convolve(v["x"], v["few"], "same"),
    "trapezoid": lambda m, v: m.trapezoid(v["d"]),
    "average": lambda m, v: m.average(v["d"], weights=v["d"]),
}


def measure(size, names, repeats):
    theirs = vectors(size, np.random.default_rng(1))
    ours = {name: ik.asarray(array) for name, array in theirs.items()}
    rows = []
    for name in names:
        case = CASES[name]
        # Small cases are repeated, so that the clock can tell.
        calls = max(1, 20_000 // size)

        def repeated(module, arrays):
            for _ in range(calls):
                case(module, arrays)
            ik.default_device().name == "cpu" or ik.cuda.Device().synchronize()

        seconds = interleaved({"numpy": lambda: repeated(np, theirs), "iruka": lambda: repeated(ik, ours)}, repeats, 1)
        mine, other = seconds["iruka"] / calls, seconds["numpy"] / calls
        rows.append([name, f"{size:.0e}", f"{other * 1e6:.1f}", f"{mine * 1e6:.1f}", f"{other / mine:.2f}"])
        print(" | ".join(rows[-1]), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 1_000_000, 100_000_000])
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rows = [row for size in options.sizes for row in measure(size, options.only, options.repeats)]
    ratios = [float(row[-1]) for row in rows]
    print(markdown(rows, ["case", "elements", "NumPy us", "Iruka us", "times"]))
    print("geometric mean:", round(float(np.exp(np.mean(np.log(ratios)))), 2))


if __name__ == "__main__":
    main()
