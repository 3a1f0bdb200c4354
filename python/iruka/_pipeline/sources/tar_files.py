"""Where the files of a tar archive are, and archives that are read from their beginning alone."""

from __future__ import annotations

import functools
import importlib
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from ...errors import ValueError

_NAME = re.compile(r"((?:.*/)?[^./][^./]*)\.([^/]*)", re.DOTALL)  # a sample's name, to the first dot of the file's
_BLOCK = 512
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_ERRORS = (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError)
_ZSTD = b"\x28\xb5\x2f\xfd"


class Member(NamedTuple):
    """A file in an archive: of which sample it is, what kind of file, and where its bytes are."""

    sample: str
    extension: str
    offset: int
    size: int


class Archive(NamedTuple):
    """An open tar archive and what errors call it. `size` is that of the file; None where it is read forwards alone."""

    file: BinaryIO
    name: str
    size: int | None


class _Recorder:
    """What tarfile needs of a file; `last` is what it read last, which is the block where it ended."""

    def __init__(self, file: BinaryIO):
        self._file, self.last = file, b""
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int) -> bytes:
        self.last = self._file.read(size)
        return self.last


class _ForwardRecorder:
    """The same over a file that is read forwards alone; tarfile goes back by a byte that it has read."""

    def __init__(self, file: BinaryIO):
        self._file, self.last, self._again, self._end = file, b"", b"", 0

    def tell(self) -> int:
        return self._end - len(self._again)

    def seek(self, place: int) -> None:
        if place < self.tell():
            self._again = self.last[place - self._end :]
        while place > self.tell() and self.read(min(place - self.tell(), 1 << 20)):
            pass

    def read(self, size: int) -> bytes:
        kept, self._again = self._again[:size], self._again[size:]
        more = self._file.read(size - len(kept)) if size > len(kept) else b""
        self._end += len(more)
        self.last = kept + more
        return self.last


def first_bytes(file: BinaryIO) -> bytes:
    """The first bytes of a file, which is at its beginning afterwards."""
    start = file.read(6)
    file.seek(0)
    return start


def is_compressed(start: bytes) -> bool:
    """Whether the first bytes of a file are those of gzip, bzip2, xz or zstd."""
    return start.startswith((*_COMPRESSIONS, _ZSTD))


def decompressed(file: BinaryIO, name: str) -> BinaryIO:
    """The contents of a file that may be compressed."""
    start = first_bytes(file)
    if start.startswith(_ZSTD):
        raise ValueError(f"webdataset: '{name}' is compressed by zstd; gzip, bzip2 and xz are read")
    for magic, module in _COMPRESSIONS.items():
        if start.startswith(magic):
            return importlib.import_module(module).open(file)
    return file


def _member_of(info: tarfile.TarInfo, shard: str) -> Member | None:
    """A file that belongs to a sample; None for folders, links, hidden files and files without an extension."""
    named = _NAME.fullmatch(info.name)
    if not info.isreg() or named is None:
        return None
    if info.sparse is not None:
        raise ValueError(f"webdataset: '{info.name}' in '{shard}' is a sparse file, whose bytes are not in one piece")
    return Member(named[1], named[2].lower(), info.offset_data, info.size)


def members(archive: Archive) -> Iterator[tuple[Member, Callable[[], bytes]]]:
    """The files of an archive in order, each with a function that reads it before the next one is asked for.

    Raises ValueError, as tarfile does not, where the archive ends without its mark, or goes on with what is no header.
    """
    recorder = _Recorder(archive.file) if archive.size is not None else _ForwardRecorder(archive.file)
    place = 0

    def damage(error: Exception) -> ValueError:
        return ValueError(f"webdataset: '{archive.name}' is damaged or cut off at byte {place}: {error}")

    def content(member: Member) -> bytes:
        try:
            recorder.seek(member.offset)
            data = recorder.read(member.size)
        except _ERRORS as error:
            raise damage(error) from error
        if len(data) == member.size:
            return data
        raise damage(EOFError(f"'{member.sample}.{member.extension}' has {len(data)} of its {member.size} bytes"))

    try:
        with tarfile.open(fileobj=recorder, mode="r:") as tar:  # type: ignore[call-overload]
            while (info := tar.next()) is not None:
                tar.members.clear()  # which would hold them all
                place = tar.offset
                if archive.size is not None and info.offset_data + info.size > archive.size:
                    raise EOFError(f"'{info.name}' ends behind the end of the file")
                member = _member_of(info, archive.name)
                if member is not None:
                    yield member, functools.partial(content, member)
        if len(recorder.last) < _BLOCK or any(recorder.last):
            raise EOFError("there is no header of a file, and no mark of the end")
        while archive.size is None and recorder.read(1 << 20):
            pass  # decompressors check sums at the end
    except _ERRORS as error:
        raise damage(error) from error


def expanded(pattern: str) -> list[str]:
    """The paths that braces stand for, as in Bash: shard-{000..127}.tar, {train,test}.tar."""
    for braces in re.finditer(r"\{([^{}]*)\}", pattern):
        ends = re.fullmatch(r"(-?[0-9]+)\.\.(-?[0-9]+)", braces[1])
        choices = braces[1].split(",")
        if ends:
            first, last = int(ends[1]), int(ends[2])
            is_padded = any(len(end) > 1 and end.lstrip("-").startswith("0") for end in ends.groups())
            width = max(map(len, ends.groups())) if is_padded else 0
            numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
            choices = [f"{number:0{width}d}" for number in numbers]
        if ends or len(choices) > 1:
            head, tail = pattern[: braces.start()], pattern[braces.end() :]
            return [path for choice in choices for path in expanded(head + choice + tail)]
    return [pattern]
