"""Models whose nodes do not fit together: they fail by name, and never read outside of their arrays."""

import ctypes
import mmap
import os
import signal
import threading

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import iruka
from iruka import nn
from test_nn_operators import OPERATORS

node = helper.make_node
ONES = np.ones(1, np.float32)


def value(name, element=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, element, shape)


def graph(nodes, inputs, outputs, **initializers):
    constants = [onnx.numpy_helper.from_array(np.ascontiguousarray(x), name) for name, x in initializers.items()]
    inputs = [value(x) if isinstance(x, str) else x for x in inputs]
    return helper.make_graph(nodes, "graph", inputs, [value(x) for x in outputs], constants)


def load(nodes, inputs, outputs, opset=18, **initializers):
    proto = helper.make_model(
        graph(nodes, inputs, outputs, **initializers), opset_imports=[helper.make_opsetid("", opset)]
    )
    proto.ir_version = 10
    return nn.load(proto.SerializeToString(), device="cpu")


def run(model, *arrays):
    return iruka.asnumpy(model(*arrays))


# One value, used in several ways.


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_one_array_is_a_bias_by_channel_and_an_operand(op):
    b = np.arange(1, 5, dtype=np.float32)
    w = np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1)
    x = np.arange(32, dtype=np.float32).reshape(1, 4, 2, 4)
    model = load([node(op, ["x", "w", "b"], ["c"]), node("Mul", ["c", "b"], ["y"])], ["x"], ["y"], w=w, b=b)
    np.testing.assert_array_equal(run(model, x), (x + b.reshape(1, 4, 1, 1)) * b)
    wide = np.ones((1, 4, 2, 5), np.float32)
    with pytest.raises(ValueError, match="broadcast"):
        model(wide)


def test_one_bias_of_convolutions_with_different_axes():
    b = np.arange(1, 4, dtype=np.float32)
    x, z = np.ones((1, 3, 3), np.float32), np.zeros((1, 3, 3, 3), np.float32)
    nodes = [
        node("Conv", ["x", "w"], ["c"]),
        node("ChannelShift", ["c", "b"], ["d"], domain="iruka"),
        node("Add", ["d", "z"], ["e"]),
        node("ChannelShift", ["e", "b"], ["y"], domain="iruka"),
    ]
    model = load(nodes, ["x", "z"], ["y"], w=np.eye(3, dtype=np.float32).reshape(3, 3, 1), b=b)
    np.testing.assert_array_equal(run(model, x, z), x + b.reshape(3, 1) + z + b.reshape(3, 1, 1))


def test_a_bias_that_is_computed():
    x, b = np.ones((1, 3, 2, 2), np.float32), np.arange(3, dtype=np.float32)
    w = np.eye(3, dtype=np.float32).reshape(3, 3, 1, 1)
    nodes = [node("Neg", ["b"], ["n"]), node("Conv", ["x", "w", "n"], ["c"]), node("Relu", ["c"], ["y"])]
    np.testing.assert_array_equal(run(load(nodes, ["x", "b"], ["y"], w=w), x, b), np.maximum(x - b.reshape(3, 1, 1), 0))


def test_the_result_of_a_convolution_as_a_bias():
    x, w = np.ones((1, 3, 1), np.float32), np.eye(3, dtype=np.float32).reshape(3, 3, 1)
    nodes = [node("Conv", ["x", "w"], ["b"]), node("ChannelShift", ["x", "b"], ["y"], domain="iruka")]
    np.testing.assert_array_equal(run(load(nodes, ["x"], ["y"], w=w), x), 2 * x)


@pytest.mark.parametrize("branch", [True, False])
def test_outputs_do_not_share_constants_of_branches(branch):
    c = np.array([1, 2, 3], np.float32)
    then = graph([node("Constant", [], ["t"], value=onnx.numpy_helper.from_array(c))], [], ["t"])
    other = graph([], [], ["k"], k=c)
    model = load(
        [node("If", ["p"], ["y"], then_branch=then, else_branch=other)], [value("p", TensorProto.BOOL, [])], ["y"]
    )
    model(np.array(branch))[...] = 99
    np.testing.assert_array_equal(run(model, np.array(branch)), c)


# Nodes with graphs.

COUNT, GOES_ON = value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, [])


