"""Compares translated Python functions with Python: python tests/fuzz/functions --seconds 60 [--seed N].

Writes random functions of numbers: expressions, assignments also within expressions, branches, loops, tuples, local
arrays, helpers that read, change and replace them. Each one is translated, compiled for the CPU and compared with
Python's own results, element by element. Those of unsigned numbers, whose arithmetic is not Python's, are compared with
a translation that knows no bounds of integers and checks every index, and those of slices with apply_along_axis of
NumPy. Some are hostile: calls, types and syntax that have no kernel, which must be refused by a TranslationError. The
exit code is 1 after a finding; a crash ends the process. --case SEED:NUMBER runs one function again and prints it.
"""

import argparse
import contextlib
import linecache
import math
import random
import sys
import time
import unittest.mock
import warnings

import numpy as np

import iruka
from iruka._translate.calls import Calls
from iruka._translate.loops import Range
from iruka.errors import TranslationError

FLOATS = [0.0, 1.0, -1.0, 0.5, -2.5, 3.25, 7.0, -11.75, 1e-3, 40.0]
INTEGERS = [0, 1, -1, 2, -2, 3, 5, -7, 10, 100]
UNSIGNED = {
    "uint8": [0, 1, 2, 3, 7, 12, 200, 255],
    "uint16": [0, 1, 2, 3, 7, 300, 4000],
    "uint32": [0, 1, 2, 3, 7, 300, 70_000],
    "uint64": [0, 1, 2, 3, 7, 200, 2**60, 2**62, 2**63 - 1, 2**63, 2**64 - 3, 2**64 - 1],
}  # values whose differences are short enough for ranges
NAMES = ("a", "b", "c", "d")
HOSTILE = [
    "[{0}][0]", "{{1: {0}}}[1]", "str({0})", "open({0})", "({0}).foo", "print({0})", "{0}[0]", "(x for x in {0})",
    "[k for k in range(3)]", "undefined_name", "__import__('os')", "exec('1')", "{0}(1)", "lambda: {0}", "*{0},",
    "f'{{{0}}}'", "b'x' + {0}", "None + {0}", "... + {0}", "math.nothing({0})", "math.sin({0}, {0})", "helper()",
    "1 << 1000", "10 ** 10 ** 5", "(1, 2)[{0}:]", "{0} @ {0}", "await_", "np.zeros(10 ** 9)[0]", "int('x')", "(yield)",
    "max()", "round({0}, {0})", "np.linalg.norm({0})", "iruka.zeros(3)", "globals()", "{0} is {0}", "type({0})",
]  # fmt: skip


