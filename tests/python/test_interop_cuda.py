"""GPU arrays with PyTorch, CuPy, Numba and JAX: the same memory both ways, in the order of streams."""

import gc
import os

import numpy as np
import pytest

import iruka
from helpers import assert_same

pytestmark = pytest.mark.skipif(not iruka.cuda.is_available(), reason="no GPU")

SLOW = iruka.ElementwiseKernel(
    "float32 x, int32 rounds", "float32 y", "y = x; for (int k = 0; k < rounds; ++k) y = y * 0.999f + 0.5f;", "slow"
)
ROUNDS = np.int32(20_000_000)  # some tens of milliseconds, towards 500
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(autouse=True)
def gpu():
    with iruka.cuda.Device(0) as device:
        yield device


@pytest.fixture
def torch():
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("PyTorch without CUDA")
    return module


@pytest.fixture
def cupy():
    module = pytest.importorskip("cupy")
    if not module.cuda.is_available():
        pytest.skip("CuPy without CUDA")
    return module


@pytest.fixture
def numba_cuda():
    module = pytest.importorskip("numba.cuda")
    if not module.is_available():
        pytest.skip("Numba without CUDA")
    return module


@pytest.fixture
def jax():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the others need memory, too
    module = pytest.importorskip("jax")
    if not any(device.platform == "gpu" for device in module.devices()):
        pytest.skip("JAX without CUDA")
    return module


def views(array):
    """Layouts that every library has."""
    return [array, array.T, array[1:, ::2], array[:, 1]]


# --- PyTorch ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "bfloat16"])
def test_torch_dtypes(torch, dtype):
    t = torch.arange(12, device="cuda").reshape(3, 4).to(getattr(torch, dtype))
    for view in views(t):
        a = iruka.asarray(view)
        assert a.data.ptr == view.data_ptr() and a.shape == tuple(view.shape) and a.dtype.name == dtype
        assert a.strides == tuple(s * view.element_size() for s in view.stride())
        for back in (torch.from_dlpack(a), torch.as_tensor(a, device="cuda") if dtype != "bfloat16" else None):
            if back is not None:
                assert back.data_ptr() == view.data_ptr() and back.stride() == view.stride() and torch.equal(back, view)
    a = iruka.asarray(t)
    a.fill(1)
    assert (t == 1).all().item()


def test_torch_empty_scalar_and_offsets(torch):
    for t in (torch.empty(0, 3, device="cuda"), torch.tensor(2.5, device="cuda"), torch.arange(9.0, device="cuda")[3:]):
        a = iruka.asarray(t)
        assert a.shape == tuple(t.shape)
        np.testing.assert_array_equal(a.get(), t.cpu().numpy())
        assert torch.equal(torch.from_dlpack(a), t)


def test_torch_keeps_memory_and_so_do_we(torch):
    a = iruka.asarray(torch.full((1000,), 7.0, device="cuda"))
    junk = [torch.full((1000,), 1.0, device="cuda") for _ in range(20)]
    assert_same(a, np.full(1000, 7, "float32"))
    t = torch.from_dlpack(iruka.full(1000, 3, "float32"))
    more = [iruka.full(1000, 1, "float32") for _ in range(20)]
    assert (t == 3).all().item()
    del junk, more


def test_torch_streams(torch):
    """Each side waits for the work of the other's stream."""
    x = iruka.ones(1 << 10, "float32")
    SLOW(x, np.int32(1))
    ours, theirs = iruka.cuda.Stream(non_blocking=True), torch.cuda.Stream()
    with ours, torch.cuda.stream(theirs):
        for _ in range(3):
            y = SLOW(x, ROUNDS)
            t = torch.from_dlpack(y) + 1
            z = iruka.asarray(t)  # waits for theirs
            back = (z * 2).get()
            np.testing.assert_allclose(back, 1002, rtol=1e-3)
    external = iruka.cuda.ExternalStream(theirs.cuda_stream)
    with external:
        y = SLOW(x, ROUNDS)
        assert not theirs.query()
        theirs.synchronize()
        np.testing.assert_allclose(y.get(), 500, rtol=1e-3)


def test_torch_reads_memory_that_dies_on_another_stream(torch):
    """The pool does not hand out what a consumer's stream still reads."""
    theirs = torch.cuda.Stream()
    sleep = torch.cuda._sleep
    for _ in range(5):
        a = iruka.full(1 << 16, 3, "float32")
        with torch.cuda.stream(theirs):
            t = torch.from_dlpack(a)
            sleep(20_000_000)
            result = t * 1
            del t
        del a
        gc.collect()
        others = [iruka.full(1 << 16, 9, "float32") for _ in range(4)]
        theirs.synchronize()
        assert (result == 3).all().item()
        del others


def test_torch_on_the_cpu_comes_to_the_gpu(torch, gpu):
    a = iruka.asarray(torch.arange(6).reshape(2, 3))
    assert a.device == gpu and a.tolist() == [[0, 1, 2], [3, 4, 5]]
    pinned = torch.arange(6).pin_memory()
    assert iruka.asarray(pinned).tolist() == list(range(6))
    assert iruka.from_dlpack(pinned).device.name == "cpu"
    with pytest.raises((BufferError, RuntimeError)):
        iruka.from_dlpack(torch.ones(2, device="cuda", requires_grad=True))


