"""Trained networks: reading files of weights and models, and modules under torch's names that become one kernel.

No file is executed: a pickle is read as data.
"""

from __future__ import annotations

import difflib
import os

from . import _core
from ._core import Device
from ._nn.activation_layers import (
    CELU,
    GLU,
    Hardshrink,
    LogSigmoid,
    RReLU,
    Softmax2d,
    Softmin,
    Softshrink,
    Tanhshrink,
    Threshold,
)
from ._nn.containers import (
    ModuleDict,
    ModuleList,
)
from ._nn.from_torch import from_torch
from ._nn.functions import DeviceFunction, FunctionKernel
from ._nn.graph_layers import (
    SELU,
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    Embedding,
    Flatten,
    GroupNorm,
    Hardsigmoid,
    Hardtanh,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LogSoftmax,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    Mish,
    PixelShuffle,
    ReLU6,
    RMSNorm,
    Softsign,
    Upsample,
)
from ._nn.layers import (
    ELU,
    GELU,
    Dropout,
    Hardswish,
    Identity,
    LeakyReLU,
    Linear,
    PReLU,
    ReLU,
    Sequential,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from ._nn.model import Model, ModelReport
from ._nn.module import Module
from ._nn.network import Report
from ._nn.parameters import Buffer, Parameter
from ._nn.sequence_layers import GRU, LSTM, RNN, MultiheadAttention
from ._nn.shape_layers import (
    AlphaDropout,
    ChannelShuffle,
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
    PixelUnshuffle,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    Unflatten,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from ._public_names import dir_of as _dir_of

__all__ = [
    "Buffer",
    "AlphaDropout",
    "CELU",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
    "GLU",
    "Hardshrink",
    "LogSigmoid",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "PixelUnshuffle",
    "RReLU",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Softmax2d",
    "Softmin",
    "Softshrink",
    "Tanhshrink",
    "Threshold",
    "Unflatten",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "Hardsigmoid",
    "Hardtanh",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LogSoftmax",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "Mish",
    "PixelShuffle",
    "RMSNorm",
    "ReLU6",
    "SELU",
    "Softsign",
    "Upsample",
    "GRU",
    "LSTM",
    "RNN",
    "MultiheadAttention",
    "ELU",
    "GELU",
    "DeviceFunction",
    "Dropout",
    "FunctionKernel",
    "Hardswish",
    "Identity",
    "LeakyReLU",
    "Linear",
    "Model",
    "ModelReport",
    "Module",
    "PReLU",
    "ReLU",
    "Report",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "from_torch",
    "load",
]

_files = _core._nn


def load(source, device: Device | str | int | None = None, precision: str = "float32"):
    """Reads a file: a model of `.onnx` or `.pt2`, or the weights of `.safetensors`, `.pt` and `.pth` of torch.save().

    source: a path, where `~` is the home folder, the file's bytes, or a file opened in binary mode, which is read to
    its end. The content decides which format it is. A `.safetensors` file gives a dict from name to array. A file of
    torch gives what torch.save() was given: a dict from name to array for a state_dict, else the dicts, lists, tuples,
    numbers and texts around it. An ONNX model and a program of torch.export.save() give a Model, which is called with
    arrays. Arrays and models are on `device`, by default the default one; arrays that shared memory in torch still do.

    precision: 'float32', or 'tf32', which lets a GPU round the factors of a model's float32 products and convolutions
    to 10 bits of mantissa. It is faster, with errors of about 1e-3, and changes nothing on a CPU. Files of weights have
    none: modules take it by to(precision=).

    Raises OSError for a file that cannot be read; ValueError for one that is damaged, has another format, or holds more
    than tensors, containers, numbers and texts, such as a whole module or a call of os.system, and for a model with
    operators that Iruka lacks, all of which the message names.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.path.expanduser(source)
        return _made(_files.load_file(os.fsencode(path), device, precision), precision)
    name, path = "the bytes", b""
    if hasattr(source, "read"):
        name, path, source = _read(source)
    if isinstance(source, str):
        raise TypeError("nn.load: the file was opened in text mode; open it with mode 'rb'")
    if hasattr(source, "SerializeToString"):
        raise TypeError(f"nn.load: of a {type(source).__name__} it takes the bytes, SerializeToString()")
    if not isinstance(source, (bytes, bytearray, memoryview)):
        raise TypeError(f"nn.load: a source is a path, bytes or a binary file, not {type(source).__name__}")
    return _made(_files.load_bytes(source, device, precision, name, path), precision)


def _read(file):
    """What messages call a file, its path where there is one, and what is left to read of it."""
    path = getattr(file, "name", None)
    path = os.fsdecode(path) if isinstance(path, (str, bytes)) and os.path.isfile(path) else ""
    name = f"'{path}'" if path else "the file"
    content = file.read()
    if isinstance(content, bytes) and not content and hasattr(file, "tell") and file.tell() > 0:
        raise ValueError(f"nn.load: {name}: nothing is left to read: the file is at its end; file.seek(0) goes back")
    return name, os.fsencode(path), content


# What stands in the place of torch.nn's names that are no modules here.
_INSTEAD = {
    "functional": "layers are modules: nn.ReLU()(x), nn.Softmax(1)(x); arrays have iruka.maximum, iruka.exp and so on",
    "LocalResponseNorm": "load the network as ONNX (operator LRN)",
    "Unfold": "use nn.Conv2d, or iruka.lib.stride_tricks.sliding_window_view",
    "Fold": "use nn.ConvTranspose2d",
    "RNNCell": "call nn.RNN with sequences of length 1",
    "GRUCell": "call nn.GRU with sequences of length 1",
    "LSTMCell": "call nn.LSTM with sequences of length 1",
    "Bilinear": "use iruka.einsum, or load the network as ONNX",
    "UninitializedParameter": "give the shape",
    "ParameterList": "assign each nn.Parameter to an attribute",
    "ParameterDict": "assign each nn.Parameter to an attribute",
    "SyncBatchNorm": "use nn.BatchNorm2d, which evaluates the same",
    "DataParallel": "networks run on one device; its weights have the prefix 'module.'",
    "save": "weights are saved by safetensors.numpy.save_file({name: array.get() for name, array in"
    " module.state_dict().items()}, path)",
    "init": "new layers have torch's random weights; assign arrays: module.weight = array",
    "utils": "load the network as ONNX, with norms of weights and the like written out",
}


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(f"module 'iruka.nn' has no attribute {name!r}")
    instead = _INSTEAD.get(name, "")
    if not instead and name.startswith(("Transformer", "Adaptive", "Lazy", "Fractional", "LPPool", "MaxUnpool")):
        instead = "load the network with nn.load(), from ONNX or torch.export"
    if not instead and name.endswith("Loss"):
        instead = "networks are evaluated here, not trained"
    if not instead:
        names = {each.lower(): each for each in __all__}
        near = difflib.get_close_matches(name.lower(), names, 1)
        instead = f"did you mean {names[near[0]]!r}?" if near else "nn.load() takes networks of ONNX and torch.export"
    raise AttributeError(f"module 'iruka.nn' has no attribute {name!r}: {instead}")


def _made(content, precision: str):
    if isinstance(content, _files.Model):
        return Model(content)
    if precision != "float32":
        raise ValueError(
            f"nn.load: a file of weights has no precision, but {precision!r} is asked for; module.to(precision=...) is"
            " that of a network"
        )
    return content


__dir__ = _dir_of(globals())
