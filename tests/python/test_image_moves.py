"""Pixels that move: rows that become columns, constants around a picture, and the largest pictures, against NumPy."""

import io

import numpy as np
import pytest
from PIL import Image

import iruka
from iruka import image

DTYPES = [np.uint8, np.uint16, np.float16, np.float32]
# Below, at and beyond the sides of the squares and of the blocks of rows that move at once.
SIZES = [(1, 1), (1, 40), (40, 1), (3, 5), (16, 16), (17, 31), (64, 16), (65, 33), (130, 7), (70, 301)]


def picture_of(rng, shape, dtype):
    itemsize = np.dtype(dtype).itemsize
    bits = rng.integers(0, 256, (*shape[:-1], shape[-1] * itemsize)).astype(np.uint8)
    return np.nan_to_num(bits.view(dtype)) if np.issubdtype(dtype, np.floating) else bits.view(dtype)


def planes_of(picture):
    return np.ascontiguousarray(picture.transpose(2, 0, 1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 20])
def test_rows_become_columns(rng, channels, dtype):
    for size in SIZES:
        picture = picture_of(rng, (*size, channels), dtype)
        planes = planes_of(picture)
        for vertical, horizontal in ((False, False), (False, True), (True, False), (True, True)):
            stages = [image.Transpose(), image.Flip(horizontal, vertical)]
            want = picture.swapaxes(0, 1)[:: -1 if vertical else 1, :: -1 if horizontal else 1]
            made = iruka.asnumpy(image.Chain(stages)(picture))
            np.testing.assert_array_equal(made, want)
            made = iruka.asnumpy(image.Chain(stages, "CHW")(planes))
            np.testing.assert_array_equal(made, planes_of(want))
            made = iruka.asnumpy(image.Chain([*stages, image.Layout("CHW")])(picture))
            np.testing.assert_array_equal(made, planes_of(want))
            made = iruka.asnumpy(image.Chain([*stages, image.Layout("HWC")], "CHW")(planes))
            np.testing.assert_array_equal(made, want)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_columns_have_the_values_of_rows(rng, channels, dtype):
    """A turn behind other stages has the bits of NumPy's turn of their result."""
    stages = [
        [image.Resize((37, 150))],
        [image.Crop((60, 90), (1, 2)), image.Normalize(3, 7)],
        [image.Crop((60, 90), (1, 2)), image.Cast(np.float16)],
        [image.Pad(((3, 4), (70, 1)), value=9)],
        [image.Pad(((3, 4), (70, 1)), "wrap")],
        [image.WarpAffine([[0.9, 0.2, 1], [-0.2, 0.8, 9]], (90, 80))],
        [image.WarpAffine([[0.9, 0.2, 1], [-0.2, 0.8, 9]], (90, 80), "nearest")],
    ]
    picture = picture_of(rng, (75, 103, channels), np.uint8).astype(dtype)
    for some in stages:
        want = iruka.asnumpy(image.Chain(some)(picture)).swapaxes(0, 1)
        for layout in ("HWC", "CHW"):
            made = iruka.asnumpy(image.Chain([*some, image.Transpose(), image.Layout(layout)])(picture))
            np.testing.assert_array_equal(made, want if layout == "HWC" else planes_of(want), err_msg=repr(some))


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_have_any_strides(rng, dtype):
    picture = picture_of(rng, (70, 45, 3), dtype)
    for stages, want in (
        ([image.Transpose()], picture.swapaxes(0, 1)),
        ([image.Flip()], picture[:, ::-1]),
        ([image.Rotate(270, expand=True)], np.rot90(picture, 3)),
    ):
        height, width, channels = want.shape
        dense = np.zeros((height, width, channels), dtype)
        for out in (
            np.zeros((2 * height, 3 * width, channels), dtype)[::2, ::3],
            np.zeros((height, width, 2 * channels), dtype)[..., ::2],
            np.zeros((width, height, channels), dtype).swapaxes(0, 1),
            np.zeros((channels, width, height), dtype).transpose(2, 1, 0),
            dense[::-1, ::-1],
        ):
            given = iruka.asarray(out)
            image.Chain(stages)(picture, out=given)
            np.testing.assert_array_equal(iruka.asnumpy(given), want)


