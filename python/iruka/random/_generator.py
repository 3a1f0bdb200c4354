"""Generator, BitGenerator and Philox: NumPy's random interface over Iruka's counter-based streams."""

from __future__ import annotations

import builtins
import operator

import numpy

from .. import _core
from .._core import asnumpy, ndarray
from .._numpy.shapes import _into
from ..errors import ShapeError, TypeError, ValueError, _axis_error
from ._covariance import factor

_streams = _core._random


def _key_of(sequence) -> int:
    return int(sequence.generate_state(1, numpy.uint64)[0])


class BitGenerator:
    """What a Generator draws from; Philox is the only one. Under NumPy's name, for isinstance(rng.bit_generator, ...).

    Raises TypeError where it is called itself.
    """

    def __init__(self, seed=None):
        raise TypeError(f"random.{type(self).__name__}: a BitGenerator cannot draw numbers by itself; use Philox")


class Philox(BitGenerator):
    """Philox 4x32-10 as a source of random arrays (Salmon, Moraes, Dror and Shaw, SC 2011).

    Element k of an array is a function of the key, of how many arrays were drawn before, and of k alone: the same on
    every device and for any number of threads.

    seed: None (the system's entropy), an int, a sequence of ints, or a numpy.random.SeedSequence. key: an int of 64
    bits in its place. counter: how many arrays count as drawn, modulo 2**48. Raises ValueError for a negative seed, and
    where seed and key are both given.
    """

    def __init__(self, seed=None, counter: int = 0, key: int | None = None):
        if seed is not None and key is not None:
            raise ValueError("random.Philox: seed and key cannot both be given")
        self.seed_seq = None
        if isinstance(seed, (ndarray, numpy.ndarray)):
            seed = _to_numpy(seed)[()]  # an array of no axes is a number
        if key is None:
            self.seed_seq = seed if hasattr(seed, "generate_state") else numpy.random.SeedSequence(seed)
            key = _key_of(self.seed_seq)
        self._stream = _streams.Generator(key, counter)

    @classmethod
    def _over(cls, stream) -> Philox:
        """A generator around an existing stream: a key without a seed."""
        self = cls.__new__(cls)
        self.seed_seq, self._stream = None, stream
        return self

    @property
    def state(self) -> dict:
        """{'bit_generator': 'Philox', 'state': {'key': int, 'counter': int}}; may be set."""
        key, counter = self._stream.state
        return {"bit_generator": "Philox", "state": {"key": key, "counter": counter}}

    @state.setter
    def state(self, value: dict) -> None:
        if not isinstance(value, dict):
            raise TypeError(f"random.Philox: state must be a dict, not {type(value).__name__}")
        if value.get("bit_generator") != "Philox" or set(value.get("state", ())) != {"key", "counter"}:
            raise ValueError(f"random.Philox: state must be of a Philox of Iruka, not {value}")
        self._stream.set_state(value["state"]["key"], value["state"]["counter"])

    def advance(self, delta: int) -> Philox:
        """Goes on as if `delta` more arrays had been drawn; gives itself."""
        key, counter = self._stream.state
        self._stream.set_state(key, (counter + delta) % 2**48)
        return self

    def jumped(self, jumps: int = 1) -> Philox:
        """A new Philox, `jumps` times 2**32 arrays on."""
        key, counter = self._stream.state
        return Philox(key=key, counter=(counter + (jumps << 32)) % 2**48)

    def spawn(self, n_children: int) -> list[Philox]:
        """New independent sources. Raises TypeError where this one was made from a key."""
        if self.seed_seq is None:
            raise TypeError("random.Philox: one made from a key cannot spawn; give a seed")
        return [Philox(child) for child in self.seed_seq.spawn(n_children)]

    def random_raw(self, size=None) -> ndarray:
        """uint64 words, every bit random."""
        return self._stream.integers(0, 2**64 - 1, () if size is None else size, numpy.uint64, True, None)

    def __getstate__(self):
        return (self.seed_seq, *self._stream.state)

    def __setstate__(self, state):
        self.seed_seq, key, counter = state
        self._stream = _streams.Generator(key, counter)

    def __repr__(self) -> str:
        return f"Philox(key={self._stream.state[0]:#x}, counter={self._stream.state[1]})"


def _shape(size) -> tuple:
    if size is None:
        return ()
    return (operator.index(size),) if hasattr(size, "__index__") else tuple(map(operator.index, size))


def _axis_of(axis, ndim: int) -> int:
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise _axis_error(axis, ndim, "random")
    return axis % ndim


