"""NumPy's answer as it is by Iruka's rules: floats out of an integer dtype's range become its nearest value, and NaN 0;
products of complex numbers are rounded one by one."""

import dataclasses
import math

import numpy as np

import cases
import compare


def references(case, theirs, run):
    """(result, run) of NumPy for each way in which a call may cast floats to integers: operands, or the result."""
    for dtype in integers_of(case, theirs):
        yield from operands_cast(case, dtype, run)
    if isinstance(case.kwargs.get("dtype"), str) and np.dtype(case.kwargs["dtype"]).kind in "iu":
        yield from floats_cast(case)
    if isinstance(case.kwargs.get("out"), (cases.Array, tuple)):
        yield from results_cast(case)
        if isinstance(case.kwargs.get("dtype"), str):
            yield from results_cast(case, np.dtype(case.kwargs["dtype"]))
    if {"multiply", "square"} & set(case.name.split(".")) and getattr(theirs, "dtype", np.dtype(bool)).kind == "c":
        yield from rounded_products(case, theirs)
    name, _, method = case.name.partition(".")
    if isinstance(getattr(np, name, None), np.ufunc) and method in STEPS:
        for in_out in (True, False) if case.kwargs.get("out") is not None else (False,):
            try:
                yield STEPS[method](case, getattr(np, name), in_out)
            except Exception:
                return


def rounded_products(case, theirs):
    """The product of complex numbers with each of its four products rounded: NumPy's loops fuse some where they can."""
    run = cases.Run(np)
    try:
        (x, *rest), kwargs = run.value(case.args), run.value(case.kwargs)
        y = rest[0] if rest else x
        product = np.multiply.outer if case.name.endswith("outer") else np.multiply
        made = np.empty(np.shape(theirs), kwargs.get("dtype") or np.result_type(x, y))
        a, b = (np.asarray(z).astype(made.dtype) for z in (x, y))
        made.real = product(a.real, b.real) - product(a.imag, b.imag)
        made.imag = product(a.real, b.imag) + product(a.imag, b.real)
        out = x if case.name.startswith("inplace") else kwargs.get("out", made)
        out = out[0] if isinstance(out, tuple) else out
        np.copyto(out, made, "unsafe", kwargs.get("where", True))
    except Exception:
        return
    yield out, run


def integers_of(case, theirs):
    """The integer dtypes that the call may cast to."""
    found = [np.dtype(array.dtype) for array in cases.arrays_of(case)]
    found += [
        np.dtype(x.dtype) for x in (theirs if isinstance(theirs, (tuple, list)) else [theirs]) if hasattr(x, "dtype")
    ]
    if isinstance(case.kwargs.get("dtype"), str):
        found.append(np.dtype(case.kwargs["dtype"]))
    return dict.fromkeys(dtype for dtype in found if dtype.kind in "iu")


def cast(x, dtype):
    """Floats to integers: nearest value, NaN is 0. Long double holds every integer of 64 bits."""
    return clipped(x, dtype).real.astype(dtype)


def clipped(x, dtype):
    """Finite long doubles in the range of an integer dtype, of the real parts; other arrays as they are."""
    if x.dtype.kind not in "fc":
        return x
    limits = np.iinfo(dtype)
    long = x.real.astype(np.longdouble)
    return np.clip(np.where(np.isnan(long), 0, long), np.longdouble(limits.min), np.longdouble(limits.max))


def number(node, dtype):
    """The same of Python's floats and complex numbers, anywhere among the arguments."""
    if isinstance(node, complex):
        return number(node.real, dtype)
    if isinstance(node, float):
        limits = np.iinfo(dtype)
        return 0 if math.isnan(node) else limits.max if node > limits.max else limits.min if node < limits.min else node
    if isinstance(node, (list, tuple)) and not hasattr(node, "_fields"):
        return type(node)(number(child, dtype) for child in node)
    if isinstance(node, dict):
        return {key: number(child, dtype) for key, child in node.items()}
    return node


