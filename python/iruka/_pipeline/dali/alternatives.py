"""Namespaces of operators, and what to use for operators of DALI that are not there."""

from __future__ import annotations

import re

_AUDIO = "audio is not read here"
_VIDEO = "video is not read here; take pictures of its frames"
_BOXES = "boxes are arrays of numbers: write the step in a function and use fn.python_function"
_PIPELINE = "iruka.pipeline.Pipeline(source, stages, ...)"
_FILTERS = "iruka.image has {}: use fn.python_function, or " + _PIPELINE
_SOURCE = "iruka.pipeline.{} is a source of " + _PIPELINE + "; a Python iterable feeds fn.external_source"

#: By the operators' names in fn, or the beginnings of these with a dot at the end.
INSTEAD = {
    **dict.fromkeys(
        ("audio_decoder", "audio_resample", "decoders.audio", "mel_filter_bank", "mfcc", "nemo_asr_reader",
         "nonsilent_region", "power_spectrum", "preemphasis_filter", "spectrogram", "to_decibels", "readers.nemo_asr",
         "experimental.audio_resample"), _AUDIO),
    **dict.fromkeys(
        ("decoders.video", "video_reader", "video_reader_resize", "readers.video", "readers.video_resize",
         "readers.sequence", "sequence_reader", "sequence_rearrange", "optical_flow", "element_extract", "per_frame",
         "experimental.decoders", "experimental.inputs"), _VIDEO),
    **dict.fromkeys(
        ("bb_flip", "bbox_paste", "bbox_rotate", "box_encoder", "random_bbox_crop", "ssd_random_crop", "coord_flip",
         "coord_transform", "roi_random_crop"), _BOXES),
    **{name: _FILTERS.format(f"image.{there}") for name, there in {
        "gaussian_blur": "gaussian_filter", "laplacian": "laplacian", "filter": "filter2d", "clahe": "clahe",
        "equalize": "equalize", "lookup_table": "lookup", "experimental.dilate": "dilate",
        "experimental.erode": "erode", "experimental.median_blur": "median_filter", "experimental.remap": "remap",
        "experimental.equalize": "equalize", "experimental.filter": "filter2d",
        "experimental.warp_perspective": "warp_perspective"}.items()},
    "readers.numpy": _SOURCE.format("npy"), "numpy_reader": _SOURCE.format("npy"),
    "readers.webdataset": _SOURCE.format("webdataset"),
    **dict.fromkeys(("readers.caffe", "readers.caffe2", "readers.mxnet", "readers.tfrecord", "readers.coco",
        "caffe_reader", "caffe2_reader", "mxnet_reader", "tfrecord_reader", "coco_reader",
        "mx_net_reader", "tf_record_reader"),  # MXNetReader, TFRecordReader
        "write the records as files (readers.file) or tar shards (iruka.pipeline.webdataset), or feed them by "
        "fn.external_source"),
    "decoders.image_slice": "use decoders.image and index the picture, or decoders.image_crop",
    "image_decoder_slice": "use decoders.image and index the picture, or decoders.image_crop",
    "host_decoder": "use decoders.image", "nv_jpeg_decoder": "use decoders.image with device='mixed'",
    "slice": "index the DataNode: x[top:bottom, left:right]; bounds may be DataNodes",
    "peek_image_shape": "use decoders.image(x).shape()",
    "experimental.peek_image_shape": "use decoders.image(x).shape()",
    "experimental.resize": "use fn.resize", "tensor_resize": "use fn.resize",
    "experimental.tensor_resize": "use fn.resize",
    "fast_resize_crop_mirror": "use fn.resize, fn.crop and fn.flip, which are one pass here",
    "resize_crop_mirror": "use fn.resize, fn.crop and fn.flip, which are one pass here",
    "jitter": "use fn.warp_affine", "water": "use fn.python_function", "sphere": "use fn.python_function",
    "permute_batch": "samples do not see each other; permute the batch after run()",
    "batch_permutation": "samples do not see each other; permute the batch after run()",
    "dl_tensor_python_function": "use fn.python_function, whose function gets NumPy arrays",
    "experimental.": "use fn.python_function",
    "noise.": "use fn.random.normal with arithmetic",
    "reductions.": "use fn.python_function with NumPy's function",
    "transforms.": "multiply NumPy matrices in fn.python_function and pass the result to fn.warp_affine",
    "segmentation.": "use fn.python_function",
    "random.": "use fn.random.uniform with arithmetic",
    "io.": "use readers.file, or fn.external_source",
    "auto_aug": "use iruka.pipeline's stages, or fn.random and fn.python_function",
    "jpeg_compression_distortion": "use iruka.image.imencode and imdecode in fn.python_function",
    "gaussian": "use fn.random.normal",
}  # fmt: skip

#: DALI's names of former releases.
FORMER = {
    "image_decoder": "decoders.image",
    "image_decoder_crop": "decoders.image_crop",
    "image_decoder_random_crop": "decoders.image_random_crop",
    "file_reader": "readers.file",
    "uniform": "random.uniform",
    "coin_flip": "random.coin_flip",
    "normal_distribution": "random.normal",
}


def missing(module: str, name: str, dotted: str) -> AttributeError:
    """The error of a name that is not there; it says what to use where DALI has it. `dotted` is the operator's name in
    fn."""
    instead = INSTEAD.get(dotted)
    if instead is None:
        prefix = next((each for each in INSTEAD if each.endswith(".") and dotted.startswith(each)), None)
        instead = INSTEAD[prefix] if prefix and not name.startswith("_") else None
    if instead is None:
        if name.startswith("_"):
            return AttributeError(f"module {module!r} has no attribute {name!r}")
        instead = "write the step in a function and use fn.python_function, or see docs/coming_from_dali.md"
    return AttributeError(f"{module} has no {name!r}: {instead}", name=name, obj=object())


class Namespace:
    """The operators of a part of fn or ops: fn.readers, ops.random."""

    def __init__(self, module: str, part: str, members: dict):
        self.__name__ = f"{module}.{part}"
        self._part = part
        self.__dict__.update(members)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(self.__name__, name, f"{self._part}.{snake(name)}")

    def __repr__(self):
        return f"<namespace {self.__name__}>"


def camel(name: str) -> str:
    """The name of an operator's class: resize is Resize, coin_flip CoinFlip."""
    return "".join(part.capitalize() for part in name.split("_"))


def snake(name: str) -> str:
    """The name of an operator's function: CoinFlip is coin_flip."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def parts_of(names) -> dict[str, list[str]]:
    """The operators of each namespace, by the namespace's name."""
    parts: dict[str, list[str]] = {}
    for name in names:
        part, _, own = name.rpartition(".")
        parts.setdefault(part, []).append(own)
    return parts
