"""Transposed convolutions on a CPU, against a sum over the kernel's places in float64."""

import itertools

import numpy as np
import pytest
from onnx import helper

import iruka
from iruka import nn


def transposed(x, weights, bias, stride, padding, output_padding, dilation, groups):
    """Each element of x adds its multiples of the kernel."""
    axes = x.ndim - 2
    kernel = weights.shape[2:]
    reach = [s * (n - 1) + d * (k - 1) + 1 for s, n, d, k in zip(stride, x.shape[2:], dilation, kernel)]
    outputs = weights.shape[1]
    full = np.zeros((x.shape[0], groups * outputs, *(r + p for r, p in zip(reach, output_padding))))
    parts = x.astype(float).reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    factors = weights.astype(float).reshape(groups, -1, outputs, *kernel)
    for place in itertools.product(*map(range, kernel)):
        product = np.einsum("ngi...,gio->ngo...", parts, factors[(..., *place)])
        at = tuple(slice(d * k, d * k + s * (n - 1) + 1, s) for d, k, s, n in zip(dilation, place, stride, x.shape[2:]))
        full[(slice(None), slice(None), *at)] += product.reshape(x.shape[0], groups * outputs, *x.shape[2:])
    cut = tuple(slice(p, n - p) for p, n in zip(padding, full.shape[2:]))
    return full[(slice(None), slice(None), *cut)] + bias.astype(float).reshape(-1, *[1] * axes)


# (x, outputs, kernel, stride, padding, output padding, groups, dilation)
CASES = {
    "doubled": ((2, 16, 20, 21), 8, 4, 2, 1, 0, 1, 1),
    "doubled, no overlap": ((1, 5, 13, 9), 7, 2, 2, 0, 0, 1, 1),
    "odd kernel": ((2, 6, 11, 12), 40, 3, 2, 1, 1, 1, 1),
    "stride 1": ((1, 8, 9, 9), 20, 3, 1, 1, 0, 1, 1),
    "stride 3": ((1, 4, 9, 7), 6, 5, 3, 2, 2, 1, 1),
    "kernel smaller than the stride": ((1, 4, 6, 5), 6, 2, 3, 0, 0, 1, 1),
    "one place of the kernel": ((1, 4, 6, 5), 6, 1, 2, 0, 1, 1, 1),
    "grouped": ((2, 6, 8, 9), 8, 4, 2, 1, 0, 2, 1),
    "depthwise": ((2, 24, 8, 9), 24, 4, 2, 1, 0, 24, 1),
    "dilated": ((1, 5, 8, 9), 6, 3, 2, 2, 1, 1, 3),
    "dilated by the stride": ((1, 5, 8, 9), 6, 3, 2, 1, 1, 1, 2),
    "dilation and stride share a factor": ((1, 3, 8, 9), 4, 3, 4, 3, 1, 1, 6),
    "wide margins": ((1, 3, 12, 11), 4, 3, 2, 5, 1, 1, 1),
    "margins wider than the kernel": ((1, 3, 9, 10), 4, 2, 2, 7, 0, 1, 1),
    "different axes": ((1, 3, 9, 10), 4, (2, 5), (3, 2), (0, 3), (2, 1), 1, (1, 2)),
    "one axis": ((2, 7, 33), 9, 4, 2, 1, 0, 1, 1),
    "three axes": ((1, 4, 5, 6, 7), 5, 3, 2, 1, 1, 1, 1),
    "a large stride": ((1, 2, 4, 3), 3, 3, 9, 1, 0, 1, 1),
    "one element": ((1, 2, 1, 1), 3, 4, 2, 1, 0, 1, 1),
    "no images": ((0, 2, 4, 4), 3, 4, 2, 1, 0, 1, 1),
}


