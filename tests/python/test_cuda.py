"""CUDA devices under CuPy's names: what works on a GPU, and what is said where there is none."""

import re
import sys
import time

import numpy as np
import pytest

import iruka
from fake_driver import LIBRARY, needs_fake_driver
from helpers import assert_same, run_python
from iruka import cuda, errors

needs_gpu = pytest.mark.skipif(not cuda.is_available(), reason="no GPU")


@pytest.fixture
def gpu():
    device = cuda.Device(0)
    with device:
        yield device


SLOW = iruka.ElementwiseKernel(
    "float32 x, int32 rounds", "float32 y", "y = x; for (int k = 0; k < rounds; ++k) y = y * 0.999f + 0.5f;", "slow"
)
ROUNDS = 20_000_000


# --- without a GPU ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize(
    "call",
    [
        lambda: iruka.device("cuda:0"),
        lambda: cuda.Device(0),
        lambda: cuda.Stream(),
        lambda: cuda.ExternalStream(1),
        lambda: cuda.Stream.null.begin_capture(),
        lambda: cuda.get_current_stream(0),
        lambda: cuda.Stream.null.launch_host_func(print, 0),
        lambda: cuda.get_device_id(),
        lambda: cuda.alloc_pinned_memory(10),
        lambda: cuda.empty_pinned(3),
        lambda: cuda.runtime.getDeviceCount(),
        lambda: cuda.runtime.memGetInfo(),
        lambda: cuda.runtime.driverGetVersion(),
        lambda: iruka.ones(1).to_device("cuda:0"),
        lambda: iruka.ones(1).to_device(0),
        lambda: iruka.asarray([1], device="cuda"),
    ],
)
def test_without_a_gpu_errors_say_what_is_missing(call):
    assert cuda.unavailable_reason()
    with pytest.raises(errors.DeviceError) as caught:
        call()
    assert cuda.unavailable_reason() in str(caught.value)


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_there_is_nothing_to_wait_for():
    assert cuda.get_current_stream() is cuda.Stream.null
    for stream in (cuda.Stream.null, cuda.Stream.ptds, cuda.Stream(null=True)):
        assert stream.synchronize() is None and stream.done is True
    assert cuda.runtime.deviceSynchronize() is None and cuda.Device().synchronize() is None


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_default_streams_and_events_are_the_cpus():
    with cuda.Stream.null as stream:
        assert stream is cuda.Stream.null and iruka.ones(3).sum() == 3
        assert not stream.is_capturing() and not stream.is_non_blocking
    begin, end = cuda.Event(), cuda.Event(disable_timing=False)
    with pytest.raises(errors.DeviceError, match="both events must be recorded first"):
        cuda.get_elapsed_time(begin, end)
    start = time.perf_counter()
    begin.record()
    time.sleep(0.02)
    end.record(cuda.Stream.null)
    elapsed = cuda.get_elapsed_time(begin, end)
    assert 20 <= elapsed <= 1000 * (time.perf_counter() - start)
    assert begin.done and end.synchronize() is None and cuda.Stream.null.wait_event(end) is None
    assert cuda.get_elapsed_time(end, cuda.Stream.null.record()) >= 0


def test_a_gpu_that_is_hidden():
    done = run_python(
        """
import iruka
assert not iruka.cuda.is_available() and iruka.default_device().name == "cpu"
assert iruka.ones(3).sum().item() == 3
try:
    iruka.cuda.Device(0)
except RuntimeError as error:
    print(error)
""",
        CUDA_VISIBLE_DEVICES="",
        IRUKA_DEVICE="",
    )
    assert done.returncode == 0 and "no GPU can be used" in done.stdout, done.stdout + done.stderr


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match="'iruka.cuda' has no attribute 'nccl'"):
        cuda.nccl
    for name in cuda.__all__:
        assert getattr(cuda, name).__doc__


def test_the_cpu_is_a_device():
    with iruka.device("cpu") as device:
        assert iruka.default_device() == device and iruka.ones(3).device == device
        x = iruka.ones(3)
        assert x.to_device("cpu") is not None and x.to_device("cpu").data.ptr == x.data.ptr
        assert x.to_device(device, stream=None).tolist() == [1, 1, 1]
        device.synchronize()
    for bad in (1.5, True, [0]):
        with pytest.raises(TypeError):
            iruka.Device(bad)
    with pytest.raises(errors.DeviceError):
        iruka.Device("tpu")
    with pytest.raises(errors.DeviceError):
        iruka.device("cpu").pci_bus_id
    assert iruka.get_array_module(iruka.device("cpu"), 3) is np


def test_devices_are_left_after_an_error():
    before = iruka.default_device()
    with pytest.raises(KeyError):
        with iruka.device("cpu"):
            raise KeyError
    assert iruka.default_device() == before


