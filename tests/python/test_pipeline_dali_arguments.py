"""What operators, sources and iterators in DALI's names refuse; tests with the peer show that DALI does so, too."""

import re

import numpy as np
import pytest

from iruka import fn, ops, types
from iruka.pipeline import Pipeline, pipeline_def
from iruka.plugin.numpy import DALIGenericIterator, LastBatchPolicy

PICTURE = np.arange(12 * 10 * 3, dtype=np.uint8).reshape(12, 10, 3)


def run(define, batch=(PICTURE,) * 3, layout="HWC"):
    @pipeline_def(batch_size=len(batch), num_threads=1, device_id=None)
    def make():
        return define(fn.external_source(lambda: list(batch), layout=layout))

    return make().run()


def raises(kind, message, call, *arguments, **named):
    with pytest.raises(kind, match=re.escape(message)):
        call(*arguments, **named)


@pytest.mark.parametrize("operator", [fn.crop, fn.crop_mirror_normalize, fn.decoders.image_crop])
@pytest.mark.parametrize("given", [{"crop_h": 4}, {"crop_w": 4}])
def test_extents_of_a_crop_go_together(operator, given):
    raises(ValueError, "crop_h and crop_w are given together", run, lambda x: operator(x, **given))


@pytest.mark.parametrize("dtype", [types.UINT8, None])
@pytest.mark.parametrize(
    "given, rows, columns",
    [
        ({"crop": (-1, 4)}, slice(0, 12), slice(3, 7)),
        ({"crop_h": 4, "crop_w": 0}, slice(4, 8), slice(0, 10)),
        ({"crop": (0, 0)}, slice(0, 12), slice(0, 10)),
        ({"crop": (0, 20), "out_of_bounds_policy": "trim_to_shape"}, slice(0, 12), slice(0, 10)),
    ],
)
def test_extents_that_are_not_positive_are_the_pictures(given, rows, columns, dtype):
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def make():
        return fn.crop(fn.external_source(lambda: [PICTURE] * 2, layout="HWC", dtype=dtype), **given)

    (made,) = make().run()
    np.testing.assert_array_equal(made.as_array(), np.stack([PICTURE[rows, columns]] * 2))


def test_drawn_extents_that_are_not_positive():
    extents = iter([np.float32(0), np.float32(4), np.float32(-2)])

    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def make():
        height = fn.external_source(lambda: [next(extents) for _ in range(3)])
        return fn.crop(fn.external_source(lambda: [PICTURE] * 3, layout="HWC"), crop_h=height, crop_w=4)

    pipe = make()
    pipe.schedule_run()
    assert [each.shape for each in pipe.share_outputs()[0]] == [(12, 4, 3), (4, 4, 3), (12, 4, 3)]


def test_samples_of_a_batch_have_one_dtype():
    mixed = [np.uint8([1]), np.int64([2]), np.float32([3])]
    raises(TypeError, "the samples of a batch have one dtype, not uint8, int64, float32", run, lambda x: x, mixed, None)

    def function(x):
        return x if x[0, 0, 0] == 0 else x.astype(np.float32)

    batch = [PICTURE, PICTURE + 1]
    raises(TypeError, "the samples of a batch have one dtype, not uint8, float32",
           run, lambda x: fn.python_function(x, function=function), batch)  # fmt: skip


