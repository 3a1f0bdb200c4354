"""Kernels of pooling and convolutions, which serve images of every size, against NumPy."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import iruka
from iruka import nn


def model_of(op, rank=2, weights=None, **attributes):
    """A model of one operator whose spatial extents are symbols; weights are an input, so that no other kernel runs."""
    shape = ["n", "c", *(f"s{axis}" for axis in range(rank))]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    if weights is not None:
        inputs.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, list(weights.shape)))
    node = helper.make_node(op, [value.name for value in inputs], ["y"], **attributes)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", inputs, [output])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return nn.load(proto.SerializeToString(), device="cpu")


def images(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


def windows(x, kernel, stride, pads, dilation, margin):
    """What each window sees, its places as the last axes. `pads`: before and behind each axis."""
    axes = tuple(range(2, x.ndim))
    x = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=margin)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    steps = [slice(None, None, s) for s in stride]
    return seen[(slice(None), slice(None), *steps, *(slice(None, None, d) for d in dilation))]


# Extents around the lengths at which the host takes constants, rows, and neither.
SIZES = [(5, 5), (47, 47), (48, 48), (49, 50), (95, 97), (120, 7), (7, 120), (61, 130), (97, 96)]
SHAPES = [
    ((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    ((3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1)),
    ((3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((3, 2), (1, 3), ((2, 0), (0, 1)), (1, 1)),
    ((3, 3), (1, 1), ((2, 2), (2, 2)), (2, 2)),
]


def attributes_of(kernel, stride, pads, dilation):
    before, behind = zip(*pads, strict=True)
    return {"kernel_shape": kernel, "strides": stride, "pads": [*before, *behind], "dilations": dilation}


@pytest.mark.parametrize("shape", SHAPES)
def test_pooling_of_every_size_is_what_the_windows_see(shape):
    largest = model_of("MaxPool", **attributes_of(*shape))
    mean = model_of("AveragePool", **{k: v for k, v in attributes_of(*shape).items() if k != "dilations"})
    for size in SIZES:
        x = images(2, 3, *size)
        wanted = windows(x, *shape, -np.inf).max(axis=(-2, -1))
        np.testing.assert_array_equal(np.asarray(largest(x)), wanted)
        seen = windows(x, *shape[:3], (1, 1), np.nan).astype("float64")
        np.testing.assert_allclose(np.asarray(mean(x)), np.nanmean(seen, axis=(-2, -1)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 5, 301, 302), (1, 64, 97, 83), (1, 1, 700, 701), (3, 130, 40, 41)])
def test_pooling_of_whole_images(shape, dtype):
    """Of images that exceed a cache, in both orders of axes. The mean is far from 0, so that sums are long."""
    x = (np.random.default_rng(0).standard_normal(shape) + 3).astype(dtype)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    element = TensorProto.FLOAT if dtype == "float32" else TensorProto.DOUBLE
    for op, wanted in (("GlobalMaxPool", x.max(axis=(2, 3))), ("GlobalAveragePool", x.astype("f8").mean(axis=(2, 3)))):
        values = [helper.make_tensor_value_info(name, element, [None] * 4) for name in "xy"]
        graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", values[:1], values[1:])
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        model = nn.load(proto.SerializeToString(), device="cpu")
        for given in (x, last):
            got = np.asarray(model(given))[..., 0, 0]
            np.testing.assert_allclose(got, wanted, rtol=3e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("groups", [1, 3])
def test_convolutions_of_every_size_are_sums_over_the_windows(shape, groups):
    weights = images(3, 3 // groups, *shape[0])
    convolution = model_of("Conv", weights=weights, group=groups, **attributes_of(*shape))
    for size in SIZES:
        x = images(2, 3, *size)
        seen = windows(x, *shape, 0).astype("float64")
        wanted = np.einsum("ncxyab,ocab->noxy" if groups == 1 else "ncxyab,cab->ncxy", seen,
                           weights if groups == 1 else weights[:, 0])  # fmt: skip
        np.testing.assert_allclose(np.asarray(convolution(x, weights)), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_transposed_convolutions_of_every_size_add_up_the_kernels(shape):
    kernel, stride, pads, dilation = shape
    weights = images(3, 2, *kernel)
    transposed = model_of("ConvTranspose", weights=weights, **attributes_of(*shape))
    for size in [(5, 6), (24, 24), (49, 50), (3, 70), (70, 3)]:
        x = images(2, 3, *size)
        full = np.zeros((2, 2, *((n - 1) * s + (k - 1) * d + 1
                                 for n, s, k, d in zip(size, stride, kernel, dilation, strict=True))))  # fmt: skip
        for a, b in np.ndindex(*kernel):
            rows = slice(a * dilation[0], a * dilation[0] + (size[0] - 1) * stride[0] + 1, stride[0])
            columns = slice(b * dilation[1], b * dilation[1] + (size[1] - 1) * stride[1] + 1, stride[1])
            full[:, :, rows, columns] += np.einsum("ncxy,co->noxy", x, weights[:, :, a, b])
        kept = tuple(slice(before, n - behind) for (before, behind), n in zip(pads, full.shape[2:], strict=True))
        wanted = full[(slice(None), slice(None), *kept)]
        np.testing.assert_allclose(np.asarray(transposed(x, weights)), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rank", [1, 3])
def test_windows_of_one_and_three_axes(rank):
    attributes = {"kernel_shape": [3] * rank, "strides": [2] * rank, "pads": [1] * (2 * rank)}
    pool = model_of("MaxPool", rank, **attributes)
    for extent in (5, 40, 101) if rank == 1 else (5, 13, 97):
        x = images(1, 2, *([extent] if rank == 1 else [extent, 6, extent]))
        seen = windows(x, [3] * rank, [2] * rank, [(1, 1)] * rank, [1] * rank, -np.inf)
        np.testing.assert_array_equal(np.asarray(pool(x)), seen.max(axis=tuple(range(-rank, 0))))


def test_indices_of_the_largest_elements_of_large_images():
    node = helper.make_node("MaxPool", ["x"], ["y", "places"], kernel_shape=[2, 2], strides=[2, 2])
    shape = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "c", "h", "w"])
    outputs = [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("places", TensorProto.INT64, None),
    ]
    proto = helper.make_model(helper.make_graph([node], "g", [shape], outputs), ir_version=9)
    proto.opset_import[0].version = 18
    x = images(2, 3, 101, 100)
    y, places = nn.load(proto.SerializeToString(), device="cpu")(x)
    np.testing.assert_array_equal(np.take(x, np.asarray(places)), np.asarray(y))


def test_large_images_of_any_size_share_a_kernel():
    weights = images(3, 1, 3, 3)
    margins = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    models = [
        (model_of("MaxPool", **margins), ()),
        (model_of("AveragePool", **margins), ()),
        (model_of("Conv", weights=weights, group=3, **margins), (weights,)),
    ]
    for model, more in models:
        model(images(1, 3, 60, 60), *more)
    iruka.clear_kernel_history()
    for model, more in models:
        for size in range(61, 80):
            model(images(1, 3, size, size + 1), *more)
    assert [event.kernel for event in iruka.kernel_history() if event.kernel.startswith("nn_")] == []


@pytest.mark.parametrize(
    "kernel, stride, pads",
    [
        ((3, 3), (2, 2), ((1, 1), (1, 1))),
        ((3, 3), (1, 1), ((1, 1), (1, 1))),
        ((1, 64), (1, 7), ((0, 0), (63, 60))),
        ((2, 64), (2, 64), ((0, 1), (0, 0))),
        ((4, 5), (3, 1), ((3, 2), (4, 4))),
        ((2, 2), (1, 64), ((0, 0), (1, 1))),
        ((3, 65), (2, 1), ((2, 0), (64, 3))),
    ],
)
@pytest.mark.parametrize("size", [(9, 511), (6, 1030), (13, 70), (4, 1024)])
def test_largest_elements_along_rows_of_any_length(size, kernel, stride, pads):
    x = images(2, 3, *size)
    x[0, 1, 2, 3::97] = np.nan
    x[1, 0, :, ::5] = -np.inf
    flat = [*(before for before, _ in pads), *(behind for _, behind in pads)]
    model = model_of("MaxPool", kernel_shape=kernel, strides=stride, pads=flat)
    seen = windows(x, kernel, stride, pads, (1, 1), -np.inf)
    made = iruka.asnumpy(model(iruka.asarray(x, device="cpu")))
    np.testing.assert_array_equal(made, seen.max(axis=(-1, -2)))
