"""Sequences of numbers: grids, windows, and other scales than linspace's."""

from __future__ import annotations

from .. import _core
from .._core import ndarray
from .._functions import elementwise
from ..errors import ValueError
from .conversion import _array
from .creation import linspace
from .shapes import expand_dims, moveaxis


def logspace(start, stop, num: int = 50, endpoint: bool = True, base=10.0, dtype=None, axis: int = 0) -> ndarray:
    """base ** linspace(start, stop, num): evenly spaced on a logarithmic scale. Arrays broadcast; see linspace."""
    if getattr(base, "ndim", 0) or isinstance(base, (list, tuple)):
        start, stop, base = map(_array, (start, stop, base))
        ndim = max(a.ndim for a in (start, stop, base))
        start, stop, base = (a.reshape((1,) * (ndim - a.ndim) + a.shape) for a in (start, stop, base))
        base = expand_dims(base, axis)
    result = elementwise["power"](base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else result.astype(dtype, copy=False)


def geomspace(start, stop, num: int = 50, endpoint: bool = True, dtype=None, axis: int = 0) -> ndarray:
    """num values from start to stop, each the same multiple of the one before. Arrays broadcast; see linspace.

    Raises ValueError where start or stop is 0.
    """
    start, stop = _array(start), _array(stop)
    if bool((start == 0).any()) or bool((stop == 0).any()):
        raise ValueError("Geometric sequence cannot include zero")
    wanted = None if dtype is None else _core.dtype_of(dtype)
    common = _core.result_type(start, stop, float(num), _core.dtype_of(float) if wanted is None else wanted)
    start, stop = start.astype(common, copy=False), stop.astype(common, copy=False)
    # In the direction of start, so that logarithms of negative and complex numbers stay real where they can.
    direction, log10 = elementwise["sign"](start), elementwise["log10"]
    first, last = start / direction, stop / direction
    result = logspace(log10(first), log10(last), num, endpoint, dtype=common)
    if num > 0:  # the ends exactly
        result[0] = first
        if endpoint and num > 1:
            result[-1] = last
    result = result * direction
    if axis != 0:
        result = moveaxis(result, 0, axis)
    return result if wanted is None else result.astype(wanted, copy=False)


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


def bartlett(M) -> ndarray:
    """The triangular window of M points, 0 at both ends."""
    return _core.bartlett(float(M))


def hanning(M) -> ndarray:
    """The raised cosine window of M points, 0 at both ends."""
    return _core.hanning(float(M))


def hamming(M) -> ndarray:
    """The raised cosine window of M points with 0.08 at both ends."""
    return _core.hamming(float(M))


def blackman(M) -> ndarray:
    """The window of M points from three cosine terms, 0 at both ends."""
    return _core.blackman(float(M))


def kaiser(M, beta) -> ndarray:
    """The Kaiser window of M points from the modified Bessel function of order 0."""
    return _core.kaiser(float(M), float(beta))
