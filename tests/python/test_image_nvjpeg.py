"""JPEGs decoded into a GPU's memory: over a driver and an nvJPEG in software, which decodes as libjpeg does, and by the
real ones where there are some."""

import io
import itertools

import numpy as np
import pytest
from PIL import Image

import iruka
from fake_driver import TOOLKIT, needs_fake_driver, run
from iruka import image
from picture_samples import pillow, smooth

FAKE = TOOLKIT / "lib64" / "libnvjpeg.so.13"
needs_fake_nvjpeg = pytest.mark.skipif(not FAKE.exists(), reason="the decoder in software was not built")
needs_gpu = pytest.mark.skipif(not iruka.cuda.is_available(), reason="needs a GPU")

FILES = """
import sys
sys.path.insert(0, "tests/python")
from picture_samples import pillow, smooth
from iruka import image
picture = smooth(45, 61)
rgb, half = pillow(picture, "JPEG", subsampling=0), pillow(picture, "JPEG", subsampling=2)
gray, progressive = pillow(picture, "JPEG", "L"), pillow(picture, "JPEG", progressive=True)
cmyk, png = pillow(picture, "JPEG", "CMYK"), pillow(picture, "PNG")
cut, empty = half[:-300], b""
middle = half.index(b"\\xff\\xda") + 300
broken = half[:middle] + b"\\xff\\xd0" + half[middle + 2:]  # a marker that belongs to no interval
library = ctypes.CDLL(%r)
library.fake_nvjpeg_notes.restype = ctypes.c_char_p
def notes(): return library.fake_nvjpeg_notes().decode().splitlines()
def cpu(data, **options): return iruka.asnumpy(image.imdecode(data, device="cpu", **options))
def same(made, data, **options):
    assert made.device.id == 0
    np.testing.assert_array_equal(iruka.asnumpy(made), cpu(data, **options))
""" % str(FAKE)


def run_fake(code, **environment):
    return run(FILES + code, CUDA_PATH=str(TOOLKIT), **environment)


@needs_fake_driver
@needs_fake_nvjpeg
def test_batches_of_the_engine():
    run_fake("""
assert image.jpeg_decoder("cuda") == ("nvJPEG (hardware engine)", "")
assert image.jpeg_decoder("cpu") == ("libjpeg", "")
files = [rgb, png, half, progressive, cut, gray, cmyk, empty, broken, half]
made = image.imdecode_batch(files, device="cuda")
for data, item, number in zip(files, made, range(99)):
    if data in (cut, empty, broken):
        assert isinstance(item, ValueError) and f"file {number}" in str(item), item
        expected = image.imdecode_batch(files, device="cpu")[number]
        assert str(item) == str(expected)
    else:
        same(item, data)
said = notes()
assert said[0] == "create 3 32"
assert [int(note.split()[1]) for note in said[1:]] == [5, 2, 3, 1, 2, 1, 1], said  # halves tell which is broken
same(image.imdecode(half, device="cuda:0"), half)
same(image.imdecode(progressive, device=0), progressive)
assert image.imdecode_batch([], device="cuda") == []
""")


@needs_fake_driver
@needs_fake_nvjpeg
@pytest.mark.parametrize("threads", [1, 2, 16])
def test_headers_of_many_pictures_are_read_by_several_threads(threads):
    run_fake(
        """
files = [half, rgb, gray, progressive, half, png, rgb, half, cut, rgb, half] * 15
expected = {data: cpu(data) for data in set(files) - {cut}}
for take in (2, 15, 16, 17, 65, len(files)):
    before = len(notes())
    made = image.imdecode_batch(files[:take], "rgb", device="cuda")
    for data, item in zip(files, made):
        if data == cut: assert isinstance(item, ValueError)
        else: np.testing.assert_array_equal(iruka.asnumpy(item), expected[data] if data != gray else cpu(gray, mode="rgb"))
    taken = [data for data in files[:take] if data not in (progressive, png, cut)]
    said = [note.split() for note in notes()[before:]]
    assert sum(int(note[1]) for note in said if note[0] == "batch") == len(taken), said
""",
        IRUKA_NUM_THREADS=str(threads),
    )


