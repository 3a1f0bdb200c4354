"""Perceptrons of precision tf32 against float64 formulas of NumPy. On a CPU and on older GPUs they compute in float32."""

import math

import numpy as np
import pytest

import iruka
from fake_driver import needs_fake_driver, run
from helpers import BFLOAT16
from iruka import nn

# Both factors of a product are rounded to 10 bits of mantissa. What the tensor cores cut from values, and the factor
# that makes up for it, are at most 1.3 units of 2**-11 together.
UNIT = 2.5 * 2.0**-11
ERF = np.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


# The module, its formula, and how many times further from each other it may put two numbers.
ACTIVATIONS = {
    "relu": (nn.ReLU, lambda x: np.where(x < 0, 0, x), 1),
    "leaky": (lambda: nn.LeakyReLU(0.2), lambda x: np.where(x > 0, x, 0.2 * x), 1),
    "gelu": (nn.GELU, lambda x: 0.5 * x * (1 + ERF(x / math.sqrt(2))), 1.13),
    "silu": (nn.SiLU, lambda x: x * sigmoid(x), 1.1),
    "tanh": (nn.Tanh, np.tanh, 1),
    "sigmoid": (nn.Sigmoid, sigmoid, 0.25),
    "softplus": (lambda: nn.Softplus(2, 5), lambda x: np.where(2 * x > 5, x, np.log1p(np.exp(2 * x)) / 2), 1),
    "elu": (lambda: nn.ELU(1.5), lambda x: np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0))), 1.5),
    "hardswish": (nn.Hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6, 1.5),
    "softmax": (nn.Softmax, softmax, 1),
    "identity": (nn.Identity, lambda x: x, 1),
}


def uses_tensor_cores():
    device = iruka.ones(1).device
    return device.name != "cpu" and int(device.compute_capability) >= 80


class Network:
    """Linear layers with an activation between them, the module and its reference. `spread`: powers of ten of weights."""

    def __init__(self, widths, activation="relu", spread=0.0, seed=0):
        rng = np.random.default_rng(seed)
        self.layers, modules = [], []
        make, self.formula, self.slope = ACTIVATIONS[activation]
        for inputs, outputs in zip(widths, widths[1:]):
            scale = 10.0 ** rng.uniform(-spread, spread, (outputs, inputs)) / math.sqrt(inputs)
            weight = (rng.standard_normal((outputs, inputs)) * scale).astype(np.float32)
            bias = rng.standard_normal(outputs).astype(np.float32)
            linear = nn.Linear(inputs, outputs)
            linear.load_state_dict({"weight": weight, "bias": bias})
            self.layers.append((weight.astype(np.float64), bias.astype(np.float64)))
            modules += [linear, make()]
        self.module = nn.Sequential(*modules[:-1]).to(precision="tf32")

    def __call__(self, x):
        """The results in float64, and a bound of each one's error."""
        values = np.asarray(x, dtype=np.float64)
        error = np.zeros_like(values)
        for k, (weight, bias) in enumerate(self.layers):
            size = np.abs(values) @ np.abs(weight).T
            error = error @ np.abs(weight).T * (1 + UNIT) + UNIT * size + 1e-6 * (size + np.abs(bias))
            values = values @ weight.T + bias
            if k + 1 < len(self.layers):
                values, error = self.formula(values), self.slope * error + 1e-6
        return values, error


def points(count, features, seed=1):
    return np.random.default_rng(seed).standard_normal((count, features)).astype(np.float32)


def check(network, got, x, norm=2e-3):
    """Each result within its bound, and all of them near the reference as a whole."""
    got = iruka.asnumpy(got).astype(np.float64)
    want, bound = network(x)
    assert got.shape == want.shape
    assert np.isfinite(got).all()
    assert (np.abs(got - want) <= bound).all(), np.max(np.abs(got - want) / bound)
    if norm and want.size:
        assert np.linalg.norm(got - want) <= norm * np.linalg.norm(want)


