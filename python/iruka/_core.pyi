"""The C++ core of iruka."""

from collections.abc import Iterable, Iterator, Sequence
import os
import types
from typing import Any, SupportsIndex

import numpy

import iruka._array
_color: Any
_filters: Any
_geometry: Any
_image: Any
_nn: Any
_pipeline: Any
_random: Any
import iruka._kernel
import iruka._numpy.indexing


class Device:
    """
    A place that holds arrays and runs kernels: Device(0) is the first GPU, Device('cpu') the CPU, Device() the default device. In a `with` statement the default device of the calling thread. Raises DeviceError that says what is missing.
    """

    def __init__(self, device: int | str | Device | None = None) -> None: ...

    @property
    def id(self) -> int:
        """Number of the device among those of its kind."""

    @property
    def name(self) -> str:
        """'cpu', 'cuda:0'..."""

    def synchronize(self) -> None:
        """Waits until all work of the device is done."""

    @property
    def compute_capability(self) -> str:
        """Of a GPU, for example '90' for 9.0."""

    @property
    def mem_info(self) -> tuple[int, int]:
        """The free and the total memory of a GPU, in bytes."""

    @property
    def pci_bus_id(self) -> str:
        """Of a GPU, for example '0000:1B:00.0'."""

    @property
    def attributes(self) -> dict[str, int]:
        """The driver's attributes of a GPU, by CUDA's names."""

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __reduce__(self) -> tuple: ...

    def __hash__(self) -> int: ...

    def __enter__(self) -> Device:
        """Arrays are made on this device until the `with` statement ends."""

    def __exit__(self, *exception) -> None: ...

    def use(self) -> None:
        """Makes this the calling thread's default device."""

def device(name: str | int | Device) -> Device:
    """
    The device of that name. Raises iruka.errors.DeviceError that says what is missing.
    """

def default_device() -> Device:
    """
    Where arrays are made unless a call says otherwise: what `with` statements and Device.use() chose, else the environment's IRUKA_DEVICE, else the first GPU if there is one, else the CPU.
    """

def get_num_threads() -> int:
    """Threads that run CPU kernels, the caller included."""

def set_num_threads(count: int) -> None:
    """
    Sets how many threads run CPU kernels. Raises ValueError for less than 1.
    """

