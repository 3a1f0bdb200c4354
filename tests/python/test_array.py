"""iruka.ndarray: attributes, views, copies, conversions, printing."""

import copy

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import BFLOAT16, DTYPE_IDS, DTYPES, NUMPY_DTYPES, assert_same, beyond_numbers, kind, layouts, values


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_attributes(dtype, rng):
    x = values(dtype, (2, 3, 4), rng)
    a = iruka.array(x)
    assert a.shape == (2, 3, 4) and a.strides == x.strides and a.ndim == 3 and a.size == 24
    assert a.dtype == x.dtype and isinstance(a.dtype, np.dtype)
    assert a.itemsize == x.itemsize and a.nbytes == x.nbytes
    assert a.T.shape == (4, 3, 2) and a.T.strides == x.T.strides
    assert len(a) == 2
    assert_same(a, x)


@pytest.mark.cpu_only
def test_device():
    device = iruka.ones(1).device
    assert type(device).__name__ == "Device" and repr(device) == "<CPU Device>"
    assert device.id == 0 and device.name == "cpu" and device == iruka.device("cpu") and device != "cpu"
    assert hash(device) == hash(iruka.device("cpu"))


def test_flags_and_address():
    a = iruka.ones((3, 4))
    assert a.flags.c_contiguous and not a.flags.f_contiguous and a.flags["C_CONTIGUOUS"] and a.flags["C"]
    assert a.T.flags.f_contiguous and a.flags.writeable and a.flags.owndata
    assert not iruka.broadcast_to(iruka.ones(3), (2, 3)).flags.writeable
    assert a.data.ptr % 64 == 0 and a[1].data.ptr == a.data.ptr + 32
    if a.device.name == "cpu":
        assert a.data.ptr == np.asarray(a).__array_interface__["data"][0]
    with pytest.raises(KeyError):
        a.flags["NO_SUCH_FLAG"]


@given(st.lists(st.integers(0, 4), min_size=0, max_size=5), st.randoms(use_true_random=False))
def test_views_follow_numpy(shape, random):
    x = np.arange(int(np.prod(shape, dtype=int)), dtype="int32").reshape(shape)
    a = iruka.array(x)
    axes = list(range(len(shape)))
    random.shuffle(axes)
    assert_same(a.transpose(axes), x.transpose(axes))
    assert_same(a.T.ravel(), x.T.ravel())
    assert_same(a.transpose(axes).reshape(-1 if x.size else (0,)), x.transpose(axes).reshape(-1 if x.size else (0,)))
    assert_same(a.squeeze(), x.squeeze())
    for place in range(len(shape) + 1):
        assert_same(iruka.expand_dims(a, place), np.expand_dims(x, place))
    if len(shape) > 1:
        assert_same(a.swapaxes(0, -1), x.swapaxes(0, -1))
        assert_same(iruka.moveaxis(a, 0, -1), np.moveaxis(x, 0, -1))


def test_reshape():
    x = np.arange(24)
    a = iruka.array(x)
    assert_same(a.reshape(2, 3, 4), x.reshape(2, 3, 4))
    assert_same(a.reshape((4, -1)), x.reshape(4, -1))
    assert_same(a.reshape(4, 6, order="F"), x.reshape(4, 6, order="F"))
    assert_same(a.reshape(4, 6).T.reshape(3, 8), x.reshape(4, 6).T.reshape(3, 8))
    assert_same(iruka.reshape(a, (3, 8)), x.reshape(3, 8))
    a.reshape(2, 12)[1] = 0  # a view
    assert a[12:].tolist() == [0] * 12
    for shape in ((5, 5), (-1, -1), (-1, 7), (0, -1)):
        with pytest.raises(ValueError, match="reshape"):
            a.reshape(shape)
    with pytest.raises(TypeError, match="reshape: shape"):
        a.reshape("ab")
    with pytest.raises(ValueError, match="32"):
        a.reshape((1,) * 33)


def test_flatten_copies_and_ravel_does_not():
    a = iruka.arange(6).reshape(2, 3)
    a.ravel()[0] = 7
    a.flatten()[1] = 9
    assert a.tolist() == [[7, 1, 2], [3, 4, 5]]
    assert_same(a.ravel("F"), iruka.asnumpy(a).ravel("F"))


def test_transpose_forms():
    x = np.arange(6).reshape(1, 2, 3)
    a = iruka.array(x)
    for axes in ((), (None,), ((2, 0, 1),), (2, 0, 1), (-1, 0, 1)):
        assert_same(a.transpose(*axes), x.transpose(*axes))
    assert_same(iruka.transpose(a, axes=(1, 2, 0)), np.transpose(x, axes=(1, 2, 0)))
    for axes in ((0, 0, 1), (0, 1), (0, 1, 3)):
        with pytest.raises((ValueError, IndexError)):
            a.transpose(axes)


