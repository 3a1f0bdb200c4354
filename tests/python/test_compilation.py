"""Compiling a kernel: what stays in memory, what only GPUs have, how long it may take."""

import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import iruka
from helpers import run_python
from iruka import errors

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(code, **environment):
    """What a program says in a process of its own, where it must not fail."""
    done = run_python(code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def mappings() -> int:
    return len(pathlib.Path("/proc/self/maps").read_text().splitlines())


def make_and_run(value: int) -> None:
    kernel = iruka.ElementwiseKernel("int32 x", "int32 y", f"y = x + {value}", "dropped", options=("-O0", "--lanes=1"))
    assert int(kernel(np.int32(1), iruka.empty(1, "int32"))[0]) == value + 1


def test_programs_that_nobody_holds_are_unloaded():
    for value in range(140):  # more than stay for kernels that are made again
        make_and_run(value)
    before = mappings()
    for value in range(1000, 1150):
        make_and_run(value)
    assert mappings() < before + 50  # each was two


def test_equal_texts_share_a_program_while_one_lives():
    def make():
        return iruka.ElementwiseKernel("int32 x", "int32 y", "y = x * 7919", "shared_text")

    x = iruka.arange(3, dtype="int32")
    make()(x)
    iruka.clear_kernel_history()
    kept = make()
    for _ in range(20):
        assert kept(x).tolist() == make()(x).tolist() == [0, 7919, 15838]
    assert [event for event in iruka.kernel_history() if event.kernel == "shared_text"] == []


def test_kernels_of_one_text_come_and_go_in_many_threads():
    run("""
import threading, numpy as np, iruka
def work(seed):
    for value in np.random.default_rng(seed).integers(0, 160, 400).tolist():
        k = iruka.ElementwiseKernel("int32 x", "int32 y", f"y = x + {value}", "raced", options=("-O0", "--lanes=1"))
        assert k(iruka.arange(2, dtype="int32")).tolist() == [value, value + 1]
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
""")


@pytest.mark.parametrize(
    "body, words",
    [
        ("int a = 1;\n__shared__ float tile[16];\nz = x", "__shared__ memory"),
        ("z = x;\n\n  __syncthreads();", "__syncthreads()"),
    ],
)
def test_memory_shared_by_a_block_is_refused_by_line_on_the_cpu(body, words):
    with iruka.device("cpu"), pytest.raises(errors.CompileError) as caught:
        iruka.ElementwiseKernel("float32 x", "float32 z", body, "blocks")
    message = str(caught.value)
    line = 1 + next(at for at, text in enumerate(body.split("\n")) if "__s" in text)
    assert f"operation, line {line}: error: {words}" in message and "only for GPUs" in message and "^" in message
    guarded = f"#ifdef __CUDA_ARCH__\n{body}\n#else\nz = x\n#endif"
    kernel = iruka.ElementwiseKernel("float32 x", "float32 z", guarded, "blocks")
    with iruka.device("cpu"):
        assert kernel(iruka.ones(3, "float32")).tolist() == [1, 1, 1]


def test_the_codes_version_follows_every_source(tmp_path):
    names = [tmp_path / name for name in ("a.cpp", "b.h")]
    output = tmp_path / "out.cpp"

    def version(*texts):
        for name, text in zip(names, texts):
            name.write_text(text)
        script = ROOT / "cmake" / "hash_sources_script.cmake"
        files = "|".join(map(str, names))
        subprocess.run(
            ["cmake", f"-DOUTPUT={output}", "-DNAMESPACE=n", "-DFUNCTION=f", f"-DFILES={files}", "-P", script],
            check=True,
        )
        return output.read_text()

    first = version("one", "two")
    assert version("one", "two") == first
    assert len({first, version("one", "twe"), version("two", "one"), version("on", "etwo")}) == 4


@pytest.mark.parametrize("listed", ["src/CMakeLists.txt", "src/backend/cpu/compiler/CMakeLists.txt"])
def test_the_codes_version_follows_how_entries_are_laid_out(listed):
    hashed = (ROOT / listed).read_text().split("hash_sources(")[0 if listed == "src/CMakeLists.txt" else 1]
    assert "jit/warnings.cpp" in hashed and "jit/warnings.h" in hashed


SLOW_TEXTS = {
    "a switch of 50,000 cases": "switch (i) {"
    + "".join(f"case {k}: z = x * {k}.5f; break;" for k in range(50_000))
    + "}",
    "60,000 statements": "float t = x;" + "".join(f"t = t * {k}.25f + sin(t);" for k in range(60_000)) + "z = t;",
    "unrolled loops": "float t = x;\n#pragma unroll\nfor (int k = 0; k < 700; ++k) {\n#pragma unroll\n"
    + "for (int j = 0; j < 700; ++j) t = t * sin(t + k) + j; }\nz = t;",
    "wide integers": "_BitInt(8000000) a = (long long)x; a = a * a / (a + 3); z = (float)(long long)a;",
    "names that double": "auto pair = [](auto a, auto b) { struct P { decltype(a) a; decltype(b) b; }; return P{a, b}; };\nauto t0 = x;\n"
    + "".join(f"auto t{k + 1} = pair(t{k}, t{k});\n" for k in range(26))
    + "z = x;",
}


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", SLOW_TEXTS)
def test_a_compilation_that_takes_too_long_is_an_error(name, tmp_path):
    (tmp_path / "body.txt").write_text(SLOW_TEXTS[name])
    code = f"""
import time, iruka
body = open({str(tmp_path / "body.txt")!r}).read()
began = time.monotonic()
try:
    k = iruka.ElementwiseKernel("T x", "T z", body, "endless", options=("--compile-timeout=0.5",))
    k(iruka.ones(3, "float32"))
    print("compiled")
except iruka.errors.CompileError as error:
    print(str(error)[:300])
print(time.monotonic() - began)
assert (iruka.arange(3) + 1).tolist() == [1, 2, 3]  # others go on
"""
    began = time.monotonic()
    said = run(code, timeout=120)
    seconds = float(said.rstrip().split("\n")[-1])
    assert seconds < 10 and time.monotonic() - began < 60, said
    assert "kernel 'endless'" in said and "took longer than 0.5 seconds" in said


def test_the_limit_comes_from_an_option_or_the_environment(tmp_path):
    code = """
import numpy as np, iruka
x = iruka.asarray(np.ones(3, "float32"))  # which compiles nothing: the limit is for all kernels
body = "float t = x;" + "".join(f"t = t * {k}.25f + x;" for k in range(3000)) + "z = t;"
for options in ((), ("--compile-timeout=0.03",), ("--compile-timeout", "0")):
    try:
        iruka.ElementwiseKernel("T x", "T z", body, "limited", options=options)(x)
        print("compiled")
    except iruka.errors.CompileError as error:
        print(error)
"""
    said = run(code, IRUKA_COMPILE_TIMEOUT="0.02", IRUKA_CACHE_DIR=str(tmp_path)).strip().split("\n")
    assert ["0.02 seconds" in said[0], "0.03 seconds" in said[1], said[2]] == [True, True, "compiled"]
    for wrong in ("-1", "soon", "inf", ""):
        with pytest.raises(errors.CompileError, match="--compile-timeout=SECONDS takes a number"):
            iruka.ElementwiseKernel(
                "float32 x", "float32 z", "z = x", "limited", options=(f"--compile-timeout={wrong}",)
            )


@pytest.mark.cpu_only
def test_ctrl_c_ends_a_compilation():
    code = """
import time, iruka
body = "float t = x;" + "".join(f"t = t * {k}.25f + sin(t);" for k in range(60_000)) + "z = t;"
k = iruka.ElementwiseKernel("T x", "T z", body, "endless")
print("ready", flush=True)
try:
    k(iruka.ones(3, "float32"))
except KeyboardInterrupt:
    print("stopped", (iruka.arange(3) + 1).tolist())
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.7)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=60)[0]
    assert out == "stopped [1, 2, 3]\n" and time.monotonic() - began < 10


# A compilation is abandoned: one that notices it, or one that runs on for minutes.
GIVES_UP = '"float t = x;" + "".join(f"t = t * {k}.25f + sin(t);" for k in range(60_000)) + "z = t;"'
GOES_ON = repr(SLOW_TEXTS["wide integers"])
LEFT_BEHIND = """
import os, iruka
known = iruka.ElementwiseKernel("T x", "T z", "z = x + 12321", "known")
assert known(iruka.ones(2)).tolist() == [12322, 12322]
try:
    iruka.ElementwiseKernel("T x", "T z", BODY, "endless", options=("--compile-timeout=0.2",))(iruka.ones(3, "float32"))
    raise SystemExit("it compiled")
except iruka.errors.CompileError:
    pass
"""


@pytest.mark.cpu_only
def test_a_child_compiles_after_a_compilation_that_was_left_behind():
    run(
        LEFT_BEHIND.replace("BODY", GIVES_UP)
        + """
child = os.fork()
if child == 0:
    k = iruka.ElementwiseKernel("T x", "T z", "z = x - 12321", "of_the_child")
    os._exit(k(iruka.ones(2)).tolist() != [-12320, -12320])
assert os.waitpid(child, 0)[1] == 0
""",
        timeout=120,
    )


@pytest.mark.cpu_only
def test_fork_does_not_wait_for_a_compilation_that_goes_on(tmp_path):
    run(
        LEFT_BEHIND.replace("BODY", GOES_ON)
        + """
child = os.fork()
if child == 0:
    code = 1
    try:
        assert known(iruka.ones(2)).tolist() == [12322, 12322]
        grandchild = os.fork()
        try:
            iruka.ElementwiseKernel("T x", "T z", "z = x - 12321", "of_the_child")(iruka.ones(2))
        except iruka.errors.CompileError as error:
            code = not ("kernel 'of_the_child' cannot be compiled" in str(error) and "fork()" in str(error) and "'spawn'" in str(error))
        if grandchild and not code:
            code = os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1])
    finally:
        os._exit(code)
