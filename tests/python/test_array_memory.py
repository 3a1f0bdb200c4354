"""ndarray's methods about its bytes, against NumPy: flags, base, fields, resizing, byte order, files, pickles."""

import ctypes
import io
import pickle
import sys

import numpy as np
import pytest

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, NUMPY_DTYPES, assert_same, layouts, values

NUMPY_IDS = [d.name for d in NUMPY_DTYPES]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=NUMPY_IDS)
def test_byteswap(dtype, rng):
    for name, x, expected in layouts(values(dtype, (3, 4), rng)):
        assert_bytes(x.byteswap(), expected.byteswap(), name)
        before, own = x.copy(), x.copy()
        assert own.byteswap(inplace=True) is own
        assert_bytes(own, expected.byteswap(), name)
        assert_bytes(own.byteswap(True), iruka.asnumpy(before), name)
    assert_bytes(iruka.zeros((0, 3), dtype).byteswap(), np.zeros((0, 3), dtype))
    assert_bytes(iruka.ones((), dtype).byteswap(), np.ones((), dtype).byteswap())


def assert_bytes(actual, expected, message=""):
    actual = iruka.asnumpy(actual)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes(), message


def test_byteswap_writes_through_views():
    x = np.arange(12, dtype=np.int16)
    own = iruka.array(x)
    own[::2].byteswap(inplace=True)
    x[::2].byteswap(inplace=True)
    assert_same(own, x)
    assert iruka.asnumpy(iruka.array([1.0], dtype=BFLOAT16).byteswap()).tobytes() == bytes([0x3F, 0x80])
    with pytest.raises(ValueError, match="read-only"):
        iruka.broadcast_to(iruka.ones(1), (3,)).byteswap(inplace=True)


def test_writeable():
    x = iruka.arange(4)
    x.setflags(write=False)
    assert not x.flags.writeable and not x[1:].flags["W"] and not x.T.flags["WRITEABLE"]
    for write in (lambda: x.__setitem__(0, 1), lambda: x.fill(1), lambda: iruka.add(x, 1, out=x)):
        with pytest.raises(ValueError, match="read-only|writ"):
            write()
    x.flags.writeable = True
    x[0] = 7
    x.flags["WRITEABLE"] = False
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    x.setflags(write=1, align=True, uic=False)
    assert_same(x + 0, [7, 1, 2, 3])
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True of this array"):
        iruka.broadcast_to(x, (2, 4)).setflags(write=True)
    with pytest.raises(ValueError, match="always aligned"):
        x.setflags(align=False)
    with pytest.raises(ValueError, match="WRITEBACKIFCOPY"):
        x.setflags(uic=True)
    with pytest.raises(ValueError, match="cannot be set; only WRITEABLE can"):
        x.flags["ALIGNED"] = False
    for name in ("NOTHING", "_array"):
        with pytest.raises(KeyError):
            x.flags[name]


@pytest.mark.cpu_only
def test_memory_that_is_read_only_by_its_owner_stays_so():
    x = np.arange(4)
    x.setflags(write=False)
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
        iruka.asarray(x).setflags(write=True)


def test_base():
    x = iruka.arange(12, dtype="int32").reshape(3, 4)
    assert x.base is None and x.T.base is None and iruka.zeros(()).base is None and iruka.zeros((0, 3)).base is None
    for view in (x[1:], x[:, ::2], x[0], x[::-1, 1]):
        assert_same(view.base, np.arange(12, dtype=np.int32))
        assert iruka.shares_memory(view.base, x)
    part = x.view("int8")[:, 1:3]
    assert part.base.dtype == np.int8 and part.base.size == 48


@pytest.mark.cpu_only
def test_base_of_others_memory():
    x = np.arange(6.0)
    assert_same(iruka.asarray(x).base, x)
    assert np.shares_memory(np.asarray(iruka.asarray(x[1:]).base), x)


@pytest.mark.cpu_only
def test_ctypes():
    x = iruka.array([[1.0, 2.0], [3.0, 4.0]])
    assert x.ctypes.data == x.data.ptr
    assert tuple(x.ctypes.shape) == (2, 2) and tuple(x.ctypes.strides) == (16, 8)
    pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    assert pointer[3] == 4.0
    pointer[3] = 5.0
    assert float(x[1, 1]) == 5.0


def test_fields():
    x = np.arange(6).astype(np.complex64).reshape(2, 3) * (1 + 2j)
    own = iruka.array(x)
    assert_same(own.getfield("float32", 4), x.imag)
    assert_same(own.T.getfield(np.float32), x.T.real)
    assert_same(iruka.array(np.arange(6)).getfield("int8", 7), np.arange(6).getfield("int8", 7))
    own.setfield([7, 8, 9], "float32", 4)
    x.setfield([7, 8, 9], np.float32, 4)
    assert_same(own, x)
    for offset in (-1, 5, 8):
        with pytest.raises(ValueError, match="received offset"):
            own.getfield("float32", offset)
        with pytest.raises(ValueError):
            x.getfield(np.float32, offset)
    for dtype, offset in (("float64", 0), ("int16", 1), ("int8", 4)):
        with pytest.raises(ValueError, match=f"received offset = {offset}"):
            iruka.ones(3, "float32").getfield(dtype, offset)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_are_views(dtype, rng):
    for name, own, x in layouts(values(dtype, (3, 4), rng)):
        x = x.copy()
        assert_same(own.real, x.real, message=name)
        assert_same(own.imag, x.imag, message=name)
        own.real[1] += 2
        own.imag[:, 0] = 7
        x.real[1] += 2
        x.imag[:, 0] = 7
        assert_same(own, x, message=name)
        own.real, x.real = 5, 5
        own.imag = x.imag = np.arange(4)
        assert_same(own, x, message=name)
    own.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        own.real = 1
    real = iruka.arange(3.0)
    real.real = 4
    assert_same(real, [4.0, 4.0, 4.0])
    with pytest.raises(TypeError, match="does not have imaginary part to set"):
        real.imag = 1