def loop_body(*outputs):
    return graph([node("Identity", ["c"], ["c2"]), node("Neg", ["s"], ["s2"])], [COUNT, GOES_ON, "s"], outputs)


def scan_body():
    return graph([node("Add", ["a", "b"], ["d"])], ["a", "b"], ["d"])


UNFIT = {
    "a missing branch": (node("If", ["p"], ["y"], else_branch=graph([], [], ["k"], k=ONES)), "lacks.*'then_branch'"),
    "a branch that is no graph": (node("If", ["p"], ["y"], then_branch=1, else_branch=2), "lacks.*'then_branch'"),
    "few outputs of a branch": (
        node(
            "If", ["p"], ["y", "z"], then_branch=graph([], [], ["k"], k=ONES), else_branch=graph([], [], ["k"], k=ONES)
        ),
        "then_branch has 1 outputs.*needs 2",
    ),
    "a loop without a body": (node("Loop", ["p", "", "x"], ["y"]), "lacks.*'body'"),
    "few outputs of a body": (node("Loop", ["p", "", "x"], ["y"], body=loop_body("c2")), "1 outputs.*needs 2"),
    "few scans of a body": (node("Loop", ["p", "", "x"], ["y", "z"], body=loop_body("c2", "s2")), "2 outputs.*needs 3"),
    "few inputs of a body": (
        node("Loop", ["p", "", "x", "x"], ["y"], body=loop_body("c2", "s2", "s2")),
        "3 inputs.*needs 4",
    ),
    "few inputs of a scan": (
        node("Scan", ["x", "x", "x"], ["y"], body=scan_body(), num_scan_inputs=1),
        "2 inputs.*needs 3",
    ),
    "states without outputs": (
        node(
            "Scan",
            ["x", "x", "x"],
            ["y"],
            body=graph([node("Add", ["a", "b"], ["d"])], ["a", "b", "e"], ["d"]),
            num_scan_inputs=1,
        ),
        "1 outputs.*needs 2",
    ),
    "short axes": (
        node("Scan", ["x", "x"], ["y"], body=scan_body(), num_scan_inputs=2, scan_input_axes=[0]),
        "scan_input_axes must be 2 integers",
    ),
    "long directions": (
        node("Scan", ["x", "x"], ["y"], body=scan_body(), num_scan_inputs=2, scan_output_directions=[0, 1]),
        "scan_output_directions must be 1 integers",
    ),
    "no scans": (node("Scan", ["x", "x"], ["y"], body=scan_body(), num_scan_inputs=0), "num_scan_inputs.*1 to 2"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_graphs_that_do_not_fit_their_node(case):
    made, message = UNFIT[case]
    with pytest.raises(ValueError, match=f"node 'y' .{made.op_type}.*{message}"):
        load([made], ["p", "x"], ["y"])


# What loops and scans collect in no step: the declared shape, or that of a step, behind an axis of extent 0.

COLLECTED = {
    "declared": value("d", TensorProto.DOUBLE, [2, 4]),
    "of unknown extents": value("d", TensorProto.DOUBLE, ["a", "b"]),
    "of unknown rank": value("d", TensorProto.DOUBLE),
}


def collecting(declared, inputs):
    """A body that collects the doubles of a state or an element, as a matrix."""
    nodes = [node("Cast", ["s"], ["t"], to=TensorProto.DOUBLE), node("Add", ["t", "t"], ["d"])]
    kept = [node("Identity", ["c"], ["c2"])] if len(inputs) == 3 else []
    made = graph([*kept, node("Identity", ["s"], ["s2"]), *nodes], inputs, ["c2", "s2"] if kept else [])
    made.output.append(COLLECTED[declared])
    return made


@pytest.mark.parametrize("declared", COLLECTED)
@pytest.mark.parametrize("steps, goes_on", [(0, True), (3, False), (-1, True), (2, True)])
def test_a_loop_collects_what_its_body_declares(declared, steps, goes_on):
    body = collecting(declared, [COUNT, GOES_ON, "s"])
    inputs = [value("n", TensorProto.INT64, []), value("p", TensorProto.BOOL, []), "x"]
    model = load([node("Loop", ["n", "p", "x"], ["s", "y"], body=body)], inputs, ["s", "y"])
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    state, got = (iruka.asnumpy(each) for each in model(np.array(steps), np.array(goes_on), x))
    np.testing.assert_array_equal(state, x)
    count = max(steps, 0) if goes_on else 0
    assert got.dtype == np.float64 and got.shape == (count, 2, 4)
    np.testing.assert_array_equal(got, np.broadcast_to(2.0 * x, (count, 2, 4)))


@pytest.mark.parametrize("declared", COLLECTED)
@pytest.mark.parametrize("axis, shape", [(0, (0, 2, 4)), (1, (2, 0, 4)), (-1, (2, 4, 0))])
def test_a_scan_of_nothing(declared, axis, shape):
    made = node(
        "Scan",
        ["x"],
        ["y"],
        body=collecting(declared, ["s"]),
        num_scan_inputs=1,
        scan_input_axes=[1],
        scan_output_axes=[axis],
    )
    got = run(load([made], ["x"], ["y"]), np.ones((2, 0, 4), np.float32))
    assert got.dtype == np.float64 and got.shape == shape
    wanted = np.stack([np.full((2, 4), 2.0)] * 3, axis)
    np.testing.assert_array_equal(run(load([made], ["x"], ["y"]), np.ones((2, 3, 4), np.float32)), wanted)


def test_sequences_of_different_lengths():
    model = load([node("Scan", ["x", "z"], ["y"], body=scan_body(), num_scan_inputs=2)], ["x", "z"], ["y"])
    with pytest.raises(ValueError, match="sequences of 400000 and of 3 steps"):
        model(np.ones(400000, np.float32), np.ones(3, np.float32))


def test_an_endless_loop_is_interrupted():
    model = load([node("Loop", ["", "", "x"], ["y"], body=loop_body("c2", "s2"))], ["x"], ["y"])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model(ONES)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


# Recurrent layers.

BAD_STATES = {
    "B of one direction": ({"b": (1, 8 * 4)}, "B must have shape .2, 32."),
    "a short B": ({"b": (2, 8)}, "B must have shape"),
    "initial_h of one direction": ({"h": (1, 1, 4)}, "initial_h must have shape .2, 1, 4."),
    "initial_c of another batch": ({"c": (2, 3, 4)}, "initial_c must have shape"),
    "short peepholes": ({"p": (2, 3)}, "P must have shape .2, 12."),
    "long sequence_lens": ({"l": (5,)}, "sequence_lens must have shape .1,."),
}


@pytest.mark.parametrize("case", BAD_STATES)
def test_shapes_of_a_recurrent_layer(case):
    shapes, message = BAD_STATES[case]
    inputs = ["x", "w", "r"] + [name if name in shapes else "" for name in "blhcp"]
    made = [value(name, TensorProto.INT32 if name == "l" else TensorProto.FLOAT) for name in shapes]
    w, r = np.zeros((2, 16, 3), np.float32), np.zeros((2, 16, 4), np.float32)
    model = load([node("LSTM", inputs, ["y"], direction="bidirectional", hidden_size=4)], ["x", *made], ["y"], w=w, r=r)
    arrays = [np.ones(shape, np.int32 if name == "l" else np.float32) for name, shape in shapes.items()]
    with pytest.raises(ValueError, match=message):
        model(np.ones((2, 1, 3), np.float32), *arrays)


def test_an_unknown_direction():
    model = load([node("RNN", ["x", "w", "w"], ["y"], direction="up")], ["x"], ["y"], w=np.ones((1, 3, 3), np.float32))
    with pytest.raises(ValueError, match="direction must be.*'up'"):
        model(np.ones((1, 1, 3), np.float32))


# Windows.


def convolution(w, **attributes):
    return load([node("Conv", ["x", "w"], ["y"], **attributes)], ["x"], ["y"], w=w)


def test_margins_of_a_wide_window():
    model = convolution(np.ones((1, 1, 1, 5), np.float32), dilations=[1, 2**30], auto_pad="SAME_UPPER")
    with pytest.raises(ValueError, match="SAME_UPPER makes margins of 42949"):
        model(np.ones((1, 1, 4, 8), np.float32))


@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool"])
def test_places_beyond_32_bits(op):
    far = {"dilations": [1, 2**30], "strides": [1, 2**30], "pads": [0, 2**30, 0, 2**30], "kernel_shape": [1, 3]}
    if op == "AveragePool":
        far["count_include_pad"] = 1
    x = np.arange(1, 33, dtype=np.float32).reshape(1, 1, 4, 8)
    inputs, weights = (["x", "w"], {"w": np.ones((1, 1, 1, 3), np.float32)}) if op == "Conv" else (["x"], {})
    model = load([node(op, inputs, ["y"], **far)], ["x"], ["y"], opset=19, **weights)
    wanted = x[..., :1] / (3 if op == "AveragePool" else 1)
    np.testing.assert_allclose(run(model, x), wanted, rtol=1e-6)


def before_a_guard(shape):
    """Ones that end where memory ends."""
    count, page = int(np.prod(shape)), mmap.PAGESIZE
    length = (4 * count + page - 1) // page * page
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    begin = libc.mmap(None, length + page, 3, 0x22, -1, 0)
    assert libc.mprotect(begin + length, page, 0) == 0
    numbers = (ctypes.c_float * count).from_address(begin + length - 4 * count)
    x = np.frombuffer(numbers, np.float32).reshape(shape)
    x[...] = 1
    return x


@pytest.mark.parametrize("shape", [(1, 5000, 8, 1), (2, 3000, 5, 3), (3, 64, 7, 7)])
def test_a_convolution_ends_with_its_input(shape):
    model = convolution(np.ones((1, shape[1], 1, 1), np.float32))
    got = run(model, before_a_guard(shape))
    np.testing.assert_array_equal(got, np.full((shape[0], 1, *shape[2:]), shape[1], np.float32))


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("outputs", [["y"], ["y", "i"]])
def test_pooling_of_an_empty_axis(op, outputs):
    if op != "MaxPool" and len(outputs) > 1:
        return
    model = load([node(op, ["x"], outputs, kernel_shape=[2], pads=[1, 1])], ["x"], ["y"])
    with pytest.raises(ValueError, match="no elements to pool.*1, 3, 0"):
        model(np.ones((1, 3, 0), np.float32))


@pytest.mark.parametrize("layer", [nn.AdaptiveMaxPool2d, nn.AdaptiveAvgPool2d])
def test_adaptive_pooling_of_an_empty_axis(layer):
    with pytest.raises(ValueError, match="no elements to pool.*1, 3, 0, 5"):
        nn.Sequential(layer(2))(iruka.ones((1, 3, 0, 5), dtype="float32"))


# What a batch norm is folded into.


@pytest.mark.parametrize(
    "op, inputs, shape",
    [
        ("Conv", ["x"], ()),
        ("Conv", ["x", "w"], ()),
        ("Conv", ["x", "w"], (4,)),
        ("ConvTranspose", ["x", "w"], ()),
        ("ConvTranspose", ["x", "w"], (4,)),
        ("Gemm", ["x"], ()),
        ("Gemm", ["x", "w"], (4,)),
        ("Gemm", ["x", "w", "b"], (4, 4)),
    ],
)
def test_a_batch_norm_behind_weights_that_do_not_fit(op, inputs, shape):
    nodes = [node(op, inputs, ["c"]), node("BatchNormalization", ["c", "v", "v", "v", "v"], ["y"])]
    v = np.ones(4, np.float32)
    model = load(nodes, ["x"], ["y"], v=v, w=np.ones(shape, np.float32), b=np.ones((3, 1), np.float32))
    with pytest.raises(ValueError):
        model(np.ones((2, 4), np.float32))


def test_numbers_of_a_batch_norm_that_differ_in_size():
    nodes = [
        node("Conv", ["x", "w"], ["c"]),
        node("BatchNormalization", ["c", "v", "u", "v", "v"], ["y"]),
    ]
    w, v, u = np.ones((4, 4, 1, 1), np.float32), np.ones(4, np.float32), np.ones(3, np.float32)
    model = load(nodes, ["x"], ["y"], w=w, v=v, u=u)
    with pytest.raises(ValueError):
        model(np.ones((1, 4, 2, 2), np.float32))


@pytest.mark.parametrize(
    "slopes, shape",
    [((3,), (2, 1)), ((5, 1, 1), (2, 1, 4, 3)), ((2, 1, 1, 1), (1, 5, 4, 3)), ((1, 1), (3,)), ((0,), (4, 1))],
)
def test_slopes_never_extend_their_input(slopes, shape):
    model = load([node("PRelu", ["x", "s"], ["y"])], ["x"], ["y"], s=np.full(slopes, 0.5, np.float32))
    with pytest.raises(ValueError, match="does not broadcast"):
        model(np.ones(shape, np.float32))


def test_slopes_that_a_convolution_gives():
    """The input is then a constant, whose shape is the result's."""
    w = np.ones((1, 1, 1, 1), np.float32)
    nodes = [node("Conv", ["x", "w"], ["s"]), node("PRelu", ["c", "s"], ["y"])]
    model = load(nodes, ["x"], ["y"], w=w, c=np.full((1, 1, 2, 2), -3, np.float32))
    np.testing.assert_array_equal(run(model, np.full((1, 1, 2, 2), 2, np.float32)), np.full((1, 1, 2, 2), -6))
    with pytest.raises(ValueError, match="does not broadcast"):
        model(np.ones((2, 1, 2, 2), np.float32))


@pytest.mark.parametrize("channels", [1, 2, 5])
@pytest.mark.parametrize("behind", ["x", "r"])
def test_numbers_for_channels_that_are_not_there(channels, behind):
    v = np.ones(4, np.float32)
    nodes = [node("Relu", ["x"], ["r"]), node("BatchNormalization", [behind, "v", "v", "v", "v"], ["y"])]
    model = load(nodes, ["x"], ["y"], v=v)
    with pytest.raises(ValueError, match="4 numbers for channels"):
        model(np.ones((2, channels, 3), np.float32))
    assert run(model, np.ones((2, 4, 3), np.float32)).shape == (2, 4, 3)


def test_narrow_weights_do_not_overflow_with_a_batch_norm():
    half = value("x", TensorProto.FLOAT16)
    w, one, zero = np.full((1, 1, 1, 1), 300, np.float16), np.ones(1, np.float16), np.zeros(1, np.float16)
    nodes = [node("Conv", ["x", "w"], ["c"]), node("BatchNormalization", ["c", "s", "z", "z", "z"], ["y"])]
    proto = helper.make_model(graph(nodes, [half], [], w=w, s=one, z=zero), opset_imports=[helper.make_opsetid("", 18)])
    proto.graph.output.append(value("y", TensorProto.FLOAT16))
    proto.ir_version = 10
    got = run(nn.load(proto.SerializeToString(), device="cpu"), np.full((1, 1, 1, 1), 1e-3, np.float16))
    np.testing.assert_allclose(got.ravel(), 0.3 / np.sqrt(1e-5), rtol=5e-3)


def test_parts_whose_sum_overflows():
    most = 2**63 - 1
    model = load([node("Split", ["x", "s"], list("abcd"))], ["x"], ["a"], s=np.array([1, most, most, 11]))
    with pytest.raises(ValueError, match="do not make 4 outputs"):
        model(np.ones(10, np.float32))


@pytest.mark.parametrize("op", OPERATORS)
def test_nodes_that_lack_inputs(op):
    """Each is refused, or gives something; what it lacks is an input that is left out, or an end of the list."""
    x = np.ones((1, 2, 3), np.float32)
    for opset in (8, 13, 21):
        for inputs in ([], [""], ["x"], ["", "x"], ["x", ""], ["x", "", ""], ["x", "", "x"], ["x", "x"]):
            for outputs in (["y"], ["", "y"]):
                try:
                    run(load([node(op, inputs, outputs)], ["x"], ["y"], opset=opset), x)
                except (ValueError, TypeError, IndexError, AttributeError):
                    pass  # AttributeError: a tuple of outputs is no array


@pytest.mark.parametrize("op", ["Conv", "Gemm"])
@pytest.mark.parametrize(
    "attributes",
    [
        {"numbers": [1.5] * 100_000},
        {"function": 99, "numbers": [1.0]},
        {"body": 3, "place": 7},
        {"body": graph([node("Relu", ["x"], ["y"])], ["x"], ["y"])},
        {"is_wide": 1},
    ],
)
def test_attributes_with_names_of_the_library(op, attributes):
    """An operator of ONNX has none of them; what a file says there has no effect."""
    x = np.full((3, 3) if op == "Gemm" else (1, 3, 4, 4), -1, np.float32)
    w = np.ones((3, 3) if op == "Gemm" else (2, 3, 1, 1), np.float32)
    model = load([node(op, ["x", "w"], ["c"], **attributes)], ["x"], ["c"], w=w)
    assert (run(model, x) == -3).all()
    own = {f"iruka.{name}": value for name, value in attributes.items()}
    with pytest.raises(ValueError, match="there is no attribute 'iruka"):
        load([node(op, ["x", "w"], ["c"], **own)], ["x"], ["c"], w=w)


def test_bounds_that_are_too_many():
    names = [f"q{k}" for k in range(20)]
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Clip", ["c", *names], ["y"])]
    constants = {name: np.float32(0) for name in names}
    with pytest.raises(ValueError, match="takes 3 inputs, not 21"):
        load(nodes, ["x"], ["y"], w=np.ones((1, 1, 1, 1), np.float32), **constants)


# Attributes and numbers that mean nothing.

BAD_ATTRIBUTES = [
    (node("LeakyRelu", ["x"], ["y"], alpha=2), "'alpha' must be a number"),
    (node("Gelu", ["x"], ["y"], approximate=1), "'approximate' must be a text"),
    (node("Gelu", ["x"], ["y"], approximate="cubic"), "approximate must be none or tanh, not 'cubic'"),
    (node("Mod", ["x", "x"], ["y"], fmod=1.0), "'fmod' must be an integer"),
    (node("BitShift", ["x", "x"], ["y"], direction="UP"), "direction must be LEFT or RIGHT, not 'UP'"),
]


@pytest.mark.parametrize("made, message", BAD_ATTRIBUTES)
def test_attributes_of_pointwise_operators(made, message):
    for nodes in ([made], [node("Neg", ["x"], ["p"]), made]):
        with pytest.raises(ValueError, match=f"node 'y' .{made.op_type}.*{message}"):
            load(nodes, ["x"], ["y"])


@pytest.mark.parametrize("op", ["AveragePool", "Conv", "ConvTranspose"])
def test_an_unknown_margin(op):
    inputs = ["x"] if op == "AveragePool" else ["x", "w"]
    model = load(
        [node(op, inputs, ["y"], kernel_shape=[2], auto_pad="SAME")], ["x"], ["y"], w=np.ones((1, 1, 2), np.float32)
    )
    with pytest.raises(ValueError, match="auto_pad must be NOTSET.*'SAME'"):
        model(np.ones((1, 1, 3), np.float32))


@pytest.mark.parametrize("numbers", [(0, 5, 0), (0, 1e30, 1), (0, np.nan, 1), (0, np.inf, 1)])
def test_a_range_without_end(numbers):
    model = load([node("Range", list("abc"), ["y"])], [value(x, TensorProto.DOUBLE, []) for x in "abc"], ["y"])
    with pytest.raises(ValueError, match="is no range of numbers"):
        model(*(np.array(x, np.float64) for x in numbers))


def test_a_negative_scale_of_attention():
    rng = np.random.default_rng(3)
    q, k, v = (rng.normal(size=(1, 1, 2, 3)).astype(np.float32) for _ in range(3))
    model = load([node("Attention", ["q", "k", "v"], ["y"], scale=-1.5)], list("qkv"), ["y"], opset=23)
    weights = np.exp(-1.5 * q @ k.swapaxes(2, 3))
    np.testing.assert_allclose(run(model, q, k, v), weights / weights.sum(-1, keepdims=True) @ v, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("batch", [-1, 2, 2**40])
def test_batch_axes_of_indices(batch):
    model = load([node("GatherND", ["x", "i"], ["y"], batch_dims=batch)], ["x", value("i", TensorProto.INT64)], ["y"])
    with pytest.raises(ValueError, match=f"batch_dims is {batch}"):
        model(np.ones((1, 3), np.float32), np.zeros((1, 1), np.int64))


@pytest.mark.parametrize(
    "shape, wanted, kept",
    [((0, 3, 4), (0, 12), [0, -1]), ((0, 3, 4), (0, 2, 6), [0, 2, -1]), ((2, 0, 4), (2, 0), [0, -1])],
)
def test_the_unknown_extent_of_an_empty_batch(shape, wanted, kept):
    model = load([node("Reshape", ["x", "s"], ["y"])], ["x"], ["y"], s=np.array(kept))
    assert run(model, np.ones(shape, np.float32)).shape == wanted


def test_the_unknown_extent_of_nothing():
    model = load([node("Reshape", ["x", "s"], ["y"], allowzero=1)], ["x"], ["y"], s=np.array([0, -1]))
    with pytest.raises(ValueError):
        model(np.ones((0, 3), np.float32))


def test_a_module_flattens_an_empty_batch():
    module = nn.Sequential(nn.Flatten(), nn.Linear(12, 2))
    assert module(iruka.ones((0, 3, 4), dtype="float32")).shape == (0, 2)


def test_a_function_of_another_version():
    function = helper.make_function(
        "d", "F", ["a"], ["b"], [node("Softmax", ["a"], ["b"], axis=1)], [helper.make_opsetid("", 12)]
    )
    proto = helper.make_model(
        graph([node("F", ["x"], ["y"], domain="d")], ["x"], ["y"]),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("d", 1)],
        functions=[function],
    )
    proto.ir_version = 10
    with pytest.raises(ValueError, match="function 'F' uses version 12 of the operator set, but the model 18"):
        nn.load(proto.SerializeToString(), device="cpu")


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("pads", [(2**63 - 1, 2**63 - 1), (2**63 - 1, 0), (-(2**63), -(2**63)), (0, 2**62)])
def test_pads_that_overflow(mode, pads):
    model = load([node("Pad", ["x", "p"], ["y"], mode=mode)], ["x"], ["y"], opset=19, p=np.array(pads))
    with pytest.raises(ValueError, match="a pad of axis 0 is"):
        model(np.ones(3, np.float32))


# Operands that are repeated to the shape of another one, which they may not extend.

WEIGHT = np.ones((4, 3), np.float32)
WIDE = {
    "C of a Gemm": (
        node("Gemm", ["x", "w", "c"], ["y"]),
        (1, 4),
        "C of shape .5, 3. does not broadcast to shape .1, 3.",
    ),
    "a scaled C": (
        node("Gemm", ["x", "w", "c"], ["y"], beta=2.0),
        (1, 4),
        "C of shape .5, 3. does not broadcast to shape .1, 3.",
    ),
    "a scale": (node("LayerNormalization", ["x", "c"], ["y"]), (1, 3), "the scale of shape .5, 3. does not broadcast"),
    "a shift": (
        node("LayerNormalization", ["x", "o", "c"], ["y"]),
        (1, 3),
        "the bias of shape .5, 3. does not broadcast",
    ),
    "a root's scale": (node("RMSNormalization", ["x", "c"], ["y"]), (1, 3), "the scale of shape .5, 3. does not"),
}


@pytest.mark.parametrize("is_constant", [True, False])
@pytest.mark.parametrize("case", WIDE)
def test_operands_that_would_extend_the_result(case, is_constant):
    made, shape, message = WIDE[case]
    c = np.ones((5, 3), np.float32)
    constants = {"w": WEIGHT, "o": np.ones(3, np.float32), **({"c": c} if is_constant else {})}
    model = load([made], ["x"] if is_constant else ["x", "c"], ["y"], opset=23, **constants)
    more = () if is_constant else (c,)
    with pytest.raises(ValueError, match=message):
        model(np.ones(shape, np.float32), *more)
    assert run(model, np.ones((5, shape[1]), np.float32), *more).shape == (5, 3)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 1), (1, 1), (), (1,), (2, 3)])
