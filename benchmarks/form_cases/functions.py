"""Cases of Python functions of numbers and of rows: vectorize and guvectorize beside Numba's."""

import functools
import linecache
import math

import numpy as np

import iruka

from .common import AT_LEAST_EQUAL, HALF, ON_GPU, Case, floats, numba, place, power

FASTER = AT_LEAST_EQUAL if ON_GPU else 1.1
PEERS = {"Numba": "cuda"} if ON_GPU else {"Numba": "parallel", "Numba, one thread": "cpu"}
PEERS = PEERS if numba else {}


def add(x, y):
    return x + y


def bell(x, y):
    return math.exp(-(x * x) / np.float32(2)) * y


def branches(x, y):
    if x > y:
        return x - y
    if x < 0:
        return -x * y
    return math.sqrt(abs(y))


def escape_time(x, y):
    a = b = np.float32(0)
    for k in range(30):
        if a * a + b * b > 4:
            return np.float32(k)
        a, b = a * a - b * b + x, np.float32(2) * a * b + y
    return np.float32(30)


def mixed(x, y):
    return ((x * 31) ^ (y >> 3)) & 0xFFFF


def add8(a, b, c, d, e, f, g, h):
    return a + b + c + d + e + f + g + h


def smooth(x, weight, out):
    out[0] = x[0]
    for k in range(1, x.shape[0]):
        out[k] = weight * x[k] + (np.float32(1) - weight) * out[k - 1]


def many_statements(count):
    """A function of a row with so many conditions and indices, as programs write it that unroll loops."""
    tests = "".join(f"        if i + {k} < m and x[i] > {k}: total += x[i + {k}]\n" for k in range(count))
    text = f"def function(x, m, out):\n    total = x[0]\n    for i in range(x.shape[0]):\n{tests}    out[0] = total\n"
    file = f"<{count} statements>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {}
    exec(compile(text, file, "exec"), scope)
    return scope["function"]


SIGNATURES = {mixed: "int32(int32, int32)", add8: f"float32({', '.join(['float32'] * 8)})"}


def signature(function):
    return SIGNATURES.get(function, "float32(float32, float32)")


def decorators(function):
    """Each library's decorator with a signature, by name; Numba's for each target."""
    made = {"Iruka": iruka.vectorize([signature(function)], target="cuda" if ON_GPU else "parallel")}
    return made | {name: numba.vectorize([signature(function)], target=target) for name, target in PEERS.items()}


def of_each(decorators, function, operands, out, out_by_keyword=True):
    """Makers of calls that write to `out`, or give a new array where it is None."""

    def make(library, decorator):
        kernel = decorator(function)
        values = [on_target(library, value) for value in operands]
        if out is None:
            return lambda: kernel(*values)
        target = on_target(library, np.empty_like(out))
        if out_by_keyword:
            return lambda: kernel(*values, out=target)

        def run():
            kernel(*values, target)
            return target

        return run

    return {name: functools.partial(make, name, decorator) for name, decorator in decorators.items()}


def on_target(library, value):
    """Functions of the CPU take the host's arrays in both libraries."""
    return place(library, value) if ON_GPU else value


def integers(size, seed):
    return np.random.default_rng(seed).integers(-(2**31), 2**31, size, dtype="int32")


def operands_of(function, size):
    if function is mixed:
        return [integers(size, 1), integers(size, 2)]
    return [floats(size, seed) for seed in range(function.__code__.co_argcount)]


def launches():
    for function in (add, add8):
        operands = operands_of(function, 16)
        for out in (operands[0], None):
            yield Case(
                "launch",
                f"vectorize, {len(operands)} inputs{', allocating' if out is None else ''}",
                of_each(decorators(function), function, operands, out),
                HALF,
                kind="launch",
                expected=lambda operands=operands: sum(operands),
            )
    operands = [floats((4, 8)), np.float32(0.25)]
    makers = of_each(row_decorators(), smooth, operands, operands[0], out_by_keyword=False)
    yield Case("launch", "guvectorize, (n),()->(n)", makers, HALF, kind="launch")


