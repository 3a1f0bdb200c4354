"""Python functions of numbers as functions of arrays: numpy.vectorize and Numba's vectorize in one name."""

from __future__ import annotations

import builtins
import functools
import re
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

from ._array.float_errors import warn
from ._core import ElementwiseKernel, ndarray
from ._numpy.conversion import asarray, ascontiguousarray, asnumpy
from ._numpy.creation import empty, full
from ._numpy.elementwise import _from_host, _to_host, may_share_memory
from ._numpy.rearranging import concatenate
from ._numpy.shapes import broadcast_to, moveaxis
from ._python_kernels import (
    CPU,
    NOT_FAILED,
    ArrayFunction,
    FunctionValue,
    Loop,
    asserting,
    check_options,
    check_target,
    checked_function,
    device_of,
    dtype_named,
    given_array,
    is_number,
    is_on_device,
    is_signature,
    kernel_name,
    listed,
    placed,
    reporting,
    store_result,
    working_on,
)
from .errors import TranslationError, TypeError, ValueError


def parse_signature(signature: Any) -> tuple[tuple[numpy.dtype, ...], tuple[numpy.dtype, ...] | None]:
    """Inputs and outputs of "float32(float32, int64)", or of the text of Numba's signature, "(float32,) -> float32".

    The outputs are None where only the types of arguments are given, "(float32, int64)" or a tuple of Numba's types.
    """
    text = str(signature).strip()
    if re.search(r"\[|\b[Aa]rray\(", text):
        raise TypeError(
            f"vectorize: the signature {text!r} has arrays, and the function gets numbers; guvectorize is for "
            "functions of arrays"
        )
    outputs = None
    if made := re.fullmatch(r"\(([^()]*)\)", text):
        inputs = made[1]
    elif made := re.fullmatch(r"\((.*)\)\s*->\s*(.*)", text):
        inputs, outputs = made[1], made[2]
    elif made := re.fullmatch(r"(.*\S)\s*\(([^()]*)\)", text):
        inputs, outputs = made[2], made[1]
    else:
        raise TypeError(f"vectorize: {text!r} is no signature such as 'float32(float32, float32)'")
    results = None if outputs is None else _parsed_results(outputs, text)
    names = [part.strip() for part in inputs.split(",") if part.strip()]
    if not names or (results is not None and (not results or "void" in results)):
        raise TypeError(f"vectorize: the signature {text!r} needs the types of arguments and of a result")
    dtypes = lambda names: tuple(dtype_named("vectorize", name, text) for name in names)
    return dtypes(names), None if results is None else dtypes(results)


def _parsed_results(outputs: str, text: str) -> list[str]:
    """The names of the results' types."""
    if repeated := re.fullmatch(r"UniTuple\((\w+)\s*[,x]\s*(\d+)\)", outputs):
        if len(repeated[2]) > 3:
            raise TypeError(f"vectorize: the signature {text!r} has too many results")
        outputs = ",".join([repeated[1]] * int(repeated[2]))
    return [part.strip() for part in outputs.removeprefix("Tuple").strip("() ").split(",") if part.strip()]


