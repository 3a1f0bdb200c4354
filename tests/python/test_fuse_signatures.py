"""When iruka.fuse traces a function again: values by type and bits, attributes of objects, a bounded number."""

import collections
import cProfile
import dataclasses
import math
import sys
import types

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

    with pytest.raises(TypeError, match="mappingproxy.*no hash"):
        shifted(x, (1, types.MappingProxyType({})))


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


@dataclasses.dataclass
class Settings:
    gain: float = 1.0


@dataclasses.dataclass(frozen=True)
class Constant:
    value: object


class Slotted:
    __slots__ = ("factor",)

    @iruka.fuse
    def apply(self, x):
        return x * self.factor


class Filter:
    base = 0

    def __init__(self):
        self.settings, self.queue, self.part, self.weights = Settings(), collections.deque([1]), slice(0, 2), np.ones(3)

    @property
    def offset(self):
        return self._offset

    @iruka.fuse
    def __call__(self, x):
        return x * self.settings.gain + self.base

    @iruka.fuse
    def of_others(self, x):
        return x * getattr(self, "queue")[0] + self.weights.shape[0] + self.offset  # noqa: B009


def test_every_place_of_an_attribute_counts():
    x = iruka.arange(3)
    slotted = Slotted()
    for slotted.factor in (2, 3):
        assert slotted.apply(x).tolist() == [0, slotted.factor, 2 * slotted.factor]
    made = Filter()
    assert made(x).tolist() == [0, 1, 2]
    made.settings.gain = 2
    assert made(x).tolist() == [0, 2, 4]
    Filter.base = 5
    assert made(x).tolist() == [5, 7, 9]
    made.base = 6
    assert made(x).tolist() == [6, 8, 10]
    del made.base
    Filter.base = 0
    assert made(x).tolist() == [0, 2, 4]
    made._offset = 0
    assert made.of_others(x).tolist() == [3, 4, 5]
    made.queue[0] = 2
    assert made.of_others(x).tolist() == [3, 5, 7]
    made.weights = np.ones(7)
    assert made.of_others(x).tolist() == [7, 9, 11]
    made._offset = 1
    assert made.of_others(x).tolist() == [8, 10, 12]


def test_attributes_that_the_function_does_not_read_do_not_count():
    made, x = Filter(), iruka.arange(3)
    made(x)
    traces = len(Filter.__call__._launchers)
    node = made.nodes = Filter()
    for _ in range(3000):
        node.next = node = Filter()
    made.unused = Settings()  # it has no hash
    assert made(x).tolist() == [0, 1, 2]
    assert len(Filter.__call__._launchers) == traces


def test_values_in_containers_differ_by_type_bits_and_shape():
    x = iruka.arange(1, 3)
    total = iruka.fuse(lambda x, numbers: x * sum(numbers))
    assert total(x, {2}).dtype == np.int64
    assert total(x, {2.0}).dtype == np.float64
    by_extent = iruka.fuse(lambda x, pair: x * pair[0].shape[0])
    assert by_extent(x, (np.ones(9),)).tolist() == [9, 18]
    assert by_extent(x, (np.ones(3),)).tolist() == [3, 6]
    inverse = iruka.fuse(lambda x, c: 1 / (x * c.value))
    with iruka.errstate(divide="ignore"):
        assert float(inverse(x, Constant(0.0))[0]) == math.inf
        assert float(inverse(x, Constant(-0.0))[0]) == -math.inf


def test_a_trace_leaves_the_profiler():
    profiler, seen = cProfile.Profile(), []
    profiler.enable()
    iruka.fuse(lambda x: x + 1)(iruka.arange(3))
    math.sqrt(4)
    profiler.disable()
    profiler.create_stats()
    assert any("sqrt" in name for _, _, name in profiler.stats)
    sys.setprofile(lambda frame, event, argument: seen.append(event))
    try:
        iruka.fuse(lambda x: x + 2)(iruka.arange(3))
        assert sys.getprofile() is not None
    finally:
        sys.setprofile(None)
    assert "call" in seen


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
