"""Networks as functions that the bodies of kernels call. Their weights are arguments that calls add by themselves."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import ElementwiseKernel, KernelReport, ndarray
from ..errors import TypeError, ValueError


class DeviceFunction:
    """A network as a function for kernels: `name(in, out)` with two local arrays, whose extents are checked when the
    kernel is compiled, or pointers, behind which nothing is.

    It is an object of the type `name_network`, so that templates in a preamble may take it as an argument. The weights
    are those of the module when the function was made.

    >>> model = iruka.nn.Sequential(iruka.nn.Linear(2, 8), iruka.nn.ReLU(), iruka.nn.Linear(8, 3))
    >>> net = model.as_function("net")
    >>> draw = net.kernel("float32 x, float32 y", "float32 red",
    ...                   "float in[] = {x, y}, out[3]; net(in, out); red = out[0];", "draw")
    >>> draw(iruka.zeros((4, 5), dtype="float32"), 1).shape
    (4, 5)
    """

    def __init__(self, name: str, perceptron) -> None:
        if not isinstance(name, str):
            raise TypeError(f"nn.DeviceFunction: the name must be a str, not {type(name).__name__}")
        self.name = name
        self.in_features: int = perceptron.in_features
        self.out_features: int = perceptron.out_features
        self.preamble, self.parameter, self.declaration, self.weights = perceptron.as_function(name)

    def on(self, device) -> ndarray:
        """The weights on a device."""
        if self.weights.device.name == device.name:
            return self.weights
        copies = vars(self).setdefault("_copies", {})
        if device.name not in copies:
            copies[device.name] = self.weights.to_device(device)
        return copies[device.name]

    def kernel(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        functions: tuple[DeviceFunction, ...] = (),
        preamble: str = "",
        **options: Any,
    ) -> FunctionKernel:
        """An ElementwiseKernel whose body calls this function, and those of other networks in `functions`."""
        is_sequence = isinstance(functions, (tuple, list))
        for other in functions if is_sequence else (functions,):
            if not is_sequence or not isinstance(other, DeviceFunction):
                hint = "; as_function() of a module or model makes them" if hasattr(other, "as_function") else ""
                raise TypeError(
                    f"nn.DeviceFunction.kernel: functions must be a tuple of DeviceFunctions, not"
                    f" {'one with a ' if is_sequence else ''}{type(other).__name__}{hint}"
                )
        return FunctionKernel((self, *functions), in_params, out_params, operation, name, preamble, options)

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "_copies"}

    def __repr__(self) -> str:
        c_type = {"float32": "float", "float64": "double"}[self.weights.dtype.name]
        return (
            f"<DeviceFunction void {self.name}(const {c_type} (&in)[{self.in_features}], "
            f"{c_type} (&out)[{self.out_features}])>"
        )


class FunctionKernel:
    """An ElementwiseKernel whose body calls networks. Calls take its own parameters; the weights are added."""

    def __init__(self, functions, in_params: str, out_params: str, operation: str, name: str, preamble: str, options):
        names = [function.name for function in functions]
        if len(set(names)) < len(names):
            raise ValueError(f"nn.DeviceFunction.kernel: two networks have the same name, among {', '.join(names)}")
        for text, what in ((in_params, "in_params"), (operation, "operation"), (preamble, "preamble")):
            if not isinstance(text, str):
                raise TypeError(f"nn.DeviceFunction.kernel: {what} must be a str, not {type(text).__name__}")
        self._made_with = (functions, in_params, out_params, operation, name, preamble, options)
        self.functions = tuple(functions)
        parameters = [in_params] if in_params.strip() else []
        parameters += [function.parameter for function in functions]
        declarations = " ".join(function.declaration for function in functions)
        self._kernel = ElementwiseKernel(
            ", ".join(parameters),
            out_params,
            declarations + ("\n" if operation.lstrip().startswith("#") else " ") + operation,
            name,
            preamble="\n".join([*(function.preamble for function in functions), preamble]),
            **options,
        )
        self.name: str = name
        self.nin: int = self._kernel.nin - len(functions)
        self._are_by_value = [parameter.extent is not None for parameter in self._kernel.in_params[self.nin :]]
        self.nout: int = self._kernel.nout
        self.operation: str = operation

    def _arguments(self, arguments: tuple) -> list:
        device = next((x.device for x in arguments if isinstance(x, ndarray)), None) or _core.default_device()
        weights = [
            function.weights if is_by_value else function.on(device)
            for function, is_by_value in zip(self.functions, self._are_by_value, strict=True)
        ]
        return [*arguments[: self.nin], *weights, *arguments[self.nin :]]

    def _check_count(self, arguments: tuple) -> None:
        if len(arguments) not in (self.nin, self.nin + self.nout):
            raise TypeError(
                f"{self.name}() takes {self.nin} inputs and optionally {self.nout} outputs, not"
                f" {len(arguments)} arguments"
            )

    def __call__(self, *args, **kwargs):
        """The same as of an ElementwiseKernel: inputs, then optionally outputs; size= where all arrays are raw."""
        self._check_count(args)
        return self._kernel(*self._arguments(args), **kwargs)

    def source(self, *args, **kwargs) -> str:
        """The C++ text made for arguments like these."""
        return self._kernel.source(*self._arguments(args), **kwargs)

    def assembly(self, *args, **kwargs) -> str:
        """The machine code for arguments like these, as text."""
        return self._kernel.assembly(*self._arguments(args), **kwargs)

    def report(self, *args, **kwargs) -> KernelReport:
        """How many elements run side by side for arguments like these, or why they do not."""
        return self._kernel.report(*self._arguments(args), **kwargs)

    def __reduce__(self):
        return FunctionKernel, self._made_with

    def __repr__(self) -> str:
        networks = ", ".join(function.name for function in self.functions)
        return f"<FunctionKernel {self.name} with {networks}>"
