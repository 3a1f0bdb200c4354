"""DALI's operators on arrays of any kind: casts, shapes, joins, encodings and functions of Python."""

from __future__ import annotations

import math

import numpy as _np

from ... import _core, image
from ...errors import TypeError, ValueError
from .nodes import PICTURE_DTYPES, DataNode, Operation, ScalarConstant, constant_of, device_of, function_node
from .operators import normal_numbers, operator, picture
from .types import UnsupportedError, dtype_of

_FLOAT = _np.dtype("float32")


def converted(x, dtype):
    """Values in another dtype: integers are rounded, ties away from zero, and saturate; NaN becomes 0."""
    if dtype.kind == "b":
        return x != 0
    if dtype.kind == "f":
        with _np.errstate(over="ignore"):
            return x.astype(dtype)
    limits = _np.iinfo(dtype)
    if x.dtype.kind == "f":
        exact = x.astype(_np.float64)
        whole = _np.nan_to_num(_np.copysign(_np.floor(_np.abs(exact) + 0.5), exact), posinf=math.inf, neginf=-math.inf)
        highest = _np.nextafter(float(limits.max) + 1, 0) if limits.max > 2**53 else float(limits.max)
        return _np.clip(whole, float(limits.min), highest).astype(dtype)
    if x.dtype.kind == "b":
        return x.astype(dtype)
    own = _np.iinfo(x.dtype)
    return _np.clip(x, max(own.min, limits.min), min(own.max, limits.max)).astype(dtype)


def cast_node(node: DataNode, dtype, device=None) -> DataNode:
    """The value in another dtype."""
    if node.is_picture and dtype in PICTURE_DTYPES:
        return picture("cast", node, lambda info, own: [image.Cast(dtype.name)], dtype=dtype, device=device)
    return function_node(
        "cast", lambda x: converted(x, dtype), [node], dtype=dtype, layout=node.layout,
        picture=node.is_picture and dtype in PICTURE_DTYPES, device=device,
    )  # fmt: skip


@operator("cast")
def cast(node, *, dtype, device=None):
    """Another dtype. Integers are rounded and saturate."""
    dtype = dtype_of(dtype, "cast")
    if dtype is None:
        raise TypeError("cast: dtype is missing")
    return cast_node(node, dtype, device)


@operator("cast_like")
def cast_like(node, other, *, device=None):
    """The dtype of another value."""
    if other.dtype is not None:
        return cast_node(node, other.dtype, device)
    return function_node("cast_like", lambda x, y: converted(x, y.dtype), [node, other], layout=node.layout)


@operator("copy")
def copy(node, *, device=None):
    """The value itself: values do not change."""
    return node.gpu() if device == "gpu" else node


def constant_node(value, dtype=None, layout="", device=None) -> DataNode:
    """An array that is the same for all samples."""
    array = _np.array(value)
    if dtype is None and array.dtype == _np.float64:
        dtype = _FLOAT
    elif dtype is None and array.dtype == _np.int64 and not isinstance(value, _np.ndarray):
        dtype = _np.dtype("int32")
    array = array if dtype is None else array.astype(dtype)

    def emit(lowering, inputs):
        return [lowering.add(_core._pipeline.constant(array), [])]

    is_picture = "HW" in (layout or "") and array.dtype in PICTURE_DTYPES
    operation = Operation("constant", [], emit)
    return DataNode(operation, device=device or "cpu", layout=layout or "", dtype=array.dtype, picture=is_picture)


@operator("constant")
def constant(*, fdata=None, idata=None, shape=None, dtype=None, layout="", device=None):
    """An array of the numbers `fdata` or `idata`, in `shape`."""
    if (fdata is None) == (idata is None):
        raise ValueError("constant: give fdata or idata")
    numbers = _np.asarray(fdata if idata is None else idata, _np.float32 if idata is None else _np.int32)
    numbers = numbers.ravel()
    if shape is not None:
        size = math.prod(shape)
        numbers = _np.broadcast_to(numbers, (size,)) if numbers.size == 1 else numbers
        numbers = numbers.reshape(shape)
    return constant_node(numbers, dtype_of(dtype, "constant"), layout, device)


