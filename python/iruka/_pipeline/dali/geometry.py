"""DALI's operators on the geometry of pictures, as stages of image."""

from __future__ import annotations

import math

import numpy as _np

from ... import image
from ...errors import ValueError
from .nodes import DataNode, constant_of, device_of, function_node, numbers_of
from .operators import flat_taking, normal_numbers, operator, pair, picture, picture_layout, size_of
from .types import DALIInterpType, UnsupportedError, check_choice, dtype_of
from .values import cast_node

_FILTERS = {
    DALIInterpType.INTERP_NN: "nearest",
    DALIInterpType.INTERP_LINEAR: "linear",
    DALIInterpType.INTERP_CUBIC: "cubic",
    DALIInterpType.INTERP_LANCZOS3: "lanczos3",
    DALIInterpType.INTERP_TRIANGULAR: "triangular",
    DALIInterpType.INTERP_GAUSSIAN: "gaussian",
}
_FLOAT = _np.dtype("float32")
_ANY = 1 << 20  # an extent that no result reaches: the other one decides


def filter_of(interp_type, function: str) -> str:
    """Iruka's name of an interpolation."""
    interp_type = constant_of(interp_type, function)
    try:
        return _FILTERS[interp_type]
    except KeyError:
        raise ValueError(f"{function}: interp_type is a name of iruka.types, such as types.INTERP_LINEAR, not "
                         f"{interp_type!r}") from None  # fmt: skip


def _resize_filter(interp_type, min_filter, mag_filter, antialias, function: str) -> tuple[str, bool]:
    """One filter: enlarging and reducing differ in antialiasing alone."""
    names = {filter_of(each, function) for each in (min_filter, mag_filter) if each is not None}
    if len(names) > 1:
        # The window of triangular is that of linear where a picture grows.
        if names <= {"linear", "triangular"}:
            return "linear", True
        raise UnsupportedError(f"{function}: min_filter and mag_filter are one filter, not {sorted(names)}")
    filter = names.pop() if names else filter_of(interp_type, function)
    return ("linear" if filter == "triangular" else filter), bool(constant_of(antialias, function))


def _as_float(stages: list, info, dtype) -> list:
    """Stages whose result is float32 without a rounding to integers in between."""
    return [image.Cast("float32"), *stages] if dtype == _FLOAT and info.dtype != _FLOAT else stages


def _result_dtype(given, node: DataNode, function: str):
    dtype = dtype_of(given, function)
    if dtype not in (None, _FLOAT) and dtype != node.dtype:
        if node.dtype is not None:
            raise ValueError(f"{function}: dtype is the input's or FLOAT, not {dtype}")
    return dtype


def resized_size(height, width, sizes, mode: str, most) -> tuple[float, float]:
    """(height, width) of a result before rounding: DALI's rules for missing extents (0), modes and max_size."""
    shape = (height, width)
    scales = [abs(want) / have if want else 0.0 for want, have in zip(sizes, shape, strict=True)]
    given = [scale for scale in scales if scale]
    if not given:
        scales = [1.0, 1.0]
    elif mode == "stretch":
        scales = [scale or 1.0 for scale in scales]
    elif mode in ("not_larger", "not_smaller"):
        scales = [min(given) if mode == "not_larger" else max(given)] * 2
    elif len(given) == 1:
        scales = given * 2
    if most is not None:
        limits = [limit / have for limit, have in zip(most, shape, strict=True)]
        if mode in ("default", "stretch"):
            scales = [min(pair_) for pair_ in zip(scales, limits, strict=True)]
        else:
            scales = [min(*scales, *limits)] * 2
    return scales[0] * height, scales[1] * width


def _rounded(value: float) -> int:
    return max(1, math.floor(value + 0.5))


