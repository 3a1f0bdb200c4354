"""Compares kernels over blocks of threads with NumPy: python tests/fuzz/blocks --seconds 60 [--seed N].

Writes random CUDA kernels of int32 numbers: barriers, shared memory, loops that the block takes together and loops that
threads leave one by one, atomics, shuffles, votes, early ends. Each runs as a RawKernel with random sizes of grid and
block, and is compared with a reference that computes each statement for all threads at once in NumPy. Some texts are
hostile: they must compile and end, or be refused by one of the library's errors. The exit code is 1 after a finding; a
crash ends the process. --case SEED:NUMBER runs one kernel again and prints it. The kernels run on the default device.
"""

import argparse
import random
import sys
import time
import traceback
import warnings

import numpy as np

import iruka

HEAD = """extern "C" __global__ void kernel(const int* x, int* out, int n) {
  __shared__ int s[THREADS];
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), b = blockIdx.x;
  int a = x[(t + b) % n], c = t, d = b, e = 1;
"""
NAMES = ("a", "c", "d", "e")
HOSTILE = [
    "while (1) {}", "__shared__ int huge[1 << 28]; huge[t] = 1;", "int local[1 << 24]; local[t] = a; a = local[c & 7];",
    "a = *(int*)0 ? 1 : 2;", "__syncthreads;", "__syncthreads(1, 2);", "goto nowhere;", "asm(\"int3\");", "a = kernel;",
    "extern __shared__ int m[]; extern __shared__ double m2[];", "throw 1;", "new int[10];", "printf(x);", "printf(\"%s\");",
    "printf(\"%d\\n\", \"text\");", "std::vector<int> v;", "#include <vector>\n", "#include \"/etc/passwd\"\n", "}", "{",
    "int depth(int);", "a = __shfl_sync(0, s, 1);", "a = __ballot_sync();", "__trap();", "exit(1);", "a = malloc(4);",
    "template <int k> void f();", "static int v = x[0];", "thread_local int v;", "dim3 q(1, 2, 3, 4);", "a = threadIdx;",
    "threadIdx.x = 3;", "blockDim.x = 3;", "int v[n];", "a = sizeof(huge);", "if (a) __syncthreads(); else return;",
    "for (;;) { __syncthreads(); if (t == t) break; }", "switch (a & 3) { case 0: __syncthreads(); default: c = 1; }",
    "a = __shfl_xor_sync(0xffffffff, a, 1 << 30, 7);", "__syncwarp(); __threadfence(); __nanosleep(10);",
    "constexpr int f = [] { int k = 0; while (true) ++k; return k; }();", "co_return;", "a = __builtin_coro_done(0);",
    "iruka_barrier(1);", "void* p = &&here; here: goto *p;", "__asm__(\".incbin \\\"/etc/passwd\\\"\");", "alignas(4096) int v = a;",
    "struct R { R() {} ~R() {} int v; }; __shared__ R r; r.v = a;", "__shared__ int i = 3; a = i;", "a = clock();",
    "iruka_grid_barrier();", "if (t & 1) iruka_grid_barrier(); else __syncthreads();", "while (atomicAdd(out, 1) < 90) {}",
    "while (atomicAdd(out, 7) < 90) a = __shfl_xor_sync(~0u, a, 1);", "assert(a != c); a = __shfl_xor_sync(~0u, a, 1);",
    "__constant__ int k[3];", "#include <cooperative_groups.h>\n", "__launch_bounds__(a) int v;",
]  # fmt: skip


def wrapped(value):
    return np.asarray(value).astype(np.int64).astype(np.int32)


