"""Convolutional networks beside ONNX Runtime, in one run.

python benchmarks/convolutions.py [--threads N] [--rounds N] [--output build/benchmarks]
A ratio is ONNX Runtime's time over Iruka's, each the best of all rounds. Pairs of calls alternate. Weights are those
of Net (tests/python/onnx_models.py). First call: load, compile and run, with an empty cache.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python"))
CACHE = tempfile.TemporaryDirectory()
os.environ["IRUKA_CACHE_DIR"] = CACHE.name  # read when the module is loaded; a first call compiles

import numpy as np
import onnxruntime

import iruka
from iruka import nn
from measure import interleaved_times, markdown, processor, timed
from onnx_models import Net


def tiny(net):
    """Two convolutions of one small image: what calls cost."""
    x, inputs = net.input(1, 3, 32, 32), 3
    for outputs in (16, 32):
        x = net.op("Relu", net.conv(x, inputs, outputs, pads=[1] * 4))
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        inputs = outputs
    return net.finish(net.op("Gemm", net.op("Flatten", x), net.weight(2048, 10), net.weight(10)), opset=20)


def small(net):
    """Six convolutions with batch norms, batch 8, 64 x 64."""
    x, inputs = net.input(8, 3, 64, 64), 3
    for outputs in (32, 64, 128):
        for _ in range(2):
            x = net.op("Relu", net.norm(net.conv(x, inputs, outputs, bias=False, pads=[1] * 4), outputs))
            inputs = outputs
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.finish(net.op("Gemm", x, net.weight(128, 10), net.weight(10)), opset=20)


def mobile(net):
    """Depthwise and 1 x 1 convolutions, batch 4, 96 x 96."""
    x = net.op("HardSwish", net.conv(net.input(4, 3, 96, 96), 3, 16, strides=[2, 2], pads=[1] * 4))
    inputs = 16
    for outputs, stride in ((24, 1), (32, 2), (48, 1), (64, 2)):
        y = net.conv(x, inputs, inputs, groups=inputs, bias=False, pads=[1] * 4, strides=[stride] * 2)
        x = net.op("Relu", net.norm(y, inputs))
        x = net.op("Relu", net.norm(net.conv(x, inputs, outputs, (1, 1), bias=False), outputs))
        inputs = outputs
    return net.finish(net.op("GlobalAveragePool", x), opset=20)


def residual(net):
    """The beginning of a ResNet, batch 2, 112 x 112."""
    x = net.conv(net.input(2, 3, 112, 112), 3, 64, (7, 7), bias=False, strides=[2, 2], pads=[3] * 4)
    x = net.op("MaxPool", net.op("Relu", net.norm(x, 64)), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2)):
        y = net.norm(net.conv(x, inputs, outputs, bias=False, pads=[1] * 4, strides=[stride] * 2), outputs)
        y = net.norm(net.conv(net.op("Relu", y), outputs, outputs, bias=False, pads=[1] * 4), outputs)
        if inputs != outputs:
            x = net.norm(net.conv(x, inputs, outputs, (1, 1), bias=False, strides=[stride] * 2), outputs)
        x = net.op("Relu", net.op("Add", y, x))
        inputs = outputs
    return net.finish(net.op("GlobalAveragePool", x), opset=20)


def decoder(net):
    """Transposed convolutions and a bilinear resize, batch 2, 32 x 32 to 256 x 256."""
    x, inputs = net.input(2, 64, 32, 32), 64
    for outputs, kernel, margin in ((32, 4, 1), (16, 2, 0)):
        weights, bias = net.weight(inputs, outputs, kernel, kernel), net.weight(outputs)
        x = net.op("Relu", net.op("ConvTranspose", x, weights, bias, strides=[2, 2], pads=[margin] * 4))
        inputs = outputs
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    return net.finish(net.op("Resize", x, "", scales, mode="linear"), opset=20)


MODELS = (tiny, small, mobile, residual, decoder)


def timed_again(call):
    """Seconds of the second of two calls: threads of the other library still wait for work during the first."""
    call()
    return timed(call)


def measured(function, threads, rounds):
    proto, arrays = function(Net(function.__name__, np.float32))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    begin = time.perf_counter()
    model = nn.load(proto.SerializeToString(), device="cpu")
    x = iruka.asarray(arrays["x0"]).to_device("cpu")
    ours = iruka.asnumpy(model(x))
    first = time.perf_counter() - begin
    theirs = session.run(None, arrays)[0]
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if error > 1e-5:
        raise SystemExit(f"{function.__name__}: the results differ by {error:.1e}")
    iruka.finish_background_compilation()
    calls = {"iruka": lambda: model(x), "onnxruntime": lambda: session.run(None, arrays)}
    times = interleaved_times(calls, rounds, timer=timed_again)
    best = {name: min(values) * 1e3 for name, values in times.items()}
    return {"first ms": first * 1e3, **{f"{name} ms": value for name, value in best.items()}} | {
        "ratio": best["onnxruntime"] / best["iruka"]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()
    iruka.set_num_threads(options.threads)
    rows = {each.__name__: measured(each, options.threads, options.rounds) for each in MODELS}
    options.output.mkdir(parents=True, exist_ok=True)
    results = {"processor": processor(), "threads": options.threads, "networks": rows}
    (options.output / "convolutions.json").write_text(json.dumps(results, indent=1))
    names = list(next(iter(rows.values())))
    print(f"{processor()}, {options.threads} threads")
    print(markdown([[name, *(f"{row[key]:.3g}" for key in names)] for name, row in rows.items()], ["network", *names]))


if __name__ == "__main__":
    main()
