"""Between brackets, and functions of indices."""

import math

from cases import Code, OfNumPy
from compare import EXACT
from table import row


def a_slice(d):
    def bound():
        return d.choices(
            [None, d.randint(-12, 12), 10**30 if d.chance(0.02) else 40, "1" if d.chance(0.02) else 0], [40, 50, 5, 5]
        )[0]

    return slice(bound(), bound(), d.choices([None, 1, 2, -1, -3, 0], [50, 10, 15, 15, 9, 1])[0])


def key(d, shape):
    """What can stand between brackets, for an array of a shape."""
    parts, axis, advanced = [], 0, d.chance(0.45)
    together = (d.randint(0, 4),) if d.chance(0.7) else (d.randint(1, 3), d.randint(0, 3))
    if d.chance(0.12):
        mask = shape[: d.randint(0, len(shape))]
        return d.array(mask, "bool") if d.chance(0.9) else OfNumPy(d.array(mask, "bool"))
    while axis < len(shape) and d.chance(0.85):
        size = shape[axis]
        how = d.random()
        if advanced and how < 0.4:
            part = d.indices(size, together if d.chance(0.8) else d.one((), (1,)))
            if d.chance(0.15):
                part = [d.randint(-size, size - 1) if size else 0 for _ in range(together[-1])]
            if d.chance(0.1):
                part = d.array((size,), "bool")
            parts.append(part)
        elif how < 0.6:
            parts.append(a_slice(d))
        elif how < 0.85:
            parts.append(
                d.randint(-size, size - 1)
                if size and not d.chance(0.02)
                else d.one(size, 0, Code("np.int8(0)"), Code("xp.asarray(0)"))
            )
        else:
            parts.append(slice(None))
        axis += 1
        if d.chance(0.08):
            parts.append(None)
    if d.chance(0.2):
        parts.insert(d.randint(0, len(parts)), Ellipsis)
    if d.chance(0.03):
        parts.append(d.one(1.0, "a", Ellipsis, True, False, None, [], Code("np.array([1.5])")))
    return parts[0] if len(parts) == 1 and d.chance(0.6) else tuple(parts)


def getitem(d, name):
    array = d.array(least=0 if d.chance(0.1) else 1)
    return [array, key(d, array.shape)], {}


def setitem(d, name):
    array = d.writable(d.shape(0 if d.chance(0.1) else 1), d.dtype())
    dtype = array.dtype if d.chance(0.5) else d.dtype()
    keys = key(d, array.shape)
    how = d.random()
    if how < 0.4:
        value = d.scalar(array.dtype)
    elif how < 0.65:
        value = d.array((), dtype)
    elif how < 0.75:
        value = d.array((1,) * d.randint(1, 3), dtype)
    else:
        value = ("like", dtype)
    if isinstance(value, tuple):
        return [array, keys, d.array(shape_of(array, keys), dtype)], {}
    return [array, keys, value], {}


def shape_of(array, keys):
    """The shape that NumPy's indexing gives; the array's own where it refuses."""
    import numpy as np

    import cases

    try:
        run = cases.Run(np)
        return np.lib.stride_tricks.as_strided(np.zeros(1, "u1"), array.shape, (0,) * array.ndim)[run.value(keys)].shape
    except Exception:
        return array.shape


row("getitem", EXACT, "lambda x, key: x[key]", large=True)(getitem)
row("setitem", EXACT, "lambda x, key, value: x.__setitem__(key, value)", large=True)(setitem)
row("iterate", EXACT, "lambda x: [v for v in x]")(lambda d, name: ([d.array(most=3)], {}))
row("getitem.overlap", EXACT, "lambda x, to, of: x.__setitem__(to, x[of])")(
    lambda d, name: (lambda a: ([a, slice(1, None), slice(None, -1)] if d.chance(0.5) else [a, slice(None, None, -1),
        slice(None)], {}))(
        d.writable(d.shape(1), d.dtype())))  # fmt: skip


def item(d, name):
    array = d.array()
    return [array, *([d.randint(-array.size - 1, array.size)] if d.chance(0.7) else [])], {}


row("ndarray.item")(item)
row("ndarray.tolist")(lambda d, name: ([d.array()], {}))
row("ndarray.tobytes", large=True)(
    lambda d, name: ([d.array()], {"order": d.one("C", "F", "A", "K")} if d.chance(0.4) else {})
)
row("ndarray.fill")(
    lambda d, name: ([d.writable(d.shape(), d.dtype()), d.scalar() if d.chance(0.8) else d.array(())], {})
)
row("ndarray.flat", EXACT, "lambda x, key: x.flat[key]")(
    lambda d, name: (lambda a: ([a, d.one(0, -1, slice(1, None, 2), slice(None), a.size, d.indices(a.size))],
        {}))(d.array()))  # fmt: skip