def test_squeeze_axes():
    x = np.zeros((1, 3, 1, 2))
    a = iruka.array(x)
    for axis in (0, 2, -2, (0, 2)):
        assert_same(a.squeeze(axis), x.squeeze(axis))
    with pytest.raises(ValueError):
        a.squeeze(1)
    for twice in ((0, 0), (2, -2)):
        with pytest.raises(ValueError, match="duplicate value in 'axis'"):
            a.squeeze(twice)
    with pytest.raises(IndexError):
        a.squeeze(7)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("source", DTYPES, ids=DTYPE_IDS)
def test_astype(source, rng):
    x = values(source, (3, 5), rng)
    for target in DTYPES:
        if kind(source) == "c" and kind(target) != "c":
            expected = x.real.astype(target)
        elif kind(target) == "u" and kind(source) in "f":
            x, expected = abs(x), abs(x).astype(target)
        else:
            expected = x.astype(target)
        if kind(source) == "c" and kind(target) == "u":
            expected = np.maximum(x.real, 0).astype(target)
        if kind(source) == "c" and kind(target) == "b":
            expected = x.astype(bool)
        assert_same(iruka.array(x).astype(target), expected, message=f"{source} to {target}")


@beyond_numbers
def test_astype_saturates_and_copies():
    x = iruka.array([np.nan, np.inf, -np.inf, 300.0, -300.0, 2.9, -2.9])
    assert x.astype("int8").tolist() == [0, 127, -128, 127, -128, 2, -2]
    assert x.astype("uint8").tolist() == [0, 255, 0, 255, 0, 2, 0]
    same = x.astype("float64", copy=False)
    assert same.data.ptr == x.data.ptr and x.astype("float64").data.ptr != x.data.ptr
    with pytest.raises(TypeError, match="'float64'.*'int8'.*same_kind"):
        x.astype("int8", casting="same_kind")


def test_view_as_another_dtype():
    x = np.arange(6, dtype="float32").reshape(2, 3)
    assert_same(iruka.array(x).view("int32"), x.view("int32"))
    assert_same(iruka.array(x).view("uint8"), x.view("uint8"))
    assert_same(iruka.array(x).view(), x)
    assert_same(iruka.array(x.astype("complex64")).view("float32"), x.astype("complex64").view("float32"))
    with pytest.raises((ValueError, TypeError)):
        iruka.array(x).view("float64")


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_fill_and_item(dtype):
    a = iruka.empty((2, 3), dtype)
    a.fill(1)
    expected = np.ones((2, 3), dtype)
    assert_same(a, expected)
    item = a.item(0)
    assert item == 1 and type(item) is {"b": bool, "i": int, "u": int, "f": float, "c": complex}[kind(dtype)]
    assert a.item(1, 2) == 1 and a.item((1, 2)) == 1 and a.item(5) == 1
    assert a.tolist() == expected.astype("float32" if dtype == BFLOAT16 else dtype).tolist()
    with pytest.raises(IndexError):
        a.item(6)
    with pytest.raises(ValueError):
        a.item()
    for array, index in ((a[0], (0, 0)), (a[0], ((0, 0),)), (a, (0, 0, 0)), (a[0, 0], (0, 0)), (a[0], ((),))):
        with pytest.raises(ValueError, match="incorrect number of indices for array"):
            array.item(*index)


def test_filling_checks_values():
    a = iruka.zeros(3, "uint8")
    with pytest.raises(OverflowError):
        a.fill(256)
    with pytest.raises(ValueError):
        iruka.broadcast_to(a, (2, 3)).fill(1)
    with pytest.raises(TypeError):
        a.fill("x")
    with pytest.raises(ValueError):
        a.fill(iruka.zeros(3))


def test_conversions():
    a = iruka.asarray(3)
    assert (int(a), float(a), complex(a), bool(a)) == (3, 3.0, 3 + 0j, True)
    assert [10, 20, 30, 40][a] == 40 and list(range(5))[: iruka.asarray(2)] == [0, 1]
    assert float(iruka.array([[2.5]])) == 2.5 and int(iruka.array([2.9])) == 2
    assert round(float(iruka.linalg.norm(iruka.array([3.0, 4.0]))), 6) == 5.0
    for convert in (int, float, complex):
        with pytest.raises(TypeError):
            convert(iruka.ones(2))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(iruka.ones(2))
    with pytest.raises(ValueError):
        bool(iruka.ones(0))
    with pytest.raises(TypeError):
        [1, 2][iruka.asarray(1.0)]
    with pytest.raises(TypeError):
        [1, 2][iruka.ones(1, int)]
    with pytest.raises(TypeError):
        int(iruka.asarray(1j))
    with pytest.raises(TypeError):
        len(a)


