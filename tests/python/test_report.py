"""ElementwiseKernel.report(): how many elements run side by side, or why they do not."""

import numpy as np
import pytest

import iruka
from iruka import errors

pytestmark = pytest.mark.cpu_only  # lanes are the CPU's

Kernel = iruka.ElementwiseKernel


@pytest.fixture
def scalar():
    return Kernel("float32 x, T y", "T z", "z = x + y;", "scalar_sum", options=("--lanes=1",))


def test_the_scalar_path(scalar):
    x = iruka.arange(4, dtype="float32")
    report = scalar.report(x, x)
    assert report.kernel == "scalar_sum" and report.device == "cpu"
    assert report.lanes == 1 and report.reason == "the option --lanes=1 disables widening"
    assert report.remarks == ()
    assert (
        str(report) == repr(report) == "kernel 'scalar_sum' on cpu: not widened: the option --lanes=1 disables widening"
    )
    np.testing.assert_array_equal(iruka.asnumpy(scalar(x, x)), 2 * np.arange(4, dtype="float32"))


def test_nothing_runs_or_is_remembered(scalar):
    x = iruka.ones(4, "float32")
    z = iruka.zeros(4, "float32")
    iruka.clear_kernel_history()
    scalar.report(x, x, z)
    assert z.tolist() == [0, 0, 0, 0]
    assert iruka.kernel_history() == [] and scalar.cached_codes == {}


def test_size():
    k = Kernel("raw float32 x", "float32 y", "y = x[i];", "sized", options=("--lanes=1",))
    x = iruka.ones(4, "float32")
    assert k.report(x, size=4).lanes == 1
    with pytest.raises(errors.ValueError, match="sized.*size"):
        k.report(x)
    with pytest.raises(errors.TypeError, match="unexpected keyword argument 'length'"):
        k.report(x, length=4)


@pytest.mark.parametrize("lanes", [0, 1, 2, 4, 8, 16, 32, 64])
def test_every_number_of_lanes_computes_the_same(lanes, rng):
    body = "y = 0; for (int k = 0; k < 20 && y < x; k++) y += k % 3 ? 0.25f : x / 7;"
    k = Kernel("float32 x", "float32 y", body, "lanes", options=(f"--lanes={lanes}",))
    x = rng.uniform(-1, 9, 203).astype("float32")
    expected = np.zeros_like(x)
    for round in range(20):
        step = np.float32(0.25) if round % 3 else x / np.float32(7)
        expected = np.where(expected < x, expected + step, expected)
    np.testing.assert_array_equal(iruka.asnumpy(k(iruka.array(x))), expected)
    report = k.report(iruka.array(x))
    assert (report.reason == "") == (report.lanes > 1)
    assert f"on cpu: {report.lanes} lanes" in str(report) or f"not widened: {report.reason}" in str(report)
    if lanes > 0 and report.lanes > 1:
        assert report.lanes == lanes


@pytest.mark.parametrize("option", ["--lanes=3", "--lanes=", "--lanes=-1", "--lanes=128"])
def test_other_numbers_of_lanes_are_errors(option):
    with pytest.raises(errors.CompileError) as caught:
        Kernel("float32 x", "float32 y", "y = x;", "odd", options=(option,))
    assert f"'{option}'; --lanes=N takes 0 (automatic), 1 (scalar), 2, 4, 8, 16, 32 or 64" in str(caught.value)


def test_errors_are_those_of_a_call(scalar):
    x = iruka.ones(4, "float32")
    late = Kernel("T x", "T y", "y =\n  x.nothing();", "late")
    with pytest.raises(errors.CompileError) as at_call:
        late(x)
    with pytest.raises(errors.CompileError) as at_report:
        late.report(x)
    assert str(at_call.value) == str(at_report.value) and "x.nothing();\n" in str(at_report.value)
    for arguments in ((x,), (x, "text"), (iruka.ones(4), x), (x, iruka.ones(5, "float32"))):
        with pytest.raises(errors.Error) as at_call:
            scalar(*arguments)
        with pytest.raises(type(at_call.value)) as at_report:
            scalar.report(*arguments)
        assert str(at_report.value) == str(at_call.value)
