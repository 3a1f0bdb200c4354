"""DALI's iterators, with NumPy arrays on the CPU."""

from __future__ import annotations

from .._pipeline.dali.iterators import (
    DictionaryIterator as _DictionaryIterator,
    LastBatchPolicy as LastBatchPolicy,
    classification as _classification,
)


class DALIGenericIterator(_DictionaryIterator):
    """Gives a list with a dictionary for each pipeline, of NumPy arrays by the names of output_map; see
    plugin.base_iterator.BaseIterator for the arguments."""

    def _converted(self, tensors):
        return tensors.as_array()


DALIClassificationIterator = _classification(DALIGenericIterator)
GenericIterator, ClassificationIterator = DALIGenericIterator, DALIClassificationIterator
