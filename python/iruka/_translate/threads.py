"""Python functions for the threads of a GPU: iruka.jit.rawkernel."""

from __future__ import annotations

import ast
import dataclasses
import linecache
import math
import os
import types
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, cast

import numpy

from .. import _thread_names as jit
from . import HEADER, Program
from .bounds import Form, extreme, operated, symbol
from .knowledge import INT32, form_of
from .loops import Range
from .nested import Nested
from .number_types import BOOL, INT, ArrayView, LocalArray, Number, Object, c_type_of, is_whole, number
from .statements import FunctionTranslator
from .values import Value, integer, literal, tuple_of

_AXES = ("x", "y", "z")
_MOST_BLOCKS = {"x": 2**31 - 1, "y": 65535, "z": 65535}
_SMALL_GRID = 2**21 - 1
_LONGEST_STATEMENT = 120
_NARROW_OPERATORS = ("+", "-", "*", "//", "%", "&", "|", "^")
_LANE = "((int64_t)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32))"


@dataclasses.dataclass(frozen=True)
class SharedArray(LocalArray):
    """An array that the threads of a block share. Its extent is None where the launch gives it."""

    shape: tuple[Any, ...]
    alignment: int | None = None

    def __str__(self):
        return f"shared {super().__str__()}"


class ThreadFunction(FunctionTranslator):
    """A kernel, or a function that kernels call. Indices are not checked, as in CUDA.

    A number in the text has no type of its own: it takes that of the other operand.
    """

    read_only = "this array is read-only"
    has_threads = True

    def __init__(self, program: KernelProgram, function: types.FunctionType | Nested, arguments: tuple, name: str):
        self.positive: set[str] = set()  # texts of integers that are known to be above zero
        super().__init__(program, function, arguments, name)

    def check_effects(self) -> None:
        """Functions that return nothing have their effects in shared memory or as barriers, too."""

    def advice_on(self, values: list[Value]) -> str:
        return "; a thread computes with elements, x[i] with i = jit.grid(1)" if super().advice_on(values) else ""

    # Values

    def value(self, node: ast.expr) -> Value:
        return self._typed(super().value(node), node)

    def _typed(self, value: Value, node: ast.AST) -> Value:
        """The names of iruka.jit as numbers; in the mode of CUDA, a float has the type float32."""
        if not value.is_constant or not isinstance(value.type, (Object, Number)):
            return value
        known = value.constant
        if isinstance(known, jit.Coordinate):
            made = self.narrow(f"(int){known.name}", self.coordinate(known.name))
            if known.name.startswith(("blockDim", "gridDim")):
                self.positive.add(made.text)
            return made
        if self.program.mode == "cuda" and type(known) in (float, complex):
            narrow = number("float32" if type(known) is float else "complex64")
            return Value(narrow, literal(known, narrow), known)
        return value

    def binary(self, sign: str, a: Value, b: Value, node: ast.AST) -> Value:
        if not (sign == "**" and b.is_number and is_whole(b.type)):
            a, b = self._adapted([a, b])
        result = super().binary(sign, a, b, node)
        if sign in "+*" and self._is_positive(a) and self._is_positive(b):
            self.positive.add(result.text)
        return result

    def _is_positive(self, value: Value) -> bool:
        """Whether an integer is known to be above zero, as the extents of blocks and grids are."""
        return value.constant > 0 if value.type == INT and value.is_constant else value.text in self.positive

    def chosen(self, test: str, a: Value, b: Value, node: ast.AST) -> Value:
        a, b = self._adapted([a, b])
        return super().chosen(test, a, b, node)

    def _adapted(self, values: list[Value]) -> list[Value]:
        """Operands of floats in the type of the floats."""
        inexact = [each.type for each in values if each.is_number and each.type.kind in "fc" and not _is_untyped(each)]
        if not inexact:
            return values
        target = Number(numpy.result_type(*(each.dtype for each in inexact)))
        return [self._adapted_to(target, each) for each in values]

    def _adapted_to(self, target: Number, value: Value) -> Value:
        if not value.is_number or (value.type.kind == "c" and target.kind != "c"):
            return value
        if not (_is_untyped(value) or (self.program.mode == "cuda" and is_whole(value.type))):
            return value
        return Value(target, value.as_type(target), value.constant)

    # Integers whose bounds are known to fit 32 bits, in which GPUs compute. They have 64 bits everywhere else.

    def forget_all(self) -> None:
        super().forget_all()
        self.narrow_texts: dict[str, str] = {}  # of integers, by their texts with 64 bits
        self.low_texts: dict[str, str] = {}  # the low 32 bits of sums and products, by the same

    def coordinate(self, name: str) -> Form:
        """A thread's coordinate, or an extent; CUDA limits them."""
        kind, axis = name.split(".")
        most = _MOST_BLOCKS[axis] if axis != "x" or not self.program.has_small_grid else _SMALL_GRID
        low, high = {"threadIdx": (0, 1023), "blockDim": (1, 1024), "blockIdx": (0, most - 1), "gridDim": (1, most)}[
            kind
        ]
        return self.program.extents.setdefault(name, symbol(low, high))

    def narrow(self, text: str, form: Form) -> Value:
        """An integer of 64 bits from C++ of type int."""
        made = integer(f"((int64_t){text})", form)
        self.narrow_texts[made.text] = text
        return made

    def narrow_text(self, value: Value) -> str | None:
        """C++ of type int for the value; None where 32 bits may not hold it."""
        form = form_of(value)
        if form is None or not form.fits(*INT32):
            return None
        if value.is_constant:
            return f"({int(value.constant)})" if value.constant > INT32[0] else None
        return self.narrow_texts.get(value.text) or f"((int){value.text})"

    def _operation(self, sign: str, a: Value, b: Value, common: Number) -> Value:
        result = super()._operation(sign, a, b, common)
        if sign in ("+", "-", "*") and common == INT:
            self.low_texts[result.text] = f"({self.low_text(a)} {sign} {self.low_text(b)})"
        return result

    def low_text(self, value: Value) -> str:
        """C++ for the low 32 bits of an integer."""
        if value.is_constant:
            return f"{int(value.constant) & 0xFFFFFFFF}u"
        return self.low_texts.get(value.text) or f"((uint32_t){self.narrow_texts.get(value.text, value.text)})"

    def place(self, index: Value) -> str:
        """An index of an array with less than 2^31 places."""
        return self.narrow_text(index) or f"python::place({index.as_type(INT)}, {self.low_text(index)})"

    def plain_text(self, sign: str, a: Value, b: Value) -> str:
        left, right = self.narrow_text(a), self.narrow_text(b)
        if left is None or right is None:
            return super().plain_text(sign, a, b)
        form = operated(sign, cast(Form, form_of(a)), cast(Form, form_of(b)), self.facts)
        if form is None or not form.fits(*INT32) or sign not in _NARROW_OPERATORS:
            return super().plain_text(sign, a, b)
        if sign in ("//", "%") and cast(Form, form_of(a)).low >= 0 and cast(Form, form_of(b)).low > 0:
            text = f"({left} {sign[0]} {right})"
        elif sign in ("//", "%"):
            text = f"iruka::{'floor_divide' if sign == '//' else 'remainder'}({left}, {right})"
        else:
            text = f"({left} {sign} {right})"
        return self.narrow(text, form).text

    def with_extreme(self, name: str, a: Value, b: Value, result: Value) -> Value:
        left, right = self.narrow_text(a), self.narrow_text(b)
        form = extreme(name, [form_of(a), form_of(b)])
        if result.type != INT or left is None or right is None or form is None:
            return super().with_extreme(name, a, b, result)
        return self.narrow(f"python::{name}({left}, {right})", form)

    def _comparison(self, sign: str, a: Value, b: Value) -> Value:
        left, right = self.narrow_text(a), self.narrow_text(b)
        if left is None or right is None:
            return super()._comparison(sign, a, b)
        return Value(BOOL, f"({left} {sign} {right})")

    # Elements

    def inside(self, index: str, extent: int | None) -> str:
        return index

    def place_in(self, index: Value, extent_text: str, extent: Form | None) -> str | None:
        """Indices are not checked, and do not count from the end."""
        return self.place(index)

    def at(self, array: Value, indices: list[Value], node: ast.AST) -> Value:
        c_type = c_type_of(array.type.dtype)
        last = indices[-1] if array.type.is_contiguous and indices else None
        strided = indices if last is None else indices[:-1]
        offsets = (self._offset(array, axis, index, node) for axis, index in enumerate(strided))
        data = f"(({c_type} *)({' + '.join([f'{array.text}.data', *offsets])}))"
        place = "0" if last is None else self._index(array, last, array.type.ndim - 1, node)
        return Value(Number(array.type.dtype), f"{data}[{place}]")

    def row(self, array: Value, index: Value, node: ast.AST) -> Value:
        view = dataclasses.replace(array.type, ndim=array.type.ndim - 1, axes=array.type.axes[1:])
        data = f"{array.text}.data + {self._offset(array, 0, index, node)}"
        sides = [
            ", ".join(f"{array.text}.{field}[{axis}]" for axis in range(1, array.type.ndim))
            for field in ("shape", "strides")
        ]
        text = f"{view.c_type}{{{data}, {{{sides[0]}}}, {{{sides[1]}}}}}"
        return Value(view, self.named(view.c_type, text) if self.may_emit else text)

    def _offset(self, array: Value, axis: int, index: Value, node: ast.AST) -> str:
        place, stride = self._index(array, index, axis, node), f"{array.text}.strides[{axis}]"
        if array.type.is_small and array.type.is_contiguous:
            stride = f"python::place({stride}, (uint32_t){stride})"
        return f"{place} * {stride}"

    def _index(self, array: Value, index: Value, axis: int, node: ast.AST) -> str:
        self._check_sign(index, f"x.shape[{axis}]", node)
        return self.place(index) if array.type.is_small and array.type.is_contiguous else index.as_type(INT)

    def element(self, array: Value, node: ast.Subscript) -> Value:
        if not _has_no_extent(array.type):
            return super().element(array, node)
        index = self.index_of(node.slice)
        self.check_known([index], array.type.shape, node)
        return Value(Number(array.type.dtype), f"{array.text}[{self.place(index)}]")

    def check_known(self, indices: list[Value], shape: tuple[Any, ...], node: ast.AST) -> None:
        """As of arrays that were given: of a variable nothing would count from the end, so a constant does not."""
        for index, extent in zip(indices, shape, strict=False):
            self._check_sign(index, "the extent" if extent is None else str(extent), node)

    def _check_sign(self, index: Value, extent: str, node: ast.AST) -> None:
        """Refuses an index that is known to be below 0."""
        form = form_of(index)
        if form is None or not form.low <= form.high < 0:  # the counter of a loop without rounds has high < low
            return
        instead = f"write {extent} - {-form.low}" if form.low == form.high else f"add {extent} to this one"
        self.refuse(node, f"indices of a rawkernel do not count from the end; {instead}")

    def failure(self) -> str:
        """A variable for C++ functions that check. Nothing reads it: they use the first element instead."""
        name = self.temporary()
        self.emit(f"int64_t {name} = 0;")
        return name

    # Statements

    def _Raise(self, node: ast.Raise) -> None:
        self._fail(node)
        self.emit("return {};")
        self.assigned = None

    def _Assert(self, node: ast.Assert) -> None:
        self.emit(f"if (!{self.tested(node.test)}) {{")
        self._fail(node)
        self.emit("}")

    def _fail(self, node: ast.stmt) -> None:
        """An assertion whose message has the file, the line and the text of Python's statement."""
        text = linecache.getline(self.source.file, node.lineno).strip()[:_LONGEST_STATEMENT]
        self.emit(f'#line {node.lineno} "{_as_c_string(os.path.basename(self.source.file))}"')
        self.emit(f'assert(!"{_as_c_string(text or type(node).__name__.lower())}");')

    def _fail_if(self, test: str) -> None:
        """A range whose step is 0 has no elements."""

    def iterated(self, node: ast.expr) -> Range | tuple[Value, Any]:
        function = self.function_named(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or function is None:
            return super().iterated(node)
        if not function.is_constant or not any(function.constant is each for each in (range, jit.range)):
            return super().iterated(node)
        bounds = [self.number_of(each, "a bound of range()") for each in node.args]
        made = self.range_of(bounds, node)
        made.unroll = self._unrolling(node)
        made.is_known_to_rise = len(bounds) == 3 and self._is_positive(bounds[2])
        if made.step.is_constant or made.is_known_to_rise:
            return made
        count, item = made.counted()
        return integer(self.named("int64_t", f"{made.step.text} == 0 ? 0 : {count.text}")), item

    def _unrolling(self, node: ast.Call) -> bool | int | None:
        unroll = None
        for keyword in node.keywords:
            given = self.value(keyword.value)
            if keyword.arg != "unroll" or not isinstance(given.constant, (int, types.NoneType)):
                self.refuse(node, "jit.range() takes the keyword unroll, which is a known bool or int")
            unroll = given.constant
        return unroll

    def range_loop(self, items: Range) -> str:
        if (unroll := items.unroll) is not None:
            self.emit("#pragma unroll" if unroll is True else f"#pragma unroll {max(1, int(unroll))}")
        start, stop, step = (self.narrow_text(each) for each in items.bounds)
        form = items.counter()
        if start is None or stop is None or step is None or form is None or not items.ends_within(*INT32):
            return super().range_loop(items)
        place = self.temporary()
        sign = "<" if form_of(items.step).low > 0 else ">"  # type: ignore[union-attr]
        self.emit(f"for (int {place} = {start}; {place} {sign} {stop}; {place} += {step}) {{")
        return self.narrow(place, form).text

    # Shared memory

    def array(self, node: ast.expr) -> Value | None:
        function = self.function_named(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and function is not None:
            if function.is_constant and function.constant is jit.shared_memory:
                return self._shared(node)
        return super().array(node)

    def _shared(self, node: ast.Call) -> Value:
        names = ("dtype", "size", "alignment")
        given = dict(zip(names, map(self.value, node.args), strict=False))
        given |= {str(each.arg): self.value(each.value) for each in node.keywords}
        if not {"dtype", "size"} <= set(given) <= set(names) or not all(each.is_constant for each in given.values()):
            self.refuse(node, "shared_memory(dtype, size, alignment=None) takes what is known when the kernel is made")
        size, alignment = given["size"].constant, given["alignment"].constant if "alignment" in given else None
        shape = size if isinstance(size, tuple) else (size,)
        if size is not None and not (shape and all(_is_int(each) and each > 0 for each in shape)):
            self.refuse(node, f"the size of shared memory must be an int above 0, a tuple of them, or None for what "
                              f"the launch gives, not {size!r}")  # fmt: skip
        if not (alignment is None or (_is_int(alignment) and alignment > 0 and alignment & (alignment - 1) == 0)):
            self.refuse(node, f"the alignment must be a power of 2, not {alignment!r}")
        return Value(SharedArray(self.dtype_of(given, None, node), shape, alignment), constant=None)

    def assign_array(self, name: str, value: Value, node: ast.AST) -> None:
        if not isinstance(value.type, SharedArray):
            return super().assign_array(name, value, node)
        if value.text:
            self.refuse(node, "an array has one name")
        if name in self.arguments:
            self.refuse(node, f"{name!r} is a parameter; give the shared array another name")
        self.assign_name(name, value.type, node)

    def declarations(self, name: str, type: Any) -> list[str]:
        if not isinstance(type, SharedArray):
            return super().declarations(name, type)
        aligned = f"alignas({type.alignment}) " if type.alignment else ""
        extent = "" if _has_no_extent(type) else str(math.prod(map(int, type.shape)))
        return [f"{'' if extent else 'extern '}{aligned}__shared__ {c_type_of(type.dtype)} {name}[{extent}];"]

    # Calls

    def call(self, function: Any, arguments: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        if isinstance(function, jit.Absent):
            self.refuse(node, f"{function.name} is not part of a rawkernel; {function.instead}")
        if isinstance(function, jit.ThreadFunction):
            if not function.is_device:
                self.refuse(node, f"{function.__name__}() is a kernel; what a kernel calls is made by "
                                  "jit.rawkernel(device=True)")  # fmt: skip
            return self.call_function(function.function, arguments, keywords, node)
        own = _OWN.get(function) if isinstance(function, types.FunctionType) else None
        if own is not None:
            return own(self, *self.matched(function, arguments, keywords, node), node)
        if function is len and any(_has_no_extent(each.type) for each in arguments):
            self._refuse_extent(node)
        is_translated = isinstance(function, types.FunctionType) or hasattr(type(function), "_iruka_in_kernel_")
        if not is_translated and function not in _AS_GIVEN:
            arguments = self._adapted(arguments)
        return super().call(function, arguments, keywords, node)

    def attribute(self, value: Value, node: ast.Attribute) -> Value:
        if node.attr in ("shape", "size") and _has_no_extent(value.type):
            self._refuse_extent(node)
        return super().attribute(value, node)

    def _refuse_extent(self, node: ast.AST) -> NoReturn:
        self.refuse(node, "the launch gives the size of this shared memory; pass it as an argument")

    def _known(self, value: Value, what: str, node: ast.AST) -> int:
        if not value.is_constant or value.constant not in (1, 2, 3):
            self.refuse(node, f"{what} takes 1, 2 or 3")
        return int(value.constant)

    def _grid(self, ndim: Value, node: ast.AST) -> Value:
        return self._per_axis("((int64_t)blockIdx.{0} * blockDim.{0} + threadIdx.{0})", ndim, "grid()", node)

    def _gridsize(self, ndim: Value, node: ast.AST) -> Value:
        made = self._per_axis("((int64_t)gridDim.{0} * blockDim.{0})", ndim, "gridsize()", node)
        self.positive.update(each.text for each in made.items or (made,))
        return made

    def _per_axis(self, text: str, ndim: Value, what: str, node: ast.AST) -> Value:
        axes = _AXES[: self._known(ndim, what, node)]
        parts = [self._grid_part(text, axis, what) for axis in axes]
        return parts[0] if len(parts) == 1 else tuple_of(parts)

    def _grid_part(self, text: str, axis: str, what: str) -> Value:
        blocks, threads = self.coordinate(f"gridDim.{axis}").high, self.coordinate(f"blockDim.{axis}").high
        most = blocks * threads
        bounds = (0, most - 1) if what == "grid()" else (1, most)
        form = self.program.extents.setdefault(f"{what} {axis}", symbol(*bounds))
        if form.fits(*INT32):
            return self.narrow(f"(int)({text.format(axis).replace('(int64_t)', '').strip('()')})", form)
        return integer(text.format(axis), form)

    def _laneid(self, node: ast.AST) -> Value:
        return integer(_LANE, symbol(0, 31))

    def _syncthreads(self, node: ast.AST) -> Value:
        return self._effect(Value(Object(None), "__syncthreads()"), node)

    def _effect(self, value: Value, node: ast.AST) -> Value:
        self.has_effects = True
        return self.performed(value, node)

    def _syncwarp(self, mask: Value, node: ast.AST) -> Value:
        return self._effect(Value(Object(None), f"__syncwarp({self._lanes(mask, node)})"), node)

    def _lanes(self, mask: Value, node: ast.AST) -> str:
        return f"(unsigned){self._whole(mask, 'the mask', node).text}"

    def _whole(self, value: Value, what: str, node: ast.AST) -> Value:
        if not value.is_number or not is_whole(value.type):
            self.refuse(node, f"{what} must be an integer, not {value.type}")
        return value

    def _shuffle(self, mask: Value, var: Value, place: Value, width: Value, node: ast.AST, name: str) -> Value:
        if not var.is_number or var.type.kind == "c":
            self.refuse(node, f"{name} takes a real number, not {var.type}")
        wide = number("int32" if var.type.kind != "u" else "uint32")
        moved = wide if is_whole(var.type) and var.type.dtype.itemsize < 4 else var.type
        others = [f"(int){self._whole(each, 'a lane', node).text}" for each in (place, width)]
        text = f"__{name}({self._lanes(mask, node)}, {var.as_type(moved)}, {', '.join(others)})"
        return self._effect(Value(var.type, Value(moved, text).as_type(var.type)), node)

    def _atomic(self, array: Value, index: Value, value: Value, other: Value, node: Any, name: str) -> Value:
        place = self._place(array, index, node)
        given = [value] if name != "cas" else [value, other]
        if not all(each.is_number for each in given):
            self.refuse(node, f"atomic_{name} takes a number{' and a second one' * (name == 'cas')}")
        texts = [each.as_type(place.type) for each in given]
        kind, size = place.type.kind, place.type.dtype.itemsize
        if kind == "b" or (kind in "fc" and name in _OF_INTEGERS) or (kind == "c" and name not in ("add", "sub")):
            self.refuse(node, f"atomic_{name} takes no array of {place.type}")
        if size > 8 and name not in ("add", "sub"):
            self.refuse(node, f"atomic_{name} takes elements of at most 8 bytes")
        function = f"atomic{name.capitalize() if name != 'cas' else 'CAS'}"
        return self._effect(Value(place.type, f"{function}(&{place.text}, {', '.join(texts)})"), node)

    def _place(self, array: Value, index: Value, node: ast.Call) -> Value:
        """The element that an atomic function changes."""
        indices = list(index.items) if index.items else [index]
        for each in indices:
            self._whole(each, "an index", node)
        if not isinstance(array.type, (ArrayView, SharedArray)):
            self.refuse(node, f"an array is needed first, not {array.type}")
        ndim = array.type.ndim if isinstance(array.type, ArrayView) else len(array.type.shape)
        if len(indices) != ndim:
            self.refuse(node, f"{array.type} takes {ndim} indices here, not {len(indices)}")
        if isinstance(array.type, SharedArray):
            self.check_known(indices, array.type.shape, node)
            is_flat = len(indices) == 1
            place = indices[0].as_type(INT) if is_flat else self.place_of(array.type.shape, indices, node)
            return Value(Number(array.type.dtype), f"{array.text}[{place}]")
        if not array.type.is_writable:
            self.refuse(node, self.read_only)
        return self.at(array, indices, node)


def _is_untyped(value: Value) -> bool:
    """Whether the value is one of Python's numbers, known when the kernel is made."""
    return value.is_constant and type(value.constant) in (bool, int, float, complex)


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, numpy.integer)) and not isinstance(value, bool)


def _as_c_string(text: str) -> str:
    """The text in a literal of C++, without its quotes. What is not ASCII becomes a question mark."""
    plain = text.replace("\\", "\\\\").replace('"', "'")
    return plain.encode("ascii", "replace").decode()


def _has_no_extent(type: Any) -> bool:
    return isinstance(type, SharedArray) and type.shape == (None,)


def _misplaced(message: str) -> Callable[..., Value]:
    return lambda self, *values_and_node: self.refuse(values_and_node[-1], message)


_OF_INTEGERS = ("inc", "dec", "and", "or", "xor")
_AS_GIVEN = (pow, round, math.ldexp, numpy.where)  # their integers stay integers
_OWN: dict[Any, Callable[..., Value]] = {
    jit.grid: ThreadFunction._grid,
    jit.gridsize: ThreadFunction._gridsize,
    jit.laneid: ThreadFunction._laneid,
    jit.syncthreads: ThreadFunction._syncthreads,
    jit.syncwarp: ThreadFunction._syncwarp,
    jit.range: _misplaced("jit.range() stands in `for ... in jit.range(...)`"),
    jit.shared_memory: _misplaced("shared memory is made by an assignment to a name: a = jit.shared_memory(dtype, 32)"),
    **{
        getattr(jit, name): partial(ThreadFunction._shuffle, name=name)
        for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
    },
    **{
        getattr(jit, f"atomic_{name}"): partial(ThreadFunction._atomic, name=name)
        for name in ("add", "sub", "exch", "min", "max", "inc", "dec", "cas", "and", "or", "xor")
    },
}


class KernelProgram(Program):
    """The C++ functions of one kernel."""

    translator = ThreadFunction

    def __init__(self, mode: str, has_small_grid: bool):
        super().__init__()
        self.mode, self.has_small_grid = mode, has_small_grid


class Parameters:
    """The parameters of a kernel for one argument, and the argument that they are made to."""

    def __init__(self, name: str, type: Number | ArrayView):
        self.name, self.type = name, type
        if isinstance(type, Number):
            self.texts, self.argument = [f"{type.c_type} {name}"], name
            return
        item = c_type_of(type.dtype)
        shape = [f"shape{axis}_{name}" for axis in range(type.ndim)]
        strides = [f"stride{axis}_{name}" for axis in range(type.ndim)]
        self.texts = [f"{item} {'' if type.is_writable else 'const '}*{name}", *(f"int64_t {each}" for each in shape)]
        if type.is_contiguous:
            strides = [" * ".join([f"(int64_t)sizeof({item})", *shape[axis + 1 :]]) for axis in range(type.ndim)]
        else:
            self.texts += [f"int64_t {each}" for each in strides]
        self.argument = f"{type.c_type}{{(char *){name}, {{{', '.join(shape)}}}, {{{', '.join(strides)}}}}}"


def translate_kernel(
    function: types.FunctionType, name: str, arguments: list[Number | ArrayView], mode: str, has_small_grid: bool
) -> str:
    """The CUDA C++ of a kernel `name` for arguments of these types. A small grid has less than 2^21 blocks along x.

    Its parameters are numbers, and for each array the pointer, the extents, and the strides where it is not contiguous.
    """
    program = KernelProgram(mode, has_small_grid)
    made = program.function(function, tuple(arguments))
    if made.returned != Object(None):
        made.refuse(made.source.tree, f"it returns {made.returned}; a kernel returns nothing and writes into arrays")
    names = [made.c_name(each) for each in made.arguments]
    parts = [Parameters(each, given) for each, given in zip(names, arguments, strict=True)]
    parameters = ", ".join(text for part in parts for text in part.texts)
    call = f"{made.name}({', '.join(part.argument for part in parts)});"
    head = f'extern "C" __global__ void {name}({parameters})'
    return f"{HEADER}{''.join(program.texts)}{head} {{ {call} }}\n"