def Constant(value, dtype=None, shape=None, layout=None, device=None, **arguments):
    """A number (types.Constant(3).uint8() has another dtype) or an array that is the same for all samples."""
    if arguments:
        raise TypeError(f"Constant: there is no argument {next(iter(arguments))!r}")
    if isinstance(value, (bool, int, float)) and shape is None and layout is None and device is None:
        return ScalarConstant(value, dtype)
    array = value if shape is None else _np.broadcast_to(_np.asarray(value), shape)
    return constant_node(array, dtype_of(dtype, "Constant"), layout or "", device)


def _filled(name: str, value):
    @operator(name)
    def fill(*, shape=(), dtype=None, layout="", device=None):
        return constant_node(_np.full(shape, value), dtype_of(dtype, name) or _np.dtype("int32"), layout, device)

    fill.__doc__ = f"An array of {value}s, int32 by default."
    return fill


zeros, ones = _filled("zeros", 0), _filled("ones", 1)


@operator("shapes")
def shapes(node, *, dtype=None, device=None):
    """The shape of each sample."""
    return node.shape(dtype=dtype)


@operator("cat")
def cat(*nodes, axis=0, axis_name=None, device=None):
    """Joins values along an axis that they have."""
    place = nodes[0].layout.index(axis_name) if axis_name else axis
    return _joined("cat", lambda *arrays: _np.concatenate(arrays, place), nodes, nodes[0].layout, device)


@operator("stack")
def stack(*nodes, axis=0, axis_name=None, device=None):
    """Joins values along a new axis."""
    layout = nodes[0].layout
    place = axis if axis >= 0 else len(layout) + 1 + axis
    named = layout[:place] + axis_name + layout[place:] if axis_name and layout else ""
    return _joined("stack", lambda *arrays: _np.stack(arrays, axis), nodes, named, device)


def _joined(name: str, call, nodes, layout: str, device) -> DataNode:
    dtypes = {node.dtype for node in nodes}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return function_node(name, call, list(nodes), dtype=dtype, layout=layout, device=device)


@operator("reshape", "src_dims")
def reshape(node, *, shape=None, rel_shape=None, layout=None, device=None):
    """Other axes for the same numbers; -1 is what remains. rel_shape counts in extents of the input."""
    if (shape is None) == (rel_shape is None):
        if layout is not None and shape is None:
            made = node.cpu() if node.device == "cpu" else node.gpu()
            made.layout = layout
            return made
        raise ValueError("reshape: give shape or rel_shape")
    named = layout if layout is not None else ""
    if isinstance(shape, DataNode):
        return function_node(
            "reshape", lambda x, to: x.reshape(to.astype(int).tolist()), [node, shape], dtype=node.dtype, layout=named
        )

    def call(x):
        if shape is not None:
            return x.reshape([int(each) for each in shape])
        to = [-1 if each < 0 else int(each * x.shape[k] + 0.5) for k, each in enumerate(rel_shape)]
        return x.reshape(to)

    return function_node("reshape", call, [node], dtype=node.dtype, layout=named, device=device)


@operator("squeeze")
def squeeze(node, *, axes=None, axis_names=None, device=None):
    """Removes axes of one element."""
    places = _axes(node, axes, axis_names, "squeeze")
    layout = "".join(each for k, each in enumerate(node.layout) if k not in places)
    return function_node(
        "squeeze", lambda x: _np.squeeze(x, tuple(places)), [node], dtype=node.dtype, layout=layout, device=device
    )


@operator("expand_dims")
def expand_dims(node, *, axes, new_axis_names=None, device=None):
    """Adds axes of one element at these places of the result."""
    places = [int(each) for each in (axes if _np.ndim(axes) else [axes])]
    return function_node("expand_dims", lambda x: _np.expand_dims(x, places), [node], dtype=node.dtype, device=device)


def _axes(node, axes, axis_names, function: str):
    """Places of axes given by number or by name, or None."""
    if axes is not None and axis_names is not None:
        raise ValueError(f"{function}: give axes or axis_names")
    if axis_names is not None:
        if not node.layout:
            raise ValueError(f"{function}: axis_names need a layout, which the input does not have")
        return [node.layout.index(each) for each in axis_names]
    return None if axes is None else [int(each) for each in (axes if _np.ndim(axes) else [axes])]


