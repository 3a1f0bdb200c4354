"""Hostile inputs to every way of writing a kernel, as a table that test_hostile_kernels.py runs in one process.

A row is a name, a call, and what it must do: the exception class, with words of its message, or RUNS. Bodies of Python
functions stand as texts, because many of them are no code that a checker would pass.
"""

import linecache
import math

import numpy as np

import iruka
from iruka import errors, jit

RUNS = "runs"
ON_GPU = iruka.default_device().name != "cpu"
ROWS = []  # name, call, exception class or RUNS, words


def function(parameters, body, name="f", **names):
    """The function of a text, which inspect.getsource finds."""
    text = f"def {name}({parameters}):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    file = f"<hostile {len(linecache.cache)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"math": math, "np": np, "iruka": iruka, "jit": jit, **names}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def row(name, call, expected=RUNS, words=""):
    ROWS.append((name, call, expected, words))


def floats(size=4):
    return iruka.ones(size, "float32")


# vectorize: what no kernel can be made of

REFUSED_BODIES = [
    "return str(x)",
    "return [x][0]",
    "return {x: 1}[x]",
    "print(x)\nreturn x",
    "return open('x')",
    "return x.foo",
    "return x[0]",
    "global g\ng = x\nreturn x",
    "yield x",
    "import os\nreturn x",
    "return None",
    "pass",
    "try:\n    return x\nexcept ValueError:\n    return 0",
    "with x:\n    return x",
    "return lambda: x",
    "class A:\n    pass\nreturn x",
    "return f(x)",
    "return x if x else 'a'",
    "return x @ x",
    "return (1, 2)[x]",
    "a = (1, 2)\nwhile x > 0:\n    a = a + (1,)\nreturn x",
    "a = np.zeros(10**9)\nreturn a[0]",
    "a = np.zeros(x)\nreturn a[0]",
    "return undefined_name",
    "return math.nothing(x)",
    "return math.sin()",
    "return x + 'a'",
    "return f'{x}'",
    "match x:\n    case 1:\n        return 2\nreturn 3",
    "return eval('x')",
    "return __import__('os').getpid()",
    "for k in x:\n    pass\nreturn x",
    "return np.linalg.norm(x)",
    "return iruka.zeros(3)",
    "return x, (x, x)",
    "return type(x)",
    "return ...",
    "return b'x'",
    "return x.real.foo",
    "del x\nreturn 1",
    "return np.zeros((2, 2))",
    "return max()",
    "return round(x, x)",
    "return helper",
    "return x[",
    "a: str = 'x'\nreturn a",
    "return {**x}",
    "return x(x)",
    "return (lambda y: y + z)(x)",
    "return range(3)",
    "a = np.zeros(3)\na[4.5] = x\nreturn a[0]",
    "a = np.zeros(3)\nreturn a['x']",
    "x.y = 3\nreturn x",
    "for k in range(3, 4, 0):\n    x += 1\nreturn x",
    "a, b = x\nreturn a",
    "a, b = 1, 2, 3\nreturn a",
    "return -'a'",
    "return [k for k in range(3)]",
    "return 1j < x",
    "return not_known()(x)",
    "raise x",
    "assert x, undefined_thing",
]


def vectorized(body, parameters="x", arguments=(1.5,), **names):
    return lambda: iruka.vectorize(target="cpu")(function(parameters, body, **names))(*map(np.array, arguments))


for body in REFUSED_BODIES:
    if body not in ("return x[", "return 1j < x"):
        row(f"vectorize: {body}", vectorized(body), errors.TranslationError, "line ")

# Bodies that are strange and have a kernel

NAMES = (
    "double",
    "int_",
    "template",
    "this",
    "asm",
    "nullptr",
    "iruka",
    "NULL",
    "errno",
    "INFINITY",
    "unix",
    "linux",
    "i",
    "n",
    "_ind",
    "T",
    "y0",
    "x0",
    "failed",
    "assert_",
    "main",
    "signed",
    "union",
    "M_PI",
    "python",
    "std",
    "ä",
)
for name in NAMES:
    row(f"vectorize: a variable named {name}", vectorized(f"{name} = x * 2\nreturn {name} + 1"))
    row(f"vectorize: a parameter named {name}", vectorized(f"return {name} + 1", name))
