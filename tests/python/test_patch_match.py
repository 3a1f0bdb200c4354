"""examples/patch_match.py: kernel and NumPy against brute force in float64, and what a rebuilt picture must keep."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import iruka
from iruka import image

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
import patch_match  # noqa: E402
from patch_match import ExactPatchMatch  # noqa: E402


def brute_force(imgA, imgB, patch_size):
    """Distances in float64 over clamped indices: (heightA, widthA, heightB, widthB)."""
    A, B = (x.astype(np.float64).reshape(*x.shape[:2], -1) for x in (imgA, imgB))
    radius = patch_size // 2
    distance = np.zeros((*A.shape[:2], *B.shape[:2]))

    def shifted(x, dy, dx):
        rows = np.clip(np.arange(x.shape[0]) + dy, 0, x.shape[0] - 1)
        columns = np.clip(np.arange(x.shape[1]) + dx, 0, x.shape[1] - 1)
        return x[rows][:, columns]

    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            difference = shifted(A, dy, dx)[:, :, None, None] - shifted(B, dy, dx)[None, None]
            distance += (difference**2).sum(-1)
    return distance


def first_nearest(distance):
    """The field (x, y) that argmin gives: the first in reading order where several are nearest."""
    height, width = distance.shape[2:]
    index = distance.reshape(*distance.shape[:2], -1).argmin(-1)
    return np.stack([index % width, index // width], -1)


def pictures(rng, shapeA, shapeB, levels=256):
    return (rng.integers(0, levels, shape).astype(np.uint8) for shape in (shapeA, shapeB))


@pytest.mark.parametrize("patch_size", [1, 3, 5, 7])
@pytest.mark.parametrize("channels", [(), (1,), (3,), (4,)])
@pytest.mark.parametrize("levels", [256, 3], ids=["distinct", "many-ties"])
def test_kernel_numpy_and_brute_force_agree(rng, patch_size, channels, levels):
    imgA, imgB = pictures(rng, (9, 14, *channels), (11, 8, *channels), levels)
    want = first_nearest(brute_force(imgA, imgB, patch_size))
    match = ExactPatchMatch(patch_size, imgA, imgB)
    np.testing.assert_array_equal(match.get_nnf(), want)
    np.testing.assert_array_equal(match.get_nnf_numpy(), want)
    np.testing.assert_array_equal(match.get_nnf(strip=4), want)
    np.testing.assert_array_equal(match.get_nnf_numpy(rows=[7, 2]), want[[7, 2]])


def test_float_pictures_agree_where_rounding_cannot_matter(rng):
    imgA, imgB = rng.random((12, 10, 3)), rng.random((10, 13, 3))
    distance = brute_force(imgA, imgB, 3)
    nnf = ExactPatchMatch(3, imgA, imgB).get_nnf()
    chosen = np.take_along_axis(
        distance.reshape(12, 10, -1), (nnf[..., 1] * 13 + nnf[..., 0])[..., None].astype(np.int64), -1
    )[..., 0]
    np.testing.assert_allclose(chosen, distance.min((2, 3)), rtol=1e-5)


@pytest.mark.parametrize("patch_size", [1, 3, 5, 7])
@pytest.mark.parametrize("shape", [(13, 17), (13, 17, 3), (2, 3, 3), (1, 1)])
def test_a_picture_rebuilds_itself(rng, patch_size, shape):
    (img, _) = pictures(rng, shape, shape)
    match = ExactPatchMatch(patch_size, img, img)
    match.get_nnf()
    rebuilt = match.reconstruct()
    assert rebuilt.dtype == np.uint8
    np.testing.assert_array_equal(rebuilt, img)


def test_rebuilding_is_the_mean_of_the_patches_laid_over_a_pixel(rng):
    imgA, imgB = pictures(rng, (6, 7, 3), (8, 5, 3))
    match = ExactPatchMatch(3, imgA, imgB)
    nnf = match.get_nnf()
    want = np.empty((6, 7, 3))
    for y in range(6):
        for x in range(7):
            votes = []
            for py in range(max(0, y - 1), min(6, y + 2)):  # pixels whose patch covers (y, x)
                for px in range(max(0, x - 1), min(7, x + 2)):
                    by = np.clip(nnf[py, px, 1] + y - py, 0, 7)
                    bx = np.clip(nnf[py, px, 0] + x - px, 0, 4)
                    votes.append(imgB[by, bx].astype(float))
            want[y, x] = np.mean(votes, 0)
    assert np.abs(match.reconstruct().astype(float) - want).max() <= 0.5 + 1e-9


def test_a_constant_picture_gives_a_constant_picture(rng):
    imgA, _ = pictures(rng, (5, 6, 3), (1, 1))
    match = ExactPatchMatch(5, imgA, np.full((4, 4, 3), 77, np.uint8))
    match.get_nnf_numpy()
    np.testing.assert_array_equal(match.nnf, 0)
    np.testing.assert_array_equal(match.reconstruct(), np.full((5, 6, 3), 77))


def test_iruka_arrays_are_taken_and_progress_is_told(rng):
    imgA, imgB = pictures(rng, (10, 4), (5, 5))
    told = []
    match = ExactPatchMatch(3, iruka.asarray(imgA), iruka.asarray(imgB))
    match.get_nnf(strip=4, progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 10), (8, 10), (10, 10)]
    np.testing.assert_array_equal(match.nnf, first_nearest(brute_force(imgA, imgB, 3)))


@pytest.mark.parametrize("patch_size", [0, 2, -3])
def test_even_patch_sizes_are_refused(patch_size):
    with pytest.raises(ValueError, match=f"patch_size must be odd and positive, not {patch_size}"):
        ExactPatchMatch(patch_size, np.zeros((3, 3)), np.zeros((3, 3)))


@pytest.mark.parametrize("shapes", [((3, 3), (3, 3, 3)), ((3, 3, 3), (3, 3, 4)), ((3,), (3,)), ((0, 3), (3, 3))])
def test_pictures_that_do_not_go_together_are_refused(shapes):
    with pytest.raises(ValueError, match="the pictures must be"):
        ExactPatchMatch(3, np.zeros(shapes[0]), np.zeros(shapes[1]))


def test_reconstruct_asks_for_the_field_first():
    with pytest.raises(ValueError, match="call get_nnf"):
        ExactPatchMatch(3, np.zeros((3, 3)), np.zeros((3, 3))).reconstruct()


@pytest.mark.parametrize("extra", [[], ["--gray"], ["--numpy"], ["--patch-size", "5"]])
def test_command_line(tmp_path, rng, extra):
    imgA, imgB = pictures(rng, (12, 15, 3), (11, 10, 3))
    for name, img in (("a.png", imgA), ("b.png", imgB)):
        image.imwrite(tmp_path / name, iruka.asarray(img))
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "patch_match.py"), "a.png", "b.png", "out.png", *extra],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0 and run.stderr == ""
    assert run.stdout.startswith("elapsed time [s] : ")
    if "--gray" in extra:
        imgA, imgB = (iruka.asnumpy(image.imread(tmp_path / name, mode="gray")) for name in ("a.png", "b.png"))
    match = ExactPatchMatch(5 if "5" in extra else 3, imgA, imgB)
    match.get_nnf()
    rebuilt = iruka.asnumpy(image.imread(tmp_path / "out.png", mode="unchanged"))
    np.testing.assert_array_equal(rebuilt, match.reconstruct())


def test_a_wrong_patch_size_ends_with_one_line(tmp_path, rng):
    for name, img in zip(("a.png", "b.png"), pictures(rng, (4, 4, 3), (4, 4, 3))):
        image.imwrite(tmp_path / name, iruka.asarray(img))
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "patch_match.py"), "a.png", "b.png", "out.png", "--patch-size", "4"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert run.stderr == "ExactPatchMatch: patch_size must be odd and positive, not 4\n"
    assert not (tmp_path / "out.png").exists()


def test_the_kernel_tells_its_name():
    assert patch_match.nnf_kernel.name == "nnf_kernel"
