"""Hostile inputs in C++ and as arrays, for test_hostile_kernels.py; hostile_functions.py has those in Python."""

import copy
import pickle
import signal
import threading
import time

import numpy as np

import iruka
from hostile_functions import ON_GPU, RUNS, copy_floats, double, floats, function, generalised_sum, raw_copy, row
from iruka import errors

ON_CPU_ONLY = errors.CompileError if not ON_GPU else (errors.CompileError, RUNS)

# Bodies of __global__ functions. They are compiled, and launched behind a condition that does not hold.

RAW_BODIES = {
    "an open brace": "{",
    "a closed brace": "}",
    "an open string": '"',
    "an open comment": "/*",
    "half a token": "'",
    "#include of a folder": "\n#include </etc>\n",
    "#include of /etc/passwd": '\n#include "/etc/passwd"\n',
    "#include of itself": "\n#include __FILE__\n",
    "#embed": "\n#embed </etc/passwd>\n",
    "import": "\nimport std;\n",
    "#error": "\n#error stop\n",
    "a macro that opens": "\n#define A (\nout[0] = A 1;\n",
    "asm": 'asm("int3");',
    ".incbin": 'asm(".incbin \\"/etc/passwd\\"");',
    "exit": "exit(1);",
    "abort": "abort();",
    "system": 'system("true");',
    "fork": "fork();",
    "new": "float* p = new float[10];",
    "throw": "throw 1;",
    "try": "try { } catch (...) { }",
    "typeid": "typeid(n);",
    "dynamic_cast": "dynamic_cast<float*>(out);",
    "std::vector": "std::vector<float> v(4);",
    "goto nowhere": "goto nowhere;",
    "a variable array": "int v[n]; v[0] = 1;",
    "a negative array": "int v[-1];",
    "an array of 2^60": "char v[1ull << 60]; v[n] = 1;",
    "shared memory of 2^40": "__shared__ char v[1ull << 40]; v[n] = 1;",
    "no such function": "nothing();",
    "no such type": "nothing v;",
    "threadIdx is set": "threadIdx.x = 3;",
    "a kernel in a kernel": "__global__ void g() {}",
    "a launch": "copy<<<1, 1>>>(x, out, n);",
    "co_return": "co_return;",
    "static_assert": 'static_assert(false, "no");',
    "an endless constant": "constexpr int f = [] { int k = 0; while (true) ++k; return k; }();",
    "a number of 10000 digits": f"out[0] = {'9' * 10_000};",
    "an exponent of 10^9": "out[0] = 1e1000000000f;",
    "a shift of 1000": "out[0] = 1 << 1000;",
    "1/0": "constexpr int k = 1 / 0;",
    "10000 parentheses": f"out[0] = {'(' * 10_000}1{')' * 10_000};",
    "10000 braces": "{" * 10_000 + "}" * 10_000,
    "100000 minuses": f"out[0] = {'- ' * 100_000}1;",
    "100000 terms": f"out[0] = 1{'+n' * 100_000};",
    "10000 else ifs": "".join(f"if (n == {k}) out[0] = {k}; else " for k in range(10_000)) + "out[0] = 1;",
    "50000 pointers": f"float {'*' * 50_000}p;",
    "20000 brackets": f"float v{'[1]' * 20_000};",
    "a comma of 100000": f"out[0] = ({'1,' * 100_000}1);",
    "a macro of 2^30 tokens": "\n#define A0 n+n\n"
    + "".join(f"#define A{k} A{k - 1}+A{k - 1}\n" for k in range(1, 31))
    + "out[0] = A30;",
    "a macro that calls itself": "\n#define B B + C\n#define C B + C\nout[0] = B;",
    "5 MB of text": "//" + "a" * 5_000_000,
    "an endless template": "out[0] = endless<0>::value;",
    "2^20 templates": "out[0] = tree<20, 0>::value;",
    "a vector of 2^30": "typedef float wide __attribute__((vector_size(1 << 30))); wide v;",
    "an alias": 'extern int e __attribute__((alias("nothing")));',
    "a section": 'static int e __attribute__((section(".init_array"))) = 1; out[0] = e;',
    "a label's address": "void* p = &&here; here: goto *p;",
    "a null byte": "out[0] = 1;\0",
    "a zero-width space": "out[0] = 1;\u200b",
    "a surrogate": "out[0] = 1;\udcff",
    "Arabic": "int ا = 1;",
}
RUNNING = (
    "#include of itself",
    "an array of 2^60",
    "a null byte",
    "a shift of 1000",
    "asm",
    "new",
    "an exponent of 10^9",
    "a kernel in a kernel",
    "a section",
    "a label's address",
    "Arabic",
    "abort",
    "a variable array",
    "exit",
    "typeid",
    "a macro that calls itself",
    "static_assert",
    "a number of 10000 digits",
    "a vector of 2^30",
    "an alias",
)
if ON_GPU:  # NVRTC instantiates them for minutes, and compiles nothing else meanwhile
    del RAW_BODIES["2^20 templates"]
