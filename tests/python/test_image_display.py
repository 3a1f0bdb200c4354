"""Pictures in notebooks, viewers and contact sheets."""

import io
import os
import subprocess
import sys
import types

import numpy as np
import pytest
from PIL import Image

import iruka
from iruka import image


@pytest.fixture(autouse=True)
def headless(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def decoded(data):
    return np.array(Image.open(io.BytesIO(data)))


def test_a_picture_is_a_png_in_notebooks(rng):
    rgb = rng.integers(0, 256, (9, 14, 3)).astype(np.uint8)
    np.testing.assert_array_equal(decoded(image.Picture(rgb)._repr_png_()), rgb)
    np.testing.assert_array_equal(decoded(image.Picture(iruka.asarray(rgb))._repr_png_()), rgb)
    np.testing.assert_array_equal(decoded(image.Picture(rgb[..., 0])._repr_png_()), rgb[..., 0])
    np.testing.assert_array_equal(decoded(image.Picture(rgb.transpose(2, 0, 1), "CHW")._repr_png_()), rgb)
    real = (rgb / 255).astype(np.float32)
    np.testing.assert_array_equal(decoded(image.Picture(real)._repr_png_()), rgb)
    np.testing.assert_array_equal(decoded(image.Picture(rgb.astype(np.uint16) * 257)._repr_png_()), rgb)
    outside = np.array([[-1, 0, 0.5, 1, 7, np.nan]], np.float32)
    np.testing.assert_array_equal(decoded(image.Picture(outside)._repr_png_()), [[0, 0, 128, 255, 255, 0]])
    np.testing.assert_array_equal(decoded(image.Picture(rgb[..., 0] > 99)._repr_png_()), (rgb[..., 0] > 99) * 255)
    assert "uint8 (9, 14, 3)" in repr(image.Picture(rgb))
    with pytest.raises(TypeError):
        image.Picture(rgb.astype(np.int64))._repr_png_()


def test_show_writes_a_file_without_a_display(rng, capsys, tmp_path):
    rgb = rng.integers(0, 256, (9, 14, 3)).astype(np.uint8)
    name = image.show(rgb)
    try:
        np.testing.assert_array_equal(decoded(open(name, "rb").read()), rgb)
        assert name in capsys.readouterr().out
    finally:
        os.remove(name)
    path = tmp_path / "shown.png"
    assert image.show([rgb, rgb[:3]], path=path) == str(path)
    np.testing.assert_array_equal(decoded(path.read_bytes()), iruka.asnumpy(image.contact_sheet([rgb, rgb[:3]])))
    with pytest.raises(TypeError, match="str"):
        image.show("photo.jpg")


@pytest.mark.skipif(sys.platform != "linux", reason="desktops differ")
def test_show_opens_the_viewer_where_there_is_a_display(rng, monkeypatch, tmp_path, capsys):
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: opened.append(command))
    path = str(tmp_path / "shown.png")
    assert image.show(np.zeros((3, 4), np.uint8), path=path) == path
    assert opened == [["/usr/bin/xdg-open", path]] and capsys.readouterr().out == ""

    def broken(command, **options):
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(subprocess, "Popen", broken)
    assert image.show(np.zeros((3, 4), np.uint8), path=path) == path
    assert path in capsys.readouterr().out


def test_show_displays_in_notebooks(rng, monkeypatch):
    shown = []
    shell = types.SimpleNamespace(kernel=object())
    display = types.ModuleType("IPython.display")
    display.Image = lambda data, format: data
    display.display = shown.append
    ipython = types.ModuleType("IPython")
    ipython.get_ipython, ipython.display = lambda: shell, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    rgb = rng.integers(0, 256, (9, 14, 3)).astype(np.uint8)
    assert image.show(rgb) is None
    np.testing.assert_array_equal(decoded(shown[0]), rgb)


def test_contact_sheets(rng):
    pictures = [rng.integers(0, 256, (h, w, 3)).astype(np.uint8) for h, w in ((10, 20), (6, 8), (10, 20))]
    sheet = iruka.asnumpy(image.contact_sheet(pictures, columns=2, gap=3, background=40))
    assert sheet.shape == (2 * 10 + 9, 2 * 20 + 9, 3)
    want = np.full_like(sheet, 40)
    want[3:13, 3:23] = pictures[0]
    want[5:11, 32:40] = pictures[1]
    want[16:26, 3:23] = pictures[2]
    np.testing.assert_array_equal(sheet, want)
    batch = np.stack([pictures[0]] * 5)
    assert image.contact_sheet(batch, gap=0).shape == (20, 60, 3)
    grey = [each[..., 0] for each in pictures]
    assert image.contact_sheet(grey, 3, gap=1).shape == (12, 64)
    mixed = iruka.asnumpy(image.contact_sheet([pictures[0], grey[0]], 2, gap=0))
    np.testing.assert_array_equal(mixed[:, 20:], np.repeat(grey[0][..., None], 3, 2))


def test_contact_sheets_shrink_and_skip(rng):
    large = rng.integers(0, 256, (400, 100, 3)).astype(np.uint8)
    sheet = iruka.asnumpy(image.contact_sheet([large, ValueError("damaged")], 2, (50, 50), gap=0))
    want = np.full((50, 100, 3), 255, np.uint8)
    small = iruka.asnumpy(image.resize(large, (50, 50), fit="not_larger"))
    assert small.shape == (50, 13, 3)
    want[:, 18:31] = small
    np.testing.assert_array_equal(sheet, want)
    assert image.contact_sheet([large]).shape == (264, 108, 3)
    alpha = rng.integers(0, 256, (5, 6, 4)).astype(np.uint8)
    np.testing.assert_array_equal(iruka.asnumpy(image.contact_sheet([alpha], gap=0)), alpha[..., :3])
    planes = (large.transpose(2, 0, 1)[:, :20, :20] / 255).astype(np.float32)
    np.testing.assert_array_equal(iruka.asnumpy(image.contact_sheet([planes], gap=0, layout="CHW")), large[:20, :20])
    for call in (
        lambda: image.contact_sheet([]),
        lambda: image.contact_sheet([large], 0),
        lambda: image.contact_sheet([large], gap=-1),
        lambda: image.contact_sheet([large], background=300),
        lambda: image.contact_sheet([large], size=(0, 3)),
        lambda: image.contact_sheet([np.zeros((4, 4, 7), np.uint8)]),
    ):
        with pytest.raises(ValueError):
            call()
