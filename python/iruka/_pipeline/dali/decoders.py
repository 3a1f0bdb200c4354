"""DALI's decoders of pictures."""

from __future__ import annotations

import numpy as _np

from ... import image
from ...errors import TypeError
from .geometry import _policy, crop_size, cropped, position_of
from .nodes import DataNode, Operation, device_of, function_node
from .operators import operator, pair, picture
from .types import DALIImageType, UnsupportedError, dtype_of

_MODES = {
    DALIImageType.RGB: "rgb",
    DALIImageType.BGR: "bgr",
    DALIImageType.GRAY: "gray",
    DALIImageType.YCbCr: "ycbcr",
    DALIImageType.ANY_DATA: "unchanged",
}
_UINT8 = _np.dtype("uint8")


def with_channel(node: DataNode) -> DataNode:
    """A grey picture of two axes with one more, of one channel, as DALI has it."""
    return picture("channel", node, lambda info, values: [image.ColorMatrix([[1.0]])], device=node.device)


def _with_channel_if_flat(node: DataNode) -> DataNode:
    """The same for pictures that may have several channels."""
    made = function_node(
        "channel", lambda x: x if x.ndim == 3 else x[..., None], [node], dtype=node.dtype, layout="HWC", picture=True
    )
    made.device = node.device
    return made


def decoded(function: str, node, output_type, dtype, adjust_orientation, device) -> tuple[DataNode, str]:
    """The picture in a file's bytes, and the decoder's mode. Grey ones have two axes."""
    try:
        mode = _MODES[output_type]
    except KeyError:
        raise TypeError(f"{function}: output_type is a name of iruka.types, such as types.RGB, not {output_type!r}"
                        ) from None  # fmt: skip
    dtype = dtype_of(dtype, function) or _UINT8
    if dtype.name not in ("uint8", "uint16"):
        raise UnsupportedError(f"{function}: dtype is UINT8 or UINT16, not {dtype}; fn.cast or arithmetic make floats")
    options = image._options(mode, None, bool(adjust_orientation), dtype.name, None, None, None, None, None)

    def emit(lowering, inputs):
        return [lowering.add(lowering.core.decode(options), inputs)]

    operation = Operation(function, [node], emit)
    made = DataNode(operation, device=device_of([node], device), layout="HWC", dtype=dtype, picture=True)
    return made, mode


def _finished(made: DataNode, mode: str) -> DataNode:
    if mode == "unchanged":
        return _with_channel_if_flat(made)
    return with_channel(made) if mode == "gray" else made


@operator("decoders.image")
def image_decoder(node, *, output_type=DALIImageType.RGB, dtype=None, adjust_orientation=True, device=None):
    """Decodes a file's bytes: JPEG, PNG, WebP, TIFF, BMP, GIF or PNM. device='mixed' gives pictures on the GPU."""
    return _finished(*decoded("decoders.image", node, output_type, dtype, adjust_orientation, device))


@operator("decoders.image_crop", "crop_d crop_pos_z")
def image_decoder_crop(
    node, *, crop=None, crop_h=0, crop_w=0, crop_pos_x=0.5, crop_pos_y=0.5, rounding="round",
    output_type=DALIImageType.RGB, dtype=None, adjust_orientation=True, device=None,
):  # fmt: skip
    """Decodes the window of a picture that fn.crop would cut out."""
    name = "decoders.image_crop"
    made, mode = decoded(name, node, output_type, dtype, adjust_orientation, device)
    sizes = crop_size(name, crop, crop_h, crop_w)
    if sizes is not None:
        position = position_of(name, crop_pos_x, crop_pos_y)
        made = cropped(name, made, sizes, position, rounding, _policy(name, "error", rounding), 0.0, device)
    return _finished(made, mode)


@operator("decoders.image_random_crop")
def image_decoder_random_crop(
    node, *, random_area=(0.08, 1.0), random_aspect_ratio=(3 / 4, 4 / 3), num_attempts=10,
    output_type=DALIImageType.RGB, dtype=None, adjust_orientation=True, device=None,
):  # fmt: skip
    """Decodes a part of random area and proportions."""
    name = "decoders.image_random_crop"
    whole, mode = decoded(name, node, output_type, dtype, adjust_orientation, device)
    area, ratio = pair(random_area, name, "random_area"), pair(random_aspect_ratio, name, "random_aspect_ratio")

    def emit(lowering, inputs):
        return [lowering.add(lowering.core.random_resized_crop(None, area, ratio, int(num_attempts), "HWC"), inputs)]

    operation = Operation(name, [whole], emit)
    made = DataNode(operation, device=whole.device, layout="HWC", dtype=whole.dtype, picture=True)
    return _finished(made, mode)
