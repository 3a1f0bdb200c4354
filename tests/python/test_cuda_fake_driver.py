"""CUDA from Python over a driver in software: everything but what kernels compute (they are launched and do nothing).

Runs wherever the C++ tests were built.
"""

from fake_driver import needs_fake_driver, run

pytestmark = needs_fake_driver


def test_devices():
    run("""
reason = iruka.cuda.unavailable_reason()
assert iruka.cuda.is_available() == (reason == "") and (reason == "" or "NVRTC" in reason)
gpu = iruka.cuda.Device(1)
assert repr(gpu) == "<CUDA Device 1>" and gpu.id == 1 and gpu.name == "cuda:1"
assert gpu.compute_capability == "90" and gpu.pci_bus_id == "0000:1C:00.0"
assert gpu.mem_info == (2**30, 2**30) and gpu.attributes["WarpSize"] == 32
assert iruka.cuda.Device() == iruka.default_device() == iruka.device("cuda") == iruka.cuda.Device(0)
with gpu:
    assert iruka.default_device() == gpu and iruka.empty(3).device == gpu and iruka.cuda.get_device_id() == 1
    with iruka.device("cpu"):
        assert iruka.empty(3).device.name == "cpu"
        with gpu, gpu:
            assert iruka.default_device() == gpu
        assert iruka.cuda.Device().name == "cpu"
    assert iruka.default_device() == gpu
assert iruka.default_device().id == 0
gpu.use()
assert iruka.empty(1).device == gpu
threading_device = []
thread = threading.Thread(target=lambda: threading_device.append(iruka.default_device().id))
thread.start(), thread.join()
assert threading_device == [0]
runtime = iruka.cuda.runtime
assert runtime.getDeviceCount() == 2 and runtime.getDevice() == 1 and runtime.driverGetVersion() == 13000
assert runtime.getDeviceProperties(0)["name"] == b"Device in software"
assert runtime.getDeviceProperties(0)["multiProcessorCount"] == 132 and runtime.memGetInfo()[1] == 2**30
runtime.setDevice(0), runtime.deviceSynchronize()
raises(iruka.errors.DeviceError, lambda: iruka.cuda.Device(2), "cuda:2", "2 GPUs")
raises(TypeError, lambda: iruka.cuda.Device(1.5))
raises(AttributeError, lambda: iruka.cuda.nonsense, "nonsense", "Stream")
""")


def test_lists_of_a_gpus_arrays_stay_there():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
five, pair = iruka.asarray(5), iruka.asarray([1.0, 2])
for made, shape, dtype in ((iruka.add([five, five], 1), (2,), "int64"), (iruka.negative([pair, (five, 2.5)]), (2, 2), "float64"),
                           (iruka.asarray([[five], [7]], "int8"), (2, 1), "int8")):
    assert made.device.id == 0 and made.shape == shape and made.dtype == dtype, (made.shape, made.dtype)
own = iruka.zeros(2, "int8")
own[:] = [five, five]
own[[0, 1]] = (five, 3)
raises(OverflowError, lambda: own.__setitem__(slice(None), [300, 1]), "300")
""")


def test_arrays_go_there_and_back():
    run("""
for shape in ((), (5,), (3, 4), (0, 2), (1000, 1000)):
    for dtype in ("bool", "int16", "float32", "complex128", "float16"):
        x = np.asarray(np.random.default_rng(0).integers(0, 2, shape)).astype(dtype)
        a = iruka.asarray(x)
        assert a.device.id == 0 and a.dtype == x.dtype and a.shape == x.shape
        for back in (a.get(), iruka.asnumpy(a), a.get(order="A"), a.to_device("cpu").get(), a.to_device(1).get(),
                     np.array(a.tolist(), dtype).reshape(shape), np.frombuffer(a.tobytes(), dtype).reshape(shape)):
            assert back.dtype == x.dtype
            np.testing.assert_array_equal(back, x)
x = np.arange(12.0).reshape(3, 4)
a = iruka.asarray(x.T)
assert a.strides == x.T.strides
assert a.get().flags.c_contiguous and a.get(order="F").flags.f_contiguous and a.get(order="A").flags.f_contiguous
assert a.get(order="A").tolist() == x.T.tolist() == a.get(order="F").tolist() == a.tolist()
out = np.zeros((4, 3), order="F")
assert a.get(out=out) is out and out.tolist() == x.T.tolist()
a = iruka.asarray(x.T.copy())
out = np.zeros((4, 3))
assert a.get(out=out) is out and out.tolist() == x.T.tolist()
out = np.zeros((4, 6), "float32")[:, ::2]
assert iruka.asnumpy(a, out=out) is out and out.tolist() == x.T.tolist()
a.set(-x.T)
assert a.get().tolist() == (-x.T).tolist()
raises(TypeError, lambda: a.get(out=[1]), "numpy.ndarray")
with iruka.device("cpu"):
    assert iruka.asarray(x, device="cuda:1").device.id == 1 and iruka.asarray(x).device.name == "cpu"
    assert iruka.asarray(iruka.asarray(x, device=0)).device.name == "cuda:0"
