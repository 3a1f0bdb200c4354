"""The pipeline: batches of a source's samples, each of which goes through stages on its own."""

from __future__ import annotations

import atexit
import contextlib
import warnings
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as _np

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .batches import Batches, BatchInfo, batch_of, batch_type
from .checks import boolean, integer, one_of
from .dali.dispatch import or_graph
from .graph import build_graph, names_of
from .profile import Failure, Profile, Report
from .sources.base import SequentialSource

_core_pipeline = _core._pipeline
_alive: weakref.WeakSet = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """Threads that call Python end before the interpreter does."""
    for pipeline in list(_alive):
        with contextlib.suppress(ValueError):  # a daemon thread takes a batch
            pipeline.close()


def _to_torch(array: ndarray):
    import torch

    return torch.from_dlpack(array)


def _to_jax(array: ndarray):
    import jax

    return jax.dlpack.from_dlpack(array)


def _to_numpy(array: ndarray):
    return array.get() if array.device.name != "cpu" else _np.asarray(array)


_OUTPUTS = {"iruka": lambda array: array, "numpy": _to_numpy, "torch": _to_torch, "jax": _to_jax}


def _integer(value, name: str, least: int, most: int = 2**63 - 1) -> int:
    return integer(value, f"Pipeline: {name}", least, most)


def _places_of(names, fields: list[str]) -> list[int]:
    for name in (names := names_of(names, "Pipeline: cpu_fields")):
        if name not in fields:
            raise ValueError(f"Pipeline: there is no field {name!r} to stay on the CPU; there are {', '.join(fields)}")
    return [fields.index(name) for name in names]


