"""What DALI's iterators have in common: LastBatchPolicy."""

from __future__ import annotations

from .._pipeline.dali.iterators import BaseIterator as BaseIterator, LastBatchPolicy as LastBatchPolicy
