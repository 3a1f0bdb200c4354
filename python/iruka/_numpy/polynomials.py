"""Polynomials as arrays of coefficients, the highest power first, and poly1d, an object around one.

Coefficients are few: what works on them alone is NumPy's, through host memory. Values at many points are computed where
the points lie.
"""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import ValueError
from .conversion import _array, asnumpy
from .rearranging import trim_zeros
from .shapes import concatenate


def _through_numpy(function, *arguments, **keywords):
    """A function of NumPy's; its results are copied to the device of the first Iruka array."""
    device = next((a.device for a in arguments if isinstance(a, ndarray)), None)
    host = [asnumpy(a) if isinstance(a, ndarray) else a for a in arguments]
    found = function(*host, **keywords)

    def back(value):
        if isinstance(value, tuple):
            return tuple(map(back, value))
        return _core.as_array(value, device) if isinstance(value, numpy.ndarray) else value

    return back(found)


def _coefficients(p) -> ndarray:
    return p.coeffs if isinstance(p, poly1d) else _array(p)


def _as_given(function, *polynomials):
    """What a function of coefficients gives: poly1d where one of the polynomials is."""
    found = function(*map(_coefficients, polynomials))
    if not any(isinstance(p, poly1d) for p in polynomials):
        return found
    return tuple(map(poly1d, found)) if isinstance(found, tuple) else poly1d(found)


def polyval(p, x) -> ndarray | poly1d:
    """The polynomial with coefficients p at every point of x, by Horner's rule; for a poly1d x, p(x) as a poly1d.
    Raises ValueError for arrays on two devices.

    >>> iruka.polyval([1, 0, 2], iruka.arange(3))
    array([2, 3, 6])
    """
    if isinstance(x, poly1d):
        result = poly1d([0])
        for coefficient in _coefficients(p):
            result = result * x + coefficient
        return result
    return _core.polyval(p.coeffs if isinstance(p, poly1d) else p, x)


def poly(seq_of_zeros) -> ndarray | float:
    """The coefficients of the polynomial with these roots; of a square matrix, its characteristic polynomial."""
    zeros = _array(seq_of_zeros)
    return _core.poly(zeros) if zeros.size or zeros.ndim != 1 else 1.0


def polyadd(a1, a2) -> ndarray | poly1d:
    """The sum of two polynomials."""
    return _as_given(_core.polyadd, a1, a2)


def polysub(a1, a2) -> ndarray | poly1d:
    """The difference of two polynomials."""
    return _as_given(_core.polysub, a1, a2)


def polymul(a1, a2) -> ndarray | poly1d:
    """The product of two polynomials."""
    return _as_given(_core.polymul, a1, a2)


def polydiv(u, v) -> tuple[ndarray, ndarray] | tuple[poly1d, poly1d]:
    """Quotient and remainder of two polynomials."""
    return _as_given(_core.polydiv, u, v)


def polyder(p, m: int = 1) -> ndarray | poly1d:
    """The m-th derivative. Raises ValueError for a negative m."""
    return _as_given(lambda a: _core.polyder(a, int(m)), p)


def polyint(p, m: int = 1, k=None) -> ndarray | poly1d:
    """The m-th antiderivative with integration constants k. Raises ValueError for a negative m."""
    return _as_given(lambda a: _core.polyint(a, int(m), k), p)


def roots(p) -> ndarray:
    """The roots of the polynomial with coefficients p: eigenvalues of its companion matrix."""
    return _core.roots(_coefficients(p))


def polyfit(x, y, deg: int, rcond: float | None = None, full: bool = False, w=None, cov: bool | str = False) -> Any:
    """The coefficients of the polynomial of degree deg that fits y at x with least squares; numpy.polyfit on a host
    copy.
    """
    w = asnumpy(w) if isinstance(w, ndarray) else w
    return _through_numpy(numpy.polyfit, _array(x), _array(y), deg, rcond, full, w, cov)


def _is_scalar(value) -> bool:
    return numpy.isscalar(value) or isinstance(value, ndarray) and value.ndim == 0


