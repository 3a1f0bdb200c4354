"""Sequences of numbers: grids, windows, and other scales than linspace's."""

from __future__ import annotations

import operator

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .conversion import _array


def logspace(start, stop, num: int = 50, endpoint: bool = True, base=10.0, dtype=None, axis: int = 0) -> ndarray:
    """base ** linspace(start, stop, num): evenly spaced on a logarithmic scale. Arrays broadcast; see linspace."""
    return _core.logspace(start, stop, operator.index(num), bool(endpoint), base, dtype, axis)


def geomspace(start, stop, num: int = 50, endpoint: bool = True, dtype=None, axis: int = 0) -> ndarray:
    """num values from start to stop, each the same multiple of the one before. Arrays broadcast; see linspace.

    Raises ValueError where start or stop is 0.
    """
    return _core.geomspace(_array(start), _array(stop), operator.index(num), bool(endpoint), dtype, axis)


def meshgrid(*xi, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[ndarray, ...]:
    """Coordinate arrays of the grid that 1-d arrays span; 'xy' exchanges the first two axes, 'ij' keeps their order.

    sparse: views with extent 1 along the other arrays' axes. copy=False: read-only views.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', not {indexing!r}")
    return _core.meshgrid(xi, copy, sparse, indexing == "xy")


def vander(x, N: int | None = None, increasing: bool = False) -> ndarray:
    """The Vandermonde matrix: powers of a 1-d array as columns, the highest first unless increasing."""
    return _core.vander(x, N, increasing)


# --- windows ---


def _points(M) -> float:
    """The length of a window, a number or an array without axes."""
    if isinstance(M, (str, bytes)):
        raise TypeError(f"the length of a window must be a number, not {M!r}")
    if getattr(M, "ndim", 0) > 0:
        raise ValueError(f"the length of a window must be a number, not an array of shape {M.shape}")
    return float(M)


def bartlett(M) -> ndarray:
    """The triangular window of M points, 0 at both ends."""
    return _core.bartlett(_points(M))


def hanning(M) -> ndarray:
    """The raised cosine window of M points, 0 at both ends."""
    return _core.hanning(_points(M))


def hamming(M) -> ndarray:
    """The raised cosine window of M points with 0.08 at both ends."""
    return _core.hamming(_points(M))


def blackman(M) -> ndarray:
    """The window of M points from three cosine terms, 0 at both ends."""
    return _core.blackman(_points(M))


def kaiser(M, beta) -> ndarray:
    """The Kaiser window of M points from the modified Bessel function of order 0."""
    return _core.kaiser(_points(M), float(beta))
