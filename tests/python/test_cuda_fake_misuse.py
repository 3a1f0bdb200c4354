"""What goes wrong on a GPU, and how it ends, over the driver in software."""

import pytest

from fake_driver import TOOLKIT, needs_fake_driver, needs_fake_nvrtc, run

pytestmark = needs_fake_driver

HOST_FUNCTIONS = """
streams = [iruka.cuda.Stream(non_blocking=True) for _ in range(4)]
def work(arg):
    for k in range(2000):
        arg.append(k)
def slow(arg):
    time.sleep(0.005)
def again(stream):
    work([])
    stream.launch_host_func(again, stream)
def launch_always():
    while True:
        for stream in streams:
            stream.launch_host_func(work, [])
"""


@pytest.mark.parametrize(
    "ending",
    [
        "for s in streams: hold(s), s.launch_host_func(work, [])",
        "for s in streams: s.launch_host_func(slow, 0), s.launch_host_func(slow, 0)",
        "for s in streams: s.launch_host_func(again, s)",
        "threading.Thread(target=launch_always, daemon=True).start(); time.sleep(0.01)",
    ],
)
def test_processes_end_whatever_functions_are_to_come(ending):
    run(HOST_FUNCTIONS + ending, IRUKA_LEAK_WARNINGS="0")  # functions that never run are dropped with what they use


def test_captures_refuse_what_waits_and_go_on():
    run("""
s = iruka.cuda.Stream(non_blocking=True)
x = iruka.asarray(np.ones(8, "int32"))
refused = [x.get, lambda: str(x), lambda: x[0].item(), lambda: x.tolist(), lambda: iruka.asnumpy(x), s.synchronize,
           lambda: s.done, lambda: x.to_device("cpu"), lambda: x.set(np.zeros(8, "int32")), iruka.cuda.Device(0).synchronize,
           lambda: iruka.asarray([1, 2]), lambda: s.launch_host_func(print, 0)]
with s:
    s.begin_capture()
    x.fill(0)
    for function in refused:
        raises(iruka.errors.DeviceError, function, "captured for a graph", "before begin_capture() or after end_capture()")
    assert s.is_capturing()
    graph = s.end_capture()
    graph.launch()
    assert x.get().tolist() == [0] * 8
event = iruka.cuda.Event()
s.begin_capture()
event.record(s)
raises(iruka.errors.DeviceError, event.synchronize, "captured for a graph", "cuEventQuery")
s.end_capture()
driver.fake_driver_fail(b"cuStreamEndCapture", 901, 1)
s.begin_capture()
raises(iruka.errors.DeviceError, s.end_capture, "CAPTURE_INVALIDATED", "A call that a graph cannot contain has ended the capture")
""")


def test_errors_that_leave_a_stream_end_its_capture():
    run("""
s = iruka.cuda.Stream(non_blocking=True)
x = iruka.asarray(np.ones(8, "int32"))
def fail():
    with s:
        s.begin_capture()
        x.fill(0)
        raise KeyError("mine")
raises(KeyError, fail, "mine")
assert not s.is_capturing() and x.get(stream=s).tolist() == [1] * 8
raises(ValueError, s.end_capture, "`with` statement")
with s:  # and the stream can be captured again
    s.begin_capture()
    x.fill(0)
    s.end_capture().launch()
assert x.get(stream=s).tolist() == [0] * 8
# One that is dropped meanwhile leaves nothing behind either.
t = iruka.cuda.Stream(non_blocking=True)
t.begin_capture()
before = driver.fake_driver_calls(b"cuStreamDestroy")
del t
gc.collect()
assert driver.fake_driver_calls(b"cuStreamDestroy") == before + 1
assert iruka.asarray(np.arange(3)).get().tolist() == [0, 1, 2]
# An error without a capture changes nothing.
def other():
    with s:
        raise KeyError("other")
raises(KeyError, other, "other")
s.synchronize()
""")


KERNELS = """
x = iruka.ones(8, "float32")
for name in ("first", "second", "second", "third"):
    iruka.ElementwiseKernel("float32 x", "float32 y", f"y = x + {ord(name[0])};", name)(x)
"""


