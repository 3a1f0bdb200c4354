"""Values between the steps of a model share memory on a CPU; results are arrays of their own."""

import threading

import numpy as np
import onnx
import pytest
from onnx import helper

import iruka
from iruka import nn
from test_nn_convolutions import convolved

MARGINS = [1, 1, 1, 1]
CHANNELS = (3, 20, 33, 24, 30, 22, 40)


def weights_of(dtype):
    rng = np.random.default_rng(3)
    return [(rng.normal(size=(b, a, 3, 3)) / np.sqrt(9 * a)).astype(dtype) for a, b in zip(CHANNELS, CHANNELS[1:])]


def network(outputs, dtype=np.float32, more=()):
    """Six 3 x 3 convolutions with Relu: the values y1 to y6. `more`: nodes behind them."""
    nodes, constants, name = [], [], "x"
    for k, weights in enumerate(weights_of(dtype), 1):
        constants.append(onnx.numpy_helper.from_array(weights, f"w{k}"))
        nodes.append(helper.make_node("Conv", [name, f"w{k}"], [f"s{k}"], pads=MARGINS))
        nodes.append(helper.make_node("Relu", [f"s{k}"], [name := f"y{k}"]))
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    infos = [helper.make_tensor_value_info(each, number, None) for each in ("x", *outputs)]
    infos[0] = helper.make_tensor_value_info("x", number, [None, 3, None, None])
    graph = helper.make_graph([*nodes, *more], "steps", infos[:1], infos[1:], constants)
    return nn.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString(), "cpu")


def expected(x):
    values = [x.astype(np.float64)]
    for weights in weights_of(x.dtype):
        values.append(np.maximum(convolved(values[-1], weights, 1, (1, 1), (1, 1), MARGINS), 0))
    return values


def images(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_calls_with_other_shapes_leave_results_alone(dtype):
    model, kept = network(["y6"], dtype), []
    for shape in ((1, 3, 61, 53), (2, 3, 70, 71), (1, 3, 5, 7), (2, 3, 70, 71), (1, 3, 61, 53)):
        x = images(*shape, dtype=dtype)
        kept.append((x, model(x)))
    for x, y in kept:
        np.testing.assert_allclose(iruka.asnumpy(y), expected(x)[6], atol=2e-6 if dtype == np.float32 else 1e-13)


def test_a_value_that_is_used_later_stays():
    more = [
        helper.make_node("MaxPool", ["y2"], ["p"], kernel_shape=[3, 3], strides=[1, 1], pads=MARGINS),
        helper.make_node("Concat", ["y1", "y6", "p"], ["joined"], axis=1),
    ]
    model, x = network(["joined"], more=more), images(2, 3, 63, 65)
    for _ in range(3):
        joined = iruka.asnumpy(model(x))
        values = expected(x)
        padded = np.pad(values[2], ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        wanted = np.concatenate([values[1], values[6], windows.max((4, 5))], 1)
        np.testing.assert_allclose(joined, wanted, atol=2e-6)


def test_results_that_are_views_of_values_or_values_of_later_steps():
    more = [helper.make_node("Flatten", ["y3"], ["flat"])]
    model, x = network(["y2", "flat", "y6"], more=more), images(1, 3, 64, 66)
    values = expected(x)
    wanted = [values[2], values[3].reshape(1, -1), values[6]]
    model(x)
    first, second = model(x), model(x)
    for result in second:
        result.fill(-1)
    model(x)
    for got, value in zip(first, wanted):
        np.testing.assert_allclose(iruka.asnumpy(got), value, atol=2e-6)
    for result in second:
        assert (iruka.asnumpy(result) == -1).all()


def test_threads_call_one_model():
    model, errors = network(["y6"]), []
    xs = [images(1, 3, 40 + k, 70 - k) for k in range(4)]
    wanted = [expected(x)[6] for x in xs]

    def run(x, y):
        try:
            for _ in range(10):
                np.testing.assert_allclose(iruka.asnumpy(model(x)), y, atol=2e-6)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=each) for each in zip(xs, wanted)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.cpu_only
def test_memory_is_that_of_the_values_that_live_together():
    model, x = network(["y6"]), iruka.asarray(images(1, 3, 301, 203))
    model(x), model(x)
    pool = iruka.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    result = model(x)
    # At most 22 + 40 + 40 channels live together, those of y5, y6 and the copy in C order; all are 209.
    assert pool.total_bytes() - before <= 150 * 301 * 203 * 4
    np.testing.assert_allclose(iruka.asnumpy(result), expected(iruka.asnumpy(x))[6], atol=2e-6)