raises(ValueError, lambda: iruka.asarray(a, device="cpu", copy=False), "copy=False")
assert iruka.asarray(3.5).item() == 3.5 and iruka.asarray([1, 2]).tolist() == [1, 2]
assert repr(iruka.asarray([1, 2])) == "array([1, 2])" and str(iruka.asarray([1, 2])) == "[1 2]"
a0, a1 = iruka.asarray([1, 2]), iruka.asarray([3, 4])
assert iruka.array([a0, a1]).tolist() == [[1, 2], [3, 4]] and iruka.array((a0, [a1][0])).device.id == 0
assert iruka.asarray([a0, a1], dtype="int64").shape == (2, 2)
assert iruka.zeros_like(iruka.asarray([1], device="cpu")).device.name == "cpu"
assert iruka.get_array_module(a, x) is iruka and iruka.get_array_module(x) is np
import pickle
assert pickle.loads(pickle.dumps(a)).get().tolist() == a.get().tolist() and pickle.loads(pickle.dumps(a)).device.id == 0
""")


def test_nothing_is_converted_unasked():
    run("""
a = iruka.empty(3)
text = "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
for convert in (np.asarray, np.array, memoryview, bytes, lambda x: x.__array__()):
    raises(TypeError, lambda: convert(a), text)
x = np.ones(3)
raises(TypeError, lambda: np.add(a, 1, out=x), "numpy.ndarray", "cuda:0")
raises(AttributeError, lambda: iruka.empty(3).to_device("cpu").__cuda_array_interface__, "to_device")
""")


def test_streams_and_events():
    run("""
s = iruka.cuda.Stream(non_blocking=True)
null = iruka.cuda.Stream.null
assert iruka.cuda.get_current_stream() is null and null.ptr == 0 and s.ptr > 2 and s.device_id == 0
with s:
    assert iruka.cuda.get_current_stream() is s
    with iruka.cuda.Stream.ptds, s:
        assert iruka.cuda.get_current_stream() is s
    assert iruka.cuda.get_current_stream() is s
assert iruka.cuda.get_current_stream() is null
assert iruka.cuda.ExternalStream(s.ptr) == s and s != null and s.__cuda_stream__() == (0, s.ptr)
event = iruka.cuda.Event()
hold(s)
event.record(s)
assert not event.done and not s.done and null.done
raises(iruka.errors.DeviceError, lambda: iruka.cuda.get_elapsed_time(event, event))
other = iruka.cuda.Stream(non_blocking=True)
other.wait_event(event)
assert not other.done
start = time.perf_counter()
threading.Timer(0.05, lambda: let_go(s)).start()
other.synchronize(), event.synchronize()
assert event.done and other.done and time.perf_counter() - start > 0.03
assert iruka.cuda.get_elapsed_time(event, s.record()) >= 0
x = np.arange(5)
a = iruka.asarray(x)
assert a.get(stream=s).tolist() == x.tolist()
a.set(x + 1, stream=s)
assert a.get(s).tolist() == (x + 1).tolist()
before = driver.fake_driver_calls(b"cuStreamDestroy")
handle = other.use().ptr
del other
gc.collect()
assert iruka.cuda.get_current_stream().ptr == handle
null.use()
gc.collect()
assert driver.fake_driver_calls(b"cuStreamDestroy") == before + 1
raises(ValueError, lambda: iruka.cuda.Stream(null=True, ptds=True))
""")


def test_waits_end_at_ctrl_c():
    run("""
import os, signal
s = iruka.cuda.Stream(non_blocking=True)
event = iruka.cuda.Event()
a = iruka.empty(3)
hold(s), event.record(s)
for wait in (s.synchronize, event.synchronize, lambda: a.get(stream=s), lambda: s.use() and iruka.cuda.Device(0).synchronize()):
    s.record(event)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    raises(KeyboardInterrupt, wait)
    timer.join()
let_go(s)
s.synchronize()
iruka.cuda.Stream.null.use()
""")


def test_other_threads_run_during_waits():
    run("""
s = iruka.cuda.Stream(non_blocking=True)
hold(s), s.record()
count = 0
def work():
    global count
    while count < 1000:
        count += 1
    let_go(s)
thread = threading.Thread(target=work)
thread.start()
s.synchronize()
thread.join()
assert count == 1000
""")


def test_host_functions():
    run("""
import sys, weakref
class Object: pass
argument = Object()
alive = weakref.ref(argument)
calls = []
def note(arg):
    calls.append(("note", arg is alive(), threading.current_thread() is threading.main_thread()))
