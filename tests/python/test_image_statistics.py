"""Equalisation and statistics of pictures against OpenCV, scikit-image and NumPy."""

import cv2
import numpy as np
import pytest
from skimage import metrics

import iruka
from iruka import _core, image

DTYPES = [np.uint8, np.uint16, np.float16, np.float32]
SIZES = [(1, 1), (1, 50), (40, 1), (2, 2), (37, 61), (64, 80), (300, 211)]


def picture_of(rng, shape, dtype):
    if np.issubdtype(dtype, np.integer):
        most = np.iinfo(dtype).max
        return np.clip(rng.normal(most * 0.4, most * 0.12, shape), 0, most).astype(dtype)
    return rng.random(shape).astype(dtype)


def as_numpy(array):
    return iruka.asnumpy(array)


@pytest.fixture(params=["loops", "kernels"])
def way(request):
    """Both ways of counting on a CPU: by loops, and by the kernels that a GPU has."""
    _core._geometry.prefer_kernels(request.param == "kernels")
    yield
    _core._geometry.prefer_kernels(False)


@pytest.mark.parametrize("size", SIZES)
def test_equalisation_is_opencvs(rng, way, size):
    for picture in (
        picture_of(rng, size, np.uint8),
        np.full(size, 7, np.uint8),
        picture_of(rng, size, np.uint8) // 100,
    ):
        np.testing.assert_array_equal(as_numpy(image.equalize(picture)), cv2.equalizeHist(picture))
    colors = picture_of(rng, (*size, 3), np.uint8)
    want = np.stack([cv2.equalizeHist(np.ascontiguousarray(colors[..., c])) for c in range(3)])
    np.testing.assert_array_equal(as_numpy(image.equalize(colors)), want.transpose(1, 2, 0))
    planes = np.ascontiguousarray(colors.transpose(2, 0, 1))
    np.testing.assert_array_equal(as_numpy(image.equalize(planes, layout="CHW")), want)


def test_equalisation_of_16_bits(rng, way):
    for size in ((1, 1), (31, 57)):
        picture = picture_of(rng, size, np.uint16)
        sums = np.cumsum(np.bincount(picture.ravel(), minlength=65536))
        least = sums[picture.min()]
        got = as_numpy(image.equalize(picture))
        want = picture
        if sums[-1] > least:
            want = np.rint((sums - least) * (65535 / (sums[-1] - least)))[picture]
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("size", SIZES)
def test_clahe_is_opencvs(rng, way, size):
    for dtype in (np.uint8, np.uint16):
        picture = picture_of(rng, size, dtype)
        for limit, tiles in ((40.0, (8, 8)), (2.0, (8, 8)), (0.0, (3, 5)), (1.5, (1, 1)), (3.0, (2, 7))):
            if min(size) == 1 and dtype == np.uint16 and tiles != (8, 8):
                continue
            want = cv2.createCLAHE(limit, tiles[::-1]).apply(picture)
            np.testing.assert_array_equal(
                as_numpy(image.clahe(picture, limit, tiles)), want, err_msg=f"{limit} {tiles}"
            )


def test_clahe_of_channels_and_layouts(rng):
    colors = picture_of(rng, (61, 83, 3), np.uint8)
    want = np.stack([cv2.createCLAHE(2.0, (8, 8)).apply(np.ascontiguousarray(colors[..., c])) for c in range(3)])
    np.testing.assert_array_equal(as_numpy(image.clahe(colors, 2.0)), want.transpose(1, 2, 0))
    planes = np.ascontiguousarray(colors.transpose(2, 0, 1))
    np.testing.assert_array_equal(as_numpy(image.clahe(planes, 2.0, layout="CHW")), want)
    np.testing.assert_array_equal(as_numpy(image.clahe(colors[::-1, ::2], 2.0)),
                                  as_numpy(image.clahe(colors[::-1, ::2].copy(), 2.0)))  # fmt: skip
    out = iruka.zeros(colors.shape, np.uint8)
    assert image.clahe(colors, 2.0, out=out) is out
    np.testing.assert_array_equal(as_numpy(out), want.transpose(1, 2, 0))
    same = iruka.array(colors)
    image.clahe(same, 2.0, out=same)
    np.testing.assert_array_equal(as_numpy(same), want.transpose(1, 2, 0))


@pytest.mark.parametrize("function", [image.equalize, image.clahe])
def test_lists_and_batches(rng, function):
    pictures = [picture_of(rng, size, np.uint8) for size in SIZES]
    for got, one in zip(function(pictures), pictures, strict=True):
        np.testing.assert_array_equal(as_numpy(got), as_numpy(function(one)))
    batch = picture_of(rng, (3, 20, 30, 3), np.uint8)
    want = np.stack([as_numpy(function(one)) for one in batch])
    np.testing.assert_array_equal(as_numpy(function(batch)), want)
    out = iruka.zeros(batch.shape, np.uint8)
    assert function(batch, out=out) is out
    np.testing.assert_array_equal(as_numpy(out), want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (33, 41), (33, 41, 1), (20, 30, 3), (5, 7, 6)])
