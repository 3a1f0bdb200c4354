"""Generator, Philox and RandomState: seeds, states, arguments, errors; orders and choices."""

import copy
import pickle

import numpy as np
import pytest

import iruka
from helpers import DTYPE_IDS, DTYPES, values
from iruka.random import Generator, Philox, RandomState, default_rng

ONE_PARAMETER_SET = {
    "uniform": (-1.0, 3.0),
    "exponential": (2.0,),
    "laplace": (1.0, 2.0),
    "logistic": (1.0, 2.0),
    "gumbel": (1.0, 2.0),
    "pareto": (3.0,),
    "power": (0.5,),
    "rayleigh": (2.0,),
    "weibull": (1.5,),
    "triangular": (0.0, 1.0, 4.0),
    "geometric": (0.3,),
    "normal": (1.0, 2.0),
    "lognormal": (0.5, 0.7),
    "gamma": (2.5, 3.0),
    "standard_gamma": (0.6,),
    "chisquare": (3.0,),
    "noncentral_chisquare": (3.0, 4.0),
    "beta": (0.5, 3.0),
    "f": (3.0, 5.0),
    "noncentral_f": (3.0, 5.0, 2.0),
    "standard_t": (4.0,),
    "wald": (1.0, 2.0),
    "vonmises": (1.0, 4.0),
    "poisson": (3.0,),
    "binomial": (10, 0.3),
    "negative_binomial": (3.0, 0.4),
    "hypergeometric": (5, 7, 4),
    "zipf": (2.0,),
    "logseries": (0.9,),
}
INTEGERS = {"geometric", "poisson", "binomial", "negative_binomial", "hypergeometric", "zipf", "logseries"}


def host(array):
    return iruka.asnumpy(array)


def same(one, two):
    np.testing.assert_array_equal(host(one), host(two))


@pytest.mark.parametrize("name", ONE_PARAMETER_SET)
def test_sizes_parameters_and_targets_give_the_same_numbers(name):
    """Arrays of parameters, strided outputs and numbers of threads change nothing."""
    parameters, shape = ONE_PARAMETER_SET[name], (7, 9)

    def draw(*arguments, **keywords):
        return getattr(default_rng(11), name)(*arguments, **keywords)

    expected = draw(*parameters, size=shape)
    assert expected.shape == shape and expected.dtype == (np.int64 if name in INTEGERS else np.float64)
    assert len(set(host(expected).ravel().tolist())) > 2
    arrays = [iruka.full((9,), p) for p in parameters]
    tolerance = {"rtol": 0 if name in INTEGERS else 1e-12}
    np.testing.assert_allclose(host(draw(*arrays, size=shape)), host(expected), **tolerance)
    assert draw(*arrays).shape == (9,)
    target = iruka.zeros((14, 18), dtype=expected.dtype)[::2, ::-2]
    assert draw(*parameters, size=shape, out=target) is target
    same(target, expected)
    whole = iruka.empty(shape, dtype=expected.dtype)
    same(draw(*parameters, out=whole), expected)
    threads = iruka.get_num_threads()
    try:
        drawn = []
        for count in (1, 2):
            iruka.set_num_threads(count)
            drawn.append(draw(*parameters, size=(40003,)))
    finally:
        iruka.set_num_threads(threads)
    same(*drawn)
    same(drawn[0][:63], expected.reshape(-1))
    assert draw(*parameters).shape == () and draw(*parameters, size=(0, 3)).shape == (0, 3)


def test_float32_and_small_integers():
    rng = default_rng(1)
    for name in ("uniform", "normal", "gamma", "standard_t", "vonmises"):
        drawn = getattr(rng, name)(*ONE_PARAMETER_SET[name], size=5, dtype="float32")
        assert drawn.dtype == np.float32
    assert rng.poisson(3, 5, dtype="int32").dtype == np.int32
    assert rng.random(3, dtype="float32", out=iruka.empty(3, "float32")).dtype == np.float32
    assert rng.random(out=iruka.empty((2, 2), "float32")).dtype == np.float32


