"""Writes tests/data/nn: small files of weights and networks, and beside each its content as JSON.

Run it where torch, safetensors, onnx and ml_dtypes are installed. Files of a package that is missing stay as they are.
"""

import collections
import io
import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "nn"
DTYPES = [
    *["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float16", "bfloat16", "float32", "float64", "complex64", "complex128"],
]


def numpy_dtype(name):
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def random_array(rng, name, shape):
    """Values that float16 and bfloat16 represent, and the ends of an integer's range."""
    dtype = numpy_dtype(name)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        array = rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        array.flat[0], array.flat[-1] = limits.min, limits.max
        return array
    array = rng.integers(-64, 64, shape) / 8
    if dtype.kind == "c":
        array = array + 1j * rng.integers(-64, 64, shape) / 8
    return array.astype(dtype)


def number(value):
    value = value.item() if hasattr(value, "item") else value
    return [value.real, value.imag] if isinstance(value, complex) else value


def described(array):
    """An array as {"dtype", "shape", "values"}."""
    values = array.astype(np.float64) if array.dtype.name == "bfloat16" else array
    return {"dtype": array.dtype.name, "shape": [*array.shape], "values": [number(v) for v in values.ravel()]}


def content(value):
    """Containers as {"mapping": pairs}, {"list": items} and {"tuple": items}, arrays as described() says."""
    if isinstance(value, dict):
        return {"mapping": [[content(k), content(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list" if isinstance(value, list) else "tuple": [content(v) for v in value]}
    if isinstance(value, np.ndarray):
        return described(value)
    if isinstance(value, bytes):
        return {"bytes": [*value]}
    if isinstance(value, complex):
        return {"complex": number(value)}
    if type(value).__module__.startswith("torch"):
        return content(tensor_values(value)) if hasattr(value, "detach") else str(value)
    return value


def tensor_values(tensor):
    import torch

    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        return tensor.float().numpy().astype(numpy_dtype("bfloat16"))
    return tensor.numpy()


def write(name, data, described_content=None):
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_bytes(data)
    if described_content is not None:
        (FOLDER / f"{name}.json").write_text(json.dumps(described_content, separators=(",", ":")) + "\n")


def write_safetensors():
    from safetensors.numpy import save

    rng = np.random.default_rng(15)
    # safetensors has no complex128.
    arrays = {name: random_array(rng, name, (3, 2)) for name in DTYPES if name != "complex128"}
    arrays |= {"empty": np.zeros((0, 4), np.float32), "scalar": np.array(2.5, np.float32)}
    data = save(arrays, metadata={"format": "np"})
    size = int.from_bytes(data[:8], "little")
    order = [name for name in json.loads(data[8 : 8 + size]) if name != "__metadata__"]
    write("dtypes.safetensors", data, content({name: arrays[name] for name in order}))


def attribute(value):
    """What onnx.helper.get_attribute_value gave."""
    import onnx

    if isinstance(value, onnx.TensorProto):
        return described(onnx.numpy_helper.to_array(value))
    if isinstance(value, onnx.GraphProto):
        return {"graph": graph_content(value)}
    if isinstance(value, bytes):
        return value.decode()
    return [attribute(v) for v in value] if isinstance(value, (list, tuple)) or hasattr(value, "append") else value


def node_content(node):
    import onnx

    values = {a.name: attribute(onnx.helper.get_attribute_value(a)) for a in node.attribute if not a.ref_attr_name}
    values |= {a.name: {"reference": a.ref_attr_name} for a in node.attribute if a.ref_attr_name}
    fields = {"op": node.op_type, "domain": node.domain, "name": node.name, "attributes": values}
    return fields | {"inputs": [*node.input], "outputs": [*node.output]}


def info_content(info):
    import onnx

    tensor = info.type.tensor_type
    shape = [d.dim_param or (d.dim_value if d.HasField("dim_value") else -1) for d in tensor.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name if tensor.elem_type else None
    return {"name": info.name, "dtype": dtype, "shape": shape if tensor.HasField("shape") else None}


def graph_content(graph, folder=""):
    import onnx

    arrays = {t.name: described(onnx.numpy_helper.to_array(t, str(folder))) for t in graph.initializer}
    return {
        "initializers": arrays,
        "inputs": [info_content(i) for i in graph.input if i.name not in arrays],
        "outputs": [info_content(o) for o in graph.output],
        "nodes": [node_content(n) for n in graph.node],
    }


def function_content(function):
    fields = {"name": function.name, "domain": function.domain, "nodes": [node_content(n) for n in function.node]}
    return fields | {"inputs": [*function.input], "outputs": [*function.output]}


def write_onnx(name, model):
    import onnx

    data = model.SerializeToString()
    fields = graph_content(model.graph, FOLDER)
    fields["opsets"] = {o.domain: o.version for o in model.opset_import}
    fields["functions"] = [function_content(f) for f in model.functions]
    assert onnx.load_model_from_string(data) == model
    write(name, data, fields)


def perceptron(rng):
    from onnx import TensorProto, helper, numpy_helper

    arrays = {"w0": (8, 4), "b0": (8,), "w1": (3, 8), "b1": (3,)}
    weights = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n) for n, s in arrays.items()]
    nodes = [
        helper.make_node("Gemm", ["x", "w0", "b0"], ["h0"], "first", transB=1),
        helper.make_node("LeakyRelu", ["h0"], ["h1"], alpha=0.125),
        helper.make_node("Gemm", ["h1", "w1", "b1"], ["y"], alpha=1.0, transB=1),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 3])
    graph = helper.make_graph(nodes, "perceptron", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def onnx_dtypes(rng, raw):
    """Every dtype as an initializer, in bytes or in the field of numbers that the dtype has."""
    from onnx import TensorProto, helper, numpy_helper

    weights = []
    for name in DTYPES:
        array = random_array(rng, name, (2, 3))
        tensor = numpy_helper.from_array(array, name)
        if not raw:
            tensor = helper.make_tensor(name, tensor.data_type, array.shape, array.ravel())
        weights.append(tensor)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, "n", 5])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "dtypes", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def onnx_attributes(rng):
    """Attributes of every type, graphs in attributes, and a function."""
    from onnx import TensorProto, helper, numpy_helper

    def branch(op, name):
        out = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        weight = numpy_helper.from_array(np.array([1, 2], np.float32), f"{name}_weight")
        return helper.make_graph([helper.make_node(op, ["x", f"{name}_weight"], [name])], name, [], [out], [weight])

    constant = numpy_helper.from_array(rng.integers(0, 9, (2, 2)), "constant")
    nodes = [
        helper.make_node("If", ["c"], ["a"], then_branch=branch("Add", "then"), else_branch=branch("Mul", "else")),
        helper.make_node("Constant", [], ["k"], value=constant),
        helper.make_node("Resize", ["a", "", "k"], ["r"], mode="linear", axes=[-1, 2**40], values=[0.5, -1.5]),
        helper.make_node("Text", ["r"], ["t"], domain="custom", texts=["one", "two"], arrays=[constant, constant]),
        helper.make_node("Scaled", ["t"], ["y"], domain="local", factor=2.5),
    ]
    scale = helper.make_node("Mul", ["v", "f"], ["w"])
    factor = helper.make_node("Constant", [], ["f"])
    reference = factor.attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "value_float", "factor", 1
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 3), helper.make_opsetid("local", 1)]
    function = helper.make_function("local", "Scaled", ["v"], ["w"], [factor, scale], opsets[:1], ["factor"])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "attributes", [x, c], [y])
    return helper.make_model(graph, opset_imports=opsets, functions=[function])


