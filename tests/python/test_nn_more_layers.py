"""Layers of iruka.nn that are a few operators each, against float64 formulas of NumPy as torch documents them."""

import copy
import pickle

import numpy as np
import pytest

import iruka
from fake_torch import torch_like
from iruka import nn

X = np.array([-np.inf, -30, -3.0, -1, -0.5, -0.25, -0.0, 0.1, 0.5, 1, 2.5, 40, np.inf])
# Name: the module, its formula.
POINTWISE = {
    "LogSigmoid": (nn.LogSigmoid, lambda x: -np.logaddexp(0, -x)),
    "Tanhshrink": (nn.Tanhshrink, lambda x: x - np.tanh(x)),
    "CELU": (lambda: nn.CELU(0.3), lambda x: np.maximum(x, 0) + np.minimum(0, 0.3 * np.expm1(x / 0.3))),
    "Threshold": (lambda: nn.Threshold(0.3, 20.3), lambda x: np.where(x > 0.3, x, 20.3)),
    "Hardshrink": (lambda: nn.Hardshrink(0.7), lambda x: np.where(np.abs(x) > 0.7, x, 0)),
    "Softshrink": (lambda: nn.Softshrink(0.3), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.3, 0)),
    "RReLU": (lambda: nn.RReLU(0.1, 0.4), lambda x: np.where(x > 0, x, 0.25 * x)),
}


def host(array):
    return iruka.asnumpy(array).astype(np.float64)


def check(got, want, relative=1e-6):
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(host(got), want, rtol=relative, atol=relative)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", POINTWISE)
def test_activations(name, dtype):
    make, formula = POINTWISE[name]
    x = X.astype(dtype)
    with np.errstate(all="ignore"):
        want = formula(x.astype(np.float64))
    got = make()(x)
    assert got.dtype == dtype
    finite = ~np.isnan(want)
    check(got[finite], want[finite], 1e-6 if dtype == "float32" else 1e-14)
    assert np.isnan(host(make()(np.array([np.nan], dtype))))[0]
    behind_linear = nn.Sequential(nn.Linear(3, 4), make())
    points = np.random.default_rng(1).normal(size=(6, 3)).astype("float32")
    linear = host(behind_linear[0].weight) @ points.T.astype(float) + host(behind_linear[0].bias)[:, None]
    check(behind_linear(points), formula(linear.T), 1e-5)


def test_halves_that_do_not_fit_are_refused(rng):
    x = rng.normal(size=(2, 6, 4))
    for dim in (1, -1, 2, -2):
        first, second = np.split(x, 2, dim)
        check(nn.GLU(dim)(x), first / (1 + np.exp(-second)), 1e-14)
    with pytest.raises(ValueError):
        nn.GLU()(rng.normal(size=(2, 3)))
    with pytest.raises(ValueError, match="GLU: dim 3 is out of range for an input of 2 axes"):
        nn.GLU(3)(np.ones((2, 4)))
    with pytest.raises(TypeError, match="GLU: dim must be an integer, not 1.5"):
        nn.GLU(1.5)


def softmax(x, axis):
    numbers = np.exp(x - x.max(axis=axis, keepdims=True))
    return numbers / numbers.sum(axis=axis, keepdims=True)


def test_softmaxes(rng):
    for shape, implicit in (((5,), 0), ((4, 5), 1), ((3, 4, 5), 0), ((2, 3, 4, 5), 1)):
        x = rng.normal(size=shape)
        check(nn.Softmin()(x), softmax(-x, implicit), 1e-14)
        check(nn.Softmin(-1)(x), softmax(-x, -1), 1e-14)
        if x.ndim > 2:
            check(nn.Softmax2d()(x), softmax(x, -3), 1e-14)
    with pytest.raises(ValueError, match="Softmax2d: expected 3 or 4 axes, but 2 are given"):
        nn.Softmax2d()(np.ones((2, 3)))


