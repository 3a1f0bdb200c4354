"""Kernel bodies widened to lanes beside the scalar path, Numba, NumPy, intrinsics and ISPC, in one run, as ratios.

python benchmarks/spmd/run.py [--only NAME...] [--lanes N] [--markdown FILE] [--output build/benchmarks/spmd]
Both paths' results must have the same bits, the peers' must agree within what rounding explains. A ratio is the median
over rounds of the other's time over that of the lanes, so above 1 the lanes are faster. Cold: from the constructor to
the first result on 16 elements, nothing cached. ISPC is taken from PATH; a library
that is built already is used as it is, so that the output folder serves a machine without compilers.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
CACHE = tempfile.TemporaryDirectory()
os.environ["IRUKA_CACHE_DIR"] = CACHE.name  # read when the module is loaded; a kernel must not come from an earlier run

import numpy as np

import cheap  # noqa: F401  each registers its bodies
import images  # noqa: F401
import integers  # noqa: F401
import iruka as cp
import numeric  # noqa: F401
import peers
from body import BODIES, equal
from measure import interleaved_times, markdown, processor

PEERS = ("intrinsics", "ispc", "numba", "numpy", "hashlib")


def kernel_of(body, name, options, remark=""):
    return cp.ElementwiseKernel(
        **{**body.kernel, "operation": body.kernel["operation"] + remark}, name=name, options=options
    )


class Path:
    """One way to compile a body.

    Computes the first `size` elements, or all, into `outputs`, the same ones for every path: where a buffer lies in
    memory makes 10 % for short bodies.
    """

    def __init__(self, body, name, options, size, outputs):
        self.kernel = kernel_of(body, name, options)
        self.share = 1.0 if size == body.size else size / body.size
        self.keywords = {} if size is None else {"size": size}
        self.outputs = outputs
        self.arguments = [
            cp.asarray(each) if isinstance(each, np.ndarray) else each for each in [*body.inputs, *self.outputs]
        ]

    def __call__(self):
        self.kernel(*self.arguments, **self.keywords)

    def result(self):
        """The outputs of one call on zeroed outputs."""
        for each in self.outputs:
            each[...] = 0
        self()
        return [each.copy() for each in self.outputs]

    def warm_up(self):
        """Runs until the kernel is hot, its variant with constant scalars is in use and was measured."""
        self()  # compiles
        start, calls = time.perf_counter(), 0
        while calls < 3 or (time.perf_counter() - start < 0.06 and calls < 500):
            self()
            calls += 1
            if time.perf_counter() - start > 1.5:
                break
        cp.finish_background_compilation()
        start, calls = time.perf_counter(), 0
        while calls < 32 or time.perf_counter() - start < 5e-3:
            self()
            calls += 1


def seconds_of(candidates, budget, clock):
    """All times of each candidate, as many rounds as the budget of seconds allows, in odd number."""
    start = time.perf_counter()
    for call in candidates.values():
        call()
    once = time.perf_counter() - start
    rounds = max(3, min(101, int(budget / max(once, 1e-6))))
    return interleaved_times(candidates, repeats=rounds | 1, warmup=0, clock=clock)


def batched(candidates, body):
    """Very short calls are measured many at a time."""
    start = time.perf_counter()
    candidates["lanes"]()
    calls = max(1, min(200, math.ceil(3e-4 / max(time.perf_counter() - start, 1e-7)))) if body.items < 2**16 else 1
    if calls == 1:
        return candidates, 1

    def repeated(call):
        def repeat():
            for _ in range(calls):
                call()

        return repeat

    return {name: repeated(call) for name, call in candidates.items()}, calls


def cold_milliseconds(body, name, paths, repeats, clock):
    """Median milliseconds from constructor to first result of each path, a new text each time."""
    outer, size = body.small()
    arguments = [cp.asarray(each) if isinstance(each, np.ndarray) else each for each in outer]
    keywords = {} if size is None else {"size": size}
    number = iter(range(10**9))

    def one(options):
        def compile_and_run():
            kernel_of(body, name, options, f"\n// {name} {next(number)}")(*arguments, **keywords)

        return compile_and_run

    times = interleaved_times(
        {path: one(options) for path, options in paths.items()}, repeats=repeats, warmup=1, clock=clock
    )
    return {path: statistics.median(each) * 1e3 for path, each in times.items()}


def available_peers(body):
    made = {name: peer.make() for name, peer in body.peers.items()}
    return {name: call for name, call in made.items() if call is not None}


def check(body, compiled, others):
    """Both paths have the same bits, and agree with the reference; the peers agree with them."""
    lanes, scalar = compiled["lanes"].result(), compiled["scalar"].result()
    if compiled["scalar"].share < 1:  # then only what it computed of the one output is compared
        done = int(lanes[0].size * compiled["scalar"].share)
        equal([lanes[0].ravel()[:done]], [scalar[0].ravel()[:done]])
    else:
        equal(lanes, scalar)
    if body.reference not in others:
        others = {**others, body.reference: body.peers[body.reference].make()}
    for peer, call in others.items():
        body.close(body.peers[peer].pick(lanes), call())


def measured(name, body, candidates, shares, calls, arguments):
    """A row of the table: median seconds of a whole call, and ratios to the lanes over rounds."""
    times = seconds_of(candidates, arguments.budget, arguments.clock)
    whole = {each: [seconds / calls / shares.get(each, 1) for seconds in values] for each, values in times.items()}
    return {
        "body": name,
        "title": body.title,
        "items": body.items,
        "unit": body.unit,
        "rounds": len(times["lanes"]),
        "seconds": {each: statistics.median(values) for each, values in whole.items()},
        "best": {each: min(values) for each, values in whole.items()},
        "ratios": {
            each: statistics.median(a / b for a, b in zip(values, whole["lanes"]))
            for each, values in whole.items()
            if each != "lanes"
        },
    }


def run_body(name, options, arguments):
    """Checks and measures one body; returns a row of the table."""
    body = BODIES[name]()
    paths = {"scalar": ("--lanes=1",), "lanes": options}
    sizes = {"scalar": body.scalar_size or body.size, "lanes": body.size}
    outputs = [np.zeros_like(each) for each in body.outputs]
    compiled = {path: Path(body, name, paths[path], sizes[path], outputs) for path in paths}
    others = {} if arguments.no_peers else available_peers(body)
    for call in compiled.values():
        call.warm_up()
    check(body, compiled, others)
    candidates, calls = batched({**compiled, **others}, body)
    shares = {
        **{path: call.share for path, call in compiled.items()},
        **{peer: body.peers[peer].share for peer in others},
    }
    row = measured(name, body, candidates, shares, calls, arguments)
    if body.flops and not arguments.no_peers and (peak := peers.peak_flops()):
        row["floor_seconds"] = body.flops / peak
    if not arguments.no_cold:
        row["cold_ms"] = cold_milliseconds(body, name, paths, arguments.cold_repeats, arguments.clock)
    if arguments.report:
        row["report"] = str(compiled["lanes"].kernel.report(*compiled["lanes"].arguments, **compiled["lanes"].keywords))
    return row


def number(value, digits=3):
    return f"{value:.{digits}g}" if value < 1000 else f"{value:.0f}"


def rate(row):
    value = row["items"] / row["seconds"]["lanes"]
    return f"{value / 1e9:.3g} G" if value >= 1e9 else f"{value / 1e6:.4g} M"


def table(rows):
    shown = [peer for peer in PEERS if any(peer in row["ratios"] for row in rows)]
    header = [
        "body",
        "scalar ms",
        "lanes ms",
        "scalar / lanes",
        *(f"{peer} / lanes" for peer in shown),
        "rate",
        "cold scalar ms",
        "cold lanes ms",
        "cold ratio",
    ]
    lines = []
    for row in rows:
        seconds, cold = row["seconds"], row.get("cold_ms")
        lines.append(
            [
                row["body"],
                number(seconds["scalar"] * 1e3, 4),
                number(seconds["lanes"] * 1e3, 4),
                f"{row['ratios']['scalar']:.2f}",
                *(f"{row['ratios'][peer]:.2f}" if peer in row["ratios"] else "" for peer in shown),
                f"{rate(row)}{row['unit']}",
                *(
                    [f"{cold['scalar']:.1f}", f"{cold['lanes']:.1f}", f"{cold['lanes'] / cold['scalar']:.2f}"]
                    if cold
                    else [""] * 3
                ),
            ]
        )
    return markdown(lines, header)


def print_row(row):
    ratios = ", ".join(f"{peer} {ratio:.2f}" for peer, ratio in row["ratios"].items())
    cold = row.get("cold_ms")
    compiling = f"; cold {cold['scalar']:.1f} -> {cold['lanes']:.1f} ms" if cold else ""
    floor = f"; floor {row['floor_seconds'] * 1e3:.3g} ms" if "floor_seconds" in row else ""
    print(
        f"{row['title']}\n    lanes {row['seconds']['lanes'] * 1e3:.4g} ms, {rate(row)}{row['unit']}{floor}; "
        f"over lanes: {ratios}{compiling}",
        flush=True,
    )
    if "report" in row:
        print("    " + row["report"].replace("\n", "\n    "), flush=True)


def slower(rows):
    """Bodies whose lanes are slower than the scalar path by more than 5 %, by the medians and by the best times: other
    programs on the machine add to a time and never take away."""
    return [
        f"{row['body']} ({row['ratios']['scalar']:.3f}, best {row['best']['scalar'] / row['best']['lanes']:.3f})"
        for row in rows
        if max(row["ratios"]["scalar"], row["best"]["scalar"] / row["best"]["lanes"]) < 0.95
    ]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="*", choices=list(BODIES), default=list(BODIES), metavar="NAME", help=", ".join(BODIES)
    )
    parser.add_argument("--lanes", type=int, default=0, help="lanes to force (0: the compiler chooses)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks/spmd"))
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table here as well")
    parser.add_argument(
        "--budget", type=float, default=1.5, help="seconds a body's rounds may take (at least three are made)"
    )
    parser.add_argument("--cold-repeats", type=int, default=7)
    parser.add_argument("--no-cold", action="store_true", help="leave out the time to compile")
    parser.add_argument("--no-peers", action="store_true", help="only the two paths")
    parser.add_argument("--report", action="store_true", help="print what the compiler says of each body")
    parser.add_argument(
        "--busy", action="store_true", help="one thread and its processor time, where others compute too"
    )
    arguments = parser.parse_args()
    arguments.clock = time.process_time if arguments.busy else time.perf_counter
    if arguments.busy:
        cp.set_num_threads(1)
    return arguments


def main():
    arguments = parse_arguments()
    arguments.output.mkdir(parents=True, exist_ok=True)
    peers.settings.update(folder=arguments.output, threads=cp.get_num_threads())
    options = (f"--lanes={arguments.lanes}",) if arguments.lanes else ()
    machine = {
        "processor": processor(),
        "threads": cp.get_num_threads(),
        "avx512": peers.has_avx512(),
        "numpy": np.__version__,
    }
    print(
        f"{machine['processor']}, {machine['threads']} threads, AVX-512: {'yes' if machine['avx512'] else 'no'}\n",
        flush=True,
    )
    rows = []
    for name in arguments.only:
        rows.append(run_body(name, options, arguments))
        print_row(rows[-1])
        (arguments.output / "results.json").write_text(json.dumps({"machine": machine, "rows": rows}, indent=1))
    print("\n" + table(rows))
    if arguments.markdown:
        arguments.markdown.write_text(table(rows) + "\n")
    for text in peers.settings["notes"]:
        print(text)
    print("slower than the scalar path by more than 5 %:", ", ".join(slower(rows)) or "none")


if __name__ == "__main__":
    main()
