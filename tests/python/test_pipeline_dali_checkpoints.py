"""Checkpoints of pipelines and iterators in DALI's names: a run that goes on gives what the other one would have given.
Beside nvidia.dali's own where that is installed."""

import importlib
import warnings

import numpy as np
import pytest

from iruka import fn
from iruka.pipeline import pipeline_def
from iruka.plugin.base_iterator import LastBatchPolicy
from iruka.plugin.numpy import DALIGenericIterator

COUNT = 23


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"{k}.bin" for k in range(COUNT)]
    for k, path in enumerate(paths):
        path.write_bytes(bytes([k]))
    return [str(path) for path in paths]


@pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_checkpointing=True)
def reading(files, **options):
    content, label = fn.readers.file(files=files, name="reader", **options)
    return content, label, fn.random.uniform(range=(0, 1)), fn.random.normal(shape=(3,))


def sample(info):
    if info.iteration == 5:
        raise StopIteration
    return np.int32([info.epoch_idx, info.iteration, info.idx_in_epoch]), np.float32(info.idx_in_batch)


def numbers(k):
    if k == 5:
        raise StopIteration
    return [np.int32([k, row]) for row in range(4 if k < 4 else 3)]  # the last batch of an epoch is smaller


@pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_checkpointing=True)
def fed_by_samples(files):
    first, second = fn.external_source(sample, batch=False, num_outputs=2)
    return first, second, fn.random.uniform(range=(0, 1))


@pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_checkpointing=True)
def fed_by_batches(files):
    label = fn.readers.file(files=files, random_shuffle=True)[1]
    return fn.external_source(numbers), label, fn.random.uniform(range=(0, 1))


def run(pipe):
    """A batch as lists, None at the end of an epoch."""
    try:
        return [[np.array(each).tolist() for each in output] for output in pipe.run()]
    except StopIteration:
        pipe.reset()
        return None


KINDS = {
    "files": lambda files, **options: reading(files, **options),
    "shuffled": lambda files, **options: reading(files, random_shuffle=True, **options),
    "padded shard": lambda files, **options: reading(
        files, random_shuffle=True, num_shards=3, shard_id=1, pad_last_batch=True, **options
    ),
    "shard that stays": lambda files, **options: reading(files, num_shards=2, stick_to_shard=True, **options),
    "samples": lambda files, **options: fed_by_samples(files, **options),
    "batches": lambda files, **options: fed_by_batches(files, **options),
}


@pytest.mark.parametrize("kind", KINDS)
def test_runs_go_on_with_the_next_batch(files, kind):
    make = KINDS[kind]
    pipe = make(files, seed=5)
    checkpoints, batches = [pipe.checkpoint()], []
    for _ in range(20):
        batches.append(run(pipe))
        checkpoints.append(pipe.checkpoint())
    assert not pipe.is_restored_from_checkpoint
    for taken in (0, 1, 4, 5, 6, 11, 17):
        other = make(files, checkpoint=checkpoints[taken])  # which has the seed, too
        assert other.is_restored_from_checkpoint
        assert other.checkpoint() == checkpoints[taken]
        for batch, after in zip(batches[taken:], checkpoints[taken + 1 :], strict=True):
            assert run(other) == batch
            assert other.checkpoint() == after


def test_checkpoints_in_files(files, tmp_path):
    pipe = reading(files)
    run(pipe)
    data = pipe.checkpoint(tmp_path / "state")
    assert isinstance(data, bytes) and (tmp_path / "state").read_bytes() == data
    expected = run(pipe)
    again = reading(files, checkpoint=(tmp_path / "state").read_bytes())
    assert run(again) == expected and again.seed == pipe.seed


def test_batches_that_were_made_ahead_are_not_counted(files):
    pipe = reading(files, seed=3, prefetch_queue_depth=5)
    for _ in range(3):
        pipe.schedule_run()
    pipe.share_outputs()
    checkpoint = pipe.checkpoint()
    expected = [np.asarray(each).tolist() for each in pipe.share_outputs()[1]]
    other = reading(files, checkpoint=checkpoint)
    assert [np.asarray(each).tolist() for each in other.run()[1]] == expected


POLICIES = [LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL]


def epochs_of(iterator, batches):
    """So many batches, with the ends of epochs."""
    made = []
    while len(made) < batches:
        try:
            made.append([each["label"].ravel().tolist() for each in next(iterator)])
        except StopIteration:
            made.append("end")
            iterator.reset()
    return made


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("sticks", [True, False])
def test_iterators_go_on_where_they_were(files, policy, padded, sticks):
    def iterator(checkpoints=None):
        options = {"num_shards": 2, "pad_last_batch": padded, "stick_to_shard": sticks, "random_shuffle": True}
        pipes = [
            reading(files, shard_id=k, seed=7, checkpoint=checkpoints and checkpoints[k], **options) for k in range(2)
        ]
        return DALIGenericIterator(
            pipes, ["content", "label", "number", "noise"], reader_name="reader", last_batch_policy=policy
        )

    reference = iterator()
    states, expected = [reference.checkpoints()], []
    for _ in range(16):
        expected += epochs_of(reference, 1)
        states.append(reference.checkpoints())
    for taken in (0, 1, 2, 3, 4, 7, 12):
        assert epochs_of(iterator(states[taken]), 16 - taken) == expected[taken:], taken


def test_the_batch_that_an_iterator_prepares_is_not_lost(files):
    pipe = reading(files, seed=1)
    iterator = DALIGenericIterator(pipe, ["content", "label", "number", "noise"], reader_name="reader")
    (state,) = iterator.checkpoints()
    again = DALIGenericIterator(
        reading(files, checkpoint=state), ["content", "label", "number", "noise"], reader_name="reader"
    )
    assert epochs_of(again, 4) == epochs_of(iterator, 4)