HEAD = """template <int n> struct endless { static constexpr int value = endless<n + 1>::value; };
template <int a, int b> struct tree {
  static constexpr int value = tree<a - 1, 2 * b>::value + tree<a - 1, 2 * b + 1>::value;
};
template <int b> struct tree<0, b> { static constexpr int value = b; };
extern "C" __global__ void copy(const float* x, float* out, int n) {
  if (n < 5) return;
"""


def launched(text):
    def call():
        iruka.RawKernel(text, "copy")((1,), (4,), (floats(), floats(), 4))
        iruka.default_device().synchronize()

    return call


for name, body in RAW_BODIES.items():
    expected = (errors.CompileError, ValueError, UnicodeEncodeError, *((errors.Error, RUNS) if ON_GPU else ()))
    row(f"RawKernel: {name}", launched(f"{HEAD}{body}\n}}\n"), (*expected, RUNS) if name in RUNNING else expected)

COPY = 'extern "C" __global__ void copy(const float* x, float* out, int n) { if (n > 5) out[0] = x[0]; }'
MAKING = {
    "a missing name": lambda: iruka.RawKernel(COPY, "nothing").compile(),
    "no name": lambda: iruka.RawKernel(COPY, "").compile(),
    "half a template": lambda: iruka.RawKernel(COPY, "copy<").compile(),
    "a name of two words": lambda: iruka.RawKernel(COPY, "a b").compile(),
    "a name with a null byte": lambda: iruka.RawKernel(COPY, "copy\0").compile(),
    "a number as a name": lambda: iruka.RawKernel(COPY, 5),
    "a number as code": lambda: iruka.RawKernel(5, "copy"),
    "bytes as code": lambda: iruka.RawKernel(COPY.encode(), "copy"),
    "no code": lambda: iruka.RawKernel("", "copy").compile(),
    "None": lambda: iruka.RawKernel(None, None),
    "a name that closes the kernel": lambda: iruka.RawKernel(COPY, "copy); } void f(").compile(),
    "an option without a value": lambda: iruka.RawKernel(COPY, "copy", options=("-I",)).compile(),
    "an unknown option": lambda: iruka.RawKernel(COPY, "copy", options=("--nonsense",)).compile(),
    "-include": lambda: iruka.RawKernel(COPY, "copy", options=("-include", "/etc/passwd")).compile(),
    "options as text": lambda: iruka.RawKernel(COPY, "copy", options="-DX").compile(),
    "numbers as options": lambda: iruka.RawKernel(COPY, "copy", options=(5,)).compile(),
    "-Dcopy=": lambda: iruka.RawKernel(COPY, "copy", options=("-Dcopy=",)).compile(),
    "an unknown backend": lambda: iruka.RawKernel(COPY, "copy", backend="x"),
    "nvcc": lambda: iruka.RawKernel(COPY, "copy", backend="nvcc"),
    "a missing file": lambda: iruka.RawModule(path="/nowhere.cu"),
    "a folder": lambda: iruka.RawModule(path="/"),
    "code and path": lambda: iruka.RawModule(code=COPY, path="/nowhere.cu"),
    "neither": lambda: iruka.RawModule(),
    "no such template": lambda: (
        iruka.RawModule(code=COPY, name_expressions=["nothing<int>"]).get_function("nothing<int>").compile()
    ),
    "numbers as names": lambda: iruka.RawModule(code=COPY, name_expressions=[5]),
    "no such variable": lambda: iruka.RawModule(code=COPY).get_global("nothing"),
    "a function that is no kernel": lambda: iruka.RawModule(code="void f() {}").get_function("f").compile(),
    "an attribute that is text": lambda: setattr(raw_copy, "max_dynamic_shared_size_bytes", "a"),
    "a negative attribute": lambda: setattr(raw_copy, "max_dynamic_shared_size_bytes", -5),
    "an unknown attribute": lambda: raw_copy.nothing,
    "random machine code": lambda: module_of(b"\x7fELF" + bytes(range(256)) * 4),
    "half of PTX": lambda: module_of(b".version 8.0\n.target sm_80\n.visible .entry f("),
}
for name, call in MAKING.items():
    expected = (TypeError, ValueError, errors.Error, AttributeError, OverflowError)
    row(f"RawModule: {name}", call, (*expected, RUNS) if name == "a function that is no kernel" else expected)


