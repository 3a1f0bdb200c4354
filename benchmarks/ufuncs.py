#!/usr/bin/env python3
"""ufuncs and their methods beside NumPy: PYTHONPATH=build/release/python python benchmarks/ufuncs.py [elements ...]"""

import sys

import numpy as np

import iruka
from measure import interleaved, markdown


def cases(count):
    """(what, call of a module on its arrays) for arrays of about `count` elements."""
    side = int(count**0.5)
    rng = np.random.default_rng(1)
    host = {
        "x": rng.standard_normal(count).astype("float32"),
        "y": rng.standard_normal(count).astype("float32"),
        "i": rng.integers(0, 1000, count, dtype="int32"),
        "m": rng.integers(0, 2, count).astype(bool),
        "s": np.arange(0, count, 10),
        "f": np.asfortranarray(rng.standard_normal((side, side)).astype("float32")),
        "out": np.empty(count, "float32"),
        "places": rng.integers(0, count, min(count, 10**6)),
        "row": rng.standard_normal(side).astype("float32"),
    }
    device = {name: iruka.asarray(value) for name, value in host.items()}
    device["places"] = host["places"]  # positions of `at` are resolved on the host
    arrays = {np: host, iruka: device}

    def case(call):
        return {module: (lambda module=module: call(module, **arrays[module])) for module in (np, iruka)}

    return {
        "add(x, y, out=)": case(lambda module, **k: module.add(k["x"], k["y"], out=k["out"])),
        "add(x, y, where=, out=)": case(lambda module, **k: module.add(k["x"], k["y"], where=k["m"], out=k["out"])),
        "add(x, y, dtype=float64)": case(lambda module, **k: module.add(k["x"], k["y"], dtype="float64")),
        "multiply(F, F), Fortran order": case(lambda module, **k: module.multiply(k["f"], k["f"])),
        "add.reduce(x)": case(lambda module, **k: module.add.reduce(k["x"])),
        "maximum.reduce(x, where=, initial=)": case(
            lambda module, **k: module.maximum.reduce(k["x"], where=k["m"], initial=0)
        ),
        "hypot.reduce(x)": case(lambda module, **k: module.hypot.reduce(k["x"])),
        "bitwise_xor.reduce(i)": case(lambda module, **k: module.bitwise_xor.reduce(k["i"])),
        "fmax.reduce(F, axis=0)": case(lambda module, **k: module.fmax.reduce(k["f"], axis=0)),
        "subtract.reduce(F, axis=1)": case(lambda module, **k: module.subtract.reduce(k["f"], axis=1)),
        "add.accumulate(x)": case(lambda module, **k: module.add.accumulate(k["x"])),
        "maximum.accumulate(F, axis=0)": case(lambda module, **k: module.maximum.accumulate(k["f"], axis=0)),
        "add.reduceat(x, every 10)": case(lambda module, **k: module.add.reduceat(k["x"], k["s"])),
        "add.at(x, places, 1)": case(lambda module, **k: module.add.at(k["x"], k["places"], 1)),
        "subtract.outer(row, row)": case(lambda module, **k: module.subtract.outer(k["row"], k["row"])),
    }


def wait():
    if iruka.default_device().name != "cpu":
        iruka.cuda.synchronize()


def main():
    counts = [int(float(a)) for a in sys.argv[1:]] or [10**3, 10**6, 10**7]
    rows = []
    for count in counts:
        for what, calls in cases(count).items():
            calls = {
                "numpy": calls[np],
                "iruka": lambda call=calls[iruka]: (call(), wait()),
            }
            with np.errstate(all="ignore"):
                seconds = interleaved(calls, repeats=31 if count <= 10**4 else 11)
            microseconds = [f"{seconds[name] * 1e6:.1f}" for name in ("numpy", "iruka")]
            rows.append([what, f"{count:.0e}", *microseconds, f"{seconds['numpy'] / seconds['iruka']:.2f}"])
    print(markdown(rows, ["call", "elements", "NumPy µs", "Iruka µs", "ratio"]))


if __name__ == "__main__":
    main()
