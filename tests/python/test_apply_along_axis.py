"""apply_along_axis without a loop in Python, against NumPy's: what is traced, what becomes a kernel, what is looped."""

import collections
import dataclasses
import functools
import math
import operator
import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import iruka
from helpers import assert_same

N = 12
PLACES = np.linspace(-1, 2, N)
WEIGHTS = np.random.default_rng(5).normal(size=(5, N))
BIAS = np.random.default_rng(6).normal(size=5)
SQUARE = np.random.default_rng(7).normal(size=(N, N)) + 9 * np.eye(N)
LAYERS = [(WEIGHTS, BIAS), (np.random.default_rng(8).normal(size=(3, 5)), np.arange(3.0))]
TABLE = np.arange(100.0) ** 2


def normalised(m):
    def scaled(v):
        return (v - v.mean()) / v.std()

    return lambda v: m.clip(scaled(v), -1, 1)


def network(m):
    def forward(v):
        for weight, bias in LAYERS:
            v = m.maximum(weight @ v + bias, 0)
        return v

    return forward


def assigned(m):
    def function(v):
        out = m.zeros(4)
        out[0], out[1] = v.min(), v.max()
        out[2:] = v[:2]
        out[3] += 1
        return out

    return function


def changed_copy(m):
    def function(v):
        w = v.copy()
        w[w < 0] = 0
        w[::2] *= 2
        w -= w.mean()
        return w

    return function


def views_of_a_copy(m):
    def function(v):
        w = v * 1
        part = w[2:5]
        part[0] = 7
        every_other = w[::2].ravel()
        every_other[0] = 100
        w.reshape(3, 4).T[0] = 1
        m.asarray(w)[1] = 5
        w.flatten()[2] = 9
        w[3], w[4] = w[4], w[3]
        w[[5, 6]] = w[[6, 5]]
        return w

    return function


def filtered_by_steps(m):
    def function(v):
        out = m.empty_like(v)
        out[0] = v[0]
        for k in range(1, len(v)):
            out[k] = 0.9 * out[k - 1] + 0.1 * v[k]
        return out

    return function


