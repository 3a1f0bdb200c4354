"""Where torch has a rule for what a module computes, its dtype or its axis, iruka.nn follows it."""

import math

import numpy as np
import pytest

import iruka
from helpers import BFLOAT16
from iruka import errors, nn

ERF = np.vectorize(math.erf, otypes=[float])


def host(array):
    return iruka.asnumpy(array).astype(np.float64)


@pytest.mark.parametrize(
    "shape, axis", [((5,), 0), ((4, 5), 1), ((3, 4, 5), 0), ((2, 3, 4, 5), 1), ((2, 3, 1, 2, 5), 1)]
)
def test_a_softmax_without_dim_takes_torchs_axis(shape, axis, rng):
    x = rng.normal(size=shape)
    shifted = np.exp(x - x.max(axis, keepdims=True))
    want = shifted / shifted.sum(axis, keepdims=True)
    np.testing.assert_allclose(host(nn.Softmax()(x)), want, rtol=1e-12)
    np.testing.assert_allclose(host(nn.Sequential(nn.Softmax())(x)), want, rtol=1e-12)
    np.testing.assert_allclose(host(nn.LogSoftmax()(x)), np.log(want), rtol=1e-9)
    if len(shape) == 4:
        by_graph = nn.Sequential(nn.ReLU6(), nn.Softmax())(x)
        clipped = np.exp(np.clip(x, 0, 6))
        np.testing.assert_allclose(host(by_graph), clipped / clipped.sum(1, keepdims=True), rtol=1e-12)
    classifier = nn.Sequential(nn.Linear(5, 3, dtype="float64"), nn.Softmax())
    assert classifier.map(np.moveaxis(x, -1, 0), axis=0).shape == (3, *shape[:-1])


MOVING = {
    "identity": (nn.Identity, lambda x: x),
    "dropout": (nn.Dropout, lambda x: x),
    "flatten": (nn.Flatten, lambda x: x.reshape(len(x), -1)),
    "max": (lambda: nn.MaxPool2d(2), lambda x: x.reshape(2, 4, 2, 2, 2, 2).max((3, 5))),
    "adaptive": (lambda: nn.AdaptiveMaxPool2d(2), lambda x: x.reshape(2, 4, 2, 2, 2, 2).max((3, 5))),
    "nearest": (lambda: nn.Upsample(scale_factor=2), lambda x: x.repeat(2, 2).repeat(2, 3)),
    "shuffle": (lambda: nn.PixelShuffle(1), lambda x: x),
    "all": (
        lambda: nn.Sequential(nn.Identity(), nn.MaxPool2d(2), nn.Dropout(), nn.Flatten()),
        lambda x: x.reshape(2, 4, 2, 2, 2, 2).max((3, 5)).reshape(2, -1),
    ),
}


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int16", "float16", BFLOAT16, "float32", "float64"])
@pytest.mark.parametrize("name", MOVING)
def test_layers_that_move_numbers_keep_their_dtype(name, dtype):
    make, want = MOVING[name]
    x = np.arange(128).reshape(2, 4, 4, 4)
    x = (x + 2**40 if dtype == "int64" else x).astype(dtype)
    got = make()(x)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(iruka.asnumpy(got), want(x))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint16", "float16"])
def test_max_pooling_with_margins_of_every_dtype(dtype, rng):
    x = rng.integers(-100, 100, (2, 3, 7, 6)).astype(dtype)
    x = x - 2**50 if dtype == "int64" else x
    least = -np.inf if dtype == "float16" else np.iinfo(dtype).min
    wide = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=least)
    want = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))[:, :, ::2, ::2].max((-1, -2))
    got = iruka.asnumpy(nn.MaxPool2d(3, 2, 1)(x))
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, want)


def test_what_is_moved_into_an_embedding_stays_integers():
    made = nn.Sequential(nn.Flatten(), nn.Identity(), nn.Embedding(300, 4))
    weight = iruka.asnumpy(made[2].weight)
    for dtype in ("int64", "uint8", "int8", "uint16"):
        places = np.array([[[1, 2, 127]], [[0, 5, 5]]], dtype)
        np.testing.assert_array_equal(iruka.asnumpy(made(places)), weight[places.reshape(2, 3)])