@pytest.mark.parametrize("is_constant", [True, False])
def test_operands_that_fit(shape, is_constant):
    rng = np.random.default_rng(5)
    x, c = rng.normal(size=(2, 4)).astype(np.float32), rng.normal(size=shape).astype(np.float32)
    made = [node("Gemm", ["x", "w", "c"], ["g"]), node("Relu", ["g"], ["y"])]
    constants = {"w": WEIGHT, **({"c": c} if is_constant else {})}
    model = load(made, ["x"] if is_constant else ["x", "c"], ["y"], **constants)
    np.testing.assert_allclose(
        run(model, x, *(() if is_constant else (c,))), np.maximum(x @ WEIGHT + c, 0), rtol=0, atol=1e-5
    )


def test_constants_of_functions_count():
    """Functions that call each other multiply what the graphs within them hold."""
    many = [onnx.numpy_helper.from_array(ONES, f"k{number}") for number in range(3000)]
    branch = helper.make_graph([node("Identity", ["k0"], ["b"])], "branch", [], [value("b")], many)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("d", 1)]
    functions = [
        helper.make_function(
            "d", "F0", ["a"], ["z"], [node("If", ["a"], ["z"], then_branch=branch, else_branch=branch)], opsets
        )
    ]
    for level in range(1, 6):
        nodes = [node(f"F{level - 1}", ["a"], [f"p{k}"], domain="d") for k in range(5)]
        nodes.append(node("Sum", [f"p{k}" for k in range(5)], ["z"]))
        functions.append(helper.make_function("d", f"F{level}", ["a"], ["z"], nodes, opsets))
    proto = helper.make_model(
        graph([node("F5", ["p"], ["y"], domain="d")], [value("p", TensorProto.BOOL, [])], ["y"]),
        opset_imports=opsets,
        functions=functions,
    )
    proto.ir_version = 10
    with pytest.raises(ValueError, match="its functions have more than 1048576 nodes, constants and declared values"):
        nn.load(proto.SerializeToString(), device="cpu")