class Writer:
    """Writes a kernel, and for each statement a function that does the same to a state of NumPy arrays.

    A state maps names to an int64 array of all threads, with "s" for the shared memory of the block; `mask` are the
    threads that run the statement.
    """

    def __init__(self, choice, threads, has_warps):
        self.choice, self.threads, self.has_warps = choice, threads, has_warps
        self.loops = 0

    def variable(self):
        name = self.choice.choice((*NAMES, "t"))
        return name, lambda state: state[name]

    def leaf(self):
        pick = self.choice.random()
        if pick < 0.6:
            return self.variable()
        if pick < 0.8:
            text, value = self.variable()
            return f"x[({text} & 1023) % n]", lambda state: state["x"][(value(state) & 1023) % state["n"]]
        number = self.choice.randrange(-20, 100)
        return str(number), lambda state: np.full(self.threads, number)

    def expression(self, depth=2):
        if depth == 0 or self.choice.random() < 0.3:
            return self.leaf()
        (left, a), (right, b) = self.expression(depth - 1), self.expression(depth - 1)
        operation = self.choice.choice(["+", "-", "*", "&", "|", "^", "<", "min", "?"])
        if operation == "min":
            return f"min({left}, {right})", lambda state: np.minimum(a(state), b(state))
        if operation == "<":
            return f"(int)({left} < {right})", lambda state: (a(state) < b(state)).astype(np.int64)
        if operation == "?":
            return (f"({left} % 3 == 0 ? {right} : {left})",
                    lambda state: np.where(np.fmod(a(state), 3) == 0, b(state), a(state)))  # fmt: skip
        compute = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
                   "^": np.bitwise_xor}[operation]  # fmt: skip
        return f"({left} {operation} {right})", lambda state: wrapped(compute(a(state), b(state))).astype(np.int64)

    def assignment(self):
        name = self.choice.choice(NAMES)
        text, value = self.expression()

        def run(state, mask):
            state[name] = np.where(mask, wrapped(value(state)), state[name]).astype(np.int64)

        return f"{name} = {text};", run

    def block(self, make, count):
        parts = [make() for _ in range(count)]

        def run(state, mask):
            for _, each in parts:
                each(state, mask)

        return " ".join(text for text, _ in parts), run

    def branch(self):
        text, value = self.expression(1)
        (yes, run_yes), (no, run_no) = self.block(self.alone, 2), self.block(self.alone, 1)

        def run(state, mask):
            taken = value(state) % 2 != 0
            run_yes(state, mask & taken)
            run_no(state, mask & ~taken)

        return f"if ({text} & 1) {{ {yes} }} else {{ {no} }}", run

    def own_loop(self):
        """A loop that each thread leaves after its own number of rounds."""
        self.loops += 1
        name = self.choice.choice(NAMES)
        body, run_body = self.block(self.assignment, 2)
        k = f"k{self.loops}"

        def run(state, mask):
            rounds = state[name] & 3
            for k in range(4):
                run_body(state, mask & (k < rounds))

        return f"for (int {k} = 0, end{k} = {name} & 3; {k} < end{k}; ++{k}) {{ {body} }}", run

    def alone(self):
        pick = self.choice.random()
        return self.assignment() if pick < 0.75 else self.branch() if pick < 0.9 else self.own_loop()

    def exchange(self):
        """Threads write their places of the shared memory, and read others'."""
        (text, value), (place, at) = self.expression(1), self.expression(1)
        name, shift = self.choice.choice(NAMES), self.choice.randrange(self.threads)

        def run(state, mask):
            places = (np.arange(self.threads) + shift) % self.threads
            state["s"][places[mask]] = wrapped(value(state))[mask]
            read = state["s"][(at(state) & 0xFFFF) % self.threads]
            state[name] = np.where(mask, read, state[name]).astype(np.int64)

        return (f"s[(t + {shift}) % {self.threads}] = {text}; __syncthreads(); "
                f"{name} = s[({place} & 0xffff) % {self.threads}]; __syncthreads();"), run  # fmt: skip

    def count(self):
        """Atomic additions to few places, whose order does not matter."""
        (text, value), name = self.expression(1), self.choice.choice(NAMES)
        places = self.choice.choice([1, 3, 8])

        def run(state, mask):
            state["s"][np.arange(self.threads)[mask]] = 0
            where = (np.arange(self.threads) * 5 % places) % self.threads
            totals = np.zeros(self.threads, np.int64)
            np.add.at(totals, where[mask], value(state)[mask])
            state["s"] = wrapped(state["s"] + totals)
            read = state["s"][(np.arange(self.threads) + 1) % places % self.threads]
            state[name] = np.where(mask, read, state[name]).astype(np.int64)

        return (f"s[t] = 0; __syncthreads(); atomicAdd(&s[t * 5 % {places} % {self.threads}], {text}); __syncthreads(); "
                f"{name} = s[(t + 1) % {places} % {self.threads}]; __syncthreads();"), run  # fmt: skip

    def shuffle(self):
        name, source = self.choice.choice(NAMES), self.choice.choice(NAMES)
        kind, by = self.choice.choice(["xor", "up", "down", ""]), self.choice.randrange(32)
        width = self.choice.choice([32, 32, 16, 4])
        lanes = np.arange(self.threads)

        def run(state, mask):
            first = lanes // width * width
            own = lanes - first
            if kind == "xor":
                from_ = lanes // 32 * 32 + (lanes % 32 ^ by)
                from_ = np.where(from_ > first + width - 1, lanes, from_)
            elif kind == "up":
                from_ = np.where(own < by, lanes, lanes - by)
            elif kind == "down":
                from_ = np.where(own + by >= width, lanes, lanes + by)
            else:
                from_ = first + by % width
            state[name] = state[source][from_].copy()

        call = f"__shfl{'_' if kind else ''}{kind}_sync(0xffffffffu, {source}, {by}, {width})"
        return f"{name} = {call};", run

    def vote(self):
        (text, value), name = self.expression(1), self.choice.choice(NAMES)

        def run(state, mask):
            odd = (value(state) % 2 != 0).reshape(-1, 32)
            bits = (odd << np.arange(32)).sum(1)
            state[name] = wrapped(np.repeat(bits, 32)).astype(np.int64)

        return f"{name} = (int)__ballot_sync(0xffffffffu, {text} & 1);", run

    def together(self, depth=2):
        """A statement that the whole block runs."""
        pick = self.choice.random()
        if pick < 0.3:
            return self.exchange()
        if pick < 0.4:
            return self.count()
        if pick < 0.6 and self.has_warps:
            return self.shuffle() if self.choice.random() < 0.7 else self.vote()
        if pick < 0.75 and depth:
            return self.common_loop(depth)
        if pick < 0.82 and depth:
            body, run_body = self.block(lambda: self.together(depth - 1), 2)
            return f"if (b & 1) {{ {body} }}", lambda state, mask: run_body(state, mask) if state["b"] & 1 else None
        return self.alone()

    def common_loop(self, depth):
        self.loops += 1
        k, rounds = f"k{self.loops}", self.choice.choice(["3", "b + 1", "n % 4"])
        body, run_body = self.block(lambda: self.together(depth - 1), 2)

        def run(state, mask):
            for _ in range({"3": 3, "b + 1": state["b"] + 1, "n % 4": state["n"] % 4}[rounds]):
                run_body(state, mask)

        return f"for (int {k} = 0; {k} < {rounds}; ++{k}) {{ {body} }}", run


