"""What a translation knows of a function's integers: the form of each variable, and the facts that hold where it is."""

from __future__ import annotations

import ast
import collections
import contextlib
import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy

from .bounds import MOST, Facts, Form, compared, extreme, joined, operated, symbol
from .number_types import INT, ArrayView, Number, arithmetic
from .values import Value

INT32 = -(2**31), 2**31 - 1
_LARGEST_STEP = 2**31

Tests = tuple[list[Form], list[Form]]  # facts where a condition is true, and where it is false


def form_of(value: Value) -> Form | None:
    """The form of an integer; None where nothing is known."""
    if value.form is not None:
        return value.form
    if value.is_constant and value.is_number and value.type.kind in "iu":
        return Form(int(value.constant))
    return None


def form_as(value: Value, type: Number) -> Form | None:
    """The form of an integer that is converted to this type of integers; None where the type may not hold it."""
    form = form_of(value)
    return form if form is not None and type.kind in "iu" and form.fits(*limits(type)) else None


@functools.cache
def _limits(dtype: numpy.dtype) -> tuple[int, int]:
    info = numpy.iinfo(dtype)
    return int(info.min), int(info.max)


def limits(type: Number) -> tuple[int, int]:
    return _limits(type.dtype)


class Knowledge:
    """Forms of variables by their names in C++, facts, and what the conditions of the current statement say."""

    loop_names: dict[ast.AST, LoopNames]  # of the loops that were translated before

    def forget_all(self) -> None:
        self.known: dict[str, Form] = {}
        self.held: dict[str, tuple[int, int]] = {}  # the least and the largest value of each variable's type
        self.facts = Facts()
        self.tests: dict[str, Tests] = {}
        self.awaited: list[Form] = []  # facts that hold once the statement has not failed

    # Values

    def extent(self, array: ArrayView, axis: int) -> Form | None:
        """The extent of an axis: a number, or one value for all axes of a name."""
        name = array.axes[axis] if array.axes else None
        if name is None or isinstance(name, int):
            return None if name is None else Form(name)
        extents = self.program.extents  # type: ignore[attr-defined]
        if name not in extents:
            extents[name] = symbol(0, INT32[1] if array.is_small else array.longest)
        return extents[name]

    def with_form(self, value: Value, form: Form | None) -> Value:
        if form is not None and value.is_number and value.type.kind in "iu" and form.fits(*limits(value.type)):
            value.form = form
        return value

    def with_result(self, sign: str, a: Value, b: Value, result: Value) -> Value:
        """The result of an operator with its form; of a comparison, what it says."""
        if sign in ("<", "<=", ">", ">=", "==", "!="):
            self._note_comparison(sign, a, b, result.text)
            return result
        if not result.is_number or result.is_constant:
            return result
        left, right = form_as(a, result.type), form_as(b, result.type)
        if left is None and sign in "%&" and result.type.kind in "iu" and a.type.kind in "iu":
            left = symbol(*limits(result.type))
        if left is None or right is None:
            return result
        return self.with_form(result, operated(sign, left, right, self.facts))

    def _note_comparison(self, sign: str, a: Value, b: Value, text: str) -> None:
        """What a comparison says of its operands as it compares them: in their common type, or by their values."""
        common = arithmetic(a.type, b.type)
        if common.kind in "iu":
            left, right = form_as(a, common), form_as(b, common)
        else:
            left, right = form_of(a), form_of(b)
        if left is not None and right is not None and text:
            self.tests[text] = compared(sign, left, right)

    def plain_text(self, sign: str, a: Value, b: Value) -> str:
        """C++'s operator where it has Python's meaning: the result fits 64 bits, and quotients are not negative."""
        left, right = form_as(a, INT), form_as(b, INT)
        if left is None or right is None:
            return ""
        if sign in ("//", "%"):
            if left.low < 0 or right.low <= 0:
                return ""
        elif sign not in "+-*" or operated(sign, left, right, self.facts) is None:
            return ""
        return f"({a.as_type(INT)} {'/' if sign == '//' else sign} {b.as_type(INT)})"

    def with_extreme(self, name: str, a: Value, b: Value, result: Value) -> Value:
        if result.type.kind not in "iu":
            return result
        forms = [form_as(each, result.type) for each in (a, b)]
        return self.with_form(result, extreme(name, forms, *limits(result.type)))

    # Conditions

    def said(self, test: str) -> Tests:
        return self.tests.get(test, ([], []))

    def both_said(self, made: str, tests: list[str], is_and: bool) -> None:
        side = 0 if is_and else 1
        found = [fact for test in tests for fact in self.said(test)[side]]
        self.tests[made] = (found, []) if is_and else ([], found)

    @contextlib.contextmanager
    def assuming(self, facts: list[Form]) -> Iterator[None]:
        """Around what is reached only where these facts hold."""
        count = len(self.facts.known)
        self.facts.known += facts
        yield
        del self.facts.known[count:]

    # Variables

    def note(self, name: str, type: Number, value: Value) -> None:
        """The variable `name` gets the value."""
        if type.kind not in "iu":
            self.known.pop(name, None)
            return
        form = form_as(value, type) if value.type.kind in "iu" else None
        self.held[name] = limits(type)
        self.known[name] = form if form is not None else symbol(*limits(type))

    def any_value(self, name: str) -> Form:
        """The form of a variable of which nothing but its type is known."""
        return symbol(*self.held[name])

    def meet(self, sides: list[tuple[dict[str, Form], list[Form]]]) -> None:
        """What is known behind branches: the forms of variables and the facts of each."""
        if not sides:
            return
        if len(sides) == 1:
            self.known = sides[0][0]
            self.facts.known += sides[0][1]
            return
        first, others = sides[0][0], [known for known, _ in sides[1:]]
        self.known = {}
        for name, form in first.items():
            if not all(name in known for known in others):
                continue
            if any(known[name] is not form for known in others):  # else no side has assigned it
                made = joined([(known[name], facts) for known, facts in sides], self.facts)
                if made is None:
                    continue
                form = made
            self.known[name] = form

    def forget_assigned(self, loop: ast.While | ast.For) -> list[tuple[Form, Form, Counter]]:
        """Where a loop begins, variables that it assigns have any values. Gives its counters and their beginnings."""
        counters, begun = self._names_of(loop).counters, []
        for name, key in self._assigned_in(loop):
            before, self.known[key] = self.known[key], self.any_value(key)
            counter = counters.get(name) if self.held[key][0] < 0 else None  # unsigned ones wrap behind 0
            if counter and key == self.c_name(name) and before.fits(-MOST, MOST):  # type: ignore[attr-defined]
                begun.append((self.known[key], before, counter))
                if counter.never_wraps:
                    _bound_by_start(*begun[-1])
        return begun

    def forget_behind(self, loop: ast.While | ast.For) -> None:
        """Behind a loop, the variables that it assigns have any values."""
        for _, key in self._assigned_in(loop):
            self.known[key] = self.any_value(key)

    def bound_counters(self, begun: list[tuple[Form, Form, Counter]], test: str) -> None:
        """The test of a loop bounds its counters, which then do not leave 64 bits."""
        for form, before, counter in begun:
            (own,) = form.terms
            for fact in self.said(test)[0]:
                factor = fact.terms.get(own, 0)
                if factor == -1 and counter.rises:
                    own.high = min(own.high, fact.plus(form).high)
                elif factor == 1 and not counter.rises:
                    own.low = max(own.low, form.minus(fact).low)
            if not counter.never_wraps and (own.high <= MOST if counter.rises else own.low >= -MOST):
                _bound_by_start(form, before, counter)

    def _assigned_in(self, loop: ast.While | ast.For) -> list[tuple[str, str]]:
        """The variables that a loop assigns, by their names in Python and in C++; a tuple has several of these."""
        owned = [(name, self.c_name(name)) for name in self._names_of(loop).stored]  # type: ignore[attr-defined]
        return [(name, key) for key in self.known for name, own in owned if key == own or key.endswith("_" + own)]

    def _names_of(self, loop: ast.While | ast.For) -> LoopNames:
        if loop not in self.loop_names:
            stored = _stored_in(loop)
            self.loop_names[loop] = LoopNames(stored, _counters(loop, stored))
        return self.loop_names[loop]


