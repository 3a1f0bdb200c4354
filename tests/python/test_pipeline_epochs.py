"""Iterators over epochs: one at a time, errors in between, bars, warnings, and what a closed pipeline tells."""

import copy
import pickle
import sys
import time
import types
import warnings

import numpy as np
import pytest

from iruka.pipeline import Decode, Pipeline, SequentialSource, arrays

NUMBERS = np.arange(12)


class Dataset:
    """Numbers of which some cannot be read."""

    def __init__(self, size=12, bad=()):
        self.size, self.bad = size, bad

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if index in self.bad:
            raise KeyError(f"no {index}")
        return np.int64(index)


def indices(batches):
    return [list(batch.info.indices) for batch in batches]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_a_later_iterator_ends_an_earlier_one(prefetch):
    with Pipeline(arrays(v=NUMBERS), [], 3, prefetch=prefetch) as pipe:
        inner = []
        with pytest.raises(RuntimeError, match=r"a later iter\(\).* ended epoch 0 of this iterator behind 1 batches"):
            for _ in pipe:
                inner.append(indices(pipe))
        assert inner == [[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]]
        with pytest.raises(RuntimeError, match="behind 0 batches"):
            list(zip(pipe, pipe, strict=False))


def test_a_look_at_a_batch_within_a_loop():
    with Pipeline(arrays(v=NUMBERS), [], 3) as pipe:
        seen = []
        with pytest.raises(RuntimeError, match="one epoch at a time"):
            for batch in pipe:
                seen.append(batch.info.number)
                if len(seen) == 2:
                    next(iter(pipe))
        assert seen == [0, 1]
        seen = [(batch.info.number, int(pipe[5].v)) for batch in pipe]
        assert seen == [(k, 5) for k in range(4)]


@pytest.mark.parametrize("call", ["reset", "load_state_dict"])
def test_other_calls_that_end_an_epoch(call):
    with Pipeline(arrays(v=NUMBERS), [], 3) as pipe:
        arguments = [] if call == "reset" else [{**pipe.state_dict(), "batch": 2}]
        epoch = iter(pipe)
        next(epoch)
        getattr(pipe, call)(*arguments)
        with pytest.raises(RuntimeError, match=rf"{call}\(\) ended epoch 0 of this iterator"):
            next(epoch)
        assert list(epoch) == []
        assert indices(pipe)[0] == ([0, 1, 2] if call == "reset" else [6, 7, 8])


def test_an_iterator_that_is_over_stays_so():
    with Pipeline(arrays(v=NUMBERS), [], 6) as pipe:
        epoch = iter(pipe)
        assert iter(epoch) is epoch and len(list(epoch)) == 2
        assert list(epoch) == [] and len(list(pipe)) == 2 and list(epoch) == []


@pytest.mark.parametrize("prefetch", [0, 2])
def test_the_call_behind_an_error_goes_on(prefetch):
    with Pipeline(Dataset(bad=(4, 5, 10)), [], 3, prefetch=prefetch) as pipe:
        epoch, made, errors = iter(pipe), [], []
        while True:
            try:
                made.append(list(next(epoch).info.indices))
            except KeyError as error:
                errors.append(str(error))
            except StopIteration:
                break
        assert made == [[0, 1, 2], [6, 7, 8]] and errors == ["'no 4'", "'no 10'"]
        assert pipe.state_dict()["epoch"] == 1


class Broken(SequentialSource):
    fields = ("value",)

    def begin(self, epoch):
        self.position = 0

    def next(self, count):
        self.position += count
        if self.position > 4:
            raise OSError("the line is dead")
        return [(k,) for k in range(self.position - count, self.position)]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_the_error_of_a_source_ends_its_epoch(prefetch):
    with Pipeline(Broken(), [], 2, prefetch=prefetch) as pipe:
        for number in range(2):
            epoch = iter(pipe)
            assert [next(epoch).info.epoch for _ in range(2)] == [number, number]
            with pytest.raises(OSError, match="the line is dead"):
                next(epoch)
            assert list(epoch) == []


def test_stop_iteration_of_a_function_is_no_end():
    def function(value):
        return next(iter([])) if int(value) == 4 else value

    with Pipeline(arrays(v=NUMBERS), [function], 3) as pipe:
        epoch = iter(pipe)
        next(epoch)
        with pytest.raises(RuntimeError, match="a function or the source raised StopIteration") as raised:
            next(epoch)
        assert "sample 4, in function" in raised.value.__cause__.__notes__[-1]
        assert len(list(epoch)) == 2


class Generous(SequentialSource):
    fields = ("value",)

    def begin(self, epoch):
        pass

    def next(self, count):
        return [(k,) for k in range(count + 1)]


def test_a_source_gives_at_most_what_it_is_asked_for():
    with Pipeline(Generous(), [], 2) as pipe:
        with pytest.raises(ValueError, match=r"next\(2\) gave 3 samples, more than it was asked for"):
            next(iter(pipe))


