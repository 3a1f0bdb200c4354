"""NumPy, the buffer protocol, DLPack, pickling."""

import array
import pickle

import ml_dtypes
import numpy as np
import pytest

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, NUMPY_DTYPES, assert_same, kind, layouts, values


def address(x):
    return x.__array_interface__["data"][0]


def meaningful_strides(x):
    """Strides of the axes along which there is a next element."""
    return [stride for stride, extent in zip(x.strides, x.shape) if extent > 1] if x.size else []


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
@pytest.mark.cpu_only
def test_numpy_arrays_in_and_out(dtype, rng):
    x = values(dtype, (3, 4, 5), rng)
    for same in (x, x[::2, ::-1], x.T, x[1:1], x[0, 0, 0:1].reshape(()), x[:, None]):
        a = iruka.asarray(same)
        assert_same(a, same)
        assert meaningful_strides(a) == meaningful_strides(same)
        back = np.asarray(a)
        assert back.dtype == same.dtype and meaningful_strides(back) == meaningful_strides(same)
        np.testing.assert_array_equal(back, same)


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
@pytest.mark.cpu_only
def test_asarray_shares_memory(dtype):
    x = np.zeros((4, 5), dtype)
    a = iruka.asarray(x)
    assert a.data.ptr == x.ctypes.data
    a[1, 2] = 1
    assert x[1, 2] == 1
    x[3, 4] = 1
    assert a[3, 4].item() == 1
    assert np.shares_memory(np.asarray(a), x) if dtype != BFLOAT16 else True
    assert iruka.array(x).data.ptr != x.ctypes.data


@pytest.mark.cpu_only
def test_owner_stays_alive():
    a = iruka.asarray(np.arange(1000, dtype="float64"))
    junk = [np.full(1000, 7.0) for _ in range(50)]
    assert_same(a, np.arange(1000.0))
    view = np.asarray(iruka.arange(1000))
    del a, junk
    np.testing.assert_array_equal(view, np.arange(1000))


@pytest.mark.cpu_only
def test_references_are_given_back():
    import sys

    x = np.arange(10.0)
    before = sys.getrefcount(x)
    a = iruka.asarray(x)
    b = a[2:]
    assert sys.getrefcount(x) > before
    del a, b
    assert sys.getrefcount(x) == before


@pytest.mark.cpu_only
def test_read_only_is_respected():
    x = np.arange(4)
    x.flags.writeable = False
    a = iruka.asarray(x)
    assert a.data.ptr == x.ctypes.data and not a.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    assert not np.asarray(a).flags.writeable
    frozen = iruka.asarray(bytes(8) and np.frombuffer(bytes(8), "uint8"))
    assert not frozen.flags.writeable
    assert iruka.array(x).flags.writeable


@pytest.mark.cpu_only
def test_unaligned_arrays_are_copied():
    raw = np.zeros(33, "uint8")
    x = raw[1:].view("float64")
    x[:] = np.arange(4)
    a = iruka.asarray(x)
    assert a.data.ptr != x.ctypes.data
    assert_same(a, np.arange(4.0))
    with pytest.raises(ValueError):
        iruka.asarray(x, copy=False)


