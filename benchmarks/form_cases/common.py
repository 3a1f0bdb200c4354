"""What a case of benchmarks/forms.py is, and the libraries that take part."""

import importlib
import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import iruka

ON_GPU = os.environ.get("IRUKA_DEVICE") == "cuda"
HALF, AT_LEAST_EQUAL = 2.0, 1.0  # floors: peer's time / Iruka's


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


numba = optional("numba")
cupy = optional("cupy") if ON_GPU else None
# Numba 0.68 compiles for GPUs only where NumPy still has these names; NumPy 2.5 has not.
for removed, name in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
    if numba and not hasattr(np, removed):
        setattr(np, removed, getattr(np, name))
if numba and ON_GPU:
    importlib.import_module("numba.cuda")
elif numba:
    numba.set_num_threads(min(iruka.get_num_threads(), numba.config.NUMBA_NUM_THREADS))


class Case(NamedTuple):
    """One line of the table, or one for each peer.

    `makers` has for each library a function that prepares the work and returns the call that is timed, whose result is
    compared with `expected()`, or with Iruka's. `kind` is "launch", "call", "once" (peers run once) or "first" (the
    call makes the kernel; caches are emptied before).
    """

    section: str
    name: str
    makers: dict[str, Callable]
    floor: float | None = None  # of peer / Iruka
    most: float | None = None  # seconds of Iruka
    kind: str = "call"
    expected: Callable | None = None
    tolerance: float = 1e-5
    agreement: float = 1.0  # the share of elements within the tolerance
    without_floor: tuple[str, ...] = ()  # peers that are there for comparison


def place(library, value):
    """A host array on the device of a library; other values as they are."""
    if not isinstance(value, np.ndarray):
        return value
    if library == "Iruka":
        return iruka.asarray(value)
    if library.startswith("CuPy"):
        return cupy.asarray(value)
    if library.startswith("Numba") and ON_GPU:
        return numba.cuda.to_device(value)
    return value


def host(value) -> Any:
    """A result as a NumPy array."""
    if isinstance(value, iruka.ndarray):
        return iruka.asnumpy(value)
    if cupy and isinstance(value, cupy.ndarray):
        return cupy.asnumpy(value)
    return np.asarray(value.copy_to_host() if hasattr(value, "copy_to_host") else value)


def of_both(make):
    """Makers for Iruka and CuPy, whose names are the same: make(module, library)."""
    makers = {"Iruka": lambda: make(iruka, "Iruka")}
    if cupy:
        makers["CuPy"] = lambda: make(cupy, "CuPy")
    return makers


def power(size):
    """2^k, or the number."""
    exponent = math.log2(size)
    return f"2^{int(exponent)}" if exponent.is_integer() else str(size)


def floats(size, seed=1):
    return np.random.default_rng(seed).standard_normal(size, dtype="float32")