@pytest.mark.parametrize("on_error", ["skip", "replace"])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_an_epoch_without_any_sample_warns_once(on_error, prefetch):
    with Pipeline(arrays(v=NUMBERS), [lambda v: 1 // 0], 5, on_error=on_error, prefetch=prefetch) as pipe:
        with pytest.warns(RuntimeWarning, match="all 12 samples of epoch 0 failed, so that it has no batch; sample"):
            assert list(pipe) == []
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert list(pipe) == []
    with Pipeline(Dataset(bad=range(1, 12)), [], 5, on_error=on_error) as pipe, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(pipe)) >= 1


def test_warnings_of_epochs_without_batches():
    with pytest.warns(
        RuntimeWarning, match="12 samples are fewer than num_shards=50, so that epochs may have no batch"
    ):
        Pipeline(arrays(v=NUMBERS), [], 2, num_shards=50, shard_id=3)
    with pytest.warns(RuntimeWarning, match="a shard has 6 samples, fewer than batch_size=8"):
        Pipeline(arrays(v=NUMBERS), [], 8, num_shards=2, last_batch="drop")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Pipeline(arrays(v=NUMBERS), [], 8, num_shards=50, pad_last_batch=True)
        Pipeline(arrays(v=NUMBERS), [], 12, last_batch="drop")
        Pipeline(arrays(v=NUMBERS), [], 100)


class Bar:
    """As much of tqdm as is used: an iterable without __next__."""

    made: list = []

    def __init__(self, *, total, initial, unit):
        self.total, self.count, self.is_closed = total, initial, False
        self.made.append(self)

    def update(self):
        self.count += 1

    def close(self):
        self.is_closed = True


def test_a_bar_counts_the_batches(monkeypatch):
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    with Pipeline(arrays(v=NUMBERS), [], 3, progress=True) as pipe:
        assert len(list(pipe)) == 4
        (bar,) = Bar.made
        assert (bar.total, bar.count, bar.is_closed) == (4, 4, True)
        pipe.load_state_dict({**pipe.state_dict(), "batch": 3})
        next(iter(pipe))
        assert (Bar.made[1].total, Bar.made[1].count) == (4, 4)


def test_no_bar_without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with Pipeline(arrays(v=NUMBERS), [], 3, progress=True) as pipe:
        assert len(list(pipe)) == 4


def test_a_pipeline_is_no_sequence_and_no_source():
    with Pipeline(arrays(v=NUMBERS), [], 3) as pipe:
        assert len(pipe) == 4 and int(pipe[11].v) == 11
        with pytest.raises(TypeError, match="not reversible"):
            reversed(pipe)
        with pytest.raises(TypeError, match="a Pipeline is no source of another one: give its source, pipe.source"):
            Pipeline(pipe, [], 2)
        with Pipeline(pipe.source, [lambda v: v + 1], 12) as other:
            assert np.asarray(next(iter(other)).v).tolist() == list(range(1, 13))


def test_a_closed_pipeline_tells_of_what_it_made(tmp_path):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    with Pipeline([tmp_path / "bad.png"] * 3, [Decode()], 2, on_error="skip") as pipe:
        with pytest.warns(RuntimeWarning, match="all 3 samples"):
            list(pipe)
        before = str(pipe.report()), pipe.state_dict(), len(pipe.failures)
    assert (str(pipe.report()), pipe.state_dict(), len(pipe.failures)) == before
    assert [stage.stage for stage in pipe.profile().stages] == ["source", "decode", "pixels"]
    assert pipe.report().failed == 3 and pipe.state_dict()["epoch"] == 1
    with pytest.raises(ValueError, match="Pipeline: it was closed"):
        next(iter(pipe))


@pytest.mark.parametrize("call", [copy.copy, copy.deepcopy, pickle.dumps])
def test_pipelines_are_not_copied(call):
    with Pipeline(arrays(v=NUMBERS), [], 3) as pipe:
        with pytest.raises(TypeError, match="Pipeline: it has threads and is neither copied nor pickled"):
            call(pipe)


def test_batches_are_pickled():
    rows = [np.zeros(k + 1) for k in range(4)]
    with Pipeline([{"a": row, "not a name": k} for k, row in enumerate(rows)], [], 2, output="numpy") as pipe:
        batch = list(pipe)[1]
    again = pickle.loads(pickle.dumps(batch))
    assert again.info == batch.info and again._fields == batch._fields == ("a", "field_1")
    assert [row.shape for row in again.a] == [(3,), (4,)] and again[1].tolist() == [2, 3]


def slow_profile(sample, batch, **options):
    def function(value):
        time.sleep(sample)
        return value

    with Pipeline(arrays(v=np.arange(20)), [function], 2, threads=1, **options) as pipe:
        begin = time.perf_counter()
        for _ in pipe:
            time.sleep(batch)
        profile = pipe.profile()
        assert profile.waited + profile.idle <= time.perf_counter() - begin + 1e-3
    return profile


def test_a_profile_says_who_waits():
    profile = slow_profile(0.005, 0)
    assert profile.waited > 0.05 and profile.idle < 0.02 and "function takes most of the time" in profile.advice
    profile = slow_profile(0.005, 0.002)
    assert profile.idle < profile.waited
    profile = slow_profile(0, 0.01)
    assert profile.idle > 0.04 and "The consumer is slower than the pipeline" in profile.advice
    profile = slow_profile(0.005, 0.005, prefetch=0)
    assert profile.waited > 0.095 and profile.idle == 0
    assert profile.threads == 1 and "on 1 thread;" in str(profile)
