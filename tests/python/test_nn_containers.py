"""Modules of one's own with lists of modules, parameters and buffers, the methods that torch's modules have, and hints."""

import copy
import pickle

import numpy as np
import pytest

import iruka
from iruka import nn


def host(array):
    return iruka.asnumpy(array).astype(np.float64)


class Blocks(nn.Module):
    """Linear layers in a list and a dict, with a parameter and a buffer of its own."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.heads = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Linear(3, 1)})
        self.scale = nn.Parameter(np.array([1, 2, 3], "float32"))
        self.register_buffer("shift", [0.5, 0, 0])

    def forward(self, x, head="a"):
        for layer in self.layers:
            x = layer(x)
        return self.heads[head](x * self.scale + self.shift)


def test_a_buffer_that_is_not_persistent_is_in_no_state_dict():
    made = nn.Module()
    made.register_buffer("kept", [1.0])
    made.register_buffer("derived", [2.0], persistent=False)
    made.inner = nn.Module()
    made.inner.register_buffer("derived", [3.0], persistent=False)
    assert list(made.state_dict()) == ["kept"]
    assert [name for name, _ in made.named_buffers()] == ["kept", "derived", "inner.derived"]
    assert made.load_state_dict({"kept": [5.0]}) == ([], [])
    assert [host(array).tolist() for array in made.buffers()] == [[5.0], [2.0], [3.0]]
    assert made.load_state_dict({"kept": [6.0], "derived": [7.0]}, strict=False) == ([], ["derived"])
    assert host(made.derived).tolist() == [2.0]
    assert list(pickle.loads(pickle.dumps(made)).state_dict()) == ["kept"]
    made.double()
    assert made.derived.dtype == iruka.float64
    made.derived = [8.0]
    assert "derived" not in made.state_dict() and host(made.derived).tolist() == [8.0]
    made.register_buffer("derived", [9.0])
    assert list(made.state_dict()) == ["kept", "derived"]


def formula(module, x, head="a"):
    for layer in module.layers:
        x = x @ host(layer.weight).T + host(layer.bias)
    last = module.heads[head]
    return (x * host(module.scale) + host(module.shift)) @ host(last.weight).T + host(last.bias)


def test_a_module_with_lists_parameters_and_buffers(rng):
    made, x = Blocks(), rng.normal(size=(5, 3)).astype("float32")
    layers = ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]
    heads = ["heads.a.weight", "heads.a.bias", "heads.b.weight", "heads.b.bias"]
    assert list(made.state_dict()) == ["scale", "shift", *layers, *heads]
    assert [name for name, _ in made.named_parameters()] == ["scale", *layers, *heads]
    assert [name for name, _ in made.named_buffers()] == ["shift"]
    assert [array.shape for array in made.buffers()] == [(3,)]
    np.testing.assert_allclose(host(made(x)), formula(made, x), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(host(made(x, head="b")), formula(made, x, "b"), rtol=1e-5, atol=1e-5)
    other = Blocks()
    other.load_state_dict(made.state_dict())
    for same in (other, pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        np.testing.assert_array_equal(host(same(x)), host(made(x)))
    made.scale = np.array([4, 5, 6])
    assert made.scale.dtype == iruka.float32 and host(made.scale).tolist() == [4, 5, 6]
    np.testing.assert_allclose(host(made(x)), formula(made, x), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match=r"Blocks: scale has shape \(3,\), but the new one has \(2,\)"):
        made.scale = [1, 2]
    made.scale = nn.Parameter([1.0])
    assert made.state_dict()["scale"].shape == (1,)
    made.scale = None
    assert made.scale is None and "scale" not in made.state_dict()
    del made.shift, made.layers, made.scale
    assert list(made.state_dict()) == heads and not hasattr(made, "shift")


def test_parameters_have_floats():
    assert nn.Parameter([1, 2]).dtype == iruka.float32
    assert nn.Parameter(np.ones(2)).dtype == iruka.float64
    assert nn.Parameter(np.ones(2, "int64")).dtype == iruka.float32
    assert nn.Parameter(iruka.ones((2, 3), "float16")).dtype == iruka.float32
    assert nn.Parameter(nn.Parameter(2.5)).shape == ()
    with pytest.raises(TypeError, match="parameters are real numbers, not complex128"):
        nn.Parameter(np.ones(2, complex))
    for wrong in (None, "x"):
        with pytest.raises(TypeError, match="expected an array or numbers, not"):
            nn.Parameter(wrong)
    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\) comes before parameters are assigned"):
        type("Early", (nn.Module,), {"__init__": lambda self: setattr(self, "w", nn.Parameter(1))})()


def test_buffers_keep_integers():
    """As indices of an Embedding, also after casts of the floats."""

    class Places(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(5, 2)
            self.places = nn.Buffer(np.array([4, 0]))
            self.register_buffer("mask", np.array([True, False]))

        def forward(self, x):
            return self.table(self.places) * x

    made = Places()
    assert [name for name, _ in made.named_buffers()] == ["places", "mask"]
    assert [name for name, _ in made.named_parameters()] == ["table.weight"]
    rows = host(made.table.weight)[[4, 0]]
    np.testing.assert_allclose(host(made(np.float32(2))), 2 * rows, rtol=1e-6)
    made.double().load_state_dict({"places": [1, 1]}, strict=False)
    assert made.places.dtype == iruka.int64 and made.mask.dtype == iruka.bool and made(1.0).dtype == iruka.float64
    np.testing.assert_allclose(host(made(1.0)), host(made.table.weight)[[1, 1]], rtol=1e-12)
    made.places = nn.Parameter([1.0])
    assert [name for name, _ in made.named_buffers()] == ["mask"]


@pytest.mark.parametrize("kind", [nn.Sequential, lambda *modules: nn.ModuleList(modules)], ids=["Sequential", "List"])
def test_lists_of_modules_change(kind, rng):
    made = kind(nn.Linear(3, 4), nn.ReLU())
    assert made.append(nn.Linear(4, 2)) is made
    assert len(made) == 3 and made[-1].out_features == 2 and made[np.int64(1)] is list(made)[1]
    made.extend([nn.Tanh(), nn.Sigmoid()]).insert(0, nn.Identity())
    assert [type(each).__name__ for each in made] == ["Identity", "Linear", "ReLU", "Linear", "Tanh", "Sigmoid"]
    assert list(made.state_dict()) == ["1.weight", "1.bias", "3.weight", "3.bias"]
    del made[0], made[-1]
    made[1] = nn.GELU()
    made.insert(4, nn.Softmax(1))
    assert [type(each).__name__ for each in made] == ["Linear", "GELU", "Linear", "Tanh", "Softmax"]
    assert list(made.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert type(made[1:3]) is type(made) and len(made[1:3]) == 2
    with pytest.raises(IndexError, match="index 7 is out of range for 5 modules"):
        made[7] = nn.ReLU()
    with pytest.raises(TypeError, match="an index must be an int or a slice, not 'a'"):
        made["a"]
    with pytest.raises(TypeError, match="'5' is no module of iruka.nn, but int"):
        made.append(3)
    with pytest.raises(TypeError, match="'0' is no module of iruka.nn, but str"):
        made[0] = "x"
    assert len(made) == 5


def test_a_network_changes_with_its_list(rng):
    """Calls see what was added and replaced since the last one."""
    x = rng.normal(size=(4, 3)).astype("float32")
    made = nn.Sequential(nn.Linear(3, 4))
    first = host(made(x))
    made.append(nn.ReLU())
    np.testing.assert_array_equal(host(made(x)), np.maximum(first, 0))
    made[1] = nn.Identity()
    np.testing.assert_array_equal(host(made(x)), first)
    named = nn.Sequential({"a": nn.Linear(3, 4), "b": nn.ReLU()})
    del named[1]
    assert list(named.state_dict()) == ["a.weight", "a.bias"]


def test_containers_alone_have_no_forward():
    for made in (nn.ModuleList([nn.ReLU()]), nn.ModuleDict({"a": nn.ReLU()})):
        for network in (made, nn.Sequential(made)):
            with pytest.raises(NotImplementedError, match=r"has no forward\(\): call its modules"):
                network(iruka.ones(3))
        with pytest.raises(TypeError, match=f"{type(made).__name__} has a forward"):
            made.map(iruka.ones((3, 4)))
    heads = nn.ModuleDict([("a", nn.ReLU())])
    heads["b"] = nn.Tanh()
    del heads["a"]
    assert [*heads] == [*heads.keys()] == ["b"] and "b" in heads and len(heads) == len(heads.items()) == 1
    for name, error in ((3, TypeError), ("a.b", ValueError), ("", ValueError)):
        with pytest.raises(error, match="name of a module"):
            heads[name] = nn.ReLU()
    with pytest.raises(TypeError, match="add_module: 'x' is no module of iruka.nn, but int"):
        heads.add_module("x", 3)


def test_methods_of_torchs_modules():
    made = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())
    for same in (made.eval(), made.train(False), made.cpu(), made.requires_grad_(False), made.float()):
        assert same is made
    assert made.training is False
    assert [name for name, _ in made.named_buffers()] == ["1.running_mean", "1.running_var"]
    assert [name for name, _ in made.named_parameters()] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert len(made.state_dict()) == 6
    seen = []
    assert made.apply(lambda module: seen.append(type(module).__name__)) is made
    assert seen == ["Linear", "BatchNorm1d", "ReLU", "Sequential"]
    for call in (made.train, made.requires_grad_):
        with pytest.raises(NotImplementedError, match="nn.Sequential"):
            call()
    for call in (made.half, made.bfloat16):
        with pytest.raises(TypeError, match="parameters are float32 or float64"):
            call()
    assert made.precision == "float32" and made.to(precision="tf32").precision == "tf32"
    assert "float32 on " in str(made) and "precision='tf32'" in str(made)
    assert made[0].precision == "tf32"


class Seen(nn.Module):
    """Remembers what its forward() is given."""

    def forward(self, *args, **kwargs):
        self.seen = [*args, *kwargs.values()]
        return args[0]


def test_a_forward_of_ones_own_gets_arrays_of_iruka():
    made, x = Seen(), np.arange(3.0)
    for given in (x, iruka.array(x), x[::-1]):
        made(given, 3, [1.5], y=given, z=None)
        assert [type(each) for each in made.seen] == [iruka.ndarray, int, list, iruka.ndarray, type(None)]
        np.testing.assert_array_equal(host(made.seen[0]), host(iruka.asarray(given)))


def test_the_table_of_a_module_with_a_forward_of_its_own():
    lines = str(Blocks()).splitlines()
    assert lines[0] == "Blocks"
    assert all(line.count("(") <= 3 for line in lines)
    names = [line.split()[0] for line in lines[2:-1]]
    assert names == ["scale,", "layers.0", "layers.1", "heads.a", "heads.b"]
    assert lines[2].split()[-1] == "6" and "by the forward() of Blocks" in lines[-1] and lines[-1].endswith("42")


def test_the_table_of_layers_of_images_has_their_channels():
    made = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(64, 10), nn.ReLU())
    rows = str(made).splitlines()[2:-1]
    outputs = ["(batch, 16, ...)"] * 3 + [""] + ["(..., 10)"] * 2
    for row, output in zip(rows, outputs):
        assert output in row
    assert "(b" not in rows[3]


def failed(module, given):
    with pytest.raises(RuntimeError) as error:
        module.load_state_dict(given)
    return str(error.value).splitlines()[-1].strip()


def test_hints_where_the_weights_are():
    made = nn.Sequential(nn.Linear(3, 2))
    weights = {name: host(array) for name, array in made.state_dict().items()}
    wrapped = {f"module.{name}": array for name, array in weights.items()}
    other = {f"encoder.{name}": array for name, array in weights.items()}
    assert failed(made, {"epoch": 3, "model": weights}) == "The weights seem to be in state_dict['model']: pass that."
    assert failed(made, {"state_dict": wrapped, "x": {}}).startswith(
        "The weights seem to be in state_dict['state_dict']"
    )
    for given, prefix in ((wrapped, "module."), (other, "encoder.")):
        hint = failed(made, given)
        assert hint.startswith(f"The names begin with '{prefix}': pass {{name.removeprefix('{prefix}'): array for")
        made.load_state_dict({name.removeprefix(prefix): array for name, array in given.items()})
    assert failed(made, {"0.weight": weights["0.weight"]}) == 'Missing key(s) in state_dict: "0.bias".'
    assert "seem" not in failed(made, weights | {"more": {"a": 1}})


def test_hint_of_modules_in_a_plain_list():
    made = nn.Module()
    made.inner = nn.Module()
    made.inner.layers = [nn.Linear(3, 2)]
    assert made.state_dict() == {}
    hint = failed(made, {"inner.layers.0.weight": 1})
    assert hint == "'inner.layers' is a plain list, whose modules are not found: use nn.ModuleList."


def test_appending_to_a_part_replaces_nothing():
    a, b, c, d = nn.Tanh(), nn.ReLU(), nn.SiLU(), nn.GELU()
    part = nn.Sequential(a, b, c)[1:].append(d)
    assert list(part) == [b, c, d]
    named = nn.Sequential({"1": a}).append(b).append(c)
    assert list(named) == [a, b, c]


def test_a_state_dict_that_cannot_be_converted_changes_nothing():
    network = nn.Sequential(nn.Linear(2, 2))
    before = iruka.asnumpy(network[0].weight)
    with pytest.raises(ValueError):
        network.load_state_dict({"0.weight": np.zeros((2, 2)), "0.bias": np.array(["a", "b"])})
    np.testing.assert_array_equal(iruka.asnumpy(network[0].weight), before)


def test_identity_checks_the_shape_of_out():
    with pytest.raises(ValueError, match=r"out has shape \(5, 3\), but the result \(3,\)"):
        nn.Identity().map(iruka.ones(3), out=iruka.empty((5, 3)))