WIDTHS = {
    "3-64-64-3": (3, 64, 64, 3),
    "16-32-4": (16, 32, 4),
    "5-17-33-2": (5, 17, 33, 2),
    "7-256-256-1": (7, 256, 256, 1),
    "7-256-16": (7, 256, 16),
    "1-1": (1, 1),
    "9-72-200-8": (9, 72, 200, 8),
    "40-128-64-33": (40, 128, 64, 33),
    "sixteen layers": (3, *[64] * 15, 1),
    "sixteen narrow layers": (4, *[24] * 15, 5),
    "many weights": (128, *[128] * 6, 2),
}


@pytest.mark.parametrize("widths", WIDTHS)
def test_networks_of_any_width_and_depth(widths):
    network = Network(WIDTHS[widths])
    for count in (1, 15, 17, 128, 129, 5000):
        x = points(count, WIDTHS[widths][0], count)
        check(network, network.module(iruka.asarray(x)), x, norm=None if count == 1 else 5e-3)


@pytest.mark.parametrize("widths", ["3-64-64-3", "16-32-4", "5-17-33-2"])
def test_weights_of_wide_range(widths):
    for seed in range(3):
        network = Network(WIDTHS[widths], spread=3, seed=seed)
        x = (points(700, WIDTHS[widths][0]) * 10.0 ** np.random.default_rng(seed).uniform(-4, 4, (700, 1))).astype(
            np.float32
        )
        check(network, network.module(iruka.asarray(x)), x)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("widths", [(6, 64, 24, 5), (6, 13, 64, 64, 3)])
def test_activations(activation, widths):
    network = Network(widths, activation)
    x = points(333, widths[0])
    check(network, network.module(iruka.asarray(x)), x, norm=5e-3)


@pytest.mark.parametrize("features, width", [(5, 11), (30, 64), (200, 200)])
def test_slopes_of_channels_and_activations_around_the_layers(features, width):
    rng = np.random.default_rng(3)
    linear, slopes = nn.Linear(features, width), nn.PReLU(width)
    slopes.load_state_dict({"weight": rng.uniform(0, 1, width).astype(np.float32)})
    module = nn.Sequential(nn.Tanh(), linear, slopes, nn.Softmax()).to(precision="tf32")
    weight, bias = (iruka.asnumpy(linear.state_dict()[key]).astype(np.float64) for key in ("weight", "bias"))
    x = points(300, features)
    sums = np.tanh(x.astype(np.float64)) @ weight.T + bias
    want = softmax(np.where(sums > 0, sums, iruka.asnumpy(slopes.weight) * sums))
    np.testing.assert_allclose(iruka.asnumpy(module(iruka.asarray(x))), want, rtol=1e-2, atol=1e-4)


