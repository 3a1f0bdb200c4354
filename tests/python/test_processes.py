"""Ctrl-C, forks, threads, the disk cache, import time: what only whole processes show."""

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from helpers import PATIENCE, run_python

LONG_KERNEL = """
import sys, time
import iruka
k = iruka.ElementwiseKernel("raw float32 x", "float32 y", '''
    float sum = x[i];
    for (long long t = 0; t < 40000; t++) sum = sum * 1.0001f + x[t % _ind.size()];
    y = sum;''', "long_kernel")
x = iruka.ones(1 << 22, "float32")
k(iruka.ones(16, "float32"), size=16)
"""


def start(code):
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def interrupted_after(process, seconds):
    """Sends Ctrl-C once the program says it is ready; returns how long it took to end, and what it said."""
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    time.sleep(seconds)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=30 * PATIENCE)
    finally:
        process.kill()
    return time.monotonic() - began, out, err


@pytest.mark.cpu_only
def test_ctrl_c_stops_a_long_kernel():
    process = start(
        LONG_KERNEL
        + """
print("ready", flush=True)
try:
    k(x, size=x.size)
except KeyboardInterrupt:
    y = iruka.add(iruka.arange(3), 1)
    print("stopped", y.tolist())
"""
    )
    seconds, out, err = interrupted_after(process, 0.5)
    assert seconds < 2 and out == "stopped [1, 2, 3]\n", (seconds, out, err)


@pytest.mark.cpu_only
def test_ctrl_c_stops_one_endless_element():
    process = start("""
import iruka
k = iruka.ElementwiseKernel("float32 x", "float32 y", "float t = x; while (t < 2) { t = t * 0.5f + 0.5f; if (t >= 1) t = 0; } y = t;", "endless")
print("ready", flush=True)
try:
    k(iruka.zeros(64, "float32"))
except KeyboardInterrupt:
    print("stopped")
""")
    seconds, out, err = interrupted_after(process, 0.5)
    assert seconds < 2 and out == "stopped\n", (seconds, out, err)


@pytest.mark.cpu_only
def test_a_handlers_own_exception_comes_through():
    process = start(
        LONG_KERNEL
        + """
import signal
class Custom(Exception): pass
def handler(*_): raise Custom("mine")
signal.signal(signal.SIGINT, handler)
print("ready", flush=True)
try:
    k(x, size=x.size)
except Custom as error:
    print("caught", error)
"""
    )
    seconds, out, err = interrupted_after(process, 0.5)
    assert seconds < 2 and out == "caught mine\n", (seconds, out, err)


@pytest.mark.cpu_only
def test_ctrl_c_stops_the_kernel_of_a_handler():
    done = run_python(
        """
import os, signal, threading, time
import iruka
k = iruka.ElementwiseKernel("float32 x", "float32 y", "float t = x; while (t < 2) { t = t * 0.5f + 0.5f; if (t >= 1) t = 0; } y = t;", "endless")
told = []
def handler(*_):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        k(iruka.zeros(100_000, "float32"))
    except KeyboardInterrupt:
        told.append("handler")
        raise
signal.signal(signal.SIGALRM, handler)
for threads in (1, 2):
    iruka.set_num_threads(threads)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        k(iruka.zeros(100_000, "float32"))
    except KeyboardInterrupt:
        told.append("program")
print(told)
"""
    )
    assert done.stdout == "['handler', 'program', 'handler', 'program']\n", done.stdout + done.stderr


