"""Every error class, with its message: CuPy's list of bad inputs and ours."""

import builtins
import errno
import os
import pickle
import re

import numpy as np
import pytest

import iruka
from helpers import run_python
from iruka import errors

Kernel = iruka.ElementwiseKernel


@pytest.fixture
def add():
    return Kernel("float32 x, float32 y", "float32 z", "z = x + y;", "add")


@pytest.mark.parametrize(
    "name, builtin",
    [
        ("ValueError", ValueError),
        ("ShapeError", ValueError),
        ("TypeError", TypeError),
        ("IndexError", IndexError),
        ("OverflowError", OverflowError),
        ("CompileError", RuntimeError),
        ("FileError", OSError),
        ("DeviceError", RuntimeError),
        ("OutOfMemoryError", MemoryError),
    ],
)
def test_classes(name, builtin):
    cls = getattr(errors, name)
    assert issubclass(cls, errors.Error) and issubclass(cls, builtin)


def raises(cls, builtin, *parts):
    """Our class, caught as the built-in one, whose message holds every part."""
    return pytest.raises(
        builtin, check=lambda error: isinstance(error, cls) and all(str(p) in str(error) for p in parts)
    )


def test_wrong_count(add):
    x = iruka.ones(3, "float32")
    for arguments in ((), (x,), (x, x, x, x)):
        with raises(errors.TypeError, builtins.TypeError, "add", len(arguments)):
            add(*arguments)


def test_unknown_keywords(add):
    x = iruka.ones(3, "float32")
    with raises(errors.TypeError, builtins.TypeError, "add", "sise"):
        add(x, x, sise=3)
    with raises(errors.TypeError, builtins.TypeError, "nam"):
        Kernel("T x", "T y", "y = x;", nam="k")


def test_unsupported_arguments(add):
    x = iruka.ones(3, "float32")
    with raises(
        errors.TypeError, builtins.TypeError, "add", "argument 3 (float32 z)", "numpy.ndarray", "iruka.asarray"
    ):
        add(x, x, np.ones(3, "float32"))
    for bad in ("x", None, {1: 2}, object()):
        with raises(errors.TypeError, builtins.TypeError, "add", type(bad).__name__):
            add(x, bad)


def test_dtypes_that_do_not_fit(add):
    with raises(errors.TypeError, builtins.TypeError, "add", "x", "float32", "float64"):
        add(iruka.ones(3), iruka.ones(3, "float32"))
    with raises(errors.TypeError, builtins.TypeError, "add", "z", "float32", "int32"):
        add(1, 2, iruka.empty(3, "int32"))


def test_advice_on_dtypes_that_do_not_fit(add):
    def message(*arguments):
        with pytest.raises(TypeError) as caught:
            add(*arguments)
        return str(caught.value)

    row = iruka.ones(3, "float32")
    assert message(row, iruka.ones(3)).endswith("do not cast arrays: pass its .astype('float32')")
    mean = iruka.arange(3.0).mean()
    assert "pass its .astype('float32'), or a scalar: float() or int() of it" in message(row, mean)
    for value in (mean.astype("float32"), float(mean)):
        assert add(row, value).tolist() == [2, 2, 2]
    assert message(row, row, iruka.empty(3, "int32")).endswith("must be float32, but the array is int32")


def test_conflicting_placeholder():
    k = Kernel("T x, T y", "T z", "z = x + y;", "conflicting")
    with raises(errors.TypeError, builtins.TypeError, "conflicting", "T", "float32", "int32"):
        k(iruka.ones(3, "float32"), iruka.ones(3, "int32"))


def test_unsettled_placeholder():
    with pytest.raises((TypeError, ValueError), match="T"):
        Kernel("float32 x", "T y", "y = x;", "unsettled")(iruka.ones(3, "float32"))


def test_size_with_a_plain_array(add):
    x = iruka.ones(3, "float32")
    with raises(errors.ValueError, builtins.ValueError, "add", "size"):
        add(x, x, size=3)


def test_all_raw_and_no_size():
    k = Kernel("raw float32 x", "raw float32 y", "y[i] = x[i];", "all_raw")
    with raises(errors.ValueError, builtins.ValueError, "all_raw", "size"):
        k(iruka.ones(3, "float32"), iruka.ones(3, "float32"))
    with raises(errors.ValueError, builtins.ValueError, "all_raw", "-1"):
        k(iruka.ones(3, "float32"), iruka.ones(3, "float32"), size=-1)
    for bad in (2.5, "3", (2, 3)):
        with raises(errors.TypeError, builtins.TypeError, "all_raw", "size"):
            k(iruka.ones(3, "float32"), iruka.ones(3, "float32"), size=bad)