def test_benchmark_on_the_cpu():
    calls = []
    with iruka.device("cpu"):
        result = iruka.profiler.benchmark(calls.append, (1,), n_repeat=7, n_warmup=3, name="append")
    assert len(calls) == 10 and result.cpu_times.shape == (7,) and result.gpu_times.shape == (0, 7)
    assert (result.cpu_times > 0).all() and str(result).startswith("append              :    CPU: ")
    few = iruka.profiler.benchmark(lambda: None, n_repeat=10**9, n_warmup=0, max_duration=0.01, devices=())
    assert 0 < few.cpu_times.size < 10**9
    with pytest.raises(errors.ValueError, match="n_repeat"):
        iruka.profiler.benchmark(print, n_repeat=0)


@pytest.mark.parametrize(
    "folder", [None, pytest.param(LIBRARY.parent, marks=needs_fake_driver)], ids=["found", "software"]
)
def test_importing_touches_no_gpu(folder):
    environment = {"LD_LIBRARY_PATH": str(folder)} if folder else {}
    done = run_python("import iruka; print(open('/proc/self/maps').read())", **environment)
    assert done.returncode == 0 and "libcuda" not in done.stdout and "libnvrtc" not in done.stdout


# --- with a GPU ------------------------------------------------------------------------------------------------------


@needs_gpu
def test_the_device_tells_of_itself(gpu):
    assert gpu.id == 0 and gpu.name == "cuda:0" and repr(gpu) == "<CUDA Device 0>"
    assert int(gpu.compute_capability) >= 50 and gpu.pci_bus_id.count(":") == 2
    free, total = gpu.mem_info
    assert 0 < free <= total
    assert gpu.attributes["WarpSize"] == 32 and gpu.attributes["MultiProcessorCount"] > 0
    properties = cuda.runtime.getDeviceProperties(0)
    assert properties["totalGlobalMem"] == total and isinstance(properties["name"], bytes)
    assert cuda.runtime.getDeviceCount() >= 1 and cuda.runtime.driverGetVersion() >= 12000
    assert cuda.runtime.runtimeGetVersion() >= 12000
    with pytest.raises(errors.DeviceError, match="cuda:63"):
        cuda.Device(63)


@needs_gpu
@pytest.mark.parametrize("size", [0, 1, 1000, (1 << 18) + 1, (1 << 24) + 3])
def test_copies(gpu, size, rng):
    x = rng.integers(0, 255, size).astype("uint8")
    a = iruka.asarray(x)
    assert a.device == gpu
    for back in (a.get(), iruka.asnumpy(a), iruka.asnumpy(a.to_device("cpu")), a[::-1].get()[::-1], a.copy().get()):
        np.testing.assert_array_equal(back, x)
    out = cuda.empty_pinned(size, "uint8")
    stream = cuda.Stream(non_blocking=True)
    assert a.get(stream=stream, out=out, blocking=False) is out
    stream.synchronize()
    np.testing.assert_array_equal(out, x)
    b = iruka.empty(size, "uint8")
    b.set(out, stream=stream)
    np.testing.assert_array_equal(b.get(stream=stream), x)


@needs_gpu
def test_layouts_survive_copies(gpu, rng):
    x = rng.normal(size=(5, 6, 7))
    for view in (x, x.T, x[::2, ::-1], x[:, 3], np.asfortranarray(x)):
        a = iruka.asarray(view)
        np.testing.assert_array_equal(a.get(), view)
        np.testing.assert_array_equal(a.get(order="F"), view)
        assert a.get(order="F").flags.f_contiguous and a.get().flags.c_contiguous
        np.testing.assert_array_equal(a[..., ::2].get(), view[..., ::2])
    y = np.zeros((5, 6, 7), "float32")
    assert iruka.asarray(x).get(out=y) is y
    np.testing.assert_array_equal(y, x.astype("float32"))


@needs_gpu
def test_numpy_operands(gpu, rng):
    """Functions and kernels take NumPy arrays to the GPU; NumPy itself does not convert."""
    x = rng.normal(size=5)
    a = iruka.asarray(x)
    assert_same(a + x, x + x)
    assert_same(np.add(x, a), x + x)
    assert_same(iruka.concatenate([x, a]), np.concatenate([x, x]))
    with iruka.device("cpu"):
        assert (a + x).device == gpu
    for convert in (np.asarray, memoryview, float):
        with pytest.raises(TypeError):
            convert(a)
    same = iruka.ElementwiseKernel("T x", "T y", "y = x;", "same")
    assert_same(same(x), x)
    with pytest.raises(TypeError, match=r"unsupported type <class 'numpy.ndarray'>; the kernel writes to it"):
        same(a, x)