def test_lasting_errors_name_the_last_kernels():
    run(
        KERNELS
        + """
driver.fake_driver_fail(b"cuMemcpyAsync", 700, 1)
raises(iruka.errors.DeviceError, x.get, "cuMemcpyAsync", "CUDA_ERROR_ILLEGAL_ADDRESS", "cannot use this GPU any more",
       "latest first: 'third', 'second', 'first'", "CUDA_LAUNCH_BLOCKING=1")
# A driver that refuses everything does not make the stream look captured.
for call in (b"cuStreamIsCapturing", b"cuStreamQuery", b"cuMemcpyAsync", b"cuLaunchHostFunc", b"cuStreamSynchronize"):
    driver.fake_driver_fail(call, 700, 1000)
s = iruka.cuda.Stream.null
for function in (x.get, s.synchronize, lambda: s.done, lambda: s.launch_host_func(print, 0), lambda: iruka.asarray([1.0])):
    try:
        function()
    except iruka.errors.DeviceError as error:
        assert "capture" not in str(error) and "'third'" in str(error), error
    else:
        raise AssertionError("no DeviceError")
for call in (b"cuStreamIsCapturing", b"cuStreamQuery", b"cuMemcpyAsync", b"cuLaunchHostFunc", b"cuStreamSynchronize"):
    driver.fake_driver_fail(call, 0, 0)
driver.fake_driver_fail(b"cuMemcpyAsync", 1, 1)  # an error of one call blames no kernel
try:
    x.get()
except iruka.errors.DeviceError as error:
    assert "'third'" not in str(error), error
driver.fake_driver_fail(b"cuMemcpyAsync", 710, 1)
raises(iruka.errors.DeviceError, x.get, "assert()", "standard error")
"""
    )


def test_blocking_launches_name_the_kernel():
    run(
        """
kernel = iruka.ElementwiseKernel("float32 x", "float32 y", "y = x;", "guilty")
x = iruka.ones(8, "float32")
kernel(x)
before = driver.fake_driver_calls(b"cuStreamSynchronize")
for _ in range(20):
    kernel(x)
assert driver.fake_driver_calls(b"cuStreamSynchronize") == before + 20
driver.fake_driver_fail(b"cuStreamSynchronize", 700, 1)
try:
    kernel(x)
except iruka.errors.DeviceError as error:
    assert "'guilty'" in str(error) and "cannot use this GPU any more" in str(error) and "latest" not in str(error), error
else:
    raise AssertionError("no DeviceError")
""",
        CUDA_LAUNCH_BLOCKING="1",
    )


def test_bodies_may_use_what_only_cuda_has():
    run("""
CompileError = iruka.errors.CompileError
for body in ("unsigned v = __activemask(); y = v;", "float4 v = make_float4(x, 0, 0, 0); y = v.x;", "y = __shfl_sync(0xffffffffu, x, 0);",
             "y = threadIdx.x;"):
    iruka.ElementwiseKernel("float32 x", "float32 y", body, "only_cuda")(iruka.ones(4, "float32"))
raises(CompileError, lambda: iruka.ElementwiseKernel("float32 x", "float32 y", "y = __activemask() + missing;", "wrong"),
       "kernel 'wrong' does not compile", "operation, line 1", "missing")
raises(CompileError, lambda: iruka.ElementwiseKernel("float32 x", "float32 y", "y = x +;", "wrong"), "operation, line 1")
# Raw arrays make a body a template, in which NVRTC overlooks unknown names.
iruka.ElementwiseKernel("raw float32 x", "float32 y", "float4 v = make_float4(x[i], 0, 0, 0); y = v.x;", "raw")
for body, name in (("y = x[i] + clock65();", "clock65"), ("y = xx[i];", "xx"), ("flaot4 v; y = x[i];", "flaot4")):
    raises(CompileError, lambda: iruka.ElementwiseKernel("raw float32 x", "float32 y", body, "raw"), "operation, line 1", name)
with iruka.device("cpu"):
    raises(CompileError, lambda: iruka.ElementwiseKernel("float32 x", "float32 y", "float4 v; y = x;", "host"), "float4")
""")


