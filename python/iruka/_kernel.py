"""The Python part of kernels and of their history."""

import hashlib
import os
import re
import tempfile
from typing import NamedTuple

from . import _core


class KernelEvent(NamedTuple):
    """One line of kernel_history()."""

    #: 'compiled', 'loaded_from_disk', 'specialised', 'scalar_compiled', 'lanes_compiled', 'lanes_chosen' or
    #: 'scalar_chosen'
    kind: str
    kernel: str
    device: str
    milliseconds: float


def remade(kind, arguments: tuple, keywords: dict):
    """Unpickles a kernel: one of the same texts. A class derived from a kernel's may take other arguments."""
    kernel = kind.__new__(kind)
    bases = (
        _core.ElementwiseKernel,
        _core.ReductionKernel,
        _core.StagedKernel,
        _core.RawKernel,
        _core.RawModule,
    )
    base = next(base for base in bases if issubclass(kind, base))
    base.__init__(kernel, *arguments, **keywords)
    return kernel


def keep_source(name: str, text: str) -> str:
    """Writes a generated text to the cache folder, or to a temporary one where there is none; returns the path."""
    folder = _core.cache_directory()
    if folder:
        folder = os.path.join(folder, "sources")
        os.makedirs(folder, mode=0o700, exist_ok=True)
    else:
        folder = tempfile.mkdtemp(prefix="iruka-")
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = os.path.join(folder, f"{re.sub(r'[^A-Za-z0-9_]', '_', name)}-{digest}.cpp")
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False) as file:
        file.write(text)
    os.replace(file.name, path)
    return path