def shape_of(choice, has_warps):
    if has_warps:
        return choice.choice([(32, 1, 1), (64, 1, 1), (128, 1, 1), (16, 4, 1), (8, 4, 4), (96, 1, 1)])
    return choice.choice([(1, 1, 1), (7, 1, 1), (16, 16, 1), (33, 2, 1), (5, 3, 2), (100, 1, 1), (8, 8, 1), (48, 1, 2)])


def kernel_of(seed, number):
    choice = random.Random(f"{seed}:{number}")
    has_warps = choice.random() < 0.5
    shape = shape_of(choice, has_warps)
    threads = int(np.prod(shape))
    writer = Writer(choice, threads, has_warps)
    is_hostile = choice.random() < 0.15
    text, run = writer.block(writer.together, choice.randrange(1, 7))
    if is_hostile:
        text += choice.choice(["", "\n"]) + choice.choice(HOSTILE)
    source = HEAD.replace("THREADS", str(threads)) + "  " + text
    source += "\n  out[b * THREADS + t] = a ^ (c * 31) ^ (d * 17) ^ e;\n}\n".replace("THREADS", str(threads))
    grid, n = choice.choice([1, 2, 5]), choice.choice([1, 3, 17, 1000])
    x = np.random.default_rng(number).integers(-1000, 1000, n).astype(np.int32)
    return source, shape, grid, x, run, is_hostile


def expected_of(shape, grid, x, run):
    threads, out = int(np.prod(shape)), []
    for b in range(grid):
        t = np.arange(threads)
        state = {"a": x[(t + b) % x.size].astype(np.int64), "c": t.copy(), "d": np.full(threads, b), "t": t, "b": b,
                 "e": np.ones(threads, np.int64), "x": x.astype(np.int64), "n": x.size,
                 "s": np.zeros(threads, np.int64)}  # fmt: skip
        run(state, np.ones(threads, bool))
        out.append(wrapped(state["a"] ^ wrapped(state["c"] * 31) ^ wrapped(state["d"] * 17) ^ state["e"]))
    return np.concatenate(out)


def finding_of(seed, number):
    """What is wrong with one kernel, or None; the text; whether it was refused."""
    source, shape, grid, x, run, is_hostile = kernel_of(seed, number)
    kernel = iruka.RawKernel(source, "kernel")
    device_x, out = iruka.asarray(x), iruka.zeros(grid * int(np.prod(shape)), dtype="int32")
    if is_hostile:
        if "while (1)" in source or "(int*)0" in source:
            return None, source, True  # a kernel that does not end or reads null is the user's
        try:
            kernel((grid,), shape, (device_x, out, x.size))
            iruka.asnumpy(out)
        except (iruka.errors.Error, ValueError, TypeError) as error:
            return (None if str(error) else "an error without words"), source, True
        return None, source, False
    kernel((grid,), shape, (device_x, out, x.size))
    result, expected = iruka.asnumpy(out), expected_of(shape, grid, x, run)
    if np.array_equal(result, expected):
        return None, source, False
    at = int(np.flatnonzero(result != expected)[0])
    return f"element {at} is {result[at]}, not {expected[at]}; block {shape}, grid {grid}, n {x.size}", source, False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--case")
    options = parser.parse_args()
    warnings.simplefilter("ignore", iruka.errors.KernelWarning)
    if options.case:
        seed, number = map(int, options.case.split(":"))
        finding, source, _ = finding_of(seed, number)
        print(source, finding or "no finding", f"--case {options.case}", sep="\n")
        return 1 if finding else 0
    end, findings, refused, number = time.monotonic() + options.seconds, 0, 0, 0
    while number < options.count and time.monotonic() < end:
        try:
            finding, source, was_refused = finding_of(options.seed, number)
        except Exception:
            finding, source, was_refused = traceback.format_exc(), kernel_of(options.seed, number)[0], False
        refused += was_refused
        if finding:
            findings += 1
            print(f"--case {options.seed}:{number}: {finding}\n{source}", flush=True)
        number += 1
    print(f"{number} kernels of seed {options.seed}, {findings} findings, {refused} hostile ones refused")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
