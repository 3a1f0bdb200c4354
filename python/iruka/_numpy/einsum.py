"""Einstein summation: what NumPy accepts, for the core's einsum."""

from __future__ import annotations

import string
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .shapes import _into, can_cast, result_type

_letters = string.ascii_uppercase + string.ascii_lowercase


def _from_lists(operands) -> tuple[str, list]:
    """einsum(a, [0, 1], b, [1, 2], [0, 2]) as subscripts and operands."""

    def text(numbers):
        return "".join("..." if n is Ellipsis else _letters[n] for n in numbers)

    operands = list(operands)
    output = "->" + text(operands.pop()) if len(operands) % 2 else ""
    return ",".join(text(numbers) for numbers in operands[1::2]) + output, operands[::2]


def _cast(operands, dtype, casting: str) -> list[ndarray]:
    """The operands as arrays of `dtype`, of their common one without it. Raises TypeError if `casting` forbids that."""
    home = next((a.device for a in operands if isinstance(a, ndarray)), None)
    arrays = [a if isinstance(a, ndarray) else _core.as_array(a, home) for a in operands]
    common = result_type(*(a.dtype for a in arrays)) if dtype is None else _core.dtype_of(dtype)
    for a in arrays:
        if not can_cast(a.dtype, common, casting):
            raise TypeError(f"einsum: cannot cast an operand from {a.dtype} to {common} by the rule {casting!r}")
    return [a.astype(common, copy=False) for a in arrays]


def _search(subscripts, arrays, optimize):
    """NumPy's einsum_path, which uses only shapes."""
    stubs = [numpy.broadcast_to(numpy.float64(0), numpy.shape(a)) for a in arrays]
    return numpy.einsum_path(subscripts, *stubs, optimize=optimize)


def einsum_path(*operands, optimize="greedy", einsum_call: bool = False) -> Any:
    """The order of contractions that einsum would take, and a table about it: NumPy's einsum_path on these shapes."""
    subscripts, arrays = (operands[0], operands[1:]) if isinstance(operands[0], str) else _from_lists(operands)
    return _search(subscripts, arrays, optimize)


def einsum(
    *operands, out: ndarray | None = None, dtype=None, order: str = "K", casting: str = "safe", optimize=False
) -> Any:
    """Sum of products by subscripts: einsum('ij,jk->ik', a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2]).

    optimize: False, True, 'greedy', 'optimal' or a path of einsum_path says in which order operands are contracted; two
    at a time in any case, by matmul where something is summed. One operand without a sum gives a view. Raises
    ValueError where subscripts and shapes do not go together, TypeError where `casting` forbids dtype.

        >>> float(iruka.einsum('ii', iruka.eye(3)))
        3.0
    """
    if not operands:
        raise ValueError("einsum: subscripts and at least one operand are needed")
    subscripts, arrays = (operands[0], operands[1:]) if isinstance(operands[0], str) else _from_lists(operands)
    if dtype is not None or casting != "safe":
        arrays = _cast(arrays, dtype, casting)
    path: list = []
    if len(arrays) > 2 and optimize is not False:
        path = _search(_core.einsum_subscripts(subscripts, arrays), arrays, optimize)[0][1:]
    result = _core.einsum(subscripts, arrays, path)
    return result if out is None else _into(out, result)
