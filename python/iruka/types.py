"""The enumerations and constants of DALI's `types`: dtypes (UINT8, FLOAT, ...), channels (RGB, GRAY, ...),
interpolations (INTERP_LINEAR, ...), layouts and Constant."""

from __future__ import annotations

import difflib as _difflib

from ._pipeline.dali.nodes import ScalarConstant as ScalarConstant
from ._pipeline.dali.types import (
    CPU_ONLY_DEVICE_ID as CPU_ONLY_DEVICE_ID,
    NCHW as NCHW,
    NFCHW as NFCHW,
    NFHWC as NFHWC,
    NHWC as NHWC,
    SAME as SAME,
    BatchInfo as BatchInfo,
    DALIDataType as DALIDataType,
    DALIImageType as DALIImageType,
    DALIInterpType as DALIInterpType,
    PipelineAPIType as PipelineAPIType,
    SampleInfo as SampleInfo,
    to_dali_type as to_dali_type,
    to_numpy_type as to_numpy_type,
)
from ._pipeline.dali.values import Constant as Constant
from ._public_names import dir_of as _dir_of

NO_TYPE = DALIDataType.NO_TYPE
UINT8, UINT16 = DALIDataType.UINT8, DALIDataType.UINT16
UINT32, UINT64 = DALIDataType.UINT32, DALIDataType.UINT64
INT8, INT16 = DALIDataType.INT8, DALIDataType.INT16
INT32, INT64 = DALIDataType.INT32, DALIDataType.INT64
FLOAT16, FLOAT, FLOAT64 = DALIDataType.FLOAT16, DALIDataType.FLOAT, DALIDataType.FLOAT64
BOOL = DALIDataType.BOOL

RGB, BGR, GRAY = DALIImageType.RGB, DALIImageType.BGR, DALIImageType.GRAY
YCbCr, ANY_DATA = DALIImageType.YCbCr, DALIImageType.ANY_DATA

INTERP_NN, INTERP_LINEAR = DALIInterpType.INTERP_NN, DALIInterpType.INTERP_LINEAR
INTERP_CUBIC, INTERP_LANCZOS3 = DALIInterpType.INTERP_CUBIC, DALIInterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR, INTERP_GAUSSIAN = DALIInterpType.INTERP_TRIANGULAR, DALIInterpType.INTERP_GAUSSIAN


def __getattr__(name: str):
    near = _difflib.get_close_matches(name, globals(), 1)
    advice = f"did you mean {near[0]!r}?" if near else "see docs/coming_from_dali.md for what is there"
    raise AttributeError(f"iruka.types has no {name!r}: {advice}")


__dir__ = _dir_of(globals())