def test_shape_may_be_set():
    x = iruka.arange(12)
    x.shape = 3, -1
    assert x.shape == (3, 4)
    part = x[:, :2]
    part.shape = (3, 2, 1)
    part[0, 0, 0] = 9
    assert int(x[0, 0]) == 9
    with pytest.raises(AttributeError, match="Incompatible shape for in-place modification"):
        part.shape = 6
    with pytest.raises(ValueError):
        x.shape = (5,)
    with pytest.raises(TypeError):
        x.shape = "two"
    assert x.shape == (3, 4) and part.shape == (3, 2, 1)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("new", [(2, 3), (7,), (1, 2), (4, 5, 2), (0,), (), -1], ids=str)
def test_resize(order, new):
    x = np.array(np.arange(6.0).reshape(2, 3), order=order)
    own = iruka.array(x, order=order)
    try:
        x.resize(new, refcheck=False)
    except ValueError:
        with pytest.raises(ValueError, match="non-negative"):
            own.resize(new)
        return
    own.resize(new)
    assert_same(own, x)
    assert own.strides == x.strides


def test_resize_and_who_sees_it():
    x = iruka.arange(6)
    x.resize(2, 2)
    assert_same(x, [[0, 1], [2, 3]])
    x.resize()
    x.resize(None)
    assert x.shape == (2, 2)
    view = x[0]
    x.resize(4)  # the same size: nothing moves
    assert_same(x, [0, 1, 2, 3])
    with pytest.raises(ValueError, match="references or is referenced"):
        x.resize(8)
    x.resize(8, refcheck=False)
    assert_same(x, [0, 1, 2, 3, 0, 0, 0, 0])
    view[...] = 9
    assert int(x[0]) == 0
    other = x
    if sys.version_info < (3, 14):  # names count no more
        with pytest.raises(ValueError, match="references or is referenced"):
            x.resize(9)
    assert other.shape == (8,)
    with pytest.raises(ValueError, match="single-segment"):
        x[::2].resize(1)
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        x.resize(1)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_files(dtype, rng, tmp_path):
    for name, x, expected in layouts(values(dtype, (3, 4), rng)):
        x.tofile(tmp_path / "bytes")
        assert (tmp_path / "bytes").read_bytes() == expected.tobytes(), name
        with open(tmp_path / "stream", "wb") as stream:
            x.tofile(stream)
        assert (tmp_path / "stream").read_bytes() == expected.tobytes()
        assert_same(pickle.loads(x.dumps()), expected)
        x.dump(tmp_path / "pickle")
        assert_same(pickle.loads((tmp_path / "pickle").read_bytes()), expected)
        stream = io.BytesIO()
        x.dump(stream)
        assert_same(pickle.loads(stream.getvalue()), expected)


def test_texts(tmp_path):
    x = np.array([1.5, -2, 3e10])
    for module in (np, iruka):
        module.asarray(x).tofile(tmp_path / module.__name__, ", ", "%.3f")
    assert (tmp_path / "iruka").read_text() == (tmp_path / "numpy").read_text() == "1.500, -2.000, 30000000000.000"


def test_cupy_names():
    x, where = np.zeros((3, 2)), np.array([0, 2, 0])
    own = iruka.array(x)
    own.scatter_add(where, 2.0)
    np.add.at(x, where, 2.0)
    own.scatter_max((slice(None), 1), iruka.array([1.0, 2, 3]))
    np.maximum.at(x, (slice(None), 1), [1.0, 2, 3])
    own.scatter_min((0, 0), -1)
    x[0, 0] = -1
    assert_same(own, x)
    assert own.reduced_view().shape == (6,) and own.T.reduced_view().shape == (2, 3)
    assert_same(own.T.reduced_view(), x.T)
    y = iruka.arange(24).reshape(2, 1, 3, 4)[..., ::2]
    assert y.reduced_view().shape == (12,) and iruka.shares_memory(y, y.reduced_view())
    assert y[:, :, 1:].reduced_view().shape == (2, 4) and iruka.ones(()).reduced_view().shape == ()
    assert_same(y[:, :, 1:].reduced_view(), np.arange(24).reshape(2, 1, 3, 4)[:, :, 1:, ::2].reshape(2, 4))


@pytest.mark.cpu_only
def test_to_dlpack():
    x = iruka.arange(3)
    assert_same(iruka.asarray(np.from_dlpack(_Capsule(x.toDlpack()))), [0, 1, 2])


class _Capsule:
    """What holds a capsule, for NumPy."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **keywords):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0


@pytest.mark.cpu_only
def test_exported_memory_outlives_a_resize():
    x = iruka.arange(1 << 16) * 1.0
    view, numbers = memoryview(x), np.asarray(x)
    x.resize(10, refcheck=False)
    others = [iruka.full(1 << 16, 7.0) for _ in range(4)]
    assert view[:5].tolist() == numbers[:5].tolist() == [0, 1, 2, 3, 4] and len(others) == 4


def test_views_of_what_is_read_only_stay_so():
    a = iruka.arange(4)
    a.flags.writeable = False
    w = a.view()
    with pytest.raises(ValueError, match="WRITEABLE"):
        w.setflags(write=True)
    del w
    a.setflags(write=True)
    a[0] = 5
    assert a.tolist() == [5, 1, 2, 3]
    windows = iruka.lib.stride_tricks.sliding_window_view(iruka.arange(9), 3)
    with pytest.raises(ValueError, match="WRITEABLE"):
        windows.setflags(write=True)
