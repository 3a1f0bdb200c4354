"""What is known of the integers of a function: bounds, which make checks of indices and 64 bits unnecessary.

An integer is a linear form of symbols, which stand for values that never change: an extent, the counter of one round of
a loop, a result of which only bounds are known. Facts are forms that are not negative. All arithmetic here is that of
unbounded integers: a form exists only where 64 bits hold the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

LOWEST, HIGHEST = -(2**63), 2**63 - 1
MOST = 2**62  # forms beyond it are not followed
_DEEPEST, _MOST_STEPS = 4, 300


class Symbol:
    """A value between two numbers; `facts` hold wherever it exists."""

    __slots__ = ("facts", "high", "low", "number")
    _numbers = itertools.count()

    def __init__(self, low: int = LOWEST, high: int = HIGHEST):
        self.low, self.high, self.number = low, high, next(Symbol._numbers)
        self.facts: list[Form] = []


class Form:
    """constant + the sum of factor * symbol."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int = 0, terms: dict[Symbol, int] | None = None):
        self.constant, self.terms = constant, terms or {}

    @property
    def low(self) -> int:
        return self.constant + sum(f * (s.low if f > 0 else s.high) for s, f in self.terms.items())

    @property
    def high(self) -> int:
        return self.constant + sum(f * (s.high if f > 0 else s.low) for s, f in self.terms.items())

    def plus(self, other: Form, factor: int = 1) -> Form:
        terms = dict(self.terms)
        for symbol, each in other.terms.items():
            if total := terms.get(symbol, 0) + factor * each:
                terms[symbol] = total
            else:
                del terms[symbol]
        return Form(self.constant + factor * other.constant, terms)

    def minus(self, other: Form) -> Form:
        return self.plus(other, -1)

    def shifted(self, constant: int) -> Form:
        return Form(self.constant + constant, self.terms)

    def times(self, factor: int) -> Form:
        return Form(self.constant * factor, {s: f * factor for s, f in self.terms.items() if factor})

    def equals(self, other: Form) -> bool:
        return self.constant == other.constant and self.terms == other.terms

    def fits(self, low: int, high: int) -> bool:
        return low <= self.low and self.high <= high


def symbol(low: int = LOWEST, high: int = HIGHEST) -> Form:
    """A new value, of which only bounds are known."""
    return Form(0, {Symbol(low, high): 1})


def followed(form: Form) -> Form | None:
    """The form where no step of its computation can leave 64 bits."""
    return form if form.fits(-MOST, MOST) else None


def with_facts(form: Form, facts: Iterable[Form]) -> Form:
    """A form of one symbol, with facts that hold wherever it does."""
    next(iter(form.terms)).facts += facts
    return form


def facts_with(form: Form | None) -> list[Form]:
    """The facts that hold where the symbols of a form exist."""
    return [fact for each in form.terms for fact in each.facts] if form is not None else []


class Facts:
    """The facts that hold where the translation stands."""

    def __init__(self) -> None:
        self.known: list[Form] = []

    def holds(self, form: Form) -> bool:
        """Whether the form is known not to be negative."""
        self.steps = 0
        return self._holds(form, _DEEPEST)

    def _holds(self, form: Form, depth: int) -> bool:
        if form.low >= 0:
            return True
        self.steps += 1
        if depth == 0 or self.steps > _MOST_STEPS:
            return False
        return any(self._holds(form.plus(fact, -factor), depth - 1) for fact, factor in self._helpful(form))

    def _helpful(self, form: Form) -> Iterable[tuple[Form, int]]:
        """Facts that remove a symbol whose own bound does not suffice, and how often to subtract them."""
        for each, factor in form.terms.items():
            for fact in itertools.chain(each.facts, self.known):
                own = fact.terms.get(each, 0)
                if own and factor % own == 0 and factor // own > 0:
                    yield fact, factor // own

    def is_within(self, index: Form, extent: Form) -> bool:
        """Whether 0 <= index < extent."""
        return self.holds(index) and self.holds(extent.minus(index).shifted(-1))


