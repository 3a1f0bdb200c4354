"""Convolutions, what is fused behind them, and arrays in any order on every device, against float64 sums of NumPy."""

import numpy as np
import onnx.reference
import pytest

import iruka
from fake_driver import needs_fake_driver, run
from iruka import nn
from onnx_models import Net
from test_nn_layers import check, convolved, host, weights


def channels_last(x):
    """The same array with the channels as the fastest axis in memory."""
    back = (0, x.ndim - 1, *range(1, x.ndim - 1))
    return iruka.ascontiguousarray(iruka.moveaxis(x, 1, -1)).transpose(back)


def of(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


LAYERS = {
    "conv": lambda: nn.Conv2d(6, 8, 3, padding=1),
    "strided": lambda: nn.Conv2d(6, 8, 3, stride=2, padding=(1, 2)),
    "same": lambda: nn.Conv2d(6, 8, 4, padding="same"),
    "grouped": lambda: nn.Conv2d(6, 8, 3, groups=2, dilation=2),
    "depthwise": lambda: nn.Conv2d(6, 12, 3, groups=6, padding=1),
    "pointwise": lambda: nn.Conv2d(6, 8, 1),
    "transposed": lambda: nn.ConvTranspose2d(6, 8, 3, stride=2, padding=1, output_padding=1),
    "transposed, grouped": lambda: nn.ConvTranspose2d(6, 8, 4, stride=2, padding=1, groups=2),
    "max pool": lambda: nn.MaxPool2d(3, 2, padding=1),
    "max pool, dilated": lambda: nn.MaxPool2d(2, 1, dilation=(3, 2)),
    "average pool": lambda: nn.AvgPool2d(2),
    "average pool, margins": lambda: nn.AvgPool2d((3, 2), (1, 3), padding=1, ceil_mode=True),
    "adaptive pool": lambda: nn.AdaptiveAvgPool2d((3, 2)),
    "adaptive maximum": lambda: nn.AdaptiveMaxPool2d(2),
    "batch norm": lambda: nn.BatchNorm2d(6),
    "group norm": lambda: nn.GroupNorm(2, 6),
    "instance norm": lambda: nn.InstanceNorm2d(6),
    "flatten": lambda: nn.Flatten(),
    "upsample": lambda: nn.Upsample(scale_factor=2),
    "activation": lambda: nn.Sequential(nn.Conv2d(6, 8, 3), nn.GELU(), nn.Flatten()),
}


@pytest.mark.parametrize("precision", ["float32", "tf32"])
@pytest.mark.parametrize("layer", LAYERS)
def test_the_order_of_axes_in_memory_changes_no_number(layer, precision):
    module = nn.Sequential(LAYERS[layer]()).to(precision=precision)
    x = iruka.asarray(of((2, 6, 11, 9)))
    want = module(x)
    for other in (channels_last(x), iruka.asarray(of((2, 6, 11, 9)).transpose(3, 2, 1, 0).copy()).transpose()):
        got = module(other)
        assert got.flags.c_contiguous
        check(got, host(want), 1e-6 if precision == "float32" else 2e-3)


POOLS = {
    "one axis": (lambda: nn.MaxPool1d(3, 2, padding=1), (3, 5, 17)),
    "three axes": (lambda: nn.MaxPool3d((2, 3, 2), (2, 1, 3), padding=(1, 1, 0)), (2, 3, 5, 6, 9)),
    "means of three axes": (lambda: nn.AvgPool3d(2, count_include_pad=False, padding=1), (2, 3, 5, 6, 9)),
    "adaptive, one axis": (lambda: nn.AdaptiveMaxPool1d(4), (3, 5, 17)),
    "adaptive, three axes": (lambda: nn.AdaptiveAvgPool3d((2, 3, 1)), (2, 3, 5, 6, 9)),
    "one channel": (lambda: nn.MaxPool2d(2), (3, 1, 8, 9)),
    "one pixel": (lambda: nn.AvgPool2d(1), (3, 40, 1, 1)),
    "many channels": (lambda: nn.MaxPool2d(3, 1, padding=1), (1, 300, 7, 5)),
    "long rows": (lambda: nn.MaxPool1d(3, 2, padding=1), (2, 5, 5001)),
    "dilations beyond the array": (lambda: nn.MaxPool2d(2, 1, padding=1, dilation=(1, 7)), (2, 5, 6, 7)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int8"])
@pytest.mark.parametrize("name", POOLS)
def test_pooling_in_any_order_of_axes_in_memory(name, dtype):
    make, shape = POOLS[name]
    module = make()
    if dtype == "int8" and not isinstance(module, (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)):
        pytest.skip("means of integers")
    x = iruka.asarray(of(shape) * 50).astype(dtype)
    if dtype != "int8":
        x[0, 0, 0] = np.nan
    last, other = (host(module(each).astype("float64")) for each in (channels_last(x), x))
    # The order in which a mean adds up its elements depends on that of the axes.
    rounding = {"float64": 1e-13, "float32": 1e-5}.get(dtype, 0) if isinstance(module, nn.AvgPool3d) else 0
    np.testing.assert_allclose(last, other, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (1, 40, 33, 2), (3, 17, 50), (2, 5, 2, 3, 4), (0, 3, 4, 4)])
def test_flatten_of_any_order_of_axes_in_memory(shape, dtype):
    x = np.random.default_rng(0).integers(-100, 100, shape).astype(dtype)
    got = nn.Flatten()(channels_last(iruka.asarray(x)))
    np.testing.assert_array_equal(host(got), x.reshape(shape[0], int(np.prod(shape[1:]))))


@pytest.mark.parametrize("axis", [1, 2, 3, -1, 0])
def test_concatenated_results_of_convolutions(axis):
    net = Net("branches", np.float32)
    x = net.input(2, 6, 7, 5)
    branches = [net.op("Relu", net.conv(x, 6, outputs, pads=[1] * 4)) for outputs in (8, 8, 8)]
    y = net.op("Concat", *branches, axis=axis)
    channels = 24 if axis == 1 else 8
    proto, arrays = net.finish(net.conv(y, channels, 4, pads=[1] * 4), opset=20)
    want = onnx.reference.ReferenceEvaluator(proto).run(None, arrays)[0]
    check(nn.load(proto.SerializeToString())(iruka.asarray(arrays["x0"])), want, 1e-5)


def test_a_network_whose_arrays_all_have_their_channels_last():
    module = nn.Sequential(
        nn.Conv2d(3, 24, 3, padding=1),
        nn.MaxPool2d(3, 2, padding=1),
        nn.GELU(),
        nn.Conv2d(24, 16, 3),
        nn.AvgPool2d(2, ceil_mode=True),
        nn.Sigmoid(),
        nn.AdaptiveAvgPool2d((3, 2)),
        nn.Flatten(),
        nn.Linear(96, 7),
    )
    x = iruka.asarray(of((4, 3, 37, 30)))
    want = host(module(x))
    check(module.to(precision="tf32")(channels_last(x)), want, 5e-3)


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_biases_and_relu_behind_a_convolution(dtype, bias, is_last):
    module = nn.Sequential(nn.Conv2d(6, 8, 3, padding=1, stride=2, bias=bias), nn.ReLU()).to(dtype)
    numbers = weights(module)
    x = of((3, 6, 12, 10), dtype)
    given = iruka.asarray(x)
    got = module(channels_last(given) if is_last else given)
    want = convolved(x.astype(np.float64), numbers["0.weight"], numbers.get("0.bias"), (2, 2), (1, 1), (1, 1), 1)
    check(got, np.maximum(want, 0))


def test_precision_of_modules_and_models():
    module = nn.Sequential(nn.Conv2d(6, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16, 5))
    x = iruka.asarray(of((4, 6, 6, 6)))
    want = host(module(x))
    assert module.to(precision="tf32") is module
    check(module(x), want, 5e-3)
    check(module.to(precision="float32")(x), want, 1e-6)
    for call in (lambda: module.to(precision="half"), lambda: nn.load(b"", precision="half")):
        with pytest.raises(ValueError, match="precision must be 'float32' or 'tf32', not 'half'"):
            call()


def test_a_cpu_computes_the_same_in_each_precision():
    module = nn.Sequential(nn.Conv2d(6, 8, 3), nn.ReLU()).to("cpu")
    x = iruka.asarray(of((2, 6, 8, 8))).to_device("cpu")
    want = iruka.asnumpy(module(x))
    np.testing.assert_array_equal(iruka.asnumpy(module.to(precision="tf32")(x)), want)
    assert module.report(x).note == ""


POOLS_ON_A_GPU = """
import os, pathlib, sys
from iruka import nn
try:
    iruka.ElementwiseKernel("float32 x", "float32 y", "y = x", "first")(iruka.empty(3, dtype="float32"))
except iruka.errors.DeviceError:
    sys.exit(print("no compiler"))
x = iruka.zeros((2, 5, 21, 20), "float32")
last = iruka.moveaxis(iruka.ascontiguousarray(iruka.moveaxis(x, 1, -1)), -1, 1)
for pool in (nn.MaxPool2d(3, 2, padding=1), nn.MaxPool2d(2, dilation=2), nn.AvgPool2d(3, 1, padding=1)):
    for given in (x, last):
        pool(given)
kernels = [file.read_bytes() for file in pathlib.Path(os.environ["IRUKA_CACHE_DIR"]).rglob("*.kernel")]
print(len(kernels), sum(b"__local_depot" in kernel for kernel in kernels))
"""


@needs_fake_driver
def test_windows_are_registers_of_a_gpu(tmp_path):
    """Local memory is as slow as the arrays."""
    printed = run(POOLS_ON_A_GPU, IRUKA_CACHE_DIR=str(tmp_path))
    if "no compiler" in printed:
        pytest.skip("there is no NVRTC")
    count, with_local_memory = map(int, printed.split())
    assert count >= 6 and with_local_memory == 0