MODES = {"Zero": {}, "Constant": {"constant_values": 0.1}, "Reflection": {"mode": "reflect"}}
MODES |= {"Replication": {"mode": "edge"}, "Circular": {"mode": "wrap"}}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("how", MODES)
def test_padding(how, axes, dtype, rng):
    made = getattr(nn, f"{how}Pad{axes}d")
    value = (0.1,) if how == "Constant" else ()
    for padding in (2, (1, 2, 3, 0, 2, 1)[: 2 * axes]):
        pairs = [(2, 2)] * axes if padding == 2 else [padding[2 * k : 2 * k + 2] for k in range(axes)][::-1]
        for lead in ((2, 3), (3,)):
            x = rng.normal(size=(*lead, *(4, 5, 6)[:axes])).astype(dtype)
            got = made(padding, *value)(x)
            assert got.dtype == dtype
            check(got, np.pad(x, [(0, 0)] * len(lead) + pairs, **MODES[how]), 0 if dtype == "float64" else 1e-7)
    with pytest.raises(ValueError, match=f"{how}Pad{axes}d: padding must be an int or {2 * axes} of them"):
        made((1, 2, 3), *value)
    with pytest.raises(TypeError, match="padding must be an integer, not 1.5"):
        made(1.5, *value)
    with pytest.raises(ValueError, match=f"{how}Pad{axes}d: expected {axes + 2} axes, or {axes + 1} without a batch"):
        made(1, *value)(np.ones(3))


def test_negative_padding_crops(rng):
    x = rng.normal(size=(1, 2, 5, 6))
    check(nn.ZeroPad2d((-1, 2, 0, -2))(x), np.pad(x[:, :, :3, 1:], [(0, 0), (0, 0), (0, 0), (0, 2)]), 0)
    assert repr(nn.ZeroPad2d(1)) == "ZeroPad2d((1, 1, 1, 1))"
    assert repr(nn.ConstantPad1d(1, 2)) == "ConstantPad1d(padding=(1, 1), value=2.0)"


@pytest.mark.parametrize(
    "dim, size, shape",
    [(1, (2, 3), (4, 2, 3, 5)), (-1, (5, 1), (4, 6, 5, 1)), (0, (2, -1), (2, 2, 6, 5)), (1, (-1, 3), (4, 2, 3, 5))],
)
def test_unflatten(dim, size, shape, rng):
    x = rng.normal(size=(4, 6, 5))
    check(nn.Unflatten(dim, size)(x), x.reshape(shape), 0)
    check(nn.Sequential(nn.Flatten(), nn.Unflatten(1, (6, 5)))(x), x, 0)


def test_unflatten_refuses():
    with pytest.raises(ValueError, match="one of which may be -1, not"):
        nn.Unflatten(1, (-1, -1))
    with pytest.raises(TypeError, match="unflattened_size must be an integer or some of them"):
        nn.Unflatten(1, "ab")
    with pytest.raises(ValueError, match="dim 3 is out of range for an input of 2 axes"):
        nn.Unflatten(3, (1, 2))(np.ones((2, 2)))
    with pytest.raises(ValueError):
        nn.Unflatten(1, (2, 2))(np.ones((2, 3)))


def test_blocks_of_pixels(rng):
    x = rng.normal(size=(2, 3, 4, 6))
    want = x.reshape(2, 3, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 12, 2, 3)
    check(nn.PixelUnshuffle(2)(x), want, 0)
    check(nn.Sequential(nn.PixelUnshuffle(2), nn.PixelShuffle(2))(x), x, 0)
    with pytest.raises(ValueError):
        nn.PixelUnshuffle(5)(x)
    with pytest.raises(ValueError, match="downscale_factor must be at least 1, but is 0"):
        nn.PixelUnshuffle(0)
    y = rng.normal(size=(2, 6, 3))
    check(nn.ChannelShuffle(2)(y), y.reshape(2, 2, 3, 3).transpose(0, 2, 1, 3).reshape(y.shape), 0)


