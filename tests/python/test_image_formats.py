"""Every format that iruka.image reads and writes, against Pillow, OpenCV and tifffile."""

import io
import pathlib
import struct

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageOps

import image_files
import iruka
from image_files import bmp, pam, pillow, smooth, tiff, tiff_of_tags
from iruka import image

cv2 = pytest.importorskip("cv2")

SIZES = [(1, 1), (1, 7), (9, 1), (5, 8), (33, 47), (130, 257)]


def decoded(data, mode="rgb", **options):
    return iruka.asnumpy(image.imdecode(data, mode, **options))


def by_pillow(data, mode="RGB"):
    return np.asarray(Image.open(io.BytesIO(data)).convert(mode))


def agree(got, want, tolerance=0):
    assert got.shape == want.shape
    np.testing.assert_allclose(got.astype(int), want.astype(int), atol=tolerance)


FILES = image_files.small_files()
LOSSY = {"color.jpg", "gray.jpg", "progressive.jpg", "cmyk.jpg", "cmyk.tif", "jpeg.tif", "ycbcr.tif"}
PILLOW_CANNOT = {"words.pam", "words.tif", "planes.tif", "float.tif"}


@pytest.mark.parametrize("name", [name for name in FILES if name not in PILLOW_CANNOT])
def test_colours_are_pillows(name):
    data = FILES[name]
    if "cmyk" in name:  # Pillow multiplies inks otherwise
        want = np.asarray(Image.open(io.BytesIO(data))).astype(int)
        rgb = ((255 - want[..., :3]) * (255 - want[..., 3:]) + 127) // 255
        agree(decoded(data), rgb, 1)
        return
    tolerance = 1 if name in LOSSY else 0
    agree(decoded(data), by_pillow(data), tolerance)
    agree(decoded(data, "bgr"), by_pillow(data)[..., ::-1], tolerance)
    agree(decoded(data, "rgba"), by_pillow(data, "RGBA"), tolerance)
    # JPEG's grey is its luma channel; of the palettes' and alpha's colours Pillow rounds in another order.
    agree(decoded(data, "gray"), np.asarray(Image.fromarray(by_pillow(data)).convert("L")), 2 if tolerance else 0)
    agree(decoded(data, "ycbcr"), np.asarray(Image.fromarray(by_pillow(data)).convert("YCbCr")), 2 if tolerance else 1)


@pytest.mark.parametrize(
    "name", ["color.jpg", "rgb.png", "lossy.webp", "rgb.bmp", "rgb.ppm", "rgb.tif", "tiff_lzw.tif"]
)
def test_colours_are_opencvs(name):
    want = cv2.imdecode(np.frombuffer(FILES[name], np.uint8), cv2.IMREAD_COLOR)
    agree(decoded(FILES[name], "bgr"), want, 1 if name.endswith(("jpg", "webp")) else 0)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_bmp(mode, size):
    data = pillow(smooth(*size, 4), "bmp", mode)
    agree(decoded(data, "rgba"), by_pillow(data, "RGBA"))
    if mode != "P":  # its colours may all be grey
        assert image.peek(data).shape[2:] == {"1": (), "L": ()}.get(mode, (3,))  # Pillow marks no alpha


def padded(rows):
    """BMP's rows: from the last to the first, each filled up to four bytes."""
    return b"".join(row + bytes(-len(row) % 4) for row in rows)


def test_bmp_of_16_bits():
    pixels = np.random.default_rng(0).integers(0, 65536, (5, 7)).astype("<u2")
    rows = padded([row.tobytes() for row in pixels[::-1]])
    red, green, blue = (pixels >> 10) & 31, (pixels >> 5) & 31, pixels & 31
    want = np.stack([red, green, blue], -1)
    agree(decoded(bmp(5, 7, 16, rows)), np.rint(want * 255 / 31))
    agree(decoded(bmp(5, 7, 16, rows)), by_pillow(bmp(5, 7, 16, rows)), 1)
    masks = struct.pack("<III", 0xF800, 0x7E0, 0x1F)
    data = bmp(5, 7, 16, rows, compression=3, masks=masks)
    agree(decoded(data), by_pillow(data), 1)
    assert decoded(data)[..., 1].tolist() == np.rint(((pixels >> 5) & 63) * 255 / 63).astype(int).tolist()