@operator("resize", "resize_z minibatch_size_hint")
def resize(
    node, *, size=None, resize_x=0, resize_y=0, resize_shorter=0, resize_longer=0, mode="default", max_size=None,
    interp_type=DALIInterpType.INTERP_LINEAR, min_filter=None, mag_filter=None, antialias=True, subpixel_scale=True,
    roi_start=None, roi_end=None, roi_relative=False, dtype=None, device=None,
):  # fmt: skip
    """Resamples a picture. `size` (height, width), or `resize_x` and `resize_y`, of which a missing one keeps the
    proportions, or `resize_shorter` or `resize_longer`; numbers may be DataNodes. A negative number mirrors."""
    check_choice("resize", "mode", mode, ("default", "stretch", "not_larger", "not_smaller"))
    sizes, mode = _sizes(size, resize_x, resize_y, resize_shorter, resize_longer, mode)
    filter, widens = _resize_filter(interp_type, min_filter, mag_filter, antialias, "resize")
    most = None if max_size is None else size_of(max_size, "resize")
    region = _region(roi_start, roi_end, roi_relative)
    dtype = _result_dtype(dtype, node, "resize")
    moving = any(isinstance(each, DataNode) for each in sizes)
    is_whole = all(isinstance(each, DataNode) or each >= 0 and float(each).is_integer() for each in sizes)
    is_simple = is_whole and most is None and region is None
    has_both = all(isinstance(each, DataNode) or each > 0 for each in sizes)
    # What the core takes: both extents, or the proportions kept, without fractions, mirroring or limits.
    is_stretched = is_simple and has_both and mode in ("default", "stretch") and not (moving and subpixel_scale)
    is_fitted = (
        is_simple and not moving and (mode in ("not_larger", "not_smaller") or not has_both and mode == "default")
    )

    def build(info, values):
        if is_stretched:
            want = _rounded(values["height"]), _rounded(values["width"])
            stages = [image.Resize(want, filter, widens)]
        elif is_fitted:
            fit = mode if has_both else "not_larger"
            want = int(sizes[0]) or _ANY, int(sizes[1]) or _ANY
            stages = [image.Resize(want, filter, widens, fit=fit)]
        else:
            stages = _resize_stages(info, values, mode, most, region, bool(subpixel_scale), filter, widens)
        return _as_float(stages, info, dtype)

    first = 1 if dtype == _FLOAT and node.dtype != _FLOAT else 0
    bindings = {name: [(first, "resize.size", k)] for k, name in enumerate(("height", "width"))}
    return picture(
        "resize",
        node,
        build,
        {"height": sizes[0], "width": sizes[1]},
        bindings,
        needs_info=not (is_stretched or is_fitted),
        needs_dtype=dtype == _FLOAT,
        dtype=dtype,
        device=device,
    )


def _sizes(size, resize_x, resize_y, resize_shorter, resize_longer, mode: str):
    def is_given(value):
        return isinstance(value, DataNode) or (value is not None and constant_of(value, "resize") != 0)

    ways = [
        size is not None,
        is_given(resize_x) or is_given(resize_y),
        is_given(resize_shorter),
        is_given(resize_longer),
    ]
    if sum(ways) != 1:
        raise ValueError("resize: give one of size, resize_x and resize_y, resize_shorter, resize_longer")
    if size is not None:
        sizes = size_of(size, "resize")
    elif ways[1]:
        sizes = [resize_y, resize_x]
    else:
        if mode != "default":
            raise ValueError("resize: mode goes with size or resize_x and resize_y, not with resize_shorter or _longer")
        sizes, mode = ([resize_shorter] * 2, "not_smaller") if ways[2] else ([resize_longer] * 2, "not_larger")
    return [each if isinstance(each, DataNode) else constant_of(each, "resize") or 0 for each in sizes], mode


def _region(start, end, is_relative):
    if (start is None) != (end is None):
        raise ValueError("resize: roi_start and roi_end go together")
    if start is None:
        return None
    (y, x), (bottom, right) = pair(start, "resize", "roi_start"), pair(end, "resize", "roi_end")
    return y, x, bottom, right, bool(is_relative)


