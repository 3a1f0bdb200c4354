"""Resizes of images on a CPU, against sums along each axis in float64."""

import numpy as np
import pytest

import iruka
from iruka import nn


def cubic(distance, a=-0.75):
    d = abs(distance)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def matrix(size, out, mode, aligned):
    """The weights of an axis's elements, a row for each of the result."""
    made = np.zeros((out, size))
    for to in range(out):
        if mode == "nearest":
            made[to, min(int(np.floor(to * size / out)), size - 1)] = 1
            continue
        at = to * (size - 1) / max(out - 1, 1) if aligned else (to + 0.5) * size / out - 0.5
        first = int(np.floor(at))
        for k in range(first - 1, first + 3):
            weight = cubic(at - k) if mode == "bicubic" else max(0.0, 1 - abs(at - k))
            made[to, min(max(k, 0), size - 1)] += weight
    return made


SIZES = [
    ((2, 5, 40, 50), (80, 100)), ((1, 3, 41, 30), (57, 91)), ((1, 3, 41, 30), (20, 15)), ((1, 2, 30, 31), (15, 62)),
    ((1, 2, 1, 7), (5, 9)), ((3, 1, 9, 1), (4, 6)), ((1, 2, 8, 300), (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize(("shape", "size"), SIZES)
def test_axes_are_sums(shape, size, mode, aligned):
    if aligned and mode == "nearest":
        pytest.skip("nearest has no such places")
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    rows, columns = (matrix(a, b, mode, aligned) for a, b in zip(shape[2:], size))
    want = np.einsum("yh,nchw,xw->ncyx", rows, x.astype(float), columns)
    layer = nn.Upsample(size=size, mode=mode, align_corners=aligned or None)
    for given in (x, np.asfortranarray(x), np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)):
        made = iruka.asnumpy(layer(iruka.asarray(given).to_device("cpu")))
        np.testing.assert_allclose(made, want, rtol=0, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("dtype", ["float64", "float16", "uint8", "int64"])
def test_nearest_keeps_numbers(dtype):
    x = (np.random.default_rng(1).normal(size=(1, 3, 50, 60)) * 50).astype(dtype)
    made = nn.Upsample(scale_factor=3)(iruka.asarray(x).to_device("cpu"))
    np.testing.assert_array_equal(iruka.asnumpy(made), x.repeat(3, 2).repeat(3, 3))
