"""Children of fork(): they run whatever the parent's other threads were doing, and never block on a lock for ever."""

import pytest

from fake_driver import LIBRARY, needs_fake_driver, run
from helpers import HAS_SANITIZER, PATIENCE, run_python

# AddressSanitizer's allocator keeps locks over a fork that other threads hold; ThreadSanitizer ends a child whose new
# thread has the number of one of the parent's.
follows_forks = pytest.mark.skipif(HAS_SANITIZER, reason="GCC 12's sanitizers do not follow forks of several threads")

# Each is a first use of something: kernels made and kept, tables and plans made, programs built and dropped.
FIRST_USES = """
import itertools, os, random, signal, threading, time, warnings
import importlib, pkgutil
import ml_dtypes, numpy as np, numpy.fft, numpy.linalg, numpy.random
import iruka
for module in pkgutil.walk_packages(iruka.__path__, "iruka."):  # a child waits for an import of another thread for ever
    importlib.import_module(module.name)
warnings.simplefilter("ignore")
DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")

def dropped(n):
    return iruka.ElementwiseKernel("float32 x", "float32 y", f"y = x + {n}.5f;", f"dropped_{n}")(iruka.ones(4, "float32"))

def uses():
    # Functions of the package that keep kernels; the longest first.
    yield from (
        lambda: iruka.random.default_rng(1).normal(size=3), lambda: iruka.random.default_rng(1).integers(9, size=3),
        lambda: iruka.random.default_rng(1).permutation(9), lambda: iruka.random.default_rng(1).multinomial(9, [0.5, 0.5]),
        lambda: iruka.random.default_rng(1).poisson(3, size=3), lambda: iruka.linspace(0, 1, 5), lambda: iruka.tri(4),
        lambda: iruka.tril(iruka.ones((3, 3))), lambda: iruka.unique(iruka.asarray([1, 1, 2]), return_inverse=True),
        lambda: iruka.isin(iruka.arange(4), iruka.arange(2)), lambda: iruka.bincount(iruka.asarray([1, 2, 2])),
        lambda: iruka.repeat(iruka.arange(3), iruka.asarray([1, 2, 3])), lambda: iruka.sort(iruka.asarray([3, 1, 2])),
        lambda: iruka.linalg.inv(iruka.eye(3)), lambda: iruka.linalg.svd(iruka.eye(3)), lambda: iruka.eye(2) @ iruka.eye(2),
        lambda: iruka.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "own_sum")(iruka.arange(9.0)),
        lambda: iruka.add.at(iruka.zeros(3), [0, 0], 1), lambda: iruka.cumsum(iruka.arange(5)),
    )
    for n, (a, b) in enumerate(itertools.product(DTYPES, DTYPES)):
        yield lambda: iruka.arange(4, dtype=a)
        yield lambda: iruka.ones(4, a).astype(b)
        yield lambda: iruka.ones(4, a) + iruka.ones(4, b)
        yield lambda: iruka.maximum(iruka.ones(4, a), iruka.ones(4, b))
        yield lambda: iruka.ones(40, a).sum()
        yield lambda: iruka.fft.fft(iruka.ones(3 + n, "complex64"))
        yield lambda: dropped(n)

def ends_in_time(pid, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "it hangs"
"""