def _resize_stages(info, values, mode, most, region, keeps_scale, filter, widens) -> list:
    """The stages for a picture of known size: fractions of sizes, limits, regions and mirroring."""
    y, x, bottom, right = 0.0, 0.0, float(info.height), float(info.width)
    if region is not None:
        y, x, bottom, right, is_relative = region
        if is_relative:
            y, x, bottom, right = y * info.height, x * info.width, bottom * info.height, right * info.width
    mirrors = [bottom < y, right < x]
    y, bottom, x, right = min(y, bottom), max(y, bottom), min(x, right), max(x, right)
    sizes = (values["height"], values["width"])
    exact = resized_size(bottom - y, right - x, sizes, mode, most)
    whole = _rounded(exact[0]), _rounded(exact[1])
    roi = [y, x, bottom - y, right - x]
    if keeps_scale:
        for axis in range(2):  # the part whose scale is the exact one, about the same centre
            extent = roi[2 + axis] * whole[axis] / exact[axis]
            roi[axis] += (roi[2 + axis] - extent) / 2
            roi[2 + axis] = extent
    before = [max(0, math.ceil(-roi[axis])) for axis in range(2)]
    after = [max(0, math.ceil(roi[axis] + roi[2 + axis] - (info.height, info.width)[axis])) for axis in range(2)]
    stages: list = []
    if any(before) or any(after):  # the pixels at the ends are repeated
        stages.append(image.Pad(((before[0], after[0]), (before[1], after[1])), "edge"))
    region = (roi[0] + before[0], roi[1] + before[1], roi[2], roi[3])
    stages.append(image.Resize(whole, filter, widens, roi=region))
    mirrors = [mirror != (want < 0) for mirror, want in zip(mirrors, sizes, strict=True)]
    return [*stages, image.Flip(horizontal=mirrors[1], vertical=mirrors[0])] if any(mirrors) else stages


@operator("random_resized_crop")
def random_resized_crop(
    node, *, size, random_area=(0.08, 1.0), random_aspect_ratio=(3 / 4, 4 / 3), num_attempts=10,
    interp_type=DALIInterpType.INTERP_LINEAR, min_filter=None, mag_filter=None, antialias=True, dtype=None, device=None,
):  # fmt: skip
    """A part of random area and proportions, resized to `size` (height, width)."""
    height, width = (int(constant_of(each, "random_resized_crop")) for each in size_of(size, "random_resized_crop"))
    filter, widens = _resize_filter(interp_type, min_filter, mag_filter, antialias, "random_resized_crop")
    area = pair(random_area, "random_resized_crop", "random_area")
    ratio = pair(random_aspect_ratio, "random_resized_crop", "random_aspect_ratio")
    layout = picture_layout(node, "random_resized_crop")
    dtype = _result_dtype(dtype, node, "random_resized_crop")
    fields = image.Resize((height, width), filter, widens)._fields()

    def emit(lowering, inputs):
        if dtype == _FLOAT and node.dtype != _FLOAT:
            cast = lowering.core.stages([image.Cast("float32")._fields()], [], layout)
            inputs = [lowering.add(cast, inputs)]
        return [lowering.add(lowering.core.random_resized_crop(fields, area, ratio, int(num_attempts), layout), inputs)]

    operation = flat_taking("random_resized_crop", [node], emit)
    made = DataNode(operation, device=device_of([node], device), layout=layout, dtype=dtype or node.dtype, picture=True)
    made.is_flat = node.is_flat
    return made


def crop_size(function: str, crop, crop_h, crop_w) -> list | None:
    """[height, width], or None where no size is given. An extent that is not positive is the picture's own."""
    if crop is not None and (crop_h is not None or crop_w is not None):
        raise ValueError(f"{function}: crop is given, or crop_h and crop_w")
    if (crop_h is None) != (crop_w is None):
        raise ValueError(f"{function}: crop_h and crop_w are given together")
    if crop is None and crop_h is None:
        return None
    sizes = size_of([crop_h, crop_w] if crop is None else crop, function)
    return sizes if any(isinstance(each, DataNode) or each > 0 for each in sizes) else None


