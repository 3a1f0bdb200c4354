"""Operators of torch.export's programs against NumPy."""

import itertools
import math

import numpy as np
import pytest
import scipy.special

from torch_programs import check, program_of

RNG = np.random.default_rng(5)


def normal(*shape, dtype=np.float32):
    return RNG.normal(size=shape).astype(dtype)


def positive(*shape):
    return RNG.uniform(0.5, 1.5, shape).astype(np.float32)


# NumPy's formulas.


def windows(x, kernel, stride, pads, dilation=None, fill=0.0):
    """What each window sees: (images, channels, places..., kernel...)."""
    rank = len(kernel)
    dilation = dilation or [1] * rank
    x = np.pad(x, [(0, 0), (0, 0), *[(p, p) if isinstance(p, int) else p for p in pads]], constant_values=fill)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    axes = tuple(range(2, 2 + rank))
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    places = tuple(slice(None, None, s) for s in stride)
    inside = tuple(slice(None, None, d) for d in dilation)
    return view[(slice(None), slice(None), *places, *inside)]


def conv(x, w, b=None, stride=None, pads=None, dilation=None, groups=1):
    rank = w.ndim - 2
    seen = windows(x, w.shape[2:], stride or [1] * rank, pads or [0] * rank, dilation)
    outputs = []
    for g in range(groups):
        part = seen[:, g * w.shape[1] : (g + 1) * w.shape[1]]
        each = len(w) // groups
        axes = [1, *range(part.ndim - rank, part.ndim)]
        y = np.tensordot(part, w[g * each : (g + 1) * each], (axes, list(range(1, w.ndim))))
        outputs.append(np.moveaxis(y, -1, 1))
    y = np.concatenate(outputs, 1)
    return y if b is None else y + b.reshape(-1, *[1] * rank)


def conv_transpose(x, w, b, stride, padding, more, groups, dilation):
    rank = w.ndim - 2
    extents = [
        (n - 1) * s + d * (k - 1) + 1 + m for n, s, d, k, m in zip(x.shape[2:], stride, dilation, w.shape[2:], more)
    ]
    y = np.zeros((len(x), w.shape[1] * groups, *extents), x.dtype)
    inputs = x.shape[1] // groups
    for g in range(groups):
        for at in itertools.product(*map(range, w.shape[2:])):
            for place in itertools.product(*map(range, x.shape[2:])):
                to = tuple(p * s + k * d for p, s, k, d in zip(place, stride, at, dilation))
                part = x[(slice(None), slice(g * inputs, (g + 1) * inputs), *place)]
                weights = w[(slice(g * inputs, (g + 1) * inputs), slice(None), *at)]
                y[(slice(None), slice(g * w.shape[1], (g + 1) * w.shape[1]), *to)] += part @ weights
    cut = tuple(slice(p, n - p) for p, n in zip(padding, extents))
    return y[(slice(None), slice(None), *cut)] + b.reshape(-1, *[1] * rank)


def max_pool(x, kernel, stride, pads, dilation=None):
    seen = windows(x, kernel, stride, pads, dilation, -np.inf)
    return seen.max(tuple(range(seen.ndim - len(kernel), seen.ndim)))


def avg_pool(x, kernel, stride, pads):
    seen = windows(x, kernel, stride, pads)
    return seen.mean(tuple(range(seen.ndim - len(kernel), seen.ndim)))


def adaptive(function, x, sizes):
    for axis, size in zip(range(x.ndim - len(sizes), x.ndim), sizes):
        n = x.shape[axis]
        parts = [(k * n // size, -(-(k + 1) * n // size)) for k in range(size)]
        x = np.stack([function(np.take(x, range(a, b), axis), axis) for a, b in parts], axis)
    return x


def adaptive_avg(x, sizes):
    return adaptive(np.mean, x, sizes)


def normalized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def attention(q, k, v, mask=None, scale=None):
    scores = q @ np.swapaxes(k, -1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    return softmax(scores, -1) @ v


def linear_axis(x, axis, size, aligned):
    n = x.shape[axis]
    places = np.arange(size)
    at = places * (n - 1) / (size - 1) if aligned else np.maximum((places + 0.5) * n / size - 0.5, 0)
    low = np.floor(at).astype(int)
    high, part = np.minimum(low + 1, n - 1), at - low
    shape = [-1 if k == axis else 1 for k in range(x.ndim)]
    part = part.reshape(shape)
    return (np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part).astype(x.dtype)


def nearest_axis(x, axis, size, exact=False):
    places = np.arange(size) + (0.5 if exact else 0)
    return np.take(x, np.floor(places * x.shape[axis] / size).astype(int), axis)


def gelu(x):
    return (x * (1 + scipy.special.erf(x / math.sqrt(2))) / 2).astype(x.dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


X = normal(3, 4)
Y = normal(3, 4)
P = positive(3, 4)
K = RNG.integers(-5, 6, (3, 4))
J = RNG.integers(1, 6, (3, 4))
B, C = X > 0, Y > 0
IMAGES = normal(2, 4, 6, 5)
f32 = np.float32


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x)).astype(x.dtype)


UNARY = {
    "abs": np.abs, "acos": None, "acosh": None, "alias": lambda x: x, "asin": None, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": None, "ceil": np.ceil, "clone": lambda x: x, "contiguous": lambda x: x,
    "hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, f32(0)),
    "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - f32(0.5), 0),
    "cos": np.cos, "cosh": np.cosh, "detach": lambda x: x, "elu": elu, "erf": scipy.special.erf, "exp": np.exp,
    "exp2": np.exp2, "expm1": np.expm1, "floor": np.floor, "gelu": gelu,
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1), "hardswish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "hardtanh": lambda x: np.clip(x, -1, 1), "lift_fresh_copy": lambda x: x, "celu": elu,
    "leaky_relu": lambda x: np.where(x > 0, x, f32(0.01) * x), "log_sigmoid": lambda x: -np.log1p(np.exp(-x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))), "neg": np.negative, "reciprocal": lambda x: 1 / x,
    "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "round": np.round,
    "selu": lambda x: f32(1.0507009873554805) * elu(x, 1.6732632423543772), "sigmoid": sigmoid, "sign": np.sign,
    "silu": lambda x: x * sigmoid(x), "sin": np.sin, "sinh": np.sinh, "softplus": lambda x: np.log1p(np.exp(x)),
    "square": np.square, "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc,
}  # fmt: skip
OF_POSITIVE = {"log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "sqrt": np.sqrt}
OF_POSITIVE |= {"rsqrt": lambda x: 1 / np.sqrt(x)}
OF_PARTS = {"acos": np.arccos, "asin": np.arcsin, "atanh": np.arctanh}

CASES = []


def case(target, arguments, *wanted, is_list=False):
    CASES.append(pytest.param(target, arguments, wanted, is_list, id=f"{len(CASES)}-{target}"))


for name, function in UNARY.items():
    if function:
        case(f"{name}.default", {"self": X * 3}, function(X * 3).astype(f32))
for name, function in OF_POSITIVE.items():
    case(f"{name}.default", {"self": P}, function(P))
for name, function in OF_PARTS.items():
    case(f"{name}.default", {"self": P / 2}, function(P / 2))
case("acosh.default", {"self": P + 1}, np.arccosh(P + 1))
TINY = np.array([1e-8, -3e-9, 2e-5], f32)
case("expm1.default", {"self": TINY}, np.expm1(TINY))
case("log1p.default", {"self": TINY}, np.log1p(TINY))
NAN = np.array([np.nan], f32)
case("hardshrink.default", {"self": NAN}, NAN)
case("softshrink.default", {"self": NAN}, NAN)
case("sign.default", {"self": NAN}, f32([0]))
case("threshold.default", {"self": NAN, "threshold": 0.0, "value": 5.0}, NAN)
case("exp.default", {"self": K}, np.exp(K).astype(f32))
case("floor.default", {"self": K}, K)
case("trunc.default", {"self": K}, K)
case("gelu.default", {"self": X, "approximate": "tanh"},
     (X / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)))).astype(f32))  # fmt: skip
