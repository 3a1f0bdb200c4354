"""The kernel language: parameters, indices, raw arrays, scalars, several outputs, options, attributes."""

import os
import re
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, assert_same, beyond_numbers, kind, values
from iruka import errors

Kernel = iruka.ElementwiseKernel


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_every_dtype_by_name_and_by_placeholder(dtype, rng):
    x = values(dtype, (4, 9), rng)
    named = Kernel(f"{dtype.name} x", f"{dtype.name} y", "y = x;", "named")
    assert_same(named(iruka.array(x)), x)
    placed = Kernel("T x", "T y", "y = x;", "placed")
    assert_same(placed(iruka.array(x)), x)
    if kind(dtype) != "b":
        doubled = Kernel("T x", "T y", "y = x + x;", "doubled")
        assert_same(doubled(iruka.array(x)), (x + x).astype(dtype))


def test_placeholders():
    k = Kernel("T x, U y", "T z, U w", "z = x * 2; w = y * 3;", "two_types")
    z, w = k(iruka.arange(3, dtype="int16"), iruka.arange(3, dtype="float32"))
    assert_same(z, np.arange(3, dtype="int16") * np.int16(2))
    assert_same(w, np.arange(3, dtype="float32") * np.float32(3))
    sizes = Kernel("T x, U y", "int32 z", "z = (int)sizeof(T) * 100 + (int)sizeof(U);", "sizes")
    assert sizes(iruka.zeros(1, "int8"), iruka.zeros(1, "float64")).tolist() == [108]
    typed = Kernel("T x", "int32 z", "T copy = x; z = sizeof(copy);", "names_the_type")
    assert typed(iruka.zeros(1, "complex128")).tolist() == [16]


def test_outputs_settle_placeholders_first():
    k = Kernel("T x", "T y", "y = x;", "settled")
    out = iruka.empty(3, "float32")
    assert k(2, out) is out and out.tolist() == [2, 2, 2]
    with pytest.raises(TypeError):
        k(iruka.zeros(3, "int32"), out)


def test_scalars_are_cast_to_the_settled_type():
    k = Kernel("float32 x, int16 a, T b, bool c", "T y", "y = x + a + b + c;", "scalars")
    result = k(iruka.ones(2, "float32"), 2.0, np.float64(0.5), True)
    assert_same(result, np.array([4.5, 4.5]))
    power = Kernel("T x, T p", "T y", "y = x * p;", "weak")
    assert power(iruka.ones(2, "float32"), 3).dtype == np.float32
    assert power(iruka.ones(2, "int8"), 3).dtype == np.int8
    complex_ = Kernel("complex64 x, complex64 a", "complex64 y", "y = x * a;", "complex_scalar")
    assert complex_(iruka.ones(1, "complex64"), 2 - 3j).tolist() == [2 - 3j]
    half = Kernel("float16 x, float16 a, bfloat16 b", "float32 y", "y = float(x) + float(a) + float(b);", "halves")
    assert half(iruka.ones(1, "float16"), 0.5, np.float32(0.25)).tolist() == [1.75]


def test_scalars_alone_need_a_size_or_an_output():
    k = Kernel("float32 x, float32 y", "float32 z", "z = x * y;", "scalars_only")
    with pytest.raises(ValueError, match="size"):
        k(3, 4)
    assert k(3, 4, size=2).tolist() == [12, 12]
    assert k(3, 4, iruka.empty((), "float32")).item() == 12


def test_names_of_numpys_types():
    k = Kernel("int a, float b, bool c", "int y, float z", "y = a; z = b;", "numpy_names")
    y, z = k(iruka.ones(1, "int64"), iruka.ones(1), True)
    assert y.dtype == np.int64 and z.dtype == np.float64


def test_broadcasting(rng):
    x, y = values("float32", (4, 1, 3), rng), values("float32", (5, 1), rng)
    add = Kernel("float32 x, float32 y", "float32 z", "z = x + y;", "add")
    assert_same(add(iruka.array(x), iruka.array(y)), x + y)
    assert_same(add(iruka.array(x).T, iruka.array(y)), x.T + y)
    assert add(iruka.zeros((0, 3), "float32"), iruka.zeros(3, "float32")).shape == (0, 3)


@pytest.mark.parametrize("reduce_dims", [True, False])
def test_layouts(reduce_dims, rng):
    x = values("float32", (5, 6, 7), rng)
    k = Kernel("float32 x, float32 y", "float32 z", "z = x * 2 + y;", "layouts", reduce_dims=reduce_dims)
    for index in (np.s_[...], np.s_[::2], np.s_[:, ::-1], np.s_[..., 3], np.s_[1:2, 2:, ::3]):
        a = iruka.array(x)[index]
        assert_same(k(a, a), x[index] * 3)
        assert_same(k(a.T, a.T), x[index].T * 3)
    out = iruka.zeros((5, 12, 7), "float32")
    k(iruka.array(x), 0, out[:, ::2])
    assert_same(out[:, ::2], x * 2)
    assert_same(out[:, 1::2], np.zeros((5, 6, 7), "float32"))


