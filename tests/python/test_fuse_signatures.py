"""When iruka.fuse traces a function again: values by type and bits, attributes of objects, a bounded number."""

import math

import numpy as np
import pytest

import iruka


def test_values_differ_by_type_and_bits():
    shifted = iruka.fuse(lambda x, pair: x * pair[0] + pair[1])
    x = iruka.arange(3, dtype="int32")
    assert shifted(x, (1, 2)).dtype == np.int32
    assert shifted(x, (1.0, 2)).dtype == np.float64
    assert shifted(x, {0: 3, 1: 2}).tolist() == [2, 5, 8]
    signed = iruka.fuse(lambda x, p: x * math.copysign(1, p))
    assert [float(signed(x, p)[1]) for p in (0.0, -0.0, float("inf"), float("-inf"))] == [1, -1, 1, -1]

    class Unhashable:
        __hash__ = None

    with pytest.raises(TypeError, match="Unhashable.*no hash"):
        shifted(x, (1, Unhashable()))


def test_attributes_of_an_object_are_part_of_the_signature():
    class Scale:
        def __init__(self):
            self.factor, self.parts, self.owner = 5, [1, 2], self
            self.unused = iruka.ones(3)

        @iruka.fuse
        def apply(self, x):
            return x * self.factor + self.owner.parts[1]

    x = iruka.arange(3)
    scale = Scale()
    assert scale.apply(x).tolist() == [2, 7, 12]
    scale.factor = 7
    assert scale.apply(x).tolist() == [2, 9, 16]
    scale.parts[1] = 0
    assert scale.apply(x).tolist() == [0, 7, 14]


def test_traces_of_values_are_bounded(monkeypatch):
    monkeypatch.setattr("iruka._fuse._MOST_LAUNCHERS", 4)
    repeated = iruka.fuse(lambda x, n: x * int(n))
    x = iruka.arange(3)
    for n in (*range(7), 2, 6):
        assert repeated(x, n).tolist() == [0, n, 2 * n]
    assert len(repeated._launchers) == 4
    for _ in range(5):
        repeated(x, 6)
    assert len(repeated._launchers) == 4
