"""What pipelines refuse, and what their errors say."""

import dataclasses
import functools
import inspect
import pickle
import re

import numpy as np
import pytest

from iruka import image, pipeline
from iruka.pipeline import (
    Bernoulli,
    Choice,
    Decode,
    Function,
    Integers,
    Maybe,
    OneOf,
    Pipeline,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Source,
    Uniform,
    arrays,
    dataset,
)

PICTURES = np.arange(4 * 9 * 8 * 3, dtype=np.uint8).reshape(4, 9, 8, 3)


def raises(kind, message, call, *arguments, **named):
    with pytest.raises(kind, match=re.escape(message)) as raised:
        call(*arguments, **named)
    return raised.value


def batch_of(stages, source=PICTURES, size=4):
    with Pipeline(source, stages, size) as pipe:
        return next(iter(pipe))


def test_several_outputs_are_a_tuple_or_a_list():
    def one(picture):
        return picture

    raises(
        TypeError,
        "one returned an array of shape (9, 8, 3); its 2 outputs are a tuple of as many arrays",
        batch_of, [Function(one, ["value"], ["value", "label"])],
    )  # fmt: skip
    for pair in (lambda p: (p, 3), lambda p: [p, 3]):
        batch = batch_of([Function(pair, ["value"], ["value", "label"])])
        assert batch.value.shape == (4, 9, 8, 3) and np.asarray(batch.label).tolist() == [3] * 4
    raises(ValueError, "gave 1 arrays, not 2", batch_of, [Function(lambda p: (p,), ["value"], ["value", "label"])])
    raises(ValueError, "outputs are one name or more, each once", batch_of, [Function(one, ["value"], ["a", "a"])])
    raises(ValueError, "outputs are one name or more", batch_of, [Function(one, ["value"], [])])
    raises(TypeError, "Function: inputs are names of fields, not 3", batch_of, [Function(one, 3)])


@pytest.mark.parametrize(
    "made, message",
    [
        (None, "broken returned None; it returns the array that takes the place of its argument"),
        ("text", "broken returned a str, which is no array of numbers"),
        ({"a": 1}, "broken returned a dict, which is no array of numbers"),
        ([object()], "broken returned a list, which is no array of numbers"),
        ((None,), "broken returned None"),
    ],
)
def test_functions_that_return_no_array(made, message):
    def broken(picture):
        return made

    error = raises(TypeError, message, batch_of, [broken])
    assert error.__notes__ == ["Pipeline: sample 0, in broken (epoch 0)"]  # and no line of the library
    raises(TypeError, message, batch_of, [OneOf([broken])])


@pytest.mark.parametrize("stage", [Decode, RandomFlip, image.Normalize, RandomCrop, Uniform, image.Chain, OneOf])
def test_classes_are_no_stages(stage):
    raises(TypeError, f"Pipeline: {stage.__name__} is a class; a stage is an object of it", Pipeline, PICTURES, [stage])
    raises(TypeError, f"{stage.__name__} is a class", Pipeline, PICTURES, [OneOf([stage, RandomFlip()])])
    assert batch_of([np.float32]).value.dtype == np.float32


