"""From the graph of a traced function to kernels, and to the Python text that launches them."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy

from .. import _core
from .._core import ElementwiseKernel, ReductionKernel
from ..errors import ShapeError, ValueError
from .arrays import FusedArray
from .graph import Graph, Node, Place
from .numbers import FusedNumber
from .reductions import JOINED, MOMENTS, MOST_JOINED, OWN, joined, texts

_LEAVES = ("argument", "view", "reduce")


@functools.lru_cache(maxsize=4096)
def _elementwise_kernel(*texts: str) -> ElementwiseKernel:
    return _core._fused_kernel(*texts)


@functools.lru_cache(maxsize=1024)
def _reduction_kernel(*texts: Any) -> ReductionKernel:
    return _core._fused_reduction(*texts)


class Body:
    """The text of one kernel: its parameters, and a variable for each node."""

    def __init__(self, plan: Plan, is_leaf: Any):
        self.plan, self._is_leaf = plan, is_leaf
        self.parameters: dict[tuple[str, str], str] = {}  # the launcher's text and the dtype: the name
        self.old_values: dict[str, str] = {}  # the launcher's text of an output: its name
        self.lines: list[str] = []
        self.preambles: dict[str, None] = {}
        self._names: dict[Node, str] = {}

    def parameter(self, text: str, dtype: str) -> str:
        if text in self.old_values:
            return self.old_values[text]
        key = (text, dtype)
        return self.parameters.setdefault(key, f"x{len(self.parameters)}")

    def value(self, node: Node) -> str:
        """The text of the node's value."""
        if (known := self._names.get(node)) is not None:
            return known
        for each in _in_order(node, self._is_known):
            self._names[each] = self._made(each)
        return self._names[node]

    def known(self, node: Node, text: str) -> None:
        self._names[node] = text

    def _is_known(self, node: Node) -> bool:
        return node in self._names or self._is_leaf(node)

    def _made(self, node: Node) -> str:
        if node in self._names:
            return self._names[node]
        if self._is_leaf(node):
            return self.parameter(self.plan.text_of(node), node.dtype)
        if node.kind == "number":
            return self.parameter(node.data, node.dtype)
        if node.kind == "constant":
            return node.data
        if node.kind in ("fit", "copy"):
            return self._names[node.inputs[0]]
        values = [self._names[each] for each in node.inputs]
        name = f"v{node.order}"
        if node.kind == "cast":
            self.lines.append(
                f"const {_core._type_text(node.dtype)} {name} = "
                f"{_core._cast_text(node.inputs[0].dtype, node.dtype, values[0])};\n"
            )
            return name
        row, loop, types, output = node.data
        outputs = types[len(values) :]
        names = [name if k == output else f"{name}_{k}" for k in range(len(outputs))]
        for each, dtype in zip(names, outputs, strict=True):
            self.lines.append(f"{_core._type_text(dtype)} {each};\n")
        own = [each.dtype for each in node.inputs]
        self.lines.append(_core._operation_text(row, loop, list(types), own, values, names))
        self.preambles.setdefault(_core._operation_preamble(row))
        return name

    def in_params(self) -> str:
        return ", ".join(f"{dtype} {name}" for (_, dtype), name in self.parameters.items())

    def arguments(self) -> list[str]:
        return [text for text, _ in self.parameters]

    def preamble(self) -> str:
        return "".join(self.preambles)


def _in_order(root: Node, is_known: Any) -> list[Node]:
    """Nodes below the root, inputs first, down to known ones."""
    ordered: list[Node] = []
    seen: set[Node] = set()
    pending: list[tuple[Node, bool]] = [(root, False)]
    while pending:
        node, is_done = pending.pop()
        if is_done:
            ordered.append(node)
        elif node not in seen:
            seen.add(node)
            pending.append((node, True))
            if not is_known(node):
                pending.extend((each, False) for each in reversed(node.inputs))
    return ordered


