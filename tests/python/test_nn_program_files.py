"""Archives of torch.export: what torch wrote, sizes that are known in a run alone, changes in place, and hostile ones."""

import io
import json
import pathlib
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import iruka
from iruka import nn
from torch_programs import Program, Size, Value, check, meta_of, program_of

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data" / "nn"
X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def refusal(program):
    data = program.save() if isinstance(program, Program) else program
    with pytest.raises(ValueError) as caught:
        nn.load(data)
    return str(caught.value)


def array_of(described):
    return np.array(described["values"], described["dtype"]).reshape(described["shape"])


def test_a_program_that_torch_wrote():
    text = json.loads((FOLDER / "program.pt2.json").read_text())
    state = {key: array_of(value) for key, value in text["state"]["mapping"]}
    x = array_of(text["input"])
    seen = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    y = np.einsum("ncyxij,ocij->noyx", seen, state["0.weight"]) + state["0.bias"].reshape(-1, 1, 1)
    mean, var, weight, bias = (
        state[f"1.{name}"].reshape(-1, 1, 1) for name in ("running_mean", "running_var", "weight", "bias")
    )
    y = np.maximum((y - mean) / np.sqrt(var + 1e-5) * weight + bias, 0)
    want = y.reshape(2, -1) @ state["4.weight"].T + state["4.bias"]
    for source in (FOLDER / "program.pt2", (FOLDER / "program.pt2").read_bytes()):
        model = nn.load(source, device="cpu")
        assert [str(t) for t in (*model.inputs, *model.outputs)] == [
            "Tensor(name='input', dtype=dtype('float32'), shape=(2, 3, 6, 6))",
            "Tensor(name='linear', dtype=dtype('float32'), shape=(2, 2))",
        ]
        np.testing.assert_allclose(iruka.asnumpy(model(x)), want, rtol=1e-5, atol=1e-6)


def test_a_program_of_torch_with_open_sizes():
    runs = json.loads((FOLDER / "sizes.pt2.json").read_text())["runs"]
    model = nn.load(FOLDER / "sizes.pt2", device="cpu")
    batch, length, width = model.inputs[0].shape
    assert isinstance(batch, str) and isinstance(length, str) and batch != length and width == 8
    for run in runs:
        for got, want in zip(model(array_of(run["input"])), run["outputs"], strict=True):
            np.testing.assert_allclose(iruka.asnumpy(got), array_of(want), rtol=1e-5, atol=1e-5)


def test_tensors_have_strides_and_constants_a_folder():
    program = Program()
    values = np.arange(24, dtype=np.float32)
    matrix = program.weight("matrix", values[:0])
    program.payloads["data/weights/weight_0"] = values.tobytes()
    program.weights["matrix"]["tensor_meta"] = meta_of((3, 4), np.float32, (1, 3), 2)
    program.tensors[matrix] = meta_of((3, 4), np.float32)
    constant = program.weight_input("table", (2,), np.int64, "tensor_constant")
    program.constants["table"] = {"path_name": "tensor_0", "use_pickle": False, "tensor_meta": meta_of((2,), np.int64)}
    program.payloads["data/constants/tensor_0"] = np.array([2, 0]).tobytes()
    x = program.input("x", (3, 4))
    y = program.node("add.Tensor", {"self": x, "other": matrix}, ((3, 4), np.float32))
    y = program.node("index_select.default", {"self": y, "dim": 0, "index": constant}, ((2, 4), np.float32))
    program.output(y)
    strided = np.lib.stride_tricks.as_strided(values[2:], (3, 4), (4, 12))
    check(program.save(), {"x": X}, [(X + strided)[[2, 0]]])