class ndarray:
    """
    An array: shape, strides, dtype and a handle on memory. ndarray(shape, dtype) is uninitialised; ndarray(shape, dtype, memptr, strides, order) is a view of the memory of another array, from the first element of the one whose `data` memptr is. iruka.array, zeros, arange and their neighbours make filled ones.
    """

    def __hash__(self) -> int: ...

    def __lt__(self, value, /) -> ndarray: ...

    def __le__(self, value, /) -> ndarray: ...

    def __eq__(self, value, /) -> ndarray: ...  # type: ignore[override]

    def __ne__(self, value, /) -> ndarray: ...  # type: ignore[override]

    def __gt__(self, value, /) -> ndarray: ...

    def __ge__(self, value, /) -> ndarray: ...

    def __iter__(self) -> Iterator[ndarray]: ...

    def __init__(self, shape, dtype='float64', memptr=None, strides=None, order: str = 'C') -> None: ...

    def __add__(self, value, /) -> ndarray: ...

    def __radd__(self, value, /) -> ndarray: ...

    def __sub__(self, value, /) -> ndarray: ...

    def __rsub__(self, value, /) -> ndarray: ...

    def __mul__(self, value, /) -> ndarray: ...

    def __rmul__(self, value, /) -> ndarray: ...

    def __mod__(self, value, /) -> ndarray: ...

    def __rmod__(self, value, /) -> ndarray: ...

    def __divmod__(self, value, /) -> tuple[ndarray, ndarray]: ...

    def __rdivmod__(self, value, /) -> tuple[ndarray, ndarray]: ...

    def __pow__(self, value, mod: None = None, /) -> ndarray: ...  # type: ignore[misc, unused-ignore]

    def __rpow__(self, value, mod: None = None, /) -> ndarray: ...  # type: ignore[misc, unused-ignore]

    def __neg__(self) -> ndarray: ...

    def __pos__(self) -> ndarray: ...

    def __abs__(self) -> ndarray: ...

    def __bool__(self) -> bool: ...

    def __invert__(self) -> ndarray: ...

    def __lshift__(self, value, /) -> ndarray: ...

    def __rlshift__(self, value, /) -> ndarray: ...

    def __rshift__(self, value, /) -> ndarray: ...

    def __rrshift__(self, value, /) -> ndarray: ...

    def __and__(self, value, /) -> ndarray: ...

    def __rand__(self, value, /) -> ndarray: ...

    def __xor__(self, value, /) -> ndarray: ...

    def __rxor__(self, value, /) -> ndarray: ...

    def __or__(self, value, /) -> ndarray: ...

    def __ror__(self, value, /) -> ndarray: ...

    def __int__(self) -> int: ...

    def __float__(self) -> float: ...

    def __iadd__(self, value, /) -> ndarray: ...

    def __isub__(self, value, /) -> ndarray: ...

    def __imul__(self, value, /) -> ndarray: ...

    def __imod__(self, value, /) -> ndarray: ...

    def __ipow__(self, value, mod: None = None, /) -> ndarray: ...  # type: ignore[misc, unused-ignore]

    def __ilshift__(self, value, /) -> ndarray: ...

    def __irshift__(self, value, /) -> ndarray: ...

    def __iand__(self, value, /) -> ndarray: ...

    def __ixor__(self, value, /) -> ndarray: ...

    def __ior__(self, value, /) -> ndarray: ...

    def __floordiv__(self, value, /) -> ndarray: ...

    def __rfloordiv__(self, value, /) -> ndarray: ...

    def __truediv__(self, value, /) -> ndarray: ...

    def __rtruediv__(self, value, /) -> ndarray: ...

    def __ifloordiv__(self, value, /) -> ndarray: ...

    def __itruediv__(self, value, /) -> ndarray: ...

    def __index__(self) -> int: ...

    def __matmul__(self, value, /) -> ndarray: ...

    def __rmatmul__(self, value, /) -> ndarray: ...

    def __imatmul__(self, value, /) -> ndarray: ...

    def __len__(self) -> int: ...

    def __getitem__(self, key, /) -> ndarray: ...

    def __setitem__(self, key, value, /) -> None: ...

    def __contains__(self, value: object, /) -> bool: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, one an axis. May be set where strides allow it."""

    @shape.setter
    def shape(self, shape: int | tuple[int, ...], /) -> None: ...

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next, one an axis."""

    @property
    def dtype(self) -> numpy.dtype:
        """Element type, a numpy.dtype."""

    @property
    def ndim(self) -> int:
        """Number of axes, 0 to 32."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def nbytes(self) -> int:
        """Bytes that the elements take."""

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""

    @property
    def T(self) -> ndarray:
        """View with the axes reversed."""

    @property
    def mT(self) -> ndarray:
        """
        View with the last two axes exchanged. Raises ValueError for fewer than two.
        """

    @property
    def device(self) -> Device:
        """Where the elements are."""

    @property
    def flags(self) -> iruka._array.Flags:
        """
        Memory layout: c_contiguous, f_contiguous, writeable, owndata, aligned.
        """

    @property
    def data(self) -> iruka._array.Memory:
        """The memory: data.ptr is the address of the first element."""

    @property
    def real(self) -> ndarray:
        """Real part: a view, the array itself where it is real. May be set."""

    @real.setter
    def real(self, values: object, /) -> None: ...

    @property
    def imag(self) -> ndarray:
        """Imaginary part: a view, which may be set; zeros for a real array."""

    @imag.setter
    def imag(self, values: object, /) -> None: ...

    @property
    def _address(self) -> int: ...

    @property
    def _is_value(self) -> bool: ...

    @property
    def _layout(self) -> tuple: ...

    __array_priority__: int = 1000

    def reshape(self, *shape, order: str = 'C', copy: bool | None = None) -> ndarray:
        """
        The same elements in another shape: a view where strides allow it, else a copy; copy=True always copies and copy=False raises ValueError where it must. One extent may be -1.
        """

    def ravel(self, order: str = 'C') -> ndarray:
        """
        The elements as a contiguous 1-d array: a view if possible, otherwise a copy.
        """

    def flatten(self, order: str = 'C') -> ndarray:
        """The elements along one axis, copied."""

    def transpose(self, *axes) -> ndarray:
        """View with the axes in the given order; reversed without one."""

    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        """View with two axes exchanged."""

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> ndarray:
        """View without axes of extent 1."""

    def view(self, dtype=None) -> ndarray:
        """The same bytes, as another dtype when one is given."""

    def _expand_dims(self, arg: int, /) -> Any: ...

    def _broadcast_to(self, arg: object, /) -> Any: ...

    def _as_strided(self, arg0: object, arg1: object, arg2: bool, /) -> Any: ...

    def astype(self, dtype, order: str = 'K', casting: str = 'unsafe', copy: bool = True) -> ndarray:
        """
        A copy with another dtype. A float out of an integer's range saturates and NaN gives 0 (NumPy leaves both to the processor). copy=False: itself when nothing changes. Raises TypeError where `casting` forbids the cast.
        """

    def copy(self, order: str = 'C') -> ndarray:
        """A copy with its own memory."""

    def __copy__(self) -> Any: ...

    def __deepcopy__(self, memo: object) -> Any: ...

    def fill(self, value: object) -> None:
        """Sets every element to a scalar."""

    def set(self, array, stream=None) -> None:
        """
        Copies the elements of an array of any library into this one. With a stream, in its order: a copy from pinned memory may then be under way when this returns.
        """

    def to_device(self, device: Device | str | int, /, *, stream=None) -> ndarray:
        """
        The array itself when it is there, else a copy on that device: 'cpu', 'cuda:0', a Device.
        """

    def item(self, *index: int) -> bool | int | float | complex:
        """
        One element as a Python scalar: the only one, or the one at a flat or full index.
        """

    def tolist(self) -> Any:
        """Nested lists of Python scalars."""

    def tobytes(self, order: str = 'C') -> bytes:
        """
        The elements in that order, as bytes: 'C', 'F', 'A' (F if the array is) or 'K' (memory order).
        """

    def get(self, stream=None, order: str = 'C', out: numpy.ndarray | None = None, blocking: bool = True) -> numpy.ndarray:
        """
        A NumPy array with a copy of the elements: `out` when it is given. blocking=False returns before a copy to pinned memory is done.
        """

    def copy_to_host(self, ary: numpy.ndarray | None = None, stream=None) -> numpy.ndarray:
        """
        Numba's name for get(): a NumPy array with a copy of the elements, `ary` when it is given.
        """

    def copy_to_device(self, ary, stream=None) -> None:
        """
        Numba's name for set(): copies the elements of `ary`, of the same shape, into this array.
        """

    def dot(self, b, out: ndarray | None = None) -> ndarray:
        """Matrix or inner product, as iruka.dot."""

    def clip(self, min=None, max=None, out: ndarray | None = None) -> ndarray:
        """Every element held within [min, max]."""

    def conj(self) -> ndarray:
        """Complex conjugate."""

    def sum(self, axis: int | tuple[int, ...] | None = None, dtype=None, out: ndarray | None = None, keepdims: bool = False, initial=None, where=None) -> ndarray:
        """Sum of elements along axes, of all without one."""

    def prod(self, axis: int | tuple[int, ...] | None = None, dtype=None, out: ndarray | None = None, keepdims: bool = False, initial=None, where=None) -> ndarray:
        """Product of elements along axes."""

    def mean(self, axis: int | tuple[int, ...] | None = None, dtype=None, out: ndarray | None = None, keepdims: bool = False, *, where=None) -> ndarray:
        """Arithmetic mean along axes, of integers in float64; NaN of none."""

    def min(self, axis: int | tuple[int, ...] | None = None, out: ndarray | None = None, keepdims: bool = False, initial=None, where=None) -> ndarray:
        """Smallest element along axes; NaN if one is."""

    def max(self, axis: int | tuple[int, ...] | None = None, out: ndarray | None = None, keepdims: bool = False, initial=None, where=None) -> ndarray:
        """Largest element along axes; NaN if one is."""

    def any(self, axis: int | tuple[int, ...] | None = None, out: ndarray | None = None, keepdims: bool = False, *, where=None) -> ndarray:
        """Whether an element along axes is nonzero."""

    def all(self, axis: int | tuple[int, ...] | None = None, out: ndarray | None = None, keepdims: bool = False, *, where=None) -> ndarray:
        """Whether every element along axes is nonzero."""

    def argmin(self, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
        """
        Index of the smallest element, the first of equals; of the first NaN if there is one.
        """

    def argmax(self, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
        """
        Index of the largest element, the first of equals; of the first NaN if there is one.
        """

    def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None) -> ndarray:
        """Mean of squared distances from the mean along axes."""

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None) -> ndarray:
        """Standard deviation along axes: the square root of var."""

    def ptp(self, axis=None, out=None, keepdims=False) -> ndarray:
        """Largest minus smallest element along axes."""

    def cumsum(self, axis=None, dtype=None, out=None) -> ndarray:
        """Sums of every prefix of an axis."""

    def cumprod(self, axis=None, dtype=None, out=None) -> ndarray:
        """Products of every prefix of an axis."""

    def searchsorted(self, v, side='left', sorter=None) -> ndarray:
        """Where elements of v belong in this sorted array."""

    def take(self, indices, axis: int | None = None, out: ndarray | None = None, mode: str = 'raise') -> ndarray:
        """Elements at indices, of the flattened array or along an axis."""

    def put(self, indices, values, mode: str = 'raise') -> None:
        """Sets elements of the flattened array; values repeat as needed."""

    def repeat(self, repeats, axis: int | None = None) -> ndarray:
        """Each element, or each slice along an axis, as often as `repeats` says."""

    def choose(self, choices, out: ndarray | None = None, mode: str = 'raise') -> ndarray:
        """Of each element, the choice that it numbers."""

    def compress(self, condition, axis: int | None = None, out: ndarray | None = None) -> ndarray:
        """Slices along an axis where a condition holds."""

    def nonzero(self) -> tuple[ndarray, ...]:
        """Indices of the nonzero elements, one array an axis."""

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
        """Read-only view of a diagonal, as the last axis."""

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out: ndarray | None = None) -> ndarray:
        """Sum along a diagonal."""

    @property
    def flat(self) -> iruka._numpy.indexing.FlatIterator:
        """The elements in C order as one axis: index, slice, assign, iterate."""

    @flat.setter
    def flat(self, values: object, /) -> None: ...

    def __repr__(self) -> str: ...

    def __str__(self) -> str: ...

    def __round__(self, ndigits: int | None = None) -> Any: ...

    def __trunc__(self) -> int: ...

    def __floor__(self) -> int: ...

    def __ceil__(self) -> int: ...

    def __complex__(self) -> complex: ...

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple: ...

    def __array__(self, dtype=None, copy: bool | None = None) -> numpy.ndarray: ...

    def __dlpack__(self, *, stream=None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    @property
    def __array_interface__(self) -> dict: ...

    @property
    def __cuda_array_interface__(self) -> dict: ...

    def conjugate(self) -> ndarray:
        """Complex conjugate."""

    def round(self, decimals: int = 0, out: ndarray | None = None) -> ndarray:
        """The nearest multiple of 10**-decimals, halves to even."""

    def __array_ufunc__(self, ufunc, method: str, *inputs, **kwargs) -> Any: ...

    def __array_function__(self, func, types, args, kwargs) -> Any: ...

    def __array_namespace__(self, /, *, api_version: str | None = None) -> types.ModuleType: ...

    @property
    def base(self) -> ndarray | None:
        """
        None where the elements are all of their memory; for a part of it, and for memory of another library, an array of one axis over the whole. No array owns memory that views share, so this is none of those made before.
        """

    def setflags(self, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
        """
        write=False: the array is read-only from now on, and views made of it are; write=True undoes that. Raises ValueError for memory that its owner keeps read-only, for broadcast views, and while other arrays share the memory. Arrays are always aligned.
        """

    @property
    def ctypes(self) -> Any:
        """
        numpy.ndarray.ctypes of an array on the CPU: data, shape, strides, data_as(). AttributeError on a GPU.
        """

    def resize(self, *new_shape, refcheck: bool = True) -> None:
        """
        Changes shape and size in place; new elements are 0. Raises ValueError where views or other names see the array (refcheck=False: views keep the memory they have) and for arrays that are not contiguous.
        """

    def byteswap(self, inplace: bool = False) -> ndarray:
        """
        The elements with their bytes in reverse order, the dtype unchanged; of complex numbers, each part.
        """

    def getfield(self, dtype, offset: int = 0) -> ndarray:
        """
        View of some bytes of each element as another dtype, whose size divides `offset`.
        """

    def setfield(self, val, dtype, offset: int = 0) -> None:
        """Writes values into some bytes of each element."""

    def tofile(self, fid, sep: str = '', format: str = '%s') -> None:
        """
        Writes the elements in C order to a file or path: bytes, or texts with `sep` between them.
        """

    def dump(self, file) -> None:
        """Pickles the array to a file or path."""

    def dumps(self) -> bytes:
        """The array pickled, as bytes."""

    def scatter_add(self, slices, value) -> None:
        """self[slices] += value, repeated indices adding up: iruka.add.at."""

    def scatter_max(self, slices, value) -> None:
        """self[slices] = max(self[slices], value): iruka.maximum.at."""

    def scatter_min(self, slices, value) -> None:
        """self[slices] = min(self[slices], value): iruka.minimum.at."""

    def reduced_view(self, dtype=None) -> ndarray:
        """View with as few axes as strides allow, C order kept."""

    def toDlpack(self) -> Any:
        """A DLPack capsule: __dlpack__() under CuPy's older name."""

    def sort(self, axis: int = -1, kind: str | None = None, *, stable: bool | None = None, descending: bool = False) -> None:
        """Sorts along an axis, in place. NaN comes last."""

    def argsort(self, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None, descending: bool = False) -> ndarray:
        """The indices that sort along an axis; of the flattened array for None."""

    def partition(self, kth, axis: int = -1, kind: str = 'introselect') -> None:
        """
        Puts the elements at positions kth where sort would, smaller ones before and larger ones behind, in place.
        """

    def argpartition(self, kth, axis: int | None = -1, kind: str = 'introselect') -> ndarray:
        """
        The indices that partition along an axis; of the flattened array for None.
        """

