"""The operators in DALI's names: expected values are formulas of DALI's documentation in NumPy, Pillow's pictures, or
written out."""

import io

import numpy as np
import PIL.Image
import pytest

from iruka import fn, ops, types
from iruka.pipeline import pipeline_def


def run(define, *columns, layout="HWC", dtype=None, batches=1, seed=5, **options):
    """The samples of the only output of define(*nodes), or of all outputs; columns are batches of arrays."""
    count = len(columns[0]) if columns else 4

    @pipeline_def(batch_size=count, num_threads=2, device_id=None, seed=seed)
    def make():
        nodes = []
        if columns:
            nodes = fn.external_source(lambda: columns, num_outputs=len(columns), layout=layout, dtype=dtype)
        return define(*nodes)

    pipe = make()
    results = []
    for _ in range(batches):
        outputs = pipe.run()
        results.append([[np.asarray(each) for each in output] for output in outputs])
    results = results[0] if batches == 1 else [sum(each, []) for each in zip(*results, strict=True)]
    return results[0] if len(results) == 1 else results


def rounded(x):
    return np.clip(np.floor(x + 0.5), 0, 255)


@pytest.fixture
def pictures(rng):
    """Two pictures of unlike sizes."""
    return [rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((23, 31, 3), (40, 26, 3))]


# Pictures of a declared dtype go through the core's stages, others through Python's calls.
either_way = pytest.mark.parametrize("dtype", [types.UINT8, None])


def test_decoders_and_channels(tmp_path, rng):
    picture = rng.integers(0, 256, (12, 17, 3), dtype=np.uint8)
    data = io.BytesIO()
    PIL.Image.fromarray(picture).save(data, "PNG")
    file = np.frombuffer(data.getvalue(), np.uint8)
    grey = picture @ np.array([0.299, 0.587, 0.114])
    made = run(
        lambda x: tuple(fn.decoders.image(x, output_type=kind) for kind in types.DALIImageType), [file], layout=None
    )
    rgb, bgr, gray, ycbcr, anything = (each[0] for each in made)
    np.testing.assert_array_equal(rgb, picture)
    np.testing.assert_array_equal(bgr, picture[..., ::-1])
    np.testing.assert_array_equal(anything, picture)
    assert gray.shape == (12, 17, 1)
    assert np.abs(gray[..., 0] - grey).max() <= 1
    # ITU-R BT.601: luminance from 16 to 235.
    assert np.abs(ycbcr[..., 0] - (16 + grey * 219 / 255)).max() <= 1
    assert np.abs(ycbcr[..., 1] - (128 + (picture[..., 2] - grey) / 1.772 * 224 / 255)).max() <= 1


def test_grey_pictures_keep_their_axis(rng):
    data = io.BytesIO()
    PIL.Image.fromarray(rng.integers(0, 256, (12, 17), dtype=np.uint8)).save(data, "PNG")
    file = np.frombuffer(data.getvalue(), np.uint8)

    def define(x):
        grey = fn.decoders.image(x, output_type=types.GRAY)
        resized = fn.resize(grey, size=(6, 8))
        turned = fn.crop_mirror_normalize(fn.crop(resized, crop=(4, 5)))
        return resized, turned, resized + 1, fn.decoders.image(x, output_type=types.ANY_DATA)

    shapes = [each[0].shape for each in run(define, [file], layout=None)]
    assert shapes == [(6, 8, 1), (1, 4, 5), (6, 8, 1), (12, 17, 1)]


def test_a_reader_gives_bytes_where_nothing_decodes(tmp_path):
    path = tmp_path / "x.jpg"
    path.write_bytes(b"some bytes")
    contents, size = run(lambda: (fn.readers.file(files=[str(path)])[0], fn.readers.file(files=[str(path)])[0].shape()))
    assert bytes(contents[0]) == b"some bytes"
    assert size[0].tolist() == [10]


@either_way
def test_resize_is_an_antialiased_linear_one(pictures, dtype):
    for got, x in zip(
        run(lambda x: fn.resize(x, resize_x=12, resize_y=9), pictures, dtype=dtype), pictures, strict=True
    ):
        want = np.asarray(PIL.Image.fromarray(x).resize((12, 9), PIL.Image.BILINEAR)).astype(int)
        inner = np.abs(got.astype(int) - want)[1:-1, 1:-1]
        assert got.shape == (9, 12, 3)
        assert inner.max() <= 2


