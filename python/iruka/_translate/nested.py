"""Functions and lambdas inside of translated functions.

Such a function is translated as any other. The outer function's variables that it uses are further parameters: a call
gives it their values, as they are when it is called.
"""

from __future__ import annotations

import abc
import ast
import inspect
from collections.abc import Iterator
from typing import Any

from .expressions import Expressions
from .number_types import Closure, Tuple, has_array
from .source import REFUSED_PARAMETERS, Source
from .values import Value, tuple_of


class Nested:
    """The text of a function inside another one, whose names `free` are variables of the outer function."""

    def __init__(self, node: ast.FunctionDef | ast.Lambda, outer: Source):
        self.tree = node
        self.__name__ = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
        found = _Names(node)
        self.free = tuple(name for name in found.free() if outer.is_local(name))
        self.source = _NestedSource(self, found, outer)
        self.constants: dict[int, Value] = {}  # the default values that are known, by their places

    @property
    def parameters(self) -> list[str]:
        return [each.arg for each in (*self.tree.args.posonlyargs, *self.tree.args.args)]

    def signature(self, computed: tuple[Value, ...]) -> inspect.Signature:
        """The parameters. `computed` are the default values that are not constants."""
        others = iter(computed)
        names, count = self.parameters, len(self.tree.args.defaults)
        defaults: list[Any] = [inspect.Parameter.empty] * (len(names) - count)
        defaults += [self.constants[k] if k in self.constants else next(others) for k in range(count)]
        only = len(self.tree.args.posonlyargs)
        kinds = [inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD]
        made = enumerate(zip(names, defaults, strict=True))
        return inspect.Signature([inspect.Parameter(name, kinds[k >= only], default=each) for k, (name, each) in made])


class _NestedSource(Source):
    """The part of another function's text."""

    def __init__(self, function: Nested, names: _Names, outer: Source):
        self.outer, self.code, self.file, self.indent = outer, outer.code, outer.file, outer.indent
        self.owner = outer.owner
        self.name, self.tree, self.free = function.__name__, function.tree, function.free
        self._locals = names.bound | set(function.free)

    def is_local(self, name: str) -> bool:
        return name in self._locals

    def outer_value(self, name: str) -> Any:
        return self.outer.outer_value(name)


class _Names(ast.NodeVisitor):
    """The names that a function assigns, and those that it and the functions inside of it use."""

    def __init__(self, node: ast.FunctionDef | ast.Lambda):
        spec = node.args
        every = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
        self.bound = {each.arg for each in every if each}
        self.used: dict[str, None] = {}  # in the order of their first use
        for each in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
            self.visit(each)

    def free(self) -> Iterator[str]:
        return (name for name in self.used if name not in self.bound)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.used[node.id] = None
        else:
            self.bound.add(node.id)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        for each in (node.value, node.target):
            if each:
                self.visit(each)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.bound.add(node.name)
        self._visit_function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_function(node)

    def _visit_function(self, node: ast.FunctionDef | ast.Lambda) -> None:
        for each in (*node.args.defaults, *node.args.kw_defaults):
            if each:
                self.visit(each)
        self.used |= dict.fromkeys(_Names(node).free())


class NestedFunctions(Expressions):
    """Translates the definitions and the calls of functions inside of a function."""

    source: Source

    def __init__(self) -> None:
        self.functions: dict[ast.AST, Nested] = {}
        self.capturing: list[Nested] = []

    @abc.abstractmethod
    def assign(self, target: ast.expr, value: Value, node: ast.AST) -> None: ...
    @abc.abstractmethod
    def call_made(self, function: Any, values: list[Value], node: ast.Call) -> Value: ...
    @abc.abstractmethod
    def bound_to(
        self, function: Any, signature: inspect.Signature, arguments: list[Value], keywords: dict, node: ast.AST
    ) -> list[Value]: ...

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            self.refuse(node.decorator_list[0], "a function inside a kernel has no decorators; define it outside")
        target = ast.copy_location(ast.Name(node.name, ast.Store()), node)
        self.assign(target, self._Lambda(node), node)

    def _Lambda(self, node: ast.Lambda | ast.FunctionDef) -> Value:
        """The function as a value, whose parts are the default values that are not constants."""
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
            self.refuse(node, REFUSED_PARAMETERS)
        function = self.functions.setdefault(node, Nested(node, self.source))
        defaults = [self.value(each) for each in node.args.defaults]
        function.constants = {k: each for k, each in enumerate(defaults) if each.is_constant}
        computed = [self.kept(each, node) for each in defaults if not each.is_constant]
        return tuple_of(computed, Closure((), function))

    def call_nested(self, called: Value, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        called = self.captured(called, node)
        function = called.type.function
        count = len(called.items) - len(function.free)
        signature = function.signature(called.items[:count])
        values = self.bound_to(function, signature, arguments, keywords, node)
        return self.call_made(function, [*values, *called.items[count:]], node)

    def captured(self, value: Value, node: ast.AST) -> Value:
        """The value for use in another function: functions have this function's variables that they use with them."""
        if not isinstance(value.type, Tuple):
            return value
        if not isinstance(value.type, Closure) or value.type.is_captured:
            return tuple_of([self.captured(item, node) for item in value.items], value.type)
        function = value.type.function
        if function in self.capturing:
            self.refuse(node, f"{function.__name__}() calls itself; a kernel has no recursion, use a loop")
        self.capturing.append(function)
        names = [ast.copy_location(ast.Name(name, ast.Load()), node) for name in function.free]
        free = [self.captured(self.value(name), node) for name in names]
        self.capturing.pop()
        return tuple_of([*value.items, *free], Closure((), function, True))

    def returned_value(self, value: Value, node: ast.AST) -> Value:
        """What a function returns, with what it needs behind the end of the function."""
        value = self.captured(value, node)
        if has_array(value.type):
            self.refuse(node, f"it returns {value.type}, which uses an array of this function")
        return value

    def check_copy(self, value: Value, node: ast.AST) -> None:
        if isinstance(value.type, Closure) and has_array(value.type):
            self.refuse(node, f"{value.type} uses an array, so it has one name")