DEEP = {
    "parentheses": "return " + "(" * 150 + "x" + ")" * 150,
    "a sum of 800 terms": "return x" + " + x" * 800,
    "a sum of 5000 terms": "return x" + " + x" * 5000,
    "4000 lines": "\n".join(["x = x + 1"] * 4000) + "\nreturn x",
    "80 nested branches": "\n".join("    " * k + f"if x < {k + 9}:" for k in range(18))
    + "\n"
    + "    " * 18
    + "x = 3\nreturn x",
    "500 elifs": "if x < 0:\n    return 1.0\n"
    + "\n".join(f"elif x < {k}:\n    return {k}.5" for k in range(500))
    + "\nreturn x",
    "900 unary signs": "return " + "-" * 900 + "x",
    "700 comparisons": "return x" + " < x" * 700,
    "nested calls": "return " + "abs(" * 80 + "x" + ")" * 80,
    "a tuple of 3000": "a = (" + "x, " * 3000 + ")\nreturn a[7]",
    "a long name": f"{'a' * 100_000} = x\nreturn {'a' * 100_000}",
}
for name, body in DEEP.items():
    row(
        f"vectorize: {name}", vectorized(body), (errors.CompileError, RecursionError, RUNS)
    )  # Python's own compiler has limits, too
row("vectorize: 10 ** 10 ** 5", vectorized("return x + 10 ** 10 ** 5"), errors.TranslationError, "line ")
row("vectorize: 1 << 10**9", vectorized("return x + (1 << 10 ** 9)"), errors.TranslationError, "line ")
row("vectorize: 'a' * 10**10", vectorized("return x + len('a' * 10 ** 10)"), errors.TranslationError, "line ")
row("vectorize: (1,) * 10**10", vectorized("return x + len((1,) * 10 ** 10)"), errors.TranslationError, "line ")

MANY_DIGITS = 10**100_000  # Python refuses to write it
OF_MANY_DIGITS = {
    "asarray": lambda: iruka.asarray(MANY_DIGITS),
    "a list": lambda: iruka.asarray([1, MANY_DIGITS]),
    "an index": lambda: iruka.ones(3)[MANY_DIGITS],
    "a shape": lambda: iruka.zeros(MANY_DIGITS),
    "an axis": lambda: iruka.sum(iruka.ones(3), axis=MANY_DIGITS),
    "an argument": lambda: iruka.ElementwiseKernel("int32 x", "int32 y", "y = x")(MANY_DIGITS),
}
for name, call in OF_MANY_DIGITS.items():
    row(f"vectorize: 100000 digits as {name}", call, (errors.Error, OverflowError))

VECTORIZE_SIGNATURES = [
    "float64",
    "float64(",
    "void(float64)",
    "float64(float64, float64)",
    "quaternion(float64)",
    "float64(float64)\0",
    "object(object)",
    "str(str)",
    "",
    "()",
    "float64()",
    "float64(float64)(float64)",
    "UniTuple(float64, 2)(float64)",
    "UniTuple(float64, 1000000000000)(float64)",
    "UniTuple(float64, 0)(float64)",
    "Tuple()(float64)",
    "datetime64(int64)",
    "float64(float64" * 1000,
    "f" * 10**6,
    "float128(float64)",
    "complex64(complex128",
    "float64(V8)",
    "float64(S3)",
]
for signature in VECTORIZE_SIGNATURES:
    row(
        f"vectorize: the signature {signature[:50]!r}",
        lambda signature=signature: iruka.vectorize([signature])(function("x", "return x"))(1.0),
        TypeError,
    )


@iruka.vectorize(["float64(float64)", "int64(int64)"])
def double(x):
    return x * 2


@iruka.vectorize
def plus_one(x):
    return x + 1


def raising(x):
    if x > 2:
        raise KeyError("mine")
    return x