def test_iteration_and_membership():
    x = np.arange(6).reshape(2, 3)
    a = iruka.array(x)
    for row, expected in zip(a, x, strict=True):
        assert_same(row, expected)
    assert [int(v) for v in a[0]] == [0, 1, 2]
    assert 4 in a and 6 not in a
    with pytest.raises(TypeError, match="iteration"):
        iter(iruka.asarray(1))


def test_hash_and_comparison():
    a = iruka.ones(2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    assert (a == None).tolist() == [False, False] and (a != None).all()  # noqa: E711
    with pytest.raises(TypeError):
        a < "x"


def test_copies():
    a = iruka.arange(4)
    for other in (a.copy(), copy.copy(a), copy.deepcopy(a), iruka.copy(a), iruka.array(a)):
        other[0] = 9
    assert a.tolist() == [0, 1, 2, 3]
    assert iruka.asarray(a) is not None and iruka.asarray(a).data.ptr == a.data.ptr
    b = iruka.arange(6).reshape(2, 3)
    assert b.copy(order="F").flags.f_contiguous
    assert_same(b.copy(order="F"), np.arange(6).reshape(2, 3))


@pytest.mark.parametrize(
    "x",
    [
        np.arange(6).reshape(2, 3),
        np.float32([1.5, 2]),
        np.array(3),
        np.zeros((0, 2)),
        np.eye(3, dtype=bool),
        np.arange(3) + 1j,
        np.arange(2000),
        np.arange(4).astype(BFLOAT16),
        np.float16([1e-7, 60000]),
    ],
    ids=lambda x: f"{x.dtype}{x.shape}",
)
def test_printing_is_numpys(x):
    a = iruka.array(x)
    assert repr(a) == repr(x) and str(a) == str(x)
    with np.printoptions(precision=2, threshold=5, formatter={"int": "{:02d}".format}):
        assert repr(a) == repr(x) and str(a) == str(x)
        for _, view, same in layouts(x):
            assert repr(view) == repr(same)


def test_formatting():
    assert f"{iruka.asarray(2.5):.2f}" == "2.50" and f"{iruka.asarray(7):03d}" == "007"
    assert f"{iruka.arange(3)}" == "[0 1 2]"
    with pytest.raises(TypeError):
        f"{iruka.arange(3):.2f}"


def test_complex_parts(rng):
    z = values("complex64", 5, rng)
    a = iruka.array(z)
    assert_same(a.real, z.real)
    assert_same(a.imag, z.imag)
    assert_same(a.conj(), z.conj())
    x = iruka.arange(3.0)
    assert_same(x.imag, np.zeros(3))
    assert_same(x.real, np.arange(3.0))


def test_clip(rng):
    x = values("float32", 20, rng)
    a = iruka.array(x)
    assert_same(a.clip(-2, 3), x.clip(-2, 3))
    assert_same(iruka.clip(a, None, 1), np.clip(x, None, 1))
    assert_same(iruka.clip(a, 0), np.clip(x, 0, None))
    assert_same(a.clip(), x.clip())


def test_constructor_and_large_shapes():
    assert iruka.ndarray((2, 3), "int16").shape == (2, 3)
    with pytest.raises(ValueError):
        iruka.ndarray((-1,))
    with pytest.raises(ValueError):
        iruka.empty((2**40, 2**40))
    with pytest.raises(MemoryError):
        iruka.empty(2**55)


def test_strange_dtypes_are_named():
    for dtype in (object, "S3", "U2", "datetime64[s]", np.longdouble, ">f4", "i4,f4"):
        with pytest.raises(TypeError):
            iruka.empty(2, dtype)
    with pytest.raises(TypeError, match="nonsense"):
        iruka.empty(2, "nonsense")
    assert iruka.empty(1, "bfloat16").dtype == BFLOAT16 and iruka.empty(1, iruka.bfloat16).dtype == BFLOAT16
    assert iruka.empty(1, float).dtype == np.float64 and iruka.empty(1, int).dtype == np.int64
    assert iruka.empty(1, np.longlong).dtype == np.int64


def test_memory_pool():
    pool = iruka.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.used_bytes()
    a = iruka.empty(1 << 20, "uint8")
    assert pool.used_bytes() - before >= 1 << 20 and pool.total_bytes() >= pool.used_bytes()
    del a
    assert pool.used_bytes() == before
    assert pool.free_bytes() >= 1 << 20
    pool.free_all_blocks()
    assert pool.free_bytes() == 0
    pool.set_limit(size=pool.used_bytes() + (1 << 21))  # a GPU's pool grows by 2 MiB
    try:
        with pytest.raises(MemoryError, match="limit"):
            iruka.empty(1 << 23, "uint8")
        iruka.empty(1 << 10, "uint8")
    finally:
        pool.set_limit(size=0)
    assert iruka.memory_statistics()["limit_bytes"] == 0


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=lambda d: d.name)
def test_can_cast_and_promotion_names(dtype):
    assert iruka.can_cast(dtype, "complex128") == np.can_cast(dtype, "complex128")
    assert iruka.can_cast(iruka.zeros(1, dtype), "int16", "same_kind") == np.can_cast(dtype, "int16", "same_kind")
    assert iruka.result_type(dtype, iruka.ones(2, "int8"), 1) == np.result_type(dtype, "int8", 1)
    for numbers in [(2**64 - 1,), (2**64 - 1, 127), (127, 2**63), (2**63, True), (2**63, 1.0), (dtype, 2**63), (1,)]:
        assert iruka.result_type(*numbers) == np.result_type(*numbers), numbers


