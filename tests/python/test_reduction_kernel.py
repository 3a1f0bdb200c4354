"""ReductionKernel: the examples of CuPy's guide, dtypes, axes, layouts, and what is refused. Values are NumPy's."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from fake_driver import needs_fake_driver, run

FIRST = """
struct first { T value; int64_t at; };
__device__ first smaller(first a, first b) {
  return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
}
"""
squares = iruka.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares")
squares_of_some = iruka.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", None, "squares_of_some")
places = iruka.ReductionKernel(
    "T x", "int64 at", "first{x, _J}", "smaller(a, b)", "at = a.at", None, "places", "first", preamble=FIRST
)


def same(got, want):
    assert isinstance(got, iruka.ndarray)
    want = np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype, (got.shape, got.dtype, want.shape, want.dtype)
    np.testing.assert_array_equal(iruka.asnumpy(got), want)


def close(got, want, tolerance=1e-5):
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(iruka.asnumpy(got), want, rtol=tolerance)


def numbers(rng, shape, dtype="float64"):
    return rng.integers(-9, 10, shape).astype(dtype)


def test_norm_of_the_guide(rng):
    norm = iruka.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    x = rng.random((7, 500), dtype=np.float32)
    own = iruka.asarray(x)
    close(norm(own, axis=1), np.linalg.norm(x, axis=1))
    close(norm(own), np.linalg.norm(x))
    close(norm(own, axis=0, keepdims=True), np.linalg.norm(x, axis=0, keepdims=True))
    assert (norm.name, norm.nin, norm.nout, norm.nargs, norm.identity) == ("l2norm", 1, 1, 2, "0")
    assert (norm.map_expr, norm.reduce_expr, norm.post_map_expr) == ("x * x", "a + b", "y = sqrt(a)")
    assert (norm.reduce_type, norm.reduce_dims, norm.preamble, norm.options) == ("T", True, "", ())
    assert [p.name for p in norm.in_params + norm.out_params] == ["x", "y"]
    assert repr(norm) == "<ReductionKernel l2norm(T x) -> (T y)>"


def test_mean_counts_elements(rng):
    mean = iruka.ReductionKernel(
        "T x", "float64 y", "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", 0, "mean"
    )
    x = numbers(rng, (30, 40), "int32")
    close(mean(iruka.asarray(x)), x.mean())
    close(mean(iruka.asarray(x), axis=0), x.mean(axis=0))
    close(mean(iruka.asarray(x), axis=1), x.mean(axis=1))


@pytest.mark.parametrize("shape", [(1,), (9,), (3000,), (40, 700), (700, 40), (50000, 17)])
def test_places_by_a_type_of_the_preamble(rng, shape):
    x = rng.integers(0, 50, shape).astype("float32")
    for axis in (None, *range(len(shape))):
        same(places(iruka.asarray(x), axis=axis), x.argmin(axis=axis))
    same(places(iruka.asarray(x).T), x.T.argmin())


SHAPES = [(), (1,), (7,), (1000,), (100000,), (300, 400), (5, 6, 7), (2000, 3), (3, 2000), (12, 50, 60), (30, 7, 300),
          (2, 3, 4, 5), (30000, 20), (20, 30000), (300000, 2)]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("identity", ["identity", "none"])
def test_every_axis_of_many_shapes(rng, shape, identity):
    x = numbers(rng, shape)
    kernel = {"identity": squares, "none": squares_of_some}[identity]
    for axis in (None, *range(-len(shape), len(shape)), tuple(range(len(shape)))):
        for keepdims in (False, True):
            same(kernel(iruka.asarray(x), axis=axis, keepdims=keepdims), (x * x).sum(axis=axis, keepdims=keepdims))
        if axis is None or isinstance(axis, tuple) or axis >= 0:
            same(kernel(iruka.asarray(x).T, axis=axis), (x.T * x.T).sum(axis=axis))


@st.composite
def views(draw):
    """A view's shape, how to make it of a C array, and some axes."""
    shape = draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in shape]
    axes = draw(st.sets(st.integers(0, len(shape) - 1)))
    return shape, order, steps, tuple(axes)


@given(views())
def test_strided_views_and_sets_of_axes(view):
    shape, order, steps, axes = view
    x = np.arange(np.prod(shape), dtype="int64").reshape(shape)
    index = tuple(slice(None, None, step) for step in steps)
    mine, theirs = iruka.asarray(x).transpose(*order)[index], x.transpose(order)[index]
    same(squares(mine, axis=axes), (theirs * theirs).sum(axis=axes))
    ordered = iruka.ReductionKernel("T x", "T y", "x * (_J + 1)", "a + b", "y = a", "0", "ordered")
    lines = np.moveaxis(theirs, axes, range(len(axes))).reshape((-1, *np.delete(theirs.shape, axes)))
    same(ordered(mine, axis=axes), np.tensordot(np.arange(1, len(lines) + 1), lines, 1))


