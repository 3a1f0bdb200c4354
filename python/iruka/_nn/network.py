"""Calls of modules: which layers become one kernel, kept until the parameters change."""

from __future__ import annotations

import builtins
import operator
import time
from typing import Any, NamedTuple

import numpy

from .. import _core
from .._core import ndarray
from ..errors import IndexError, ShapeError, TypeError, ValueError
from .arguments import axis_of, check_progress
from .graphs import model_of, softmax_axis
from .messages import layer_error, renamed
from .model import ModelReport, check_out

_core_nn = _core._nn
_KINDS = {name: number for number, name in enumerate(_core_nn.activations)}


class ReportRow(NamedTuple):
    """One part of a network in a Report."""

    layers: str  #: '0 to 2'
    how: str  #: 'one kernel' or 'layer by layer'
    first: float  #: milliseconds of the first call, which may compile
    warm: float  #: of the second
    gflops: float  #: 10^9 floating-point operations of the layers' products a second, of the second call
    kernel: Any  #: KernelReport; None for layer by layer


class Report:
    """What ran where and for how long; print it."""

    def __init__(self, device: str, dtype: str, points: int, rows: list[ReportRow]) -> None:
        self.device, self.dtype, self.points, self.rows = device, dtype, points, rows

    def __str__(self) -> str:
        lines = [f"{self.points} points, {self.dtype} on {self.device}"]
        for row in self.rows:
            lanes = "" if row.kernel is None or self.device != "cpu" else f", {row.kernel.lanes} lanes a vector"
            speed = f", {row.gflops:.3g} GFLOP/s" if row.gflops else ""
            lines.append(
                f"  layers {row.layers}: {row.how}{lanes}: {row.warm:.3g} ms{speed}; first call {row.first:.3g} ms"
            )
        return "\n".join(lines)

    __repr__ = __str__


class GraphInput(NamedTuple):
    """What a graph of layers takes."""

    name: str  #: of the first layer that computes; '' where all of them only move and select numbers, of any dtype
    kinds: str  #: those of the dtypes that it takes
    dtype: Any  #: of the parameters; None without any
    device: Any  #: the same

    def converted(self, x: ndarray) -> ndarray:
        """Integers stay what they are for layers that take them; floats do where there are no parameters."""
        if not self.name:
            return x
        kind = x.dtype.kind
        if kind not in self.kinds:
            wanted = "integers" if self.kinds == "iu" else "real numbers"
            raise TypeError(f"{self.name}: expected {wanted}, not {x.dtype.name}")
        if self.kinds == "iu":
            return x
        dtype = self.dtype or (x.dtype if kind in "fV" else numpy.dtype("float32"))
        return x if x.dtype == dtype else x.astype(dtype)


class Part(NamedTuple):
    """Layers that run together."""

    leaves: list
    axis: int | None  # of a softmax along another axis than the features'
    names: str


_structures = 0  # how often a module was assigned to another one's attribute


def note_new_structure() -> None:
    """Lets every network look again of which modules it consists."""
    global _structures
    _structures += 1


