"""Runs random pipelines with random faults: python tests/soak/pipeline --seconds 60 [--seed N].

Each case has a source (files, arrays, a Python source, a sequential one), random options and samples that fail, and a
consumer that stops early, resumes anywhere, forks, kills its children and changes the number of threads. Batches are
compared with samples computed one by one, and with a model of the order, of what fails and of the counts. Cases run in
a child process, so that a crash or a hang is a finding with its seed. The exit code is 1 after a finding. --case
SEED:NUMBER runs one case again.
"""

import argparse
import contextlib
import faulthandler
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

CASES_PER_PROCESS = 200
PATIENCE = 60  # seconds of a case


def campaign(options):
    """The number of findings."""
    end, number, findings = time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < end and number < options.count:
        count = min(CASES_PER_PROCESS, options.count - number)
        given = ["--seed", options.seed, "--first", number, "--count", count, "--seconds", end - time.monotonic()]
        exit_code, lines = run_child([sys.executable, os.path.dirname(__file__), "--child", *map(str, given)])
        last = [line for line in lines if line.startswith("case ")]
        number = int(last[-1].split()[1]) + 1 if last else number + 1
        if exit_code != 0:
            findings += 1
            text = "\n".join(line for line in lines if not line.startswith("case "))
            print(f"{text}\nexit code {exit_code}: --case {options.seed}:{number - 1}", flush=True)
    print(f"{number} cases of seed {options.seed}, {findings} findings")
    return findings


def run_child(command):
    """The exit code and the lines of output. Processes that a case forked and that hang end with it."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        exit_code = process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        return exit_code, output.read().splitlines()


def child(options):
    end = time.monotonic() + options.seconds
    for number in range(options.first, options.first + options.count):
        if time.monotonic() > end:
            break
        print("case", number, flush=True)
        if not run_case(options.seed, number):
            return 1
    return 0


def run_case(seed, number):
    from cases import Case

    warnings.simplefilter("ignore")  # a fork of a process with threads
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    case = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            case = Case(random.Random(f"{seed}:{number}"), pathlib.Path(folder))
            case.run()
        except Exception:
            traceback.print_exc(file=sys.stdout)
            print(case)
            return False
        finally:
            faulthandler.cancel_dump_traceback_later()
    return True


def main():
    parser = argparse.ArgumentParser(prog="tests/soak/pipeline", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--case", help="SEED:NUMBER of one case")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return not run_case(*map(int, options.case.split(":")))
    return child(options) if options.child else campaign(options) > 0


if __name__ == "__main__":
    sys.exit(main())
