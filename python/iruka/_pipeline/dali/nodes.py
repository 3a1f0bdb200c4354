"""The graph that a program in DALI's names builds, and how it becomes a graph of the core."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as _np

from ... import _core
from ...errors import TypeError, ValueError
from ..checks import number
from ..functions import arrays_returned
from .types import DALIDataType, UnsupportedError, dtype_of

_numbers = itertools.count()
_scopes = threading.local()
PICTURE_DTYPES = tuple(map(_np.dtype, ("uint8", "uint16", "float16", "float32")))


def scopes() -> list:
    """The pipelines whose graphs are being defined by this thread, the innermost last."""
    if not hasattr(_scopes, "stack"):
        _scopes.stack = []
    return _scopes.stack


def current_pipeline():
    """The pipeline whose graph is being defined by this thread, or None."""
    stack = scopes()
    return stack[-1] if stack else None


@dataclasses.dataclass(frozen=True, eq=False)
class Guard:
    """One entry into a branch of an if: its operators run for the samples whose condition is so."""

    condition: DataNode
    is_true: bool


def _guards() -> list[Guard]:
    """The branches whose code this thread runs, the innermost last."""
    if not hasattr(_scopes, "guards"):
        _scopes.guards = []
    return _scopes.guards


@contextlib.contextmanager
def under(guard: Guard):
    """What is defined meanwhile belongs to the branch."""
    _guards().append(guard)
    try:
        yield
    finally:
        _guards().pop()


def check_branches(function: str, nodes: Sequence[DataNode], guards: Sequence[Guard]) -> None:
    """Raises ValueError for a value of a branch that `guards` do not name."""
    for node in nodes:
        if any(guard not in guards for guard in node.operation.guards):
            raise ValueError(
                f"{function}: {node.name!r} was made in a branch of an if, for some samples alone; assign it to a "
                "variable in both branches"
            )


def is_of_branch(node: DataNode, condition: DataNode) -> bool:
    """Whether a value was made in a branch, just left, of the if with this condition."""
    inner = node.operation.guards[len(_guards()) :]
    return bool(inner) and inner[0].condition is condition


class Operation:
    """An operator with its inputs. `emit(lowering, inputs)` adds it to the core's graph and gives the numbers of its
    output values; `inputs` are the numbers of the input values. `merges`: it takes values of branches behind them."""

    def __init__(
        self, name: str, inputs: Sequence[DataNode], emit: Callable, label: str | None = None, merges: bool = False
    ):
        self.name = name
        self.inputs = list(inputs)
        self.guards = tuple(_guards())
        if not merges:
            check_branches(name, self.inputs, self.guards)
        self.emit = emit
        self.takes_flat = False  # pictures of two axes, where DALI has a third one of one channel
        self.label = label or f"__{name}_{next(_numbers)}"

    def emit_number(self, lowering: Lowering, numbers: list[int]) -> list[int]:
        """The same where numbers of any dtype are wanted, for a parameter of another operator."""
        return lowering.values(self)


class Root(Operation):
    """An operator whose values come from the source: a reader, or the data that a caller feeds."""

    outputs = 1

    def __init__(self, name: str, label: str | None = None):
        super().__init__(name, [], self._own_values, label)

    def _own_values(self, lowering, inputs):
        first = lowering.first_value[self]
        return list(range(first, first + self.outputs))


class DataNode:
    """A value of each sample. Operators take and give it; arithmetic, comparisons and indices make new ones."""

    def __init__(self, operation: Operation, output: int = 0, *, device="cpu", layout="", dtype=None, picture=False):
        self.operation = operation
        self.output = output
        self.device = device
        self.made_on = device  #: where the operator works; cpu() and gpu() move what it has made
        self.layout = layout  #: names of the axes; empty where they are not known
        self.dtype = dtype  #: None where it is not known before data is there
        self.is_picture = picture  #: an array of the dtypes and axes that the stages of a Chain take
        self.is_flat = False  #: a picture that may have two axes, where DALI has a third one of one channel
        self.batch_step: Callable | None = None  #: applied to the batch of an output

    @property
    def name(self) -> str:
        return self.operation.label + (f"[{self.output}]" if self.output else "")

    @property
    def source(self):
        return self.operation

    def gpu(self) -> DataNode:
        """The value on the pipeline's GPU."""
        return self._on("gpu")

    def cpu(self) -> DataNode:
        """The value on the CPU."""
        return self._on("cpu")

    def _on(self, device: str) -> DataNode:
        moved = DataNode(
            self.operation, self.output, device=device, layout=self.layout, dtype=self.dtype, picture=self.is_picture
        )
        moved.is_flat, moved.batch_step, moved.made_on = self.is_flat, self.batch_step, self.made_on
        return moved

    def shape(self, *, dtype=None, device="cpu") -> DataNode:
        """The shape of each sample, int64 by default."""
        made = dtype_of(dtype, "shape") or _np.dtype("int64")
        return function_node("shape", lambda x: _np.array(x.shape, made), [self], dtype=made)

    def __bool__(self):
        raise TypeError(
            "a DataNode stands for a value of each sample and has no truth here; pass enable_conditionals=True to "
            "pipeline_def, which is for `if` without break and continue, or write the condition in a function and use "
            "fn.python_function"
        )

    def __iter__(self):
        raise TypeError("a DataNode stands for one value of each sample; operators with several outputs give a list")

    def __repr__(self):
        return f'DataNode(name="{self.name}", device="{self.device}")'

    __hash__ = object.__hash__

    if TYPE_CHECKING:  # arithmetic.py gives the class its operators

        def __getitem__(self, index) -> DataNode: ...
        def __lt__(self, other) -> DataNode: ...


