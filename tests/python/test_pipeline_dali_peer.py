"""The same pipelines by nvidia.dali and by Iruka, side by side. Skipped where nvidia.dali is not installed: its CPU
operators need no GPU."""

import io
import pathlib

import numpy as np
import PIL.Image
import pytest

dali = pytest.importorskip("nvidia.dali")

import nvidia.dali.fn  # noqa: E402
import nvidia.dali.math  # noqa: E402
import nvidia.dali.plugin.base_iterator  # noqa: E402
import nvidia.dali.types  # noqa: E402

import iruka.fn  # noqa: E402
import iruka.pipeline  # noqa: E402
import iruka.types  # noqa: E402

THEIRS = (dali.pipeline_def, nvidia.dali.fn, nvidia.dali.types)
OURS = (iruka.pipeline.pipeline_def, iruka.fn, iruka.types)
TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "int64", "float32"]


def run(side, define, data=None, batches=1, batch_size=None, layout="HWC"):
    """The outputs of `define(fn, types, *inputs)`: for each batch a list of outputs, each a list of samples."""
    pipeline_def, fn, types = side
    columns = data or []

    @pipeline_def(batch_size=batch_size or len(columns[0]), num_threads=1, device_id=None, seed=5)
    def make():
        inputs = []
        if columns:
            inputs = fn.external_source(source=lambda: columns, num_outputs=len(columns), layout=layout)
        made = define(fn, types, *inputs)
        return tuple(made) if isinstance(made, (list, tuple)) else made

    pipe = make()
    pipe.build()
    results = []
    for _ in range(batches):
        results.append([[np.asarray(each) for each in output] for output in pipe.run()])
    return results


def both(define, data=None, **options):
    return run(OURS, define, data, **options), run(THEIRS, define, data, **options)


def compare(define, data=None, *, mean=0.0, most=0.0, **options):
    """Same shapes and dtypes; differences of `mean` on average and `most` at most."""
    ours, theirs = both(define, data, **options)
    for our_batch, their_batch in zip(ours, theirs, strict=True):
        assert len(our_batch) == len(their_batch)
        for our_output, their_output in zip(our_batch, their_batch, strict=True):
            for a, b in zip(our_output, their_output, strict=True):
                assert a.shape == b.shape
                assert a.dtype == b.dtype
                difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
                if difference.size:
                    assert difference.mean() <= mean
                    assert difference.max() <= most


def pictures(shapes=((37, 53, 3), (64, 48, 3), (21, 80, 3)), seed=0):
    """Smooth pictures with some noise, as photographs have."""
    rng = np.random.default_rng(seed)
    made = []
    for height, width, channels in shapes:
        y, x = np.mgrid[0:height, 0:width]
        waves = [120 + 70 * np.sin(y / (4 + k) + x / 7) + 30 * np.cos(x / (3 + k)) for k in range(channels)]
        made.append(np.clip(np.stack(waves, -1) + rng.normal(0, 6, (height, width, channels)), 0, 255).astype(np.uint8))
    return made


RESIZES = {
    "both": {"resize_x": 24, "resize_y": 30},
    "size": {"size": (50, 70)},
    "width alone": {"resize_x": 20},
    "height alone": {"resize_y": 25},
    "shorter": {"resize_shorter": 30},
    "longer": {"resize_longer": 40},
    "not larger": {"size": (30, 40), "mode": "not_larger"},
    "not smaller": {"size": (30, 40), "mode": "not_smaller"},
    "stretch width": {"resize_x": 30, "mode": "stretch"},
    "longest": {"resize_shorter": 40, "max_size": 50},
    "limit": {"size": (60, 90), "max_size": (50, 60)},
    "mirrored": {"resize_x": -24, "resize_y": 30},
    "zero": {"size": (0, 33)},
    "fraction": {"resize_x": 24.4, "resize_y": 30.7},
    "region": {"size": (20, 30), "roi_start": (3, 5), "roi_end": (19, 40)},
    "relative region": {"size": (20, 30), "roi_start": (0.1, 0.9), "roi_end": (0.8, 0.2), "roi_relative": True},
}


@pytest.mark.parametrize("name", RESIZES)
@pytest.mark.parametrize("subpixel", [True, False])
def test_resize(name, subpixel):
    # With constant sizes that keep proportions the scale follows the rounded size: up to half a pixel at the ends.
    keeps = ("shorter", "longer", "not larger", "not smaller", "width alone", "height alone", "zero")
    mean, most = (2.5, 45) if name in keeps else (0.35, 12)
    compare(
        lambda fn, types, x: fn.resize(x, subpixel_scale=subpixel, **RESIZES[name]), [pictures()], mean=mean, most=most
    )


