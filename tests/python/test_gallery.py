"""The programs of examples/kernels: their functions beside references in NumPy and SciPy, and the programs themselves."""

import importlib
import pathlib
import re
import sys

import numpy as np
import pytest
from scipy import ndimage, signal

import gallery_references as references
import iruka
from helpers import run_program
from iruka import image

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "kernels"
PROGRAMS = {  # a pattern of what each prints, and the range of the number in it
    "bilateral": (r"filtered: ([\d.]+) dB", 28.5, 29.5),
    "coins": (r"(\d+) coins of", 24, 24),
    "colour_difference": (r"([\d.]+) % of the pixels", 21, 23),
    "corners": (r"(\d+) corners; the strongest is at row 332, column 287", 6900, 6970),
    "edges": (r"(\d+) of 262144 pixels are edges", 10900, 11200),
    "eeg": (r"after: ([\d.]+) µV", 7, 8),
    "fm_radio": (r"signal to noise ([\d.]+) dB", 24, 26),
    "gray_scott": (r"V covers ([\d.]+) %", 35, 60),
    "kepler": (r"eccentricity ([\d.]+)", 0.932, 0.934),
    "local_contrast": (r"([\d.]+) after", 21, 21.5),
    "sky_background": (r"sky ([\d.]+), deviation", 14, 16),
    "stereo": (r"([\d.]+) % of 343274 pixels", 69, 72),
    "t2_map": (r"90 ms: ([\d.]+) ms measured", 88, 93),
}


@pytest.fixture(autouse=True)
def _of_the_gallery():
    pytest.importorskip("skimage")
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def example(name):
    return importlib.import_module(name)


def photograph(name, mode="gray"):
    return iruka.asnumpy(example("pictures").photograph(name, mode))


def layouts(array):
    """The array on the device in C order, transposed in memory, and as every other element of a larger one."""
    yield iruka.array(array)
    yield iruka.array(np.ascontiguousarray(array.T)).T
    yield iruka.array(np.repeat(array, 2, axis=1))[:, ::2]


def test_every_program_is_tested():
    assert sorted(PROGRAMS) == sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "pictures")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    done = run_program(FOLDER / f"{name}.py", "--output", tmp_path / "new" / "out.png", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    pattern, low, high = PROGRAMS[name]
    assert low <= float(re.search(pattern, done.stdout)[1]) <= high, done.stdout
    picture = iruka.asnumpy(image.imread(tmp_path / "new" / "out.png"))
    assert picture.ndim == 3 and picture.std() > 10


@pytest.mark.parametrize("radius", [0, 1, 4])
def test_bilateral(radius, rng):
    picture = (rng.random((37, 53)) * 255).astype("float32")
    expected = references.bilateral(picture, radius, 1.7, 60.0)
    for given in layouts(picture):
        np.testing.assert_allclose(example("bilateral").denoised(given, radius, 1.7, 60.0).get(), expected, rtol=2e-5)


def test_bilateral_keeps_what_is_even_and_edges():
    step = np.zeros((20, 30), "float32")
    step[:, 15:] = 200
    found = example("bilateral").denoised(iruka.array(step), 5, 3.0, 10.0).get()
    np.testing.assert_allclose(found, step, atol=1e-4)


@pytest.mark.parametrize("form", ["elementwise", "rawkernel"])
@pytest.mark.parametrize("shape", [(33, 47), (16, 32), (3, 2)])
def test_gray_scott(form, shape, rng):
    u, v = rng.random((2, *shape)).astype("float32")
    feed, kill = rng.random(shape[1]).astype("float32") * 0.06, rng.random(shape[0]).astype("float32") * 0.06
    given = [iruka.array(each) for each in (u, v, feed, kill)]
    found = example("gray_scott").simulated(*given, 20, form)
    expected = references.gray_scott(*(each.astype(float) for each in (u, v, feed, kill)), 20)
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours.get(), theirs, atol=2e-5)
    np.testing.assert_array_equal(given[0].get(), u)


@pytest.mark.parametrize("form", ["elementwise", "rawkernel"])
def test_gray_scott_keeps_the_amount_of_what_only_spreads(form, rng):
    u, none = rng.random((30, 41)).astype("float32"), np.zeros((30, 41), "float32")
    rates = iruka.zeros(41, "float32"), iruka.zeros(30, "float32")
    spread, still_none = example("gray_scott").simulated(iruka.array(u), iruka.array(none), *rates, 200, form)
    assert float(spread.sum()) == pytest.approx(float(u.sum(dtype=float)), rel=1e-5)
    assert float(spread.std()) < 0.05 * u.std() and not still_none.any()


