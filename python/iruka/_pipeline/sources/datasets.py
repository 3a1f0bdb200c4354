"""Datasets of other libraries: random access by `__len__` and `__getitem__`, or iteration."""

from __future__ import annotations

import builtins
import collections
import contextlib
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ...errors import TypeError, ValueError
from .base import SequentialSource, Source
from .values import checked_fields, fields_of_row, place_of, values_of_row


def is_random_access(data) -> bool:
    """Whether samples can be asked for by index. torch's IterableDataset has a `__getitem__` that always raises."""
    is_iterable = any(kind.__name__ == "IterableDataset" for kind in type(data).__mro__)
    return hasattr(data, "__getitem__") and hasattr(data, "__len__") and not is_iterable


_MOST_LOOKED_AT = 16


class Dataset(Source):
    """The rows of a dataset with `__len__` and `__getitem__`."""

    def __init__(self, data, fields: Sequence[str] | str | None, thread_safe: bool):
        self._data, self._thread_safe = data, thread_safe
        self._size = len(data)
        if not self._size:
            raise ValueError(f"dataset: the {type(data).__name__} has no samples")
        self.fields = self._fields_of_first() if fields is None else checked_fields(fields, "dataset")
        self._turn = self._lock()

    def _fields_of_first(self) -> tuple[str, ...]:
        """The fields of the first sample that can be read: others fail when they are made."""
        first: Exception | None = None
        for index in range(min(self._size, _MOST_LOOKED_AT)):
            try:
                row = self._data[index]
            except Exception as error:
                first = first or error
            else:
                return fields_of_row(row, "dataset")
        assert first is not None
        first.add_note(f"dataset: sample 0, which is read for the fields, and as many as {_MOST_LOOKED_AT} behind it")
        raise first

    def _lock(self):
        return contextlib.nullcontext() if self._thread_safe else threading.Lock()

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> tuple:
        place = place_of(index, self._size, "dataset")
        with self._turn:
            row = self._data[place]
        return values_of_row(row, self.fields, lambda: f"dataset: {self.describe(place)}")

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_turn"}

    def __setstate__(self, state):
        vars(self).update(state)
        self._turn = self._lock()


def _is_one_shot(rows) -> bool:
    """Whether an iterable is a built-in iterator, such as a generator, which cannot begin again."""
    own = getattr(type(rows), "__iter__", None)
    return own is not None and not inspect.isfunction(own) and iter(rows) is rows


