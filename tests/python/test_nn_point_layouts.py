"""Networks over points of every layout, and networks without a kernel, against NumPy in float64."""

import numpy as np
import pytest

import iruka
from iruka import nn

WIDTHS = {
    "one kernel": (8, 32, 4),
    "one kernel on a host": (8, 300, 4),
    "too wide for a kernel": (8, 270, 300, 4),
    "too deep for a kernel": (8, *[12] * 17, 4),
}


def network(widths, dtype="float32", last=None):
    rng = np.random.default_rng(len(widths))
    modules = []
    for inputs, outputs in zip(widths, widths[1:]):
        linear = nn.Linear(inputs, outputs, dtype=dtype, device="cpu")
        linear.weight = iruka.asarray((rng.normal(size=(outputs, inputs)) / inputs**0.5).astype(dtype)).to_device("cpu")
        linear.bias = iruka.asarray(rng.normal(size=outputs).astype(dtype)).to_device("cpu")
        modules += [linear, nn.LeakyReLU(0.5)]
    return nn.Sequential(*modules[:-1], *([last] if last else [])).to("cpu", dtype)


def reference(model, x, axis):
    values = np.moveaxis(np.asarray(x, np.float64), axis, -1)
    for module in model:
        if isinstance(module, nn.Linear):
            values = values @ iruka.asnumpy(module.weight).astype(float).T + iruka.asnumpy(module.bias).astype(float)
        elif isinstance(module, nn.LeakyReLU):
            values = np.where(values > 0, values, values * 0.5)
        elif isinstance(module, nn.Softmax):
            values = np.exp(values) / np.exp(values).sum(axis=-1, keepdims=True)
    return np.moveaxis(values, -1, axis)


def array(*shape, dtype="float32"):
    return (np.random.default_rng(sum(shape)).normal(size=shape) * 3).astype(dtype)


def layouts():
    """Names, and NumPy's arrays with the axis of their features."""
    yield "features first", array(8, 20, 30, 40), 0
    yield "features last", array(20, 30, 40, 8), -1
    yield "features between", array(20, 8, 30, 40), 1
    yield "Fortran order", np.asfortranarray(array(8, 20, 30, 40)), 0
    yield "Fortran order, features last", np.asfortranarray(array(20, 30, 40, 8)), 3
    yield "axes exchanged", array(8, 40, 30, 20).transpose(0, 3, 2, 1), 0
    yield "points exchanged, features last", array(40, 30, 20, 8).transpose(2, 1, 0, 3), 3
    yield "a crop", array(8, 30, 40, 50)[:, 5:-5, 5:-5, 5:-5], 0
    yield "a crop of columns", array(8, 20, 30, 50)[..., 5:-5], 0
    yield "a crop of narrow rows", array(8, 3000, 5)[..., :4], 0
    yield "every second point", array(8, 20, 30, 40)[..., ::2], 0
    yield "backwards", array(8, 20, 30, 40)[:, ::-1, :, ::-1], 0
    yield "features backwards", array(9000, 8)[:, ::-1], 1
    yield "gaps between points", array(20, 30, 40, 11)[..., :8], -1
    yield "gaps between features", array(9000, 16)[:, ::2], -1
    yield "one point repeated", np.broadcast_to(array(8, 1, 30, 1), (8, 40, 30, 20)), 0
    yield "a few points", array(8, 7, 3)[:, ::2, ::-1], 0
    yield "no points", array(8, 0, 3)[..., ::-1], 0


@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("case", list(layouts()), ids=lambda case: case[0])
def test_layouts_give_the_same_bits(case, widths):
    _, x, axis = case
    model = network(WIDTHS[widths])
    made = iruka.asnumpy(model.map(iruka.asarray(x).to_device("cpu"), axis))
    want = reference(model, x, axis)
    np.testing.assert_allclose(made, want, rtol=0, atol=1e-5 * np.abs(want).max(initial=1))
    dense = iruka.asarray(np.ascontiguousarray(np.moveaxis(x, axis, -1))).to_device("cpu")
    iruka.finish_background_compilation()
    np.testing.assert_array_equal(np.moveaxis(made, axis, -1), iruka.asnumpy(model.map(dense)))
    np.testing.assert_array_equal(iruka.asnumpy(model.map(iruka.asarray(x).to_device("cpu"), axis)), made)


@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("case", list(layouts()), ids=lambda case: case[0])
def test_results_of_any_layout(case, widths):
    _, like, axis = case
    if not like.size or like.strides[1] == 0:
        pytest.skip("no result has this layout")
    model = network((4, *WIDTHS[widths][1:-1], 8))
    shape = list(like.shape)
    shape[axis] = 4
    x = iruka.asarray(array(*shape)).to_device("cpu")
    # The view's memory, gaps included, which must keep their values.
    owner = like
    while owner.base is not None and owner.base.size >= owner.size:
        owner = owner.base
    memory = iruka.zeros(owner.size, dtype="float32", device="cpu")
    start = (like.__array_interface__["data"][0] - owner.__array_interface__["data"][0]) // 4
    first = memory[start:]
    out = iruka.lib.stride_tricks.as_strided(first, like.shape, like.strides)
    model.map(x, axis, out=out)
    np.testing.assert_array_equal(iruka.asnumpy(out), iruka.asnumpy(model.map(x, axis)))
    written = np.zeros(owner.size, bool)
    np.lib.stride_tricks.as_strided(written[start:], like.shape, [s // 4 for s in like.strides])[...] = True
    assert not iruka.asnumpy(memory)[~written].any()


@pytest.mark.parametrize("dtype", ["float64", "float16", "uint8", "int64", "bool"])
@pytest.mark.parametrize("widths", WIDTHS)
def test_dtypes_of_points(widths, dtype):
    x = array(8, 30, 40, 20).astype(dtype)[:, ::-1, :, 3:]
    for weights in ("float32", "float64"):
        model = network(WIDTHS[widths], weights)
        want = reference(model, x, 0)
        made = iruka.asnumpy(model.map(iruka.asarray(x).to_device("cpu"), 0))
        assert made.dtype == weights
        tolerance = 1e-5 if weights == "float32" else 1e-13
        np.testing.assert_allclose(made, want, rtol=0, atol=tolerance * np.abs(want).max())


@pytest.mark.parametrize("widths", [(8, 32, 4), (8, 300, 4)])
def test_functions_of_all_numbers_of_a_point(widths):
    model = network(widths, last=nn.Softmax(-1))
    x = array(8, 20, 70, 40)[..., ::2]
    made = iruka.asnumpy(model.map(iruka.asarray(x).to_device("cpu"), 0))
    np.testing.assert_allclose(made, reference(model, x, 0), rtol=0, atol=1e-5)


def test_progress_of_points_in_blocks():
    model, x = network((8, 32, 4)), iruka.asarray(array(8, 100, 50, 40)[..., ::-1]).to_device("cpu")
    calls = []
    made = model.map(x, 0, progress=lambda done, points: calls.append((done, points)))
    assert calls[-1] == (200000, 200000) and calls == sorted(calls) and len(calls) > 1
    np.testing.assert_array_equal(iruka.asnumpy(made), iruka.asnumpy(model.map(x, 0)))


def test_report_of_points_in_blocks():
    report = str(network((8, 32, 4)).report(iruka.asarray(array(8, 90, 50, 40)[..., ::-1]).to_device("cpu"), 0))
    assert "lanes a vector" in report and " 1 lanes" not in report
