"""Functions of Python as functions of C++: statements, variables, and the functions that they call."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy

from ..errors import TranslationError
from .array_expressions import ArrayExpression
from .bounds import Form, facts_with, symbol
from .expressions import BINARY, MOST_CHOICES, is_function
from .knowledge import LoopNames, limits
from .local_arrays import LocalArrays
from .loops import Loop, Range, Side, from_end, met
from .nested import Nested, NestedFunctions
from .number_types import (
    ArrayView,
    LocalArray,
    Number,
    Object,
    Tuple,
    c_type_of,
    has_array,
    is_whole,
    known_of,
)
from .source import REFUSED_PARAMETERS, TOO_DEEP, Source
from .tables import Table, rows_of
from .values import Value, constant, integer, tuple_of

_IN_WORDS = {
    ast.Try: "a kernel cannot catch exceptions; test the condition with `if`",
    ast.With: "`with` has no place in a kernel",
    ast.Import: "import at the top of the file; a kernel uses what is there",
    ast.ImportFrom: "import at the top of the file; a kernel uses what is there",
    ast.Global: "a kernel cannot change global variables; return the value",
    ast.Nonlocal: "a kernel cannot change variables of an outer function; return the value",
    ast.ClassDef: "classes have no place in a kernel; use tuples",
    ast.Delete: "`del` has no meaning in a kernel",
    ast.Match: "`match` is not supported; use if and elif",
    ast.AsyncFunctionDef: "a kernel does not wait for coroutines",
}
_MOST_ROUNDS = 32
_CONSTANT = re.compile(r"t_\d+(\.item_\d+)*")


class FunctionTranslator(LocalArrays, NestedFunctions):
    """One function for one tuple of argument types.

    The types of variables are found by translating until no assignment changes them. `assigned` holds the variables
    that have a value wherever the translation stands; it is None after return, raise, break and continue.
    """

    read_only = "this array is an input; results go to the last parameters"

    def __init__(self, program, function: types.FunctionType | Nested, arguments: tuple[Any, ...], name: str):
        super().__init__()
        self.source = function.source if isinstance(function, Nested) else Source(function)
        self.program, self.name = program, name
        self.arguments = self._bound(arguments)
        self.variables: dict[str, Any] = {}
        self.returned: Any = None
        self.can_fail = False
        self.ordered: dict[ast.AST, set[str]] = {}
        self.tested_names: dict[tuple[bool, ast.expr], set[str]] = {}
        self.loop_names: dict[ast.AST, LoopNames] = {}
        self.has_effects = False  # on more than the local arrays that callers give
        self.changes_arrays = False  # local ones of callers
        nodes = [each for each in ast.walk(self.source.tree) if isinstance(each, (ast.Name, ast.NamedExpr))]
        self.assigned_names = {each.id for each in nodes if isinstance(each, ast.Name) and type(each.ctx) is ast.Store}
        self.has_named = any(isinstance(each, ast.NamedExpr) for each in nodes)

    def refuse(self, node: ast.AST, message: str) -> NoReturn:
        self.source.refuse(node, message)

    # The function as a whole

    def _bound(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        spec = self.source.tree.args
        names = [*(each.arg for each in [*spec.posonlyargs, *spec.args]), *self.source.free]
        if spec.vararg or spec.kwarg or spec.kwonlyargs:
            self.refuse(self.source.tree, REFUSED_PARAMETERS)
        if len(arguments) != len(names):
            self.refuse(self.source.tree, f"it takes {len(names)} arguments, not {len(arguments)}")
        return dict(zip(names, arguments, strict=True))

    def translate(self) -> str:
        """The C++ function. Afterwards `returned` is the type of its result."""
        for _ in range(_MOST_ROUNDS):
            before = self._state()
            self._translate_once()
            if before == self._state():
                break
        else:
            self.refuse(self.source.tree, "the types of its variables do not settle")
        if self.returned in (None, Object(None)):
            self.check_effects()
            self.returned = Object(None)
        return self._text()

    def _state(self) -> tuple:
        return dict(self.variables), known_of(self.variables.values()), self.returned, self.can_fail, len(self.ordered)

    def check_effects(self) -> None:
        """Refuses a function that returns nothing and has no array to write to."""
        arrays = (each for each in self.arguments.values() if isinstance(each, (ArrayView, LocalArray)))
        if not any(isinstance(each, LocalArray) or each.is_writable for each in arrays):
            self.refuse(self.source.tree, "it returns nothing")

    def _translate_once(self) -> None:
        tree = self.source.tree
        self.lines: list[str] = []
        self.depth, self.temporaries, self.conditions = 1, 0, 0
        self.loops: list[Loop] = []
        self.iterated_arrays: list[str] = []
        self.statement: ast.AST = tree
        self.may_have_failed = self.can_fail = False
        self.forget_all()
        self.variables = {**self.arguments, **self.variables}
        for name, type in self.arguments.items():
            if isinstance(type, Number):  # the variable may be of a wider type
                form = symbol(*limits(type)) if type.kind in "iu" else None
                self.note(self.c_name(name), self.variables[name], Value(type, form=form))
        self.assigned: set[str] | None = set(self.arguments)
        if isinstance(tree, ast.Lambda):
            self._translate_part(
                lambda body: self._return(self.returned_value(self.value(body), body), body), tree.body
            )
        else:
            self.block(tree.body)
            if self.assigned is not None and self.returned not in (None, Object(None)):
                self.refuse(
                    tree.body[-1], f"the function ends here without a result; elsewhere it returns {self.returned}"
                )

    def _text(self) -> str:
        parameters: list[str] = []
        addresses: list[str] = []
        for name, type in self.arguments.items():
            own = self.c_name(name)
            parameters += self._parameters_of(own, type, self._is_widened(name))
            if isinstance(type, ArrayView) and self.program.has_own_arrays and len(self.program.under_way) == 1:
                parameters.append(f"char *__restrict d_{own}")
                addresses.append(f"  {own}.data = d_{own};")
        if self.can_fail:
            parameters.append("int64_t &failed")
        head = [
            f"static __device__ inline {self.program.c_type(self.returned)} {self.name}({', '.join(parameters)}) {{"
        ]
        for name, type in self.variables.items():
            if isinstance(type, LocalArray) and name in self.arguments and name in self.assigned_names:
                head += [f"  {line}" for line in self.declarations(self.storage_of(name), type)]
            if name not in self.arguments:
                head += [f"  {line}" for line in self.declarations(self.c_name(name), type)]
            elif self._is_widened(name):
                head += self._widened(self.c_name(name), self.arguments[name], type)
        end = ["  return {};", "}"] if self.returned == Object(None) else ["}"]
        return "\n".join([*head, *addresses, *self.lines, *end]) + "\n"

    def _is_widened(self, name: str) -> bool:
        return name in self.arguments and self.variables[name] != self.arguments[name]

    def _parameters_of(self, name: str, type: Any, is_widened: bool) -> list[str]:
        if isinstance(type, Tuple):
            return [
                each
                for k, item in enumerate(type.items)
                for each in self._parameters_of(self.part_name(name, k), item, is_widened)
            ]
        if isinstance(type, Object):
            return []
        if isinstance(type, LocalArray):
            return [f"{'const ' * isinstance(type, Table)}{c_type_of(type.dtype)} *{name}"]
        return [f"{self.program.c_type(type)} {'given_' if is_widened else ''}{name}"]

    def _widened(self, name: str, given: Any, type: Any) -> list[str]:
        if isinstance(type, Tuple):
            pairs = enumerate(zip(given.items, type.items, strict=True))
            return [line for k, pair in pairs for line in self._widened(self.part_name(name, k), *pair)]
        return [f"  {type.c_type} {name} = {Value(given, f'given_{name}').as_type(type)};"]

    def declarations(self, name: str, type: Any) -> list[str]:
        if isinstance(type, Tuple):
            parts = ((self.part_name(name, k), item) for k, item in enumerate(type.items))
            return [line for part, item in parts for line in self.declarations(part, item)]
        if isinstance(type, (Number, ArrayView)):
            return [f"{type.c_type} {name}{{}};"]
        if isinstance(type, Table):
            return [f"const {c_type_of(type.dtype)} *{name} = nullptr;"]
        if isinstance(type, LocalArray):
            return [f"{c_type_of(type.dtype)} {name}[{max(1, int(numpy.prod(type.shape)))}];"]
        return []

    # Lines, names and variables

    def emit(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    @contextlib.contextmanager
    def indented(self) -> Iterator[None]:
        self.depth += 1
        yield
        self.depth -= 1

    def c_name(self, name: str) -> str:
        """The variable's name in C++, where it meets no keyword, macro or other name."""
        return f"v_{name}" if name.isascii() and name.isidentifier() else f"u_{name.encode().hex()}"

    @staticmethod
    def part_name(name: str, k: int) -> str:
        """The name in C++ of an element of a variable that is a tuple. What stands in front is part of no name."""
        return f"p{k}_{name}"

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t_{self.temporaries}"

    def named(self, c_type: str, text: str) -> str:
        """The name of a constant that a new line gives the value of `text`."""
        name = self.temporary()
        self.emit(f"const {c_type} {name} = {text};")
        return name

    def kept(self, value: Value, node: ast.AST) -> Value:
        """The value for several uses, computed once where a line may be put in front."""
        return self.snapshot(value) if self.may_emit and not value.text.isidentifier() else value

    def failure(self) -> str:
        self.can_fail = self.may_have_failed = True
        return "failed"

    def _Name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.variables:
            if self.assigned is not None and name not in self.assigned:
                self.refuse(
                    node, f"{name!r} may be used before it has a value; give it one before the `if` or the loop"
                )
            value = self._parts(self.c_name(name), self.variables[name], self.part_name)
            return self.read(value) if name in self.ordered.get(self.statement, ()) else value
        if self.source.is_local(name):
            self.refuse(node, f"{name!r} is used before it has a value")
        try:
            value = self.source.outer_value(name)
        except KeyError:
            self.refuse(node, f"the name {name!r} is not defined")
        self.program.outer.add_name(self.source.owner, name, value)
        return constant(value)

    def _parts(self, name: str, type: Any, part_name: Callable[[str, int], str]) -> Value:
        """A variable; a tuple's elements have names of their own, or are fields of a structure."""
        if isinstance(type, Tuple):
            parts = [self._parts(part_name(name, k), item, part_name) for k, item in enumerate(type.items)]
            return tuple_of(parts, type)
        if isinstance(type, Object):
            return Value(type, constant=type.value)
        return Value(type, name, form=self.known.get(name))

    def assign_name(self, name: str, type: Any, node: ast.AST) -> Any:
        """Widens the variable's type for a value of `type`, and returns it."""
        if name in self.variables:
            both = self.unify(self.variables[name], type)
            if both is None:
                before = self.variables[name]
                self.refuse(node, f"{name!r} would be {type} here and is {before} elsewhere; use two names")
            type = both
        self.variables[name] = type
        if self.assigned is not None:
            self.assigned.add(name)
        return type

    def store(self, name: str, type: Any, value: Value) -> None:
        """Assigns to a variable. The parts of a tuple are read before any of them is written."""
        if isinstance(type, Tuple):
            self._store_parts(
                [(self.part_name(name, k), *pair) for k, pair in enumerate(zip(type.items, value.items, strict=True))]
            )
        elif isinstance(type, Number):
            self.emit(f"{name} = {value.as_type(type)};")
            self.note(name, type, value)
        elif isinstance(type, (ArrayView, Table)):
            self.emit(f"{name} = {value.text};")

    def _store_parts(self, parts: list[tuple[str, Any, Value]]) -> None:
        if len(parts) > 1:
            parts = [(name, type, self.snapshot(value)) for name, type, value in parts]
        for name, type, value in parts:
            self.store(name, type, value)

    def snapshot(self, value: Value) -> Value:
        """The value as it is now, whatever is assigned later."""
        if value.items and isinstance(value.type, Tuple):
            return tuple_of([self.snapshot(item) for item in value.items], value.type)
        is_view = isinstance(value.type, (ArrayView, Table)) and not self._is_fixed(value)
        if value.is_constant or not (value.is_number or is_view):
            return value
        c_type = f"{c_type_of(value.type.dtype)} *" if isinstance(value.type, Table) else value.type.c_type
        return Value(value.type, self.named(c_type, value.text), form=value.form)

    def _is_fixed(self, value: Value) -> bool:
        """Whether the text is a constant of C++, or a parameter to which nothing is assigned."""
        if isinstance(value.type, Table) and value.text.isidentifier():
            return value.text not in map(self.c_name, self.assigned_names)
        parameters = [(self.c_name(name), type) for name, type in self.arguments.items()
                      if name not in self.assigned_names]  # fmt: skip
        known = (text for name, type in parameters for text in self._texts(self._parts(name, type, self.part_name)))
        return bool(_CONSTANT.fullmatch(value.text)) or value.text in known

    # Statements

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.assigned is None:  # nothing comes here; Python compiles it, too
                return
            method = getattr(self, f"_{type(statement).__name__}", None)
            if method is None:
                self.refuse(statement, _IN_WORDS.get(type(statement), f"{type(statement).__name__} is not supported"))
            outer, self.statement, self.unread = self.statement, statement, None
            self.tests.clear()
            self._translate_part(method, statement)
            self.leave_if_failed()
            self.statement = outer

    def _translate_part(self, method: Callable[[Any], None], node: ast.AST) -> None:
        try:
            method(node)
        except TranslationError:
            raise
        except (TypeError, ValueError, OverflowError) as error:  # a value has no place in another type
            self.refuse(node, str(error))
        except RecursionError:
            self.refuse(node, f"this {TOO_DEEP}")

    def leave_if_failed(self) -> None:
        """Ends the function behind what may have failed: a function that was called, or an index."""
        if self.assigned is not None and self.may_have_failed:
            self.emit("if (failed) return {};")
            self.facts.known += self.awaited
        self.awaited = []
        self.may_have_failed = False

    def tested(self, node: ast.expr) -> str:
        """The test of an `if` or a loop, which is not made of values that do not exist."""
        test = self.truth(node)
        if not self.may_have_failed:
            return test
        name = self.named("bool", test)
        self.tests[name] = self.said(test)
        self.leave_if_failed()
        return name

    def _Pass(self, node: ast.Pass) -> None:
        pass

    def _Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "print":
            self.refuse(node, "print() has no place in a kernel")
        value = self.value(node.value)
        if isinstance(value.type, ArrayExpression):
            self.refuse(node, "this computes an array that nothing takes; assign it, as out[:] = ...")
        if value.text:
            self.emit(f"(void)({value.text});")

    def _Return(self, node: ast.Return) -> None:
        self._return(constant(None) if node.value is None else self.returned_value(self.value(node.value), node), node)

    def _return(self, value: Value, node: ast.AST) -> None:
        if isinstance(value.type, ArrayExpression):
            self.refuse(node, "a function in a kernel returns no arrays that are computed; give it the array to write "
                              "to, as in def f(x, out): out[:] = ..., or return a number and call it in a loop over "
                              "the elements")  # fmt: skip
        both = value.type if self.returned is None else self.unify(self.returned, value.type)
        if both is None or has_array(both) or (isinstance(both, Object) and both != Object(None)):
            message = f"it returns {value.type} here" + ("" if both else f" and {self.returned} elsewhere")
            self.refuse(node, message + "; a kernel returns numbers or tuples of numbers")
        self.returned = both
        if both == Object(None) and value.text:  # the call of a function that returns nothing
            self.emit(f"(void)({value.text});")
            self.leave_if_failed()
        self.emit(f"return {self._made(value, both)};")
        self.assigned = None

    def _made(self, value: Value, type: Any) -> str:
        if isinstance(type, Tuple):
            parts = [self._made(*pair) for pair in zip(value.items, type.items, strict=True)]
            return f"{self.program.c_type(type)}{{{', '.join(parts)}}}"
        if isinstance(type, ArrayView):
            return value.text
        return value.as_type(type) if isinstance(type, Number) else "{}"

    def _Raise(self, node: ast.Raise) -> None:
        self.emit(f"{self.failure()} = 1;")
        self.emit("return {};")
        self.may_have_failed, self.assigned = False, None

    def _Assert(self, node: ast.Assert) -> None:
        test = self.tested(node.test)
        self._fail_if(f"!{test}")
        self.facts.known += self.said(test)[0]
        self.assigned = set(self.assigned or ()) | self.assigned_if(True, node.test)

    def _fail_if(self, test: str) -> None:
        self.emit(f"if ({test}) {{")
        with self.indented():
            self.emit(f"{self.failure()} = 1;")
            self.emit("return {};")
        self.emit("}")
        self.may_have_failed = False

    def _Assign(self, node: ast.Assign) -> None:
        value = self.array(node.value)
        if value is None:
            value = self.value(node.value)
        if len(node.targets) > 1:
            if isinstance(value.type, ArrayExpression):
                self.refuse(node, "an array that is computed goes to one target; write a statement for each")
            if has_array(value.type) and not isinstance(value.type, Table):
                self.refuse(node, "an array has one name")
            value = self.snapshot(value)
        for target in node.targets:
            self.assign(target, value, node)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.array(node.value) or self.value(node.value), node)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        if (whole := self.whole_array(node.target)) is not None:
            return self._update_whole(whole, node)
        if isinstance(node.target, ast.Subscript):
            place = self._element(self.value(node.target.value), node.target)
            before = self.read(place)
        elif isinstance(node.target, ast.Name):
            before = self.value(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
            if isinstance(before.type, ArrayView):
                return self._update_whole(before, node)
        else:
            self.refuse(node.target, "attributes cannot be assigned in a kernel")
        value = self.binary(BINARY[type(node.op)], before, self.value(node.value), node)
        if isinstance(node.target, ast.Name):
            self.assign(node.target, value, node)
        else:
            self.set_element(place, value, node)

    def _update_whole(self, array: Value, node: ast.AugAssign) -> None:
        """All elements of an array, changed in place."""
        sign = BINARY[type(node.op)]
        made = self.binary(sign, array, self.value(node.value), node)
        self.assign_whole(array, self.in_kind_of(array, made, sign, node), node.target, node)

    def assign(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            if isinstance(value.type, LocalArray) and not isinstance(value.type, Table):
                return self.assign_array(target.id, value, node)
            self.check_copy(value, node)
            if isinstance(value.type, ArrayExpression):
                self.refuse(node, f"a kernel makes no arrays as large as its arguments; assign to one that is there, "
                                  f"as out[:] = ..., and for {target.id!r} add an output to the layout")  # fmt: skip
            if isinstance(value.type, Tuple) and has_array(value.type):
                self.refuse(node, f"a tuple in a variable has no arrays, and this is {value.type}; pass each array")
            type = self.assign_name(target.id, value.type, node)
            self.store(self.c_name(target.id), type, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript):
            self._assign_element(target, value, node)
        else:
            self.refuse(target, "attributes cannot be assigned in a kernel")

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, node: ast.AST) -> None:
        items = self.items_of(value, node)
        if any(isinstance(each, ast.Starred) for each in target.elts):
            self.refuse(target, "a target with * is not supported; use indices")
        if len(items) != len(target.elts):
            self.refuse(node, f"{len(items)} values for {len(target.elts)} names")
        if len(items) > 1 and any(isinstance(each.type, ArrayExpression) for each in items):
            self.refuse(node, "arrays that are computed are assigned one by one: each in a statement of its own")
        for each, item in zip(target.elts, [self.snapshot(item) for item in items], strict=True):
            self.assign(each, item, node)

    def _assign_element(self, target: ast.Subscript, value: Value, node: ast.AST) -> None:
        """Assigns to an element; of an array that was given, with [:] or [...] to all."""
        if (whole := self.whole_array(target)) is not None:
            return self.assign_whole(whole, value, target, node)
        self.set_element(self._element(self.value(target.value), target), value, node)

    def _element(self, array: Value, target: ast.Subscript) -> Value:
        """The element that a target names, as the left side of an assignment."""
        if not isinstance(array.type, (ArrayView, LocalArray)) or isinstance(array.type, Table):
            self.refuse(target, f"{array.type} cannot be changed; arrays made by numpy.zeros can")
        self.check_writable(array, target)
        if isinstance(array.type, LocalArray):
            return self.element(array, target)
        place = self.view_element(array, self.indices_of(array, target), target)
        if not place.is_number:
            self.refuse(target, f"{array.type} takes {array.type.ndim} indices here")
        return place

    def set_element(self, place: Value, value: Value, node: ast.AST) -> None:
        if not value.is_number:
            self.refuse(node, f"an element must be a number, not {value.type}{self.advice_on([value])}")
        if not self.may_have_failed:
            self.emit(f"{place.text} = {value.as_type(place.type)};")
            return
        new = self.named(place.type.c_type, value.as_type(place.type))
        name = self.temporary()
        self.emit(f"{place.type.c_type} &{name} = {place.text};")
        self.emit(f"if (!failed) {name} = {new};")

    def check_writable(self, array: Value, target: ast.AST) -> None:
        """Refuses arrays that are read-only, and notes what callers see of the change."""
        if isinstance(array.type, ArrayView) and not array.type.is_writable:
            self.refuse(target, self.read_only)
        if type(array.type) is not LocalArray:
            self.has_effects = True
        elif not self._is_own(array):
            self.changes_arrays = True

    def _is_own(self, array: Value) -> bool:
        """Whether a local array is of this function's own."""
        own = (name for name, each in self.variables.items() if isinstance(each, LocalArray))
        return any(name not in self.arguments and self.c_name(name) == array.text for name in own)

    # Branches and loops

    def _If(self, node: ast.If) -> None:
        test = self.tested(node.test)
        if test in ("true", "false"):  # the other side need not have a kernel, as where a constant chooses
            return self.block(node.body if test == "true" else node.orelse)
        self.emit(f"if ({test}) {{")
        before, known, said = set(self.assigned or ()), self.known, self.said(test)
        body = self._side(node.body, before | self.assigned_if(True, node.test), known, said[0])
        self.emit("} else {" if node.orelse else "}")
        orelse = self._side(node.orelse, before | self.assigned_if(False, node.test), known, said[1])
        if node.orelse:
            self.emit("}")
        self.assigned = met([body.assigned, orelse.assigned])
        self.meet([(each.known, each.facts) for each in (body, orelse) if each.assigned is not None])

    def _side(self, statements: list[ast.stmt], before: set[str], known: dict[str, Form], facts: list[Form]) -> Side:
        """The statements of a branch that begins with these variables, values and facts."""
        self.assigned, self.known = set(before), dict(known)
        count = len(self.facts.known)
        with self.assuming(facts), self.indented():
            self.block(statements)
            return Side(self.assigned, self.known, self.facts.known[count:])

    def _While(self, node: ast.While) -> None:
        loop = self._begin_loop(node)
        counters = self.forget_assigned(node)
        self.emit("while (true) {")
        with self.indented(), self.assuming([]):
            test = self.tested(node.test)
            if test != "true":
                self.emit(f"if (!{test}) break;")
                before = set(self.assigned or ())
                loop.ends.append(before | self.assigned_if(False, node.test))
                self.assigned = before | self.assigned_if(True, node.test)
                self.bound_counters(counters, test)
                self.facts.known += self.said(test)[0]
            self.block(node.body)
        self.emit("}")
        self._end_loop(loop, node, test != "true")

    def _For(self, node: ast.For) -> None:
        outer_arrays = list(self.iterated_arrays)
        items = self.iterated(node.iter)
        before = set(self.assigned or ())
        self.leave_if_failed()
        loop = self._begin_loop(node)
        self.forget_assigned(node)
        if isinstance(items, Range):
            place, form = self.range_loop(items), items.counter()
        else:
            count, item = items
            place, form = self.temporary(), Range(constant(0), count, constant(1)).counter()
            self.emit(f"for (int64_t {place} = 0; {place} < {count.text}; ++{place}) {{")
        with self.indented(), self.assuming([]):
            value = integer(place, form)
            self.facts.known += facts_with(form)
            self.assign(node.target, value if isinstance(items, Range) else item(value), node)
            self.block(node.body)
        self.emit("}")
        self.iterated_arrays = outer_arrays
        runs = items.is_known_to_run() if isinstance(items, Range) else items[0].text.isdigit() and items[0].text != "0"
        loop.ends.append(met([self.assigned, *loop.continues]) if runs else set(before))
        self._end_loop(loop, node, True)

    def range_loop(self, items: Range) -> str:
        place = self.temporary()
        if items.ends_before_overflow():
            self.emit(f"for (int64_t {place} = {items.start}; {items.test(place)}; {place} += {items.step.text}) {{")
            return place
        count, item = items.counted()
        end = self.temporary()
        self.emit(f"for (int64_t {place} = 0, {end} = {count.text}; {place} < {end}; ++{place}) {{")
        return item(integer(place)).text

    def _begin_loop(self, node: ast.While | ast.For) -> Loop:
        loop = Loop(self.temporary() if node.orelse else "")
        if node.orelse:
            self.emit(f"bool {loop.broke} = false;")
        self.loops.append(loop)
        return loop

    def _end_loop(self, loop: Loop, node: ast.While | ast.For, may_end: bool) -> None:
        self.loops.pop()
        normal = met(loop.ends) if may_end else None
        broken = met(loop.breaks) if loop.breaks else None
        self.forget_behind(node)
        if node.orelse and normal is not None:
            self.emit(f"if (!{loop.broke}) {{")
            normal = self._side(node.orelse, normal, self.known, []).assigned
            self.emit("}")
            self.forget_behind(node)
        self.assigned = met([normal, broken])

    def _Break(self, node: ast.Break) -> None:
        loop = self.loops[-1]
        if loop.broke:
            self.emit(f"{loop.broke} = true;")
        self.emit("break;")
        loop.breaks.append(self.assigned)
        self.assigned = None

    def _Continue(self, node: ast.Continue) -> None:
        self.emit("continue;")
        self.loops[-1].continues.append(self.assigned)
        self.assigned = None

    def iterated(self, node: ast.expr) -> Range | tuple[Value, Any]:
        """A range, or the number of elements and a function that gives the k-th of them as a value."""
        function = self.function_named(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and function is not None:
            if function.is_constant and function.constant is range:
                return self.range_of([self.number_of(each, "a bound of range()") for each in node.args], node)
            if function.is_constant and function.constant in (enumerate, zip, reversed):
                return self._combined(function.constant, node)
        value = self.value(node)
        if self.is_sequence(value) and isinstance(rows := rows_of(value.constant), tuple):
            value = constant(rows)
        elif self.is_sequence(value):
            value = self.table(value, node)
        if isinstance(value.type, Table):
            table = self.snapshot(value)
            return integer(str(table.type.shape[0]), Form(table.type.shape[0])), lambda k: self.table_part(table, k)
        if isinstance(value.type, ArrayView):
            value = self.snapshot(value)
            take = self.row if value.type.ndim > 1 else lambda array, k, node: self.at(array, [k], node)
            return self.length(value, 0), lambda k: take(value, k, node)
        items = self.items_of(value, node)
        if isinstance(value.type, Tuple):
            if len(items) > MOST_CHOICES:
                value = self._in_array(items, node) or value
            else:  # which the loop may change
                items = tuple(item if self._is_fixed(item) else self.snapshot(item) for item in items)
        count = integer(str(len(items)), Form(len(items)))
        if isinstance(value.type, LocalArray):
            self.iterated_arrays.append(value.text)
            return count, lambda k: Value(Number(value.type.dtype), f"{value.text}[{k.text}]")
        return count, lambda k: self._kth(items, k, node)

    def _in_array(self, items: tuple[Value, ...], node: ast.AST) -> Value | None:
        """Many numbers as an array, in which a loop finds the k-th at once."""
        joined = self.unified(item.type for item in items)
        if not isinstance(joined, Number):
            return None
        name = self.temporary()
        self.emit(f"const {joined.c_type} {name}[] = {{{', '.join(item.as_type(joined) for item in items)}}};")
        return Value(LocalArray(joined.dtype, (len(items),)), name)

    def _kth(self, items: tuple[Value, ...], k: Value, node: ast.AST) -> Value:
        if not items:
            return constant(0)
        joined = self.unified(item.type for item in items)
        if isinstance(joined, Tuple):
            columns = zip(*(item.items for item in items), strict=True)
            return tuple_of([self._kth(column, k, node) for column in columns], joined)
        if isinstance(joined, ArrayView):
            views = ", ".join(item.text for item in items)
            return Value(joined, f"python::kth<{joined.c_type}>({k.text}, {views})")
        if not isinstance(joined, Number):
            advice = "; write a call for each of these functions" if all(map(is_function, items)) else ""
            self.refuse(node, f"a loop needs elements of one type{advice}")
        if len(items) > MOST_CHOICES and (table := self.table_of_numbers(items)):
            return self.table_part(table, k)
        texts = ", ".join(item.as_type(joined) for item in items)
        return Value(joined, f"python::kth<{joined.c_type}>({k.text}, {texts})")

    def range_of(self, bounds: list[Value], node: ast.AST) -> Range:
        if not 1 <= len(bounds) <= 3 or not all(is_whole(bound.type) for bound in bounds):
            self.refuse(node, "range() takes one to three integers")
        start, stop = (constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else constant(1)
        if step.is_constant and step.constant == 0:
            self.refuse(node, "the step of range() must not be zero")
        kept = [self.snapshot(self.as_signed(bound)) for bound in (start, stop, step)]
        if not step.is_constant:
            self._fail_if(f"{kept[2].text} == 0")
        return Range(*kept)

    def _combined(self, function: Any, node: ast.Call) -> tuple[Value, Any]:
        parts = [self._counted(self.iterated(each)) for each in node.args]
        if node.keywords or not parts or (function is not zip and len(parts) != 1):
            self.refuse(node, f"{function.__name__}() takes {'sequences' if function is zip else 'one sequence'} here")
        count = parts[0][0]
        if function is enumerate:
            return count, lambda k: tuple_of([k, parts[0][1](k)])
        if function is reversed:
            return count, lambda k: parts[0][1](from_end(count, k))
        for other, _ in parts[1:]:
            made = integer(f"python::first_min((int64_t){count.text}, (int64_t){other.text})")
            count = self.with_extreme("first_min", count, other, made)
        return count, lambda k: tuple_of([item(k) for _, item in parts])

    @staticmethod
    def _counted(items: Range | tuple[Value, Any]) -> tuple[Value, Any]:
        return items.counted() if isinstance(items, Range) else items

    # Functions that are called

    def call_function(
        self, function: types.FunctionType, arguments: list[Value], keywords: dict, node: ast.Call
    ) -> Value:
        return self.call_made(function, self.matched(function, arguments, keywords, node), node)

    def call_made(self, function: types.FunctionType | Nested, values: list[Value], node: ast.Call) -> Value:
        """The call for a value of each parameter."""
        values = [self.captured(value, node) for value in values]
        made = self.program.function(function, tuple(value.type for value in values), self, node)
        texts = [text for value in values for text in self._texts(value)]
        if made.can_fail:
            texts.append(self.failure())
        count = len(self.lines)
        result = Value(made.returned, f"{made.name}({', '.join(texts)})")
        has_effects = self._note_effects(made, values)
        if has_effects:
            self.check_unread(node)
        if isinstance(made.returned, (Tuple, ArrayView)):
            if not self.may_emit or (has_effects and not self.is_last(node)):
                self.order()
            name = self.named(self.program.c_type(made.returned), result.text)
            result = self._parts(name, made.returned, lambda name, k: f"{name}.item_{k}")
        elif has_effects or made.returned == Object(None):
            result = self.performed(result, node)
        else:
            result = self.read(result)
        if made.can_fail and len(self.lines) > count:
            self.leave_if_failed()
        return result

    def _note_effects(self, made: FunctionTranslator, values: list[Value]) -> bool:
        """Whether a call of the function has effects in this one. Notes those that callers of this one see."""
        if made.has_effects:
            self.has_effects = True
        if not made.changes_arrays:
            return made.has_effects
        arrays = [array for value in values for array in _arrays_in(value)]
        if any(type(each.type) is not LocalArray for each in arrays):
            self.has_effects = True
        if not all(map(self._is_own, arrays)):
            self.changes_arrays = True
        return True

    def _texts(self, value: Value) -> list[str]:
        if isinstance(value.type, Tuple):
            return [text for item in value.items for text in self._texts(item)]
        return [] if isinstance(value.type, Object) else [value.text]

    def matched(self, function, arguments, keywords, node) -> list[Value]:
        for part in ("__code__", "__defaults__"):
            self.program.outer.add_attribute(function, part, getattr(function, part))
        return self.bound_to(function, inspect.signature(function, follow_wrapped=False), arguments, keywords, node)

    def bound_to(self, function, signature, arguments, keywords, node) -> list[Value]:
        try:
            bound = signature.bind(*arguments, **keywords)
        except TypeError as error:
            self.refuse(node, f"{function.__name__}() {error}")
        bound.apply_defaults()
        return [value if isinstance(value, Value) else constant(value) for value in bound.arguments.values()]


def _arrays_in(value: Value) -> list[Value]:
    """The local arrays in a value."""
    if isinstance(value.type, Tuple):
        return [array for item in value.items for array in _arrays_in(item)]
    return [value] if isinstance(value.type, LocalArray) else []
