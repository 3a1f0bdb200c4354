"""Pipelines where something goes wrong: interruptions, misuse, faults of sources and functions, cycles of references."""

import gc
import os
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import iruka
from iruka import _core, image
from iruka.pipeline import Decode, Pipeline, SequentialSource, Source

ROWS = np.arange(40, dtype=np.float32).reshape(20, 2)


def numbers(pipe):
    return [k for batch in pipe for k in batch.info.indices]


class Sequence(SequentialSource):
    """The rows; `fault` is raised in place of the row of this number, once."""

    fields = ("row",)

    def __init__(self, rows=ROWS, fault=None):
        self.rows, self.fault, self.begun = rows, fault, []

    def begin(self, epoch):
        self.begun.append(epoch)
        self.at = 0

    def next(self, count):
        if self.at == self.fault:
            self.fault = None
            raise ValueError("the source's own")
        made = [(row,) for row in self.rows[self.at : self.at + count]]
        self.at += len(made)
        return made


def failing_once(error, number):
    """A function that raises for the row `number`, the first time."""
    left = [error]

    def function(row):
        if row[0] == 2 * number and left:
            raise left.pop()
        return row

    return function


@pytest.mark.parametrize("make", [lambda: ROWS, Sequence])
@pytest.mark.parametrize("prefetch", [0, 1, 3])
@pytest.mark.parametrize("on_error", ["raise", "skip", "replace"])
def test_an_interruption_is_no_failure_and_loses_nothing(make, prefetch, on_error):
    function = failing_once(KeyboardInterrupt("stop"), 9)
    with Pipeline(make(), [function], 4, prefetch=prefetch, on_error=on_error) as pipe:
        seen = []
        with pytest.raises(KeyboardInterrupt, match="stop"):
            for batch in pipe:
                seen += batch.info.indices
        assert seen == list(range(8))
        while (batch := pipe._next()) is not None:
            np.testing.assert_array_equal(
                np.asarray(batch.row if hasattr(batch, "row") else batch[0])[:, 0] / 2, batch.info.indices
            )
            seen += batch.info.indices
        assert seen == list(range(20))
        assert pipe.report().failed == 0 and pipe.report().samples == 20


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_a_sequential_source_that_raises_ends_its_epoch(prefetch):
    source = Sequence(fault=8)
    with Pipeline(source, [], 4, prefetch=prefetch) as pipe:
        seen = []
        with pytest.raises(ValueError, match="the source's own"):
            for batch in pipe:
                seen += batch.info.indices
        assert seen == list(range(8)) and pipe.state_dict()["epoch"] == 1
        assert numbers(pipe) == list(range(20))
        assert source.begun == [0, 1]


def test_reports_count_what_was_handed_out():
    with Pipeline(ROWS, [failing_once(ValueError("bad"), 5)], 4) as pipe:
        with pytest.raises(ValueError, match="bad"):
            numbers(pipe)
        while pipe._next() is not None:
            pass
        report = pipe.report()
        assert (report.samples, report.failed, pipe.profile().batches) == (16, 1, 4)


def always_failing(*bad):
    def function(row):
        if row[0] / 2 in bad:
            raise ValueError("bad")
        return row

    return function


@pytest.mark.parametrize("make", [lambda: ROWS, Sequence])
@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_repetitions_of_a_failed_sample_are_not_counted(make, on_error):
    with Pipeline(make(), [always_failing(19)], 16, last_batch="fill", on_error=on_error) as pipe:
        first, last = pipe
        report = pipe.report()
    assert report.failed == 1 and [f.index for f in report.failures] == [19]
    assert report.samples == (19 if on_error == "skip" else 20)
    assert last.info.padded == (0 if on_error == "skip" else 12)
    assert len(set(last.info.indices[3:])) <= 1


def test_replacements_in_a_sequence_name_the_sample_that_is_there():
    with Pipeline(Sequence(), [always_failing(0, 2, 3)], 5, on_error="replace") as pipe:
        batch = next(iter(pipe))
        failures = pipe.failures
    assert batch.info.indices == (1, 1, 1, 1, 4)
    assert np.asarray(batch[0])[:, 0].tolist() == [2, 2, 2, 2, 8]
    assert [(f.index, f.replaced_by) for f in failures] == [(0, 1), (2, 1), (3, 1)]


