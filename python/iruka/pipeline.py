"""Preprocessing pipelines: files in, training batches out, on a CPU or a GPU.

    from iruka import image
    from iruka.pipeline import Decode, Pipeline, RandomFlip, RandomResizedCrop

    pipe = Pipeline("photographs", [Decode(), RandomResizedCrop((224, 224)), RandomFlip(),
                    image.Normalize(127.5, 64), image.Layout("CHW")], batch_size=32, shuffle=True, output="torch")
    for pictures, labels in pipe:
        ...

A sample follows from the seed, the epoch and its index alone, so that batches do not depend on the number of threads or
on where a run was resumed.
"""

from __future__ import annotations

from ._pipeline.dali.pipeline import pipeline_def as pipeline_def
from ._pipeline.pipeline import Pipeline as Pipeline
from ._pipeline.profile import Failure as Failure, Profile as Profile, Report as Report, StageTime as StageTime
from ._pipeline.randoms import (
    Bernoulli as Bernoulli,
    Choice as Choice,
    Integers as Integers,
    LogUniform as LogUniform,
    Normal as Normal,
    Random as Random,
    Uniform as Uniform,
)
from ._pipeline.sources import (
    SequentialSource as SequentialSource,
    Source as Source,
    arrays as arrays,
    dataset as dataset,
    file_list as file_list,
    files as files,
    folder as folder,
    iterable as iterable,
    make_source as make_source,
    npy as npy,
    remote as remote,
    webdataset as webdataset,
)
from ._pipeline.stages import (
    Decode as Decode,
    Function as Function,
    Maybe as Maybe,
    OneOf as OneOf,
    RandomCrop as RandomCrop,
    RandomFlip as RandomFlip,
    RandomResizedCrop as RandomResizedCrop,
)
