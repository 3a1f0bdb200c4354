"""Compares Iruka's array functions with NumPy's on random calls: python tests/fuzz/arrays --seconds 60.

A finding is printed once for each function and kind, with a program that shows it. Crashes, hangs and wrong values,
shapes and dtypes fail (exit code 1); what one library refuses and the other takes, and floating-point errors that one
alone tells of, are listed, unless known_differences.txt has it. --case FUNCTION:NUMBER runs one case again.
"""

import argparse
import collections
import fnmatch
import json
import multiprocessing
import os
import random
import re
import select
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compare
import known

CASES_PER_PROCESS = 20_000
RESIDENT_LIMIT = 5 << 30


def arguments():
    parser = argparse.ArgumentParser(prog="tests/fuzz/arrays", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=None, help="of the choice of cases (default: a new one)")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, default=0, help="end after so many cases")
    parser.add_argument("--only", default="*", help="functions: names or patterns, separated by commas")
    parser.add_argument("--case", help="one case, as a finding names it")
    parser.add_argument("--timeout", type=float, default=120, help="seconds after which a case hangs")
    parser.add_argument(
        "--strict", action="store_true", help="undocumented differences in what is accepted fail as well"
    )
    parser.add_argument("--quiet", action="store_true", help="no programs for what does not fail")
    parser.add_argument("--fail-on", default=",".join(compare.FAILING), help="kinds of findings that fail the run")
    parser.add_argument("--junitxml", help="a report for tools/count_tests.py")
    parser.add_argument("--coverage", action="store_true", help="print the public names that no row covers, and end")
    return parser.parse_args()


def identities(seed, names, first, count):
    """(index, name, number) of the cases of a run: each follows from the seed and its index alone."""
    index = first
    while not count or index < count:
        choice = random.Random(f"{seed}:{index}")
        yield index, (choice.choice(names), choice.getrandbits(32))
        index += 1


def child(writer, slot, seed, names, first, count):
    import worker

    def tell(line):
        data = (line + "\n").encode()
        while data:
            data = data[os.write(writer, data) :]

    def bounded():
        for done, item in enumerate(identities(seed, names, first, count)):
            if done >= CASES_PER_PROCESS or done % 256 == 255 and resident() > RESIDENT_LIMIT:
                slot[3] = item[0]
                return
            yield item

    worker.run(bounded(), tell, slot)
    os._exit(0)  # what a process does at its end has tests of its own


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Campaign:
    """The parent: starts children, notes what they find and how they end."""

    def __init__(self, options, names):
        self.options, self.names = options, names
        self.counts, self.known, self.groups = collections.Counter(), collections.Counter(), {}
        self.cases = 0

    def run(self):
        end, first = time.monotonic() + self.options.seconds, 0
        while first >= 0 and time.monotonic() < end:
            first = self.one_child(first, end)
        return self.counts

    def one_child(self, first, end):
        """Runs a child from case `first` on; the index of the case to go on with, or -1."""
        reader, writer = os.pipe()
        slot = multiprocessing.Array("q", [first, int(time.time()), 0, -1, 0, 0], lock=False)
        process = multiprocessing.get_context("fork").Process(
            target=child, args=(writer, slot, self.options.seed, self.names, first, self.options.count))  # fmt: skip
        process.start()
        os.close(writer)
        rest, hung = b"", False
        while True:
            ready, _, _ = select.select([reader], [], [], 0.5)
            data = os.read(reader, 1 << 16) if ready else None
            if data == b"":
                break
            lines = (rest + (data or b"")).split(b"\n")
            rest = lines.pop()
            for line in lines:
                self.note(json.loads(line))
            if time.time() - slot[1] > self.options.timeout * (2 if slot[2] else 1):
                hung = True
            if hung or time.monotonic() > end:
                process.kill()
                break
        process.join()
        os.close(reader)
        index = slot[0]
        self.cases += slot[4]
        if index < 0 and process.exitcode == 0:
            return slot[3]
        if not hung and time.monotonic() > end and process.exitcode == -signal.SIGKILL:
            return -1
        choice = next(identities(self.options.seed, self.names, index, 0))[1]
        words = f"no answer in {self.options.timeout:g} s" if hung else death(process.exitcode)
        self.note({"case": f"{choice[0]}:{choice[1]}", "kind": "hang" if hung else "crash", "words": words,
                   "reason": "NumPy itself crashes or hangs" if slot[5] else "",
                   "program": program_of(choice)})  # fmt: skip
        return index + 1

    def note(self, finding):
        name, kind = finding["case"].split(":")[0], finding["kind"]
        if finding["reason"]:
            self.known[finding["reason"]] += 1
            return
        self.counts[kind] += 1
        group = (kind, name if kind in compare.FAILING else alike(finding["words"], name))
        self.groups.setdefault(group, collections.Counter())[name] += 1
        if self.groups[group].total() > 2:
            return
        print(f"{kind.upper()} {finding['case']}: {finding['words']}")
        if finding["program"] and (kind in compare.FAILING or not self.options.quiet):
            print("    " + finding["program"].replace("\n", "\n    "))
        sys.stdout.flush()

    def overview(self):
        """What both libraries take or refuse otherwise: a line for each message."""
        for (kind, words), names in sorted(self.groups.items(), key=lambda item: -item[1].total()):
            if kind not in compare.FAILING:
                some = ", ".join(name for name, _ in names.most_common(6)) + (", ..." if len(names) > 6 else "")
                print(f"{kind} ({names.total()}): {words:.160} [{some}]")


