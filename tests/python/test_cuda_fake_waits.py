"""Waits for a GPU, over the driver in software: other threads go on, also those that the GPU itself waits for."""

import pytest

from fake_driver import FAKE_CUFFT, TOOLKIT, needs_fake_cufft, needs_fake_driver, needs_fake_nvrtc, run

pytestmark = needs_fake_driver

# What waits for the stream s: its work ends when a thread lets it go and a function in Python was called.
HELD = """
s = iruka.cuda.Stream(non_blocking=True)
t = iruka.cuda.Stream(non_blocking=True)
with s:
    picture = iruka.asarray(np.zeros((8, 8, 3), "uint8"))
    number = iruka.asarray(3.0)
numbers = iruka.asarray(np.arange(4.0))
def waits(work):
    called = []
    hold(s)
    s.launch_host_func(called.append, 1)
    threading.Timer(0.05, lambda: let_go(s)).start()
    with s:
        try:
            work()
        except iruka.errors.DeviceError as error:
            assert "NVRTC" in str(error), error  # of a kernel, behind the wait
    assert called == [1]
"""


@pytest.mark.parametrize(
    "work",
    [
        "iruka.image.imencode('.png', picture)",
        "iruka.add.reduce(numbers, initial=number)",
        "float(number)",
        "number.tolist()",
        "iruka.full(3, number)",
        "iruka.cuda.Device(0).synchronize()",
    ],
)
def test_what_needs_an_arrays_elements(work):
    run(HELD + f"waits(lambda: {work})")


@pytest.mark.parametrize("make", ["iruka.empty", "iruka.ndarray", "iruka.zeros"])
def test_new_arrays_when_memory_is_full(make):
    """The pool waits for the device before it gives memory of one stream to another."""
    run(
        HELD
        + f"""
iruka.set_memory_limit(16 << 20)
with t:
    for _ in range(3):
        iruka.empty(4 << 20, "uint8")
    filler = iruka.empty(6 << 20, "uint8")
    del filler
waits(lambda: {make}(10 << 20, "uint8"))
"""
    )


@pytest.mark.parametrize(
    "wait",
    [
        "float(number)",
        "number.item()",
        "bool(number)",
        "number.get()",
        "iruka.asnumpy(numbers)",
        "numbers.tolist()",
        "repr(numbers)",
        "iruka.asarray(numbers, device='cpu')",
        "numbers.to_device('cpu')",
        "s.synchronize()",
        "iruka.cuda.Device(0).synchronize()",
        "event.synchronize()",
    ],
)
def test_ctrl_c_ends_a_wait(wait):
    run(f"""
import os, signal
s = iruka.cuda.Stream()
with s:
    number, numbers = iruka.asarray(3.0), iruka.asarray(np.arange(4.0))
    hold(s)
    event = iruka.cuda.Event()
    event.record()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    watch = threading.Timer(20, lambda: (heard.append(False), let_go(s)))
    watch.start()
    heard = []
    try:
        {wait}
    except KeyboardInterrupt:
        heard.append(True)
watch.cancel()
let_go(s)
assert heard == [True], heard
""")


KERNELS = """
import faulthandler
faulthandler.dump_traceback_later(60, exit=True)
def kernel(number):
    return iruka.ElementwiseKernel("float32 x", "float32 y", f"y = x + {number}", f"number_{number}")
def pending(work):  # while the GPU waits for a function in Python, which is called a second later
    called = []
    hold(s)
    s.launch_host_func(called.append, 1)
    threading.Timer(1, lambda: let_go(s)).start()
    work()
    s.synchronize()
    assert called == [1]
s = iruka.cuda.Stream(non_blocking=True)
x = iruka.ones(4, "float32")
"""


@needs_fake_nvrtc
@pytest.mark.parametrize(
    "make", ["kernel(1)", "iruka.ReductionKernel('float32 x', 'float32 y', 'x', 'a + b', 'y = a', '0', 'own_sum')"]
)
def test_kernels_that_are_dropped(make):
    """Unloading their code waits for the GPU, and so is left to a call that does not keep the GIL."""
    run(
        KERNELS
        + f"""
made = [{make}]
made[0](x)
iruka.clear_cache()  # which holds the last kernels, too
unloaded = driver.fake_driver_calls(b"cuModuleUnload")
pending(made.clear)
pending(lambda: kernel(2)(x))
assert driver.fake_driver_calls(b"cuModuleUnload") > unloaded
""",
        CUDA_PATH=str(TOOLKIT),
    )


