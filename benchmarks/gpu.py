"""Runs the GPU benchmarks: Iruka, and CuPy and PyTorch if they are installed, in one run.

python benchmarks/gpu.py [--output build/benchmarks] [--only NAME...]
Prints each table and writes gpu.json into the output folder. Bandwidths count each operand once.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import iruka as ik
from measure import device_timer, host_timer, interleaved_batches, markdown, timed

try:
    import cupy
except ImportError:
    cupy = None
try:
    import torch
except ImportError:
    torch = None

SIZE = 2**28
DEVICE = ik.device("cuda")


def synchronize():
    ik.cuda.Device().synchronize()


def interleaved_gpu(candidates, calls, repeats=9):
    """Median seconds of one call of each callable, many calls between two waits for the device, in turn."""
    return interleaved_batches(candidates, dict.fromkeys(candidates, calls), repeats, device_timer(synchronize))


def bursts(candidates, calls=200, repeats=60):
    """Median seconds of the host for one call of each callable, in turn."""
    return interleaved_batches(candidates, dict.fromkeys(candidates, calls), repeats, host_timer(synchronize))


def with_peers(iruka_call, cupy_call=None, torch_call=None):
    """The callables that can run here, by name."""
    found = {"Iruka": iruka_call}
    if cupy and cupy_call:
        found["CuPy"] = cupy_call()
    if torch and torch_call:
        found["PyTorch"] = torch_call()
    return found


def elementwise_rows():
    add = ik.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    rows = {}

    def peer_arrays(module, dtype, *shapes):
        if module is cupy:
            return [cupy.ones(shape, dtype) for shape in shapes]
        return [torch.ones(shape, dtype=getattr(torch, dtype), device="cuda") for shape in shapes]

    for dtype, count in (("float32", SIZE), ("float16", 2 * SIZE), ("uint8", 4 * SIZE)):
        x, y, z = (ik.ones(count, dtype) for _ in range(3))

        def cupy_add(dtype=dtype, count=count):
            a, b, c = peer_arrays(cupy, dtype, count, count, count)
            return lambda: cupy.add(a, b, c)

        def torch_add(dtype=dtype, count=count):
            a, b, c = peer_arrays(torch, dtype, count, count, count)
            return lambda: torch.add(a, b, out=c)

        rows[f"add {dtype}, {4 * SIZE >> 20} MiB each"] = (
            12 * SIZE,
            with_peers(lambda x=x, y=y, z=z: add(x, y, z), cupy_add, torch_add),
        )
    edge = 16384
    x, z, row = ik.ones((edge, edge), "float32"), ik.empty((edge, edge), "float32"), ik.ones(edge, "float32")

    def cupy_matrix(other):
        def make():
            a, c = peer_arrays(cupy, "float32", (edge, edge), (edge, edge))
            b = a.T if other == "transposed" else cupy.ones(edge, "float32")
            return lambda: cupy.add(a, b, c)

        return make

    def torch_matrix(other):
        def make():
            a, c = peer_arrays(torch, "float32", (edge, edge), (edge, edge))
            b = a.T if other == "transposed" else torch.ones(edge, device="cuda")
            return lambda: torch.add(a, b, out=c)

        return make

    rows["X + X.T, 16384² float32"] = (
        12 * SIZE,
        with_peers(lambda: add(x, x.T, z), cupy_matrix("transposed"), torch_matrix("transposed")),
    )
    rows["matrix + row, 16384² float32"] = (
        8 * SIZE,
        with_peers(lambda: add(x, row, z), cupy_matrix("row"), torch_matrix("row")),
    )
    return rows


def copy_row():
    x, z = ik.ones(SIZE, "float32"), ik.empty(SIZE, "float32")

    def torch_copy():
        a, b = torch.ones(SIZE, device="cuda"), torch.empty(SIZE, device="cuda")
        return lambda: b.copy_(a)

    def assign():
        z[...] = x

    return {"copy float32, 1 GiB": (8 * SIZE, with_peers(assign, None, torch_copy))}


def reduction_rows():
    edge = 16384
    x = ik.ones((edge, edge), "float32")
    a = cupy.ones((edge, edge), "float32") if cupy else None
    t = torch.ones((edge, edge), device="cuda") if torch else None
    rows = {}
    for name, axis in (("all", None), ("axis 0", 0), ("axis 1", 1)):
        rows[f"sum, {name}, 16384² float32"] = (
            4 * SIZE,
            with_peers(
                lambda axis=axis: ik.sum(x, axis=axis),
                lambda axis=axis: lambda: cupy.sum(a, axis=axis),
                lambda axis=axis: lambda: torch.sum(t) if axis is None else torch.sum(t, dim=axis),
            ),
        )
    texts = ("T x", "T y", "x * x", "a + b", "y = a", "0", "squares")
    squares, cupys = ik.ReductionKernel(*texts), cupy and cupy.ReductionKernel(*texts)
    for name, axis in (("all", None), ("axis 0", 0), ("axis 1", 1)):
        rows[f"ReductionKernel, squares, {name}, 16384² float32"] = (
            4 * SIZE,
            with_peers(lambda axis=axis: squares(x, axis=axis), lambda axis=axis: lambda: cupys(a, axis=axis), None),
        )
    return rows


def throughput():
    """Thousand million elements a second of prefix sums, sorts and random numbers, float32."""
    x, keys = ik.ones(SIZE, "float32"), ik.random.default_rng(1).standard_normal(64 * 10**6, dtype="float32")
    generator = ik.random.default_rng(1)
    rows = {
        "cumsum, 2^28": (SIZE, {"Iruka": lambda: ik.cumsum(x)}),
        "sort, 64 million": (keys.size, {"Iruka": lambda: ik.sort(keys)}),
        "standard_normal, 2^28": (SIZE, {"Iruka": lambda: generator.standard_normal(SIZE, dtype="float32")}),
    }
    if cupy:
        a, b, other = cupy.asarray(x), cupy.asarray(keys), cupy.random.default_rng(1)
        for (_, calls), call in zip(
            rows.values(),
            (lambda: cupy.cumsum(a), lambda: cupy.sort(b), lambda: other.standard_normal(SIZE, dtype="float32")),
            strict=True,
        ):
            calls["CuPy"] = call
    if torch:
        t, u = torch.from_dlpack(x), torch.from_dlpack(keys)
        for (_, calls), call in zip(
            rows.values(),
            (lambda: torch.cumsum(t, 0), lambda: torch.sort(u), lambda: torch.randn(SIZE, device="cuda")),
            strict=True,
        ):
            calls["PyTorch"] = call
    results = {
        name: {peer: count / each / 1e9 for peer, each in interleaved_gpu(calls, calls=5, repeats=5).items()}
        for name, (count, calls) in rows.items()
    }
    table(results, "10^9 elements a second", 1)
    return results


def bandwidth_table(rows):
    results = {}
    for name, (bytes_, candidates) in rows.items():
        seconds = interleaved_gpu(candidates, calls=10)
        results[name] = {peer: bytes_ / each / 1e9 for peer, each in seconds.items()}
    names = ["Iruka", "CuPy", "PyTorch"]
    print(
        markdown(
            [
                [name] + [f"{figures[n]:.0f}" if n in figures else "" for n in names]
                for name, figures in results.items()
            ],
            ["GB/s", *names],
        ),
        "\n",
        flush=True,
    )
    return results


RAW_ADD = """extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}"""


def launches():
    """Microseconds of the host for one launch over 16 elements."""
    add = ik.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    raw = ik.RawKernel(RAW_ADD, "add")
    x, y, z = (ik.ones(16, "float32") for _ in range(3))
    rows = {
        "out given": {"Iruka": lambda: add(x, y, z)},
        "allocating": {"Iruka": lambda: add(x, y)},
        "x + y": {"Iruka": lambda: x + y},
        "RawKernel": {"Iruka": lambda: raw((1,), (16,), (x, y, z, 16))},
    }
    if cupy:
        kernel = cupy.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
        a, b, c = (cupy.ones(16, "float32") for _ in range(3))
        rows["out given"]["CuPy"] = lambda: kernel(a, b, c)
        rows["allocating"]["CuPy"] = lambda: kernel(a, b)
        rows["x + y"]["CuPy"] = lambda: a + b
        peer = cupy.RawKernel(RAW_ADD, "add")
        rows["RawKernel"]["CuPy"] = lambda: peer((1,), (16,), (a, b, c, 16))
    if torch:
        t, u, v = (torch.ones(16, device="cuda") for _ in range(3))
        rows["out given"]["PyTorch"] = lambda: torch.add(t, u, out=v)
        rows["x + y"]["PyTorch"] = lambda: t + u
    results = {name: bursts(candidates) for name, candidates in rows.items()}
    table(results, "microseconds a launch", 1e6)
    return results


COLD = """
import sys, time
module, count = sys.argv[1], int(sys.argv[2])
if module == "iruka":
    import iruka as m
    sync = m.cuda.Device().synchronize
