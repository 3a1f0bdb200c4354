"""What modules of iruka.nn take and refuse: torch's places and rules of arguments, integers of NumPy, and errors that
name the layer, its place, the rule and the value."""

import numpy as np
import onnx
import pytest

import iruka
from fake_torch import Tensor, torch_like
from iruka import errors, nn

IMAGE = np.linspace(0, 1, 256, dtype=np.float32).reshape(1, 4, 8, 8)
ROWS = np.ones((3, 2), np.float32)


def refused(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
    return raised.value


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: nn.Conv2d(4, 8, 0), ValueError, "nn.Conv2d: kernel_size must be at least 1, but is 0"),
        (lambda: nn.Conv2d(4, 8, -3), ValueError, "nn.Conv2d: kernel_size must be at least 1, but is -3"),
        (lambda: nn.Conv2d(4, 8, 3.0), TypeError, "nn.Conv2d: kernel_size must be an integer, not 3.0"),
        (lambda: nn.Conv2d(4, 8, 1, groups=True), TypeError, "nn.Conv2d: groups must be an integer, not True"),
        (lambda: nn.Conv2d(4, 8, (3, "a")), TypeError, "kernel_size must be an integer, not 'a'"),
        (lambda: nn.Conv2d(4, 8, 1, padding=-1), ValueError, "nn.Conv2d: padding must be at least 0, but is -1"),
        (lambda: nn.Conv2d(4, 8, 1, stride=0), ValueError, "nn.Conv2d: stride must be at least 1, but is 0"),
        (lambda: nn.Conv2d(4, 8, 1, dilation=(1, 0)), ValueError, "nn.Conv2d: dilation must be at least 1, but is 0"),
        (lambda: nn.Conv2d(4, 8, 1, output_padding=1), TypeError, "output_padding"),
        (lambda: nn.Conv2d(0, 8, 1), ValueError, "nn.Conv2d: in_channels must be at least 1, but is 0"),
        (lambda: nn.ConvTranspose2d(4, 8, 2, 2, padding="same"), ValueError, "padding must be integers, not 'same'"),
        (
            lambda: nn.ConvTranspose2d(4, 8, 2, 2, output_padding=7),
            ValueError,
            "output_padding must be smaller than the stride or the dilation, but is 7",
        ),
        (lambda: nn.MaxPool2d(2.0), TypeError, "nn.MaxPool2d: kernel_size must be an integer, not 2.0"),
        (lambda: nn.MaxPool2d(2, padding=2), ValueError, "padding must be at most half of the kernel"),
        (lambda: nn.AvgPool1d(3, padding=2), ValueError, "padding must be at most half of the kernel"),
        (lambda: nn.MaxPool2d(2, 2, 0, 1, True), ValueError, "return_indices must be False"),
        (lambda: nn.BatchNorm2d(4, eps=-1), ValueError, "nn.BatchNorm2d: eps must be at least 0, but is -1"),
        (lambda: nn.BatchNorm2d(0), ValueError, "nn.BatchNorm2d: num_features must be at least 1, but is 0"),
        (lambda: nn.LayerNorm((4, 0)), ValueError, "nn.LayerNorm: normalized_shape must be at least 1, but is 0"),
        (lambda: nn.LayerNorm(4, eps="a"), TypeError, "nn.LayerNorm: eps must be a number, not 'a'"),
        (lambda: nn.GroupNorm(0, 4), ValueError, "nn.GroupNorm: num_groups must be at least 1, but is 0"),
        (lambda: nn.Embedding(0, 3), ValueError, "nn.Embedding: num_embeddings must be at least 1, but is 0"),
        (lambda: nn.Embedding(3, 2, None, 1.0), TypeError, "positional argument"),
        (lambda: nn.AdaptiveAvgPool2d(-1), ValueError, "output_size must be at least 1, but is -1"),
        (lambda: nn.Upsample(size=0), ValueError, "nn.Upsample: size must be at least 1, but is 0"),
        (lambda: nn.Upsample(size=()), ValueError, "nn.Upsample: size must be an int or some of them, not ()"),
        (lambda: nn.CELU("a"), TypeError, "nn.CELU: alpha must be a number, not 'a'"),
        (lambda: nn.CELU(0), ValueError, "nn.CELU: alpha must be positive, but is 0"),
        (lambda: nn.Threshold(None, 1), TypeError, "nn.Threshold: threshold must be a number, not None"),
        (lambda: nn.Threshold(1, "b"), TypeError, "nn.Threshold: value must be a number, not 'b'"),
        (lambda: nn.Hardshrink([1]), TypeError, "nn.Hardshrink: lambd must be a number, not [1]"),
        (lambda: nn.Softshrink(-1), ValueError, "nn.Softshrink: lambd must be at least 0, but is -1"),
        (lambda: nn.RReLU("a"), TypeError, "nn.RReLU: lower must be a number, not 'a'"),
        (lambda: nn.Softmin(1.5), TypeError, "nn.Softmin: dim must be an integer, not 1.5"),
        (lambda: nn.Softmin(2)(ROWS), errors.AxisError, "axis 2 is out of bounds"),
        (lambda: nn.ConstantPad1d("x", 1), TypeError, "nn.ConstantPad1d: padding must be an integer or some of them"),
        (lambda: nn.ConstantPad2d(1, "x"), TypeError, "nn.ConstantPad2d: value must be a number, not 'x'"),
        (lambda: nn.Unflatten(1, ()), ValueError, "nn.Unflatten: unflattened_size must be an int or some of them"),
        (lambda: nn.PixelUnshuffle(0), ValueError, "nn.PixelUnshuffle: downscale_factor must be at least 1, but is 0"),
        (lambda: nn.Embedding(2, 3)(np.array([True])), TypeError, "nn.Embedding: expected integers, not bool"),
        (
            lambda: nn.Parameter([[1, 2], [3]]),
            ValueError,
            "nn.Parameter: expected an array or numbers, not [[1, 2], [3]]",
        ),
        (lambda: nn.Parameter(object()), TypeError, "nn.Parameter: expected an array or numbers, not <object"),
        (lambda: nn.Parameter([1.0], True), NotImplementedError, "nn.Parameter: requires_grad must be False"),
        (lambda: nn.Upsample(scale_factor=0.0), ValueError, "scale_factor must be above 0 and finite, but is 0.0"),
        (lambda: nn.Upsample(scale_factor=2, align_corners=True), ValueError, "align_corners is for linear and cubic"),
        (lambda: nn.Upsample(scale_factor=2, mode="linear")(IMAGE), ValueError, "mode 'linear' is for 3 axes, but 4"),
        (lambda: nn.PixelShuffle(0), ValueError, "nn.PixelShuffle: upscale_factor must be at least 1, but is 0"),
        (lambda: nn.Hardtanh(2, 1), ValueError, "min_val must be below max_val"),
        (lambda: nn.Linear(2.5, 3), TypeError, "nn.Linear: in_features must be an integer, not 2.5"),
        (lambda: nn.Linear("a", 3), TypeError, "nn.Linear: in_features must be an integer, not 'a'"),
        (lambda: nn.LeakyReLU("a"), TypeError, "nn.LeakyReLU: negative_slope must be a number, not 'a'"),
        (lambda: nn.Softmax(1.5), TypeError, "nn.Softmax: dim must be an integer, not 1.5"),
        (lambda: nn.Sequential({1: nn.ReLU()}), TypeError, "the name of a module must be a str, not 1"),
        (lambda: nn.Sequential(nn.ReLU())["0"], TypeError, "an index must be an int or a slice, not '0'"),
        (lambda: nn.LSTM(3, 4, proj_size=2), ValueError, "proj_size must be 0, but is 2"),
        (lambda: nn.RNN(3, 4, 1, "sine"), ValueError, "nonlinearity must be 'tanh' or 'relu', not 'sine'"),
        (lambda: nn.MultiheadAttention(4, 2, kdim=3), ValueError, "kdim and vdim must be embed_dim, 4"),
        (lambda: nn.from_torch(nn.ReLU()), TypeError, "the module is one of iruka.nn already, nn.ReLU"),
        (lambda: nn.from_torch(3), TypeError, "nn.from_torch: expected a module of torch, not int"),
    ],
)
def test_wrong_arguments_of_layers(call, error, words):
    refused(call, error, words)


