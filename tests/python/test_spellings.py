"""benchmarks/spellings: every way of every computation has NumPy's result, on small pictures and odd sizes."""

import pathlib
import sys

import pytest

from helpers import run_program

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path[1:1] = [str(BENCHMARKS), str(BENCHMARKS / "spellings")]

from spellings import native, texts  # noqa: E402
from spellings.cases import COMPUTATIONS, call_of  # noqa: E402

WAYS = [
    pytest.param(name, size, number, id=f"{name}-{size}-{way.name}")
    for name in COMPUTATIONS
    for size in ("small", "odd")
    for number, way in enumerate(texts.read_ways(name))
]


@pytest.fixture(scope="module")
def computation_of():
    made = {}

    def get(name, size):
        if (name, size) not in made:
            made[name, size] = COMPUTATIONS[name](size)
        return made[name, size]

    return get


@pytest.mark.parametrize("name, size, number", WAYS)
def test_a_way_has_the_result_of_numpy(computation_of, name, size, number):
    computation = computation_of(name, size)
    way = computation.ways[number]
    assert not computation.problem(call_of(computation, way).results())


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", COMPUTATIONS)
def test_lanes_and_the_scalar_path_have_the_result(computation_of, name):
    computation = computation_of(name, "odd")
    for way in computation.ways:
        for options in (("--lanes=1",), ("--lanes=16",)):
            assert not computation.problem(call_of(computation, way, options).results()), (way.name, options)


def levels():
    path = pathlib.Path("/proc/cpuinfo")
    flags = set(path.read_text().split()) if path.exists() else set()
    found = ["x86-64-v3"] if {"avx2", "fma", "bmi2"} <= flags else []
    return found + ["x86-64-v4"] * ({"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags)


@pytest.mark.cpu_only
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("level", levels())
def test_intrinsics_have_the_result(computation_of, level, threads):
    functions = native.library(level)
    if functions is None:
        pytest.skip("no C++ compiler")
    for name in COMPUTATIONS:
        for size in ("small", "odd"):
            computation = computation_of(name, size)
            if computation.native:
                assert not computation.problem(native.Native(functions, computation, threads).results()), (name, size)


def test_each_computation_has_several_ways():
    assert len(COMPUTATIONS) >= 16
    for name in COMPUTATIONS:
        assert len(texts.read_ways(name)) >= 5, name


def test_parameters():
    found = texts.parameters("raw const float32 x, float32 taps[9], _non_const int32 n")
    assert [(each.name, each.is_raw, each.by_value) for each in found] == [
        ("x", True, False),
        ("taps", False, True),
        ("n", False, False),
    ]


def test_a_section_without_meaning_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "wrong.cpp").write_text("//: way one\n//: text\n")
    monkeypatch.setattr(texts, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"wrong\.cpp:2: a section is .*, not 'text'"):
        texts.read_ways("wrong")


@pytest.mark.cpu_only
def test_the_program(tmp_path):
    """Tables and JSON of one computation."""
    done = run_program(
        BENCHMARKS / "spellings", "--only", "viterbi", "--ways", "written out", "--rounds", 3, "--budget", 0.1,
        "--json", tmp_path / "rows.json", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "| written out |" in done.stdout
    assert '"first_over_later"' in (tmp_path / "rows.json").read_text()
