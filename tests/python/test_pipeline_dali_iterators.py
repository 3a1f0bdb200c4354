"""The iterators of iruka.plugin: which samples an epoch has under each policy. Expected values are written out from
DALI's documentation, and beside nvidia.dali's own iterator where that is installed."""

import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import pytest

from iruka import fn, image, ops, types
from iruka.pipeline import Pipeline, pipeline_def
from iruka.plugin.base_iterator import BaseIterator, LastBatchPolicy
from iruka.plugin.numpy import (
    ClassificationIterator,
    DALIClassificationIterator,
    DALIGenericIterator,
    GenericIterator,
)

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for k in range(23):
        (folder / f"{k}.jpg").write_bytes(bytes([k]))
        paths.append(str(folder / f"{k}.jpg"))
    return paths


def reading(files, batch_size=2, define=pipeline_def, functions=fn, **options):
    @define(batch_size=batch_size, num_threads=1, device_id=None, seed=3)
    def make():
        return functions.readers.file(files=files, name="reader", **options)[1]

    return make()


def counting(batch_size, first=0):
    """A source of all numbers from `first` on."""

    @pipeline_def(batch_size=batch_size, num_threads=1, device_id=None)
    def make():
        return fn.external_source(lambda k: np.arange(batch_size)[:, None] + first + k * batch_size)

    return make()


def ending(batches, cycle="raise", batch_size=2):
    @pipeline_def(batch_size=batch_size, num_threads=1, device_id=None)
    def make():
        return fn.external_source([[np.int32([x]) for x in batch] for batch in batches], cycle=cycle)

    return make()


def epoch_of(iterator):
    """The batches of an epoch; with several pipelines, one after the other."""
    return [part["x"].ravel().tolist() for batch in iterator for part in batch]


@pytest.mark.parametrize(
    ("policy", "padded", "last", "following"),
    [
        (PARTIAL, True, [6], [0, 1]),
        (PARTIAL, False, [6], [1, 2]),
        (FILL, True, [6, 6], [0, 1]),
        (FILL, False, [6, 0], [1, 2]),
        (DROP, True, [4, 5], [0, 1]),
        (DROP, False, [4, 5], [1, 2]),
    ],
)
@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("prepare", [True, False])
@pytest.mark.parametrize("reset", ["auto", "reset()", "iter()"])
def test_policies(files, policy, padded, last, following, by_name, prepare, reset):
    """The seven samples in batches of two of DALI's documentation."""
    pipe = reading(files[:7], pad_last_batch=padded)
    size = {"reader_name": "reader"} if by_name else {"size": 7, "last_batch_padded": padded}
    iterator = DALIGenericIterator(pipe, ["x"], last_batch_policy=policy, prepare_first_batch=prepare,
                                   auto_reset=reset == "auto", **size)  # fmt: skip
    assert len(iterator) == (3 if policy is DROP else 4)
    first = epoch_of(iterator)
    assert first[-1] == last
    assert first[:3] == [[0, 1], [2, 3], [4, 5]]
    if reset == "reset()":
        iterator.reset()
    assert next(iter(iterator))[0]["x"].ravel().tolist() == following


def test_an_epoch_is_over_until_it_is_reset(files):
    iterator = GenericIterator(reading(files[:4]), ["x"], reader_name="reader")
    assert len(epoch_of(iterator)) == 2
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)
    iterator.reset()
    assert iterator.next()[0]["x"].ravel().tolist() == [0, 1]
    with pytest.warns(RuntimeWarning, match="middle of an epoch"):
        iterator.reset()
    assert next(iterator)[0]["x"].ravel().tolist() == [2, 3]


def test_the_base_of_iterators_gives_no_batches(files):
    with pytest.raises(TypeError, match="abstract"):
        BaseIterator(reading(files))

    class Lengths(BaseIterator):
        def _given(self, outputs):
            return [len(each) for each in outputs[0]]

    assert list(Lengths(reading(files[:5]), size=5)) == [[2], [2], [2]]


def test_fill_last_batch_is_an_old_name(files):
    for old, policy in ((True, FILL), (False, PARTIAL)):
        with pytest.warns(DeprecationWarning, match="last_batch_policy"):
            iterator = GenericIterator(reading(files[:7]), ["x"], size=7, fill_last_batch=old)
        again = GenericIterator(reading(files[:7]), ["x"], size=7, last_batch_policy=policy)
        assert epoch_of(iterator) == epoch_of(again)


