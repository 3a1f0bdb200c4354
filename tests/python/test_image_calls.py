"""What functions of pictures are given: outputs that are among the pictures, numbers of other types, lists, errors."""

import io
import os
import tempfile

import cv2
import numpy as np
import pytest

import iruka
from image_files import small_files
from iruka import image

ROWS = np.arange(5 * 6 * 7 * 3, dtype=np.uint8).reshape(5, 6, 7, 3)
FUNCTIONS = {
    "flip": lambda x, out=None: image.flip(x, out=out),
    "median": lambda x, out=None: image.median_filter(x, 3, out=out),
    "box": lambda x, out=None: image.box_filter(x, 3, out=out),
    "equalize": lambda x, out=None: image.equalize(x, out=out),
    "clahe": lambda x, out=None: image.clahe(x, tiles=(2, 2), out=out),
    "cast": lambda x, out=None: image.Chain([image.Flip(False, True), image.Cast("uint8")])(x, out=out),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_outputs_may_be_other_pictures_of_the_call(name, rng):
    call = FUNCTIONS[name]
    pictures = rng.integers(0, 256, (9, 40, 50, 3), dtype=np.uint8)
    wanted = [iruka.asnumpy(call(one)) for one in pictures]
    shifted = iruka.array(pictures)
    behind = shifted[1:]
    assert call(shifted[:-1], out=behind) is behind
    np.testing.assert_array_equal(iruka.asnumpy(shifted[1:]), wanted[:-1])
    turned = iruka.array(pictures)
    call(turned[::-1], out=turned)
    np.testing.assert_array_equal(iruka.asnumpy(turned), wanted[::-1])
    a, b = iruka.array(pictures[0]), iruka.array(pictures[1])
    made = call([a, b], out=[b, a])
    assert made[0] is b and made[1] is a
    np.testing.assert_array_equal(iruka.asnumpy(b), wanted[0])
    np.testing.assert_array_equal(iruka.asnumpy(a), wanted[1])
    same = iruka.array(pictures)
    call(list(same), out=same)
    np.testing.assert_array_equal(iruka.asnumpy(same), wanted)


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", FUNCTIONS)
def test_outputs_may_be_numpys(name, rng):
    call = FUNCTIONS[name]
    pictures = rng.integers(0, 256, (9, 40, 50, 3), dtype=np.uint8)
    wanted = [iruka.asnumpy(call(one)) for one in pictures]
    assert np.shares_memory(call(pictures[:-1], out=pictures[1:]), pictures)
    np.testing.assert_array_equal(pictures[1:], wanted[:-1])


@pytest.mark.parametrize("name", ["equalize", "clahe"])
def test_equalisation_takes_lists_and_outputs_as_all_functions_do(name, rng):
    call = FUNCTIONS[name]
    pictures = [rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((8, 9), (10, 11, 3), (12, 13, 1))]
    wanted = [iruka.asnumpy(call(one)) for one in pictures]
    out = iruka.empty(pictures[1].shape, np.uint8)
    made = call(pictures, out=[None, out, None])
    assert made[1] is out
    for got, want in zip(made, wanted):
        np.testing.assert_array_equal(iruka.asnumpy(got), want)
    batch = np.stack([pictures[1]] * 2)
    into = iruka.empty(batch.shape, np.uint8)
    assert call([pictures[1]] * 2, out=into) is into and call(batch, out=into) is into
    np.testing.assert_array_equal(iruka.asnumpy(into[1]), wanted[1])
    with pytest.raises(ValueError, match="1 arrays to fill for 2 pictures"):
        call(pictures[:2], out=[None])
    with pytest.raises(ValueError, match=r"3 arrays to fill|must have 2 pictures"):
        call(batch, out=iruka.empty((3, *batch.shape[1:]), np.uint8))
    with pytest.raises(iruka.errors.ShapeError, match="has no pictures"):
        call(batch[:0])
    assert call([]) == []


def test_whole_numbers_that_are_floats_are_refused_at_every_call():
    p = ROWS[0]
    for _ in range(2):
        image.median_filter(p, 3), image.resize(p, (6, 6)), image.erode(p, 3), image.gaussian_filter(p, 1.0, 3)
        for call in (
            lambda: image.median_filter(p, 3.0),
            lambda: image.resize(p, (6.0, 6.0)),
            lambda: image.erode(p, 3.0),
            lambda: image.gaussian_filter(p, 1.0, 3.0),
            lambda: image.crop(p, (2.0, 2)),
        ):
            with pytest.raises(TypeError):
                call()


def test_numbers_that_float32_cannot_hold_are_refused():
    p, f = ROWS[0], ROWS[0].astype(np.float32)
    cases = [
        (lambda: image.resize(p, (10, 10), fit="not_smaller", roi=(0, 0, 1e-300, 1)), "too large"),
        (lambda: image.bilateral_filter(p, 5, 1e-20, 1.0), "sigma_color 1e-20 is too small for float32"),
        (lambda: image.bilateral_filter(p, 5, 1.0, 1e-170), "sigma_space 1e-170 is too small for float32"),
        (
            lambda: image.Chain([image.Normalize(0, 1e-40)]),
            "std must have a finite reciprocal in float32, but is 1e-40",
        ),
        (lambda: image.Chain([image.Normalize(0, 0)]), "std must have a finite reciprocal in float32, but is 0"),
        (lambda: image.Chain([image.Normalize(1e39, 1)]), "mean must be finite in float32, not 1e\\+39"),
        (lambda: image.contrast(f, 1e300), "contrast: the factor must be finite in float32, not 1e\\+300"),
        (lambda: image.contrast(f, 1e38, center=1e38), "contrast: center \\* \\(1 - factor\\) must be finite"),
        (lambda: image.pad(f.astype(np.float16), 1, value=70000), "pad: value 70000 is no float16"),
        (lambda: image.pad(p, 1, value=float("nan")), "pad: value nan is no uint8"),
        (lambda: image.box_filter(f.astype(np.float16), 3, mode="constant", value=70000), "value 70000 is no float16"),
        (lambda: image.erode(p, np.eye(3), iterations=10**9), "iterations must be 1 to 4096, not 1000000000"),
    ]
    for call, words in cases:
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_floats_are_padded_by_any_number(value, dtype, rng):
    picture = rng.normal(size=(4, 5, 2)).astype(dtype)
    made = iruka.asnumpy(image.pad(picture, ((1, 2), (3, 0)), value=value))
    wanted = np.pad(picture, ((1, 2), (3, 0), (0, 0)), constant_values=value)
    np.testing.assert_array_equal(made, wanted)
    moved = iruka.asnumpy(image.warp_affine(picture, [[1, 0, 2], [0, 1, 0]], filter="nearest", value=value))
    np.testing.assert_array_equal(moved[:, 2:], picture[:, :-2])
    np.testing.assert_array_equal(moved[:, :2], np.full((4, 2, 2), value, dtype))


def test_errors_name_the_function_and_the_value():
    p = ROWS[0]
    png = image.imencode("png", p)
    cases = [
        (TypeError, r"resize: \(height, width\) are two integers, not 5", lambda: image.resize(p, 5)),
        (TypeError, r"resize: \(height, width\) are two integers, not 'ab'", lambda: image.resize(p, "ab")),
        (TypeError, r"crop: \(height, width\) are two integers, not 5", lambda: image.crop(p, 5)),
        (ValueError, r"crop: \(y, x\) are two integers, not \(\)", lambda: image.crop(p, (2, 2), ())),
        (
            TypeError,
            r"the anchor's \(y, x\) are two integers, not 1",
            lambda: image.filter2d(p, np.ones((3, 3)), anchor=1),
        ),
        (TypeError, "apply: expected Chains, not Flip", lambda: image.apply([image.Flip()], [p])),
        (TypeError, "imencode: format must be a string, not None", lambda: image.imencode(None, p)),
        (TypeError, "quality must be an integer", lambda: image.imencode("jpeg", p, 95.5)),
        (ValueError, "quality", lambda: image.imencode("jpeg", p, 2**40)),
        (TypeError, "reducing_gap", lambda: image.imdecode(png, chain=image.Chain([]), reducing_gap="x")),
        (TypeError, "NoneType", lambda: image.peek(None)),
        (TypeError, "a picture is an array, not", lambda: image.imencode("png", None)),
        (ValueError, "imread: the path holds a NUL byte; imdecode takes the bytes", lambda: image.imread(png)),
        (TypeError, "imread: expected a path or a binary file, not NoneType", lambda: image.imread(None)),
        (TypeError, "imread: expected a path or a binary file, not list", lambda: image.imread(["a.png"])),
        (TypeError, "imwrite: expected a path or a binary file, not ndarray", lambda: image.imwrite(p, "a.png")),
        (ValueError, "contact_sheet: expected a list of pictures, not one", lambda: image.contact_sheet(p)),
        (ValueError, "contact_sheet: expected a list of pictures, not one", lambda: image.contact_sheet(p[..., 0])),
        (
            TypeError,
            "imread_batch: sources are several paths, not one: '/tmp/a.png'",
            lambda: image.imread_batch("/tmp/a.png"),
        ),
        (TypeError, "imdecode_batch: sources are the bytes of several files", lambda: image.imdecode_batch(png)),
    ]
    for error, words, call in cases:
        with pytest.raises(error, match=words):
            call()
    np.testing.assert_array_equal(iruka.asnumpy(image.Chain([image.Crop((2, 2), np.array([0, 1]))])(p)), p[:2, 1:3])
    np.testing.assert_array_equal(
        iruka.asnumpy(image.box_filter(p, np.array(3))), iruka.asnumpy(image.box_filter(p, 3))
    )
    for truth in (1, np.bool_(True)):
        np.testing.assert_array_equal(iruka.asnumpy(image.imdecode(png, apply_orientation=truth)), p)
    assert image.imencode("webp", p, lossless=1) == image.imencode("webp", p, lossless=True)


def test_one_bad_item_is_never_an_error_of_a_batch(tmp_path):
    p = ROWS[0]
    png, path = image.imencode("png", p), tmp_path / "a.png"
    image.imwrite(path, p)
    for made in (image.imdecode_batch([png, None, 3, png]), image.imread_batch([path, None, 3.5, str(path)])):
        assert isinstance(made[1], TypeError) and isinstance(made[2], TypeError)
        np.testing.assert_array_equal(iruka.asnumpy(made[0]), p)
        np.testing.assert_array_equal(iruka.asnumpy(made[3]), p)


def test_pictures_are_written_to_files_of_any_name(tmp_path):
    p = ROWS[0]
    with open(os.fsencode(tmp_path / "b.png"), "wb") as file:
        image.imwrite(file, p)
    np.testing.assert_array_equal(iruka.asnumpy(image.imread(tmp_path / "b.png")), p)
    for file in (tempfile.TemporaryFile(), io.BytesIO()):
        with file, pytest.raises(ValueError, match="imwrite: format must be given"):
            image.imwrite(file, p)
    with tempfile.TemporaryFile() as file:
        image.imwrite(file, p, format="png")
        file.seek(0)
        np.testing.assert_array_equal(iruka.asnumpy(image.imread(file)), p)


def test_a_gif_may_lack_its_trailer():
    gif = small_files()["flat.gif"]
    assert gif.endswith(b";")
    whole = iruka.asnumpy(image.imdecode(gif, "unchanged"))
    np.testing.assert_array_equal(iruka.asnumpy(image.imdecode(gif[:-1], "unchanged")), whole)


@pytest.mark.parametrize(
    "dtype, shape", [("uint8", (40, 50, 3)), ("uint8", (3, 4, 3)), ("uint16", (300, 400)), ("uint16", (5, 6, 2))]
)
@pytest.mark.parametrize("bins, ends", [(7, None), (256, None), (10, (3.5, 200.25)), (5, (100, 70000)), (3, (-9, -1))])
def test_histograms_of_integers_with_bins(dtype, shape, bins, ends, rng):
    picture = rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    made = iruka.asnumpy(image.histogram(picture, bins, ends))
    limits = ends or (0, 256 if dtype == "uint8" else 65536)
    planes = [picture] if picture.ndim == 2 else np.moveaxis(picture, 2, 0)
    wanted = [np.histogram(plane, bins, limits)[0] for plane in planes]
    np.testing.assert_array_equal(made, wanted[0] if picture.ndim == 2 else wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "uint16"])
def test_fields_whose_displacements_exceed_32_bits(dtype, rng):
    a = rng.integers(0, 255, (70000, 1)).astype(dtype)
    b = rng.integers(0, 255, (1, 40000)).astype(dtype)
    field, distances = image.nnf(a, b, 1, window=(70000, 3))
    difference = (a.astype(float) - b[:, :4].astype(float)) ** 2
    np.testing.assert_array_equal(iruka.asnumpy(field)[..., 0], 0)
    np.testing.assert_array_equal(iruka.asnumpy(field)[..., 1], difference.argmin(axis=1)[:, None])
    np.testing.assert_array_equal(iruka.asnumpy(distances), difference.min(axis=1)[:, None])


def test_medians_of_opencv_after_crossing_outputs(rng):
    pictures = rng.integers(0, 256, (4, 33, 35), dtype=np.uint8)
    wanted = [cv2.medianBlur(one, 3) for one in pictures]
    given = [iruka.array(one) for one in pictures]
    image.median_filter(given, 3, out=given[1:] + given[:1])
    for got, want in zip(given[1:] + given[:1], wanted):
        np.testing.assert_array_equal(iruka.asnumpy(got), want)
