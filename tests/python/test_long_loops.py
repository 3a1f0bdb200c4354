"""Loops that are split into strips, to check for Ctrl-C between them, give the results of unsplit loops."""

import numpy as np
import pytest

import iruka

STRIP = 65536
Kernel = iruka.ElementwiseKernel


def rounds(step=1):
    return sorted({0, 1, 2, 3, 7, *(step * STRIP * k + d for k in (1, 2, 3) for d in (-1, 0, 1, step + 1))})


@pytest.mark.cpu_only
@pytest.mark.parametrize("lanes", [(), ("--lanes=1",), ("-O0",)], ids=["widened", "scalar", "unoptimised"])
@pytest.mark.parametrize("count", [1, 19])
def test_counting_up(lanes, count):
    k = Kernel(
        "int32 x, int64 m",
        "int32 y",
        "int s = 0; for (long j = 0; j < m; ++j) s += ((j * j) ^ x) / 3; y = s;",
        "counting_up",
        options=lanes,
    )
    x = np.arange(count, dtype="int32")
    for m in rounds():
        j = np.arange(m, dtype="int64")
        expected = [((j * j ^ v) // 3).sum().astype("int32") for v in x]
        assert iruka.asnumpy(k(iruka.asarray(x), m)).tolist() == [int(v) for v in expected], m


@pytest.mark.cpu_only
@pytest.mark.parametrize("lanes", [(), ("--lanes=1",), ("-O0",)], ids=["widened", "scalar", "unoptimised"])
def test_counting_in_steps_and_down(lanes):
    up = Kernel(
        "int32 x, uint32 m",
        "uint32 y",
        "unsigned s = 0; for (unsigned j = 7; j < m; j += 5) s = (s ^ j) * 3 + x; y = s;",
        "counting_in_steps",
        options=lanes,
    )
    down = Kernel(
        "int32 x, int64 m",
        "uint32 y",
        "unsigned s = 0; for (long j = m; j > 0; j -= 3) s = (s ^ j) * 3 + x; y = s;",
        "counting_down",
        options=lanes,
    )

    def fold(numbers):
        s = 0
        for j in numbers:
            s = ((s ^ j) * 3 + 4) & 0xFFFFFFFF
        return s

    x = iruka.asarray(np.array([4], "int32"))
    for m in rounds(5):
        assert up(x, m).tolist() == [fold(range(7, m, 5))], m
    for m in rounds(3):
        assert down(x, m).tolist() == [fold(range(m, 0, -3))], m
