"""Integers of jit.rawkernel have 64 bits, also where 32 suffice to compute them."""

import numpy as np
import pytest

import iruka
from iruka import jit


@jit.rawkernel()
def operators(n, out):
    t = jit.threadIdx.x
    low = t - 5
    out[t, 0] = low // 4
    out[t, 1] = low % 7
    out[t, 2] = low % -7
    out[t, 3] = low // -3
    out[t, 4] = (low & 6) + (low | 9) + (low ^ -3)
    out[t, 5] = min(max(low, -2), 3)
    out[t, 6] = low * 1000000 * 1000000
    out[t, 7] = (t + n) // 3
    out[t, 8] = low * n - n
    out[t, 9] = low % (t - 3)
    out[t, 10] = low // (t - 3)
    out[t, 11] = jit.blockDim.x * jit.gridDim.x - t
    out[t, 12] = (low << 3) + (low >> 1)
    out[t, 13] = -low
    out[t, 14] = 1 if low < t - 6 or low >= 4 else 0


def expected_operators(t, n, threads):
    low = t - 5
    divisor = t - 3
    return [
        low // 4, low % 7, low % -7, low // -3, (low & 6) + (low | 9) + (low ^ -3), min(max(low, -2), 3), low * 10**12,
        (t + n) // 3, low * n - n, low % divisor if divisor else 0, low // divisor if divisor else 0, threads - t,
        (low << 3) + (low >> 1), -low, int(low < t - 6 or low >= 4),
    ]  # fmt: skip


@pytest.mark.parametrize("n", [7, 2**40, -(2**40), 2**31 - 1, -(2**31)])
def test_operators(n):
    out = iruka.zeros((12, 15), "int64")
    operators[1, 12](n, out)
    np.testing.assert_array_equal(out.get(), [expected_operators(t, n, 12) for t in range(12)])


@jit.rawkernel()
def of_arguments(a, b, out):
    out[0] = a * b
    out[1] = a + b
    out[2] = a - b
    out[3] = -a
    out[4] = (a + b) // 2 % 1000


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint16"])
def test_arguments_of_few_bits(dtype):
    """Their sums and products have more."""
    info = np.iinfo(dtype)
    for a in (info.min, info.max, 3):
        for b in (info.min, info.max, -2 if info.min else 2):
            out = iruka.zeros(5, "int64")
            of_arguments[1, 1](np.dtype(dtype).type(a), np.dtype(dtype).type(b), out)
            a, b = int(a), int(b)
            sums = [a * b, a + b, a - b, -a, (a + b) // 2 % 1000]
            if dtype != "uint16":
                assert out.get().tolist() == sums
            else:
                assert out.get()[:2].tolist() == sums[:2]


@jit.rawkernel()
def rounds(first, out):
    for k in range(0, 2147483647, 1073741824):
        out[0] += k
    for k in range(5, -7, -3):
        out[1] += k
    for k in range(jit.threadIdx.x, 10, 4):
        out[2] += k
    for k in range(2147483640, 2147483648, 3):
        out[3] += k
    for k in range(first, first + 3):
        out[4] += k
    for k in range(10, jit.threadIdx.x, -jit.blockDim.x):
        out[5] += k


def test_loops():
    out = iruka.zeros(6, "int64")
    rounds[1, 1](2**33, out)
    expected = [2**30, 5 + 2 - 1 - 4, 0 + 4 + 8, 2147483640 * 3 + 9, 3 * 2**33 + 3, sum(range(1, 11))]
    assert out.get().tolist() == expected


@jit.rawkernel()
def far_blocks(places, count):
    place = jit.blockIdx.x * 1024 + jit.threadIdx.x
    if place >= 2147483648:
        jit.atomic_add(count, 0, 1)
    if jit.grid(1) == jit.gridsize(1) - 1:
        places[0] = place
        places[1] = jit.blockIdx.x * 1024 * 4 % 1000003


def test_grids_of_many_blocks():
    """Their places do not fit 32 bits."""
    for blocks, count in ((2**21 + 3, 3), (2**21 - 1, 0), (2**21, 0), (5, 0)):
        places, found = iruka.zeros(2, "int64"), iruka.zeros(1, "int64")
        far_blocks[blocks, 1](places, found)
        last = (blocks - 1) * 1024
        assert places.get().tolist() == [last, last * 4 % 1000003]
        assert found.get().tolist() == [count]


@jit.rawkernel()
def turned(x, y):
    for i in range(jit.threadIdx.x, x.shape[0], jit.blockDim.x):
        row = x[i]
        for j in range(x.shape[1]):
            y[j + i - i, x.shape[0] - 1 - i] = row[(j + 3) - 3] + x[i, j] * 0 + x.size


@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x[::-1, ::-1], lambda x: x.T, lambda x: x[:, ::2]])
def test_places_in_arrays(layout):
    x = layout(iruka.arange(7 * 12).reshape(7, 12))
    y = iruka.zeros(x.shape[::-1], "int64")
    turned[1, 5](x, y)
    np.testing.assert_array_equal(y.get(), x.get()[::-1].T + x.size)


def test_variants_are_few():
    """One kernel serves all arrays whose places fit 32 bits."""

    @jit.rawkernel()
    def first(x):
        x[0] = 1

    for size in (1, 5, 1000):
        first[size, 1](iruka.zeros(size))
    assert len(first.cached_codes) == 1