def alike(words, name):
    """A message without what differs from case to case."""
    parts = sorted({name, *name.split(".")}, key=len, reverse=True)
    words = re.sub(r"\b(" + "|".join(map(re.escape, parts)) + r")\b", "~", words)
    return re.sub(r"(dtype\('\w+'\)|'\w+'|-?\d[\d.e+-]*|\b(u?int|float|complex|bool)\d*\b)", "#", words)


def death(code):
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def program_of(choice):
    """The program of a case, made in a process of its own: making it may have been what failed."""
    import cases
    import table

    try:
        return cases.source(table.case_of(*choice), ":".join(map(str, choice)))
    except Exception as error:
        return f"# the case cannot be made: {error}"


def replay(identity):
    import numpy

    import cases
    import table
    import worker

    name, number = identity.rsplit(":", 1)
    case = table.case_of(name, int(number))
    print(cases.source(case, identity))
    sys.stdout.flush()
    numpy.seterr(all="ignore")
    found = worker.examine(case)
    print(f"{found[0]}: {found[1]}" if found else "no difference")
    why = found and known.reason(name, *found, case)
    if why:
        print(f"known: {why}")
    return 1 if found and not why and found[0] in compare.FAILING else 0


def report(path, failed, words):
    from xml.sax.saxutils import escape

    body = f"<failure>{escape(words)}</failure>" if failed else ""
    with open(path, "w") as file:
        file.write(f'<testsuite><testcase name="array functions beside NumPy">{body}</testcase></testsuite>\n')


def main():
    options = arguments()
    import table

    if options.coverage:
        missing = table.missing_names()
        print("\n".join(missing))
        return 1 if missing else 0
    if options.case:
        return replay(options.case)
    patterns = options.only.split(",")
    names = [name for name in table.ROWS if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    if not names:
        print(f"no function matches {options.only!r}")
        return 2
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {options.seed}, {len(names)} functions, {options.seconds:g} s")
    campaign = Campaign(options, names)
    started = time.monotonic()
    campaign.run()
    failing = sum(count for kind, count in campaign.counts.items() if kind in compare.FAILING)
    listed = sum(campaign.counts.values()) - failing
    campaign.overview()
    for reason, count in campaign.known.most_common():
        print(f"known ({count}): {reason}")
    words = ", ".join(f"{count} {kind}" for kind, count in sorted(campaign.counts.items())) or "no finding"
    fatal = sum(campaign.counts[kind] for kind in options.fail_on.split(","))
    failed = fatal or options.strict and listed
    if options.junitxml:
        report(options.junitxml, failed, f"seed {options.seed}: {words}")
    faults = sum(count for reason, count in campaign.known.items() if known.is_fault(reason))
    print(f"seed {options.seed}: {campaign.cases} cases in {time.monotonic() - started:.0f} s: {words}; "
          f"{campaign.known.total() - faults} documented, {faults} of known faults")  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
