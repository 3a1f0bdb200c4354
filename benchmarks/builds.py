"""Two builds of Iruka compared: python benchmarks/builds.py BEFORE AFTER [--sizes 1000 1000000] [--only TEXT...]
[--repeats N] [--output FILE]

BEFORE and AFTER are folders that hold the Python package (build/release/python). Each build runs in a process of its
own; a measurement asks both in turn, so that the machine's noise meets both alike. Measured are the cases of
array_cases.py, launches, imports, and first calls with nothing compiled. A ratio is the median over the repeats of
after/before: over 1 says that AFTER is slower. Its quartiles stand beside it. IRUKA_DEVICE=cuda compares on a GPU.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import types

import numpy as np

from measure import markdown, processor

DEVICE = os.environ.get("IRUKA_DEVICE", "cpu")
SAMPLE = 1e-3  # seconds that one measurement takes at least: short calls are repeated
COLD = {
    "first call of a kernel": lambda m: m.ElementwiseKernel("T x, T y", "T z", "z = x * y + x")(m.x, m.x),
    "first call of x + y": lambda m: m.x + m.x,
    "first call of exp": lambda m: m.exp(m.x),
    "first call of sum": lambda m: m.x.sum(),
    "first call of sum, axis=0": lambda m: m.table.sum(axis=0),
    "first call of argmax": lambda m: m.x.argmax(),
    "first call of var": lambda m: m.var(m.x),
    "first call of cumsum": lambda m: m.cumsum(m.x),
    "first call of sort": lambda m: m.sort(m.x),
    "first call of x[mask]": lambda m: m.x[m.mask],
    "first call of random": lambda m: m.random.default_rng(1).random(90_000),
    "first call of standard_normal": lambda m: m.random.default_rng(1).standard_normal(90_000),
    "first call of searchsorted": lambda m: m.searchsorted(m.x, m.x),
}
LAUNCHES = {
    "launch of a kernel, output given": lambda m: m.kernel(m.few, m.few, m.given),
    "launch of a kernel": lambda m: m.kernel(m.few, m.few),
    "add of 100 elements": lambda m: m.add(m.few, m.few),
    "sum of 100 elements": lambda m: m.few.sum(),
    "x[1:]": lambda m: m.few[1:],
}


class Worker:
    """One build in a process of its own, which serves `serve`."""

    def __init__(self, package, cache):
        environment = os.environ | {"PYTHONPATH": package, "IRUKA_CACHE_DIR": cache, "IRUKA_SHIPPED_KERNELS": "0"}
        self.environment = environment
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the build's process ended at {request!r}")
        return float(answer)

    def in_new_process(self, *command):
        with tempfile.TemporaryDirectory(prefix="iruka-builds-") as cache:
            environment = self.environment | {"IRUKA_CACHE_DIR": cache}
            done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)
        return float(done.stdout) if done.returncode == 0 else math.nan

    def seconds(self, request):
        if request == "import":
            command = (
                "import time, numpy; start = time.perf_counter(); import iruka; print(time.perf_counter() - start)"
            )
            return self.in_new_process("-c", command)
        if request.startswith("cold "):
            return self.in_new_process(__file__, "--cold", request.removeprefix("cold "))
        return self.ask(request)


def module_with_operands():
    """The module's functions, and the operands that COLD and LAUNCHES name, in one namespace."""
    import iruka

    names = types.SimpleNamespace(**{name: getattr(iruka, name) for name in dir(iruka) if not name.startswith("__")})
    names.x = iruka.asarray(np.linspace(0, 1, 90_000, dtype="float32"))  # few elements need no kernel
    names.few = names.x[:100].copy()
    names.table = names.x.reshape(300, 300).copy()
    names.mask = iruka.asarray(np.linspace(0, 1, 90_000) > 0.5)
    names.given = iruka.empty(100, "float32")
    names.kernel = iruka.ElementwiseKernel("T x, T y", "T z", "z = x * y + x", "compared")
    return names


def cold(name):
    """Seconds of the first call of COLD[name], after a kernel of another kind, which starts the compiler."""
    names = module_with_operands()
    names.ElementwiseKernel("int16 x", "int16 y", "y = x ^ 5", "other")(names.zeros(4, "int16"))
    start = time.perf_counter()
    COLD[name](names)
    if DEVICE == "cuda":
        names.cuda.Device().synchronize()
    return time.perf_counter() - start