def test_a_source_that_cannot_describe_its_samples():
    class Rows(Source):
        fields = ("row",)

        def __len__(self):
            return 6

        def __getitem__(self, index):
            if index == 3:
                raise KeyError("gone")
            return (ROWS[index],)

        def describe(self, index):
            raise RuntimeError("no name")

    with Pipeline(Rows(), [], 6, on_error="skip") as pipe:
        assert numbers(pipe) == [0, 1, 2, 4, 5]
        assert [f.sample for f in pipe.failures] == ["sample 3"]


def test_an_error_whose_text_raises():
    class Wordless(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def function(row):
        raise Wordless

    with Pipeline(ROWS, [function], 4, on_error="skip") as pipe:
        with pytest.warns(RuntimeWarning, match="all 20 samples of epoch 0 failed"):
            assert numbers(pipe) == [] and pipe.report().failed == 20
        assert "Wordless" in pipe.failures[0].message and type(pipe.failures[0].error) is Wordless


def test_names_that_are_not_utf_8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.png"
    with open(path, "wb") as file:
        file.write(b"no picture")
    good = tmp_path / "good.png"
    image.imwrite(good, np.zeros((4, 4, 3), np.uint8))
    with Pipeline([os.fsdecode(path), good], [Decode()], 2, on_error="skip") as pipe:
        assert numbers(pipe) == [1]
        assert pipe.failures[0].sample == os.fsdecode(path)


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("call", ["_next", "reset", "close", "state_dict"])
def test_calls_from_its_own_functions(prefetch, call):
    holder, errors = [], []

    def function(row):
        try:
            getattr(holder[0], call)()
        except ValueError as error:
            errors.append(str(error))
        return row

    with Pipeline(ROWS, [function], 5, prefetch=prefetch) as pipe:
        holder.append(pipe)
        assert numbers(pipe) == list(range(20))
    assert not errors if call == "state_dict" else len(errors) >= 20
    assert all("its own functions and its source cannot take batches" in each for each in errors)


def test_another_thread_is_refused_and_may_look():
    inside, go_on = threading.Event(), threading.Event()

    def function(row):
        inside.set()
        go_on.wait(20)
        return row

    with Pipeline(ROWS, [function], 5) as pipe:
        seen = []
        thread = threading.Thread(target=lambda: seen.extend(numbers(pipe)))
        thread.start()
        assert inside.wait(20)
        time.sleep(0.05)
        for call in (pipe._next, pipe.close, pipe.reset):
            with pytest.raises(ValueError, match="another thread takes a batch"):
                call()
        assert pipe.state_dict()["batch"] == 0 and pipe.report().samples == 0 and len(pipe) == 4
        assert pipe.profile().samples == 0
        go_on.set()
        thread.join()
    assert seen == list(range(20))


def test_one_thread_makes_one_sample_at_a_time():
    inside, most = [], []

    def function(row):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.001)
        inside.pop()
        return row

    before = iruka.get_num_threads()
    try:
        iruka.set_num_threads(4)
        with Pipeline(ROWS, [function], 3, threads=1, prefetch=4) as pipe:
            assert numbers(pipe) == list(range(20))
    finally:
        iruka.set_num_threads(before)
    assert set(most) == {1}


def test_functions_that_change_their_arrays():
    rows, constant = ROWS.copy(), ROWS.copy()

    def function(row):
        np.asarray(row)[...] += 1
        return row

    with Pipeline({"a": rows, "b": rows}, {"a": [function, function]}, 5) as pipe:
        for _ in range(2):
            for batch in pipe:
                own = list(batch.info.indices)
                np.testing.assert_array_equal(np.asarray(batch.a), constant[own] + 2)
                np.testing.assert_array_equal(np.asarray(batch.b), constant[own])
        np.asarray(pipe[3].b)[...] = 99
    np.testing.assert_array_equal(rows, constant)


def test_shards_with_no_sample_are_padded():
    for shuffle in (False, True):
        for stick in (False, True):
            pipes = [
                Pipeline(
                    ROWS[:3],
                    [],
                    2,
                    num_shards=5,
                    shard_id=k,
                    pad_last_batch=True,
                    shuffle=shuffle,
                    stick_to_shard=stick,
                )
                for k in range(5)
            ]
            for _ in range(3):
                batches = [list(pipe) for pipe in pipes]
                assert [len(each) for each in batches] == [len(pipe) for pipe in pipes] == [1] * 5
                own = [k for (b,) in batches for k in b.info.indices[: 2 - b.info.padded]]
                assert sorted(own) == [0, 1, 2]
    with pytest.warns(RuntimeWarning, match="3 samples are fewer than num_shards=5"):
        pipes = [Pipeline(ROWS[:3], [], 2, num_shards=5, shard_id=k) for k in range(5)]
    assert sorted(sum(map(numbers, pipes), [])) == [0, 1, 2]


