"""NumPy's protocols: its ufuncs and functions called on arrays of Iruka."""

import importlib
import sys

import numpy

from .. import _core
from .._functions import elementwise
from ..errors import TypeError


def _check_places(inputs, out):
    """A NumPy array cannot be the output of GPU work."""
    gpus = [x.device.name for x in (*inputs, *out) if isinstance(x, _core.ndarray) and x.device.name != "cpu"]
    if gpus and any(isinstance(target, numpy.ndarray) for target in out):
        raise TypeError(f"Unsupported type {numpy.ndarray!r}: out is a NumPy array, but the arrays are on {gpus[0]}")


def _array_ufunc(self, ufunc, method, *inputs, out=None, **keywords):
    """numpy.add(x, y), numpy.add.reduce(x) and the other methods with an iruka array among the arguments."""
    function = elementwise.get(ufunc.__name__) if _has_counterpart(ufunc) else None
    if (
        function is None and method == "__call__" and _has_counterpart(ufunc)
    ):  # matmul and similar ufuncs are ordinary functions in Iruka
        function = vars(sys.modules["iruka"]).get(ufunc.__name__)
    if function is None or not hasattr(function, method):
        return _foreign(ufunc, method, inputs, out, keywords)
    call = function if method == "__call__" else getattr(function, method)
    if out is None:
        return call(*inputs, **keywords)
    _check_places(inputs, out)
    if method == "reduce" and not any(isinstance(x, _core.ndarray) for x in inputs):
        # NumPy's mean, var and std would treat the result as a number and leave the sum in `out`.
        raise TypeError("out is an iruka.ndarray, but the array to reduce is NumPy's; call the function of iruka")
    return call(*inputs, out=out if len(out) > 1 else out[0], **keywords)


def _has_counterpart(ufunc) -> bool:
    """Whether a ufunc's name identifies it: NumPy's and SciPy's do, a user's own ufunc may have any name."""
    places = (numpy, sys.modules.get("numpy._core.umath"), sys.modules.get("scipy.special"))
    return any(getattr(place, ufunc.__name__, None) is ufunc for place in places)


def _foreign(ufunc, method, inputs, out, keywords):
    """A ufunc of another library (scipy.special) on the memory of arrays of the CPU."""
    arrays = [x for x in (*inputs, *(out or ())) if isinstance(x, _core.ndarray)]
    if getattr(numpy, ufunc.__name__, None) is ufunc or any(x.device.name != "cpu" for x in arrays):
        return NotImplemented

    def host(x):
        return _core.numpy_view(x) if isinstance(x, _core.ndarray) else x

    if isinstance(keywords.get("where"), _core.ndarray):
        keywords["where"] = host(keywords["where"])
    if out is not None:
        if any(isinstance(one, _core.ndarray) and not one.flags.writeable for one in out):
            raise ValueError(f"{ufunc.__name__}: output array is read-only")
        keywords["out"] = tuple(map(host, out))
    results = _as_tuple(getattr(ufunc, method)(*map(host, inputs), **keywords))
    given = [None] * len(results) if out is None else out
    own = [one if one is not None else _ours(made) for one, made in zip(given, results)]
    return tuple(own) if len(own) > 1 else own[0]


def _ours(result):
    return result if result is None else _core.as_array(result, "cpu")[()]


def _as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def _counterpart(function):
    """Iruka's function for a function of NumPy, by module and name; None if there is none."""
    module, name = function.__module__ or "", function.__name__
    if module != "numpy" and not module.startswith("numpy."):
        return None
    package = "iruka" + module[len("numpy") :]
    try:
        found = vars(importlib.import_module(package)).get(name)
    except ImportError:
        return None
    return found if callable(found) and found is not function else None


def _array_function(self, func, types, args, kwargs):
    """numpy.concatenate([x, y]) and the like with an iruka array among the arguments: our function of that name.

    NumPy raises its TypeError ("no implementation found") where there is none.
    """
    if not all(issubclass(kind, (_core.ndarray, numpy.ndarray)) for kind in types):
        return NotImplemented
    function = _counterpart(func)
    return NotImplemented if function is None else function(*args, **kwargs)
