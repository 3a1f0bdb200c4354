"""Layers with torch's names that are operators of graphs. Inputs of most are (batch, channels, ...)."""

from __future__ import annotations

import abc
import contextlib
import contextvars
import math
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import ShapeError, ValueError
from .arguments import float_dtype, integer, integers, number
from .graphs import GraphBuilder, operator_of, softmax_axis
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
    dtype = float_dtype(dtype, f"nn.{type(module).__name__}")
    if isinstance(kind, str) or _are_replaced.get():
        value = numpy.full(shape, 1.0 if kind == "ones" else 0.0)
    else:
        value = numpy.random.uniform(-kind, kind, shape)
    place = _core.default_device() if device is None else device
    module._set(name, as_parameter(value, dtype, place))


class GraphLayer(Module):
    """A layer that is one or a few operators."""

    role = "graph"
    axes = 2  # spatial ones
    keeps_dtype = False  # whether it only moves and selects numbers, of any dtype

    @abc.abstractmethod
    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        """Adds the layer's nodes behind the value x, which has so many axes."""

    def _check_rank(self, rank: int) -> None:
        if rank != self.axes + 2:
            kind, more = type(self).__name__, "1 more axis" if self.axes == 1 else f"{self.axes} more axes"
            raise ShapeError(f"nn.{kind}: expected (batch, channels) and {more}, but {rank} axes are given")

    def problem(self, x: ndarray) -> str:
        """What keeps the layer from taking an input, in words; '' where its operators say it better."""
        return ""

    def _wrong_channels(self, x: ndarray, wanted: str) -> str:
        return f"expected {wanted} channels along axis 1, but the input has shape {x.shape}"

    def _arrays(self, graph: GraphBuilder) -> dict[str, str]:
        return {name: graph.array(array) for name, array in self._parameters.items()}


