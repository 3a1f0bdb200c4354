"""Patch matching beside the example's kernel, a plain C++ box filter and the peak of the integer dot product.

python benchmarks/patch_matching.py [--rounds N] [--threads N] [--large] [--gpu] [--photographs A B]
Times are medians of alternating calls. Without photographs, pictures are smooth with noise. --large adds PatchMatch
beside exact matching of a megapixel, which takes minutes. --gpu measures exact matching on a GPU alone: by tensor cores
and by dot products of four bytes.
"""

import argparse
import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import iruka
from iruka import image

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(1, str(ROOT / "examples"))
from patch_match import ExactPatchMatch

from measure import device_timer, interleaved, interleaved_batches


def peers(folder):
    library = pathlib.Path(folder, "peers.so")
    source = ROOT / "benchmarks" / "baseline" / "patch_matching.cpp"
    subprocess.run(
        ["c++", "-std=c++20", "-O3", "-march=native", "-shared", "-fPIC", "-pthread", source, "-o", library], check=True
    )
    loaded = ctypes.CDLL(str(library))
    loaded.dot_products.restype = ctypes.c_int64
    return loaded


def smooth_picture(height, width, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    waves = 127 + 60 * np.sin(x / 17 + y / 29 + seed) + 50 * np.cos(y / 11 - seed)
    return np.clip(waves[..., None] + rng.normal(0, 8, (height, width, 3)), 0, 255).astype(np.uint8)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def medians(rounds, *calls):
    for call in calls:
        call()
    times = [[seconds(call) for call in calls] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times)]


def by_boxes(library, a, b, patch, threads):
    before = patch // 2
    margin = ((before, patch - 1 - before), (before, patch - 1 - before), (0, 0))
    first, second = (np.ascontiguousarray(np.pad(x, margin, "edge")) for x in (a, b))
    field = np.empty((*a.shape[:2], 2), np.int32)
    library.match_by_boxes(
        *(ctypes.c_void_p(x.ctypes.data) for x in (first, second)), *a.shape[:2], patch, 3, threads,
        ctypes.c_void_p(field.ctypes.data),
    )  # fmt: skip
    return field


#: Cases of a GPU: height, width, patch, and the milliseconds that are wanted.
GPU_CASES = ((134, 200, 3, 0.5), (512, 512, 7, 15), (1024, 1024, 3, 1000), (1024, 1024, 7, None))


def with_tiles(is_wanted, call):
    """The call by tensor cores, or without them."""

    def run():
        os.environ["IRUKA_PATCH_TILES"] = "1" if is_wanted else "0"
        return call()

    return run


def measure_gpu(pictures, rounds):
    """Milliseconds of a call until the device has finished."""
    wait = iruka.cuda.Device().synchronize
    for height, width, patch, wanted in GPU_CASES:
        a, b = (iruka.asarray(x) for x in pictures(height, width))

        def match(a=a, b=b, patch=patch):
            return image.nnf(a, b, patch)

        calls = {"tensor cores": with_tiles(True, match), "dot products": with_tiles(False, match)}
        found = [[iruka.asnumpy(x) for x in call()] for call in calls.values()]
        assert all(np.array_equal(x, y) for x, y in zip(*found)), "both ways must find the same"
        once = interleaved(calls, rounds, timer=device_timer(wait))
        once["tensor cores, many calls in a row"] = interleaved_batches(
            {0: calls["tensor cores"]}, {0: max(1, min(100, int(0.1 / once["tensor cores"])))}, rounds,
            device_timer(wait),
        )[0]  # fmt: skip
        print(f"{width} x {height}, patch {patch}, colour" + (f" (wanted: {wanted} ms)" if wanted else ""))
        for name, each in once.items():
            print(f"  {name}: {each * 1e3:.3f} ms, {(height * width) ** 2 / each / 1e12:.2f} T pairs/s", flush=True)
    os.environ.pop("IRUKA_PATCH_TILES")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--photographs", nargs=2)
    given = parser.parse_args()
    iruka.set_num_threads(given.threads)

    def pictures(height, width):
        if not given.photographs:
            return smooth_picture(height, width, 1), smooth_picture(height, width, 2)
        read = [iruka.asnumpy(image.imread(path)) for path in given.photographs]
        return [np.ascontiguousarray(np.resize(x, (max(height, len(x)), x.shape[1], 3))[:height, :width]) for x in read]

    if given.gpu:
        with iruka.device("cuda"):
            return measure_gpu(pictures, given.rounds)
    with tempfile.TemporaryDirectory() as folder:
        library = peers(folder)
        a, b = pictures(134, 200)
        pairs = (134 * 200) ** 2
        article = ExactPatchMatch(3, a, b)
        rounds = 10_000_000
        ours, theirs, peak = medians(
            given.rounds,
            lambda: image.nnf(a, b, 3),
            article.get_nnf,
            lambda: library.dot_products(ctypes.c_int64(rounds), given.threads),
        )
        products = library.dot_products(ctypes.c_int64(1), given.threads) * rounds / peak
        field = iruka.asnumpy(image.nnf(a, b, 3).field)
        assert np.array_equal(field, article.nnf[..., ::-1])
        print(f"{given.threads} threads, 200 x 134, patch 3, colour: {ours * 1e3:.1f} ms")
        print(f"  the example's kernel string: {theirs * 1e3:.1f} ms, {theirs / ours:.1f} times")
        if products:
            print(f"  {27 * pairs / ours / 1e9:.0f} G products/s, {27 * pairs / ours / products:.2f} of the peak")

        size = 512
        a, b = pictures(size, size)
        fields = []
        ours = seconds(lambda: fields.append(iruka.asnumpy(image.nnf(a, b, 7).field)))
        theirs = seconds(lambda: fields.append(by_boxes(library, a, b, 7, given.threads)))
        assert np.array_equal(*fields)
        print(f"{size} x {size}, patch 7, colour: {ours:.2f} s")
        print(f"  a plain box filter: {theirs:.2f} s, {theirs / ours:.1f} times")

        size = 1024 if given.large else 256
        a, b = pictures(size, size)
        for patch in (3, 7):
            exact = []
            exact_time = seconds(lambda: exact.append(image.nnf(a, b, patch)))
            exact_distance = iruka.asnumpy(exact[0].distances).astype(float)
            for iterations in (2, 5, 8):
                near = []
                image.nnf(a[:32], b[:32], patch, "patchmatch", iterations=1)  # compiles
                near_time = seconds(lambda: near.append(image.nnf(a, b, patch, "patchmatch", iterations=iterations)))
                distance = iruka.asnumpy(near[0].distances).astype(float)
                print(
                    f"{size} x {size}, patch {patch}, PatchMatch, {iterations} iterations: {near_time:.3f} s, exact "
                    f"{exact_time:.2f} s, 1/{exact_time / near_time:.0f} of the time; mean distance "
                    f"{distance.mean() / exact_distance.mean():.3f} times, its root "
                    f"{np.sqrt(distance).mean() / np.sqrt(exact_distance).mean():.3f} times"
                )


if __name__ == "__main__":
    main()
