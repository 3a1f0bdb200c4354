"""Grids, windows, bits and files, against NumPy."""

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, assert_same, beyond_numbers


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name):
    for size in (0, 1, 2, 5, 12, 101):
        actual, expected = getattr(iruka, name)(size), getattr(np, name)(size)
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(iruka.asnumpy(actual), expected, rtol=1e-13, atol=1e-15)


@beyond_numbers
def test_kaiser_of_a_fraction():
    for size in (2.5, 4, 1, 0, -1):
        with np.errstate(invalid="ignore"):
            expected = np.kaiser(size, 3.0)
        np.testing.assert_allclose(iruka.asnumpy(iruka.kaiser(size, 3.0)), expected, rtol=1e-12)


def test_other_scales():
    for arguments in ((0, 3, 7), (1.5, -2, 5, False), (0, 1, 0)):
        np.testing.assert_allclose(iruka.asnumpy(iruka.logspace(*arguments)), np.logspace(*arguments), rtol=1e-13)
    for arguments in ((1, 1000, 4), (-1, -8, 4), (2, 3, 1), (1, 10, 5, False), (1j, 1000j, 4), (3, 3, 3)):
        np.testing.assert_allclose(iruka.asnumpy(iruka.geomspace(*arguments)), np.geomspace(*arguments), rtol=1e-12)
    assert iruka.geomspace(1, 8, 4, dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match="zero"):
        iruka.geomspace(0, 1)


def test_grids():
    arrays = [np.arange(3), np.arange(4.0), np.arange(2, dtype="int8")]
    for count in range(4):
        for keywords in ({}, {"indexing": "ij"}, {"sparse": True}, {"copy": False}, {"sparse": True, "indexing": "ij"}):
            found = iruka.meshgrid(*map(iruka.array, arrays[:count]), **keywords)
            expected = np.meshgrid(*arrays[:count], **keywords)
            assert len(found) == len(expected)
            for a, e in zip(found, expected):
                assert_same(a, e)
    with pytest.raises(ValueError):
        iruka.meshgrid(iruka.ones(2), indexing="yx")
    for x in (np.arange(5), np.arange(4.0), np.array([1j, 2])):
        for keywords in ({}, {"N": 3}, {"increasing": True}, {"N": 0}):
            assert_same(iruka.vander(iruka.array(x), **keywords), np.vander(x, **keywords))
    with pytest.raises(ValueError):
        iruka.vander(iruka.ones((2, 2)))


@given(st.lists(st.integers(0, 20), min_size=1, max_size=3), st.sampled_from(["big", "little"]), st.data())
def test_bits(shape, order, data):
    x = (
        np.random.default_rng(0).integers(0, 2, shape).astype(data.draw(st.sampled_from(["uint8", "bool", "int32"])))
        * 3
    )
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    packed = np.packbits(x.astype(x.dtype if x.dtype != np.int64 else "uint8"), axis, order)
    x = x.astype("uint8") if x.dtype == np.int64 else x
    assert_same(iruka.packbits(iruka.array(x), axis, order), packed)
    assert_same(iruka.packbits(iruka.array(x).T.copy().T, axis, order), packed)
    for count in (None, 5, -2, 300) if packed.size else (None,):
        try:
            expected = np.unpackbits(packed, axis, count, order)
        except ValueError:
            with pytest.raises(ValueError):
                iruka.unpackbits(iruka.array(packed), axis, count, order)
            continue
        assert_same(iruka.unpackbits(iruka.array(packed), axis, count, order), expected)


@pytest.mark.parametrize(
    "dtypes", [("int64", "int64"), ("float32", "float32"), ("float64", "int32"), ("complex64", "float64")]
)
def test_values_of_polynomials(dtypes):
    p, x = np.array([3, 0, -2, 1]).astype(dtypes[0]), np.arange(-6, 6).reshape(3, 4).astype(dtypes[1])
    for points in (x, x.T, x[:, ::2], x[0, 0]):
        assert_same(iruka.polyval(iruka.array(p), iruka.array(points)), np.polyval(p, points))
    assert_same(iruka.polyval([], iruka.array(x)), np.polyval([], x))


def test_coefficients_of_polynomials():
    a, b = np.array([1.0, -3, 2]), np.array([2.0, 1])
    for name in ("polyadd", "polysub", "polymul"):
        assert_same(getattr(iruka, name)(iruka.array(a), iruka.array(b)), getattr(np, name)(a, b))
    for found, expected in zip(iruka.polydiv(iruka.array(a), [2.0, 1]), np.polydiv(a, b)):
        assert_same(found, expected)
    assert_same(iruka.polyder(iruka.array(a)), np.polyder(a))
    assert_same(iruka.polyint(iruka.array(a), 2, [1, 2]), np.polyint(a, 2, [1, 2]))
    np.testing.assert_allclose(np.sort(iruka.roots(iruka.array(a)).get()), [1, 2], rtol=1e-12)
    np.testing.assert_allclose(iruka.poly(iruka.array([1.0, 2])).get(), a, rtol=1e-12)
    x = np.linspace(-1, 1, 20)
    found = iruka.polyfit(iruka.array(x), iruka.array(np.polyval(a, x)), 2)
    assert isinstance(found, iruka.ndarray)
    np.testing.assert_allclose(found.get(), a, rtol=1e-10)
    with pytest.raises(ValueError):
        iruka.polyder(a, -1)