@pytest.mark.parametrize("subpixel", [True, False])
def test_sizes_of_each_sample(subpixel):
    def define(fn, types, x):
        size = fn.external_source(source=lambda: [np.float32(20.4), np.float32(25), np.float32(18.7)])
        return (
            fn.resize(x, resize_x=size, resize_y=size + 2, subpixel_scale=subpixel),
            fn.resize(x, resize_shorter=size, subpixel_scale=subpixel),
            fn.resize(x, resize_x=size, max_size=30, subpixel_scale=subpixel),
            fn.resize(x, size=fn.stack(size, size), subpixel_scale=subpixel),
        )

    compare(define, [pictures()], mean=1.1, most=25)


def test_crops_of_each_sample():
    def define(fn, types, x):
        size = fn.external_source(source=lambda: [np.float32(10), np.float32(15), np.float32(12)])
        place = fn.external_source(source=lambda: [np.float32(0.1), np.float32(0.5), np.float32(0.93)])
        return (
            fn.crop(x, crop_h=size, crop_w=size, crop_pos_x=place),
            fn.crop(x, crop=(9, 11), crop_pos_x=place, crop_pos_y=place),
            fn.crop_mirror_normalize(x, crop_h=size, crop_w=20, mirror=fn.cast(place * 2, dtype=types.INT32)),
        )

    compare(define, [pictures()])


@pytest.mark.parametrize("interpolation", ["NN", "LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN"])
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("size", [(19, 17), (89, 97)])
def test_interpolations(interpolation, antialias, size):
    def define(fn, types, x):
        return fn.resize(x, size=size, interp_type=getattr(types, f"INTERP_{interpolation}"), antialias=antialias)

    # Places midway between pixels are rounded either way.
    compare(define, [pictures()], mean=0.6, most=60 if interpolation == "NN" else 26)


def test_resize_to_floats():
    compare(lambda fn, types, x: fn.resize(x, size=(20, 30), dtype=types.FLOAT), [pictures()], mean=0.3, most=12)


CROPS = [
    {"crop": (10, 21)},
    {"crop": (11, 20), "crop_pos_x": 0.3, "crop_pos_y": 0.77},
    {"crop": (11, 20), "crop_pos_x": 1.0, "crop_pos_y": 0.0},
    {"crop_h": 12, "crop_w": 13, "rounding": "truncate"},
    {"crop_h": 0, "crop_w": 13, "crop_pos_y": 0.7},
    {"crop": (11, -1)},
    {"crop": (-1, -4)},
    {"crop": (40, 60), "out_of_bounds_policy": "pad", "fill_values": [1, 2, 3]},
    {"crop": (40, 60), "out_of_bounds_policy": "trim_to_shape", "crop_pos_x": 0.2},
]


@pytest.mark.parametrize("options", CROPS)
def test_crop(options):
    compare(lambda fn, types, x: fn.crop(x, **options), [pictures()])


@pytest.mark.parametrize("options", CROPS)
@pytest.mark.parametrize("dtype", ["FLOAT", "UINT8", "FLOAT16", "INT8"])
@pytest.mark.parametrize("mirror", [0, 1])
def test_crop_mirror_normalize(options, dtype, mirror):
    def define(fn, types, x):
        return fn.crop_mirror_normalize(
            x, mirror=mirror, mean=[100.0, 110.0, 120.0], std=[50.0, 60.0, 70.0], scale=40.0, shift=30.0,
            dtype=getattr(types, dtype), output_layout="HWC" if mirror else "CHW", **options,
        )  # fmt: skip

    step = {"FLOAT": 1e-4, "FLOAT16": 0.13}.get(dtype, 1)
    compare(define, [pictures()], most=step, mean=step if dtype != "UINT8" else 0.01)


def test_padded_channels():
    compare(lambda fn, types, x: fn.crop_mirror_normalize(x, pad_output=True, fill_values=7.0), [pictures()], most=1e-4,
            mean=1e-4)  # fmt: skip


@pytest.mark.parametrize("horizontal", [0, 1])
@pytest.mark.parametrize("vertical", [0, 1])
def test_flip(horizontal, vertical):
    compare(lambda fn, types, x: fn.flip(x, horizontal=horizontal, vertical=vertical), [pictures()])


