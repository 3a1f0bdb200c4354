"""What is C++ and hardly meant: a warning, once per kernel, with line and caret, at the line of the caller."""

import inspect
import warnings

import pytest

import iruka
from helpers import run_python
from iruka.errors import KernelWarning

pytestmark = pytest.mark.cpu_only


def run(code, **environment):
    """What a program says in a process of its own, where it must not fail."""
    done = run_python(code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def caught(work):
    """The kernel warnings of `work`, and its result."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = work()
    assert all(issubclass(item.category, KernelWarning) for item in found), [str(item.message) for item in found]
    return found, result


def texts(work):
    return [str(item.message) for item in caught(work)[0]]


def elementwise(inputs, outputs, body, **options):
    return iruka.ElementwiseKernel(inputs, outputs, body, "suspect", **options)


@pytest.mark.parametrize(
    "inputs, body, line, words",
    [
        ("float32 x", "float zz = x;", 0, ["the output 'z' is never written", "z = ..."]),
        ("float32 x", "float t = z + x;", 0, ["the output 'z' is read, but nothing is written to it"]),
        ("float32 x", "z = x;\nz == x;", 2, ["equality comparison result unused", "unused-comparison"]),
        ("float32 x", "z = x;\nx + 1;", 2, ["expression result unused", "unused-value"]),
        ("float32 x", "float t;\nz = t * x;", 2, ["'t' is uninitialized"]),
        ("float32 x", "float t;\nif (x > 0) t = 1;\nz = t;", 2, ["'t' is used uninitialized whenever"]),
        ("float32 x", "z = 0; if (z = x) z = 2;", 1, ["assignment as a condition"]),
        ("float32 x", "int t[2] = {}; z = t[5];", 1, ["array index 5 is past the end"]),
    ],
)
def test_what_is_told_when_the_kernel_is_made(inputs, body, line, words):
    (message,) = texts(lambda: elementwise(inputs, "float32 z", body))[:1]
    assert "kernel 'suspect'" in message and "test_kernel_warnings.py" in message
    for word in words:
        assert word in message
    if line:
        assert f"operation, line {line}: warning: " in message
        assert body.split("\n")[line - 1] in message and message.rstrip(" ").endswith("^")


@pytest.mark.parametrize(
    "index, words",
    [
        ("i * 0.5", "index of type 'double' is truncated"),
        ("{i / 3, i * 0.5}", "index of type 'double' is truncated"),
        ("{i}", "one index in braces, but the array has 2 axes"),
        ("i / 3, i % 3", "write a[{y, x}]"),
        ("0, 1", "write a[{y, x}]"),
    ],
)
def test_subscripts_of_raw_arrays(index, words):
    kernel = elementwise("raw T a", "T z", f"z = a[{index}]")
    a = iruka.arange(6, dtype="float32").reshape(2, 3)
    messages = texts(lambda: kernel(a, size=6))
    assert len(messages) == 1 and words in messages[0] and "operation, line 1: warning: " in messages[0]
    assert texts(lambda: kernel(a, size=6)) == []  # once


@pytest.mark.parametrize("index", ["i", "{i / 3, i % 3}", "(ptrdiff_t)(i * 0.5)", "_ind.get()[0]"])
def test_subscripts_that_are_meant(index):
    kernel = elementwise("raw T a", "T z", f"z = a[{index}]")
    assert texts(lambda: kernel(iruka.arange(6, dtype="float32").reshape(2, 3), size=6)) == []


@pytest.mark.parametrize(
    "outputs, body",
    [
        ("T z", "z = x"),
        ("T z", "z += x"),
        ("T z", "if (x > 0) z = x;"),
        ("T z", "T* p = &z; *p = x;"),
        ("T z", "T& r = z; r = x;"),
        ("T z", "set(z, x);"),
        ("T z", "PUT(x);"),
        ("T z", "auto f = [&](T v) { z = v; }; f(x);"),
        ("T z", "#define OUT z\nOUT = x;"),
        ("T z, T y", "z = y = x"),
        ("T z", "#ifdef NOT_THIS\n#else\nz = x;\n#endif"),
        ("T z", "atomicAdd(&z, x);"),
        ("T z", "z++"),
        ("T z", "struct S { T v; }; S s = {x}; z = s.v;"),
        ("T z", "for (int k = 0; k < 3; ++k) { if (k == 1) continue; z = x; }"),
        ("T z", "T t; t = x; z = t;"),
        ("T z", "z = x; (void)z;"),
    ],
)
def test_bodies_that_write_are_not_warned_of(outputs, body):
    preamble = "template <class A> __device__ void set(A& to, A from) { to = from; }\n#define PUT(v) z = (v)"
    kernel = elementwise("T x", outputs, body, preamble=preamble)
    for dtype in ("int32", "float32"):
        assert texts(lambda: kernel(iruka.ones(3, dtype))) == []


def test_raw_outputs():
    assert (
        texts(
            lambda: elementwise("float32 x", "raw float32 z", "z[i] = x")(
                iruka.ones(3, "float32"), iruka.empty(3, "float32")
            )
        )
        == []
    )
    kernel = elementwise("T x", "raw T z", "T t = x;")
    (message,) = texts(lambda: kernel(iruka.ones(3), iruka.empty(3)))
    assert "'z' is never written" in message
    body = "float* p = &z[0]; p[i] = x;"
    assert (
        texts(
            lambda: elementwise("float32 x", "raw float32 z", body)(iruka.ones(3, "float32"), iruka.empty(3, "float32"))
        )
        == []
    )


def test_complex_and_half_outputs():
    for dtype in ("complex64", "float16", "bfloat16", "bool"):
        kernel = elementwise("T x", "T z", "z = x")
        assert texts(lambda: kernel(iruka.ones(3, dtype))) == []
        kernel = elementwise("T x", "T z", "T zz = x;")
        assert "'z' is never written" in texts(lambda: kernel(iruka.ones(3, dtype)))[0]


def test_loop_prep_and_after_loop():
    made = lambda **more: elementwise("float32 x", "float32 z", "z = x + t", loop_prep="float t = 1;", **more)
    assert texts(lambda: made()(iruka.ones(3, "float32"))) == []
    (message,) = texts(lambda: made(after_loop="t + 2;"))
    assert "after_loop, line 1: warning: expression result unused" in message


def test_once_per_kernel_and_at_the_callers_line():
    found, kernel = caught(lambda: elementwise("T x", "T z", "z = x; x == z;"))
    assert found == []
    line = inspect.currentframe().f_lineno + 1
    found, _ = caught(lambda: kernel(iruka.ones(3, "float32")))
    assert [(item.filename, item.lineno) for item in found] == [(__file__, line)]
    assert caught(lambda: kernel(iruka.ones(3, "float32")))[0] == []
    assert caught(lambda: kernel(iruka.ones(3, "float64")))[0] == []  # the same words
    again = elementwise("T x", "T z", "z = x; x == z;")
    assert len(caught(lambda: again(iruka.ones(3, "float32")))[0]) == 1  # another kernel


def test_kernels_from_the_cache_warn_as_well(tmp_path):
    code = """
import warnings, iruka
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    iruka.ElementwiseKernel("float32 x", "float32 z", "float zz = x;", "cached")
    iruka.ElementwiseKernel("T x", "T z", "z = x; x + 1;", "cached")(iruka.ones(2))
print([event.kind for event in iruka.kernel_history() if event.kernel == "cached"], *[str(item.message) for item in found], sep="|")
"""
    first, second = (run(code, IRUKA_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2))
    assert first.startswith("['compiled']|") and second.startswith("['loaded_from_disk']|")
    assert first.split("|")[1:] == second.split("|")[1:] and len(first.split("|")) == 3


def test_warnings_as_errors_and_options():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KernelWarning, match="never written"):
            elementwise("float32 x", "float32 z", "float zz = x;")
        kernel = elementwise("T x", "T z", "z = x; z == x;")
        with pytest.raises(KernelWarning, match="result unused"):
            kernel(iruka.ones(3))
        assert kernel(iruka.ones(3)).tolist() == [1, 1, 1]
        elementwise("float32 x", "float32 z", "float zz = x;", options=("-w",))
        elementwise("float32 x", "float32 z", "z = x; z == x;", options=("-Wno-unused-comparison",))
        with pytest.raises(KernelWarning, match="unused variable"):
            elementwise("float32 x", "float32 z", "int unused_one; z = x;", options=("-Wunused-variable",))


def test_reductions():
    made = lambda *texts: iruka.ReductionKernel("T x", "T y", *texts, "0", "suspect_sum")
    x = iruka.arange(5.0)
    assert texts(lambda: made("x", "a + b", "y = a")(x)) == []
    for shape in ((200_000,), (300, 70), (3, 4, 5)):
        kernel = made("x * x", "a + b", "y = sqrt(a)")
        assert texts(lambda: (kernel(iruka.ones(shape)), kernel(iruka.ones(shape), axis=0))) == []
    messages = texts(lambda: made("x", "a + b", "a")(x))
    assert any("post_map_expr, line 1: warning: expression result unused" in message for message in messages)
    assert any("the output 'y' is never written" in message for message in messages)
    with pytest.raises(ValueError, match="there is no shape to reduce: no argument is an array"):
        made("x", "a + b", "y = a")(1.5)


def test_the_librarys_own_kernels_give_no_warning(tmp_path):
    """An entry of the cache holds a header of 56 bytes and then the size of its warnings, or nothing at all."""
    folder = tmp_path / "cache"
    code = """
import iruka
for dtype in ("int8", "float16", "float32", "complex64", "bool"):
    x = iruka.ones((3, 5), dtype)
    for name in iruka.elementwise_names():
        function = getattr(iruka, name, None)
        try:
            function(*[x] * function.nin)
        except (TypeError, ValueError, AttributeError):
            pass
    x[iruka.asarray([0, 1])], x[x == x], iruka.where(x == x, x, x), x.T.copy(), x.sum(), x.any(axis=0)
    iruka.concatenate([x, x]).take(iruka.asarray([1, 2]), axis=0)
iruka.random.rand(5), iruka.linspace(0, 1, 5), iruka.bincount(iruka.asarray([1, 2]))
"""
    run(code, IRUKA_SHIPPED_KERNELS="0", IRUKA_CACHE_DIR=str(folder), timeout=300)
    entries = {path.name: path.read_bytes()[56:64] for path in folder.glob("*.kernel")}
    assert len(entries) > 100 and set(entries.values()) <= {b"", bytes(8)}
    warned = "import iruka; iruka.ElementwiseKernel('T x', 'T z', 'z = x; z == x;')(iruka.ones(3))"
    run(warned, IRUKA_CACHE_DIR=str(tmp_path / "other"))
    assert any(path.read_bytes()[56:64] not in (b"", bytes(8)) for path in (tmp_path / "other").glob("*.kernel"))