@pytest.mark.parametrize(
    ("options", "sizes"),
    [  # of pictures (23, 31) and (40, 26)
        ({"resize_x": 10}, [(7, 10), (15, 10)]),
        ({"resize_y": 10}, [(10, 13), (10, 7)]),
        ({"resize_x": 10, "mode": "stretch"}, [(23, 10), (40, 10)]),
        ({"resize_shorter": 46}, [(46, 62), (71, 46)]),
        ({"resize_longer": 20}, [(15, 20), (20, 13)]),
        ({"resize_shorter": 46, "max_size": 60}, [(45, 60), (60, 39)]),
        ({"size": (20, 20), "mode": "not_larger"}, [(15, 20), (20, 13)]),
        ({"size": (20, 20), "mode": "not_smaller"}, [(20, 27), (31, 20)]),
        ({"size": (0, 62)}, [(46, 62), (95, 62)]),
        ({"size": 7}, [(7, 7), (7, 7)]),
        ({"size": (50, 90), "max_size": (30, 40)}, [(30, 40), (30, 40)]),
    ],
)
def test_sizes(pictures, options, sizes):
    for dtype in (types.UINT8, None):
        assert [each.shape[:2] for each in run(lambda x: fn.resize(x, **options), pictures, dtype=dtype)] == sizes


@either_way
@pytest.mark.parametrize("subpixel", [True, False])
def test_sizes_of_each_sample(pictures, dtype, subpixel):
    sizes = [np.float32([10.6, 7.2]), np.float32([30.5, 12])]

    def define(x, n):
        return fn.resize(x, size=n, subpixel_scale=subpixel), fn.resize(x, resize_x=n[1], subpixel_scale=subpixel)

    both, width = run(define, pictures, sizes, layout=["HWC", None], dtype=[dtype, None])
    assert [each.shape[:2] for each in both] == [(11, 7), (31, 12)]  # halves are rounded up
    assert [each.shape[:2] for each in width] == [(5, 7), (18, 12)]  # 23 * 7.2 / 31 and 40 * 12 / 26


def test_negative_sizes_and_regions_mirror(pictures):
    plain, mirrored, region, part = run(
        lambda x: (fn.resize(x, size=(9, 12)), fn.resize(x, resize_x=-12, resize_y=9),
                   fn.resize(x, size=(9, 12), roi_start=(1, 1), roi_end=(0, 0), roi_relative=True),
                   fn.resize(x, size=(10, 5), roi_start=(3, 6), roi_end=(13, 11), interp_type=types.INTERP_NN)),
        pictures,
    )  # fmt: skip
    for k, x in enumerate(pictures):
        np.testing.assert_array_equal(mirrored[k], plain[k][:, ::-1])
        np.testing.assert_array_equal(region[k], plain[k][::-1, ::-1])
        np.testing.assert_array_equal(part[k], x[3:13, 6:11])


@pytest.mark.parametrize("arguments", [{}, {"size": 3, "resize_x": 3}, {"resize_shorter": 3, "resize_longer": 4},
                                       {"resize_shorter": 3, "mode": "stretch"}, {"size": 3, "mode": "odd"},
                                       {"size": 3, "roi_start": (0, 0)}, {"size": (1, 2, 3)},
                                       {"size": 3, "interp_type": 77}])  # fmt: skip
def test_resize_refuses(arguments):
    with pytest.raises(ValueError, match="resize"):
        fn.resize(fn.external_source(), **arguments)


@either_way
@pytest.mark.parametrize("position", [(0.5, 0.5), (0.0, 1.0), (0.3, 0.77)])
@pytest.mark.parametrize("rounding", ["round", "truncate"])
def test_crops_are_rounded(pictures, dtype, position, rounding):
    y, x = position
    made = run(
        lambda p: fn.crop(p, crop=(10, 11), crop_pos_y=y, crop_pos_x=x, rounding=rounding), pictures, dtype=dtype
    )
    for got, picture in zip(made, pictures, strict=True):
        at = np.float32([y, x]).astype(float) * (np.array(picture.shape[:2]) - (10, 11))
        top, left = (np.floor(at + 0.5) if rounding == "round" else np.floor(at)).astype(int)
        np.testing.assert_array_equal(got, picture[top : top + 10, left : left + 11])