LAYOUTS = {
    "first axis": lambda x: (iruka.array(x.T.copy()), 0),
    "gaps": lambda x: (iruka.array(np.pad(x, ((0, 0), (0, 3))))[:, : x.shape[1]], -1),
    "shifted": lambda x: (iruka.array(np.concatenate([[0], x.ravel()]).astype(np.float32))[1:].reshape(x.shape), -1),
    "reversed": lambda x: (iruka.array(x[::-1].copy())[::-1], -1),
    "reversed features": lambda x: (iruka.array(x[:, ::-1].copy())[:, ::-1], 1),
    "every other": lambda x: (iruka.array(np.repeat(x, 2, axis=0))[::2], -1),
    "parts": lambda x: (iruka.array(np.pad(x.reshape(20, 30, -1), ((0, 0), (0, 2), (0, 1))))[:, :30, :-1], -1),
    "middle axis": lambda x: (iruka.array(x.reshape(20, 30, -1).transpose(0, 2, 1).copy()), 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("widths", [(3, 64, 64, 3), (16, 24, 4)])
def test_points_of_any_layout(layout, widths):
    network = Network(widths)
    x = points(600, widths[0])
    a, axis = LAYOUTS[layout](x)
    got = network.module.map(a, axis=axis)
    check(network, iruka.moveaxis(got, axis, -1).reshape(600, -1), x)
    out = iruka.zeros((*got.shape[:-1], 2 * got.shape[-1]), dtype="float32")[..., ::2]
    network.module.map(a, axis=axis, out=out)
    np.testing.assert_array_equal(iruka.asnumpy(out), iruka.asnumpy(got))


@pytest.mark.parametrize("dtype", ["float16", BFLOAT16, "float64", "int64", "uint8", "bool"])
def test_points_of_any_dtype(dtype):
    network = Network((5, 64, 3))
    x = np.random.default_rng(5).integers(0, 2 if dtype == "bool" else 9, (200, 5))
    a = iruka.asarray(x).astype(dtype)
    check(network, network.module(a), x)
    check(network, network.module.map(a.T.copy(), axis=0).T, x)


def test_results_in_other_arrays():
    network, x = Network((3, 64, 64, 3)), points(50_000, 3)
    a, calls = iruka.array(x), []
    want = network.module(a)
    out = iruka.empty((50_000, 3), dtype="float64")
    assert network.module.map(a, out=out, progress=lambda done, every: calls.append((done, every))) is out
    np.testing.assert_array_equal(iruka.asnumpy(out), iruka.asnumpy(want))
    assert calls[-1] == (50_000, 50_000)
    network.module.map(a, out=a)
    np.testing.assert_array_equal(iruka.asnumpy(a), iruka.asnumpy(want))


@pytest.mark.parametrize("widths", [(3, 64, 64, 3), (5, 17, 33, 2), (16, 32, 4)])
def test_nan_and_infinity_stay_in_their_points(widths):
    network = Network(widths)
    x = points(1000, widths[0])
    want = iruka.asnumpy(network.module(iruka.asarray(x)))
    given = x.copy()
    given[17, 0], given[500, 1], given[501, 2] = np.nan, np.inf, -np.inf
    given.view(np.uint32)[999, 0] = 0xFF800001  # a NaN by its last bit alone
    got = iruka.asnumpy(network.module(iruka.asarray(given)))
    others = np.ones(1000, bool)
    others[[17, 500, 501, 999]] = False
    np.testing.assert_array_equal(got[others], want[others])
    assert np.isnan(got[[17, 999]]).all()
    with np.errstate(invalid="ignore"):
        expected, _ = network(given[[500, 501]])
    np.testing.assert_array_equal(np.isnan(got[[500, 501]]), np.isnan(expected))
    infinite = np.isinf(expected)
    np.testing.assert_array_equal(got[[500, 501]][infinite], expected[infinite])


@pytest.mark.parametrize("shape", [(0, 3), (4, 0, 3)])
def test_no_points(shape):
    network = Network((3, 64, 64, 2))
    assert network.module(iruka.empty(shape, dtype="float32")).shape == (*shape[:-1], 2)


def test_new_weights_count():
    network, x = Network((3, 64, 3)), points(100, 3)
    network.module(iruka.asarray(x))
    other = Network((3, 64, 3), seed=7)
    network.module.load_state_dict(other.module.state_dict())
    check(other, network.module(iruka.asarray(x)), x)


def test_what_stays_float32():
    network, x = Network((3, 64, 64, 3)), points(1000, 3)
    want, _ = network(x)
    largest = np.abs(want).max()

    def error(got):
        return np.abs(iruka.asnumpy(got) - want).max() / largest

    assert error(network.module(iruka.asarray(x))) < 2e-3
    assert (error(network.module(iruka.asarray(x))) > 1e-5) == uses_tensor_cores()
    net = network.module.as_function("net")
    kernel = net.kernel("raw float32 x", "raw float32 y", "net(&x[3 * i], &y[3 * i]);", "each")
    y = iruka.empty((1000, 3), dtype="float32")
    kernel(iruka.asarray(x), y, size=1000)
    assert error(y) < 1e-5
    assert error(network.module.to(precision="float32")(iruka.asarray(x))) < 1e-5
    assert error(network.module.to("float64").to(precision="tf32")(iruka.asarray(x))) < 1e-12


CALLS = """
from iruka import nn
def kernels(*widths, dtype="float32"):
    modules = []
    for inputs, outputs in zip(widths, widths[1:]):
        modules += [nn.Linear(inputs, outputs), nn.GELU()]
    network = nn.Sequential(*modules).to(precision="tf32")
    iruka.clear_kernel_history()
    network(iruka.empty((1000, widths[0]), dtype=dtype))
    network.map(iruka.empty((widths[0], 1000), dtype=dtype), axis=0)
    return {event.kernel for event in iruka.kernel_history()}

try:
    iruka.ElementwiseKernel("float32 x", "float32 y", "y = x", "first")(iruka.empty(3, dtype="float32"))
except iruka.errors.DeviceError:
    print("no compiler")
    sys.exit()
assert "nn_3_64_64_3_tf32" in kernels(3, 64, 64, 3)
assert "nn_5_17_33_2_tf32" in kernels(5, 17, 33, 2, dtype="float16")
assert "nn_24_24_24_24_24_24_9_tf32" in kernels(*[24] * 6, 9)  # a loop over layers
assert "nn_128_128_128_128_128_tf32" in kernels(*[128] * 5)  # more weights than a block's shared memory holds
wide = kernels(7, 256, 256, 1)  # more numbers than the registers hold, and no library for products
assert "nn_7_256_256_1" in wide and not any("tf32" in name for name in wide), wide
"""


@needs_fake_driver
def test_which_networks_a_gpu_computes_on_tensor_cores(tmp_path):
    """Their kernels compile for a GPU of compute capability 9.0."""
    if "no compiler" in run("import sys\n" + CALLS, IRUKA_CACHE_DIR=str(tmp_path)):
        pytest.skip("there is no NVRTC")


LOADED = """
from onnx import helper, numpy_helper, TensorProto
from iruka import nn
def proto(widths):
    nodes, weights = [], []
    for k, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        nodes += [helper.make_node("Gemm", [f"x{k}", f"w{k}"], [f"h{k}"]), helper.make_node("Tanh", [f"h{k}"], [f"x{k + 1}"])]
        weights.append(numpy_helper.from_array(np.ones((inputs, outputs), "float32"), f"w{k}"))
    x = helper.make_tensor_value_info("x0", TensorProto.FLOAT, ("n", widths[0]))
    y = helper.make_tensor_value_info(f"x{len(widths) - 1}", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()
def kernels(use):
    iruka.clear_kernel_history()
    use()
    return {event.kernel for event in iruka.kernel_history()}

x = iruka.empty((1000, 5), dtype="float32")
try:
    iruka.ElementwiseKernel("float32 x", "float32 y", "y = x", "first")(iruka.empty(3, dtype="float32"))
except iruka.errors.DeviceError:
    print("no compiler")
    sys.exit()
for width, way in ((24, "__call__"), (25, "map"), (26, "report")):
    model = nn.load(proto((5, width, 3)), precision="tf32")
    used = kernels(lambda: getattr(model, way)(x))
    assert used == {f"nn_5_{width}_3_tf32"}, (way, used)
assert "tensor cores of cuda" in str(model.report(x)) and "one kernel on tensor cores of cuda" in str(model)
plain = nn.load(proto((5, 24, 3)))
assert kernels(lambda: plain(x)) == {"nn_5_24_3"}
assert "tensor cores" not in str(plain) + str(plain.report(x))
"""


@needs_fake_driver
def test_loaded_models_that_are_perceptrons(tmp_path):
    """Every way of running one has the precision that it was loaded with, and tells it."""
    if "no compiler" in run("import sys\n" + LOADED, IRUKA_CACHE_DIR=str(tmp_path)):
        pytest.skip("there is no NVRTC")