def test_histograms_are_numpys(rng, way, shape, dtype):
    picture = picture_of(rng, shape, dtype)
    for layout in ("HWC", "CHW"):
        given = picture if len(shape) == 2 or layout == "HWC" else picture.transpose(2, 0, 1)
        channels = [picture] if len(shape) == 2 else [picture[..., c] for c in range(shape[2])]
        if np.issubdtype(dtype, np.integer):
            levels = np.iinfo(dtype).max + 1
            want = np.stack([np.bincount(each.ravel(), minlength=levels) for each in channels])
            got = as_numpy(image.histogram(given, layout=layout))
            np.testing.assert_array_equal(got, want[0] if len(shape) == 2 else want)
            assert got.dtype == np.int64
        most = {np.uint8: 256, np.uint16: 65536}.get(dtype, 1)
        for bins, ends in ((10, None), (7, (most / 4, most / 2))):
            want = np.stack([np.histogram(each, bins, ends or (0, most))[0] for each in channels])
            got = as_numpy(image.histogram(given, bins, ends, layout=layout))
            np.testing.assert_array_equal(got, want[0] if len(shape) == 2 else want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_moments_are_numpys(rng, dtype):
    for shape in ((1, 1), (33, 41), (20, 30, 3), (400, 300, 4)):
        picture = picture_of(rng, shape, dtype)
        x = picture.astype(np.float64).reshape(*shape[:2], -1)
        mean, std = image.channel_moments(picture)
        np.testing.assert_allclose(as_numpy(mean), x.mean((0, 1)), rtol=1e-12)
        np.testing.assert_allclose(as_numpy(std), x.std((0, 1)), rtol=1e-9, atol=1e-12)
        if len(shape) == 3:
            made = image.channel_moments(picture.transpose(2, 0, 1), layout="CHW")
            np.testing.assert_allclose(as_numpy(made.std), x.std((0, 1)), rtol=1e-9)
    batch = picture_of(rng, (4, 9, 8, 3), dtype)
    mean, _ = image.channel_moments(batch)
    np.testing.assert_allclose(as_numpy(mean), batch.astype(np.float64).mean((1, 2)), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_moments_of_integers_are_exact(rng, way, dtype):
    most = np.iinfo(dtype).max
    for channels in (1, 2, 3, 4, 7):
        picture = picture_of(rng, (70, 1003, channels), dtype)
        bright = np.full((5, 300, channels), most, dtype)
        bright[0, 0] -= 1
        for given in (picture, picture[3:9, 5:77], picture[:, ::-1], picture[:, ::2], picture[:1, :1], bright):
            numbers = given.reshape(-1, channels).astype(object)
            count = len(numbers)
            sums, squares = numbers.sum(0), (numbers**2).sum(0)
            for planes in (False, True):
                taken = np.ascontiguousarray(given.transpose(2, 0, 1)) if planes else given
                mean, std = image.channel_moments(taken, layout="CHW" if planes else "HWC")
                np.testing.assert_array_equal(as_numpy(mean), [int(each) / count for each in sums])
                want = [np.sqrt((count * int(b) - int(a) ** 2) / count**2) for a, b in zip(sums, squares, strict=True)]
                np.testing.assert_allclose(as_numpy(std), want, rtol=1e-15, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_psnr_is_scikit_images(rng, dtype):
    for shape in ((1, 1), (31, 44), (20, 30, 3)):
        a, b = picture_of(rng, shape, dtype), picture_of(rng, shape, dtype)
        most = {np.uint8: 255, np.uint16: 65535}.get(dtype, 1)
        a64, b64 = a.astype(np.float64), b.astype(np.float64)
        want = metrics.peak_signal_noise_ratio(a64, b64, data_range=most)
        assert image.psnr(a, b) == pytest.approx(want, rel=1e-12)
        want = metrics.peak_signal_noise_ratio(a64, b64, data_range=9)
        assert image.psnr(a, b, 9) == pytest.approx(want, rel=1e-12)
        assert image.psnr(a, a) == np.inf


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_psnr_of_integers_is_exact(rng, way, dtype):
    wide = picture_of(rng, (2, 211, 1003, 3), dtype)
    pairs = [
        (wide[0], wide[1]),
        (wide[0, 3:90, 5:77], wide[1, 9:96, 2:74]),
        (wide[0, ::-1], wide[1]),
        (wide[0, :, ::2], wide[1, :, 1::2]),
        (wide[0].transpose(2, 0, 1), wide[1].transpose(2, 0, 1)),
        (wide[0, :1, :1, 0], wide[1, :1, :1, 0]),
        (np.full((500, 1700), np.iinfo(dtype).max, dtype), np.zeros((500, 1700), dtype)),
    ]
    for a, b in pairs:
        a, b = a[:, : min(a.shape[1], b.shape[1])], b[:, : min(a.shape[1], b.shape[1])]
        error = int(((a.astype(np.int64) - b.astype(np.int64)) ** 2).sum()) / a.size
        assert image.psnr(a, b) == 10 * np.log10(float(np.iinfo(dtype).max) ** 2 / error)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(11, 11), (40, 53), (31, 22, 3)])
def test_ssim_is_scikit_images(rng, shape, dtype):
    a = picture_of(rng, shape, dtype)
    b = (a * rng.uniform(0.7, 1, shape)).astype(dtype)
    most = {np.uint8: 255, np.uint16: 65535}.get(dtype, 1)
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    axis = 2 if len(shape) == 3 else None
    for sample in (False, True):
        options = {"use_sample_covariance": sample, "data_range": most, "channel_axis": axis}
        want = metrics.structural_similarity(a64, b64, gaussian_weights=True, sigma=1.5, **options)
        assert image.ssim(a, b, sample_covariance=sample) == pytest.approx(want, abs=1e-10)
        for window in (3, 7):
            want = metrics.structural_similarity(a64, b64, win_size=window, **options)
            assert image.ssim(a, b, window, sample_covariance=sample) == pytest.approx(want, abs=1e-10)
    if axis is not None:
        planes = [np.ascontiguousarray(each.transpose(2, 0, 1)) for each in (a, b)]
        assert image.ssim(*planes, layout="CHW") == image.ssim(a, b)
    assert image.ssim(a, a) == pytest.approx(1, abs=1e-12)


def test_misuse_is_refused(rng):
    byte, real = np.zeros((20, 30, 3), np.uint8), np.zeros((20, 30), np.float32)
    for error, parts, call in (
        (TypeError, ["equalize", "float32"], lambda: image.equalize(real)),
        (TypeError, ["clahe", "float32"], lambda: image.clahe(real)),
        (ValueError, ["tiles", "(0, 3)"], lambda: image.clahe(byte, 2, (0, 3))),
        (ValueError, ["NaN"], lambda: image.clahe(byte, float("nan"))),
        (ValueError, ["shape"], lambda: image.clahe(np.zeros((0, 4), np.uint8))),
        (ValueError, ["out", "shape"], lambda: image.clahe(byte, out=np.zeros((1, 2, 3), np.uint8))),
        (TypeError, ["out", "uint8"], lambda: image.equalize(byte, out=np.zeros(byte.shape, np.float32))),
        (TypeError, ["histogram", "int64"], lambda: image.histogram(byte.astype(np.int64))),
        (ValueError, ["bins"], lambda: image.histogram(real)),
        (ValueError, ["rise"], lambda: image.histogram(byte, 3, (5, 5))),
        (ValueError, ["bins"], lambda: image.histogram(byte, 0)),
        (ValueError, ["bins"], lambda: image.histogram(byte, range=(1, 2))),
        (TypeError, ["uint8", "float32"], lambda: image.psnr(byte[..., 0], real)),
        (ValueError, ["(20, 30, 3)"], lambda: image.psnr(byte, byte[:5])),
        (ValueError, ["range"], lambda: image.psnr(byte, byte, 0)),
        (ValueError, ["gaussian"], lambda: image.ssim(byte, byte, "square")),
        (ValueError, ["odd", "4"], lambda: image.ssim(byte, byte, 4)),
        (ValueError, ["21 x 21", "20 x 30"], lambda: image.ssim(byte, byte, 21)),
        (ValueError, ["sigma"], lambda: image.ssim(byte, byte, sigma=0)),
        (TypeError, ["complex128"], lambda: image.channel_moments(np.zeros((3, 4), complex))),
    ):  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert all(part in str(raised.value) for part in parts), str(raised.value)


@pytest.mark.parametrize("function", [image.psnr, image.ssim])
def test_floats_of_another_range_need_it(rng, function):
    a = rng.uniform(0, 255, (20, 30)).astype(np.float32)
    b = (a * 0.9).astype(np.float32)
    with pytest.raises(ValueError, match=f"{function.__name__}: floats from .* to .* need data_range, such as 255"):
        function(a, b)
    unit = function((a / 255).astype(np.float32), (b / 255).astype(np.float32))
    assert function(a, b, data_range=255) == pytest.approx(unit, rel=1e-5)
