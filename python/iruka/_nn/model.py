"""Models: graphs of operators that a file gives."""

from __future__ import annotations

from typing import Any, NamedTuple

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

    name: str  #: of its first output
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

    def __init__(self, rows: list[ModelStep], note: str = "") -> None:
        self.rows, self.note = rows, note

    def __str__(self) -> str:
        cells = [("operators", "device", "output", "ms", "first call")]
        for row in self.rows:
            shape = f"{row.dtype.name} {row.shape}"
            cells.append((row.operators, row.device, shape, f"{row.warm:.3g}", f"{row.first:.3g}"))
        total = sum(row.warm for row in self.rows), sum(row.first for row in self.rows)
        cells.append(("", "", "", f"{total[0]:.3g}", f"{total[1]:.3g}"))
        widths = [max(len(row[k]) for row in cells) for k in range(5)]
        lines = [
            "  ".join(
                cell.rjust(width) if k > 2 else cell.ljust(width) for k, (cell, width) in enumerate(zip(row, widths))
            )
            for row in cells
        ]
        return "\n".join(lines + [self.note] * bool(self.note))

    __repr__ = __str__


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
        the input's. out: an array of the result's shape. progress(done, all) is called after each part of the points.
        numpy.apply_along_axis(model, axis, a) gives the same. Raises ValueError for other models and shapes.
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
                "nn.Model.as_function: the model is no multilayer perceptron of at most 16 layers of 256 numbers, with"
                " an input of shape (batch, features) for any batch and activations that nn.Sequential has"
            )
        try:
            return DeviceFunction(name, network)
        except ValueError as error:
            raise renamed(error, "nn.Model.as_function") from None

    def report(self, *args, **named) -> ModelReport:
        """Runs the model twice and tells what each node did, where and for how long."""
        rows = [ModelStep(*row) for row in self._core.report(self._arguments(args, named))]
        return ModelReport(rows, self._core.note)

    def __str__(self) -> str:
        return self._core.table()

    def __repr__(self) -> str:
        def listed(tensors) -> str:
            return ", ".join(tensor.name for tensor in tensors)

        return f"<Model ({listed(self.inputs)}) -> ({listed(self.outputs)}) on {self.device.name}>"
