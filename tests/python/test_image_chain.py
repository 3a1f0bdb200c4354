"""Chains of picture operations: each against NumPy, fused against separate calls bit for bit, batches, every device."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import iruka
from iruka import _core, image

DTYPES = [np.uint8, np.uint16, np.float16, np.float32]
MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]
FILTERS = ["nearest", "linear", "triangular", "area", "cubic", "lanczos3", "lanczos4", "gaussian"]


def picture_of(rng, shape, dtype):
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
    return (rng.normal(size=shape) * 200).astype(dtype)


def random_stage(rng, channels):
    def number(*bounds):
        return int(rng.integers(*bounds))

    kind = number(0, 13)
    if kind < 3:
        size, filter = (number(1, 40), number(1, 40)), FILTERS[number(0, 8)]
        return image.Resize(size, filter, [None, True, False][number(0, 3)], ["pillow", "opencv"][number(0, 2)],
                            ["stretch", "not_larger", "not_smaller"][number(0, 3)])  # fmt: skip
    if kind == 3:
        margins = ((number(0, 5), number(0, 5)), (number(0, 5), number(0, 5)))
        return image.Pad(margins, MODES[number(0, 5)], number(0, 200))
    if kind == 4:
        matrix = np.eye(3) + rng.normal(size=(3, 3)) * [[0.3, 0.3, 5], [0.3, 0.3, 5], [0.001, 0.001, 0]]
        return image.WarpPerspective(matrix, (number(1, 40), number(1, 40)), ["nearest", "linear", "cubic"][number(0, 3)],
                                     mode=MODES[number(0, 5)], value=number(0, 9))  # fmt: skip
    if kind == 5:
        return image.Normalize(tuple(rng.normal(size=channels) * 100), tuple(rng.uniform(0.1, 50, size=channels)))
    return [
        image.Flip(bool(number(0, 2)), bool(number(0, 2))),
        image.Transpose(),
        image.Cast(DTYPES[number(0, 4)]),
        image.Layout(["HWC", "CHW"][number(0, 2)]),
        image.Crop((1, 1)),
        image.Rotate(90.0 * number(1, 4), expand=True),
        image.PyramidDown(),
    ][kind - 6]


def random_case(rng):
    """A picture, its layout and stages that take it."""
    channels = int(rng.choice([1, 2, 3, 4, 5, 20]))
    height, width = (int(extent) for extent in rng.integers(1, 70, 2))
    layout = ["HWC", "CHW"][int(rng.integers(2))]
    shape = (height, width, channels) if layout == "HWC" else (channels, height, width)
    picture = picture_of(rng, shape, DTYPES[int(rng.integers(4))])
    stages = [random_stage(rng, channels) for _ in range(int(rng.integers(1, 6)))]
    return picture, layout, stages


def separately(stages, layout, picture):
    for stage in stages:
        picture = image.Chain([stage], layout)(picture)
        if isinstance(stage, image.Layout):
            layout = stage.layout
    return iruka.asnumpy(picture)


@pytest.mark.parametrize("seed", range(4))
def test_chains_have_the_bits_of_separate_calls(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        picture, layout, stages = random_case(rng)
        chain = image.Chain(stages, layout)
        got, want = iruka.asnumpy(chain(picture)), separately(stages, layout, picture)
        assert (got.shape, got.dtype) == chain.result(picture.shape, picture.dtype)
        np.testing.assert_array_equal(got, want, err_msg=repr(chain))


@pytest.mark.cpu_only
@pytest.mark.parametrize("seed", range(2))
def test_loops_have_the_bits_of_kernels(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(12):
        picture, layout, stages = random_case(rng)
        chain = image.Chain(stages, layout)
        want = iruka.asnumpy(chain(picture))
        _core._geometry.prefer_kernels(True)
        try:
            got = iruka.asnumpy(chain(picture))
        finally:
            _core._geometry.prefer_kernels(False)
        np.testing.assert_array_equal(got, want, err_msg=repr(chain))


LEVELS = """
import hashlib, sys
import numpy as np
sys.path.insert(0, {folder!r})
from test_image_chain import random_case
import iruka
from iruka import image
rng, made = np.random.default_rng(5), hashlib.sha256()
for _ in range(80):
    picture, layout, stages = random_case(rng)
    result = iruka.asnumpy(image.Chain(stages, layout)(picture))
    made.update(np.where(np.isnan(result), 0, result).astype(result.dtype).tobytes())