@pytest.mark.parametrize("name", "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64".split())
def test_integers(rng, name):
    x = rng.integers(0, 2 if name == "bool" else 100, (60, 90)).astype(name)
    total = iruka.ReductionKernel("T x", "int64 y", "x", "a + b", "y = a", "0", "total")
    largest = iruka.ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", None, "largest")
    for axis in (None, 0, 1):
        same(total(iruka.asarray(x), axis=axis), x.sum(axis=axis, dtype="int64"))
        same(largest(iruka.asarray(x), axis=axis), x.max(axis=axis))


def test_bools_of_any_byte():
    bytes_ = np.zeros(1000, "uint8")
    bytes_[::3] = 255
    count = iruka.ReductionKernel("bool x", "int32 y", "x", "a + b", "y = a", 0, "count")
    some = iruka.ReductionKernel("bool x", "bool y", "x", "a || b", "y = a", False, "some")
    assert count(iruka.asarray(bytes_).view(bool)).item() == 334
    assert some(iruka.asarray(bytes_).view(bool)).item() is True and some(iruka.zeros(5, bool)).item() is False


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "complex64", "complex128"])
def test_inexact_dtypes(rng, name):
    x = iruka.asarray(numbers(rng, (50, 300), "float32") / 8).astype(name)
    wide = iruka.asnumpy(x.astype("complex128" if name.startswith("complex") else "float64"))
    if name.startswith("complex"):
        x, wide = x * 1j + x, wide * 1j + wide
    kernel = iruka.ReductionKernel(
        "T x", "T y", "x", "a + b", "y = T(a)", "0", "total", "float" if "float16" in name else None
    )
    for axis in (None, 0, 1):
        got = kernel(x, axis=axis)
        assert got.dtype == x.dtype
        np.testing.assert_allclose(iruka.asnumpy(got.astype(wide.dtype)), wide.sum(axis=axis), rtol=1e-2, atol=1e-3)


def test_inputs_broadcast_and_scalars_reach_every_text(rng):
    dot = iruka.ReductionKernel("T x, T y, T scale", "T z", "x * y * scale", "a + b", "z = a + scale", "0", "dot")
    x, y = numbers(rng, (40, 30, 50)), numbers(rng, (30, 1))
    for axis in (None, 0, 1, 2, (0, 2), (0, 1)):
        same(dot(iruka.asarray(x), iruka.asarray(y), 2, axis=axis), (x * y * 2).sum(axis=axis) + 2)
    same(dot(iruka.asarray(x), y, 2, axis=0), (x * y * 2).sum(axis=0) + 2)
    same(squares(iruka.asarray(3.0)), np.float64(9))
    with pytest.raises(ValueError, match="there is no shape to reduce: no argument is an array"):  # as CuPy says
        squares(3.0)
    same(squares(iruka.broadcast_to(iruka.asarray(x[0, 0]), (600, 50)), axis=0), x[0, 0] ** 2 * 600)


def test_raw_arrays(rng):
    """As Chainer's cross entropy has it: `_j` counts all elements, a raw output is indexed by hand."""
    pick = iruka.ReductionKernel(
        "int32 t, raw T table, int32 width, raw T scale", "raw T out", "t < 0 ? T(0) : table[_j * width + t]", "a + b",
        "out[_i] = a * -scale[0]", "0", "pick",
    )  # fmt: skip
    table, t = numbers(rng, (200, 5)), rng.integers(-1, 5, 200).astype("int32")
    chosen = np.where(t < 0, 0, table[np.arange(200), t])
    for own in (iruka.asarray(table), iruka.asarray(np.asfortranarray(table))):
        same(pick(iruka.asarray(t), own, 5, iruka.asarray([2.0])), chosen.sum() * -2)


def test_places_that_texts_may_name(rng):
    shape = (6, 7, 8)
    for text, of in [("_J", lambda i, j, k: i * 8 + k), ("_i", lambda i, j, k: j),
        ("_j", lambda i, j, k: (i * 8 + k) * 7 + j),
                     ("i", lambda i, j, k: (i * 8 + k) * 7 + j),
                     ("_in_ind.get()[0]", lambda i, j, k: (i * 8 + k) * 7 + j)]:  # fmt: skip
        kernel = iruka.ReductionKernel("T x", "int64 y", f"x * 0 + {text}", "a + b", "y = a", "0", "place")
        same(
            kernel(iruka.ones(shape, "int64"), axis=(0, 2)),
            np.fromfunction(of, shape, dtype="int64").sum(axis=(0, 2)) * np.ones(7, "int64"),
        )
    outputs = iruka.ReductionKernel("T x", "int64 y", "x", "a + b", "y = i * 1000 + n", "0", "numbered")
    same(outputs(iruka.ones((3, 4), "int64"), axis=1), np.arange(3) * 1000 + 3)


