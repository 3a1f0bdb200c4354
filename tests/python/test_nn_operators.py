"""Operators of graphs against the node tests of ONNX itself, which the onnx package generates, and errors of models."""

import collections
import functools
import re
import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import iruka
from iruka import nn

# Every operator of a model that has no graph of another domain.
OPERATORS = """
Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization BitShift BitwiseAnd
BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Compress Concat Constant ConstantOfShape Conv ConvTranspose
Cos Cosh CumProd CumSum DepthToSpace Div Dropout Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather
GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GroupNormalization
HardSigmoid HardSwish Hardmax Identity If InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less
LessOrEqual Log LogSoftmax Loop LpNormalization LpPool MatMul Max MaxPool Mean MeanVarianceNormalization Min Mish Mod Mul
Neg NonZero Not OneHot Or PRelu Pad Pow RMSNormalization RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum
ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize Round Scan Scatter
ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split
Sqrt Squeeze Sub Sum Swish Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample Where Xor
""".split()

# What is refused, and why. A name is that of a test without "test_".
EXCLUDED = {
    r"cast.*(FLOAT8|FLOAT4|INT4|INT2|e8m0)": "these types have no dtype",
    r"string|STRING|label_encoder": "strings have no dtype",
    r"sequence|optional|identity_opt|if_opt|if_seq|loop13_seq|loop16_seq": "sequences and optional values are no tensors",
    r"batchnorm.*training|training_dropout(?!_zero)": "networks are not trained",
    r"^test_not_[234]d": "their file is of version 1 of the operator set",
    r"scan_sum": "version 8 of Scan had a batch axis",
}


def operators_in(graph):
    for node in graph.node:
        yield node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from operators_in(inner)