s = iruka.cuda.Stream(non_blocking=True)
a = iruka.empty(3)
hold(s)
s.launch_host_func(note, argument)
s.add_callback(lambda stream, status, arg: calls.append((stream is s, status, arg)), "callback")
del argument
time.sleep(0.02)
assert not calls and alive() is not None and not s.done
threading.Timer(0.02, lambda: let_go(s)).start()
s.synchronize()
assert calls == [("note", True, False), (True, 0, "callback")] and alive() is None
# Later work waits for the function, and every wait lets it run.
small = iruka.asarray(np.arange(2))
pinned = iruka.cuda.zeros_pinned(3)
waits = [s.synchronize, lambda: s.record().synchronize(), iruka.cuda.Device(0).synchronize, lambda: a.get(stream=s),
         lambda: s.use() and small[1].item(), lambda: bool(small[1]), lambda: int(small[1]), lambda: small.tolist(),
         lambda: iruka.get_default_memory_pool().free_all_blocks(), lambda: complex(small[1]), lambda: repr(small),
         lambda: iruka.cuda.get_current_stream().done or s.synchronize(), lambda: np.from_dlpack(small, device="cpu")]
for wait in waits:
    before = len(calls)
    s.launch_host_func(lambda arg: (time.sleep(0.02), calls.append(arg)), "slow")
    wait()
    assert len(calls) == before + 1, wait
# So does the wait of a capture that begins while another thread waits for the device.
before = len(calls)
s.launch_host_func(lambda arg: (time.sleep(0.2), calls.append(arg)), "slow")
thread = threading.Thread(target=iruka.get_default_memory_pool().free_all_blocks)
thread.start()
time.sleep(0.05)
t = iruka.cuda.Stream(non_blocking=True)
t.begin_capture()
assert len(calls) == before + 1
t.end_capture()
thread.join()
# Errors are reported, and the next function runs.
seen = []
sys.unraisablehook = lambda told: seen.append((told.exc_type, str(told.exc_value), told.object))
def wrong(arg): raise KeyError(arg)
s.launch_host_func(wrong, "mine")
s.launch_host_func(seen.append, "next")
s.synchronize()
assert seen == [(KeyError, "'mine'", wrong), "next"], seen
raises(TypeError, lambda: s.launch_host_func(3, 0), "callable")
s.begin_capture()
raises(iruka.errors.DeviceError, lambda: s.launch_host_func(print, 0), "captured")
s.end_capture()
driver.fake_driver_fail(b"cuLaunchHostFunc", 700, 1)
argument = Object()
alive = weakref.ref(argument)
raises(iruka.errors.DeviceError, lambda: s.launch_host_func(print, argument), "cuLaunchHostFunc")
del argument
assert alive() is None
iruka.cuda.Stream.null.use()
""")


def test_graphs():
    run("""
s = iruka.cuda.Stream(non_blocking=True)
x = iruka.asarray(np.ones(8, "int32"))
with s:
    s.begin_capture()
    assert s.is_capturing()
    x.fill(0)
    graph = s.end_capture()
    assert not s.is_capturing() and x.get().tolist() == [1] * 8
    graph.upload()
    graph.launch()
    assert x.get().tolist() == [0] * 8
    x.set(np.ones(8, "int32"))
graph.launch(s)
assert x.get(stream=s).tolist() == [0] * 8
before = driver.fake_driver_calls(b"cuGraphExecDestroy")
del graph
gc.collect()
assert driver.fake_driver_calls(b"cuGraphExecDestroy") == before + 1
raises(iruka.errors.DeviceError, iruka.cuda.Stream.null.begin_capture, "cuStreamBeginCapture")
raises(ValueError, lambda: s.begin_capture(mode=7), "7")
raises(TypeError, iruka.cuda.Graph)
""")


def test_pools():
    run("""
pool = iruka.get_default_memory_pool()
a = iruka.empty(1 << 20, "uint8")
assert pool.used_bytes() == 1 << 20 and pool.total_bytes() >= pool.used_bytes()
del a
assert pool.used_bytes() == 0 and pool.n_free_blocks() > 0 and pool.free_bytes() > 0
s = iruka.cuda.Stream()
with s:
    iruka.empty(4 << 20, "uint8")
held = pool.free_bytes()
pool.free_all_blocks(stream=s)
assert 0 < pool.free_bytes() < held
pool.free_all_blocks()
assert pool.free_bytes() == 0 and driver.fake_driver_live_device_bytes() == 0
pool.set_limit(fraction=0.5)
assert pool.get_limit() == 2**29
raises(MemoryError, lambda: iruka.empty(3 << 28, "uint8"), str(3 << 28))
pool.set_limit(size=0)
with iruka.device(1):
    iruka.empty(10)
    assert pool.free_bytes() > 0
