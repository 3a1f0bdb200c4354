#!/usr/bin/env python3
"""The array library compared with NumPy, Numba and numexpr on the CPU, with CuPy and PyTorch on a GPU.

python benchmarks/arrays.py [--device cpu|cuda] [--sizes 1000 1000000 100000000] [--only TEXT...] [--minutes M]
[--output FOLDER]

Operations x sizes x layouts: the table is array_cases.py. Medians of interleaved repeats in microseconds of wall time,
the waiting for a GPU included; a ratio over 1 says that Iruka is faster. All may use every core. Exits with 1 where
Iruka failed. On a busy machine --clock cpu counts the seconds of all of a call's threads instead, which threads do not
shorten.
"""

import argparse
import gc
import importlib
import json
import math
import os
import pathlib
import time
import warnings

import numpy as np

import iruka
from array_cases import CASES, FLAT, LAYOUTS, SHAPED, WRITTEN
from measure import interleaved_times, markdown, processor

MODULES = {"NumPy": "numpy", "CuPy": "cupy", "PyTorch": "torch", "Numba": "numba", "numexpr": "numexpr"}
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
LONG = 0.02  # seconds after which a call is not tried out again
SAMPLE = 4e-4  # seconds that one measurement takes at least: short calls are repeated


def optional(name):
    try:
        return importlib.import_module(MODULES[name])
    except ImportError:
        return None


class Library:
    """A library with arrays of its own: it places operands, and waits for its device."""

    def __init__(self, name, module, device):
        self.name, self.module, self.device = name, module, device
        self.wait = None
        if device == "cuda":
            self.wait = {
                "Iruka": lambda: iruka.cuda.Device().synchronize(),
                "CuPy": lambda: module.cuda.Device().synchronize(),
                "PyTorch": lambda: module.cuda.synchronize(),
            }[name]
        self.placed = {}

    def operand(self, name, size, layout, host):
        if name == "n":
            return size
        if name == "generator":
            key, make = name, lambda: self.module.random.default_rng(1)
        else:
            key, make = (name, layout), lambda: self.place(name, layout, host(name, size, layout))
        if key not in self.placed:
            self.placed[key] = make()
        return self.placed[key]

    def place(self, name, layout, host):
        keywords = {"device": "cuda"} if self.name == "PyTorch" else {}
        copies = name in WRITTEN and self.device == "cpu"
        array = self.module.asarray(host.copy() if copies else host, **keywords)
        if name not in FLAT or layout == "contiguous":
            return array
        if layout == "strided":
            return array[::2]
        side = math.isqrt(array.shape[0])
        table = array[: side * side].reshape(side, side)
        # One of two operands is transposed, so that their layouts differ.
        return table if name in ("y", "e", "j") else table.T

    def forget(self, kept):
        """Releases operands except `kept`, and unused memory of a GPU, which the other libraries may need."""
        self.placed = {key: value for key, value in self.placed.items() if key in kept or key == "generator"}
        if self.device == "cuda":
            self.wait()
            if self.name == "PyTorch":
                self.module.cuda.empty_cache()
            else:
                self.module.get_default_memory_pool().free_all_blocks()


class Operands:
    """The operands of one size on the host."""

    def __init__(self):
        self.made = {}

    def __call__(self, name, size, layout):
        count = 2 * size if layout == "strided" and name in FLAT else size
        if (name, count) not in self.made:
            self.made[name, count] = (FLAT.get(name) or SHAPED[name])(count, np.random.default_rng(1))
        return self.made[name, count]


def bound(call, library, size, layout, host, case, declared=None):
    """A function without arguments that calls `call` with the operands that it, or `declared`, names."""
    declared = declared or call
    values = [library.operand(name, size, layout, host) for name in case.operands(declared)]
    with_module = declared.__code__.co_varnames[0] in ("m", "t")
    return (lambda: call(library.module, *values)) if with_module else (lambda: call(*values))


