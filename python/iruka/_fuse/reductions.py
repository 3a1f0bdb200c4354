"""Reductions of a fused function: as one kernel with what comes before and after, or as Iruka's own."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

from .. import _core
from ..errors import TypeError, ValueError
from .graph import Graph, Node, numpy_kind, reduced_dtype

# Reductions that no ReductionKernel does: Iruka's own of an array, else composed of others.
OWN = {"var", "std", "ptp", "nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"}
MOMENTS = {"var", "std", "nanvar", "nanstd"}
_NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}
_WITH_INITIAL = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "nansum": "add", "nanprod": "multiply",
    "nanmax": "fmax", "nanmin": "fmin",
}  # fmt: skip


# Reductions of the same elements that one kernel computes together, and how many: their values are a structure of at
# most 64 bytes.
JOINED = {"sum", "prod", "mean", "min", "max", "nanmin", "nanmax", "any", "all", "count_nonzero"}
MOST_JOINED = 4


class Over(NamedTuple):
    """The axes of a reduction, None for all, and whether they stay with extent 1."""

    axes: tuple[int, ...] | None
    keepdims: bool


class Texts(NamedTuple):
    """A reduction as ReductionKernel takes it; `map` and `finish` of the texts of a value."""

    reduce_type: str
    map: Any
    combine: str
    identity: str | None
    finish: Any
    preamble: str = ""


def reduce(
    graph: Graph, name: str, x: Node, over: Over, ddof: float = 0, mask: Any = None, initial: Any = None
) -> Node:
    """The reduction of the elements for which `mask` is true, and of `initial`."""
    if initial is not None and name not in _WITH_INITIAL:
        raise TypeError(f"{name}() got an unexpected keyword argument 'initial'")
    is_selection = name in ("min", "max", "nanmin", "nanmax")
    if mask is not None and is_selection and initial is None:
        raise ValueError(
            f"reduction operation {name!r} does not have an identity, so to use a where mask one has to specify "
            "'initial'"
        )
    if mask is None and initial is None and name in OWN and x.kind in ("argument", "view"):
        return graph.reduction(name, x, *over, ddof)
    made = _composed(graph, name, x, over, ddof, mask, initial is not None)
    if initial is None:
        return made
    start = graph.cast(initial, made.dtype) if isinstance(initial, Node) else graph.operand(initial, made.dtype)
    return graph.operation(_WITH_INITIAL[name], (made, start))[0]


def _composed(graph: Graph, name: str, x: Node, over: Over, ddof: float, mask: Any, has_initial: bool) -> Node:
    """The reduction by those that a ReductionKernel does."""
    if name == "ptp":
        return graph.operation("subtract", [graph.reduction(each, x, *over) for each in ("max", "min")])[0]
    too_few = 0.0
    if name.startswith("nan") and name not in ("nanmin", "nanmax"):
        name = name[3:]
        if numpy_kind(x.dtype) in "fcV":
            too_few = math.nan
            (is_number,) = graph.operation("logical_not", graph.operation("isnan", (x,)))
            mask = is_number if mask is None else graph.operation("logical_and", (is_number, mask))[0]
    if name in MOMENTS:
        return _variance(graph, name, x, over, ddof, mask, too_few)
    if mask is None:
        return graph.reduction(name, x, *over, ddof or (1 if has_initial and name.endswith(("min", "max")) else 0))
    if name == "mean":
        return graph.cast(_mean(graph, _wide(graph, x), over, 0, mask), reduced_dtype("mean", x.dtype))
    if name not in _NEUTRAL and not has_initial:
        raise TypeError(f"{name}() got an unexpected keyword argument 'where'")
    neutral = _NEUTRAL.get(name)
    if neutral is None:
        neutral = _last(name, x.dtype)
    neutral = bool(neutral) if x.dtype == "bool" else neutral
    (x,) = graph.operation("where", (mask, x, neutral))
    return graph.reduction(name, x, *over, 1 if name not in _NEUTRAL else 0)


def _wide(graph: Graph, x: Node) -> Node:
    """x in the type in which means are computed: float64, or complex128; of 16-bit floats, float32."""
    is_half = x.dtype in ("float16", "bfloat16")
    return graph.cast(x, "complex128" if numpy_kind(x.dtype) == "c" else "float32" if is_half else "float64")


def _mean(graph: Graph, x: Node, over: Over, ddof: float, mask: Any, too_few: float = 0.0) -> Node:
    """The mean of wide numbers for which the mask is true; `too_few` divides where there are no more than ddof."""
    if mask is None:
        return graph.reduction("mean", x, *over, ddof)
    if not isinstance(mask, Node):
        mask = graph.operand(mask, "bool")
    mask = graph.fit(graph.cast(mask, "bool"), x, "where")
    total = graph.reduction("sum", graph.operation("where", (mask, x, 0))[0], *over)
    count = graph.cast(graph.reduction("count_nonzero", mask, *over), "float32" if x.dtype == "float32" else "float64")
    if ddof:
        (count,) = graph.operation("subtract", (count, float(ddof)))
        (count,) = graph.operation("where", (*graph.operation("greater", (count, 0.0)), count, too_few))
    return graph.operation("divide", (total, count))[0]


def _variance(graph: Graph, name: str, x: Node, over: Over, ddof: float, mask: Any, too_few: float) -> Node:
    """The mean first, then the mean of squared distances from it, both in float64 (of 16-bit floats, in float32)."""
    result = x.dtype if numpy_kind(x.dtype) in "fV" else "float32" if x.dtype == "complex64" else "float64"
    x = _wide(graph, x)
    every = tuple(range(x.ndim)) if over.axes is None else over.axes
    (distance,) = graph.operation("subtract", (x, _mean(graph, x, Over(every, True), 0, mask)))
    if numpy_kind(x.dtype) == "c":
        parts = [graph.operation("square", graph.operation(part, (distance,)))[0] for part in ("real", "imag")]
        (square,) = graph.operation("add", parts)
    else:
        (square,) = graph.operation("square", (distance,))
    made = _mean(graph, square, over, ddof, mask, too_few)
    return graph.cast(graph.operation("sqrt", (made,))[0] if name == "std" else made, result)


def _last(name: str, dtype: str) -> Any:
    """What a maximum or minimum of this dtype never prefers to another number."""
    is_max, kind = name.endswith("max"), numpy_kind(dtype)
    if kind == "b":
        return not is_max
    if kind in "iu":
        limits = numpy.iinfo(dtype)
        return int(limits.min if is_max else limits.max)
    infinity = -math.inf if is_max else math.inf
    return complex(infinity, infinity) if kind == "c" else infinity


def texts(name: str, dtype: str, result: str, extra: float) -> Texts:
    kind = numpy_kind(dtype)
    is_half = dtype in ("float16", "bfloat16")
    if name in ("any", "all"):

        def truth(value):
            return _core._cast_text(dtype, "bool", value)

        sign, start = ("|", "0") if name == "any" else ("&", "1")
        return Texts("uint8", truth, f"a {sign} b", start, lambda value: f"({value} != 0)")
    if name == "count_nonzero":
        return Texts("int64", lambda value: _core._cast_text(dtype, "bool", value), "a + b", "0", str)
    if name in ("argmin", "argmax"):
        return _position(name, dtype)
    if name in ("min", "max", "nanmin", "nanmax"):
        held = "uint8" if kind == "b" else "float32" if is_half else dtype
        ignored = "a != a" if name.startswith("nan") else "b != b"
        combine = f"((b {'<' if name.endswith('min') else '>'} a) | ({ignored})) ? b : a"
        identity = _core._number_text(_last(name, held), held) if extra else None
        return Texts(
            held, lambda value: _core._cast_text(dtype, held, value), combine, identity,
            lambda value: _core._cast_text(held, dtype, value),
        )  # fmt: skip
    wide = "float32" if is_half else {"f": "float64", "c": "complex128", "u": "uint64"}.get(kind, "int64")
    if name == "mean" and kind in "biu":
        wide = "float64"
    part = "double" if wide not in ("float32",) else "float"
    divided = f"{part}(double(_in_ind.size() / _out_ind.size()){f' - {float(extra).hex()}' if extra else ''})"

    def finish(value):
        if name == "mean" and extra:  # no negative number of elements
            value = f"({value} / (({divided}) > 0 ? ({divided}) : 0))"
        elif name == "mean":
            value = f"({value} / {divided})"
        return _core._cast_text(wide, result, value)

    sign, start = ("*", "1") if name == "prod" else ("+", "0")
    return Texts(wide, lambda value: _core._cast_text(dtype, wide, value), f"a {sign} b", start, finish)


def joined(parts: list[Texts]) -> Texts:
    """The reductions as one, whose `map` takes a list of values and whose `finish` gives one."""
    if len(parts) == 1:
        (part,) = parts
        return part._replace(map=lambda values: part.map(values[0]), finish=lambda value: [part.finish(value)])
    types = _members([part.reduce_type for part in parts])
    members = "".join(f"{type} v{k}; " for k, type in enumerate(types))
    steps = "".join(
        f"  {{ const {type} a = one.v{k}, b = other.v{k}; both.v{k} = {part.combine}; }}\n"
        for k, (type, part) in enumerate(zip(types, parts, strict=True))
    )
    starts = [f"({type})({part.identity})" for type, part in zip(types, parts, strict=True)]
    has_all = all(part.identity is not None for part in parts)
    preamble = f"""
