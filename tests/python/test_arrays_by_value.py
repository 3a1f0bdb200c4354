"""Small arrays whose elements are arguments of a kernel: "float32 taps[3]"."""

import pickle

import numpy as np
import pytest

import iruka
from iruka import ElementwiseKernel, ReductionKernel, StagedKernel

CORRELATE = """
y = 0;
for (int k = 0; k < 5; k++) {
  const auto at = i + k - 2;
  if (at >= 0 && at < n) y += taps[k] * x[at];
}
"""


def correlated(x, taps):
    return np.correlate(np.pad(x, 2), taps, "valid")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int64", "uint8", "complex64", "complex128"])
def test_a_filter_with_taps_by_value(dtype, rng):
    x = rng.integers(0, 5, 1000).astype(dtype)
    taps = rng.integers(0, 5, 5).astype(dtype)
    kernel = ElementwiseKernel(f"raw const {dtype} x, {dtype} taps[5]", f"{dtype} y", CORRELATE, "correlate")
    result = kernel(iruka.asarray(x), taps, size=x.size)
    np.testing.assert_array_equal(iruka.asnumpy(result), correlated(x, taps))


@pytest.mark.parametrize("dtype", ["bool", "float16", "bfloat16"])
def test_elements_of_small_types(dtype, rng):
    values = rng.integers(0, 2, 33).astype(bool)
    given = iruka.asarray(values).astype(dtype)
    kernel = ElementwiseKernel(f"{dtype} values[33]", "raw float32 y", "y[i] = float(values[i]);", "widened")
    result = kernel(given, iruka.zeros(33, dtype="float32"), size=33)
    np.testing.assert_array_equal(iruka.asnumpy(result), values)


def test_every_byte_but_zero_is_true():
    bytes_of = np.array([0, 1, 2, 255], np.uint8).view(bool)
    kernel = ElementwiseKernel("bool values[4]", "raw int32 y", "y[i] = values[i] == true;", "bytes_of")
    result = kernel(bytes_of, iruka.zeros(4, dtype="int32"), size=4)
    assert result.tolist() == [0, 1, 1, 1]


def test_layouts_devices_and_shapes(rng):
    matrix = rng.standard_normal((3, 4)).astype(np.float32)
    kernel = ElementwiseKernel("float32 x, float32 matrix[12]", "float32 y", "y = x * matrix[i % 12];", "scaled")
    x = iruka.arange(24, dtype="float32").reshape(2, 12)
    expected = np.arange(24, dtype=np.float32).reshape(2, 12) * matrix.ravel()
    wide = rng.standard_normal((6, 8)).astype(np.float32)
    wide[::2, ::2] = matrix
    turned = np.asfortranarray(matrix)
    for given in (matrix, turned, wide[::2, ::2], matrix.reshape(12), matrix.reshape(2, 1, 6)):
        for array in (given, iruka.asarray(given), iruka.asarray(given, device="cpu")):
            np.testing.assert_array_equal(iruka.asnumpy(kernel(x, array)), expected)
    row = iruka.zeros(12, dtype="float32")
    kernel(x[0], matrix, row)
    np.testing.assert_array_equal(iruka.asnumpy(row), expected[0])
    assert kernel(x, matrix).device == x.device


def test_a_loop_of_several_axes_and_tiles(rng):
    x = rng.standard_normal((70, 90)).astype(np.float32)
    weights = rng.standard_normal(2).astype(np.float32)
    kernel = ElementwiseKernel("float32 a, float32 b, T w[2]", "float32 y", "y = a * w[0] + b * w[1];", "mixed")
    given = iruka.asarray(x)
    result = kernel(given, iruka.asarray(np.ascontiguousarray(x.T)).T[:, :], weights)
    np.testing.assert_allclose(iruka.asnumpy(result), x * weights[0] + x * weights[1], rtol=1e-6, atol=1e-6)
    result = kernel(given[::2], given[:35], weights)
    np.testing.assert_allclose(iruka.asnumpy(result), x[::2] * weights[0] + x[:35] * weights[1], rtol=1e-6, atol=1e-6)


def test_values_of_each_call_are_its_own():
    kernel = ElementwiseKernel("int32 x, int32 table[3]", "int32 y", "y = table[x];", "lookup")
    x = iruka.asarray(np.array([2, 0, 1, 1], np.int32))
    table = np.array([5, 6, 7], np.int32)
    first = kernel(x, table)
    table[:] = 0  # a launch has copied the elements
    assert first.tolist() == [7, 5, 6, 6] and kernel(x, table).tolist() == [0, 0, 0, 0]
    assert len(kernel.cached_codes) == 1