class Writer:
    """Writes one function whose numbers stay small enough for 64 bits and exact comparisons."""

    def __init__(self, choice, whole, unsigned=False):
        self.choice, self.whole, self.unsigned = choice, whole, unsigned
        self.lines, self.depth, self.loops, self.fresh = [], 1, 0, 0
        self.known, self.arrays = ["x", "y"], []

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def number(self):
        return repr(self.choice.choice(INTEGERS if self.whole or self.choice.random() < 0.5 else FLOATS))

    def expression(self, depth=3):
        pick = self.choice.random()
        if depth == 0 or pick < 0.2:
            return self.choice.choice(self.known) if self.choice.random() < 0.7 else self.number()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if pick < 0.45:
            return f"({a} {self.choice.choice(['+', '-', '*'])} {b})"
        if pick < 0.48:
            return self.named(a)
        if self.unsigned and pick < 0.56:
            return self.looked_up(a)
        if pick < 0.51 and self.arrays:
            value = f"({a}) % 1009"
            helper = self.choice.choice(["put", "fresh", "rotated", "reads"])
            return f"{helper}({self.choice.choice(self.arrays)}, {value})"
        if pick < 0.56:
            return f"({a} if {self.condition(depth - 1)} else {b})"
        if pick < 0.62:
            return f"{self.choice.choice(['min', 'max'])}({a}, {b})"
        if pick < 0.68:
            return f"({a} {self.choice.choice(['//', '%'])} {self.choice.choice(['3', '-4', '7'])})"
        if pick < 0.73:
            return f"abs({a})" if self.choice.random() < 0.5 else f"(-{a})"
        if pick < 0.78:
            return f"({a}, {b}, {self.number()})[{self.choice.choice(['0', '1', '2', '-1'])}]"
        if pick < 0.82:
            return f"helper({a}, {b})"
        if pick < 0.86:
            return f"({a} {self.choice.choice(['and', 'or'])} {b})"
        if pick < 0.90 and not self.whole:
            return f"math.{self.choice.choice(['floor', 'ceil', 'atan', 'tanh', 'fabs'])}(({a}) % 1000)"
        if pick < 0.94 and self.whole:
            return f"(({a}) {self.choice.choice(['&', '|', '^'])} ({b}))"
        return f"({a} // 1 % 5) ** {self.choice.choice(['0', '1', '2', '3'])}"

    def looked_up(self, value):
        """An element at a place that is made of unsigned numbers, and may be none."""
        index = self.choice.choice([value, "u", "u - w", "w - u", "u + w"])
        return self.choice.choice([
            f"TABLE[{index}]", f"(TABLE[{index}] if {index} < 4 else 7)", f"TABLE[min({index}, 3)]",
            f"(TABLE[{index}] if 0 <= {index} <= 3 else {index} % 5)", f"TABLE[({index}) >> {self.choice.choice([1, 7, 60, 62])}]",
            f"TABLE[({index}) & 3]", f"TABLE[({index}) % {self.choice.choice([4, 5])}]", f"(({index}) // {self.choice.choice([3, -4])})",
            f"TABLE[max({index}, 2)]", f"TABLE[int({index})]", f"(TABLE[int({index})] if int({index}) < 4 else 1)",
        ])  # fmt: skip

    def named(self, value):
        """An assignment within an expression, to a name that has a value whether it is computed or not."""
        name = self.choice.choice([each for each in self.known if each.isidentifier() and not each.startswith("k")])
        return f"({name} := ({value}) % 1009)"

    def condition(self, depth=2):
        a, b = self.expression(depth - 1 if depth else 0), self.expression(0)
        pick = self.choice.random()
        test = f"{a} {self.choice.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
        if pick < 0.5:
            return f"({test})"
        if pick < 0.65:
            middle = self.named(a) if self.choice.random() < 0.3 else a
            return f"({b} < {middle} <= {self.expression(0)})"
        if pick < 0.8 and depth:
            return f"({self.condition(depth - 1)} {self.choice.choice(['and', 'or'])} {self.condition(depth - 1)})"
        if pick < 0.9:
            return f"(not {test})"
        return f"({a} in ({self.number()}, {self.number()}))"

    def statements(self, count):
        for _ in range(count):
            self.statement()

    def block(self, count):
        """Statements of a branch, after which the names that it made are not known."""
        known, arrays = list(self.known), list(self.arrays)
        self.depth += 1
        self.statements(count)
        self.depth -= 1
        self.known, self.arrays = known, arrays

    def reduced(self, text):
        """Keeps numbers in loops from growing without end."""
        return f"({text}) % 1009" if self.loops else text

    def statement(self):
        pick = self.choice.random()
        if pick < 0.4 or self.depth > 3:
            name = self.choice.choice([*NAMES, *NAMES, "x", "y"])
            self.line(f"{name} = {self.reduced(self.expression())}")
            self.known = sorted({*self.known, name})
        elif pick < 0.5:
            names = self.choice.sample(NAMES, 2)
            values = self.reduced(self.expression(2)), self.reduced(self.expression(2))
            self.line(f"{names[0]}, {names[1]} = {values[0]}, {values[1]}")
            self.known = sorted({*self.known, *names})
        elif pick < 0.58 and len(self.known) > 2:
            places = [f"{each}[{self.expression(1)} % 3]" for each in self.arrays] if self.whole else []
            name = self.choice.choice([each for each in self.known if each in NAMES] + places or ["x"])
            self.line(f"{name} {self.choice.choice(['+', '-'])}= {self.expression(1)}")
            if self.loops and name.isidentifier():
                self.line(f"{name} %= 1009")
        elif pick < 0.75:
            self.line(f"if {self.condition()}:")
            self.block(self.choice.randint(1, 2))
            if self.choice.random() < 0.5:
                self.line("else:")
                self.block(1)
        elif pick < 0.9:
            self.loop()
        elif pick < 0.95:
            self.array()
        elif self.loops:
            self.line(f"if {self.condition(1)}:")
            self.line("    " + self.choice.choice(["break", "continue"]))
        else:
            self.line(f"if {self.condition(1)}:")
            self.line(f"    return {self.result()}")

    def loop(self):
        self.fresh += 1
        name = f"k{self.fresh}"
        bounds = self.choice.choice(["4", "1, 5", "6, 0, -2", "abs(int(x)) % 4", "-2, abs(int(y)) % 3"])
        items = ", ".join(self.expression(self.choice.randint(0, 1)) for _ in range(self.choice.randint(1, 6)))
        kinds = [f"for {name} in range({bounds}):"] * 3 + [f"for {name} in (x, y, 3):", f"for {name} in ({items},):"]
        if self.unsigned:
            start, step = self.choice.choice(["u", "w", "u - w", "u % 4"]), self.choice.choice(["", ", 2"])
            kinds += [f"for {name} in range({start}, {self.choice.choice([4, 9])}{step}):"] * 3
        kinds.append(f"for {name}, _ in enumerate(({self.number()}, {self.number()})):")
        kinds.append(f"for {name}, _ in zip(({items},), (y, x, 1, 2)):")
        if self.arrays:
            kinds.append(f"for {name} in {self.choice.choice(self.arrays)}:")
        self.line(self.choice.choice(kinds))
        self.loops += 1
        known = list(self.known)
        self.known = [*self.known, name, f"TABLE[{name}]"] if self.unsigned else [*self.known, name]
        self.block(self.choice.randint(1, 2))
        self.known = known
        self.loops -= 1
        if self.choice.random() < 0.2:
            self.line("else:")
            self.block(1)

    def array(self):
        self.fresh += 1
        name = f"v{self.fresh}"
        dtype = ", 'int64'" if self.whole else ""
        self.line(f"{name} = np.zeros(3{dtype})")
        value = f"int({self.expression(1)}) % 1009" if self.whole else f"({self.expression(1)}) % 1009"
        self.line(f"for j{self.fresh} in range(3):")
        self.line(f"    {name}[j{self.fresh}] = {value} + j{self.fresh}")
        self.known = [*self.known, f"{name}[{self.choice.choice(['0', '-1', 'int(abs(x)) % 3'])}]"]
        self.arrays = [*self.arrays, name]
        if self.choice.random() < 0.3:
            self.line(f"{name} = np.array([{name}[1], {name}[2], {name}[0] + 1{dtype and ' - 1'}]{dtype})")

    def result(self):
        """An expression of all that has a value, so that no fault stays in a variable."""
        return f"({self.expression(2)})" + "".join(f" + {each} % 1009" for each in self.known)

    def text(self):
        if self.choice.random() < 0.3:
            self.array()
        self.statements(self.choice.randint(1, 5))
        self.line(f"return {self.result()}")
        own = ["    u, w = x, y"] if self.unsigned else []
        return "\n".join(["def written(x, y):", *own, *self.lines, ""])


