"""Settles, checks and measures the ways of one computation."""

import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import iruka
from measure import device_timer, interleaved_times, timed

from .native import Native


def synchronize():
    if iruka.default_device().name != "cpu":
        iruka.cuda.Device().synchronize()


def timer(clock):
    on_cpu = iruka.default_device().name == "cpu"
    return functools.partial(timed, clock=clock) if on_cpu else device_timer(synchronize)


def is_on_trial(name):
    """Whether calls of the kernel still alternate between lanes and the scalar path."""
    kinds = [event.kind for event in iruka.kernel_history() if event.kernel == name]
    begun = kinds.count("scalar_compiled") + kinds.count("lanes_compiled")
    return begun > kinds.count("lanes_chosen") + kinds.count("scalar_chosen")


def settle(call, most_seconds=8.0):
    """Calls until no further variant of the kernel appears: constants instead of integer scalars, lanes or not."""
    start, quiet = time.perf_counter(), 0
    while quiet < 2 and time.perf_counter() - start < most_seconds:
        before = len(iruka.kernel_history())
        begin, calls = time.perf_counter(), 0
        while calls < 2 or (time.perf_counter() - begin < 0.05 and calls < 32):
            call()
            calls += 1
        synchronize()
        iruka.finish_background_compilation()
        is_quiet = len(iruka.kernel_history()) == before and not is_on_trial(call.kernel.name)
        quiet = quiet + 1 if is_quiet else 0


def first_call(name, number, options):
    """Seconds of the first call of a way in a new process with an empty cache, kernel made and compiled."""
    with tempfile.TemporaryDirectory(prefix="iruka-first-") as folder:
        environment = {**os.environ, "IRUKA_CACHE_DIR": folder, "IRUKA_SHIPPED_KERNELS": "0"}
        program = pathlib.Path(__file__).resolve().parent
        command = [sys.executable, program, "--first-call", name, str(number), "--threads", str(options.threads)]
        command += [
            "--clock",
            options.clock,
            "--size",
            options.size,
            *(["--level", options.level] if options.level else []),
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)["first"] if done.returncode == 0 else None


def rounds_for(candidates, budget, most):
    """How many rounds the budget of seconds allows: an odd number, at least three."""
    once = timed(lambda: [call() for call in candidates.values()] and synchronize())
    return min(most, max(3, int(budget / max(once, 1e-6)))) | 1


class Measured:
    """The ways of a computation that give right answers, and the problems of the others."""

    def __init__(self, computation, make_call, functions, threads, with_scalar):
        self.computation, self.calls, self.problems, self.scalars = computation, {}, {}, {}
        for way in computation.ways:
            try:
                call = make_call(computation, way)
                settle(call)
                problem = computation.problem(call.results())
                scalar = make_call(computation, way, ("--lanes=1",)) if with_scalar else None
                if scalar and not problem:
                    settle(scalar, 1.0)
                    problem = computation.problem(scalar.results())
                    problem = problem and f"scalar path: {problem}"
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                self.problems[way.name] = problem
                continue
            self.calls[way.name] = call
            if scalar:
                self.scalars[way.name] = scalar
        self.natives = {}
        if functions is not None and computation.native:
            for count in sorted({1, threads}):
                self.natives[count] = native = Native(functions, computation, count)
                if wrong := computation.problem(native.results()):
                    raise AssertionError(f"{computation.name}, intrinsics: {wrong}")

    def times(self, budget, most, clock):
        """Lists of seconds by the clock: of ways, of their scalar paths, of intrinsics by the number of threads."""
        candidates = {("way", name): call for name, call in self.calls.items()}
        candidates |= {("intrinsics", count): call for count, call in self.natives.items()}
        rounds = rounds_for(candidates, budget, most)
        times = interleaved_times(candidates, rounds, warmup=1, timer=timer(clock))
        slow = {("scalar", name): call for name, call in self.scalars.items()}
        if slow:
            times |= interleaved_times(slow, rounds_for(slow, budget / 2, most), warmup=0, timer=timer(clock))
        return times


def medians(times, kind):
    return {name: statistics.median(each) for (which, name), each in times.items() if which == kind}
