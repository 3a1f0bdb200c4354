"""Model.map: loaded models at every point of an array, and those that are perceptrons as one kernel."""

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import iruka
from iruka import nn
from torch_programs import Program

node = helper.make_node
RNG = np.random.default_rng(11)
W1, B1 = RNG.normal(size=(9, 5)).astype(np.float32), RNG.normal(size=9).astype(np.float32)
W2, B2 = RNG.normal(size=(3, 9)).astype(np.float32), RNG.normal(size=3).astype(np.float32)
SLOPES = RNG.uniform(0.1, 0.4, 9).astype(np.float32)


def number(value, dtype=np.float32):
    return np.array(value, dtype)


def proto_of(nodes, constants, shape=("n", 5), outputs=("y",), opset=18, dtype=np.float32, out_shape=None):
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info(name, element, out_shape) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(x), name) for name, x in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def load(proto):
    return nn.load(proto.SerializeToString())


def perceptron(*between, opset=18, dtype=np.float32, **constants):
    """Gemm, nodes from h to a, Gemm."""
    nodes = [
        node("Gemm", ["x", "w1", "b1"], ["h"], transB=1),
        *between,
        node("Gemm", ["a", "w2", "b2"], ["y"], transB=1),
    ]
    weights = {"w1": W1, "b1": B1, "w2": W2, "b2": B2}
    weights = {name: array.astype(dtype) for name, array in weights.items()}
    return proto_of(nodes, {**weights, **constants}, opset=opset, dtype=dtype)


def matrices(*between, last="y", **constants):
    """MatMul and Add, nodes from h to a, MatMul and Add."""
    nodes = [
        node("MatMul", ["x", "w1"], ["p"]),
        node("Add", ["b1", "p"], ["h"]),
        *between,
        node("MatMul", ["a", "w2"], ["q"]),
        node("Add", ["q", "b2"], [last]),
    ]
    return nodes, {"w1": W1.T.copy(), "b1": B1, "w2": W2.T.copy(), "b2": B2[None], **constants}


PERCEPTRONS = {
    "relu": perceptron(node("Relu", ["h"], ["a"])),
    "double": perceptron(node("Relu", ["h"], ["a"]), dtype=np.float64),
    "matmul and add": proto_of(*matrices(node("Tanh", ["h"], ["a"]))),
    "leaky": perceptron(node("LeakyRelu", ["h"], ["a"], alpha=0.2)),
    "elu": perceptron(node("Elu", ["h"], ["a"], alpha=1.5)),
    "softplus": perceptron(node("Softplus", ["h"], ["a"])),
    "slopes": perceptron(node("PRelu", ["h", "s"], ["a"]), s=SLOPES),
    "one slope": perceptron(node("PRelu", ["h", "s"], ["a"]), s=SLOPES[:1]),
    "silu in parts": perceptron(node("Sigmoid", ["h"], ["s"]), node("Mul", ["s", "h"], ["a"])),
    "hardswish in parts": perceptron(
        node("HardSigmoid", ["h"], ["s"], alpha=1 / 6, beta=0.5), node("Mul", ["h", "s"], ["a"])
    ),
    "gelu in parts": perceptron(
        node("Div", ["h", "root"], ["d"]),
        node("Erf", ["d"], ["e"]),
        node("Add", ["e", "one"], ["f"]),
        node("Mul", ["h", "f"], ["g"]),
        node("Mul", ["g", "half"], ["a"]),
        root=number(np.sqrt(2)),
        one=number(1),
        half=number(0.5),
    ),
    "gelu": perceptron(node("Gelu", ["h"], ["a"]), opset=20),
    "gelu tanh": perceptron(node("Gelu", ["h"], ["a"], approximate="tanh"), opset=20),
    "softmax of old files": perceptron(node("Softmax", ["h"], ["a"]), opset=11),
    "softmax": perceptron(node("Softmax", ["h"], ["a"], axis=-1)),
    "several activations": perceptron(node("Sigmoid", ["h"], ["s"]), node("Tanh", ["s"], ["a"])),
    "one before the first layer": proto_of(
        [node("Tanh", ["x"], ["t"]), node("Gemm", ["t", "w", "b"], ["y"])], {"w": W1.T.copy(), "b": B1[:1]}
    ),
    "no bias, factors": proto_of(
        [node("Gemm", ["x", "w"], ["h"], alpha=0.5), node("Gemm", ["h", "v", "b"], ["y"], beta=2.0)],
        {"w": W1.T.copy(), "v": W2.T.copy(), "b": B2[None]},
    ),
    "dropout, flatten, a batch norm": proto_of(
        [
            node("Flatten", ["x"], ["f"]),
            node("Gemm", ["f", "w1", "b1"], ["h"], transB=1),
            node("BatchNormalization", ["h", "s", "b1", "b1", "s"], ["n"]),
            node("Relu", ["n"], ["r"]),
            node("Dropout", ["r"], ["a"]),
            node("Gemm", ["a", "w2"], ["g"], transB=1),
            node("Identity", ["g"], ["y"]),
        ],
        {"w1": W1, "b1": B1, "s": SLOPES, "w2": W2},
    ),
}


