"""Every distribution against its formula or NumPy's own sampler. Seeds are fixed, so a test fails always or never.

Continuous ones by Kolmogorov and Smirnov's distance of two samples, discrete ones by chi-square over equally filled
bins: a new seed would fail one case at odds below 1e-6 (2 exp(-2 x^2) for the distance; six deviations plus a margin
for chi-square's tail).
"""

import numpy as np
import pytest

import iruka
from iruka.random import default_rng

SIZE = 60_000
KOLMOGOROV_1E6 = 2.70

CONTINUOUS = [
    ("uniform", (-1.0, 3.0)),
    ("exponential", (2.0,)),
    ("laplace", (1.0, 2.0)),
    ("logistic", (1.0, 2.0)),
    ("gumbel", (1.0, 2.0)),
    ("pareto", (3.0,)),
    ("pareto", (0.5,)),
    ("power", (0.3,)),
    ("power", (4.0,)),
    ("rayleigh", (2.0,)),
    ("weibull", (0.5,)),
    ("weibull", (3.0,)),
    ("standard_cauchy", ()),
    ("triangular", (0.0, 1.0, 4.0)),
    ("triangular", (0.0, 0.0, 1.0)),
    ("triangular", (0.0, 1.0, 1.0)),
    ("normal", (1.0, 2.0)),
    ("lognormal", (0.5, 0.7)),
    ("gamma", (0.1, 2.0)),
    ("gamma", (1.0, 1.0)),
    ("gamma", (2.5, 3.0)),
    ("gamma", (1000.0, 1.0)),
    ("chisquare", (1.0,)),
    ("beta", (0.1, 0.2)),
    ("beta", (0.5, 3.0)),
    ("beta", (2.0, 3.0)),
    ("wald", (1.0, 2.0)),
    ("wald", (3.0, 0.1)),
    ("standard_t", (1.0,)),
    ("standard_t", (4.0,)),
    ("f", (3.0, 5.0)),
    ("noncentral_chisquare", (0.5, 3.0)),
    ("noncentral_chisquare", (0.5, 40.0)),
    ("noncentral_chisquare", (3.0, 4.0)),
    ("noncentral_chisquare", (2.0, 0.0)),
    ("noncentral_f", (3.0, 5.0, 2.0)),
    ("vonmises", (1.0, 4.0)),
    ("vonmises", (0.0, 0.0)),
    ("vonmises", (-3.0, 0.3)),
    ("vonmises", (1.0, 1e7)),
    ("vonmises", (1.0, 1e-6)),
]

DISCRETE = [
    ("poisson", (0.1,)),
    ("poisson", (3.0,)),
    ("poisson", (9.99,)),
    ("poisson", (10.0,)),
    ("poisson", (100.0,)),
    ("poisson", (1e4,)),
    ("binomial", (10, 0.3)),
    ("binomial", (100, 0.3)),
    ("binomial", (40, 0.9)),
    ("binomial", (30, 0.5)),
    ("binomial", (10**6, 0.3)),
    ("negative_binomial", (3.0, 0.4)),
    ("negative_binomial", (0.5, 0.1)),
    ("negative_binomial", (20.0, 0.05)),
    ("hypergeometric", (5, 7, 4)),
    ("hypergeometric", (50, 70, 40)),
    ("hypergeometric", (500, 300, 700)),
    ("hypergeometric", (30, 1000, 20)),
    ("hypergeometric", (1000, 30, 900)),
    ("zipf", (1.5,)),
    ("zipf", (4.0,)),
    ("logseries", (0.3,)),
    ("logseries", (0.99,)),
    ("geometric", (0.1,)),
    ("geometric", (0.9,)),
]


def case_id(case):
    return f"{case[0]}{case[1]}" if isinstance(case, tuple) else str(case)


def distance(one, two):
    """Kolmogorov and Smirnov's distance of two samples, scaled to have the limit distribution."""
    one, two = np.sort(one), np.sort(two)
    points = np.concatenate([one, two])
    shares = [np.searchsorted(each, points, side="right") / each.size for each in (one, two)]
    return abs(shares[0] - shares[1]).max() * np.sqrt(one.size * two.size / (one.size + two.size))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CONTINUOUS, ids=case_id)