# --- CuPy ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "uint16", "uint32", "uint64"])
def test_cupy_dtypes(cupy, dtype):
    c = cupy.arange(12).reshape(3, 4).astype(dtype)
    for view in views(c):
        a = iruka.asarray(view)
        assert a.data.ptr == view.data.ptr and a.dtype == view.dtype and a.strides == view.strides
        for back in (cupy.asarray(a), cupy.from_dlpack(a)):
            assert back.data.ptr == a.data.ptr and back.strides == view.strides and back.dtype == view.dtype
            cupy.testing.assert_array_equal(back, view)
        np.testing.assert_array_equal(a.get(), view.get())


def test_cupy_by_each_protocol(cupy):
    c = cupy.arange(10, dtype="float32")

    class Interface:
        __cuda_array_interface__ = c.__cuda_array_interface__

    a = iruka.asarray(Interface())
    assert a.data.ptr == c.data.ptr and a.flags.writeable
    assert iruka.from_dlpack(c).data.ptr == c.data.ptr
    frozen = iruka.broadcast_to(a, (2, 10))
    assert frozen.__cuda_array_interface__["data"][1] is True
    assert iruka.asarray(cupy.empty((0, 3))).shape == (0, 3)


def test_cupy_streams(cupy):
    x = iruka.ones(1 << 10, "float32")
    SLOW(x, np.int32(1))
    ours, theirs = iruka.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with ours, theirs:
        for take in (cupy.asarray, cupy.from_dlpack):
            c = take(SLOW(x, ROUNDS)) + 1
            a = iruka.asarray(c)
            np.testing.assert_allclose((a * 2).get(), 1002, rtol=1e-3)
    with iruka.cuda.ExternalStream(theirs.ptr):
        y = SLOW(x, ROUNDS)
        assert not theirs.done
        theirs.synchronize()
        np.testing.assert_allclose(y.get(), 500, rtol=1e-3)


def test_cupy_names_agree(cupy):
    ours, theirs = iruka.cuda.Device(0), cupy.cuda.Device(0)
    assert ours.compute_capability == theirs.compute_capability and ours.pci_bus_id.lower() == theirs.pci_bus_id.lower()
    assert ours.mem_info[1] == theirs.mem_info[1]
    shared = ours.attributes.keys() & theirs.attributes.keys()
    assert len(shared) > 40
    assert {name: ours.attributes[name] for name in shared} == {name: theirs.attributes[name] for name in shared}
    properties, other = iruka.cuda.runtime.getDeviceProperties(0), cupy.cuda.runtime.getDeviceProperties(0)
    assert {k: other[k] for k in properties if k in other} == {k: v for k, v in properties.items() if k in other}


# --- Numba and JAX ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64", "bool"])
def test_numba(numba_cuda, dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    device = numba_cuda.to_device(x)
    a = iruka.asarray(device)
    assert a.data.ptr == device.__cuda_array_interface__["data"][0] and a.dtype == x.dtype
    np.testing.assert_array_equal(a.get(), x)
    b = iruka.asarray(x)
    back = numba_cuda.as_cuda_array(b.T)
    assert back.__cuda_array_interface__["data"][0] == b.data.ptr
    np.testing.assert_array_equal(back.copy_to_host(), x.T)
    del device
    gc.collect()
    np.testing.assert_array_equal(a.get(), x)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "float32", "bfloat16", "complex64", "bool"])
def test_jax(jax, dtype):
    j = jax.numpy.arange(12).reshape(3, 4).astype(dtype)
    a = iruka.asarray(j)
    assert a.device.name == "cuda:0" and a.dtype.name == dtype and a.data.ptr == j.unsafe_buffer_pointer()
    np.testing.assert_array_equal(a.get(), np.asarray(j))
    b = iruka.asarray(np.asarray(j))
    back = jax.dlpack.from_dlpack(b)
    assert back.dtype == j.dtype and (back == j).all()
    stream = iruka.cuda.Stream(non_blocking=True)
    with stream:
        y = SLOW(iruka.ones(64, "float32"), ROUNDS)
        np.testing.assert_allclose(np.asarray(jax.dlpack.from_dlpack(y) + 1), 501, rtol=1e-3)


@pytest.mark.skipif(iruka.cuda.is_available() and iruka.cuda.runtime.getDeviceCount() < 2, reason="one GPU")
def test_other_libraries_keep_their_device(torch):
    for current in (0, 1):
        torch.cuda.set_device(current)
        with iruka.cuda.Device(1 - current):
            x = iruka.ones(1000)
            (x + x).sum().item()
            x.to_device(current)
            iruka.cuda.Stream().record().synchronize()
        assert torch.cuda.current_device() == current
        assert torch.ones(1, device="cuda").device.index == current
    torch.cuda.set_device(0)


def test_consumers_may_destroy_their_streams(cupy):
    stream = cupy.cuda.Stream()
    a = iruka.ones(1 << 22, "float32")
    with stream:
        b = cupy.from_dlpack(a)
        for _ in range(20):
            b += 1
    del a, stream
    gc.collect()
    del b
    gc.collect()
    later = [iruka.full(1 << 22, k, "float32") for k in range(3)]  # perhaps in the same memory
    for k, x in enumerate(later):
        assert float(x.min()) == float(x.max()) == k
