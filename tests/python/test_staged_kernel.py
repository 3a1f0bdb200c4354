"""StagedKernel: stages in their order, slices, layouts, dtypes, and what is refused. Values are NumPy's."""

import concurrent.futures
import copy
import itertools
import math
import pickle
import warnings

import ml_dtypes  # noqa: F401  NumPy then knows bfloat16
import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from fake_driver import needs_fake_driver, run
from helpers import DTYPE_IDS, DTYPES, run_python, values
from iruka.errors import CompileError, KernelWarning

# Reads what another element of the slice has written.
mirror = iruka.StagedKernel(
    "T x",
    "T y, int64 number",
    "T kept",
    ["kept[i] = x;", "y = kept[_slice[_slice.size() - 1 - _J]]; number = _i;"],
    "mirror",
)
# Of each element and its neighbours in C order.
smooth = iruka.StagedKernel(
    "float32 x",
    "float32 y",
    "float32 left, float32 both",
    [
        "left[i] = i > 0 ? x + 1 : 0;",
        "both[i] = i + 1 < n ? left[i] + left[i + 1] : left[i];",
        "y = both[i] * (i % 2 ? 1 : both[n - 1 - i]);",
    ],
    "smooth",
)
EXCHANGE = """
    const ptrdiff_t width = (ptrdiff_t)2 << _step / levels;  // _step counts all pairs of a width and a distance
    const int level = _step / levels, inner = _step % levels;
    if (inner > level) return;
    const ptrdiff_t distance = (ptrdiff_t)1 << (level - inner), other = _J ^ distance;
    if (other < _J || other >= _slice.size()) return;
    const ptrdiff_t a = _slice[_J], b = _slice[other];
    if ((kept[a] > kept[b]) == ((_J & width) == 0)) {
      const T moved = kept[a];
      kept[a] = kept[b];
      kept[b] = moved;
    }
"""
bitonic = iruka.StagedKernel(
    "T x, int32 levels, int32 exchanges",
    "T y",
    "T kept",
    ["kept[i] = x;", (EXCHANGE, "exchanges"), "y = kept[i];"],
    "bitonic",
    axis=-1,
)
scan = iruka.StagedKernel(
    "T x, int32 steps",
    "T y",
    "T even, T odd",
    [
        "even[i] = x;",
        (
            """
            auto &from = _step % 2 ? odd : even, &to = _step % 2 ? even : odd;
            const ptrdiff_t distance = (ptrdiff_t)1 << _step;
            to[i] = _J >= distance ? from[i] + from[_slice[_J - distance]] : from[i];
            """,
            "steps",
        ),
        "y = steps % 2 ? odd[i] : even[i];",
    ],
    "scan",
    axis=-1,
)
HALF = "const ptrdiff_t half = (ptrdiff_t)1 << (steps - 1 - _step);"
SOFTMAX = [
    "most[i] = x;",
    (
        HALF + "if (_J + half < _slice.size()) most[i] = fmax(most[i], most[_slice[_J + half]]);",
        "steps",
        "(ptrdiff_t)1 << (steps - 1 - _step)",
    ),
    "y = exp(x - most[_slice[0]]); sums[i] = y;",
    (HALF + "if (_J < half && _J + half < _slice.size()) sums[i] += sums[_slice[_J + half]];", "steps"),
    "y /= sums[_slice[0]];",
]
softmax = iruka.StagedKernel("T x, int32 steps", "T y", "T most, T sums", SOFTMAX, "softmax", axis=-1)


def same(got, want):
    assert isinstance(got, iruka.ndarray)
    want = np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype, (got.shape, got.dtype, want.shape, want.dtype)
    np.testing.assert_array_equal(iruka.asnumpy(got), want)


def steps_for(length):
    return max(length - 1, 0).bit_length()


def mirrored(x, axis):
    """What `mirror` gives."""
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = sorted(a % x.ndim for a in axes) if x.ndim else []
    across = [a for a in range(x.ndim) if a not in axes]
    slices = x.transpose(*across, *axes).reshape([x.shape[a] for a in across] + [math.prod(x.shape[a] for a in axes)])
    lines = slices.reshape(-1, slices.shape[-1]) if x.size else slices.reshape(0, 1)
    back = np.argsort([*across, *axes])
    shape = [x.shape[a] for a in (*across, *axes)]
    numbers = np.broadcast_to(np.arange(len(lines))[:, None], lines.shape)
    return lines[:, ::-1].reshape(shape).transpose(back), numbers.reshape(shape).transpose(back)


def smoothed(x):
    flat = x.ravel()
    left = np.where(np.arange(flat.size) > 0, flat + np.float32(1), np.float32(0))
    both = left + np.append(left[1:], np.float32(0))[: left.size]
    return np.where(np.arange(flat.size) % 2 == 1, both, both * both[::-1]).reshape(x.shape)


