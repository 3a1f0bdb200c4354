"""The programs that the documentation shows run, and print what it says they print."""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import itertools
import linecache
import pathlib
import pkgutil
import re

import numpy as np
import pytest
import safetensors.numpy as st
from scipy import ndimage

import iruka
from helpers import run_program as run
from iruka import image

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


def python_blocks(path):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / path).read_text(), re.MULTILINE | re.DOTALL)


def run_blocks(page, names):
    """Runs the page's Python programs one after the other; comments right below a statement are what it prints."""
    claims = 0
    for block in python_blocks(page):
        lines, file = block.splitlines(), f"<{page}>"
        linecache.cache[file] = len(block), None, block.splitlines(keepends=True), file  # for functions' texts
        for statement in ast.parse(block).body:
            below = itertools.takewhile(lambda line: line.startswith("# "), lines[statement.end_lineno :])
            claimed = [line.removeprefix("# ") for line in below]
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(ast.Module([statement], []), file, "exec"), names)
            if claimed:
                assert printed.getvalue().replace("cuda:0", "cpu").rstrip().splitlines() == claimed
                claims += 1
    return claims


def test_readme_prints_what_it_says():
    assert run_blocks("README.md", {}) == 3


def test_readmes_cpp_is_the_cmake_projects():
    (block,) = re.findall(r"^```cpp\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    program = [line.strip() for line in (ROOT / "examples" / "cmake_project" / "main.cpp").read_text().splitlines()]
    assert all(line in program for line in block.splitlines())


def pages_with_programs():
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")]
    return [page for page in sorted(pages) if python_blocks(page)]


def test_pages_have_programs():
    assert set(pages_with_programs()) >= {"docs/kernel_language.md", "docs/images.md"}


@pytest.mark.parametrize("page", pages_with_programs())
def test_programs_of_the_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture = np.zeros((8, 9, 3), np.uint8)
    image.imwrite("photo.jpg", iruka.array(picture))
    image.imwrite("scan.png", iruka.array(picture))
    names = {"data": image.imencode("png", iruka.array(picture))}
    if page == "docs/networks.md":
        pytest.importorskip("onnx")
    claims = run_blocks(page, names)
    assert claims >= 10 or page != "docs/networks.md"


class Finder(doctest.DocTestFinder):
    def _find_lineno(self, obj, source_lines):
        """No line, whose search fails in Python 3.12.3 where a function wraps an operator of a C type."""


def docstrings():
    """The docstrings with examples: of the modules' functions, classes and methods, and of the classes of C++."""
    finder, found = Finder(), {}
    names = [info.name for info in pkgutil.walk_packages(iruka.__path__, "iruka.") if info.name != "iruka._core"]
    for module in map(importlib.import_module, ["iruka", *names]):
        found |= {test.name: test for test in finder.find(module) if test.examples}
    for name, thing in inspect.getmembers(iruka._core, inspect.isclass):
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing) or "", {}, f"iruka._core.{name}", None, 0)
        found |= {test.name: test} if test.examples else {}
    return found


DOCSTRINGS = docstrings()
OF_GPUS = {"iruka.cuda._pinned.alloc_pinned_memory"}


def test_docstrings_have_examples():
    assert (
        len(DOCSTRINGS) > 60
        and {"iruka", "iruka._core.ReductionKernel", "iruka._numpy.indexing.choose"} <= DOCSTRINGS.keys()
    )


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", sorted(DOCSTRINGS))
def test_examples_of_a_docstring(name):
    if name in OF_GPUS and not iruka.cuda.is_available():
        pytest.skip("needs a GPU")
    test, said = DOCSTRINGS[name], io.StringIO()
    test.globs = {"iruka": iruka, "numpy": np}
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test, out=said.write)
    test.globs = {}  # which would be reported as leaks
    assert not said.getvalue(), said.getvalue()


def test_kernel_of_the_language_page():
    """docs/kernel_language.md's blur against a mean of 3 by 3 in NumPy."""
    names = {}
    exec(python_blocks("docs/kernel_language.md")[0], names)
    picture = np.random.default_rng(3).random((7, 9)).astype("float32")
    out = iruka.empty((7, 9), "float32")
    names["blur"](iruka.array(picture), 9, 7, out)
    total, count = np.zeros((7, 9)), np.zeros((7, 9))
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            here = np.s_[max(0, -dy) : 7 - max(0, dy), max(0, -dx) : 9 - max(0, dx)]
            there = np.s_[max(0, dy) : 7 - max(0, -dy), max(0, dx) : 9 - max(0, -dx)]
            total[here] += picture[there]
            count[here] += 1
    np.testing.assert_allclose(iruka.asnumpy(out), total / count, rtol=1e-5)


def test_every_example_is_run_here():
    assert PROGRAMS == [
        "demo.py",
        "inpaint.py",
        "patch_match.py",
        "tile_network.py",
        "torch_network.py",
        "train_pipeline.py",
        "volume_network.py",
        "voxel_network.py",
    ]


