"""Python functions of small arrays as functions of large ones: Numba's guvectorize."""

from __future__ import annotations

import functools
import itertools
import re
import threading
import types
from typing import Any

import numpy

from ._core import ElementwiseKernel, ndarray
from ._numpy.conversion import asarray, asnumpy
from ._numpy.creation import empty, full
from ._numpy.shapes import broadcast_to
from ._vectorize import NOT_FAILED, check_function, device_of, dtype_named, is_cpu, is_on_device, kernel_name, placed
from .errors import IndexError, TypeError, ValueError

Layout = tuple[list[tuple[str, ...]], list[tuple[str, ...]]]


def parse_layout(layout: str) -> Layout:
    """The names of the core dimensions of inputs and outputs, from "(m,n),(n,p)->(m,p)"."""
    text = re.sub(r"\s", "", layout)
    side = r"\((?:\w+(?:,\w+)*)?\)"
    if not re.fullmatch(rf"({side}(?:,{side})*)->({side}(?:,{side})*)", text):
        raise ValueError(f"guvectorize: {layout!r} is no layout such as '(n),(n)->()'")
    inputs, outputs = (
        [tuple(filter(None, part.strip("()").split(","))) for part in re.findall(side, half)]
        for half in text.split("->")
    )
    known = {name for names in inputs for name in names}
    for name in itertools.chain(*outputs):
        if name not in known:
            raise ValueError(f"guvectorize: the dimension {name!r} of an output is no dimension of an input")
    return inputs, outputs


def parse_types(signature: Any) -> list[tuple[numpy.dtype, int]]:
    """The dtype and the number of axes of each parameter, from "void(float32[:], int64, float32[:,:])"."""
    text = str(signature).strip()
    made = re.fullmatch(r"(?:void|none)?\s*\((.*)\)(?:\s*->\s*(?:void|none))?", text)
    if not made:
        raise TypeError(f"guvectorize: {text!r} is no signature such as 'void(float64[:], float64[:])'")
    parameters = re.findall(r"(\w+)\s*(\[[^\]]*\])?", made[1])
    return [(dtype_named(name, text), axes.count(":")) for name, axes in parameters]


class _Loop:
    """The kernels for one combination of dtypes."""

    def __init__(self, owner: _Generalized, parameters: list[tuple[numpy.dtype, int]]):
        from ._translate import translate
        from ._translate.number_types import ArrayView, Number

        self.owner, self.parameters = owner, parameters
        inputs, outputs = owner.layout
        self.dtypes = tuple(dtype for dtype, _ in parameters)
        if len(parameters) != len(inputs) + len(outputs):
            raise TypeError(
                f"{owner.__name__}: the layout has {len(inputs) + len(outputs)} arrays, and the signature "
                f"{len(parameters)}"
            )
        given: list[Any] = []
        for k, ((dtype, ndim), names) in enumerate(zip(parameters, inputs + outputs, strict=True)):
            is_output = k >= len(inputs)
            if max(len(names), 1 if is_output else 0) != ndim and not (not names and ndim == 1):
                raise TypeError(
                    f"{owner.__name__}: parameter {k} has {ndim} axes, and ({','.join(names)}) in the layout"
                )
            given.append(ArrayView(dtype, ndim, is_output) if ndim else Number(dtype))
        self.translation = translate(owner.py_func, tuple(given))
        self._lock = threading.Lock()
        self._kernels: dict[bool, ElementwiseKernel] = {}

    def kernel(self, on_host: bool) -> ElementwiseKernel:
        with self._lock:
            if on_host not in self._kernels:
                self._kernels[on_host] = self._made(on_host)
            return self._kernels[on_host]

    def _made(self, on_host: bool) -> ElementwiseKernel:
        inputs, outputs = self.owner.layout
        names = [f"x{k}" for k in range(len(self.parameters))]
        parameters = [f"raw {dtype} {name}" for (dtype, _), name in zip(self.parameters, names, strict=True)]
        parts = []
        for name, core, (_, ndim) in zip(names, inputs + outputs, self.parameters, strict=True):
            if ndim == 0:
                parts.append(f"python::number_of({name}, i)")
            else:
                parts.append(f"python::part_of<{len(core)}, {'false' if core else 'true'}>({name}, i)")
        body = self.translation.call(parts, [])
        if self.translation.can_fail and on_host:
            parameters.append("raw _non_const int64 first")
            body += "\nif (failed) atomicMin((long long *)&first[0], (long long)i);"
        elif self.translation.can_fail:
            body += "\nassert(!failed);"
        return ElementwiseKernel(
            ", ".join(parameters), "", body, kernel_name(self.owner.__name__), preamble=self.translation.preamble
        )

    def run(self, arrays: list[ndarray], count: int, device: Any) -> None:
        kernel = self.kernel(is_cpu(device))
        if not self.translation.can_fail or not is_cpu(device):
            kernel(*arrays, size=count)
            return
        with device:
            first = full((1,), NOT_FAILED, "int64")
        kernel(*arrays, first, size=count)
        if (place := int(first[0])) != NOT_FAILED:
            self._raise(arrays, place)

    def _raise(self, arrays: list[ndarray], place: int) -> None:
        """Raises what Python raises in this step of the loop: the function runs once more, in Python."""
        inputs, outputs = self.owner.layout
        shape = arrays[0].shape[: arrays[0].ndim - len(inputs[0])]
        index = numpy.unravel_index(place, shape) if shape else ()
        parts: list[Any] = []
        for array, names, (_, ndim) in zip(arrays, inputs + outputs, self.parameters, strict=True):
            part = numpy.array(asnumpy(array)[index])
            parts.append(part.item() if ndim == 0 else part if names else part.reshape(1))
        where = f"at {tuple(map(int, index))}" if shape else ""
        try:
            self.owner.py_func(*parts)
        except Exception as error:
            if where and hasattr(error, "add_note"):
                error.add_note(f"{self.owner.__name__}: {where}")
            raise
        raise IndexError(f"{self.owner.__name__}: an index is out of bounds {where}".rstrip())


