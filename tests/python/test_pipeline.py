"""Batches of pipelines: what is in them, in which order, and that they do not depend on threads or resuming."""

import collections
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import iruka
from iruka import image
from iruka.pipeline import (
    Bernoulli,
    Choice,
    Decode,
    Function,
    Integers,
    LogUniform,
    Maybe,
    Normal,
    OneOf,
    Pipeline,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Uniform,
    arrays,
)

COUNT = 23


def picture(number, height=None, width=None):
    """A smooth picture of its own size for each number."""
    height, width = height or 40 + 3 * number, width or 60 - number
    y, x, c = np.ogrid[:height, :width, :3]
    return ((y * (3 + number) + x * (5 - c) + 40 * c + 7 * number) % 251).astype(np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("photographs")
    for number in range(COUNT):
        kind = root / ("ab"[number % 2])
        kind.mkdir(exist_ok=True)
        image.imwrite(kind / f"{number:02}.png", picture(number))
    return root


@pytest.fixture(scope="module")
def paths(folder):
    return sorted(folder.glob("*/*.png"))


def augmented(source, **options):
    stages = [
        Decode(),
        RandomResizedCrop((24, 20)),
        RandomFlip(0.5, vertical=0.3),
        image.Rotate(Uniform(-20, 20)),
        image.Brightness(Normal(1, 0.2)),
        Maybe(image.Hue(Uniform(-30, 30)), 0.5),
        image.Normalize(127.5, 64.0),
        image.Layout("CHW"),
    ]
    return Pipeline(source, stages, **{"batch_size": 8, "shuffle": True, "seed": 7, **options})


def batches_of(pipe, epochs=2):
    return [(batch.info, *map(np.array, batch)) for _ in range(epochs) for batch in pipe]


def assert_equal(left, right):
    assert [info for info, *_ in left] == [info for info, *_ in right]
    for (_, *one), (_, *other) in zip(left, right, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.fixture
def threads():
    before = iruka.get_num_threads()
    yield iruka.set_num_threads
    iruka.set_num_threads(before)


def test_an_epoch_has_each_sample_once(folder):
    with augmented(folder) as pipe:
        assert len(pipe) == 3 and pipe.fields == ["picture", "label"]
        for _ in range(3):
            batches = list(pipe)
            assert [len(batch.info.indices) for batch in batches] == [8, 8, 7]
            assert sorted(k for batch in batches for k in batch.info.indices) == list(range(COUNT))
            for batch in batches:
                assert batch.picture.shape == (len(batch.label), 3, 24, 20) and batch.picture.dtype == np.float32


def test_pixels_are_those_of_the_functions(paths):
    with Pipeline(paths, [Decode(), image.Resize((16, 18)), image.Flip()], batch_size=5) as pipe:
        made = np.concatenate([np.asarray(batch.picture) for batch in pipe])
    for path, got in zip(paths, made, strict=True):
        wanted = iruka.asnumpy(image.resize(image.imread(path), (16, 18)))[:, ::-1]
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_threads_do_not_change_batches(folder, threads, count):
    threads(2)
    reference = batches_of(augmented(folder, prefetch=0, threads=1))
    threads(count)
    assert_equal(batches_of(augmented(folder)), reference)
    assert_equal(batches_of(augmented(folder, prefetch=5, threads=3)), reference)


def test_another_seed_and_another_epoch_give_other_batches(folder):
    one, other = batches_of(augmented(folder)), batches_of(augmented(folder, seed=8))
    assert one[0][0].indices != other[0][0].indices and one[0][0].indices != one[3][0].indices
    assert not np.array_equal(one[0][1], other[0][1])


@pytest.mark.parametrize("taken", range(7))
def test_resuming_at_any_batch(folder, taken):
    reference = batches_of(augmented(folder))
    pipe, made = augmented(folder), []
    while len(made) < taken:
        for batch in pipe:
            made.append(batch)
            if len(made) == taken:
                break
    state = pipe.state_dict()
    pipe.close()
    resumed = augmented(folder)
    resumed.load_state_dict(state)
    rest = []
    while len(rest) + taken < len(reference):
        rest += [(batch.info, *map(np.array, batch)) for batch in resumed]
    assert_equal(rest, reference[taken:])


def test_a_state_of_another_pipeline_is_refused(folder, paths):
    state = augmented(folder).state_dict()
    for other in (
        augmented(folder, seed=1),
        augmented(folder, batch_size=4),
        augmented(folder, shuffle=False),
        augmented(folder, num_shards=2),
        augmented(paths[:4]),
    ):
        with pytest.raises(ValueError, match="load_state_dict: the state is of a pipeline with"):
            other.load_state_dict(state)
    with pytest.raises(ValueError, match="behind batch 9 of epoch 0, which has 3"):
        augmented(folder).load_state_dict({**state, "batch": 9})
    with pytest.raises(ValueError, match="has no 'seed'"):
        augmented(folder).load_state_dict({})


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("stick", [False, True])
@pytest.mark.parametrize("shards", [1, 2, 3, 5])
def test_shards_are_disjoint_and_together_the_whole(folder, shards, stick, shuffle):
    pipes = [
        augmented(folder, num_shards=shards, shard_id=k, stick_to_shard=stick, shuffle=shuffle) for k in range(shards)
    ]
    seen = collections.defaultdict(list)
    for epoch in range(3):
        parts = [[k for batch in pipe for k in batch.info.indices] for pipe in pipes]
        assert sorted(sum(parts, [])) == list(range(COUNT))
        assert all(len(part) in (COUNT // shards, -(-COUNT // shards)) for part in parts)
        for number, part in enumerate(parts):
            seen[number].append(sorted(part))
            if not shuffle:
                begin = COUNT * ((number + (0 if stick else epoch)) % shards) // shards
                assert part == list(range(begin, begin + len(part)))
    if stick:
        assert all(epochs[0] == epochs[1] == epochs[2] for epochs in seen.values())


def test_samples_do_not_depend_on_the_shard(folder):
    whole = {k: row for info, rows, _ in batches_of(augmented(folder), 1) for k, row in zip(info.indices, rows)}
    for shard in range(3):
        for info, rows, _ in batches_of(augmented(folder, num_shards=3, shard_id=shard), 1):
            for k, row in zip(info.indices, rows, strict=True):
                np.testing.assert_array_equal(row, whole[k])


@pytest.mark.parametrize(
    "last, sizes, padded", [("partial", [8, 8, 7], 0), ("drop", [8, 8], 0), ("fill", [8, 8, 8], 1)]
)
def test_the_last_batch(folder, last, sizes, padded):
    with augmented(folder, last_batch=last, shuffle=False) as pipe:
        assert len(pipe) == len(sizes)
        batches = list(pipe)
    assert [len(batch.label) for batch in batches] == sizes
    assert batches[-1].info.padded == padded
    if padded:
        assert batches[-1].info.indices[-2:] == (COUNT - 1, COUNT - 1)
        np.testing.assert_array_equal(np.asarray(batches[-1].picture[-1]), np.asarray(batches[-1].picture[-2]))


@pytest.mark.parametrize("options", [{"last_batch": "fill"}, {"pad_last_batch": True, "num_shards": 2, "shard_id": 1}])
def test_repeated_samples_are_made_once(paths, options):
    made = []

    def counted(picture):
        made.append(1)
        return picture

    stages = [Decode(), RandomResizedCrop((9, 8)), image.Rotate(Uniform(-20, 20)), counted]
    with Pipeline(paths, stages, batch_size=30, seed=3, prefetch=0, **options) as pipe:
        (batch,) = pipe
        own = 30 - batch.info.padded
        assert len(made) == own and own in (COUNT, COUNT - COUNT // 2)
        for index, picture in zip(batch.info.indices, batch[0], strict=True):
            np.testing.assert_array_equal(picture, pipe._core().sample(0, index)[0])


def test_padded_shards_have_equally_many_batches(paths):
    pipes = [
        Pipeline(paths[:9], [Decode()], batch_size=2, num_shards=4, shard_id=k, pad_last_batch=True) for k in range(4)
    ]
    for _ in range(4):
        sizes = [[len(batch.info.indices) for batch in pipe] for pipe in pipes]
        assert sizes == [[2, 2]] * 4
    indices = [[batch.info.indices for batch in pipe] for pipe in pipes]
    assert sorted({k for part in indices for batch in part for k in batch}) == list(range(9))


def test_random_access(folder):
    pipe = augmented(folder)
    rows = {k: row for info, rows, _ in batches_of(pipe, 1) for k, row in zip(info.indices, rows, strict=True)}
    first_epoch = augmented(folder)
    for index in (0, 5, COUNT - 1, -1):
        np.testing.assert_array_equal(np.asarray(first_epoch[index].picture), rows[index % COUNT])
    with pytest.raises(IndexError, match=f"no sample {COUNT} of {COUNT}"):
        first_epoch[COUNT]
    with pytest.raises(TypeError, match="an index must be an integer"):
        first_epoch["a"]


def test_pictures_of_unequal_size_are_a_list(paths):
    with Pipeline(paths, [Decode()], batch_size=4) as pipe:
        batch = next(iter(pipe))
    assert isinstance(batch.picture, list)
    for path, got in zip(paths, batch.picture):
        np.testing.assert_array_equal(np.asarray(got), iruka.asnumpy(image.imread(path)))


def test_one_number_serves_several_fields():
    pictures = np.stack([picture(k, 32, 32) for k in range(10)])
    angle, flip, part = Uniform(-40, 40), RandomFlip(), RandomCrop((9, 11))
    own = {"a": [image.Rotate(angle), flip, part], "b": [image.Rotate(angle), flip, part], "c": [RandomCrop((9, 11))]}
    with Pipeline({"a": pictures, "b": pictures, "c": pictures}, own, batch_size=10, seed=3) as pipe:
        (batch,) = pipe
    np.testing.assert_array_equal(np.asarray(batch.a), np.asarray(batch.b))
    assert not np.array_equal(np.asarray(batch.a), np.asarray(batch.c))


@pytest.mark.parametrize(
    "random, low, high, mean",
    [
        (Uniform(2, 4), 2, 4, 3),
        (LogUniform(0.5, 2), 0.5, 2, 1.5 / np.log(4)),
        (Bernoulli(0.25), 0, 1, 0.25),
        (Integers(3, 7), 3, 6, 4.5),
        (Choice([1, 10, 5]), 1, 10, 16 / 3),
        (Choice([1, 10, 5], [1, 0, 3]), 1, 5, 4),
        (Normal(3, 0.5), 0, 6, 3),
    ],
)
def test_distributions(random, low, high, mean):
    ones = np.ones((4000, 1, 1, 1), np.float32)
    with Pipeline(ones, [image.Brightness(random)], batch_size=4000, seed=5) as pipe:
        (batch,) = pipe
    values = np.asarray(batch[0]).ravel()
    assert values.min() >= low and values.max() <= high
    assert abs(values.mean() - mean) < 5 * max(values.std(), 1e-3) / np.sqrt(len(values))
    if isinstance(random, Integers):
        assert set(values) == {3, 4, 5, 6}
    if isinstance(random, Choice) and random.weights:
        assert set(values) == {1, 5}


def test_random_resized_crops_have_the_areas_and_proportions():
    height, width = 90, 120
    y, x = np.mgrid[:height, :width].astype(np.float32)
    places = np.broadcast_to(np.stack([y, x], axis=-1), (400, height, width, 2))
    crop = RandomResizedCrop((2, 2), area=(0.2, 0.5), ratio=(0.5, 2.0), filter="nearest")
    with Pipeline(np.ascontiguousarray(places), [crop], batch_size=400, seed=1) as pipe:
        (batch,) = pipe
    got = np.asarray(batch[0])
    rows, columns = 2 * (got[:, 1, 0, 0] - got[:, 0, 0, 0]), 2 * (got[:, 0, 1, 1] - got[:, 0, 0, 1])
    area, ratio = rows * columns / (height * width), columns / rows
    assert (area > 0.17).all() and (area < 0.54).all() and abs(area.mean() - 0.35) < 0.03
    assert (ratio > 0.42).all() and (ratio < 2.4).all() and abs(np.log(ratio).mean()) < 0.12


def test_one_of_has_its_probabilities():
    zeros = np.zeros((2000, 1, 1, 1), np.float32)
    stages = [OneOf([lambda a: a + 1, [lambda a: a + 2, lambda a: a * 10]], [0.5, 0.2])]
    with Pipeline(zeros, stages, batch_size=2000, seed=2) as pipe:
        (batch,) = pipe
    counts = collections.Counter(np.asarray(batch[0]).ravel().tolist())
    assert set(counts) == {0, 1, 20}
    for value, part in ((0, 0.3), (1, 0.5), (20, 0.2)):
        assert abs(counts[value] / 2000 - part) < 0.05


def test_functions_and_kernels():
    kernel = iruka.ElementwiseKernel("uint8 x", "float32 y", "y = x * 2.0f", "twice")

    def noisy(array, label, draws):
        return np.asarray(array) + np.float32(draws.uniform()), np.int64(label) * 10

    source = (np.stack([picture(k, 16, 16) for k in range(6)]), np.arange(6))
    run = [image.ConvertColor("rgb", "gray"), image.Resize((8, 8)), kernel, Function(noisy, ["a", "b"], draws=True)]
    pipes = [Pipeline(arrays(a=source[0], b=source[1]), run, batch_size=6, seed=4, threads=t) for t in (1, 2)]
    one, other = (next(iter(pipe)) for pipe in pipes)
    np.testing.assert_array_equal(np.asarray(one.a), np.asarray(other.a))
    assert np.asarray(one.b).tolist() == [0, 10, 20, 30, 40, 50]
    base = np.stack([iruka.asnumpy(image.resize(image.convert_color(p, "rgb", "gray"), (8, 8))) for p in source[0]])
    noise = np.asarray(one.a) - 2 * base.astype(np.float32)
    assert noise.min() >= 0 and noise.max() < 1 and len(np.unique(noise[:, 0, 0])) == 6


def damaged(folder, tmp_path):
    """Files of which every fifth is cut short, empty, or no picture."""
    paths = []
    for number, path in enumerate(sorted(folder.glob("*/*.png"))):
        target = tmp_path / f"{number:02}.png"
        content = path.read_bytes()
        if number % 5 == 0:
            content = [content[: len(content) // 2], b"", b"no picture"][number // 5 % 3]
        target.write_bytes(content)
        paths.append(target)
    return paths


def test_skipping_damaged_files(folder, tmp_path):
    paths = damaged(folder, tmp_path)
    bad = set(range(0, COUNT, 5))
    with Pipeline(paths, [Decode(), image.Resize((9, 9))], batch_size=4, shuffle=True, on_error="skip") as pipe:
        for epoch in range(2):
            batches = list(pipe)
            assert sorted(k for b in batches for k in b.info.indices) == sorted(set(range(COUNT)) - bad)
            for batch in batches:
                for k, row in zip(batch.info.indices, np.asarray(batch[0]), strict=True):
                    np.testing.assert_array_equal(row, iruka.asnumpy(image.resize(image.imread(paths[k]), (9, 9))))
            assert sorted(f.index for f in pipe.failures if f.epoch == epoch) == sorted(bad)
        report = pipe.report()
    assert (report.samples, report.failed, report.replaced) == (2 * (COUNT - len(bad)), 2 * len(bad), 0)
    for failure in report.failures:
        assert failure.sample == str(paths[failure.index])
        assert failure.stage == ("pixels" if failure.index // 5 % 3 == 0 else "decode")
        assert str(paths[failure.index]) in failure.message and isinstance(failure.error, (ValueError, OSError))
    assert f"{2 * len(bad)} failed" in str(report) and "00.png" in str(report)


NO_PICTURES = {
    "text": b"no picture at all",
    "empty": b"",
    "truncated header": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "no size": b"P6 0 4 255\n",
    "too short for its pixels": b"P6 400 400 255\n" + bytes(100),
}


@pytest.mark.parametrize("name", NO_PICTURES)
@pytest.mark.parametrize("stages", [[], [RandomResizedCrop((8, 9))], [RandomCrop((8, 9))], [image.Resize((8, 9))],
                                    [lambda picture: picture], [OneOf([RandomResizedCrop((8, 9))])]])  # fmt: skip
def test_what_is_no_picture_fails_in_decode(tmp_path, name, stages):
    path = tmp_path / "photograph.jpg"
    path.write_bytes(NO_PICTURES[name])
    with Pipeline([path], [Decode(), *stages]) as pipe:
        with pytest.raises(ValueError) as caught:
            next(iter(pipe))
        assert pipe.failures[0].stage == "decode"
    assert any(f"{path}, in decode" in note for note in caught.value.__notes__)


def test_too_many_pixels_fail_in_decode(paths):
    with Pipeline(paths[:1], [Decode(max_pixels=100), RandomResizedCrop((8, 9))], on_error="skip") as pipe:
        with pytest.warns(RuntimeWarning, match="all 1 samples"):
            assert list(pipe) == []
        assert pipe.failures[0].stage == "decode" and "max_pixels" in pipe.failures[0].message


def test_replacing_damaged_files(folder, tmp_path):
    paths = damaged(folder, tmp_path)
    runs = []
    for count in (1, 2):
        with Pipeline(
            paths, [Decode(), image.Resize((9, 9))], 4, shuffle=True, on_error="replace", threads=count
        ) as pipe:
            runs.append(batches_of(pipe, 1))
            report = pipe.report()
    assert_equal(*runs)
    indices = [k for info, _ in runs[0] for k in info.indices]
    assert len(indices) == COUNT and not set(indices) & set(range(0, COUNT, 5))
    assert report.samples == COUNT and report.failed == report.replaced == 5
    for info, rows in runs[0]:
        for k, row in zip(info.indices, rows, strict=True):
            np.testing.assert_array_equal(row, iruka.asnumpy(image.resize(image.imread(paths[k]), (9, 9))))


def test_raising_goes_on_behind_the_batch(folder, tmp_path):
    paths = damaged(folder, tmp_path)
    pipe = Pipeline(paths, [Decode(), image.Resize((9, 9))], batch_size=4)
    seen, errors = [], 0
    batches = iter(pipe)
    with pytest.raises((ValueError, OSError)) as raised:
        next(batches)
    assert "00.png" in str(raised.value) and any("00.png" in note for note in raised.value.__notes__)
    while pipe.state_dict()["epoch"] == 0:
        try:
            batch = pipe._next()
        except (ValueError, OSError):
            errors += 1
            continue
        seen += batch.info.indices if batch else ()
    bad = {number // 4 for number in range(0, COUNT, 5)}
    assert errors == len(bad) - 1 and seen == [k for k in range(COUNT) if k // 4 not in bad]


def test_all_samples_of_a_batch_fail(tmp_path):
    for number in range(6):
        (tmp_path / f"{number}.png").write_bytes(b"nothing")
    image.imwrite(tmp_path / "6.png", picture(1))
    paths = sorted(tmp_path.glob("*.png"))
    for mode in ("skip", "replace"):
        with Pipeline(paths, [Decode(), image.Resize((4, 4))], batch_size=3, on_error=mode) as pipe:
            made = [k for batch in pipe for k in batch.info.indices]
            assert set(made) == {6} and pipe.report().failed == 6


def test_a_function_that_raises(paths):
    class OwnError(Exception):
        pass

    def sometimes(array):
        if array.shape[0] % 2:
            raise OwnError(f"rows: {array.shape[0]}")
        return array[:10, :10]

    with pytest.raises(OwnError, match="rows") as raised, Pipeline(paths, [Decode(), sometimes], batch_size=8) as pipe:
        list(pipe)
    assert any("sometimes" in note for note in raised.value.__notes__)
    with Pipeline(paths, [Decode(), sometimes], batch_size=8, on_error="skip") as pipe:
        good = [k for batch in pipe for k in batch.info.indices]
        failures = pipe.failures
    assert len(good) + len(failures) == COUNT and all(type(f.error) is OwnError for f in failures)
    assert all(f.stage == "sometimes" and f.message.startswith("OwnError: rows") for f in failures)


def test_a_consumer_that_stops_early(folder):
    before = threading.active_count()
    for _ in range(5):
        pipe = augmented(folder, prefetch=3)
        for batch in pipe:
            assert len(batch.label)
            break
        del pipe
    gc.collect()
    assert threading.active_count() == before
    pipe = augmented(folder)
    first = [batch.info for batch in pipe][:1]
    for _ in pipe:
        break
    again = [batch.info for batch in pipe]  # a new epoch
    assert first[0].epoch == 0 and {info.epoch for info in again} == {2} and len(again) == 3
    pipe.close()
    with pytest.raises(ValueError, match="it was closed"):
        next(iter(pipe))


def test_batches_are_made_ahead_and_no_more(paths):
    made = []

    def count(array):
        made.append(1)
        return array[:4, :4]

    with Pipeline(paths, [Decode(), count], batch_size=2, prefetch=3) as pipe:
        batches = iter(pipe)
        next(batches)
        for _ in range(200):
            if len(made) == 8:
                break
            time.sleep(0.01)
        time.sleep(0.1)
        assert len(made) == 8  # the one that was taken, and three more
    made.clear()
    with Pipeline(paths, [Decode(), count], batch_size=2, prefetch=0) as pipe:
        next(iter(pipe))
        assert len(made) == 2


def test_outputs_of_other_libraries(folder):
    with augmented(folder, output="numpy") as pipe:
        batch = next(iter(pipe))
    assert type(batch.picture) is np.ndarray and type(batch.label) is np.ndarray
    torch = pytest.importorskip("torch")
    with augmented(folder, output="torch") as pipe:
        other = next(iter(pipe))
    assert isinstance(other.picture, torch.Tensor)
    np.testing.assert_array_equal(other.picture.numpy(), batch.picture)


def test_fields_on_the_cpu_where_all_are(folder):
    assert_equal(batches_of(augmented(folder, cpu_fields="label")), batches_of(augmented(folder)))


def test_profile(folder):
    with augmented(folder) as pipe:
        assert "No batch" in str(pipe.profile())
        for _ in pipe:
            time.sleep(0.03)
        profile = pipe.profile()
    assert profile.samples == COUNT and profile.batches == 3
    names = [stage.stage for stage in profile.stages]
    assert names[:3] == ["source", "decode", "random_resized_crop"] and names[-1] == "pixels"
    assert all(stage.calls >= COUNT for stage in profile.stages) and profile.idle > 0
    assert "pixels" in str(profile)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1, not 0"),
        ({"batch_size": 1.5}, TypeError, "batch_size must be an integer"),
        ({"num_shards": 2, "shard_id": 2}, ValueError, "shard_id is 0 to num_shards - 1, not 2 of 2"),
        ({"prefetch": -1}, ValueError, "prefetch must be at least 0"),
        ({"threads": 0}, ValueError, "threads must be at least 1"),
        ({"last_batch": "whole"}, ValueError, "last_batch must be one of 'partial', 'drop', 'fill', not 'whole'"),
        ({"on_error": "ignore"}, ValueError, "on_error must be one of"),
        ({"output": "list"}, ValueError, "output must be one of"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"cpu_fields": ["class"]}, ValueError, "no field 'class' to stay on the CPU; there are picture, label"),
    ],
)
def test_refused_options(folder, arguments, error, message):
    with pytest.raises(error, match=message):
        Pipeline(folder, [Decode()], **arguments)


@pytest.mark.parametrize(
    "stages, error, message",
    [
        (["resize"], TypeError, "a stage is one of iruka.image's"),
        ({"mask": [Decode()]}, ValueError, "no field 'mask'; the source has picture, label"),
        ([RandomResizedCrop((0, 4))], ValueError, "0"),
        ([RandomResizedCrop((4, 4), area=(0.5, 0.1))], ValueError, "0 < least <= most <= 1"),
        ([image.Rotate(Uniform(3, 1))], ValueError, "from low to high"),
        ([image.Flip(Bernoulli(1.5))], ValueError, "a probability is 0 to 1"),
        ([OneOf([Decode()], [0.5, 0.5])], ValueError, "1 choices and 2 probabilities"),
        ([OneOf([])], ValueError, "nothing to choose from"),
        ([Function(3)], TypeError, "3 cannot be called"),
        ([Function(len, inputs=["mask"])], ValueError, "no field 'mask'"),
        ([Decode(reducing_gap=0.5)], ValueError, "reducing_gap is at least 1"),
    ],
)
def test_refused_stages(folder, stages, error, message):
    with pytest.raises(error, match=message):
        Pipeline(folder, stages)


def test_stages_that_do_not_fit_the_sample(folder):
    with pytest.raises(TypeError, match=r"is a file: Decode\(\) comes before other stages"):
        next(iter(Pipeline(folder, [image.Flip()])))
    with pytest.raises(TypeError, match=r"needs Decode\(\)"):
        next(iter(Pipeline(folder, [])))
    with pytest.raises(ValueError, match="a part of .500, 500. is larger than the picture"):
        next(iter(Pipeline(folder, [Decode(), RandomCrop((500, 500))])))
    with pytest.raises(TypeError, match="a picture already"):
        next(iter(Pipeline(folder, [Decode(), Decode()])))


def run(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_fork_while_batches_are_made(folder):
    done = run(
        """
        import os, sys, warnings
        import numpy as np
        from iruka import image
        from iruka.pipeline import Decode, Pipeline
        warnings.simplefilter("ignore")
        pipe = Pipeline(sys.argv[1], [Decode(), image.Resize((32, 32))], batch_size=3, seed=1, shuffle=True)
        batches = iter(pipe)
        next(batches)
        child = os.fork()
        rest = [(batch.info.indices, float(np.asarray(batch[0]).sum())) for batch in batches]
        if child == 0:
            print(rest, flush=True)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        print(rest)
        pipe.close()
        sys.exit(status)
        """,
        folder,
    )
    assert done.returncode == 0, done.stderr
    child, parent = done.stdout.splitlines()
    assert child == parent and child.count("(") > 5


def test_a_process_that_ends_with_batches_on_their_way(folder):
    done = run(
        """
        import sys, time
        from iruka.pipeline import Decode, Pipeline
        def slow(array):
            time.sleep(0.05)
            return array[:4, :4]
        pipe = Pipeline(sys.argv[1], [Decode(), slow], batch_size=2, prefetch=4)
        print(len(next(iter(pipe))[1]))
        keeps = lambda: pipe  # a circle of references through the source is harmless
        """,
        folder,
    )
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_ctrl_c_ends_the_wait(folder):
    done = run(
        """
        import os, signal, sys, threading, time
        from iruka.pipeline import Decode, Pipeline
        def slow(array):
            time.sleep(0.3)
            return array[:4, :4]
        pipe = Pipeline(sys.argv[1], [Decode(), slow], batch_size=8)
        threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            list(pipe)
        except KeyboardInterrupt:
            print("interrupted", len(list(pipe)))  # the pipeline is whole: a new epoch
        """,
        folder,
    )
    assert (done.returncode, done.stdout) == (0, "interrupted 3\n"), done.stderr


def test_memory_is_flat_over_epochs(paths):
    resident = lambda: int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with Pipeline(paths, [Decode(), RandomResizedCrop((64, 64))], batch_size=8, shuffle=True) as pipe:
        for _ in range(10):
            for _batch in pipe:
                pass
        before = resident()
        for _ in range(40):
            for _batch in pipe:
                pass
        assert resident() - before < 16 << 20


def test_many_pipelines_at_once(folder):
    reference = batches_of(augmented(folder), 1)
    results = [None] * 4

    def work(k):
        results[k] = batches_of(augmented(folder), 1)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for result in results:
        assert_equal(result, reference)


def test_functions_make_arrays_where_the_batches_are():
    """Whatever the program's default device is."""
    seen = []

    def doubled(row):
        seen.append(iruka.default_device().name)
        return iruka.add(row, iruka.ones(4, "float32"))

    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    with Pipeline(rows, [doubled], batch_size=3) as pipe:
        (batch,) = pipe
    np.testing.assert_array_equal(np.asarray(batch[0]), rows + 1)
    assert set(seen) == {"cpu"}
