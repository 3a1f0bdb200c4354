"""Fourier transforms of any length, axis, dtype and layout, against NumPy in double precision or more."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import iruka
from helpers import DTYPE_IDS, DTYPES, kind, layouts, run_python, values

# Powers, mixtures, odd primes, primes beyond the largest radix, and lengths that go in four steps.
LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    11,
    12,
    13,
    16,
    17,
    23,
    30,
    31,
    32,
    37,
    49,
    64,
    97,
    100,
    121,
    210,
    1000,
    1021,
    2048,
]
LONG = [8192, 8193, 10007, 16384, 30030, 32768, 65521, 131072, 177147]
NORMS = [None, "backward", "ortho", "forward"]


def result_dtype(dtype, real=False):
    if real and np.dtype(dtype).name == "float16":
        return np.dtype("float16")
    single = np.dtype(dtype).name in ("float16", "bfloat16", "float32", "complex64")
    return np.dtype(("float32" if single else "float64") if real else ("complex64" if single else "complex128"))


def check(actual, expected, dtype):
    assert actual.shape == expected.shape and actual.dtype == dtype, (actual.shape, expected.shape, actual.dtype, dtype)
    scale = float(np.abs(expected).max(initial=0)) or 1.0
    error = float(np.abs(iruka.asnumpy(actual) - expected).max(initial=0))
    assert error <= 16 * np.finfo(dtype).eps * scale, (error, scale)


def signal(dtype, shape, rng):
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x).astype(dtype)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("precision", ["complex64", "complex128"])
def test_every_length(n, precision, rng):
    real = result_dtype(precision, real=True)
    for shape, axis in (((n,), 0), ((3, n), -1), ((n, 5), 0), ((2, n, 9), 1), ((17, n), 1)):
        z, x = signal(precision, shape, rng), signal(real, shape, rng)
        wide, half = z.astype("complex128"), np.take(z, range(n // 2 + 1), axis)
        check(iruka.fft.fft(iruka.array(z), axis=axis), np.fft.fft(wide, axis=axis), z.dtype)
        check(iruka.fft.ifft(iruka.array(z), axis=axis), np.fft.ifft(wide, axis=axis), z.dtype)
        check(iruka.fft.rfft(iruka.array(x), axis=axis), np.fft.rfft(x.astype("float64"), axis=axis), z.dtype)
        check(iruka.fft.irfft(iruka.array(half), n, axis), np.fft.irfft(half.astype("complex128"), n, axis), real)


@pytest.mark.parametrize("n", LONG)
def test_long_signals(n, rng):
    for dtype in ("float32", "float64"):
        complex_dtype = result_dtype(dtype)
        x, z = signal(dtype, (2, n), rng), signal(complex_dtype, (n, 2), rng)
        check(iruka.fft.rfft(iruka.array(x)), np.fft.rfft(x.astype("float64")), complex_dtype)
        check(iruka.fft.fft(iruka.array(z), axis=0), np.fft.fft(z.astype("complex128"), axis=0), complex_dtype)
        check(iruka.fft.ifft(iruka.array(z), axis=0), np.fft.ifft(z.astype("complex128"), axis=0), complex_dtype)
        half = signal(complex_dtype, n // 2 + 1, rng)
        check(iruka.fft.irfft(iruka.array(half), n), np.fft.irfft(half.astype("complex128"), n), np.dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=DTYPE_IDS)
def test_dtypes_and_layouts(dtype, rng):
    for _, a, x in layouts(values(dtype, (6, 10), rng)):
        wide = x.astype("complex128" if kind(dtype) == "c" else "float64")
        for axis in (0, 1):
            check(iruka.fft.fft(a, axis=axis), np.fft.fft(wide, axis=axis), result_dtype(dtype))
            check(iruka.fft.irfft(a, axis=axis), np.fft.irfft(wide, axis=axis), result_dtype(dtype, real=True))
            if kind(dtype) != "c":
                check(iruka.fft.rfft(a, axis=axis), np.fft.rfft(wide, axis=axis), result_dtype(dtype))
                check(iruka.fft.ihfft(a, axis=axis), np.fft.ihfft(wide, axis=axis), result_dtype(dtype))
            check(iruka.fft.hfft(a, axis=axis), np.fft.hfft(wide, axis=axis), result_dtype(dtype, real=True))


ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MORE_AXES = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]


@pytest.mark.parametrize("name", ONE_AXIS)
@pytest.mark.parametrize("norm", NORMS)
def test_cut_continued_and_scaled(name, norm, rng):
    x = signal("float64" if name in ("rfft", "ihfft") else "complex128", (4, 9), rng)
    for n in (None, 1, 5, 9, 14):
        expected = getattr(np.fft, name)(x, n, norm=norm)
        check(getattr(iruka.fft, name)(iruka.array(x), n, norm=norm), expected, expected.dtype)
        expected = getattr(np.fft, name)(x, n, 0, norm)
        check(getattr(iruka.fft, name)(iruka.array(x), n, 0, norm), expected, expected.dtype)
    out = iruka.empty(expected.shape, expected.dtype)
    assert getattr(iruka.fft, name)(iruka.array(x), n, 0, norm, out) is out
    check(out, expected, expected.dtype)


@pytest.mark.parametrize("name", MORE_AXES)
def test_several_axes(name, rng):
    x = signal("float64" if name.startswith("rfft") else "complex128", (4, 5, 6), rng)
    a = iruka.array(x)
    ours, theirs = getattr(iruka.fft, name), getattr(np.fft, name)
    for keywords in (
        {},
        {"axes": (0, 2)},
        {"s": (7, 3), "axes": (1, 0)},
        {"s": (-1, 4), "axes": (0, 1)},
        {"norm": "ortho"},
        {"axes": (2, 0, 1)},
        {"s": (6, 3), "axes": (1, 1)},
        {"s": (4, 5), "axes": (1, 2)},
    ):
        check(ours(a, **keywords), theirs(x, **keywords), theirs(x, **keywords).dtype)
    for shape in ((3, 4, 1, 5, 2), (2, 0, 3)):
        y = signal(x.dtype, shape, rng)
        axes = {} if "2" in name else {"axes": range(len(shape)) if y.size else (0, 2)}
        if y.size or "2" not in name:
            check(ours(iruka.array(y), **axes), theirs(y, **axes), theirs(y, **axes).dtype)
    out = iruka.empty(theirs(x).shape, theirs(x).dtype)
    assert ours(a, out=out) is out
    check(out, theirs(x), out.dtype)
    with pytest.raises(ValueError, match="different lengths"):
        ours(a, (3,), (0, 1))


@given(st.integers(1, 300), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_inverses_undo(n, outer, inner, single):
    rng = np.random.default_rng(n)
    dtype = "complex64" if single else "complex128"
    z = signal(dtype, (outer, n, inner), rng)
    check(iruka.fft.ifft(iruka.fft.fft(iruka.array(z), axis=1), axis=1), z, z.dtype)
    x = np.ascontiguousarray(z.real)
    check(iruka.fft.irfft(iruka.fft.rfft(iruka.array(x), axis=1), n, axis=1), x, x.dtype)


def test_frequencies_and_shifts():
    for n in (1, 2, 5, 8):
        np.testing.assert_array_equal(iruka.asnumpy(iruka.fft.fftfreq(n, 0.1)), np.fft.fftfreq(n, 0.1))
        np.testing.assert_array_equal(iruka.asnumpy(iruka.fft.rfftfreq(n, 0.1)), np.fft.rfftfreq(n, 0.1))
        x = np.arange(n * 3).reshape(n, 3)
        for axes in (None, 0, (0, 1)):
            for name in ("fftshift", "ifftshift"):
                actual = getattr(iruka.fft, name)(iruka.array(x), axes)
                np.testing.assert_array_equal(iruka.asnumpy(actual), getattr(np.fft, name)(x, axes))
    assert iruka.fft.fftfreq(4, dtype="float32").dtype == np.float32


def test_empty_batches_and_errors():
    assert iruka.fft.fft(iruka.zeros((0, 4))).shape == (0, 4)
    x = iruka.ones((2, 3))
    for n in (0, -1):
        with pytest.raises(ValueError, match=f"Invalid number of FFT data points \\({n}\\)"):
            iruka.fft.fft(x, n)
    with pytest.raises(ValueError, match="Invalid number"):
        iruka.fft.fft(iruka.zeros((2, 0)))
    with pytest.raises(ValueError, match="Invalid norm"):
        iruka.fft.fft(x, norm="none")
    with pytest.raises(np.exceptions.AxisError):
        iruka.fft.fft(x, axis=2)
    with pytest.raises(TypeError, match="real"):
        iruka.fft.rfft(x.astype("complex64"))
    with pytest.raises(ValueError, match="out has shape"):
        iruka.fft.fft(x, out=iruka.empty((3, 2), "complex128"))
    with pytest.raises(TypeError, match="same_kind"):
        iruka.fft.fft(x, out=iruka.empty((2, 3)))


def test_names():
    names = [name for name in dir(np.fft) if name[0] != "_" and name != "test" and callable(getattr(np.fft, name))]
    assert [name for name in names if not hasattr(iruka.fft, name)] == [] and len(names) >= 18


def test_repeated_axes_are_taken_in_numpys_order(rng):
    z = rng.standard_normal((4, 5, 6)) + 1j * rng.standard_normal((4, 5, 6))
    for name in ("fftn", "ifftn", "irfftn"):
        for s, axes in (((3, 5, 7), (0, 0, 1)), ((3, 5, 7, 4), (0, 1, 0, 2)), ((3, 8), (1, 1))):
            found = getattr(iruka.fft, name)(iruka.array(z), s=s, axes=axes)
            expected = getattr(np.fft, name)(z, s=s, axes=axes)
            assert found.shape == expected.shape
            np.testing.assert_allclose(iruka.asnumpy(found), expected, atol=1e-12)


GUARDED = """
import ctypes, mmap
import numpy as np
import iruka
libc = ctypes.CDLL(None, use_errno=True)
for n, name in [(n, name) for n in (3, 9, 63, 125, 4096) for name in ("fft", "rfft", "irfft", "hfft")]:
    complex_input = name != "rfft"
    count = n if name in ("fft", "rfft") else n // 2 + 1
    size = count * (8 if complex_input else 4)
    whole = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, whole + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(address + whole), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    x = np.frombuffer(memory, "complex64" if complex_input else "float32", count, whole - size)
    x[:] = np.arange(count)
    shared = iruka.asarray(x)
    assert shared.data.ptr == x.ctypes.data
    arguments = () if count == n else (n,)
    np.testing.assert_allclose(getattr(iruka.fft, name)(shared, *arguments).get(), getattr(np.fft, name)(x, *arguments), rtol=1e-3, atol=1e-3 * n)
print("alive")
"""


@pytest.mark.cpu_only
def test_nothing_is_read_behind_the_signal():
    """A page that may not be read follows each signal."""
    done = run_python(GUARDED)
    assert done.returncode == 0 and done.stdout == "alive\n", (done.returncode, done.stderr)


@pytest.mark.parametrize("name", ["irfft", "hfft", "irfft2", "irfftn"])
def test_real_results_of_float16_are_float16(name, rng):
    x = rng.standard_normal((4, 5)).astype("float16")
    with np.errstate(over="ignore"):
        arguments = {"axes": [0]} if name == "irfftn" else {}
        expected = getattr(np.fft, name)(x, **arguments)
    own = getattr(iruka.fft, name)(iruka.array(x), **arguments)
    assert own.dtype == expected.dtype == ("float32" if name == "irfft2" else "float16")
    np.testing.assert_allclose(own.get().astype(float), expected.astype(float), rtol=4e-3, atol=4e-3)
    assert iruka.fft.rfft(iruka.array(x)).dtype == np.fft.rfft(x).dtype == np.complex64