def test_texts_are_no_switches_and_no_numbers():
    for name in ("shuffle", "stick_to_shard", "pad_last_batch", "progress"):
        for wrong in ("no", "False", None, 2, 1.0):
            raises(TypeError, f"Pipeline: {name} is True or False, not {wrong!r}", Pipeline, PICTURES, **{name: wrong})
        for right in (True, np.bool_(False), 1, 0):
            Pipeline(PICTURES, **{name: right}).close()
    for name in ("batch_size", "seed", "num_shards", "threads", "prefetch"):
        for wrong in ("4", True, 4.0):
            raises(
                TypeError, f"Pipeline: {name} must be an integer, not {wrong!r}", Pipeline, PICTURES, **{name: wrong}
            )
    raises(ValueError, "Pipeline: last_batch must be one of 'partial', 'drop', 'fill', not None",
           Pipeline, PICTURES, last_batch=None)  # fmt: skip
    raises(ValueError, "Pipeline: on_error must be one of", Pipeline, PICTURES, on_error=True)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Uniform("a", 2), "Uniform: low is a number, not 'a'"),
        (lambda: Uniform("1", 2), "Uniform: low is a number, not '1'"),
        (lambda: Integers(1, None), "Integers: high is a number, not None"),
        (lambda: Choice(["linear", "nearest"]), "(OneOf chooses among stages) are a list of numbers, not ['linear'"),
        (lambda: Choice([1, 2], "12"), "Choice: the weights are a list of numbers, not '12'"),
        (lambda: Maybe(0.5, image.Hue(3)), "Maybe: p is a number, not Hue(degrees=3)"),
        (lambda: batch_of([OneOf(image.Hue(3))]), "OneOf: the choices are a list of stages, or of lists of them, not Hue"),
        (lambda: batch_of([OneOf([RandomFlip()], "1")]), "OneOf: the probabilities are a list of numbers, not '1'"),
        (lambda: batch_of([RandomFlip("a")]), "RandomFlip: p is a number, not 'a'"),
        (lambda: batch_of([Decode(reducing_gap="2")]), "Decode: reducing_gap is a number, not '2'"),
        (lambda: batch_of([RandomResizedCrop((4, 4), area=0.5)]), "area (least, most) are a list of numbers, not 0.5"),
        (lambda: batch_of([RandomResizedCrop(8)]), "RandomResizedCrop: (height, width) are two integers, not 8"),
        (lambda: batch_of([RandomCrop((4, 4), at=("a", 0))]), "RandomCrop: each of at is a number, not 'a'"),
        (lambda: batch_of([image.Normalize("1", "2")]), "a stage takes a number, or one for each channel, not '1'"),
        (lambda: batch_of([image.Resize(Integers(4, 9))]), "not 4, an example of Resize(size=Integers(low=4, high=9)"),
        (lambda: batch_of([image.Pad(Integers(0, 3))]), "Pad: its numbers cannot be drawn one by one"),
        (lambda: batch_of({"value": 3}), "Pipeline: the stages of 'value' are a list, not 3"),
        (lambda: Pipeline(PICTURES).load_state_dict(None), "load_state_dict: the state is a dict that state_dict() gave"),
    ],
)  # fmt: skip
def test_wrong_types_are_named(make, message):
    raises(TypeError, message, make)


def test_wrong_numbers_are_named():
    raises(ValueError, "RandomCrop: (height, width) are positive, not (-1, 8)", batch_of, [RandomCrop((-1, 8))])
    raises(ValueError, "RandomCrop: at is (y, x), two numbers", batch_of, [RandomCrop((2, 2), at=(0.5,))])
    raises(ValueError, "RandomResizedCrop: ratio (least, most) are two numbers",
           batch_of, [RandomResizedCrop((2, 2), ratio=(1,))])  # fmt: skip
    raises(ValueError, "Choice: there are no values", batch_of, [image.Rotate(Choice([]))])
    raises(ValueError, "a uniform distribution goes from low to high, not 2 and 1.5",
           batch_of, [image.Rotate(Uniform(2, 1.5))])  # fmt: skip
    state = Pipeline(PICTURES, seed=5).state_dict()
    raises(ValueError, "with seed '5', not 5", Pipeline(PICTURES, seed=5).load_state_dict, {**state, "seed": "5"})


def test_distributions_have_no_truth():
    for random in (Bernoulli(0), Uniform(0, 1), Integers(0, 2)):
        raises(TypeError, f"{type(random).__name__}: it is drawn for each sample and has no truth", bool, random)


@pytest.mark.parametrize(
    "name, advice",
    [
        ("shufle", "did you mean 'shuffle'?"),
        ("num_workers", "iruka.set_num_threads"),
        ("drop_last", "it is last_batch='drop'"),
        ("pin_memory", "device='cuda'"),
        ("collate_fn", "fields of equal shapes become one array"),
        ("zzz", "there are source, stages, batch_size"),
    ],
)
def test_unknown_arguments_have_advice(name, advice):
    error = raises(TypeError, f"Pipeline: there is no argument {name!r}", Pipeline, PICTURES, **{name: 2})
    assert advice in str(error)