@pytest.mark.cpu_only
@follows_forks
def test_children_of_a_process_whose_threads_use_things_for_the_first_time(tmp_path):
    done = run_python(
        FIRST_USES
        + f"""
reached, failures = [0, 0], []
stop = threading.Event()
def work(thread):
    for number, use in enumerate(uses()):
        reached[thread] = number
        use()
        if stop.is_set():
            break
threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(2)]  # so that a failure ends them, too
[thread.start() for thread in threads]
forks, end = 0, time.monotonic() + 15
while forks < 300 and time.monotonic() < end and any(thread.is_alive() for thread in threads):
    now = reached[forks % 2]
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            for use in itertools.islice(uses(), now, now + 3):
                use()
            code = 0
        finally:
            os._exit(code)
    forks += 1
    code = ends_in_time(pid, {20 * PATIENCE})
    if code != 0:
        failures.append((now, code))
        break
stop.set()
[thread.join() for thread in threads]
assert not failures, failures
assert forks > 20, forks
""",
        IRUKA_CACHE_DIR=str(tmp_path),
        IRUKA_SHIPPED_KERNELS="0",
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_only
def test_children_of_a_process_that_compiles_all_the_time(tmp_path):
    """The compilers' own locks, and those of the linker, which takes programs out of memory too."""
    done = run_python(
        FIRST_USES
        + f"""
stop = threading.Event()
def work(first):
    n = first
    while not stop.is_set():
        dropped(n)
        n += 2
threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(2)]  # so that a failure ends them, too
[thread.start() for thread in threads]
for n in range(40):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = int(dropped(1000000 + n).tolist() != [n + 1000001.5] * 4)
        finally:
            os._exit(code)
    code = ends_in_time(pid, {20 * PATIENCE})
    assert code == 0, (n, code)
stop.set()
[thread.join() for thread in threads]
""",
        IRUKA_CACHE_DIR=str(tmp_path),
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_only
@follows_forks
def test_hundreds_of_children_of_a_process_that_launches_all_the_time():
    done = run_python(
        FIRST_USES
        + f"""
k = iruka.ElementwiseKernel("float32 x", "float32 y", "y = x * 2;", "twice")
stop = threading.Event()
def work():
    while not stop.is_set():
        float(k(iruka.ones(1 << 16, "float32")).sum() + iruka.random.random(3).sum() + iruka.fft.fft(iruka.ones(8))[0].real)
thread = threading.Thread(target=work, daemon=True)  # so that a failure ends it, too
thread.start()
def child(depth):
    assert float(k(iruka.ones(1 << 18, "float32")).sum()) == 2 << 18 and iruka.random.random(3).shape == (3,)
    assert float(iruka.fft.fft(iruka.ones(8))[0].real) == 8
    if depth:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                child(depth - 1)
                code = 0
            finally:
                os._exit(code)
        assert ends_in_time(pid, {20 * PATIENCE}) == 0
forks, end = 0, time.monotonic() + 15
while forks < 300 and (forks < 40 or time.monotonic() < end):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child(2 if forks % 30 == 0 else 0)
            code = 0
        finally:
            os._exit(code)
    assert ends_in_time(pid, {80 * PATIENCE}) == 0, forks
    forks += 1
stop.set()
thread.join()
""",
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_only
@follows_forks
def test_children_of_a_process_whose_new_threads_call_python():
    # Python 3.11 keeps its list of threads locked in a child if a thread was adding itself during fork().
    done = run_python(
        FIRST_USES
        + f"""
from iruka.pipeline import Function, Pipeline
stop = threading.Event()
def work():
    while not stop.is_set():
        with Pipeline(np.arange(64), [Function(lambda x: x)], 32, prefetch=2, threads=2) as pipe:
            assert [len(batch.value) for batch in pipe] == [32, 32]
threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
[thread.start() for thread in threads]
forks, end = 0, time.monotonic() + 10
while forks < 20 or time.monotonic() < end:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    assert ends_in_time(pid, {20 * PATIENCE}) == 0, forks
    forks += 1
stop.set()
[thread.join() for thread in threads]
""",
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


@needs_fake_driver
def test_a_child_of_a_process_that_is_loading_the_driver():
    """A function that another thread was still in the middle of, to find something once for all calls."""
    done = run_python(
        FIRST_USES
        + f"""
thread = threading.Thread(target=iruka.cuda.is_available, daemon=True)
thread.start()
time.sleep(0.1)
pid = os.fork()
if pid == 0:
    os._exit(not iruka.cuda.is_available())
assert ends_in_time(pid, {20 * PATIENCE}) == 0
thread.join()
""",
        IRUKA_DEVICE="cpu",
        LD_LIBRARY_PATH=str(LIBRARY.parent),
        FAKE_DRIVER_SECONDS_TO_LOAD="0.5",
    )
    assert done.returncode == 0, done.stderr


@needs_fake_driver
def test_a_gpu_is_refused_in_a_child():
    run("""
import os, warnings
warnings.simplefilter("ignore")
x = iruka.asarray(np.arange(4.0))
s = iruka.cuda.Stream()
for use in (lambda: iruka.empty(3), lambda: x.get(), lambda: s.synchronize(), lambda: iruka.asarray(np.ones(3)),
            lambda: iruka.cuda.Device(0).synchronize(), lambda: iruka.cuda.Event()):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            use()
        except iruka.errors.DeviceError as error:
            code = 0 if "fork" in str(error) and "spawn" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert x.get().tolist() == [0, 1, 2, 3]
""")