class Distributions:
    """NumPy's distributions, drawn from `bit_generator`.

    Parameters are numbers or arrays that broadcast with one another and with `size`. size: an int or a tuple; None
    takes the parameters' shape, for numbers a 0-d value. dtype: float64 or float32 (any integer dtype where the numbers
    are integers). out: an iruka.ndarray of the result's shape and dtype, any strides, filled and returned. Raises
    ValueError for a parameter outside its domain (NaN lies in none), ShapeError (a ValueError) for shapes that do not
    broadcast, TypeError for a dtype that the distribution does not have.
    """

    def __init__(self, bit_generator: Philox):
        self._bits = bit_generator
        self._stream = bit_generator._stream

    def _draw(self, name, parameters, size, dtype=None, out=None) -> ndarray:
        return self._stream.draw(name, parameters, size, dtype, out)

    # Distributions that use one unit deviate per element.

    def uniform(self, low=0.0, high=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Uniform in [low, high). Raises OverflowError where high - low is not finite."""
        return self._draw("uniform", (low, high), size, dtype, out)

    def exponential(self, scale=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Exponential with mean scale >= 0."""
        return self._draw("exponential", (scale,), size, dtype, out)

    def standard_exponential(self, size=None, dtype=None, method="zig", out=None) -> ndarray:
        """Exponential with mean 1. method is accepted; the way is always the inverse of the distribution."""
        if method not in ("zig", "inv"):
            raise ValueError(f"random.standard_exponential: method must be 'zig' or 'inv', not {method!r}")
        return self._draw("exponential", (1.0,), size, dtype, out)

    def laplace(self, loc=0.0, scale=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Laplace (two-sided exponential) around loc, scale >= 0."""
        return self._draw("laplace", (loc, scale), size, dtype, out)

    def logistic(self, loc=0.0, scale=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Logistic around loc, scale >= 0."""
        return self._draw("logistic", (loc, scale), size, dtype, out)

    def gumbel(self, loc=0.0, scale=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Gumbel (extreme values of type I) with mode loc, scale >= 0."""
        return self._draw("gumbel", (loc, scale), size, dtype, out)

    def pareto(self, a, size=None, dtype=None, out=None) -> ndarray:
        """Pareto II (Lomax) with shape a > 0: values from 0."""
        return self._draw("pareto", (a,), size, dtype, out)

    def power(self, a, size=None, dtype=None, out=None) -> ndarray:
        """In (0, 1] with density a x**(a - 1), a > 0."""
        return self._draw("power", (a,), size, dtype, out)

    def rayleigh(self, scale=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Rayleigh with mode scale >= 0."""
        return self._draw("rayleigh", (scale,), size, dtype, out)

    def weibull(self, a, size=None, dtype=None, out=None) -> ndarray:
        """Weibull with shape a >= 0 and scale 1; 0 gives zeros."""
        return self._draw("weibull", (a,), size, dtype, out)

    def standard_cauchy(self, size=None, dtype=None, out=None) -> ndarray:
        """Cauchy around 0 with scale 1."""
        return self._draw("standard_cauchy", (), size, dtype, out)

    def triangular(self, left, mode, right, size=None, dtype=None, out=None) -> ndarray:
        """Triangular in [left, right] with the given mode; left <= mode <= right, left < right."""
        return self._draw("triangular", (left, mode, right), size, dtype, out)

    def geometric(self, p, size=None, dtype=None, out=None) -> ndarray:
        """How many trials, at least 1, until one of probability p in (0, 1] succeeds."""
        return self._draw("geometric", (p,), size, dtype, out)

    # Distributions that use one normal deviate per element (Box and Muller).

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Normal with mean loc and standard deviation scale >= 0."""
        return self._draw("normal", (loc, scale), size, dtype, out)

    def standard_normal(self, size=None, dtype=None, out=None) -> ndarray:
        """Normal with mean 0 and standard deviation 1."""
        return self._draw("normal", (0.0, 1.0), size, dtype, out)

    def lognormal(self, mean=0.0, sigma=1.0, size=None, dtype=None, out=None) -> ndarray:
        """The exponential of a normal with the given mean and standard deviation sigma >= 0."""
        return self._draw("lognormal", (mean, sigma), size, dtype, out)

    # By rejection or of several deviates.

    def gamma(self, shape, scale=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Gamma with shape >= 0 and scale >= 0 (Marsaglia and Tsang 2000)."""
        return self._draw("gamma", (shape, scale), size, dtype, out)

    def standard_gamma(self, shape, size=None, dtype=None, out=None) -> ndarray:
        """Gamma with shape >= 0 and scale 1."""
        return self._draw("gamma", (shape, 1.0), size, dtype, out)

    def chisquare(self, df, size=None, dtype=None, out=None) -> ndarray:
        """Chi-square with df > 0 degrees of freedom."""
        return self._draw("chisquare", (df,), size, dtype, out)

    def noncentral_chisquare(self, df, nonc, size=None, dtype=None, out=None) -> ndarray:
        """Noncentral chi-square with df > 0 and noncentrality nonc >= 0."""
        return self._draw("noncentral_chisquare", (df, nonc), size, dtype, out)

    def beta(self, a, b, size=None, dtype=None, out=None) -> ndarray:
        """Beta with a > 0 and b > 0."""
        return self._draw("beta", (a, b), size, dtype, out)

    def f(self, dfnum, dfden, size=None, dtype=None, out=None) -> ndarray:
        """Fisher's F with dfnum > 0 and dfden > 0 degrees of freedom."""
        return self._draw("f", (dfnum, dfden), size, dtype, out)

    def noncentral_f(self, dfnum, dfden, nonc, size=None, dtype=None, out=None) -> ndarray:
        """Noncentral F with dfnum > 0, dfden > 0 and noncentrality nonc >= 0."""
        return self._draw("noncentral_f", (dfnum, dfden, nonc), size, dtype, out)

    def standard_t(self, df, size=None, dtype=None, out=None) -> ndarray:
        """Student's t with df > 0 degrees of freedom."""
        return self._draw("standard_t", (df,), size, dtype, out)

    def wald(self, mean, scale, size=None, dtype=None, out=None) -> ndarray:
        """Wald (inverse Gaussian) with mean > 0 and scale > 0."""
        return self._draw("wald", (mean, scale), size, dtype, out)

    def vonmises(self, mu, kappa, size=None, dtype=None, out=None) -> ndarray:
        """Von Mises in [-pi, pi] around the angle mu, concentration kappa >= 0 (Best and Fisher 1979)."""
        return self._draw("vonmises", (mu, kappa), size, dtype, out)

    def poisson(self, lam=1.0, size=None, dtype=None, out=None) -> ndarray:
        """Poisson with mean lam in [0, 9.22e18] (Hörmann 1993 from 10 on)."""
        return self._draw("poisson", (lam,), size, dtype, out)

    def binomial(self, n, p, size=None, dtype=None, out=None) -> ndarray:
        """Successes in n >= 0 trials of probability p in [0, 1] (Hörmann 1993 from n p = 10 on)."""
        return self._draw("binomial", (n, p), size, dtype, out)

    def negative_binomial(self, n, p, size=None, dtype=None, out=None) -> ndarray:
        """Failures before n > 0 successes of probability p in (0, 1]."""
        return self._draw("negative_binomial", (n, p), size, dtype, out)

    def hypergeometric(self, ngood, nbad, nsample, size=None, dtype=None, out=None) -> ndarray:
        """Good ones among nsample taken from ngood + nbad, each at most 10**9 (Stadlober 1990)."""
        return self._draw("hypergeometric", (ngood, nbad, nsample), size, dtype, out)

    def zipf(self, a, size=None, dtype=None, out=None) -> ndarray:
        """Zipf with exponent a > 1: values from 1."""
        return self._draw("zipf", (a,), size, dtype, out)

    def logseries(self, p, size=None, dtype=None, out=None) -> ndarray:
        """Logarithmic series with p in [0, 1): values from 1."""
        return self._draw("logseries", (p,), size, dtype, out)

    # Distributions that use several random numbers per element.

    def multinomial(self, n, pvals, size=None) -> ndarray:
        """Counts of n trials over the categories of pvals' last axis: int64 of shape size + (categories,).

        n: integers >= 0 that broadcast with pvals' other axes. Raises ValueError where probabilities are not in [0, 1]
        or all but the last sum to more than 1.
        """
        shape = None if size is None else _shape(size)
        return self._stream.multinomial(_core.as_array(n), _core.as_array(pvals), shape)

    def dirichlet(self, alpha, size=None) -> ndarray:
        """Probabilities that sum to 1, float64 of shape size + alpha.shape; alpha: one axis, each > 0."""
        alpha = _core.as_array(alpha).astype(numpy.float64, copy=False)
        if alpha.ndim != 1:
            raise ShapeError(f"random.dirichlet: alpha must have one axis, not shape {alpha.shape}")
        logarithms = self._draw("log_gamma", (alpha,), _shape(size) + alpha.shape, numpy.float64)
        if logarithms.size == 0:
            return logarithms
        weights = _exp(logarithms - logarithms.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    def multivariate_normal(
        self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd", dtype=None
    ) -> ndarray:
        """Normal vectors of shape size + (n,), with the given mean (n,) and covariance (n, n).

        check_valid: 'warn', 'raise' or 'ignore' where cov is not symmetric and positive semidefinite within tol.
        method: how cov is factored, 'svd', 'eigh' or 'cholesky', on the host. Raises ValueError for wrong shapes,
        numpy.linalg.LinAlgError where 'cholesky' meets a cov that is not positive definite.
        """
        mean = numpy.asarray(_to_numpy(mean), numpy.float64)
        cov = numpy.asarray(_to_numpy(cov), numpy.float64)
        if mean.ndim != 1 or cov.shape != (mean.size, mean.size):
            raise ShapeError(
                f"random.multivariate_normal: mean must be (n,) and cov (n, n), not {mean.shape} and {cov.shape}"
            )
        rows = _core.as_array(factor(cov, check_valid, tol, method))
        result = self._stream.multivariate_normal(_core.as_array(mean), rows, _shape(size))
        return result if dtype is None else result.astype(dtype, copy=False)


def _to_numpy(values):
    return asnumpy(values) if isinstance(values, ndarray) else values


_exp = _core.ufunc("exp")


class Generator(Distributions):
    """NumPy's Generator over a Philox: the same numbers on every device and for any number of threads.

    >>> rng = iruka.random.default_rng(7)
    >>> rng.normal(size=(2, 3)).shape
    (2, 3)
    """

    __doc__ += "\n" + "\n".join(str(Distributions.__doc__).splitlines()[1:])

    def __init__(self, bit_generator: Philox):
        if not isinstance(bit_generator, Philox):
            raise TypeError(f"random.Generator: expected an iruka.random.Philox, not {type(bit_generator).__name__}")
        super().__init__(bit_generator)

    @property
    def bit_generator(self) -> Philox:
        """The Philox it draws from."""
        return self._bits

    def spawn(self, n_children: int) -> list[Generator]:
        """New independent generators."""
        return [Generator(child) for child in self._bits.spawn(n_children)]

    def __getstate__(self):
        return self._bits

    def __setstate__(self, bits):
        Generator.__init__(self, bits)

    def __repr__(self) -> str:
        return f"Generator({self._bits!r})"

    def random(self, size=None, dtype=None, out=None) -> ndarray:
        """Uniform in [0, 1)."""
        return self._draw("uniform", (0.0, 1.0), size, dtype, out)

    def integers(self, low, high=None, size=None, dtype=None, endpoint=False, out=None) -> ndarray:
        """Integers in [low, high), or [low, high] with endpoint; [0, low) without high. No modulo bias (Lemire 2019).

        low, high: integers or arrays of integers; dtype: any integer dtype or bool, out's or int64 without it. Raises
        ValueError for an empty range and for bounds that dtype cannot hold, TypeError for bounds that are no integers.
        """
        low, high = (0, low) if high is None else (low, high)
        return self._stream.integers(low, high, size, dtype, endpoint, out)

    def bytes(self, length: int) -> bytes:
        """Random bytes."""
        return asnumpy(self._stream.integers(0, 256, operator.index(length), numpy.uint8, False, None)).tobytes()

    def multivariate_hypergeometric(self, colors, nsample, size=None, method="marginals") -> ndarray:
        """Counts of nsample items of an urn with colors[k] items of kind k: int64 of shape size + colors.shape.

        method is accepted; the way is always 'marginals'. Raises ValueError where nsample exceeds the urn.
        """
        if method not in ("count", "marginals"):
            raise ValueError(
                f"random.multivariate_hypergeometric: method must be 'count' or 'marginals', not {method!r}"
            )
        return self._stream.multivariate_hypergeometric(_core.as_array(colors), operator.index(nsample), _shape(size))

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True) -> ndarray:
        """Random entries of `a` along `axis` (an int means arange(a)), with probabilities p if given.

        Without replacement and without p, k of n cost k steps, however large n is, and come in random order whether
        shuffle is set or not. Raises ValueError for an empty `a`, more entries than there are without replacement, and
        probabilities that are negative, do not sum to 1, or are too few.
        """
        population, values = _population(a, axis)
        shape = _shape(size)
        count = 1
        for extent in shape:
            count *= extent
        if population == 0 and count:
            raise ValueError("random.choice: a must not be empty unless no entries are taken")
        if count < 0 or any(extent < 0 for extent in shape):
            raise ShapeError(f"random.choice: size {shape} has a negative extent")
        if not replace and count > population:
            raise ValueError(f"random.choice: {count} of {population} entries cannot be taken without replacement")
        if p is not None:
            order = self._weighted(_probabilities(p, population), population, count, replace)
        elif replace:
            order = self._stream.integers(0, max(population, 1), count, numpy.int64, False, None)
        else:
            order = self._stream.permutation(population, count)
        order = order.reshape(shape)
        chosen = order if values is None else _taken(values, order, axis)
        return chosen[()] if size is None else chosen

    def _weighted(self, p, population, count, replace):
        if replace:
            cumulative = numpy.cumsum(p)
            cumulative /= cumulative[-1] if population else 1
            return _streams.search_cumulative(_core.as_array(cumulative), self.random(count))
        if numpy.count_nonzero(p) < count:
            raise ValueError(
                f"random.choice: {count} entries without replacement, but only {numpy.count_nonzero(p)} "
                "have a probability above 0"
            )
        # The first arrivals of Poisson processes with rates p are a weighted sample (Efraimidis and Spirakis 2006).
        arrivals = asnumpy(self.standard_exponential(population))
        with numpy.errstate(divide="ignore"):
            return _core.as_array(numpy.argsort(arrivals / p, kind="stable")[:count])

    def permutation(self, x, axis=0) -> ndarray:
        """A copy of `x` in random order along `axis`; an int means arange(x)."""
        population, values = _population(x, axis)
        order = self._stream.permutation(population)
        return order if values is None else _taken(values, order, axis)

    def shuffle(self, x, axis=0) -> None:
        """Brings an iruka.ndarray, a numpy.ndarray or a list into random order along `axis`, in place.

        Raises TypeError for anything else, ValueError for a read-only array.
        """
        if isinstance(x, list):
            x[:] = [x[k] for k in asnumpy(self._stream.permutation(len(x))).tolist()]
        elif isinstance(x, ndarray):
            axis = _axis_of(axis, x.ndim)
            moved = x.swapaxes(0, axis)
            moved[...] = _streams.take_rows(moved, self._stream.permutation(moved.shape[0]))
        elif isinstance(x, numpy.ndarray):
            axis = _axis_of(axis, x.ndim)
            x[...] = numpy.take(x, asnumpy(self._stream.permutation(x.shape[axis])), axis=axis)
        else:
            raise TypeError(f"random.shuffle: expected an array or a list, not {type(x).__name__}")

    def permuted(self, x, *, axis=None, out=None) -> ndarray:
        """A copy of `x` in which each slice along `axis` has a random order of its own; None: all elements together."""
        x = _core.as_array(x)
        if axis is None:
            result = _streams.take_rows(x.reshape(-1), self._stream.permutation(x.size)).reshape(x.shape)
        else:
            axis = _axis_of(axis, x.ndim)
            last = x.swapaxes(axis, -1)
            rows = last.size // last.shape[-1] if last.shape[-1] else 0
            mixed = self._stream.permuted_rows(last.reshape(rows, last.shape[-1]))
            result = mixed.reshape(last.shape).swapaxes(axis, -1)
        return result if out is None else _into(out, result, "unsafe")


def _population(a, axis):
    """How many entries `a` has along `axis`, and the array of them (None for an int)."""
    if not isinstance(a, ndarray) and numpy.ndim(a) == 0:
        try:
            population = operator.index(a)
        except builtins.TypeError:
            raise TypeError(f"random: expected an int or an array, not {type(a).__name__}") from None
        if population < 0:
            raise ValueError(f"random: a population must not be negative, but is {population}")
        return population, None
    values = _core.as_array(a)
    if values.ndim == 0:
        return _population(values.item(), axis)
    return values.shape[_axis_of(axis, values.ndim)], values


def _taken(values, order, axis):
    """numpy.take(values, order, axis)."""
    axis = _axis_of(axis, values.ndim)
    moved = values.transpose((axis, *(k for k in range(values.ndim) if k != axis)))
    taken = _streams.take_rows(moved, order)
    places = list(range(order.ndim, taken.ndim))
    places[axis:axis] = range(order.ndim)
    return taken.transpose(places)


def _probabilities(p, population):
    p = numpy.asarray(_to_numpy(p), numpy.float64)
    if p.shape != (population,):
        raise ShapeError(f"random.choice: p must have shape {(population,)} as a has, not {p.shape}")
    if not (p >= 0).all():
        raise ValueError(f"random.choice: probabilities must not be negative or NaN, but the smallest is {p.min()}")
    if population and abs(p.sum() - 1) > 1e-8 * max(1, population**0.5):
        raise ValueError(f"random.choice: probabilities must sum to 1, not {p.sum()}")
    return p


def default_rng(seed=None) -> Generator:
    """A Generator from a seed (None, an int, ints, a numpy.random.SeedSequence), a Philox, or itself a Generator."""
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, Philox) else Philox(seed))