def module_of(data):
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(data)
        file.flush()
        iruka.RawModule(path=file.name).get_function("f").compile()


# Bodies of ElementwiseKernel, and what ReductionKernel is made of

for name, body in RAW_BODIES.items():
    if name == "a label's address":
        continue  # it does not end
    body = body.replace("out[0]", "y").replace("n ", "x ").replace("n)", "x)")
    row(
        f"ElementwiseKernel: {name}",
        lambda body=body: iruka.ElementwiseKernel(
            "int32 x", "float32 y", body + "\ny = x;", "hostile", preamble=HEAD + "}"
        )(iruka.ones(3, "int32")),
        (errors.Error, ValueError, UnicodeEncodeError, RUNS),
    )
PARAMETERS = [
    "",
    "T",
    "T x, T x",
    "float32 x y",
    "float99 x",
    "T x,",
    ",",
    "raw",
    "raw T",
    "const T x",
    "T 1x",
    "T x; T y",
    "T x\0",
    "T " + "x" * 10**6,
    ", ".join(f"T x{k}" for k in range(5000)),
    "T int",
    "T iruka",
    "T i",
    "T n",
    "T _ind",
    "T x, U",
]
for parameters in PARAMETERS:
    row(
        f"ElementwiseKernel: the parameters {parameters[:30]!r}",
        lambda parameters=parameters: iruka.ElementwiseKernel(parameters, "float32 y", "y = 1;", "k")(iruka.ones(3)),
        (ValueError, TypeError, errors.CompileError, RUNS),
    )
PARTS = {
    "an open parenthesis": ("T x", "T y", "(x", "a + b", "y = a", "0"),
    "no sum": ("T x", "T y", "x", "", "y = a", "0"),
    "no map": ("T x", "T y", "", "a + b", "y = a", "0"),
    "no end": ("T x", "T y", "x", "a + b", "", "0"),
    "an identity of text": ("T x", "T y", "x", "a + b", "y = a", '"no"'),
    "two statements": ("T x", "T y", "x; x", "a + b", "y = a", "0"),
    "no inputs": ("", "T y", "x", "a + b", "y = a", "0"),
    "no outputs": ("T x", "", "x", "a + b", "y = a", "0"),
    "a comment": ("T x", "T y", "x //", "a + b /*", "y = a", "0"),
    "another type": ("T x", "T y", "x", "a + b", "y = a", "0", "k", "nothing"),
    "a return": ("T x", "T y", "x", "return a", "y = a", "0"),
    "numbers": (1, 2, 3, 4, 5, 6),
    "None": (None,) * 6,
    "a brace": ("T x", "T y", "x } {", "a + b", "y = a", "0"),
    "a macro": ("T x", "T y", "x\n#define a\n", "a + b", "y = a", "0"),
}
for name, parts in PARTS.items():
    row(
        f"ReductionKernel: {name}",
        lambda parts=parts: iruka.ReductionKernel(*parts)(floats()),
        (
            ValueError,
            TypeError,
            errors.CompileError,
            *((RUNS,) if name in ("no end", "two statements", "a comment", "a brace", "a macro") else ()),
        ),
    )
squares = iruka.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares")
REDUCING = {
    "a missing axis": lambda: squares(floats(), axis=3),
    "an axis of text": lambda: squares(floats(), axis="a"),
    "no arrays": lambda: squares(),
    "axes twice": lambda: squares(iruka.ones((2, 2)), axis=(0, 0)),
    "an axis of 10^30": lambda: squares(floats(), axis=10**30),
    "an object": lambda: squares(object()),
    "out of another shape": lambda: squares(floats(), out=iruka.ones(7)),
    "an unknown keyword": lambda: squares(floats(), nothing=1),
    "out of another dtype": lambda: squares(floats(), out=iruka.ones((), "int8")),
    "text": lambda: squares("a"),
    "a half axis": lambda: squares(floats(), axis=0.5),
}
for name, call in REDUCING.items():
    row(f"ReductionKernel: {name}", call, (ValueError, TypeError, IndexError, OverflowError))

