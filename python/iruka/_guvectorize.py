"""Python functions of small arrays as functions of large ones: Numba's guvectorize."""

from __future__ import annotations

import itertools
import operator
import re
import types
from typing import Any, NoReturn

import numpy

from ._core import ndarray
from ._numpy.conversion import asarray, asnumpy
from ._numpy.creation import empty
from ._numpy.elementwise import may_share_memory
from ._numpy.shapes import broadcast_to, moveaxis
from ._python_kernels import (
    CPU,
    ArrayFunction,
    Loop,
    check_options,
    check_target,
    checked_function,
    device_of,
    dtype_named,
    given_array,
    is_number,
    is_on_device,
    is_signature,
    listed,
    placed,
    working_on,
)
from .errors import AxisError, TypeError, ValueError

Axes = tuple[str | int, ...]  # the names of core dimensions, or their extents
Layout = tuple[list[Axes], list[Axes]]
_LONGEST = 2**48  # more elements than this along an axis are not in memory, but those of broadcast arrays may be


def _axis(name: str) -> str | int:
    """The name of a core dimension, or its extent."""
    if not re.fullmatch("[0-9]+", name):
        return name
    if int(name) >= 2**63:
        raise ValueError(f"guvectorize: no axis has {name} elements")
    return int(name)


def parse_layout(layout: str) -> Layout:
    """The core dimensions of inputs and outputs, from "(m,n),(n,p)->(m,p)". A number is an extent."""
    text = re.sub(r"\s", "", layout)
    side = r"\((?:\w+(?:,\w+)*)?\)"
    if not re.fullmatch(rf"({side}(?:,{side})*)->({side}(?:,{side})*)", text):
        raise ValueError(f"guvectorize: {layout!r} is no layout such as '(n),(n)->()'")
    inputs, outputs = (
        [tuple(map(_axis, filter(None, part.strip("()").split(",")))) for part in re.findall(side, half)]
        for half in text.split("->")
    )
    known = {name for names in inputs for name in names}
    for name in itertools.chain(*outputs):
        if name not in known and not isinstance(name, int):
            raise ValueError(
                f"guvectorize: the dimension {name!r} of an output in {layout!r} is no dimension of an input, and "
                f"nothing says how long it is; write its extent as a number, or add an input ({name}), which may be "
                "the output's first values"
            )
    return inputs, outputs


def _axes_of_numba(array: re.Match) -> str:
    """ "array(float64, 2d, C)", the text of a type of Numba, as "float64[:,:]"."""
    return f"{array[1]}[{','.join(':' * int(array[2]))}]"


def parse_types(signature: Any) -> list[tuple[numpy.dtype, int]]:
    """The dtype and the number of axes of each parameter, from "void(float32[:], int64, float32[:,:])"."""
    text = re.sub(r"\b[Aa]rray\((\w+), *(\d+)d?\b[^()]*\)", _axes_of_numba, str(signature).strip())
    made = re.fullmatch(r"(?:void|none)?\s*\((.*)\)(?:\s*->\s*(?:void|none))?", text)
    if not made:
        raise TypeError(f"guvectorize: {text!r} is no signature such as 'void(float64[:], float64[:])'")
    axes = r"\[\s*:\s*(?:,\s*:\s*)*(?::1\s*)?\]"
    if not re.fullmatch(rf"(?:\s*\w+\s*(?:{axes})?\s*(?:,|$))*", made[1]):
        raise TypeError(f"guvectorize: {text!r} has axes that are not written as [:], [:,:] or [:,::1]")
    parameters = re.findall(r"(\w+)\s*(\[[^\]]*\])?", made[1])
    return [(dtype_named("guvectorize", name, text), axes.count(",") + 1 if axes else 0) for name, axes in parameters]