else:
    import cupy as m
    sync = m.cuda.Device().synchronize
x = m.zeros(100, "float32"); m.ElementwiseKernel("T x", "T y", "y = x * 3", "first")(x); sync()
times = []
for k in range(count):
    kernel = m.ElementwiseKernel("float32 x, float32 y", "float32 z", f"z = x * {k}.5f + y", "cold")
    start = time.perf_counter(); kernel(x, x); sync(); times.append(time.perf_counter() - start)
print(" ".join(map(str, times)))
"""


def cold():
    """Milliseconds of a kernel's first call: compiled, and from the disk cache in a new process."""
    results = {"compiled": {}, "from disk": {}}
    for name in ("iruka", "cupy") if cupy else ("iruka",):
        label = {"iruka": "Iruka", "cupy": "CuPy"}[name]
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, IRUKA_CACHE_DIR=folder, CUPY_CACHE_DIR=folder)
            for key in ("compiled", "from disk"):
                done = subprocess.run(
                    [sys.executable, "-c", COLD, name, "7"], env=environment, capture_output=True, text=True
                )
                if done.returncode:
                    print(done.stderr[-2000:])
                    continue
                results[key][label] = statistics.median(map(float, done.stdout.split()))
    table(results, "milliseconds, first call", 1e3)
    return results


