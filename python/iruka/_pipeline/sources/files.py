"""Files on a disk: under a folder whose folders are classes, in a list, or anywhere."""

from __future__ import annotations

import abc
import errno
import os
import pathlib
import re
from collections.abc import Iterable, Sequence

import numpy as np

from ... import _core
from ...errors import TypeError, ValueError, _file_error
from .base import Source
from .values import place_of


class LabelledFiles(Source):
    """Files with or without labels; `paths` are their paths, `classes` the names of the labels or None."""

    def __init__(self, paths, labels=None, classes: list[str] | None = None, function: str = "files"):
        if isinstance(paths, (str, bytes)) or not isinstance(paths, Iterable):
            raise TypeError(f"{function}: the files are a list of paths, not {type(paths).__name__}")
        self.paths = [os.fsdecode(path) for path in paths]
        self.classes = classes
        self.labels = None if labels is None else np.asarray(labels)
        self.fields = ("picture",) if labels is None else ("picture", "label")
        self._function = function
        if not self.paths:
            raise ValueError(f"{function}: there are no files")
        if self.labels is not None:
            self._check_labels(self.labels)

    def _check_labels(self, labels: np.ndarray):
        if labels.dtype.kind not in "biuf":
            raise TypeError(f"{self._function}: labels are numbers, not {labels.dtype}")
        if labels.ndim == 0 or len(labels) != len(self.paths):
            raise ValueError(
                f"{self._function}: {len(self.paths)} files, and labels of the shape {labels.shape}, whose first axis "
                "counts the files"
            )

    @abc.abstractmethod
    def _file(self, path: str) -> os.PathLike | bytes:
        """A file as a value of a sample."""

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple:
        place = place_of(index, len(self), self._function)
        file = self._file(self.paths[place])
        if self.labels is None:
            return (file,)
        label = self.labels[place]
        return file, int(label) if self._has_classes() else label

    def _has_classes(self) -> bool:
        """Whether labels are an integer each, which is an int64 in batches."""
        return self.labels is not None and self.labels.ndim == 1 and self.labels.dtype.kind != "f"

    def describe(self, index: int) -> str:
        return self.paths[index]


class Files(LabelledFiles):
    """Files that the core reads and decodes by itself."""

    def _file(self, path: str) -> pathlib.Path:
        return pathlib.Path(path)

    def _core_source(self):
        if self.labels is not None and not self._has_classes():
            return super()._core_source()
        labels = None if self.labels is None else self.labels.tolist()
        return _core._pipeline.files([os.fsencode(path) for path in self.paths], labels)


def files(paths: Iterable[str | os.PathLike], labels: Sequence | None = None) -> Files:
    """Files of pictures: samples of `picture`, or `picture` and `label`.

    paths: a list of paths. labels: an array of numbers whose first axis counts the files (integers become int64).
    Raises TypeError and ValueError for other labels, and ValueError for no files. A file that cannot be read is the
    matter of its sample.
    """
    return Files(paths, labels)


def unreadable(function: str, path: str, error: Exception) -> OSError:
    """The error of a file or folder that the system refuses, which names the function."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    number = getattr(error, "errno", None) or (errno.ENOENT if isinstance(error, FileNotFoundError) else errno.EIO)
    return _file_error(f"{function}: cannot read '{path}': {reason}", number, path)


def files_below(path: str, extensions: list[str], function: str) -> list[str]:
    """The files of these extensions in a folder and the folders below it, sorted by folder, and by name in each."""
    return [os.fsdecode(each) for each in _core._pipeline.list_files(os.fsencode(path), extensions, function)]


def _checked_extensions(extensions) -> list[str]:
    names = [extensions] if isinstance(extensions, str) else list(extensions)
    if not names or not all(isinstance(name, str) and name.strip(".") for name in names):
        raise ValueError(f"folder: extensions are names such as 'jpg', not {extensions!r}")
    return [name.lstrip(".") for name in names]


def folder(path: str | os.PathLike, extensions: Iterable[str] | None = None, *, labels: bool = True) -> Files:
    """The pictures in the folders of a folder, each of which is a class: samples of `picture` and `label`.

    The classes are the folders' names, sorted; `classes` of the result has them, and a label is a place there. A
    class's pictures are in its folder and those below it, sorted by folder and name (as torchvision's ImageFolder has
    them). A folder without pictures is a class of no samples.

    extensions: of the files, in upper or lower case. None: those of the formats that iruka.image reads.
    labels: False takes all pictures below `path`, without labels.

    Raises FileNotFoundError, NotADirectoryError and other OSErrors for a folder that cannot be read, and ValueError
    where there are no pictures.
    """
    root, names = os.fsdecode(path), [] if extensions is None else _checked_extensions(extensions)
    wanted = f"files of the extensions {', '.join(names)}" if names else "pictures"
    if not labels:
        found = files_below(root, names, "folder")
        if not found:
            raise ValueError(f"folder: '{root}' has no {wanted}")
        return Files(found, function="folder")
    paths, numbers, classes = _core._pipeline.list_folder(os.fsencode(root), names)
    if not paths:
        raise ValueError(
            f"folder: '{root}' has no folders with {wanted} in them, each of which is a class; labels=False takes "
            "pictures without classes"
        )
    return Files(map(os.fsdecode, paths), numbers, [os.fsdecode(name) for name in classes], "folder")


_NAME_AND_LABEL = re.compile(r"(.+?)(?:\s*,\s*|\s+)([+-]?[0-9]+)")


def file_list(path: str | os.PathLike, root: str | os.PathLike | None = None, *, labels: bool = True) -> Files:
    """The files that a text file lists, one `name label` a line: samples of `picture` and `label`.

    The label is an integer behind the last space, tab or comma, so that names may hold these. Empty lines are skipped.

    root: the folder that names are relative to; the list's own by default. labels: False where lines are names alone.
    Raises FileNotFoundError and other OSErrors for a list that cannot be read, and ValueError for a line of another
    form, which it names, and for an empty list.
    """
    listing = os.fsdecode(path)
    base = os.path.dirname(listing) if root is None else os.fsdecode(root)
    try:
        with open(listing, encoding="utf-8-sig", errors="surrogateescape") as file:
            lines = [(number, line.strip()) for number, line in enumerate(file, 1) if line.strip()]
    except OSError as error:
        raise unreadable("file_list", listing, error) from None
    if not lines:
        raise ValueError(f"file_list: '{listing}' lists no files")
    if not labels:
        return Files([os.path.join(base, line) for _, line in lines], function="file_list")
    names, numbers = [], []
    for number, line in lines:
        found = _NAME_AND_LABEL.fullmatch(line)
        if found is None:
            raise ValueError(f"file_list: line {number} of '{listing}' is no name and integer: {line!r}")
        name, label = found.groups()
        names.append(os.path.join(base, name))
        numbers.append(int(label))
        if not -(2**63) <= numbers[-1] < 2**63:
            raise ValueError(f"file_list: line {number} of '{listing}' has a label beyond 64 bits, {label}")
    return Files(names, numbers, function="file_list")
