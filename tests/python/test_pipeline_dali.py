"""Pipelines in DALI's names: graphs, external sources, readers and what a run gives. Expected values follow from DALI's
documentation and are written out or computed with NumPy."""

import gc
import threading
import weakref

import numpy as np
import pytest

import iruka
from iruka import fn, ops, types
from iruka.pipeline import Pipeline, pipeline_def


def numbers(output):
    """The numbers of a batch of one-element samples."""
    return [int(np.asarray(each).ravel()[0]) for each in output]


def batches(pipe, count):
    return [numbers(pipe.run()[0]) for _ in range(count)]


def fed(source, batch_size=2, **options):
    """A pipeline of one external source."""

    @pipeline_def(batch_size=batch_size, num_threads=2, device_id=None)
    def make():
        return fn.external_source(source=source, **options)

    return make()


def rows(*batches):
    return [[np.int32([each]) for each in batch] for batch in batches]


@pytest.fixture
def files(tmp_path):
    """Ten files, whose only byte is their number."""
    paths = []
    for k in range(10):
        path = tmp_path / f"{k}.jpg"
        path.write_bytes(bytes([k]))
        paths.append(str(path))
    return paths


def reading(files, batch_size=4, **options):
    @pipeline_def(batch_size=batch_size, num_threads=2, device_id=None, seed=3)
    def make():
        contents, labels = fn.readers.file(files=files, name="reader", **options)
        return contents, labels

    return make()


# Graphs.


def test_subclass_with_define_graph():
    class Doubled(Pipeline):
        def __init__(self, batch_size):
            super().__init__(batch_size, 2, None, seed=12)
            self.source = ops.ExternalSource(source=rows([1, 2], [3, 4]))

        def define_graph(self):
            self.value = self.source()
            return self.value * 2, self.value

    pipe = Doubled(2)
    assert isinstance(pipe, Doubled)
    assert isinstance(pipe, Pipeline)
    doubled, value = pipe.run()
    assert (numbers(doubled), numbers(value)) == ([2, 4], [1, 2])
    assert (pipe.max_batch_size, pipe.batch_size, pipe.seed, pipe.device_id, pipe.num_outputs) == (2, 2, 12, None, 2)


def test_scope_and_set_outputs():
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, seed=1)
    with pipe:
        assert pipe.current() is pipe
        value = fn.external_source(source=rows([5, 6]), name="numbers")
        pipe.set_outputs(value, value + 1, np.float32([7, 8]))
    assert pipe.current() is None
    value, more, constant = pipe.run()
    assert (numbers(value), numbers(more)) == ([5, 6], [6, 7])
    np.testing.assert_array_equal(constant.as_array(), [[7, 8], [7, 8]])


def test_pipeline_def_takes_arguments_of_both():
    @pipeline_def(batch_size=2, device_id=None)
    def scaled(factor, shift=0, num_threads=None):
        return fn.external_source(source=rows([1, 2], [3, 4])) * factor + shift

    @pipeline_def
    def bare():
        return fn.external_source(source=rows([1], [3]))

    pipe = scaled(10, shift=5, seed=9)
    assert (pipe.seed, pipe.max_batch_size) == (9, 2)
    assert batches(pipe, 2) == [[15, 25], [35, 45]]
    assert scaled(1, batch_size=4).max_batch_size == 4
    assert batches(bare(batch_size=1, num_threads=1, device_id=None), 2) == [[1], [3]]


def test_all_arguments_of_dali_are_accepted():
    Pipeline(
        4, 2, 0, 12, True, 2, True, 0, False, -1, 0, enable_memory_stats=False, py_num_workers=2,
        py_start_method="spawn", exec_dynamic=True, output_dtype=[types.UINT8], output_ndim=[3],
    )  # fmt: skip
    Pipeline(max_batch_size=3, num_threads=1, device_id=types.CPU_ONLY_DEVICE_ID, prefetch_queue_depth={"cpu_size": 3})
    for arguments in ({"batch_size": 0}, {"batch_size": 2, "prefetch_queue_depth": 0}):
        with pytest.raises(ValueError, match="Pipeline"):
            Pipeline(num_threads=1, **arguments)


