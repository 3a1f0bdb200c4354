"""Compiling a kernel: what stays in memory, what only GPUs have, how long it may take."""

import pathlib
import signal
import subprocess
import sys
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
