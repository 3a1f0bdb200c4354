"""CUDA texts as others write them: their headers, the names that kernels lack, and too little shared memory."""

import math
from fractions import Fraction

import numpy as np
import pytest

import iruka
from iruka.errors import CompileError, DeviceError

HEADERS = """algorithm assert.h cassert cfloat climits cmath cstddef cstdint cstdio cstdlib cuComplex.h cuda.h cuda_bf16.h
cuda_fp16.h cuda_runtime.h cuda_runtime_api.h cupy/atomics.cuh cupy/carray.cuh cupy/complex.cuh
device_launch_parameters.h float.h limits limits.h math.h math_constants.h stddef.h stdint.h stdio.h stdlib.h
thrust/complex.h type_traits utility""".split()
BEGIN = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"


def test_headers_of_cuda_cupy_and_c():
    includes = "".join(f"#include <{name}>\n" for name in HEADERS)
    for text in (includes, includes.replace("<", '"').replace(">", '"'), "", includes + includes):
        text += "#if __has_include(<stdint.h>)\n#define ONE 1\n#endif\n"
        text += 'extern "C" __global__ void f(int64_t n, float* x) {\n' + BEGIN + "  x[i] = fabs(x[i]) + ONE;\n}"
        x = iruka.arange(-5, 5, dtype="float32")
        iruka.RawKernel(text, "f")((1,), (32,), (10, x))
        assert iruka.asnumpy(x).tolist() == (np.abs(np.arange(-5.0, 5)) + 1).tolist()


def test_they_serve_elementwise_kernels():
    preamble = (
        "#include <math.h>\n#include <cuda_fp16.h>\n__device__ float twice(half x) { return 2 * __half2float(x); }"
    )
    kernel = iruka.ElementwiseKernel("float16 x", "float32 y", "y = twice(x) + M_PI;", "f", preamble=preamble)
    x = np.array([1, 2.5, -3], "float16")
    assert np.allclose(iruka.asnumpy(kernel(iruka.asarray(x))), 2 * x.astype(float) + math.pi, rtol=1e-6)


def test_a_folders_own_header_comes_first(tmp_path):
    (tmp_path / "stdint.h").write_text("#define MINE 7\n")
    text = '#include <stdint.h>\nextern "C" __global__ void f(int* x) { *x = MINE; }'
    x = iruka.zeros(1, "int32")
    iruka.RawKernel(text, "f", options=(f"-I{tmp_path}",))((1,), (1,), (x,))
    assert int(x[0]) == 7


# The dtype, the functions of one and of two numbers, and NumPy's.
HALF_FUNCTIONS = {
    "__hadd(a, b)": lambda a, b: a + b,
    "__hsub(a, b)": lambda a, b: a - b,
    "__hmul(a, b)": lambda a, b: a * b,
    "__hdiv(a, b)": lambda a, b: a / b,
    "__hfma(a, b, a)": lambda a, b: a * b + a,
    "__hneg(a)": lambda a, b: -a,
    "__habs(a)": lambda a, b: abs(a),
    "__hmin(a, b)": np.fmin,
    "__hmax(a, b)": np.fmax,
    "hsqrt(__habs(a))": lambda a, b: np.sqrt(abs(a)),
    "hexp(a)": lambda a, b: np.exp(a),
    "hfloor(a)": lambda a, b: np.floor(a),
    "hrint(a)": lambda a, b: np.rint(a),
    "__heq(a, b)": lambda a, b: a == b,
    "__hne(a, b)": lambda a, b: (a < b) | (a > b),
    "__hlt(a, b)": lambda a, b: a < b,
    "__hge(a, b)": lambda a, b: a >= b,
    "__hisnan(a)": lambda a, b: np.isnan(a),
    "__hisinf(a)": lambda a, b: np.where(np.isinf(a), np.sign(a), 0),
}


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_numbers_of_16_bits(kind):
    """Computed in float64 and rounded once; no case is halfway between two numbers."""
    dtype = np.dtype("float16") if kind == "half" else iruka.bfloat16
    values = [0.0, -0.0, 1.0, 1.5, -2.25, 3.140625, 100.0, -7.0, np.inf, -np.inf, np.nan]
    a, b = (grid.ravel().astype(dtype) for grid in np.meshgrid(values, values))
    lines = "".join(f"  out[{k} * n + i] = (float){text};\n" for k, text in enumerate(HALF_FUNCTIONS))
    type_name, header = ("__half", "cuda_fp16.h") if kind == "half" else ("__nv_bfloat16", "cuda_bf16.h")
    text = f'#include <{header}>\nextern "C" __global__ void f(const {type_name}* x, const {type_name}* y, float* out, int n) {{\n'
    text += BEGIN + f"  {type_name} a = x[i], b = y[i];\n" + lines + "}"
    out = iruka.zeros((len(HALF_FUNCTIONS), a.size), "float32")
    iruka.RawKernel(text, "f")((1,), (128,), (iruka.asarray(a), iruka.asarray(b), out, np.int32(a.size)))
    with np.errstate(all="ignore"):
        for row, (name, function) in zip(iruka.asnumpy(out), HALF_FUNCTIONS.items()):
            expected = np.asarray(function(a.astype(float), b.astype(float)), float).astype(dtype).astype("float32")
            np.testing.assert_array_equal(row, np.where(np.isnan(expected), np.nan, expected), name)


