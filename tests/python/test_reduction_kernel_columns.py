"""ReductionKernel over leading axes: shapes, layouts, dtypes, structures and indices. Values are NumPy's.

Elements are small integers, so that sums are exact in any order.
"""

import numpy as np
import pytest

import iruka

dot = iruka.ReductionKernel("T x, U y", "float64 z", "(double)x * (double)y", "a + b", "z = a", "0", "dot")
largest = iruka.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")
MOMENTS = """
struct moments { double count, sum; float low; int high; };
__device__ moments both(moments a, moments b) {
  return {a.count + b.count, a.sum + b.sum, a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}
"""
moments = iruka.ReductionKernel(
    "T x", "float64 mean, float32 low, int32 high", "moments{1.0, (double)x, (float)x, (int)x}", "both(a, b)",
    "mean = a.sum / a.count; low = a.low; high = a.high", None, "moments", "moments", preamble=MOMENTS,
)  # fmt: skip
BINS = """
struct bins { double counts[8]; };
__device__ bins one(int bin) { bins made = {}; made.counts[bin] = 1; return made; }
__device__ bins both(bins a, bins b) { for (int k = 0; k < 8; ++k) a.counts[k] += b.counts[k]; return a; }
"""
# What each element is multiplied with: its place along the reduction, its output and its number.
weighted = iruka.ReductionKernel(
    "T x, raw float64 w, float64 shift", "float64 y", "x * (w[_J % w.size()] + _i + shift) + _j % 7", "a + b",
    "y = a + _i", "0", "weighted",
)  # fmt: skip

# Shapes and axes: one strip and several, one pass and many, few columns, chunks, groups of lines, lines of outputs.
SHAPES = [
    ((1, 40), 0), ((8, 40), 0), ((9, 40), 0), ((17, 4097), 0), ((16, 9001), 0), ((5000, 33), 0), ((9000, 1), 0),
    ((64, 2), 0), ((65, 3), 0), ((90_001, 3), 0), ((20_011, 8), 0), ((2049, 128), 0), ((700, 130), 0),
    ((30, 31, 29), 0), ((30, 33, 40), 1), ((40, 300, 9), 1), ((20, 30, 40), (0, 1)), ((24, 11, 17, 9), (0, 2)),
    ((4, 20, 5, 23, 10), (1, 3)), ((3, 70, 1, 40), (1, 2)),
]  # fmt: skip


def numbers(rng, shape, dtype="float64"):
    low = 0 if np.dtype(dtype).kind in "ub" else -4
    return rng.integers(low, 5, shape).astype(dtype)


def same(got, want):
    want = np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype, (got.shape, got.dtype, want.shape, want.dtype)
    np.testing.assert_array_equal(iruka.asnumpy(got), want)


def layouts(rng, shape, dtype):
    """Arrays of the shape: in C and Fortran order, of every k-th element, reversed, broadcast."""
    yield numbers(rng, shape, dtype)
    yield np.asfortranarray(numbers(rng, shape, dtype))
    for step in (2, 3, 5):
        yield numbers(rng, (*shape[:-1], shape[-1] * step), dtype)[..., ::step]
    yield numbers(rng, (shape[0] * 2, *shape[1:]), dtype)[::-2]
    yield numbers(rng, shape, dtype)[..., ::-1]
    yield np.broadcast_to(numbers(rng, shape[-1:], dtype), shape)
    yield np.broadcast_to(numbers(rng, (shape[0], *(1 for _ in shape[1:])), dtype), shape)


@pytest.mark.parametrize("shape, axis", SHAPES, ids=str)
def test_layouts(rng, shape, axis):
    contiguous = numbers(rng, shape, "int32")
    for x in layouts(rng, shape, "float32"):
        mine, wide = iruka.asarray(x), x.astype("float64")
        same(dot(mine, iruka.asarray(contiguous), axis=axis), (wide * contiguous).sum(axis=axis))
        same(largest(mine, axis=axis), x.max(axis=axis))