def window(info, values, rounding: str, policy: str, function: str):
    """(y, x, height, width) of a crop: positions are parts of the room that is left. A policy other than 'error' lets
    the window leave the picture."""
    given = (values["crop_h"], info.height), (values["crop_w"], info.width)
    height, width = (_rounded(extent) if extent > 0 else own for extent, own in given)
    whole = _away if rounding == "round" else int
    y = whole(values["crop_pos_y"] * (info.height - height))
    x = whole(values["crop_pos_x"] * (info.width - width))
    if policy == "error" and (y < 0 or x < 0 or y + height > info.height or x + width > info.width):
        raise ValueError(
            f"{function}: the window ({y}, {x}, {height}, {width}) is not within the picture, ({info.height}, "
            f"{info.width}); out_of_bounds_policy='pad' fills, 'trim_to_shape' cuts"
        )
    return y, x, height, width


def _away(value: float) -> int:
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def crop_stages(info, values, rounding: str, policy: str, fill, function: str) -> list:
    """The stages of a crop of a picture of known size."""
    y, x, height, width = window(info, values, rounding, policy, function)
    top, left, bottom, right = max(y, 0), max(x, 0), min(y + height, info.height), min(x + width, info.width)
    if bottom <= top or right <= left:
        raise ValueError(f"{function}: the window ({y}, {x}, {height}, {width}) has no pixel of the picture")
    stages: list = [image.Crop((bottom - top, right - left), (top, left))]
    margins = ((top - y, y + height - bottom), (left - x, x + width - right))
    if policy != "trim_to_shape" and margins != ((0, 0), (0, 0)):
        stages.append(image.Pad(margins, value=fill))
    return stages


def _policy(function: str, policy: str, rounding: str) -> str:
    check_choice(function, "out_of_bounds_policy", policy, ("error", "constant", "pad", "trim_to_shape"))
    check_choice(function, "rounding", rounding, ("round", "truncate"))
    return "pad" if policy == "constant" else policy


def _fill(function: str, fill_values):
    values = constant_of(fill_values, function)
    values = list(map(float, values)) if _np.ndim(values) else [float(values)]
    return values[0] if len(values) == 1 else values


def cropped(function: str, node, sizes, position, rounding: str, policy: str, fill, device=None) -> DataNode:
    """A picture behind a crop at a position (y, x)."""
    values = {"crop_h": sizes[0], "crop_w": sizes[1], "crop_pos_y": position[0], "crop_pos_x": position[1]}
    is_fixed = not any(isinstance(each, DataNode) or each <= 0 for each in sizes)
    if is_fixed and policy == "error" and node.is_picture:
        return _crop_at(function, node, sizes, position, rounding, device)

    def build(info, own):
        return crop_stages(info, own, rounding, policy, fill, function)

    return picture(function, node, build, values, needs_info=True, device=device)


def _crop_at(function: str, node, sizes, position, rounding: str, device) -> DataNode:
    layout = picture_layout(node, function)
    height, width = map(_rounded, sizes)
    moving = [each for each in position if isinstance(each, DataNode)]
    way = "round" if rounding == "round" else "floor"

    def emit(lowering, inputs):
        inputs, given = [inputs[0]], []
        for each in position:
            given.append(("input", len(inputs)) if isinstance(each, DataNode) else float(each))
            if isinstance(each, DataNode):
                inputs.append(lowering.number(each))
        return [lowering.add(lowering.core.crop_at(height, width, *given, layout, way), inputs)]

    operation = flat_taking(function, [node, *moving], emit)
    made = DataNode(operation, device=device_of([node], device), layout=layout, dtype=node.dtype, picture=True)
    made.is_flat = node.is_flat
    return made


def position_of(function: str, crop_pos_x, crop_pos_y) -> list:
    """[y, x], nodes or numbers, which DALI takes as float32."""
    given = [numbers_of(each, 1, function, "a position")[0] for each in (crop_pos_y, crop_pos_x)]
    return [each if isinstance(each, DataNode) else float(_np.float32(each)) for each in given]