struct fused_values {{ {members}}};
__device__ fused_values fused_both(fused_values one, fused_values other) {{
  fused_values both;
{steps}  return both;
}}
"""

    def mapped(values):
        return f"fused_values{{{', '.join(part.map(value) for part, value in zip(parts, values, strict=True))}}}"

    return Texts(
        "fused_values", mapped, "fused_both(a, b)", f"fused_values{{{', '.join(starts)}}}" if has_all else None,
        lambda value: [
            part.finish(f"(({_core._type_text(part.reduce_type)})({value}.v{k}))") for k, part in enumerate(parts)
        ], preamble,
    )  # fmt: skip


def _members(dtypes: list[str]) -> list[str]:
    """The C++ types of a structure's members. Members of one size are loaded side by side; others are made wider."""
    if len({numpy.dtype(dtype).itemsize for dtype in dtypes}) > 1:
        wide = {"f": "float64", "i": "int64", "u": "int64"}
        dtypes = [wide.get(numpy_kind(dtype), dtype) if numpy.dtype(dtype).itemsize < 8 else dtype for dtype in dtypes]
    return [_core._type_text(dtype) for dtype in dtypes]


def _position(name: str, dtype: str) -> Texts:
    held = "uint8" if dtype == "bool" else "float32" if dtype in ("float16", "bfloat16") else dtype
    sign = "<" if name == "argmin" else ">"
    preamble = f"""
struct fused_place {{ {_core._type_text(held)} value; long long at; }};
__device__ fused_place fused_first(fused_place a, fused_place b) {{
  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
  if (a_is_nan != b_is_nan) return b_is_nan ? b : a;
  if (!a_is_nan && b.value {sign} a.value) return b;
  if (!a_is_nan && a.value {sign} b.value) return a;
  return b.at < a.at ? b : a;
}}
"""
    return Texts(
        "fused_place",
        lambda value: f"fused_place{{{_core._cast_text(dtype, held, value)}, (long long)_J}}",
        "fused_first(a, b)", None, lambda value: f"{value}.at", preamble,
    )  # fmt: skip