VECTORIZE_CALLS = {
    "no argument": (lambda: double(), TypeError),
    "three arguments": (lambda: double(1, 2, 3), TypeError),
    "text": (lambda: double("a"), TypeError),
    "None": (lambda: double(None), TypeError),
    "ragged": (lambda: double([[1], [1, 2]]), ValueError),
    "an object": (lambda: double(object()), TypeError),
    "a dict": (lambda: double({1: 2}), TypeError),
    "out of another shape": (lambda: double(np.ones(3), out=np.ones(4)), ValueError),
    "out that is a number": (lambda: double(np.ones(3), out=5), TypeError),
    "out that is read-only": (lambda: double(np.ones(3), out=np.broadcast_to(0.0, 3)), ValueError),
    "out of integers": (lambda: double(np.ones(3), out=np.ones(3, int)), TypeError),
    "two outs": (lambda: double(np.ones(3), out=(np.ones(3), np.ones(3))), ValueError),
    "out and a positional output": (lambda: double(np.ones(3), np.ones(3), out=np.ones(3)), TypeError),
    "stream that is a number": (lambda: double(np.ones(3), stream=5), (TypeError, RUNS)),
    "an unknown keyword": (lambda: double(np.ones(3), nothing=5), TypeError),
    "target gpu": (lambda: iruka.vectorize(["float64(float64)"], target="gpu"), ValueError),
    "target None": (lambda: iruka.vectorize(["float64(float64)"], target=None), ValueError),
    "identity text": (lambda: iruka.vectorize(["float64(float64)"], identity="x"), ValueError),
    "an unknown option": (lambda: iruka.vectorize(["float64(float64)"], nothing=1), TypeError),
    "no function": (lambda: iruka.vectorize(["float64(float64)"])(5), TypeError),
    "a class": (lambda: iruka.vectorize(["float64(float64)"])(int), TypeError),
    "a builtin": (lambda: iruka.vectorize(["float64(float64)"])(math.sin), TypeError),
    "signatures None": (lambda: iruka.vectorize([None])(lambda x: x), TypeError),
    "*args": (
        lambda: iruka.vectorize(["float64(float64)"])(function("*x", "return x"))(1.0),
        (TypeError, errors.TranslationError),
    ),
    "keyword-only": (
        lambda: iruka.vectorize(["float64(float64)"])(function("*, x", "return x"))(1.0),
        (TypeError, errors.TranslationError),
    ),
    "reduce of one argument": (lambda: double.reduce(np.ones(3)), ValueError),
    "reduce over a missing axis": (
        lambda: iruka.vectorize(target="cpu")(function("x, y", "return x + y")).reduce(np.ones(3), axis=7),
        np.exceptions.AxisError,
    ),
    "reduce of nothing": (
        lambda: iruka.vectorize(target="cpu")(function("x, y", "return x + y")).reduce(np.ones(0)),
        ValueError,
    ),
    "accumulate over a text": (
        lambda: iruka.vectorize(target="cpu")(function("x, y", "return x + y")).accumulate(np.ones(3), axis="a"),
        TypeError,
    ),
    "datetimes": (lambda: double(np.array(["2020-01-01"], "datetime64[D]")), TypeError),
    "structures": (lambda: double(np.zeros(3, "i4,f4")), TypeError),
    "objects": (lambda: double(np.array([1, None])), TypeError),
    "shapes that do not broadcast": (
        lambda: iruka.vectorize(target="cpu")(function("x, y", "return x + y"))(np.ones(3), np.ones(4)),
        ValueError,
    ),
    "a huge integer": (lambda: double(10**30), (TypeError, OverflowError)),
    "a broadcast array of 2^60 elements": (lambda: double(np.broadcast_to(1.0, 2**60)), (MemoryError, ValueError)),
    "NumPy's with no function": (lambda: iruka.vectorize(5)(1), TypeError),
    "NumPy's with text": (lambda: iruka.vectorize(lambda x: x, otypes="?x"), ValueError),
    "NumPy's with a wrong signature": (lambda: iruka.vectorize(lambda x: x, signature="(n"), ValueError),
    "NumPy's of nothing": (lambda: plus_one(np.ones(0)), (ValueError, RUNS)),
    "NumPy's of objects": (lambda: plus_one(np.array([1, 2], object)), RUNS),
    "NumPy's of strings": (lambda: plus_one(np.array(["1", "2"])), TypeError),
    "NumPy's that raises": (
        lambda: iruka.asnumpy(iruka.vectorize(raising)(np.arange(5))),  # a GPU's error comes with the wait
        KeyError if not ON_GPU else (KeyError, errors.DeviceError),
    ),
}
for name, (call, expected) in VECTORIZE_CALLS.items():
    row(f"vectorize: {name}", call, expected)

