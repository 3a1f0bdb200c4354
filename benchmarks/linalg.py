"""Products, decompositions and Fourier transforms beside NumPy, on the CPU.

Usage: PYTHONPATH=build/release/python python benchmarks/linalg.py [--only TEXT] [--repeats N]
Prints a table: both in milliseconds, and how many times faster Iruka is. NumPy's FFT runs on one thread, its BLAS on all.
"""

import argparse

import numpy as np

import iruka as cp
from measure import interleaved, markdown, processor

RNG = np.random.default_rng(0)


def real(*shape, dtype="float64"):
    return RNG.standard_normal(shape).astype(dtype)


def definite(n):
    x = real(n, n)
    return x @ x.T + n * np.eye(n)


def integers(*shape, dtype="int32"):
    return RNG.integers(-100, 100, shape).astype(dtype)


def complex_signal(*shape, dtype="complex128"):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


# name, function of a module (numpy or iruka) and arrays, the arrays
CASES = [
    ("matmul float32 32²", lambda m, a: a @ a, lambda: [real(32, 32, dtype="float32")]),
    ("matmul float32 1000²", lambda m, a: a @ a, lambda: [real(1000, 1000, dtype="float32")]),
    ("matmul float64 2000²", lambda m, a: a @ a, lambda: [real(2000, 2000)]),
    ("matmul float64 1000² transposed", lambda m, a: a.T @ a, lambda: [real(1000, 1000)]),
    ("matmul float64 strided rows 1000²", lambda m, a: a[::2] @ a[::2].T, lambda: [real(1000, 1000)]),
    ("matvec float64 2000²", lambda m, a, v: a @ v, lambda: [real(2000, 2000), real(2000)]),
    ("matmul float32 4x4, batch 100000", lambda m, a: a @ a, lambda: [real(100000, 4, 4, dtype="float32")]),
    ("matmul float64 32², batch 1000", lambda m, a: a @ a, lambda: [real(1000, 32, 32)]),
    ("matmul int32 32²", lambda m, a: a @ a, lambda: [integers(32, 32)]),
    ("matmul int32 500²", lambda m, a: a @ a, lambda: [integers(500, 500)]),
    ("matmul int64 500²", lambda m, a: a @ a, lambda: [integers(500, 500, dtype="int64")]),
    ("matmul int8 500²", lambda m, a: a @ a, lambda: [integers(500, 500, dtype="int8")]),
    ("matmul float16 500²", lambda m, a: a @ a, lambda: [real(500, 500, dtype="float16")]),
    ("matmul bool 500²", lambda m, a: a @ a, lambda: [integers(500, 500) > 0]),
    ("dot float64 1e3", lambda m, a: m.dot(a, a), lambda: [real(1000)]),
    ("dot float64 1e6", lambda m, a: m.dot(a, a), lambda: [real(1_000_000)]),
    ("einsum ij,jk,kl 200²", lambda m, a: m.einsum("ij,jk,kl->il", a, a, a, optimize=True), lambda: [real(200, 200)]),
    ("einsum bij,bkj->bik", lambda m, a: m.einsum("bij,bkj->bik", a, a), lambda: [real(64, 40, 50)]),
    ("inv 32²", lambda m, a: m.linalg.inv(a), lambda: [definite(32)]),
    ("inv 1000²", lambda m, a: m.linalg.inv(a), lambda: [definite(1000)]),
    ("solve 1000², 10 sides", lambda m, a, b: m.linalg.solve(a, b), lambda: [definite(1000), real(1000, 10)]),
    ("solve 8², batch 10000", lambda m, a: m.linalg.solve(a, a), lambda: [np.eye(8) * 9 + real(10000, 8, 8)]),
    ("det 4², batch 100000", lambda m, a: m.linalg.det(a), lambda: [real(100000, 4, 4)]),
    ("cholesky 1000²", lambda m, a: m.linalg.cholesky(a), lambda: [definite(1000)]),
    ("qr 500²", lambda m, a: m.linalg.qr(a)[0], lambda: [real(500, 500)]),
    ("svd 300²", lambda m, a: m.linalg.svd(a)[0], lambda: [real(300, 300)]),
    ("svd 16x8, batch 1000", lambda m, a: m.linalg.svd(a, False)[0], lambda: [real(1000, 16, 8)]),
    ("eigh 300²", lambda m, a: m.linalg.eigh(a)[0], lambda: [definite(300)]),
    ("eigvals 200²", lambda m, a: m.linalg.eigvals(a), lambda: [real(200, 200)]),
    ("fft complex128 1e3", lambda m, a: m.fft.fft(a), lambda: [complex_signal(1000)]),
    ("fft complex128 1e6", lambda m, a: m.fft.fft(a), lambda: [complex_signal(1_000_000)]),
    ("fft complex64 2^20", lambda m, a: m.fft.fft(a), lambda: [complex_signal(1 << 20, dtype="complex64")]),
    ("fft complex128 1e7", lambda m, a: m.fft.fft(a), lambda: [complex_signal(10_000_000)]),
    ("fft complex128 1000003 (prime)", lambda m, a: m.fft.fft(a), lambda: [complex_signal(1_000_003)]),
    ("rfft float32 1e6", lambda m, a: m.fft.rfft(a), lambda: [real(1_000_000, dtype="float32")]),
    ("irfft complex128 1e6", lambda m, a: m.fft.irfft(a), lambda: [complex_signal(500_001)]),
    ("fft rows 1000x1000", lambda m, a: m.fft.fft(a), lambda: [complex_signal(1000, 1000)]),
    ("fft columns 1000x1000", lambda m, a: m.fft.fft(a, axis=0), lambda: [complex_signal(1000, 1000)]),
    ("rfft2 float32 1024²", lambda m, a: m.fft.rfft2(a), lambda: [real(1024, 1024, dtype="float32")]),
    ("fft2 complex64 2048²", lambda m, a: m.fft.fft2(a), lambda: [complex_signal(2048, 2048, dtype="complex64")]),
]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    options.add_argument("--repeats", type=int, default=9)
    given = options.parse_args()
    rows = []
    with cp.device("cpu"):
        for name, function, make in CASES:
            if given.only not in name:
                continue
            arrays = make()
            ours = [cp.asarray(a) for a in arrays]
            times = interleaved(
                {"iruka": lambda: function(cp, *ours), "numpy": lambda: function(np, *arrays)}, given.repeats
            )
            rows.append((name, *(f"{times[k] * 1e3:.3f}" for k in ("iruka", "numpy")), f"{times['numpy'] / times['iruka']:.2f}"))
    ratios = [float(row[-1]) for row in rows]
    print(f"{processor()}, {cp.get_num_threads()} threads")
    print(markdown(rows, ("case", "iruka ms", "numpy ms", "times")))
    print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main()