# fuse

FUSED = [
    "if x:\n    return x\nreturn 1",
    "return float(x)",
    "return len(x)",
    "for v in x:\n    pass\nreturn x",
    "return iruka.sort(x)",
    "return x @ x",
    "return x.reshape(-1)",
    "return x[x > 0]",
    "x[0] = 1\nreturn x",
    "return x.tolist()",
    "return np.asarray(x)",
    "return bool(x)",
    "return x and x",
    "return not x",
    "return 0 < x < 1",
    "return iruka.cumsum(x)",
    "return int(x.sum())",
    "return x in x",
    "while x.sum() > 0:\n    x = x - 1\nreturn x",
    "return {x}",
    "return object()",
    "return 'a'",
    "return x.nothing",
    "return undefined",
    "return x[[0, 1]]",
    "return x[5.5]",
    "return x['a']",
    "return x.sum(axis=9)",
    "return x.sum(axis='a')",
    "return x[99]",
    "return iruka.where(x, x)",
    "return x + 'a'",
    "return x + object()",
    "return x << 1.5",
    "return abs(x, x)",
    "raise KeyError('mine')",
    "return x.astype('nothing')",
    "return x + [1, [2]]",
    "return (x for _ in range(3))",
    "return x.T[0, 0, 0]",
    "yield x",
    "return hash(x)",
    "return iruka.zeros(10**18) + x",
    "return x.sum(axis=(0, 0))",
    "return x ** (10 ** 400)",
    "return x + iruka.ones(5)",
    "x += 'a'",
]
OWN = {"return undefined": NameError, "raise KeyError('mine')": KeyError, "return abs(x, x)": TypeError}
MAY_RUN = (
    "return object()",
    "return 'a'",
    "return {x}",
    "return (x for _ in range(3))",
    "yield x",
    "return hash(x)",
    "return x ** (10 ** 400)",
    "return x in x",
)


def fused(body):
    return lambda: iruka.fuse(function("x", body))(floats())


for body in FUSED:
    expected = OWN.get(body) or (errors.Error, TypeError, ValueError, IndexError, OverflowError, MemoryError)
    row(f"fuse: {body}", fused(body), (*expected, RUNS) if body in MAY_RUN else expected)
row(
    "fuse: 3000 operations",
    lambda: iruka.fuse(function("x", "for _ in range(3000):\n    x = x * 0.5 + 1\nreturn x"))(floats()),
    (errors.Error, RUNS),
)
row(
    "fuse: 2^40 shared operations",
    lambda: iruka.fuse(function("x", "for _ in range(40):\n    x = x * 0.25 + x\nreturn x"))(floats()),
    (errors.Error, RUNS),
)
row("fuse: recursion", lambda: iruka.fuse(function("x", "return f(x) + 1"))(floats()), (RecursionError, errors.Error))
row(
    "fuse: 600 reductions",
    lambda: iruka.fuse(function("x", "for _ in range(600):\n    x = x - x.sum()\nreturn x"))(floats()),
    (errors.Error, RUNS),
)
for name, call in {
    "no function": lambda: iruka.fuse(5),
    "no arguments": lambda: iruka.fuse(function("x", "return x"))(),
    "a text": lambda: iruka.fuse(function("x", "return x"))("a"),
    "an unhashable": lambda: iruka.fuse(function("x, y", "return x"))(floats(), {1: []}),
    "shapes": lambda: iruka.fuse(function("x, y", "return x + y"))(floats(3), floats(4)),
    "kernel_name 5": lambda: iruka.fuse(kernel_name=5)(function("x", "return x + 1"))(floats()),
    "kernel_name a b": lambda: iruka.fuse(kernel_name="a b; }")(function("x", "return x + 1"))(floats()),
}.items():
    row(f"fuse: {name}", call, (TypeError, ValueError, errors.Error, RUNS))

# apply_along_axis and its kind