def test_the_constructors_of_a_source_and_of_dali_are_told_apart(files):
    with pytest.raises(NotImplementedError, match="define_graph"):
        Pipeline(2, 1, None).run()
    with pytest.raises(NotImplementedError, match=r"single samples"):
        Pipeline(2, 1, None)[0]
    with pytest.raises(TypeError, match="run"):
        iter(Pipeline(2, 1, None))


def test_nodes_refuse_what_no_graph_has():
    node = fn.external_source(source=rows([1]))
    with pytest.raises(TypeError, match="python_function"):
        bool(node > 0)
    with pytest.raises(TypeError, match="list"):
        iter(node)
    with pytest.raises(TypeError, match="no argument 'sizes'"):
        fn.resize(node, sizes=3)
    with pytest.raises(TypeError, match="DataNode"):
        fn.resize(np.zeros((3, 3)), size=3)
    with pytest.raises(TypeError, match="operand"):
        node + "text"


@pytest.mark.parametrize(
    ("name", "advice"),
    [("fn.mfcc", "audio"), ("fn.readers.tfrecord", "webdataset"), ("fn.noise.gaussian", "normal"),
     ("ops.GaussianBlur", "gaussian_filter"), ("ops.readers.Video", "video"), ("fn.slice", "index"),
     ("fn.no_such_operator", "python_function")],
)  # fmt: skip
def test_missing_names_say_what_to_use(name, advice):
    module, *path = name.split(".")
    place = {"fn": fn, "ops": ops}[module]
    with pytest.raises(AttributeError, match=advice):
        for each in path:
            place = getattr(place, each)
    assert not hasattr(fn, "mfcc")


def test_former_names():
    for now, before in ((ops.decoders.Image, ops.ImageDecoder), (ops.random.CoinFlip, ops.CoinFlip),
                        (ops.readers.File, ops.FileReader)):  # fmt: skip
        assert now._function is before._function
    assert fn.image_decoder is fn.decoders.image
    assert fn.uniform is fn.random.uniform


def test_types():
    assert types.to_numpy_type(types.FLOAT16) is np.float16
    assert types.to_dali_type("int64") is types.INT64
    assert types.Constant(3).uint8().dtype == np.uint8
    assert (types.NCHW, types.NHWC) == ("CHW", "HWC")
    assert int(types.INTERP_TRIANGULAR) == 4
    with pytest.raises(TypeError, match="DALIDataType"):
        types.to_numpy_type(99)


# What a run gives.


def test_tensor_lists():
    unlike = [[np.arange(3, dtype=np.float32), np.arange(5, dtype=np.float32)]]
    dense = fed(rows([1, 2])).run()[0]
    assert (len(dense), dense.is_dense_tensor(), dense.dtype) == (2, True, types.INT32)
    assert isinstance(dense[0], iruka.ndarray)
    assert isinstance(dense.as_tensor(), iruka.ndarray)
    assert (dense.as_array().tolist(), dense.at(1).tolist(), dense.shape()) == ([[1], [2]], [2], [(1,), (1,)])
    np.testing.assert_array_equal(np.asarray(dense), [[1], [2]])
    ragged = fed(unlike).run()[0]
    assert not ragged.is_dense_tensor()
    assert [each.shape for each in ragged] == [(3,), (5,)]
    with pytest.raises(ValueError, match=r"unlike shapes.*pad"):
        ragged.as_array()
    with pytest.raises(IndexError):
        dense[2]


def test_schedule_share_and_release():
    pipe = fed(rows([1, 2], [3, 4], [5, 6]))
    pipe.build()
    assert pipe.empty()
    pipe.schedule_run()
    pipe.schedule_run()
    assert not pipe.empty()
    assert numbers(pipe.share_outputs()[0]) == [1, 2]
    pipe.release_outputs()
    assert numbers(pipe.share_outputs()[0]) == [3, 4]
    assert pipe.empty()
    with pytest.raises(StopIteration):
        pipe.share_outputs()


# External sources.


def generator():
    yield from rows([1, 2], [3, 4])