def patch_match():
    """Milliseconds of the first article's text, 200x134 pictures, patches of 3, once the sizes are constants."""
    script = pathlib.Path(__file__).resolve().parents[2] / "shared/seeds/scripts/patch_match.py"
    if not script.exists():
        return {}
    text = script.read_text()
    texts = [part.split("'''")[1] for part in (text.split("preamble=")[1], text.split("operation=")[1])]
    height, width = 134, 200
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 256, (height, width, 3)).astype("float32") for _ in range(2))
    parameters = (
        "raw float32 imgA, raw float32 imgB, uint16 widthA, uint16 heightA, uint16 widthB, uint16 heightB, uint16 pr"
    )
    results = {"patch matching": {}}
    fields = {}
    for module, label in ((ik, "Iruka"), (cupy, "CuPy")):
        if not module:
            continue
        # CuPy passes constant arrays to a body, with a type that the text does not name.
        preamble = (
            texts[0] if module is ik else texts[0].replace("CArray<float, 3> &", "const CArray<float, 3, true, true> &")
        )
        kernel = module.ElementwiseKernel(parameters, "raw uint16 nnf", texts[1], "patch_match", preamble=preamble)
        x, y, field = module.asarray(a), module.asarray(b), module.zeros((height, width, 2), "uint16")
        sync = module.cuda.Device().synchronize

        def call():
            kernel(x, y, width, height, width, height, 1, field, size=height * width)
            sync()

        for _ in range(30):
            call()
        time.sleep(0.5)  # a variant for these sizes is compiled in the background
        results["patch matching"][label] = statistics.median(timed(call) for _ in range(30))
        fields[label] = module.asnumpy(field)
    if len(fields) == 2:
        print("patch matching: fields equal:", bool((fields["Iruka"] == fields["CuPy"]).all()))
    table(results, "milliseconds", 1e3)
    return results


