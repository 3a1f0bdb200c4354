"""Whole networks as ONNX models with seeded weights, in float32 and, of the same weights, in float64."""

import numpy as np
import onnx
from onnx import TensorProto, helper

MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


class Net:
    """A model in the making: methods add nodes and give the names of their outputs."""

    def __init__(self, name, dtype):
        self.name, self.dtype = name, np.dtype(dtype)
        self.rng = np.random.default_rng(sum(map(ord, name)))
        self.nodes, self.inputs, self.initializers, self.arrays = [], [], [], {}

    def _new(self):
        return f"v{len(self.nodes) + len(self.initializers)}"

    def input(self, *shape, symbols=None, integers=None):
        """A random input; `integers`: below that number."""
        name = f"x{len(self.inputs)}"
        if integers:
            array = self.rng.integers(0, integers, shape)
        else:
            array = self.rng.normal(size=shape).astype(np.float32).astype(self.dtype)
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, element, symbols or shape))
        self.arrays[name] = array
        return name

    def constant(self, value):
        name = self._new()
        self.initializers.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape, scale=None):
        scale = scale or 1 / np.sqrt(max(1, np.prod(shape[1:])))
        return self.constant((scale * self.rng.normal(size=shape)).astype(np.float32).astype(self.dtype))

    def positive(self, *shape):
        return self.constant(self.rng.uniform(0.5, 1.5, shape).astype(np.float32).astype(self.dtype))

    def number(self, value):
        return self.constant(np.asarray(value, self.dtype))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"{self._new()}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def graph(self, nodes_of, inputs, outputs):
        """A graph for an attribute."""
        return helper.make_graph(nodes_of, "body", inputs, outputs)

    def conv(self, x, inputs, outputs, kernel=(3, 3), groups=1, bias=True, **attributes):
        w = self.weight(outputs, inputs // groups, *kernel)
        return self.op("Conv", x, w, *([self.weight(outputs)] if bias else []), group=groups, **attributes)

    def norm(self, x, channels):
        numbers = [self.positive(channels), self.weight(channels), self.weight(channels), self.positive(channels)]
        return self.op("BatchNormalization", x, *numbers)

    def linear(self, x, inputs, outputs):
        return self.op("Add", self.op("MatMul", x, self.weight(inputs, outputs)), self.weight(outputs))

    def finish(self, *outputs, opset=23):
        element = helper.np_dtype_to_tensor_dtype(self.dtype)
        infos = [
            o if isinstance(o, onnx.ValueInfoProto) else helper.make_tensor_value_info(o, element, None)
            for o in outputs
        ]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, infos, self.initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        return made, self.arrays


@model
def lenet(net):
    x = net.input(4, 1, 28, 28, symbols=["n", 1, 28, 28])
    x = net.op("MaxPool", net.op("Tanh", net.conv(x, 1, 6, (5, 5), pads=[2] * 4)), kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("AveragePool", net.op("Tanh", net.conv(x, 6, 16, (5, 5))), kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Flatten", x)
    x = net.op("Relu", net.op("Gemm", x, net.weight(120, 400), net.weight(120), transB=1))
    return net.finish(net.op("Softmax", net.op("Gemm", x, net.weight(10, 120), net.weight(10), transB=1)))


@model
def vgg(net):
    x, inputs = net.input(2, 3, 32, 32), 3
    for outputs in (8, 16):
        for _ in range(2):
            x = net.op("Relu", net.norm(net.conv(x, inputs, outputs, bias=False, pads=[1] * 4), outputs))
            inputs = outputs
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    return net.finish(net.op("GlobalAveragePool", x))


@model
def residual(net):
    x = net.op("Relu", net.conv(net.input(2, 3, 17, 17), 3, 8, (7, 7), strides=[2, 2], auto_pad="SAME_UPPER"))
    for stride in (1, 2):
        y = net.op("Relu", net.norm(net.conv(x, 8, 8, pads=[1] * 4, strides=[stride] * 2), 8))
        y = net.norm(net.conv(y, 8, 8, pads=[1] * 4), 8)
        side = net.norm(net.conv(x, 8, 8, (1, 1), strides=[stride] * 2), 8) if stride > 1 else x
        x = net.op("Relu", net.op("Add", y, side))
    return net.finish(net.op("ReduceMean", x, net.constant([2, 3])))


@model
def depthwise(net):
    """MobileNet: depthwise convolutions, squeeze and excitation, hard swish."""
    x = net.op("HardSwish", net.conv(net.input(2, 3, 20, 24), 3, 16, strides=[2, 2], pads=[1] * 4))
    x = net.norm(net.conv(x, 16, 16, groups=16, pads=[1] * 4), 16)
    squeezed = net.op("Relu", net.conv(net.op("GlobalAveragePool", x), 16, 4, (1, 1)))
    x = net.op("Mul", x, net.op("HardSigmoid", net.conv(squeezed, 4, 16, (1, 1))))
    x = net.op("HardSwish", net.norm(net.conv(x, 16, 24, (1, 1), bias=False), 24))
    return net.finish(net.conv(x, 24, 24, (5, 5), groups=24, dilations=[2, 2], pads=[4] * 4))


@model
def unet(net):
    x = net.input(1, 2, 24, 24)
    down = net.op("LeakyRelu", net.conv(x, 2, 6, pads=[1] * 4), alpha=0.1)
    low = net.op(
        "LeakyRelu", net.conv(net.op("MaxPool", down, kernel_shape=[2, 2], strides=[2, 2]), 6, 12, pads=[1] * 4)
    )
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    up = net.op("Resize", low, "", scales, mode="linear")
    both = net.op("Concat", up, down, axis=1)
    x = net.op("Relu", net.conv(both, 18, 6, pads=[1] * 4))
    nearest = net.op(
        "Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
    )
    cubic = net.op("Resize", x, "", scales, mode="cubic", coordinate_transformation_mode="align_corners")
    return net.finish(net.op("Sigmoid", net.conv(x, 6, 1, (1, 1))), nearest, cubic)


@model
def autoencoder(net):
    x = net.op("Elu", net.conv(net.input(2, 3, 16, 16), 3, 8, strides=[2, 2], pads=[1] * 4))
    x = net.op("Softplus", net.conv(x, 8, 12, strides=[2, 2], pads=[1] * 4))
    x = net.op(
        "ConvTranspose", x, net.weight(12, 8, 3, 3), net.weight(8), strides=[2, 2], pads=[1] * 4, output_padding=[1, 1]
    )
    x = net.op("Relu", net.norm(x, 8))
    x = net.op("ConvTranspose", x, net.weight(8, 6, 4, 4), strides=[2, 2], pads=[1] * 4)
    return net.finish(net.op("Tanh", net.norm(x, 6)))


@model
def wavenet(net):
    x = net.conv(net.input(2, 1, 64), 1, 8, (1,))
    total = None
    for dilation in (1, 2, 4, 8):
        padded = net.op("Pad", x, net.constant([0, 0, dilation, 0, 0, 0]))
        gates = net.conv(padded, 8, 16, (2,), dilations=[dilation])
        signal, gate = net.op("Split", gates, outputs=2, axis=1, num_outputs=2)
        y = net.op("Mul", net.op("Tanh", signal), net.op("Sigmoid", gate))
        x = net.op("Add", x, net.conv(y, 8, 8, (1,)))
        total = net.op("Add", total, y) if total else y
    return net.finish(net.op("LogSoftmax", net.conv(net.op("Relu", total), 8, 12, (1,)), axis=1))


@model
def volume(net):
    x = net.op("Relu", net.conv(net.input(1, 2, 10, 12, 14), 2, 4, (3, 3, 3), pads=[1] * 6))
    x = net.op("MaxPool", x, kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    x = net.op("ConvTranspose", x, net.weight(4, 3, 2, 2, 2), net.weight(3), strides=[2, 2, 2])
    return net.finish(x, net.op("AveragePool", x, kernel_shape=[3, 3, 3], pads=[1] * 6, ceil_mode=1, strides=[2, 2, 2]))


def attention_block(net, x, width, heads):
    """Self-attention written out, as exporters do, behind a layer norm."""
    y = net.op("LayerNormalization", x, net.positive(width), net.weight(width))
    shape = net.constant([0, 0, heads, width // heads])
    q, k, v = (
        net.op("Transpose", net.op("Reshape", net.linear(y, width, width), shape), perm=[0, 2, 1, 3]) for _ in range(3)
    )
    scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2]))
    weights = net.op("Softmax", net.op("Div", scores, net.number(np.sqrt(width / heads))))
    y = net.op("Transpose", net.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    return net.op("Add", x, net.linear(net.op("Reshape", y, net.constant([0, 0, width])), width, width))


@model
def transformer(net):
    x = attention_block(net, net.input(2, 9, 32, symbols=["n", "t", 32]), 32, 4)
    y = net.op("LayerNormalization", x, net.positive(32), net.weight(32))
    half = net.op("Erf", net.op("Div", net.linear(y, 32, 64), net.number(np.sqrt(2))))
    y = net.op("Mul", net.linear(y, 32, 64), net.op("Add", half, net.number(1)))
    return net.finish(net.op("Add", x, net.linear(net.op("Gelu", y), 64, 32)))


@model
def causal_attention(net):
    x = net.input(2, 7, 24)
    q, k, v = net.linear(x, 24, 24), net.linear(x, 24, 12), net.linear(x, 24, 12)
    y = net.op("Attention", q, k, v, q_num_heads=4, kv_num_heads=2, is_causal=1)
    return net.finish(net.linear(y, 24, 5))


@model
def language_lstm(net):
    words = net.op("Gather", net.weight(50, 16), net.input(7, 3, integers=50))
    directions = [net.weight(2, 48, 16), net.weight(2, 48, 12), net.weight(2, 96)]
    y, h, c = net.op("LSTM", words, *directions, outputs=3, hidden_size=12, direction="bidirectional")
    y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]), net.constant([0, 0, 24]))
    return net.finish(net.op("LogSoftmax", net.linear(y, 24, 50)), h, c)


@model
def language_gru(net):
    x, before = net.input(6, 2, 5), net.input(1, 2, 10)
    y, h = net.op(
        "GRU",
        x,
        net.weight(1, 30, 5),
        net.weight(1, 30, 10),
        net.weight(1, 60),
        "",
        before,
        outputs=2,
        hidden_size=10,
        linear_before_reset=1,
    )
    y = net.op("Squeeze", y, net.constant([1]))
    y, last = net.op("RNN", y, net.weight(1, 4, 10), net.weight(1, 4, 4), outputs=2, hidden_size=4)
    return net.finish(y, h, last)


@model
def inception(net):
    x = net.input(2, 4, 14, 14)
    parts = [net.op("Relu", net.conv(x, 4, 5, (1, 1)))]
    parts.append(
        net.op("Relu", net.conv(net.conv(x, 4, 3, (1, 5), pads=[0, 2, 0, 2]), 3, 6, (5, 1), pads=[2, 0, 2, 0]))
    )
    parts.append(
        net.conv(net.op("AveragePool", x, kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1), 4, 3, (1, 1))
    )
    parts.append(net.op("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4))
    return net.finish(net.op("Concat", *parts, axis=1))


@model
def dense_net(net):
    features = [net.input(1, 4, 12, 12)]
    for k in range(3):
        x = net.op("Concat", *features, axis=1) if k else features[0]
        x = net.op("Relu", net.norm(x, 4 + 3 * k))
        features.append(net.conv(x, 4 + 3 * k, 3, pads=[1] * 4))
    return net.finish(net.op("GlobalMaxPool", net.op("Concat", *features, axis=1)))


@model
def dynamic_shapes(net):
    """Shapes computed by the graph, as PyTorch's older exporter writes them."""
    x = net.input(3, 4, 5, 6, symbols=["n", "c", "h", "w"])
    shape = net.op("Shape", x)
    first = net.op("Unsqueeze", net.op("Gather", shape, net.constant(0)), net.constant([0]))
    area = net.op("Mul", net.op("Gather", shape, net.constant(2)), net.op("Gather", shape, net.constant(3)))
    wanted = net.op("Concat", first, net.constant([-1]), net.op("Unsqueeze", area, net.constant([0])), axis=0)
    rows = net.op("Reshape", x, wanted)
    sizes = net.op("Slice", shape, net.constant([2]), net.constant([4]))
    doubled = net.op(
        "Cast",
        net.op("Mul", net.op("Cast", sizes, to=TensorProto.FLOAT), net.constant(np.float32(2))),
        to=TensorProto.INT64,
    )
    bigger = net.op(
        "Resize",
        x,
        "",
        "",
        net.op("Concat", net.op("Slice", shape, net.constant([0]), net.constant([2])), doubled, axis=0),
        mode="linear",
    )
    places = net.op("Range", net.constant(0), area, net.constant(1))
    weighted = net.op("Mul", rows, net.op("Cast", places, to=helper.np_dtype_to_tensor_dtype(net.dtype)))
    ones = net.op(
        "ConstantOfShape",
        net.op("Shape", rows),
        value=helper.make_tensor("", helper.np_dtype_to_tensor_dtype(net.dtype), [1], [1]),
    )
    return net.finish(weighted, bigger, net.op("Sub", net.op("Expand", ones, net.op("Shape", rows)), rows))


@model
def super_resolution(net):
    x = net.op("PRelu", net.conv(net.input(1, 1, 12, 10), 1, 8, (5, 5), pads=[2] * 4), net.positive(8, 1, 1))
    x = net.conv(x, 8, 9, pads=[1] * 4)
    x = net.op("DepthToSpace", x, blocksize=3, mode="CRD")
    return net.finish(net.op("Clip", x, net.number(-0.5), net.number(0.5)), net.op("SpaceToDepth", x, blocksize=2))


@model
def group_norms(net):
    x = net.op(
        "GroupNormalization", net.conv(net.input(2, 3, 9, 9), 3, 8), net.positive(8), net.weight(8), num_groups=4
    )
    x = net.op("Mish", x)
    x = net.op(
        "InstanceNormalization",
        net.op("Pad", x, net.constant([0, 0, 1, 1, 0, 0, 1, 1]), mode="reflect"),
        net.positive(8),
        net.weight(8),
    )
    return net.finish(net.op("LpNormalization", net.op("Selu", x), axis=1))


@model
def shuffle_net(net):
    x = net.conv(net.input(2, 8, 8, 8), 8, 16, (1, 1), groups=4)
    parts = net.op("Reshape", x, net.constant([0, 4, 4, 8, 8]))
    x = net.op("Reshape", net.op("Transpose", parts, perm=[0, 2, 1, 3, 4]), net.constant([0, 16, 8, 8]))
    x = net.conv(x, 16, 16, groups=16, strides=[2, 2], pads=[1] * 4)
    return net.finish(net.op("ReduceL2", net.conv(x, 16, 8, (1, 1), groups=4), net.constant([1])))


@model
def decoder_block(net):
    """RMS norm, rotated halves, a gated feed-forward part."""
    x = net.input(2, 6, 16)
    y = net.op("RMSNormalization", x, net.positive(16), epsilon=1e-6)
    angles = net.op(
        "Mul",
        net.op(
            "Cast",
            net.op("Range", net.constant(0), net.constant(6), net.constant(1)),
            to=helper.np_dtype_to_tensor_dtype(net.dtype),
        ),
        net.number(0.3),
    )
    angles = net.op("Unsqueeze", angles, net.constant([1]))
    a = net.op("Slice", y, net.constant([0]), net.constant([8]), net.constant([-1]))
    b = net.op("Slice", y, net.constant([8]), net.constant([16]), net.constant([-1]))
    cos, sin = net.op("Cos", angles), net.op("Sin", angles)
    left = net.op("Sub", net.op("Mul", a, cos), net.op("Mul", b, sin))
    right = net.op("Add", net.op("Mul", b, cos), net.op("Mul", a, sin))
    y = net.op("Concat", left, right, axis=-1)
    gate = net.op("Einsum", y, net.weight(24, 16), equation="btd,hd->bth")
    y = net.op("Mul", net.op("Mul", gate, net.op("Sigmoid", gate)), net.linear(y, 16, 24))
    return net.finish(net.op("Add", x, net.linear(y, 24, 16)))


@model
def loops(net):
    """Newton's iteration in a Loop, a running sum in a Scan, a branch."""
    element = helper.np_dtype_to_tensor_dtype(net.dtype)
    x = net.op("Add", net.op("Abs", net.input(3, 4)), net.number(1))
    half, first_axis = net.number(0.5), net.constant([0])
    info = helper.make_tensor_value_info
    body = net.graph(
        [
            helper.make_node("Div", [x, "root"], ["quotient"]),
            helper.make_node("Add", ["root", "quotient"], ["both"]),
            helper.make_node("Mul", ["both", half], ["next"]),
            helper.make_node("Identity", ["going"], ["goes_on"]),
            helper.make_node("Sub", ["next", "root"], ["difference"]),
            helper.make_node("ReduceMax", ["difference", first_axis], ["change"], keepdims=0),
        ],
        [info("step", TensorProto.INT64, []), info("going", TensorProto.BOOL, []), info("root", element, None)],
        [info("goes_on", TensorProto.BOOL, []), info("next", element, None), info("change", element, None)],
    )
    root, changes = net.op("Loop", net.constant(6), net.constant(True), x, body=body, outputs=2)
    adding = net.graph(
        [helper.make_node("Add", ["sum", "row"], ["total"]), helper.make_node("Identity", ["total"], ["shown"])],
        [info("sum", element, [4]), info("row", element, [4])],
        [info("total", element, [4]), info("shown", element, [4])],
    )
    total, sums = net.op("Scan", net.constant(np.zeros(4, net.dtype)), root, body=adding, num_scan_inputs=1, outputs=2)
    condition = net.op("Greater", net.op("ReduceSum", x, keepdims=0), net.number(0))
    then = net.graph([helper.make_node("Sqrt", [x], ["then_value"])], [], [info("then_value", element, None)])
    other = net.graph([helper.make_node("Neg", [x], ["else_value"])], [], [info("else_value", element, None)])
    chosen = net.op("If", condition, then_branch=then, else_branch=other)
    return net.finish(root, changes, total, sums, chosen)


@model
def detector(net):
    """Scores and boxes of the best places, as the end of a detector takes them."""
    x = net.op("Relu", net.conv(net.input(1, 3, 6, 6), 3, 8, pads=[1] * 4))
    scores = net.op("Sigmoid", net.op("Reshape", net.conv(x, 8, 1, (1, 1)), net.constant([0, -1])))
    boxes = net.op("Transpose", net.op("Reshape", net.conv(x, 8, 4, (1, 1)), net.constant([0, 4, -1])), perm=[0, 2, 1])
    best, places = net.op("TopK", scores, net.constant([5]), outputs=2)
    wide = net.op("Tile", net.op("Unsqueeze", places, net.constant([2])), net.constant([1, 1, 4]))
    chosen = net.op("GatherElements", boxes, wide, axis=1)
    kept = net.op("Where", net.op("Greater", best, net.number(0.5)), best, net.number(0))
    written = net.op("ScatterElements", scores, places, net.op("Neg", best), axis=1)
    highest = net.op("ReduceMax", boxes, net.constant([2]))
    return net.finish(best, chosen, kept, written, net.op("CumSum", highest, net.constant(1)))


@model
def perceptron(net):
    x = net.input(16, 10)
    for inputs, outputs in ((10, 32), (32, 32)):
        x = net.op("Gemm", x, net.weight(inputs, outputs), net.weight(outputs), alpha=0.5)
        x = net.op("Dropout", net.op("Celu", net.norm(x, outputs)))
    return net.finish(net.op("Hardmax", net.linear(x, 32, 5)), net.op("Swish", x, alpha=1.5), opset=24)