class Plan:
    """The launcher of one signature."""

    def __init__(self, graph: Graph, result: Any, name: str, made_at: str):
        self.graph, self.name, self.made_at = graph, name, made_at
        self.lines: list[str] = []
        self._below: dict[Node, list[Node]] = {}
        self.names: dict[str, Any] = dict(graph.constants)
        self._texts: dict[Node, str] = {}
        self._owners: dict[Node, Place] = {}
        self._sources: dict[Node, frozenset] = {}
        writes = [place for place in graph.places.values() if place.node.kind != "argument"]
        self.writes_to = {place.argument for place in writes}
        returned: list[FusedArray] = []
        _collect(result, returned)
        news = list(dict.fromkeys(each._place.node for each in returned if each._place.argument is None))
        writing = {place.node: f"a[{place.argument}]" for place in writes}
        self._store_boundaries([*news, *writing, *graph.exponents])
        self._check(graph)
        self._write_groups(news, writing)
        self.result = self._result_text(result)

    def launcher(self) -> Any:
        """The function of a call's arguments, as one tuple."""
        if len(self.lines) == 1 and self.lines[0].startswith(f"{self.result} = "):
            return eval(f"lambda a: {self.lines[0].partition(' = ')[2]}", self.names)
        body = "".join(f"    {line}\n" for line in (*self.lines, f"return {self.result}"))
        exec(f"def launch(a):\n{body}", self.names)
        return self.names["launch"]

    # What is stored between kernels

    def _sources_of(self, node: Node) -> frozenset:
        """The arrays that the node's value is computed from."""
        for each in _in_order(node, self._sources.__contains__):
            if each not in self._sources:
                own = each.kind in _LEAVES
                self._sources[each] = (
                    frozenset((each,)) if own else frozenset().union(*(self._sources[other] for other in each.inputs))
                )
        return self._sources[node]

    def _finisher(self, node: Node) -> Node | None:
        """The reduction in whose kernel the node is computed, after it."""
        sources = self._sources_of(node)
        if len(sources) != 1:
            return None
        (source,) = sources
        return source if source.kind == "reduce" and source.data[0] not in OWN - {"nanmin", "nanmax"} else None

    def _store_boundaries(self, roots: list[Node]) -> None:
        """What the kernel of a reduction stores: what others use of it."""
        self._stored: dict[Node, list[Node]] = {}  # of a reduction
        self._is_stored: set[Node] = set()
        ordered: dict[Node, None] = {}
        for root in roots:
            ordered.update(dict.fromkeys(_in_order(root, lambda node: False)))
        for root in roots:
            self._mark(root)
        for node in ordered:
            is_elementwise = node.kind not in _LEAVES
            for each in node.inputs:
                finisher = self._finisher(each)
                if finisher is not None and not (is_elementwise and self._finisher(node) is finisher):
                    self._mark(each)

    def _mark(self, node: Node) -> None:
        finisher = self._finisher(node)
        if finisher is not None and node not in self._is_stored:
            self._is_stored.add(node)
            self._stored.setdefault(finisher, []).append(node)

    def is_stored(self, node: Node) -> bool:
        return node.kind in _LEAVES or node in self._is_stored

    # Texts of the launcher

    def line(self, text: str) -> str:
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def named(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def text_of(self, node: Node) -> str:
        """The name of an array that holds the node's values."""
        if node not in self._texts:
            if node.kind == "argument":
                self._texts[node] = f"a[{node.data}]"
            elif node.kind == "view":
                self._texts[node] = self.line(self._view_text(self.text_of(node.inputs[0]), *node.data))
            elif node in self._is_stored and (finisher := self._finisher(node)) is not None:
                self._reduce(finisher)
            elif node.kind == "reduce":
                self._call_reduction(node)
            else:
                self._elementwise([(node, None)])
        return self._texts[node]

    def _view_text(self, base: str, text: str, data: Any) -> str:
        if text == "{}[{}]":
            parts = tuple(slice(*part[1:]) if isinstance(part, tuple) else part for part in data)
            return f"{base}[{self.named(parts)}]"
        return text.format(base) + (f"{data}" if data else "")

    def _result_text(self, result: Any) -> str:
        if isinstance(result, FusedArray):
            place = result._place
            base = self._new_text(place) if place.argument is None else f"a[{place.argument}]"
            for text, data, _ in result._view:
                base = self._view_text(base, text, data)
            return base
        if isinstance(result, FusedNumber):
            return result.recipe
        if type(result) in (tuple, list):
            inner = "".join(f"{self._result_text(each)}, " for each in result)
            return f"({inner})" if type(result) is tuple else f"[{inner}]"
        if type(result) is dict:
            inner = "".join(f"{self.named(key)}: {self._result_text(each)}, " for key, each in result.items())
            return f"{{{inner}}}"
        return "None" if result is None else self.named(result)

    def _new_text(self, place: Place) -> str:
        """The array of a place; two places whose values are equal are two arrays."""
        base = self.text_of(place.node)
        is_first = self._owners.setdefault(place.node, place) is place and place.node.kind != "argument"
        return base if is_first else self.line(f"{base}.copy()")

    # Kernels

    def _write_groups(self, news: list[Node], writing: dict[Node, str]) -> None:
        groups: dict[Any, list[tuple[Node, str | None]]] = {}
        for node in news:
            if not self.is_stored(node):
                groups.setdefault(node.shape, []).append((node, None))
            else:
                self.text_of(node)
        for node, target in writing.items():
            groups.setdefault(node.shape, []).append((node, target))
        ordered = sorted(groups.values(), key=lambda group: any(target for _, target in group))
        # A kernel overwrites what a later one reads.
        writers = [group for group in ordered if any(target for _, target in group)]
        if len(writers) > 1:
            for group in writers[1:]:
                for node, _ in group:
                    for source in self._sources_of(node):
                        self.text_of(source)
                        if source.kind == "argument" and source.data in self.writes_to:
                            self._texts[source] = self.line(f"{self._texts[source]}.copy()")
        for group in ordered:
            for node, _ in group:
                for each in _in_order(node, self.is_stored):
                    if self.is_stored(each):
                        self.text_of(each)
        for group in ordered:
            self._elementwise(group)

    def _elementwise(self, group: list[tuple[Node, str | None]]) -> None:
        """One kernel for values of one shape; each goes to a new array or to the argument of that text."""
        body = Body(self, self.is_stored)
        body.old_values = {target: f"z{k}" for k, (_, target) in enumerate(group) if target is not None}
        assigned = ""
        for k, (node, target) in enumerate(group):
            # An argument that is written has the shape itself.
            is_shaped = node.kind == "fit" and target is not None and node.inputs[1].kind == "argument"
            assigned += f"y{k} = {body.value(node.inputs[0] if is_shaped else node)};\n"
        text = "".join(body.lines) + assigned
        old = "".join(
            f"const {_core._type_text(node.dtype)} z{k} = y{k};\n"
            for k, (node, target) in enumerate(group)
            if target is not None and f"z{k}" in text
        )
        outputs = ", ".join(f"{node.dtype} y{k}" for k, (node, _) in enumerate(group))
        kernel = self.named(
            _elementwise_kernel(body.in_params(), outputs, old + text, self.name, body.preamble(), self.made_at)
        )
        written = next((target for _, target in group if target is not None), None)
        if written is None and any(self._sources_of(node) for node, _ in group):
            made = self.line(f"{kernel}({', '.join(body.arguments())})")
            for k, (node, _) in enumerate(group):
                self._texts[node] = f"{made}[{k}]" if len(group) > 1 else made
            return
        given = []
        empty = self.named(sys.modules["iruka"].empty)
        like = "()" if written is None else f"{written}.shape"
        where = "" if written is None else f", device={written}.device"
        for node, target in group:
            if target is None:
                target = self._texts[node] = self.line(f"{empty}({like}, '{node.dtype}'{where})")
            given.append(target)
        self.lines.append(f"{kernel}({', '.join([*body.arguments(), *given])})")

    def _call_reduction(self, node: Node) -> None:
        name, axes, keepdims, extra = node.data
        function, x = self.named(getattr(sys.modules["iruka"], name)), self.text_of(node.inputs[0])
        axis = axes[0] if axes is not None and len(axes) == 1 else axes
        extras = f", ddof={extra}" if name in MOMENTS else ""
        self._texts[node] = self.line(f"{function}({x}, axis={axis}, keepdims={keepdims}{extras})")

    def _reduce(self, node: Node) -> None:
        """One kernel: what comes before reductions of one shape, the reductions, and what comes after them."""
        _, axes, keepdims, _ = node.data
        for each in _in_order(node.inputs[0], self.is_stored):
            if self.is_stored(each):
                self.text_of(each)
        nodes = self._joined_with(node)
        if len(nodes) == 1 and self._is_own(node):
            self._call_reduction(node)
            return
        before = Body(self, self.is_stored)
        values = [before.value(each.inputs[0]) for each in nodes]
        made = joined([texts(each.data[0], each.inputs[0].dtype, each.dtype, each.data[3]) for each in nodes])
        mapped = made.map(values)
        map_expr = f"[&]() {{ {''.join(before.lines)}return {mapped}; }}()" if before.lines else mapped
        after = Body(self, lambda each: False)
        after.parameters = before.parameters
        first = ""
        for k, (each, finished) in enumerate(zip(nodes, made.finish("a"), strict=True)):
            after.known(each, f"reduced{k}")
            first += f"const {_core._type_text(each.dtype)} reduced{k} = {finished};\n"
        stored = [each for node in nodes for each in self._stored[node]]
        results = [after.value(each) for each in stored]
        assigned = "".join(f"y{k} = {result};\n" for k, result in enumerate(results))
        kernel = _reduction_kernel(
            after.in_params(), ", ".join(f"{each.dtype} y{k}" for k, each in enumerate(stored)), map_expr,
            made.combine, first + "".join(after.lines) + assigned, made.identity, self.name, made.reduce_type,
            "".join({**before.preambles, **after.preambles}) + made.preamble, self.made_at,
        )  # fmt: skip
        call = f"{self.named(kernel)}({', '.join(after.arguments())}, axis={axes}, keepdims={keepdims})"
        variable = self.line(call)
        for k, each in enumerate(stored):
            self._texts[each] = f"{variable}[{k}]" if len(stored) > 1 else variable

    def _is_own(self, node: Node) -> bool:
        """Whether Iruka's reduction of an array computes the node."""
        name, _, _, extra = node.data
        return self._stored[node] == [node] and self.is_stored(node.inputs[0]) and not (extra and name not in MOMENTS)

    def _joined_with(self, node: Node) -> list[Node]:
        """The node and the reductions of the same elements that one pass over the arrays can compute with it."""
        nodes = [node]
        if not self._may_join(node):
            return nodes
        for other in self._stored:
            if (
                self._may_join(other)
                and other.data[1:3] == node.data[1:3]
                and other.inputs[0].shape == node.inputs[0].shape
                and other.inputs[0].ndim == node.inputs[0].ndim
                and other not in nodes
                and other not in self._texts
                and len(nodes) < MOST_JOINED
                and all(map(self._is_computed, self._reductions_below(other)))
            ):
                nodes.append(other)
        return nodes

    def _reductions_below(self, node: Node) -> list[Node]:
        """The reductions that a node's operand is made of, without those that they need; the last ones first."""
        below = self._below.get(node)
        if below is None:
            ordered = _in_order(node.inputs[0], lambda each: each.kind == "reduce")
            below = self._below[node] = [each for each in reversed(ordered) if each.kind == "reduce"]
        return below

    def _may_join(self, node: Node) -> bool:
        return node.data[0] in JOINED and node not in self.graph.exponents  # these are looked at before all else

    def _is_computed(self, node: Node) -> bool:
        return all(each in self._texts for each in self._stored.get(node, (node,)))

    # Checks

    def _check(self, graph: Graph) -> None:
        for exponent in graph.exponents:
            check = self.named(_refuse_exponents)
            self.lines.append(f"{check}({self.text_of(exponent)})")
        for value, old in graph.fits:
            shapes = ["".join(f"{self._shape_text(part)}, " for part in parts) for parts in (value, old)]
            self.lines.append(f"{self.named(_check_fit)}(({shapes[0]}), ({shapes[1]}))")

    def _shape_text(self, part: Any) -> str:
        return f"a[{part}].shape" if isinstance(part, int) else f"{self.text_of(self.graph.shape_nodes[part])}.shape"


def _refuse_exponents(is_any_negative: Any) -> None:
    if is_any_negative:
        raise ValueError("Integers to negative integer powers are not allowed.")


def _check_fit(values: tuple, old: tuple) -> None:
    target = numpy.broadcast_shapes(*old)
    if numpy.broadcast_shapes(*values, *old) != target:
        shape = numpy.broadcast_shapes(*values, *old)
        raise ShapeError(
            f"non-broadcastable output operand with shape {target} doesn't match the broadcast shape {shape}"
        )


def _collect(result: Any, arrays: list[FusedArray]) -> None:
    if isinstance(result, FusedArray):
        arrays.append(result)
    elif type(result) in (tuple, list):
        for each in result:
            _collect(each, arrays)
    elif type(result) is dict:
        for each in result.values():
            _collect(each, arrays)
