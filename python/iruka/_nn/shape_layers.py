"""Layers with torch's names that move numbers to other places: padding, blocks of pixels, axes."""

from __future__ import annotations

import numpy

from ..errors import ValueError
from .arguments import integer, integers, number
from .graph_layers import GraphLayer, Upsample
from .graphs import GraphBuilder
from .layers import Dropout


class Dropout1d(Dropout):
    """x: only training drops channels."""


class Dropout2d(Dropout):
    """x: only training drops channels."""


class Dropout3d(Dropout):
    """x: only training drops channels."""


class AlphaDropout(Dropout):
    """x: only training drops numbers."""


class FeatureAlphaDropout(Dropout):
    """x: only training drops channels."""


class Unflatten(GraphLayer):
    """torch.nn.Unflatten: the axis `dim` becomes axes of the given extents, one of which may be -1."""

    keeps_dtype = True

    def __init__(self, dim: int, unflattened_size) -> None:
        super().__init__()
        self.dim = integer(dim, "nn.Unflatten: dim")
        self.unflattened_size = integers(unflattened_size, None, "nn.Unflatten: unflattened_size")
        if self.unflattened_size.count(-1) > 1 or min(self.unflattened_size) < -1:
            raise ValueError(
                f"nn.Unflatten: unflattened_size must be extents, one of which may be -1, not {unflattened_size!r}"
            )

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        dim = self.dim + rank if self.dim < 0 else self.dim
        if not 0 <= dim < rank:
            raise ValueError(f"nn.Unflatten: dim {self.dim} is out of range for an input of {rank} axes")
        shape = [graph.node("Shape", x, start=0, end=dim)] if dim else []
        shape.append(graph.array([*self.unflattened_size]))
        shape += [graph.node("Shape", x, start=dim + 1)] if dim < rank - 1 else []
        made = graph.node("Reshape", x, graph.node("Concat", *shape, axis=0), allowzero=1)
        return made, rank + len(self.unflattened_size) - 1

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class _Padding(GraphLayer):
    keeps_dtype = True
    mode = "constant"
    value = 0.0

    def __init__(self, padding) -> None:
        super().__init__()
        self.padding = integers(padding, 2 * self.axes, f"nn.{type(self).__name__}: padding")

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        allowed = (self.axes + 1, self.axes + 2)
        if rank not in allowed:
            raise ValueError(
                f"nn.{type(self).__name__}: expected {allowed[1]} axes, or {allowed[0]} without a batch, but {rank} are"
                " given"
            )
        # torch lists pairs from the last axis on; the operator takes all beginnings, then all ends.
        pads = [*self.padding[-2::-2], *self.padding[::-2]]
        value = graph.node("CastLike", graph.array(numpy.float64(self.value)), x)
        axes = graph.array([*range(rank - self.axes, rank)])
        return graph.node("Pad", x, graph.array(pads), value, axes, mode=self.mode), rank

    def extra_repr(self) -> str:
        return str(self.padding)


class ConstantPad1d(_Padding):
    """torch.nn.ConstantPad1d: `padding` elements (left, right) of `value`; negative ones cut off."""

    axes = 1

    def __init__(self, padding, value: float) -> None:
        super().__init__(padding)
        self.value = number(value, f"nn.{type(self).__name__}: value")

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    """torch.nn.ConstantPad2d: padding is (left, right, top, bottom)."""

    axes = 2


class ConstantPad3d(ConstantPad1d):
    """torch.nn.ConstantPad3d: padding is (left, right, top, bottom, front, back)."""

    axes = 3


class ZeroPad1d(_Padding):
    """torch.nn.ZeroPad1d: padding is (left, right)."""

    axes = 1


class ZeroPad2d(_Padding):
    """torch.nn.ZeroPad2d: padding is (left, right, top, bottom)."""


class ZeroPad3d(_Padding):
    """torch.nn.ZeroPad3d: padding is (left, right, top, bottom, front, back)."""

    axes = 3


class ReflectionPad1d(_Padding):
    """torch.nn.ReflectionPad1d: a mirror at the first and last element, which are not repeated."""

    axes = 1
    mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """torch.nn.ReflectionPad2d: padding is (left, right, top, bottom)."""

    axes = 2


class ReflectionPad3d(ReflectionPad1d):
    """torch.nn.ReflectionPad3d: padding is (left, right, top, bottom, front, back)."""

    axes = 3


class ReplicationPad1d(_Padding):
    """torch.nn.ReplicationPad1d: the first and last element are repeated."""

    axes = 1
    mode = "edge"


class ReplicationPad2d(ReplicationPad1d):
    """torch.nn.ReplicationPad2d: padding is (left, right, top, bottom)."""

    axes = 2


class ReplicationPad3d(ReplicationPad1d):
    """torch.nn.ReplicationPad3d: padding is (left, right, top, bottom, front, back)."""

    axes = 3


class CircularPad1d(_Padding):
    """torch.nn.CircularPad1d: the array goes on with its other end."""

    axes = 1
    mode = "wrap"


class CircularPad2d(CircularPad1d):
    """torch.nn.CircularPad2d: padding is (left, right, top, bottom)."""

    axes = 2


class CircularPad3d(CircularPad1d):
    """torch.nn.CircularPad3d: padding is (left, right, top, bottom, front, back)."""

    axes = 3


class UpsamplingNearest2d(Upsample):
    """torch.nn.UpsamplingNearest2d: Upsample with mode='nearest'."""

    def __init__(self, size=None, scale_factor=None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """torch.nn.UpsamplingBilinear2d: Upsample with mode='bilinear' and align_corners=True."""

    def __init__(self, size=None, scale_factor=None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelUnshuffle(GraphLayer):
    """torch.nn.PixelUnshuffle: blocks of pixels become channels."""

    keeps_dtype = True

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = integer(downscale_factor, "nn.PixelUnshuffle: downscale_factor", 1)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        self._check_rank(rank)
        factor = self.downscale_factor
        # The operator has the channels as the fastest part of the new axis, torch as the slowest.
        made = graph.node("SpaceToDepth", x, blocksize=factor)
        behind = graph.node("Shape", made, start=2)
        parted = graph.node("Concat", graph.array([0, factor * factor, -1]), behind, axis=0)
        turned = graph.node("Transpose", graph.node("Reshape", made, parted), perm=[0, 2, 1, 3, 4])
        return graph.node("Reshape", turned, graph.node("Concat", graph.array([0, -1]), behind, axis=0)), rank

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(GraphLayer):
    """torch.nn.ChannelShuffle: the channels of each group take turns."""

    keeps_dtype = True

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = integer(groups, "nn.ChannelShuffle: groups", 1)

    def emit(self, graph: GraphBuilder, x: str, rank: int) -> tuple[str, int]:
        if rank < 3:
            raise ValueError(f"nn.ChannelShuffle: expected at least 3 axes, but {rank} are given")
        behind = graph.node("Shape", x, start=2)
        parted = graph.node("Concat", graph.array([0, self.groups, -1]), behind, axis=0)
        turned = graph.node("Transpose", graph.node("Reshape", x, parted), perm=[0, 2, 1, *range(3, rank + 1)])
        return graph.node("Reshape", turned, graph.node("Concat", graph.array([0, -1]), behind, axis=0)), rank

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
