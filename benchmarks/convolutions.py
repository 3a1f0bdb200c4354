"""Convolutional networks beside ONNX Runtime, in one run.

python benchmarks/convolutions.py [--threads N] [--seconds S] [--only NAMES] [--shapes 1x32,8x64] [--output FOLDER]
A ratio is ONNX Runtime's time over Iruka's, the median over pairs of calls, which alternate. Times are medians, too.
Weights are those of Net (tests/python/onnx_models.py). First call: load, compile and run, with an empty cache.
"""

import argparse
import json
import os
import pathlib
import statistics
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


def tiny(net, batch=1, size=32):
    """Two convolutions of one small image: what calls cost."""
    x, inputs = net.input(batch, 3, size, size), 3
    for outputs in (16, 32):
        x = net.op("Relu", net.conv(x, inputs, outputs, pads=[1] * 4))
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        inputs = outputs
    x, features = net.op("Flatten", x), inputs * (size // 4) ** 2
    return net.finish(net.op("Gemm", x, net.weight(features, 10), net.weight(10)), opset=20)


def small(net, batch=8, size=64):
    """Six convolutions with batch norms."""
    x, inputs = net.input(batch, 3, size, size), 3
    for outputs in (32, 64, 128):
        for _ in range(2):
            x = net.op("Relu", net.norm(net.conv(x, inputs, outputs, bias=False, pads=[1] * 4), outputs))
            inputs = outputs
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.finish(net.op("Gemm", x, net.weight(128, 10), net.weight(10)), opset=20)


def mobile(net, batch=4, size=96):
    """Depthwise and 1 x 1 convolutions."""
    x = net.op("HardSwish", net.conv(net.input(batch, 3, size, size), 3, 16, strides=[2, 2], pads=[1] * 4))
    inputs = 16
    for outputs, stride in ((24, 1), (32, 2), (48, 1), (64, 2)):
        y = net.conv(x, inputs, inputs, groups=inputs, bias=False, pads=[1] * 4, strides=[stride] * 2)
        x = net.op("Relu", net.norm(y, inputs))
        x = net.op("Relu", net.norm(net.conv(x, inputs, outputs, (1, 1), bias=False), outputs))
        inputs = outputs
    return net.finish(net.op("GlobalAveragePool", x), opset=20)


def residual(net, batch=2, size=112):
    """The beginning of a ResNet."""
    x = net.conv(net.input(batch, 3, size, size), 3, 64, (7, 7), bias=False, strides=[2, 2], pads=[3] * 4)
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


def digits(net, batch=1, size=32):
    """LeNet: grey images, 5 x 5 kernels without margins, tanh, mean pooling."""
    x, inputs = net.input(batch, 1, size, size), 1
    for outputs in (6, 16):
        x = net.op("Tanh", net.conv(x, inputs, outputs, (5, 5)))
        x = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
        inputs, size = outputs, (size - 4) // 2
    x, features = net.op("Flatten", x), inputs * size * size
    for outputs in (120, 84, 10):
        x = net.op("Gemm", x, net.weight(features, outputs), net.weight(outputs))
        x, features = (net.op("Tanh", x) if outputs > 10 else x), outputs
    return net.finish(x, opset=20)


def inverted(net, batch=1, size=64):
    """MobileNet v2: 1 x 1 convolutions widen, depthwise ones follow with ReLU6, 1 x 1 narrow; some inputs are added."""
    zero, six = net.number(0), net.number(6)
    relu6 = lambda x: net.op("Clip", x, zero, six)
    x = relu6(net.conv(net.input(batch, 3, size, size), 3, 32, strides=[2, 2], pads=[1] * 4))
    inputs = 32
    for outputs, stride, factor in ((16, 1, 1), (24, 2, 6), (24, 1, 6), (32, 2, 6), (32, 1, 6)):
        wide = inputs * factor
        y = relu6(net.norm(net.conv(x, inputs, wide, (1, 1), bias=False), wide)) if factor > 1 else x
        y = net.conv(y, wide, wide, groups=wide, bias=False, pads=[1] * 4, strides=[stride] * 2)
        y = net.norm(net.conv(relu6(net.norm(y, wide)), wide, outputs, (1, 1), bias=False), outputs)
        x = net.op("Add", x, y) if stride == 1 and inputs == outputs else y
        inputs = outputs
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.finish(net.op("Gemm", x, net.weight(inputs, 10), net.weight(10)), opset=20)


def wide5(net, batch=1, size=64):
    """MobileNet v3's parts: depthwise 5 x 5 with stride 2, squeeze and excitation, hard swish."""
    x = net.op("HardSwish", net.conv(net.input(batch, 3, size, size), 3, 24, (5, 5), strides=[2, 2], pads=[2] * 4))
    inputs = 24
    for outputs, stride in ((40, 2), (40, 1), (80, 2)):
        y = net.op("HardSwish", net.conv(x, inputs, 3 * inputs, (1, 1)))
        y = net.conv(y, 3 * inputs, 3 * inputs, (5, 5), groups=3 * inputs, pads=[2] * 4, strides=[stride] * 2)
        y = net.op("HardSwish", y)
        gate = net.op("Relu", net.conv(net.op("GlobalAveragePool", y), 3 * inputs, 16, (1, 1)))
        gate = net.op("HardSigmoid", net.conv(gate, 16, 3 * inputs, (1, 1)), alpha=1 / 6, beta=0.5)
        x, inputs = net.conv(net.op("Mul", y, gate), 3 * inputs, outputs, (1, 1)), outputs
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.finish(net.op("Gemm", x, net.weight(inputs, 10), net.weight(10)), opset=20)


def bottleneck(net, batch=1, size=64):
    """ResNet-50's blocks: 1 x 1, 3 x 3, 1 x 1 and a sum."""
    x = net.op("Relu", net.conv(net.input(batch, 3, size, size), 3, 64, (7, 7), strides=[2, 2], pads=[3] * 4))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for outputs, stride in ((128, 1), (128, 1), (256, 2)):
        narrow = outputs // 4
        y = net.op("Relu", net.conv(x, inputs, narrow, (1, 1)))
        y = net.op("Relu", net.conv(y, narrow, narrow, pads=[1] * 4, strides=[stride] * 2))
        y = net.conv(y, narrow, outputs, (1, 1))
        if inputs != outputs:
            x = net.conv(x, inputs, outputs, (1, 1), strides=[stride] * 2)
        x = net.op("Relu", net.op("Add", y, x))
        inputs = outputs
    return net.finish(net.op("GlobalAveragePool", x), opset=20)


def encoder(net, batch=1, size=64):
    """A small U-Net for grey images: 3 x 3 convolutions down and, by transposed ones and joins of channels, up."""
    double = lambda x, a, b: net.op(
        "Relu", net.conv(net.op("Relu", net.conv(x, a, b, pads=[1] * 4)), b, b, pads=[1] * 4)
    )
    x, inputs, left = net.input(batch, 1, size, size), 1, []
    for outputs in (16, 32):
        x = double(x, inputs, outputs)
        left.append((x, outputs))
        x, inputs = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), outputs
    x, inputs = double(x, inputs, 64), 64
    for side, outputs in reversed(left):
        x = net.op("ConvTranspose", x, net.weight(inputs, outputs, 2, 2), net.weight(outputs), strides=[2, 2])
        x, inputs = double(net.op("Concat", side, x, axis=1), 2 * outputs, outputs), outputs
    return net.finish(net.op("Sigmoid", net.conv(x, inputs, 1, (1, 1))), opset=20)