class _Generalized:
    """A function of arrays that calls a Python function for the core dimensions of its arguments, by kernels."""

    __name__: str

    def __init__(self, function: types.FunctionType, signatures: list, layout: str, target: str):
        self.py_func = self.__wrapped__ = function
        functools.update_wrapper(self, function)
        self.layout, self.signature, self.target = parse_layout(layout), layout, target
        self._lock = threading.Lock()
        self._loops: dict[tuple, _Loop] = {}
        for signature in signatures:
            made = _Loop(self, parse_types(signature))
            self._loops.setdefault(made.dtypes, made)
        self.is_lazy = not signatures

    nin = property(lambda self: len(self.layout[0]))
    nout = property(lambda self: len(self.layout[1]))

    def __repr__(self):
        return f"<generalized function {self.__name__!r} of {self.signature}>"

    def __call__(self, *arguments, out=None):
        inputs, outputs = self.layout
        if len(arguments) == len(inputs) + len(outputs) and out is None:
            arguments, out = arguments[: len(inputs)], arguments[len(inputs) :]
        if len(arguments) != len(inputs):
            raise TypeError(f"{self.__name__}() takes {len(inputs)} inputs, not {len(arguments)}")
        results = (out,) if out is not None and not isinstance(out, (tuple, list)) else out
        if results is not None and len(results) != len(outputs):
            raise ValueError(f"{self.__name__}: out has {len(results)} arrays, and the layout {len(outputs)} outputs")
        on_device = any(map(is_on_device, (*arguments, *(results or ()))))
        device = device_of(arguments, results, self.target)
        given = [placed(each, device) for each in arguments]
        loop = self._loop(given, results)
        sizes, shape = self._dimensions(given)
        with device:
            made = self._run(loop, given, sizes, shape, device)
        if results is not None:
            for value, target in zip(made, results, strict=True):
                self._store(value, target)
            return out
        finished = [each if on_device else asnumpy(each)[()] for each in made]
        return finished[0] if len(finished) == 1 else tuple(finished)

    def _run(self, loop, given, sizes, shape, device) -> list[ndarray]:
        inputs, outputs = self.layout
        cast = [asarray(each, dtype) for each, dtype in zip(given, loop.dtypes, strict=False)]
        wide = [
            broadcast_to(each, (*shape, *each.shape[each.ndim - len(names) :]))
            for each, names in zip(cast, inputs, strict=True)
        ]
        made = [
            empty((*shape, *(sizes[name] for name in names)), dtype)
            for names, dtype in zip(outputs, loop.dtypes[len(inputs) :], strict=True)
        ]
        count = int(numpy.prod(shape, dtype=int))
        if count:
            loop.run([*wide, *made], count, device)
        return made

    def _dimensions(self, given: list[ndarray]) -> tuple[dict[str, int], tuple[int, ...]]:
        """The extents of the core dimensions, and the shape of the loop."""
        sizes: dict[str, int] = {}
        loops = []
        for k, (array, names) in enumerate(zip(given, self.layout[0], strict=True)):
            if array.ndim < len(names):
                raise ValueError(
                    f"{self.__name__}: Input operand {k} does not have enough dimensions (has {array.ndim}, gufunc "
                    f"core with signature {self.signature} requires {len(names)})"
                )
            core = array.shape[array.ndim - len(names) :]
            loops.append(array.shape[: array.ndim - len(names)])
            for axis, (name, extent) in enumerate(zip(names, core, strict=True)):
                if sizes.setdefault(name, extent) != extent:
                    raise ValueError(
                        f"{self.__name__}: Input operand {k} has a mismatch in its core dimension {axis}, with gufunc "
                        f"signature {self.signature} (size {extent} is different from {sizes[name]})"
                    )
        return sizes, numpy.broadcast_shapes(*loops)

    def _loop(self, given: list[ndarray], results: Any) -> _Loop:
        dtypes = tuple(numpy.dtype(each.dtype) for each in given)
        for key, loop in self._loops.items():
            if all(map(numpy.can_cast, dtypes, key)) and not self.is_lazy:
                return loop
        if not self.is_lazy:
            known = "; ".join(", ".join(map(str, key)) for key in self._loops)
            raise TypeError(
                f"ufunc {self.__name__!r} did not contain a loop with signature matching types "
                f"({', '.join(map(str, dtypes))}); it has {known}"
            )
        if results is None:
            raise TypeError(f"{self.__name__}: without signatures, the outputs must be given, which have the dtypes")
        return self._lazy_loop(dtypes + tuple(numpy.dtype(each.dtype) for each in results))

    def _lazy_loop(self, dtypes: tuple) -> _Loop:
        if dtypes not in self._loops:
            inputs, outputs = self.layout
            axes = [len(names) for names in inputs] + [max(1, len(names)) for names in outputs]
            made = _Loop(self, list(zip(dtypes, axes, strict=True)))
            with self._lock:
                self._loops.setdefault(dtypes, made)
        return self._loops[dtypes]

    def _store(self, value: ndarray, target: Any) -> None:
        if target.shape != value.shape:
            raise ValueError(f"{self.__name__}: out has the shape {target.shape}, and the result {value.shape}")
        if not numpy.can_cast(value.dtype, target.dtype, "same_kind"):
            raise TypeError(
                f"Cannot cast ufunc {self.__name__!r} output from {value.dtype!r} to {target.dtype!r} with casting "
                "rule 'same_kind'"
            )
        if isinstance(target, ndarray):
            target[...] = value
        else:
            numpy.copyto(target, asnumpy(value), casting="same_kind")


