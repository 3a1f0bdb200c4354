"""Activations with torch's names that are a few operators of graphs each."""

from __future__ import annotations

import abc

import numpy

from ..errors import ValueError
from .arguments import integer, number
from .graph_layers import GraphLayer
from .graphs import GraphBuilder, softmax_axis
from .layers import LeakyReLU


def _number(graph: GraphBuilder, value: float, x: str) -> str:
    """A constant of the dtype of x."""
    return graph.node("CastLike", graph.array(numpy.float64(value)), x)


class _Activation(GraphLayer):
    names: tuple[str, ...] = ()  # of the numbers that repr() shows

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.names)

    @abc.abstractmethod
    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        """Adds nodes behind the value x, which has so many axes."""

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        return self._operators(graph, x, rank), rank


class LogSigmoid(_Activation):
    """The logarithm of the sigmoid: -log(1 + exp(-x))."""

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        return graph.node("Neg", graph.node("Softplus", graph.node("Neg", x)))


class Tanhshrink(_Activation):
    """x - tanh(x)."""

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        return graph.node("Sub", x, graph.node("Tanh", x))


class CELU(_Activation):
    """x where it is positive, else alpha * (exp(x / alpha) - 1)."""

    names = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = number(alpha, "nn.CELU: alpha")
        if not self.alpha > 0:
            raise ValueError(f"nn.CELU: alpha must be positive, but is {alpha}")

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        alpha, zero = _number(graph, self.alpha, x), _number(graph, 0, x)
        minus = graph.node("Mul", alpha, graph.node("Elu", graph.node("Div", graph.node("Min", x, zero), alpha)))
        return graph.node("Add", graph.node("Relu", x), minus)


class Threshold(_Activation):
    """x where it is above the threshold, else value."""

    names = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = number(threshold, "nn.Threshold: threshold")
        self.value = number(value, "nn.Threshold: value")

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        is_low = graph.node("LessOrEqual", x, _number(graph, self.threshold, x))
        return graph.node("Where", is_low, _number(graph, self.value, x), x)


class Hardshrink(_Activation):
    """x where it is outside of -lambd to lambd, else 0."""

    names = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = number(lambd, "nn.Hardshrink: lambd")

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        is_small = graph.node("LessOrEqual", graph.node("Abs", x), _number(graph, self.lambd, x))
        return graph.node("Where", is_small, _number(graph, 0, x), x)


class Softshrink(_Activation):
    """x is moved by lambd towards 0, and is 0 within -lambd to lambd."""

    names = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = number(lambd, "nn.Softshrink: lambd", 0)

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        lambd = _number(graph, self.lambd, x)
        return graph.node("Sub", x, graph.node("Clip", x, graph.node("Neg", lambd), lambd))


class RReLU(LeakyReLU):
    """x where it is positive, else x times the mean of lower and upper: only training draws slopes."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        lower, upper = number(lower, "nn.RReLU: lower"), number(upper, "nn.RReLU: upper")
        super().__init__((lower + upper) / 2)
        self.lower, self.upper = lower, upper

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}"


class Softmin(_Activation):
    """exp(-x) divided by its sum along `dim`; None is torch's choice: 0 for 1 and 3 axes, else 1."""

    names = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else integer(dim, "nn.Softmin: dim")

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        return graph.node("Softmax", graph.node("Neg", x), axis=softmax_axis(self, rank))


class Softmax2d(_Activation):
    """The softmax over the channels of (batch, channels, height, width) or (channels, height, width)."""

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        if rank not in (3, 4):
            raise ValueError(f"nn.Softmax2d: expected 3 or 4 axes, but {rank} are given")
        return graph.node("Softmax", x, axis=-3)


class GLU(_Activation):
    """The first half along `dim` times the sigmoid of the second half."""

    names = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = integer(dim, "nn.GLU: dim")

    def _operators(self, graph: GraphBuilder, x: str, rank: int) -> str:
        dim = self.dim + rank if self.dim < 0 else self.dim
        if not 0 <= dim < rank:
            raise ValueError(f"nn.GLU: dim {self.dim} is out of range for an input of {rank} axes")
        shape = [graph.array([0] * dim + [2, -1])]  # an odd extent does not fit
        if dim < rank - 1:
            shape.append(graph.node("Shape", x, start=dim + 1))
        halves = graph.node("Reshape", x, graph.node("Concat", *shape, axis=0))
        first, second = (graph.node("Gather", halves, graph.array(k), axis=dim) for k in (0, 1))
        return graph.node("Mul", first, graph.node("Sigmoid", second))
