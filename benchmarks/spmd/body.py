"""What a benchmark of one kernel body is: its text, its data, and the peers that do the same work."""

import dataclasses
import re
from collections.abc import Callable

import numpy as np

BODIES = {}  # name -> function that makes the Body, in the order of the table


def body(function):
    """Registers a function without arguments that returns a Body; its name is the body's."""
    BODIES[function.__name__] = function
    return function


@dataclasses.dataclass
class Peer:
    """Somebody else's program for the same work.

    make: returns a callable that does the work and returns the list of its outputs, or None where it cannot be had.
    share: the part of the work that one call does; times are divided by it.
    pick: what of a full list of outputs a call's outputs are compared with.
    """

    make: Callable
    share: float = 1.0
    pick: Callable = staticmethod(lambda outputs: outputs)


@dataclasses.dataclass
class Body:
    """One kernel body.

    kernel: in_params, out_params, operation and preamble of an ElementwiseKernel.
    inputs: NumPy arrays and scalars, outputs: NumPy arrays of zeros, in the order of the parameters.
    items, unit: how much work one call is, for a rate such as pairs/s.
    peers: name -> Peer; `reference` names the one whose outputs are right, within `close`.
    small_inputs: inputs for a call that takes next to no time, where slices of the plain arrays are not enough.
    flops: floating-point operations of one call, where a floor is to be given.
    scalar_size: elements that a call of the scalar path computes where all would take minutes; its time is scaled.
    """

    title: str
    kernel: dict
    inputs: list
    outputs: list
    items: float
    unit: str
    peers: dict
    close: Callable
    reference: str = "numpy"
    size: int | None = None
    small_inputs: list | None = None
    flops: float | None = None
    scalar_size: int | None = None

    def small(self, elements=16):
        """Inputs, outputs and size of a call with the same signature on a few elements."""
        names = self.kernel["in_params"].split(",") + self.kernel["out_params"].split(",")
        arrays = (self.small_inputs or self.inputs) + self.outputs

        def few(text, value):
            if re.match(r"\s*raw\b", text) or not isinstance(value, np.ndarray):
                return value
            return np.ascontiguousarray(value[(slice(0, 1),) * (value.ndim - 1) + (slice(0, elements),)])

        arguments = [few(text, value) for text, value in zip(names, arrays, strict=True)]
        return arguments, None if self.size is None else elements


def equal(got, want):
    """Every output has the same bits, save that any NaN equals any NaN."""
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
        if a.dtype.kind == "f":
            same = (a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")) | np.isnan(a)
            np.testing.assert_array_equal(same, True)


def near(rtol, scale=0.0):
    """Outputs differ by `rtol` of the value, or of `scale` times the largest value of the output."""

    def check(got, want):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale * float(np.abs(b).max()))

    return check


def mostly(portion, most=np.inf):
    """At most `portion` of the elements differ, none by more than `most`: rounding can tip a comparison."""

    def check(got, want):
        for a, b in zip(got, want, strict=True):
            difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
            assert (difference > 0).mean() <= portion, f"{(difference > 0).mean():.2%} of the elements differ"
            assert difference.max() <= most, f"an element differs by {difference.max()}"

    return check


def numba_peer(make, **options):
    """A Peer by Numba: make(numba) returns the callable; `options` are Peer's."""

    def build():
        try:
            import numba
        except ImportError:
            return None
        import iruka

        numba.set_num_threads(min(iruka.get_num_threads(), numba.config.NUMBA_NUM_THREADS))
        return make(numba)

    return Peer(build, **options)


def numpy_peer(call, **options):
    """A Peer that is a function of NumPy's; `options` are Peer's."""
    return Peer(lambda: call, **options)
