"""Layers with torch's names that are operators of graphs. Inputs of most are (batch, channels, ...)."""

from __future__ import annotations

import abc
import contextlib
import contextvars
import math
from typing import Any

import numpy

from .. import _core
from ..errors import TypeError, ValueError
from .graphs import GraphBuilder, operator_of
from .module import Module, Parameter, as_parameter

# Whether others replace new parameters, which need no random numbers then.
_are_replaced = contextvars.ContextVar("are_replaced", default=False)


@contextlib.contextmanager
def replaced_parameters():
    """Parameters of modules that are made within are replaced: they are zeros, without random numbers."""
    before = _are_replaced.set(True)
    try:
        yield
    finally:
        _are_replaced.reset(before)


def new_parameter(module: Module, name: str, shape: tuple[int, ...], kind: float | str, dtype, device) -> None:
    """A new parameter: 'ones', 'zeros', or uniform numbers up to a bound, as torch's."""
    if isinstance(kind, str) or _are_replaced.get():
        value = numpy.full(shape, 1.0 if kind == "ones" else 0.0)
    else:
        value = numpy.random.uniform(-kind, kind, shape)
    place = _core.default_device() if device is None else device
    module._set(name, as_parameter(value, dtype, place))


def tuple_of(value, count: int, what: str) -> tuple[int, ...]:
    """An int for all axes, or one for each."""
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count or not all(isinstance(each, int) for each in values):
        raise ValueError(f"{what} must be an int or {count} of them, not {value!r}")
    return values


class GraphLayer(Module):
    """A layer that is one or a few operators."""

    role = "graph"
    axes = 2  # spatial ones

    @abc.abstractmethod
    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        """Adds the layer's nodes behind the value x, which has so many axes."""

    def _check_rank(self, rank: int) -> None:
        if rank != self.axes + 2:
            kind = type(self).__name__
            raise ValueError(
                f"nn.{kind}: expected (batch, channels) and {self.axes} more axes, but {rank} axes are given"
            )

    def _arrays(self, graph: GraphBuilder) -> dict[str, str]:
        return {name: graph.array(array) for name, array in self._parameters.items()}


