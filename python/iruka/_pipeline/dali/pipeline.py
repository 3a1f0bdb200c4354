"""DALI's Pipeline: a graph of operators that is defined once and run batch after batch."""

from __future__ import annotations

import collections
import functools
import inspect
import pathlib
import secrets
import threading
import warnings
import weakref

from ..._core import asnumpy, get_num_threads
from ..._numpy.conversion import asarray
from ...errors import TypeError, ValueError
from ..checks import integer
from ..pipeline import Pipeline, _alive
from .checkpoints import Checkpoint
from .external import Feed, check_one_dtype
from .nodes import (
    DataNode,
    Lowering,
    Operation,
    ScalarConstant,
    check_branches,
    current_pipeline,
    roots_of,
    scopes,
)
from .readers import FileReader
from .rewriting import converted
from .tensors import TensorList
from .types import CPU_ONLY_DEVICE_ID, UnsupportedError
from .values import constant_node

_STAGES = "iruka.pipeline.Pipeline(source, stages, ...)"


def become_graph(pipeline: Pipeline) -> None:
    """Makes a pipeline a GraphPipeline; methods of its own class go before those."""
    if not isinstance(pipeline, GraphPipeline):
        pipeline.__class__ = _graph_class(type(pipeline))


def _graph_class(kind: type) -> type:
    bases = (GraphPipeline,) if kind is Pipeline else (kind, GraphPipeline)
    return type(kind.__name__, bases, {"__module__": kind.__module__, "__doc__": kind.__doc__})


class BatchQueue:
    """The source of the core's pipeline: batches that the caller's thread has fed, or that readers give. The core's
    thread waits here for the caller, until the epoch is over or the queue is closed."""

    def __init__(self, readers: list[FileReader] | None):
        self._readers = readers  # the only roots, where nothing is fed
        self._ready: collections.deque = collections.deque()
        self._changed = threading.Condition()
        self._is_closed = self._is_over = False
        self._passed: collections.deque = collections.deque()

    def pass_over(self, counts: list[int]) -> None:
        """The core goes on behind so many batches, which were given before a checkpoint: it asks for them, and gets
        samples of nothing."""
        self._passed.extend(counts)

    def put(self, samples: list[tuple]) -> None:
        with self._changed:
            self._ready.append(samples)
            self._changed.notify_all()

    def end_epoch(self) -> None:
        """Nothing comes before begin_epoch()."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def begin_epoch(self) -> None:
        """Called while the core asks for nothing."""
        self._is_over = False
        self._passed.clear()

    def close(self) -> None:
        """Nothing comes any more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def next(self, count: int) -> list[tuple]:
        """The samples of the next batch; none once the epoch is over or the queue is closed."""
        if self._passed:
            return [()] * self._passed.popleft()
        if self._readers is not None:
            return joined([reader.next(count) for reader in self._readers])
        with self._changed:
            while not (self._ready or self._is_closed or self._is_over):
                self._changed.wait()
            return self._ready.popleft() if self._ready else []

    @property
    def is_closed(self) -> bool:
        return self._is_closed


def joined(columns: list[list[tuple]]) -> list[tuple]:
    """The tuples of each sample, joined."""
    return [tuple(value for part in parts for value in part) for parts in zip(*columns, strict=True)]