class Collection:
    def __iter__(self):
        return generator()


SOURCES = {"list": lambda: rows([1, 2], [3, 4]), "generator function": lambda: generator, "collection": Collection,
           "generator": generator}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("cycle", [None, "no", False])
def test_a_source_ends_once(name, cycle):
    pipe = fed(SOURCES[name](), cycle=cycle)
    assert batches(pipe, 2) == [[1, 2], [3, 4]]
    for _ in range(2):
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.reset()


@pytest.mark.parametrize("name", ["list", "generator function", "collection"])
@pytest.mark.parametrize("cycle", [True, "quiet"])
def test_a_cycle_has_no_end(name, cycle):
    assert batches(fed(SOURCES[name](), cycle=cycle), 5) == [[1, 2], [3, 4], [1, 2], [3, 4], [1, 2]]


@pytest.mark.parametrize("name", ["list", "generator function", "collection"])
def test_a_cycle_that_raises_makes_epochs(name):
    pipe = fed(SOURCES[name](), cycle="raise")
    for _ in range(3):
        assert batches(pipe, 2) == [[1, 2], [3, 4]]
        for _ in range(2):  # also again, until it is reset
            with pytest.raises(StopIteration):
                pipe.run()
        pipe.reset()


def test_wrong_cycles():
    with pytest.raises(ValueError, match="generator function"):
        fed(generator(), cycle=True)
    with pytest.raises(ValueError, match="callable"):
        fed(lambda: rows([1])[0], cycle="quiet")
    with pytest.raises(ValueError, match="cycle is"):
        fed(generator, cycle="often")
    with pytest.raises(ValueError, match="goes with a source"):
        fed(None, cycle=True)


def test_callables_get_the_iteration():
    seen = []

    def source(iteration):
        seen.append(iteration)
        if iteration == 3:
            raise StopIteration
        return rows([iteration, 10 + iteration])[0]

    pipe = fed(source)
    for _ in range(2):  # the count begins again with an epoch
        assert batches(pipe, 3) == [[0, 10], [1, 11], [2, 12]]
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.reset()
    assert seen == [0, 1, 2, 3] * 2


def test_callables_get_infos():
    infos = []

    def batch_source(info):
        infos.append((info.iteration, info.epoch_idx))
        if info.iteration == 2:
            raise StopIteration
        return rows([info.iteration] * 2)[0]

    pipe = fed(batch_source, batch_info=True)
    batches(pipe, 2)
    with pytest.raises(StopIteration):
        pipe.run()
    pipe.reset()
    batches(pipe, 1)
    assert infos[:4] == [(0, 0), (1, 0), (2, 0), (0, 1)]


@pytest.mark.parametrize("options", [{"batch": False}, {"parallel": True}])
def test_single_samples(options):
    def source(info):
        if info.idx_in_epoch >= 7:  # the samples of a batch that is not full are lost
            raise StopIteration
        return np.int32([info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx])

    pipe = fed(source, batch_size=3, **options)
    for epoch in range(2):
        for k in range(2):
            expected = [[3 * k + j, j, k, epoch] for j in range(3)]
            np.testing.assert_array_equal(pipe.run()[0].as_array(), expected)
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.reset()


def test_several_outputs():
    def source(iteration):
        return np.int32([[1], [2]]) + iteration, np.float32([[0.5], [1.5]])

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def make():
        first, second = fn.external_source(source, num_outputs=2, dtype=[types.INT32, types.FLOAT], ndim=[1, 1])
        return second, first

    second, first = make().run()
    assert (numbers(first), second.as_array().tolist()) == ([1, 2], [[0.5], [1.5]])
    (only,) = ops.ExternalSource(lambda: (rows([1])[0],), 1)()
    assert isinstance(only, type(fn.shapes(only)))
    pipe = Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(*fn.external_source(lambda: ([1, 2], [1, 2], [1, 2]), num_outputs=2))
    with pytest.raises(ValueError, match="3 outputs, not 2"):
        pipe.run()


