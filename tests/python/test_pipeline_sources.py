"""Sources of a pipeline: folders, lists of files and arrays, and what every source does. Expected: os.walk and NumPy."""

import concurrent.futures
import mmap
import os
import pathlib
import pickle

import numpy as np
import pytest

import iruka
from iruka import errors
from iruka._pipeline.sources import Source, arrays, dataset, file_list, files, folder, make_source, npy, remote

ENDINGS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")  # torchvision's


def touch(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"picture")


def image_folder(root):
    """What torchvision's ImageFolder lists (make_dataset of torchvision/datasets/folder.py)."""
    classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    found = []
    for label, name in enumerate(classes):
        for folder_, _, names in sorted(os.walk(os.path.join(root, name), followlinks=True)):
            found += [(os.path.join(folder_, each), label) for each in sorted(names) if each.lower().endswith(ENDINGS)]
    return classes, found


@pytest.fixture
def pictures(tmp_path):
    touch(tmp_path, "dog/b.jpg", "dog/a.JPEG", "dog/notes.txt", "cat/10.png", "cat/9.png", "cat/x/0.jpg", "loose.jpg")
    touch(tmp_path, "cat/x-y/1.jpg", "cat/x/z/2.jpg", "Zebra/ä.png", "Zebra/.hidden.png", "empty/readme.md")
    return tmp_path


def test_folder_is_torchvisions(pictures):
    source = folder(pictures)
    classes, found = image_folder(pictures)
    assert source.classes == classes == ["Zebra", "cat", "dog", "empty"]
    assert source.fields == ("picture", "label") and len(source) == len(found) == 9
    assert [(str(path), label) for path, label in source] == found
    assert [source.describe(k) for k in range(9)] == [path for path, _ in found]
    assert all(isinstance(path, os.PathLike) for path, _ in source)


def test_folder_takes_extensions(pictures):
    assert [path.name for path, _ in folder(pictures, ["PNG"])] == [".hidden.png", "ä.png", "10.png", "9.png"]
    assert [path.name for path, _ in folder(str(pictures), ".txt")] == ["notes.txt"]
    for wrong in ([], [""], "", [3]):
        with pytest.raises(ValueError, match="folder: extensions are names such as 'jpg'"):
            folder(pictures, wrong)


def test_folder_without_labels_takes_all_pictures(pictures):
    source = folder(pictures, labels=False)
    below = [path for path in pictures.rglob("*") if path.name.lower().endswith(ENDINGS)]
    assert source.fields == ("picture",) and source.classes is None
    assert {path for (path,) in source} == set(below) and len(source) == len(below) == 10


def test_folder_follows_links_once(pictures):
    (pictures / "linked").symlink_to(pictures / "dog")
    (pictures / "dog" / "self").symlink_to(pictures / "dog")
    (pictures / "dog" / "up").symlink_to(pictures)
    (pictures / "dog" / "other").symlink_to(pictures / "empty")
    source = folder(pictures)
    assert source.classes == ["Zebra", "cat", "dog", "empty", "linked"]
    assert [label for _, label in source] == [0] * 2 + [1] * 5 + [2] * 2 + [4] * 2


def test_folders_that_are_none(pictures, tmp_path):
    with pytest.raises(FileNotFoundError, match="folder: cannot read '.*nowhere': No such file") as caught:
        folder(tmp_path / "nowhere")
    assert isinstance(caught.value, errors.FileNotFoundError) and caught.value.filename.endswith("nowhere")
    with pytest.raises(NotADirectoryError, match="folder: cannot read '.*loose.jpg'"):
        folder(pictures / "loose.jpg")
    with pytest.raises(
        ValueError, match="'.*empty' has no folders with pictures in them.* labels=False takes pictures without"
    ):
        folder(pictures / "empty")
    with pytest.raises(ValueError, match="folder: '.*empty' has no files of the extensions jpg, png"):
        folder(pictures / "empty", ["jpg", ".png"], labels=False)


def test_files_with_and_without_labels():
    source = files(["a.jpg", pathlib.Path("b/c.jpg")], [3, -1])
    assert source.fields == ("picture", "label") and len(source) == 2
    assert source[1] == (pathlib.Path("b/c.jpg"), -1) == source[-1] and source.describe(1) == "b/c.jpg"
    assert files(iter(["a.jpg"]))[0] == (pathlib.Path("a.jpg"),)
    targets = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(files(["a", "b"], targets)[1][1], targets[1])


