"""iruka.image against Pillow on photographs and made pictures. Every kind of PNG and hostile bytes: tests/cpp."""

import importlib.resources
import io
import os
import threading

import numpy as np
import pytest
from PIL import Image, ImageOps

import iruka
from iruka import image

PHOTOGRAPHS = ["coffee.png", "astronaut.png", "rocket.jpg", "camera.png", "chessboard_RGB.png"]
MODES = {"rgb": "RGB", "rgba": "RGBA"}


def photograph(name):
    return importlib.resources.files("skimage") / "data" / name


def encoded(picture, format, **options):
    buffer = io.BytesIO()
    picture.save(buffer, format, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_photographs_decode_as_pillow_decodes_them(name, mode):
    want = np.asarray(Image.open(photograph(name)).convert(MODES[mode]))
    got = iruka.asnumpy(image.imread(photograph(name), mode=mode))
    assert got.dtype == np.uint8
    np.testing.assert_allclose(got.astype(int), want, atol=1 if name.endswith("jpg") else 0)


def test_grey_of_a_png_is_pillows_luma():
    want = np.asarray(Image.open(photograph("coffee.png")).convert("L"))
    np.testing.assert_array_equal(iruka.asnumpy(image.imread(photograph("coffee.png"), mode="gray")), want)


@pytest.mark.parametrize("format, options", [("png", {}), ("jpeg", {"quality": 97, "subsampling": 0})])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_pillows(rng, format, options, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(Image.fromarray(rng.integers(0, 256, (5, 8, 3)).astype(np.uint8)), format, exif=exif, **options)
    stored = Image.open(io.BytesIO(data))
    want = np.asarray(ImageOps.exif_transpose(stored))
    np.testing.assert_allclose(iruka.asnumpy(image.imdecode(data)).astype(int), want, atol=1)
    kept = iruka.asnumpy(image.imdecode(data, apply_orientation=False))
    np.testing.assert_allclose(kept.astype(int), np.asarray(stored), atol=1)


@pytest.mark.parametrize("shape", [(7, 9), (7, 9, 2), (7, 9, 3), (7, 9, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_comes_back_unchanged(rng, tmp_path, shape, dtype):
    picture = rng.integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
    image.imwrite(tmp_path / "a.png", iruka.asarray(picture))
    back = iruka.asnumpy(image.imread(tmp_path / "a.png", mode="unchanged"))
    assert back.dtype == dtype
    np.testing.assert_array_equal(back, picture)
    if dtype == np.uint8:
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), picture)


@pytest.mark.parametrize("quality", [40, 75, 95, 100])
def test_jpegs_are_as_good_as_pillows(quality):
    picture = np.asarray(Image.open(photograph("coffee.png")).convert("RGB"))

    def error(data):
        return np.abs(np.asarray(Image.open(io.BytesIO(data))).astype(int) - picture).mean()

    ours = image.imencode("jpeg", iruka.asarray(picture), quality=quality)
    pillows = encoded(Image.fromarray(picture), "jpeg", quality=quality)
    assert error(ours) == pytest.approx(error(pillows), rel=0.02)
    assert len(ours) == pytest.approx(len(pillows), rel=0.02)


def test_compression_makes_pngs_smaller(rng):
    smooth = iruka.asarray(np.cumsum(rng.integers(0, 3, (40, 60, 3)), 1).astype(np.uint8))
    small, large = (len(image.imencode("png", smooth, compression=level)) for level in (9, 0))
    assert small < large


def test_views_are_written_as_they_read(rng):
    picture = iruka.asarray(rng.integers(0, 256, (10, 12, 3)).astype(np.uint8))
    for view in (picture[::-1, ::2], picture.transpose(1, 0, 2), picture[..., ::-1]):
        back = image.imdecode(image.imencode("png", view))
        np.testing.assert_array_equal(iruka.asnumpy(back), iruka.asnumpy(view))


def test_errors_have_pythons_classes(tmp_path):
    with pytest.raises(OSError, match="imread: cannot open .*none.png.*: No such file or directory"):
        image.imread(tmp_path / "none.png")
    with pytest.raises(ValueError, match=r"imdecode: no JPEG.* or \w+ \(6 bytes\)"):
        image.imdecode(b"nobody")
    data = photograph("rocket.jpg").read_bytes()
    with pytest.raises(ValueError, match="imdecode: truncated JPEG: its 50000 bytes end in row"):
        image.imdecode(data[:50000])
    with pytest.raises(ValueError, match="640 x 427 pixels, more than max_pixels = 1000"):
        image.imdecode(data, max_pixels=1000)
    with pytest.raises(ValueError, match="mode must be"):
        image.imdecode(data, mode="cmyk")
    with pytest.raises(TypeError, match="a PNG holds uint8 or uint16, not float64"):
        image.imencode("png", iruka.zeros((3, 3)))
    with pytest.raises(ValueError, match="quality must be 1 to 100, not 101"):
        image.imencode("jpeg", iruka.zeros((3, 3), dtype=iruka.uint8), quality=101)


def test_nothing_is_printed(capfd):
    data = photograph("rocket.jpg").read_bytes()
    refused = 0
    for step in (97, 997, 9973):  # a JPEG has no checksum, so that some damage is only seen in the picture
        damaged = bytearray(data)
        for at in range(1000, len(data), step):
            damaged[at] ^= 0x55
        try:
            image.imdecode(bytes(damaged))
        except ValueError:
            refused += 1
    assert refused > 0
    assert capfd.readouterr() == ("", "")


def test_threads_decode_at_once():
    data = photograph("rocket.jpg").read_bytes()
    want = iruka.asnumpy(image.imdecode(data))
    results = []
    threads = [threading.Thread(target=lambda: results.append(iruka.asnumpy(image.imdecode(data)))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    for result in results:
        np.testing.assert_array_equal(result, want)


def test_permissions_of_a_replaced_file_are_kept(tmp_path):
    path, link = tmp_path / "private.png", tmp_path / "link.png"
    link.symlink_to(path)
    for mode in (0o600, 0o640, 0o444):
        path.touch()
        path.chmod(mode)
        for target in (path, link):
            image.imwrite(target, np.zeros((3, 3), "uint8"))
            assert path.stat().st_mode & 0o7777 == mode and path.stat().st_size > 0
    new = tmp_path / "new.png"
    mask = os.umask(0o027)
    try:
        image.imwrite(new, np.zeros((3, 3), "uint8"))
    finally:
        os.umask(mask)
    assert new.stat().st_mode & 0o7777 == 0o640


def test_names_that_are_not_utf_8(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff\xfe.png")
    picture = np.arange(12, dtype="uint8").reshape(2, 2, 3)
    image.imwrite(path, picture)
    np.testing.assert_array_equal(iruka.asnumpy(image.imread(os.fsdecode(path))), picture)
    with pytest.raises(OSError, match="missing"):
        image.imread(path + b".missing")