def test_crops_out_of_bounds(pictures):
    wide = {"crop": (30, 40), "crop_pos_x": 0.25}
    padded, trimmed = run(
        lambda x: (fn.crop(x, out_of_bounds_policy="pad", fill_values=[1, 2, 3], **wide),
                   fn.crop(x, out_of_bounds_policy="trim_to_shape", **wide)), pictures,
    )  # fmt: skip
    for got, cut, x in zip(padded, trimmed, pictures, strict=True):
        height, width = x.shape[:2]
        canvas = np.empty((200, 200, 3), np.uint8)
        canvas[:] = [1, 2, 3]
        canvas[100 : 100 + height, 100 : 100 + width] = x
        top, left = (int(np.copysign(np.floor(abs(a) + 0.5), a)) for a in (0.5 * (height - 30), 0.25 * (width - 40)))
        np.testing.assert_array_equal(got, canvas[100 + top : 130 + top, 100 + left : 140 + left])
        np.testing.assert_array_equal(cut, x[max(top, 0) : max(top, 0) + 30])
    with pytest.raises(ValueError, match=r"(?s)crop.*(larger|within)"):
        run(lambda x: fn.crop(x, **wide), pictures)
    with pytest.raises(ValueError, match="crop_h and crop_w"):
        fn.crop(fn.external_source(), crop=(1, 2), crop_h=3)
    with pytest.raises(NotImplementedError, match="crop_d"):
        fn.crop(fn.external_source(), crop=(1, 2), crop_d=3)


@either_way
@pytest.mark.parametrize("output_layout", ["CHW", "HWC"])
@pytest.mark.parametrize("mirror", [0, 1])
@pytest.mark.parametrize("kind", [types.FLOAT, types.FLOAT16, types.UINT8, types.INT8])
def test_crop_mirror_normalize(pictures, dtype, output_layout, mirror, kind):
    mean, std, scale, shift = np.array([110, 120, 130.0]), np.array([50, 60, 70.0]), 30.0, 7.0
    made = run(
        lambda x: fn.crop_mirror_normalize(
            x, crop=(20, 21), mirror=mirror, mean=mean.tolist(), std=std.tolist(), scale=scale, shift=shift, dtype=kind,
            output_layout=output_layout,
        ), pictures, dtype=dtype,
    )  # fmt: skip
    for got, x in zip(made, pictures, strict=True):
        top, left = ((np.array(x.shape[:2]) - (20, 21)) / 2 + 0.5).astype(int)
        part = x[top : top + 20, left : left + 21].astype(np.float64)
        want = (part[:, ::-1] if mirror else part) - mean
        want = want / std * scale + shift
        if kind in (types.UINT8, types.INT8):
            want = np.clip(want, *((0, 255) if kind == types.UINT8 else (-128, 127)))
        want = want.transpose(2, 0, 1) if output_layout == "CHW" else want
        assert got.dtype == types.to_numpy_type(kind)
        assert got.shape == want.shape
        assert np.abs(got - want).max() <= {types.FLOAT: 1e-4, types.FLOAT16: 0.04}.get(kind, 0.5001)


