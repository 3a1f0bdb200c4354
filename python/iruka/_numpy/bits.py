"""Packed bools, eight per byte."""

from __future__ import annotations

from .. import _core
from .._core import ndarray


def packbits(a, /, axis: int | None = None, bitorder: str = "big") -> ndarray:
    """Bools or integers (nonzero is 1) as the bits of uint8, eight neighbours along an axis each; 0 fills the last
    byte.

    bitorder 'big' puts the first element in the highest bit. Raises TypeError for other dtypes.
    """
    return _core.packbits(a, axis, bitorder)


def unpackbits(a, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> ndarray:
    """The bits of uint8 as uint8 of 0 and 1, eight for each along an axis.

    count: how many to give along the axis; negative: as many less than there are. Raises TypeError for other dtypes.
    """
    return _core.unpackbits(a, axis, count, bitorder)