def test_seeds():
    same(default_rng(5).random(9), default_rng(5).random(9))
    same(default_rng([1, 2, 3]).random(9), default_rng(np.random.SeedSequence([1, 2, 3])).random(9))
    different = [default_rng(s).random(9) for s in (5, 6, [5, 6], None, None)]
    assert len({tuple(host(x).tolist()) for x in different}) == len(different)
    rng = default_rng(3)
    assert default_rng(rng) is rng
    bits = Philox(3)
    assert default_rng(bits).bit_generator is bits
    children = default_rng(7).spawn(3)
    again = default_rng(7).spawn(3)
    draws = {tuple(host(child.random(4)).tolist()) for child in children}
    assert len(draws) == 3 and draws == {tuple(host(child.random(4)).tolist()) for child in again}
    with pytest.raises(ValueError):
        default_rng(-1)
    with pytest.raises(TypeError):
        default_rng("x")
    with pytest.raises(TypeError, match="Philox"):
        Generator(5)
    with pytest.raises(ValueError, match="both"):
        Philox(1, key=2)
    with pytest.raises(TypeError, match="spawn"):
        Philox(key=2).spawn(1)


def test_states():
    rng = default_rng(5)
    rng.random(3)
    state = rng.bit_generator.state
    assert state["bit_generator"] == "Philox" and state["state"]["counter"] == 1
    expected = rng.normal(size=5)
    rng.bit_generator.state = state
    same(rng.normal(size=5), expected)
    for duplicate in (copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))):
        assert duplicate.bit_generator.state == rng.bit_generator.state
    same(copy.deepcopy(rng).random(4), rng.random(4))
    bits = Philox(key=9)
    assert bits.jumped().state["state"] == {"key": 9, "counter": 2**32}
    assert bits.advance(3).state["state"]["counter"] == 3
    assert bits.random_raw(4).dtype == np.uint64 and "0x9" in repr(bits)
    for wrong in ({"bit_generator": "PCG64", "state": {}}, {"bit_generator": "Philox", "state": {"key": 1}}):
        with pytest.raises(ValueError, match="state"):
            bits.state = wrong
    with pytest.raises(TypeError, match="dict"):
        bits.state = 5


def test_random_state():
    state = RandomState(5)
    first = state.rand(4)
    state.seed(5)
    same(state.rand(4), first)
    kept, legacy = state.get_state(legacy=False), state.get_state()
    expected = state.randn(3)
    for each in (kept, legacy):
        state.set_state(each)
        same(state.randn(3), expected)
    with pytest.raises(ValueError, match="entries"):
        state.set_state(("Philox", 1))
    same(pickle.loads(pickle.dumps(state)).rand(3), copy.deepcopy(state).rand(3))
    iruka.random.seed(5)
    same(iruka.random.rand(4), first)
    state = iruka.random.get_state()
    drawn = iruka.random.gamma(2.0, size=3)
    iruka.random.set_state(state)
    same(iruka.random.gamma(2.0, size=3), drawn)
    ints = host(iruka.random.random_integers(1, 3, 200))
    assert set(ints.tolist()) == {1, 2, 3} and iruka.random.random_integers(4).item() in range(1, 5)
    assert iruka.random.tomaxint if hasattr(iruka.random, "tomaxint") else RandomState(1).tomaxint(3).min() >= 0
    with pytest.raises(ValueError):
        iruka.random.seed(2**64)


def test_every_name_of_numpy_is_there():
    """But the bit generators that are not Philox."""
    absent = {"MT19937", "PCG64", "PCG64DXSM", "SFC64"}
    assert {name for name in np.random.__all__ if not hasattr(iruka.random, name)} == absent
    methods = {name for name in dir(np.random.Generator) if not name.startswith("_")}
    assert {name for name in methods if not hasattr(Generator, name)} == set()
    methods = {name for name in dir(np.random.RandomState) if not name.startswith("_")}
    assert {name for name in methods if not hasattr(RandomState, name)} == set()


