"""Names and arguments of torchvision's transforms, and what stands in their place here: errors say so."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
from collections.abc import Iterable, Mapping

from ..errors import TypeError

_VARIED = "it is `factor`, and Uniform(1 - x, 1 + x) draws it"
_FILTER = "it is `filter`: 'nearest', 'linear', 'cubic', ..."
_BORDER = {"fill": "it is `value`", "padding_mode": "it is `mode`"}
_PAD_FIRST = "image.Pad(margins, mode, value) in front of it adds margins"

#: Of stages, by the stage's name.
ARGUMENTS: dict[str, dict[str, str]] = {
    "RandomCrop": dict.fromkeys(("padding", "pad_if_needed", "fill", "padding_mode"), _PAD_FIRST),
    "RandomResizedCrop": {"scale": "it is `area`, (least, most)", "interpolation": _FILTER},
    "Resize": {"interpolation": _FILTER, "max_size": "fit='not_larger' keeps both sides within `size`"},
    "Pad": {"padding": "it is `margins`: one integer, (rows, columns) or ((top, bottom), (left, right))", **_BORDER},
    "Rotate": {"degrees": "it is `angle`, and Uniform(-d, d) draws it", "interpolation": _FILTER, **_BORDER},
    "Normalize": {"inplace": "a stage leaves its input as it is"},
    "Brightness": {"brightness": _VARIED},
    "Contrast": {"contrast": _VARIED},
    "Saturation": {"saturation": _VARIED},
    "Hue": {"hue": "it is `degrees`, and Uniform(-360 * x, 360 * x) draws them"},
    "RandomFlip": dict.fromkeys(("prob", "horizontal"), "it is `p`"),
    "OneOf": dict.fromkeys(("p", "prob", "weights"), "they are `probabilities`, one for each choice"),
}

_JITTER = (
    "image.Brightness(Uniform(1 - b, 1 + b)), image.Contrast(...), image.Saturation(...) and "
    "image.Hue(Uniform(-360 * h, 360 * h))"
)
_LIST = "a list of stages, or image.Chain(stages) outside of a pipeline"
_FUNCTION = "a function among the stages, or Function(f, draws=True) where it draws random numbers"

#: Of transforms and of what stands beside them in a program, by their names.
TRANSFORMS = {
    "CenterCrop": "image.Crop((height, width))",
    "RandomHorizontalFlip": "RandomFlip(p)",
    "RandomVerticalFlip": "RandomFlip(0, vertical=p)",
    "RandomRotation": "image.Rotate(Uniform(-degrees, degrees))",
    "RandomAffine": _FUNCTION,
    "RandomPerspective": _FUNCTION,
    "RandomErasing": _FUNCTION,
    "Lambda": _FUNCTION,
    "ColorJitter": _JITTER,
    "ToTensor": "image.Normalize(0, 255) and image.Layout('CHW'), and Pipeline(..., output='torch')",
    "PILToTensor": "image.Layout('CHW'), and Pipeline(..., output='torch')",
    "ToPILImage": "Pillow's Image.fromarray(np.asarray(picture))",
    "ConvertImageDtype": "image.Cast(dtype)",
    "ToDtype": "image.Cast(dtype)",
    "Grayscale": "Decode(mode='gray'), or image.ConvertColor('rgb', 'gray')",
    "RandomGrayscale": "Maybe(image.Saturation(0), p)",
    "GaussianBlur": "image.gaussian_filter in a function among the stages",
    "RandomApply": "Maybe(stages, p)",
    "RandomChoice": "OneOf([stage, ...])",
    "Compose": _LIST,
    "Sequential": _LIST,
    "ImageFolder": "folder(path)",
    "DataLoader": "Pipeline(source, stages, batch_size)",
    "TensorDataset": "arrays(name=array, ...)",
}


def refuse_unknown(function: str, given: Iterable[str], known: Iterable[str], elsewhere: Mapping[str, str]) -> None:
    """Raises TypeError for an argument that a function does not have, and says what stands in its place."""
    known = list(known)
    for name in given:
        if name in known:
            continue
        near = difflib.get_close_matches(name, known, 1)
        advice = elsewhere.get(name) or (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}")
        raise TypeError(f"{function}: there is no argument {name!r}: {advice}")


def explain_arguments(base: type) -> None:
    """Lets the constructors of the classes of a module that are made of `base` explain arguments that they do not
    have."""
    kind: type
    for kind in base.__subclasses__():
        _explain(kind)
        explain_arguments(kind)


def _explain(kind: type) -> None:
    construct = kind.__init__  # type: ignore[misc]
    if hasattr(construct, "__wrapped__"):
        return
    known = list(inspect.signature(construct).parameters)[1:]

    @functools.wraps(construct)
    def start(self, *arguments, **named):
        refuse_unknown(kind.__name__, named, known, ARGUMENTS.get(kind.__name__, {}))
        construct(self, *arguments, **named)

    kind.__init__ = start  # type: ignore[misc]


def missing(module: str, name: str, neighbour: str) -> AttributeError:
    """The error of a name that a module does not have; `neighbour` is a module that may have it."""
    if name in TRANSFORMS:
        return AttributeError(f"{module} has no {name!r}: use {TRANSFORMS[name]}", name=name)
    if name[0].isupper() and name in vars(importlib.import_module(neighbour)):
        return AttributeError(f"{module} has no {name!r}: it is {neighbour}.{name}", name=name)
    return AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
