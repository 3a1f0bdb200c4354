"""Arrays of fixed shape that functions make with numpy.zeros and its kind."""

from __future__ import annotations

import abc
import ast
from typing import Any

import numpy

from .calls import Calls
from .functions import of_iruka
from .number_types import C_TYPES, FLOAT, LocalArray, Number, Object, Tuple, name_of
from .values import Value, constant, tuple_of

_ARRAYS: dict[Any, int] = {numpy.zeros: 0, numpy.ones: 1, numpy.empty: 0}  # the elements that they make
_MOST_ELEMENTS = 4096


class LocalArrays(Calls):
    """Translates the definitions of arrays."""

    arguments: dict[str, Any]
    iterated_arrays: list[str]  # those that loops around the statement go over

    @abc.abstractmethod
    def snapshot(self, value: Value) -> Value: ...

    def array(self, node: ast.expr) -> Value | None:
        """numpy.zeros, ones, empty, full and array of known shape, as the value of an assignment."""
        if not isinstance(node, ast.Call):
            return None
        function = self.function_named(node.func)
        if function is None or not isinstance(function.type, Object):
            return None
        made = of_iruka(function.constant)
        if not any(made is each for each in (*_ARRAYS, numpy.full, numpy.array)):
            return None
        given = [self._listed(each) for each in node.args]
        keywords = {str(each.arg): self.value(each.value) for each in node.keywords}
        name: dict[Any, list[str]] = {numpy.full: ["shape", "fill_value", "dtype"], numpy.array: ["object", "dtype"]}
        bound = dict(zip(name.get(made, ["shape", "dtype"]), given, strict=False)) | keywords
        if made is numpy.array:
            return self._filled(bound, node)
        return self._of_shape(made, bound, node)

    def _listed(self, node: ast.expr) -> Value:
        if isinstance(node, ast.List):
            return tuple_of([self._listed(each) for each in node.elts])
        return self.value(node)

    def dtype_of(self, bound: dict[str, Value], default: Any, node: ast.AST) -> numpy.dtype:
        if "dtype" not in bound:
            return default
        try:
            dtype = numpy.dtype(bound["dtype"].constant)
        except TypeError as error:
            self.refuse(node, str(error))
        if name_of(dtype) not in C_TYPES:
            self.refuse(node, f"an array of dtype {dtype} has no place in a kernel")
        return dtype

    def _of_shape(self, function: Any, bound: dict[str, Value], node: ast.AST) -> Value:
        given = bound.get("shape")
        shape: Any = given.constant if given is not None and given.is_constant else None
        shape = (shape,) if isinstance(shape, int) else shape
        if not isinstance(shape, tuple) or not all(isinstance(each, int) and each >= 0 for each in shape):
            self.refuse(node, "the shape of an array must be known when the kernel is made; for one as large as an "
                              "argument add an output to the layout of guvectorize, or an argument")  # fmt: skip
        if int(numpy.prod(shape)) > _MOST_ELEMENTS:
            self.refuse(node, f"an array of {int(numpy.prod(shape))} elements is too large: each element's "
                              f"computation has its own, of at most {_MOST_ELEMENTS}")  # fmt: skip
        fill = bound["fill_value"] if function is numpy.full else constant(_ARRAYS[function])
        default = fill.type.dtype if function is numpy.full else numpy.dtype("float64")
        return Value(LocalArray(self.dtype_of(bound, default, node), shape), constant=None, items=(fill,))

    def _filled(self, bound: dict[str, Value], node: ast.AST) -> Value:
        rows = bound["object"]
        shape, items = self._flattened(rows, node)
        joined = self.unified(item.type for item in items) if items else FLOAT
        if not isinstance(joined, Number):
            self.refuse(node, "the elements of an array must be numbers")
        return Value(LocalArray(self.dtype_of(bound, joined.dtype, node), shape), constant=None, items=tuple(items))

    def _flattened(self, value: Value, node: ast.AST) -> tuple[tuple[int, ...], list[Value]]:
        if value.is_number:
            return (), [value]
        if not isinstance(value.type, Tuple):
            self.refuse(node, f"an array is made of numbers, not of {value.type}")
        parts = [self._flattened(item, node) for item in value.items]
        if len({shape for shape, _ in parts}) > 1:
            self.refuse(node, "the rows of an array must have one length")
        inner = parts[0][0] if parts else ()
        return (len(parts), *inner), [item for _, items in parts for item in items]

    def assign_array(self, name: str, value: Value, node: ast.AST) -> None:
        """Fills the array's storage. A parameter that is a caller's array gets storage of its own."""
        if self.c_name(name) in self.iterated_arrays:
            self.refuse(node, f"a loop goes over the array {name!r} here; give the new array another name")
        items, is_new = list(value.items), name not in (self.assigned or ())
        self.assign_name(name, value.type, node)
        if not items:
            self.refuse(node, "an array has one name; copy its elements")
        if not is_new:  # the items may be made of the elements so far
            items = [self.snapshot(each) for each in items]
        storage = self.storage_of(name) if name in self.arguments else self.c_name(name)
        item, count = Number(value.type.dtype), int(numpy.prod(value.type.shape))
        if len(items) == count and count != 1 or len(value.type.shape) == 0:
            for k, each in enumerate(items):
                self.emit(f"{storage}[{k}] = {each.as_type(item)};")
        else:
            self.emit(f"for (int k = 0; k < {count}; ++k) {storage}[k] = {items[0].as_type(item)};")
        if name in self.arguments:
            self.emit(f"{self.c_name(name)} = {storage};")

    def storage_of(self, name: str) -> str:
        return f"own_{self.c_name(name)}"
