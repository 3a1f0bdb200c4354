"""RawKernel and RawModule over a driver in software: what a GPU's driver is given. Kernels are launched and do nothing."""

from fake_driver import needs_fake_driver, run
from test_raw_kernel import NO_KERNELS

pytestmark = needs_fake_driver

SETUP = """
def keep(*sizes):
    kept = ctypes.create_string_buffer(sum(sizes))
    driver.fake_driver_keep_parameters((ctypes.c_size_t * len(sizes))(*sizes), ctypes.c_size_t(len(sizes)), kept)
    return kept
def last_launch():
    numbers = (ctypes.c_uint * 8)()
    driver.fake_driver_last_launch(numbers)
    return list(numbers)
"""


def launch(code):
    run(SETUP + code)


def test_grids_and_parameters():
    launch("""
code = '''struct Point { double x, y; int n; };
template <class T> __global__ void f(const T* x, T factor, Point p, short s) {}
__global__ void g(int n) {}'''
module = iruka.RawModule(code, name_expressions=("f<float>",), enable_cooperative_groups=False)
x = iruka.ones(5, "f4")
point = np.array([(1, 2, 3)], np.dtype([("x", "f8"), ("y", "f8"), ("n", "i4")], align=True))[0]
kept = keep(8, 4, 24, 2)
module.get_function("f<float>")((2, 3, 4), (8, 4, 2), (x, 2, point, -7), shared_mem=1000)
assert last_launch() == [2, 3, 4, 8, 4, 2, 1000, 0]
pointer, factor, given, s = np.frombuffer(
    kept.raw, np.dtype([("x", "u8"), ("factor", "f4"), ("point", point.dtype), ("s", "i2")]))[0]
assert (pointer, factor, s) == (x.data.ptr, 2, -7) and given == point
kept = keep(4)
module.get_function("g")(1, 1, (2**31 - 1,))
assert kept.raw == (2**31 - 1).to_bytes(4, "little")
raises(TypeError, lambda: module.get_function("g")(1, 1, (1.5,)), "g(): argument 1 (int32)")
raises(TypeError, lambda: module.get_function("f<float>")(1, 1, (iruka.ones(5), 2, point, 1)), "array of float64")
raises(ValueError, lambda: module.get_function("g")(1, 1025, (1,)), "1024")
raises(ValueError, lambda: module.get_function("g")(0, 1, (1,)), "1 to 2147483647")
raises(ValueError, lambda: module.get_function("g")((1, 65536), 1, (1,)), "65535")
raises(ValueError, lambda: module.get_function("g")(1, 1, (1,), shared_mem=49 << 10), "max_dynamic_shared_size_bytes")
""")


def test_streams_and_cooperative_launches():
    launch("""
kernel = iruka.RawKernel('extern "C" __global__ void f(int n) {}', "f", enable_cooperative_groups=True)
stream = iruka.cuda.Stream()
driver.fake_driver_hold(ctypes.c_void_p(stream.ptr))
kernel(4, 32, (1,), stream=stream)
assert last_launch() == [4, 1, 1, 32, 1, 1, 0, 1] and not stream.done
driver.fake_driver_let_go(ctypes.c_void_p(stream.ptr))
with stream:
    kernel(4, 32, (1,))
stream.synchronize()
raises(ValueError, lambda: kernel(10**6, 32, (1,)), "cooperatively")
""")


def test_arrays_of_other_devices_and_libraries():
    launch("""
kernel = iruka.RawKernel('extern "C" __global__ void f(float* x, const float* y) {}', "f")
x = iruka.ones(5, "f4")
raises(TypeError, lambda: kernel(1, 1, (x, np.ones(5, "f4"))), "argument 2 is a NumPy array", "iruka.asarray")
raises(TypeError, lambda: kernel(1, 1, (np.ones(5, "f4"), None)), "cuda:0", "iruka.asarray")
raises(ValueError, lambda: kernel(1, 1, (x, x.to_device("cuda:1"))), "cuda:0 and cuda:1")
raises(ValueError, lambda: kernel(1, 1, (x, x.to_device("cpu"))), "cuda:0 and cpu")
class Foreign:
    __cuda_array_interface__ = x.__cuda_array_interface__
kept = keep(8, 8)
kernel(1, 1, (Foreign(), None))
assert np.frombuffer(kept.raw, "u8").tolist() == [x.data.ptr, 0]
other = x.to_device("cuda:1")
kernel(1, 1, (other, other))
""")