class _Convolution(GraphLayer):
    weight = Parameter()
    bias = Parameter()
    is_transposed = False
    output_padding: tuple[int, ...] = ()

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
        device=None,
        dtype="float32",
    ) -> None:
        super().__init__()
        kind = f"nn.{type(self).__name__}"
        if padding_mode != "zeros":
            raise ValueError(f"{kind}: padding_mode must be 'zeros', not {padding_mode!r}")
        in_channels = integer(in_channels, f"{kind}: in_channels", 1)
        out_channels = integer(out_channels, f"{kind}: out_channels", 1)
        groups = integer(groups, f"{kind}: groups", 1)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{kind}: {in_channels} and {out_channels} channels do not make {groups} groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = integers(kernel_size, self.axes, f"{kind}: kernel_size", 1)
        self.stride = integers(stride, self.axes, f"{kind}: stride", 1)
        self.dilation = integers(dilation, self.axes, f"{kind}: dilation", 1)
        if isinstance(padding, str) and (padding not in ("same", "valid") or self.is_transposed):
            allowed = "integers" if self.is_transposed else "integers, 'same' or 'valid'"
            raise ValueError(f"{kind}: padding must be {allowed}, not {padding!r}")
        self.padding = padding if isinstance(padding, str) else integers(padding, self.axes, f"{kind}: padding", 0)
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

    def problem(self, x: ndarray) -> str:
        is_wrong = x.ndim == self.axes + 2 and x.shape[1] != self.in_channels
        return self._wrong_channels(x, str(self.in_channels)) if is_wrong else ""

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", padding={self.padding!r}" if self.padding != (0,) * self.axes else ""
        text += f", dilation={self.dilation}" if self.dilation != (1,) * self.axes else ""
        text += f", output_padding={self.output_padding}" if any(self.output_padding) else ""
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
            *(device, dtype),
        )
        kind = f"nn.{type(self).__name__}"
        self.output_padding = integers(output_padding, self.axes, f"{kind}: output_padding", 0)
        steps = [max(pair) for pair in zip(self.stride, self.dilation)]
        if any(each >= step for each, step in zip(self.output_padding, steps)):
            raise ValueError(
                f"{kind}: output_padding must be smaller than the stride or the dilation, but is {output_padding!r}"
                f" with stride {self.stride} and dilation {self.dilation}"
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
        kind = f"nn.{type(self).__name__}"
        num_features = integer(num_features, f"{kind}: num_features", 1)
        self.num_features, self.eps, self.affine = num_features, number(eps, f"{kind}: eps", 0), bool(affine)
        if affine:
            new_parameter(self, "weight", (num_features,), "ones", dtype, device)
            new_parameter(self, "bias", (num_features,), "zeros", dtype, device)
        new_parameter(self, "running_mean", (num_features,), "zeros", dtype, device)
        new_parameter(self, "running_var", (num_features,), "ones", dtype, device)
        self._buffers = ("running_mean", "running_var")

    def problem(self, x: ndarray) -> str:
        is_wrong = x.ndim in (2, self.axes + 2) and x.shape[1] != self.num_features
        return self._wrong_channels(x, str(self.num_features)) if is_wrong else ""

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
        return f"{self.num_features}, eps={self.eps}" + ("" if self.affine else ", affine=False")


class BatchNorm1d(_BatchNorm):
    """torch.nn.BatchNorm1d with its running statistics, of (batch, channels) or (batch, channels, length)."""

    axes = 1


class BatchNorm2d(_BatchNorm):
    """torch.nn.BatchNorm2d with its running statistics."""


class BatchNorm3d(_BatchNorm):
    """torch.nn.BatchNorm3d with its running statistics."""

    axes = 3


_EPSILONS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


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
        kind = f"nn.{type(self).__name__}"
        count = numpy.size(normalized_shape)
        shape = integers(normalized_shape, count, f"{kind}: normalized_shape", 1)
        self.normalized_shape, self.eps = shape, eps if eps is None else number(eps, f"{kind}: eps", 0)
        if elementwise_affine:
            new_parameter(self, "weight", shape, "ones", dtype, device)
            if bias and self.operator == "LayerNormalization":
                new_parameter(self, "bias", shape, "zeros", dtype, device)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        arrays = self._arrays(graph)
        one = graph.node("CastLike", graph.array(numpy.ones(self.normalized_shape)), x) if not arrays else ""
        inputs = [x, arrays.get("weight", one), *([arrays["bias"]] if "bias" in arrays else [])]
        # torch's RMSNorm takes the smallest step of the dtype where no eps is given.
        epsilon = _EPSILONS[graph.dtype] if self.eps is None else self.eps
        return graph.node(self.operator, *inputs, axis=-len(self.normalized_shape), epsilon=epsilon), rank

    def problem(self, x: ndarray) -> str:
        if x.shape[-len(self.normalized_shape) :] == self.normalized_shape:
            return ""
        return f"expected an input whose last axes have shape {self.normalized_shape}, but it has shape {x.shape}"

    def extra_repr(self) -> str:
        text = f"{self.normalized_shape}, eps={self.eps}"
        if not self._parameters:
            return text + ", elementwise_affine=False"
        has_bias = self.operator != "LayerNormalization" or "bias" in self._parameters
        return text + ("" if has_bias else ", bias=False")


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
        kind = f"nn.{type(self).__name__}"
        num_groups = integer(num_groups, f"{kind}: num_groups", 1)
        num_channels = integer(num_channels, f"{kind}: num_channels", 1)
        if num_channels % num_groups:
            raise ValueError(f"{kind}: {num_channels} channels do not make {num_groups} groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, number(eps, f"{kind}: eps", 0)
        if affine:
            new_parameter(self, "weight", (num_channels,), "ones", dtype, device)
            new_parameter(self, "bias", (num_channels,), "zeros", dtype, device)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        arrays = self._arrays(graph)
        ones, zeros = (graph.array(make(self.num_channels, "float32")) for make in (numpy.ones, numpy.zeros))
        numbers = (arrays.get("weight", ones), arrays.get("bias", zeros))
        return graph.node("GroupNormalization", x, *numbers, num_groups=self.num_groups, epsilon=self.eps), rank

    def problem(self, x: ndarray) -> str:
        is_wrong = x.ndim > 1 and x.shape[1] != self.num_channels
        return self._wrong_channels(x, str(self.num_channels)) if is_wrong else ""

    def _affine_repr(self) -> str:
        return "" if self._parameters else ", affine=False"

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}{self._affine_repr()}"


class _InstanceNorm(GroupNorm):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum=0.1, affine: bool = False,
        track_running_stats: bool = False, device=None, dtype="float32",
    ) -> None:  # fmt: skip
        if track_running_stats:
            raise ValueError(f"nn.{type(self).__name__}: running statistics are not taken")
        num_features = integer(num_features, f"nn.{type(self).__name__}: num_features", 1)
        super().__init__(num_features, num_features, eps, affine, device, dtype)
        self.num_features = num_features

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        self._check_rank(rank)
        return super().emit(graph, x, rank)

    def problem(self, x: ndarray) -> str:
        return super().problem(x) if x.ndim == self.axes + 2 else ""

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}" + (", affine=True" if self._parameters else "")


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
    keeps_dtype = True

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, return_indices: bool = False, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        kind = f"nn.{type(self).__name__}"
        if return_indices:
            raise ValueError(f"{kind}: indices are not returned; return_indices must be False")
        self.kernel_size = integers(kernel_size, self.axes, f"{kind}: kernel_size", 1)
        self.stride = self.kernel_size if stride is None else integers(stride, self.axes, f"{kind}: stride", 1)
        self.padding = integers(padding, self.axes, f"{kind}: padding", 0)
        self.dilation = integers(dilation, self.axes, f"{kind}: dilation", 1)
        self.ceil_mode = bool(ceil_mode)
        windows = [step * (size - 1) + 1 for step, size in zip(self.dilation, self.kernel_size)]
        if any(2 * pad > window for pad, window in zip(self.padding, windows)):
            raise ValueError(
                f"{kind}: padding must be at most half of the kernel, which covers {tuple(windows)}, but is {padding!r}"
            )

    def _attributes(self) -> dict:
        pads = [*self.padding, *self.padding]
        return dict(kernel_shape=[*self.kernel_size], strides=[*self.stride], pads=pads, ceil_mode=int(self.ceil_mode))

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        self._check_rank(rank)
        return graph.node(self.operator, x, dilations=[*self.dilation], **self._attributes()), rank

    def extra_repr(self) -> str:
        text = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
        text += f", dilation={self.dilation}" if self.dilation != (1,) * self.axes else ""
        return text + (", ceil_mode=True" if self.ceil_mode else "")


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
    keeps_dtype = False

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode=ceil_mode)
        self.count_include_pad = bool(count_include_pad)

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.count_include_pad else ", count_include_pad=False")

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
        what = f"nn.{type(self).__name__}: output_size"
        sizes = (output_size,) * self.axes if numpy.ndim(output_size) == 0 else tuple(output_size)
        if len(sizes) != self.axes:
            raise ValueError(f"{what} must have {self.axes} numbers, not {output_size!r}")
        self.output_size = tuple(None if size is None else integer(size, what, 1) for size in sizes)

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
    keeps_dtype = True


