"""Parameters that modules of one's own have, and what is wrong with a state_dict that does not fit."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from .._numpy.conversion import from_dlpack
from ..errors import TypeError, ValueError


def as_parameter(value, dtype, device) -> ndarray:
    """A copy that nobody writes to: networks are compiled with the weights of the first call."""
    value = value.detach() if hasattr(value, "detach") else value  # torch shares no tensor that needs a gradient
    if isinstance(value, numpy.ndarray) or not hasattr(value, "__dlpack__"):
        array = _core.as_array(numpy.array(value, dtype), device)  # the host casts without compiling
    else:
        given = value if isinstance(value, ndarray) else from_dlpack(value)
        array = given.to_device(device)
        is_copy = given.device.name != array.device.name
        array = array.astype(dtype, copy=not is_copy)
    array.flags.writeable = False
    return array


class Parameter:
    """An array that becomes a parameter of the module to whose attribute it is assigned.

    >>> class Scale(iruka.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = iruka.nn.Parameter(numpy.ones(4, "float32"))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> list(Scale().state_dict())
    ['factor']

    data: an array of NumPy, Iruka or torch, or numbers. float64 stays float64; all others become float32. The attribute
    is an iruka.ndarray afterwards, which cannot be written to; another array may be assigned. requires_grad=True raises
    NotImplementedError.
    """

    kept: tuple[str, ...] = ("float64",)  # dtypes of data that stay what they are

    def __init__(self, data, requires_grad: bool = False) -> None:
        kind = f"nn.{type(self).__name__}"
        if requires_grad:
            raise NotImplementedError(f"{kind}: requires_grad must be False, since there are no gradients here")
        data = data.data if isinstance(data, Parameter) else data
        if data is None or isinstance(data, (str, bytes)):
            raise TypeError(f"{kind}: expected an array or numbers, not {data!r}")
        given = str(getattr(data, "dtype", "")).removeprefix("torch.")
        if given.startswith("complex"):
            raise TypeError(f"{kind}: parameters are real numbers, not {given}")
        device = data.device if isinstance(data, ndarray) else _core.default_device()
        try:
            self.data: ndarray = as_parameter(data, given if given in self.kept else "float32", device)
        except (builtins.TypeError, builtins.ValueError) as error:
            kind_of_error = TypeError if isinstance(error, builtins.TypeError) else ValueError
            raise kind_of_error(f"{kind}: expected an array or numbers, not {data!r:.80}: {error}") from None

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the array."""
        return self.data.shape

    @property
    def dtype(self):
        """That of the array."""
        return self.data.dtype

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.data!r})"


class Buffer(Parameter):
    """An array that becomes a buffer of the module to whose attribute it is assigned: training would not change it.

    parameters() lacks it; state_dict() has it where it is persistent. Arrays of bools and integers stay what
    they are, others are as those of a Parameter.

    >>> module = iruka.nn.Module()
    >>> module.places = iruka.nn.Buffer(numpy.arange(3))
    >>> list(module.named_buffers())
    [('places', array([0, 1, 2]))]
    """

    kept = ("float64", "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))

    def __init__(self, data, persistent: bool = True) -> None:
        super().__init__(data)
        self.persistent = bool(persistent)


_WRAPPERS = ("module.", "_orig_mod.", "model.", "network.", "net.")  # DataParallel, torch.compile, Lightning...


def _fits(own: Mapping, given) -> bool:
    return isinstance(given, Mapping) and any(name in given for name in own)


def hint(module, own: Mapping, given: Mapping) -> str:
    """Where the weights may be that a mapping lacks; '' where nothing is to be seen."""
    for key, value in given.items():
        inner = value if isinstance(value, Mapping) else {}
        if _fits(own, inner) or any(_fits(own, _without(inner, prefix)) for prefix in _WRAPPERS):
            return f"The weights seem to be in state_dict[{key!r}]: pass that"
    if not _fits(own, given):
        for prefix in dict.fromkeys([*_WRAPPERS, *(f"{str(name).split('.')[0]}." for name in given)]):
            if _fits(own, _without(given, prefix)):
                return (
                    f"The names begin with {prefix!r}: pass {{name.removeprefix({prefix!r}): array for name, array in"
                    " state_dict.items()}"
                )
    return _hint_of_lists(module)


def _without(given: Mapping, prefix: str) -> dict[str, Any]:
    names = [name for name in given if isinstance(name, str) and name.startswith(prefix)]
    return {name.removeprefix(prefix): given[name] for name in names}


def _hint_of_lists(module) -> str:
    """Modules in a plain list or dict have no names in a state_dict, as in torch."""
    base = type(module).__mro__[-2]  # Module
    for prefix, each in module.named_modules():
        for name, value in vars(each).items():
            items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
            if not name.startswith("_") and any(isinstance(item, base) for item in items):
                where = f"{prefix}.{name}" if prefix else name
                kind = "ModuleDict" if isinstance(value, dict) else "ModuleList"
                return f"{where!r} is a plain {type(value).__name__}, whose modules are not found: use nn.{kind}"
    return ""
