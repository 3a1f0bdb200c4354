"""The fuzzer of kernels over blocks of threads: it finds nothing in these seeds, and it finds planted faults."""

import pytest

import helpers

pytestmark = pytest.mark.cpu_only


def fuzz(*arguments, planted=""):
    return helpers.run_fuzzer("blocks", *arguments, planted=f"import iruka; make = iruka.RawKernel\n{planted}")


def test_no_findings():
    done = fuzz("--count", 40, "--seed", 7, "--seconds", 300)
    assert done.returncode == 0 and "40 kernels of seed 7, 0 findings" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "planted",
    [
        "iruka.RawKernel = lambda text, name: make(text.replace('__syncthreads();', ''), name)",
        "iruka.RawKernel = lambda text, name: make(text.replace('__shfl_up_sync', '__shfl_down_sync'), name)",
        "iruka.RawKernel = lambda text, name: make(text.replace('blockIdx.x', '0'), name)",
    ],
)
def test_faults_are_found(planted):
    done = fuzz("--count", 40, "--seed", 7, "--seconds", 300, planted=planted)
    assert done.returncode == 1 and "--case 7:" in done.stdout, done.stdout + done.stderr
    case = done.stdout.split("--case ")[1].split(": ")[0]
    again = fuzz("--case", case, planted=planted)
    assert again.returncode == 1 and f"--case {case}" in again.stdout
