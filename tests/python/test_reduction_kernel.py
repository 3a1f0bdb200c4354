"""ReductionKernel: the examples of CuPy's guide, dtypes, axes, layouts, and what is refused. Values are NumPy's."""

import concurrent.futures
import itertools

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
          (2, 3, 4, 5), (30000, 20), (20, 30000), (300000, 2), (2048, 3), (2079, 31), (40001, 7)]  # fmt: skip


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
        (lambda x: squares(x, out=np.zeros(5), axis=0), TypeError,
            r"squares\(\): out must be an iruka.ndarray, not <class 'numpy.ndarray'>; give iruka.asarray\(it\)"),
        (lambda x: squares(x, np.zeros(5), axis=0), TypeError,
            r"squares\(\): argument 2 \(T y\) has unsupported type .*; the kernel writes to it, so give iruka.asarray"),
        (lambda x: squares(x, out=7), TypeError, "out must be an iruka.ndarray, not <class 'int'>$"),
        (lambda x: squares(x, size=3), TypeError,
            r"squares\(\) got an unexpected keyword argument 'size'; it reduces the elements of its arrays"),
        (lambda x: squares(x, block_size=3), TypeError,
            r"squares\(\) got an unexpected keyword argument 'block_size'; a call takes out, axis, keepdims and stream"),
        (lambda x: squares.source(x, dtype="f"), TypeError, r"squares\(\) got an unexpected keyword argument 'dtype'"),
        (lambda x: squares(x, keepdims=np.zeros(2)), ValueError, "truth value of an array"),
        (lambda x: squares(x, stream="fast"), TypeError, "stream must be None, an integer or have an attribute ptr"),
        (lambda x: squares(x, axis=1.5), TypeError, "axis must be an integer or a sequence of integers, not 1.5"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", "0", block_size=3), TypeError,
            r"ReductionKernel\(\) got an unexpected keyword argument 'block_size'"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a"), TypeError,
            r"ReductionKernel\(\) missing 1 required positional argument: 'identity'"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", "0", options="-O3"), TypeError,
            "ReductionKernel: options must be a tuple of str, not a str"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", "0", options=3), TypeError,
            "ReductionKernel: options must be a tuple of str, not 3"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", "0", options=(3,)), TypeError,
            "ReductionKernel: an option must be a str"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", "0", reduce_type=np.float32), TypeError,
            "ReductionKernel: reduce_type must be a str"),
        (lambda x: iruka.ReductionKernel("T x", "T y", "x", "a", "y = a", 1j), TypeError,
            "give a complex identity as a str of C"),
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
long = iruka.zeros((30, 2000), "float32")
by_axes = iruka.ReductionKernel("T x", "T y", "x * _in_ind.get()[1]", "a + b", "y = a * _out_ind.get()[0]", "0", "by_axes", reduce_dims=False)
for axis in (None, 0, 1, (1, 0), ()):
    by_axes(long, axis=axis, keepdims=True)
    assert "_in_ind.get()[1]" in by_axes.source(long, axis=axis)
large = iruka.zeros(3_000_000, "float32")
assert total.source(large).startswith("// stage 1 of 3") and total.assembly(large).count(".entry") == 3
assert total.report(large).device == "cuda:0"
raises(iruka.errors.CompileError, lambda: iruka.ReductionKernel("T x", "T y", "x +* 2", "a + b", "y = a", "0", "wrong")(x.astype("float32")),
       "kernel 'wrong' does not compile", "map_expr, line 1", "x +* 2")