def exact_value(bits, kind):
    """The number of these bits as a fraction."""
    mantissa_bits, bias = (10, 15) if kind == "half" else (7, 127)
    fraction, exponent = bits & ((1 << mantissa_bits) - 1), bits >> mantissa_bits & (0x1F if kind == "half" else 0xFF)
    significand = fraction + (1 << mantissa_bits if exponent else 0)
    return (-1) ** (bits >> 15) * significand * Fraction(2) ** (max(exponent, 1) - bias - mantissa_bits)


def rounded(value, kind):
    """A fraction rounded to nearest even, as a float of Python."""
    digits, least, most = (11, -14, 15) if kind == "half" else (8, -126, 127)
    if value == 0:
        return 0.0
    exponent = abs(value).numerator.bit_length() - abs(value).denominator.bit_length()
    exponent -= Fraction(2) ** exponent > abs(value)
    unit = Fraction(2) ** (max(exponent, least) - digits + 1)
    near = round(value / unit) * unit  # of fractions round() gives the nearest even
    return float(near) if abs(near) < Fraction(2) ** (most + 1) else math.copysign(math.inf, value)


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_multiply_and_add_rounds_once(kind):
    """Many products lie halfway between two numbers, and a small addend decides."""
    dtype = np.dtype("float16") if kind == "half" else iruka.bfloat16
    type_name, header = ("__half", "cuda_fp16.h") if kind == "half" else ("__nv_bfloat16", "cuda_bf16.h")
    rng = np.random.default_rng(8)
    a, b, c = rng.integers(0, 2**16, (3, 30000)).astype("uint16")
    c[::2] = rng.choice(np.array([1, 0x8001, 2, 0x8003, 0x0100, 0x8200], "uint16"), c[::2].shape)
    top = 0x7C00 if kind == "half" else 0x7F80
    finite = (a & top < top) & (b & top < top) & (c & top < top)
    a, b, c = a[finite], b[finite], c[finite]
    text = f'#include <{header}>\nextern "C" __global__ void f(const {type_name}* a, const {type_name}* b, const {type_name}* c, '
    text += f"{type_name}* x, {type_name}* y, int n) {{\n{BEGIN}  x[i] = __hfma(a[i], b[i], c[i]); y[i] = fma(a[i], b[i], c[i]);\n}}"
    x, y = iruka.zeros((2, a.size), dtype)
    arrays = [iruka.asarray(each.view(dtype)) for each in (a, b, c)]
    iruka.RawKernel(text, "f")((-(-a.size // 128),), (128,), (*arrays, x, y, np.int32(a.size)))
    numbers = zip(*([exact_value(int(bits), kind) for bits in each] for each in (a, b, c)), strict=True)
    expected = [rounded(p * q + r, kind) for p, q, r in numbers]
    for found in (x, y):
        np.testing.assert_array_equal(iruka.asnumpy(found).astype(float), expected)


def test_multiply_and_add_of_what_is_no_number():
    values = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, 3e38, -3e38], "float32").astype(iruka.bfloat16)
    a, b, c = (each.ravel() for each in np.meshgrid(values, values, values))
    kernel = iruka.ElementwiseKernel("bfloat16 a, bfloat16 b, bfloat16 c", "bfloat16 d", "d = fma(a, b, c)", "fused")
    with np.errstate(all="ignore"):
        expected = (a.astype(float) * b.astype(float) + c.astype(float)).astype(iruka.bfloat16).astype(float)
    found = iruka.asnumpy(kernel(*map(iruka.asarray, (a, b, c)))).astype(float)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))