@needs_fake_driver
@needs_fake_nvjpeg
def test_modes_of_the_engine():
    run_fake("""
for mode, format in (("rgb", 5), ("bgr", 6), ("gray", 2)):
    for data in (half, gray):
        same(image.imdecode(data, mode, device="cuda"), data, mode=mode)
        assert notes()[-1] == f"batch 1 {format}", notes()
same(image.imdecode(gray, "unchanged", device="cuda"), gray, mode="unchanged")
assert notes()[-1] == "batch 1 2"
count = len(notes())
for options in ({"mode": "rgba"}, {"mode": "ycbcr"}, {"dtype": "uint16"}):
    same(image.imdecode(half, device="cuda", **options), half, **options)
assert len(notes()) == count  # by the CPU
same(image.imdecode(half, "unchanged", device="cuda"), half, mode="unchanged")
mixed = image.imdecode_batch([half, gray, half], "unchanged", device="cuda")
assert sorted(notes()[-2:]) == ["batch 1 2", "batch 2 5"]
for item, data in zip(mixed, [half, gray, half]):
    same(item, data, mode="unchanged")
""")


@needs_fake_driver
@needs_fake_nvjpeg
def test_outputs_and_files(tmp_path):
    (tmp_path / "a.jpg").write_bytes(pillow(smooth(20, 30), "JPEG"))
    run_fake(f"""
path = {str(tmp_path / "a.jpg")!r}
for data in (half, png):
    out = iruka.empty((45, 61, 3), "uint8")
    assert image.imdecode(data, out=out) is out
    same(out, data)
    assert image.imdecode(data, device="cuda", out=out) is out
out = iruka.empty((20, 30, 3), "uint8")
assert image.imread(path, out=out) is out
same(out, open(path, "rb").read())
raises(ValueError, lambda: image.imread(path, device="cpu", out=out), "out must be on cpu, not on cuda:0", path)
raises(ValueError, lambda: image.imread(path, device="cuda", out=np.empty((20, 30, 3), "uint8")), "cuda:0, not on cpu")
raises(ValueError, lambda: image.imread(path, out=iruka.empty((20, 30), "uint8")), "shape")
raises(TypeError, lambda: image.imread(path, out=iruka.empty((20, 30, 3), "uint16")), "dtype")
raises(ValueError, lambda: image.imread(path, out=iruka.empty((20, 60, 3), "uint8")[:, ::2]), "C-contiguous")
made = image.imread_batch([path, "/nowhere.jpg", path], device="cuda")
assert isinstance(made[1], OSError) and "/nowhere.jpg" in str(made[1])
same(made[0], open(path, "rb").read()), same(made[2], open(path, "rb").read())
for options in ({{"roi": (3, 4, 11, 12)}}, {{"at_least": (6, 7)}}, {{"at_least": (6, 7), "roi": (0, 4, 20, 22)}}):
    made = image.imread(path, device="cuda", **options)
    assert made.shape == image.imread(path, device="cpu", **options).shape
""")


@needs_fake_driver
@needs_fake_nvjpeg
def test_pixels_come_in_the_order_of_the_stream():
    run_fake("""
stream = iruka.cuda.Stream(non_blocking=True)
with stream:
    before = iruka.zeros((45, 61, 3), "uint8")
    hold(stream)
    image.imdecode(half, out=before)
    assert not stream.done
    let_go(stream)
    stream.synchronize()
    same(before, half)
    stream.begin_capture()
    raises(iruka.errors.DeviceError, lambda: image.imdecode_batch([half], device="cuda"), "graph")
    stream.end_capture()
""")


@needs_fake_driver
@needs_fake_nvjpeg
@pytest.mark.parametrize("kind", ["engine", "kernels"])
def test_a_stream_that_is_held_holds_no_other(kind):
    run_fake(
        """
held, free = iruka.cuda.Stream(non_blocking=True), iruka.cuda.Stream(non_blocking=True)
hold(held)
with held: late = [image.imdecode(half, device="cuda") for _ in range(2)]
with free:
    for _ in range(30): same(image.imdecode(rgb, device="cuda"), rgb)
assert not held.done
let_go(held)
with held:
    for made in late: same(made, half)
""",
        FAKE_NVJPEG=kind,
    )


@needs_fake_driver
@needs_fake_nvjpeg
def test_threads_have_states_of_their_own():
    run_fake("""
def work(results, number):
    for _ in range(20):
        with iruka.cuda.Stream():
            results[number] = [iruka.asnumpy(p) for p in image.imdecode_batch([half, rgb, gray] * 3, device="cuda")]
results = {}
threads = [threading.Thread(target=work, args=(results, k)) for k in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
expected = [cpu(data) for data in [half, rgb, gray] * 3]
for made in results.values():
    for a, b in zip(made, expected): np.testing.assert_array_equal(a, b)
assert not [note for note in notes() if "misuse" in note]
""")