def test_wrong_files():
    with pytest.raises(ValueError, match="files: there are no files"):
        files([])
    with pytest.raises(ValueError, match=r"files: 2 files, and labels of the shape \(3,\)"):
        files(["a", "b"], [1, 2, 3])
    with pytest.raises(TypeError, match="files: labels are numbers, not <U3"):
        files(["a"], ["cat"])
    with pytest.raises(TypeError, match="files: the files are a list of paths, not str"):
        files("a.jpg")
    with pytest.raises(TypeError, match="files: the files are a list of paths, not int"):
        files(3)


def test_file_list(tmp_path):
    listing = tmp_path / "list.txt"
    listing.write_text("a.jpg 0\n\n  my cat.jpg\t12 \n/else/where.png -3", encoding="utf-8")
    source = file_list(listing)
    expected = [(tmp_path / "a.jpg", 0), (tmp_path / "my cat.jpg", 12), (pathlib.Path("/else/where.png"), -3)]
    assert list(source) == expected and source.fields == ("picture", "label")
    assert file_list(str(listing), "data")[0] == (pathlib.Path("data/a.jpg"), 0)
    listing = tmp_path / "list.csv"
    listing.write_text("a.jpg,0\nmy, cat 7.jpg , 12\nb 3.jpg,+1")
    assert list(make_source(str(listing))) == [
        (tmp_path / "a.jpg", 0), (tmp_path / "my, cat 7.jpg", 12), (tmp_path / "b 3.jpg", 1)
    ]  # fmt: skip
    listing.write_bytes(b"\xef\xbb\xbfb\xff 1.jpg\r\nc.jpg\r\n")
    assert [os.fsencode(path.name) for (path,) in file_list(listing, labels=False)] == [b"b\xff 1.jpg", b"c.jpg"]


@pytest.mark.parametrize("line", ["b.jpg", "b.jpg one", "7", "b.jpg 1.5", "b.jpg 1_0"])
def test_lines_that_are_no_name_and_label(tmp_path, line):
    (tmp_path / "list.txt").write_text(f"a.jpg 0\n{line}\n")
    with pytest.raises(ValueError, match=f"file_list: line 2 of '.*list.txt' is no name and integer: '{line}'"):
        file_list(tmp_path / "list.txt")


def test_labels_beyond_64_bits(tmp_path):
    (tmp_path / "list.txt").write_text(f"a.jpg {2**63 - 1}\nb.jpg {2**63}\n")
    with pytest.raises(ValueError, match=f"line 2 of '.*list.txt' has a label beyond 64 bits, {2**63}"):
        file_list(tmp_path / "list.txt")


def test_lists_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="file_list: cannot read '.*nothing.txt'"):
        file_list(tmp_path / "nothing.txt")
    (tmp_path / "list.txt").write_text("\n \n")
    with pytest.raises(ValueError, match="file_list: '.*list.txt' lists no files"):
        file_list(tmp_path / "list.txt")


def test_arrays(rng):
    pixels, labels = rng.integers(0, 256, (5, 4, 3)), np.arange(5)
    source = arrays(pixels, labels)
    assert source.fields == ("value_0", "value_1") and len(source) == 5
    np.testing.assert_array_equal(source[3][0], pixels[3])
    assert source[-1][1] == 4 and np.shares_memory(source[2][0], pixels)
    assert arrays(pixels).fields == ("value",)
    for named in (arrays({"picture": pixels, "label": labels}), arrays(picture=pixels, label=labels)):
        assert named.fields == ("picture", "label") and named[1][1] == 1


def test_arrays_of_other_libraries():
    values = np.arange(12, dtype="float32").reshape(4, 3)
    source = arrays(iruka.array(values), values.tolist(), ["one", "two", "three", "four"])
    assert isinstance(source[0][0], iruka.ndarray) and source[2][2] == "three"
    np.testing.assert_array_equal(iruka.asnumpy(source[2][0]), values[2])
    np.testing.assert_array_equal(source[2][1], values[2])


def test_arrays_of_torch():
    torch = pytest.importorskip("torch")
    values = torch.arange(12, dtype=torch.bfloat16).reshape(4, 3)
    np.testing.assert_array_equal(iruka.asnumpy(arrays(values)[2][0]).astype("float32"), [6, 7, 8])


