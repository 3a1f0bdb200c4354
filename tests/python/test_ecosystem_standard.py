"""The array API standard's list of names and parameters (array-api-strict's), and array-api-compat's helpers."""

import inspect

import numpy as np
import pytest

import iruka

strict = pytest.importorskip("array_api_strict")
compat = pytest.importorskip("array_api_compat")

EXTENSIONS = {"": iruka.array_api, "linalg": iruka.array_api.linalg, "fft": iruka.array_api.fft}
# Names of array-api-strict that are not in the standard.
NOT_STANDARD = {"Device", "newaxis", "ArrayAPIStrictFlags"}


def standard_names(extension):
    module = getattr(strict, extension) if extension else strict
    return [
        n for n in module.__all__ if n not in NOT_STANDARD and "array_api_strict" not in n and not n.startswith("__")
    ]


ALL = [(extension, name) for extension in EXTENSIONS for name in standard_names(extension)]


def test_the_whole_standard_is_looked_at():
    assert strict.__array_api_version__ == iruka.__array_api_version__ == "2025.12"
    counts = {extension: len(standard_names(extension)) for extension in EXTENSIONS}
    assert counts[""] > 140 and counts["linalg"] >= 23 and counts["fft"] == 14, counts
    assert iruka.newaxis is None and callable(iruka.__array_namespace_info__)


@pytest.mark.parametrize("extension, name", ALL, ids=lambda v: v or None)
def test_name_and_parameters(extension, name):
    """Every parameter of the standard exists, by position where it may be given so, by keyword otherwise."""
    wanted, found = (
        getattr(getattr(strict, extension) if extension else strict, name),
        getattr(EXTENSIONS[extension], name),
    )
    if not inspect.isfunction(wanted):  # dtypes, constants, modules
        assert (
            np.dtype(found).name == name
            if type(wanted).__module__ == "array_api_strict._dtypes"
            else type(found) is type(wanted)
        )
        return
    if name == "broadcast_shapes":  # takes any number of shapes
        assert iruka.broadcast_shapes((2, 1), (3,)) == (2, 3)
        return
    parameters = list(inspect.signature(found).parameters.values())
    by_name = {p.name: p for p in parameters}
    is_open = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    for place, parameter in enumerate(inspect.signature(wanted).parameters.values()):
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            assert is_open or parameters[place].kind != inspect.Parameter.KEYWORD_ONLY, parameter
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            assert parameter.name in by_name, f"{name} lacks {parameter}"
            assert by_name[parameter.name].kind != inspect.Parameter.POSITIONAL_ONLY, parameter


def test_array_methods():
    """The standard's requirements for an array."""
    array = strict.asarray([1.0])
    names = [n for n in dir(type(array)) if n.startswith("__") or not n.startswith("_")]
    missing = [
        n for n in names if not hasattr(iruka.ndarray, n) and n not in ("__buffer__", "__slots__", "__weakref__")
    ]
    assert not missing


def test_dtypes_and_constants():
    info = iruka.__array_namespace_info__()
    for name, dtype in info.dtypes().items():
        assert getattr(iruka, name) == dtype and iruka.zeros(2, dtype=getattr(iruka, name)).dtype == dtype
    for name in ("e", "inf", "nan", "pi"):
        np.testing.assert_equal(getattr(iruka, name), getattr(strict, name))


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: iruka.arange(3, **k),
        lambda **k: iruka.asarray([1, 2, 3], **k),
        lambda **k: iruka.empty(3, **k),
        lambda **k: iruka.eye(3, **k),
        lambda **k: iruka.full(3, 2, **k),
        lambda **k: iruka.linspace(0, 1, 3, **k),
        lambda **k: iruka.ones((3, 2), **k),
        lambda **k: iruka.zeros((3, 2), **k),
        lambda **k: iruka.empty_like(iruka.ones(3), **k),
        lambda **k: iruka.full_like(iruka.ones(3), 2, **k),
        lambda **k: iruka.ones_like(iruka.ones(3), **k),
        lambda **k: iruka.zeros_like(iruka.ones(3), **k),
        lambda **k: iruka.from_dlpack(iruka.ones(3), **k),
        lambda **k: iruka.astype(iruka.ones(3), "float32", **k),
    ],
)
def test_device_of_new_arrays(make):
    plain = make()
    for device in (plain.device, "cpu"):
        placed = make(device=device)
        assert placed.device == iruka.device(device if device == "cpu" else device.name)
        assert placed.shape == plain.shape and placed.dtype == plain.dtype
    with pytest.raises((iruka.errors.DeviceError, ValueError), match="abacus"):
        make(device="abacus")