def reference(proto, a, axis):
    """The model of each point, by onnx's evaluator."""
    rows = np.moveaxis(a, axis, -1)
    dtype = helper.tensor_dtype_to_np_dtype(proto.graph.input[0].type.tensor_type.elem_type)
    y = ReferenceEvaluator(proto).run(None, {"x": rows.reshape(-1, rows.shape[-1]).astype(dtype)})[0]
    return np.moveaxis(y.reshape(*rows.shape[:-1], y.shape[-1]), -1, axis)


def check(got, want):
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(iruka.asnumpy(got), want, rtol=0, atol=1e-5 * np.abs(want).max())


def layouts():
    a = RNG.normal(size=(4, 5, 6)).astype(np.float32)
    yield a, 1
    yield a.transpose(1, 0, 2), 0
    yield np.asfortranarray(a), -2
    yield a[::2, :, ::-1], 1
    yield a[0, :, 0], 0
    yield a[:, None], 2
    yield RNG.normal(size=(3, 7, 5)), -1
    yield RNG.integers(-3, 3, (2, 5)), 1


@pytest.mark.parametrize("name", PERCEPTRONS)
def test_perceptrons_are_one_kernel(name):
    proto = PERCEPTRONS[name]
    model = load(proto)
    assert "one kernel" in str(model)
    for a, axis in layouts():
        check(model.map(a, axis), reference(proto, a, axis))
        check(np.apply_along_axis(model, axis, iruka.asarray(a)), reference(proto, a, axis))
    assert model.map(np.zeros((0, 5, 6), np.float32), 1).shape[::2] == (0, 6)
    rows = RNG.normal(size=(11, 5)).astype(
        helper.tensor_dtype_to_np_dtype(proto.graph.input[0].type.tensor_type.elem_type)
    )
    check(model(rows), reference(proto, rows, -1))
    report = model.report(rows)
    assert len(report.rows) == 1 and ("Gemm" in str(report) or "MatMul" in str(report))
    net = model.as_function("net")
    assert (net.in_features, net.out_features) == (5, reference(proto, rows, -1).shape[1])
    c_type = {"float32": "float", "float64": "double"}[rows.dtype.name]
    kernel = net.kernel(
        f"raw {rows.dtype} x",
        f"raw {rows.dtype} y",
        f"{c_type} in[5]; for (int k = 0; k < 5; ++k) in[k] = x[5 * i + k]; net(in, &y[i * {net.out_features}]);",
    )
    y = iruka.empty((11, net.out_features), rows.dtype)
    kernel(iruka.asarray(rows), y, size=11)
    check(y, reference(proto, rows, -1))