def compared(sign: str, a: Form, b: Form) -> tuple[list[Form], list[Form]]:
    """The facts where a comparison is true, and where it is false."""
    less, more = b.minus(a), a.minus(b)
    if sign == "<":
        return [less.shifted(-1)], [more]
    if sign == "<=":
        return [less], [more.shifted(-1)]
    if sign in (">", ">="):
        return compared("<" if sign == ">" else "<=", b, a)
    if sign in ("==", "!="):
        both: tuple[list[Form], list[Form]] = [less, more], []
        return both if sign == "==" else both[::-1]
    return [], []


def operated(sign: str, a: Form, b: Form, facts: Facts) -> Form | None:
    """The form of `a sign b` with Python's meaning; None where nothing is known."""
    if sign in "+-":
        return followed(a.plus(b, 1 if sign == "+" else -1))
    if sign == "*":
        if not a.terms:
            a, b = b, a
        if not b.terms:
            return followed(a.times(b.constant))
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return symbol(min(corners), max(corners)) if max(map(abs, corners)) <= MOST else None
    if sign == "%":
        if not facts.holds(b.shifted(-1)):  # of division by zero the rest is 0
            return symbol(min(0, b.low + 1), max(0, b.high - 1))
        rest = symbol(0, max(0, b.high - 1))
        return with_facts(rest, [b.minus(rest).shifted(-1)])
    if sign in "&|^" and b.terms:
        most = max(abs(each) for each in (a.low, a.high, b.low, b.high)).bit_length()
        return symbol(0 if min(a.low, b.low) >= 0 else -(1 << most), (1 << most) - 1)
    if b.terms:
        most = max(-a.low, a.high)
        return symbol(-most, most) if sign == "//" else None
    return _operated_by_number(sign, a, b.constant)


def _operated_by_number(sign: str, a: Form, number: int) -> Form | None:
    if sign in ("<<", ">>"):
        if not 0 <= number < 62:
            return None
        return followed(a.times(1 << number)) if sign == "<<" else _operated_by_number("//", a, 1 << number)
    if sign == "//" and number > 0:
        quotient = symbol(a.low // number, a.high // number)
        rest = a.minus(quotient.times(number))
        return with_facts(quotient, [rest, rest.times(-1).shifted(number - 1)]) if followed(a) else quotient
    if sign == "&" and number >= 0:
        return symbol(0, number)
    return operated(sign, a, symbol(number, number), Facts()) if sign in "&|^" else None


def extreme(name: str, forms: list[Form | None], lowest: int = LOWEST, highest: int = HIGHEST) -> Form | None:
    """The form of min or max, of which one known operand is a bound; the others are between the last two."""
    known = [each for each in forms if each is not None]
    if not known:
        return None
    is_least = name == "first_min"
    if len(known) < len(forms):
        bounds = (lowest, min(each.high for each in known)) if is_least else (max(each.low for each in known), highest)
    else:
        pick = min if is_least else max
        bounds = pick(each.low for each in known), pick(each.high for each in known)
    made = symbol(*bounds)
    return with_facts(made, [each.minus(made) if is_least else made.minus(each) for each in known])


def joined(sides: list[tuple[Form | None, list[Form]]], facts: Facts) -> Form | None:
    """A value that is one of several, each with the facts of its side."""
    known = [(form, own) for form, own in sides if form is not None]
    if len(known) < len(sides):
        return None
    forms = [form for form, _ in known]
    if all(each.equals(forms[0]) for each in forms[1:]):
        return forms[0]
    made = symbol(min(each.low for each in forms), max(each.high for each in forms))
    candidates = [*forms, Form()]
    found = []
    for candidate in candidates:
        for sign in (1, -1):  # the candidate is below the value, or above it
            if all(_holds_with(facts, own, form.minus(candidate).times(sign)) for form, own in known):
                found.append(made.minus(candidate).times(sign))
    return with_facts(made, found)


def _holds_with(facts: Facts, more: list[Form], form: Form) -> bool:
    count = len(facts.known)
    facts.known += more
    try:
        return facts.holds(form)
    finally:
        del facts.known[count:]