@pytest.mark.parametrize("angle", [0.0, 30.0, -77.5, 90.0, 180.0, 270.0, 400.0])
@pytest.mark.parametrize("options", [{}, {"keep_size": True}, {"size": (30, 41)}, {"fill_value": 9.0}])
def test_rotate(angle, options):
    compare(lambda fn, types, x: fn.rotate(x, angle=angle, **options), [pictures()], mean=0.12, most=30)


@pytest.mark.parametrize("options", [{}, {"size": (30, 41)}, {"fill_value": 9.0}, {"inverse_map": False}])
def test_warp_affine(options):
    matrix = [0.9, 0.3, 1.2, -0.1, 1.2, 0.5]
    compare(lambda fn, types, x: fn.warp_affine(x, matrix=matrix, **options), [pictures()], mean=0.12, most=30)


COLORS = {
    "color_twist": {"brightness": 1.3, "contrast": 0.7, "saturation": 0.4, "hue": 25.0},
    "hsv": {"hue": -40.0, "saturation": 1.4, "value": 0.8},
    "hue": {"hue": 77.0},
    "saturation": {"saturation": 0.3},
    "brightness": {"brightness": 0.8, "brightness_shift": 0.1},
    "contrast": {"contrast": 1.4},
    "brightness_contrast": {"brightness": 1.2, "brightness_shift": -0.1, "contrast": 0.6, "contrast_center": 100.0},
}


@pytest.mark.parametrize("name", COLORS)
@pytest.mark.parametrize("dtype", [None, "FLOAT"])
@pytest.mark.parametrize("given", ["uint8", "float32"])
def test_colors(name, dtype, given):
    def define(fn, types, x):
        extra = {} if dtype is None else {"dtype": getattr(types, dtype)}
        return getattr(fn, name)(x, **COLORS[name], **extra)

    data = [[(x / 255).astype(np.float32) if given == "float32" else x for x in pictures()]]
    # DALI's grey of saturation is that of its rounded matrices from RGB to YIQ: up to half a level from the exact one.
    white = 255 if given == "uint8" or name == "hsv" and dtype is None else 1
    compare(define, data, mean=0.15 * white / 255, most=(1 if dtype is None else 0.5) * white / 255)


@pytest.mark.parametrize("source", ["RGB", "BGR", "YCbCr", "GRAY"])
@pytest.mark.parametrize("target", ["RGB", "BGR", "YCbCr", "GRAY"])
def test_color_space_conversion(source, target):
    if source == target:
        pytest.skip("nvidia.dali refuses it")

    def define(fn, types, x):
        return fn.color_space_conversion(x, image_type=getattr(types, source), output_type=getattr(types, target))

    given = pictures()
    data = [[x[..., :1].copy() for x in given]] if source == "GRAY" else [given]
    compare(define, data, mean=0.5, most=2)


def test_cast_rounds_and_saturates():
    x = np.array([1.5, 2.5, 0.5, -0.5, -1.5, 300, -300, 1e9, 254.5, 255.5, 2.4999], np.float32)
    for name in ("UINT8", "INT8", "INT16", "INT32", "UINT16", "FLOAT", "FLOAT64"):
        compare(lambda fn, types, a, name=name: fn.cast(a, dtype=getattr(types, name)), [[x]], layout="")


def test_integer_casts_saturate():
    x = np.array([-200, -1, 0, 1, 127, 128, 300, 70000], np.int32)
    for name in ("UINT8", "INT8", "INT16", "UINT16", "INT64", "FLOAT"):
        compare(lambda fn, types, a, name=name: fn.cast(a, dtype=getattr(types, name)), [[x]], layout="")


