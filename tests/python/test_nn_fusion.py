"""Which pointwise operators share a kernel: costly ones are not repeated for the elements of a larger result."""

import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import iruka
from iruka import nn

node = helper.make_node
RNG = np.random.default_rng(7)
X = RNG.normal(size=(2, 6, 5, 7)).astype(np.float32)
SQUEEZE = RNG.normal(size=(3, 6, 1, 1)).astype(np.float32)
EXCITE = RNG.normal(size=(6, 3, 1, 1)).astype(np.float32)
SYMBOLS = ["n", 6, "h", "w"]


def proto_of(nodes, shape, values=(), **initializers):
    element = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", element, None)],
        [onnx.numpy_helper.from_array(np.asarray(x), name) for name, x in initializers.items()],
        value_info=[helper.make_tensor_value_info(name, element, extents) for name, extents in values],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def operators(model):
    """Of each step, as the table shows them."""
    return {line.split()[1] for line in str(model).splitlines()[3:-1]}


def convolved(pool, **more):
    """Squeeze and excitation by convolutions of one place, as torchvision and timm write it."""
    nodes = [
        pool,
        node("Conv", ["p", "w1", "b1"], ["a"]),
        node("Relu", ["a"], ["b"]),
        node("Conv", ["b", "w2", "b2"], ["c"]),
        node("Sigmoid", ["c"], ["s"]),
        node("Mul", ["x", "s"], ["y"]),
    ]
    numbers = {"b1": np.ones(3, np.float32), "b2": np.ones(6, np.float32)}
    return nodes, {"w1": SQUEEZE, "w2": EXCITE, **numbers, **more}


def multiplied(back, **more):
    """The same by matrices: Gemm, whose result gets its axes back."""
    nodes = [
        node("ReduceMean", ["x", "axes"], ["p"], keepdims=0),
        node("Gemm", ["p", "w1"], ["a"], transB=1),
        node("Relu", ["a"], ["b"]),
        node("Gemm", ["b", "w2"], ["c"], transB=1),
        node("Sigmoid", ["c"], ["s"]),
        *back,
        node("Mul", ["x", "t"], ["y"]),
    ]
    return nodes, {"w1": SQUEEZE[..., 0, 0], "w2": EXCITE[..., 0, 0], "axes": [2, 3], **more}


APART = {  # nodes and constants, and the step whose function is not repeated
    "global pooling": (*convolved(node("GlobalAveragePool", ["x"], ["p"])), "Sigmoid"),
    "a mean": (*convolved(node("ReduceMean", ["x", "axes"], ["p"]), axes=[-2, -1]), "Sigmoid"),
    "matrices": (*multiplied([node("Reshape", ["s", "to"], ["t"])], to=[0, 6, 1, 1]), "Sigmoid"),
    "new axes": (*multiplied([node("Unsqueeze", ["s", "to"], ["t"])], to=[2, 3]), "Sigmoid"),
    "a chain": (
        [
            node("GlobalMaxPool", ["x"], ["p"]),
            node("Exp", ["p"], ["e"]),
            node("Mul", ["e", "half"], ["h"]),
            node("Sub", ["x", "h"], ["y"]),
        ],
        {"half": np.float32(0.5)},
        "Exp",
    ),
    "fewer axes": (
        [node("Slice", ["x", "zero", "one", "zero"], ["a"])]
        + [node("Reshape", ["a", "to"], ["r"]), node("Tanh", ["r"], ["t"]), node("Add", ["x", "t"], ["y"])],
        {"zero": [0], "one": [1], "to": [6, 5, 7]},
        "Tanh",
    ),
}


@pytest.mark.parametrize("shape", [SYMBOLS, X.shape, [None] * 4])
@pytest.mark.parametrize("case", APART)
def test_costly_functions_run_in_their_own_shape(case, shape):
    nodes, constants, apart = APART[case]
    proto = proto_of(nodes, shape, **constants)
    model = nn.load(proto.SerializeToString(), device="cpu")
    cells = [re.split(" {2,}", line.strip()) for line in str(model).splitlines()[3:-1]]
    steps = [operators for _, operators, *_ in cells if apart in operators]
    assert len(steps) == 1 and not {"Mul", "Add", "Sub"} & set(steps[0].split("+")), operators(model)
    want = ReferenceEvaluator(proto).run(None, {"x": X})[0]
    np.testing.assert_allclose(iruka.asnumpy(model(X)), want, rtol=0, atol=1e-5 * np.abs(want).max())


def test_what_a_file_declares_counts():
    """Split has no rule that knows its parts: the declared shapes do."""
    nodes = [
        node("Split", ["x", "parts"], ["a", "b"], axis=1),
        node("Sigmoid", ["a"], ["s"]),
        node("Mul", ["s", "b"], ["y"]),
    ]
    for values, together in (((), True), ((("a", ["n", 1, "h", "w"]),), False)):
        proto = proto_of(nodes, SYMBOLS, values, parts=[1, 5])
        model = nn.load(proto.SerializeToString(), device="cpu")
        assert ("Sigmoid+Mul" in operators(model)) == together
        want = ReferenceEvaluator(proto).run(None, {"x": X})[0]
        np.testing.assert_allclose(iruka.asnumpy(model(X)), want, rtol=0, atol=1e-6)


TOGETHER = {
    "a gate": [
        node("Conv", ["x", "w"], ["a"]),
        node("Conv", ["x", "w"], ["b"]),
        node("Tanh", ["a"], ["t"]),
        node("Sigmoid", ["b"], ["s"]),
        node("Mul", ["t", "s"], ["y"]),
    ],
    "x times a function of x": [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["y"])],
    "a cheap function that is repeated": [
        node("GlobalAveragePool", ["x"], ["p"]),
        node("HardSigmoid", ["p"], ["s"]),
        node("Mul", ["x", "s"], ["y"]),
    ],
    "small shapes alone": [
        node("GlobalAveragePool", ["x"], ["p"]),
        node("Sigmoid", ["p"], ["s"]),
        node("Mul", ["p", "s"], ["y"]),
    ],
}


@pytest.mark.parametrize("case", TOGETHER)
def test_other_chains_are_one_kernel(case):
    proto = proto_of(TOGETHER[case], SYMBOLS, w=EXCITE.reshape(3, 6, 1, 1))
    model = nn.load(proto.SerializeToString(), device="cpu")
    assert any("igmoid+Mul" in step for step in operators(model)), operators(model)
    want = ReferenceEvaluator(proto).run(None, {"x": X})[0]
    np.testing.assert_allclose(iruka.asnumpy(model(X)), want, rtol=0, atol=1e-5 * np.abs(want).max())