@functools.cache
def cases():
    """The tests of ONNX by operator; those of a function written out belong to the function's operator."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = collect_testcases(None)
    owners = {}
    for case in everything:
        nodes = case.model.graph.node
        owners.setdefault(re.sub("_expanded.*", "", case.name), nodes[0].op_type if len(nodes) == 1 else "others")
    grouped = collections.defaultdict(list)
    for case in everything:
        if set(operators_in(case.model.graph)) <= set(OPERATORS):
            owner = owners[re.sub("_expanded.*", "", case.name)]
            grouped[owner if owner in OPERATORS else "others"].append(case)
    return grouped


def as_numpy(value):
    return onnx.numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def check_equal(got, want, case):
    got, want = iruka.asnumpy(got), np.asarray(as_numpy(want))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if want.dtype.kind not in "fcV":
        np.testing.assert_array_equal(got, want)
        return
    # Small floats are computed in float32 here and rounded once; the references round between operators.
    relative = {"bfloat16": 2.0**-6, "float16": 4e-3}.get(want.dtype.name, case.rtol)
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=relative, atol=case.atol)


def check(case):
    model = nn.load(case.model.SerializeToString())
    for inputs, outputs in case.data_sets:
        got = model(*(np.asarray(as_numpy(x)) for x in inputs))
        got = got if isinstance(got, tuple) else (got,)
        assert len(got) == len(outputs)
        for one, want in zip(got, outputs):
            check_equal(one, want, case)


@pytest.mark.parametrize("operator", [*OPERATORS, "others"])
def test_the_node_tests_of_onnx(operator):
    failures = {}
    for case in cases()[operator]:
        reason = next((reason for pattern, reason in EXCLUDED.items() if re.search(pattern, case.name)), None)
        if reason:
            with pytest.raises((TypeError, ValueError)):
                check(case)
            continue
        try:
            check(case)
        except Exception as error:  # every case of the operator is tried
            failures[case.name] = f"{type(error).__name__}: {str(error).strip()[:300]}"
    assert not failures


def model_of(nodes, inputs, outputs, opset=20, initializers=(), functions=()):
    """The bytes of a model; inputs and outputs are (name, type, shape)."""
    infos = [[helper.make_tensor_value_info(*info) for info in infos] for infos in (inputs, outputs)]
    graph = helper.make_graph(
        nodes, "test", *infos, [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in dict(initializers).items()]
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)
    return model.SerializeToString()


X, Y, Z = ([name, TensorProto.FLOAT, ["n", 3]] for name in "xyz")


def test_all_missing_operators_are_named_at_once():
    nodes = [
        helper.make_node("Unique", ["x"], ["a"], "first"),
        helper.make_node("Unique", ["a"], ["b"], "second"),
        helper.make_node("Quantize", ["b"], ["y"], "third", domain="com.example"),
    ]
    with pytest.raises(
        ValueError,
        match=r"Unique.*'first', 'second'.*com\.example\.Quantize.*'third'|"
        r"com\.example\.Quantize.*'third'.*Unique.*'first', 'second'",
    ):
        nn.load(model_of(nodes, [X], [Y]))


@pytest.mark.parametrize("opset", [6, 29])
def test_other_versions_of_the_operator_set_are_refused(opset):
    with pytest.raises(ValueError, match=rf"version {opset} .*7 to 28"):
        nn.load(model_of([helper.make_node("Relu", ["x"], ["y"])], [X], [Y], opset))


def test_inputs_are_checked():
    model = nn.load(model_of([helper.make_node("Add", ["x", "y"], ["z"])], [X, Y], [Z]))
    assert [tuple(t) for t in model.inputs] == [("x", np.float32, ("n", 3)), ("y", np.float32, ("n", 3))]
    assert [tuple(t) for t in model.outputs] == [("z", np.float32, ("n", 3))]
    a = np.ones((2, 3), np.float32)
    for result in (model(a, a), model(x=a, y=a), model(a, y=a), model(iruka.asarray(a), a)):
        np.testing.assert_array_equal(iruka.asnumpy(result), 2 * a)
    for call, error, words in [
        (lambda: model(a), TypeError, "missing.*y"),
        (lambda: model(a, a, a), TypeError, "2 inputs.*x, y.*3"),
        (lambda: model(a, w=a), TypeError, "no input 'w'"),
        (lambda: model(a, x=a, y=a), TypeError, "'x' is given twice"),
        (lambda: model(a, "text"), TypeError, "'y'.*array"),
        (lambda: model(a.astype(np.float64), a), TypeError, "'x' must be float32.*float64"),
        (lambda: model(a[0], a), ValueError, r"'x' must have shape \(n, 3\).*\(3,\)"),
        (lambda: model(a[:, :2], a), ValueError, r"'x' must have shape \(n, 3\).*\(2, 2\)"),
        (lambda: model(a, a[:1]), ValueError, r"'y' must have shape \(n, 3\).*\(1, 3\).*n is 2 in 'x'"),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_errors_of_operators_name_the_node():
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], "flat")
    model = nn.load(model_of([node], [X], [Y], initializers={"shape": np.array([4, -1])}))
    with pytest.raises(ValueError, match=r"'flat' \(Reshape\)"):
        model(np.ones((2, 3), np.float32))


def test_outputs_are_arrays_of_their_own():
    """No output is a view of an input, a constant or another output."""
    nodes = [
        helper.make_node("Identity", ["x"], ["y"]),
        helper.make_node("Identity", ["x"], ["z"]),
        helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(np.zeros((2, 3), np.float32))),
    ]
    model = nn.load(model_of(nodes, [X], [Y, Z, ["c", TensorProto.FLOAT, [2, 3]]]))
    x = iruka.ones((2, 3), dtype="float32")
    for result in model(x):
        result[...] = 5
    assert (iruka.asnumpy(x) == 1).all()
    y, z, c = (iruka.asnumpy(result) for result in model(x))
    assert (y == 1).all() and (z == 1).all() and (c == 0).all()


def test_functions_of_the_file():
    function = helper.make_function(
        "own",
        "Scaled",
        ["a"],
        ["b"],
        [
            helper.make_node("Constant", [], ["factor"]),
            helper.make_node("Mul", ["a", "factor"], ["b"]),
        ],
        [helper.make_opsetid("", 20)],
        attributes=["by"],
    )
    reference = onnx.AttributeProto(name="value_float", ref_attr_name="by", type=onnx.AttributeProto.FLOAT)
    function.node[0].attribute.append(reference)
    nodes = [
        helper.make_node("Scaled", ["x"], ["h"], domain="own", by=2.0),
        helper.make_node("Scaled", ["h"], ["y"], domain="own", by=-3.0),
    ]
    model = nn.load(model_of(nodes, [X], [Y], functions=[function]))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(iruka.asnumpy(model(x)), -6 * x)


def test_functions_that_call_themselves_are_refused():
    function = helper.make_function(
        "own", "F", ["a"], ["b"], [helper.make_node("F", ["a"], ["b"], domain="own")], [helper.make_opsetid("own", 1)]
    )
    with pytest.raises(ValueError, match="deep"):
        nn.load(model_of([helper.make_node("F", ["x"], ["y"], domain="own")], [X], [Y], functions=[function]))
