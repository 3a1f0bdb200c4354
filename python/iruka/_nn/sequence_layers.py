"""Recurrent networks and attention with torch's names: each is a graph, of several inputs and outputs."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .._core import ndarray
from ..errors import TypeError, ValueError
from .graph_layers import new_parameter
from .graphs import GraphBuilder
from .model import Model
from .module import Module, Parameter


class _GraphModule(Module):
    """A module whose forward() runs graphs, made for what is given and the parameters of now."""

    def _run(self, key: tuple, make, *arrays) -> list[ndarray]:
        """The outputs of the graph that make(graph, names) gives the outputs of; None is an input that is left out."""
        network = self._network
        device = next(iter(self._parameters.values())).device
        dtype = next(iter(self._parameters.values())).dtype
        made = network._perceptrons()
        given = (self._precision, *(array is not None for array in arrays))
        if (key, given) not in made:
            graph = GraphBuilder()
            names = [f"x{k}" if is_given else "" for k, is_given in enumerate(given[1:])]
            outputs = make(graph, names)
            made[key, given] = graph.model([name for name in names if name], outputs, device, self._precision)
        model: Model = made[key, given]
        inputs = [network._array(array, f"nn.{type(self).__name__}") for array in arrays if array is not None]
        inputs = [x if x.dtype.name == "bool" else x.astype(dtype, copy=False) for x in inputs]
        results = model(*inputs)
        return [*results] if isinstance(results, tuple) else [results]


class _Recurrent(_GraphModule):
    operator = "RNN"
    gates = 1
    order: tuple[int, ...] = (0,)  # torch's gates in ONNX's order
    attributes: dict[str, Any] = {}

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, device=None, dtype="float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if min(input_size, hidden_size, num_layers) < 1:
            raise ValueError(f"nn.{type(self).__name__}: sizes and numbers of layers must be at least 1")
        self.input_size, self.hidden_size, self.num_layers = int(input_size), int(hidden_size), int(num_layers)
        self.bias, self.batch_first, self.bidirectional = bool(bias), bool(batch_first), bool(bidirectional)
        bound = 1 / math.sqrt(hidden_size)
        for layer, suffix in self._parts():
            inputs = input_size if layer == 0 else hidden_size * self.directions
            rows = self.gates * hidden_size
            new_parameter(self, f"weight_ih_{suffix}", (rows, inputs), bound, dtype, device)
            new_parameter(self, f"weight_hh_{suffix}", (rows, hidden_size), bound, dtype, device)
            if bias:
                new_parameter(self, f"bias_ih_{suffix}", (rows,), bound, dtype, device)
                new_parameter(self, f"bias_hh_{suffix}", (rows,), bound, dtype, device)

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _parts(self) -> list[tuple[int, str]]:
        ends = ("", "_reverse")[: self.directions]
        return [(layer, f"l{layer}{end}") for layer in range(self.num_layers) for end in ends]

    def _reordered(self, name: str) -> numpy.ndarray:
        array = numpy.asarray(self._parameters[name].get())
        parts = array.reshape(self.gates, self.hidden_size, *array.shape[1:])
        return parts[[*self.order]].reshape(array.shape)

    def _layer(self, graph: GraphBuilder, layer: int, x: str, states: list[str]) -> list[str]:
        """Y and the last states of one layer."""
        suffixes = [suffix for at, suffix in self._parts() if at == layer]
        inputs, hidden = (
            graph.array(numpy.stack([self._reordered(f"weight_{kind}_{suffix}") for suffix in suffixes]))
            for kind in ("ih", "hh")
        )
        bias = ""
        if self.bias:
            both = [[self._reordered(f"bias_{kind}_{suffix}") for kind in ("ih", "hh")] for suffix in suffixes]
            bias = graph.array(numpy.stack([numpy.concatenate(pair) for pair in both]))
        direction = "bidirectional" if self.bidirectional else "forward"
        return graph.nodes_of(
            self.operator, x, inputs, hidden, bias, "", *states, outputs=1 + self.states, direction=direction,
            hidden_size=self.hidden_size, **self.attributes,
        )  # fmt: skip

    states = 1

    def _graph(self, graph: GraphBuilder, names: list[str]) -> list[str]:
        x, *given = names
        if self.batch_first:
            x = graph.node("Transpose", x, perm=[1, 0, 2])
        last: list[list[str]] = [[] for _ in range(self.states)]
        for layer in range(self.num_layers):
            begin, end = (graph.array([k * self.directions]) for k in (layer, layer + 1))
            own = [graph.node("Slice", name, begin, end) if name else "" for name in given]
            y, *states = self._layer(graph, layer, x, own)
            for values, state in zip(last, states):
                values.append(state)
            flat = graph.array([0, 0, self.directions * self.hidden_size])
            x = graph.node("Reshape", graph.node("Transpose", y, perm=[0, 2, 1, 3]), flat)
        if self.batch_first:
            x = graph.node("Transpose", x, perm=[1, 0, 2])
        return [x, *(graph.node("Concat", *values, axis=0) for values in last)]

    def forward(self, input, hx=None):
        """(output, h) as torch: input is (length, batch, input_size), or (batch, length, input_size) for batch_first;
        output has all directions' hidden states last, h is (layers * directions, batch, hidden_size)."""
        return tuple(self._run((), self._graph, input, hx))

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        text += f", num_layers={self.num_layers}" if self.num_layers > 1 else ""
        return text + (", bidirectional=True" if self.bidirectional else "")


