"""Plain arguments that are channels of one array, or whose elements lie a few apart: both directions, any order."""

import numpy as np
import pytest

import iruka
from helpers import DTYPE_IDS, DTYPES, assert_same, values

Kernel = iruka.ElementwiseKernel
SHAPES = ((1,), (2,), (15,), (33,), (257,), (1000,), (3, 5), (7, 41), (2, 3, 70))


def host(a):
    return iruka.asnumpy(a).copy()


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_planes_of_one_array_are_turned_into_those_of_another(channels, dtype, rng):
    names = [f"x{c}" for c in range(channels)], [f"y{c}" for c in range(channels)]
    inputs, outputs = (", ".join(f"T {name}" for name in part) for part in names)
    body = " ".join(f"y{c} = x{(c + 1) % channels};" for c in range(channels))
    k = Kernel(inputs, outputs, body, f"planes{channels}")
    for shape in SHAPES:
        source, target = values(dtype, (*shape, channels), rng), values(dtype, (*shape, channels), rng)
        order = rng.permutation(channels)
        x, y = iruka.array(source), iruka.array(target)
        k(*(x[..., c] for c in order), *(y[..., c] for c in order))
        expected = target.copy()
        for place, c in enumerate(order):
            expected[..., c] = source[..., order[(place + 1) % channels]]
        assert_same(y, expected, message=str(shape))
        assert_same(x, source, message=str(shape))


@pytest.mark.parametrize("options", [(), ("--lanes=1",), ("--lanes=8",)])
def test_channels_of_rows_with_gaps_and_backwards(options, rng):
    k = Kernel(
        "int16 red, int16 green, int16 blue",
        "int32 total, int16 least",
        "total = red + 2 * green + 3 * blue; least = min(red, min(green, blue));",
        "of_three",
        options=options,
    )
    for height, width in ((1, 7), (5, 33), (12, 130)):
        wide = rng.integers(-3000, 3000, (height + 2, width + 9, 4)).astype(np.int16)
        for part in (np.s_[1:-1, 4:-5], np.s_[::2, ::-1], np.s_[::-1, 2:-2:3], np.s_[:, ::2]):
            for order in ((0, 1, 2), (2, 1, 0), (3, 1, 0), (1, 1, 1)):
                planes = [iruka.array(wide)[part][..., c] for c in order]
                views = [wide[part][..., c].astype(np.int32) for c in order]
                total, least = k(*planes)
                np.testing.assert_array_equal(host(total), views[0] + 2 * views[1] + 3 * views[2])
                np.testing.assert_array_equal(host(least), np.minimum.reduce(views))


@pytest.mark.parametrize("options", [(), ("--lanes=1",), ("--lanes=8",)])
@pytest.mark.parametrize("step", [2, 3, 4, 5, -1, -2, -3])
def test_only_elements_that_the_body_writes_change(step, options, rng):
    k = Kernel("int32 x", "int32 y", "if (x % 3 == 0) y += x;", "some_of_them", options=options)
    for n in (1, 3, 16, 100, 999):
        memory = rng.integers(-100, 100, n * abs(step) + 3).astype(np.int32)
        x = rng.integers(0, 100, n).astype(np.int32)
        a = iruka.array(memory)
        part = slice(1, 1 + n * step, step) if step > 0 else slice(n * -step, None if n * step else 0, step)
        places = np.arange(len(memory))[part][:n]
        y = a[part][:n]
        k(iruka.array(x), y)
        expected = memory.copy()
        expected[places] += np.where(x % 3 == 0, x, 0)
        np.testing.assert_array_equal(host(a), expected)


def test_channels_are_changed_in_place(rng):
    k = Kernel(
        "float32 a, float32 b, float32 c",
        "float32 x, float32 y, float32 z",
        "float sum = a + b + c; x = sum; if (sum > 0) y = b * 2; z = a - c;",
        "in_place",
    )
    for n in (1, 16, 77, 4000):
        pixels = rng.standard_normal((n, 3)).astype(np.float32)
        a = iruka.array(pixels)
        channels = [a[:, c] for c in range(3)]
        k(*channels, *channels)
        sums = pixels[:, 0] + pixels[:, 1] + pixels[:, 2]
        expected = np.stack([sums, np.where(sums > 0, pixels[:, 1] * 2, pixels[:, 1]), pixels[:, 0] - pixels[:, 2]], -1)
        np.testing.assert_array_equal(host(a), expected)


def test_planes_far_apart_and_rows_of_other_strides_are_read_each_for_itself(rng):
    k = Kernel("int32 a, int32 b", "int32 y", "y = a - 2 * b;", "apart")
    for n in (5, 64, 301):
        memory = rng.integers(-1000, 1000, (4, n, 3)).astype(np.int32)
        x = iruka.array(memory)
        for one, other in (
            (np.s_[0, :, 1], np.s_[2, :, 1]),  # the same channel, far away
            (np.s_[1, :, 0], np.s_[1, ::-1, 2]),  # in opposite directions
            (np.s_[::2, :, 0], np.s_[:2, :, 1]),  # rows of unlike distance
            (np.s_[0, 1:, 0], np.s_[0, :-1, 1]),  # the neighbour before
        ):
            expected = memory[one] - 2 * memory[other]
            np.testing.assert_array_equal(host(k(x[one], x[other])), expected)


def test_channels_larger_than_the_cache(rng):
    n = 6_000_000
    pixels = rng.integers(0, 256, (n, 3), dtype=np.uint8)
    x = iruka.array(pixels)
    k = Kernel("uint8 r, uint8 g, uint8 b", "uint8 grey, uint8 most", "grey = (r + 2 * g + b) >> 2; most = max(r, g);")
    grey, most = k(*(x[:, c] for c in range(3)))
    wide = pixels.astype(np.uint16)
    np.testing.assert_array_equal(host(grey), (wide[:, 0] + 2 * wide[:, 1] + wide[:, 2]) >> 2)
    np.testing.assert_array_equal(host(most), pixels[:, :2].max(1))