def test_large_arrays_by_value():
    most = 4000  # of float64: about the 32 KiB that a GPU takes
    table = np.arange(most, dtype=np.float64)
    kernel = ElementwiseKernel(f"int64 x, float64 table[{most}]", "float64 y", "y = table[x];", "large")
    x = iruka.arange(0, most, 7)
    np.testing.assert_array_equal(iruka.asnumpy(kernel(x, table)), table[::7])
    if iruka.default_device().name != "cpu":
        kernel = ElementwiseKernel("int64 x, float64 table[9000]", "float64 y", "y = table[x];", "too_large")
        with pytest.raises(ValueError, match="arguments take .* bytes.*by value"):
            kernel(x, np.zeros(9000))


def test_reductions_and_stages(rng):
    x = rng.standard_normal((50, 40)).astype(np.float32)
    weights = rng.standard_normal(40).astype(np.float32)
    dot = ReductionKernel("float32 x, float32 w[40]", "float32 y", "x * w[_J % 40]", "a + b", "y = a", "0", "dot")
    for axis in (1, None):
        result = iruka.asnumpy(dot(iruka.asarray(x), weights, axis=axis))
        np.testing.assert_allclose(result, (x * weights).sum(axis=axis), rtol=1e-4, atol=1e-4)
    staged = StagedKernel(
        "float32 x, float32 w[2]", "float32 y", "float32 t", ["t[i] = x * w[0];", "y = t[i] + w[1];"], "staged"
    )
    result = staged(iruka.asarray(x), weights[:2])
    np.testing.assert_allclose(iruka.asnumpy(result), x * weights[0] + weights[1], rtol=1e-6)


def test_kernels_are_values():
    kernel = ElementwiseKernel("float32 x, float32 w[2]", "float32 y", "y = x * w[1];", "scaled")
    other = ElementwiseKernel("float32 x, float32 w[3]", "float32 y", "y = x * w[1];", "scaled")
    assert kernel != other and kernel == pickle.loads(pickle.dumps(kernel))
    assert "(float32 x, float32 w[2]) -> (float32 y)" in repr(kernel)
    parameter = kernel.in_params[1]
    assert (parameter.name, parameter.extent, parameter.raw, parameter.is_const) == ("w", 2, False, True)
    assert kernel.in_params[0].extent is None and "w[2]" in repr(parameter)


@pytest.mark.parametrize("spelling", ["float32 w[ 2 ]", "float32 w [2]", "float32  w[2]", "const float32 w[2]"])
def test_spellings(spelling):
    kernel = ElementwiseKernel(f"float32 x, {spelling}", "float32 y", "y = x * w[1];", "scaled")
    assert kernel(iruka.ones(3, dtype="float32"), np.array([2, 3], np.float32)).tolist() == [3, 3, 3]


@pytest.mark.parametrize("parameter", ["float32 w[]", "float32 w[0]", "float32 w[-1]", "float32 w[k]", "float32 w[2",
                                       "float32 w[1000000000000]", "float32 [2]", "float32 w[2][2]", "w[2]",
                                       "raw float32 w[2]", "_non_const float32 w[2]", "float32 w2]", "]"])  # fmt: skip
def test_malformed_parameters(parameter):
    with pytest.raises(ValueError, match="kernel|parameter"):
        ElementwiseKernel(f"float32 x, {parameter}", "float32 y", "y = x;", "malformed")


def test_outputs_are_not_by_value():
    with pytest.raises(ValueError, match="const input"):
        ElementwiseKernel("float32 x", "float32 y[2]", "y[0] = x;", "malformed")


def test_arguments_that_do_not_fit():
    kernel = ElementwiseKernel("float32 x, float32 w[2]", "float32 y", "y = x * w[1];", "scaled")
    x = iruka.ones(3, dtype="float32")
    with pytest.raises(ValueError, match=r"'w': takes an array of 2 elements, but the array has shape \(3,\)"):
        kernel(x, np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="'w': takes an array of 2 elements, not a scalar"):
        kernel(x, 1.0)
    with pytest.raises(TypeError, match="'w': must be float32, but the array is float64"):
        kernel(x, np.zeros(2))
    with pytest.raises(ValueError, match="size"):
        ElementwiseKernel("float32 w[2]", "float32 y", "y = w[1];", "sizeless")(np.zeros(2, np.float32))
    with pytest.raises(iruka.errors.CompileError, match="const"):
        ElementwiseKernel("float32 x, float32 w[2]", "float32 y", "w[0] = x; y = x;", "writes")