class Network:
    """What a module's calls run."""

    def __init__(self, module) -> None:
        self._module = module
        self._structure = -1
        self._leaves: list[tuple[str, Any]] = []
        self._own_forward = ""  # the class of a module with a forward() of its own, of which no kernel is made
        self._made: tuple[Any, dict] = (None, {})

    def leaves(self) -> list[tuple[str, Any]]:
        """Every layer and its name."""
        if self._structure != _structures:
            structure, modules = _structures, list(self._module.named_modules())
            kinds = [type(m) for _, m in modules if not m.role or type(m).forward is not type(m)._forward_of_kernels]
            self._own_forward = kinds[0].__name__ if kinds else ""
            self._leaves = [pair for pair in modules if pair[1].role not in ("sequence", "container")]
            self._made = (None, {})
            self._structure = structure
        return self._leaves

    def own_forward(self) -> str:
        """The name of a class with a forward() of its own among the modules; '' without one."""
        self.leaves()
        return self._own_forward

    def _perceptrons(self) -> dict:
        """Those made with the present parameters."""
        arrays, versions = [], []
        for _, leaf in self.leaves():
            for name, array in leaf._parameters.items():
                arrays.append(array)
                if leaf._shared:
                    versions.append(getattr(leaf._shared.get(name), "_version", 0))
        old, made = self._made
        is_old = old is not None and len(old[0]) == len(arrays) and all(map(operator.is_, old[0], arrays))
        if not is_old or old[1] != versions:
            made = {}
            self._made = ((arrays, versions), made)
        return made

    def parts(self, rank: int | None, is_feature_axis, what: str) -> list[Part]:
        """Layers that run together, for an array of so many axes; None for single points. is_feature_axis(dim): whether
        a softmax along it is one of a point's numbers."""
        parts: list[Part] = []
        if self.own_forward():
            raise TypeError(f"{what}: {self.own_forward()} has a forward() of its own, of which no kernel is made")
        for name, leaf in self.leaves():
            dim = None
            if getattr(leaf, "kind", "") == "softmax":
                dim = softmax_axis(leaf, rank) if rank is not None else leaf.dim or 0
            is_apart = dim is not None and not is_feature_axis(dim)
            if not parts or is_apart or parts[-1].axis is not None:
                parts.append(Part([leaf], dim if is_apart else None, name))
            else:
                first = parts[-1].names.split(" to ")[0]
                parts[-1] = Part([*parts[-1].leaves, leaf], None, f"{first} to {name}")
        return parts or [Part([], None, "")]

    def _perceptron(self, part: Part, place: int, features: int, dtype: str, device) -> Any:
        made = self._perceptrons()
        key = (place, part.names, features, dtype, device and device.name)
        if key not in made:
            made[key] = _core_nn.Perceptron(_layers_of(part.leaves), features, dtype, device)
        return made[key]

    def _run(self, part: Part, place: int, x: ndarray, axis: int, out, progress) -> ndarray:
        """One part along an axis."""
        precision = self._module._precision
        if any(leaf.role == "linear" for leaf in part.leaves):
            return self._perceptron(part, place, 1, "float32", None).map(x, axis, out, progress, precision)
        if all(leaf.role == "identity" for leaf in part.leaves):
            if out is None:
                return x
            if out.shape != x.shape:
                raise ShapeError(f"nn.Module.map: out has shape {out.shape}, but the result {x.shape}")
            out[...] = x
            return out
        dtype = "float64" if x.dtype.name == "float64" else "float32"
        if any(_needs_points(leaf) for leaf in part.leaves) and x.ndim > 0:
            network = self._perceptron(part, place, x.shape[axis], dtype, x.device)
            made = network.map(x, axis, out, progress, precision)
        else:
            network = self._perceptron(part, place, 1, dtype, x.device)
            into = None if out is None else out[..., None]
            made = network.map(x[..., None], -1, into, progress, precision)[..., 0]
        is_narrow = x.dtype.name in ("float16", "bfloat16")
        return out if out is not None else made.astype(x.dtype) if is_narrow else made

    def _array(self, x, what: str) -> ndarray:
        if isinstance(x, ndarray):
            return x
        device = next((a.device for _, leaf in self.leaves() for a in leaf._parameters.values()), None)
        try:
            return _core.as_array(x, device)
        except (builtins.TypeError, builtins.ValueError) as error:
            kind = TypeError if isinstance(error, builtins.TypeError) else ValueError
            if isinstance(x, tuple) and any(isinstance(each, ndarray) for each in x):
                raise TypeError(f"{what}: expected an array, not a tuple of {len(x)}") from None
            raise kind(f"{what}: {str(error).removeprefix('asarray: ')}") from None

    def converted(self, value):
        """An argument of a forward() of one's own: arrays of other libraries become Iruka's."""
        is_foreign = isinstance(value, numpy.ndarray) or (hasattr(value, "__dlpack__") and hasattr(value, "shape"))
        return self._array(value, f"nn.{type(self._module).__name__}") if is_foreign else value

    def call(self, x) -> ndarray:
        """Module.forward()."""
        if self.own_forward():
            if self._module.role != "sequence":
                raise NotImplementedError(f"nn.{type(self._module).__name__} has no forward()")
            for child in self._module.children():
                x = child(x)
            return x
        x = self._array(x, f"nn.{type(self._module).__name__}")
        try:
            return self._called(x)
        except (ValueError, TypeError, IndexError) as error:
            of_layer = layer_error(error, self.leaves(), x, self._alone)
            raise renamed(of_layer, f"nn.{type(self._module).__name__}") from None

    def _alone(self, leaf, x: ndarray) -> Any:
        """What a layer makes of its input in this network."""
        if not self.is_graph() or leaf.role == "identity":
            return leaf._network._called(x)
        x = leaf._network._graph_input().converted(x)
        device = self._graph_input().device or x.device
        return model_of([leaf], x.ndim, x.dtype.name, device, self._module._precision)(x)

    def _called(self, x: ndarray) -> ndarray:
        if self.is_graph():
            model, x = self._graph(x)
            return model(x)
        last = x.ndim - 1
        if x.ndim > 2 and any(getattr(leaf, "num_parameters", 1) > 1 for _, leaf in self.leaves()):
            raise ValueError(
                f"nn.PReLU: torch's channels are axis 1 of an array of {x.ndim} axes, not its features;"
                " map() has the slopes along the features"
            )
        for place, part in enumerate(self.parts(x.ndim, lambda dim: dim in (-1, last), "nn.Module")):
            axis = part.axis
            if axis is None:
                axis = -1
            x = self._run(part, place, x, axis, None, None)
        return x

    def is_graph(self) -> bool:
        """Whether some layer is an operator of a graph, so that all of them are."""
        return any(leaf.role == "graph" for _, leaf in self.leaves())

    def _graph_input(self) -> GraphInput:
        """What the graph of the layers, with the parameters of now, does with its input."""
        leaves = [leaf for _, leaf in self.leaves()]
        arrays = [array for leaf in leaves for array in leaf._parameters.values()]
        dtype, device = (arrays[0].dtype, arrays[0].device) if arrays else (None, None)
        for leaf in leaves:
            if leaf.role == "identity" or getattr(leaf, "keeps_dtype", False):
                continue
            kinds = "iu" if getattr(leaf, "takes_integers", False) else "iubfV"
            return GraphInput(f"nn.{type(leaf).__name__}", kinds, dtype, device)
        return GraphInput("", "", None, device)

    def _graph(self, x: ndarray) -> tuple[Any, ndarray]:
        """The layers as a model, with the parameters of now, and its input."""
        made = self._perceptrons()
        rule = made.get("input")
        if rule is None:
            rule = made["input"] = self._graph_input()
        x = rule.converted(x)
        device, precision = rule.device or x.device, self._module._precision
        key = (x.ndim, x.dtype, device.name, precision)
        model = made.get(key)
        if model is None:
            dtype = (rule.dtype or x.dtype).name
            names = [name for name, _ in self.leaves()]
            leaves = [leaf for _, leaf in self.leaves()]
            model = made[key] = model_of(leaves, x.ndim, dtype, device, precision, names)
        return model, x

    def map(self, a, axis: int, out, progress) -> ndarray:
        """Module.map()."""
        what = "nn.Module.map"
        a = self._array(a, what)
        check_out(out, what)
        check_progress(progress, what)
        if out is not None and out.dtype.kind in "biu":
            raise TypeError(f"{what}: out must have a dtype of floats, as the results have, not {out.dtype.name}")
        part = self._single(what)
        if a.ndim == 0:
            raise ShapeError(f"{what}: the array has no axis of features")
        axis = axis_of(axis, a.ndim, what)
        linear = next(((name, leaf) for name, leaf in self.leaves() if leaf.role == "linear"), None)
        if linear and a.shape[axis] != linear[1].in_features:
            label = "nn.Linear" + (f" {linear[0]!r}" if linear[0] else "")
            raise ShapeError(
                f"{what}: {label} expects {linear[1].in_features} features along axis {axis}, but the array has shape"
                f" {a.shape}"
            )
        try:
            return self._run(part, 0, a, axis, out, progress)
        except (ValueError, TypeError, IndexError) as error:
            raise renamed(error, what) from None

    def _single(self, what: str) -> Part:
        for _, leaf in self.leaves():
            if leaf.role == "graph":
                raise ValueError(f"{what}: {type(leaf).__name__} is no function of one point's features")
        parts = self.parts(None, _is_of_a_point, what)
        if len(parts) > 1 or parts[0].axis is not None:
            raise ValueError(f"{what}: a point has one axis, so Softmax must have dim -1, 0, or 1 as of (N, C)")
        return parts[0]

    def only_perceptron(self, function: str) -> Any:
        """The whole network as one perceptron."""
        part = self._single(f"nn.Module.{function}")
        if not any(leaf.role == "linear" for leaf in part.leaves):
            raise ValueError(f"nn.Module.{function}: the module has no Linear that says how many features it takes")
        return self._perceptron(part, 0, 1, "float32", None)

    def report(self, x, axis: int) -> Report | ModelReport:
        """Module.report()."""
        what = "nn.Module.report"
        try:
            return self._reported(x, axis, what)
        except (ValueError, TypeError, IndexError) as error:
            raise renamed(error, what) from None

    def _reported(self, x, axis: int, what: str) -> Report | ModelReport:
        x = self._array(x, what)
        if self.is_graph() and not self.own_forward():
            model, x = self._graph(x)
            return self._with_layers(model.report(x))
        last = x.ndim - 1
        axis = axis_of(axis, x.ndim, what) if x.ndim else -1
        if axis in (-1, last):
            parts = self.parts(x.ndim, lambda dim: dim in (-1, last), what)
        else:
            parts = self.parts(None, _is_of_a_point, what)
        rows = []
        points = x.size // max(1, x.shape[axis]) if x.ndim else 1
        for place, part in enumerate(parts):
            at = axis if part.axis is None else part.axis
            times = []
            for _ in range(2):
                begin = time.perf_counter()
                made = self._run(part, place, x, at, None, None)
                made.device.synchronize()
                times.append((time.perf_counter() - begin) * 1e3)
            linear = [leaf for leaf in part.leaves if leaf.role == "linear"]
            operations = 2 * points * sum(leaf.in_features * leaf.out_features for leaf in linear)
            network = self._perceptron(part, place, 1, "float32", None) if linear else None
            is_one = network is None or network.is_one_kernel
            kernel = network.report(x, at) if network is not None and is_one else None
            how = "one kernel" if is_one else "layer by layer"
            rows.append(ReportRow(part.names, how, times[0], times[1], operations / times[1] / 1e6, kernel))
            x = made
        return Report(x.device.name, x.dtype.name, points, rows)

    def _with_layers(self, report: ModelReport) -> ModelReport:
        """The report with the layers' names for the values': each step is of the layers behind those before it."""
        names, rows, done = [name for name, _ in self.leaves()], [], -1
        for row in report.rows:
            layer = row.name.split("/")[0]
            last = names.index(layer) if layer in names else done
            first = min(done + 1, last)
            text = names[last] if first == last else f"{names[first]} to {names[last]}"
            rows.append(row._replace(name=text if last >= 0 else layer))
            done = max(done, last)
        return ModelReport(rows, report.note, "layers")

    def table(self) -> str:
        """str() of a module."""
        rows, shape, total = [("name", "layer", "output", "parameters")], "(...)", 0
        for name, leaf in self.leaves():
            count = sum(array.size for array in leaf._parameters.values())
            total += count
            if leaf is self._module and (leaf._children or leaf.role == ""):
                if leaf._parameters:
                    rows.append((", ".join(leaf._parameters), "parameters of its own", "", str(count)))
                continue
            shape = _shape_behind(leaf, "" if self.own_forward() else shape)
            layer = f"{type(leaf).__name__}({leaf.extra_repr()})"  # its own modules have rows of their own
            rows.append((name, layer, shape, str(count)))
        rows.append(("", self._how(), "", str(total)))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row[:3], widths)), row[3].rjust(widths[3])]).rstrip()
            for row in rows
        ]
        return "\n".join([type(self._module).__name__, *("  " + line for line in lines)])

    def _how(self) -> str:
        """The last line of a table."""
        arrays = [array for _, leaf in self.leaves() for array in leaf._parameters.values()]
        where = f", {arrays[0].dtype.name} on {arrays[0].device.name}" if arrays else ""
        where += f", precision={self._module._precision!r}" if self._module._precision != "float32" else ""
        if self.own_forward():
            return f"by the forward() of {self.own_forward()}" + where
        if self.is_graph():
            return "a graph of operators" + where
        if not any(leaf.role == "linear" for _, leaf in self.leaves()):
            return "one kernel" + where
        try:
            is_one = self.only_perceptron("table").is_one_kernel
        except (TypeError, ValueError) as error:
            return str(error)
        return ("one kernel" if is_one else "layer by layer") + where