class poly1d:
    """A polynomial of one variable, as NumPy's poly1d: arithmetic, values, derivative, roots; printed as text.

    poly1d(c_or_r, r=False, variable='x'): coefficients, the highest power first, or with r=True the roots. p[k] is the
    coefficient of the k-th power, p(x) the value at every point of x. Beside an array or a NumPy scalar on the left,
    too, arithmetic is that of polynomials (NumPy's gives an array there). Raises ValueError for more than one axis.

    >>> p = iruka.poly1d([1, 0, -2])
    >>> p(iruka.arange(3)), (p * p).order
    (array([-2, -1,  2]), 4)
    """

    __hash__ = None  # type: ignore[assignment]  # as of every mutable thing
    __array_priority__ = 2000  # arrays' operators defer to the polynomial's; ufuncs use its coefficients

    def __init__(self, c_or_r, r: bool = False, variable: str | None = None):
        coefficients = _coefficients(c_or_r)
        if r:
            coefficients = _array(poly(coefficients))
        if coefficients.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        coefficients = trim_zeros(coefficients.reshape(-1), "f")
        if not coefficients.size:
            with coefficients.device:
                coefficients = _core.zeros(1, coefficients.dtype)
        self._coeffs = coefficients
        self._variable = variable or str(getattr(c_or_r, "variable", "x"))

    @property
    def coeffs(self) -> ndarray:
        """The coefficients, the highest power first; also coef, coefficients and c."""
        return self._coeffs

    coef = coefficients = c = coeffs

    @property
    def order(self) -> int:
        """The highest power; also o."""
        return len(self._coeffs) - 1

    o = order

    @property
    def roots(self) -> ndarray:
        """Where the polynomial is 0; also r."""
        return roots(self._coeffs)

    r = roots

    @property
    def variable(self) -> str:
        """The name that texts have for the variable."""
        return self._variable

    def __call__(self, val):
        return polyval(self._coeffs, val)

    def __array__(self, dtype=None, copy=None) -> numpy.ndarray:
        return self._coeffs.__array__(dtype, copy)

    def __dlpack__(self, **keywords):
        return self._coeffs.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._coeffs.__dlpack_device__()

    def __len__(self) -> int:
        return self.order

    def __iter__(self):
        return iter(self._coeffs)

    def __repr__(self) -> str:
        return f"poly1d({repr(self._coeffs)[6:-1]})"

    def __str__(self) -> str:
        return str(numpy.poly1d(asnumpy(self._coeffs), variable=self._variable))

    def __getitem__(self, power: int) -> ndarray:
        place = self.order - power
        if 0 <= place <= self.order:
            return self._coeffs[place]
        with self._coeffs.device:
            return _core.zeros((), self._coeffs.dtype)

    def __setitem__(self, power: int, value) -> None:
        if power < 0:
            raise ValueError("Does not support negative powers.")
        if power > self.order:
            with self._coeffs.device:
                front = _core.zeros(power - self.order, self._coeffs.dtype)
            self._coeffs = concatenate([front, self._coeffs])
        self._coeffs[self.order - power] = value

    def __neg__(self) -> poly1d:
        return poly1d(-self._coeffs)

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other) -> Any:
        return polyadd(self, poly1d(other))

    __radd__ = __add__

    def __sub__(self, other) -> Any:
        return polysub(self, poly1d(other))

    def __rsub__(self, other) -> Any:
        return polysub(poly1d(other), self)

    def __mul__(self, other) -> Any:
        return poly1d(self._coeffs * other) if _is_scalar(other) else polymul(self, poly1d(other))

    __rmul__ = __mul__

    def __truediv__(self, other) -> Any:
        return poly1d(self._coeffs / other) if _is_scalar(other) else polydiv(self, poly1d(other))

    def __rtruediv__(self, other) -> Any:
        return poly1d(other / self._coeffs) if _is_scalar(other) else polydiv(poly1d(other), self)

    def __pow__(self, power: int) -> Any:
        if not _is_scalar(power) or int(power) != power or power < 0:
            raise ValueError("Power to non-negative integers only.")
        result: Any = poly1d([1])
        for _ in range(int(power)):
            result = polymul(result, self)
        return result

    def __eq__(self, other) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self._coeffs.shape == other._coeffs.shape and bool((self._coeffs == other._coeffs).all())

    def deriv(self, m: int = 1) -> Any:
        """The m-th derivative."""
        return polyder(self, m)

    def integ(self, m: int = 1, k=0) -> Any:
        """The m-th antiderivative with integration constants k."""
        return polyint(self, m, k)