# guvectorize

LAYOUTS = [
    "",
    "(n)",
    "(n)->",
    "n->n",
    "(n)->(m)",
    "(n->(n)",
    "((n))->()",
    "(n)->()" * 50,
    "->",
    "(,)->()",
    "(n)(n)->()",
    "(n),->()",
    "(n)->(n)->(n)",
    None,
    5,
    b"(n)->()",
]
for layout in LAYOUTS:
    row(
        f"guvectorize: the layout {str(layout)[:40]!r}",
        lambda layout=layout: iruka.guvectorize(["void(float64[:], float64[:])"], layout)(
            function("x, out", "out[0] = x[0]")
        )(np.ones(3)),
        (ValueError, TypeError),
    )
GU_SIGNATURES = [
    "void(float64[:])",
    "void(float64[:], float64[:,:])",
    "float64(float64[:], float64[:])",
    "",
    "void",
    "void(float64[;], float64[:])",
    "void(nothing[:], float64[:])",
    "void(float64[:], float64)",
    "void(float64, float64[:])",
]
for signature in GU_SIGNATURES:
    row(
        f"guvectorize: the signature {signature!r}",
        lambda signature=signature: iruka.guvectorize([signature], "(n)->(n)")(function("x, out", "out[0] = x[0]"))(
            np.ones(3)
        ),
        (ValueError, TypeError, errors.TranslationError),
    )


def generalised(body, *arguments, layout="(n),(n)->()", types="void(float64[:], float64[:], float64[:])"):
    return lambda: iruka.guvectorize([types], layout)(function("x, y, out", body))(*arguments)


THREE = np.ones(3)
row("guvectorize: extents that differ", generalised("out[0] = x[0]", THREE, np.ones(4)), ValueError)
row("guvectorize: too few axes", generalised("out[0] = x[0]", 1.0, THREE), ValueError)
row("guvectorize: loops that do not broadcast", generalised("out[0] = 1", np.ones((2, 3)), np.ones((4, 3))), ValueError)
row("guvectorize: an index out of bounds", generalised("out[0] = x[5]", THREE, THREE), (IndexError, errors.DeviceError))
row(
    "guvectorize: an index of -10**18",
    generalised("out[0] = x[-10**18]", THREE, THREE),
    (IndexError, errors.TranslationError, errors.DeviceError),
)
row(
    "guvectorize: a write out of bounds",
    generalised("for k in range(10):\n    out[k] = 1", THREE, THREE),
    (IndexError, errors.DeviceError),
)
row("guvectorize: too many indices", generalised("out[0] = x[0, 0]", THREE, THREE), errors.TranslationError, "line ")
row("guvectorize: an input is written", generalised("x[0] = 1", THREE, THREE), errors.TranslationError, "line ")
row("guvectorize: a result is returned", generalised("return x[0]", THREE, THREE), errors.TranslationError, "line ")
row("guvectorize: a slice", generalised("out[0] = x[1:2][0]", THREE, THREE), (errors.TranslationError, RUNS))
row("guvectorize: an attribute", generalised("out[0] = x.nothing", THREE, THREE), errors.TranslationError, "line ")
row("guvectorize: the output is replaced", generalised("out = 3", THREE, THREE), errors.TranslationError, "line ")
row("guvectorize: no extents", generalised("out[0] = len(x)", np.ones(0), np.ones(0)))
row("guvectorize: no rows", generalised("out[0] = len(x)", np.ones((0, 3)), np.ones((0, 3))))
row("guvectorize: text", generalised("out[0] = 1", "abc", THREE), (TypeError, ValueError))
row("guvectorize: out of another shape", lambda: generalised_sum(THREE, THREE, out=np.ones(2)), ValueError)


@iruka.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def generalised_sum(x, y, out):
    out[0] = 0
    for k in range(len(x)):
        out[0] += x[k] * y[k]


# jit.rawkernel