_OF_OTHER_CHANNELS = ("Flatten", "Unflatten", "PixelShuffle", "PixelUnshuffle", "GLU")


def _shape_behind(leaf, before: str) -> str:
    """The shape of a layer's output as far as the layer itself says it, for the table."""
    if leaf.role == "linear":
        return f"(..., {leaf.out_features})"
    if hasattr(leaf, "out_channels"):
        return f"(batch, {leaf.out_channels}, ...)"
    if hasattr(leaf, "embedding_dim"):
        return f"(..., {leaf.embedding_dim})"
    return "" if type(leaf).__name__ in _OF_OTHER_CHANNELS or leaf.role == "" else before


def _is_of_a_point(dim: int) -> bool:
    """Whether a softmax along `dim` is one of a point's features: of (C,), or of (N, C) as networks learn."""
    return dim in (-1, 0, 1)


def _needs_points(leaf) -> bool:
    """Whether it is a function of a point's numbers rather than of each."""
    return getattr(leaf, "kind", "") == "softmax" or getattr(leaf, "num_parameters", 1) > 1


def _layers_of(leaves: list) -> list[tuple]:
    """What C++ makes a Perceptron of."""
    layers: list[tuple] = []
    for leaf in leaves:
        if leaf.role == "linear":
            layers.append((leaf._parameters["weight"], leaf._parameters.get("bias"), []))
        elif leaf.role == "activation":
            if not layers:
                layers.append((None, None, []))
            layers[-1][2].append((_KINDS[leaf.kind], leaf.numbers(), leaf._parameters.get("weight")))
    return layers
