"""Missing names: aliases of existing names, and for the others what to use instead."""

from __future__ import annotations

import importlib

from .._numba_names import IRUKA, JIT

# Where a name that NumPy 2 has dropped or moved, and CuPy keeps, is now.
_MOVED = {
    "alltrue": ("iruka", "all"),
    "sometrue": ("iruka", "any"),
    "product": ("iruka", "prod"),
    "cumproduct": ("iruka", "cumprod"),
    "round_": ("iruka", "round"),
    "trapz": ("iruka", "trapezoid"),
    "fromDlpack": ("iruka", "from_dlpack"),
    "flatiter": ("iruka._numpy.indexing", "FlatIterator"),
    "AxisError": ("iruka.errors", "AxisError"),
    "exceptions": ("numpy", "exceptions"),
    "ComplexWarning": ("numpy.exceptions", "ComplexWarning"),
    "ModuleDeprecationWarning": ("numpy.exceptions", "ModuleDeprecationWarning"),
    "RankWarning": ("numpy.exceptions", "RankWarning"),
    "TooHardError": ("numpy.exceptions", "TooHardError"),
    "VisibleDeprecationWarning": ("numpy.exceptions", "VisibleDeprecationWarning"),
    "mintypecode": ("numpy", "mintypecode"),
    "typename": ("numpy", "typename"),
    **{name: ("iruka._cupy", name) for name in ("asfarray", "in1d", "msort")},
}

_KERNEL = "write what one element does as an iruka.ElementwiseKernel"
_RECORDS = "arrays hold numbers and bools; NumPy's own arrays hold dates, texts, objects and records"
_MATRIX = "use arrays of two axes: x @ y is their matrix product"
_LOOP = f"loop over iruka.ndindex(x.shape) or x.flat; for speed {_KERNEL}"
_PRECISION = "arrays have no floats beyond 64 bits: use float64 and complex128"
_PHILOX = "use Philox (Philox4x3210), the one bit generator: the same numbers on every device"

_INSTEAD = {
    "iruka": {
        **IRUKA,
        "nditer": _LOOP,
        "nested_iters": _LOOP,
        "memmap": "iruka.load(file, mmap_mode='r') and iruka.asarray(numpy.memmap(...)) share the mapped memory",
        "sparse": "sparse matrices are scipy.sparse's",
        "polynomial": "use iruka.poly1d and iruka.polyval, or numpy.polynomial on iruka.asnumpy(x)",
        "prof": "use iruka.profiler",
        "who": "use iruka.memory_statistics()",
        "find_common_type": "use iruka.result_type or iruka.promote_types",
        "issctype": "use isinstance(x, (type, iruka.dtype))",
        "issubclass_": "use issubclass",
        "issubsctype": "use iruka.issubdtype",
        "obj2sctype": "use iruka.dtype(x).type",
        "sctype2char": "use iruka.dtype(x).char",
        "format_parser": "use numpy.rec.format_parser",
        "DataSource": "use numpy.lib.npyio.DataSource",
        "disp": "use print",
        "safe_eval": "use ast.literal_eval",
        "get_array_wrap": "arrays have no subclasses that wrap results",
        "set_string_function": "use iruka.set_printoptions",
        "get_runtime_info": "use iruka.show_config()",
        "allow_synchronize": "nothing forbids waiting for a device",
        "GeneralizedUFunc": f"{_KERNEL} with raw parameters, or use iruka.vecdot, iruka.matmul or apply_along_axis",
        **dict.fromkeys(("ma", "MaskedArray", "masked_array"),
            "arrays have no masks: use NaN with nansum and the like, where=, or numpy.ma"),
        "scipy": "SciPy's functions of arrays take arrays of Iruka where they follow the array API standard",
        **{name: f"use iruka.cuda.{name}" for name in ("empty_pinned", "empty_like_pinned", "zeros_pinned",
            "zeros_like_pinned")},
        "cublas": "use iruka.matmul and iruka.linalg",
        **dict.fromkeys(("matrix", "asmatrix", "bmat"), _MATRIX),
        **dict.fromkeys(("longdouble", "clongdouble", "float128", "complex256"), _PRECISION),
        **dict.fromkeys(
            ("datetime64", "timedelta64", "str_", "bytes_", "object_", "void", "record", "recarray", "rec", "chararray",
             "char", "strings"), _RECORDS),
    },  # fmt: skip
    "iruka.jit": JIT,
    "iruka.random": dict.fromkeys(("XORWOW", "MRG32k3a", "MT19937", "PCG64", "PCG64DXSM", "SFC64"), _PHILOX),
}  # fmt: skip


def _hint(module: str, name: str) -> str:
    instead = _INSTEAD.get(module, {}).get(name)
    if instead:
        return f"; {instead}"
    counterpart = module.replace("iruka", "numpy", 1)
    try:
        is_numpys = callable(getattr(importlib.import_module(counterpart), name, None))
    except ImportError:
        is_numpys = False
    if name.startswith("_") or not is_numpys:
        return ""
    return f"; NumPy's is a copy away: iruka.asarray({counterpart}.{name}(iruka.asnumpy(x), ...))"


def find(module: str, name: str):
    """What a module has under another name. Raises AttributeError that says what to use instead."""
    if module == "iruka" and name in _MOVED:
        place, now = _MOVED[name]
        return getattr(importlib.import_module(place), now)
    hint = _hint(module, name)
    message = f"module {module!r} has no attribute {name!r}{hint}"
    # Python adds a name that is spelled alike, which beside advice would only mislead; an object without names has
    # none.
    raise AttributeError(message, name=name, obj=object()) if hint else AttributeError(message)