def test_large_numbers():
    with Pipeline(ROWS, [], 2**63 - 1) as pipe:
        assert len(pipe) == 1 and numbers(pipe) == list(range(20))
    with Pipeline(ROWS, [], 3, seed=2**64 - 1, shuffle=True) as pipe:
        assert sorted(numbers(pipe)) == list(range(20))
        state = pipe.state_dict()
        pipe.load_state_dict({**state, "epoch": 2**62})
        assert sorted(numbers(pipe)) == list(range(20))
        with pytest.raises(ValueError, match="there is no batch 0 in epoch"):
            pipe.load_state_dict({**state, "epoch": 2**63 - 1})
    with pytest.warns(RuntimeWarning, match="fewer than num_shards"):
        pipe = Pipeline(ROWS, [], 3, num_shards=2**63 - 1, shard_id=2**63 - 2, shuffle=True)
    with pipe:
        pipe.load_state_dict({**pipe.state_dict(), "epoch": 2**62})
        numbers(pipe)
    for options in ({"seed": 2**64}, {"batch_size": 2**63}, {"num_shards": 2**70}):
        with pytest.raises(ValueError, match="must be at most"):
            Pipeline(ROWS, **options)


def test_states_that_lack_something():
    pipe = Pipeline(ROWS, [], 4)
    state = pipe.state_dict()
    for name in state:
        with pytest.raises(ValueError, match=f"has no {name!r}"):
            pipe.load_state_dict({key: value for key, value in state.items() if key != name})
    with pytest.raises(TypeError, match="epoch must be an integer"):
        pipe.load_state_dict({**state, "epoch": "1"})
    for name, value in (("stick_to_shard", True), ("last_batch", "drop"), ("pad_last_batch", True)):
        with pytest.raises(ValueError, match=f"with {name}"):
            pipe.load_state_dict({**state, name: value})


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", ">f4", "float16", "float64", "complex64"])
@pytest.mark.parametrize("order", ["C", "F", "reversed"])
def test_arrays_of_any_layout_give_their_rows(dtype, order):
    rows = (np.arange(5 * 3 * 4) % 7).reshape(5, 3, 4).astype(dtype)
    rows = np.asfortranarray(rows) if order == "F" else rows[::-1] if order == "reversed" else rows
    with Pipeline({"a": rows, "b": rows[:, 0, 0], "c": rows[:, :, :0]}, [], 2, shuffle=True, output="numpy") as pipe:
        for batch in pipe:
            own = list(batch.info.indices)
            for made, whole in zip(batch, (rows, rows[:, 0, 0], rows[:, :, :0]), strict=True):
                np.testing.assert_array_equal(made, whole[own])
                assert made.dtype == whole.dtype.newbyteorder("=")