@operator("crop", "crop_d crop_pos_z")
def crop(
    node, *, crop=None, crop_h=None, crop_w=None, crop_pos_x=0.5, crop_pos_y=0.5, rounding="round",
    out_of_bounds_policy="error", fill_values=0.0, dtype=None, device=None,
):  # fmt: skip
    """The window of size `crop` (height, width) whose corner is at crop_pos of the room that is left."""
    sizes = crop_size("crop", crop, crop_h, crop_w)
    policy = _policy("crop", out_of_bounds_policy, rounding)
    position = position_of("crop", crop_pos_x, crop_pos_y)
    made = node if sizes is None else cropped(
        "crop", node, sizes, position, rounding, policy, _fill("crop", fill_values), device
    )  # fmt: skip
    dtype = dtype_of(dtype, "crop")
    return made if dtype in (None, made.dtype) else cast_node(made, dtype)


@operator("crop_mirror_normalize", "crop_d crop_pos_z")
def crop_mirror_normalize(
    node, *, crop=None, crop_h=None, crop_w=None, crop_pos_x=0.5, crop_pos_y=0.5, rounding="round", mirror=0, mean=0.0,
    std=1.0, scale=1.0, shift=0.0, dtype=_FLOAT, output_layout="CHW", pad_output=False, out_of_bounds_policy="error",
    fill_values=0.0, device=None,
):  # fmt: skip
    """Crops, mirrors columns where `mirror` is not 0, and computes scale * (x - mean) / std + shift in float32."""
    name = "crop_mirror_normalize"
    check_choice(name, "output_layout", output_layout, ("CHW", "HWC"))
    policy = _policy(name, out_of_bounds_policy, rounding)
    fill = _fill(name, fill_values)
    sizes = crop_size(name, crop, crop_h, crop_w)
    position = position_of(name, crop_pos_x, crop_pos_y)
    is_padded = policy == "pad" and sizes is not None  # what is outside has fill_values, not their normal form
    if sizes is not None and not is_padded:
        node = cropped(name, node, sizes, position, rounding, policy, 0.0, device)
    dtype = dtype_of(dtype, name)
    means, deviations, (factor, offset) = _affine(name, mean, std, scale, shift)
    values = {"mirror": numbers_of(mirror, 1, name, "mirror")[0], **means, **deviations}
    if is_padded and sizes is not None:
        values.update(crop_h=sizes[0], crop_w=sizes[1], crop_pos_y=position[0], crop_pos_x=position[1])
    bindings = {"mirror": [(0, "flip.horizontal", 0)]}
    if factor == 1 and offset == 0:
        bindings.update({key: [(1, "normalize.mean", k)] for k, key in enumerate(means) if key != "mean"})
        bindings.update({key: [(1, "normalize.std", k)] for k, key in enumerate(deviations) if key != "std"})
    is_stage = dtype.name in ("uint8", "uint16", "float16", "float32")

    def build(info, own):
        mean_numbers, std_numbers = normal_numbers(name, [own[key] for key in means], [own[key] for key in deviations],
                                                    factor, offset)  # fmt: skip
        stages: list = [image.Flip(horizontal=bool(own["mirror"])), image.Normalize(mean_numbers, std_numbers)]
        if is_padded:
            cut, *margins = crop_stages(info, own, rounding, policy, fill, name)
            stages = [cut, image.Normalize(mean_numbers, std_numbers), *margins, image.Flip(bool(own["mirror"]))]
        if dtype != _FLOAT and is_stage:
            stages.append(image.Cast(dtype.name))
        return [*stages, image.Layout(output_layout)]

    made = picture(
        name, node, build, values, bindings, needs_info=is_padded, dtype=dtype if is_stage else _FLOAT,
        layout=output_layout, device=device,
    )  # fmt: skip
    if constant_of(pad_output, name):
        made = _with_channels(made, fill if is_padded else 0.0)
    if is_stage:
        return made
    return cast_node(made, dtype)


