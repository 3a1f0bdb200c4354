"""Colours of pictures against OpenCV, Pillow, scikit-image and NumPy, and as stages of chains on every device."""

import colorsys
import os
import pathlib
import subprocess
import sys

import cv2
import numpy as np
import pytest
from PIL import Image, ImageEnhance
from skimage import color as skimage_color, exposure

import iruka
from iruka import _core, image

DTYPES = [np.uint8, np.uint16, np.float16, np.float32]
WHITE = {np.uint8: 255, np.uint16: 65535, np.float16: 1, np.float32: 1}
SPACES = ["rgb", "bgr", "rgba", "gray", "hsv", "lab", "ycbcr"]
CHANNELS = {"rgba": 4, "gray": 1}


def picture_of(rng, shape, dtype):
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
    return rng.random(shape).astype(dtype)


def as_numpy(array):
    return iruka.asnumpy(array)


def all_colors():
    """Every fifth level of each channel, and all greys."""
    levels = np.r_[0:256:5, 254, 1]
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(-1, 3)
    grey = np.repeat(np.arange(256)[:, None], 3, 1)
    return np.concatenate([grid, grey]).astype(np.uint8)[None]


def farthest(a, b):
    return np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max()


def test_uint8_is_libjpegs_and_opencvs():
    rgb = all_colors()
    pillow = np.array(Image.fromarray(rgb).convert("L"))
    np.testing.assert_array_equal(as_numpy(image.convert_color(rgb, "rgb", "gray")), pillow)
    np.testing.assert_array_equal(
        as_numpy(image.convert_color(rgb, "rgb", "hsv")), cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)
    )
    red, green, blue = rgb.astype(np.int64).transpose(2, 0, 1)
    want = np.stack([
        (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16,
        (-11059 * red - 21709 * green + 32768 * blue + (128 << 16) + 32767) >> 16,
        (32768 * red - 27439 * green - 5329 * blue + (128 << 16) + 32767) >> 16,
    ], -1)  # fmt: skip
    np.testing.assert_array_equal(as_numpy(image.convert_color(rgb, "rgb", "ycbcr")), want)
    assert farthest(want[..., [0, 2, 1]], cv2.cvtColor(rgb, cv2.COLOR_RGB2YCrCb)) <= 1


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_rows_of_any_length(rng, layout):
    """Rows are converted by whole vectors, and the rest of them otherwise."""
    for width in [*range(1, 70), 127, 959, 961, 1033]:
        rgb = picture_of(rng, (2, width, 3), np.uint8)
        given = rgb if layout == "HWC" else np.ascontiguousarray(rgb.transpose(2, 0, 1))
        r, g, b = rgb.astype(np.int64).transpose(2, 0, 1)
        grey = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16
        np.testing.assert_array_equal(as_numpy(image.convert_color(given, "rgb", "gray", layout=layout)), grey)
        y, blue, red = r, g - 128, b - 128
        planes = [y + ((91881 * red + 32768) >> 16), y + ((-22554 * blue - 46802 * red + 32768) >> 16),
                  y + ((116130 * blue + 32768) >> 16)]  # fmt: skip
        want = np.clip(np.stack(planes, -1 if layout == "HWC" else 0), 0, 255)
        np.testing.assert_array_equal(as_numpy(image.convert_color(given, "ycbcr", "rgb", layout=layout)), want)
        turned = given[..., ::-1] if layout == "HWC" else given[::-1]
        np.testing.assert_array_equal(as_numpy(image.convert_color(given, "rgb", "bgr", layout=layout)), turned)
        table = picture_of(rng, 256, np.uint8)
        np.testing.assert_array_equal(as_numpy(image.lookup(given, table, layout=layout)), table[given])
        for dtype in (np.uint16, np.float32):
            other = picture_of(rng, given.shape, dtype)
            turned = other[..., ::-1] if layout == "HWC" else other[::-1]
            np.testing.assert_array_equal(as_numpy(image.convert_color(other, "rgb", "bgr", layout=layout)), turned)


def test_uint8_is_within_a_level_of_opencv():
    rgb = all_colors()
    lab = as_numpy(image.convert_color(rgb, "rgb", "lab"))
    assert farthest(lab, cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)) <= 2  # OpenCV's tables are coarse in the dark
    exact = skimage_color.rgb2lab(rgb, illuminant="D65") * [2.55, 1, 1] + [0, 128, 128]
    assert farthest(lab, exact) <= 0.55
    hsv = as_numpy(image.convert_color(rgb, "rgb", "hsv"))
    assert farthest(as_numpy(image.convert_color(hsv, "hsv", "rgb")), cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)) <= 1
    ycbcr = as_numpy(image.convert_color(rgb, "rgb", "ycbcr"))
    back = cv2.cvtColor(np.ascontiguousarray(ycbcr[..., [0, 2, 1]]), cv2.COLOR_YCrCb2RGB)
    assert farthest(as_numpy(image.convert_color(ycbcr, "ycbcr", "rgb")), back) <= 1
    want = np.clip(skimage_color.lab2rgb(lab / [2.55, 1, 1] - [0, 128, 128]) * 255, 0, 255)
    assert farthest(as_numpy(image.convert_color(lab, "lab", "rgb")), want) <= 0.75


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_lab_is_scikit_images(rng, dtype):
    rgb = picture_of(rng, (60, 70, 3), dtype)
    rgb[0, :20] = np.linspace(0, WHITE[dtype] / 50, 20)[:, None]
    want = skimage_color.rgb2lab(rgb.astype(np.float64) / WHITE[dtype])
    got = as_numpy(image.convert_color(rgb, "rgb", "lab")).astype(np.float64)
    if dtype == np.uint16:
        got = got / [655.35, 257, 257] - [0, 128, 128]
    assert farthest(got, want) < 0.02  # of scikit-image's white, whose third digit differs
    grey = np.repeat(picture_of(rng, (9, 9, 1), np.float32), 3, 2)
    assert np.abs(as_numpy(image.convert_color(grey, "rgb", "lab"))[..., 1:]).max() < 1e-4


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_hsv_is_opencvs(rng, dtype):
    rgb = picture_of(rng, (60, 70, 3), dtype)
    rgb[0] = rgb[0, :, :1]
    scaled = (rgb / np.float32(WHITE[dtype])).astype(np.float32)
    want = cv2.cvtColor(scaled, cv2.COLOR_RGB2HSV)
    got = as_numpy(image.convert_color(rgb, "rgb", "hsv")).astype(np.float64)
    if dtype == np.uint16:
        got = got / [65536 / 360, 65535, 65535]
    turn = np.abs(got[..., 0] - want[..., 0])
    assert np.minimum(turn, 360 - turn).max() < 0.01 and farthest(got[..., 1:], want[..., 1:]) < 2e-5


