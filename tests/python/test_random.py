"""Random numbers: NumPy's signatures, reproducibility, distributions."""

import numpy as np
import pytest

import iruka
from helpers import run_python


def sequence(seed):
    iruka.random.seed(seed)
    return [
        iruka.asnumpy(x)
        for x in (
            iruka.random.rand(5),
            iruka.random.normal(size=7),
            iruka.random.randint(0, 100, 9),
            iruka.random.uniform(-1, 1, (2, 3)),
            iruka.random.random((4,), dtype="float32"),
        )
    ]


def test_seed_restarts_the_stream():
    for one, two in zip(sequence(7), sequence(7), strict=True):
        np.testing.assert_array_equal(one, two)
    assert any((one != two).any() for one, two in zip(sequence(7), sequence(8), strict=True))


def test_same_numbers_for_any_number_of_threads():
    threads = iruka.get_num_threads()
    results = []
    try:
        for count in (1, 4):
            iruka.set_num_threads(count)
            iruka.random.seed(11)
            results.append(iruka.asnumpy(iruka.random.random(300001)))
    finally:
        iruka.set_num_threads(threads)
    np.testing.assert_array_equal(*results)


def test_same_numbers_in_another_process():
    code = "import iruka; iruka.random.seed(5); print(iruka.random.normal(size=6).tolist(), iruka.random.randint(0, 9, 6).tolist())"
    first = run_python(code)
    assert first.returncode == 0, first.stderr
    iruka.random.seed(5)
    assert first.stdout.strip() == f"{iruka.random.normal(size=6).tolist()} {iruka.random.randint(0, 9, 6).tolist()}"


def test_unseeded_processes_differ():
    code = "import iruka; print(iruka.random.random(4).tolist())"
    assert run_python(code).stdout != run_python(code).stdout


@pytest.mark.parametrize(
    "size, shape",
    [(None, ()), (3, (3,)), ((2, 3), (2, 3)), ((), ()), (np.int64(2), (2,)), ((0, 2), (0, 2)), ([2, 1], (2, 1))],
)
def test_shapes(size, shape):
    draws = [
        iruka.random.random(size),
        iruka.random.random_sample(size),
        iruka.random.normal(0, 1, size),
        iruka.random.uniform(0, 1, size),
        iruka.random.randint(5, size=size),
        iruka.random.standard_normal(size),
    ]
    for drawn in draws:
        assert isinstance(drawn, iruka.ndarray) and drawn.shape == shape
    assert iruka.random.rand(2, 3).shape == iruka.random.randn(2, 3).shape == (2, 3)
    assert iruka.random.rand().shape == ()


def test_dtypes():
    assert iruka.random.random(3).dtype == iruka.random.normal(size=3).dtype == np.float64
    assert iruka.random.randint(0, 5, 3).dtype == np.int64
    for dtype in ("float32", "float64"):
        assert iruka.random.rand(3, dtype=dtype).dtype == iruka.random.normal(size=3, dtype=dtype).dtype == dtype
    for dtype in ("int8", "uint8", "int32", "uint64"):
        assert iruka.random.randint(0, 100, 3, dtype=dtype).dtype == dtype


def test_uniform_distribution():
    iruka.random.seed(1)
    n = 400_000
    for dtype in ("float32", "float64"):
        x = iruka.asnumpy(iruka.random.random(n, dtype=dtype))
        assert 0 <= x.min() and x.max() < 1
        counts = np.bincount((x * 100).astype(int), minlength=100)
        chi_squared = ((counts - n / 100) ** 2 / (n / 100)).sum()
        assert 40 < chi_squared < 180  # 99 degrees of freedom: mean 99, deviation 14
        assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 5 / np.sqrt(n)
    y = iruka.asnumpy(iruka.random.uniform(-3, 5, n))
    assert y.min() >= -3 and y.max() < 5 and abs(y.mean() - 1) < 5 * 8 / np.sqrt(12 * n)


def test_normal_distribution():
    iruka.random.seed(2)
    n = 400_000
    for dtype in ("float32", "float64"):
        x = iruka.asnumpy(iruka.random.normal(3, 2, n, dtype=dtype)).astype("float64")
        z = (x - 3) / 2
        assert abs(z.mean()) < 5 / np.sqrt(n) and abs(z.var() - 1) < 5 * np.sqrt(2 / n)
        assert abs((z**3).mean()) < 5 * np.sqrt(15 / n) and abs((z**4).mean() - 3) < 5 * np.sqrt(96 / n)
        for bound, probability in ((1, 0.6826895), (2, 0.9544997), (3, 0.9973002)):
            assert abs((abs(z) < bound).mean() - probability) < 5 * np.sqrt(probability * (1 - probability) / n)


@pytest.mark.parametrize("low, high", [(0, 10), (-5, 5), (0, 3), (10**12, 10**12 + 7), (-(2**63), -(2**63) + 4)])
def test_randint_distribution(low, high):
    iruka.random.seed(3)
    n = 100_000
    x = iruka.asnumpy(iruka.random.randint(low, high, n))
    assert x.min() >= low and x.max() < high
    counts = np.bincount(x - low, minlength=high - low)
    assert abs(counts - n / (high - low)).max() < 6 * np.sqrt(n / (high - low))


def test_randint_forms_and_errors():
    assert set(iruka.random.randint(3, size=200).tolist()) == {0, 1, 2}
    assert set(iruka.random.randint(low=0, high=2, size=100, dtype="uint8").tolist()) == {0, 1}
    assert iruka.random.randint(0, 256, 1000, dtype="uint8").max().item() > 200
    for arguments in ((5, 5), (5, 4), (0,)):
        with pytest.raises(ValueError):
            iruka.random.randint(*arguments, size=3)
    with pytest.raises(ValueError):
        iruka.random.randint(0, 300, 3, dtype="uint8")
    with pytest.raises(ValueError):
        iruka.random.normal(0, -1, 3)
    with pytest.raises(ValueError):
        iruka.random.random((-1,))
    with pytest.raises(ValueError):
        iruka.random.seed(-1)
    with pytest.raises(TypeError):
        iruka.random.seed("x")
    with pytest.raises(TypeError):
        iruka.random.random(2, dtype="int32")


def test_array_parameters():
    iruka.random.seed(4)
    loc, scale = np.array([0.0, 100.0, -50.0]), np.array([[1.0], [0.01]])
    x = iruka.asnumpy(iruka.random.normal(iruka.array(loc), iruka.array(scale), (20000, 2, 3)))
    np.testing.assert_allclose(x.mean(axis=0), np.broadcast_to(loc, (2, 3)), atol=0.05)
    np.testing.assert_allclose(x.std(axis=0), np.broadcast_to(scale, (2, 3)), rtol=0.03)
    y = iruka.random.uniform(iruka.array([0.0, 10.0]), [1.0, 11.0])
    assert y.shape == (2,) and 0 <= float(y[0]) < 1 and 10 <= float(y[1]) < 11
    with pytest.raises(ValueError):
        iruka.random.normal(iruka.zeros(3), 1.0, (2,))
    with pytest.raises(ValueError):
        iruka.random.normal(0.0, iruka.array([-1.0, 1.0]))
