"""What report() says of bodies that are widened: kinds and places of its remarks."""

import pytest

import iruka

pytestmark = pytest.mark.cpu_only  # lanes are the CPU's

Kernel = iruka.ElementwiseKernel


def places(report, kind):
    return [(remark.file, remark.line) for remark in report.remarks if remark.kind == kind]


@pytest.fixture
def x():
    return iruka.arange(1000, dtype="float32")


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_forced_lanes(x, lanes):
    k = Kernel("float32 x", "float32 y", "y = x * 2;", "twice", options=(f"--lanes={lanes}",))
    report = k.report(x)
    assert report.lanes == lanes and report.reason == ""
    assert str(report).startswith(f"kernel 'twice' on cpu: {lanes} lanes a vector")
    assert not places(report, "gather") and not places(report, "divergent_loop") and not places(report, "not_widened")


@pytest.mark.parametrize("body", ["r = abs(z)", "r = arg(z)", "r = (z * z).imag()"])
def test_straight_bodies_of_complex64_run_in_lanes(x, body):
    """Which LLVM's loop vectoriser leaves scalar: a complex64 is read as a vector of two."""
    k = Kernel("complex64 z", "float32 r", body, "complexes")
    assert k.report(x.astype("complex64")).lanes > 1
    sums = Kernel("float32 x, float32 y", "float32 z", "z = x + y", "sums")
    assert sums.report(x, x).lanes == 1 and "loop vectoriser" in sums.report(x, x).reason


def test_loops_branches_and_gathers_are_placed(x):
    body = "int k = (int)x;\nwhile (k > 3)\n  k /= 3;\ny = table[k * 37 % 11];\n"
    k = Kernel("float32 x, raw float32 table", "float32 y", body, "placed", options=("--lanes=8",))
    report = k.report(x, x)
    assert report.lanes == 8
    assert {file for file, line in places(report, "divergent_loop")} == {"operation"}
    assert {line for file, line in places(report, "divergent_loop")} <= {2, 3}
    assert places(report, "gather") == [("operation", 4)]
    assert "\n      y = table[k * 37 % 11];\n" in str(report)


def test_a_helpers_line_is_named(x):
    preamble = (
        "__device__ float look(CArray<float, 1> &table, float x) {\n  int k = (int)x * 7 % 13;\n  return table[k];\n}"
    )
    k = Kernel(
        "float32 x, raw float32 table",
        "float32 y",
        "y = look(table, x);",
        "h",
        preamble=preamble,
        options=("--lanes=8",),
    )
    report = k.report(x, x)
    assert report.lanes == 8 and places(report, "gather") == [("preamble", 3)]
    assert "\n        return table[k];\n" in str(report)


def test_a_macro_is_named_where_it_is_written(x):
    preamble = "#define LOOK(t, k) (t[(k) * 7 % 13])"
    k = Kernel(
        "float32 x, raw float32 t",
        "float32 y",
        "\ny = LOOK(t, (int)x);",
        "m",
        preamble=preamble,
        options=("--lanes=8",),
    )
    assert places(k.report(x, x), "gather") == [("operation", 2)]


def test_one_remark_for_a_place_however_many_loops(x):
    """A streamed kernel has a loop for whole strips and one for what is left."""
    large = iruka.zeros(64 << 20, "float32")
    k = Kernel("float32 x, raw float32 t", "float32 y", "y = t[(int)x * 7 % 13];", "streamed", options=("--lanes=8",))
    report = k.report(large, x)
    assert report.lanes == 8 and places(report, "gather") == [("operation", 1)]


def test_refused_names_a_line(x):
    body = "int k = (int)x;\nif (k & 1) goto inside;\nfor (;;) {\n  k -= 3;\n  inside:\n  k /= 2;\n  if (k < 2) break;\n}\ny = k;"
    k = Kernel("float32 x", "float32 y", body, "irreducible", options=("--lanes=8",))
    report = k.report(x)
    assert report.lanes == 1 and report.reason
    assert all(file == "operation" for file, line in places(report, "not_widened"))