assert pool.free_bytes() == 0
with iruka.device("cpu"):
    raises(iruka.errors.DeviceError, pool.n_free_blocks, "CPU")
pinned = iruka.get_default_pinned_memory_pool()
x = iruka.cuda.zeros_pinned((3, 4), "float32", order="F")
assert x.flags.f_contiguous and x.sum() == 0 and pinned.n_free_blocks() >= 0
memory = iruka.cuda.alloc_pinned_memory(64)
assert memory.size() == 64 and np.frombuffer(memory, "float32").size == 16
np.frombuffer(memory, "uint8")[:] = 1
assert iruka.cuda.empty_like_pinned(x).flags.f_contiguous and iruka.cuda.empty_pinned(0).size == 0
assert driver.fake_driver_live_host_bytes() > 0
del x, memory
gc.collect()
pinned.free_all_blocks()
assert driver.fake_driver_live_host_bytes() == 0
""")


def test_mapped_arrays():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
mapped = iruka.cuda.mapped_array((3, 4), "int32")
mapped[:] = np.arange(12).reshape(3, 4)
x = iruka.cuda.as_cuda_array(mapped[1:, ::2])
assert x.device.id == 0 and x.data.ptr == mapped.ctypes.data + 16 and x.strides == (16, 8)
assert iruka.cuda.is_cuda_array(mapped)
assert iruka.cuda.as_cuda_array(mapped[1:]).copy_to_host().tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
copy = iruka.asarray(mapped)  # as of any array of NumPy's
assert copy.data.ptr != mapped.ctypes.data and copy.copy_to_host().tolist() == mapped.tolist()
computed = mapped + 1
assert type(computed) is np.ndarray and not iruka.cuda.is_cuda_array(computed)
raises(ValueError, lambda: iruka.cuda.as_cuda_array(mapped.copy()), "not on a GPU")
alive = weakref.ref(mapped)
del mapped
gc.collect()
assert alive() is not None and x[0, 1].item() == 6
del x, copy
gc.collect()
assert alive() is None
""")


def test_memory_hooks():
    run("""
import io, json, sys
from iruka.cuda import MemoryHook, memory_hooks
calls = []
def noting(method):
    return lambda self, **values: calls.append((self.name, method, values))
names = [f"{what}_{when}process" for what in ("alloc", "malloc", "free") for when in ("pre", "post")]
Noting = type("Noting", (MemoryHook,), {"name": "Noting"} | {name: noting(name) for name in names})
iruka.empty(1)
iruka.get_default_memory_pool().free_all_blocks()
with Noting() as hook:
    a = iruka.empty(1000, "uint8")
    raises(KeyError, lambda: Noting().__enter__(), "Noting")
    address = a.data.ptr
    del a
    b = iruka.cuda.alloc_pinned_memory(10)  # CuPy's hooks are not called either
    thread = threading.Thread(target=lambda: iruka.empty(10))
    thread.start(), thread.join()
ours = {"device_id": 0, "mem_size": 1024, "mem_ptr": address, "pmem_id": address}
assert calls == [("Noting", *call) for call in (
    ("malloc_preprocess", {"device_id": 0, "size": 1000, "mem_size": 1024}),
    ("alloc_preprocess", {"device_id": 0, "mem_size": 2 << 20}),
    ("alloc_postprocess", {"device_id": 0, "mem_size": 2 << 20, "mem_ptr": address}),
    ("malloc_postprocess", ours | {"size": 1000}),
    ("free_preprocess", ours), ("free_postprocess", ours))], calls
calls.clear()
iruka.empty(1)
assert calls == []
raises(KeyError, lambda: hook.__exit__())
driver.fake_driver_set_device_bytes(ctypes.c_size_t(1 << 24))
with hook, iruka.device(1):
    raises(MemoryError, lambda: iruka.empty(1 << 25, "uint8"))
assert [(method, values.get("mem_ptr")) for _, method, values in calls] == [
    ("malloc_preprocess", None), ("alloc_preprocess", None), ("alloc_postprocess", 0), ("malloc_postprocess", 0)]
assert {values["device_id"] for _, _, values in calls} == {1}
# A thread that ends within, and a hook that raises, also while an error is on its way.
thread = threading.Thread(target=hook.__enter__)
thread.start(), thread.join()
seen = []
sys.unraisablehook = lambda told: seen.append(type(told.exc_value))
class Wrong(MemoryHook):
    def free_preprocess(self, **values): raise OSError
def fail():
    a = iruka.empty(10)
    raise ValueError("mine")
with Wrong():
    raises(ValueError, fail, "mine")
gc.collect()
assert seen == [OSError], seen
out = io.StringIO()
with memory_hooks.DebugPrintHook(out), memory_hooks.LineProfileHook() as lines:
    a = iruka.empty(1000, "uint8")
    address = a.data.ptr
    del a
    b = iruka.zeros(3 << 20, "uint8")
told = [json.loads(line) for line in out.getvalue().splitlines()]
assert [line["hook"] for line in told] == ["malloc", "free", "alloc", "malloc"]
assert told[0] == {"hook": "malloc", "size": 1000, **ours, "pmem_id": hex(address)}
out = io.StringIO()
lines.print_report(out)
report = out.getvalue().splitlines()
assert report[0] == "_root (4.00MB, 4.00MB)", report
assert any(line.startswith("  <string>:") and line.endswith(":<module> (1.00KB, 0.00B)") for line in report), report
assert any("_numpy/creation.py" in line and line.endswith(":zeros (4.00MB, 4.00MB)") for line in report), report
with memory_hooks.LineProfileHook(max_depth=2) as lines:
    iruka.zeros(10)
out = io.StringIO()
lines.print_report(out)
assert len(out.getvalue().splitlines()) == 2
""")