def test_output_shapes(add):
    x = iruka.ones((2, 3), "float32")
    with raises(errors.ShapeError, builtins.ValueError, "add", "(2, 3)", "(3,)"):
        add(x, x, iruka.empty(3, "float32"))
    with raises(errors.ShapeError, builtins.ValueError, "add", "(2, 3)", "(4,)"):
        add(x, iruka.ones(4, "float32"))


def test_output_is_no_array(add):
    x = iruka.ones(3, "float32")
    with raises(errors.TypeError, builtins.TypeError, "add", "z"):
        add(x, x, 3.0)


def test_output_is_read_only(add):
    x = iruka.ones(3, "float32")
    with raises(errors.ValueError, builtins.ValueError, "add", "read-only"):
        add(x, x, iruka.broadcast_to(x, (3,)))


@pytest.mark.parametrize(
    "parameters",
    [
        "float32 i",
        "float32 n, float32 i",
        "float32 _ind",
        "float32 float",
        "float32 2x",
        "float32 x-y",
        "float32",
        "float33 x",
        "x",
        "float32 x float32 y",
        "float32 x,, float32 y",
        "float32 x, float32 x",
        "TT x",
        "float32 class",
        "raw x",
    ],
)
def test_bad_parameters(parameters):
    with pytest.raises((ValueError, TypeError), match="bad_parameters") as caught:
        Kernel(parameters, "float32 z", "z = 1;", "bad_parameters")
    assert isinstance(caught.value, errors.Error)


@pytest.mark.parametrize("parameter", ["float* x", "float32 *x", "float32 x[]", "const float& x"])
def test_parameters_written_as_pointers(parameter):
    with pytest.raises((ValueError, TypeError)) as caught:
        Kernel(parameter, "float32 z", "z = 1;", "pointed")
    message = str(caught.value)
    assert f"'pointed': parameter '{parameter}'" in message and "a whole array is 'raw TYPE NAME'" in message


@pytest.mark.parametrize("name", ["", "1k", "a b", "a-b", "k;", "operator+"])
def test_bad_names(name):
    with raises(errors.ValueError, builtins.ValueError, name):
        Kernel("T x", "T y", "y = x;", name)


@pytest.mark.parametrize("block_size", [0, -1])
def test_bad_block_sizes(add, block_size):
    x = iruka.ones(3, "float32")
    with raises(errors.ValueError, builtins.ValueError, "add", "block_size", block_size):
        add(x, x, block_size=block_size)


def test_integers_that_overflow():
    k = Kernel("int8 x, uint16 y", "int32 z", "z = x + y;", "small")
    x = iruka.ones(3, "int8")
    with raises(errors.OverflowError, builtins.OverflowError, "small", "y", "65536"):
        k(x, 65536)
    with raises(errors.OverflowError, builtins.OverflowError, "small", "y", "-1"):
        k(x, -1)
    with raises(errors.OverflowError, builtins.OverflowError, str(2**64)):
        k(x, 2**64)


def test_texts_must_be_texts():
    for arguments in ((1, "T y", ";"), ("T x", None, ";"), ("T x", "T y", b";")):
        with raises(errors.TypeError, builtins.TypeError, "must be a str"):
            Kernel(*arguments)
    with raises(errors.TypeError, builtins.TypeError, "options"):
        Kernel("T x", "T y", "y = x;", options="-O3")


def test_wrong_body_is_found_when_the_kernel_is_made():
    with raises(errors.CompileError, builtins.RuntimeError, "broken", "y = x +* ;", "^", "test_errors.py:"):
        Kernel("float32 x", "float32 y", "float t = x;\ny = x +* ;\n", "broken")
    with raises(errors.CompileError, builtins.RuntimeError, "undeclared_name", "float32 x"):
        Kernel("float32 x", "float32 y", "y = undeclared_name;", "unknown_name")
    with raises(errors.CompileError, builtins.RuntimeError, "return q;"):
        Kernel("float32 x", "float32 y", "y = f(x);", "bad_preamble", preamble="int f(float v) {\n  return q;\n}")


