"""Programs over the driver in software, which the C++ tests build as a libcuda.so.1."""

import pathlib

import pytest

import iruka
from helpers import run_python

LIBRARY = pathlib.Path(iruka.__file__).parents[2] / "tests" / "cpp" / "fake_driver" / "libcuda.so.1"
TOOLKIT = LIBRARY.parents[1] / "fake_toolkit"  # for CUDA_PATH
needs_fake_driver = pytest.mark.skipif(not LIBRARY.exists(), reason="the driver in software was not built")
needs_fake_nvrtc = pytest.mark.skipif(
    not (TOOLKIT / "lib64" / "libnvrtc.so.13").exists(), reason="the compiler in software was not built"
)
FAKE_CUFFT = TOOLKIT / "lib64" / "libcufft.so.12"
needs_fake_cufft = pytest.mark.skipif(not FAKE_CUFFT.exists(), reason="the toolkit in software was not built")

SETUP = f"""
import ctypes, gc, threading, time, weakref
import numpy as np
import iruka
driver = ctypes.CDLL({str(LIBRARY)!r})
driver.fake_driver_calls.restype = ctypes.c_int64
driver.fake_driver_live_device_bytes.restype = driver.fake_driver_live_host_bytes.restype = ctypes.c_size_t
def hold(stream): driver.fake_driver_hold(ctypes.c_void_p(stream.ptr))
def let_go(stream): driver.fake_driver_let_go(ctypes.c_void_p(stream.ptr))
def raises(kind, function, *parts):
    try:
        function()
    except kind as error:
        assert all(part in str(error) for part in parts), str(error)
        return
    raise AssertionError(f"no {{kind.__name__}}")
"""


def run(code, **environment):
    """What a new process prints that runs the code with the GPUs of the driver in software."""
    code = SETUP + code + "\ngc.collect(); assert driver.fake_driver_misuse_count() == 0"
    done = run_python(code, IRUKA_DEVICE="cuda", LD_LIBRARY_PATH=str(LIBRARY.parent), **environment)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    assert done.stderr == "", done.stderr
    return done.stdout