def test_several_outputs(rng):
    ends = iruka.ReductionKernel(
        "T x", "T low, T high", "two{x, x}", "two{min(a.low, b.low), max(a.high, b.high)}",
        "low = a.low; high = a.high;",
        None, "ends", reduce_type="two", preamble="struct two { T low, high; };",
    )  # fmt: skip
    x = rng.random((300, 70))
    for axis in (None, 0, 1):
        low, high = ends(iruka.asarray(x), axis=axis)
        same(low, x.min(axis=axis)), same(high, x.max(axis=axis))
    low, high = iruka.empty(70), iruka.empty(70)
    given = ends(iruka.asarray(x), out=(low, high), axis=0)
    assert given[0] is low and given[1] is high
    same(low, x.min(axis=0)), same(high, x.max(axis=0))


def test_given_outputs(rng):
    x = numbers(rng, (20, 30))
    own = iruka.asarray(x)
    out = iruka.zeros((30, 2))[:, 0]
    assert squares(own, out, axis=0) is out
    same(out, (x * x).sum(axis=0))
    kept = iruka.zeros((20, 1))
    assert squares(own, out=kept, axis=1, keepdims=True) is kept
    same(kept, (x * x).sum(axis=1, keepdims=True))
    shared = iruka.asarray(x)
    squares(shared, out=shared[3], axis=0)
    x[3] = (x * x).sum(axis=0)
    same(shared, x)


def test_nothing_to_reduce():
    same(squares(iruka.zeros((0,))), np.float64(0))
    same(squares(iruka.zeros((3, 0)), axis=1), np.zeros(3))
    same(squares(iruka.zeros((3, 0)), axis=0), np.zeros(0))
    same(squares_of_some(iruka.zeros((3, 0)), axis=0), np.zeros(0))
    with pytest.raises(ValueError, match="has no identity"):
        squares_of_some(iruka.zeros((0, 0)), axis=0)
    low = iruka.ReductionKernel("T x", "T y", "x", "min(a, b)", "y = a", float("inf"), "low")
    same(low(iruka.zeros((0,))), np.float64(np.inf))
    for kernel in (squares_of_some, iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", "", "squares_of_some")):
        with pytest.raises(
            ValueError, match="zero-size array to reduction operation squares_of_some which has no identity"
        ):
            kernel(iruka.zeros((3, 0)), axis=1)


def test_results_are_the_same_whatever_the_threads(rng):
    x = iruka.asarray(rng.random(1_000_000, dtype=np.float32))
    before = iruka.get_num_threads()
    results = set()
    for threads in (1, 2, 5):
        iruka.set_num_threads(threads)
        results |= {squares(x).item(), squares(x.reshape(1000, 1000), axis=0)[7].item() + 1e6}
    iruka.set_num_threads(before)
    assert len(results) == 2


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda x: squares(), TypeError, "'squares' takes 1 argument, or 2 with its output, not 0"),
        (lambda x: squares("a"), TypeError, r"argument 1 \(T x\) has unsupported type"),
        (lambda x: squares(x, axis=2), iruka.errors.AxisError, "axis 2 is out of bounds for array of dimension 2"),
        (lambda x: squares(x, axis=(0, -2)), IndexError, r"squares: duplicate value in 'axis': \(0, -2\)"),
        (lambda x: squares(x, axis="a"), TypeError, "axis"),
        (lambda x: squares(x, out=iruka.zeros(3, "float32"), axis=0), iruka.errors.ShapeError,
         r"'squares': parameter 'y': the array has shape \(3,\), but the result has shape \(5,\)"),
        (lambda x: squares(x, out=iruka.zeros(5), axis=0), TypeError,
            "'T' is float64 by 'y', but the array is float32"),
        (lambda x: squares(x, iruka.zeros(5), out=iruka.zeros(5)), ValueError,
            "both a positional and keyword argument"),
        (lambda x: squares(x, out=np.zeros(5)), TypeError, "out must be an iruka.ndarray, not"),
        (lambda x: squares(x, out=(x, x)), ValueError, r"out must be 1 array, not 2"),
        (lambda x: squares(x, size=3), TypeError, "size|incompatible"),
        (lambda x: iruka.ReductionKernel("raw T x", "T y", "x[0]", "a", "y = a", "0")(x), ValueError,
         "there is no shape to reduce: every array is raw"),
        (lambda x: iruka.ReductionKernel("T x, T y", "T z", "x", "a", "z = a", "0", "two")(x, x.T),
            iruka.errors.ShapeError,
         r"'two': the arrays do not broadcast together: x \(4, 5\), y \(5, 4\)"),
        (lambda x: iruka.ReductionKernel("float64 x", "float64 y", "x", "a", "y = a", "0", "wide")(x), TypeError,
         "'wide': parameter 'x': must be float64, but the array is float32"),
        (lambda x: iruka.ReductionKernel("T x", "S y", "x", "a", "y = a", "0", "open")(x), TypeError,
            "the type 'S' is unknown"),
        (lambda x: iruka.ReductionKernel("T x", "", "x", "a", "", "0", "none"), ValueError,
            "'none': at least one output is needed"),
        (lambda x: iruka.ReductionKernel("T", "T y", "x", "a", "y = a", "0", "bad"), ValueError,
         r"ReductionKernel 'bad': parameter 'T': expected \[raw\]"),
        (lambda x: iruka.ReductionKernel("T a", "T y", "a", "a", "y = a", "0", "bad"), ValueError,
         "the name 'a' is reserved in reductions"),
        (lambda x: iruka.ReductionKernel("_non_const T x", "T y", "x", "a", "y = a", "0", "bad"), ValueError,
         "only a raw input can be _non_const"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", "0", "a b"), ValueError,
         "ReductionKernel: invalid kernel name 'a b'"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", [1]), TypeError,
            "identity must be a str, a number or None"),
        (lambda x: iruka.ReductionKernel("T x", "T y", 1, "a", "y = a", "0"), TypeError, "ReductionKernel: map_expr"),
    ],
)  # fmt: skip
def test_refusals(call, kind, words):
    with pytest.raises(kind, match=words):
        call(iruka.zeros((4, 5), "float32"))


