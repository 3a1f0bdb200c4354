"""Functions whose `if`, `and`, `or` and `not` take DataNodes: their code is written anew, so that both branches are
functions of the variables that they change, and conditionals.py decides which of them is called."""

from __future__ import annotations

import ast
import functools
import inspect
import sysconfig
import types
from collections.abc import Callable, Sequence

from ...errors import ValueError
from . import conditionals

_RUNTIME = "_iruka_conditionals"
_PACKAGES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_OWN_VARIABLES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def do_not_convert(function: Callable) -> Callable:
    """Marks a function, which is called as it is in pipelines with enable_conditionals=True."""
    function.__dict__["_iruka_is_plain"] = True
    return function


def converted(function: Callable) -> Callable:
    """The function with conditions on DataNodes, and those that it calls. Raises ValueError where its code is not to be
    found."""
    if not isinstance(function, types.FunctionType):
        return function
    try:
        code = _converted_code(function.__code__)
    except OSError:
        raise ValueError(
            f"pipeline_def: enable_conditionals needs a function whose code is in a file, not {function.__qualname__}"
        ) from None
    own = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells = {**own, _RUNTIME: types.CellType(_RUNTIME_FUNCTIONS)}
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _callee(function):
    """What a converted function calls in the place of `function`."""
    if isinstance(function, types.MethodType):
        return types.MethodType(_callee(function.__func__), function.__self__)
    if not isinstance(function, types.FunctionType) or getattr(function, "_iruka_is_plain", False):
        return function
    code = function.__code__
    is_special = code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    is_mangled = any(name.startswith("_") and not name.startswith("__") and "__" in name for name in code.co_names)
    is_own = _RUNTIME in code.co_freevars or (function.__module__ or "").partition(".")[0] == "iruka"
    if is_own or is_special or is_mangled or code.co_name == "<lambda>" or code.co_filename.startswith(_PACKAGES):
        return function
    try:
        return converted(function)
    except (ValueError, SyntaxError):
        return function


_RUNTIME_FUNCTIONS = types.SimpleNamespace(
    branch=conditionals.branch, returned=conditionals.returned, continued=conditionals.continued,
    unfinished=conditionals.Unfinished, choice=conditionals.choice, both=conditionals.both,
    either=conditionals.either, negated=conditionals.negated, value_of=conditionals.value_of,
    is_undefined=conditionals.is_undefined, callee=_callee,
)  # fmt: skip


@functools.cache
def _converted_code(code: types.CodeType) -> types.CodeType:
    """Raises OSError where there is no source."""
    lines, first = inspect.getsourcelines(code)
    source = "".join(lines)
    if source[:1].isspace():
        (block,) = ast.parse("if True:\n" + source).body
        assert isinstance(block, ast.If)
        function = ast.increment_lineno(block, first - 2).body[0]
    else:
        function = ast.increment_lineno(ast.parse(source), first - 1).body[0]
    if not isinstance(function, ast.FunctionDef):
        raise OSError("no function")
    function.decorator_list = []
    function.returns = None
    arguments = function.args
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if each is not None:
            each.annotation = None
    function = _Rewriter().visit(function)
    (factory,) = ast.parse(f"def factory({', '.join((*code.co_freevars, _RUNTIME))}): pass").body
    assert isinstance(factory, ast.FunctionDef)
    factory.body = [function]
    ast.fix_missing_locations(factory)
    made = compile(ast.Module([factory], []), code.co_filename, "exec", dont_inherit=True)
    return _inner(_inner(made, "factory"), code.co_name)


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name)