def test_ycbcr_of_floats_is_opencvs(rng):
    rgb = picture_of(rng, (60, 70, 3), np.float32)
    want = cv2.cvtColor(rgb, cv2.COLOR_RGB2YCrCb)[..., [0, 2, 1]]
    assert farthest(as_numpy(image.convert_color(rgb, "rgb", "ycbcr")), want) < 3e-4  # its weights have 3 digits
    assert farthest(as_numpy(image.convert_color(rgb, "rgb", "gray")), cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)) < 1e-6


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("space", ["hsv", "lab", "ycbcr", "rgba", "bgr"])
def test_conversions_can_be_undone(rng, space, dtype):
    rgb = picture_of(rng, (33, 41, 3), dtype)
    there = image.convert_color(rgb, "rgb", space)
    back = as_numpy(image.convert_color(there, space, "rgb"))
    # Levels that are lost: HSV of 180 hues and Lab of 256 steps are coarser than RGB.
    most = {np.uint8: {"hsv": 5, "lab": 20, "ycbcr": 1}, np.uint16: {"hsv": 3, "lab": 40, "ycbcr": 2},
            np.float16: {"hsv": 3e-3, "lab": 1e-2, "ycbcr": 3e-3}, np.float32: {"hsv": 2e-6, "lab": 5e-5, "ycbcr": 1e-6}}  # fmt: skip
    assert farthest(back, rgb) <= most[dtype].get(space, 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["HWC", "CHW"])