@pytest.mark.parametrize(
    ("stage", "arguments", "message"),
    [
        (
            RandomCrop,
            {"padding": 4},
            "RandomCrop: there is no argument 'padding': image.Pad(margins, mode, value) in front",
        ),
        (RandomResizedCrop, {"scale": (0.1, 1)}, "no argument 'scale': it is `area`, (least, most)"),
        (RandomResizedCrop, {"interpolation": 2}, "no argument 'interpolation': it is `filter`"),
        (RandomResizedCrop, {"rato": (1, 1)}, "no argument 'rato': did you mean 'ratio'?"),
        (image.Normalize, {"inplace": True}, "Normalize: there is no argument 'inplace': a stage leaves its input"),
        (image.Pad, {"padding": 4}, "no argument 'padding': it is `margins`"),
        (image.Rotate, {"degrees": 4}, "no argument 'degrees': it is `angle`, and Uniform(-d, d) draws it"),
        (image.Brightness, {"brightness": 0.4}, "it is `factor`, and Uniform(1 - x, 1 + x) draws it"),
        (OneOf, {"p": [1]}, "they are `probabilities`"),
        (Decode, {"zzz": 1}, "Decode: there is no argument 'zzz': there are mode, dtype, max_pixels"),
    ],
)
def test_arguments_of_torchvision_have_advice(stage, arguments, message):
    raises(TypeError, message, stage, **arguments)


@pytest.mark.parametrize("module", [image, pipeline])
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("RandomHorizontalFlip", "use RandomFlip(p)"),
        ("ColorJitter", "image.Hue(Uniform(-360 * h, 360 * h))"),
        ("ToTensor", "use image.Normalize(0, 255) and image.Layout('CHW')"),
        ("Compose", "use a list of stages"),
    ],
)
def test_transforms_of_torchvision_have_advice(module, name, advice):
    raises(AttributeError, f"{module.__name__} has no {name!r}: ", getattr, module, name)
    raises(AttributeError, advice, getattr, module, name)


def test_stages_of_the_other_module_are_named():
    raises(AttributeError, "iruka.pipeline has no 'Resize': it is iruka.image.Resize", getattr, pipeline, "Resize")
    raises(AttributeError, "iruka.image has no 'Decode': it is iruka.pipeline.Decode", getattr, image, "Decode")
    raises(AttributeError, "module 'iruka.image' has no attribute 'Nothing'", getattr, image, "Nothing")


def test_stages_keep_their_signatures_and_are_replaced():
    assert list(inspect.signature(RandomCrop).parameters) == ["size", "at"]
    stage = dataclasses.replace(RandomResizedCrop((4, 5), area=(0.5, 1)), ratio=(1, 1))
    assert pickle.loads(pickle.dumps(stage)) == stage == RandomResizedCrop((4, 5), (0.5, 1), (1, 1))


def test_unknown_arguments_of_the_other_constructor():
    raises(TypeError, "Pipeline: there is no argument 'num_thread': did you mean 'num_threads'?",
           Pipeline, 4, num_thread=2)  # fmt: skip


def planes(count=4):
    return np.ascontiguousarray(np.moveaxis(np.stack([np.full((12, 10, 3), k, np.uint8) for k in range(count)]), -1, 1))


@pytest.mark.parametrize("stage", [image.Resize((8, 8)), RandomCrop((3, 8)), RandomResizedCrop((4, 4)), RandomFlip()])
def test_channels_first_are_refused(stage):
    message = "a picture's axes are (height, width, channels), HWC, and (3, 12, 10) looks like CHW"
    raises(ValueError, message, batch_of, [stage], planes())