# The limits of a type, and NumPy's.
LIMITS = ("max()", "min()", "lowest()", "epsilon()", "denorm_min()", "infinity()", "digits", "digits10", "max_exponent",
          "min_exponent", "is_integer", "is_signed")  # fmt: skip
TYPES = {
    "bool": "bool", "signed char": "int8", "std::uint8_t": "uint8", "std::int16_t": "int16", "std::uint16_t": "uint16",
    "int": "int32", "const std::uint32_t": "uint32", "std::int64_t": "int64", "std::size_t": "uint64",
    "long long": "int64", "std::int_fast32_t": "int64", "std::uintptr_t": "uint64", "float16": "float16",
    "const float": "float32", "double": "float64",
}  # fmt: skip


def limits_of(dtype):
    if dtype == "bool":
        return [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0]
    if np.dtype(dtype).kind in "iu":
        info, signed = np.iinfo(dtype), np.dtype(dtype).kind == "i"
        digits = info.bits - signed
        return [info.max, info.min, info.min, 0, 0, 0, digits, int(digits * math.log10(2)), 0, 0, 1, signed]
    info = np.finfo(dtype)
    return [
        info.max, info.tiny, info.min, info.eps, info.smallest_subnormal, math.inf, info.nmant + 1, info.precision,
        info.maxexp, info.minexp + 1, 0, 1,
    ]  # fmt: skip


def test_limits_of_numbers():
    text = "#include <limits>\n#include <cstdint>\n#include <cstddef>\n"
    text += "template <class T> __device__ void limits(double* x) {\n  using Limits = std::numeric_limits<T>;\n"
    text += "".join(f"  x[{k}] = (double)Limits::{name};\n" for k, name in enumerate(LIMITS)) + "}\n"
    text += "__device__ constexpr int kMost = std::numeric_limits<int>::max();\n"
    text += 'extern "C" __global__ void f(double* x) {\n  static_assert(kMost == INT_MAX);\n'
    text += "".join(f"  limits<{name}>(x + {k * len(LIMITS)});\n" for k, name in enumerate(TYPES)) + "}"
    x = iruka.zeros((len(TYPES), len(LIMITS)))
    iruka.RawKernel(text, "f")((1,), (1,), (x,))
    for found, (name, dtype) in zip(iruka.asnumpy(x), TYPES.items(), strict=True):
        np.testing.assert_array_equal(found, np.array(limits_of(dtype), "float64"), name)