@pytest.mark.parametrize(
    "x, name",
    [
        (np.array(["a"]), "str"),
        (np.array([None]), "object"),
        (np.array([1], "datetime64[s]"), "datetime64"),
        (np.zeros(1, np.longdouble), "longdouble|float128"),
        (np.zeros(1, "i4,f4"), "void"),
        (np.zeros(1, np.clongdouble), "complex256"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_unsupported_dtypes_are_named(x, name):
    for function in (iruka.asarray, iruka.array, lambda v: iruka.ones(1) + v):
        with pytest.raises(TypeError, match=name):
            function(x)


def test_asarray_of_other_things():
    assert_same(iruka.asarray(array.array("f", [1, 2])), np.array([1, 2], "float32"))
    assert_same(iruka.asarray(bytearray(b"ab")), np.array([97, 98], "uint8"))
    assert_same(iruka.asarray(memoryview(np.arange(6).reshape(2, 3))), np.arange(6).reshape(2, 3))
    assert_same(iruka.asarray(np.float32(2)), np.array(2, "float32"))
    assert_same(iruka.asarray(ml_dtypes.bfloat16(2)), np.array(2, BFLOAT16))

    class Interface:
        data = np.arange(3)
        __array_interface__ = data.__array_interface__

    class Converts:
        def __array__(self, dtype=None, copy=None):
            return np.arange(4.0)

    assert_same(iruka.asarray(Interface()), np.arange(3))
    assert_same(iruka.asarray(Converts()), np.arange(4.0))
    assert_same(iruka.asarray(np.arange(3), dtype="float32"), np.arange(3, dtype="float32"))
    with pytest.raises(ValueError):
        iruka.asarray([1, 2], copy=False)


def test_asnumpy_and_get_copy():
    a = iruka.arange(4)
    for x in (iruka.asnumpy(a), a.get(), np.array(a) if a.device.name == "cpu" else a.get(order="F")):
        assert type(x) is np.ndarray and x.flags.owndata and x.flags.writeable
        x[0] = 9
    assert a.tolist() == [0, 1, 2, 3]
    out = np.empty(4, "int64")
    assert iruka.asnumpy(a, out=out) is out and out.tolist() == [0, 1, 2, 3]
    assert iruka.asnumpy(a.reshape(2, 2), order="F").flags.f_contiguous
    assert iruka.asnumpy([1, 2]).tolist() == [1, 2]
    a.set(np.array([4, 3, 2, 1]))
    assert a.tolist() == [4, 3, 2, 1]


@pytest.mark.cpu_only
def test_array_protocol():
    a = iruka.arange(3)
    assert a.__array__().dtype == np.int64
    assert np.asarray(a, dtype="float32").dtype == np.float32
    assert address(a.__array__()) == a.data.ptr and address(a.__array__(copy=True)) != a.data.ptr
    with pytest.raises(ValueError):
        a.__array__("float32", copy=False)
    b = iruka.ones(3, "bfloat16")
    assert np.asarray(b).dtype == BFLOAT16 and address(np.asarray(b)) == b.data.ptr


def test_array_ufunc(rng):
    x, y = values("float32", (3, 4), rng), values("float32", (4,), rng)
    a = iruka.array(x)
    assert_same(np.add(a, y), x + y)
    assert_same(np.add(y, a), y + x)
    assert_same(np.exp(a), np.exp(x), ulps=4)
    assert_same(np.multiply(a, 2, dtype="float64"), np.multiply(x, 2, dtype="float64"))
    target = iruka.empty((3, 4), "float32")
    assert np.subtract(a, y, out=target) is target
    assert_same(target, x - y)
    whole, fraction = np.divmod(a, 2)
    assert_same(whole, x // 2)
    assert_same(fraction, x % 2)
    assert_same(np.add.reduce(a), np.add.reduce(x), ulps=4)
    assert_same(np.maximum.reduce(a, axis=1), np.maximum.reduce(x, axis=1))
    assert_same(np.matmul(a, a.T), np.matmul(x, x.T), ulps=8)
    assert_same(np.vecdot(a, a), np.vecdot(x, x), ulps=8)
    with pytest.raises(TypeError):
        np.isnat(a)


@pytest.mark.cpu_only
def test_array_ufunc_into_numpy_arrays(rng):
    x = values("float32", (3, 4), rng)
    a = iruka.array(x)
    out = np.empty((3, 4), "float32")
    assert np.add(a, 1, out=out) is out
    np.testing.assert_array_equal(out, x + 1)
    unaligned = np.zeros(13 * 4, "uint8")[1:49].view("float32").reshape(3, 4)
    with pytest.raises(TypeError, match="aligned"):
        np.add(a, 1, out=unaligned)
    expected = x.copy()
    expected += iruka.asnumpy(a)
    x += a
    np.testing.assert_array_equal(x, expected)


@pytest.mark.cpu_only
def test_numpy_functions_that_call_methods(rng):
    x = values("float64", (3, 4), rng)
    a = iruka.array(x)
    assert_same(np.sum(a, axis=0), np.sum(x, axis=0), ulps=4)
    assert_same(np.transpose(a), x.T)
    assert_same(np.reshape(a, (4, 3)), x.reshape(4, 3))
    np.testing.assert_allclose(np.linalg.norm(a), np.linalg.norm(x))
    assert np.shape(a) == (3, 4) and np.ndim(a) == 2 and np.size(a) == 12


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=lambda d: d.name)
@pytest.mark.cpu_only
def test_buffer_protocol(dtype, rng):
    x = values(dtype, (3, 4), rng)
    for name, a, same in layouts(x):
        view = memoryview(a)
        assert (
            view.shape == same.shape
            and view.strides == a.strides
            and view.itemsize == dtype.itemsize
            and view.nbytes == x.nbytes
        )
        assert not view.readonly and np.dtype(view.format if kind(dtype) != "c" else dtype) == dtype
        np.testing.assert_array_equal(np.asarray(view), same, err_msg=name)
    assert bytes(iruka.array(x)) == x.tobytes() == iruka.array(x).tobytes()


@pytest.mark.cpu_only
def test_buffers_keep_memory_and_refuse():
    view = memoryview(iruka.arange(500))
    iruka.ones(500)
    assert view[499] == 499
    frozen = iruka.broadcast_to(iruka.arange(3), (2, 3))
    assert memoryview(frozen).readonly
    with pytest.raises(BufferError):
        memoryview(iruka.ones(2, "bfloat16"))
    with pytest.raises((BufferError, TypeError, ValueError)):
        (b"" * 2).join([iruka.arange(6).reshape(2, 3).T])  # needs contiguous bytes


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=lambda d: d.name)
@pytest.mark.cpu_only
def test_dlpack_to_numpy_and_back(dtype, rng):
    x = values(dtype, (3, 4), rng)
    for _, a, same in layouts(x):
        y = np.from_dlpack(a)
        np.testing.assert_array_equal(y, same)
        assert address(y) == a.data.ptr and y.strides == a.strides
    b = iruka.from_dlpack(x)
    assert_same(b, x)
    assert b.data.ptr == x.ctypes.data and b.flags.writeable
    assert iruka.array(x).__dlpack_device__() == (1, 0)


def test_dlpack_of_bfloat16_and_between_ourselves():
    a = iruka.arange(6).astype("bfloat16").reshape(2, 3).T
    b = iruka.from_dlpack(a)
    assert b.dtype == BFLOAT16 and b.data.ptr == a.data.ptr and b.strides == a.strides
    assert_same(b, np.arange(6).astype(BFLOAT16).reshape(2, 3).T)


@pytest.mark.cpu_only
def test_dlpack_read_only():
    frozen = iruka.broadcast_to(iruka.arange(3), (2, 3))
    assert not np.from_dlpack(frozen).flags.writeable
    assert not iruka.from_dlpack(frozen).flags.writeable
    with pytest.raises(BufferError):
        frozen.__dlpack__()
    x = np.arange(3)
    x.flags.writeable = False
    assert not iruka.from_dlpack(x).flags.writeable


@pytest.mark.cpu_only
def test_dlpack_details():
    a = iruka.arange(4)
    assert "dltensor_versioned" in repr(a.__dlpack__(max_version=(1, 0))) and '"dltensor"' in repr(a.__dlpack__())
    copied = iruka.from_dlpack(a, copy=True)
    assert copied.data.ptr != a.data.ptr and copied.tolist() == a.tolist()
    with pytest.raises(BufferError):
        a.__dlpack__(dl_device=(2, 0))
    capsule = a.__dlpack__(max_version=(1, 1))
    assert iruka.from_dlpack(capsule).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError):
        iruka.from_dlpack(capsule)  # used
    with pytest.raises(TypeError):
        iruka.from_dlpack([1, 2])
    if iruka.cuda.is_available():
        assert iruka.from_dlpack(a, device="cuda:0").tolist() == [0, 1, 2, 3]
    else:
        with pytest.raises(ValueError):
            iruka.from_dlpack(a, device="cuda:0")
    for _ in range(1000):
        a.__dlpack__()  # capsules without a consumer are freed


@pytest.mark.cpu_only
def test_dlpack_keeps_memory():
    x = np.from_dlpack(iruka.arange(1000))
    iruka.ones(1000)
    np.testing.assert_array_equal(x, np.arange(1000))
    b = iruka.from_dlpack(np.arange(1000))
    np.ones(1000)
    assert_same(b, np.arange(1000))


def test_old_producers_without_keywords():
    class Old:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, stream=None):
            return self.x.__dlpack__()

        def __dlpack_device__(self):
            return 1, 0

    assert_same(iruka.from_dlpack(Old(np.arange(5))), np.arange(5))
    assert_same(iruka.asarray(Old(np.arange(5))), np.arange(5))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_pickling(protocol, dtype, rng):
    x = values(dtype, (3, 4), rng)
    for _, a, same in layouts(x):
        b = pickle.loads(pickle.dumps(a, protocol))
        assert_same(b, same)
        assert b.flags.writeable
    assert_same(pickle.loads(pickle.dumps(iruka.asarray(2.5), protocol)), np.array(2.5))