def write_external(rng):
    """The tensors' bytes in external.onnx.data, one of them unaligned."""
    import onnx

    model = perceptron(rng)
    arrays = [onnx.numpy_helper.to_array(t) for t in model.graph.initializer]
    data = b"\0" * 64
    for tensor, array in zip(model.graph.initializer, arrays, strict=True):
        data += b"\0" * (1 if tensor.name == "b1" else -len(data) % 16)
        onnx.external_data_helper.set_external_data(tensor, "external.onnx.data", len(data), array.nbytes)
        tensor.ClearField("raw_data")
        data += array.tobytes()
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "external.onnx.data").write_bytes(data)
    write_onnx("external.onnx", model)


def write_onnx_files():
    rng = np.random.default_rng(16)
    write_onnx("perceptron.onnx", perceptron(rng))
    write_onnx("dtypes_raw.onnx", onnx_dtypes(rng, True))
    write_onnx("dtypes_numbers.onnx", onnx_dtypes(rng, False))
    write_onnx("attributes.onnx", onnx_attributes(rng))
    write_external(rng)


def saved(value, **options):
    import torch

    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


def torch_tensors(rng):
    import torch

    tensors = collections.OrderedDict()
    for name in DTYPES:
        array = random_array(rng, name, (3, 2))
        if name == "bfloat16":
            tensors[name] = torch.from_numpy(array.astype(np.float32)).bfloat16()
        else:
            tensors[name] = torch.from_numpy(array)
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    tensors |= {"base": base, "transposed": base.T, "part": base[1:3, ::2], "spread": base[:1, :1].expand(3, 2)}
    tensors |= {"scalar": torch.tensor(1.5), "empty": torch.zeros(0, 3)}
    return tensors