DOMAINS = [
    ("exponential", (-1.0,), "scale must be not negative, but is -1"),
    ("normal", (0.0, -2.0), "scale must be not negative, but is -2"),
    ("normal", (0.0, float("nan")), "scale must be not negative, but is nan"),
    ("lognormal", (0.0, -2.0), "sigma"),
    ("laplace", (0.0, -2.0), "scale"),
    ("logistic", (0.0, -2.0), "scale"),
    ("gumbel", (0.0, -2.0), "scale"),
    ("rayleigh", (-2.0,), "scale"),
    ("weibull", (-2.0,), "a must"),
    ("pareto", (0.0,), "a must be positive"),
    ("power", (0.0,), "a must be positive"),
    ("gamma", (-1.0, 1.0), "shape"),
    ("gamma", (1.0, -1.0), "scale"),
    ("standard_gamma", (-1.0,), "shape"),
    ("chisquare", (0.0,), "df"),
    ("noncentral_chisquare", (0.0, 1.0), "df"),
    ("noncentral_chisquare", (1.0, -1.0), "nonc"),
    ("beta", (0.0, 1.0), "a must"),
    ("beta", (1.0, 0.0), "b must"),
    ("f", (0.0, 1.0), "dfnum"),
    ("f", (1.0, 0.0), "dfden"),
    ("noncentral_f", (1.0, 1.0, -1.0), "nonc"),
    ("standard_t", (0.0,), "df"),
    ("wald", (0.0, 1.0), "mean"),
    ("wald", (1.0, 0.0), "scale"),
    ("vonmises", (0.0, -1.0), "kappa"),
    ("triangular", (0.0, -1.0, 1.0), "mode - left"),
    ("triangular", (0.0, 2.0, 1.0), "right - mode"),
    ("triangular", (1.0, 1.0, 1.0), "right - left must be positive"),
    ("poisson", (-1.0,), "lam"),
    ("poisson", (1e19,), "lam"),
    ("binomial", (-1, 0.5), "n must"),
    ("binomial", (1, 1.5), r"p must be in \[0, 1\], but is 1.5"),
    ("binomial", (1, float("nan")), "p must"),
    ("negative_binomial", (0.0, 0.5), "n must"),
    ("negative_binomial", (1.0, 0.0), "p must"),
    ("geometric", (0.0,), "p must"),
    ("hypergeometric", (-1, 1, 1), "ngood"),
    ("hypergeometric", (1, -1, 1), "nbad"),
    ("hypergeometric", (2, 3, 6), "ngood \\+ nbad - nsample"),
    ("zipf", (1.0,), "a must be above 1"),
    ("logseries", (1.0,), "p must"),
]


@pytest.mark.parametrize("name, parameters, words", DOMAINS, ids=[f"{d[0]}{d[1]}" for d in DOMAINS])
def test_domains(name, parameters, words):
    draw = getattr(default_rng(1), name)
    with pytest.raises(ValueError, match=words):
        draw(*parameters, size=3)
    with pytest.raises(ValueError, match=words):
        draw(*(iruka.full(3, p) for p in parameters))


def test_other_errors():
    rng = default_rng(1)
    with pytest.raises(TypeError, match="float64 or float32, not int32"):
        rng.normal(size=3, dtype="int32")
    with pytest.raises(TypeError, match="must be an integer, not float32"):
        rng.poisson(1.0, 3, dtype="float32")
    with pytest.raises(TypeError, match="out has dtype float32, the result float64"):
        rng.normal(size=3, dtype="float64", out=iruka.zeros(3, "float32"))
    with pytest.raises(TypeError, match="out"):
        rng.normal(size=3, out=np.zeros(3))
    with pytest.raises(ValueError, match="not out's shape"):
        rng.normal(size=3, out=iruka.zeros(4))
    with pytest.raises(ValueError, match="do not broadcast to size"):
        rng.normal(iruka.zeros(3), 1.0, 2)
    with pytest.raises(ValueError):
        rng.normal(iruka.zeros(3), iruka.ones(2))
    with pytest.raises(TypeError, match="n must be an integer"):
        rng.binomial(2.5, 0.5)
    with pytest.raises(TypeError, match="n must be an integer, not float64"):
        rng.binomial(iruka.ones(3), 0.5)
    with pytest.raises(TypeError, match="complex"):
        rng.normal(1j, 1.0)
    with pytest.raises(TypeError):
        rng.normal("x", 1.0)
    with pytest.raises(OverflowError, match="finite"):
        rng.uniform(0, float("inf"))
    with pytest.raises(ValueError, match="method"):
        rng.standard_exponential(3, method="x")
    with pytest.raises(ValueError):
        rng.random(-1)


