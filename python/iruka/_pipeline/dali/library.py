"""All operators: importing this module declares them."""

from __future__ import annotations

from . import colors, decoders, geometry, randoms, readers, values  # noqa: F401
from .external import external_source
from .operators import OPERATORS

__all__ = ["OPERATORS", "external_source"]
