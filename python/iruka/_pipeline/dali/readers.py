"""DALI's readers.file: files and labels in an endless order, epoch after epoch, in shards."""

from __future__ import annotations

import fnmatch
import os
import pathlib
from collections.abc import Iterator

import numpy as _np

from ...errors import FileError, TypeError, ValueError
from .nodes import DataNode, Root
from .operators import operator

_DEFAULT_FILTERS = tuple(
    f"*.{ending}" for ending in "jpg jpeg png bmp tif tiff pnm ppm pgm pbm jp2 webp flac ogg wav".split()
)
_SHUFFLE_SEED = 0x1A0C  # of permutations that all shards must share


def _matches(name: str, filters, is_case_sensitive: bool) -> bool:
    if is_case_sensitive:
        return any(fnmatch.fnmatchcase(name, each) for each in filters)
    return any(fnmatch.fnmatchcase(name.lower(), each.lower()) for each in filters)


def _texts(given) -> list[str]:
    return [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(each) for each in given]


def _names(folder: str, is_wanted) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if is_wanted(entry))


def list_folder(root: str, filters, dir_filters, is_case_sensitive: bool) -> tuple[list[str], list[int]]:
    """The files of the folders of a folder, whose sorted order gives the labels. Raises what os.listdir raises."""
    paths, labels = [], []
    folders = _names(root, os.DirEntry.is_dir)
    if dir_filters is not None:
        folders = [each for each in folders if _matches(each, dir_filters, is_case_sensitive)]
    for label, folder in enumerate(folders):
        for name in _names(os.path.join(root, folder), os.DirEntry.is_file):
            if _matches(name, filters, is_case_sensitive):
                paths.append(os.path.join(root, folder, name))
                labels.append(label)
    return paths, labels


def read_list(path: str, root: str | None) -> tuple[list[str], list[int]]:
    """The files and labels of a list, `name label` in each line. Raises ValueError for another line."""
    folder = os.path.dirname(path) if root is None else root
    paths, labels = [], []
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            name, _, label = line.rstrip().rpartition(" ") if " " in line.rstrip() else line.rstrip().rpartition("\t")
            if not name or not label.lstrip("+-").isdigit():
                raise ValueError(f"readers.file: line {number} of {path!r} is not 'file label': {line.rstrip()!r}")
            paths.append(os.path.join(folder, name.rstrip()))
            labels.append(int(label))
    return paths, labels


