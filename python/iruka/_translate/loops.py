"""Loops and branches of a function that is translated: what a loop runs over, and what is known where control meets."""

from __future__ import annotations

from typing import Any, NamedTuple

from .bounds import HIGHEST, LOWEST, Form, symbol, with_facts
from .knowledge import form_of
from .values import Value, integer


class Loop:
    """A loop around a statement: its flag for `else`, and the variables that have values where it is left."""

    def __init__(self, broke: str):
        self.broke = broke
        self.breaks: list[set[str] | None] = []
        self.continues: list[set[str] | None] = []
        self.ends: list[set[str] | None] = []


class Range:
    """A range of integers, whose bounds are constants or names."""

    unroll: bool | int | None = None  # how the loop is to be unrolled, where it is said
    is_known_to_rise = False

    def __init__(self, start: Value, stop: Value, step: Value):
        self.start, self.stop, self.step = start.text, stop.text, step
        self.bounds = start, stop, step

    def is_known_to_run(self) -> bool:
        known = all(bound.is_constant for bound in self.bounds)
        return known and len(range(*(int(bound.constant) for bound in self.bounds))) > 0

    def ends_before_overflow(self) -> bool:
        """Whether the first place behind the range is an int64."""
        stop, step = self.bounds[1], self.step
        if self.is_known_to_rise and not step.is_constant:
            return True  # by a number of threads, far below the largest int64
        if not step.is_constant:
            return False
        bound, by = form_of(stop), int(step.constant)
        last = (bound.high if by > 0 else bound.low) if bound else (HIGHEST if by > 0 else LOWEST)
        return LOWEST <= last + by - (1 if by > 0 else -1) <= HIGHEST

    def test(self, place: str) -> str:
        return f"{place} {'<' if self.is_known_to_rise or self.step.constant > 0 else '>'} {self.stop}"

    def ends_within(self, low: int, high: int) -> bool:
        """Whether the counter stays between these numbers also when the last step leaves the range."""
        _, stop, step = (form_of(each) for each in self.bounds)
        if stop is None or step is None or step.low <= 0 <= step.high:
            return False
        return stop.high + step.high <= high if step.low > 0 else stop.low + step.low >= low

    def counted(self) -> tuple[Value, Any]:
        count = integer(f"python::length_of_range({self.start}, {self.stop}, {self.step.text})")
        return count, lambda k: integer(f"python::item_of_range({self.start}, {k.text}, {self.step.text})")

    def counter(self) -> Form | None:
        """The counter in a round of the loop, where it stays between the bounds."""
        start, stop, step = (form_of(each) for each in self.bounds)
        if start is None or stop is None or step is None or step.terms:
            return None
        if step.constant < 0:
            start, stop = stop.shifted(1), start.shifted(1)
        made = symbol(start.low, max(start.low, stop.high - 1))
        return with_facts(made, [made.minus(start), stop.minus(made).shifted(-1)])


class Side(NamedTuple):
    """Where a branch ends: the variables that have values (None: it does not end here), their forms, and facts."""

    assigned: set[str] | None
    known: dict[str, Form]
    facts: list[Form]


def from_end(count: Value, k: Value) -> Value:
    known = count.form is not None and k.form is not None
    form = count.form.minus(k.form).shifted(-1) if known else None  # type: ignore[union-attr, arg-type]
    return integer(f"({count.text} - 1 - {k.text})", form)


def met(states: list[set[str] | None]) -> set[str] | None:
    """The variables that have a value whichever way led here; None where none does."""
    reached = [state for state in states if state is not None]
    return set.intersection(*reached) if reached else None