def test_high_ranks():
    shape = (2, 1) * 5 + (2,) * 4
    x = np.arange(int(np.prod(shape)), dtype="float32").reshape(shape)
    k = Kernel("float32 x", "float32 z", "z = x + 1;", "high_rank")
    assert_same(k(iruka.array(x)), x + 1)
    y = np.ascontiguousarray(x.T)
    assert_same(k(iruka.array(y).T), y.T + 1)


def test_indices():
    k = Kernel("raw int16 x", "int64 z, int64 count, int64 also", "z = i; count = _ind.size(); also = n;", "indices")
    z, count, also = k(iruka.zeros((3, 4), "int16"), size=12)
    assert_same(z, np.arange(12))
    assert set(count.tolist()) == set(also.tolist()) == {12}
    multi = Kernel("T x", "int64 y", "auto at = _ind.get(); y = at[0] * 100 + at[1] * 10 + at[2];", "multi_index")
    expected = np.arange(2)[:, None, None] * 100 + np.arange(3)[:, None] * 10 + np.arange(4)
    assert_same(multi(iruka.zeros((2, 3, 4))), expected)
    assert_same(multi(iruka.zeros((4, 3, 2)).T), expected)


def test_raw_arrays(rng):
    x = values("int32", (4, 5), rng)
    flat = Kernel("raw T x", "T y", "y = x[n - 1 - i];", "reversed")
    for a, same in (
        (iruka.array(x), x),
        (iruka.array(x).T, x.T),
        (iruka.array(x)[:, ::2], x[:, ::2]),
        (iruka.array(x)[::-1], x[::-1]),
    ):
        assert_same(flat(a, size=same.size), same.ravel()[::-1])
    picked = Kernel("raw T x, int32 row, int32 column", "T y", "int at[] = {row, column}; y = x[at];", "by_array")
    columns = np.array([0, 4, 2], "int32")
    assert_same(picked(iruka.array(x), 2, iruka.array(columns)), x[2, columns])
    assert_same(picked(iruka.array(x).T, iruka.array(columns), 3), x.T[columns, 3])
    listed = Kernel("raw T x", "T y", "y = x[{1, 2}];", "by_list")
    assert listed(iruka.array(x), size=1).tolist() == [x[1, 2]]


def test_raw_array_members():
    k = Kernel(
        "raw float32 x",
        "raw int64 out",
        "out[0] = x.size(); out[1] = x.shape()[0]; out[2] = x.shape()[1]; out[3] = x.strides()[0]; out[4] = x.strides()[1]; out[5] = x.ndim;",
        "members",
    )
    out = iruka.zeros(6, int)
    k(iruka.zeros((3, 8), "float32")[:, ::2], out, size=1)
    assert out.tolist() == [12, 3, 4, 32, 8, 2]


def test_raw_arrays_bind_to_references():
    for qualifier in ("", "const "):
        k = Kernel(
            "raw float32 x",
            "float32 y",
            "y = second(x, i);",
            "by_reference",
            preamble=f"__device__ float second({qualifier}CArray<float, 1>& a, int i) {{ return a[i] * 2; }}",
        )
        assert k(iruka.arange(3, dtype="float32"), size=3).tolist() == [0, 2, 4]


def test_raw_outputs(rng):
    x = values("float32", 6, rng)
    k = Kernel("raw float32 x", "raw float32 z", "z[i * 2] = x[i]; z[i * 2 + 1] = -x[i];", "raw_output")
    z = iruka.zeros((6, 2), "float32")
    assert k(iruka.array(x), z, size=6) is z
    assert_same(z, np.stack([x, -x], 1))
    z = iruka.zeros((2, 6), "float32").T
    k(iruka.array(x), z, size=6)
    assert_same(z, np.stack([x, -x], 1))


