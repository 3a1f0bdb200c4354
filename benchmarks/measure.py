"""How the benchmarks measure: interleaved repeats, medians, ratios, one table."""

import pathlib
import platform
import random
import statistics
import time


def interleaved_times(candidates, repeats=15, warmup=2, clock=time.perf_counter):
    """Seconds by `clock` of each callable in the dict `candidates`, a list over the repeats.

    They run in turn, in a new order each time, so that noise and what the last one left in the cache meet all alike.
    """
    for call in candidates.values():
        for _ in range(warmup):
            call()
    times = {name: [] for name in candidates}
    order, shuffle = list(candidates.items()), random.Random(0).shuffle
    for _ in range(repeats):
        shuffle(order)
        for name, call in order:
            start = clock()
            call()
            times[name].append(clock() - start)
    return times


def interleaved(candidates, repeats=15, warmup=2):
    """Median seconds of each callable in the dict `candidates`."""
    return {name: statistics.median(each) for name, each in interleaved_times(candidates, repeats, warmup).items()}


def per_call(call, calls=2000, repeats=15):
    """Median over repeats of the mean seconds of one call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times)


def markdown(rows, header):
    """A table of strings in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(" --- " for _ in header) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def processor():
    """The processor's name from the operating system."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