@pytest.mark.parametrize(
    "make",
    [
        lambda dtype: nn.Linear(2, 3, dtype=dtype),
        lambda dtype: nn.Conv2d(2, 3, 1, dtype=dtype),
        lambda dtype: nn.BatchNorm2d(2, dtype=dtype),
        lambda dtype: nn.LayerNorm(2, dtype=dtype),
        lambda dtype: nn.Embedding(2, 3, dtype=dtype),
        lambda dtype: nn.PReLU(2, dtype=dtype),
        lambda dtype: nn.LSTM(2, 3, dtype=dtype),
    ],
)
def test_dtypes_of_parameters(make):
    for dtype, wanted in ((None, "float32"), ("float32", "float32"), (np.float64, "float64")):
        assert {array.dtype.name for array in make(dtype).parameters()} == {wanted}
    for dtype in ("float16", "int32", "bfloat16", "xyz", "complex64"):
        refused(lambda: make(dtype), errors.TypeError, f"parameters are float32 or float64, not {dtype}")
        refused(
            lambda: make(None).to(dtype),
            errors.TypeError,
            f"nn.Module.to: parameters are float32 or float64, not {dtype}",
        )


def test_integers_of_numpy_are_integers():
    two, three = np.int64(2), np.uint8(3)
    assert nn.Conv2d(np.int32(4), 8, three, padding=np.int64(1), stride=(two, 1))(IMAGE).shape == (1, 8, 4, 8)
    assert nn.ConvTranspose2d(4, 2, two, two)(IMAGE).shape == (1, 2, 16, 16)
    assert nn.MaxPool2d(two)(IMAGE).shape == nn.AdaptiveAvgPool2d(np.int64(4))(IMAGE).shape == (1, 4, 4, 4)
    assert nn.LayerNorm(np.int64(8))(IMAGE).shape == nn.LayerNorm(np.array([8, 8]))(IMAGE).shape == IMAGE.shape
    assert nn.Upsample(size=np.int64(5))(IMAGE).shape == (1, 4, 5, 5)
    assert nn.Sequential(nn.Linear(two, three))[np.int64(0)].out_features == 3
    assert nn.Linear(2, 3).map(ROWS, np.int64(1)).shape == (3, 3)


