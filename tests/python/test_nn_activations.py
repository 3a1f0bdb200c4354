"""Functions after layers over all of float32's range, against float64."""

import numpy as np
import onnx
import pytest
import scipy.special
from onnx import helper

import iruka
from iruka import nn

MAGNITUDES = np.concatenate([np.logspace(-44.9, 38.5, 4001), np.linspace(0, 12, 24001)])
NUMBERS = np.concatenate([MAGNITUDES, -MAGNITUDES]).astype(np.float32)
SQRT_HALF, SQRT_2_OVER_PI = np.sqrt(0.5), np.sqrt(2 / np.pi)


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(SQRT_2_OVER_PI * (x + 0.044715 * x**3)))


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


# Modules, formulas and how far results may be off, relative to the result and absolute.
FUNCTIONS = {
    "tanh": (nn.Tanh, np.tanh, 4e-7, 0),
    "elu": (lambda: nn.ELU(0.7), lambda x: elu(x, 0.7), 1e-6, 0),
    "sigmoid": (nn.Sigmoid, scipy.special.expit, 4e-7, 1e-37),
    "softplus": (lambda: nn.Softplus(threshold=1e9), lambda x: np.logaddexp(x, 0), 4e-7, 1e-37),
    # Differences from 1 are rounded as 1 is.
    "gelu": (nn.GELU, lambda x: 0.5 * x * (1 + scipy.special.erf(x * SQRT_HALF)), 1e-6, 2e-6),
    "gelu_tanh": (lambda: nn.GELU("tanh"), tanh_gelu, 1e-6, 2e-6),
}


def check(made, x, formula, relative, absolute):
    with np.errstate(all="ignore"):
        expected = formula(x.astype(np.float64))
    is_known = np.isfinite(expected) & (np.abs(expected) <= np.finfo(np.float32).max)
    np.testing.assert_allclose(made[is_known], expected[is_known], relative, max(absolute, 2e-45))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_over_all_magnitudes(name):
    module, formula, relative, absolute = FUNCTIONS[name]
    layer = module()
    for count in (1, 7, len(NUMBERS)):
        x = NUMBERS[-count:]
        check(iruka.asnumpy(layer(x.reshape(-1, 1))).ravel(), x, formula, relative, absolute)
    few = nn.Sequential(nn.Linear(1, 1), module(), nn.Linear(1, 1))
    few.load_state_dict({"0.weight": [[1]], "0.bias": [0], "2.weight": [[1]], "2.bias": [0]})
    check(iruka.asnumpy(few(NUMBERS.reshape(-1, 1))).ravel(), NUMBERS, formula, relative, absolute)


@pytest.mark.parametrize("operator, formula", [("Tanh", np.tanh), ("Erf", scipy.special.erf)])
@pytest.mark.parametrize("dtype, relative", [(np.float32, 4e-7), (np.float64, 1e-14), (np.float16, 1e-3)])
def test_operators_are_odd_bounded_and_keep_nan(operator, formula, dtype, relative):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", kind, ["n"])],
        [helper.make_tensor_value_info("y", kind, ["n"])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(proto)
    with np.errstate(over="ignore", under="ignore"):
        x = NUMBERS.astype(dtype)
    made = iruka.asnumpy(nn.load(proto.SerializeToString())(iruka.asarray(x)))
    assert made.dtype == dtype and np.abs(made).max() == 1
    half = len(x) // 2
    np.testing.assert_array_equal(made[:half], -made[half:])
    expected = formula(x.astype(np.float64))
    np.testing.assert_allclose(made.astype(np.float64), expected, relative, np.finfo(dtype).smallest_subnormal)
    ends = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    made = iruka.asnumpy(nn.load(proto.SerializeToString())(iruka.asarray(ends)))
    np.testing.assert_array_equal(made, np.array([np.nan, 1, -1, 0, 0], dtype))
    np.testing.assert_array_equal(np.signbit(made[3:]), [False, True])
