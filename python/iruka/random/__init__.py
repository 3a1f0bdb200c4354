"""Random arrays under NumPy's and CuPy's names, from a Philox counter: one seed, one sequence, on every device.

`default_rng(seed)` gives a Generator; the functions here draw from one RandomState of the whole process. Without
a size they give a 0-d value.
"""

from __future__ import annotations

import builtins
import operator

import numpy

from .. import _core
from .._core import ndarray
from .._public_names import dir_of as _dir_of
from ..errors import TypeError, ValueError
from ._generator import (
    BitGenerator as BitGenerator,
    Distributions,
    Generator as Generator,
    Philox as Philox,
    default_rng as default_rng,
)


class RandomState(Distributions):
    """NumPy's older interface: a Generator's distributions, with the older names.

    seed: None (the system's entropy), an int in [0, 2**64), or a sequence or array of ints.
    """

    __doc__ += "\n" + "\n".join(str(Distributions.__doc__).splitlines()[1:])

    def __init__(self, seed=None):
        self._attach(seed if isinstance(seed, Philox) else Philox(key=0))
        if not isinstance(seed, Philox):
            self.seed(seed)

    def _attach(self, bits: Philox) -> None:
        super().__init__(bits)
        self._generator = Generator(bits)

    def __getstate__(self):
        return self._bits

    def __setstate__(self, bits):
        self._attach(bits)

    def __repr__(self) -> str:
        return f"RandomState({self._bits!r})"

    def seed(self, seed=None) -> None:
        """Restarts the stream; from the system's entropy without a seed. Raises ValueError for a negative one."""
        if isinstance(seed, ndarray):
            seed = _core.asnumpy(seed)
        if hasattr(seed, "__index__") and numpy.ndim(seed) == 0:
            key = operator.index(seed)
            if not 0 <= key < 2**64:
                raise ValueError(f"random.seed: the seed must be in [0, 2**64), but is {key}")
        elif isinstance(seed, (str, builtins.bytes, float)):
            raise TypeError(f"random.seed: the seed must be an int, ints or None, not {type(seed).__name__}")
        else:
            key = Philox(seed).state["state"]["key"]
        self._stream.set_state(key, 0)

    def get_state(self, legacy: bool = True) -> tuple | dict:
        """('Philox', key, counter), or the dict that Philox.state is; set_state takes both."""
        state = self._bits.state
        return ("Philox", *self._stream.state) if legacy else state

    def set_state(self, state) -> None:
        """Goes on from what get_state gave. Raises ValueError for a state of another kind."""
        if isinstance(state, (tuple, list)):
            if len(state) != 3:
                raise ValueError(f"random.set_state: expected ('Philox', key, counter), not {len(state)} entries")
            state = {"bit_generator": state[0], "state": {"key": state[1], "counter": state[2]}}
        self._bits.state = state

    def random(self, size=None, dtype=None, out=None) -> ndarray:
        """Uniform in [0, 1)."""
        return self._draw("uniform", (0.0, 1.0), size, dtype, out)

    random_sample = ranf = sample = random

    def rand(self, *size: int, dtype=None) -> ndarray:
        """Uniform in [0, 1), with extents as arguments."""
        return self._draw("uniform", (0.0, 1.0), size or None, dtype)

    def randn(self, *size: int, dtype=None) -> ndarray:
        """Standard normal, with extents as arguments."""
        return self._draw("normal", (0.0, 1.0), size or None, dtype)

    def randint(self, low, high=None, size=None, dtype=numpy.int64) -> ndarray:
        """Integers in [low, high), or [0, low) without high; no modulo bias. Raises ValueError when that is empty."""
        return self._generator.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None) -> ndarray:
        """Integers in [low, high], or [1, low] without high."""
        low, high = (1, low) if high is None else (low, high)
        return self._generator.integers(low, high, size, endpoint=True)

    def tomaxint(self, size=None) -> ndarray:
        """Integers in [0, 2**63)."""
        return self._generator.integers(0, 2**63 - 1, size, endpoint=True)

    def bytes(self, length: int) -> builtins.bytes:
        """Random bytes."""
        return self._generator.bytes(length)

    def choice(self, a, size=None, replace=True, p=None) -> ndarray:
        """Random entries of `a`, of one axis; see Generator.choice."""
        if getattr(a, "ndim", 1) > 1:
            raise ValueError(f"a must be 1-dimensional, not of {a.ndim} axes; Generator.choice takes an axis")
        return self._generator.choice(a, size, replace, p)

    def permutation(self, x) -> ndarray:
        """A copy of `x` in random order along its first axis; an int means arange(x)."""
        return self._generator.permutation(x)

    def shuffle(self, x) -> None:
        """Brings an array or a list into random order along its first axis, in place."""
        self._generator.shuffle(x)


Philox4x3210 = Philox  # CuPy's name: 4 words of 32 bits, 10 rounds
_state = RandomState(Philox._over(_core._random.default_generator()))


def get_bit_generator() -> Philox:
    """The Philox that this module's functions draw from."""
    return _state._bits


def set_bit_generator(bitgen: Philox) -> None:
    """Lets this module's functions draw from another Philox. Raises TypeError for anything else."""
    if not isinstance(bitgen, Philox):
        raise TypeError(f"random.set_bit_generator: expected an iruka.random.Philox, not {type(bitgen).__name__}")
    _state._attach(bitgen)


def get_random_state() -> RandomState:
    """The RandomState whose methods this module's functions are."""
    return _state


def set_random_state(rs: RandomState) -> None:
    """Lets this module's functions draw from the stream of another RandomState. Raises TypeError for anything else."""
    if not isinstance(rs, RandomState):
        raise TypeError(f"random.set_random_state: expected an iruka.random.RandomState, not {type(rs).__name__}")
    _state._attach(rs._bits)


beta = _state.beta
binomial = _state.binomial
bytes = _state.bytes
chisquare = _state.chisquare
choice = _state.choice
dirichlet = _state.dirichlet
exponential = _state.exponential
f = _state.f
gamma = _state.gamma
geometric = _state.geometric
get_state = _state.get_state
gumbel = _state.gumbel
hypergeometric = _state.hypergeometric
laplace = _state.laplace
logistic = _state.logistic
lognormal = _state.lognormal
logseries = _state.logseries
multinomial = _state.multinomial
multivariate_normal = _state.multivariate_normal
negative_binomial = _state.negative_binomial
noncentral_chisquare = _state.noncentral_chisquare
noncentral_f = _state.noncentral_f
normal = _state.normal
pareto = _state.pareto
permutation = _state.permutation
poisson = _state.poisson
power = _state.power
rand = _state.rand
randint = _state.randint
randn = _state.randn
random = _state.random
random_integers = _state.random_integers
random_sample = ranf = sample = _state.random
rayleigh = _state.rayleigh
seed = _state.seed
set_state = _state.set_state
shuffle = _state.shuffle
standard_cauchy = _state.standard_cauchy
standard_exponential = _state.standard_exponential
standard_gamma = _state.standard_gamma
standard_normal = _state.standard_normal
standard_t = _state.standard_t
triangular = _state.triangular
uniform = _state.uniform
vonmises = _state.vonmises
wald = _state.wald
weibull = _state.weibull
zipf = _state.zipf


def __getattr__(name):
    if name == "SeedSequence":  # numpy.random costs more to import than the rest of Iruka
        from numpy.random import SeedSequence

        return SeedSequence
    from .._cupy.alternatives import find

    return find("iruka.random", name)


__dir__ = _dir_of(globals())
