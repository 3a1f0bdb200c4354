"""What a computation is: data, results by NumPy, a tolerance; and a call of one of its ways."""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

import iruka

from .texts import read_ways

COMPUTATIONS = {}


@dataclasses.dataclass
class Computation:
    """One computation on one set of data.

    title: what is computed, with its size.
    data: inputs by the names of parameters: NumPy arrays and numbers.
    outputs: zeros of each result's shape and dtype, by name.
    expected: returns the results by NumPy, by name.
    views: further names of inputs and outputs: (name, index), such as ("picture", (..., 0)).
    rtol, atol: a result is close if it differs by less than atol + rtol * |expected|.
    portion: of the results that need not be close, because rounding decides between two of them.
    native: arguments of the function of the same name in intrinsics/, by name; the number of threads follows.
    """

    title: str
    data: dict
    outputs: dict
    expected: Callable
    views: dict = dataclasses.field(default_factory=dict)
    rtol: float = 0.0
    atol: float = 0.0
    portion: float = 0.0
    native: tuple = ()
    name: str = ""

    def __post_init__(self):
        self.places = {}

    @functools.cached_property
    def ways(self):
        return read_ways(self.name)

    @functools.cached_property
    def results(self):
        return self.expected()

    @property
    def tolerance(self):
        """In words."""
        if not (self.rtol or self.atol or self.portion):
            return "equal to NumPy's result"
        close = " + ".join(filter(None, [f"{self.rtol:g} of it" * bool(self.rtol), f"{self.atol:g}" * bool(self.atol)]))
        share = f"; up to {self.portion:.2%} of the elements may differ more" if self.portion else ""
        return f"within {close or 0} of NumPy's result{share}"

    def on_device(self, name):
        """The array of that name on the device, one for all ways: where a buffer lies changes times by up to 10 %."""
        if name in self.views:
            base, index = self.views[name]
            return self.on_device(base).T if index == "T" else self.on_device(base)[index]
        if name not in self.places:
            self.places[name] = iruka.asarray(self.data[name] if name in self.data else self.outputs[name])
        return self.places[name]

    def problem(self, found):
        """What is wrong with results, by name, in words; empty if they are right."""
        for name, result in found.items():
            expected = self.results[name]
            if result.shape != expected.shape or result.dtype != expected.dtype:
                return f"{name} is {result.dtype}{result.shape}, not {expected.dtype}{expected.shape}"
            with np.errstate(invalid="ignore"):
                close = np.isclose(result, expected, rtol=self.rtol, atol=self.atol, equal_nan=True)
            if np.mean(~close) > self.portion:
                at = np.unravel_index(np.argmin(close), close.shape)
                return (
                    f"{np.mean(~close):.2%} of {name} differ; element {tuple(map(int, at))} is {result[at]}, "
                    f"not {expected[at]}"
                )
        return ""


def computation(**sizes):
    """Registers a function that makes a Computation; `sizes` are its arguments: full=(...), small=(...), odd=(...)
    and, for calls of a second, long=(...).
    """

    def register(make):
        def made(size="full"):
            given = make(*sizes[size])
            given.name = make.__name__
            return given

        made.sizes = tuple(sizes)
        COMPUTATIONS[make.__name__] = made
        return made

    return register


class Call:
    """A way's kernel with its arguments; computes into the computation's outputs, which begin as zeros."""

    def __init__(self, computation, way, options=()):
        self.computation, self.way = computation, way
        name = "".join(c if c.isalnum() else "_" for c in f"{computation.name}_{way.name}")
        self.kernel = iruka.ElementwiseKernel(
            way.inputs, way.outputs, way.body, name, preamble=way.preamble, options=tuple(options)
        )
        self.arguments, has_plain = [], False
        for each in [*way.input_parameters(), *way.output_parameters()]:
            value = computation.data.get(each.name)
            if each.by_value or (value is not None and not isinstance(value, np.ndarray)):
                self.arguments.append(value)
                continue
            has_plain = has_plain or not each.is_raw
            self.arguments.append(computation.on_device(each.name))
        self.keywords = {} if has_plain else {"size": self.elements()}

    def __call__(self):
        self.kernel(*self.arguments, **self.keywords)

    def elements(self):
        """Of a loop over raw arrays alone: the way's `size`, else as many as the first output has."""
        if self.way.size:
            return self.computation.data[self.way.size]
        return next(iter(self.computation.outputs.values())).size

    def clear(self):
        for name in self.computation.outputs:
            self.computation.on_device(name)[...] = 0

    def results(self):
        """The outputs of one call, as NumPy arrays, by name."""
        self.clear()
        self()
        return {name: iruka.asnumpy(self.computation.on_device(name)).copy() for name in self.computation.outputs}

    def report(self):
        return self.kernel.report(*self.arguments, **self.keywords)


class AccumulatingCall(Call):
    """Of a computation that adds to its outputs, which are cleared before each call."""

    def __call__(self):
        self.clear()
        super().__call__()
