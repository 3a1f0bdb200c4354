"""What a fused function's arguments are while it is traced: arrays that record what is done with them."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from .. import _core
from ..errors import AxisError, IndexError, TypeError, ValueError
from . import reductions
from .graph import Graph, Node, Place, name_of, row_name
from .numbers import FusedNumber, is_number
from .wording import NO_ELEMENTS, NOT_PART, instead_of

_REDUCING_UFUNCS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip


class FusedArray:
    """An array of a fused function while it is traced. It has a dtype and a number of axes, and no elements."""

    __slots__ = ("_graph", "_place", "_view")
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 2000

    def __init__(self, graph: Graph, place: Place, view: tuple = ()):
        self._graph, self._place, self._view = graph, place, view

    @property
    def _node(self) -> Node:
        node = self._place.node
        for text, data, ndim in self._view:
            node = self._graph.view(node, text, data, ndim)
        return node

    @property
    def dtype(self) -> numpy.dtype:
        return _core.dtype_of(self._place.node.dtype)

    @property
    def ndim(self) -> int:
        return self._view[-1][2] if self._view else self._place.node.ndim

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def shape(self) -> tuple:
        recipe, sources = self._shape_recipe()
        extents = numpy.broadcast_shapes(*(self._graph.values[k].shape for k in sorted(sources)))
        if sources <= self._graph.by_value:
            return extents
        return tuple(
            FusedNumber(self._graph, extent, f"{recipe}[{axis}]", frozenset(sources))
            for axis, extent in enumerate(extents)
        )

    def _shape_recipe(self) -> tuple[str, set]:
        sources = set(self._node.shape)
        if not all(isinstance(part, int) for part in sources):
            raise TypeError("the shape of a reduction or a view is not known inside a fused function")
        texts = [f"a[{k}].shape" for k in sorted(sources)]
        if len(texts) == 1:
            return texts[0], sources
        return f"{self._graph.constant(numpy.broadcast_shapes)}({', '.join(texts)})", sources

    @property
    def size(self) -> Any:
        total: Any = 1
        for extent in self.shape:
            total = total * extent
        return total

    # Views

    @property
    def T(self) -> FusedArray:
        return self._viewed("{}.T", (), self.ndim)

    @property
    def mT(self) -> FusedArray:
        return self.swapaxes(-1, -2)

    def transpose(self, *axes) -> FusedArray:
        if not axes or axes == (None,):
            return self.T
        order = tuple(axes[0]) if len(axes) == 1 and not is_number(axes[0]) else axes
        if sorted(normal_axes("transpose", order, self.ndim)) != list(range(self.ndim)):
            raise ValueError(f"transpose: axes {order} do not match an array of {self.ndim} axes")
        return self._viewed("{}.transpose", tuple(map(operator.index, order)), self.ndim)

    def swapaxes(self, axis1: int, axis2: int) -> FusedArray:
        order = list(range(self.ndim))
        (first,), (second,) = (normal_axes("swapaxes", (axis,), self.ndim) for axis in (axis1, axis2))
        order[first], order[second] = second, first
        return self.transpose(order)

    def _expand_dims(self, axis: int) -> FusedArray:
        return self[(*(slice(None) for _ in range(axis)), None)]

    def _viewed(self, text: str, data: Any, ndim: int) -> FusedArray:
        return FusedArray(self._graph, self._place, (*self._view, (text, data, ndim)))

    def __getitem__(self, index) -> FusedArray:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, FusedArray) for part in parts):
            raise TypeError("an array as an index is not part of a fused function; use where(mask, x, y) for a mask")
        taken = 0
        ndim = 0
        for part in parts:
            if isinstance(part, slice):
                taken, ndim = taken + 1, ndim + 1
                for bound in (part.start, part.stop, part.step):
                    bound is None or operator.index(bound)
            elif part is None:
                ndim += 1
            elif part is not Ellipsis:
                if isinstance(part, bool) or not hasattr(part, "__index__"):
                    raise TypeError(f"a fused function takes slices, integers, None and ... as an index, not {part!r}")
                operator.index(part)
                taken += 1
        if taken > self.ndim or sum(part is Ellipsis for part in parts) > 1:
            raise IndexError(f"too many indices for array: array is {self.ndim}-dimensional, but {taken} were indexed")
        if all(part is Ellipsis or part == slice(None) for part in parts):
            return self
        data = tuple(("slice", part.start, part.stop, part.step) if isinstance(part, slice) else part for part in parts)
        return self._viewed("{}[{}]", data, ndim + self.ndim - taken)

    def __setitem__(self, index, value) -> None:
        if isinstance(index, FusedArray) and index.dtype == bool and (is_number(value) or value.ndim == 0):
            value = self._graph.operation("where", (index._node, _operand(value), self._node))[0]
            return self._assign(value, "x[mask] = value", "unsafe")
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, FusedArray) or (part is not Ellipsis and part != slice(None)) for part in parts):
            raise TypeError(
                "an assignment to a part of an array is not part of a fused function; write "
                "x[...] = where(mask, value, x), or give the part as an argument"
            )
        return self._assign(_operand(value), "x[...] = value", "unsafe")

    # Assignments

    def _assign(self, value: Any, name: str, casting: str = "same_kind") -> None:
        if self._view:
            raise TypeError(f"{name}: a view of an array cannot be written in a fused function; give it as an argument")
        old = self._place.node
        if not isinstance(value, Node):
            value = self._graph.operand(value, old.dtype)
        if not _core._can_cast(value.dtype, old.dtype, casting):
            raise TypeError(
                f"Cannot cast ufunc '{name}' output from dtype('{value.dtype}') to dtype('{old.dtype}') with casting "
                f"rule '{casting}'"
            )
        self._place.node = self._graph.fit(self._graph.cast(value, old.dtype), old, name)

    # Functions

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            f"{NO_ELEMENTS}; elementwise functions, reductions, where(condition, x, y) and views can be fused"
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return call_ufunc(self._graph, ufunc, method, inputs, keywords)

    def __array_function__(self, func, types, args, kwargs):
        from .._array.protocols import _counterpart

        function = _counterpart(func)
        if function is None:
            raise TypeError(f"{func.__name__} {NOT_PART}; {instead_of(func.__name__, func)}")
        return function(*args, **kwargs)

    def _iruka_function_(self, name: str, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
        """A reduction of the table, called as a function of Iruka."""
        return self._reduced(name, axis, dtype, out, keepdims, where, initial=initial)

    def _reduced(self, name, axis=None, dtype=None, out=None, keepdims=False, where=None, ddof=0, initial=None) -> Any:
        x = self._node
        if dtype is not None:
            x = self._graph.cast(x, name_of(_core.dtype_of(dtype)))
        axes = None if axis is None else normal_axes(name, axis, self.ndim)
        over = reductions.Over(axes, bool(keepdims))
        mask = None if where is None or where is True else _operand(where)
        start = None if initial is None else _operand(initial)
        made = reductions.reduce(self._graph, name, x, over, ddof, mask, start)
        if out is None:
            return FusedArray(self._graph, Place(made))
        _given_output(out)._assign(made, name)
        return out

    def sum(self, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
        return self._reduced("sum", axis, dtype, out, keepdims, where, initial=initial)

    def prod(self, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
        return self._reduced("prod", axis, dtype, out, keepdims, where, initial=initial)

    def mean(self, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
        return self._reduced("mean", axis, dtype, out, keepdims, where)

    def max(self, axis=None, out=None, keepdims=False, initial=None, where=None):
        return self._reduced("max", axis, None, out, keepdims, where, initial=initial)

    def min(self, axis=None, out=None, keepdims=False, initial=None, where=None):
        return self._reduced("min", axis, None, out, keepdims, where, initial=initial)

    def any(self, axis=None, out=None, keepdims=False, *, where=None):
        return self._reduced("any", axis, None, out, keepdims, where)

    def all(self, axis=None, out=None, keepdims=False, *, where=None):
        return self._reduced("all", axis, None, out, keepdims, where)

    def argmax(self, axis=None, out=None, *, keepdims=False):
        return self._reduced("argmax", axis, None, out, keepdims)

    def argmin(self, axis=None, out=None, *, keepdims=False):
        return self._reduced("argmin", axis, None, out, keepdims)

    def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None):
        return self._reduced("var", axis, dtype, out, keepdims, where, ddof)

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None):
        return self._reduced("std", axis, dtype, out, keepdims, where, ddof)

    def _variance(self, name, axis, dtype, out, ddof, keepdims, where, mean, correction):
        if mean is not None:
            raise TypeError(f"{name}: mean= is not part of a fused function")
        return self._reduced(name, axis, dtype, out, keepdims, where, ddof if correction is None else correction)

    def ptp(self, axis=None, out=None, keepdims=False):
        return self._reduced("ptp", axis, None, out, keepdims)

    def astype(self, dtype, order="K", casting="unsafe", subok=None, copy=True) -> FusedArray:
        to = _core.dtype_of(dtype)
        if not _core._can_cast(self.dtype, to, casting):
            raise TypeError(f"Cannot cast array data from {self.dtype!r} to {to!r} according to the rule '{casting}'")
        if to == self.dtype:
            return self.copy() if copy else self
        return FusedArray(self._graph, Place(self._graph.cast(self._node, name_of(to))))

    def copy(self, order="C") -> FusedArray:
        return self._new("copy")

    def _like(self, value: Any, dtype: Any = None, shape: Any = None) -> FusedArray:
        """The value for each element, for zeros_like and functions like it."""
        if shape is not None:
            raise TypeError("shape= is not part of a fused function")
        node = self._node
        to = node.dtype if dtype is None else name_of(_core.dtype_of(dtype))
        value = _operand(value)
        value = self._graph.cast(value, to) if isinstance(value, Node) else self._graph.operand(value, to)
        made = self._graph.node("fit", None, (value, node), to, node.ndim, node.shape)
        return FusedArray(self._graph, Place(made))

    def _new(self, kind: str) -> FusedArray:
        node = self._node
        return FusedArray(self._graph, Place(self._graph.node(kind, None, (node,), node.dtype, node.ndim, node.shape)))

    def clip(self, min=None, max=None, out=None) -> FusedArray:
        from .._array import clip

        return clip(self, min, max, out)

    def round(self, decimals=0, out=None) -> FusedArray:
        from .._numpy.elementwise import round

        rounded: Any = round(self, decimals, out)
        return rounded

    def conj(self) -> FusedArray:
        return apply(self._graph, "conjugate", (self,))

    conjugate = conj

    @property
    def real(self) -> FusedArray:
        return apply(self._graph, "real", (self,)) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> FusedArray:
        return apply(self._graph, "imag", (self,))

    # What only a value can answer

    def _refuse(self, *args, **keywords):
        raise TypeError(f"{NO_ELEMENTS}, so it is no Python number, list or index")

    __int__ = __float__ = __complex__ = __index__ = __len__ = __iter__ = __contains__ = _refuse
    item = tolist = get = _refuse

    def __bool__(self) -> bool:
        raise TypeError(
            "an array of a fused function is neither true nor false while the function is traced, so `if`, `and`, "
            "`or`, `not` and comparison chains cannot use it; use where(condition, x, y), &, | and ~"
        )

    def __pow__(self, other):
        return self._power(other, None)

    def __ipow__(self, other):
        return self._power(other, self)

    def _power(self, other, out):
        """As the operator of arrays: inverses and roots of floats by functions of their own."""
        if not is_number(other) or self.dtype.kind in "biu":
            return _POWER(self, other) if out is None else _POWER_IN_PLACE(self, other)
        if isinstance(other, FusedNumber) and type(other.value) is int:
            other = int(other)  # decides which function it is
        if type(other) is int and other == -1:
            return apply(self._graph, "reciprocal", (self,), out)
        if type(other) is float and other == 0.5:
            return apply(self._graph, "sqrt", (self,), out)
        if not isinstance(other, FusedNumber) or type(other.value) is not float:
            return apply(self._graph, "power", (self, other), out)
        general, root = apply(self._graph, "power", (self, other)), apply(self._graph, "sqrt", (self,))
        return apply(self._graph, "where", (other == 0.5, root, general), out)

    def __matmul__(self, other):
        raise TypeError("@ (matmul) is not part of a fused function; fuse what stands before and after it")

    __rmatmul__ = __imatmul__ = __matmul__

    def __getattr__(self, name):
        if name.startswith("__") or name in ("_name", "_is_value", "_conj"):
            raise AttributeError(name)
        raise TypeError(f"ndarray.{name} {NOT_PART}; {instead_of(name)}")

    def __repr__(self):
        return f"<array of {self.dtype}, {self.ndim} axes, of the fused function {self._graph.name}>"


def _operand(value: Any) -> Any:
    """A node or a number. Raises TypeError for anything else."""
    if isinstance(value, FusedArray):
        return value._node
    if is_number(value):
        return value
    if isinstance(value, _core.ndarray) and value._is_value and value.dtype.kind != "V":
        return value.get()[()]  # what a function of numbers has returned, which cannot change
    if isinstance(value, numpy.ndarray) and value.ndim == 0 and value.dtype.kind in "biufc":
        return value[()]  # NumPy's scalars give themselves as such arrays to comparisons
    if isinstance(value, (_core.ndarray, numpy.ndarray)):
        raise TypeError(
            "an array from outside of the fused function: give it as an argument; zeros_like, ones_like and full_like "
            "make one inside"
        )
    raise TypeError(f"a fused function computes with arrays and numbers, not with {type(value).__name__}")


def _given_output(out: Any) -> FusedArray:
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(out, FusedArray):
        raise TypeError(f"out must be an array of the fused function, not {type(out).__name__}")
    return out


def apply(graph: Graph, name: str, inputs: Any, out: Any = None, where: Any = True, dtype=None, casting="same_kind"):
    """An elementwise function: new arrays, or those given in `out`."""
    results = graph.operation(name, map(_operand, inputs), dtype, casting)
    outs = out if isinstance(out, tuple) else (out,) * len(results)
    if len(outs) != len(results):
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    made = []
    for node, target in zip(results, outs, strict=True):
        if target is None:
            if where is not True:
                raise ValueError(f"{name}: where= needs out= in a fused function, where nothing is uninitialised")
            made.append(FusedArray(graph, Place(node)))
            continue
        target = _given_output(target)
        if where is not True:
            old = target._node
            (node,) = graph.operation("where", (_operand(where), graph.cast(node, old.dtype), old))
        target._assign(node, name, casting)
        made.append(target)
    return made[0] if len(made) == 1 else tuple(made)


def call_ufunc(graph: Graph, ufunc: Any, method: str, inputs: tuple, keywords: dict) -> Any:
    name = row_name(ufunc)
    if name is None:
        called = getattr(ufunc, "__name__", str(ufunc))
        raise TypeError(f"{called} {NOT_PART}; {instead_of(called, ufunc)}")
    keywords = {key: value for key, value in keywords.items() if key not in ("order", "subok")}
    if method == "reduce" and name in _REDUCING_UFUNCS:
        axis = keywords.pop("axis", inputs[1] if len(inputs) > 1 else 0)
        if "out" in keywords and isinstance(keywords["out"], tuple):
            (keywords["out"],) = keywords["out"]
        if keywords.get("initial", None) is getattr(numpy, "_NoValue", None):
            keywords.pop("initial", None)
        return inputs[0]._reduced(_REDUCING_UFUNCS[name], axis, **keywords)
    if method != "__call__":
        raise TypeError(f"{name}.{method} {NOT_PART}; {instead_of(method)}")
    if unknown := set(keywords) - {"out", "where", "dtype", "casting"}:
        raise TypeError(f"{name}: {unknown.pop()}= is not part of a fused function")
    return apply(graph, name, inputs, **keywords)


Graph.call_ufunc = staticmethod(call_ufunc)


def normal_axes(function: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes from 0. Raises AxisError for one that does not exist, ValueError for one that is named twice."""
    axes = tuple(map(operator.index, axis)) if isinstance(axis, (tuple, list)) else (operator.index(axis),)
    for each in axes:
        if not -ndim <= each < ndim:
            raise AxisError(f"{function}: axis {each} is out of bounds for array of dimension {ndim}")
    normal = tuple(sorted(each % ndim for each in axes)) if function != "transpose" else tuple(e % ndim for e in axes)
    if len(set(normal)) != len(normal):
        raise ValueError(f"{function}: duplicate value in 'axis'")
    return normal