def test_wrong_body_of_a_placeholder_is_found_at_the_call():
    k = Kernel("T x", "T y", "y = x.nothing();", "late")
    with raises(
        errors.CompileError, builtins.RuntimeError, "late", "y = x.nothing();", "^", "int32", "test_errors.py:"
    ):
        k(iruka.ones(3, "int32"))


def test_place_is_the_callers_line():
    with pytest.raises(errors.CompileError) as caught:
        Kernel("float32 x", "float32 y", "y = ;", "placed")  # this line
    with open(__file__) as file:
        line = next(number for number, text in enumerate(file, 1) if "# this line" in text)
    assert f"test_errors.py:{line}" in str(caught.value)


def test_writing_to_an_input_is_refused():
    with raises(errors.CompileError, builtins.RuntimeError, "x = 1;"):
        Kernel("float32 x", "float32 y", "x = 1; y = x;", "const_input")


def test_a_kernel_works_after_its_error():
    k = Kernel("T x", "int32 y", "y = x.size();", "recovers")
    with pytest.raises(errors.CompileError):
        k(iruka.ones(3, "int32"))
    with pytest.raises(errors.CompileError):
        k(iruka.ones(3, "int32"))
    assert iruka.add(1, 2).item() == 3


def test_shapes_that_do_not_broadcast():
    with raises(errors.ShapeError, builtins.ValueError, "(2,)", "(3,)"):
        iruka.ones(2) + iruka.ones(3)


def test_axes():
    for call in (
        lambda x: x.sum(axis=2),
        lambda x: iruka.concatenate([x, x], -3),
        lambda x: x.swapaxes(0, 5),
        lambda x: iruka.expand_dims(x, 9),
    ):
        for builtin in (IndexError, ValueError, np.exceptions.AxisError):
            with raises(errors.AxisError, builtin, "axis"):
                call(iruka.ones((2, 3)))


AXIS_CALLS = {
    "sum": lambda m, x: m.sum(x, axis=5),
    "std": lambda m, x: x.std(axis=5),
    "cumsum": lambda m, x: x.cumsum(axis=5),
    "append": lambda m, x: m.append(x, x, axis=5),
    "compress": lambda m, x: m.compress([True], x, axis=5),
    "trace": lambda m, x: m.trace(x, axis1=5),
    "unwrap": lambda m, x: m.unwrap(x, axis=5),
    "unique": lambda m, x: m.unique(x, axis=5),
    "vecdot": lambda m, x: m.vecdot(x, x, axis=5),
    "permuted": lambda m, x: m.random.default_rng(0).permuted(x, axis=5),
    "percentile": lambda m, x: m.percentile(x, 50, axis=(0, 5)),
    "quantile": lambda m, x: m.quantile(x, 0.5, axis=(0, 5)),
    "ndarray.sort": lambda m, x: x.sort(axis=5),
    "ndarray.partition": lambda m, x: x.partition(1, axis=5),
}
AXIS_CALLS |= {
    name: lambda m, x, name=name: getattr(m, name)(x, axis=5)
    for name in ("nanmean", "nanstd", "nanvar", "nanmedian", "nanargmax", "var", "average", "ptp", "median")
    + ("count_nonzero", "nancumsum", "cumprod", "argmin", "sort", "flip", "diff", "expand_dims", "size")
}


@pytest.mark.parametrize("name", AXIS_CALLS)
def test_an_axis_error_names_the_function_that_was_called_and_has_numpys_attributes(name):
    caught = []
    for module in (iruka, np):
        with pytest.raises(np.exceptions.AxisError) as info:
            AXIS_CALLS[name](module, module.ones((2, 3)))
        caught.append(info.value)
    ours, expected = caught
    assert type(ours) is errors.AxisError and (ours.axis, ours.ndim) == (5, expected.ndim)
    assert (
        str(ours) == f"{name.removeprefix('ndarray.')}: axis 5 is out of bounds for array of dimension {expected.ndim}"
    )
    again = pickle.loads(pickle.dumps(ours))
    assert (type(again), str(again), again.axis) == (type(ours), str(ours), 5)


def test_an_axis_error_in_a_function_of_the_user_names_what_it_calls():
    with pytest.raises(errors.AxisError, match="^max: axis 7 "):
        iruka.apply_along_axis(lambda row: row.max(axis=7), 0, iruka.ones((2, 3)))
    with pytest.raises(errors.AxisError, match="^fftn: axis 5 "):
        iruka.fft.fftn(iruka.ones((2, 3)), axes=(5,))


