"""Differences, integrals, interpolation and convolution along an axis."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from .conversion import _array


def diff(a, n: int = 1, axis: int = -1, prepend=None, append=None) -> ndarray:
    """The n-th difference along an axis: x[1:] - x[:-1], n times; of bools, whether neighbours differ.

    `prepend` and `append` are joined to x first. Raises ValueError for negative n or an array without axes.

    >>> iruka.diff(iruka.array([1, 4, 9]))
    array([3, 5])
    """
    if n == 0:
        return a
    return _core.diff(_array(a), n, axis, _given(prepend), _given(append))


def _given(values) -> ndarray | None:
    return None if values is None else _array(values)


def unwrap(p, discont=None, axis: int = -1, *, period: float = 2 * numpy.pi) -> ndarray:
    """p with multiples of `period` added so that no step along an axis is larger than max(discont, period / 2).

    Integers stay integers where period is one. Raises AxisError, and ValueError for a 0-d array.

    >>> iruka.unwrap(iruka.array([0, 1, 2, -1, 0]), period=4)
    array([0, 1, 2, 3, 4])
    """
    return _core.unwrap(_array(p), discont, axis, period)


def ediff1d(ary, to_end=None, to_begin=None) -> ndarray:
    """Differences of the flattened array's neighbours, between `to_begin` and `to_end`.

    Raises TypeError where those cannot be cast to x's dtype by 'same_kind'.

    >>> iruka.ediff1d(iruka.array([1, 4, 9]), to_begin=0)
    array([0, 3, 5])
    """
    return _core.ediff1d(_array(ary), _given(to_end), _given(to_begin))


def gradient(f, *varargs, axis=None, edge_order: int = 1) -> Any:
    """Second-order central differences inside, first or second order (`edge_order`) at the ends: f's shape.

    `varargs`: a distance for all axes, one an axis, or arrays of coordinates. One array for one axis, else a tuple.
    Raises ValueError for fewer than edge_order + 1 elements or coordinates of another length, TypeError for a wrong
    count of distances.

    >>> iruka.gradient(iruka.array([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])
    """
    spacings = [each if numpy.ndim(each) == 0 else _array(each) for each in varargs]
    results = _core.gradient(_array(f), spacings, axis, edge_order)
    return results[0] if len(results) == 1 else results


def trapezoid(y, x=None, dx=1.0, axis: int = -1) -> ndarray:
    """Integral of y along an axis by the trapezoidal rule, at points x or `dx` apart. Integers count as floats.

    >>> iruka.trapezoid(iruka.array([1.0, 2.0, 3.0]))
    array(4.)
    """
    return _core.trapezoid(_array(y), dx, axis) if x is None else _core.trapezoid_at(_array(y), _array(x), axis)


def _mode(mode) -> str:
    """The name of a mode, for which NumPy also takes a number."""
    return ("valid", "same", "full")[mode] if isinstance(mode, int) and 0 <= mode <= 2 else str(mode)


def convolve(a, v, mode: str = "full") -> ndarray:
    """Discrete convolution of two 1-d arrays: sum over m of a[m] v[n - m], term by term.

    Lengths N >= M: 'full' gives N + M - 1 elements, 'same' N, 'valid' N - M + 1. Raises ValueError for an empty array,
    more than one axis, or another mode.

    >>> iruka.convolve(iruka.array([1, 2, 3]), [0, 1])
    array([0, 1, 2, 3])
    """
    return _core.convolve(_array(a), _array(v), _mode(mode))


def correlate(a, v, mode: str = "valid") -> ndarray:
    """Cross-correlation of two 1-d arrays: sum over n of a[n + k] conj(v[n]), with `convolve`'s modes and errors.

    >>> iruka.correlate(iruka.array([1, 2, 3]), [0, 1, 2])
    array([8])
    """
    return _core.correlate(_array(a), _array(v), _mode(mode))


def interp(x, xp, fp, left=None, right=None, period: float | None = None) -> ndarray:
    """Piecewise linear interpolation of points (xp, fp) at x: float64 or complex128, x's shape.

    xp ascends (with `period` it need not: x and xp are taken modulo it). `left` and `right` are the values outside, by
    default the first and last of fp. Raises ValueError for lengths that differ, empty points, or period 0.

    >>> iruka.interp(2.5, [1, 2, 3], [3, 2, 0])
    array(1.)
    """
    return _core.interp(_array(x), _array(xp), _array(fp), left, right, period)