def test_arguments_of_map():
    m = nn.Linear(2, 3)
    for axis in (None, 1.0, (1,), "a"):
        refused(lambda: m.map(ROWS, axis), errors.TypeError, f"nn.Module.map: axis must be an integer, not {axis!r}")
    error = refused(lambda: m.map(ROWS, 3), errors.AxisError, "nn.Module.map: axis 3 is out of bounds")
    assert error.axis == 3 and error.ndim == 2
    refused(
        lambda: m.map(ROWS, 1, out=iruka.zeros((3, 3), "int32")),
        errors.TypeError,
        "nn.Module.map: out must have a dtype of floats, as the results have, not int32",
    )
    refused(lambda: m.map(ROWS, progress=3), errors.TypeError, "nn.Module.map: progress must be a function of two")
    refused(lambda: m.map(np.float32(1)), errors.ShapeError, "nn.Module.map: the array has no axis of features")
    refused(lambda: m(ROWS, out=iruka.zeros((3, 3))), errors.TypeError, "nn.Linear: a call takes no `out`; map(x, axis")
    refused(
        lambda: nn.Sequential(nn.ReLU(), m).map(ROWS, 0),
        errors.ShapeError,
        "nn.Module.map: nn.Linear '1' expects 2 features along axis 0, but the array has shape (3, 2)",
    )


def test_arguments_of_functions_of_kernels():
    m = nn.Linear(2, 3)
    refused(lambda: m.as_function(3), errors.TypeError, "the name must be a str, not int")
    net = m.as_function("net")
    for wrong in (m, (m,), net, 3, ("net",)):
        refused(
            lambda: net.kernel("", "float32 y", "y = 0;", "k", functions=wrong),
            errors.TypeError,
            "nn.DeviceFunction.kernel: functions must be a tuple of DeviceFunctions, not ",
        )


def test_parameters_are_real_arrays_of_the_shape():
    m = nn.Linear(2, 3)
    before = iruka.asnumpy(m.weight).copy()
    for wrong in ("x", None, np.ones((3, 2)) * 1j, iruka.ones((3, 2), "complex64")):
        with pytest.raises(errors.TypeError, match="nn.Linear: weight must be "):
            m.weight = wrong
    state = {"weight": np.ones((3, 2)) * 1j, "bias": np.ones(3)}
    refused(lambda: m.load_state_dict(state), RuntimeError, "dtype mismatch for weight: complex in state_dict")
    assert (iruka.asnumpy(m.weight) == before).all() and (iruka.asnumpy(m.bias) != 1).any()


