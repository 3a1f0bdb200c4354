"""Arrays in files and texts. NumPy reads and writes the formats; elements pass through host memory."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from .conversion import asarray, asnumpy


def _host(a):
    return asnumpy(a) if isinstance(a, ndarray) else a


def save(file, arr, allow_pickle: bool = True) -> None:
    """Writes an array to a .npy file; the name gets that ending if it has none."""
    numpy.save(file, _host(arr), allow_pickle=allow_pickle)


def savez(file, *args, **kwds) -> None:
    """Writes several arrays to one .npz archive, by keyword, or as arr_0, arr_1..."""
    numpy.savez(file, *map(_host, args), **{name: _host(a) for name, a in kwds.items()})


def savez_compressed(file, *args, **kwds) -> None:
    """savez with compression."""
    numpy.savez_compressed(file, *map(_host, args), **{name: _host(a) for name, a in kwds.items()})


class NpzFile:
    """A .npz archive: a mapping from names to arrays, which are read at access, and a context manager."""

    def __init__(self, file):
        self.npz_file = file
        self.files = file.files

    def __getitem__(self, name: str) -> ndarray:
        return _core.as_array(self.npz_file[name])

    def __contains__(self, name) -> bool:
        return name in self.npz_file

    def __iter__(self):
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def keys(self):
        """The names of the arrays."""
        return list(self.files)

    def values(self):
        """The arrays, one after another."""
        return (self[name] for name in self.files)

    def items(self):
        """Names and arrays, one after another."""
        return ((name, self[name]) for name in self.files)

    def close(self) -> None:
        """Closes the file."""
        self.npz_file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"<iruka.NpzFile with {', '.join(self.files)}>"


def load(file, mmap_mode: str | None = None, allow_pickle: bool | None = None) -> Any:
    """The array of a .npy file, or the archive of a .npz file.

    mmap_mode 'r', 'r+', 'w+' or 'c' maps a .npy file: on the CPU the array is the file's own memory, and nothing is
    read before it is used. Raises what numpy.load raises.
    """
    found = numpy.load(file, mmap_mode=mmap_mode, allow_pickle=bool(allow_pickle))  # type: ignore[arg-type]  # NumPy checks the mode
    return NpzFile(found) if isinstance(found, numpy.lib.npyio.NpzFile) else _core.as_array(found)


def _stored(dtype) -> numpy.dtype:
    """The dtype of stored elements, which may be in the other byte order; asarray swaps them."""
    if isinstance(dtype, str) and dtype[:1] in "<>" or isinstance(dtype, numpy.dtype):
        return _core.dtype_of(numpy.dtype(dtype).newbyteorder("=")).newbyteorder(numpy.dtype(dtype).byteorder)
    return _core.dtype_of(dtype)


def frombuffer(buffer, dtype=float, count: int = -1, offset: int = 0) -> ndarray:
    """A 1-d array over the memory of a buffer, read-only where that is; a copy on a GPU, and of the other byte order.

    dtype: of the buffer's elements, in either byte order ('>i4').
    """
    return asarray(numpy.frombuffer(buffer, _stored(dtype), count, offset))


def fromfile(file, dtype=float, count: int = -1, sep: str = "", offset: int = 0) -> ndarray:
    """A 1-d array of a file's bytes, in either byte order (dtype '>i4'), or of numbers with `sep` between them."""
    return asarray(numpy.fromfile(file, _stored(dtype), count, sep, offset))


def fromstring(string, dtype=float, count: int = -1, *, sep: str = "") -> ndarray:
    """A 1-d array of the numbers in a text, with `sep` between them. Raises ValueError without it."""
    return asarray(numpy.fromstring(string, _core.dtype_of(dtype), count, sep=sep))


def fromiter(iter, dtype, count: int = -1) -> ndarray:
    """A 1-d array of what an iterator gives."""
    return asarray(numpy.fromiter(iter, _core.dtype_of(dtype), count))


def loadtxt(*args, **kwargs) -> ndarray:
    """numpy.loadtxt, as an Iruka array: numbers in columns of a text file."""
    found = numpy.loadtxt(*args, **kwargs)
    return [asarray(column) for column in found] if isinstance(found, list) else asarray(found)


def genfromtxt(*args, **kwargs) -> ndarray:
    """numpy.genfromtxt, as an Iruka array: a text file with missing values. Structured dtypes are a TypeError."""
    return asarray(numpy.genfromtxt(*args, **kwargs))


def savetxt(fname, X, *args, **kwargs) -> None:
    """numpy.savetxt: a 1-d or 2-d array as columns of a text file."""
    numpy.savetxt(fname, _host(X), *args, **kwargs)
