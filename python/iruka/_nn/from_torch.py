"""Modules made of torch's, which are recognised by the names of their classes: torch itself is not imported."""

from __future__ import annotations

from typing import Any

from ..errors import TypeError, ValueError
from . import activation_layers, graph_layers, layers, sequence_layers, shape_layers
from .module import Module

# The attributes of torch's modules that are arguments of ours.
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "ReLU": (),
    "LeakyReLU": ("negative_slope",),
    "GELU": ("approximate",),
    "SiLU": (),
    "Tanh": (),
    "Sigmoid": (),
    "Softplus": ("beta", "threshold"),
    "ELU": ("alpha",),
    "Hardswish": (),
    "Softmax": ("dim",),
    "Identity": (),
    **dict.fromkeys(("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"), ("p",)),
    **dict.fromkeys(("LogSigmoid", "Tanhshrink", "Softmax2d"), ()),
    **dict.fromkeys(("Hardshrink", "Softshrink"), ("lambd",)),
    **dict.fromkeys(("Softmin", "GLU"), ("dim",)),
    "CELU": ("alpha",),
    "Threshold": ("threshold", "value"),
    "RReLU": ("lower", "upper"),
    "Unflatten": ("dim", "unflattened_size"),
    "PixelUnshuffle": ("downscale_factor",),
    "ChannelShuffle": ("groups",),
    **dict.fromkeys(("UpsamplingNearest2d", "UpsamplingBilinear2d"), ("size", "scale_factor")),
    **{f"ConstantPad{k}d": ("padding", "value") for k in (1, 2, 3)},
    **{f"{how}Pad{k}d": ("padding",) for how in ("Zero", "Reflection", "Replication", "Circular") for k in (1, 2, 3)},
    **dict.fromkeys(("Mish", "SELU", "Softsign", "ReLU6", "Hardsigmoid"), ()),
    "Hardtanh": ("min_val", "max_val"),
    "LogSoftmax": ("dim",),
    "Flatten": ("start_dim", "end_dim"),
    "Upsample": ("size", "scale_factor", "mode", "align_corners"),
    "PixelShuffle": ("upscale_factor",),
    **{f"AdaptiveAvgPool{k}d": ("output_size",) for k in (1, 2, 3)},
    **{f"AdaptiveMaxPool{k}d": ("output_size",) for k in (1, 2, 3)},
    **{f"MaxPool{k}d": ("kernel_size", "stride", "padding", "dilation", "ceil_mode") for k in (1, 2, 3)},
    **{f"AvgPool{k}d": ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad") for k in (1, 2, 3)},
}
# The same of modules with parameters, by the arguments' names; their tensors are shared.
_CONVOLUTION = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups")
_RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "bidirectional")
_WITH_PARAMETERS: dict[str, tuple[str, ...]] = {
    **{f"Conv{k}d": (*_CONVOLUTION, "padding_mode") for k in (1, 2, 3)},
    **{f"ConvTranspose{k}d": (*_CONVOLUTION, "output_padding", "padding_mode") for k in (1, 2, 3)},
    **{f"BatchNorm{k}d": ("num_features", "eps", "affine", "track_running_stats") for k in (1, 2, 3)},
    **{f"InstanceNorm{k}d": ("num_features", "eps", "affine", "track_running_stats") for k in (1, 2, 3)},
    "LayerNorm": ("normalized_shape", "eps", "elementwise_affine"),
    "RMSNorm": ("normalized_shape", "eps", "elementwise_affine"),
    "GroupNorm": ("num_groups", "num_channels", "eps", "affine"),
    "Embedding": ("num_embeddings", "embedding_dim"),
    "RNN": (*_RECURRENT, "nonlinearity"),
    "GRU": _RECURRENT,
    "LSTM": (*_RECURRENT, "proj_size"),
    "MultiheadAttention": ("embed_dim", "num_heads", "batch_first", "kdim", "vdim", "add_zero_attn"),
}


def from_torch(module) -> Module:
    """The same network of a torch.nn.Sequential, or of a layer that iruka.nn has.

    On a common device its parameters are torch's memory, without a copy: what torch changes in place counts from the
    next call on. float16 and bfloat16 are copied as float32. Raises TypeError that names all modules that Iruka lacks.
    """
    if isinstance(module, Module):
        raise TypeError(f"nn.from_torch: the module is one of iruka.nn already, nn.{type(module).__name__}")
    if not hasattr(module, "state_dict") or not hasattr(module, "named_children"):
        raise TypeError(f"nn.from_torch: expected a module of torch, not {type(module).__name__}")
    missing = sorted({f"{name or 'module'}: {kind}" for name, kind in _missing(module, "")})
    if missing:
        raise TypeError("nn.from_torch: there are no such modules in iruka.nn: " + ", ".join(missing))
    return _made(module)


def _is_container(module) -> bool:
    return type(module).__name__ == "Sequential"


def _missing(module, prefix: str):
    kind = type(module).__name__
    if _is_container(module):
        for name, child in module.named_children():
            yield from _missing(child, f"{prefix}.{name}" if prefix else name)
    elif kind not in _ARGUMENTS and kind not in _WITH_PARAMETERS and kind not in ("Linear", "PReLU"):
        yield prefix, kind


def _made(module) -> Module:
    kind = type(module).__name__
    if _is_container(module):
        return layers.Sequential({name: _made(child) for name, child in module.named_children()})
    if kind == "Linear":
        made: Any = layers.Linear.__new__(layers.Linear)
        Module.__init__(made)
        made.in_features, made.out_features = int(module.in_features), int(module.out_features)
        made._share("weight", module.weight)
        if module.bias is not None:
            made._share("bias", module.bias)
        return made
    if kind == "PReLU":
        made = layers.PReLU(int(module.num_parameters))
        made._share("weight", module.weight)
        return made
    if kind in _WITH_PARAMETERS:
        return _made_with_parameters(module, kind)
    places = (layers, graph_layers, activation_layers, shape_layers)
    where = next(place for place in places if hasattr(place, kind))
    return getattr(where, kind)(**{name: getattr(module, name) for name in _ARGUMENTS[kind]})


def _made_with_parameters(module, kind: str) -> Module:
    where = graph_layers if hasattr(graph_layers, kind) else sequence_layers
    tensors = module.state_dict()
    with graph_layers.replaced_parameters():
        made = getattr(where, kind)(**{name: getattr(module, name) for name in _WITH_PARAMETERS[kind]})
    unknown = [name for name in tensors if name not in made._parameters and name != "num_batches_tracked"]
    if unknown:
        raise ValueError(f"nn.from_torch: {kind} has parameters that nn.{kind} lacks: {', '.join(unknown)}")
    for name in list(made._parameters):
        if name in tensors:
            made._share(name, tensors[name])
        else:
            del made._parameters[name]  # a bias that torch's module lacks
    return made
