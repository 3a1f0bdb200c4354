"""NumPy's floating-point errors (`errstate`, `seterr`) for computations on the CPU.

The core calls these functions if the processor's flags report a division by zero, an overflow, an underflow or an
invalid operation. The flags are a hint: lanes beyond an array's end and untaken branches raise them too. So
NumPy computes the elements with an infinite or NaN result again, and the caller receives NumPy's warnings.
"""

import contextlib
import operator
import sys
import warnings
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import _package_frames

_WORDS = {"divide": "divide by zero", "over": "overflow", "under": "underflow", "invalid": "invalid value"}
_FLAGS = {"divide": 4, "over": 8, "under": 16, "invalid": 1}  # FloatFlag of the core
_NUMPY_FLAGS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
_CHUNK = 1 << 16
_FEW = 64  # the number of suspects of a chunk that are computed first

# Operations of one instruction per element, so that the flags are exact; the first two also for complex numbers.
_EXACT = ("add", "subtract", "multiply", "square", "divide", "sqrt", "reciprocal")
# Operations of integers, whose only error is division by zero.
_DIVISIONS = ("floor_divide", "remainder", "divmod", "fmod")


def is_asked(raised) -> bool:
    """Whether the error state reports an error that these flags may mean. Underflow alone means no other error."""
    state: Any = numpy.geterr()
    asked = ["under"] if raised == _FLAGS["under"] else state
    return any(state[kind] != "ignore" for kind in asked)


def check_ufunc(name, raised, inputs, outputs, keywords, is_operator) -> None:
    """Reports the errors of a finished call of a ufunc. Inputs that share memory with outputs have changed."""
    if not is_asked(raised):
        return
    results, operands = list(map(_host, outputs)), list(map(_operand, inputs))
    keywords = dict(keywords or {})
    where = keywords.pop("where", True)
    where = where if where is True else numpy.asarray(_host(where), bool)
    if any(_meet(x, result) for x in operands for result in results):
        if where is True:
            _tell(_of_flags(name, raised, results))
        return
    function = operator.pow if is_operator and name == "power" else _numpy_function(name)
    if function is not None:
        chosen = {key: keywords[key] for key in ("dtype", "signature", "sig", "casting") if key in keywords}
        has_floats = any(_is_float(numpy.asarray(x)) for x in (*operands, *results))
        _tell(
            _computed_anew(
                raised, _caller(function, chosen), operands, results, where, _FLAGS if has_floats else ["divide"]
            )
        )


def check_cast(raised, source, dtype) -> None:
    """Of a cast that is done, of an array or a scalar."""
    if is_asked(raised):
        x = numpy.asarray(_host(source))
        possible = ["invalid"] if numpy.dtype(dtype).kind in "iu" else _FLAGS
        _tell(_computed_anew(raised, lambda x, out: x.astype(dtype), [x], [x], True, possible, every=True))


def check_method(raised, name, method, inputs, keywords) -> None:
    """Of a method of a ufunc: reduce, accumulate, reduceat."""
    ufunc = _numpy_function(name)
    if is_asked(raised) and ufunc is not None:
        inputs = [_wide(numpy.asarray(_operand(x))) for x in inputs]
        keywords = {key: _host(value) for key, value in keywords.items()}
        if "out" in keywords:
            out = keywords["out"][0] if isinstance(keywords["out"], tuple) else keywords["out"]
            keywords["out"] = numpy.empty(out.shape, out.dtype)
        if not any(_is_ours(given) for given in (keywords.get("dtype"), getattr(keywords.get("out"), "dtype", None))):
            _tell(_said_by(getattr(ufunc, method), *inputs, **keywords))


def check_function(raised, name, result, arguments) -> None:
    """Of a function in _FUNCTIONS."""
    if is_asked(raised) and name in _FUNCTIONS:
        host = [_wide(x) if isinstance(x, numpy.ndarray) else x for x in map(_host, arguments)]
        if not any(_meet(x, _host(result)) for x in host):
            _tell(_said_by(_FUNCTIONS[name], _host(result), *host))


def _host(x):
    return _core.numpy_view(x) if isinstance(x, ndarray) else x


def _operand(x):
    """An input for NumPy: Python's numbers, which have no dtype, are unchanged."""
    if isinstance(x, (bool, int, float, complex)) and not isinstance(x, numpy.generic):
        return x
    return _host(x) if isinstance(x, (ndarray, numpy.ndarray, numpy.generic)) else _host(_core.as_array(x))


def _meet(x, result) -> bool:
    try:
        return isinstance(x, numpy.ndarray) and numpy.shares_memory(x, result, max_work=1000)  # type: ignore[arg-type]  # any count is right
    except numpy.exceptions.TooHardError:
        return True


def _numpy_function(name):
    """NumPy's function of that name; None if it has none that reports errors."""
    if name in ("sinc", "i0"):
        return getattr(numpy, name)
    if name == "round":
        return lambda x, scale, is_inverse: (
            numpy.rint(x * scale) / scale if is_inverse else numpy.rint(x / scale) * scale
        )
    function = getattr(numpy, name, None)
    return function if isinstance(function, numpy.ufunc) else None