def test_names_of_the_standard_library():
    text = "".join(f"#include <{name}>\n" for name in ("cstdint", "climits", "cfloat", "algorithm", "utility", "cmath"))
    text += r"""#include <type_traits>
    template <class T, class = std::enable_if_t<std::is_integral_v<T>>> __device__ T twice(const T& x) { return x + x; }
    template <class T> __device__ void order(T& a, T& b) { if (b < a) std::swap(a, b); }
    extern "C" __global__ void f(float* x, std::uint32_t n) {
      __shared__ float tile[4 * CHAR_BIT];
      const std::size_t k = threadIdx.x;
      tile[k] = x[k];
      __syncthreads();
      float a = tile[k], b = tile[31 - k];
      order(a, b);
      x[k] = std::min(a, b) + 100 * std::max(a, b);
      if (k == 0) {
        x[32] = std::clamp(7.0f, 0.0f, 2.0f);
        x[33] = std::sqrt(16.0f) + std::abs(-3) + std::pow(2.0, 3) + std::floor(1.5f);
        x[34] = std::is_same_v<std::int64_t, long> + 2 * std::is_same<float, double>::value +
                4 * std::is_signed_v<short> + 8 * std::is_floating_point<double>::value;
        x[35] = std::conditional_t<(CHAR_BIT > 8), char, int>(300) + twice(4);
        x[36] = SIZE_MAX == ~0ull && UINT32_MAX == 4294967295u && UINTPTR_MAX == SIZE_MAX && INTMAX_MIN == INT64_MIN;
        x[37] = std::isnan(NAN) + std::isfinite(1.0f) + (HUGE_VAL > DBL_MAX) + (FLT_MANT_DIG == 24);
        int old = 5;
        x[38] = std::exchange(old, 6) + 10 * std::move(old);
        x[39] = std::max(3, 4, [](int p, int q) { return p > q; });
        int one[2] = {1, 2}, other[2] = {3, 4};
        std::swap(one, other);
        x[40] = 10 * one[0] + other[1];
        x[41] = (std::uintptr_t)x % alignof(float) + n;
      }
    }"""
    x = iruka.arange(42, dtype="float32")
    iruka.RawKernel(text, "f")((1,), (32,), (x, np.uint32(9)))
    low, high = np.minimum(np.arange(32), np.arange(32)[::-1]), np.maximum(np.arange(32), np.arange(32)[::-1])
    assert iruka.asnumpy(x).tolist() == [*(low + 100 * high), 2, 16, 13, 308, 1, 4, 65, 3, 32, 9]


def test_complex_numbers_of_cuda():
    rng = np.random.default_rng(3)
    for dtype, name, part, suffix in (
        ("complex64", "cuFloatComplex", "float", "f"),
        ("complex128", "cuDoubleComplex", "double", ""),
    ):
        a, b = (rng.normal(size=20) + 1j * rng.normal(size=20) for _ in "ab")
        a, b = a.astype(dtype), b.astype(dtype)
        text = (
            f'#include <cuComplex.h>\nextern "C" __global__ void f({name}* x, {name}* y, {part}* size, int n) {{\n'
            + BEGIN
        )
        text += f"  {name} z = cuCadd{suffix}(cuCmul{suffix}(x[i], y[i]), make_{name}(1, 2));\n"
        text += f"  size[i] = cuCabs{suffix}(x[i]) + cuCreal{suffix}(y[i]) - cuCimag{suffix}(y[i]);\n"
        text += f"  x[i] = cuCdiv{suffix}(cuConj{suffix}(z), y[i]);\n}}"
        x, size = iruka.asarray(a.copy()), iruka.zeros(20, np.dtype(dtype).char.lower())
        iruka.RawKernel(text, "f")((1,), (32,), (x, iruka.asarray(b), size, np.int32(20)))
        near = dict(rtol=2e-5 if dtype == "complex64" else 1e-13)
        np.testing.assert_allclose(iruka.asnumpy(x), np.conj(a * b + 1 + 2j) / b, **near)
        np.testing.assert_allclose(iruka.asnumpy(size), abs(a) + b.real - b.imag, **near)


def test_functions_of_thrust():
    text = '#include <thrust/complex.h>\nextern "C" __global__ void f(thrust::complex<double>* z) {\n'
    text += "  z[0] = thrust::exp(thrust::conj(z[0])) + thrust::abs(z[0]) * thrust::polar(1.0, thrust::arg(z[0]));\n}"
    z = iruka.full(1, 0.5 + 2j)
    iruka.RawKernel(text, "f")((1,), (1,), (z,))
    np.testing.assert_allclose(iruka.asnumpy(z), np.exp(0.5 - 2j) + 0.5 + 2j)


