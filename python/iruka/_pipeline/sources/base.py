"""What every source is: samples by their index, or samples one after the other."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence

from ... import _core
from .values import checked_fields, core_values, values_of_row


class Source(abc.ABC):
    """Samples by their index, for Pipeline: a subclass has `fields`, `__len__` and `__getitem__`.

    A sample is a tuple with a value for each name in `fields`: a path (os.PathLike) or the bytes of a file that the
    pipeline decodes, an array (anything with DLPack, NumPy's too), a number, text, or a picture of Pillow. It follows
    from its index alone, and is asked for from several threads at a time.
    """

    fields: tuple[str, ...]

    @abc.abstractmethod
    def __len__(self) -> int:
        """The number of samples."""

    @abc.abstractmethod
    def __getitem__(self, index: int) -> tuple:
        """The values of a sample. Raises IndexError where there is no such sample."""

    def describe(self, index: int) -> str:
        """What errors and reports call a sample."""
        return f"sample {index}"

    def map(self, function: Callable, fields: Sequence[str] | str | None = None) -> Source:
        """The source whose samples are what a function of this one's values returns: a tuple, or the only value.

        fields: the names of the values that it returns; the same as before by default.
        """
        return _Mapped(self, function, fields)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} samples of {', '.join(self.fields)}>"

    def _core_sample(self, index: int) -> tuple:
        return core_values(self[index], self.fields, lambda: self.describe(index))

    def _core_source(self):
        """The source as the core calls it."""
        return _core._pipeline.python_source(len(self), len(self.fields), self._core_sample, self.describe)


def made_of(sample: tuple | Exception, function: Callable[[tuple], tuple]) -> tuple | Exception:
    """What a function makes of a sample, or the error in its place."""
    if isinstance(sample, Exception):
        return sample
    try:
        return function(sample)
    except Exception as error:
        return error


class SequentialSource(abc.ABC):
    """Samples one after the other, for Pipeline: a subclass has `fields`, `begin` and `next`.

    Samples are as those of a Source. There is no shuffling, sharding or random access of them.
    """

    fields: tuple[str, ...]

    @abc.abstractmethod
    def begin(self, epoch: int) -> None:
        """An epoch begins, and next() goes on with its first sample."""

    @abc.abstractmethod
    def next(self, count: int) -> list[tuple | Exception]:
        """The next `count` samples; fewer or none where the epoch ends. An exception stands in the place of a sample
        that cannot be made, and is a failure of that sample; one that is raised ends the epoch."""

    def map(self, function: Callable, fields: Sequence[str] | str | None = None) -> SequentialSource:
        """The source whose samples are what a function of this one's values returns: a tuple, or the only value.

        fields: the names of the values that it returns; the same as before by default.
        """
        return _MappedSequence(self, function, fields)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: samples of {', '.join(self.fields)}>"

    def _leave(self) -> None:
        """Lets go of the epoch, of which nothing is wanted any more. Another thread may be in next()."""
        return

    def _core_next(self, count: int) -> list[tuple | Exception]:
        return [made_of(sample, self._core_sample) for sample in self.next(count)]

    def _core_sample(self, sample: tuple) -> tuple:
        return core_values(sample, self.fields, lambda: type(self).__name__)

    def _core_source(self):
        """The source as the core calls it."""
        return _core._pipeline.sequential_source(len(self.fields), self._core_next, self.begin)


class _Mapped(Source):
    def __init__(self, source: Source, function: Callable, fields: Sequence[str] | str | None):
        self.fields = source.fields if fields is None else checked_fields(fields, "map")
        self._source, self._function = source, function

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, index: int) -> tuple:
        made = self._function(*self._source[index])
        return values_of_row(made, self.fields, lambda: f"map: {self.describe(index)}")

    def describe(self, index: int) -> str:
        return self._source.describe(index)


class _MappedSequence(SequentialSource):
    def __init__(self, source: SequentialSource, function: Callable, fields: Sequence[str] | str | None):
        self.fields = source.fields if fields is None else checked_fields(fields, "map")
        self._source, self._function = source, function

    def begin(self, epoch: int) -> None:
        self._source.begin(epoch)

    def next(self, count: int) -> list[tuple | Exception]:
        return [made_of(sample, self._made) for sample in self._source.next(count)]

    def _leave(self) -> None:
        self._source._leave()

    def _made(self, sample: tuple) -> tuple:
        return values_of_row(self._function(*sample), self.fields, lambda: "map")
