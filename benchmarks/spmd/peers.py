"""The native peers: hand-written intrinsics and ISPC, built when first needed and kept in a folder.

A library that is there already and newer than its sources is used as it is, so that a folder made on one machine serves
another without a compiler.
"""

import ctypes
import functools
import pathlib
import shutil
import subprocess

import numpy as np

from body import Peer

HERE = pathlib.Path(__file__).resolve().parent
# Set by the driver before a peer is made.
settings = {"folder": pathlib.Path("build/benchmarks/spmd"), "threads": 1, "notes": []}


def cpu_flags():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return frozenset()
    return frozenset(
        next((line.split(":", 1)[1].split() for line in text.splitlines() if line.startswith("flags")), [])
    )


@functools.cache
def has_avx512():
    return {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= cpu_flags()


def note(text):
    if text not in settings["notes"]:
        settings["notes"].append(text)


def load(name, sources, build):
    """The library `name` of the folder, built by build(path) where it is missing or older than a source, or None.

    Where it cannot be built, one that is there is taken whatever its age.
    """
    path = settings["folder"].resolve() / f"{name}.so"
    if not path.exists() or any(source.stat().st_mtime > path.stat().st_mtime for source in sources):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not build(path) and not path.exists():
            note(f"no {path.name} and no means to build it: these versions are left out")
            return None
    return ctypes.CDLL(str(path))


def compile_library(path, *arguments):
    """Compiles and links C++ into the library; False without a compiler."""
    compiler = next((found for found in map(shutil.which, ("g++", "c++", "clang++")) if found), None)
    if compiler is None:
        return False
    options = "-std=c++20 -O3 -shared -fPIC -pthread -static-libstdc++ -static-libgcc".split()
    subprocess.run([compiler, *options, *arguments, "-o", path], check=True)
    return True


@functools.cache
def intrinsics_library():
    """Hand-written code for AVX-512 where the processor has it, else for AVX2; both are built."""
    if "avx2" not in cpu_flags():
        note("no AVX2: the hand-written versions are left out")
        return None
    sources = sorted((HERE / "intrinsics").iterdir())
    code = [source for source in sources if source.suffix == ".cpp"]

    def build(path, level):
        return compile_library(path, f"-march={level}", "-mprefer-vector-width=512", *code)

    libraries = [
        load("intrinsics_" + level.replace("-", "_"), sources, functools.partial(build, level=level))
        for level in ("x86-64-v3", "x86-64-v4")
    ]
    return libraries[has_avx512()]


@functools.cache
def ispc_library():
    """The bodies in ISPC, for AVX2 and AVX-512, chosen by ISPC's own dispatcher when called."""
    folder = HERE / "ispc"

    def build(path):
        if not shutil.which("ispc"):
            return False
        objects = path.parent / "ispc"
        shutil.rmtree(objects, ignore_errors=True)
        objects.mkdir()
        options = "-O3 --pic --woff --target=avx2-i32x8,avx512skx-x16".split()
        for source in folder.glob("*.ispc"):
            made = objects / source.stem
            subprocess.run(
                ["ispc", *options, source, "-o", made.with_suffix(".o"), "-h", made.with_suffix(".h")], check=True
            )
        includes = [f"-I{objects}", f"-I{HERE / 'intrinsics'}"]
        return compile_library(path, *includes, folder / "entries.cpp", *objects.glob("*.o"))

    return load("ispc", [*sorted(folder.iterdir()), HERE / "intrinsics" / "threads.h"], build)


def native_peer(library, function, inputs, outputs):
    """Calls `function(inputs..., outputs..., threads)` of the library: arrays as pointers, int64, float."""

    def make():
        loaded = library()
        if loaded is None:
            return None
        entry = getattr(loaded, function)
        entry.restype = None
        arguments = [
            (
                ctypes.c_void_p(value.ctypes.data)
                if isinstance(value, np.ndarray)
                else ctypes.c_float(value)
                if isinstance(value, float)
                else ctypes.c_int64(value)
            )
            for value in [*inputs, *outputs, settings["threads"]]
        ]

        def call():
            entry(*arguments)
            return outputs

        return call

    return Peer(make)


def intrinsics_peer(function, inputs, outputs):
    return native_peer(intrinsics_library, function, inputs, outputs)


def ispc_peer(function, inputs, outputs):
    return native_peer(ispc_library, "run_" + function, inputs, outputs)


def peak_flops():
    """Floating-point operations a second of fused multiply-adds in registers, all threads; None without the library."""
    library = intrinsics_library()
    if library is None:
        return None
    library.measure_peak.restype = ctypes.c_double
    return max(library.measure_peak(ctypes.c_int64(settings["threads"])) for _ in range(5))