def test_edges():
    """Where a distribution is one value."""
    rng = default_rng(2)
    for name, parameters, value in [
        ("normal", (3.0, 0.0), 3),
        ("exponential", (0.0,), 0),
        ("laplace", (3.0, 0.0), 3),
        ("gumbel", (3.0, 0.0), 3),
        ("logistic", (3.0, 0.0), 3),
        ("rayleigh", (0.0,), 0),
        ("weibull", (0.0,), 0),
        ("gamma", (0.0, 1.0), 0),
        ("gamma", (2.0, 0.0), 0),
        ("uniform", (2.0, 2.0), 2),
        ("poisson", (0.0,), 0),
        ("binomial", (0, 0.5), 0),
        ("binomial", (9, 0.0), 0),
        ("binomial", (9, 1.0), 9),
        ("binomial", (10**6, 1.0), 10**6),
        ("negative_binomial", (3.0, 1.0), 0),
        ("geometric", (1.0,), 1),
        ("hypergeometric", (5, 7, 0), 0),
        ("hypergeometric", (5, 7, 12), 5),
        ("hypergeometric", (0, 50, 20), 0),
        ("hypergeometric", (50, 0, 20), 20),
        ("logseries", (0.0,), 1),
    ]:
        drawn = host(getattr(rng, name)(*parameters, size=500))
        np.testing.assert_array_equal(drawn, np.full(500, value), err_msg=name)
    for name, parameters in [("gamma", (1e-3,)), ("beta", (1e-3, 1e-3)), ("dirichlet", ([1e-3, 1e-3],))]:
        assert np.isfinite(host(getattr(rng, name)(*parameters, size=2000))).all(), name
    large = host(rng.poisson(1e18, 1000)).astype(float)
    assert abs(large.mean() / 1e18 - 1) < 6e-9 / np.sqrt(1000) * 6 and 0.8e9 < large.std() < 1.2e9
    large = host(rng.binomial(10**15, 0.25, 1000)).astype(float)
    deviation = np.sqrt(10**15 * 0.25 * 0.75)
    assert abs(large.mean() - 0.25e15) < 6 * deviation / np.sqrt(1000) and abs(large.std() / deviation - 1) < 0.15


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"])
def test_integers_of_every_dtype(dtype):
    """Over the whole range and with arrays of bounds: within them, and both ends of the range's top bits come."""
    rng = default_rng(3)
    low, high = (0, 1) if dtype == "bool" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    drawn = rng.integers(low, high, 4000, dtype=dtype, endpoint=True)
    assert drawn.dtype == dtype
    whole = host(drawn).astype(float)
    width = float(high) - low + 1
    deviation = width / np.sqrt(12) if dtype != "bool" else 0.5
    centre = (float(low) + high) / 2
    assert abs(whole.mean() - centre) < 6 * deviation / np.sqrt(4000)
    same(rng.integers(iruka.array([high], dtype=dtype), high, dtype=dtype, endpoint=True), np.array([high], dtype))
    if dtype != "bool":
        lows, highs = iruka.array([0, 5, 100], dtype=dtype), iruka.array([[1], [127]], dtype=dtype)
        with pytest.raises(ValueError, match="must be below high"):
            rng.integers(lows, highs, dtype=dtype)
        counts = host(rng.integers(lows, iruka.array([1, 7, 103], dtype=dtype), (3000, 3), dtype=dtype))
        for column, expected in enumerate(({0}, {5, 6}, {100, 101, 102})):
            assert set(counts[:, column].tolist()) == expected
            share = np.bincount(counts[:, column].astype(int))[max(expected)] / 3000
            assert abs(share - 1 / len(expected)) < 6 * 0.5 / np.sqrt(3000)


def test_integers_forms_and_errors():
    rng = default_rng(4)
    assert set(host(rng.integers(3, size=300)).tolist()) == {0, 1, 2}
    assert set(host(rng.integers(3, size=300, endpoint=True)).tolist()) == {0, 1, 2, 3}
    assert rng.integers([2, 3]).shape == (2,) and rng.integers(5).shape == ()
    out = iruka.zeros((3, 8), dtype="int16")[:, ::2]
    assert rng.integers(5, 9, out=out) is out and out.min() >= 5
    for low, high, keywords, error, words in [
        (5, 5, {}, ValueError, "low 5 must be below high 5"),
        (0, 300, {"dtype": "uint8"}, ValueError, "high 300 is out of bounds for uint8"),
        (-1, 3, {"dtype": "uint8"}, ValueError, "low -1 is out of bounds for uint8"),
        ([-1], 3, {"dtype": "uint8"}, ValueError, "low -1 is out of bounds for uint8"),
        ([1], [300], {"dtype": "uint8"}, ValueError, "high 300 is out of bounds for uint8"),
        (0.5, 3, {}, TypeError, "low is 0.5"),
        ([0.5], 3, {}, TypeError, "low is float64"),
        (0, 3, {"dtype": "float32"}, TypeError, "dtype must be an integer, not float32"),
    ]:
        with pytest.raises(error, match=words):
            rng.integers(low, high, 3 if not isinstance(low, list) else None, **keywords)
    assert len(rng.bytes(37)) == 37 and rng.bytes(37) != rng.bytes(37) and rng.bytes(0) == b""