def test_normalization_by_numbers_of_each_sample(pictures):
    numbers = np.float32([[100, 90, 80, 20, 21, 22], [50, 60, 70, 3, 4, 5]])

    def define(x, n):
        normalize = fn.crop_mirror_normalize
        one = normalize(x, mean=[n[0]], std=[n[3]], output_layout="HWC")
        return one, normalize(x, mean=n[:3], std=n[3:], scale=2.0, shift=1.0, output_layout="HWC")

    one, all_ = run(define, pictures, list(numbers), layout=["HWC", None], dtype=[types.UINT8, types.FLOAT])
    for k, x in enumerate(pictures):
        mean, std = numbers[k, :3].astype(float), numbers[k, 3:].astype(float)
        np.testing.assert_allclose(one[k], (x - mean[0]) / std[0], rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(all_[k], 2 * (x - mean) / std + 1, rtol=1e-5, atol=1e-4)


@either_way
def test_flip_by_numbers_of_each_sample(pictures, dtype):
    made = run(
        lambda x, h: fn.flip(x, horizontal=h, vertical=1 - h), pictures, [np.int32(0), np.int32(1)],
        layout=["HWC", None], dtype=[dtype, None],
    )  # fmt: skip
    np.testing.assert_array_equal(made[0], pictures[0][::-1])
    np.testing.assert_array_equal(made[1], pictures[1][:, ::-1])


def test_rotate(pictures):
    quarter, kept, sized = run(
        lambda x: (fn.rotate(x, angle=90), fn.rotate(x, angle=180.0, keep_size=True),
                   fn.rotate(x, angle=0, size=(9, 11), fill_value=0)), pictures, dtype=types.UINT8,
    )  # fmt: skip
    for k, x in enumerate(pictures):
        np.testing.assert_array_equal(quarter[k], np.rot90(x))  # counter-clockwise
        np.testing.assert_array_equal(kept[k], x[::-1, ::-1])
        assert sized[k].shape == (9, 11, 3)
    np.testing.assert_array_equal(sized[0], pictures[0][7:16, 10:21])  # about the same centre
    # The canvas of a turned picture: what its corners need, as odd or even as the picture is.
    for angle, shapes in ((30.0, [(37, 39), (48, 44)]), (45.0, [(39, 39), (48, 48)])):
        got = [each.shape[:2] for each in run(lambda x, angle=angle: fn.rotate(x, angle=angle), pictures)]
        assert got == [(h, w) for h, w in shapes], angle


def test_warps(pictures):
    move = [1, 0, 3, 0, 1, -2]  # the pixel (x, y) of the result is (x + 3, y - 2) of the picture
    there, back, of_each = run(
        lambda x, m: (fn.warp_affine(x, matrix=move, fill_value=9), fn.warp_affine(x, matrix=move, inverse_map=False,
                      fill_value=9), fn.warp_affine(x, m, fill_value=9)),
        pictures, [np.float32(move).reshape(2, 3)] * 2, layout=["HWC", None], dtype=[types.UINT8, None],
    )  # fmt: skip
    for k, x in enumerate(pictures):
        want = np.full_like(x, 9)
        want[2:, :-3] = x[:-2, 3:]
        np.testing.assert_array_equal(there[k], want)
        np.testing.assert_array_equal(of_each[k], want)
        want[:] = 9
        want[:-2, 3:] = x[2:, :-3]
        np.testing.assert_array_equal(back[k], want)
    third = run(lambda x: fn.warp_affine(x, matrix=[3, 0, 0, 0, 3, 0], size=(7, 8), interp_type=types.INTERP_NN),
               pictures)  # fmt: skip
    np.testing.assert_array_equal(third[0], pictures[0][1:22:3, 1:25:3])  # the corner of the first pixel is (0, 0)


YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def twisted(x, hue=0.0, saturation=1.0, contrast=1.0, brightness=1.0, half=128.0):
    c, s = np.cos(np.radians(hue)) * saturation, np.sin(np.radians(hue)) * saturation
    matrix = np.linalg.inv(YIQ) @ [[1, 0, 0], [0, c, s], [0, -s, c]] @ YIQ
    return ((x @ matrix.T - half) * contrast + half) * brightness


@either_way
def test_color_twist(pictures, dtype):
    options = {"hue": 25.0, "saturation": 0.6, "contrast": 0.8, "brightness": 1.2}
    made = run(lambda x: fn.color_twist(x, **options), pictures, dtype=dtype)
    for got, x in zip(made, pictures, strict=True):
        assert np.abs(got - rounded(twisted(x, **options))).max() <= 1
    red = [np.full((2, 2, 3), (200, 20, 20), np.uint8)]
    np.testing.assert_array_equal(run(lambda x: fn.hue(x, hue=30.0), red, dtype=dtype)[0][0, 0], [168, 57, 0])


def test_colors_by_numbers_of_each_sample(pictures):
    numbers = np.float32([[-40, 1.5, 0.7], [90, 0.2, 1.1]])
    made = run(
        lambda x, n: (fn.hsv(x, hue=n[0], saturation=n[1], value=n[2]), fn.brightness(x, brightness=n[2]),
                      fn.contrast(x, contrast=n[1]), fn.saturation(x, saturation=n[1])),
        pictures, list(numbers), layout=["HWC", None], dtype=[types.UINT8, types.FLOAT],
    )  # fmt: skip
    for k, x in enumerate(pictures):
        hue, saturation, value = numbers[k].astype(float)
        for got, want in zip(
            made, (twisted(x, hue, saturation, brightness=value), x * value, (x - 128.0) * saturation + 128,
                   twisted(x, saturation=saturation)), strict=True,
        ):  # fmt: skip
            assert np.abs(got[k] - rounded(want)).max() <= 1


@pytest.mark.parametrize("kind", [None, types.FLOAT])
def test_brightness_and_contrast(pictures, kind):
    made = run(
        lambda x: fn.brightness_contrast(x, brightness=1.2, brightness_shift=0.1, contrast=0.6, contrast_center=90.0,
                                         dtype=kind), pictures, dtype=types.UINT8,
    )  # fmt: skip
    for got, x in zip(made, pictures, strict=True):
        white = 1 if kind == types.FLOAT else 255  # the shift counts in the result's largest value
        want = 0.1 * white + 1.2 * (90 + 0.6 * (x - 90.0))
        assert np.abs(got - (want if kind == types.FLOAT else rounded(want))).max() <= (1e-3 if kind else 1)


@either_way
def test_color_spaces(pictures, dtype):
    rgb = types.RGB

    def define(x):
        convert = fn.color_space_conversion
        ycbcr = convert(x, image_type=rgb, output_type=types.YCbCr)
        return (
            convert(x, image_type=rgb, output_type=types.BGR), convert(x, image_type=rgb, output_type=types.GRAY), ycbcr,
            convert(ycbcr, image_type=types.YCbCr, output_type=rgb),
            convert(ycbcr, image_type=types.YCbCr, output_type=types.GRAY),
        )  # fmt: skip

    bgr, gray, ycbcr, back, luminance = run(define, pictures, dtype=dtype)
    for k, x in enumerate(pictures):
        grey = x @ np.array([0.299, 0.587, 0.114])
        np.testing.assert_array_equal(bgr[k], x[..., ::-1])
        assert np.abs(gray[k][..., 0] - grey).max() <= 1
        assert np.abs(ycbcr[k][..., 0] - (16 + grey * 219 / 255)).max() <= 0.51
        assert np.abs(back[k].astype(int) - x).max() <= 3  # 8 bits of fewer levels
        assert np.abs(luminance[k][..., 0] - grey).max() <= 1.2
    with pytest.raises(ValueError, match=r"types\.RGB"):
        fn.color_space_conversion(fn.external_source(), image_type=rgb, output_type=types.ANY_DATA)


def test_transpose_and_layouts(pictures):
    def define(x):
        chw = fn.transpose(x, perm=[2, 0, 1])
        return chw, fn.resize(chw, size=(8, 9)), fn.transpose(chw, perm=[1, 2, 0]), fn.transpose(x)

    chw, resized, back, reversed_ = run(define, pictures, dtype=types.UINT8)
    for k, x in enumerate(pictures):
        np.testing.assert_array_equal(chw[k], x.transpose(2, 0, 1))
        assert resized[k].shape == (3, 8, 9)  # the layout is known to be CHW
        np.testing.assert_array_equal(back[k], x)
        np.testing.assert_array_equal(reversed_[k], x.T)


def test_normalize(pictures):
    made = run(
        lambda x: (fn.normalize(x), fn.normalize(x, axes=(0, 1), scale=2.0, shift=3.0),
                   fn.normalize(x, mean=100.0, stddev=7.0), fn.normalize(x, axis_names="HW", ddof=1),
                   fn.normalize(x, mean=np.float32([[[9, 8, 7]]]), stddev=2.0)), pictures, dtype=types.UINT8,
    )  # fmt: skip
    for k, x in enumerate(pictures):
        x = x.astype(np.float64)
        mean, std = x.mean((0, 1)), x.std((0, 1))
        wants = ((x - x.mean()) / x.std(), 2 * (x - mean) / std + 3, (x - 100) / 7, (x - mean) / x.std((0, 1), ddof=1),
                 (x - [9, 8, 7]) / 2)  # fmt: skip
        for got, want in zip(made, wants, strict=True):
            np.testing.assert_allclose(got[k], want, rtol=1e-5, atol=1e-5)


def test_normalize_by_batches(pictures):
    made = run(
        lambda x: (fn.normalize(x, batch=True), fn.normalize(x, batch=True, axes=(0, 1), scale=2.0, shift=3.0, ddof=1),
                   fn.normalize(x, batch=True, stddev=7.0, dtype=types.UINT8, shift=100.0),
                   fn.normalize(x, batch=True, mean=50.0, epsilon=4.0)), pictures, dtype=types.UINT8,
    )  # fmt: skip
    pixels = np.concatenate([x.reshape(-1, x.shape[-1]) for x in pictures]).astype(np.float64)
    mean, std = pixels.mean(0), pixels.std(0, ddof=1)
    off = np.sqrt(((pixels - 50) ** 2).mean() + 4)
    for k, x in enumerate(pictures):
        wants = ((x - pixels.mean()) / pixels.std(), 2 * (x - mean) / std + 3, None, (x - 50.0) / off)
        for got, want in zip(made, wants, strict=True):
            if want is not None:
                np.testing.assert_allclose(got[k], want, rtol=1e-5, atol=1e-5)
        want = np.clip(np.round((x - pixels.mean()) / 7 + 100), 0, 255)
        assert made[2][k].dtype == np.uint8 and np.abs(made[2][k] - want).max() <= 1


def test_normalize_by_batches_is_refused():
    x = [np.ones((2, 3), np.float32), np.ones((4, 1), np.float32)]
    with pytest.raises(ValueError, match="unlike extents along the axes that stay"):
        run(lambda a: fn.normalize(a, batch=True, axes=(0,)), x, layout="")
    with pytest.raises(NotImplementedError, match="whole batch"):
        run(lambda a: fn.normalize(a, batch=True) + 1, x, layout="")
    with pytest.raises(NotImplementedError, match="same for all samples"):
        fn.normalize(fn.external_source(), batch=True, mean=fn.external_source())


def test_casts():
    x = [np.float32([1.5, -0.5, 0.5, 254.5, 300, -7, np.nan])]
    bytes_, signed = run(lambda a: (fn.cast(a, dtype=types.UINT8), fn.cast(a, dtype=types.INT16)), x, layout="")
    np.testing.assert_array_equal(bytes_[0], [2, 0, 1, 255, 255, 0, 0])
    np.testing.assert_array_equal(signed[0], [2, -1, 1, 255, 300, -7, 0])
    (flags,) = run(lambda a: fn.cast(a, dtype=types.BOOL), [np.int32([0, 2, -1])], layout="")
    assert flags.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [("uint8", "int8", "int16"), ("uint32", "int8", "int64"), ("uint64", "int64", "int64"), ("int32", "int8", "int32"),
     ("uint8", "float32", "float32"), ("float16", "int64", "float16"), ("float16", "float64", "float64"),
     ("bool", "uint8", "uint8")],
)  # fmt: skip
def test_arithmetic_promotes(left, right, result):
    got = run(lambda a, b: a + b, [np.ones(2, left)], [np.ones(2, right)], layout="")[0]
    assert (got.dtype, got.tolist()) == (np.dtype(result), [2, 2])