SHAPES = [(), (1,), (7,), (1000,), (100003,), (1, 1), (3, 1), (5, 7), (300, 401), (2000, 3), (3, 2000), (2, 70001),
          (5, 6, 7), (30, 7, 300), (3, 1, 40), (2, 3, 4, 5), (300, 1, 17)]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_axis_of_many_shapes(rng, shape):
    x = rng.integers(-99, 100, shape)
    axes = [None, *range(-len(shape), len(shape)), *itertools.combinations(range(len(shape)), 2)]
    for axis in axes:
        for got, want in zip(mirror(iruka.asarray(x), axis=axis), mirrored(x, axis), strict=True):
            same(got, want)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_stages_see_what_those_before_have_written(rng, shape):
    x = rng.integers(-9, 10, shape).astype("float32")
    same(smooth(iruka.asarray(x)), smoothed(x))


@st.composite
def views(draw):
    """A view's shape, how to make it of a C array, and some axes."""
    shape = draw(st.lists(st.integers(0, 40), min_size=1, max_size=4))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in shape]
    axes = draw(st.sets(st.integers(0, len(shape) - 1)))
    return shape, order, steps, tuple(axes)


@pytest.mark.parametrize("extents", [(2, 16, 33), (5, 33, 16), (3, 7, 200)])
def test_batches_of_transposed_slices(extents):
    x = np.arange(math.prod(extents)).reshape(extents)
    for got, want in zip(mirror(iruka.asarray(x).transpose(0, 2, 1), axis=(1, 2)), mirrored(x.transpose(0, 2, 1), (1, 2)),
                         strict=True):  # fmt: skip
        same(got, want)


@given(views(), st.booleans())
def test_strided_views_and_sets_of_axes(view, fills):
    shape, order, steps, axes = view
    x = np.arange(math.prod(shape), dtype="int64").reshape(shape)
    index = tuple(slice(None, None, step) for step in steps)
    mine, theirs = iruka.asarray(x).transpose(*order)[index], x.transpose(order)[index]
    outputs = ()
    if fills:
        filled = iruka.zeros((2, *(extent * 2 for extent in theirs.shape)), dtype="int64")
        filled = filled[(slice(None), *(slice(None, None, -2) for _ in theirs.shape))]
        outputs = filled[0], filled[1]
    for got, want in zip(mirror(mine, *outputs, axis=axes), mirrored(theirs, axes), strict=True):
        same(got, want)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_dtypes(rng, dtype):
    for shape, axis in (((50, 33), -1), ((50, 33), 0), ((3000,), None), ((3, 5000), 1)):
        x = values(dtype, shape, rng)
        got, _ = mirror(iruka.asarray(x), axis=axis)
        same(got, mirrored(x, axis)[0])


def test_special_values_pass_through():
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e308, -1e-310] * 9).reshape(7, 9)
    got = iruka.asnumpy(mirror(iruka.asarray(x), axis=0)[0])
    np.testing.assert_array_equal(got.view("int64"), x[::-1].copy().view("int64"))


@pytest.mark.parametrize("length", [1, 2, 8, 64, 1024, 4096])
@pytest.mark.parametrize("dtype", ["int32", "float64", "uint8"])
def test_bitonic_sort_of_rows(rng, length, dtype):
    x = rng.integers(0, 200, (9, length)).astype(dtype)
    levels = length.bit_length() - 1
    same(bitonic(iruka.asarray(x), levels, levels * levels), np.sort(x, axis=-1))
    same(bitonic(iruka.asarray(x).T, levels, levels * levels, axis=0), np.sort(x, axis=-1).T)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 10, 100, 511, 513, 1025, 5000, 70000])
def test_scan_by_doubling_distances(rng, length):
    x = rng.integers(-99, 100, (3, length))
    got = scan(iruka.asarray(x), steps_for(length))
    same(got, x.cumsum(axis=1))
    same(scan(iruka.asarray(x), steps_for(x.size), axis=(0, 1)), x.cumsum().reshape(x.shape))