def test_declared_dtype_and_axes_are_checked():
    with pytest.raises(TypeError, match=r"dtype uint8.*int32"):
        fed(rows([1, 2]), dtype=types.UINT8).run()
    with pytest.raises(ValueError, match="3 axes, but the data has 1"):
        fed(rows([1, 2]), layout="HWC").run()
    with pytest.raises(ValueError, match="layout 'HWC' has 3"):
        fed(rows([1, 2]), layout="HWC", ndim=2)
    with pytest.raises(ValueError, match="more than the batch size, 2"):
        fed(rows([1, 2, 3])).run()


def test_batches_of_unlike_sizes():
    pipe = fed(rows([1, 2, 3], [4], [5, 6], [7, 8, 9]), batch_size=3)
    assert batches(pipe, 4) == [[1, 2, 3], [4], [5, 6], [7, 8, 9]]


@pytest.mark.parametrize("no_copy", [None, False, True])
def test_the_callers_memory(no_copy):
    """By default a caller may change an array once it was fed."""
    pipe = Pipeline(2, 1, None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.external_source(name="x", no_copy=no_copy))
    batch = np.int32([[1], [2]])
    pipe.feed_input("x", batch)
    batch[:] = 9
    assert numbers(pipe.run()[0]) == ([9, 9] if no_copy else [1, 2])


def test_feeding_by_hand():
    pipe = Pipeline(2, 1, None)
    with pipe:
        x, y = fn.external_source(name="x"), fn.external_source(name="y")
        pipe.set_outputs(x + y)
    with pytest.raises(RuntimeError, match=r"no data.*feed_input"):
        pipe.run()
    pipe = Pipeline(2, 1, None)
    with pipe:
        x, y = fn.external_source(name="x"), fn.external_source(name="y")
        pipe.set_outputs(x + y)
    for k in range(4):
        pipe.feed_input("x", np.int32([[k], [k + 1]]))
        pipe.feed_input(y, [np.int32([10]), np.int32([20])])
        assert numbers(pipe.run()[0]) == [10 + k, 21 + k]
    assert numbers(pipe.run(x=np.int32([[1], [2]]), y=np.int32([[3], [4]]))[0]) == [4, 6]
    with pytest.raises(KeyError, match="no external source 'z'"):
        pipe.feed_input("z", np.int32([[1]]))
    with pytest.raises(ValueError, match="unlike numbers of samples"):
        pipe.run(x=np.int32([[1], [2]]), y=np.int32([[3]]))


def test_inputs_that_no_output_needs():
    class Fed(Pipeline):
        def define_graph(self):
            self.used, self.unused = fn.external_source(), fn.external_source()
            return self.used

        def iter_setup(self):
            self.feed_input(self.used, np.int32([[1], [2]]))
            self.feed_input(self.unused, np.zeros((2, 1000)))

    pipe = Fed(2, 1, None)
    assert batches(pipe, 9) == [[1, 2]] * 9
    assert len(pipe.unused.operation.waiting) <= 1


def test_a_run_that_failed_leaves_nothing_behind():
    calls = []

    def source():
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError
        return np.int32([[len(calls)]] * 2)

    pipe = fed(source, batch_size=2)
    with pytest.raises(ZeroDivisionError):
        pipe.run()
    assert pipe.empty()
    assert batches(pipe, 3) == [[1, 1], [3, 3], [4, 4]]
    assert pipe.empty()


def test_repeat_last():
    pipe = Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(name="x") + fn.external_source(name="y", repeat_last=True))
    pipe.feed_input("y", np.int32([[10], [20]]))
    for k in range(3):
        pipe.feed_input("x", np.int32([[k], [k]]))
        assert numbers(pipe.run()[0]) == [10 + k, 20 + k]


def test_iter_setup():
    class Fed(Pipeline):
        calls = 0

        def define_graph(self):
            self.x = fn.external_source()
            return self.x

        def iter_setup(self):
            assert threading.current_thread() is threading.main_thread()
            if self.calls % 4 == 3:
                self.calls += 1
                raise StopIteration
            self.feed_input(self.x, np.int32([[self.calls], [self.calls]]))
            self.calls += 1

    pipe = Fed(2, 1, None)
    for epoch in range(3):
        assert batches(pipe, 3) == [[4 * epoch + k] * 2 for k in range(3)]
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.reset()