HELPER = """
TABLE = np.array([5, 8, 13, 21])


def helper(p, q):
    if p > q:
        return p - q
    while q > 50:
        q = q // 2
    return q % 7


def put(v, p):
    v[0] = p
    return v[1] + p


def reads(v, p):
    return v[0] * 2 + p


def fresh(v, p):
    v = np.zeros(3, v.dtype)
    v[1] = p
    return v[1] + v[0]


def rotated(v, p):
    if p > 5:
        v = np.array([v[1], v[2], v[0]], v.dtype)
    v[2] = v[0] + p
    v[2] %= 1009
    return v[0] - v[2]
"""


def made(text, number):
    """The function of a text, which inspect.getsource finds."""
    file = f"<fuzz {number}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"math": math, "np": np, "iruka": iruka}
    exec(compile(text, file, "exec"), scope)
    return scope["written"]


def python_results(function, x, y):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [function(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]


def is_comparable(results):
    """Whether 64 bits held every number on the way: results that are huge hide others that wrapped."""
    return all(math.isfinite(each) and abs(each) < 2**40 for each in results)


def is_of_types(message):
    """Whether a refusal is about types, which the writer does not follow."""
    return any(each in message for each in ("elements of one type", "sides need one type", "elsewhere; use two names"))


def difference(text, number, choice, whole):
    function = made(text, number)
    dtype = choice.choice(["int64", "int32", "int8", "uint8"]) if whole else "float64"
    if dtype.startswith("uint"):  # a literal makes it an int64; what unsigned numbers alone give is not Python's
        text = text.replace("def written(x, y):\n", "def written(x, y):\n    x, y = x - 128, y - 200\n")
        function = made(text, number)
    x, y = (np.array(choice.choices(INTEGERS if whole else FLOATS, k=24)).astype(dtype) for _ in range(2))
    try:
        expected = python_results(function, x, y)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    try:
        found = iruka.vectorize(target="cpu")(function)(x, y)
    except TranslationError as error:
        return None if is_of_types(str(error)) else f"refused: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not is_comparable(expected):
        return None
    wanted = np.array(expected)
    if np.allclose(found.astype(float), wanted.astype(float), rtol=1e-9, atol=1e-9):
        return None
    places = np.flatnonzero(~np.isclose(found.astype(float), wanted.astype(float), rtol=1e-9, atol=1e-9))[:3]
    return f"differs as {dtype}: {[(x[k].item(), y[k].item(), found[k].item(), expected[k]) for k in places]}"


@contextlib.contextmanager
def without_bounds():
    """Translations that know no bounds of integers, so that they check every index and every step."""
    with contextlib.ExitStack() as stack:
        for owner, name, value in (
            (Calls, "place_in", None), (Calls, "plain_text", ""), (Range, "ends_before_overflow", False)
        ):  # fmt: skip
            stack.enter_context(unittest.mock.patch.object(owner, name, lambda *_, value=value: value))
        yield


def outcome(function, x, y):
    """The result for each pair of elements, or the name of the exception."""
    kernel = iruka.vectorize(target="cpu")(function)

    def of_one(*pair):
        try:
            return kernel(*pair).item()
        except (IndexError, OverflowError, ZeroDivisionError, ValueError) as error:
            return type(error).__name__

    return [of_one(*pair) for pair in zip(x, y, strict=True)]


def difference_of_bounds(text, number, choice):
    """Whether what is known of unsigned numbers changes a result."""
    dtype = choice.choice(list(UNSIGNED))
    x, y = (np.array(choice.choices(UNSIGNED[dtype], k=16), dtype) for _ in range(2))
    function = made(text, number)
    try:
        found = outcome(function, x, y)
        with without_bounds():
            expected = outcome(function, x, y)
    except TranslationError:  # many have numbers of no common type
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    wrong = [k for k in range(len(x)) if found[k] != expected[k] and found[k] == found[k]]
    return (
        wrong
        and f"bounds change it as {dtype}: {[(x[k].item(), y[k].item(), found[k], expected[k]) for k in wrong[:3]]}"
    )


def difference_of_slices(text, number, choice, whole):
    """Whether apply_along_axis gives other results than NumPy's, which calls the function with NumPy's scalars."""
    dtype = choice.choice(["int64", "int32", "uint8"]) if whole else choice.choice(["float64", "float32"])
    x = np.array(choice.choices(INTEGERS if whole else FLOATS, k=48)).astype(dtype).reshape(24, 2)
    scope = made(text + "\n\ndef sliced(v):\n    return written(v[0], v[1])\n", number).__globals__
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = np.apply_along_axis(scope["sliced"], 1, x)
            found = iruka.asnumpy(iruka.apply_along_axis(scope["sliced"], 1, x))
    except (ZeroDivisionError, OverflowError, ValueError, TypeError, IndexError, AttributeError, MemoryError):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if found.dtype != expected.dtype:
        return f"differs in slices of {dtype}: {found.dtype}, not {expected.dtype}"
    close = np.isclose(found, expected, rtol=1e-9 if expected.dtype != np.float32 else 1e-4, atol=1e-9, equal_nan=True)
    places = np.flatnonzero(~close)[:3]
    return (
        None
        if close.all()
        else f"differs in slices of {dtype}: {[(*x[k].tolist(), found[k], expected[k]) for k in places]}"
    )


def hostile(text, choice, number):
    """A function with something that has no kernel: it is refused, or computed; nothing else may happen."""
    lines = text.splitlines()
    place = choice.randrange(1, len(lines) + 1)
    indent = "    "
    if place < len(lines):
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())] or indent
    lines.insert(place, f"{indent}z = {choice.choice(HOSTILE).format('x')}")
    try:
        function = made("\n".join(lines) + "\n", number)
        iruka.vectorize(target="cpu")(function)(np.ones(3), np.ones(3))
    except (SyntaxError, TranslationError):
        return None
    except Exception as error:
        own = (IndexError, ValueError, TypeError, ZeroDivisionError, OverflowError, NameError, AttributeError)
        if isinstance(error, own) and not isinstance(error, (AssertionError, KeyError)):
            frames = error.__traceback__
            while frames.tb_next:
                frames = frames.tb_next
            if "_translate" not in frames.tb_frame.f_code.co_filename:
                return None  # the function's own, which Python raises as well
        return f"{type(error).__name__}: {error}"
    return None


def run_case(seed, number, show=False):
    choice = random.Random(f"{seed}:{number}")
    whole = choice.random() < 0.5
    is_unsigned = whole and choice.random() < 0.3
    text = HELPER + Writer(choice, whole, is_unsigned).text()
    if is_unsigned:
        found = difference_of_bounds(text, number, choice)
    elif choice.random() < 0.25:
        found = difference_of_slices(text, number, choice, whole)
    elif choice.random() < 0.25:
        found = hostile(text, choice, number)
    else:
        found = difference(text, number, choice, whole)
    if show or found:
        print(text)
    if found:
        print(f"--case {seed}:{number}: {found}\n", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(prog="tests/fuzz/functions", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--case", help="SEED:NUMBER of one function")
    options = parser.parse_args()
    if options.case:
        return bool(run_case(*map(int, options.case.split(":")), show=True))
    end, number, findings = time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < end and (not options.count or number < options.count) and findings < 20:
        findings += bool(run_case(options.seed, number))
        number += 1
    print(f"{number} functions of seed {options.seed}, {findings} findings")
    return findings > 0


if __name__ == "__main__":
    warnings.simplefilter("ignore", iruka.errors.KernelWarning)
    sys.exit(main())