@pytest.mark.parametrize("shape", [(1, 1), (50, 10), (7, 1000), (3, 33333)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax_of_rows(rng, shape, dtype):
    x = rng.normal(0, 30, shape).astype(dtype)
    want = np.exp(x - x.max(axis=1, keepdims=True).astype("float64"))
    want /= want.sum(axis=1, keepdims=True)
    got = softmax(iruka.asarray(x), steps_for(shape[1]))
    tolerances = {"rtol": 1e-5, "atol": 1e-37} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-300}
    np.testing.assert_allclose(iruka.asnumpy(got), want, **tolerances)


def test_counts_of_a_stage():
    doubled = iruka.StagedKernel("T x", "T y", "", ["y = x", ("y = y * 2 + _step", 3)], "doubled")
    same(doubled(iruka.arange(5)), (np.arange(5) * 2 * 2 + 1) * 2 + 2)
    never = iruka.StagedKernel("T x", "T y", "", ["y = x", ("y = 7", 0)], "never")
    same(never(iruka.arange(5)), np.arange(5))
    given = iruka.StagedKernel("T x, uint8 k", "T y", "", ["y = x", ("y += k", "k")], "given")
    for count in (0, 1, 5):
        same(given(iruka.arange(20000), count), np.arange(20000) + count * count)
        same(given(iruka.arange(20000).reshape(2000, 10), count, axis=1).ravel(), np.arange(20000) + count * count)


@pytest.mark.parametrize("shape", [(), (1,), (40,), (700,), (30000,), (0,), (200, 10), (5, 700), (2, 3, 4000), (40, 0)])
def test_stages_of_some_elements(rng, shape):
    kernel = iruka.StagedKernel(
        "T x, int64 few",
        "T y",
        "T kept",
        ["kept[i] = x;", ("kept[i] += 1000 * (_step + 1);", 3, "few - _step"), ("y = kept[i];", 1, "n")],
        "some",
    )
    x = rng.integers(0, 100, shape)
    for axis in (None, *range(len(shape))):
        length = x.size if axis is None else shape[axis]
        lines = (x if axis is None else np.moveaxis(x, axis, -1)).reshape(x.size // length if length else 0, length)
        for few in (-5, 0, 1, 2, 17, 599, 10**12):
            want = lines.copy()
            for step in range(3):
                want[:, : max(few - step, 0)] += 1000 * (step + 1)
            if axis is not None:
                want = np.moveaxis(want.reshape(*np.delete(shape, axis), shape[axis]), -1, axis)
            same(kernel(iruka.asarray(x), few, axis=axis), want.reshape(shape))


def test_elements_of_slices(rng):
    kernel = iruka.StagedKernel("T x", "T y", "", ["y = x;", ("y = -x;", 1, "_slice.size() / 2")], "first_half")
    for shape in ((40, 9), (3, 2000), (2, 50001)):
        x = rng.random(shape)
        for axis in (0, 1):
            want = x.copy()
            np.moveaxis(want, axis, 0)[: shape[axis] // 2] *= -1
            same(kernel(iruka.asarray(x), axis=axis), want)
            same(kernel(iruka.asarray(x.T).T, axis=axis), want)


def test_indices_of_elements(rng):
    kernel = iruka.StagedKernel(
        "int64 x",
        "int64 y",
        "int64 kept",
        [
            "auto at = _ind.get(); kept[{at[0], at[1]}] = i * 1000 + at[0] * 10 + at[1];",
            "auto at = _ind.get(); y = kept[{_ind.shape()[0] - 1 - at[0], at[1]}] + n + kept.size() + kept.shape()[1];",
        ],
        "indexed",
    )
    for shape in ((4, 6), (300, 500)):
        x = np.zeros(shape, "int64")
        at = np.indices(shape)
        kept = np.arange(x.size).reshape(shape) * 1000 + at[0] * 10 + at[1]
        want = kept[::-1] + 2 * x.size + shape[1]
        same(kernel(iruka.asarray(x)), want)
        same(kernel(iruka.asarray(x), axis=0), want)
        same(kernel(iruka.asarray(x.T).T), want)


def test_a_helper_takes_intermediates_as_raw_arrays():
    kernel = iruka.StagedKernel(
        "raw float32 x, float32 z",
        "float32 y",
        "float32 kept",
        ["kept[i] = x[i] * 2", "y = near(kept, i, n) + near(x, i, n)"],
        "helped",
        preamble="__device__ float near(CArray<float, 1> &a, int i, int n) { return a[(i + 1) % n]; }",
    )
    x = np.arange(50, dtype="float32")
    same(kernel(iruka.asarray(x), iruka.asarray(x)), np.roll(x, -1) * 3)


def test_raw_outputs(rng):
    kernel = iruka.StagedKernel(
        "T x", "raw T y, T z", "", ["y[n - 1 - i] = x;", "z = y[i] - x; if (i == 0) y[0] = 100;"], "raws"
    )
    for size in (5, 30000):
        x = rng.integers(0, 100, size)
        want = x[::-1].copy()
        y, z = kernel(iruka.asarray(x))
        same(z, want - x)
        want[0] = 100
        same(y, want)
        y = iruka.zeros(size, dtype="int64")
        kernel(iruka.asarray(x), y, iruka.zeros(size, dtype="int64"))
        same(y, want)
    all_raw = iruka.StagedKernel(
        "raw T x", "raw T y", "T kept", ["kept[i] = x[i];", "y[i] = kept[n - 1 - i];"], "all_raw"
    )
    for size in (0, 9, 20000):
        same(all_raw(iruka.arange(30000), size=size), np.arange(30000)[:size][::-1])
    plain = iruka.StagedKernel("raw T x", "T y", "T kept", ["kept[i] = x[i];", "y = kept[n - 1 - i];"], "plain")
    same(plain(iruka.arange(30), size=20), np.arange(20)[::-1])
    with pytest.raises(ValueError, match="every array is raw: pass size="):
        all_raw(iruka.arange(30))
    with pytest.raises(ValueError, match="size can be given only when every array is raw; not raw: x"):
        mirror(iruka.arange(3), size=3)


def test_inputs_of_every_kind():
    kernel = iruka.StagedKernel(
        "T x, T a, float32 b", "T y", "T kept", ["kept[i] = x * a;", "y = kept[n - 1 - i] + b;"], "mixed"
    )
    x = np.arange(6.0).reshape(2, 3)
    want = (x * 2)[::-1, ::-1] + 0.5
    same(kernel(iruka.asarray(x), 2, 0.5), want)
    same(kernel(x, np.float64(2), np.float32(0.5)), want)
    same(kernel(x.tolist(), 2, 0.5), want)
    same(kernel(iruka.asarray(x), iruka.asarray(np.float64(2)), 0.5), want)
    columns = np.arange(1.0, 4)
    same(kernel(iruka.asarray(x), columns, 0.5), (x * columns)[::-1, ::-1] + 0.5)
    rows = iruka.asarray([[1.0], [3.0]])
    same(kernel(rows, iruka.asarray(columns), 0), (np.array([[1.0], [3.0]]) * columns)[::-1, ::-1])
    same(kernel(iruka.asarray(3.0), 2, 0.5), np.float64(6.5))
    only_output = iruka.StagedKernel("", "T y", "T kept", ["kept[i] = (T)i;", "y = kept[n - 1 - i];"], "only_output")
    same(only_output(iruka.zeros(5, "int16")), np.arange(5, dtype="int16")[::-1])


def test_placeholders_of_intermediates():
    kernel = iruka.StagedKernel(
        "T x", "U y", "T a, U b", ["a[i] = x; b[i] = (U)(x * (T)3);", "y = b[n - 1 - i] + (U)a[0];"], "two"
    )
    x = np.array([1.5, 2.5, 4.0])
    got = kernel(iruka.asarray(x), iruka.zeros(3, "int32"))
    same(got, np.array([13, 8, 5], "int32"))
    with pytest.raises(TypeError, match="parameter 'y': the type 'U' is unknown"):
        kernel(iruka.asarray(x))
    unknown = iruka.StagedKernel("float32 x", "float32 y", "V a", ["y = x;"], "unknown")
    with pytest.raises(TypeError, match="parameter 'a': the type 'V' is unknown"):
        unknown(iruka.ones(3, "float32"))


@pytest.mark.parametrize("size", [10, 3000, 40000])
def test_outputs_that_overlap_inputs(rng, size):
    later = iruka.StagedKernel("T x", "T y", "T kept", ["y = 0; kept[i] = x;", "y = kept[n - 1 - i] + x;"], "later")
    once = iruka.StagedKernel("T x", "T y", "T kept", ["kept[i] = x;", "y = kept[n - 1 - i];"], "once")
    repeated = iruka.StagedKernel("T x", "T y", "", ["y = 0;", ("y = y + x;", 3)], "repeated")
    raw = iruka.StagedKernel("T x", "raw T y", "", ["y[n - 1 - i] = x;"], "raw")
    memory = rng.integers(0, 1000, size + 3)
    for kernel, reference in (
        (later, lambda x: x[::-1] + x),
        (once, lambda x: x[::-1]),
        (repeated, lambda x: 3 * x),
        (raw, lambda x: x[::-1]),
    ):
        for begin, to in ((0, 0), (0, 3), (3, 0), (1, 2)):
            mine = iruka.asarray(memory.copy())
            kernel(mine[begin : begin + size], mine[to : to + size])
            same(mine[to : to + size], reference(memory[begin : begin + size]))
        mine = iruka.asarray(memory.copy())
        kernel(mine[:size][::-1], mine[:size])
        same(mine[:size], reference(memory[:size][::-1]))


@pytest.mark.parametrize("step", ["a[i] += _step;", "while (count > 3) count == 4 ? a[i] = 1 : a[i] += 1;"])
@pytest.mark.parametrize("size", [10, 3000, 100000])
@pytest.mark.skipif(iruka.default_device().name != "cpu", reason="a GPU's kernel runs to its end")
def test_ctrl_c_ends_repetitions(size, step):
    done = run_python(f"""
import os, signal, threading
import iruka
kernel = iruka.StagedKernel("T x, int64 count", "T y", "T a", ["a[i] = x;", ("{step}", "count"), "y = a[i];"])
x = iruka.arange({size}.0)
kernel(x, 3)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    kernel(x, 10**15)
except KeyboardInterrupt:
    print(float(kernel(x, 3)[-1]))
""")
    want = size + 2 if "_step" in step else size - 1
    assert done.returncode == 0 and float(done.stdout) == want, done.stdout + done.stderr


def test_inputs_that_are_written():
    kernel = iruka.StagedKernel(
        "_non_const T x", "T y", "T kept", ["kept[i] = x; x = x + 1;", "y = kept[n - 1 - i] * x;"], "written"
    )
    x = iruka.arange(3000)
    same(kernel(x), np.arange(3000)[::-1] * np.arange(1, 3001))
    same(x, np.arange(1, 3001))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_empty_arrays(shape):
    for axis in (None, *range(len(shape))):
        got, numbers = mirror(iruka.zeros(shape), axis=axis)
        assert got.shape == numbers.shape == shape


def test_slices_whose_intermediates_exceed_the_cache(rng):
    kernel = iruka.StagedKernel(
        "T x",
        "T y",
        "T a, T b",
        ["a[i] = x;", "b[i] = a[_slice[_slice.size() - 1 - _J]] + 1;", "y = b[i] + a[i];"],
        "large",
        axis=-1,
    )
    x = rng.random((600, 3000)) + 1j
    same(kernel(iruka.asarray(x)), x[:, ::-1] + 1 + x)
    x = rng.random((2, 70001)) + 1j
    same(kernel(iruka.asarray(x)), x[:, ::-1] + 1 + x)


def test_several_outputs_and_returns():
    stages = ["y = x + 1", "z = y * 2"]
    pair = iruka.StagedKernel("T x", "T y, T z", "", stages, "pair")
    y, z = pair(iruka.arange(3))
    same(y, np.arange(3) + 1)
    same(z, (np.arange(3) + 1) * 2)
    assert iruka.StagedKernel("T x", "T y, T z", "", stages, "none", no_return=True)(iruka.arange(3)) is None
    (only,) = iruka.StagedKernel("T x", "T y", "", ["y = x"], "alone", return_tuple=True)(iruka.arange(3))
    same(only, np.arange(3))
    out = iruka.empty(3, "int64")
    assert iruka.StagedKernel("T x", "T y", "", ["y = x"])(iruka.arange(3), out) is out


def test_attributes():
    assert (scan.name, scan.nin, scan.nout, scan.nargs, scan.axis) == ("scan", 2, 1, 3, -1)
    assert [stage if isinstance(stage, str) else stage[1] for stage in scan.stages] == [
        "even[i] = x;",
        "steps",
        "y = steps % 2 ? odd[i] : even[i];",
    ]
    assert [p.name for p in scan.params] == ["x", "steps", "y"] and [p.name for p in scan.intermediates] == [
        "even",
        "odd",
    ]
    assert repr(scan) == "<StagedKernel scan(T x, int32 steps; T even, T odd) -> (T y)>"
    kernel = iruka.StagedKernel(
        "T x", "T y", "", [("y = x", 2)], axis=(0, -1), preamble="/**/", options=["-DA"], reduce_dims=False
    )
    assert (kernel.name, kernel.axis, kernel.stages) == ("staged_kernel", (0, -1), (("y = x", 2),))
    assert (kernel.preamble, kernel.options, kernel.reduce_dims, kernel.no_return, kernel.return_tuple) == (
        "/**/",
        ("-DA",),
        False,
        False,
        False,
    )


def test_texts_of_a_call():
    kernel = iruka.StagedKernel(
        "T x", "T y", "T kept", ["kept[i] = x /* first */;", "y = kept[n - 1 - i] /* second */;"], "shown"
    )
    with pytest.raises(ValueError, match="no code yet"):
        kernel.cached_code
    small, large = iruka.arange(20.0), iruka.arange(200000.0)
    text = kernel.source(small)
    assert text.index('#line 1 "stage 1"\nkept[i] = x /* first */;') < text.index('#line 1 "stage 2"\ny = kept')
    assert "// stage" not in text
    apart = kernel.source(large)
    assert apart.startswith("// stage 1 of 2\n") and "// stage 2 of 2\n" in apart
    assert kernel.assembly(small).strip() and kernel.assembly(large).startswith("// stage 1 of 2\n")
    kernel(small)
    assert kernel.cached_code == text
    assert list(kernel.cached_codes) == [(np.dtype("float64"), np.dtype("float64"))]
    with open(kernel.path(small)) as file:
        assert file.read() == text
    same(kernel(large), np.arange(200000.0)[::-1])


@pytest.mark.skipif(iruka.default_device().name != "cpu", reason="GPUs have no lanes")
def test_report_of_lanes():
    kernel = iruka.StagedKernel(
        "float32 x",
        "float32 y",
        "float32 kept",
        ["kept[i] = x > 0 ? sqrtf(x) : 0;", "float a = kept[i];\nwhile (a > 1)\n  a /= 2;\ny = a + kept[n - 1 - i];"],
        "reported",
    )
    for size in (100, 100000):
        report = kernel.report(iruka.ones(size, "float32"))
        assert report.lanes > 1 and report.kernel == "reported"
        assert "stage 2:2:" in str(report) and "while (a > 1)" in str(report), str(report)
    # LLVM's loop vectoriser does not run on widened code, so that the straight stage has to be widened, too.
    assert "as long as the scalar path" not in str(kernel.report(iruka.ones(100, "float32")))


def test_kernels_are_values():
    arguments = ("T x", "T y", "T kept", ["kept[i] = x;", ("y = kept[_slice[_slice.size() - 1 - _J]];", 2)], "value")
    kernel, twin = iruka.StagedKernel(*arguments, axis=-1), iruka.StagedKernel(*arguments, axis=-1)
    assert kernel == twin and hash(kernel) == hash(twin)
    others = [
        iruka.StagedKernel(*arguments),
        iruka.StagedKernel(*arguments, axis=0),
        iruka.StagedKernel(*arguments, axis=-1, preamble=" "),
        iruka.StagedKernel(*arguments, axis=-1, options=("-DA",)),
        iruka.StagedKernel(*arguments, axis=-1, return_tuple=True),
        iruka.StagedKernel(*arguments[:3], ["kept[i] = x;", arguments[3][1][0]], "value", axis=-1),
        iruka.StagedKernel(*arguments[:2], "T kept, T more", *arguments[3:], axis=-1),
    ]
    assert len({kernel, twin, *others}) == 1 + len(others)
    kernel.mark = "kept"
    for made in (pickle.loads(pickle.dumps(kernel)), copy.copy(kernel), copy.deepcopy(kernel)):
        assert made == kernel and made.mark == "kept" and made.axis == -1
        same(made(iruka.arange(6).reshape(2, 3)), np.arange(6).reshape(2, 3)[:, ::-1])
    stages = ["y = x;"]
    made = iruka.StagedKernel("T x", "T y", "", stages, "kept")
    stages.append("y = 7;")
    assert pickle.loads(pickle.dumps(made)) == made


def test_calls_from_many_threads(rng):
    x = rng.integers(0, 100, (64, 50))
    own, want = iruka.asarray(x), np.sort(x, axis=1)
    kernel = iruka.StagedKernel(
        "T x",
        "T y",
        "T kept, T placed",
        [
            "kept[i] = x;",
            """
            int rank = 0;
            for (int k = 0; k < _slice.size(); k++) {
              const T a = kept[_slice[k]];
              rank += a < x || (a == x && k < _J);
            }
            placed[_slice[rank]] = x;
            """,
            "y = placed[i];",
        ],
        "ranks",
        axis=1,
    )
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: kernel(own), range(100)):
            same(got, want)
        large = iruka.arange(50000)
        for got, _ in pool.map(lambda _: mirror(large), range(20)):
            same(got, np.arange(50000)[::-1])


def test_history_names_the_kernel():
    iruka.clear_kernel_history()
    kernel = iruka.StagedKernel(
        "T x", "T y", "T kept", ["kept[i] = x + 12345;", "y = kept[n - 1 - i] + 54321;"], "in_history"
    )
    kernel(iruka.arange(10))
    kernel(iruka.arange(100000))
    events = [event for event in iruka.kernel_history() if event.kernel == "in_history"]
    assert len(events) == 3  # both stages at once, and each


def test_intermediates_end_with_the_call():
    x = iruka.ones((2, 100000))
    mirror(x)
    pool = iruka.get_default_memory_pool()
    before = pool.used_bytes()
    result = mirror(x)
    assert pool.used_bytes() - before >= 2 * x.nbytes
    del result
    assert pool.used_bytes() == before


def test_streams():
    stream = iruka.cuda.Stream.null if iruka.default_device().name == "cpu" else iruka.cuda.Stream()
    x = iruka.arange(100000)
    got, _ = mirror(x, stream=stream)
    stream.synchronize()
    same(got, np.arange(100000)[::-1])


def test_assertions():
    kernel = iruka.StagedKernel(
        "int32 x", "int32 y", "int32 kept", ["kept[i] = x;", "assert(kept[n - 1 - i] < 3); y = x;"], "asserted"
    )
    same(kernel(iruka.zeros(5, "int32")), np.zeros(5, "int32"))
    with pytest.raises(iruka.errors.DeviceError, match=r"kept\[n - 1 - i\] < 3.*stage 2.*element [01]"):
        kernel(iruka.arange(5, dtype="int32"))
        iruka.cuda.Stream.null.synchronize()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("float32", "T y", "", ["y = 1"]), ValueError, r"StagedKernel 'staged_kernel': parameter 'float32': expected \[raw\]"),
        (("float31 x", "T y", "", ["y = 1"]), TypeError, "parameter 'float31 x'"),
        (("T x", "T x", "", ["x = 1"]), ValueError, "two parameters are named 'x'"),
        (("T x", "T y", "T x", ["y = 1"]), ValueError, "two parameters are named 'x'"),
        (("T x", "T y", "T y", ["y = 1"]), ValueError, "two parameters are named 'y'"),
        (("T x", "T y", "T a, T a", ["y = 1"]), ValueError, "two parameters are named 'a'"),
        (("T x", "T y", "raw T a", ["y = 1"]), ValueError, "intermediate 'a': leave out 'raw'"),
        (("T x", "T y", "T a,", ["y = 1"]), ValueError, "expected"),
        (("T x", "T y", "T i", ["y = 1"]), ValueError, "'i' cannot be a parameter's name"),
        (("T _J", "T y", "", ["y = 1"]), ValueError, "the name '_J' is reserved in staged kernels"),
        (("T x", "T _slice", "", ["y = 1"]), ValueError, "the name '_slice' is reserved"),
        (("T x", "T y", "T _step", ["y = 1"]), ValueError, "the name '_step' is reserved"),
        (("T x", "T y", "", []), ValueError, "at least one stage is needed"),
        (("T x", "T y", "", ["y = 1", " \n"]), ValueError, "stage 2 is empty"),
        (("T x", "T y", "", "y = 1"), TypeError, "stages must be a sequence of bodies, not a str"),
        (("T x", "T y", "", 3), TypeError, "stages must be a sequence of bodies, not 3"),
        (("T x", "T y", "", ["y = 1", 3]), TypeError, "stage 2 must be a str, or a tuple of a str, how many times it runs and for how many"),
        (("T x", "T y", "", [("y = 1",)]), TypeError, "stage 1 must be a str, or a tuple"),
        (("T x", "T y", "", [("y = 1", 1, 5)]), TypeError, "stage 1's elements"),
        (("T x", "T y", "", [("y = 1", 1, "2", 3)]), TypeError, "stage 1 must be a str, or a tuple"),
        (("T x", "T y", "", [("y = 1", -1)]), ValueError, "stage 1: its count must not be negative, not -1"),
        (("T x", "T y", "", [("y = 1", 1.5)]), TypeError, "stage 1: its count"),
        (("T x", "T y", "", [("y = 1", "k")]), ValueError, "stage 1: its count 'k' is not the name of an input"),
        (("T x", "T y", "", [("y = 1", "y")]), ValueError, "its count 'y' is not the name of an input"),
        (("T x", "T y", "", [("y = 1", "x")]), ValueError, "its count 'x' must be an input of an integer type, as in 'int32 x', not 'T x'"),
        (("raw int32 x", "T y", "", [("y = 1", "x")]), ValueError, "not 'raw int32 x'"),
        (("float32 x", "T y", "", [("y = 1", "x")]), ValueError, "not 'float32 x'"),
        (("T x", "T y", "", ["y = 1"], "a name"), ValueError, "StagedKernel: invalid kernel name 'a name'"),
        ((3, "T y", "", ["y = 1"]), TypeError, "StagedKernel: in_params"),
        (("T x", None, "", ["y = 1"]), TypeError, "StagedKernel: out_params"),
        (("T x", "T y", None, ["y = 1"]), TypeError, "StagedKernel: intermediates"),
        ((", ".join(f"T x{k}" for k in range(150)), "T y", ", ".join(f"T a{k}" for k in range(60)), ["y = 1"]), ValueError, "more than 200 parameters"),
    ],
)  # fmt: skip
def test_arguments_that_no_kernel_is_made_of(arguments, error, words):
    with pytest.raises(error, match=words):
        iruka.StagedKernel(*arguments)