def test_background(rng):
    picture = rng.normal(20, 5, (70, 100))
    bright = rng.random(picture.shape) < 0.05
    picture[bright] = rng.uniform(50, 3000, np.count_nonzero(bright))
    picture[rng.random(picture.shape) < 0.01] = np.nan
    for dtype in ("float32", "float64"):
        given = picture.astype(dtype)
        for ours in layouts(given):
            found = example("sky_background").background(ours, 16, 4, 2.5)
            for each, expected in zip(found, references.background(given, 16, 4, 2.5)):
                np.testing.assert_allclose(each.get(), expected, rtol=1e-9)
    hubble = photograph("hubble_deep_field.jpg")[:300, :200]  # uint8: pixels may lie exactly at a limit
    mean, _ = example("sky_background").background(iruka.array(hubble), 25, 5, 3.0)
    np.testing.assert_allclose(mean.get(), references.background(hubble, 25, 5, 3.0)[0], rtol=0.02)


def test_background_of_a_tile_without_numbers():
    mean, deviation = example("sky_background").background(iruka.full((4, 8), np.nan), 4, 3)
    assert np.isnan(mean.get()).all() and mean.shape == (1, 2) and np.isnan(deviation.get()).all()


def test_peaks(rng):
    picture = rng.integers(0, 12, (40, 33)).astype(float)  # many equal neighbours
    mean, deviation = iruka.zeros((1, 1)), iruka.full((1, 1), 2.0)
    found = example("sky_background").peaks(iruka.array(picture), mean, deviation, 33, 5.0).get()
    np.testing.assert_array_equal(found, references.peaks(picture[:33] / 2, 5.0))
    assert found.any()


@pytest.mark.parametrize("tile,limit", [(16, 3.0), (32, 1.0), (17, 1000.0)])
def test_local_contrast(tile, limit, rng):
    picture = np.clip(rng.normal(100, 30, (3 * tile, 5 * tile)), 0, 255).astype("uint8")
    picture[:tile, :tile] = 255  # a tile of one grey
    found = example("local_contrast").equalised(iruka.array(picture), tile, limit).get()
    np.testing.assert_allclose(found, references.equalised(picture, tile, limit), atol=2e-3)


@pytest.mark.parametrize("radius,shifts", [(0, 5), (2, 16), (4, 33)])
def test_stereo(radius, shifts, rng):
    left, right = rng.integers(0, 256, (2, 45, 67)).astype("uint8")
    found = example("stereo").disparities(iruka.array(left), iruka.array(right), radius, shifts).get()
    np.testing.assert_array_equal(found, references.disparities(left, right, radius, shifts))


def test_stereo_of_a_shifted_picture(rng):
    left = rng.integers(0, 256, (30, 90)).astype("uint8")
    right = np.roll(left, -7, axis=1)
    found = example("stereo").disparities(iruka.array(left), iruka.array(right), 3, 20).get()
    assert (found[:, 10:-10] == 7).all()


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("sigma", [0.4, 1.5, 4.0])
def test_smoothing_for_edges(dtype, sigma, rng):
    picture = rng.integers(0, 256, (41, 58)).astype(dtype)
    found = example("edges").smoothed(iruka.array(picture), sigma).get()
    np.testing.assert_allclose(found, references.smoothed(picture, sigma), rtol=1e-5, atol=1e-4)


def test_thinned_edges(rng):
    for smooth in (references.smoothed(photograph("camera.png")[100:200, 150:333], 1.5), rng.random((35, 40)) * 100):
        smooth = smooth.astype("float32")
        found = example("edges").ridges(iruka.array(smooth)).get()
        lengths, is_ridge, margin = references.ridges(smooth)
        clear = margin > 1e-3  # in float32 other pixels may go either way
        assert clear.mean() > 0.7
        np.testing.assert_allclose(found[clear], np.where(is_ridge, lengths, 0)[clear], rtol=1e-5, atol=1e-3)


def test_connected_edges(rng):
    lengths = (rng.random((61, 80)) ** 2 * 100).astype("float32")
    lengths[10] = np.linspace(30, 90, 80)
    found = example("edges").connected(iruka.array(lengths), 30, 85).get()
    np.testing.assert_array_equal(found, references.connected(lengths, 30, 85))
    assert found[10, 1:].all() and not example("edges").connected(iruka.array(lengths), 200, 300).any()


