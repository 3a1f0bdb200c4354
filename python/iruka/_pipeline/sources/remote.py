"""Files anywhere that fsspec reads: s3://, gs://, https://, memory:// and others."""

from __future__ import annotations

import builtins
import importlib
import os
from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import ValueError
from .files import LabelledFiles, unreadable
from .tar_files import expanded


def filesystem_of(url: str, options: dict, function: str) -> tuple[Any, str]:
    """fsspec's file system of a URL, and the path there. fsspec keeps one for each process and thread."""
    try:
        return importlib.import_module("fsspec.core").url_to_fs(url, **options)
    except ImportError as error:
        raise ImportError(
            f"{function}: '{url}' needs the package fsspec, and the one that it names for this kind of store: {error}"
        ) from error
    except builtins.ValueError as error:
        raise ValueError(f"{function}: fsspec does not know the address '{url}': {error}") from error


def is_remote(path: str) -> bool:
    """Whether a path is a URL."""
    return "://" in path


class RemoteFiles(LabelledFiles):
    """Files at URLs, whose bytes are read by the pipeline's threads."""

    def __init__(self, urls: Iterable[str | os.PathLike], labels, options: dict):
        super().__init__(urls, labels, function="remote")
        self._options = options

    def _file(self, path: str) -> bytes:
        system, place = filesystem_of(path, self._options, "remote")
        try:
            return system.cat_file(place)
        except Exception as error:  # each store has errors of its own
            raise unreadable("remote", path, error) from error


def _listed(pattern: str, options: dict) -> list[str]:
    if pattern.endswith("/"):
        raise ValueError(f"remote: '{pattern}' is a folder: its files are '{pattern}*'")
    if "*" not in pattern:
        return [pattern]
    system, place = filesystem_of(pattern, options, "remote")
    found = [system.unstrip_protocol(path) for path in sorted(system.glob(place))]
    if not found:
        raise ValueError(f"remote: there is no file of the pattern '{pattern}'")
    return found


def remote(urls: str | Iterable[str | os.PathLike], labels: Sequence | None = None, **options) -> RemoteFiles:
    """Files at URLs that fsspec reads (s3://, gs://, https://, file://, memory://): samples of `picture`, or `picture`
    and `label`. Each file's bytes are read when its sample is made, by several threads at a time.

    urls: a list, or one text in which braces ({000..127}, {a,b}) and stars stand for many; stars' are sorted.
    labels: an array of numbers whose first axis counts the files. options: are for the file system (fsspec's
    `storage_options`), such as a key.

    Raises ImportError where fsspec or its package for the store is not installed, TypeError and ValueError for other
    labels, and ValueError for no files. A file that cannot be read is the matter of its sample, an OSError.
    """
    if isinstance(urls, str):
        urls = [url for pattern in expanded(urls) for url in _listed(pattern, options)]
    source = RemoteFiles(urls, labels, options)
    filesystem_of(source.paths[0], options, "remote")  # says at once that a package is missing
    return source
