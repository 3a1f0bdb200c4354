"""Runs the rows of hostile_functions.py and hostile_texts.py, one after the other: a line of JSON for each.

The line is written before the row runs and ended after it, so that the last one names the row that killed the process.
"""

import json
import signal
import sys
import time
import warnings

import hostile_texts  # noqa: F401 the rows behind those of hostile_functions
from hostile_functions import ROWS, RUNS


def outcome(call, expected, words):
    """What is wrong with a row, or an empty text."""
    try:
        call()
        happened, message = RUNS, ""
    except BaseException as error:
        happened, message = type(error), str(error)
    classes = expected if isinstance(expected, tuple) else (expected,)
    if happened is RUNS:
        return "" if RUNS in classes else "it ran"
    if not issubclass(happened, tuple(each for each in classes if each is not RUNS)):
        return f"{happened.__name__}: {message[:500]}"
    if words not in message:
        return f"{happened.__name__} without {words!r}: {message[:500]}"
    return "" if message or happened is SystemExit else f"{happened.__name__} without a message"


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
    warnings.simplefilter("ignore")
    only = sys.argv[1:] or [""]
    for name, call, expected, words in ROWS:
        if not any(name.startswith(text) for text in only):
            continue
        sys.stdout.write(json.dumps(name) + "\t")
        sys.stdout.flush()
        start = time.monotonic()
        found = outcome(call, expected, words)
        print(json.dumps([found, round(time.monotonic() - start, 2)]), flush=True)


if __name__ == "__main__":
    main()
