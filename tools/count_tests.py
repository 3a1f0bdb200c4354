"""Adds up JUnit reports into one closing line: count_tests.py [--fault=TEXT...] REPORT...

A report that is missing or empty counts as one failure, and so does a fault, which is printed.
"""

import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    """(passed, failed, skipped) of one report."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        cases = []
    if not cases:
        return 0, 1, 0
    failed = skipped = 0
    for case in cases:
        children = {child.tag for child in case}
        if children & {"failure", "error"}:
            failed += 1
        elif "skipped" in children:
            skipped += 1
    return len(cases) - failed - skipped, failed, skipped


def main(arguments):
    faults = [argument.removeprefix("--fault=") for argument in arguments if argument.startswith("--fault=")]
    for fault in faults:
        print(f"FAILED: {fault}")
    passed, failed, skipped = (sum(column) for column in zip(*map(count, arguments[len(faults) :])))
    failed += len(faults)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
