"""image.resize against Pillow, OpenCV and sums in float64, over filters, dtypes, layouts, channels and odd sizes."""

import cv2
import numpy as np
import pytest
from PIL import Image

import iruka
from helpers import run_python
from iruka import image
from picture_references import matrix_of, resized

PILLOW = {
    "nearest": Image.Resampling.NEAREST,
    "area": Image.Resampling.BOX,
    "linear": Image.Resampling.BILINEAR,
    "cubic": Image.Resampling.BICUBIC,
    "lanczos3": Image.Resampling.LANCZOS,
}
OPENCV = {
    "nearest": cv2.INTER_NEAREST,
    "linear": cv2.INTER_LINEAR,
    "area": cv2.INTER_AREA,
    "cubic": cv2.INTER_CUBIC,
    "lanczos4": cv2.INTER_LANCZOS4,
}
FILTERS = ["nearest", "linear", "triangular", "area", "cubic", "lanczos3", "lanczos4", "gaussian"]
SIZES = [((1, 1), (1, 1)), ((1, 1), (7, 5)), ((1, 90), (3, 31)), ((90, 1), (31, 4)), ((37, 53), (1, 1)),
         ((37, 53), (37, 20)), ((37, 53), (90, 120)), ((64, 96), (32, 32)), ((50, 41), (23, 57)), ((200, 300), (7, 9))]  # fmt: skip


def smooth(rng, shape):
    """A uint8 picture with edges and gradients."""
    picture = rng.integers(0, 256, shape).astype(np.uint8)
    return cv2.GaussianBlur(picture, (0, 0), 1.0).reshape(shape)


def by_pillow(picture, size, filter):
    channels = [np.asarray(Image.fromarray(np.ascontiguousarray(picture[..., c])).resize(size[::-1], PILLOW[filter]))
                for c in range(picture.shape[2])]  # fmt: skip
    return np.stack(channels, axis=-1)


def close(got, want, most, share=0.0):
    """No difference is larger than `most`, and larger ones than one level are at most a share of all."""
    difference = np.abs(iruka.asnumpy(got).astype(int) - want.astype(int))
    assert difference.max() <= most and (difference > 1).mean() <= share, (difference.max(), (difference > 1).mean())


@pytest.mark.parametrize("source, size", SIZES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("filter", PILLOW)
def test_uint8_is_pillows(rng, filter, source, size, channels):
    picture = rng.integers(0, 256, (*source, channels)).astype(np.uint8)
    # Pillow rounds to uint8 between both axes, where a tie may differ and filters that overshoot enlarge it.
    overshoots = filter in ("cubic", "lanczos3")
    got = image.resize(picture, size, filter)
    close(got, by_pillow(picture, size, filter), 0 if filter == "nearest" else 1 + overshoots, 0.01 * overshoots)


@pytest.mark.parametrize("source, size", SIZES)
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("filter", OPENCV)
def test_uint8_is_opencvs(rng, filter, source, size, channels):
    picture = rng.integers(0, 256, (*source, channels)).astype(np.uint8)
    want = cv2.resize(picture, size[::-1], interpolation=OPENCV[filter]).reshape(*size, channels)
    close(image.resize(picture, size, filter, convention="opencv"), want, 0 if filter == "nearest" else 1)


@pytest.mark.parametrize("filter", OPENCV)
def test_random_sizes_are_opencvs_and_pillows(rng, filter):
    for _ in range(60):
        height, width, *size = (int(extent) for extent in rng.integers(1, 90, 4))
        picture = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
        want = cv2.resize(picture, size[::-1], interpolation=OPENCV[filter])
        close(image.resize(picture, size, filter, convention="opencv"), want, 0 if filter == "nearest" else 1)
        if filter in ("nearest", "linear", "area"):
            close(image.resize(picture, size, filter), by_pillow(picture, size, filter), int(filter != "nearest"))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32])
