"""The pipeline: batches of a source's samples, each of which goes through stages on its own."""

from __future__ import annotations

import atexit
import collections
import contextlib
import dataclasses
import keyword
import weakref
from collections.abc import Sequence

import numpy as _np

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .dali.dispatch import or_graph
from .graph import build_graph, names_of
from .profile import Failure, Profile, Report

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


@dataclasses.dataclass(frozen=True)
class BatchInfo:
    """indices: the samples' numbers in the source. epoch, number: which batch of which epoch it is (None for a sample
    alone). padded: how many samples at the end repeat the last one."""

    indices: tuple[int, ...]
    epoch: int
    number: int | None
    padded: int


def _batch_type(names: list[str]) -> type:
    """A named tuple of the fields that also says which samples it holds."""
    fields = [
        name if name.isidentifier() and not keyword.iskeyword(name) else f"field_{k}" for k, name in enumerate(names)
    ]
    if "info" in fields:
        raise ValueError("Pipeline: batches have an attribute `info`, so that no field can have this name")
    base = collections.namedtuple("Batch", fields, rename=True)  # type: ignore[misc]

    class Batch(base):
        """The samples' fields: an array whose first axis counts the samples, or a list of arrays where shapes differ;
        and `info`, a BatchInfo."""

        info: BatchInfo

    return Batch


def _integer(value, name: str, least: int, most: int = 2**63 - 1) -> int:
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"Pipeline: {name} must be an integer, not {value!r}") from None
    if number < least:
        raise ValueError(f"Pipeline: {name} must be at least {least}, not {number}")
    if number > most:
        raise ValueError(f"Pipeline: {name} must be at most {most}, not {number}")
    return number