def test_wrong_arrays():
    with pytest.raises(ValueError, match=r"arrays: the arrays have different numbers of samples \(a: 2, b: 3\)"):
        arrays(a=np.zeros(2), b=np.zeros(3))
    with pytest.raises(ValueError, match="arrays: the arrays have no samples"):
        arrays(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="arrays: value has no axis"):
        arrays(np.float32(3))
    with pytest.raises(TypeError, match="arrays: value.* of dtype object, which has no numbers"):
        arrays(np.array([None, {}]))
    with pytest.raises(TypeError, match="arrays: value.* of dtype datetime64"):
        arrays(np.zeros(3, "datetime64[s]"))
    for call in (lambda: arrays(), lambda: arrays(np.zeros(2), b=np.zeros(2))):
        with pytest.raises(TypeError, match="arrays: takes arrays, one dict"):
            call()


def test_an_npy_file_is_mapped(tmp_path, rng):
    values = rng.normal(size=(6, 5)).astype("float32")
    np.save(tmp_path / "all.npy", values)
    for source in (npy(tmp_path / "all.npy"), arrays(np.load(tmp_path / "all.npy", mmap_mode="r"))):
        assert source.fields == ("value",) and len(source) == 6
        base = source[4][0]
        while isinstance(base, np.ndarray):
            base = base.base
        assert isinstance(base, mmap.mmap)
        np.testing.assert_array_equal(source[4][0], values[4])
    assert len(pickle.dumps(npy(tmp_path / "all.npy"))) < 500  # the path, not the numbers
    assert npy(tmp_path / "all.npy").describe(2).endswith("all.npy: 2")


def test_npy_files_are_samples(tmp_path, rng):
    values = {name: rng.normal(size=shape) for name, shape in {"b": (3,), "a": (2, 2), "sub/c": ()}.items()}
    (tmp_path / "sub").mkdir()
    for name, value in values.items():
        np.save(tmp_path / f"{name}.npy", np.asfortranarray(value))
    source = npy(tmp_path)
    assert [os.path.relpath(path, tmp_path) for path in source.paths] == ["a.npy", "b.npy", "sub/c.npy"]
    for (made,), name in zip(source, ("a", "b", "sub/c")):
        np.testing.assert_array_equal(made, values[name])
    np.testing.assert_array_equal(npy([tmp_path / "b.npy"])[0][0], values["b"])
    assert source.describe(1).endswith("b.npy")


def test_wrong_npy_files(tmp_path):
    np.save(tmp_path / "whole.npy", np.zeros((4, 4)))
    data = (tmp_path / "whole.npy").read_bytes()
    np.savez(tmp_path / "archive.npy.npz", np.zeros(3))
    os.rename(tmp_path / "archive.npy.npz", tmp_path / "archive.npy")
    np.save(tmp_path / "objects.npy", np.array([{}, None]))
    for name, content in {"cut": data[:-8], "header": data[:20], "zero": b"", "text": b"no array at all"}.items():
        (tmp_path / f"{name}.npy").write_bytes(content)
    for name in ("cut", "header", "zero", "text", "objects", "archive"):
        for read in (lambda path: npy(path)[0], lambda path: npy([path])[0]):
            with pytest.raises(ValueError, match=f"npy: '.*{name}.npy' is"):
                read(tmp_path / f"{name}.npy")
    np.save(tmp_path / "number.npy", np.float32(3))
    with pytest.raises(ValueError, match=r"npy: '.*number.npy' has the shape \(\), without samples"):
        npy(tmp_path / "number.npy")
    with pytest.raises(FileNotFoundError, match="npy: cannot read '.*nothing.npy': No such file"):
        npy(tmp_path / "nothing.npy")
    (tmp_path / "folder").mkdir()
    for empty in ([], tmp_path / "folder"):
        with pytest.raises(ValueError, match="npy: there are no files"):
            npy(empty)


@pytest.mark.parametrize("index", [5, -6, 2**63, -(2**70), 10**40])
def test_indices_out_of_bounds(index):
    source = arrays(np.zeros((5, 2)))
    with pytest.raises(IndexError, match=f"arrays: index {index} of a source of 5 samples"):
        source[index]


@pytest.mark.parametrize("index", ["1", 1.0, slice(2), None])
def test_indices_of_other_types(index):
    with pytest.raises(TypeError, match=f"files: the index of a sample is an integer, not {type(index).__name__}"):
        files(["a"])[index]