def test_a_source_ends_an_epoch_of_unknown_size():
    for auto in (True, False):
        iterator = GenericIterator(ending([[1, 2], [3]]), ["x"], auto_reset=auto)
        for _ in range(3):
            assert epoch_of(iterator) == [[1, 2], [3]]
            if not auto:
                iterator.reset()
        with pytest.raises(TypeError, match="length"):
            len(iterator)
    iterator = GenericIterator(ending([[1, 2]], "no"), ["x"], auto_reset="yes")
    assert epoch_of(iterator) == [[1, 2]]
    assert epoch_of(iterator) == []


@pytest.mark.parametrize(
    ("policy", "padded", "first", "second"),
    [  # 10 samples of two pipelines with batches of 3
        (FILL, False, [[0, 1, 2], [50, 51, 52], [3, 4, 5], [53, 54, 55]], [6, 7, 8]),
        (PARTIAL, False, [[0, 1, 2], [50, 51, 52], [3, 4, 5], [53]], [6, 7, 8]),
        (PARTIAL, True, [[0, 1, 2], [50, 51, 52], [3, 4, 5], [53]], [6, 7, 8]),
        (DROP, False, [[0, 1, 2], [50, 51, 52]], [6, 7, 8]),
    ],
)
def test_sizes_over_several_pipelines(policy, padded, first, second):
    iterator = GenericIterator([counting(3), counting(3, 50)], ["x"], size=10, last_batch_policy=policy,
                               last_batch_padded=padded)  # fmt: skip
    assert len(iterator) == (1 if policy is DROP else 2)
    assert epoch_of(iterator) == first
    iterator.reset()
    assert next(iterator)[0]["x"].ravel().tolist() == second


def test_a_batch_of_a_few_pipelines_alone():
    """8 of 12 samples belong to the epoch: the last pipeline has none of them."""
    iterator = GenericIterator([counting(4), counting(4, 50), counting(4, 90)], ["x"], size=8,
                               last_batch_policy=PARTIAL)  # fmt: skip
    assert epoch_of(iterator) == [[0, 1, 2, 3], [50, 51, 52, 53]]


@pytest.mark.parametrize("shards", [2, 3])
@pytest.mark.parametrize("count", [10, 11, 23])
def test_padded_partial_epochs_have_each_sample_once(files, shards, count):
    pipes = [reading(files[:count], 4, num_shards=shards, shard_id=k, pad_last_batch=True) for k in range(shards)]
    iterator = GenericIterator(pipes, ["x"], reader_name="reader", last_batch_policy=PARTIAL, auto_reset=True)
    for _ in range(4):
        seen = [label for batch in epoch_of(iterator) for label in batch]
        assert sorted(seen) == list(range(count))


def test_output_maps(files):
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def make():
        _, labels = fn.readers.file(files=files, name="reader")
        return labels * 2, labels

    batch = next(ClassificationIterator(make(), reader_name="reader"))
    assert [sorted(each) for each in batch] == [["data", "label"]]
    assert isinstance(batch[0]["data"], np.ndarray)
    np.testing.assert_array_equal(batch[0]["data"], batch[0]["label"] * 2)
    assert issubclass(DALIClassificationIterator, DALIGenericIterator)
    with pytest.raises(ValueError, match="must differ"):
        GenericIterator(make(), ["x", "x"], size=4)
    with pytest.raises(ValueError, match="names 3 outputs of 2"):
        GenericIterator(make(), ["x", "y", "z"], size=4)


def test_refusals(files):
    for words, arguments in (
        ("size is a number", {"size": 0}),
        ("the reader's", {"size": 3, "reader_name": "reader"}),
        ("the reader's", {"last_batch_padded": True, "reader_name": "reader"}),
        ("auto_reset", {"size": 3, "auto_reset": "perhaps"}),
        ("last_batch_policy", {"size": 3, "last_batch_policy": "fill"}),
    ):
        with pytest.raises(ValueError, match=words):
            GenericIterator(reading(files), ["x"], **arguments)
    with pytest.raises(KeyError, match="no reader"):
        GenericIterator(reading(files), ["x"], reader_name="other")
    with pytest.raises(ValueError, match="unlike batch sizes"):
        GenericIterator([counting(2), counting(3)], ["x"], size=6)
    with pytest.raises(ValueError, match="size or a reader_name"):
        GenericIterator([counting(2), counting(2)], ["x"])
    with pytest.raises(ValueError, match="num_shards"):
        pipes = [reading(files, num_shards=2), reading(files, num_shards=3)]
        GenericIterator(pipes, ["x"], reader_name="reader")
    with pytest.raises(RuntimeError, match="no batch"):
        GenericIterator(reading(files[:3], 8), ["x"], reader_name="reader", last_batch_policy=DROP)
    with pytest.raises(ValueError, match="has 2 samples"):
        epoch_of(GenericIterator(ending([[1, 2], [3]]), ["x"], size=3))