def test_pickling_out_of_band():
    a = iruka.arange(10000)
    buffers = []
    data = pickle.dumps(a, 5, buffer_callback=buffers.append)
    assert len(data) < 1000 and len(buffers) == 1
    assert_same(pickle.loads(data, buffers=buffers), np.arange(10000))


@pytest.mark.parametrize(
    "place, thing",
    [
        ("_array restore", iruka._array.restore),
        ("_functions ufunc_named", iruka._functions.ufunc_named),
        ("_functions reduction_named", iruka._functions.reduction_named),
        ("_generator Generator", iruka.random.Generator),
        ("_generator Philox", iruka.random.Philox),
        ("_polynomials poly1d", iruka.poly1d),
        ("_sets UniqueAllResult", type(iruka.unique_all(iruka.arange(2)))),
        ("_creation linspace", iruka.linspace),
        ("_creation asarray", iruka.asarray),
        ("_manipulation concatenate", iruka.concatenate),
        ("_statistics cumsum", iruka.cumsum),
        ("_statistics searchsorted", iruka.searchsorted),
        ("_statistics var", iruka.var),
        ("_functional apply_along_axis", iruka.apply_along_axis),
    ],
)
def test_pickles_of_earlier_builds_find_their_things(place, thing):
    module, name = place.split()
    assert pickle.loads(f"ciruka.{module}\n{name}\n.".encode()) is thing


