"""Runs the benchmarks: Iruka, NumPy, Numba, numexpr and hand-written loops in one run, as ratios.

python benchmarks/run.py [--build build/release] [--output build/benchmarks] [--only NAME...]
Writes one JSON file a benchmark into the output folder and prints each as a table.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import iruka as cp
from measure import interleaved, markdown, per_call, processor

THREADS = cp.get_num_threads()
SIZE = 2**26


def load_baseline(build):
    library = ctypes.CDLL(str(build / "benchmarks" / "libbenchmark_baseline.so"))
    library.baseline_sum_float32.restype = ctypes.c_float
    return library


def pointers(*arrays):
    return [ctypes.c_void_p(array.ctypes.data) for array in arrays]


def aligned(size, dtype):
    """NumPy memory that begins at a multiple of 64 bytes, as the hand-written streaming stores need."""
    bytes_ = np.zeros(size * dtype.itemsize + 64, dtype=np.uint8)
    return bytes_[-bytes_.ctypes.data % 64 :][: size * dtype.itemsize].view(dtype)


def numba_add():
    try:
        import numba
    except ImportError:
        return None

    @numba.njit(parallel=True, fastmath=False)
    def add(x, y, z):
        for k in numba.prange(x.size):
            z[k] = x[k] + y[k]

    numba.set_num_threads(THREADS)
    return add


def numexpr_add(x, y, z):
    try:
        import numexpr
    except ImportError:
        return None
    numexpr.set_num_threads(THREADS)
    if x.dtype not in (np.float32, np.float64, np.int32, np.int64):
        return None
    return lambda: numexpr.evaluate("x + y", local_dict={"x": x, "y": y}, out=z)


def add(build):
    """z = x + y on 2^26 elements, output given, each dtype."""
    baseline, compiled, rows = load_baseline(build), numba_add(), []
    for name in ("float32", "int8", "uint8", "int16", "float16"):
        dtype = np.dtype(name)
        x, y, z = aligned(SIZE, dtype), aligned(SIZE, dtype), aligned(SIZE, dtype)
        x[:] = np.arange(SIZE) % 100
        y[:] = 3
        a, b, c = cp.asarray(x), cp.asarray(y), cp.asarray(z)
        kernel = cp.ElementwiseKernel(f"{name} x, {name} y", f"{name} z", "z = x + y;", "add_" + name)
        by_hand = getattr(baseline, "baseline_add_" + name)
        candidates = {
            "iruka": lambda: kernel(a, b, c),
            "by hand": lambda: by_hand(*pointers(x, y, z), ctypes.c_int64(SIZE), ctypes.c_int(THREADS)),
            "copy": lambda: baseline.baseline_copy(*pointers(x, z), ctypes.c_int64(x.nbytes), ctypes.c_int(THREADS)),
            "numpy": lambda: np.add(x, y, out=z),
        }
        if compiled and name != "float16":
            candidates["numba"] = lambda: compiled(x, y, z)
        if by_numexpr := numexpr_add(x, y, z):
            candidates["numexpr"] = by_numexpr
        seconds = interleaved(candidates, repeats=31)
        z[:] = 0
        kernel(a, b, c)
        np.testing.assert_array_equal(z, x + y)
        seconds["floor"] = seconds.pop("copy") * 1.5  # three streams at the bandwidth of a copy's two
        rows.append({"case": name, "bytes": 3 * x.nbytes, "seconds": seconds})
    return rows


def transpose(build):
    """X + X.T on 8192 x 8192 float32."""
    x = np.random.default_rng(0).random((8192, 8192), dtype=np.float32)
    a, out, z = cp.asarray(x), cp.empty((8192, 8192), dtype=np.float32), np.empty_like(x)
    kernel = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x + y;", "add_transposed")
    seconds = interleaved(
        {"iruka": lambda: kernel(a, a.T, out), "numpy": lambda: np.add(x, x.T, out=z)}, repeats=7, warmup=1
    )
    np.testing.assert_array_equal(cp.asnumpy(out), x + x.T)
    return [{"case": "X + X.T", "bytes": 3 * x.nbytes, "seconds": seconds}]


def broadcast(build):
    """matrix + row and matrix + column, 8192 x 8192 float32."""
    rows = []
    x = np.random.default_rng(0).random((8192, 8192), dtype=np.float32)
    a, out, z = cp.asarray(x), cp.empty((8192, 8192), dtype=np.float32), np.empty_like(x)
    kernel = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x + y;", "add_broadcast")
    for case, other in (("matrix + row", x[0]), ("matrix + column", x[:, :1])):
        b = cp.asarray(other)
        rows.append(
            {
                "case": case,
                "bytes": 2 * x.nbytes,
                "seconds": interleaved(
                    {"iruka": lambda: kernel(a, b, out), "numpy": lambda: np.add(x, other, out=z)}, repeats=7, warmup=1
                ),
            }
        )
        np.testing.assert_array_equal(cp.asnumpy(out), x + other)
    return rows


def reduce(build):
    """sum of 2^26 float32 and along each axis of 8192 x 8192."""
    baseline = load_baseline(build)
    x = np.random.default_rng(0).random(SIZE, dtype=np.float32)
    a = cp.asarray(x)
    rows = [
        {
            "case": "sum",
            "bytes": x.nbytes,
            "seconds": interleaved(
                {
                    "iruka": lambda: a.sum(),
                    "by hand": lambda: baseline.baseline_sum_float32(
                        *pointers(x), ctypes.c_int64(SIZE), ctypes.c_int(THREADS)
                    ),
                    "numpy": lambda: x.sum(),
                }
            ),
        }
    ]
    np.testing.assert_allclose(float(a.sum()), float(x.sum(dtype=np.float64)), rtol=1e-6)
    square, b = x.reshape(8192, 8192), a.reshape(8192, 8192)
    for axis in (0, 1):
        rows.append(
            {
                "case": f"sum axis {axis}",
                "bytes": x.nbytes,
                "seconds": interleaved(
                    {"iruka": lambda: b.sum(axis=axis), "numpy": lambda: square.sum(axis=axis)}, repeats=9
                ),
            }
        )
        np.testing.assert_allclose(cp.asnumpy(b.sum(axis=axis)), square.sum(axis=axis, dtype=np.float64), rtol=1e-5)
    return rows


def numba_lengths():
    """Functions of the length of a vector and of the lengths of rows."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit(parallel=True, fastmath=True)
    def length(x):
        total = x.dtype.type(0)
        for k in numba.prange(x.size):
            total += x[k] * x[k]
        return np.sqrt(total)

    @numba.njit(parallel=True, fastmath=True)
    def lengths(x):
        out = np.empty(x.shape[0], x.dtype)
        for row in numba.prange(x.shape[0]):
            total = x.dtype.type(0)
            for k in range(x.shape[1]):
                total += x[row, k] * x[row, k]
            out[row] = np.sqrt(total)
        return out

    numba.set_num_threads(THREADS)
    return length, lengths