def test_errors_of_a_source_reach_the_caller():
    def source(iteration):
        if iteration == 1:
            raise ZeroDivisionError("of the source")
        return rows([iteration] * 2)[0]

    pipe = fed(source)
    with pytest.raises(ZeroDivisionError, match="of the source"):
        batches(pipe, 4)


def test_pipelines_go_with_their_last_reference():
    pipe = fed(rows(*[[k, k] for k in range(50)]), cycle=True)
    batches(pipe, 3)
    gone = weakref.ref(pipe)
    del pipe
    gc.collect()
    assert gone() is None
    pipe = fed(rows([1, 2]), cycle=True)
    pipe.run()
    pipe.close()
    with pytest.raises(ValueError, match="closed"):
        pipe.run()


# Readers.


def read(pipe, count):
    return [numbers(pipe.run()[1]) for _ in range(count)]


def test_a_reader_runs_on_without_end(files):
    pipe = reading(files)
    contents, labels = pipe.run()
    assert numbers(contents) == numbers(labels) == [0, 1, 2, 3]
    assert contents.dtype == types.UINT8
    assert (labels.dtype, labels.shape()) == (types.INT32, [(1,)] * 4)
    assert read(pipe, 3) == [[4, 5, 6, 7], [8, 9, 0, 1], [2, 3, 4, 5]]


def test_padding_repeats_the_last_sample(files):
    assert read(reading(files, pad_last_batch=True), 4) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 9, 9], [0, 1, 2, 3]]


def test_shards_move_each_epoch_unless_they_stick(files):
    """Part k of 3 of 10 files begins at floor(10 k / 3): 0, 3, 6."""
    pads = {"num_shards": 3, "pad_last_batch": True}  # of ceil(10 / 3) = 4 samples each
    assert read(reading(files, shard_id=0, **pads), 3) == [[0, 1, 2, 2], [3, 4, 5, 5], [6, 7, 8, 9]]
    assert read(reading(files, shard_id=2, **pads), 3) == [[6, 7, 8, 9], [0, 1, 2, 2], [3, 4, 5, 5]]
    sticks = {**pads, "stick_to_shard": True}
    assert read(reading(files, shard_id=1, **sticks), 3) == [[3, 4, 5, 5]] * 3


@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("options", [{"random_shuffle": True}, {"shuffle_after_epoch": True},
                                     {"random_shuffle": True, "stick_to_shard": True}])  # fmt: skip
def test_shuffled_shards_are_the_whole(files, shards, options):
    """In each epoch no sample comes twice and none is missing, whatever the seeds of the shards' pipelines are."""
    epochs = [[], [], []]
    for shard in range(shards):

        @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=shard)
        def make(shard=shard):
            return fn.readers.file(files=files, shard_id=shard, num_shards=shards, **options)[1]

        pipe = make()
        for epoch, seen in enumerate(epochs):
            part = shard if options.get("stick_to_shard") else (shard + epoch) % shards
            size = 10 * (part + 1) // shards - 10 * part // shards
            seen.extend(label for [label] in batches(pipe, size))
    assert all(sorted(seen) == list(range(10)) for seen in epochs)
    assert len({tuple(seen) for seen in epochs}) > 1
    if "shuffle_after_epoch" in options and shards == 1:
        assert epochs[0] == list(range(10))


def test_a_seed_makes_the_same_order(files):
    orders = [read(reading(files, random_shuffle=True), 5) for _ in range(2)]
    assert orders[0] == orders[1]
    assert orders[0] != read(reading(files, random_shuffle=True, seed=99), 5)


def test_reader_meta(files):
    pipe = reading(files, num_shards=3, shard_id=1, pad_last_batch=True)
    meta = {"epoch_size": 10, "epoch_size_padded": 12, "number_of_shards": 3, "shard_id": 1, "pad_last_batch": 1,
            "stick_to_shard": 0}  # fmt: skip
    assert pipe.reader_meta("reader") == meta
    assert pipe.reader_meta() == {"reader": meta}
    assert pipe.epoch_size("reader") == 10
    assert pipe.epoch_size() == {"reader": 10}
    with pytest.raises(KeyError, match="no reader 'other'"):
        pipe.reader_meta("other")