def test_keywords_that_are_refused():
    for keywords, words in (
        ({"preamble": 3}, "preamble"),
        ({"options": "-DA"}, "options must be a tuple of str, not a str"),
        ({"axis": "x"}, "axis"),
    ):
        with pytest.raises(TypeError, match=words):
            iruka.StagedKernel("T x", "T y", "", ["y = x"], **keywords)
    with pytest.raises(TypeError, match="loop_prep"):
        iruka.StagedKernel("T x", "T y", "", ["y = x"], loop_prep="")
    with pytest.raises(
        TypeError, match=r"mirror\(\) got an unexpected keyword argument 'out'; a call takes size, axis and stream"
    ):
        mirror(iruka.ones(3), out=iruka.ones(3))


def test_calls_that_are_refused():
    x = iruka.ones((3, 4))
    with pytest.raises(TypeError, match="kernel 'scan' takes 2 arguments, or 3 with its output, not 1"):
        scan(x)
    with pytest.raises(TypeError, match="unsupported type"):
        scan(x, object())
    with pytest.raises(TypeError, match=r"stage 2: its count 'steps' must be a scalar, not an array"):
        scan(x, iruka.asarray(3, dtype="int32"))
    with pytest.raises(ValueError, match=r"stage 2: its count 'steps' must not be negative, not -1"):
        scan(x, -1)
    with pytest.raises(ValueError, match="stage 1: its count 'k' must be less than 2\\^63, not 18446744073709551615"):
        iruka.StagedKernel("T x, uint64 k", "T y", "", [("y = x", "k")])(x, 2**64 - 1)
    with pytest.raises(iruka.exceptions.AxisError, match="axis 2 is out of bounds"):
        mirror(x, axis=2)
    with pytest.raises(IndexError, match="duplicate value in 'axis'"):
        mirror(x, axis=(0, -2))
    with pytest.raises(TypeError, match="axis"):
        mirror(x, axis=1.5)
    with pytest.raises(ValueError, match="do not broadcast together"):
        iruka.StagedKernel("T x, T z", "T y", "", ["y = x + z"])(x, iruka.ones(3))
    with pytest.raises(TypeError, match="must be float32, but the array is float64"):
        smooth(x)
    with pytest.raises(
        ValueError, match=r"the array has shape \(4, 3\), but the loop has shape \(3, 4\)|do not broadcast"
    ):
        smooth(x.astype("float32"), iruka.ones((4, 3), "float32"))
    with pytest.raises(ValueError, match="the loop's length is unknown, because no argument is an array"):
        mirror(3)
    with pytest.raises(ValueError, match="size must not be negative, not -1"):
        iruka.StagedKernel("raw T x", "raw T y", "", ["y[i] = x[i]"])(x, size=-1)
    frozen = np.ones((3, 4), "float32")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        smooth(
            x.astype("float32"),
            iruka.asarray(frozen)
            if iruka.default_device().name == "cpu"
            else iruka.broadcast_to(iruka.ones(4, "float32"), (3, 4)),
        )


