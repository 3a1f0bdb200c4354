#!/usr/bin/env python3
"""Every form of kernel beside the same form of CuPy, Numba and NumPy, in one run.

python benchmarks/forms.py [--device cpu|cuda] [--quick] [--only TEXT...] [--output FOLDER]

Launches of 16 elements, calls on large arrays, first calls with empty caches. Before the clock runs, results are
compared. Times are medians of repeats in changing order: on a GPU, launches are timed on the host, and calls by events
around many of them. "floor" is the least peer / Iruka that the project promises, or the most that Iruka may take.
Peers that are not installed are left out. On a busy machine --clock cpu counts the seconds of all threads instead of
the wall's. Exits with 1 where Iruka failed or its results differ.
"""

import argparse
import gc
import json
import math
import os
import pathlib
import shutil
import statistics
import tempfile
import time
import warnings


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default=os.environ.get("IRUKA_DEVICE", "cpu"))
    parser.add_argument("--quick", action="store_true", help="small arrays and few repeats, to try the program")
    parser.add_argument("--only", nargs="+", default=[""], help="cases whose section or name holds one of these texts")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: seconds of all threads")
    parser.add_argument("--output", type=pathlib.Path, help="folder for forms.json")
    return parser.parse_args()


options = arguments()
folder = tempfile.TemporaryDirectory(prefix="iruka-forms-")
CUPYS_CACHE = pathlib.Path(folder.name) / "cupy"
os.environ |= {"IRUKA_DEVICE": options.device, "IRUKA_SHIPPED_KERNELS": "0", "CUPY_CACHE_DIR": str(CUPYS_CACHE)}
os.environ["IRUKA_CACHE_DIR"] = folder.name + "/iruka"

import numpy as np

import iruka
from form_cases import cases
from form_cases.common import ON_GPU, cupy, host, numba
from measure import host_timer, interleaved_batches, interleaved_times, markdown, processor, timed as timed_by

CLOCK = {"wall": time.perf_counter, "cpu": time.process_time}[options.clock]
BATCH = 0.001 if options.quick else 0.004  # seconds of calls that one measurement takes at least
SECONDS = 0.03 if options.quick else 0.8  # of a case's measurements, beside at least three rounds
HEADER = ["case", "Iruka", "peer", "its time", "peer / Iruka", "floor", ""]


def timed(call):
    return timed_by(call, CLOCK)


def synchronize():
    if ON_GPU:
        iruka.cuda.Device().synchronize()


def event_timer(run):
    """Seconds of the device, by events on the stream that the libraries have in common, the default one."""
    begin, end = iruka.cuda.Event(), iruka.cuda.Event()
    begin.record(iruka.cuda.Stream.null)
    run()
    end.record(iruka.cuda.Stream.null)
    end.synchronize()
    return iruka.cuda.get_elapsed_time(begin, end) / 1e3


def empty_caches():
    iruka.clear_cache()
    shutil.rmtree(CUPYS_CACHE, ignore_errors=True)
    CUPYS_CACHE.mkdir()
    synchronize()


def first_call_timer(call):
    empty_caches()
    return timed(lambda: (call(), synchronize()))


def prepared(case):
    """The calls of the libraries, and an error in the place of a call that cannot be; their first results."""
    calls, results = {}, {}
    for library, make in case.makers.items():
        try:
            calls[library] = make()
            if case.kind == "once" and not library.startswith("Iruka"):
                calls[library] = once(calls[library])
            results[library] = host(calls[library]()) if case.kind != "first" else None
        except Exception as error:
            calls[library] = error
    return calls, results


class once:
    """A long call, which runs once: its seconds, and its result."""

    def __init__(self, call):
        self.call, self.seconds = call, None

    def __call__(self):
        found = []
        self.seconds = timed(lambda: (found.append(self.call()), synchronize()))
        return found[0]


def difference(case, results):
    """Which results are not the expected ones."""
    if case.kind == "first" or "Iruka" not in results:
        return {}
    others = [result for library, result in results.items() if library != "Iruka"]
    expected = np.asarray(case.expected()) if case.expected else (others or [results["Iruka"]])[0]
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    wrong = {}
    for library, result in results.items():
        same = result.shape == expected.shape
        same = same and np.isclose(result, expected, rtol=case.tolerance, atol=case.tolerance * scale)
        if np.mean(same) < case.agreement:
            wrong[library] = f"differs: {result.ravel()[:3]}, not {expected.ravel()[:3]}"
    return wrong