case("elu.default", {"self": X, "alpha": 1.5, "scale": 2, "input_scale": 0.5},
     np.where(X > 0, 2 * X, 3 * np.expm1(X / 2)).astype(f32))  # fmt: skip
case("celu.default", {"self": X, "alpha": 2.0}, np.where(X > 0, X, 2 * np.expm1(X / 2)).astype(f32))
case("leaky_relu.default", {"self": X, "negative_slope": 0.2}, np.where(X > 0, X, f32(0.2) * X))
case("softplus.default", {"self": X, "beta": 2.0}, np.log1p(np.exp(2 * X)) / 2)
case("hardtanh.default", {"self": X, "min_val": 0.0, "max_val": 0.5}, np.clip(X, 0, 0.5))
case("threshold.default", {"self": X, "threshold": 0.1, "value": 7.0}, np.where(X > f32(0.1), X, f32(7)))
case("glu.default", {"self": X, "dim": 1}, X[:, :2] * sigmoid(X[:, 2:]))
case("prelu.default", {"self": IMAGES, "weight": f32([0.1, 0.2, 0.3, 0.4])},
     np.where(IMAGES > 0, IMAGES, IMAGES * f32([0.1, 0.2, 0.3, 0.4]).reshape(-1, 1, 1)))  # fmt: skip