def _affine(name: str, mean, std, scale, shift):
    """The means and deviations by name, and the constants scale and shift."""

    def spread(prefix, given):
        if isinstance(given, DataNode):  # of one number or one for each channel
            return {prefix: given}
        given = constant_of(given, name)
        numbers = list(given) if _np.ndim(given) or isinstance(given, (list, tuple)) else [given]
        return {f"{prefix}{k}": numbers_of(each, 1, name, prefix)[0] for k, each in enumerate(numbers)}

    constants = float(constant_of(scale, name)), float(constant_of(shift, name))
    if constants[0] == 0:
        raise ValueError(f"{name}: scale must not be 0")
    return spread("mean", mean), spread("std", std), constants


def _with_channels(node: DataNode, fill) -> DataNode:
    """Channels up to a power of two."""
    axis = 0 if node.layout == "CHW" else 2

    def call(x):
        missing = (1 << (x.shape[axis] - 1).bit_length()) - x.shape[axis]
        widths = [(0, missing if k == axis else 0) for k in range(3)]
        return _np.pad(x, widths, constant_values=float(_np.ravel(fill)[-1]))

    return function_node("pad_output", call, [node], dtype=node.dtype, layout=node.layout, picture=True)


@operator("flip", "depthwise")
def flip(node, *, horizontal=1, vertical=0, device=None):
    """Mirrors columns (`horizontal`) and rows (`vertical`)."""
    values = {
        "horizontal": numbers_of(horizontal, 1, "flip", "horizontal")[0],
        "vertical": numbers_of(vertical, 1, "flip", "vertical")[0],
    }
    bindings = {name: [(0, f"flip.{name}", 0)] for name in values}

    def build(info, own):
        return [image.Flip(bool(own["horizontal"]), bool(own["vertical"]))]

    return picture("flip", node, build, values, bindings, device=device)


def border_of(fill_value, function: str) -> tuple[str, float]:
    """The mode and value for what is outside: the nearest pixel without a fill_value."""
    if fill_value is None:
        return "edge", 0.0
    return "constant", float(constant_of(fill_value, function))


@operator("rotate", "axis")
def rotate(
    node, *, angle, keep_size=False, size=None, fill_value=None, interp_type=DALIInterpType.INTERP_LINEAR, dtype=None,
    device=None,
):  # fmt: skip
    """Turns a picture about its centre by `angle` degrees, counter-clockwise; its canvas grows unless keep_size or
    `size` is given."""
    filter = filter_of(interp_type, "rotate")
    mode, value = border_of(fill_value, "rotate")
    dtype = _result_dtype(dtype, node, "rotate")
    sizes = size_of(size, "rotate") if size is not None and _np.size(size) else None
    expands = not constant_of(keep_size, "rotate") and sizes is None
    values = {"angle": numbers_of(angle, 1, "rotate", "angle")[0]}
    if sizes is not None:
        values.update(height=sizes[0], width=sizes[1])

    def build(info, own):
        if sizes is None and not expands:
            return _as_float([image.Rotate(own["angle"], False, filter, mode, value)], info, dtype)
        shape = (info.height, info.width)
        target = canvas(shape, own["angle"]) if expands else (_rounded(own["height"]), _rounded(own["width"]))
        matrix = _turned(own["angle"], shape, target)
        return _as_float([image.WarpAffine(matrix, target, filter, True, mode, value)], info, dtype)

    bindings = {"angle": [(1 if dtype == _FLOAT and node.dtype != _FLOAT else 0, "rotate.angle", 0)]}
    return picture(
        "rotate", node, build, values, bindings, needs_info=expands or sizes is not None, needs_dtype=dtype == _FLOAT,
        dtype=dtype, device=device,
    )  # fmt: skip


