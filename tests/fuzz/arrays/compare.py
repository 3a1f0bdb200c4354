"""What counts as the same answer: shapes and dtypes always, values by the rule of the function."""

import dataclasses
import math

import numpy as np

import cases

FAILING = (
    "crash",
    "hang",
    "value",
    "shape",
    "dtype",
    "structure",
    "memory",
    "internal",
)  # kinds of findings that are faults
DENORMAL = 4  # how many of the smallest numbers an error may be


@dataclasses.dataclass(frozen=True)
class Rule:
    """`ulps` apart at most (0: the same bits), or, with `reference`, no further from NumPy's answer in long double.

    scale: None, or 'abs' (the function of the absolute values: sums), 'max' (the largest element times their number):
    what rounding errors are proportional to; 'moved' (how far the answer moves by a relative change of the arguments).
    What has no defined order is compared `sort`ed; `shape_only` compares no values.
    """

    ulps: float = 0
    reference: bool = False
    scale: str = ""
    integers: bool = False  # the reference takes integers as long double too
    sort: bool = False
    shape_only: bool = False
    check: object = None  # check(case, ours, theirs): a text, or None when they agree
    dtypes: bool = True
    signed: bool = True  # whether the sign of a zero counts
    memory: bool = True  # whether the memory of the arguments is compared after the call
    complex_ulps: float = 0  # for complex results, where real ones have the same bits

    def of(self, dtype, is_complex=False):
        """The rule for results of a dtype, computed from complex numbers or not."""
        is_complex = is_complex or dtype.kind == "c"
        return dataclasses.replace(self, ulps=self.complex_ulps) if is_complex and self.complex_ulps else self


EXACT = Rule()
UNSIGNED = Rule(signed=False)
FORMULA = Rule(reference=True, complex_ulps=8)
SHAPES = Rule(shape_only=True)


def near(ulps=8, scale="", integers=False):
    return Rule(ulps, True, scale, integers)


def sums(ulps=8, integers=True):
    return Rule(ulps, True, "abs", integers)


def is_array(x):
    return hasattr(x, "dtype") and hasattr(x, "shape")


def host(x):
    """NumPy's array of an array of either module."""
    return x if isinstance(x, (np.ndarray, np.generic)) else np.asarray(x.get() if hasattr(x, "get") else x)


def difference(case, ours, theirs, long_result=None, scale=None, path="result"):
    """None, or (kind, words): structure, shape, dtype, value."""
    if is_array(theirs) or is_array(ours):
        if not (is_array(theirs) and is_array(ours)):
            if is_array(ours) and ours.shape == () and isinstance(theirs, (bool, int, float, complex)):
                return difference(case, ours, np.asarray(theirs), long_result, scale, path)
            return "structure", f"{path}: {type(ours).__name__} where NumPy has {type(theirs).__name__}"
        return array_difference(case, ours, theirs, long_result, scale, path)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        ours, theirs = list(ours.items()), list(theirs.items())
    if isinstance(theirs, (tuple, list)):
        if not isinstance(ours, (tuple, list)) or len(ours) != len(theirs):
            return "structure", f"{path}: {ours!r:.80} where NumPy has {theirs!r:.80}"
        for i, (own, other) in enumerate(zip(ours, theirs)):
            inner = [
                part[i] if isinstance(part, (tuple, list)) and len(part) == len(theirs) else None
                for part in (long_result, scale)
            ]
            found = difference(case, own, other, *inner, f"{path}[{i}]")
            if found:
                return found
        return None
    if isinstance(theirs, (bool, int, float, complex)) and isinstance(ours, (bool, int, float, complex)):
        if type(ours) is not type(theirs):
            return "structure", f"{path}: {ours!r} where NumPy has {theirs!r}"
        return array_difference(case, np.asarray(ours), np.asarray(theirs), long_result, scale, path)
    if isinstance(theirs, (str, bytes, type(None), slice)) and (type(ours) is not type(theirs) or ours != theirs):
        return "value", f"{path}: {ours!r:.120} where NumPy has {theirs!r:.120}"
    return None


