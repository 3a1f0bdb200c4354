"""Damaged, cut and hostile picture files: right or refused by name, never a crash, a hang or a partial picture."""

import gc
import resource
import struct
import time

import numpy as np
import pytest

import image_files
import iruka
from image_files import bmp, pam, pillow, smooth, tiff_of_tags
from iruka import image

FILES = image_files.small_files()


def decoded(data):
    return iruka.asnumpy(image.imdecode(data, "unchanged"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_anywhere_is_an_error_or_whole(name):
    """A picture's last bytes may be needless: padding, an animation's later frames, the end of a text."""
    data, format = FILES[name], image.peek(FILES[name]).format
    want = decoded(data)
    refused = 0
    for size in range(len(data)):
        try:
            got = decoded(data[:size])
        except ValueError as error:
            message = str(error)
            assert message.startswith("imdecode: ")
            assert format in message or "JPEG" in message  # the first bytes may name no format yet
            refused += 1
        else:
            if name.startswith("text") and data[:size][-1:].isdigit():
                got.flat[-1] = want.flat[-1]  # a number's last digits are not missed
            np.testing.assert_array_equal(got, want, err_msg=f"cut to {size} of {len(data)} bytes")
    assert refused > 0.3 * len(data)


@pytest.mark.parametrize("name", FILES)
def test_flipped_bits_never_crash_or_print(name, capfd):
    random = np.random.default_rng(2026)
    picture = None
    pool = iruka.get_default_memory_pool()
    gc.collect()  # what cycles of earlier tests still hold
    before = pool.used_bytes()
    for _ in range(300):
        data = bytearray(FILES[name])
        for _ in range(random.integers(1, 9)):
            data[random.integers(len(data))] ^= 1 << random.integers(8)
        for options in ({"mode": "unchanged"}, {"mode": "gray", "roi": (1, 1, 1, 1)}):
            try:
                picture = image.imdecode(bytes(data), max_pixels=1 << 20, **options)
            except ValueError as error:
                assert str(error).startswith("imdecode: ")
            else:
                assert picture.size > 0
    del picture
    assert pool.used_bytes() == before
    assert capfd.readouterr() == ("", "")


def hostile():
    """Headers that promise much more than a file holds."""
    side = 60000
    gif = bytearray(FILES["flat.gif"])
    gif[6:10] = struct.pack("<HH", side, side)
    wide = bytearray(FILES["lossless.webp"])
    at = wide.index(b"VP8L") + 9
    wide[at : at + 4] = struct.pack("<I", 16383 | 16383 << 14)
    return {
        "ppm": b"P6 %d %d 255\n" % (side, side) + bytes(100),
        "text.ppm": b"P3 %d %d 255\n" % (side, side) + b"1 " * 50,
        "pam": pam(smooth(3, 3)).replace(b"DEPTH 3", b"DEPTH 3000000000"),
        "ppm of no size": b"P6 0 3 255\n",
        "ppm of a huge number": b"P6 99999999999999999999 3 255\n",
        "bmp": bmp(side, side, 24, bytes(100)),
        "bmp of negative width": bmp(3, -3, 24, bytes(100)),
        "bmp of the lowest height": bmp(-(2**31), 1, 24, bytes(100)),
        "bmp of runs": bmp(side, side, 8, bytes([0, 1]), compression=1),
        "gif": bytes(gif),
        "webp": bytes(wide),
        "tiff": tiff_of_tags({256: side, 257: side, 258: 8, 262: 1, 277: 1, 278: side}, bytes(100)),
        "tiff of white": tiff_of_tags({256: 16000, 257: 16000, 258: 8, 259: 8, 262: 1, 277: 1, 278: 9}, bytes(100)),
        "tiff of vast tiles": tiff_of_tags(
            {256: 3, 257: 3, 258: 8, 262: 1, 277: 1, 322: 65520, 323: 65520}, bytes(100), tiled=True
        ),
    }


@pytest.mark.parametrize("name", hostile())
def test_promises_are_refused_before_memory_is_taken(name):
    data = hostile()[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    with pytest.raises(ValueError, match="^imdecode: "):
        image.imdecode(data)
    assert time.process_time() - start < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


def test_errors_name_file_format_and_rule(tmp_path):
    cut = {
        "rgb.bmp": "truncated BMP: .* bytes cannot hold the 13 x 9 pixels",
        "rgb.ppm": "truncated PNM: .* bytes cannot hold the 13 x 9 pixels",
        "flat.gif": "truncated GIF: its .* bytes end in row",
        "lossy.webp": "truncated WebP: its .* bytes end before",
        "rgb.tif": "damaged TIFF: near row 0 of 9 .*: Read error",
        "text.ppm": "truncated PNM: ",
    }
    for name, words in cut.items():
        path = tmp_path / name
        path.write_bytes(FILES[name][: -(len(FILES[name]) // 6 + 1)] if name != "rgb.tif" else FILES[name][:-5])
        with pytest.raises(ValueError, match=f"imread: '.*{name}': {words}"):
            image.imread(path)
    with pytest.raises(ValueError, match="damaged BMP: row 0 has an index outside the palette of 2 colours"):
        image.imdecode(bmp(1, 4, 8, bytes([0, 1, 2, 1]), palette=bytes(8)))
    with pytest.raises(ValueError, match="damaged BMP: a run leaves row 0"):
        image.imdecode(bmp(1, 4, 8, bytes([9, 1, 0, 1]), compression=1, palette=bytes(1024)))
    with pytest.raises(ValueError, match="this BMP has 24 bits per pixel in compression 4"):
        image.imdecode(bmp(1, 1, 24, bytes(4), compression=4))
    with pytest.raises(ValueError, match="damaged BMP: a channel's mask has gaps"):
        image.imdecode(bmp(1, 1, 32, bytes(4), compression=3, masks=struct.pack("<III", 5, 0xFF00, 0xFF0000)))


def test_a_fax_or_jpeg_inside_a_tiff_is_never_partly_grey():
    """libtiff warns of missing data and goes on; here that is an error."""
    for options in (
        {"compression": "jpeg"},
        {"mode": "1", "compression": "group3"},
        {"mode": "1", "compression": "group4"},
    ):
        data = pillow(smooth(64, 64), "tiff", **options)
        start = 8 + data[8:].index(b"\xff\xd8") if options["compression"] == "jpeg" else 8
        with pytest.raises(ValueError, match="damaged TIFF: near row"):
            damaged = bytearray(data)
            middle = (start + len(data)) // 2
            damaged[middle : middle + 40] = b"\xff\xd9" * 20
            image.imdecode(bytes(damaged))