@pytest.mark.parametrize("order", ["C", "F", "A", "K", "c", "f", "a", "k"])
@pytest.mark.parametrize("name", ["ravel", "flatten", "copy"])
def test_orders_of_elements(name, order):
    whole = np.arange(24).reshape(2, 3, 4)
    views = {
        "axes exchanged": lambda x: x.transpose(1, 0, 2),
        "axes turned": lambda x: x.transpose(2, 0, 1),
        "backwards": lambda x: x[:, ::-1],
        "gaps": lambda x: x[::2, :, ::2].transpose(0, 2, 1),
        "Fortran": lambda x: x.T,
        "every other": lambda x: x.ravel()[::2],
        "reversed": lambda x: x.ravel()[::-1],
        "one of an axis": lambda x: x[:1].transpose(2, 0, 1),
    }
    for label, view in views.items():
        expected, actual = (getattr(view(x), name)(order) for x in (whole, iruka.asarray(whole)))
        np.testing.assert_array_equal(iruka.asnumpy(actual), expected, err_msg=label)
        assert actual.strides == expected.strides, label


@pytest.mark.parametrize(
    "shape, strides",
    [
        ((3, 13, 8, 4), (0, 8, 1, 0)),
        ((2, 3, 4), (0, 4, 1)),
        ((2, 3, 4), (1, 0, 2)),
        ((4, 3, 2), (0, 0, 1)),
        ((2, 1, 3), (1, 9, 2)),
    ],
)
def test_order_k_of_axes_that_repeat_elements(shape, strides):
    whole = np.arange(200, dtype="int8")
    expected = np.lib.stride_tricks.as_strided(whole, shape, strides)
    actual = iruka.lib.stride_tricks.as_strided(iruka.asarray(whole), shape, strides)
    for name in ("ravel", "flatten"):
        assert_same(getattr(actual, name)("K"), getattr(expected, name)("K"))


def test_ravel_is_a_view_where_elements_lie_so():
    x = iruka.asarray(np.arange(6).reshape(2, 3))
    x.ravel()[0] = 9
    x.T.ravel("F")[1] = 8
    x.T.ravel("K")[2] = 7
    assert x.tolist() == [[9, 8, 7], [3, 4, 5]]
    with pytest.raises(ValueError, match="not permitted"):
        x.reshape(6, order="K")


def test_an_array_over_given_memory():
    x = iruka.asarray(np.arange(12, dtype="int32"))
    rows = iruka.ndarray((3, 4), "int32", x.data)
    turned = iruka.ndarray((4, 3), "int32", x.data, order="F")
    step = iruka.ndarray((3,), "int32", x[1:].data, (16,))
    bits = iruka.ndarray((6,), "uint64", x.data)
    np.testing.assert_array_equal(iruka.asnumpy(rows), np.arange(12).reshape(3, 4))
    np.testing.assert_array_equal(iruka.asnumpy(turned), np.arange(12).reshape(3, 4).T)
    assert step.tolist() == [1, 5, 9]
    assert bits.tolist() == np.arange(12, dtype="int32").view("uint64").tolist()
    rows[0, 0] = 5
    assert x[0].item() == 5
    assert iruka.ndarray((2, 3), "int32", order="F").strides == (4, 8)
    for wrong in ({"shape": 13}, {"shape": 2, "strides": (48,)}, {"shape": 2, "strides": (3,)}):
        with pytest.raises(ValueError, match="ndarray"):
            iruka.ndarray(dtype="int32", memptr=x.data, **wrong)
    with pytest.raises(ValueError, match="need memptr"):
        iruka.ndarray(3, strides=(16,))
    with pytest.raises(TypeError, match="memptr"):
        iruka.ndarray(3, memptr=1234)


def test_bytes_in_an_order():
    x = np.arange(6, dtype="int16").reshape(2, 3)
    for array, own in ((x, iruka.array(x)), (x.T, iruka.array(x).T)):
        for order in ("C", "F", "A", "K", "f"):
            assert own.tobytes(order) == array.tobytes(order)
        assert own.tobytes() == array.tobytes()