def test_map_makes_other_samples():
    source = arrays(a=np.arange(4), b=np.arange(4) * 10)
    total = source.map(lambda a, b: a + b, "total")
    assert total.fields == ("total",) and len(total) == 4 and total[3] == (33,)
    assert source.map(lambda a, b: (b, a))[3] == (30, 3) and source.map(lambda a, b: (b, a)).fields == ("a", "b")
    assert files(["a.jpg"]).map(lambda path: path.name).describe(0) == "a.jpg"
    with pytest.raises(ValueError, match="map: sample 2: 1 values, where the fields are a, b"):
        source.map(lambda a, b: a)[2]
    with pytest.raises(ValueError, match="map: fields are one name or more, each once"):
        source.map(lambda a, b: a, ("x", "x"))


class Squares(Source):
    fields = ("number", "square")

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index, index * index


def test_a_source_of_ones_own():
    assert make_source(source := Squares()) is source
    assert source.describe(2) == "sample 2" and repr(source) == "<Squares: 3 samples of number, square>"
    with pytest.raises(TypeError):
        Source()


def test_sources_are_pickled(pictures):
    np.save(pictures / "all.npy", np.arange(3))
    for source in (folder(pictures), arrays(np.arange(3)), npy(pictures / "all.npy"), dataset([1, 2, 3]), Squares()):
        again = pickle.loads(pickle.dumps(source))
        assert type(again) is type(source) and len(again) == len(source) and again[1] == source[1]


def test_many_threads(rng):
    values = rng.normal(size=(200, 7))
    source = arrays(values)
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for made, expected in zip(threads.map(source.__getitem__, range(200)), values):
            np.testing.assert_array_equal(made[0], expected)


def test_make_source(pictures, tmp_path):
    np.save(pictures / "all.npy", np.arange(3))
    (pictures / "list.txt").write_text("a.jpg 0")
    classes = {
        "Files": [pictures, str(pictures), pictures / "list.txt", ["a.jpg"], ("a.jpg", pathlib.Path("b.jpg"))],
        "ArrayFile": [pictures / "all.npy"],
        "Arrays": [np.zeros(3), iruka.zeros(3), (np.zeros(3), iruka.zeros(3)), {"x": np.zeros(3)}],
        "Dataset": [[1, 2], [(1, 2)], range(3)],
        "Stream": [iter([1]), {1, 2}, lambda: iter([1])],
    }
    for name, things in classes.items():
        for thing in things:
            assert type(make_source(thing)).__name__ == name, thing
    with pytest.raises(FileNotFoundError, match="Pipeline: there is no folder, list .* '.*nothing'"):
        make_source(tmp_path / "nothing")
    with pytest.raises(NotADirectoryError, match="Pipeline: '.*loose.jpg' is one file"):
        make_source(pictures / "loose.jpg")
    for wrong in (3, None, b"bytes", Squares):
        with pytest.raises(TypeError, match=f"Pipeline: {type(wrong).__name__} is no source"):
            make_source(wrong)


def test_remote_files_without_fsspec(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(ImportError, match="remote: 's3://bucket/a.jpg' needs the package fsspec"):
        remote(["s3://bucket/a.jpg"])


def test_remote_files(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for name in ("b", "a", "c"):
        memory.pipe(f"/iruka-test/{name}.jpg", name.encode())
    (tmp_path / "d.jpg").write_bytes(b"d")
    source = remote(["memory://iruka-test/b.jpg", f"file://{tmp_path}/d.jpg", str(tmp_path / "d.jpg")], [5, 6, 7])
    assert list(source) == [(b"b", 5), (b"d", 6), (b"d", 7)] and source.fields == ("picture", "label")
    assert source.describe(0) == "memory://iruka-test/b.jpg"
    for pattern in ("memory://iruka-test/*.jpg", "memory://iruka-test/{a,b,c}.jpg"):
        assert list(remote(pattern)) == [(b"a",), (b"b",), (b"c",)]
    again = pickle.loads(pickle.dumps(source))
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert list(threads.map(again.__getitem__, range(3))) == list(source)
    memory.rm("/iruka-test", recursive=True)


def test_wrong_remote_files():
    pytest.importorskip("fsspec")
    with pytest.raises(FileNotFoundError, match="remote: cannot read 'memory://nothing.jpg'"):
        remote(["memory://nothing.jpg"])[0]
    with pytest.raises(ValueError, match="remote: fsspec does not know the address 'pigeon://a.jpg'"):
        remote(["pigeon://a.jpg"])
    with pytest.raises(ValueError, match=r"remote: 'memory://a/' is a folder: its files are 'memory://a/\*'"):
        remote("memory://a/")
    with pytest.raises(ValueError, match="remote: there is no file of the pattern .*nothing"):
        remote("memory://iruka-test-nothing/*.jpg")