def test_bmp_of_32_bits():
    pixels = np.random.default_rng(1).integers(0, 256, (4, 3, 4)).astype(np.uint8)  # blue, green, red, something
    data = bmp(-4, 3, 32, pixels.tobytes())
    agree(decoded(data, "unchanged"), pixels[..., 2::-1])
    agree(decoded(data), by_pillow(data))
    masks = struct.pack("<IIII", 0xFF000000, 0xFF0000, 0xFF00, 0xFF)
    data = bmp(-4, 3, 32, pixels.tobytes(), compression=6, masks=masks)
    agree(decoded(data, "unchanged"), pixels[..., ::-1])
    masks = struct.pack("<III", 0x3FF00000, 0xFFC00, 0x3FF)
    words = np.random.default_rng(2).integers(0, 1 << 30, (4, 3)).astype("<u4")
    data = bmp(4, 3, 32, words[::-1].tobytes(), compression=3, masks=masks)
    want = np.stack([words >> 20 & 1023, words >> 10 & 1023, words & 1023], -1)
    agree(decoded(data), np.rint(want * 255 / 1023))


def test_bmp_of_os2():
    rows = padded([bytes(range(9)), bytes(range(9, 18))])
    agree(decoded(bmp(2, 3, 24, rows, core=True)), np.arange(18).reshape(2, 3, 3)[::-1, :, ::-1])
    palette = bytes([1, 2, 3, 4, 5, 6])
    data = bmp(1, 5, 1, padded([b"\xa8"]), palette=palette, core=True)
    agree(decoded(data), np.array([[[6, 5, 4], [3, 2, 1]] * 2 + [[6, 5, 4]]]))