class ScalarConstant:
    """A number that is the same for all samples, with a dtype: types.Constant."""

    def __init__(self, value, dtype=None):
        if dtype is None:
            dtype = {bool: DALIDataType.BOOL, int: DALIDataType.INT32}.get(type(value), DALIDataType.FLOAT)
        self.value = (dtype_of(dtype, "Constant") or _np.dtype("float32")).type(value)

    @property
    def dtype(self) -> _np.dtype:
        return self.value.dtype

    def __repr__(self):
        return f"Constant({self.value}, {self.dtype})"

    __hash__ = object.__hash__


def _cast_method(name: str, dtype: str):
    def method(self):
        return ScalarConstant(self.value, dtype)

    method.__name__, method.__doc__ = name, f"The constant as {dtype}."
    return method


for _name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    setattr(ScalarConstant, _name, _cast_method(_name, _name))
for _name, _dtype in {"float16": "float16", "float32": "float32", "float64": "float64"}.items():
    setattr(ScalarConstant, _name, _cast_method(_name, _dtype))


class Lowering:
    """The core's graph while the operators are added to it."""

    def __init__(self, outputs: Sequence[DataNode]):
        self.core = _core._pipeline
        self.roots = roots_of(outputs)
        firsts = [0, *itertools.accumulate(root.outputs for root in self.roots)]
        self.first_value = dict(zip(self.roots, firsts, strict=False))
        self.inputs = firsts[-1]
        self.graph = self.core.Graph(self.inputs)
        self._output_ids = {id(node) for node in outputs}
        self._values: dict = {}
        self._channeled: dict = {}
        self._numbers: dict = {}
        self.drawn: dict = {}  #: of random numbers, as they are drawn
        self._guards: list = []  # of the operator that is added
        self.graph.set_outputs([self.value(node) for node in outputs])

    def values(self, operation: Operation) -> list[int]:
        """The numbers of all outputs of an operator."""
        if operation not in self._values:
            inputs = [self._taken(node, operation) for node in operation.inputs]
            with self._branch_of(operation):
                self._values[operation] = operation.emit(self, inputs)
        return self._values[operation]

    @contextlib.contextmanager
    def _branch_of(self, operation: Operation):
        """What is added meanwhile runs for the samples that the operator runs for."""
        before = self._guards
        self._guards = [(self.number(guard.condition), guard.is_true) for guard in operation.guards]
        try:
            yield
        finally:
            self._guards = before

    def _taken(self, node: DataNode, operation: Operation) -> int:
        """A value as an operator takes it: stages take pictures of two axes as they are."""
        if operation.takes_flat and not node.batch_step:
            return self.values(node.operation)[node.output]
        return self.value(node)

    def value(self, node: DataNode) -> int:
        """The value as DALI has it."""
        if node.batch_step is not None and id(node) not in self._output_ids:
            raise UnsupportedError(
                f"{node.operation.name}: what depends on the whole batch can only be an output of the pipeline; "
                "pad to a shape, or behind the other operators"
            )
        number = self.values(node.operation)[node.output]
        if not node.is_flat:
            return number
        if number not in self._channeled:
            axis = 0 if node.layout == "CHW" else -1

            def call(x):
                return x if x.ndim == 3 else _np.expand_dims(x, axis)

            with self._branch_of(node.operation):
                self._channeled[number] = self.function("channel", call, [number])[0]
        return self._channeled[number]

    def number(self, node: DataNode) -> int:
        """A value whose only element is used as a number."""
        operation = node.operation
        if operation not in self._numbers:
            inputs = [self.value(each) for each in operation.inputs]
            with self._branch_of(operation):
                self._numbers[operation] = operation.emit_number(self, inputs)
        return self._numbers[operation][node.output]

    def add(self, operation, inputs: Sequence[int], place: int | None = None) -> int:
        return self.graph.add(operation, list(inputs), place, self._guards)

    def select(self, condition: int, if_true: int, if_false: int) -> int:
        return self.graph.select(condition, if_true, if_false, self._guards)

    def function(self, name: str, call: Callable, inputs: Sequence[int], outputs: int = 1) -> list[int]:
        """Adds `call(*arrays) -> array or tuple of arrays`, on NumPy's arrays."""

        def called(arrays, key, draws):
            return arrays_returned(call(*map(_np.asarray, arrays)), name, outputs)

        first = self.add(self.core.function(name, called, outputs), inputs)
        return list(range(first, first + outputs))


