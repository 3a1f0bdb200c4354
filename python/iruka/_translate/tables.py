"""Arrays, lists and tuples outside of a translated function, as tables of constants in its kernel."""

from __future__ import annotations

import abc
import ast
import dataclasses
import math
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, NoReturn

import numpy

from .._core import ndarray
from .number_types import (
    C_TYPES,
    INT,
    LocalArray,
    Number,
    Object,
    is_tuple,
    is_whole,
    name_of,
    number,
    unified,
    unify,
)
from .values import Value, constant, integer, literal

MOST_ELEMENTS = 4096
_MOST_ITEMS = 256  # of sums and other expressions that name each element


@dataclasses.dataclass(frozen=True)
class Table(LocalArray):
    """An array of constants. `text` of its values is a pointer."""

    def __str__(self):
        return f"constant {super().__str__()}"


class Tables(abc.ABC):
    """Translates the uses of sequences that are known when the kernel is made."""

    program: Any

    @abc.abstractmethod
    def refuse(self, node: ast.AST, message: str) -> NoReturn: ...
    @abc.abstractmethod
    def value(self, node: ast.expr) -> Value: ...
    @abc.abstractmethod
    def folded(self, compute: Callable[[], Any], node: ast.AST) -> Value: ...
    @abc.abstractmethod
    def _item(self, value: Value, node: ast.Subscript) -> Value: ...
    @abc.abstractmethod
    def place_of(self, shape: tuple[int, ...], indices: list[Value], node: ast.AST) -> str: ...

    def unify(self, a: Any, b: Any) -> Any:
        """The type that holds values of both types; None where there is none."""
        return unify(a, b)

    def unified(self, types: Iterable[Any]) -> Any:
        """The type that holds values of all these types; None where there is none."""
        return reduce(lambda a, b: a if a is None else self.unify(a, b), types)

    @staticmethod
    def is_sequence(value: Value) -> bool:
        return isinstance(value.type, Object) and isinstance(value.constant, (list, numpy.ndarray, ndarray))

    # Elements

    def known_element(self, value: Value, node: ast.Subscript) -> Value:
        """An element of a Python object: a constant, or at an index that is a variable an element of a table."""
        known = value.constant
        if isinstance(known, list) and isinstance(node.slice, ast.Slice):
            return self._item(constant(tuple(known)), node)
        index = self.value(node.slice)
        is_row = not isinstance(known, list) and self.is_sequence(value) and known.ndim > _length(index)
        if index.is_constant and not is_row:
            return self.folded(lambda: (known.get() if isinstance(known, ndarray) else known)[index.constant], node)
        if self.is_sequence(value):
            return self.table_element(self.table(value, node), index, node)
        if hasattr(type(known), "__getitem__"):
            self.refuse(node, f"the index of this {value.type} must be known when the kernel is made")
        self.refuse(node, f"{value.type} has no elements")

    def table_element(self, table: Value, index: Value, node: ast.AST) -> Value:
        """An element of a table, or a row of it."""
        indices, shape = list(index.items) if is_tuple(index.type) else [index], table.type.shape
        for each in indices:
            if not each.is_number or not is_whole(each.type):
                self.refuse(node, f"an index must be an integer, not {each.type}")
        if len(indices) > len(shape):
            self.refuse(node, f"an array of shape {shape} takes {len(shape)} indices, not {len(indices)}")
        return self._part_at(table, self.place_of(shape[: len(indices)], indices, node), shape[len(indices) :])

    def table_part(self, table: Value, k: Value) -> Value:
        """The element or the row at an index that is not checked."""
        return self._part_at(table, k.text, table.type.shape[1:])

    @staticmethod
    def _part_at(table: Value, place: str, shape: tuple[int, ...]) -> Value:
        if not shape:
            return Value(Number(table.type.dtype), f"{table.text}[{place}]")
        return Value(Table(table.type.dtype, shape), f"({table.text} + {place} * {math.prod(shape)})")

    def known_items(self, value: Value, node: ast.AST) -> tuple[Value, ...]:
        """All elements of a known sequence."""
        count = len(value.constant)
        if count > _MOST_ITEMS:
            self.refuse(node, f"this {value.type} has {count} elements; use a loop over it")
        if isinstance(value.constant, list):
            return constant(tuple(value.constant)).items
        if value.constant.ndim == 1:
            return constant(tuple(_on_host(value.constant))).items
        table = self.table(value, node)
        return tuple(self.table_part(table, integer(str(k))) for k in range(count))

    # Tables

    def table(self, value: Value, node: ast.AST) -> Value:
        """The table of a list, a tuple or an array of numbers."""
        made: dict[int, tuple[Any, Value]] = self.program.tables
        known = value.constant
        if id(known) not in made:
            made[id(known)] = known, self._made_table(known, node)  # kept, so that no other object gets its id
        return made[id(known)][1]

    def table_of_numbers(self, items: tuple[Value, ...]) -> Value | None:
        """Constant numbers as a table; None for other values."""
        if not items or not all(item.is_constant and item.is_number for item in items):
            return None
        joined = unified(item.type for item in items)
        return self._declared(joined, (len(items),), items)

    def _made_table(self, known: Any, node: ast.AST) -> Value:
        size = math.prod(known.shape) if not isinstance(known, (list, tuple)) else _size(known)
        if size > MOST_ELEMENTS:
            self.refuse(node, f"{size} elements are too many for a constant of a kernel, which has at most "
                              f"{MOST_ELEMENTS}; make the array an argument, as guvectorize and jit.rawkernel "
                              "take it")  # fmt: skip
        if isinstance(known, (list, tuple)):
            shape, values = self._flattened_numbers(known, node)
            type = unified(each.type for each in values) if values else INT
            return self._declared(type, shape, values)
        array = _on_host(known)
        if name_of(array.dtype) not in C_TYPES:
            self.refuse(node, f"an array of dtype {array.dtype} has no place in a kernel")
        flat = tuple(Value(number(name_of(array.dtype)), constant=each) for each in array.ravel().tolist())
        return self._declared(number(name_of(array.dtype)), array.shape, flat)

    def _flattened_numbers(self, known: Any, node: ast.AST) -> tuple[tuple[int, ...], tuple[Value, ...]]:
        parts = []
        for each in known:
            if isinstance(each, (list, tuple)):
                parts.append(self._flattened_numbers(each, node))
            else:
                value = constant(each)
                if not value.is_number:
                    what = f"an element of this {type(known).__name__} is {value.type}"
                    self.refuse(node, f"{what}, so the index must be known when the kernel is made")
                parts.append(((), (value,)))
        if len({shape for shape, _ in parts}) > 1:
            self.refuse(node, "the rows differ in length, so the index must be known when the kernel is made")
        return (len(parts), *(parts[0][0] if parts else ())), tuple(each for _, values in parts for each in values)

    def _declared(self, type: Number, shape: tuple[int, ...], values: tuple[Value, ...]) -> Value:
        """A constant of C++, which is there once for each content. Inexact numbers are given by their bits."""
        c_type, texts = type.c_type, [literal(each.constant, type) for each in values]
        if type.kind in "fc":
            size = type.dtype.itemsize // (2 if type.kind == "c" else 1)
            bits = numpy.array([each.constant for each in values], type.dtype).view(f"uint{8 * size}")
            c_type, texts = f"uint{8 * size}_t", [f"{each}u{'ll' * (size == 8)}" for each in bits.tolist()]
        content = f"{c_type} @[] = {{{', '.join(texts or ['0'])}}};\n"
        names: dict[str, str] = self.program.contents
        if content not in names:
            names[content] = f"python_table_{len(names)}"
            self.program.texts.append(f"alignas(16) static const {content.replace('@', names[content])}")
        name = names[content]
        return Value(Table(type.dtype, shape), name if c_type == type.c_type else f"((const {type.c_type} *){name})")


def _length(index: Value) -> int:
    return len(index.items) if is_tuple(index.type) else 1


def _size(known: Any) -> int:
    return sum(_size(each) if isinstance(each, (list, tuple)) else 1 for each in known)


def _on_host(array: Any) -> numpy.ndarray:
    return array.get() if isinstance(array, ndarray) else array


def rows_of(known: Any) -> Any:
    """A list of lists or tuples as tuples, as its columns may have different types. Anything else stays."""
    if not isinstance(known, (list, tuple)) or not any(isinstance(each, (list, tuple)) for each in known):
        return known
    return tuple(tuple(rows_of(each)) if isinstance(each, (list, tuple)) else each for each in known)
