"""The errors Iruka raises. Each is also the built-in exception that a NumPy or CuPy user expects."""

import builtins
import os
import re
import sys

from numpy.exceptions import AxisError as _NumpyAxisError
from numpy.linalg import LinAlgError as _NumpyLinAlgError

from ._public_names import dir_of as _dir_of

_PACKAGE = os.path.dirname(__file__) + os.sep


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
    """An axis that an array does not have; `axis` and `ndim` say which and how many there are."""


class OverflowError(Error, builtins.OverflowError):
    """An integer that its dtype cannot hold."""


class ZeroDivisionError(Error, builtins.ZeroDivisionError):
    """A step of 0, by which a range would be divided."""


class CompileError(Error, RuntimeError):
    """A body that is not C++; the message shows the line with a caret."""


class TranslationError(CompileError):
    """A Python function of which no kernel can be made; the message shows its line with a caret."""


class KernelWarning(builtins.UserWarning):
    """A kernel's text that is C++ and hardly what was meant: an output that is never written, `z == x;`, `a[y, x]`."""


class FileError(Error, OSError):
    """A file that cannot be read or written; `errno`, `strerror` and `filename` are what the system says of it."""

    def __str__(self) -> str:
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()

    def __reduce__(self):
        if len(self.args) != 1 or self.errno is None:
            return super().__reduce__()
        return _file_error, (self.args[0], self.errno, self.filename)


class FileNotFoundError(FileError, builtins.FileNotFoundError):
    """A file or folder that does not exist."""


class PermissionError(FileError, builtins.PermissionError):
    """A file that may not be read or written."""


class IsADirectoryError(FileError, builtins.IsADirectoryError):
    """A folder in the place of a file."""


class NotADirectoryError(FileError, builtins.NotADirectoryError):
    """A file in the place of a folder."""


class DeviceError(Error, RuntimeError):
    """A device that refused a call."""


class OutOfMemoryError(DeviceError, MemoryError):
    """A pool has no memory left; the message has the requested size, the used size and the limit."""


def _file_error(message: str, number: int, path: str) -> FileError:
    """The error of errno's number, whose class is also the one that Python has for it."""
    kinds = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
    own = type(OSError(number, ""))
    error = next((kind for kind in kinds if own is not OSError and issubclass(kind, own)), FileError)(message)
    error.errno, error.strerror, error.filename = number, os.strerror(number), path
    return error


def _package_frames(frame):
    """A frame and its callers, as far as they are of this package."""
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        yield frame
        frame = frame.f_back


def _axis_error(axis: int, ndim: int, function: str) -> AxisError:
    """The error of an axis out of bounds. It names the function that the user called: `function`, or one around it."""
    names = [frame.f_code.co_name for frame in _package_frames(sys._getframe(1))]
    public = [name for name in names if name[0] not in "_<"]
    return AxisError(axis, ndim, public[-1] if public else function)


def _argument_error(function, message: str, positional: list, keywords: dict) -> TypeError:
    """The TypeError for a wrong call of a function of the core, worded as Python words a wrong number or name.

    `message` lists the types that the function takes, for arguments of other types.
    """
    name = function.__name__
    owner = positional[0] if positional else None
    if name == "__call__":
        name = getattr(owner, "__name__", name)
    elif name == "__init__" and type(owner).__module__.startswith("iruka"):
        name = type(owner).__name__
    for signature, *_ in function.__nb_signature__:
        definition = re.sub(r"\\\d+", "...", signature.rpartition("\n")[2])
        scope: dict = {}
        exec(f"from __future__ import annotations\n{definition}: pass", scope)
        stand_in = scope[function.__name__]
        stand_in.__qualname__ = name
        try:
            stand_in(*positional, **keywords)
        except builtins.TypeError as error:
            message = str(error)
    return TypeError(message.replace(f"{function.__name__}()", f"{name}()", 1))


__dir__ = _dir_of(globals())
