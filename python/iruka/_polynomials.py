"""Polynomials as arrays of coefficients, the highest power first.

Coefficients are few: what works on them alone is NumPy's, through host memory. Values at many points are computed where
the points lie.
"""

from __future__ import annotations

import numpy

from . import _core
from ._core import ElementwiseKernel, ndarray
from ._creation import asnumpy
from ._manipulation import _array

_horner = ElementwiseKernel(
    "T x, raw T p, int64 count", "T y", "T sum = T(0); for (ptrdiff_t k = 0; k < count; ++k) sum = T(sum * x) + p[k]; y = sum",
    "polyval", options=("--fmad=false",)
)


def _through_numpy(function, *arguments, **keywords):
    """A function of NumPy's; its arrays come back to the device of the first array of ours."""
    device = next((a.device for a in arguments if isinstance(a, ndarray)), None)
    host = [asnumpy(a) if isinstance(a, ndarray) else a for a in arguments]
    found = function(*host, **keywords)

    def back(value):
        if isinstance(value, tuple):
            return tuple(map(back, value))
        return _core.as_array(value, device) if isinstance(value, numpy.ndarray) else value

    return back(found)


def polyval(p, x) -> ndarray:
    """The polynomial with coefficients p at every point of x, by Horner's rule.

    >>> iruka.polyval([1, 0, 2], iruka.arange(3))
    array([2, 3, 6])
    """
    x = _array(x)
    with x.device:
        p = _array(p).ravel()
        dtype = _core.result_type(p, x) if p.size else x.dtype
        if dtype.kind == "b":
            dtype = _core.dtype_of("int64")
        p = p.to_device(x.device).astype(dtype, copy=False)
        return _horner(x.astype(dtype, copy=False), p, p.size)


def poly(seq_of_zeros) -> ndarray:
    """The coefficients of the polynomial with these roots; of a square matrix, its characteristic polynomial."""
    return _through_numpy(numpy.poly, _array(seq_of_zeros))


def polyadd(a1, a2) -> ndarray:
    """The sum of two polynomials."""
    return _through_numpy(numpy.polyadd, _array(a1), _array(a2))


def polysub(a1, a2) -> ndarray:
    """The difference of two polynomials."""
    return _through_numpy(numpy.polysub, _array(a1), _array(a2))


def polymul(a1, a2) -> ndarray:
    """The product of two polynomials."""
    return _through_numpy(numpy.polymul, _array(a1), _array(a2))


def polydiv(u, v) -> tuple[ndarray, ndarray]:
    """Quotient and remainder of two polynomials."""
    return _through_numpy(numpy.polydiv, _array(u), _array(v))


def polyder(p, m: int = 1) -> ndarray:
    """The m-th derivative. Raises ValueError for a negative m."""
    return _through_numpy(numpy.polyder, _array(p), m)


def polyint(p, m: int = 1, k=None) -> ndarray:
    """The m-th antiderivative with integration constants k. Raises ValueError for a negative m."""
    return _through_numpy(numpy.polyint, _array(p), m, k)


def roots(p) -> ndarray:
    """The roots of the polynomial with coefficients p: eigenvalues of its companion matrix."""
    return _through_numpy(numpy.roots, _array(p))


def polyfit(x, y, deg: int, rcond: float | None = None, full: bool = False, w=None, cov: bool | str = False):
    """The coefficients of the polynomial of degree deg that fits y at x with least squares; numpy.polyfit on a host copy."""
    w = asnumpy(w) if isinstance(w, ndarray) else w
    return _through_numpy(numpy.polyfit, _array(x), _array(y), deg, rcond, full, w, cov)
