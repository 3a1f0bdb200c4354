"""Kernels that the build compiled for the library's own functions (tools/ship_kernels.py)."""

import ast
import os
import pathlib
import shutil

import pytest

import iruka
from helpers import run_python

PACKAGE = pathlib.Path(iruka.__file__).parent
pytestmark = [
    pytest.mark.cpu_only,
    pytest.mark.skipif(not (PACKAGE / "kernels").is_dir(), reason="this build ships no kernels"),
]

PROGRAM = """
import iruka as cp
x, m = cp.arange(1000, dtype="float32"), cp.ones((32, 32), "float32")
g = cp.random.default_rng(3)
results = [x + x, x + cp.arange(1000), cp.exp(x), x.sum(), m.sum(axis=0), x[x > 1], x.astype("int64"), g.gamma(2, 1, 99), g.binomial(9, 0.4, 99)]
results.append(cp.corrcoef(m * x[:32]))
print([event.kind for event in cp.kernel_history()])
print(repr([r.tolist() for r in results[:-1]]))
"""

REDUCTIONS = """
import iruka as cp
results = []
for dtype in ("float32", "float64", "int64", "uint8", "bool"):
    large = [cp.ones(10_000, dtype), cp.ones(100_000, dtype), cp.ones(1_000_000, dtype), cp.ones((100, 100), dtype), cp.ones((1000, 1000), dtype)]
    results += [a.sum(axis=axis) for a in large for axis in (None, *range(a.ndim))] + [a.max() for a in large] + [a.std(axis=0) for a in large]
for dtype in ("float32", "float64", "uint8", "bool"):
    for picture in cp.ones((480, 640, 3), dtype), cp.ones((480, 640, 4), dtype):
        for function in cp.sum, cp.mean, cp.std, cp.max, cp.argmin, cp.all:
            results += [function(picture, axis=axis) for axis in (None, -1)]
        results += [picture.mean(axis=axis) for axis in (0, 1, (0, 1))]
print([event.kind for event in cp.kernel_history()])
print(len(results))
"""


def run(folder, program=PROGRAM, **environment):
    """Kinds of the events, and results, of a program in a new process with an empty cache."""
    path = os.pathsep.join([str(environment.pop("package", PACKAGE.parent)), os.environ.get("PYTHONPATH", "")])
    settings = {"IRUKA_CACHE_DIR": str(folder), "IRUKA_SHIPPED_KERNELS": "1", "PYTHONPATH": path, **environment}
    done = run_python(program, **settings)
    assert done.returncode == 0, done.stderr
    kinds, results = done.stdout.splitlines()
    return ast.literal_eval(kinds), results


def test_nothing_is_compiled(tmp_path):
    shipped, results = run(tmp_path / "one")
    assert len(shipped) > 8 and set(shipped) == {"loaded_from_disk"}
    compiled, same = run(tmp_path / "two", IRUKA_SHIPPED_KERNELS="0")
    assert compiled.count("compiled") == len(shipped) and same == results
    assert not list((tmp_path / "one").glob("*.kernel")) and list((tmp_path / "two").glob("*.kernel"))


def test_reductions_of_large_arrays_and_pictures_are_not_compiled(tmp_path):
    """A reduction's kernel depends on how it walks memory: in chunks, by columns, by a picture's channels."""
    kinds, _ = run(tmp_path, REDUCTIONS)
    assert len(kinds) > 100 and "compiled" not in kinds


def test_a_damaged_kernel_is_compiled_anew(tmp_path):
    package = tmp_path / "iruka"
    package.mkdir()
    for item in PACKAGE.iterdir():
        if item.name not in ("kernels", "__pycache__"):
            (package / item.name).symlink_to(item.resolve())
    _, results = run(tmp_path / "cache", IRUKA_SHIPPED_KERNELS="0")
    shutil.copytree(tmp_path / "cache", package / "kernels")
    kinds, same = run(tmp_path / "other", package=tmp_path)
    assert set(kinds) == {"loaded_from_disk"} and same == results
    for count, entry in enumerate((package / "kernels").glob("*.kernel")):
        content = bytearray(entry.read_bytes())
        content[-1] ^= 1
        entry.write_bytes(content if count % 2 else content[:40])
    kinds, same = run(tmp_path / "third", package=tmp_path)
    assert set(kinds) == {"compiled"} and same == results
