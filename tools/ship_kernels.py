"""Compiles what the library's own functions need for usual dtypes and layouts: ship_kernels.py FOLDER.

The build runs it into the folder `kernels` of the package, where read_shipped (src/jit/cache.cpp) finds it, so that
these functions do not pause at first use. It calls each function on small arrays, and reductions also on large ones and
pictures, which they walk in other ways (src/ops/reduce/reduction_plan.h), with FOLDER as the disk cache.
benchmarks/first_use.py measures the same calls.
"""

import functools
import os
import pathlib
import subprocess
import sys

if __name__ == "__main__":  # before iruka is imported, which reads them
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: ship_kernels.py FOLDER")
    os.environ |= {
        "IRUKA_CACHE_DIR": sys.argv[1],
        "IRUKA_CACHE_SIZE": "1G",
        "IRUKA_SHIPPED_KERNELS": "0",
        "IRUKA_DEVICE": "cpu",
    }

import numpy as np

import iruka as cp
from iruka._functions import elementwise, reductions

DTYPES = ("float32", "float64", "int64", "uint8", "bool")
MORE_DTYPES = ("int32", "complex128")
ALL_DTYPES = DTYPES + MORE_DTYPES
# x and y: 1000 elements; m and n: 32 x 32; r and c: a row and a column; d: positive definite; i: indices; k: int64;
# v and w: a vector and a matrix that are cut into chunks; p and q: pictures of 3 and 4 channels.
# The operands of operators: scalars, and the layouts that need separate kernels.
OPERANDS = "x, 2 | 2, x | x, k | k, x | m, r | m, c | m, m.T | x[::2], y[::2] | m[:, ::2], n[:, ::2]"
OPERATORS = "add subtract multiply divide power maximum minimum less greater equal logical_and"
IN_PLACE = (
    "x += y | x -= y | x *= y | x /= y | x += 1 | x *= 2 | x[:] = y"
    " | m[1:3] = 1 | m[:, 0] = 2 | m += r | m -= c | m[...] = 0"
)
REDUCED = "(m, axis=0) | (m, axis=1) | (v) | (w, axis=0) | (w[:30], axis=0)"
PICTURES = "(p, axis=-1) | (p, axis=1) | (p, axis=(0, 1)) | (q, axis=-1)"
PICTURE_DTYPES = ("float32", "float64", "uint8", "bool")
PICTURE_FUNCTIONS = "sum mean std var min max any all argmin argmax"
CASTS = "float32 float64 int64 int32 uint8 bool complex128 complex64 float16"
CALLS = """
    -x | x.copy() | m.copy('F') | m.T.copy() | x.fill(1) | m.flatten() | x.tolist() | abs(x) | divmod(x, y) | x.round()
    cp.arange(1000) | cp.arange(9, dtype=x.dtype) | cp.linspace(0, 1, 1000) | cp.eye(30) | cp.eye(9, dtype=x.dtype)
    cp.full(1000, 3.0) | cp.ones(1000) | cp.zeros(1000)
    cp.sum(m, axis=0) | cp.sum(m, axis=1) | cp.mean(m, axis=0) | cp.max(m, axis=1) | cp.argmax(m, axis=1) | cp.std(x)
    cp.var(m, axis=0) | cp.median(x) | cp.percentile(x, 30) | cp.quantile(m, 0.5, axis=0) | cp.average(x) | cp.ptp(x)
    cp.nansum(x) | cp.nanmax(x) | cp.nanmean(x) | cp.nanstd(x) | cp.cumsum(x) | cp.cumprod(x)
    cp.prod(x - x) | cp.prod(m - m, axis=0) | cp.diff(x) | cp.gradient(x)
    cp.histogram(x, 10) | cp.bincount(i) | cp.digitize(x, x[:10]) | cp.searchsorted(x, y) | cp.cov(m) | cp.corrcoef(m)
    cp.add.accumulate(x) | cp.maximum.reduce(x) | cp.subtract.reduce(x) | cp.add.reduceat(x, [0, 5])
    cp.add.outer(x, x[:9])
    x[i] | x[x > 1] | m[i, 3] | cp.take(x, i) | cp.where(x > 1, x, y) | cp.nonzero(x) | cp.clip(x, 0, 1) | cp.tril(m)
    cp.take_along_axis(m, m.argsort(axis=1), 1) | cp.compress(x > 1, x) | cp.diagonal(m) | cp.trace(m) | cp.argwhere(x)
    put(x, i) | mask(x) | place(m) | cp.sort(x) | cp.argsort(x) | cp.partition(x, 3) | cp.unique(x) | cp.isin(x, y)
    cp.union1d(x, y) | cp.lexsort((x, y)) | cp.concatenate([x, y]) | cp.stack([x, y]) | cp.tile(x, 3)
    cp.repeat(x, 3) | cp.roll(x, 3)
    cp.flip(x) | cp.pad(m, 1) | cp.rot90(m) | cp.meshgrid(x[:9], y[:9]) | cp.allclose(x, y) | cp.nan_to_num(x)
    cp.interp(x, y, y) | cp.convolve(x, x[:9]) | cp.trapezoid(x) | cp.polyval(x[:4], y) | cp.outer(x[:9], y)
    cp.kron(m, m)
    m @ m | x @ y | cp.tensordot(m, m) | cp.einsum('ij,kj->ik', m, m) | cp.cross(x[:3], y[:3]) | cp.vdot(x, y)
    cp.linalg.norm(x) | cp.linalg.norm(m, axis=0) | cp.linalg.inv(d) | cp.linalg.solve(d, d) | cp.linalg.det(d)
    cp.linalg.svd(m) | cp.linalg.qr(m) | cp.linalg.eigh(d) | cp.linalg.cholesky(d) | cp.linalg.pinv(d)
    cp.linalg.lstsq(d, d)
    cp.fft.fft(x) | cp.fft.rfft(x) | cp.fft.ifft(x) | cp.fft.fftshift(x) | cp.fft.fftfreq(9)
    cp.packbits(x > 1) | cp.unpackbits(b)
"""
DRAWS = """
    random(99) | normal(size=99) | standard_normal(99) | uniform(1, 2, 99) | integers(0, 9, 99) | exponential(1, 99)
    gamma(2, 1, 99)
    beta(2, 3, 99) | chisquare(3, 99) | standard_t(3, 99) | f(3, 4, 99) | lognormal(0, 1, 99) | laplace(0, 1, 99)
    logistic(0, 1, 99) | gumbel(0, 1, 99) | pareto(3, 99) | power(3, 99) | rayleigh(1, 99) | triangular(0, 1, 2, 99)
    vonmises(0, 1, 99) | wald(1, 1, 99) | weibull(2, 99) | poisson(3, 99) | binomial(9, 0.4, 99) | geometric(0.4, 99)
    negative_binomial(3, 0.4, 99) | hypergeometric(9, 9, 5, 99) | logseries(0.4, 99) | zipf(2, 99)
    noncentral_chisquare(2, 1, 99)
    noncentral_f(2, 3, 1, 99) | multinomial(9, [0.4, 0.6], 99) | dirichlet([1, 2], 99)
    multivariate_normal([0, 1], [[1, 0], [0, 1]], 99)
    permutation(99) | choice(99, 9) | choice(99, 9, replace=False) | standard_cauchy(99) | bytes(9) | normal(a, 1)
    gamma(a, 1) | poisson(a) | standard_normal(99, 'float32') | standard_gamma(2, 99, 'float32')
"""