def test_chains_say_that_few_rows_are_rows():
    strips = (np.arange(2 * 4 * 20 * 31) % 251).astype(np.uint8).reshape(2, 4, 20, 31)
    message = (
        "(4, 20, 31) looks like CHW: give np.moveaxis(array, -3, -1), or the stages as image.Chain(stages, 'CHW'); "
    )
    for stages in ([image.Crop((2, 5))], [image.Chain([image.Crop((2, 5))])], [RandomCrop((2, 5), at=(0, 0))]):
        raises(ValueError, message + "if it is HWC, image.Chain(stages, 'HWC') says so", batch_of, stages, strips, 2)
    for stages in (
        [image.Chain([image.Crop((2, 5), (0, 0))], "HWC")],
        [image.Chain([], "HWC"), RandomCrop((2, 5), at=(0, 0))],
        [image.Chain([image.Crop((2, 5), (0, 0))], "HWC"), image.Flip(), RandomFlip(1)],
    ):
        np.testing.assert_array_equal(np.asarray(batch_of(stages, strips, 2).value), strips[:, :2, :5])


def test_chains_of_channels_first():
    pictures = (np.arange(2 * 3 * 12 * 10) % 251).astype(np.uint8).reshape(2, 3, 12, 10)
    batch = batch_of([image.Chain([image.Crop((5, 4), (2, 3))], "CHW")], pictures, 2)
    np.testing.assert_array_equal(np.asarray(batch.value), pictures[:, :, 2:7, 3:7])
    batch = batch_of(
        [image.Chain([image.Flip()], "CHW"), image.Layout("HWC"), RandomCrop((5, 4), at=(0, 1))], pictures, 2
    )
    np.testing.assert_array_equal(np.asarray(batch.value), np.moveaxis(pictures, 1, -1)[:, :5, :4][:, :, ::-1])
    spectral = np.zeros((2, 12, 10, 31), np.float32)
    assert batch_of([image.Resize((6, 5))], spectral, 2).value.shape == (2, 6, 5, 31)


def test_a_mask_has_the_part_of_its_picture():
    y, x = np.mgrid[:60, :70].astype(np.float32)
    pictures = np.broadcast_to(np.stack([y, x], -1), (40, 60, 70, 2)).copy()
    labels = (np.broadcast_to(y * 100 + x, (40, 60, 70))).astype(np.float32)
    part = RandomResizedCrop((30, 30), area=(0.2, 0.9))
    alike = RandomResizedCrop((30, 30), filter="nearest", like=part)
    with Pipeline(arrays(picture=pictures, mask=labels), {"picture": [part], "mask": [alike]}, 40) as pipe:
        batch = next(iter(pipe))
    picture, mask = np.asarray(batch.picture), np.asarray(batch.mask)
    assert np.all(mask == np.floor(mask))  # nearest: values that the mask has
    rows, columns = np.floor(mask / 100), mask % 100
    assert np.abs(rows - picture[..., 0]).max() < 1.6 and np.abs(columns - picture[..., 1]).max() < 1.6
    assert np.ptp(picture[:, 0, 0, 0]) > 5  # the parts differ
    raises(TypeError, "like is another RandomResizedCrop", batch_of, [RandomResizedCrop((4, 4), like=3)])


class Damaged:
    """A dataset whose first samples cannot be read."""

    def __init__(self, bad, size=20):
        self.bad, self.size = bad, size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if index < self.bad:
            raise ZeroDivisionError(f"no {index}")
        return {"picture": PICTURES[0], "label": index}


def test_a_dataset_whose_first_sample_is_damaged():
    with Pipeline(Damaged(3), [], 20, on_error="skip") as pipe:
        (batch,) = pipe
        assert batch._fields == ("picture", "label") and list(batch.info.indices) == list(range(3, 20))
        assert [(f.index, f.stage) for f in pipe.failures] == [(k, "source") for k in range(3)]
    with Pipeline(Damaged(3), [], 20) as pipe:
        error = raises(ZeroDivisionError, "no 0", next, iter(pipe))
        assert "sample 0, in source" in error.__notes__[-1]
    error = raises(ZeroDivisionError, "no 0", dataset, Damaged(20))
    assert "dataset: sample 0, which is read for the fields" in error.__notes__[-1]