REFUSED_THREADS = [
    "jit.syncthreads(1)",
    "jit.shared_memory(np.float32, -1)",
    "jit.shared_memory(np.float32, x.size)",
    "jit.shared_memory('nope', 4)",
    "jit.shared_memory(np.float32, 'a')",
    "jit.shared_memory(object, 4)",
    "jit.grid(4)",
    "jit.grid(0)",
    "jit.grid()",
    "k = jit.threadIdx.w",
    "jit.threadIdx.x = 3",
    "jit.blockDim = 1",
    "jit.atomic_add(x)",
    "jit.atomic_add(3, 0, 1)",
    "jit.atomic_add(out, 0, 'a')",
    "jit.atomic_and(out, 0, 1)",
    "jit.cub.BlockReduce(x)",
    "jit.thrust.sort(x)",
    "jit.shfl_sync(0)",
    "jit.range(3)",
    "for k in jit.range(3, unroll='a'):\n    out[0] = k",
    "for k in jit.range(10, unroll=x[0]):\n    pass",
    "out[0] = x[-1]",
    "out[0] = x['a']",
    "out[0] = x[0, 0]",
    "out[0] = x[0][0]",
    "out[0] = (1, 2)",
    "out = 3",
    "return 1",
    "print(x[0])",
    "out[0] = x.nothing",
    "out[0] = x.sum()",
    "out[0] = x.shape[5]",
    "out[0] = len(3)",
    "yield",
    "out[0] = jit.nothing",
    "jit.syncthreads = 3",
    "out[0] = undefined",
    "out['a'] = 1",
    "out[0.5] = 1",
    "out[None] = 1",
    "out[:] = x",
    "out[0] = x[0:1]",
    "del out[0]",
    "with jit.syncthreads():\n    pass",
    "out[0] = jit.laneid",
    "jit.atomic_cas(out, 0, 1, 2, 3)",
    "jit.shared_memory(np.float32, 10**15)[0] = 1",
    "s = jit.shared_memory(np.float32, 4)\ns = jit.shared_memory(np.float32, 8)\ns[0] = 1",
    "k = jit.rawkernel()",
]


def threads(body, *arguments, grid=(1,), block=(32,), mode="cuda"):
    def call():
        given = arguments or (floats(), iruka.zeros(4, "float32"))
        kernel = jit.rawkernel(mode=mode)(function("x, out", body))
        kernel(grid, block, given)
        iruka.default_device().synchronize()

    return call


for body in REFUSED_THREADS:
    row(f"jit: {body}", threads(body), (errors.TranslationError, errors.CompileError))
for name in NAMES:
    row(f"jit: a variable named {name}", threads(f"{name} = x[0]\nout[0] = {name}"))
row(
    "jit: 300 shared arrays",
    threads("\n".join(f"s{k} = jit.shared_memory(np.float64, 1)\ns{k}[0] = 1" for k in range(300))),
    (errors.Error, RUNS),
)
row(
    "jit: too much shared memory",
    threads("s = jit.shared_memory(np.float64, 10**6)\ns[jit.threadIdx.x] = x[0]\nout[0] = s[0]"),
    (errors.Error, RUNS),
)
row(
    "jit: a read-only array is written",
    threads("x[0] = 1", np.broadcast_to(np.float32(1), 4), np.zeros(4, "f4")),
    (errors.Error, TypeError),
)
row("jit: an assertion", threads("assert x[0] > 5, 'too small'"), errors.DeviceError)


@jit.rawkernel()
def copy_floats(x, out):
    k = jit.grid(1)
    if k < x.size:
        out[k] = x[k]