class AdaptiveMaxPool2d(_AdaptivePool):
    """torch.nn.AdaptiveMaxPool2d."""

    operator = "AdaptiveMaxPool"
    keeps_dtype = True


class AdaptiveMaxPool3d(_AdaptivePool):
    """torch.nn.AdaptiveMaxPool3d."""

    axes = 3
    operator = "AdaptiveMaxPool"
    keeps_dtype = True


class Flatten(GraphLayer):
    """torch.nn.Flatten: axes from start_dim to end_dim become one."""

    keeps_dtype = True

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = integer(start_dim, "nn.Flatten: start_dim")
        self.end_dim = integer(end_dim, "nn.Flatten: end_dim")

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        start, end = (dim + rank if dim < 0 else dim for dim in (self.start_dim, self.end_dim))
        if not 0 <= start <= end < rank:
            raise ShapeError(f"nn.Flatten: axes {self.start_dim} to {self.end_dim} do not fit an input of {rank} axes")
        if end == rank - 1:
            return graph.node("Reshape", x, graph.array([0] * start + [-1])), start + 1
        behind = graph.node("Shape", x, start=end + 1)
        shape = graph.node("Concat", graph.array([0] * start + [-1]), behind, axis=0)
        return graph.node("Reshape", x, shape), rank - (end - start)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


# The modes of Upsample, and how many axes behind (batch, channels) they are for.
_MODES = {
    "nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "linear": (1,), "bilinear": (2,), "trilinear": (3,),
    "bicubic": (2,),
}  # fmt: skip