class _Loop(Loop):
    """A function of numbers of these dtypes. Its results are cast to `outputs` where they are given."""

    def __init__(self, function: Any, inputs: tuple, outputs: tuple | None, name: str):
        super().__init__(function, name, inputs)
        results = tuple(each.dtype for each in self.translation.results)
        if outputs is not None and len(outputs) != len(results):
            raise TypeError(
                f"{name}: the signature has {len(outputs)} results, and the function returns {len(results)}"
            )
        self.inputs, self.outputs = inputs, outputs or results
        for given, made in zip(self.outputs, results, strict=True):
            if made.kind == "c" and given.kind != "c":
                raise TypeError(f"{name}: the function returns {made}, which is no {given}")

    def texts(self) -> tuple[list[str], list[str], str]:
        inputs, outputs = [f"x{k}" for k in range(len(self.inputs))], [f"y{k}" for k in range(len(self.outputs))]
        return (
            [f"{dtype} {name}" for dtype, name in zip(self.inputs, inputs, strict=True)],
            [f"{dtype} {name}" for dtype, name in zip(self.outputs, outputs, strict=True)],
            self.translation.call(inputs, outputs),
        )

    def arguments_at(self, place: int, inputs: list[ndarray]) -> tuple[list[Any], str]:
        arrays = numpy.broadcast_arrays(*map(asnumpy, inputs))
        index = numpy.unravel_index(place, arrays[0].shape)
        return [each[index] for each in arrays], f"at element {tuple(map(int, index))}"

    def raise_in_fold(self, row: numpy.ndarray, where: str) -> None:
        """Raises what the function raises where it folds these elements; each result has their dtype, as in kernels."""

        def step(a: Any, b: Any) -> Any:
            made = numpy.asarray(self.function(a, b)).astype(row.dtype)[()]
            return made if isinstance(a, numpy.generic) else made.item()

        self.raise_of(lambda *numbers: functools.reduce(step, numbers), list(row), where)


