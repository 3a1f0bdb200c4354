"""The functions of intrinsics/, built by the compiler that is there and kept in a temporary folder."""

import ctypes
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parent / "spmd" / "intrinsics"
#: Computations that benchmarks/spmd has, with the same arguments.
OF_SPMD = ("hsv", "perceptron")


def compiler():
    return next(filter(None, map(shutil.which, ("clang++-22", "clang++", "g++", "c++"))), None)


def library(level):
    """The library for a level of x86-64, or None without a compiler. Its name is a hash of what it is made of."""
    tool = compiler()
    if level not in ("x86-64-v3", "x86-64-v4") or tool is None:
        return None
    sources = [*sorted((HERE / "intrinsics").glob("*.cpp")), *(SHARED / f"{name}.cpp" for name in OF_SPMD)]
    options = ["-std=c++20", "-O3", "-shared", "-fPIC", "-pthread", f"-march={level}", f"-I{SHARED}"]
    if level == "x86-64-v4" and "clang" in tool:
        options.append("-mprefer-vector-width=512")
    headers = sorted([*(HERE / "intrinsics").glob("*.h"), *SHARED.glob("*.h")])
    made_of = hashlib.sha256(repr([tool, *options]).encode())
    for path in [*sources, *headers]:
        made_of.update(path.read_bytes())
    folder = pathlib.Path(tempfile.gettempdir()) / f"iruka-spellings-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{made_of.hexdigest()[:24]}.so"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        subprocess.run([tool, *options, *sources, "-o", unfinished], check=True)
        unfinished.rename(path)
    return ctypes.CDLL(str(path))


class Native:
    """A call of the computation's function, on `threads` threads, into outputs of its own."""

    def __init__(self, functions, computation, threads):
        self.function = getattr(functions, computation.name)
        self.function.restype = None
        self.outputs = {name: each.copy() for name, each in computation.outputs.items()}
        self.arrays = {**{k: v for k, v in computation.data.items() if isinstance(v, np.ndarray)}, **self.outputs}
        self.arguments = []
        for name in computation.native:
            value = self.arrays[name] if name in self.arrays else computation.data[name]
            if isinstance(value, np.ndarray):
                self.arguments.append(ctypes.c_void_p(value.ctypes.data))
            else:
                self.arguments.append(ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value))
        self.arguments.append(ctypes.c_int64(threads))

    def __call__(self):
        self.function(*self.arguments)

    def results(self):
        for each in self.outputs.values():
            each[...] = 0
        self()
        return {name: each.copy() for name, each in self.outputs.items()}