@pytest.mark.parametrize("convention", ["pillow", "opencv"])
@pytest.mark.parametrize("antialias", [None, True, False])
@pytest.mark.parametrize("filter", FILTERS)
def test_values_are_sums_in_float64(rng, filter, antialias, convention, dtype):
    for source, size in (((37, 53), (20, 31)), ((20, 11), (33, 40)), ((61, 40), (9, 77))):
        if filter == "area" and convention == "opencv" and size[1] > source[1]:
            continue  # its enlarging is compared with OpenCV itself
        most = {np.uint8: 256, np.uint16: 65536}.get(dtype, 2)
        picture = (rng.random((*source, 3)) * most).astype(dtype)
        want = resized(picture, size, filter, convention, antialias)
        got = iruka.asnumpy(image.resize(picture, size, filter, antialias=antialias, convention=convention))
        assert got.dtype == dtype and got.shape == (*size, 3)
        if np.issubdtype(dtype, np.integer):
            want = np.clip(want, 0, most - 1)
            between = dtype == np.uint8 and convention == "pillow" and filter in ("cubic", "lanczos3", "lanczos4")
            # Rounding between both axes, Pillow's way, also cuts what overshoots there.
            np.testing.assert_allclose(got, want, atol=90 if between else 0.9 if dtype == np.uint8 else 0.6)
        else:
            np.testing.assert_allclose(got, want, atol=3e-6 if dtype == np.float32 else 2e-3, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7, 40])
def test_layouts_and_channels_have_the_same_bits(rng, channels, dtype):
    picture = (rng.random((45, 38, channels)) * 200).astype(dtype)
    for filter in ("nearest", "linear", "lanczos3"):
        want = iruka.asnumpy(image.resize(picture, (21, 50), filter))
        planes = np.ascontiguousarray(picture.transpose(2, 0, 1))
        got = iruka.asnumpy(image.resize(planes, (21, 50), filter, layout="CHW"))
        np.testing.assert_array_equal(got, want.transpose(2, 0, 1))
        for c in range(channels):
            alone = iruka.asnumpy(image.resize(np.ascontiguousarray(picture[..., c]), (21, 50), filter))
            np.testing.assert_array_equal(alone, want[..., c])


SCALES = """
import hashlib
import numpy as np
import iruka
from iruka import image
rng, made = np.random.default_rng(3), hashlib.sha256()
for channels in (1, 2, 3, 4):
    for scale in (0.4, 0.9, 1.3, 2, 2.66, 2.8, 3.5, 4.2, 5, 5.9, 6.3, 7, 7.6, 8.5, 12, 30):
        for filter, convention in (("linear", "pillow"), ("cubic", "pillow"), ("lanczos4", "opencv"), ("area", "opencv")):
            picture = rng.choice([0, 255], (11, round(101 * scale), channels)).astype(np.uint8)
            result = image.resize(picture, (7, 101), filter, antialias=True, convention=convention)
            made.update(iruka.asnumpy(result).tobytes())
print(made.hexdigest())
"""


