"""The values of a sample: which ones there are in a row of a dataset, and what the core takes for them."""

from __future__ import annotations

import builtins
import operator
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...errors import IndexError, TypeError, ValueError

_MODES = {"1": "L", "P": "RGB", "PA": "RGBA", "CMYK": "RGB", "YCbCr": "RGB", "LAB": "RGB", "HSV": "RGB"}


def _array_of_picture(picture) -> np.ndarray:
    """A picture of Pillow in an array, in RGB where its mode has no pixels of its own."""
    mode = "RGBA" if "transparency" in picture.info and picture.mode == "P" else _MODES.get(picture.mode)
    return np.asarray(picture.convert(mode) if mode else picture)


def is_file_record(value) -> bool:
    """Whether a value is a file as Hugging Face's datasets give it where decoding is off."""
    return isinstance(value, Mapping) and value.keys() == {"bytes", "path"}


def _file_of_record(record, where: Callable[[], str]):
    if record["bytes"] is not None:
        return bytes(record["bytes"])
    if record["path"] is None:
        raise ValueError(f"{where()} is a file of neither bytes nor a path")
    return pathlib.Path(record["path"])


def array_of(value, where: Callable[[], str], kinds: str = "biufc") -> np.ndarray:
    """An array of numbers (`kinds` are those of NumPy's dtypes). Raises TypeError for others."""
    try:
        array = np.asarray(value)
    except (builtins.ValueError, builtins.TypeError, builtins.OverflowError) as error:
        raise TypeError(f"{where()}: {type(value).__name__} that makes no array of numbers: {error}") from error
    if array.dtype.kind in kinds or (array.dtype.kind == "V" and array.dtype.names is None):
        return array
    raise TypeError(f"{where()}: {type(value).__name__} of dtype {array.dtype}, which has no numbers")


def _core_value(value, where: Callable[[], str]):
    """A path, bytes, a number or an array. `where` gives the head of an error's message."""
    if isinstance(value, (bytes, bool, int, float)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, str):
        return np.frombuffer(value.encode(), np.uint8)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if is_file_record(value):
        return _file_of_record(value, where)
    if hasattr(value, "getbands") and hasattr(value, "convert"):
        return _array_of_picture(value)
    if isinstance(value, (np.ndarray, np.generic, list, tuple, complex)):
        return array_of(value, where)
    if isinstance(value, os.PathLike) or hasattr(value, "__dlpack__"):
        return value
    if hasattr(value, "__array__"):
        return array_of(value, where)
    raise TypeError(
        f"{where()}: {type(value).__name__}; a sample holds arrays, numbers, text, bytes, paths and Pillow's pictures, "
        "and map(function, fields) of the source makes them of other values"
    )


def core_values(values: Sequence, fields: Sequence[str], describe: Callable[[], str]) -> tuple:
    """What the core takes for a sample's values. Raises ValueError for another number of values than fields."""
    if not isinstance(values, tuple) or len(values) != len(fields):
        given = f"{len(values)} values" if isinstance(values, tuple) else f"{type(values).__name__}, not a tuple"
        raise ValueError(f"{describe()}: {given}, where the source's fields are {', '.join(fields)}")
    return tuple(_core_value(value, lambda: f"{describe()}: {name}") for value, name in zip(values, fields))  # noqa: B023


def place_of(index, size: int, function: str) -> int:
    """An index that counts from the start. Raises IndexError where it is out of bounds."""
    try:
        place = operator.index(index)
    except builtins.TypeError:
        raise TypeError(f"{function}: the index of a sample is an integer, not {type(index).__name__}") from None
    if not -size <= place < size:
        raise IndexError(f"{function}: index {place} of a source of {size} samples")
    return place % size


def checked_fields(fields, function: str, *, takes_one: bool = True) -> tuple[str, ...]:
    """The names of a sample's values, each once; takes_one: also one name alone. Raises TypeError and ValueError for
    others."""
    if isinstance(fields, str) and not takes_one:
        raise TypeError(f"{function}: fields is a tuple of names, such as ({fields!r},), not {fields!r}")
    names = (fields,) if isinstance(fields, str) else tuple(fields)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{function}: fields are names, not {names!r}")
    if not names or len(set(names)) != len(names):
        raise ValueError(f"{function}: fields are one name or more, each once, not {names!r}")
    return names


def fields_named(count: int) -> tuple[str, ...]:
    """The names of values that have none."""
    return ("value",) if count == 1 else tuple(f"value_{k}" for k in range(count))


def fields_of_row(row, function: str) -> tuple[str, ...]:
    """The fields of a dataset whose first row this is: the keys of a dict, or the places of a tuple's values."""
    if isinstance(row, Mapping) and not is_file_record(row):
        return checked_fields(row, function)
    if isinstance(row, tuple):
        return checked_fields(getattr(row, "_fields", fields_named(len(row))), function)
    return fields_named(1)


def values_of_row(row, fields: tuple[str, ...], describe: Callable[[], str]) -> tuple:
    """The values of a row: of these keys in a dict, all of a tuple, or the row itself."""
    if isinstance(row, Mapping) and not is_file_record(row):
        missing = [name for name in fields if name not in row]
        if missing:
            names = ", ".join(map(repr, missing))
            raise ValueError(f"{describe()}: the row has no field {names}, but {', '.join(map(repr, row))}")
        return tuple(row[name] for name in fields)
    values = tuple(row) if isinstance(row, tuple) else (row,)
    if len(values) != len(fields):
        raise ValueError(f"{describe()}: {len(values)} values, where the fields are {', '.join(fields)}")
    return values
