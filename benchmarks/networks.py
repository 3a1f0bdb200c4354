"""Small networks on many points beside NumPy, intrinsics, PyTorch and ONNX Runtime, in one run.

python benchmarks/networks.py [--threads N] [--points N] [--only cpu|cuda] [--output build/benchmarks]
On the CPU, and on a GPU where there is one (`cuda` in a row's name), in float32 and in tf32, with PyTorch's setting of
the same name. 8-32-4 is what the intrinsics are written for. A ratio is the other's time over Iruka's. GFLOP/s count
the products of the layers. The first call compiles, on a CPU in the background. Times of a GPU are of batches of calls,
which run without gaps.
"""

import argparse
import ctypes
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent / "spmd"))
CACHE = tempfile.TemporaryDirectory()
os.environ["IRUKA_CACHE_DIR"] = CACHE.name  # read when the module is loaded; a first call compiles

import numpy as np

import iruka
import peers
from iruka import nn
from measure import device_timer, interleaved, interleaved_batches, markdown, processor, timed

try:
    import torch
except ImportError:
    torch = None
try:
    import onnx
    import onnxruntime
except ImportError:
    onnxruntime = None

NETWORKS = ((8, 32, 4), (16, 32, 4), (3, 64, 64, 3), (32, 256, 256, 16))


def network_of(widths, device):
    """Linear layers with ReLU between them."""
    modules = []
    for inputs, outputs in zip(widths, widths[1:]):
        modules += [nn.Linear(inputs, outputs, device=device), nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def flops(widths, points):
    return 2 * points * sum(inputs * outputs for inputs, outputs in zip(widths, widths[1:]))


def numpy_call(parameters, x):
    def call():
        values = x
        for k in range(0, len(parameters), 2):
            values = values @ parameters[k].T + parameters[k + 1]
            if k + 2 < len(parameters):
                np.maximum(values, 0, out=values)
        return values

    return call


def intrinsics_call(parameters, x, threads):
    """Hand-written code for 8-32-4; None without a compiler or AVX2."""
    library = peers.intrinsics_library()
    if library is None:
        return None
    y = np.zeros((len(x), 4), np.float32)
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (x, *parameters)]
    arguments = (*pointers, ctypes.c_int64(len(x)), ctypes.c_void_p(y.ctypes.data), ctypes.c_int64(threads))

    def call():
        library.perceptron(*arguments)
        return y

    return call


def torch_call(parameters, x, device, compiled=lambda model: model):
    layers = []
    for k in range(0, len(parameters), 2):
        linear = torch.nn.Linear(*parameters[k].T.shape)
        linear.load_state_dict({"weight": torch.from_numpy(parameters[k]), "bias": torch.from_numpy(parameters[k + 1])})
        layers += [linear, torch.nn.ReLU()]
    model, points = compiled(torch.nn.Sequential(*layers[:-1]).to(device)), torch.from_numpy(x).to(device)

    def call():
        with torch.inference_mode():
            return model(points)

    return call