class _Convolution(GraphLayer):
    weight = Parameter()
    bias = Parameter()
    is_transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size,
        stride=1,
        padding: Any = 0,
        dilation=1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        output_padding=0,
        device=None,
        dtype="float32",
    ) -> None:
        super().__init__()
        kind = f"nn.{type(self).__name__}"
        if padding_mode != "zeros":
            raise ValueError(f"{kind}: padding_mode must be 'zeros', not {padding_mode!r}")
        if min(in_channels, out_channels, groups) < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{kind}: {in_channels} and {out_channels} channels do not make {groups} groups")
        self.in_channels, self.out_channels, self.groups = int(in_channels), int(out_channels), int(groups)
        self.kernel_size = tuple_of(kernel_size, self.axes, f"{kind}: kernel_size")
        self.stride = tuple_of(stride, self.axes, f"{kind}: stride")
        self.dilation = tuple_of(dilation, self.axes, f"{kind}: dilation")
        self.output_padding = tuple_of(output_padding, self.axes, f"{kind}: output_padding")
        self.padding = padding if isinstance(padding, str) else tuple_of(padding, self.axes, f"{kind}: padding")
        if isinstance(padding, str) and (padding not in ("same", "valid") or self.is_transposed):
            raise ValueError(f"{kind}: padding must be integers, 'same' or 'valid', not {padding!r}")
        if padding == "same" and any(each != 1 for each in self.stride):
            raise ValueError(f"{kind}: padding='same' is for stride 1")
        pair = (in_channels, out_channels // groups) if self.is_transposed else (out_channels, in_channels // groups)
        bound = 1 / math.sqrt(pair[1] * math.prod(self.kernel_size))
        new_parameter(self, "weight", (*pair, *self.kernel_size), bound, dtype, device)
        if bias:
            new_parameter(self, "bias", (out_channels,), bound, dtype, device)

    def _pads(self) -> list[int]:
        if self.padding == "valid":
            return [0] * (2 * self.axes)
        if self.padding == "same":  # the odd margin is behind
            whole = [dilation * (kernel - 1) for dilation, kernel in zip(self.dilation, self.kernel_size)]
            return [each // 2 for each in whole] + [each - each // 2 for each in whole]
        return [*self.padding, *self.padding]

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        self._check_rank(rank)
        arrays = self._arrays(graph)
        inputs = [x, arrays["weight"], *([arrays["bias"]] if "bias" in arrays else [])]
        attributes: dict[str, Any] = dict(
            strides=[*self.stride], dilations=[*self.dilation], pads=self._pads(), group=self.groups
        )
        if self.is_transposed:
            attributes["output_padding"] = [*self.output_padding]
        return graph.node("ConvTranspose" if self.is_transposed else "Conv", *inputs, **attributes), rank

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", padding={self.padding!r}" if self.padding != (0,) * self.axes else ""
        text += f", groups={self.groups}" if self.groups > 1 else ""
        return text + ("" if "bias" in self._parameters else ", bias=False")


class Conv1d(_Convolution):
    """torch.nn.Conv1d of (batch, channels, length): weight has shape (out_channels, in_channels / groups, kernel)."""

    axes = 1


class Conv2d(_Convolution):
    """torch.nn.Conv2d of (batch, channels, height, width)."""


class Conv3d(_Convolution):
    """torch.nn.Conv3d of (batch, channels, depth, height, width)."""

    axes = 3


class _TransposedConvolution(_Convolution):
    is_transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups: int = 1,
        bias: bool = True,
        dilation=1,
        padding_mode: str = "zeros",
        device=None,
        dtype="float32",
    ) -> None:
        super().__init__(
            *(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode),
            *(output_padding, device, dtype),
        )


class ConvTranspose1d(_TransposedConvolution):
    """torch.nn.ConvTranspose1d: weight has shape (in_channels, out_channels / groups, kernel)."""

    axes = 1


class ConvTranspose2d(_TransposedConvolution):
    """torch.nn.ConvTranspose2d of (batch, channels, height, width)."""


class ConvTranspose3d(_TransposedConvolution):
    """torch.nn.ConvTranspose3d of (batch, channels, depth, height, width)."""

    axes = 3


class _BatchNorm(GraphLayer):
    weight = Parameter()
    bias = Parameter()
    running_mean = Parameter()
    running_var = Parameter()

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum=0.1, affine: bool = True, track_running_stats: bool = True,
        device=None, dtype="float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if not track_running_stats:
            raise ValueError(f"nn.{type(self).__name__}: without running statistics there is nothing to evaluate with")
        self.num_features, self.eps, self.affine = int(num_features), float(eps), bool(affine)
        if affine:
            new_parameter(self, "weight", (num_features,), "ones", dtype, device)
            new_parameter(self, "bias", (num_features,), "zeros", dtype, device)
        new_parameter(self, "running_mean", (num_features,), "zeros", dtype, device)
        new_parameter(self, "running_var", (num_features,), "ones", dtype, device)
        self._buffers = ("running_mean", "running_var")

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        if self.axes > 1 or rank not in (2, 3):
            self._check_rank(rank)
        arrays = self._arrays(graph)
        dtype = self._parameters["running_mean"].dtype
        scale = arrays["weight"] if self.affine else graph.array(numpy.ones(self.num_features, dtype))
        shift = arrays["bias"] if self.affine else graph.array(numpy.zeros(self.num_features, dtype))
        numbers = (scale, shift, arrays["running_mean"], arrays["running_var"])
        return graph.node("BatchNormalization", x, *numbers, epsilon=self.eps), rank

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}"


class BatchNorm1d(_BatchNorm):
    """torch.nn.BatchNorm1d with its running statistics, of (batch, channels) or (batch, channels, length)."""

    axes = 1


