"""The cases of benchmarks/forms.py, one generator for each subject."""

import itertools

from . import arrays, functions, kernels


def cases(quick):
    """All cases, made one after the other, because their arrays are large."""
    return itertools.chain(
        kernels.elementwise_launches(),
        kernels.reduction_launches(),
        kernels.raw_launches(),
        functions.launches(),
        arrays.fuse_launches(),
        functions.throughput(quick),
        kernels.throughput(quick),
        arrays.fuse_throughput(quick),
        arrays.along_axis(quick),
        functions.first_calls(),
        kernels.first_calls(),
        arrays.first_calls(),
    )