class RNN(_Recurrent):
    """torch.nn.RNN with tanh: rnn(x) gives (output, h)."""


class GRU(_Recurrent):
    """torch.nn.GRU: gru(x) gives (output, h)."""

    operator = "GRU"
    gates = 3
    order = (1, 0, 2)
    attributes = {"linear_before_reset": 1}


class LSTM(_Recurrent):
    """torch.nn.LSTM: lstm(x) gives (output, (h, c))."""

    operator = "LSTM"
    gates = 4
    order = (0, 3, 1, 2)
    states = 2

    def forward(self, input, hx=None):
        """(output, (h, c)); hx is (h, c) before the first step."""
        h, c = (None, None) if hx is None else hx
        output, h, c = self._run((), self._graph, input, h, c)
        return output, (h, c)


class MultiheadAttention(_GraphModule):
    """torch.nn.MultiheadAttention of one embedding size: attention(query, key, value) gives (output, None).

    Inputs are (length, batch, embed_dim), or (batch, length, embed_dim) for batch_first. Weights are not returned.
    """

    in_proj_weight = Parameter()
    in_proj_bias = Parameter()

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, batch_first: bool = False,
        device=None, dtype="float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"nn.MultiheadAttention: {embed_dim} numbers do not make {num_heads} heads")
        self.embed_dim, self.num_heads, self.batch_first = int(embed_dim), int(num_heads), bool(batch_first)
        new_parameter(self, "in_proj_weight", (3 * embed_dim, embed_dim), math.sqrt(1.5 / embed_dim), dtype, device)
        new_parameter(self, "out_proj.weight", (embed_dim, embed_dim), 1 / math.sqrt(embed_dim), dtype, device)
        if bias:
            new_parameter(self, "in_proj_bias", (3 * embed_dim,), "zeros", dtype, device)
            new_parameter(self, "out_proj.bias", (embed_dim,), "zeros", dtype, device)

    def _graph(self, graph: GraphBuilder, names: list[str], is_causal: bool) -> list[str]:
        arrays = {name: graph.array(array) for name, array in self._parameters.items()}
        weights = graph.nodes_of("Split", arrays["in_proj_weight"], outputs=3, axis=0, num_outputs=3)
        biases = [""] * 3
        if "in_proj_bias" in arrays:
            biases = graph.nodes_of("Split", arrays["in_proj_bias"], outputs=3, axis=0, num_outputs=3)
        values = []
        for x, weight, bias in zip(names, weights, biases):
            if not self.batch_first:
                x = graph.node("Transpose", x, perm=[1, 0, 2])
            x = graph.node("MatMul", x, graph.node("Transpose", weight, perm=[1, 0]))
            values.append(graph.node("Add", x, bias) if bias else x)
        mask = graph.node("Not", names[3]) if names[3] else ""  # torch's bools say what is left out
        heads: dict[str, Any] = dict(q_num_heads=self.num_heads, kv_num_heads=self.num_heads, is_causal=int(is_causal))
        y = graph.node("Attention", *values, *([mask] if mask else []), **heads)
        y = graph.node("MatMul", y, graph.node("Transpose", arrays["out_proj.weight"], perm=[1, 0]))
        if "out_proj.bias" in arrays:
            y = graph.node("Add", y, arrays["out_proj.bias"])
        return [y if self.batch_first else graph.node("Transpose", y, perm=[1, 0, 2])]

    def forward(  # type: ignore[override]
        self, query, key, value, attn_mask=None, need_weights: bool = False, is_causal: bool = False
    ):
        """(output, None). attn_mask: bools of (queries, keys), true where a key is left out."""
        if need_weights:
            raise ValueError("nn.MultiheadAttention: weights are not returned; call it with need_weights=False")
        if attn_mask is not None:
            attn_mask = self._network._array(attn_mask, "nn.MultiheadAttention")
            if attn_mask.dtype.name != "bool":
                raise TypeError(f"nn.MultiheadAttention: attn_mask must be bools, not {attn_mask.dtype.name}")
        make = lambda graph, names: self._graph(graph, names, is_causal)
        return self._run((is_causal,), make, query, key, value, attn_mask)[0], None

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, {self.num_heads}"