class BatchNorm2d(_BatchNorm):
    """torch.nn.BatchNorm2d with its running statistics."""


class BatchNorm3d(_BatchNorm):
    """torch.nn.BatchNorm3d with its running statistics."""

    axes = 3


class LayerNorm(GraphLayer):
    """torch.nn.LayerNorm over the last axes."""

    weight = Parameter()
    bias = Parameter()
    operator = "LayerNormalization"

    def __init__(
        self, normalized_shape, eps: float | None = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device=None, dtype="float32",
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(map(int, normalized_shape))
        self.normalized_shape, self.eps = shape, eps
        if elementwise_affine:
            new_parameter(self, "weight", shape, "ones", dtype, device)
            if bias and self.operator == "LayerNormalization":
                new_parameter(self, "bias", shape, "zeros", dtype, device)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        arrays = self._arrays(graph)
        one = graph.node("CastLike", graph.array(numpy.ones(self.normalized_shape)), x) if not arrays else ""
        inputs = [x, arrays.get("weight", one), *([arrays["bias"]] if "bias" in arrays else [])]
        # torch's RMSNorm takes the smallest step of the dtype where no eps is given; that of float32 here.
        epsilon = float(numpy.finfo(numpy.float32).eps) if self.eps is None else float(self.eps)
        return graph.node(self.operator, *inputs, axis=-len(self.normalized_shape), epsilon=epsilon), rank

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}"


class RMSNorm(LayerNorm):
    """torch.nn.RMSNorm over the last axes."""

    operator = "RMSNormalization"

    def __init__(
        self, normalized_shape, eps: float | None = None, elementwise_affine: bool = True, device=None, dtype="float32"
    ) -> None:
        super().__init__(normalized_shape, eps, elementwise_affine, False, device, dtype)


class GroupNorm(GraphLayer):
    """torch.nn.GroupNorm of (batch, channels, ...)."""

    weight = Parameter()
    bias = Parameter()

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device=None, dtype="float32"
    ) -> None:
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"nn.GroupNorm: {num_channels} channels do not make {num_groups} groups")
        self.num_groups, self.num_channels, self.eps = int(num_groups), int(num_channels), float(eps)
        if affine:
            new_parameter(self, "weight", (num_channels,), "ones", dtype, device)
            new_parameter(self, "bias", (num_channels,), "zeros", dtype, device)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        arrays = self._arrays(graph)
        ones, zeros = (graph.array(make(self.num_channels, "float32")) for make in (numpy.ones, numpy.zeros))
        numbers = (arrays.get("weight", ones), arrays.get("bias", zeros))
        return graph.node("GroupNormalization", x, *numbers, num_groups=self.num_groups, epsilon=self.eps), rank

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}"


class _InstanceNorm(GroupNorm):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum=0.1, affine: bool = False,
        track_running_stats: bool = False, device=None, dtype="float32",
    ) -> None:  # fmt: skip
        if track_running_stats:
            raise ValueError(f"nn.{type(self).__name__}: running statistics are not taken")
        super().__init__(num_features, num_features, eps, affine, device, dtype)
        self.num_features = int(num_features)

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}"


class InstanceNorm1d(_InstanceNorm):
    """torch.nn.InstanceNorm1d of (batch, channels, length)."""

    axes = 1


class InstanceNorm2d(_InstanceNorm):
    """torch.nn.InstanceNorm2d."""


class InstanceNorm3d(_InstanceNorm):
    """torch.nn.InstanceNorm3d."""

    axes = 3


