"""Sources of a pipeline from other libraries' datasets, by index and by iteration."""

import collections
import concurrent.futures
import pathlib
import pickle
import threading

import numpy as np
import pytest
from PIL import Image

import iruka
from helpers import PATIENCE
from iruka import fn
from iruka._pipeline.sources import SequentialSource, Source, dataset, iterable, make_source
from iruka._pipeline.sources.values import core_values
from iruka.pipeline import Pipeline, pipeline_def


class Rows:
    """A dataset as PyTorch's programs have them."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def test_rows_are_tuples_dicts_or_values():
    Pair = collections.namedtuple("Pair", "picture label")
    for rows, fields in (
        ([(5, 6), (7, 8)], ("value_0", "value_1")),
        ([{"a": 5, "b": 6}, {"b": 8, "a": 7}], ("a", "b")),
        ([Pair(5, 6), Pair(7, 8)], ("picture", "label")),
    ):
        for source in (dataset(Rows(rows)), dataset(rows)):
            assert isinstance(source, Source) and source.fields == fields
            assert list(source) == [(5, 6), (7, 8)] and source[-1] == (7, 8)
    assert dataset(Rows([5, 7])).fields == ("value",) and dataset([5, 7])[1] == (7,)
    assert dataset([[1, 2], [3, 4]])[1] == ([3, 4],)
    record = {"bytes": b"x", "path": None}
    assert dataset([record]).fields == ("value",) and dataset([record])[0] == (record,)


def test_fields_are_chosen():
    rows = [{"a": 5, "b": 6, "c": 7}] * 2
    assert dataset(rows, ["c", "a"])[1] == (7, 5) and dataset(rows, "b")[0] == (6,)
    source = dataset([(5, 6)], ("picture", "label"))
    assert source.fields == ("picture", "label") and source[0] == (5, 6)


def test_the_first_row_is_read_for_fields_alone():
    class Counted(Rows):
        reads = 0

        def __getitem__(self, index):
            self.reads += 1
            return super().__getitem__(index)

    data = Counted([(1, 2)] * 3)
    dataset(data, ("a", "b"))
    assert data.reads == 0
    dataset(data)
    assert data.reads == 1


def test_wrong_rows():
    source = dataset([(1, 2), (1, 2, 3), {"a": 1}])
    with pytest.raises(ValueError, match="dataset: sample 1: 3 values, where the fields are value_0, value_1"):
        source[1]
    with pytest.raises(ValueError, match="dataset: sample 2: the row has no field 'value_0', 'value_1', but 'a'"):
        source[2]
    with pytest.raises(ValueError, match="dataset: the list has no samples"):
        dataset([])
    with pytest.raises(TypeError, match="dataset: a dict, of train, test; give one of its parts"):
        dataset({"train": [1], "test": [2]})
    with pytest.raises(TypeError, match="dataset: int has neither __len__ and __getitem__ nor __iter__"):
        dataset(3)
    with pytest.raises(TypeError, match="dataset: fields are names, not"):
        dataset([1], [3])
    with pytest.raises(IndexError, match="dataset: index 3 of a source of 3 samples"):
        source[3]


def test_errors_of_a_dataset_are_its_own():
    class Broken(Rows):
        def __getitem__(self, index):
            raise RuntimeError(f"row {index} is lost")

    with pytest.raises(RuntimeError, match="row 2 is lost"):
        dataset(Broken([1, 2, 3]), "a")[2]


def test_one_thread_at_a_time():
    class Alone(Rows):
        lock = threading.Lock()

        def __getitem__(self, index):
            assert self.lock.acquire(blocking=False), "two threads at a time"
            try:
                return super().__getitem__(index)
            finally:
                self.lock.release()

    source = dataset(Alone(list(range(300))), "number", thread_safe=False)
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert list(threads.map(source.__getitem__, range(300))) == [(k,) for k in range(300)]


def test_datasets_are_pickled():
    for thread_safe in (True, False):
        source = dataset([(1, 2)], thread_safe=thread_safe)
        assert pickle.loads(pickle.dumps(source))[0] == (1, 2)
    assert pickle.loads(pickle.dumps(iterable([5, 6]))).next(9) == [(5,), (6,)]


def core_value(value):
    return core_values((value,), ("x",), lambda: "sample 7")[0]


def test_values_for_the_core():
    for value in (b"data", 3, 2.5, True, pathlib.Path("a.jpg")):
        assert core_value(value) is value
    array = np.arange(3)
    assert core_value(array) is array and core_value(bytearray(b"ab")) == core_value(memoryview(b"ab")) == b"ab"
    assert core_value(mine := iruka.zeros(3)) is mine
    for given, expected in (
        ("grün", np.frombuffer("grün".encode(), np.uint8)),
        ([1, 2.5], np.array([1, 2.5])),
        ((1, 2), np.array([1, 2])),
        (np.float32(3), np.array(3, "float32")),
        (1 + 2j, np.array(1 + 2j)),
    ):
        made = core_value(given)
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)


def test_files_of_hugging_face():
    assert core_value({"bytes": b"data", "path": "a.jpg"}) == b"data"
    assert core_value({"bytes": None, "path": "a.jpg"}) == pathlib.Path("a.jpg")
    with pytest.raises(ValueError, match="sample 7: x is a file of neither bytes nor a path"):
        core_value({"bytes": None, "path": None})


@pytest.mark.parametrize(
    "mode, as_mode",
    [("RGB", "RGB"), ("L", "L"), ("RGBA", "RGBA"), ("LA", "LA"), ("1", "L"), ("P", "RGB"), ("CMYK", "RGB"), ("F", "F")],
)
def test_pictures_of_pillow(rng, mode, as_mode):
    picture = Image.fromarray(rng.integers(0, 256, (5, 6, 3)).astype("uint8")).convert(mode)
    np.testing.assert_array_equal(core_value(picture), np.asarray(picture.convert(as_mode)))


def test_palettes_with_transparency(rng):
    picture = Image.fromarray(rng.integers(0, 256, (5, 6, 3)).astype("uint8")).convert("P")
    picture.info["transparency"] = 3
    np.testing.assert_array_equal(core_value(picture), np.asarray(picture.convert("RGBA")))


@pytest.mark.parametrize(
    "value, named",
    [
        ({"a": 1}, "dict; a sample holds arrays"),
        (None, "NoneType; a sample holds"),
        ([1, [2, 3]], "list that makes no array of numbers"),
        (["a", "b"], "list of dtype <U1"),
        (np.array([None]), "ndarray of dtype object"),
        (np.datetime64("2026-01-01"), "datetime64 of dtype"),
        ([10**40], "list of dtype object"),
    ],
)
def test_values_that_are_no_arrays(value, named):
    with pytest.raises(TypeError, match=f"sample 7: x: {named}"):
        core_value(value)


def test_samples_of_a_source_that_are_no_tuples():
    for values, said in (([1, 2], "list, not a tuple"), ((1, 2, 3), "3 values"), (5, "int, not a tuple")):
        with pytest.raises(ValueError, match=f"sample 7: {said}, where the source's fields are a, b"):
            core_values(values, ("a", "b"), lambda: "sample 7")


def epochs_of(source, count, size=3):
    epochs = []
    for epoch in range(count):
        source.begin(epoch)
        epochs.append([])
        while part := source.next(size):
            epochs[-1] += part
            if len(part) < size:
                break
    return epochs


def test_iterables_begin_anew():
    rows = [(5, 6), (7, 8), (9, 1), (2, 3)]
    for given in (rows, lambda: iter(rows), lambda: rows, dict.fromkeys(rows)):
        source = iterable(given)
        assert isinstance(source, SequentialSource) and source.fields == ("value_0", "value_1")
        assert epochs_of(source, 3) == [rows] * 3
    assert isinstance(dataset(set(rows)), SequentialSource)


def test_the_end_of_an_epoch():
    source = iterable(range(5))
    source.begin(0)
    assert [len(source.next(2)) for _ in range(4)] == [2, 2, 1, 0]
    source.begin(1)
    assert source.next(10) == [(k,) for k in range(5)]


def test_an_epoch_that_ends_early():
    source = iterable(lambda: iter(range(100)))
    source.begin(0)
    source.next(7)
    source.begin(1)
    assert source.next(2) == [(0,), (1,)]


def test_a_generator_lasts_for_one_epoch():
    source = iterable(k for k in range(4))
    assert epochs_of(source, 1) == [[(0,), (1,), (2,), (3,)]]
    with pytest.raises(
        ValueError, match="iterable: the generator was begun before epoch 1 and cannot begin again; give"
    ):
        source.begin(1)


def test_a_class_that_begins_itself_anew():
    """As the iterators that DALI's documentation gives to ExternalSource."""

    class Numbers:
        def __iter__(self):
            self.rest = list(range(4))
            return self

        def __next__(self):
            if not self.rest:
                raise StopIteration
            return self.rest.pop(0)

    assert epochs_of(iterable(Numbers()), 2) == [[(0,), (1,), (2,), (3,)]] * 2


