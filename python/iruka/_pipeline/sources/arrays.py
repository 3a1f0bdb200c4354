"""Arrays whose first axis counts the samples, in memory or in .npy files."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from ... import _core
from ...errors import TypeError, ValueError
from .base import Source
from .files import files_below, unreadable
from .values import array_of, checked_fields, fields_named, place_of


def _samples_of(array, name: str, function: str):
    """An array whose elements along the first axis are samples. NumPy's stay where they are, in files too."""
    if not isinstance(array, (np.ndarray, _core.ndarray)) and hasattr(array, "__dlpack__"):
        array = _core.from_dlpack(array, None)
    elif not isinstance(array, _core.ndarray):
        array = array_of(array, lambda: f"{function}: {name}", kinds="biufcU")
    if array.ndim == 0:
        raise ValueError(f"{function}: {name} has no axis that could count samples")
    return array


def _is_native(array) -> bool:
    """Whether the core reads the samples where they are, without the interpreter."""
    if isinstance(array, _core.ndarray):
        return array.device.name == "cpu"
    return array.dtype.kind in "biufc" and array.dtype.isnative and array.dtype.char not in "gG"


class Arrays(Source):
    """The elements of arrays along their first axis."""

    def __init__(self, arrays: Mapping, function: str):
        self.fields = checked_fields(arrays, function)
        self._function = function
        self._arrays = [_samples_of(array, name, function) for name, array in arrays.items()]
        lengths = [len(array) for array in self._arrays]
        if len(set(lengths)) > 1:
            pairs = ", ".join(f"{name}: {length}" for name, length in zip(self.fields, lengths))
            raise ValueError(f"{function}: the arrays have different numbers of samples ({pairs})")
        if not lengths[0]:
            raise ValueError(f"{function}: the arrays have no samples")

    def __len__(self) -> int:
        return len(self._arrays[0])

    def __getitem__(self, index: int) -> tuple:
        place = place_of(index, len(self), self._function)
        return tuple(array[place] for array in self._arrays)

    def _core_source(self):
        if not all(_is_native(array) for array in self._arrays):
            return super()._core_source()
        return _core._pipeline.arrays(self._arrays)


class ArrayFiles(Source):
    """A sample in each .npy file."""

    fields = ("value",)

    def __init__(self, paths: Iterable[str | os.PathLike]):
        self.paths = [os.fsdecode(path) for path in paths]
        if not self.paths:
            raise ValueError("npy: there are no files")

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple:
        return (load_array(self.paths[place_of(index, len(self), "npy")]),)

    def describe(self, index: int) -> str:
        return self.paths[index]


class ArrayFile(Source):
    """The elements along the first axis of the array in a .npy file, which stays there until they are asked for."""

    fields = ("value",)

    def __init__(self, path: str):
        self.path = path
        self._array = np.asarray(load_array(path, "r"))
        if self._array.ndim == 0 or len(self._array) == 0:
            raise ValueError(f"npy: '{path}' has the shape {self._array.shape}, without samples along a first axis")

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: int) -> tuple:
        return (self._array[place_of(index, len(self), "npy")],)

    def describe(self, index: int) -> str:
        return f"{self.path}: {index}"

    def __reduce__(self):
        return type(self), (self.path,)  # another process maps the file itself


def load_array(path: str, mapped: Literal["r"] | None = None) -> np.ndarray:
    """The array in a .npy file. Raises OSError and ValueError that name the file."""
    try:
        array = np.load(path, mmap_mode=mapped, allow_pickle=False)
    except OSError as error:
        raise unreadable("npy", path, error) from None
    except (builtins.ValueError, EOFError) as error:
        raise ValueError(f"npy: '{path}' is no whole .npy file of numbers: {error}") from error
    if isinstance(array, np.ndarray):
        return array
    array.close()
    raise ValueError(f"npy: '{path}' is an archive of arrays (.npz), not one array")


def arrays(*values, **named) -> Source:
    """Arrays whose first axis counts the samples: samples of an element of each.

    values: arrays of Iruka, NumPy or another library with DLPack, or one dict of them. Their fields are `value`, or
        `value_0`, `value_1` and so on; the keys of the dict or of keyword arguments. NumPy's arrays are not copied, so
        that those mapped from a file (numpy.load with mmap_mode) stay there.

    Raises TypeError for arrays that hold no numbers, and ValueError for different lengths and for no samples.
    """
    if len(values) == 1 and isinstance(values[0], Mapping) and not named:
        return Arrays(values[0], "arrays")
    if bool(values) == bool(named):
        raise TypeError("arrays: takes arrays, one dict of arrays, or arrays as keyword arguments")
    return Arrays(named or dict(zip(fields_named(len(values)), values)), "arrays")


def npy(paths: str | os.PathLike | Iterable[str | os.PathLike]) -> Source:
    """Arrays in .npy files: samples of `value`.

    paths: one file, whose first axis counts the samples and which is mapped, not loaded; a list of files, each of
        which is a sample; or a folder, whose .npy files are taken, with those in the folders below, sorted.

    Raises FileNotFoundError and other OSErrors, and ValueError for a file that is damaged or holds no array of numbers.
    """
    if not isinstance(paths, (str, bytes, os.PathLike)):
        return ArrayFiles(paths)
    path = os.fsdecode(paths)
    if not os.path.isdir(path):
        return ArrayFile(path)
    found = files_below(path, ["npy"], "npy")
    if not found:
        raise ValueError(f"npy: there are no files: '{path}' has no .npy file in it or below")
    return ArrayFiles(found)