class GraphPipeline(Pipeline):
    """What a Pipeline is under DALI's constructor, Pipeline(batch_size, num_threads, device_id, seed=...)."""

    def _construct_graph(
        self, batch_size=-1, num_threads=-1, device_id=-1, seed=-1, exec_pipelined=True, prefetch_queue_depth=2,
        exec_async=True, bytes_per_sample=0, set_affinity=False, max_streams=None, default_cuda_stream_priority=0, *,
        enable_memory_stats=False, enable_checkpointing=False, checkpoint=None, py_num_workers=1,
        py_start_method="fork", py_callback_pickler=None, output_dtype=None, output_ndim=None, exec_dynamic=None,
        experimental_exec_dynamic=None, max_batch_size=None, on_error="raise", stream_policy=None, concurrency=None,
    ):  # fmt: skip
        """DALI's arguments. What schedules DALI's own executor (exec_*, set_affinity, max_streams, py_*) is accepted
        and changes nothing. on_error: as for iruka.pipeline.Pipeline."""
        batch_size = batch_size if max_batch_size is None else max_batch_size
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"Pipeline: batch_size is at least 1, not {batch_size!r}")
        self._batch_size = batch_size
        self._num_threads = num_threads
        self._device_id = None if device_id in (None, CPU_ONLY_DEVICE_ID) else max(int(device_id), 0)
        is_drawn = seed is None or integer(seed, "Pipeline: seed", -(2**63), 2**64 - 1) < 0
        self._seed = secrets.randbits(32) if is_drawn else int(seed)
        self._has_checkpoints = bool(enable_checkpointing)
        self._restored = None if checkpoint is None else Checkpoint.loaded(checkpoint)
        if self._restored is not None:
            if self._restored.batch_size != batch_size:
                raise ValueError(
                    f"Pipeline: the checkpoint is of batches of {self._restored.batch_size}, not {batch_size}"
                )
            self._seed = self._restored.seed
        self._depth = _depth(prefetch_queue_depth)
        self._on_error = on_error
        self._output_nodes: list[DataNode] | None = None
        self._feeds: list[Feed] = []
        self._feeders: list = []
        self._pipeline = None
        self._is_closed = False
        self._fed = self._taken = self._scheduled = self._epoch = 0
        self._is_over = False
        # The samples of each batch that was fed and not taken.
        self._waiting: collections.deque = collections.deque()
        self._iteration = self._samples = self._last = 0  # batches of this epoch, samples of all, of the last batch

    # What a pipeline of a source and stages has, and a graph has not.

    def __len__(self):
        raise TypeError(
            "Pipeline: readers have no end here; epoch_size() counts samples, an iterator of iruka.plugin batches"
        )

    def __iter__(self):
        raise TypeError("Pipeline: call run(), or iterate over an iterator of iruka.plugin")

    def __getitem__(self, index):
        raise UnsupportedError(f"Pipeline: single samples are of {_STAGES}")

    def state_dict(self):
        """Raises UnsupportedError."""
        raise UnsupportedError(f"Pipeline: checkpoint() resumes in DALI's names; state_dict() is of {_STAGES}")

    def load_state_dict(self, state):
        """Raises UnsupportedError."""
        raise UnsupportedError(f"Pipeline: checkpoint= resumes in DALI's names; load_state_dict() is of {_STAGES}")

    def _core(self):
        if self._pipeline is None and not self._is_closed:
            raise ValueError("Pipeline: it was not built yet; run() and build() do so")
        return super()._core()

    def _threads(self) -> int:
        every = get_num_threads()
        return min(max(self._num_threads or 0, 0) or every, every)

    def close(self) -> None:
        """Stops the threads."""
        if self._pipeline is not None:
            self._queue.close()
        self._is_closed = True
        super().close()

    def _leave(self) -> None:
        for feeder in self._feeders:
            feeder.close()

    def __repr__(self):
        return f"<Pipeline in DALI's names, in batches of {self._batch_size}>"

    # The graph.

    def define_graph(self):
        """Overridden by subclasses: returns the outputs, one DataNode or a tuple."""
        raise NotImplementedError(
            "Pipeline: define_graph() is not overridden, and neither set_outputs() nor @pipeline_def gave outputs"
        )

    def iter_setup(self):
        """Overridden by subclasses that feed inputs by hand: called before each batch is made."""

    def set_outputs(self, *nodes):
        """The outputs of the pipeline; numbers and arrays become constants."""
        made: list[DataNode] = []
        for node in nodes:
            if isinstance(node, (list, tuple)):
                raise TypeError("Pipeline: an output is a DataNode, not a list; return the nodes one by one")
            if isinstance(node, (str, bytes, dict, set)) or node is None:
                raise TypeError(f"Pipeline: an output is a DataNode, a number or an array, not {node!r}")
            if isinstance(node, ScalarConstant):
                node = constant_node(node.value, node.dtype)
            made.append(node if isinstance(node, DataNode) else constant_node(node))
        check_branches("Pipeline", made, ())
        self._output_nodes = made

    def __enter__(self):
        scopes().append(self)
        return self

    def __exit__(self, *error):
        scopes().pop()
        return False

    @staticmethod
    def current():
        """The pipeline whose graph is being defined, or None."""
        return current_pipeline()

    @staticmethod
    def push_current(pipeline):
        """Begins the definition of a graph; pop_current() ends it."""
        pipeline.__enter__()

    @staticmethod
    def pop_current():
        scopes().pop()

    def add_sink(self, node):
        """Accepted; every output is named by set_outputs() or define_graph()."""

    def _add_external(self, feeds: list[Feed], feeder) -> None:
        self._feeds.extend(feeds)
        if feeder is not None:
            self._feeders.append(feeder)

    def build(self) -> None:
        """Makes the graph. run() does it at the first call."""
        if self._pipeline is not None:
            return
        if self._is_closed:
            raise ValueError("Pipeline: it was closed")
        if self._output_nodes is None:
            with self:
                outputs = self.define_graph()
            self.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else (outputs,)))
        assert self._output_nodes is not None
        self._roots = self._prepare_roots()
        lowering = Lowering(self._output_nodes)
        self._reads_alone = bool(self._roots) and all(isinstance(root, FileReader) for root in self._roots)
        self._queue = BatchQueue([each for each in self._roots if isinstance(each, FileReader)]
                                 if self._reads_alone else None)  # fmt: skip
        core = lowering.core
        source = core.sequential_source(lowering.inputs, self._queue.next, lambda epoch: None)
        self._pipeline = core.Pipeline(source, lowering.graph, self._core_options())
        _alive.add(self)
        self._resume()
        # The core's thread may wait for a batch; it must be released before the core's pipeline goes.
        weakref.finalize(self, self._queue.close)

    def _prepare_roots(self) -> list:
        assert self._output_nodes is not None
        roots = roots_of(self._output_nodes)
        operations = _operations_of(self._output_nodes)
        self._readers = [each for each in roots if isinstance(each, FileReader)]
        for number, reader in enumerate(self._readers):
            reader.seed = self._seed if reader.own_seed is None else reader.own_seed
            reader.gives_bytes = _is_read_otherwise(reader, operations, self._output_nodes)
            if reader.label.startswith("__"):
                reader.label = f"__readers.file_{number}"
        known = set(self._feeds)
        for root in roots:
            if isinstance(root, Feed) and root not in known:  # made outside of the pipeline's scope
                self._add_external([root], None if root.feeder in self._feeders else root.feeder)
        return roots

    # Checkpoints.

    def _resume(self) -> None:
        """Goes on where the checkpoint was made, if there is one."""
        unknown = [feeder.feeds[0].label for feeder in self._feeders if not feeder.takes_argument]
        if self._has_checkpoints and unknown:
            warnings.warn(
                f"Pipeline: a checkpoint does not say where the sources of {unknown} are; a callable that takes the "
                "number of a batch, a BatchInfo or a SampleInfo goes on by itself",
                stacklevel=4,
            )
        at = self._restored
        if at is None:
            return
        self._epoch, self._iteration, self._samples, self._last = at.epoch, at.iteration, at.samples, at.last
        for reader in self._readers:
            reader.seek(at.samples, self._batch_size)
        for feeder in self._feeders:
            feeder.resume(at.iteration, self._batch_size)
        if at.core_batch:
            self._queue.pass_over([self._batch_size] * (at.core_batch - 1) + [at.last])
        self._core().restore(self._seed, at.core_epoch, at.core_batch)

    def checkpoint(self, filename=None) -> bytes:
        """Where the pipeline is, for Pipeline(..., checkpoint=): the batches that come next are the same there, bit for
        bit. Also written to a file of this name. Raises ValueError without enable_checkpointing=True."""
        self.build()
        made = self._checkpoint(None)
        if filename is not None:
            pathlib.Path(filename).write_bytes(made)
        return made

    def _checkpoint(self, iterator: dict | None) -> bytes:
        if not self._has_checkpoints:
            raise ValueError("Pipeline: checkpoint() needs a pipeline with enable_checkpointing=True")
        core = self._core().state()
        samples = core["batch"] * self._batch_size if self._reads_alone else self._samples
        return Checkpoint(
            self._seed, self._batch_size, core["epoch"], core["batch"], self._last, self._epoch, self._iteration,
            samples, iterator,
        ).dumped()  # fmt: skip

    def _core_options(self) -> dict:
        assert self._output_nodes is not None
        on_gpu = _uses_gpu(self._output_nodes)
        if on_gpu and self._device_id is None:
            raise ValueError("Pipeline: operators on the GPU need a device_id, but it is None")
        return {
            "batch_size": self._batch_size,
            "shuffle": False,
            "seed": self._seed,
            "shard": 0,
            "shards": 1,
            "stick_to_shard": False,
            "pad_last_batch": False,
            "last_batch": "partial",
            "device": f"cuda:{self._device_id}" if on_gpu else None,
            "cpu_outputs": [k for k, node in enumerate(self._output_nodes) if _stays_on_cpu(node)],
            "threads": max(self._num_threads or 0, 0),
            "prefetch": self._depth,
            "on_error": self._on_error,
            "serial": False,
            "gives_empty": not self._reads_alone,  # so that more batches are fed
        }

    # Feeding.

    def feed_input(self, data_node, data, layout=None, cuda_stream=None, use_copy_kernel=False):
        """The next batch of an external source without a source of its own: an array whose first axis counts the
        samples, or a list of arrays. Raises KeyError for a name that there is not, ValueError for wrong data."""
        if self._pipeline is None and not self._feeds and self._output_nodes is None:
            self.build()
        self._feed_of(data_node).feed(data, layout)

    def _feed_of(self, data_node) -> Feed:
        if isinstance(data_node, DataNode):
            if isinstance(data_node.operation, Feed):
                return data_node.operation
            raise TypeError(f"feed_input: {data_node.name!r} is no external source")
        if not isinstance(data_node, str):
            raise TypeError(f"feed_input: the input is a DataNode or its name, not {type(data_node).__name__}")
        self.build()
        for feed in self._feeds:
            if feed.label == data_node:
                return feed
        raise KeyError(
            f"feed_input: there is no external source {data_node!r}; there are {[f.label for f in self._feeds]}"
        )

    def _feed_step(self) -> None:
        """Feeds one batch. Raises StopIteration at the end of an epoch."""
        data = []
        over = False
        for feeder in self._feeders:
            try:
                data.append(feeder.batch(self._batch_size, self._epoch))
            except StopIteration:
                feeder.new_epoch()
                over = True
        if over:
            raise StopIteration
        self.iter_setup()
        for feeder, each in zip(self._feeders, data, strict=True):
            feeder.feed(each)
        for feed in self._feeds:
            if feed not in self._roots:  # no output depends on it
                feed.waiting.clear()
        taken = {feed: feed.take() for feed in self._feeds if feed in self._roots}
        count = min(map(len, taken.values()), default=self._batch_size)
        if any(len(each) != count for each in taken.values()):
            lengths = {feed.label: len(each) for feed, each in taken.items()}
            raise ValueError(f"Pipeline: the inputs have unlike numbers of samples: {lengths}")
        if not 1 <= count <= self._batch_size:
            raise ValueError(f"Pipeline: a batch has 1 to {self._batch_size} samples, not {count}")
        columns = []
        for root in self._roots:
            columns.append([(each,) for each in taken[root]] if isinstance(root, Feed) else root.next(count))
        self._queue.put(joined(columns) if columns else [()] * count)
        self._waiting.append(count)
        self._fed += 1

    def _feed_ahead(self, needed: int) -> None:
        """Feeds the batches that are needed and as many more as are prefetched, until the epoch is over. What is fed by
        hand, without iter_setup(), is taken as far as it is there."""
        if self._reads_alone:
            return
        by_hand = self._is_fed_by_hand()
        while not self._is_over and self._fed - self._taken < needed + self._depth:
            if by_hand and self._fed - self._taken >= needed and not self._has_data():
                return
            try:
                self._feed_step()
            except StopIteration:
                self._is_over = True
                self._queue.end_epoch()

    def _is_fed_by_hand(self) -> bool:
        overridden = type(self).iter_setup is not GraphPipeline.iter_setup
        return not overridden and any(feed.feeder is None for feed in self._feeds if feed in self._roots)

    def _has_data(self) -> bool:
        return all(feed.waiting for feed in self._feeds if feed in self._roots and feed.feeder is None)

    # Running.

    def run(self, cuda_stream=None, /, **inputs) -> tuple[TensorList, ...]:
        """The next batch: a TensorList for each output. Inputs by name are fed first. Raises StopIteration at the end
        of an epoch of external sources; reset() begins the next one. Readers have no end."""
        self.build()
        for name, data in inputs.items():
            self.feed_input(name, data)
        self.schedule_run()
        return self.share_outputs()

    def schedule_run(self) -> None:
        """Begins a batch, which share_outputs() takes."""
        self.build()
        self._feed_ahead(self._scheduled + 1)
        self._scheduled += 1

    def share_outputs(self, cuda_stream=None) -> tuple[TensorList, ...]:
        """The oldest batch that was begun. Raises StopIteration where an epoch is over."""
        if self._scheduled == 0:
            raise StopIteration
        while True:
            if not self._reads_alone and self._fed == self._taken:
                self._scheduled = 0
                raise StopIteration
            outputs = self._next_of_core()
            if outputs:
                self._scheduled -= 1
                return self._tensors(outputs)
            self._feed_again()

    def _next_of_core(self) -> list:
        """The outputs of the next batch; none where all its samples were left out."""
        batch = None
        while batch is None:  # the end of an epoch of the core, behind a batch that is not full
            if self._queue.is_closed:
                raise StopIteration
            place = self._core().state()
            try:
                batch = self._made()
            except BaseException:
                if self._core().state() != place:  # else the batch is still there: it was interrupted
                    self._scheduled -= 1
                    self._note_taken()
                raise
        self._note_taken()
        return batch[0]

    def _note_taken(self) -> None:
        """The core has passed a batch."""
        self._taken += 1
        self._last = self._batch_size if self._reads_alone else self._waiting.popleft()
        self._iteration += 1
        self._samples += self._last

    def _feed_again(self) -> None:
        """Feeds a batch in place of one that was left out. Raises RuntimeError where it was fed by hand."""
        if self._is_fed_by_hand() and self._fed == self._taken and not self._has_data():
            self._scheduled -= 1
            raise RuntimeError("Pipeline: all samples of the batch that was fed were left out; report() says why")
        self._feed_ahead(self._scheduled)

    def outputs(self, cuda_stream=None) -> tuple[TensorList, ...]:
        """As share_outputs()."""
        return self.share_outputs(cuda_stream)

    def release_outputs(self) -> None:
        """Nothing: batches belong to the caller."""

    def _tensors(self, outputs) -> tuple[TensorList, ...]:
        made: list[TensorList] = []
        for node, data in zip(self._output_nodes or (), outputs, strict=True):
            if node.batch_step is not None:
                samples = node.batch_step([asnumpy(each) for each in data])
                data = [asarray(each) for each in samples]
                tensors = TensorList(data, node.layout)
                data = tensors.as_tensor() if tensors.is_dense_tensor() else data
            if isinstance(data, list):
                check_one_dtype(data, f"Pipeline: the output {node.name!r}")
            tensors = TensorList(data, node.layout)
            made.append(tensors.on("cpu" if node.device == "cpu" else f"cuda:{self._device_id}"))
        return tuple(made)

    def reset(self) -> None:
        """Begins the next epoch, where the last one is over; else nothing."""
        if self._is_over and self._fed == self._taken:
            self._is_over = False
            self._epoch += 1
            self._iteration = 0
            core = self._core().state()
            # Ends the core's threads, which may ask for more.
            self._core().restore(self._seed, core["epoch"] + (core["batch"] > 0), 0)
            self._queue.begin_epoch()
            for feeder in self._feeders:
                feeder.new_epoch()

    def empty(self) -> bool:
        """Whether no batch is begun and not taken."""
        return self._scheduled == 0

    # What a pipeline says of itself.

    def reader_meta(self, name=None) -> dict:
        """Of a reader: epoch_size, epoch_size_padded, number_of_shards, shard_id, pad_last_batch, stick_to_shard; of
        all readers by name where no name is given. Raises KeyError for another name."""
        self.build()
        metas = {reader.label: reader.meta() for reader in self._readers}
        if name is None:
            return metas
        if name not in metas:
            raise KeyError(f"reader_meta: there is no reader {name!r}; there are {list(metas)}")
        return metas[name]

    def epoch_size(self, name=None):
        """Samples of a reader in an epoch, over all shards; of all readers by name where no name is given."""
        if name is not None:
            return self.reader_meta(name)["epoch_size"]
        return {label: meta["epoch_size"] for label, meta in self.reader_meta().items()}

    @property
    def max_batch_size(self) -> int:
        return self._batch_size

    @property
    def batch_size(self) -> int:
        return self._batch_size

    @property
    def num_threads(self) -> int:
        return self._num_threads

    @property
    def device_id(self) -> int | None:
        return self._device_id

    @property
    def seed(self) -> int:
        return self._seed

    @property
    def prefetch_queue_depth(self) -> int:
        return self._depth

    @property
    def num_outputs(self) -> int:
        self.build()
        return len(self._output_nodes or ())

    @property
    def is_restored_from_checkpoint(self) -> bool:
        return self._restored is not None


