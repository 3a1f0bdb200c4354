"""Layers with torch's names and formulas, and Sequential."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy

from .. import _core
from ..errors import ValueError
from .arguments import float_dtype, integer, number
from .containers import ListOfModules
from .module import Module, Parameter, as_parameter


class Linear(Module):
    """x @ weight.T + bias: weight has shape (out_features, in_features).

    A new one has random weights from the distribution that torch uses, by NumPy's global generator
    (numpy.random.seed). dtype: float32 or float64.
    """

    role = "linear"
    weight = Parameter()
    bias = Parameter()

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device=None, dtype="float32") -> None:
        super().__init__()
        in_features = integer(in_features, "nn.Linear: in_features", 1)
        out_features = integer(out_features, "nn.Linear: out_features", 1)
        self.in_features, self.out_features = in_features, out_features
        dtype = float_dtype(dtype, "nn.Linear")
        place = _core.default_device() if device is None else device
        bound = 1 / math.sqrt(in_features)
        self._set(
            "weight", as_parameter(numpy.random.uniform(-bound, bound, (out_features, in_features)), dtype, place)
        )
        if bias:
            self._set("bias", as_parameter(numpy.random.uniform(-bound, bound, out_features), dtype, place))

    def problem(self, x) -> str:
        """What keeps the layer from taking an input, in words."""
        is_wrong = x.ndim > 0 and x.shape[-1] != self.in_features
        return (
            f"expected {self.in_features} features along axis -1, but the array has shape {x.shape}" if is_wrong else ""
        )

    def extra_repr(self) -> str:
        has_bias = "bias" in self._parameters
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={has_bias}"


class Activation(Module):
    """A function of each number, or of a point's numbers together."""

    role = "activation"
    kind = ""  # of C++'s nn::Activation

    def numbers(self) -> list[float]:
        """The parameters that do not change."""
        return []


class ReLU(Activation):
    """max(x, 0)."""

    kind = "relu"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()


class LeakyReLU(Activation):
    """x where it is positive, else negative_slope * x."""

    kind = "leaky_relu"

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = number(negative_slope, "nn.LeakyReLU: negative_slope")

    def numbers(self) -> list[float]:
        return [self.negative_slope]

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}"


class GELU(Activation):
    """x * Phi(x), with Phi the normal distribution's function; approximate='tanh' takes a formula with tanh."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        if approximate not in ("none", "tanh"):
            raise ValueError(f"nn.GELU: approximate must be 'none' or 'tanh', not {approximate!r}")
        self.approximate = approximate
        self.kind = "gelu" if approximate == "none" else "gelu_tanh"

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(Activation):
    """x * sigmoid(x)."""

    kind = "silu"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()


class Tanh(Activation):
    """The hyperbolic tangent."""

    kind = "tanh"


class Sigmoid(Activation):
    """1 / (1 + exp(-x))."""

    kind = "sigmoid"


class Softplus(Activation):
    """log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold."""

    kind = "softplus"

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = number(beta, "nn.Softplus: beta"), number(threshold, "nn.Softplus: threshold")

    def numbers(self) -> list[float]:
        return [self.beta, self.threshold]

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class ELU(Activation):
    """x where it is positive, else alpha * (exp(x) - 1)."""

    kind = "elu"

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = number(alpha, "nn.ELU: alpha")

    def numbers(self) -> list[float]:
        return [self.alpha]

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}"


class PReLU(Activation):
    """x where it is positive, else weight * x, with one weight or one for each channel."""

    kind = "prelu"
    weight = Parameter()

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device=None, dtype="float32") -> None:
        super().__init__()
        self.num_parameters = integer(num_parameters, "nn.PReLU: num_parameters", 1)
        init, dtype = number(init, "nn.PReLU: init"), float_dtype(dtype, "nn.PReLU")
        place = _core.default_device() if device is None else device
        self._set("weight", as_parameter([init] * self.num_parameters, dtype, place))

    def problem(self, x) -> str:
        """What keeps the layer from taking an input, in words."""
        is_wrong = self.num_parameters > 1 and x.ndim > 1 and x.shape[1] != self.num_parameters
        return (
            f"expected {self.num_parameters} channels along axis 1, but the input has shape {x.shape}"
            if is_wrong
            else ""
        )

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Hardswish(Activation):
    """x * min(max(x + 3, 0), 6) / 6."""

    kind = "hardswish"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()


class Softmax(Activation):
    """exp(x) divided by its sum along `dim`. Without `dim`: axis 0 of 1 or 3 axes, else axis 1, as torch."""

    kind = "softmax"

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else integer(dim, "nn.Softmax: dim")

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Identity(Module):
    """x. Takes any arguments, as torch's."""

    role = "identity"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()


class Dropout(Module):
    """x: only training drops numbers."""

    role = "identity"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= number(p, "nn.Dropout: p") <= 1:
            raise ValueError(f"nn.Dropout: p must be between 0 and 1, but is {p}")
        self.p = float(p)

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Sequential(ListOfModules):
    """Modules one after the other: Sequential(Linear(8, 32), ReLU(), Linear(32, 4)), or a mapping from name to module.

    Linear layers with activations, up to 16 of at most 256 numbers, run as one kernel, in which a point's numbers never
    go to memory. docs/networks.md says how larger networks and those with other layers run.
    """

    role = "sequence"

    def __init__(self, *modules) -> None:
        super().__init__()
        is_mapping = len(modules) == 1 and isinstance(modules[0], Mapping)
        self._set_children(modules[0].items() if is_mapping else ((str(k), each) for k, each in enumerate(modules)))

    def _part(self, children: dict[str, Module]) -> Sequential:
        return Sequential(children)
