"""The enumerations and constants of DALI's `types`."""

from __future__ import annotations

import builtins
import dataclasses
import enum

import numpy as _np

from ...errors import Error, TypeError, ValueError


class UnsupportedError(Error, NotImplementedError):
    """Something that DALI has and Iruka has not; the message says what to use instead."""


class DALIDataType(enum.IntEnum):
    """Dtypes by DALI's names and numbers."""

    NO_TYPE = -1
    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11


class DALIImageType(enum.IntEnum):
    """The channels of a picture."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class DALIInterpType(enum.IntEnum):
    """How pixels are interpolated."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


class PipelineAPIType(enum.Enum):
    """Which calls a pipeline is run by."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


CPU_ONLY_DEVICE_ID = -99999
NCHW, NHWC, NFHWC, NFCHW, SAME = "CHW", "HWC", "FHWC", "FCHW", ""  # of samples: the batch has no letter

_NUMPY_NAMES = {
    DALIDataType.UINT8: "uint8",
    DALIDataType.UINT16: "uint16",
    DALIDataType.UINT32: "uint32",
    DALIDataType.UINT64: "uint64",
    DALIDataType.INT8: "int8",
    DALIDataType.INT16: "int16",
    DALIDataType.INT32: "int32",
    DALIDataType.INT64: "int64",
    DALIDataType.FLOAT16: "float16",
    DALIDataType.FLOAT: "float32",
    DALIDataType.FLOAT64: "float64",
    DALIDataType.BOOL: "bool",
}
_DALI_TYPES = {_np.dtype(name): kind for kind, name in _NUMPY_NAMES.items()}


def to_numpy_type(dtype) -> type:
    """NumPy's type of a DALIDataType. Raises TypeError for another object."""
    try:
        return _np.dtype(_NUMPY_NAMES[DALIDataType(dtype)]).type
    except (KeyError, builtins.ValueError):
        raise TypeError(f"types: expected a DALIDataType of numbers, not {dtype!r}") from None


def to_dali_type(dtype) -> DALIDataType:
    """The DALIDataType of a NumPy dtype or its name. Raises TypeError for others."""
    found = _DALI_TYPES.get(_np.dtype(dtype))
    if found is None:
        raise TypeError(f"types: DALI has no dtype {dtype!r}")
    return found


def dtype_of(given, function: str) -> _np.dtype | None:
    """A dtype given by DALI's or NumPy's name; None for None and NO_TYPE."""
    if given is None or given == DALIDataType.NO_TYPE:
        return None
    if isinstance(given, DALIDataType):
        return _np.dtype(_NUMPY_NAMES[given])
    try:
        return _np.dtype(given)
    except Exception:
        raise TypeError(f"{function}: dtype is a name of iruka.types, such as types.FLOAT, not {given!r}") from None


@dataclasses.dataclass
class SampleInfo:
    """What a per-sample source is called with."""

    idx_in_epoch: int
    idx_in_batch: int
    iteration: int
    epoch_idx: int


@dataclasses.dataclass
class BatchInfo:
    """What a per-batch source with batch_info=True is called with."""

    iteration: int
    epoch_idx: int


def check_choice(function: str, name: str, given, choices) -> None:
    """Raises ValueError for a word that is none of `choices`."""
    if given not in choices:
        raise ValueError(f"{function}: {name} is one of {', '.join(map(repr, choices))}, not {given!r}")