def row_decorators(arguments=(["void(float32[:], float32, float32[:])"], "(n),()->(n)")):
    made = {"Iruka": iruka.guvectorize(*arguments, target="cuda" if ON_GPU else "parallel")}
    return made | {name: numba.guvectorize(*arguments, target=target) for name, target in PEERS.items()}


def throughput(quick):
    size = 2**18 if quick else 2**26
    for function in (add, bell, branches, mixed, escape_time):
        operands = operands_of(function, size)
        made = decorators(function)
        made.pop("Numba, one thread", None)
        yield Case(
            "vectorize",
            f"{function.__name__}, {power(size)}",
            of_each(made, function, operands, operands[0]),
            FASTER,
            tolerance=1e-4,
            agreement=0.999 if function is escape_time else 1,  # a count depends on the rounding of each step
        )
    operands = operands_of(add, size)
    made = {"Iruka": iruka.vectorize(target="cuda" if ON_GPU else "parallel")}
    if numba and not ON_GPU:
        made["Numba"] = decorators(add)["Numba"]  # without signatures Numba has one thread
    expected = lambda: operands[0] + operands[1]
    yield Case(
        "vectorize", f"add without signatures, {power(size)}", of_each(made, add, operands, operands[0]), FASTER,
        expected=expected,
    )  # fmt: skip
    made = {"Iruka": iruka.vectorize} | ({"Numba": decorators(add)["Numba"]} if numba and not ON_GPU else {})
    yield Case(
        "vectorize", f"add as in NumPy, allocating, {power(size)}", of_each(made, add, operands, None), FASTER,
        expected=expected,
    )  # fmt: skip
    shape = (2**10, 64) if quick else (2**20, 64)
    operands = [floats(shape), np.float32(0.25)]
    made = row_decorators()
    made.pop("Numba, one thread", None)
    makers = of_each(made, smooth, operands, operands[0], out_by_keyword=False)
    yield Case("guvectorize", f"smooth, {power(shape[0])} rows of 64", makers, FASTER, tolerance=1e-4)


def first_calls():
    """Translation and compilation, with signatures."""
    for function in (add, bell, branches, escape_time, mixed, add8):
        operands = operands_of(function, 16)

        def make(library, decorator, function=function, operands=operands):
            values = [on_target(library, value) for value in operands]
            return lambda: decorator(function)(*values)

        made = decorators(function)
        made.pop("Numba, one thread", None)
        makers = {name: functools.partial(make, name, decorator) for name, decorator in made.items()}
        yield Case(
            "first call", f"vectorize, {function.__name__}", makers, most=None if ON_GPU else 0.025, kind="first"
        )
    operands = [floats((4, 8)), np.float32(0.25), floats((4, 8))]

    def make_rows(library, decorator):
        values = [on_target(library, value) for value in operands]
        return lambda: decorator(smooth)(*values)

    made = row_decorators()
    made.pop("Numba, one thread", None)
    makers = {name: functools.partial(make_rows, name, decorator) for name, decorator in made.items()}
    yield Case("first call", "guvectorize, smooth", makers, most=None if ON_GPU else 0.025, kind="first")
    for count in (40, 160):
        yield long_function(count)


def long_function(count):
    function, given = many_statements(count), [floats((4, 200)), np.int64(100)]
    made = row_decorators((["void(float32[:], int64, float32[:])"], "(n),()->()"))
    made.pop("Numba, one thread", None)

    def make(library, decorator):
        values = [on_target(library, value) for value in given]
        return lambda: decorator(function)(*values)

    makers = {name: functools.partial(make, name, decorator) for name, decorator in made.items()}
    return Case("first call", f"guvectorize, {count} statements", makers, most=None, kind="first")
