"""The fuzzer of translated Python functions: it finds nothing in these seeds, and it finds planted faults."""

import os

import pytest

import helpers

pytestmark = pytest.mark.cpu_only


def fuzz(*arguments, planted=""):
    return helpers.run_fuzzer("functions", *arguments, planted=f"import iruka._translate\n{planted}")


def test_no_findings():
    done = fuzz("--count", 60, "--seed", 7, "--seconds", 300)
    assert done.returncode == 0 and "60 functions of seed 7, 0 findings" in done.stdout, done.stdout + done.stderr


COMPUTED_TWICE = """
from iruka._translate import numpy_scalars, statements
def compare(self, node):
    made = statements.FunctionTranslator._Compare(self, node)
    [self.value(each) for each in (node.left, *node.comparators)]
    return made
numpy_scalars.NumpyFunction._Compare = compare
"""


@pytest.mark.parametrize(
    "planted, count",
    [
        ("iruka._translate.statements.Range.test = lambda self, place: f'{place} + 1 < {self.stop}'", 60),
        ("iruka._translate.expressions.arithmetic = lambda a, b: a", 60),
        ("iruka._translate.expressions.Expressions.items_of = lambda self, value, node: value.items[::-1]", 60),
        pytest.param(
            "iruka._translate.knowledge._limits = lambda dtype: (-(2**63) * (dtype.kind == 'i'), 2**63 - 1)",
            240,
            marks=pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="its kernels read out of bounds"),
        ),
        (COMPUTED_TWICE, 320),
    ],
    ids=["range", "types", "items", "limits", "chain"],
)
def test_faults_are_found(planted, count):
    done = fuzz("--count", count, "--seed", 7, "--seconds", 300, planted=planted)
    assert done.returncode == 1 and "--case 7:" in done.stdout, done.stdout + done.stderr
    case = done.stdout.split("--case ")[1].split(": ")[0]
    again = fuzz("--case", case, planted=planted)
    assert again.returncode == 1 and f"--case {case}" in again.stdout
