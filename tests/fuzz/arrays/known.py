"""Where Iruka's answer is known to differ from NumPy's: known_differences.txt, whose lines have reasons."""

import functools
import pathlib
import re

import cases

FILE = pathlib.Path(__file__).with_name("known_differences.txt")


@functools.lru_cache
def rows():
    """(pattern of names, pattern of kinds, pattern of the message and, behind it, the program; reason)."""
    found = []
    for number, line in enumerate(FILE.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 4 or not parts[3]:
            raise ValueError(f"{FILE.name}, line {number}: 'names | kinds | words | reason' is wanted")
        found.append((*(re.compile(part) for part in parts[:3]), parts[3]))
    return found


def is_fault(why):
    """Whether a reason is that nobody has mended it yet."""
    return why.startswith("FAULT: ")


def reason(name, kind, words, case=None):
    """The documented reason for a finding, or None."""
    if case is not None:
        words = f"{words}\n{cases.source(case)}"
    for names, kinds, texts, why in rows():
        if names.fullmatch(name) and kinds.fullmatch(kind) and texts.search(words):
            return why
    return None
