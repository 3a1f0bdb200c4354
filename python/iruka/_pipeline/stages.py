"""Stages that a pipeline has beside image's own."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from .. import image
from .._image.elsewhere import explain_arguments
from .._image.stages import Stage, pair_of
from ..errors import TypeError, ValueError
from .checks import number, numbers, pair
from .randoms import Bernoulli, Random, Uniform


def _size_of(given, function: str) -> tuple[int, int]:
    """Two positive integers. Raises TypeError and ValueError otherwise."""
    size = pair_of(given, function)
    if min(size) < 1:
        raise ValueError(f"{function}: (height, width) are positive, not {size}")
    return size


class PipelineStage:
    """A stage that image.Chain does not have, because its numbers depend on the sample."""


@dataclasses.dataclass(frozen=True)
class Decode(PipelineStage):
    """Decodes the file or the bytes of a sample: see image.imread.

    reducing_gap: where the next stage is an antialiased resize, or a crop and such a resize, a JPEG is decoded at 1/8,
        1/4 or 1/2 of its size while it remains so many times as large as the result: much faster, nearly the same.
    """

    mode: str = "rgb"
    dtype: object = None
    max_pixels: int | None = None
    apply_orientation: bool = True
    reducing_gap: float | None = None

    def _options(self, device):
        gap = None if self.reducing_gap is None else number(self.reducing_gap, "Decode: reducing_gap")
        if gap is not None and not gap >= 1:
            raise ValueError(f"Decode: reducing_gap is at least 1, not {gap}")
        given = (self.mode, self.max_pixels, self.apply_orientation, self.dtype, None, None, device, None)
        return (*image._options(*given, None)[:-1], gap)


@dataclasses.dataclass(frozen=True)
class RandomCrop(PipelineStage):
    """A part of `size`, (height, width), at a random place. `at` is the place: (y, x), 0 to 1 each, numbers or
    distributions; with numbers alone the part is where they say."""

    size: tuple[int, int]
    at: tuple[float | Random, float | Random] = dataclasses.field(
        default_factory=lambda: (Uniform(0.0, 1.0), Uniform(0.0, 1.0))
    )

    def _size(self):
        return _size_of(self.size, "RandomCrop")

    def _at(self):
        if not isinstance(self.at, (tuple, list)) or len(self.at) != 2:
            raise ValueError(f"RandomCrop: at is (y, x), two numbers or distributions, not {self.at!r}")
        return [each if isinstance(each, Random) else number(each, "RandomCrop: each of at") for each in self.at]


@dataclasses.dataclass(frozen=True)
class RandomResizedCrop(PipelineStage):
    """A part of random area and proportions, resized to `size`: torchvision's and DALI's.

    size: (height, width) of the result.
    area: least and most area of the part, as parts of the picture's.
    ratio: least and most width over height; its logarithm is uniform.
    filter, antialias, convention: as of image.resize.
    like: another RandomResizedCrop, whose part of the sample is taken here too, with its area and ratio: for a mask, of
        the picture's size, that has another filter.
    """

    size: tuple[int, int]
    area: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    filter: str = "linear"
    antialias: bool | None = None
    convention: str = "pillow"
    like: RandomResizedCrop | None = None

    def _resize(self):
        size = _size_of(self.size, "RandomResizedCrop")
        return image.Resize(size, self.filter, self.antialias, self.convention)._fields()

    def _drawn_by(self) -> RandomResizedCrop:
        """The stage that says which part is taken."""
        if self.like is not None and not isinstance(self.like, RandomResizedCrop):
            raise TypeError(f"RandomResizedCrop: like is another RandomResizedCrop, not {self.like!r}")
        return self if self.like is None else self.like._drawn_by()

    def _ranges(self):
        owner = self._drawn_by()
        name = "RandomResizedCrop"
        return pair(owner.area, f"{name}: area (least, most)"), pair(owner.ratio, f"{name}: ratio (least, most)")


@dataclasses.dataclass(frozen=True)
class RandomFlip(PipelineStage):
    """Mirrors left and right with probability `p`, and top and bottom with probability `vertical`."""

    p: float = 0.5
    vertical: float = 0.0

    def _flip(self):
        has_vertical = number(self.vertical, "RandomFlip: vertical") != 0
        vertical: Any = Bernoulli(self.vertical) if has_vertical else False
        horizontal: Any = Bernoulli(number(self.p, "RandomFlip: p"))
        return image.Flip(horizontal, vertical)


@dataclasses.dataclass(frozen=True)
class OneOf(PipelineStage):
    """One of several lists of stages (or stages), each with its probability; where these sum to less than 1, perhaps
    none. Without probabilities all are equally likely."""

    choices: Sequence
    probabilities: Sequence[float] | None = None

    def _parts(self):
        if not isinstance(self.choices, (list, tuple)):
            raise TypeError(f"OneOf: the choices are a list of stages, or of lists of them, not {self.choices!r}")
        choices = [list(each) if isinstance(each, (list, tuple)) else [each] for each in self.choices]
        if not choices:
            raise ValueError("OneOf: there is nothing to choose from")
        given = self.probabilities
        equal = (1.0 / len(choices),) * len(choices)
        return choices, list(equal if given is None else numbers(given, "OneOf: the probabilities"))


def Maybe(stages, p: float = 0.5) -> OneOf:
    """Applies stages, or one stage, with probability `p`."""
    return OneOf([stages], [number(p, "Maybe: p")])


@dataclasses.dataclass(frozen=True)
class Function(PipelineStage):
    """Calls `function` with the arrays of `inputs`, fields of a sample, and replaces those of `outputs` by what it
    returns: an array, or a tuple or list of them where there are several outputs. Arrays are Iruka's, on the CPU, which
    NumPy takes; np.asarray(x) is for libraries that want NumPy's own, such as OpenCV.

    Functions run on the pipeline's threads, in parallel where they leave the interpreter's lock, as NumPy and Iruka do.
    Their default device is the pipeline's.
    Kernels, vectorized functions and any Python function are taken.

    inputs: names of fields; None: the field whose stages these are.
    outputs: names of fields, which may be new; None: `inputs`.
    draws: also passes `draws=`, an object with uniform(), normal(), below(n) and bits(), whose numbers follow from the
        pipeline's seed, the epoch and the sample's index. uniform(low, high), normal(mean, std) and integers(low, high)
        are as Uniform, Normal and Integers.
    """

    function: Callable
    inputs: Sequence[str] | None = None
    outputs: Sequence[str] | None = None
    draws: bool = False


explain_arguments(PipelineStage)


def bindings_of(stage: Stage, name_of: Callable[[Random], tuple]) -> tuple[Stage, list]:
    """A stage whose drawn numbers are examples, and what replaces them: (field, element, parameter)."""
    found, changes = [], {}
    for field in dataclasses.fields(stage):
        value = getattr(stage, field.name)
        parts = value if isinstance(value, tuple) else (value,)
        if not any(isinstance(part, Random) for part in parts):
            continue
        examples = tuple(part._example() if isinstance(part, Random) else part for part in parts)
        if any(isinstance(part, Random) and type(part) is Bernoulli for part in parts):
            examples = tuple(bool(each) for each in examples)
        if field.name in ("size", "at"):
            examples = tuple(int(each) for each in examples)
        changes[field.name] = examples if isinstance(value, tuple) else examples[0]
        for element, part in enumerate(parts):
            if isinstance(part, Random):
                found.append((field.name, element, name_of(part)))
    if not changes:
        return stage, []
    if isinstance(stage, (image.WarpAffine, image.WarpPerspective, image.Pad, image.ColorMatrix)):
        raise TypeError(f"{type(stage).__name__}: its numbers cannot be drawn one by one: use a Function, or OneOf")
    plain = dataclasses.replace(stage, **changes)
    try:
        kind = plain._fields()[0]
    except (builtins.TypeError, builtins.ValueError) as error:
        raise type(error)(f"{error}, an example of {stage!r}") from None
    return plain, [(f"{kind}.{name}", element, parameter) for name, element, parameter in found]