# Outputs that operators do not have.


@pytest.mark.parametrize("op", ["Acosh", "Mul", "Where"])
def test_a_second_output_of_a_pointwise_operator(op):
    inputs = ["x"] * {"Acosh": 1, "Mul": 2, "Where": 3}[op]
    with pytest.raises(ValueError, match=f"node 'y' .{op}.: it has 2 outputs, but the operator gives one"):
        load([node(op, inputs, ["y", "z"])], ["x"], ["y"])


@pytest.mark.parametrize(
    "made",
    [
        node("Conv", ["x", "w", "b"], ["y", "z"]),
        node("ConstantOfShape", ["n"], ["y", "z"]),
        node("Reshape", ["w", "n"], ["y", "z"]),
    ],
)
def test_an_output_that_no_operator_gives(made):
    constants = {"w": np.ones((1, 1, 1), np.float32), "b": ONES, "n": np.array([1, 1, 1])}
    model = load([made, node("Neg", ["z"], ["u"]), node("Add", ["y", "u"], ["v"])], ["x"], ["v"], **constants)
    with pytest.raises(ValueError, match="input 0 is left out, which the operator needs|leaves out"):
        model(np.ones((1, 1, 2), np.float32))
    fine = load([made], ["x"], ["y"], **constants)
    assert run(fine, np.ones((1, 1, 2), np.float32)).ndim == 3