def test_attributes_and_variables():
    launch("""
module = iruka.RawModule('__constant__ float c[4]; extern "C" __global__ void f(float* x) { *x = c[1]; }')
kernel = module.get_function("f")
assert kernel.max_threads_per_block == 1024 and kernel.attributes["max_dynamic_shared_size_bytes"] == 48 << 10
kernel.max_dynamic_shared_size_bytes = 100_000
assert kernel.max_dynamic_shared_size_bytes == 100_000
kernel(1, 1, (iruka.ones(1, "f4"),), shared_mem=100_000)
raises(ValueError, lambda: setattr(kernel, "max_dynamic_shared_size_bytes", 10**6), "10")
raises(ValueError, lambda: setattr(kernel, "preferred_shared_memory_carveout", 101), "101")
memory = (ctypes.c_float * 4)(1, 2, 3, 4)
driver.fake_driver_set_global(b"c", memory, ctypes.c_size_t(16))
c = iruka.ndarray(4, "f4", module.get_global("c"))
assert c.get().tolist() == [1, 2, 3, 4]
raises(iruka.errors.DeviceError, lambda: module.get_global("d"), "'d'")
""")


def test_ptx():
    launch("""
ptx = "//\\n.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry f(.param .u64 a, .param .f32 b) { ret; }"
sizes = (ctypes.c_size_t * 2)(8, 4)
driver.fake_driver_set_parameters(sizes, ctypes.c_size_t(2))
kernel, x = iruka.RawModule(ptx).get_function("f"), iruka.ones(3, "f4")
for value, expected in [(np.float32(1.5), np.float32(1.5)), (1.5, np.float32(1.5)), (-3, np.int32(-3)),
                        (2**32 - 1, np.uint32(2**32 - 1))]:
    kept = keep(8, 4)
    kernel(1, 1, (x, value))
    assert kept.raw == np.uint64(x.data.ptr).tobytes() + expected.tobytes()
raises(TypeError, lambda: kernel(1, 1, (x,)), "2 parameters", "not 1")
raises(TypeError, lambda: kernel(1, 1, (x, x)), "is an array of float32")
raises(TypeError, lambda: kernel(1, 1, (x, np.float64(1))), "give a NumPy scalar of the parameter's type")
raises(OverflowError, lambda: kernel(1, 1, (x, 2**32)), "does not fit")
""")


def test_errors_quote_the_users_line():
    launch("""
raises(iruka.errors.CompileError, lambda: iruka.RawKernel('extern "C" __global__ void f() {\\n  wrong;\\n}', "f").compile(),
       "code, line 2", "wrong")
raises(iruka.errors.CompileError, lambda: iruka.RawKernel("__global__ void f() {}", "g").compile(), "g")
raises(iruka.errors.CompileError, lambda: iruka.RawModule("__global__ void f() {}\\n#error no").compile(), "code, line 2")
""")


def test_functions_that_are_no_kernels():
    launch(f"""
for code, words in {NO_KERNELS!r}:
    raises(iruka.errors.CompileError, lambda: iruka.RawKernel(code, "f").compile(), words)
""")


def test_kernels_join_graphs_at_their_first_launch():
    launch("""
kernel = iruka.RawKernel('extern "C" __global__ void f(int n) {}', "f")
module = iruka.RawModule('__device__ int c; extern "C" __global__ void g(int n) { c = n; }')
stream = iruka.cuda.Stream(non_blocking=True)
stream.begin_capture()
kernel(4, 32, (1,), stream=stream)
with stream:
    module.get_function("g")(4, 32, (1,))
graph = stream.end_capture()
del kernel, module
gc.collect()
graph.launch(stream)
stream.synchronize()
""")


def test_declarations_that_no_compiler_sees():
    launch("""
module = iruka.RawModule('''
#if 0
__global__ void absent(int x);
#endif
extern "C" __global__ void present(int x) {}''')
module.get_function("present")(1, 1, (1,))
""")
