"""An array that one thread uses while another gives it another shape or other memory."""

import pytest

from helpers import run_python

# A kernel that is compiled by its first call, so that the other thread has milliseconds to change the array.
CHANGED_MEANWHILE = """
import threading, time
import numpy as np
import iruka

def while_running(work, change):
    result, started = [], threading.Event()
    def run():
        started.set()
        result.append(work())
    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    time.sleep(0.002)
    changed_in_time = thread.is_alive()
    change()
    thread.join()
    return result[0], changed_in_time

def first_call(number):
    lines = "".join(f"v = v * {k}.5f + {number}; v = v / {k}.25f;" for k in range(1, 400))
    return iruka.ElementwiseKernel("float32 x", "float32 y", f"float v = x; {lines} y = v - v + x;", f"slow_{number}")
"""


@pytest.mark.cpu_only
def test_the_call_uses_the_array_it_was_given(tmp_path):
    done = run_python(
        CHANGED_MEANWHILE
        + """
in_time = 0
for number in range(3):
    k = first_call(number)
    x = iruka.arange(1000, dtype="float32")
    expected = np.arange(1000, dtype="float32")
    def change():
        x.resize(2000, refcheck=False)
        others = [iruka.full(1000, -1, "float32") for _ in range(4)]  # may get the memory that x had
    y, changed_in_time = while_running(lambda: k(x), change)
    in_time += changed_in_time
    assert x.shape == (2000,)
    np.testing.assert_array_equal(y.get(), expected)
assert in_time > 0
""",
        IRUKA_CACHE_DIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_only
def test_the_call_fills_the_output_it_was_given(tmp_path):
    done = run_python(
        CHANGED_MEANWHILE
        + """
in_time = 0
for number in range(3):
    k = first_call(number)
    x, y, others = iruka.arange(1024, dtype="float32"), iruka.zeros(1024, "float32"), []
    def change():
        y.resize(4, refcheck=False)
        others.extend(iruka.full(1024, -1, "float32") for _ in range(4))  # may get the memory that y had
    result, changed_in_time = while_running(lambda: k(x, y), change)
    in_time += changed_in_time
    assert result is y and y.shape == (4,)
    for other in others:
        assert (other.get() == -1).all()
assert in_time > 0
""",
        IRUKA_CACHE_DIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_only
def test_resize_sees_who_uses_the_array(tmp_path):
    done = run_python(
        CHANGED_MEANWHILE
        + """
seen = 0
for number in range(3):
    k = first_call(number)
    x = iruka.arange(1000, dtype="float32")
    def change():
        global seen
        try:
            x.resize(2000)
        except ValueError as error:
            assert "refcheck" in str(error), error
            seen += 1
    while_running(lambda: k(x), change)
assert seen > 0
""",
        IRUKA_CACHE_DIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr


WORKS = [
    "k(x, 2)",
    "k(x, 1, o)",
    "x + 1",
    "o.__iadd__(x.size)",
    "iruka.multiply(x, 2)",
    "iruka.add(1, 2, out=o)",
    "x.sum()",
    "iruka.sum(x, 0)",
    "iruka.cumsum(x)",
    "iruka.sort(x, None)",
    "iruka.unique(x)",
    "x.astype('float64')",
    "x.copy()",
    "x.T.reshape(-1)",
    "x.flatten()",
    "o.__setitem__(Ellipsis, x.sum())",
    "x[[0, 1]]",
    "x.take([0, 5, 7])",
    "x.var()",
    "iruka.matmul(x, x.T)",
    "x.item(3)",
    "iruka.asnumpy(x)",
    "o.fill(3)",
    "iruka.nonzero(x)",
    "iruka.bincount(o.astype('int64').ravel())",
    "iruka.concatenate([x, x])",
    "iruka.add.accumulate(x)",
]


def test_another_thread_sets_the_shape():
    """Twelve axes are on the heap, so that a sanitizer reports reads after the other thread has freed them."""
    done = run_python(
        """
import sys, threading, time
import numpy as np
import iruka
sys.setswitchinterval(1e-5)
k = iruka.ElementwiseKernel("float32 x, float32 c", "float32 y", "y = x * c;", "shared")
x = iruka.ones((64, 64), "float32")
o = iruka.ones(x.shape, "float32")
stop = threading.Event()
def change():
    shapes = [(64, 64), (32, 128), (2,) * 12, (4096,), (4, 1, 4, 4, 4, 4, 4, 1)]
    while not stop.is_set():
        for shape in shapes:
            x.shape = shape
            o.shape = shape
            o.resize(shape, refcheck=False)
thread = threading.Thread(target=change, daemon=True)
thread.start()
errors = (ValueError, IndexError, TypeError)  # of shapes that do not fit one another
for work in WORKS:
    print(work, file=sys.stderr, flush=True)
    code = compile(work, work, "eval")
    end, rounds = time.monotonic() + 0.15, 0
    while time.monotonic() < end or rounds < 10:
        rounds += 1
        try:
            result = eval(code)
        except errors:
            continue
        if isinstance(result, iruka.ndarray) and result.dtype == np.float32 and result is not o:
            result = result.get()
            assert 0 <= result.min() and result.max() <= 4096, result
stop.set()
thread.join()
""".replace("WORKS", repr(WORKS))
    )
    assert done.returncode == 0, done.stderr