def test_where_an_error_of_a_dataset_is_shown():
    with Pipeline(Damaged(3), [], 20) as pipe:
        error = raises(ZeroDivisionError, "no 0", next, iter(pipe))
    (frames,) = (note for note in error.__notes__ if note.startswith("Raised on a thread"))
    assert frames.count("File ") == 1 and "in __getitem__" in frames and "datasets.py" not in frames
    error = raises(
        ValueError, "dataset: sample 1: the row has no field 'b', but 'a'", batch_of, [], [{"b": 1}, {"a": 1}]
    )
    assert error.__notes__ == ["Pipeline: sample 1, in source (epoch 0)"]


def test_fields_of_a_source_are_a_tuple():
    class Rows(Source):
        fields = "value"

        def __len__(self):
            return 3

        def __getitem__(self, index):
            return (index,)

    raises(TypeError, "Rows: fields is a tuple of names, such as ('value',), not 'value'", Pipeline, Rows())


def test_paths(tmp_path):
    for k in range(3):
        image.imwrite(tmp_path / f"{k}.png", PICTURES[k])
    batch = batch_of([Decode()], str(tmp_path / "*.png"), 3)
    np.testing.assert_array_equal(np.asarray(batch.picture), PICTURES[:3])
    raises(FileNotFoundError, "no file of this pattern", Pipeline, str(tmp_path / "*.jpg"))
    raises(NotADirectoryError, "0.png' is one file", Pipeline, tmp_path / "0.png")
    name = str(tmp_path / "0.png")
    error = raises(ValueError, f"decode: the text '{name}' (a file's name is a pathlib.Path)",
                   batch_of, [Decode()], [(name, 0)], 1)  # fmt: skip
    assert "sample 0" in error.__notes__[-1]


def test_fields_that_are_files_still(tmp_path):
    image.imwrite(tmp_path / "0.png", PICTURES[0])
    rows = [{"picture": tmp_path / "0.png", "mask": tmp_path / "0.png"}]
    both = Function(lambda picture, mask: (picture, mask), ["picture", "mask"])
    stages = {"picture": [Decode(), both], "mask": [Decode()]}
    raises(TypeError, "a pipeline needs Decode() to make a picture of it, before what takes it (lists of fields run in the "
           "order of their mapping)", batch_of, stages, rows, 1)  # fmt: skip
    batch = batch_of({"mask": [Decode()], "picture": [Decode(), both]}, rows, 1)
    np.testing.assert_array_equal(np.asarray(batch.mask), PICTURES[:1])


def test_draws_take_the_numbers_of_distributions():
    drawn = {}

    def function(value, name, draws):
        numbers = {"uniform": lambda: draws.uniform(2, 3), "normal": lambda: draws.normal(mean=5, std=0.5),
                   "integers": lambda: draws.integers(3, 6), "default": draws.uniform}  # fmt: skip
        drawn.setdefault(name, []).extend(numbers[name]() for _ in range(50))
        return value

    for name in ("uniform", "normal", "integers", "default"):
        batch_of([Function(functools.partial(function, name=name), draws=True)], np.zeros(40), 40)
    low, high = min(drawn["uniform"]), max(drawn["uniform"])
    assert 2 <= low < 2.05 and 2.95 < high < 3 and abs(np.mean(drawn["uniform"]) - 2.5) < 0.03
    assert abs(np.mean(drawn["normal"]) - 5) < 0.05 and abs(np.std(drawn["normal"]) - 0.5) < 0.03
    assert set(drawn["integers"]) == {3, 4, 5} and all(type(k) is int for k in drawn["integers"])
    assert 0 <= min(drawn["default"]) and 0.95 < max(drawn["default"]) < 1
    raises(ValueError, "draws: integers go from low to below high, not 4 and 4",
           batch_of, [Function(lambda value, draws: draws.integers(4, 4), draws=True)])  # fmt: skip
    raises(TypeError, "low must be a real number, not ",
           batch_of, [Function(lambda value, draws: draws.uniform("a"), draws=True)])  # fmt: skip
