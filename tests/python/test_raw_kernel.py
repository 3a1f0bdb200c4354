"""RawKernel and RawModule: kernels over blocks of threads, on the CPU and on GPUs."""

import ctypes
import os
import pickle
import threading

import numpy as np
import pytest

import iruka
from helpers import BFLOAT16
from iruka.errors import CompileError, DeviceError, FileError

ADD = r"""
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
"""


NO_KERNELS = [
    ("__global__ int f() { return 1; }", "void"),
    ("__global__ void f(int& x) {}", "values and pointers, not references"),
    ("template <class T> __global__ void f(T* x) {}", "name, line 1"),
    ("__global__ void f(int) {} __global__ void f(float) {}", "name, line 1"),
    ("__global__ void f() { if (true) {", "never closed"),
]


def on_device(values):
    return iruka.array(np.asarray(values))


def add_kernel():
    return iruka.RawKernel(ADD, "add")


def arrays(n=1000):
    x, y = np.arange(n, dtype="f4"), np.full(n, 0.5, "f4")
    return x, y, on_device(x), on_device(y), iruka.zeros(n, "f4")


def run_one(parameters, body, args, threads=1, **keywords):
    """Runs `body` in a kernel with these parameters."""
    code = f'extern "C" __global__ void f({parameters}) {{ {body} }}'
    iruka.RawKernel(code, "f", **keywords)((1,), (threads,), args)