@pytest.mark.parametrize("dtype", ["float16", BFLOAT16, "float32", "float64"])
@pytest.mark.parametrize(
    "make",
    [nn.ReLU, nn.SiLU, nn.Mish, nn.SELU, nn.Softsign, nn.ReLU6, nn.Hardtanh, nn.Hardsigmoid, nn.LogSoftmax,
     lambda: nn.AvgPool2d(2), lambda: nn.Sequential(nn.Flatten(), nn.GELU())],
)  # fmt: skip
def test_layers_without_parameters_keep_floats(make, dtype):
    x = np.linspace(-2, 2, 64).reshape(1, 4, 4, 4).astype(dtype)
    assert make()(x).dtype == np.dtype(dtype)
    assert make()(np.arange(64).reshape(1, 4, 4, 4)).dtype == "float32"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("has_weight", [True, False])
def test_rms_norm_takes_the_epsilon_of_the_dtype(dtype, has_weight):
    norm = nn.RMSNorm(4, elementwise_affine=has_weight).to(dtype)
    x = np.full((3, 4), 1e-9, dtype)
    want = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + np.finfo(dtype).eps)
    np.testing.assert_allclose(host(norm(x)), want, rtol=1e-6 if dtype == "float32" else 1e-13)
    stacked = nn.Sequential(nn.Identity(), norm)
    np.testing.assert_array_equal(host(stacked(x)), host(norm(x)))


def elu(x, alpha):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


