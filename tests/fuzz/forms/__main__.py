"""Writes kernels of every form, sound ones and hostile ones: python tests/fuzz/forms --seconds 60 [--seed N].

Python functions for vectorize, guvectorize, jit.rawkernel, fuse, apply_along_axis and frompyfunc, C++ for RawKernel,
ElementwiseKernel and ReductionKernel. Results of sound texts are compared with Python's or NumPy's; changed texts and
wild launches run or raise a documented exception. Some cases run in several threads, some are interrupted. The cases
run in a child process, so that a crash or a hang is a finding with its seed. The exit code is 1 after a finding.
--case SEED:NUMBER runs one case again and prints it; --only FORM... chooses forms.
"""

import argparse
import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings

CASES_PER_PROCESS = 500
PATIENCE = 15  # seconds after which a case is interrupted; a changed text may loop without end
LAST = 75  # seconds after which the interruption itself has failed


# What a sound function may have: types that meet, which its writer does not follow, what only Python computes, and
# shuffles beside a local array that a name and another array share.
REFUSALS = ("elements of one type", "sides need one type", "elsewhere; use two names", "do not count from the end",
            "does not fit any number", "need lanes on the CPU")  # fmt: skip


def findings_of(error, form, is_hostile, is_interrupted):
    """What is wrong with an exception, or an empty text."""
    from writers import PYTHON_FORMS, Mismatch, Skipped

    import iruka

    if isinstance(error, Skipped) or (isinstance(error, KeyboardInterrupt) and is_interrupted):
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    words = f"{type(error).__name__}: {error}"
    if isinstance(error, Mismatch):
        return words
    is_own = any(frame.filename.startswith("<fuzz") for frame in frames) or "/iruka/" not in frames[-1].filename
    is_known = isinstance(error, iruka.errors.CompileError) and any(each in str(error) for each in REFUSALS)
    if not is_hostile:
        if is_known:
            return ""
        return words + "\n" + "".join(traceback.format_list(frames[-3:]))
    if type(error) is iruka.errors.CompileError and form in PYTHON_FORMS:
        return "" if is_known else words
    if isinstance(error, (iruka.errors.Error, MemoryError, RecursionError)):
        if isinstance(error, iruka.errors.TranslationError) and "line " not in str(error):
            return f"{words} (no line)"
        return "" if str(error) or isinstance(error, MemoryError) else f"{type(error).__name__} without a message"
    if isinstance(error, (SyntaxError, KeyboardInterrupt, UnicodeError)) or is_own:
        return ""
    return words + "\n" + "".join(traceback.format_list(frames[-3:]))


def in_threads(run):
    """The first exception of four threads that run at once."""
    found = []

    def work():
        try:
            run()
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if found:
        raise found[0]


def run_case(seed, number, only, show=False):
    """What is wrong with a case, or an empty text."""
    from writers import case_of

    name, text, run, is_hostile, choice = case_of(seed, number, only)
    way, delay = choice.random(), choice.random() * 0.05
    if show:
        print(f"{name}, {'hostile' if is_hostile else 'sound'}\n{text}")
    is_interrupted = way < 0.08
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)) if is_interrupted else None
    try:
        try:
            if timer:
                timer.start()
            in_threads(run) if 0.08 < way < 0.16 else run()
        finally:
            if timer:
                timer.cancel(), timer.join()
    except KeyboardInterrupt:
        return ""  # of the timer, or of the parent: the text does not end
    except BaseException as error:
        return f"{name}: {words}" if (words := findings_of(error, name, is_hostile, is_interrupted)) else ""
    return ""


def child(options):
    """Runs cases; a line with the number comes before each, and findings behind it."""
    import iruka

    lines = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what kernels and functions print
    exec(options.planted)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "IRUKA_TEST_PATIENCE" not in os.environ:  # sanitizers take terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    warnings.simplefilter("ignore")
    for number in range(options.first, options.first + CASES_PER_PROCESS):
        print(number, file=lines, flush=True)
        for _ in range(3):  # a late interruption comes between two cases
            try:
                found = run_case(options.seed, number, options.only)
                if found:
                    print(json.dumps(found), file=lines, flush=True)
                break
            except KeyboardInterrupt:
                continue
    iruka.finish_background_compilation()
    print("done", file=lines, flush=True)
    os._exit(0)


class Campaign:
    """The parent: starts children one after another, and notes what they find and how they end."""

    def __init__(self, options):
        self.options, self.findings, self.cases = options, 0, 0
        self.end = time.monotonic() + options.seconds

    def note(self, number, words):
        self.findings += 1
        print(f"--case {self.options.seed}:{number}: {words}", flush=True)

    def run(self):
        number = 0
        while number < self.options.count and time.monotonic() < self.end and self.findings < 30:
            number = self.one_child(number)

    def one_child(self, first):
        """The number of the case to go on with."""
        command = [sys.executable, __file__, "--seed", self.options.seed, "--child", "--first", first]
        command += ["--planted", self.options.planted]
        command += ["--only", *self.options.only] if self.options.only else []
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        number, since, asked, rest = first - 1, time.monotonic(), 0, b""
        while True:
            ready, _, _ = select.select([process.stdout], [], [], 0.5)
            data = os.read(process.stdout.fileno(), 1 << 16) if ready else None
            if data == b"":
                break
            lines = (rest + (data or b"")).split(b"\n")
            rest = lines.pop()
            for line in map(bytes.decode, lines):
                if line == "done":
                    process.wait()
                    return number + 1
                if line.isdecimal():
                    number, since, asked = int(line), time.monotonic(), 0
                    self.cases += 1
                else:
                    self.note(number, json.loads(line))
            late = time.monotonic() - since
            if late > PATIENCE * (asked + 1) and late < LAST:
                asked += 1
                process.send_signal(signal.SIGINT)
            if late > LAST or time.monotonic() > self.end + LAST or self.cases > self.options.count:
                process.kill()
                break
            if time.monotonic() > self.end and ready:
                process.kill()
                process.wait()
                return self.options.count
        process.wait()
        if self.cases > self.options.count:
            return self.options.count
        error = process.stderr.read().decode(errors="replace")[-1500:]
        words = (
            "no answer, not even to interruptions"
            if time.monotonic() - since > LAST
            else f"the process ended with {process.returncode}"
        )
        self.note(number, f"{words}\n{error}")
        return number + 1


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
    parser = argparse.ArgumentParser(prog="tests/fuzz/forms", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--case", help="SEED:NUMBER of one case")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--planted", default="", help="statements that plant a fault, for the fuzzer's own tests")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options)
    if options.case:
        warnings.simplefilter("ignore")
        found = run_case(*map(int, options.case.split(":")), options.only, show=True)
        print(found or "no finding", f"--case {options.case}", sep="\n")
        return bool(found)
    campaign = Campaign(options)
    campaign.run()
    print(f"{campaign.cases} kernels of seed {options.seed}, {campaign.findings} findings")
    return campaign.findings > 0


if __name__ == "__main__":
    sys.exit(main())
