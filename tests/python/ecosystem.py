"""Runs cases of another library on NumPy's arrays and on ours: in a new process, where SciPy needs a variable set."""

import json
import math
import os
import subprocess
import sys
import traceback

import numpy as np

import iruka
from helpers import PATIENCE


def plain(value):
    return iruka.asnumpy(value) if isinstance(value, iruka.ndarray) else np.asarray(value)


def check_case(case, rtol=1e-7, atol=1e-10):
    """case(asarray) gives with iruka.asarray what it gives with numpy.asarray, in arrays of ours where NumPy's are
    arrays.
    """
    expected, actual = case(np.asarray), case(iruka.asarray)
    pairs = zip(actual, expected, strict=True) if isinstance(expected, tuple) else [(actual, expected)]
    for mine, reference in pairs:
        wanted = iruka.ndarray if isinstance(reference, np.ndarray | np.generic) else type(reference)
        assert isinstance(mine, wanted), f"{type(mine)}, where NumPy's arrays give {type(reference)}"
        assert plain(mine).shape == np.shape(reference), f"shape {plain(mine).shape}, not {np.shape(reference)}"
        assert np.all(np.isfinite(reference)) or math.prod(np.shape(reference)) > 1, "says nothing"
        np.testing.assert_allclose(plain(mine), reference, rtol=rtol, atol=atol)


def main(cases):
    """Prints what became of each case as JSON: None, or what went wrong."""
    outcomes = {}
    for name, case in cases.items():
        try:
            check_case(case)
            outcomes[name] = None
        except Exception as error:
            outcomes[name] = "".join(traceback.format_exception(error)[-4:])
    print(json.dumps(outcomes))


def outcomes_of(program):
    """What main(cases) of a test file says, run as a program."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", program],
        capture_output=True,
        text=True,
        timeout=300 * PATIENCE,
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
