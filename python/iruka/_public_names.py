"""What dir() of a module shows."""

from __future__ import annotations

import types
from collections.abc import Callable

_FOREIGN = ("__future__", "collections.abc", "typing")


def _is_foreign(value) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] != "iruka"
    return getattr(value, "__module__", None) in _FOREIGN or type(value).__module__ == "__future__"


def dir_of(module: dict) -> Callable[[], list[str]]:
    """A module's `__dir__`: its names, without what it imports for itself."""

    def __dir__():
        return sorted(name for name, value in module.items() if name.startswith("_") or not _is_foreign(value))

    return __dir__
