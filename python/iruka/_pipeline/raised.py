"""Errors of functions that the library's threads call."""

from __future__ import annotations

import os
import traceback

from ..errors import Error

_LIBRARY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def without_frames(error: BaseException) -> None:
    """Lets go of the frames that raised an error, and of the arrays in them: a report may keep the error for long.
    Where it was raised becomes a note, from the first frame on that is not the library's."""
    frames = traceback.extract_tb(error.__traceback__)
    least = 0 if isinstance(error, Error) else 1  # the library's own errors say all in their message
    while len(frames) > least and frames[0].filename.startswith(_LIBRARY):  # how the library came to the user's code
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
