"""Values of every dtype: small and exact ones, the edges, random bits. A seed gives the same values everywhere."""

import math

import numpy as np

INTEGERS = ("small", "full", "edge", "ties", "full", "positive")
FLOATS = ("small", "unit", "wide", "edge", "mixed", "bits", "ties", "positive")
PARTS = {"complex64": "float32", "complex128": "float64"}


def make(dtype, kind, seed, shape):
    """An array in C order of one kind of values."""
    size = math.prod(shape)
    if ":" in kind:  # the bytes of another dtype, one byte further: for views that are not aligned
        other, kind = kind.split(":")
        inside = make(other, kind, seed, ((size - 1) // np.dtype(other).itemsize,))
        return np.concatenate([np.zeros(1, "uint8"), inside.view("uint8")]).reshape(shape)
    rng = np.random.Generator(np.random.PCG64(seed))
    if dtype in PARTS:
        made = np.empty(size, dtype)
        made.real, made.imag = flat(PARTS[dtype], kind, rng, size), flat(PARTS[dtype], kind, rng, size)
    else:
        made = flat(dtype, kind, rng, size)
    return made.reshape(shape)


def flat(dtype, kind, rng, size):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return (
            np.full(size, kind == "positive")
            if kind in ("positive", "zeros")
            else rng.integers(0, 2, size).astype(bool)
        )
    if kind == "zeros":
        return np.zeros(size, dtype)
    if dtype.kind in "iu":
        return whole(dtype, kind, rng, size)
    with np.errstate(all="ignore"):
        return fractions(dtype, kind, rng, size)


def whole(dtype, kind, rng, size):
    limits = np.iinfo(dtype)
    if kind in ("full", "bits", "wide"):
        return rng.integers(limits.min, limits.max, size, dtype=dtype, endpoint=True)
    if kind in ("edge", "mixed"):
        edges = [limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2 + 1, 0, 1, 2]
        return np.array(edges + ([-1, -2] if limits.min else []), dtype)[rng.integers(0, 8, size)]
    low, high = {"ties": (0, 2), "positive": (1, 9), "unit": (0, 100)}.get(kind, (-9 if limits.min else 0, 9))
    return rng.integers(low, high, size, dtype=dtype, endpoint=True)


def fractions(dtype, kind, rng, size):
    limits = np.finfo(dtype)
    if kind == "unit":
        return rng.uniform(-1, 1, size).astype(dtype)
    if kind == "positive":
        return (rng.integers(1, 33, size) / 4).astype(dtype)
    if kind == "ties":
        return rng.integers(-1, 3, size).astype(dtype)
    if kind in ("wide", "full"):
        exponents = rng.uniform(limits.minexp, limits.maxexp - 1, size)
        return (rng.choice([-1.0, 1.0], size) * np.exp2(exponents)).astype(dtype)
    if kind == "bits":
        made = rng.integers(0, 256, size * dtype.itemsize, dtype=np.uint8).view(dtype)
        return np.where(np.isnan(made), dtype.type(np.nan), made)  # no signalling NaN
    small = (rng.integers(-36, 37, size) / 4).astype(dtype)
    if kind in ("edge", "mixed"):
        edges = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, limits.max, -limits.max, limits.tiny, -limits.tiny,
                 limits.smallest_subnormal, -limits.smallest_subnormal, 1 + limits.eps, 0.5, -2.5, 127.5, 256, 32768,
                 2**31]  # fmt: skip
        picked = np.array(edges).astype(dtype)[rng.integers(0, len(edges), size)]
        return picked if kind == "edge" else np.where(rng.random(size) < 0.15, picked, small)
    return small


def readonly(x):
    """A view that refuses writing."""
    x = x[...]
    x.flags.writeable = False
    return x