def decoder(net, batch=2, size=32):
    """Transposed convolutions and a bilinear resize, to images 8 times as large."""
    x, inputs = net.input(batch, 64, size, size), 64
    for outputs, kernel, margin in ((32, 4, 1), (16, 2, 0)):
        weights, bias = net.weight(inputs, outputs, kernel, kernel), net.weight(outputs)
        x = net.op("Relu", net.op("ConvTranspose", x, weights, bias, strides=[2, 2], pads=[margin] * 4))
        inputs = outputs
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    return net.finish(net.op("Resize", x, "", scales, mode="linear"), opset=20)


def generator(net, batch=1, size=8):
    """DCGAN: transposed 4 x 4 convolutions of stride 2, to pictures 8 times as large."""
    x, inputs = net.input(batch, 128, size, size), 128
    for outputs in (64, 32):
        weights = net.weight(inputs, outputs, 4, 4)
        x = net.op("ConvTranspose", x, weights, strides=[2, 2], pads=[1] * 4)
        x, inputs = net.op("Relu", net.norm(x, outputs)), outputs
    x = net.op("ConvTranspose", x, net.weight(inputs, 3, 4, 4), net.weight(3), strides=[2, 2], pads=[1] * 4)
    return net.finish(net.op("Tanh", x), opset=20)


MODELS = (
    tiny, small, mobile, residual, digits, inverted, wide5, bottleneck, encoder, decoder, generator,
)  # fmt: skip


def timed_again(call):
    """Seconds of the second of two calls: threads of the other library still wait for work during the first."""
    call()
    return timed(call)


def measured(function, shape, threads, seconds):
    proto, arrays = function(Net(function.__name__, np.float32), **shape)
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
    if error > 1e-4:
        raise SystemExit(f"{function.__name__}: the results differ by {error:.1e}")
    iruka.finish_background_compilation()
    calls = {"iruka": lambda: model(x), "onnxruntime": lambda: session.run(None, arrays)}
    rounds = int(np.clip(seconds / (4 * timed(calls["onnxruntime"])), 7, 400))
    times = interleaved_times(calls, rounds, timer=timed_again)
    middle = {name: statistics.median(values) * 1e3 for name, values in times.items()}
    return {"first ms": first * 1e3, **{f"{name} ms": value for name, value in middle.items()}} | {
        "ratio": statistics.median(theirs / ours for ours, theirs in zip(times["iruka"], times["onnxruntime"]))
    }


def cases(options):
    """Names, networks and shapes of their inputs."""
    functions = [each for each in MODELS if not options.only or each.__name__ in options.only.split(",")]
    if not options.shapes:
        return [(each.__name__, each, {}) for each in functions]
    shapes = [dict(zip(("batch", "size"), map(int, shape.split("x")))) for shape in options.shapes.split(",")]
    return [
        (f"{each.__name__} {shape['batch']} x {shape['size']}", each, shape) for each in functions for shape in shapes
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2, help="about, for each network")
    parser.add_argument("--only", help="names of networks, with commas between them")
    parser.add_argument("--shapes", help="images and their width, as 1x32,8x64; each network has its own else")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()
    iruka.set_num_threads(options.threads)
    print(f"{processor()}, {options.threads} threads", flush=True)
    rows = {}
    for name, function, shape in cases(options):
        rows[name] = measured(function, shape, options.threads, options.seconds)
        print(name, {key: float(f"{value:.3g}") for key, value in rows[name].items()}, file=sys.stderr, flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    results = {"processor": processor(), "threads": options.threads, "networks": rows}
    (options.output / "convolutions.json").write_text(json.dumps(results, indent=1))
    names = list(next(iter(rows.values())))
    print(markdown([[name, *(f"{row[key]:.3g}" for key in names)] for name, row in rows.items()], ["network", *names]))


if __name__ == "__main__":
    main()
