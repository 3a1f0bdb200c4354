"""From stages to the core's graph."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence

from .. import _core
from .._image.geometry import Chain
from .._image.stages import Stage
from ..errors import TypeError, ValueError
from .functions import arrays_returned, name_of
from .randoms import Random
from .stages import (
    Decode,
    Function,
    OneOf,
    PipelineStage,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    bindings_of,
)

_core_pipeline = _core._pipeline


class GraphBuilder:
    """Adds stages to a graph, field by field. `fields` maps names to the numbers of values."""

    def __init__(self, fields, device):
        self.graph = _core_pipeline.Graph(len(fields))
        self.fields = {name: number for number, name in enumerate(fields)}
        self._device = device
        self._draws: dict[int, int] = {}  # the values of drawn numbers, by the distribution's id
        self._places: dict[int, int] = {}  # of stages that draw themselves
        self._kept: list = []  # so that no id is used twice
        # Of a field: stages, bindings, inputs, the layout that a Chain gave.
        self._pending: dict[str, tuple[list, list, list, str | None]] = {}

    def add_all(self, field: str, stages) -> None:
        if field not in self.fields:
            raise ValueError(f"Pipeline: there is no field {field!r}; the source has {', '.join(self.fields)}")
        if isinstance(stages, (Stage, PipelineStage)) or callable(stages):
            stages = [stages]
        if not isinstance(stages, Iterable):
            raise TypeError(f"Pipeline: the stages of {field!r} are a list, not {stages!r}")
        for stage in stages:
            self._add(field, stage)
        self.flush(field)

    def _add(self, field: str, stage) -> None:
        _check_stage(stage)
        if isinstance(stage, RandomFlip):
            stage = self._kept_part(stage, RandomFlip._flip)
        if isinstance(stage, Stage):
            return self._pend(field, stage)
        self.flush(field)
        if isinstance(stage, Function):
            return self._call(field, stage)
        if isinstance(stage, PipelineStage):
            operation, inputs = self._operation(stage)
            inputs = [self.fields[field], *inputs]
            owner = stage._drawn_by() if isinstance(stage, RandomResizedCrop) else stage
            self.fields[field] = self.graph.add(operation, inputs, self._place(owner))
        elif isinstance(stage, Chain):
            self._pending[field] = ([], [], [], stage._given_layout)
            for each in stage.stages:
                self._pend(field, each)
            self.flush(field)
        elif callable(stage):
            self._call(field, Function(stage))
        else:
            raise TypeError(
                f"Pipeline: a stage is one of iruka.image's or iruka.pipeline's, or a function, not {stage!r}"
            )

    def _kept_part(self, stage, make):
        """The same part for a stage that stands in several fields."""
        for owner, part in self._kept:
            if owner is stage:
                return part
        part = make(stage)
        self._kept.append((stage, part))
        return part

    def _place(self, stage) -> int:
        """A number for each stage that draws, the same for all fields; apart from those of the graph's nodes."""
        if id(stage) not in self._places:
            self._places[id(stage)] = 0x40000000 + len(self._places)
            self._kept.append((stage, None))
        return self._places[id(stage)]

    def _drawn(self, random: Random) -> int:
        if id(random) not in self._draws:
            operation = _core_pipeline.draw(random._distribution())
            self._draws[id(random)] = self.graph.add(operation, [], 0x20000000 + len(self._draws))
            self._kept.append((random, None))
        return self._draws[id(random)]

    def _pend(self, field: str, stage: Stage) -> None:
        """Lets a stage wait for others that join it."""
        stages, bindings, inputs, _ = self._pending.setdefault(field, ([], [], [], None))

        def parameter(random: Random) -> tuple:
            inputs.append(self._drawn(random))
            return ("input", len(inputs))

        plain, found = bindings_of(stage, parameter)
        bindings += [(len(stages), name, element, given) for name, element, given in found]
        stages.append(plain._fields())

    def flush(self, field: str) -> None:
        """Adds the stages that wait for others to join them."""
        if field not in self._pending:
            return
        stages, bindings, inputs, layout = self._pending.pop(field)
        operation = _core_pipeline.stages(stages, bindings, layout)
        self.fields[field] = self.graph.add(operation, [self.fields[field], *inputs])

    def _operation(self, stage: PipelineStage) -> tuple:
        """The core's operation, and its inputs behind the picture."""
        if isinstance(stage, Decode):
            return _core_pipeline.decode(stage._options(self._device)), []
        if isinstance(stage, RandomResizedCrop):
            return _core_pipeline.random_resized_crop(stage._resize(), *stage._ranges()), []
        if isinstance(stage, RandomCrop):
            inputs: list[int] = []
            places: list = []
            for place in stage._at():
                if isinstance(place, Random):
                    inputs.append(self._drawn(place))
                    places.append(("input", len(inputs)))
                else:
                    places.append(place)
            return _core_pipeline.crop_at(*stage._size(), *places), inputs
        if isinstance(stage, OneOf):
            choices, probabilities = stage._parts()
            return _core_pipeline.one_of([self._list(choice) for choice in choices], probabilities), []
        raise TypeError(f"Pipeline: {stage!r} cannot stand here")

    def _list(self, stages) -> list:
        """The operations of one choice of OneOf, which draw for themselves."""
        operations = []
        for stage in stages:
            _check_stage(stage)
            stage = stage._flip() if isinstance(stage, RandomFlip) else stage
            if isinstance(stage, Stage):
                plain, found = bindings_of(stage, lambda random: random._distribution())
                bindings = [(0, name, element, given) for name, element, given in found]
                operations.append(_core_pipeline.stages([plain._fields()], bindings))
            elif isinstance(stage, RandomCrop):
                places = [p._distribution() if isinstance(p, Random) else p for p in stage._at()]
                operations.append(_core_pipeline.crop_at(*stage._size(), *places))
            elif isinstance(stage, Function):
                if stage.inputs or stage.outputs:
                    raise TypeError("OneOf: a Function in it takes and gives the field alone, without names")
                operations.append(self._function(stage, 1))
            elif isinstance(stage, PipelineStage):
                operations.append(self._operation(stage)[0])
            elif callable(stage):
                operations.append(self._function(Function(stage), 1))
            else:
                raise TypeError(f"OneOf: {stage!r} is no stage")
        return operations

    def _function(self, stage: Function, outputs: int):
        function, draws = stage.function, stage.draws
        if not callable(function):
            raise TypeError(f"Function: {function!r} cannot be called")

        name = name_of(function)

        def call(arrays, key, numbers):
            made = function(*arrays, draws=numbers) if draws else function(*arrays)
            return arrays_returned(made, name, outputs)

        return _core_pipeline.function(name, call, outputs)

    def _call(self, field: str, stage: Function) -> None:
        inputs = [field] if stage.inputs is None else names_of(stage.inputs, "Function: inputs")
        outputs = inputs if stage.outputs is None else names_of(stage.outputs, "Function: outputs")
        if not outputs or len(set(outputs)) != len(outputs):
            raise ValueError(f"Function: outputs are one name or more, each once, not {outputs}")
        for name in inputs:
            if name not in self.fields:
                raise ValueError(f"Function: there is no field {name!r}; there are {', '.join(self.fields)}")
            self.flush(name)
        operation = self._function(stage, len(outputs))
        first = self.graph.add(operation, [self.fields[name] for name in inputs], self._place(stage))
        for k, name in enumerate(outputs):
            self.fields[name] = first + k


def names_of(given, what: str) -> list[str]:
    """A list of names that may be given as a single one. Raises TypeError for others."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{what} are names of fields, not {given!r}")
    return list(names)


def _check_stage(stage) -> None:
    """Raises TypeError for a class in the place of a stage."""
    if isinstance(stage, type) and issubclass(stage, (Stage, PipelineStage, Random, Chain)):
        raise TypeError(f"Pipeline: {stage.__name__} is a class; a stage is an object of it: {stage.__name__}(...)")


def build_graph(fields, stages, device):
    """The graph for stages: a list for the first field, or a mapping from fields to lists. Returns the core's graph and
    the names of its outputs."""
    if not isinstance(stages, Mapping):
        if isinstance(stages, builtins.str) or stages is None:
            raise TypeError(f"Pipeline: stages are a list, or a mapping from fields to lists, not {stages!r}")
        stages = {fields[0]: stages}
    builder = GraphBuilder(fields, device)
    for field, own in stages.items():
        builder.add_all(field, own)
    builder.graph.set_outputs(list(builder.fields.values()))
    return builder.graph, list(builder.fields)