def test_frameworks_are_imported_when_they_are_used(files):
    code = "import sys, iruka.plugin.pytorch, iruka.plugin.jax; assert not {'torch', 'jax'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    for name in ("torch", "jax"):
        module = importlib.import_module(f"iruka.plugin.{'pytorch' if name == 'torch' else name}")
        if importlib.util.find_spec(name) is None:
            with pytest.raises(ImportError):
                module.DALIGenericIterator(reading(files), ["x"], reader_name="reader")


def test_torch_tensors(files):
    torch = pytest.importorskip("torch")
    from iruka.plugin import pytorch

    batch = next(pytorch.DALIGenericIterator(reading(files), ["x"], reader_name="reader"))
    assert isinstance(batch[0]["x"], torch.Tensor)
    assert batch[0]["x"].flatten().tolist() == [0, 1]
    target = torch.zeros((2, 1), dtype=torch.int32)
    tensors = reading(files).run()[0]
    assert pytorch.feed_ndarray(tensors, target) is target
    assert target.flatten().tolist() == [0, 1]
    with pytest.raises(ValueError, match="feed_ndarray"):
        pytorch.feed_ndarray(tensors, torch.zeros(3))
    ragged = pytorch.DALIRaggedIterator(reading(files), ["x"], reader_name="reader", output_types=["sparse_list"])
    assert [each.tolist() for each in next(ragged)[0]["x"]] == [[0], [1]]


def test_jax_arrays(files):
    jax = pytest.importorskip("jax")
    from iruka.plugin import jax as plugin

    batch = next(plugin.DALIGenericIterator(reading(files), ["x"], reader_name="reader"))
    assert isinstance(batch["x"], jax.Array)
    assert batch["x"].ravel().tolist() == [0, 1]
    with pytest.raises(ValueError, match="PARTIAL"):
        plugin.DALIGenericIterator(reading(files), ["x"], reader_name="reader", last_batch_policy=PARTIAL)


# Beside nvidia.dali.


def their_iterator(pipes, policy, **options):
    """DALI's counting with NumPy arrays; its PyTorch iterator cuts the last batch in the same way."""
    base = importlib.import_module("nvidia.dali.plugin.base_iterator")

    class Iterator(base._DaliBaseIterator):
        def __next__(self):
            self._ever_consumed = True
            outputs = [[np.asarray(each.as_array()) for each in batch] for batch in self._get_outputs()]
            self._schedule_runs()
            self._advance_and_check_drop_last()
            if self._reader_name:
                if_drop, left = self._remove_padded()
                if np.any(if_drop):
                    outputs = [[each[:count] for each in batch] for batch, count in zip(outputs, left, strict=True)]
            return [{"x": batch[0]} for batch in outputs]

    return Iterator(pipes, last_batch_policy=base.LastBatchPolicy[policy.name], **options)


@pytest.mark.parametrize("policy", [FILL, DROP, PARTIAL])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("sticks", [True, False])
@pytest.mark.parametrize(("shards", "count", "batch"), [(1, 7, 2), (2, 11, 3), (3, 23, 4), (3, 10, 4), (2, 8, 4)])
def test_beside_dali(files, policy, padded, sticks, shards, count, batch):
    dali = pytest.importorskip("nvidia.dali")
    import nvidia.dali.fn

    options = {"num_shards": shards, "pad_last_batch": padded, "stick_to_shard": sticks}
    ours = [reading(files[:count], batch, shard_id=k, **options) for k in range(shards)]
    theirs = [reading(files[:count], batch, dali.pipeline_def, nvidia.dali.fn, shard_id=k, **options)
              for k in range(shards)]  # fmt: skip
    our_iterator = GenericIterator(
        ours, ["x"], reader_name="reader", last_batch_policy=policy, prepare_first_batch=False
    )
    their = their_iterator(theirs, policy, reader_name="reader")
    for _ in range(6):
        assert len(our_iterator) == len(their)
        assert epoch_of(our_iterator) == epoch_of(their)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            our_iterator.reset()
            their.reset()


