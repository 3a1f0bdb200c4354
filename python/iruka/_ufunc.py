"""What iruka.ufunc asks of Python: places of indexed elements."""

import math

import numpy

from . import _core


def _on_host(index):
    if isinstance(index, tuple):
        return tuple(map(_on_host, index))
    return _core.asnumpy(index) if isinstance(index, _core.ndarray) else index


def positions(shape, index):
    """int64 positions in the flattened array of the elements that `index` selects, in the shape of the selection.

    Takes whatever NumPy takes as an index. Raises IndexError as NumPy does.
    """
    index = _on_host(index)
    if len(shape) == 1 and isinstance(index, (list, numpy.ndarray)):
        index = numpy.asarray(index)
        if index.dtype.kind in "iu":
            index = index.astype(numpy.int64)
            outside = (index < -shape[0]) | (index >= shape[0])
            if outside.any():
                raise IndexError(
                    f"index {index[outside][0]} is out of bounds for axis 0 with size {shape[0]}"
                )
            return numpy.where(index < 0, index + shape[0], index)
    return numpy.ascontiguousarray(numpy.arange(math.prod(shape)).reshape(shape)[index])