def array_difference(case, ours, theirs, long_result, scale, path):
    theirs = np.asarray(theirs)
    rule = case.rule.of(theirs.dtype)
    if tuple(ours.shape) != theirs.shape:
        return "shape", f"{path}: shape {tuple(ours.shape)} where NumPy has {theirs.shape}"
    if rule.dtypes and np.dtype(ours.dtype) != theirs.dtype and theirs.dtype.newbyteorder("=") != np.dtype(ours.dtype):
        return "dtype", f"{path}: {ours.dtype} where NumPy has {theirs.dtype}"
    if rule.shape_only or theirs.size == 0:
        return None
    own = np.asarray(host(ours))
    if case.undefined is not None and path.startswith("result"):
        mask = case.undefined
        mask = np.broadcast_to(mask, theirs.shape)
        own, theirs = own[mask], theirs[mask]
        long_result = None if long_result is None else np.asarray(long_result)[mask]
        scale = None if scale is None else np.asarray(scale)[mask]
    if rule.sort:
        own, theirs = np.sort(own, axis=None), np.sort(theirs, axis=None)
    terms = max([a.size for a in cases.arrays_of(case)] or [1]) // max(1, theirs.size)
    wrong = differing(rule, own, theirs, long_result, scale, terms)
    if not wrong.any():
        return None
    where = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return "value", (f"{path}{list(where) if where else ''}: {own[where]!r} where NumPy has {theirs[where]!r} "
                     f"({int(wrong.sum())} of {wrong.size} elements)")  # fmt: skip


def differing(rule, own, theirs, long_result, scale, terms):
    """Where two arrays of one shape, each element made of so many terms, differ by more than the rule allows."""
    if theirs.dtype.kind == "b":  # bytes of other arrays may be seen as bools: any but 0 is True
        return np.asarray((np.asarray(own).view("u1") != 0) != (np.asarray(theirs).view("u1") != 0))
    if theirs.dtype.kind not in "fc":
        return np.asarray(own != theirs)
    same = (own == theirs) | (np.isnan(own) & np.isnan(theirs))
    if rule.ulps == 0 and not rule.signed:
        return np.asarray(~same)
    if rule.ulps == 0:
        if theirs.dtype.kind == "c":
            return ~np.asarray(same_bits(own.real, theirs.real) & same_bits(own.imag, theirs.imag))
        return ~np.asarray(same_bits(own, theirs))
    if same.all():
        return np.zeros(theirs.shape, bool)
    parts = np.dtype(theirs.real.dtype)
    eps, tiny, most = np.finfo(parts).eps, np.finfo(parts).smallest_subnormal, np.finfo(parts).max
    wide = np.clongdouble if theirs.dtype.kind == "c" else np.longdouble
    own_wide, wide_theirs = np.asarray(own).astype(wide), np.asarray(theirs).astype(wide)
    exact = wide_theirs if long_result is None else np.broadcast_to(np.asarray(long_result), theirs.shape).astype(wide)
    size = magnitude(exact)
    size = (
        size if scale is None else size + np.abs(np.broadcast_to(np.asarray(scale), theirs.shape)).astype(np.longdouble)
    )
    error, their_error = magnitude(own_wide - exact), magnitude(wide_theirs - exact)
    allowed = rule.ulps * np.longdouble(eps) * size + DENORMAL * np.longdouble(tiny) * max(rule.ulps, 1)
    fine = error <= allowed + 2 * their_error
    if scale is not None and rule.scale != "moved":  # rounding decides what overflows
        fine |= ~(size < most) | ~np.isfinite(own) & ~(size * max(terms, 1) < most)  # also the sum within a mean
    else:  # the last number before infinity may be taken for it
        fine |= ~np.isfinite(own) & (size > most * (1 - rule.ulps * eps)) & ~np.isnan(own)
    fine |= ~np.isfinite(theirs) & np.isfinite(size) & (error <= allowed)
    if theirs.dtype.kind == "c":  # infinite parts: each by itself; of finite numbers rounding decides what overflows
        overflow = (long_result is not None) & np.isfinite(exact)
        pairs = np.array([(own.real, theirs.real), (own.imag, theirs.imag)])
        far = np.abs(pairs[:, 0] - pairs[:, 1]) > allowed
        parts = (
            close_part(pairs[:, 0], pairs[:, 1], rule)
            | overflow & ~np.isfinite(pairs).any(1)
            | ~far & np.isfinite(pairs).all(1)
        )
        fine |= parts.all(0)
    return np.asarray(~(fine | same))