def test_kernels_take_arrays_of_other_libraries():
    run("""
class Foreign:
    def __init__(self, array): self.__cuda_array_interface__ = array.__cuda_array_interface__
kernel = iruka.ElementwiseKernel("T x, T y", "T z", "z = x + y;", "sum_of_two")
a = iruka.asarray(np.ones(8, "float32"))
for other in (Foreign(a), np.ones(8, "float32"), np.float32(2), 2):
    assert kernel(a, other).shape == kernel(other, a).shape == (8,) and kernel(a, other).device == a.device
copies = driver.fake_driver_calls(b"cuMemcpyAsync")
kernel(a, Foreign(a))
assert driver.fake_driver_calls(b"cuMemcpyAsync") == copies
raises(TypeError, lambda: kernel(a, a, Foreign(a)), "argument 3 (T z)", "iruka.asarray(it)")
raises(TypeError, lambda: kernel(a, a, np.ones(8, "float32")), "argument 3 (T z)", "numpy.ndarray", "writes")
raises(TypeError, lambda: kernel(a, "text"), "nsupported type <class 'str'>")
change = iruka.ElementwiseKernel("_non_const float32 x", "float32 y", "x = 2; y = x;", "change")
raises(TypeError, lambda: change(np.ones(8, "float32")), "writes")
""")


def test_cupys_modules_and_what_is_not_there():
    run("""
from iruka.cuda.memory import OutOfMemoryError, MemoryPool
from iruka.cuda.compiler import CompileException
from iruka.cuda.stream import Stream, get_elapsed_time
import iruka.cuda.pinned_memory, iruka.cuda.device
assert OutOfMemoryError is iruka.errors.OutOfMemoryError and CompileException is iruka.errors.CompileError
assert iruka.cuda.runtime.CUDARuntimeError is iruka.cuda.driver.CUDADriverError is iruka.errors.DeviceError
assert iruka.cuda.stream.Stream is iruka.cuda.Stream and iruka.cuda.graph.Graph is iruka.cuda.Graph
assert iruka.cuda.pinned_memory.alloc_pinned_memory is iruka.cuda.alloc_pinned_memory
assert iruka.cuda.device.Device is iruka.cuda.Device and iruka.cuda.memory_hook.MemoryHook is iruka.cuda.MemoryHook
raises(AttributeError, lambda: iruka.cuda.RawKernel, "iruka.RawKernel")
raises(AttributeError, lambda: iruka.cuda.set_allocator, "set_limit")
raises(AttributeError, lambda: iruka.cuda.nothing, "it has", "Stream")
try:
    iruka.empty(1 << 40, "uint8")
except iruka.cuda.memory.OutOfMemoryError:
    pass
""")


def test_two_devices_in_equations():
    run("""
g, c = iruka.ones((3, 3)), iruka.ones((3, 3), device="cpu")
for a, b in ((g, c), (c, g)):
    raises(iruka.errors.DeviceError, lambda: iruka.linalg.solve(a, b), "solve: the arrays are on", "cpu", "cuda:0")
""")


@needs_fake_nvrtc
def test_an_output_on_another_device():
    run("""
for here, there in (("cuda:0", "cpu"), ("cpu", "cuda:0")):
    x = iruka.ones((3, 3), device=here)
    out, row = iruka.zeros((3, 3), device=there), iruka.zeros(3, device=there)
    for use in (
        lambda: iruka.add(x, x, out=out), lambda: x.__iadd__(out), lambda: iruka.sum(x, axis=0, out=row),
        lambda: iruka.argmax(x, axis=0, out=row.astype("int64")), lambda: iruka.add.reduce(x, out=row),
        lambda: iruka.add.accumulate(x, out=out), lambda: iruka.cumsum(x, 0, out=out),
        lambda: iruka.matmul(x, x, out=out),
        lambda: iruka.take(x, [0, 1, 2], 0, out=out), lambda: iruka.concatenate([x[:1], x[1:]], out=out),
        lambda: iruka.mean(x, axis=0, out=row), lambda: iruka.var(x, axis=0, out=row), lambda: iruka.dot(x, x, out=out),
    ):
        raises(ValueError, use, "is on " + here, "is on " + there)
    assert out.tolist() == [[0.0] * 3] * 3 and row.tolist() == [0.0] * 3
    raises(ValueError, lambda: iruka.polyval(row, x), "is on " + here, "is on " + there)
    assert iruka.polyval([2, 1], x).device == x.device and iruka.polyval(row, 2.0).device == row.device
""")


