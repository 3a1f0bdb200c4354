"""apply_along_axis beside NumPy's: python benchmarks/along_axis.py [--voxels 64] [--slices 100000] [--only NAME...]

Per function: milliseconds of NumPy's loop, which runs once; milliseconds of Iruka's apply_along_axis with all it does
in a call (tracing, for functions of numbers translation; kernels come from the cache); and their ratio. "by hand" is
the same computation by array functions of Iruka. IRUKA_DEVICE=cuda measures a GPU, with arrays on it.
"""

import argparse
import os
import time

import numpy as np

import iruka
from measure import interleaved, markdown, processor

ON_GPU = os.environ.get("IRUKA_DEVICE") == "cuda"
RNG = np.random.default_rng(1)
LAYERS = [
    (RNG.normal(size=(16, 8)).astype("float32"), RNG.normal(size=16).astype("float32")),
    (RNG.normal(size=(4, 16)).astype("float32"), RNG.normal(size=4).astype("float32")),
]
PLACES = np.linspace(0, 1, 32)


def network(v):
    for weight, bias in LAYERS:
        v = np.maximum(weight @ v + bias, 0)
    return v


def standardised(v):
    return (v - v.mean()) / v.std()


def second_largest(v):
    return np.sort(v)[-2]


def slope(v):
    return np.polyfit(PLACES, v, 1)[0]


def smoothed(v):
    return np.convolve(v, np.ones(5) / 5, mode="valid")


def mean_of_positive(v):
    return v[v > 0].mean()


def sign_of_mean(v):
    if v.mean() > 0:
        return np.median(v)
    return -np.median(v)


def longest_rise(v):
    longest = length = 1
    for k in range(1, len(v)):
        length = length + 1 if v[k] > v[k - 1] else 1
        longest = max(longest, length)
    return longest


def network_by_hand(x):
    for weight, bias in LAYERS:
        x = iruka.maximum(x @ iruka.asarray(weight).T + iruka.asarray(bias), 0)
    return x


BY_HAND = {
    network: network_by_hand,
    standardised: lambda x: (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True),
    second_largest: lambda x: iruka.sort(x, axis=1)[:, -2],
    slope: lambda x: iruka.polyfit(PLACES, x.T, 1)[0],
}
FUNCTIONS = [network, standardised, second_largest, slope, smoothed, mean_of_positive, sign_of_mean, longest_rise]


def waiting(call):
    """The call, and on a GPU the wait for its end."""

    def run():
        call()
        if ON_GPU:
            iruka.cuda.synchronize()

    return run


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--voxels", type=int, default=64)
    options.add_argument("--slices", type=int, default=100_000)
    options.add_argument("--only", nargs="+", default=[""])
    options = options.parse_args()
    rows = []
    for function in FUNCTIONS:
        if not any(text in function.__name__ for text in options.only):
            continue
        shape = (options.slices, 32) if function is not network else (options.voxels,) * 3 + (8,)
        x = RNG.normal(size=shape).astype("float32" if function is network else "float64")
        on_device = iruka.asarray(x)
        start = time.perf_counter()
        np.apply_along_axis(function, -1, x)
        loop = time.perf_counter() - start
        calls = {"Iruka": waiting(lambda f=function, a=on_device: iruka.apply_along_axis(f, -1, a))}
        if function in BY_HAND:
            calls["by hand"] = waiting(lambda f=function, a=on_device: BY_HAND[f](a))
        seconds = interleaved(calls, repeats=7)
        by_hand = f"{seconds['by hand'] * 1e3:.1f}" if "by hand" in seconds else ""
        texts = [f"{loop * 1e3:.0f}", f"{seconds['Iruka'] * 1e3:.1f}", by_hand, f"{loop / seconds['Iruka']:.0f}"]
        rows.append([function.__name__, str(shape), *texts])
    print(f"{processor()}, {iruka.default_device()}\n")
    print(markdown(rows, ["function", "shape", "NumPy ms", "Iruka ms", "by hand ms", "NumPy / Iruka"]))


if __name__ == "__main__":
    main()
