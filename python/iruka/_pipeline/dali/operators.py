"""How an operator is declared, and operators on pictures: stages of image, whose numbers may differ from sample to
sample."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import NamedTuple

import numpy as _np

from ... import image
from ...errors import TypeError, ValueError
from ..checks import number, pair as checked_pair
from .nodes import PICTURE_DTYPES, DataNode, Operation, ScalarConstant, constant_of, device_of
from .types import UnsupportedError

#: The operators by their names in fn: "resize", "random.uniform".
OPERATORS: dict[str, Callable] = {}

# What every operator of DALI takes and which changes nothing here: hints for its memory and threads.
_HINTS = frozenset(
    "bytes_per_sample_hint preserve temp_buffer_hint minibatch_size host_memory_padding "
    "device_memory_padding device_memory_padding_jpeg2k host_memory_padding_jpeg2k hw_decoder_load "
    "hybrid_huffman_threshold cache_size cache_threshold cache_type cache_debug cache_batch_copy split_stages "
    "memory_stats preallocate_height_hint preallocate_width_hint affine use_fast_idct jpeg_fancy_upsampling "
    "use_chunk_allocator save_attrs transpose_layout tensor_init_bytes prefetch_queue_depth read_ahead lazy_init "
    "dont_use_mmap skip_cached_images default_cuda_stream_priority".split()
)


def operator(name: str, unsupported: str = ""):
    """Declares an operator of fn. The function takes nodes first and arguments by keyword. It may take `device`, `seed`
    and `name`; where it does not, these are accepted and left out. A list of nodes in the place of one gives a list of
    results. `unsupported` names arguments of DALI that are refused."""
    refused = frozenset(unsupported.split())

    def declare(function):
        parameters = inspect.signature(function).parameters
        known = {key for key, each in parameters.items() if each.kind is each.KEYWORD_ONLY}

        @functools.wraps(function)
        def call(*inputs, **arguments):
            if "output_dtype" in arguments and "dtype" in known:
                arguments.setdefault("dtype", arguments.pop("output_dtype"))
            for key in [key for key in arguments if key not in known]:
                if key in refused:
                    raise UnsupportedError(f"{name}: DALI's argument {key!r} is not there")
                if key in _HINTS or key in ("device", "seed", "name"):
                    del arguments[key]
                else:
                    raise TypeError(f"{name}: there is no argument {key!r}; there are {', '.join(sorted(known))}")
            check_device(name, arguments.get("device"))
            if any(isinstance(each, (list, tuple)) for each in inputs):
                count = max(len(each) for each in inputs if isinstance(each, (list, tuple)))
                rows = [each if isinstance(each, (list, tuple)) else [each] * count for each in inputs]
                return [function(*each, **arguments) for each in zip(*rows, strict=True)]
            for each in inputs:
                if not isinstance(each, (DataNode, ScalarConstant)):
                    raise TypeError(f"{name}: an input is a DataNode, not {type(each).__name__}")
            return function(*inputs, **arguments)

        OPERATORS[name] = call
        return call

    return declare


def check_device(name: str, device) -> None:
    """Raises ValueError for a device that DALI does not have."""
    if device not in (None, "cpu", "gpu", "mixed"):
        raise ValueError(f"{name}: device is 'cpu', 'gpu' or 'mixed', not {device!r}")


class PictureInfo(NamedTuple):
    """What a picture's array is like."""

    height: int
    width: int
    channels: int
    dtype: _np.dtype


def info_of(array, layout: str) -> PictureInfo:
    """Raises ValueError for an array that is no picture."""
    shape = array.shape
    if len(shape) not in (2, 3):
        raise ValueError(f"a picture has the axes {layout}, not shape {tuple(shape)}")
    rows, columns = (shape[-2], shape[-1]) if layout == "CHW" and len(shape) == 3 else (shape[0], shape[1])
    channels = 1 if len(shape) == 2 else shape[0 if layout == "CHW" else 2]
    return PictureInfo(int(rows), int(columns), int(channels), _np.dtype(str(array.dtype)))


def picture_layout(node: DataNode, function: str) -> str:
    """'HWC' or 'CHW'. Raises UnsupportedError for sequences and volumes."""
    layout = node.layout or "HWC"
    if layout not in ("HWC", "CHW", "HW"):
        raise UnsupportedError(f"{function}: pictures have the layout HWC or CHW, not {layout!r}")
    return "CHW" if layout == "CHW" else "HWC"


