"""What a pipeline tells of its work."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple


@dataclasses.dataclass(frozen=True)
class Failure:
    """A sample that could not be made: `sample` is its file or number, `stage` where it failed, `error` what was
    raised (None where the pipeline raised it), `replaced_by` the index of the sample in its place, or None."""

    epoch: int
    index: int
    sample: str
    stage: str
    message: str
    error: BaseException | None
    replaced_by: int | None


@dataclasses.dataclass
class Report:
    """samples: made and handed out. failed: that could not be made; of these `replaced` have another one in their
    place, and the others are skipped, or their batch has raised."""

    samples: int
    failed: int
    failures: list[Failure]

    @property
    def replaced(self) -> int:
        return sum(failure.replaced_by is not None for failure in self.failures)

    def __str__(self):
        lines = [f"{self.samples} samples, {self.failed} failed, {self.replaced} of them replaced"]
        for failure in self.failures:
            instead = "" if failure.replaced_by is None else f" (sample {failure.replaced_by} instead)"
            lines.append(f"  epoch {failure.epoch}, {failure.sample}, {failure.stage}: {failure.message}{instead}")
        return "\n".join(lines)


class StageTime(NamedTuple):
    """Seconds are summed over threads."""

    stage: str
    calls: int
    seconds: float


@dataclasses.dataclass
class Profile:
    """waited: seconds in which the consumer waited for batches. idle: seconds between an epoch's batches in which the
    pipeline waited for the consumer: all batches that it may make ahead were made. threads: at most so many work."""

    samples: int
    batches: int
    stages: list[StageTime]
    waited: float
    idle: float
    threads: int

    @classmethod
    def of(cls, core: dict, threads: int) -> Profile:
        return cls(
            core["samples"],
            core["batches"],
            [StageTime(*each) for each in core["stages"]],
            core["waited"],
            core["idle"],
            threads,
        )

    @property
    def advice(self) -> str:
        """What would make it faster."""
        if not self.batches:
            return "No batch was made yet."
        if self.idle >= self.waited:
            return "The consumer is slower than the pipeline: nothing here would help."
        slowest = max(self.stages, key=lambda stage: stage.seconds)
        if slowest.stage == "source":
            return "The source takes most of the time: read files in the pipeline (paths), or make the source faster."
        if slowest.stage in ("decode", "pixels"):
            return (
                "Decoding and pixels take most of the time: use more threads, smaller files, or a GPU (device='cuda'); "
                "Decode reads files and headers, pixels is decoding and all stages behind it."
            )
        return f"{slowest.stage} takes most of the time: write it as a kernel or as stages, which need no interpreter."

    def __str__(self):
        total = sum(stage.seconds for stage in self.stages) or 1.0
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        lines = [
            f"{self.samples} samples in {self.batches} batches on {threads}; the consumer waited "
            f"{self.waited:.3f} s, the pipeline {self.idle:.3f} s",
            f"{'stage':<24}{'calls':>10}{'ms each':>12}{'share':>9}",
        ]
        for stage in self.stages:
            each = 1e3 * stage.seconds / max(stage.calls, 1)
            lines.append(f"{stage.stage:<24}{stage.calls:>10}{each:>12.3f}{stage.seconds / total:>9.0%}")
        return "\n".join([*lines, self.advice])