""")


def test_out_is_no_input():
    kernel = iruka.ReductionKernel("T x, T w", "T y", "x * w", "a + b", "y = a", "0", "weighted")
    x, out = iruka.ones(3), iruka.zeros(())
    with pytest.raises(TypeError, match=r"weighted\(\): takes 2 inputs before out=, not 1"):
        kernel(x, out=out)
    assert kernel(x, x, out=out) is out and float(out) == 3


def test_what_a_kernel_says_of_itself():
    kernel = iruka.ReductionKernel("T x", "T y", "x * x /* mark */", "a + b", "y = sqrt(a)", "0", "shown")
    assert [p.name for p in kernel.params] == ["x", "y"] and kernel.cached_codes == {}
    with pytest.raises(ValueError, match="shown: no code yet; call the kernel first"):
        kernel.cached_code
    x, large = iruka.ones((3, 4), "float32"), iruka.ones(3_000_000)
    out = iruka.zeros(3, "float32")
    text = kernel.source(x, out=out, axis=1)
    assert all(word in text for word in ("x * x /* mark */", "a + b", "y = sqrt(a)")) and "// stage" not in text
    assert kernel.source(x, out, axis=1) == text == kernel.source(x, axis=1, stream=None)
    stages = kernel.source(large)
    assert stages.startswith("// stage 1 of ") and "// stage 2 of " in stages
    assert "double" in stages and "double" not in text
    assert len(kernel.assembly(x, axis=1)) > 100 and "stage 2 of" in kernel.assembly(large)
    assert kernel.cached_codes == {} and out.tolist() == [0, 0, 0], "nothing ran"
    with open(kernel.path(large)) as file:
        assert file.read() == stages

    kernel(x, axis=1), kernel(large)
    single, double = np.dtype("float32"), np.dtype("float64")
    assert kernel.cached_code == text and set(kernel.cached_codes) == {(single, single), (double, double)}
    assert "x * x /* mark */" in kernel.cached_codes[double, double]


def test_texts_of_calls_that_have_nothing_to_do():
    assert "x * x" in squares.source(iruka.zeros((3, 0)), axis=0)
    assert "x * x" in squares.source(iruka.zeros((3, 0)), axis=1)
    for ask in (squares_of_some.source, squares_of_some.assembly, squares_of_some.report, squares_of_some.path):
        with pytest.raises(ValueError, match="squares_of_some which has no identity"):
            ask(iruka.zeros((3, 0)), axis=1)
        with pytest.raises(iruka.errors.AxisError):
            ask(iruka.zeros((3, 2)), axis=2)


def test_report():
    report = squares.report(iruka.ones(100_000, "float32"))
    assert report.kernel == "squares" and report.device == iruka.default_device().name
    assert (report.reason == "") == (report.lanes > 1) and str(report).startswith("kernel 'squares' on ")
    wrong = iruka.ReductionKernel("T x", "T y", "x", "a + c", "y = a", "0", "wrong")
    with pytest.raises(iruka.errors.CompileError, match="reduce_expr, line 1"):
        wrong.report(iruka.ones(3))


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex128"])
def test_lanes_read_neighbours(dtype):
    """Lanes of two rows in one vector would read from unrelated addresses, which takes several times as long."""
    for shape, axis in [
        ((100_000,), None),
        ((3, 100_000), 1),
        ((100_000, 3), 0),
        ((100_000, 31), 0),
        ((1000, 5000), 0),
    ]:
        report = squares.report(iruka.ones(shape, dtype), axis=axis)
        assert report.lanes > 1 and "gather" not in [remark.kind for remark in report.remarks], str(report)


class Foreign:
    """Memory of another library, by one of the protocols."""

    def __init__(self, array, *names):
        self.array = array
        for name in names:
            setattr(type(self), name, getattr(array, name))


def test_arrays_of_other_libraries(rng):
    x = numbers(rng, (6, 7))
    dot = iruka.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
    own = iruka.asarray(x)
    interface = "__array_interface__" if iruka.default_device().name == "cpu" else "__cuda_array_interface__"

    class ByDlpack(Foreign):
        pass

    class ByInterface(Foreign):
        pass

    foreign = [x, x.tolist(), ByDlpack(own, "__dlpack__", "__dlpack_device__"), ByInterface(own, interface)]
    for other in foreign:
        same(squares(other, axis=0), (x * x).sum(axis=0))
        same(dot(own, other, axis=1), (x * x).sum(axis=1))
        same(dot(other, own), (x * x).sum())
        assert "x * y" in dot.source(other, own)
    same(squares(x[::-1, ::2], axis=1), (x * x)[::-1, ::2].sum(axis=1))
    same(dot(x, np.float64(3)), x.sum() * 3)
    text = "only.size() > 0 ? x * only[_i] : 0"
    chosen = iruka.ReductionKernel("T x, raw const T only", "T z", text, "a + b", "z = a", "0", "chosen")
    same(chosen(x, x[2], axis=0), x.sum(axis=0) * x[2])


def test_indices_of_every_axis_without_reduce_dims():
    shape = (2, 3, 4, 5)
    along = np.indices(shape)
    digits = "((at[0] * 7 + at[1]) * 7 + at[2]) * 7 + at[3]"
    preamble = f"template <class I> __device__ long long digits(I at) {{ return {digits}; }}"
    kernel = iruka.ReductionKernel(
        "T x", "int64 y", "x * digits(_in_ind.get())", "a + b", "y = a * 100 + _in_ind.ndim * 10 + _out_ind.ndim",
        "0", "index", reduce_dims=False, preamble=preamble,
    )  # fmt: skip
    assert kernel.reduce_dims is False
    for axes in ((1, 3), (0,), (3, 2, 0), None, ()):
        reduced = [axis for axis in range(4) if axes is None or axis in axes]
        order = reduced + [axis for axis in range(4) if axis not in reduced]  # as in CuPy: reduced axes first
        numbers_of = sum(along[axis] * 7 ** (3 - at) for at, axis in enumerate(order))
        for keepdims in (False, True):
            want = numbers_of.sum(axis=tuple(reduced), keepdims=keepdims)
            for x in (iruka.ones(shape, "int64"), iruka.ones(shape[::-1], "int64").T):
                same(kernel(x, axis=axes, keepdims=keepdims), want * 100 + 40 + max(want.ndim, 1))
    out_index = iruka.ReductionKernel(
        "T x", "int64 y", "x", "a + b", "y = _out_ind.get()[0] * 100 + _out_ind.get()[1] * 10 + _out_ind.shape()[1]",
        "0", "out_index", reduce_dims=False,
    )  # fmt: skip
    i, j = np.indices((3, 4))
    same(out_index(iruka.ones((3, 2, 4), "int64"), axis=1), i * 100 + j * 10 + 4)
    same(out_index(iruka.ones((3, 200), "int64"), axis=1, keepdims=True), np.arange(3)[:, None] * 100 + 1)
    same(squares_without_merging(iruka.asarray(3.0)), np.float64(9))


squares_without_merging = iruka.ReductionKernel(
    "T x", "T y", "x * x", "a + b", "y = a", 0, "unmerged", reduce_dims=False
)


@pytest.mark.parametrize("shape", [(3000,), (40, 700), (7, 1, 9)])
def test_results_without_reduce_dims(rng, shape):
    x = numbers(rng, shape)
    for axis in (None, *range(len(shape))):
        same(squares_without_merging(iruka.asarray(x), axis=axis), (x * x).sum(axis=axis))


def test_one_kernel_for_many_layouts_in_turn(rng):
    """Calls of the same dtypes and layouts share a plan; those of others must not."""
    x = numbers(rng, (6, 6))
    own = iruka.asarray(x)
    dot = iruka.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
    views = [np.s_[:], np.s_[::-1], np.s_[::2, ::3], np.s_[:, 2:3], np.s_[3:5]]
    for _ in range(2):
        for view, axis, keepdims in itertools.product(views, (None, 0, 1, (1, 0), ()), (False, True)):
            mine, theirs = own[view], x[view]
            for y, w in [(2, 2), (own[0, 0], x[0, 0]), (own[0, :1], x[0, :1]), (mine, theirs), (mine.copy(), theirs)]:
                same(dot(mine, y, axis=axis, keepdims=keepdims), (theirs * w).sum(axis=axis, keepdims=keepdims))
    for rows in range(1, 40):
        for dtype in ("float64", "int32"):
            a = numbers(rng, (rows, 5), dtype)
            same(squares(iruka.asarray(a), axis=1), (a * a).sum(axis=1, dtype=dtype))


@pytest.mark.parametrize("columns", [2, 3, 8, 13, 31])
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64"])
def test_few_columns_of_many_lines(rng, columns, dtype):
    x = rng.integers(0, 4, (10_007, columns)).astype(dtype)
    weights, steps = np.arange(columns).astype(dtype), np.arange(10_007).astype(dtype)[:, None]
    dot = iruka.ReductionKernel("T x, T y", "complex128 z", "x * y", "a + b", "z = a", None, "dot")
    order = iruka.ReductionKernel("T x", "int64 z", "_J * 100 + _i", "max(a, b)", "z = a", None, "order")
    own = iruka.asarray(x)
    wide = x.astype("complex128")
    for y in (x, weights, steps):
        same(dot(own, iruka.asarray(y), axis=0), (wide * y).sum(axis=0))
    for mine, theirs in [(own[::-1], wide[::-1]), (own[:, ::-1], wide[:, ::-1]), (own[:, 1:], wide[:, 1:])]:
        same(dot(mine, mine, axis=0), (theirs * theirs).sum(axis=0))
    same(order(own, axis=0), 10_006 * 100 + np.arange(columns))


def test_arrays_of_many_axes(rng):
    x = numbers(rng, (2, 1) * 16)
    y = numbers(rng, (1, 2) * 4 + (2,) + (1,) * 23)
    dot = iruka.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
    for axis in (None, 0, (0, 2, 31), tuple(range(3, 32))):
        same(squares(iruka.asarray(x), axis=axis), (x * x).sum(axis=axis))
        for _ in range(2):
            same(dot(iruka.asarray(x), iruka.asarray(y), axis=axis), (x * y).sum(axis=axis))


def test_more_elements_than_32_bits_count():
    length = 2**32 + 7
    count = iruka.ReductionKernel("bool x", "int64 y", "x", "a + b", "y = a", 0, "count", "int64")
    last = iruka.ReductionKernel("bool x", "int64 y", "_J * x", "max(a, b)", "y = a", 0, "last", "int64")
    many = iruka.broadcast_to(iruka.ones((), bool), (length,))
    assert count(many).item() == length
    assert last(many).item() == length - 1
    assert count(iruka.broadcast_to(iruka.asarray([True, False, True]), (length // 2, 3)), axis=0).tolist() == [
        length // 2, 0, length // 2,
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(5,), (100_000,), (300, 40), (40, 300)])
def test_nan_and_infinities(rng, shape):
    x = rng.random(shape)
    flat = x.reshape(-1)
    flat[3], flat[4] = np.nan, np.inf
    largest = iruka.ReductionKernel("T x", "T y", "x", "a > b || a != a ? a : b", "y = a", "-INFINITY", "largest")
    fmax = iruka.ReductionKernel("T x", "T y", "x", "fmax(a, b)", "y = a", float("-inf"), "fmax")
    nans = iruka.ReductionKernel("T x", "int32 y", "isnan(x)", "a + b", "y = a", 0, "nans")
    for axis in (None, *range(len(shape))):
        own = iruka.asarray(x)
        same(largest(own, axis=axis), x.max(axis=axis))
        same(fmax(own, axis=axis), np.fmax.reduce(x, axis=axis))
        same(nans(own, axis=axis), np.isnan(x).sum(axis=axis, dtype="int32"))
        np.testing.assert_array_equal(
            np.isnan(iruka.asnumpy(squares(own, axis=axis))), np.isnan((x * x).sum(axis=axis))
        )


def test_calls_from_many_threads(rng):
    kernel = iruka.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "threaded")
    arrays = [numbers(rng, (rows, 7)) for rows in range(1, 40)]

    def call(turn):
        x = arrays[turn % len(arrays)]
        axis = (None, 0, 1)[turn % 3]
        return (iruka.asnumpy(kernel(iruka.asarray(x), axis=axis)) == (x * x).sum(axis=axis)).all()

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert all(pool.map(call, range(600)))


def test_identities_of_every_kind():
    for identity, dtype, want in [(2**63, "uint64", 2**63), (-(2**63), "int64", -(2**63)), (True, "bool", True),
            (np.float32(2.5), "float32", 2.5), (float("-inf"), "float64", -np.inf), ("T(1) / 4", "float64", 0.25),
            (float("nan"), "float32", np.nan), ("complex<double>(0, 1)", "complex128", 1j)]:  # fmt: skip
        kernel = iruka.ReductionKernel("T x", "T y", "x", "b", "y = a", identity, "empty")
        same(kernel(iruka.zeros((0, 2), dtype), axis=0), np.full(2, want, dtype))


def test_a_given_stream(rng):
    x = numbers(rng, (50, 60))
    own = iruka.asarray(x)
    stream = iruka.cuda.Stream.null if iruka.default_device().name == "cpu" else iruka.cuda.Stream()
    out = iruka.zeros(60)
    same(squares(own, axis=1, stream=stream), (x * x).sum(axis=1))
    assert squares(own, out=out, axis=0, stream=stream) is out
    stream.synchronize()
    same(out, (x * x).sum(axis=0))
    assert squares.source(own, axis=0, stream=stream) == squares.source(own, axis=0)
