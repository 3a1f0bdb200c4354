"""Numba's names and options: what is not here says what to write."""

import importlib
import re

import numpy as np
import pytest

import iruka
from iruka import _numba_names, cuda, guvectorize, jit, vectorize
from iruka.errors import TranslationError

NAMES = [
    (cuda, "jit", r"@iruka\.jit\.rawkernel\(\)"),
    *((cuda, name, rf"use iruka\.jit\.{name}") for name in (
        "grid", "gridsize", "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "syncthreads",
        "syncwarp", "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")),
    (cuda, "shared", r"iruka\.jit\.shared_memory"),
    (cuda, "local", r"numpy\.zeros"),
    (cuda, "const", "table of constants"),
    (cuda, "atomic", r"iruka\.jit\.atomic_add"),
    (cuda, "cg", r"iruka\.RawKernel"),
    (cuda, "threadfence", r"iruka\.RawKernel"),
    (cuda, "event_elapsed_time", r"iruka\.cuda\.get_elapsed_time"),
    (cuda, "pinned", r"iruka\.cuda\.pinned_array"),
    (cuda, "reduce", r"iruka\.ReductionKernel"),
    (cuda, "Reduce", r"iruka\.ReductionKernel"),
    (cuda, "declare_device", r"iruka\.RawModule"),
    (cuda, "detect", r"iruka\.show_config\(\)"),
    (cuda, "list_devices", r"iruka\.cuda\.Device\(i\)"),
    (cuda, "gpus", r"iruka\.cuda\.Device\(i\)"),
    (cuda, "select_device", r"iruka\.cuda\.Device\(i\)\.use\(\)"),
    (cuda, "close", "nothing is to be closed"),
    (cuda, "current_context", "one context"),
    (cuda, "profile_start", r"iruka\.profiler\.benchmark"),
    (iruka, "njit", r"iruka\.vectorize .* iruka\.guvectorize .* iruka\.jit\.rawkernel"),
    (iruka, "prange", "write range"),
    (iruka, "stencil", r"iruka\.guvectorize"),
    (jit, "threadfence", r"iruka\.RawKernel"),
    (jit, "shared", r"iruka\.jit\.shared_memory"),
    (jit, "no_such_name", "'iruka.jit' has no attribute 'no_such_name'$"),
]  # fmt: skip


@pytest.mark.parametrize("module, name, words", NAMES)
def test_names_that_are_not_here(module, name, words):
    assert not hasattr(module, name)
    with pytest.raises(AttributeError, match=f"'{module.__name__}' has no attribute '{name}'") as caught:
        getattr(module, name)
    assert re.search(words, str(caught.value))


def test_every_name_that_is_said_to_help_is_there():
    hints = {"iruka.cuda": cuda._INSTEAD, "iruka.jit": _numba_names.JIT, "iruka": _numba_names.IRUKA}
    for module, names in hints.items():
        for name, text in names.items():
            assert not hasattr(importlib.import_module(module), name), name
            for path in re.findall(r"iruka((?:\.\w+)+)", text):
                thing = iruka
                for part in path.split(".")[1:]:
                    thing = getattr(thing, part)


def test_jit_is_no_decorator():
    for use in (lambda: iruka.jit(lambda x: x), lambda: iruka.jit(nopython=True), lambda: jit("f8(f8)")):
        with pytest.raises(TypeError, match=r"iruka.jit is a module.*@iruka.jit.rawkernel\(\).*@iruka.vectorize"):
            use()


@pytest.mark.parametrize(
    "body, words",
    [
        (lambda x: cuda.grid(1), r"use iruka.jit.grid"),
        (lambda x: cuda.atomic.add(x, 0, 1), r"iruka.jit.atomic_add\(array, index, value\)"),
        (lambda x: jit.threadfence(), "iruka.RawKernel"),
        (lambda x: jit.cg.this_grid(), r"cg.this_grid is not part of a rawkernel; .*syncthreads\(\).*iruka.RawKernel"),
        (lambda x: jit.cg.sync(jit.cg.this_thread_block()), "cg.this_thread_block is not part of a rawkernel"),
    ],
)
def test_names_in_a_kernel(body, words):
    with pytest.raises(TranslationError, match=words):
        jit.rawkernel()(body)[1, 1](iruka.zeros(1))


