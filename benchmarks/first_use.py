"""How long the first call of each of the library's functions takes where nothing of it was ever run: first_use.py
[--compile] [--only TEXT] [--repeats N] [--worst N].

Each call (tools/ship_kernels.py lists them) takes arrays of 1000 elements, after the program table and the disk cache
were emptied, in one process; its time is the least of the repeats, so that other work of the machine counts less.
--compile leaves aside what the build compiled, as on another processor than the build's.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

folder = tempfile.TemporaryDirectory(prefix="iruka-first-use-")
os.environ["IRUKA_CACHE_DIR"] = folder.name
os.environ["IRUKA_SHIPPED_KERNELS"] = "0" if "--compile" in sys.argv else "1"

import numpy as np

import iruka as cp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ship_kernels


def first_call(call):
    """Milliseconds of one call with nothing compiled, and the kernels that were compiled in it."""
    cp.finish_background_compilation()
    cp.clear_cache()
    cp.clear_kernel_history()
    start = time.perf_counter()
    call()
    cp.default_device().synchronize()
    elapsed = time.perf_counter() - start
    return elapsed * 1e3, sum(1 for event in cp.kernel_history() if event.kind == "compiled")


def measure(only, repeats):
    rows = []
    for name, expression, dtypes in ship_kernels.operations():
        if only and only not in name:
            continue
        code = compile(expression, name, "eval")
        for dtype in dtypes:
            call = lambda: eval(code, vars(ship_kernels) | ship_kernels.values(dtype))
            try:
                call()
            except (TypeError, ValueError, cp.errors.Error, np.linalg.LinAlgError):
                continue  # no such loop
            times = [first_call(call) for _ in range(repeats)]
            rows.append((*min(times), name, dtype))
    return sorted(rows, reverse=True)


def milliseconds(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--compile", action="store_true", help="leave aside what the build compiled")
    options.add_argument("--only", help="operations whose name holds this text")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--worst", type=int, default=30)
    options = options.parse_args()
    x = cp.empty(1000, "float32")
    built_in = milliseconds(lambda: x + x)
    own = milliseconds(lambda: cp.ElementwiseKernel("T x", "T y", "y = x + 1", "first")(x))
    np.seterr(all="ignore")
    rows = measure(options.only, options.repeats)
    times = [row[0] for row in rows]
    print(f"in a new process: x + x {built_in:.1f} ms, then a kernel of one's own {own:.1f} ms")
    print(
        f"{len(rows)} first calls: median {statistics.median(times):.2f} ms, worst {max(times):.1f} ms, "
        f"over 15 ms {sum(t > 15 for t in times)}, over 30 ms {sum(t > 30 for t in times)}"
    )
    print("     ms  compiled  operation, dtype")
    for elapsed, kernels, name, dtype in rows[: options.worst]:
        print(f"{elapsed:7.2f} {kernels:6}    {name}, {dtype}")


if __name__ == "__main__":
    main()