def of_axes(value, axes):
    return value if isinstance(value, tuple) else (value,) * axes


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_sums_of_the_kernels_places(case, has_bias, dtype):
    shape, outputs, *rest = CASES[case]
    axes, rng = len(shape) - 2, np.random.default_rng(len(case))
    kernel, stride, padding, output_padding, dilation = (of_axes(rest[k], axes) for k in (0, 1, 2, 3, 5))
    groups = rest[4]
    layer = getattr(nn, f"ConvTranspose{axes}d")(
        shape[1],
        outputs,
        kernel,
        stride,
        padding,
        output_padding,
        groups,
        has_bias,
        dilation,
        device="cpu",
        dtype=dtype,
    )
    weights = rng.normal(size=(shape[1], outputs // groups, *kernel)).astype(dtype)
    bias = rng.normal(size=outputs).astype(dtype) if has_bias else np.zeros(outputs, dtype)
    layer.weight = iruka.asarray(weights).to_device("cpu")
    if has_bias:
        layer.bias = iruka.asarray(bias).to_device("cpu")
    x = rng.normal(size=shape).astype(dtype)
    want = transposed(x, weights, bias, stride, padding, output_padding, dilation, groups)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    for given in (x, np.asfortranarray(x), np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)):
        made = iruka.asnumpy(layer(iruka.asarray(given).to_device("cpu")))
        assert made.dtype == dtype and made.shape == want.shape
        np.testing.assert_allclose(made, want, rtol=0, atol=tolerance * np.abs(want).max(initial=1))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "float16"])
def test_other_dtypes(dtype):
    """Those that the compiled loops lack; the sums are small integers."""
    rng = np.random.default_rng(0)
    x, w = (rng.integers(0, 3, shape).astype(dtype) for shape in ((1, 8, 4, 4), (8, 8, 5, 5)))
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    values = [helper.make_tensor_value_info(name, element, None) for name in "xy"]
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])
    weights = helper.make_tensor("w", element, w.shape, w.tobytes(), raw=True)
    graph = helper.make_graph([node], "g", values[:1], values[1:], [weights])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    got = np.asarray(nn.load(proto.SerializeToString(), device="cpu")(x))
    want = np.zeros((1, 8, 11, 11))
    for row in range(4):
        for column in range(4):
            want[..., 2 * row : 2 * row + 5, 2 * column : 2 * column + 5] += np.einsum(
                "nc,coij->noij", x[..., row, column].astype("f8"), w.astype("f8")
            )
    with np.errstate(invalid="ignore", over="ignore"):
        np.testing.assert_array_equal(
            got, want.astype("i8").astype(dtype) if dtype != "float16" else want.astype(dtype)
        )


@pytest.mark.parametrize("is_constant", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_calls_with_other_sizes_and_weights(is_constant, dtype):
    """A node keeps what it made of constant weights, for all sizes; margins of SAME depend on them."""
    rng = np.random.default_rng(5)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    inputs = [helper.make_tensor_value_info(name, element, [None] * 4) for name in "xw"]
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 3], auto_pad="SAME_UPPER", dilations=[2, 1])
    outputs = [helper.make_tensor_value_info("y", element, None)]
    model, w = None, rng.normal(size=(4, 6, 3, 4)).astype(dtype)
    for k, (height, width) in enumerate([(5, 7), (4, 6), (1, 1), (9, 40), (5, 7)]):
        if k > 0 and not is_constant:
            w = rng.normal(size=(4, 6, 3, 4)).astype(dtype)
        x = rng.normal(size=(2, 4, height, width)).astype(dtype)
        if model is None:
            constants = [helper.make_tensor("w", element, w.shape, w.tobytes(), raw=True)] if is_constant else []
            graph = helper.make_graph([node], "g", inputs[: 1 if is_constant else 2], outputs, constants)
            proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
            model = nn.load(proto.SerializeToString(), device="cpu")
        got = np.asarray(model(*((x,) if is_constant else (x, w))))
        whole = transposed(x, w, np.zeros(6), (2, 3), (0, 0), (0, 0), (2, 1), 1)
        cut = [n - s * m for n, s, m in zip(whole.shape[2:], (2, 3), (height, width))]  # SAME: stride times the size
        want = whole[:, :, cut[0] // 2 :, cut[1] // 2 :][:, :, : 2 * height, : 3 * width]
        tolerance = {"float32": 1e-5, "float64": 1e-13, "float16": 4e-3}[dtype]
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())
