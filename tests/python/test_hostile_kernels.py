"""Hostile inputs to every way of writing a kernel: each raises what it must, or runs, and the process lives."""

import json
import pathlib
import subprocess
import sys

import pytest

import iruka
from helpers import PATIENCE

ROWS = pathlib.Path(__file__).with_name("hostile_inputs.py")
SUBJECTS = ("vectorize: ", "guvectorize: ", "jit: ", "RawKernel: ", "RawModule: ", "ElementwiseKernel: ",
            "ReductionKernel: ", "fuse: ", "slices: ", "pickle: ", "threads: ", "interrupt: ")  # fmt: skip


@pytest.mark.parametrize("subject", SUBJECTS, ids=[each.strip(": ") for each in SUBJECTS])
def test_hostile_inputs(subject):
    if subject == "interrupt: " and not iruka.default_device().name.startswith("cpu"):
        pytest.skip("a GPU's kernel runs to its end")
    done = subprocess.run(
        [sys.executable, ROWS, subject], capture_output=True, text=True, timeout=600 * PATIENCE, check=False
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    last = json.loads(lines[-1][0]) if lines else "the imports"
    assert done.returncode == 0, f"the process ended with {done.returncode} in {last!r}: {done.stderr[-2000:]}"
    found = {json.loads(name): json.loads(outcome)[0] for name, outcome in lines}
    assert len(found) == len(lines) >= 1, "rows of one name"
    assert not any(found.values()), {name: words for name, words in found.items() if words}


def test_there_are_hundreds_of_them():
    code = (
        "import hostile_texts, hostile_functions as f; print(*(name.split(': ')[0] for name, *_ in f.ROWS), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROWS.parent, capture_output=True, text=True, check=True)
    subjects = [each + ": " for each in done.stdout.splitlines()]
    assert len(subjects) > 500 and set(subjects) <= set(SUBJECTS)
