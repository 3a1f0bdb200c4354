"""DALI's operators as functions of DataNodes: fn.resize(pictures, resize_x=240, resize_y=240). Those of readers,
decoders and random numbers are in fn.readers, fn.decoders and fn.random; fn.math has functions of numbers."""

from __future__ import annotations

from ._pipeline.dali import arithmetic as _arithmetic
from ._pipeline.dali.alternatives import FORMER as _FORMER, Namespace as _Namespace, missing as _missing, parts_of
from ._pipeline.dali.library import OPERATORS as _OPERATORS, external_source as external_source
from ._public_names import dir_of as _dir_of

_parts = parts_of(_OPERATORS)
for _part, _names in _parts.items():
    _members = {_name: _OPERATORS[f"{_part}.{_name}" if _part else _name] for _name in _names}
    globals().update({_part: _Namespace(__name__, _part, _members)} if _part else _members)
globals().update({_name: _OPERATORS[_now] for _name, _now in _FORMER.items()})

math = _Namespace(
    __name__,
    "math",
    {
        **{_name: _arithmetic.float_function(_name) for _name in _arithmetic.FLOAT_FUNCTIONS},
        "abs": _arithmetic.absolute,
        "min": _arithmetic.minimum,
        "max": _arithmetic.maximum,
        "clamp": _arithmetic.clamp,
        "pow": _arithmetic.power,
        "fpow": _arithmetic.float_power,
        "atan2": _arithmetic.arctan2,
    },
)
del parts_of


def __getattr__(name: str):
    if name in ("noise", "reductions", "transforms", "segmentation", "experimental", "io"):
        return _Namespace(__name__, name, {})
    raise _missing(__name__, name, name)


__dir__ = _dir_of(globals())
