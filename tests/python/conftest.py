"""One cache folder for the whole run, and one for each test that looks at the cache itself."""

import os
import tempfile

_folder = None
if "IRUKA_CACHE_DIR" not in os.environ:  # before the first import of iruka
    _folder = tempfile.TemporaryDirectory(prefix="iruka-tests-")
    os.environ["IRUKA_CACHE_DIR"] = _folder.name

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("iruka", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("iruka")


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


def pytest_report_header(config):
    return f"iruka device: {os.environ.get('IRUKA_DEVICE', 'cpu')}"