def test_constants_of_cuda():
    known = {"PI": math.pi, "SQRT_TWO": math.sqrt(2), "L2E": math.log2(math.e), "LN2": math.log(2), "INF": math.inf}
    known |= {"SQRT_2PI": math.sqrt(2 * math.pi), "PIO2": math.pi / 2, "LGE": math.log10(math.e), "TWO_TO_54": 2.0**54}
    names = [f"CUDART_{name}" for name in known] + ["CUDART_PI_F", "CUDART_TWO_TO_24_F", "CUDART_MIN_DENORM_F"]
    text = '#include <math_constants.h>\nextern "C" __global__ void f(double* x) {\n'
    text += "".join(f"  x[{k}] = {name};\n" for k, name in enumerate(names)) + "}"
    x = iruka.zeros(len(names))
    iruka.RawKernel(text, "f")((1,), (1,), (x,))
    expected = [*known.values(), float(np.float32(math.pi)), 2.0**24, 2.0**-149]
    np.testing.assert_allclose(iruka.asnumpy(x), expected, rtol=4e-16)


ABSENT = {
    "x[0] = __shfl_down(1, 2);": "__shfl_down_sync",
    "x[0] = __ballot(1);": "mask of the threads",
    "curandState s;": "iruka.random",
    "x[0] = tex2D(x, 0, 0);": "no textures",
    "cudaMalloc(0, 1);": "functions of the host",
    "float* p = (float*)mallocate(4);": "mallocate",
    "std::vector<int> v;": "no standard library",
    "std::uint32_t k = 0;": "#include <limits>, <cstdint>",
    "wmma::fragment a;": "iruka.matmul",
    "namespace cg = cooperative_groups;": "#include <cooperative_groups.h>",
    "__half h;": "#include <cuda_fp16.h>",
    "x[0] = CUDART_PI_F;": "#include <math_constants.h>",
    "cuComplex z;": "#include <cuComplex.h>",
}


@pytest.mark.parametrize("text", ABSENT)
def test_names_that_kernels_lack(text):
    code = f'extern "C" __global__ void f(float* x) {{ {text} }}'
    with pytest.raises(CompileError) as error:
        iruka.RawKernel(code, "f").compile()
    is_assembled = "__ballot" in text and iruka.default_device().name != "cpu"  # CUDA's assembler refuses it, not C++
    expected = ["without '.sync'"] if is_assembled else [ABSENT[text], "code, line 1"]
    assert all(words in str(error.value) for words in expected)


@pytest.mark.cpu_only
def test_statements_that_only_gpus_take():
    for text, words in (
        ("throw 1;", "assert"),
        ("x = 3;", r"x\[i\]"),
        ('asm("nop;");', "GPUs"),
        ("int* p = new int[n]; x[0] = p[n - 1];", "memory"),
    ):
        kernel = iruka.RawKernel(f'extern "C" __global__ void f(float* x, int n) {{ {text} }}', "f")
        with pytest.raises(CompileError, match=words):
            kernel((1,), (1,), (iruka.zeros(1, "float32"), np.int32(1)))


def test_advice_is_for_names_of_cuda_alone():
    for name in ("half_width", "cuda_value", "cuCount", "make_cube", "curandm", "cgroup", "__halfway"):
        with pytest.raises(CompileError) as error:
            iruka.RawKernel(f'extern "C" __global__ void f(float* x) {{ x[0] = {name}; }}', "f").compile()
        assert "; " not in str(error.value).split("error:")[1].split("\n")[0], name
    code = '#include <cuComplex.h>\nextern "C" __global__ void f(cuFloatComplex* z) { z[0].x = 1; }'
    with pytest.raises(CompileError, match=r"z\.real\(\)"):
        iruka.RawKernel(code, "f").compile()
    code = 'template <class T> __global__ void f(T* x) {}\nextern "C" __global__ void g(int*) {}'
    with pytest.raises(CompileError, match="the code's kernels are: g"):
        iruka.RawKernel(code, "h").compile()
    with pytest.raises(CompileError) as error:
        iruka.RawKernel("template <class T> __global__ void f(T* x) {}", "f<flot>").compile()
    assert "has no kernel" not in str(error.value)