def sum_of_halves(v):
    return v.sum() if len(v) < 3 else sum_of_halves(v[: len(v) // 2]) * 2 + sum_of_halves(v[len(v) // 2 :])


@dataclasses.dataclass
class Line:
    slope: float
    offset: object

    def at(self, v):
        return v * self.slope + self.offset


Ends = collections.namedtuple("Ends", "low high")
SETTINGS = {"scale": 3, "weights": [1, 2, 3]}


def branches(m):
    def function(v):
        if v.sum() > 0:
            return m.sort(v)
        if v[0] > 0:
            return v[::-1]
        return v * 2

    return function


def shortened(m):
    def function(v):
        kept = v[v > m.median(v)]
        return kept.mean() - len(kept)

    return function


def halved(m):
    def function(v):
        count = 0
        while m.abs(v).max() > 0.5:
            v = v / 2
            count += 1
        return count

    return function


class Model:
    scale = 2

    def __init__(self, weight):
        self.weight = weight

    def shifted(self, v):
        return v + 1

    def __call__(self, v):
        return self.weight @ self.shifted(v) * self.scale


# Each gets a module and gives a function of a slice of float64, which is traced: nothing is called for each slice.
TRACED = {
    "sum": lambda m: lambda v: v.sum(),
    "a function of the module": lambda m: m.sum,
    "a method's keyword": lambda m: lambda v: v.sum(axis=0, keepdims=True),
    "prod": lambda m: lambda v: m.prod(v),
    "mean and var": lambda m: lambda v: (m.mean(v), m.var(v, ddof=1)),
    "std": lambda m: lambda v: v.std(ddof=1),
    "min, max, ptp": lambda m: lambda v: [v.min(), v.max(), m.ptp(v)],
    "argmin": lambda m: lambda v: m.argmin(v),
    "any and all": lambda m: lambda v: m.stack([(v > 0).any(), (v > -2).all()]),
    "median": lambda m: lambda v: m.median(v),
    "percentile": lambda m: lambda v: m.percentile(v, 30),
    "percentiles": lambda m: lambda v: m.percentile(v, [5, 50, 95]),
    "quantile": lambda m: lambda v: m.quantile(v, 0.25, method="lower"),
    "average": lambda m: lambda v: m.average(v, weights=np.arange(1, N + 1)),
    "weights of the slice": lambda m: lambda v: m.average(v, weights=v * v + 1),
    "nan functions": lambda m: lambda v: m.nanmean(v) + m.nanmax(v) + m.nanstd(v) + m.nanmedian(v),
    "count_nonzero": lambda m: lambda v: m.count_nonzero(v > 0.5),
    "sort": lambda m: lambda v: m.sort(v),
    "sorted in place": lambda m: lambda v: (w := v.copy(), w.sort())[0],
    "the second largest": lambda m: lambda v: m.sort(v)[-2],
    "argsort": lambda m: lambda v: v.argsort(kind="stable"),
    "ranks": lambda m: lambda v: m.argsort(m.argsort(v)),
    "sorted by itself": lambda m: lambda v: v[m.argsort(v)][:3],
    "partition": lambda m: lambda v: m.partition(v, 3)[3],
    "cumsum": lambda m: lambda v: m.cumsum(v),
    "cumprod": lambda m: lambda v: v.cumprod(),
    "running maximum": lambda m: lambda v: m.maximum.accumulate(v),
    "reduce of a ufunc": lambda m: lambda v: m.add.reduce(v) - m.multiply.reduce(v),
    "diff": lambda m: lambda v: m.diff(v),
    "second differences": lambda m: lambda v: m.diff(v, 2),
    "gradient": lambda m: lambda v: m.gradient(v),
    "trapezoid": lambda m: lambda v: m.trapezoid(v, PLACES),
    "unwrap": lambda m: lambda v: m.unwrap(v * 4),
    "convolve": lambda m: lambda v: m.convolve(v, [1, 2, 3]),
    "convolve same": lambda m: lambda v: m.convolve(v, np.ones(4), "same"),
    "convolve valid": lambda m: lambda v: m.convolve(v, m.ones(4), "valid"),
    "convolve with itself": lambda m: lambda v: m.convolve(v, v),
    "a kernel longer than the slice": lambda m: lambda v: m.convolve(v, np.arange(20.0), "same"),
    "correlate": lambda m: lambda v: m.correlate(v, [1, -2], "same"),
    "autocorrelation": lambda m: lambda v: m.correlate(v - v.mean(), v - v.mean(), "full")[N - 1 :],
    "interp at constants": lambda m: lambda v: m.interp([-3.0, -0.5, 0.1, 2.0, 5.0], PLACES, v),
    "interp of the slice": lambda m: lambda v: m.interp(v, PLACES, PLACES**2),
    "polyfit": lambda m: lambda v: m.polyfit(PLACES, v, 2),
    "slope": lambda m: lambda v: m.polyfit(PLACES, v, 1)[0],
    "detrended": lambda m: lambda v: v - m.polyval(m.polyfit(PLACES, v, 1), PLACES),
    "polyval of the slice": lambda m: lambda v: m.polyval([1, 0, -2], v),
    "dot with itself": lambda m: lambda v: v @ v,
    "dot": lambda m: lambda v: m.dot(WEIGHTS, v),
    "a matrix's method": lambda m: lambda v: WEIGHTS.dot(v),
    "slice by matrix": lambda m: lambda v: v @ SQUARE,
    "quadratic form": lambda m: lambda v: v @ SQUARE @ v,
    "outer": lambda m: lambda v: m.outer(v, v),
    "inner and vdot": lambda m: lambda v: m.inner(v, PLACES) + m.vdot(v, v),
    "einsum": lambda m: lambda v: m.einsum("ij,j->i", WEIGHTS, v),
    "norm": lambda m: lambda v: v / m.linalg.norm(v),
    "other norms": lambda m: lambda v: m.linalg.norm(v, 1) + m.linalg.norm(v, m.inf),
    "solve": lambda m: lambda v: m.linalg.solve(SQUARE, v),
    "a matrix of the slice": lambda m: lambda v: m.linalg.det(v.reshape(3, 4)[:, :3] + 4 * m.eye(3)),
    "inverse": lambda m: lambda v: m.linalg.inv(v[:9].reshape(3, 3) + 9 * m.eye(3)),
    "solve of the slice": lambda m: lambda v: m.linalg.solve(v[:4].reshape(2, 2) + 9 * m.eye(2), v[4:6]),
    "singular values": lambda m: lambda v: m.linalg.svd(v.reshape(3, 4), compute_uv=False),
    "eigenvalues": lambda m: lambda v: m.linalg.eigvalsh(m.outer(v[:4], v[:4]) + m.eye(4)),
    "least squares": lambda m: lambda v: m.linalg.lstsq(WEIGHTS.T, v, rcond=None)[0],
    "cross": lambda m: lambda v: m.cross(v[:3], v[3:6]),
    "fft": lambda m: lambda v: m.fft.fft(v),
    "spectrum": lambda m: lambda v: m.abs(m.fft.rfft(v * m.hanning(N))) ** 2,
    "filtered": lambda m: lambda v: m.fft.irfft(m.fft.rfft(v)[:3], N),
    "histogram": lambda m: lambda v: m.histogram(v, bins=5, range=(-2, 2))[0],
    "histogram with edges": lambda m: lambda v: m.histogram(v, [-2, -1, 0.5, 2])[0],
    "bincount": lambda m: lambda v: m.bincount((m.abs(v) * 2).astype(int), minlength=12),
    "digitize": lambda m: lambda v: m.digitize(v, [-1, 0, 1]),
    "searchsorted": lambda m: lambda v: m.searchsorted([-1.0, 0.0, 1.0], v),
    "searchsorted in the slice": lambda m: lambda v: m.searchsorted(m.sort(v), 0.25),
    "where": lambda m: lambda v: m.where(v > 0, v, -1),
    "select": lambda m: lambda v: m.select([v > 1, v > 0], [v, v * 2], 7),
    "select among the slice's own": lambda m: lambda v: m.select([v > 1, v < -1], [v * 2, 3], v),
    "clip": lambda m: lambda v: v.clip(-0.5, 0.5),
    "clip by the slice": lambda m: lambda v: m.clip(v, m.percentile(v, 10), m.percentile(v, 90)),
    "roll": lambda m: lambda v: m.roll(v, 3) - v,
    "flip": lambda m: lambda v: m.flip(v),
    "take": lambda m: lambda v: m.take(v, [3, 1, -1]),
    "index array": lambda m: lambda v: v[[0, 5, 5]],
    "the value at the largest": lambda m: lambda v: v[v.argmax() - 1],
    "a constant at the largest": lambda m: lambda v: PLACES[v.argmax()],
    "a table": lambda m: lambda v: m.asarray(TABLE)[(m.abs(v) * 10).astype(int) % 100],
    "strides": lambda m: lambda v: v[1::3] + v[-2::-3],
    "ellipsis": lambda m: lambda v: v[..., 2],
    "new axes": lambda m: lambda v: v[:, None] - v[None, :],
    "concatenate": lambda m: lambda v: m.concatenate([v[-2:], [1.5], v[:2]]),
    "stack": lambda m: lambda v: m.stack([v, v * 2], axis=1),
    "hstack": lambda m: lambda v: m.hstack([v.sum(), v]),
    "vstack": lambda m: lambda v: m.vstack([v, PLACES]),
    "column_stack": lambda m: lambda v: m.column_stack([v, v]),
    "append": lambda m: lambda v: m.append(v, v.sum()),
    "insert and delete": lambda m: lambda v: m.delete(m.insert(v, 2, 9), [0, 1]),
    "pad": lambda m: lambda v: m.pad(v, 2, mode="edge"),
    "tile and repeat": lambda m: lambda v: m.tile(v[:2], 3) * m.repeat(v[:3], 2),
    "reshape": lambda m: lambda v: v.reshape(3, -1).sum(axis=1),
    "transposed": lambda m: lambda v: v.reshape(3, 4).T,
    "axes": lambda m: lambda v: m.swapaxes(m.expand_dims(v, 0), 0, 1).squeeze(),
    "diag": lambda m: m.diag,
    "trace": lambda m: lambda v: m.trace(m.outer(v, v)),
    "windows": lambda m: lambda v: m.lib.stride_tricks.sliding_window_view(v, 3).mean(axis=-1),
    "split": lambda m: lambda v: m.split(v, 3)[1],
    "meshed": lambda m: lambda v: m.broadcast_to(v[:2], (3, 2)),
    "vander": lambda m: lambda v: m.vander(v[:3]),
    "cov": lambda m: lambda v: m.cov(v, PLACES),
    "corrcoef": lambda m: lambda v: m.corrcoef(v, PLACES)[0, 1],
    "isin": lambda m: lambda v: m.isin(m.round(v), [0, 1]),
    "rounding": lambda m: lambda v: m.round(v, 1) + m.floor(v) + v.round(),
    "elementwise": lambda m: lambda v: m.exp(-v) + m.arctan2(v, PLACES) + m.hypot(v, 3) + m.sinc(v),
    "operators": lambda m: lambda v: -v + 2 - 3 * v / 4 // 1 % 5 + abs(v) ** 2,
    "comparisons": lambda m: lambda v: ((v < 0) | (v > 1)) & ~(v == 0),
    "divmod": lambda m: lambda v: divmod(v, 0.7)[0],
    "softmax": lambda m: lambda v: m.exp(v - v.max()) / m.exp(v - v.max()).sum(),
    "nested functions": normalised,
    "a network": network,
    "a local array": assigned,
    "a changed copy": changed_copy,
    "zeros_like": lambda m: lambda v: m.zeros_like(v) + m.full_like(v, 2) + m.ones(N) + m.empty_like(v) * 0,
    "an array of scalars": lambda m: lambda v: m.array([v.sum(), 1, v[0]]),
    "tuples": lambda m: lambda v: (v[:2], [1.0, v.max()]),
    "a constant": lambda m: lambda v: 2.5,
    "a constant array": lambda m: lambda v: m.arange(3),
    "its length": lambda m: lambda v: len(v) + v.size + v.shape[0] + v.ndim,
    "unpacked": lambda m: lambda v: (lambda a, b, *rest: a * b - rest[-1])(*v),
    "a sum in Python": lambda m: lambda v: sum(v) / len(v),
    "extremes in Python": lambda m: lambda v: max(v) - min(v),
    "sorted in Python": lambda m: sorted,
    "Python numbers": lambda m: lambda v: float(v.mean()) * 2 + 1,
    "an integer": lambda m: lambda v: int(v.argmax()) * 3,
    "math": lambda m: lambda v: v / math.sqrt((v * v).sum()),
    "floats of an item": lambda m: lambda v: v.sum().item() / 3,
    "a comprehension": lambda m: lambda v: [x * k for k, x in enumerate(v)],
    "partial": lambda m: functools.partial(m.percentile, q=40),
    "a module of Python": lambda m: lambda v: functools.reduce(operator.mul, v[:3]),
    "an object": lambda m: Model(WEIGHTS),
    "a method of an object": lambda m: Model(WEIGHTS).shifted,
    "a local import": lambda m: lambda v: __import__("numpy").sqrt(v * v),
    "dtypes": lambda m: lambda v: v.astype("float32").sum(dtype=m.float64) + v[0].astype(m.float32),
    "isinstance": lambda m: lambda v: v if isinstance(v, m.ndarray) else 1 / 0,
    "an astype": lambda m: lambda v: m.abs(v).astype(m.uint8).sum(),
    "views of a copy": views_of_a_copy,
    "filtered by steps": filtered_by_steps,
    "recursion": lambda m: sum_of_halves,
    "a data class": lambda m: Line(2.0, PLACES).at,
    "a named tuple": lambda m: lambda v: Ends(v.min(), v.max()),
    "settings": lambda m: lambda v: v * SETTINGS["scale"] + SETTINGS["weights"][1],
    "pairs": lambda m: lambda v: [a * b for a, b in zip(v, v[1:])],
    "peaks": lambda m: lambda v: ((v[1:-1] > v[:-2]) & (v[1:-1] > v[2:])).sum(),
    "entropy": lambda m: lambda v: -(lambda p: (p * m.log(p)).sum())(m.abs(v) / m.abs(v).sum()),
    "spread": lambda m: lambda v: m.subtract(*m.percentile(v, [75, 25])),
    "complex": lambda m: lambda v: m.exp(1j * v).sum(),
    "scalars of NumPy": lambda m: lambda v: np.float32(2) * v[0] + np.float64(2) * v[1:],
    "lists": lambda m: lambda v: [1] * N + v + [2] * N,
    "a constant mask": lambda m: lambda v: v[np.arange(N) % 2 == 0],
    "nothing": lambda m: lambda v: v[:0],
    "round": lambda m: lambda v: [round(v[0], 1), round(float(v[0])), int(v[0] * 10) // 3],
    "floats of Python": lambda m: lambda v: float(v[0]) / float(v[1]) - float(v[2]) ** 2,
    "powers": lambda m: lambda v: 2**v + v**3 - abs(v) ** 0.5,
    "a power of a matrix": lambda m: lambda v: m.linalg.matrix_power(v[:9].reshape(3, 3), 3),
    "any of a generator": lambda m: lambda v: any(x > 1 for x in v) + all(x > -2 for x in v),
    "sums by a mask": lambda m: lambda v: m.sum(v, where=v > 0) + m.max(v, initial=0.5, where=v < 0),
    "tensordot and kron": lambda m: lambda v: m.tensordot(v, v, 1) + m.kron(v[:2], v[:3]),
    "triangle": lambda m: lambda v: m.triu(m.outer(v, v)),
    "covariance": lambda m: lambda v: m.linalg.eigvalsh(m.cov(v.reshape(2, 6))),
    "numbers of a list": lambda m: lambda v: sum(v.tolist()) + sum(v.flat),
    "a place in a grid": lambda m: lambda v: m.unravel_index(v.argmax(), (3, 4)),
    "several of math": lambda m: lambda v: [math.copysign(1, v[0]), math.floor(v[1]), math.hypot(v[0], v[1])],
    "not a number": lambda m: lambda v: m.nansum(m.where(v > 1, m.nan, v)),
    "contained": lambda m: lambda v: bool((v == 3.0).any()) + (v > 0).any() * 2,
    "linspace": lambda m: lambda v: m.linspace(v.min(), v.max(), 4) + m.linspace(0, v[0], 4, endpoint=False),
    "unused refusals": lambda m: lambda v: random.random() if v is None else v.sum(),
}
# What depends on values: slices that do the same are taken together.
SPLIT = {
    "branches": branches,
    "a mask's mean": lambda m: lambda v: v[v > -1].mean(),
    "a shorter slice": shortened,
    "while": halved,
    "a branch of several shapes": lambda m: lambda v: v[:1] if v[0] > 0 else v[:1] * 2,
    "nonzero": lambda m: lambda v: m.flatnonzero(v > -0.5).mean(),
    "unique": lambda m: lambda v: len(m.unique(m.round(v))),
    "a slice up to the largest": lambda m: lambda v: v[: v.argmax() + 1].sum(),
    "zero crossings": lambda m: lambda v: m.where(m.diff(m.sign(v)))[0].size,
    "numbers of two types": lambda m: lambda v: -1.5 if v[0] > 0 else 1,
    "chosen": lambda m: lambda v: "positive".index("i") if v[0] > 0 else 0,
    "bool": lambda m: lambda v: bool(v[0] > 0) and not v[1] > 0,
    "an own exception": lambda m: lambda v: m.sum(v) if v[0] > -100 else (_ for _ in ()).throw(ValueError("never")),
}


DOUBLED = iruka.ElementwiseKernel("T x", "T y", "y = 2 * x", "doubled_elements")


@iruka.vectorize(["float64(float64, float64)"])
def larger(x, y):
    return x if x > y else y


@iruka.fuse
def line(x):
    return 2 * x + 1


TRACED["a fused function"] = lambda m: lambda v: line(v).sum() if m is iruka else (2 * v + 1).sum()
TRACED["kernels"] = lambda m: lambda v: (DOUBLED(v), larger(v, 0.5)) if m is iruka else (2 * v, m.maximum(v, 0.5))


def slices(shape=(20, 30, N), dtype=float):
    rng = np.random.default_rng(11)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 50, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def close(actual, expected, rtol=1e-9):
    assert isinstance(actual, iruka.ndarray)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", [*TRACED, *SPLIT])
def test_functions_run_on_all_slices_at_once(name):
    if name == "a matrix's method" and iruka.default_device().name != "cpu":
        pytest.skip("NumPy's own methods take no array of a GPU")
    make = {**TRACED, **SPLIT}[name]
    x = slices()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual = iruka.apply_along_axis(make(iruka), 2, iruka.array(x))
    close(actual, np.apply_along_axis(make(np), 2, x))


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "every other", "backwards"])
def test_axes_and_layouts(axis, layout):
    x = slices((N, N, N))
    x = {"contiguous": x, "transposed": x.transpose(1, 2, 0), "every other": np.repeat(x, 2, 1)[:, ::2],
         "backwards": x[::-1, :, ::-1]}[layout]  # fmt: skip
    placed = iruka.array(slices((N, N, N)))
    placed = {"contiguous": placed, "transposed": placed.transpose(1, 2, 0), "every other": placed.repeat(2, 1)[:, ::2],
              "backwards": placed[::-1, :, ::-1]}[layout]  # fmt: skip
    for name in ("sum", "sort", "outer", "a network", "a local array", "branches", "transposed", "a constant array"):
        make = {**TRACED, **SPLIT}[name]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            actual = iruka.apply_along_axis(make(iruka), axis, placed)
        close(actual, np.apply_along_axis(make(np), axis, x))


DTYPE_NAMES = [
    "convolve", "convolve with itself", "sum", "mean and var", "sort", "cumsum", "comparisons",
    "a constant at the largest", "a sum in Python", "extremes in Python", "an array of scalars", "median",
    "operators", "where", "diff", "branches", "Python numbers", "zeros_like", "histogram", "concatenate", "dot",
    "reduce of a ufunc",
]  # fmt: skip


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "complex64"]
)
@pytest.mark.filterwarnings("ignore")
def test_dtypes(dtype):
    x = np.abs(slices((6, 9, N))).astype(dtype)
    for name in DTYPE_NAMES:
        make = {**TRACED, **SPLIT}[name]
        try:
            expected = np.apply_along_axis(make(np), 1 if name != "dot" else 2, x)
        except Exception:  # a function that NumPy has not for this dtype
            continue
        try:
            make(iruka)(iruka.array(x[0, 0]))
        except (TypeError, OverflowError):  # nor Iruka
            continue
        actual = iruka.apply_along_axis(make(iruka), 1 if name != "dot" else 2, iruka.array(x))
        loop = iruka.asarray(make(iruka)(iruka.array(x[0, :, 0] if name != "dot" else x[0, 0])))
        assert actual.dtype == loop.dtype, name
        if np.dtype(expected.dtype) == loop.dtype:
            close(actual, expected, 2e-2 if "16" in dtype else 2e-5 if dtype in ("float32", "complex64") else 1e-9)


