"""Checks every source file: allowed includes and imports, lengths, static variables, no paths of one machine.

Run it as a script for the whole tree, or call `problems_of(path, text)` for one file.
"""

import ast
import graphlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# From left to right; a folder may include itself, the public headers, and the folders to its left.
LAYERS = ["core", "jit", "backend", "ops", "nn", "image", "pipeline", "python"]
RANK = {"core": 0, "jit": 1, "backend": 2, "ops": 3, "nn": 4, "image": 4, "pipeline": 5, "python": 6}

# Only the registry may include a backend from outside.
REGISTRY = re.compile(r"^src/backend/[^/]+$")
COMPILER = ("src/backend/cpu/compiler/", "src/backend/cpu/spmd/")

LONGEST_FILE = 800
SOURCE = re.compile(r"\.(cpp|h|py|cu|cmake|sh)$|(^|/)(CMakeLists\.txt|Makefile)$")
# A function's static variable; members end in an underscore, and functions have parameters.
FUNCTION_STATIC = re.compile(
    r"^ +static (?!(?:constexpr|constinit|thread_local|inline)\b)(?:const )?[\w:<>, *&]+?[ *&](\w*[^\W_])\s*[={;\[]",
    re.MULTILINE,
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Split, so that this file passes its own check. "me" and "user" name no one in particular.
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|Users|" + r"work)/(?!(?:me|user)\b)[\w.-]+")
REGISTRY_HOST = re.compile(
    r"\b(?:[\w-]+\.)*(?:"
    + "|".join(
        [
            r"pypi" + r"\.org",
            r"python" + r"hosted\.org",
            r"deb" + r"\.debian\.org",
            r"security" + r"\.debian\.org",
            r"npmjs" + r"\.(?:org|com)",
            r"crates" + r"\.io",
            r"conda" + r"\.io",
            r"anaconda" + r"\.org",
        ]
    )
    + r")\b"
)

# Algorithms use a service or a property of TargetDescription and do not check which device they run on.
WHICH_DEVICE = re.compile(r"\bis_gpu\b|\bDeviceKind\b|\btarget\(\)\.(?:kind|name)\b")
MAY_ASK_WHICH_DEVICE = {
    "src/core/device.h": "says what kinds there are",
    "src/core/service.h": "chooses a service's implementation, once for all services",
}


def layer_of(path):
    """('backend', 'cpu') for src/backend/cpu/x.cpp, ('core', None) for src/core/x.h, None outside the layers."""
    parts = path.split("/")
    if parts[0] == "python":
        return "python", None
    if parts[0] != "src" or len(parts) < 3 or parts[1] not in RANK:
        return None
    backend = parts[2] if parts[1] == "backend" and len(parts) > 3 else None
    return parts[1], backend


def included_layer(name):
    """The same for the text of an include, which is relative to src/."""
    return layer_of("src/" + name)


def include_problems(path, text):
    own = layer_of(path)
    for bracket, name in INCLUDE.findall(text):
        if re.match(r"(llvm|clang)(-c)?/", name) and not path.startswith(COMPILER):
            yield f"includes {name}: LLVM and Clang stay inside {' and '.join(COMPILER)}"
        if path.startswith("include/") and not name.startswith("iruka/") and bracket == '"':
            yield f"includes {name}: public headers include public headers only"
        if own is None or bracket == "<":
            continue
        if name.startswith(".."):
            yield f"includes {name}: includes are relative to src/"
            continue
        other = included_layer(name)
        if other is None:
            continue
        if other[0] != own[0] and RANK[other[0]] >= RANK[own[0]]:
            yield f"includes {name}: {own[0]} must not include {other[0]}"
        elif other[1] and other[1] != own[1] and not REGISTRY.match(path):
            yield f"includes {name}: only the registry names a backend's headers"


def problems_of(path, text):
    """The problems of the file at `path` (relative to the repository, '/'-separated) with the content `text`."""
    problems = []
    if SOURCE.search(path):
        lines = text.count("\n")
        if lines > LONGEST_FILE:
            problems.append(f"has {lines} lines, more than {LONGEST_FILE}")
    if re.search(r"\.(cpp|h|cu)$", path):
        problems += include_problems(path, text)
    if layer_of(path) and not path.startswith("src/backend/") and path not in MAY_ASK_WHICH_DEVICE:
        problems += [
            f"asks which device it runs on ({found}): core/service.h offers what devices do in ways of their own"
            for found in WHICH_DEVICE.findall(text)
        ]
    if layer_of(path) and not path.startswith(COMPILER):  # fork() waits for compilers
        problems += [
            f"has the function's static {name}: made_once() of core/once.h makes one that a child of fork() can make, "
            "too"
            for name in FUNCTION_STATIC.findall(text)
        ]
    if not path.startswith("licenses/"):
        problems += [f"names a path of one machine: {found}" for found in MACHINE_PATH.findall(text)]
        problems += [f"names a package registry's host: {found}" for found in REGISTRY_HOST.findall(text)]
    return problems


def module_of(path):
    """iruka._numpy.sorting for python/iruka/_numpy/sorting.py."""
    return path.removeprefix("python/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported_modules(path, text, modules):
    """The modules of the package that one of them imports, at its head or in a function."""
    package = module_of(path) if path.endswith("/__init__.py") else module_of(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            source = ".".join([*parts, *filter(None, [node.module])])
            for alias in node.names:
                name = f"{source}.{alias.name}"
                yield from {name if name in modules else source} & modules


def import_cycle(files):
    """What is wrong with the imports of the package's files, (path, text) each; None where none closes a circle."""
    files = [(path, text) for path, text in files if path.startswith("python/iruka/") and path.endswith(".py")]
    modules = {module_of(path) for path, _ in files} | {"iruka._core"}
    graph = {module_of(path): {*imported_modules(path, text, modules)} - {module_of(path)} for path, text in files}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return f"modules import each other in a circle: {' -> '.join(reversed(error.args[1]))}"


def tracked_files(root=ROOT):
    """(path, text) of every text file that git tracks and that exists."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
    for name in filter(None, names.decode().split("\0")):
        try:
            yield name, (root / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue


def main():
    files = list(tracked_files())
    found = [(path, problem) for path, text in files for problem in problems_of(path, text)]
    if cycle := import_cycle(files):
        found.append(("python/iruka", cycle))
    for path, problem in found:
        print(f"{path}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
