"""NumPy's protocols: its ufuncs and functions called on arrays of Iruka."""

import importlib
import sys

import numpy

from . import _core
from ._functions import elementwise
from .errors import TypeError


def _check_places(inputs, out):
    """A NumPy array cannot be the output of GPU work."""
    gpus = [x.device.name for x in (*inputs, *out) if isinstance(x, _core.ndarray) and x.device.name != "cpu"]
    if gpus and any(isinstance(target, numpy.ndarray) for target in out):
        raise TypeError(f"Unsupported type {numpy.ndarray!r}: out is a NumPy array, but the arrays are on {gpus[0]}")


def _as_target(out):
    """An output's own memory, never a copy of it."""
    target = _core.as_array(out, "cpu") if isinstance(out, numpy.ndarray) else out
    if isinstance(out, numpy.ndarray) and out.size and out.__array_interface__["data"][0] != target._address:
        raise TypeError("out is not aligned, and a copy of it would be lost")
    return target


def array_ufunc(self, ufunc, method, *inputs, out=None, **keywords):
    """numpy.add(x, y), numpy.add.reduce(x) and the other methods with an iruka array among the arguments."""
    function = elementwise.get(ufunc.__name__)
    if function is None and method == "__call__":  # matmul and its like are functions of ours
        function = vars(sys.modules["iruka"]).get(ufunc.__name__)
    if function is None or not hasattr(function, method):
        return NotImplemented
    call = function if method == "__call__" else getattr(function, method)
    if out is None:
        return call(*inputs, **keywords)
    _check_places(inputs, out)
    targets = tuple(None if one is None else _as_target(one) for one in out)
    results = call(*inputs, out=targets if len(targets) > 1 else targets[0], **keywords)
    given = tuple(one if one is not None else made for one, made in zip(out, _as_tuple(results)))
    return given if len(given) > 1 else given[0]


def _as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def _counterpart(function):
    """Iruka's function for NumPy's, by module and name; None where there is none."""
    module, name = function.__module__ or "", function.__name__
    if module != "numpy" and not module.startswith("numpy."):
        return None
    package = "iruka" + module[len("numpy") :]
    try:
        found = vars(importlib.import_module(package)).get(name)
    except ImportError:
        return None
    return found if callable(found) and found is not function else None


def array_function(self, func, types, args, kwargs):
    """numpy.concatenate([x, y]) and the like with an iruka array among the arguments: our function of that name.

    NumPy raises its TypeError ("no implementation found") where there is none.
    """
    if not all(issubclass(kind, (_core.ndarray, numpy.ndarray)) for kind in types):
        return NotImplemented
    function = _counterpart(func)
    return NotImplemented if function is None else function(*args, **kwargs)