def asnumpy(array: ndarray) -> numpy.ndarray: ...

def is_cpp_name(text: str) -> bool:
    """
    Whether the text is an identifier of C++, as the name of a kernel is, and no keyword.
    """

class ParameterInfo:
    """One parameter of a kernel."""

    @property
    def name(self) -> str:
        """The name in the body."""

    @property
    def type(self) -> str:
        """Type as written: 'float32', or a placeholder's letter."""

    @property
    def dtype(self) -> numpy.dtype | None:
        """Its numpy.dtype; None for a placeholder."""

    @property
    def ctype(self) -> str:
        """The C++ type in the body; for a placeholder its letter."""

    @property
    def raw(self) -> bool:
        """Whether the body uses the whole array."""

    @property
    def extent(self) -> int | None:
        """Elements of a small array by value; None for anything else."""

    @property
    def is_const(self) -> bool:
        """
        Whether it is an input without `_non_const`. To a raw one that does not say const the body may
        write where the array is writable.
        """

    def __repr__(self) -> str: ...

class Remark:
    """One thing to know about the code that was made of a kernel."""

    @property
    def kind(self) -> str:
        """
        'not_widened', 'note', 'gather', 'scatter', 'divergent_branch', 'divergent_loop', 'per_lane', 'interleaved' or 'spill'.
        """

    @property
    def file(self) -> str:
        """
        'operation', 'preamble', 'loop_prep' or 'after_loop'; another name, or '', for other text.
        """

    @property
    def line(self) -> int:
        """Line of that text, from 1; 0 where it is not known."""

    @property
    def column(self) -> int:
        """Column of that line in bytes, from 1; 0 where it is not known."""

    @property
    def message(self) -> str:
        """What is to say."""

    def __repr__(self) -> str: ...

class KernelReport:
    """How a kernel runs for given dtypes and layouts; print it."""

    @property
    def kernel(self) -> str:
        """The kernel's name."""

    @property
    def device(self) -> str:
        """Name of the device that the code is for."""

    @property
    def lanes(self) -> int:
        """How many elements run side by side; 1 where the body was not widened."""

    @property
    def reason(self) -> str:
        """Why the body was not widened; '' where it was."""

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """
        The remarks, in the order of the kernel's texts; one of each kind at a place.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class ElementwiseKernel:
    """
    The body of a loop as a string of C++, run over whole arrays.

    in_params and out_params are comma-separated `[raw] [const|_non_const] TYPE NAME`; TYPE is a NumPy dtype name or a
    one-letter placeholder whose dtype the arguments decide. In operation, a plain parameter is the current element,
    a raw one is a CArray, and an input `TYPE NAME[EXTENT]` is a small array whose elements are passed by value; `i` is the element's index, `n` and `_ind.size()` the number of elements. preamble
    holds helper functions, loop_prep and after_loop run before and after the elements, options go to the compiler.
    reduce_dims merges axes if layouts allow; no_return and return_tuple change what a call returns.

    A call takes the inputs, then optionally the outputs to fill, and size= if every array is raw; block_size= and
    stream= are accepted for compatibility with CuPy. Inputs are arrays, scalars, and objects that iruka.asarray
    converts. Tensors on the device, and NumPy arrays on the CPU, are used without a copy. Arrays broadcast and are
    never cast; scalars are cast to the parameter's type.

    Raises ValueError for malformed parameters or names, TypeError for arguments that do not fit, and
    iruka.errors.CompileError, with the line and a caret, for a body that is invalid C++; without a line for one that takes
    too long to compile (option --compile-timeout=SECONDS), and for faults that only the machine code shows, at the first
    call: all local variables together take more than 1 MiB. Gives an iruka.errors.KernelWarning, once, for valid C++ that is probably a
    mistake: an output that is never written, a statement without effect. Ctrl-C stops a kernel that runs on the CPU,
    whichever thread called it.

        >>> add = iruka.ElementwiseKernel('float32 x, float32 y', 'float32 z', 'z = x + y;', 'add')
        >>> add(iruka.arange(3, dtype='float32'), 1)
        array([1., 2., 3.], dtype=float32)
    """

    def __call__(self, *args, size: int | None = None, block_size: int = ..., stream=None) -> Any: ...

    def __init__(self, in_params: str, out_params: str, operation: str, name: str = 'kernel', reduce_dims: bool = True, preamble: str = '', no_return: bool = False, return_tuple: bool = False, doc: str = '', *, options: tuple[str, ...] = (), loop_prep: str = '', after_loop: str = '') -> None: ...

    @property
    def operation(self) -> str:
        """The body."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    @property
    def name(self) -> str:
        """The kernel's name."""

    @property
    def preamble(self) -> str:
        """Helper functions and types."""

    @property
    def options(self) -> tuple[str, ...]:
        """Compiler options."""

    @property
    def in_params(self) -> tuple[ParameterInfo, ...]:
        """Inputs."""

    @property
    def out_params(self) -> tuple[ParameterInfo, ...]:
        """Outputs."""

    @property
    def params(self) -> tuple[ParameterInfo, ...]:
        """Inputs, then outputs."""

    @property
    def nin(self) -> int:
        """Number of inputs."""

    @property
    def nout(self) -> int:
        """Number of outputs."""

    @property
    def nargs(self) -> int:
        """Inputs and outputs together."""

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """
        Texts generated so far, by the dtypes of the arrays; of several the first.
        """

    @property
    def cached_code(self) -> str:
        """The first text generated. Raises ValueError before the first call."""

    @property
    def reduce_dims(self) -> bool:
        """Whether axes are merged."""

    @property
    def no_return(self) -> bool:
        """Whether a call returns None."""

    @property
    def return_tuple(self) -> bool:
        """Whether a call always returns a tuple."""

    def source(self, *args, size: int | None = None) -> str:
        """The C++ text made for arguments like these."""

    def assembly(self, *args, size: int | None = None) -> str:
        """The machine code for arguments like these, as text."""

    def report(self, *args, size: int | None = None) -> KernelReport:
        """
        How many elements run side by side for arguments like these, or why they do not, by the body's lines.

        Compiles again at each call. Raises what a call with these arguments raises before it runs.
        """

    def path(self, *args, size: int | None = None) -> str:
        """
        Writes source(...) to a file that is kept in the cache folder and returns its path.
        """