@pytest.mark.parametrize(
    "texts, words",
    [
        (("x +* 2", "a + b", "y = a", "0"), ["map_expr, line 1", "x +* 2"]),
        (("x", "a + c", "y = a", "0"), ["reduce_expr, line 1", "a + c"]),
        (("x", "a + b", "y = a;\nz = 1", "0"), ["post_map_expr, line 2", "z = 1"]),
        (("x", "a + b", "y = a", "zero"), ["identity, line 1", "zero"]),
    ],
)
@pytest.mark.parametrize("dtype", ["T", "float32"])
def test_wrong_texts_are_shown(texts, words, dtype):
    with pytest.raises(iruka.errors.CompileError) as caught:
        kernel = iruka.ReductionKernel(f"{dtype} x", f"{dtype} y", *texts, "wrong")
        # NVRTC reads only the grammar of what is no template's instance.
        assert dtype == "T" or iruka.default_device().name != "cpu", "found at once where all types are known"
        kernel(iruka.zeros(3, "float32"))
    for part in [
        "kernel 'wrong' does not compile for (float32 x -> float32 y), made at",
        "test_reduction_kernel.py",
        *words,
    ]:
        assert part in str(caught.value), str(caught.value)


def test_a_value_that_is_too_large_is_refused():
    with pytest.raises(iruka.errors.CompileError, match="a reduce_type has at most 64 bytes"):
        iruka.ReductionKernel(
            "float32 x", "float32 y", "many{x}", "a", "y = a.at[0]", None, "large", "many",
            preamble="struct many { float at[17]; };",
        )(iruka.zeros(3, "float32"))  # fmt: skip


@needs_fake_driver
def test_texts_for_a_gpu_compile():
    run(f"""
preamble = {FIRST!r}
for dtype in "float32 float64 float16 bfloat16 complex64 int8 bool".split():
    total = iruka.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "total")
    x = iruka.zeros((300, 2000), dtype)
    for axis in (None, 0, 1):
        assert total(x, axis=axis).shape == np.empty(x.shape, "?").any(axis=axis).shape
places = iruka.ReductionKernel("T x", "int64 at", "first{{x, _J}}", "smaller(a, b)", "at = a.at", None, "places", "first", preamble=preamble)
for axis in (None, 0, 1, (0, 1)):
    places(iruka.zeros((300, 2000), "float32"), axis=axis)
    places(iruka.zeros((300, 20, 30), "float32")[:, ::2], axis=axis)
raises(iruka.errors.CompileError, lambda: iruka.ReductionKernel("T x", "T y", "x +* 2", "a + b", "y = a", "0", "wrong")(x.astype("float32")),
       "kernel 'wrong' does not compile", "map_expr, line 1", "x +* 2")
""")


def test_out_is_no_input():
    kernel = iruka.ReductionKernel("T x, T w", "T y", "x * w", "a + b", "y = a", "0", "weighted")
    x, out = iruka.ones(3), iruka.zeros(())
    with pytest.raises(TypeError, match=r"weighted\(\): takes 2 inputs before out=, not 1"):
        kernel(x, out=out)
    assert kernel(x, x, out=out) is out and float(out) == 3