# Functions of numbers, each a kernel.


def largest(v):
    found = v[0]
    for x in v:
        if x > found:
            found = x
    return found


def smoothed(v, weight, offset=0.5):
    level = v[0] + offset
    for k in range(1, len(v)):
        level = weight * v[k] + (1 - weight) * level
    return level


def crossings(v):
    count, longest, run = 0, 0, 0
    for k in range(1, len(v)):
        run += 1
        if v[k] * v[k - 1] < 0:
            count += 1
            longest = max(longest, run)
            run = 0
    return count, longest


def first_beyond(v, limit):
    for k in range(len(v)):
        if v[k] > limit:
            return k
    return -1


def against(v, other):
    total = 0.0
    for a, b in zip(v, other):
        total += a * b if a > b else -b
    return total


KERNELS = [(largest, ()), (smoothed, (0.25,)), (crossings, ()), (first_beyond, (1.2,)), (against, (PLACES,))]


@pytest.mark.parametrize(("function", "arguments"), KERNELS, ids=lambda each: getattr(each, "__name__", ""))
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_functions_of_numbers_are_kernels(function, arguments, axis):
    x = slices((N, N, N))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual = iruka.apply_along_axis(function, axis, iruka.array(x), *arguments)
    close(actual, np.apply_along_axis(function, axis, x, *arguments))


