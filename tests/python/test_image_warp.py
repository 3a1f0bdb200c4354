"""Warps, rotations, remaps and pyramids against OpenCV, Pillow and sums in float64."""

import cv2
import numpy as np
import pytest

import iruka
from iruka import image

FILTERS = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC}
BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "edge": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT_101,
    "symmetric": cv2.BORDER_REFLECT,
    "wrap": cv2.BORDER_WRAP,
}
# OpenCV's cubic does not mirror or repeat the picture.
CASES = [(f, b) for f in FILTERS for b in BORDERS if f != "cubic" or b in ("constant", "edge")]


def smooth(rng, shape):
    return cv2.GaussianBlur(rng.integers(0, 256, shape).astype(np.uint8), (0, 0), 1.5).reshape(shape)


def random_affine(rng):
    return np.array([[1.0, 0, 0], [0, 1, 0]]) + rng.normal(size=(2, 3)) * [[0.3, 0.3, 5], [0.3, 0.3, 5]]


def weights_of(filter, rest):
    """Of the neighbours from -1 on of a place that lies `rest` behind number 0."""
    if filter == "linear":
        return np.array([0, 1 - rest, rest, 0])
    size, a = np.abs(np.arange(-1, 3) - rest), -0.75
    near, far = (a + 2) * size**3 - (a + 3) * size**2 + 1, a * size**3 - 5 * a * size**2 + 8 * a * size - 4 * a
    return np.where(size < 1, near, far)


def sampled(picture, y, x, filter, value):
    """The picture at places by sums in float64, with constants around it."""
    padded = np.pad(picture.astype(np.float64), [(3, 3), (3, 3), (0, 0)], constant_values=value)
    made = np.empty((*y.shape, picture.shape[2]))
    for at in np.ndindex(*y.shape):
        row, column = int(np.floor(y[at])), int(np.floor(x[at]))
        if not (-3 <= row < picture.shape[0] + 1 and -3 <= column < picture.shape[1] + 1):
            made[at] = value
            continue
        down, across = weights_of(filter, y[at] - row), weights_of(filter, x[at] - column)
        window = np.full((4, 4, picture.shape[2]), float(value))
        for j in range(4):
            for k in range(4):
                if 0 <= row + 2 + j < padded.shape[0] and 0 <= column + 2 + k < padded.shape[1]:
                    window[j, k] = padded[row + 2 + j, column + 2 + k]
        made[at] = np.einsum("j,k,jkc->c", down, across, window)
    return made


@pytest.mark.parametrize("channels", [1, 3, 4])  # OpenCV's weights for two channels have 5 bits
@pytest.mark.parametrize("filter, mode", CASES)
def test_warps_are_opencvs(rng, filter, mode, channels):
    for _ in range(8):
        height, width, *size = (int(extent) for extent in rng.integers(2, 60, 4))
        picture = smooth(rng, (height, width, channels))
        flags, border = FILTERS[filter], BORDERS[mode]
        affine = random_affine(rng)
        want = cv2.warpAffine(picture, affine, size[::-1], flags=flags, borderMode=border).reshape(*size, channels)
        got = iruka.asnumpy(image.warp_affine(picture, affine, size, filter, mode=mode))
        assert (np.abs(got.astype(int) - want) > 1).mean() < 0.002  # places that are nearly ties
        matrix = np.vstack([affine, [*rng.normal(size=2) * 1e-3, 1]])
        want = cv2.warpPerspective(picture, matrix, size[::-1], flags=flags, borderMode=border).reshape(*size, channels)
        got = iruka.asnumpy(image.warp_perspective(picture, matrix, size, filter, mode=mode))
        assert (np.abs(got.astype(int) - want) > 1).mean() < 0.002  # places that are nearly ties


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32])
@pytest.mark.parametrize("filter", ["linear", "cubic"])
def test_values_are_sums_in_float64(rng, filter, dtype):
    scale = 60000 if dtype == np.uint16 else 255 if dtype == np.uint8 else 1
    picture = (rng.random((23, 31, 3)) * scale).astype(dtype)
    inverse = np.linalg.inv(np.vstack([random_affine(rng), [0, 0, 1]]))
    y, x = np.mgrid[:20, :25].astype(np.float64)
    places = np.einsum("ij,jyx->iyx", inverse, np.stack([x, y, np.ones_like(x)]))
    want = sampled(picture, places[1], places[0], filter, 0)
    got = iruka.asnumpy(image.warp_affine(picture, inverse[:2], (20, 25), filter, inverse=True)).astype(np.float64)
    if np.issubdtype(dtype, np.integer):
        want = np.clip(want, 0, np.iinfo(dtype).max)
    np.testing.assert_allclose(got, want, atol={np.uint8: 0.8, np.uint16: 1.5, np.float16: 2e-3}.get(dtype, 2e-5))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32])
@pytest.mark.parametrize("filter", FILTERS)
def test_layouts_and_channels_have_the_same_bits(rng, filter, dtype):
    matrix = random_affine(rng)
    picture = (rng.random((40, 33, 6)) * 200).astype(dtype)
    for mode, value in (("constant", 9), ("symmetric", 0)):
        want = iruka.asnumpy(image.warp_affine(picture, matrix, (70, 90), filter, mode=mode, value=value))
        for channels in range(1, 6):
            part = np.ascontiguousarray(picture[..., :channels])
            got = iruka.asnumpy(image.warp_affine(part, matrix, (70, 90), filter, mode=mode, value=value))
            np.testing.assert_array_equal(got, want[..., :channels])
        planes = np.ascontiguousarray(picture.transpose(2, 0, 1))
        got = image.warp_affine(planes, matrix, (70, 90), filter, mode=mode, value=value, layout="CHW")
        np.testing.assert_array_equal(iruka.asnumpy(got), want.transpose(2, 0, 1))


