"""Results do not depend on the floating-point state that another library left in the calling thread."""

import pytest

from helpers import run_python

ODD_STATE = """
import ctypes
import numpy as np
import iruka

libm = ctypes.CDLL("libm.so.6")

class State(ctypes.Structure):
    _fields_ = [("x87", ctypes.c_uint32 * 7), ("mxcsr", ctypes.c_uint32)]

def get():
    state = State()
    libm.fegetenv(ctypes.byref(state))
    return state

usual = get()

def set_mxcsr(value):
    state = State(usual.x87, value)
    libm.fesetenv(ctypes.byref(state))

ODD = 0x1F80 | 0x8040 | 0x4000  # flush to zero, subnormals are zeros, round upwards

def odd(work):
    set_mxcsr(ODD)
    try:
        result = work()
        assert get().mxcsr & ~0x3F == ODD, hex(get().mxcsr)
    finally:
        set_mxcsr(usual.mxcsr)
    return result
"""


@pytest.mark.cpu_only
def test_subnormals_and_rounding_survive_the_callers_state():
    done = run_python(
        ODD_STATE
        + """
rng = np.random.default_rng(3)
tiny = rng.uniform(-1e-39, 1e-39, 300_000).astype("float32")
thirds = rng.uniform(0, 1, 300_000)
spd = np.array([[4.0, 1, 5e-310], [1, 3, 0], [5e-310, 0, 2]])
x, t, s = iruka.asarray(tiny), iruka.asarray(thirds), iruka.asarray(spd)
few, fewer = x[:5].copy(), t[:5].copy()
half = iruka.ElementwiseKernel("float32 x, float32 c", "float32 y", "y = x * 0.5f + c;", "half")
work = {
    "kernel": lambda: half(x, 1e-40),
    "small kernel": lambda: half(few, 1e-40),
    "multiply": lambda: x * np.float32(0.75),
    "divide": lambda: fewer / 3,
    "sum": lambda: t.sum(),
    "cumsum": lambda: t.cumsum(),
    "short cumsum": lambda: few.cumsum(),
    "sort": lambda: iruka.sort(x),
    "short sort": lambda: iruka.sort(few),
    "unique": lambda: iruka.unique(few),
    "median": lambda: iruka.median(x),
    "fft": lambda: iruka.fft.fft(t[:4096]),
    "matmul": lambda: s @ s,
    "inv": lambda: iruka.linalg.inv(s),
    "full": lambda: iruka.full(3, 1e-40, "float32"),
    "float16": lambda: t.astype("float16"),
}
for name, function in work.items():
    expected = iruka.asnumpy(function())
    for _ in range(3):
        got = iruka.asnumpy(odd(function))
        assert got.tobytes() == expected.tobytes(), (name, got, expected)
np.testing.assert_array_equal(iruka.asnumpy(odd(lambda: half(x, 1e-40))), tiny * np.float32(0.5) + np.float32(1e-40))
"""
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_only
def test_compilers_fold_constants_in_the_usual_state():
    done = run_python(
        ODD_STATE
        + """
import math
parts = "y = exp(-740.0); z = sin(1e-310) + pow(2.0, -1070.0); w = exp(x * 0 + 1.0 / 3.0);"
make = lambda: iruka.ElementwiseKernel("float64 x", "float64 y, float64 z, float64 w", parts, "folded")(iruka.zeros(1))
y, z, w = (float(iruka.asnumpy(each)[0]) for each in odd(make))
assert y == math.exp(-740.0) > 0 and z == 1e-310 + 2.0**-1070, (y, z)
assert abs(w - math.exp(1 / 3)) <= math.ulp(w), w
""",
        IRUKA_CACHE_DIR="/nowhere",
    )
    assert done.returncode == 0, done.stderr