class Stream(SequentialSource):
    """The rows of an iterable, which is iterated anew in each epoch."""

    def __init__(self, rows, fields: Sequence[str] | str | None, batched: bool):
        if not hasattr(rows, "__iter__") and not callable(rows):
            raise TypeError(f"iterable: {type(rows).__name__} is no iterable, and no function that makes iterators")
        self._rows, self._batched = rows, batched
        self._is_opened = False
        self._forget()
        self.fields = self._fields_of_first() if fields is None else checked_fields(fields, "iterable")

    def _forget(self):
        self._turn = threading.Lock()
        self._iterator: Iterator | None = None
        self._is_left = False  # no thread goes on with the iterator
        self._ahead: list = []  # the first row, which was looked at for the fields
        self._epoch = self._given = 0
        self._pending: collections.deque[tuple | Exception] = collections.deque()

    def _open(self, epoch: int) -> Iterator:
        if self._is_opened and _is_one_shot(self._rows):
            raise ValueError(
                f"iterable: the {type(self._rows).__name__} was begun before epoch {epoch} and cannot begin again; "
                "give a function that makes a new one for each epoch"
            )
        if hasattr(self._rows, "set_epoch"):
            self._rows.set_epoch(epoch)
        self._is_opened = True
        return iter(self._rows if hasattr(self._rows, "__iter__") else self._rows())

    def _fields_of_first(self) -> tuple[str, ...]:
        self._iterator = self._open(0)
        try:
            self._ahead = [next(self._iterator)]
        except StopIteration:
            raise ValueError(f"iterable: the {type(self._rows).__name__} has no samples") from None
        return fields_of_row(self._ahead[0], "iterable")

    def begin(self, epoch: int) -> None:
        with self._turn:
            if not self._ahead or (epoch != 0 and not _is_one_shot(self._rows)):
                self._close()
                self._iterator = self._open(epoch)
            self._is_left = False
            self._epoch = epoch
            self._given = 0
            self._pending.clear()

    def next(self, count: int) -> list[tuple | Exception]:
        if self._iterator is None and not self._is_left:
            self.begin(0)
        with self._turn:
            while len(self._pending) < count and not self._is_left and self._read(self._iterator):
                pass
            made = [self._pending.popleft() for _ in range(min(count, len(self._pending)))]
        if not self._is_left:
            return made
        self._leave()  # again: it was not to be closed while it ran
        return []

    def _leave(self) -> None:
        self._is_left = True
        if self._turn.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._turn.release()

    def _close(self) -> None:
        """Ends a generator, whose `finally` runs now."""
        iterator, self._iterator = self._iterator, None
        self._ahead.clear()
        self._pending.clear()
        if inspect.isgenerator(iterator):
            iterator.close()

    def _read(self, rows: Iterator | None) -> bool:
        """Takes the next item, if there is one. Where that raises, the samples before it wait for the next call."""
        try:
            row = self._ahead.pop() if self._ahead else next(rows)  # type: ignore[arg-type]
        except StopIteration:
            self._check_end()
            return False
        self._given += 1
        try:
            values = values_of_row(row, self.fields, lambda: f"iterable: item {self._given - 1} of epoch {self._epoch}")
            self._pending.extend(self._samples_of_batch(values) if self._batched else [values])
        except (ValueError, builtins.TypeError) as error:
            self._pending.append(error)
        return True

    def _check_end(self):
        if self._given == 0:
            self._given = -1  # which is said once
            raise ValueError(
                f"iterable: the {type(self._rows).__name__} has no samples in epoch {self._epoch}; where it can be "
                "iterated once alone, give a function that makes a new one for each epoch"
            )

    def _samples_of_batch(self, values: tuple) -> list[tuple]:
        sizes = [len(value) for value in values]
        if len(set(sizes)) > 1:
            pairs = ", ".join(f"{name}: {size}" for name, size in zip(self.fields, sizes))
            raise ValueError(f"iterable: batch {self._given - 1} has different numbers of samples ({pairs})")
        return [tuple(value[k] for value in values) for k in range(sizes[0])]

    def __getstate__(self):
        return {"_rows": self._rows, "_batched": self._batched, "fields": self.fields}

    def __setstate__(self, state):
        vars(self).update(state)
        self._is_opened = False
        self._forget()


def dataset(data, fields: Sequence[str] | str | None = None, *, thread_safe: bool = True) -> Source | SequentialSource:
    """The samples of another library's dataset: PyTorch's Dataset, Hugging Face's, a list, or anything of that kind.

    data: has `__len__` and `__getitem__`, and gives the same row for the same index. A row is a dict, whose keys are
        the fields; a tuple, whose fields are `value_0`, `value_1` and so on (or those of a named tuple); or one
        `value`. A value is an array, a number, text, bytes, a path, a picture of Pillow, or Hugging Face's dict of
        `bytes` and `path`, which is a file that the pipeline decodes. What can only be iterated is given to iterable().
    fields: the names of the values; of a dict's rows, which ones are taken. By default the first row says, which is
        read at once; if it cannot be read, one of the next 15.
    thread_safe: False for a dataset whose `__getitem__` only one thread may call at a time.

    Raises TypeError for other objects, and ValueError for no samples and for a row of other values than the fields.
    """
    if isinstance(data, Mapping):
        names = ", ".join(map(str, data))
        raise TypeError(f"dataset: a dict, of {names}; give one of its parts, or arrays(dict) where it has columns")
    if is_random_access(data):
        return Dataset(data, fields, thread_safe)
    if hasattr(data, "__iter__") or callable(data):
        return Stream(data, fields, False)
    raise TypeError(f"dataset: {type(data).__name__} has neither __len__ and __getitem__ nor __iter__")


def iterable(rows: Iterable | Callable[[], Iterable], fields=None, *, batched: bool = False) -> SequentialSource:
    """Samples one after the other: of an iterable, which is iterated anew in each epoch, or of a function's.

    rows: an iterable, or a function without arguments that makes one for each epoch, such as a generator function. A
        generator lasts for one epoch. If it has a method `set_epoch`, this is called first. Rows are as in dataset().
    fields: the names of the values; by default the first row says, which is asked for at once.
    batched: each item is a batch, whose values have a first axis that counts samples.

    Raises TypeError for other objects, and ValueError for no samples, also in a later epoch.
    """
    return Stream(rows, fields, batched)
