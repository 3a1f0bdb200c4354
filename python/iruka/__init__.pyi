# Made by tools/generate_stubs.py.
from typing import Any

from . import _core
from ._core import (
    CountFunction,
    MeanFunction,
    PositionFunction,
    ReductionFunction,
    SelectionFunction,
    TruthFunction,
)


class _Pair(_core.ufunc):
    def __call__(self, *args: Any, **kwargs: Any) -> tuple[_core.ndarray, _core.ndarray]: ...  # type: ignore[override]


from ._core import Device as Device
from ._core import ElementwiseKernel as ElementwiseKernel
Inf = inf
from .memory import MemoryPool as MemoryPool
from ._numpy.files import NpzFile as NpzFile
from .memory import PinnedMemoryPool as PinnedMemoryPool
from ._core import RawKernel as RawKernel
from ._core import RawModule as RawModule
from ._core import ReductionKernel as ReductionKernel
from ._core import StagedKernel as StagedKernel
__array_api_version__ = '2025.12'
from ._numpy.dtypes import __array_namespace_info__ as __array_namespace_info__
__version__ = '0.1.0'
abs: _core.ufunc
absolute: _core.ufunc
acos: _core.ufunc
acosh: _core.ufunc
add: _core.ufunc
all: TruthFunction
from ._numpy.shapes import allclose as allclose
amax: SelectionFunction
amin: SelectionFunction
from ._numpy.elementwise import angle as angle
any: TruthFunction
from ._numpy.rearranging import append as append
from ._numpy.apply import apply_along_axis as apply_along_axis
from ._numpy.apply import apply_over_axes as apply_over_axes
from ._numpy.creation import arange as arange
arccos: _core.ufunc
arccosh: _core.ufunc
arcsin: _core.ufunc
arcsinh: _core.ufunc
arctan: _core.ufunc
arctan2: _core.ufunc
arctanh: _core.ufunc
argmax: PositionFunction
argmin: PositionFunction
from ._numpy.sorting import argpartition as argpartition
from ._numpy.sorting import argsort as argsort
from ._numpy.indexing import argwhere as argwhere
from ._numpy.elementwise import around as around
from ._numpy.conversion import array as array
from ._numpy.elementwise import array2string as array2string
from . import array_api as array_api
from ._numpy.elementwise import array_equal as array_equal
from ._numpy.elementwise import array_equiv as array_equiv
from ._numpy.elementwise import array_repr as array_repr
from ._numpy.rearranging import array_split as array_split
from ._numpy.elementwise import array_str as array_str
asanyarray = asarray
from ._numpy.conversion import asarray as asarray
from ._numpy.conversion import asarray_chkfinite as asarray_chkfinite
from ._numpy.conversion import ascontiguousarray as ascontiguousarray
from ._numpy.conversion import asfortranarray as asfortranarray
asin: _core.ufunc
asinh: _core.ufunc
from ._numpy.conversion import asnumpy as asnumpy
from ._numpy.dtypes import astype as astype
atan: _core.ufunc
atan2: _core.ufunc
atanh: _core.ufunc
from ._numpy.rearranging import atleast_1d as atleast_1d
from ._numpy.rearranging import atleast_2d as atleast_2d
from ._numpy.rearranging import atleast_3d as atleast_3d
from ._numpy.statistics import average as average
from ._numpy.sequences import bartlett as bartlett
from numpy import base_repr as base_repr
from ml_dtypes import bfloat16 as bfloat16
from numpy import binary_repr as binary_repr
from ._numpy.histogram import bincount as bincount
bitwise_and: _core.ufunc
bitwise_count: _core.ufunc
bitwise_invert: _core.ufunc
bitwise_left_shift: _core.ufunc
bitwise_not: _core.ufunc
bitwise_or: _core.ufunc
bitwise_right_shift: _core.ufunc
bitwise_xor: _core.ufunc
from ._numpy.sequences import blackman as blackman
from ._numpy.rearranging import block as block
bool = bool_
from numpy import bool_ as bool_
from ._numpy.apply import broadcast as broadcast
from ._numpy.shapes import broadcast_arrays as broadcast_arrays
from ._core import broadcast_shapes as broadcast_shapes
from ._numpy.shapes import broadcast_to as broadcast_to
from numpy import byte as byte
from ._cupy import byte_bounds as byte_bounds
from ._numpy.grids import c_ as c_
from ._core import cache_directory as cache_directory
from ._numpy.shapes import can_cast as can_cast
cbrt: _core.ufunc
from numpy import cdouble as cdouble
ceil: _core.ufunc
from ._numpy.indexing import choose as choose
from ._core import clear_cache as clear_cache
from ._core import clear_kernel_history as clear_kernel_history
from ._cupy import clear_memo as clear_memo
from ._numpy.shapes import clip as clip
from ._numpy.rearranging import column_stack as column_stack
from ._numpy.dtypes import common_type as common_type
from numpy import complex128 as complex128
from numpy import complex64 as complex64
from numpy import complexfloating as complexfloating
from ._numpy.indexing import compress as compress
from ._numpy.rearranging import concat as concat
from ._numpy.shapes import concatenate as concatenate
conj: _core.ufunc
conjugate: _core.ufunc
from ._numpy.calculus import convolve as convolve
from ._numpy.shapes import copy as copy
copysign: _core.ufunc
from ._numpy.shapes import copyto as copyto
from ._numpy.statistics import corrcoef as corrcoef
from ._numpy.calculus import correlate as correlate
cos: _core.ufunc
cosh: _core.ufunc
count_nonzero: CountFunction
from ._numpy.statistics import cov as cov
from ._numpy.products import cross as cross
from numpy import csingle as csingle
from . import cuda as cuda
from ._numpy.scans import cumprod as cumprod
from ._numpy.scans import cumsum as cumsum
from ._numpy.scans import cumulative_prod as cumulative_prod
from ._numpy.scans import cumulative_sum as cumulative_sum
from ._core import default_device as default_device
deg2rad: _core.ufunc
degrees: _core.ufunc
from ._numpy.rearranging import delete as delete
from ._core import device as device
from ._numpy.indexing import diag as diag
from ._numpy.indexing import diag_indices as diag_indices
from ._numpy.indexing import diag_indices_from as diag_indices_from
from ._numpy.indexing import diagflat as diagflat
from ._numpy.indexing import diagonal as diagonal
from ._numpy.calculus import diff as diff
from ._numpy.histogram import digitize as digitize
divide: _core.ufunc
divmod: _Pair
from ._numpy.products import dot as dot
double = float64
from ._numpy.rearranging import dsplit as dsplit
from ._numpy.rearranging import dstack as dstack
from numpy import dtype as dtype
from numpy import e as e
from ._numpy.calculus import ediff1d as ediff1d
from ._numpy.einsum import einsum as einsum
from ._numpy.einsum import einsum_path as einsum_path
from ._core import elementwise_names as elementwise_names
from ._numpy.creation import empty as empty
from ._numpy.creation import empty_like as empty_like
equal: _core.ufunc
from . import errors as errors
from numpy import errstate as errstate
from numpy import euler_gamma as euler_gamma
exp: _core.ufunc
exp2: _core.ufunc
from ._numpy.shapes import expand_dims as expand_dims
expm1: _core.ufunc
from ._numpy.indexing import extract as extract
from ._numpy.creation import eye as eye
fabs: _core.ufunc
from . import fft as fft
from ._numpy.indexing import fill_diagonal as fill_diagonal
from ._numpy.dtypes import finfo as finfo
from ._core import finish_background_compilation as finish_background_compilation
from ._numpy.elementwise import fix as fix
from ._numpy.indexing import flatnonzero as flatnonzero
from ._numpy.rearranging import flip as flip
from ._numpy.rearranging import fliplr as fliplr
from ._numpy.rearranging import flipud as flipud
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
float_power: _core.ufunc
from numpy import floating as floating
floor: _core.ufunc
floor_divide: _core.ufunc
fmax: _core.ufunc
fmin: _core.ufunc
fmod: _core.ufunc
from numpy import format_float_positional as format_float_positional
from numpy import format_float_scientific as format_float_scientific
from ._core import free_held_memory as free_held_memory
frexp: _Pair
from ._numpy.conversion import from_dlpack as from_dlpack
from ._numpy.files import frombuffer as frombuffer
from ._numpy.files import fromfile as fromfile
from ._numpy.apply import fromfunction as fromfunction
from ._numpy.files import fromiter as fromiter
from ._numpy.apply import frompyfunc as frompyfunc
from ._numpy.files import fromstring as fromstring
from ._numpy.creation import full as full
from ._numpy.creation import full_like as full_like
from ._fuse import fuse as fuse
gcd: _core.ufunc
from numpy import generic as generic
from ._numpy.files import genfromtxt as genfromtxt
from ._numpy.sequences import geomspace as geomspace
from ._numpy.conversion import get_array_module as get_array_module
from .memory import get_default_memory_pool as get_default_memory_pool
from .memory import get_default_pinned_memory_pool as get_default_pinned_memory_pool
from ._core import get_num_threads as get_num_threads
from numpy import get_printoptions as get_printoptions
from numpy import geterr as geterr
from numpy import geterrcall as geterrcall
from ._numpy.calculus import gradient as gradient
greater: _core.ufunc
greater_equal: _core.ufunc
from ._guvectorize import guvectorize as guvectorize
half = float16
from ._numpy.sequences import hamming as hamming
from ._numpy.sequences import hanning as hanning
heaviside: _core.ufunc
from ._numpy.histogram import histogram as histogram
from ._numpy.histogram import histogram2d as histogram2d
from ._numpy.histogram import histogram_bin_edges as histogram_bin_edges
from ._numpy.histogram import histogramdd as histogramdd
from ._numpy.rearranging import hsplit as hsplit
from ._numpy.shapes import hstack as hstack
hypot: _core.ufunc
i0: _core.ufunc
from ._numpy.creation import identity as identity
from ._numpy.dtypes import iinfo as iinfo
from ._numpy.elementwise import imag as imag
from . import image as image
from numpy import index_exp as index_exp
from ._numpy.indexing import indices as indices
from numpy import inexact as inexact
from numpy import inf as inf
from ._numpy.products import inner as inner
from ._numpy.rearranging import insert as insert
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int8 as int8
from numpy import int_ as int_
from numpy import intc as intc
from numpy import integer as integer
from ._numpy.calculus import interp as interp
from ._numpy.sets import intersect1d as intersect1d
from numpy import intp as intp
invert: _core.ufunc
from ._cupy import is_available as is_available
from ._numpy.shapes import isclose as isclose
iscomplex: _core.ufunc
from ._numpy.elementwise import iscomplexobj as iscomplexobj
from ._numpy.dtypes import isdtype as isdtype
isfinite: _core.ufunc
from ._numpy.elementwise import isfortran as isfortran
from ._numpy.sets import isin as isin
isinf: _core.ufunc
isnan: _core.ufunc
from ._numpy.elementwise import isnat as isnat
isneginf: _core.ufunc
isposinf: _core.ufunc
isreal: _core.ufunc
from ._numpy.elementwise import isrealobj as isrealobj
from ._numpy.dtypes import isscalar as isscalar
from ._numpy.dtypes import issubdtype as issubdtype
from numpy import iterable as iterable
from ._numpy.indexing import ix_ as ix_
from . import jit as jit
from ._numpy.sequences import kaiser as kaiser
from ._core import kernel_history as kernel_history
from ._numpy.products import kron as kron
lcm: _core.ufunc
ldexp: _core.ufunc
left_shift: _core.ufunc
less: _core.ufunc
less_equal: _core.ufunc
from ._numpy.sorting import lexsort as lexsort
from . import lib as lib
from . import linalg as linalg
from ._numpy.creation import linspace as linspace
from ._numpy.files import load as load
from ._numpy.files import loadtxt as loadtxt
log: _core.ufunc
log10: _core.ufunc
log1p: _core.ufunc
log2: _core.ufunc
logaddexp: _core.ufunc
logaddexp2: _core.ufunc
logical_and: _core.ufunc
logical_not: _core.ufunc
logical_or: _core.ufunc
logical_xor: _core.ufunc
from ._numpy.sequences import logspace as logspace
from numpy import long as long
from numpy import longlong as longlong
from ._numpy.indexing import mask_indices as mask_indices
from ._numpy.products import matmul as matmul
from ._numpy.rearranging import matrix_transpose as matrix_transpose
from ._numpy.products import matvec as matvec
max: SelectionFunction
maximum: _core.ufunc
from ._numpy.elementwise import may_share_memory as may_share_memory
mean: MeanFunction
from ._numpy.quantiles import median as median
from ._cupy import memoize as memoize
from . import memory as memory
from ._core import memory_statistics as memory_statistics
from ._numpy.sequences import meshgrid as meshgrid
from ._numpy.grids import mgrid as mgrid
min: SelectionFunction
from ._numpy.dtypes import min_scalar_type as min_scalar_type
minimum: _core.ufunc
mod: _core.ufunc
modf: _Pair
from ._numpy.shapes import moveaxis as moveaxis
multiply: _core.ufunc
from numpy import nan as nan
from ._numpy.shapes import nan_to_num as nan_to_num
from ._numpy.statistics import nanargmax as nanargmax
from ._numpy.statistics import nanargmin as nanargmin
from ._numpy.scans import nancumprod as nancumprod
from ._numpy.scans import nancumsum as nancumsum
nanmax: SelectionFunction
from ._numpy.statistics import nanmean as nanmean
from ._numpy.quantiles import nanmedian as nanmedian
nanmin: SelectionFunction
from ._numpy.quantiles import nanpercentile as nanpercentile
nanprod: ReductionFunction
from ._numpy.quantiles import nanquantile as nanquantile
from ._numpy.statistics import nanstd as nanstd
nansum: ReductionFunction
from ._numpy.statistics import nanvar as nanvar
from ._core import ndarray as ndarray
from ._numpy.grids import ndenumerate as ndenumerate
from ._numpy.shapes import ndim as ndim
from numpy import ndindex as ndindex
negative: _core.ufunc
from numpy import newaxis as newaxis
nextafter: _core.ufunc
from . import nn as nn
from ._numpy.indexing import nonzero as nonzero
not_equal: _core.ufunc
from numpy import number as number
from ._numpy.grids import ogrid as ogrid
from ._numpy.creation import ones as ones
from ._numpy.creation import ones_like as ones_like
from ._numpy.products import outer as outer
from ._numpy.bits import packbits as packbits
from ._numpy.padding import pad as pad
from ._numpy.sorting import partition as partition
from ._numpy.quantiles import percentile as percentile
from ._numpy.rearranging import permute_dims as permute_dims
from numpy import pi as pi
from ._numpy.indexing import piecewise as piecewise
from . import pipeline as pipeline
from ._numpy.indexing import place as place
from ._numpy.polynomials import poly as poly
from ._numpy.polynomials import poly1d as poly1d
from ._numpy.polynomials import polyadd as polyadd
from ._numpy.polynomials import polyder as polyder
from ._numpy.polynomials import polydiv as polydiv
from ._numpy.polynomials import polyfit as polyfit
from ._numpy.polynomials import polyint as polyint
from ._numpy.polynomials import polymul as polymul
from ._numpy.polynomials import polysub as polysub
from ._numpy.polynomials import polyval as polyval
positive: _core.ufunc
pow: _core.ufunc
power: _core.ufunc
from numpy import printoptions as printoptions
prod: ReductionFunction
from . import profiler as profiler
from ._numpy.shapes import promote_types as promote_types
from ._numpy.statistics import ptp as ptp
from ._numpy.indexing import put as put
from ._numpy.indexing import put_along_axis as put_along_axis
from ._numpy.indexing import putmask as putmask
from ._numpy.quantiles import quantile as quantile
from ._numpy.grids import r_ as r_
rad2deg: _core.ufunc
radians: _core.ufunc
from . import random as random
from ._numpy.shapes import ravel as ravel
from ._numpy.indexing import ravel_multi_index as ravel_multi_index
from ._numpy.elementwise import real as real
from ._numpy.elementwise import real_if_close as real_if_close
reciprocal: _core.ufunc
from ._core import reduction_names as reduction_names
remainder: _core.ufunc
from ._numpy.indexing import repeat as repeat
from ._numpy.conversion import require as require
from ._numpy.shapes import reshape as reshape
from ._numpy.rearranging import resize as resize
from ._numpy.shapes import result_type as result_type
right_shift: _core.ufunc
rint: _core.ufunc
from ._numpy.rearranging import roll as roll
from ._numpy.rearranging import rollaxis as rollaxis
from ._numpy.polynomials import roots as roots
from ._numpy.rearranging import rot90 as rot90
from ._numpy.elementwise import round as round
row_stack = vstack
from ._cupy import rsqrt as rsqrt
from numpy import s_ as s_
from ._numpy.files import save as save
from ._numpy.files import savetxt as savetxt
from ._numpy.files import savez as savez
from ._numpy.files import savez_compressed as savez_compressed
from ._cupy import scatter_add as scatter_add
from ._cupy import scatter_max as scatter_max
from ._cupy import scatter_min as scatter_min
from ._numpy.histogram import searchsorted as searchsorted
from ._numpy.indexing import select as select
from ._numpy.indexing import set_index_check as set_index_check
from ._core import set_memory_limit as set_memory_limit
from ._core import set_num_threads as set_num_threads
from numpy import set_printoptions as set_printoptions
from ._numpy.sets import setdiff1d as setdiff1d
from numpy import seterr as seterr
from numpy import seterrcall as seterrcall
from ._numpy.sets import setxor1d as setxor1d
from ._numpy.shapes import shape as shape
from ._numpy.elementwise import shares_memory as shares_memory
from numpy import short as short
from ._cupy import show_config as show_config
sign: _core.ufunc
signbit: _core.ufunc
from numpy import signedinteger as signedinteger
sin: _core.ufunc
sinc: _core.ufunc
single = float32
sinh: _core.ufunc
from ._numpy.shapes import size as size
from ._numpy.sorting import sort as sort
from ._numpy.sorting import sort_complex as sort_complex
spacing: _core.ufunc
from ._numpy.rearranging import split as split
sqrt: _core.ufunc
square: _core.ufunc
from ._numpy.shapes import squeeze as squeeze
from ._numpy.shapes import stack as stack
from ._numpy.statistics import std as std
subtract: _core.ufunc
sum: ReductionFunction
from ._numpy.shapes import swapaxes as swapaxes
from ._numpy.indexing import take as take
from ._numpy.indexing import take_along_axis as take_along_axis
tan: _core.ufunc
tanh: _core.ufunc
from ._numpy.products import tensordot as tensordot
from . import testing as testing
from ._numpy.rearranging import tile as tile
from ._numpy.indexing import trace as trace
from ._numpy.shapes import transpose as transpose
from ._numpy.calculus import trapezoid as trapezoid
from ._numpy.indexing import tri as tri
from ._numpy.indexing import tril as tril
from ._numpy.indexing import tril_indices as tril_indices
from ._numpy.indexing import tril_indices_from as tril_indices_from
from ._numpy.rearranging import trim_zeros as trim_zeros
from ._numpy.indexing import triu as triu
from ._numpy.indexing import triu_indices as triu_indices
from ._numpy.indexing import triu_indices_from as triu_indices_from
true_divide: _core.ufunc
trunc: _core.ufunc
from numpy import ubyte as ubyte
from ._core import ufunc as ufunc
from numpy import uint as uint
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uint8 as uint8
from numpy import uintc as uintc
from numpy import uintp as uintp
from numpy import ulong as ulong
from numpy import ulonglong as ulonglong
from ._numpy.sets import union1d as union1d
from ._numpy.sets import unique as unique
from ._numpy.sets import unique_all as unique_all
from ._numpy.sets import unique_counts as unique_counts
from ._numpy.sets import unique_inverse as unique_inverse
from ._numpy.sets import unique_values as unique_values
from ._numpy.bits import unpackbits as unpackbits
from ._numpy.indexing import unravel_index as unravel_index
from numpy import unsignedinteger as unsignedinteger
from ._numpy.rearranging import unstack as unstack
from ._numpy.calculus import unwrap as unwrap
from numpy import ushort as ushort
from ._numpy.sequences import vander as vander
from ._numpy.statistics import var as var
from ._numpy.products import vdot as vdot
from ._numpy.products import vecdot as vecdot
from ._numpy.products import vecmat as vecmat
from ._vectorize import vectorize as vectorize
from ._numpy.rearranging import vsplit as vsplit
from ._numpy.shapes import vstack as vstack
from ._numpy.indexing import where as where
from ._numpy.creation import zeros as zeros
from ._numpy.creation import zeros_like as zeros_like
