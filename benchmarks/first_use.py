"""How long the first call of each operation takes where nothing is compiled yet: first_use.py [--only TEXT] [--repeats N].

Each call runs in one process on an array of 1000 elements, after the program table and the disk cache were emptied; what is
printed is the least of the repeats, so that other work of the machine does not count. A new process adds `the compiler
itself`, once.
"""

import argparse
import os
import statistics
import tempfile
import time

folder = tempfile.TemporaryDirectory(prefix="iruka-first-use-")
os.environ["IRUKA_CACHE_DIR"] = folder.name

import numpy as np  # noqa: E402

import iruka as cp  # noqa: E402
from iruka._functions import elementwise, reductions  # noqa: E402

DTYPES = ("float32", "float64", "int64", "uint8", "bool")
# x and y: 1000 elements; m: 32 x 32; i: indices; g: a generator.
CALLS = """
    x + y | x * 2 | -x | x < y | x.astype('float64') | x.copy() | m + m.T | m.copy('F') | x[::2] + y[::2]
    cp.arange(1000) | cp.linspace(0, 1, 1000) | cp.eye(30) | cp.full(1000, 3.0) | cp.ones(1000) | cp.zeros(1000)
    cp.sum(m, axis=0) | cp.sum(m, axis=1) | cp.mean(m, axis=0) | cp.max(m, axis=1) | cp.argmax(m, axis=1) | cp.std(x)
    cp.var(m, axis=0) | cp.median(x) | cp.percentile(x, 30) | cp.quantile(m, 0.5, axis=0) | cp.average(x) | cp.ptp(x)
    cp.nansum(x) | cp.nanmax(x) | cp.nanmean(x) | cp.nanstd(x) | cp.cumsum(x) | cp.cumprod(x) | cp.diff(x) | cp.gradient(x)
    cp.histogram(x, 10) | cp.bincount(i) | cp.digitize(x, x[:10]) | cp.searchsorted(x, y) | cp.cov(m) | cp.corrcoef(m)
    cp.add.accumulate(x) | cp.maximum.reduce(x) | cp.subtract.reduce(x) | cp.add.reduceat(x, [0, 5]) | cp.add.outer(x, x[:9])
    x[i] | x[x > 1] | m[i, 3] | cp.take(x, i) | cp.where(x > 1, x, y) | cp.nonzero(x) | cp.clip(x, 0, 1) | cp.tril(m)
    cp.take_along_axis(m, m.argsort(axis=1), 1) | cp.compress(x > 1, x) | cp.diagonal(m) | cp.trace(m) | cp.argwhere(x)
    put(x, i) | mask(x) | place(m) | cp.sort(x) | cp.argsort(x) | cp.partition(x, 3) | cp.unique(x) | cp.isin(x, y)
    cp.union1d(x, y) | cp.lexsort((x, y)) | cp.concatenate([x, y]) | cp.stack([x, y]) | cp.tile(x, 3) | cp.roll(x, 3)
    cp.flip(x) | cp.pad(m, 1) | cp.rot90(m) | cp.meshgrid(x[:9], y[:9]) | cp.allclose(x, y) | cp.nan_to_num(x)
    cp.interp(x, y, y) | cp.convolve(x, x[:9]) | cp.trapezoid(x) | cp.polyval(x[:4], y) | cp.outer(x[:9], y) | cp.kron(m, m)
    m @ m | x @ y | cp.tensordot(m, m) | cp.einsum('ij,kj->ik', m, m) | cp.cross(x[:3], y[:3]) | cp.vdot(x, y)
    cp.linalg.norm(x) | cp.linalg.norm(m, axis=0) | cp.linalg.inv(d) | cp.linalg.solve(d, d) | cp.linalg.det(d)
    cp.linalg.svd(m) | cp.linalg.qr(m) | cp.linalg.eigh(d) | cp.linalg.cholesky(d) | cp.linalg.pinv(d) | cp.linalg.lstsq(d, d)
    cp.fft.fft(x) | cp.fft.rfft(x) | cp.fft.ifft(x) | cp.fft.fftshift(x) | cp.packbits(x > 1) | cp.unpackbits(b)
"""
DRAWS = """
    random(99) | normal(size=99) | standard_normal(99) | uniform(1, 2, 99) | integers(0, 9, 99) | exponential(1, 99) | gamma(2, 1, 99)
    beta(2, 3, 99) | chisquare(3, 99) | standard_t(3, 99) | f(3, 4, 99) | lognormal(0, 1, 99) | laplace(0, 1, 99)
    logistic(0, 1, 99) | gumbel(0, 1, 99) | pareto(3, 99) | power(3, 99) | rayleigh(1, 99) | triangular(0, 1, 2, 99)
    vonmises(0, 1, 99) | wald(1, 1, 99) | weibull(2, 99) | poisson(3, 99) | binomial(9, 0.4, 99) | geometric(0.4, 99)
    negative_binomial(3, 0.4, 99) | hypergeometric(9, 9, 5, 99) | logseries(0.4, 99) | zipf(2, 99) | noncentral_chisquare(2, 1, 99)
    noncentral_f(2, 3, 1, 99) | multinomial(9, [0.4, 0.6], 99) | dirichlet([1, 2], 99) | multivariate_normal([0, 1], [[1, 0], [0, 1]], 99)
    permutation(99) | choice(99, 9) | choice(99, 9, replace=False) | standard_cauchy(99) | bytes(9) | normal(a, 1)
    gamma(a, 1) | poisson(a) | standard_normal(99, 'float32') | standard_gamma(2, 99, 'float32')
"""