def test_corners(rng):
    for picture in (
        photograph("camera.png")[100:201, 150:333],
        rng.integers(0, 256, (35, 40)),
        rng.random((6, 5)) * 255,
    ):
        picture = picture.astype("float32")
        response = references.corner_responses(picture)
        around = dict(size=3, mode="constant", cval=-np.inf)
        largest, second = (ndimage.rank_filter(response, rank, **around) for rank in (-1, -2))
        rounding = 1e-5 * np.abs(response).max()
        clear = (response == largest) & (response > second + 2 * rounding) & (response > rounding)
        assert clear.any()
        for given in layouts(picture):
            found = example("corners").corners(given).get()
            assert (found[clear] > 0).all()
            place = found != 0
            np.testing.assert_allclose(found[place], response[place], rtol=1e-3, atol=rounding)
            assert (response[place] >= largest[place] - rounding).all() and (found >= 0).all()


def test_strongest_corners(rng):
    strengths = rng.permutation(30 * 40).reshape(30, 40).astype("float32")
    found = example("corners").strongest(iruka.array(strengths), 7).get()
    np.testing.assert_array_equal(strengths[tuple(found.T)], 1199 - np.arange(7))


def spiral(side):
    """One component whose pixels are far from each other along it."""
    mask = np.zeros((side, side), bool)
    top, left, bottom, right = 0, 0, side - 1, side - 1
    while top < bottom and left < right:
        mask[top, left : right + 1] = mask[top : bottom + 1, right] = True
        mask[bottom, left : right + 1] = mask[top + 2 : bottom + 1, left] = True
        mask[top + 2, left : left + 3] = True
        top, left, bottom, right = top + 2, left + 2, bottom - 2, right - 2
    return mask


@pytest.mark.parametrize("shape", [(1, 1), (1, 200), (200, 1), (33, 65), (128, 96)])
@pytest.mark.parametrize("density", [0.0, 0.3, 0.45, 0.7, 1.0])
def test_components(shape, density, rng):
    mask = rng.random(shape) < density
    for given in layouts(mask):
        np.testing.assert_array_equal(example("coins").components(given).get(), references.components(mask))


def test_components_of_long_ways():
    stripes = np.zeros((90, 90), bool)
    stripes[::2] = stripes[:, 0] = True
    for mask in (spiral(101), stripes, stripes.T, np.eye(77, dtype=bool)):
        np.testing.assert_array_equal(example("coins").components(iruka.array(mask)).get(), references.components(mask))


SHARMA = """50 2.6772 -79.7751 50 0 -82.7485 2.0425
50 3.1571 -77.2803 50 0 -82.7485 2.8615
50 2.8361 -74.0200 50 0 -82.7485 3.4412
50 -1.3802 -84.2814 50 0 -82.7485 1.0000
50 0 0 50 -1 2 2.3669
50 2.4900 -0.0010 50 -2.4900 0.0009 7.1792
50 2.4900 -0.0010 50 -2.4900 0.0010 7.1792
50 2.4900 -0.0010 50 -2.4900 0.0011 7.2195
50 -0.0010 2.4900 50 0.0009 -2.4900 4.8045
50 -0.0010 2.4900 50 0.0011 -2.4900 4.7461
50 2.5 0 50 0 -2.5 4.3065
50 2.5 0 73 25 -18 27.1492
50 2.5 0 61 -5 29 22.8977
50 2.5 0 56 -27 -3 31.9030
50 2.5 0 58 24 15 19.4535"""


def test_colour_difference_of_published_pairs():
    """The pairs of L*, a*, b* with which Sharma, Wu and Dalal (2005) test implementations."""
    rows = np.array([line.split() for line in SHARMA.splitlines()], float).T
    found = example("colour_difference").ciede2000(*(iruka.array(row) for row in rows[:6]))
    np.testing.assert_allclose(found.get(), rows[6], atol=6e-5)


def test_colour_difference(rng):
    picture = rng.integers(0, 256, (50, 60, 3)).astype("uint8")
    picture[0, :5] = [(0, 0, 0), (255, 255, 255), (128, 128, 128), (10, 10, 10), (200, 90, 50)]
    found = example("colour_difference").difference(iruka.array(picture), (200, 90, 50)).get()
    np.testing.assert_allclose(found, references.colour_difference(picture, (200, 90, 50)), rtol=1e-6, atol=1e-6)


