"""Einstein summation: subscripts are read once, operands are contracted in pairs, most pairs by matmul."""

from __future__ import annotations

import functools
import string
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import TypeError, ValueError
from .conversion import asarray
from .products import _multiply, _product, _sum, common_dtype, matmul
from .shapes import _into, can_cast

_letters = string.ascii_uppercase + string.ascii_lowercase


def _from_lists(operands) -> tuple[str, list]:
    """einsum(a, [0, 1], b, [1, 2], [0, 2]) as subscripts and operands."""

    def text(numbers):
        return "".join("..." if n is Ellipsis else _letters[n] for n in numbers)

    operands = list(operands)
    output = "->" + text(operands.pop()) if len(operands) % 2 else ""
    return ",".join(text(numbers) for numbers in operands[1::2]) + output, operands[::2]


def _spell_out(term: str, ndim: int, free: str, longest: int) -> str:
    """The term with letters for its ellipsis: the last ones of `free[:longest]`."""
    if "..." not in term:
        if len(term) != ndim:
            raise ValueError(f"einsum: {term!r} has {len(term)} subscripts, its operand {ndim} axes")
        return term
    hidden = ndim - len(term) + 3
    if hidden < 0:
        raise ValueError(f"einsum: {term!r} has {len(term) - 3} subscripts, its operand {ndim} axes")
    return term.replace("...", free[longest - hidden : longest])


def _parse(subscripts: str, ndims) -> tuple[list[str], str]:
    """A letter for each axis of each operand, and those of the result."""
    subscripts = subscripts.replace(" ", "")
    inputs, arrow, output = subscripts.partition("->")
    terms = inputs.split(",")
    if set(subscripts.replace("...", "").replace("->", "")) - set(_letters + ","):
        raise ValueError(f"einsum: {subscripts!r} has a character that is not a letter")
    if len(terms) != len(ndims):
        raise ValueError(f"einsum: {len(terms)} terms in {subscripts!r} for {len(ndims)} operands")
    free = "".join(letter for letter in _letters if letter not in subscripts)
    longest = max((ndim - len(t) + 3 for t, ndim in zip(terms, ndims) if "..." in t), default=0)
    spelled = [_spell_out(t, ndim, free, longest) for t, ndim in zip(terms, ndims)]
    if not arrow:
        once = [x for x in sorted(set(inputs) - set(",.")) if inputs.count(x) == 1]
        return spelled, free[: max(longest, 0)] + "".join(once)
    output = output.replace("...", free[: max(longest, 0)])
    if len(set(output)) != len(output) or set(output) - set("".join(spelled)):
        raise ValueError(f"einsum: the result's subscripts {output!r} are repeated or in no operand")
    return spelled, output