def test_an_axis_error_in_numpys_functions_and_in_the_array_apis_names_theirs():
    x = iruka.ones((2, 3))
    for call in (lambda: np.nanmean(x, axis=5), lambda: np.mean(x, axis=5), lambda: iruka.array_api.mean(x, axis=5)):
        with pytest.raises(errors.AxisError, match="^(nan)?mean: axis 5 "):
            call()


REFUSED_CALLS = [
    ("sum", lambda m, x: m.sum(x, foo=1), "got an unexpected keyword argument 'foo'"),
    ("argmin", lambda m, x: m.argmin(x, foo=1), "got an unexpected keyword argument 'foo'"),
    ("mean", lambda m, x: x.mean(axes=0), "got an unexpected keyword argument 'axes'"),
    ("all", lambda m, x: x.all(foo=1, bar=2), "got an unexpected keyword argument 'foo'"),
    ("astype", lambda m, x: x.astype("int8", kind="K"), "got an unexpected keyword argument 'kind'"),
    ("reduce", lambda m, x: m.add.reduce(x, axes=0), "got an unexpected keyword argument 'axes'"),
    ("__init__", lambda m, x: iruka.Device.__init__(), "missing 1 required positional argument: 'self'"),
    ("__init__", lambda m, x: iruka.ndarray.__init__(3), "missing 1 required positional argument: 'shape'"),
    ("Device", lambda m, x: iruka.Device(foo=1), "got an unexpected keyword argument 'foo'"),
    ("sum", lambda m, x: m.sum(), "missing 1 required positional argument: 'a'"),
    ("sum", lambda m, x: m.sum(x, 0, axis=1), "got multiple values for argument 'axis'"),
    ("astype", lambda m, x: x.astype(), "missing 1 required positional argument: 'dtype'"),
]


@pytest.mark.parametrize("name, call, words", REFUSED_CALLS)
def test_arguments_of_another_name_or_number_are_refused_in_pythons_words(name, call, words):
    with pytest.raises(builtins.TypeError) as caught:
        call(iruka, iruka.ones((2, 3)))
    assert type(caught.value) is errors.TypeError and str(caught.value).startswith(f"{name}() {words}")


def test_a_refused_argument_of_another_type_is_shown_beside_those_that_are_taken():
    with raises(errors.TypeError, builtins.TypeError, "sum(): incompatible function arguments", "axis: int", "list"):
        iruka.ndarray.sum([1.0])


def test_a_type_error_of_another_function_is_left_as_it_is():
    class Array:
        def __array__(self, dtype=None, copy=None):
            raise builtins.TypeError("sum(): incompatible taste")

    with pytest.raises(builtins.TypeError, match="^sum\\(\\): incompatible taste$"):
        iruka.sum(Array())


def test_index_and_memory_and_device():
    with raises(errors.IndexError, builtins.IndexError, "5", "3"):
        iruka.ones(3)[5]
    with raises(errors.OutOfMemoryError, MemoryError):
        iruka.empty(2**58, "uint8")
    with raises(errors.DeviceError, RuntimeError, "cuda"):
        iruka.device("cuda:63")
    with pytest.raises((errors.DeviceError, errors.ValueError)):
        iruka.device("nonsense")


def test_files(tmp_path):
    with raises(errors.FileError, OSError, "missing.png"):
        iruka.image.imread(tmp_path / "missing.png")
    with raises(errors.ValueError, builtins.ValueError):
        iruka.image.imdecode(b"no picture at all")
    with raises(errors.ValueError, builtins.ValueError, "sepia"):
        iruka.image.imdecode(b"", mode="sepia")
    with pytest.raises(TypeError):
        iruka.image.imdecode(3)


FILE_FUNCTIONS = {
    "imread": lambda path: iruka.image.imread(path),
    "imwrite": lambda path: iruka.image.imwrite(path, iruka.zeros((4, 4, 3), "uint8")),
    "nn.load": lambda path: iruka.nn.load(path),
    "RawModule": lambda path: iruka.RawModule(path=str(path)),
}


