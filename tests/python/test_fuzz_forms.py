"""The fuzzer of all forms of kernels: it finds nothing in these seeds, and it finds planted faults."""

import pytest

import helpers

pytestmark = pytest.mark.cpu_only


def fuzz(*arguments):
    return helpers.run_fuzzer("forms", *arguments)


def test_no_findings():
    done = fuzz("--count", 150, "--seed", 7, "--seconds", 110)
    assert done.returncode == 0 and " 0 findings" in done.stdout, done.stdout + done.stderr


FAULTS = {
    "vectorize": ("vectorize", "import iruka._translate.expressions as e; e.arithmetic = lambda a, b: a"),
    "threads": (
        "rawkernel",
        "import iruka.jit as j; real = j.rawkernel; "
        "j.rawkernel = lambda **o: lambda f: lambda grid, block, args: real(**o)(f)((1,), block, args)",
    ),
    "fuse": ("fuse", "import iruka; real = iruka.fuse; iruka.fuse = lambda f: real(lambda x, y, z: f(x, y, z) + 1)"),
    "slices": (
        "slices",
        "import iruka; real = iruka.apply_along_axis; iruka.apply_along_axis = lambda *a: real(*a) * 2 + 1",
    ),
    "a crash": ("fuse", "import iruka, os; iruka.fuse = lambda f: os.abort()"),
    "an undocumented error": ("vectorize", "import iruka._vectorize as v; v._Loop = None"),
}


@pytest.mark.parametrize("form, planted", FAULTS.values(), ids=FAULTS.keys())
def test_faults_are_found(form, planted):
    done = fuzz("--count", 60, "--seed", 7, "--seconds", 100, "--only", form, "--planted", planted)
    assert done.returncode == 1 and "--case 7:" in done.stdout, done.stdout + done.stderr
    assert "ended with 1" not in done.stdout, done.stdout  # the statements themselves run
