"""One cache folder for the whole run, and one for each test that looks at the cache itself."""

import os
import secrets
import signal
import tempfile

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a shell's background processes; tests interrupt kernels
    signal.signal(signal.SIGINT, signal.default_int_handler)
_folder = None
if "IRUKA_CACHE_DIR" not in os.environ:  # before the first import of iruka
    _folder = tempfile.TemporaryDirectory(prefix="iruka-tests-")
    os.environ["IRUKA_CACHE_DIR"] = _folder.name
os.environ["IRUKA_SHIPPED_KERNELS"] = "0"  # tests compile their kernels
os.environ["IRUKA_LEAK_WARNINGS"] = "1"  # this process and those it starts say at exit what of the binding they leak

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

import iruka  # noqa: E402

# Every run draws other examples; a failure prints the blob that brings its example back (@reproduce_failure).
settings.register_profile("iruka", deadline=None, max_examples=60, print_blob=True, database=None)
settings.load_profile("iruka")
_tests = []


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbits(32))
    config.addinivalue_line("filterwarnings", "error::iruka.errors.KernelWarning")  # no sound body is warned of
    config.addinivalue_line("markers", "cpu_only: about the CPU's own ways (threads, lanes, memory shared with NumPy)")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    _tests.extend(items)
    if iruka.default_device().name == "cpu":
        return
    for item in items:
        if item.get_closest_marker("cpu_only"):
            item.add_marker(pytest.mark.skip(reason="about the CPU, and the default device is a GPU"))


def pytest_unconfigure(config):
    """pytest may keep tests until the interpreter ends; objects that they and their modules hold would be leaks."""
    for test in _tests:
        for thing in (test, test.module, test.function):
            vars(thing).clear()


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


def pytest_report_header(config):
    seed = config.option.hypothesis_seed
    return f"iruka device: {iruka.default_device().name}, repeat the random examples with --hypothesis-seed={seed}"