RAW = r"""extern "C" __global__ void copy(const float* x, float* out, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n && k < 4) out[k] = x[k];
}
template <class T> __global__ void fill(T* out, T value) { if (threadIdx.x == 0 && blockIdx.x == 0) out[0] = value; }
__constant__ float table[4];
__device__ int counter;
"""
raw_copy = iruka.RawKernel(RAW, "copy")
LAUNCHES = {
    "no blocks": ((0,), (32,), {}),
    "negative blocks": ((-1,), (32,), {}),
    "2^31 blocks": ((2**31,), (32,), {}),
    "10^30 blocks": ((10**30,), (32,), {}),
    "2^40 threads": ((1,), (2**40,), {}),
    "grid None": (None, (32,), {}),
    "grid of text": ("a", (32,), {}),
    "four axes": ((1, 1, 1, 1), (32,), {}),
    "no axes": ((), (32,), {}),
    "no threads": ((1,), (0,), {}),
    "1025 threads": ((1,), (1025,), {}),
    "2^20 threads": ((1,), (1024, 1024), {}),
    "65 in z": ((1,), (1, 1, 65), {}),
    "half a block": ((1.5,), (32,), {}),
    "NaN threads": ((1,), (math.nan,), {}),
    "65536 in y": ((1, 65536), (32,), {}),
    "shared_mem -1": ((1,), (32,), {"shared_mem": -1}),
    "shared_mem 10^12": ((1,), (32,), {"shared_mem": 10**12}),
    "shared_mem text": ((1,), (32,), {"shared_mem": "a"}),
    "shared_mem 10^30": ((1,), (32,), {"shared_mem": 10**30}),
    "stream text": ((1,), (32,), {"stream": "a"}),
    "an unknown keyword": ((1,), (32,), {"nothing": 1}),
    "a grid of arrays": (np.ones(3), (32,), {}),
    "block None": ((1,), None, {}),
    "a nested block": ((1,), ((1, 2),), {}),
    "a dict": ({}, {}, {}),
}
for name, (grid, block, keywords) in LAUNCHES.items():
    for form, kernel, more in (("RawKernel", raw_copy, (4,)), ("jit", copy_floats, ())):
        row(
            f"{form}: {name}",
            lambda kernel=kernel, grid=grid, block=block, keywords=keywords, more=more: kernel(
                grid, block, (floats(), iruka.zeros(4, "float32"), *more), **keywords
            ),
            (ValueError, TypeError, OverflowError),
        )
GIVEN = {
    "no arguments": lambda x: (),
    "too many": lambda x: (x, x, 4, 4),
    "one": lambda x: (x,),
    "text": lambda x: (x, "a", 4),
    "None for a number": lambda x: (x, x, None),
    "a list": lambda x: (x, [1.0], 4),
    "an object": lambda x: (x, object(), 4),
    "float64": lambda x: (x.astype("f8"), x, 4),
    "int64": lambda x: (x.astype("i8"), x, 4),
    "4.5 for an int": lambda x: (x, x, 4.5),
    "2^40 for an int": lambda x: (x, x, 2**40),
    "10^30 for an int": lambda x: (x, x, 10**30),
    "a float for a pointer": lambda x: (x, 1.5, 4),
    "complex": lambda x: (x, x, 1j),
    "an array for an int": lambda x: (x, x, x),
    "text for an int": lambda x: (x, x, "4"),
    "a read-only output": lambda x: (x, np.broadcast_to(np.float32(0), 4), 4),
    "a dict": lambda x: (x, {}, 4),
    "a structure": lambda x: (x, x, np.zeros(1, "i4,i4")[0]),
    "bytes": lambda x: (x, x, b"abcd"),
    "a class": lambda x: (x, x, int),
    "NaN for an int": lambda x: (x, x, math.nan),
    "a datetime": lambda x: (x, x, np.datetime64("2020-01-01")),
}
for name, given in GIVEN.items():
    row(
        f"RawKernel: arguments: {name}",
        lambda given=given: raw_copy((1,), (4,), given(floats())),
        (TypeError, ValueError, OverflowError),
    )
for name, given in {
    "no tuple": 5,
    "None": None,
    "one": (1,),
    "text": (1, "a"),
    "objects": (1, object()),
    "a list in them": (1, [1]),
    "datetimes": (np.zeros(3, "M8[s]"), 1),
    "texts": (np.array(["a"]), 1),
    "a dict": ({}, 1),
    "None in them": (None, None),
    "10^30": (10**30, 1),
    "structures": (np.zeros(3, "i4,i4"), 1),
    "objects' array": (np.array([None]), 1),
}.items():
    row(
        f"jit: arguments: {name}",
        lambda given=given: copy_floats((1,), (4,), given),
        (TypeError, ValueError, errors.Error),
    )