def magnitude(x):
    if x.dtype.kind != "c":
        return np.abs(x)
    return np.hypot(np.abs(x.real), np.abs(x.imag))


def close_part(own, theirs, rule):
    eps = np.finfo(theirs.dtype).eps
    return (
        (own == theirs)
        | (np.isnan(own) & np.isnan(theirs))
        | (np.abs(own - theirs) <= rule.ulps * eps * np.abs(theirs))
    )


def same_bits(own, theirs):
    return ((own == theirs) & (np.signbit(own) == np.signbit(theirs))) | (np.isnan(own) & np.isnan(theirs))


def to_long(integers):
    def convert(made):
        if made.dtype.kind == "c":
            return made.astype(np.clongdouble)
        return made.astype(np.longdouble) if made.dtype.kind == "f" or (integers and made.dtype.kind in "iub") else made

    return convert


MOVE = np.longdouble(2) ** -30


def changed(case, change=None):
    """(NumPy's answer in long double, for arguments that are changed, what it ran on); None where it has none."""
    kwargs = {key: value for key, value in case.kwargs.items() if key not in ("out", "dtype", "casting", "signature")}
    if "where" in kwargs:  # masks stay masks
        kwargs["where"] = cases.Run(np).value(kwargs["where"])
    dtype = case.kwargs.get("dtype")
    is_cast = isinstance(dtype, str) and np.dtype(dtype).kind in "fc"
    convert = to_long(case.rule.integers or is_cast or change is not None and case.rule.scale != "moved")
    if is_cast and np.dtype(dtype).kind == "c":  # a negative number has a logarithm then
        convert = lambda made: made.astype(np.clongdouble) if made.dtype.kind in "fciub" else made
    run = cases.Run(np, (lambda made: change(convert(made))) if change else convert)
    try:
        return run.call(dataclasses.replace(case, kwargs=kwargs)), run
    except Exception:
        return None


def long_call(case):
    """NumPy's answer in long double; None where it has none."""
    found = changed(case)
    return found and found[0]


def changed_for_scale(case):
    """The answer for the arguments that the rule's scale asks for."""
    if case.rule.scale == "abs":
        return changed(case, np.abs)
    moves = iter(range(1, 1000))
    return changed(case, lambda made: made * (1 + MOVE * next(moves)) if made.dtype.kind in "fc" else made)


def scale_of(case):
    if case.rule.scale == "abs":
        found = changed_for_scale(case)
        return found and found[0]
    if case.rule.scale == "moved":
        pair = changed(case), changed_for_scale(case)
        return None if None in pair else distance(*(found[0] for found in pair))
    if case.rule.scale == "max":
        finite = [np.abs(to_long(True)(np.asarray(cases.Run(np).value(a)))) for a in cases.arrays_of(case)]
        total = np.longdouble(0)
        for made in finite:
            if made.size:
                total = max(total, made.max() if np.isfinite(made).all() else np.longdouble(math.inf))
        return total * max([a.size for a in cases.arrays_of(case)] or [1])
    return None


def distance(result, moved):
    """How far an answer moves in units of the change of its arguments; nowhere where it is not finite, and by all of
    its size where the change takes it out of the range."""
    if isinstance(result, tuple):
        return tuple(map(distance, result, moved))
    result, moved = np.asarray(result), np.asarray(moved)
    size = np.abs(result)
    far = np.where(np.isfinite(size) & ~np.isfinite(moved), size, np.abs(moved - result)) / MOVE
    return np.where(np.isfinite(far), far, 0)


def memory_references(case, key):
    """(what long double leaves in memory, the scale of its errors), either None."""
    exact, other = changed(case), changed_for_scale(case) if case.rule.scale in ("abs", "moved") else None
    exact, other = (found and found[1].memory.get(key) for found in (exact, other))
    return exact, other if case.rule.scale != "moved" or exact is None or other is None else distance(exact, other)