@pytest.mark.parametrize(
    "module, x, error, words",
    [
        (nn.Conv2d(4, 8, 3), IMAGE[:, :3], errors.ShapeError, "nn.Conv2d: expected 4 channels along axis 1, but the input has shape (1, 3, 8, 8)"),
        (nn.Conv2d(4, 8, 3), IMAGE[0], errors.ShapeError, "nn.Conv2d: expected (batch, channels) and 2 more axes, but 3 axes are given (the input has shape (4, 8, 8))"),
        (nn.Conv1d(4, 8, 3), IMAGE, errors.ShapeError, "nn.Conv1d: expected (batch, channels) and 1 more axis, but 4 axes"),
        (nn.PixelShuffle(2), IMAGE[:, :3], errors.ShapeError, "nn.PixelShuffle: expected a multiple of 4 channels along axis 1, but the input has shape (1, 3, 8, 8)"),
        (nn.InstanceNorm2d(5), IMAGE, errors.ShapeError, "nn.InstanceNorm2d: expected 5 channels"),
        (nn.InstanceNorm2d(5), IMAGE[0], errors.ShapeError, "nn.InstanceNorm2d: expected (batch, channels) and 2 more axes"),
        (nn.BatchNorm2d(5), IMAGE, errors.ShapeError, "nn.BatchNorm2d: expected 5 channels"),
        (nn.GroupNorm(2, 6), IMAGE, errors.ShapeError, "nn.GroupNorm: expected 6 channels"),
        (nn.LayerNorm((4, 8)), IMAGE[:, :3], errors.ShapeError, "nn.LayerNorm: expected an input whose last axes have shape (4, 8), but it has shape (1, 3, 8, 8)"),
        (nn.MaxPool2d(20), IMAGE, ValueError, "nn.MaxPool2d: a window of 20 does not fit"),
        (nn.Upsample(size=(2, 3, 4)), IMAGE, ValueError, "nn.Upsample: size must be an int or 2 of them, not (2, 3, 4)"),
        (nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(4, 1)), ROWS, errors.ShapeError, "nn.Linear '2': expected 4 features along axis -1, but the array has shape (3, 5)"),
        (nn.Sequential({"a": nn.Sequential(nn.Conv2d(4, 8, 3), nn.ReLU(), nn.Conv2d(7, 1, 1))}), IMAGE, errors.ShapeError, "nn.Conv2d 'a.2': expected 7 channels along axis 1, but the input has shape (1, 8, 6, 6)"),
        (nn.Softmax(7), IMAGE, errors.AxisError, "nn.Softmax: axis 7 is out of bounds"),
        (nn.Sequential(nn.Conv2d(4, 2, 1), nn.LogSoftmax(-5)), IMAGE, errors.AxisError, "nn.LogSoftmax '1': axis -5 is out of bounds"),
        (nn.Conv2d(4, 8, 3), IMAGE * 1j, errors.TypeError, "nn.Conv2d: expected real numbers, not complex64"),
        (nn.Sequential(nn.Flatten(), nn.Linear(256, 2)), IMAGE * 1j, errors.TypeError, "expected real numbers, not complex64"),
        (nn.Embedding(10, 4), np.array([1.0]), errors.TypeError, "nn.Embedding: expected integers, not float64"),
        (nn.Embedding(10, 4), np.array([3, -1]), errors.IndexError, "nn.Embedding: expected indices from 0 to 9, but they are from -1 to 3"),
        (nn.Embedding(300, 4), np.array([-1], np.int8), errors.IndexError, "expected indices from 0 to 299"),
        (nn.Embedding(10, 4), np.array([10], np.uint8), errors.IndexError, "expected indices from 0 to 9, but they are from 10 to 10"),
        (nn.LSTM(3, 4), np.ones((5, 3)), errors.ShapeError, "nn.LSTM: input must have shape (length, batch, 3), but has shape (5, 3)"),
        (nn.GRU(3, 4, batch_first=True), np.ones((5, 3, 2)), errors.ShapeError, "nn.GRU: input must have shape (batch, length, 3), but has shape (5, 3, 2)"),
    ],
)  # fmt: skip
def test_wrong_inputs_name_the_layer_its_place_and_the_shape(module, x, error, words):
    if error is errors.IndexError and iruka.default_device().name != "cpu":
        with pytest.raises(IndexError, match="is out of bounds for axis 0"):  # at the next wait
            iruka.asnumpy(module(x))
        return
    refused(lambda: module(x), error, words)


