"""DALI's iterators, with JAX's arrays on the pipeline's device. They share the batch's memory."""

from __future__ import annotations

from .._pipeline.dali.iterators import (
    DictionaryIterator as _DictionaryIterator,
    LastBatchPolicy as LastBatchPolicy,
    classification as _classification,
)
from ..errors import ValueError


class DALIGenericIterator(_DictionaryIterator):
    """Gives a dictionary of JAX arrays by the names of output_map, of one pipeline; with several, a list of one for
    each. The policy PARTIAL is not JAX's: compiled functions have one shape. See plugin.base_iterator.BaseIterator for
    the arguments. Raises ImportError where JAX is not installed."""

    def __init__(self, *arguments, **named):
        import jax.dlpack

        self._from_dlpack = jax.dlpack.from_dlpack
        super().__init__(*arguments, **named)
        if self._epochs.policy is LastBatchPolicy.PARTIAL:
            raise ValueError("iterator: last_batch_policy is FILL or DROP for JAX, not PARTIAL")

    def _converted(self, tensors):
        return self._from_dlpack(tensors.as_tensor())

    def _given(self, outputs):
        made = super()._given(outputs)
        return made[0] if len(self._pipelines) == 1 else made


DALIClassificationIterator = _classification(DALIGenericIterator)
GenericIterator, ClassificationIterator = DALIGenericIterator, DALIClassificationIterator
