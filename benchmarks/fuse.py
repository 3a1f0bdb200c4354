"""iruka.fuse beside the same operations one by one: python benchmarks/fuse.py [--size 16777216] [--only NAME...]

Per function, milliseconds of a call on large float32 arrays and microseconds of a call on 16 elements: fused, one by
one, in NumPy, by Numba's vectorize where the function has no reduction, and by cupy.fuse on a GPU. IRUKA_DEVICE=cuda
measures the GPU. Numba and CuPy are left out where they are not installed. The last table is the time until the first
result.
"""

import argparse
import inspect
import os
import time

import numpy as np

import iruka
from measure import interleaved, markdown, per_call, processor

ON_GPU = os.environ.get("IRUKA_DEVICE") == "cuda"
try:
    import numba
except ImportError:
    numba = None
try:
    import cupy
except ImportError:
    cupy = None


def squared_difference(xp, x, y):
    return (x - y) * (x - y)


def gelu(xp, x, y):
    return 0.5 * x * (1 + xp.tanh(0.7978846 * (x + 0.044715 * x * x * x))) + y


def masked(xp, x, y):
    return xp.where(x > y, xp.sqrt(abs(x)), xp.exp(y) - 1) * (x + y)


def length(xp, x, y):
    return xp.sqrt(((x - y) * (x - y)).sum(axis=1) + 1)


def softmax(xp, x, y):
    e = xp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


FUNCTIONS = {squared_difference: True, gelu: True, masked: True, length: False, softmax: False}  # whether elementwise


def numbas(function):
    """The text of the function as a scalar function, which Numba compiles for all threads."""
    text = inspect.getsource(function).replace("(xp, x, y)", "(x, y)").replace("xp.where(x > y, ", "select(x > y, ")
    names = {"xp": np, "select": numba.njit(lambda condition, x, y: x if condition else y)}
    exec(text, names)
    return numba.vectorize(["float32(float32, float32)"], target="parallel")(names[function.__name__])


def candidates(function, is_elementwise, shape):
    x, y = (np.random.default_rng(seed).normal(size=shape).astype("float32") for seed in (1, 2))
    ours = iruka.asarray(x), iruka.asarray(y)
    fused = iruka.fuse(lambda x, y: function(iruka, x, y), kernel_name=function.__name__)
    calls = {"fused": lambda: fused(*ours), "one by one": lambda: function(iruka, *ours)}
    if not ON_GPU:
        calls["NumPy"] = lambda: function(np, x, y)
        if numba and is_elementwise:
            compiled = numbas(function)
            calls["Numba"] = lambda: compiled(x, y)
    elif cupy:
        theirs = cupy.asarray(x), cupy.asarray(y)
        made = cupy.fuse(lambda x, y: function(cupy, x, y), kernel_name=function.__name__)
        calls["cupy.fuse"] = lambda: made(*theirs)
    return calls


def waiting(call, waits):
    """The call, and on a GPU the wait for its end."""

    def run():
        call()
        if waits and ON_GPU:
            iruka.cuda.synchronize()
            if cupy:
                cupy.cuda.Device().synchronize()

    return run


def first_call(function):
    """Milliseconds of tracing and of tracing and compiling, nothing cached."""
    arrays = [iruka.ones((4, 4), "float32") for _ in range(2)]
    iruka.clear_cache()
    fused = iruka.fuse(lambda x, y: function(iruka, x, y))
    start = time.perf_counter()
    fused(*arrays)
    whole = time.perf_counter() - start
    fused.clear_cache()
    start = time.perf_counter()
    fused(*arrays)
    return time.perf_counter() - start, whole


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=2**24)
    options.add_argument("--only", nargs="+", default=[""])
    options = options.parse_args()
    names = ["fused", "one by one", *(["cupy.fuse"] if ON_GPU else ["NumPy", "Numba"])]
    rows, first = [], []
    for function, is_elementwise in FUNCTIONS.items():
        if not any(text in function.__name__ for text in options.only):
            continue
        large = candidates(function, is_elementwise, (options.size // 1024, 1024))
        seconds = interleaved({name: waiting(call, True) for name, call in large.items()}, repeats=7)
        few = candidates(function, is_elementwise, (4, 4))
        launch = {name: per_call(waiting(call, False), calls=300) for name, call in few.items()}
        for what, values, scale in (("call ms", seconds, 1e3), ("16 elements µs", launch, 1e6)):
            rows.append(
                [function.__name__, what, *(f"{values[name] * scale:.2f}" if name in values else "" for name in names)]
            )
        traced, whole = first_call(function)
        first.append([function.__name__, f"{traced * 1e3:.2f}", f"{whole * 1e3:.2f}"])
    print(f"{processor()}, {iruka.default_device()}, {options.size} elements\n")
    print(markdown(rows, ["function", "", *names]))
    print()
    print(markdown(first, ["function", "tracing ms", "first call ms"]))


if __name__ == "__main__":
    main()
