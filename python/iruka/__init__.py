"""Arrays under NumPy's and CuPy's names, and kernels written as strings of C++.

>>> import iruka as cp
>>> add = cp.ElementwiseKernel('float32 x, float32 y', 'float32 z', 'z = x + y;', 'add')
>>> add(cp.arange(3, dtype=cp.float32), 1)
array([1., 2., 3.], dtype=float32)
"""

import sys as _sys

from numpy import (
    base_repr,
    binary_repr,
    bool_,
    byte,
    cdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    dtype,
    e,
    errstate,
    euler_gamma,
    float16,
    float32,
    float64,
    floating,
    format_float_positional,
    format_float_scientific,
    generic,
    get_printoptions,
    geterr,
    geterrcall,
    index_exp,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    iterable,
    long,
    longlong,
    nan,
    ndindex,
    newaxis,
    number,
    pi,
    printoptions,
    s_,
    set_printoptions,
    seterr,
    seterrcall,
    short,
    signedinteger,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulong,
    ulonglong,
    unsignedinteger,
    ushort,
)

from . import (
    _core,
    array_api,
    cuda,
    errors,
    fft,
    image,
    jit,
    lib,
    linalg,
    memory,
    nn,
    pipeline,
    profiler,
    random,
    testing,
)
from ._core import (
    Device,
    ElementwiseKernel,
    RawKernel,
    RawModule,
    ReductionKernel,
    StagedKernel,
    broadcast_shapes,
    cache_directory,
    clear_cache,
    clear_kernel_history,
    default_device,
    device,
    elementwise_names,
    finish_background_compilation,
    free_held_memory,
    get_num_threads,
    kernel_history,
    memory_statistics,
    ndarray,
    reduction_names,
    set_memory_limit,
    set_num_threads,
    ufunc,
)
from ._cupy import (
    byte_bounds,
    clear_memo,
    is_available,
    memoize,
    rsqrt,
    scatter_add,
    scatter_max,
    scatter_min,
    show_config,
)
from ._functions import elementwise as _elementwise, reductions as _reductions
from ._fuse import fuse
from ._guvectorize import guvectorize
from ._numpy.apply import apply_along_axis, apply_over_axes, broadcast, fromfunction, frompyfunc
from ._numpy.bits import packbits, unpackbits
from ._numpy.calculus import (
    convolve,
    correlate,
    diff,
    ediff1d,
    gradient,
    interp,
    trapezoid,
    unwrap,
)
from ._numpy.conversion import (
    array,
    asarray,
    asarray_chkfinite,
    ascontiguousarray,
    asfortranarray,
    asnumpy,
    from_dlpack,
    get_array_module,
    require,
)
from ._numpy.creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    identity,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from ._numpy.dtypes import (
    __array_namespace_info__,
    astype,
    common_type,
    finfo,
    iinfo,
    isdtype,
    isscalar,
    issubdtype,
    min_scalar_type,
)
from ._numpy.einsum import einsum, einsum_path
from ._numpy.elementwise import (
    angle,
    around,
    array2string,
    array_equal,
    array_equiv,
    array_repr,
    array_str,
    fix,
    imag,
    iscomplexobj,
    isfortran,
    isnat,
    isrealobj,
    may_share_memory,
    real,
    real_if_close,
    round,
    shares_memory,
)
from ._numpy.files import (
    NpzFile,
    frombuffer,
    fromfile,
    fromiter,
    fromstring,
    genfromtxt,
    load,
    loadtxt,
    save,
    savetxt,
    savez,
    savez_compressed,
)
from ._numpy.grids import c_, mgrid, ndenumerate, ogrid, r_
from ._numpy.histogram import (
    bincount,
    digitize,
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
    searchsorted,
)
from ._numpy.indexing import (
    argwhere,
    choose,
    compress,
    diag,
    diag_indices,
    diag_indices_from,
    diagflat,
    diagonal,
    extract,
    fill_diagonal,
    flatnonzero,
    indices,
    ix_,
    mask_indices,
    nonzero,
    piecewise,
    place,
    put,
    put_along_axis,
    putmask,
    ravel_multi_index,
    repeat,
    select,
    set_index_check,
    take,
    take_along_axis,
    trace,
    tri,
    tril,
    tril_indices,
    tril_indices_from,
    triu,
    triu_indices,
    triu_indices_from,
    unravel_index,
    where,
)
from ._numpy.padding import pad
from ._numpy.polynomials import (
    poly,
    poly1d,
    polyadd,
    polyder,
    polydiv,
    polyfit,
    polyint,
    polymul,
    polysub,
    polyval,
    roots,
)
from ._numpy.products import (
    cross,
    dot,
    inner,
    kron,
    matmul,
    matvec,
    outer,
    tensordot,
    vdot,
    vecdot,
    vecmat,
)
from ._numpy.quantiles import (
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from ._numpy.rearranging import (
    append,
    array_split,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block,
    column_stack,
    concat,
    delete,
    dsplit,
    dstack,
    flip,
    fliplr,
    flipud,
    hsplit,
    insert,
    matrix_transpose,
    permute_dims,
    resize,
    roll,
    rollaxis,
    rot90,
    split,
    tile,
    trim_zeros,
    unstack,
    vsplit,
)
from ._numpy.scans import cumprod, cumsum, cumulative_prod, cumulative_sum, nancumprod, nancumsum
from ._numpy.sequences import (
    bartlett,
    blackman,
    geomspace,
    hamming,
    hanning,
    kaiser,
    logspace,
    meshgrid,
    vander,
)
from ._numpy.sets import (
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from ._numpy.shapes import (
    allclose,
    broadcast_arrays,
    broadcast_to,
    can_cast,
    clip,
    concatenate,
    copy,
    copyto,
    expand_dims,
    hstack,
    isclose,
    moveaxis,
    nan_to_num,
    ndim,
    promote_types,
    ravel,
    reshape,
    result_type,
    shape,
    size,
    squeeze,
    stack,
    swapaxes,
    transpose,
    vstack,
)
from ._numpy.sorting import argpartition, argsort, lexsort, partition, sort, sort_complex
from ._numpy.statistics import average, corrcoef, cov, nanargmax, nanargmin, nanmean, nanstd, nanvar, ptp, std, var
from ._vectorize import vectorize
from .memory import (
    MemoryPool,
    PinnedMemoryPool,
    get_default_memory_pool,
    get_default_pinned_memory_pool,
)

# Pickles of earlier builds import from modules that were directly in this folder; some are now several files.
_FORMER_NAMES = {"apply": "functional", "calculus": "numeric", "grids": "index_tricks", "shapes": "manipulation"}
for _path, _module in [*_sys.modules.items()]:
    _folder, _, _name = _path.rpartition(".")
    if _folder in ("iruka._numpy", "iruka.random"):
        _sys.modules[f"iruka._{_FORMER_NAMES.get(_name, _name.lstrip('_'))}"] = _module
_sys.modules["iruka._creation"] = _sys.modules["iruka._statistics"] = _sys.modules["iruka"]

# Where packages with NVRTC may lie. They are looked into when the first kernel for a GPU is compiled.
_core.cuda_add_package_folders([folder for folder in _sys.path if folder.startswith("/")])

# The functions of the tables. A function of the same name in a module has more parameters and replaces it.
globals().update({name: made for name, made in {**_elementwise, **_reductions}.items() if name not in globals()})

asanyarray = asarray  # there are no subclasses to let through
row_stack = vstack
bool = bool_
single = float32
double = float64
half = float16
Inf = inf

__version__ = "0.1.0"
__array_api_version__ = "2025.12"


def __getattr__(name):
    if name == "bfloat16":  # ml_dtypes costs more to import than Iruka does
        import ml_dtypes

        globals()["bfloat16"] = ml_dtypes.bfloat16
        return ml_dtypes.bfloat16
    from ._cupy.alternatives import find

    return find("iruka", name)


def __dir__():
    return sorted({*globals(), "bfloat16"})