def onnx_call(parameters, x, threads):
    """The same network as a graph of Gemm and Relu."""
    helper, nodes, initializers, value = onnx.helper, [], [], "x"
    for k in range(0, len(parameters), 2):
        names = [f"w{k}", f"b{k}"]
        initializers += [onnx.numpy_helper.from_array(parameters[k + j], names[j]) for j in (0, 1)]
        last = k + 2 == len(parameters)
        nodes.append(helper.make_node("Gemm", [value, *names], ["y" if last else f"s{k}"], transB=1))
        if not last:
            nodes.append(helper.make_node("Relu", [f"s{k}"], [f"v{k}"]))
            value = f"v{k}"
    kind = onnx.TensorProto.FLOAT
    ends = [helper.make_tensor_value_info(name, kind, [None, None]) for name in "xy"]
    graph = helper.make_graph(nodes, "network", ends[:1], ends[1:], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": x})[0]


def measured(widths, points, device, threads, precision):
    """Seconds of each by name, and the milliseconds of Iruka's first call."""
    x = np.random.default_rng(0).standard_normal((points, widths[0]), dtype=np.float32)
    network, on_cpu = network_of(widths, device).to(precision=precision), device.name == "cpu"
    parameters = [np.ascontiguousarray(iruka.asnumpy(each)) for each in network.parameters()]
    ours = iruka.asarray(x, device=device)
    y = network.map(ours[:0])
    first = timed(lambda: (network.map(ours[:16]), device.synchronize())) * 1e3
    iruka.finish_background_compilation()
    y = network.map(ours)
    candidates = {"Iruka": lambda: network.map(ours, out=y)}
    if on_cpu:
        candidates["NumPy"] = numpy_call(parameters, x)
        by_hand = intrinsics_call(parameters, x, threads) if widths == (8, 32, 4) else None
        candidates |= {"intrinsics": by_hand} if by_hand else {}
        candidates |= {"ONNX Runtime": onnx_call(parameters, x, threads)} if onnxruntime else {}
    if torch and (on_cpu or torch.cuda.is_available()):
        torch.set_num_threads(threads)
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        candidates["PyTorch"] = torch_call(parameters, x, "cpu" if on_cpu else "cuda")
        if not on_cpu:
            candidates["torch.compile"] = torch_call(parameters, x, "cuda", torch.compile)
    expected = numpy_call([each.astype(np.float64) for each in parameters], x[:1000].astype(np.float64))()
    for name, call in candidates.items():
        made = call()
        got = made.cpu().numpy() if hasattr(made, "cpu") else iruka.asnumpy(made)
        error = np.abs(got[:1000] - expected).max() / np.abs(expected).max()
        if error > (1e-5 if name == "Iruka" and precision == "float32" else 1e-2):
            sys.exit(f"{name} differs by {error:.1e} of the largest result")
    if on_cpu:
        return interleaved(candidates), first
    timer, about = device_timer(device.synchronize), 0.02  # seconds of a batch
    batches = {name: min(max(int(about / timer(call)), 3), 300) for name, call in candidates.items()}
    return interleaved_batches(candidates, batches, timer=timer), first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--points", type=int, default=10**6, help="of 8-32-4 and on a GPU; larger networks get fewer on a CPU"
    )
    parser.add_argument("--only", choices=("cpu", "cuda"), help="the device, where there are both")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()
    iruka.set_num_threads(options.threads)
    peers.settings |= {"folder": options.output / "spmd", "threads": options.threads}
    devices = [iruka.device("cpu")] + ([iruka.device("cuda")] if iruka.cuda.is_available() else [])
    devices = [device for device in devices if not options.only or device.name.startswith(options.only)]
    rows, results, names = [], [], ["NumPy", "intrinsics", "PyTorch", "torch.compile", "ONNX Runtime"]
    cases = [
        (device, widths, precision)
        for device in devices
        for widths in NETWORKS
        for precision in (("float32",) if device.name == "cpu" else ("float32", "tf32"))
    ]
    for device, widths, precision in cases:
        on_cpu = device.name == "cpu"
        fewer = flops((8, 32, 4), 1) / max(flops(widths, 1), 768) if on_cpu else 1
        points = max(1000, int(options.points * fewer))
        seconds, first = measured(widths, points, device, options.threads, precision)
        name = "-".join(map(str, widths)) + ("" if on_cpu else f" cuda {precision}")
        own = seconds["Iruka"]
        ratios = [f"{seconds[peer] / own:.2f}" if peer in seconds else "" for peer in names]
        rows.append([name, str(points), f"{own * 1e3:.4g}", f"{flops(widths, points) / own / 1e9:.0f}", *ratios,
                     f"{first:.0f}"])  # fmt: skip
        results.append({"network": name, "points": points, "seconds": seconds, "first_ms": first})
        print(rows[-1], flush=True)
    header = ["network", "points", "ms", "GFLOP/s", *(f"{peer} / Iruka" for peer in names), "first call, ms"]
    print(f"\n{options.threads} threads of {processor()}, {time.strftime('%Y-%m-%d')}\n\n{markdown(rows, header)}")
    for note in peers.settings["notes"]:
        print(note)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "networks.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