def reduction_kernel(build):
    """A ReductionKernel of vectors' lengths: 16 elements, 10^7 elements, rows, columns."""
    kernel = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "lengths")
    compiled, rows = numba_lengths(), []
    shapes = [
        ((16,), None),
        ((10**7,), None),
        ((10**4, 10**3), 1),
        ((10**4, 10**3), 0),
        ((10**6, 10), 1),
        ((10**6, 10), 0),
    ]
    for dtype in ("float32", "float64"):
        for shape, axis in shapes:
            x = np.random.default_rng(0).random(shape).astype(dtype)
            a = cp.asarray(x)
            to = {None: "i,i", 0: "ij,ij->j", 1: "ij,ij->i"}[axis]
            candidates = {
                "iruka": lambda a=a, axis=axis: kernel(a, axis=axis),
                "numpy": lambda x=x, to=to: np.sqrt(np.einsum(to, x, x)),
            }
            if compiled and axis != 0:
                candidates["numba"] = lambda x=x, function=compiled[axis or 0]: function(x)
            np.testing.assert_allclose(
                cp.asnumpy(kernel(a, axis=axis)), np.sqrt((x.astype("float64") ** 2).sum(axis)), 1e-5
            )
            seconds = (
                {name: per_call(call) for name, call in candidates.items()} if x.size < 100 else interleaved(candidates)
            )
            case = f"{dtype} {' x '.join(map(str, shape))}" + ("" if axis is None else f", axis {axis}")
            rows.append({"case": case, "bytes": x.nbytes, "seconds": seconds})
    return rows


def math(build):
    """Elementary functions on 2^24 float32."""
    rows, size = [], 2**24
    x = np.random.default_rng(0).uniform(0.1, 3, size).astype(np.float32)
    a, out, z = cp.asarray(x), cp.empty(size, dtype=np.float32), np.empty_like(x)
    for name in ("exp", "log", "sin", "tanh", "sqrt"):
        function, peer = getattr(cp, name), getattr(np, name)
        rows.append(
            {
                "case": name,
                "bytes": 2 * x.nbytes,
                "seconds": interleaved(
                    {"iruka": lambda: function(a, out=out), "numpy": lambda: peer(x, out=z)}, repeats=9
                ),
            }
        )
        np.testing.assert_allclose(cp.asnumpy(out), z, rtol=1e-6)
    return rows