@pytest.mark.parametrize("name", FILE_FUNCTIONS)
def test_files_that_cannot_be_opened_are_pythons_errors(name, tmp_path):
    call = FILE_FUNCTIONS[name]
    missing, below = tmp_path / "no" / "where.png", tmp_path / "file" / "where.png"
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder.png").mkdir()
    for path, own, kind, number in (
        (missing, errors.FileNotFoundError, builtins.FileNotFoundError, errno.ENOENT),
        (below, errors.NotADirectoryError, builtins.NotADirectoryError, errno.ENOTDIR),
        (tmp_path / "folder.png", errors.IsADirectoryError, builtins.IsADirectoryError, errno.EISDIR),
    ):
        with pytest.raises(kind) as raised:
            call(path)
        error = raised.value
        assert type(error) is own and isinstance(error, errors.FileError) and error.errno == number
        assert error.filename == str(path) and error.strerror == os.strerror(number)
        assert str(path) in str(error) and not str(error).startswith("[Errno")
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is own and str(again) == str(error) and again.filename == error.filename


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all files")
def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "secret.pt").write_bytes(b"")
    (tmp_path / "secret.pt").chmod(0)
    with pytest.raises(errors.PermissionError):
        iruka.nn.load(tmp_path / "secret.pt")


def test_the_class_of_a_file_error_is_that_of_its_number():
    assert type(errors._file_error("m", errno.EACCES, "p")) is errors.PermissionError
    assert type(errors._file_error("m", errno.EIO, "p")) is errors.FileError
    assert type(errors._file_error("m", errno.ENOSPC, "p")) is errors.FileError
    assert str(errors.FileError("plain")) == "plain"
    assert str(pickle.loads(pickle.dumps(errors.FileError("plain")))) == "plain"


def test_thread_counts():
    before = iruka.get_num_threads()
    assert before >= 1
    for bad in (0, -2):
        with raises(errors.ValueError, builtins.ValueError, bad):
            iruka.set_num_threads(bad)
    assert iruka.get_num_threads() == before


def test_nothing_is_printed():
    done = run_python("""
import iruka
for body in ("y = ;", "y = x / 0;", "y = *(int*)0 + x;"):
    try:
        iruka.ElementwiseKernel("int32 x", "int32 y", body, "quiet")
    except RuntimeError:
        pass
""")
    assert done.returncode == 0 and done.stdout == "" and done.stderr == ""


@pytest.mark.cpu_only
@pytest.mark.parametrize(
    "body, words",
    [
        ("if (x > 0) {\n  z = x;", ["operation, line 1: error: this '{' is never closed", "if (x > 0) {"]),
        ("z = x;\n}", ["operation, line 2: error: this '}' has no opening bracket"]),
        ("z = max(x, (x + 1);\nz += 1", ["operation, line 1: error: this '(' is never closed"]),
        ("int t[2] = {0, 1); z = t[0];", ["this ')' does not match the '{' of line 1"]),
        ("z = std::max(x, 1.0f);", ["line 1: error: ", "'std'", "without std::"]),
        ("#include <vector>\nz = x;", ["line 1: error: 'vector' file not found", "no standard headers"]),
        ('printf("%f", x); z = x;', ["line 1: error: ", "'printf'", "cannot print"]),
        ("float32 t = x; z = t;", ["line 1: error: unknown type name 'float32'", "its type is called 'float'"]),
        ("z = np.sqrt(x);", ["'np'", "without a prefix"]),
        ("bool b = True; z = b;", ["'True'", "C++ writes true"]),
        ("z = x +", ["operation, line 1: error: expected expression", "z = x +\\n            ^"]),
        ("z = x;\nz = x *  ", ["operation, line 2: error: expected expression"]),
        ("z = x ** 2;", ["line 1: error: indirection", "no operator for powers: write pow(x, y)"]),
        ("z = 1;\nz = x % 2;", ["line 2: error: invalid operands", "'%' is for integers: fmod(x, y)"]),
        ("z = x[i];", ["line 1: error: subscripted value", "an element of a raw parameter is a[k]"]),
        ("x += 1; z = x;", ["cannot assign to variable 'x'", "copy the value to a local variable, or pass an array"]),
    ],
)
def test_common_faults_of_a_body(body, words):
    with pytest.raises(errors.CompileError) as caught:
        iruka.ElementwiseKernel("float32 x", "float32 z", body, "faulty")
    message = str(caught.value)
    for word in words:
        assert word.replace("\\n", "\n") in message, message
    assert "^" in message and "generated" not in message