def test_sizes_of_a_run():
    program = Program()
    x = program.input("x", ("batch", 4))
    program.input("other", ("batch", "Mul(Integer(2), Symbol('batch', integer=True))"))
    batch = program.node("sym_size.int", {"self": x, "dim": 0}, None)
    twice = program.node("_operator.mul", {"a": batch, "b": 2}, None)
    half = program.node("_operator.floordiv", {"a": Size(twice), "b": 3}, None)
    less = program.node("_operator.sub", {"a": half, "b": 1}, None)
    flat = program.node("view.default", {"self": x, "size": [twice, 2]}, (("2*batch", 2), np.float32))
    wide = program.node("expand.default", {"self": x, "size": [2, batch, -1]}, ((2, "batch", 4), np.float32))
    part = program.node("slice.Tensor", {"self": x, "dim": 0, "start": 0, "end": less}, (("u", 4), np.float32))
    scaled = program.node("mul.Tensor", {"self": x, "other": batch}, (("batch", 4), np.float32))
    program.node("_assert_scalar.default", {"self": batch, "assert_msg": "it is positive"})
    program.output(flat, wide, part, scaled)
    model = nn.load(program.save(), device="cpu")
    assert [tensor.shape for tensor in model.inputs] == [("batch", 4), ("batch", None)]
    for n in (3, 6):
        x = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
        wanted = [x.reshape(2 * n, 2), np.stack([x, x]), x[: 2 * n // 3 - 1], x * n]
        check(program.save(), {"x": x, "other": np.ones((n, 6), np.float32)}, wanted)
    with pytest.raises(ValueError, match="batch is 3"):
        model(X, np.ones((2, 6), np.float32))


def test_outputs_have_names_and_are_arrays_of_their_own():
    program = Program()
    x = program.input("x", (3, 4))
    y = program.node("relu.default", {"self": x}, ((3, 4), np.float32))
    same = program.node("dropout.default", {"input": y, "p": 0.5, "train": False}, ((3, 4), np.float32))
    program.output(y, y, same, x)
    model = nn.load(program.save(), device="cpu")
    assert model.outputs[0].name == y and model.outputs[2].name == same
    assert len({tensor.name for tensor in model.outputs}) == 4
    first, second, third, fourth = model(X)
    first[:] = 7
    for got in (second, third):
        np.testing.assert_array_equal(iruka.asnumpy(got), np.maximum(X, 0))
    np.testing.assert_array_equal(iruka.asnumpy(fourth), X)


@pytest.mark.parametrize("function, target", [(np.mean, "adaptive_avg_pool2d"), (np.max, "adaptive_max_pool2d")])
@pytest.mark.parametrize("height, rows", [(3, 3), (Size("h"), "h")])
def test_adaptive_pooling_of_extents_that_a_run_decides(function, target, height, rows):
    program = Program()
    x = program.input("x", ("n", 2, "h", "w"))
    if rows == "h":
        program.node("sym_size.int", {"self": x, "dim": 2}, None)
        height = Size("v0_0")
    program.output(
        program.node(f"{target}.default", {"self": x, "output_size": [height, 4]}, (("n", 2, rows, 4), np.float32))
    )
    model = nn.load(program.save(), device="cpu")
    for shape in ((1, 2, 6, 9), (3, 2, 5, 4), (2, 2, 1, 11)):
        x = want = np.random.default_rng(1).normal(size=shape).astype(np.float32)
        for axis, out in ((2, shape[2] if rows == "h" else 3), (3, 4)):
            parts = [(k * shape[axis] // out, -(-(k + 1) * shape[axis] // out)) for k in range(out)]
            want = np.stack([function(np.take(want, range(a, b), axis), axis) for a, b in parts], axis)
        np.testing.assert_allclose(iruka.asnumpy(model(x)), want, rtol=0, atol=1e-6)


def test_places_of_adaptive_pooling_ask_for_known_extents():
    program = Program()
    x = program.input("x", ("n", 2, "w"))
    shape = ("n", 2, 3)
    program.output(
        *program.node("adaptive_max_pool1d.default", {"self": x, "output_size": [3]}, (shape, np.float32), (shape, int))
    )
    assert "for the places of the largest elements the result's extents must divide" in refusal(program)


def test_changes_in_place():
    program = Program()
    x = program.input("x", (3, 4))
    y = program.node("mul.Scalar", {"self": x, "other": 2}, ((3, 4), np.float32))
    program.node("relu_.default", {"self": y}, ((3, 4), np.float32))
    z = program.node("add.Tensor", {"self": x, "other": y}, ((3, 4), np.float32))
    program.output(z)
    check(program.save(), {"x": X}, [X + np.maximum(2 * X, 0)])
    # A view of what is changed would have to change, too.
    for use in ("view", "base"):
        program = Program()
        x = program.input("x", (3, 4))
        y = program.node("mul.Scalar", {"self": x, "other": 2}, ((3, 4), np.float32))
        view = program.node("view.default", {"self": y, "size": [12]}, ((12,), np.float32))
        program.node("relu_.default", {"self": y if use == "view" else view}, ((3, 4), np.float32))
        program.output(program.node("neg.default", {"self": view if use == "view" else y}, ((3, 4), np.float32)))
        assert "shares its elements with what 'v2_0' changes in place" in refusal(program)
    program = Program()
    weight = program.weight("w", X)
    program.output(program.node("add_.Tensor", {"self": weight, "other": 1}, ((3, 4), np.float32)))
    assert "changes 'p_w', and a model has no state that changes" in refusal(program)


def test_operators_that_are_missing_are_all_named():
    program = Program()
    x = program.input("x", (3, 4))
    y = program.node("fft_fft.default", {"self": x}, ((3, 4), np.float32))
    z = program.node("bernoulli.p", {"self": y, "p": 0.5}, ((3, 4), np.float32))
    program.node("unused.default", {"self": y}, ((3, 4), np.float32))
    program.output(program.node("relu.default", {"self": z}, ((3, 4), np.float32)))
    assert (
        "torch.export program: these operators are not known: 'torch.ops.aten.bernoulli.p' (nodes 'v1_0'); "
        "'torch.ops.aten.fft_fft.default' (nodes 'v0_0'). After run_decompositions()" in refusal(program)
    )


WRONG_CALLS = [
    ("relu.default", {}, "the argument 'self' is left out"),
    ("relu.default", {"self": 1.5, "more": 1}, "its argument 'more' is not known"),
    ("relu.default", {"self": Value("later")}, "uses 'later', which nothing before it gives"),
    ("relu.default", {"self": Value("v0_0")}, "uses 'v0_0', which nothing before it gives"),
    ("view.default", {"self": X, "size": "wide"}, "'size' is no list of sizes, but of kind 'as_string'"),
    ("view.default", {"self": X, "size": [Size("n")]}, "uses the size 'n', which nothing before it gives"),
    ("transpose.int", {"self": X, "dim0": 0, "dim1": 2}, "axis 2 is out of bounds for 2 axes"),
    ("transpose.int", {"self": X, "dim0": 0, "dim1": -(2**63)}, "axis -9223372036854775808 is out of bounds"),
    ("softmax.int", {"self": X, "dim": 1.5}, "an argument is no size, but of kind 'as_float'"),
    ("dropout.default", {"input": X, "p": 0.5, "train": True}, r"drops elements at random; call the module's eval"),
    ("conv2d.default", {"input": X, "weight": X}, "a weight of 2 axes is not known"),
    ("conv1d.default", {"input": X, "weight": X[None], "stride": [1, 2]}, "'stride' has 2 numbers for 1 axes"),
    ("conv1d.padding", {"input": X, "weight": X[None], "padding": "full"}, "padding 'full' is not known"),
    ("max_pool2d.default", {"self": X, "kernel_size": [2]}, "does not have channels and 2 spatial axes"),
    ("adaptive_avg_pool1d.default", {"self": X, "output_size": [2**62]}, "an axis of 4 to 4611686018427387904"),
    ("adaptive_max_pool1d.default", {"self": X, "output_size": [0]}, "an axis of 4 to 0 is not known"),
    ("adaptive_max_pool2d.default", {"self": X, "output_size": [3] * 3}, "'output_size' has 3 numbers for 2 axes"),
    ("layer_norm.default", {"input": X, "normalized_shape": [2**40, 2**40]}, "its shape is too large"),
    ("layer_norm.default", {"input": X, "normalized_shape": [2**40]}, "it needs 1099511627776 equal numbers"),
    ("index.Tensor", {"self": X, "indices": [X > 0]}, "indices must be integers"),
    ("pad.default", {"self": X, "pad": [1, 1, 1]}, "3 margins are not two for each of some of 2 axes"),
    ("pad.default", {"self": X, "pad": [1, 1], "mode": "odd"}, "the mode 'odd' is not known"),
    ("cat.default", {"tensors": []}, "'tensors' is no list of tensors"),
    ("cat.default", {"tensors": [X, None]}, "'tensors' has a None among its tensors"),
    ("stack.default", {"tensors": [X, None]}, "'tensors' has a None among its tensors"),
    ("einsum.default", {"equation": "ij,ij->ij", "tensors": [X, None]}, "'tensors' has a None among its tensors"),
    ("roll.default", {"self": X[0, 0, ...], "shifts": [1], "dims": [0]}, "the axis must have a known extent"),
    ("lstm.input", {"input": X[None], "hx": [X, None], "params": [X]}, "'hx' has a None among its tensors"),
    ("gru.input", {"input": X[None], "hx": X, "params": [X], "num_layers": 2**40}, "1 weights are not those of"),
    ("lstm.input", {"input": X[None], "hx": [X], "params": [X]}, "it has 1 states, not two"),
    ("upsample_nearest1d.vec", {"input": X[None], "scale_factors": [-1.0]}, "a factor is -1"),
    ("upsample_nearest1d.vec", {"input": X[None]}, "it lacks the result's size"),
    ("linalg_norm.default", {"self": X, "ord": 2}, "norms of matrices are not known"),
    ("batch_norm.default", {"input": X, "running_mean": X[0], "training": True}, "call the module's eval"),
    ("scaled_dot_product_attention.default", {"query": X, "key": X, "value": X}, "queries of 2 axes"),
]


@pytest.mark.parametrize("target, arguments, message", WRONG_CALLS)
def test_calls_that_are_wrong(target, arguments, message):
    data, _ = program_of(target, arguments, [X])
    with pytest.raises(ValueError, match=f"torch.export program: the node '.*aten.{target}.*{message}"):
        nn.load(data)


@pytest.mark.parametrize("shape", [(2**62,), (2**44, 2), ("n", 2**60), (0, 2**62)])
def test_tensors_that_no_memory_holds(shape):
    """What the program says of a tensor is refused by its name, whatever the tensor is."""
    program = Program()
    program.output(program.node("neg.default", {"self": program.input("huge", shape, np.float64)}, ((1,), np.float32)))
    assert "tensor_values.huge.sizes" in refusal(program) and "more bytes than any memory" in refusal(program)
    program = Program()
    x = program.input("x", (3,))
    program.output(program.node("new_ones.default", {"self": x, "size": [3]}, (shape, np.float64)))
    assert "tensor_values.v0_0.sizes" in refusal(program)


def test_weights_that_are_left_out_take_no_memory(tmp_path):
    program = Program()
    y = program.input("x", (1, 2**24))
    for _ in range(20):
        y = program.node("group_norm.default", {"input": y, "num_groups": 1}, ((1, 2**24), np.float32))
    program.output(y)
    (tmp_path / "net.pt2").write_bytes(program.save())
    script = """
import resource, sys
from iruka import nn
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
nn.load(sys.argv[1], device="cpu")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    command = [sys.executable, "-c", script, tmp_path / "net.pt2"]
    assert int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) < 200_000  # KiB


def test_a_number_cannot_be_split():
    number = np.array(1, np.float32)
    data, _ = program_of("split.Tensor", {"self": number, "split_size": 1}, [number, number], is_list=True)
    with pytest.raises(ValueError, match="the parts must have the axes of the whole, one at least"):
        nn.load(data)


def simple():
    program = Program()
    weight = program.weight("w", X)
    x = program.input("x", (3, 4))
    program.output(program.node("add.Tensor", {"self": x, "other": weight}, ((3, 4), np.float32)))
    return program


def config(**changes):
    def change(program):
        program.weights["w"].update(changes)

    return change


def payload_meta(**changes):
    def change(program):
        program.weights["w"]["tensor_meta"].update(changes)

    return change


def described(**changes):
    def change(program):
        program.tensors["x"].update(changes)

    return change


def ints(*values):
    return [{"as_int": value} for value in values]


def entry(name, data):
    def change(program):
        program.entries[name] = data

    return change


def set_to(name, value):
    return lambda program: setattr(program, name, value)


MODEL = "models/model.json"
WEIGHTS = "data/weights/model_weights_config.json"
HUGE = 2**63 - 1
HOSTILE = [
    (payload_meta(sizes=ints(3, 5)), "tensor 'w' of shape (3, 5), strides (4, 1) and offset 0 leaves its storage"),
    (payload_meta(sizes=ints(13, 1), strides=ints(1, 1)), "leaves its storage 'weight_0' of 12 elements"),
    (payload_meta(strides=ints(HUGE, HUGE)), "leaves its storage 'weight_0' of 12 elements"),
    (payload_meta(strides=ints(4, -1)), "tensor 'w' has the negative stride -1"),
    (payload_meta(strides=ints(1)), "tensor 'w' has 2 extents and 1 strides"),
    (payload_meta(sizes=ints(HUGE, HUGE)), "whose bytes are more than 2^63 - 1"),
    (payload_meta(sizes=ints(-1, 4)), "tensor 'w' has the negative extent -1"),
    (payload_meta(sizes=ints(*[1] * 33), strides=ints(*[1] * 33)), "tensor 'w' has 33 axes"),
    (payload_meta(storage_offset={"as_int": 1}), "and offset 1 leaves its storage"),
    (payload_meta(storage_offset={"as_int": -1}), "tensor 'w' has the negative offset -1"),
    (payload_meta(storage_offset={"as_int": 2**64 - 1}), "is the number 18446744073709551615, which exceeds 63 bits"),
    (payload_meta(sizes=[{"as_expr": {"expr_str": "n"}}, {"as_int": 4}]), "lacks the field 'as_int'"),
    (payload_meta(dtype=29), "is 29, a type that has no dtype here"),
    (payload_meta(dtype="float"), "is of JSON's type string, not an integer"),
    (payload_meta(dtype=5), "leaves its storage 'weight_0' of 6 elements"),
    (payload_meta(dtype=4), "tensor 'w' is int32 of shape (3, 4), and the program says something else"),
    (payload_meta(dtype=12, strides=ints(0, 1), storage_offset={"as_int": 3}), "among its bools"),
    (payload_meta(layout=1), "is sparse or of another layout"),
    (config(tensor_meta=None), "'data/weights/model_weights_config.json.config.w' lacks the field 'tensor_meta'"),
    (config(use_pickle=True), "tensor 'w' is a pickle, of which nothing is executed"),
    (config(path_name="../../archive_format"), "which leaves the folder 'data/weights/'"),
    (config(path_name="weight_9"), "is in 'data/weights/weight_9', which the archive lacks"),
    (config(path_name=7), "is of JSON's type number, not a text"),
    (lambda p: p.weights.clear(), "tensor 'w' is not among the archive's weights and constants"),
    (entry("data/weights/weight_0", b""), "leaves its storage 'weight_0' of 0 elements"),
    (entry("../weight", b""), "does not stay inside the archive"),
    (entry(WEIGHTS, None), f"the archive lacks '{WEIGHTS}'"),
    (entry(WEIGHTS, b"{}"), f"'{WEIGHTS}' lacks the field 'config'"),
    (entry(WEIGHTS, b"{"), f"'{WEIGHTS}' is no JSON from byte 2 on"),
    (entry(MODEL, b"[" * 100000 + b"]" * 100000), f"'{MODEL}' is nested more than 128 deep"),
    (entry(MODEL, b"[" + b"0," * 5000000 + b"0]"), f"'{MODEL}' has more than 4194304 values"),
    (entry(MODEL, b'{"schema_version": {"major": 1e999}}'), "has a number that no JSON may have"),
    (entry(MODEL, b"\xff"), f"'{MODEL}' is no JSON"),
    (entry(MODEL, b"[]"), "is of JSON's type array, not an object"),
    (entry("models/other.json", b"{}"), "the archive holds 2 programs, not one: 'model', 'other'"),
    (entry(MODEL, None), "the archive holds 0 programs, not one"),
    (entry("byteorder", b"big"), "its byte order is 'big'"),
    (set_to("format", b"pt3"), "the archive's format is 'pt3'; 'pt2' can be read"),
    (set_to("version", {"major": 7, "minor": 3}), "its schema is of version 7; version 8 is known. Export it again"),
    (set_to("version", {"major": 2**70}), "is of JSON's type number, not an integer"),
    (set_to("outputs", []), "it has no outputs"),
    (set_to("outputs", [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]), "no node gives the output 'y'"),
    (set_to("outputs", [{"user_output": {"arg": {"as_int": 1}}}]), "is an output of the kind 'as_int', not a tensor"),
    (set_to("outputs", [{"buffer_mutation": {"buffer_name": "b"}}]), "each run changes 'b'"),
    (set_to("outputs", [{}]), "has 0 fields where one tells its kind"),
    (lambda p: p.inputs.append({"token": {"arg": {"name": "t"}}}), "an input of the kind 'token'"),
    (lambda p: p.inputs.append(p.inputs[-1]), "gives 'x' a second time"),
    (lambda p: p.inputs.append({"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}}), "inputs must be tensors"),
    (lambda p: p.nodes.append(p.nodes[-1]), "gives 'v0_0' a second time"),
    (lambda p: p.nodes[0].update(inputs=3), "is of JSON's type number, not a list"),
    (lambda p: p.nodes[0].update(target=None), "lacks the field 'target'"),
    (lambda p: p.tensors.pop("x"), "it says nothing of the tensor 'x'"),
    (described(sizes=ints(-3, 4)), "is the negative extent -3"),
    (described(sizes=ints(*[1] * 40)), "has 40 axes; an array has 32 at most"),
    (described(dtype=0), "is 0, a type that has no dtype here"),
]


@pytest.mark.parametrize("change, message", HOSTILE)
def test_hostile_archives_are_refused(change, message):
    program = simple()
    change(program)
    assert message in refusal(program)


def test_a_cycle_is_refused():
    program = Program()
    x = program.input("x", (3, 4))
    program.node("add.Tensor", {"self": x, "other": Value("v1_0")}, ((3, 4), np.float32))
    program.output(program.node("neg.default", {"self": Value("v0_0")}, ((3, 4), np.float32)))
    assert "uses 'v1_0', which nothing before it gives" in refusal(program)


def archive(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    "entries, message",
    [
        ({"serialized_exported_program.json": b"{}"}, "an older torch saved; load it with torch and export it again"),
        ({"a/archive_format": b"pt2", "a/models/model.json": b"{}", "a/data/weights/model.pt": b""}, "an older torch"),
        ({"a/archive_format": b"pt2", "a/data/aotinductor/model/x.so": b""}, "compiled code, which is not executed"),
        ({"a/archive_format": b"pt2", "b/archive_format": b"pt2"}, "has two files 'archive_format'"),
        ({"a/models/model.json": b"{}"}, "has no file 'archive_format'"),
    ],
)
def test_archives_of_other_kinds(entries, message):
    assert message in refusal(archive(**entries))


def test_files_cut_short_are_refused():
    data = (FOLDER / "program.pt2").read_bytes()
    for size in range(4, len(data), 397):
        with pytest.raises(ValueError):
            nn.load(data[:size])