def test_numbers_are_int32_or_float32():
    x = [np.uint8([7, 200])]
    made = run(lambda a: (a + 100, a * 0.5, a / 2, a // 2, a + types.Constant(100).uint8(), -a, a > 7, a % 4, ~a,
                          2 - a), x, layout="")  # fmt: skip
    wants = [np.int32([107, 300]), np.float32([3.5, 100]), np.float32([3.5, 100]), np.int32([3, 100]),
             np.uint8([107, 44]), np.uint8([249, 56]), np.array([False, True]), np.int32([3, 0]), np.uint8([248, 55]),
             np.int32([-5, -198])]  # fmt: skip
    for got, want in zip(made, wants, strict=True):
        assert got[0].dtype == want.dtype
        np.testing.assert_array_equal(got[0], want)
    quotients = run(lambda a: (a // 2, a % 3), [np.int32([-7, 7])], layout="")
    assert [each[0].tolist() for each in quotients] == [[-3, 3], [-1, 1]]  # cut off towards zero
    with pytest.raises(TypeError, match="bitwise"):
        run(lambda a: a & 1, [np.float32([1])], layout="")


def test_math():
    x = [np.int32([1, 4])]
    math = fn.math
    made = run(lambda a: (math.sqrt(a), math.max(a, 2), math.clamp(a, 2, 3), math.pow(a, 2), abs(-a)), x, layout="")
    wants = [np.float32([1, 2]), np.int32([2, 4]), np.int32([2, 3]), np.int32([1, 16]), np.int32([1, 4])]
    for got, want in zip(made, wants, strict=True):
        assert got[0].dtype == want.dtype
        np.testing.assert_array_equal(got[0], want)


def test_indices_may_be_nodes():
    x = np.arange(24).reshape(4, 6)
    made = run(lambda a, k: (a[k, 1:-1], a[:, k], a[k : k + 2], a[-1, 2]), [x, x + 100], [np.int32(1), np.int32(2)],
               layout="")  # fmt: skip
    wants = [[x[1, 1:-1], x[2, 1:-1] + 100], [x[:, 1], x[:, 2] + 100], [x[1:3], x[2:4] + 100], [x[3, 2], x[3, 2] + 100]]
    for got, want in zip(made, wants, strict=True):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)


def test_shapes_and_joins():
    x = np.arange(6).reshape(2, 3)
    made = run(lambda a: (fn.cat(a, a, axis=1), fn.stack(a, a), fn.reshape(a, shape=[3, -1]), a.shape(),
                          fn.reshape(a, rel_shape=[0.5, -1]), fn.expand_dims(a, axes=1)), [x], layout="")  # fmt: skip
    wants = [np.concatenate([x, x], 1), np.stack([x, x]), x.reshape(3, 2), [2, 3], x.reshape(1, 6), x[:, None]]
    for got, want in zip(made, wants, strict=True):
        np.testing.assert_array_equal(got[0], want)


def test_one_hot():
    made = run(lambda a, b: (fn.one_hot(a, num_classes=3), fn.one_hot(b, num_classes=3, axis=0, dtype=types.INT32,
               on_value=5.0, off_value=-1.0)), [np.int32([2])], [np.int32([1, 7])], layout="")  # fmt: skip
    np.testing.assert_array_equal(made[0][0], np.float32([0, 0, 1]))
    np.testing.assert_array_equal(made[1][0], np.int32([[-1, -1], [5, -1], [-1, -1]]))
    with pytest.raises(ValueError, match="num_classes"):
        fn.one_hot(fn.external_source())


def test_pads_to_the_largest_of_the_batch():
    x = [np.ones((2, 3), np.int32), np.ones((4, 1), np.int32)]
    largest, aligned = run(lambda a: (fn.pad(a, fill_value=7), fn.pad(a, axes=(1,), shape=(2,), align=(4,))), x,
                           layout="")  # fmt: skip
    assert [each.shape for each in largest] == [(4, 3)] * 2
    assert [each.shape for each in aligned] == [(2, 4), (4, 4)]
    np.testing.assert_array_equal(largest[1], np.pad(x[1], ((0, 0), (0, 2)), constant_values=7))
    with pytest.raises(NotImplementedError, match="whole batch"):
        run(lambda a: fn.pad(a) + 1, x, layout="")


def test_python_functions():
    def both(x, y):
        assert type(x) is np.ndarray
        return x + y, x * y

    made = run(lambda a, b: fn.python_function(a, b, function=both, num_outputs=2), [np.int32([2])], [np.int32([3])],
               layout="")  # fmt: skip
    assert [each[0].tolist() for each in made] == [[5], [6]]
    with pytest.raises(ValueError, match="gave 1 outputs, not 2"):
        run(lambda a: fn.python_function(a, function=lambda x: x, num_outputs=2), [np.int32([2])], layout="")


# Random numbers.


def test_distributions():
    made = run(
        lambda: (fn.random.uniform(range=(2, 6)), fn.random.coin_flip(probability=0.25), fn.random.normal(mean=3.0,
                 stddev=2.0), fn.random.uniform(values=[1, 5, 9], shape=(2,)), fn.random.uniform(range=(0, 9),
                 dtype=types.INT32)), batches=1000,
    )  # fmt: skip
    uniform, coin, normal, choice, whole = (np.stack(each) for each in made)
    assert (uniform.dtype, coin.dtype, whole.dtype) == (np.float32, np.int32, np.int32)
    assert uniform.shape == (4000,)
    assert choice.shape == (4000, 2)
    assert 2 <= uniform.min() < 2.01 < 5.99 < uniform.max() < 6
    assert abs(uniform.mean() - 4) < 0.1
    assert abs(coin.mean() - 0.25) < 0.04
    assert abs(normal.mean() - 3) < 0.16
    assert abs(normal.std() - 2) < 0.12
    assert sorted(np.unique(choice)) == [1, 5, 9]
    assert all(abs((choice == each).mean() - 1 / 3) < 0.04 for each in (1, 5, 9))


def test_random_numbers_follow_from_the_seed():
    def define():
        return fn.random.uniform(), fn.random.uniform(), fn.random.uniform(seed=9), fn.random.uniform(seed=9)

    first, second, seeded, again = run(define, batches=3)
    assert [*map(float, first)] == [*map(float, run(define, batches=3)[0])]
    assert first != second
    assert seeded == again
    other = run(define, batches=3, seed=6)
    assert [*map(float, other[2])] == [*map(float, seeded)]
    assert [*map(float, other[0])] != [*map(float, first)]


def test_random_parameters_of_each_sample():
    low, high = np.float32(3), np.float32(4)
    made = run(
        lambda a, b: (fn.random.uniform(range=fn.stack(a, b)), fn.random.coin_flip(probability=a - 3),
                      fn.random.normal(mean=b, stddev=a - 3)), [low] * 4, [high] * 4, layout="", batches=20,
    )  # fmt: skip
    assert all(3 <= each < 4 for each in made[0])
    assert all(each == 0 for each in made[1])
    assert all(each == 4 for each in made[2])


def test_one_number_for_a_picture_and_its_mask(pictures):
    def define(x):
        coin, angle = fn.random.coin_flip(), fn.random.uniform(range=(-20.0, 20.0))
        left, right = (
            fn.rotate(fn.flip(each, horizontal=coin), angle=angle, keep_size=True) for each in (x, fn.copy(x))
        )
        return left, right, coin, angle

    left, right, coin, angle = run(define, pictures, dtype=types.UINT8, batches=6)
    assert len({*map(int, coin)}) == 2
    assert len({*map(float, angle)}) == 12
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


def test_random_crops(pictures):
    x = [np.dstack(np.mgrid[0:200, 0:250]).astype(np.uint8)[..., [0, 1, 1]] for _ in range(4)]

    def define(a):
        return fn.random_resized_crop(a, size=(8, 9), random_area=(0.1, 0.3), random_aspect_ratio=(0.8, 1.25))

    corners = []
    for each in run(define, x, dtype=types.UINT8, batches=20):
        assert each.shape == (8, 9, 3)
        height = (int(each[-1, 0, 0]) - int(each[0, 0, 0])) * 8 / 7
        width = (int(each[0, -1, 1]) - int(each[0, 0, 1])) * 9 / 8
        corners.append((int(each[0, 0, 0]), int(each[0, 0, 1])))
        assert 0.07 < height * width / (200 * 250) < 0.35
        assert 0.7 < width / height < 1.4
    assert len(set(corners)) > 40


def test_decoded_random_crops(rng):
    data = io.BytesIO()
    PIL.Image.fromarray(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)).save(data, "PNG")
    file = [np.frombuffer(data.getvalue(), np.uint8)] * 4
    crops = run(lambda x: fn.decoders.image_random_crop(x, random_area=(0.2, 0.4)), file, layout=None, batches=10)
    assert len({each.shape for each in crops}) > 10
    assert all(0.15 < each.shape[0] * each.shape[1] / 4800 < 0.45 for each in crops)


def test_operators_as_classes(pictures):
    resize, coin = ops.Resize(resize_x=10, resize_y=8), ops.random.CoinFlip(probability=1.0)
    normalize = ops.CropMirrorNormalize(mean=[0.0] * 3, std=[1.0] * 3, output_layout=types.NHWC)
    made = run(lambda x: normalize(resize(x), mirror=coin()), pictures, dtype=types.UINT8)
    want = run(lambda x: fn.resize(x, resize_x=10, resize_y=8), pictures, dtype=types.UINT8)
    np.testing.assert_array_equal(made[0], want[0][:, ::-1].astype(np.float32))
    pairs = run(lambda x: tuple(ops.Flip()([x, x])), pictures, dtype=types.UINT8)
    np.testing.assert_array_equal(pairs[0][0], pictures[0][:, ::-1])
    with pytest.raises(ValueError, match="device"):
        ops.Resize(device="tpu")


def test_a_gpu_needs_a_device():
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def make():
        return fn.external_source(lambda: [np.int32([1])]).gpu()

    with pytest.raises(ValueError, match="device_id"):
        make().run()