def test_torch():
    torch = pytest.importorskip("torch")
    t = torch.arange(6).reshape(2, 3)
    a = iruka.from_dlpack(t)
    assert a.data.ptr == t.data_ptr() and a.tolist() == t.tolist()
    assert torch.from_dlpack(a).data_ptr() == t.data_ptr()


def test_testing_module():
    a = iruka.arange(3.0)
    iruka.testing.assert_allclose(a + 1, np.arange(3.0) + 1 + 1e-12)
    iruka.testing.assert_array_equal(a, [0, 1, 2])
    iruka.testing.assert_array_almost_equal(a, a + 1e-9)
    for function in (
        iruka.testing.assert_allclose,
        iruka.testing.assert_array_equal,
        iruka.testing.assert_array_almost_equal,
    ):
        with pytest.raises(AssertionError):
            function(a, a + 1)


def test_pictures(tmp_path, rng):
    picture = rng.integers(0, 256, (20, 30, 3)).astype("uint8")
    iruka.image.imwrite(tmp_path / "a.png", iruka.array(picture))
    assert_same(iruka.image.imread(tmp_path / "a.png"), picture)
    assert_same(iruka.image.imdecode(iruka.image.imencode(".png", picture)), picture)
    assert iruka.image.imread(tmp_path / "a.png", mode="gray").shape == (20, 30)
    jpeg = iruka.image.imdecode(iruka.image.imencode("jpeg", iruka.full((16, 16, 3), 100, "uint8"), quality=90))
    assert jpeg.shape == (16, 16, 3) and abs(iruka.asnumpy(jpeg).astype(int) - 100).max() <= 2
    with pytest.raises(ValueError):
        iruka.image.imread(tmp_path / "a.png", max_pixels=10)


def odd_booleans():
    """Booleans whose bytes are not 0 and 1, by every way in: (iruka's array, NumPy's truth values)."""
    raw = np.array([0, 1, 2, 255, 0, 128, 4] * 9, "uint8")
    odd, truth = raw.view(bool), raw != 0
    yield "numpy", iruka.asarray(odd), truth
    yield "dlpack", iruka.from_dlpack(odd), truth
    yield "view", iruka.array(raw).view("bool"), truth
    yield "every other", iruka.asarray(odd)[::2], truth[::2]
    yield "transposed", iruka.asarray(odd.reshape(7, 9)).T, truth.reshape(7, 9).T


