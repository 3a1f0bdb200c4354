"""Modules of iruka.nn against float64 formulas of NumPy: layers, activations, dtypes, layouts, and functions of kernels."""

import collections
import copy
import math
import pickle
import threading

import numpy as np
import pytest

import iruka
from fake_driver import needs_fake_driver, run
from fake_torch import Tensor, torch_like
from helpers import BFLOAT16, values
from iruka import nn

ERF = np.vectorize(math.erf, otypes=[float])
ACTIVATIONS = {
    "relu": (nn.ReLU, lambda x: np.where(x < 0, 0, x)),
    "leaky": (lambda: nn.LeakyReLU(0.2), lambda x: np.where(x > 0, x, 0.2 * x)),
    "gelu": (nn.GELU, lambda x: 0.5 * x * (1 + ERF(x / math.sqrt(2)))),
    "gelu_tanh": (
        lambda: nn.GELU("tanh"),
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "silu": (nn.SiLU, lambda x: x * sigmoid(x)),
    "tanh": (nn.Tanh, np.tanh),
    "sigmoid": (nn.Sigmoid, lambda x: sigmoid(x)),
    "softplus": (lambda: nn.Softplus(2, 5), lambda x: np.where(2 * x > 5, x, np.log1p(np.exp(2 * x)) / 2)),
    "elu": (lambda: nn.ELU(1.5), lambda x: np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0)))),
    "prelu": (lambda: nn.PReLU(init=0.375), lambda x: np.where(x > 0, x, 0.375 * x)),
    "hardswish": (nn.Hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "identity": (nn.Identity, lambda x: x),
    "dropout": (nn.Dropout, lambda x: x),
    "softmax": (lambda: nn.Softmax(-1), lambda x: softmax(x, -1)),
}
FORMULAS = {}  # by the module, for reference()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    shifted = np.exp(x - x.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def host(array):
    return iruka.asnumpy(array).astype(np.float64)


def activation(name, dtype="float32"):
    make, formula = ACTIVATIONS[name]
    made = make().to(dtype)
    FORMULAS[id(made)] = (made, formula)
    return made


def perceptron(*widths, name="relu", last=None, dtype="float32"):
    """Linear layers with an activation between them, weights from NumPy."""
    rng = np.random.default_rng(sum(widths) + len(widths))
    modules = []
    for k, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        linear = nn.Linear(inputs, outputs, dtype=dtype)
        linear.weight = rng.standard_normal((outputs, inputs)) / math.sqrt(inputs)
        linear.bias = rng.standard_normal(outputs)
        modules.append(linear)
        follower = name if k + 2 < len(widths) else last
        if follower:
            modules.append(activation(follower, dtype))
    return nn.Sequential(*modules)


def reference(network, x):
    """The network in float64, features last."""
    x = np.asarray(x).astype(np.float64)
    for module in network:
        if isinstance(module, nn.Linear):
            x = x @ host(module.weight).T
            x = x + host(module.bias) if module.bias is not None else x
        else:
            x = FORMULAS[id(module)][1](x)
    return x


def check(actual, expected, relative=1e-5):
    """Within `relative` of the largest number of the result."""
    assert actual.shape == expected.shape
    finite = np.isfinite(expected)
    scale = np.abs(expected[finite]).max(initial=1e-3)
    np.testing.assert_allclose(host(actual), expected, rtol=0, atol=relative * scale)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_activation_inside_a_network_and_alone(name, dtype, rng):
    x = rng.standard_normal((37, 8)).astype(dtype) * 3
    network = perceptron(8, 13, 6, name=name, last=name, dtype=dtype)
    relative = 1e-5 if dtype == "float32" else 1e-12
    assert network(x).dtype == dtype
    check(network(x), reference(network, x), relative)
    alone = ACTIVATIONS[name][0]().to(dtype)
    check(alone(x), ACTIVATIONS[name][1](x.astype(np.float64)), relative)


