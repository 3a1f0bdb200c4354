"""Which of the two constructors of Pipeline a call means."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable

from ..._image.elsewhere import refuse_unknown

_makers: list[Callable] = []


def graph_maker(make):
    """Declares what makes a Pipeline one of DALI's: make(pipeline) changes its class."""
    _makers.append(make)
    return make


#: What users of DataLoader look for, and where it is.
_ELSEWHERE = {
    "dataset": "it is `source`, the first argument",
    "transform": "it is `stages`, the second argument",
    "num_workers": "the library's threads make batches: iruka.set_num_threads(n), and `threads` for fewer of them",
    "drop_last": "it is last_batch='drop'",
    "pin_memory": "device='cuda' makes batches on the GPU",
    "collate_fn": "fields of equal shapes become one array, others a list of arrays",
    "prefetch_factor": "it is `prefetch`, in batches",
    "generator": "it is `seed`, of everything random",
    "worker_init_fn": "it is `seed`, of everything random",
    "persistent_workers": "threads always stay between epochs",
    "sampler": "it is shuffle=True, num_shards and shard_id, or a source whose __getitem__ chooses",
    "batch_sampler": "it is shuffle=True, num_shards and shard_id, or a source whose __getitem__ chooses",
    "timeout": "there are no processes that could be lost",
    "num_threads": "it is `threads`",
    "device_id": "it is device='cuda:0'",
}


def check_keywords(given: Iterable[str], construct: Callable) -> None:
    """Raises TypeError for an argument that a constructor does not have, and says what stands in its place."""
    known = list(inspect.signature(construct).parameters)[1:]
    refuse_unknown("Pipeline", given, known, _ELSEWHERE)


def or_graph(construct):
    """Pipeline's constructor, which hands the calls in DALI's form to GraphPipeline: those whose first argument is a
    batch size, or that have neither a source nor stages."""

    @functools.wraps(construct)
    def start(self, *arguments, **named):
        source = arguments[0] if arguments else named.get("source")
        if isinstance(source, int) or (source is None and "stages" not in named and named):
            _makers[0](self)
            check_keywords(named, self._construct_graph.__func__)
            return self._construct_graph(*arguments, **named)
        check_keywords(named, construct)
        return construct(self, *arguments, **named)

    return start