@needs_gpu
def test_a_failed_assertion_is_told_by_the_wait_for_its_stream(gpu):
    positive = iruka.ElementwiseKernel("float32 x", "float32 y", "assert(x > 0); y = x;", "positive")
    x = iruka.arange(3, dtype="float32")
    cuda.Device().synchronize()
    mine, others = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    said = "kernel 'positive': the assertion `x > 0` .* failed at element 0"
    with mine:
        y = positive(x)
    others.synchronize()
    assert positive(x[1:], stream=others) is not None
    with pytest.raises(iruka.errors.DeviceError, match=said):
        mine.synchronize()
    mine.synchronize()
    assert y.tolist() == [0, 1, 2]  # the other elements are computed, and the GPU stays usable
    positive(x)
    with pytest.raises(iruka.errors.DeviceError, match=said):
        cuda.Device().synchronize()


@needs_gpu
def test_a_failed_assertion_of_a_graph_is_told_by_each_wait_for_it(gpu):
    positive = iruka.ElementwiseKernel("float32 x", "float32 y", "assert(x > 0); y = x;", "positive")
    x, y = iruka.ones(4, "float32"), iruka.empty(4, "float32")
    positive(x, y)
    stream = cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        positive(x, y)
        graph = stream.end_capture()
        for _ in range(2):
            x[2] = -1
            graph.launch()
            with pytest.raises(iruka.errors.DeviceError, match="'positive'.* at element 2"):
                stream.synchronize()
            x[2] = 1
            graph.launch()
            stream.synchronize()


@needs_gpu
def test_devices_do_not_mix(gpu):
    a, b = iruka.ones(3), iruka.ones(3).to_device("cpu")
    with pytest.raises(ValueError, match="cuda:0.*cpu|cpu.*cuda:0"):
        a + b
    a[:2] = b[:2] * 5
    assert a.tolist() == [5, 5, 1]


@needs_gpu
def test_streams_order_work_and_events_time_it(gpu):
    stream = cuda.Stream(non_blocking=True)
    x = iruka.ones(1, "float32")
    SLOW(x, np.int32(1))
    begin, end = cuda.Event(), cuda.Event()
    with stream:
        begin.record()
        y = SLOW(x, np.int32(ROUNDS))
        end.record()
        assert not stream.done and not end.done
        with pytest.raises(errors.DeviceError):
            cuda.get_elapsed_time(begin, end)
    other = cuda.Stream(non_blocking=True)
    other.wait_event(end)
    assert not other.done
    end.synchronize()
    assert cuda.get_elapsed_time(begin, end) > 1
    other.synchronize()
    assert end.done and stream.done and other.done
    assert abs(y.get(stream=stream)[0] - 500) < 1


@needs_gpu
def test_a_graph_replays_kernels(gpu):
    stream = cuda.Stream(non_blocking=True)
    add = iruka.ElementwiseKernel("float32 x", "float32 y", "y = x + 1;", "add_one")
    with stream:
        x, y = iruka.zeros(1000, "float32"), iruka.empty(1000, "float32")
        add(x, y)
        stream.begin_capture()
        add(x, y)
        z = add(y)
        add(z, x)
        graph = stream.end_capture()
        for _ in range(5):
            graph.launch()
        assert x.get()[0] == 15 and y.get()[0] == 13


@needs_gpu
def test_the_pool_counts(gpu):
    pool = iruka.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.used_bytes()
    x = iruka.empty(1 << 22, "uint8")
    assert pool.used_bytes() - before == 1 << 22 <= pool.total_bytes()
    del x
    assert pool.used_bytes() == before and pool.n_free_blocks() > 0
    pool.free_all_blocks()
    pool.set_limit(size=1 << 28)
    try:
        assert pool.get_limit() == 1 << 28
        with pytest.raises(errors.OutOfMemoryError, match=str(1 << 29)):
            iruka.empty(1 << 29, "uint8")
    finally:
        pool.set_limit(size=0)


@needs_gpu
def test_ctrl_c_ends_a_wait():
    done = run_python(
        """
import os, signal, threading
import numpy as np
import iruka
k = iruka.ElementwiseKernel("float32 x, int64 n", "float32 y", "y = x; for (long long i = 0; i < n; ++i) y = y * 0.999f + 0.5f;", "long_one")
x = iruka.ones(1, "float32")
k(x, np.int64(1))
k(x, np.int64(1_000_000_000))
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    iruka.cuda.Stream.null.synchronize()
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", iruka.cuda.Stream.null.done)
""",
        IRUKA_DEVICE="cuda",
    )
    assert done.stdout == "interrupted False\n", done.stdout + done.stderr


@needs_gpu
def test_benchmark(gpu):
    x = iruka.ones(1, "float32")
    result = iruka.profiler.benchmark(lambda: SLOW(x, np.int32(1_000_000)), n_repeat=5, n_warmup=2, name="slow")
    assert result.gpu_times.shape == (1, 5) and (result.gpu_times > 1e-4).all()
    assert result.gpu_times.mean() > result.cpu_times.mean() and "GPU-0:" in repr(result)