@pytest.mark.parametrize(
    "widths",
    [
        (1, 1),
        (1, 256, 1),
        (8, 32, 4),
        (3, 64, 64, 3),
        (5, 7, 2),
        (256, 256, 256),
        (4,) * 17,
        (9, 33, 130, 5),
        (6, 6, 33),
    ],
    ids=str,
)
def test_networks_of_every_width_and_depth(widths, rng):
    network = perceptron(*widths, name="tanh")
    x = rng.standard_normal((101, widths[0])).astype(np.float32)
    check(network(x), reference(network, x))
    # The sums of a layer of 256 x 256 do not fit a GPU's registers.
    is_layered = widths == (256, 256, 256) and network(x).device.name != "cpu"
    assert ("layer by layer" if is_layered else "one kernel") in str(network)


@pytest.mark.parametrize("precision", ["float32", "tf32"])
def test_wide_layers_keep_what_is_not_finite(precision, rng):
    """A GPU's library adds the biases and takes the larger of sums and 0."""
    network = perceptron(70, 300, 90, 5, name="relu", last="relu")
    x = rng.standard_normal((3001, 70)).astype(np.float32)
    check(network.to(precision=precision)(x), reference(network, x), 1e-5 if precision == "float32" else 1e-2)
    x[7, 3], x[2900, :] = np.nan, np.inf
    made = iruka.asnumpy(network(x))
    assert np.isnan(made[7]).all() and np.isnan(made[2900]).all()
    assert np.isfinite(np.delete(made, (7, 2900), axis=0)).all()


def test_wide_layers_of_more_batch_sizes_than_a_library_keeps_plans_for(rng):
    """A plan of cuBLASLt is for one number of rows, and 256 of them are kept."""
    network = perceptron(70, 300, 90, 5, name="relu", last="relu")
    x = rng.standard_normal((300, 70)).astype(np.float32)
    expected = reference(network, x)
    for rows in [*range(1, 301), 1, 300]:
        made = iruka.asnumpy(network(x[:rows]))
        np.testing.assert_allclose(made, expected[:rows], rtol=1e-4, atol=1e-5, err_msg=f"{rows} rows")


@pytest.mark.parametrize("widths", [(8, 257, 3), (300, 4), (4,) * 18], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_network_too_large_for_functions_of_kernels(widths, dtype, rng):
    network = perceptron(*widths, name="gelu", last="softmax", dtype=dtype)
    x = rng.standard_normal((3, 5, widths[0])).astype(dtype)
    check(network(x), reference(network, x), 1e-5 if dtype == "float32" else 1e-12)
    swapped = network.map(x.transpose(2, 0, 1).copy(), axis=0)
    check(swapped.transpose(1, 2, 0), reference(network, x), 1e-5)
    # A CPU has a kernel for layers of up to 512 numbers.
    is_layered = len(widths) > 16 or network(x).device.name != "cpu"
    how = "layer by layer" if is_layered else "one kernel"
    report = network.report(x)
    assert how in str(network) and how in str(report) and (report.rows[0].kernel is None) == is_layered
    limit = f"kernels call networks of up to 16 layers of 256 numbers, but this one has {len(widths) - 1} layers"
    with pytest.raises(ValueError, match=f"as_function: {limit}"):
        network.as_function("net")


def test_activations_before_between_and_after_layers(rng):
    chain = [activation(name) for name in ("tanh", "relu", "softmax", "elu", "sigmoid", "softmax", "silu")]
    first, second, third = (nn.Linear(*each) for each in ((6, 10), (10, 5), (5, 7)))
    network = nn.Sequential(*chain[:2], first, chain[2], chain[3], second, third, *chain[4:])
    x = rng.standard_normal((20, 6)).astype(np.float32)
    check(network(x), reference(network, x))


def test_prelu_with_a_slope_for_each_channel(rng):
    slopes = rng.standard_normal(5)
    prelu = nn.PReLU(5)
    prelu.weight = slopes
    FORMULAS[id(prelu)] = (prelu, lambda x: np.where(x > 0, x, slopes.astype(np.float32) * x))
    x = rng.standard_normal((9, 5)).astype(np.float32)
    for network in (nn.Sequential(prelu), nn.Sequential(nn.Linear(5, 5), prelu), nn.Sequential(prelu, nn.Linear(5, 2))):
        check(network(x), reference(network, x))
    wide = nn.Sequential(nn.Linear(5, 300), nn.Linear(300, 5), prelu)
    check(wide(x), reference(wide, x))
    with pytest.raises(ValueError, match=r"expected 5 channels along axis 1, but the input has shape \(1, 9, 5\)"):
        prelu(x[None])
    with pytest.raises(ValueError, match="torch's channels are axis 1 of an array of 3 axes"):
        nn.PReLU(9)(x[None])


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64", "uint8", "uint16", "float16", BFLOAT16, "float64"])
@pytest.mark.parametrize("network_dtype", ["float32", "float64"])
def test_inputs_are_cast_to_the_dtype_of_the_weights(dtype, network_dtype, rng):
    network = perceptron(4, 9, 3, dtype=network_dtype)
    x = values(dtype, (11, 4), rng)
    assert network(x).dtype == network_dtype
    check(network(x), reference(network, x))


def test_activations_keep_narrow_floats():
    assert nn.ReLU()(iruka.ones(3, dtype="float16")).dtype == "float16"
    assert nn.ReLU()(iruka.ones(3, dtype="float64")).dtype == "float64"
    assert nn.Tanh()(iruka.ones(3, dtype="int32")).dtype == "float32"
    assert nn.ReLU()(iruka.ones((), dtype="float32")).shape == ()


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="expected real numbers, not complex64"):
        perceptron(4, 3)(iruka.ones((2, 4), dtype="complex64"))


