"""iruka.image.nnf with the method 'patchmatch': what its fields must be, and how near they are to exact ones."""

import hashlib

import numpy as np
import pytest

import iruka
from helpers import run_python
from iruka import image
from test_nearest_patches import BORDERS, all_distances, check, patches


def picture(height, width, seed, channels=(3,)):
    """Smooth waves with noise, as photographs have it."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    waves = 120 + 60 * np.sin(x / 17 + y / 29 + seed) + 50 * np.cos(y / 11 - seed)
    waves = waves[..., None] + 20 * np.arange(int(np.prod(channels)))
    return np.clip(waves + rng.normal(0, 6, waves.shape), 0, 255).astype(np.uint8).reshape(height, width, *channels)


def near(a, b, **options):
    found = image.nnf(a, b, method="patchmatch", **options)
    return iruka.asnumpy(found.field), iruka.asnumpy(found.distances)


def check_field(a, b, field, distances, k=1, mask=None, **options):
    """Distances are those of the patches, neighbours are different ones, allowed, and in order."""
    rows, columns = np.indices(a.shape[:2])
    every = all_distances(a, b, mask=mask, **options)
    field, distances = field.reshape(*a.shape[:2], k, 2), distances.reshape(*a.shape[:2], k)
    labels = field[..., 0] * b.shape[1] + field[..., 1]
    assert field.min() >= 0 and (field < b.shape[:2]).all()
    np.testing.assert_array_equal(distances, every[rows[..., None], columns[..., None], labels])
    assert (np.lexsort((labels, distances)) == np.arange(k)).all()
    assert all(len(set(row)) == k for row in labels.reshape(-1, k))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "bool", "uint16", "float32"])
@pytest.mark.parametrize("patch", [1, 2, 3, 7])
def test_fields_are_of_patches(dtype, patch):
    rng = np.random.default_rng([patch, len(dtype)])
    channels = [(), (1,), (2,), (3,), (5,)][rng.integers(5)]
    a, b = picture(21, 34, 1, channels), picture(33, 29, 2, channels)
    if dtype == "int8":
        a, b = a.view(np.int8), b.view(np.int8)
    elif dtype == "bool":
        a, b = a > 120, b > 120
    else:
        a, b = a.astype(dtype), b.astype(dtype)
    k, border = int(rng.integers(1, 9)), BORDERS[rng.integers(len(BORDERS))]
    mask = rng.random(b.shape[:2]) < 0.6
    field, distances = near(a, b, patch=patch, k=k, border=border, mask=mask, seed=5)
    check_field(a, b, field, distances, k, mask, patch=patch, border=border)


@pytest.mark.parametrize("patch", [1, 3, 4, 8, 20])
def test_of_few_patches_the_nearest_are_found(rng, patch):
    """One leaf has all of them."""
    for k in (1, 3):
        a, b = rng.integers(0, 256, (13, 40, 3), dtype=np.uint8), rng.integers(0, 256, (8, 11, 3), dtype=np.uint8)
        check(a, b, patch=patch, k=k, method="patchmatch")
    mask = np.zeros((20, 24), bool)
    mask[7, 3:9] = mask[15, 20:] = True
    a, b = (rng.integers(0, 256, (20, 24), dtype=np.uint8) for _ in range(2))
    check(a, b, patch=patch, k=8, mask=mask, method="patchmatch")


@pytest.mark.parametrize("patch, most", [(3, 1.1), (5, 1.1), (7, 1.1), (8, 1.1)])
def test_errors_are_near_those_of_exact_fields(patch, most):
    a, b = picture(160, 200, 1), picture(170, 190, 2)
    exact = iruka.asnumpy(image.nnf(a, b, patch).distances)
    field, distances = near(a, b, patch=patch)
    assert (distances >= exact).all()
    assert distances.mean() <= most * exact.mean()
    first, second = (patches(x, patch, "edge").astype(int) for x in (a, b))
    difference = first - second[field[..., 0], field[..., 1]]
    np.testing.assert_array_equal(distances, (difference**2).sum(-1))


def test_more_iterations_are_nearer():
    a, b = picture(160, 200, 1), picture(170, 190, 2)
    means = [near(a, b, iterations=count)[1].mean() for count in (0, 2, 8)]
    assert means[0] > means[1] > means[2]


def test_many_equal_patches(rng):
    """Leaves may have any number of them."""
    flat = np.full((90, 100, 3), 9, np.uint8)
    field, distances = near(flat, flat, k=4)
    assert (distances == 0).all()
    spotted = flat.copy()
    spotted[rng.integers(0, 90, 40), rng.integers(0, 100, 40)] = rng.integers(0, 256, (40, 3))
    field, distances = near(spotted, spotted)
    assert np.mean(distances == 0) > 0.98


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_a_seed_chooses_the_field(dtype):
    a, b = picture(90, 80, 1).astype(dtype), picture(100, 70, 2).astype(dtype)
    first, again, other = (near(a, b, seed=seed, iterations=1) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[0], again[0])
    assert (first[0] != other[0]).any()


PROGRAM = """
import hashlib, numpy as np, iruka
from iruka import image
a, b = (np.random.default_rng(seed).integers(0, 256, (60, 70, 3)).astype(np.uint8) // 16 * 16 for seed in (1, 2))
for patch in (3, 7):
    found = image.nnf(a, b, patch, "patchmatch", k=2, seed=3)
    print(hashlib.sha256(iruka.asnumpy(found.field).tobytes()).hexdigest())
"""


@pytest.mark.cpu_only
@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
def test_every_instruction_set_finds_the_same(level):
    expected = [hashlib.sha256(near(*_levels(), patch=patch, k=2, seed=3)[0].tobytes()).hexdigest() for patch in (3, 7)]
    assert run_python(PROGRAM, IRUKA_CPU_LEVEL=level).stdout.split() == expected


def _levels():
    return (np.random.default_rng(seed).integers(0, 256, (60, 70, 3)).astype(np.uint8) // 16 * 16 for seed in (1, 2))