def test_an_iterator_that_is_exhausted():
    class Once:
        def __init__(self):
            self.rest = [1, 2]

        def __iter__(self):
            return self

        def __next__(self):
            if not self.rest:
                raise StopIteration
            return self.rest.pop()

    source = iterable(Once())
    assert epochs_of(source, 1) == [[(2,), (1,)]]
    source.begin(1)
    with pytest.raises(ValueError, match="iterable: the Once has no samples in epoch 1; where it can be iterated once"):
        source.next(3)
    assert source.next(3) == []
    with pytest.raises(ValueError, match="iterable: the list has no samples"):
        iterable([])
    with pytest.raises(TypeError, match="iterable: int is no iterable, and no function"):
        iterable(3)


def test_epochs_are_told():
    class Shuffled:
        epoch = None

        def set_epoch(self, epoch):
            self.epoch = epoch

        def __iter__(self):
            return iter([self.epoch * 10, self.epoch * 10 + 1])

    assert epochs_of(iterable(Shuffled()), 3) == [[(0,), (1,)], [(10,), (11,)], [(20,), (21,)]]
    source = iterable(Shuffled())
    source.begin(7)
    assert source.next(1) == [(70,)]


def test_an_error_loses_no_sample():
    class Raising:
        def __init__(self):
            self.at = 0

        def __iter__(self):
            self.at = 0
            return self

        def __next__(self):
            self.at += 1
            if self.at == 4:
                raise RuntimeError("the third is lost")
            if self.at > 8:
                raise StopIteration
            return self.at

    source = iterable(Raising())
    source.begin(0)
    with pytest.raises(RuntimeError, match="the third is lost"):
        source.next(5)
    assert source.next(5) == [(1,), (2,), (3,), (5,), (6,)] and source.next(5) == [(7,), (8,)]


