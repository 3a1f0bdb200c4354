"""Regions, scaled decoding, dtypes, given arrays, headers, batches and open files, for every format."""

import io
import os

import numpy as np
import pytest
from PIL import Image

import image_files
import iruka
from image_files import pillow, smooth, tiff
from iruka import image

FILES = image_files.small_files()
MODES = ["rgb", "bgr", "gray", "rgba", "ycbcr", "unchanged"]


def decoded(data, mode="rgb", **options):
    return iruka.asnumpy(image.imdecode(data, mode, **options))


def modes_of(name):
    return ["unchanged"] if name == "float.tif" else MODES


@pytest.mark.parametrize("name", FILES)
def test_a_region_is_the_cropped_picture(name):
    for mode in modes_of(name):
        whole = decoded(FILES[name], mode)
        height, width = whole.shape[:2]
        for y, x, h, w in [
            (0, 0, height, width),
            (0, 0, 1, 1),
            (height - 1, width - 1, 1, 1),
            (1, 1, 1, width - 1),
            (0, 1, height, 1),
            (height // 2, width // 3, (height + 1) // 2, width // 2),
        ]:
            got = decoded(FILES[name], mode, roi=(y, x, h, w))
            np.testing.assert_array_equal(got, whole[y : y + h, x : x + w])


@pytest.mark.parametrize("options", [{"tile": (16, 32)}, {"rowsperstrip": 7}, {"rowsperstrip": 70}], ids=str)
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_regions_read_few_tiles_and_strips(options, compression):
    random = np.random.default_rng(0)
    picture = random.integers(0, 65536, (70, 90, 3)).astype(np.uint16)
    together = tiff(picture, photometric="rgb", compression=compression, **options)
    planes = np.ascontiguousarray(picture.transpose(2, 0, 1))
    apart = tiff(planes, photometric="rgb", planarconfig="separate", compression=compression, **options)
    for data in (together, apart):
        for _ in range(30):
            h, w = random.integers(1, 71), random.integers(1, 91)
            y, x = random.integers(0, 71 - h), random.integers(0, 91 - w)
            got = decoded(data, "unchanged", roi=(y, x, h, w))
            np.testing.assert_array_equal(got, picture[y : y + h, x : x + w])


def jpegs():
    picture = np.cumsum(np.random.default_rng(0).integers(-20, 21, (131, 173, 3)), 1).astype(np.uint8)
    yield "gray", pillow(picture[..., 0], "jpeg", quality=90)
    for subsampling in (0, 1, 2):
        yield f"chroma {subsampling}", pillow(picture, "jpeg", quality=90, subsampling=subsampling)
    yield "progressive", pillow(picture, "jpeg", quality=90, progressive=True)
    yield "restarts", pillow(picture, "jpeg", quality=75, restart_marker_blocks=7)
    yield "inks", pillow(picture, "jpeg", "CMYK", quality=90)
    cv2 = pytest.importorskip("cv2")
    for name in ("411", "440"):
        factor = getattr(cv2, f"IMWRITE_JPEG_SAMPLING_FACTOR_{name}")
        yield name, cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, factor])[1].tobytes()


