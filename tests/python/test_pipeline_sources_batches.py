"""Batches of every source: what Pillow, NumPy and tarfile say is in the files, whatever the threads."""

import gzip
import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image

import iruka
from iruka._pipeline.sources import Source, arrays, dataset, file_list, folder, iterable, npy, remote, webdataset
from iruka.pipeline import Decode, Pipeline

COUNT = 23


@pytest.fixture
def pixels(rng):
    return rng.integers(0, 256, (COUNT, 6, 5, 3)).astype("uint8")


def png_of(picture):
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "png")
    return buffer.getvalue()


@pytest.fixture
def root(tmp_path, pixels):
    """A folder with the pictures in classes, as a list, as an array, as shards."""
    listing = []
    for k, picture in enumerate(pixels):
        name = f"class {k // 10}/{k:03d}.png"
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(png_of(picture))
        listing.append(f"{name} {k // 10}")
    (tmp_path / "list.txt").write_text("\n".join(listing))
    np.save(tmp_path / "all.npy", pixels)
    for opened, name in ((open, "tar"), (gzip.open, "tgz")):
        for shard in range(2):
            with opened(tmp_path / f"{shard}.{name}", "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
                for k in range(shard * 12, min(COUNT, shard * 12 + 12)):
                    add(archive, f"{k:03d}.png", png_of(pixels[k]))
                    add(archive, f"{k:03d}.cls", b"%d" % (k // 10))
                    add(archive, f"{k:03d}.json", json.dumps({"place": k, "caption": "a" * k}).encode())
    return tmp_path


def add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


class Rows:
    """A PyTorch-style dataset of Pillow's pictures."""

    def __init__(self, pixels):
        self.pixels = pixels

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        return {"picture": Image.fromarray(self.pixels[index]), "label": index // 10}


def sources(root, pixels):
    paths = [f"file://{root}/class {k // 10}/{k:03d}.png" for k in range(COUNT)]
    labels = [k // 10 for k in range(COUNT)]
    yield "folder", folder(root, ["png"]), True
    yield "file_list", file_list(root / "list.txt"), True
    yield "arrays", arrays(picture=pixels, label=np.array(labels)), False
    yield "npy", npy(root / "all.npy").map(lambda value: (value, 0), ("picture", "label")), False
    yield "dataset", dataset(Rows(pixels)), False
    yield "records", dataset([{"picture": {"bytes": png_of(p), "path": None}, "label": 0} for p in pixels]), True
    yield "webdataset", webdataset(f"{root}/{{0..1}}.tar"), True
    try:
        yield "remote", remote(paths, labels), True
    except ImportError:
        pass


def test_batches_are_what_is_in_the_files(root, pixels):
    for name, source, is_file in sources(root, pixels):
        pipe = Pipeline(source, [Decode()] if is_file else [], batch_size=5, output="numpy")
        seen = 0
        for batch in pipe:
            np.testing.assert_array_equal(batch.picture, pixels[seen : seen + 5], err_msg=name)
            if name not in ("npy", "records"):
                np.testing.assert_array_equal(batch.label, np.arange(seen, min(seen + 5, COUNT)) // 10, err_msg=name)
            seen += len(batch.picture)
        assert seen == COUNT, name
        np.testing.assert_array_equal(pipe[17].picture, pixels[17])
        pipe.close()


def test_any_number_of_threads_gives_the_same(root, pixels):
    for name, source, is_file in sources(root, pixels):
        runs = []
        for threads in (1, 2, 8):
            with Pipeline(source, [Decode()] if is_file else [], 4, shuffle=True, seed=7, threads=threads) as pipe:
                runs.append([(batch.info.indices, iruka.asnumpy(batch.picture)) for _ in range(2) for batch in pipe])
        for run in runs:
            for (indices, made), (expected, other) in zip(run, runs[0], strict=True):
                assert indices == expected, name
                np.testing.assert_array_equal(made, pixels[list(indices)], err_msg=name)
                np.testing.assert_array_equal(made, other, err_msg=name)


def test_shards_of_sources_are_disjoint(root, pixels):
    for name, source, is_file in sources(root, pixels):
        seen = []
        for shard in range(3):
            options = {"num_shards": 3, "shard_id": shard, "shuffle": True}
            with Pipeline(source, [Decode()] if is_file else [], 4, **options) as pipe:
                seen += [index for batch in pipe for index in batch.info.indices]
        assert sorted(seen) == list(range(COUNT)), name


def test_the_path_of_a_folder_is_a_source(root, pixels):
    for path in root, str(root), root / "list.txt", f"{root}/{{0..1}}.tar":
        with Pipeline(path, [Decode()], batch_size=COUNT, output="numpy") as pipe:
            (batch,) = pipe
            np.testing.assert_array_equal(batch.picture, pixels)


def test_compressed_shards_in_order(root, pixels):
    source = webdataset(f"{root}/{{0..1}}.tgz", {"picture": "jpg;png", "label": "cls"})
    with Pipeline(source, [Decode()], batch_size=5, output="numpy") as pipe:
        for _ in range(3):
            batches = list(pipe)
            np.testing.assert_array_equal(np.concatenate([batch.picture for batch in batches]), pixels)
            np.testing.assert_array_equal(np.concatenate([batch.label for batch in batches]), np.arange(COUNT) // 10)


def test_json_becomes_values_by_map(root):
    source = webdataset(f"{root}/{{0..1}}.tar", ["json"])
    parts = source.map(lambda meta: (meta["place"], meta["caption"]), ("place", "caption"))
    with Pipeline(parts, batch_size=6, output="numpy") as pipe:
        batches = list(pipe)
    assert np.concatenate([batch.place for batch in batches]).tolist() == list(range(COUNT))
    assert [bytes(text).decode() for batch in batches for text in batch.caption] == ["a" * k for k in range(COUNT)]
    with (
        Pipeline(source, batch_size=6) as pipe,
        pytest.raises(TypeError, match="0.tar: 000: json: dict; a sample holds"),
    ):
        next(iter(pipe))


def test_an_iterable_in_batches():
    def numbers():
        return ((k, np.full(2, k / 2)) for k in range(COUNT))

    with Pipeline(iterable(numbers, ("whole", "half")), batch_size=4, output="numpy") as pipe:
        for _ in range(3):
            batches = list(pipe)
            assert [len(batch.whole) for batch in batches] == [4] * 5 + [3]
            np.testing.assert_array_equal(np.concatenate([batch.whole for batch in batches]), np.arange(COUNT))
            np.testing.assert_array_equal(np.concatenate([batch.half for batch in batches])[:, 1], np.arange(COUNT) / 2)


def test_a_generator_ends_with_its_epoch():
    with Pipeline((k for k in range(6)), batch_size=4) as pipe:
        assert sum(len(batch.value) for batch in pipe) == 6
        with pytest.raises(ValueError, match="iterable: the generator was begun before epoch 1 and cannot begin again"):
            list(pipe)


def test_samples_that_fail_are_named(root, pixels):
    """A sample without a label, one whose label is damaged, and a source that raises: the others are all there."""
    with tarfile.open(root / "faulty.tar", "w") as archive:
        for k, picture in enumerate(pixels):
            add(archive, f"{k:03d}.png", png_of(picture))
            if k != 4:
                add(archive, f"{k:03d}.cls", b"cat" if k == 9 else b"%d" % k)
    source = webdataset(root / "faulty.tar")
    with Pipeline(source, [Decode()], batch_size=5, on_error="skip", output="numpy") as pipe:
        batches = list(pipe)
        whole = [k for k in range(COUNT) if k not in (4, 9)]
        assert [index for batch in batches for index in batch.info.indices] == whole
        np.testing.assert_array_equal(np.concatenate([batch.picture for batch in batches]), pixels[whole])
        failures = sorted(pipe.failures, key=lambda failure: failure.index)
        assert [failure.sample for failure in failures] == [f"{root}/faulty.tar: {name}" for name in ("004", "009")]
        assert "has no file of the field label (cls)" in failures[0].message
        assert "009.cls' is damaged" in failures[1].message
    with (
        Pipeline(source, [Decode()], batch_size=5) as pipe,
        pytest.raises(ValueError, match="faulty.tar: 004' has no file"),
    ):
        list(pipe)


def test_an_iterable_that_raises_ends_its_epoch():
    class Faulty:
        is_faulty = True

        def __iter__(self):
            yield from range(9)
            if self.is_faulty:
                raise OSError("row 9 is lost")
            yield from range(9, COUNT)

    rows, seen = Faulty(), []
    with Pipeline(rows, batch_size=4, on_error="skip") as pipe:
        with pytest.raises(OSError, match="row 9 is lost"):
            for batch in pipe:
                seen += batch.value.tolist()
        assert seen == list(range(8))
        rows.is_faulty = False
        assert [k for batch in pipe for k in batch.value.tolist()] == list(range(COUNT))


def test_samples_of_a_sequence_that_fail_are_skipped(root, pixels):
    with gzip.open(root / "faulty.tgz", "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
        for k, picture in enumerate(pixels):
            add(archive, f"{k:03d}.png", png_of(picture))
            add(archive, f"{k:03d}.cls", b"cat" if k == 9 else b"%d" % k)
    source = webdataset(root / "faulty.tgz").map(lambda picture, label: (picture, 12 // (label - 5)))
    with Pipeline(source, [Decode()], batch_size=5, on_error="skip", output="numpy") as pipe:
        for _ in range(2):
            batches = list(pipe)
            kept = [k for k in range(COUNT) if k not in (5, 9)]
            np.testing.assert_array_equal(np.concatenate([batch.picture for batch in batches]), pixels[kept])
        assert [failure.index for failure in pipe.failures] == [5, 9] * 2
        assert "009.cls' is damaged" in pipe.failures[1].message
    with Pipeline(webdataset(root / "faulty.tgz"), [Decode()], batch_size=5, output="numpy") as pipe:
        with pytest.raises(ValueError, match="faulty.tgz: 009.cls' is damaged"):
            list(pipe)


class Squares(Source):
    fields = ("root", "square")

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        if index == 3:
            raise RuntimeError("three is lost")
        return index, np.full(2, index * index)

    def describe(self, index):
        return f"number {index}"


def test_a_source_of_ones_own_in_batches():
    with Pipeline(Squares(), batch_size=COUNT, on_error="skip", output="numpy") as pipe:
        (batch,) = pipe
        expected = np.delete(np.arange(COUNT), 3)
        np.testing.assert_array_equal(batch.root, expected)
        np.testing.assert_array_equal(batch.square[:, 0], expected**2)
        (failure,) = pipe.failures
        assert failure.sample == "number 3" and "three is lost" in failure.message


def test_remote_files_that_fail_are_named(pixels):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for k, picture in enumerate(pixels[:4]):
        memory.pipe(f"/iruka-batches/{k}.png", png_of(picture))
    with Pipeline(
        "memory://iruka-batches/{0..5}.png", [Decode()], batch_size=6, on_error="skip", output="numpy"
    ) as pipe:
        (batch,) = pipe
        np.testing.assert_array_equal(batch.picture, pixels[:4])
        assert sorted(failure.sample for failure in pipe.failures) == [
            f"memory://iruka-batches/{k}.png" for k in (4, 5)
        ]
    memory.rm("/iruka-batches", recursive=True)