def test_continuous(case, dtype):
    name, parameters = case
    drawn = getattr(default_rng(1), name)(*parameters, size=SIZE, dtype=dtype)
    assert drawn.dtype == dtype
    values = iruka.asnumpy(drawn)
    assert np.isfinite(values).all()
    expected = getattr(np.random.default_rng(2), name)(*parameters, size=SIZE).astype(dtype)
    assert distance(values, expected) < KOLMOGOROV_1E6


@pytest.mark.parametrize("case", DISCRETE, ids=case_id)
def test_discrete(case):
    name, parameters = case
    values = iruka.asnumpy(getattr(default_rng(3), name)(*parameters, size=SIZE))
    expected = getattr(np.random.default_rng(4), name)(*parameters, size=SIZE)
    assert values.dtype == np.int64
    edges = np.unique(np.quantile(np.concatenate([values, expected]), np.linspace(0, 1, 50)))
    counts = [np.bincount(np.searchsorted(edges, each), minlength=edges.size) for each in (values, expected)]
    both = counts[0] + counts[1]
    chi_square = ((counts[0] - counts[1])[both > 0] ** 2 / both[both > 0]).sum()
    freedom = max((both > 0).sum() - 1, 1)
    assert chi_square < freedom + 6 * np.sqrt(2 * freedom) + 20
    assert distance(values, expected) < KOLMOGOROV_1E6


def test_deviates_of_one_block_and_of_neighbours_are_independent():
    """Correlations of neighbours, of squares and of what is four apart; each within five deviations (odds 6e-7)."""
    for name, parameters in (
        ("normal", (0.0, 1.0)),
        ("uniform", (-1.0, 1.0)),
        ("laplace", (0.0, 1.0)),
        ("gamma", (2.0,)),
    ):
        for dtype in ("float32", "float64"):
            x = iruka.asnumpy(getattr(default_rng(5), name)(*parameters, size=200_000, dtype=dtype)).astype("float64")
            x = (x - x.mean()) / x.std()
            for lag in (1, 2, 3, 4):
                assert abs((x[lag:] * x[:-lag]).mean()) < 5 / np.sqrt(x.size), (name, dtype, lag)
                squares = np.clip(x**2, 0, 9)
                assert abs(np.corrcoef(squares[lag:], squares[:-lag])[0, 1]) < 5 / np.sqrt(x.size), (name, dtype, lag)


def test_draws_and_spawned_generators_are_independent():
    rng = default_rng(6)
    samples = [rng.normal(size=50_000) for _ in range(4)]
    samples += [child.normal(size=50_000) for child in rng.spawn(4)]
    correlations = np.corrcoef(np.stack([iruka.asnumpy(x) for x in samples])) - np.eye(8)
    assert abs(correlations).max() < 5.5 / np.sqrt(50_000)


def test_tails_of_float32():
    """24 bits would end an exponential at 16.6 and a normal at 5.8."""
    rng, n = default_rng(7), 40_000_000
    assert 15 < float(rng.standard_exponential(n, dtype="float32").max()) < 26
    assert float(rng.standard_normal(n, dtype="float32").max()) > 5


def test_multinomial():
    rng, p = default_rng(8), np.array([0.2, 0.0, 0.5, 0.3])
    counts = iruka.asnumpy(rng.multinomial(100, p, size=20_000))
    assert counts.shape == (20_000, 4) and counts.dtype == np.int64 and (counts.sum(axis=1) == 100).all()
    np.testing.assert_allclose(counts.mean(axis=0), 100 * p, atol=6 * 5 / np.sqrt(20_000))
    expected = 100 * (np.diag(p) - np.outer(p, p))
    np.testing.assert_allclose(np.cov(counts.T), expected, atol=6 * 35 / np.sqrt(20_000))
    assert rng.multinomial(5, p).shape == (4,) and rng.multinomial([1, 2, 3], p).shape == (3, 4)
    many = iruka.asnumpy(rng.multinomial([[3], [1000]], [[0.5, 0.5], [0.1, 0.9]], size=(2, 2)))
    assert many.shape == (2, 2, 2) and (many.sum(axis=-1) == [[3, 3], [1000, 1000]]).all()
    assert rng.multinomial(0, p, size=3).sum() == 0 and rng.multinomial(3, p, size=(0, 2)).shape == (0, 2, 4)
    for n, pvals, size, words in [
        (-1, p, None, "n must not be negative"),
        (1, [0.5, -0.1], None, "pvals must be in"),
        (1, [0.7, 0.7, 0.1], None, "must not exceed 1"),
        (1, 0.5, None, "at least one axis"),
        ([1, 2], p, (3,), "do not broadcast to size"),
    ]:
        with pytest.raises(ValueError, match=words):
            rng.multinomial(n, pvals, size)
    with pytest.raises(TypeError, match="n must be integers"):
        rng.multinomial(2.5, p)