row("flat.setitem", EXACT, "lambda x, key, v: x.flat.__setitem__(key, v)")(
    lambda d, name: (lambda a: ([a, d.one(0, -1, slice(1, None, 2), slice(None), d.indices(a.size)),
        d.one(d.scalar(), [1, 2], d.array((3,), a.dtype))], {}))(
        d.writable(d.shape(), d.dtype())))  # fmt: skip
row("flat.iterate", EXACT, "lambda x: list(x.flat)")(lambda d, name: ([d.array()], {}))


def take(d, name):
    array = d.array(least=0 if d.chance(0.1) else 1)
    axis = d.one_axis(array.ndim, 0.3)
    size = (
        array.size
        if axis is None
        else array.shape[axis]
        if isinstance(axis, int) and -array.ndim <= axis < array.ndim
        else 1
    )
    mode = d.one("raise", "wrap", "clip")
    args = [array, d.indices(size, d.one((), (3,), (2, 2), (0,)), 0.02 if mode == "raise" else 0.3)]
    kwargs = {"axis": axis} if d.chance(0.8) else {}
    if d.chance(0.4):
        kwargs["mode"] = mode
    return args, kwargs


row("take ndarray.take", large=True)(take)


def along(d, array, axis, integers=True):
    shape = list(array.shape)
    if array.ndim and isinstance(axis, int) and -array.ndim <= axis < array.ndim:
        size = shape[axis]
        shape[axis] = d.randint(0, 4)
    else:
        size, shape = array.size, [d.randint(0, 4)]
    if math.prod(shape) > 300:
        return d.array(shape, "int64", "zeros")
    return d.indices(size, tuple(shape))


def take_along(d, name):
    array = d.array(least=1)
    axis = d.one_axis(array.ndim, 0.15)
    return [array, along(d, array, axis)], {"axis": axis}


def put_along(d, name):
    array = d.writable(d.shape(1), d.dtype())
    axis = d.one_axis(array.ndim, 0.15)
    return [
        array,
        along(d, array, axis),
        d.scalar(array.dtype) if d.chance(0.6) else d.array((1,) * array.ndim, array.dtype),
        axis,
    ], {}


row("take_along_axis")(take_along)
row("put_along_axis")(put_along)


def put(d, name):
    array = d.writable(d.shape(), d.dtype())
    kwargs = {"mode": d.one("raise", "wrap", "clip")} if d.chance(0.4) else {}
    return [
        array,
        d.indices(array.size, (d.randint(0, 6),), 0.1),
        d.scalar() if d.chance(0.4) else d.array((d.randint(0, 4),), array.dtype if d.chance(0.7) else None),
    ], kwargs


row("put ndarray.put")(put)


def masked_put(d, name):
    array = d.writable(d.shape(), d.dtype())
    values = d.array((d.randint(0, 5),), array.dtype if d.chance(0.7) else None) if d.chance(0.7) else d.scalar()
    return [array, d.array(array.shape if d.chance(0.95) else None, "bool" if d.chance(0.8) else None), values], {}


row("putmask place", large=True)(masked_put)


def copyto(d, name):
    array = d.writable(d.shape(), d.dtype())
    kwargs = {"casting": d.one("no", "safe", "same_kind", "unsafe")} if d.chance(0.5) else {}
    if d.chance(0.4):
        kwargs["where"] = d.mask(array.shape)
    value = d.operand(array.shape, array.dtype if d.chance(0.6) else None)
    if d.chance(0.1):
        array, value = d.overlapping(array)
    return [array, value], kwargs


row("copyto", large=True)(copyto)


def fill_diagonal(d, name):
    array = d.writable(d.shape(2, 2) if d.chance(0.8) else (d.size(),) * 3, d.dtype())
    return [array, d.scalar() if d.chance(0.6) else [1, 2, 3]], {"wrap": True} if d.chance(0.3) else {}


row("fill_diagonal")(fill_diagonal)


def choose(d, name):
    shape = d.shape(most=3)
    count = d.randint(1, 4)
    index = d.array(shape, d.dtype("iu"), "ties")
    kwargs = {"mode": d.one("raise", "wrap", "clip")} if d.chance(0.6) else {}
    return [index, [d.operand(shape) for _ in range(count)]], kwargs


row("choose ndarray.choose")(choose)


def compress(d, name):
    array = d.array(least=1)
    axis = d.one_axis(array.ndim, 0.3)
    size = (
        array.size
        if axis is None
        else array.shape[axis]
        if isinstance(axis, int) and -array.ndim <= axis < array.ndim
        else 1
    )
    condition = d.array((d.one(size, size, max(0, size - 1), min(size + 1, 5000)),), "bool")
    kwargs = {"axis": axis} if d.chance(0.8) else {}
    return [array, condition] if "ndarray" in name else [condition, array], kwargs


row("compress", large=True)(compress)
row("ndarray.compress", target="lambda x, c, **k: x.compress(c, **k)")(compress)
row("extract", large=True)(
    lambda d, name: (lambda a: ([d.array(a.shape, "bool" if d.chance(0.7) else None), a], {}))(d.array())
)