@needs_fake_nvrtc
def test_two_devices_in_an_index():
    """No index, mask or operand is copied between devices implicitly; only NumPy arrays and lists are."""
    run(
        """
g = iruka.asarray(np.arange(12.0).reshape(4, 3))
c = iruka.asarray(np.arange(12.0).reshape(4, 3), device="cpu")
at = np.array([0, 2])
gi, ci = iruka.asarray(at), iruka.asarray(at, device="cpu")
gm, cm = iruka.asarray(np.ones(4, bool)), iruka.asarray(np.ones(4, bool), device="cpu")
g0, c0 = iruka.asarray(np.array(True)), iruka.asarray(np.array(True), device="cpu")
def assign(x, index, value=0): x[index] = value
for x, i, m, places in ((g, ci, cm, ("is on cpu, but the array is on cuda:0",)), (c, gi, gm, ("is on cuda:0, but the array is on cpu",))):
    for use in (
        lambda: x[i], lambda: x[:, i], lambda: x[i, 1], lambda: x[m], lambda: x[m, 0], lambda: iruka.take(x, i),
        lambda: x.take(i, axis=1), lambda: iruka.take_along_axis(x, i[:, None], 0), lambda: assign(x, i), lambda: assign(x, m),
        lambda: assign(x, (i, 0), x[0, :2]), lambda: iruka.put(x, i, 0), lambda: x.flat[i], lambda: assign(x.flat, i),
        lambda: iruka.put_along_axis(x, i[:, None], 0, 0), lambda: iruka.add.at(x, i, 1),
    ):
        raises(ValueError, use, *places, "to_device()")
raises(ValueError, lambda: c[g0], "a mask is on cuda:0, but the array is on cpu")
raises(ValueError, lambda: iruka.add.at(c, (0, 0), g[0, :1]), "at: the second operand is on cuda:0")
raises(ValueError, lambda: iruka.add.at(g, (0, 0), c[0, :1]), "at: the second operand is on cpu")
for use in (lambda: iruka.compress(cm, g, 0), lambda: iruka.extract(cm, g[:, 0]), lambda: iruka.place(g[:, 0], cm, [1])):
    raises(ValueError, use, "is on cpu, but the array is on cuda:0")
raises(ValueError, lambda: iruka.repeat(c, iruka.asarray(np.arange(4)), 0), "repeat: repeats is on cuda:0")
raises(ValueError, lambda: iruka.where(cm, g[:, 0], 0), "cpu", "cuda:0")
raises(ValueError, lambda: iruka.where(gm, c[:, 0], 0), "cpu", "cuda:0")
# NumPy arrays, lists and integers of the CPU; the kernels themselves do nothing here.
for index in (at, [0, 2], np.ones(4, bool)[:2].nonzero(), (at, 1), (slice(None), at)):
    assert g[index].shape == c[index].shape
    assign(g, index)
assert g.take(at).shape == (2,) and g[c0].shape == (1, 4, 3) and g[np.True_].shape == (1, 4, 3)
assert g[ci[1]].tolist() == [6, 7, 8] and g[ci.max()].tolist() == [6, 7, 8]
iruka.add.at(g, at, np.ones((2, 3)))
# Values to assign come from wherever they are.
c[...] = 0
c[1:3] = g[:2]
c[at] = g[2]
c[cm, 1] = iruka.asarray(np.arange(4.0) + 20)
assert c.tolist() == [[6, 20, 8], [0, 21, 2], [6, 22, 8], [0, 23, 0]]
iruka.put(c, [0, 1], g[0, :2])
iruka.putmask(c, np.eye(4, 3), g[1])
assert c[:2].tolist() == [[3, 1, 8], [0, 4, 2]]
g[2] = c[1]
assert g[2].tolist() == [0, 4, 2]
""",
        CUDA_PATH=str(TOOLKIT),
    )


def test_a_copy_to_page_locked_memory_is_over_when_it_returns():
    run("""
import threading
s = iruka.cuda.Stream(non_blocking=True)
a = iruka.empty(1000, "int32")
a.set(np.full(1000, 5, "int32"))
pinned = iruka.cuda.zeros_pinned(1000, "int32")
host = iruka.asarray(pinned, device="cpu")
hold(s)

def assign():
    with s:
        host[...] = a
        sums.append(int(pinned.sum()))

sums, thread = [], threading.Thread(target=assign)
thread.start()
thread.join(0.3)
assert thread.is_alive() and not sums
let_go(s)
thread.join()
assert sums == [5000]
del host  # owners of memory that still exists at exit are not released
""")


def test_raw_kernels_that_only_the_cpus_compiler_dislikes():
    run("""
for preamble in ("__constant__ float table[4];",
                 "#ifndef __CUDACC__\\n#error for GPUs\\n#endif"):
    iruka.ElementwiseKernel("raw float32 x", "float32 y", "y = x[i];", "raw", preamble=preamble)
""")