def test_multivariate_hypergeometric():
    rng, colors = default_rng(9), np.array([16, 0, 8, 40])
    for taken in (0, 9, 30, 64):
        for method in ("marginals", "count"):
            counts = iruka.asnumpy(rng.multivariate_hypergeometric(colors, taken, 20_000, method=method))
            assert counts.shape == (20_000, 4) and (counts.sum(axis=1) == taken).all() and (counts <= colors).all()
            np.testing.assert_allclose(counts.mean(axis=0), taken * colors / 64, atol=6 * 4 / np.sqrt(20_000))
    assert rng.multivariate_hypergeometric([3, 4], 2).shape == (2,)
    for arguments, words in [
        (([3, -4], 2), "colors must not be negative"),
        (([3, 4], 8), r"nsample must be in \[0, 7\], but is 8"),
        (([[3, 4]], 2), "one axis of integers"),
        (([1.5, 4], 2), "one axis of integers"),
        (([10**9, 1], 2), "sum to less than"),
        (([3, 4], 2, None, "x"), "method"),
    ]:
        with pytest.raises(ValueError, match=words):
            rng.multivariate_hypergeometric(*arguments)


def test_dirichlet():
    rng, alpha = default_rng(10), np.array([0.5, 2.0, 7.5])
    drawn = iruka.asnumpy(rng.dirichlet(alpha, 40_000))
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=1e-14)
    share = alpha / 10
    np.testing.assert_allclose(drawn.mean(axis=0), share, atol=6 * 0.14 / np.sqrt(40_000))
    np.testing.assert_allclose(drawn.var(axis=0), share * (1 - share) / 11, rtol=0.06)
    assert rng.dirichlet(alpha).shape == (3,) and rng.dirichlet(alpha, (2, 0)).shape == (2, 0, 3)
    with pytest.raises(ValueError, match="must be positive"):
        rng.dirichlet([1.0, 0.0])
    with pytest.raises(ValueError, match="one axis"):
        rng.dirichlet([[1.0]])


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    rng, mean = default_rng(11), np.array([1.0, -2.0, 0.5])
    root = np.array([[1.0, 0.2, 0.0], [0.3, 2.0, 0.1], [0.5, 0.5, 0.7]])
    cov = root @ root.T
    drawn = iruka.asnumpy(rng.multivariate_normal(mean, cov, 60_000, method=method))
    assert drawn.shape == (60_000, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=6 * 2.1 / np.sqrt(60_000))
    np.testing.assert_allclose(np.cov(drawn.T), cov, atol=6 * 4.2 * np.sqrt(2) / np.sqrt(60_000))
    assert rng.multivariate_normal(iruka.array(mean), iruka.array(cov), (2, 3), dtype="float32").dtype == np.float32
    assert rng.multivariate_normal(mean, cov).shape == (3,)


def test_multivariate_normal_errors():
    rng = default_rng(12)
    wrong = [[1.0, 2.0], [2.0, 1.0]]
    for method in ("svd", "eigh"):
        with pytest.warns(RuntimeWarning, match="positive-semidefinite"):
            rng.multivariate_normal([0.0, 0.0], wrong, method=method)
        with pytest.raises(ValueError, match="positive-semidefinite"):
            rng.multivariate_normal([0.0, 0.0], wrong, method=method, check_valid="raise")
        rng.multivariate_normal([0.0, 0.0], wrong, method=method, check_valid="ignore")
    with pytest.raises(np.linalg.LinAlgError):
        rng.multivariate_normal([0.0, 0.0], wrong, method="cholesky")
    for keywords, words in [({"method": "x"}, "method"), ({"check_valid": "x"}, "check_valid")]:
        with pytest.raises(ValueError, match=words):
            rng.multivariate_normal([0.0], [[1.0]], **keywords)
    with pytest.raises(ValueError, match="must be"):
        rng.multivariate_normal([0.0, 1.0], [[1.0]])
