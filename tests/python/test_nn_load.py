"""iruka.nn.load against files of torch, safetensors and onnx (tests/data/nn), and pickles of Python's own pickler.

Every kind of malicious file: tests/cpp/test_nn_hostile_files.cpp.
"""

import collections
import io
import json
import os
import pathlib
import pickle
import sys
import types
import zipfile

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, strategies as st

import iruka
from iruka import nn

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data" / "nn"
CHECKPOINTS = ["checkpoint.pt", "checkpoint_legacy.pt", *(f"checkpoint_protocol{p}.pt" for p in (3, 4, 5))]
FILES = ["dtypes.safetensors", "tensors.pt", "tensors_legacy.pt", "state_dict.pt", *CHECKPOINTS]
STORAGES = dict(float64="Double", float32="Float", float16="Half", bfloat16="BFloat16", int64="Long", int32="Int")
STORAGES |= dict(int16="Short", int8="Char", uint8="Byte", bool="Bool", complex64="ComplexFloat")
STORAGES |= dict(complex128="ComplexDouble")


def content(value):
    """A value in the form of tools/make_nn_files.py."""
    if isinstance(value, iruka.ndarray):
        array = iruka.asnumpy(value)
        values = array.astype(np.float64) if array.dtype == ml_dtypes.bfloat16 else array
        numbers = [[v.real, v.imag] if isinstance(v, complex) else v for v in values.ravel().tolist()]
        return {"dtype": str(array.dtype), "shape": [*array.shape], "values": numbers}
    if isinstance(value, dict):
        return {"mapping": [[content(k), content(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [content(v) for v in value]}
    if isinstance(value, bytes):
        return {"bytes": [*value]}
    return {"complex": [value.real, value.imag]} if isinstance(value, complex) else value


@pytest.mark.parametrize("name", FILES)
def test_files_of_torch_and_safetensors(name):
    want = json.loads((FOLDER / f"{'checkpoint.pt' if name in CHECKPOINTS else name}.json").read_text())
    path = FOLDER / name
    data = path.read_bytes()
    with path.open("rb") as file:
        sources = [path, str(path), data, bytearray(data), memoryview(data), io.BytesIO(data), file]
        for source in sources:
            assert content(nn.load(source)) == want


def test_a_state_dict_is_a_dict_of_arrays():
    state = nn.load(FOLDER / "state_dict.pt")
    assert type(state) is dict
    assert state["4.weight"].shape == (2, 64)
    assert all(isinstance(array, iruka.ndarray) for array in state.values())
    variance = state["1.running_var"]
    np.testing.assert_array_equal(iruka.asnumpy(variance * 2), iruka.asnumpy(variance) * 2)


def test_arrays_share_memory_as_their_tensors_did():
    tensors = nn.load(FOLDER / "tensors.pt", device="cpu")
    tensors["base"][0, 0] = 100
    assert tensors["transposed"][0, 0] == 100
    assert (tensors["spread"] == 100).all()
    assert iruka.shares_memory(tensors["base"], tensors["part"])


@pytest.mark.parametrize("device", ["cpu", None])
def test_the_device(device):
    array = nn.load(FOLDER / "state_dict.pt", device)["4.weight"]
    assert array.device == (iruka.device("cpu") if device else iruka.default_device())
    with pytest.raises(TypeError, match="device"):
        nn.load(FOLDER / "state_dict.pt", device=1.5)


class Tensor:
    """A NumPy array that pickles as torch's tensor does."""

    def __init__(self, array):
        self.array = array

    def __reduce__(self):
        strides = tuple(s // self.array.itemsize for s in self.array.strides)
        arguments = (Storage(self.array), 0, self.array.shape, strides, False, collections.OrderedDict())
        return sys.modules["torch._utils"]._rebuild_tensor_v2, arguments


class Storage:
    def __init__(self, array):
        self.array = array


class Pickler(pickle.Pickler):
    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages = []

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        self.storages.append(value.array.tobytes())
        kind = getattr(sys.modules["torch"], f"{STORAGES[value.array.dtype.name]}Storage")
        return "storage", kind, str(len(self.storages) - 1), "cpu", value.array.size


@pytest.fixture(scope="module")
def torch_names():
    """Modules with the names that torch's pickles use."""
    torch, utilities = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for name in STORAGES.values():
        setattr(torch, f"{name}Storage", type(f"{name}Storage", (), {"__module__": "torch"}))

    def _rebuild_tensor_v2():
        raise AssertionError("no pickle is executed")

    _rebuild_tensor_v2.__module__ = "torch._utils"
    _rebuild_tensor_v2.__qualname__ = "_rebuild_tensor_v2"
    utilities._rebuild_tensor_v2 = _rebuild_tensor_v2
    before = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules |= {"torch": torch, "torch._utils": utilities}
    yield
    for name, module in before.items():
        del sys.modules[name]
        if module:
            sys.modules[name] = module


def torch_file(value, protocol=2, method=zipfile.ZIP_STORED):
    program, file = io.BytesIO(), io.BytesIO()
    pickler = Pickler(program, protocol)
    pickler.dump(value)
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("net/data.pkl", program.getvalue())
        for key, data in enumerate(pickler.storages):
            archive.writestr(f"net/data/{key}", data)
    return file.getvalue()


numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.booleans() | st.none()
texts = st.text(st.characters(exclude_categories=["Cs"]))
arrays = st.sampled_from([*STORAGES]).flatmap(
    lambda name: st.lists(st.integers(0, 1), min_size=1, max_size=12).map(
        lambda values: np.array(values, ml_dtypes.bfloat16 if name == "bfloat16" else name)
    )
)
values = st.recursive(
    numbers | texts | st.binary() | st.complex_numbers(allow_nan=False) | arrays.map(Tensor),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(texts | st.integers(-(2**40), 2**40), inner, max_size=4)
        | st.dictionaries(texts, inner, max_size=4).map(collections.OrderedDict)
    ),
    max_leaves=12,
)


def with_arrays(value):
    """What nn.load should give, with NumPy's arrays."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, dict):
        return {key: with_arrays(item) for key, item in value.items()}
    return type(value)(map(with_arrays, value)) if isinstance(value, (list, tuple)) else value


def assert_same(got, want):
    if isinstance(want, np.ndarray):
        assert iruka.asnumpy(got).dtype == want.dtype
        np.testing.assert_array_equal(iruka.asnumpy(got), want)
        return
    assert type(got) is type(want)
    if isinstance(want, dict):
        assert [*got] == [*want]
        got, want = [*got.values()], [*want.values()]
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_same(one, other)
    else:
        assert got == want


@given(value=values, protocol=st.integers(2, 5), deflated=st.booleans())
def test_what_pythons_pickler_writes(torch_names, value, protocol, deflated):
    method = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    assert_same(nn.load(torch_file(value, protocol, method)), with_arrays(value))


@given(st.dictionaries(texts.filter(lambda name: name != "__metadata__"), arrays, max_size=6))
def test_what_safetensors_writes(named):
    named = {name: array for name, array in named.items() if array.dtype != np.complex128}  # the format lacks it
    got = nn.load(safetensors.numpy.save(named))
    assert sorted(got) == sorted(named)
    for name, array in named.items():
        assert_same(got[name], array)


class Attack:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize(
    "function, name",
    [(os.system, "posix.system"), (eval, "eval"), (exec, "exec"), (__import__, "__import__")],
)
def test_nothing_is_executed(tmp_path, function, name, protocol):
    made = tmp_path / "made"
    attack = Attack(function, f"touch {made}" if function is os.system else f"open({str(made)!r}, 'w')")
    for data in (torch_file({"w": attack}, protocol), pickle.dumps(attack, protocol)):
        with pytest.raises(ValueError, match=rf"[.']{name}', which no file of weights needs; nothing was executed"):
            nn.load(data)
    assert not made.exists()


def test_what_is_no_file_of_weights(tmp_path):
    with pytest.raises(OSError, match=r"nn\.load: '.*missing\.pt': cannot open: No such file"):
        nn.load(tmp_path / "missing.pt")
    with pytest.raises(OSError, match="is a folder, not a file"):
        nn.load(tmp_path)
    with pytest.raises(TypeError, match="a source is a path, bytes or a binary file, not int"):
        nn.load(3)
    with pytest.raises(TypeError, match="opened in text mode"):
        nn.load(io.StringIO("text"))
    with pytest.raises(ValueError, match="is empty"):
        nn.load(b"")
    with pytest.raises(ValueError, match="it holds a whole object of Python, not its weights alone"):
        nn.load(FOLDER / "whole_module.pt")
    with pytest.raises(ValueError, match=r"is a TorchScript program \(torch\.jit\.save\)"):
        nn.load(FOLDER / "script.pt")
    (tmp_path / "net.pt").write_bytes((FOLDER / "dtypes.safetensors").read_bytes())
    assert "float32" in nn.load(tmp_path / "net.pt")


@pytest.mark.cpu_only
def test_memory_is_given_back():
    before = iruka.memory_statistics()["used_bytes"]
    for name in FILES:
        loaded = nn.load(FOLDER / name)
        assert iruka.memory_statistics()["used_bytes"] > before
        del loaded
    assert iruka.memory_statistics()["used_bytes"] == before
