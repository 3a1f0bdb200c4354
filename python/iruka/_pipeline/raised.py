"""Errors of functions that the library's threads call."""

from __future__ import annotations

import os
import traceback

_LIBRARY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def without_frames(error: BaseException) -> None:
    """Lets go of the frames that raised an error, and of the arrays in them: a report may keep the error for long.
    Where it was raised becomes a note, from the first frame on that is not the library's."""
    frames = traceback.extract_tb(error.__traceback__)
    while len(frames) > 1 and frames[0].filename.startswith(_LIBRARY):  # how the library came to the user's code
        del frames[0]
    places = "".join(traceback.format_list(frames)).rstrip()
    known: set[int] = set()
    part: BaseException | None = error
    while part is not None and id(part) not in known:
        known.add(id(part))
        part.__traceback__ = None
        part = part.__cause__ or part.__context__
    if places:
        error.add_note("Raised on a thread of the library:\n" + places)