def test_usual_slips_are_told_what_to_write():
    refused(lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU), TypeError, "'1' is the class nn.ReLU; write nn.ReLU(...)")
    refused(lambda: nn.Sequential([nn.Linear(2, 3)]), TypeError, "modules are arguments, as in nn.Sequential(*layers)")
    refused(lambda: nn.Linear(2, 3).to("gpu"), TypeError, "not gpu; it is no device either, such as 'cpu' or")
    refused(lambda: nn.Linear(2, 3).to("int8"), TypeError, "parameters are float32 or float64, not int8")
    assert nn.Linear(2, 3).to("float64").weight.dtype == np.float64
    model = onnx.ModelProto()
    refused(lambda: nn.load(model), TypeError, "nn.load: of a ModelProto it takes the bytes, SerializeToString()")


def test_wrong_inputs_of_modules_of_several_inputs():
    lstm, x = nn.LSTM(3, 4), np.ones((5, 1, 3))
    state = np.ones((1, 1, 4))
    refused(lambda: lstm(x, state), errors.TypeError, "nn.LSTM: hx must be a tuple (h, c) of two arrays, not ndarray")
    refused(lambda: lstm(x, (state,)), errors.TypeError, "nn.LSTM: hx must be a tuple (h, c) of two arrays, not 1 of")
    wide = np.ones((1, 2, 4))
    refused(lambda: lstm(x, (state, wide)), errors.ShapeError, "c must have shape (1, 1, 4), but has shape (1, 2, 4)")
    refused(lambda: nn.GRU(3, 4)(x, wide), errors.ShapeError, "nn.GRU: hx must have shape (1, 1, 4)")
    attention, q = nn.MultiheadAttention(4, 2), np.ones((3, 1, 4))
    refused(lambda: attention(q[:, 0], q, q), errors.ShapeError, "query must have shape (length, batch, 4)")
    refused(lambda: attention(q, q, q[:2]), errors.ShapeError, "query, key and value of shapes (3, 1, 4), (3, 1, 4)")
    refused(
        lambda: attention(q, q, q, np.ones((2, 2), bool)), errors.ShapeError, "key_padding_mask must have shape (1, 3)"
    )
    refused(lambda: attention(q, q, q, attn_mask=np.ones((3, 3), int)), errors.TypeError, "bools or floats, not int64")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(3, 1))

    def forward(self, x):
        return self.rest(self.first(x))


def test_a_module_with_its_own_forward_is_printed_as_a_table():
    assert str(Net()).splitlines() == [
        "Net",
        "  name    layer                                             output    parameters",
        "  first   Linear(in_features=2, out_features=3, bias=True)  (..., 3)           9",
        "  rest.0  ReLU()                                                               0",
        "  rest.1  Linear(in_features=3, out_features=1, bias=True)  (..., 1)           4",
        f"          {f'by the forward() of Net, float32 on {nn.Linear(1, 1).weight.device.name}':<67} 13",
    ]
    refused(lambda: Net().report(ROWS), TypeError, "nn.Module.report: Net has a forward() of its own")


@pytest.mark.parametrize(
    "module, text",
    [
        (nn.Hardtanh(-0.5, 0.25), "Hardtanh(min_val=-0.5, max_val=0.25)"),
        (nn.LogSoftmax(1), "LogSoftmax(dim=1)"),
        (nn.Softmax(), "Softmax(dim=None)"),
        (nn.LSTM(3, 4, batch_first=True), "LSTM(3, 4, batch_first=True)"),
        (nn.RNN(3, 4, 2, "relu", False), "RNN(3, 4, num_layers=2, bias=False, nonlinearity='relu')"),
        (nn.Conv2d(4, 8, 3, dilation=2), "Conv2d(4, 8, kernel_size=(3, 3), stride=(1, 1), dilation=(2, 2))"),
        (
            nn.ConvTranspose2d(4, 8, 3, 2, output_padding=1),
            "ConvTranspose2d(4, 8, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))",
        ),
        (
            nn.MaxPool2d(2, ceil_mode=True),
            "MaxPool2d(kernel_size=(2, 2), stride=(2, 2), padding=(0, 0), ceil_mode=True)",
        ),
        (
            nn.MaxPool1d(2, dilation=3),
            "MaxPool1d(kernel_size=(2,), stride=(2,), padding=(0,), dilation=(3,))",
        ),
        (
            nn.AvgPool2d(2, count_include_pad=False),
            "AvgPool2d(kernel_size=(2, 2), stride=(2, 2), padding=(0, 0), count_include_pad=False)",
        ),
        (nn.BatchNorm2d(4, affine=False), "BatchNorm2d(4, eps=1e-05, affine=False)"),
        (nn.GroupNorm(2, 4, affine=False), "GroupNorm(2, 4, eps=1e-05, affine=False)"),
        (nn.InstanceNorm2d(4, affine=True), "InstanceNorm2d(4, eps=1e-05, affine=True)"),
        (nn.LayerNorm(4, elementwise_affine=False), "LayerNorm((4,), eps=1e-05, elementwise_affine=False)"),
        (nn.LayerNorm(4, bias=False), "LayerNorm((4,), eps=1e-05, bias=False)"),
        (
            nn.Upsample(size=3, mode="bilinear", align_corners=True),
            "Upsample(size=3, mode='bilinear', align_corners=True)",
        ),
        (nn.MultiheadAttention(4, 2, batch_first=True), "MultiheadAttention(4, 2, batch_first=True)"),
    ],
)
def test_reprs_have_the_arguments_that_are_no_defaults(module, text):
    assert repr(module) == text


