"""Linear algebra."""

from __future__ import annotations

from . import _core
from ._core import ndarray
from .errors import ValueError


def norm(
    x, ord: float | str | None = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> ndarray:
    """Vector norm along an axis, or of all elements; the Frobenius norm over two axes.

    ord: None or 2 (Euclidean), 1, inf, -inf, 0 (number of nonzeros) or any p. Without an axis, ord other than None
    needs a 1-d array. 'fro' is None over two axes. Other matrix norms raise NotImplementedError.

        >>> float(iruka.linalg.norm(iruka.asarray([3., 4.])))
        5.0
    """
    x = _core.as_array(x)
    over = 1 if isinstance(axis, int) else len(axis) if axis is not None else x.ndim
    if ord == "fro" and over == 2:
        ord = None
    if isinstance(ord, str):
        raise ValueError(f"norm: ord {ord!r} is not 'fro' over two axes")
    if ord is not None and over == 2:
        raise NotImplementedError("norm: over two axes only the Frobenius norm is computed; use numpy.linalg.norm")
    if ord is not None and over != 1:
        raise ValueError(f"norm: ord {ord!r} needs one axis, not {over}")
    if x.dtype.kind in "iub":
        x = x.astype("float64")
    return _core.norm(x, ord, axis, keepdims)