def test_rows_of_batches():
    batches = [{"x": np.arange(3), "y": [1, 2, 3]}, {"x": np.zeros(0), "y": []}, {"x": np.arange(2), "y": [4, 5]}]
    source = iterable(batches, batched=True)
    assert source.fields == ("x", "y")
    assert epochs_of(source, 2, 2) == [[(0, 1), (1, 2), (2, 3), (0, 4), (1, 5)]] * 2
    (error,) = iterable([(np.arange(3), np.arange(2))], batched=True).next(9)
    with pytest.raises(ValueError, match=r"batch 0 has different numbers of samples \(value_0: 3, value_1: 2\)"):
        raise error


def test_wrong_rows_of_an_iterable():
    source = iterable([(1, 2), (3,), (5, 6)])
    source.begin(0)
    first, error, last = source.next(3)
    assert (first, last) == ((1, 2), (5, 6)) and source.next(3) == []
    with pytest.raises(ValueError, match="item 1 of epoch 0: 1 values, where the fields are value_0, value_1"):
        raise error


def test_map_of_an_iterable():
    source = iterable(range(4)).map(lambda x: (x, x * x), ("x", "square"))
    assert source.fields == ("x", "square") and repr(source) == "<_MappedSequence: samples of x, square>"
    assert epochs_of(source, 2) == [[(0, 0), (1, 1), (2, 4), (3, 9)]] * 2


