"""Modules as graphs of operators, which nn.Model runs."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from ..errors import AxisError, TypeError
from .model import Model


class GraphBuilder:
    """A graph in the making. Methods add nodes and give the names of their outputs; operators are ONNX's."""

    def __init__(self, dtype: str = "float32") -> None:
        self.dtype = dtype  # of the numbers that the input has
        self.nodes: list[tuple] = []
        self.arrays: dict[str, Any] = {}
        self.layer = ""  # whose nodes are added: the names of values begin with it

    def array(self, value) -> str:
        """A constant: an array, or integers."""
        name = f"c{len(self.arrays)}"
        self.arrays[name] = value if isinstance(value, _core.ndarray) else _core.as_array(numpy.asarray(value), "cpu")
        return name

    def nodes_of(self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes) -> list[str]:
        """The outputs of a new node; an input that is left out is ''."""
        start = f"{self.layer}/" if self.layer else ""
        names = [f"{start}v{len(self.nodes)}.{k}" for k in range(outputs)]
        self.nodes.append((operator, domain, list(inputs), names, attributes))
        return names

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes) -> str:
        """The output of a new node with one."""
        return self.nodes_of(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def model(self, inputs: list[str], outputs: list[str], device, precision: str) -> Model:
        """What runs the graph."""
        return Model(_core._nn.model(self.nodes, self.arrays, inputs, outputs, device, precision))


def emit(graph: GraphBuilder, leaf, x: str, rank: int) -> tuple[str, int]:
    """Adds the nodes of a layer behind the value x of so many axes; gives the result's name and number of axes."""
    if leaf.role == "identity":
        return x, rank
    if leaf.role == "graph":
        return leaf.emit(graph, x, rank)
    parameters = {name: graph.array(array) for name, array in leaf._parameters.items()}
    if leaf.role == "linear":
        x = graph.node("MatMul", x, graph.node("Transpose", parameters["weight"], perm=[1, 0]))
        return (graph.node("Add", x, parameters["bias"]) if "bias" in parameters else x), rank
    return _ACTIVATIONS[leaf.kind](graph, leaf, x, rank, parameters), rank


def _softplus(graph, leaf, x, rank, parameters) -> str:
    if leaf.beta == 1:
        return graph.node("Softplus", x)
    beta = graph.node("CastLike", graph.array(numpy.float64(leaf.beta)), x)
    return graph.node("Div", graph.node("Softplus", graph.node("Mul", x, beta)), beta)


def _prelu(graph, leaf, x, rank, parameters) -> str:
    shape = [leaf.num_parameters] + [1] * max(rank - 2, 0)
    return graph.node("PRelu", x, graph.node("Reshape", parameters["weight"], graph.array(shape)))


def softmax_axis(leaf, rank: int) -> int:
    """The axis of a softmax, for an array of so many axes. torch's where no `dim` was given."""
    if leaf.dim is None:
        return 0 if rank in (0, 1, 3) else 1
    if not -max(rank, 1) <= leaf.dim < max(rank, 1):
        raise AxisError(leaf.dim, rank, f"nn.{type(leaf).__name__}")
    return leaf.dim


def _softmax(graph, leaf, x, rank, parameters) -> str:
    return graph.node("Softmax", x, axis=softmax_axis(leaf, rank))


def operator_of(operator: str, **names: str):
    """An operator whose attributes are those of the module, by their names there."""

    def emitted(graph, leaf, x, rank, parameters) -> str:
        return graph.node(operator, x, **{name: getattr(leaf, own) for name, own in names.items()})

    return emitted


_ACTIVATIONS = {
    "relu": operator_of("Relu"),
    "leaky_relu": operator_of("LeakyRelu", alpha="negative_slope"),
    "gelu": operator_of("Gelu"),
    "gelu_tanh": operator_of("Gelu", approximate="approximate"),
    "silu": operator_of("Swish"),
    "tanh": operator_of("Tanh"),
    "sigmoid": operator_of("Sigmoid"),
    "softplus": _softplus,
    "elu": operator_of("Elu", alpha="alpha"),
    "prelu": _prelu,
    "hardswish": operator_of("HardSwish"),
    "softmax": _softmax,
}


def model_of(leaves: list, rank: int, dtype: str, device, precision: str, names: list[str] | None = None) -> Model:
    """Layers one after the other, for an input of so many axes and of a dtype. names: what values are called after."""
    graph = GraphBuilder(dtype)
    value = "x"
    for place, leaf in enumerate(leaves):
        graph.layer = names[place] if names else ""
        if not hasattr(leaf, "emit") and leaf.role not in ("linear", "activation", "identity"):
            raise TypeError(f"nn.Sequential: {type(leaf).__name__} is no layer of one input and one output")
        value, rank = emit(graph, leaf, value, rank)
    return graph.model(["x"], [value], device, precision)