def test_upsampling(rng):
    x = rng.normal(size=(1, 2, 3, 4))
    check(nn.UpsamplingNearest2d(scale_factor=2)(x), x.repeat(2, 2).repeat(2, 3), 0)
    rows, columns = np.linspace(0, 2, 5), np.linspace(0, 3, 7)
    between = np.array([[np.interp(columns, range(4), row) for row in plane] for plane in x[0]])
    want = np.array([[np.interp(rows, range(3), column) for column in plane.T] for plane in between])
    check(nn.UpsamplingBilinear2d((5, 7))(x), want.transpose(0, 2, 1)[None], 1e-6)


def test_dropouts_change_nothing(rng):
    x = rng.normal(size=(2, 3, 4)).astype("float32")
    for kind in ("Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"):
        check(getattr(nn, kind)(0.3)(x), x, 0)
        assert nn.Sequential(nn.Linear(4, 2), getattr(nn, kind)()).map(x).shape == (2, 3, 2)


EVERY = [nn.CELU(0.5), nn.GLU(1), nn.Hardshrink(0.1), nn.LogSigmoid(), nn.RReLU(), nn.Softmax2d(), nn.Softmin(1)]
EVERY += [nn.Softshrink(0.2), nn.Tanhshrink(), nn.Threshold(0.5, 2), nn.ChannelShuffle(2), nn.PixelUnshuffle(2)]
EVERY += [nn.Unflatten(1, (2, 2)), nn.UpsamplingNearest2d(scale_factor=2), nn.ZeroPad2d(1), nn.ConstantPad2d(1, 3)]
EVERY += [nn.ReflectionPad2d(1), nn.ReplicationPad2d((0, 1, 2, 0)), nn.CircularPad2d(1), nn.Dropout2d(0.2)]


@pytest.mark.parametrize("made", EVERY, ids=lambda made: type(made).__name__)
def test_copies_and_modules_of_torch(made, rng):
    """Pickled, copied and made from torch's module of the same name and attributes: the same results."""
    x = rng.normal(size=(1, 4, 6, 8)).astype("float32")
    want = host(made(x))
    attributes = {name: value for name, value in vars(made).items() if not name.startswith("_")}
    attributes = {"size": None, "scale_factor": None} | attributes
    of_torch = torch_like(type(made).__name__, **attributes)
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), nn.from_torch(of_torch)):
        assert repr(other) == repr(made)
        np.testing.assert_array_equal(host(other(x)), want)


@pytest.mark.parametrize(
    "name, words",
    [
        ("functional", "layers are modules"),
        ("TransformerEncoderLayer", "from ONNX or torch.export"),
        ("LocalResponseNorm", "LRN"),
        ("Unfold", "sliding_window_view"),
        ("Fold", "ConvTranspose2d"),
        ("RNNCell", "nn.RNN"),
        ("CrossEntropyLoss", "not trained"),
        ("Relu", "did you mean 'ReLU'"),
        ("Quux", "nn.load"),
        ("save", "safetensors"),
    ],
)
def test_missing_names_say_what_to_use(name, words):
    with pytest.raises(AttributeError, match="module 'iruka.nn' has no attribute") as error:
        getattr(nn, name)
    assert words in str(error.value)
    assert not hasattr(nn, name)


def test_numbers_that_only_move_keep_their_dtype():
    x = np.arange(2**40, 2**40 + 96).reshape(1, 4, 4, 6)
    for made in (
        nn.ZeroPad2d(1),
        nn.CircularPad2d(1),
        nn.Unflatten(1, (2, 2)),
        nn.PixelUnshuffle(2),
        nn.ChannelShuffle(2),
    ):
        got = made(x)
        assert got.dtype == iruka.int64 and int(got.max()) == 2**40 + 95