class Upsample(GraphLayer):
    """torch.nn.Upsample of (batch, channels, ...): nearest, linear, bilinear, trilinear or bicubic."""

    size: int | tuple[int, ...] | None = None

    def __init__(self, size=None, scale_factor=None, mode: str = "nearest", align_corners: bool | None = None) -> None:
        super().__init__()
        if mode not in _MODES:
            raise ValueError(f"nn.Upsample: mode must be one of {', '.join(_MODES)}, not {mode!r}")
        if (size is None) == (scale_factor is None):
            raise ValueError("nn.Upsample: either size or scale_factor must be given")
        if align_corners is not None and mode.startswith("nearest"):
            raise ValueError(f"nn.Upsample: align_corners is for linear and cubic modes, not for {mode!r}")
        if size is not None:
            size = integers(size, None, "nn.Upsample: size", 1)
            self.size = size if len(size) > 1 else size[0]
        for factor in numpy.ravel(scale_factor) if scale_factor is not None else ():
            if not 0 < number(factor, "nn.Upsample: scale_factor") < math.inf:
                raise ValueError(f"nn.Upsample: scale_factor must be above 0 and finite, but is {scale_factor!r}")
        self.scale_factor, self.mode, self.align_corners = scale_factor, mode, bool(align_corners)
        self.keeps_dtype = mode.startswith("nearest")

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        axes = rank - 2
        if axes not in _MODES[self.mode]:
            wanted = " or ".join(str(each + 2) for each in _MODES[self.mode])
            raise ShapeError(f"nn.Upsample: mode {self.mode!r} is for {wanted} axes, but {rank} axes are given")
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
            sizes = graph.array([*integers(self.size, axes, "nn.Upsample: size")])
            return graph.node("Resize", x, "", "", sizes, **attributes), rank
        factors: Any = self.scale_factor
        factors = (factors,) * axes if numpy.ndim(factors) == 0 else tuple(factors)
        if len(factors) != axes:
            raise ValueError(f"nn.Upsample: scale_factor must be a number or {axes} of them, not {self.scale_factor!r}")
        scales = graph.array(numpy.asarray(factors, numpy.float32))
        return graph.node("Resize", x, "", scales, **attributes), rank

    def extra_repr(self) -> str:
        how = f"size={self.size}" if self.size is not None else f"scale_factor={self.scale_factor}"
        return f"{how}, mode={self.mode!r}" + (", align_corners=True" if self.align_corners else "")


class PixelShuffle(GraphLayer):
    """torch.nn.PixelShuffle: channels become blocks of pixels."""

    keeps_dtype = True

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = integer(upscale_factor, "nn.PixelShuffle: upscale_factor", 1)

    def problem(self, x: ndarray) -> str:
        block = self.upscale_factor**2
        is_wrong = x.ndim == 4 and x.shape[1] % block
        return self._wrong_channels(x, f"a multiple of {block}") if is_wrong else ""

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        self._check_rank(rank)
        return graph.node("DepthToSpace", x, blocksize=self.upscale_factor, mode="CRD"), rank

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


_INT64 = 7  # among ONNX's data types


class Embedding(GraphLayer):
    """torch.nn.Embedding: the rows of `weight` that integers of any shape name."""

    weight = Parameter()
    takes_integers = True

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx=None, *, device=None, dtype="float32"
    ) -> None:
        super().__init__()
        self.num_embeddings = integer(num_embeddings, "nn.Embedding: num_embeddings", 1)
        self.embedding_dim = integer(embedding_dim, "nn.Embedding: embedding_dim", 1)
        shape = (self.num_embeddings, self.embedding_dim)
        new_parameter(self, "weight", shape, math.sqrt(3), dtype, device)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        # ONNX counts negative indices from the end, which torch refuses: they become one that is refused here.
        x = graph.node("Cast", x, to=_INT64)
        zero, beyond = (graph.array(numpy.int64(each)) for each in (0, self.num_embeddings))
        x = graph.node("Where", graph.node("Less", x, zero), beyond, x)
        return graph.node("Gather", graph.array(self._parameters["weight"]), x, axis=0), rank + 1

    def problem(self, x: ndarray) -> str:
        if x.dtype.kind not in "iu" or x.size == 0:
            return ""
        range_of = f"{int(x.min())} to {int(x.max())}"
        return f"expected indices from 0 to {self.num_embeddings - 1}, but they are from {range_of}"

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

    alpha, gamma = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    emitted = staticmethod(operator_of("Selu", alpha="alpha", gamma="gamma"))


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
        self.min_val = number(min_val, "nn.Hardtanh: min_val")
        self.max_val = number(max_val, "nn.Hardtanh: max_val")
        if not self.min_val < self.max_val:
            raise ValueError(f"nn.Hardtanh: min_val must be below max_val, but they are {min_val} and {max_val}")

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"


class Hardsigmoid(_Pointwise):
    """min(max(x + 3, 0), 6) / 6."""

    alpha, beta = 1 / 6, 0.5
    emitted = staticmethod(operator_of("HardSigmoid", alpha="alpha", beta="beta"))


class LogSoftmax(_Pointwise):
    """The logarithm of the softmax along `dim`. Without `dim`: axis 0 of 1 or 3 axes, else axis 1, as torch."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else integer(dim, "nn.LogSoftmax: dim")

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        return graph.node("LogSoftmax", x, axis=softmax_axis(self, rank)), rank

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
