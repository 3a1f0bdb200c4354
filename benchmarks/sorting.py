"""Sorting compared with NumPy on the CPU, with CuPy and PyTorch on a GPU.

    python benchmarks/sorting.py [--largest 100000000] [--dtypes float32,int64] [--operations sort,median]
                                 [--device cpu]

Prints milliseconds of each (medians of interleaved repeats), millions of elements a second, and the ratio to the best
peer. On a machine that others use as well, `--clock cpu` gives the process's time on all threads instead.
"""

import argparse
import importlib
import statistics
import time

import numpy as np

import iruka
from measure import interleaved_times, markdown

COSTLY = {"searchsorted", "unique", "unique with inverse", "isin"}  # NumPy takes minutes for many elements
SIZES = [1_000, 1_000_000, 64_000_000, 100_000_000]


def numbers(dtype, n):
    rng = np.random.default_rng(1)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
    return rng.standard_normal(n, np.float32 if dtype == "float32" else np.float64).astype(dtype)


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def gpu_peers(x):
    """Functions on the peers' arrays, by operation, and a function that waits for them."""
    cupy, torch = optional("cupy"), optional("torch")
    peers, waits = {}, {}
    if cupy:
        own = cupy.asarray(x)
        peers["cupy"] = {
            "sort": lambda: cupy.sort(own),
            "argsort": lambda: cupy.argsort(own),
            "unique": lambda: cupy.unique(own),
        }
        waits["cupy"] = cupy.cuda.Device().synchronize
    if torch and x.dtype.name not in ("uint16", "uint32", "uint64"):
        tensor = torch.asarray(x, device="cuda")
        peers["torch"] = {
            "sort": lambda: torch.sort(tensor),
            "argsort": lambda: torch.argsort(tensor, stable=True),
            "unique": lambda: torch.unique(tensor),
        }
        waits["torch"] = torch.cuda.synchronize
    return peers, waits


def functions(module, x):
    """The functions measured on the CPU, by operation: the same names in both modules."""
    kth, ordered, few = x.shape[-1] // 2, module.sort(x, axis=None), x.ravel()[::10]
    return {
        "sort": lambda: module.sort(x),
        "argsort": lambda: module.argsort(x, kind="stable"),
        "unstable argsort": lambda: module.argsort(x),
        "partition": lambda: module.partition(x, kth),
        "argpartition": lambda: module.argpartition(x, kth),
        "median": lambda: module.median(x, axis=-1),
        "percentile": lambda: module.percentile(x, [5, 50, 95], axis=-1),
        "searchsorted": lambda: module.searchsorted(ordered, x),
        "unique": lambda: module.unique(x),
        "unique with inverse": lambda: module.unique(x, return_inverse=True),
        "isin": lambda: module.isin(x, few),
    }


def timed(call, wait):
    def run():
        call()
        wait()

    return run


def measure(x, is_gpu, repeats, operations, clock):
    """Rows of the table for one array."""
    peers, waits = gpu_peers(x) if is_gpu else ({"numpy": functions(np, x)}, {"numpy": lambda: None})
    wait = iruka.cuda.Device().synchronize if is_gpu else lambda: None
    for operation, call in functions(iruka, iruka.asarray(x)).items():
        candidates = {"iruka": timed(call, wait)}
        for name, calls in peers.items():
            if operation in calls:
                candidates[name] = timed(calls[operation], waits[name])
        is_left_out = operations and operation not in operations
        is_too_long = not is_gpu and operation in COSTLY and x.size > 10_000_000
        if is_left_out or is_too_long or (is_gpu and len(candidates) == 1):
            continue
        times = interleaved_times(candidates, repeats, clock=clock)
        times = {name: statistics.median(each) for name, each in times.items()}
        best = min((times[name] for name in candidates if name != "iruka"), default=float("nan"))
        shown = " ".join(f"{name} {seconds * 1e3:.4g}" for name, seconds in times.items())
        rate = x.size / times["iruka"] / 1e6
        yield [
            operation,
            x.dtype.name,
            "x".join(map(str, x.shape)),
            shown,
            f"{rate:.0f}",
            f"{best / times['iruka']:.2f}",
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=100_000_000)
    parser.add_argument("--dtypes", default="float32,int32,float64,int64,uint8,float16")
    parser.add_argument("--operations", default="")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--device", default=None)
    options = parser.parse_args()
    device = iruka.device(options.device) if options.device else iruka.default_device()
    operations = set(filter(None, options.operations.split(",")))
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    rows = []
    with device:
        is_gpu = device.name != "cpu"
        for dtype in options.dtypes.split(","):
            shapes = [(n,) for n in SIZES if n <= options.largest]
            shapes += [(rows_, n) for rows_, n in ((100_000, 10), (1_000, 1_000)) if rows_ * n <= options.largest]
            for shape in shapes:
                repeats = 101 if np.prod(shape) < 10_000 else 9 if np.prod(shape) <= 1_000_000 else 3
                rows += measure(numbers(dtype, shape), is_gpu, repeats, operations, clock)
    print(markdown(rows, ["operation", "dtype", "shape", "milliseconds", "M/s", "times the best peer"]))


if __name__ == "__main__":
    main()