def test_what_is_refused(files):
    @pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def plain():
        return fn.readers.file(files=files)[1]

    with pytest.raises(ValueError, match="enable_checkpointing=True"):
        plain().checkpoint()
    iterator = DALIGenericIterator(plain(), ["label"], size=8)
    with pytest.raises(ValueError, match="enable_checkpointing=True"):
        iterator.checkpoints()
    for bad in (b"", b"no checkpoint", b"{}", b'{"seed": 1}'):
        with pytest.raises(ValueError, match="checkpoint"):
            plain(checkpoint=bad)
    data = reading(files).checkpoint()
    with pytest.raises(ValueError, match="numbers that no pipeline has"):
        plain(checkpoint=data.replace(b'"epoch": 0', b'"epoch": -1'))
    with pytest.raises(ValueError, match="batches of 4, not 5"):
        reading(files, batch_size=5, checkpoint=data)


def test_sources_without_numbers_go_on_by_themselves():
    values = [np.full((2, 1), k, np.int32) for k in range(6)]

    @pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_checkpointing=True)
    def make(source):
        return fn.external_source(source)

    with pytest.warns(UserWarning, match="goes on by itself"):
        pipe = make(values)
        assert run(pipe)[0] == [[0], [0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = make(values[1:], checkpoint=pipe.checkpoint())
        assert run(other)[0] == [[1], [1]]


@pytest.mark.parametrize("batches", [0, 1, 5, 6, 9])
@pytest.mark.parametrize("padded", [True, False])
def test_beside_dali(files, batches, padded):
    dali = pytest.importorskip("nvidia.dali")
    their_fn = importlib.import_module("nvidia.dali.fn")

    def run_of(define, functions, taken=0, checkpoint=None):
        @define(batch_size=4, num_threads=1, device_id=None, seed=2, enable_checkpointing=True, checkpoint=checkpoint)
        def make():
            options = {"num_shards": 2, "shard_id": 1, "pad_last_batch": padded, "name": "reader"}
            return functions.readers.file(files=files, **options)[1], functions.external_source(
                lambda info: np.int32([info.idx_in_epoch]), batch=False
            )

        pipe = make()
        for _ in range(taken):
            pipe.run()
        return pipe

    def rows(pipe):
        return [[np.asarray(each).tolist() for each in output] for _ in range(9) for output in pipe.run()]

    sides = []
    for define, functions in ((dali.pipeline_def, their_fn), (pipeline_def, fn)):
        state = run_of(define, functions, batches).checkpoint()
        sides.append(rows(run_of(define, functions, checkpoint=state)))
    assert sides[0] == sides[1]


@pipeline_def(batch_size=2, num_threads=2, device_id=None, enable_checkpointing=True, seed=4)
def damaged(bad, size):
    def rows(k):
        if 2 * k >= size:
            raise StopIteration
        return [np.int32(row) for row in range(2 * k, min(2 * k + 2, size))]

    def checked(x):
        if x in bad:
            raise ValueError(f"sample {x} is bad")
        return x

    return fn.python_function(fn.external_source(rows), function=checked), fn.random.uniform(range=(0, 1))


@pytest.mark.parametrize("bad", [(4, 5), (0, 1), (2, 3), (2, 3, 4, 5), (1, 4), (4,), range(2, 14), range(14)])
@pytest.mark.parametrize("size", [5, 6, 15, 18])
def test_batches_that_are_left_out_as_a_whole_are_passed(bad, size):
    pipe = damaged(bad, size, on_error="skip")
    whole = [[k for k in range(first, min(first + 2, size)) if k not in bad] for first in range(0, size, 2)]
    expected = [each for each in whole if each] + [None]
    made, checkpoints = [], [pipe.checkpoint()]
    for _ in range(3 * len(expected)):
        made.append(run(pipe))
        checkpoints.append(pipe.checkpoint())
    assert [each and each[0] for each in made] == 3 * expected
    for taken in range(len(made)):
        other = damaged(bad, size, on_error="skip", checkpoint=checkpoints[taken])
        assert [run(other) for _ in made[taken:]] == made[taken:], taken


def test_an_iterator_goes_on_behind_many_batches_that_are_left_out():
    batches = DALIGenericIterator(damaged(range(2, 40), 45, on_error="skip"), ["row", "number"], auto_reset=True)
    for _ in range(2):
        assert [batch[0]["row"].ravel().tolist() for batch in batches] == [[0, 1], [40, 41], [42, 43], [44]]


@pipeline_def(batch_size=2, num_threads=2, device_id=None, on_error="skip")
def fed():
    def checked(x):
        if x < 0:
            raise ValueError("a negative sample")
        return x

    return fn.python_function(fn.external_source(name="row"), function=checked)


def test_a_batch_fed_by_hand_that_is_left_out_is_an_error():
    pipe = fed()
    pipe.feed_input("row", np.int32([1, 2]))
    assert run(pipe) == [[1, 2]]
    pipe.feed_input("row", np.int32([-1, -2]))
    with pytest.raises(RuntimeError, match=r"all samples of the batch that was fed were left out; report\(\) says why"):
        pipe.run()
    for batch in ([-1, -2], [-3, -4], [3, -5]):  # where more is there, it goes on
        pipe.feed_input("row", np.int32(batch))
    assert run(pipe) == [[3]]
    assert len(pipe.report().failures) == 7


def test_a_batch_that_raises_is_passed():
    pipe, made = damaged((3,), 6, on_error="raise"), []
    for _ in range(8):
        try:
            batch = run(pipe)
            made.append(batch and batch[0])
        except ValueError as error:
            made.append(str(error))
    assert made == 2 * [[0, 1], "sample 3 is bad", [4, 5], None]
