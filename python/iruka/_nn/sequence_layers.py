"""Recurrent networks and attention with torch's names: each is a graph, of several inputs and outputs."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .._core import ndarray
from ..errors import ShapeError, TypeError, ValueError
from .arguments import integer
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

    def _checked(self, name: str, value, wanted: tuple[int | str, ...]) -> ndarray:
        """The argument as an array of real numbers. Extents that are texts may be anything; raises ShapeError."""
        what = f"nn.{type(self).__name__}"
        x = self._network._array(value, what)
        if x.dtype.kind == "c":
            raise TypeError(f"{what}: {name} must be real numbers, not {x.dtype.name}")
        fits = x.ndim == len(wanted) and all(isinstance(w, str) or w == n for w, n in zip(wanted, x.shape))
        if not fits:
            text = ", ".join(map(str, wanted))
            raise ShapeError(f"{what}: {name} must have shape ({text}), but has shape {x.shape}")
        return x


class _Recurrent(_GraphModule):
    operator = "RNN"
    gates = 1
    order: tuple[int, ...] = (0,)  # torch's gates in ONNX's order

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, device=None, dtype="float32",
    ) -> None:  # fmt: skip
        super().__init__()
        what = f"nn.{type(self).__name__}"
        self.input_size = input_size = integer(input_size, f"{what}: input_size", 1)
        self.hidden_size = hidden_size = integer(hidden_size, f"{what}: hidden_size", 1)
        self.num_layers = integer(num_layers, f"{what}: num_layers", 1)
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
            hidden_size=self.hidden_size, **self._attributes(),
        )  # fmt: skip

    states = 1

    def _attributes(self) -> dict[str, Any]:
        """More attributes of the operator."""
        return {}

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
        x = self._input(input)
        return tuple(self._run((), self._graph, x, None if hx is None else self._state("hx", hx, x)))

    def _input(self, value) -> ndarray:
        axes = ("batch", "length") if self.batch_first else ("length", "batch")
        return self._checked("input", value, (*axes, self.input_size))

    def _state(self, name: str, value, x: ndarray) -> ndarray:
        batch = x.shape[0 if self.batch_first else 1]
        return self._checked(name, value, (self.num_layers * self.directions, batch, self.hidden_size))

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        text += f", num_layers={self.num_layers}" if self.num_layers > 1 else ""
        text += "" if self.bias else ", bias=False"
        text += ", batch_first=True" if self.batch_first else ""
        return text + (", bidirectional=True" if self.bidirectional else "")


class RNN(_Recurrent):
    """torch.nn.RNN with nonlinearity 'tanh' or 'relu': rnn(x) gives (output, h)."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device=None, dtype="float32",
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"nn.RNN: nonlinearity must be 'tanh' or 'relu', not {nonlinearity!r}")
        super().__init__(
            *(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)
        )
        self.nonlinearity = nonlinearity

    def _attributes(self) -> dict[str, Any]:
        return {"activations": [self.nonlinearity.capitalize()] * self.directions}

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity!r}")


class GRU(_Recurrent):
    """torch.nn.GRU: gru(x) gives (output, h)."""

    operator = "GRU"
    gates = 3
    order = (1, 0, 2)

    def _attributes(self) -> dict[str, Any]:
        return {"linear_before_reset": 1}


class LSTM(_Recurrent):
    """torch.nn.LSTM: lstm(x) gives (output, (h, c))."""

    operator = "LSTM"
    gates = 4
    order = (0, 3, 1, 2)
    states = 2

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device=None, dtype="float32",
    ) -> None:  # fmt: skip
        if integer(proj_size, "nn.LSTM: proj_size") != 0:
            raise ValueError(f"nn.LSTM: there are no projections here; proj_size must be 0, but is {proj_size}")
        super().__init__(
            *(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)
        )

    def forward(self, input, hx=None):
        """(output, (h, c)); hx is (h, c) before the first step."""
        x = self._input(input)
        h = c = None
        if hx is not None:
            if not isinstance(hx, (tuple, list)) or len(hx) != 2:
                given = f"{len(hx)} of them" if isinstance(hx, (tuple, list)) else type(hx).__name__
                raise TypeError(f"nn.LSTM: hx must be a tuple (h, c) of two arrays, not {given}")
            h, c = (self._state(name, value, x) for name, value in zip(("h", "c"), hx))
        output, h, c = self._run((), self._graph, x, h, c)
        return output, (h, c)