COLD = """
import os, sys, time
import numpy
start = time.perf_counter()
import iruka as cp
imported = time.perf_counter()
x = cp.asarray(numpy.arange(1000, dtype=numpy.float32))
begin = time.perf_counter()
k = cp.ElementwiseKernel('float32 x, float32 y', 'float32 z', 'z = x * y + {constant};', 'cold')
z = k(x, x)
end = time.perf_counter()
assert z[3] == 9 + {constant}
print((imported - start) * 1e3, (end - begin) * 1e3)
"""


def fresh_process(directory, constant):
    """Milliseconds of `import iruka` after NumPy, and of one kernel from constructor to result, in a new process."""
    environment = dict(os.environ, IRUKA_CACHE_DIR=directory)
    output = subprocess.run(
        [sys.executable, "-c", COLD.format(constant=constant)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [float(word) for word in output.split()]


def latency(build):
    """Milliseconds and microseconds that a user waits."""
    median = lambda values: float(np.median(values))
    with tempfile.TemporaryDirectory() as directory:
        fresh_process(directory, 1)
        cold = [fresh_process(directory, 2 + k) for k in range(11)]
        warm = [fresh_process(directory, 2) for _ in range(11)]
        second = []
        x = cp.asarray(np.arange(1000, dtype=np.float32))
        for k in range(15):
            begin = time.perf_counter()
            cp.ElementwiseKernel("float32 x, float32 y", "float32 z", f"z = x - y * {k + os.getpid()};", "cold")(x, x)
            second.append((time.perf_counter() - begin) * 1e3)
    a = cp.asarray(np.arange(16, dtype=np.float32))
    out = cp.empty(16, dtype=np.float32)
    kernel = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x + y;", "warm_add")
    kernel(a, a)
    native = json.loads(
        subprocess.run([build / "benchmarks" / "benchmark_latency"], check=True, capture_output=True, text=True).stdout
    )
    x = np.arange(16, dtype=np.float32)
    return [
        {"case": "import iruka, after numpy", "milliseconds": median([each[0] for each in cold + warm])},
        {"case": "cold kernel, new process", "milliseconds": median([each[1] for each in cold])},
        {"case": "cold kernel, later ones", "milliseconds": median(second)},
        {"case": "kernel from the disk cache, new process", "milliseconds": median([each[1] for each in warm])},
        {"case": "warm call on 16 elements, Python, allocating", "milliseconds": per_call(lambda: kernel(a, a)) * 1e3},
        {
            "case": "warm call on 16 elements, Python, output given",
            "milliseconds": per_call(lambda: kernel(a, a, out)) * 1e3,
        },
        {"case": "warm call on 16 elements, C++, allocating", "milliseconds": native["call_allocating_ns"] * 1e-6},
        {"case": "warm call on 16 elements, C++, output given", "milliseconds": native["call_given_ns"] * 1e-6},
        {"case": "a + a on 16 elements, Python", "milliseconds": per_call(lambda: a + a) * 1e3},
        {"case": "numpy: x + x on 16 elements", "milliseconds": per_call(lambda: x + x) * 1e3},
    ]


BENCHMARKS = {
    function.__name__: function for function in (latency, add, transpose, broadcast, reduce, reduction_kernel, math)
}


def print_rows(rows):
    if "milliseconds" in rows[0]:
        print(markdown([[row["case"], f"{row['milliseconds']:.4g} ms"] for row in rows], ["case", "time"]))
        return
    peers = sorted({peer for row in rows for peer in row["seconds"]} - {"iruka"})
    table = []
    for row in rows:
        own = row["seconds"]["iruka"]
        table.append(
            [row["case"], f"{own * 1e3:.3g}", f"{row['bytes'] / own / 1e9:.1f}"]
            + [f"{row['seconds'][peer] / own:.2f}" if peer in row["seconds"] else "" for peer in peers]
        )
    print(markdown(table, ["case", "iruka ms", "GB/s"] + [f"{peer} / iruka" for peer in peers]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    parser.add_argument("--only", nargs="*", choices=BENCHMARKS, default=list(BENCHMARKS))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    machine = {"processor": processor(), "threads": THREADS, "numpy": np.__version__}
    for name in arguments.only:
        rows = BENCHMARKS[name](arguments.build)
        print(f"\n{BENCHMARKS[name].__doc__.strip()}\n", flush=True)
        print_rows(rows)
        (arguments.output / f"{name}.json").write_text(json.dumps({"machine": machine, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
