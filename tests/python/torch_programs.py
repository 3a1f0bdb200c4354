"""Writes archives as torch.export.save() does, from the schema that torch documents (torch/_export/serde/schema.py)."""

import io
import json
import zipfile

import numpy as np

import iruka
from iruka import nn

SCALAR_TYPES = dict(uint8=1, int8=2, int16=3, int32=4, int64=5, float16=6, float32=7, float64=8, complex64=10)
SCALAR_TYPES |= dict(complex128=11, bool=12, bfloat16=13, uint16=28)


class Value(str):
    """The name of a tensor of the program."""


class Size(str):
    """The name of a size that is known in a run alone."""


def size_of(extent):
    """An extent, or the name of one that is known in a run alone, as SymPy writes it."""
    if isinstance(extent, (int, np.integer)):
        return {"as_int": int(extent)}
    text = f"Symbol('{extent}', positive=True, integer=True)" if extent.isidentifier() else extent
    return {"as_expr": {"expr_str": text, "hint": {"as_int": 2}}}


def meta_of(shape, dtype, strides=None, offset=0):
    strides = strides or [int(np.prod([e for e in shape[k + 1 :] if isinstance(e, int)])) for k in range(len(shape))]
    return {
        "dtype": SCALAR_TYPES[np.dtype(dtype).name],
        "sizes": [size_of(extent) for extent in shape],
        "requires_grad": False,
        "device": {"type": "cpu", "index": None},
        "strides": [{"as_int": stride} for stride in strides],
        "storage_offset": {"as_int": offset},
        "layout": 7,
    }


def argument_of(value):
    """What torch makes of an argument: its kind says its type."""
    if value is None:
        return {"as_none": True}
    if isinstance(value, Value):
        return {"as_tensor": {"name": value}}
    if isinstance(value, Size):
        return {"as_sym_int": {"as_name": value}}
    if isinstance(value, bool):
        return {"as_bool": value}
    if isinstance(value, int):
        return {"as_int": value}
    if isinstance(value, float):
        return {"as_float": value if np.isfinite(value) else {"inf": "Infinity", "-inf": "-Infinity"}[str(value)]}
    if isinstance(value, str):
        return {"as_string": value}
    if isinstance(value, np.dtype):
        return {"as_scalar_type": SCALAR_TYPES[value.name]}
    if any(isinstance(item, Value) for item in value):
        if None not in value:
            return {"as_tensors": [{"name": item} for item in value]}
        return {"as_optional_tensors": [argument_of(item) for item in value]}
    if any(isinstance(item, Size) for item in value):
        return {"as_sym_ints": [{"as_name": i} if isinstance(i, Size) else {"as_int": i} for i in value]}
    return {"as_floats" if any(isinstance(item, float) for item in value) else "as_ints": list(value)}


class Program:
    """A program in the making. What is set beside the methods makes it wrong."""

    def __init__(self):
        self.inputs, self.outputs, self.nodes, self.tensors = [], [], [], {}
        self.weights, self.payloads, self.constants = {}, {}, {}
        self.version = {"major": 8, "minor": 17}
        self.format = b"pt2"
        self.entries = {}

    def tensor(self, name, shape, dtype):
        self.tensors[name] = meta_of(shape, dtype)
        return Value(name)

    def input(self, name, shape, dtype=np.float32):
        self.inputs.append({"user_input": {"arg": {"as_tensor": {"name": name}}}})
        return self.tensor(name, shape, dtype)

    def weight(self, full_name, array, kind="parameter"):
        array = np.asarray(array)
        place = f"weight_{len(self.payloads)}"
        self.payloads[f"data/weights/{place}"] = array.tobytes()
        config = {"path_name": place, "is_param": kind == "parameter", "use_pickle": False}
        self.weights[full_name] = config | {"tensor_meta": meta_of(array.shape, array.dtype)}
        return self.weight_input(full_name, array.shape, array.dtype, kind)

    def weight_input(self, full_name, shape, dtype, kind="parameter"):
        name = "p_" + full_name.replace(".", "_")
        self.inputs.append({kind: {"arg": {"name": name}, f"{kind}_name": full_name}})
        return self.tensor(name, shape, dtype)

    def node(self, target, arguments, *results, is_list=False):
        """`results`: shape and dtype of each, or None for a size. Returns their names."""
        names = []
        for result in results:
            name = f"v{len(self.nodes)}_{len(names)}"
            names.append(Size(name) if result is None else self.tensor(name, *result))
        outputs = [{"as_tensors": [{"name": name} for name in names]}] if is_list else [argument_of(n) for n in names]
        inputs = [{"name": key, "arg": argument_of(value), "kind": 1} for key, value in arguments.items()]
        prefix = "" if target.startswith("_operator.") else "torch.ops.aten."
        self.nodes.append({"target": prefix + target, "inputs": inputs, "outputs": outputs, "metadata": {}})
        self.nodes[-1]["name"] = names[0] if names else None
        return names[0] if len(names) == 1 else names

    def output(self, *values):
        for value in values:
            self.outputs.append({"user_output": {"arg": argument_of(value)}})

    def document(self):
        graph = {"inputs": [], "outputs": [], "nodes": self.nodes, "tensor_values": self.tensors}
        graph |= {"sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": False}
        signature = {"input_specs": self.inputs, "output_specs": self.outputs}
        module = {"graph": graph, "signature": signature, "module_call_graph": [], "metadata": {}}
        return {"graph_module": module, "opset_version": {"aten": 10}, "schema_version": self.version}

    def save(self):
        files = {
            "archive_format": self.format,
            "byteorder": b"little",
            "models/model.json": json.dumps(self.document()).encode(),
            "data/weights/model_weights_config.json": json.dumps({"config": self.weights}).encode(),
            "data/constants/model_constants_config.json": json.dumps({"config": self.constants}).encode(),
        }
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in (files | self.payloads | self.entries).items():
                if data is not None:
                    archive.writestr("archive/" + name, data)
        return file.getvalue()


def program_of(target, arguments, results, is_list=False):
    """A program of one node; arrays among the arguments are inputs of it. Also gives the inputs."""
    program, arrays = Program(), {}

    def named(value):
        if isinstance(value, np.ndarray):
            name = f"x{len(arrays)}"
            arrays[name] = value
            return program.input(name, value.shape, value.dtype)
        if isinstance(value, list):
            return [named(item) for item in value]
        return value

    given = {key: named(value) for key, value in arguments.items()}
    names = program.node(target, given, *((r.shape, r.dtype) for r in results), is_list=is_list)
    program.output(*(names if isinstance(names, list) else [names]))
    return program.save(), arrays


def check(data, arrays, wanted):
    got = nn.load(data, device="cpu")(**arrays)
    got = [iruka.asnumpy(x) for x in (got if isinstance(got, tuple) else (got,))]
    assert len(got) == len(wanted)
    for one, want in zip(got, wanted):
        assert one.dtype == want.dtype and one.shape == want.shape
        if np.issubdtype(want.dtype, np.inexact):
            np.testing.assert_allclose(one, want, rtol=1e-5, atol=1e-5 * max(np.abs(want).max(initial=0), 1e-30))
        else:
            np.testing.assert_array_equal(one, want)