def test_bits_of_unaligned_views():
    x = (np.arange(100) % 3 == 0).astype("uint8")
    for offset in range(1, 9):
        assert_same(iruka.packbits(iruka.array(x)[offset:]), np.packbits(x[offset:]))


def test_bit_errors():
    with pytest.raises(TypeError, match="integer or boolean"):
        iruka.packbits(iruka.ones(3))
    with pytest.raises(TypeError, match="unsigned byte"):
        iruka.unpackbits(iruka.ones(3, "int8"))
    with pytest.raises(ValueError, match="bitorder"):
        iruka.packbits(iruka.ones(3, "bool"), bitorder="middle")


def test_npy_files(tmp_path):
    x = iruka.arange(24, dtype="float32").reshape(4, 6).T
    iruka.save(tmp_path / "x.npy", x)
    assert_same(iruka.load(tmp_path / "x.npy"), iruka.asnumpy(x))
    assert_same(iruka.asarray(np.load(tmp_path / "x.npy")), iruka.asnumpy(x))
    for mode in ("r", "c", "r+"):
        assert_same(iruka.load(tmp_path / "x.npy", mmap_mode=mode), iruka.asnumpy(x))
    memory = io.BytesIO()
    iruka.save(memory, x)
    memory.seek(0)
    assert_same(iruka.load(memory), iruka.asnumpy(x))
    with pytest.raises(FileNotFoundError):
        iruka.load(tmp_path / "nothing.npy")


@pytest.mark.cpu_only
def test_mapped_files_are_the_files_memory(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(1000))
    mapped = iruka.load(tmp_path / "x.npy", mmap_mode="r+")
    mapped[3] = 7
    del mapped
    assert np.load(tmp_path / "x.npy")[3] == 7
    assert not iruka.load(tmp_path / "x.npy", mmap_mode="r").flags.writeable


def test_archives(tmp_path):
    x = iruka.arange(3)
    for function in (iruka.savez, iruka.savez_compressed):
        function(tmp_path / "all.npz", x, named=iruka.ones(2))
        with iruka.load(tmp_path / "all.npz") as archive:
            assert sorted(archive.files) == sorted(archive) == ["arr_0", "named"] and len(archive) == 2
            assert "named" in archive and "other" not in archive and "arr_0" in repr(archive)
            assert_same(archive["arr_0"], np.arange(3))
            assert {name: a.shape for name, a in archive.items()} == {"arr_0": (3,), "named": (2,)}
            assert [a.size for a in archive.values()] == [archive[name].size for name in archive.keys()]
            with pytest.raises(KeyError):
                archive["other"]


def test_raw_and_text_files(tmp_path):
    x = np.arange(6, dtype="int16")
    x.tofile(tmp_path / "x.bin")
    assert_same(iruka.fromfile(tmp_path / "x.bin", "int16"), x)
    assert_same(iruka.fromfile(tmp_path / "x.bin", "int16", count=2, offset=4), x[2:4])
    assert_same(iruka.frombuffer(x.tobytes(), "int16", 3, 2), x[1:4])
    assert_same(iruka.frombuffer(b"\x80\x3f", BFLOAT16), np.ones(1, BFLOAT16))
    assert_same(iruka.fromstring("1, 2, 3", int, sep=","), np.array([1, 2, 3]))
    for m in (np, iruka):
        with pytest.raises(ValueError, match="frombuffer"):
            m.fromstring("12345678")
    x.astype(">i2").tofile(tmp_path / "swapped.bin")
    assert_same(iruka.fromfile(tmp_path / "swapped.bin", ">i2"), x)
    assert_same(iruka.fromiter((k * k for k in range(4)), float), np.array([0.0, 1, 4, 9]))
    iruka.savetxt(tmp_path / "x.txt", iruka.array(x.reshape(2, 3)), fmt="%d", delimiter=",")
    assert_same(iruka.loadtxt(tmp_path / "x.txt", delimiter=",", dtype="int16"), x.reshape(2, 3))
    first, second, _ = iruka.loadtxt(tmp_path / "x.txt", delimiter=",", unpack=True)
    assert_same(second, np.array([1.0, 4.0]))
    (tmp_path / "gaps.txt").write_text("1,,3\n4,5,6\n")
    np.testing.assert_array_equal(
        iruka.asnumpy(iruka.genfromtxt(tmp_path / "gaps.txt", delimiter=",")), [[1, np.nan, 3], [4, 5, 6]]
    )


@pytest.mark.parametrize("name", ["hanning", "hamming", "blackman", "bartlett"])
def test_the_length_of_a_window_is_a_number(name):
    for length in (np.array(4), np.array(4.5), np.array(True), np.float64(3.2)):
        expected = getattr(np, name)(length)
        np.testing.assert_allclose(getattr(iruka, name)(iruka.asarray(length)).get(), expected, atol=1e-15)
    for xp in (np, iruka):
        for length, error in (("3", TypeError), (None, TypeError), (xp.asarray([4]), ValueError)):
            with pytest.raises(error):
                getattr(xp, name)(length)
