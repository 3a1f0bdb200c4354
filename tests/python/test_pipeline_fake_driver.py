"""Pipelines whose batches are on a GPU, over a driver and an nvJPEG in software. These run no kernels: pixels behind
stages are compared by the tests of chains, on real GPUs."""

from fake_driver import needs_fake_driver, run
from test_image_nvjpeg import FILES, TOOLKIT, needs_fake_nvjpeg

SETUP = (
    FILES
    + """
from iruka.pipeline import Decode, Pipeline, RandomFlip, RandomResizedCrop, Uniform
def host(array): return np.asarray(array.get())
def bytes_of(data): return np.frombuffer(data, "uint8")
"""
)

pytestmark = [needs_fake_driver, needs_fake_nvjpeg]


def run_fake(code, **environment):
    return run(SETUP + code, CUDA_PATH=str(TOOLKIT), **environment)


def test_pictures_and_labels_are_those_of_the_cpu():
    run_fake("""
small = pillow(smooth(20, 31), "JPEG")
datas = [rgb, png, half, small, gray, progressive] * 4
source = [(bytes_of(data), k, np.full((2, 3), k / 4, "float32")) for k, data in enumerate(datas)]
for size in (1, 5, 24):
    made = 0
    for pictures, labels, planes in Pipeline(source, [Decode()], batch_size=size, device="cuda"):
        count = len(labels)
        assert planes.device.id == 0 and planes.shape == (count, 2, 3)
        np.testing.assert_array_equal(host(labels), np.arange(made, made + count))
        np.testing.assert_array_equal(host(planes)[:, 0, 0], np.arange(made, made + count) / 4)
        for picture in pictures:
            same(picture, datas[made])
            made += 1
    assert made == 24
""")


def test_random_chains_of_a_batch_are_one_launch_for_each_64():
    run_fake("""
stages = [Decode(), RandomResizedCrop((8, 9)), RandomFlip(), image.Brightness(Uniform(0.5, 1.5)),
          image.Normalize(100, 50), image.Layout("CHW")]
other = pillow(smooth(70, 48), "JPEG")
source = [(bytes_of(data), k) for k, data in enumerate([half, rgb, other, png] * 40)]
pipe = Pipeline(source, stages, batch_size=160, device="cuda", prefetch=0)
(pictures, labels), = pipe
assert pictures.shape == (160, 3, 8, 9) and pictures.dtype == np.float32 and pictures.device.id == 0
before = driver.fake_driver_launch_count()
assert len(list(pipe)) == 1
assert driver.fake_driver_launch_count() == before + 3
""")


def test_arrays_go_through_their_stages_together():
    run_fake("""
pictures = [smooth(20 + k, 30) for k in range(50)]
pipe = Pipeline([(picture,) for picture in pictures], [image.Resize((8, 9))], batch_size=50, device="cuda", prefetch=0)
for _ in range(2):
    before = driver.fake_driver_launch_count()
    (batch,), = pipe
    assert batch.shape == (50, 8, 9, 3) and driver.fake_driver_launch_count() == before + 1
""")


def test_an_error_is_its_samples():
    run_fake("""
datas = [rgb, cut, half, empty, broken, png]
source = [(bytes_of(data), k) for k, data in enumerate(datas)]
pipe = Pipeline(source, [Decode()], batch_size=6, device="cuda", on_error="skip")
(pictures, labels), = pipe
assert host(labels).tolist() == [0, 2, 5]
for picture, k in zip(pictures, (0, 2, 5)): same(picture, datas[k])
assert sorted((failure.index, failure.stage) for failure in pipe.failures) == [
    (1, "pixels"), (3, "decode"), (4, "pixels")]
small = [(smooth(20, 30),), (smooth(5, 6),), (smooth(20, 31),)]
pipe = Pipeline(small, [image.Crop((10, 10))], batch_size=3, device="cuda", on_error="skip")
(batch,), = pipe
assert batch.shape == (2, 10, 10, 3) and [failure.index for failure in pipe.failures] == [1]
pipe = Pipeline(source, [Decode()], batch_size=6, device="cuda", on_error="replace", seed=3)
(pictures, labels), = pipe
assert len(labels) == 6 and all(number in (0, 2, 5) for number in host(labels))
for picture, number in zip(pictures, host(labels)): same(picture, datas[number])
""")


def test_a_batch_that_is_read_late_is_not_overwritten():
    run_fake("""
datas = [pillow(np.full((32, 32, 3), k, "uint8"), "PNG") for k in range(12)]
source = [(bytes_of(data), k) for k, data in enumerate(datas)]
stream = iruka.cuda.Stream(non_blocking=True)
with stream, Pipeline(source, [Decode()], batch_size=1, device="cuda") as pipe:
    for _ in pipe: pass  # memory is there
    stream.synchronize()
    hold(stream)
    kept = []
    batches = iter(pipe)
    for _ in range(3):
        pictures, labels = next(batches)
        kept.append((pictures.copy(), labels.copy()))  # behind what is held
        del pictures, labels
    assert not stream.done
    let_go(stream)
    for pictures, labels in batches: kept.append((pictures.copy(), labels.copy()))
assert len(kept) == 12
for k, (pictures, labels) in enumerate(kept):
    assert host(labels).tolist() == [k] and (host(pictures) == k).all(), k
""")