def roots_of(nodes: Sequence[DataNode]) -> list[Root]:
    """The roots that the nodes need, in the order in which they are found."""
    found: dict = {}
    seen = set()
    waiting = [node.operation for node in reversed(nodes)]
    while waiting:
        operation = waiting.pop()
        if operation in seen:
            continue
        seen.add(operation)
        if isinstance(operation, Root):
            found[operation] = None
        waiting.extend(node.operation for node in reversed(operation.inputs))
    return list(found)


def device_of(nodes: Sequence[DataNode], device: str | None = None) -> str:
    """Where an operator's outputs are: as asked for, else on the GPU where one of the inputs is."""
    if device is not None:
        return "gpu" if device == "mixed" else device
    return "gpu" if any(node.device == "gpu" for node in nodes) else "cpu"


def function_node(
    name: str, call: Callable, inputs: Sequence[DataNode], *, dtype=None, layout="", picture=False, device=None
) -> DataNode:
    """A value that a Python function makes of each sample's arrays."""
    operation = Operation(name, inputs, lambda lowering, numbers: lowering.function(name, call, numbers))
    return DataNode(operation, device=device_of(inputs, device), layout=layout, dtype=dtype, picture=picture)


def constant_of(value, function: str):
    """The number or array of a constant. Raises ValueError for a value of each sample."""
    if isinstance(value, DataNode):
        raise UnsupportedError(f"{function}: this argument is the same for all samples; it is no DataNode")
    return value.value if isinstance(value, ScalarConstant) else value


def numbers_of(value, count: int, function: str, name: str) -> list:
    """`count` numbers, or nodes of one number each, from a number, a list of them or a node of as many elements."""
    if isinstance(value, DataNode):
        return [value] if count == 1 else [value[k] for k in range(count)]
    value = constant_of(value, function)
    given = list(value) if _np.ndim(value) or isinstance(value, (list, tuple)) else [value] * count
    if len(given) == 1:
        given = given * count
    if len(given) != count:
        raise ValueError(f"{function}: {name} has {count} numbers, not {len(given)}: {value!r}")
    made = [each if isinstance(each, DataNode) else constant_of(each, function) for each in given]
    for each in made:
        if not isinstance(each, DataNode):
            number(each, f"{function}: {name}")
    return made
