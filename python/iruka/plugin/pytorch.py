"""DALI's iterators, with PyTorch's tensors on the pipeline's device. They share the batch's memory."""

from __future__ import annotations

from .._pipeline.dali.iterators import (
    DictionaryIterator as _DictionaryIterator,
    LastBatchPolicy as LastBatchPolicy,
    classification as _classification,
)


class DALIGenericIterator(_DictionaryIterator):
    """Gives a list with a dictionary for each pipeline, of tensors by the names of output_map; see
    plugin.base_iterator.BaseIterator for the arguments. Raises ImportError where PyTorch is not installed."""

    def __init__(self, *arguments, **named):
        import torch

        self._from_dlpack = torch.from_dlpack
        super().__init__(*arguments, **named)

    def _converted(self, tensors):
        return self._from_dlpack(tensors.as_tensor())


class DALIRaggedIterator(DALIGenericIterator):
    """As DALIGenericIterator, for samples of unlike shapes: lists of tensors. output_types says for each output
    DENSE_TAG, one tensor, or SPARSE_LIST_TAG, a list."""

    DENSE_TAG, SPARSE_LIST_TAG = "dense", "sparse_list"

    def __init__(self, pipelines, output_map, size=-1, reader_name=None, output_types=None, *arguments, **named):
        types = list(output_types or [self.DENSE_TAG] * len(output_map))
        if len(types) != len(output_map) or set(types) - {self.DENSE_TAG, self.SPARSE_LIST_TAG}:
            raise ValueError(f"DALIRaggedIterator: output_types has a tag for each of {list(output_map)}, not {types}")
        self._types = dict(zip(output_map, types, strict=True))
        super().__init__(pipelines, output_map, size, reader_name, *arguments, **named)

    def _given(self, outputs):
        made = []
        for batch in outputs:
            named = zip(self.output_map, batch, strict=False)
            made.append({name: self._of_type(self._types[name], each) for name, each in named})
        return made

    def _of_type(self, kind, tensors):
        if kind == self.DENSE_TAG:
            return self._converted(tensors)
        return [self._from_dlpack(each) for each in tensors]


def feed_ndarray(tensors, target, cuda_stream=None, non_blocking: bool = False):
    """Copies an array or a TensorList of one shape into a PyTorch tensor of its shape and dtype, which is returned. The
    copy is ordered by PyTorch's current stream. Raises ValueError for another shape or dtype."""
    import torch

    source = torch.from_dlpack(tensors.as_tensor() if hasattr(tensors, "as_tensor") else tensors)
    if (source.shape, source.dtype) != (target.shape, target.dtype):
        raise ValueError(
            f"feed_ndarray: the tensor has shape {tuple(target.shape)} and {target.dtype}, the data "
            f"{tuple(source.shape)} and {source.dtype}"
        )
    return target.copy_(source, non_blocking=non_blocking)


DALIClassificationIterator = _classification(DALIGenericIterator)
GenericIterator, ClassificationIterator = DALIGenericIterator, DALIClassificationIterator