def test_memory_is_flat_over_epochs_and_threads_end():
    run_fake("""
source = [(bytes_of(data), k) for k, data in enumerate([rgb, half, png] * 16)]
used = []
pipe = Pipeline(source, [Decode()], batch_size=6, device="cuda", shuffle=True)
for epoch in range(12):
    for pictures, labels in pipe: kept = pictures.copy() if hasattr(pictures, "copy") else pictures
    iruka.cuda.Device(0).synchronize()
    used.append(driver.fake_driver_live_device_bytes())
assert used[-1] == used[4], used
next(iter(pipe))
pipe.close()  # with batches that nobody takes
""")


def test_graphs_take_no_batches():
    run_fake("""
source = [(bytes_of(rgb), k) for k in range(8)]
stream = iruka.cuda.Stream(non_blocking=True)
with stream, Pipeline(source, [Decode()], batch_size=2, device="cuda") as pipe:
    batches = iter(pipe)
    next(batches)
    stream.begin_capture()
    raises(iruka.errors.DeviceError, lambda: pipe._next(), "graph", "capture")
    stream.end_capture()
    pictures, labels = pipe._next()
    assert host(labels).tolist() == [2, 3]  # it was not lost
""")


def test_pipelines_end_while_their_takers_are_far_behind():
    run_fake("""
source = [(bytes_of(png), k) for k in range(40)]
stream = iruka.cuda.Stream(non_blocking=True)
with stream:
    for prefetch in (1, 2, 3):
        pipe = Pipeline(source, [Decode()], batch_size=1, device="cuda", prefetch=prefetch)
        batches = iter(pipe)
        hold(stream)
        taken = [next(batches) for _ in range(3)]
        time.sleep(0.05)
        pipe.close()
        let_go(stream)
        for k, (pictures, labels) in enumerate(taken): assert host(labels).tolist() == [k]
""")


def test_fields_that_stay_on_the_cpu():
    run_fake("""
datas = [rgb, cut, half, png]
source = [(bytes_of(data), k, np.full((2, 3), k / 4, "float32")) for k, data in enumerate(datas)]
def copies(cpu_fields):
    pipe = Pipeline(source, [Decode()], 2, device="cuda", cpu_fields=cpu_fields, on_error="skip", prefetch=0)
    before = driver.fake_driver_calls(b"cuMemcpyAsync")
    rows = []
    for pictures, labels, planes in pipe:
        wanted = ["cpu" if name in cpu_fields else "cuda:0" for name in pipe.fields]
        first = pictures[0] if isinstance(pictures, list) else pictures
        assert [each.device.name for each in (first, labels, planes)] == wanted
        rows += [(pictures, labels, planes)]
    made = driver.fake_driver_calls(b"cuMemcpyAsync") - before
    assert np.concatenate([iruka.asnumpy(labels) for _, labels, _ in rows]).tolist() == [0, 2, 3]
    assert np.concatenate([iruka.asnumpy(planes) for *_, planes in rows])[:, 1, 2].tolist() == [0, 0.5, 0.75]
    alone = pipe[2]
    assert [each.device.name for each in alone] == wanted and alone[1].item() == 2
    return made, rows
everything, _ = copies(())
nothing, _ = copies(("value_1", "value_2"))
assert nothing <= everything - 4  # at least one for each batch and field
_, rows = copies(("value_0", "value_1", "value_2"))
for data, picture in zip((rgb, half, png), [each for pictures, *_ in rows for each in pictures]):
    np.testing.assert_array_equal(iruka.asnumpy(picture), cpu(data))
""")


def test_single_fields_that_stay_on_the_cpu_are_replaced_and_repeated():
    run_fake("""
source = [(bytes_of(data), k) for k, data in enumerate([rgb, cut, half])]
pipe = Pipeline(source, [Decode(), image.Resize((8, 9))], 4, device="cuda", cpu_fields="value_1", on_error="replace",
                last_batch="fill")
(pictures, labels), = pipe
assert pictures.device.name == "cuda:0" and labels.device.name == "cpu"
numbers = np.asarray(labels).tolist()
assert numbers[0] == 0 and numbers[1] in (0, 2) and numbers[2:] == [2, 2] and pictures.shape == (4, 8, 9, 3)
raises(iruka.errors.ValueError, lambda: Pipeline(source, [Decode()], cpu_fields=["label"]), "no field 'label'")
""")
