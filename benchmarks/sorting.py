"""Sorting beside NumPy on the CPU, beside CuPy and PyTorch on a GPU.

    python benchmarks/sorting.py [--largest 100000000] [--dtypes float32,int64] [--device cpu]

Prints milliseconds of each (medians of interleaved repeats), millions of elements a second, and the ratio to the best peer.
"""
import argparse
import importlib

import numpy as np
from measure import interleaved, markdown

import iruka

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
    """Functions of the peers' own arrays, by operation, and what waits for them."""
    cupy, torch = optional("cupy"), optional("torch")
    peers, waits = {}, {}
    if cupy:
        own = cupy.asarray(x)
        peers["cupy"] = {"sort": lambda: cupy.sort(own), "argsort": lambda: cupy.argsort(own), "unique": lambda: cupy.unique(own)}
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


def cpu_peers(x):
    kth = x.shape[-1] // 2
    numpy = {
        "sort": lambda: np.sort(x),
        "argsort": lambda: np.argsort(x, kind="stable"),
        "unstable argsort": lambda: np.argsort(x),
        "partition": lambda: np.partition(x, kth),
        "unique": lambda: np.unique(x),
    }
    return {"numpy": numpy}, {"numpy": lambda: None}


def own_functions(x):
    kth = x.shape[-1] // 2
    return {
        "sort": lambda: iruka.sort(x),
        "argsort": lambda: iruka.argsort(x),
        "unstable argsort": lambda: iruka.argsort(x),
        "partition": lambda: iruka.partition(x, kth),
        "unique": lambda: iruka.unique(x),
    }


def timed(call, wait):
    def run():
        call()
        wait()

    return run


def measure(x, is_gpu, repeats):
    """Rows of the table for one array."""
    array = iruka.asarray(x)
    peers, waits = (gpu_peers if is_gpu else cpu_peers)(x)
    wait = iruka.cuda.Device().synchronize if is_gpu else lambda: None
    for operation, call in own_functions(array).items():
        candidates = {"iruka": timed(call, wait)}
        for name, functions in peers.items():
            if operation in functions:
                candidates[name] = timed(functions[operation], waits[name])
        if len(candidates) == 1 and is_gpu and operation == "unstable argsort":
            continue
        times = interleaved(candidates, repeats)
        best = min((times[name] for name in candidates if name != "iruka"), default=float("nan"))
        shown = " ".join(f"{name} {seconds * 1e3:.4g}" for name, seconds in times.items())
        rate = x.size / times["iruka"] / 1e6
        yield [operation, x.dtype.name, "x".join(map(str, x.shape)), shown, f"{rate:.0f}", f"{best / times['iruka']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=100_000_000)
    parser.add_argument("--dtypes", default="float32,int32,float64,int64,uint8,float16")
    parser.add_argument("--device", default=None)
    options = parser.parse_args()
    device = iruka.device(options.device) if options.device else iruka.default_device()
    rows = []
    with device:
        is_gpu = device.name != "cpu"
        for dtype in options.dtypes.split(","):
            shapes = [(n,) for n in SIZES if n <= options.largest]
            shapes += [(rows_, n) for rows_, n in ((100_000, 10), (1_000, 1_000)) if rows_ * n <= options.largest]
            for shape in shapes:
                repeats = 101 if np.prod(shape) < 10_000 else 9 if np.prod(shape) <= 1_000_000 else 3
                rows += measure(numbers(dtype, shape), is_gpu, repeats)
    print(markdown(rows, ["operation", "dtype", "shape", "milliseconds", "M/s", "times the best peer"]))


if __name__ == "__main__":
    main()
