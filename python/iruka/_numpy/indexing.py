"""Elements selected by arrays: take, put, nonzero and related functions."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, overload

import numpy

from .. import _core
from .._core import ndarray
from .._functions import elementwise, reductions
from ..errors import IndexError, TypeError, ValueError
from .conversion import _array, _has_axes, _is_fused, _order, asarray
from .dtypes import isscalar
from .shapes import _into, can_cast


def _near(a, other: ndarray) -> ndarray:
    """An array on the other's device."""
    return a if isinstance(a, ndarray) else asarray(a, device=other.device)


def take(a, indices, axis: int | None = None, out: ndarray | None = None, mode: str = "raise") -> ndarray:
    """Elements at indices: of the flattened array, or along an axis.

    The result has the shape a.shape[:axis] + indices.shape + a.shape[axis + 1:]. mode says what becomes of an index
    outside the axis: 'raise' is an IndexError, 'wrap' counts round, 'clip' takes the nearest end (and no negative
    indices). On a GPU the error comes when the device is next waited for.

        >>> iruka.take(iruka.arange(4) * 10, [2, 0])
        array([20,  0])
    """
    a = _array(a)
    return _into(out, _core.take(a, indices, axis, mode))


def repeat(a, repeats, axis: int | None = None) -> ndarray:
    """Each element of the flattened array, or each slice along an axis, as often as `repeats` says: a number for all or
    one for each.

    Raises ValueError for a negative number or too few of them, TypeError for floats. On a GPU, one number for each is
    waited for.

        >>> iruka.repeat(iruka.array([[1, 2], [3, 4]]), [1, 2], axis=0)
        array([[1, 2],
               [3, 4],
               [3, 4]])
    """
    if isinstance(repeats, numpy.ndarray):
        repeats = _core.as_array(repeats.astype(numpy.int64, casting="safe"), "cpu")
    elif type(repeats) is not int and not isinstance(repeats, ndarray):
        repeats = _core.as_array(numpy.array(repeats, numpy.int64), "cpu")
    return _core.repeat(_array(a), repeats, axis)


def put(a: ndarray, ind, v, mode: str = "raise") -> None:
    """a.flat[ind] = v; v repeats as needed. Of repeated indices the last wins on the CPU, any on a GPU."""
    if not isinstance(a, ndarray):
        raise TypeError(f"put: argument 1 must be an iruka.ndarray, not {type(a).__name__}")
    _core.put(a, ind, v, mode)


def take_along_axis(arr, indices, axis: int | None = -1) -> ndarray:
    """result[i, j, k] = arr[i, indices[i, j, k], k] for axis 1: what argmax and argsort give, looked up.

    The other axes broadcast. Without an axis both are flattened. Raises IndexError for indices that are no integers or
    out of bounds, ValueError for another number of axes.
    """
    arr = _array(arr)
    indices = _near(indices, arr)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = arr.ravel(), 0
    return _core.take_along_axis(arr, indices, axis)


def put_along_axis(arr: ndarray, indices, values, axis: int | None) -> None:
    """arr[i, indices[i, j, k], k] = values[i, j, k] for axis 1; values broadcast."""
    indices = _near(indices, arr)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr.flat[indices] = values
        return
    _core.put_along_axis(arr, indices, _core.values_array(values, arr), axis)


def putmask(a: ndarray, mask, values) -> None:
    """a.flat[n] = values[n % size] for every n at which mask.flat[n] is true.

    Raises ValueError where mask and a differ in size.
    """
    mask = _near(mask, a)
    _check_safe("putmask", values, a)
    _core.putmask(a, mask, _core.values_array(values, a))


def _check_safe(function: str, values, target: ndarray) -> None:
    is_array = isinstance(values, (ndarray, numpy.ndarray)) and not isscalar(values)
    if is_array and not can_cast(values.dtype, target.dtype):
        raise TypeError(f"{function}: cannot cast from {values.dtype} to {target.dtype} by the rule 'safe'")


def place(arr: ndarray, mask, vals) -> None:
    """arr[mask] = vals, which repeat as needed. Raises ValueError for no vals where the mask holds."""
    mask = _near(mask, arr)
    _check_safe("place", vals, arr)
    _core.place(arr, mask, _core.values_array(vals, arr))