def test_errors_of_a_map_stand_in_for_their_samples():
    source = iterable(range(4)).map(lambda x: 6 // (x - 1))
    source.begin(0)
    made = source.next(9)
    assert [made[0], *made[2:]] == [(-6,), (6,), (3,)] and isinstance(made[1], ZeroDivisionError)
    again = source.map(lambda x: x + 1)
    again.begin(1)
    assert again.next(1) == [(-5,)] and isinstance(again.next(1)[0], ZeroDivisionError)


def test_datasets_of_torch():
    data = pytest.importorskip("torch.utils.data")
    torch = pytest.importorskip("torch")
    source = make_source(data.TensorDataset(torch.arange(6).reshape(3, 2), torch.arange(3)))
    assert len(source) == 3 and source[2][0].tolist() == [4, 5] and int(source[2][1]) == 2

    class Counting(data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

        def __len__(self):
            return 3

    assert epochs_of(make_source(Counting()), 2) == [[(0,), (1,), (2,)]] * 2


def test_iterable_datasets_are_known_by_their_class():
    """torch's and Hugging Face's, whose base class has a __getitem__ that always raises."""

    class IterableDataset(Rows):
        def __getitem__(self, index):
            raise NotImplementedError

        def __iter__(self):
            return iter(self.rows)

    class Mine(IterableDataset):
        pass

    assert epochs_of(make_source(Mine([4, 5])), 1) == [[(4,), (5,)]]


def test_datasets_of_hugging_face(tmp_path, rng):
    datasets, pa = pytest.importorskip("datasets"), pytest.importorskip("pyarrow")
    pixels = [rng.integers(0, 256, (4, 5, 3)).astype("uint8") for _ in range(3)]
    for k, picture in enumerate(pixels):
        Image.fromarray(picture).save(tmp_path / f"{k}.png")
    columns = {
        "image": [{"bytes": None, "path": str(tmp_path / f"{k}.png")} for k in range(3)],
        "label": [2, 0, 1],
        "text": ["a", "b", "c"],
    }
    others = {"label": datasets.ClassLabel(names=["x", "y", "z"]), "text": datasets.Value("string")}

    def data_of(picture):
        features = datasets.Features({"image": picture, **others})
        table = pa.table(columns, schema=features.arrow_schema)
        return datasets.Dataset(datasets.table.InMemoryTable(table), fingerprint="pictures")

    data = data_of(datasets.Image())
    source = make_source(data)
    assert source.fields == ("image", "label", "text") and len(source) == 3
    assert source[2][1:] == (1, "c")
    np.testing.assert_array_equal(core_value(source[2][0]), pixels[2])
    coded = dataset(data_of(datasets.Image(decode=False)), ["image", "label"])
    assert core_value(coded[1][0]) == tmp_path / "1.png" and coded[1][1] == 0
    with pytest.raises(TypeError, match="a dict, of train; give one of its parts"):
        dataset(datasets.DatasetDict(train=data))
    stream = make_source(data.to_iterable_dataset().shuffle(seed=3, buffer_size=3))
    assert isinstance(stream, SequentialSource)
    assert all(sorted(row[1] for row in epoch) == [0, 1, 2] for epoch in epochs_of(stream, 3))


class Ended:
    """A source that notes where its generators end."""

    def __init__(self, count=20):
        self.ended, self.count = threading.Event(), count
        self.last = -1

    def __call__(self):
        self.ended.clear()
        try:
            for k in range(self.count):
                self.last = k
                yield k
        finally:
            self.ended.set()


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("is_mapped", [False, True])
def test_the_end_of_a_generator_whose_iteration_is_left(prefetch, is_mapped):
    rows = Ended()
    source = iterable(rows)
    pipe = Pipeline(source.map(lambda k: 2 * k) if is_mapped else source, (), 2, prefetch=prefetch)
    for _ in range(2):
        for _ in pipe:
            assert not rows.ended.is_set()
            break
        assert rows.ended.wait(PATIENCE * 5) and rows.last < 19
        state = pipe.state_dict()
    assert (state["epoch"], state["batch"]) == (1, 1)
    pipe.load_state_dict(state)  # goes on where it was left
    assert [each.value.tolist() for each in pipe][:2] == ([[4, 6], [8, 10]] if is_mapped else [[2, 3], [4, 5]])
    assert rows.ended.is_set() and rows.last == 19


@pytest.mark.parametrize("make", [lambda rows: rows, lambda rows: rows()], ids=["function", "generator"])
def test_the_end_of_a_generator_whose_pipeline_is_closed(make):
    rows = Ended()
    pipe = Pipeline(make(rows), (), 2)
    batches = iter(pipe)
    next(batches)
    assert not rows.ended.is_set()
    pipe.close()
    assert rows.ended.is_set()
    unread = Pipeline(make(rows), (), 2)
    unread.close()
    assert rows.ended.is_set() and rows.last == 0


def test_a_generator_that_waits_does_not_hold_the_loop():
    waits, goes_on, ended = threading.Event(), threading.Event(), threading.Event()

    def rows():
        try:
            yield from range(2)
            waits.set()
            goes_on.wait()
            yield 2
        finally:
            ended.set()

    pipe = Pipeline(rows, (), 2)
    for batch in pipe:
        assert batch.value.tolist() == [0, 1]
        assert waits.wait(PATIENCE * 5)  # for the next row, which a thread has asked for
        break
    assert not ended.is_set()
    goes_on.set()
    assert ended.wait(PATIENCE * 5)
    pipe.close()


def test_the_end_of_an_external_source():
    rows = Ended()

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def define():
        return fn.external_source(each_row, batch=False)

    def each_row():
        for k in rows():
            yield np.int32(k)

    pipe = define()
    pipe.run()
    assert not rows.ended.is_set()
    pipe.close()
    assert rows.ended.is_set()
