"""BitGenerator, SeedSequence, and whose numbers iruka.random draws."""

import numpy as np
import pytest

import iruka
from helpers import assert_same
from iruka import random


@pytest.fixture(autouse=True)
def _the_same_afterwards():
    bits, state = random.get_bit_generator(), random.get_state()
    yield
    random.set_bit_generator(bits)
    random.set_state(state)


def test_classes():
    assert random.SeedSequence is np.random.SeedSequence and random.Philox4x3210 is random.Philox
    assert isinstance(random.default_rng(1).bit_generator, random.BitGenerator)
    assert not isinstance(np.random.Philox(1), random.BitGenerator)
    for attempt in (random.BitGenerator, lambda: random.BitGenerator(3)):
        with pytest.raises(TypeError, match="use Philox"):
            attempt()


def test_seed_sequences_seed():
    sequence = random.SeedSequence(7)
    assert_same(random.default_rng(sequence).random(5), iruka.asnumpy(random.default_rng(7).random(5)))
    first, second = (random.Generator(random.Philox(child)) for child in sequence.spawn(2))
    assert not bool((first.random(5) == second.random(5)).all())
    assert random.Philox(sequence).seed_seq is sequence


def test_the_module_draws_from_the_bit_generator_that_is_set():
    bits = random.Philox(11)
    expected = iruka.asnumpy(random.Generator(random.Philox(11)).normal(size=4))
    random.set_bit_generator(bits)
    assert random.get_bit_generator() is bits
    assert_same(random.normal(size=4), expected)
    assert bits.state["state"]["counter"] == random.get_state()[2] == 1
    bits.state = random.Philox(11).state
    assert_same(random.standard_normal(4), expected)
    random.seed(3)
    assert_same(random.random(3), iruka.asnumpy(random.RandomState(3).random(3)))
    for wrong in (np.random.Philox(1), random.default_rng(1), None):
        with pytest.raises(TypeError, match="expected an iruka.random.Philox"):
            random.set_bit_generator(wrong)


def test_the_module_draws_from_the_random_state_that_is_set():
    state = random.RandomState(5)
    expected = iruka.asnumpy(random.RandomState(5).randn(3))
    random.set_random_state(state)
    assert_same(random.randn(3), expected)
    assert random.get_state() == state.get_state() == random.get_random_state().get_state()
    assert_same(random.get_random_state().rand(2), iruka.asnumpy(_second_draw(5)))
    for wrong in (np.random.RandomState(1), 5):
        with pytest.raises(TypeError, match="expected an iruka.random.RandomState"):
            random.set_random_state(wrong)


def _second_draw(seed):
    state = random.RandomState(seed)
    state.randn(3)
    return state.rand(2)