class FileReader(Root):
    """The files in their order. A shard takes the files from floor(size * part / shards); its part moves on by one each
    epoch unless it sticks."""

    outputs = 2

    def __init__(self, label, paths, labels, order: dict):
        super().__init__("readers.file", label)
        self.paths, self.labels = paths, labels
        self.order = order
        self.gives_bytes = False  # where something other than a decoder takes the files
        self.seed = 0  # the pipeline sets it, unless the reader has one of its own
        self.own_seed: int | None = None
        self.restart()

    def restart(self) -> None:
        """Back to the first sample."""
        self._epoch = -1
        self._waiting: Iterator[int] = iter(())

    @property
    def size(self) -> int:
        return len(self.paths)

    def meta(self) -> dict:
        """What DALI's reader_meta says."""
        shards = self.order["num_shards"]
        return {
            "epoch_size": self.size,
            "epoch_size_padded": -(-self.size // shards) * shards,
            "number_of_shards": shards,
            "shard_id": self.order["shard_id"],
            "pad_last_batch": int(self.order["pad_last_batch"]),
            "stick_to_shard": int(self.order["stick_to_shard"]),
        }

    def epoch_indices(self, epoch: int, batch_size: int) -> list[int]:
        """The numbers of the files that the shard reads in an epoch, padded where that is asked for."""
        part, begin, end = self._part(epoch)
        indices = self._permutation(epoch)[begin:end]
        if self.order["random_shuffle"]:
            indices = _np.random.default_rng([self.seed, epoch, part]).permutation(indices)
        return indices.tolist() + [int(indices[-1])] * (self._length(epoch, batch_size) - len(indices))

    def _part(self, epoch: int) -> tuple[int, int, int]:
        """The part of an epoch, and where it begins and ends."""
        order, size = self.order, self.size
        shards = order["num_shards"]
        part = order["shard_id"] if order["stick_to_shard"] else (order["shard_id"] + epoch) % shards
        return part, size * part // shards, size * (part + 1) // shards

    def _length(self, epoch: int, batch_size: int) -> int:
        """The samples of an epoch, with those that are repeated."""
        _, begin, end = self._part(epoch)
        longest = -(-self.size // self.order["num_shards"])
        return -(-longest // batch_size) * batch_size if self.order["pad_last_batch"] else end - begin

    def seek(self, samples: int, batch_size: int) -> None:
        """Goes on behind so many samples."""
        self.restart()
        while samples > 0:
            self._epoch += 1
            length = self._length(self._epoch, batch_size)
            if samples < length:
                self._waiting = iter(self.epoch_indices(self._epoch, batch_size)[samples:])
            samples -= length

    def _permutation(self, epoch: int):
        """All files, in an order that does not depend on the pipeline's seed, so that shards never overlap."""
        order = self.order
        files = _np.arange(self.size)
        if order["shuffle_after_epoch"]:
            seed = order["shuffle_after_epoch_seed"]
            return files if epoch == 0 else _np.random.default_rng([seed, epoch]).permutation(files)
        if not order["random_shuffle"]:
            return files
        return _np.random.default_rng([_SHUFFLE_SEED, 0 if order["stick_to_shard"] else epoch]).permutation(files)

    def next(self, count: int) -> list[tuple]:
        """The next samples, from as many epochs as it takes."""
        samples: list = []
        while len(samples) < count:
            index = next(self._waiting, None)
            if index is None:
                self._epoch += 1
                self._waiting = iter(self.epoch_indices(self._epoch, count))
            else:
                samples.append((self._file(index), _np.array([self.labels[index]], _np.int32)))
        return samples

    def _file(self, index: int):
        path = self.paths[index]
        return _np.fromfile(path, _np.uint8) if self.gives_bytes else pathlib.Path(path)


@operator("readers.file")
def file(
    *, file_root=None, file_list=None, files=None, labels=None, file_filters=_DEFAULT_FILTERS, dir_filters=None,
    case_sensitive_filter=False, random_shuffle=False, initial_fill=1024, num_shards=1, shard_id=0,
    stick_to_shard=False, pad_last_batch=False, shuffle_after_epoch=False, shuffle_after_epoch_seed=0, seed=None,
    name=None,
):  # fmt: skip
    """Files and labels (int32, one element). random_shuffle shuffles the whole part of a shard each epoch, whatever
    initial_fill is. Raises ValueError for arguments that exclude each other, FileError for no files."""
    if file_list is not None and files is not None:
        raise ValueError("readers.file: give file_list or files, not both")
    if shuffle_after_epoch and (random_shuffle or stick_to_shard):
        raise ValueError("readers.file: shuffle_after_epoch excludes random_shuffle and stick_to_shard")
    if not 0 <= int(shard_id) < int(num_shards):
        raise ValueError(f"readers.file: shard_id is 0 to num_shards - 1, not {shard_id} of {num_shards}")
    root = None if file_root is None else os.fspath(file_root)
    if files is not None:
        paths = [each if root is None else os.path.join(root, each) for each in _texts(files)]
        numbers = list(range(len(paths))) if labels is None else [int(each) for each in labels]
        if len(numbers) != len(paths):
            raise ValueError(f"readers.file: there are {len(numbers)} labels for {len(paths)} files")
    elif labels is not None:
        raise ValueError("readers.file: labels go with files")
    elif file_list is not None:
        paths, numbers = read_list(os.fspath(file_list), root)
    elif root is not None:
        filters = None if dir_filters is None else _texts(dir_filters)
        paths, numbers = list_folder(root, _texts(file_filters), filters, bool(case_sensitive_filter))
    else:
        raise TypeError("readers.file: give file_root, file_list or files")
    if not paths:
        raise FileError(f"readers.file: there are no files in {file_list or file_root or files!r}")
    if int(num_shards) > len(paths):
        raise ValueError(f"readers.file: {len(paths)} files are less than one for each of {num_shards} shards")
    order = {
        "num_shards": int(num_shards),
        "shard_id": int(shard_id),
        "stick_to_shard": bool(stick_to_shard),
        "pad_last_batch": bool(pad_last_batch),
        "random_shuffle": bool(random_shuffle),
        "shuffle_after_epoch": bool(shuffle_after_epoch),
        "shuffle_after_epoch_seed": int(shuffle_after_epoch_seed or 0),
    }
    reader = FileReader(name, paths, numbers, order)
    reader.own_seed = None if seed is None or int(seed) < 0 else int(seed)
    uint8, int32 = _np.dtype("uint8"), _np.dtype("int32")
    return [DataNode(reader, 0, dtype=uint8), DataNode(reader, 1, dtype=int32)]