def _own_nodes(nodes: Sequence[ast.AST]):
    """The nodes that belong to the same function, with the definitions of others but not their contents."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _assigned(statements: Sequence[ast.AST]) -> set[str]:
    """The variables that statements assign."""
    names = set()
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        if isinstance(node, _OWN_VARIABLES):
            names |= {each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}
        elif not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return names


def _mentioned(statements: Sequence[ast.AST]) -> set[str]:
    """The names in statements, also in functions that they define."""
    return {node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)}


def _is_runtime(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == _RUNTIME


def _has(statements: Sequence[ast.AST], *kinds: type) -> bool:
    return any(isinstance(node, kinds) for node in _own_nodes(statements))


def _leaves_loop(statements: Sequence[ast.AST]) -> bool:
    """Whether there is a break or continue of a loop around."""
    for statement in statements:
        if isinstance(statement, (ast.Break, ast.Continue)):
            return True
        inner: list[ast.AST]
        if isinstance(statement, (ast.For, ast.While, ast.AsyncFor)):
            inner = list(statement.orelse)
        else:
            inner = [each for each in ast.iter_child_nodes(statement) if not isinstance(each, (*_SCOPES, ast.expr))]
        if _leaves_loop(inner):
            return True
    return False


def _always_returns(statements: Sequence[ast.stmt]) -> bool:
    last = statements[-1] if statements else None
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise)) or isinstance(last, ast.With) and _always_returns(last.body)


class _Rewriter(ast.NodeTransformer):
    """Writes a function anew. What cannot be a function of its own, because it leaves a loop, yields or changes global
    variables, stays an `if`, whose condition is then Python's."""

    def __init__(self):
        self._count = 0
        self._shared: list[set[str]] = []  # global and nonlocal variables of the functions around

    def visit_FunctionDef(self, node):
        if _has(node.body, ast.Yield, ast.YieldFrom):
            return node
        shared = {name for each in _own_nodes(node.body) if isinstance(each, (ast.Global, ast.Nonlocal))
                  for name in each.names}  # fmt: skip
        self._shared.append(shared)
        node.body = self._block(node.body, True)
        self._shared.pop()
        return node

    def visit_AsyncFunctionDef(self, node):
        return node

    visit_ClassDef = visit_AsyncFunctionDef

    def _block(self, statements: list, is_whole: bool) -> list:
        """The statements anew. `is_whole`: they end a function, so that what follows an if that may return can become a
        part of its branches."""
        made: list = []
        for k, statement in enumerate(statements):
            if not isinstance(statement, ast.If) or self._must_stay(statement):
                made.append(self._with_blocks(statement))
            elif not _has([statement], ast.Return):
                made += self._branch(statement)
            elif is_whole and self._can_move(statements[k + 1 :]):
                return made + self._returning(statement, statements[k + 1 :])
            else:
                made.append(self._with_blocks(statement))
        return made

    def _with_blocks(self, statement):
        """A statement whose expressions and inner statements are written anew."""
        if isinstance(statement, _SCOPES):
            return self.visit(statement)
        for name, value in ast.iter_fields(statement):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(statement, name, self._block(value, False))
            elif isinstance(value, list):
                own = (ast.ExceptHandler, ast.match_case)
                setattr(statement, name, [self._with_blocks(each) if isinstance(each, own)
                                          else self.visit(each) if isinstance(each, ast.AST) else each
                                          for each in value])  # fmt: skip
            elif isinstance(value, ast.AST):
                setattr(statement, name, self.visit(value))
        return statement

    def _must_stay(self, node: ast.If) -> bool:
        branches = [*node.body, *node.orelse]
        if _has(branches, ast.Delete, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal):
            return True
        return _leaves_loop(branches) or not self._shared[-1].isdisjoint(_assigned(branches))

    def _can_move(self, rest: list) -> bool:
        """Whether statements can become a part of another function."""
        return not _has(rest, ast.Delete, ast.Global, ast.Nonlocal) and self._shared[-1].isdisjoint(_assigned(rest))

    def _functions(self, node: ast.If, body: list, orelse: list, names: list[str]) -> list:
        """Two functions of the variables."""
        made = []
        for kind, statements in (("if", body), ("else", orelse)):
            (function,) = self._parsed(node, f"def {_RUNTIME}_{kind}_{self._count}({', '.join(names)}): pass")
            function.body = statements or self._parsed(node, "pass")
            made.append(function)
        return made

    def _parsed(self, node: ast.stmt | ast.expr, text: str) -> list:
        """Statements at the place where `node` begins, which tracebacks name."""
        tree = ast.parse(text)
        for each in ast.walk(tree):
            if isinstance(each, (ast.stmt, ast.expr, ast.arg)):
                each.lineno = each.end_lineno = node.lineno
                each.col_offset = each.end_col_offset = node.col_offset
        return tree.body

    def _undefined_again(self, node: ast.If, names: list[str]) -> list:
        """Variables without a value are no variables."""
        return [each for name in names
                for each in self._parsed(node, f"if {_RUNTIME}.is_undefined({name}): del {name}")]  # fmt: skip

    def _call(self, name: str, *arguments: str) -> str:
        functions = (f"{_RUNTIME}_{kind}_{self._count}" for kind in ("if", "else"))
        return f"{_RUNTIME}.{name}(None, {', '.join((*functions, *arguments))})"

    @staticmethod
    def _values(names: list[str]) -> str:
        return "(" + "".join(f"{_RUNTIME}.value_of({name!r}, lambda: {name}), " for name in names) + ")"

    def _branch(self, node: ast.If) -> list:
        self._count += 1
        names = sorted(_assigned([*node.body, *node.orelse]))
        call = self._call("branch", repr(names), self._values(names))
        targets = "".join(f"{name}, " for name in names)
        (statement,) = self._parsed(node, f"{targets} = {call}" if names else call)
        statement.value.args[0] = self.visit(node.test)
        result = f"return {self._values(names)}"
        functions = self._functions(node, node.body, node.orelse, names)
        for function in functions:
            function.body = self._block(function.body, False) + self._parsed(node, result)
        return [*functions, statement, *self._undefined_again(node, names)]

    def _returning(self, node: ast.If, rest: list) -> list:
        body_returns, else_returns = _always_returns(node.body), _always_returns(node.orelse)
        if not body_returns and not else_returns:
            return self._continued(node, rest)
        self._count += 1
        body = node.body if body_returns else node.body + rest
        orelse = node.orelse if else_returns else node.orelse + rest
        names = sorted(_assigned([*body, *orelse]))
        (statement,) = self._parsed(node, "return " + self._call("returned", self._values(names)))
        statement.value.args[0] = self.visit(node.test)
        functions = self._functions(node, body, orelse, names)
        for function in functions:
            function.body = self._block(function.body, True)
        return [*functions, statement]

    def _continued(self, node: ast.If, rest: list) -> list:
        """Of an if with two branches that may go on with the rest, which becomes a function of its variables."""
        self._count += 1
        names = _assigned([*node.body, *node.orelse])
        passed = sorted((names | _assigned(rest)) & _mentioned(rest))
        last = f"{_RUNTIME}_rest_{self._count}"
        (statement,) = self._parsed(node, "return " + self._call("continued", self._values(sorted(names)), last))
        statement.value.args[0] = self.visit(node.test)
        end = f"return {_RUNTIME}.unfinished({passed!r}, {self._values(passed)})"
        functions = self._functions(node, node.body, node.orelse, sorted(names))
        for function in functions:
            function.body = self._block(function.body + self._parsed(node, end), True)
        (continuation,) = self._parsed(node, f"def {last}({', '.join(passed)}): pass")
        continuation.body = self._undefined_again(node, passed) + (self._block(rest, True) or continuation.body)
        return [*functions, continuation, statement]

    # Expressions.

    def _expression(self, node: ast.expr, name: str, first: ast.expr, *others: ast.expr) -> ast.expr:
        """runtime.name(first, lambda: other, ...)."""
        places = ", ".join(["None", *("lambda: None" for _ in others)])
        (statement,) = self._parsed(node, f"{_RUNTIME}.{name}({places})")
        call = statement.value
        call.args[0] = first
        for function, other in zip(call.args[1:], others, strict=True):
            function.body = other
        return call

    def visit_BoolOp(self, node):
        if _has([node], ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await):
            return node
        *firsts, made = map(self.visit, node.values)
        for first in reversed(firsts):
            made = self._expression(node, "both" if isinstance(node.op, ast.And) else "either", first, made)
        return made

    def visit_IfExp(self, node):
        if _has([node], ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await):
            return node
        return self._expression(node, "choice", *map(self.visit, (node.test, node.body, node.orelse)))

    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        return self._expression(node, "negated", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node):
        if _is_runtime(node.func):
            return node
        node = self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "vars", "eval", "exec")):
            node.func = self._expression(node.func, "callee", node.func)
        return node
