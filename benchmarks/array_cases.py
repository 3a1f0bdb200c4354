"""The cases of benchmarks/arrays.py: one table, and the values of its operands.

A case's call takes a module with NumPy's names, and operands by the names of its parameters. Floats are float32 where
the name does not say otherwise, as arrays are on GPUs.
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np

LARGE, MIDDLE = 10**8, 10**6  # elements
LAYOUTS = ("contiguous", "strided", "transposed")


def normal(dtype):
    # Pieces repeat in long arrays: making random numbers would take longer than the benchmark.
    return lambda n, rng: np.resize(rng.standard_normal(min(n, 1 << 22)).astype(dtype), n)


def integers(dtype, low, high):
    return lambda n, rng: np.resize(rng.integers(low, high, min(n, 1 << 22)).astype(dtype), n)


def complex_normal(dtype):
    return lambda n, rng: np.resize(rng.standard_normal(min(2 * n, 1 << 22)).view("complex128").astype(dtype), n)


def square(dtype, definite=False):
    def make(n, rng):
        side = math.isqrt(n)
        matrix = normal(dtype)(side * side, rng).reshape(side, side)
        return matrix @ matrix.T / side + np.eye(side, dtype=dtype) if definite else matrix

    return make


def stack(dtype, rows, definite=False):
    def make(n, rng):
        count = max(n // rows**2, 1)
        matrices = normal(dtype)(count * rows**2, rng).reshape(count, rows, rows)
        return matrices + 3 * rows * np.eye(rows, dtype=dtype) if definite else matrices

    return make


# Flat operands, which a layout may stride or transpose: functions of (elements, random generator).
FLAT = {
    "x": normal("float32"),
    "y": normal("float32"),
    "d": normal("float64"),
    "e": normal("float64"),
    "half": normal("float16"),
    "z": complex_normal("complex64"),
    "i": integers("int32", 0, 1000),
    "j": integers("int32", 1, 1000),
    "k": integers("int64", 0, 1000),
    "b": integers("uint8", 0, 256),
    "mask": integers("bool", 0, 2),
    "other": integers("bool", 0, 2),
    "positive": lambda n, rng: np.abs(normal("float32")(n, rng)) + np.float32(0.1),
}

# Operands with a shape of their own, of about n elements.
SHAPED = {
    "table": square("float32"),
    "table2": square("float32"),
    "row": lambda n, rng: normal("float32")(math.isqrt(n), rng),
    "narrow": lambda n, rng: normal("float32")(n // 4 * 4, rng).reshape(-1, 4),
    "wide": lambda n, rng: normal("float32")(max(n // 64, 1) * 64, rng).reshape(-1, 64),
    "volume": lambda n, rng: normal("float32")(round(n ** (1 / 3)) ** 3, rng).reshape((round(n ** (1 / 3)),) * 3),
    "index": lambda n, rng: rng.integers(0, n, n),
    "index32": lambda n, rng: rng.integers(0, n, n).astype("int32"),
    "near": lambda n, rng: np.minimum(np.arange(n) + np.resize(rng.integers(0, 64, min(n, 1 << 22)), n), n - 1),
    "rows": lambda n, rng: rng.integers(0, max(n // 64, 1), max(n // 64, 1)),
    "columns": lambda n, rng: integers("int64", 0, 64)(max(n // 64, 1) * 64, rng).reshape(-1, 64),
    "places": lambda n, rng: rng.integers(0, n, min(n, 10**6)),
    "tens": lambda n, rng: np.arange(0, n, 10),
    "rare": lambda n, rng: np.resize(rng.random(min(n, 1 << 22)) < 0.01, n),
    "counts": integers("int64", 0, 4),
    "edges": lambda n, rng: np.linspace(-3, 3, 101),
    "few": lambda n, rng: normal("float32")(15, rng),
    "out": lambda n, rng: np.empty(n, "float32"),
    "target": normal("float32"),
    "matrix": square("float64"),
    "vector": lambda n, rng: normal("float64")(math.isqrt(n), rng),
    "definite": square("float64", definite=True),
    "integral": lambda n, rng: square("float64")(n, rng).astype("int32"),
    "bits": lambda n, rng: square("float64")(n, rng) > 0,
    "halves": square("float16"),
    "stack4": stack("float32", 4),
    "stack16": stack("float64", 16),
    "definite4": stack("float64", 4, definite=True),
    "definite8": stack("float64", 8, definite=True),
    "signal": complex_normal("complex64"),
    "signal128": complex_normal("complex128"),
    "signals": lambda n, rng: complex_normal("complex64")(math.isqrt(n) ** 2, rng).reshape((math.isqrt(n),) * 2),
}
WRITTEN = {"out", "target"}  # these are copies for each library


@dataclasses.dataclass(frozen=True)
class Case:
    """One operation. Those of the peers: PyTorch's takes its module, Numba's is compiled, numexpr's is its text."""

    name: str
    call: Callable
    layouts: tuple = ("contiguous",)
    torch: Callable | None = None
    numba: Callable | None = None
    numexpr: str | None = None
    most: int = LARGE  # elements

    def operands(self, call):
        """The names of the operands that `call` takes."""
        return [name for name in call.__code__.co_varnames[: call.__code__.co_argcount] if name not in ("m", "t")]


