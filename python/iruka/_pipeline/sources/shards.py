"""WebDataset's tar shards: the files of one name are a sample."""

from __future__ import annotations

import bisect
import builtins
import functools
import glob
import io
import itertools
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

import numpy as np

from ...errors import TypeError, ValueError
from .base import SequentialSource, Source
from .files import unreadable
from .remote import filesystem_of, is_remote
from .tar_files import Archive, Member, decompressed, expanded, first_bytes, is_compressed, members
from .values import checked_fields, place_of

PICTURES = "jpg;jpeg;png;webp;tif;tiff;bmp;gif;ppm;pgm;pbm;pnm"
_NUMBERS = {"cls", "cls2", "class", "count", "index", "inx", "id"}
Fields = dict[str, list[str]]  # the extensions of each field, the first of which that there is counts


def _npy(data: bytes) -> np.ndarray:
    array = np.load(io.BytesIO(data), allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise builtins.ValueError("an archive of arrays (.npz), not one array")
    return array


def _value_of(extension: str, data: bytes, where: str):
    """What a file holds, by the last part of its extension: text, a number, JSON, an array; else its bytes."""
    kind = extension.rpartition(".")[2]
    try:
        if kind in ("txt", "text", "transcript"):
            return data.decode()
        if kind in _NUMBERS:
            return int(data)
        if kind in ("json", "jsn"):
            return json.loads(data)
        return _npy(data) if kind == "npy" else data
    except (builtins.ValueError, EOFError) as error:
        raise ValueError(f"webdataset: '{where}.{extension}' is damaged: {error}") from error


def _fields_of(fields) -> Fields:
    """Fields and their extensions, of a dict or of a list of extensions, whose first ones are the names."""
    if isinstance(fields, str):
        fields = [fields]
    if not isinstance(fields, Mapping):
        fields = {spec.split(";")[0].strip().lstrip("."): spec for spec in checked_fields(fields, "webdataset")}
    names = checked_fields(fields, "webdataset")
    found = {}
    for name in names:
        if not isinstance(fields[name], str):
            raise TypeError(f"webdataset: the extensions of '{name}' are text such as 'jpg;png', not {fields[name]!r}")
        found[name] = [part.strip().lstrip(".").lower() for part in fields[name].split(";") if part.strip()]
        if not found[name]:
            raise ValueError(f"webdataset: the field '{name}' has no extensions")
    return found


def _missing(where: str, fields: Fields, absent: Iterable[str]) -> ValueError:
    wanted = "; ".join(f"{name} ({', '.join(fields[name])})" for name in absent)
    return ValueError(f"webdataset: the sample '{where}' has no file of the field {wanted}")


class _OpenFile:
    """A file's descriptor, closed with the last reference."""

    def __init__(self, path: str):
        self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self):
        if hasattr(self, "number"):
            os.close(self.number)


class _Index:
    """Where the files of the fields are in the shards."""

    def __init__(self, fields: Fields):
        self._wanted: dict[str, list[tuple[int, int]]] = {}
        for column, extensions in enumerate(fields.values()):
            for rank, extension in enumerate(extensions):
                self._wanted.setdefault(extension, []).append((column, rank))
        self._columns = len(fields)
        self._parts: list[np.ndarray] = []
        self.names: list[str] = []
        self.ends: list[int] = []  # of each shard: the number of samples in it and those before
        self.extensions: set[str] = set()

    def add(self, archive: Archive) -> None:
        """Adds a shard's samples, also where ValueError tells that it is damaged further on."""
        samples: dict[str, np.ndarray] = {}
        try:
            for member, _ in members(archive):
                self.extensions.add(member.extension)
                for column, rank in self._wanted.get(member.extension, ()):
                    places = samples.setdefault(member.sample, np.full((self._columns, 3), -1))
                    _keep_first(places[column], rank, member, archive.name)
        finally:
            self.names += samples
            self._parts += [np.stack([*samples.values()])] if samples else []
            self.ends.append(len(self.names))

    def table(self) -> np.ndarray:
        """The rank of the extension, the offset and the size of each file, (samples, fields, 3); -1 for none."""
        return np.concatenate(self._parts) if self._parts else np.empty((0, self._columns, 3), np.int64)


def _keep_first(place: np.ndarray, rank: int, member: Member, shard: str) -> None:
    """Of a field's files, the one whose extension comes first."""
    if place[0] == rank:
        raise ValueError(f"webdataset: '{shard}' has two files '{member.sample}.{member.extension}'")
    if place[0] < 0 or rank < place[0]:
        place[:] = rank, member.offset, member.size