def operands_cast(case, dtype, run):
    """The call with operands in the range of the dtype: what is cast before it is computed with, or moved."""
    inside, written = cases.Run(np, lambda made: clipped(made, dtype)), cases.Run(np)
    try:
        args, kwargs = inside.value(number(case.args, dtype)), number(case.kwargs, dtype)
        if "out" in kwargs:  # keeps its dtype, also where it is an operand
            kwargs["out"] = written.value(kwargs["out"])
            inside.memory |= written.memory
            inside.made |= written.made
        result = eval(case.target, inside.names)(*args, **inside.value(kwargs))
    except Exception:
        return
    for key, memory in run.memory.items():  # floats are as the first call left them
        if inside.memory.get(key, memory).dtype != memory.dtype or key not in inside.memory:
            inside.memory[key] = memory
    yield result, inside


def floats_cast(case):
    """The call without `dtype`, whose result is then cast to it."""
    run = cases.Run(np)
    try:
        result = run.call(dataclasses.replace(case, kwargs={k: v for k, v in case.kwargs.items() if k != "dtype"}))
        first, *more = result if isinstance(result, tuple) else (result,)  # linspace gives its step too
        first = cast(first, np.dtype(case.kwargs["dtype"]))
        yield (first, *more) if more else first, run
    except Exception:
        return


def results_cast(case, dtype=None):
    """The call without `out`, whose results are then cast into it: with a dtype, by way of that."""
    run, written = cases.Run(np), cases.Run(np)
    left_out = ("out", "dtype") if dtype else ("out",)
    try:
        results = run.call(
            dataclasses.replace(case, kwargs={k: v for k, v in case.kwargs.items() if k not in left_out})
        )
        written.value(case.args)  # which makes their memory
        outs = written.value(case.kwargs["out"])
        is_ufunc = isinstance(getattr(np, case.name, None), np.ufunc)  # else `where` chooses operands
        where = run.value(case.kwargs["where"]) if is_ufunc and "where" in case.kwargs else True
        many = isinstance(results, tuple)
        for result, out in zip(results if many else [results], outs if isinstance(outs, tuple) else [outs]):
            if out is not None:
                result = cast(np.asarray(result), dtype) if dtype and dtype.kind in "iu" else result
                np.copyto(
                    out, cast(np.asarray(result), out.dtype) if out.dtype.kind in "iu" else result, "unsafe", where
                )
    except Exception:
        return
    outs = outs if isinstance(outs, tuple) else (outs,)
    yield tuple(result if out is None else out for result, out in zip(results, outs)) if many else outs[0], written


def holds_rounded(case, ours):
    """Whether an `out` of integers holds floats of NumPy's but for what the rule allows before the cast."""
    out, written = case.kwargs.get("out"), ours.value(case.kwargs.get("out"))
    out, written = (node[0] if isinstance(node, tuple) and len(node) == 1 else node for node in (out, written))
    rule = case.rule.of(np.dtype("float64"), any(np.dtype(array.dtype).kind == "c" for array in cases.arrays_of(case)))
    if not isinstance(out, cases.Array) or np.dtype(out.dtype).kind not in "iu" or not rule.ulps:
        return False
    try:
        loop = (
            cases.Run(np)
            .call(dataclasses.replace(case, kwargs={k: v for k, v in case.kwargs.items() if k != "out"}))
            .dtype
        )
        exact, scale = compare.long_call(case), compare.scale_of(case)
        error = rule.ulps * np.finfo(loop).eps * (np.abs(exact) + (0 if scale is None else scale))
        low, high = (cast(exact.real + way * error, np.dtype(out.dtype)) for way in (-1, 1))
        mask = ours.value(case.kwargs.get("where", True))
        own = compare.host(written)
        return bool(
            np.all((own >= low) & (own <= high) | ~np.asarray(compare.host(mask) if compare.is_array(mask) else mask))
        )
    except Exception:
        return False


def at_rounded(case, ours):
    """Whether `at` leaves integers that are NumPy's but for the rounding of floats before they are cast."""
    if not case.name.endswith(".at") or not case.rule.ulps or np.dtype(case.args[0].dtype).kind not in "iu":
        return False
    try:
        _, run = at(case, getattr(np, case.name.partition(".")[0]), False)
        memory = [run_.memory[id(case.args[0].base)] for run_ in (ours, run)]
    except Exception:
        return False
    own, theirs = (compare.host(made).astype(np.longdouble) for made in memory)
    return bool(np.all(np.abs(own - theirs) <= 1 + case.rule.ulps * np.finfo(float).eps * np.abs(theirs)))