OTHERS = {
    "a sum of two layers": perceptron(node("Relu", ["h"], ["r"]), node("Add", ["r", "h"], ["a"])),
    "an activation that perceptrons lack": perceptron(node("Mish", ["h"], ["a"])),
    "a norm": perceptron(node("LayerNormalization", ["h", "s"], ["a"]), s=SLOPES),
    "silu of something else": perceptron(
        node("Sigmoid", ["h"], ["s"]), node("Tanh", ["s"], ["t"]), node("Mul", ["h", "t"], ["a"])
    ),
    "a slope": perceptron(node("Relu", ["h"], ["r"]), node("Mul", ["r", "s"], ["a"]), s=SLOPES),
    "softmax of the batch, in one row": perceptron(node("Softplus", ["h"], ["s"]), node("Sub", ["h", "s"], ["a"])),
    "a wide layer": proto_of(
        [node("MatMul", ["x", "w"], ["h"]), node("Relu", ["h"], ["a"]), node("MatMul", ["a", "v"], ["y"])],
        {"w": RNG.normal(size=(5, 300)).astype(np.float32), "v": RNG.normal(size=(300, 2)).astype(np.float32)},
    ),
    "features that only a run knows": proto_of([node("Softmax", ["x"], ["y"])], {}, shape=["n", "f"]),
    "declared outputs": proto_of(
        [node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2), node("MatMul", ["a", "w"], ["y"])],
        {"w": W1[:3, :3].copy()},
        out_shape=["n", 3],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_models_run_by_parts(name):
    proto = OTHERS[name]
    model = load(proto)
    assert "one kernel" not in str(model)
    for a, axis in layouts():
        check(model.map(a, axis), reference(proto, a, axis))
        check(np.apply_along_axis(model, axis, iruka.asarray(a)), reference(proto, a, axis))
    assert model.map(np.zeros((0, 4, 5), np.float32)).shape[:2] == (0, 4)
    with pytest.raises(ValueError, match="nn.Model.as_function: the model is no multilayer perceptron"):
        model.as_function("net")


@pytest.mark.parametrize("name", ["relu", "a norm"])
def test_out_and_progress(name):
    proto = {**PERCEPTRONS, **OTHERS}[name]
    model = load(proto)
    a = RNG.normal(size=(5, 70, 2100)).astype(np.float32)
    want = reference(proto, a, 0)
    calls = []
    out = iruka.zeros((3, 70, 2100), "float64")
    assert model.map(a, 0, out, lambda done, every: calls.append((done, every))) is out
    np.testing.assert_allclose(iruka.asnumpy(out), want, rtol=0, atol=1e-5 * np.abs(want).max())
    assert calls[-1] == (70 * 2100, 70 * 2100) and len(calls) > 1
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    for wrong, error in ((iruka.zeros((3, 70, 5)), ValueError), (iruka.zeros((3, 70, 2100), "int32"), TypeError)):
        with pytest.raises(error):
            model.map(a, 0, wrong)
    with pytest.raises(TypeError, match="nn.Model.map: out must be an iruka.ndarray, not ndarray"):
        model.map(a, 0, np.zeros((3, 70, 2100)))


def test_a_program_of_torch():
    program = Program()
    x = program.input("x", ["s0", 5])
    w1, b1, w2, b2 = (program.weight(name, array) for name, array in zip(("w1", "b1", "w2", "b2"), (W1, B1, W2, B2)))
    h = program.node("linear.default", {"input": x, "weight": w1, "bias": b1}, (["s0", 9], np.float32))
    a = program.node("silu.default", {"self": h}, (["s0", 9], np.float32))
    program.output(program.node("linear.default", {"input": a, "weight": w2, "bias": b2}, (["s0", 3], np.float32)))
    model = nn.load(program.save())
    assert "one kernel" in str(model)
    rows = RNG.normal(size=(4, 5, 6)).astype(np.float32)
    h = np.moveaxis(rows, 1, -1) @ W1.T + B1
    want = np.moveaxis(h / (1 + np.exp(-h)) @ W2.T + B2, -1, 1)
    check(model.map(rows, 1), want)


UNFIT = {
    "images": proto_of([node("Relu", ["x"], ["y"])], {}, shape=["n", 3, 4, 4]),
    "a fixed batch": proto_of([node("Relu", ["x"], ["y"])], {}, shape=[2, 5]),
    "two outputs": proto_of([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["z"])], {}, outputs=("y", "z")),
    "no shape": proto_of([node("Relu", ["x"], ["y"])], {}, shape=None),
}


@pytest.mark.parametrize("case", UNFIT)
def test_models_of_something_else_than_points(case):
    with pytest.raises(ValueError, match="nn.Model.map: the model must make .batch, outputs. of .batch, features."):
        load(UNFIT[case]).map(np.zeros((3, 5), np.float32))


def test_models_that_mix_rows():
    """What the declared shapes do not say shows in a run."""
    model = load(proto_of([node("ReduceSum", ["x"], ["y"])], {}))
    with pytest.raises(ValueError, match=r"one row of outputs of each row|must make shape"):
        model.map(np.zeros((3, 5), np.float32))


@pytest.mark.parametrize("name", ["relu", "a norm"])
def test_wrong_arrays_are_named(name):
    model = load({**PERCEPTRONS, **OTHERS}[name])
    with pytest.raises(
        ValueError, match=r"^nn.Model.map: expected 5 features along axis 0, but the array has shape \(3, 5\)"
    ):
        model.map(np.zeros((3, 5), np.float32), 0)
    with pytest.raises(IndexError, match="^nn.Model.map: axis 2 is out of bounds"):
        model.map(np.zeros((3, 5), np.float32), 2)
    for axis in (None, 1.0, (1,)):
        with pytest.raises(TypeError, match="nn.Model.map: axis must be an integer, not "):
            model.map(np.zeros((3, 5), np.float32), axis)
    with pytest.raises(TypeError, match="nn.Model.map: progress must be a function of two numbers, not int"):
        model.map(np.zeros((3, 5), np.float32), progress=3)
    with pytest.raises(TypeError, match="nn.Model: a call takes no `out`; map"):
        model(np.zeros((3, 5), np.float32), out=iruka.zeros((3, 2)))
    with pytest.raises(ValueError, match="the array has no axes"):
        model.map(np.float32(3))
    with pytest.raises(TypeError, match="expected real numbers, not complex64"):
        model.map(np.zeros((3, 5), np.complex64))
    with pytest.raises(TypeError, match="expected an array, not <class 'str'>"):
        model.map("x")
    with pytest.raises(TypeError, match="takes no arguments besides the slice"):
        iruka.apply_along_axis(model, 1, iruka.zeros((3, 5)), 3)