@pytest.mark.parametrize("n", [0, 1, 2, 5, 100, 1024, 1025, 4097, 70001])
def test_permutation_is_one(n):
    rng = default_rng(6)
    order = host(rng.permutation(n))
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    if n > 99:
        assert (order != np.arange(n)).sum() > n - 12 and (order != host(rng.permutation(n))).sum() > n - 12


def test_short_permutations_are_uniform():
    """Chi-square over all 24 orders of 4: odds of a new seed failing 1e-7."""
    mixed = host(default_rng(7).permuted(iruka.array(np.tile(np.arange(4), (24000, 1))), axis=1))
    counts = np.unique(mixed @ [64, 16, 4, 1], return_counts=True)[1]
    assert counts.size == 24 and ((counts - 1000) ** 2 / 1000).sum() < 23 + 6 * np.sqrt(46)


def test_long_permutations_are_uniform():
    """Where an entry lands, and its distance to its neighbour, over 200 permutations of 3000: odds below 1e-7 each."""
    rng, n, repeats = default_rng(8), 3000, 200
    orders = np.stack([host(rng.permutation(n)) for _ in range(repeats)])
    table = np.zeros((30, 30))
    np.add.at(table, (np.broadcast_to(np.arange(n) * 30 // n, orders.shape), orders * 30 // n), 1)
    expected = n * repeats / 900
    assert ((table - expected) ** 2 / expected).sum() < 841 + 6 * np.sqrt(2 * 841)
    rises = (np.diff(orders, axis=1) > 0).mean(axis=1)  # variance (n + 1) / 12 of Eulerian numbers
    deviation = np.sqrt((n + 1) / 12) / (n - 1)
    assert abs(rises.mean() - 0.5) < 6 * deviation / np.sqrt(repeats)
    assert abs(rises.std() / deviation - 1) < 6 / np.sqrt(2 * repeats)
    fixed = (orders == np.arange(n)).sum()  # Poisson with mean 1 each
    assert abs(fixed - repeats) < 6 * np.sqrt(repeats)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_shuffle_in_place(dtype, rng):
    matrix = values(dtype, (6, 5), rng)
    for axis in (0, 1, -1):
        for view in (lambda x: x, lambda x: x[::-1], lambda x: x.swapaxes(0, 1).copy().swapaxes(0, 1)):
            x = view(iruka.array(matrix))
            expected = np.moveaxis(host(x.copy()), axis, 0)
            default_rng(9).shuffle(x, axis=axis)
            order = host(default_rng(9).permutation(expected.shape[0]))
            np.testing.assert_array_equal(np.moveaxis(host(x), axis, 0), expected[order])


def test_shuffle_of_others():
    rng = default_rng(10)
    items = list("abcdefgh")
    rng.shuffle(items)
    assert sorted(items) == list("abcdefgh") and items != list("abcdefgh")
    array = np.arange(20).reshape(10, 2)
    rng.shuffle(array)
    assert (array[:, 1] - array[:, 0] == 1).all() and sorted(array[:, 0]) == list(range(0, 20, 2))
    with pytest.raises(TypeError, match="str"):
        rng.shuffle("abc")
    with pytest.raises(IndexError, match="axis 2"):
        rng.shuffle(iruka.zeros((2, 2)), axis=2)
    iruka.random.shuffle(items)
    assert sorted(items) == list("abcdefgh")


def test_permutation_and_permuted_of_arrays():
    rng = default_rng(11)
    cube = iruka.arange(60).reshape(3, 4, 5)
    for axis in (0, 1, 2, -1):
        moved = host(rng.permutation(cube, axis=axis))
        np.testing.assert_array_equal(np.sort(moved, axis=axis), host(cube))
        mixed = host(rng.permuted(cube, axis=axis))
        np.testing.assert_array_equal(np.sort(mixed, axis=axis), host(cube))
    assert not all((np.diff(mixed, axis=0) == 20).ravel())  # slices have orders of their own
    together = rng.permuted(cube)
    assert together.shape == cube.shape and sorted(host(together).ravel()) == list(range(60))
    out = iruka.zeros((3, 4, 5), dtype="int64")
    assert rng.permuted(cube, axis=1, out=out) is out and out.sum() == cube.sum()
    long = host(rng.permuted(iruka.array(np.tile(np.arange(2000), (3, 1))), axis=1))
    np.testing.assert_array_equal(np.sort(long, axis=1), np.tile(np.arange(2000), (3, 1)))
    assert (long[0] != long[1]).sum() > 1900
    with pytest.raises(ValueError, match="out has shape"):
        rng.permuted(cube, out=iruka.zeros(3))
    assert rng.permutation([3, 1, 2]).shape == (3,)
    with pytest.raises(TypeError, match="expected an int or an array"):
        rng.permutation(2.5)
    with pytest.raises(ValueError):
        rng.permutation(-3)


def test_choice():
    rng = default_rng(12)
    assert rng.choice(5).shape == () and rng.choice(5, (2, 3)).shape == (2, 3)
    counts = np.bincount(host(rng.choice(4, 40000)), minlength=4)
    assert abs(counts - 10000).max() < 6 * np.sqrt(7500)
    p = [0.1, 0.0, 0.6, 0.3]
    counts = np.bincount(host(rng.choice(4, 40000, p=p)), minlength=4)
    assert counts[1] == 0 and abs(counts - 40000 * np.array(p)).max() < 6 * np.sqrt(10000)
    for n in (50, 5000):
        chosen = host(rng.choice(n, 40, replace=False))
        assert len(set(chosen.tolist())) == 40 and chosen.max() < n
    assert host(rng.choice(10**15, 1000, replace=False)).max() > 9.5e14
    weighted = np.stack([host(rng.choice(3, 2, replace=False, p=[0.2, 0.5, 0.3])) for _ in range(600)])
    first = np.bincount(weighted[:, 0], minlength=3) / 600
    assert (weighted[:, 0] != weighted[:, 1]).all() and abs(first - [0.2, 0.5, 0.3]).max() < 6 * 0.5 / np.sqrt(600)
    matrix = iruka.arange(12).reshape(3, 4)
    taken = host(rng.choice(matrix, (2, 5), axis=1))
    assert taken.shape == (3, 2, 5) and (np.diff(taken, axis=0) == 4).all()
    assert rng.choice(matrix, 2).shape == (2, 4) and rng.choice([1.5, 2.5]).item() in (1.5, 2.5)
    with pytest.raises(ValueError, match="1-dimensional"):
        iruka.random.choice(matrix, 2, False)


def test_choice_errors():
    rng = default_rng(13)
    for arguments, words in [
        ((0, 2), "must not be empty"),
        ((3, 4, False), "4 of 3 entries"),
        ((3, 1, True, [0.5, 0.5]), "p must have shape"),
        ((2, 1, True, [-0.5, 1.5]), "must not be negative"),
        ((2, 1, True, [0.5, 0.6]), "must sum to 1"),
        ((3, 2, False, [0.0, 0.0, 1.0]), "only 1 have a probability"),
        ((-1,), "must not be negative"),
    ]:
        with pytest.raises(ValueError, match=words):
            rng.choice(*arguments)
    with pytest.raises(TypeError, match="expected an int or an array"):
        rng.choice(2.5)
    with pytest.raises(IndexError):
        rng.choice(iruka.zeros((2, 2)), 1, axis=2)


def test_random_states_from_every_kind_of_seed():
    random = iruka.random
    first, second = random.RandomState(), random.RandomState()
    assert first.random(4).tolist() != second.random(4).tolist()
    expected = default_rng([1, 2]).random(3).tolist()
    for seed in ([1, 2], (1, 2), np.array([1, 2]), iruka.array([1, 2])):
        assert random.RandomState(seed).random(3).tolist() == expected
        assert default_rng(seed).random(3).tolist() == expected
    for seed in (np.int64(5), np.array(5), iruka.array(5)):
        assert random.RandomState(seed).random(3).tolist() == random.RandomState(5).random(3).tolist()
        assert default_rng(seed).random(3).tolist() == default_rng(5).random(3).tolist()
    kept = random.get_random_state()._bits.state
    random.seed(None)
    assert random.get_random_state()._bits.state != kept
    random.get_random_state()._bits.state = kept
    for wrong in (b"text", "text", 1.5, [1.5]):
        with pytest.raises(TypeError):
            random.RandomState(wrong)