def test_patch_match(tmp_path, rng):
    for name in ("a.png", "b.png"):
        image.imwrite(tmp_path / name, rng.integers(0, 256, (12, 14, 3)).astype("uint8"))
    done = run(ROOT / "examples" / "patch_match.py", "a.png", "a.png", "out.png", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    picture = [iruka.asnumpy(image.imread(tmp_path / name)) for name in ("a.png", "out.png")]
    np.testing.assert_array_equal(*picture)


def test_inpaint(tmp_path, rng):
    """A hole in a texture that repeats is filled by the texture; the rest stays as it is."""
    texture = np.tile(rng.integers(0, 256, (8, 8, 3)).astype("uint8"), (8, 9, 1))
    image.imwrite(tmp_path / "texture.png", texture)
    hole = np.zeros((64, 72), bool)
    hole[20:32, 30:44] = True
    image.imwrite(tmp_path / "hole.png", hole * np.uint8(255))
    options = ("texture.png", "out.png", "--patch-size", 4)
    for place in (("--hole", 20, 30, 12, 14), ("--mask", "hole.png")):
        done = run(ROOT / "examples" / "inpaint.py", *options, *place, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        filled = iruka.asnumpy(image.imread(tmp_path / "out.png"))
        np.testing.assert_array_equal(filled[~hole], texture[~hole])
        assert np.mean(filled[hole] == texture[hole]) > 0.95
    done = run(ROOT / "examples" / "inpaint.py", *options, "--hole", 0, 0, 64, 72, folder=tmp_path)
    assert done.returncode != 0 and "the hole leaves no patch of 4 x 4 pixels" in done.stderr


def test_demo(tmp_path):
    pytest.importorskip("skimage")
    done = run(ROOT / "examples" / "demo.py", "--patch-size", 1, "--output", tmp_path / "demo.png", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "(100.00 %)" in done.stdout and image.imread(tmp_path / "demo.png").ndim == 3


def test_voxel_network(tmp_path, rng):
    shapes = {"0.weight": (6, 5), "0.bias": 6, "2.weight": (3, 6), "2.bias": 3}
    layers = {name: rng.normal(size=shape).astype("float32") for name, shape in shapes.items()}
    st.save_file(layers, tmp_path / "layers.safetensors")
    st.save_file({"w": np.ones((2, 3))}, tmp_path / "other.safetensors")
    done = run(ROOT / "examples" / "voxel_network.py", "--weights", "other.safetensors", folder=tmp_path)
    assert done.returncode == 1 and "a weight and a bias of each of two linear layers" in done.stderr
    assert "Traceback" not in done.stderr
    for options in ((), ("--weights", "layers.safetensors")):
        done = run(ROOT / "examples" / "voxel_network.py", "--voxels", 5, 6, 7, *options, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr
        assert float(re.search(r"largest difference: +(\S+)", done.stdout)[1]) < 1e-4


def test_tile_network(tmp_path, rng):
    """Tiles of any size give what the whole picture gives: blurred details, as SciPy's windows have them."""
    pixels = rng.integers(0, 256, (37, 50, 3)).astype("uint8")
    image.imwrite(tmp_path / "photo.png", pixels)
    options = ("--picture", "photo.png", "--tile", 16, "--batch", 3)
    done = run(ROOT / "examples" / "tile_network.py", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"largest difference from the whole picture: (\S+)", done.stdout)[1]) < 1e-6
    left, right = np.split(iruka.asnumpy(image.imread(tmp_path / "tiles.png")).astype(float), 2, axis=1)
    np.testing.assert_array_equal(left, pixels)
    line = np.exp(-(np.arange(-2.0, 3) ** 2) / 2)
    blurred = ndimage.correlate(pixels / 255, (np.outer(line, line) / line.sum() ** 2)[..., None], mode="nearest")
    details = pixels / 255 - blurred
    expected = blurred + 2 * np.sign(details) * np.maximum(abs(details) - 0.015, 0)
    assert abs(right - np.clip(expected, 0, 1) * 255).max() <= 0.51


def test_torch_network(tmp_path):
    pytest.importorskip("torch")
    done = run(ROOT / "examples" / "torch_network.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[64, 64, 64, 4]" in done.stdout


def test_train_pipeline(tmp_path, rng):
    """Bright and dark pictures are told apart; a damaged file is named. Without PyTorch the program says so."""
    program = ROOT / "examples" / "train_pipeline.py"
    assert "height and width for the network, in pixels" in " ".join(
        run(program, "--help", folder=tmp_path).stdout.split()
    )
    try:
        import torch  # noqa: F401
    except ImportError:
        done = run(program, tmp_path, folder=tmp_path)
        assert done.returncode == 1 and done.stderr.splitlines() == [
            "train_pipeline.py trains with PyTorch, which is not installed: pip install torch"
        ]
        return
    names = []
    for k in range(16):
        names.append(f"{k}.png {k % 2}")
        image.imwrite(tmp_path / f"{k}.png", rng.integers(150 * (k % 2), 90 + 150 * (k % 2), (60, 70, 3), np.uint8))
    (tmp_path / "15.png").write_bytes(b"no picture")
    (tmp_path / "file_list.txt").write_text("\n".join(names))
    done = run(program, tmp_path, "--size", 40, "--epochs", 8, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in re.findall(r"loss (\S+),", done.stdout)]
    assert len(losses) == 8 and losses[-1] < 0.5 * losses[0]
    assert "120 samples, 8 failed" in done.stdout and "15.png" in done.stdout


def test_volume_network(tmp_path, rng):
    """Slices through a network of weights in a file, and a picture whose kernel calls a network."""
    shapes = {"0.weight": (7, 5), "0.bias": 7, "2.weight": (2, 7), "2.bias": 2}
    st.save_file(
        {k: rng.normal(size=shape).astype("float32") for k, shape in shapes.items()}, tmp_path / "w.safetensors"
    )
    for options in ((), ("--weights", "w.safetensors")):
        done = run(ROOT / "examples" / "volume_network.py", "--size", 8, *options, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "one kernel" in done.stdout and "8^3 voxels" in done.stdout
        assert image.imread(tmp_path / "volume_slices.png").shape == (8, 24, 3)
        picture = iruka.asnumpy(image.imread(tmp_path / "implicit_picture.png"))
        assert picture.shape == (32, 32, 3) and picture.std() > 1