@pytest.mark.parametrize("size", [(1, 1), (1, 37), (61, 1), (5, 1025), (3, 2050)])
def test_all_spaces_by_way_of_rgb(rng, size, layout, dtype):
    for source in SPACES:
        channels = CHANNELS.get(source, 3)
        picture = picture_of(rng, (*size, channels), dtype)
        given = picture if layout == "HWC" else picture.transpose(2, 0, 1)
        rgb = image.convert_color(picture, source, "rgb") if source != "rgb" else picture
        for target in SPACES:
            got = as_numpy(image.convert_color(given, source, target, layout=layout))
            if target == "gray":
                assert got.shape == size
            elif layout == "CHW":
                got = got.transpose(1, 2, 0)
            want = picture if source == target else as_numpy(image.convert_color(rgb, "rgb", target))
            if source == "rgba" == target:
                want = picture
            np.testing.assert_array_equal(got, want.reshape(got.shape), err_msg=f"{source} to {target}")
    alpha = as_numpy(image.convert_color(picture_of(rng, (*size, 3), dtype), "rgb", "rgba"))[..., 3]
    assert (alpha == WHITE[dtype]).all()


def test_gray_pictures_have_two_or_three_axes(rng):
    gray = picture_of(rng, (6, 7), np.uint8)
    for given in (gray, gray[..., None]):
        np.testing.assert_array_equal(as_numpy(image.convert_color(given, "gray", "rgb")), np.stack([gray] * 3, -1))
        np.testing.assert_array_equal(as_numpy(image.convert_color(given, "gray", "gray")), gray)
    np.testing.assert_array_equal(
        as_numpy(image.convert_color(gray, "gray", "bgr", layout="CHW")), np.stack([gray] * 3)
    )


def rounded(values, dtype):
    if np.issubdtype(dtype, np.integer):
        return np.clip(np.rint(np.nan_to_num(values)), 0, np.iinfo(dtype).max)
    return values


def tolerance(dtype):
    """Of float32 arithmetic that is then rounded."""
    return {np.uint8: 0, np.uint16: 1, np.float16: 2e-3, np.float32: 1e-5}[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (17, 33), (17, 33, 1), (40, 29, 3), (7, 6, 4), (9, 1040, 5)])
def test_brightness_contrast_and_gamma(rng, shape, dtype):
    picture = picture_of(rng, shape, dtype)
    x, white = picture.astype(np.float64), WHITE[dtype]
    for factor in (0, 0.3, 1, 1.7):
        got = as_numpy(image.brightness(picture, factor))
        assert got.dtype == dtype and farthest(got, rounded(x * factor, dtype)) <= tolerance(dtype)
        want = rounded(white / 2 + (x - white / 2) * factor, dtype)
        assert farthest(as_numpy(image.contrast(picture, factor)), want) <= tolerance(dtype)
    want = rounded(0.2 * white + (x - 0.2 * white) * 1.5, dtype)
    assert farthest(as_numpy(image.contrast(picture, 1.5, 0.2 * white)), want) <= tolerance(dtype)
    for gamma in (0.1, 0.45, 1, 2.2, 7.5):
        want = rounded(white * 0.9 * (x / white) ** gamma, dtype)
        assert farthest(as_numpy(image.gamma(picture, gamma, 0.9)), want) <= tolerance(dtype)