def trained_network():
    import torch
    from torch import nn

    torch.manual_seed(17)
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(2):
        optimizer.zero_grad()
        network(torch.randn(5, 3, 6, 6)).square().mean().backward()
        optimizer.step()
    return network, optimizer


def write_torch_files():
    import torch

    tensors = torch_tensors(np.random.default_rng(18))
    network, optimizer = trained_network()
    state = network.state_dict()
    checkpoint = {"state_dict": state, "optimizer": optimizer.state_dict(), "epoch": 3, "loss": 0.25, "name": "net ü"}
    checkpoint |= {"best": None, "flags": [True, False], "size": torch.Size([3, 4]), "raw": b"\0\xff", "big": 2**63}
    checkpoint |= {"c": 1 + 2j, "dtype": torch.float32, "parameter": torch.nn.Parameter(torch.ones(2))}
    checkpoint["device"] = torch.device("cpu")
    write("tensors.pt", saved(tensors), content(tensors))
    write("state_dict.pt", saved(state), content(state))
    write("checkpoint.pt", saved(checkpoint), content(checkpoint))
    legacy = {"_use_new_zipfile_serialization": False}
    # The old format has no storages of these dtypes.
    old = {k: v for k, v in tensors.items() if k not in ("uint16", "uint32", "uint64")}
    write("tensors_legacy.pt", saved(old, **legacy), content(old))
    write("checkpoint_legacy.pt", saved(checkpoint, **legacy))
    for protocol in (3, 4, 5):
        write(f"checkpoint_protocol{protocol}.pt", saved(checkpoint, pickle_protocol=protocol))
    write("whole_module.pt", saved(network))
    example = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(19))
    script = io.BytesIO()
    network.eval()
    torch.jit.save(torch.jit.trace(network, example), script)
    write("script.pt", script.getvalue())
    write("program.pt2", exported(network, example), {"input": described(example.numpy()), "state": content(state)})


def exported(network, example, sizes=None):
    """The archive of torch.export; `sizes`: names of the extents that stay open."""
    import torch

    program = torch.export.export(network.eval(), (example,), dynamic_shapes=(sizes,) if sizes else None)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # paths of this machine
    file = io.BytesIO()
    torch.export.save(program, file)
    return file.getvalue()


def write_torch_program_of_sizes():
    """Attention over sequences of any number and length, and what torch computes of two examples."""
    import torch
    from torch import nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
            self.register_buffer("places", torch.randn(1, 16, 8))

        def forward(self, x):
            batch, length, width = x.shape
            parts = self.heads(x + self.places[:, :length]).split(width, dim=2)
            q, k, v = (part.view(batch, length, 2, 4).transpose(1, 2) for part in parts)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            y = y.transpose(1, 2).reshape(batch * length, width)
            return nn.functional.relu_(self.out(y)).view(batch, length, width), y.mean(0)

    torch.manual_seed(20)
    network = Attention()
    sizes = {0: torch.export.Dim("batch", min=1, max=64), 1: torch.export.Dim("length", min=2, max=16)}
    inputs = [torch.randn(2, 5, 8), torch.randn(3, 16, 8)]
    archive = exported(network, inputs[0], sizes)
    with torch.no_grad():
        runs = [{"input": described(x.numpy()), "outputs": [described(y.numpy()) for y in network(x)]} for x in inputs]
    write("sizes.pt2", archive, {"runs": runs})


def main():
    for make in (write_safetensors, write_onnx_files, write_torch_files, write_torch_program_of_sizes):
        try:
            make()
        except ModuleNotFoundError as error:
            print(f"{make.__name__}: {error}; its files stay as they are")
    print(f"{sum(f.stat().st_size for f in FOLDER.iterdir())} bytes in {FOLDER}")


if __name__ == "__main__":
    main()
