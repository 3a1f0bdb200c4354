#!/usr/bin/env python3
"""Computations in the ways in which different users write them, beside intrinsics, in one run.

python benchmarks/spellings [--only NAME...] [--level x86-64-v3] [--device cpu|cuda] [--threads N] [--json FILE]

Results are compared with NumPy's before the clock runs; what does not compile or is wrong stays in the table and is
not timed. Times are medians of settled calls in changing order. The first call is that of a process of its own with an
empty cache, and has the compilation in it. "scalar" is the way with --lanes=1. Intrinsics are built for the level,
and run on as many threads as Iruka. They are left out on a GPU, and without a compiler. On a busy machine --clock cpu
counts the seconds of all threads instead of the wall's.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="computations")
    parser.add_argument("--ways", nargs="+", metavar="TEXT", help="ways whose names hold one of these texts")
    parser.add_argument("--level", choices=("x86-64-v2", "x86-64-v3", "x86-64-v4"), help="sets IRUKA_CPU_LEVEL")
    parser.add_argument("--device", choices=("cpu", "cuda"), default=os.environ.get("IRUKA_DEVICE", "cpu"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--size", choices=("full", "long"), default="full", help="long: calls of a second, where known")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: seconds of all threads")
    parser.add_argument("--rounds", type=int, default=15, help="at most; at least three, as many as the budget allows")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds of a computation's rounds")
    parser.add_argument("--no-first", action="store_true", help="leave out first calls")
    parser.add_argument("--no-scalar", action="store_true", help="leave out scalar paths")
    parser.add_argument("--report", action="store_true", help="print what the compiler says of each way")
    parser.add_argument("--first-call", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


options = arguments()
os.environ["IRUKA_DEVICE"] = options.device
if options.level:
    os.environ["IRUKA_CPU_LEVEL"] = options.level
if not options.first_call:
    CACHE = tempfile.TemporaryDirectory(prefix="iruka-spellings-")
    os.environ["IRUKA_CACHE_DIR"] = CACHE.name  # read when the module is loaded

import iruka
from measure import processor, timed
from spellings import native
from spellings.cases import COMPUTATIONS, call_of
from spellings.measuring import Measured, first_call, synchronize
from spellings.tables import rows_of, summary, table

CLOCK = {"wall": time.perf_counter, "cpu": time.process_time}[options.clock]


def level():
    """The level of the vectors in use."""
    if "IRUKA_CPU_LEVEL" in os.environ:
        return os.environ["IRUKA_CPU_LEVEL"]
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return "x86-64-v4" if "avx512vl" in flags else "x86-64-v3" if "avx2" in flags else "x86-64-v2"


def print_first_call(name, number):
    """For the process of a first call."""
    computation = COMPUTATIONS[name](options.size)
    way = computation.ways[int(number)]
    for parameter in [*way.input_parameters(), *way.output_parameters()]:
        if parameter.name not in computation.data or parameter.is_raw:
            computation.on_device(parameter.name)
    print(json.dumps({"first": timed(lambda: (call_of(computation, way)(), synchronize()), CLOCK)}))


def measured(name, functions):
    """The rows of one computation."""
    computation = COMPUTATIONS[name](options.size)
    numbers = {way.name: number for number, way in enumerate(computation.ways)}
    if options.ways:
        computation.ways = [way for way in computation.ways if any(text in way.name for text in options.ways)]
    found = Measured(computation, call_of, functions, options.threads, not options.no_scalar)
    times = found.times(options.budget, options.rounds, CLOCK)
    firsts = {}
    if not options.no_first:
        firsts = {way: first_call(name, numbers[way], options) for way in found.calls}
    if options.report:
        for way, call in found.calls.items():
            print(f"--- {way}\n{call.report()}")
    return computation, rows_of(computation, found, times, firsts, options.threads)


def main():
    if options.first_call:
        if options.device == "cpu":
            iruka.set_num_threads(options.threads)
        return print_first_call(*options.first_call)
    on_cpu = options.device == "cpu"
    if on_cpu:
        iruka.set_num_threads(options.threads)
    functions = native.library(level()) if on_cpu else None
    machine = processor() if on_cpu else iruka.cuda.runtime.getDeviceProperties(0)["name"].decode()
    where = f"{machine}, {level()}, threads: {options.threads}" if on_cpu else machine
    print(where, flush=True)
    everything = []
    for name in options.only or [name for name, make in COMPUTATIONS.items() if options.size in make.sizes]:
        computation, rows = measured(name, functions)
        everything += rows
        print(f"\n{name}: {computation.title}; {computation.tolerance}")
        print(table(rows), flush=True)
    print("\n" + summary(everything))
    if options.json:
        options.json.write_text(json.dumps({"machine": where, "rows": everything}, indent=1))


if __name__ == "__main__":
    main()