def test_uploads_do_not_wait_for_earlier_work():
    run("""
s = iruka.cuda.Stream(non_blocking=True)
for count in (1000, 20_000, 300_000):
    x = np.arange(count, dtype="int32")
    expected = x.copy()
    with s:
        hold(s)
        a = iruka.array(x)
        assert not s.done
        x[:] = 0  # the host's memory is free
        let_go(s)
        np.testing.assert_array_equal(a.get(), expected)
""")


def test_copies_of_pinned_memory():
    run("""
s = iruka.cuda.Stream(non_blocking=True)
x = iruka.cuda.empty_pinned(100000, "int32")
x[...] = 5
a = iruka.empty(100000, "int32")
hold(s)
a.set(x, stream=s)                          # under way
out = iruka.cuda.zeros_pinned(100000, "int32")
assert a.get(stream=s, out=out, blocking=False) is out and out.sum() == 0
address = x.ctypes.data
del x
gc.collect()
y = iruka.cuda.empty_pinned(100000, "int32")  # not the block that the copy still reads
assert y.ctypes.data != address
y[...] = 6
let_go(s)
s.synchronize()
assert (out == 5).all()
y2 = iruka.asarray(y)
y[...] = 7
assert (y2.get() == 6).all()
""")


FOREIGN = """
class Foreign:  # shows a GPU array by one protocol
    def __init__(self, array, **changes):
        self.keep = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}
"""


def test_cuda_array_interface():
    run(
        FOREIGN
        + """
x = np.arange(24, dtype="complex64").reshape(4, 6)
a = iruka.asarray(x)
interface = a.__cuda_array_interface__
assert interface == {"shape": (4, 6), "typestr": "<c8", "data": (a.data.ptr, False), "strides": None, "version": 3,
                     "stream": 1}, interface
assert a.T.__cuda_array_interface__["strides"] == (8, 48)
s = iruka.cuda.Stream()
with s:
    assert a.__cuda_array_interface__["stream"] == s.ptr
with iruka.cuda.Stream.ptds:
    assert a.__cuda_array_interface__["stream"] == 2
assert a[:0].__cuda_array_interface__["data"][0] == 0
assert iruka.broadcast_to(a, (2, 4, 6)).__cuda_array_interface__["data"][1] is True
for view in (a, a.T, a[::2, ::-1], a[:0], a[1:2, 3]):
    b = iruka.asarray(Foreign(view))
    assert b.shape == view.shape and b.dtype == view.dtype
    if view.size:
        assert b.data.ptr == view.data.ptr and not b.flags.owndata
        assert b.strides == view.strides or view.flags.c_contiguous
frozen = iruka.asarray(Foreign(a, data=(a.data.ptr, True)))
assert not frozen.flags.writeable
raises(ValueError, lambda: frozen.fill(1), "read-only")
half = iruka.asarray(np.ones(3, "uint16")).view("bfloat16")
foreign = Foreign(half)
raises(TypeError, lambda: iruka.asarray(foreign), "void")
foreign.dtype = half.dtype
assert iruka.asarray(foreign).dtype == half.dtype
raises(NotImplementedError, lambda: iruka.asarray(Foreign(a, mask=a)), "mask")
raises(TypeError, lambda: iruka.asarray(Foreign(a, typestr=">c8")), "byte order")
raises(ValueError, lambda: iruka.asarray(Foreign(a, stream=0)), "ambiguous")
raises(ValueError, lambda: iruka.asarray(Foreign(a, strides=(8,))), "strides")
raises(ValueError, lambda: iruka.asarray(Foreign(a, data=(a.data.ptr + 1, False))), "aligned")
raises(ValueError, lambda: iruka.asarray(Foreign(a, data=(x.ctypes.data, False))), "not on a GPU")
raises(ValueError, lambda: iruka.asarray(Foreign(a, data=(0, False))), "data is 0", "(4, 6)")
assert iruka.asarray(Foreign(a, data=(0, False), shape=(0, 6))).shape == (0, 6)
# What is imported waits for the producer's stream, and keeps the producer.
t = iruka.cuda.Stream(non_blocking=True)
hold(t), t.record()
b = iruka.asarray(Foreign(a, stream=t.ptr))
assert not iruka.cuda.Stream.null.done
let_go(t)
iruka.cuda.Stream.null.synchronize()
import weakref
owner = Foreign(a)
alive = weakref.ref(owner)
b = iruka.asarray(owner)[1:]
del owner
gc.collect()
assert alive() is not None
del b
gc.collect()
assert alive() is None
with iruka.device(1):
    assert iruka.asarray(Foreign(a)).device.id == 0
del frozen  # owners of memory that still exists at exit are not released
"""
    )