LAYOUTS = {
    "C order": lambda x: x,
    "Fortran order": np.asfortranarray,
    "reversed": lambda x: x[::-1, :, ::-1],
    "every second": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "cut": lambda x: np.pad(x, ((1, 2), (0, 1), (3, 1)))[1:-2, :-1, 3:-1],
    "broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "one point many times": lambda x: np.broadcast_to(x[0, 0], x.shape),
    "one feature many times": lambda x: np.broadcast_to(x[..., :1], x.shape),
    "swapped": lambda x: x.swapaxes(0, 1).copy().swapaxes(0, 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_map_takes_any_layout_and_axis(layout, axis, rng):
    network = perceptron(6, 11, 4)
    x = LAYOUTS[layout](rng.standard_normal((7, 9, 6)).astype(np.float32))
    moved = np.moveaxis(x, -1, axis)
    expected = np.moveaxis(reference(network, x), -1, axis)
    array = iruka.asarray(x)
    array = iruka.moveaxis(array, -1, axis)
    assert array.strides == moved.strides or iruka.default_device().name != "cpu"
    check(network.map(array, axis=axis), expected)
    check(np.apply_along_axis(network, axis, array), expected)
    check(iruka.apply_along_axis(network, axis, array), expected)


@pytest.mark.parametrize("shape", [(6,), (1, 6), (0, 6), (3, 0, 6), (2, 1, 3, 1, 6), (1, 1, 6)])
def test_batches_of_any_shape(shape, rng):
    network = perceptron(6, 11, 4)
    x = rng.standard_normal(shape).astype(np.float32)
    check(network(x), reference(network, x))
    check(network.map(x), reference(network, x))


def test_map_writes_to_out(rng):
    network = perceptron(6, 11, 4)
    x = rng.standard_normal((5, 6, 8)).astype(np.float32)
    expected = np.moveaxis(reference(network, np.moveaxis(x, 1, -1)), -1, 1)
    plain = iruka.zeros((5, 4, 8), dtype="float32")
    assert network.map(x, axis=1, out=plain) is plain
    check(plain, expected)
    backward = iruka.zeros((8, 4, 5), dtype="float32").T[::-1]
    network.map(x, 1, backward)
    check(backward, expected)
    narrow = iruka.zeros((5, 4, 8), dtype="float16")
    network.map(x, 1, out=narrow)
    check(narrow, expected, 1e-3)
    with pytest.raises(ValueError, match=r"out has shape \(5, 4\), the result \(5, 4, 8\)"):
        network.map(x, 1, out=iruka.zeros((5, 4)))
    with pytest.raises(TypeError, match="int32"):
        network.map(x, 1, out=iruka.zeros((5, 4, 8), dtype="int32"))
    with pytest.raises(TypeError, match="out must be an iruka.ndarray, not ndarray"):
        network.map(x, 1, out=np.zeros((5, 4, 8), np.float32))
    with pytest.raises(ValueError, match="read-only"):
        network.map(x, 1, out=network_output_read_only())


def network_output_read_only():
    array = iruka.zeros((5, 4, 8), dtype="float32")
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("widths", [(6, 11, 6), (6, 300, 6)], ids=str)
def test_out_may_be_the_input(widths, rng):
    network = perceptron(*widths)
    x = rng.standard_normal((50, 12)).astype(np.float32)
    array = iruka.asarray(x.copy())
    network.map(array[:, :6], out=array[:, 3:9])
    expected = x.astype(np.float64)
    expected[:, 3:9] = reference(network, x[:, :6])
    check(array, expected)


@pytest.mark.parametrize("widths", [(2, 5, 1), (2, 300, 1)], ids=str)
def test_progress_is_told_after_each_part(widths, rng):
    network = perceptron(*widths)
    x = rng.standard_normal((3, 2, 100_000)).astype(np.float32)
    told = []
    y = network.map(x, axis=1, progress=lambda done, all: told.append((done, all)))
    check(y, np.moveaxis(reference(network, np.moveaxis(x, 1, -1)), -1, 1))
    assert len(told) > 2 and told[-1] == (300_000, 300_000) and told == sorted(set(told))

    def fail(done, all):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        network.map(x, axis=1, progress=fail)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_nan_and_infinity_pass_as_in_the_formula(name):
    x = np.array([[np.nan, 1.0], [np.inf, 1.0], [-np.inf, 1.0], [1.0, 2.0]], np.float32)
    identity = nn.Linear(2, 2, bias=False)
    identity.weight = np.eye(2)
    network = nn.Sequential(activation(name))
    expected = reference(network, x)
    np.testing.assert_allclose(host(network(x)), expected, rtol=1e-5, atol=1e-6)
    through = nn.Sequential(identity, activation(name))
    np.testing.assert_allclose(host(through(x)), reference(through, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2])
def test_softmax_along_any_axis(dim, rng):
    x = rng.standard_normal((3, 4, 5)).astype(np.float32)
    check(nn.Softmax(dim)(x), softmax(x.astype(np.float64), dim))
    linear = nn.Linear(5, 6)
    network = nn.Sequential(linear, nn.Softmax(dim), nn.ReLU())
    check(network(x), softmax(x @ host(linear.weight).T + host(linear.bias), dim))
    if dim in (0, 1, -1):  # of a point, and of torch's (N, C)
        check(network.map(x), softmax(x @ host(linear.weight).T + host(linear.bias), -1))
    else:
        with pytest.raises(ValueError, match=r"so Softmax must have dim -1, 0, or 1 as of \(N, C\)"):
            network.map(x)


def test_load_state_dict_names_everything_that_does_not_fit():
    network = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
    assert list(network.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    before = host(network[0].weight)
    wrong = {"0.weight": np.zeros((32, 9)), "0.bias": np.zeros(32), "2.bias": np.zeros(5), "3.weight": 1, "x": 2}
    with pytest.raises(RuntimeError) as error:
        network.load_state_dict(wrong)
    assert str(error.value).splitlines() == [
        "nn.Module.load_state_dict: errors in the state_dict for Sequential:",
        '\tUnexpected key(s) in state_dict: "3.weight", "x".',
        '\tMissing key(s) in state_dict: "2.weight".',
        "\tsize mismatch for 0.weight: shape (32, 9) in state_dict, but (32, 8) in this module.",
        "\tsize mismatch for 2.bias: shape (5,) in state_dict, but (4,) in this module.",
    ]
    assert (host(network[0].weight) == before).all()
    keys = network.load_state_dict({"0.bias": np.ones(32), "y": 0}, strict=False)
    assert keys.missing_keys == ["0.weight", "2.weight", "2.bias"] and keys.unexpected_keys == ["y"]
    assert (host(network[0].bias) == 1).all()
    with pytest.raises(TypeError, match="expected a mapping, not list"):
        network.load_state_dict([1])


def test_state_dicts_of_other_networks_files_and_libraries(rng):
    network = perceptron(3, 5, 2)
    other = perceptron(3, 5, 2, dtype="float64")
    x = rng.standard_normal((7, 3)).astype(np.float32)
    for weights in (
        network.state_dict(),
        {name: iruka.asnumpy(array) for name, array in network.state_dict().items()},
        {name: host(array).tolist() for name, array in network.state_dict().items()},
    ):
        other.load_state_dict({name: np.zeros(np.shape(value)) for name, value in weights.items()})
        other.load_state_dict(weights)
        check(other(x), reference(network, x))


def test_new_weights_count_from_the_next_call(rng):
    network = perceptron(3, 5, 2)
    x = rng.standard_normal((7, 3)).astype(np.float32)
    check(network(x), reference(network, x))
    network[0].weight = rng.standard_normal((5, 3))
    check(network(x), reference(network, x))
    network.to("float64")
    assert network(x).dtype == "float64"
    check(network(x), reference(network, x), 1e-12)
    with pytest.raises(ValueError, match="read-only"):
        network[0].weight[0, 0] = 1
    with pytest.raises(ValueError, match=r"weight has shape \(5, 3\), but the new one has \(3, 5\)"):
        network[0].weight = np.zeros((3, 5))
    with pytest.raises(ValueError, match="this module has no bias"):
        nn.Linear(3, 2, bias=False).bias = [1, 2]


def test_parameters_are_copies(rng):
    source = iruka.ones((2, 3), dtype="float32")
    linear = nn.Linear(3, 2)
    linear.weight = source
    source[...] = 7
    assert (host(linear.weight) == 1).all()


def test_layers_without_bias_and_containers(rng):
    inner = nn.Sequential(nn.Linear(4, 6, bias=False), activation("silu"))
    network = nn.Sequential(collections.OrderedDict(body=inner, head=nn.Linear(6, 2)))
    assert list(network.state_dict()) == ["body.0.weight", "head.weight", "head.bias"]
    assert network.body[0] is inner[0] and network[-1] is network.head and len(network[:1]) == 1
    assert inner[0].bias is None
    x = rng.standard_normal((5, 4)).astype(np.float32)
    check(network(x), reference(nn.Sequential(*inner, network.head), x))
    check(nn.Sequential()(x), x.astype(np.float64))
    with pytest.raises(IndexError, match="index 2 is out of range for 2 modules"):
        network[2]
    with pytest.raises(AttributeError, match="no attribute 'tail'"):
        network.tail


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = perceptron(5, 9, 5)
        self.scale = 2

    def forward(self, x):
        return x + self.scale * self.body(x)


def test_a_class_with_a_forward_of_its_own(rng):
    residual = Residual()
    head = nn.Linear(5, 3)
    network = nn.Sequential(residual, head)
    x = iruka.asarray(rng.standard_normal((7, 5)).astype(np.float32))
    inner = host(x) + 2 * reference(residual.body, host(x))
    check(residual(x), inner)
    check(network(x), inner @ host(head.weight).T + host(head.bias))
    assert list(network.state_dict()) == [
        *(f"0.body.{name}" for name in ("0.weight", "0.bias", "2.weight", "2.bias")),
        "1.weight",
        "1.bias",
    ]
    check(pickle.loads(pickle.dumps(network))(x), host(network(x)))
    assert "by the forward() of Residual" in str(network)
    for call in (network.map, network.report, residual.map, lambda x: network.as_function("net")):
        with pytest.raises(TypeError, match=r"Residual has a forward\(\) of its own, of which no kernel is made"):
            call(x)
    residual.body = perceptron(5, 4, 5)
    check(residual(x), host(x) + 2 * reference(residual.body, host(x)))
    outer = nn.Sequential(nn.Sequential({"act": activation("tanh")}))
    check(outer(x), np.tanh(host(x)))
    outer[0].act = activation("sigmoid")
    check(outer(x), sigmoid(host(x)))
    with pytest.raises(NotImplementedError, match=r"nn.Module has no forward\(\)"):
        nn.Module()(x)


def test_wrong_shapes_and_arguments_are_named():
    network = perceptron(6, 11, 4)
    with pytest.raises(ValueError, match=r"expected 6 features along axis -1, but the array has shape \(3, 5\)"):
        network(np.zeros((3, 5), np.float32))
    with pytest.raises(ValueError, match="expected an axis of 6 features, but the array has no axes"):
        network(np.float32(3))
    with pytest.raises(IndexError, match="axis 2 is out of bounds for array of dimension 2"):
        network.map(np.zeros((3, 6), np.float32), axis=2)
    with pytest.raises(ValueError, match="nn.Linear '2': expected 12 features along axis -1"):
        nn.Sequential(nn.Linear(6, 11), nn.ReLU(), nn.Linear(12, 4))(np.zeros(6))
    with pytest.raises(ValueError, match="must have 1 or 11 numbers"):
        nn.Sequential(nn.Linear(6, 11), nn.PReLU(3))(np.zeros(6))
    with pytest.raises(TypeError, match="the weight is float64, but other weights are float32"):
        nn.Sequential(nn.Linear(6, 5), nn.Linear(5, 4, dtype="float64"))(np.zeros(6))
    with pytest.raises(ValueError, match="nn.Linear: out_features must be at least 1, but is 0"):
        nn.Linear(3, 0)
    with pytest.raises(TypeError, match="'0' is no module of iruka.nn, but int"):
        nn.Sequential(3)
    with pytest.raises(ValueError, match="approximate must be 'none' or 'tanh', not 'exact'"):
        nn.GELU("exact")
    with pytest.raises(ValueError, match="p must be between 0 and 1, but is 2"):
        nn.Dropout(2)
    with pytest.raises(TypeError, match="parameters are float32 or float64, not int32"):
        network.to("int32")
    with pytest.raises(TypeError, match="takes no arguments besides the slice"):
        iruka.apply_along_axis(network, 0, iruka.zeros((6, 2)), 3)


def test_modules_are_pickled_and_copied(rng):
    network = perceptron(6, 11, 4, name="elu")
    x = rng.standard_normal((5, 6)).astype(np.float32)
    expected = reference(network, x)
    network(x)
    for other in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        check(other(x), expected)
        other[0].weight = np.zeros((11, 6))
        check(network(x), expected)
        with pytest.raises(ValueError, match="read-only"):
            other[2].bias[0] = 3


def test_threads_share_a_network(rng):
    network = perceptron(6, 33, 4)
    x = rng.standard_normal((5000, 6)).astype(np.float32)
    expected, failures = reference(network, x), []

    def work():
        try:
            for _ in range(5):
                check(network(x), expected)
        except Exception as error:  # the main thread raises it
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_texts_of_a_network(rng):
    network = perceptron(8, 32, 4)
    assert repr(network).splitlines() == [
        "Sequential(",
        "  (0): Linear(in_features=8, out_features=32, bias=True)",
        "  (1): ReLU()",
        "  (2): Linear(in_features=32, out_features=4, bias=True)",
        ")",
    ]
    where = f"one kernel, float32 on {iruka.default_device().name}"
    table = [line.split() for line in str(network).splitlines()]
    assert table[1] == ["name", "layer", "output", "parameters"] and table[3] == ["1", "ReLU()", "(...,", "32)", "0"]
    assert table[-1] == [*where.split(), "420"]
    report = network.report(rng.standard_normal((1000, 8)).astype(np.float32))
    assert report.points == 1000 and report.rows[0].layers == "0 to 2" and report.rows[0].warm > 0
    assert "1000 points, float32" in str(report) and "one kernel" in str(report)
    assert report.rows[0].kernel.kernel == "nn_8_32_4"
    assert "takes 12" in str(nn.Sequential(nn.Linear(6, 11), nn.Linear(12, 4)))
    assert "one kernel" in str(nn.ReLU())


def test_a_network_as_a_function_of_a_kernel(rng):
    network = perceptron(2, 16, 3, name="tanh", last="sigmoid")
    net = network.as_function("net")
    assert (net.in_features, net.out_features) == (2, 3)
    kernel = net.kernel(
        "float32 x, float32 y",
        "float32 r, float32 g, float32 b",
        "float in[] = {x, y}, out[3];\nnet(in, out);\nr = out[0]; g = out[1]; b = out[2];",
        "draw",
    )
    x, y = rng.standard_normal((2, 31, 17)).astype(np.float32)
    expected = reference(network, np.stack([x, y], axis=-1))
    for made in (kernel, pickle.loads(pickle.dumps(kernel))):
        for k, plane in enumerate(made(iruka.asarray(x), iruka.asarray(y))):
            check(plane, expected[..., k])
    outs = [iruka.zeros((31, 17), dtype="float32") for _ in range(3)]
    kernel(iruka.asarray(x), iruka.asarray(y), *outs)
    check(outs[1], expected[..., 1])
    assert kernel.nin == 2 and kernel.nout == 3 and "draw" in repr(kernel)
    assert "void net(const float (&in)[2], float (&out)[3])" in repr(net)
    assert "net_weights" in kernel.source(iruka.asarray(x), iruka.asarray(y))
    with pytest.raises(TypeError, match=r"draw\(\) takes 2 inputs and optionally 3 outputs, not 3 arguments"):
        kernel(1, 2, 3)


def test_several_networks_in_one_kernel_and_in_helpers(rng):
    first, second = perceptron(3, 8, 2), perceptron(2, 5, 1, name="gelu", dtype="float64")
    outer = second.as_function("outer")
    kernel = first.as_function("inner").kernel(
        "raw float32 x",
        "float64 y",
        "y = chained(inner, outer, &x[i * 3]);",
        "chain",
        functions=(outer,),
        preamble="""
        template <class Inner, class Outer> __device__ double chained(Inner inner, Outer outer, const float* in) {
          float between[2];
          double wide[2], out[1];
          inner(in, between);
          for (int k = 0; k < 2; ++k) wide[k] = between[k];
          outer(wide, out);
          return out[0];
        }""",
    )
    x = rng.standard_normal((19, 3)).astype(np.float32)
    check(kernel(iruka.asarray(x), size=19), reference(second, reference(first, x))[:, 0])
    with pytest.raises(ValueError, match="two networks have the same name, among outer, outer"):
        outer.kernel("", "float32 y", "y = 0;", functions=(outer,))
    with pytest.raises(ValueError, match="'2d' is no name of a C"):
        first.as_function("2d")
    with pytest.raises(ValueError, match="has no Linear that says how many features"):
        nn.ReLU().as_function("net")
    with pytest.raises(RuntimeError, match="unknown_name"):
        outer.kernel("float32 x", "float32 y", "y = unknown_name(x);")


def test_the_text_of_a_network_depends_on_shapes_alone(rng):
    x = iruka.asarray(rng.standard_normal((40, 6)).astype(np.float32))
    perceptron(6, 29, 3)(x)
    iruka.clear_kernel_history()
    other = perceptron(6, 29, 3)
    other[0].weight = rng.standard_normal((29, 6))
    other(x)
    compiled = [event.kernel for event in iruka.kernel_history() if event.kind == "compiled"]
    assert "nn_6_29_3" not in compiled  # those of other tests may still be compiled in the background


@pytest.mark.cpu_only
def test_from_torch_shares_the_weights(rng):
    weight, bias = rng.standard_normal((4, 3)).astype(np.float32), rng.standard_normal(4).astype(np.float32)
    tensor = Tensor(weight)
    linear = torch_like("Linear", in_features=3, out_features=4, weight=tensor, bias=Tensor(bias))
    prelu = torch_like("PReLU", num_parameters=1, weight=Tensor(np.array([0.5], np.float32)))
    network = nn.from_torch(torch_like("Sequential", children={"a": linear, "b": prelu, "c": torch_like("Tanh")}))
    x = rng.standard_normal((6, 3)).astype(np.float32)

    def expected():
        y = x.astype(np.float64) @ weight.T + bias
        return np.tanh(np.where(y > 0, y, 0.5 * y))

    check(network(x), expected())
    weight *= 2
    tensor._version += 1
    check(network(x), expected())
    assert list(network.state_dict()) == ["a.weight", "a.bias", "b.weight"]
    check(pickle.loads(pickle.dumps(network))(x), expected())
    unknown = torch_like("Sequential", children={"0": torch_like("Bilinear"), "1": torch_like("Fold"), "2": linear})
    with pytest.raises(TypeError, match="no such modules in iruka.nn: 0: Bilinear, 1: Fold"):
        nn.from_torch(unknown)


def test_from_torch_of_torch_itself(rng):
    torch = pytest.importorskip("torch")
    t = torch.nn
    activations = [t.ReLU(), t.LeakyReLU(0.3), t.GELU(), t.GELU("tanh"), t.SiLU(), t.Tanh(), t.Sigmoid(), t.Softplus()]
    activations += [t.ELU(), t.PReLU(), t.PReLU(5), t.Hardswish(), t.Identity(), t.Dropout().eval(), t.Softmax(-1)]
    x = torch.randn(50, 3)
    for each in activations:
        theirs = t.Sequential(t.Linear(3, 5), each, t.Linear(5, 2))
        ours = nn.from_torch(theirs).to(iruka.default_device())
        with torch.no_grad():
            check(ours(x.numpy()), theirs.double()(x.double()).numpy())
        theirs.float()


@needs_fake_driver
def test_texts_for_gpus_compile():
    """What the GPU's compiler is given for both layouts, for activations alone and inside a kernel."""
    run("""
if not iruka.cuda.is_available():  # NVRTC is missing
    raise SystemExit
nn = iruka.nn
model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 5), nn.Softmax())
assert model(np.ones((10, 8), "float32")).shape == (10, 5)
assert model.map(np.ones((8, 3, 4), "float16"), axis=0).shape == (5, 3, 4)
assert nn.Sequential(nn.PReLU(8), nn.Tanh())(np.ones((2, 8))).dtype == "float32"
kernel = model.double().as_function("net").kernel(
    "float64 x", "float64 y", "double in[8] = {x}, out[5]; net(in, out); y = out[0];", "calls")
assert kernel(iruka.ones(3)).device.name == "cuda:0"
assert kernel(iruka.ones(3).to_device("cpu")).device.name == "cpu"
short = lambda: model.as_function("net").kernel(
    "float64 x", "float64 y", "double in[7] = {x}, out[5]; net(in, out); y = out[0];", "too_short")(iruka.ones(3))
raises(RuntimeError, short, "takes an array of 8 numbers, and one of 5 for its results")
names = [event.kernel for event in iruka.kernel_history() if event.kind == "compiled" and event.device == "cuda:0"]
assert names.count("nn_8_32_5") == 2 and names.count("calls") == 1, names
""")
