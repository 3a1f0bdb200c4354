"""DALI's external_source: data of a function, an iterable or calls of feed_input."""

from __future__ import annotations

import builtins
import collections
import inspect
from collections.abc import Iterator

import numpy as _np

from ..._core import asnumpy
from ...errors import TypeError, ValueError
from .nodes import PICTURE_DTYPES, DataNode, Root, current_pipeline
from .operators import check_device
from .types import BatchInfo, SampleInfo, dtype_of


class Feed(Root):
    """One output of an external source: batches wait here until the pipeline takes them."""

    def __init__(self, label, dtype=None, ndim=None, layout="", copies=True, repeats_last=False):
        super().__init__("external_source", label)
        self.dtype, self.layout, self.copies = dtype, layout or "", copies
        self.ndim = ndim if ndim is not None or not self.layout else len(self.layout)
        self.repeats_last = repeats_last
        self.waiting: collections.deque = collections.deque()
        self._last: list | None = None
        self.has_source = False
        self.feeder: Feeder | None = None
        if ndim is not None and self.layout and ndim != len(self.layout):
            raise ValueError(
                f"external_source: ndim is {ndim}, but the layout {self.layout!r} has {len(self.layout)} axes"
            )

    def feed(self, data, layout=None) -> None:
        """A batch: an array whose first axis counts the samples, or a list of arrays. Raises ValueError and TypeError
        for data that is not what was declared."""
        if layout is not None and self.layout and layout != self.layout:
            raise ValueError(f"feed_input: the layout is {self.layout!r}, not {layout!r}")
        samples = [self._sample(each) for each in samples_of(data)]
        check_one_dtype(samples, f"external_source: {self.label!r}")
        self.waiting.append(samples)

    def _sample(self, given):
        if isinstance(given, (bytes, bytearray)):
            given = _np.frombuffer(given, dtype=_np.uint8)
        array = _host_array(given)
        if array.dtype.kind not in "biufcV":
            raise TypeError(f"external_source: {self.label!r}: a sample is an array of numbers or bytes, not {given!r}")
        if self.dtype is not None and array.dtype != self.dtype:
            raise TypeError(f"external_source: {self.label!r} has dtype {self.dtype}, but the data has {array.dtype}")
        if self.ndim is not None and array.ndim != self.ndim:
            raise ValueError(f"external_source: {self.label!r} has {self.ndim} axes, but the data has {array.ndim}")
        shares = array is given or array.base is not None
        return array.copy() if self.copies and shares else array

    def take(self) -> list:
        """The oldest batch. Raises RuntimeError where none was fed."""
        if self.waiting:
            self._last = self.waiting.popleft()
        elif not self.repeats_last or self._last is None:
            raise RuntimeError(f"external_source: there is no data for {self.label!r}; call feed_input before run()")
        assert self._last is not None
        return self._last


def check_one_dtype(samples, what: str) -> None:
    """Raises TypeError for samples of unlike dtypes."""
    dtypes = list(dict.fromkeys(str(each.dtype) for each in samples))
    if len(dtypes) > 1:
        raise TypeError(f"{what}: the samples of a batch have one dtype, not {', '.join(dtypes)}")


def _host_array(given):
    """An array on the CPU: NumPy's, or over the memory of another library's."""
    if isinstance(given, _np.ndarray):
        return given
    if hasattr(given, "detach"):  # torch
        given = given.detach().cpu()
    elif hasattr(given, "get") and hasattr(given, "__cuda_array_interface__"):
        given = given.get()
    try:
        return _np.asarray(given)
    except Exception:
        return asnumpy(given)


def samples_of(data) -> list:
    """The samples of a batch."""
    if isinstance(data, (list, tuple)):
        return list(data)
    if hasattr(data, "ndim") and data.ndim == 0 or not hasattr(data, "__len__"):
        raise TypeError(f"external_source: a batch is an array or a list of arrays, not {type(data).__name__}")
    return [data[k] for k in range(len(data))]


