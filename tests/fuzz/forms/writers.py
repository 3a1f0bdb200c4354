"""What the fuzzer of tests/fuzz/forms writes: for each form of kernel a text, and a function that runs and compares it.

A hostile case has a text with changes, which is refused or runs; its results are not compared.
"""

import linecache
import math
import pathlib
import pickle
import random
import re
import sys
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from blocks.__main__ import HEAD, HOSTILE as HOSTILE_C, Writer as BlockWriter, expected_of, kernel_of
from functions.__main__ import (
    FLOATS,
    HELPER,
    HOSTILE as HOSTILE_PYTHON,
    INTEGERS,
    Writer as FunctionWriter,
    is_comparable,
)

import iruka
from iruka import jit


class Mismatch(Exception):
    """A result that is not the reference's."""


class Skipped(Exception):
    """A function for which Python has no result, or one that 64 bits cannot hold."""


def made(text, name="written"):
    """A function of a text, which inspect.getsource finds."""
    file = f"<fuzz {len(linecache.cache)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"math": math, "np": np, "iruka": iruka, "jit": jit, "__name__": "fuzz"}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def check(actual, expected, tolerance=1e-9):
    actual, expected = iruka.asnumpy(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        raise Mismatch(f"the shape is {actual.shape}, not {expected.shape}")
    if actual.dtype.kind in "iub" and expected.dtype.kind in "iub":
        same = actual == expected
    else:
        scale = np.nanmax(np.abs(expected), initial=1, where=np.isfinite(expected))
        same = np.isclose(actual, expected, rtol=tolerance, atol=tolerance * float(scale), equal_nan=True)
    if not same.all():
        place = tuple(int(each[0]) for each in np.nonzero(np.atleast_1d(~same)))
        raise Mismatch(f"element {place} is {np.atleast_1d(actual)[place]!r}, not {np.atleast_1d(expected)[place]!r}")


# Changes of texts


def changed_python(text, choice):
    """The text of a function with lines and words changed, behind its first line."""
    lines = text.splitlines()
    first = max(k for k, line in enumerate(lines) if line.startswith("def ")) + 1
    for _ in range(choice.randint(1, 3)):
        at = choice.randrange(first, len(lines))
        line, indent = lines[at], lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        pick = choice.random()
        if pick < 0.4:
            hostile = choice.choice(HOSTILE_PYTHON).format("x")
            lines.insert(at, f"{indent}{choice.choice(['z = ', 'x = ', 'return ', 'if ', ''])}{hostile}")
        elif pick < 0.5:
            lines.insert(at, choice.choice(lines[first:]))
        elif pick < 0.6 and len(lines) > first + 1:
            del lines[at]
        else:
            words = re.findall(r"\w+|[^\w\s]+", line) or [" "]
            other = [
                *words,
                "10**9",
                "-1",
                "1e308",
                "None",
                "x",
                "()",
                "[0]",
                "not",
                "**",
                "<<",
                ".T",
                "'a'",
                "1j",
                "jit",
            ]
            place = choice.choice(words)
            lines[at] = line.replace(place, choice.choice(other), 1)
    return "\n".join(lines) + "\n"


def changed_c(text, choice, start):
    """C++ with characters and words changed behind the character `start`."""
    for _ in range(choice.randint(1, 4)):
        at = choice.randint(start, len(text))
        pick = choice.random()
        if pick < 0.3:
            text = text[:at] + choice.choice(["", "\n"]) + choice.choice(HOSTILE_C) + text[at:]
        elif pick < 0.5:
            text = text[:at] + text[at + choice.randint(1, 4) :]
        elif pick < 0.7:
            part = choice.choice(
                ["{", "}", "(", ")", ";", "<", "::", "#", "\\", '"', "'", "/*", "//", "\n#define a (", "9" * 400]
            )
            text = text[:at] + part * choice.choice([1, 1, 50]) + text[at:]
        else:
            words = re.findall(r"\w+|[^\w\s]", text[start:]) or [" "]
            text = text[:start] + text[start:].replace(
                choice.choice(words), choice.choice([*words, "template", "auto", "&"]), 1
            )
    return text


# Functions of numbers


def function_of(choice, is_hostile, whole):
    text = HELPER + FunctionWriter(choice, whole).text()
    return changed_python(text, choice) if is_hostile else text


def numbers(choice, whole, count=24):
    return np.array(choice.choices(INTEGERS if whole else FLOATS, k=count)).astype("int64" if whole else "float64")


def in_python(function, x, y):
    """Python's results, where they can be compared."""
    try:
        with np.errstate(all="ignore"):
            results = [function(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]
    except (ZeroDivisionError, OverflowError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise Skipped from error
    if not is_comparable(results):
        raise Skipped
    return np.array(results).astype(float)


def vectorize(choice, is_hostile):
    whole = choice.random() < 0.5
    text, x, y = function_of(choice, is_hostile, whole), numbers(choice, whole), numbers(choice, whole)
    signature = "int64(int64, int64)" if whole else "float64(float64, float64)"
    ways = {
        "as NumPy's": iruka.vectorize,
        "without signatures": lambda function: iruka.vectorize(target="cpu")(function),
        "with a signature": lambda function: iruka.vectorize([signature])(function),
        "frompyfunc": lambda function: iruka.frompyfunc(function, 2, 1),
    }
    way = choice.choice(list(ways))

    def run():
        function = made(text)
        expected = None if is_hostile else in_python(function, x, y)
        results = ways[way](function)(x, y)
        if expected is not None:
            is_cast = whole and way == "with a signature"
            check(iruka.asnumpy(results).astype(float), np.trunc(expected) if is_cast else expected)

    return text, run


def guvectorize(choice, is_hostile):
    writer = FunctionWriter(choice, whole=True)
    writer.known = ["x[k]", "y[k]", "x[0]", "total", "k"]
    body = [
        "def written(x, y, out):",
        "    total = 0",
        "    for k in range(len(x)):",
        f"        if {writer.condition()}:",
        f"            total = ({writer.expression()}) % 1009",
        "        else:",
        f"            total = total - ({writer.expression(2)}) % 97",
        "        out[k] = total",
        "    out[0] = total",
        "",
    ]
    text = HELPER + "\n".join(body)
    if is_hostile:
        text = changed_python(text, choice)
    x, y = (numbers(choice, True).reshape(4, 6) for _ in range(2))
    y = y[:1] if choice.random() < 0.3 else y

    def run():
        function = made(text)
        kernel = iruka.guvectorize(["void(int64[:], int64[:], int64[:])"], "(n),(n)->(n)")(function)
        if is_hostile:
            return kernel(x, y)
        expected = []
        try:
            for row, other in zip(x.tolist(), np.broadcast_to(y, x.shape).tolist(), strict=True):
                expected.append([0] * 6)
                function(row, other, expected[-1])
        except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
            raise Skipped from error
        if not is_comparable(np.ravel(expected).tolist()):
            raise Skipped
        check(kernel(x, y), np.array(expected))

    return text, run


class ViewWriter:
    """Writes functions of the rows of an array and of an array of results, whose expressions have effects."""

    HEAD = """
def bump(out):
    out[0] = out[0] % 1009 + 1
    return out[0]


def put(out, k, value):
    out[k] += value % 1009
    return out[2 - k] % 1009


def set_to(out, value):
    out[1] = value % 1009


def reads(out):
    return out[0] - out[2]


def pick(x, k):
    return x[k]


def both(x, out, k):
    if k > 0:
        return (x[k], x[0]), bump(out)
    return (x[1], x[k]), 5
"""

    def __init__(self, choice):
        self.choice = choice

    def one_of(self, *texts):
        return self.choice.choice(texts)

    def filled(self, *forms, depth):
        """One of these texts, with expressions for E, conditions for C, indices for I, views for V and numbers for N."""
        parts = {"E": self.expression, "C": self.condition, "I": self.index, "V": self.view}
        text = self.choice.choice(forms)
        text = re.sub(r"\b[ECIV]\b", lambda found: parts[found[0]](depth), text)
        text = re.sub(r"\bN\b", lambda _: self.one_of("total", "n"), text)
        text = text.replace(" ~ ", f" {self.one_of('+', '-', '*')} ").replace(" | ", f" {self.one_of('and', 'or')} ")
        return text

    def index(self, depth):
        return self.one_of("0", "1", "2") if depth < 1 else self.filled("0", "(E) % 3", depth=depth - 1)

    def expression(self, depth):
        if depth < 1:
            return self.one_of("a[0]", "b[1]", "a[2]", "out[0]", "out[2]", "total", "n", "3", "-7", "bump(out)")
        forms = [
            "(E ~ E)", "(E ~ E)", "out[I]", "bump(out)", "reads(out)", "put(out, I, E)", "(N := (E) % 1009)", "abs(E)",
            "(E if C else E)", "(E | E)", "min(E, E)", "max(E, E)", "divmod(E, 7)[1]", "(E, E, E)[1]", "V[I]",
            "both(x, out, 1)[1]", "both(x, out, 0)[0][1][2]", "int(C)",
        ]  # fmt: skip
        return self.filled(*forms, depth=depth - 1)

    def condition(self, depth):
        forms = ["(E < E)", "(E <= E != E > 2)", "(E in (1, E, E))", "(not E)", "(E > E | E > 1 | E < 4)", "(E | C)"]
        return self.filled(*forms[: 6 if depth > 0 else 3], depth=depth - 1)

    def view(self, depth):
        forms = ["a", "b", "x[1]", "pick(x, 0)", "pick(x, (E) % 2)", "(a if C else V)"]
        return self.filled(*forms[: 6 if depth > 0 else 4], depth=depth - 1)

    def statement(self, indent):
        tab = " " * indent
        if indent > 8 or self.choice.random() < 0.7:
            forms = [
                "a, b = b, a", "a, b = V, V", "a = V", "pair = (a, V); a, b = pair[::-1]", "(a, b), n = both(x, out, 1)",
                "a = V if C else V", "out[I] += E", "out[I] -= E", "out[I] = E", "out[I], total, out[I] = E, E, E",
                "total = (E) % 1009", "total += E", "n = total = (E) % 97", "set_to(out, E)", "E", "E, E",
                "set_to(out, E) if C else set_to(out, E)", "nothing = set_to(out, E)", "add = lambda p, q=E: p + q + bump(out) + n; total = add(E) % 1009",
            ]  # fmt: skip
            return [tab + self.filled(*forms, depth=2)]
        heads = [
            "if C:", "for v in V:", "for v in (E, n, total):", "for v in (E, E, n, E, a[0], out[1]):", "while bump(out) % 7 and C:",
            "for v in range((E) % 4, (E) % 9):", "for v in range((E) % 20, (E) % 4, -3):", "for v, n in zip((E, E), (n, E)):",
        ]  # fmt: skip
        head = self.filled(*heads, depth=1)
        inner = [line for _ in range(2) for line in self.statement(indent + 4)]
        if head.startswith("for"):
            inner.append(f"{tab}    total = (total + v) % 1009")
        elif head.startswith("while"):
            inner += [f"{tab}    rounds += 1", f"{tab}    if rounds > 5:", f"{tab}        break"]
        return [tab + head, *inner]

    def text(self):
        lines = ["    out[:] = 0", "    total = n = 1", "    rounds = 0", "    a, b = x[0], x[1]"]
        for _ in range(self.choice.randint(2, 6)):
            lines += self.statement(4)
        return "\n".join([self.HEAD, "", "def written(x, out):", *lines, "    out[1] += total", ""])


def views(choice, is_hostile):
    """A function with effects, by guvectorize and as the function of a thread."""
    text = ViewWriter(choice).text()
    if is_hostile:
        text = changed_python(text, choice)
    is_kernel = not is_hostile and choice.random() < 0.5
    text += "\n\ndef kernel(x, out):\n    k = jit.grid(1)\n    written(x[k], out[k])\n" if is_kernel else ""
    x = np.array(choice.choices(INTEGERS, k=30)).reshape(5, 2, 3)
    x = x[:, :, ::-1] if choice.random() < 0.3 else np.asfortranarray(x) if choice.random() < 0.3 else x

    def run():
        function = made(text)
        expected = np.zeros((5, 3), "int64")
        if not is_hostile:
            with np.errstate(all="ignore"):
                for row, out in zip(x, expected, strict=True):
                    function(row, out)
        if is_kernel:
            out = iruka.zeros((5, 3), "int64")
            jit.rawkernel()(made(text, "kernel"))((5,), (1,), (iruka.asarray(x), out))
            return check(out, expected)
        # the results have the extent n, which only the rows have
        kernel = iruka.guvectorize(["void(int64[:,:], int64[:])"], "(m,n)->(n)")(function)
        result = kernel(x)
        if not is_hostile:
            check(result, expected)

    return text, run


def rawkernel(choice, is_hostile):
    """A kernel whose threads compute, and exchange what they have computed."""
    shift, place = choice.randrange(1, 31), choice.randrange(32)
    ways = {
        "    s = jit.shared_memory(np.int64, 32)\n    s[t] = v\n    jit.syncthreads()\n"
        f"    out[i] = s[(t + {shift}) % 32]\n": lambda v: np.roll(v, -shift, 1),
        f"    out[i] = jit.shfl_xor_sync(0xffffffff, v, {place})\n": lambda v: v[:, np.arange(32) ^ place],
        "    jit.atomic_add(out, jit.blockIdx.x * 32, v)\n": lambda v: np.pad(v.sum(1)[:, None], ((0, 0), (0, 31))),
        "    k = 0\n    while k < 3:\n        v = v % 1009 + k\n        k += 1\n    out[i] = v\n": three_rounds,
    }
    tail, reference = choice.choice(list(ways.items()))
    text = HELPER + FunctionWriter(choice, whole=True).text()
    head = "def kernel(x, y, out):\n    i = jit.grid(1)\n    t = jit.threadIdx.x\n"
    head += "    if x.size >= 0:\n        return\n" if is_hostile else ""
    text += f"\n{head}    v = written(x[i], y[i])\n{tail}"
    if is_hostile:
        text = changed_python(text, choice).replace("def kernel(x, y, out):", "def kernel(x, y, out):", 1)
        text = text if head in text else text.replace("def kernel(x, y, out):\n", head, 1)
    x, y = numbers(choice, True, 96), numbers(choice, True, 96)

    def run():
        kernel = jit.rawkernel(mode=choice.choice(["cuda", "numpy"]))(made(text, "kernel"))
        out = iruka.zeros(96, "int64")
        expected = None
        if not is_hostile:
            values = in_python(made(text), x, y)
            if (values != np.trunc(values)).any():
                raise Skipped
            expected = reference(values.astype("int64").reshape(3, 32)).ravel()
        kernel((3,), (32,), (iruka.asarray(x), iruka.asarray(y), out))
        iruka.default_device().synchronize()
        if expected is not None:
            check(out, expected)

    return text, run


def three_rounds(v):
    for k in range(3):
        v = v % 1009 + k
    return v


# Functions of arrays


class ArrayWriter:
    """Writes functions of arrays that NumPy runs as well."""

    def __init__(self, choice, names, has_axes):
        self.choice, self.names, self.has_axes = choice, list(names), has_axes

    def expression(self, depth=3):
        pick = self.choice.random()
        if depth == 0 or pick < 0.15:
            return (
                self.choice.choice(self.names) if self.choice.random() < 0.8 else self.choice.choice(["2", "0.5", "-3"])
            )
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if pick < 0.5:
            return f"({a} {self.choice.choice('+-*')} {b})"
        if pick < 0.6:
            return f"np.{self.choice.choice(['minimum', 'maximum', 'hypot'])}({a}, {b})"
        if pick < 0.7:
            return f"np.where({a} {self.choice.choice(['<', '>=', '=='])} {b}, {a}, {self.expression(depth - 1)})"
        if pick < 0.82:
            return f"np.{self.choice.choice(['abs', 'tanh', 'sin', 'floor', 'sign', 'square', 'arctan'])}({a})"
        return self.reduction(a)

    def reduction(self, a):
        name = self.choice.choice(["sum", "max", "min", "mean", "any", "std"])
        if name in ("max", "min", "any", "std", "mean", "sum") and not self.has_axes:
            return f"np.{name}({a} + v)"
        return f"np.{name}({a} + x, axis={self.choice.choice(['0', '1', 'None', '-1'])}, keepdims=True)"

    def lines(self):
        lines = []
        for k in range(self.choice.randint(0, 3)):
            lines.append(f"    a{k} = {self.expression()}")
            self.names.append(f"a{k}")
        return lines


def array_of(choice, shape):
    dtype = choice.choice(["float64", "float64", "float32", "int64"])
    values = np.array(choice.choices(FLOATS, k=math.prod(shape))).reshape(shape)
    return values.astype(dtype)


def by_numpy(call):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return call()
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise Skipped from error


def fuse(choice, is_hostile):
    writer = ArrayWriter(choice, ["x", "y", "x[::-1]", "z"], has_axes=True)
    text = "\n".join(["def written(x, y, z):", *writer.lines(), f"    return {writer.expression()} + x", ""])
    if is_hostile:
        text = changed_python(text, choice)
    x, y = array_of(choice, (6, 7)), array_of(choice, choice.choice([(7,), (6, 1), (6, 7)]))

    def run():
        function = made(text)
        expected = None if is_hostile else by_numpy(lambda: function(x, y, 3))
        result = iruka.fuse(function)(iruka.asarray(x), iruka.asarray(y), 3)
        if expected is not None and np.isfinite(expected).all() and np.abs(expected).max() < 1e6:
            check(result, expected, 1e-3)

    return text, run


def slices(choice, is_hostile):
    writer = ArrayWriter(
        choice, ["v", "v[::-1]", "v[1]", "np.sort(v)", "np.cumsum(v)", "v[-1]", "len(v)"], has_axes=False
    )
    end = choice.choice(
        [
            "{} + v",
            "np.sum({} + v)",
            "np.max({} + v)",
            "np.concatenate([{} + v, v])",
            "np.median({} + v)",
            "({} + v)[2]",
            "np.argmax({} + v)",
            "float(np.mean({} + v))",
        ]
    )
    text = "\n".join(["def written(v):", *writer.lines(), f"    return {end.format(writer.expression(2))}", ""])
    if is_hostile:
        text = changed_python(text, choice).replace("x", "v") if choice.random() < 0.5 else changed_python(text, choice)
    x, axis = array_of(choice, (5, 6, 4)).astype("float64"), choice.choice([0, 1, 2, -1])

    def run():
        function = made(text)
        expected = None if is_hostile else by_numpy(lambda: np.apply_along_axis(function, axis, x))
        result = iruka.apply_along_axis(function, axis, iruka.asarray(x))
        if expected is not None and np.isfinite(expected).all() and np.abs(expected).max() < 1e9:
            check(result, expected, 1e-6)

    return text, run


def piecewise(choice, is_hostile):
    x = array_of(choice, (choice.randint(0, 9),)).astype("float64")
    count = choice.randint(1, 4)
    conditions = [x > choice.choice(FLOATS) for _ in range(count)]
    functions = [
        choice.choice([1.5, abs, np.sin, lambda v: v * 2, lambda v: v - v.mean() if v.size else v])
        for _ in range(count)
    ]
    if is_hostile:
        functions[-1] = choice.choice(
            [None, "a", 1j, lambda v: v[:0], lambda v: [1, 2, 3, 4], object(), lambda v: v.no]
        )
        conditions[-1] = choice.choice([conditions[-1], x, None, 5, np.ones(3, bool), "a"])

    def run():
        expected = None if is_hostile else np.piecewise(x, conditions, functions)
        result = iruka.piecewise(x, conditions, functions)
        if expected is not None:
            check(result, expected)

    return f"iruka.piecewise({x!r}, {conditions!r}, {functions!r})", run


# C++

WILD = [
    (0,),
    (-1,),
    (2**31,),
    (10**30,),
    (1, 1, 1, 1),
    (),
    None,
    "a",
    1.5,
    (1025,),
    (33, 33),
    (1, 1, 65),
    np.ones(2),
    [None],
    {},
    (2**40, 2**40),
    (1, -1),
    b"ab",
    (True,),
    (np.int8(3),),
    2**64,
]
GUARD = "  if (n >= 0) return;\n"  # a changed text is compiled, and does nothing


def raw_kernel(choice, is_hostile):
    seed, number = choice.randrange(10**9), choice.randrange(10**9)
    source, shape, grid, x, steps, has_hostile = kernel_of(seed, number)
    if is_hostile or has_hostile:
        start = source.index("\n") + 1
        source = changed_c(source[:start] + GUARD + source[start:], choice, start + len(GUARD))
    wild = (
        {}
        if choice.random() < 0.7
        else {choice.choice(["grid", "block", "shared_mem", "stream", "args"]): choice.choice(WILD)}
    )

    def run():
        out = iruka.zeros(grid * math.prod(shape), dtype="int32")
        kernel = iruka.RawKernel(source, "kernel")
        given = {"grid": (grid,), "block": shape, "args": (iruka.asarray(x), out, x.size)}
        if is_hostile or has_hostile:
            given |= wild
        kernel(**given)
        result = iruka.asnumpy(out)
        if not (is_hostile or has_hostile):
            check(result, expected_of(shape, grid, x, steps))

    return source, run


def elementwise_text(choice):
    """C++ of int32, and the function that computes it of a state."""
    writer = BlockWriter(choice, 40, has_warps=False)
    return writer.expression(4)


def state_of(choice):
    state = {name: np.array(choice.choices(range(-1000, 1000), k=40)) for name in ("a", "c", "d", "e")}
    x = np.array(choice.choices(range(-1000, 1000), k=choice.choice([1, 7, 50])))
    return {**state, "t": np.arange(40), "x": x, "n": x.size}


def elementwise(choice, is_hostile):
    (text, value), state = elementwise_text(choice), state_of(choice)
    body = f"y = {text};"
    body = changed_c(f"if (n >= 0) {{ y = 1; return; }} {body}", choice, 34) if is_hostile else body
    kernel_of_text = "raw const int32 x, int32 n, int32 a, int32 c, int32 d, int32 e, int32 t"

    def run():
        kernel = iruka.ElementwiseKernel(kernel_of_text, "int32 y", body, "fuzzed")
        if choice.random() < 0.3:
            kernel = pickle.loads(pickle.dumps(kernel))
        arrays = {name: iruka.asarray(state[name].astype("int32")) for name in "xacdet"}
        result = kernel(arrays["x"], state["n"], *(arrays[name] for name in "acdet"))
        if not is_hostile:
            check(result, np.asarray(value(state)).astype("int64").astype("int32"))

    return body, run


def reduction(choice, is_hostile):
    (text, value), state = elementwise_text(choice), state_of(choice)
    combine, reference = choice.choice(
        [("a + b", np.add), ("max(a, b)", np.maximum), ("min(a, b)", np.minimum), ("a ^ b", np.bitwise_xor)]
    )
    identity = {"a + b": "0", "a ^ b": "0", "max(a, b)": "-2147483647 - 1", "min(a, b)": "2147483647"}[combine]
    text = re.sub(r"\b([acde])\b", r"in_\1", text)
    parts = [text, combine, "y = a", identity]
    if is_hostile:
        parts[choice.randrange(4)] = changed_c(choice.choice(parts) + " ", choice, 0)
    names = "raw const int32 x, int32 n, int32 in_a, int32 in_c, int32 in_d, int32 in_e, int32 t"
    axis = choice.choice([None, 0, 1])

    def run():
        kernel = iruka.ReductionKernel(names, "int32 y", *parts, "fuzzed")
        arrays = {name: iruka.asarray(state[name].astype("int32").reshape(5, 8)) for name in "acdet"}
        x = iruka.asarray(state["x"].astype("int32"))
        result = kernel(x, state["n"], *(arrays[name] for name in "acdet"), axis=axis)
        if not is_hostile:
            mapped = np.asarray(value(state)).astype("int64").astype("int32") * np.ones(40, "int32")
            expected = reference.reduce(
                mapped.reshape(5, 8), axis=axis, **({"dtype": "int32"} if combine == "a + b" else {})
            )
            check(result, expected)

    return "\n".join(parts), run


FORMS = {
    each.__name__: each
    for each in (vectorize, guvectorize, views, rawkernel, fuse, slices, piecewise, raw_kernel, elementwise, reduction)
}


PYTHON_FORMS = {"vectorize", "guvectorize", "views", "rawkernel", "fuse", "slices"}  # whose C++ is not the user's


def case_of(seed, number, only=()):
    """The form's name, the text, a function that runs it, whether it is hostile, and the choice of how it is run."""
    choice = random.Random(f"{seed}:{number}")
    name = choice.choice([each for each in FORMS if not only or each in only])
    is_hostile = choice.random() < 0.6
    text, run = FORMS[name](choice, is_hostile)
    is_hostile = is_hostile or (name == "raw_kernel" and GUARD in text)
    return name, text, run, is_hostile, choice


__all__ = ["HEAD", "PYTHON_FORMS", "Mismatch", "Skipped", "case_of", "made"]