@pytest.mark.parametrize("options", [(), ("--lanes=1",), ("--lanes=8",)])
def test_raw_inputs_that_an_output_overlaps_are_read_again(options):
    k = Kernel(
        "raw float32 a",
        "raw float32 b",
        "for (int t = 0; t < 3; t++) { b[2 * i] = a[2 * i] + 1; b[2 * i + 1] = a[2 * i] * 2 + a[2 * i + 1]; }",
        "overlapping",
        options=options,
    )
    for n in (1, 7, 100):
        start = np.arange(2 * n, dtype="float32")
        for shared in (True, False, True):
            a = iruka.array(start)
            b = a if shared else iruka.empty_like(a)
            k(a, b, size=n)
            even, odd = start[::2].copy(), start[1::2].copy()
            if shared:
                for _ in range(3):
                    even += 1
                    odd += 2 * even
            else:
                even, odd = even + 1, even * 2 + odd
            np.testing.assert_array_equal(iruka.asnumpy(b), np.stack([even, odd], -1).ravel())


@pytest.mark.cpu_only  # a GPU has a copy of its own
def test_raw_inputs_that_cannot_be_written(tmp_path):
    """Of memory that the system protects: reading works in every spelling, writing is refused before it is tried."""
    np.arange(6.0).tofile(tmp_path / "numbers")
    protected = np.memmap(tmp_path / "numbers", "float64", "r")
    helper = "__device__ double second(CArray<double, 1>& a, int i) { return a[i] * 2; }"
    reads = Kernel("raw float64 x", "float64 y", "y = second(x, i) + x[{i}];", "reads", preamble=helper)
    assert_same(reads(protected, size=6), np.arange(6.0) * 3)
    with pytest.raises(iruka.errors.CompileError, match="read-only arrays may not be written"):
        Kernel("raw float64 x", "", "x[i] = 1;", "writes", no_return=True)(protected, size=6)
    writes = Kernel("raw _non_const float64 x", "", "x[i] = 1;", "writes", no_return=True)
    with pytest.raises(ValueError, match="parameter 'x': the array is read-only"):
        writes(iruka.asarray(protected), size=6)
    free = iruka.zeros(6)
    writes(free, size=6)
    assert free.tolist() == [1.0] * 6


def test_non_const_inputs():
    k = Kernel("_non_const T x, T y", "", "x += y;", "accumulate", no_return=True)
    x = iruka.arange(4)
    assert k(x, 10) is None
    assert x.tolist() == [10, 11, 12, 13]


def test_given_outputs_and_returns():
    two = Kernel("T x", "T y, T z", "y = x + 1; z = x + 2;", "two_outputs")
    y, z = iruka.empty(3, int), iruka.empty(3, int)
    result = two(iruka.arange(3), y, z)
    assert isinstance(result, tuple) and result[0] is y and result[1] is z
    assert y.tolist() == [1, 2, 3] and z.tolist() == [2, 3, 4]
    one = Kernel("T x", "T y", "y = x;", "one", return_tuple=True)
    assert isinstance(one(iruka.arange(3)), tuple)
    silent = Kernel("T x", "T y", "y = x;", "silent", no_return=True)
    assert silent(iruka.arange(3)) is None
    assert silent(iruka.arange(3), y) is None and y.tolist() == [0, 1, 2]


def test_in_place_and_overlapping():
    k = Kernel("float32 x", "float32 y", "y = x * 2;", "in_place")
    x = iruka.arange(5, dtype="float32")
    k(x, x)
    assert x.tolist() == [0, 2, 4, 6, 8]


def test_preamble_loop_prep_after_loop_and_options():
    k = Kernel(
        "float32 x",
        "float32 y",
        "y = helper(x) * SCALE;",
        "with_preamble",
        preamble="struct Pair { float a, b; };\n__device__ __forceinline__ float helper(float v) { Pair p = {v, 1}; return p.a + p.b; }",
        options=("-DSCALE=3",),
    )
    assert k(iruka.arange(3, dtype="float32")).tolist() == [3, 6, 9]
    prepared = Kernel(
        "float32 x",
        "float32 y",
        "y = x + offset;",
        "prepared",
        loop_prep="float offset = 5;",
        after_loop="(void)offset;",
    )
    assert prepared(iruka.arange(3, dtype="float32")).tolist() == [5, 6, 7]
    fast = Kernel("float32 x", "float32 y", "y = __expf(x);", "fast", options=("--use_fast_math",))
    np.testing.assert_allclose(iruka.asnumpy(fast(iruka.arange(3, dtype="float32"))), np.exp(np.arange(3)), rtol=1e-5)


