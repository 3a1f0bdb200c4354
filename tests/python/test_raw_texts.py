"""CUDA texts as others write them: their headers, the names that kernels lack, and too little shared memory."""

import math

import numpy as np
import pytest

import iruka
from iruka.errors import CompileError, DeviceError

HEADERS = """assert.h cassert cfloat climits cmath cstddef cstdint cstdio cuComplex.h cuda.h cuda_bf16.h cuda_fp16.h
cuda_runtime.h cuda_runtime_api.h cupy/atomics.cuh cupy/carray.cuh cupy/complex.cuh device_launch_parameters.h float.h
limits.h math.h math_constants.h stddef.h stdint.h stdio.h thrust/complex.h""".split()
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
    assert ABSENT[text] in str(error.value) and (is_assembled or "code, line 1" in str(error.value))


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
