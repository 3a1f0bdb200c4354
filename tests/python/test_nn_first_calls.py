"""First calls of networks on a CPU: compiled loops run while kernels are compiled, and compute the same bits."""

import os

import numpy as np
import pytest

import iruka
from helpers import run_python
from iruka import nn
from onnx_models import Net

pytestmark = pytest.mark.usefixtures("empty_cache")

ACTIVATIONS = {
    "relu": lambda: nn.ReLU(),
    "leaky": lambda: nn.LeakyReLU(0.2),
    "negative slope": lambda: nn.LeakyReLU(-0.5),
    "slope": lambda: nn.PReLU(),
    "gelu": lambda: nn.GELU(),
    "gelu by tanh": lambda: nn.GELU("tanh"),
    "silu": lambda: nn.SiLU(),
    "tanh": lambda: nn.Tanh(),
    "sigmoid": lambda: nn.Sigmoid(),
    "softplus": lambda: nn.Softplus(2, 3),
    "elu": lambda: nn.ELU(0.7),
    "hard swish": lambda: nn.Hardswish(),
    "softmax": lambda: nn.Softmax(-1),  # has no loops
}
WIDTHS = [(8, 32, 4), (3, 64, 64, 3), (5, 7, 9, 11), (40, 130, 17), (1, 1), (256, 256, 2)]


@pytest.fixture
def empty_cache():
    """Kernels of these names are compiled anew."""
    iruka.finish_background_compilation()
    iruka.clear_cache()
    yield
    iruka.finish_background_compilation()


def perceptron(widths, activation, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    modules = []
    for inputs, outputs in zip(widths, widths[1:]):
        linear = nn.Linear(inputs, outputs, dtype=dtype, device="cpu")
        linear.weight = iruka.asarray(rng.normal(size=(outputs, inputs)).astype(dtype)).to_device("cpu")
        modules += [linear, ACTIVATIONS[activation]()]
    return nn.Sequential(*modules[: max(1, len(modules) - 1)]).to("cpu", dtype)


def layouts(widths, dtype):
    """Arrays on the CPU and the axis of their features."""
    rng = np.random.default_rng(1)

    def array(*shape):
        return iruka.asarray((rng.normal(size=shape) * 3).astype(dtype)).to_device("cpu")

    features = widths[0]
    yield array(1001, features), -1
    yield array(features, 7, 50), 0
    yield array(9, features, 33), 1
    yield array(300, 2 * features)[::3, ::2], 1
    yield array(130, features)[::-1, ::-1], 1
    yield iruka.broadcast_to(array(features), (250, features)), 1
    yield iruka.broadcast_to(array(250, 1), (250, features)), 1
    yield array(features), 0
    yield array(0, features), 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("widths", WIDTHS)
def test_loops_and_kernels_compute_the_same_bits(widths, activation, dtype):
    model = perceptron(widths, activation, dtype)
    cases = list(layouts(widths, dtype))
    first = [iruka.asnumpy(model.map(x, axis)) for x, axis in cases]
    for _ in range(len(cases)):  # one kernel at a time is compiled in the background
        for x, axis in cases:
            model.map(x, axis)
        iruka.finish_background_compilation()
    for (x, axis), made in zip(cases, first):
        np.testing.assert_array_equal(iruka.asnumpy(model.map(x, axis)), made)


def test_results_of_loops_go_to_any_layout():
    model, x = perceptron((6, 20, 5), "relu"), iruka.asarray(np.eye(6, dtype="float32")).to_device("cpu")
    want = iruka.asnumpy(model.map(x))
    wide = iruka.zeros((12, 10), dtype="float32", device="cpu")
    model.map(x, out=wide[::2, ::2])
    np.testing.assert_array_equal(iruka.asnumpy(wide)[::2, ::2], want)
    assert not iruka.asnumpy(wide)[1::2].any() and not iruka.asnumpy(wide)[:, 1::2].any()
    turned = iruka.empty((5, 6), dtype="float32", device="cpu")
    model.map(x.T, 0, out=turned)
    np.testing.assert_array_equal(iruka.asnumpy(turned), want.T)


def test_numbers_that_are_not_finite():
    model = perceptron((4, 40, 3), "leaky")
    x = np.ones((200, 4), "float32")
    x[3, 1], x[17, 0], x[100, 2] = np.nan, np.inf, -np.inf
    x = iruka.asarray(x).to_device("cpu")
    first = iruka.asnumpy(model.map(x))
    iruka.finish_background_compilation()
    np.testing.assert_array_equal(iruka.asnumpy(model.map(x)), first)
    assert np.isnan(first[3]).all() and np.isfinite(np.delete(first, (3, 17, 100), axis=0)).all()


def test_convolutions_and_pooling_compile_nothing():
    net = Net("convolutions", np.float32)
    x = net.op("Relu", net.norm(net.conv(net.input(2, 3, 20, 21), 3, 24, bias=False, pads=[1] * 4), 24))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = net.norm(net.conv(x, 24, 24, groups=24, bias=False, pads=[1] * 4), 24)
    x = net.op("HardSwish", net.op("Add", net.norm(net.conv(y, 24, 24, (1, 1), bias=False), 24), x))
    x = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    proto, arrays = net.finish(net.op("GlobalAveragePool", x), opset=20)
    before = len(iruka.kernel_history())
    nn.load(proto.SerializeToString(), "cpu")(iruka.asarray(arrays["x0"]).to_device("cpu"))
    assert iruka.kernel_history()[before:] == []


@pytest.mark.skipif("IRUKA_CPU_LEVEL" in os.environ, reason="the level is chosen already")
@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
def test_loops_on_older_processors(level, tmp_path):
    code = f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
import test_nn_first_calls as tests
for activation in tests.ACTIVATIONS:
    tests.test_loops_and_kernels_compute_the_same_bits((5, 7, 9, 11), activation, "float32")
"""
    done = run_python(code, 300, IRUKA_CPU_LEVEL=level, IRUKA_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fork_during_a_first_call():
    """The child has no thread that compiles: it computes, too, and compiles by a thread of its own."""
    model = perceptron((8, 32, 4), "tanh")
    x = iruka.asarray(np.random.default_rng(0).normal(size=(5000, 8)).astype("float32")).to_device("cpu")
    want = iruka.asnumpy(model.map(x))  # the kernel is being compiled
    child = os.fork()
    if child == 0:
        status = 1
        try:
            same = [np.array_equal(iruka.asnumpy(model.map(x)), want)]
            iruka.finish_background_compilation()
            same.append(np.array_equal(iruka.asnumpy(model.map(x)), want))
            status = 0 if all(same) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    iruka.finish_background_compilation()
    np.testing.assert_array_equal(iruka.asnumpy(model.map(x)), want)
