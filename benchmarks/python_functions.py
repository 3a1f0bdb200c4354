"""vectorize beside Numba's, in one process: python benchmarks/python_functions.py [--size 67108864] [--only NAME...]

Per function: milliseconds until the first result (translation and compilation, nothing cached), milliseconds of a call
on large arrays of the host or the device, microseconds of a call on 16 elements. IRUKA_DEVICE=cuda measures the GPU.
Without Numba only Iruka is measured. NumPy's or Iruka's add of the same arrays is the floor.
"""

import argparse
import math
import os
import time

import numpy as np

import iruka
from measure import interleaved, markdown, per_call, processor

try:
    import numba
except ImportError:
    numba = None

ON_GPU = os.environ.get("IRUKA_DEVICE") == "cuda"


def add(x, y):
    return x + y


def bell(x, y):
    return math.exp(-(x * x) / np.float32(2)) * y


def branches(x, y):
    if x > y:
        return x - y
    if x < 0:
        return -x * y
    return math.sqrt(abs(y))


def escape_time(x, y):
    a = b = np.float32(0)
    for k in range(30):
        if a * a + b * b > 4:
            return np.float32(k)
        a, b = a * a - b * b + x, np.float32(2) * a * b + y
    return np.float32(30)


FUNCTIONS = [add, bell, branches, escape_time]
SIGNATURE = "float32(float32, float32)"


def makers():
    """Each library's decorator, applied to a function that it has not seen."""
    target = "cuda" if ON_GPU else "parallel"
    made = {"Iruka": lambda function: iruka.vectorize([SIGNATURE], target=target)(function)}
    if numba:
        made["Numba"] = lambda function: numba.vectorize([SIGNATURE], target=target)(function)
    return made


def operands(size):
    x = np.random.default_rng(1).normal(size=size).astype("float32")
    y = np.random.default_rng(2).normal(size=size).astype("float32")
    if not ON_GPU:
        return {name: (x, y, np.empty_like(x)) for name in makers()}
    placed = {"Iruka": tuple(map(iruka.asarray, (x, y, x)))}
    if numba:
        placed["Numba"] = tuple(map(numba.cuda.to_device, (x, y, x)))
    return placed


def waiting(call, *arguments):
    """The call, and on a GPU the wait for its end."""

    def run():
        call(*arguments)
        if ON_GPU:
            iruka.cuda.synchronize()
            if numba:
                numba.cuda.synchronize()

    return run


def measured(function, size):
    made, first = {}, {}
    for name, make in makers().items():
        few = operands(16)[name]
        iruka.clear_cache()
        start = time.perf_counter()
        made[name] = make(function)
        made[name](*few)
        first[name] = time.perf_counter() - start
    large = {name: waiting(each, *operands(size)[name]) for name, each in made.items()}
    seconds = interleaved(large, repeats=7)
    launch = {name: per_call(waiting(each, *operands(16)[name]), calls=300) for name, each in made.items()}
    return first, seconds, launch


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=2**26)
    options.add_argument("--only", nargs="+", default=[""])
    options = options.parse_args()
    os.environ.setdefault("IRUKA_SHIPPED_KERNELS", "0")
    rows = []
    x = operands(options.size)["Iruka"]
    floor = min(
        interleaved({"copy": waiting(np.add if not ON_GPU else iruka.add, x[0], x[1], x[2])}, repeats=7).values()
    )
    for function in FUNCTIONS:
        if not any(text in function.__name__ for text in options.only):
            continue
        first, seconds, launch = measured(function, options.size)
        for what, values, scale in (
            ("first ms", first, 1e3),
            ("call ms", seconds, 1e3),
            ("16 elements µs", launch, 1e6),
        ):
            texts = [f"{values[name] * scale:.2f}" for name in values]
            ratio = f"{values['Numba'] / values['Iruka']:.2f}" if numba else ""
            rows.append([function.__name__, what, *texts, *([ratio] if numba else [])])
    header = ["function", "", *makers(), *(["Numba / Iruka"] if numba else [])]
    print(f"{processor()}, {iruka.default_device()}, {options.size} elements")
    print(f"add of the arrays: {floor * 1e3:.2f} ms\n")
    print(markdown(rows, header))


if __name__ == "__main__":
    main()