@pytest.mark.parametrize("op", ["Relu", "Dropout", "Conv"])
def test_outputs_that_are_left_out(op):
    inputs = ["x", "w", "b"] if op == "Conv" else ["x"]
    model = load(
        [node(op, inputs, ["y", ""])], ["x"], ["y"], w=np.ones((1, 1, 1), np.float32), b=np.zeros(1, np.float32)
    )
    np.testing.assert_array_equal(run(model, np.ones((1, 1, 2), np.float32)), np.ones((1, 1, 2)))


@pytest.mark.parametrize("op", ["BitwiseAnd", "BitwiseNot"])
def test_dtypes_that_an_operator_does_not_take(op):
    model = load([node(op, ["x"] * (1 if op == "BitwiseNot" else 2), ["y"])], ["x"], ["y"])
    with pytest.raises(TypeError, match=f"node '{op}' .Pointwise.: it does not take inputs of these dtypes.*float32"):
        model(ONES)


@pytest.mark.parametrize("place", [-(2**63), -(2**63) + 1, 2**63 - 1, 2**62])
@pytest.mark.parametrize("op", ["Gather", "GatherElements", "GatherND"])
def test_places_whose_offsets_overflow(op, place):
    """The sanitizers' builds see the overflow, which all builds must refuse."""
    indices = np.array([[0, place]] if op == "GatherND" else [[place, 0]])
    model = load([node(op, ["x", "i"], ["y"])], ["x"], ["y"], i=indices)
    with pytest.raises(IndexError, match=f"node 'y' .{op}.*{place}.*out of bounds"):
        model(np.ones((3, 100, 5), np.float32) if op != "GatherElements" else np.ones((3, 2), np.float32))