def _accepts_argument(callback) -> bool:
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (builtins.ValueError, builtins.TypeError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(each.kind in (*positional, inspect.Parameter.VAR_POSITIONAL) for each in parameters)


_CYCLES = {None: "no", False: "no", "no": "no", True: "quiet", "quiet": "quiet", "raise": "raise"}


class Feeder:
    """Asks a source for batches and feeds the outputs with them."""

    def __init__(self, source, feeds: list[Feed], has_outputs: bool, batch: bool, cycle, batch_info: bool):
        if cycle not in _CYCLES:
            raise ValueError(f"external_source: cycle is 'no', 'quiet', 'raise' or a bool, not {cycle!r}")
        self.feeds, self._has_outputs, self._batch, self._batch_info = feeds, has_outputs, batch, batch_info
        self._cycle = _CYCLES[cycle]
        self._source = source
        self._iterator: Iterator | None = None
        self._begins_again = inspect.isgeneratorfunction(source) or hasattr(source, "__iter__") or not callable(source)
        if not self._begins_again and cycle is not None and self._cycle != "no":
            raise ValueError(
                "external_source: cycle goes with an iterable or a generator function, not with a callable"
            )
        if inspect.isgenerator(source) and self._cycle != "no":
            raise ValueError("external_source: a generator cannot begin again; pass the generator function for cycle")
        self.takes_argument = not self._begins_again and _accepts_argument(source)
        self.iteration = self._samples = 0
        if not callable(source) and not hasattr(source, "__iter__") and not hasattr(source, "__getitem__"):
            raise TypeError(
                f"external_source: a source is a callable, an iterable or a generator function, not {source!r}"
            )

    def new_epoch(self) -> None:
        """Counts of iterations and samples begin again."""
        self.iteration = self._samples = 0

    def close(self) -> None:
        """Ends a generator, whose `finally` runs now."""
        iterator, self._iterator = self._iterator, None
        if inspect.isgenerator(iterator) and not iterator.gi_running:
            iterator.close()

    def resume(self, iteration: int, size: int) -> None:
        """Goes on behind so many batches. A source that is not told numbers goes on where it is."""
        if self.takes_argument:
            self.iteration, self._samples = iteration, iteration * size

    def batch(self, size: int, epoch: int) -> list:
        """The data of each output. Raises StopIteration at the end."""
        if self._batch:
            item = self._next(BatchInfo(self.iteration, epoch) if self._batch_info else self.iteration)
            data = self._outputs_of(item)
        else:
            rows = []
            for k in range(size):
                row = self._next(SampleInfo(self._samples + k, k, self.iteration, epoch))
                rows.append(self._outputs_of(row))
            self._samples += size
            data = [list(column) for column in zip(*rows, strict=True)]
        self.iteration += 1
        for each in data:
            count = len(samples_of(each))
            if count > size:
                raise ValueError(f"external_source: the source gave {count} samples, more than the batch size, {size}")
        return data

    def feed(self, data: list) -> None:
        for feed, each in zip(self.feeds, data, strict=True):
            feed.feed(each)

    def _outputs_of(self, item) -> list:
        if not self._has_outputs:
            return [item]
        if not isinstance(item, (list, tuple)) or len(item) != len(self.feeds):
            count = len(item) if isinstance(item, (list, tuple)) else 1
            raise ValueError(f"external_source: the source gave {count} outputs, not {len(self.feeds)}")
        return list(item)

    def _next(self, argument):
        if not self._begins_again:
            return self._source(argument) if self.takes_argument else self._source()
        if self._iterator is None:
            self._iterator = self._begun()
        try:
            return next(self._iterator)
        except StopIteration:
            if self._cycle == "no":
                raise
            self._iterator = self._begun()
            if self._cycle == "raise":
                raise
            return next(self._iterator)

    def _begun(self) -> Iterator:
        source = self._source
        return iter(source() if inspect.isgeneratorfunction(source) else source)


def _listed(given, count: int) -> list:
    if isinstance(given, (list, tuple)):
        return [*given, *[None] * (count - len(given))]
    return [given] * count


_ACCEPTED = frozenset(
    "cuda_stream use_copy_kernel blocking prefetch_queue_depth bytes_per_sample_hint preserve".split()
)


def external_source(
    source=None, num_outputs=None, *, cycle=None, name=None, device="cpu", layout=None, dtype=None, ndim=None,
    no_copy=None, batch=None, batch_info=False, parallel=False, repeat_last=False, **hints,
):  # fmt: skip
    """Data that `source` (a callable, an iterable or a generator function) gives, or calls of feed_input.

    Arguments are DALI's. `parallel` asks for single samples unless batch=True; the source is called by the thread that
    runs the pipeline. num_outputs: the source gives a tuple for as many nodes, which are returned as a list.
    """
    check_device("external_source", device)
    for key in hints:
        if key not in _ACCEPTED:
            raise TypeError(f"external_source: there is no argument {key!r}")
    count = 1 if num_outputs is None else int(num_outputs)
    if count < 1:
        raise ValueError(f"external_source: num_outputs is at least 1, not {count}")
    if source is not None and repeat_last:
        raise ValueError("external_source: repeat_last goes with feed_input, not with a source")
    if source is None and cycle is not None:
        raise ValueError("external_source: cycle goes with a source")
    if batch is None:
        batch = not parallel
    copies = not (no_copy or parallel)
    feeds, nodes = [], []
    for k, (axes, kind, rank) in enumerate(zip(_listed(layout, count), _listed(dtype, count), _listed(ndim, count),
                                               strict=True)):  # fmt: skip
        label = name if name is None or num_outputs is None else f"{name}[{k}]"
        made = dtype_of(kind, "external_source")
        feed = Feed(label, made, rank, axes, copies, repeat_last)
        feeds.append(feed)
        is_picture = made in PICTURE_DTYPES and feed.layout in ("HWC", "CHW", "HW")
        on = "gpu" if device in ("gpu", "mixed") else "cpu"
        nodes.append(DataNode(feed, device=on, layout=feed.layout, dtype=made, picture=is_picture))
    pipeline = current_pipeline()
    feeder = None
    if source is not None:
        feeder = Feeder(source, feeds, num_outputs is not None, bool(batch), cycle, bool(batch_info))
        for feed in feeds:
            feed.has_source = True
    if pipeline is not None:
        pipeline._add_external(feeds, feeder)
    for feed in feeds:
        feed.feeder = feeder
    return nodes if num_outputs is not None else nodes[0]
