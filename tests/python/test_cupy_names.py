"""CuPy's names that NumPy lacks, older names, and errors for missing names."""

import importlib
import pathlib
import re

import numpy as np
import pytest

import iruka
from helpers import assert_same, run_python

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_scatters():
    rng = np.random.default_rng(3)
    for dtype in ("float32", "int64", "float64", "int32"):
        x, where = rng.integers(0, 9, (5, 4)).astype(dtype), np.array([0, 4, 0, 2])
        for name, ufunc in (("scatter_add", np.add), ("scatter_max", np.maximum), ("scatter_min", np.minimum)):
            for slices, value in ((where, 3), ((slice(None), 1), np.arange(5)), ((where, where % 4), np.arange(4))):
                expected, own = x.copy(), iruka.array(x)
                ufunc.at(expected, slices, value)
                ours = tuple(iruka.array(s) if isinstance(s, np.ndarray) else s for s in slices) if isinstance(slices,
                    tuple) \
                    else iruka.array(slices)  # fmt: skip
                assert getattr(iruka, name)(own, ours, iruka.asarray(value)) is None
                assert_same(own, expected, message=f"{name} {dtype} {slices}")
    with pytest.raises(IndexError):
        iruka.scatter_add(iruka.zeros(3), 7, 1.0)


def test_rsqrt():
    for dtype in ("float16", "float32", "float64"):
        x = np.array([0.25, 1, 4, 16, 0, np.inf], dtype)
        with np.errstate(divide="ignore"):
            assert_same(iruka.rsqrt(iruka.array(x)), 1 / np.sqrt(x), ulps=2)
    assert_same(iruka.rsqrt(iruka.array([4, 16])), [0.5, 0.25])
    with pytest.raises(TypeError, match="complex64 is not supported"):
        iruka.rsqrt(iruka.ones(2, "complex64"))


def test_byte_bounds():
    x = iruka.zeros((4, 6))
    first = x.data.ptr
    assert iruka.byte_bounds(x) == (first, first + 192)
    assert iruka.byte_bounds(x[::-1, 2:]) == (first + 16, first + 192)
    assert iruka.byte_bounds(x[1, ::2]) == (first + 48, first + 88)
    assert iruka.byte_bounds(x[:0])[0] == iruka.byte_bounds(x[:0])[1]
    own, numpys = iruka.zeros((3, 5)), np.zeros((3, 5))
    for key in np.s_[:, ::-2], np.s_[::-1, 1:4], np.s_[1:, 4:0:-3]:
        expected = [bound - numpys.ctypes.data for bound in np.lib.array_utils.byte_bounds(numpys[key])]
        assert [bound - own.data.ptr for bound in iruka.byte_bounds(own[key])] == expected
        assert [bound - own.data.ptr for bound in iruka.byte_bounds(own[key].T)] == expected


def test_memoize():
    calls = []

    @iruka.memoize(for_each_device=True)
    def squared(x, *, plus=0):
        """Its own text."""
        calls.append(x)
        return x * x + plus

    assert [squared(3), squared(3), squared(3, plus=1), squared(4), squared(3)] == [9, 9, 10, 16, 9]
    assert calls == [3, 3, 4] and squared.__name__ == "squared" and squared.__doc__ == "Its own text."
    with iruka.device("cpu"):
        squared(3)
    assert len(calls) == (3 if iruka.default_device().name == "cpu" else 4)
    iruka.clear_memo()
    assert squared(3) == 9 and len(calls) >= 4
    with pytest.raises(TypeError, match="unhashable"):
        squared([3])


def test_configuration(capsys):
    assert iruka.is_available() is iruka.cuda.is_available()
    iruka.show_config()
    text = capsys.readouterr().out
    assert text.splitlines()[0].split(" : ") == ["Iruka".ljust(text.index(" :")), iruka.__version__]
    for part in (np.__version__, iruka.default_device().name, "Threads"):
        assert part in text
    assert ("cuda:0" in text) == iruka.is_available()
    assert iruka.is_available() or iruka.cuda.unavailable_reason() in text