@operator("one_hot")
def one_hot(node, *, num_classes=0, axis=-1, axis_name=None, on_value=1.0, off_value=0.0, dtype=_FLOAT, device=None):
    """A new axis of num_classes elements: on_value at the class, off_value elsewhere. One class without its own axis
    gives one axis."""
    dtype = dtype_of(dtype, "one_hot")
    count = int(constant_of(num_classes, "one_hot"))
    if count < 1:
        raise ValueError(f"one_hot: num_classes is at least 1, not {count}")
    on, off = (converted(_np.asarray(float(each)), dtype) for each in (on_value, off_value))

    def call(x):
        classes = x.reshape(()) if x.size == 1 and axis == -1 else x
        numbers = _np.arange(count).reshape([count] + [1] * (classes.ndim - (axis % (classes.ndim + 1))))
        hits = _np.expand_dims(classes, axis % (classes.ndim + 1)) == numbers
        return _np.where(hits, on, off)

    return function_node("one_hot", call, [node], dtype=dtype, device=device)


@operator("normalize")
def normalize(
    node, *, mean=None, stddev=None, axes=None, axis_names=None, scale=1.0, shift=0.0, ddof=0, epsilon=0.0, batch=False,
    dtype=_FLOAT, device=None,
):  # fmt: skip
    """scale * (x - mean) / stddev + shift. Without them, mean and deviation are those of the sample along the axes, or
    with batch=True of all samples of the batch: such a value can only be an output of the pipeline."""
    dtype = dtype_of(dtype, "normalize")
    places = _axes(node, axes, axis_names, "normalize")
    by_channel = _channel_numbers(node, mean, stddev, dtype)
    if by_channel is not None:
        means, deviations = normal_numbers("normalize", by_channel[0], by_channel[1], float(scale), float(shift))
        return picture("normalize", node, lambda info, own: [image.Normalize(means, deviations)], dtype=dtype)
    inputs = [node, *(each for each in (mean, stddev) if isinstance(each, DataNode))]
    over = None if places is None else tuple(places)

    def normalized(samples, middle, deviation):
        samples = [x.astype(_np.float64) for x in samples]
        middle, deviation = _moments(samples, middle, deviation, over, ddof, epsilon)
        return [converted((scale * (x - middle) / deviation + shift).astype(_np.float32), dtype) for x in samples]

    if constant_of(batch, "normalize") and (mean is None or stddev is None):
        if len(inputs) > 1:
            raise UnsupportedError("normalize: with batch=True, mean and stddev are the same for all samples")
        return batch_node("normalize", node, lambda samples: normalized(samples, mean, stddev), dtype, device)

    def call(x, *given):
        rest = iter(given)
        middle, deviation = (next(rest) if isinstance(each, DataNode) else each for each in (mean, stddev))
        return normalized([x], middle, deviation)[0]

    is_picture = node.is_picture and dtype in PICTURE_DTYPES
    return function_node("normalize", call, inputs, dtype=dtype, layout=node.layout, picture=is_picture, device=device)


def _moments(samples, mean, deviation, over, ddof: int, epsilon: float) -> tuple:
    """The mean and deviation of samples along axes, where they are not given. Raises ValueError for samples whose other
    extents differ."""
    count = sum(math.prod(x.shape if over is None else [x.shape[k] for k in over]) for x in samples)
    if mean is None:
        sums = [x.sum(over, keepdims=True) for x in samples]
        if len({each.shape for each in sums}) > 1:
            shapes = [x.shape for x in samples]
            raise ValueError(f"normalize: the samples have unlike extents along the axes that stay: {shapes}")
        mean = sum(sums) / count
    if deviation is None:
        squares = sum(((x - mean) ** 2).sum(over, keepdims=True) for x in samples)
        return mean, _np.sqrt(squares / (count - ddof) + epsilon)
    deviation = _np.asarray(deviation, float)
    return mean, _np.sqrt(deviation**2 + epsilon) if epsilon else deviation