def candidates(case, libraries, peers, size, layout, host):
    """The measured functions by library: a function and the one that waits for it, or an error in their place."""
    found = {}

    def add(name, make, wait=None):
        try:
            found[name] = make(), wait
        except Exception as error:  # an operand that a peer cannot hold
            found[name] = error

    for library in libraries:
        call = case.torch if library.name == "PyTorch" else case.call
        if call:
            add(
                library.name,
                lambda call=call, library=library: bound(call, library, size, layout, host, case),
                library.wait,
            )
    numpy = next((library for library in libraries if library.name == "NumPy"), None)
    if numpy and case.numba and "Numba" in peers:
        compiled = peers["Numba"].njit(parallel=size >= 10**5)(
            case.numba
        )  # its threads cost small arrays more than they give
        add("Numba", lambda: bound(compiled, numpy, size, layout, host, case, case.numba))
    if numpy and case.numexpr and "numexpr" in peers:
        local = {name: numpy.operand(name, size, layout, host) for name in case.operands(case.call)}
        add("numexpr", lambda: lambda: peers["numexpr"].evaluate(case.numexpr, local_dict=local))
    return found


def repeated(call, wait, count):
    def run():
        for _ in range(count):
            call()
        if wait:
            wait()

    return run


def estimate(call, wait, clock):
    """Seconds of one call once everything is compiled, or the error that it raised."""
    try:
        run = repeated(call, wait, 1)
        run()
        for _ in range(3):
            start = clock()
            run()
            seconds = clock() - start
            if seconds > LONG:
                break
        return max(seconds, 1e-7)
    except Exception as error:  # a peer without this operation, or without memory for it
        return error


def measure(found, seconds, clock):
    """Median seconds of a call, or an error, by library; about `seconds` in all."""
    results = {name: each if isinstance(each, Exception) else estimate(*each, clock) for name, each in found.items()}
    able = {name: value for name, value in results.items() if isinstance(value, float)}
    if not able:
        return results
    counts = {name: max(1, math.ceil(SAMPLE / value)) for name, value in able.items()}
    each_round = sum(able[name] * counts[name] for name in able)
    repeats = min(41, max(3, int(seconds / each_round)))
    calls = {name: repeated(*found[name], counts[name]) for name in able}
    for name, times in interleaved_times(calls, repeats, warmup=0, clock=clock).items():
        results[name] = float(np.median(times)) / counts[name]
    return results


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


class Report:
    """Rows, ratios to every peer, and their geometric means."""

    def __init__(self, names):
        self.names, self.rows, self.left_out = names, [], []

    def add(self, case, layout, size, results):
        row = {"case": case.name, "layout": layout, "elements": size}
        row |= {name: value if isinstance(value, float) else None for name, value in results.items()}
        row["error"] = str(results["Iruka"]) if isinstance(results["Iruka"], Exception) else None
        self.rows.append(row)
        print(" | ".join(self.cells(row)), row["error"] or "", flush=True)

    def ratio(self, row, peer):
        ours, theirs = row.get("Iruka"), row.get(peer)
        return theirs / ours if ours and theirs else None

    def cells(self, row):
        def shown(value, digits):
            return "" if value is None else f"{value:.{digits}f}"

        times = [shown(row[name] * 1e6 if row.get(name) else None, 1) for name in self.names]
        ratios = [shown(self.ratio(row, name), 2) for name in self.names[1:]]
        return [row["case"], row["layout"], f"{row['elements']:.0e}", *times, *ratios]

    def table(self, rows):
        header = [f"{name} µs" for name in self.names] + [f"times {name}" for name in self.names[1:]]
        return markdown([self.cells(row) for row in rows], ["case", "layout", "elements", *header])

    def means(self):
        lines = []
        for size in sorted({row["elements"] for row in self.rows}):
            for layout in ("all", *LAYOUTS):
                cells = [f"{size:.0e}", layout]
                chosen = [row for row in self.rows if row["elements"] == size and layout in ("all", row["layout"])]
                for peer in self.names[1:]:
                    ratios = [ratio for row in chosen if (ratio := self.ratio(row, peer))]
                    cells.append(f"{mean(ratios):.2f} of {len(ratios)}, least {min(ratios):.2f}" if ratios else "")
                lines.append(cells)
        return markdown(lines, ["elements", "layout", *(f"geometric mean, times {name}" for name in self.names[1:])])

    def worst(self, count=20):
        peer = self.names[1]
        return sorted((row for row in self.rows if self.ratio(row, peer)), key=lambda row: self.ratio(row, peer))[
            :count
        ]

    def text(self):
        operations = len({row["case"] for row in self.rows})
        parts = [
            f"{operations} operations, {len(self.rows)} cases",
            self.table(self.rows),
            "Geometric means:",
            self.means(),
            f"Least against {self.names[1]}:",
            self.table(self.worst()),
        ]
        failed = [
            f"{row['case']} {row['layout']} {row['elements']:.0e}: {row['error']}" for row in self.rows if row["error"]
        ]
        parts += ["Failed in Iruka: " + "; ".join(failed)] if failed else []
        parts += ["Left out for time: " + ", ".join(self.left_out)] if self.left_out else []
        return "\n\n".join(parts) + "\n"


