"""Where a pipeline's samples come from."""

from __future__ import annotations

import errno
import glob
import os

import numpy as np

from ...errors import FileNotFoundError, TypeError, _file_error
from .arrays import arrays as arrays, npy as npy
from .base import SequentialSource as SequentialSource, Source as Source
from .datasets import dataset as dataset, is_random_access, iterable as iterable
from .files import file_list as file_list, files as files, folder as folder
from .remote import is_remote, remote as remote
from .shards import webdataset as webdataset
from .values import checked_fields

_SHARDS = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


def _is_array(value) -> bool:
    return isinstance(value, np.ndarray) or (hasattr(value, "__dlpack__") and getattr(value, "ndim", 0) > 0)


def _source_at(path: str) -> Source | SequentialSource:
    if path.endswith(_SHARDS):
        return webdataset(path)
    if is_remote(path):
        return remote(path)
    if path.endswith(".npy"):
        return npy(path)
    if path.endswith((".txt", ".csv")):
        return file_list(path)
    if os.path.isfile(path):
        message = (
            f"Pipeline: '{path}' is one file, neither a list (.txt, .csv), an array (.npy) nor a shard (.tar): give a "
            "list of files, or file_list(path) where it lists some"
        )
        raise _file_error(message, errno.ENOTDIR, path)
    if os.path.exists(path):
        return folder(path)
    if found := sorted(glob.glob(path, recursive=True)):
        return files(found)
    raise FileNotFoundError(
        f"Pipeline: there is no folder, list (.txt, .csv), array (.npy) or shard (.tar) '{path}', and no file of this "
        "pattern"
    )


def make_source(data) -> Source | SequentialSource:
    """The source that a pipeline takes its samples from, if it is given something else.

    A path is a folder of classes (folder), a list (.txt, .csv), an array (.npy), shards (.tar), or a pattern of files
    (with *, ? or [); a list of paths is files; an array, a tuple or a dict of arrays is arrays; and whatever has
    `__len__` and `__getitem__`, or can be iterated or called, is a dataset.

    Raises TypeError for others, and FileNotFoundError for a path without anything there.
    """
    if isinstance(data, (Source, SequentialSource)):
        checked_fields(data.fields, type(data).__name__, takes_one=False)
        return data
    if isinstance(data, (str, os.PathLike)):
        return _source_at(os.fsdecode(data))
    if isinstance(data, dict):
        return arrays(data)
    if _is_array(data):
        return arrays(data)
    if isinstance(data, (list, tuple)) and data and all(isinstance(each, (str, os.PathLike)) for each in data):
        return remote(data) if any(isinstance(each, str) and is_remote(each) for each in data) else files(data)
    if isinstance(data, tuple) and data and all(map(_is_array, data)):
        return arrays(*data)
    if not isinstance(data, (bytes, bytearray, type)) and (
        is_random_access(data) or hasattr(data, "__iter__") or callable(data)
    ):
        return dataset(data)
    raise TypeError(
        f"Pipeline: {type(data).__name__} is no source; a source is a folder's path, a list of paths, arrays, a "
        "dataset or an iterable, or what a function of iruka.pipeline such as webdataset() returns"
    )