def test_gamma_has_the_stated_error(rng):
    x = np.exp2(rng.uniform(-120, 100, (1, 20000))).astype(np.float32)
    for gamma in (0.01, 0.3, 1.0, 1.1):
        want = x.astype(np.float64) ** gamma
        assert (np.abs(as_numpy(image.gamma(x, gamma)) / want - 1)).max() < 2e-6 * max(1, 5 * gamma)
    unit = rng.random((1, 20000)).astype(np.float32)
    want = unit.astype(np.float64) ** 2.2
    assert (np.abs(as_numpy(image.gamma(unit, 2.2)) / want - 1)).max() < 2e-6
    special = np.array([[0, -1, np.nan, np.inf, -np.inf]], np.float32)
    np.testing.assert_array_equal(as_numpy(image.gamma(special, 2)), [[0, 0, 0, np.inf, 0]])
    byte = np.arange(256, dtype=np.uint8)[None]
    np.testing.assert_array_equal(
        as_numpy(image.gamma(byte, 0.45)), np.rint(exposure.adjust_gamma(byte / 255.0, 0.45) * 255)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_saturation_hue_and_matrices(rng, layout, dtype):
    rgb = picture_of(rng, (23, 31, 3), dtype)
    given = rgb if layout == "HWC" else np.ascontiguousarray(rgb.transpose(2, 0, 1))

    def pixels(array):
        array = as_numpy(array)
        return array if layout == "HWC" else array.transpose(1, 2, 0)

    x, near = rgb.astype(np.float64), tolerance(dtype) or 0.501
    grey = x @ [0.299, 0.587, 0.114]
    for factor in (0, 0.5, 1, 2.5):
        want = grey[..., None] + (x - grey[..., None]) * factor
        got = pixels(image.saturation(given, factor, layout=layout))
        assert farthest(got, rounded(want, dtype)) <= (1 if dtype == np.uint8 else near)
    yiq = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
    for degrees in (0, 30, -77, 180, 720 + 15):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        want = x @ (np.linalg.inv(yiq) @ [[1, 0, 0], [0, c, s], [0, -s, c]] @ yiq).T
        got = pixels(image.hue(given, degrees, layout=layout))
        assert farthest(got, rounded(want, dtype)) <= (1 if dtype == np.uint8 else near)
    red = WHITE[dtype] * np.array([0.8, 0.1, 0.1])
    orange = pixels(
        image.hue(
            np.broadcast_to(red, rgb.shape).astype(dtype).transpose((0, 1, 2) if layout == "HWC" else (2, 0, 1)),
            30,
            layout=layout,
        )
    )[0, 0]
    assert 15 < 360 * colorsys.rgb_to_hsv(*(orange.astype(float) / WHITE[dtype]))[0] < 45  # as HSV's hue turns
    for outputs in (1, 2, 3, 7):
        matrix, offset = rng.normal(size=(outputs, 3)), rng.normal(size=outputs) * WHITE[dtype]
        got = pixels(image.color_matrix(given, matrix, offset, layout=layout))
        assert got.shape == (23, 31, outputs)
        assert farthest(got, rounded(x @ matrix.T + offset, dtype)) <= (1 if dtype == np.uint8 else 4 * near)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_matrices_saturate(rng, layout, dtype):
    rgb = picture_of(rng, (5, 131, 3), dtype)
    given = rgb if layout == "HWC" else rgb.transpose(2, 0, 1)
    for factor in (0.5, 12582912 / 200, 1e8, 3e38):
        matrix = factor * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, -1]])
        got = as_numpy(image.color_matrix(given, matrix, layout=layout))
        x = rgb.astype(np.float64)
        want = np.stack([x[..., 0] * factor, 0 * x[..., 0], (x[..., 1] - x[..., 2]) * factor], -1)
        if factor == 3e38:  # the sum is infinite before the last product
            want[..., 2] = np.where(x[..., 1] > 1, np.inf, want[..., 2])
        np.testing.assert_array_equal(got if layout == "HWC" else got.transpose(1, 2, 0), rounded(want, dtype))


def test_saturation_is_pillows(rng):
    rgb = picture_of(rng, (23, 31, 3), np.uint8)
    for factor in (0.0, 0.4, 1.9):
        want = np.array(ImageEnhance.Color(Image.fromarray(rgb)).enhance(factor))
        assert farthest(as_numpy(image.saturation(rgb, factor)), want) <= 1 + factor  # it rounds grey, and cuts off
        want = np.array(ImageEnhance.Brightness(Image.fromarray(rgb)).enhance(factor))
        assert farthest(as_numpy(image.brightness(rgb, factor)), want) <= 1