def alike(name, call, layouts=("contiguous",), **others):
    """A case that PyTorch writes as NumPy does."""
    return Case(name, call, layouts, torch=call, **others)


ELEMENTS = [
    alike("x + y", lambda m, x, y: x + y, LAYOUTS, numba=lambda x, y: x + y, numexpr="x + y"),
    alike("add(x, y, out=)", lambda m, x, y, out: m.add(x, y, out=out)),
    Case("add(x, y, where=, out=)", lambda m, x, y, mask, out: m.add(x, y, where=mask, out=out)),
    Case("add(x, y, dtype=float64)", lambda m, x, y: m.add(x, y, dtype="float64")),
    alike("d * e float64", lambda m, d, e: d * e, LAYOUTS, numba=lambda d, e: d * e, numexpr="d * e"),
    alike("x / y", lambda m, x, y: x / y, LAYOUTS, numexpr="x / y"),
    alike("x * 2 + 1", lambda m, x: x * 2 + 1, numba=lambda x: x * np.float32(2) + np.float32(1), numexpr="x * 2 + 1"),
    alike("i + j int32", lambda m, i, j: i + j, LAYOUTS, numba=lambda i, j: i + j, numexpr="i + j"),
    alike("i // j int32", lambda m, i, j: i // j),
    alike("i + x, int32 and float32", lambda m, i, x: i + x),
    alike("half + half float16", lambda m, half: half + half),
    alike("z * z complex64", lambda m, z: z * z, numexpr="z * z"),
    alike("b & b uint8", lambda m, b: b & b),
    alike("x < y", lambda m, x, y: x < y, LAYOUTS, numba=lambda x, y: x < y, numexpr="x < y"),
    alike("mask & other", lambda m, mask, other: mask & other),
    alike("sqrt", lambda m, positive: m.sqrt(positive), LAYOUTS, numexpr="sqrt(positive)"),
    alike("exp", lambda m, x: m.exp(x), LAYOUTS, numba=lambda x: np.exp(x), numexpr="exp(x)"),
    alike("log", lambda m, positive: m.log(positive), numexpr="log(positive)"),
    alike("sin", lambda m, x: m.sin(x), numba=lambda x: np.sin(x), numexpr="sin(x)"),
    alike("sin float64", lambda m, d: m.sin(d), numexpr="sin(d)"),
    alike("tanh", lambda m, x: m.tanh(x), numexpr="tanh(x)"),
    alike("arctan2", lambda m, x, y: m.arctan2(x, y), numexpr="arctan2(x, y)"),
    alike("hypot", lambda m, x, y: m.hypot(x, y)),
    alike("positive ** x", lambda m, positive, x: positive**x, numexpr="positive ** x"),
    alike("x ** 2", lambda m, x: x**2, numexpr="x ** 2"),
    alike("maximum", lambda m, x, y: m.maximum(x, y), LAYOUTS),
    alike("abs", lambda m, x: abs(x), numexpr="abs(x)"),
    alike("floor", lambda m, x: m.floor(x), numexpr="floor(x)"),
    alike("isnan", lambda m, x: m.isnan(x)),
    alike("clip", lambda m, x: m.clip(x, -1, 1)),
    alike(
        "where",
        lambda m, mask, x, y: m.where(mask, x, y),
        LAYOUTS,
        numba=lambda mask, x, y: np.where(mask, x, y),
        numexpr="where(mask, x, y)",
    ),
    Case("round 2", lambda m, x: m.round(x, 2), torch=lambda t, x: t.round(x, decimals=2)),
    Case("nan_to_num", lambda m, x: m.nan_to_num(x), torch=lambda t, x: t.nan_to_num(x)),
    alike(
        "exp(-x * x) * sin(y) + 0.5",
        lambda m, x, y: m.exp(-x * x) * m.sin(y) + 0.5,
        numba=lambda x, y: np.exp(-x * x) * np.sin(y) + np.float32(0.5),
        numexpr="exp(-x * x) * sin(y) + 0.5",
    ),
    Case("astype(float64)", lambda m, x: x.astype("float64"), LAYOUTS, torch=lambda t, x: x.to(t.float64)),
    Case("copy", lambda m, x: x.copy(), LAYOUTS, torch=lambda t, x: x.clone()),
    alike("table + row", lambda m, table, row: table + row),
    alike("table + table.T", lambda m, table: table + table.T),
    Case("subtract.outer(row, row)", lambda m, row: m.subtract.outer(row, row)),
]

SHAPES = [
    alike("concatenate", lambda m, x, y: m.concatenate([x, y])),
    alike("stack", lambda m, x, y: m.stack([x, y])),
    Case(
        "ascontiguousarray(table.T)",
        lambda m, table: m.ascontiguousarray(table.T),
        torch=lambda t, table: table.T.contiguous(),
    ),
    Case(
        "transpose of a volume",
        lambda m, volume: m.ascontiguousarray(volume.transpose(2, 0, 1)),
        torch=lambda t, volume: volume.permute(2, 0, 1).contiguous(),
    ),
    Case("roll", lambda m, x: m.roll(x, 7), torch=lambda t, x: t.roll(x, 7)),
    Case("flip", lambda m, x: m.flip(x).copy(), torch=lambda t, x: t.flip(x, (0,))),
    Case("repeat 3", lambda m, x: m.repeat(x, 3), torch=lambda t, x: t.repeat_interleave(x, 3)),
    Case(
        "repeat 0 to 3",
        lambda m, x, counts: m.repeat(x, counts),
        torch=lambda t, x, counts: t.repeat_interleave(x, counts),
    ),
    Case(
        "repeat rows", lambda m, wide: m.repeat(wide, 2, axis=0), torch=lambda t, wide: t.repeat_interleave(wide, 2, 0)
    ),
    Case("tile 4", lambda m, row: m.tile(row, 4), torch=lambda t, row: t.tile(row, (4,))),
    Case("pad", lambda m, table: m.pad(table, 1), torch=lambda t, table: t.nn.functional.pad(table, (1, 1, 1, 1))),
    alike("tril", lambda m, table: m.tril(table)),
    alike("zeros", lambda m, n: m.zeros(n, dtype=m.float32)),
    alike("arange", lambda m, n: m.arange(n)),
    alike("linspace", lambda m, n: m.linspace(0, 1, n)),
]

REDUCTIONS = [
    alike("sum", lambda m, x: x.sum(), LAYOUTS, numba=lambda x: np.sum(x), numexpr="sum(x)"),
    alike("sum axis=0", lambda m, table: table.sum(axis=0), numexpr="sum(table, axis=0)"),
    alike("sum axis=1", lambda m, table: table.sum(axis=1), numexpr="sum(table, axis=1)"),
    alike("sum of rows of 4", lambda m, narrow: narrow.sum(axis=1)),
    alike("sum of 4 columns", lambda m, narrow: narrow.sum(axis=0)),
    alike("sum of a volume, axes 0 and 2", lambda m, volume: volume.sum(axis=(0, 2))),
    Case("sum where", lambda m, x, mask: m.sum(x, where=mask)),
    alike("sum int32", lambda m, i: i.sum(), LAYOUTS, numba=lambda i: np.sum(i), numexpr="sum(i)"),
    alike("mean float64", lambda m, d: d.mean(), numba=lambda d: np.mean(d)),
    alike("max", lambda m, x: x.max(), LAYOUTS, numba=lambda x: np.max(x), numexpr="max(x)"),
    Case("max axis=0", lambda m, table: table.max(axis=0), torch=lambda t, table: t.amax(table, 0)),
    Case("ptp", lambda m, x: m.ptp(x), torch=lambda t, x: t.aminmax(x)),
    alike("argmax", lambda m, x: x.argmax(), numba=lambda x: np.argmax(x)),
    alike("argmax axis=1", lambda m, table: table.argmax(axis=1)),
    alike("all", lambda m, mask: (mask | True).all()),
    alike("count_nonzero", lambda m, mask: m.count_nonzero(mask)),
    alike("prod", lambda m, positive: positive.prod(), numba=lambda positive: np.prod(positive)),
    alike("var", lambda m, x: m.var(x), numba=lambda x: np.var(x)),
    alike("var float64", lambda m, d: m.var(d)),
    alike("var axis=0", lambda m, table: m.var(table, axis=0)),
    alike("std axis=1", lambda m, table: m.std(table, axis=1)),
    alike("std of rows of 4", lambda m, narrow: m.std(narrow, axis=1)),
    alike("nanmean", lambda m, x: m.nanmean(x)),
    Case("average with weights", lambda m, d, e: m.average(d, weights=e)),
    Case("median", lambda m, x: m.median(x), numba=lambda x: np.median(x), torch=lambda t, x: t.median(x)),
    Case("percentile", lambda m, d: m.percentile(d, [5, 50, 95]), most=MIDDLE),
    Case("cumsum", lambda m, x: m.cumsum(x), LAYOUTS, torch=lambda t, x: t.cumsum(x, -1), numba=lambda x: np.cumsum(x)),
    Case("cumsum int32", lambda m, i: m.cumsum(i), torch=lambda t, i: t.cumsum(i, -1)),
    Case("cumsum axis=0", lambda m, table: m.cumsum(table, axis=0), torch=lambda t, table: t.cumsum(table, 0)),
    Case("cumsum axis=1", lambda m, table: m.cumsum(table, axis=1), torch=lambda t, table: t.cumsum(table, 1)),
    Case("cumprod", lambda m, x: m.cumprod(x), torch=lambda t, x: t.cumprod(x, -1)),
    Case("maximum.accumulate", lambda m, x: m.maximum.accumulate(x), torch=lambda t, x: t.cummax(x, -1)),
    Case("add.reduceat of tens", lambda m, x, tens: m.add.reduceat(x, tens)),
    Case("maximum.reduceat of tens", lambda m, x, tens: m.maximum.reduceat(x, tens)),
    Case("fmax.reduce axis=0", lambda m, table: m.fmax.reduce(table, axis=0)),
    Case("subtract.reduce axis=1", lambda m, table: m.subtract.reduce(table, axis=1)),
    Case("hypot.reduce", lambda m, x: m.hypot.reduce(x)),
    Case("bitwise_xor.reduce", lambda m, i: m.bitwise_xor.reduce(i)),
    alike("histogram", lambda m, x: m.histogram(x, 100, (-3, 3)), most=LARGE),
    Case("histogram of edges", lambda m, x, edges: m.histogram(x, edges)),
    alike("bincount", lambda m, k: m.bincount(k)),
    Case("digitize", lambda m, d, edges: m.digitize(d, edges), torch=lambda t, d, edges: t.bucketize(d, edges)),
    alike("diff", lambda m, x: m.diff(x)),
    Case("gradient", lambda m, x: m.gradient(x)),
    Case("interp", lambda m, d, edges: m.interp(d, edges, edges)),
    Case("convolve 15", lambda m, x, few: m.convolve(x, few, "same")),
    alike("trapezoid", lambda m, d: m.trapezoid(d)),
    Case(
        "softmax of rows",
        lambda m, table: (lambda e: e / e.sum(axis=1, keepdims=True))(m.exp(table - table.max(axis=1, keepdims=True))),
        torch=lambda t, table: t.softmax(table, 1),
    ),
]

INDEXING = [
    Case("x[1:-1] + x[2:]", lambda m, x: x[1:-1] + x[2:]),
    alike("x[random]", lambda m, x, index: x[index]),
    alike("x[random int32]", lambda m, x, index32: x[index32]),
    alike("x[near]", lambda m, x, near: x[near]),
    alike("take(random)", lambda m, x, index: m.take(x, index)),
    alike("table[rows]", lambda m, wide, rows: wide[rows]),
    Case(
        "take_along_axis",
        lambda m, wide, columns: m.take_along_axis(wide, columns, 1),
        torch=lambda t, wide, columns: t.take_along_dim(wide, columns, 1),
    ),
    alike("x[mask]", lambda m, x, mask: x[mask]),
    alike("x[rare]", lambda m, x, rare: x[rare]),
    Case("nonzero", lambda m, mask: m.nonzero(mask), torch=lambda t, mask: t.nonzero(mask, as_tuple=True)),
    alike("argwhere of rows", lambda m, wide: m.argwhere(wide > 0.5)),
    alike("x[near] = y", lambda m, target, near, y: target.__setitem__(near, y)),
    alike("x[random] = y", lambda m, target, index, y: target.__setitem__(index, y)),
    alike("x[mask] = 0", lambda m, target, mask: target.__setitem__(mask, 0)),
    alike("x[mask] = values", lambda m, target, mask, y: target.__setitem__(mask, y[mask])),
    alike("x[::2] = y[::2]", lambda m, target, y: target.__setitem__(slice(None, None, 2), y[::2])),
    Case("add.at(x, places, 1)", lambda m, target, places: m.add.at(target, places, 1)),
    Case(
        "add.at(x, near, y)",
        lambda m, target, near, y: m.add.at(target, near, y),
        torch=lambda t, target, near, y: target.index_add_(0, near, y),
    ),
]

PRODUCTS = [
    alike("matmul", lambda m, table: table @ table, most=MIDDLE),
    alike("matmul float64", lambda m, matrix: matrix @ matrix, most=MIDDLE),
    alike("a.T @ a float64", lambda m, matrix: matrix.T @ matrix, most=MIDDLE),
    Case("matmul int32", lambda m, integral: integral @ integral, most=MIDDLE),
    Case("matmul bool", lambda m, bits: bits @ bits, most=MIDDLE),
    alike("matmul float16", lambda m, halves: halves @ halves, most=10**5),
    alike("matrix @ vector float64", lambda m, matrix, vector: matrix @ vector),
    alike("matmul of a stack, 4x4", lambda m, stack4: stack4 @ stack4),
    alike("matmul of a stack, 16x16 float64", lambda m, stack16: stack16 @ stack16),
    alike("dot float64", lambda m, d, e: m.dot(d, e), numba=lambda d, e: np.dot(d, e)),
    alike("einsum ij,kj->ik", lambda m, table: m.einsum("ij,kj->ik", table, table), most=1000),
    alike("einsum bij,bkj->bik", lambda m, stack16: m.einsum("bij,bkj->bik", stack16, stack16), most=MIDDLE),
    alike("norm", lambda m, x: m.linalg.norm(x)),
    alike("inv", lambda m, definite: m.linalg.inv(definite), most=MIDDLE),
    alike("solve", lambda m, definite, vector: m.linalg.solve(definite, vector), most=MIDDLE),
    Case(
        "solve of a stack, 8x8",
        lambda m, definite8: m.linalg.solve(definite8, definite8),
        most=MIDDLE,
        torch=lambda t, definite8: t.linalg.solve(definite8, definite8),
    ),
    alike("det of a stack, 4x4", lambda m, definite4: m.linalg.det(definite4), most=MIDDLE),
    alike("cholesky", lambda m, definite: m.linalg.cholesky(definite), most=MIDDLE),
    alike("qr", lambda m, matrix: m.linalg.qr(matrix), most=MIDDLE),
    alike("svd", lambda m, matrix: m.linalg.svd(matrix), most=10**5),
    Case("svd of a stack, 16x16", lambda m, stack16: m.linalg.svd(stack16, False), most=10**5),
    alike("eigvals", lambda m, matrix: m.linalg.eigvals(matrix), most=10**5),
    alike("eigh", lambda m, definite: m.linalg.eigh(definite), most=MIDDLE),
    alike("fft complex64", lambda m, signal: m.fft.fft(signal)),
    alike("fft complex128", lambda m, signal128: m.fft.fft(signal128)),
    alike("rfft", lambda m, x: m.fft.rfft(x)),
    alike("irfft", lambda m, signal: m.fft.irfft(signal)),
    alike("fft2 complex64", lambda m, signals: m.fft.fft2(signals)),
    Case(
        "fft of columns",
        lambda m, signals: m.fft.fft(signals, axis=0),
        torch=lambda t, signals: t.fft.fft(signals, dim=0),
    ),
]

SORTING = [
    alike("sort", lambda m, x: m.sort(x)),
    alike("sort int32", lambda m, i: m.sort(i)),
    alike("argsort", lambda m, x: m.argsort(x), most=MIDDLE),
    Case("partition", lambda m, x: m.partition(x, x.shape[0] // 2)),
    alike("unique", lambda m, k: m.unique(k)),
    Case(
        "searchsorted", lambda m, edges, d: m.searchsorted(edges, d), torch=lambda t, edges, d: t.searchsorted(edges, d)
    ),
    alike("isin", lambda m, k, tens: m.isin(k, tens[:100])),
]

RANDOM = [
    Case("random", lambda m, generator, n: generator.random(n, dtype="float32"), torch=lambda t, n: t.rand(n)),
    Case(
        "standard_normal",
        lambda m, generator, n: generator.standard_normal(n, dtype="float32"),
        torch=lambda t, n: t.randn(n),
    ),
    Case(
        "standard_normal float64",
        lambda m, generator, n: generator.standard_normal(n),
        torch=lambda t, n: t.randn(n, dtype=t.float64),
    ),
    Case(
        "integers", lambda m, generator, n: generator.integers(0, 1000, n), torch=lambda t, n: t.randint(0, 1000, (n,))
    ),
    Case("exponential", lambda m, generator, n: generator.exponential(size=n)),
    Case("gamma", lambda m, generator, n: generator.gamma(2.0, size=n)),
    Case("beta", lambda m, generator, n: generator.beta(2.0, 3.0, n)),
    Case("poisson", lambda m, generator, n: generator.poisson(3.0, n)),
    Case("binomial", lambda m, generator, n: generator.binomial(100, 0.3, n)),
    Case("geometric", lambda m, generator, n: generator.geometric(0.1, n)),
    Case("lognormal", lambda m, generator, n: generator.lognormal(size=n)),
    Case("permutation", lambda m, generator, n: generator.permutation(n), torch=lambda t, n: t.randperm(n)),
]

CASES = ELEMENTS + SHAPES + REDUCTIONS + INDEXING + PRODUCTS + SORTING + RANDOM