@needs_gpu
@pytest.mark.skipif(not cuda.is_available() or cuda.runtime.getDeviceCount() < 2, reason="one GPU")
def test_two_gpus(rng):
    x = rng.normal(size=(300, 400))
    with cuda.Device(1):
        a = iruka.asarray(x)
        assert a.device.id == 1
    b = a.to_device(0)
    np.testing.assert_array_equal((b + 1).get(), x + 1)
    np.testing.assert_array_equal((a + 1).get(), x + 1)
    with pytest.raises(ValueError, match="cuda:0.*cuda:1|cuda:1.*cuda:0"):
        a + b


@needs_gpu
def test_threads_with_streams_of_their_own():
    done = run_python(
        """
import threading
import iruka
add = iruka.ElementwiseKernel("int64 x, int64 y", "int64 z", "z = x + y", "add")
wrong = []
def work(number):
    with iruka.device("cuda"):
        total = iruka.zeros(1000, "int64")
        for _ in range(300):  # arrays come from the pool and go back to it in this thread's order
            total = add(total, iruka.full(1000, number, "int64"))
        if int(total.min()) != 300 * number or int(total.max()) != 300 * number:
            wrong.append(number)
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("wrong", wrong)
""",
        IRUKA_CUDA_PER_THREAD_DEFAULT_STREAM="1",
    )
    assert done.returncode == 0 and "wrong []" in done.stdout, done.stdout + done.stderr


@needs_gpu
def test_launches_that_come_again_take_their_own_arguments(gpu):
    """Many launches of one kernel wait in the queue while arguments, sizes and streams change."""
    scale = iruka.ElementwiseKernel("int64 x, int64 factor", "int64 y", "y = x * factor + i", "scale")
    streams = [cuda.Stream.null, cuda.Stream(), cuda.Stream(non_blocking=True)]
    x = iruka.arange(5000, dtype="int64")
    gpu.synchronize()
    expected, results = [], []
    for k in range(600):
        size = 16 if k % 7 else 1000 + k
        with streams[k // 3 % 3]:
            results.append(scale(x[:size], k))
        expected.append(np.arange(size) * k + np.arange(size))
    gpu.synchronize()
    for result, right in zip(results, expected):
        assert_same(result, right)


@needs_gpu
@pytest.mark.parametrize("guarded", [False, True])  # by NVRTC's assembler, or by the driver's
def test_registers_are_limited(gpu, guarded):
    body = """
        double v[48];
        for (int k = 0; k < 48; ++k) v[k] = x[i * 48 + k];
        for (int r = 0; r < n; ++r)
            for (int k = 0; k < 48; ++k) v[k] = v[k] * v[(k + 7) % 48] + v[(k + 3) % 48];
        y = 0;
        for (int k = 0; k < 48; ++k) y += v[k];
    """ + ("y += 7 / n;" if guarded else "")

    def registers(*options):
        kernel = iruka.ElementwiseKernel("raw float64 x, int32 n", "float64 y", body, "many", options=options)
        said = str(kernel.report(iruka.ones(4800), 3, size=100))
        return int(re.search(r"(\d+) registers a thread", said)[1]), kernel(
            iruka.ones(4800), 0 if guarded else 3, size=100
        )

    most, expected = registers()
    few, result = registers("--maxrregcount=40", "--ptxas-options=-O3", "-lineinfo")
    assert most > 64 and few <= 40
    assert_same(result, expected.get())


@needs_gpu
def test_host_functions(gpu, monkeypatch):
    """In the stream's order, with the GIL, while this thread waits in any way; errors are reported."""
    stream = cuda.Stream(non_blocking=True)
    x, calls = iruka.ones(1000, "float32"), []
    with stream:
        y = SLOW(x, ROUNDS // 4)
        stream.launch_host_func(calls.append, "after")
        stream.add_callback(lambda which, status, arg: calls.append((which is stream, status, arg)), 3)
        assert not calls
        assert float(y[0]) > 0 and calls == ["after", (True, 0, 3)]
        for k in range(3000):  # more than a stream holds
            stream.launch_host_func(calls.append, k)
            x += 1
    stream.synchronize()
    assert calls[2:] == list(range(3000)) and x.get(stream=stream)[0] == 3001
    stream.begin_capture()
    with pytest.raises(errors.DeviceError, match="captured"):
        stream.launch_host_func(calls.append, 0)
    stream.end_capture()
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: told.append(error.exc_type))
    stream.launch_host_func(lambda arg: 1 / arg, 0)
    stream.launch_host_func(calls.append, "later")
    stream.synchronize()
    assert told == [ZeroDivisionError] and calls[-1] == "later"