def seconds_of(case, calls):
    """Median seconds of a call of each library that can."""
    calls = {library: call for library, call in calls.items() if not isinstance(call, Exception)}
    if case.kind == "first":
        times = interleaved_times(calls, repeats=2 if options.quick else 5, warmup=1, timer=first_call_timer)
        return {library: statistics.median(each) for library, each in times.items()}
    found = {library: call.seconds for library, call in calls.items() if isinstance(call, once)}
    calls = {library: call for library, call in calls.items() if library not in found}
    timer = timed if not ON_GPU else host_timer(synchronize) if case.kind == "launch" else event_timer
    estimates = {library: estimate(call, timer) for library, call in calls.items()}
    counts = {library: max(1, math.ceil(BATCH / each)) for library, each in estimates.items()}
    if case.kind == "launch" and ON_GPU:
        counts = {library: min(count, 200) for library, count in counts.items()}
    each_round = sum(estimates[library] * counts[library] for library in calls)
    repeats = min(31, max(3, int(SECONDS / max(each_round, 1e-6)))) | 1
    return found | interleaved_batches(calls, counts, repeats, timer)


def estimate(call, timer):
    timer(call)
    return max(1e-8, statistics.median(timer(call) for _ in range(3)))


def shown(seconds, kind):
    return f"{seconds * 1e6:.2f} µs" if kind == "launch" else f"{seconds * 1e3:.2f} ms"


def rows_of(case, calls, wrong, seconds):
    """A line for each peer, or one without."""
    rows, ours = [], seconds.get("Iruka")
    name = f"{case.section}: {case.name}"
    if ours is None:
        return [{"case": name, "failed": str(calls["Iruka"])}]
    for library in list(case.makers)[1:] or [""]:
        row = {"case": name, "kind": case.kind, "Iruka": ours, "peer": library, "failed": wrong.get("Iruka", "")}
        if case.most:
            row |= {"most": case.most, "is_met": ours <= case.most}
        if theirs := seconds.get(library):
            row |= {"theirs": theirs, "ratio": theirs / ours, "note": wrong.get(library, "")}
            if case.floor and library not in case.without_floor:
                row |= {"floor": case.floor, "is_met": theirs / ours >= case.floor}
        elif library:
            row["note"] = f"{type(calls[library]).__name__}: {calls[library]}".splitlines()[0][:100]
        rows.append(row)
    return rows


def cells(row):
    if "kind" not in row:
        return [row["case"], "failed", "", "", "", "", row["failed"].replace("\n", " ")[:200]]
    times = [shown(row[key], row["kind"]) if row.get(key) else "" for key in ("Iruka", "theirs")]
    floor = f">= {row['floor']}" if "floor" in row else f"<= {shown(row['most'], row['kind'])}" if "most" in row else ""
    notes = [row["failed"], row.get("note", ""), "BELOW" if row.get("is_met") is False else ""]
    ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
    return [row["case"], times[0], row["peer"], times[1], ratio, floor, "; ".join(filter(None, notes))]


def measured(case):
    calls, results = prepared(case)
    return rows_of(case, calls, difference(case, results), seconds_of(case, calls))


def release():
    gc.collect()
    for module in (iruka, cupy) if ON_GPU else (iruka,):
        if module:
            module.get_default_memory_pool().free_all_blocks()


def main():
    peers = ", ".join(f"{module.__name__} {module.__version__}" for module in (np, numba, cupy) if module)
    name = iruka.cuda.runtime.getDeviceProperties(0)["name"].decode() if ON_GPU else processor()
    print(f"{name}, {iruka.get_num_threads()} threads; {peers}", flush=True)
    for module in ("numba", "cupy") if ON_GPU else ("numba",):
        if not {"numba": numba, "cupy": cupy}[module]:
            print(f"{module} is not installed: left out")
    warnings.simplefilter("ignore")
    rows = []
    for case in cases(options.quick):
        if not any(text in f"{case.section}: {case.name}" for text in options.only):
            continue
        try:
            found = measured(case)
        except Exception as error:
            found = [{"case": f"{case.section}: {case.name}", "failed": f"{type(error).__name__}: {error}"}]
        rows += found
        for row in found:
            print(" | ".join(cells(row)), flush=True)
        release()
    print("\n" + markdown([cells(row) for row in rows], HEADER))
    below = [row for row in rows if row.get("is_met") is False]
    print(f"\n{sum('is_met' in row for row in rows)} promises, {len(below)} not kept")
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "forms.json").write_text(json.dumps(rows, indent=1))
    return any(row["failed"] for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