def transfers():
    """GB/s between host and device: pageable NumPy memory, and page-locked memory."""
    results = {}

    def record(name, peer, nbytes, call):
        call()
        results.setdefault(name, {})[peer] = nbytes / min(timed(call) for _ in range(9)) / 1e9

    for mebibytes in (16, 256, 1024):
        host = np.ones(mebibytes << 18, "float32")
        up, down = f"upload {mebibytes} MiB", f"download {mebibytes} MiB"
        x = ik.asarray(host)
        record(up, "Iruka", host.nbytes, lambda: (ik.asarray(host), synchronize()))
        record(down, "Iruka", host.nbytes, lambda: ik.asnumpy(x))
        if cupy:
            a = cupy.asarray(host)
            record(up, "CuPy", host.nbytes, lambda: (cupy.asarray(host), synchronize()))
            record(down, "CuPy", host.nbytes, lambda: cupy.asnumpy(a))
        if torch:
            pinned, t = torch.ones(host.size).pin_memory(), torch.ones(host.size, device="cuda")
            record(up, "pinned", host.nbytes, lambda: (t.copy_(pinned), synchronize()))
            record(down, "pinned", host.nbytes, lambda: (pinned.copy_(t), synchronize()))
    table(results, "GB/s", 1)
    return results


def peers():
    """GB/s from GPU to GPU, 1 GiB; where there are two."""
    if ik.cuda.runtime.getDeviceCount() < 2:
        return {}
    results = {"cuda:0 to cuda:1": {}}
    with ik.cuda.Device(0):
        x = ik.ones(SIZE, "float32")
    y = x.to_device("cuda:1")

    def copy():
        y[...] = x
        ik.cuda.Device(0).synchronize(), ik.cuda.Device(1).synchronize()

    results["cuda:0 to cuda:1"]["Iruka"] = x.nbytes / statistics.median(timed(copy) for _ in range(9)) / 1e9
    if torch:
        a, b = torch.ones(SIZE, device="cuda:0"), torch.empty(SIZE, device="cuda:1")

        def torch_copy():
            b.copy_(a)
            torch.cuda.synchronize(0), torch.cuda.synchronize(1)

        torch_copy()
        results["cuda:0 to cuda:1"]["PyTorch"] = x.nbytes / statistics.median(timed(torch_copy) for _ in range(9)) / 1e9
    table(results, "GB/s", 1)
    return results


def import_time():
    """Milliseconds of the import, compared with NumPy's."""

    def once(statement):
        code = f"import numpy, time; s = time.perf_counter(); {statement}; print(time.perf_counter() - s)"
        return min(
            float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout or "nan")
            for _ in range(5)
        )

    results = {"import": {"Iruka": once("import iruka")}}
    if cupy:
        results["import"]["CuPy"] = once("import cupy")
    table(results, "milliseconds over NumPy", 1e3)
    return results


def table(results, title, scale):
    names = list(dict.fromkeys(name for row in results.values() for name in row))
    print(
        markdown(
            [[key] + [f"{row[n] * scale:.2f}" if n in row else "" for n in names] for key, row in results.items()],
            [title, *names],
        ),
        "\n",
        flush=True,
    )


SECTIONS = {
    "elementwise": lambda: bandwidth_table(elementwise_rows()),
    "copy": lambda: bandwidth_table(copy_row()),
    "reductions": lambda: bandwidth_table(reduction_rows()),
    "throughput": throughput,
    "launches": launches,
    "cold": cold,
    "patch_match": patch_match,
    "transfers": transfers,
    "peers": peers,
    "import": import_time,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    arguments = parser.parse_args()
    print(
        ik.cuda.Device().name,
        "CuPy",
        cupy and cupy.__version__,
        "PyTorch",
        torch and torch.__version__,
        "\n",
        flush=True,
    )
    results = {name: SECTIONS[name]() for name in arguments.only}
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "gpu.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