class _Pool(GraphLayer):
    operator = "MaxPool"

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False) -> None:
        super().__init__()
        kind = f"nn.{type(self).__name__}"
        self.kernel_size = tuple_of(kernel_size, self.axes, f"{kind}: kernel_size")
        self.stride = self.kernel_size if stride is None else tuple_of(stride, self.axes, f"{kind}: stride")
        self.padding = tuple_of(padding, self.axes, f"{kind}: padding")
        self.dilation = tuple_of(dilation, self.axes, f"{kind}: dilation")
        self.ceil_mode = bool(ceil_mode)

    def _attributes(self) -> dict:
        pads = [*self.padding, *self.padding]
        return dict(kernel_shape=[*self.kernel_size], strides=[*self.stride], pads=pads, ceil_mode=int(self.ceil_mode))

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        self._check_rank(rank)
        return graph.node(self.operator, x, dilations=[*self.dilation], **self._attributes()), rank

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool1d(_Pool):
    """torch.nn.MaxPool1d."""

    axes = 1


class MaxPool2d(_Pool):
    """torch.nn.MaxPool2d."""


class MaxPool3d(_Pool):
    """torch.nn.MaxPool3d."""

    axes = 3


class _AveragePool(_Pool):
    operator = "AveragePool"

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        super().__init__(kernel_size, stride, padding, 1, ceil_mode)
        self.count_include_pad = bool(count_include_pad)

    def _attributes(self) -> dict:
        return super()._attributes() | dict(count_include_pad=int(self.count_include_pad))


class AvgPool1d(_AveragePool):
    """torch.nn.AvgPool1d."""

    axes = 1


class AvgPool2d(_AveragePool):
    """torch.nn.AvgPool2d."""


class AvgPool3d(_AveragePool):
    """torch.nn.AvgPool3d."""

    axes = 3


class _AdaptivePool(GraphLayer):
    operator = "AdaptiveAveragePool"

    def __init__(self, output_size) -> None:
        super().__init__()
        sizes = (output_size,) * self.axes if isinstance(output_size, int) else tuple(output_size)
        if len(sizes) != self.axes:
            raise ValueError(
                f"nn.{type(self).__name__}: output_size must have {self.axes} numbers, not {output_size!r}"
            )
        self.output_size = tuple(None if size is None else int(size) for size in sizes)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        self._check_rank(rank)
        sizes = [-1 if size is None else size for size in self.output_size]
        return graph.node(self.operator, x, domain="iruka", output_size=sizes), rank

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePool):
    """torch.nn.AdaptiveAvgPool1d."""

    axes = 1


class AdaptiveAvgPool2d(_AdaptivePool):
    """torch.nn.AdaptiveAvgPool2d: means over so many parts of each axis; None keeps an axis."""


class AdaptiveAvgPool3d(_AdaptivePool):
    """torch.nn.AdaptiveAvgPool3d."""

    axes = 3


class AdaptiveMaxPool1d(_AdaptivePool):
    """torch.nn.AdaptiveMaxPool1d."""

    axes = 1
    operator = "AdaptiveMaxPool"


class AdaptiveMaxPool2d(_AdaptivePool):
    """torch.nn.AdaptiveMaxPool2d."""

    operator = "AdaptiveMaxPool"


class AdaptiveMaxPool3d(_AdaptivePool):
    """torch.nn.AdaptiveMaxPool3d."""

    axes = 3
    operator = "AdaptiveMaxPool"