assert os.waitpid(child, 0)[1] == 0
k = iruka.ElementwiseKernel("T x", "T z", "z = x - 12321", "of_the_parent")
assert k(iruka.ones(2)).tolist() == [-12320, -12320]
os._exit(0)
""",
        IRUKA_CACHE_DIR=str(tmp_path),
        timeout=120,
    )


@pytest.mark.cpu_only
def test_the_end_of_a_process_waits_once_for_a_compilation_that_goes_on(tmp_path):
    """Not once for each kernel that it compiled, which would be a hundred seconds."""
    run(
        """
import iruka
for k in range(100):
    iruka.ElementwiseKernel("int32 x", "int32 z", f"z = x + {k}", "one_of_many", options=("-O0", "--lanes=1"))
"""
        + LEFT_BEHIND.replace("BODY", GOES_ON),
        IRUKA_CACHE_DIR=str(tmp_path),
        timeout=50,
    )


def test_the_time_limit_is_no_part_of_what_caches_know(tmp_path):
    said = run(
        """
import iruka
x = iruka.arange(3, dtype="int32")
for options in ((), ("--compile-timeout=50",), ("--compile-timeout", "40"), ("-O1",), ("--compile-timeout=50", "-O1")):
    iruka.ElementwiseKernel("int32 x", "int32 y", "y = x * 7919", "timed", options=options)(x)