def batch_node(name: str, node: DataNode, step, dtype, device) -> DataNode:
    """An output that `step` makes of all samples of a batch."""
    operation = Operation(name, [node], lambda lowering, inputs: inputs)
    made = DataNode(operation, device=device_of([node], device), layout=node.layout, dtype=dtype)
    made.batch_step = step
    return made


def _channel_numbers(node, mean, stddev, dtype):
    """(mean, stddev) as numbers for the channels of a picture, where they are constants of such shapes."""
    if not node.is_picture or node.layout != "HWC" or dtype != _FLOAT:
        return None
    made = []
    for each in (mean, stddev):
        if each is None or isinstance(each, DataNode):
            return None
        array = _np.asarray(constant_of(each, "normalize"), _np.float64)
        if array.size != 1 and array.shape[:-1] != (1, 1):
            return None
        made.append(array.ravel().tolist())
    return made


@operator("pad")
def pad(node, *, fill_value=0.0, axes=None, axis_names=None, align=None, shape=None, device=None):
    """Extends axes at their ends to `shape` and to multiples of `align`. Without a shape (or with -1) the extent is
    the largest of the batch: such a value can only be an output of the pipeline."""
    places = _axes(node, axes, axis_names, "pad")
    fill = constant_of(fill_value, "pad")
    for name, each in (("shape", shape), ("align", align)):
        if isinstance(each, DataNode):
            raise UnsupportedError(f"pad: {name} is the same for all samples; it is no DataNode")

    def target(extents, largest):
        numbers = [k % len(extents) for k in (range(len(extents)) if places is None else places)]
        least = [-1] * len(numbers) if shape is None else list(_np.broadcast_to(shape, (len(numbers),)))
        steps = [1] * len(numbers) if align is None else list(_np.broadcast_to(align, (len(numbers),)))
        result = list(extents)
        for k, want, step in zip(numbers, least, steps, strict=True):
            extent = max(extents[k], largest[k] if want < 0 else want)
            result[k] = -(-extent // step) * step
        return result

    def padded(x, largest):
        widths = [(0, want - have) for want, have in zip(target(x.shape, largest), x.shape, strict=True)]
        return _np.pad(x, widths, constant_values=fill) if any(end for _, end in widths) else x

    if shape is not None and _np.min(shape) >= 0:
        return function_node(
            "pad", lambda x: padded(x, x.shape), [node], dtype=node.dtype, layout=node.layout,
            picture=node.is_picture, device=device,
        )  # fmt: skip

    def batch_step(samples):
        largest = [max(each) for each in zip(*(x.shape for x in samples), strict=True)]
        return [padded(x, largest) for x in samples]

    return batch_node("pad", node, batch_step, node.dtype, device)


@operator("python_function")
def python_function(*nodes, function, num_outputs=1, output_layouts=None, batch_processing=False, device=None):
    """function(*arrays) with each sample's NumPy arrays, which gives an array, or a tuple of num_outputs. It may be
    called by several threads at a time."""
    if batch_processing:
        raise UnsupportedError("python_function: batch_processing=True is not there; the function gets single samples")
    if not callable(function):
        raise TypeError(f"python_function: function is called with arrays; {type(function).__name__} cannot be called")
    count = int(num_outputs)

    def call(*arrays):
        result = function(*arrays)
        if count <= 1 and not isinstance(result, tuple):
            return result if count else _np.zeros(0)
        if not isinstance(result, tuple) or len(result) != count:
            given = len(result) if isinstance(result, tuple) else 1
            raise ValueError(f"python_function: {function!r} gave {given} outputs, not {count}")
        return result if count > 1 else result[0]

    name = getattr(function, "__name__", "python_function")
    layouts = [output_layouts] * count if isinstance(output_layouts, str) else list(output_layouts or [])
    layouts += [""] * (count - len(layouts))
    operation = Operation(
        "python_function", nodes, lambda lowering, inputs: lowering.function(name, call, inputs, max(count, 1))
    )
    made = [DataNode(operation, k, device=device_of(nodes, device), layout=layouts[k]) for k in range(count)]
    return made[0] if count == 1 else made