def put(x, i):
    x[i] = 1


def mask(x):
    x[x > 1] = 0


def place(m):
    m[1:3, ::2] = 1


def operations():
    """(name, expression, dtypes)"""
    for name in sorted({f.__name__ for f in elementwise.values()}):
        arguments = ", ".join(("x", "y", "y")[: elementwise[name].nin])
        yield name, f"elementwise[{name!r}]({arguments})", DTYPES
    for name in sorted({f.__name__ for f in reductions.values()}):
        yield name, f"reductions[{name!r}](x)", DTYPES
    for text in CALLS.replace("\n", "|").split("|"):
        if text.strip():
            yield text.strip(), text.strip(), DTYPES
    for text in DRAWS.replace("\n", "|").split("|"):
        if text.strip():
            yield "random: " + text.strip(), "g." + text.strip(), ("float64",)


def values(dtype):
    rng = np.random.default_rng(1)
    x, y, m = ((rng.random(shape) * 3 + 0.1).astype(dtype) for shape in (1000, 1000, (32, 32)))
    d = (np.eye(8) * 9 + rng.random((8, 8))).astype(dtype)
    arrays = dict(x=x, y=np.sort(y), m=m, d=(d + d.T).astype(dtype), i=rng.integers(0, 9, 50), b=x.astype("uint8"), a=x)
    return {name: cp.asarray(value) for name, value in arrays.items()} | {"g": cp.random.default_rng(3)}


def first_call(call):
    """Milliseconds of one call with nothing compiled, and the kernels that were compiled in it."""
    cp.finish_background_compilation()
    cp.clear_cache()
    cp.clear_kernel_history()
    start = time.perf_counter()
    call()
    cp.default_device().synchronize()
    elapsed = time.perf_counter() - start
    return elapsed * 1e3, sum(1 for event in cp.kernel_history() if event.kind == "compiled")


def measure(only, repeats):
    namespace = {"cp": cp, "elementwise": elementwise, "reductions": reductions, "put": put, "mask": mask, "place": place}
    data = {dtype: values(dtype) for dtype in DTYPES}
    rows = []
    for name, expression, dtypes in operations():
        if only and only not in name:
            continue
        code = compile(expression, name, "eval")
        for dtype in dtypes:
            call = lambda: eval(code, namespace | data[dtype])  # noqa: E731
            try:
                call()
            except (TypeError, ValueError, cp.errors.Error, np.linalg.LinAlgError):
                continue  # no such loop
            times = [first_call(call) for _ in range(repeats)]
            rows.append((*min(times), name, dtype))
    return sorted(rows, reverse=True)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", help="operations whose name holds this text")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--worst", type=int, default=30)
    options = options.parse_args()
    start = time.perf_counter()
    cp.ElementwiseKernel("float32 x", "float32 y", "y = x + 1", "first")(cp.zeros(9, "float32"))
    new_process = (time.perf_counter() - start) * 1e3
    np.seterr(all="ignore")
    rows = measure(options.only, options.repeats)
    times = [row[0] for row in rows]
    print(f"{len(rows)} first calls: median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms; "
          f"over 15 ms {sum(t > 15 for t in times)}, over 30 ms {sum(t > 30 for t in times)}")
    print(f"the first kernel of a new process: {new_process:.1f} ms")
    print("   ms  kernels  operation, dtype")
    for elapsed, kernels, name, dtype in rows[: options.worst]:
        print(f"{elapsed:6.1f} {kernels:5}    {name}, {dtype}")


if __name__ == "__main__":
    main()