@pytest.mark.parametrize("dtype", ["bool", *"bBhHiIlLqQ", "float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes(rng, dtype):
    total = iruka.ReductionKernel("T x", "complex128 y", "complex<double>(x)", "a + b", "y = a", "0", "total")
    if np.dtype(dtype).kind != "c":
        total = iruka.ReductionKernel("T x", "float64 y", "(double)x", "a + b", "y = a", "0", "total")
    for shape, axis in [((300, 200), 0), ((3000, 5), 0), ((20, 40, 50), 1)]:
        x = numbers(rng, shape, dtype)
        wide = "complex128" if x.dtype.kind == "c" else "float64"
        same(total(iruka.asarray(x), axis=axis), x.astype(wide).sum(axis=axis))
        half = x[..., ::2]
        same(total(iruka.asarray(x)[..., ::2], axis=axis), half.astype(wide).sum(axis=axis))


def test_integers_overflow_as_in_numpy(rng):
    for dtype in ("int8", "uint16", "int32", "uint64"):
        limits = np.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, (700, 300), dtype=dtype, endpoint=True)
        product = iruka.ReductionKernel("T x", "T y", "x", "T(a * b)", "y = a", "1", "product")
        added = iruka.ReductionKernel("T x", "T y", "x", "T(a + b)", "y = a", "0", "added")
        odd = x | 1
        same(product(iruka.asarray(odd), axis=0), odd.prod(axis=0, dtype=dtype))
        same(added(iruka.asarray(x), axis=0), x.sum(axis=0, dtype=dtype))


@pytest.mark.parametrize("shape, axis", [((3000, 300), 0), ((9000, 3), 0), ((40, 50, 60), 1), ((9, 30), 0)], ids=str)
def test_structures(rng, shape, axis):
    for x in (numbers(rng, shape, "float32"), np.asfortranarray(numbers(rng, shape, "int16"))):
        mean, low, high = moments(iruka.asarray(x), axis=axis)
        same(mean, x.astype("float64").sum(axis=axis) / x.shape[axis])
        same(low, x.min(axis=axis).astype("float32"))
        same(high, x.max(axis=axis).astype("int32"))
    count = iruka.ReductionKernel(
        "int32 x", "float64 few, float64 many", "one(x)", "both(a, b)", "few = a.counts[0]; many = a.counts[7]",
        None, "count", "bins", preamble=BINS,
    )  # fmt: skip
    x = rng.integers(0, 8, shape).astype("int32")
    few, many = count(iruka.asarray(x), axis=axis)
    same(few, (x == 0).sum(axis=axis).astype("float64"))
    same(many, (x == 7).sum(axis=axis).astype("float64"))


@pytest.mark.parametrize(
    "shape, axis", [((300, 70), 0), ((9001, 3), 0), ((20, 30, 40), 1), ((20, 17, 40), (0, 1))], ids=str
)
def test_places_raw_arrays_and_scalars(rng, shape, axis):
    w = numbers(rng, (11,))
    for x in layouts(rng, shape, "float64"):
        axes = (axis,) if isinstance(axis, int) else axis
        first = np.moveaxis(x, axes, range(len(axes)))
        count = int(np.prod(first.shape[: len(axes)]))
        lines = first.reshape(count, -1)
        outputs = lines.shape[1]
        along, out = np.arange(count)[:, None], np.arange(outputs)[None, :]
        want = (lines * (w[along % 11] + out + 0.5) + (along * outputs + out) % 7).sum(axis=0) + out[0]
        got = weighted(iruka.asarray(x), iruka.asarray(w), 0.5, axis=axis)
        same(got, want.reshape(first.shape[len(axes) :]))


def test_outputs_of_other_layouts(rng):
    x = numbers(rng, (30, 40, 50))
    for order in ("C", "F"):
        mine = iruka.asarray(np.asarray(x, order=order))
        for axis in (0, 1, 2):
            want = (x * x).sum(axis=axis)
            out = iruka.zeros((*want.shape[::-1], 2))[..., 1].T
            dot(mine, mine, out=out, axis=axis)
            same(out, want)
    # An input that is written is read as it was.
    x = numbers(rng, (40, 50))
    mine = iruka.array(x)
    dot(mine, mine, out=mine[3], axis=0)
    same(mine[3], (x * x).sum(axis=0))


def test_nan_and_signed_zeros():
    x = np.ones((500, 70), "float32")
    x[499, 3] = x[0, 4] = x[250, 69] = np.nan
    nan_first = "(b > a) | (b != b) ? b : a"
    top = iruka.ReductionKernel("T x", "T y", "x", nan_first, "y = a", None, "top")
    got = iruka.asnumpy(top(iruka.asarray(x), axis=0))
    np.testing.assert_array_equal(got, x.max(axis=0))
    assert list(np.flatnonzero(np.isnan(got))) == [3, 4, 69]
    tiny = np.full((300, 40), 1e-310)
    same(largest(iruka.asarray(tiny), axis=0), tiny.max(axis=0))
    zeros = np.full((300, 40), -0.0)
    added = iruka.ReductionKernel("T x", "T y", "x", "a + b", "y = a", None, "added")
    assert np.signbit(iruka.asnumpy(added(iruka.asarray(zeros), axis=0))).all()


def test_identities_take_part_in_columns(rng):
    """As in CuPy, a value that is not neutral counts, at least once for each output."""
    x = -1 - rng.integers(0, 9, (300, 70)).astype("float32")
    floor = iruka.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "0", "floor")
    same(floor(iruka.asarray(x), axis=0), np.zeros(70, "float32"))


@pytest.mark.parametrize(
    "shape, axis", [((100_003, 3), 0), ((3000, 1000), 0), ((50, 60, 70), 1), ((3000, 100), 0)], ids=str
)
def test_threads_do_not_change_the_order(rng, shape, axis):
    x = iruka.asarray(rng.standard_normal(shape, dtype="float32"))
    added = iruka.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "added")
    before = iruka.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 5):
            iruka.set_num_threads(threads)
            results += [iruka.asnumpy(added(x, axis=axis)).tobytes() for _ in range(3)]
    finally:
        iruka.set_num_threads(before)
    assert len(set(results)) == 1


def test_sums_of_many_rows_are_accurate(rng):
    """Rows are added in a tree within a pass and chunks one by one, so errors grow with a part of the rows only."""
    x = rng.random((200_000, 24), dtype="float32")
    added = iruka.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "added")
    np.testing.assert_allclose(iruka.asnumpy(added(iruka.asarray(x), axis=0)), x.sum(axis=0, dtype="f8"), rtol=2e-5)


def test_empty_axes():
    for shape, axis in [((0, 30), 0), ((30, 0), 0), ((5, 0, 6), 1), ((0, 4, 5), (0, 1)), ((), ()), ((), 0)]:
        x = iruka.ones(shape)
        same(dot(x, x, axis=axis), np.ones(shape).sum(axis=() if shape == () else axis))
    with pytest.raises(ValueError, match="largest which has no identity"):
        largest(iruka.ones((0, 30)), axis=0)


def test_errors_name_the_users_text():
    bad = iruka.ReductionKernel("T x", "T y", "x + q", "a + b", "y = a", "0", "bad")
    with pytest.raises(iruka.errors.CompileError) as caught:
        bad(iruka.ones((300, 70)), axis=0)
    assert "map_expr" in str(caught.value) and "'q'" in str(caught.value) or '"q"' in str(caught.value)