def test_matrices_of_many_channels(rng):
    for channels, outputs in ((1, 4), (20, 3), (100, 256), (256, 2)):
        picture = picture_of(rng, (5, 9, channels), np.float32)
        matrix = rng.normal(size=(outputs, channels)) / channels
        got = as_numpy(image.color_matrix(picture, matrix, 0.5))
        assert farthest(got, picture.astype(np.float64) @ matrix.T + 0.5) < 1e-5
    flat = picture_of(rng, (5, 9), np.float32)
    assert image.color_matrix(flat, [[2.0]]).shape == (5, 9)
    assert image.color_matrix(flat, [[2.0], [1.0]]).shape == (5, 9, 2)


@pytest.mark.parametrize("source", [np.uint8, np.uint16])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lookups_are_numpys(rng, source, dtype):
    levels = np.iinfo(source).max + 1
    for shape, layout in (
        ((1, 1), "HWC"),
        ((41, 67), "HWC"),
        ((30, 50, 3), "HWC"),
        ((3, 30, 50), "CHW"),
        ((9, 7, 6), "HWC"),
    ):
        picture = picture_of(rng, shape, source)
        table = picture_of(rng, (levels,), dtype)
        np.testing.assert_array_equal(as_numpy(image.lookup(picture, table, layout=layout)), table[picture])
        channels = 1 if len(shape) == 2 else shape[0 if layout == "CHW" else 2]
        tables = picture_of(rng, (channels, levels), dtype)
        planes = picture[None] if len(shape) == 2 else picture if layout == "CHW" else picture.transpose(2, 0, 1)
        want = np.stack([tables[c][planes[c]] for c in range(channels)])
        want = want[0] if len(shape) == 2 else want if layout == "CHW" else want.transpose(1, 2, 0)
        np.testing.assert_array_equal(as_numpy(image.lookup(picture, tables, layout=layout)), want)
        np.testing.assert_array_equal(as_numpy(image.lookup(picture, iruka.asarray(tables), layout=layout)), want)


def test_a_lookup_keeps_its_table(rng):
    picture, table = picture_of(rng, (9, 9), np.uint8), picture_of(rng, (256,), np.uint8)
    chain, want = image.Chain([image.Lookup(table)]), table[picture]
    table[:] = 0
    np.testing.assert_array_equal(as_numpy(chain(picture)), want)


def random_color_stage(rng, channels, dtype):
    """A stage and the channels behind it."""
    kind = int(rng.integers(0, 8))
    if kind == 0 and channels == 3:
        source, target = "rgb bgr hsv lab ycbcr".split()[int(rng.integers(5))], SPACES[int(rng.integers(7))]
        return image.ConvertColor(source, target), CHANNELS.get(target, 3)
    if kind == 0 and channels in (1, 4):
        target = SPACES[int(rng.integers(7))]
        return image.ConvertColor({1: "gray", 4: "rgba"}[channels], target), CHANNELS.get(target, 3)
    if kind == 1:
        outputs = int(rng.integers(1, 6))
        return image.ColorMatrix(rng.normal(size=(outputs, channels)), float(rng.normal())), outputs
    if kind == 2 and np.issubdtype(dtype, np.integer):
        table = picture_of(rng, (int(rng.choice([1, channels])), np.iinfo(dtype).max + 1), DTYPES[int(rng.integers(4))])
        return image.Lookup(table), channels
    if channels == 3 and kind == 3:
        return image.Hue(float(rng.uniform(-400, 400))), 3
    if channels == 3 and kind == 4:
        return image.Saturation(float(rng.uniform(0, 3))), 3
    return [
        image.Brightness(float(rng.uniform(0, 2))),
        image.Contrast(float(rng.uniform(0, 2))),
        image.Gamma(float(rng.uniform(0.2, 4)), float(rng.uniform(0.5, 2))),
    ][kind % 3], channels