class TestLaunches:
    def test_adds_vectors(self):
        x, y, gx, gy, gz = arrays()
        assert add_kernel()((8,), (128,), (gx, gy, gz, 1000)) is None
        np.testing.assert_array_equal(iruka.asnumpy(gz), x + y)

    @pytest.mark.parametrize("grid, block", [(8, 128), ((8, 1), [128]), (np.int64(8), (np.int32(128), 1, 1))])
    def test_extents_are_numbers_or_tuples(self, grid, block):
        x, y, gx, gy, gz = arrays()
        add_kernel()(grid, block, [gx, gy, gz, 1000])
        np.testing.assert_array_equal(iruka.asnumpy(gz), x + y)

    def test_keywords(self):
        x, y, gx, gy, gz = arrays()
        add_kernel()(grid=(8,), block=(128,), args=(gx, gy, gz, 1000), shared_mem=16, stream=None)
        np.testing.assert_array_equal(iruka.asnumpy(gz), x + y)

    def test_blocks_and_threads_have_three_dimensions(self):
        code = r"""
        extern "C" __global__ void where(int* out) {
          int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
          int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
          int* own = out + 6 * (block * (blockDim.x * blockDim.y * blockDim.z) + thread);
          own[0] = blockIdx.x; own[1] = blockIdx.y; own[2] = blockIdx.z;
          own[3] = threadIdx.x; own[4] = threadIdx.y; own[5] = threadIdx.z;
        }"""
        grid, block = (3, 2, 4), (5, 3, 2)
        out = iruka.zeros((24, 30, 6), "i4")
        iruka.RawKernel(code, "where")(grid, block, (out,))
        found = iruka.asnumpy(out)
        blocks = np.stack(np.unravel_index(np.arange(24), grid[::-1])[::-1], -1)
        threads = np.stack(np.unravel_index(np.arange(30), block[::-1])[::-1], -1)
        np.testing.assert_array_equal(found[:, :, :3], np.broadcast_to(blocks[:, None], (24, 30, 3)))
        np.testing.assert_array_equal(found[:, :, 3:], np.broadcast_to(threads, (24, 30, 3)))

    def test_many_blocks(self):
        n = 3_000_001
        x = np.arange(n, dtype="f4")
        gx, gz = on_device(x), iruka.zeros(n, "f4")
        add_kernel()((n + 255) // 256, 256, (gx, gx, gz, n))
        np.testing.assert_array_equal(iruka.asnumpy(gz), x + x)

    def test_no_parameters(self):
        iruka.RawKernel('extern "C" __global__ void nothing() {}', "nothing")((2,), (3,), ())

    def test_many_parameters(self):
        count = 60
        names = [f"x{k}" for k in range(count)]
        body = "out[0] = " + " + ".join(f"{k + 1} * {name}" for k, name in enumerate(names)) + ";"
        out = iruka.zeros(1, "f8")
        run_one(", ".join(f"int {name}" for name in names) + ", double* out", body, (*range(count), out))
        assert float(out[0]) == sum((k + 1) * k for k in range(count))

    @pytest.mark.parametrize("count", [199, 200, 201, 700])
    def test_hundreds_of_parameters(self, count):
        parameters = ", ".join(f"{'short' if k % 3 else 'int'} x{k}" for k in range(count))
        body = "*out = " + " + ".join(f"x{k}" for k in range(0, count, 7)) + f" + 1000 * x{count - 1};"
        out = iruka.zeros(1, "i4")
        run_one(f"int* out, {parameters}", body, (out, *range(count)))
        assert int(out[0]) == sum(range(0, count, 7)) + 1000 * (count - 1)

    def test_views_give_their_first_element(self):
        out = iruka.zeros(4, "i4")
        run_one("int* x", "x[0] = 7;", (out[2:],))
        np.testing.assert_array_equal(iruka.asnumpy(out), [0, 0, 7, 0])

    def test_streams(self):
        x, y, gx, gy, gz = arrays()
        kernel, on_gpu = add_kernel(), iruka.default_device().name != "cpu"
        streams = [iruka.cuda.Stream() if on_gpu else iruka.cuda.Stream.null for _ in range(4)]
        results = [iruka.zeros(1000, "f4") for _ in streams]
        iruka.cuda.Stream.null.synchronize()
        for stream, result in zip(streams, results):
            kernel((8,), (128,), (gx, gy, result, 1000), stream=stream)
        for stream, result in zip(streams, results):
            stream.synchronize()
            np.testing.assert_array_equal(iruka.asnumpy(result), x + y)

    def test_threads_share_a_kernel(self):
        kernel, n = add_kernel(), 2000
        x = on_device(np.arange(n, dtype="f4"))
        failures = []

        def work(seed):
            for block in (32, 64, 128, 256):
                z, y = iruka.zeros(n, "f4"), on_device(np.full(n, seed, "f4"))
                kernel(((n + block - 1) // block,), (block,), (x, y, z, n))
                if not np.array_equal(iruka.asnumpy(z), np.arange(n, dtype="f4") + seed):
                    failures.append((seed, block))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures

    def test_atomics(self):
        out = iruka.zeros(2, "i4")
        run_one("int* out", "atomicAdd(out, 1); atomicMax(out + 1, (int)threadIdx.x);", (out,), threads=200)
        np.testing.assert_array_equal(iruka.asnumpy(out), [200, 199])


class TestArguments:
    @pytest.mark.parametrize("dtype, parameter", [
        ("int8", "signed char"), ("uint8", "unsigned char"), ("int16", "short"), ("uint16", "unsigned short"),
        ("int32", "int"), ("uint32", "unsigned"), ("int64", "long long"), ("uint64", "unsigned long"),
        ("float16", "float16"), ("float32", "float"), ("float64", "double"), ("bool", "bool"),
        ("complex64", "complex<float>"), ("complex128", "complex<double>"),
    ])  # fmt: skip
    def test_numbers_have_the_parameters_type(self, dtype, parameter):
        out = iruka.zeros(1, dtype)
        for value in [1, True, np.int8(1), np.uint64(1), on_device(np.array([1, 2]))[0]]:
            out[...] = 0
            run_one(f"{parameter} x, {parameter}* out", "out[0] = x;", (value, out))
            assert out.get()[0] == 1
        if np.dtype(dtype).kind in "fc":
            for value in [0.5, np.float32(0.5), np.float64(0.5)]:
                run_one(f"{parameter} x, {parameter}* out", "out[0] = x;", (value, out))
                assert out.get()[0] == 0.5

    def test_complex_numbers(self):
        out = iruka.zeros(1, "complex64")
        for value in [1 + 2j, np.complex64(1 + 2j), np.complex128(1 + 2j)]:
            out[...] = 0
            run_one("complex<float> x, complex<float>* out", "out[0] = x;", (value, out))
            assert out.get()[0] == 1 + 2j
        with pytest.raises(TypeError, match=r"argument 1 \(float32\) is .*complex number does not become a real one"):
            run_one("float x", "", (1j,))

    @pytest.mark.parametrize("value", [1.0, np.float32(1), 0.5, 1j, np.complex64(1)])
    def test_floats_do_not_become_integers(self, value):
        with pytest.raises(TypeError, match=r"f\(\): argument 1 \(int32\) is .*does not become an integer"):
            run_one("int n", "", (value,))

    @pytest.mark.parametrize("parameter, value", [
        ("int", 2**31), ("int", -(2**31) - 1), ("unsigned", -1), ("signed char", 128), ("unsigned char", 256),
        ("char", 128), ("short", np.int64(40000)), ("bool", 2), ("unsigned long long", -1), ("long", np.uint64(2**63)),
    ])  # fmt: skip
    def test_integers_are_in_range(self, parameter, value):
        with pytest.raises(OverflowError, match=r"f\(\): argument 1 \(\w+\) is -?\d+, which the type does not hold"):
            run_one(f"{parameter} n", "", (value,))

    def test_integers_beyond_64_bits(self):
        with pytest.raises(OverflowError):
            run_one("unsigned long long n", "", (2**64,))

    def test_limits_fit(self):
        out = iruka.zeros(1, "int64")
        for parameter, value in [("int", 2**31 - 1), ("int", -(2**31)), ("signed char", -128), ("long long", -(2**63))]:
            run_one(f"{parameter} x, long long* out", "out[0] = x;", (value, out))
            assert int(out[0]) == value

    def test_enumerations_are_integers(self):
        out = iruka.zeros(1, "i4")
        code = """enum class Color : short { red = 3, blue = 300 };
        extern "C" __global__ void f(Color c, int* out) { out[0] = c == Color::blue; }"""
        iruka.RawKernel(code, "f")(1, 1, (300, out))
        assert int(out[0]) == 1

    @pytest.mark.parametrize("args", [(), (1,), (1, 2, 3)])
    def test_the_number_is_checked(self, args):
        with pytest.raises(TypeError, match=rf"f\(\): the kernel has 2 parameters \(int32, float32\), not {len(args)}"):
            run_one("int n, float x", "", args)

    def test_args_is_a_tuple(self):
        with pytest.raises(TypeError, match="args must be a tuple"):
            run_one("float* x", "", iruka.zeros(3, "f4"))

    @pytest.mark.parametrize("value", ["text", object(), {}, int])
    def test_other_objects_are_refused(self, value):
        with pytest.raises(TypeError, match=r"f\(\): argument 1 has unsupported type"):
            run_one("int n", "", (value,))

    @pytest.mark.parametrize("parameter, dtype", [
        ("float*", "f8"), ("float*", "i4"), ("int*", "i8"), ("double*", "f4"), ("long*", "i4"), ("short*", "f2"),
        ("complex<float>*", "c16"), ("bool*", "u1"), ("float**", "f8"),
    ])  # fmt: skip
    def test_arrays_have_the_pointers_type(self, parameter, dtype):
        with pytest.raises(TypeError, match=rf"f\(\): argument 1 \([\w*]+\) is an array of {np.dtype(dtype).name}"):
            run_one(f"{parameter} x", "", (iruka.zeros(3, dtype),))

    @pytest.mark.parametrize("parameter, dtype", [
        ("unsigned*", "i4"), ("int*", "u4"), ("signed char*", "u1"), ("long long*", "i8"), ("void*", "f8"),
        ("char*", "f4"), ("unsigned char*", "c8"), ("float2*", "c8"), ("float2*", "f4"), ("float**", "u8"),
        ("const void*", "b1"), ("struct Unknown*", "f8"),
    ])  # fmt: skip
    def test_pointers_of_other_types_that_take_an_array(self, parameter, dtype):
        x = iruka.zeros(4, dtype)
        run_one(f"{parameter} x, bool* out", "out[0] = x != nullptr;", (x, iruka.zeros(1, bool)))

    def test_pointers_to_pointers(self):
        x = iruka.arange(3, dtype="f4")
        table = on_device(np.array([x.data.ptr], "u8"))
        out = iruka.zeros(1, "f4")
        run_one("float** rows, float* out", "out[0] = rows[0][2];", (table, out))
        assert float(out[0]) == 2

    def test_none_is_null(self):
        out = iruka.ones(1, bool)
        run_one("const float* x, bool* out", "out[0] = x != nullptr;", (None, out))
        assert not out.get()[0]
        with pytest.raises(TypeError, match=r"argument 1 \(int32\) is None; the parameter is no pointer"):
            run_one("int n", "", (None,))

    def test_addresses(self):
        x, out = iruka.arange(3, dtype="f4"), iruka.zeros(3, "f4")
        for address in (x.data.ptr, np.uint64(x.data.ptr), x.data):
            out[...] = 0
            run_one("const float* x, float* out", "out[threadIdx.x] = x[threadIdx.x];", (address, out), threads=3)
            np.testing.assert_array_equal(iruka.asnumpy(out), [0, 1, 2])
        with pytest.raises(OverflowError, match="which is no address"):
            run_one("float* x", "", (-1,))
        with pytest.raises(TypeError, match="give an array, an address or None"):
            run_one("float* x", "", (1.5,))

    def test_read_only_arrays_need_const(self):
        x = iruka.zeros(3, "f4")
        x.flags.writeable = False
        run_one("const float* x", "", (x,))
        with pytest.raises(ValueError, match=r"f\(\): argument 1 \(float32\*\) is a read-only array"):
            run_one("float* x", "", (x,))

    def test_arrays_are_no_values(self):
        with pytest.raises(TypeError, match="the parameter is a value, so give a number"):
            run_one("float x", "", (iruka.zeros(1, "f4"),))

    def test_structures(self):
        code = """struct Point { double x, y; int count; };
        extern "C" __global__ void f(int first, Point p, double* out) {
          out[0] = first; out[1] = p.x; out[2] = p.y; out[3] = p.count;
        }"""
        kernel = iruka.RawKernel(code, "f")
        dtype = np.dtype([("x", "f8"), ("y", "f8"), ("count", "i4")], align=True)
        point = np.array([(1.5, -2, 7)], dtype)

        class Point(ctypes.Structure):
            _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double), ("count", ctypes.c_int)]

        for value in (point[0], point[0].tobytes(), Point(1.5, -2, 7)):
            out = iruka.zeros(4, "f8")
            kernel(1, 1, (9, value, out))
            np.testing.assert_array_equal(iruka.asnumpy(out), [9, 1.5, -2, 7])
        for value, words in [
            (b"short", "is a structure of 5 bytes"),
            (1.5, "is the number 1.5 of type float64; give a structured NumPy scalar"),
            (iruka.zeros(3), "is an array"),
        ]:
            with pytest.raises(TypeError, match=rf"argument 2 \(structure of 24 bytes\) {words}"):
                kernel(1, 1, (9, value, iruka.zeros(4)))

    def test_vectors_of_cuda_take_complex_numbers(self):
        out = iruka.zeros(4, "f4")
        run_one("float2 z, float* out", "out[0] = z.x; out[1] = z.y;", (np.complex64(3 - 4j), out))
        run_one("double2 z, float* out", "out[2] = z.x; out[3] = z.y;", (5 + 6j, out))
        np.testing.assert_array_equal(iruka.asnumpy(out), [3, -4, 5, 6])

    def test_alignment_of_parameters(self):
        out = iruka.zeros(5, "f8")
        run_one(
            "signed char a, double b, short c, float d, long long e, double* out",
            "out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e;",
            (-1, 2.5, -300, 0.25, 2**40, out),
        )
        np.testing.assert_array_equal(iruka.asnumpy(out), [-1, 2.5, -300, 0.25, 2**40])

    @pytest.mark.cpu_only
    def test_numpy_arrays_are_used_in_place(self):
        x, y, z = np.arange(10, dtype="f4"), np.ones(10, "f4"), np.zeros(10, "f4")
        x.flags.writeable = False
        add_kernel()(1, 32, (x, y, z, 10))
        np.testing.assert_array_equal(z, x + y)
        with pytest.raises(ValueError, match="read-only"):
            add_kernel()(1, 32, (y, y, x, 10))
        with pytest.raises(TypeError, match="is an array of float64"):
            add_kernel()(1, 32, (x, y, np.zeros(10), 10))

    @pytest.mark.cpu_only
    @pytest.mark.parametrize("dtype", [np.dtype(code) for code in "?bhilqBHILQefdFD"] + [BFLOAT16], ids=str)
    def test_numpy_arrays_of_every_dtype(self, dtype):
        x, y = np.array([0, 1], dtype), np.array([0, 0], dtype)
        type_name = iruka.ElementwiseKernel(f"{dtype} x", "int32 y", "y = 0").in_params[0].ctype
        run_one(f"const {type_name}* x, {type_name}* y", "y[0] = x[1];", (x, y))
        assert y[0] == 1
        with pytest.raises(TypeError, match="is an array of"):
            run_one(f"{'int' if dtype.kind in 'fcV?b' else 'float'}* x", "", (x,))

    @pytest.mark.cpu_only
    def test_numpy_arrays_of_no_kernels_dtype(self):
        for x in (np.zeros(3, ">f4"), np.zeros(3, "M8[s]"), np.zeros(13, "u1")[1:].view("f4")):
            with pytest.raises(TypeError, match="argument 1"):
                run_one("float* x", "", (x,))
            run_one("void* x", "", (x,))

    @pytest.mark.cpu_only
    def test_structured_numpy_arrays(self):
        dtype = np.dtype([("value", "f4"), ("count", "i4")])
        records = np.array([(1, 2), (3, 4)], dtype)
        code = """struct Record { float value; int count; };
        extern "C" __global__ void f(Record* r) { r[threadIdx.x].value *= r[threadIdx.x].count; }"""
        iruka.RawKernel(code, "f")(1, 2, (records,))
        assert records.tolist() == [(2, 2), (12, 4)]
        with pytest.raises(TypeError, match="whose dtype no kernel has"):
            run_one("float* x", "", (records,))


class TestGrids:
    @pytest.mark.parametrize("grid, block, words", [
        ((0,), (1,), "1 to"), ((1,), (0,), "1 to"), ((-1,), (1,), "1 to"), ((2**31,), (1,), "1 to"),
        ((1, 65536), (1,), "65535"), ((1, 1, 2**40), (1,), "1 to"), ((1,), (1025,), "1024"),
        ((1,), (1, 1, 65), "64"), ((1,), (32, 33), "1024"), ((1,), (2**70,), "1 to"),
    ])  # fmt: skip
    def test_extents_have_limits(self, grid, block, words):
        with pytest.raises(ValueError, match=words):
            iruka.RawKernel('extern "C" __global__ void f() {}', "f")(grid, block, ())

    @pytest.mark.parametrize("shared", [-1, 228 * 1024, 2**40])
    def test_shared_memory_has_limits(self, shared):
        with pytest.raises(ValueError, match="shared memory"):
            iruka.RawKernel('extern "C" __global__ void f() {}', "f")(1, 1, (), shared_mem=shared)

    @pytest.mark.parametrize("grid", [(), (1, 2, 3, 4)])
    def test_extents_have_three_dimensions_at_most(self, grid):
        with pytest.raises(ValueError, match="grid has 1 to 3 dimensions"):
            iruka.RawKernel('extern "C" __global__ void f() {}', "f")(grid, 1, ())

    @pytest.mark.parametrize("block", [1.5, "8", None, (1.0,)])
    def test_extents_are_integers(self, block):
        with pytest.raises(TypeError, match="block must be an int"):
            iruka.RawKernel('extern "C" __global__ void f() {}', "f")(1, block, ())

    def test_malformed_calls(self):
        kernel = iruka.RawKernel('extern "C" __global__ void f() {}', "f")
        for call in (
            lambda: kernel(),
            lambda: kernel(1, 1),
            lambda: kernel(1, 1, (), 5),
            lambda: kernel(1, 1, (), grid=1),
            lambda: kernel(1, 1, (), shared=1),
        ):
            with pytest.raises(TypeError, match=r"f\(\)"):
                call()


class TestCode:
    def test_templates(self):
        code = "template <class T, int n> __global__ void scale(T* x, T factor) { x[threadIdx.x] *= factor * n; }"
        x, y = iruka.arange(4, dtype="f4"), iruka.arange(4, dtype="i8")
        module = iruka.RawModule(code=code, name_expressions=["scale<float, 2>", "scale<long long, 3>"])
        module.get_function("scale<float, 2>")(1, 4, (x, 0.5))
        module.get_function("scale<long long, 3>")(1, 4, (y, 10))
        np.testing.assert_array_equal(iruka.asnumpy(x), np.arange(4))
        np.testing.assert_array_equal(iruka.asnumpy(y), np.arange(4) * 30)
        with pytest.raises(TypeError, match=r"argument 1 \(float32\*\)"):
            module.get_function("scale<float, 2>")(1, 4, (y, 1))
        iruka.RawKernel(code, "scale<float, 5>")(1, 4, (x, 1))
        np.testing.assert_array_equal(iruka.asnumpy(x), np.arange(4) * 5)

    def test_functions_of_a_module(self):
        code = """
        namespace hidden { __global__ void unseen() {} }
        #if 0
        extern "C" __global__ void absent(int* x);
        #endif
        __device__ int twice(int x) { return 2 * x; }
        extern "C" {
        __global__ void __launch_bounds__(64) first(int* x) { x[threadIdx.x] = twice(threadIdx.x); }
        __global__ void second(int* x, int y) { x[threadIdx.x] += y; }
        }
        __global__ void third(int* x) { x[0] = -1; }
        """
        module, x = iruka.RawModule(code), iruka.zeros(5, "i4")
        module.get_function("first")((1,), (5,), (x,))
        module.get_function("second")((1,), (5,), (x, 100))
        module.get_function("third")((1,), (1,), (x,))
        np.testing.assert_array_equal(iruka.asnumpy(x), [-1, 102, 104, 106, 108])
        assert module.get_function("first") == module.get_function("first")

    def test_macros_and_headers(self, tmp_path):
        (tmp_path / "scale.h").write_text("__device__ float scaled(float x) { return FACTOR * x; }")
        code = '#include "scale.h"\nextern "C" __global__ void f(T* x) { x[0] = scaled(x[0]); }'
        x = iruka.ones(1, "f4")
        iruka.RawKernel(code, "f", options=("-DFACTOR=3", "-D", "T=float", f"-I{tmp_path}"))(1, 1, (x,))
        assert float(x[0]) == 3

    def test_macros_of_common_names(self):
        names = ("grid shared index call parameters dynamic Block block kernel name threads thread lane lanes first begin "
                 "end count arguments left row head state waiting signature Signature type size value result offset x y "
                 "z Numbers Codes T P k bytes text number run").split()  # fmt: skip
        if iruka.default_device().name != "cpu":
            names.remove("shared")  # NVRTC's own __shared__ needs it
        code = "".join(f"#define {name} unusable {name}\n" for name in names if name not in ("x", "y", "z"))
        code += """template <class Real> __global__ void f(Real* a, int m) {
          __shared__ Real held[4];
          held[threadIdx.x] = a[threadIdx.x];
          __syncthreads();
          a[threadIdx.x] = held[3 - threadIdx.x] * m;
        }"""
        x = iruka.arange(4, dtype="f4")
        iruka.RawKernel(code, "f<float>")((1,), (4,), (x, 2))
        np.testing.assert_array_equal(iruka.asnumpy(x), [6, 4, 2, 0])
        y = iruka.arange(4, dtype="f4")
        module = iruka.RawModule(code=code, name_expressions=["f<float>"], options=("-Dlaunch=unusable launch",))
        module.get_function("f<float>")((1,), (4,), (y, 3))
        np.testing.assert_array_equal(iruka.asnumpy(y), [9, 6, 3, 0])

    def test_files(self, tmp_path):
        path = tmp_path / "add.cu"
        path.write_text('#include "beside.h"\n' + ADD)
        (tmp_path / "beside.h").write_text("// nothing")
        x, y, gx, gy, gz = arrays()
        module = iruka.RawModule(path=path)
        kernel = module.get_function("add")
        kernel((8,), (128,), (gx, gy, gz, 1000))
        np.testing.assert_array_equal(iruka.asnumpy(gz), x + y)
        assert module.code is None and module.file_path == str(path) == kernel.file_path
        with pytest.raises(FileError, match="cannot be read"):
            iruka.RawModule(path=tmp_path / "missing.cu")

    def test_either_code_or_path(self):
        for keywords in ({}, {"code": ADD, "path": "x.cu"}):
            with pytest.raises(TypeError, match="exactly one of code and path"):
                iruka.RawModule(**keywords)

    def test_errors_quote_the_users_line(self):
        code = 'extern "C" __global__ void f(float* x) {\n  x[0] = undefined_name;\n}'
        for use in (
            lambda: iruka.RawKernel(code, "f")(1, 1, (iruka.zeros(1, "f4"),)),
            lambda: iruka.RawKernel(code, "f").compile(),
            lambda: iruka.RawModule(code).get_function("f")(1, 1, (iruka.zeros(1, "f4"),)),
        ):
            with pytest.raises(CompileError) as caught:
                use()
            message = str(caught.value)
            assert "code, line 2:" in message and "undefined_name" in message and "x[0] = undefined_name;" in message
            assert "test_raw_kernel.py" in message and ("'f'" in message or "RawModule" in message)

    def test_missing_kernels(self):
        with pytest.raises(CompileError, match="missing"):
            iruka.RawKernel(ADD, "missing")(1, 1, ())
        with pytest.raises((CompileError, DeviceError), match="missing"):
            iruka.RawModule(ADD).get_function("missing")(1, 1, ())
        for name in ("", " ", "a\nb"):
            with pytest.raises(ValueError, match="is no name of a kernel"):
                iruka.RawKernel(ADD, name)

    @pytest.mark.parametrize("code, words", NO_KERNELS)
    def test_functions_that_are_no_kernels(self, code, words):
        with pytest.raises(CompileError, match=words):
            iruka.RawKernel(code, "f")(1, 1, ())

    @pytest.mark.parametrize("name", ["f // x", "f)", "f; int y", "#if 0", "f<", '"'])
    def test_hostile_names(self, name):
        with pytest.raises((CompileError, TypeError)):
            iruka.RawKernel("__global__ void f(int) {}", name)(1, 1, ())

    def test_errors_of_generated_text_are_hidden(self):
        with pytest.raises(CompileError) as caught:
            iruka.RawKernel("__global__ void f() {}", "missing").compile()
        assert "missing" in str(caught.value) and "iruka::" not in str(caught.value)

    def test_unknown_options(self):
        with pytest.raises(CompileError, match="--no-such-option"):
            iruka.RawKernel(ADD, "add", options=("--no-such-option",)).compile()
        with pytest.raises(TypeError, match="options must be a tuple of str"):
            iruka.RawKernel(ADD, "add", options="-DN=1")

    @pytest.mark.parametrize("keywords, words", [
        ({"backend": "nvcc"}, "leave it out"), ({"backend": "hip"}, "must be 'nvrtc'"),
        ({"translate_cucomplex": True}, "complex<float>"), ({"jitify": True}, "options="),
    ])  # fmt: skip
    def test_other_ways_to_compile_are_refused(self, keywords, words):
        with pytest.raises(ValueError, match=words):
            iruka.RawKernel(ADD, "add", **keywords)
        with pytest.raises(ValueError, match=words):
            iruka.RawModule(code=ADD, **keywords)

    @pytest.mark.cpu_only
    def test_code_for_gpus_alone(self):
        ptx = "//\n// a comment\n.version 8.0\n.target sm_90\n.address_size 64\n"
        with pytest.raises(DeviceError, match="PTX and machine code run on GPUs"):
            iruka.RawModule(ptx).get_function("f")(1, 1, ())
        with pytest.raises(DeviceError, match="PTX and machine code run on GPUs"):
            iruka.RawModule(ptx).compile()

    def test_assertions_name_the_kernel(self):
        code = 'extern "C" __global__ void f(int n) { assert(n < 5); }'
        kernel = iruka.RawKernel(code, "f")
        kernel(1, 1, (4,))
        if iruka.default_device().name == "cpu":
            with pytest.raises(DeviceError, match="n < 5"):
                kernel(1, 1, (5,))


class TestObjects:
    def test_what_a_kernel_tells(self):
        kernel = iruka.RawKernel(ADD, "add", ("-DN=1",), enable_cooperative_groups=True)
        assert kernel.name == "add" and kernel.code == ADD and kernel.options == ("-DN=1",)
        assert kernel.backend == "nvrtc" and kernel.file_path is None and kernel.enable_cooperative_groups
        assert repr(kernel) == "<RawKernel add(const float* x, const float* y, float* z, int n)>"
        assert kernel.kernel == kernel
        module = iruka.RawModule(code=ADD, options=("-DN=1",), name_expressions=("add",))
        assert module.code == ADD and module.name_expressions == ("add",) and repr(module) == "<RawModule>"

    @pytest.mark.parametrize("code, name, expected", [
        ("__global__ void f() {}", "f", "f()"), ("int g; __global__ void f(int);", "g", "g"),
        ("template <class T>\n__global__ void __launch_bounds__(32)\n  scale(T *x,\n\tT /* by */ by)\n{}", "scale<float>",
         "scale<float>(T *x, T by)"),
        ("namespace n { __global__ void f(void (*way)(int), int (&y)[3]) {} }", "n::f", "n::f(void (*way)(int), int (&y)[3])"),
        ("// __global__ void f(int)\n__global__ void f(float x", "f", "f(float)"), (".version 8.0\n", "f", "f"),
    ])  # fmt: skip
    def test_what_a_kernel_shows(self, code, name, expected):
        assert repr(iruka.RawKernel(code, name)) == f"<RawKernel {expected}>"

    def test_attributes(self):
        kernel = add_kernel()
        assert set(kernel.attributes) == {
            "max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes", "num_regs",
            "ptx_version", "binary_version", "cache_mode_ca", "max_dynamic_shared_size_bytes",
            "preferred_shared_memory_carveout",
        }  # fmt: skip
        for name, value in kernel.attributes.items():
            assert getattr(kernel, name) == value
        assert kernel.max_threads_per_block == 1024 and kernel.max_dynamic_shared_size_bytes >= 48 * 1024
        kernel.max_dynamic_shared_size_bytes = 60 * 1024
        kernel.preferred_shared_memory_carveout = 50
        for name, value in [("max_dynamic_shared_size_bytes", 2**40), ("max_dynamic_shared_size_bytes", -1),
                            ("preferred_shared_memory_carveout", 101)]:  # fmt: skip
            with pytest.raises(ValueError, match=name):
                setattr(kernel, name, value)

    def test_attributes_of_memory(self):
        code = """__constant__ double weights[10];
        __constant__ int one;
        extern "C" __global__ void __launch_bounds__(96) f(double* x) {
          __shared__ float first[100];
          __shared__ double second[3];
          first[threadIdx.x] = x[threadIdx.x];
          second[threadIdx.x % 3] = one;
          __syncthreads();
          x[threadIdx.x] = first[99 - threadIdx.x] + second[0] + weights[threadIdx.x % 10];
        }
        extern "C" __global__ void __launch_bounds__(500, 2) g(int* x, int n) {
          int own[300];
          for (int k = 0; k < 300; ++k) own[k] = x[k];
          for (int k = 0; k < n; ++k) own[x[k] % 300] += own[x[k + 1] % 300];
          x[threadIdx.x] = own[threadIdx.x % 300];
        }
        template <int threads> __global__ void __launch_bounds__(threads) h() {}"""
        module = iruka.RawModule(code=code, name_expressions=("h<64>",))
        f, g, h = (module.get_function(name) for name in ("f", "g", "h<64>"))
        assert f.shared_size_bytes == 424 and g.shared_size_bytes == 0 and f.const_size_bytes >= 84
        assert f.max_threads_per_block == 96 and h.max_threads_per_block == 64
        assert g.max_threads_per_block >= 500 and f.local_size_bytes < 1200 <= g.local_size_bytes
        with pytest.raises(ValueError, match="at most 96"):
            f((1,), (97,), (iruka.zeros(97),))

    @pytest.mark.cpu_only
    def test_dynamic_memory_that_was_allowed(self):
        kernel = add_kernel()
        assert kernel.max_dynamic_shared_size_bytes == 227 * 1024
        kernel.max_dynamic_shared_size_bytes = 1000
        assert kernel.max_dynamic_shared_size_bytes == 1000
        with pytest.raises(ValueError, match="max_dynamic_shared_size_bytes allows a block 1000 bytes.*not 1001"):
            kernel(1, 1, (None, None, None, 0), shared_mem=1001)
        kernel(1, 1, (None, None, None, 0), shared_mem=1000)

    def test_modules_compile_their_name_expressions(self):
        code = "template <class T> __global__ void f(T* x) { x[0] = x[0].missing; }"
        iruka.RawModule(code=code).compile()
        with pytest.raises(CompileError, match="missing"):
            iruka.RawModule(code=code, name_expressions=("f<float>",)).compile()

    def test_pickling(self, tmp_path):
        path = tmp_path / "add.cu"
        path.write_text(ADD)
        kernel = iruka.RawKernel(ADD, "add", ("-DN=1",), enable_cooperative_groups=True)
        for made in (kernel, iruka.RawModule(ADD), iruka.RawModule(path=path, name_expressions=("add",))):
            copy = pickle.loads(pickle.dumps(made))
            assert type(copy) is type(made) and copy == made and hash(copy) == hash(made)
            assert copy.enable_cooperative_groups == made.enable_cooperative_groups
        x, y, gx, gy, gz = arrays()
        function = pickle.loads(pickle.dumps(iruka.RawModule(ADD).get_function("add")))
        function((8,), (128,), (gx, gy, gz, 1000))
        np.testing.assert_array_equal(iruka.asnumpy(gz), x + y)

    def test_comparing(self):
        kernel = add_kernel()
        assert kernel == add_kernel() and hash(kernel) == hash(add_kernel())
        for other in (iruka.RawKernel(ADD + " ", "add"), iruka.RawKernel(ADD, "add", ("-DN",)),
                      iruka.RawKernel(ADD, "add", enable_cooperative_groups=True), iruka.RawModule(ADD), 5):  # fmt: skip
            assert kernel != other

    def test_log_streams_get_warnings(self):
        class Log:
            text = ""

            def write(self, text):
                self.text += text

        log = Log()
        iruka.RawKernel('extern "C" __global__ void f(int n) { n + 1; }', "f").compile(log_stream=log)
        assert "code, line 1" in log.text

    def test_a_kernel_without_init(self):
        with pytest.raises(TypeError, match="__init__"):
            iruka.RawKernel.__new__(iruka.RawKernel)(1, 1, ())


class TestVariables:
    CODE = """
    __constant__ float weights[4];
    __device__ int counter;
    extern "C" __global__ void apply(float* x) {
      x[threadIdx.x] *= weights[threadIdx.x];
      atomicAdd(&counter, 1);
    }
    """

    def test_variables_are_shared_with_the_host(self):
        module = iruka.RawModule(self.CODE)
        weights = iruka.ndarray(4, "f4", module.get_global("weights"))
        counter = iruka.ndarray((), "i4", module.get_global("counter"))
        weights[...] = on_device(np.array([1, 2, 3, 4], "f4"))
        x = iruka.ones(4, "f4")
        for _ in range(2):
            module.get_function("apply")(1, 4, (x,))
        np.testing.assert_array_equal(iruka.asnumpy(x), [1, 4, 9, 16])
        assert int(counter) == 8

    def test_missing_variables(self):
        with pytest.raises(DeviceError, match="'missing'"):
            iruka.RawModule(self.CODE).get_global("missing")

    def test_extent_is_checked(self):
        memory = iruka.RawModule(self.CODE).get_global("weights")
        with pytest.raises(ValueError, match="16"):
            iruka.ndarray(5, "f4", memory)


class TestBlocks:
    """Threads of a block that work together: barriers, shared memory, warps."""

    def test_dynamic_shared_memory(self):
        code = """extern "C" __global__ void reverse(int* x) {
          extern __shared__ int held[];
          held[threadIdx.x] = x[threadIdx.x];
          __syncthreads();
          x[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
        }"""
        x = iruka.arange(200, dtype="i4")
        iruka.RawKernel(code, "reverse")((1,), (200,), (x,), shared_mem=800)
        np.testing.assert_array_equal(iruka.asnumpy(x), np.arange(200)[::-1])

    @pytest.mark.cpu_only
    def test_large_memory_is_given_back(self):
        code = """__shared__ char held[200 << 20];
        extern "C" __global__ void f(int* x) {
          for (int k = threadIdx.x; k < sizeof(held); k += 4096) held[k] = 1;
          __syncthreads();
          x[blockIdx.x] = held[8192];
        }"""

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        kernel, x = iruka.RawKernel(code, "f"), iruka.zeros(2, "i4")
        kernel.compile()
        before = resident()
        for _ in range(3):
            kernel((2,), (1,), (x,))
        np.testing.assert_array_equal(iruka.asnumpy(x), [1, 1])
        assert resident() < before + (100 << 20)

    def test_sum_in_shared_memory(self):
        code = """extern "C" __global__ void sum(const float* x, float* out, int n) {
          __shared__ float part[256];
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          part[threadIdx.x] = i < n ? x[i] : 0.f;
          for (int step = blockDim.x / 2; step > 0; step /= 2) {
            __syncthreads();
            if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
          }
          if (threadIdx.x == 0) out[blockIdx.x] = part[0];
        }"""
        x = np.arange(1000, dtype="f4")
        out = iruka.zeros(4, "f4")
        iruka.RawKernel(code, "sum")((4,), (256,), (on_device(x), out, 1000))
        expected = np.pad(x, (0, 24)).reshape(4, 256).sum(1)
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)

    def test_scan_by_shuffles(self):
        code = """extern "C" __global__ void scan(int* x) {
          int lane = threadIdx.x, value = x[lane];
          for (int step = 1; step < 32; step *= 2) {
            int other = __shfl_up_sync(0xffffffff, value, step);
            if (lane >= step) value += other;
          }
          x[lane] = value;
        }"""
        x = np.arange(32, dtype="i4") ** 2
        given = on_device(x)
        iruka.RawKernel(code, "scan")((1,), (32,), (given,))
        np.testing.assert_array_equal(iruka.asnumpy(given), np.cumsum(x))


@pytest.mark.parametrize("options", [("-O0",), ("-O1",), ("-O0", "--lanes=8")])
@pytest.mark.cpu_only  # options of the CPU's compiler
def test_without_optimisation(options):
    code = """extern "C" __global__ void k(const int* p, float* o) {
        const int t = blockIdx.x * blockDim.x + threadIdx.x;
        float table[4] = {1, 2, 3, 4};
        for (int k = 0; k < p[t]; ++k) table[k & 3] += k;
        o[t] = table[p[t] & 3];
    }"""
    p = np.arange(64, dtype="int32") % 9
    expected = []
    for count in p:
        table = [1, 2, 3, 4]
        for k in range(count):
            table[k & 3] += k
        expected.append(table[count & 3])
    o = iruka.zeros(64, "float32")
    iruka.RawKernel(code, "k", options=options)((2,), (32,), (iruka.array(p), o))
    assert o.tolist() == expected