@pytest.mark.parametrize("mode", MODES)
def test_regions_of_jpegs_at_every_size(mode):
    """Skipped rows and columns leave the interpolated chroma as it is, at each scale."""
    random = np.random.default_rng(1)
    for name, data in jpegs():
        whole = {}
        for divisor in (1, 2, 4, 8):
            size = -(-131 // divisor), -(-173 // divisor)
            whole[divisor] = decoded(data, mode, at_least=size)
            assert whole[divisor].shape[:2] == size
        for _ in range(40):
            h, w = random.choice([1, 2, 7, 30, 100, 131]), random.choice([1, 3, 9, 40, 120, 173])
            y, x = random.integers(0, 132 - h), random.integers(0, 174 - w)
            divisor = random.choice([1, 2, 4, 8])
            wanted = -(-h // divisor), -(-w // divisor)
            for used in (8, 4, 2, 1):
                window = np.s_[y // used : -(-(y + h) // used), x // used : -(-(x + w) // used)]
                part = whole[used][window]
                if part.shape[0] >= wanted[0] and part.shape[1] >= wanted[1]:
                    break
            got = decoded(data, mode, roi=(y, x, h, w), at_least=wanted)
            np.testing.assert_array_equal(got, part, err_msg=f"{name} roi {(y, x, h, w)} at_least {wanted}")


@pytest.mark.parametrize("divisor", [2, 4, 8])
def test_a_smaller_jpeg_is_pillows_draft(divisor):
    for name, data in jpegs():
        if name == "inks":
            continue
        draft = Image.open(io.BytesIO(data))
        draft.draft(draft.mode, (-(-173 // divisor), -(-131 // divisor)))
        want = np.asarray(draft.convert("RGB")).astype(int)
        np.testing.assert_allclose(decoded(data, at_least=want.shape[:2]).astype(int), want, atol=1)
    data = pillow(smooth(40, 60), "png")
    np.testing.assert_array_equal(decoded(data, at_least=(5, 5)), smooth(40, 60))  # others keep their size


@pytest.mark.parametrize("orientation", range(1, 9))
def test_regions_and_sizes_are_of_the_upright_picture(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    for format, options in [("png", {}), ("tiff", {}), ("jpeg", {"subsampling": 2})]:
        data = pillow(smooth(24, 40), format, exif=exif, **options)
        whole = decoded(data)
        height, width = whole.shape[:2]
        for y, x, h, w in [(0, 0, 3, 5), (height - 3, 1, 3, 7), (2, width - 9, 11, 9)]:
            np.testing.assert_array_equal(decoded(data, roi=(y, x, h, w)), whole[y : y + h, x : x + w])
    assert decoded(data, at_least=(height // 2, width // 4)).shape == (height // 2, width // 2, 3)


@pytest.mark.parametrize("name", FILES)
def test_samples_are_scaled_to_either_dtype(name):
    if name == "float.tif":
        for options in ({"dtype": "uint8"}, {"mode": "rgb"}):
            with pytest.raises(ValueError, match="this TIFF holds float32 samples"):
                image.imdecode(FILES[name], **{"mode": "unchanged", **options})
        return
    stored = decoded(FILES[name], "unchanged")
    for mode in MODES:
        narrow, wide = decoded(FILES[name], mode, dtype=np.uint8), decoded(FILES[name], mode, dtype="uint16")
        assert narrow.dtype == np.uint8 and wide.dtype == np.uint16
        if mode == "unchanged" and stored.dtype == np.uint8:
            np.testing.assert_array_equal(wide, stored.astype(int) * 257)
        if stored.dtype == np.uint16:
            exact = np.floor(wide.astype(float) * 255 / 65535 + 0.5)
            np.testing.assert_allclose(narrow, exact, atol=1 if mode in ("gray", "ycbcr") else 0)
        if mode in ("rgb", "bgr", "rgba") and stored.dtype == np.uint8:
            np.testing.assert_array_equal(wide, narrow.astype(int) * 257)
    with pytest.raises(TypeError, match="imdecode: the dtype must be uint8 or uint16, not float32"):
        image.imdecode(FILES[name], dtype="float32")


def test_given_arrays_are_filled():
    for name, data in FILES.items():
        mode = modes_of(name)[0]
        want = decoded(data, mode)
        for empty in (np.empty(want.shape, want.dtype), iruka.empty(want.shape, want.dtype)):
            if isinstance(empty, iruka.ndarray) and iruka.default_device().name != "cpu":
                continue
            assert image.imdecode(data, mode, out=empty) is empty
            np.testing.assert_array_equal(iruka.asnumpy(empty), want)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = pillow(smooth(5, 8), "png", exif=exif)
    out = np.empty((8, 5, 3), np.uint8)
    image.imdecode(turned, out=out)
    np.testing.assert_array_equal(out, decoded(turned))
    with pytest.raises(ValueError, match=r"out has shape \(5, 8, 3\), and the picture \(8, 5, 3\)"):
        image.imdecode(turned, out=np.empty((5, 8, 3), np.uint8))
    with pytest.raises(TypeError, match="out has dtype uint16, and the picture uint8"):
        image.imdecode(turned, out=np.empty((8, 5, 3), np.uint16))
    with pytest.raises(ValueError, match="out must be C-contiguous"):
        image.imdecode(turned, out=np.empty((8, 5, 6), np.uint8)[..., ::2])
    with pytest.raises(TypeError, match="out must be an array, not .*list"):
        image.imdecode(turned, out=[])
    locked = np.empty((8, 5, 3), np.uint8)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        image.imdecode(turned, out=locked)


@pytest.mark.parametrize("name", FILES)
def test_peek_agrees_with_decoding(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    picture = decoded(FILES[name], "unchanged")
    names = {"jpg": "JPEG", "png": "PNG", "webp": "WebP", "tif": "TIFF", "bmp": "BMP", "gif": "GIF"}
    want = (names.get(name.split(".")[1], "PNM"), picture.shape, picture.dtype, 1)
    assert image.peek(path) == image.peek(FILES[name]) == image.peek(io.BytesIO(FILES[name])) == want
    with path.open("rb") as file:
        assert image.peek(file) == want
    info = image.peek(str(path))
    assert (info.format, info.shape, info.dtype, info.orientation) == want


def test_peek_reads_no_pixel():
    data = pillow(smooth(300, 400), "jpeg")
    assert image.peek(data[:1000]).shape == (300, 400, 3)
    with pytest.raises(ValueError, match="peek: no JPEG, "):
        image.peek(b"")
    with pytest.raises(OSError, match="peek: cannot open 'none.jpg'"):
        image.peek("none.jpg")


def test_paths_bytes_and_open_files(tmp_path):
    picture = smooth(20, 30)
    for ending in ("png", "jpg", "webp", "tif"):
        path = tmp_path / f"a.{ending}"
        image.imwrite(path, picture)
        want = iruka.asnumpy(image.imread(path))
        for source in (str(path), os.fsencode(path), io.BytesIO(path.read_bytes())):
            np.testing.assert_array_equal(iruka.asnumpy(image.imread(source)), want)
        with path.open("rb") as file:
            np.testing.assert_array_equal(iruka.asnumpy(image.imread(file)), want)
        data = path.read_bytes()
        for source in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
            np.testing.assert_array_equal(decoded(source), want)
        stream = io.BytesIO()
        image.imwrite(stream, picture, format=ending)
        assert stream.getvalue() == data
        with (tmp_path / f"b.{ending}").open("wb") as file:
            image.imwrite(file, picture)
        assert (tmp_path / f"b.{ending}").read_bytes() == data
        image.imwrite(tmp_path / "plain", picture, format=f".{ending.upper()}")
        assert (tmp_path / "plain").read_bytes() == data
    (tmp_path / "bad.png").write_bytes(data[:20])
    with (tmp_path / "bad.png").open("rb") as file, pytest.raises(ValueError, match="imread: '.*bad.png': "):
        image.imread(file)
    with pytest.raises(ValueError, match="imwrite: format must be given, since the open file's name, '', has"):
        image.imwrite(io.BytesIO(), picture)
    with pytest.raises(TypeError, match="bytes-like"):
        image.imread(io.StringIO("text"))


def test_a_file_may_have_a_wrong_ending(tmp_path):
    for name, data in FILES.items():
        path = tmp_path / "picture.jpg"
        path.write_bytes(data)
        mode = modes_of(name)[0]
        np.testing.assert_array_equal(iruka.asnumpy(image.imread(path, mode)), decoded(data, mode))


def test_a_batch_has_each_files_own_error(tmp_path):
    names = list(FILES)
    for name in names:
        (tmp_path / name).write_bytes(FILES[name])
    (tmp_path / "cut.png").write_bytes(FILES["rgb.png"][:60])
    (tmp_path / "empty.jpg").write_bytes(b"")
    names[3:3] = ["cut.png", "none.gif", "empty.jpg"]
    got = image.imread_batch([tmp_path / name for name in names], "unchanged")
    assert len(got) == len(names)
    for name, item in zip(names, got):
        if name in FILES:
            np.testing.assert_array_equal(iruka.asnumpy(item), decoded(FILES[name], "unchanged"))
        else:
            assert isinstance(item, OSError if name == "none.gif" else ValueError)
            assert "imread_batch: " in str(item) and name in str(item)
    data = [FILES["rgb.png"], b"nothing", FILES["color.jpg"]]
    first, second, third = image.imdecode_batch(iter(data), "gray", roi=(1, 2, 3, 4))
    np.testing.assert_array_equal(iruka.asnumpy(first), decoded(data[0], "gray")[1:4, 2:6])
    assert isinstance(second, ValueError) and "imdecode_batch: file 1: no JPEG" in str(second)
    np.testing.assert_array_equal(iruka.asnumpy(third), decoded(data[2], "gray")[1:4, 2:6])
    assert image.imread_batch([]) == [] == image.imdecode_batch([])
    with pytest.raises(ValueError, match="mode must be"):
        image.imdecode_batch(data, "cmyk")
    assert isinstance(image.imdecode_batch([None])[0], TypeError)


def test_a_large_batch_is_the_same_as_one_by_one():
    exif = Image.Exif()
    files = []
    for k in range(60):
        exif[0x0112] = k % 8 + 1
        files.append(pillow(smooth(20 + k, 30), "jpeg" if k % 2 else "png", exif=exif))
    for got, data in zip(image.imdecode_batch(files), files):
        np.testing.assert_array_equal(iruka.asnumpy(got), decoded(data))


def test_wrong_options_say_so():
    data = FILES["rgb.png"]
    for roi in [(0, 0, 10, 1), (0, 0, 1, 14), (-1, 0, 1, 1), (0, 0, 0, 1), (9, 0, 1, 1), (0, 2**62, 1, 2**62)]:
        with pytest.raises(ValueError, match=r"imdecode: the region .* is empty or leaves the 9 x 13"):
            image.imdecode(data, roi=roi)
    with pytest.raises(ValueError, match="roi must be "):
        image.imdecode(data, roi=(1, 2, 3))
    with pytest.raises(ValueError, match="at_least must be "):
        image.imdecode(data, at_least=(1, 2, 3))
    with pytest.raises(ValueError, match="at_least must be a height and a width of 1 or more"):
        image.imdecode(data, at_least=(0, 2))
    with pytest.raises(ValueError, match="max_pixels = 100"):
        image.imdecode(data, max_pixels=100)
    for name in ("RGB", "Grey", "YCbCr"):
        assert decoded(data, name).shape[:2] == (9, 13)
