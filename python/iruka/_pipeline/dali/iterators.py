"""DALI's iterators over one or several pipelines, as dictionaries of arrays."""

from __future__ import annotations

import abc
import contextlib
import enum
import math
import warnings
from collections.abc import Sequence

from ...errors import TypeError, ValueError
from ..checks import integer
from .tensors import TensorList


class LastBatchPolicy(enum.Enum):
    """What happens to samples that do not fill a batch at the end of an epoch: the batch is filled by repeated samples
    or those of the next epoch, left out, or shorter than the others."""

    FILL = 0
    DROP = 1
    PARTIAL = 2


_RESETS = {False: False, None: False, "no": False, True: True, "yes": True}


class Epochs:
    """Which batches of a stream of samples are an epoch, and how many of a batch's samples belong to it.

    Shards of a reader have unlike sizes and move on each epoch, so that a pipeline may be ahead in its next shard:
    `_ahead` counts these samples for each shard. `_counter` counts the samples of each pipeline in this epoch; with a
    given size, those of all pipelines.
    """

    _CHANGING = ("counter", "size", "_shards", "_ahead", "_parts")

    def __init__(self, policy: LastBatchPolicy, batch_size: int, pipelines: int, size: int, is_padded: bool):
        self.policy, self.batch_size, self.pipelines = policy, batch_size, pipelines
        self.size, self.is_padded = size, is_padded
        self.counter = 0
        self._shards: list[int] | None = None  # sizes of shards, from here on None without a reader

    def read(self, metas: list[dict]) -> None:
        """Takes the size of an epoch from what the readers say. Raises ValueError for unlike ones."""
        for key, what in (
            ("epoch_size", "the number of files"), ("number_of_shards", "num_shards"),
            ("pad_last_batch", "pad_last_batch"), ("stick_to_shard", "stick_to_shard"),
        ):  # fmt: skip
            if len({meta[key] for meta in metas}) > 1:
                raise ValueError(f"iterator: the readers of the pipelines have unlike {what}")
        meta = metas[0]
        samples, shards = meta["epoch_size"], meta["number_of_shards"]
        self.is_padded, self._sticks = bool(meta["pad_last_batch"]), bool(meta["stick_to_shard"])
        self._parts = [meta["shard_id"] for meta in metas]
        edges = [samples * k // shards for k in range(shards + 1)]
        self._initial = [after - before for before, after in zip(edges, edges[1:], strict=False)]
        self._shards = list(self._initial)
        self._ahead = [0] * shards
        if self.policy is LastBatchPolicy.DROP:
            self.size = samples // shards
        elif self.is_padded:
            self.size = meta["epoch_size_padded"] // shards
        else:
            self.size = self._whole_batches(-(-samples // shards))

    def _whole_batches(self, samples: int) -> int:
        return -(-samples // self.batch_size) * self.batch_size

    def state(self) -> dict:
        """What restore() takes."""
        return {name: getattr(self, name, None) for name in self._CHANGING}

    def restore(self, state: dict) -> None:
        for name in self._CHANGING:
            setattr(self, name, state[name])

    @property
    def is_over(self) -> bool:
        return 0 < self.size <= self.counter

    @property
    def _step(self) -> int:
        return self.batch_size if self._shards is not None else self.batch_size * self.pipelines

    def would_drop(self) -> bool:
        """Whether the next batch is left out, because an epoch ends in it."""
        if self.policy is not LastBatchPolicy.DROP:
            return False
        after = self.counter + self._step
        if self._shards is None:
            return after > self.size
        return any(ahead + after > shard for ahead, shard in zip(self._ahead, self._shards, strict=True))

    def advance(self) -> None:
        """One batch of each pipeline was taken."""
        self.counter += self._step

    def kept(self) -> list[int] | None:
        """How many samples of the last batch of each pipeline belong to the epoch; None: all."""
        if self.policy is not LastBatchPolicy.PARTIAL:
            return None
        if self._shards is not None:
            kept = [self.batch_size - (self.counter - self._initial[part]) for part in self._parts]
            return [max(0, min(each, self.batch_size)) for each in kept] if min(kept) < self.batch_size else None
        if self.size <= 0 or self.counter <= self.size:
            return None
        left = self._step - (self.counter - self.size)
        return [max(0, min(left - k * self.batch_size, self.batch_size)) for k in range(self.pipelines)]

    def begin(self) -> None:
        """The next epoch."""
        runs_on = self.policy is LastBatchPolicy.FILL and not self.is_padded
        if not runs_on:
            self.counter = 0
        elif self._shards is None:
            self.counter = self.counter % self.size if self.size > 0 else 0
        else:
            read = self.counter - min(self._ahead)
            self._ahead = [each + read - shard for each, shard in zip(self._ahead, self._shards, strict=True)]
            self.counter = min(self._ahead)
        if self._shards is None:
            return
        if not self._sticks:
            self._parts = [(part + 1) % len(self._shards) for part in self._parts]
        if runs_on:
            self._resize()

    def _resize(self) -> None:
        shards = self._shards
        assert shards is not None
        if not self._sticks:
            shards = shards[-1:] + shards[:-1]
        left = [shard - ahead for shard, ahead in zip(shards, self._ahead, strict=True)]
        self.size = self._whole_batches(max(left))
        if self.size == 0:  # all that the epoch has was read in the one before
            self._ahead, self.counter = [0] * len(shards), 0
            shards = shards[-1:] + shards[:-1]
            self.size = self._whole_batches(max(shards))
        self._shards = shards


class BaseIterator(abc.ABC):
    """Batches of one or several pipelines, until an epoch is over. What the arguments mean is DALI's:

    size: samples of an epoch, of all pipelines together; -1: until a source of the pipeline ends.
    reader_name: the reader that says how large an epoch is, in the place of size and last_batch_padded.
    auto_reset: True: the next epoch begins with the end of one; else reset() or iter() begins it.
    last_batch_policy: see LastBatchPolicy. fill_last_batch=False is an old name of PARTIAL, True of FILL.
    last_batch_padded: the source repeats its last sample to fill a batch; else it goes on with the next epoch.
    prepare_first_batch: the first batch is made at once.
    """

    def __init__(
        self,
        pipelines,
        size: int = -1,
        reader_name: str | None = None,
        auto_reset=False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        self._pipelines = list(pipelines) if isinstance(pipelines, (list, tuple)) else [pipelines]
        if not self._pipelines:
            raise ValueError("iterator: there is no pipeline")
        for pipeline in self._pipelines:
            if not hasattr(pipeline, "max_batch_size"):
                raise TypeError(f"iterator: a pipeline is one that pipeline_def or DALI's form makes, not {pipeline!r}")
        size = integer(size, "iterator: size", -(2**63))
        self.batch_size = self._pipelines[0].max_batch_size
        if any(each.max_batch_size != self.batch_size for each in self._pipelines):
            raise ValueError("iterator: the pipelines have unlike batch sizes")
        if auto_reset not in _RESETS:
            raise ValueError(f"iterator: auto_reset is 'yes', 'no' or a bool, not {auto_reset!r}")
        self._resets = _RESETS[auto_reset]
        if fill_last_batch is not None:
            warnings.warn("fill_last_batch is an old name: use last_batch_policy", DeprecationWarning, stacklevel=3)
            last_batch_policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
        if not isinstance(last_batch_policy, LastBatchPolicy):
            raise ValueError(f"iterator: last_batch_policy is a LastBatchPolicy, not {last_batch_policy!r}")
        self._check(size, reader_name, last_batch_padded)
        if size < 0 and not reader_name:
            last_batch_policy, last_batch_padded = LastBatchPolicy.FILL, False
        self._epochs = Epochs(last_batch_policy, self.batch_size, len(self._pipelines), size, last_batch_padded)
        self._reader_name = reader_name
        for pipeline in self._pipelines:
            pipeline.build()
        if reader_name:
            self._epochs.read([pipeline.reader_meta(reader_name) for pipeline in self._pipelines])
        self._restore()
        self._first: list | None = None
        self._was_asked = False
        self._initial = self._checkpoints() if self._pipelines[0]._has_checkpoints else None
        if prepare_first_batch:
            try:
                self._first = self._next()
            except StopIteration:
                if self._pipelines[0].is_restored_from_checkpoint:  # the end of an epoch
                    return
                raise RuntimeError(
                    "iterator: there is no batch in the first epoch; with last_batch_policy=DROP the batch size must "
                    "not exceed the shard's size, and a source must give a batch"
                ) from None

    def _restore(self) -> None:
        """Goes on where the pipelines' checkpoints were made. Raises ValueError for those of unlike iterators."""
        restored = [pipeline._restored for pipeline in self._pipelines]
        states = [each.iterator for each in restored if each is not None and each.iterator is not None]
        if not states:
            if any(restored):
                warnings.warn("iterator: pipe.checkpoint() does not say where the iterator is; iterator.checkpoints() "
                              "does", stacklevel=4)  # fmt: skip
            return
        if len(states) != len(restored) or any(state != states[0] for state in states):
            raise ValueError("iterator: the checkpoints of the pipelines are of unlike iterators")
        self._epochs.restore(states[0])

    def checkpoints(self) -> list[bytes]:
        """Where the iterator is: a checkpoint for each pipeline, made behind the last batch that was taken. Raises
        ValueError for pipelines without enable_checkpointing=True."""
        return self._checkpoints() if self._was_asked or self._initial is None else self._initial

    def _checkpoints(self) -> list[bytes]:
        return [pipeline._checkpoint(self._epochs.state()) for pipeline in self._pipelines]

    def _check(self, size: int, reader_name, last_batch_padded) -> None:
        if size == 0:
            raise ValueError("iterator: size is a number of samples, or -1, not 0")
        if reader_name and (size > 0 or last_batch_padded):
            raise ValueError("iterator: with reader_name, size and last_batch_padded are the reader's")
        if size < 0 and not reader_name and len(self._pipelines) > 1:
            raise ValueError("iterator: several pipelines need a size or a reader_name")

    @property
    def size(self) -> int:
        """Samples of the epoch."""
        return self._epochs.size

    def __len__(self) -> int:
        """Batches of the epoch. Raises TypeError where the source alone knows its end."""
        if self.size < 0:
            raise TypeError("iterator: without size and reader_name the length is not known")
        step = self.batch_size if self._reader_name else self.batch_size * len(self._pipelines)
        is_drop = self._epochs.policy is LastBatchPolicy.DROP
        return self.size // step if is_drop else math.ceil(self.size / step)

    def __iter__(self):
        epochs = self._epochs
        if self._was_asked and epochs.counter != 0 and (epochs.size < 0 or epochs.is_over or epochs.would_drop()):
            self.reset()
        return self

    def __next__(self):
        self._was_asked = True
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return self._next()

    def next(self):
        """The next batch."""
        return self.__next__()

    def _next(self):
        epochs = self._epochs
        if epochs.is_over or epochs.would_drop():
            self._end()
        outputs = self._run()
        epochs.advance()
        return self._given(self._cut(outputs, epochs.kept()))

    def _run(self) -> list:
        try:
            outputs = [pipeline.run() for pipeline in self._pipelines]
        except StopIteration:
            if self.size < 0 and self._resets:
                self.reset()
            raise
        if self._reader_name or self.size > 0:
            lengths = {len(each) for batch in outputs for each in batch}
            if lengths != {self.batch_size}:
                raise ValueError(
                    f"iterator: with size or reader_name a batch has {self.batch_size} samples, not {sorted(lengths)}"
                )
        return outputs

    def _cut(self, outputs: list, kept: list[int] | None) -> list:
        if kept is None:
            return outputs
        pairs = list(zip(outputs, kept, strict=True))
        if not self._reader_name:
            pairs = [(batch, count) for batch, count in pairs if count > 0]
        return [tuple(each.head(count) for each in batch) if count < self.batch_size else batch
                for batch, count in pairs]  # fmt: skip

    def _end(self):
        if self._resets:
            self.reset()
        raise StopIteration

    def reset(self) -> None:
        """Begins the next epoch where one is over; else nothing but a warning."""
        epochs = self._epochs
        if epochs.would_drop() and not epochs.is_over:
            self._first = None
            with contextlib.suppress(StopIteration):  # the source has ended before
                self._run()  # the rest of the epoch, which is left out
            epochs.advance()
        if not epochs.is_over and epochs.size > 0:
            warnings.warn("iterator: reset() in the middle of an epoch does nothing", RuntimeWarning, stacklevel=2)
            return
        epochs.begin()
        for pipeline in self._pipelines:
            pipeline.reset()

    @abc.abstractmethod
    def _given(self, outputs: list):
        """The batch as the iterator gives it, of a tuple of outputs for each pipeline."""


class DictionaryIterator(BaseIterator):
    """A list of dictionaries, one for each pipeline: names of output_map and arrays of the library."""

    @abc.abstractmethod
    def _converted(self, tensors: TensorList):
        """A batch as an array of the library."""

    def __init__(
        self, pipelines, output_map: Sequence[str], size=-1, reader_name=None, auto_reset=False, fill_last_batch=None,
        dynamic_shape=False, last_batch_padded=False, last_batch_policy=LastBatchPolicy.FILL, prepare_first_batch=True,
    ):  # fmt: skip
        if len(set(output_map)) != len(output_map):
            raise ValueError(f"iterator: the names of output_map must differ, but are {list(output_map)}")
        self.output_map = list(output_map)
        super().__init__(
            pipelines, size, reader_name, auto_reset, fill_last_batch, last_batch_padded, last_batch_policy,
            prepare_first_batch,
        )  # fmt: skip

    def _given(self, outputs: list):
        made = []
        for batch in outputs:
            if len(batch) != len(self.output_map):
                raise ValueError(f"iterator: output_map names {len(self.output_map)} outputs of {len(batch)}")
            made.append({name: self._converted(each) for name, each in zip(self.output_map, batch, strict=True)})
        return made


def classification(kind: type[DictionaryIterator]) -> type[DictionaryIterator]:
    """The iterator whose outputs are named 'data' and 'label'."""

    class Classification(kind):  # type: ignore[misc, valid-type]
        def __init__(self, pipelines, size=-1, reader_name=None, auto_reset=False, fill_last_batch=None,
                     dynamic_shape=False, last_batch_padded=False, last_batch_policy=LastBatchPolicy.FILL,
                     prepare_first_batch=True):  # fmt: skip
            super().__init__(
                pipelines, ["data", "label"], size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
                last_batch_padded, last_batch_policy, prepare_first_batch,
            )  # fmt: skip

    Classification.__name__ = Classification.__qualname__ = "DALIClassificationIterator"
    Classification.__module__ = kind.__module__
    Classification.__doc__ = "As DALIGenericIterator, with the outputs 'data' and 'label'."
    return Classification
