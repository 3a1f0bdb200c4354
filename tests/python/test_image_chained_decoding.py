"""Chains within decoding: the bits of a call behind it, and nearly these where JPEGs are decoded smaller."""

import numpy as np
import pytest
from PIL import Image

import iruka
from iruka import image
from picture_samples import pillow, smooth


def photograph(height, width, **options):
    """A JPEG with detail of all sizes."""
    rng = np.random.default_rng(4)
    made = np.zeros((height, width, 3))
    for side in (4, 16, 64):
        noise = Image.fromarray(rng.integers(0, 256, (side, side, 3)).astype(np.uint8))
        made += np.asarray(noise.resize((width, height), Image.Resampling.BICUBIC), float) * 16 / (side + 12)
    made *= 255 / made.max()
    return pillow(made.astype(np.uint8), "JPEG", quality=92, **options)


def turned(data, orientation):
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0" + bytes([orientation]) + b"\0\0\0\0\0\0"
    return data[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + data[2:]


CHAINS = [
    image.Chain([image.Resize((24, 20))]),
    image.Chain([image.Crop((40, 33)), image.Resize((17, 12)), image.Flip()]),
    image.Chain([image.Crop((20, 30), (5, 7)), image.Crop((10, 10)), image.Normalize((1, 2, 3), (4, 5, 6))]),
    image.Chain([image.Flip(), image.Crop((20, 30), (0, 7)), image.Layout("CHW")]),
    image.Chain([image.Rotate(30), image.Cast("float16")]),
    image.Chain([]),
]


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_the_bits_are_those_of_a_call_behind_decoding(chain, format):
    data = pillow(smooth(50, 61), format)
    expected = iruka.asnumpy(chain(image.imdecode(data)))
    np.testing.assert_array_equal(iruka.asnumpy(image.imdecode(data, chain=chain)), expected)
    out = np.empty_like(expected)
    assert image.imdecode(data, chain=chain, out=out) is out
    np.testing.assert_array_equal(out, expected)
    part = iruka.asnumpy(image.imdecode(data, roi=(3, 4, 44, 50), chain=chain))
    np.testing.assert_array_equal(part, iruka.asnumpy(chain(image.imdecode(data, roi=(3, 4, 44, 50)))))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_crops_are_of_the_upright_picture(orientation):
    data = turned(pillow(smooth(48, 64), "JPEG"), orientation)
    for chain in CHAINS[1:3]:
        np.testing.assert_array_equal(
            iruka.asnumpy(image.imdecode(data, chain=chain)), iruka.asnumpy(chain(image.imdecode(data)))
        )


@pytest.mark.parametrize("format", ["JPEG", "PNG"])
def test_crops_that_leave_the_picture_say_both_sizes(format):
    data = pillow(smooth(50, 61), format)
    for size, at, message in (((51, 8), None, r"crop: a part of \(51, 8\) is larger than the picture, \(50, 61\)"),
                              ((9, 8), (42, 0), r"crop: a part of \(9, 8\) at \(42, 0\) leaves the picture, \(50, 61\)"),
                              ((9, 8), (0, -1), r"crop: a part of \(9, 8\) at \(0, -1\) leaves the pict")):  # fmt: skip
        chain = image.Chain([image.Crop(size, at), image.Flip()])
        for call in (lambda chain: image.imdecode(data, chain=chain), lambda chain: chain(image.imdecode(data))):
            with pytest.raises(ValueError, match=message):
                call(chain)


STREAMED = {
    "antialiased": [image.Resize((13, 11))],
    "one pixel": [image.Resize((1, 1), "area")],
    "rounded columns": [image.Resize((9, 17), "cubic"), image.Normalize(100, 3)],
    "sparse rows": [image.Resize((5, 6), convention="opencv")],
    "nearest": [image.Resize((7, 40), "nearest")],
    "from below": [image.Resize((12, 15), "lanczos3"), image.Flip(vertical=True), image.Layout("CHW")],
    "transposed": [image.Resize((10, 14)), image.Transpose(), image.Cast("float32")],
    "both ends constant": [image.Resize((8, 9)), image.Pad(((3, 2), (1, 4)), value=7)],
    "only padding": [image.Resize((8, 9)), image.Pad(((0, 9), (0, 0))), image.Crop((5, 9), (10, 0))],
    "mirrored rows": [image.Resize((9, 9)), image.Pad(((4, 4), (4, 4)), "reflect")],
    "two passes": [image.Resize((20, 16)), image.Resize((7, 5)), image.Gamma(0.5)],
    "float source": [image.Cast("float32"), image.Resize((6, 8))],
    "enlarged": [image.Resize((300, 310))],
    "turned": [image.Rotate(90), image.Resize((21, 12))],
    "nothing": [],
}


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (37, 61), (131, 98)])
@pytest.mark.parametrize("chain", STREAMED.values(), ids=STREAMED)
def test_rows_that_arrive_one_by_one_give_the_same_bits(chain, size):
    chain = image.Chain(chain)
    rgb, grey, rgba, deep = smooth(*size), smooth(*size, 1), smooth(*size, 4), smooth(*size, 1, np.uint16)
    files = [
        pillow(rgb, "JPEG", quality=90),
        pillow(rgb, "JPEG", quality=90, subsampling=0, restart_marker_rows=1),
        pillow(rgb, "JPEG", progressive=True),
        pillow(grey, "JPEG"),
        pillow(rgb, "PNG"),
        pillow(grey, "PNG"),
        pillow(rgba, "PNG"),
        pillow(deep, "PNG"),
        pillow(rgb, "BMP"),
        turned(pillow(rgb, "JPEG"), 3),
        turned(pillow(rgb, "JPEG"), 6),
    ]
    pictures = image.imdecode_batch(files, mode="unchanged", chain=chain)
    for data, made in zip(files, pictures):
        expected = iruka.asnumpy(chain(image.imdecode(data, mode="unchanged")))
        np.testing.assert_array_equal(iruka.asnumpy(made), expected)
        out = np.empty_like(expected)
        image.imdecode(data, mode="unchanged", chain=chain, out=out)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_rows": 1}])