def _operator(name: str, reflected: bool = False, in_place: bool = False) -> Any:
    def method(self, other):
        if not is_number(other) and not isinstance(other, (FusedArray, _core.ndarray, numpy.ndarray)):
            return NotImplemented
        return apply(self._graph, name, (other, self) if reflected else (self, other), self if in_place else None)

    return method


_POWER, _POWER_IN_PLACE = _operator("power"), _operator("power", in_place=True)


def _unary(name: str) -> Any:
    return lambda self: apply(self._graph, name, (self,))


for _name, _row in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "lshift": "left_shift", "rshift": "right_shift", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "divmod": "divmod",
}.items():  # fmt: skip
    setattr(FusedArray, f"__r{_name}__", _operator(_row, reflected=True))
    if _name == "pow":
        continue
    setattr(FusedArray, f"__{_name}__", _operator(_row))
    if _name != "divmod":
        setattr(FusedArray, f"__i{_name}__", _operator(_row, in_place=True))


def _comparison(name: str) -> Any:
    compare = _operator(name)

    def method(self, other):
        result = compare(self, other)
        if result is NotImplemented:
            raise TypeError(f"{name}: a fused function compares arrays and numbers, not {type(other).__name__}")
        return result

    return method


for _name, _row in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    setattr(FusedArray, f"__{_name}__", _comparison(_row))
for _name, _row in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    setattr(FusedArray, f"__{_name}__", _unary(_row))