def test_dlpack():
    run("""
x = np.arange(24.0).reshape(4, 6)
a = iruka.asarray(x)
assert a.__dlpack_device__() == (2, 0) and a.to_device(1).__dlpack_device__() == (2, 1)
for view in (a, a.T, a[::2, ::-1], a[:0], a.view("int64"), iruka.asarray(np.ones(3, "uint16")).view("bfloat16")):
    for b in (iruka.from_dlpack(view), iruka.from_dlpack(view.__dlpack__()), iruka.from_dlpack(view.__dlpack__(max_version=(1, 0)))):
        assert b.data.ptr == view.data.ptr and b.strides == view.strides and b.dtype == view.dtype and b.device.id == 0
frozen = iruka.broadcast_to(a, (2, 4, 6))
assert not iruka.from_dlpack(frozen).flags.writeable
raises(BufferError, frozen.__dlpack__, "read-only")
copied = iruka.from_dlpack(a, copy=True)
assert copied.data.ptr != a.data.ptr and copied.get().tolist() == x.tolist()
assert iruka.from_dlpack(a, device="cpu").device.name == "cpu" and iruka.from_dlpack(a, device=1).device.id == 1
raises(ValueError, lambda: iruka.from_dlpack(a, device="cpu", copy=False), "copy=False")
raises(BufferError, lambda: a.__dlpack__(dl_device=(1, 0), copy=False), "copy=False")
raises(BufferError, lambda: a.__dlpack__(dl_device=(2, 1)), "GPU")
host = np.from_dlpack(a, device="cpu")
assert host.tolist() == x.tolist()
for bad in (0, -2):
    raises(ValueError, lambda: a.__dlpack__(stream=bad), "stream")
raises(TypeError, lambda: a.__dlpack__(stream="x"))
raises(ValueError, lambda: a.__dlpack__(stream=1, dl_device=(1, 0)), "None", "CPU")
raises(ValueError, lambda: a.to_device("cpu").__dlpack__(stream=1), "None", "CPU")
s = iruka.cuda.Stream(non_blocking=True)
t = iruka.cuda.Stream(non_blocking=True)
hold(s), s.record()
with s:
    a.__dlpack__(stream=-1)
    assert t.done
    capsule = a.__dlpack__(stream=t.ptr, max_version=(1, 0))
    assert not t.done  # the consumer waits for what made the array
let_go(s)
t.synchronize()
# Memory that the consumer's stream may still use is not handed out again.
b = iruka.empty(1000, "uint8")
address = b.data.ptr
capsule = b.__dlpack__(stream=t.ptr)
hold(t), t.record()
del b, capsule
gc.collect()
assert all(iruka.empty(1000, "uint8").data.ptr != address for _ in range(3))
let_go(t)
# A producer on another stream is passed Iruka's stream.
class Producer:
    def __init__(self, array): self.array, self.streams = array, []
    def __dlpack_device__(self): return self.array.__dlpack_device__()
    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream, max_version=max_version)
producer = Producer(a)
with t:
    assert iruka.asarray(producer).data.ptr == a.data.ptr
assert iruka.from_dlpack(producer).device.id == 0 and producer.streams == [t.ptr, 1]
class Old(Producer):
    def __dlpack__(self, stream=None): return self.array.__dlpack__(stream=stream)
assert iruka.asarray(Old(a)).data.ptr == a.data.ptr
""")