def test_compile_errors_name_the_stage():
    with pytest.raises(CompileError) as caught:
        iruka.StagedKernel(
            "float32 x", "float32 y", "float32 a", ["a[i] = x;", "int k = 2;\ny = a[i] + unknown;"], "wrong"
        )
    text = str(caught.value)
    assert "kernel 'wrong' does not compile for (float32 x, raw float32 a, float32 y), made at" in text, text
    assert "stage 2, line 2: error: use of undeclared identifier 'unknown'" in text, text
    assert "      y = a[i] + unknown;\n                 ^" in text, text
    with pytest.raises(CompileError, match=r"stage 1, line 1: error: .*"):
        iruka.StagedKernel("float32 x", "float32 y", "", ["y = (x;", "y += 1;"], "bracket")
    late = iruka.StagedKernel("T x", "T y", "T a", ["a[i] = x;", "y = a[i].none;"], "late")
    for size in (10, 100000):
        with pytest.raises(CompileError, match="stage 2, line 1: error"):
            late(iruka.ones(size))
    with pytest.raises(CompileError) as caught:
        iruka.StagedKernel("float32 x", "float32 y", "", ["y = x;", ("y = 2;", 1, "n / nothing")], "limited")
    text = str(caught.value)
    assert "stage 2's elements, line 1: error: " in text and "nothing" in text, text
    assert "      n / nothing\n          ^" in text, text
    shadowed = iruka.StagedKernel("T x", "T y", "", ["int k = 1; y = x + k;", "y += k;"], "separate")
    with pytest.raises(CompileError, match="stage 2, line 1: error"):
        shadowed(iruka.ones(3))