@pytest.mark.parametrize(
    "expression, reference",
    [
        ("powf(x, 2)", lambda x: x**2),
        ("rsqrt(x)", lambda x: 1 / np.sqrt(x)),
        ("__expf(x)", np.exp),
        ("min(x, 2.0f)", lambda x: np.minimum(x, 2)),
        ("max(x, 2.0f)", lambda x: np.maximum(x, 2)),
        ("isnan(x) ? 1 : 0", lambda x: x * 0),
        ("sqrtf(x)", np.sqrt),
        ("logf(x)", np.log),
        ("sinf(x) + cosf(x)", lambda x: np.sin(x) + np.cos(x)),
        ("fmaf(x, x, 1)", lambda x: x * x + 1),
        ("floorf(x)", np.floor),
        ("fabsf(-x)", np.abs),
        ("atan2f(x, 2)", lambda x: np.arctan2(x, 2)),
        ("tanhf(x)", np.tanh),
        ("fmodf(x, 1)", lambda x: np.fmod(x, 1)),
        ("expf(x)", np.exp),
        ("cbrtf(x)", np.cbrt),
        ("hypotf(x, 3)", lambda x: np.hypot(x, 3)),
        ("copysignf(x, -1)", lambda x: -x),
    ],
)
def test_math_functions(expression, reference):
    x = np.linspace(0.1, 5, 37, dtype="float32")
    k = Kernel("float32 x", "float32 y", f"y = {expression};", "math")
    np.testing.assert_allclose(iruka.asnumpy(k(iruka.array(x))), reference(x.astype("float64")), rtol=2e-6, atol=1e-6)


def test_half_precision_and_complex(rng):
    x = values("float16", 9, rng)
    k = Kernel(
        "float16 x, bfloat16 y", "float16 a, bfloat16 b", "a = x * x + float16(1); b = y - bfloat16(2);", "halves"
    )
    y = x.astype(BFLOAT16)
    a, b = k(iruka.array(x), iruka.array(y))
    assert_same(a, (x.astype("float32") ** 2 + 1).astype("float16"), ulps=1)
    assert_same(b, (y.astype("float32") - 2).astype(BFLOAT16), ulps=1)
    z = values("complex64", 9, rng)
    c = Kernel(
        "complex64 z",
        "complex64 w, float32 m",
        "w = z * conj(z) + complex<float>(1, 2); m = abs(z) + z.real() - z.imag();",
        "complexes",
    )
    w, m = c(iruka.array(z))
    assert_same(w, (z * z.conj() + (1 + 2j)).astype("complex64"), ulps=4)
    assert_same(m, (abs(z) + z.real - z.imag).astype("float32"), ulps=8)


def test_atomics(rng):
    x = rng.integers(0, 10, 100_000).astype("int32")
    histogram = Kernel("int32 x", "raw int32 counts", "atomicAdd(&counts[x], 1);", "histogram")
    counts = iruka.zeros(10, "int32")
    histogram(iruka.array(x), counts)
    assert_same(counts, np.bincount(x, minlength=10).astype("int32"))
    extremes = Kernel("int32 x", "raw int32 out", "atomicMin(&out[0], x); atomicMax(&out[1], x);", "extremes")
    out = iruka.array([99, -99], dtype="int32")
    extremes(iruka.array(x), out)
    assert out.tolist() == [x.min(), x.max()]


def test_fixed_semantics():
    x = iruka.array([7, -7, 0], dtype="int32")
    assert Kernel("int32 x, int32 d", "int32 y", "y = x / d;", "quotient")(x, 0).tolist() == [0, 0, 0]
    assert Kernel("int32 x, int32 d", "int32 y", "y = x % d;", "rest")(x, 0).tolist() == [0, 0, 0]
    low = iruka.array([-(2**31)], dtype="int32")
    assert Kernel("int32 x, int32 d", "int32 y", "y = x / d;", "overflowing")(low, -1).tolist() in ([-(2**31)], [0])
    floats = iruka.array([1e20, -1e20, np.nan, 2.9, -2.9, np.inf], dtype="float32")
    cast = Kernel("float32 x", "int32 y", "y = (int)x;", "saturating")
    assert cast(floats).tolist() == [2**31 - 1, -(2**31), 0, 2, -2, 2**31 - 1]
    shift = Kernel("int32 x, int32 s", "int32 y", "y = x << s;", "shifted")
    assert shift(x, 40).tolist() == [0, 0, 0]