def test_a_source_of_arrays_in_the_core():
    for wrong, message in (
        ([], "no arrays"),
        ([np.float32(3)], "no axis"),
        ([ROWS, ROWS[:3]], "lengths are 20 and 3"),
        ([ROWS[:0]], "at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            _core._pipeline.arrays(wrong)


def test_a_function_with_an_odd_name():
    class Odd:
        name = 3

        def __call__(self, row):
            return row

    with Pipeline(ROWS, [Odd()], 20) as pipe:
        assert numbers(pipe) == list(range(20)) and pipe.profile().stages[1].stage == "Odd"


def test_operations_without_their_values():
    graph = _core._pipeline.Graph(1)
    with pytest.raises(ValueError, match="decode needs 1 values, not 0"):
        graph.add(_core._pipeline.decode(Decode()._options(None)), [])
    with pytest.raises(ValueError, match="stages needs 2 values, not 1"):
        rotate = image.Rotate(3.0)._fields()
        graph.add(_core._pipeline.stages([rotate], [(0, "rotate.angle", 0, ("input", 1))]), [0])


def test_a_signal_handler_that_takes_batches():
    with Pipeline(Sequence(), [lambda row: (time.sleep(0.03), row)[1]], 2, prefetch=3) as pipe:
        taken = []

        def handler(*_):
            taken.append(pipe._next())

        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        try:
            while len(taken) < 40:
                taken.append(pipe._next())
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    seen = sorted((b.info.epoch, k) for b in taken if b is not None for k in b.info.indices)
    assert len(seen) == len(set(seen)) and len(seen) > 40


def test_a_signal_handler_that_closes():
    with Pipeline(ROWS, [lambda row: (time.sleep(0.05), row)[1]], 10, threads=1) as pipe:
        before = signal.signal(signal.SIGALRM, lambda *_: pipe.reset() or pipe._core().stop())
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            assert numbers(pipe) == list(range(20))
        finally:
            signal.signal(signal.SIGALRM, before)


def threads_of_process():
    return len(os.listdir("/proc/self/task"))


class Cycle:
    """A pipeline whose functions refer to it."""

    def __init__(self, source, prefetch=2):
        stages = [self.function, iruka.pipeline.Maybe(self.other)]
        self.pipe = Pipeline(source(self), stages, 4, prefetch=prefetch)

    def function(self, row):
        return row

    def other(self, row):
        return row


class Referring(Source):
    fields = ("row",)

    def __init__(self, owner):
        self.owner = owner

    def __len__(self):
        return 20

    def __getitem__(self, index):
        return (ROWS[index],)


class ReferringSequence(Sequence):
    def __init__(self, owner):
        super().__init__()
        self.owner = owner


@pytest.mark.parametrize("source", [lambda owner: ROWS, Referring, ReferringSequence])
@pytest.mark.parametrize("takes", [False, True])
def test_cycles_of_references_are_collected(source, takes):
    gc.collect()
    before = None
    for _ in range(6):
        cycle = Cycle(source)
        if takes:
            next(iter(cycle.pipe))
        gone = weakref.ref(cycle)
        del cycle
        gc.collect()
        assert gone() is None
        before = before or threads_of_process()
    assert threads_of_process() <= before


def wait_for(condition):
    for _ in range(1000):
        if condition():
            return True
        gc.collect()
        time.sleep(0.01)
    return False


def test_the_last_reference_goes_within_its_own_function():
    holder, go_on, done = [], threading.Event(), threading.Event()

    def function(row):
        if row[0] >= 16:
            go_on.wait(20)
            holder.clear()
            done.set()
        return row

    with Pipeline(ROWS, [lambda row: row], 4) as pipe:
        numbers(pipe)
    before = threads_of_process()
    holder.append(Pipeline(ROWS, [function], 4))
    next(iter(holder[0]))
    gone = weakref.ref(holder[0])
    go_on.set()
    assert done.wait(20)
    assert wait_for(lambda: gone() is None and threads_of_process() <= before)


def test_a_cycle_is_collected_on_a_thread_of_another_pipeline():
    cycle = Cycle(Referring)
    next(iter(cycle.pipe))
    gone = weakref.ref(cycle)
    del cycle

    def collect(row):
        gc.collect()
        return row

    with Pipeline(ROWS, [collect], 10) as pipe:
        assert numbers(pipe) == list(range(20))
    assert gone() is None


def test_ten_thousand_small_pictures_of_which_one_in_a_hundred_is_corrupt(tmp_path):
    good = [image.imencode(".png", np.full((8, 8, 3), k, np.uint8)) for k in range(50)]
    good = [bytes(np.asarray(each)) if not isinstance(each, bytes) else each for each in good]
    bad = set(range(37, 10_000, 100))
    damages = [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"text"]
    paths = []
    for number in range(10_000):
        path = tmp_path / f"{number:05}.png"
        data = good[number % 50]
        path.write_bytes(damages[number // 100 % 3](data) if number in bad else data)
        paths.append(path)
    with Pipeline(paths, [Decode()], 64, shuffle=True, on_error="skip", output="numpy") as pipe:
        seen = []
        for batch in pipe:
            np.testing.assert_array_equal(batch[0][:, 0, 0, 0], np.array(batch.info.indices) % 50)
            seen += batch.info.indices
        report = pipe.report()
    assert sorted(seen) == sorted(set(range(10_000)) - bad)
    assert (report.samples, report.failed, report.replaced) == (9_900, 100, 0)
    assert {f.index for f in report.failures} == bad
    assert all(f.sample == str(paths[f.index]) and f.stage in ("decode", "pixels") for f in report.failures)
