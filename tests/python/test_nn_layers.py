"""Layers of images and sequences with torch's names, against float64 formulas of NumPy as torch documents them."""

import pickle

import numpy as np
import pytest

import iruka
from fake_torch import Tensor, torch_like
from iruka import nn


def host(array):
    return iruka.asnumpy(array).astype(np.float64)


def check(got, want, relative=1e-5):
    got, want = host(got), np.asarray(want, np.float64)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=0, atol=relative * max(np.abs(want).max(), 1e-30))


def weights(module):
    """The parameters in float64, after all got random values."""
    rng = np.random.default_rng(5)
    for name, array in module.state_dict().items():
        value = rng.normal(size=array.shape) / np.sqrt(max(array.size // max(array.shape[0], 1), 1))
        value = np.abs(value) + 0.5 if name.endswith("running_var") else value
        module.load_state_dict({name: value}, strict=False)
    return {name: host(array) for name, array in module.state_dict().items()}


def convolved(x, weight, bias, stride, padding, dilation, groups):
    """The sum over places of the kernel; all arguments are tuples of one number an axis."""
    axes = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    out = [
        (extent - d * (k - 1) - 1) // s + 1 for extent, d, k, s in zip(x.shape[2:], dilation, weight.shape[2:], stride)
    ]
    y = np.zeros((x.shape[0], weight.shape[0], *out))
    inputs, outputs = x.shape[1] // groups, weight.shape[0] // groups
    for group in range(groups):
        for place in np.ndindex(*weight.shape[2:]):
            cut = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, n, s in zip(place, dilation, out, stride))
            part = x[(slice(None), slice(group * inputs, (group + 1) * inputs), *cut)]
            matrix = weight[(slice(group * outputs, (group + 1) * outputs), slice(None), *place)]
            y[:, group * outputs : (group + 1) * outputs] += np.einsum("oi,ni...->no...", matrix, part)
    return y + (0 if bias is None else bias.reshape(-1, *[1] * axes))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "axes, kernel, stride, padding, dilation, groups",
    [
        (1, 3, 1, 1, 1, 1),
        (1, 5, 3, 2, 2, 2),
        (2, 1, 1, 0, 1, 1),
        (2, 1, 2, 0, 1, 1),
        (2, (3, 5), (1, 2), (1, 2), 1, 1),
        (2, 3, 2, 1, 1, 2),
        (2, 3, 1, 1, 1, 8),
        (2, 3, 2, 4, 3, 4),
        (2, 2, 3, 0, 1, 1),
        (3, 2, 2, 1, 1, 1),
    ],
)
def test_convolutions(axes, kernel, stride, padding, dilation, groups, dtype, rng):
    made = getattr(nn, f"Conv{axes}d")(8, 16, kernel, stride, padding, dilation, groups, dtype=dtype)
    own = weights(made)
    for spatial in ((17, 19, 9)[:axes], (33, 16, 11)[:axes]):
        x = rng.normal(size=(3, 8, *spatial))
        want = convolved(x, own["weight"], own["bias"], made.stride, made.padding, made.dilation, groups)
        check(made(x), want, 1e-5 if dtype == "float32" else 1e-13)
        check(nn.Sequential(made, nn.ReLU())(x), np.maximum(want, 0))


@pytest.mark.parametrize("channels, outputs", [(1, 1), (3, 5), (16, 24), (70, 33), (300, 8)])
@pytest.mark.parametrize("extent", [1, 5, 16, 31])
def test_convolutions_of_all_extents(channels, outputs, extent, rng):
    """Numbers of channels, outputs and pixels that fill no vectors, one image and many."""
    made = nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
    own = weights(made)
    for images in (1, 4):
        x = rng.normal(size=(images, channels, extent, extent + 1))
        check(made(x), convolved(x, own["weight"], None, (1, 1), (1, 1), (1, 1), 1))