@pytest.mark.skipif(iruka.default_device().name != "cpu", reason="NVRTC does not say who reads and writes")
@pytest.mark.parametrize("size", [10, 100000])
def test_warnings(size):
    x = iruka.ones(size, "float32")
    early = iruka.StagedKernel(
        "T x", "T y", "T a, T b", ["a[i] = x;", "y = a[i] + b[n - 1 - i];", "b[i] = x;"], "early"
    )
    with pytest.warns(
        KernelWarning,
        match=r"(?s)kernel 'early'.*stage 2, line 1: warning: 'b' is read, but no stage has written to it.*\^",
    ):
        early(x)
    unwritten = iruka.StagedKernel("T x", "T y, T z", "", ["y = x;", "y += 1;"], "unwritten")
    with pytest.warns(KernelWarning, match="the output 'z' is never written"):
        unwritten(x)
    with pytest.warns(KernelWarning, match=r"stage 2, line 1: warning"):
        iruka.StagedKernel("float32 x", "float32 y", "", ["y = x;", "y == x;"], "effectless")
    silent = iruka.StagedKernel(
        "T x",
        "T y",
        "T a, complex64 c",
        ["a[i] = x; c[i] = x;", ("a[i] += a[i] * c[i].real();", 2), "y = a[n - 1 - i];"],
        "silent",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        silent(x)
        mirror(x)


@needs_fake_driver
def test_a_gpu_compiles_stages_for_blocks():
    run("""
kernel = iruka.StagedKernel("T x, int32 steps", "T y", "T a, complex64 b",
    ["a[i] = x; b[i] = _i;", ("a[i] += a[_slice[(_J + 1) % _slice.size()]];", "steps"), "y = a[i] + b[n - 1 - i].real();"],
    "on_gpu", axis=-1)
for shape in ((), (7,), (1000, 10), (500, 700), (3, 100000), (200, 9000), (4, 0)):
    for dtype in ("float32", "float16", "int8", "bool"):
        x = iruka.zeros(shape, dtype)
        for axis in range(len(shape)):
            kernel(x, 3, axis=axis)
            kernel(x.T, 3, axis=axis)
text = kernel.source(iruka.zeros((500, 700), "float32"), 3)
assert "__shared__" in text and "__syncthreads();" in text and text.count("__global__") == 1, text
text = kernel.source(iruka.zeros((2, 100000), "float32"), 3)
assert "__shared__" not in text and text.count("__global__") == 3, text
assert "bar.sync" in kernel.assembly(iruka.zeros((500, 700), "float32"), 3)
""")
