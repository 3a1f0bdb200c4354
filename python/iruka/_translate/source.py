"""The syntax trees of Python functions, and errors that show the user's own line."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
from typing import Any, NoReturn

import numpy

from ..errors import TranslationError

_MOST_COMPARED = 4096  # elements
TOO_DEEP = "is nested too deeply; divide it among variables or functions"


class OuterValues:
    """What a translation has read outside the function: globals, variables of outer functions, attributes, elements.

    Python reads them at each call, so that a kernel stands for the function as long as they are the same.
    """

    def __init__(self, function: types.FunctionType):
        self._root = function
        self._names: dict[tuple, Any] = {}
        self._attributes: dict[tuple, tuple] = {}
        self._contents: dict[int, tuple] = {}  # of lists and arrays, which may change in place

    def add_name(self, function: types.FunctionType, name: str, value: Any) -> None:
        place = function.__code__.co_freevars.index(name) if name in function.__code__.co_freevars else -1
        self._names[None if function is self._root else function, name, place] = value
        self._add_contents(value)

    def add_attribute(self, owner: Any, name: str, value: Any) -> None:
        self._attributes[id(owner), name] = owner, value
        self._add_contents(value)

    def _add_contents(self, value: Any) -> None:
        is_array = hasattr(value, "__array__") and not isinstance(value, (type, numpy.generic))
        if is_array or isinstance(value, (list, tuple, dict)):
            self._contents[id(value)] = value, _contents(value)

    def are_same(self, function: types.FunctionType | None = None) -> bool:
        """Whether they are for `function`, which has the code of the translated one, what they were."""
        root = function or self._root
        try:
            for (owner, name, place), value in self._names.items():
                owner = root if owner is None else owner
                found = _global(owner, name) if place < 0 else (owner.__closure__ or ())[place].cell_contents
                if found is not value and not _is_equal(found, value):
                    return False
            for (_, name), (owner, value) in self._attributes.items():
                found = getattr(owner, name)
                if found is not value and not _is_equal(found, value):
                    return False
            return all(_contents(each) == before for each, before in self._contents.values())
        except (AttributeError, LookupError, TypeError, ValueError):  # it is gone
            return False


def _global(function: types.FunctionType, name: str) -> Any:
    """What a global name is: built-in objects are found where no global hides them."""
    scope = function.__globals__
    if name in scope:
        return scope[name]
    builtins = scope.get("__builtins__", {})
    return (builtins if isinstance(builtins, dict) else vars(builtins))[name]


def _contents(value: Any) -> Any:
    """What is compared of a list or an array; of what is too large for a kernel, something that equals nothing."""
    if isinstance(value, (list, tuple, dict)):
        return repr(value) if len(value) <= _MOST_COMPARED else object()
    return repr((str(value.dtype), value.shape, value.tolist())) if value.size <= _MOST_COMPARED else object()


def _is_equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and type(a) in (int, str, bytes, types.CodeType, types.BuiltinFunctionType) and a == b


def _parsed(text: str) -> ast.Module:
    """ast.parse. Python 3.11 counts the depth of all threads' trees together: SystemError where they meet."""
    for _ in range(20):
        try:
            return ast.parse(text)
        except SystemError:
            continue
    return ast.parse(text)


REFUSED_PARAMETERS = (
    "parameters with * or **, and keyword-only ones, are not supported; write each parameter, with none behind a *"
)