def _without_repeats(term: str, a: ndarray) -> tuple[str, ndarray]:
    """Diagonals in place of repeated letters."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            if a.shape[first] != a.shape[second]:
                raise ValueError(f"einsum: {letter!r} stands for extents {a.shape[first]} and {a.shape[second]}")
            a = _core.diagonal(a, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    return term, a


def _reduce(term: str, a: ndarray, kept) -> tuple[str, ndarray]:
    """Sums over the letters that neither another operand nor the result has."""
    axes = tuple(k for k, letter in enumerate(term) if letter not in kept)
    return ("".join(letter for letter in term if letter in kept), _sum(a, axes)) if axes else (term, a)


def _arranged(term: str, a: ndarray, order: str) -> ndarray:
    """The array with its axes in `order`, extent 1 where it has none."""
    a = a.transpose([term.index(letter) for letter in order if letter in term])
    return a[tuple(slice(None) if letter in term else None for letter in order)]


def _contract(left, right, kept) -> tuple[str, ndarray]:
    """The product of two operands, summed over the letters that are not in `kept`."""
    (term_a, a), (term_b, b) = (_reduce(x[0], x[1], set(y[0]) | kept) for x, y in ((left, right), (right, left)))
    summed = [x for x in term_a if x in term_b and x not in kept]
    batch = [x for x in term_a if x in term_b and x in kept]
    own_a, own_b = [x for x in term_a if x not in term_b], [x for x in term_b if x not in term_a]
    order = "".join([*batch, *own_a, *own_b])
    if not summed:
        return order, _multiply(_arranged(term_a, a, order), _arranged(term_b, b, order))
    extent: dict[str, int] = {}
    for x, n in zip(term_a + term_b, a.shape + b.shape):
        extent[x] = n if extent.get(x, 1) == 1 else extent[x]

    def matrices(term, array, *groups):
        letters = [x for group in groups for x in group]
        array = _arranged(term, array, "".join(letters))
        array = array._broadcast_to(tuple(extent[x] for x in letters))
        return array.reshape(tuple(_product(extent[x] for x in group) for group in groups))

    result = matmul(matrices(term_a, a, batch, own_a, summed), matrices(term_b, b, batch, summed, own_b))
    return order, result.reshape(tuple(extent[x] for x in order))


@functools.lru_cache(1024)
def _matrix_plan(subscripts: str, shape_a, shape_b):
    """A contraction of two operands as one matmul: axes and shapes of both and of the result; else None."""
    (term_a, term_b), output = _parse(subscripts, (len(shape_a), len(shape_b)))
    both, extent = set(term_a) & set(term_b), dict(zip(term_a + term_b, shape_a + shape_b))
    is_plain = (
        len(set(term_a)) == len(term_a) and len(set(term_b)) == len(term_b) and set(term_a) ^ set(term_b) <= set(output)
    )
    if not is_plain or any(extent[x] != n for x, n in zip(term_a, shape_a)) or both <= set(output):
        return None
    summed, batch = [x for x in term_a if x in both and x not in output], [x for x in output if x in both]
    own_a, own_b = (
        [x for x in output if x in term_a and x not in both],
        [x for x in output if x in term_b and x not in both],
    )

    def arranged(term, *groups):
        return [term.index(x) for group in groups for x in group], tuple(
            _product(extent[x] for x in group) for group in groups
        )

    made = [*batch, *own_a, *own_b]
    return (
        arranged(term_a, batch, own_a, summed),
        arranged(term_b, batch, summed, own_b),
        (tuple(extent[x] for x in made), [made.index(x) for x in output]),
    )


def _by_matmul(plan, a: ndarray, b: ndarray) -> ndarray:
    (axes_a, matrices_a), (axes_b, matrices_b), (shape, axes) = plan
    left, right = a.transpose(axes_a).reshape(matrices_a), b.transpose(axes_b).reshape(matrices_b)
    result = _core.matmul(left, right, None).reshape(shape)
    return result.transpose(axes) if axes else result


def _check_extents(terms, arrays, subscripts):
    extents: dict[str, int] = {}
    for term, a in zip(terms, arrays):
        for letter, n in zip(term, a.shape):
            if n != 1 and extents.setdefault(letter, n) != n:
                raise ValueError(
                    f"einsum: operands in {subscripts!r} could not be broadcast: "
                    f"{letter!r} has extents {extents[letter]} and {n}"
                )


def _search(subscripts, arrays, optimize):
    """NumPy's einsum_path, which uses only shapes."""
    stubs = [numpy.broadcast_to(numpy.float64(0), numpy.shape(a)) for a in arrays]
    return numpy.einsum_path(subscripts, *stubs, optimize=optimize)


def _path(terms, output, arrays, optimize):
    """Which operands to contract, step by step; by NumPy's own search."""
    if len(arrays) <= 2 or optimize is False:
        return [tuple(range(len(arrays)))]
    return _search(",".join(terms) + "->" + output, arrays, optimize)[0][1:]


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
    subscripts, given = (operands[0], operands[1:]) if isinstance(operands[0], str) else _from_lists(operands)
    home = next((a.device for a in given if isinstance(a, ndarray)), None)
    arrays = [a if isinstance(a, ndarray) else (_core.as_array(a, home) if home else asarray(a)) for a in given]
    if not arrays:
        raise ValueError("einsum: at least one operand is needed")
    if len(arrays) == 2 and dtype is None and order == "K" and arrays[0].dtype == arrays[1].dtype:
        if plan := _matrix_plan(subscripts, arrays[0].shape, arrays[1].shape):
            return _into(out, _by_matmul(plan, *arrays))
    common = common_dtype(*arrays) if dtype is None else _core.dtype_of(dtype)
    for a in arrays:
        if not can_cast(a.dtype, common, casting):
            raise TypeError(f"einsum: cannot cast an operand from {a.dtype} to {common} by the rule {casting!r}")
    terms, output = _parse(subscripts, [a.ndim for a in arrays])
    _check_extents(terms, arrays, subscripts)
    path = _path(terms, output, arrays, optimize)
    todo = [_without_repeats(t, a.astype(common, copy=False)) for t, a in zip(terms, arrays)]
    for step in path:
        chosen = [todo[k] for k in sorted(step)]
        todo = [x for k, x in enumerate(todo) if k not in step]
        needed = set(output).union(*(x[0] for x in todo)) if todo else set(output)
        result = chosen[0]
        for k, other in enumerate(chosen[1:], 2):
            result = _contract(result, other, needed.union(*(x[0] for x in chosen[k:])) if chosen[k:] else needed)
        todo.append(_reduce(result[0], result[1], needed))
    term, result = todo[0]
    return _into(out, result.transpose([term.index(letter) for letter in output]) if output else result)
