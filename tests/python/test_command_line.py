"""`python -m iruka`: its commands, their files, messages and exit statuses."""

import subprocess
import sys

import numpy as np
import pytest

import iruka
from iruka import image
from iruka.__main__ import main


@pytest.fixture
def pictures(tmp_path, rng):
    a, b = rng.integers(0, 256, (12, 15, 3), dtype=np.uint8), rng.integers(0, 256, (10, 9, 3), dtype=np.uint8)
    for name, picture in (("a.png", a), ("b.png", b)):
        image.imwrite(tmp_path / name, iruka.asarray(picture))
    return tmp_path, a, b


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "iruka", *map(str, arguments)], capture_output=True, text=True)


def test_without_a_command_it_lists_them():
    done = run()
    assert done.returncode == 0 and done.stderr == ""
    assert "match" in done.stdout and "rebuild picture A from the patches of picture B" in done.stdout


def test_match_writes_the_rebuilt_picture_and_the_field(pictures):
    folder, a, b = pictures
    done = run("match", folder / "a.png", folder / "b.png", "-o", folder / "out.png", "--patch", 4, "--border", "wrap")
    assert (done.returncode, done.stderr) == (0, "")
    found = image.nnf(a, b, 4, border="wrap")
    distances = iruka.asnumpy(found.distances)
    assert done.stdout == f"mean distance: {distances.mean():.6g}\n"
    rebuilt = iruka.asnumpy(image.imread(folder / "out.png"))
    np.testing.assert_array_equal(rebuilt, iruka.asnumpy(image.reconstruct(found.field, b, 4, "wrap")))
    drawn = iruka.asnumpy(image.imread(folder / "out-field.png"))
    field = iruka.asnumpy(found.field)
    np.testing.assert_array_equal(drawn[..., 0], field[..., 1] * 255 // 8)
    np.testing.assert_array_equal(drawn[..., 1], field[..., 0] * 255 // 9)
    assert (drawn[..., 2] == 0).all()


def test_match_takes_options(pictures, capsys):
    folder, a, b = pictures
    names = [str(folder / name) for name in ("a.png", "b.png")]
    options = ["--gray", "--method", "patchmatch", "--seed", "3", "--iterations", "2", "--window", "2", "-q"]
    out, field = folder / "grey.png", folder / "places.png"
    assert main(["match", *names, "-o", str(out), "--field", str(field), *options]) == 0
    assert capsys.readouterr() == ("", "")
    assert image.imread(out, mode="unchanged").shape == (12, 15)
    # Columns from 11 on have no pixel of b within two.
    drawn = iruka.asnumpy(image.imread(field))
    np.testing.assert_array_equal(drawn[:, 11:], np.broadcast_to([0, 0, 255], (12, 4, 3)))


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (["match", "a.png"], 2, "the following arguments are required"),
        (["match", "a.png", "b.png", "-o", "out.png", "--method", "fast"], 2, "invalid choice: 'fast'"),
        (["unknown"], 2, "invalid choice: 'unknown'"),
        (
            ["match", "a.png", "b.png", "-o", "out.png", "--patch", "0"],
            1,
            "iruka match: nnf: patch must be 1 to 1023, not 0",
        ),
        (["match", "missing.png", "b.png", "-o", "out.png"], 1, "iruka match: "),
        (["match", "a.png", "b.png", "-o", "out.xyz"], 1, "iruka match: imwrite: 'out.xyz': the format must be"),
    ],
)
def test_errors_go_to_standard_error(pictures, arguments, status, message):
    folder, _, _ = pictures
    done = subprocess.run([sys.executable, "-m", "iruka", *arguments], capture_output=True, text=True, cwd=folder)
    assert done.returncode == status and done.stdout == ""
    assert message in done.stderr and "Traceback" not in done.stderr