class ReductionKernel:
    """
    A reduction as three strings of C++, run over whole arrays in one pass.

    map_expr gives a value for an element. It may use plain inputs by name, raw ones as a CArray, `_J`, the element's
    index along the reduction, and `_in_ind.size()`, the number of all elements. reduce_expr combines two values, `a`
    and `b`, in any order. post_map_expr assigns the outputs (`y = sqrt(a)`); it may use the reduced value as `a`,
    scalars and raw arrays. identity, a number or C++, is the result of a reduction over no elements; combining it
    with a value must give that value. With None, such a reduction is a ValueError. Values have reduce_type, by
    default the first output's type: a dtype's name, or a type of the preamble of up to 64 bytes. Parameters are those
    of ElementwiseKernel. With reduce_dims=False, `_in_ind.get()` is an element's index along each axis, reduced axes
    first.

    A call takes the inputs, as ElementwiseKernel does, which broadcast together, then optionally the outputs to fill, or
    out=; axis= (an int, a tuple, None for all), keepdims= and stream=. It returns the output, or a tuple of several. The
    order in which values are combined depends only on shapes, layouts and the device, so that results are the same on
    every run.

    Raises ValueError for malformed parameters or names, TypeError for arguments that do not fit, AxisError and
    IndexError for axes, ShapeError for an output of another shape, and iruka.errors.CompileError, with the line and a
    caret. Warns of iruka.errors.KernelWarning as ElementwiseKernel does.

        >>> l2norm = iruka.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2norm')
        >>> l2norm(iruka.arange(10, dtype='float32').reshape(2, 5), axis=1)
        array([ 5.477226 , 15.9687195], dtype=float32)
    """

    def __call__(self, *args, out: ndarray | tuple[ndarray, ...] | None = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, stream=None) -> ndarray | tuple[ndarray, ...]: ...

    def __init__(self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: str | int | float | None, name: str = 'reduce_kernel', reduce_type: str | None = None, reduce_dims: bool = True, preamble: str = '', options: tuple[str, ...] = ()) -> None: ...

    @property
    def map_expr(self) -> str:
        """What an element becomes."""

    @property
    def reduce_expr(self) -> str:
        """What two values become."""

    @property
    def post_map_expr(self) -> str:
        """What the outputs become."""

    @property
    def identity(self) -> str:
        """The identity as C++; '' for none."""

    @property
    def reduce_type(self) -> str:
        """The type of mapped values."""

    @property
    def reduce_dims(self) -> bool:
        """
        Whether `_in_ind` and `_out_ind` have one axis, not those of the arrays.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    @property
    def name(self) -> str:
        """The kernel's name."""

    @property
    def preamble(self) -> str:
        """Helper functions and types."""

    @property
    def options(self) -> tuple[str, ...]:
        """Compiler options."""

    @property
    def in_params(self) -> tuple[ParameterInfo, ...]:
        """Inputs."""

    @property
    def out_params(self) -> tuple[ParameterInfo, ...]:
        """Outputs."""

    @property
    def params(self) -> tuple[ParameterInfo, ...]:
        """Inputs, then outputs."""

    @property
    def nin(self) -> int:
        """Number of inputs."""

    @property
    def nout(self) -> int:
        """Number of outputs."""

    @property
    def nargs(self) -> int:
        """Inputs and outputs together."""

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """
        Texts generated so far, by the dtypes of the arrays; of several the first.
        """

    @property
    def cached_code(self) -> str:
        """The first text generated. Raises ValueError before the first call."""

    def source(self, *args, out=None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, stream=None) -> str:
        """
        The C++ text made for arguments like these; of several stages, one text after the other.
        """

    def assembly(self, *args, out=None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, stream=None) -> str:
        """The machine code for arguments like these, as text."""

    def report(self, *args, out=None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, stream=None) -> KernelReport:
        """
        How the stage that reads the inputs runs for arguments like these: how many of its units (parts of outputs, or outputs) run side by side, or why they do not, by the lines of the texts.

        Compiles again at each call. Raises what a call with these arguments raises before it runs.
        """

    def path(self, *args, out=None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, stream=None) -> str:
        """
        Writes source(...) to a file that is kept in the cache folder and returns its path.
        """

class StagedKernel:
    """
    Several C++ bodies over one index space, one after the other.

    Each stage runs for all elements before the next one begins, and sees what the stages before have written. in_params
    and out_params are those of ElementwiseKernel. intermediates lists arrays of the index space's shape ('float32 rows,
    T sums'), which exist during a call only: each stage sees them as raw parameters (`rows[i]`, `rows[{y, x}]`). A raw
    output that a call does not pass has the index space's shape, too.

    stages is a sequence of bodies. A tuple (body, count) is a stage that runs count times, with a barrier after each;
    count is a number, or the name of an integer input. Beside the names of ElementwiseKernel's bodies, a body sees
    `_step`, the number of the repetition, from 0. A tuple (body, count, elements) is a stage for the elements of each
    slice whose `_J` is less than elements, a C++ expression of scalars, `n`, `_step` and `_slice.size()`.

    axis (an int or a tuple of ints) promises that stages exchange values only along these axes. The others then make
    independent slices, each of which goes through all stages at once, with its intermediates in the processor's cache or
    a GPU's shared memory. By default all axes are one slice. In a body, `_J` is the element's place in its slice,
    `_slice.size()` the number of a slice's elements, `_slice[k]` the index `i` of element k of the slice, and `_i` the
    slice's number.

    preamble, options, reduce_dims, no_return and return_tuple are ElementwiseKernel's. A call takes the inputs, then
    optionally the outputs to fill, size= if every array is raw, axis= in place of the kernel's, and stream=. Plain inputs
    that share memory with an output keep their values from before the call.

    Raises ValueError for malformed parameters, names and stages, AxisError and IndexError for axes, and what
    ElementwiseKernel raises; an iruka.errors.CompileError names the stage. Warns of iruka.errors.KernelWarning as
    ElementwiseKernel does, and of an intermediate that is read before a stage has written to it.

        >>> smooth = iruka.StagedKernel('float32 x', 'float32 y', 'float32 left', [
        ...     'left[i] = _J > 0 ? x : 0;',
        ...     'y = _J + 1 < _slice.size() ? left[i] + left[i + 1] : left[i];'], 'smooth', axis=-1)
        >>> smooth(iruka.arange(8, dtype='float32').reshape(2, 4))
        array([[ 1.,  3.,  5.,  3.],
               [ 5., 11., 13.,  7.]], dtype=float32)
    """

    def __call__(self, *args, size: int | None = None, axis: int | tuple[int, ...] | None = None, stream=None) -> Any: ...

    def __init__(self, in_params: str, out_params: str, intermediates: str, stages: Iterable[str | tuple[str, int | str] | tuple[str, int | str, str]], name: str = 'staged_kernel', *, axis: int | tuple[int, ...] | None = None, preamble: str = '', options: tuple[str, ...] = (), reduce_dims: bool = True, no_return: bool = False, return_tuple: bool = False) -> None: ...

    @property
    def stages(self) -> tuple[str | tuple[str, int | str] | tuple[str, int | str, str], ...]:
        """The bodies; with counts and elements where they are given."""

    @property
    def axis(self) -> int | tuple[int, ...] | None:
        """The axes along which stages exchange values; None: all."""

    @property
    def intermediates(self) -> tuple[ParameterInfo, ...]:
        """Arrays between the stages."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    @property
    def name(self) -> str:
        """The kernel's name."""

    @property
    def preamble(self) -> str:
        """Helper functions and types."""

    @property
    def options(self) -> tuple[str, ...]:
        """Compiler options."""

    @property
    def in_params(self) -> tuple[ParameterInfo, ...]:
        """Inputs."""

    @property
    def out_params(self) -> tuple[ParameterInfo, ...]:
        """Outputs."""

    @property
    def params(self) -> tuple[ParameterInfo, ...]:
        """Inputs, then outputs."""

    @property
    def nin(self) -> int:
        """Number of inputs."""

    @property
    def nout(self) -> int:
        """Number of outputs."""

    @property
    def nargs(self) -> int:
        """Inputs and outputs together."""

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """
        Texts generated so far, by the dtypes of the arrays; of several the first.
        """

    @property
    def cached_code(self) -> str:
        """The first text generated. Raises ValueError before the first call."""

    @property
    def reduce_dims(self) -> bool:
        """Whether axes are merged."""

    @property
    def no_return(self) -> bool:
        """Whether a call returns None."""

    @property
    def return_tuple(self) -> bool:
        """Whether a call always returns a tuple."""

    def source(self, *args, size: int | None = None, axis: int | tuple[int, ...] | None = None, stream=None) -> str:
        """
        The C++ text made for arguments like these; where stages are launched one by one, one text after the other.
        """

    def assembly(self, *args, size: int | None = None, axis: int | tuple[int, ...] | None = None, stream=None) -> str:
        """The machine code for arguments like these, as text."""

    def report(self, *args, size: int | None = None, axis: int | tuple[int, ...] | None = None, stream=None) -> KernelReport:
        """
        How many elements run side by side for arguments like these, in the stage with the most, or why they do not, by the lines of the stages.

        Compiles again at each call. Raises what a call with these arguments raises before it runs.
        """

    def path(self, *args, size: int | None = None, axis: int | tuple[int, ...] | None = None, stream=None) -> str:
        """
        Writes source(...) to a file that is kept in the cache folder and returns its path.
        """