class Shards(Source):
    """Samples of uncompressed tar files on a disk, which are read where they are."""

    _OPEN = 64  # descriptors that are kept

    def __init__(self, paths: list[str], fields: Fields, on_damage: str):
        self.fields, self.shards, self._extensions = tuple(fields), paths, fields
        index = _Index(fields)
        for path in paths:
            try:
                with _opened(path, {}) as file:
                    index.add(Archive(file, path, os.fstat(file.fileno()).st_size))
            except ValueError as error:
                _report_damage(error, on_damage)
        self._names, self._ends, self._places = index.names, index.ends, index.table()
        self._check(index.extensions)
        self._open = functools.lru_cache(self._OPEN)(_OpenFile)

    def _check(self, extensions: set[str]):
        held = np.any(self._places[:, :, 0] >= 0, axis=0)
        absent = [name for name, is_held in zip(self.fields, held.tolist()) if not is_held]
        if absent or not self._names:
            wanted = "; ".join(f"{name} ({', '.join(self._extensions[name])})" for name in absent or self.fields)
            given = ", ".join(sorted(extensions)[:20]) or "nothing"
            raise ValueError(f"webdataset: no sample of the {len(self.shards)} shards has {wanted}; they hold {given}")

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> tuple:
        place = place_of(index, len(self), "webdataset")
        shard, where = self._shard_of(place), self.describe(place)
        files = list(zip(self.fields, self._places[place].tolist()))
        absent = [name for name, (rank, _, _) in files if rank < 0]
        if absent:
            raise _missing(where, self._extensions, absent)
        values = []
        for name, (rank, offset, size) in files:
            extension = self._extensions[name][rank]
            values.append(_value_of(extension, self._read(shard, offset, size, f"{where}.{extension}"), where))
        return tuple(values)

    def _shard_of(self, place: int) -> str:
        return self.shards[bisect.bisect_right(self._ends, place)]

    def _read(self, shard: str, offset: int, size: int, where: str) -> bytes:
        data = b""
        try:
            file = self._open(shard)
            while len(data) < size:
                part = os.pread(file.number, size - len(data), offset + len(data))
                if not part:
                    raise OSError(f"the shard was cut off after it was opened: {len(data)} of {size} bytes")
                data = data + part if data else part
        except OSError as error:
            raise unreadable("webdataset", where, error) from error
        return data

    def describe(self, index: int) -> str:
        return f"{self._shard_of(index)}: {self._names[index]}"

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_open"}

    def __setstate__(self, state):
        vars(self).update(state)
        self._open = functools.lru_cache(self._OPEN)(_OpenFile)


class _Samples:
    """The samples of shards that are read from their beginning. A damaged one does not keep the others back."""

    def __init__(self, shards: list[str], fields: Fields, on_damage: str, options: dict):
        self._shards, self._fields, self._on_damage, self._options = iter(shards), fields, on_damage, options
        self._shard = ""
        self._open: Iterator[tuple[str, dict[str, bytes]]] = iter(())

    def __iter__(self) -> _Samples:
        return self

    def __next__(self) -> tuple | ValueError:
        while True:
            try:
                name, files = next(self._open)
            except StopIteration:
                self._shard = next(self._shards)
                self._open = self._samples_of(self._shard)
            except (ValueError, OSError) as error:
                _report_damage(error, self._on_damage)
            else:
                return self._sample(f"{self._shard}: {name}", files)

    def _samples_of(self, shard: str) -> Iterator[tuple[str, dict[str, bytes]]]:
        """The names and files of a shard's samples. An error comes behind those before it."""
        wanted = set(itertools.chain.from_iterable(self._fields.values()))
        name, damage = "", None
        files: dict[str, bytes] = {}
        with _opened(shard, self._options) as file, decompressed(file, shard) as contents:
            try:
                for member, content in members(Archive(contents, shard, None)):
                    if files and member.sample != name:
                        yield name, files
                        files = {}
                    name = member.sample
                    if member.extension in files:
                        raise ValueError(f"webdataset: '{shard}' has two files '{name}.{member.extension}'")
                    if member.extension in wanted:
                        files[member.extension] = content()
            except ValueError as error:
                damage = error
        if files:
            yield name, files
        if damage is not None:
            raise damage

    def _sample(self, where: str, files: dict[str, bytes]) -> tuple | ValueError:
        chosen = [next((each for each in extensions if each in files), None) for extensions in self._fields.values()]
        absent = [name for name, extension in zip(self._fields, chosen) if extension is None]
        if absent:
            return _missing(where, self._fields, absent)
        try:
            return tuple(_value_of(extension, files[extension], where) for extension in chosen if extension is not None)
        except ValueError as error:
            return error


