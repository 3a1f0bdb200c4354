"""Products and convolutions of float16 and bfloat16: sums in float32, rounded once, against exact sums of the numbers."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import iruka
from iruka import nn

node = helper.make_node
ON_GPU = iruka.ones(1).device.name != "cpu"
DTYPES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


def numbers(seed, shape, dtype, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


def model_of(nodes, dtype, inputs, constants):
    """The model of these nodes from the inputs to y, in float16 or bfloat16."""
    element = helper.np_dtype_to_tensor_dtype(dtype)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, element, None) for name in inputs],
        [helper.make_tensor_value_info("y", element, None)],
        [helper.make_tensor(name, element, x.shape, x.tobytes(), raw=True) for name, x in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def exact(nodes, arrays):
    """What ONNX's reference evaluator makes of them in float64."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, None) for name in arrays],
        [helper.make_tensor_value_info("y", onnx.TensorProto.DOUBLE, None)],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return ReferenceEvaluator(proto).run(None, {name: x.astype(np.float64) for name, x in arrays.items()})[0]


def half_unit(want, dtype):
    """Half the distance between neighbours of the dtype about each number."""
    digits, least = (10, -24) if dtype == np.float16 else (7, -133)
    exponents = np.floor(np.log2(np.maximum(np.abs(want), 1e-300)))
    return 0.5 * 2.0 ** np.maximum(exponents - digits, least)


