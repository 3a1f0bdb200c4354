"""How the benchmarks measure: interleaved repeats, medians, ratios, one table."""
import statistics
import time


def interleaved(candidates, repeats=15, warmup=2):
    """Median seconds of each callable in the dict `candidates`, run in turn so that noise meets all of them alike."""
    for call in candidates.values():
        for _ in range(warmup):
            call()
    times = {name: [] for name in candidates}
    for _ in range(repeats):
        for name, call in candidates.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each) for name, each in times.items()}


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