def _places_of(names, fields: list[str]) -> list[int]:
    for name in (names := names_of(names)):
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
    prefetch: batches made before they are asked for; 0 makes each when it is asked for.
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
        prefetch: int = 2,
        on_error: str = "raise",
        output: str = "iruka",
        progress: bool = False,
    ):
        from .sources import make_source

        if output not in _OUTPUTS:
            raise ValueError(f"Pipeline: output must be one of {', '.join(map(repr, _OUTPUTS))}, not {output!r}")
        self.source = make_source(source)
        self._convert = _OUTPUTS[output]
        graph, self.fields = build_graph(list(self.source.fields), stages, device)
        self._batch_type = _batch_type(self.fields)
        self._options = {
            "batch_size": _integer(batch_size, "batch_size", 1),
            "shuffle": bool(shuffle),
            "seed": _integer(seed, "seed", 0, 2**64 - 1),
            "device": device,
            "cpu_outputs": _places_of(cpu_fields, self.fields),
            "shard": _integer(shard_id, "shard_id", 0),
            "shards": _integer(num_shards, "num_shards", 1),
            "stick_to_shard": bool(stick_to_shard),
            "pad_last_batch": bool(pad_last_batch),
            "last_batch": last_batch,
            "threads": 0 if threads is None else _integer(threads, "threads", 1),
            "prefetch": _integer(prefetch, "prefetch", 0),
            "on_error": on_error,
            "serial": False,
        }
        self._pipeline = _core_pipeline.Pipeline(self.source._core_source(), graph, self._options)
        self._progress = progress
        self._is_resumed = False
        _alive.add(self)

    @property
    def batch_size(self) -> int:
        return self._options["batch_size"]

    def _core(self):
        if self._pipeline is None:
            raise ValueError("Pipeline: it was closed")
        return self._pipeline

    def __len__(self) -> int:
        """The batches of this epoch. Raises TypeError for a source of unknown length."""
        batches = self._core().batches()
        if batches is None:
            raise TypeError(f"Pipeline: {self.source!r} has no length")
        return batches

    def __iter__(self):
        """The batches of an epoch: what is left of the one that load_state_dict() named, else a whole one."""
        core = self._core()
        if not self._is_resumed:
            core.reset()
        self._is_resumed = False
        return self._with_bar(self._batches())

    def _batches(self):
        while (batch := self._next()) is not None:
            yield batch

    def _with_bar(self, batches):
        if not self._progress:
            return batches
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return batches
        return tqdm(batches, total=self._core().batches(), initial=self.state_dict()["batch"], unit="batch")

    def _next(self):
        try:
            made = self._core().next()  # no name for it: the error that it keeps has this frame in its traceback
        except BaseException as error:
            self._name_sample(error)
            raise
        if made is None:
            return None
        outputs, indices, padded, epoch, number = made
        batch = self._batch_type(
            *(
                [self._convert(each) for each in value] if isinstance(value, list) else self._convert(value)
                for value in outputs
            )
        )
        batch.info = BatchInfo(tuple(indices), epoch, number, padded)
        return batch

    def _name_sample(self, error: BaseException) -> None:
        """Adds to an error which sample and stage it is about."""
        for failure in reversed(self.failures):
            if failure.message in (str(error), f"{type(error).__name__}: {error}"):
                error.add_note(f"Pipeline: {failure.sample}, in {failure.stage} (epoch {failure.epoch})")
                return

    def __getitem__(self, index: int):
        """The sample `index` of the source as it is in this epoch, made by the calling thread. Raises IndexError."""
        core = self._core()
        number = _integer(index, "an index", -(2**63))
        number = number + core.samples() if number < 0 else number
        epoch = core.state()["epoch"]
        sample = self._batch_type(*map(self._convert, core.sample(epoch, number)))
        sample.info = BatchInfo((number,), epoch, None, 0)
        return sample

    def reset(self) -> None:
        """Ends the epoch, if one has begun: the next batch is the first one of the next epoch."""
        self._core().reset()
        self._is_resumed = False

    def state_dict(self) -> dict:
        """Where the pipeline is, small and free of arrays: load_state_dict() of a pipeline made alike goes on with the
        batch that would have come next."""
        return {**self._core().state(), "samples": self._core().samples(), **self._signature()}

    def _signature(self) -> dict:
        names = ("batch_size", "shuffle", "shard", "shards", "stick_to_shard", "pad_last_batch", "last_batch")
        return {name: self._options[name] for name in names}

    def load_state_dict(self, state: dict) -> None:
        """Goes on where state_dict() was taken. Raises ValueError for the state of a pipeline with other samples,
        batches, shards or seed."""
        own = self.state_dict()
        for name in own:
            if name not in state:
                raise ValueError(f"load_state_dict: the state has no {name!r}")
            if name not in ("epoch", "batch") and state[name] != own[name]:
                raise ValueError(
                    f"load_state_dict: the state is of a pipeline with {name} {state[name]}, not {own[name]}"
                )
        place = [_integer(state[name], f"load_state_dict: {name}", 0) for name in ("epoch", "batch")]
        self._core().restore(state["seed"], *place)
        self._is_resumed = True

    @property
    def failures(self) -> list[Failure]:
        """The samples that could not be made so far, at most 10,000."""
        return [Failure(*each) for each in self._core().failures()]

    def report(self) -> Report:
        """How many samples were made, failed, were replaced or skipped, and which."""
        profile = self._core().profile()
        return Report(profile["samples"], self._core().failure_count(), self.failures)

    def profile(self) -> Profile:
        """Where the time goes: print it."""
        return Profile.of(self._core().profile(), _core.get_num_threads())

    def close(self) -> None:
        """Stops the threads. Batches stay as they are; the pipeline makes no more of them."""
        if self._pipeline is not None:
            self._pipeline.stop()
            self._pipeline = None

    def __enter__(self):
        return self

    def __exit__(self, *exc) -> None:
        self.close()

    def __repr__(self):
        return f"<Pipeline of {self.source!r}: {', '.join(self.fields)} in batches of {self.batch_size}>"