def _caller(function, keywords):
    """A function that computes chunks of operands into outputs like those of the call."""
    if not isinstance(function, numpy.ufunc):
        return lambda *operands, out: function(*operands)
    if any("bfloat16" in str(value) for value in keywords.values()):
        keywords = {}
    return lambda *operands, out: function(*operands, out=out, **keywords)


def _is_float(x) -> bool:
    return x.dtype.kind in "fcV"


def _wide(x):
    """bfloat16, for which NumPy has no functions, as float32."""
    return x.astype(numpy.float32) if x.dtype.kind == "V" else x


class _Log:
    """Records NumPy's messages: 'Warning: overflow encountered in multiply'."""

    def __init__(self):
        self.said = {}

    def write(self, line) -> None:
        line = line.removeprefix("Warning: ").strip()
        for kind, words in _WORDS.items():
            if line.startswith(words):
                self.said.setdefault(kind, line)

    def listen(self, work, *arguments, **keywords) -> None:
        with numpy.errstate(all="log", call=self), contextlib.suppress(TypeError, ValueError, OverflowError):
            work(*arguments, **keywords)  # NumPy reports no errors for arguments that it does not accept


def _said_by(work, *arguments, **keywords) -> dict:
    log = _Log()
    log.listen(work, *arguments, **keywords)
    return log.said


def _computed_anew(raised, call, operands, results, where, possible, every=False) -> dict:
    """NumPy's errors for elements whose results are infinite or NaN; also for small results if underflow is reported.

    It stops after finding all `possible` kinds that the flags indicate and the error state reports.
    """
    state: Any = numpy.geterr()
    log, with_small = _Log(), state["under"] != "ignore"
    awaited = {kind for kind in possible if raised & _FLAGS[kind] and state[kind] != "ignore"}
    arrays = [*results, *(x for x in operands if isinstance(x, (numpy.ndarray, numpy.generic)))]
    arrays += [where] if isinstance(where, numpy.ndarray) else []
    flags: list = ["external_loop", "buffered", "zerosize_ok", "refs_ok"]
    readonly: list = [["readonly"]] * len(arrays)
    for chunks in numpy.nditer(arrays, flags, readonly, buffersize=_CHUNK):
        chunk = iter(chunks if isinstance(chunks, tuple) else (chunks,))
        made = [next(chunk) for _ in results]
        suspects = numpy.zeros(made[0].shape, bool)
        for result in made:
            suspects |= _suspects(result, with_small) | every
        given = [next(chunk) if isinstance(x, (numpy.ndarray, numpy.generic)) else x for x in operands]
        if isinstance(where, numpy.ndarray):
            suspects &= next(chunk)
        places = numpy.flatnonzero(suspects)
        for some in (places[:_FEW], places[_FEW:]):
            if some.size and not awaited <= log.said.keys():
                picked = [_wide(x[some]) if isinstance(x, numpy.ndarray) else x for x in given]
                out = tuple(numpy.empty(some.size, _wide(result[:0]).dtype) for result in made)
                log.listen(call, *picked, out=out)
        if awaited <= log.said.keys():
            break
    return log.said


def _suspects(result, with_small):
    """The elements that may have raised an error: all integers, because their values do not show it."""
    if not _is_float(result):
        return numpy.ones(result.shape, bool)
    found = ~numpy.isfinite(result)
    if with_small:
        least = numpy.finfo(_wide(result[:0]).dtype).tiny
        for part in (result.real, result.imag) if result.dtype.kind == "c" else (result,):
            found |= abs(part) <= least
    return found


def _of_flags(name, raised, results) -> dict:
    """The errors of an operation that overwrote its operands, for operations whose flags are exact."""
    said = {}
    for result in results:
        if not _is_float(result):
            kinds = ["divide"] if raised & _FLAGS["divide"] and name in _DIVISIONS else []
        elif name in _EXACT[: 2 if result.dtype.kind == "c" else None]:
            traces = {"divide": numpy.isinf, "over": numpy.isinf, "invalid": numpy.isnan, "under": numpy.isfinite}
            kinds = [kind for kind, has in traces.items() if raised & _FLAGS[kind] and has(result).any()]
        else:
            kinds = []
        said.update({kind: f"{_WORDS[kind]} encountered in {name}" for kind in kinds})
    return said


def _is_ours(dtype) -> bool:
    """Whether NumPy has no functions of that dtype."""
    return dtype is not None and numpy.dtype(dtype).kind == "V"


def _sum(result, x, axis, dtype, initial, where, ufunc=numpy.add) -> None:
    given = {"initial": initial, "where": where}
    given = {key: value for key, value in given.items() if value is not None}
    ufunc.reduce(x, axis=axis, dtype=None if _is_ours(dtype) else dtype, **given)


def _product(result, x, axis, dtype, initial, where) -> None:
    _sum(result, x, axis, dtype, initial, where, numpy.multiply)