@needs_fake_driver
@needs_fake_nvjpeg
def test_chains_of_a_batch_are_one_launch():
    run_fake("""
chain = image.Chain([image.Crop((40, 50)), image.Resize((8, 9)), image.Normalize(1, 2), image.Layout("CHW")])
other = pillow(smooth(48, 70), "JPEG")
small = pillow(smooth(30, 70), "JPEG")
files = [rgb, png, other, small, cut, half]
for gap in (None, 1):
    image.imdecode_batch(files, device="cuda", chain=chain, reducing_gap=gap)
before = driver.fake_driver_launch_count()
made = image.imdecode_batch(files, device="cuda", chain=chain)
assert driver.fake_driver_launch_count() == before + 1
assert [getattr(item, "shape", None) for item in made] == [(3, 8, 9), (3, 8, 9), (3, 8, 9), None, None, (3, 8, 9)]
assert isinstance(made[3], ValueError) and "40" in str(made[3])
out = iruka.empty((3, 8, 9), "float32")
assert image.imdecode(half, chain=chain, out=out) is out
raises(ValueError, lambda: image.imdecode(half, chain=chain, out=iruka.empty((3, 8, 8), "float32")), "shape")
""")


@needs_fake_driver
@needs_fake_nvjpeg
def test_pictures_of_a_chain_are_decoded_ahead_of_the_stream():
    run_fake("""
chain = image.Chain([image.Resize((8, 9)), image.Normalize(1, 2)])
files = [half, rgb, gray, png] * 40  # more than are decoded at once
before = driver.fake_driver_launch_count()
assert len(image.imdecode_batch(files, "rgb", device="cuda", chain=chain)) == 160
assert driver.fake_driver_launch_count() == before + 3
stream = iruka.cuda.Stream(non_blocking=True)
hold(stream)
def work():
    with stream:
        for _ in range(6): made.append(image.imdecode(half, device="cuda", chain=chain))
made = []
thread = threading.Thread(target=work)
thread.start()
thread.join(60)
done = not thread.is_alive() and not stream.done
let_go(stream)
thread.join()
assert done and len(made) == 6
with stream:
    stream.begin_capture()
    raises(iruka.errors.DeviceError, lambda: image.imdecode_batch([half], device="cuda", chain=chain), "graph")
    stream.end_capture()
""")


@needs_fake_driver
@needs_fake_nvjpeg
def test_without_the_engine_kernels_decode():
    run_fake(
        """
assert image.jpeg_decoder("cuda").name == "nvJPEG (kernels)"
files = [rgb, progressive, png, broken, gray]
for data, item in zip(files, image.imdecode_batch(files, device="cuda")):
    if data == broken: assert isinstance(item, ValueError)
    else: same(item, data)
assert notes().count("picture 5") == 4 and notes()[0] == "create 0 36", notes()
""",
        FAKE_NVJPEG="kernels",
    )


@needs_fake_driver
@needs_fake_nvjpeg
def test_where_nvjpeg_does_not_start_the_cpu_decodes():
    run_fake(
        """
name, problem = image.jpeg_decoder("cuda")
assert name == "libjpeg" and "nvjpegCreateEx failed with status 7" in problem
for data, item in zip([rgb, png], image.imdecode_batch([rgb, png], device="cuda")): same(item, data)
""",
        FAKE_NVJPEG="none",
    )


@needs_fake_driver
def test_where_nvjpeg_is_missing_the_cpu_decodes(tmp_path):
    data = pillow(smooth(20, 30), "JPEG")
    (tmp_path / "a.jpg").write_bytes(data)
    run(f"""
from iruka import image
name, problem = image.jpeg_decoder()
if name == "libjpeg":
    assert "libnvjpeg.so" in problem and "pip install nvidia-nvjpeg" in problem, problem
    made = image.imread({str(tmp_path / "a.jpg")!r}, device="cuda")
    assert made.device.id == 0 and (iruka.asnumpy(made) == iruka.asnumpy(image.imread({str(tmp_path / "a.jpg")!r}, device="cpu"))).all()
""")


