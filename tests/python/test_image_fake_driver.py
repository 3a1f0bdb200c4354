"""Pictures on a GPU over a driver in software: kernels are compiled by NVRTC where it is installed, and compute nothing."""

from fake_driver import needs_fake_driver, run

pytestmark = needs_fake_driver


def test_chains_compile_and_launch():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
from iruka import image
chains = [
    image.Chain([image.Resize((24, 20)), image.Crop((20, 20)), image.Flip(), image.Normalize((1, 2, 3), (4, 5, 6)),
                 image.Layout("CHW"), image.Cast("float16")]),
    image.Chain([image.Resize((9, 50), "lanczos3"), image.Pad(2, value=3)]),
    image.Chain([image.Resize((9, 50), "nearest"), image.Transpose()]),
    image.Chain([image.Rotate(30, filter="cubic", mode="reflect"), image.Normalize(2, 3)]),
    image.Chain([image.WarpPerspective(np.eye(3) + 1e-3, (8, 9), "linear", mode="wrap"), image.Cast("uint16")]),
    image.Chain([image.PyramidDown(), image.PyramidDown()]),
]
for dtype in ("uint8", "uint16", "float16", "float32"):
    for chain in chains:
        picture = iruka.zeros((30, 40, 3), dtype)
        made = chain(picture)
        assert made.device.id == 0 and (made.shape, made.dtype) == chain.result((30, 40, 3), dtype)
maps = iruka.zeros((5, 6), "float32")
assert image.remap(iruka.zeros((30, 40, 3), "uint8"), maps, maps).shape == (5, 6, 3)
out = iruka.zeros((4, 3, 20, 20), "float16")
assert chains[0](iruka.zeros((4, 30, 40, 3), "uint8"), out=out) is out
raises(ValueError, lambda: chains[0](iruka.zeros((30, 40, 3), "uint8"), out=np.zeros((3, 20, 20), "float16")), "cuda:0", "cpu")
""")


def test_pictures_of_any_sizes_are_one_launch():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
from iruka import image
count = driver.fake_driver_launch_count
chain = image.Chain([image.Resize((24, 20)), image.Normalize((1, 2, 3), (4, 5, 6)), image.Layout("CHW")])
pictures = [iruka.zeros((30 + k, 40 + 3 * k, 3), "uint8") for k in range(20)]
flipped = [picture[::-1, :, ::-1] for picture in pictures]
chain(pictures)
before = count()
results = chain(pictures)
assert count() == before + 1, count() - before
assert [result.shape for result in results] == [(3, 24, 20)] * 20
chain(pictures + flipped)
assert count() == before + 2
chain(pictures + [iruka.zeros((30, 40, 3), "float32")])
assert count() == before + 4
colors = image.Chain([image.Resize((24, 20)), image.Hue(20), image.Brightness(2), image.ConvertColor("rgb", "gray")])
colors(pictures)
before = count()
assert [result.shape for result in colors(pictures)] == [(24, 20)] * 20
assert count() == before + 1, count() - before
""")


def test_colours_compile_and_launch():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
from iruka import image
table = np.arange(256, dtype="uint8")
chains = [
    image.Chain([image.ConvertColor(source, target)]) for source in ("rgb", "hsv", "lab", "ycbcr", "bgr")
    for target in ("rgb", "gray", "hsv", "lab", "ycbcr", "rgba")
] + [
    image.Chain([image.Resize((24, 20)), image.Saturation(2), image.Hue(20), image.Brightness(0.5), image.Contrast(2),
                 image.Gamma(0.5), image.ColorMatrix(np.ones((5, 3))), image.Normalize(1, 2), image.Layout("CHW")]),
    image.Chain([image.Rotate(30), image.ConvertColor("rgb", "gray"), image.Transpose()]),
]
for dtype in ("uint8", "uint16", "float16", "float32"):
    for chain in chains:
        made = chain(iruka.zeros((30, 40, 3), dtype))
        assert made.device.id == 0 and (made.shape, made.dtype) == chain.result((30, 40, 3), dtype)
for dtype in ("uint8", "uint16"):
    picture = iruka.zeros((30, 41, 3), dtype)
    for layout, shape in (("HWC", (30, 41, 3)), ("CHW", (3, 30, 41))):
        given = iruka.zeros(shape, dtype)
        assert image.equalize(given, layout=layout).shape == image.clahe(given, layout=layout).shape == shape
    assert image.histogram(picture).shape == (3, 256 if dtype == "uint8" else 65536)
    assert image.channel_moments(picture).mean.shape == (3,)
assert image.lookup(iruka.zeros((5, 6), "uint8"), table).shape == (5, 6)
real = iruka.zeros((30, 40), "float32")
assert isinstance(image.psnr(real, real), float) and isinstance(image.ssim(real, real), float)
assert image.contact_sheet([real, real]).device.id == 0
""")