OPERATORS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "//": lambda a, b: a // b, "%": lambda a, b: a % b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
BITWISE = {"&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b}


@pytest.mark.parametrize("name", [*OPERATORS, *BITWISE])
@pytest.mark.parametrize("left", TYPES)
def test_arithmetic(name, left):
    operate = {**OPERATORS, **BITWISE}[name]
    for right in TYPES:
        if name in BITWISE and "float32" in (left, right):
            continue
        a = np.array([7, 100, 3, 90], left)
        b = np.array([3, 5, 7, 2], right)
        if left.startswith(("i", "f")):
            a = (a * [1, -1, -1, 1]).astype(left)
        compare(lambda fn, types, x, y: operate(x, y), [[a], [b]], mean=1e-5, most=1e-5, layout="")


@pytest.mark.parametrize("left", TYPES)
def test_arithmetic_with_constants(left):
    a = np.array([7, 100, 3, 90], left)
    operations = [lambda x: x + 3, lambda x: 3 - x, lambda x: x * 1.5, lambda x: x / 2, lambda x: 100 // x,
                  lambda x: x % 4, lambda x: -x, lambda x: abs(x), lambda x: x > 10, lambda x: 2.5 < x]  # fmt: skip
    for operate in operations:
        compare(lambda fn, types, x, operate=operate: operate(x), [[a]], most=1e-5, mean=1e-5, layout="")
    compare(lambda fn, types, x: x + types.Constant(3).uint8(), [[a]], layout="")


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "floor", "ceil", "sin", "rsqrt", "abs", "fabs"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_math(name, dtype):
    x = np.array([1, 2, 5, 3], dtype)

    def define(fn, types, a):
        math = iruka.fn.math if fn is iruka.fn else nvidia.dali.math
        return getattr(math, name)(a)

    compare(define, [[x]], most=1e-4, mean=1e-4, layout="")


def test_two_operand_math():
    x, y = np.array([1, 5, 5, 3], np.int32), np.array([2, 3, 1, 1], np.int16)
    for name in ("min", "max", "pow", "atan2", "fpow"):

        def define(fn, types, a, b, name=name):
            return getattr(iruka.fn.math if fn is iruka.fn else nvidia.dali.math, name)(a, b)  # fmt: skip

        compare(define, [[x], [y]], most=1e-4, mean=1e-4, layout="")


def test_indexing():
    x = np.arange(60).reshape(3, 4, 5).astype(np.int32)
    for index in (0, -1, slice(1, 3), (slice(None), 2), (slice(0, 2), slice(1, -1), 3), (1, 2, 3)):
        compare(lambda fn, types, a, index=index: a[index], [[x]], layout="")


SHAPES = {
    "cat": lambda fn, x: fn.cat(x, x, axis=1),
    "stack": lambda fn, x: fn.stack(x, x, axis=1),
    "stack at the end": lambda fn, x: fn.stack(x, x, axis=-1),
    "reshape": lambda fn, x: fn.reshape(x, shape=[6, -1]),
    "relative": lambda fn, x: fn.reshape(x, rel_shape=[0.5, 2]),
    "squeeze": lambda fn, x: fn.squeeze(fn.reshape(x, shape=[1, 4, 6, 1]), axes=[0, 3]),
    "expand": lambda fn, x: fn.expand_dims(x, axes=[0, 2]),
    "transpose": lambda fn, x: fn.transpose(x, perm=[1, 0]),
    "reversed": lambda fn, x: fn.transpose(x),
    "shapes": lambda fn, x: fn.shapes(x),
    "copy": lambda fn, x: fn.copy(x),
    "one_hot of axes": lambda fn, x: fn.one_hot(x, num_classes=5, axis=0),
    "one_hot at the end": lambda fn, x: fn.one_hot(x, num_classes=5),
    "pad shape": lambda fn, x: fn.pad(x, axes=(0,), shape=(9,), fill_value=3),
    "pad align": lambda fn, x: fn.pad(x, axes=(0, 1), shape=(1, 1), align=(3, 5)),
    "pad batch": lambda fn, x: fn.pad(x, fill_value=-1),
    "pad batch align": lambda fn, x: fn.pad(x, axes=(1,), align=(4,)),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    x = np.arange(24).reshape(4, 6).astype(np.int32)
    data = [[x, x[:, :5].copy()]] if name.startswith("pad") else [[x, x + 1]]
    compare(lambda fn, types, a: SHAPES[name](fn, a), data, layout="")


def test_one_hot_of_a_number():
    options = {"num_classes": 4, "on_value": 2.0, "off_value": -1.0}
    data = [[np.array([2], np.int32), np.array([7], np.int32)]]
    compare(lambda fn, types, a: fn.one_hot(a, dtype=types.INT32, **options), data, layout="")


@pytest.mark.parametrize("options", [
    {}, {"axes": (0, 1)}, {"axes": (0, 1), "scale": 3.0, "shift": 7.0}, {"ddof": 1, "axes": (0, 1)},
    {"mean": 100.0, "stddev": 20.0}, {"axes": (0, 1), "epsilon": 5.0},
    {"mean": np.float32([[[90, 100, 110]]]), "stddev": np.float32([[[9, 10, 11]]])},
])  # fmt: skip
def test_normalize(options):
    compare(lambda fn, types, x: fn.normalize(x, **options), [pictures()], most=2e-3, mean=2e-3)


@pytest.mark.parametrize("options", [
    {}, {"axes": (0, 1)}, {"axis_names": "HW", "ddof": 1, "scale": 64.0, "shift": 128.0, "dtype": 0}, {"mean": 100.0},
    {"stddev": 20.0, "axes": (0, 1)}, {"axes": (0, 1), "epsilon": 5.0}, {"mean": 100.0, "stddev": 20.0},
])  # fmt: skip
def test_normalize_by_batches(options):
    most, mean = (1, 0.05) if "dtype" in options else (2e-3, 2e-3)
    options = {key: value for key, value in options.items() if key != "dtype"}

    def define(fn, types, x):
        own = {**options, "dtype": types.UINT8} if most == 1 else options
        return fn.normalize(x, batch=True, **own)

    compare(define, [pictures()], most=most, mean=mean)


def test_constants():
    def define(fn, types, *inputs):
        return (
            fn.constant(idata=[1, 2, 3, 4], shape=(2, 2)), fn.constant(fdata=[1.5], shape=(3,)),
            types.Constant(np.float32([1, 2])), types.Constant([1, 2]), fn.zeros(shape=(2,)), fn.ones(shape=2),
        )  # fmt: skip

    compare(define, batch_size=2)


@pytest.fixture(scope="module")
def jpegs(tmp_path_factory):
    """Files of pictures of six sizes."""
    folder = tmp_path_factory.mktemp("pictures")
    shapes = [(427, 640, 3), (425, 640, 3), (480, 320, 3), (485, 333, 3), (130, 140, 3), (301, 299, 3)]
    paths = []
    for k, picture in enumerate(pictures(shapes)):
        data = io.BytesIO()
        PIL.Image.fromarray(picture).save(data, "JPEG", quality=92)
        paths.append(str(folder / f"{k}.jpg"))
        pathlib.Path(paths[-1]).write_bytes(data.getvalue())
    return paths


@pytest.mark.parametrize("kind", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_decoder(kind, jpegs):
    def define(fn, types):
        files, labels = fn.readers.file(files=jpegs)
        return fn.decoders.image(files, output_type=getattr(types, kind)), labels

    compare(define, batch_size=6, mean=0.2, most=9 if kind != "YCbCr" else 12)


def test_decoder_crops(jpegs):
    def define(fn, types):
        files, labels = fn.readers.file(files=jpegs)
        return fn.decoders.image_crop(files, crop=(100, 120), crop_pos_x=0.3, crop_pos_y=0.9)

    compare(define, batch_size=6, mean=0.4, most=12)


def test_training_pipeline(jpegs):
    def define(fn, types):
        files, labels = fn.readers.file(files=jpegs)
        images = fn.decoders.image(files)
        images = fn.resize(images, resize_x=240, resize_y=240)
        images = fn.crop_mirror_normalize(images, crop=(224, 224), mirror=1, mean=[120.0] * 3, std=[60.0] * 3)
        return images, labels

    compare(define, batch_size=6, mean=0.01, most=0.3)


@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("sticks", [False, True])
@pytest.mark.parametrize("pads", [False, True])
def test_reader_order(shards, sticks, pads, tmp_path):
    files = [tmp_path / f"{k}.jpg" for k in range(10)]
    for k, path in enumerate(files):
        path.write_bytes(bytes([k]))
    for shard in range(shards):

        def define(fn, types, shard=shard):
            return fn.readers.file(files=list(map(str, files)), num_shards=shards, shard_id=shard,
                                   stick_to_shard=sticks, pad_last_batch=pads)  # fmt: skip

        compare(define, batch_size=4, batches=9)


def test_folder_list_and_filters(tmp_path):
    for name in ("b/x.jpg", "b/a.JPG", "a/z.png", "a/k.txt", "c/10.bmp", "c/9.bmp"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    (tmp_path / "list.txt").write_text("b/x.jpg 4\na/k.txt 2\nc/9.bmp 7\n")
    root = str(tmp_path)
    cases = [
        ({"file_root": root}, 5), ({"file_root": root, "file_filters": ["*.jpg", "*.txt"]}, 3),
        ({"file_root": root, "file_filters": "*.jpg", "case_sensitive_filter": True}, 1),
        ({"file_root": root, "dir_filters": ["a", "c"]}, 3), ({"file_list": f"{root}/list.txt"}, 3),
        ({"files": ["b/x.jpg", "a/z.png"], "file_root": root, "labels": [5, 6]}, 2),
    ]  # fmt: skip
    for options, count in cases:
        compare(lambda fn, types, options=options: fn.readers.file(**options), batch_size=count)
    assert pathlib.Path(root).is_dir()