# Ways to cast x, a T, to the Z that z is: body and preamble.
CASTS = {
    "implied": ("z = x", ""),
    "implied by an expression": ("z = x * 0.5f + x * 0.5f", ""),
    "c": ("z = (Z)x", ""),
    "functional": ("z = Z(x)", ""),
    "static_cast": ("z = static_cast<Z>(x)", ""),
    "variable": ("Z y = x; z = y", ""),
    "braces": ("Z y[] = {1, x}; z = y[1]", ""),
    "compound": ("z = 0; z += x", ""),
    "compound on an element": ("Z y[] = {1, 0}; int k = 1; y[k--] -= -x; z = y[1] + k", ""),
    "argument": ("z = same(x)", "__device__ Z same(Z x) { return x; }"),
    "result": ("z = same(x)", "__device__ Z same(T x) { return x; }"),
    "template's cast": ("z = to<Z>(x)", "template <class U> __device__ U to(T x) { return (U)x; }"),
    "template's result": ("z = to<Z>(x) + 0 * to<int>(x)", "template <class U> __device__ U to(T x) { return x; }"),
    "template's compound": (
        "z = 0; float f = 0; add(z, x); add(f, x)",
        "template <class U> __device__ void add(U& u, T x) { u += x; }",
    ),
    "lambda": ("auto to = [](auto x) -> Z { return x; }; z = to(x)", ""),
    "macro": ("z = TO(Z, x)", "#define TO(A, y) ((A)(y))\n"),
    "macro that assigns": ("SET(z, x)", "#define SET(a, b) a = b\n"),
}


@beyond_numbers
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
@pytest.mark.parametrize("target", ["int8", "uint8", "int16", "uint16"])
def test_casts_to_narrow_integers_saturate(source, target):
    edges = [0.0, 0.5, 1, 127, 128, 255, 256, 300, 32767, 32768, 65504, 65536, 70000, 2**31, 2**32, 1e10, 1e30, np.inf]
    with np.errstate(over="ignore"):
        x = np.array(
            [sign * (edge + step) for edge in edges for step in (-1, 0, 0.25) for sign in (1, -1)] + [np.nan]
        ).astype(source)
    limits = np.iinfo(target)
    expected = np.where(np.isnan(x), 0, np.clip(np.trunc(x.astype("float64")), limits.min, limits.max)).astype(target)
    for name, (body, preamble) in CASTS.items():
        z = iruka.zeros(x.shape, target)
        Kernel("T x", "Z z", body, "cast", preamble=preamble)(iruka.array(x), z)
        got = iruka.asnumpy(z)
        np.testing.assert_array_equal(got, expected, err_msg=name)
    np.testing.assert_array_equal(iruka.asnumpy(iruka.array(x).astype(target)), expected)


def test_constants_beyond_a_type_saturate():
    body = "a = 300.7f; b = -1e10; c = 1e30f; int low = -3e9; d = low; a += (unsigned char)-5.5f"
    a, b, c, d = Kernel("int32 x", "uint8 a, int8 b, uint16 c, int32 d", body, "constants")(iruka.zeros(3, "int32"))
    assert [a.tolist(), b.tolist(), c.tolist(), d.tolist()] == [[255] * 3, [-128] * 3, [65535] * 3, [-(2**31)] * 3]


def test_control_flow(rng):
    k = Kernel(
        "int32 x",
        "int32 steps",
        """
        long long value = x;
        steps = 0;
        while (value > 1) {
          value = value % 2 ? 3 * value + 1 : value / 2;
          if (++steps > 500) break;
        }""",
        "collatz",
    )

    def collatz(value):
        steps = 0
        while value > 1:
            value = 3 * value + 1 if value % 2 else value // 2
            steps += 1
        return steps

    x = rng.integers(1, 1000, 300).astype("int32")
    assert_same(k(iruka.array(x)), np.array([collatz(int(v)) for v in x], "int32"))


def test_return_in_a_body():
    k = Kernel("float32 x", "float32 y", "y = 1; if (x > 2) return; y = 0;", "early_return")
    assert k(iruka.arange(5, dtype="float32")).tolist() == [0, 0, 0, 1, 1]


