"""Errors of functions that the library's threads call."""

from __future__ import annotations

import traceback


def without_frames(error: BaseException) -> None:
    """Lets go of the frames that raised an error, and of the arrays in them: a report may keep the error for long. Where
    it was raised becomes a note."""
    places = "".join(traceback.format_tb(error.__traceback__)).rstrip()
    known: set[int] = set()
    part: BaseException | None = error
    while part is not None and id(part) not in known:
        known.add(id(part))
        part.__traceback__ = None
        part = part.__cause__ or part.__context__
    if places:
        error.add_note("Raised on a thread of the library:\n" + places)
