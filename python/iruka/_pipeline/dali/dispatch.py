"""Which of the two constructors of Pipeline a call means."""

from __future__ import annotations

import functools
from collections.abc import Callable

_makers: list[Callable] = []


def graph_maker(make):
    """Declares what makes a Pipeline one of DALI's: make(pipeline) changes its class."""
    _makers.append(make)
    return make


def or_graph(construct):
    """Pipeline's constructor, which hands the calls in DALI's form to GraphPipeline: those whose first argument is a
    batch size, or that have neither a source nor stages."""

    @functools.wraps(construct)
    def start(self, *arguments, **named):
        source = arguments[0] if arguments else named.get("source")
        if isinstance(source, int) or (source is None and "stages" not in named and named):
            _makers[0](self)
            return self._construct_graph(*arguments, **named)
        return construct(self, *arguments, **named)

    return start