ROWS_OF_4 = np.ones((3, 4))
SLICES = {
    "no function": lambda: iruka.apply_along_axis(5, 0, ROWS_OF_4),
    "a missing axis": lambda: iruka.apply_along_axis(np.sum, 9, ROWS_OF_4),
    "an axis of text": lambda: iruka.apply_along_axis(np.sum, "a", ROWS_OF_4),
    "no slices": lambda: iruka.apply_along_axis(np.sum, 0, np.ones((3, 0))),
    "a number": lambda: iruka.apply_along_axis(np.sum, 0, 5),
    "raises": lambda: iruka.apply_along_axis(function("v", "raise KeyError(1)"), 0, ROWS_OF_4),
    "returns None": lambda: iruka.apply_along_axis(function("v", "return None"), 0, ROWS_OF_4),
    "returns text": lambda: iruka.apply_along_axis(function("v", "return 'a'"), 0, ROWS_OF_4),
    "shapes that change": lambda: iruka.apply_along_axis(
        function("v", "return np.ones(int(v.sum()))"), 1, np.arange(12.0).reshape(3, 4)
    ),
    "an index out of bounds": lambda: iruka.apply_along_axis(function("v", "return v[9]"), 0, ROWS_OF_4),
    "an exit": lambda: iruka.apply_along_axis(function("v", "raise SystemExit"), 0, ROWS_OF_4),
    "itself": lambda: iruka.apply_along_axis(function("v", "return iruka.apply_along_axis(f, 0, v)"), 0, ROWS_OF_4),
    "a generator": lambda: iruka.apply_along_axis(function("v", "yield v"), 0, ROWS_OF_4),
    "axes out of bounds": lambda: iruka.apply_over_axes(np.sum, ROWS_OF_4, [5]),
    "axes of text": lambda: iruka.apply_over_axes(np.sum, ROWS_OF_4, "a"),
    "a function of one": lambda: iruka.apply_over_axes(lambda a: a, ROWS_OF_4, [0]),
    "more functions than conditions": lambda: iruka.piecewise(np.ones(3), [np.ones(3, bool)], [1, 2, 3]),
    "conditions of another shape": lambda: iruka.piecewise(np.ones(3), [np.ones(7, bool)], [1]),
    "a piece that raises": lambda: iruka.piecewise(
        np.ones(3), [np.ones(3, bool)], [function("v", "raise KeyError(1)")]
    ),
    "no conditions": lambda: iruka.piecewise(np.ones(3), [], []),
    "frompyfunc of nothing": lambda: iruka.frompyfunc(5, 1, 1),
    "frompyfunc of -1": lambda: iruka.frompyfunc(abs, -1, 1),
    "frompyfunc of 10^9": lambda: iruka.frompyfunc(abs, 10**9, 1),
    "frompyfunc of too few": lambda: iruka.frompyfunc(function("x, y", "return x"), 1, 1)(np.ones(3)),
    "frompyfunc of two results": lambda: iruka.frompyfunc(function("x", "return x"), 1, 2)(np.ones(3)),
}
for name, call in SLICES.items():
    row(
        f"slices: {name}",
        call,
        (
            TypeError,
            ValueError,
            IndexError,
            KeyError,
            OverflowError,
            RecursionError,
            SystemExit,
            errors.Error,
            *(
                (RUNS,)
                if name
                in (
                    "returns None",
                    "returns text",
                    "a generator",
                    "a number",
                    "frompyfunc of nothing",
                    "frompyfunc of -1",
                    "frompyfunc of two results",
                    "no conditions",
                )
                else ()
            ),
        ),
    )

# Kernels as values, threads, interrupts

KERNELS = {
    "vectorize": double,
    "guvectorize": generalised_sum,
    "jit": copy_floats,
    "RawKernel": raw_copy,
    "ReductionKernel": squares,
    "ElementwiseKernel": iruka.ElementwiseKernel("T x", "T y", "y = x + 1", "plus"),
}
STATES = [None, (), (None,), 5, {}, b"", "a", (1, 2, 3), ({},) * 9, [object()], {"code": 5}, ("a" * 10**6,), (10**30,)]