class _Loop(Loop):
    """A function of numbers and arrays of these dtypes and numbers of axes, of which none is longer than `longest`."""

    def __init__(self, owner: _Generalized, parameters: list[tuple[numpy.dtype, int]], longest: int = _LONGEST):
        from ._translate.number_types import ArrayView, Number

        inputs, outputs = owner.layout
        if len(parameters) != len(inputs) + len(outputs):
            raise TypeError(
                f"{owner.__name__}: the layout has {len(inputs) + len(outputs)} arrays, and the signature "
                f"{len(parameters)}"
            )
        given: list[Any] = []
        for k, ((dtype, ndim), names) in enumerate(zip(parameters, inputs + outputs, strict=True)):
            is_output = k >= len(inputs)
            if max(len(names), 1 if is_output else 0) != ndim and not (not names and ndim == 1):
                self._refuse_axes(owner, k, f"{dtype}", ndim, names, is_output)
            view = ArrayView(dtype, ndim, is_output, axes=names or (1,), longest=longest)
            given.append(view if ndim else Number(dtype))
        super().__init__(owner.py_func, owner.__name__, tuple(given), has_own_arrays=True)
        self.translation.refuse_results("it returns a result; write results to the last parameters")
        self.types = given
        self.parameters, self.dtypes = parameters, tuple(dtype for dtype, _ in parameters)
        self.parts = [(names, ndim) for names, (_, ndim) in zip(inputs + outputs, parameters, strict=True)]

    @staticmethod
    def _refuse_axes(owner: _Generalized, k: int, dtype: str, ndim: int, names: Axes, is_output: bool) -> NoReturn:
        """Raises TypeError where the signature and the layout differ in the axes of a parameter."""
        parameters = owner.py_func.__code__.co_varnames[: owner.py_func.__code__.co_argcount]
        name = f" ({parameters[k]})" if k < len(parameters) else ""
        own = f"({','.join(map(str, names))})"
        if is_output and not names:
            own += ", an array of one element"
        written = dtype + (f"[{','.join(':' * max(1, len(names)))}]" if names or is_output else "")
        raise TypeError(
            f"{owner.__name__}: parameter {k}{name} has {ndim} axes in the signature, and is {own} in the layout; "
            f"write {written}"
        )

    def texts(self) -> tuple[list[str], list[str], str]:
        names = [f"x{k}" for k in range(len(self.parts))]
        lines, parts = [], []
        for name, (core, ndim) in zip(names, self.parts, strict=True):
            if ndim == 0:
                parts.append(f"python::number_of({name}, i)")
                continue
            lines.append(f"const auto part_{name} = python::part_of<{len(core)}, {str(not core).lower()}>({name}, i);")
            parts += [f"part_{name}", f"part_{name}.data"]
        arrays = [f"raw {dtype} {name}" for dtype, name in zip(self.dtypes, names, strict=True)]
        return arrays, [], "\n".join([*lines, self.translation.call(parts, [])])

    def arguments_at(self, place: int, inputs: list[ndarray]) -> tuple[list[Any], str]:
        shape = inputs[0].shape[: inputs[0].ndim - len(self.parts[0][0])]
        index = numpy.unravel_index(place, shape) if shape else ()
        arguments: list[Any] = []
        for array, (names, ndim), type in zip(inputs, self.parts, self.types, strict=True):
            part = _on_host(array)[index]
            part = numpy.array(part) if ndim == 0 or type.is_writable else part
            arguments.append(part[()] if ndim == 0 else part if names else part.reshape(1))
        return arguments, f"at {tuple(map(int, index))}" if shape else ""


def _on_host(array: ndarray) -> numpy.ndarray:
    """The elements in NumPy's memory, where those that broadcasting repeats are once."""
    once = tuple(slice(0, 1) if step == 0 else slice(None) for step in array.strides)
    return numpy.broadcast_to(asnumpy(array[once]), array.shape)


def _writable(given: Any, shape: tuple[int, ...], dtype: numpy.dtype, device: Any) -> ndarray | None:
    """A given output as an array of the device that a kernel writes in place; None where it is none."""
    if given is None or tuple(given.shape) != shape or given.dtype != dtype:
        return None
    array = placed(given, device)
    return array if array.flags.writeable and (array is given or may_share_memory(array, given)) else None