class RawKernel:
    """
    A __global__ function of CUDA C++, launched over a grid of blocks of threads.

    kernel(grid, block, args, *, shared_mem=0, stream=None): grid and block are an int or tuples of up to three, args is
    a tuple. It runs on the device of the arrays, else on the default device: GPUs, and the CPU, where a block's threads
    are lanes. name may have template arguments: 'scale<float>'. options are compiler options. With
    enable_cooperative_groups all blocks run at the same time. backend must be 'nvrtc'; translate_cucomplex and jitify
    must be false.

    Arguments are checked against the function's parameters. A pointer takes an array of its type, None, or an address;
    a pointer to void, char, unsigned char or a structure takes any array. Numbers become the parameter's type. A
    structure is a structured NumPy scalar, bytes or a ctypes.Structure. NumPy arrays are used in place on the CPU.

    Raises TypeError for arguments of the wrong number or type, OverflowError for integers that do not fit, ValueError
    for grids that the device does not allow, read-only arrays for pointers that are not const, and arrays of several
    devices, and iruka.errors.CompileError, with the line and a caret. docs/raw_kernels.md says more.

        >>> add = iruka.RawKernel(r'''
        ... extern "C" __global__ void add(const float* x, float* y, int n) {
        ...   int i = blockIdx.x * blockDim.x + threadIdx.x;
        ...   if (i < n) y[i] += x[i];
        ... }''', 'add')
        >>> x, y = iruka.ones(5, 'float32'), iruka.arange(5, dtype='float32')
        >>> add((1,), (128,), (x, y, 5))
        >>> y
        array([1., 2., 3., 4., 5.], dtype=float32)
    """

    def __call__(self, /, *args, **kwargs):
        """Call self as a function."""

    def __init__(self, code: str, name: str, options: tuple[str, ...] = (), backend: str = 'nvrtc', *, translate_cucomplex: bool = False, enable_cooperative_groups: bool = False, jitify: bool = False) -> None: ...

    @property
    def code(self) -> str | None:
        """The code; None where a file was given."""

    @property
    def file_path(self) -> str | None:
        """The file; None where code was given."""

    @property
    def options(self) -> tuple[str, ...]:
        """Compiler options."""

    @property
    def backend(self) -> str:
        """As in CuPy."""

    @property
    def enable_cooperative_groups(self) -> bool:
        """Whether all blocks of a launch run at the same time."""

    def __eq__(self, other: object) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple: ...

    def __dir__(self) -> list[str]: ...

    @property
    def name(self) -> str:
        """The function's name, as it was given."""

    @property
    def kernel(self) -> RawKernel:
        """The kernel itself, compiled for the default device."""

    def compile(self, log_stream=None) -> None:
        """
        Compiles for the default device; log_stream.write gets the warnings. Raises iruka.errors.CompileError.
        """

    @property
    def attributes(self) -> dict[str, int]:
        """All attributes on the default device."""

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """
        The most dynamic shared memory of a block. Raises ValueError for more than the device has.
        """

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, bytes: int, /) -> None: ...

    @property
    def preferred_shared_memory_carveout(self) -> int:
        """
        Percent of the memory that shared memory and cache divide; -1 leaves it to the device.
        """

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, percent: int, /) -> None: ...

    def __repr__(self) -> str: ...

    @property
    def max_threads_per_block(self) -> int:
        """The most threads of a block."""

    @property
    def shared_size_bytes(self) -> int:
        """Static shared memory of a block."""

    @property
    def const_size_bytes(self) -> int:
        """Constant memory of the module."""

    @property
    def local_size_bytes(self) -> int:
        """Local memory of a thread."""

    @property
    def num_regs(self) -> int:
        """Registers of a thread; 0 on the CPU."""

    @property
    def ptx_version(self) -> int:
        """90 for 9.0; 0 on the CPU."""

    @property
    def binary_version(self) -> int:
        """90 for 9.0; 0 on the CPU."""

    @property
    def cache_mode_ca(self) -> int:
        """Whether it was compiled with -Xptxas --dlcm=ca."""

class RawModule:
    """
    CUDA C++ with several kernels and variables, or PTX or machine code.

    Either code or path is given; path names a file of CUDA C++, PTX or machine code (cubin). name_expressions are the
    instances of templates, as C++ names them: 'scale<float>'. Other keywords are RawKernel's.

    Raises TypeError unless exactly one of code and path is given, iruka.errors.FileError for a file that cannot be
    read.
    """

    def __init__(self, code: str | None = None, *, path: str | os.PathLike[str] | None = None, options: tuple[str, ...] = (), backend: str = 'nvrtc', translate_cucomplex: bool = False, enable_cooperative_groups: bool = False, name_expressions: Sequence[str] | None = None, jitify: bool = False) -> None: ...

    @property
    def code(self) -> str | None:
        """The code; None where a file was given."""

    @property
    def file_path(self) -> str | None:
        """The file; None where code was given."""

    @property
    def options(self) -> tuple[str, ...]:
        """Compiler options."""

    @property
    def backend(self) -> str:
        """As in CuPy."""

    @property
    def enable_cooperative_groups(self) -> bool:
        """Whether all blocks of a launch run at the same time."""

    def __eq__(self, other: object) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple: ...

    def __dir__(self) -> list[str]: ...

    @property
    def name_expressions(self) -> tuple[str, ...]:
        """The instances of templates."""

    def compile(self, log_stream=None) -> None:
        """
        Compiles for the default device; log_stream.write gets the warnings. Raises iruka.errors.CompileError.
        """

    def get_function(self, name: str) -> RawKernel:
        """The kernel of that name, or of one of the name expressions."""

    def get_global(self, name: str):
        """
        The memory of a `__device__` or `__constant__` variable on the default device, for ndarray's memptr=.

        Raises iruka.errors.DeviceError if there is none.
        """

    def __repr__(self) -> str: ...

class KernelDispatcher:
    """
    Calls the kernel for the arguments' types, else the method `call` of a derived class.
    """

    def __call__(self, *args, **keywords) -> Any: ...

    def __init__(self, nin: int, has_signatures: bool, layout: object | None = None) -> None: ...

    def add_kernel(self, inputs: Sequence[object], dtypes: Sequence[object], kernel: ElementwiseKernel, on_host: bool, takes_numpy: bool, reports_failure: bool) -> None:
        """
        From here on, calls with inputs of these types go straight to the kernel: dtypes, or bool, int, float and
        complex for Python's numbers. They are cast to `dtypes`, which are those of the kernel's inputs and
        outputs. One that reports failures takes an int64 array of one element behind the inputs, for the least
        number of an element that failed; then the method `call` is called.
        """

class ThreadDispatcher:
    """
    Launches the RawKernel for the types of a call's arguments. A derived class has a method
    _made(types, has_small_grid), which gives it. A type is (dtype,) of a number and (dtype, ndim, is_writable,
    is_contiguous, is_small) of an array.
    """

    def __call__(self, grid, block, args: tuple, *, shared_mem: int = 0, stream=None) -> None: ...

    def __init__(self, name: str, parameters: int, halves_floats: bool, is_device: bool) -> None: ...

    def __getitem__(self, grid_and_block: tuple, /) -> ConfiguredKernel: ...

class ConfiguredKernel:
    """kernel[grid, block], which takes the kernel's arguments."""

    def __call__(self, *args) -> None: ...

    def __repr__(self) -> str: ...