@pytest.mark.parametrize(
    "define, message",
    [
        (lambda x: fn.flip(x, horizontal="yes"), "flip: horizontal is a number, not 'yes'"),
        (lambda x: fn.crop_mirror_normalize(x, mirror="1"), "crop_mirror_normalize: mirror is a number, not '1'"),
        (lambda x: fn.resize(x, size="88"), "resize: an extent of a size is a number, not '88'"),
        (lambda x: fn.resize(x, size=("8", 8)), "resize: an extent of a size is a number, not '8'"),
        (lambda x: fn.crop(x, crop=("4", "4")), "crop: an extent of a size is a number, not '4'"),
        (lambda x: fn.random.uniform(range=1), "random.uniform: range is (low, high), not 1"),
        (lambda x: fn.random.uniform(range=[1]), "random.uniform: range is (low, high), not [1]"),
        (lambda x: fn.random.uniform(values="ab"), "random.uniform: values are a list of numbers, not 'ab'"),
        (lambda x: fn.random.coin_flip(probability="a"), "random.coin_flip: an argument is a number, not 'a'"),
        (lambda x: fn.python_function(x, function=lambda a: None), "<lambda> returned None"),
        (lambda x: {"a": x}, "Pipeline: an output is a DataNode, a number or an array, not {'a': "),
        (lambda x: (x, None), "Pipeline: an output is a DataNode, a number or an array, not None"),
        (lambda x: (x, "text"), "Pipeline: an output is a DataNode, a number or an array, not 'text'"),
        (lambda x: ops.HostDecoder()(x), "iruka.ops has no 'HostDecoder': use decoders.image"),
        (lambda x: ops.nvJPEGDecoder()(x), "iruka.ops has no 'nvJPEGDecoder': use decoders.image with device='mixed'"),
        (lambda x: fn.python_function(x, function=lambda a: {"a": a}), "<lambda> returned a dict, which is no array"),
    ],
)
def test_wrong_types_are_named(define, message):
    with pytest.raises((TypeError, ValueError, AttributeError), match=re.escape(message)):
        run(define)


@pytest.mark.parametrize("samples", [["a", "b"], [None, None], [{"a": 1}, {"a": 2}]])
def test_samples_are_arrays(samples):
    raises(TypeError, f"a sample is an array of numbers or bytes, not {samples[0]!r}", run, lambda x: x, samples, None)


def make_numbers(batches=5, batch_size=4):
    @pipeline_def(batch_size=batch_size, num_threads=1, device_id=None)
    def make():
        def source(info):
            if info >= batches:
                raise StopIteration
            return [np.int64([info])] * batch_size

        numbers = fn.external_source(source)
        return numbers, numbers + 1

    return make()


def test_iterators_name_all_outputs():
    raises(
        ValueError, "iterator: output_map names 1 outputs of 2", DALIGenericIterator, make_numbers(), ["data"], size=8
    )
    raises(TypeError, "iterator: a pipeline is one that", DALIGenericIterator, 5, ["data"])
    raises(TypeError, "iterator: a pipeline is one that", DALIGenericIterator, Pipeline(np.zeros(4)), ["data"])
    raises(
        TypeError, "iterator: size must be an integer, not '10'", DALIGenericIterator, make_numbers(), ["a"], size="10"
    )


def test_the_end_of_a_source_stays_within_reset():
    batches = DALIGenericIterator(make_numbers(), ["a", "b"], size=21, last_batch_policy=LastBatchPolicy.DROP)
    for _ in range(3):
        assert [int(batch[0]["a"][0, 0]) for batch in batches] == [0, 1, 2, 3, 4]
        batches.reset()


def test_pipelines_before_they_are_built():
    pipe = make_numbers()
    for call in (pipe.report, pipe.profile):
        raises(ValueError, "Pipeline: it was not built yet", call)
    pipe.run()
    assert pipe.report().samples == 4 and pipe.profile().threads == 1
    pipe.close()
    assert pipe.report().samples == 4
    raises(TypeError, "Pipeline: seed must be an integer, not 'a'", Pipeline, 4, 1, None, seed="a")


def test_stop_iteration_of_a_function_is_no_end():
    def function(x):
        raise StopIteration

    raises(RuntimeError, "a function or the source raised StopIteration", run,
           lambda x: fn.python_function(x, function=function))  # fmt: skip


def test_names_that_are_not_there():
    raises(AttributeError, "iruka.types has no 'RGBB': did you mean 'RGB'?", getattr, types, "RGBB")
    raises(AttributeError, "iruka.types has no 'PYTORCH'", getattr, types, "PYTORCH")
    for name in ("TFRecordReader", "MXNetReader"):
        raises(AttributeError, "iruka.pipeline.webdataset", getattr, ops, name)
