"""The soak program of pipelines: it finds nothing, repeats a case by its name, and finds planted faults."""

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "soak" / "pipeline"

PLANTED = {
    "a batch is lost": "pipeline.Pipeline._next = lambda self, own=pipeline.Pipeline._next: (own(self), own(self))[1]",
    "a sample is not its own": "pipeline.Pipeline.load_state_dict = lambda self, state: None",
}


def soak(*arguments):
    return subprocess.run(
        [sys.executable, FOLDER, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )


def test_random_pipelines_lose_and_repeat_nothing():
    done = soak("--seed", 17, "--count", 60, "--seconds", 20)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cases of seed 17, 0 findings" in done.stdout


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_faults_are_found(fault):
    program = f"""
import sys
sys.path.insert(0, {str(FOLDER)!r})
from iruka import pipeline
{PLANTED[fault]}
import __main__, importlib.util
spec = importlib.util.spec_from_file_location("soak", {str(FOLDER / "__main__.py")!r})
soak = importlib.util.module_from_spec(spec)
spec.loader.exec_module(soak)
sys.exit(all(soak.run_case(17, number) for number in range(12)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "AssertionError" in done.stdout, done.stdout + done.stderr