def test_kernels_of_keywords_and_other_dtypes():
    for dtype in ("float32", "int64"):
        x = slices((30, 9), dtype)
        expected = np.apply_along_axis(smoothed, 1, x, weight=0.5)
        actual = iruka.apply_along_axis(smoothed, 1, iruka.array(x), weight=0.5)
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-5)
    for dtype in ("uint8", "int16", "int32", "bool"):
        x = slices((30, 9), "int64").astype(dtype)
        assert_same(iruka.apply_along_axis(largest, 1, iruka.array(x)), np.apply_along_axis(largest, 1, x))


def test_small_integers_wrap_as_in_numpy():
    def product(v):
        best = v[0]
        for k in range(1, len(v)):
            if v[k] * v[k - 1] > best:
                best = v[k] * v[k - 1]
        return best

    x = slices((3, 500), "int64").astype("uint8")
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("error")
        actual = iruka.apply_along_axis(product, 1, iruka.array(x))
        expected = np.apply_along_axis(product, 1, x)
    assert_same(actual, expected)


# What has to be a loop, with its reason.

SEEN = []
COUNTER = {"calls": 0}
NUMBER = 0


def prints(v):
    print(end="")
    return v.sum()


def appends(v):
    SEEN.append(1)
    return v.sum()


def counts(v):
    COUNTER["calls"] += 1
    return COUNTER["calls"]


