"""Module: what all layers and networks have, with torch's names."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy

from .. import _core
from .._core import ndarray
from .._numpy.conversion import from_dlpack
from ..errors import ShapeError, TypeError, ValueError
from . import parameters
from .arguments import FLOATS, float_dtype
from .functions import DeviceFunction
from .messages import renamed
from .model import ModelReport
from .network import Network, Report, note_new_structure
from .parameters import as_parameter

_PRECISIONS = ("float32", "tf32")


class Keys(NamedTuple):
    """What load_state_dict() returns."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def is_complex(value) -> bool:
    """Whether an array of any library, or a list, has complex numbers."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return numpy.iscomplexobj(value)
    return "complex" in str(dtype)


class Parameter:
    """A parameter as an attribute. Assigning one checks its shape and copies it; elements cannot be assigned."""

    def __set_name__(self, owner, name: str) -> None:
        self._name = name

    def __get__(self, module, owner=None):
        return self if module is None else module._parameters.get(self._name)

    def __set__(self, module, value) -> None:
        module._replace(self._name, value)


class Module:
    """The base of layers and networks, which are made of layers.

    A call gives the network's result for a batch `(..., in_features)`; map() has the features along any axis. Networks
    are for evaluation: there are no gradients, and Dropout does nothing.

    A class of one's own assigns modules to attributes after super().__init__(), and has a method forward(x), which
    calls them; each is a kernel of its own then.
    """

    role = (
        ""  # what kernels are made of: "linear", "activation", "identity" and "sequence" of those; "graph": operators
    )

    _precision = "float32"  # of products on a GPU
    _buffers: tuple[str, ...] = ()  # names of those parameters that training does not change
    _transient: tuple[str, ...] = ()  # names of those buffers that state_dict() leaves out
    training = False  #: networks are always evaluated

    def __init__(self) -> None:
        self._children: dict[str, Module] = {}
        self._parameters: dict[str, ndarray] = {}
        self._shared: dict[str, Any] = {}  # tensors of torch whose memory parameters use
        self._network = Network(self)

    def _set(self, name: str, value: ndarray) -> None:
        self._parameters[name] = value
        self._shared.pop(name, None)

    def _replace(self, name: str, value) -> None:
        old = self._parameters.get(name)
        kind = type(self).__name__
        if old is None:
            raise ValueError(f"nn.{kind}: this module has no {name}")
        value = value.data if isinstance(value, parameters.Parameter) else value
        if isinstance(value, (str, bytes)) or value is None:
            raise TypeError(f"nn.{kind}: {name} must be an array of shape {old.shape}, not {value!r}")
        if is_complex(value):
            raise TypeError(f"nn.{kind}: {name} must be real numbers, not complex ones")
        new = as_parameter(value, old.dtype, old.device)
        if new.shape != old.shape:
            raise ShapeError(f"nn.{kind}: {name} has shape {old.shape}, but the new one has {new.shape}")
        self._set(name, new)

    def _share(self, name: str, tensor) -> None:
        """Uses a tensor of torch as a parameter. Its version counts changes in place."""
        tensor = tensor.detach()
        array = from_dlpack(tensor)
        if array.dtype.name not in FLOATS:
            array = array.astype("float32")
        self._parameters[name] = array.view()
        self._parameters[name].flags.writeable = False
        self._shared[name] = tensor

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules of which this one consists, and their names."""
        return iter(self._children.items())

    def children(self) -> Iterator[Module]:
        """The modules of which this one consists."""
        return (child for _, child in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module, its children, theirs, and so on; the names are those of state_dict()."""
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        """This module, its children, theirs, and so on."""
        return (module for _, module in self.named_modules())

    def add_module(self, name: str, module: Module) -> None:
        """The same as assigning the module to the attribute."""
        if not isinstance(module, Module):
            raise TypeError(f"nn.Module.add_module: {name!r} is no module of iruka.nn, but {type(module).__name__}")
        setattr(self, name, module)

    register_module = add_module

    def register_buffer(self, name: str, tensor, persistent: bool = True) -> None:
        """Adds an array that parameters() lacks, as a BatchNorm's running mean. state_dict() has a persistent one."""
        setattr(self, name, parameters.Buffer(tensor, persistent))

    def _named_places(self) -> Iterator[tuple[str, Module, str]]:
        """Each parameter's and buffer's full name, the module that has it, and its name there."""
        for prefix, module in self.named_modules():
            for name in module._parameters:
                yield f"{prefix}.{name}" if prefix else name, module, name

    def _named_arrays(self, of_buffers: bool) -> Iterator[tuple[str, ndarray]]:
        for key, module, name in self._named_places():
            if of_buffers == (name in module._buffers):
                yield key, module._parameters[name]

    def named_parameters(self) -> Iterator[tuple[str, ndarray]]:
        """The name of each parameter, as in state_dict(), and its array, which cannot be written to."""
        return self._named_arrays(False)

    def parameters(self) -> Iterator[ndarray]:
        """The arrays of all parameters."""
        return (array for _, array in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, ndarray]]:
        """The same of arrays that training would not change: a BatchNorm's running mean and variance."""
        return self._named_arrays(True)

    def buffers(self) -> Iterator[ndarray]:
        """The arrays of all buffers."""
        return (array for _, array in self.named_buffers())

    def apply(self, function: Callable[[Module], Any]):
        """Calls function(module) for every module within, then for this one, which is returned."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def state_dict(self) -> dict[str, ndarray]:
        """Every parameter and persistent buffer by its name: '0.weight'. The arrays cannot be written to."""
        return {
            key: module._parameters[name] for key, module, name in self._named_places() if name not in module._transient
        }

    def load_state_dict(self, state_dict: Mapping, strict: bool = True) -> Keys:
        """Copies parameters from a mapping of names to arrays of NumPy, Iruka or torch, such as nn.load() gives.

        They are cast to the dtype and moved to the device of this module's. Unless all names and shapes fit, nothing is
        changed and a RuntimeError names all that do not; without `strict`, names may be missing and left over.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"nn.Module.load_state_dict: expected a mapping, not {type(state_dict).__name__}")
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own and not name.endswith("num_batches_tracked")]
        problems = []
        if strict and unexpected:
            problems.append("Unexpected key(s) in state_dict: " + ", ".join(f'"{name}"' for name in unexpected))
        if strict and missing:
            problems.append("Missing key(s) in state_dict: " + ", ".join(f'"{name}"' for name in missing))
        for name, array in own.items():
            shape = tuple(numpy.shape(state_dict[name])) if name in state_dict else array.shape
            if shape != array.shape:
                problems.append(
                    f"size mismatch for {name}: shape {shape} in state_dict, but {array.shape} in this module"
                )
            if name in state_dict and is_complex(state_dict[name]):
                problems.append(f"dtype mismatch for {name}: complex in state_dict, but real in this module")
        if problems:
            where = f"nn.Module.load_state_dict: errors in the state_dict for {type(self).__name__}"
            hint = parameters.hint(self, own, state_dict) if strict and (missing or unexpected) else ""
            problems += [hint] * bool(hint)
            raise RuntimeError("\n\t".join([where + ":", *(problem + "." for problem in problems)]))
        made = [
            (module, name, as_parameter(state_dict[key], own[key].dtype, own[key].device))
            for key, module, name in self._named_places()
            if key in own and key in state_dict
        ]
        for module, name, array in made:
            module._set(name, array)
        return Keys(missing, unexpected)

    def to(self, *args, device=None, dtype=None, precision: str | None = None):
        """Moves all parameters to a device and casts them to float32 or float64; returns this module.

        precision: that of float32 products and convolutions on a GPU from now on, 'float32' or 'tf32' (see nn.load).
        """
        for each in args:
            if isinstance(each, _core.Device) or (isinstance(each, (str, int)) and _is_device(each)):
                device = each
            elif isinstance(each, str) and each not in FLOATS and not _is_dtype(each):
                raise TypeError(
                    f"nn.Module.to: parameters are float32 or float64, not {each}; it is no device either, such as"
                    " 'cpu' or 'cuda:0'"
                )
            else:
                dtype = each
        if dtype is not None:
            dtype = float_dtype(dtype, "nn.Module.to")
        if precision is not None and precision not in _PRECISIONS:
            raise ValueError(f"nn.Module.to: precision must be 'float32' or 'tf32', not {precision!r}")
        place = None if device is None else _core.device(device) if isinstance(device, str) else device
        for module in self.modules():
            if precision is not None:
                module._precision = precision
            if device is None and dtype is None:
                continue
            for name, array in list(module._parameters.items()):
                kind = dtype if dtype is not None and array.dtype.name in FLOATS else array.dtype
                changed = as_parameter(array, kind, array.device if place is None else place)
                module._set(name, changed)
        return self

    def float(self):
        """to('float32')."""
        return self.to(dtype="float32")

    def double(self):
        """to('float64')."""
        return self.to(dtype="float64")

    def cpu(self):
        """to('cpu')."""
        return self.to(device="cpu")

    def cuda(self, device: int | None = None):
        """to('cuda'), or to a GPU by its number."""
        return self.to(device="cuda" if device is None else f"cuda:{device}")

    def half(self):
        """Raises TypeError: parameters are float32 or float64."""
        raise TypeError(
            f"nn.{type(self).__name__}.half: parameters are float32 or float64; on a GPU to(precision='tf32') is the"
            " fast arithmetic"
        )

    bfloat16 = half

    @property
    def precision(self) -> str:
        """That of products on a GPU, 'float32' or 'tf32'; to(precision=) changes it."""
        return self._precision

    def eval(self):
        """Returns this module, which is always evaluated."""
        return self

    def train(self, mode: bool = True):
        """train(False) is eval(). Raises NotImplementedError else: networks are trained in torch."""
        if mode:
            raise NotImplementedError(
                f"nn.{type(self).__name__}.train: networks are evaluated, not trained, here; train in torch and load"
                " the weights"
            )
        return self

    def requires_grad_(self, requires_grad: bool = True):
        """requires_grad_(False) returns this module. Raises NotImplementedError else: there are no gradients."""
        if requires_grad:
            raise NotImplementedError(f"nn.{type(self).__name__}.requires_grad_: there are no gradients here")
        return self

    def __call__(self, *args, **kwargs):
        """The network of a batch `(..., in_features)`: what forward() gives.

        A forward() of one's own gets arrays of Iruka on the device of the parameters, also where the caller has those
        of other libraries.
        """
        if type(self).forward is not Module._forward_of_kernels:
            args = tuple(self._network.converted(value) for value in args)
            kwargs = {name: self._network.converted(value) for name, value in kwargs.items()}
        elif "out" in kwargs:
            kind = type(self).__name__
            raise TypeError(f"nn.{kind}: a call takes no `out`; map(x, axis, out=out) writes to an array")
        return self.forward(*args, **kwargs)

    def forward(self, x) -> Any:
        """The network of a batch."""
        return self._network.call(x)

    _forward_of_kernels = forward  # a class whose forward is another one has its own

    def __setattr__(self, name: str, value) -> None:
        is_module, is_parameter = isinstance(value, Module), isinstance(value, parameters.Parameter)
        is_ready = "_network" in vars(self)
        if (is_module or is_parameter) and not is_ready:
            what = "modules" if is_module else "parameters"
            raise AttributeError(f"nn.{type(self).__name__}: super().__init__() comes before {what} are assigned")
        if is_ready and not isinstance(getattr(type(self), name, None), Parameter):
            if name in self._parameters and not is_module and not is_parameter and value is not None:
                return self._replace(name, value)
            was_there = self._children.pop(name, None) is not None or self._parameters.pop(name, None) is not None
            if was_there or is_module or is_parameter:
                note_new_structure()
            if is_module or is_parameter:
                vars(self).pop(name, None)
                if is_module:
                    self._children[name] = value
                else:
                    self._set(name, value.data)
                    is_buffer = isinstance(value, parameters.Buffer)
                    self._buffers = tuple({*self._buffers} - {name}) + (name,) * is_buffer
                    is_transient = is_buffer and not value.persistent
                    self._transient = tuple({*self._transient} - {name}) + (name,) * is_transient
                return
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str):
        for place in ("_children", "_parameters"):
            found = vars(self).get(place, {})
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for place in (self._children, self._parameters):
            if name in place:
                del place[name]
                return note_new_structure()
        object.__delattr__(self, name)

    def map(self, a, axis: int = -1, out: ndarray | None = None, progress=None) -> ndarray:
        """The network of each point of an array of any shape and layout, whose features lie along `axis`.

        The result has the network's outputs along that axis. out: an array of the result's shape. progress(done, all)
        is called with numbers of points after each part of them, unless there are none; what it raises ends the work.
        """
        return self._network.map(a, axis, out, progress)

    def report(self, x, axis: int = -1) -> Report | ModelReport:
        """Runs the network on `x`, twice, and says what ran where and for how long."""
        return self._network.report(x, axis)

    def as_function(self, name: str) -> DeviceFunction:
        """The network, with its weights of now, as a function that the bodies of kernels call: `name(in, out)`."""
        try:
            return DeviceFunction(name, self._network.only_perceptron("as_function"))
        except ValueError as error:
            raise renamed(error, "nn.Module.as_function") from None

    def extra_repr(self) -> str:
        """The arguments that made this module, for repr()."""
        return ""

    def __repr__(self) -> str:
        children = list(self.named_children())
        if not children:
            return f"{type(self).__name__}({self.extra_repr()})"
        lines = (f"({name}): {child!r}".replace("\n", "\n  ") for name, child in children)
        return "\n  ".join([f"{type(self).__name__}(", *lines]) + "\n)"

    def __str__(self) -> str:
        return self._network.table()

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name not in ("_network", "_shared")}

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        for name, array in self._parameters.items():
            self._parameters[name] = as_parameter(array, array.dtype, array.device)
        self._shared = {}
        self._network = Network(self)


def _is_dtype(text: str) -> bool:
    try:
        numpy.dtype(text)
    except builtins.TypeError:
        return False
    return True


def _is_device(text: builtins.str | int) -> bool:
    return isinstance(text, int) or text.split(":")[0] in ("cpu", "cuda")
