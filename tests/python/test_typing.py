"""Type stubs: mypy reads a sample program as a user's, with the package's stubs, and the program runs."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

from helpers import PATIENCE, run_python

SAMPLE = pathlib.Path(__file__).parent / "typed_sample.py"
PACKAGE = SAMPLE.parents[2] / "python" / "iruka"


def check(*arguments, cache):
    options = ["--no-incremental", "--cache-dir", cache, "--warn-unused-ignores", "--no-implicit-reexport"]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, *arguments],
        capture_output=True,
        text=True,
        cwd=PACKAGE.parent,
        timeout=300 * PATIENCE,
    )


def test_sample_is_typed(tmp_path):
    """Also the stubs themselves: mypy reports errors in the stubs that a program imports."""
    pytest.importorskip("mypy")
    checked = check("--follow-imports=silent", "--disallow-untyped-calls", str(SAMPLE), cache=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_sample_runs():
    done = run_python(SAMPLE.read_text())
    assert done.returncode == 0, done.stderr
    x = np.arange(12, dtype=np.float32)
    x[x > 5] = 0
    assert float(done.stdout) == float((x * x).sum())