def compress(condition, a, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Slices along an axis (elements of the flattened array without one) where a 1-d condition holds.

    >>> iruka.compress([False, True], iruka.array([[1, 2], [3, 4]]), axis=0)
    array([[3, 4]])
    """
    a = _array(a)
    condition = _near(condition, a)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, _core.flatnonzero(condition), axis, out)


def extract(condition, arr) -> ndarray:
    """The elements, in C order, where condition (as many elements) holds."""
    return _core.extract(condition, arr)


def choose(a, choices, out: ndarray | None = None, mode: str = "raise") -> ndarray:
    """result[i] = choices[a[i]][i], all broadcast. Raises ValueError for a number that no choice has.

    >>> iruka.choose([1, 0], [[1, 2], [10, 20]])
    array([10,  2])
    """
    result = _core.choose(a, choices, mode)
    return result if out is None else _into(out, result)


def select(condlist, choicelist, default=0) -> ndarray:
    """Of each element, the choice whose condition is the first that holds, else default; all broadcast.

    Raises ValueError for lists that are empty or of two lengths, TypeError for conditions that are not bool.
    """
    return _core.select(condlist, choicelist, default)


def piecewise(x, condlist, funclist, *args, **kw) -> ndarray:
    """Each function of the elements where its condition holds; one function more is for the rest.

    Functions may be scalars. args and kw go to every function. Raises ValueError where the counts do not fit.
    """
    x = _array(x)
    if numpy.isscalar(condlist) or x.ndim != 0 and not _has_axes(condlist[0]):
        condlist = [condlist]
    conditions = [_near(c, x).astype(bool, copy=False) for c in condlist]
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(~rest)
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions "
            "are expected"
        )
    with x.device:
        result = _core.zeros(x.shape, x.dtype)
    for condition, function in zip(conditions, funclist):
        if not callable(function):
            result[condition] = function
        else:
            chosen = x[condition]
            if chosen.size:
                result[condition] = function(chosen, *args, **kw)
    return result


def nonzero(a) -> tuple[ndarray, ...]:
    """The indices of the nonzero elements in C order: one int64 array an axis. Raises ValueError for a 0-d array."""
    a = _array(a)
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return _core.nonzero(a)


def flatnonzero(a) -> ndarray:
    """The positions, in C order, of the nonzero elements: int64."""
    return _core.flatnonzero(_array(a))


def argwhere(a) -> ndarray:
    """The indices of the nonzero elements, one row each: int64 of shape (count, ndim).

    >>> iruka.argwhere(iruka.array([[0, 5], [7, 0]]))
    array([[0, 1],
           [1, 0]])
    """
    return _core.argwhere(_array(a))


def _is_foreign(value) -> bool:
    """Whether its own library handles functions that are not ufuncs, as for pandas' objects."""
    if isinstance(value, (ndarray, numpy.ndarray, numpy.generic)) or _is_fused(value):
        return False
    return hasattr(value, "__array_ufunc__")


if TYPE_CHECKING:  # at run time, typing's registry of overloads would keep the whole package alive

    @overload
    def where(condition) -> tuple[ndarray, ...]: ...
    @overload
    def where(condition, x, y) -> ndarray: ...


def where(condition, x=None, y=None) -> Any:
    """x where the condition is nonzero, else y; all broadcast. With the condition alone, nonzero(condition)."""
    if x is None and y is None:
        return nonzero(_array(condition))
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    condition, x, y = (numpy.asarray(v) if _is_foreign(v) else v for v in (condition, x, y))
    result = elementwise["where"](condition, x, y)
    return result if result.ndim else result[...]


class FlatIterator:
    """The elements of an array in C order as one axis: index, slice, assign, iterate. What x.flat gives."""

    __array_ufunc__ = None

    def __init__(self, base: ndarray):
        self.base = base
        self._next = 0

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self):
        self._next = 0
        return self

    def __next__(self):
        if self._next >= self.base.size:
            raise StopIteration
        self._next += 1
        return self[self._next - 1]

    @property
    def index(self) -> int:
        """The position that comes next."""
        return self._next

    @property
    def coords(self) -> tuple[int, ...]:
        """The index, one an axis, of the element that comes next."""
        return tuple(int(k) for k in numpy.unravel_index(self._next, self.base.shape))

    def _index(self, key):
        """The key as an index of the flattened array; an integer as one of the array itself."""
        if isinstance(key, tuple) and len(key) == 1:
            (key,) = key
        if isinstance(key, tuple) or key is None:
            raise IndexError("unsupported iterator index")
        if not hasattr(type(key), "__index__") or isinstance(key, (bool, numpy.bool_, numpy.ndarray, ndarray)):
            return key, None
        position, size = operator.index(key), self.base.size
        if not -size <= position < size:
            raise IndexError(f"index {position} is out of bounds for size {size}")
        return key, tuple(int(k) for k in numpy.unravel_index(position % size, self.base.shape))

    def __getitem__(self, key):
        key, element = self._index(key)
        if element is not None:
            return self.base[element].copy()
        result = self.base.ravel()[key]
        return result.copy() if isinstance(key, (slice, type(...))) else result

    def __setitem__(self, key, values):
        base = self.base
        key, element = self._index(key)
        values = _core.values_array(values, base)
        if element is not None:
            if values.ndim:
                raise ValueError(f"one element takes a number, not an array of shape {values.shape}")
            base[element] = values
        elif base._is_value:
            base[...] = values  # raises: a value never changes
        elif values.size == 1 and base.flags.c_contiguous:
            base.ravel()[key] = values.reshape(())
        else:
            with base.device:
                positions = _core.arange(base.size, None, 1, "int64")[key]
            if values.size:
                put(base, positions, values)

    def copy(self) -> ndarray:
        """The elements, copied, as a 1-d array."""
        return self.base.flatten()

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(self.base.ravel(), dtype=dtype)

    def __eq__(self, other):
        return self.base.ravel() == _flat(other)

    def __ne__(self, other):
        return self.base.ravel() != _flat(other)

    __hash__ = None  # type: ignore[assignment]  # as of every mutable thing


