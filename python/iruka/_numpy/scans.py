"""Running sums and products."""

from __future__ import annotations

from .. import _core
from .._core import ndarray
from .._functions import elementwise
from ..errors import ValueError
from .conversion import _array
from .shapes import _axes, _into, result_type
from .statistics import _is_inexact

_where, _isnan = elementwise["where"], elementwise["isnan"]


def _scan(function: str, operation: str, a, axis, dtype, out, skips_nan=False, includes_initial=False) -> ndarray:
    x = _array(a)
    if axis is None:
        x, axis = x.ravel(), 0
    elif x.ndim == 0:
        x = x.reshape(1)
    _axes(function, axis, x.ndim)
    if dtype is None and isinstance(out, ndarray):
        dtype = result_type(x.dtype, out.dtype)  # as NumPy: both go into the choice of the loop
    if skips_nan and dtype is not None and _is_inexact(x):  # before a cast turns NaN into numbers
        x = _where(_isnan(x), 0 if operation == "add" else 1, x)
    return _into(out, _core.scan(x, operation, axis, dtype, skips_nan, includes_initial), "unsafe")


def cumsum(a, axis: int | None = None, dtype=None, out: ndarray | None = None) -> ndarray:
    """Sums of every prefix of an axis (of the flattened array without one), in a's shape.

    Smaller integers add up in 64 bits, float32 is carried in float64. The same on every run. Raises AxisError.

    >>> iruka.cumsum(iruka.array([1, 2, 3]))
    array([1, 3, 6])
    """
    return _scan("cumsum", "add", a, axis, dtype, out)


def cumprod(a, axis: int | None = None, dtype=None, out: ndarray | None = None) -> ndarray:
    """Products of every prefix of an axis, as `cumsum`.

    >>> iruka.cumprod(iruka.array([1, 2, 3]))
    array([1, 2, 6])
    """
    return _scan("cumprod", "multiply", a, axis, dtype, out)


def nancumsum(a, axis: int | None = None, dtype=None, out: ndarray | None = None) -> ndarray:
    """`cumsum` with NaN as 0.

    >>> iruka.nancumsum(iruka.array([1, iruka.nan, 3]))
    array([1., 1., 4.])
    """
    return _scan("nancumsum", "add", a, axis, dtype, out, True)


def nancumprod(a, axis: int | None = None, dtype=None, out: ndarray | None = None) -> ndarray:
    """`cumprod` with NaN as 1.

    >>> iruka.nancumprod(iruka.array([2, iruka.nan, 3]))
    array([2., 2., 6.])
    """
    return _scan("nancumprod", "multiply", a, axis, dtype, out, True)


def _cumulative(function: str, operation: str, x, axis, dtype, out, include_initial: bool) -> ndarray:
    x = _array(x)
    if x.ndim == 0:
        x = x.reshape(1)
    if axis is None:
        if x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    return _scan(function, operation, x, axis, dtype, out, False, include_initial)


def cumulative_sum(
    x, /, *, axis: int | None = None, dtype=None, out: ndarray | None = None, include_initial: bool = False
) -> ndarray:
    """`cumsum` by the array API's rules: more than one axis needs `axis`; `include_initial` puts a 0 in front.

    >>> iruka.cumulative_sum(iruka.array([1, 2]), include_initial=True)
    array([0, 1, 3])
    """
    return _cumulative("cumulative_sum", "add", x, axis, dtype, out, include_initial)


def cumulative_prod(
    x, /, *, axis: int | None = None, dtype=None, out: ndarray | None = None, include_initial: bool = False
) -> ndarray:
    """`cumprod` by the array API's rules: more than one axis needs `axis`; `include_initial` puts a 1 in front.

    >>> iruka.cumulative_prod(iruka.array([2, 3]), include_initial=True)
    array([1, 2, 6])
    """
    return _cumulative("cumulative_prod", "multiply", x, axis, dtype, out, include_initial)


# --- Covariance ---