def random_case(rng):
    channels, dtype = int(rng.choice([1, 3, 3, 3, 4, 6])), DTYPES[int(rng.integers(4))]
    layout = ["HWC", "CHW"][int(rng.integers(2))]
    height, width = int(rng.integers(1, 50)), int(rng.choice([1, 7, 40, 1030]))
    picture = picture_of(rng, (height, width, channels) if layout == "HWC" else (channels, height, width), dtype)
    stages, shape, now = [], picture.shape, layout
    for _ in range(int(rng.integers(1, 6))):
        if rng.random() < 0.6:
            stage, channels = random_color_stage(rng, channels, dtype)
        else:
            now = ["HWC", "CHW"][int(rng.integers(2))]
            stage = [
                image.Resize((int(rng.integers(1, 30)), int(rng.integers(1, 30))), "linear"),
                image.Resize((int(rng.integers(1, 30)), int(rng.integers(1, 30))), "cubic", convention="opencv"),
                image.Flip(bool(rng.integers(2)), bool(rng.integers(2))),
                image.Transpose(),
                image.Pad(2, ["constant", "reflect"][int(rng.integers(2))], 1),
                image.Normalize(tuple(rng.random(channels)), tuple(rng.uniform(0.5, 2, channels))),
                image.Cast(DTYPES[int(rng.integers(4))]),
                image.Layout(now),
                image.Rotate(20),
            ][int(rng.integers(9))]
        stages.append(stage)
        shape, dtype = image.Chain(stages, layout).result(picture.shape, picture.dtype)
        dtype = np.dtype(dtype).type
    return picture, layout, stages


def separately(stages, layout, picture):
    for stage in stages:
        picture = image.Chain([stage], layout)(picture)
        if isinstance(stage, image.Layout):
            layout = stage.layout
    return as_numpy(picture)


@pytest.mark.parametrize("seed", range(4))
def test_chains_have_the_bits_of_separate_calls(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        picture, layout, stages = random_case(rng)
        chain = image.Chain(stages, layout)
        got, want = as_numpy(chain(picture)), separately(stages, layout, picture)
        assert (got.shape, got.dtype) == chain.result(picture.shape, picture.dtype)
        np.testing.assert_array_equal(got, want, err_msg=repr(chain))


@pytest.mark.cpu_only
@pytest.mark.parametrize("seed", range(2))
def test_loops_have_the_bits_of_kernels(seed):
    rng = np.random.default_rng(200 + seed)
    for _ in range(15):
        picture, layout, stages = random_case(rng)
        chain = image.Chain(stages, layout)
        want = as_numpy(chain(picture))
        _core._geometry.prefer_kernels(True)
        try:
            got = as_numpy(chain(picture))
        finally:
            _core._geometry.prefer_kernels(False)
        np.testing.assert_array_equal(got, want, err_msg=repr(chain))


LEVELS = """
import hashlib, sys
import numpy as np
sys.path.insert(0, {folder!r})
from test_image_color import random_case, all_colors, SPACES
import iruka
from iruka import image
rng, made = np.random.default_rng(5), hashlib.sha256()
for _ in range(60):
    picture, layout, stages = random_case(rng)
    result = iruka.asnumpy(image.Chain(stages, layout)(picture))
    made.update(np.where(np.isnan(result), 0, result).astype(result.dtype).tobytes())
for space in SPACES[1:]:
    there = image.convert_color(all_colors(), "rgb", space)
    made.update(iruka.asnumpy(there).tobytes())
    made.update(iruka.asnumpy(image.convert_color(there, space, "rgb")).tobytes())
print(made.hexdigest())
"""


@pytest.mark.cpu_only
def test_vectors_of_every_width_have_the_same_bits():
    code = LEVELS.format(folder=str(pathlib.Path(__file__).parent))
    texts = set()
    for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "IRUKA_CPU_LEVEL": level},
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
        texts.add(done.stdout)
    assert len(texts) == 1


def test_colors_join_the_pass():
    stages = [image.Resize((64, 64)), image.Flip(), image.ConvertColor("rgb", "hsv"), image.Brightness(1.2),
              image.ConvertColor("hsv", "rgb"), image.Saturation(0.5), image.Gamma(2), image.Normalize(3, 4),
              image.Layout("CHW")]  # fmt: skip
    chain = image.Chain(stages)
    assert chain.passes((100, 90, 3), np.uint8) == 1
    assert chain.result((100, 90, 3), np.uint8) == ((3, 64, 64), np.float32)
    assert "ConvertColor(source='rgb', target='hsv')" in repr(chain)