class Source:
    """The text and the syntax tree of one Python function.

    Raises TranslationError where Python does not have the text, as of functions that exec() made.
    """

    def __init__(self, function: types.FunctionType):
        self.function = self.owner = function  # the owner has the globals and the closure
        self.free: tuple[str, ...] = ()  # variables of an outer function, which are further parameters
        self.code = function.__code__
        self.file = self.code.co_filename
        self.name = function.__name__
        try:
            lines, first = inspect.getsourcelines(self.code)  # functools.wraps names another function
        except (OSError, TypeError) as error:
            raise TranslationError(
                f"{self.name}: Python does not have the text of this function, which a kernel is made from; define it "
                "in a file or in a notebook's cell"
            ) from error
        self.tree = self._tree_of(lines, first)

    def _tree_of(self, lines: list[str], first: int) -> ast.FunctionDef | ast.Lambda:
        text = textwrap.dedent("".join(lines))
        self.indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        try:
            try:
                tree = _parsed(text)
            except SyntaxError:  # a lambda within a longer statement
                tree = _parsed("".join(linecache.getlines(self.file)))
                first, self.indent = 1, 0
        except (RecursionError, MemoryError) as error:  # what Python raises for deep texts
            raise TranslationError(f"{self.name} ({self.file}, line {first}): the function {TOO_DEEP}") from error
        ast.increment_lineno(tree, first - 1)
        if self.code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise TranslationError(
                f"{self.name} has no kernel ({self.file}, line {self.code.co_firstlineno}): it is an async function, "
                "and a kernel waits for nothing; write it with def"
            )
        found = [node for node in ast.walk(tree) if self._is_function(node)]
        if not found:
            raise TranslationError(
                f"{self.name}: the text of this function in {self.file} is no longer the one that runs"
            )
        if len(found) > 1:
            found = [node for node in found if self._has_positions(node)]
        if len(found) != 1:
            raise TranslationError(
                f"{self.name} ({self.file}, line {self.code.co_firstlineno}): several functions with these parameters "
                "begin on this line; write each on a line of its own"
            )
        return found[0]  # type: ignore[return-value]

    def _is_function(self, node: ast.AST) -> bool:
        if isinstance(node, ast.FunctionDef):
            decorators = [each.lineno for each in node.decorator_list]
            return node.name == self.code.co_name and min([node.lineno, *decorators]) == self.code.co_firstlineno
        if not isinstance(node, ast.Lambda) or self.code.co_name != "<lambda>":
            return False
        if node.lineno != self.code.co_firstlineno:
            return False
        return (
            tuple(each.arg for each in [*node.args.posonlyargs, *node.args.args])
            == self.code.co_varnames[: self.code.co_argcount]
        )

    def _has_positions(self, node: Any) -> bool:
        """Whether the lambda is at the column of the code's; Python 3.10 does not know columns."""
        if not hasattr(self.code, "co_positions"):
            return False
        body = node.body
        place = body.lineno, body.end_lineno, body.col_offset + self.indent, body.end_col_offset + self.indent
        return place in set(self.code.co_positions())

    def is_local(self, name: str) -> bool:
        """Whether the name is a variable of this function."""
        return name in self.code.co_varnames or name in self.code.co_cellvars

    def outer_value(self, name: str) -> Any:
        """What a name that the function does not assign refers to: a closure's, a global or a built-in object.

        Raises KeyError where it refers to nothing.
        """
        if name in self.code.co_freevars:
            cell = (self.function.__closure__ or ())[self.code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError as error:
                raise KeyError(name) from error
        return _global(self.function, name)

    def refuse(self, node: ast.AST, message: str) -> NoReturn:
        """Raises TranslationError that shows the line of `node` with a caret."""
        line = getattr(node, "lineno", self.code.co_firstlineno)
        text = linecache.getline(self.file, line).rstrip("\n").expandtabs(1)
        words = f"{self.name} has no kernel ({self.file}, line {line}): {message}"
        if text:
            column = self._column(node, text)
            words += f"\n      {text}\n      {' ' * column}^"
        raise TranslationError(words)

    def _column(self, node: ast.AST, text: str) -> int:
        """The column of `node` in characters; the tree counts bytes of the line without the function's indentation."""
        offset = getattr(node, "col_offset", 0)
        return self.indent + len(text[self.indent :].encode()[:offset].decode(errors="ignore"))
