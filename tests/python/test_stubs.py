"""The public surface as golden files: the stub of the C++ module, and the names of the package."""

import importlib
import inspect
import pathlib
import subprocess
import sys

import pytest

import iruka

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "iruka"


def test_stubs_are_current(tmp_path):
    """After an intended change: python tools/generate_stubs.py"""
    generator = PACKAGE.parents[1] / "tools" / "generate_stubs.py"
    subprocess.run([sys.executable, generator, tmp_path], check=True)
    for name in ("_core.pyi", "__init__.pyi"):
        assert (tmp_path / name).read_text() == (PACKAGE / name).read_text(), name


def test_public_names():
    """After an intended change: edit tests/python/public_names.txt."""
    code = "import iruka; print(*sorted(name for name in dir(iruka) if not name.startswith('_')))"
    names = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    expected = (pathlib.Path(__file__).parent / "public_names.txt").read_text().split()
    assert names == expected  # of a fresh process: other tests import modules of the package


MODULES = "errors fft fn image jit linalg nn ops pipeline profiler random testing types".split()


@pytest.mark.parametrize("name", MODULES)
def test_modules_show_their_own_names(name):
    module = importlib.import_module(f"iruka.{name}")
    shown = set(dir(module))
    assert shown.isdisjoint({"annotations", "Any", "Callable", "NamedTuple", "numpy", "os", "sys", "builtins"})
    assert set(getattr(module, "__all__", [])) <= shown <= set(vars(module))


def test_public_things_are_documented():
    for name in dir(iruka):
        thing = getattr(iruka, name)
        if not name.startswith("_") and (
            inspect.isfunction(thing)
            or inspect.isclass(thing)
            or inspect.ismodule(thing)
            or isinstance(thing, iruka.ufunc)
            or name in iruka._functions.reductions
        ):
            assert thing.__doc__, name
    for name in dir(iruka.ndarray):
        if not name.startswith("_"):
            assert getattr(iruka.ndarray, name).__doc__, name