def test_copies_of_reshape():
    x = iruka.arange(6).reshape(2, 3)
    shared = iruka.reshape(x, (3, 2), copy=False)
    apart = iruka.reshape(x, (3, 2), copy=True)
    x[0, 0] = 9
    assert shared[0, 0] == 9 and apart[0, 0] == 0 and x.reshape(6, copy=True).tolist() == [9, 1, 2, 3, 4, 5]
    assert x.T.reshape(6, copy=True).tolist() == [9, 3, 1, 4, 2, 5]
    with pytest.raises(ValueError, match="copy=False"):
        iruka.reshape(x.T, (6,), copy=False)


def test_bounds_of_clip():
    x = iruka.array([0, 100, 255], dtype="uint8")
    n = iruka.asnumpy(x)
    for low, high in ((10, 200), (None, 50), (50, None), (-5, 300), (None, None), (-5, None)):
        np.testing.assert_array_equal(iruka.asnumpy(iruka.clip(x, min=low, max=high)), np.clip(n, low, high))
        assert (
            iruka.clip(x, low, high).dtype == np.uint8
            and iruka.clip(x, low, high).tolist() == np.clip(n, low, high).tolist()
        )
    with pytest.raises(ValueError, match="a_min"):
        iruka.clip(x, 1, 2, min=3)


def test_compat_helpers():
    x = iruka.ones((2, 3))
    assert compat.is_array_api_obj(x) and compat.array_namespace(x, x + 1, 3, None) is iruka.array_api
    for xp in (iruka, iruka.array_api):
        assert not compat.is_array_api_strict_namespace(xp) and not compat.is_numpy_namespace(xp)
    assert compat.device(x) == x.device and compat.size(x) == 6 and compat.size(x[:0]) == 0
    assert compat.to_device(x, compat.device(x)).device == x.device
    assert compat.to_device(x, "cpu").device == iruka.device("cpu")
    assert compat.is_writeable_array(x) and not compat.is_lazy_array(x)
    for other in ("numpy", "cupy", "torch", "jax", "dask", "ndonnx", "pydata_sparse"):
        assert not getattr(compat, f"is_{other}_array")(x)
    with pytest.raises(TypeError, match="[Mm]ultiple namespaces"):
        compat.array_namespace(x, np.ones(3))


def test_views_by_strides():
    from iruka.lib.stride_tricks import as_strided, sliding_window_view

    x, n = iruka.arange(24.0).reshape(4, 6), np.arange(24.0).reshape(4, 6)
    reference = np.lib.stride_tricks
    for shape, strides in (((3, 3), (8, 16)), ((2, 2, 3), (48, 48, 16)), ((5,), (0,)), ((0, 9), (800, 8))):
        np.testing.assert_array_equal(
            iruka.asnumpy(as_strided(x, shape, strides)), reference.as_strided(n, shape, strides)
        )
    for window, axis in ((2, 0), ((2, 3), None), ((1, 2), (1, 1)), (6, -1), ((0, 2), None)):
        for a, b in ((x, n), (x[::-1, ::2], n[::-1, ::2])) if window != 6 else ((x, n),):
            got = sliding_window_view(a, window, axis)
            np.testing.assert_array_equal(iruka.asnumpy(got), reference.sliding_window_view(b, window, axis))
            assert not got.flags.writeable
    as_strided(x, (4,), (56,))[...] = 0
    assert x.trace() == 0 and not as_strided(x, (4,), (56,), writeable=False).flags.writeable
    np.testing.assert_array_equal(
        iruka.asnumpy(np.lib.stride_tricks.sliding_window_view(x, 2, 0)), iruka.asnumpy(sliding_window_view(x, 2, 0))
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda lib, x: lib.as_strided(x, (4,), (8, 8)), "one stride is needed for each axis"),
        (lambda lib, x: lib.as_strided(x, (-1,), (8,)), "negative dimensions"),
        (lambda lib, x: lib.as_strided(x, (2,), (4,)), "not a multiple of the 8 bytes"),
        (lambda lib, x: lib.as_strided(x, (5,), (8,)), "reaches bytes 0 to 40 of a buffer of 32"),
        (lambda lib, x: lib.as_strided(x, (2,), (-8,)), "reaches bytes -8 to 8"),
        (lambda lib, x: lib.as_strided(x, (2**62, 2), (2**61, 8)), "too large"),
        (lambda lib, x: lib.sliding_window_view(x, 5), "larger than axis 0"),
        (lambda lib, x: lib.sliding_window_view(x, (2, 2)), "one extent for each"),
        (lambda lib, x: lib.sliding_window_view(x, -1), "negative"),
    ],
)
def test_strides_that_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(iruka.lib.stride_tricks, iruka.arange(4))
