"""What a StagedKernel says of intermediates that are read before a stage has written to them: no false alarms."""

import warnings

import pytest

import iruka
from iruka.errors import KernelWarning

pytestmark = pytest.mark.skipif(iruka.default_device().name != "cpu", reason="NVRTC does not say who reads and writes")

ELEMENT = "template <class E, class T> __device__ void put(E &e, T v) { e = v; }"
ARRAY = "template <class A, class T> __device__ void put(A &a, ptrdiff_t k, T v) { a[k] = v; }"
COPY = "template <class A, class T> __device__ void put(A a, ptrdiff_t k, T v) { a[k] = v; }"
READ = "y = a[i] + b[i];"
BOTH = "a[i] = x; b[i] = x;"

WRITTEN = {
    "branch": (["if (x > 0) a[i] = x; else a[i] = 0; b[i] = x;", READ], ""),
    "branch_of_one_side": (["if (i == 0) a[i] = x; b[i] = x;", READ], ""),
    "same_stage": (["y = i ? x : a[i] + b[i]; a[i] = x; b[i] = x;"], ""),
    "reference": (["auto &r = a[i]; r = x; auto &s = b; s[i] = x;", READ], ""),
    "chosen_reference": (["auto &r = i % 2 ? a : b; r[i] = x; auto &s = i % 2 ? b : a; s[i] = x;", READ], ""),
    "pointer": (["auto *p = &a[i]; *p = x; b[i] = x;", READ], ""),
    "copy_of_the_array": (["auto c = a; c[i] = x; b[i] = x;", READ], ""),
    "helper_of_an_element": (["put(a[i], x); put(b[i], x);", READ], ELEMENT),
    "helper_of_an_array": (["put(a, i, x); put(b, i, x);", READ], ARRAY),
    "helper_of_a_copy": (["put(a, i, x); put(b, i, x);", READ], COPY),
    "macro": (["PUT(a); PUT(b);", READ], "#define PUT(t) t[i] = x"),
    "hidden_in_a_macro": (["PUT", READ], "#define PUT a[i] = x; b[i] = x;"),
    "lambda": (["auto put = [&](auto &t) { t[i] = x; }; put(a); put(b);", READ], ""),
    "atomic": (["atomicExch(&a[i], x); atomicAdd(&b[i], x);", READ], ""),
    "chosen_element": (["(i % 2 ? a[i] : b[i]) = x; (i % 2 ? b[i] : a[i]) = x;", READ], ""),
    "several_indices": (["a[{i}] = x; b[{i}] = x;", "y = a[{i}] + b[{i}];"], ""),
    "some_elements": ([("a[i] = 0; b[i] = 0;", 1, "1"), "y = a[0] + b[0];"], ""),
    "in_a_later_step": ([("if (_step) y = a[i] + b[i]; a[i] = x; b[i] = x;", 2)], ""),
    "updated": ([BOTH, "a[i] += x; b[i]++;", READ], ""),
    "updated_in_a_branch": (["if (i) a[i] = x; else a[i] = 0; a[i] += x; b[i] = a[i]; ++b[i];", READ], ""),
    "size": (["y = sizeof(a[0]) + a.size();", BOTH, READ], ""),
    "type": (["decltype(a[0] + b[0]) t = x; y = t;", BOTH, READ], ""),
    "other_variable": (["float a = x; float b = a; y = b;", BOTH, READ], ""),
    "other_parameter": (["auto f = [](float a, float b) { return a + b; }; y = f(x, x);", BOTH, READ], ""),
    "branch_that_is_left_out": (["if constexpr (sizeof(x) == 8) y = a[i] + b[i]; else y = x;", BOTH, READ], ""),
    "comment": (["y = x; // a[i] + b[i]", BOTH, READ], ""),
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("size", [10, 100000])  # the stages in one function, and in one each
def test_no_false_alarms(name, size):
    stages, preamble = WRITTEN[name]
    kernel = iruka.StagedKernel("float32 x", "float32 y", "float32 a, float32 b", stages, name, preamble=preamble)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(iruka.ones(size, "float32"))


UNWRITTEN = {
    "read_first": ["y = a[i];", "a[i] = x;"],
    "never_written": ["y = a[i];"],
    "read_in_a_lambda": ["auto get = [&]() { return a[i]; }; y = get();", "a[i] = x;"],
    "updated_first": ["a[i] += x;", "y = a[i];"],
    "counted_first": ["a[i]++;", "y = a[i];"],
    "in_a_branch_of_constants": ["if constexpr (sizeof(x) == 4) y = a[i]; else y = x;", "a[i] = x;"],
    "in_every_step": [("a[i] -= x;", 3), "y = a[i];"],
}


@pytest.mark.parametrize("name", UNWRITTEN)
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "bfloat16"])
def test_alarms(name, dtype):
    kernel = iruka.StagedKernel("float32 x", "float32 y", f"{dtype} a", UNWRITTEN[name], name)
    with pytest.warns(KernelWarning, match="stage 1, line 1: warning: 'a' is read, but no stage has written to it"):
        kernel(iruka.ones(10, "float32"))


@pytest.mark.parametrize("body", ["y = c[i].real();", "y = abs(c[i]);", "auto z = c[i]; y = z.imag();", "c[i] *= x;"])
def test_alarms_of_complex_numbers(body):
    kernel = iruka.StagedKernel("float32 x", "float32 y", "complex64 c", [body, "c[i] = x; y = x;"], "early")
    with pytest.warns(KernelWarning, match="stage 1, line 1: warning: 'c' is read, but no stage has written to it"):
        kernel(iruka.ones(10, "float32"))


@pytest.mark.parametrize("body", ["c[i] = x;", "c[i].real(x);", "auto d = c; d[i] = x;", "(&c[i])->imag(c.size());"])
def test_complex_numbers_that_are_written(body):
    kernel = iruka.StagedKernel("float32 x", "float32 y", "complex64 c", [body, "c[i] *= 2; y = c[i].real();"], "late")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(iruka.ones(10, "float32"))