BOOLEAN_USES = {
    "astype": lambda m, x: x.astype("int32"),
    "sum": lambda m, x: m.sum(x, axis=None),
    "sum of an axis": lambda m, x: m.sum(x, axis=0),
    "prod": lambda m, x: m.prod(x, axis=0),
    "mean": lambda m, x: m.mean(x, axis=None),
    "max": lambda m, x: m.max(x, axis=None),
    "min": lambda m, x: m.min(x, axis=None),
    "argmax": lambda m, x: m.argmax(x, axis=None),
    "any": lambda m, x: m.any(x, axis=0),
    "all": lambda m, x: m.all(x, axis=None),
    "where": lambda m, x: m.where(x, 3, 4),
    "add": lambda m, x: m.add(x, 1),
    "and": lambda m, x: m.bitwise_and(x, True),
    "xor": lambda m, x: m.bitwise_xor(x, True),
    "invert": lambda m, x: m.invert(x),
    "equal": lambda m, x: m.equal(x, True),
    "less": lambda m, x: m.less(x, True),
    "maximum": lambda m, x: m.maximum(x, False),
}


@pytest.mark.parametrize("use", BOOLEAN_USES.values(), ids=BOOLEAN_USES.keys())
def test_any_nonzero_byte_is_true(use):
    for name, x, truth in odd_booleans():
        expected = use(np, np.ascontiguousarray(truth))
        actual = iruka.asnumpy(use(iruka, x))
        assert actual.dtype == expected.dtype, name
        np.testing.assert_array_equal(actual.astype("float64"), expected.astype("float64"), err_msg=name)


def test_any_nonzero_byte_is_true_in_a_kernel():
    as_number = iruka.ElementwiseKernel("bool x", "int32 y", "y = x;", "as_number")
    chosen = iruka.ElementwiseKernel("T x", "int32 y", "y = x ? 10 : 5;", "chosen")
    compared = iruka.ElementwiseKernel("bool x, bool z", "bool y", "y = x == z;", "compared")
    for name, x, truth in odd_booleans():
        np.testing.assert_array_equal(iruka.asnumpy(as_number(x)), truth, err_msg=name)
        np.testing.assert_array_equal(iruka.asnumpy(chosen(x)), np.where(truth, 10, 5), err_msg=name)
        np.testing.assert_array_equal(iruka.asnumpy(compared(x, True)).view("uint8"), truth, err_msg=name)


def test_to_device_gives_the_array_that_is_there():
    x = iruka.arange(3)
    assert x.to_device(x.device) is x and x.to_device(x.device.name) is x
    assert x[::-1].to_device(x.device).tolist() == [2, 1, 0]


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=[d.name for d in NUMPY_DTYPES])
def test_array_interface(dtype, rng):
    for name, x, expected in layouts(values(dtype, (3, 4), rng)):
        interface = x.__array_interface__

        class Holder:
            __array_interface__ = interface

        shared = np.asarray(Holder())
        assert shared.dtype == expected.dtype and interface["data"][1] == (not x.flags.writeable), name
        np.testing.assert_array_equal(shared, expected, name)
        assert interface["data"][0] == x.data.ptr
    with pytest.raises(AttributeError):
        iruka.ones(3, "bfloat16").__array_interface__


@pytest.mark.cpu_only
def test_pictures_of_pillow():
    Image = pytest.importorskip("PIL.Image")
    pixels = np.arange(48, dtype="uint8").reshape(4, 4, 3)
    for view in (np.s_[:], np.s_[::-1, ::2]):
        np.testing.assert_array_equal(np.asarray(Image.fromarray(iruka.array(pixels)[view])), pixels[view])
    assert_same(iruka.array(Image.fromarray(pixels)), pixels)


