"""Filters on a GPU over a driver in software: kernels are compiled by NVRTC where it is installed, and compute nothing."""

from fake_driver import needs_fake_driver, run

pytestmark = needs_fake_driver


def test_filters_compile_and_launch():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
from iruka import image
cross = np.uint8([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
filters = [
    lambda p, **more: image.filter2d(p, np.ones((3, 4)) / 7, **more),
    lambda p, **more: image.filter2d(p, [[-1, 2, -1]], dtype="int16", **more),
    lambda p, **more: image.separable_filter(p, [0.5, 0.25], [0.1], **more),
    lambda p, **more: image.gaussian_filter(p, 1.5, **more),
    lambda p, **more: image.box_filter(p, 5, **more),
    lambda p, **more: image.median_filter(p, 5, **more),
    lambda p, **more: image.bilateral_filter(p, 5, 10.0, 2.0, **more),
    lambda p, **more: image.sobel(p, 1, 0, **more),
    lambda p, **more: image.erode(p, 3, **more),
    lambda p, **more: image.morphology(p, "gradient", cross, **more),
]
for dtype in ("uint8", "uint16", "float16", "float32"):
    for filter in filters:
        picture = iruka.zeros((30, 40, 3), dtype)
        made = filter(picture)
        assert made.device.id == 0 and made.shape == picture.shape
        assert filter(picture, layout="CHW", mode="wrap").shape == picture.shape
assert image.distance_transform(iruka.zeros((30, 40), "uint8")).device.id == 0
for metric in ("cityblock", "chessboard"):
    assert image.distance_transform(iruka.zeros((30, 40)), metric).dtype == np.int32
raises(ValueError, lambda: image.box_filter(picture, 3, out=np.zeros((30, 40, 3), "float32")), "cuda:0", "cpu")
""")


def test_a_list_is_one_launch_for_each_pass():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
from iruka import image
pictures = [iruka.zeros((20 + k, 30, 3), "uint8") for k in range(9)]
for filter, passes in (
    (lambda p: image.gaussian_filter(p, 1.5), 2),
    (lambda p: image.median_filter(p, 5), 1),
    (lambda p: image.bilateral_filter(p, 5, 10.0, 2.0), 1),
    (lambda p: image.morphology(p, "gradient", 3), 4),
):
    filter(pictures)
    before = driver.fake_driver_launch_count()
    filter(pictures)
    assert driver.fake_driver_launch_count() == before + passes
""")


def test_a_list_may_be_on_two_devices():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
from iruka import image
picture = np.random.default_rng(0).integers(1, 256, (30, 40, 3), dtype=np.uint8)
wanted = iruka.asnumpy(image.box_filter(iruka.array(picture).to_device("cpu"), 3))
on_cpu = iruka.array(picture).to_device("cpu")
for on_gpu in (iruka.zeros((30, 40, 3), "uint8"), iruka.zeros((5, 5), "uint8")):
    for pictures, place in (([on_gpu, on_cpu], 1), ([on_cpu, on_gpu], 0)):
        made = image.box_filter(pictures, 3)
        assert [one.device.name for one in made] == [one.device.name for one in pictures]
        np.testing.assert_array_equal(iruka.asnumpy(made[place]), wanted)
        out = [iruka.zeros(on_gpu.shape, "uint8"), None][::1 if place else -1]
        out[place] = np.zeros((30, 40, 6), np.uint8)[..., ::2]
        image.box_filter(pictures, 3, out=out)
        np.testing.assert_array_equal(out[place], wanted)
""")