def test_damage_is_reported_as_without_a_chain(options):
    data = photograph(75, 90, **options)
    chain = image.Chain([image.Resize((31, 20))])
    rng = np.random.default_rng(7)
    files = [data[:length] for length in rng.integers(0, len(data), 40)]
    for _ in range(80):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] = rng.integers(256)
        files.append(bytes(damaged))
    failed = 0
    for plain, made in zip(image.imdecode_batch(files), image.imdecode_batch(files, chain=chain)):
        if isinstance(plain, Exception):
            failed += 1
            assert type(made) is type(plain) and str(made) == str(plain)
        else:
            np.testing.assert_array_equal(iruka.asnumpy(made), iruka.asnumpy(chain(plain)))
    assert 40 <= failed < len(files)


def test_modes_and_dtypes(tmp_path):
    data = pillow(smooth(30, 40, dtype=np.uint8), "PNG")
    chain = image.Chain([image.Resize((11, 13))])
    for options in ({"mode": "gray"}, {"mode": "rgba"}, {"dtype": "uint16"}, {"mode": "bgr"}):
        made = image.imdecode(data, chain=chain, **options)
        np.testing.assert_array_equal(iruka.asnumpy(made), iruka.asnumpy(chain(image.imdecode(data, **options))))
    (tmp_path / "a.png").write_bytes(data)
    for made in image.imread_batch([tmp_path / "a.png"] * 2, chain=chain):
        np.testing.assert_array_equal(iruka.asnumpy(made), iruka.asnumpy(chain(image.imdecode(data))))