class Flatten(GraphLayer):
    """torch.nn.Flatten: axes from start_dim to end_dim become one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = int(start_dim), int(end_dim)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        start, end = (dim + rank if dim < 0 else dim for dim in (self.start_dim, self.end_dim))
        if not 0 <= start <= end < rank:
            raise ValueError(f"nn.Flatten: axes {self.start_dim} to {self.end_dim} do not fit an input of {rank} axes")
        if end == rank - 1:
            return graph.node("Reshape", x, graph.array([0] * start + [-1])), start + 1
        behind = graph.node("Shape", x, start=end + 1)
        shape = graph.node("Concat", graph.array([0] * start + [-1]), behind, axis=0)
        return graph.node("Reshape", x, shape), rank - (end - start)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Upsample(GraphLayer):
    """torch.nn.Upsample of (batch, channels, ...): nearest, linear, bilinear, trilinear or bicubic."""

    def __init__(self, size=None, scale_factor=None, mode: str = "nearest", align_corners: bool | None = None) -> None:
        super().__init__()
        modes = ("nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic")
        if mode not in modes:
            raise ValueError(f"nn.Upsample: mode must be one of {', '.join(modes)}, not {mode!r}")
        if (size is None) == (scale_factor is None):
            raise ValueError("nn.Upsample: either size or scale_factor must be given")
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, bool(align_corners)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        axes = rank - 2
        attributes: dict[str, Any] = {"mode": "nearest", "axes": [*range(2, rank)]}
        if self.mode == "nearest":
            attributes |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        elif self.mode == "nearest-exact":
            attributes |= {"coordinate_transformation_mode": "half_pixel", "nearest_mode": "round_prefer_ceil"}
        else:
            attributes["mode"] = "cubic" if self.mode == "bicubic" else "linear"
            coordinates = "align_corners" if self.align_corners else "half_pixel"
            attributes["coordinate_transformation_mode"] = coordinates
        if self.size is not None:
            sizes = graph.array([*tuple_of(self.size, axes, "nn.Upsample: size")])
            return graph.node("Resize", x, "", "", sizes, **attributes), rank
        factors = (self.scale_factor,) * axes if numpy.ndim(self.scale_factor) == 0 else tuple(self.scale_factor)
        scales = graph.array(numpy.asarray(factors, numpy.float32))
        return graph.node("Resize", x, "", scales, **attributes), rank

    def extra_repr(self) -> str:
        how = f"size={self.size}" if self.size is not None else f"scale_factor={self.scale_factor}"
        return f"{how}, mode={self.mode!r}"


class PixelShuffle(GraphLayer):
    """torch.nn.PixelShuffle: channels become blocks of pixels."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = int(upscale_factor)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        self._check_rank(rank)
        return graph.node("DepthToSpace", x, blocksize=self.upscale_factor, mode="CRD"), rank

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class Embedding(GraphLayer):
    """torch.nn.Embedding: the rows of `weight` that integers of any shape name."""

    weight = Parameter()
    takes_integers = True

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx=None, device=None, dtype="float32") -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = int(num_embeddings), int(embedding_dim)
        new_parameter(self, "weight", (num_embeddings, embedding_dim), math.sqrt(3), dtype, device)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        return graph.node("Gather", graph.array(self._parameters["weight"]), x, axis=0), rank + 1

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"


class _Pointwise(GraphLayer):
    emitted = staticmethod(operator_of("Identity"))

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        return type(self).emitted(graph, self, x, rank, {}), rank


class Mish(_Pointwise):
    """x * tanh(softplus(x))."""

    emitted = staticmethod(operator_of("Mish"))


class SELU(_Pointwise):
    """torch.nn.SELU."""

    emitted = staticmethod(operator_of("Selu"))


class Softsign(_Pointwise):
    """x / (1 + |x|)."""

    emitted = staticmethod(operator_of("Softsign"))


class ReLU6(_Pointwise):
    """min(max(x, 0), 6)."""

    min, max = 0.0, 6.0
    emitted = staticmethod(operator_of("Clip", min="min", max="max"))


class Hardtanh(_Pointwise):
    """x within min_val and max_val."""

    emitted = staticmethod(operator_of("Clip", min="min_val", max="max_val"))

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val, self.max_val = float(min_val), float(max_val)


class Hardsigmoid(_Pointwise):
    """min(max(x + 3, 0), 6) / 6."""

    alpha, beta = 1 / 6, 0.5
    emitted = staticmethod(operator_of("HardSigmoid", alpha="alpha", beta="beta"))


class LogSoftmax(_Pointwise):
    """The logarithm of the softmax along `dim`."""

    emitted = staticmethod(operator_of("LogSoftmax", axis="dim"))

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"nn.LogSoftmax: dim must be an int, not {dim!r}")
        self.dim = dim
