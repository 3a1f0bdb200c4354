"""Convolutions of float32 images on processors with vectors, beside sums of products in float64."""

import math
import os

import numpy as np
import onnx
import pytest
from onnx import helper

import iruka
from helpers import run_python
from iruka import nn

# Images, channels, outputs, groups, extents, kernel, strides, dilations, pads. Each way of src/backend/cpu/convolution.cpp
# occurs: windows in copies and in the images themselves, vectors of outputs and of channels.
CASES = {
    "3x3": (2, 5, 7, 1, (9, 11), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "first layer": (2, 3, 64, 1, (31, 29), (7, 7), (2, 2), (1, 1), (3, 3, 3, 3)),
    "many outputs": (1, 40, 150, 1, (7, 7), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "outputs of one vector": (3, 64, 16, 1, (13, 9), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "outputs of two vectors": (1, 64, 31, 1, (20, 20), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "outputs of three vectors": (1, 50, 48, 1, (20, 6), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "many channels": (1, 600, 64, 1, (7, 7), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "more steps than at once": (1, 4300, 20, 1, (3, 5), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    "several rows a block": (1, 64, 64, 1, (70, 40), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "wide rows": (1, 32, 64, 1, (3, 700), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "no memory for vectors of outputs": (1, 512, 64, 1, (3, 28), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "no memory for a row": (1, 512, 64, 1, (2, 90), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "1x1": (3, 24, 40, 1, (9, 10), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    "1x1, many channels": (2, 128, 64, 1, (7, 7), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    "1x1, strides": (2, 64, 128, 1, (15, 14), (1, 1), (2, 2), (1, 1), (0, 0, 0, 0)),
    "1x1 with margins": (1, 64, 64, 1, (5, 6), (1, 1), (1, 1), (1, 1), (1, 2, 0, 1)),
    "no margins": (1, 64, 64, 1, (12, 13), (3, 3), (2, 1), (1, 1), (0, 0, 0, 0)),
    "one pixel": (1, 64, 33, 1, (1, 1), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "asymmetric": (2, 20, 64, 1, (8, 9), (4, 2), (1, 1), (1, 1), (3, 0, 1, 2)),
    "margins larger than the kernel": (1, 16, 32, 1, (5, 6), (3, 3), (1, 1), (1, 1), (7, 4, 5, 9)),
    "margins cut": (1, 16, 64, 1, (15, 16), (3, 3), (1, 1), (1, 1), (-2, -1, 0, -3)),
    "dilations": (1, 24, 64, 1, (17, 18), (3, 3), (1, 1), (2, 3), (2, 3, 2, 3)),
    "dilations and strides": (2, 24, 64, 1, (17, 18), (3, 3), (3, 2), (2, 4), (2, 3, 2, 3)),
    "strides beyond the kernel": (1, 32, 64, 1, (25, 26), (2, 2), (5, 4), (1, 1), (1, 0, 0, 1)),
    "groups": (2, 24, 48, 3, (10, 11), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "large groups": (2, 128, 96, 2, (6, 11), (3, 3), (2, 1), (1, 1), (1, 1, 1, 1)),
    "one axis": (2, 30, 64, 1, (50,), (5,), (2,), (2,), (4, 1)),
    "depthwise": (2, 20, 20, 20, (9, 37), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "depthwise, groups of vectors and the rest": (2, 61, 61, 61, (9, 37), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "depthwise, many rows of many channels": (1, 200, 200, 200, (33, 28), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1)),
    "depthwise, strides": (2, 20, 20, 20, (10, 37), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1)),
    "depthwise, large strides": (1, 8, 8, 8, (20, 70), (3, 3), (3, 3), (1, 1), (1, 1, 1, 1)),
    "depthwise, strides of rows": (1, 8, 8, 8, (20, 33), (3, 3), (4, 1), (1, 1), (1, 1, 1, 1)),
    "depthwise, 5x5": (1, 8, 8, 8, (14, 40), (5, 5), (1, 1), (1, 1), (2, 2, 2, 2)),
    "depthwise, 7x4": (1, 8, 8, 8, (14, 40), (7, 4), (1, 2), (1, 1), (3, 2, 3, 1)),
    "depthwise, dilations": (1, 8, 8, 8, (14, 40), (3, 3), (1, 1), (3, 2), (3, 2, 3, 2)),
    "depthwise, dilations and strides": (1, 8, 8, 8, (14, 40), (3, 3), (2, 2), (3, 2), (3, 2, 3, 2)),
    "depthwise, several outputs": (1, 6, 18, 6, (9, 21), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "depthwise, margins larger than the kernel": (1, 4, 4, 4, (4, 5), (3, 3), (1, 1), (1, 1), (6, 5, 4, 20)),
    "depthwise, margins cut": (1, 4, 4, 4, (9, 40), (3, 3), (2, 2), (1, 1), (-1, -2, 0, -1)),
    "depthwise, more rows than a block has": (1, 2, 2, 2, (150, 300), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "depthwise, one axis": (2, 6, 6, 6, (50,), (4,), (2,), (1,), (1, 2)),
    "one channel": (1, 1, 1, 1, (5, 50), (3, 3), (1, 1), (1, 1), (0, 0, 0, 0)),
    "few outputs": (2, 9, 3, 1, (11, 50), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "few outputs, strides": (2, 3, 4, 1, (31, 150), (5, 3), (2, 3), (1, 2), (2, 1, 0, 3)),
    "few outputs, 1x1": (3, 20, 2, 1, (9, 21), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    "few outputs, many columns": (1, 70, 1, 1, (2, 3000), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "many groups": (1, 64, 64, 16, (9, 33), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "7x7": (1, 16, 24, 1, (40, 41), (7, 7), (1, 1), (1, 1), (3, 3, 3, 3)),
    "large kernel": (1, 8, 16, 1, (90,), (21,), (1,), (1,), (10, 10)),
    "many small images": (37, 20, 40, 1, (3, 4), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "many images of one pixel": (300, 9, 17, 1, (1, 1), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    "more columns than a block has": (1, 3, 5, 1, (2, 5000), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    "three axes": (2, 5, 7, 1, (5, 6, 7), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1, 1, 1, 1)),
    "three axes, strides": (1, 9, 33, 1, (9, 8, 7), (3, 2, 3), (2, 1, 3), (1, 2, 1), (1, 0, 2, 0, 1, 1)),
    "three axes, groups": (1, 8, 12, 4, (4, 9, 30), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1, 1, 1, 1)),
    "three axes, depthwise": (2, 18, 18, 18, (4, 9, 30), (3, 3, 3), (1, 2, 1), (2, 1, 1), (2, 1, 1, 2, 1, 1)),
}


def convolved(x, weights, groups, strides, dilations, pads):
    """Sums over the places of the kernel, in float64."""
    axes = x.ndim - 2
    shape = x.shape[:2] + tuple(n + b + e for n, b, e in zip(x.shape[2:], pads[:axes], pads[axes:]))
    padded = np.zeros(shape)
    inside = [(slice(max(b, 0), max(b, 0) + n - max(-b, 0) - max(-e, 0)), slice(max(-b, 0), n - max(-e, 0)))
              for n, b, e in zip(x.shape[2:], pads[:axes], pads[axes:])]  # fmt: skip
    padded[(..., *(to for to, _ in inside))] = x[(..., *(of for _, of in inside))]
    extents = [(n - (k - 1) * d - 1) // s + 1
               for n, k, d, s in zip(shape[2:], weights.shape[2:], dilations, strides)]  # fmt: skip
    padded = padded.reshape(len(x), groups, -1, *shape[2:])
    parts = weights.astype(np.float64).reshape(groups, -1, *weights.shape[1:])
    result = np.zeros((len(x), groups, parts.shape[1], *extents))
    for place in np.ndindex(*weights.shape[2:]):
        cut = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, s, n in zip(place, dilations, strides, extents))
        result += np.einsum("ngc...,goc->ngo...", padded[(..., *cut)], parts[(..., *place)])
    return result.reshape(len(x), -1, *extents)


BEFORE = object()
ERF = np.vectorize(math.erf, otypes=[float])


def network(weights, groups, strides, dilations, pads, tail=(), opset=20):
    """A convolution and (operator, constants or attributes) behind it; BEFORE is the input of the operator before."""
    axes = weights.ndim - 2
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], group=groups, strides=strides, dilations=dilations, pads=pads)]
    constants, name, before = {"w": weights}, "y", "y"
    for k, (operator, *values) in enumerate(tail):
        attributes = values.pop() if values and isinstance(values[-1], dict) else {}
        if values and values[0] is BEFORE:
            nodes.append(helper.make_node(operator, [name, before], [name := f"t{k}"]))
            continue
        before = name
        names = [f"c{k}_{n}" if value is not None else "" for n, value in enumerate(values)]
        constants |= {key: value for key, value in zip(names, values) if key}
        nodes.append(helper.make_node(operator, [name, *names], [name := f"t{k}"], **attributes))
    number = helper.np_dtype_to_tensor_dtype(weights.dtype)
    graph = helper.make_graph(
        nodes,
        "convolution",
        [helper.make_tensor_value_info("x", number, [None] * (2 + axes))],
        [helper.make_tensor_value_info(name, number, None)],
        [onnx.numpy_helper.from_array(value, key) for key, value in constants.items()],
    )
    return nn.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]).SerializeToString(), "cpu")


def operands(case, dtype=np.float32):
    images, channels, outputs, groups, extents, kernel, *window = CASES[case]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(images, channels, *extents)).astype(dtype)
    weights = rng.normal(size=(outputs, channels // groups, *kernel)).astype(dtype)
    return x, weights, groups, *window


def assert_close(result, expected, dtype=np.float32, sums=None):
    """The bound of the error is relative to the sums, which functions behind them may have made smaller."""
    assert result.shape == expected.shape and result.dtype == dtype
    rounding = 1e-5 if dtype == np.float32 else 1e-13
    assert np.abs(result - expected).max() <= rounding * np.abs(expected if sums is None else sums).max()


def channels_last(x):
    """The same numbers, with the channels as the fastest axis."""
    return np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)


def check(case):
    x, weights, *window = operands(case)
    model = network(weights, *window)
    expected = convolved(x, weights, *window)
    for images in (x, channels_last(x)):
        result = iruka.asnumpy(model(images))
        assert result.flags.c_contiguous
        assert_close(result, expected)
    numbers = np.random.default_rng(1).normal(size=weights.shape[0]).astype(np.float32)
    bias = numbers.reshape(-1, *[1] * (x.ndim - 2))
    element = np.random.default_rng(2).normal(size=expected.shape).astype(np.float32)
    tail = [("Add", bias), ("Mul", np.float32(1.5)), ("Add", element), ("Relu",)]
    fused = network(weights, *window, tail)
    assert_close(iruka.asnumpy(fused(x)), np.maximum((expected + bias) * 1.5 + element, 0))


@pytest.fixture
def two_threads():
    before = iruka.get_num_threads()
    iruka.set_num_threads(2)
    yield
    iruka.set_num_threads(before)


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    check(case)


@pytest.mark.parametrize("case", CASES)
def test_case_of_two_threads(case, two_threads):
    check(case)


@pytest.mark.skipif("IRUKA_CPU_LEVEL" in os.environ, reason="the level is chosen already")
@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
def test_cases_on_older_processors(level):
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_nn_convolutions as tests"
    done = run_python(code + "\nfor case in tests.CASES: tests.check(case)", 300, IRUKA_CPU_LEVEL=level)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", CASES)
def test_float64(case):
    x, weights, *window = operands(case, np.float64)
    expected = convolved(x, weights, *window)
    model = network(weights, *window, [("Relu",)])
    for images in (x, channels_last(x)):
        assert_close(iruka.asnumpy(model(images)), np.maximum(expected, 0), np.float64)


# Operators behind a convolution, and what they are of the sums.
FUNCTIONS = {
    "none": ([], lambda x: x),
    "relu": ([("Relu",)], lambda x: np.maximum(x, 0)),
    "leaky": ([("LeakyRelu", {"alpha": 0.3})], lambda x: np.where(x < 0, np.float32(0.3) * x, x)),
    "clip": ([("Clip", np.float32(-0.5), np.float32(2))], lambda x: np.clip(x, -0.5, 2)),
    "clip below": ([("Clip", np.float32(1))], lambda x: np.maximum(x, 1)),
    "clip above": ([("Clip", None, np.float32(1))], lambda x: np.minimum(x, 1)),
    "hard sigmoid": (
        [("HardSigmoid", {"alpha": 0.3, "beta": 0.4})],
        lambda x: np.clip(np.float32(0.3) * x + np.float32(0.4), 0, 1),
    ),
    "hard swish": ([("HardSwish",)], lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "tanh": ([("Tanh",)], np.tanh),
    "sigmoid": ([("Sigmoid",)], lambda x: 1 / (1 + np.exp(-x))),
    "swish": ([("Swish",)], lambda x: x / (1 + np.exp(-x))),
    "silu in parts": ([("Sigmoid",), ("Mul", BEFORE)], lambda x: x / (1 + np.exp(-x))),
    "gelu": ([("Gelu",)], lambda x: 0.5 * x * (1 + ERF(x / np.sqrt(2)))),
    "gelu by tanh": (
        [("Gelu", {"approximate": "tanh"})],
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    ),
    "elu": ([("Elu", {"alpha": 0.7})], lambda x: np.where(x > 0, x, np.float32(0.7) * np.expm1(np.minimum(x, 0)))),
    "softplus": ([("Softplus",)], lambda x: np.logaddexp(x, 0)),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_large_and_small_sums(function):
    """Of many elements, over several chunks of work, up to where the functions are constant or x itself."""
    tail, formula = FUNCTIONS[function]
    x = np.concatenate([np.linspace(-100, 100, 9001), [0, -0.0, 1e-30, -1e-30]])
    for dtype in (np.float32, np.float64):
        values = x.astype(dtype).reshape(1, 1, 1, -1).repeat(2, axis=1)
        window = 1, (1, 1), (1, 1), (0, 0, 0, 0)
        model = network(np.eye(2, dtype=dtype).reshape(2, 2, 1, 1), *window, [[*each] for each in tail], opset=24)
        got, want = iruka.asnumpy(model(values)), formula(values.astype(np.float64))
        assert len(model.report(values).rows) == 1
        rounding = 4 * np.finfo(dtype).eps
        far = 1e-6 if dtype == np.float32 else 1e-14  # 1 + erf(x) and 1 + tanh(x) of x far below 0
        np.testing.assert_allclose(got, want, rtol=100 * rounding, atol=far)


@pytest.mark.parametrize("case", ["3x3", "many outputs", "more steps than at once", "groups", "depthwise", "1x1"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_sums_are_a_part_of_the_convolution(function, case):
    x, weights, *window = operands(case)
    tail, formula = FUNCTIONS[function]
    bias = np.random.default_rng(1).normal(size=(weights.shape[0], 1, 1)).astype(np.float32)
    expected = convolved(x, weights, *window) + bias
    model = network(weights, *window, [("Add", bias), *([*each] for each in tail)], opset=24)
    assert_close(iruka.asnumpy(model(x)), formula(expected), sums=expected)
    assert len(model.report(x).rows) == 1
    element = np.random.default_rng(2).normal(size=expected.shape).astype(np.float32)
    model = network(weights, *window, [("Add", bias), ("Add", element), *([*each] for each in tail)], opset=24)
    assert_close(iruka.asnumpy(model(channels_last(x))), formula(expected + element), sums=expected)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_keep_nans(function):
    x, weights, *window = operands("3x3")
    x[:, :, 4, 4] = np.nan
    expected = convolved(x, weights, *window)
    result = iruka.asnumpy(network(weights, *window, [[*each] for each in FUNCTIONS[function][0]], opset=24)(x))
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))


def test_bounds_of_older_operator_sets():
    x, weights, *window = operands("3x3")
    model = network(weights, *window, [("Clip", {"min": -1.0, "max": 3.0})], opset=10)
    sums = convolved(x, weights, *window)
    assert_close(iruka.asnumpy(model(x)), np.clip(sums, -1, 3), sums=sums)


def test_one_model_for_many_extents():
    """How a convolution is divided into blocks depends on the extents; packed weights do not."""
    rng = np.random.default_rng(4)
    weights = rng.normal(size=(24, 24, 3, 3)).astype(np.float32)
    window = 1, (1, 1), (1, 1), (1, 1, 1, 1)
    model = network(weights, *window)
    for extents in ((7, 7), (64, 64), (5, 3), (1, 200), (200, 1)):
        x = rng.normal(size=(2, 24, *extents)).astype(np.float32)
        assert_close(iruka.asnumpy(model(x)), convolved(x, weights, *window))


def test_numbers_that_are_not_finite_stay_in_their_windows():
    """Zeros of margins and of outputs that fill a vector take no part in products."""
    for case in ("3x3", "many outputs", "1x1, many channels", "depthwise", "depthwise, strides"):
        x, weights, *window = operands(case)
        x[0, :, 3, 3] = np.inf
        x[0, :, 5, 6] = np.nan
        with np.errstate(invalid="ignore"):
            expected = convolved(x, weights, *window)
        result = iruka.asnumpy(network(weights, *window)(x))
        np.testing.assert_array_equal(np.isfinite(result), np.isfinite(expected), case)
        finite = np.isfinite(expected)
        assert_close(result[finite], expected[finite])


def operators(model, *inputs):
    return sorted(row.operators for row in model.report(*inputs).rows)


def test_groups_of_pointwise_operators_run_with_one_convolution():
    """A sum of two convolutions runs with one of them, wherever the other stands; used values are kept."""
    float32, rng = onnx.TensorProto.FLOAT, np.random.default_rng(6)
    x = rng.normal(size=(1, 8, 6, 7)).astype(np.float32)
    a, b = (rng.normal(size=(8, 8, 1, 1)).astype(np.float32) for _ in range(2))
    left, right = (convolved(x, weights, 1, (1, 1), (1, 1), (0, 0, 0, 0)) for weights in (a, b))
    nodes = {
        "left": helper.make_node("Conv", ["x", "a"], ["left"]),
        "right": helper.make_node("Conv", ["x", "b"], ["right"]),
        "sum": helper.make_node("Add", ["left", "right"], ["sum"]),
        "first": helper.make_node("Relu", ["sum"], ["first"]),
        "second": helper.make_node("Neg", ["left"], ["second"]),
    }
    expected = {"left": left, "right": right, "sum": left + right, "first": np.maximum(left + right, 0)}
    expected |= {"second": -left}
    cases = [
        ("left right sum first", "first", ["Conv 1x1", "Conv 1x1+Add+Relu"]),
        ("right left sum first", "first", ["Conv 1x1", "Conv 1x1+Add+Relu"]),
        ("left right sum first", "first left", ["Conv 1x1", "Conv 1x1+Add+Relu"]),
        ("left right sum", "left right sum", ["Add", "Conv 1x1", "Conv 1x1"]),
        ("left second right sum", "sum second", ["Conv 1x1", "Conv 1x1+Add", "Neg"]),
    ]
    for order, outputs, steps in cases:
        graph = helper.make_graph(
            [nodes[name] for name in order.split()],
            "sums",
            [helper.make_tensor_value_info("x", float32, x.shape)],
            [helper.make_tensor_value_info(name, float32, x.shape) for name in outputs.split()],
            [onnx.numpy_helper.from_array(a, "a"), onnx.numpy_helper.from_array(b, "b")],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        model = nn.load(made.SerializeToString(), "cpu")
        assert operators(model, x) == steps
        results = model(x)
        for name, result in zip(outputs.split(), results if len(outputs.split()) > 1 else [results]):
            assert_close(iruka.asnumpy(result), expected[name])


@pytest.mark.parametrize("outputs", [2, 40])
def test_places_that_are_far_from_each_other(outputs):
    """A block of pixels would need a copy of 16 GiB with margins."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(1, 3, 5, 6)).astype(np.float32)
    weights = rng.normal(size=(outputs, 3, 3, 3)).astype(np.float32)
    far = 2**14
    model = network(weights, 1, (1, 1), (far, far), (far,) * 4)
    expected = np.einsum("nchw,oc->nohw", x.astype(np.float64), weights[:, :, 1, 1])
    for images in (x, channels_last(x)):
        assert_close(iruka.asnumpy(model(images)), expected)


def test_no_images():
    x, weights, *window = operands("many outputs")
    assert iruka.asnumpy(network(weights, *window)(x[:0])).shape == (0, 150, 7, 7)
