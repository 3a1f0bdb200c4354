"""The order in which the parts of a statement are computed.

Python goes from left to right. C++ has no order among operands, and a part may be written into a C++ expression twice.
Both do no harm where no part has an effect, so such a statement becomes one C++ expression. A statement with an effect
(a call that writes into an array, an atomic function, :=) is translated once more, in order: what reads memory or has
an effect becomes a line of its own, and a part that is not always computed stands in an `if`. The rest of its
expressions then depends on constants alone.
"""

from __future__ import annotations

import abc
import ast
import contextlib
from collections.abc import Callable, Iterator

from .knowledge import Knowledge
from .number_types import BOOL, ArrayView, Number, Object, Tuple
from .values import Value, constant, tuple_of


class Order(Knowledge, abc.ABC):
    """Puts the parts of one function's statements in order."""

    lines: list[str]
    depth: int
    statement: ast.AST  # the innermost one around what is translated
    ordered: dict[ast.AST, set[str]]  # the statements with effects, and the variables that := assigns in each
    has_named: bool  # there is a := in the function
    tested_names: dict[tuple[bool, ast.expr], set[str]]  # what assigned_if has found
    conditions: int  # expressions around this one that are not always computed, in statements without effects
    assigned: set[str] | None
    may_have_failed: bool

    @abc.abstractmethod
    def emit(self, line: str) -> None: ...
    @abc.abstractmethod
    def indented(self) -> contextlib.AbstractContextManager[None]: ...
    @abc.abstractmethod
    def temporary(self) -> str: ...
    @abc.abstractmethod
    def kept(self, value: Value, node: ast.AST) -> Value: ...
    @abc.abstractmethod
    def named(self, c_type: str, text: str) -> str: ...
    @abc.abstractmethod
    def chosen(self, test: str, a: Value, b: Value, node: ast.AST) -> Value: ...
    @abc.abstractmethod
    def truth_of(self, value: Value, node: ast.expr) -> str: ...

    def assigned_if(self, outcome: bool, node: ast.expr) -> set[str]:
        """The variables that := has assigned where this test had this outcome."""
        if not self.has_named:
            return set()
        if (outcome, node) not in self.tested_names:
            self.tested_names[outcome, node] = _assigned_if(outcome, node)
        return self.tested_names[outcome, node]

    @property
    def is_ordered(self) -> bool:
        return self.statement in self.ordered

    @property
    def may_emit(self) -> bool:
        """Whether a line may be put in front of the expression."""
        return self.is_ordered or not self.conditions

    def order(self) -> None:
        """Notes that the statement has an effect. The function is then translated once more."""
        if not self.is_ordered:
            walrus = (each for each in ast.walk(self.statement) if isinstance(each, ast.NamedExpr))
            self.ordered[self.statement] = {each.target.id for each in walrus}

    def read(self, value: Value) -> Value:
        """A number that a later part of the statement may change, as it is now."""
        if not self.is_ordered or not value.is_number or value.is_constant:
            return value
        return Value(value.type, self.named(value.type.c_type, value.text), form=value.form)

    def performed(self, value: Value, node: ast.AST) -> Value:
        """The result of something with an effect, which happens here."""
        is_stored = isinstance(self.statement, (ast.Assign, ast.AnnAssign))
        if self.is_last(node) and not (is_stored and value.type == Object(None)):
            return value
        self.order()
        if value.type == Object(None):
            self.emit(f"{value.text};")
            return constant(None)
        return self.read(value)

    def is_last(self, node: ast.AST) -> bool:
        """Whether nothing of the statement is computed after the node: it is the value of a name, say."""
        statement = self.statement
        if isinstance(statement, ast.Lambda):
            return statement.body is node
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        if not isinstance(statement, (ast.Expr, ast.Return, ast.Assign, ast.AnnAssign)):
            return False
        return statement.value is node and all(isinstance(each, (ast.Name, type(None))) for each in targets)

    # Parts that are not always computed

    @contextlib.contextmanager
    def conditional(self) -> Iterator[list[str]]:
        """Around an expression that is not always computed. Gives the lines in front of it, which an `if` is for."""
        assigned, has_failed = None if self.assigned is None else set(self.assigned), self.may_have_failed
        known, awaited = dict(self.known), list(self.awaited)
        self.conditions += 1
        with self.assuming([]):
            if self.is_ordered:
                before, self.lines = self.lines, []
                with self.indented():
                    yield self.lines
                self.lines = before
                self.known = {
                    name: form if known.get(name) is form else self.any_value(name) for name, form in self.known.items()
                }
            else:
                yield []
        self.conditions -= 1
        self.assigned, self.may_have_failed = assigned, has_failed or self.may_have_failed
        self.awaited = awaited

    def choice(
        self, test: str, one: Callable[[], Value], other: Callable[[], Value], node: ast.AST
    ) -> tuple[Value, Value, Value]:
        """`test ? one : other`, of which one side is computed; also both sides."""
        said = self.said(test)
        with self.conditional() as first, self.assuming(said[0]):
            a = one()
        with self.conditional() as second, self.assuming(said[1]):
            b = other()
        made = self.chosen(test, a, b, node)
        if not first and not second:
            return self.kept(made, node) if isinstance(made.type, ArrayView) else made, a, b
        place = self._variable(made)
        self._branch(f"if ({test}) {{", first, [(place, a)])
        self._branch("else {", second, [(place, b)])
        return place, a, b

    def in_turn(
        self, nodes: list[ast.expr], value: Callable[[ast.expr], Value], outcome: bool | None = None
    ) -> tuple[list[Value], list[list[str]]]:
        """The values of operands, of which the first alone is always computed, and the lines in front of the others.

        Tests are computed where those before them had this outcome.
        """
        values, sides, facts = [value(nodes[0])], [], []
        for each in nodes[1:]:
            facts += [] if outcome is None else self.said(values[-1].text)[0 if outcome else 1]
            with self.conditional() as lines, self.assuming(facts):
                values.append(value(each))
            sides.append(lines)
        return values, sides

    def until(self, made: Value, values: list[Value], sides: list[list[str]], node: ast.BoolOp) -> Value:
        """`and` or `or` of operands with effects: each is computed where those before it do not decide."""
        place = self._variable(made)
        self._set(place, values[0])
        for value, lines in zip(values[1:], sides, strict=True):
            test = self.truth_of(place, node)
            self._branch(f"if ({'' if isinstance(node.op, ast.And) else '!'}{test}) {{", lines, [(place, value)])
        return place

    def chain(self, values: list[Value], sides: list[list[str]], compared: Callable[[int, Value, Value], str]) -> Value:
        """a < b < c of operands with effects; `compared` gives the text of the k-th comparison."""
        place = self._variable(Value(BOOL, "false"))
        self._set(place, Value(BOOL, compared(0, values[0], values[1])))
        left = values[1]
        for k, (value, lines) in enumerate(zip(values[2:], sides, strict=True), 1):
            right = self._variable(value)
            with self.conditional() as more:
                test = compared(k, left, value)
            self._branch(f"if ({place.text}) {{", lines + more, [(right, value), (place, Value(BOOL, test))])
            left = right
        return place

    def _branch(self, head: str, lines: list[str], stores: list[tuple[Value, Value]]) -> None:
        self.emit(head)
        self.lines += lines
        with self.indented():
            for place, value in stores:
                self._set(place, value)
        self.emit("}")

    def _variable(self, value: Value) -> Value:
        """Variables for a value of this type; what is known needs none."""
        if isinstance(value.type, Tuple):
            return tuple_of([self._variable(item) for item in value.items], value.type)
        if value.is_constant or not isinstance(value.type, (Number, ArrayView)):
            return value
        name = self.temporary()
        self.emit(f"{value.type.c_type} {name}{{}};")
        return Value(value.type, name)

    def _set(self, place: Value, value: Value) -> None:
        if isinstance(place.type, Tuple):
            for item, part in zip(place.items, value.items, strict=True):
                self._set(item, part)
        elif not place.is_constant and isinstance(place.type, (Number, ArrayView)):
            text = value.as_type(place.type) if isinstance(place.type, Number) else value.text
            self.emit(f"{place.text} = {text};")


def _assigned_if(outcome: bool, node: ast.expr) -> set[str]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _assigned_if(not outcome, node.operand)
    parts: list[ast.expr] = []
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) == outcome:
        parts = node.values
    elif isinstance(node, ast.Compare) and outcome:
        return set().union(*map(_assigned, [node.left, *node.comparators]))
    return _assigned(node).union(*(_assigned_if(outcome, each) for each in parts))


def _assigned(node: ast.AST) -> set[str]:
    """The variables that := assigns in the parts of an expression that are always computed."""
    parts: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    elif isinstance(node, ast.Compare):
        parts = [node.left, node.comparators[0]]
    elif isinstance(node, ast.IfExp):
        parts = [node.test]
    elif isinstance(node, ast.Lambda):
        parts = list(node.args.defaults)
    own = {node.target.id} if isinstance(node, ast.NamedExpr) else set()
    return own.union(*map(_assigned, parts))
