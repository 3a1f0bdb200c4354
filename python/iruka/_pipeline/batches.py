"""The batches of a pipeline, and the iterator over those of an epoch."""

from __future__ import annotations

import builtins
import collections
import dataclasses
import functools
import keyword
import warnings
from typing import Any

from ..errors import ValueError


@dataclasses.dataclass(frozen=True)
class BatchInfo:
    """indices: the samples' numbers in the source. epoch, number: which batch of which epoch it is (None for a sample
    alone). padded: how many samples at the end repeat the last one."""

    indices: tuple[int, ...]
    epoch: int
    number: int | None
    padded: int


@functools.lru_cache(maxsize=256)
def batch_type(names: tuple[str, ...]) -> type:
    """A named tuple of the fields that also says which samples it holds."""
    fields = [
        name if name.isidentifier() and not keyword.iskeyword(name) else f"field_{k}" for k, name in enumerate(names)
    ]
    if "info" in fields:
        raise ValueError("Pipeline: batches have an attribute `info`, so that no field can have this name")
    base = collections.namedtuple("Batch", fields, rename=True)  # type: ignore[misc]

    class Batch(base):
        """The samples' fields: an array whose first axis counts the samples, or a list of arrays where shapes or dtypes
        differ; and `info`, a BatchInfo."""

        info: BatchInfo

        def __reduce__(self):
            return batch_of, (names, tuple(self), self.info)

    return Batch


def batch_of(names: tuple[str, ...], values, info: BatchInfo):
    """A batch of these fields and values."""
    batch = batch_type(names)(*values)
    batch.info = info
    return batch


class Batches:
    """An iterator over the batches of one epoch. The call behind an error goes on with the next batch."""

    def __init__(self, pipeline: Any, turn: int):
        self._pipeline = pipeline
        self._turn = turn  # which of the pipeline's iterators it is
        state = pipeline.state_dict()
        self._epoch = state["epoch"]
        self._failed_before = pipeline._core().failure_count()
        self._is_over = False
        self._given = 0
        self._bar = _bar(pipeline, state["batch"]) if pipeline._progress else None

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Any:
        if self._is_over:
            raise StopIteration
        self._check_turn()
        try:
            batch = self._pipeline._next()
        except builtins.Exception:
            self._is_over = self._pipeline._current_epoch() != self._epoch  # the source's own error ends its epoch
            raise
        if batch is None:
            self._end()
            raise StopIteration
        self._given += 1
        if self._bar is not None:
            self._bar.update()
        return batch

    def __del__(self):
        if getattr(self, "_given", 0) and not self._is_over and self._turn == self._pipeline._turn:
            self._pipeline._leave()

    def _check_turn(self) -> None:
        """Raises RuntimeError where another epoch has begun."""
        pipeline = self._pipeline
        if self._turn == pipeline._turn and self._epoch == pipeline._current_epoch():
            return
        self._is_over = True
        self._close_bar()
        is_reset = self._turn == pipeline._turn
        cause = "reset()" if is_reset else "a later iter() (a `for`, list(), next(iter())) or load_state_dict()"
        raise RuntimeError(
            f"Pipeline: {cause} ended epoch {self._epoch} of this iterator behind {self._given} batches: a pipeline "
            "has one epoch at a time; pipe[i] is a sample beside it, and a second Pipeline has epochs of its own"
        )

    def _end(self) -> None:
        self._is_over = True
        self._close_bar()
        pipeline = self._pipeline
        failed = pipeline._core().failure_count() - self._failed_before
        if self._given or not failed or pipeline._has_warned:
            return
        pipeline._has_warned = True
        last = pipeline.failures[-1]
        warnings.warn(
            f"Pipeline: all {failed} samples of epoch {self._epoch} failed, so that it has no batch; {last.sample} in "
            f"{last.stage}: {last.message}",
            RuntimeWarning,
            stacklevel=3,
        )

    def _close_bar(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _bar(pipeline: Any, batch: int) -> Any:
    """A bar over the batches of an epoch, or None where tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=pipeline._core().batches(), initial=batch, unit="batch")