@pytest.mark.parametrize("size", [(64, 96), (45, 61), (8, 8), (1, 1), (7, 300)])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_pictures_are_reduced_as_by_libjpeg(size, mode):
    smooth_picture = np.asarray(
        Image.fromarray(np.random.default_rng(3).integers(0, 256, (7, 9, 3)).astype(np.uint8)).resize(size[::-1], 3)
    )
    data = pillow(smooth_picture, "JPEG", mode, subsampling=0, quality=95)
    for divisor in (2, 4, 8):
        at_least = tuple(-(-side // divisor) for side in size)
        if min(at_least) < 1:
            continue
        expected = iruka.asnumpy(image.imdecode(data, "unchanged", at_least=at_least, device="cpu")).astype(int)
        whole = image.imdecode(data, "unchanged", device="cpu")
        made = iruka.asnumpy(iruka._core._image.reduced_by_means(whole, divisor)).astype(int)
        assert made.shape == expected.shape
        error = np.abs(made - expected)
        # What lies beyond the picture in its last blocks is lost.
        assert error.max() <= (3 if size[0] % 8 == size[1] % 8 == 0 else 6) and error.mean() <= 1, (
            divisor,
            error.max(),
        )


def oriented(data, orientation):
    made = Image.open(io.BytesIO(data))
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    made.save(buffer, "JPEG", quality="keep", exif=exif)
    return buffer.getvalue()


@needs_gpu
@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("mode", ["rgb", "bgr", "gray", "unchanged", "rgba", "ycbcr"])
def test_a_gpu_decodes_what_the_cpu_does(subsampling, mode):
    """The decoders' arithmetic differs by a few levels; chroma of half the size by more at edges."""
    small = np.random.default_rng(1).integers(0, 256, (12, 16, 3)).astype(np.uint8)
    picture = np.asarray(Image.fromarray(small).resize((333, 222), 3))
    data = pillow(picture, "JPEG", subsampling=subsampling, quality=92)
    files = [data, pillow(picture, "JPEG", "L")] + [oriented(data, k) for k in range(1, 9)]
    for options in ({}, {"roi": (10, 21, 80, 101)}, {"at_least": (60, 60)}, {"apply_orientation": False}):
        made = image.imdecode_batch(files, mode, device="cuda", **options)
        for item, source in zip(made, files):
            expected = iruka.asnumpy(image.imdecode(source, mode, device="cpu", **options)).astype(int)
            assert item.shape == expected.shape and item.device.id == 0
            error = np.abs(iruka.asnumpy(item).astype(int) - expected)
            assert error.mean() < 1.5 and np.percentile(error, 99) <= 8, (options, error.mean(), error.max())


@needs_gpu
@pytest.mark.parametrize("gap", [None, 1, 2])
def test_chains_on_a_gpu(gap):
    """The same pixels that the decoder gives alone; smaller decoding is within the decoders' difference."""
    chain = image.Chain([image.Resize((30, 40)), image.Normalize((1, 2, 3), (4, 5, 6)), image.Layout("CHW")])
    files = [pillow(smooth(120 + 3 * k, 160 + k), "JPEG") for k in range(5)] + [pillow(smooth(99, 77), "PNG")]
    files *= 40  # more than are decoded at once
    made = [image.imdecode_batch(files, device="cuda", chain=chain, reducing_gap=gap) for _ in range(4)]
    expected = chain(image.imdecode_batch(files, device="cuda"))
    for one, other in zip(itertools.chain(*made), expected * 4):
        one, other = iruka.asnumpy(one), iruka.asnumpy(other)
        if gap is None:
            np.testing.assert_array_equal(one, other)
        else:
            assert np.abs(one - other).mean() < 1


@needs_gpu
def test_a_gpu_refuses_files_one_by_one():
    good = pillow(smooth(120, 160), "JPEG")
    files = [
        good,
        good[:-200],
        b"no picture",
        pillow(smooth(30, 40), "PNG"),
        pillow(smooth(40, 50), "JPEG", "CMYK"),
        good,
    ]
    files.append(pillow(smooth(120, 160), "JPEG", progressive=True))
    made = image.imdecode_batch(files, device="cuda")
    assert [isinstance(item, ValueError) for item in made] == [False, True, True, False, False, False, False]
    for k in (0, 3, 4, 5, 6):
        expected = iruka.asnumpy(image.imdecode(files[k], device="cpu")).astype(int)
        error = np.abs(iruka.asnumpy(made[k]).astype(int) - expected)
        assert error.mean() < 1.5, (k, error.mean())