for wrong in (("--compile-timeout=soon",), ("--compile-timeout",)):
    try:
        iruka.ElementwiseKernel("int32 x", "int32 y", "y = x * 7919", "timed", options=wrong)(x)
        print("taken")
    except iruka.errors.CompileError:
        print("refused")
print(sum(event.kernel == "timed" and event.kind == "compiled" for event in iruka.kernel_history()))
""",
        IRUKA_CACHE_DIR=str(tmp_path),
    )
    assert said.split() == ["refused", "refused", "2"]


# Headers of the user's folders.


def add_header(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def value_of(preamble, *folders, body="y = VALUE;", options=None):
    """The number that a new kernel gives whose texts include headers."""
    options = tuple(f"-I{folder}" for folder in folders) if options is None else options
    kernel = iruka.ElementwiseKernel("int32 x", "int32 y", body, "including", preamble=preamble, options=options)
    return int(kernel(iruka.zeros(1, "int32"))[0])


def compilations():
    return sum(event.kernel == "including" and event.kind != "loaded_from_disk" for event in iruka.kernel_history())


def message_of(preamble, *folders, **settings):
    with pytest.raises(errors.CompileError) as caught:
        value_of(preamble, *folders, **settings)
    return str(caught.value)


@pytest.mark.parametrize(
    "words", [("-I{}",), ("-I", "{}"), ("-I={}",), ("--include-path={}",), ("--include-path", "{}")]
)
def test_headers_of_folders_are_included(words, tmp_path):
    add_header(tmp_path, "value.h", "#define VALUE 7\n")
    options = tuple(word.format(tmp_path) for word in words)
    assert value_of('#include "value.h"', options=options) == 7
    assert value_of("#include <value.h>", options=options) == 7
    assert value_of("", body='#include "value.h"\ny = VALUE + 1;', options=options) == 8
    assert value_of('%: /* a */ include /* b\n */ "value.h" // c', options=options) == 7


def test_headers_include_headers(tmp_path):
    add_header(tmp_path / "a", "outer.h", '#include "part/inner.h"\n#include <far.h>\n#define VALUE (inner() + FAR)\n')
    add_header(tmp_path / "a", "part/inner.h", '#include "same.h"\n#include "../up.h"\n')
    add_header(tmp_path / "a", "part/same.h", "__device__ int same() { return 1; }\n")
    add_header(tmp_path / "a", "up.h", '#pragma once\n#include "part/same2.h"\n')
    add_header(tmp_path / "a", "part/same2.h", "__device__ int inner() { return same() + 10; }\n")
    add_header(tmp_path / "b", "far.h", "#define FAR 100\n")
    assert value_of('#include "outer.h"', tmp_path / "a", tmp_path / "b") == 111
    whole = tmp_path / "b" / "far.h"
    assert value_of(f'#include "{whole}"\n#define VALUE FAR') == 100  # a whole path needs no folder


def test_folders_are_searched_in_their_order(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    add_header(second, "value.h", "#define VALUE 2\n")
    first.mkdir()
    assert value_of('#include "value.h"', first, second) == 2
    add_header(first, "value.h", "#define VALUE 1\n")
    assert value_of('#include "value.h"', first, second) == 1
    assert value_of('#include "value.h"', second, first) == 2
    # The including file's own folder is the first for quotes, and none for angle brackets.
    add_header(second, "quoted.h", '#include "value.h"\n')
    add_header(second, "angled.h", "#include <value.h>\n")
    assert value_of('#include "quoted.h"', first, second) == 2
    assert value_of('#include "angled.h"', first, second) == 1
    (first / "value.h").unlink()
    (first / "value.h").mkdir()  # a folder is no header
    assert value_of('#include "value.h"', first, second) == 2


def test_an_edited_header_gives_a_new_compilation(tmp_path):
    path = add_header(tmp_path, "edited.h", "#define VALUE 31\n")
    text = '#include "edited.h"\n// of this test alone'
    iruka.clear_kernel_history()
    assert value_of(text, tmp_path) == 31
    assert compilations() == 1
    assert value_of(text, tmp_path) == 31
    assert compilations() == 1
    path.write_text("#define VALUE 32\n")  # as long as before, and at nearly the same time
    assert value_of(text, tmp_path) == 32
    assert compilations() == 2
    path.write_text("#define VALUE 31\n")
    assert value_of(text, tmp_path) == 31
    assert compilations() == 2


def test_headers_are_part_of_what_the_disk_cache_knows(tmp_path):
    path = add_header(tmp_path / "headers", "value.h", '#include "more.h"\n')
    add_header(tmp_path / "headers", "more.h", "#define VALUE 5\n")
    program = f"""