def canvas(shape: tuple[int, int], angle: float) -> tuple[int, int]:
    """DALI's (height, width) for a turned picture: as large as its corners need, and odd where the picture's extent
    along the nearer axis is odd, so that the centres are pixels or corners of pixels alike."""
    c, s = abs(math.cos(math.radians(angle))), abs(math.sin(math.radians(angle)))
    height, width = (math.ceil(first * c + second * s - 0.01) for first, second in (shape, shape[::-1]))
    likes = shape if s <= c else shape[::-1]
    return height + (height - likes[0]) % 2, width + (width - likes[1]) % 2


def _turned(angle: float, source, target):
    """The matrix from pixels (x, y) of the result to those of the picture, about both centres."""
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    linear = _np.array([[c, -s], [s, c]])
    center = (_np.array(target[::-1]) - 1) / 2
    return _np.column_stack([linear, (_np.array(source[::-1]) - 1) / 2 - linear @ center])


@operator("warp_affine")
def warp_affine(
    node, mtx=None, *, matrix=(), size=None, inverse_map=True, fill_value=None,
    interp_type=DALIInterpType.INTERP_LINEAR, dtype=None, device=None,
):  # fmt: skip
    """The pixel of the picture to which `matrix` (2, 3) takes each place of the result; the corner of the first pixel
    is at (0, 0). inverse_map=False: the matrix takes the picture's places to the result's."""
    given = mtx if mtx is not None else matrix
    filter = filter_of(interp_type, "warp_affine")
    mode, value = border_of(fill_value, "warp_affine")
    dtype = _result_dtype(dtype, node, "warp_affine")
    sizes = size_of(size, "warp_affine") if size is not None and _np.size(size) else None
    if isinstance(given, DataNode):
        values: dict = {f"m{k}": given[k // 3, k % 3] for k in range(6)}
    else:
        numbers = _np.asarray(constant_of(given, "warp_affine"), dtype=_np.float64).ravel()
        if numbers.size != 6:
            raise ValueError(f"warp_affine: the matrix has 6 numbers, not {numbers.size}")
        values = {f"m{k}": number for k, number in enumerate(numbers.tolist())}
    is_moving = isinstance(given, DataNode)
    if sizes is not None:
        values.update(height=sizes[0], width=sizes[1])

    def build(info, own):
        affine = _np.array([own[f"m{k}"] for k in range(6)]).reshape(2, 3)
        if not inverse_map:
            affine = _np.linalg.inv(_np.vstack([affine, [0, 0, 1]]))[:2]
        affine = affine + [[0, 0, affine[row, :2].sum() / 2 - 0.5] for row in range(2)]
        target = None if sizes is None else (_rounded(own["height"]), _rounded(own["width"]))
        return _as_float([image.WarpAffine(affine, target, filter, True, mode, value)], info, dtype)

    return picture(
        "warp_affine",
        node,
        build,
        values,
        needs_info=is_moving,
        needs_dtype=dtype == _FLOAT,
        dtype=dtype,
        device=device,
    )


def _transposed_layout(layout: str, perm, output_layout) -> str:
    if output_layout is not None:
        return output_layout
    return "".join(layout[k] for k in perm) if len(layout) == len(perm) else ""


@operator("transpose")
def transpose(node, *, perm=None, output_layout=None, transpose_layout=True, device=None):
    """Axis i of the result is axis perm[i]; the axes are reversed by default."""
    axes = None if perm is None else [int(each) for each in constant_of(perm, "transpose")]
    layout = _transposed_layout(node.layout, axes or range(len(node.layout) - 1, -1, -1), output_layout)
    if output_layout is None and not transpose_layout:
        layout = node.layout
    orders = {"HWC": ([2, 0, 1], "CHW"), "CHW": ([1, 2, 0], "HWC")}
    wanted, order = orders.get(node.layout, (None, ""))
    if wanted is not None and axes == wanted and node.is_picture:
        return picture("transpose", node, lambda info, own: [image.Layout(order)], layout=layout, device=device)
    return function_node(
        "transpose", lambda x: _np.transpose(x, axes), [node], dtype=node.dtype, layout=layout, device=device
    )
