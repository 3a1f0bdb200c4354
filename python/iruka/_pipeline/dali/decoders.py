"""DALI's decoders of pictures."""

from __future__ import annotations

import numpy as _np

from ... import image
from ...errors import TypeError
from .colors import TO_YCBCR
from .geometry import _policy, crop_size, cropped, position_of
from .nodes import DataNode, Operation, device_of
from .operators import flat_taking, operator, pair, picture
from .types import DALIImageType, UnsupportedError, dtype_of

_MODES = {
    DALIImageType.RGB: "rgb",
    DALIImageType.BGR: "bgr",
    DALIImageType.GRAY: "gray",
    DALIImageType.YCbCr: "rgb",
    DALIImageType.ANY_DATA: "unchanged",
}
_UINT8 = _np.dtype("uint8")


def decoded(function: str, node, output_type, dtype, adjust_orientation, device) -> DataNode:
    """The picture in a file's bytes, in RGB where YCbCr is asked for."""
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
    made.is_flat = mode in ("gray", "unchanged")
    return made


def in_space(node: DataNode, output_type) -> DataNode:
    """A decoded picture in the colours that were asked for."""
    if output_type != DALIImageType.YCbCr:
        return node
    matrix, offset = TO_YCBCR
    return picture("decode", node, lambda info, values: [image.ColorMatrix(matrix, offset)], device=node.device)


@operator("decoders.image")
def image_decoder(node, *, output_type=DALIImageType.RGB, dtype=None, adjust_orientation=True, device=None):
    """Decodes a file's bytes: JPEG, PNG, WebP, TIFF, BMP, GIF or PNM. device='mixed' gives pictures on the GPU."""
    return in_space(decoded("decoders.image", node, output_type, dtype, adjust_orientation, device), output_type)


@operator("decoders.image_crop", "crop_d crop_pos_z")
def image_decoder_crop(
    node, *, crop=None, crop_h=None, crop_w=None, crop_pos_x=0.5, crop_pos_y=0.5, rounding="round",
    output_type=DALIImageType.RGB, dtype=None, adjust_orientation=True, device=None,
):  # fmt: skip
    """Decodes the window of a picture that fn.crop would cut out."""
    name = "decoders.image_crop"
    made = decoded(name, node, output_type, dtype, adjust_orientation, device)
    sizes = crop_size(name, crop, crop_h, crop_w)
    if sizes is not None:
        position = position_of(name, crop_pos_x, crop_pos_y)
        made = cropped(name, made, sizes, position, rounding, _policy(name, "error", rounding), 0.0, device)
    return in_space(made, output_type)


@operator("decoders.image_random_crop")
def image_decoder_random_crop(
    node, *, random_area=(0.08, 1.0), random_aspect_ratio=(3 / 4, 4 / 3), num_attempts=10,
    output_type=DALIImageType.RGB, dtype=None, adjust_orientation=True, device=None,
):  # fmt: skip
    """Decodes a part of random area and proportions."""
    name = "decoders.image_random_crop"
    whole = decoded(name, node, output_type, dtype, adjust_orientation, device)
    area, ratio = pair(random_area, name, "random_area"), pair(random_aspect_ratio, name, "random_aspect_ratio")

    def emit(lowering, inputs):
        return [lowering.add(lowering.core.random_resized_crop(None, area, ratio, int(num_attempts), "HWC"), inputs)]

    operation = flat_taking(name, [whole], emit)
    made = DataNode(operation, device=whole.device, layout="HWC", dtype=whole.dtype, picture=True)
    made.is_flat = whole.is_flat
    return in_space(made, output_type)