class LoopNames(NamedTuple):
    """What a loop assigns, by names in Python."""

    stored: dict[str, int]  # how often it stands there
    counters: dict[str, Counter]


class Counter(NamedTuple):
    """A variable that only `name += number` changes, at most once in a round, and that the loop's test bounds."""

    rises: bool
    never_wraps: bool  # whatever the values in the test are


def _bound_by_start(form: Form, before: Form, counter: Counter) -> None:
    (own,) = form.terms
    if counter.rises:
        own.low = max(own.low, before.low)
    else:
        own.high = min(own.high, before.high)
    own.facts.append(form.minus(before).times(1 if counter.rises else -1))


def _stored_in(loop: ast.While | ast.For) -> dict[str, int]:
    names = (each for each in ast.walk(loop) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    return dict(collections.Counter(each.id for each in names))


def _counters(loop: ast.While | ast.For, stored: dict[str, int]) -> dict[str, Counter]:
    found: dict[str, Counter] = {}
    for name, rises, is_safe in _bounded_by(loop.test) if isinstance(loop, ast.While) else ():
        steps = [each for each in _steps(loop.body) if isinstance(each.target, ast.Name) and each.target.id == name]
        if len(steps) != 1 or stored[name] != 1:
            continue
        step = steps[0].value
        if not isinstance(step, ast.Constant) or type(step.value) is not int or not 0 < step.value < _LARGEST_STEP:
            continue
        if isinstance(steps[0].op, ast.Add if rises else ast.Sub):
            found[name] = Counter(rises, is_safe and step.value == 1)
    return found


def _bounded_by(test: ast.expr) -> list[tuple[str, bool, bool]]:
    """Variables that a condition bounds, whether from above, and whether one more step does not leave 64 bits."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [each for value in test.values for each in _bounded_by(value)]
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return []
    if not isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return []
    bound = test.comparators[0]
    is_small = isinstance(bound, ast.Constant) and type(bound.value) is int and abs(bound.value) < _LARGEST_STEP
    is_strict = isinstance(test.ops[0], (ast.Lt, ast.Gt))
    return [(test.left.id, isinstance(test.ops[0], (ast.Lt, ast.LtE)), is_strict or is_small)]


def _steps(statements: list[ast.stmt]) -> Iterator[ast.AugAssign]:
    """The assignments such as i += 1 that a round runs at most once."""
    for each in statements:
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            yield each
        elif isinstance(each, ast.If):
            yield from _steps(each.body)
            yield from _steps(each.orelse)