def _without_nan(fold, value):
    return lambda result, x, *rest: fold(result, numpy.where(numpy.isnan(x), x.dtype.type(value), x), *rest)


def _mean(result, x, axis, dtype, initial, where) -> None:
    if dtype is None and x.dtype.kind in "biu" or x.dtype == numpy.float16:
        dtype = numpy.float64 if x.dtype.kind in "biu" else numpy.float32
    _sum(result, x, axis, dtype, None, where)
    if x.size == 0:
        numpy.divide(numpy.zeros(result.shape), 0)


def _variance(result, x, axis, correction) -> None:
    x = x.astype(numpy.result_type(x.dtype, numpy.float32 if x.dtype.kind in "fc" else numpy.float64))
    axes = tuple(range(x.ndim)) if axis is None else axis
    count = x.size // max(result.size, 1)
    distance = x - numpy.add.reduce(x, axis=axes, keepdims=True) / count
    squares = numpy.add.reduce((distance * distance.conj()).real, axis=axes)
    numpy.divide(squares, max(count - correction, 0))


def _scan(result, x, operation, axis, dtype, skips_nan) -> None:
    ufunc = {"add": numpy.add, "multiply": numpy.multiply}.get(operation)
    if ufunc is not None:
        x = numpy.where(numpy.isnan(x), x.dtype.type(operation == "multiply"), x) if skips_nan else x
        ufunc.accumulate(x, axis=axis, dtype=None if _is_ours(dtype) else dtype)


def _matmul(result, a, b) -> None:
    """Recomputes the rows and columns of a few elements of each kind."""
    if a.ndim == 1:
        a, result = a[None, :], numpy.expand_dims(result, -1 if b.ndim == 1 else -2)
    if b.ndim == 1:
        b, result = b[:, None], result[..., None]
    a = numpy.broadcast_to(a, result.shape[:-1] + a.shape[-1:])
    b = numpy.broadcast_to(b, result.shape[:-2] + b.shape[-2:])
    numbers = ~numpy.isnan(a).any(-1)[..., :, None] & ~numpy.isnan(b).any(-2)[..., None, :]
    finite = numpy.isfinite(a).all(-1)[..., :, None] & numpy.isfinite(b).all(-2)[..., None, :]
    for suspects in (numpy.isnan(result) & numbers, numpy.isinf(result) & finite):
        for *batch, row, column in numpy.argwhere(suspects)[:4]:
            numpy.matmul(a[(*batch, row)], b[(*batch, slice(None), column)])


def _determinant(result, x) -> None:
    numpy.linalg.det(x[~numpy.isfinite(result)])


def _norm(result, x, order, axis) -> None:
    numpy.linalg.norm(x, order, axis)


def _vector_norm(result, x, order, axis) -> None:
    numpy.linalg.vector_norm(x, ord=order, axis=axis)


_FUNCTIONS = {
    "sum": _sum,
    "prod": _product,
    "nansum": _without_nan(_sum, 0),
    "nanprod": _without_nan(_product, 1),
    "mean": _mean,
    "variance": _variance,
    "scan": _scan,
    "matmul": _matmul,
    "det": _determinant,
    "norm": _norm,
    "vector_norm": _vector_norm,
}


def warn(message: str, category: type[Warning] = RuntimeWarning) -> None:
    """A warning at the line of the innermost caller outside this package."""
    warnings.warn(message, category, stacklevel=_stack_level())


def _stack_level() -> int:
    """The stack level of the innermost caller outside this package, for warnings of the calling function."""
    return 1 + sum(1 for _ in _package_frames(sys._getframe(1)))


def _tell(said: dict) -> None:
    """Reports errors as the error state requires: not, by a warning, FloatingPointError, a call or a printed line."""
    state: Any = numpy.geterr()
    flags = sum(_NUMPY_FLAGS[kind] for kind in said)
    for kind in _WORDS:
        if kind not in said or state[kind] == "ignore":
            continue
        message, way = said[kind], state[kind]
        if way == "warn":
            warn(message)
        elif way == "raise":
            raise FloatingPointError(message)
        elif way == "print":
            print(f"Warning: {message}", file=sys.stderr)
        elif way == "call":
            _handler(message, callable)(_WORDS[kind], flags)
        else:
            _handler(message, lambda x: hasattr(x, "write")).write(f"Warning: {message}\n")


def tell_of_invalid(message: str) -> None:
    """Reports an invalid argument as the error state requires, to no handler."""
    if numpy.geterr()["invalid"] in ("warn", "raise", "print"):
        _tell({"invalid": message})


def _handler(message, fits):
    """The handler of numpy.seterrcall. Raises NameError if there is none that fits, as NumPy does."""
    handler = numpy.geterrcall()
    if not fits(handler):
        words, function = message.split(" encountered in ")
        raise NameError(
            f"{function}: the error state reports {words} by numpy.seterrcall's handler, but that is {handler!r}"
        )
    return handler