@pytest.mark.parametrize("divisor", [2, 4, 8])
def test_a_gap_decodes_smaller(divisor):
    data = photograph(480, 640)
    size = (480 // divisor, 640 // divisor)
    for chain in (image.Chain([image.Resize(size)]), image.Chain([image.Resize(size, "area"), image.Layout("CHW")])):
        made = iruka.asnumpy(image.imdecode(data, chain=chain, reducing_gap=1))
        np.testing.assert_array_equal(made, iruka.asnumpy(chain(image.imdecode(data, at_least=size))))
        whole = iruka.asnumpy(image.imdecode(data, chain=chain, reducing_gap=1.01))
        assert divisor == 2 or np.abs(made.astype(int) - whole).max() > 0  # which was decoded at another size
    exact = image.Chain([image.Resize(size, antialias=False)])
    np.testing.assert_array_equal(
        iruka.asnumpy(image.imdecode(data, chain=exact, reducing_gap=1)), iruka.asnumpy(exact(image.imdecode(data)))
    )


@pytest.mark.parametrize("size", [(427, 640), (479, 641), (101, 999), (640, 427)])
@pytest.mark.parametrize("fit", ["stretch", "not_larger", "not_smaller"])
@pytest.mark.parametrize("gap", [1, 2])
def test_smaller_decoding_changes_little(size, fit, gap):
    data = photograph(*size)
    crop = image.Crop((size[0] * 3 // 4 + 1, size[1] * 2 // 3 + 1), (11, 13))
    for stages in ([], [crop]):
        chain = image.Chain([*stages, image.Resize((29, 37), fit=fit)])
        expected = iruka.asnumpy(chain(image.imdecode(data))).astype(int)
        for source in (data, turned(data, 1)):
            made = iruka.asnumpy(image.imdecode(source, chain=chain, reducing_gap=gap))
            assert made.shape == expected.shape
            error = np.abs(made - expected)
            assert error.mean() < 1.5 and np.percentile(error, 99) <= 6, (error.mean(), error.max())
        part = (5, 9, size[0] - 7, size[1] - 16)
        expected_part = iruka.asnumpy(chain(image.imdecode(data, roi=part))).astype(int)
        made = iruka.asnumpy(image.imdecode(data, roi=part, chain=chain, reducing_gap=gap))
        assert made.shape == expected_part.shape and np.abs(made - expected_part).mean() < 2


def test_errors():
    data = pillow(smooth(30, 40), "JPEG")
    resize = image.Chain([image.Resize((8, 8))])
    with pytest.raises(TypeError, match="chain must be an image.Chain, not list"):
        image.imdecode(data, chain=[image.Resize((8, 8))])
    with pytest.raises(ValueError, match="reducing_gap needs a chain"):
        image.imdecode(data, reducing_gap=2)
    for gap in (0, 0.5, -1, float("nan")):
        with pytest.raises(ValueError, match="reducing_gap must be 1 or more"):
            image.imdecode(data, chain=resize, reducing_gap=gap)
    with pytest.raises(ValueError, match="at_least and reducing_gap"):
        image.imdecode(data, chain=resize, reducing_gap=2, at_least=(8, 8))
    with pytest.raises(ValueError, match="layout HWC"):
        image.imdecode(data, chain=image.Chain([image.Resize((8, 8))], layout="CHW"))
    with pytest.raises(ValueError, match=r"out has shape \(8, 9, 3\), and the picture \(8, 8, 3\)"):
        image.imdecode(data, chain=resize, out=np.empty((8, 9, 3), np.uint8))
    with pytest.raises(TypeError, match="out has dtype"):
        image.imdecode(data, chain=resize, out=np.empty((8, 8, 3), np.float32))
    crop = image.Chain([image.Crop((31, 40))])
    good, bad = image.imdecode_batch([pillow(smooth(50, 60), "JPEG"), data], chain=crop)
    assert good.shape == (31, 40, 3) and isinstance(bad, ValueError) and "31" in str(bad)