def picture(
    name: str,
    node: DataNode,
    build: Callable,
    values: dict | None = None,
    bindings: dict | None = None,
    *,
    needs_info: bool = False,
    needs_dtype: bool = False,
    dtype=None,
    layout: str | None = None,
    device: str | None = None,
) -> DataNode:
    """A picture behind stages of image.

    build(info, values) gives the stages. values: numbers, or nodes of one number in each sample; bindings: for the
    values that a stage takes, the (stage number, field, element) that they set. Where all nodes among the values are
    bound, and the stages depend neither on the picture's size (needs_info) nor on a dtype that is not known
    (needs_dtype), the core applies them; otherwise they are made for each sample by Python. dtype, layout: of the
    result, as of the picture by default.
    """
    values, bindings = dict(values or {}), bindings or {}
    values = {key: each.value if isinstance(each, ScalarConstant) else each for key, each in values.items()}
    moving = {key: each for key, each in values.items() if isinstance(each, DataNode)}
    axes = picture_layout(node, name)
    result_dtype = node.dtype if dtype is None else dtype
    is_static = node.is_picture and set(moving) <= set(bindings) and not needs_info
    if is_static and not (needs_dtype and node.dtype is None):
        operation = _stages(name, node, build, values, moving, bindings, axes)
    else:
        operation = _per_sample(name, node, build, values, moving, axes)
    is_picture = result_dtype is None or result_dtype in PICTURE_DTYPES
    made = DataNode(
        operation,
        device=device_of([node], device),
        layout=layout or (axes if node.layout != "HW" else "HW"),
        dtype=result_dtype,
        picture=is_picture,
    )
    made.is_flat = operation.takes_flat and node.is_flat
    return made


def _stages(name, node, build, values, moving, bindings, axes) -> Operation:
    info = PictureInfo(0, 0, 0, node.dtype)
    stages = [stage._fields() for stage in build(info, {key: 1 if key in moving else values[key] for key in values})]

    def emit(lowering, numbers):
        bound: list = []
        inputs = [numbers[0]]
        for key, each in moving.items():
            parameter = ("input", len(inputs))
            inputs.append(lowering.number(each))
            bound.extend((*place, parameter) for place in bindings[key])
        return [lowering.add(lowering.core.stages(stages, bound, axes), inputs)]

    return flat_taking(name, [node, *moving.values()], emit)


def flat_taking(name: str, inputs, emit) -> Operation:
    """An operation of the core on pictures, which may have two axes."""
    operation = Operation(name, inputs, emit)
    operation.takes_flat = True
    return operation


def _per_sample(name, node, build, values, moving, axes) -> Operation:
    def call(array, *numbers):
        given = (each.item() if each.size == 1 else each.ravel().tolist() for each in numbers)
        own = dict(values, **dict(zip(moving, given, strict=True)))
        return image.Chain(build(info_of(array, axes), own), axes)(array)

    def emit(lowering, inputs):
        numbers = [lowering.number(each) for each in moving.values()]
        return lowering.function(name, call, [inputs[0], *numbers])

    return Operation(name, [node, *moving.values()], emit)


def size_of(given, name: str, count: int = 2) -> list:
    """The numbers of a size: a number, a list, or a node of `count` elements."""
    if isinstance(given, DataNode):
        return [given[k] for k in range(count)]
    given = constant_of(given, name)
    numbers = list(given) if _np.ndim(given) else [given] * count
    if len(numbers) != count:
        raise ValueError(f"{name}: a size has {count} numbers (height, width), not {given!r}")
    numbers = [each if isinstance(each, DataNode) else constant_of(each, name) for each in numbers]
    for each in numbers:
        if not isinstance(each, DataNode):
            number(each, f"{name}: an extent of a size")
    return numbers


def pair(given, name: str, argument: str) -> tuple[float, float]:
    """Two numbers, the same for all samples."""
    given = constant_of(given, name)
    return checked_pair(given if _np.ndim(given) else (given, given), f"{name}: {argument}")


def normal_numbers(function: str, mean, std, scale: float, shift: float) -> tuple[list, list]:
    """The mean and deviation whose (x - mean) / deviation is scale * (x - mean) / std + shift."""
    mean, std = (_np.ravel(_np.asarray(each, _np.float64)) for each in (mean, std))
    if _np.any(std == 0):
        raise ValueError(f"{function}: the standard deviation must not be 0")
    deviation = std / scale
    return (mean - shift * deviation).tolist(), deviation.tolist()
