"""WebDataset's shards: tar files of Python's tarfile, read by index, or in order where they are compressed."""

import bz2
import concurrent.futures
import gc
import gzip
import io
import json
import lzma
import os
import pickle
import tarfile

import numpy as np
import pytest

from iruka._pipeline.sources import SequentialSource, Source, make_source, webdataset
from iruka._pipeline.sources.tar_files import expanded


def npy_of(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def write_tar(path, files, format=tarfile.PAX_FORMAT, opened=open):
    with opened(path, "wb") as file, tarfile.open(fileobj=file, mode="w", format=format) as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def samples(first, count):
    """Files of samples, in order; a sample is its number in several forms."""
    for k in range(first, first + count):
        yield f"part/{k:04d}.jpg", b"picture" * (k * 100 % 509)
        yield f"part/{k:04d}.cls", str(k).encode()
        yield f"part/{k:04d}.json", json.dumps({"k": k}).encode()
        yield f"part/{k:04d}.txt", f"Bild {k} für alle".encode()
        yield f"part/{k:04d}.vector.npy", npy_of(np.full(3, k))


EVERYTHING = {"picture": "png;jpg", "label": "cls", "meta": "json", "text": "txt", "vector": "vector.npy"}


def check_sample(sample, k):
    assert sample[:4] == (b"picture" * (k * 100 % 509), k, {"k": k}, f"Bild {k} für alle")
    np.testing.assert_array_equal(sample[4], np.full(3, k))


@pytest.fixture
def shards(tmp_path):
    for shard in range(3):
        write_tar(tmp_path / f"shard-{shard:03d}.tar", samples(shard * 4, 4 + shard))
    return tmp_path


NUMBERS = [*range(4), *range(4, 9), *range(8, 14)]


def test_samples_have_an_index(shards):
    source = webdataset(f"{shards}/shard-{{000..002}}.tar", EVERYTHING)
    starred = webdataset(f"{shards}/shard-*.tar", EVERYTHING)
    assert [starred.describe(k) for k in range(len(starred))] == [source.describe(k) for k in range(len(source))]
    assert isinstance(source, Source) and source.fields == tuple(EVERYTHING) and len(source) == 15
    for place in reversed(range(15)):
        check_sample(source[place], NUMBERS[place])
    check_sample(source[-1], 13)
    assert source.describe(4) == f"{shards}/shard-001.tar: part/0004"
    with pytest.raises(IndexError, match="webdataset: index 15 of a source of 15 samples"):
        source[15]


def test_fields(shards):
    paths = sorted(shards.iterdir())
    assert webdataset(paths).fields == ("picture", "label") and webdataset(paths)[5] == (b"picture" * 500, 5)
    source = webdataset(paths, ["png;jpg", ".cls"])
    assert source.fields == ("png", "cls") and source[1][1] == 1
    assert webdataset(paths, "txt")[2] == ("Bild 2 für alle",)
    twice = webdataset(paths, {"a": "cls", "b": "json;cls", "c": "cls;json"})
    assert twice[3] == (3, {"k": 3}, 3)
    assert isinstance(make_source(str(paths[0])), Source)


@pytest.mark.parametrize("name, opened", [("x.tar.gz", gzip.open), ("x.tar.bz2", bz2.open), ("x.tar.xz", lzma.open)])
def test_compressed_shards_are_read_in_order(shards, name, opened):
    write_tar(shards / name, samples(100, 5), opened=opened)
    os.rename(shards / name, shards / "other.tar")  # what a file holds counts, not its name
    source = webdataset([shards / "shard-000.tar", shards / "other.tar", shards / "shard-001.tar"], EVERYTHING)
    assert isinstance(source, SequentialSource)
    for stream in (source, pickle.loads(pickle.dumps(source))):
        for epoch in range(2):
            stream.begin(epoch)
            found = stream.next(6) + stream.next(100)
            assert stream.next(1) == [] and len(found) == 14
            for sample, k in zip(found, [*range(4), *range(100, 105), *range(4, 9)]):
                check_sample(sample, k)


def test_remote_shards_are_read_in_order(shards):
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://iruka-shards/a.tar", "wb") as file:
        file.write((shards / "shard-001.tar").read_bytes())
    source = webdataset(["memory://iruka-shards/{a,missing}.tar", f"file://{shards}/shard-000.tar"], EVERYTHING)
    assert isinstance(source, SequentialSource)
    source.begin(0)
    for sample, k in zip(source.next(5), range(4, 9)):
        check_sample(sample, k)
    with pytest.raises(FileNotFoundError, match="webdataset: cannot read 'memory://iruka-shards/missing.tar'"):
        source.next(5)
    assert [sample[1] for sample in source.next(9)] == [0, 1, 2, 3]
    source = webdataset(source.shards, EVERYTHING, on_damage="warn")
    with pytest.warns(UserWarning, match="cannot read 'memory://iruka-shards/missing.tar'"):
        assert [sample[1] for sample in source.next(99)] == [4, 5, 6, 7, 8, 0, 1, 2, 3]
    fsspec.filesystem("memory").rm("/iruka-shards", recursive=True)


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_formats_of_tar(tmp_path, format):
    folder = "/".join(["long" * 20] * (2 if format == tarfile.USTAR_FORMAT else 4))
    names = ["a", f"{folder}/b", "ümläut" if format != tarfile.USTAR_FORMAT else "plain"]
    files = [(f"{name}.{kind}", f"{k}".encode()) for k, name in enumerate(names) for kind in ("jpg", "cls")]
    write_tar(tmp_path / "x.tar", files, format)
    write_tar(tmp_path / "x.tgz", files, format, gzip.open)
    source, stream = webdataset(tmp_path / "x.tar"), webdataset(tmp_path / "x.tgz")
    assert list(source) == [(f"{k}".encode(), k) for k in range(3)] == stream.next(9)
    assert [source.describe(k).partition(": ")[2] for k in range(3)] == names


def test_names_of_samples(tmp_path):
    """To the first dot of the last part, with its folders; extensions in lower case (webdataset's base_plus_ext)."""
    files = ["a.b/c.JPG", "a.b/c.cls", "c.jpg", "c.seg.jpg", "c.cls", "d/.hidden", ".jpg", "README", "d/x.md"]
    write_tar(tmp_path / "x.tar", [(name, b"7") for name in files])
    write_tar(tmp_path / "x.tgz", [(name, b"7") for name in files], opened=gzip.open)
    source = webdataset(tmp_path / "x.tar")
    assert [source.describe(k).partition(": ")[2] for k in range(len(source))] == ["a.b/c", "c"]
    assert webdataset(tmp_path / "x.tgz").next(9) == list(source) == [(b"7", 7)] * 2
    assert webdataset(tmp_path / "x.tar", "seg.jpg")[0] == (b"7",)


def test_other_entries_are_left_out(tmp_path):
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for name, kind in (("folder.jpg", tarfile.DIRTYPE), ("link.jpg", tarfile.SYMTYPE), ("a.jpg", tarfile.REGTYPE)):
            info = tarfile.TarInfo(name)
            info.type = kind
            archive.addfile(info, io.BytesIO())
    assert list(webdataset(tmp_path / "x.tar", "jpg")) == [(b"",)]


def test_files_of_a_sample_may_be_apart(tmp_path):
    write_tar(tmp_path / "x.tar", [(f"{k}.{kind}", b"%d" % k) for kind in ("jpg", "cls") for k in range(3)])
    assert list(webdataset(tmp_path / "x.tar")) == [(b"%d" % k, k) for k in range(3)]


def test_samples_that_lack_a_field(tmp_path):
    files = [("a.jpg", b"a"), ("a.cls", b"1"), ("b.jpg", b"b"), ("c.jpg", b"c"), ("c.cls", b"3")]
    write_tar(tmp_path / "x.tar", files)
    write_tar(tmp_path / "x.tgz", files, opened=gzip.open)
    source, stream = webdataset(tmp_path / "x.tar"), webdataset(tmp_path / "x.tgz")
    said = r"webdataset: the sample '.*x.{}: b' has no file of the field label \(cls\)"
    assert source[0] == (b"a", 1) and source[2] == (b"c", 3)
    with pytest.raises(ValueError, match=said.format("tar")):
        source[1]
    first, error, last = stream.next(9)
    assert (first, last) == ((b"a", 1), (b"c", 3))
    with pytest.raises(ValueError, match=said.format("tgz")):
        raise error
    with pytest.raises(
        ValueError, match=r"no sample of the 1 shards has mask \(seg.png, mask.png\); they hold cls, jpg"
    ):
        webdataset(tmp_path / "x.tar", {"picture": "jpg", "mask": "seg.png;mask.png"})


@pytest.mark.parametrize(
    "extension, data",
    [("cls", b"cat"), ("json", b"{"), ("txt", b"\xff\xfe"), ("npy", b"no"), ("npy", npy_of(np.zeros(4))[:-5])],
)
def test_damaged_values(tmp_path, extension, data):
    files = [(f"a.{extension}", data), ("b.jpg", b"b")]
    write_tar(tmp_path / "x.tar", files)
    write_tar(tmp_path / "x.tgz", files, opened=gzip.open)
    with pytest.raises(ValueError, match=f"webdataset: '.*x.tar: a.{extension}' is damaged: "):
        webdataset(tmp_path / "x.tar", extension)[0]
    (error,) = webdataset(tmp_path / "x.tgz", extension).next(9)
    with pytest.raises(ValueError, match=f"webdataset: '.*x.tgz: a.{extension}' is damaged: "):
        raise error


def test_two_files_of_a_name(tmp_path):
    write_tar(tmp_path / "x.tar", [("a.jpg", b"1"), ("a.jpg", b"2")])
    write_tar(tmp_path / "x.tgz", [("a.jpg", b"1"), ("a.jpg", b"2")], opened=gzip.open)
    with pytest.raises(ValueError, match="webdataset: '.*x.tar' has two files 'a.jpg'"):
        webdataset(tmp_path / "x.tar", "jpg")
    with pytest.raises(ValueError, match="webdataset: '.*x.tgz' has two files 'a.jpg'"):
        webdataset(tmp_path / "x.tgz", "jpg").next(9)


def damaged(data):
    """A shard whose writer or copy broke off, and one with a header overwritten; and how many samples are whole."""
    starts = [k for k in range(0, len(data), 512) if data[k + 257 : k + 262] == b"ustar"]
    last = starts[10]  # the first file of the third sample
    yield "in a header", data[: last + 100], 2
    yield "in a file", data[: last + 512 + 100], 2
    yield "between files", data[:last], 2
    yield "overwritten", data[:last] + b"x" * 512 + data[last + 512 :], 2
    yield "no mark", data.rstrip(b"\0") + bytes(-len(data.rstrip(b"\0")) % 512), 4


def test_damaged_shards_are_not_cut_short_silently(shards):
    whole = (shards / "shard-000.tar").read_bytes()
    for name, data, count in damaged(whole):
        path = shards / "damaged.tar"
        path.write_bytes(data)
        with pytest.raises(ValueError, match="webdataset: '.*damaged.tar' is damaged or cut off at byte"):
            webdataset(path, EVERYTHING)
        with pytest.warns(UserWarning, match="damaged.tar' is damaged or cut off .*; the samples before are taken"):
            source = webdataset([shards / "shard-001.tar", path], EVERYTHING, on_damage="warn")
        assert len(source) == 5 + count, name
        for place, k in enumerate([*range(4, 9), *range(count)]):
            check_sample(source[place], k)
        with gzip.open(shards / "damaged.tgz", "wb") as file:
            file.write(data)
        check_damaged_stream(shards, count, name)


def check_damaged_stream(shards, count, name):
    paths = [shards / "damaged.tgz", shards / "shard-001.tar"]
    stream = webdataset(paths, EVERYTHING)
    with pytest.raises(ValueError, match="webdataset: '.*damaged.tgz' is damaged or cut off at byte"):
        stream.next(100)
    rest = stream.next(100)
    assert [sample[1] for sample in rest] == [*range(count), *range(4, 9)], name
    stream = webdataset(paths, EVERYTHING, on_damage="warn")
    with pytest.warns(UserWarning, match="the samples before are taken"):
        assert [sample[1] for sample in stream.next(100)] == [*range(count), *range(4, 9)], name


def test_damaged_compression(shards):
    whole = gzip.compress((shards / "shard-000.tar").read_bytes())
    wrong_sum = whole[:-8] + bytes(4) + whole[-4:]
    for data in (whole[: len(whole) // 2], whole[:-3], wrong_sum):
        (shards / "damaged.tgz").write_bytes(data)
        stream = webdataset(shards / "damaged.tgz", EVERYTHING)
        with pytest.raises(ValueError, match="webdataset: '.*damaged.tgz' is damaged or cut off at byte"):
            stream.next(100)
    (shards / "x.tar.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(ValueError, match="x.tar.zst' is compressed by zstd; gzip, bzip2 and xz are read"):
        webdataset(shards / "x.tar.zst").next(1)


def test_wrong_shards(tmp_path, shards):
    with pytest.raises(FileNotFoundError, match="webdataset: cannot read '.*shard-003.tar': No such file"):
        webdataset(f"{shards}/shard-{{000..003}}.tar")
    with pytest.raises(ValueError, match="webdataset: there are no shards"):
        webdataset([])
    (tmp_path / "zero.tar").write_bytes(b"")
    with pytest.raises(ValueError, match="webdataset: '.*zero.tar' is damaged or cut off at byte 0: empty file"):
        webdataset(tmp_path / "zero.tar")
    (tmp_path / "text.tar").write_bytes(b"no archive " * 100)
    with pytest.raises(ValueError, match="webdataset: '.*text.tar' is damaged or cut off at byte 0"):
        webdataset(tmp_path / "text.tar")
    write_tar(tmp_path / "empty.tar", [])
    with pytest.raises(
        ValueError, match=r"no sample of the 1 shards has picture \(jpg.*\); label \(cls\); they hold nothing"
    ):
        webdataset(tmp_path / "empty.tar")
    with pytest.raises(ValueError, match="webdataset: on_damage is 'raise' or 'warn', not 'skip'"):
        webdataset(tmp_path / "empty.tar", on_damage="skip")
    for fields, error, said in (
        ([], ValueError, "fields are one name or more"),
        ({"a": ";"}, ValueError, "the field 'a' has no extensions"),
        ({"a": ["jpg"]}, TypeError, "the extensions of 'a' are text"),
        ([3], TypeError, "fields are names"),
    ):
        with pytest.raises(error, match=f"webdataset: {said}"):
            webdataset(shards / "shard-000.tar", fields)


def test_a_shard_that_is_cut_off_later(shards):
    source = webdataset(shards / "shard-000.tar", EVERYTHING)
    os.truncate(shards / "shard-000.tar", 2000)
    with pytest.raises(OSError, match="cannot read '.*shard-000.tar: part/0003.jpg': the shard was cut off after"):
        source[3]


def test_many_threads_and_many_shards(tmp_path):
    """More shards than files are kept open, and read by several threads."""
    for shard in range(70):
        write_tar(tmp_path / f"{shard:02d}.tar", samples(shard * 3, 3))
    source = webdataset(f"{tmp_path}/{{00..69}}.tar", EVERYTHING)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    order = np.random.default_rng(3).permutation(np.tile(np.arange(210), 5)).tolist()
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for sample, k in zip(threads.map(source.__getitem__, order), order):
            check_sample(sample, k)
    assert len(os.listdir("/proc/self/fd")) <= before + 64
    again = pickle.loads(pickle.dumps(source))
    check_sample(again[100], 100)
    del source, again
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    "pattern, paths",
    [
        ("a.tar", ["a.tar"]),
        ("a{08..11}", ["a08", "a09", "a10", "a11"]),
        ("a{8..11}", ["a8", "a9", "a10", "a11"]),
        ("{3..1}", ["3", "2", "1"]),
        ("{x,yy}-{0..1}", ["x-0", "x-1", "yy-0", "yy-1"]),
        ("{}{a}", ["{}{a}"]),
        ("{-1..1}", ["-1", "0", "1"]),
    ],
)
def test_braces(pattern, paths):
    assert expanded(pattern) == paths


def test_the_webdataset_package_reads_the_same(shards):
    wds = pytest.importorskip("webdataset")
    paths = [str(shards / f"shard-{k:03d}.tar") for k in range(3)]
    theirs = list(wds.WebDataset(paths, shardshuffle=False).decode().to_tuple("jpg;png", "cls", "json", "txt"))
    ours = list(webdataset(paths, ["jpg;png", "cls", "json", "txt"]))
    assert [sample[1:] for sample in ours] == [tuple(sample[1:]) for sample in theirs]