def where(d, name):
    shape = d.shape()
    if d.chance(0.15):
        return [d.array(shape)], {}
    dtype = d.dtype()
    return [
        d.array(d.fellow(shape), "bool" if d.chance(0.9) else None),
        d.operand(shape, dtype),
        d.operand(shape, dtype if d.chance(0.6) else None),
    ], {}


row("where", large=True)(where)


def select(d, name):
    shape = d.shape(most=3)
    count = d.randint(1, 3)
    kwargs = {"default": d.scalar()} if d.chance(0.5) else {}
    return [[d.array(d.fellow(shape), "bool") for _ in range(count)], [d.operand(shape) for _ in range(count)]], kwargs


row("select")(select)
row("piecewise")(lambda d, name: (lambda a: ([a, [d.array(a.shape, "bool") for _ in range(d.randint(1, 2))],
                                              [Code("lambda v: v * 2"), d.number("if"),
                                                  Code("lambda v: v + 1")][: d.randint(1, 3)]],
                                                  {}))(d.array(classes="iuf")))  # fmt: skip
row("nonzero ndarray.nonzero argwhere flatnonzero", large=True)(
    lambda d, name: ([d.array(kind=d.one("ties", "zeros", None))], {})
)


def unravel(d, name):
    shape = d.shape(1, 3)
    return [d.indices(math.prod(shape), d.one((), (4,), (2, 3))), shape], {"order": d.one("C", "F", "x")} if d.chance(
        0.4
    ) else {}


def ravel_index(d, name):
    shape = d.shape(1, 3)
    kwargs = {"order": d.one("C", "F")} if d.chance(0.3) else {}
    if d.chance(0.5):
        kwargs["mode"] = d.one("raise", "wrap", "clip")
    return [tuple(d.indices(n, (3,), 0.1) for n in shape), shape], kwargs


row("unravel_index")(unravel)
row("ravel_multi_index")(ravel_index)
row("ix_")(
    lambda d, name: (
        [
            d.one([1, 3], [0], d.array((4,), "bool"), d.indices(5, (3,)), [], d.array((2, 2)))
            for _ in range(d.randint(0, 3))
        ],
        {},
    )
)
row("diag_indices")(lambda d, name: ([d.randint(0, 6), *([d.randint(0, 4)] if d.chance(0.5) else [])], {}))
row("diag_indices_from")(lambda d, name: ([d.array((d.size(),) * d.randint(1, 3) if d.chance(0.8) else None)], {}))
row("tril_indices triu_indices")(
    lambda d, name: (
        [d.randint(0, 9)],
        {k: v for k, v in {"k": d.randint(-3, 3), "m": d.randint(0, 9)}.items() if d.chance(0.5)},
    )
)
row("tril_indices_from triu_indices_from")(
    lambda d, name: ([d.array(d.shape(2 if d.chance(0.9) else 1, 2))], {"k": d.randint(-3, 3)} if d.chance(0.5) else {})
)
row("mask_indices")(
    lambda d, name: (
        [d.randint(0, 6), Code(f"xp.{d.one('triu', 'tril')}")],
        {"k": d.randint(-2, 2)} if d.chance(0.4) else {},
    )
)
row("indices")(
    lambda d, name: (
        [d.shape(0, 3) if d.chance(0.95) else 3],
        {k: v for k, v in {"dtype": d.dtype("iuf"), "sparse": True}.items() if d.chance(0.3)},
    )
)
row("mgrid ogrid r_ c_ s_ index_exp", target="lambda key: xp.{}[key]")(lambda d, name: ([grid(d, name)], {}))
row("ndenumerate", target="lambda x: list(xp.ndenumerate(x))")(lambda d, name: ([d.array(most=3)], {}))
row("ndindex", target="lambda *s: list(xp.ndindex(*s))")(
    lambda d, name: ([d.one(3, (2, 3), (), 0, (2, 0), (1, 2, 2))], {})
)


def grid(d, name):
    if name in ("r_", "c_"):
        if d.chance(0.5):
            return tuple(
                d.array((3,), d.dtype()) if d.chance(0.6) else d.one(1, 2.5, [1, 2], slice(0, 4), slice(0, 1, 5j))
                for _ in range(d.randint(1, 3))
            )
        return d.one(
            slice(0, 5),
            slice(0, 1, 4j),
            (slice(1, 3), 0, slice(5, 1, -2)),
            ("0,2", [1, 2], [3, 4]),
            ("-1", [1, 2], [3, 4]),
        )
    steps = [slice(d.randint(-3, 3), d.randint(-3, 8), d.one(None, 1, 2, 0.5, 4j)) for _ in range(d.randint(1, 3))]
    return steps[0] if len(steps) == 1 and d.chance(0.7) else tuple(steps)
