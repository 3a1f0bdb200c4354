"""The computations, a module for each subject."""

from ..computation import COMPUTATIONS, AccumulatingCall, Call  # noqa: F401
from . import letters, numbers, pictures  # noqa: F401  each registers its computations

#: Computations that add to their outputs.
ACCUMULATING = ("histogram",)


def call_of(computation, way, options=()):
    """The call of a way."""
    return (AccumulatingCall if computation.name in ACCUMULATING else Call)(computation, way, options)