class _Generalized(ArrayFunction):
    """A function of arrays that calls a Python function for the core dimensions of its arguments, by kernels."""

    kind = "generalized function"
    _takes = "out=, axis=, axes=, keepdims= and stream="
    _public = ("layout", "nin", "nout", "py_func", "signature", "target")
    _instead = {
        **dict.fromkeys(
            ("accumulate", "at", "outer", "reduce", "reduceat"), "only functions of numbers have it: iruka.vectorize"
        ),
        "types": "the signatures are given, or made for the dtypes of each call",
    }

    def __init__(self, function: types.FunctionType, signatures: tuple[str, ...], layout: str, target: str):
        self.layout, self.signature = parse_layout(layout), layout
        super().__init__(function, target, len(self.layout[0]), not signatures, self.layout)
        self._long_loops: dict[tuple, _Loop] = {}
        self._made_of = (function, signatures, layout, target)
        for signature in signatures:
            made = _Loop(self, parse_types(signature))
            self._loops.setdefault(made.dtypes, made)

    nin = property(lambda self: len(self.layout[0]))
    nout = property(lambda self: len(self.layout[1]))

    def __repr__(self):
        return f"{super().__repr__()[:-1]} of {self.signature}>"

    def _iruka_in_kernel_(self, arguments: list[Any]) -> Any:
        raise TypeError(
            f"{self.__name__}() is a generalized function, which is launched from outside; call its Python function, "
            f"{self.__name__}.py_func, with the outputs"
        )

    def call(self, *arguments, out=None, stream=None, axis=None, axes=None, keepdims=False, **others):
        self.refuse_keywords(others)
        inputs, outputs = self.layout
        if len(arguments) == len(inputs) + len(outputs) and out is None:
            arguments, out = arguments[: len(inputs)], arguments[len(inputs) :]
        if len(arguments) != len(inputs):
            raise TypeError(f"{self.__name__}() takes {len(inputs)} inputs, not {len(arguments)}")
        if axis is not None or axes is not None or keepdims is not False:
            return self._call_along(arguments, out, core_axes(self, axis, axes, keepdims), stream)
        results = self._results(out)
        on_device = any(map(is_on_device, (*arguments, *(results or ()))))
        device = device_of(arguments, results, self.target)
        with working_on(device, stream):
            given = [each if is_number(each) else given_array(self.__name__, each, device) for each in arguments]
            loop = self._loop(given, results)
            cast = [asarray(each, dtype) for each, dtype in zip(given, loop.dtypes, strict=False)]
            sizes, shape = self._dimensions(cast)
            is_long = max(sizes.values(), default=0) > _LONGEST
            made = self._run(self._long_loop(loop) if is_long else loop, cast, sizes, shape, results or (), device)
            self._check_shapes(made, results or ())
            if not is_long:
                self.dispatch(loop, given, loop.dtypes, device == CPU)
            return self.delivered(made, out, on_device)

    def _results(self, out: Any) -> Any:
        """out= as a tuple of arrays, or None."""
        results = listed(out)
        if results is not None and len(results) != self.nout:
            raise ValueError(f"{self.__name__}: out has {len(results)} arrays, and the layout {self.nout} outputs")
        for each in results or ():
            if not hasattr(each, "shape") or not hasattr(each, "dtype"):
                raise TypeError(
                    f"{self.__name__}: out must be an array, or a tuple of arrays, not {type(each).__name__}"
                )
        return results

    def _call_along(self, arguments: tuple, out: Any, places: list[tuple[int, ...]], stream: Any) -> Any:
        """A call for inputs and outputs whose core dimensions are these axes."""
        kept = [len(place) - len(names) for place, names in zip(places[self.nin :], self.layout[1], strict=True)]
        results = self._results(out)
        places = self._axes_of_arrays(arguments, results, places)
        moved = [_with_last(*each) for each in zip(arguments, places, strict=False)]
        for each, place, count in zip(results or (), places[self.nin :], kept, strict=False):
            shape = numpy.shape(each)
            axes = place[len(place) - count :]
            if any(not -len(shape) <= axis < len(shape) or shape[axis] != 1 for axis in axes):
                raise ValueError(f"{self.__name__}(): with keepdims=True out has the extent 1 along the axes that the "
                                 f"function takes, but its shape is {shape}")  # fmt: skip
        into = None if results is None else tuple(
            _with_last(each, place)[(..., *[0] * count)]
            for each, place, count in zip(results, places[self.nin :], kept, strict=True)
        )  # fmt: skip
        made = self(*moved, out=into, stream=stream)
        if results is not None:
            return results if len(results) > 1 else results[0]
        finished = tuple(
            _with_last(each[(..., *[None] * count)] if count else each, place, is_back=True)
            for each, place, count in zip(listed(made) or (), places[self.nin :], kept, strict=True)
        )
        return finished if len(finished) > 1 else finished[0]

    def _axes_of_arrays(self, arguments: tuple, results: Any, places: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The axes as they count from the first axis of each operand. Raises AxisError for those it does not have."""
        counts = [numpy.ndim(each) for each in arguments]
        for k, (count, names) in enumerate(zip(counts, self.layout[0], strict=True)):
            self._check_enough(k, count, len(names))
        loop = max(count - len(names) for count, names in zip(counts, self.layout[0], strict=True))
        given = results or [None] * self.nout
        counts += [
            loop + len(place) if each is None else numpy.ndim(each)
            for each, place in zip(given, places[self.nin :], strict=False)
        ]
        return [_within(self.__name__, k, *each) for k, each in enumerate(zip(places, counts, strict=False))]

    def _check_enough(self, k: int, ndim: int, count: int) -> None:
        if ndim < count:
            raise ValueError(f"{self.__name__}: Input operand {k} does not have enough dimensions (has {ndim}, gufunc "
                             f"core with signature {self.signature} requires {count})")  # fmt: skip

    def _run(self, loop, cast, sizes, shape, results, device) -> list[ndarray]:
        inputs, outputs = self.layout
        made: list[ndarray] = []
        for names, dtype, given in itertools.zip_longest(outputs, loop.dtypes[len(inputs) :], results):
            full = (*shape, *(sizes[name] for name in names))
            in_place = _writable(given, full, dtype, device)
            if in_place is None or any(may_share_memory(in_place, each) for each in made):
                in_place = empty(full, dtype)
                if given is not None and tuple(given.shape) == full:
                    in_place[...] = placed(given, device)  # the function may read what it was given
            made.append(in_place)
        wide = []
        for each, names in zip(cast, inputs, strict=True):
            if any(may_share_memory(each, output) for output in made):
                each = each.copy()
            wide.append(broadcast_to(each, (*shape, *each.shape[each.ndim - len(names) :])))
        count = int(numpy.prod(shape, dtype=int))
        if count:
            before = [*wide, *(each.copy() for each in made)] if results and loop.translation.can_fail else None
            loop.launch([*wide, *made], [], device, before=before, size=count)
        return made

    def _dimensions(self, given: list[ndarray]) -> tuple[dict[str | int, int], tuple[int, ...]]:
        """The extents of the core dimensions, and the shape of the loop."""
        sizes: dict[str | int, int] = {
            name: name for names in itertools.chain(*self.layout) for name in names if isinstance(name, int)
        }
        loops = []
        for k, (array, names) in enumerate(zip(given, self.layout[0], strict=True)):
            self._check_enough(k, array.ndim, len(names))
            core = array.shape[array.ndim - len(names) :]
            loops.append(array.shape[: array.ndim - len(names)])
            for axis, (name, extent) in enumerate(zip(names, core, strict=True)):
                if sizes.setdefault(name, extent) != extent:
                    raise ValueError(
                        f"{self.__name__}: Input operand {k} has a mismatch in its core dimension {axis}, with gufunc "
                        f"signature {self.signature} (size {extent} is different from {sizes[name]})"
                    )
        return sizes, numpy.broadcast_shapes(*loops)

    def _loop(self, given: list[Any], results: Any) -> _Loop:
        dtypes = self.dtypes_of(given)
        if not self.is_lazy:
            if (found := self.fitting_loop(given)) is not None:
                return found
            raise self.no_loop(dtypes, "; ".join(", ".join(map(str, key)) for key in self._loops))
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

    def _long_loop(self, loop: _Loop) -> _Loop:
        """The loop for arrays with axes so long that less is known of indices."""
        if loop.dtypes not in self._long_loops:
            made = _Loop(self, loop.parameters, longest=2**63 - 1)
            with self._lock:
                self._long_loops.setdefault(loop.dtypes, made)
        return self._long_loops[loop.dtypes]

    def _check_shapes(self, made: list[ndarray], results: tuple) -> None:
        for value, target in zip(made, results, strict=False):
            if target.shape != value.shape:
                raise ValueError(f"{self.__name__}: out has the shape {target.shape}, and the result {value.shape}")


def _with_last(value: Any, place: tuple[int, ...], is_back: bool = False) -> Any:
    """The array with these axes as the last ones, or back from there."""
    if not place:
        return value
    array: Any = asarray(value) if is_on_device(value) else numpy.asarray(value)
    ends = (place, tuple(range(-len(place), 0)))
    return (moveaxis if isinstance(array, ndarray) else numpy.moveaxis)(array, *(ends[::-1] if is_back else ends))


def _within(name: str, k: int, place: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """The axes of operand k, counted from the first. Raises AxisError and ValueError for what is no axis, or twice."""
    for axis in place:
        if not -ndim <= axis < ndim:
            raise AxisError(axis, ndim, f"{name}(), operand {k}")
    counted = tuple(axis % ndim for axis in place)
    for axis in counted:
        if counted.count(axis) > 1:
            raise ValueError(f"{name}(): the axes {place} of operand {k}, which has {ndim}, name axis {axis} twice")
    return counted


def _axis_of(name: str, given: Any) -> int:
    """An axis as an int. Raises TypeError for what is no integer; as in NumPy's ufuncs, a bool is none."""
    if isinstance(given, (bool, numpy.bool_)) or not hasattr(given, "__index__"):
        raise TypeError(f"{name}(): an axis must be an integer, not {given!r}")
    return operator.index(given)


def core_axes(function: _Generalized, axis: Any, axes: Any, keepdims: bool) -> list[tuple[int, ...]]:
    """The axes of each input and output that are its core dimensions, from the keywords of NumPy's ufuncs.

    Raises TypeError, ValueError and AxisError where they do not fit the layout.
    """
    name, (inputs, outputs) = function.__name__, function.layout
    if not isinstance(keepdims, bool):
        raise TypeError(f"{name}(): keepdims must be True or False, not {keepdims!r}")
    if keepdims and (any(outputs) or len(set(map(len, inputs))) != 1):
        raise TypeError(
            f"{name}(): keepdims needs inputs with the same number of core dimensions and outputs without any, and the "
            f"layout is {function.signature}"
        )
    counts = [len(names) for names in (*inputs, *(inputs[:1] * len(outputs) if keepdims else outputs))]
    if axis is not None and axes is not None:
        raise TypeError(f"{name}() cannot specify both 'axis' and 'axes'")
    if axis is not None:
        if max(counts) > 1 or len(set(itertools.chain(*inputs, *outputs))) != 1:
            raise TypeError(f"{name}(): axis needs one core dimension that all share, and the layout is "
                            f"{function.signature}; use axes, with a tuple for each input and output")  # fmt: skip
        return [(_axis_of(name, axis),) * count for count in counts]
    if axes is None:
        return [tuple(range(-count, 0)) for count in counts]
    if not isinstance(axes, list):
        raise TypeError(f"{name}(): axes must be a list of tuples, one for each input and output, not {axes!r}")
    given = [each if isinstance(each, tuple) else (each,) for each in axes]
    if len(given) == len(inputs) and not any(outputs):
        given += [tuple(range(-count, 0)) for count in counts[len(inputs) :]]
    if len(given) != len(counts):
        raise ValueError(f"{name}(): axes needs {len(counts)} tuples, one for each input and output, not {len(given)}; "
                         "those of outputs may be left out where none has core dimensions")  # fmt: skip
    for k, (place, count) in enumerate(zip(given, counts, strict=True)):
        if len(place) != count:
            raise AxisError(f"{name}(): operand {k} has {count} core dimensions, and axes gives {len(place)} for it, "
                            f"{axes[k] if k < len(axes) else place!r}")  # fmt: skip
    return [tuple(_axis_of(name, axis) for axis in place) for place in given]


def guvectorize(
    signatures,
    layout: str | None = None,
    *,
    target: str = "cpu",
    nopython: bool = True,
    cache: bool = False,
    fastmath: bool = False,
    **options: Any,
):
    """Numba's decorator: a function of the core dimensions of arrays, which are the last ones, as a function of arrays.

    `signatures` such as 'void(float64[:], float64, float64[:])', or a list of them; `layout` such as '(n),()->(n)', in
    which a number is a fixed extent. The
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
    check_target("guvectorize", target)
    check_options("guvectorize", options)
    if not isinstance(layout, str):
        raise TypeError(f"guvectorize: a layout such as '(n),(n)->()' is needed, not {layout!r}")
    is_one = isinstance(signatures, str) or is_signature(signatures)
    given = (str(signatures),) if is_one else tuple(map(str, signatures))
    return lambda function: _Generalized(checked_function("guvectorize", function), given, layout, target)


__all__ = ["guvectorize"]