def test_older_names():
    x = np.array([[3, 1], [2, 2]])
    own = iruka.array(x)
    for old, new in (("alltrue", "all"), ("sometrue", "any"), ("product", "prod"), ("cumproduct", "cumprod"),
        ("round_", "round"),
                     ("trapz", "trapezoid"), ("row_stack", "vstack"), ("asanyarray", "asarray")):  # fmt: skip
        assert getattr(iruka, old) is getattr(iruka, new)
    assert_same(iruka.in1d(own, [2, 3]), np.isin(x.ravel(), [2, 3]))
    assert_same(iruka.in1d(own, [2, 3], invert=True), np.isin(x.ravel(), [2, 3], invert=True))
    assert_same(iruka.msort(own), np.sort(x, axis=0))
    assert_same(iruka.asfarray(own), x.astype(float))
    assert_same(iruka.asfarray(own, "float32"), x.astype("float32"))
    assert_same(iruka.asfarray(own, int), x.astype(float))
    assert_same(iruka.fromDlpack(own.toDlpack()), x)
    assert isinstance(own.flat, iruka.flatiter)
    assert iruka.AxisError is iruka.errors.AxisError and issubclass(iruka.AxisError, np.exceptions.AxisError)
    for name in (
        "ComplexWarning",
        "RankWarning",
        "TooHardError",
        "VisibleDeprecationWarning",
        "ModuleDeprecationWarning",
    ):
        assert getattr(iruka, name) is getattr(np.exceptions, name) is getattr(iruka.exceptions, name)
    assert iruka.typename("f") == np.typename("f") and iruka.mintypecode("di") == np.mintypecode("di")


@pytest.mark.parametrize(
    "module, name, words",
    [
        ("", "nditer", r"iruka.ndindex\(x.shape\)"),
        ("", "matrix", "x @ y"),
        ("", "longdouble", "float64 and complex128"),
        ("", "datetime64", "NumPy's own arrays hold dates"),
        ("", "find_common_type", "iruka.result_type"),
        ("", "fromregex", r"iruka.asarray\(numpy.fromregex\(iruka.asnumpy\(x\), ...\)\)"),
        ("", "no_such_thing", "has no attribute 'no_such_thing'$"),
        ("", "_private", "has no attribute '_private'$"),
        ("random", "XORWOW", "use Philox"),
        ("random", "PCG64", "use Philox"),
        ("random", "no_such_thing", "module 'iruka.random' has no attribute 'no_such_thing'$"),
    ],
)
def test_missing_names_say_what_to_use(module, name, words):
    owner = getattr(iruka, module) if module else iruka
    assert not hasattr(owner, name)
    with pytest.raises(AttributeError, match=words):
        getattr(owner, name)


def test_every_name_that_is_said_to_help_is_there():
    """The words after 'iruka.' in hints exist."""

    from iruka._cupy import alternatives

    for module, hints in alternatives._INSTEAD.items():
        for name, text in hints.items():
            assert not hasattr(importlib.import_module(module), name), name
            for path in re.findall(r"iruka((?:\.\w+)+)", text):
                thing = iruka
                for part in path.split(".")[1:]:
                    thing = getattr(thing, part)


def test_importing_loads_no_module_that_is_not_needed():
    done = run_python("import sys, iruka; print('numpy.random' in sys.modules, 'ml_dtypes' in sys.modules)")
    assert done.returncode == 0 and done.stdout.split() == ["False", "False"], done


def test_testing():
    x = iruka.array([1.0, 2.0])
    iruka.testing.assert_array_almost_equal_nulp(x, iruka.nextafter(x, 9.0))
    iruka.testing.assert_array_list_equal([x, 3], [x, iruka.array(3)])
    np.testing.assert_array_equal(iruka.testing.assert_array_max_ulp(x, iruka.nextafter(x, 9.0)), [[1, 1]])
    for wrong in (
        lambda: iruka.testing.assert_array_almost_equal_nulp(x, x + 0.1),
        lambda: iruka.testing.assert_array_max_ulp(x, x + 0.1),
        lambda: iruka.testing.assert_array_list_equal([x], [x, x]),
        lambda: iruka.testing.assert_array_list_equal([x], [x + 1]),
    ):
        with pytest.raises(AssertionError):
            wrong()


def test_the_page_of_names_is_current():
    """After an intended change: tools/coverage.py. Own process: other libraries add names to NumPy's modules."""
    page = (ROOT / "docs" / "coverage.md").read_text()
    made_from = ".".join(np.__version__.split(".")[:2])
    if f"from NumPy {made_from} and" not in page:
        pytest.skip(f"the page was made from another NumPy than {made_from}")
    program = str(ROOT / "tools" / "coverage.py")
    done = run_python(
        f"import runpy, sys; sys.argv = ['coverage.py', '--check']; runpy.run_path({program!r}, run_name='__main__')"
    )
    assert done.returncode == 0, done.stdout + done.stderr