@needs_fake_nvrtc
def test_a_fork_while_a_kernel_is_loaded():
    """Loading waits for the GPU, the GPU for a function that needs the GIL, and the thread that forks has the GIL."""
    run(
        KERNELS
        + """
import os
kernel(2)(x)
thread = threading.Thread(target=lambda: kernel(3)(x))
def fork():
    loads = driver.fake_driver_calls(b"cuModuleLoadData")
    thread.start()
    while driver.fake_driver_calls(b"cuModuleLoadData") == loads:
        time.sleep(0.001)
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
pending(fork)
thread.join()
""",
        CUDA_PATH=str(TOOLKIT),
    )


@needs_fake_cufft
def test_transforms_of_two_streams_do_not_share_memory_to_work_in():
    """One plan serves both; the transform of the first stream may be under way when the second one's begins."""
    run(
        f"""
cufft = ctypes.CDLL({str(FAKE_CUFFT)!r})
cufft.fake_cufft_notes.restype = ctypes.c_char_p
streams = [iruka.cuda.Stream(non_blocking=True) for _ in range(2)]
x = iruka.asarray(np.ones(64, "complex64"))
for s in streams:
    hold(s)
for s in streams + streams:
    with s:
        iruka.fft.fft(x)
for s in streams:
    let_go(s)
notes = [tuple(map(int, line.split())) for line in cufft.fake_cufft_notes().decode().splitlines()]
plans, used, works = zip(*notes)
assert len(notes) == 4 and len(set(plans)) == 1, notes
assert used == tuple(s.ptr for s in streams) * 2, notes
assert 0 not in works and works[0] != works[1] and works[:2] == works[2:], notes
""",
        CUDA_PATH=str(TOOLKIT),
    )


@needs_fake_cufft
def test_transforms_drop_the_plan_that_was_not_used_for_longest():
    """Without waiting for the GPU; a plan goes when its last transform is over, and the last graph that holds it."""
    run(
        f"""
cufft = ctypes.CDLL({str(FAKE_CUFFT)!r})
made, destroyed = cufft.fake_cufft_plans, cufft.fake_cufft_destroyed_plans
s, other = (iruka.cuda.Stream(non_blocking=True) for _ in range(2))
arrays = [iruka.asarray(np.ones(n, "complex64")) for n in range(100, 300)]
def transform(k):
    with s:
        iruka.fft.fft(arrays[k])
transform(0)
hold(s)
for k in range(64):
    transform(k)
transform(0)
assert made() == 64
waits = driver.fake_driver_calls(b"cuCtxSynchronize")
other.begin_capture()
transform(64)
transform(0)
assert made() == 65 and destroyed() == 0
empty = other.end_capture()  # which waits for the GPU when it is dropped
transform(1)  # which was not used for longest
assert made() == 66 and destroyed() == 0 and driver.fake_driver_calls(b"cuCtxSynchronize") == waits
let_go(s)
transform(65)
assert made() == 67 and destroyed() == 3, destroyed()
with s:
    s.begin_capture()
    iruka.fft.fft(arrays[66])
    graph = s.end_capture()
for k in range(70, 134):
    transform(k)
transform(134)
assert destroyed() == made() - 64 - 1, (destroyed(), made())
del graph
gc.collect()
transform(135)
assert destroyed() == made() - 64, (destroyed(), made())
""",
        CUDA_PATH=str(TOOLKIT),
    )


def test_reads_and_writes_wait_for_the_threads_stream_alone():
    run(
        """
busy, mine = (iruka.cuda.Stream(non_blocking=True) for _ in range(2))
pinned = iruka.cuda.zeros_pinned(100, "int32")
host = iruka.asarray(pinned, device="cpu")
ones = np.ones(100, "int32")
with mine:
    a, theirs = iruka.asarray(ones), iruka.empty(100, "int32")
works = {
    "to the device": lambda: host.to_device("cuda:0"),
    "from the device": lambda: host.__setitem__(Ellipsis, a),
    "between devices": lambda: a.to_device("cuda:1"),
    "values": lambda: iruka.asarray([1, 2, 3]),
    "elements": lambda: a[3].item(),
    "indices": lambda: a[[0, 1]].tolist(),
}
def work(done):
    with mine:
        for name, each in works.items():
            each()
            done.append(name)
def in_a_thread():
    done = []
    thread = threading.Thread(target=work, args=(done,), daemon=True)
    thread.start()
    thread.join(20)
    return thread, done
theirs.fill(0)
thread, done = in_a_thread()  # loads code, which waits for the GPU
assert done == list(works)
waits = driver.fake_driver_calls(b"cuCtxSynchronize")
hold(busy)
with busy:
    theirs.fill(0)
thread, done = in_a_thread()
let_go(busy)
thread.join()
assert driver.fake_driver_calls(b"cuCtxSynchronize") == waits
assert done == list(works), done
del host  # owners of memory that still exists at exit are not released
""",
        CUDA_PATH=str(TOOLKIT),
    )