def test_bmp_of_runs():
    palette = b"".join(struct.pack("<BBBB", i, 255 - i, i // 2, 0) for i in range(256))
    runs = bytes([3, 7, 0, 3, 1, 2, 3, 0, 0, 0, 0, 2, 2, 1, 2, 9, 0, 1])
    data = bmp(4, 6, 8, runs, compression=1, palette=palette)
    indices = np.zeros((4, 6), int)
    indices[3] = [7, 7, 7, 1, 2, 3]
    indices[1, 2:4] = 9
    want = np.stack([indices // 2, 255 - indices, indices], -1)
    agree(decoded(data), want)
    runs = bytes([5, 0x12, 0, 5, 0x34, 0x56, 0x70, 0, 0, 0, 2, 0xAB, 0, 1])
    data = bmp(2, 10, 4, runs, compression=2, palette=palette[:64])
    indices = np.zeros((2, 10), int)
    indices[1] = [1, 2, 1, 2, 1, 3, 4, 5, 6, 7]
    indices[0, :2] = [10, 11]
    agree(decoded(data), np.stack([indices // 2, 255 - indices, indices], -1))
    rows = b"".join(bytes([0, 8, *range(8 * y, 8 * y + 8), 3, y, 0, 0]) for y in range(5)) + b"\0\1"
    data = bmp(5, 11, 8, rows, compression=1, palette=palette)
    agree(decoded(data), by_pillow(data))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("interlace", [0, 1])
@pytest.mark.parametrize("mode", ["1", "L", "P"])
def test_gif(mode, interlace, size):
    data = pillow(smooth(*size), "gif", mode, interlace=interlace)
    agree(decoded(data), by_pillow(data))
    agree(decoded(data, "rgba"), by_pillow(data, "RGBA"))


def test_a_gifs_frame_lies_on_its_screen():
    data = bytearray(pillow(smooth(4, 6), "gif", "P", interlace=0))
    data[6:10] = struct.pack("<HH", 10, 9)  # a larger screen
    frame = data.index(b",\0\0\0\0\6\0\4\0")
    data[frame + 1 : frame + 5] = struct.pack("<HH", 3, 2)
    got = decoded(bytes(data), "unchanged")
    assert got.shape == (9, 10, 4)
    want = np.zeros((9, 10, 4), int)
    want[2:6, 3:9, :3] = by_pillow(pillow(smooth(4, 6), "gif", "P", interlace=0))
    want[2:6, 3:9, 3] = 255
    agree(got, want)
    data[6:10] = bytes(4)  # a screen without pixels grows to its frame
    assert decoded(bytes(data)).shape == (6, 9, 3)


@pytest.mark.parametrize("size", SIZES)
def test_pnm(size):
    for mode in ("1", "L", "RGB"):
        data = pillow(smooth(*size), "ppm", mode)
        agree(decoded(data), by_pillow(data))
    picture = smooth(*size, 3, np.uint16)
    for channels in (1, 2, 3, 4):
        samples = smooth(*size, 4, np.uint16)[..., :channels]
        got = decoded(pam(samples, 65535), "unchanged")
        assert got.dtype == np.uint16
        agree(got, samples[..., 0] if channels == 1 else samples)
        agree(decoded(pam(samples >> 8), "unchanged"), (samples[..., 0] if channels == 1 else samples) >> 8)
    header = b"P6\n%d %d\n65535\n" % (size[1], size[0])
    agree(decoded(header + picture.astype(">u2").tobytes(), "unchanged"), picture)
    agree(decoded(header + picture.astype(">u2").tobytes()), np.rint(picture * (255 / 65535)))


@pytest.mark.parametrize("maximum", [1, 3, 100, 254, 256, 1000, 65534])
def test_pnm_samples_are_scaled(maximum):
    values = np.arange(12).reshape(3, 4) * maximum // 11
    full = 255 if maximum < 256 else 65535
    want = (values * full * 2 + maximum) // (2 * maximum)
    text = b"P2 4 3 %d\n" % maximum + b"\n".join(b"%d" % v for v in values.ravel())
    agree(decoded(text, "unchanged"), want)
    binary = b"P5 4 3 %d\n" % maximum + values.astype(np.uint8 if maximum < 256 else ">u2").tobytes()
    agree(decoded(binary, "unchanged"), want)
    with pytest.raises(ValueError, match=r"imdecode: damaged PNM: sample .* exceeds"):
        image.imdecode(text[:-1] + b"65535 ")


def test_bits_of_a_text_need_no_spaces():
    agree(decoded(b"P1\n3 2\n#c\n01 1\n100", "gray"), np.array([[255, 0, 0], [0, 255, 255]]))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("options", [{"lossless": True, "exact": True}, {"quality": 80}, {"quality": 100, "method": 0}])
@pytest.mark.parametrize("channels", [3, 4])
def test_webp(channels, options, size):
    data = pillow(smooth(*size, channels), "webp", **options)
    agree(decoded(data, "unchanged"), np.asarray(Image.open(io.BytesIO(data))))
    agree(decoded(data, "rgba"), by_pillow(data, "RGBA"))
    if "lossless" in options:
        agree(decoded(data, "rgba")[..., :channels], smooth(*size, channels))


def test_a_webp_animations_frame_lies_on_its_canvas():
    first = Image.new("RGBA", (20, 12), (0, 0, 0, 0))
    patch = np.dstack([smooth(4, 6), np.full((4, 6), 100, np.uint8)])
    first.paste(Image.fromarray(patch), (8, 4))
    buffer = io.BytesIO()
    first.save(
        buffer, "webp", save_all=True, append_images=[Image.new("RGBA", (20, 12), (9, 8, 7, 255))], lossless=True
    )
    data = buffer.getvalue()
    agree(decoded(data, "rgba"), by_pillow(data, "RGBA"))
    agree(decoded(data, "rgba")[4:8, 8:14], patch)
    assert image.peek(data).shape == (12, 20, 4)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "zlib", "predictor": True},
        {"tile": (16, 32)},
        {"tile": (16, 16), "compression": "zlib", "predictor": True},
        {"rowsperstrip": 3, "byteorder": ">"},
        {"bigtiff": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_tiff(dtype, options, size):
    if dtype == np.float32:
        options = {name: value for name, value in options.items() if name != "predictor"}  # tifffile has none for it
    for channels in (1, 2, 3, 4):
        picture = smooth(*size, channels, dtype)
        extra = {"extrasamples": ["unassalpha"]} if channels in (2, 4) else {}
        photometric = "rgb" if channels >= 3 else "minisblack"
        data = tiff(picture, photometric=photometric, planarconfig="contig", **extra, **options)
        got = decoded(data, "unchanged")
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, picture)
        if channels == 1 or options.get("predictor"):
            continue
        planes = np.ascontiguousarray(np.moveaxis(picture, -1, 0))
        data = tiff(planes, photometric=photometric, planarconfig="separate", **extra, **options)
        np.testing.assert_array_equal(decoded(data, "unchanged"), picture)


@pytest.mark.parametrize("compression", ["raw", "packbits", "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate", "zstd"])
@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_tiff_compressions(mode, compression):
    for size in SIZES:
        picture = smooth(*size, 1, np.uint16) if mode == "I;16" else smooth(*size, 4)
        image_file = Image.fromarray(picture)
        image_file = image_file.convert("L").convert("F") if mode == "F" else image_file.convert(mode)
        buffer = io.BytesIO()
        image_file.save(buffer, "tiff", compression=compression)
        got = decoded(buffer.getvalue(), "unchanged")
        if mode == "CMYK":
            ink = np.asarray(image_file).astype(int)
            want = ((255 - ink[..., :3]) * (255 - ink[..., 3:]) + 127) // 255
        else:
            want = np.asarray(
                image_file.convert("L") if mode == "1" else image_file.convert("RGB") if mode == "P" else image_file
            )
        if mode == "P" and got.ndim == 2:  # a palette of greys
            want = want[..., 0]
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("compression", ["group3", "group4", "tiff_ccitt"])
@pytest.mark.parametrize("size", SIZES)
def test_tiff_faxes(compression, size):
    data = pillow(smooth(*size), "tiff", "1", compression=compression)
    agree(decoded(data, "gray"), by_pillow(data, "L"))


@pytest.mark.parametrize("size", [(16, 16), (33, 47)])
@pytest.mark.parametrize("mode", ["L", "RGB", "YCbCr"])
def test_tiffs_of_jpeg(mode, size):
    data = pillow(smooth(*size), "tiff", mode, compression="jpeg", quality=95)
    agree(decoded(data), by_pillow(data), 2)


def test_flat_tiffs_of_each_compression_are_not_taken_for_truncated():
    """A byte gives as many pixels as each compression can; white pages are in use."""
    page = np.full((2000, 3000, 3), 255, np.uint8)
    for compression in ("packbits", "tiff_lzw", "tiff_adobe_deflate", "zstd", "jpeg"):
        assert decoded(pillow(page, "tiff", compression=compression)).min() == 255
    for compression in ("group3", "group4"):
        assert decoded(pillow(page, "tiff", "1", compression=compression)).min() == 255
    for format in ("png", "webp", "jpeg", "gif"):
        assert decoded(pillow(page, format)).min() == 255


def test_subsampled_ycbcr_is_libtiffs():
    """Two by two pixels share their chroma; libtiff's unfiltered chroma is the reference's too."""
    luma = np.arange(64).reshape(8, 8) * 3 + 20
    blocks = b""
    for y in range(0, 8, 2):
        for x in range(0, 8, 2):
            blocks += bytes(luma[y : y + 2, x : x + 2].ravel().tolist()) + bytes([100 + y, 150 - x])
    data = tiff_of_tags({256: 8, 257: 8, 258: (8, 8, 8), 262: 6, 277: 3, 278: 8, 530: (2, 2)}, blocks)
    blue, red = np.mgrid[:8, :8][0] // 2 * 2 + 100 - 128.0, 150 - np.mgrid[:8, :8][1] // 2 * 2 - 128.0
    want = np.stack([luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue], -1)
    agree(decoded(data), np.clip(want, 0, 255), 2)
    turned = tiff_of_tags({256: 8, 257: 8, 258: (8, 8, 8), 262: 6, 274: 2, 277: 3, 278: 8, 530: (2, 2)}, blocks)
    agree(decoded(turned), decoded(data)[:, ::-1])
    agree(decoded(turned, apply_orientation=False), decoded(data))


def test_tiff_details():
    bits = tiff_of_tags({256: 4, 257: 1, 258: 2, 262: 1, 277: 1, 278: 1}, b"\x1b")
    agree(decoded(bits, "unchanged"), np.array([[0, 85, 170, 255]]))
    colors = tiff_of_tags(
        {256: 3, 257: 2, 258: (4, 4, 4), 262: 2, 277: 3, 278: 2}, bytes.fromhex("1234567890fedcba9870")
    )
    agree(decoded(colors), 17 * np.array([[[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[15, 14, 13], [12, 11, 10], [9, 8, 7]]]))
    white = tiff_of_tags({256: 4, 257: 1, 258: 4, 262: 0, 277: 1, 278: 1}, b"\x01\xef")
    agree(decoded(white, "unchanged"), np.array([[255, 238, 17, 0]]))
    premultiplied = tiff_of_tags(
        {256: 1, 257: 2, 258: (8,) * 4, 262: 2, 277: 4, 278: 2, 338: 1}, bytes([50, 100, 25, 100, 9, 9, 9, 0])
    )
    agree(decoded(premultiplied, "unchanged"), np.array([[[128, 255, 64, 100]], [[9, 9, 9, 0]]]))
    agree(decoded(premultiplied, "unchanged")[:1], by_pillow(premultiplied, "RGBA")[:1], 1)
    unspecified = tiff_of_tags({256: 1, 257: 1, 258: (8,) * 4, 262: 2, 277: 4, 278: 1, 338: 0}, bytes([1, 2, 3, 4]))
    agree(decoded(unspecified, "unchanged"), np.array([[[1, 2, 3]]]))
    many = tiff_of_tags({256: 1, 257: 2, 258: (8,) * 6, 262: 2, 277: 6, 278: 2, 338: (2, 0, 0)}, bytes(range(12)))
    agree(decoded(many, "unchanged"), np.array([[[0, 1, 2, 3]], [[6, 7, 8, 9]]]))


@pytest.mark.parametrize(
    "tags, words",
    [
        ({258: 12}, "unsigned samples of 12 bits"),
        ({258: 8, 339: 2}, "signed samples of 8 bits"),
        ({258: 16, 339: 3}, "float samples of 16 bits"),
        ({258: 8, 262: 8}, "photometric interpretation 8"),
        ({258: 8, 259: 34712}, "compression 34712"),
        ({258: 8, 259: 6}, "compression 6"),
        ({258: 8, 277: 20}, "20 samples per pixel"),
    ],
)
def test_tiffs_that_cannot_be_decoded_say_why(tags, words):
    data = tiff_of_tags({256: 4, 257: 1, 262: 1, 277: 1, 278: 1, **tags}, bytes(16))
    with pytest.raises(ValueError, match=f"imdecode: (this TIFF has {words}, which cannot be decoded|damaged TIFF)"):
        image.imdecode(data)


@pytest.mark.parametrize("format", ["jpeg", "png", "webp", "tiff"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_pillows(format, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"webp": {"lossless": True}, "jpeg": {"quality": 97, "subsampling": 0}}.get(format, {})
    data = pillow(smooth(5, 8), format, exif=exif, **options)
    stored = Image.open(io.BytesIO(data))
    want = np.asarray(ImageOps.exif_transpose(stored))
    tolerance = 1 if format == "jpeg" else 0
    agree(decoded(data), want, tolerance)
    agree(decoded(data, apply_orientation=False), np.asarray(smooth(5, 8)), 12 if format == "jpeg" else 0)
    info = image.peek(data)
    assert (info.format, info.shape, info.orientation) == (
        stored.format.replace("WEBP", "WebP"),
        want.shape,
        orientation,
    )


@pytest.mark.parametrize("shape", [(1, 1), (1, 7, 3), (9, 1, 4), (33, 47, 2), (130, 257, 3), (64, 64)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_tiff_comes_back(rng, shape, dtype):
    picture = (rng.random(shape) * 1000).astype(dtype)
    for level in (0, 6, 9):
        data = image.imencode("tif", iruka.asarray(picture), compression=level)
        got = decoded(data, "unchanged")
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, picture)
        if not (dtype == np.float32 or len(shape) == 3 and shape[2] == 2):
            np.testing.assert_array_equal(tifffile.imread(io.BytesIO(data)), picture)
    with Image.open(io.BytesIO(image.imencode("tif", (picture % 255).astype(np.uint8)))) as stored:
        np.testing.assert_array_equal(np.asarray(stored), (picture % 255).astype(np.uint8))


def test_a_predictor_makes_smooth_tiffs_smaller():
    assert len(image.imencode("tiff", smooth(200, 200))) < 0.5 * len(pillow(smooth(200, 200), "tiff"))


@pytest.mark.parametrize("shape", [(1, 1, 3), (9, 1, 4), (33, 47, 3), (130, 257, 4)])
def test_webp_comes_back(rng, shape):
    picture = rng.integers(0, 256, shape).astype(np.uint8)
    data = image.imencode("webp", iruka.asarray(picture), lossless=True)
    np.testing.assert_array_equal(decoded(data, "unchanged"), picture)
    np.testing.assert_array_equal(by_pillow(data, "RGBA" if shape[2] == 4 else "RGB"), picture)


def test_webp_quality_is_pillows():
    picture = smooth(100, 120)
    for quality in (30, 80, 100):
        ours, pillows = image.imencode("webp", picture, quality=quality), pillow(picture, "webp", quality=quality)
        assert ours == pillows or abs(len(ours) - len(pillows)) < 0.05 * len(pillows)
    gray = smooth(20, 30, 1)
    agree(decoded(image.imencode("webp", gray, lossless=True)), np.repeat(gray[..., None], 3, 2))
    two = smooth(20, 30, 2)
    agree(decoded(image.imencode("webp", two, lossless=True), "unchanged"), two[..., [0, 0, 0, 1]])


def test_formats_that_are_only_read():
    with pytest.raises(ValueError, match="imencode: BMP is only read; the format must be 'jpeg'"):
        image.imencode("bmp", smooth(3, 3))
    with pytest.raises(TypeError, match="a WebP holds uint8, not uint16"):
        image.imencode("webp", smooth(3, 3, 3, np.uint16))
    with pytest.raises(TypeError, match="a TIFF holds uint8, uint16 or float32, not float64"):
        image.imencode("tiff", smooth(3, 3).astype(float))
    with pytest.raises(ValueError, match="a side may have 16383 pixels at most"):
        image.imencode("webp", np.zeros((1, 16384, 3), np.uint8))


PHOTOGRAPHS = sorted(pathlib.Path(__file__).resolve().parents[3].joinpath("shared/data/dali").glob("*/*.jpg"))


@pytest.mark.skipif(not PHOTOGRAPHS, reason="the sample pictures are not here")
def test_sample_photographs_are_pillows_and_opencvs():
    pictures = image.imread_batch(PHOTOGRAPHS)
    for path, picture in zip(PHOTOGRAPHS, pictures):
        data = path.read_bytes()
        assert image.peek(path).shape == picture.shape
        agree(
            iruka.asnumpy(picture), np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")), 1
        )
        agree(iruka.asnumpy(picture), cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1], 1)
