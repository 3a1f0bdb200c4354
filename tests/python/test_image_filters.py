"""Filters of pictures against OpenCV, SciPy and sums in float64."""

import ctypes
import functools
import mmap
import os
import pathlib
import subprocess
import sys

import cv2
import numpy as np
import pytest
import scipy.ndimage

import iruka
from iruka import _core, image

BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "edge": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT_101,
    "symmetric": cv2.BORDER_REFLECT,
    "wrap": cv2.BORDER_WRAP,
}
DTYPES = [np.uint8, np.uint16, np.float16, np.float32]
SHAPES = [(1, 1, 1), (1, 9, 3), (7, 1, 2), (3, 2, 1), (23, 37, 1), (19, 70, 3), (40, 33, 4), (12, 20, 6)]


def random_picture(rng, shape, dtype):
    scale = {np.uint8: 256, np.uint16: 65536}.get(dtype, 2)
    return (rng.random(shape) * scale - (scale == 2)).astype(dtype)


def padded(picture, height, width, anchor, mode, value=0):
    """The picture with what windows see around it, by numpy.pad."""
    widths = [(anchor[0], height - 1 - anchor[0]), (anchor[1], width - 1 - anchor[1]), (0, 0)]
    if mode == "reflect":  # numpy.pad repeats reflections of more than one pixel only
        for axis, width_pair in enumerate(widths):
            own = [(0, 0)] * 3
            own[axis] = width_pair
            picture = np.pad(picture, own, mode="edge" if picture.shape[axis] == 1 else "reflect")
        return picture
    if mode == "constant":
        return np.pad(picture, widths, constant_values=value)
    return np.pad(picture, widths, mode=mode)


def windows(picture, height, width, anchor=None, mode="reflect", value=0):
    """(height, width, channels, rows, columns) of what each window sees."""
    anchor = (height // 2, width // 2) if anchor is None else anchor
    whole = padded(picture, height, width, anchor, mode, value)
    return np.lib.stride_tricks.sliding_window_view(whole, (height, width), (0, 1))


def rounded(values, dtype):
    if np.issubdtype(dtype, np.floating):
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)


