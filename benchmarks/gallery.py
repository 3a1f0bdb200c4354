"""The programs of examples/kernels beside what one would use instead: python benchmarks/gallery.py [--only NAME...]

Milliseconds of a call on the program's own data, which is on the device, with kernels compiled, the fastest of several:
Iruka's, that of NumPy, SciPy or scikit-image, and that of the same loop under Numba with all threads, where Numba is
installed. IRUKA_DEVICE=cuda measures a GPU beside the others on the CPU. docs/gallery.md has these figures.
"""

import argparse
import math
import os
import pathlib
import sys

import numpy as np

import iruka
from measure import device_timer, interleaved_times, markdown, processor

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(ROOT / "examples" / "kernels"), str(ROOT / "tests" / "python")]

import bilateral
import coins
import colour_difference
import corners
import edges
import eeg
import fm_radio
import gray_scott
import kepler
import local_contrast
import sky_background
import stereo
import t2_map
from pictures import photograph
from scipy import ndimage, signal
from skimage import exposure, feature

import gallery_references as references

try:
    import numba
except ImportError:
    numba = None

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def loops(function):
    """The function compiled by Numba, whose loops over prange run on all threads."""
    return numba.njit(parallel=True, fastmath=False)(function) if numba else None


@case
def bilateral_filter():
    picture = photograph("camera.png", "gray").astype(np.float32)
    host = picture.get()
    yield "Iruka", lambda: bilateral.denoised(picture)
    yield "NumPy", lambda: references.bilateral(host, 5, 2.5, 45.0)
    if numba:
        compiled = loops(bilateral_loops)
        yield "Numba", lambda: compiled(host, 5, np.float32(0.5 / 2.5**2), np.float32(0.5 / 45**2))


def bilateral_loops(image, radius, near, alike):
    height, width = image.shape
    out = np.empty_like(image)
    for row in numba.prange(height):
        y = np.int64(row)  # what prange gives is unsigned
        for x in range(width):
            total = weights = np.float32(0)
            for dy in range(max(-radius, -y), min(radius, height - 1 - y) + 1):
                for dx in range(max(-radius, -x), min(radius, width - 1 - x) + 1):
                    away = np.float32(dx * dx + dy * dy)
                    difference = image[y + dy, x + dx] - image[y, x]
                    weight = math.exp(-near * away - alike * difference * difference)
                    total += weight * image[y + dy, x + dx]
                    weights += weight
            out[y, x] = total / weights
    return out


def reaction_loops(u, v, feed, kill, next_u, next_v):
    height, width = u.shape
    for row in numba.prange(height):
        y = np.int64(row)  # what prange gives is unsigned
        up, down = y - 1, (y + 1) % height
        for x in range(width):
            left, right = x - 1, x + 1 if x + 1 < width else 0  # -1 is the last
            straight = u[up, x] + u[down, x] + u[y, left] + u[y, right]
            diagonal = u[up, left] + u[up, right] + u[down, left] + u[down, right]
            spread_u = np.float32(0.2) * straight + np.float32(0.05) * diagonal - u[y, x]
            straight = v[up, x] + v[down, x] + v[y, left] + v[y, right]
            diagonal = v[up, left] + v[up, right] + v[down, left] + v[down, right]
            spread_v = np.float32(0.2) * straight + np.float32(0.05) * diagonal - v[y, x]
            reacting = u[y, x] * v[y, x] * v[y, x]
            next_u[y, x] = u[y, x] + spread_u - reacting + feed[x] * (np.float32(1) - u[y, x])
            next_v[y, x] = v[y, x] + np.float32(0.5) * spread_v + reacting - (kill[y] + feed[x]) * v[y, x]


def gray_scott_steps(form):
    u, v = gray_scott.start(256, 256)
    feed, kill = (iruka.linspace(0.02, 0.06, 256, dtype=np.float32) for _ in range(2))
    hosts = [each.get() for each in (u, v, feed, kill)]
    yield "Iruka", lambda: gray_scott.simulated(u, v, feed, kill, 100, form)
    yield "NumPy", lambda: references.gray_scott(*hosts, 100)
    if numba:
        compiled, spare = loops(reaction_loops), [np.empty_like(each) for each in hosts[:2]]

        def steps():
            now, after = hosts[:2], spare
            for _ in range(100):
                compiled(*now, *hosts[2:], *after)
                now, after = after, now

        yield "Numba", steps


@case
def gray_scott_100_steps_elementwise():
    return gray_scott_steps("elementwise")


@case
def gray_scott_100_steps_rawkernel():
    return gray_scott_steps("rawkernel")


@case
def sky():
    picture = photograph("hubble_deep_field.jpg").astype(np.float32).mean(axis=2)
    host = picture.get()
    yield "Iruka", lambda: sky_background.background(picture)
    yield "NumPy", lambda: references.background(host, 32, 5, 3.0)


@case
def contrast():
    picture = photograph("moon.png", "gray")
    host = picture.get()
    yield "Iruka", lambda: local_contrast.equalised(picture)
    yield "scikit-image", lambda: exposure.equalize_adapthist(host, 64, 0.01)


@case
def disparities():
    left, right = (photograph(f"motorcycle_{side}.png", "gray") for side in ("left", "right"))
    hosts = left.get(), right.get()
    yield "Iruka", lambda: stereo.disparities(left, right)
    yield "NumPy", lambda: references.disparities(*hosts, 4, 64)
    if numba:
        compiled = loops(match_loops)
        padded = np.pad(hosts[0], 4, mode="edge"), np.pad(hosts[1], ((4, 4), (68, 4)), mode="edge")
        yield "Numba", lambda: compiled(*(each.astype(np.float32) for each in padded), 4, 64)