import iruka
k = iruka.ElementwiseKernel("int32 x", "int32 y", "y = VALUE", "k", preamble='#include "value.h"',
                            options=({"-I" + str(path.parent)!r},))
print(int(k(iruka.zeros(1, "int32"))[0]), *(event.kind for event in iruka.kernel_history() if event.kernel == "k"))
"""
    cache = {"IRUKA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(program, **cache).split() == ["5", "compiled"]
    assert run(program, **cache).split() == ["5", "loaded_from_disk"]
    add_header(path.parent, "more.h", "#define VALUE 6\n")
    assert run(program, **cache).split() == ["6", "compiled"]
    path.touch()
    assert run(program, **cache).split() == ["6", "loaded_from_disk"]


def test_a_kernel_keeps_the_headers_that_it_was_made_with(tmp_path):
    path = add_header(tmp_path, "kept.h", "#define VALUE 3\n")
    kernel = iruka.ElementwiseKernel(
        "T x", "T y", "y = x + VALUE", preamble='#include "kept.h"', options=(f"-I{tmp_path}",)
    )
    assert int(kernel(iruka.zeros(1, "int32"))[0]) == 3
    path.write_text("#define VALUE 4\n")
    assert float(kernel(iruka.zeros(1, "float32"))[0]) == 3
    total = iruka.ReductionKernel(
        "T x",
        "T y",
        "x * VALUE",
        "a + b",
        "y = a",
        "0",
        "total",
        preamble='#include "kept.h"',
        options=(f"-I{tmp_path}",),
    )
    path.unlink()
    assert int(total(iruka.arange(5))) == 40
    assert float(total(iruka.ones((300, 40), "float32"))) == 48000
    assert total(iruka.ones((3, 2)), axis=0).tolist() == [12, 12]


def test_guards_end_cycles(tmp_path):
    for name, other, number in (("a", "b", 1), ("b", "a", 2)):
        add_header(
            tmp_path, f"once_{name}.h", f'#pragma once\n#include "once_{other}.h"\n#define ONCE_{name} {number}\n'
        )
        add_header(
            tmp_path,
            f"guard_{name}.h",
            f'#ifndef GUARD_{name}\n#define GUARD_{name} {number}\n#include "guard_{other}.h"\n#endif\n',
        )
    assert value_of('#include "once_a.h"\n#include "once_b.h"\n#define VALUE ONCE_a + 10 * ONCE_b', tmp_path) == 21
    assert value_of('#include "guard_a.h"\n#define VALUE GUARD_a + 10 * GUARD_b', tmp_path) == 21
    path = add_header(tmp_path, "endless.h", '#include "endless.h"\n')
    assert f"{path}, line 1: error: " in message_of('#include "endless.h"', tmp_path)


def test_headers_through_links_are_one_header(tmp_path):
    path = add_header(tmp_path / "real", "once.h", "#pragma once\n__device__ int once() { return 6; }\n")
    (tmp_path / "link.h").symlink_to(path)
    (tmp_path / "linked").symlink_to(path.parent)
    (tmp_path / "broken.h").symlink_to(tmp_path / "nowhere.h")
    (tmp_path / "loop.h").symlink_to(tmp_path / "loop.h")
    text = '#include "real/once.h"\n#include "link.h"\n#include "linked/once.h"\n#include "linked/../real/once.h"\n'
    assert value_of(text + "#define VALUE once()", tmp_path) == 6
    for name in ("broken.h", "loop.h"):
        assert f"'{name}' file not found" in message_of(f'#include "{name}"', tmp_path)


def test_includes_that_no_compiler_reaches_may_be_missing(tmp_path):
    add_header(tmp_path, "there.h", "#ifdef _WIN32\n#include <windows.h>\n#include WINDOWS\n#endif\n#define THERE 1\n")
    text = """