def with_state(kernel, state):
    """What unpickling does with damaged data: the arguments of the class are of other types, or missing."""
    made, arguments, *_ = kernel.__reduce_ex__(4)
    for position in range(len(arguments)):
        damaged = (*arguments[:position], state, *arguments[position + 1 :])
        if getattr(made, "__module__", "").startswith(("iruka", "copyreg")):
            try:
                again = made(*damaged)
                repr(again), hash(again), again == kernel
            except (TypeError, ValueError, OverflowError, AttributeError, errors.Error):
                pass
    if hasattr(kernel, "__setstate__"):
        copy.copy(kernel).__setstate__(state)


for name, kernel in KERNELS.items():
    for state in STATES:
        row(
            f"pickle: {name} of {str(state)[:30]}",
            lambda kernel=kernel, state=state: with_state(kernel, state),
            (TypeError, ValueError, ImportError, errors.Error, RUNS),
        )
    row(
        f"pickle: {name} cut short",
        lambda kernel=kernel: [unpickled(pickle.dumps(kernel)[:end]) for end in range(0, 200, 7)],
    )
    row(
        f"pickle: {name} unmade",
        lambda kernel=kernel: repr(type(kernel).__new__(type(kernel))),
        (TypeError, AttributeError, RUNS),
    )


def unpickled(data):
    try:
        pickle.loads(data)
    except (
        EOFError,
        pickle.UnpicklingError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        ImportError,
        KeyError,
        errors.Error,
    ):
        pass


def in_threads(call, count=8):
    failures = []

    def run():
        try:
            for _ in range(20):
                call()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if failures:
        raise failures[0]


def interrupted(call, seconds):
    """Ctrl-C while a kernel compiles or runs; the next call works."""
    main = threading.main_thread().ident
    timer = threading.Timer(seconds, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    try:
        call()
        time.sleep(seconds)  # the signal comes at last
    except KeyboardInterrupt:
        pass
    finally:
        timer.cancel()
    assert float(iruka.ones(5).sum()) == 5


vectorized_here = iruka.vectorize(target="cpu")(function("x", "return x * 3 + 1"))
fused_here = iruka.fuse(function("x", "return (x * 3 + 1).sum(axis=0)"))
THREADED = {
    "vectorize": lambda: vectorized_here(np.ones(50)),
    "guvectorize": lambda: generalised_sum(np.ones((5, 4)), np.ones(4)),
    "jit": lambda: copy_floats((2,), (32,), (floats(50), floats(50))),
    "RawKernel": lambda: raw_copy((1,), (32,), (floats(), floats(), 4)),
    "fuse": lambda: fused_here(floats(50)),
    "slices": lambda: iruka.apply_along_axis(np.sum, 0, ROWS_OF_4),
    "ReductionKernel": lambda: squares(floats(50)),
    "kernels with errors": lambda: vectorized("return str(x)"),
    "clear_cache": lambda: (iruka.clear_cache(), vectorized_here(np.ones(5))),
}


def vectorized(body):
    try:
        iruka.vectorize(target="cpu")(function("x", body))(np.ones(3))
    except errors.TranslationError:
        pass


for name, call in THREADED.items():
    row(f"threads: {name}", lambda call=call: in_threads(call))
LONG = {
    "an endless loop": lambda: iruka.vectorize(target="cpu")(function("x", "while x > 0:\n    x = x + 1\nreturn x"))(
        np.ones(100)
    ),
    "a loop of 10^15": lambda: iruka.vectorize(target="cpu")(
        function("x", "for k in range(10**15):\n    x = math.sin(x)\nreturn x")
    )(np.ones(100)),
    "compilation": lambda: [
        iruka.vectorize(target="cpu")(function("x", f"return math.sin(x) * {k}.5 + math.exp(x)"))(np.ones(3))
        for k in range(50)
    ],
    "fuse": lambda: [iruka.fuse(function("x", f"return iruka.sin(x) * {k}.5"))(floats()) for k in range(50)],
    "slices": lambda: [iruka.apply_along_axis(np.median, 1, np.ones((1000, 40))) for _ in range(1000)],
    "threads of a block": lambda: iruka.RawKernel(
        'extern "C" __global__ void f(float* x) { while (x[0] == 1) __syncthreads(); }', "f"
    )((1,), (64,), (floats(),)),
}
for name, call in LONG.items() if not ON_GPU else ():
    for seconds in (0.05, 0.4):
        row(f"interrupt: {name} after {seconds} s", lambda call=call, seconds=seconds: interrupted(call, seconds))
