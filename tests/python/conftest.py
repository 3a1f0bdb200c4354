"""One cache folder for the whole run, and one for each test that looks at the cache itself."""

import os
import tempfile

_folder = None
if "IRUKA_CACHE_DIR" not in os.environ:  # before the first import of iruka
    _folder = tempfile.TemporaryDirectory(prefix="iruka-tests-")
    os.environ["IRUKA_CACHE_DIR"] = _folder.name
os.environ["IRUKA_SHIPPED_KERNELS"] = "0"  # tests see what a text compiles to now

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

import iruka  # noqa: E402

settings.register_profile("iruka", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("iruka")


def pytest_configure(config):
    config.addinivalue_line("markers", "cpu_only: about the CPU's own ways (threads, lanes, memory shared with NumPy)")


def pytest_collection_modifyitems(items):
    if iruka.default_device().name == "cpu":
        return
    for item in items:
        if item.get_closest_marker("cpu_only"):
            item.add_marker(pytest.mark.skip(reason="about the CPU, and the default device is a GPU"))


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


def pytest_report_header(config):
    return f"iruka device: {iruka.default_device().name}"