def put(x, i):
    x[i] = 1


def mask(x):
    x[x > 1] = 0


def place(m):
    m[1:3, ::2] = 1


def texts(table):
    return [text.strip() for text in table.replace("\n", "|").split("|") if text.strip()]


def operations():
    """(name, expression, dtypes) of the calls that are measured."""
    for name in sorted({f._name for f in elementwise.values()}):
        arguments = ", ".join(("x", "y", "y")[: elementwise[name].nin])
        yield name, f"elementwise[{name!r}]({arguments})", DTYPES
    for name in sorted({f.__name__ for f in reductions.values()}):
        yield name, f"reductions[{name!r}](x)", DTYPES
    for text in texts(CALLS):
        yield text, text, DTYPES
    for text in texts(DRAWS):
        yield "random: " + text, "g." + text, ("float64",)


def layouts():
    """(statement, dtypes) of further kernels to compile: other layouts, scalars and dtypes."""
    for name in OPERATORS.split():
        for operands in texts(OPERANDS):
            yield f"elementwise[{name!r}]({operands})", DTYPES
    for name, function in elementwise.items():
        if function.nin == 1:
            yield f"elementwise[{name!r}](x[::2])", ("float32", "float64")
        yield f"elementwise[{name!r}]({', '.join('xyy'[: function.nin])})", MORE_DTYPES
    for name in (*reductions, "std", "var", "linalg.norm"):
        for call in texts(REDUCED):
            yield f"cp.{name}{call}", DTYPES
        yield f"cp.{name}(x)", MORE_DTYPES
    for name in PICTURE_FUNCTIONS.split():
        for call in texts(PICTURES):
            yield f"cp.{name}{call}", PICTURE_DTYPES
    # Other values are decided by the first elements.
    yield "cp.any(cp.zeros_like(v))", DTYPES
    yield "cp.all(cp.ones_like(v))", DTYPES
    for statement in texts(IN_PLACE):
        yield statement, ALL_DTYPES
    for dtype in CASTS.split():
        yield f"x.astype({dtype!r})", ALL_DTYPES


