"""Reductions of a fused function: as one kernel with what comes before and after, or as Iruka's own."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _core
from ..errors import TypeError
from .graph import Graph, Node, numpy_kind

# Reductions that no ReductionKernel does: Iruka's own of an array, else composed of others.
OWN = {"var", "std", "ptp", "nansum", "nanprod", "nanmin", "nanmax"}
_NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True, "nansum": 0, "nanprod": 1}


class Texts(NamedTuple):
    """A reduction as ReductionKernel takes it; `map` and `finish` of the texts of a value."""

    reduce_type: str
    map: Any
    combine: str
    identity: str | None
    finish: Any
    preamble: str = ""


def masked(graph: Graph, name: str, x: Node, mask: Any) -> Node:
    if name not in _NEUTRAL:
        raise TypeError(f"{name}: where= is not part of a fused function")
    neutral = bool(_NEUTRAL[name]) if x.dtype == "bool" else _NEUTRAL[name]
    return graph.operation("where", (mask, x, neutral))[0]


def reduce(graph: Graph, name: str, x: Node, axes: tuple | None, keepdims: bool, ddof: float) -> Node:
    if name not in OWN or x.kind in ("argument", "view"):
        return graph.reduction(name, x, axes, keepdims, ddof)
    if name == "ptp":
        return graph.operation("subtract", [graph.reduction(each, x, axes, keepdims) for each in ("max", "min")])[0]
    if name in ("nansum", "nanprod"):
        if numpy_kind(x.dtype) in "fcV":
            (is_nan,) = graph.operation("isnan", (x,))
            (x,) = graph.operation("where", (is_nan, 0 if name == "nansum" else 1, x))
        return graph.reduction(name[3:], x, axes, keepdims)
    if name in ("nanmin", "nanmax"):
        return graph.reduction(name, x, axes, keepdims)
    return _variance(graph, name, x, axes, keepdims, ddof)


def _variance(graph: Graph, name: str, x: Node, axes: tuple | None, keepdims: bool, ddof: float) -> Node:
    """The mean first, then the mean of squared distances from it, both in float64 (of 16-bit floats, in float32)."""
    result = x.dtype if numpy_kind(x.dtype) in "fV" else "float32" if x.dtype == "complex64" else "float64"
    wide = "float32" if result in ("float16", "bfloat16") else "float64"
    x = graph.cast(x, "complex128" if numpy_kind(x.dtype) == "c" else wide)
    every = tuple(range(x.ndim)) if axes is None else axes
    (distance,) = graph.operation("subtract", (x, graph.reduction("mean", x, every, True)))
    if numpy_kind(x.dtype) == "c":
        parts = [graph.operation("square", graph.operation(part, (distance,)))[0] for part in ("real", "imag")]
        (square,) = graph.operation("add", parts)
    else:
        (square,) = graph.operation("square", (distance,))
    made = graph.reduction("mean", square, axes, keepdims, ddof)
    return graph.cast(graph.operation("sqrt", (made,))[0] if name == "std" else made, result)


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
        return Texts(
            held, lambda value: _core._cast_text(dtype, held, value), combine, None,
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