CASES = {
    "matmul": ([node("MatMul", ["x", "w"], ["y"])], {"x": (7, 33), "w": (33, 5)}),
    "matmul of batches": ([node("MatMul", ["x", "w"], ["y"])], {"x": (2, 7, 65), "w": (2, 65, 3)}),
    "gemm": ([node("Gemm", ["x", "w", "b"], ["y"])], {"x": (9, 31), "w": (31, 6), "b": (6,)}),
    "gemm, one number": ([node("Gemm", ["x", "w", "b"], ["y"])], {"x": (9, 31), "w": (31, 6), "b": (1,)}),
    "gemm, a matrix": ([node("Gemm", ["x", "w", "b"], ["y"])], {"x": (9, 31), "w": (31, 6), "b": (9, 6)}),
    "gemm, factors": (
        [node("Gemm", ["x", "w", "b"], ["y"], alpha=0.7, beta=1.3, transB=1, transA=1)],
        {"x": (31, 9), "w": (6, 31), "b": (9, 1)},
    ),
    "gemm without a bias": ([node("Gemm", ["x", "w"], ["y"], alpha=0.3)], {"x": (9, 31), "w": (31, 6)}),
    "gemm and relu": (
        [node("Gemm", ["x", "w", "b"], ["h"]), node("Relu", ["h"], ["y"])],
        {"x": (9, 31), "w": (31, 6), "b": (6,)},
    ),
    "conv": (
        [node("Conv", ["x", "w", "b"], ["y"], pads=[1] * 4)],
        {"x": (2, 5, 9, 8), "w": (6, 5, 3, 3), "b": (6,)},
    ),
    "conv without a bias": ([node("Conv", ["x", "w"], ["y"])], {"x": (2, 5, 9, 8), "w": (6, 5, 3, 3)}),
    "conv and relu": (
        [node("Conv", ["x", "w", "b"], ["h"], strides=[2, 1]), node("Relu", ["h"], ["y"])],
        {"x": (2, 5, 9, 8), "w": (6, 5, 3, 3), "b": (6,)},
    ),
    "conv of one axis": (
        [node("Conv", ["x", "w", "b"], ["y"], dilations=[2])],
        {"x": (2, 5, 21), "w": (6, 5, 3), "b": (6,)},
    ),
    "conv of three axes": (
        [node("Conv", ["x", "w", "b"], ["y"])],
        {"x": (1, 3, 5, 6, 7), "w": (4, 3, 2, 3, 2), "b": (4,)},
    ),
    "conv of groups": (
        [node("Conv", ["x", "w", "b"], ["y"], group=2)],
        {"x": (2, 6, 9, 8), "w": (4, 3, 3, 3), "b": (4,)},
    ),
    "depthwise conv": (
        [node("Conv", ["x", "w", "b"], ["y"], group=6)],
        {"x": (2, 6, 9, 8), "w": (6, 1, 3, 3), "b": (6,)},
    ),
    "transposed conv": (
        [node("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2, 2])],
        {"x": (2, 5, 6, 7), "w": (5, 4, 3, 3), "b": (4,)},
    ),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weights", ["constant", "given"])
@pytest.mark.parametrize("case", CASES)
def test_sums_are_rounded_once(case, weights, dtype):
    dtype = DTYPES[dtype]
    nodes, shapes = CASES[case]
    # The product alone has to round far from where the sum does: a bias that nearly cancels it, or dwarfs it.
    for seed, scale in ((0, 1.0), (1, 30.0), (2, 1e-3)):
        arrays = {
            name: numbers(seed + k, shape, dtype, scale if name == "b" else 1.0)
            for k, (name, shape) in enumerate(shapes.items())
        }
        constants = {name: x for name, x in arrays.items() if name != "x"} if weights == "constant" else {}
        inputs = {name: x for name, x in arrays.items() if name not in constants}
        model = nn.load(model_of(nodes, dtype, inputs, constants).SerializeToString())
        got = iruka.asnumpy(model(*inputs.values()))
        assert got.dtype == dtype
        want = exact(nodes, arrays)
        terms = exact(nodes, {name: np.abs(x.astype(np.float64)) for name, x in arrays.items()})
        error = np.abs(got.astype(np.float64) - want)
        bound = half_unit(want, dtype) * (1 + 1e-3) + np.abs(terms) * 1e-6
        if ON_GPU and "conv" in case and (weights == "given" or case.startswith("transposed")):
            bound += half_unit(terms, dtype)  # its library rounds before the bias is added
        assert (error <= bound).all(), np.max(error / bound)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_block_of_a_residual_network(dtype):
    """Its sum is one kernel with the convolution's bias, and rounds once at its end."""
    dtype = DTYPES[dtype]
    x, w, b = numbers(0, (1, 8, 10, 11), dtype), numbers(1, (8, 8, 3, 3), dtype, 0.2), numbers(2, (8,), dtype)
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4),
        node("Add", ["c", "x"], ["s"]),
        node("Relu", ["s"], ["y"]),
    ]
    model = nn.load(model_of(nodes, dtype, ["x"], {"w": w, "b": b}).SerializeToString())
    got, want = iruka.asnumpy(model(x)), exact(nodes, {"x": x, "w": w, "b": b})
    assert got.dtype == dtype
    assert (np.abs(got.astype(np.float64) - want) <= half_unit(want, dtype) * 1.001 + 1e-5).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_chain_that_changes_the_dtype_behind_a_bias(dtype):
    dtype = DTYPES[dtype]
    x, w, b = numbers(0, (1, 4, 6, 6), dtype), numbers(1, (3, 4, 3, 3), dtype), numbers(2, (3,), dtype)
    nodes = [node("Conv", ["x", "w", "b"], ["c"]), node("Cast", ["c"], ["y"], to=onnx.TensorProto.FLOAT)]
    proto = model_of(nodes, dtype, ["x"], {"w": w, "b": b})
    proto.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    got = iruka.asnumpy(nn.load(proto.SerializeToString())(x))
    assert got.dtype == np.float32
    operands = {"x": x, "w": w, "b": b}
    nodes = [node("Conv", ["x", "w", "b"], ["y"])]
    want = exact(nodes, operands)
    bound = half_unit(want, dtype) * 1.001 + 1e-5
    if ON_GPU:  # its library rounds before the bias is added
        bound += half_unit(
            exact(nodes, {name: np.abs(each.astype(np.float64)) for name, each in operands.items()}), dtype
        )
    assert (np.abs(got - want) <= bound).all()