def test_kepler(rng):
    mean, eccentricity = rng.uniform(-np.pi, np.pi, 400), rng.uniform(0, 0.999, 400)
    eccentricity[:20], mean[:2], mean[2] = 0, (np.pi, -np.pi), 0
    expected = references.eccentric_anomaly(mean, eccentricity)
    solve = example("kepler").eccentric_anomaly
    found = solve(iruka.array(mean), iruka.array(eccentricity)).get()
    residual = found - eccentricity * np.sin(found) - mean
    assert np.abs(residual).max() < 1e-14
    np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=1e-9, atol=1e-12)  # pi and -pi are one place
    single = solve(mean.astype("float32"), eccentricity.astype("float32"))
    assert single.dtype == np.float32
    residual = single - eccentricity * np.sin(single.astype(float)) - mean
    assert np.abs(residual - 2 * np.pi * np.round(residual / (2 * np.pi))).max() < 2e-6


def test_velocities_and_misfits(rng):
    days, periods, eccentricities = (
        np.sort(rng.uniform(-300, 300, 17)),
        np.array([80.0, 111.4]),
        np.array([0, 0.4, 0.95]),
    )
    broad = days, periods[:, None, None], 475.0, eccentricities[:, None], 301.0
    expected = references.velocities(*broad)
    given = [iruka.asarray(each) if isinstance(each, np.ndarray) else each for each in broad]
    np.testing.assert_allclose(example("kepler").velocities(*given).get(), expected, rtol=1e-9, atol=1e-7)
    measured = rng.normal(0, 100, 17)
    found = example("kepler").misfits(
        *map(iruka.asarray, (days, measured)), 4.0, *map(iruka.asarray, (periods, eccentricities))
    )
    np.testing.assert_allclose(found.get(), (((measured - expected) / 4) ** 2).mean(-1), rtol=1e-9)


def test_eeg(rng):
    module = example("eeg")
    sections = np.stack(
        [module.section("notch", 50, 20), module.section("notch", 150, 20), module.section("pass", 10, 1)]
    )
    x = np.cumsum(rng.normal(size=(5, 3, 700)), axis=-1)
    expected = signal.sosfilt(sections, x)
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, axis=-1)[..., ::2]):
        np.testing.assert_allclose(
            module.filtered(iruka.asarray(given), iruka.asarray(sections)).get(), expected, atol=1e-9
        )
    single = module.filtered(x.astype("float32"), sections.astype("float32"))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=1e-3)
    _, response = signal.sosfreqz(sections, [10, 50, 150], fs=module.RATE)
    assert abs(response[0]) == pytest.approx(1, abs=0.05) and np.abs(response[1:]).max() < 1e-9


def test_fm_radio(rng):
    module = example("fm_radio")
    samples = (rng.normal(size=2001) + 1j * rng.normal(size=2001)).astype("complex64")
    samples[100:200] = 0
    for given, host in ((iruka.array(samples), samples), (iruka.array(samples)[::-2], samples[::-2])):
        found = module.demodulated(given, 0.5).get()
        expected = references.demodulated(host, 0.5, module.RATE, module.DEVIATION)
        power = np.abs(host[1:].astype(complex) * host[:-1])
        clear = (np.abs(power - 0.25) > 1e-5) & (np.abs(np.abs(expected) - 1.6) > 1e-5)  # +pi and -pi are one angle
        np.testing.assert_allclose(found[clear], expected[clear], atol=2e-6)
        assert clear.mean() > 0.99 and (found == 0).any()
    sound = module.melody(0.05)
    heard = module.demodulated(iruka.array(module.received(sound, noise=0)), 0.01).get()
    np.testing.assert_allclose(heard, sound[1:], atol=1e-5)


def test_t2_map(rng):
    module = example("t2_map")
    true = rng.uniform(20, 300, (7, 9))
    clean = 1000 * np.exp(-module.ECHOES / true[..., None])
    np.testing.assert_allclose(module.t2_map(iruka.array(clean))[true > 40].get(), true[true > 40], rtol=1e-9)
    noisy = np.maximum(clean * rng.uniform(0.01, 1, (7, 9, 1)) + rng.normal(0, 3, clean.shape), 0)
    found = module.t2_map(iruka.array(noisy)).get()
    np.testing.assert_allclose(found, references.relaxation_times(noisy, module.ECHOES, 20.0), rtol=1e-8)
    np.testing.assert_allclose(found, np.apply_along_axis(module.relaxation_time, 2, noisy), rtol=1e-8)
    assert (found == 0).any() and (found != 0).any()
