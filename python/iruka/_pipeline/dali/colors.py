"""DALI's operators on colours. They compute in float32 and round once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as _np

from ... import image
from .nodes import DataNode, numbers_of
from .operators import operator, picture
from .types import dtype_of

_FLOAT = _np.dtype("float32")


def _white(dtype) -> float:
    """The largest value of a picture: of integers the greatest one, of floats 1."""
    return float(_np.iinfo(dtype).max) if _np.dtype(dtype).kind in "iu" else 1.0


def _half(dtype) -> float:
    """The value that contrast keeps: half of the range."""
    return (_white(dtype) + 1) / 2 if _np.dtype(dtype).kind in "iu" else 0.5


def _colored(name: str, node, stages, values: dict, bindings: dict, dtype, device) -> DataNode:
    """stages(dtype of the input, values) between casts to float32 and to the result's dtype. Bindings count the stages
    from the first of these."""
    dtype = dtype_of(dtype, name)

    def build(info, own):
        made = [image.Cast("float32"), *stages(info.dtype, own)]
        target = _np.dtype(str(info.dtype)) if dtype is None else dtype
        return made if target == _FLOAT else [*made, image.Cast(target.name)]

    places = {key: [(stage + 1, field, 0) for stage, field in each] for key, each in bindings.items()}
    return picture(name, node, build, values, places, needs_dtype=True, dtype=dtype or node.dtype, device=device)


def _number(name: str, argument: str, value):
    return numbers_of(value, 1, name, argument)[0]


def _is_neutral(value, neutral: float) -> bool:
    return not isinstance(value, DataNode) and value == neutral


#: A stage that a number sets: the argument, its value, the field of the stage that it is bound to, the value that
#: changes nothing, and make(dtype of the picture, value).
Factor = tuple[str, object, str, float, Callable]


def _twist(name: str, node, hue, saturation, factors: list[Factor], dtype, device) -> DataNode:
    """Hue and saturation, then the stages of `factors`, without those that change nothing."""
    first: list[Factor] = [
        ("hue", hue, "hue.degrees", 0, lambda kind, value: image.Hue(value)),
        ("saturation", saturation, "saturation.factor", 1, lambda kind, value: image.Saturation(value)),
    ]
    values: dict = {}
    bindings: dict = {}
    makers: dict = {}
    for key, given, field, neutral, make in [*first, *factors]:
        value = _number(name, key, given)
        if not _is_neutral(value, neutral):
            values[key], bindings[key], makers[key] = value, [(len(makers), field)], make

    def stages(kind, own):
        return [make(kind, own[key]) for key, make in makers.items()]

    return _colored(name, node, stages, values, bindings, dtype, device)


@operator("color_twist")
def color_twist(node, *, brightness=1.0, contrast=1.0, saturation=1.0, hue=0.0, dtype=None, device=None):
    """Hue in degrees, saturation, contrast about half of the range, then brightness, as factors."""
    factors: list[Factor] = [
        ("contrast", contrast, "contrast.factor", 1, lambda kind, value: image.Contrast(value, _half(kind))),
        ("brightness", brightness, "brightness.factor", 1, lambda kind, value: image.Brightness(value)),
    ]
    return _twist("color_twist", node, hue, saturation, factors, dtype, device)


@operator("hsv")
def hsv(node, *, hue=0.0, saturation=1.0, value=1.0, dtype="uint8", device=None):
    """Hue in degrees, and factors of saturation and value."""
    factors: list[Factor] = [("value", value, "brightness.factor", 1, lambda kind, factor: image.Brightness(factor))]
    return _twist("hsv", node, hue, saturation, factors, dtype, device)


@operator("hue")
def hue(node, *, hue=0.0, dtype=None, device=None):
    """Turns hues by degrees."""
    return _twist("hue", node, hue, 1.0, [], dtype, device)


@operator("saturation")
def saturation(node, *, saturation=1.0, dtype=None, device=None):
    """Grey plus the distance from it times a factor."""
    return _twist("saturation", node, 0.0, saturation, [], dtype, device)


def _brightness_contrast(name, node, brightness, shift, contrast, center, dtype, device) -> DataNode:
    result = dtype_of(dtype, name)
    values = {
        "contrast": _number(name, "contrast", contrast),
        "brightness": _number(name, "brightness", brightness),
        "shift": _number(name, "brightness_shift", shift),
    }
    bindings = {"contrast": [(0, "contrast.factor")], "brightness": [(1, "brightness.factor")]}
    if center is not None:
        values["center"] = _number(name, "contrast_center", center)
        bindings["center"] = [(0, "contrast.center")]

    def stages(kind, own):
        middle = own.get("center", _half(kind))
        made = [image.Contrast(own["contrast"], middle), image.Brightness(own["brightness"])]
        offset = own["shift"] * _white(kind if result is None else result)
        return made if offset == 0 else [*made, image.Normalize(-offset, 1.0)]

    return _colored(name, node, stages, values, bindings, dtype, device)


@operator("brightness_contrast")
def brightness_contrast(
    node, *, brightness=1.0, brightness_shift=0.0, contrast=1.0, contrast_center=None, dtype=None, device=None
):
    """shift * white + brightness * (center + contrast * (x - center)); white is the result's largest value, 1 for
    floats, and the centre half of the input's range by default."""
    return _brightness_contrast(
        "brightness_contrast", node, brightness, brightness_shift, contrast, contrast_center, dtype, device
    )


@operator("brightness")
def brightness(node, *, brightness=1.0, brightness_shift=0.0, dtype=None, device=None):
    """shift * white + brightness * x."""
    return _brightness_contrast("brightness", node, brightness, brightness_shift, 1.0, None, dtype, device)


@operator("contrast")
def contrast(node, *, contrast=1.0, contrast_center=None, dtype=None, device=None):
    """center + contrast * (x - center); the centre is half of the range by default."""
    return _brightness_contrast("contrast", node, 1.0, 0.0, contrast, contrast_center, dtype, device)