def at(case, ufunc, in_out):
    """`at` from index to index: each result is cast before the next one reads it; Python's numbers take the array's
    dtype.
    """
    run = cases.Run(np)
    x, index, *others = run.value(case.args)
    places = np.arange(x.size).reshape(x.shape)[index]
    kept = [other if has_place(other, x.dtype) else None for other in others]
    others = [np.broadcast_to(np.asarray(other), places.shape).ravel() for other in others]
    for i, place in enumerate(places.ravel()):
        where = np.unravel_index(place, x.shape)
        values = [other[i : i + 1] if plain is None else plain for other, plain in zip(others, kept)]
        result = ufunc(x[where].reshape(1), *values)
        x[where] = (cast(result, x.dtype) if x.dtype.kind in "iu" else result.astype(x.dtype))[0]
    return None, run


def has_place(number, dtype):
    """Whether it is a number of Python, and no integer that the dtype cannot hold."""
    if type(number) is not int or dtype.kind not in "iu":
        return type(number) in (int, float, complex, bool)
    return np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


def along(case, ufunc, in_out, scan):
    """A reduction along one axis, element after element; `in_out`: each result is cast to the dtype of `out`."""
    run = cases.Run(np)
    kwargs = {key: value for key, value in case.kwargs.items() if key != "out"}
    dtype = run.call(dataclasses.replace(case, kwargs=kwargs)).dtype
    values, (x, *rest) = run.value(case.kwargs), run.value(case.args)
    out, axis = values.get("out"), values.get("axis", 0)
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else 0 if axis is None and x.ndim == 1 else axis
    out = out[0] if isinstance(out, tuple) else out
    kept = out.dtype if in_out else dtype
    integers = kept.kind in "iu"

    def rounded(y):
        return cast(y, kept) if integers else y.astype(kept)

    def step(total, element, wanted):
        found = rounded(np.atleast_1d(ufunc(total, element, dtype=dtype, casting="unsafe")))
        return found if wanted is None else np.where(wanted, found, total)

    wanted = np.moveaxis(np.broadcast_to(values["where"], x.shape), axis, 0) if "where" in values else None
    front = rounded(np.moveaxis(x, axis, 0))
    start = np.full(front.shape[1:], values["initial"]) if "initial" in values else None
    found = scan(step, front.reshape(front.shape[0], -1), wanted, start, *rest)
    found = np.moveaxis(found.reshape(-1, *front.shape[1:]), 0, axis)
    if case.name.endswith("reduce") and not values.get("keepdims"):
        found = found.squeeze(axis)
    if out is None:
        return found, run
    np.copyto(out, cast(found, out.dtype) if out.dtype.kind in "iu" else found, "unsafe")
    return out, run


def reduce(step, x, wanted, start):
    total = x[0] if start is None else start.astype(x.dtype).ravel()
    for i in range(0 if start is not None else 1, len(x)):
        total = step(total, x[i], None if wanted is None else wanted.reshape(x.shape)[i])
    return total


def accumulate(step, x, wanted, start):
    totals = list(x[:1])
    for element in x[1:]:
        totals.append(step(totals[-1], element, None))
    return np.array(totals, x.dtype)


def reduceat(step, x, wanted, start, indices):
    ends = [*np.asarray(indices)[1:].tolist(), len(x)]
    parts = [
        reduce(step, x[i:end] if i < end else x[i : i + 1], None, None)
        for i, end in zip(np.asarray(indices).tolist(), ends)
    ]
    return np.array(parts, x.dtype)


STEPS = {
    "at": at,
    "reduce": lambda case, ufunc, in_out: along(case, ufunc, in_out, reduce),
    "accumulate": lambda case, ufunc, in_out: along(case, ufunc, in_out, accumulate),
    "reduceat": lambda case, ufunc, in_out: along(case, ufunc, in_out, reduceat),
}
