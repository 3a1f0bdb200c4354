"""The outputs of a run: batches by DALI's names."""

from __future__ import annotations

import numpy as _np

from ..._core import asnumpy
from ..._numpy.shapes import stack
from ...errors import ValueError
from .types import to_dali_type


class TensorList:
    """A batch of one output: one array (batch, ...), or an array for each sample where shapes differ.

    tensors[k] is the array of sample k, at(k) the same as NumPy's, as_tensor() the whole batch as an Iruka array,
    as_array() as NumPy's. The batch is an array of the array protocols (NumPy's, DLPack) where it is dense.
    """

    def __init__(self, data, layout: str = ""):
        self._data = data
        self._layout = layout

    @property
    def dtype(self):
        """The DALIDataType."""
        first = self._data if not isinstance(self._data, list) else self._data[0]
        return to_dali_type(str(first.dtype))

    def layout(self) -> str:
        return self._layout

    def is_dense_tensor(self) -> bool:
        """Whether all samples have one shape."""
        return not isinstance(self._data, list) or len({tuple(each.shape) for each in self._data}) <= 1

    def as_tensor(self):
        """The whole batch as one array. Raises ValueError for samples of unlike shapes."""
        if not isinstance(self._data, list):
            return self._data
        if not self.is_dense_tensor():
            raise ValueError(
                f"as_tensor: the samples have unlike shapes, {[tuple(each.shape) for each in self._data]}; resize, "
                "crop or pad them, or take them one by one"
            )
        return stack(self._data)

    def as_array(self) -> _np.ndarray:
        """The whole batch as a NumPy array, on the CPU."""
        return _host(self.as_tensor())

    def at(self, index: int) -> _np.ndarray:
        """A sample as a NumPy array, on the CPU."""
        return _host(self[index])

    def as_cpu(self) -> TensorList:
        """The same batch on the CPU."""
        return self._on("cpu")

    def _on(self, device) -> TensorList:
        if isinstance(self._data, list):
            return TensorList([_moved(each, device) for each in self._data], self._layout)
        return TensorList(_moved(self._data, device), self._layout)

    def shape(self) -> list:
        """The shape of each sample."""
        return [tuple(each.shape) for each in self]

    def head(self, count: int) -> TensorList:
        """The first samples alone."""
        return TensorList(self._data[:count], self._layout)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, index: int):
        if not -len(self) <= index < len(self):
            raise IndexError(f"sample {index} of a batch of {len(self)}")
        return self._data[index]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __array__(self, dtype=None, copy=None):
        array = self.as_array()
        return array if dtype is None else array.astype(dtype)

    def __dlpack__(self, **arguments):
        return self.as_tensor().__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.as_tensor().__dlpack_device__()

    def __repr__(self):
        return f"TensorList({len(self)} samples, dtype={self.dtype.name}, layout={self._layout!r})"


def _host(array) -> _np.ndarray:
    return asnumpy(array)


def _moved(array, device):
    return array.to_device(device) if hasattr(array, "to_device") else array