#if __has_include("there.h") && __has_include(<there.h>) && !__has_include("missing.h") && !__has_include(<windows.h>)
#include "there.h"
#endif
// #include "missing.h"
/* don't
#include "missing.h" */
#if 0
don't #include
#include "missing.h"
#endif
#define VALUE THERE
"""
    assert value_of(text, tmp_path) == 1
    add_header(tmp_path, "missing.h", "#error is not to be read\n")
    assert "THERE" in message_of(text, tmp_path)  # the first condition is now false


def test_a_missing_header_is_an_error_that_lists_the_folders(tmp_path):
    add_header(tmp_path / "there", "outer.h", '\n#include "inner.h"\n')
    folders = tmp_path / "there", tmp_path / "gone"
    words = message_of('#define A\n#include "lost.h"', *folders)
    assert "preamble, line 2: error: 'lost.h' file not found" in words
    assert f"searched: '{folders[0]}', '{folders[1]}' (no such folder)" in words and '#include "lost.h"\n' in words
    words = message_of("#include <outer.h>", folders[0])
    assert f"{folders[0]}/outer.h, line 2: error: 'inner.h' file not found" in words
    assert '      #include "inner.h"\n               ^' in words
    assert "-I/folder" in message_of('#include "lost.h"')
    assert "no standard headers" in message_of("#include <cub/cub.cuh>")
    for options in (("-I",), ("-I", ""), ("--include-path=",)):
        assert "unknown compiler option" in message_of("", options=options)


def test_the_options_of_the_page_are_taken_and_others_refused():
    page = (ROOT / "docs/kernel_language.md").read_text()
    rows = re.findall(r"^\| (`-.*?) \|", page, re.MULTILINE)
    options = re.findall(r"`(.*?)`", " ".join(rows))
    assert len(options) > 40 and "--lanes=8" in options
    for option in [*options, "-std=c++17"]:
        k = iruka.ElementwiseKernel("int32 x", "int32 z", "z = x + 1", "optional", options=(option,))
        assert k(iruka.arange(3, dtype="int32")).tolist() == [1, 2, 3], option
    for option, words in (("--foo", "docs/kernel_language.md, Options"), ("-std=c99", "-std takes c++11, 14")):
        with pytest.raises(errors.CompileError, match=f"unknown compiler option '{option}'; .*{re.escape(words)}"):
            iruka.ElementwiseKernel("int32 x", "int32 z", "z = x + 1", "optional", options=(option,))


def test_only_files_that_are_named_are_included(tmp_path):
    add_header(tmp_path, "value.h", "#define VALUE 1\n")
    for text in ('#define NAME "value.h"\n#include NAME', "#include_next <value.h>"):
        words = message_of(text, tmp_path)
        assert f"preamble, line {text.count(chr(10)) + 1}: error: only an #include with the file's name" in words
    # The current folder is none of the folders, on no device.
    run(f"""
