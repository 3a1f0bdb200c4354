"""Python functions as the C++ of kernels.

`translate(function, types)` gives the text of a C++ function that computes what the Python function does for numbers of
these types. Its syntax tree is translated: source.py finds it, statements.py, expressions.py and calls.py write the
C++, order.py keeps Python's order where a statement has effects, number_types.py says of which types the values are,
and functions.py lists what may be called. threads.py adds what functions of one thread of a GPU have (iruka.jit).
Everything that has no place in a kernel is a TranslationError that shows the line.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from typing import Any

from ..errors import TranslationError
from .bounds import Form
from .nested import Nested
from .number_types import C_TYPES, ArrayView, Number, Object, Tuple, is_tuple, known_of, name_of, number
from .source import OuterValues
from .statements import FunctionTranslator
from .values import Value

HEADER = '#include "jit/kernels/python_arrays.h"\nnamespace python = iruka::python;\n'


class Program:
    """The C++ functions that one translation needs: those that the translated function calls come before it."""

    translator = FunctionTranslator
    header = HEADER

    def __init__(self, has_own_arrays: bool = False) -> None:
        self.texts: list[str] = []
        self.made: dict[Any, FunctionTranslator] = {}
        self.structures: dict[Tuple, str] = {}
        self.tables: dict[int, tuple[Any, Value]] = {}  # known sequences by their id, and their tables
        self.contents: dict[str, str] = {}  # the names of tables by their text
        self.under_way: list[Any] = []
        self.extents: dict[str, Form] = {}  # of axes, by their names
        self.has_own_arrays = has_own_arrays
        self.outer: OuterValues = None  # type: ignore[assignment]  # of the first function

    def c_type(self, type: Any) -> str:
        """A number's C++ type, or the structure of a tuple."""
        if isinstance(type, (Number, ArrayView)):
            return type.c_type
        if not isinstance(type, Tuple):
            return "int"  # of a function whose results are in arrays
        if type not in self.structures:
            fields = " ".join(f"{self.c_type(item)} item_{k};" for k, item in enumerate(type.items))
            self.structures[type] = f"Tuple{len(self.structures)}"
            self.texts.append(f"struct {self.structures[type]} {{ {fields} }};\n")
        return self.structures[type]

    def function(
        self,
        function: types.FunctionType | Nested,
        arguments: tuple,
        caller: FunctionTranslator | None = None,
        node: Any = None,
    ) -> FunctionTranslator:
        """The function for these types of arguments, translated at its first use."""
        if self.outer is None and isinstance(function, types.FunctionType):
            self.outer = OuterValues(function)
        key = function, arguments, known_of(arguments)
        if key in self.under_way:
            message = f"{function.__name__}() calls itself; a kernel has no recursion, use a loop"
            if caller is None:
                raise TranslationError(message)
            caller.refuse(node, message)
        if key not in self.made:
            self.under_way.append(key)
            translator = self.translator(self, function, arguments, f"python_{len(self.made) + len(self.under_way)}")
            text = translator.translate()
            self.c_type(translator.returned)
            self.texts.append(text)
            self.under_way.pop()
            self.made[key] = translator
        return self.made[key]


class Translation:
    """A Python function as C++: `preamble` holds the functions, `call(names)` is the statement that sets outputs.

    Where it can fail, the call needs a variable `int64_t failed = 0`, which is 1 afterwards where Python would have
    raised. With `has_own_arrays`, no written array shares memory with another one; each is given with its address.
    """

    def __init__(
        self,
        function: types.FunctionType,
        arguments: tuple[Any, ...],
        has_own_arrays: bool = False,
        program: Program | None = None,
    ):
        program = program or Program(has_own_arrays)
        made = program.function(function, arguments)
        results = made.returned.items if is_tuple(made.returned) else (made.returned,)
        if made.returned != Object(None) and not all(isinstance(each, Number) for each in results):
            made.refuse(made.source.tree, f"it returns {made.returned}; a kernel returns numbers or tuples of numbers")
        self.returned, self.can_fail, self.outer = made.returned, made.can_fail, program.outer
        self._program, self._function, self._name = program, made, made.name
        self.preamble = program.header + "".join(program.texts)

    def refuse_results(self, message: str) -> None:
        """Raises TranslationError with this message where the function returns something."""
        if self.results:
            source = self._function.source
            returned = [node for node in ast.walk(source.tree) if isinstance(node, ast.Return) and node.value]
            source.refuse(returned[0] if returned else source.tree, message)

    @property
    def results(self) -> tuple[Number, ...]:
        """The types of the outputs; none where the results are in arrays."""
        if isinstance(self.returned, Object):
            return ()
        return self.returned.items if isinstance(self.returned, Tuple) else (self.returned,)

    def call(self, inputs: list[str], outputs: list[str], types: Sequence[Number] = ()) -> str:
        """Statements that compute the outputs, converted to `types` where they are given, from the inputs."""
        given = [*inputs, "failed"] if self.can_fail else inputs
        call = f"{self._name}({', '.join(given)})"
        if isinstance(self.returned, Object):
            return f"{call};"
        to = types or self.results
        if not isinstance(self.returned, Tuple):
            return f"{outputs[0]} = {Value(self.returned, call).as_type(to[0])};"
        lines = [
            f"{name} = {Value(kind, f'result.item_{k}').as_type(to[k])};"
            for k, (name, kind) in enumerate(zip(outputs, self.results, strict=True))
        ]
        return "\n".join([f"const {self._program.c_type(self.returned)} result = {call};", *lines])


def translate(function: types.FunctionType, arguments: tuple[Any, ...], has_own_arrays: bool = False) -> Translation:
    """The Python function for numbers of these dtypes. Raises TranslationError for what has no place in a kernel."""
    if not isinstance(function, types.FunctionType):
        name = getattr(function, "__name__", type(function).__name__)
        raise TranslationError(f"{name} is no Python function whose text is there, but a {type(function).__name__}")
    types_ = tuple(each if isinstance(each, (Number, Tuple, ArrayView, Object)) else number(each) for each in arguments)
    for each in types_:
        if not isinstance(each, (Number, ArrayView)):
            continue
        if name_of(each.dtype) not in C_TYPES or name_of(each.dtype) == "bfloat16":  # which is no type of Numba
            raise TranslationError(
                f"{function.__name__} has no kernel for the dtype {each.dtype}; convert the array, as by "
                'astype("float32")'
            )
    return Translation(function, types_, has_own_arrays)


__all__ = ["Translation", "TranslationError", "translate"]
