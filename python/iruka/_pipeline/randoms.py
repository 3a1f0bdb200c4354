"""Numbers that a pipeline draws for each sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import TypeError, ValueError
from .checks import number, numbers

if TYPE_CHECKING:
    _Number = float  # a distribution may stand where a stage has a number
else:
    _Number = object


class Random(_Number):
    """A number of a stage that is drawn for each sample.

    It follows from the pipeline's seed, the epoch and the sample's index. One object that stands in several places, of
    several fields too, has the same number there: a picture and its mask are turned by the same angle.
    """

    def __post_init__(self):
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            number(getattr(self, field.name), f"{type(self).__name__}: {field.name}")

    def __bool__(self):
        raise TypeError(f"{type(self).__name__}: it is drawn for each sample and has no truth; a Function draws itself")

    def _distribution(self) -> tuple:
        """The distribution as the core takes it."""
        raise TypeError(f"{type(self).__name__}: a distribution is a Uniform, a Normal or another of iruka.pipeline's")

    def _example(self) -> float:
        """A number that the distribution gives, with which a stage checks its other numbers."""
        return float(self._distribution()[1])


@dataclasses.dataclass(frozen=True, eq=False)
class Uniform(Random):
    """Any number from `low` to below `high`."""

    low: float
    high: float

    def _distribution(self):
        return ("uniform", self.low, self.high)


@dataclasses.dataclass(frozen=True, eq=False)
class LogUniform(Random):
    """A number from `low` to below `high`, both positive, whose logarithm is uniform: 1/2 is as likely as 2."""

    low: float
    high: float

    def _distribution(self):
        return ("log_uniform", self.low, self.high)


@dataclasses.dataclass(frozen=True, eq=False)
class Normal(Random):
    """Gauss's bell of this mean and standard deviation."""

    mean: float = 0.0
    std: float = 1.0

    def _distribution(self):
        return ("normal", self.mean, self.std)


@dataclasses.dataclass(frozen=True, eq=False)
class Bernoulli(Random):
    """1 with probability `p`, else 0; True and False where a stage has a switch."""

    p: float = 0.5

    def _distribution(self):
        return ("bernoulli", self.p)


@dataclasses.dataclass(frozen=True, eq=False)
class Integers(Random):
    """An integer from `low` to `high` - 1."""

    low: int
    high: int

    def _distribution(self):
        return ("integers", self.low, self.high)


@dataclasses.dataclass(frozen=True, eq=False)
class Choice(Random):
    """One of `values`, with probabilities in proportion to `weights` (None: all equal)."""

    values: Sequence[float]
    weights: Sequence[float] | None = None

    def __post_init__(self):
        numbers(self.values, "Choice: the values (OneOf chooses among stages)")
        if self.weights is not None:
            numbers(self.weights, "Choice: the weights")

    def _distribution(self):
        if len(self.values) == 0:
            raise ValueError("Choice: there are no values to choose from")
        return ("choice", tuple(self.values), None if self.weights is None else tuple(self.weights))

    def _example(self):
        return float(self._distribution()[1][0])