def setting(device):
    """The machine and versions, in one line."""
    versions = ", ".join(f"{name} {module.__version__}" for name in MODULES if (module := optional(name)))
    if device == "cpu":
        return f"{processor()}, {os.cpu_count()} cores; {versions}"
    return f"{iruka.cuda.runtime.getDeviceProperties(0)['name'].decode()}; {versions}"


def run(report, work, libraries, peers, options):
    host, started, clock = Operands(), time.perf_counter(), CLOCKS[options.clock]
    for size in options.sizes:
        todo = [(case, layout) for case, layout in work if size <= case.most]
        for position, (case, layout) in enumerate(todo):
            if options.minutes and time.perf_counter() - started > options.minutes * 60:
                report.left_out.append(f"{case.name} {layout} {size:.0e}")
                continue
            report.add(
                case,
                layout,
                size,
                measure(candidates(case, libraries, peers, size, layout, host), options.seconds, clock),
            )
            # Only what later cases of this size need stays in memory.
            used = {(name, after) for later, after in todo[position + 1 :] for name in later.operands(later.call)}
            host.made = {key: value for key, value in host.made.items() if key[0] in {name for name, _ in used}}
            if size >= 10**7 or not used:
                gc.collect()
                for library in libraries:
                    library.forget(used)
        host.made.clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default=None)
    parser.add_argument("--sizes", type=lambda text: int(float(text)), nargs="+", default=[10**3, 10**6, 10**8])
    parser.add_argument("--only", nargs="*", default=[""], help="cases whose names hold one of these texts")
    parser.add_argument("--layouts", nargs="*", choices=LAYOUTS, default=LAYOUTS)
    parser.add_argument("--peers", nargs="*", choices=list(MODULES), default=list(MODULES))
    parser.add_argument("--seconds", type=float, default=0.2, help="for each case, beside at least 3 rounds")
    parser.add_argument("--minutes", type=float, default=0, help="leave out what comes later")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    parser.add_argument("--output", type=pathlib.Path, help="folder for arrays.md and arrays.json")
    options = parser.parse_args()
    device = options.device or iruka.default_device().name.split(":")[0]
    own = {"cpu": ["NumPy"], "cuda": ["CuPy", "PyTorch"]}[device]
    modules = {name: module for name in options.peers if (module := optional(name))}
    libraries = [Library("Iruka", iruka, device)]
    libraries += [Library(name, modules[name], device) for name in own if name in modules]
    peers = {name: modules[name] for name in ("Numba", "numexpr") if name in modules and device == "cpu"}
    if "numexpr" in peers:
        peers["numexpr"].set_num_threads(os.cpu_count())
    if device == "cuda" and "PyTorch" in modules:
        modules["PyTorch"].set_default_device("cuda")
    report = Report([library.name for library in libraries] + list(peers))
    chosen = [case for case in CASES if any(text in case.name for text in options.only)]
    work = [(case, layout) for case in chosen for layout in case.layouts if layout in options.layouts]
    warnings.simplefilter("ignore")
    with iruka.device(device), np.errstate(all="ignore"):
        run(report, work, libraries, peers, options)
        text = setting(device) + "\n\n" + report.text()
    print("\n" + text)
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "arrays.md").write_text(text)
        (options.output / "arrays.json").write_text(json.dumps(report.rows, indent=1))
    return any(row["error"] for row in report.rows)


if __name__ == "__main__":
    raise SystemExit(main())
