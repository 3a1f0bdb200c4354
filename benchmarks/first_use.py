"""How long the first call of each operation takes where nothing is compiled yet: first_use.py [--only TEXT] [--repeats N].

Each call runs in one process on an array of 1000 elements, after the program table and the disk cache were emptied; what is
printed is the least of the repeats, so that other work of the machine does not count. A new process adds `the compiler
itself`, once.
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

import numpy as np  # noqa: E402

import iruka as cp  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ship_kernels  # noqa: E402

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
            call = lambda: eval(code, vars(ship_kernels) | ship_kernels.values(dtype))  # noqa: E731
            try:
                call()
            except (TypeError, ValueError, cp.errors.Error, np.linalg.LinAlgError):
                continue  # no such loop
            times = [first_call(call) for _ in range(repeats)]
            rows.append((*min(times), name, dtype))
    return sorted(rows, reverse=True)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", help="operations whose name holds this text")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--worst", type=int, default=30)
    options = options.parse_args()
    start = time.perf_counter()
    cp.ElementwiseKernel("float32 x", "float32 y", "y = x + 1", "first")(cp.zeros(9, "float32"))
    new_process = (time.perf_counter() - start) * 1e3
    np.seterr(all="ignore")
    rows = measure(options.only, options.repeats)
    times = [row[0] for row in rows]
    print(f"{len(rows)} first calls: median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms; "
          f"over 15 ms {sum(t > 15 for t in times)}, over 30 ms {sum(t > 30 for t in times)}")
    print(f"the first kernel of a new process: {new_process:.1f} ms")
    print("   ms  kernels  operation, dtype")
    for elapsed, kernels, name, dtype in rows[: options.worst]:
        print(f"{elapsed:6.1f} {kernels:5}    {name}, {dtype}")


if __name__ == "__main__":
    main()