def _flat(other):
    return other.base.ravel() if isinstance(other, FlatIterator) else other


def diagonal(a, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """Read-only view of a diagonal of two axes, which becomes the last axis.

    offset > 0 lies above the main diagonal. Raises ValueError for fewer than two axes or one axis named twice.
    """
    view = _core.diagonal(_array(a), offset, axis1, axis2)
    return view._broadcast_to(view.shape)


def diag(v, k: int = 0) -> ndarray:
    """A copy of the k-th diagonal of a matrix, or the matrix whose k-th diagonal is v."""
    return _core.diag(v, k)


def diagflat(v, k: int = 0) -> ndarray:
    """The matrix whose k-th diagonal holds the elements of v in C order."""
    return _core.diagflat(v, k)


def trace(a, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out: ndarray | None = None) -> ndarray:
    """The sum along a diagonal of two axes."""
    if out is None:
        return _core.trace(a, offset, axis1, axis2, dtype)
    return reductions["sum"](diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def fill_diagonal(a: ndarray, val, wrap: bool = False) -> None:
    """Sets a[i, i, ..., i], in place; val repeats as needed. wrap: in a tall matrix it continues after an empty row.

    Raises ValueError for fewer than two axes, and for unequal extents of more than two.
    """
    _core.fill_diagonal(a, _core.values_array(val, a), wrap)


def tri(N: int, M: int | None = None, k: int = 0, dtype=float, *, like=None) -> ndarray:
    """Ones at and below the k-th diagonal of an N by M array, zeros above."""
    M = N if M is None else M
    return _core.tri(N, M, k).astype(dtype, copy=False)


def _triangle(function: str, m, k: int, lower: bool) -> ndarray:
    m = _array(m)
    if m.ndim == 0:
        raise ValueError(f"{function}: the array must have at least one axis")
    if m.ndim == 1:  # NumPy broadcasts a row
        m = m._broadcast_to((m.shape[0], m.shape[0]))
    return _core.triangle(m, k, lower)


def tril(m, k: int = 0) -> ndarray:
    """A copy with zeros above the k-th diagonal of the last two axes."""
    return _triangle("tril", m, k, True)


def triu(m, k: int = 0) -> ndarray:
    """A copy with zeros below the k-th diagonal of the last two axes."""
    return _triangle("triu", m, k, False)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """The indices of the lower triangle of an n by m array."""
    return _core.tril_indices(n, n if m is None else m, k)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """The indices of the upper triangle of an n by m array."""
    return _core.triu_indices(n, n if m is None else m, k)


def _matrix_shape(arr) -> tuple[int, int]:
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return arr.shape


def tril_indices_from(arr, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of the lower triangle of a matrix."""
    rows, columns = _matrix_shape(arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of the upper triangle of a matrix."""
    rows, columns = _matrix_shape(arr)
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array of ndim axes of extent n."""
    return (_core.arange(n, None, 1, "int64"),) * ndim


def diag_indices_from(arr) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array of equal extents."""
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def mask_indices(n: int, mask_func, k=0) -> tuple[ndarray, ...]:
    """The indices where mask_func (tril, triu or alike) of n by n ones, and k, is nonzero."""
    return nonzero(mask_func(_core.ones((n, n), int), k) != 0)


def ix_(*args) -> tuple[ndarray, ...]:
    """1-d sequences as arrays that index their cross product: x[ix_(rows, columns)]. Bools are where they hold."""
    sequences = [_array(a) for a in args]
    for k, a in enumerate(sequences):
        if a.size == 0 and not isinstance(args[k], (ndarray, numpy.ndarray)):
            sequences[k] = a.astype("int64")
    return _core.ix_(sequences)


def unravel_index(indices, shape, order: str = "C") -> Any:
    """Flat positions as indices into an array of a shape: a tuple of int64 arrays, one an axis.

    Raises ValueError for a position outside the shape or an array of positions in a shape without axes, TypeError for
    a position or an extent that is no integer.
    """
    shape = _extents("unravel_index", shape)
    indices = _integers("unravel_index", indices)
    if not shape and indices.ndim:
        raise ValueError("unravel_index: multiple indices are not supported for 0d arrays")
    size = int(numpy.prod(shape, dtype=object)) if shape else 1
    if size > numpy.iinfo("int64").max:
        raise ValueError(f"unravel_index: an array of shape {shape} has more elements than int64 counts")
    _check_within(indices, size, f"array with size {size}")
    in_c_order = _order("unravel_index", order, "CF") == "C"
    extents = shape if in_c_order else shape[::-1]
    parts = _core.unravel(indices.astype("int64", copy=False), extents)
    return tuple(parts if in_c_order else parts[::-1])


def ravel_multi_index(multi_index, dims, mode="raise", order: str = "C") -> ndarray:
    """Indices, one array an axis, as flat positions in an array of shape dims: int64, broadcast.

    mode ('raise', 'wrap' or 'clip', or one an axis) says what becomes of an index outside its axis; 'raise' is a
    ValueError.
    """
    in_c_order = _order("ravel_multi_index", order, "CF") == "C"
    dims = _extents("ravel_multi_index", dims)
    modes = [mode] * len(dims) if isinstance(mode, str) else list(mode)
    if len(modes) != len(dims):
        raise ValueError(f"ravel_multi_index: {len(modes)} modes for {len(dims)} axes")
    return _core.ravel_multi_index(multi_index, dims, modes, not in_c_order)


def _extents(function: str, shape) -> tuple[int, ...]:
    if shape is None:
        raise TypeError(f"{function}: the shape must be an integer or a sequence of integers, not None")
    return tuple(map(operator.index, shape if hasattr(shape, "__iter__") and numpy.ndim(shape) else (shape,)))


def _integers(function: str, indices) -> ndarray:
    a = _array(indices)
    if a.dtype.kind == "b":
        return a.astype("int64")
    if a.dtype.kind not in "iu":
        raise TypeError(f"{function}: only int indices permitted, not {a.dtype}")
    return a


def _check_within(indices: ndarray, size: int, what: str) -> None:
    if not indices.size:
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= size:
        raise ValueError(f"index {low if low < 0 else high} is out of bounds for {what}")


def indices(dimensions, dtype=int, sparse: bool = False) -> Any:
    """The index of each element of an array of a shape: an array of shape (ndim, *dimensions).

    sparse gives a tuple of arrays that broadcast to that instead.
    """
    return (_core.sparse_indices if sparse else _core.indices)(tuple(dimensions), dtype)


def set_index_check(when: str) -> str:
    """When a GPU's indices out of bounds become an IndexError; gives what it was before.

    'deferred' (the default): when the device is next waited for or elements come to the host, which costs nothing
    until then. 'immediate': at the call, which waits for the device; IRUKA_CHECK_INDICES=1 starts so. Until then an
    index out of bounds stands for element 0. On the CPU indices are always checked at once, before anything is written.
    Raises ValueError for anything else.
    """
    if when not in ("deferred", "immediate"):
        raise ValueError(f"set_index_check: when must be 'deferred' or 'immediate', not {when!r}")
    return "immediate" if _core.set_immediate_index_check(when == "immediate") else "deferred"
