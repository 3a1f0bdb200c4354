"""What nn.load and nn.Model say of files and arrays that do not fit, and the methods that modules have and models too."""

import io
import pathlib

import numpy as np
import onnx
import pytest
import safetensors.numpy
from onnx import helper

import iruka
from iruka import nn

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data" / "nn"
RNG = np.random.default_rng(3)


def proto_of(shape=("n", 8), text="y = Relu(x)", outputs=1, element="float"):
    extents = ", ".join(map(str, shape))
    results = ", ".join(f"{element}[{'n' if k == 0 else 'm'}, k] {name}" for k, name in enumerate("yz"[:outputs]))
    head = '<ir_version: 8, opset_import: ["" : 18]> g '
    return onnx.parser.parse_model(head + f"({element}[{extents}] x) => ({results}) {{ {text} }}")


def load(**options):
    return nn.load(proto_of(**options).SerializeToString())


def linear(batch="n"):
    """Gemm and Relu, whose input has 8 features."""
    w = RNG.normal(size=(4, 8)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w"], ["h"], transB=1), helper.make_node("Relu", ["h"], ["y"])],
        "linear",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [batch, 8])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [batch, 4])],
        [onnx.numpy_helper.from_array(w, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def message(kind, call):
    with pytest.raises(kind) as error:
        call()
    return str(error.value)


def test_truncated_models(tmp_path):
    """The same words for bytes, an open file and a path."""
    data = linear().SerializeToString()[:-9]
    path = tmp_path / "cut.onnx"
    path.write_bytes(data)
    words = f"damaged ONNX model: it is cut short: its {len(data)} bytes end within what they announce"
    assert message(ValueError, lambda: nn.load(data)) == f"nn.load: the bytes: {words}"
    assert message(ValueError, lambda: nn.load(path)) == f"nn.load: '{path}': {words}"
    with path.open("rb") as file:
        assert message(ValueError, lambda: nn.load(file)) == f"nn.load: '{path}': {words}"
    assert message(ValueError, lambda: nn.load(io.BytesIO(data))) == f"nn.load: the file: {words}"


def test_messages_name_what_was_read(tmp_path):
    assert message(ValueError, lambda: nn.load(b"")) == "nn.load: the bytes: is empty"
    assert message(ValueError, lambda: nn.load(io.BytesIO())) == "nn.load: the file: is empty"
    path = tmp_path / "empty.pt"
    path.touch()
    with path.open("rb") as file:
        assert message(ValueError, lambda: nn.load(file)) == f"nn.load: '{path}': is empty"
    with (FOLDER / "state_dict.pt").open("rb") as file:
        nn.load(file)
        said = message(ValueError, lambda: nn.load(file))
        assert said.endswith("state_dict.pt': nothing is left to read: the file is at its end; file.seek(0) goes back")
        file.seek(0)
        assert "4.weight" in nn.load(file)


def external(folder):
    """A model whose weights are in a file beside it."""
    proto = linear()
    onnx.save(proto, folder / "ext.onnx", save_as_external_data=True, location="ext.data", size_threshold=0)
    return folder / "ext.onnx"


def test_an_open_model_finds_the_data_beside_it(tmp_path):
    path = external(tmp_path)
    x = np.ones((2, 8), np.float32)
    with path.open("rb") as file:
        got = iruka.asnumpy(nn.load(file)(x))
    np.testing.assert_array_equal(got, iruka.asnumpy(nn.load(path)(x)))
    said = message(ValueError, lambda: nn.load(path.read_bytes()))
    assert said.endswith("the model was given as bytes, so there is no folder to look in; give the path")


def test_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    safetensors.numpy.save_file({"w": np.ones(3, np.float32)}, tmp_path / "w.safetensors")
    for path in ("~/w.safetensors", pathlib.Path("~") / "w.safetensors"):
        assert list(nn.load(path)) == ["w"]
    assert str(tmp_path / "missing") in message(OSError, lambda: nn.load("~/missing"))


def test_files_of_weights_have_no_precision(tmp_path):
    path = tmp_path / "w.safetensors"
    safetensors.numpy.save_file({"w": np.ones(3, np.float32)}, path)
    for source in (path, path.read_bytes()):
        said = message(ValueError, lambda: nn.load(source, precision="tf32"))
        assert "a file of weights has no precision" in said and "module.to(precision=...)" in said
    assert nn.load(linear().SerializeToString(), precision="tf32").precision == "tf32"


def test_missing_operators_are_irukas():
    said = message(ValueError, lambda: load(text="y = DFT(x)"))
    assert said.startswith("nn.load: the bytes: ONNX model: Iruka has no operators DFT (nodes ")


def test_a_graph_without_outputs():
    assert message(ValueError, lambda: load(outputs=0)) == "nn.load: the bytes: the graph has no outputs"


def test_a_fixed_batch_says_how_to_export():
    model = nn.load(linear(1).SerializeToString())
    assert model(np.ones((1, 8), np.float32)).shape == (1, 4)
    x = np.ones((2, 8), np.float32)
    for call in (lambda: model(x), lambda: model.map(x), lambda: model.as_function("net")):
        said = message(ValueError, call)
        assert "dynamic_axes={'input': {0: 'batch'}}" in said and "dynamic_shapes" in said
    open_one = nn.load(linear().SerializeToString())
    assert "dynamic" not in message(ValueError, lambda: open_one(np.ones((2, 9), np.float32)))
    images = load(shape=("n", 3, 4, 4))
    assert "dynamic" not in message(ValueError, lambda: images.map(x))


NO_FUNCTIONS = {
    "2 outputs, not one of each": dict(text="y = Relu(x) z = Neg(x)", outputs=2),
    "its input must have shape (batch, features), but has ('n', 3, 4, 4)": dict(shape=("n", 3, 4, 4)),
    "its input must be float32 or float64, but is int64": dict(text="y = Neg(x)", element="int64"),
    "it has operators other than products": dict(),
    "its input has shape (2, 8), a fixed batch": dict(shape=(2, 8)),
}


@pytest.mark.parametrize("words", NO_FUNCTIONS)
def test_as_function_says_what_is_missing(words):
    model = load(**NO_FUNCTIONS[words])
    assert words in message(ValueError, lambda: model.as_function("net"))


def test_a_point_is_no_batch():
    """NumPy's apply_along_axis calls a model with one point at a time where the array is NumPy's."""
    model, a = nn.load(linear().SerializeToString()), RNG.normal(size=(8, 3, 5)).astype(np.float32)
    said = message(ValueError, lambda: np.apply_along_axis(model, 0, a))
    assert "x[None] is a batch of one" in said and "model.map(a, axis)" in said and "array of Iruka" in said
    want = iruka.asnumpy(model.map(a, 0))
    for got in (np.apply_along_axis(model, 0, iruka.asarray(a)), iruka.apply_along_axis(model, 0, a)):
        np.testing.assert_array_equal(iruka.asnumpy(got), want)


def test_dtypes_and_lists_say_what_to_do():
    model = nn.load(linear().SerializeToString())
    for x in (np.ones((2, 8)), iruka.ones((2, 8))):
        said = message(TypeError, lambda: model(x))
        assert said.endswith("must be float32, but is float64; x.astype('float32') casts an array")
        assert model(x.astype("float32")).shape == (2, 4)
    assert "must be float32, but is float64" in message(TypeError, lambda: model([[1.0] * 8]))


def test_methods_of_modules_that_models_have():
    model = nn.load(linear().SerializeToString(), device="cpu")
    assert model.eval() is model and model.cpu() is model and model.to("cpu", precision="float32") is model
    said = message(ValueError, lambda: model.to(precision="tf32"))
    assert "on cpu with precision 'float32'" in said and "nn.load(source, device=..., precision=...)" in said
    for name, words in (("state_dict", "onnx.numpy_helper"), ("train", "not trained"), ("half", "dtypes of its file")):
        assert words in message(AttributeError, lambda: getattr(model, name))
    assert message(AttributeError, lambda: model.xyz) == "'Model' object has no attribute 'xyz'"


def test_the_advice_for_weights_of_a_file(tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(linear(), path)
    said = message(AttributeError, lambda: nn.load(path).state_dict)
    text = said[said.index("{each.name") :].replace("onnx.load(path)", f"onnx.load({str(path)!r})")
    assert eval(text, {"onnx": onnx})["w"].shape == (4, 8)


def test_a_report_along_an_axis():
    model, a = nn.load(linear().SerializeToString()), RNG.normal(size=(3, 8, 5)).astype(np.float32)
    report = model.report(a, axis=1)
    (row,) = report.rows
    assert row.shape == (3, 4, 5) and row.name == "y" and row.warm > 0 and row.first > 0
    assert "map along axis 1, one kernel" in str(report)
    assert load().report(a, axis=1).rows[0].operators == "map along axis 1"


def test_a_report_names_layers():
    made = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 5), nn.Dropout())
    report = made.report(np.ones((1, 3, 4, 4), np.float32))
    names = [row.name for row in report.rows]
    assert names[0] == "0 to 2" and names[1] == "3" and set(names[2:]) == {"4"}
    assert str(report).splitlines()[0].split()[:2] == ["layers", "operators"]
    assert nn.load(linear().SerializeToString()).report(np.ones((1, 8), np.float32)).rows[0].name == "y"


def test_a_program_of_torch_has_no_empty_name():
    assert (
        str(nn.load(FOLDER / "program.pt2")).splitlines()[0].rstrip()
        == str(nn.load(FOLDER / "program.pt2")).splitlines()[0]
    )


def test_progress():
    """Numbers of points; what it raises ends the work; without points it is not called."""
    network, calls = nn.Sequential(nn.Linear(8, 4)), []
    for each in (network, nn.load(linear().SerializeToString())):
        a = iruka.ones((8, 400, 500), "float32")
        each.map(a, 0, progress=lambda *numbers: calls.append(numbers))
        assert calls[-1] == (200000, 200000)
        calls.clear()
        each.map(a[:, :0], 0, progress=lambda *numbers: calls.append(numbers))
        assert calls == []

        def stop(done, every):
            calls.append(done)
            raise KeyboardInterrupt("enough")

        with pytest.raises(KeyboardInterrupt, match="enough"):
            each.map(a, 0, progress=stop)
        assert len(calls) == 1
        calls.clear()