class ufunc:
    """
    A function of every element: f(x, ..., out=None, where=True, casting='same_kind', order='K', dtype=None, signature=None). Inputs are arrays, scalars or anything array-like; they broadcast and promote as in NumPy 2.
    """

    def __call__(self, *args, out=None, where=True, casting: str = 'same_kind', order: str = 'K', dtype=None, signature=None) -> ndarray: ...

    def __init__(self, name: str) -> None: ...

    @property
    def nin(self) -> int:
        """Number of inputs."""

    @property
    def nout(self) -> int:
        """Number of outputs."""

    @property
    def nargs(self) -> int:
        """Inputs and outputs together."""

    @property
    def ntypes(self) -> int:
        """Number of loops."""

    @property
    def types(self) -> list[str]:
        """The loops in NumPy's notation, 'dd->d'; E is bfloat16."""

    @property
    def identity(self) -> Any:
        """What the function makes of no elements; None where nothing is."""

    @property
    def signature(self) -> None:
        """None: no function here is a generalised one."""

    @property
    def _name(self) -> str: ...

    @property
    def _documentation(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def __dir__(self) -> list[str]: ...

    def reduce(self, array, axis: int | tuple[int, ...] | None = 0, dtype=None, out=None, keepdims: bool = False, initial=..., where=True) -> ndarray:
        """
        Folds axes away: f(...f(f(x0, x1), x2)..., xn). Raises ValueError for an empty axis without identity, and for several axes of a function whose operands may not change places.
        """

    def accumulate(self, array, axis: int = 0, dtype=None, out=None) -> ndarray:
        """Every step of reduce along one axis."""

    def reduceat(self, array, indices, axis: int = 0, dtype=None, out=None) -> ndarray:
        """
        reduce of x[indices[k]:indices[k + 1]] along one axis; x[indices[k]] where that is empty. Raises IndexError for an index outside the axis.
        """

    def outer(self, A, B, /, **kwargs) -> ndarray:
        """The function of every pair of elements, of shape A.shape + B.shape."""

    def at(self, a, indices, b=None, /) -> None:
        """
        a[indices] = f(a[indices], b) in place, where an element that is named twice changes twice. Elements are visited one by one.
        """

def elementwise_names() -> list[str]:
    """Names of every elementwise function."""

class ReductionFunction:
    """A function that folds axes away."""

    @property
    def _documentation(self) -> str: ...

    @property
    def _parameters(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    def __call__(self, a, axis: int | tuple[int, ...] | None = None, dtype=None, out: ndarray | None = None, keepdims: bool = False, initial=None, where=None) -> ndarray: ...

class MeanFunction:
    """A function that folds axes away, without an initial value."""

    @property
    def _documentation(self) -> str: ...

    @property
    def _parameters(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    def __call__(self, a, axis: int | tuple[int, ...] | None = None, dtype=None, out: ndarray | None = None, keepdims: bool = False, *, where=None) -> ndarray: ...

class SelectionFunction:
    """A function that folds axes away and takes no dtype."""

    @property
    def _documentation(self) -> str: ...

    @property
    def _parameters(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    def __call__(self, a, axis: int | tuple[int, ...] | None = None, out: ndarray | None = None, keepdims: bool = False, initial=None, where=None) -> ndarray: ...

class TruthFunction:
    """A function that folds the truth of elements along axes."""

    @property
    def _documentation(self) -> str: ...

    @property
    def _parameters(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    def __call__(self, a, axis: int | tuple[int, ...] | None = None, out: ndarray | None = None, keepdims: bool = False, *, where=None) -> ndarray: ...

class PositionFunction:
    """A function that finds an element's position, flat or along an axis."""

    @property
    def _documentation(self) -> str: ...

    @property
    def _parameters(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    def __call__(self, a, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray: ...

class CountFunction:
    """A function that counts elements along axes."""

    @property
    def _documentation(self) -> str: ...

    @property
    def _parameters(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

    def __dir__(self) -> list[str]: ...

    def __call__(self, a, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> ndarray: ...

def reduction_function(name: str) -> Any:
    """The row of that name as a function."""

def reduction_names() -> list[str]:
    """Names of every reduction."""

def as_array(object: object | None, device: object | None = None) -> Any: ...

def array_of_numbers(list: object) -> ndarray | None:
    """
    An array of nested lists or tuples of Python's numbers; None for others.
    """

def empty(shape: object, dtype: object | None) -> Any: ...

def zeros(shape: object, dtype: object | None) -> Any: ...

def ones(shape: object, dtype: object | None) -> Any: ...

def full(shape: object, value: object, dtype: object | None) -> Any: ...

def arange(start: object, stop: object | None, step: object | None, dtype: object | None) -> Any: ...

def linspace(start: float, stop: float, count: int, endpoint: bool, dtype: object | None) -> Any: ...

def eye(rows: int, columns: object | None, k: int, dtype: object | None) -> Any: ...

def concatenate(arg0: object, arg1: int, /) -> ndarray: ...

def stack(arg0: object, arg1: int, /) -> ndarray: ...

def concatenate_shape(arg0: object, arg1: int, /) -> tuple: ...

def stack_shape(arg0: object, arg1: int, /) -> tuple: ...

def vstack_shape(arg: object, /) -> tuple: ...

def hstack_shape(arg: object, /) -> tuple: ...

def result_type(*args) -> Any: ...

def promote_types(arg0: object, arg1: object, /) -> Any: ...

def dtype_of(arg: object, /) -> Any:
    """
    The numpy.dtype of anything dtype-like. Raises TypeError for one that arrays cannot have.
    """

def check_out_device(arg0: ndarray, arg1: ndarray, /) -> None: ...

def broadcast_shapes(*args) -> tuple: ...

def values_array(values: object, target: object) -> Any:
    """Values to be written into `target`, as an array that is cast."""

def take(x: object, indices: object, axis: object | None, mode: object) -> Any: ...

def repeat(x: object, repeats: object, axis: object | None) -> Any: ...

def put(x: object, indices: object, values: object, mode: object) -> None: ...

def take_along_axis(x: object, indices: object, axis: int) -> Any: ...

def put_along_axis(x: object, indices: object, values: object, axis: int) -> None: ...

def nonzero(x: ndarray) -> tuple[ndarray, ...]: ...

def argwhere(x: object) -> Any: ...

def flatnonzero(x: object) -> Any: ...

def unravel(arg0: object, arg1: object, /) -> Any: ...

def diagonal(arg0: object, arg1: object, arg2: object, arg3: object, /) -> Any: ...

def tri(arg0: object, arg1: object, arg2: object, /) -> Any: ...

def triangle(arg0: object, arg1: object, arg2: bool, /) -> Any: ...

def scatter_at(x: object, indices: object, function: ufunc, values: object | None) -> None:
    """
    x[indices] = function(x[indices], values), index after index: what ufunc.at does.
    """

def check_indices(device: object | None = None) -> None: ...

def set_immediate_index_check(immediate: bool) -> bool: ...

def scan(x: ndarray, operation: str, axis: int, dtype=None, skips_nan: bool = False, includes_initial: bool = False) -> ndarray: ...

def variance(x: ndarray, axis: object | None, dtype: object | None, keepdims: bool, correction: float, root: bool, where: object | None, mean: object | None) -> Any: ...

def nanvariance(x: ndarray, axis: object | None, dtype: object | None, keepdims: bool, correction: float, root: bool, where: object | None, mean: object | None) -> Any: ...

def nanmean(x: ndarray, axis: object | None, dtype: object | None, keepdims: bool, where: object | None) -> Any: ...

def nanargmin(x: ndarray, axis: object | None, keepdims: bool) -> Any: ...

def nanargmax(x: ndarray, axis: object | None, keepdims: bool) -> Any: ...

def ptp(x: ndarray, axis: object | None, keepdims: bool) -> Any: ...

def average(x: ndarray, weights: ndarray, axis: object | None, keepdims: bool) -> tuple: ...

def cov(x: ndarray, y: object | None, rowvar: bool, correction: int, fweights: object | None, aweights: object | None, dtype: object | None) -> Any: ...

def corrcoef(x: ndarray, y: object | None, rowvar: bool, correction: int, fweights: object | None, aweights: object | None, dtype: object | None) -> Any: ...

def from_dlpack(object: object, copy: object | None) -> Any: ...

def numpy_view(array: ndarray) -> numpy.ndarray:
    """A NumPy array over the same memory; a copy for an array of a GPU."""

def memory_statistics(device: Device | str | int | None = None) -> dict[str, int]:
    """
    The pool of a device, by default the default one, in bytes: used, held for reuse, peak, limit (0: none); and its numbers of allocations and reuses.
    """

def set_memory_limit(bytes: int, device: Device | str | int | None = None) -> None:
    """
    Most bytes that the pool of a device, by default the default one, may hold; 0 lifts the limit.
    """

def free_held_memory(device: Device | str | int | None = None, stream=None) -> None:
    """
    Gives memory that no array uses back to the system: that of one stream of a GPU where one is given.
    """

def cuda_free_blocks(arg: Device, /) -> int: ...

def kernel_history() -> list[iruka._kernel.KernelEvent]:
    """
    What was compiled, found on disk, specialised or measured in this process, in order.
    """

def clear_kernel_history() -> None:
    """Empties kernel_history()."""

def clear_cache() -> None:
    """
    Forgets compiled kernels in memory and deletes the disk cache. Running kernels are safe.
    """

def cache_directory() -> str:
    """The folder of the disk cache, or '' where none can be had."""

def finish_background_compilation() -> None:
    """Waits until kernels being specialised in the background are ready."""

def sort(x: ndarray, axis: object | None, stable: bool, descending: bool) -> Any: ...

def argsort(x: ndarray, axis: object | None, descending: bool) -> Any: ...

def lexsort(keys: Sequence[ndarray], axis: int) -> Any: ...

def partition(x: ndarray, kth: Sequence[int], axis: object | None) -> Any: ...

def argpartition(x: ndarray, kth: Sequence[int], axis: object | None) -> Any: ...

def unique(x: object, index: bool, inverse: bool, counts: bool, axis: object | None, equal_nan: bool) -> Any: ...

def isin(arg0: object, arg1: object, arg2: bool, /) -> Any: ...

def union1d(arg0: object, arg1: object, /) -> Any: ...

def intersect1d(arg0: object, arg1: object, arg2: bool, /) -> tuple: ...

def setdiff1d(arg0: object, arg1: object, arg2: bool, /) -> Any: ...

def setxor1d(arg0: object, arg1: object, /) -> Any: ...

def cuda_is_available() -> bool: ...

def cuda_unavailable_reason() -> str: ...

def cuda_device_count() -> int: ...

def cuda_driver_version() -> int: ...

def cuda_nvrtc_version() -> str: ...

def cuda_properties(arg: Device, /) -> dict: ...

def cuda_attribute(arg0: Device, arg1: int, /) -> int: ...

def cuda_add_package_folders(arg: Sequence[str], /) -> None: ...

def cuda_copy_host(array: ndarray, host: object, to_host: bool, stream: object | None, blocking: bool) -> None:
    """
    Copies between a GPU's array and a contiguous NumPy array of its shape and dtype.
    """

class CudaStream:
    """A stream of a GPU, destroyed after its work."""

    def __init__(self, device: Device, non_blocking: bool, priority: int) -> None: ...

    @property
    def ptr(self) -> int:
        """The driver's handle."""

class CudaEvent:
    """An event of a GPU."""

    def __init__(self, device: Device, timing: bool, blocking: bool) -> None: ...

    @property
    def ptr(self) -> int:
        """The driver's handle."""

class CudaGraph:
    """Captured work of a GPU."""

    @property
    def ptr(self) -> int:
        """The driver's handle."""

    def launch(self, stream: int) -> None:
        """Does the work in a stream of its GPU."""

def cuda_synchronize(arg0: Device, arg1: int, /) -> None: ...

def cuda_is_done(arg0: Device, arg1: int, /) -> bool: ...

def cuda_is_non_blocking(arg0: Device, arg1: int, /) -> bool: ...

def cuda_current_stream(arg: Device, /) -> int: ...

def cuda_set_current_stream(arg0: Device, arg1: object, /) -> int: ...

def cuda_record_event(arg0: Device, arg1: int, arg2: int, /) -> None: ...

def cuda_is_event_done(arg0: Device, arg1: int, /) -> bool: ...

def cuda_synchronize_event(arg0: Device, arg1: int, /) -> None: ...

def cuda_wait_event(arg0: Device, arg1: int, arg2: int, /) -> None: ...

def cuda_elapsed_milliseconds(arg0: Device, arg1: int, arg2: int, /) -> float: ...

def cuda_begin_capture(arg0: Device, arg1: int, /) -> None: ...

def cuda_end_capture(arg0: Device, arg1: int, /) -> CudaGraph: ...

def cuda_cancel_capture(arg0: Device, arg1: int, /) -> None: ...

def cuda_is_capturing(arg0: Device, arg1: int, /) -> bool: ...

def cuda_launch_host_function(arg0: Device, arg1: int, arg2: object, arg3: tuple, /) -> None: ...

class PinnedMemory:
    """
    Page-locked host memory with the buffer protocol; PinnedMemory(bytes) takes it from the pinned pool.
    """

    def __init__(self, bytes: int) -> None: ...

    @property
    def ptr(self) -> int:
        """Address of the first byte."""

    def size(self) -> int:
        """Bytes."""

def pinned_free_blocks() -> int: ...

def free_pinned_blocks() -> None: ...

class PoolListener:
    """Calls a MemoryHook's methods while it listens to this thread."""

    def __init__(self, hook: object) -> None: ...

    def enter(self) -> None:
        """Listens to the calling thread. Raises ValueError if it does."""

    def leave(self) -> None:
        """Raises ValueError if it does not listen to the calling thread."""

def norm(x: object, order: object | None, axis: object | None, keepdims: bool) -> Any: ...

def vector_norm(x: object, order: object, axis: object | None, keepdims: bool) -> Any: ...

def matrix_norm(x: object, order: object | None, keepdims: bool) -> Any: ...

def cond(x: object, order: object | None) -> Any: ...

def svd_hermitian(arg0: object, arg1: bool, /) -> tuple: ...

def pinv(a: object, tolerance: object | None, hermitian: bool) -> Any: ...

def matrix_rank(a: object, tolerance: object | None, relative_tolerance: object | None, hermitian: bool) -> Any: ...

def lstsq(a: object, b: object, tolerance: object | None) -> tuple: ...

def matrix_power(arg0: object, arg1: int, /) -> Any: ...

def multi_dot(arg: object, /) -> Any: ...

def tensorsolve(a: object, b: object, axes: object | None) -> Any: ...

def tensorinv(arg0: object, arg1: int, /) -> Any: ...

def matmul(a: object, b: object, out: object | None) -> Any: ...

def linalg_inv(arg: object, /) -> Any: ...

def linalg_solve(arg0: object, arg1: object, /) -> Any: ...

def linalg_det(arg: object, /) -> Any: ...

def linalg_slogdet(arg: object, /) -> tuple: ...

def linalg_cholesky(arg0: object, arg1: bool, /) -> Any: ...

def linalg_qr(arg0: object, arg1: str, /) -> tuple: ...

def linalg_svd(arg0: object, arg1: bool, arg2: bool, /) -> tuple: ...

def linalg_eigh(arg0: object, arg1: bool, arg2: bool, /) -> tuple: ...

def linalg_eig(arg0: object, arg1: bool, /) -> tuple: ...

def fft_transform(x: object, kind: int, length: int, axis: int, forward: bool, scale: float) -> Any:
    """
    Transform along one axis: kind 0 complex, 1 real to half a spectrum, 2 half a spectrum to real.
    """

def fft_transform_axes(x: object, kind: int, lengths: Sequence[int], axes: Sequence[int], forward: bool, scale: float) -> Any:
    """
    Transform along several axes, the last one first; kinds as those of fft_transform, for the last axis.
    """

def fft_frequencies(arg0: int, arg1: bool, arg2: float, /) -> Any: ...

def fftshift(x: object, axes: object | None, inverse: bool) -> Any: ...

def allclose(arg0: object, arg1: object, arg2: object, arg3: object, arg4: bool, /) -> bool: ...

def array_equal(arg0: object, arg1: object, arg2: bool, /) -> bool: ...

def array_equiv(arg0: object, arg1: object, /) -> bool: ...

def real_if_close(arg0: object, arg1: float, /) -> Any: ...

def empty_like(x: object, dtype: object | None, order: object | None, shape: object | None, device: object | None) -> Any: ...

def zeros_like(x: object, dtype: object | None, order: object | None, shape: object | None, device: object | None) -> Any: ...

def ones_like(x: object, dtype: object | None, order: object | None, shape: object | None, device: object | None) -> Any: ...

def vander(x: object, columns: object | None, increasing: bool) -> Any: ...

def diag(arg0: object, arg1: int, /) -> Any: ...

def diagflat(arg0: object, arg1: int, /) -> Any: ...

def fill_diagonal(arg0: ndarray, arg1: object, arg2: bool, /) -> None: ...

def trace(x: object, offset: int, axis1: int, axis2: int, dtype: object | None) -> Any: ...

def indices(arg0: object, arg1: object, /) -> Any: ...

def sparse_indices(arg0: object, arg1: object, /) -> tuple: ...

def meshgrid(arg0: object, arg1: bool, arg2: bool, arg3: bool, /) -> tuple: ...

def ix_(arg: object, /) -> tuple: ...

def tril_indices(arg0: int, arg1: int, arg2: int, /) -> tuple: ...

def triu_indices(arg0: int, arg1: int, arg2: int, /) -> tuple: ...

def ravel_multi_index(arg0: object, arg1: object, arg2: Sequence[str], arg3: bool, /) -> Any: ...

def polyval(arg0: object, arg1: object, /) -> Any: ...

def polyadd(arg0: object, arg1: object, /) -> Any: ...

def polysub(arg0: object, arg1: object, /) -> Any: ...

def polymul(arg0: object, arg1: object, /) -> Any: ...

def polydiv(arg0: object, arg1: object, /) -> tuple: ...

def polyder(arg0: object, arg1: int, /) -> Any: ...

def polyint(p: object, m: int, k: object | None) -> Any: ...

def poly(arg: object, /) -> Any: ...

def roots(arg: object, /) -> Any: ...

def dot(arg0: object, arg1: object, /) -> Any: ...

def inner(arg0: object, arg1: object, /) -> Any: ...

def vdot(arg0: object, arg1: object, /) -> Any: ...

def outer(arg0: object, arg1: object, /) -> Any: ...

def matvec(arg0: object, arg1: object, /) -> Any: ...

def vecmat(arg0: object, arg1: object, /) -> Any: ...

def kron(arg0: object, arg1: object, /) -> Any: ...

def vecdot(arg0: object, arg1: object, arg2: int, /) -> Any: ...

def tensordot(a: object, b: object, axes_a: object, axes_b: object | None) -> Any: ...

def cross(arg0: object, arg1: object, arg2: int, arg3: int, arg4: int, /) -> Any: ...

def einsum(arg0: str, arg1: object, arg2: Sequence[Sequence[int]], /) -> Any: ...

def einsum_subscripts(arg0: str, arg1: object, /) -> str: ...

def diff(x: ndarray, times: int, axis: int, prepend: object | None, append: object | None) -> Any: ...

def ediff1d(x: ndarray, to_end: object | None, to_begin: object | None) -> Any: ...

def unwrap(x: ndarray, jump: object | None, axis: int, period: object) -> Any: ...

def gradient(f: ndarray, spacings: object, axis: object | None, edge_order: int) -> tuple: ...

def trapezoid_at(arg0: ndarray, arg1: ndarray, arg2: int, /) -> Any: ...

def trapezoid(arg0: ndarray, arg1: object, arg2: int, /) -> Any: ...

def convolve(arg0: ndarray, arg1: ndarray, arg2: str, /) -> Any: ...

def correlate(arg0: ndarray, arg1: ndarray, arg2: str, /) -> Any: ...

def histogram(x: ndarray, bins: object, range: object | None, density: bool | None, weights: object | None) -> tuple: ...

def histogram_bin_edges(x: ndarray, bins: object, range: object | None, weights: object | None) -> Any: ...

def histogramdd(columns: object, bins: object, ranges: object | None, density: bool | None, weights: object | None) -> tuple: ...

def bincount(x: ndarray, weights: object | None, least: int) -> Any: ...

def choose(arg0: object, arg1: object, arg2: object, /) -> Any: ...

def select(arg0: object, arg1: object, arg2: object, /) -> Any: ...

def extract(arg0: object, arg1: object, /) -> Any: ...

def putmask(arg0: ndarray, arg1: ndarray, arg2: ndarray, /) -> None: ...

def place(arg0: ndarray, arg1: ndarray, arg2: ndarray, /) -> None: ...

def packbits(x: object, axis: object | None, bitorder: object) -> Any: ...

def unpackbits(x: object, axis: object | None, count: object | None, bitorder: object) -> Any: ...

def quantile(x: ndarray, q: object, axis: object | None, method: str, keepdims: bool, weights: object | None) -> Any: ...

def percentile(x: ndarray, q: object, axis: object | None, method: str, keepdims: bool, weights: object | None) -> Any: ...

def nanquantile(x: ndarray, q: object, axis: object | None, method: str, keepdims: bool, weights: object | None) -> Any: ...

def nanpercentile(x: ndarray, q: object, axis: object | None, method: str, keepdims: bool, weights: object | None) -> Any: ...

def median(x: ndarray, axis: object | None, keepdims: bool) -> Any: ...

def nanmedian(x: ndarray, axis: object | None, keepdims: bool) -> Any: ...

def moveaxis(arg0: ndarray, arg1: object, arg2: object, /) -> Any: ...

def rollaxis(arg0: ndarray, arg1: int, arg2: int, /) -> ndarray: ...

def matrix_transpose(arg: ndarray, /) -> ndarray: ...

def atleast_1d(arg: ndarray, /) -> ndarray: ...

def atleast_2d(arg: ndarray, /) -> ndarray: ...

def atleast_3d(arg: ndarray, /) -> ndarray: ...

def broadcast_arrays(arg: Sequence[ndarray], /) -> tuple: ...

def flip(x: ndarray, axis: object | None) -> ndarray: ...

def fliplr(arg: ndarray, /) -> ndarray: ...

def flipud(arg: ndarray, /) -> ndarray: ...

def rot90(arg0: ndarray, arg1: int, arg2: int, arg3: int, /) -> ndarray: ...

def array_split(arg0: ndarray, arg1: object, arg2: int, /) -> list: ...

def split(arg0: ndarray, arg1: int, arg2: int, /) -> list: ...

def hsplit(arg0: ndarray, arg1: object, /) -> list: ...

def vsplit(arg0: ndarray, arg1: object, /) -> list: ...

def dsplit(arg0: ndarray, arg1: object, /) -> list: ...

def unstack(arg0: ndarray, arg1: int, /) -> tuple: ...

def vstack(arg: Sequence[ndarray], /) -> Any: ...

def hstack(arg: Sequence[ndarray], /) -> Any: ...

def dstack(arg: Sequence[ndarray], /) -> Any: ...

def column_stack(arg: Sequence[ndarray], /) -> Any: ...

def block(arg: object, /) -> Any: ...

def roll(x: ndarray, shifts: object, axes: object | None) -> Any: ...

def tile(arg0: ndarray, arg1: object, /) -> Any: ...

def resize(arg0: ndarray, arg1: object, /) -> Any: ...

def append(x: ndarray, values: ndarray, axis: object | None) -> Any: ...

def insert(x: ndarray, places: object, values: ndarray, axis: object | None) -> Any: ...

def delete(x: ndarray, places: object, axis: object | None) -> Any: ...

def trim_zeros(x: ndarray, front: bool, back: bool, axes: object | None) -> Any: ...

def searchsorted(sorted: ndarray, sought: object, from_right: bool, order: object | None) -> Any: ...

def digitize(arg0: ndarray, arg1: ndarray, arg2: bool, /) -> Any: ...

def interp(x: ndarray, xp: ndarray, fp: ndarray, left: object | None, right: object | None, period: object | None) -> Any: ...

class FusedDispatcher:
    """
    Calls _launchers[signature of the call], else the method _first_call(args, kwargs).
    """

    def __call__(self, *args, **keywords) -> Any: ...

    def __init__(self) -> None: ...

def _call_signature(arguments: tuple, names: object | None, by_value: frozenset, attributes: frozenset) -> Any: ...

def _operation_types(name: str, inputs: tuple, dtype: object | None = None, casting: str = 'same_kind') -> tuple: ...

def _operation_text(arg0: str, arg1: object, arg2: Sequence[object], arg3: Sequence[object], arg4: Sequence[str], arg5: Sequence[str], /) -> str: ...

def _operation_preamble(arg: str, /) -> str: ...

def _cast_text(arg0: object, arg1: object, arg2: str, /) -> str: ...

def _number_text(arg0: object, arg1: object, /) -> str: ...

def _can_cast(arg0: object, arg1: object, arg2: str, /) -> bool: ...

def _type_text(arg: object, /) -> str: ...

def _fused_kernel(arg0: str, arg1: str, arg2: str, arg3: str, arg4: str, arg5: str, /) -> ElementwiseKernel: ...

def _fused_reduction(arg0: str, arg1: str, arg2: str, arg3: str, arg4: str, arg5: str | None, arg6: str, arg7: str, arg8: str, arg9: str, /) -> ReductionKernel: ...

def spaced(start: object, stop: object, count: int, endpoint: bool, dtype: object) -> tuple: ...

def logspace(start: object, stop: object, count: int, endpoint: bool, base: object, dtype: object | None, axis: int) -> Any: ...

def geomspace(start: ndarray, stop: ndarray, count: int, endpoint: bool, dtype: object | None, axis: int) -> Any: ...

def bartlett(arg: float, /) -> Any: ...

def hanning(arg: float, /) -> Any: ...

def hamming(arg: float, /) -> Any: ...

def blackman(arg: float, /) -> Any: ...

def kaiser(arg0: float, arg1: float, /) -> Any: ...

def pad(x: ndarray, widths: object, mode: str, values: object, lengths: object, is_odd: bool) -> Any: ...