case("prelu.default", {"self": X, "weight": f32([0.1])}, np.where(X > 0, X, X * f32(0.1)))
case("isnan.default", {"self": np.where(B, f32(np.nan), X)}, B)
case("isinf.default", {"self": np.where(B, f32(-np.inf), X)}, B)
# Arithmetic, dtypes promoted as torch does it.
case("add.Tensor", {"self": X, "other": Y}, X + Y)
case("add.Tensor", {"self": X, "other": Y, "alpha": 3}, X + 3 * Y)
case("add.Tensor", {"self": K, "other": Y}, K.astype(f32) + Y)
case("add.Tensor", {"self": X, "other": 2.5}, X + f32(2.5))
case("add.Tensor", {"self": B, "other": C}, B | C)
case("add.Scalar", {"self": K, "other": 2}, K + 2)
case("sub.Tensor", {"self": X, "other": Y[0]}, X - Y[0])
case("rsub.Scalar", {"self": X, "other": 1, "alpha": 2}, 1 - 2 * X)
case("mul.Tensor", {"self": X, "other": Y}, X * Y)
case("mul.Tensor", {"self": B, "other": C}, B & C)
case("mul.Scalar", {"self": K, "other": 0.5}, (K * 0.5).astype(f32))
case("div.Tensor", {"self": K, "other": J}, (K / J).astype(f32))
case("div.Tensor_mode", {"self": K, "other": J, "rounding_mode": "floor"}, K // J)
case("div.Tensor_mode", {"self": K, "other": J, "rounding_mode": "trunc"}, np.trunc(K / J).astype(int))
case("div.Tensor_mode", {"self": X, "other": P, "rounding_mode": "floor"}, np.floor(X / P))
case("div.Scalar_mode", {"self": X, "other": 0.3, "rounding_mode": "trunc"}, np.trunc(X / f32(0.3)))
case("floor_divide.default", {"self": K, "other": -J}, K // -J)
case("remainder.Scalar", {"self": K, "other": -3}, K % -3)
case("remainder.Tensor", {"self": X, "other": P}, X % P)
case("fmod.Scalar", {"self": K, "other": -3}, np.fmod(K, -3))
case("pow.Tensor_Scalar", {"self": X, "exponent": 2}, X**2)
case("pow.Tensor_Tensor", {"self": P, "exponent": X}, P**X)
case("pow.Scalar", {"self": 2, "exponent": X}, 2**X)
case("maximum.default", {"self": X, "other": Y}, np.maximum(X, Y))
case("minimum.default", {"self": X, "other": Y}, np.minimum(X, Y))
case("max.other", {"self": X, "other": Y}, np.maximum(X, Y))
case("clamp.default", {"self": X, "min": -0.5, "max": 0.5}, np.clip(X, f32(-0.5), f32(0.5)))
case("clamp.default", {"self": X, "min": None, "max": 0.5}, np.minimum(X, f32(0.5)))
case("clamp.Tensor", {"self": X, "min": Y}, np.maximum(X, Y))
case("clamp_min.default", {"self": X, "min": 0}, np.maximum(X, 0))
case("clamp_max.default", {"self": K, "max": 2}, np.minimum(K, 2))
case("clip.default", {"self": X, "min": 0.0}, np.maximum(X, 0))
case("addcmul.default", {"self": X, "tensor1": Y, "tensor2": P, "value": 2}, X + 2 * Y * P)
case("addcdiv.default", {"self": X, "tensor1": Y, "tensor2": P}, X + Y / P)
case("lerp.Scalar", {"self": X, "end": Y, "weight": 0.25}, X + f32(0.25) * (Y - X))
case("lerp.Tensor", {"self": X, "end": Y, "weight": P}, X + P * (Y - X))
for name, function in dict(eq=np.equal, ne=np.not_equal, lt=np.less, le=np.less_equal, gt=np.greater).items():
    case(f"{name}.Tensor", {"self": K, "other": J - 3}, function(K, J - 3))
    case(f"{name}.Scalar", {"self": X, "other": 0}, function(X, 0))
case("ge.Scalar", {"self": K, "other": 0.5}, K >= 0.5)
case("ge.Tensor", {"self": K, "other": X}, K.astype(f32) >= X)
case("logical_and.default", {"self": K, "other": B}, (K != 0) & B)
case("logical_or.default", {"self": K, "other": B}, (K != 0) | B)
case("logical_xor.default", {"self": C, "other": B}, C ^ B)
case("logical_not.default", {"self": K}, K == 0)
case("bitwise_and.Tensor", {"self": K, "other": J}, K & J)
case("bitwise_or.Tensor", {"self": B, "other": C}, B | C)
case("bitwise_xor.Scalar", {"self": K, "other": 3}, K ^ 3)
case("bitwise_not.default", {"self": B}, ~B)
case("bitwise_not.default", {"self": K}, ~K)
case("where.self", {"condition": B, "self": X, "other": Y}, np.where(B, X, Y))
case("where.ScalarOther", {"condition": B, "self": X, "other": -1.5}, np.where(B, X, f32(-1.5)))
case("masked_fill.Scalar", {"self": X, "mask": B, "value": -math.inf}, np.where(B, f32(-np.inf), X))
case("masked_fill.Tensor", {"self": X, "mask": B, "value": np.array(3, f32)}, np.where(B, f32(3), X))
case("to.dtype", {"self": X * 3, "dtype": np.dtype("int32")}, (X * 3).astype(np.int32))
case("_to_copy.default", {"self": K, "dtype": np.dtype("float64")}, K.astype(float))
case("type_as.default", {"self": K, "other": X}, K.astype(f32))
case("dropout.default", {"input": X, "p": 0.5, "train": False}, X)
case("feature_dropout.default", {"input": X, "p": 0.5, "train": False}, X)
case("alpha_dropout.default", {"input": X, "p": 0.5, "train": False}, X)
case("native_dropout.default", {"input": X, "p": 0.5, "train": False}, X)
case("__and__.Tensor", {"self": B, "other": C}, B & C)
case("__or__.Tensor", {"self": K, "other": J}, K | J)
case("__xor__.Tensor", {"self": B, "other": C}, B ^ C)
# Products.
W, V = normal(5, 4), normal(5)
case("linear.default", {"input": X, "weight": W, "bias": V}, X @ W.T + V)
case("linear.default", {"input": normal(2, 3, 4) * 0 + X, "weight": W}, np.stack([X @ W.T] * 2))
case("addmm.default", {"self": V, "mat1": X, "mat2": W.T.copy(), "beta": 2, "alpha": 0.5}, 2 * V + X @ W.T / 2)
case("mm.default", {"self": X, "mat2": W.T.copy()}, X @ W.T)
STACK, MORE = normal(2, 3, 4), normal(2, 4, 5)
case("bmm.default", {"self": STACK, "mat2": MORE}, STACK @ MORE)
case("matmul.default", {"self": X, "other": MORE}, X @ MORE)
case("mv.default", {"self": X, "vec": X[0]}, X @ X[0])
case("outer.default", {"self": X[0], "vec2": X[:, 1].copy()}, np.outer(X[0], X[:, 1]))
case("dot.default", {"self": X[0], "tensor": X[1]}, X[0] @ X[1])
case("baddbmm.default", {"self": V, "batch1": STACK, "batch2": MORE, "beta": 2, "alpha": 3}, 2 * V + 3 * STACK @ MORE)
case("baddbmm.default", {"self": V, "batch1": STACK, "batch2": MORE, "beta": 0}, STACK @ MORE)
case("einsum.default", {"equation": "bij,bjk->bki", "tensors": [STACK, MORE]}, np.swapaxes(STACK @ MORE, 1, 2))
# Convolutions.
LINES, CUBES = normal(2, 4, 9), normal(1, 2, 4, 5, 4)
case("conv1d.default", {"input": LINES, "weight": normal(6, 2, 3), "bias": normal(6), "stride": [2], "padding": [1],
     "groups": 2}, None)  # fmt: skip
case("conv1d.padding", {"input": LINES, "weight": normal(6, 4, 4), "padding": "same"}, None)
case("conv2d.default", {"input": IMAGES, "weight": normal(3, 4, 3, 2), "bias": normal(3), "stride": [1, 2],
     "padding": [1, 0], "dilation": [2, 1]}, None)  # fmt: skip
case("conv2d.padding", {"input": IMAGES, "weight": normal(3, 4, 3, 2), "padding": "valid"}, None)
case("conv2d.default", {"input": IMAGES[0], "weight": normal(3, 4, 3, 2)}, None)
case("conv3d.default", {"input": CUBES, "weight": normal(3, 2, 2, 3, 2), "bias": normal(3)}, None)
case("convolution.default", {"input": IMAGES, "weight": normal(4, 1, 3, 3), "bias": None, "stride": [1, 1],
     "padding": [1, 1], "dilation": [1, 1], "transposed": False, "output_padding": [0, 0], "groups": 4},
     None)  # fmt: skip
case("convolution.default", {"input": IMAGES, "weight": normal(4, 3, 3, 3), "bias": normal(3), "stride": [2, 2],
     "padding": [1, 1], "dilation": [1, 1], "transposed": True, "output_padding": [1, 0], "groups": 1},
     None)  # fmt: skip
case("conv_transpose1d.default", {"input": LINES, "weight": normal(4, 2, 3), "bias": normal(4), "stride": [2],
     "groups": 2}, None)  # fmt: skip
case("conv_transpose2d.input", {"input": IMAGES, "weight": normal(4, 2, 3, 2), "bias": normal(2), "stride": [2, 1],
     "padding": [1, 0], "output_padding": [1, 0], "groups": 1, "dilation": [1, 2]}, None)  # fmt: skip
case("conv_transpose3d.input", {"input": CUBES, "weight": normal(2, 2, 2, 2, 2), "bias": normal(2)}, None)


def want_conv(target, a):
    x, w, b = a["input"], a["weight"], a.get("bias")
    rank = w.ndim - 2
    stride, dilation = a.get("stride", [1] * rank), a.get("dilation", [1] * rank)
    padding, groups = a.get("padding", [0] * rank), a.get("groups", 1)
    if a.get("transposed") or "transpose" in target:
        return conv_transpose(x, w, b, stride, padding, a.get("output_padding", [0] * rank), groups, dilation)
    if padding == "same":
        padding = [((k - 1) // 2, k - 1 - (k - 1) // 2) for k in w.shape[2:]]
    padding = [0] * rank if padding == "valid" else padding
    y = conv(x.reshape(-1, *x.shape[-rank - 1 :]), w, b, stride, padding, dilation, groups)
    return y if x.ndim == rank + 2 else y[0]


# Pooling.
case("max_pool1d.default", {"self": LINES, "kernel_size": [3], "stride": [2], "padding": [1]},
     max_pool(LINES, [3], [2], [1]))  # fmt: skip
case("max_pool2d.default", {"self": IMAGES, "kernel_size": [2, 2]}, max_pool(IMAGES, [2, 2], [2, 2], [0, 0]))
case("max_pool2d.default", {"self": IMAGES[0], "kernel_size": [3], "stride": [1], "dilation": [2, 1]},
     max_pool(IMAGES[:1], [3, 3], [1, 1], [0, 0], [2, 1])[0])  # fmt: skip
case("max_pool2d.default", {"self": IMAGES, "kernel_size": [2, 2], "stride": [], "ceil_mode": True},
     max_pool(IMAGES, [2, 2], [2, 2], [0, (0, 1)]))  # fmt: skip
case("max_pool3d.default", {"self": CUBES, "kernel_size": [2, 2, 2]}, max_pool(CUBES, [2] * 3, [2] * 3, [0] * 3))
PLACES = np.arange(30.0, dtype=f32).reshape(1, 1, 6, 5)
RAMP = np.concatenate([PLACES, PLACES + 50], 1)
case("max_pool2d_with_indices.default", {"self": RAMP, "kernel_size": [2, 2]}, max_pool(RAMP, [2, 2], [2, 2], [0, 0]),
     max_pool(np.concatenate([PLACES] * 2, 1), [2, 2], [2, 2], [0, 0]).astype(int))  # fmt: skip
case("avg_pool1d.default", {"self": LINES, "kernel_size": [3], "stride": [2], "padding": [1]},
     avg_pool(LINES, [3], [2], [1]))  # fmt: skip
case("avg_pool2d.default", {"self": IMAGES, "kernel_size": [2, 2], "divisor_override": 3},
     avg_pool(IMAGES, [2, 2], [2, 2], [0, 0]) * f32(4 / 3))  # fmt: skip
COUNTS = avg_pool(np.ones_like(IMAGES), [3, 3], [1, 1], [1, 1])
case("avg_pool2d.default", {"self": IMAGES, "kernel_size": [3, 3], "stride": [1, 1], "padding": [1, 1],
     "count_include_pad": False}, avg_pool(IMAGES, [3, 3], [1, 1], [1, 1]) / COUNTS)  # fmt: skip
case("avg_pool3d.default", {"self": CUBES, "kernel_size": [2, 2, 2]}, avg_pool(CUBES, [2] * 3, [2] * 3, [0] * 3))
for sizes in ([1, 1], [3, 1], [4, 3], [6, 5]):
    case("adaptive_avg_pool2d.default", {"self": IMAGES, "output_size": sizes}, adaptive_avg(IMAGES, sizes))
case("_adaptive_avg_pool2d.default", {"self": IMAGES[0], "output_size": [2, 2]}, adaptive_avg(IMAGES[0], [2, 2]))
case("adaptive_avg_pool1d.default", {"self": LINES, "output_size": [4]}, adaptive_avg(LINES, [4]))
case("adaptive_avg_pool3d.default", {"self": CUBES, "output_size": [2, 1, 2]}, adaptive_avg(CUBES, [2, 1, 2]))
case("adaptive_max_pool2d.default", {"self": RAMP, "output_size": [3, 1]}, max_pool(RAMP, [2, 5], [2, 5], [0, 0]),
     np.tile(np.array([9, 19, 29]).reshape(1, 1, 3, 1), (1, 2, 1, 1)))  # fmt: skip
case("adaptive_max_pool2d.default", {"self": IMAGES, "output_size": [4, 3]}, adaptive(np.max, IMAGES, [4, 3]))
case("adaptive_max_pool1d.default", {"self": LINES[0], "output_size": [4]}, adaptive(np.max, LINES[0], [4]))
case("adaptive_avg_pool2d.default", {"self": IMAGES[0].astype(np.float64), "output_size": [4, 3]},
     adaptive_avg(IMAGES[0].astype(np.float64), [4, 3]))  # fmt: skip
case("adaptive_max_pool1d.default", {"self": RAMP[0], "output_size": [1]}, RAMP[0].max(2, keepdims=True),
     np.full((2, 6, 1), 4))  # fmt: skip
# Normalizations.
G, H, M, S = normal(4), normal(4), normal(4), positive(4)
BY_CHANNEL = [a.reshape(-1, 1, 1) for a in (G, H, M, S)]
NORMED = (IMAGES - BY_CHANNEL[2]) / np.sqrt(BY_CHANNEL[3] + f32(1e-3))
NORM = {"weight": G, "bias": H, "running_mean": M, "running_var": S}
case("batch_norm.default", {"input": IMAGES, **NORM, "training": False, "momentum": 0.1, "eps": 1e-3,
     "cudnn_enabled": True}, NORMED * BY_CHANNEL[0] + BY_CHANNEL[1])  # fmt: skip
case("batch_norm.default", {"input": IMAGES, **NORM, "weight": None, "bias": None, "training": False,
     "momentum": 0.1, "eps": 1e-3, "cudnn_enabled": True}, NORMED)  # fmt: skip
case("instance_norm.default", {"input": IMAGES, "weight": G, "bias": H, "running_mean": None, "running_var": None,
     "use_input_stats": True, "momentum": 0.1, "eps": 1e-5, "cudnn_enabled": True},
     normalized(IMAGES, (2, 3)) * BY_CHANNEL[0] + BY_CHANNEL[1])  # fmt: skip
case("instance_norm.default", {"input": IMAGES, **NORM, "use_input_stats": False, "momentum": 0.1, "eps": 1e-3,
     "cudnn_enabled": True}, NORMED * BY_CHANNEL[0] + BY_CHANNEL[1])  # fmt: skip
case("layer_norm.default", {"input": X, "normalized_shape": [4], "weight": G, "bias": H}, normalized(X, 1) * G + H)
case("layer_norm.default", {"input": IMAGES, "normalized_shape": [6, 5]}, normalized(IMAGES, (2, 3)))
case("native_layer_norm.default", {"input": X, "normalized_shape": [4], "weight": G, "bias": None, "eps": 1e-5},
     normalized(X, 1) * G, X.mean(1, keepdims=True), 1 / np.sqrt(X.var(1, keepdims=True) + f32(1e-5)))  # fmt: skip
GROUPED = normalized(IMAGES.reshape(2, 2, 60), 2).reshape(IMAGES.shape)
case("group_norm.default", {"input": IMAGES, "num_groups": 2, "weight": G, "bias": H},
     GROUPED * BY_CHANNEL[0] + BY_CHANNEL[1])  # fmt: skip
case("group_norm.default", {"input": IMAGES, "num_groups": 2}, GROUPED)
case("rms_norm.default", {"input": X, "normalized_shape": [4], "weight": G, "eps": 1e-3},
     X / np.sqrt((X**2).mean(1, keepdims=True) + f32(1e-3)) * G)  # fmt: skip
case("rms_norm.default", {"input": X, "normalized_shape": [4]}, X / np.sqrt((X**2).mean(1, keepdims=True) + 1.2e-7))
for name in ("batch_norm.default", "_native_batch_norm_legit.no_stats"):
    case(name, {"input": IMAGES, "weight": G, "bias": H, "training": True, "momentum": 0.1, "eps": 1e-3},
         normalized(IMAGES, (0, 2, 3), 1e-3).astype(f32) * BY_CHANNEL[0] + BY_CHANNEL[1])  # fmt: skip
case("_native_batch_norm_legit_no_training.default", {"input": IMAGES, **NORM, "momentum": 0.1, "eps": 1e-3},
     NORMED * BY_CHANNEL[0] + BY_CHANNEL[1])  # fmt: skip
case("native_group_norm.default", {"input": IMAGES, "weight": G, "bias": H, "N": 2, "C": 4, "HxW": 30, "group": 2,
     "eps": 1e-5}, GROUPED * BY_CHANNEL[0] + BY_CHANNEL[1])  # fmt: skip
case("softmax.int", {"self": X, "dim": -1}, softmax(X, 1))
case("softmax.int", {"self": X.astype(np.float16), "dim": 0, "dtype": np.dtype("float32")},
     softmax(X.astype(np.float16).astype(f32), 0))  # fmt: skip
case("_softmax.default", {"self": X, "dim": 0, "half_to_float": False}, softmax(X, 0))
case("_safe_softmax.default", {"self": X, "dim": 1}, softmax(X, 1))
case("log_softmax.int", {"self": X, "dim": 1}, np.log(softmax(X, 1)))
case("_log_softmax.default", {"self": X, "dim": 1, "half_to_float": False}, np.log(softmax(X, 1)))
# Attention.
QUERY, KEY, CONTENT = normal(2, 4, 5, 8), normal(2, 4, 7, 8), normal(2, 4, 7, 3)
QKV = {"query": QUERY, "key": KEY, "value": CONTENT}
CAUSAL = np.tril(np.ones((5, 7), bool))
MASK = RNG.uniform(size=(2, 1, 5, 7)) > 0.3
MASK[..., 0] = True
case("scaled_dot_product_attention.default", QKV, attention(QUERY, KEY, CONTENT))
case("_scaled_dot_product_flash_attention_for_cpu.default", {**QKV, "dropout_p": 0.0, "is_causal": False,
     "attn_mask": None, "scale": 0.5}, attention(QUERY, KEY, CONTENT, scale=0.5))  # fmt: skip
case("scaled_dot_product_attention.default", {**QKV, "attn_mask": MASK}, attention(QUERY, KEY, CONTENT, MASK))
case("scaled_dot_product_attention.default", {**QKV, "attn_mask": normal(5, 7) * 0 + 1, "scale": 0.7},
     attention(QUERY, KEY, CONTENT, scale=0.7))  # fmt: skip
case("scaled_dot_product_attention.default", {**QKV, "attn_mask": None, "dropout_p": 0.0, "is_causal": True},
     attention(QUERY, KEY, CONTENT, CAUSAL))  # fmt: skip
case("scaled_dot_product_attention.default", {k: v[:, 0] for k, v in QKV.items()} | {"attn_mask": MASK[:, 0]},
     attention(QUERY[:, 0], KEY[:, 0], CONTENT[:, 0], MASK[:, 0]))  # fmt: skip
case("scaled_dot_product_attention.default", {**QKV, "key": KEY[:, :2], "value": CONTENT[:, :2], "enable_gqa": True},
     attention(QUERY, np.repeat(KEY[:, :2], 2, 1), np.repeat(CONTENT[:, :2], 2, 1)))  # fmt: skip
# Shapes.
case("flatten.using_ints", {"self": IMAGES, "start_dim": 1}, IMAGES.reshape(2, -1))
case("flatten.using_ints", {"self": IMAGES, "start_dim": 1, "end_dim": 2}, IMAGES.reshape(2, 24, 5))
case("flatten.using_ints", {"self": IMAGES}, IMAGES.ravel())
case("flatten.using_ints", {"self": IMAGES[:0], "start_dim": 1}, IMAGES[:0].reshape(0, 120))
case("unflatten.int", {"self": IMAGES, "dim": 1, "sizes": [2, -1]}, IMAGES.reshape(2, 2, 2, 6, 5))
case("view.default", {"self": X, "size": [2, -1]}, X.reshape(2, 6))
case("reshape.default", {"self": X, "shape": [12]}, X.ravel())
case("_unsafe_view.default", {"self": X, "size": [4, 3]}, X.reshape(4, 3))
case("permute.default", {"self": IMAGES, "dims": [0, -1, 1, 2]}, IMAGES.transpose(0, 3, 1, 2))
case("transpose.int", {"self": IMAGES, "dim0": 1, "dim1": -1}, IMAGES.swapaxes(1, 3))
case("t.default", {"self": X}, X.T)
case("T.default", {"self": X}, X.T)
case("unsqueeze.default", {"self": X, "dim": -1}, X[..., None])
case("squeeze.default", {"self": X[:1, :, None]}, X[0])
case("squeeze.dim", {"self": X[:1], "dim": 0}, X[0])
case("squeeze.dim", {"self": X, "dim": 0}, X)
case("squeeze.dims", {"self": X[:1, :, None], "dim": [0, 1, 2]}, X[0])
case("expand.default", {"self": X[:, :1], "size": [2, -1, 4]}, np.broadcast_to(X[:, :1], (2, 3, 4)).copy())
case("expand_as.default", {"self": X[:1], "other": Y}, np.broadcast_to(X[:1], (3, 4)).copy())
case("repeat.default", {"self": X, "repeats": [2, 1, 3]}, np.tile(X, (2, 1, 3)))
case("repeat_interleave.self_int", {"self": IMAGES, "repeats": 3, "dim": 1}, np.repeat(IMAGES, 3, 1))
case("tile.default", {"self": X, "dims": [2]}, np.tile(X, 2))
case("cat.default", {"tensors": [X, Y], "dim": -1}, np.concatenate([X, Y], 1))
case("cat.default", {"tensors": [X, K]}, np.concatenate([X, K.astype(f32)]))
case("cat.default", {"tensors": [np.zeros(0, f32), X], "dim": 1}, X)
case("concat.default", {"tensors": [X, Y]}, np.concatenate([X, Y]))
case("stack.default", {"tensors": [X, Y], "dim": -1}, np.stack([X, Y], -1))
case("slice.Tensor", {"self": X, "dim": 1, "start": 1, "end": 9223372036854775807}, X[:, 1:])
case("slice.Tensor", {"self": X, "dim": 0, "start": -2, "end": -1}, X[-2:-1])
case("slice.Tensor", {"self": X, "dim": 1, "step": 2}, X[:, ::2])
case("narrow.default", {"self": X, "dim": 1, "start": 1, "length": 2}, X[:, 1:3])
case("select.int", {"self": X, "dim": 1, "index": -1}, X[:, -1])
case("index_select.default", {"self": X, "dim": 1, "index": np.array([2, 0])}, X[:, [2, 0]])
case("embedding.default", {"weight": X, "indices": np.array([[2, 0], [1, 1]]), "padding_idx": 0},
     X[[[2, 0], [1, 1]]])  # fmt: skip
case("gather.default", {"self": X, "dim": 1, "index": np.array([[0, 3], [1, 1]])},
     np.take_along_axis(X[:2], np.array([[0, 3], [1, 1]]), 1))  # fmt: skip
case("index.Tensor", {"self": X, "indices": [None, np.array([2, 0])]}, X[:, [2, 0]])
case("_unsafe_index.Tensor", {"self": X, "indices": [np.array([[2, 0]])]}, X[[[2, 0]]])
BOXES = normal(2, 3, 4, 5)
ROWS, COLUMNS = np.array([[0], [2]]), np.array([1, 3, 0])
case("index.Tensor", {"self": BOXES, "indices": [None, None, ROWS, COLUMNS]}, BOXES[:, :, ROWS, COLUMNS])
case("index.Tensor", {"self": BOXES, "indices": [None, ROWS, COLUMNS]}, BOXES[:, ROWS, COLUMNS])
case("index.Tensor", {"self": BOXES, "indices": [ROWS % 2, None, COLUMNS]}, BOXES[ROWS % 2, :, COLUMNS])
case("index.Tensor", {"self": X, "indices": [np.array([0, -1]), np.array([2, 1])]}, X[[0, -1], [2, 1]])
case("slice_scatter.default", {"self": X, "src": Y[:, :2].copy(), "dim": 1, "start": 1, "end": -1},
     np.concatenate([X[:, :1], Y[:, :2], X[:, 3:]], 1))  # fmt: skip
case("select_scatter.default", {"self": X, "src": Y[0], "dim": 0, "index": -1}, np.stack([X[0], X[1], Y[0]]))
PUT = np.array([[3, 0], [1, 2], [0, 3]])
SCATTERED, ADDED = X.copy(), X.copy()
np.put_along_axis(SCATTERED, PUT, Y[:, :2], 1)
np.add.at(ADDED, (np.arange(3)[:, None], PUT), Y[:, :2])
case("scatter.src", {"self": X, "dim": 1, "index": PUT, "src": Y[:, :2].copy()}, SCATTERED)
case("scatter_add.default", {"self": X, "dim": 1, "index": PUT, "src": Y[:, :2].copy()}, ADDED)
case("scatter.value", {"self": X * 0, "dim": 1, "index": PUT, "value": 1},
     f32([[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1]]))  # fmt: skip
case("movedim.int", {"self": IMAGES, "source": [1], "destination": [3]}, np.moveaxis(IMAGES, 1, 3))
case("moveaxis.intlist", {"self": IMAGES, "source": [0, 1], "destination": [2, -1]},
     np.moveaxis(IMAGES, [0, 1], [2, 3]))  # fmt: skip
case("swapaxes.default", {"self": IMAGES, "axis0": 1, "axis1": -1}, IMAGES.swapaxes(1, 3))
case("swapdims.default", {"self": IMAGES, "dim0": 0, "dim1": 1}, IMAGES.swapaxes(0, 1))
case("view_as.default", {"self": X, "other": X.reshape(2, 6)}, X.reshape(2, 6))
case("reshape_as.default", {"self": X, "other": X.reshape(2, 6)}, X.reshape(2, 6))
for name in ("split.Tensor", "chunk.default"):
    amount = {"split_size": 3} if name[0] == "s" else {"chunks": 2}
    case(name, {"self": IMAGES, **amount, "dim": 3}, IMAGES[..., :3], IMAGES[..., 3:], is_list=True)
case("split_with_sizes.default", {"self": X, "split_sizes": [1, 3], "dim": 1}, X[:, :1], X[:, 1:], is_list=True)
case("unbind.int", {"self": X, "dim": 0}, *X, is_list=True)
case("tril.default", {"self": X}, np.tril(X))
case("triu.default", {"self": X, "diagonal": 1}, np.triu(X, 1))
case("flip.default", {"self": X, "dims": [0, 1]}, X[::-1, ::-1].copy())
case("roll.default", {"self": X, "shifts": [1, -1], "dims": [0, 1]}, np.roll(X, (1, -1), (0, 1)))
case("pad.default", {"self": X, "pad": [1, 2], "mode": "constant", "value": 3.0},
     np.pad(X, ((0, 0), (1, 2)), constant_values=3))  # fmt: skip
case("pad.default", {"self": IMAGES, "pad": [1, 2, 0, 1], "mode": "circular"},
     np.pad(IMAGES, ((0, 0), (0, 0), (0, 1), (1, 2)), "wrap"))  # fmt: skip
case("constant_pad_nd.default", {"self": X, "pad": [1, -1, 0, 1]}, np.pad(X, ((0, 1), (1, 0)))[:, :-1])
case("reflection_pad2d.default", {"self": IMAGES, "padding": [1, 2, 0, 1]},
     np.pad(IMAGES, ((0, 0), (0, 0), (0, 1), (1, 2)), "reflect"))  # fmt: skip
case("replication_pad1d.default", {"self": LINES, "padding": [1, 2]}, np.pad(LINES, ((0, 0), (0, 0), (1, 2)), "edge"))
case("upsample_nearest2d.vec", {"input": IMAGES, "output_size": None, "scale_factors": [2.0, 1.5]},
     IMAGES[:, :, np.arange(12) // 2][..., np.floor(np.arange(7) / 1.5).astype(int)])  # fmt: skip
case("upsample_nearest2d.default", {"self": IMAGES, "output_size": [4, 10]},
     nearest_axis(nearest_axis(IMAGES, 2, 4), 3, 10))  # fmt: skip
case("upsample_nearest1d.vec", {"input": LINES, "output_size": [4], "scale_factors": None}, nearest_axis(LINES, 2, 4))
case("_upsample_nearest_exact2d.vec", {"input": IMAGES, "output_size": [4, 10], "scale_factors": None},
     nearest_axis(nearest_axis(IMAGES, 2, 4, True), 3, 10, True))  # fmt: skip
case("upsample_bilinear2d.vec", {"input": IMAGES, "output_size": None, "align_corners": False,
     "scale_factors": [2.0, 2.0]}, linear_axis(linear_axis(IMAGES, 2, 12, False), 3, 10, False))  # fmt: skip
case("upsample_bilinear2d.default", {"self": IMAGES, "output_size": [9, 4], "align_corners": True},
     linear_axis(linear_axis(IMAGES, 2, 9, True), 3, 4, True))  # fmt: skip
case("upsample_linear1d.vec", {"input": LINES, "output_size": [5], "align_corners": False, "scale_factors": None},
     linear_axis(LINES, 2, 5, False))  # fmt: skip
case("upsample_bicubic2d.vec", {"input": IMAGES, "output_size": [6, 5], "align_corners": False,
     "scale_factors": None}, IMAGES)  # fmt: skip
case("pixel_shuffle.default", {"self": IMAGES, "upscale_factor": 2},
     IMAGES.reshape(2, 1, 2, 2, 6, 5).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 12, 10))  # fmt: skip
case("pixel_unshuffle.default", {"self": IMAGES[0], "downscale_factor": 1}, IMAGES[0])
# Creation.
case("arange.default", {"end": 4}, np.arange(4))
case("arange.start_step", {"start": 1, "end": 6, "step": 2, "dtype": np.dtype("float32")}, np.arange(1, 6, 2, f32))
case("full.default", {"size": [2, 3], "fill_value": 1.5}, np.full((2, 3), 1.5, f32))
case("zeros.default", {"size": [2]}, np.zeros(2, f32))
case("ones.default", {"size": [2], "dtype": np.dtype("int64")}, np.ones(2, int))
case("zeros_like.default", {"self": X}, np.zeros_like(X))
case("ones_like.default", {"self": X}, np.ones_like(X))
case("full_like.default", {"self": X, "fill_value": 2}, np.full_like(X, 2))
case("new_zeros.default", {"self": X, "size": [2]}, np.zeros(2, f32))
case("new_ones.default", {"self": X, "size": [2]}, np.ones(2, f32))
case("new_full.default", {"self": X, "size": [2], "fill_value": True}, np.ones(2, f32))
case("scalar_tensor.default", {"s": 3.5}, np.array(3.5, f32))
case("fill.Scalar", {"self": X, "value": 3}, np.full_like(X, 3))
case("copy.default", {"self": X, "src": K[0]}, np.broadcast_to(K[0], X.shape).astype(f32))
case("empty_like.default", {"self": X}, np.zeros_like(X))
case("empty.memory_format", {"size": [2]}, np.zeros(2, f32))
case("new_empty.default", {"self": X, "size": [2]}, np.zeros(2, f32))
case("zero.default", {"self": X}, np.zeros_like(X))
# Reductions.
case("mean.dim", {"self": IMAGES, "dim": [2, -1], "keepdim": True}, IMAGES.mean((2, 3), keepdims=True))
case("mean.default", {"self": X}, X.mean())
case("sum.dim_IntList", {"self": X, "dim": [1]}, X.sum(1))
case("sum.default", {"self": B}, B.sum())
case("sum.dim_IntList", {"self": X, "dim": [0], "dtype": np.dtype("float64")}, X.astype(float).sum(0))
case("prod.dim_int", {"self": X, "dim": 1}, X.prod(1))
case("prod.default", {"self": K}, K.prod())
case("amax.default", {"self": X, "dim": [0]}, X.max(0))
case("amin.default", {"self": X, "dim": []}, X.min())
case("max.default", {"self": X}, X.max())
case("max.dim", {"self": X, "dim": 1}, X.max(1), X.argmax(1))
case("min.dim", {"self": X, "dim": 0, "keepdim": True}, X.min(0, keepdims=True), X.argmin(0)[None])
case("argmax.default", {"self": X, "dim": 1}, X.argmax(1))
case("argmax.default", {"self": X}, X.argmax())
case("argmin.default", {"self": X, "dim": None, "keepdim": True}, X.argmin().reshape(1, 1))
case("var.correction", {"self": X, "dim": [1]}, X.var(1, ddof=1))
case("var.dim", {"self": X, "dim": [0], "unbiased": False, "keepdim": True}, X.var(0, keepdims=True))
case("var.correction", {"self": X, "correction": 0}, X.var())
case("std.correction", {"self": X, "dim": [1], "correction": 2}, X.std(1, ddof=2))
case("var_mean.correction", {"self": X, "dim": [1]}, X.var(1, ddof=1), X.mean(1))
case("std_mean.correction", {"self": X, "dim": [1], "keepdim": True}, X.std(1, ddof=1, keepdims=True),
     X.mean(1, keepdims=True))  # fmt: skip
case("any.dim", {"self": B, "dim": 1}, B.any(1))
case("all.default", {"self": K}, (K != 0).all())
case("logsumexp.default", {"self": X, "dim": [1]}, scipy.special.logsumexp(X, 1).astype(f32))
case("linalg_vector_norm.default", {"self": X, "dim": [1]}, np.sqrt((X**2).sum(1)))
case("linalg_norm.default", {"self": X}, np.sqrt((X**2).sum()))
case("norm.ScalarOpt_dim", {"self": X, "p": 1, "dim": [0], "keepdim": True}, np.abs(X).sum(0, keepdims=True))
case("cumsum.default", {"self": K, "dim": 1}, K.cumsum(1))
case("cumsum.default", {"self": B, "dim": 0}, B.cumsum(0))
case("cumprod.default", {"self": X, "dim": -1}, X.cumprod(1))
case("topk.default", {"self": X, "k": 2}, -np.sort(-X)[:, :2], np.argsort(-X)[:, :2])
case("topk.default", {"self": X, "k": 1, "dim": 0, "largest": False, "sorted": True}, np.sort(X, 0)[:1],
     np.argsort(X, 0)[:1])  # fmt: skip
case("sort.default", {"self": X, "dim": 0, "descending": True}, -np.sort(-X, 0), np.argsort(-X, 0))
case("argsort.default", {"self": X}, np.argsort(X))


# Recurrent layers.
def gates(x, h, weights, parts):
    """The products of inputs and states with the weights of each gate."""
    w, r, *biases = weights
    b, c = biases or (np.zeros(len(w), f32),) * 2
    return np.split(x @ w.T + b, parts, -1), np.split(h @ r.T + c, parts, -1)


def gru_cell(x, state, weights):
    (xr, xz, xn), (hr, hz, hn) = gates(x, state[0], weights, 3)
    z, n = sigmoid(xz + hz), np.tanh(xn + sigmoid(xr + hr) * hn)
    return [(1 - z) * n + z * state[0]]


def lstm_cell(x, state, weights):
    i, f, g, o = (a + b for a, b in zip(*gates(x, state[0], weights, 4)))
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(c), c]


def tanh_cell(x, state, weights):
    return [np.tanh(sum(a[0] for a in gates(x, state[0], weights, 1)))]


def relu_cell(x, state, weights):
    return [np.maximum(sum(a[0] for a in gates(x, state[0], weights, 1)), 0)]


def recurrent(cell, x, states, params, layers, directions):
    each, last = len(params) // (layers * directions), []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            k = layer * directions + direction
            state, out = [s[k] for s in states], [None] * len(x)
            for step in range(len(x))[:: -1 if direction else 1]:
                state = cell(x[step], state, params[k * each : (k + 1) * each])
                out[step] = state[0]
            outputs.append(np.stack(out))
            last.append(state)
        x = np.concatenate(outputs, -1)
    return [x.astype(f32), *(np.stack(s).astype(f32) for s in zip(*last))]


CELLS = dict(gru=(gru_cell, 3, 1), lstm=(lstm_cell, 4, 2), rnn_tanh=(tanh_cell, 1, 1), rnn_relu=(relu_cell, 1, 1))
for name, (cell, parts, state_count) in CELLS.items():
    for layers, directions, biased, batch_first in ((1, 1, True, False), (2, 2, True, True), (2, 1, False, False)):
        params = []
        for layer in range(layers):
            for _ in range(directions):
                params += [normal(parts * 5, 3 if layer == 0 else 5 * directions) / 2, normal(parts * 5, 5) / 2]
                params += [normal(parts * 5), normal(parts * 5)] if biased else []
        steps, states = normal(4, 2, 3), [normal(layers * directions, 2, 5) for _ in range(state_count)]
        out, *last = recurrent(cell, steps, states, params, layers, directions)
        given = {"input": steps.swapaxes(0, 1).copy() if batch_first else steps}
        given |= {"hx": states if name == "lstm" else states[0], "params": params, "has_biases": biased}
        given |= {"num_layers": layers, "dropout": 0.0, "train": False, "bidirectional": directions == 2}
        case(f"{name}.input", given | {"batch_first": batch_first}, out.swapaxes(0, 1) if batch_first else out, *last)


@pytest.mark.parametrize("target, arguments, wanted, is_list", CASES)
def test_an_operator_agrees_with_numpy(target, arguments, wanted, is_list):
    if wanted[0] is None:
        wanted = (want_conv(target, arguments),)
    wanted = [np.asarray(want) for want in wanted]
    check(*program_of(target, arguments, wanted, is_list), wanted)