def test_consumers_may_destroy_their_streams():
    run("""
class Foreign:  # a stream of another library
    def __init__(self, flags):
        self.handle = ctypes.c_void_p()
        driver.cuStreamCreateWithPriority(ctypes.byref(self.handle), flags, 0)
        self.ptr = self.handle.value
    def use(self, address): driver.cuMemsetD8Async(ctypes.c_uint64(address), 0, ctypes.c_size_t(1000), self.handle)
    def destroy(self): driver.cuStreamDestroy_v2(self.handle)
null = iruka.cuda.Stream.null
# A stream that synchronises with the default stream needs no wait once the consumer has the array.
blocking = Foreign(flags=0)
assert not iruka.cuda.ExternalStream(blocking.ptr).is_non_blocking
a = iruka.empty(1000, "uint8")
address = a.data.ptr
capsule = a.__dlpack__(stream=blocking.ptr)
hold(blocking), blocking.use(address)
del a, capsule
a = iruka.zeros(1000, "uint8")
assert a.data.ptr == address and not null.done  # reused, after the consumer's work
let_go(blocking), null.synchronize()
capsule = a.__dlpack__(stream=blocking.ptr)
blocking.destroy()
del a, capsule
# One that it does not wait for is marked when the consumer is done, however long we keep the array.
other = Foreign(flags=1)
assert iruka.cuda.ExternalStream(other.ptr).is_non_blocking
a = iruka.empty(1000, "uint8")
capsule = a.__dlpack__(stream=other.ptr)
hold(other), other.use(a.data.ptr)
del capsule
address = a.data.ptr
del a
assert all(iruka.empty(1000, "uint8").data.ptr != address for _ in range(3))
let_go(other)
assert any(iruka.empty(1000, "uint8").data.ptr == address for _ in range(3))
a = iruka.empty(1000, "uint8")
capsule = a.__dlpack__(stream=other.ptr)
del capsule
other.destroy()
del a
""")


def test_foreign_memory_is_given_back_after_its_last_use():
    run(
        FOREIGN
        + """
a = iruka.asarray(np.zeros(1000, "int32"))
s = iruka.cuda.Stream(non_blocking=True)
b = iruka.asarray(Foreign(a))
hold(s)
with s:
    b.fill(0)
    start = time.perf_counter()
    threading.Timer(0.05, lambda: let_go(s)).start()
    del b
    gc.collect()
    assert s.done and time.perf_counter() - start > 0.03
# On the default stream nobody waits, but the owner's stream does.
null, t = iruka.cuda.Stream.null, iruka.cuda.Stream(non_blocking=True)
b = iruka.asarray(Foreign(a, stream=t.ptr))
null.synchronize()
hold(null)
b.fill(0)
del b
gc.collect()
assert not null.done and not t.done
let_go(null)
t.synchronize()
# Memory that is passed on goes back to its owner after the last consumer's work, too.
b = iruka.asarray(Foreign(a))
capsule = b.__dlpack__(stream=t.ptr)
hold(t), t.record()
del b, capsule
gc.collect()
assert not null.done
let_go(t)
null.synchronize()
"""
    )


def test_pictures_and_benchmark():
    out = run("""
picture = np.arange(60, dtype="uint8").reshape(4, 5, 3)
a = iruka.image.imdecode(iruka.image.imencode("png", iruka.asarray(picture)))
assert a.device.id == 0 and a.get().tolist() == picture.tolist()
result = iruka.profiler.benchmark(lambda: a.get(), n_repeat=5, n_warmup=1, name="copy")
assert result.cpu_times.shape == (5,) and result.gpu_times.shape == (1, 5) and (result.gpu_times >= 0).all()
print(result)
""")
    assert out.startswith("copy                :    CPU: ") and "GPU-0:" in out and "+/-" in out


def test_errors():
    run("""
driver.fake_driver_fail(b"cuMemcpyAsync", 700, 1)
raises(iruka.errors.DeviceError, lambda: iruka.empty(3).get(), "cuMemcpyAsync", "CUDA_ERROR_ILLEGAL_ADDRESS")
driver.fake_driver_set_device_bytes(ctypes.c_size_t(1 << 24))
raises(iruka.errors.OutOfMemoryError, lambda: iruka.empty(1 << 25, "uint8"))
""")


def test_what_compilers_warn_of_and_advise():
    run("""
import warnings
reason = iruka.cuda.unavailable_reason()
def texts(inputs, body):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        iruka.ElementwiseKernel(inputs, inputs[:-1] + "z", body, "on_gpu")(iruka.ones(5, inputs[:-2] if len(inputs) > 3 else "float32"))
    return [str(item.message) for item in found]
def error(body):
    try:
        texts("T x", body)
    except iruka.errors.CompileError as error:
        return str(error)
if reason == "":
    for inputs in ("T x", "float32 x", "int8 x"):  # blocks share memory here
        assert texts(inputs, "__shared__ int t[4]; t[0] = x; __syncthreads(); z = t[1];") == []
    assert texts("float32 x", "#ifdef __CUDA_ARCH__\\nz = x;\\n#endif") == []
    (never,) = texts("float32 x", "float zz = x;")
    assert "'z' is never written" in never
    (unset,) = texts("T x", "T t;\\nz = t;")
    assert "operation, line 2: warning: " in unset and "used before its value is set" in unset
    assert len(texts("T x", "z = x; z == x;")) == 1
    for body, words in (("z = std::max(x, T(1));", "without std::"), ("float32 t = x; z = t;", "is called 'float'"),
                        ("#include <vector>\\nz = x;", "no standard headers"), ("{ z = x;", "'{' is never closed"),
                        ("z = x;\\nz = x +  ", "operation, line 2: error: expected an expression\\n      z = x +  \\n            ^")):
        assert words in error(body), error(body)
""")