class Signature:
    """Numba's objects are known by their class's name and text."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


class Type:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


def test_signatures_that_are_objects():
    for given in (
        Signature("(float32, float32) -> float32"),
        [Signature("(float32, float32) -> float32")],
        [(Type("float32"), Type("float32"))],
        ["(float32, float32)"],
    ):
        assert vectorize(given)(lambda x, y: x + y).types == ["ff->f"]
    whole = vectorize([(Type("int32"),)])(lambda x: x / 2)
    assert whole.types == ["i->d"] and whole(np.arange(3, dtype="i4")).tolist() == [0, 0.5, 1]
    for given in (
        Signature("(array(float64, 1d, A), array(float64, 1d, A)) -> none"),
        [(Type("Array(float64, 1, 'A', False, aligned=True)"), Type("Array(float64, 1, 'A', False, aligned=True)"))],
    ):
        made = guvectorize(given, "(n)->()")(first_to)
        assert made(np.ones((2, 3))).tolist() == [1, 1]


def first_to(x, out):
    out[0] = x[0]


@pytest.mark.parametrize(
    "signature", ["float64[:](float64[:])", "float64(float64[:,:])", Signature("(array(float64, 1d, A),) -> float64")]
)
def test_arrays_in_a_signature_of_numbers(signature):
    with pytest.raises(TypeError, match="has arrays, and the function gets numbers; guvectorize"):
        vectorize([signature])(lambda x: x)


@pytest.mark.parametrize(
    "signature, layout, words",
    [
        (
            "void(float64[:], float64)",
            "(n)->()",
            r"parameter 1 \(out\) has 0 axes .* one element.* write float64\[:\]$",
        ),
        ("void(float64, float64[:])", "(n)->()", r"parameter 0 \(x\) has 0 axes .*\(n\).*write float64\[:\]$"),
        ("void(f4[:], f4[:])", "(m,n)->()", r"parameter 0 \(x\) has 1 axes .*\(m,n\).*write float32\[:,:\]$"),
        ("void(f4[:,:], f4[:])", "()->()", r"parameter 0 \(x\) has 2 axes .*write float32$"),
    ],
)
def test_signatures_that_differ_from_the_layout(signature, layout, words):
    with pytest.raises(TypeError, match=words):
        guvectorize([signature], layout)(first_to)


def test_dimensions_that_no_input_has():
    with pytest.raises(ValueError, match=r"'m' of an output .* nothing says how long.* number, or add an input \(m\)"):
        guvectorize(["void(f8[:], f8[:])"], "(n)->(m)")(first_to)


@pytest.mark.parametrize(
    "make", [lambda **options: vectorize(["f8(f8)"], **options)(lambda x: x),
             lambda **options: guvectorize(["void(f8[:], f8[:])"], "(n)->()", **options)(first_to)]
)  # fmt: skip
def test_options_of_numba(make):
    for harmless in (
        {"locals": {}},
        {"writable_args": ()},
        {"boundscheck": True},
        {"inline": "always"},
        {"forceobj": 0},
    ):
        assert make(**harmless)(np.ones(1)).tolist() in (1, [1])
    for name, value, words in (
        ("locals", {"y": "f4"}, r"write numpy.float32\(x\)"),
        ("writable_args", ("x",), "inputs are read-only: make the argument an output"),
        ("forceobj", True, r"iruka.vectorize\(function\) runs in Python"),
        ("nonsense", 1, "'nonsense'$"),
    ):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'") as caught:
            make(**{name: value})
        assert re.search(words, str(caught.value))


@pytest.mark.parametrize(
    "function, expected",
    [
        (vectorize(["f8(f8, f8)"])(lambda x, y: x + y),
         "accumulate add identity nargs nin nout ntypes outer py_func reduce target types"),
        (vectorize(lambda x: x), "cache excluded otypes pyfunc signature"),
        (guvectorize(["void(f8[:], f8[:])"], "(n)->()")(first_to), "layout nin nout py_func signature target"),
        (jit.rawkernel()(first_to), "cached_code cached_codes function is_device mode"),
        (iruka.fuse(lambda x: x), "clear_cache kernel_name"),
        (iruka.frompyfunc(lambda x: x, 1, 1), "identity nargs nin nout"),
    ],
)  # fmt: skip
def test_dir_has_public_names(function, expected):
    names = [name for name in dir(function) if not (name.startswith("__") and name.endswith("__"))]
    assert names == expected.split()
    assert {"__call__", "__doc__", "__name__"} <= set(dir(function))


def test_methods_of_ufuncs_that_are_not_there():
    plus = vectorize(["f8(f8, f8)"])(lambda x, y: x + y)
    general = guvectorize(["void(f8[:], f8[:])"], "(n)->()")(first_to)
    for function, name, words in (
        (plus, "at", r"x\[index\] = f\(x\[index\], y\).*iruka.add.at"),
        (plus, "reduceat", r"f.reduce\(x\[start:stop\]\)"),
        (general, "reduce", "iruka.vectorize"),
        (plus, "no_such_name", "vectorized function '<lambda>' has no attribute 'no_such_name'$"),
    ):
        assert not hasattr(function, name)
        with pytest.raises(AttributeError, match=words):
            getattr(function, name)


def test_copies_keep_the_dtype():
    x = cuda.to_device(np.arange(3.0))
    for action in (
        lambda: x.copy_to_host(np.empty(3, "f4")),
        lambda: x.copy_to_device(np.ones(3, "i8")),
        lambda: cuda.to_device(np.ones(3, "f4"), to=x),
    ):
        with pytest.raises(TypeError, match="dtype (float32|int64) does not fit one of float64"):
            action()
    x.copy_to_device([4, 5, 6])
    assert x.copy_to_host().tolist() == [4, 5, 6]


def test_mapped_arrays_are_numpys_and_a_devices():
    device = iruka.device("cuda:0") if cuda.is_available() else iruka.default_device()
    for order in "CF":
        mapped = cuda.mapped_array((3, 4), np.float32, order=order)
        assert isinstance(mapped, np.ndarray) and mapped.flags[f"{order}_CONTIGUOUS"] and mapped.dtype == np.float32
        mapped[...] = np.arange(12).reshape(3, 4)
        assert cuda.is_cuda_array(mapped) and cuda.is_cuda_array(mapped[1:])
        for part, numbers in ((mapped, np.arange(12).reshape(3, 4)), (mapped[::2, 1], np.array([1, 9]))):
            on_device = cuda.as_cuda_array(part)
            assert isinstance(on_device, iruka.ndarray) and on_device.device == device
            assert on_device.shape == part.shape and on_device.strides == part.strides
            iruka.add(on_device, 1, out=on_device)
            cuda.synchronize()
            assert part.tolist() == (numbers + 1).tolist()
            iruka.subtract(on_device, 1, out=on_device)
            cuda.synchronize()
    like = cuda.mapped_array_like(np.asfortranarray(np.zeros((2, 3), "int16")))
    assert like.flags.f_contiguous and like.dtype == np.int16 and like.shape == (2, 3)
    assert cuda.mapped_array(5, strides=(8,)).shape == (5,) and cuda.mapped_array((0, 3)).size == 0
    on_device = cuda.as_cuda_array(like)
    del like  # the array holds the memory
    on_device.fill(7)
    assert on_device.copy_to_host().tolist() == [[7, 7, 7]] * 2
    with pytest.raises(ValueError, match="strides"):
        cuda.mapped_array((2, 3), strides=(8, 16))
    with pytest.raises(ValueError, match="order"):
        cuda.mapped_array(3, order="K")
