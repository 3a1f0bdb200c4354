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

from collections.abc import Callable as _Callable
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ._image.elsewhere import missing as _missing
from ._pipeline.dali.dispatch import graph_maker as _graph_maker
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
from ._public_names import dir_of as _dir_of

if not _TYPE_CHECKING:  # checkers know the names

    def __getattr__(name: str):
        raise _missing(__name__, name, "iruka.image")


@_graph_maker
def _become_graph(pipeline: Pipeline) -> None:
    from ._pipeline.dali.pipeline import become_graph

    become_graph(pipeline)


def pipeline_def(
    function: _Callable | None = None, /, *, enable_conditionals: bool = False, **pipeline_arguments: _Any
) -> _Any:
    """Makes of a function that returns DataNodes one that returns a Pipeline with these as outputs: DALI's decorator.

    Arguments of DALI's constructor (batch_size, num_threads, device_id, seed, ...) are given to the decorator or to the
    call, which counts; the function gets the others. Use: @pipeline_def, or @pipeline_def(batch_size=8, ...).

    enable_conditionals: `if`, `a if c else b`, `and`, `or` and `not` take DataNodes of one number or bool per sample,
        in the function and in those that it calls, unless they are of an installed package or marked by
        do_not_convert. Operators of a branch run for its samples alone. A variable that is used behind an if is
        assigned in both branches, or before. An if with break or continue, or one in a loop that may return, takes
        Python's values alone. Raises ValueError for a function whose code is in no file.
    """
    from ._pipeline.dali.pipeline import pipeline_def as define

    return define(function, enable_conditionals=enable_conditionals, **pipeline_arguments)


def do_not_convert(function: _Callable) -> _Any:
    """Marks a function that pipelines with enable_conditionals=True call as it is: DALI's decorator."""
    from ._pipeline.dali.rewriting import do_not_convert as mark

    return mark(function)


__dir__ = _dir_of(globals())