class ShardStream(SequentialSource):
    """Samples of tar files that are compressed, or come over a network, one after the other."""

    def __init__(self, shards: list[str], fields: Fields, on_damage: str, options: dict):
        self.fields, self.shards = tuple(fields), shards
        self._given = fields, on_damage, options
        self.begin(0)

    def begin(self, epoch: int) -> None:
        self._samples = _Samples(self.shards, *self._given)
        self._made: list[tuple | Exception] = []

    def next(self, count: int) -> list[tuple | Exception]:
        for sample in itertools.islice(self._samples, max(0, count - len(self._made))):
            self._made.append(sample)  # one by one: those before damage in a shard wait for the next call
        made = self._made[:count]
        del self._made[:count]
        return made

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in ("_samples", "_made")}

    def __setstate__(self, state):
        vars(self).update(state)
        self.begin(0)


def _opened(path: str, options: dict) -> BinaryIO:
    """A shard, on a disk or behind a URL."""
    try:
        if is_remote(path):
            system, place = filesystem_of(path, options, "webdataset")
            return system.open(place, "rb")
        return open(path, "rb")
    except Exception as error:
        if isinstance(error, (ImportError, ValueError)):
            raise
        raise unreadable("webdataset", path, error) from error


def _report_damage(error: Exception, on_damage: str) -> None:
    if on_damage == "raise":
        raise error
    warnings.warn(f"{error}; the samples before are taken", stacklevel=4)


def _is_stream(path: str) -> bool:
    if is_remote(path):
        return True
    with _opened(path, {}) as file:
        return is_compressed(first_bytes(file))


def _listed(pattern: str) -> list[str]:
    """The shards that braces, and the stars of a path on a disk, stand for."""
    paths = []
    for path in expanded(pattern):
        has_stars = "*" in path and not is_remote(path) and not os.path.exists(path)
        paths.extend(sorted(glob.glob(path)) if has_stars else [path])
    return paths


def webdataset(
    shards: str | os.PathLike | Iterable[str | os.PathLike],
    fields: Mapping[str, str] | Sequence[str] | str | None = None,
    *,
    on_damage: str = "raise",
    **options,
) -> Source | SequentialSource:
    """Samples in WebDataset's tar files: the files whose names are the same up to the first dot are a sample.

    shards: a path, with braces or stars that stand for many (shard-{000..127}.tar, shard-*.tar), or a list of paths or
        URLs (through fsspec, which takes the `options`). Uncompressed files on a disk are listed once and read where
        they are, so that their samples have an index. If one of them is compressed (gzip, bzip2, xz) or remote, all are
        a SequentialSource.
    fields: the extensions of each field, {"picture": "jpg;png", "label": "cls"}, the first of which that a sample has
        is taken; or a list of extensions, ("jpg;png", "json"), whose first ones name the fields. Default: `picture`
        (the formats that are decoded) and `label` (cls). Text (txt), integers (cls, id, index, count), json and npy
        become values; others are bytes.
    on_damage: 'raise', or 'warn' to take the samples before the damage in a shard, and none of one that a
        SequentialSource cannot open.

    Folders, links, hidden files and samples without any of the files are left out. In a shard with an index, a sample's
    files may be apart; in others they follow each other.

    Raises FileNotFoundError and other OSErrors for a shard that cannot be opened; ValueError for a shard that is
    damaged or cut off, two files of a name, and fields that no sample has. A sample that lacks some of its fields, or
    whose text, integer, json or array is damaged, fails with a ValueError that names it. A SequentialSource opens its
    shards, and finds damage, when it comes to them.
    """
    if on_damage not in ("raise", "warn"):
        raise ValueError(f"webdataset: on_damage is 'raise' or 'warn', not {on_damage!r}")
    given = [shards] if isinstance(shards, (str, os.PathLike)) else shards
    paths = [path for pattern in given for path in _listed(os.fspath(pattern))]
    if not paths:
        raise ValueError(f"webdataset: there are no shards: {shards!r}")
    wanted = _fields_of({"picture": PICTURES, "label": "cls"} if fields is None else fields)
    streams = [path for path in paths if _is_stream(path)]  # which also looks for all of them
    if streams:
        return ShardStream(paths, wanted, on_damage, options)
    return Shards(paths, wanted, on_damage)