@pytest.mark.cpu_only
def test_scales_have_the_same_bits_by_vectors_of_every_width():
    texts = {run_python(SCALES, IRUKA_CPU_LEVEL=level).stdout for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4")}
    assert len(texts) == 1 and len(texts.pop()) == 65


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_scales_are_sums_in_float64(rng, channels):
    for scale in (0.4, 1.3, 2.66, 2.8, 4.2, 5.9, 6.3, 7.6, 12):
        for width in (5, 16, 101):
            picture = rng.choice([0, 255], (23, round(width * scale), channels)).astype(np.uint8)
            got = iruka.asnumpy(image.resize(picture, (10, width)))
            np.testing.assert_allclose(got, resized(picture, (10, width), "linear"), atol=0.9)


def test_flat_pictures_stay_flat():
    for filter in FILTERS:
        for value in (0, 1, 127, 254, 255):
            picture = np.full((33, 47, 3), value, np.uint8)
            for size in ((5, 80), (70, 9), (1, 1)):
                for convention in ("pillow", "opencv"):
                    made = iruka.asnumpy(image.resize(picture, size, filter, convention=convention))
                    assert (made == value).all(), (filter, value, size)


def test_the_same_size_copies(rng):
    picture = rng.integers(0, 256, (19, 23, 3)).astype(np.uint8)
    for filter in ("nearest", "linear", "triangular", "area", "cubic", "lanczos3"):
        np.testing.assert_array_equal(iruka.asnumpy(image.resize(picture, (19, 23), filter)), picture)


def test_views_are_read_where_they_lie(rng):
    base = rng.integers(0, 256, (60, 80, 4)).astype(np.uint8)
    for view in (
        base[::2],
        base[:, ::3],
        base[..., :3],
        base[::-1],
        base[:, ::-1],
        base.transpose(1, 0, 2),
        base[5:40, 7:30],
    ):
        array = iruka.asarray(base)[:]  # the same view of an array of the device
        want = iruka.asnumpy(image.resize(np.ascontiguousarray(view), (17, 19), "cubic"))
        np.testing.assert_array_equal(iruka.asnumpy(image.resize(view, (17, 19), "cubic")), want)
        assert array.shape == base.shape
    flipped = iruka.asarray(base)[::-1, :, :]
    want = iruka.asnumpy(image.resize(base[::-1].copy(), (17, 19)))
    np.testing.assert_array_equal(iruka.asnumpy(image.resize(flipped, (17, 19))), want)


def test_large_scales_and_long_rows(rng):
    picture = rng.integers(0, 256, (3, 70000)).astype(np.uint8)
    rows = resized(picture, (2, 5), "area")
    np.testing.assert_allclose(iruka.asnumpy(image.resize(picture, (2, 5), "area")), rows, atol=0.51)
    wide = iruka.asnumpy(image.resize(picture[:, :50], (3, 100000), "linear"))
    want = matrix_of(50, 100000, "linear")[::997] @ picture[:, :50].T.astype(float)
    np.testing.assert_allclose(wide[:, ::997].T, want, atol=0.9)
    tall = iruka.asnumpy(image.resize(picture[:, :4].T.copy(), (65000, 2), "nearest"))
    assert tall.shape == (65000, 2)


def test_a_region_is_pillows_box(rng):
    picture = rng.integers(0, 256, (60, 80, 3)).astype(np.uint8)
    for y, x, height, width in ((0, 0, 60, 80), (3.25, 7.5, 20.5, 41.75), (59, 79, 1, 1), (10, 0, 50, 80)):
        box = (x, y, x + width, y + height)
        for filter in ("linear", "area", "nearest"):
            want = np.asarray(Image.fromarray(picture).resize((31, 17), PILLOW[filter], box=box))
            close(image.resize(picture, (17, 31), filter, roi=(y, x, height, width)), want, 1)


def test_fits(rng):
    picture = rng.integers(0, 256, (60, 80, 3)).astype(np.uint8)
    cases = {"stretch": (30, 30), "not_larger": (23, 30), "not_smaller": (30, 40)}
    for fit, shape in cases.items():
        got = image.resize(picture, (30, 30), fit=fit)
        assert got.shape == (*shape, 3)
        np.testing.assert_array_equal(iruka.asnumpy(got), iruka.asnumpy(image.resize(picture, shape)))
    assert image.resize(picture[:1], (30, 3), fit="not_larger").shape == (1, 3, 3)


def test_not_finite_values_stay_where_they_are():
    picture = np.ones((20, 20), np.float32)
    picture[4, 4], picture[15, 15] = np.nan, np.inf
    made = iruka.asnumpy(image.resize(picture, (10, 10), "area"))
    assert np.isnan(made[2, 2]) and np.isinf(made[7, 7]) and np.isfinite(made).sum() == 98


@pytest.mark.cpu_only
def test_out_is_filled(rng):
    picture = rng.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    want = iruka.asnumpy(image.resize(picture, (21, 30)))
    out = np.zeros((21, 30, 3), np.uint8)
    assert image.resize(picture, (21, 30), out=out) is out
    np.testing.assert_array_equal(out, want)
    for strided in (np.zeros((42, 60, 3), np.uint8)[::2, ::2], np.zeros((30, 21, 3), np.uint8).transpose(1, 0, 2),
                    np.zeros((21, 30, 5), np.uint8)[..., 1:4], np.zeros((21, 30, 3), np.uint8)[::-1, ::-1]):  # fmt: skip
        image.resize(picture, (21, 30), out=strided)
        np.testing.assert_array_equal(strided, want)
    whole = np.full((23, 32, 3), 9, np.uint8)
    image.resize(picture, (21, 30), out=whole[1:-1, 1:-1])
    assert (whole[0] == 9).all() and (whole[-1] == 9).all() and (whole[:, 0] == 9).all() and (whole[:, -1] == 9).all()
    image.resize(picture, (40, 50), "nearest", out=picture)  # overlapping memory


def test_misuse_is_refused(rng):
    picture = np.zeros((20, 30, 3), np.uint8)
    for error, parts, call in (
        (TypeError, ["uint8, uint16, float16 or float32", "int32"], lambda: image.resize(picture.astype(np.int32), (4, 4))),
        (TypeError, ["resize: ", "not float64; astype(\"float32\")"], lambda: image.resize(picture * 0.5, (4, 4))),
        (TypeError, ["flip: pictures are"], lambda: image.flip(picture > 1)),
        (TypeError, ["Chain: pictures are"], lambda: image.Chain([image.Flip(), image.Crop((2, 2))])(picture > 1)),
        (TypeError, ["sobel: pictures are", "float64; astype"], lambda: image.sobel(picture * 0.5, 1, 0)),
        (ValueError, ["2 or 3 axes", "(20,)"], lambda: image.resize(picture[:, 0, 0], (4, 4))),
        (ValueError, ["no pixels"], lambda: image.resize(picture[:0], (4, 4))),
        (ValueError, ["no pixels"], lambda: image.resize(picture[..., :0], (4, 4))),
        (ValueError, ["(0, 4)"], lambda: image.resize(picture, (0, 4))),
        (ValueError, ["(4, -1)"], lambda: image.resize(picture, (4, -1))),
        (ValueError, ["from 1 to"], lambda: image.resize(picture, (4, 2**40))),
        (TypeError, [], lambda: image.resize(picture, 4)),
        (ValueError, ["(4, 4, 4)"], lambda: image.resize(picture, (4, 4, 4))),
        (ValueError, ["filter", "'bilinear'"], lambda: image.resize(picture, (4, 4), "bilinear")),
        (ValueError, ["convention", "'torch'"], lambda: image.resize(picture, (4, 4), convention="torch")),
        (ValueError, ["layout", "'NHWC'"], lambda: image.resize(picture, (4, 4), layout="NHWC")),
        (ValueError, ["fit"], lambda: image.resize(picture, (4, 4), fit="cover")),
        (ValueError, ["roi", "not within"], lambda: image.resize(picture, (4, 4), roi=(0, 0, 21, 30))),
        (ValueError, ["roi"], lambda: image.resize(picture, (4, 4), roi=(0, 0, 0, 30))),
        (ValueError, ["roi"], lambda: image.resize(picture, (4, 4), roi=(0, 0, 30))),
        (ValueError, ["roi"], lambda: image.resize(picture, (4, 4), roi=(float("nan"), 0, 3, 3))),
        (ValueError, ["(4, 4, 3)"], lambda: image.resize(picture, (4, 4), out=iruka.zeros((4, 5, 3), np.uint8))),
        (TypeError, ["uint8", "float32"], lambda: image.resize(picture, (4, 4), out=iruka.zeros((4, 4, 3), np.float32))),
        (TypeError, ["array"], lambda: image.resize("photo.jpg", (4, 4))),
    ):  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert all(part in str(raised.value) for part in parts), str(raised.value)
