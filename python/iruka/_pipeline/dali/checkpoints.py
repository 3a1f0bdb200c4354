"""Where a pipeline in DALI's names is, as bytes."""

from __future__ import annotations

import dataclasses
import json

from ...errors import ValueError


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """The next batch of a pipeline. `core_epoch` and `core_batch` are those of the core's state, whose last batch had
    `last` samples; `epoch` and `iteration` count for external sources, `samples` for readers; `iterator` is the state
    of the iterator over the pipeline."""

    seed: int
    batch_size: int
    core_epoch: int
    core_batch: int
    last: int
    epoch: int
    iteration: int
    samples: int
    iterator: dict | None = None

    def dumped(self) -> bytes:
        return json.dumps(dataclasses.asdict(self)).encode()

    @classmethod
    def loaded(cls, data: bytes | str) -> Checkpoint:
        """Raises ValueError for data that dumped() did not give."""
        try:
            made = cls(**json.loads(data))
        except Exception:
            raise ValueError("Pipeline: the checkpoint is none that checkpoint() of such a pipeline gave") from None
        numbers = (getattr(made, field.name) for field in dataclasses.fields(cls) if field.name != "iterator")
        if not all(isinstance(number, int) and number >= 0 for number in numbers):
            raise ValueError(f"Pipeline: the checkpoint has numbers that no pipeline has: {made}")
        return made