class Pipeline:
    """Batches of a source's samples, made ahead by the library's threads, on a CPU or a GPU.

    source: a folder of classes, files, arrays, a dataset, an iterable or what the functions of iruka.pipeline return:
        see make_source.
    stages: what happens to the first field of a sample: a list of stages of iruka.image and iruka.pipeline, chains and
        functions; or a mapping from fields to such lists.
    batch_size: samples of a batch.
    shuffle: each epoch has the samples in another order, drawn over the whole source.
    seed: of everything random. A sample follows from (seed, epoch, index) alone: batches do not depend on the number of
        threads, on where a run was resumed, or on other samples.
    device: where the batches are: 'cpu', 'cuda', a device. None: the CPU.
    cpu_fields: fields that are made on the CPU and stay there whatever the device is, such as labels.
    num_shards, shard_id: this pipeline takes part shard_id of num_shards, which are disjoint and together the whole.
        The parts move by one each epoch, unless `stick_to_shard`, which also shuffles within the part.
    pad_last_batch: all shards have equally many batches, in which the last sample is repeated (a neighbour's where a
        shard has no sample).
    last_batch: 'partial' makes a smaller last batch, 'drop' leaves it out, 'fill' repeats the last sample.
    threads: at most so many of the library's threads (iruka.set_num_threads) for a batch; while its last samples are
        made, the next one begins. 1: never two samples at a time. None: all.
    prefetch: batches made before they are asked for, which bounds the memory; 0 makes each when it is asked for. None:
        2, and 4 on a GPU.
    on_error: what a sample that cannot be made does: 'raise' its error in place of its batch, 'skip' leaves the sample
        out of its batch, 'replace' takes another sample at random. failures and report() tell of them.
    output: the arrays' library: 'iruka', 'numpy', 'torch' or 'jax', which share their memory.
    progress: shows a bar over the batches of an epoch, where tqdm is installed.

    `for batch in pipeline` is an epoch; each batch is a named tuple of the fields. len(pipeline) is the number of its
    batches, pipeline[i] the sample i as it is in this epoch. state_dict() and load_state_dict() resume at any batch.
    `with pipeline:` stops the threads at the end. One thread at a time takes batches, resets and closes, and no
    function or source of the pipeline itself; others get ValueError. In C++: iruka/pipeline.h.

    Raises ValueError and TypeError for arguments and stages that no sample could pass.
    """

    _told_last: dict | None = None  # what the core said of itself when it was closed

    if TYPE_CHECKING:  # the methods of DALI's form, which the call alone decides

        def __getattr__(self, name: str) -> Any: ...

    if TYPE_CHECKING:  # overloads that typing knew of would keep the module alive until the interpreter ends

        @overload
        def __init__(
            self,
            source: Any,
            stages: Any = (),
            batch_size: int = 1,
            *,
            shuffle: bool = False,
            seed: int = 0,
            device: Any = None,
            cpu_fields: Sequence[str] = (),
            num_shards: int = 1,
            shard_id: int = 0,
            stick_to_shard: bool = False,
            pad_last_batch: bool = False,
            last_batch: Literal["partial", "drop", "fill"] = "partial",
            threads: int | None = None,
            prefetch: int | None = None,
            on_error: Literal["raise", "skip", "replace"] = "raise",
            output: Literal["iruka", "numpy", "torch", "jax"] = "iruka",
            progress: bool = False,
        ) -> None: ...
        @overload  # DALI's
        def __init__(
            self,
            batch_size: int = -1,
            num_threads: int = -1,
            device_id: int | None = -1,
            seed: int | None = -1,
            *arguments: Any,
            source: None = None,
            **named: Any,
        ) -> None: ...

    @or_graph
    def __init__(
        self,
        source,
        stages=(),
        batch_size: int = 1,
        *,
        shuffle: bool = False,
        seed: int = 0,
        device=None,
        cpu_fields: Sequence[str] = (),
        num_shards: int = 1,
        shard_id: int = 0,
        stick_to_shard: bool = False,
        pad_last_batch: bool = False,
        last_batch: str = "partial",
        threads: int | None = None,
        prefetch: int | None = None,
        on_error: str = "raise",
        output: str = "iruka",
        progress: bool = False,
    ):
        from .sources import make_source

        self._convert = _OUTPUTS[one_of(output, "Pipeline: output", _OUTPUTS)]
        if isinstance(source, Pipeline):  # whose len() counts batches, and whose elements are samples
            raise TypeError(
                "Pipeline: a Pipeline is no source of another one: give its source, pipe.source, and all stages "
                "in one list"
            )
        self.source = make_source(source)
        graph, self.fields = build_graph(list(self.source.fields), stages, device)
        self._names = tuple(self.fields)
        batch_type(self._names)  # refuses names that no batch has
        self._options = {
            "batch_size": _integer(batch_size, "batch_size", 1),
            "shuffle": boolean(shuffle, "Pipeline: shuffle"),
            "seed": _integer(seed, "seed", 0, 2**64 - 1),
            "device": device,
            "cpu_outputs": _places_of(cpu_fields, self.fields),
            "shard": _integer(shard_id, "shard_id", 0),
            "shards": _integer(num_shards, "num_shards", 1),
            "stick_to_shard": boolean(stick_to_shard, "Pipeline: stick_to_shard"),
            "pad_last_batch": boolean(pad_last_batch, "Pipeline: pad_last_batch"),
            "last_batch": one_of(last_batch, "Pipeline: last_batch", ("partial", "drop", "fill")),
            "threads": 0 if threads is None else _integer(threads, "threads", 1),
            "prefetch": None if prefetch is None else _integer(prefetch, "prefetch", 0),
            "on_error": one_of(on_error, "Pipeline: on_error", ("raise", "skip", "replace")),
            "serial": False,
            "gives_empty": False,
        }
        self._pipeline = _core_pipeline.Pipeline(self.source._core_source(), graph, self._options)
        self._progress = boolean(progress, "Pipeline: progress")
        self._is_resumed = False
        self._turn = 0  # of the iterator that may take batches
        self._has_warned = False
        _alive.add(self)
        self._warn_of_few_samples()

    @property
    def batch_size(self) -> int:
        """Samples of a batch."""
        return self._options["batch_size"]

    def _core(self):
        if self._pipeline is None:
            raise ValueError("Pipeline: it was closed")
        return self._pipeline

    def _warn_of_few_samples(self) -> None:
        samples, shards, batch_size = self._core().samples(), self._options["shards"], self._options["batch_size"]
        reason = ""
        if samples == -1 or self._options["pad_last_batch"]:
            return
        if samples < shards:
            reason = f"{samples} samples are fewer than num_shards={shards}"
        elif self._options["last_batch"] == "drop" and samples // shards < batch_size:
            reason = f"a shard has {samples // shards} samples, fewer than batch_size={batch_size}"
        if reason:
            warnings.warn(f"Pipeline: {reason}, so that epochs may have no batch", RuntimeWarning, stacklevel=4)

    __reversed__ = None  # batches are counted by len(), samples by pipe[i]

    def __len__(self) -> int:
        """The batches of this epoch; pipeline[i], however, is a sample. Raises TypeError for a source of unknown
        length."""
        batches = self._core().batches()
        if batches is None:
            raise TypeError(f"Pipeline: {self.source!r} has no length")
        return batches

    def __iter__(self) -> Batches:
        """The batches of an epoch: what is left of the one that load_state_dict() named, else a whole one. Ends the
        epoch of an earlier iterator, which raises RuntimeError if it is asked for more."""
        core = self._core()
        if not self._is_resumed:
            core.reset()
        self._is_resumed = False
        self._turn += 1
        return Batches(self, self._turn)

    def _current_epoch(self) -> int:
        return self._core().state()["epoch"]

    def _made(self):
        """The core's next batch, or None at the end of an epoch."""
        before = self._core().failure_count()
        try:
            return self._core().next()  # no name for it: the error that it keeps has this frame in its traceback
        except StopIteration as error:  # which would look like the end
            self._name_sample(error, before)
            raise RuntimeError("Pipeline: a function or the source raised StopIteration for a sample") from error
        except BaseException as error:
            self._name_sample(error, before)
            raise

    def _next(self):
        made = self._made()
        if made is None:
            return None
        outputs, indices, padded, epoch, number = made
        values = (
            [self._convert(each) for each in value] if isinstance(value, list) else self._convert(value)
            for value in outputs
        )
        return batch_of(self._names, values, BatchInfo(tuple(indices), epoch, number, padded))

    def _name_sample(self, error: BaseException, before: int) -> None:
        """Adds to an error which sample and stage it is about. `before`: as many failures are older."""
        for failure in self.failures[before:]:
            if failure.message in (str(error), f"{type(error).__name__}: {error}"):
                error.add_note(f"Pipeline: {failure.sample}, in {failure.stage} (epoch {failure.epoch})")
                return

    def __getitem__(self, index: int) -> Any:
        """The sample `index` of the source as it is in this epoch, made by the calling thread. Raises IndexError."""
        core = self._core()
        number = _integer(index, "an index", -(2**63))
        number = number + core.samples() if number < 0 else number
        epoch = self._current_epoch()
        values = map(self._convert, core.sample(epoch, number))
        return batch_of(self._names, values, BatchInfo((number,), epoch, None, 0))

    def reset(self) -> None:
        """Ends the epoch, if one has begun: the next batch is the first one of the next epoch."""
        self._core().reset()
        self._is_resumed = False

    def state_dict(self) -> dict:
        """Where the pipeline is, small and free of arrays: load_state_dict() of a pipeline made alike goes on with the
        batch that would have come next."""
        return {**self._told("state"), "samples": self._told("samples"), **self._signature()}

    def _signature(self) -> dict:
        names = ("batch_size", "shuffle", "shard", "shards", "stick_to_shard", "pad_last_batch", "last_batch")
        return {name: self._options[name] for name in names}

    def load_state_dict(self, state: dict) -> None:
        """Goes on where state_dict() was taken. Raises ValueError for the state of a pipeline with other samples,
        batches, shards or seed."""
        own = self.state_dict()
        if not isinstance(state, Mapping):
            raise TypeError(f"load_state_dict: the state is a dict that state_dict() gave, not {state!r}")
        for name in own:
            if name not in state:
                raise ValueError(f"load_state_dict: the state has no {name!r}")
            if name not in ("epoch", "batch") and state[name] != own[name]:
                raise ValueError(
                    f"load_state_dict: the state is of a pipeline with {name} {state[name]!r}, not {own[name]!r}"
                )
        place = [integer(state[name], f"load_state_dict: {name}", 0) for name in ("epoch", "batch")]
        self._core().restore(state["seed"], *place)
        self._is_resumed = True
        self._turn += 1

    @property
    def failures(self) -> list[Failure]:
        """The samples that could not be made so far, at most 10,000."""
        return [Failure(*each) for each in self._told("failures")]

    def report(self) -> Report:
        """How many samples were made, failed, were replaced or skipped, and which."""
        return Report(self._told("profile")["samples"], self._told("failure_count"), self.failures)

    def profile(self) -> Profile:
        """Where the time goes: print it."""
        return Profile.of(self._told("profile"), self._threads())

    def _threads(self) -> int:
        every = _core.get_num_threads()
        return min(self._options["threads"] or every, every)

    def _told(self, name: str):
        """What the core says of itself; when it was closed, what it said last."""
        if self._pipeline is None and self._told_last:
            return self._told_last[name]
        return getattr(self._core(), name)()

    def _leave(self) -> None:
        """The iterator of the epoch is gone, behind `break` for example."""
        if self._pipeline is not None and isinstance(self.source, SequentialSource):
            self.source._leave()

    def close(self) -> None:
        """Stops the threads. Batches stay as they are; the pipeline makes no more of them, but report(), profile() and
        state_dict() tell of those that it made."""
        if self._pipeline is not None:
            self._pipeline.stop()
            names = ("state", "samples", "profile", "failures", "failure_count")
            self._told_last = {name: getattr(self._pipeline, name)() for name in names}
            self._leave()
            self._pipeline = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("Pipeline: it has threads and is neither copied nor pickled; make another one of its source")

    def __repr__(self):
        return f"<Pipeline of {self.source!r}: {', '.join(self.fields)} in batches of {self.batch_size}>"
