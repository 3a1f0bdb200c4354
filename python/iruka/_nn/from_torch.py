"""Modules made of torch's, which are recognised by the names of their classes: torch itself is not imported."""

from __future__ import annotations

from typing import Any

from ..errors import TypeError
from . import layers
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
    "Dropout": ("p",),
}


def from_torch(module) -> Module:
    """The same network of a torch.nn.Sequential, Linear or activation.

    On a common device its parameters are torch's memory, without a copy: what torch changes in place counts from the
    next call on. float16 and bfloat16 are copied as float32. Raises TypeError that names all modules that Iruka lacks.
    """
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
    elif kind not in _ARGUMENTS and kind not in ("Linear", "PReLU"):
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
    return getattr(layers, kind)(*(getattr(module, name) for name in _ARGUMENTS[kind]))