class _Vectorized(ArrayFunction):
    """A function of arrays that applies a Python function of numbers to each element, by kernels.

    With signatures, arguments are cast to the first one that takes them by the rule 'safe', as a ufunc's; without, a
    kernel is made for each combination of dtypes. NumPy arrays and numbers give NumPy's; arrays of a device stay there.
    """

    kind = "vectorized function"
    _takes = "out=, where= and stream="
    _public = (
        "accumulate", "add", "identity", "nargs", "nin", "nout", "ntypes", "outer", "py_func", "reduce", "target",
        "types",
    )  # fmt: skip
    _instead = {
        "at": "call it on the elements, x[index] = f(x[index], y), or for indices that repeat write the loop in "
        "iruka.jit.rawkernel or use iruka.add.at",
        "reduceat": "call f.reduce(x[start:stop]) for each part",
        "build_ufunc": "the function is complete",
        "signatures": "use f.types",
        "inspect_types": "f.types are its dtypes",
    }

    def __init__(self, function: types.FunctionType, signatures: Sequence = (), target: str = "cpu", identity=None):
        super().__init__(function, target, function.__code__.co_argcount, not signatures)
        self.identity, self._made_of = identity, (function, (), target, identity)
        self.nin = function.__code__.co_argcount
        self._folds: dict[numpy.dtype, _Loop] = {}
        for signature in signatures:
            self.add(signature)

    @property
    def nout(self) -> int:
        """The number of results. Without signatures it is known after the first call."""
        return len(next(iter(self._loops.values())).outputs) if self._loops else 1

    nargs = property(lambda self: self.nin + self.nout)
    ntypes = property(lambda self: len(self._loops))

    @property
    def types(self) -> list[str]:
        """The dtypes of each kernel, such as 'ff->f'."""
        letters = [(loop.inputs, loop.outputs) for loop in self._loops.values()]
        return ["->".join("".join(dtype.char for dtype in side) for side in sides) for sides in letters]

    def is_current(self) -> bool:
        """Whether the kernels were made with the globals and the outer variables that the function has now."""
        return all(loop.translation.outer.are_same() for loop in list(self._loops.values()))

    def add(self, signature: Any) -> None:
        """Makes the kernel of another signature."""
        inputs, outputs = parse_signature(signature)
        if len(inputs) != self.nin:
            raise TypeError(
                f"{self.__name__}: the signature {str(signature)!r} has {len(inputs)} arguments, and the function "
                f"takes {self.nin}"
            )
        made = _Loop(self.py_func, inputs, outputs, self.__name__)
        with self._lock:
            if self._loops.setdefault(inputs, made) is made:
                sides = [",".join(map(str, side)) for side in (outputs, inputs) if side]
                text = f"({sides[0]})({sides[1]})" if len(sides) == 2 else str(signature)
                signatures = (*self._made_of[1], text)
                self._made_of = (self.py_func, signatures, self.target, self.identity)

    def _loop(self, arguments: list[Any]) -> _Loop:
        """The loop of these arguments: dtypes of arrays, and Python's numbers, which adapt to a loop."""
        key = self.dtypes_of(arguments)
        if (loop := self._loops.get(key)) is not None:
            return loop
        if not self.is_lazy:
            if (found := self.fitting_loop(arguments)) is not None:
                return found
            raise self.no_loop(key, ", ".join(self.types))
        made = _Loop(self.py_func, key, None, self.__name__)
        with self._lock:
            return self._loops.setdefault(key, made)

    def call(self, *arguments, out=None, where=True, stream=None, **others):
        """What KernelDispatcher's own call leaves: other objects, kernels that are not made yet, failed elements."""
        self.refuse_keywords(others)
        if where is not True:
            return self._call_where(arguments, out, where, stream)
        if self.nin < len(arguments) <= self.nin + self.nout and out is None:
            arguments, out = arguments[: self.nin], arguments[self.nin :]
        if len(arguments) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} arguments, not {len(arguments)}")
        results = listed(out)
        on_device = any(map(is_on_device, (*arguments, *(results or ()))))
        device = device_of(arguments, results, self.target)
        with working_on(device, stream):
            given = [each if is_number(each) else given_array(self.__name__, each, device) for each in arguments]
            loop = self._loop(given)
            cast = [asarray(each, dtype) for each, dtype in zip(given, loop.inputs, strict=True)]
            made = loop.launch(cast, self._outputs(loop, results, cast), device)
            self.dispatch(loop, given, loop.inputs + loop.outputs, device == CPU)
            return self.delivered(list(made) if isinstance(made, tuple) else [made], out, on_device)

    def _call_where(self, arguments: tuple, out: Any, where: Any, stream: Any) -> Any:
        """A call for the elements where a mask is true. The others keep what `out` has there, or have no value."""
        if self.nin < len(arguments) <= self.nin + self.nout and out is None:
            arguments, out = arguments[: self.nin], arguments[self.nin :]
        given = (*arguments, where, *(listed(out) or ()))
        on_device = any(map(is_on_device, given))
        device = device_of(given, (), self.target)
        to_array = (lambda each: placed(each, device)) if on_device else numpy.asarray
        shape = numpy.broadcast_shapes(*map(numpy.shape, given))
        spread = broadcast_to if on_device else numpy.broadcast_to
        mask, *arrays = (spread(to_array(each), shape) for each in (where, *arguments))
        if mask.dtype != bool:
            raise TypeError(f"{self.__name__}: where must be bools, not {mask.dtype}")
        parts = [each if is_number(each) else array[mask] for each, array in zip(arguments, arrays, strict=True)]
        made = listed(self(*parts, stream=stream)) or ()
        targets = listed(out) or tuple((empty if on_device else numpy.empty)(shape, each.dtype) for each in made)
        self._check_count(targets, len(made))
        for value, target in zip(made, targets, strict=True):
            if target.shape != shape:
                raise ValueError(f"{self.__name__}: out has the shape {target.shape}, and the result {shape}")
            store_result(self.__name__, value, target, mask)
        return targets if len(targets) > 1 else targets[0]

    def _check_count(self, results: tuple, count: int) -> None:
        if len(results) != count:
            raise ValueError(f"{self.__name__}: out has {len(results)} arrays, and there are {count} results")

    def _outputs(self, loop: _Loop, results: tuple | None, arguments: list[ndarray]) -> list[ndarray]:
        """The given outputs where the kernel may write them itself, else none."""
        if results is None:
            return []
        self._check_count(results, len(loop.outputs))
        shape = numpy.broadcast_shapes(*(each.shape for each in arguments))
        fits = all(
            isinstance(each, ndarray) and each.dtype == dtype and each.shape == shape
            for each, dtype in zip(results, loop.outputs, strict=True)
        )
        if fits and loop.translation.can_fail:  # a failed element runs again in Python, from the inputs
            fits = not any(may_share_memory(each, other) for each in results for other in arguments)
        return list(results) if fits else []

    # The methods of ufuncs

    def _check_binary(self, method: str) -> None:
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary functions")

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=None):
        """The function over an axis, axes or all (None), from the first element to the last."""
        return self._fold("reduce", array, axis, dtype, out, keepdims, initial)

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """The results of reduce over the first element, the first two, and so on, along an axis."""
        return self._fold("accumulate", array, axis, dtype, out, False, None)

    def _fold(self, method, array, axis, dtype, out, keepdims, initial):
        self._check_binary(method)
        on_device = is_on_device(array) or is_on_device(out)
        device = device_of((array,), listed(out), self.target)
        x = placed(array, device)
        axes = list(range(x.ndim)) if axis is None else list(normalize_axis_tuple(axis, x.ndim))
        if method == "accumulate" and len(axes) != 1:
            raise ValueError(f"{self.__name__}: accumulate takes one axis, not {len(axes)}")
        with device:
            x = x if dtype is None else x.astype(dtype)
            result = (self._scanned if method == "accumulate" else self._reduced)(x, axes, initial)
            if keepdims:
                shape = [1 if k in axes else extent for k, extent in enumerate(x.shape)]
                result = result.reshape(shape)
        return self.delivered([result], out, on_device)

    def _rows(self, x: ndarray, axes: list[int], initial: Any) -> tuple[ndarray, tuple[int, ...], int]:
        """The elements to fold in rows, the shape of the others, and the length of a row."""
        kept = [k for k in range(x.ndim) if k not in axes]
        shape = tuple(x.shape[k] for k in kept)
        length = int(numpy.prod([x.shape[k] for k in axes], dtype=int))
        rows = ascontiguousarray(x.transpose([*kept, *axes])).reshape((*shape, length))
        if initial is not None:
            first = full((*shape, 1), initial, x.dtype)
            rows = concatenate([first, rows], axis=-1)
        elif length == 0 and self.identity is not None:
            rows = full((*shape, 1), self.identity, x.dtype)
        elif length == 0:
            raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
        return rows, shape, rows.shape[-1]

    def _folding(self, dtype: numpy.dtype) -> tuple[_Loop, numpy.dtype]:
        """The loop whose result is of the type of its first argument, from `dtype`."""
        key = (dtype, dtype)
        loop = self._loops.get(key)
        if loop is not None and loop.outputs == (dtype,):
            return loop, dtype
        if self.is_lazy:
            if (loop := self._folds.get(dtype)) is None:
                loop = self._folds[dtype] = self._made_fold(dtype)
            return loop, loop.inputs[0]
        for inputs, loop in list(self._loops.items()):
            if inputs == loop.outputs * 2 and numpy.can_cast(dtype, inputs[0], "safe"):
                return loop, inputs[0]
        raise TypeError(f"ufunc {self.__name__!r} has no loop that folds {dtype}; it has {', '.join(self.types)}")

    def _made_fold(self, dtype: numpy.dtype) -> _Loop:
        """The loop that takes its own results: of `dtype`, or of the first dtype it leads to that holds its values."""
        first = dtype
        while True:
            loop = _Loop(self.py_func, (dtype, dtype), None, self.__name__)
            if loop.outputs == (dtype,):
                return loop
            if len(loop.outputs) != 1 or not numpy.can_cast(dtype, loop.outputs[0]):
                made = ", ".join(map(str, loop.outputs))
                raise TypeError(f"{self.__name__} cannot fold {first}: of two {dtype} it makes {made}")
            dtype = loop.outputs[0]

    def _reduced(self, x: ndarray, axes: list[int], initial: Any) -> ndarray:
        loop, dtype = self._folding(x.dtype)
        rows, shape, length = self._rows(x.astype(dtype, copy=False), axes, initial)
        return self._folded(loop, rows, empty(shape, dtype), length, "")

    def _scanned(self, x: ndarray, axes: list[int], initial: Any) -> ndarray:
        loop, dtype = self._folding(x.dtype)
        if x.size == 0:
            return x.astype(dtype)
        rows, shape, length = self._rows(x.astype(dtype, copy=False), axes, None)
        result = empty((*shape, length), dtype)
        self._folded(loop, rows, empty(shape, dtype), length, "all[i * length + k] = total;", result)
        return moveaxis(result, -1, axes[0])

    def _folded(self, loop, rows, out, length, store, result=None) -> ndarray:
        """Folds each row by one thread, in order. On the CPU, raises what the function raises for the first row."""
        translation = loop.translation
        reports = translation.can_fail and out.device == CPU
        body = f"""
T total = rows[i * length];
{{ {"int64_t k = 0; " + store if store else ""} }}
for (int64_t k = 1; k < length{" && !failed" if translation.can_fail else ""}; ++k) {{
  T next;
  {translation.call(["total", "rows[i * length + k]"], ["next"])}
  total = next;
  {store}
}}
y = total;
"""
        if translation.can_fail:
            body = reporting(body) if reports else asserting(body, kernel_name(self.__name__))
        parameters = "raw const T rows, int64 length" + (", raw _non_const T all" if store else "")
        parameters += ", raw _non_const int64 first" if reports else ""
        kernel = _fold_kernel(parameters, body, self.__name__, translation.preamble)
        first = full((1,), NOT_FAILED, "int64") if reports else None
        kernel(rows.ravel(), length, *([result.ravel()] if store else []), *([first] if reports else []), out)
        if first is not None and (place := int(first[0])) != NOT_FAILED:
            where = f" at {tuple(map(int, numpy.unravel_index(place, out.shape)))}" if out.shape else ""
            loop.raise_in_fold(asnumpy(rows.reshape((-1, length))[place]), f"in the fold{where}")
        return out

    def outer(self, a, b):
        """The function of every pair of elements of a and b: shape a.shape + b.shape."""
        self._check_binary("outer")
        a = a if isinstance(a, ndarray) else numpy.asarray(a)
        b = b if isinstance(b, ndarray) else numpy.asarray(b)
        return self(a.reshape(a.shape + (1,) * b.ndim), b)


