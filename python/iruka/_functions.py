"""The rows of the elementwise and reduction tables as callables, by name."""

import copyreg
import functools
import inspect
from typing import Any

from . import _core


@functools.cache  # a few lists of parameters serve every function
def _signature(parameters: str) -> inspect.Signature:
    return inspect.signature(eval(f"lambda {parameters}: None"))


def _ufunc(name):
    function: Any = _core.ufunc(name)
    function.__name__ = function.__qualname__ = name
    inputs = ", ".join(f"x{k}" for k in range(1, function.nin + 1)) if function.nin > 1 else "x"
    parameters = f"{inputs}, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, signature=None"
    function.__signature__ = _signature(parameters)
    function.__doc__ = (
        f"{name}({parameters})\n\n"
        f"{function._documentation}\n\nInputs broadcast and promote as in NumPy 2; loops: {' '.join(function.types)}."
    )
    return function


def _reduction(name):
    function = _core.reduction_function(name)
    function.__name__ = name
    function.__doc__ = function._documentation
    function.__signature__ = _signature(function._parameters)
    return function


# A second name is the same object, as in NumPy: mod is remainder.
elementwise: dict[str, _core.ufunc] = {}
for _name in _core.elementwise_names():
    _row = _core.ufunc(_name)._name
    elementwise[_name] = elementwise[_row] if _row in elementwise else _ufunc(_row)
reductions = {name: _reduction(name) for name in _core.reduction_names()}

for _alias, _name in {"amin": "min", "amax": "max"}.items():
    reductions.setdefault(_alias, reductions[_name])


def ufunc_named(name):
    """Unpickles a ufunc."""
    return elementwise[name]


def reduction_named(name):
    """Unpickles a reduction."""
    return reductions[name]


# Functions and methods of C++ pickle as Python's do: by name, and bound methods with their object.
for _kind in (type(_core.default_device), type(_core.ndarray.sum)):
    copyreg.pickle(_kind, lambda function: function.__qualname__)
_bound: type = type(elementwise["add"].reduce)
copyreg.pickle(_bound, lambda method: (getattr, (method.__self__, method.__name__)))
