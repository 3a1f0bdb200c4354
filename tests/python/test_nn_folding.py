"""Constants that loading computes: they take a bounded amount of memory, however large a node says they are."""

import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import iruka
from iruka import nn

node = helper.make_node
HUGE = 400_000_000  # elements; a float32 array of them takes 1.6 GB
ONE = np.ones(1, np.float32)


def model_of(nodes, output="y", inputs=("x",), **initializers):
    constants = [onnx.numpy_helper.from_array(np.asarray(x), name) for name, x in initializers.items()]
    proto = helper.make_model(
        helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            constants,
        ),
        opset_imports=[helper.make_opsetid("", 18)],
    )
    proto.ir_version = 10
    return proto


def summed(made, **initializers):
    """x + the sum of what a node makes of constants."""
    return model_of(
        [made, node("ReduceSum", ["c", "axis"], ["s"]), node("Add", ["x", "s"], ["y"])], axis=[0], **initializers
    )


LARGE = {
    "ConstantOfShape": summed(node("ConstantOfShape", ["n"], ["c"]), n=[HUGE]),
    "Expand": summed(node("Expand", ["a", "n"], ["c"]), a=ONE, n=[HUGE]),
    "Tile": summed(node("Tile", ["a", "n"], ["c"]), a=ONE, n=[HUGE]),
    "Range": summed(node("Range", ["a", "b", "d"], ["c"]), a=np.float32(0), b=np.float32(HUGE), d=np.float32(1)),
    "Pad": summed(node("Pad", ["a", "n"], ["c"]), a=ONE, n=[0, HUGE]),
    "Resize": summed(node("Resize", ["a", "", "", "n"], ["c"]), a=ONE, n=[HUGE]),
    "OneHot": summed(node("OneHot", ["i", "n", "v"], ["c"], axis=0), i=[0], n=HUGE, v=np.float32([0, 1])),
    "EyeLike": summed(node("EyeLike", ["a"], ["c"]), a=np.ones((1, 1), np.float32)),  # small, and folded
    "many": model_of(
        [node("ConstantOfShape", ["n"], [f"c{k}"]) for k in range(100)]
        + [node("Sum", ["x", *(f"c{k}" for k in range(100))], ["y"])],
        n=[10_000_000],
    ),
    "branches": model_of(
        [
            node(
                "If",
                ["p"],
                ["y"],
                **{
                    branch: helper.make_graph(
                        [node("ConstantOfShape", ["n"], [branch + "c"]), node("Neg", [branch + "c"], [branch])],
                        branch,
                        [],
                        [helper.make_tensor_value_info(branch, TensorProto.FLOAT, None)],
                    )
                    for branch in ("then_branch", "else_branch")
                },
            )
        ],
        n=[HUGE],
        p=np.array(True),
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_loading_takes_little_memory(name, tmp_path):
    onnx.save(LARGE[name], tmp_path / "model.onnx")
    script = """
import resource, sys
from iruka import nn
nn.load(sys.argv[2], device="cpu")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
nn.load(sys.argv[1], device="cpu")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    onnx.save(LARGE["EyeLike"], tmp_path / "small.onnx")
    command = [sys.executable, "-c", script, tmp_path / "model.onnx", tmp_path / "small.onnx"]
    kibibytes = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert kibibytes < 250_000


def test_what_is_not_folded_runs():
    proto = summed(node("ConstantOfShape", ["n"], ["c"], value=onnx.numpy_helper.from_array(ONE)), n=[40_000_000])
    model = nn.load(proto.SerializeToString(), device="cpu")
    assert "ConstantOfShape" in str(model)
    x = np.float32([1, 2])
    np.testing.assert_array_equal(iruka.asnumpy(model(x)), x + 40_000_000)


def test_large_weights_are_folded():
    """The budget grows with the constants of the file."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=(4096, 5000)).astype(np.float32)  # 82 MB
    proto = model_of(
        [node("Transpose", ["w"], ["t"]), node("Mul", ["t", "two"], ["d"]), node("MatMul", ["x", "d"], ["y"])],
        w=w,
        two=np.float32(2),
    )
    model = nn.load(proto.SerializeToString(), device="cpu")
    operators = str(model).split()
    assert "MatMul" in operators and "Transpose" not in operators and "Mul" not in operators
    x = rng.normal(size=(2, 5000)).astype(np.float32)
    want = ReferenceEvaluator(proto).run(None, {"x": x})[0]
    np.testing.assert_allclose(iruka.asnumpy(model(x)), want, rtol=0, atol=1e-5 * np.abs(want).max())


LIMITED = {  # scales or sizes, the attributes, and what the axis of 2 elements would become
    "a factor": (dict(mode="nearest"), [1e9], None, "2000000000 elements: at most 67108864"),
    "a weighted factor": (dict(mode="linear"), [1e9], None, "2000000000 elements: at most 33554432"),
    "a size": (dict(mode="cubic"), None, [10**9], "1000000000 elements: at most 16777216"),
    "a size beyond doubles": (dict(mode="nearest"), None, [2**62], f"{2**62} elements: at most 67108864"),
    "a kept ratio": (dict(keep_aspect_ratio_policy="not_smaller"), None, [2**63 - 1], "elements: at most 67108864"),
    "a wide filter": (dict(mode="linear", antialias=1), [1e-30], None, "0 elements: at most 0"),
    "no factor": (dict(mode="nearest"), [float("nan")], None, "by nan"),
    "a negative size": (dict(mode="nearest"), None, [-4], "by -2"),
}


@pytest.mark.parametrize("case", LIMITED)
def test_an_axis_is_resized_to_few_elements(case):
    attributes, scales, sizes, message = LIMITED[case]
    given = {"n": np.array(sizes)} if scales is None else {"n": np.float32(scales)}
    places = ["x", "", "", "n"] if scales is None else ["x", "", "n"]
    model = nn.load(model_of([node("Resize", places, ["y"], **attributes)], **given).SerializeToString(), device="cpu")
    with pytest.raises(ValueError, match=f"an axis of 2 cannot be resized.*{message}"):
        model(np.ones(2, np.float32))


@pytest.mark.parametrize("extent", [2**50, 2**60])
def test_an_array_that_no_memory_holds(extent):
    proto = summed(node("ConstantOfShape", ["n"], ["c"]), n=[extent])
    model = nn.load(proto.SerializeToString(), device="cpu")
    with pytest.raises(MemoryError, match=rf"node 'c' \(ConstantOfShape\).*float32 of shape \({extent},\)"):
        model(ONE)