def match_loops(left, right, radius, shifts):
    side = 2 * radius + 1
    height, width = left.shape[0] - 2 * radius, left.shape[1] - 2 * radius
    out = np.empty((height, width), np.float32)
    for row in numba.prange(height):
        y = np.int64(row)  # what prange gives is unsigned
        for x in range(width):
            least, best = np.float32(np.inf), 0
            for shift in range(shifts):
                total = np.float32(0)
                for dy in range(side):
                    for dx in range(side):
                        total += abs(left[y + dy, x + dx] - right[y + dy, x + dx + shifts - shift])
                if total < least:
                    least, best = total, shift
            out[y, x] = best
    return out


@case
def canny():
    picture = photograph("camera.png", "gray")
    host = picture.get().astype(float)
    yield "Iruka", lambda: edges.connected(edges.ridges(edges.smoothed(picture, 1.5)), 20, 60)
    yield "scikit-image", lambda: feature.canny(host, 1.5, 20, 60)


@case
def corner_detector():
    picture = photograph("camera.png", "gray").astype(np.float32)
    host = picture.get()
    yield "Iruka", lambda: corners.corners(picture)
    yield "scikit-image", lambda: feature.corner_peaks(feature.corner_harris(host, sigma=1), 1)


@case
def components():
    mask = photograph("coins.png", "gray") > 110
    host = mask.get()
    yield "Iruka", lambda: coins.components(mask)
    yield "SciPy", lambda: ndimage.label(host, np.ones((3, 3)))


@case
def ciede2000():
    picture = photograph("astronaut.png")
    host = picture.get()
    yield "Iruka", lambda: colour_difference.difference(picture, (200, 90, 50))
    yield "scikit-image", lambda: references.colour_difference(host, (200, 90, 50))


@case
def kepler_equation():
    rng = np.random.default_rng(2)
    mean, eccentricity = rng.uniform(-3, 3, 2**20), rng.uniform(0, 0.95, 2**20)
    given = iruka.asarray(mean), iruka.asarray(eccentricity)
    yield "Iruka", lambda: kepler.eccentric_anomaly(*given)
    yield "NumPy", lambda: newton(mean, eccentricity)
    if numba:
        compiled = numba.vectorize(["float64(float64, float64)"], target="parallel")(kepler.eccentric_anomaly.py_func)
        yield "Numba", lambda: compiled(mean, eccentricity)


def newton(mean, eccentricity):
    """The example's steps on whole arrays, until all elements have converged."""
    anomaly = mean + 0.85 * np.copysign(eccentricity, mean)
    for _ in range(30):
        sine, cosine = eccentricity * np.sin(anomaly), eccentricity * np.cos(anomaly)
        residual, slope = anomaly - sine - mean, 1 - cosine
        step = residual / (slope - 0.5 * residual * sine / slope)
        anomaly -= step
        if np.abs(step).max() < 1e-7:
            break
    return anomaly


@case
def filters():
    raw = eeg.recording(64, 30)
    sections = np.stack([eeg.section("notch", 50, 20), eeg.section("notch", 150, 20), eeg.section("pass", 10, 1.0)])
    given = iruka.asarray(raw), iruka.asarray(sections)
    yield "Iruka", lambda: eeg.filtered(*given)
    yield "SciPy", lambda: signal.sosfilt(sections, raw)
    if numba:
        compiled = numba.guvectorize(
            ["void(float64[:], float64[:, :], float64[:])"], "(n),(s,c)->(n)", target="parallel"
        )(eeg.filtered.py_func)
        yield "Numba", lambda: compiled(raw, sections)


@case
def demodulation():
    host = fm_radio.received(fm_radio.melody(2.0))
    samples = iruka.asarray(host)
    yield "Iruka", lambda: fm_radio.demodulated(samples, 0.3)
    yield "NumPy", lambda: references.demodulated(host, 0.3, fm_radio.RATE, fm_radio.DEVIATION)


@case
def relaxation():
    host, _ = t2_map.scan()
    echoes = iruka.asarray(host)
    yield "Iruka", lambda: t2_map.t2_map(echoes)
    yield "NumPy", lambda: np.apply_along_axis(t2_map.relaxation_time, 2, host)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="+", default=[""])
    options.add_argument("--repeats", type=int, default=7)
    options = options.parse_args()
    rows, timer = [], device_timer(iruka.default_device().synchronize)
    for name, function in CASES.items():
        if any(text in name for text in options.only):
            times = interleaved_times(dict(function()), options.repeats, timer=timer)
            seconds = {label: min(each) for label, each in times.items()}
            ours, theirs = seconds.pop("Iruka"), seconds.pop("Numba", None)
            ((label, other),) = seconds.items()
            numbas = [f"{theirs * 1e3:.2f}", f"{theirs / ours:.1f}"] if theirs else ["", ""]
            beside = [label, f"{other * 1e3:.2f}", f"{other / ours:.1f}"]
            rows.append([name.replace("_", " "), f"{ours * 1e3:.2f}", *beside, *numbas])
            print(*rows[-1], file=sys.stderr, sep="  ", flush=True)
    print(f"{processor()}, {os.cpu_count()} threads, {iruka.default_device()}\n")
    print(markdown(rows, ["example", "Iruka ms", "beside", "ms", "ratio", "Numba ms", "ratio"]))


if __name__ == "__main__":
    main()