def test_convolution_with_what_follows(rng):
    """Bias, batch norm, activation and the sum with another branch, which run with the convolution on a CPU."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(6, 6, 3, padding="same"), nn.BatchNorm2d(6), nn.Hardswish())

        def forward(self, x):
            return self.body(x) + x

    made = Block()
    own = weights(made)
    x = rng.normal(size=(2, 6, 12, 10))
    y = convolved(x, own["body.0.weight"], own["body.0.bias"], (1, 1), (1, 1), (1, 1), 1)
    mean, var, scale, shift = (
        own[f"body.1.{name}"].reshape(-1, 1, 1) for name in ("running_mean", "running_var", "weight", "bias")
    )
    y = (y - mean) / np.sqrt(var + 1e-5) * scale + shift
    check(made(iruka.asarray(x, dtype="float32")), y * np.clip(y + 3, 0, 6) / 6 + x)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transposed_convolutions(axes, groups, rng):
    made = getattr(nn, f"ConvTranspose{axes}d")(4, 6, 3, stride=2, padding=1, output_padding=1, groups=groups)
    own = weights(made)
    x = rng.normal(size=(2, 4, *(5, 4, 3)[:axes]))
    # A convolution of the input with zeros between its elements and the flipped kernel.
    spread = np.zeros((2, 4, *(2 * n - 1 for n in x.shape[2:])))
    spread[(..., *[slice(None, None, 2)] * axes)] = x
    spread = np.pad(spread, [(0, 0), (0, 0), *[(1, 2)] * axes])
    flipped = np.flip(own["weight"], axis=tuple(range(2, axes + 2)))
    parts = np.split(flipped, groups)
    kernel = np.concatenate([np.swapaxes(part, 0, 1) for part in parts])
    check(made(x), convolved(spread, kernel, own["bias"], (1,) * axes, (0,) * axes, (1,) * axes, groups))


def windows(x, kernel, stride):
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=tuple(range(2, x.ndim)))
    return view[(slice(None), slice(None), *(slice(None, None, s) for s in stride))]


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_pooling(axes, rng):
    x = rng.normal(size=(2, 3, *(9, 8, 7)[:axes]))
    last = tuple(range(-axes, 0))
    seen = windows(x, (2,) * axes, (2,) * axes)
    check(getattr(nn, f"MaxPool{axes}d")(2)(x), seen.max(last))
    check(getattr(nn, f"AvgPool{axes}d")(2)(x), seen.mean(last))
    margins = [(0, 0), (0, 0), *[(1, 1)] * axes]
    wide = windows(np.pad(x, margins, constant_values=-np.inf), (3,) * axes, (2,) * axes)
    check(getattr(nn, f"MaxPool{axes}d")(3, 2, 1)(x), wide.max(last))
    sums = windows(np.pad(x, margins), (3,) * axes, (2,) * axes).sum(last)
    counts = windows(np.pad(np.ones_like(x), margins), (3,) * axes, (2,) * axes).sum(last)
    check(getattr(nn, f"AvgPool{axes}d")(3, 2, 1)(x), sums / 3**axes)
    check(getattr(nn, f"AvgPool{axes}d")(3, 2, 1, count_include_pad=False)(x), sums / counts)


@pytest.mark.parametrize("size", [1, (3, 5), (8, None), (10, 20)])
def test_adaptive_pooling(size, rng):
    x = rng.normal(size=(2, 3, 8, 11))
    sizes = (size, size) if isinstance(size, int) else tuple(n or e for n, e in zip(size, x.shape[2:]))
    bounds = [[(k * extent // n, -(-(k + 1) * extent // n)) for k in range(n)] for n, extent in zip(sizes, x.shape[2:])]
    for kind, function in (("Avg", np.mean), ("Max", np.max)):
        want = [[function(x[:, :, a:b, c:d], axis=(2, 3)) for c, d in bounds[1]] for a, b in bounds[0]]
        check(getattr(nn, f"Adaptive{kind}Pool2d")(size)(x), np.moveaxis(np.array(want), (0, 1), (2, 3)))


def normalized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def test_norms(rng):
    x = rng.normal(2, 3, size=(3, 6, 5, 4))
    channels = (-1, 1, 1)
    layer, group, rms = nn.LayerNorm((5, 4)), nn.GroupNorm(2, 6), nn.RMSNorm(4)
    own = weights(layer)
    check(layer(x), normalized(x, (2, 3)) * own["weight"] + own["bias"])
    own = weights(group)
    grouped = normalized(x.reshape(3, 2, 3, 5, 4), (2, 3, 4)).reshape(x.shape)
    check(group(x), grouped * own["weight"].reshape(channels) + own["bias"].reshape(channels))
    own = weights(rms)
    check(rms(x), x / np.sqrt((x**2).mean(-1, keepdims=True) + np.finfo(np.float32).eps) * own["weight"])
    check(nn.InstanceNorm2d(6)(x), normalized(x, (2, 3)))
    batch = nn.BatchNorm1d(6)
    own = weights(batch)
    rows = x[:, :, 0, 0]
    scale = own["weight"] / np.sqrt(own["running_var"] + 1e-5)
    check(batch(rows), (rows - own["running_mean"]) * scale + own["bias"])
    check(nn.LayerNorm(4, elementwise_affine=False)(x), normalized(x, (3,)))


def test_small_layers(rng):
    x = rng.normal(size=(2, 8, 3, 4)) * 4
    soft = np.log1p(np.exp(x))
    check(nn.Mish()(x), x * np.tanh(soft))
    check(nn.ReLU6()(x), np.clip(x, 0, 6))
    check(nn.Hardtanh(-2, 3)(x), np.clip(x, -2, 3))
    check(nn.Hardsigmoid()(x), np.clip(x + 3, 0, 6) / 6)
    check(nn.Softsign()(x), x / (1 + abs(x)))
    check(nn.SELU()(x), 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))))
    shifted = x - x.max(1, keepdims=True)
    check(nn.LogSoftmax(1)(x), shifted - np.log(np.exp(shifted).sum(1, keepdims=True)))
    check(nn.Flatten()(x), x.reshape(2, -1))
    check(nn.Flatten(1, 2)(x), x.reshape(2, 24, 4))
    check(nn.PixelShuffle(2)(x), x.reshape(2, 2, 2, 2, 3, 4).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 8))
    check(nn.Upsample(scale_factor=2)(x), x.repeat(2, 2).repeat(2, 3))
    check(nn.Upsample(size=(3, 8))(x), x.repeat(2, 3))
    after_flatten = nn.Sequential(nn.Flatten(), nn.Softplus(beta=2), nn.PReLU(), nn.GELU("tanh"))
    y = np.log1p(np.exp(2 * x)) / 2
    want = 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))
    check(after_flatten(x), want.reshape(2, -1))


def test_bilinear(rng):
    x = rng.normal(size=(1, 1, 3, 4))
    got = nn.Upsample(scale_factor=2, mode="bilinear")(x)
    places = [np.clip((np.arange(2 * n) + 0.5) / 2 - 0.5, 0, n - 1) for n in (3, 4)]
    rows = np.array([np.interp(places[1], range(4), row) for row in x[0, 0]])
    check(got[0, 0], np.array([np.interp(places[0], range(3), column) for column in rows.T]).T)


def test_embedding(rng):
    made = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 3))
    own = weights(made)
    places = np.array([[1, 2, 9], [0, 5, 5]])
    check(made(places), own["0.weight"][places] @ own["1.weight"].T + own["1.bias"])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell(kind, x, state, wi, wh, bi, bh):
    """One step by torch's formulas."""
    a, b = x @ wi.T + bi, state[0] @ wh.T + bh
    if kind == "RNN":
        return (np.tanh(a + b),)
    parts = len(bi) // state[0].shape[-1]
    a, b = np.split(a, parts, -1), np.split(b, parts, -1)
    if kind == "GRU":
        r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        n = np.tanh(a[2] + r * b[2])
        return ((1 - z) * n + z * state[0],)
    i, f, g, o = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1]), np.tanh(a[2] + b[2]), sigmoid(a[3] + b[3])
    c = f * state[1] + i * g
    return o * np.tanh(c), c


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_recurrent(kind, bidirectional, rng):
    made = getattr(nn, kind)(5, 4, num_layers=2, bidirectional=bidirectional, batch_first=True)
    own = weights(made)
    x = rng.normal(size=(3, 6, 5))
    directions = 2 if bidirectional else 1
    states = [rng.normal(size=(2 * directions, 3, 4)) for _ in range(2 if kind == "LSTM" else 1)]
    given = tuple(states) if kind == "LSTM" else states[0]
    y, last = x, []
    for layer in range(2):
        outputs = []
        for d in range(directions):
            suffix = f"l{layer}" + ("_reverse" if d else "")
            numbers = [own[f"{name}_{suffix}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            state = tuple(s[layer * directions + d] for s in states)
            steps = []
            for t in range(6)[:: -1 if d else 1]:
                state = cell(kind, y[:, t], state, *numbers)
                steps.insert(0 if d else len(steps), state[0])
            outputs.append(np.stack(steps, 1))
            last.append(state)
        y = np.concatenate(outputs, -1)
    got, end = made(x, given)
    check(got, y)
    for one, want in zip(end if kind == "LSTM" else (end,), map(np.stack, zip(*last))):
        check(one, want)
    zeros = [np.zeros_like(s) for s in states]
    check(made(x)[0], host(made(x, tuple(zeros) if kind == "LSTM" else zeros[0])[0]))


@pytest.mark.parametrize("masked", ["none", "causal", "mask"])
def test_attention(masked, rng):
    made = nn.MultiheadAttention(12, 3, batch_first=True)
    own = weights(made)
    q, k = rng.normal(size=(2, 5, 12)), rng.normal(size=(2, 5, 12))
    left_out = np.triu(np.ones((5, 5), bool), 1) if masked == "causal" else np.eye(5, dtype=bool)
    wq, wk, wv = np.split(own["in_proj_weight"], 3)
    bq, bk, bv = np.split(own["in_proj_bias"], 3)
    heads = [
        (a @ w.T + b).reshape(2, 5, 3, 4).transpose(0, 2, 1, 3) for a, w, b in ((q, wq, bq), (k, wk, bk), (k, wv, bv))
    ]
    scores = heads[0] @ heads[1].swapaxes(2, 3) / 2
    if masked != "none":
        scores = np.where(left_out, -np.inf, scores)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    y = (scores / scores.sum(-1, keepdims=True)) @ heads[2]
    want = y.transpose(0, 2, 1, 3).reshape(2, 5, 12) @ own["out_proj.weight"].T + own["out_proj.bias"]
    keywords = {"none": {}, "causal": {"is_causal": True}, "mask": {"attn_mask": left_out}}[masked]
    check(made(q, k, k, **keywords)[0], want)


def test_parameters_that_change_count(rng):
    made = nn.Sequential(nn.Conv2d(2, 3, 1), nn.Tanh())
    x = rng.normal(size=(1, 2, 3, 3)).astype(np.float32)
    before = host(made(x))
    made[0].weight = -made[0].weight
    made[0].bias = -made[0].bias
    check(made(x), -before)
    check(pickle.loads(pickle.dumps(made))(x), -before)
    made.load_state_dict({"0.weight": made[0].weight, "0.bias": made[0].bias, "1.num_batches_tracked": 3})


@pytest.mark.cpu_only
def test_from_torch(rng):
    weight, bias = rng.normal(size=(4, 2, 3, 3)).astype(np.float32), rng.normal(size=4).astype(np.float32)
    convolution = torch_like(
        "Conv2d", tensors={"weight": Tensor(weight), "bias": Tensor(bias)}, in_channels=2, out_channels=4, kernel_size=(3, 3),
        stride=(1, 1), padding=(1, 1), dilation=(1, 1), groups=1, padding_mode="zeros",
    )  # fmt: skip
    pool = torch_like("MaxPool2d", kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
    made = nn.from_torch(
        torch_like(
            "Sequential", children={"a": convolution, "b": pool, "c": torch_like("Flatten", start_dim=1, end_dim=-1)}
        )
    )
    x = rng.normal(size=(1, 2, 6, 6))
    seen = convolved(x, weight.astype(float), bias.astype(float), (1, 1), (1, 1), (1, 1), 1)
    check(made(x), windows(seen, (2, 2), (2, 2)).max((-2, -1)).reshape(1, -1))
    assert np.shares_memory(np.asarray(made[0].weight), weight)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "3 and 4 channels do not make 2 groups"),
        (lambda: nn.Conv2d(3, 4, (3, 3, 3)), ValueError, r"kernel_size must be an int or 2"),
        (lambda: nn.Conv2d(3, 4, 3, padding_mode="reflect"), ValueError, "padding_mode.*'reflect'"),
        (lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"), ValueError, "stride 1"),
        (lambda: nn.Conv2d(3, 4, 3)(np.ones((3, 8, 8))), ValueError, r"Conv2d: expected \(batch, channels\).*3 axes"),
        (
            lambda: nn.Conv2d(3, 4, 3)(np.ones((1, 2, 8, 8))),
            ValueError,
            r"nn.Conv2d: expected 3 channels along axis 1, but the input has shape \(1, 2, 8, 8\)",
        ),
        (lambda: nn.Conv2d(3, 4, 9)(np.ones((1, 3, 8, 8))), ValueError, "window of 9 does not fit"),
        (lambda: nn.Conv2d(3, 4, 3).map(np.ones((3, 8))), ValueError, "Conv2d is no function of one point"),
        (lambda: nn.Sequential(nn.Linear(2, 2), nn.Flatten()).as_function("net"), ValueError, "Flatten is no function"),
        (lambda: nn.BatchNorm2d(3, track_running_stats=False), ValueError, "running statistics"),
        (lambda: nn.GroupNorm(4, 6), ValueError, "6 channels do not make 4 groups"),
        (lambda: nn.Upsample(), ValueError, "size or scale_factor"),
        (lambda: nn.Upsample(scale_factor=2, mode="area"), ValueError, "mode must be one of.*'area'"),
        (lambda: nn.AdaptiveAvgPool2d((1, 2, 3)), ValueError, "2 numbers"),
        (lambda: nn.MultiheadAttention(10, 3), ValueError, "10 numbers do not make 3 heads"),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