@pytest.mark.cpu_only
def test_a_handler_calls_the_kernel_whose_compilation_it_interrupted(tmp_path):
    done = run_python(
        """
import signal
import iruka
lines = "".join(f"T a{n} = sin(x + {n}) * exp(x * {n}) + pow(x, a{n - 1}); " for n in range(1, 60))
k = iruka.ElementwiseKernel("T x", "T y", "T a0 = x; " + lines + "y = a59;", "lengthy")
x = iruka.ones(4, "float32")
results = []
signal.signal(signal.SIGALRM, lambda *_: results.append(k(x).tolist()))
signal.setitimer(signal.ITIMER_REAL, 0.06)
results.append(k(x).tolist())
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(results), results[0] == results[-1])
""",
        IRUKA_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert done.stdout == "2 True\n", done.stdout + done.stderr


@pytest.mark.cpu_only
def test_a_handler_forks_inside_a_loop():
    """Helpers of the loop stay in the parent, so that the child has no result; a loop of one thread goes on in both."""
    done = run_python(
        """
import os, signal
import numpy as np
import iruka
body = "double s = x; for (int n = 0; n < 4000; ++n) s = s * 0.999 + sin(s); y = s;"
k = iruka.ElementwiseKernel("float64 x", "float64 y", body, "lengthy")
expected = k(iruka.ones(1)).item()
children = []
signal.signal(signal.SIGALRM, lambda *_: children.append(os.fork()))
for threads in (2, 1):
    iruka.set_num_threads(threads)
    children.clear()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        said = (np.asarray(k(iruka.ones(80_000))) == expected).all()
    except iruka.errors.DeviceError as error:
        said = "forked" if "fork() made this process inside a loop" in str(error) else error
    signal.setitimer(signal.ITIMER_REAL, 0)
    if children == [0]:
        if threads == 2:  # the child has threads of its own now
            said = said, (np.asarray(k(iruka.ones(4_000))) == expected).all()
        print("child", said, flush=True)
        os._exit(0)
    os.waitpid(children[0], 0)
    print("parent", said, flush=True)
"""
    )
    expected = "child ('forked', True)\nparent True\nchild True\nparent True\n"
    assert done.stdout.replace("np.True_", "True") == expected, done.stdout + done.stderr


@pytest.mark.cpu_only
def test_other_threads_run_during_a_kernel():
    done = run_python(
        LONG_KERNEL.replace("1 << 22", "1 << 19")
        + """
import threading
ticks, stop = [], threading.Event()
def tick():
    while not stop.is_set():
        ticks.append(time.monotonic())
        time.sleep(0.005)
thread = threading.Thread(target=tick)
thread.start()
began = time.monotonic()
k(x, size=x.size)
ended = time.monotonic()
stop.set()
thread.join()
inside = [t for t in ticks if began < t < ended]
assert ended - began > 0.05 and len(inside) >= (ended - began) / 0.1, (ended - began, len(inside))
"""
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_only
def test_fork():
    done = run_python("""
import multiprocessing, warnings
import numpy as np
import iruka
warnings.simplefilter("ignore")
k = iruka.ElementwiseKernel("float32 x, float32 c", "float32 y", "y = x * c;", "forked")
x = iruka.arange(200000, dtype="float32")
expected = float(k(x, 2).sum())
def work(number):
    own = iruka.ElementwiseKernel("float32 x", "float32 y", f"y = x + {number};", f"own_{number}")
    same = float(k(x, 2).sum())
    return same, float(own(x)[5])
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        for number, (same, value) in enumerate(pool.map(work, range(6))):
            assert same == expected and value == 5 + number
    assert float(k(x, 2).sum()) == expected
    print("fine")
""")
    assert done.returncode == 0 and done.stdout == "fine\n", done.stderr


CACHED = """
import iruka
k = iruka.ElementwiseKernel("float32 x", "float32 y", "y = x * 3 + 1;", "cached")
assert k(iruka.arange(3, dtype="float32")).tolist() == [1, 4, 7]
print(",".join(event.kind for event in iruka.kernel_history() if event.kernel == "cached"))
"""


def test_the_disk_cache_is_used_by_the_next_process(tmp_path):
    folder = tmp_path / "cache"
    first, second = (run_python(CACHED, IRUKA_CACHE_DIR=str(folder)) for _ in range(2))
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert "compiled" in first.stdout and second.stdout.strip() == "loaded_from_disk"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("harm", ["truncate", "flip", "empty", "unreadable folder"])
def test_a_damaged_cache_is_survived(tmp_path, harm):
    folder = tmp_path / "cache"
    assert run_python(CACHED, IRUKA_CACHE_DIR=str(folder)).returncode == 0
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 100]
    assert files
    for path in files:
        data = path.read_bytes()
        if harm == "truncate":
            path.write_bytes(data[: len(data) // 2])
        elif harm == "flip":
            middle = len(data) // 2
            path.write_bytes(data[:middle] + bytes([data[middle] ^ 0x40]) + data[middle + 1 :])
        elif harm == "empty":
            path.write_bytes(b"")
    if harm == "unreadable folder":
        folder.chmod(0o500)
    try:
        done = run_python(CACHED, IRUKA_CACHE_DIR=str(folder))
    finally:
        folder.chmod(0o700)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    if harm != "unreadable folder":
        assert "compiled" in done.stdout


def test_no_place_for_a_cache(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for environment in (
        {"IRUKA_CACHE_DIR": str(file / "below")},
        {"IRUKA_CACHE_DIR": "", "HOME": "/nonexistent", "XDG_CACHE_HOME": ""},
    ):
        done = run_python(CACHED, **environment)
        assert done.returncode == 0 and done.stderr == "" and "compiled" in done.stdout, done.stderr


def test_many_processes_start_at_once(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CACHED],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "IRUKA_CACHE_DIR": str(tmp_path / "cache")},
        )
        for _ in range(10)
    ]
    for process in processes:
        out, err = process.communicate(timeout=120 * PATIENCE)
        assert process.returncode == 0 and err == "", err


def test_clear_cache_and_history(tmp_path):
    done = run_python(
        CACHED
        + """
assert iruka.cache_directory()
iruka.clear_kernel_history()
assert iruka.kernel_history() == []
assert k(iruka.arange(3, dtype="float32")).tolist() == [1, 4, 7]
assert iruka.kernel_history() == []
iruka.clear_cache()
assert k(iruka.arange(3, dtype="float32")).tolist() == [1, 4, 7]
again = iruka.ElementwiseKernel("float32 x", "float32 y", "y = x * 3 + 1;", "cached")
again(iruka.arange(3, dtype="float32"))
events = [e for e in iruka.kernel_history() if e.kernel == "cached"]
assert events and events[0].kind == "compiled" and events[0].milliseconds > 0 and events[0].device == iruka.default_device().name, events
""",
        IRUKA_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert done.returncode == 0, done.stderr


def test_kernels_of_functions_are_compiled_again_after_clear_cache(tmp_path):
    done = run_python(
        """
import numpy, iruka
x = iruka.asarray(numpy.linspace(0, 1, 90_000))
total = iruka.ReductionKernel("T x", "T y", "x * 2", "a + b", "y = a", "0", "doubled")
calls = {
    "add": lambda: x + x, "sum": lambda: x.sum(), "argmax": lambda: x.reshape(300, 300).argmax(axis=1),
    "median": lambda: iruka.median(x.reshape(30, 3000), axis=1), "doubled": lambda: total(x),
    "random": lambda: iruka.random.default_rng(1).random(90_000),
}

def compiled(call):
    iruka.clear_kernel_history()
    call()
    iruka.finish_background_compilation()
    return sorted({event.kernel for event in iruka.kernel_history() if event.kind == "compiled"})

for name, call in calls.items():
    iruka.clear_cache()
    first = compiled(call)
    assert first, name
    assert compiled(call) == [], name
    iruka.clear_cache()
    assert compiled(call) == first, name
""",
        IRUKA_CACHE_DIR=str(tmp_path / "cache"),
        IRUKA_SHIPPED_KERNELS="0",
    )
    assert done.returncode == 0, done.stderr


def test_import_brings_nothing_heavy():
    """Slow libraries are loaded at first use; benchmarks/gpu.py and the README's table show the import time."""
    done = run_python(
        "import iruka, sys; print(sorted({'ml_dtypes', 'numpy.testing', 'scipy', 'json.tool'} & set(sys.modules)))"
    )
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_a_process_ends_while_daemon_threads_work():
    """Python ends threads that take the GIL at exit, by an exception that must pass through C++ frames."""
    done = run_python(
        """
import threading, time
import iruka
x = iruka.ones(1 << 12, "float32")
add = iruka.ElementwiseKernel("float32 x", "float32 y", "y = x + 1;", "add_one")
add(x)
def work():
    while True:
        add(x)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
""",
        IRUKA_LEAK_WARNINGS="0",
    )  # such threads keep what they use
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    "call",
    [
        "counting(one, 3 * 10**10)",
        "counting(few, 10**10)",
        "whole(few, 10**11)",
        "integers @ integers",
        "booleans @ booleans",
        "floats @ floats",
        "iruka.linalg.inv(many)",
        "iruka.einsum('ij,jk,kl->il', integers, integers, integers)",
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_is_heard_within_a_second(call, threads):
    """Of loops whose length is known and of calls of the library; a process of its own, as the call may not be over."""
    done = run_python(
        f"""
import os, signal, threading, time
import iruka
counting = iruka.ElementwiseKernel(
    'float32 x, int64 m', 'float32 y', 'float s = 0; for (long j = 0; j < m; ++j) s += sqrtf(x + j); y = s;', 'counting')
whole = iruka.ElementwiseKernel(
    'float32 x, int64 m', 'int32 y', 'int s = 0; for (long j = 0; j < m; ++j) s += ((j * j) ^ (long)x) / 3; y = s;', 'whole')
one, few = iruka.ones(1, 'float32'), iruka.ones(40, 'float32')
counting(few, 3), whole(few, 3)
integers = iruka.ones((9000, 9000), 'int64') if 'integers' in {call!r} else None
booleans = iruka.ones((40000, 40000), 'bool') if 'booleans' in {call!r} else None
floats = iruka.ones((14000, 14000), 'float64') if 'floats' in {call!r} else None
many = iruka.eye(400) + iruka.zeros((600, 1, 1)) if 'many' in {call!r} else None
sent = []
def send():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.3, send).start()
try:
    {call}
    print("over before" if not sent else "not heard")
except KeyboardInterrupt:
    print("heard after", time.monotonic() - sent[0])
""",
        IRUKA_NUM_THREADS=str(threads),
        OPENBLAS_NUM_THREADS=str(threads),
    )
    assert done.stdout.startswith("heard after") and float(done.stdout.split()[-1]) < 3 * PATIENCE, (
        done.stdout + done.stderr
    )


COUNTING = """
import concurrent.futures, os, signal, sys, threading, time
import iruka
counting = iruka.ElementwiseKernel(
    'float32 x, int64 m', 'float32 y', 'float s = 0; for (long j = 0; j < m; ++j) s += sqrtf(x + j); y = s;', 'counting')
one = iruka.ones(1, 'float32')
rounds = 1 << 20
def seconds(rounds):
    began = time.monotonic()
    counting(one, rounds)
    return time.monotonic() - began
counting(one, rounds)
while seconds(rounds) < 0.2:
    rounds *= 2
"""


@pytest.mark.cpu_only
@pytest.mark.parametrize("way", ["thread", "pool", "handler set again"])
def test_ctrl_c_ends_kernels_of_other_threads(way):
    process = start(
        COUNTING
        + f"""
def work():
    try:
        counting(one, 1 << 50)
    except KeyboardInterrupt:
        sys.stdout.write("the thread is interrupted\\n")
threads = [threading.Thread(target=work) for _ in range(2)]
def wait():
    if {way!r} == "pool":
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            print("ready", flush=True)
            list(pool.map(lambda _: work(), range(2)))
    for thread in threads:
        thread.start()
    if {way!r} == "handler set again":  # Python brings back its own
        signal.signal(signal.SIGINT, signal.signal(signal.SIGINT, lambda *_: None))
    print("ready", flush=True)
    time.sleep(60)  # an interrupted join() makes Python 3.11 forget the thread
try:
    wait()
except KeyboardInterrupt:
    print("the main thread is interrupted", flush=True)
"""
    )
    seconds, out, err = interrupted_after(process, 0.5)
    assert sorted(out.splitlines()) == ["the main thread is interrupted"] + ["the thread is interrupted"] * 2, out + err
    assert seconds < 3 * PATIENCE and process.returncode == 0, (seconds, err)


@pytest.mark.cpu_only
def test_a_program_with_a_handler_of_its_own_decides_what_ctrl_c_ends():
    done = run_python(
        COUNTING
        + """
heard, results = [], []
signal.signal(signal.SIGINT, lambda *_: heard.append(time.monotonic()))
def work():
    while not heard or time.monotonic() < heard[0] + 0.5:
        results.append(float(counting(one, rounds)[0]))
thread = threading.Thread(target=work)
thread.start()
time.sleep(0.3)
os.kill(os.getpid(), signal.SIGINT)
thread.join()
print(len(heard), len(results) > 1, len(set(results)))
"""
    )
    assert done.stdout == "1 True 1\n", done.stdout + done.stderr


@pytest.mark.cpu_only
def test_ctrl_c_is_not_told_to_later_calls_of_other_threads():
    done = run_python(
        COUNTING
        + """
def interrupt():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except KeyboardInterrupt:
        return True
results = []
with concurrent.futures.ThreadPoolExecutor(1) as pool:  # all by one thread
    for _ in range(2):
        results.append(pool.submit(counting, one, rounds).result())
        results.append(interrupt())
    results.append(pool.submit(counting, one, rounds).result())
print([r is True or float(r[0]) > 0 for r in results])
"""
    )
    assert done.stdout == "[True, True, True, True, True]\n", done.stdout + done.stderr


@pytest.mark.cpu_only
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_is_heard_in_the_middle_of_a_median(threads):
    """It is sent when a quarter of the call is done, by the processor time that a whole call takes on this machine."""
    done = run_python(
        """
import os, signal, threading, time
import iruka
numbers = iruka.random.randint(0, 200, (50, 4_000_000), dtype="uint8")
def measured(call):
    began = time.process_time()
    call()
    return time.process_time() - began
def whole():
    iruka.median(numbers, axis=1)
def interrupted():
    began, is_over = time.process_time(), threading.Event()
    def send():
        while time.process_time() - began < usual / 4 and not is_over.wait(0.001):
            pass
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=send)
    thread.start()
    try:
        whole()
        is_over.set()
        thread.join()
        time.sleep(1)
    except KeyboardInterrupt:
        thread.join()
whole()
usual = min(measured(whole) for _ in range(2))
parts = []
while len(parts) < 5 and min(parts, default=1) > 0.75:
    parts.append(measured(interrupted) / usual)
print(min(parts), usual)
""",
        IRUKA_NUM_THREADS=str(threads),
    )
    assert done.returncode == 0 and float(done.stdout.split()[0]) < 0.75, done.stdout + done.stderr


@pytest.mark.cpu_only
@pytest.mark.parametrize("last_act", ["fork", "call"])
def test_what_runs_after_the_end_of_compilers(tmp_path, last_act):
    """A daemon thread that compiles at the interpreter's end keeps neither a fork nor a call of its kernel waiting."""
    done = run_python(
        """
import atexit, itertools, os, threading, time
latest = 0
def act():
    time.sleep(0.3)
    if os.environ["LAST_ACT"] == "call":
        iruka.ElementwiseKernel("T x", "T y", f"y = x + {latest};", f"k{latest}")(x)
    else:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    print("done", flush=True)
atexit.register(act)  # before Iruka's own
import iruka
x = iruka.ones(4, "float32")
def compile_on():
    global latest
    for latest in itertools.count():
        iruka.ElementwiseKernel("T x", "T y", f"y = x + {latest};", f"k{latest}")(x)
threading.Thread(target=compile_on, daemon=True).start()
time.sleep(0.5)
""",
        LAST_ACT=last_act,
        IRUKA_CACHE_DIR=str(tmp_path / "cache"),
        IRUKA_LEAK_WARNINGS="0",
    )
    assert done.stdout == "done\n", done.stdout + done.stderr


def test_the_end_of_a_process_whose_daemon_threads_go_on():
    """They run kernels of the user's and of the library's, compile new ones, and have them specialised meanwhile."""
    program = """
import sys, threading, time
import iruka
number = int(sys.argv[1]) if len(sys.argv) > 1 else time.time_ns() % 1000003
hot = iruka.ElementwiseKernel(
    'float32 x, int32 n', 'float32 y', f'float s = x + {number}; for (int j = 0; j < n; ++j) s = s * 0.5f + j; y = s;', 'hot')
x = iruka.ones(40000, 'float32')
def compile_another(k):
    iruka.ElementwiseKernel('float32 x', 'float32 y', f'y = x * {k}.5f + {number};', 'another')(x)
def forever(work):
    def run():
        for k in range(1 << 60):
            work(k)
    threading.Thread(target=run, daemon=True).start()
for work in (lambda k: hot(x, 200), lambda k: hot(x, 300), compile_another,
             lambda k: iruka.histogram(x, 10), lambda k: iruka.isin(x, x[:100]), lambda k: iruka.unique(x)):
    forever(work)
time.sleep(number % 300 / 1000 + 0.05)
"""
    for _ in range(8):
        done = run_python(program, IRUKA_LEAK_WARNINGS="0")  # such threads keep what they use
        assert done.returncode == 0 and done.stderr == "", (done.returncode, done.stderr)
