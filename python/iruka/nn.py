"""Trained networks: reading files of weights. No file is executed: a pickle is read as data."""

from __future__ import annotations

import os

from . import _core
from ._core import Device

_files = _core._nn


def load(source, device: Device | str | int | None = None):
    """Reads the weights in a file: `.safetensors`, or `.pt` and `.pth` of torch.save().

    source: a path, the file's bytes, or a file opened in binary mode, which is read to its end. The content decides
    which format it is. A `.safetensors` file gives a dict from name to array. A file of torch gives what torch.save()
    was given: a dict from name to array for a state_dict, else the dicts, lists, tuples, numbers and texts around it.
    The arrays are on `device`, by default the default one; those that shared memory in torch still do.

    Raises OSError for a file that cannot be read; ValueError for one that is damaged, has another format, or holds more
    than tensors, containers, numbers and texts, such as a whole module or a call of os.system.
    """
    if isinstance(source, (str, os.PathLike)):
        return _files.load_file(os.fsencode(source), device)
    if hasattr(source, "read"):
        source = source.read()
    if isinstance(source, str):
        raise TypeError("nn.load: the file was opened in text mode; open it with mode 'rb'")
    if not isinstance(source, (bytes, bytearray, memoryview)):
        raise TypeError(f"nn.load: a source is a path, bytes or a binary file, not {type(source).__name__}")
    return _files.load_bytes(source, device)