def _depth(given) -> int:
    if isinstance(given, dict):
        given = max(given.get("cpu_size", 1), given.get("gpu_size", 1))
    if not isinstance(given, int) or given < 1:
        raise ValueError(f"Pipeline: prefetch_queue_depth is at least 1, not {given!r}")
    return given


def _operations_of(nodes) -> list[Operation]:
    seen: dict = {}
    waiting = [node.operation for node in nodes]
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen[operation] = None
            waiting.extend(node.operation for node in operation.inputs)
    return list(seen)


def _is_read_otherwise(reader: FileReader, operations, outputs) -> bool:
    """Whether something other than a decoder takes the files of a reader."""
    takers = [op for op in operations for node in op.inputs if node.operation is reader and node.output == 0]
    return any(not op.name.startswith("decoders.") for op in takers) or any(
        node.operation is reader and node.output == 0 for node in outputs
    )


def _stays_on_cpu(node: DataNode) -> bool:
    """Whether an output has no use for the GPU before its batch is there."""
    return node.made_on == "cpu" and (node.device == "cpu" or node.batch_step is not None)


def _uses_gpu(outputs) -> bool:
    return any(node.device == "gpu" for node in outputs) or any(
        node.device == "gpu" for operation in _operations_of(outputs) for node in operation.inputs
    )


def pipeline_def(function=None, /, *, enable_conditionals=False, **pipeline_arguments):
    """See iruka.pipeline."""
    if function is None:
        return lambda function: _pipeline_factory(function, pipeline_arguments, enable_conditionals)
    return _pipeline_factory(function, pipeline_arguments, enable_conditionals)


_PIPELINE_ARGUMENTS = frozenset(inspect.signature(GraphPipeline._construct_graph).parameters) - {"self"}


def _pipeline_factory(function, pipeline_arguments: dict, has_conditionals: bool):
    own = inspect.signature(function).parameters

    @functools.wraps(function)
    def create(*arguments, **named):
        options = {key: each for key, each in named.items() if key in _PIPELINE_ARGUMENTS and key not in own}
        given = {key: each for key, each in named.items() if key not in options}
        conditional = (
            has_conditionals if "enable_conditionals" in own else given.pop("enable_conditionals", has_conditionals)
        )
        define = converted(function) if conditional else function
        pipeline = Pipeline(**{"batch_size": -1, **pipeline_arguments, **options})
        with pipeline:
            outputs = define(*arguments, **given)
        if outputs is None:
            outputs = ()
        pipeline.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else (outputs,)))
        return pipeline

    return create