def test_constants_around_the_picture_are_exact():
    for dtype in (np.uint8, np.uint16, np.float16, np.float32):
        picture = np.zeros((5, 6, 3), dtype)
        for filter in FILTERS:
            made = iruka.asnumpy(image.warp_affine(picture, [[1, 0, 50], [0, 1, 50]], (9, 9), filter, value=(1, 2, 3)))
            assert (made == (1, 2, 3)).all()


@pytest.mark.parametrize("angle", [17.0, -200.0, 90.0])
def test_rotations_are_opencvs(rng, angle):
    picture = smooth(rng, (40, 61, 3))
    matrix = cv2.getRotationMatrix2D((30, 19.5), angle, 1)
    for filter, flags in FILTERS.items():
        want = cv2.warpAffine(picture, matrix, (61, 40), flags=flags)
        got = iruka.asnumpy(image.rotate(picture, angle, filter=filter)).astype(int)
        assert (np.abs(got - want) > 1).mean() < 0.01
    turned = image.rotate(picture, 45, expand=True)
    assert turned.shape == (72, 72, 3)


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_remaps_are_opencvs(rng, filter, dtype):
    picture = smooth(rng, (50, 40, 3)).astype(dtype)
    map_y = (rng.random((31, 29)) * 60 - 5).astype(np.float32).round(3)
    map_x = (rng.random((31, 29)) * 50 - 5).astype(np.float32).round(3)
    # OpenCV's weights have 5 bits.
    want = sampled(picture, map_y.astype(float), map_x.astype(float), filter, 3) if filter != "nearest" else cv2.remap(
        picture, map_x, map_y, FILTERS[filter], borderMode=cv2.BORDER_CONSTANT, borderValue=(3, 3, 3))  # fmt: skip
    got = iruka.asnumpy(image.remap(picture, map_y, map_x, filter, value=3)).astype(np.float64)
    if dtype == np.uint8:
        want = np.clip(want, 0, 255)
    np.testing.assert_allclose(got, want, atol=0.8 if dtype == np.uint8 else 1e-3)


def test_places_far_away_and_nan_are_outside():
    picture = np.full((4, 5), 9, np.uint8)
    places = np.array([[np.nan, np.inf, -np.inf, 1e30, -1e30, 2]], np.float32)
    for filter in FILTERS:
        made = iruka.asnumpy(image.remap(picture, np.ones_like(places), places, filter, value=1))
        np.testing.assert_array_equal(made, [[1, 1, 1, 1, 1, 9]])
        for mode in ("edge", "reflect", "symmetric", "wrap"):
            made = iruka.asnumpy(image.remap(picture, np.ones_like(places), places, filter, mode=mode))
            np.testing.assert_array_equal(made, [[9] * 6])


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (33, 41, 3), (64, 50), (7, 90, 4)])
def test_pyramids_are_opencvs(rng, shape):
    picture = rng.integers(0, 256, shape).astype(np.uint8)
    made = image.pyramid(picture, 4)
    assert len(made) == 4
    want = picture
    for level in made[1:]:
        want = cv2.pyrDown(want)
        np.testing.assert_array_equal(iruka.asnumpy(level), want.reshape(level.shape))
    single = picture.astype(np.float32)
    got = iruka.asnumpy(image.pyramid(single, 2)[1])
    np.testing.assert_allclose(got, cv2.pyrDown(single).reshape(got.shape), rtol=1e-5, atol=1e-4)


def test_misuse_is_refused():
    picture = np.zeros((20, 30, 3), np.uint8)
    maps = np.zeros((3, 4), np.float32)
    for error, parts, call in (
        (ValueError, ["(2, 3)"], lambda: image.warp_affine(picture, np.eye(3))),
        (ValueError, ["(3, 3)"], lambda: image.warp_perspective(picture, np.eye(2))),
        (ValueError, ["no inverse"], lambda: image.warp_affine(picture, np.zeros((2, 3)))),
        (ValueError, ["finite"], lambda: image.warp_affine(picture, np.full((2, 3), np.nan), inverse=True)),
        (ValueError, ["'nearest', 'linear' or 'cubic'"], lambda: image.warp_affine(picture, np.eye(3)[:2], filter="area")),
        (ValueError, ["300"], lambda: image.warp_affine(picture, np.eye(3)[:2], value=300)),
        (ValueError, ["(0, 3)"], lambda: image.warp_affine(picture, np.eye(3)[:2], (0, 3))),
        (TypeError, ["float32", "float64"], lambda: image.remap(picture, maps.astype(float), maps)),
        (ValueError, ["(3, 4)", "(3, 3)"], lambda: image.remap(picture, maps, maps[:, :3])),
        (ValueError, ["no places"], lambda: image.remap(picture, maps[:0], maps[:0])),
        (ValueError, ["levels"], lambda: image.pyramid(picture, 0)),
    ):  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert all(part in str(raised.value) for part in parts), str(raised.value)