def test_a_wrong_name_lists_the_kernels():
    code = 'extern "C" __global__ void first(int*) {}\n__global__ void second(float*) {}\nvoid __device__ helper() {}'
    with pytest.raises(CompileError, match="first, second") as error:
        iruka.RawKernel(code, "third").compile()
    assert "helper" not in str(error.value)
    with pytest.raises(CompileError, match="no kernel.*__global__"):
        iruka.RawKernel("void __device__ helper() {}", "f").compile()


REVERSE = r"""
extern "C" __global__ void reverse(float* x, int n) {
  extern __shared__ float s[];
  if (threadIdx.x < n) s[threadIdx.x] = x[blockIdx.x * n + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) x[blockIdx.x * n + threadIdx.x] = s[n - 1 - threadIdx.x];
}
extern "C" __global__ void together(float* x, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[threadIdx.x];
  cooperative_groups::this_grid().sync();
  x[threadIdx.x] = s[n - 1 - threadIdx.x];
}
"""


@pytest.mark.cpu_only
@pytest.mark.parametrize("threads", [1, 4, 33, 1024])
def test_too_little_dynamic_shared_memory_is_told_of(threads):
    x = iruka.arange(3 * threads, dtype="float32").reshape(3, threads)
    module = iruka.RawModule(code="#include <cooperative_groups.h>\n" + REVERSE, enable_cooperative_groups=True)
    for name, blocks in (("reverse", 3), ("together", 1)):
        kernel = module.get_function(name)
        for given in {0, 2, 4 * threads - 4, 4 * threads - 1}:
            with pytest.raises(DeviceError, match="shared_mem"):
                kernel((blocks,), (threads,), (x.copy(), np.int32(threads)), shared_mem=given)
        y = x.copy()
        kernel((blocks,), (threads,), (y, np.int32(threads)), shared_mem=4 * threads)
        assert iruka.asnumpy(y[:blocks]).tolist() == iruka.asnumpy(x)[:blocks, ::-1].tolist()


@pytest.mark.cpu_only
def test_cooperative_launches_of_many_blocks():
    blocks, threads = 20000, 32
    x = iruka.arange(threads, dtype="float32")
    code = "#include <cooperative_groups.h>\n" + REVERSE
    kernel = iruka.RawKernel(code, "together", enable_cooperative_groups=True)
    kernel((blocks,), (threads,), (x, np.int32(threads)), shared_mem=4 * threads)
    assert iruka.asnumpy(x).tolist() == [*range(threads)][::-1]


@pytest.mark.cpu_only
def test_dynamic_shared_memory_that_is_not_used_needs_none():
    code = r"""extern "C" __global__ void f(float* x, bool uses) {
      extern __shared__ float s[];
      if (uses) { s[threadIdx.x] = 1; x[threadIdx.x] = s[threadIdx.x]; }
    }"""
    x = iruka.zeros(64, "float32")
    kernel = iruka.RawKernel(code, "f")
    kernel((1,), (64,), (x, False))
    assert not x.any()
    with pytest.raises(DeviceError, match="shared_mem"):
        kernel((1,), (64,), (x, True))


@pytest.mark.cpu_only
def test_python_kernels_with_too_little_shared_memory():
    from iruka import jit

    @jit.rawkernel()
    def copy(x):
        s = jit.shared_memory(np.float64, None)
        s[jit.threadIdx.x] = x[jit.threadIdx.x]
        jit.syncthreads()
        x[jit.threadIdx.x] = s[jit.threadIdx.x]

    with pytest.raises(DeviceError, match="shared_mem"):
        copy((1,), (32,), (iruka.ones(32),))
    copy((1,), (32,), (iruka.ones(32),), shared_mem=8 * 32)