@functools.lru_cache(maxsize=256)
def _fold_kernel(parameters: str, body: str, name: str, preamble: str) -> ElementwiseKernel:
    return ElementwiseKernel(parameters, "T y", body, kernel_name(name), preamble=preamble)


class vectorize:
    """A Python function of numbers as a function of arrays, compiled: numpy.vectorize and numba.vectorize.

    vectorize(pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None) is NumPy's: results are arrays
    of Iruka. What has no kernel (see docs/python_functions.md) runs in Python, element by element, with a warning.

    vectorize(signatures, target='cpu', identity=None) and vectorize(target=...) are Numba's decorators: signatures such
    as 'float32(float32, float32)', target 'cpu', 'parallel' or 'cuda'. Host arrays give host arrays, arrays of a device
    stay there. What has no kernel is a TranslationError that shows the line.

        >>> double = iruka.vectorize(["float64(float64)"])(lambda x: 2 * x)
    """

    def __new__(
        cls,
        pyfunc: Any = None,
        otypes: Any = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: str | None = None,
        **options: Any,
    ) -> Any:
        is_numbas = isinstance(pyfunc, (list, tuple, str)) or bool(options) or is_signature(pyfunc)
        if is_numbas:
            return _decorator(pyfunc, cache=cache, **options)
        if pyfunc is None:
            return lambda function: cls(function, otypes, doc, excluded, cache, signature)
        return _NumpyVectorized(pyfunc, otypes, doc, excluded, cache, signature)

    if TYPE_CHECKING:  # what is made is of another class, which type checkers do not see

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __getattr__(self, name: str) -> Any: ...