def assert_near(got, want, dtype, steps=1, scale=1.0):
    """Integers within `steps` where the sum is nearly a tie, floats within their precision."""
    got = iruka.asnumpy(got)
    assert got.dtype == dtype and got.shape == want.shape
    if np.issubdtype(dtype, np.integer):
        assert np.abs(got.astype(int) - want.astype(int)).max(initial=0) <= steps
    else:
        atol = scale * (2e-3 if dtype == np.float16 else 4e-6)
        np.testing.assert_allclose(
            got.astype(float), want.astype(float), rtol=2e-3 if dtype == np.float16 else 1e-5, atol=atol
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", BORDERS)
def test_correlations_are_sums_in_float64(rng, mode, dtype):
    for shape in SHAPES:
        picture = random_picture(rng, shape, dtype)
        for size in ((1, 1), (3, 3), (2, 5), (7, 4), (1, 30)):
            kernel = rng.normal(size=size) / 4
            kernel[rng.random(size) < 0.3] = 0
            anchor = tuple(int(rng.integers(0, side)) for side in size)
            want = np.einsum("yxcjk,jk->yxc", windows(picture, *size, anchor, mode, 3).astype(float), kernel)
            got = image.filter2d(picture, kernel, anchor=anchor, mode=mode, value=3)
            assert_near(got, rounded(want, dtype), dtype, scale=4)
            got = image.filter2d(picture, kernel, anchor=anchor, mode=mode, value=3, dtype="float32")
            scale = 65536 if dtype == np.uint16 else 256 if dtype == np.uint8 else 1
            assert_near(got, want, np.float32, scale=scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", BORDERS)
def test_separable_filters_are_correlations(rng, mode, dtype):
    for shape in SHAPES:
        picture = random_picture(rng, shape, dtype)
        for rows, columns in ((1, 1), (5, 3), (4, 9), (1, 40)):
            column, row = rng.normal(size=rows) / 2, rng.normal(size=columns) / 2
            want = np.einsum(
                "yxcjk,j,k->yxc", windows(picture, rows, columns, None, mode, 2).astype(float), column, row
            )
            got = image.separable_filter(picture, column, row, mode=mode, value=2)
            assert_near(got, rounded(want, dtype), dtype, scale=8)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_gaussians_of_bytes_are_opencvs(rng, mode, channels):
    for size, sigma in (
        (3, 0),
        (5, 0),
        (7, 0),
        (9, 0),
        (11, 0),
        (5, 1.1),
        (0, 0.8),
        (0, 2.5),
        (31, 7.0),
        ((3, 7), (1, 2)),
    ):
        for shape in ((40, 61), (9, 8), (33, 130)):
            picture = random_picture(rng, (*shape, channels), np.uint8)
            rows, columns = size if isinstance(size, tuple) else (size, size)
            down, across = sigma if isinstance(sigma, tuple) else (sigma, sigma)
            want = cv2.GaussianBlur(
                picture, (columns, rows), across, sigmaY=down, borderType=BORDERS[mode], hint=cv2.ALGO_HINT_ACCURATE
            ).reshape(picture.shape)
            got = image.gaussian_filter(picture, sigma, size, mode=mode)
            np.testing.assert_array_equal(iruka.asnumpy(got), want, err_msg=f"{size} {sigma} {shape}")


@pytest.mark.parametrize("dtype", [np.uint16, np.float16, np.float32])
def test_gaussians_are_scipys(rng, dtype):
    modes = {"reflect": "mirror", "symmetric": "reflect", "edge": "nearest", "wrap": "wrap"}
    for mode, name in modes.items():
        picture = random_picture(rng, (30, 45, 2), dtype)
        want = scipy.ndimage.gaussian_filter(picture.astype(float), (1.5, 0.7, 0), mode=name, radius=(6, 3, 0))
        assert_near(image.gaussian_filter(picture, (1.5, 0.7), (13, 7), mode=mode), rounded(want, dtype), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", BORDERS)
def test_boxes_are_means(rng, mode, dtype):
    for shape in SHAPES:
        picture = random_picture(rng, shape, dtype)
        for size in ((1, 1), (3, 3), (5, 4), (2, 7), (6, 1), (17, 21), (40, 9)):
            want = windows(picture, *size, None, mode, 5).astype(float).mean((-2, -1))
            assert_near(image.box_filter(picture, size, mode=mode, value=5), rounded(want, dtype), dtype)


@pytest.mark.parametrize("size", [3, 5, 8, 31])
def test_boxes_of_bytes_are_opencvs(rng, size):
    picture = random_picture(rng, (60, 90, 3), np.uint8)
    got = iruka.asnumpy(image.box_filter(picture, size)).astype(int)
    assert np.abs(got - cv2.blur(picture, (size, size))).max() <= 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_medians_are_numpys(rng, dtype):
    for shape in SHAPES:
        picture = random_picture(rng, shape, dtype)
        if dtype in (np.float16, np.float32):
            picture[rng.random(shape) < 0.05] = np.inf
            picture[rng.random(shape) < 0.05] = -np.inf
        for size in (1, 3, 5, 7, 9, 17):
            for mode in BORDERS:
                want = np.sort(windows(picture, size, size, None, mode, 1).reshape(*shape, -1), -1)[
                    ..., size * size // 2
                ]
                got = iruka.asnumpy(image.median_filter(picture, size, mode=mode, value=1))
                np.testing.assert_array_equal(got, want, err_msg=f"{shape} {size} {mode}")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_small_windows_of_rows_of_any_length(rng, dtype):
    for channels in (1, 2, 3, 4, 5):
        large = random_picture(rng, (3, 140, channels), dtype)
        for width in [*range(1, 36), 63, 64, 65, 128, 140]:
            picture = large[:, 140 - width :]
            for mode in ("edge", "wrap", "constant"):
                want = np.median(windows(picture, 3, 3, None, mode, 1), (-2, -1))
                got = iruka.asnumpy(image.median_filter(picture, 3, mode=mode, value=1))
                np.testing.assert_array_equal(got, want, err_msg=f"{channels} {width} {mode}")
                for size in (3, 5):
                    seen, element = windows(picture, size, size, None, mode, 1), np.ones((size, size), np.uint8)
                    got = iruka.asnumpy(image.erode(picture, element, mode=mode, value=1))
                    np.testing.assert_array_equal(got, seen.min((-2, -1)), err_msg=f"{channels} {width} {mode}")
                    got = iruka.asnumpy(image.dilate(picture, element, mode=mode, value=1))
                    np.testing.assert_array_equal(got, seen.max((-2, -1)), err_msg=f"{channels} {width} {mode}")


@pytest.mark.parametrize("size", [3, 5, 7, 13, 33])
def test_medians_of_bytes_are_opencvs(rng, size):
    for shape in ((50, 70), (50, 70, 3), (10, 8, 4)):
        picture = random_picture(rng, shape, np.uint8)
        np.testing.assert_array_equal(iruka.asnumpy(image.median_filter(picture, size)), cv2.medianBlur(picture, size))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_bilateral_filters_are_opencvs(rng, mode):
    for shape in ((30, 44), (30, 44, 3), (5, 3, 3)):
        picture = random_picture(rng, shape, np.uint8)
        for size, color, space in ((5, 30.0, 2.0), (9, 60.0, 3.0), (0, 25.0, 1.0)):
            want = cv2.bilateralFilter(picture, size, color, space, borderType=BORDERS[mode])
            got = iruka.asnumpy(image.bilateral_filter(picture, size, color, space, mode=mode))
            assert np.abs(got.astype(int) - want).max() <= 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_bilateral_filters_are_means_in_float64(rng, dtype):
    for shape in ((1, 1, 1), (9, 21, 1), (8, 20, 2), (8, 20, 5)):
        picture = random_picture(rng, shape, dtype)
        color = {np.uint8: 50.0, np.uint16: 9000.0}.get(dtype, 0.4)
        seen = windows(picture, 7, 7, None, "edge").astype(float)
        y, x = np.mgrid[-3:4, -3:4]
        difference = np.abs(seen - picture[..., None, None]).sum(2, keepdims=True)
        weights = np.exp(-(y**2 + x**2) / (2 * 1.7**2) - difference**2 / (2 * color**2)) * (y**2 + x**2 <= 9)
        want = (seen * weights).sum((-2, -1)) / weights.sum((-2, -1))
        got = image.bilateral_filter(picture, 7, color, 1.7, mode="edge")
        assert_near(got, rounded(want, dtype), dtype)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_derivatives_of_bytes_are_opencvs(rng, mode):
    border = BORDERS[mode]
    for shape in ((40, 61), (40, 61, 3), (5, 4, 2)):
        picture = random_picture(rng, shape, np.uint8)
        for size in (1, 3, 5, 7, 9):
            for dx, dy in ((1, 0), (0, 1), (1, 1), (2, 0)):
                for dtype, depth in ((None, cv2.CV_16S), ("uint8", cv2.CV_8U), ("float32", cv2.CV_32F)):
                    want = cv2.Sobel(picture, depth, dx, dy, ksize=size, borderType=border)
                    got = iruka.asnumpy(image.sobel(picture, dx, dy, size, dtype=dtype, mode=mode))
                    np.testing.assert_array_equal(got, want, err_msg=f"{size} {dx} {dy} {dtype}")
        for dx, dy in ((1, 0), (0, 1)):
            want = cv2.Scharr(picture, cv2.CV_16S, dx, dy, borderType=border)
            np.testing.assert_array_equal(iruka.asnumpy(image.scharr(picture, dx, dy, mode=mode)), want)
        for size in (1, 3, 5):
            want = cv2.Laplacian(picture, cv2.CV_16S, ksize=size, borderType=border)
            np.testing.assert_array_equal(iruka.asnumpy(image.laplacian(picture, size, mode=mode)), want)


def test_derivatives_of_other_dtypes_are_opencvs(rng):
    for dtype in (np.uint16, np.float32):
        picture = random_picture(rng, (40, 61, 3), dtype)
        want = cv2.Sobel(picture, cv2.CV_32F, 1, 0, ksize=5)
        np.testing.assert_allclose(
            iruka.asnumpy(image.sobel(picture, 1, 0, 5)), want, rtol=1e-4, atol=1e-4 * want.max()
        )
    assert image.sobel(picture.astype(np.float16), 0, 1).dtype == np.float16
    assert image.laplacian(picture.astype(np.uint16), dtype="uint16").dtype == np.uint16


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", BORDERS)
def test_morphology_takes_extremes(rng, mode, dtype):
    for shape in SHAPES:
        picture = random_picture(rng, shape, dtype)
        for size in ((1, 1), (3, 3), (5, 4), (2, 7), (9, 13), (31, 1), (1, 31)):
            for element in (np.ones(size), rng.random(size) < 0.5):
                if not element.any():
                    continue
                anchor = tuple(int(rng.integers(0, side)) for side in size)
                seen = windows(picture, *size, anchor, mode, 1)[..., element != 0]
                for function, want in ((image.erode, seen.min(-1)), (image.dilate, seen.max(-1))):
                    got = function(picture, element, anchor=anchor, mode=mode, value=1)
                    np.testing.assert_array_equal(iruka.asnumpy(got), want, err_msg=f"{shape} {size}")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_elements_of_long_spans_are_opencvs(rng, dtype):
    dense = (rng.random((9, 40)) < 0.9).astype(np.uint8)
    elements = [iruka.asnumpy(image.structuring_element("ellipse", size)) for size in (5, 15, (31, 44), (3, 70))]
    for shape in ((1, 1), (1, 90), (37, 61), (20, 33, 3)):
        picture = random_picture(rng, shape, dtype)
        for element in [*elements, dense, dense[:, ::-1].T.copy()]:
            message = f"{shape} {element.shape}"
            np.testing.assert_array_equal(
                iruka.asnumpy(image.erode(picture, element)), cv2.erode(picture, element), err_msg=message
            )
            np.testing.assert_array_equal(
                iruka.asnumpy(image.dilate(picture, element)), cv2.dilate(picture, element), err_msg=message
            )


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_rows_of_any_length_and_stride(rng, dtype):
    large = random_picture(rng, (9, 300), dtype)
    for width in [*range(1, 70), 127, 128, 129, 255]:
        for picture in (large[:, 5 : 5 + width], large[::-1, :width], large[::2, -width:], large[:1, :width]):
            whole = np.ascontiguousarray(picture)
            np.testing.assert_array_equal(iruka.asnumpy(image.median_filter(picture, 3)), cv2.medianBlur(whole, 3))
            np.testing.assert_array_equal(iruka.asnumpy(image.median_filter(picture, 5)), cv2.medianBlur(whole, 5))
            element = np.ones((3, 3), np.uint8)
            np.testing.assert_array_equal(iruka.asnumpy(image.erode(picture, element)), cv2.erode(whole, element))
            means = windows(whole[..., None].astype(np.float64), 3, 3).mean((-2, -1))[..., 0]
            assert_near(image.box_filter(picture, 3), rounded(means, dtype), dtype)


FILTERS_OF_COLUMNS = {
    "median 3": lambda picture: image.median_filter(picture, 3),
    "median 5": lambda picture: image.median_filter(picture, 5),
    "erode": lambda picture: image.erode(picture, 3),
    "box": lambda picture: image.box_filter(picture, 5),
    "gaussian": lambda picture: image.gaussian_filter(picture, 1.1),
    "derivative": lambda picture: image.sobel(picture, 1, 0),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")
@pytest.mark.parametrize("name", FILTERS_OF_COLUMNS)
def test_nothing_is_read_behind_a_picture(rng, name):
    """A picture that ends where memory ends: reading behind it would be a segmentation fault."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert libc.mprotect(start + page, page, 0) == 0
    for dtype in (np.uint8, np.float32):
        for shape in ((1, 1), (1, 33), (3, 7), (5, 61), (7, 64)):
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            picture = np.frombuffer(memory, dtype, int(np.prod(shape)), page - size).reshape(shape)
            picture[:] = random_picture(rng, shape, dtype)
            got, want = FILTERS_OF_COLUMNS[name](picture), FILTERS_OF_COLUMNS[name](picture.copy())
            np.testing.assert_array_equal(iruka.asnumpy(got), iruka.asnumpy(want), err_msg=f"{shape}")


OPERATIONS = {
    "erode": cv2.MORPH_ERODE,
    "dilate": cv2.MORPH_DILATE,
    "open": cv2.MORPH_OPEN,
    "close": cv2.MORPH_CLOSE,
    "gradient": cv2.MORPH_GRADIENT,
    "top_hat": cv2.MORPH_TOPHAT,
    "black_hat": cv2.MORPH_BLACKHAT,
}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_morphology_is_opencvs(rng, operation, dtype):
    for shape in ((1, 1), (30, 47), (30, 47, 3), (6, 5, 3)):
        picture = random_picture(rng, shape, dtype)
        for name, kind in (("rectangle", cv2.MORPH_RECT), ("cross", cv2.MORPH_CROSS), ("ellipse", cv2.MORPH_ELLIPSE)):
            for size in ((3, 3), (5, 9), (4, 6)):
                element = cv2.getStructuringElement(kind, size[::-1])
                np.testing.assert_array_equal(iruka.asnumpy(image.structuring_element(name, size)), element)
                for iterations in (1, 2):
                    want = cv2.morphologyEx(picture, OPERATIONS[operation], element, iterations=iterations)
                    got = image.morphology(picture, operation, element, iterations=iterations)
                    np.testing.assert_array_equal(iruka.asnumpy(got), want, err_msg=f"{shape} {name} {size}")


def filters(rng):
    """A filter of every kind and path, as functions of a picture and further arguments."""
    cross = image.structuring_element("cross", 5)
    kernel, column, row = rng.normal(size=(3, 4)), rng.normal(size=5), rng.normal(size=2)
    return {
        "filter2d": lambda p, **more: image.filter2d(p, kernel, **more),
        "to int16": lambda p, **more: image.filter2d(p, kernel * 1000, dtype="int16", **more),
        "separable": lambda p, **more: image.separable_filter(p, column, row, **more),
        "integers": lambda p, **more: image.separable_filter(p, [1, 2, 1], [-1, 0, 1], **more),
        "gaussian": lambda p, **more: image.gaussian_filter(p, 1.3, **more),
        "gaussian of even pairs": lambda p, **more: image.gaussian_filter(p, 1.3, (1, 11), **more),
        "box": lambda p, **more: image.box_filter(p, 3, **more),
        "large box": lambda p, **more: image.box_filter(p, (19, 30), **more),
        "median 3": lambda p, **more: image.median_filter(p, 3, **more),
        "median 5": lambda p, **more: image.median_filter(p, 5, **more),
        "median 7": lambda p, **more: image.median_filter(p, 7, **more),
        "bilateral": lambda p, **more: image.bilateral_filter(p, 5, 40.0, 2.0, **more),
        "sobel": lambda p, **more: image.sobel(p, 1, 0, **more),
        "sobel 9": lambda p, **more: image.sobel(p, 1, 1, 9, **more),
        "laplacian": lambda p, **more: image.laplacian(p, 3, **more),
        "erode": lambda p, **more: image.erode(p, (5, 7), **more),
        "dilate": lambda p, **more: image.dilate(p, cross, **more),
        "gradient": lambda p, **more: image.morphology(p, "gradient", cross, **more),
        "top_hat": lambda p, **more: image.morphology(p, "top_hat", (6, 3), **more),
        "black_hat": lambda p, **more: image.morphology(p, "black_hat", 3, iterations=2, **more),
    }


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts_batches_and_outputs_have_the_same_bits(rng, dtype):
    for name, function in filters(rng).items():
        mode = str(rng.choice(list(BORDERS)))
        picture = random_picture(rng, (21, 34, 3), dtype)
        want = iruka.asnumpy(function(picture, mode=mode))
        flat = iruka.asnumpy(function(picture[..., 1], mode=mode))
        if name != "bilateral":  # which sees all channels
            np.testing.assert_array_equal(flat, want[..., 1], err_msg=name)
        planes = np.ascontiguousarray(picture.transpose(2, 0, 1))
        got = iruka.asnumpy(function(planes, mode=mode, layout="CHW"))
        np.testing.assert_array_equal(got, want.transpose(2, 0, 1), err_msg=name)
        view = np.repeat(np.repeat(picture, 2, 0), 2, 1)[::2, ::2][::-1]
        np.testing.assert_array_equal(iruka.asnumpy(function(view[::-1], mode=mode)), want, err_msg=name)
        batch = iruka.asnumpy(function(np.stack([picture, picture[::-1]]), mode=mode))
        np.testing.assert_array_equal(batch[0], want, err_msg=name)
        several = function([picture, picture[:5, :2], picture[:1]], mode=mode)
        np.testing.assert_array_equal(iruka.asnumpy(several[0]), want, err_msg=name)
        np.testing.assert_array_equal(iruka.asnumpy(several[1]), iruka.asnumpy(function(picture[:5, :2], mode=mode)))
        out = iruka.zeros((21, 70, 3), want.dtype)[:, ::2][:, :34]
        assert function(picture, mode=mode, out=out) is out
        np.testing.assert_array_equal(iruka.asnumpy(out), want, err_msg=name)
        if want.dtype == picture.dtype:
            again = iruka.array(picture)
            function(again, mode=mode, out=again)
            np.testing.assert_array_equal(iruka.asnumpy(again), want, err_msg=name)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_have_the_same_bits(rng, dtype):
    for name, function in filters(rng).items():
        for mode in ("constant", str(rng.choice(list(BORDERS)))):
            layout = str(rng.choice(["HWC", "CHW"]))
            height, width, channels = (int(extent) for extent in rng.integers(1, 30, 3) // (1, 1, 6) + (0, 0, 1))
            picture = random_picture(rng, (height, width, channels), dtype)
            if layout == "CHW":
                picture = picture.transpose(2, 0, 1)
            value = tuple(range(1, channels + 1)) if mode == "constant" else 0
            want = iruka.asnumpy(function(picture, mode=mode, layout=layout, value=value))
            _core._geometry.prefer_kernels(True)
            try:
                got = iruka.asnumpy(function(picture, mode=mode, layout=layout, value=value))
            finally:
                _core._geometry.prefer_kernels(False)
            np.testing.assert_array_equal(got, want, err_msg=f"{name} {mode} {layout} {picture.shape}")


def test_lists_by_kernels_have_the_same_bits(rng):
    """Pictures of several sizes, dtypes and numbers of channels, some of which fill arrays of any strides."""
    shapes = [(9, 20, 3), (30, 7, 3), (5, 5), (1, 40, 1), (12, 11, 3), (8, 9, 12)]
    for name, function in filters(rng).items():
        pictures = [random_picture(rng, shape, DTYPES[k % 2 * 3]) for k, shape in enumerate(shapes)]
        want = [iruka.asnumpy(function(picture, mode="wrap")) for picture in pictures]
        outs = [None] * 4 + [iruka.zeros((*shapes[4][:2], 6), want[4].dtype)[..., ::2], None]
        _core._geometry.prefer_kernels(True)
        try:
            got = function(pictures, mode="wrap", out=outs)
        finally:
            _core._geometry.prefer_kernels(False)
        for one, other in zip(got, want):
            np.testing.assert_array_equal(iruka.asnumpy(one), other, err_msg=f"{name} {other.shape}")


def test_properties(rng):
    for dtype in DTYPES:
        picture = random_picture(rng, (30, 40, 3), dtype)
        flat = np.full((20, 30, 3), 7, dtype)
        for made in (
            image.gaussian_filter(flat, 3.0),
            image.box_filter(flat, 9),
            image.median_filter(flat, 9),
            image.bilateral_filter(flat, 7, 1.0, 2.0),
        ):
            np.testing.assert_allclose(iruka.asnumpy(made).astype(float), 7, rtol=1e-6)
        opened = image.morphology(picture, "open", 5)
        np.testing.assert_array_equal(iruka.asnumpy(image.morphology(opened, "open", 5)), iruka.asnumpy(opened))
        once, twice = image.erode(picture, 3, iterations=3), image.erode(image.erode(image.erode(picture, 3), 3), 3)
        np.testing.assert_array_equal(iruka.asnumpy(once), iruka.asnumpy(twice))
        identity = image.filter2d(picture, [[0, 0, 0], [0, 1, 0], [0, 0, 0]])
        np.testing.assert_array_equal(iruka.asnumpy(identity), picture)


def test_numbers_of_threads_do_not_change_bits(rng):
    picture = random_picture(rng, (400, 700, 3), np.uint8)
    before = iruka.get_num_threads()
    made = {}
    try:
        for threads in (1, 4):
            iruka.set_num_threads(threads)
            made[threads] = {
                name: iruka.asnumpy(function(picture)) for name, function in filters(np.random.default_rng(1)).items()
            }
    finally:
        iruka.set_num_threads(before)
    for name, want in made[1].items():
        np.testing.assert_array_equal(made[4][name], want, err_msg=name)


LEVELS = """
import hashlib, sys
import numpy as np
sys.path.insert(0, {folder!r})
import iruka
from test_image_filters import BORDERS, DTYPES, filters, random_picture
rng, made = np.random.default_rng(5), hashlib.sha256()
for dtype in DTYPES:
    for name, function in filters(rng).items():
        for shape in ((37, 71, 3), (20, 150), (1, 1, 1)):
            picture = random_picture(rng, shape, dtype)
            made.update(iruka.asnumpy(function(picture, mode=str(rng.choice(list(BORDERS))))).tobytes())
    picture = random_picture(rng, (40, 90, 3), dtype)
    made.update(iruka.asnumpy(iruka.image.median_filter(picture, 15)).tobytes())
print(made.hexdigest())
"""


def test_widths_of_vectors_do_not_change_bits():
    script = LEVELS.format(folder=str(pathlib.Path(__file__).parent))
    made = {
        level: subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "IRUKA_CPU_LEVEL": level},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4")
    }
    assert len(set(made.values())) == 1, made


def test_errors():
    picture = np.zeros((6, 5, 3), np.uint8)
    kernel = np.ones((3, 3))
    cases = [
        (TypeError, "filter2d.*float64", lambda: image.filter2d(picture.astype(float), kernel)),
        (TypeError, "filter2d.*uint16", lambda: image.filter2d(picture, kernel, dtype="uint16")),
        (TypeError, "kernel must be real", lambda: image.filter2d(picture, kernel * 1j)),
        (TypeError, "must be an array|is an array", lambda: image.filter2d("picture", kernel)),
        (ValueError, "2 axes, not shape", lambda: image.filter2d(picture, [1, 2])),
        (ValueError, "from 1 to 2047", lambda: image.filter2d(picture, np.ones((0, 3)))),
        (ValueError, "from 1 to 2047", lambda: image.box_filter(picture, 2048)),
        (ValueError, "from 1 to 2047", lambda: image.box_filter(picture, (-1, 3))),
        (ValueError, r"anchor \(3, 0\)", lambda: image.filter2d(picture, kernel, anchor=(3, 0))),
        (
            ValueError,
            r"the anchor's \(y, x\) are two integers, not \(3, 0, 1\)",
            lambda: image.filter2d(picture, kernel, anchor=(3, 0, 1)),
        ),
        (ValueError, "finite", lambda: image.filter2d(picture, kernel * np.nan)),
        (ValueError, "mode must be one of", lambda: image.filter2d(picture, kernel, mode="mirror")),
        (ValueError, "layout must be one of", lambda: image.filter2d(picture, kernel, layout="WHC")),
        (
            ValueError,
            "value has 2 numbers.*3 channels",
            lambda: image.box_filter(picture, 3, mode="constant", value=(1, 2)),
        ),
        (ValueError, "value 300 is no uint8", lambda: image.box_filter(picture, 3, mode="constant", value=300)),
        (ValueError, "value must not be NaN", lambda: image.erode(picture.astype("f4"), 3, value=float("nan"))),
        (ValueError, "no pixels", lambda: image.box_filter(picture[:0], 3)),
        (ValueError, "2 or 3 axes", lambda: image.box_filter(np.zeros(3, np.uint8), 3)),
        (ValueError, "pairs", lambda: image.box_filter(picture, (1, 2, 3))),
        (ValueError, "odd", lambda: image.gaussian_filter(picture, 1.0, 4)),
        (ValueError, "a size or a sigma", lambda: image.gaussian_filter(picture)),
        (ValueError, "sigma.*not negative", lambda: image.gaussian_filter(picture, -1.0)),
        (ValueError, "sigma 1000 needs", lambda: image.gaussian_filter(picture, 1000.0)),
        (ValueError, "odd number from 1 to 255", lambda: image.median_filter(picture, 4)),
        (ValueError, "odd number from 1 to 255", lambda: image.median_filter(picture, 257)),
        (ValueError, "sigma_color", lambda: image.bilateral_filter(picture, 5, 0.0, 1.0)),
        (ValueError, "sigma_space", lambda: image.bilateral_filter(picture, 5, 1.0, float("inf"))),
        (ValueError, "orders", lambda: image.sobel(picture, 0, 0)),
        (ValueError, "orders", lambda: image.sobel(picture, 3, 0)),
        (ValueError, "orders", lambda: image.scharr(picture, 1, 1)),
        (ValueError, "1 to 31", lambda: image.laplacian(picture, 33)),
        (ValueError, "no pixels", lambda: image.erode(picture, np.zeros((3, 3)))),
        (ValueError, "iterations", lambda: image.erode(picture, 3, iterations=0)),
        (ValueError, "operation must be one of", lambda: image.morphology(picture, "hit", 3)),
        (ValueError, "shape must be one of", lambda: image.structuring_element("disk", 3)),
        (ValueError, "out must have shape", lambda: image.box_filter(picture, 3, out=np.zeros((5, 5, 3), np.uint8))),
        (TypeError, "out must be int16", lambda: image.sobel(picture, 1, 0, out=np.zeros((6, 5, 3), np.uint8))),
        (ValueError, "has no pictures", lambda: image.box_filter(np.zeros((0, 6, 5, 3), np.uint8), 3)),
        (ValueError, "1 arrays to fill", lambda: image.box_filter([picture, picture], 3, out=[picture])),
    ]
    for error, message, call in cases:
        with pytest.raises(error, match=message):
            call()
    assert image.box_filter([], 3) == []


def test_a_list_of_outputs_may_lack_some():
    picture = np.arange(6 * 5 * 3, dtype=np.uint8).reshape(6, 5, 3)
    wanted, turned = iruka.asnumpy(image.box_filter(picture, 3)), image.Chain([image.Flip(False, True)])
    for pictures in ([picture, picture], np.stack([picture, picture])):
        for call, right in ((functools.partial(image.box_filter, size=3), wanted), (turned, picture[::-1])):
            out = iruka.zeros(picture.shape, np.uint8)
            made = call(pictures, out=[None, out])
            assert made[1] is out
            np.testing.assert_array_equal(iruka.asnumpy(out), right)
            np.testing.assert_array_equal(iruka.asnumpy(made[0]), right)