def test_views_batches_and_out(rng):
    whole = picture_of(rng, (40, 60, 6), np.uint8)
    for view in (whole[::2, ::3, :3], whole[::-1, :, 2:5], whole[..., ::2], whole.transpose(1, 0, 2)[..., :3]):
        want = cv2.cvtColor(np.ascontiguousarray(view), cv2.COLOR_RGB2HSV)
        np.testing.assert_array_equal(as_numpy(image.convert_color(view, "rgb", "hsv")), want)
        out = iruka.zeros((*view.shape[:2], 6), np.uint8)[..., ::2]
        assert image.convert_color(view, "rgb", "hsv", out=out) is out
        np.testing.assert_array_equal(as_numpy(out), want)
    pictures = [picture_of(rng, (h, w, 3), np.uint8) for h, w in ((3, 4), (1, 1), (50, 20))]
    for got, one in zip(image.convert_color(pictures, "rgb", "gray"), pictures):
        np.testing.assert_array_equal(as_numpy(got), as_numpy(image.convert_color(one, "rgb", "gray")))
    batch = np.stack([picture_of(rng, (8, 9, 3), np.uint8) for _ in range(3)])
    got = as_numpy(image.convert_color(batch, "rgb", "gray"))
    np.testing.assert_array_equal(got, np.stack([as_numpy(image.convert_color(one, "rgb", "gray")) for one in batch]))
    same = iruka.array(pictures[2])
    image.saturation(same, 0.5, out=same)
    np.testing.assert_array_equal(as_numpy(same), as_numpy(image.saturation(pictures[2], 0.5)))


def test_misuse_is_refused(rng):
    picture, flat = np.zeros((20, 30, 3), np.uint8), np.zeros((20, 30), np.float32)
    for error, parts, call in (
        (ValueError, ["'rgb'", "'cmyk'"], lambda: image.convert_color(picture, "rgb", "cmyk")),
        (ValueError, ["'rgba'", "4 channels", "3"], lambda: image.convert_color(picture, "rgba", "rgb")),
        (ValueError, ["'rgb'", "not 1"], lambda: image.convert_color(flat, "rgb", "gray")),
        (TypeError, ["int64"], lambda: image.convert_color(picture.astype(np.int64), "rgb", "gray")),
        (ValueError, ["shape"], lambda: image.convert_color(np.zeros((0, 3, 3), np.uint8), "rgb", "gray")),
        (ValueError, ["brightness", "-1"], lambda: image.brightness(picture, -1)),
        (ValueError, ["contrast", "finite"], lambda: image.contrast(picture, float("nan"))),
        (ValueError, ["saturation", "3 channels", "1"], lambda: image.saturation(flat, 1)),
        (ValueError, ["hue", "finite"], lambda: image.hue(picture, float("inf"))),
        (ValueError, ["gamma", "positive"], lambda: image.gamma(picture, 0)),
        (ValueError, ["2 columns", "3 channels"], lambda: image.color_matrix(picture, [[1, 2]])),
        (ValueError, ["offset", "1 or 2 numbers"], lambda: image.color_matrix(picture, np.eye(3)[:2], (1, 2, 3))),
        (ValueError, ["finite"], lambda: image.color_matrix(picture, np.full((3, 3), np.nan))),
        (ValueError, ["256"], lambda: image.color_matrix(picture, np.ones((300, 3)))),
        (ValueError, ["lookup", "(255,)"], lambda: image.lookup(picture, np.zeros(255, np.uint8))),
        (ValueError, ["65536 levels", "uint8"], lambda: image.lookup(picture, np.zeros(65536, np.uint8))),
        (ValueError, ["2 rows", "3 channels"], lambda: image.lookup(picture, np.zeros((2, 256), np.uint8))),
        (TypeError, ["float32"], lambda: image.lookup(flat, np.zeros(256, np.uint8))),
        (TypeError, ["int64"], lambda: image.lookup(picture, np.zeros(256, np.int64))),
    ):  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert all(part in str(raised.value) for part in parts), str(raised.value)