NUMPY_TARGETS = {
    "add": (lambda m, x, out: m.add(x, 1, out=out), (3, 4)),
    "add, positional": (lambda m, x, out: m.add(x, 1, out), (3, 4)),
    "add, where": (lambda m, x, out: m.add(x, 1, out=out, where=m.asarray([True, False, True, False])), (3, 4)),
    "reduce": (lambda m, x, out: m.add.reduce(x, out=out), (4,)),
    "accumulate": (lambda m, x, out: m.add.accumulate(x, out=out), (3, 4)),
    "sum": (lambda m, x, out: m.sum(x, axis=0, out=out), (4,)),
    "x.max": (lambda m, x, out: x.max(axis=1, out=out), (3,)),
    "mean": (lambda m, x, out: m.mean(x, axis=0, out=out), (4,)),
    "std": (lambda m, x, out: m.std(x, axis=0, out=out), (4,)),
    "median": (lambda m, x, out: m.median(x, axis=0, out=out), (4,)),
    "cumsum": (lambda m, x, out: m.cumsum(x, axis=1, out=out), (3, 4)),
    "clip": (lambda m, x, out: x.clip(1, 2, out=out), (3, 4)),
    "matmul": (lambda m, x, out: m.matmul(x, x.T, out=out), (3, 3)),
    "dot": (lambda m, x, out: m.dot(x, x.T, out=out), (3, 3)),
    "take": (lambda m, x, out: m.take(x, [0, 2], axis=1, out=out), (3, 2)),
    "concatenate": (lambda m, x, out: m.concatenate([x, x], out=out), (6, 4)),
    "einsum": (lambda m, x, out: m.einsum("ij->j", x, out=out), (4,)),
}


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", NUMPY_TARGETS)
def test_results_go_into_numpys_arrays(name):
    call, shape = NUMPY_TARGETS[name]
    source = np.arange(12.0).reshape(3, 4)
    whole = np.full((2 * shape[0], *shape[1:]), 7.0)
    parts = (np.s_[: shape[0]], np.s_[shape[0] :]) if name == "dot" else (np.s_[::2], np.s_[1::2])  # as np.dot requires
    target, expected = whole[parts[0]], np.full(shape, 7.0)
    call(np, source, expected)
    assert call(iruka, iruka.array(source), target) is target
    np.testing.assert_array_equal(target, expected)
    assert (whole[parts[1]] == 7).all()
    target.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        call(iruka, iruka.array(source), target)


@pytest.mark.cpu_only
def test_unaligned_numpy_targets_are_refused():
    target = np.zeros(25, "uint8")[1:].view("float64")
    with pytest.raises(TypeError, match="not aligned"):
        iruka.add(iruka.ones(3), 1, out=target)


@pytest.mark.cpu_only
def test_ufuncs_of_scipy():
    special = pytest.importorskip("scipy.special")
    source = np.linspace(0.5, 4, 12).reshape(3, 4)
    x = iruka.array(source)
    assert_same(special.gamma(x), special.gamma(source))
    assert_same(special.erf(x[::-1, ::2]), special.erf(source[::-1, ::2]))
    assert_same(special.jv(1, x), special.jv(1, source))
    assert_same(special.xlogy(source, x), special.xlogy(source, source))
    assert_same(special.expit(x[0, 0]), special.expit(source[0, 0]))
    for actual, expected in zip(special.sici(x), special.sici(source)):
        assert_same(actual, expected)
    out = iruka.empty((3, 4))
    assert special.erf(x, out=out) is out
    assert_same(out, special.erf(source))
    numpys = np.empty((3, 4))
    assert special.erf(x, out=numpys) is numpys and (numpys == special.erf(source)).all()


@pytest.mark.cpu_only
def test_masks_and_columns_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [4.0, 5, 6]})
    x = iruka.arange(3.0)
    assert_same(x[frame.a > 1], [1.0, 2])
    assert_same(x[frame.a - 1], [0.0, 1, 2])
    x[frame.a > 2] = 9
    assert_same(x, [0.0, 1, 9])
    assert_same(iruka.asarray(frame.b), [4.0, 5, 6])
    assert_same(iruka.where(frame.a > 1, x, 0), [0.0, 1, 9])
    assert_same(iruka.where(x > 0, frame.b, 0.0), [0.0, 5, 6])
    assert isinstance(x + frame.b, pandas.Series) and (frame.assign(c=x).c == [0, 1, 9]).all()
