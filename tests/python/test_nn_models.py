"""Whole models against onnx's reference evaluator, which computes the same weights in float64."""

import warnings

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

import iruka
from iruka import nn
from onnx_models import MODELS, Net


def results(value):
    return [iruka.asnumpy(x) for x in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_agrees_with_the_reference(name):
    exact, inputs = MODELS[name](Net(name, np.float64))
    single, singles = MODELS[name](Net(name, np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = ReferenceEvaluator(exact).run(None, inputs)
    for proto, arrays in ((single, singles), (exact, inputs)):  # attributes are float32 in both
        model = nn.load(proto.SerializeToString())
        for _ in range(2):
            got = results(model(**arrays))
            assert len(got) == len(wanted)
            for one, want in zip(got, wanted):
                assert one.shape == want.shape
                np.testing.assert_allclose(one, want, rtol=0, atol=1e-5 * max(np.abs(want).max(), 1e-30))


def test_a_table_and_a_report():
    proto, inputs = MODELS["vgg"](Net("vgg", np.float32))
    model = nn.load(proto.SerializeToString())
    table = str(model)
    assert "Conv 3x3" in table and "Bias+Relu" in table and "BatchNormalization" not in table
    parameters = 3 * 8 * 9 + 8 * 8 * 9 + 8 * 16 * 9 + 16 * 16 * 9 + 8 + 8 + 16 + 16
    assert table.split()[-1] == str(parameters)
    assert repr(model) == f"<Model (x0) -> ({model.outputs[0].name}) on {model.device.name}>"
    report = model.report(inputs["x0"])
    assert sum(row.operators.endswith("Bias+Relu") for row in report.rows) == 4
    assert report.rows[-1].shape == (2, 16, 1, 1)
    assert all(row.first >= 0 and row.warm >= 0 and row.device == model.device.name for row in report.rows)
    assert "GlobalAveragePool" in str(report)


def test_models_run_in_threads():
    import concurrent.futures

    proto, inputs = MODELS["residual"](Net("residual", np.float32))
    model = nn.load(proto.SerializeToString())
    want = iruka.asnumpy(model(**inputs))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: iruka.asnumpy(model(**inputs)), range(12)):
            np.testing.assert_array_equal(got, want)
