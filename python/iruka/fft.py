"""Discrete Fourier transforms, as numpy.fft: any length, any axes; float32 gives complex64, other reals complex128.

norm is 'backward' (1 / n on the inverse), 'ortho' (1 / sqrt(n) both ways) or 'forward' (1 / n forwards).
"""

from __future__ import annotations

import math
import operator

from . import _core
from ._core import ndarray
from ._numpy.conversion import _array, _place
from ._numpy.products import _conjugate
from ._numpy.shapes import _axes, _into
from ._public_names import dir_of as _dir_of
from .errors import ValueError

_COMPLEX, _TO_HALF, _TO_REAL = 0, 1, 2
_swapped = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _scale(norm: str | None, n: int, forward: bool) -> float:
    if norm not in _swapped:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") == forward else 1.0


def _as_input(result: ndarray, kind: int, a: ndarray) -> ndarray:
    """Real numbers from float16 are float16, as NumPy's; they are computed in float32."""
    return result.astype(a.dtype) if kind == _TO_REAL and a.dtype == "float16" else result


def _transform(a, kind: int, n, axis: int, norm, forward: bool, out=None) -> ndarray:
    a = _array(a)
    (axis,) = _axes("fft", axis, a.ndim)
    if n is None:
        n = a.shape[axis] if kind != _TO_REAL else 2 * (a.shape[axis] - 1)
    n = operator.index(n)
    result = _core.fft_transform(a, kind, n, axis, forward, _scale(norm, n, forward))
    return _into(out, _as_input(result, kind, a))


def fft(a, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Transform along one axis, cut or continued with zeros to n elements.

    Raises ValueError for n below 1 or another norm, AxisError for another axis.

        >>> iruka.fft.fft(iruka.asarray([1., 0., 0., 0.]))
        array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _transform(a, _COMPLEX, n, axis, norm, True, out)


def ifft(a, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Inverse of fft."""
    return _transform(a, _COMPLEX, n, axis, norm, False, out)


def rfft(a, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Transform of real numbers: the first n // 2 + 1 elements, which the others mirror.

    Raises TypeError for complex ones.
    """
    return _transform(a, _TO_HALF, n, axis, norm, True, out)


def irfft(a, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Inverse of rfft: n real numbers, by default 2 (m - 1) for m elements."""
    return _transform(a, _TO_REAL, n, axis, norm, False, out)


def _swap(norm):
    if norm not in _swapped:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return _swapped[norm]


def hfft(a, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Transform of a signal with Hermitian symmetry, given by its first half: n real numbers."""
    return _transform(_conjugate(_array(a)), _TO_REAL, n, axis, _swap(norm), False, out)


def ihfft(a, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Inverse of hfft: n // 2 + 1 elements."""
    return _into(out, _conjugate(_transform(a, _TO_HALF, n, axis, _swap(norm), True)))


def _extents(a: ndarray, s, axes, of_result: bool = False):
    """Lengths and axes of a transform of several axes; -1 is the array's own length."""
    given = None if s is None else [operator.index(n) for n in s]
    count = a.ndim if given is None else len(given)
    places = list(range(-count, 0)) if axes is None else [operator.index(axis) for axis in axes]
    if given is not None and count != len(places):
        raise ValueError("Shape and axes have different lengths.")
    for axis in places:
        _axes("fft", axis, a.ndim)
    lengths = [a.shape[axis] for axis in places]
    if given is not None:
        lengths = [own if n == -1 else n for n, own in zip(given, lengths)]
    elif of_result and lengths:
        lengths[-1] = (lengths[-1] - 1) * 2
    return lengths, places


def _several(a: ndarray, kind: int, lengths, axes, norm, forward: bool, out=None) -> ndarray:
    if not axes:
        return _into(out, a)
    scale = math.prod(_scale(norm, n, forward) for n in lengths)
    result = _core.fft_transform_axes(a, kind, lengths, axes, forward, scale)
    return _into(out, result if len(axes) > 1 else _as_input(result, kind, a))


def fftn(a, s=None, axes=None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """fft along several axes, all of them by default; s gives their lengths (-1: as they are)."""
    a = _array(a)
    lengths, places = _extents(a, s, axes)
    return _several(a, _COMPLEX, lengths, places, norm, True, out)


def ifftn(a, s=None, axes=None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Inverse of fftn."""
    a = _array(a)
    lengths, places = _extents(a, s, axes)
    return _several(a, _COMPLEX, lengths, places, norm, False, out)


def rfftn(a, s=None, axes=None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """rfft along the last of several axes, then fft along the others."""
    a = _array(a)
    lengths, places = _extents(a, s, axes)
    if not places:
        raise ValueError("rfftn: at least one axis is needed")
    return _several(a, _TO_HALF, lengths, places, norm, True, out)


def irfftn(a, s=None, axes=None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Inverse of rfftn."""
    a = _array(a)
    lengths, places = _extents(a, s, axes, True)
    if not places:
        raise ValueError("irfftn: at least one axis is needed")
    return _several(a, _TO_REAL, lengths, places, norm, False, out)


def fft2(a, s=None, axes=(-2, -1), norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """fftn along two axes."""
    return fftn(a, s, axes, norm, out)


def ifft2(a, s=None, axes=(-2, -1), norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Inverse of fft2."""
    return ifftn(a, s, axes, norm, out)


def rfft2(a, s=None, axes=(-2, -1), norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """rfftn along two axes."""
    return rfftn(a, s, axes, norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """Inverse of rfft2."""
    return irfftn(a, s, axes, norm, out)


def _frequencies(n, is_half: bool, d, dtype, device) -> ndarray:
    n = operator.index(n)
    with _place(device):
        values = _core.fft_frequencies(n, is_half, float(1.0 / (n * d)))
        return values if dtype is None else values.astype(dtype)


def fftfreq(n: int, d: float = 1.0, device=None, *, dtype=None) -> ndarray:
    """Frequencies of fft's elements in cycles per unit of the spacing d: 0, 1, ..., -2, -1 over n d."""
    return _frequencies(n, False, d, dtype, device)


def rfftfreq(n: int, d: float = 1.0, device=None, *, dtype=None) -> ndarray:
    """Frequencies of rfft's elements: 0, 1, ..., n // 2 over n d."""
    return _frequencies(n, True, d, dtype, device)


def fftshift(x, axes=None) -> ndarray:
    """Moves the zero frequency to the middle of the axes, all by default."""
    return _core.fftshift(x, axes, False)


def ifftshift(x, axes=None) -> ndarray:
    """Inverse of fftshift."""
    return _core.fftshift(x, axes, True)


__dir__ = _dir_of(globals())