def _decorator(signatures=None, *, target="cpu", identity=None, cache=False, nopython=True, fastmath=False, **others):
    check_options("vectorize", others)
    check_target("vectorize", target)
    if isinstance(identity, str):
        raise ValueError(f"vectorize: identity must be a number or None, not {identity!r}")
    if isinstance(signatures, types.FunctionType):
        return _Vectorized(signatures, (), target, identity)
    given = [signatures] if isinstance(signatures, str) or is_signature(signatures) else list(signatures or ())
    return lambda function: _Vectorized(checked_function("vectorize", function), given, target, identity)


class _NumpyVectorized(FunctionValue, numpy.vectorize):
    """numpy.vectorize by kernels, where the function has one."""

    kind = "vectorized function"
    _public = ("cache", "excluded", "otypes", "pyfunc", "signature")

    def __init__(self, pyfunc, otypes, doc, excluded, cache, signature):
        given = {"doc": doc, "excluded": excluded, "cache": cache, "signature": signature}
        super().__init__(pyfunc, otypes, **given)
        self._made_of = (pyfunc, otypes, doc, excluded, cache, signature)
        self._loops: dict[tuple, _Loop | None] = {}

    def __call__(self, *args, **kwargs):
        given = self._bound(args, kwargs) if self.signature is None and not self.excluded else None
        if given is not None and self._may_have_kernel(given) and (arrays := self._arrays(given)):
            if (loop := self._loop(tuple(each.dtype for each in arrays))) is not None:
                return loop.launch(arrays, [], arrays[0].device)
        host = {name: _to_host(value) for name, value in kwargs.items()}
        return _from_host(super().__call__(*map(_to_host, args), **host), getattr(self.pyfunc, "__name__", "vectorize"))

    def _iruka_in_kernel_(self, arguments: list[Any]) -> tuple[Any, tuple | None, tuple | None]:
        if not isinstance(self.pyfunc, types.FunctionType) or self.excluded or self.signature is not None:
            name = getattr(self.pyfunc, "__name__", type(self.pyfunc).__name__)
            raise TypeError(f"{name}() is vectorized without a kernel; write a Python function of numbers")
        return self.pyfunc, None, None if self.otypes is None else tuple(map(numpy.dtype, self.otypes))

    def _bound(self, args, kwargs) -> tuple | None:
        """The arguments by position, with the defaults of those that are missing; None where they do not fit."""
        import inspect

        try:
            bound = inspect.signature(self.pyfunc, follow_wrapped=False).bind(*args, **kwargs)
        except (builtins.TypeError, builtins.ValueError):
            return None
        bound.apply_defaults()
        return None if bound.kwargs else bound.args

    def _may_have_kernel(self, args) -> bool:
        return isinstance(self.pyfunc, types.FunctionType) and bool(args) and all(
            isinstance(each, (ndarray, numpy.ndarray, list, tuple)) or is_number(each) for each in args
        )  # fmt: skip

    def _arrays(self, given: tuple) -> list[ndarray] | None:
        """The arguments as arrays of numbers; None for strings and other objects, which Python's function may take."""
        try:
            return [asarray(each) for each in given]
        except builtins.TypeError as error:
            warn(f"vectorize runs in Python, element by element: {error}", UserWarning)
            return None

    def _loop(self, key: tuple) -> _Loop | None:
        loop = self._loops.get(key)
        if key not in self._loops or (loop is not None and not loop.translation.outer.are_same()):
            outputs = None if self.otypes is None else tuple(map(numpy.dtype, self.otypes))
            try:
                if outputs is not None and any(each.kind not in "biufcV" for each in outputs):
                    raise TranslationError(f"otypes has {', '.join(map(str, outputs))}; kernels give numbers")
                self._loops[key] = _Loop(self.pyfunc, key, outputs, self.pyfunc.__name__)
            except TranslationError as error:
                warn(f"vectorize runs in Python, element by element: {error}", UserWarning)
                self._loops[key] = None
        return self._loops[key]


__all__ = ["parse_signature", "vectorize"]
