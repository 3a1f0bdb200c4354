"""DALI's operators as classes: ops.Resize(device="gpu", resize_x=240, resize_y=240)(pictures). Those of readers,
decoders and random numbers are in ops.readers, ops.decoders and ops.random, or by their former names."""

from __future__ import annotations

from ._pipeline.dali.alternatives import (
    FORMER as _FORMER,
    Namespace as _Namespace,
    camel as _camel,
    missing as _missing,
    parts_of,
    snake as _snake,
)
from ._pipeline.dali.classes import ExternalSource as ExternalSource, class_of as _class_of
from ._pipeline.dali.library import OPERATORS as _OPERATORS
from ._public_names import dir_of as _dir_of

_parts = parts_of(_OPERATORS)
for _part, _names in _parts.items():
    _members = {_camel(_name): _class_of(f"{_part}.{_name}" if _part else _name) for _name in _names}
    globals().update({_part: _Namespace(__name__, _part, _members)} if _part else _members)
globals().update({_camel(_name): _class_of(_now) for _name, _now in _FORMER.items()})
del parts_of


def __getattr__(name: str):
    if name in ("noise", "reductions", "transforms", "segmentation", "experimental", "io"):
        return _Namespace(__name__, name, {})
    raise _missing(__name__, name, _snake(name))


__dir__ = _dir_of(globals())