@functools.cache
def values(dtype):
    """The names that the calls use."""
    rng = np.random.default_rng(1)
    x, y, m = ((rng.random(shape) * 3 + 0.1).astype(dtype) for shape in (1000, 1000, (32, 32)))
    d = (np.eye(8) * 9 + rng.random((8, 8))).astype(dtype)
    arrays = dict(
        x=x, y=np.sort(y), m=m, n=m + m, r=m[0], c=m[:, :1], d=(d + d.T).astype(dtype), i=rng.integers(0, 9, 50)
    )
    arrays |= dict(b=x.astype("uint8"), a=x, k=x.astype("int64"))
    arrays |= dict(
        v=np.resize(x, 100_000),
        w=np.resize(x, (200, 1000)),
        p=np.resize(x, (256, 256, 3)),
        q=np.resize(x, (256, 256, 4)),
    )
    return {name: cp.asarray(value) for name, value in arrays.items()} | {"g": cp.random.default_rng(3)}


def run_all(part, parts):
    statements = [(expression, dtypes) for _, expression, dtypes in operations()] + list(layouts())
    for dtype in ALL_DTYPES:
        for statement, dtypes in statements[part::parts]:
            if dtype in dtypes:
                try:
                    exec(statement, globals() | values(dtype))
                except (TypeError, ValueError, cp.errors.Error, np.linalg.LinAlgError):
                    pass  # no such loop
    cp.finish_background_compilation()


def main():
    """One process for each core (at most 8), each with its share of the calls; disk caches are made for several
    writers.
    """
    parts = min(os.cpu_count() or 1, 8)
    if len(sys.argv) > 2:
        return run_all(int(sys.argv[2]), parts)
    folder = pathlib.Path(sys.argv[1])
    if folder.is_dir():  # what this build uses is touched, the rest goes
        for entry in folder.iterdir():
            os.utime(entry, (0, 0))
    command = [sys.executable, "-W", "ignore", __file__, sys.argv[1]]
    workers = [subprocess.Popen([*command, str(part)]) for part in range(parts)]
    failed = [worker.wait() for worker in workers]  # every one, also after a failure
    if any(failed):
        sys.exit("ship_kernels.py: a worker failed")
    folder.chmod(0o755)  # caches are private to their owner
    for entry in folder.iterdir():
        if entry.stat().st_mtime < 1:
            entry.unlink()
        else:
            entry.chmod(0o644)


if __name__ == "__main__":
    main()
