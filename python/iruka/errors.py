"""The errors Iruka raises. Each is also the built-in exception that a NumPy or CuPy user expects."""

import builtins

from numpy.linalg import LinAlgError as _NumpyLinAlgError
from numpy.exceptions import AxisError as _NumpyAxisError


class Error(Exception):
    """Root of every error; the message names the function, the rule and the actual values."""


class ValueError(Error, builtins.ValueError):
    """A value that no array or kernel could have."""


class ShapeError(ValueError):
    """Shapes, strides or sizes that do not go together."""


class LinAlgError(ValueError, _NumpyLinAlgError):
    """A singular or indefinite matrix, or an iteration that did not converge."""


class TypeError(Error, builtins.TypeError):
    """A dtype, or a kind of argument, that does not fit."""


class IndexError(Error, builtins.IndexError):
    """An index or axis outside its bounds."""


class AxisError(IndexError, ValueError, _NumpyAxisError):
    """An axis that an array does not have."""


class OverflowError(Error, builtins.OverflowError):
    """An integer that its dtype cannot hold."""


class ZeroDivisionError(Error, builtins.ZeroDivisionError):
    """A step of 0, by which a range would be divided."""


class CompileError(Error, RuntimeError):
    """A body that is not C++; the message shows the line with a caret."""


class KernelWarning(builtins.UserWarning):
    """A kernel's text that is C++ and hardly what was meant: an output that is never written, `z == x;`, `a[y, x]`."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class DeviceError(Error, RuntimeError):
    """A device that refused a call."""


class OutOfMemoryError(DeviceError, MemoryError):
    """A pool that has no room; requested, used and limit stand in the message."""
