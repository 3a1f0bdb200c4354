"""Operators as classes: arguments at construction, inputs at the call."""

from __future__ import annotations

from .alternatives import camel
from .external import external_source
from .nodes import DataNode
from .operators import OPERATORS, check_device


class Operator:
    """An operator of `ops`. Arguments are given at construction, and DataNodes as arguments at the call."""

    _function = staticmethod(lambda *inputs, **arguments: None)

    def __init__(self, *, device="cpu", **arguments):
        check_device(type(self).__name__, device)
        self._device = device
        self._arguments = arguments

    @property
    def device(self) -> str:
        return self._device

    def __call__(self, *inputs, **arguments):
        given = {**self._arguments, **arguments}
        if self._device != "cpu":
            given["device"] = self._device
        return self._function(*inputs, **given)

    def __repr__(self):
        return f"{type(self).__name__}(device={self._device!r})"


class ExternalSource:
    """Data that a source gives, or feed_input: see fn.external_source. Each call makes another node."""

    def __init__(self, source=None, num_outputs=None, **arguments):
        self._given = {"source": source, "num_outputs": num_outputs, **arguments}

    def __call__(self, *, source=None, name=None, layout=None, **arguments) -> DataNode | list[DataNode]:
        given = dict(self._given, **arguments)
        for key, each in (("source", source), ("name", name), ("layout", layout)):
            if each is not None:
                given[key] = each
        return external_source(**given)


def class_of(name: str) -> type:
    """The class of the operator `name` of fn."""
    function = OPERATORS[name]
    own = name.rpartition(".")[2]
    return type(camel(own), (Operator,), {"__doc__": function.__doc__, "_function": staticmethod(function)})