def test_reader_refuses(files, tmp_path):
    (tmp_path / "list.txt").write_text("0.jpg 0\n1.jpg\n")
    for error, words, arguments in (
        (ValueError, "not both", {"files": files, "file_list": "x"}),
        (ValueError, "2 labels for 10 files", {"files": files, "labels": [1, 2]}),
        (ValueError, "labels go with files", {"file_root": tmp_path, "labels": [1]}),
        (ValueError, "line 2", {"file_list": str(tmp_path / "list.txt")}),
        (ValueError, "shard_id is 0", {"files": files, "num_shards": 2, "shard_id": 2}),
        (ValueError, "excludes", {"files": files, "random_shuffle": True, "shuffle_after_epoch": True}),
        (ValueError, "less than one", {"files": files, "num_shards": 11}),
        (TypeError, "file_root, file_list or files", {}),
        (OSError, "no files", {"file_root": str(tmp_path)}),
        (FileNotFoundError, "none", {"file_root": str(tmp_path / "none")}),
    ):
        with pytest.raises(error, match=words):
            fn.readers.file(**arguments)


def test_readers_and_external_sources_together(files):
    @pipeline_def(batch_size=4, num_threads=2, device_id=None)
    def make():
        _, labels = fn.readers.file(files=files)
        _, twice = fn.readers.file(files=files)
        return labels + fn.external_source(lambda k: np.full((4, 1), 100 * k, np.int32)), labels - twice

    pipe = make()
    for k, first in enumerate(([0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1])):
        total, none = pipe.run()
        assert numbers(total) == [each + 100 * k for each in first]
        assert numbers(none) == [0] * 4


# Threads and damage.


def training(files, threads, **options):
    @pipeline_def(batch_size=4, num_threads=threads, device_id=None, seed=8)
    def make():
        contents, labels = fn.readers.file(files=files, random_shuffle=True, name="reader")
        pictures = fn.random_resized_crop(fn.decoders.image(contents), size=(9, 8))
        pictures = fn.rotate(pictures, angle=fn.random.uniform(range=(-9, 9)) * 2, keep_size=True)
        return fn.crop_mirror_normalize(pictures, mirror=fn.random.coin_flip()), labels

    return make(**options)


@pytest.fixture
def photographs(tmp_path, rng):
    paths = []
    for k in range(9):
        path = tmp_path / f"{k}.png"
        path.write_bytes(iruka.image.imencode("png", rng.integers(0, 256, (20 + k, 30 - k, 3), dtype=np.uint8)))
        paths.append(str(path))
    return paths


def test_batches_do_not_depend_on_threads(photographs):
    def run(threads):
        pipe = training(photographs, threads)
        return [[each.as_array() for each in pipe.run()] for _ in range(6)]

    first = run(1)
    for threads in (1, 2, 8):
        for batch, again in zip(first, run(threads), strict=True):
            for a, b in zip(batch, again, strict=True):
                np.testing.assert_array_equal(a, b)


def test_a_damaged_file_ends_no_run(photographs):
    with open(photographs[3], "wb") as file:
        file.write(b"no picture")
    pipe = training(photographs, 2)
    failed = 0
    for _ in range(9):
        try:
            pipe.run()
        except ValueError as error:
            assert "3.png" in str(error)
            failed += 1
    assert failed == 4  # of 36 samples, one in nine
    assert {len(batch[1]) for batch in (training(photographs, 2, on_error="replace").run() for _ in range(3))} == {4}
    skipping = training(photographs, 2, on_error="skip")
    assert sum(len(skipping.run()[1]) for _ in range(9)) == 32
    assert len(skipping.report().failures) == len(skipping.failures) >= 4


def test_a_forked_process_goes_on(photographs):
    import os

    pipe = training(photographs, 2)
    pipe.run()
    child = os.fork()
    if child == 0:
        try:
            fresh = training(photographs, 2)
            fresh.run()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(pipe.run()[1]) == 4
