"""CUDA devices. This build has none: every call says so."""

from ._core import device as _device
from .errors import DeviceError


def is_available() -> bool:
    """Whether a CUDA device can be used."""
    try:
        _device("cuda:0")
    except DeviceError:
        return False
    return True


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module 'iruka.cuda' has no attribute {name!r}")
    raise DeviceError(
        f"iruka.cuda.{name}: this build of Iruka has no CUDA device; arrays and kernels run on the CPU "
        "(iruka.device('cpu'))"
    )
