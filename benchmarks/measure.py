"""How the benchmarks measure: interleaved repeats, medians, ratios, one table."""

import functools
import pathlib
import platform
import random
import statistics
import time


def timed(call, clock=time.perf_counter):
    """Seconds of one call."""
    start = clock()
    call()
    return clock() - start


def interleaved_times(candidates, repeats=15, warmup=2, clock=time.perf_counter, timer=None):
    """Seconds by `clock`, or timer(callable), of each callable in the dict `candidates`, a list over the repeats.

    They run in turn, in a new order each time, so that noise and what the last one left in the cache meet all alike.
    """
    for call in candidates.values():
        for _ in range(warmup):
            call()
    timer = timer or functools.partial(timed, clock=clock)
    times = {name: [] for name in candidates}
    order, shuffle = list(candidates.items()), random.Random(0).shuffle
    for _ in range(repeats):
        shuffle(order)
        for name, call in order:
            times[name].append(timer(call))
    return times


def device_timer(wait):
    """A timer of calls until the device has done what they launch."""

    def timer(run):
        wait()
        return timed(lambda: (run(), wait()))

    return timer


def host_timer(wait):
    """A timer of the host's part of calls, while the device's queue has room."""

    def timer(run):
        wait()
        return timed(run)

    return timer


def interleaved(candidates, repeats=15, warmup=2, timer=None):
    """Median seconds of each callable in the dict `candidates`."""
    times = interleaved_times(candidates, repeats, warmup, timer=timer)
    return {name: statistics.median(each) for name, each in times.items()}


def repeated(call, count):
    """A function of `count` calls."""

    def run():
        for _ in range(count):
            call()

    return run


def interleaved_batches(candidates, counts, repeats=15, timer=timed):
    """Median seconds of one call of each callable in the dict `candidates`, in batches of counts[name] calls."""
    batches = {name: repeated(call, counts[name]) for name, call in candidates.items()}
    times = interleaved_times(batches, repeats, warmup=1, timer=timer)
    return {name: statistics.median(each) / counts[name] for name, each in times.items()}


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


def print_ratios(cases, rounds, only="", clock=time.process_time):
    """Prints the processor and a table of the dicts of callables in the dict `cases` whose name contains `only`.

    Each has the median of the times of alternating calls, and a ratio to that of "iruka".
    """
    rows = []
    for name, candidates in cases.items():
        if only not in name:
            continue
        times = interleaved_times(candidates, rounds, warmup=1, clock=clock)
        medians = {who: statistics.median(each) for who, each in times.items()}
        for who, seconds in medians.items():
            ratio = "" if who == "iruka" else f"{seconds / medians['iruka']:.2f}"
            rows.append([name, who, f"{seconds * 1e3:.3f}", ratio])
    print(processor())
    print(markdown(rows, ["case", "by", "ms", "time over Iruka's"]))


def processor():
    """The processor's name from the operating system."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