print(made.hexdigest())
"""


@pytest.mark.cpu_only
def test_vectors_of_every_width_have_the_same_bits():
    import os
    import pathlib

    code = LEVELS.format(folder=str(pathlib.Path(__file__).parent))
    texts = set()
    for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "IRUKA_CPU_LEVEL": level},
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
        texts.add(done.stdout)
    assert len(texts) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1, 3), (9, 14), (9, 14, 1), (9, 14, 3), (30, 7, 6)])
def test_operations_that_move_pixels_are_numpys(rng, shape, dtype):
    picture = picture_of(rng, shape, dtype)
    rest = [(0, 0)] * (len(shape) - 2)
    for horizontal, vertical in ((True, False), (False, True), (True, True), (False, False)):
        want = picture[:: -1 if vertical else 1, :: -1 if horizontal else 1]
        np.testing.assert_array_equal(iruka.asnumpy(image.flip(picture, horizontal, vertical)), want)
    twice = image.flip(image.flip(picture, True, True), True, True)
    np.testing.assert_array_equal(iruka.asnumpy(twice), picture)
    np.testing.assert_array_equal(iruka.asnumpy(image.transpose(picture)), picture.swapaxes(0, 1))
    for quarter in range(-3, 5):
        got = iruka.asnumpy(image.rotate(picture, 90 * quarter, expand=True))
        np.testing.assert_array_equal(got, np.rot90(picture, quarter))
    for margins in (2, (1, 3), ((0, 2), (5, 1))):
        each = np.broadcast_to(np.reshape(margins, (-1, 1)) if np.ndim(margins) == 1 else margins, (2, 2))
        for mode in MODES:
            options = {"constant_values": 7} if mode == "constant" else {}
            want = np.pad(picture, [*map(tuple, each), *rest], mode, **options)
            np.testing.assert_array_equal(iruka.asnumpy(image.pad(picture, margins, mode, 7)), want)
    height, width = shape[:2]
    for size, at in (
        ((1, 1), (height - 1, width - 1)),
        ((height, width), None),
        ((height // 2 + 1, width // 2 + 1), None),
    ):
        y, x = at or ((height - size[0]) // 2, (width - size[1]) // 2)
        want = picture[y : y + size[0], x : x + size[1]]
        np.testing.assert_array_equal(iruka.asnumpy(image.crop(picture, size, at)), want)


def test_planes_are_padded_by_a_value_for_each_channel(rng):
    planes = picture_of(rng, (3, 5, 6), np.uint8)
    made = iruka.asnumpy(image.pad(planes, 1, value=(1, 2, 3), layout="CHW"))
    for c in range(3):
        np.testing.assert_array_equal(made[c], np.pad(planes[c], 1, constant_values=c + 1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_normalisation_is_float32s(rng, dtype):
    picture = picture_of(rng, (31, 45, 3), dtype)
    mean, std = np.array([123.7, 116.3, 103.5]), np.array([58.4, 57.1, 57.4])
    want = (picture.astype(np.float32) - mean.astype(np.float32)) * (1 / std).astype(np.float32)
    chain = image.Chain([image.Normalize(mean, std)])
    np.testing.assert_array_equal(iruka.asnumpy(chain(picture)), want)
    planes = image.Chain([image.Normalize(mean, std), image.Layout("CHW"), image.Cast(np.float16)])
    np.testing.assert_array_equal(iruka.asnumpy(planes(picture)), want.transpose(2, 0, 1).astype(np.float16))
    one = image.Chain([image.Normalize(10, 4)])
    np.testing.assert_array_equal(iruka.asnumpy(one(picture)), (picture.astype(np.float32) - 10) * np.float32(0.25))


def test_casts_round_to_even_and_saturate():
    values = np.array(
        [[-1, 0.5, 1.5, 2.5, 254.5, 255.5, 1e9, np.nan, -np.inf, np.inf, 65534.5, 65535.5, 0.49999997]], np.float32
    )
    bounded = np.nan_to_num(values, nan=0.0, posinf=1e9, neginf=-1e9)
    for dtype in (np.uint8, np.uint16):
        want = np.clip(np.rint(bounded), 0, np.iinfo(dtype).max).astype(dtype)
        np.testing.assert_array_equal(iruka.asnumpy(image.Chain([image.Cast(dtype)])(values)), want)
    every = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(256, 256)
    as_float = iruka.asnumpy(image.Chain([image.Cast(np.float32)])(every))
    np.testing.assert_array_equal(as_float, every.astype(np.float32))
    again = iruka.asnumpy(image.Chain([image.Cast(np.float16)])(as_float))
    np.testing.assert_array_equal(again, every)


def test_float16_is_rounded_as_numpy_does(rng):
    bits = rng.integers(0, 2**32, (300, 300), dtype=np.uint32)
    values = bits.view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        want = values.astype(np.float16)
    got = iruka.asnumpy(image.Chain([image.Cast(np.float16)])(values))
    np.testing.assert_array_equal(got, want)


def test_usual_chains_are_one_pass():
    shape, dtype = (480, 640, 3), np.uint8
    stages = [image.Crop((400, 400)), image.Resize((256, 256)), image.Crop((224, 224)), image.Flip(),
              image.Normalize(120, 60), image.Layout("CHW"), image.Cast(np.float16)]  # fmt: skip
    chain = image.Chain(stages)
    assert chain.passes(shape, dtype) == 1 and chain.result(shape, dtype) == ((3, 224, 224), np.float16)
    assert image.Chain([image.Resize((9, 9)), image.Pad(2, value=3)]).passes(shape, dtype) == 1
    assert image.Chain([image.Resize((9, 9)), image.Resize((5, 5))]).passes(shape, dtype) == 2
    assert image.Chain([image.Rotate(10), image.Flip(), image.Normalize()]).passes(shape, dtype) == 1
    assert "Resize(size=(256, 256)" in repr(chain)


def test_lists_and_batches(rng):
    pictures = [picture_of(rng, (h, w, 3), np.uint8) for h, w in ((30, 40), (7, 90), (64, 64), (1, 1), (200, 150))]
    chain = image.Chain([image.Resize((16, 20)), image.Flip(), image.Normalize(100, 50), image.Layout("CHW")])
    want = [iruka.asnumpy(chain(picture)) for picture in pictures]
    made = chain(pictures)
    assert isinstance(made, list)
    for got, each in zip(made, want):
        np.testing.assert_array_equal(iruka.asnumpy(got), each)
    out = iruka.zeros((5, 3, 16, 20), np.float32)
    assert chain(pictures, out=out) is out
    np.testing.assert_array_equal(iruka.asnumpy(out), np.stack(want))
    batch = np.stack([picture_of(rng, (30, 40, 3), np.uint8) for _ in range(4)])
    got = iruka.asnumpy(chain(batch))
    np.testing.assert_array_equal(got, np.stack([iruka.asnumpy(chain(picture)) for picture in batch]))
    assert chain([]) == []


def test_each_picture_may_have_a_chain_of_its_own(rng):
    pictures = [picture_of(rng, (40, 50, 3), np.uint8) for _ in range(3)]
    chains = [
        image.Chain([image.Crop((20, 20), (k, 2 * k)), image.Resize((9, 9)), image.Flip(k % 2 == 0)]) for k in range(3)
    ]
    for got, chain, picture in zip(image.apply(chains, pictures), chains, pictures):
        np.testing.assert_array_equal(iruka.asnumpy(got), iruka.asnumpy(chain(picture)))
    with pytest.raises(ValueError, match="2 chains for 3 pictures"):
        image.apply(chains[:2], pictures)


@pytest.mark.cpu_only
def test_every_number_of_threads_has_the_same_bits(rng):
    picture = picture_of(rng, (700, 900, 3), np.uint8)
    chain = image.Chain([image.Resize((511, 640), "lanczos3"), image.Flip(True, True), image.Normalize(3, 5)])
    before = iruka.get_num_threads()
    try:
        made = []
        for threads in (1, 2, 5):
            iruka.set_num_threads(threads)
            made.append(iruka.asnumpy(chain(picture)))
    finally:
        iruka.set_num_threads(before)
    np.testing.assert_array_equal(made[0], made[1])
    np.testing.assert_array_equal(made[0], made[2])


def test_misuse_is_refused(rng):
    picture = np.zeros((20, 30, 3), np.uint8)
    for error, parts, call in (
        (TypeError, ["stage", "'resize'"], lambda: image.Chain(["resize"])),
        (ValueError, ["crop", "(25, 4)", "(20, 30)"], lambda: image.crop(picture, (25, 4))),
        (ValueError, ["crop", "(19, 0)"], lambda: image.crop(picture, (2, 2), (19, 0))),
        (ValueError, ["crop"], lambda: image.crop(picture, (2, 2), (-1, 0))),
        (ValueError, ["pad", "-1"], lambda: image.pad(picture, -1)),
        (ValueError, ["margins"], lambda: image.pad(picture, (1, 2, 3))),
        (ValueError, ["mode", "'mirror'"], lambda: image.pad(picture, 1, "mirror")),
        (ValueError, ["300", "uint8"], lambda: image.pad(picture, 1, value=300)),
        (ValueError, ["2 numbers", "3 channels"], lambda: image.pad(picture, 1, value=(1, 2))),
        (ValueError, ["std", "0"], lambda: image.Chain([image.Normalize(0, 0)])),
        (ValueError, ["mean", "2 numbers", "3 channels"], lambda: image.Chain([image.Normalize((1, 2))])(picture)),
        (ValueError, ["finite"], lambda: image.Chain([image.Normalize(float("nan"))])),
        (TypeError, ["int64"], lambda: image.Chain([image.Cast(np.int64)])),
        (ValueError, ["layout"], lambda: image.Chain([image.Layout("NHWC")])),
        (ValueError, ["finite"], lambda: image.rotate(picture, float("inf"))),
        (ValueError, ["2 pictures"], lambda: image.Chain([])([picture, picture], out=iruka.zeros((3, 20, 30, 3), np.uint8))),
    ):  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert all(part in str(raised.value) for part in parts), str(raised.value)


def test_a_chain_without_stages_copies(rng):
    picture = picture_of(rng, (5, 6, 3), np.uint8)
    made = image.Chain([])(picture)
    np.testing.assert_array_equal(iruka.asnumpy(made), picture)


def test_chains_and_stages_are_values(rng):
    picture = rng.integers(0, 256, (30, 40, 3), dtype=np.uint8)
    mean, matrix, table = np.array([1.0, 2, 3]), np.eye(2, 3), np.arange(255, -1, -1, dtype=np.uint8)
    stages = [
        image.Resize([20, 30]),
        image.WarpAffine(matrix),
        image.Lookup(table),
        image.Pad([1, 2], value=[1, 2, 3]),
        image.Normalize(mean, [4, 5, 6]),
        image.Layout("CHW"),
    ]
    chain = image.Chain(stages)
    wanted, shown = iruka.asnumpy(chain(picture)), repr(chain)
    mean[:], matrix[:], table[:] = 99, 7, 0
    assert repr(chain) == shown and "(1.0, 2.0, 3.0)" in shown and "uint8 of shape (256,)" in shown
    for made in (pickle.loads(pickle.dumps(chain)), copy.deepcopy(chain), image.Chain(list(chain))):
        np.testing.assert_array_equal(iruka.asnumpy(made(picture)), wanted)
    plain = [each for each in stages if not isinstance(each, image.Lookup)]
    assert len(chain) == 6 and image.Chain(plain) == image.Chain(plain) != image.Chain(plain, "CHW")
    assert len({image.Chain(plain), image.Chain(list(plain)), image.Chain(plain[:2])}) == 2
    assert image.Normalize(np.array([1.0, 2])) == image.Normalize([1, 2]) != image.Normalize((1, 3))
    assert pickle.loads(pickle.dumps(image.Chain(plain))) == image.Chain(plain) and image.Chain(plain) != "Chain"


def test_flips_are_true_or_false_and_pyramids_copy(rng):
    picture = rng.integers(0, 256, (8, 9), dtype=np.uint8)
    for call in (lambda: image.flip(picture, "vertical"), lambda: image.flip(picture, True, 0)):
        with pytest.raises(TypeError, match="flip: (horizontal|vertical) must be True or False, not"):
            call()
    np.testing.assert_array_equal(iruka.asnumpy(image.flip(picture, np.bool_(False), True)), picture[::-1])
    kept = picture.copy()
    first = image.pyramid(picture, 2)[0]
    first += 1
    np.testing.assert_array_equal(picture, kept)
