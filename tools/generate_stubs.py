"""Writes the package's stubs, for type checkers and editors: generate_stubs.py [FOLDER], by default python/iruka.

_core.pyi is nanobind's, with python/stub_patterns.txt for what it cannot know. __init__.pyi is __init__.py's imports,
each exported, and the functions of the tables, which exist at run time only.
"""

import ast
import pathlib
import subprocess
import sys

import iruka
from iruka._functions import elementwise, reductions

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "iruka"

HEAD = """# Made by tools/generate_stubs.py.
from typing import Any

from . import _core
from ._core import (
{kinds})


class _Pair(_core.ufunc):
    def __call__(self, *args: Any, **kwargs: Any) -> tuple[_core.ndarray, _core.ndarray]: ...  # type: ignore[override]


"""


def write_core(target: pathlib.Path) -> None:
    patterns = ROOT / "python" / "stub_patterns.txt"
    options = ["-q", "-P", "-m", "iruka._core", "-p", str(patterns), "-o", str(target)]
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", *options], check=True)
    text = target.read_text()
    text = text.replace(") -> object:", ") -> Any:")  # a function of which C++ says "some object"
    names = ("_color", "_filters", "_geometry", "_image", "_nn", "_pipeline", "_random")
    imports = ",\n".join(f"    {name} as {name}" for name in names)
    submodules = f"from iruka._core import (\n{imports}\n)\n"
    assert submodules in text
    target.write_text(text.replace(submodules, "".join(f"{name}: Any\n" for name in names)))


def is_public(name: str) -> bool:
    return not name.startswith("_") or name.startswith("__")


def exports() -> dict[str, str]:
    """A line for each public name that __init__.py imports or assigns."""
    lines = {}
    for node in ast.parse((PACKAGE / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                lines[name] = f"from {'.' * node.level}{node.module or ''} import {alias.name} as {name}"
        elif isinstance(node, ast.Assign):
            lines.update((target.id, ast.unparse(node)) for target in node.targets if isinstance(target, ast.Name))
    return {name: line for name, line in lines.items() if is_public(name)}


def write_package(target: pathlib.Path) -> None:
    kinds = sorted({type(function).__name__ for function in reductions.values()})
    lines = {"bfloat16": "from ml_dtypes import bfloat16 as bfloat16"}
    for name, function in {**elementwise, **reductions}.items():
        kind = "_Pair" if getattr(function, "nout", 1) == 2 else type(function).__name__
        lines[name] = f"{name}: {kind if kind != 'ufunc' else '_core.ufunc'}"
    lines.update(exports())
    missing = {name for name in dir(iruka) if not name.startswith("_")} - lines.keys()
    if missing:
        raise SystemExit(f"generate_stubs.py: nothing says what these are: {sorted(missing)}")
    head = HEAD.format(kinds="".join(f"    {kind},\n" for kind in kinds))
    target.write_text(head + "".join(f"{lines[name]}\n" for name in sorted(lines)))


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    write_core(folder / "_core.pyi")
    write_package(folder / "__init__.pyi")