@pytest.mark.cpu_only
def test_from_torch_gives_arguments_by_name():
    pool = torch_like("MaxPool2d", kernel_size=2, stride=2, padding=0, dilation=1, return_indices=False, ceil_mode=True)
    assert nn.from_torch(pool).ceil_mode and nn.from_torch(pool)(IMAGE[..., :7, :7]).shape == (1, 4, 4, 4)
    assert nn.from_torch(torch_like("Softmax", dim=None)).dim is None


@pytest.mark.parametrize(
    "module, x, error, words",
    [
        (
            nn.Sequential(nn.Conv2d(4, 2, 1), nn.PReLU(2), nn.Dropout(), nn.Flatten(), nn.Linear(3, 2)),
            IMAGE,
            errors.ShapeError,
            "nn.Linear '4': expected 3 features along axis -1, but the array has shape (1, 128)",
        ),
        (
            nn.Sequential(nn.Conv2d(4, 2, 1), nn.PReLU(3)),
            IMAGE,
            errors.ShapeError,
            "nn.PReLU '1': expected 3 channels along axis 1, but the input has shape (1, 2, 8, 8)",
        ),
        (nn.Sequential(nn.LSTM(3, 4), nn.Flatten()), np.ones((5, 1, 3)), errors.TypeError, "not a tuple of 2"),
        (nn.Linear(2, 3), "abc", errors.TypeError, "nn.Linear: expected an array, not"),
        (nn.Conv2d(4, 2, 3), None, errors.TypeError, "nn.Conv2d: expected an array, not"),
    ],
)
def test_errors_in_the_midst_of_a_network(module, x, error, words):
    refused(lambda: module(x), error, words)


def test_no_error_names_what_the_user_did_not_call():
    mixed = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3, dtype="float64"))
    assert str(refused(lambda: mixed(ROWS), errors.TypeError, "float64")).startswith("nn.Sequential: ")
    assert str(refused(lambda: mixed.map(ROWS), errors.TypeError, "float64")).startswith("nn.Module.map: ")
    m = nn.Linear(2, 3)
    wrong = iruka.zeros((2, 3), "float32")
    assert str(refused(lambda: m.map(ROWS, out=wrong), errors.ShapeError, "out has")).startswith("nn.Module.map: ")
    assert str(refused(lambda: m.as_function("a b"), ValueError, "no name")).startswith("nn.Module.as_function: ")
    assert str(refused(lambda: m.report(ROWS.T), ValueError, "expected 2")).startswith("nn.Module.report: ")
    refused(lambda: m.report(ROWS, 5), errors.AxisError, "nn.Module.report: axis 5 is out of bounds")


@pytest.mark.cpu_only
def test_attention_of_torch_with_more_parameters_is_refused():
    more = {"embed_dim": 4, "num_heads": 2, "batch_first": False, "kdim": 4, "vdim": 4, "add_zero_attn": False}
    shapes = {"in_proj_weight": (12, 4), "in_proj_bias": (12,), "out_proj.weight": (4, 4), "out_proj.bias": (4,)}
    tensors = {name: Tensor(np.ones(shape, np.float32)) for name, shape in shapes.items()}
    assert nn.from_torch(torch_like("MultiheadAttention", tensors=tensors, **more)).embed_dim == 4
    tensors["bias_k"] = Tensor(np.ones((1, 1, 4), np.float32))
    refused(
        lambda: nn.from_torch(torch_like("MultiheadAttention", tensors=tensors, **more)),
        ValueError,
        "nn.from_torch: MultiheadAttention has parameters that nn.MultiheadAttention lacks: bias_k",
    )
