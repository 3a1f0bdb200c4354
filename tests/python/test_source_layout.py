"""The rules about folders, includes and file sizes hold, and the check notices when they do not."""

import importlib.util
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("check_layers", ROOT / "tools" / "check_layers.py")
check_layers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_layers)


def module(name):
    return f"python/iruka/{name}.py"


@pytest.mark.parametrize(
    "files, circle",
    [
        ([("a", "from .b import c\n"), ("b", "def c():\n    from . import a\n")], True),
        ([("__init__", "from ._x.a import b\n"), ("_x/a", "from .. import b\n")], True),
        ([("__init__", "from ._x.a import b\n"), ("_x/a", "import iruka\n")], True),
        ([("_x/__init__", "from .a import b\n"), ("_x/a", "from ..errors import b\n"), ("errors", "")], False),
        ([("__init__", "from . import _core, a\n"), ("a", "from ._core import b\nimport numpy\n")], False),
    ],
)
def test_modules_that_import_each_other_are_noticed(files, circle):
    found = check_layers.import_cycle([(module(name), text) for name, text in files])
    assert (found is not None and "circle" in found) == circle


def test_every_tracked_file_keeps_the_rules():
    if subprocess.run(["git", "rev-parse"], cwd=ROOT, capture_output=True).returncode != 0:
        pytest.skip("not a git checkout")
    files = list(check_layers.tracked_files(ROOT))
    assert len(files) > 50
    assert check_layers.import_cycle(files) is None
    assert [(path, problem) for path, text in files for problem in check_layers.problems_of(path, text)] == []


@pytest.mark.parametrize(
    "path, text, words",
    [
        ("src/core/array.cpp", '#include "jit/program.h"\n', "core must not include jit"),
        ("src/jit/emit.cpp", '#  include "ops/elementwise/elementwise_table.h"\n', "jit must not include ops"),
        ("src/nn/layer.cpp", '#include "image/codec.h"\n', "nn must not include image"),
        ("src/image/jpeg.cpp", '#include "pipeline/stage.h"\n', "image must not include pipeline"),
        ("src/backend/cpu/device.cpp", '#include "backend/cuda/driver.h"\n', "only the registry"),
        ("src/ops/sort.cpp", '#include "backend/cpu/pool.h"\n', "only the registry"),
        ("src/core/array.cpp", '#include "../jit/program.h"\n', "relative to src/"),
        ("src/jit/cache.cpp", "#include <llvm/IR/Module.h>\n", "LLVM and Clang stay inside"),
        ("src/backend/cpu/device.cpp", '#include "clang/Basic/Version.h"\n', "LLVM and Clang stay inside"),
        ("include/iruka/array.h", '#include "core/device.h"\n', "public headers"),
        ("src/core/array.cpp", "\n" * 801, "801 lines"),
        ("src/core/array.cpp", "int f() {\n  static const auto& table = *new Table;\n}\n", "static table: made_once()"),
        (
            "python/src/array.cpp",
            "int f() {\n  static const Function function{name};\n}\n",
            "static function: made_once()",
        ),
        ("src/ops/sort/sorting.cpp", "if (x.device().target().kind == kind) f();\n", "asks which device"),
        ("python/src/array.cpp", "const bool is_gpu = f(x);\n", "asks which device"),
        ("docs/guide.md", "see /" + "home/someone/iruka", "path of one machine"),
        ("tools/x.sh", "curl https://" + "pypi" + ".org/simple", "registry's host"),
    ],
)
def test_a_broken_rule_is_noticed(path, text, words):
    problems = check_layers.problems_of(path, text)
    assert len(problems) == 1 and words in problems[0]


@pytest.mark.parametrize(
    "path, text",
    [
        ("src/ops/sort.cpp", '#include "jit/program.h"\n#include "core/device.h"\n#include "iruka/array.h"\n'),
        ("src/backend/registry.cpp", '#include "backend/cpu/device.h"\n#include "backend/cuda/device.h"\n'),
        ("src/backend/cpu/compiler/frontend.cpp", '#include "clang/Basic/Version.h"\n'),
        ("src/backend/cpu/device.cpp", '#include "backend/cpu/compiler/compiler.h"\n'),
        ("python/src/array.cpp", '#include "ops/elementwise/elementwise_table.h"\n'),
        ("src/backend/cpu/compiler/host.cpp", "int f() {\n  static const Host& found = *new Host;\n}\n"),
        (
            "src/core/array.cpp",
            "  static constexpr int kMost = 3;\n  static Array like(const Array& x);\n  static Made* made_;\n",
        ),
        ("src/core/array.cpp", "\n" * 800),
        ("tools/x.sh", "cp $HOME/work/file build/work/x ./home/y\n"),
    ],
)
def test_a_kept_rule_is_not_reported(path, text):
    assert check_layers.problems_of(path, text) == []