import os, iruka
os.chdir({str(tmp_path)!r})
for name in ('"value.h"', "<value.h>", '"./value.h"'):
    try:
        k = iruka.ElementwiseKernel("int32 x", "int32 y", "y = VALUE", preamble="#include " + name)
        k(iruka.zeros(1, "int32"))
    except iruka.errors.CompileError as error:
        assert "value.h' file not found" in str(error), error
    else:
        raise AssertionError(name)
k = iruka.ElementwiseKernel("int32 x", "int32 y", "y = VALUE", preamble='#include "value.h"', options=("-I.",))
os.chdir("/")
assert int(k(iruka.zeros(1, "int32"))[0]) == 1
os.environ["HOME"] = {str(tmp_path)!r}
k = iruka.ElementwiseKernel("int32 x", "int32 y", "y = VALUE", preamble='#include "value.h"', options=("-I~",))
assert int(k(iruka.zeros(1, "int32"))[0]) == 1
""")


def test_an_error_in_a_header_shows_its_line(tmp_path):
    path = add_header(tmp_path, "wrong.h", "// \u00e9\n__device__ int wrong(int x) {\n  return x + unknown_name;\n}\n")
    words = message_of('#include "wrong.h"\n#define VALUE wrong(x)', tmp_path)
    assert f"{path}, line 3: error: " in words and "unknown_name" in words
    assert "\n        return x + unknown_name;\n                   ^" in words
    add_header(tmp_path, "typed.h", "template <class T> __device__ T twice(T x) {\n  return x.size() * 2;\n}\n")
    words = message_of('#include "typed.h"\n#define VALUE twice(x)', tmp_path)
    assert f"{tmp_path}/typed.h, line 2: error: " in words and "      return x.size() * 2;" in words


def test_headers_that_are_no_texts_are_refused(tmp_path):
    add_header(tmp_path, "binary.h", b"#define VALUE 1\n\0\1\2")
    words = message_of('#include "binary.h"', tmp_path)
    assert "'binary.h' file not found" in words and f"'{tmp_path}/binary.h' is not a text: byte 16 is zero" in words
    (tmp_path / "unreadable.h").symlink_to("/proc/self/mem")  # reading it fails, for root, too
    assert "unreadable.h' cannot be read: " in message_of('#include "unreadable.h"', tmp_path)
    os.mkfifo(tmp_path / "pipe.h")
    assert "'pipe.h' file not found" in message_of('#include "pipe.h"', tmp_path)
    (tmp_path / "zeros.h").symlink_to("/dev/zero")
    assert "'zeros.h' file not found" in message_of('#include "zeros.h"', tmp_path)
    with open(tmp_path / "huge.h", "wb") as huge:
        huge.truncate(65 << 20)
    assert "huge.h' is larger than 64 MiB" in message_of('#include "huge.h"', tmp_path)


def test_headers_of_every_kind_of_text(tmp_path):
    add_header(tmp_path, "mark.h", b"\xef\xbb\xbf#define VALUE 1\r\n")
    add_header(tmp_path, "lines.h", b"#define VALUE 1 + \\\r\n  2\r\n__device__ int f() {\r\n  return VALUE;\r\n}\r\n")
    add_header(tmp_path, "latin.h", b"// Jos\xe9\n#define VALUE 4 /* \xff\xfe */\n")
    add_header(tmp_path, "empty.h", "")
    add_header(tmp_path, "no_end.h", "#define VALUE 5")
    add_header(tmp_path, "with space/\u00fc.h", "#define VALUE 6\n")
    for name, value in (("mark.h", 1), ("lines.h", 3), ("latin.h", 4), ("no_end.h", 5), ("with space/\u00fc.h", 6)):
        assert value_of(f'#include "empty.h"\n#include "{name}"', tmp_path) == value
    lines = "".join(f"__device__ inline int f{k}(int x) {{ return x + {k}; }}  // {'-' * 200}\n" for k in range(15000))
    assert len(lines) > 3_000_000
    add_header(tmp_path, "large.h", lines)
    assert value_of('#include "large.h"\n#define VALUE f1234(x)', tmp_path) == 1234


def test_a_header_may_have_a_name_of_the_kernel_languages_own(tmp_path):
    for name in ("prelude.h", "types.h", "carray.h", "complex.h", "math.h", "cmath"):
        add_header(tmp_path, name, "__device__ int mine() { return 77; }\n")
        assert value_of(f'#include "{name}"\n#define VALUE mine()', tmp_path) == 77
        assert (
            value_of(f"#include <{name}>\n#define VALUE mine()", tmp_path, options=(f"-I{tmp_path}", "-std=c++23"))
            == 77
        )
    total = iruka.ElementwiseKernel(
        "raw T x, complex64 z",
        "float32 y",
        "y = x[0] + real(z)",
        preamble='#include "complex.h"',
        options=(f"-I{tmp_path}",),
    )
    assert float(total(iruka.ones(3), np.complex64(2), size=1)[0]) == 3


def test_a_header_may_change_while_kernels_are_made(tmp_path):
    path = add_header(tmp_path, "changing.h", "#define VALUE 1\n")
    ends = threading.Event()

    def rewrite():
        for number in itertools.cycle((1, 2)):
            if ends.is_set():
                return
            add_header(tmp_path, "next.h", f"#define VALUE {number}\n").replace(path)

    thread = threading.Thread(target=rewrite)
    thread.start()
    try:
        seen = {value_of(f'#include "changing.h"\n// {k % 20}', tmp_path) for k in range(100)}
    finally:
        ends.set()
        thread.join()
    assert seen <= {1, 2}
    for number in (1, 2, 3):
        path.write_text(f"#define VALUE {number}\n")
        assert {value_of(f'#include "changing.h"\n// {k}', tmp_path) for k in range(20)} == {number}


def test_macros_of_headers_may_use_the_names_of_a_body(tmp_path):
    add_header(tmp_path, "names.h", "#define WHERE (i * 10 + (int)_ind.get()[0])\n#define DEMAND(x) assert(x)\n")
    kernel = iruka.ElementwiseKernel(
        "int32 x", "int32 y", "y = WHERE", preamble='#include "names.h"', options=(f"-I{tmp_path}",)
    )
    assert kernel(iruka.zeros(4, "int32")).tolist() == [0, 11, 22, 33]
    demand = iruka.ElementwiseKernel(
        "int32 x", "int32 y", "DEMAND(x < 2); y = x", preamble='#include "names.h"', options=(f"-I{tmp_path}",)
    )
    with pytest.raises(errors.DeviceError, match="element 2"):
        demand(iruka.arange(5, dtype="int32"))
        iruka.default_device().synchronize()