class Server:
    """Answers requests with seconds: 'case INDEX LAYOUT SIZE' or 'launch NAME'; nan where it raised."""

    def __init__(self):
        import iruka
        from arrays import Library, Operands

        self.iruka, self.library = iruka, Library("Iruka", iruka, DEVICE)
        self.operands = Operands()
        self.calls = {}
        self.names = module_with_operands()

    def call(self, kind, *request):
        if kind == "launch":
            call = LAUNCHES[" ".join(request)]
            return lambda: call(self.names)
        from array_cases import CASES
        from arrays import bound

        case = CASES[int(request[0])]
        return bound(case.call, self.library, int(request[2]), request[1], self.operands, case)

    def answer(self, request):
        kind, *rest = request.split()
        if request not in self.calls:
            self.library.forget(())
            self.operands.made.clear()
            call = self.call(kind, *rest)
            for _ in range(4):
                start = time.perf_counter()
                call()
                once = time.perf_counter() - start
            self.calls = {request: (call, max(1, math.ceil(SAMPLE / max(once, 1e-7))))}
            self.iruka.finish_background_compilation()
        call, count = self.calls[request]
        wait = self.library.wait or (lambda: None)
        wait()
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        return (time.perf_counter() - start) / count

    def serve(self):
        np.seterr(all="ignore")
        for line in sys.stdin:
            try:
                seconds = self.answer(line.strip())
            except Exception as error:  # one of the builds may not have the function yet
                print(f"{line.strip()}: {error}", file=sys.stderr)
                seconds = math.nan
            print(seconds, flush=True)


def requests(options):
    from array_cases import CASES

    found = [("import", "import")]
    found += [(name, f"launch {name}") for name in LAUNCHES]
    found += [(name, f"cold {name}") for name in COLD]
    for size in options.sizes:
        for index, case in enumerate(CASES):
            if size <= case.most:
                found += [
                    (f"{case.name}, {size:.0e}, {layout}", f"case {index} {layout} {size}") for layout in case.layouts
                ]
    wanted = options.only or [""]
    return [(name, request) for name, request in found if any(text in name for text in wanted)]


def compare(workers, request, repeats):
    """Pairs of seconds of the two builds, in an order that alternates."""
    pairs = []
    for repeat in range(repeats):
        order = workers if repeat % 2 == 0 else workers[::-1]
        seconds = {each: each.seconds(request) for each in order}
        pairs.append([seconds[each] for each in workers])
        if any(map(math.isnan, pairs[-1])):
            break
    return pairs


def row(name, pairs):
    if any(map(math.isnan, pairs[-1])):
        return None
    pairs = pairs[1:]  # the first round meets cold caches
    ratios = [after / before for before, after in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    before, after = (statistics.median(each) for each in zip(*pairs, strict=True))
    return name, before, after, low, middle, high


def cells(name, before, after, low, middle, high):
    return [name, f"{before * 1e6:.2f}", f"{after * 1e6:.2f}", f"{middle:.3f}", f"{low:.3f} to {high:.3f}"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("before")
    options.add_argument("after")
    options.add_argument("--sizes", type=int, nargs="+", default=[10**3, 10**6])
    options.add_argument("--only", nargs="+", help="parts of names of cases")
    options.add_argument("--repeats", type=int, default=15)
    options.add_argument("--output", type=pathlib.Path, help="where to write the table")
    options = options.parse_args()
    rows = []
    header = ["case", "before µs", "after µs", "after/before", "quartiles"]
    with tempfile.TemporaryDirectory(prefix="iruka-builds-") as folder:
        workers = [Worker(package, f"{folder}/{k}") for k, package in enumerate((options.before, options.after))]
        for name, request in requests(options):
            found = row(name, compare(workers, request, options.repeats))
            if found:
                rows.append(found)
                print(" | ".join(cells(*found)), flush=True)
        for each in workers:
            each.process.stdin.close()
            each.process.wait()
    rows.sort(key=lambda each: -each[4])
    text = f"{processor()}\n\n" + markdown([cells(*each) for each in rows], header) + "\n"
    geometric = math.exp(statistics.fmean(math.log(each[4]) for each in rows))
    text += f"\ngeometric mean of {len(rows)}: {geometric:.3f}; over 1.03: {sum(each[4] > 1.03 for each in rows)}\n"
    if options.output:
        options.output.write_text(text)
    print("\n" + text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        Server().serve()
    elif sys.argv[1:2] == ["--cold"]:
        print(cold(sys.argv[2]))
    else:
        main()
