"""Runs clang-tidy, with the checks of .clang-tidy, over the library's C++: lint_cpp.py BUILD_FOLDER

A file is looked at when it, a header that it includes, its compiler options or the checks have changed since it last
passed; BUILD_FOLDER/lint remembers that. The folder has to be built: Ninja knows the headers from then on.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("src", "python/src")
CLANG_TIDY = "clang-tidy-22"


@functools.cache
def digest(path):
    return hashlib.sha256(path.read_bytes()).digest()


def own_headers(build):
    """The files of the repository that each object file was made of, by the object's name."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    found = {}
    for record in re.split(r"\n\n+", text):
        name, *names = record.splitlines() or [""]
        paths = {pathlib.Path(os.path.normpath(build / each.strip())) for each in names}
        found[name.partition(":")[0]] = sorted(path for path in paths if path.is_relative_to(ROOT) and path.exists())
    return found


def fingerprint(command, headers):
    """What the findings in a file depend on."""
    digests = [digest(path) for path in (ROOT / ".clang-tidy", pathlib.Path(command["file"]), *headers)]
    return hashlib.sha256(b"".join([command["command"].encode(), *digests])).hexdigest()


def lint(build, command, mark, stamp):
    """Whether the file passes; findings are printed."""
    if stamp.exists() and stamp.read_text() == mark:
        return True
    done = subprocess.run([CLANG_TIDY, "--quiet", "-p", build, command["file"]], capture_output=True, text=True)
    if done.returncode == 0:
        stamp.write_text(mark)
    else:
        print(done.stdout or done.stderr, flush=True)
    return done.returncode == 0


def main(folder):
    build = pathlib.Path(folder).resolve()
    (build / "lint").mkdir(exist_ok=True)
    headers = own_headers(build)
    chosen = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        name = os.path.relpath(command["file"], ROOT)
        if any(name.startswith(f"{each}/") for each in FOLDERS):
            chosen[name] = command
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        passed = [
            workers.submit(
                lint,
                build,
                command,
                fingerprint(command, headers.get(command["command"].partition(" -o ")[2].split()[0], ())),
                build / "lint" / name.replace("/", "_"),
            )
            for name, command in chosen.items()
        ]
    failures = sum(not each.result() for each in passed)
    print(f"lint_cpp.py: {len(chosen)} files, {failures} with findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