@pytest.mark.cpu_only
def test_turns_have_the_same_bits_on_every_number_of_threads(rng):
    picture = picture_of(rng, (331, 700, 3), np.uint8)
    before = iruka.get_num_threads()
    try:
        for threads in (1, 2, 5):
            iruka.set_num_threads(threads)
            np.testing.assert_array_equal(iruka.asnumpy(image.transpose(picture)), picture.swapaxes(0, 1))
            np.testing.assert_array_equal(iruka.asnumpy(image.rotate(picture, 90, expand=True)), np.rot90(picture))
    finally:
        iruka.set_num_threads(before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_constants_surround_a_picture(rng, channels, dtype):
    value = tuple(range(1, channels + 1))
    for margins in (((0, 1), (0, 1)), ((2, 3), (700, 1500))):
        picture = picture_of(rng, (4, 6, channels), dtype)
        want = np.empty((4 + sum(margins[0]), 6 + sum(margins[1]), channels), dtype)
        want[:] = value
        (top, _), (left, _) = margins
        want[top : top + 4, left : left + 6] = picture
        np.testing.assert_array_equal(iruka.asnumpy(image.pad(picture, margins, value=value)), want)
        made = image.pad(planes_of(picture), margins, value=value, layout="CHW")
        np.testing.assert_array_equal(iruka.asnumpy(made), planes_of(want))


WIDE = 1 << 26


@pytest.mark.parametrize(
    "stages, shape, dtype, parts",
    [
        ([image.Flip()], (1, 1, 1 << 29), np.float32, ["(1, 1, 536870912)", "536869888 elements"]),
        ([image.WarpAffine(np.eye(3)[:2], (1, 1), "nearest")], (1, 1, 1 << 29), np.float32, ["536869888 elements"]),
        ([image.Resize((6, 9), "nearest")], (1, WIDE, 9), np.float32, ["536869888 elements"]),
        ([image.Flip()], (1, WIDE, 32), np.uint8, ["2147479552 elements"]),
        ([image.Flip()], (2 * WIDE, 1, 1), np.uint8, [f"{WIDE} pixels", f"({2 * WIDE}, 1, 1)"]),
        # Rows and sides that only a later pass reads.
        ([image.Pad(((0, 0), (WIDE - 1, 0)), "edge"), image.Resize((6, 40), antialias=False)], (6, 1, 48), np.uint8,
         ["2147479552 elements", f"(6, {WIDE}, 48)"]),
        ([image.Cast(np.float32), image.Flip(), image.Resize((6, 40))], (1, WIDE, 9), np.uint8, ["536869888 elements"]),
        ([image.Pad(((0, 0), (WIDE, 0)), "edge"), image.Resize((6, 40))], (6, 1, 1), np.uint8, [f"from 1 to {WIDE}"]),
    ],
)  # fmt: skip
def test_rows_beyond_32_bits_are_refused(stages, shape, dtype, parts):
    with pytest.raises(ValueError) as raised:
        image.Chain(stages).result(shape, dtype)
    assert all(part in str(raised.value) for part in parts), str(raised.value)


def test_a_row_of_one_huge_pixel_is_refused():
    view = np.broadcast_to(np.float32(0), (1, 1, 1 << 29))  # of one element
    with pytest.raises(ValueError, match="536869888 elements"):
        image.flip(view)


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_a_wide_row_shrinks_to_few_pixels(dtype):
    """Each result has hundreds of thousands of taps. The means of a ramp are known."""
    ramp = np.broadcast_to(np.linspace(0, 255, 7 << 18), (1, 7 << 18)).astype(dtype)
    made = iruka.asnumpy(image.resize(ramp, (1, 7), "area"))
    want = [[ramp[0, k << 18 : (k + 1) << 18].mean(dtype=np.float64) for k in range(7)]]
    np.testing.assert_allclose(made, want, atol=0.6 if dtype == np.uint8 else 0.05)
    np.testing.assert_allclose(
        iruka.asnumpy(image.resize(ramp, (1, 1), "area"))[0, 0], ramp.mean(dtype=np.float64), atol=0.6
    )


EXIF_TURNS = {
    1: lambda p: p,
    2: lambda p: p[:, ::-1],
    3: lambda p: p[::-1, ::-1],
    4: lambda p: p[::-1],
    5: lambda p: p.swapaxes(0, 1),
    6: lambda p: np.rot90(p, -1),
    7: lambda p: p.swapaxes(0, 1)[::-1, ::-1],
    8: lambda p: np.rot90(p),
}


def stored_bytes(picture, form, orientation, **options):
    buffer, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(picture).save(buffer, form, exif=exif, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["png", "tiff", "jpeg"])
def test_pictures_are_turned_as_exif_says(rng, form, orientation, tmp_path):
    turned = EXIF_TURNS[orientation]
    for shape in ((37, 70, 3), (75, 33), (64, 80, 4), (1, 9, 3), (9, 1)):
        if form == "jpeg" and shape[-1] == 4:
            continue
        data = stored_bytes(rng.integers(0, 256, shape).astype(np.uint8), form, orientation)
        path = tmp_path / f"picture.{form}"
        path.write_bytes(data)
        chain = image.Chain([image.Resize((21, 30)), image.Normalize(100, 50), image.Layout("CHW")])
        for options in (
            {"mode": "unchanged"},
            {"mode": "gray"},
            {"mode": "rgb"},
            {"mode": "bgr", "dtype": np.uint16},
            {"mode": "rgba"},
        ):
            plain = iruka.asnumpy(image.imdecode(data, apply_orientation=False, **options))
            want = turned(plain)
            np.testing.assert_array_equal(iruka.asnumpy(image.imdecode(data, **options)), want)
            np.testing.assert_array_equal(iruka.asnumpy(image.imread(path, **options)), want)
            (made,) = image.imread_batch([path], **options)
            np.testing.assert_array_equal(iruka.asnumpy(made), want)
            out = iruka.zeros(want.shape, want.dtype)
            assert image.imdecode(data, out=out, **options) is out
            # nvJPEG, which fills a GPU's memory, rounds some levels in another way.
            is_by_gpu = form == "jpeg" and out.device.name != "cpu"
            np.testing.assert_allclose(iruka.asnumpy(out), want, rtol=0, atol=is_by_gpu * (want.max() // 255))
            height, width = want.shape[:2]
            roi = (height // 3, width // 4, max(height // 2, 1), max(width // 2, 1))
            part = want[roi[0] : roi[0] + roi[2], roi[1] : roi[1] + roi[3]]
            np.testing.assert_array_equal(iruka.asnumpy(image.imdecode(data, roi=roi, **options)), part)
            chained = iruka.asnumpy(image.imdecode(data, chain=chain, **options))
            np.testing.assert_array_equal(chained, iruka.asnumpy(chain(np.ascontiguousarray(want))))
            given = iruka.zeros(chained.shape, chained.dtype)
            image.imdecode(data, chain=chain, out=given, **options)
            np.testing.assert_array_equal(iruka.asnumpy(given), chained)
        smaller = {"at_least": (9, 9), "mode": "rgb"}
        want = turned(iruka.asnumpy(image.imdecode(data, apply_orientation=False, **smaller)))
        np.testing.assert_array_equal(iruka.asnumpy(image.imdecode(data, **smaller)), want)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_float32_pictures_are_turned(rng, orientation):
    tifffile = pytest.importorskip("tifffile")
    picture, buffer = rng.normal(size=(19, 34, 3)).astype(np.float32), io.BytesIO()
    tifffile.imwrite(buffer, picture, metadata=None, photometric="rgb", extratags=[(0x0112, "H", 1, orientation, True)])
    made = iruka.asnumpy(image.imdecode(buffer.getvalue(), mode="unchanged"))
    np.testing.assert_array_equal(made, EXIF_TURNS[orientation](picture))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("filter", ["nearest", "linear", "cubic"])
def test_warps_of_many_channels_are_warps_of_each_channel(rng, filter, mode, dtype):
    matrix = [[0.8, -0.3, 9], [0.4, 0.9, -7]]
    for channels in (5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 33):
        picture = picture_of(rng, (40, 90, channels), np.uint8).astype(dtype)
        made = iruka.asnumpy(image.warp_affine(picture, matrix, (35, 150), filter, mode=mode, value=7))
        for c in range(channels):
            each = np.ascontiguousarray(picture[..., c])
            want = iruka.asnumpy(image.warp_affine(each, matrix, (35, 150), filter, mode=mode, value=7))
            np.testing.assert_array_equal(made[..., c], want)