DOUBLES = {
    "hardtanh": (lambda: nn.Hardtanh(-0.1, 0.3), lambda x: np.clip(x, -0.1, 0.3)),
    "hardsigmoid": (nn.Hardsigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "selu": (nn.SELU, lambda x: 1.0507009873554804934 * elu(x, 1.6732632423543772848)),
    "leaky": (lambda: nn.LeakyReLU(0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    "elu": (lambda: nn.ELU(0.3), lambda x: elu(x, 0.3)),
    "softplus": (lambda: nn.Softplus(0.3), lambda x: np.log1p(np.exp(0.3 * x)) / 0.3),
    "hardswish": (nn.Hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "gelu": (nn.GELU, lambda x: 0.5 * x * (1 + ERF(x / math.sqrt(2)))),
}


@pytest.mark.parametrize("place", ["alone", "graph", "convolution", "sum"])
@pytest.mark.parametrize("name", DOUBLES)
def test_constants_of_float64_networks_are_float64(name, place, rng):
    """Alone, in a graph, as a part of a convolution, and behind one whose loops do not have the function."""
    make, formula = DOUBLES[name]
    x = rng.normal(size=(2, 3, 5, 4)) * 2
    convolution = nn.Conv2d(3, 3, 1, bias=False, dtype="float64")
    convolution.weight = np.eye(3).reshape(3, 3, 1, 1)
    made = {
        "alone": make(),
        "graph": nn.Sequential(nn.Flatten(0, 1), make()),
        "convolution": nn.Sequential(convolution, make()),
        "sum": nn.Sequential(convolution, make(), nn.Mish(), make()),
    }[place]
    want = formula(x)
    if place == "sum":
        want = formula(want * np.tanh(np.log1p(np.exp(want))))
    got = host(made(x))
    np.testing.assert_allclose(got.reshape(want.shape), want, rtol=1e-14, atol=1e-15)


def test_epsilons_of_float64_networks_are_float64(rng):
    x = rng.normal(size=(3, 4, 5)) * 1e-3
    batch = nn.BatchNorm1d(4, dtype="float64")
    batch.running_var = np.full(4, 1e-7)
    np.testing.assert_allclose(host(batch(x)), x / np.sqrt(1e-7 + 1e-5), rtol=1e-14)
    after = nn.Conv1d(4, 4, 1, bias=False, dtype="float64")
    after.weight = np.eye(4)[..., None]
    np.testing.assert_allclose(host(nn.Sequential(after, batch)(x)), x / np.sqrt(1e-7 + 1e-5), rtol=1e-14)
    centred = x - x.mean(-1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(host(nn.LayerNorm(5, dtype="float64")(x)), want, rtol=1e-12, atol=1e-16)
    flat = x.reshape(3, 2, 10) - x.reshape(3, 2, 10).mean(-1, keepdims=True)
    want = (flat / np.sqrt((flat**2).mean(-1, keepdims=True) + 0.1)).reshape(x.shape)
    np.testing.assert_allclose(host(nn.GroupNorm(2, 4, eps=0.1, dtype="float64")(x)), want, rtol=1e-12, atol=1e-16)


def test_rnn_with_relu(rng):
    """The fourth argument is torch's nonlinearity."""
    made = nn.RNN(3, 4, 1, "relu", dtype="float64")
    wi, wh, bi, bh = (host(array) for array in made.parameters())
    x, h = rng.normal(size=(6, 2, 3)), np.zeros((2, 4))
    want = []
    for step in x:
        h = np.maximum(step @ wi.T + bi + h @ wh.T + bh, 0)
        want.append(h)
    got, last = made(x)
    np.testing.assert_allclose(host(got), np.stack(want), rtol=1e-12)
    np.testing.assert_allclose(host(last)[0], h, rtol=1e-12)
    both = nn.RNN(3, 4, 2, "relu", False, True, bidirectional=True)
    assert both(rng.normal(size=(2, 6, 3)))[0].shape == (2, 6, 8) and host(both(x)[0]).min() >= 0


def attention_of(made, q, k, bias):
    """torch's formula, batch first, with a bias of (batch, heads, queries, keys)."""
    own = {name: host(array) for name, array in made.state_dict().items()}
    heads, width = made.num_heads, made.embed_dim // made.num_heads
    projected = [
        (a @ w.T + b).reshape(*a.shape[:2], heads, width).transpose(0, 2, 1, 3)
        for a, w, b in zip((q, k, k), np.split(own["in_proj_weight"], 3), np.split(own["in_proj_bias"], 3))
    ]
    scores = projected[0] @ projected[1].swapaxes(2, 3) / math.sqrt(width) + bias
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    y = (scores / scores.sum(-1, keepdims=True)) @ projected[2]
    return y.transpose(0, 2, 1, 3).reshape(q.shape) @ own["out_proj.weight"].T + own["out_proj.bias"]


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("padding", ["none", "bool", "float"])
@pytest.mark.parametrize("mask", ["none", "bool", "float", "by head"])
def test_masks_of_attention(mask, padding, batch_first, rng):
    """The fourth argument is torch's key_padding_mask; masks are bools or floats, of all heads or each."""
    made = nn.MultiheadAttention(12, 3, batch_first=batch_first, dtype="float64")
    q, k = rng.normal(size=(2, 5, 12)), rng.normal(size=(2, 7, 12))
    bias, keywords = np.zeros((2, 3, 5, 7)), {}
    if padding != "none":
        left_out = np.zeros((2, 7), bool)
        left_out[0, 5:] = left_out[1, 2] = True
        numbers = np.where(left_out, -np.inf, 0) if padding == "bool" else rng.normal(size=(2, 7))
        keywords["key_padding_mask"] = left_out if padding == "bool" else numbers
        bias = bias + numbers[:, None, None]
    if mask != "none":
        shape = (6, 5, 7) if mask == "by head" else (5, 7)
        given = rng.normal(size=shape) if mask != "bool" else rng.random(shape) < 0.3
        numbers = np.where(given, -np.inf, 0) if mask == "bool" else given
        keywords["attn_mask"] = given
        bias = bias + (numbers.reshape(2, 3, 5, 7) if mask == "by head" else numbers)
    inputs = (q, k, k) if batch_first else tuple(x.swapaxes(0, 1) for x in (q, k, k))
    got, nothing = made(*inputs, keywords.pop("key_padding_mask", None), False, **keywords)
    assert nothing is None
    got = host(got) if batch_first else host(got).swapaxes(0, 1)
    np.testing.assert_allclose(got, attention_of(made, q, k, bias), rtol=1e-10)


def test_local_arrays_of_other_extents_do_not_compile():
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4)).as_function("net")
    x = iruka.ones(3, "float32")

    def run(body):
        return net.kernel("float32 a", "float32 y", body, "extents")(x)

    want = run("float v[8] = {a}, o[4]; net(v, o); y = o[0] + o[3];")
    for pointers in ("net(&v[0], &o[0])", "const float* in = v; net(in, o)"):
        assert (host(run(f"float v[8] = {{a}}, o[4]; {pointers}; y = o[0] + o[3];")) == host(want)).all()
    rows = "float v[2][8] = {{}, {a}}, o[2][4]; net(v[1], o[1]); y = o[1][0] + o[1][3];"
    assert (host(run(rows)) == host(want)).all()
    for wrong in ("float v[2] = {a}, o[4]", "float v[8] = {a}, o[3]", "float v[9] = {a}, o[4]"):
        with pytest.raises(
            errors.CompileError, match=r"net\(in, out\) takes an array of 8 numbers, and one of 4 for its results"
        ):
            run(wrong + "; net(v, o); y = o[0];")
    helper = "template <class Network> __device__ float first(Network net, float x) {{ float v[{}] = {{x}}, o[4]; net(v, o); return o[0]; }}"
    made = net.kernel("float32 a", "float32 y", "y = first(net, a);", "helper", preamble=helper.format(8))
    assert made(x).shape == (3,)
    with pytest.raises(errors.CompileError, match="takes an array of 8 numbers"):
        net.kernel("float32 a", "float32 y", "y = first(net, a);", "helper", preamble=helper.format(7))(x)