def sets_a_global(v):
    global NUMBER
    NUMBER += 1
    return NUMBER


def changes_the_slice(v):
    v -= 1
    return v.sum()


def changes_a_constant(v):
    BIAS[0] += 0
    return v.sum()


def draws(v):
    return v + np.random.random()


def draws_in_python(v):
    return random.random() * 0 + v.sum()


def writes_text(v):
    return len(f"{v[0]:.3f}" * 0) + v.sum()


def views_memory(v):
    return v.view("int64")[0]


REFUSED = {
    prints: "print",
    appends: "changes an object of outside",
    counts: "changes an object of outside",
    sets_a_global: "sets the global variable NUMBER",
    changes_the_slice: "read-only|changes the slice",
    changes_a_constant: "all slices share",
    draws: "random numbers",
    draws_in_python: "random numbers",
    writes_text: "as text",
    views_memory: "the attribute 'view'",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_cannot_be_traced_is_a_loop_that_says_why(function):
    global NUMBER
    x = slices((6, 5))

    def start():
        global NUMBER
        SEEN.clear()
        COUNTER["calls"] = NUMBER = 0
        return x.copy()

    expected = np.apply_along_axis(function, 1, start())
    seen, calls, number = len(SEEN), COUNTER["calls"], NUMBER
    given = iruka.array(start())
    place = rf"apply_along_axis calls {function.__name__} .*(test_apply_along_axis.py, line \d+)?.*{REFUSED[function]}"
    with pytest.warns(UserWarning, match=place):
        actual = iruka.apply_along_axis(function, 1, given)
    assert (seen, calls, number) == (len(SEEN), COUNTER["calls"], NUMBER)
    if function is draws:
        assert len(set((iruka.asnumpy(actual) - x)[:, 0].round(9).tolist())) == 6
    else:
        close(actual, expected)
    changed = x.copy()
    np.apply_along_axis(function, 1, changed)
    np.testing.assert_array_equal(iruka.asnumpy(given), changed)


def test_a_closure_that_counts_is_called_once_for_each_slice():
    def counting():
        calls = 0

        def function(v):
            nonlocal calls
            calls += 1
            return v.sum() + calls

        return function

    x = slices((6, 5))
    with pytest.warns(UserWarning, match="sets the variable calls of an outer function"):
        actual = iruka.apply_along_axis(counting(), 1, iruka.array(x))
    close(actual, np.apply_along_axis(counting(), 1, x))


def test_an_object_with_a_state_is_called_once_for_each_slice():
    class Counting:
        calls = 0

        def __call__(self, v):
            self.calls += 1
            return v.sum() + self.calls

    x = slices((6, 5))
    with pytest.warns(UserWarning, match="sets the attribute calls"):
        actual = iruka.apply_along_axis(Counting(), 1, iruka.array(x))
    close(actual, np.apply_along_axis(Counting(), 1, x))


def test_generators_of_random_numbers_give_each_slice_its_own():
    rng = np.random.default_rng(3)
    with pytest.warns(UserWarning, match="uses rng, which is a Generator"):
        actual = iruka.apply_along_axis(lambda v: v * 0 + rng.normal(), 1, iruka.ones((9, 2)))
    assert len(set(actual[:, 0].tolist())) == 9


def test_too_many_ways_are_a_loop():
    x = slices((40, 6))
    function = lambda v: TABLE[: int(v[0] * 1e6) % 90].sum()
    with pytest.warns(UserWarning, match="depends on the values of the slice"):
        actual = iruka.apply_along_axis(function, 1, iruka.array(x))
    close(actual, np.apply_along_axis(function, 1, x))


def test_exceptions_are_those_of_the_slice_that_failed():
    def checked(v):
        if v[0] > 1:
            raise LookupError(f"slice {int(v[1])}")
        return v.sum()

    x = np.zeros((30, 4))
    x[:, 1] = np.arange(30)
    x[17:, 0] = 2
    with pytest.raises(LookupError, match="slice 17"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iruka.apply_along_axis(checked, 1, iruka.array(x))
    singular = np.stack([np.eye(2).ravel()] * 9 + [np.ones(4)])

    def inverted(v):
        try:
            return np.linalg.inv(v.reshape(2, 2))
        except np.linalg.LinAlgError:
            return np.zeros((2, 2))

    with pytest.warns(UserWarning, match=r"linalg\.inv"):
        actual = iruka.apply_along_axis(inverted, 1, iruka.array(singular))
    np.testing.assert_array_equal(iruka.asnumpy(actual), np.apply_along_axis(inverted, 1, singular))


@pytest.mark.parametrize("function", [lambda v: float(v[0]) / float(v[1]), lambda v: int(v[0]) // int(v[1]),
                                      lambda v: int(v[0]) % int(v[1])])  # fmt: skip
def test_division_of_python_numbers_by_zero_raises(function):
    x = np.arange(1.0, 21).reshape(10, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(iruka.apply_along_axis(function, 1, iruka.array(x)), np.apply_along_axis(function, 1, x))
        x[7, 1] = 0
        with pytest.raises(ZeroDivisionError):
            iruka.apply_along_axis(function, 1, iruka.array(x))


def test_kernels_do_not_hide_a_division_by_zero():
    def mean_of_large(v):
        total, count = 0.0, 0
        for x in v:
            if x > 0:
                total += x
                count += 1
        return total / count

    x = np.abs(slices((30, 6)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(iruka.apply_along_axis(mean_of_large, 1, iruka.array(x)), np.apply_along_axis(mean_of_large, 1, x))
    x[11] = -1
    with pytest.raises(ZeroDivisionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        iruka.apply_along_axis(mean_of_large, 1, iruka.array(x))


def test_nan_and_infinity():
    x = slices((40, N))
    x[::3, ::4] = np.nan
    x[1::5, 2] = np.inf
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("sum", "sort", "median", "nan functions", "extremes in Python", "sorted in Python", "argmin",
                     "comparisons", "percentiles", "cumsum", "unique", "branches", "Python numbers"):  # fmt: skip
            make = {**TRACED, **SPLIT}[name]
            close(iruka.apply_along_axis(make(iruka), 1, iruka.array(x)), np.apply_along_axis(make(np), 1, x))


def test_sizes():
    for shape, axis in (((0, 3), 1), ((3, 0, 2), 0)):
        with pytest.raises(ValueError, match="iteration dimensions are 0"):
            iruka.apply_along_axis(iruka.sum, axis, iruka.ones(shape))
    for shape, axis in (((3, 0), 1), ((1, 4), 1), ((4,), 0), ((2, 1), 1), ((1, 1, 5), 2)):
        x = np.ones(shape)
        close(iruka.apply_along_axis(iruka.sum, axis, iruka.array(x)), np.apply_along_axis(np.sum, axis, x))
    with pytest.raises(np.exceptions.AxisError):
        iruka.apply_along_axis(iruka.sum, 2, iruka.ones((2, 2)))
    with pytest.raises(TypeError, match="integer"):
        iruka.apply_along_axis(iruka.sum, (0, 0), iruka.ones((2, 2)))


def test_many_slices_go_in_chunks():
    x = iruka.asarray(np.random.default_rng(1).normal(size=(200_000, 8)).astype("float32"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual = iruka.apply_along_axis(lambda v: iruka.sort(v * 2)[::-1] - v.mean(), 1, x)
    host = iruka.asnumpy(x)
    np.testing.assert_allclose(iruka.asnumpy(actual), np.sort(host * 2)[:, ::-1] - host.mean(1, keepdims=True), rtol=1e-4,
                               atol=1e-5)  # fmt: skip


STEPS = [
    lambda m, v: v * 2 - 1,
    lambda m, v: m.sort(v),
    lambda m, v: v - v.mean(),
    lambda m, v: m.cumsum(v),
    lambda m, v: m.where(v > 0, v, v * 0.5),
    lambda m, v: m.concatenate([v[1:], v[:1]]),
    lambda m, v: v[::-1],
    lambda m, v: m.convolve(v, [0.5, 0.5], "same"),
    lambda m, v: m.clip(v, -3, 3),
    lambda m, v: v / (1 + m.abs(v).max()),
    lambda m, v: m.maximum(v, m.roll(v, 1)),
    lambda m, v: m.append(v, v.min()),
    lambda m, v: v if v[0] > v[1] else v[::-1],
    lambda m, v: m.diff(v) if len(v) > 3 else v,
    lambda m, v: v[m.argsort(v)],
    lambda m, v: m.abs(m.fft.rfft(v)),
]
ENDS = [
    lambda m, v: v,
    lambda m, v: v.sum(),
    lambda m, v: m.median(v),
    lambda m, v: [v[0], v[-1]],
    lambda m, v: m.outer(v, v[:2]),
    lambda m, v: float(v.max()),
]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=5), st.sampled_from(ENDS), st.integers(0, 1), st.data())
def test_compositions(steps, end, axis, data):
    x = data.draw(st.sampled_from([slices((31, 7)), slices((7, 31)), slices((16, 16)).T]))

    def of(m):
        def function(v):
            for step in steps:
                v = step(m, v)
            return end(m, v)

        return function

    close(iruka.apply_along_axis(of(iruka), axis, iruka.array(x)), np.apply_along_axis(of(np), axis, x), 1e-7)