class MultiheadAttention(_GraphModule):
    """torch.nn.MultiheadAttention of one embedding size: attention(query, key, value) gives (output, None).

    Inputs are (length, batch, embed_dim), or (batch, length, embed_dim) for batch_first. Weights are not returned.
    """

    in_proj_weight = Parameter()
    in_proj_bias = Parameter()

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device=None, dtype="float32",
    ) -> None:  # fmt: skip
        super().__init__()
        what = "nn.MultiheadAttention"
        embed_dim = integer(embed_dim, f"{what}: embed_dim", 1)
        num_heads = integer(num_heads, f"{what}: num_heads", 1)
        if embed_dim % num_heads:
            raise ValueError(f"{what}: {embed_dim} numbers do not make {num_heads} heads")
        if add_bias_kv or add_zero_attn:
            raise ValueError(
                f"{what}: add_bias_kv and add_zero_attn must be False: keys and values get no further rows"
            )
        if kdim not in (None, embed_dim) or vdim not in (None, embed_dim):
            raise ValueError(f"{what}: kdim and vdim must be embed_dim, {embed_dim}, but are {kdim} and {vdim}")
        self.embed_dim, self.num_heads, self.batch_first = embed_dim, num_heads, bool(batch_first)
        new_parameter(self, "in_proj_weight", (3 * embed_dim, embed_dim), math.sqrt(1.5 / embed_dim), dtype, device)
        new_parameter(self, "out_proj.weight", (embed_dim, embed_dim), 1 / math.sqrt(embed_dim), dtype, device)
        if bias:
            new_parameter(self, "in_proj_bias", (3 * embed_dim,), "zeros", dtype, device)
            new_parameter(self, "out_proj.bias", (embed_dim,), "zeros", dtype, device)

    def _graph(self, graph: GraphBuilder, names: list[str], is_causal: bool, are_bools: list[bool]) -> list[str]:
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
        mask = self._mask(graph, [name for name in names[3:] if name], are_bools)
        heads: dict[str, Any] = dict(q_num_heads=self.num_heads, kv_num_heads=self.num_heads, is_causal=int(is_causal))
        y = graph.node("Attention", *values, *([mask] if mask else []), **heads)
        y = graph.node("MatMul", y, graph.node("Transpose", arrays["out_proj.weight"], perm=[1, 0]))
        if "out_proj.bias" in arrays:
            y = graph.node("Add", y, arrays["out_proj.bias"])
        return [y if self.batch_first else graph.node("Transpose", y, perm=[1, 0, 2])]

    def _mask(self, graph: GraphBuilder, names: list[str], are_bools: list[bool]) -> str:
        """Masks as ONNX's operator takes them: bools that say what counts, or numbers that are added. torch's bools say
        what is left out."""
        dtype = next(iter(self._parameters.values())).dtype
        nothing, zero = (graph.array(numpy.asarray(each, dtype)) for each in (-math.inf, 0.0))
        made = []
        for name, is_bool in zip(names, are_bools):
            if all(are_bools):
                made.append(graph.node("Not", name))
            else:
                made.append(graph.node("Where", name, nothing, zero) if is_bool else name)
        if len(made) < 2:
            return made[0] if made else ""
        return graph.node("And" if all(are_bools) else "Add", *made)

    def _given_mask(self, name: str, value, shapes: dict[tuple[int, ...], tuple[int, ...]]) -> ndarray | None:
        """A mask of one of the shapes, in that which broadcasts against (batch, heads, queries, keys)."""
        if value is None:
            return None
        mask = self._network._array(value, "nn.MultiheadAttention")
        if mask.dtype.name not in ("bool", "float16", "bfloat16", "float32", "float64"):
            raise TypeError(f"nn.MultiheadAttention: {name} must be bools or floats, not {mask.dtype.name}")
        if mask.shape not in shapes:
            wanted = " or ".join(map(str, shapes))
            raise ShapeError(f"nn.MultiheadAttention: {name} must have shape {wanted}, but has shape {mask.shape}")
        return mask.reshape(shapes[mask.shape])

    def forward(  # type: ignore[override]
        self, query, key, value, key_padding_mask=None, need_weights: bool = False, attn_mask=None,
        average_attn_weights: bool = True, is_causal: bool = False,
    ):  # fmt: skip
        """(output, None), with torch's arguments; need_weights must be False.

        key_padding_mask: (batch, keys); attn_mask: (queries, keys) or (batch * heads, queries, keys). Bools are true
        where a key is left out, floats are added to the scores. is_causal: each query sees the keys up to its place.
        """
        if need_weights:
            raise ValueError("nn.MultiheadAttention: weights are not returned; call it with need_weights=False")
        axes = ("batch", "length") if self.batch_first else ("length", "batch")
        named = (("query", query), ("key", key), ("value", value))
        q, k, v = (self._checked(name, array, (*axes, self.embed_dim)) for name, array in named)
        at = 1 if self.batch_first else 0
        batch, queries, keys = q.shape[1 - at], q.shape[at], k.shape[at]
        if k.shape != v.shape or k.shape[1 - at] != batch:
            raise ShapeError(
                f"nn.MultiheadAttention: query, key and value of shapes {q.shape}, {k.shape} and {v.shape} do not go"
                " together: the batches, and the lengths of key and value, must be equal"
            )
        padding = self._given_mask("key_padding_mask", key_padding_mask, {(batch, keys): (batch, 1, 1, keys)})
        heads = (batch * self.num_heads, queries, keys), (batch, self.num_heads, queries, keys)
        mask = self._given_mask("attn_mask", attn_mask, {(queries, keys): (queries, keys), heads[0]: heads[1]})
        are_bools = [each.dtype.name == "bool" for each in (mask, padding) if each is not None]
        make = lambda graph, names: self._graph(graph, names, is_causal, are_bools)
        return self._run((bool(is_causal), *are_bools), make, q, k, v, mask, padding)[0], None

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, {self.num_heads}" + (", batch_first=True" if self.batch_first else "")
