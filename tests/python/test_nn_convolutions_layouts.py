"""Convolutions, what is fused behind them, and arrays in any order on every device, against float64 sums of NumPy."""

import numpy as np
import pytest

import iruka
from iruka import nn
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
    "average pool": lambda: nn.AvgPool2d(2),
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