def test_integer_arguments_equal_call_after_call_keep_answers(rng):
    x = values("float32", 5000, rng)
    k = Kernel(
        "raw float32 x, int32 taps",
        "float32 y",
        "float sum = 0; for (int t = 0; t < taps; t++) sum += x[(i + t) % _ind.size()]; y = sum;",
        "moving_sum",
    )
    a = iruka.array(x)
    expected = {taps: sum(np.roll(x.astype("float64"), -t) for t in range(taps)) for taps in (3, 4)}
    for round_ in range(300):
        taps = 3 if round_ % 50 else 4
        result = k(a, taps, size=5000)
        if round_ % 30 == 0:
            iruka.finish_background_compilation()
        if round_ % 10 == 0 or taps == 4:
            np.testing.assert_allclose(iruka.asnumpy(result), expected[taps], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float64"])
@pytest.mark.parametrize("options", [(), ("--lanes=1",), ("--lanes=8",)])
def test_an_element_of_three_channels_that_is_written_several_times(dtype, options, rng):
    k = Kernel(
        "T x",
        "raw T pixels",
        """
        pixels[i * 3] = pixels[i * 3] + pixels[i * 3 + 2];
        if (i == 1) pixels[i * 3] += 5;
        if (i && pixels[i * 3 + 2] < pixels[i * 3]) pixels[i * 3] = 1;
        pixels[i * 3 + 1] = x;
        pixels[i * 3 + 2] = 1;
        """,
        "three_channels",
        options=options,
    )
    for _ in range(2):  # the second call of equal layouts runs a variant
        for n in (1, 2, 19, 256, 1001):
            x, before = rng.integers(-30, 30, n).astype(dtype), rng.integers(-30, 30, (n, 3)).astype(dtype)
            expected = before.copy()
            expected[:, 0] += before[:, 2]
            expected[1:2, 0] += 5
            larger = before[:, 2] < expected[:, 0]
            expected[1:, 0][larger[1:]] = 1
            expected[:, 1], expected[:, 2] = x, 1
            pixels = iruka.array(before)
            k(iruka.array(x), pixels)
            np.testing.assert_array_equal(iruka.asnumpy(pixels), expected)


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_layouts_equal_call_after_call_keep_answers(order, rng):
    k = Kernel(
        "raw T x, raw int32 steps",
        "T y",
        """
        const ptrdiff_t *at = _ind.get();
        T sum = 0;
        for (ptrdiff_t k = 0; k < steps.size(); ++k)
            for (ptrdiff_t c = 0; c < x.shape()[2]; ++c)
                sum += x[{min(at[0] + steps[k], x.shape()[0] - 1), at[1] % x.shape()[1], c}];
        y = sum;
        """,
        "sums_by_shape",
    )

    def laid_out(a):
        if order == "strided":
            wide = np.zeros((a.shape[0], 2 * a.shape[1], a.shape[2]), a.dtype)
            wide[:, ::2] = a
            return iruka.array(wide)[:, ::2]
        return iruka.array(np.asarray(a, order=order), order=order)

    cases = []
    for shape, steps in [
        ((300, 400, 3), [0, 1]),
        ((400, 300, 3), [0, 1]),
        ((300, 400, 3), [0, 5]),
        ((120, 999, 1), [2]),
    ]:
        x = rng.integers(0, 100, shape).astype("float32")
        rows = [np.minimum(np.arange(shape[0]) + step, shape[0] - 1) for step in steps]
        cases.append((laid_out(x), iruka.array(np.array(steps, "int32")), sum(x[r].sum(2) for r in rows)))
    for round_ in range(240):
        x, steps, expected = cases[0 if round_ % 40 else round_ // 40 % 4]
        y = iruka.empty(expected.shape, "float32")
        k(x, steps, y)
        if round_ % 30 == 0:
            iruka.finish_background_compilation()
        if round_ % 10 == 0 or round_ % 40 == 0:
            np.testing.assert_array_equal(iruka.asnumpy(y), expected)
    if iruka.default_device().name == "cpu":  # launches of a GPU are too short for a variant
        assert any(event.kind == "specialised" for event in iruka.kernel_history() if event.kernel == "sums_by_shape")
    empty = iruka.empty((5, 4), "float32")
    k(iruka.zeros((5, 4, 0), "float32"), iruka.zeros(0, "int32"), empty)
    assert not iruka.asnumpy(empty).any()


def test_attributes():
    k = Kernel(
        "raw float32 x, T y",
        "T z, int64 w",
        "z = y; w = i;",
        "described",
        preamble="// nothing",
        options=("-O3",),
        doc="Documentation.",
    )
    assert (k.nin, k.nout, k.nargs) == (2, 2, 4)
    assert k.name == "described" and k.operation == "z = y; w = i;" and k.preamble == "// nothing"
    assert k.__doc__ == "Documentation." and k.kwargs == {"options": ("-O3",)}
    assert [p.name for p in k.in_params] == ["x", "y"] and [p.name for p in k.out_params] == ["z", "w"]
    assert isinstance(k.params, tuple) and [p.name for p in k.params] == ["x", "y", "z", "w"]
    x, y, z, w = k.params
    assert x.raw and x.is_const and x.dtype == np.float32 and x.ctype == "float"
    assert not y.raw and y.dtype is None and y.ctype == "T" and y.is_const
    assert not z.is_const and w.dtype == np.int64
    assert "raw float32 x" in repr(x)
    assert k.reduce_dims and not k.no_return and not k.return_tuple
    for part in ("ElementwiseKernel", "described", "raw float32 x", "T z"):
        assert part in repr(k)


def test_generated_text(tmp_path):
    k = Kernel("float32 x, T y", "T z", "z = x + y; /* a mark */", "shown")
    with pytest.raises(ValueError):
        k.cached_code
    a = iruka.ones(4, "float32")
    text = k.source(a, a)
    assert "a mark" in text
    k(a, a)
    assert "a mark" in k.cached_code and isinstance(k.cached_codes, dict) and len(k.cached_codes) == 1
    k(a, iruka.ones(4))
    single, double = np.dtype("float32"), np.dtype("float64")
    assert set(k.cached_codes) == {(single, single, single), (single, double, double)}
    assembly = k.assembly(a, a)
    assert re.search(r"iruka_entry|ret", assembly)
    path = k.path(a, a)
    with open(path) as file:
        assert file.read() == text
    assert os.path.basename(path).startswith("shown-") and k.path(a, a) == path


def test_call_keywords():
    k = Kernel("raw float32 x", "float32 y", "y = x[i];", "keywords")
    a = iruka.arange(4, dtype="float32")
    for keywords in ({}, {"block_size": 64}, {"stream": None}, {"stream": 0}):
        assert k(a, size=4, **keywords).tolist() == [0, 1, 2, 3]
    assert k(a, size=np.int32(2)).tolist() == [0, 1]
    assert k(a, size=0).shape == (0,)


def test_kernels_are_called_from_threads(rng):
    from concurrent.futures import ThreadPoolExecutor

    x = values("float32", 30000, rng)
    a = iruka.array(x)

    def work(number):
        k = Kernel("float32 x, float32 c", "float32 y", "y = x + c;", f"threaded_{number % 3}")
        return [iruka.asnumpy(k(a, float(c))) for c in range(5)]

    with ThreadPoolExecutor(8) as pool:
        for results in pool.map(work, range(16)):
            for c, result in enumerate(results):
                np.testing.assert_array_equal(result, x + np.float32(c))


def test_the_first_call_of_a_kernel_is_made_by_threads():
    from concurrent.futures import ThreadPoolExecutor

    kernel = Kernel("T x", "T y", "y = x + x;", "first_from_threads")
    dtypes = ["float32", "float64", "int32", "int64"] * 4
    start = threading.Barrier(len(dtypes))

    def work(dtype):
        start.wait(60)
        return kernel(iruka.arange(1000, dtype=dtype))

    with ThreadPoolExecutor(len(dtypes)) as pool:
        for dtype, made in zip(dtypes, pool.map(work, dtypes), strict=True):
            assert_same(made, np.arange(0, 2000, 2, dtype))


def last_level_cache():
    sizes = [path.read_text().strip() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max((int(size[:-1]) * 1024 for size in sizes if size.endswith("K")), default=8 << 20)


@pytest.mark.cpu_only
@pytest.mark.parametrize("begin", [0, 1, 3, 8])
def test_outputs_larger_than_the_cache_that_are_flipped(begin):
    """The loop begins at the flipped array's other end, which need not be aligned to a cache line."""
    width = 4099
    height = last_level_cache() // 8 // width + 2
    if height * width > 1 << 28:
        pytest.skip("the cache is too large")
    x = np.arange(height * width).astype("int8").reshape(height, width)
    out = iruka.empty(height * width + 16, "int64")[begin : begin + height * width].reshape(height, width)[::-1, ::-1]
    k = Kernel("int8 x", "int64 y", "y = x * 3;", "flipped_past_the_cache")
    k(iruka.asarray(x)[::-1, ::-1], out)
    assert (iruka.asnumpy(out[::-1, ::-1]) == x.astype("int64") * 3).all()


def test_arguments_of_other_libraries(rng):
    """As functions take them: NumPy arrays where they are on the CPU, and anything that iruka.asarray takes."""
    k = Kernel("T x, raw T y", "T z", "z = x + y[i];", "of_other_libraries")
    x, y = values("float32", 12, rng), values("float32", 12, rng)
    a, b = iruka.asarray(x), iruka.asarray(y)
    for left in (x, a, memoryview(x)):
        for right in (y, b):
            assert iruka.asnumpy(k(left, right)).tolist() == (x + y).tolist()
    assert k([1, 2, 3], [4, 5, 6]).tolist() == [5, 7, 9]
    out = iruka.empty(12, "float32")
    assert k(x, y, out) is out and out.tolist() == (x + y).tolist()
    with pytest.raises(TypeError, match=r"argument 3 \(T z\).*numpy.ndarray.*writes to it, so give iruka.asarray"):
        k(a, b, np.empty(12, "float32"))
    with pytest.raises(TypeError, match="unsupported type <class 'str'>"):
        k(a, "12")


def test_failed_assertions_are_errors():
    """On the CPU the call raises, on a GPU the first wait after it."""
    preamble = '__device__ float checked(float x) {\n  assert(x != 7 && "a comma, and more");\n  return x;\n}'
    k = Kernel(
        "float32 x, int32 most", "float32 y", "y = checked(x);\nassert(x < most);", "asserting", preamble=preamble
    )
    for count in (4, 100_000):
        x = iruka.arange(count, dtype="float32") % 5
        assert k(x, 5).tolist() == x.tolist()
        with pytest.raises(errors.DeviceError) as failed:
            k(x, 3).get()
        assert (
            str(failed.value) == "kernel 'asserting': the assertion `x < most` (operation, line 2) failed at element 3"
        )
        assert k(x, 5).tolist() == x.tolist()  # reported once
    with pytest.raises(errors.DeviceError, match=r"`x != 7 && .*` \(preamble, line 2\) failed"):
        k(iruka.full(4, 7, dtype="float32"), 10).get()
    off = Kernel(
        "float32 x", "float32 y", "assert(x > 9); y = x;", "off", preamble="#undef assert\n#define assert(...)"
    )
    assert off(iruka.ones(2, "float32")).tolist() == [1, 1]
    total = iruka.ReductionKernel(
        "float32 x", "float32 y", "checked(x)", "a + b", "y = a", "0", "total", preamble=preamble
    )
    assert float(total(iruka.arange(7, dtype="float32"))) == 21
    with pytest.raises(
        errors.DeviceError, match=r"kernel 'total': the assertion `x != 7 && .*` \(preamble, line 2\) failed"
    ):
        total(iruka.arange(20_000, dtype="float32")).get()


def test_each_kernel_has_assertions_of_its_own():
    positive = Kernel("float32 x", "float32 y", "assert(x > 0); y = x;", "positive")
    small = Kernel("float32 x", "float32 y", "assert(x < 100); y = x;", "small")
    x = iruka.arange(300, dtype="float32")
    with pytest.raises(errors.DeviceError, match="kernel 'small': the assertion `x < 100` .* at element 100"):
        small(x).get()
    with pytest.raises(errors.DeviceError, match="kernel 'positive': the assertion `x > 0` .* at element 0"):
        positive(x).get()
    assert small(x[:100]).tolist() == x[:100].tolist()


def test_a_failed_assertion_outlives_its_kernel():
    def call():
        return Kernel("float32 x", "float32 y", "assert(x > 1); y = x;", "passing")(iruka.arange(9, dtype="float32"))

    with pytest.raises(errors.DeviceError, match="kernel 'passing': the assertion `x > 1` .* at element 0"):
        y = call()
        for k in range(3):  # which unloads what was dropped
            Kernel("float32 x", "float32 y", f"y = x + {k};", "next")(iruka.ones(3, "float32"))
        y.get()


@pytest.mark.cpu_only
def test_a_kernel_of_a_signals_handler_leaves_the_assertions_of_the_one_it_interrupts():
    body = "float t = x; for (long j = 0; j < n; ++j) t = t * 0.5f + 1; y = t;\nassert(t < 0);"
    outer = Kernel("float32 x, int64 n", "float32 y", body, "outer")
    inner = Kernel("float32 x", "float32 y", "assert(x < 5); y = x;", "inner")
    one, heard = iruka.ones(1, "float32"), []
    inner(one)
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(inner(one).tolist()))
    try:
        for rounds, delay in ((1, 0), (200_000_000, 0.05)):  # compiled first, then interrupted
            signal.setitimer(signal.ITIMER_REAL, delay)
            with pytest.raises(errors.DeviceError, match=r"`t < 0` \(operation, line 2\) failed at element 0"):
                outer(one, rounds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert heard == [[1]]


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_strided_and_crosswise_inputs_of_every_size_around_a_block(dtype, rng):
    second = Kernel("T x, T y", "T z", "z = y;", "second")
    for shape in ((1, 3), (8, 8), (17, 31), (64, 65), (3, 70, 130), (255, 3), (1, 257)):
        x = values(dtype, shape, rng)
        a = iruka.array(x)
        turned = iruka.zeros(shape[:-2] + shape[:-3:-1], dtype)
        assert_same(second(turned, a.swapaxes(-1, -2)), x.swapaxes(-1, -2), message=str(shape))
        for step in (2, 3, -1, -2):
            rows, flat = a[..., ::step], a.ravel()[::step]
            assert_same(second(rows, rows), x[..., ::step], message=f"{shape} by {step}")
            assert_same(second(flat, flat), x.ravel()[::step], message=f"{shape} flat by {step}")


def test_operators_by_name():
    kernel = iruka.ElementwiseKernel("bool x, bool y", "bool z", "z = not x or (x and y);", "names")
    assert kernel(iruka.array([True, True, False]), iruka.array([True, False, False])).tolist() == [True, False, True]