def test_nvrtc_has_a_limit_of_time():
    run("""
if iruka.cuda.unavailable_reason() == "":
    body = "float t = x;" + "".join(f"t = t * {k}.25f + sin(t);" for k in range(20_000)) + "z = t;"
    kernel = iruka.ElementwiseKernel("T x", "T z", body, "endless", options=("--compile-timeout=0.5",))
    began = time.monotonic()
    raises(iruka.errors.CompileError, lambda: kernel(iruka.ones(3, "float32")), "endless", "longer than 0.5 seconds")
    import os
    assert time.monotonic() - began < 10 * float(os.environ.get("IRUKA_TEST_PATIENCE", 1))
""")


def test_histograms_with_edges_on_a_gpu():
    run("""
x = iruka.zeros(5)
for edges in ([iruka.zeros(3), iruka.zeros(4)], [iruka.zeros(3), 3], iruka.zeros(3), [np.arange(3), iruka.zeros(4)], 3):
    counts, first, second = iruka.histogram2d(x, x, bins=edges)
    assert counts.device == first.device == x.device and counts.shape == (first.size - 1, second.size - 1)
    (counts, both) = iruka.histogramdd([x, x], bins=2 * [edges] if getattr(edges, "ndim", 0) else edges)
    assert len(both) == 2 and counts.device == x.device
""")


def test_headers_of_folders_compile_for_gpus_as_for_the_cpu(tmp_path):
    files = {
        "a/outer.h": b'#include "part/inner.h"\n#include <far.h>\n#define VALUE (inner() + FAR)\n',
        "a/part/inner.h": b'#pragma once\n#include "../up.h"\n#include "same.h"\n__device__ int inner() { return same(); }\n',
        "a/up.h": b'#pragma once\n#include "part/inner.h"\n',
        "a/part/same.h": b"#ifndef SAME\n#define SAME\n__device__ int same() { return 1; }\n#endif\n",
        "b/far.h": b"\xef\xbb\xbf// Jos\xe9\n#define FAR 100\r\n",
        "b/types.h": b"__device__ int mine() { return 77; }\n#define VALUE mine()\n",
        "b/complex.h": b"int never_declared = unknown_name;\n",
        "b/wrong.h": b"\n__device__ int wrong(int x) { return x + unknown_name; }\n",
        "b/narrow.h": b"template <class T> __device__ unsigned char narrow(T x) { return (unsigned char)x; }\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    run(f"""
import os
if not iruka.cuda.is_available(): raise SystemExit
os.chdir({str(tmp_path / "b")!r})
folder = {str(tmp_path)!r}
def make(preamble, options=("-I" + folder + "/a", "-I" + folder + "/b"), body="y = VALUE"):
    kernel = iruka.ElementwiseKernel("T x", "T y", body, "including", preamble=preamble, options=options)
    iruka.clear_kernel_history()
    kernel(iruka.zeros(2, "int32"))
    return [event.kind for event in iruka.kernel_history()]
assert make('#include "outer.h"\\n#include <outer.h>') == ["compiled"]
assert make('#include "outer.h"\\n#include <outer.h>') == []
assert make('#include "types.h"') == ["compiled"]
assert make("#if __has_include(<far.h>) && !__has_include(<near.h>)\\n#define VALUE 1\\n#endif") == ["compiled"]
assert make('#include "narrow.h"', body="y = narrow(x * 0.5f)") == ["compiled"]
with open(folder + "/b/types.h", "a") as header: header.write("// edited")
assert make('#include "types.h"') == ["compiled"]
for text, words in (
    ('#include "wrong.h"\\n#define VALUE wrong(x)', (folder + "/b/wrong.h, line 2: error: ", "unknown_name", "return x +")),
    ('#include "complex.h"\\n#define VALUE 1', (folder + "/b/complex.h, line 1: error: ", "int never_declared = unknown")),
    ('#include "lost.h"', ("preamble, line 1: error: 'lost.h' file not found", f"searched: '{{folder}}/a', '{{folder}}/b'")),
    ('#define H "far.h"\\n#include H', ("preamble, line 2: error: only an #include with the file's name is followed",)),
    ("#include <curand_kernel.h>", ("'curand_kernel.h' file not found; a kernel has no standard headers",)),
):
    raises(iruka.errors.CompileError, lambda: make(text), *words)
for name in ('"far.h"', "<far.h>"):  # in the current folder
    raises(iruka.errors.CompileError, lambda: make("#include " + name, options=()), "'far.h' file not found", "-I/folder")
""")
