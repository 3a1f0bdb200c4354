"""Models: graphs of operators that a file gives."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from .. import _core
from .._core import Device, ndarray
from ..errors import IndexError, TypeError, ValueError
from .arguments import check_progress, integer
from .functions import DeviceFunction
from .messages import renamed


def check_out(out, what: str) -> None:
    """Raises TypeError for an `out` that is no array; `what` is the method."""
    if out is not None and not isinstance(out, ndarray):
        raise TypeError(f"{what}: out must be an iruka.ndarray, not {type(out).__name__}")


class Tensor(NamedTuple):
    """What a model says of an input or output."""

    name: str
    dtype: Any  #: None: any
    shape: tuple[int | str | None, ...] | None  #: an extent is a number, a symbol that tensors share, or None: any


class ModelStep(NamedTuple):
    """What one node of a model did."""

    name: str  #: of its first output, or of the layers of a module
    operators: str  #: 'Conv 3x3', or 'Add+Relu' where one kernel computes both
    device: str
    dtype: Any
    shape: tuple[int, ...]
    first: float  #: milliseconds of the first run, which may compile
    warm: float  #: of the second


class ModelReport:
    """What ran where and for how long; print it.

    note: what keeps the model from running as fast as it could on its device, or ''.
    """

    def __init__(self, rows: list[ModelStep], note: str = "", names: str = "name") -> None:
        self.rows, self.note, self._names = rows, note, names

    def __str__(self) -> str:
        cells = [(self._names, "operators", "device", "output", "ms", "first call")]
        for row in self.rows:
            shape = f"{row.dtype.name} {row.shape}"
            cells.append((row.name, row.operators, row.device, shape, f"{row.warm:.3g}", f"{row.first:.3g}"))
        total = sum(row.warm for row in self.rows), sum(row.first for row in self.rows)
        cells.append(("", "", "", "", f"{total[0]:.3g}", f"{total[1]:.3g}"))
        widths = [max(len(row[k]) for row in cells) for k in range(6)]
        lines = [
            "  ".join(
                cell.rjust(width) if k > 3 else cell.ljust(width) for k, (cell, width) in enumerate(zip(row, widths))
            )
            for row in cells
        ]
        return "\n".join(lines + [self.note] * bool(self.note))

    __repr__ = __str__


_OF_THE_FILE = (
    "loading computes what is constant, so the weights of the file are not kept under their names; read them from the"
    " file: {each.name: onnx.numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer}"
)
_INSTEAD = {
    **dict.fromkeys(("state_dict", "parameters", "named_parameters", "load_state_dict", "weights"), _OF_THE_FILE),
    **dict.fromkeys(("train", "requires_grad_"), "models are evaluated, not trained"),
    **dict.fromkeys(("half", "bfloat16", "double", "float"), "a model computes in the dtypes of its file"),
    "forward": "call the model: model(x)",
    "modules": "print(model) lists its operators",
}


class Model:
    """A graph of operators, as an ONNX file gives; nn.load makes it.

    >>> model = iruka.nn.load("net.onnx")  # doctest: +SKIP
    >>> scores = model(images)  # doctest: +SKIP
    """

    def __init__(self, core) -> None:
        self._core = core

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """Names, dtypes and shapes of the inputs."""
        return tuple(Tensor(*each) for each in self._core.inputs)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The same of the outputs."""
        return tuple(Tensor(*each) for each in self._core.outputs)

    @property
    def device(self) -> Device:
        """Where the model runs."""
        return self._core.device

    @property
    def precision(self) -> str:
        """'float32', or 'tf32' where a GPU may round the factors of products to 10 bits of mantissa."""
        return self._core.precision

    def _arguments(self, args: tuple, named: dict) -> list:
        names = [tensor.name for tensor in self.inputs]
        if len(args) > len(names):
            raise TypeError(f"nn.Model: it takes {len(names)} inputs ({', '.join(names)}), not {len(args)}")
        given = dict(zip(names, args))
        for name, value in named.items():
            if name not in names:
                if name == "out":
                    raise TypeError("nn.Model: a call takes no `out`; map(x, axis, out=out) writes to an array")
                raise TypeError(f"nn.Model: there is no input {name!r}; the inputs are {', '.join(names)}")
            if name in given:
                raise TypeError(f"nn.Model: input {name!r} is given twice")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"nn.Model: inputs are missing: {', '.join(missing)}")
        return [given[name] for name in names]

    def __call__(self, *args, **named) -> ndarray | tuple[ndarray, ...]:
        """The output, or a tuple of several, for inputs by their places or names.

        Inputs are arrays of Iruka on the model's device, or of other libraries, which come there. Raises TypeError for
        missing and unknown inputs and other dtypes than the model declares, ValueError for other shapes.
        """
        outputs = self._core.run(self._arguments(args, named))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def map(self, a, axis: int = -1, out: ndarray | None = None, progress=None) -> ndarray:
        """The model of each point of an array of any shape and layout, whose features lie along `axis`.

        For models whose input has shape (batch, features) with any batch, and whose output has shape (batch, outputs),
        each row of it made of one row of the input. The result has the outputs along the axis. Real dtypes are cast to
        the input's. out: an array of the result's shape. progress(done, all) is called with numbers of points after
        each part of them, unless there are none; what it raises ends the work. numpy.apply_along_axis(model, axis, a)
        gives the same for an array of Iruka. Raises ValueError for other models and shapes.
        """
        what = "nn.Model.map"
        check_out(out, what)
        check_progress(progress, what)
        axis = integer(axis, f"{what}: axis")
        try:
            return self._core.map(a, axis, out, progress)
        except (ValueError, TypeError, IndexError) as error:
            raise renamed(error, what) from None

    def as_function(self, name: str) -> DeviceFunction:
        """The model as a function that the bodies of kernels call: `name(in, out)`.

        For a multilayer perceptron of at most 16 layers of 256 numbers: products with weights and activations alone.
        Raises ValueError for other models.
        """
        network = self._core.perceptron
        if network is None:
            raise ValueError(
                "nn.Model.as_function: the model is no multilayer perceptron of at most 16 layers of 256 numbers:"
                f" {self._why_no_perceptron()}"
            )
        try:
            return DeviceFunction(name, network)
        except ValueError as error:
            raise renamed(error, "nn.Model.as_function") from None

    def _why_no_perceptron(self) -> str:
        """The first condition of as_function() that fails."""
        if len(self.inputs) != 1 or len(self.outputs) != 1:
            return f"it has {len(self.inputs)} inputs and {len(self.outputs)} outputs, not one of each"
        ((_, dtype, shape),) = self.inputs
        if shape is None or len(shape) != 2:
            return f"its input must have shape (batch, features), but has {'any' if shape is None else shape}"
        if isinstance(shape[0], int):
            return (
                f"its input has shape {shape}, a fixed batch; export it with dynamic_axes={{'input': {{0: 'batch'}}}}"
                " (torch.onnx.export) or dynamic_shapes (torch.export)"
            )
        if dtype is None or dtype.name not in ("float32", "float64"):
            return f"its input must be float32 or float64, but is {'of any dtype' if dtype is None else dtype.name}"
        return (
            "it has operators other than products with constant matrices, biases and the activations that nn.Sequential"
            " has, or more layers or wider ones; print(model) lists them"
        )

    def report(self, *args, axis: int | None = None, **named) -> ModelReport:
        """Runs the model twice and tells what each node did, where and for how long.

        axis: reports map(x, axis) instead, in one row. (An input of the name 'axis' is given by its place.)
        """
        if axis is None:
            rows = [ModelStep(*row) for row in self._core.report(self._arguments(args, named))]
            return ModelReport(rows, self._core.note)
        (x,) = self._arguments(args, named)
        times = []
        for _ in range(2):
            begin = time.perf_counter()
            made = self.map(x, axis)
            made.device.synchronize()
            times.append((time.perf_counter() - begin) * 1e3)
        how = f"map along axis {axis}" + (", one kernel" if self._core.perceptron is not None else "")
        step = ModelStep(self.outputs[0].name, how, self.device.name, made.dtype, made.shape, *times)
        return ModelReport([step], self._core.note)

    def eval(self) -> Model:
        """Returns this model, which is always evaluated."""
        return self

    def to(self, device=None, precision: str | None = None) -> Model:
        """This model, where it is on that device with that precision; else ValueError: nn.load() says both."""
        wanted = self.device if device is None else _core.device(device) if isinstance(device, str) else device
        if wanted != self.device or precision not in (None, self.precision):
            raise ValueError(
                f"nn.Model.to: a model stays as it was loaded, on {self.device.name} with precision"
                f" {self.precision!r}; load it again: nn.load(source, device=..., precision=...)"
            )
        return self

    def cpu(self) -> Model:
        """to('cpu')."""
        return self.to("cpu")

    def cuda(self, device: int | None = None) -> Model:
        """to('cuda')."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def __getattr__(self, name: str):
        instead = _INSTEAD.get(name)
        raise AttributeError(f"'Model' object has no attribute {name!r}" + (f": {instead}" if instead else ""))

    def __str__(self) -> str:
        return self._core.table()

    def __repr__(self) -> str:
        def listed(tensors) -> str:
            return ", ".join(tensor.name for tensor in tensors)

        return f"<Model ({listed(self.inputs)}) -> ({listed(self.outputs)}) on {self.device.name}>"