def compile_error(parameters, body, *arguments, output="float32 z", **options):
    """The message with which a kernel is refused, at its making or at its call."""
    with pytest.raises(errors.CompileError) as caught:
        iruka.ElementwiseKernel(parameters, output, body, "faulty")(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float16", "complex64"])
@pytest.mark.parametrize("body", ["x = 2;", "x += x;"])
def test_assignments_to_plain_inputs(dtype, body):
    for parameter, arguments in ((f"{dtype} x", ()), ("T x", (iruka.ones(2, dtype),))):
        message = compile_error(parameter, body + " z = 1;", *arguments)
        assert message.count("plain inputs, const parameters and read-only arrays may not be written") == 1
        assert "line 0" not in message and "note" not in message


@pytest.mark.cpu_only
def test_values_of_the_wrong_type_get_no_advice_about_const():
    for body in ('z = "a";', "const float c = 1; c = x; z = c;"):
        assert "may not be written" not in compile_error("float32 x", body, output="complex64 z")
    message = compile_error("float32 x", "z = x + 2i;", output="complex64 z")
    assert "write complex<float>(re, im)" in message and "may not be written" not in message


@pytest.mark.cpu_only
def test_elements_of_raw_arrays_in_the_words_of_other_languages():
    row, square = iruka.ones(4, "float32"), iruka.ones((2, 2), "float32")
    message = compile_error("raw T u", "z = u[{1, i}] + u[{1, 0}] * u[{max(1, 2), 3}];", row, size=4)
    assert message.count("2 indices, but the array has 1 axis") == message.count("error:") == 1
    message = compile_error("raw T u", "z = u[{i}];\nz += u[{i, 0, 0}];", square.astype("complex64"), size=4)
    assert "3 indices, but the array has 2 axes" in message
    for body in ("z = u(i, 0);", "z = u[i][0];"):
        assert "an element of a raw parameter is a[k], or a[{y, x}]" in compile_error("raw T u", body, square, size=4)


@pytest.mark.cpu_only
def test_the_text_behind_an_unmatched_bracket_is_not_judged():
    message = compile_error("float32 x", "z = unknown;\nif (x > 0) { z = x; }}\nz = missing;")
    assert message.count("error:") == 2 and "unknown" in message and "this '}' has no opening bracket" in message
    assert "while" not in message and "missing" not in message


@pytest.mark.cpu_only
def test_an_unmatched_bracket_of_a_reduction_is_its_expressions():
    with pytest.raises(errors.CompileError) as caught:
        iruka.ReductionKernel("float32 x", "float32 y", "x)", "a + b", "y = a", "0", "total")(iruka.ones(3, "float32"))
    message = str(caught.value)
    assert "map_expr, line 1: error: this ')' has no opening bracket" in message and "operation" not in message


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", ["float32", "T"])
def test_what_only_machine_code_shows_has_a_line_too(dtype):
    """Where all types are concrete it is found when the kernel is made, as other errors are."""
    arguments = (iruka.ones(2, "float32"),) if dtype == "T" else ()

    def message(body, preamble=""):
        with pytest.raises(errors.CompileError) as caught:
            iruka.ElementwiseKernel(f"{dtype} x", "float32 z", body, "faulty", preamble=preamble)(*arguments)
        assert str(caught.value).count("error:") == 1
        return str(caught.value)

    prototypes = (
        'extern "C" int system(const char*);\n__device__ float later(float);\nstruct S { static int of(int); };'
    )
    assert "line 2: error: a kernel cannot call 'system'" in message("\nz = system(0);", prototypes)
    assert "      z = x + later(x);\n              ^" in message("z = x + later(x);", prototypes)
    assert "line 1: error: a kernel cannot call 'of'" in message("z = S::of(1);", prototypes)
    large = "float a[1 << 20]; a[(int)x] = 1; z = a[(int)x];"
    assert "line 1: error: the local variable 'a' takes 4194304 bytes; at most 1048576 are" in message(large)
    helper = "template <class T> __device__ T f(T x) {\n  T a[1 << 19]; a[(int)x] = x; return a[(int)x + 1];\n}"
    assert "preamble, line 2: error: the local variable 'a' takes 2097152 bytes" in message("z = f((float)x);", helper)


@pytest.mark.cpu_only
def test_declared_functions_that_are_no_fault():
    preamble = """
    __device__ int even(int n);
    __device__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
    __device__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
    __device__ int never(int);
    __device__ int calls_never(int n) { return never(n); }
    template <class T> T&& made();
    template <class T> __device__ T twice(T x);
    template <class T> __device__ T twice(T x) { return x + x; }
    """
    body = "decltype(made<int>()) r = even(x) ? x : -x; z = twice(r);"
    kernel = iruka.ElementwiseKernel("int32 x", "int32 z", body, "declared", preamble=preamble)
    assert kernel(iruka.arange(4, dtype="int32")).tolist() == [0, -2, 4, -6]


def test_brackets_that_are_no_fault():
    body = "z = x; // (\n/* { */ const char* s = \"[\"; char c = '('; long n1 = 1'000; (void)s; (void)c; (void)n1;"
    kernel = iruka.ElementwiseKernel("float32 x", "float32 z", body + "\n#if 0\n{\n#endif", "brackets")
    assert kernel(iruka.ones(2, "float32")).tolist() == [1, 1]
    with pytest.raises(errors.CompileError) as caught:
        iruka.ElementwiseKernel("float32 x", "float32 z", "long t = 1'000; z = f(t); // (", "brackets")
    assert "closed" not in str(caught.value) and re.search(
        """undeclared identifier 'f'|identifier "f" is undefined""", str(caught.value)
    )


def test_words_of_calls():
    one = iruka.ElementwiseKernel("T x", "T y", "y = x", "one")
    with pytest.raises(TypeError, match=r"takes 1 argument, or 2 with its output, not 3"):
        one(iruka.ones(2), iruka.ones(2), iruka.ones(2))
    total = iruka.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    with pytest.raises(
        TypeError, match=r"total\(\) got an unexpected keyword argument 'size'; it reduces the elements"
    ):
        total(iruka.ones(3), size=3)
    with pytest.raises(TypeError, match="a call takes out, axis, keepdims and stream"):
        total(iruka.ones(3), axes=0)
    with pytest.raises(TypeError, match=r"takes 1 input before out=, not 0"):
        total(out=iruka.ones(()))
    with pytest.raises(TypeError, match="'T1' not understood; a placeholder for any dtype is one letter"):
        iruka.ElementwiseKernel("T1 x", "T1 y", "y = x", "lettered")


ASSIGNMENTS = ["x[i] = T(2); y = x[i];", "x[{i}] = x[0] + T(1); y = T(1);"]
STORES = ["y = atomicAdd(&x[i], T(1));", "y = atomicExch(&x[i], T(1));", "y = atomicCAS(&x[i], T(1), T(2));"]


@pytest.mark.parametrize(
    "body, dtype",
    [(body, dtype) for body in ASSIGNMENTS for dtype in ("float64", "int32", "float16", "bfloat16", "complex64")]
    + [(body, dtype) for body in STORES for dtype in ("float64", "int32", "uint8", "float16")],
)
def test_raw_inputs_that_may_not_be_written(body, dtype):
    kernels = [iruka.ElementwiseKernel(f"raw {qualifier}T x", "T y", body, "writes") for qualifier in ("", "const ")]
    read_only = iruka.broadcast_to(iruka.ones(1, dtype), (3,))
    for kernel, array in ((kernels[0], read_only), (kernels[1], iruka.ones(3, dtype)), (kernels[1], read_only)):
        with pytest.raises(errors.CompileError, match="const parameters and read-only arrays may not be written"):
            kernel(array, size=3)
        assert (iruka.asnumpy(array).astype("complex64") == 1).all()
    kernels[0](iruka.ones(3, dtype), size=3)  # what is writable may be written


def test_other_faults_get_no_advice_about_const():
    for body in ("atomicAdd(y, x);", "y = atomicAdd(&y);"):
        with pytest.raises(errors.CompileError) as info:
            iruka.ElementwiseKernel("float64 x", "float64 y", body, "forgets")(iruka.ones(3))
        assert "const parameters" not in str(info.value)


def test_a_raw_parameter_refuses_a_scalar():
    kernel = iruka.ElementwiseKernel("raw T x, T y", "T z", "z = x[0] + y", "adds")
    total = iruka.ReductionKernel("raw T x, T y", "T z", "x[0] * y", "a + b", "z = a", "0", "total")
    for called in (kernel, total):
        with pytest.raises(TypeError, match="parameter 'x': a raw parameter takes an array, not a scalar"):
            called(3.0, iruka.ones(3))


def test_advice_is_not_followed_by_a_name_that_is_spelled_alike():
    import traceback

    for name, words in (("ma", "numpy.ma"), ("matrix", "two axes")):
        try:
            getattr(iruka, name)
        except AttributeError as error:
            said = "".join(traceback.format_exception(error))
        assert words in said and "Did you mean" not in said