def guvectorize(
    signatures, layout: str | None = None, *, target: str = "cpu", nopython: bool = True, cache: bool = False
):
    """Numba's decorator: a function of the core dimensions of arrays, which are the last ones, as a function of arrays.

    `signatures` such as 'void(float64[:], float64, float64[:])', or a list of them; `layout` such as '(n),()->(n)'. The
    function writes its results into its last parameters; an output '()' is an array of one element. Without signatures,
    guvectorize(layout), the outputs are given in each call. Host arrays give host arrays, arrays of a device stay
    there. Raises TranslationError for a function that has no kernel.

        >>> @iruka.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
        ... def largest(x, out):
        ...     out[0] = x[0]
        ...     for value in x:
        ...         out[0] = max(out[0], value)
    """
    if layout is None:
        signatures, layout = (), signatures
    if target not in ("cpu", "parallel", "cuda"):
        raise ValueError(f"guvectorize: target must be 'cpu', 'parallel' or 'cuda', not {target!r}")
    if not isinstance(layout, str):
        raise TypeError(f"guvectorize: a layout such as '(n),(n)->()' is needed, not {layout!r}")
    listed = [signatures] if isinstance(signatures, str) else list(signatures)
    return lambda function: _Generalized(check_function(function, "guvectorize"), listed, layout, target)


__all__ = ["guvectorize"]