# Whole programs.


def picture_files(folder, count):
    """`count` PNG files of unlike sizes, with a list of names and labels."""
    rng = np.random.default_rng(1)
    lines = []
    for k in range(count):
        picture = rng.integers(0, 256, (30 + k, 50 - k, 3), dtype=np.uint8)
        (folder / f"{k}.png").write_bytes(image.imencode("png", picture))
        lines.append(f"{k}.png {k % 2}")
    (folder / "file_list.txt").write_text("\n".join(lines) + "\n")
    return lines


class Files:
    """Batches of files' bytes and labels; the last one goes on with the first files."""

    def __init__(self, folder, batch_size):
        self.folder, self.batch_size = folder, batch_size
        self.lines = (folder / "file_list.txt").read_text().split("\n")[:-1]

    def __iter__(self):
        self.next_file = 0
        return self

    def __next__(self):
        if self.next_file >= len(self.lines):
            raise StopIteration
        files, labels = [], []
        for _ in range(self.batch_size):
            name, label = self.lines[self.next_file % len(self.lines)].split()
            files.append(np.frombuffer((self.folder / name).read_bytes(), dtype=np.uint8))
            labels.append(np.array([label], dtype=np.uint8))
            self.next_file += 1
        return files, labels


class Training(Pipeline):
    """A graph in the form of DALI's first releases."""

    def __init__(self, batch_size, num_threads, device_id, external_data):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.input, self.input_label = ops.ExternalSource(), ops.ExternalSource()
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.res = ops.Resize(device="cpu", resize_x=24, resize_y=20)
        self.cast = ops.Cast(device="cpu", dtype=types.UINT8)
        self.external_data = external_data
        self.iterator = iter(external_data)

    def define_graph(self):
        self.jpegs, self.labels = self.input(), self.input_label()
        return self.cast(self.res(self.decode(self.jpegs))), self.labels

    def iter_setup(self):
        try:
            files, labels = next(self.iterator)
            self.feed_input(self.jpegs, files)
            self.feed_input(self.labels, labels)
        except StopIteration:
            self.iterator = iter(self.external_data)
            raise StopIteration from None


def test_a_program_of_classes(tmp_path):
    picture_files(tmp_path, 21)
    pipe = Training(batch_size=8, num_threads=2, device_id=0, external_data=Files(tmp_path, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iterator = ClassificationIterator(pipe, size=21, last_batch_padded=True, fill_last_batch=False)
    for _ in range(3):
        batches = [batch[0] for batch in iterator]
        assert [batch["data"].shape for batch in batches] == [(8, 20, 24, 3), (8, 20, 24, 3), (5, 20, 24, 3)]
        labels = np.concatenate([batch["label"] for batch in batches])
        np.testing.assert_array_equal(labels, [[k % 2] for k in range(21)])
        iterator.reset()


def test_a_program_of_functions(tmp_path):
    picture_files(tmp_path, 21)

    @pipeline_def(batch_size=8, num_threads=2, device_id=0, seed=4)
    def training(list_file, is_training):
        files, labels = fn.readers.file(file_list=list_file, random_shuffle=is_training, pad_last_batch=True,
                                        name="reader")  # fmt: skip
        if is_training:
            pictures = fn.decoders.image_random_crop(files, output_type=types.RGB, random_area=[0.3, 1.0])
            pictures = fn.resize(pictures, resize_x=16, resize_y=16, interp_type=types.INTERP_TRIANGULAR)
            mirror = fn.random.coin_flip(probability=0.5)
        else:
            pictures = fn.resize(fn.decoders.image(files), size=20, mode="not_smaller")
            mirror = False
        pictures = fn.crop_mirror_normalize(
            pictures, dtype=types.FLOAT, output_layout="CHW", crop=(16, 16), mean=[120.0] * 3, std=[60.0] * 3,
            mirror=mirror,
        )  # fmt: skip
        return pictures, labels

    for is_training in (True, False):
        iterator = ClassificationIterator(training(str(tmp_path / "file_list.txt"), is_training), reader_name="reader",
                                          last_batch_policy=PARTIAL, auto_reset=True)  # fmt: skip
        assert len(iterator) == 3
        for _ in range(2):
            batches = [batch[0] for batch in iterator]
            assert [batch["data"].shape for batch in batches] == [(8, 3, 16, 16), (8, 3, 16, 16), (5, 3, 16, 16)]
            assert sum(int(batch["label"].sum()) for batch in batches) == 10
