"""Functions that move elements: shapes, joins, parts, padding."""

from cases import Array, Base, Code, OfNumPy
from compare import Rule, near
from table import row


def subject(d, name):
    return [d.array()], {}


def new_shape(d, size):
    """A shape of so many elements, one of them perhaps -1."""
    shape, rest = [], size
    for factor in (2, 3, 5, 7):
        if rest and rest % factor == 0 and d.chance(0.5):
            shape.append(factor)
            rest //= factor
    shape.append(rest)
    shape += [1] * d.randint(0, 2)
    d.shuffle(shape)
    if d.chance(0.3) and size:
        shape[d.randrange(len(shape))] = -1
    if d.chance(0.04):
        shape[0] = shape[0] + 1
    return tuple(shape) if len(shape) > 1 or d.chance(0.5) else shape[0]


def reshape(d, name):
    array = d.array()
    kwargs = {}
    if d.chance(0.3):
        kwargs["order"] = d.one("C", "F", "A", "c", "f", "K")
    if d.chance(0.1):
        kwargs["copy"] = d.one(True, None)
    return [array, new_shape(d, array.size)], kwargs


row("reshape ndarray.reshape", large=True)(reshape)
row("ravel ndarray.ravel ndarray.flatten", large=True)(
    lambda d, name: ([d.array()], {"order": d.one("C", "F", "A", "K", "k", "x")} if d.chance(0.6) else {}))  # fmt: skip
row("atleast_1d atleast_2d atleast_3d")(
    lambda d, name: ([d.array() if d.chance(0.9) else d.scalar() for _ in range(d.one(1, 1, 2))], {})
)
row("matrix_transpose linalg.matrix_transpose fliplr flipud")(subject)
row("ndarray.T ndarray.mT ndarray.real ndarray.imag ndarray.shape ndarray.ndim ndarray.size ndarray.itemsize ndarray.nbytes ndarray.dtype",
    target="lambda x: x.{}")(subject)  # fmt: skip
row("ndarray.strides", target="lambda x: [step for n, step in zip(x.shape, x.strides) if n > 1 and x.size]")(subject)
row("ndarray.copy copy ascontiguousarray asfortranarray", large=True)(
    lambda d, name: ([d.array()], {"order": d.one("C", "F", "A", "K",
        "c")} if "copy" in name and d.chance(0.5) else {}))  # fmt: skip
row("shape size ndim")(
    lambda d, name: (
        [d.array() if d.chance(0.9) else [[1, 2], [3, 4]]],
        {"axis": 0} if name == "size" and d.chance(0.2) else {},
    )
)


def transpose(d, name):
    array = d.array()
    axes = d.sample(range(array.ndim), array.ndim)
    axes = [a - array.ndim if d.chance(0.2) else a for a in axes]
    if d.chance(0.05):
        axes = axes[1:] or [0, 0]
    return [array, tuple(axes)] if d.chance(0.7) or name == "permute_dims" else [array], {}


row("transpose permute_dims ndarray.transpose")(transpose)


def two_axes(d, name):
    array = d.array(least=1)
    return [array, d.one_axis(array.ndim), d.one_axis(array.ndim)], {}


row("swapaxes ndarray.swapaxes rollaxis")(two_axes)


def moveaxis(d, name):
    array = d.array(least=1)
    if d.chance(0.5):
        return [array, d.one_axis(array.ndim), d.one_axis(array.ndim)], {}
    count = d.randint(0, array.ndim)
    return [array, d.sample(range(array.ndim), count), d.sample(range(-array.ndim, 0), count)], {}


row("moveaxis")(moveaxis)


def expand(d, name):
    array = d.array(most=3)
    many = d.sample(range(array.ndim + 2), 2)
    return [
        array,
        d.one(d.randint(-array.ndim - 1, array.ndim), tuple(many), array.ndim + 3 if d.chance(0.1) else 0),
    ], {}


row("expand_dims")(expand)


def squeeze(d, name):
    shape = list(d.shape(most=3))
    for _ in range(d.randint(0, 2)):
        shape.insert(d.randint(0, len(shape)), 1)
    array = d.array(shape)
    return [array], {"axis": d.axis(array.ndim, 0.1)} if d.chance(0.4) else {}


row("squeeze ndarray.squeeze")(squeeze)


def flip(d, name):
    array = d.array()
    return [array], {"axis": d.axis(array.ndim)} if d.chance(0.8) else {}


row("flip", large=True)(flip)


def roll(d, name):
    array = d.array()
    axis = d.axis(array.ndim)
    shift = d.randint(-9, 12)
    if isinstance(axis, tuple) and d.chance(0.7):
        shift = tuple(d.randint(-9, 12) for _ in axis)
    if d.chance(0.05):
        shift = d.one(10**12, Code("xp.asarray(np.array([1, 2]))"), 1.0)
    return [array, shift], {"axis": axis} if d.chance(0.8) else {}


row("roll", large=True)(roll)


def rot90(d, name):
    array = d.array(least=1 if d.chance(0.1) else 2)
    return [array, d.randint(-3, 5)], {"axes": d.one((0, 1), (1, 0), (0, -1), (0, 0))} if d.chance(0.4) else {}


row("rot90")(rot90)


def several(d, same=True, axis=0, most=3, least=1):
    """Arrays that fit together along an axis."""
    shape = d.shape(least, most)
    found = []
    for _ in range(d.randint(1, 4)):
        own = list(shape)
        if not same and own:
            own[axis % len(own)] = d.size()
        if d.chance(0.02):
            own = d.shape()
        found.append(d.array(own, found[0].dtype if found and d.chance(0.6) else None))
    return found


def concatenate(d, name):
    ndim = d.randint(1, 3)
    axis = d.randint(-ndim, ndim - 1)
    parts = several(d, False, axis, ndim, ndim)
    kwargs = {"axis": axis} if d.chance(0.8) else {}
    if d.chance(0.08):
        kwargs["axis"] = None
    joining(d, kwargs)
    return [parts if d.chance(0.8) else tuple(parts)], kwargs


def joining(d, kwargs):
    if d.chance(0.15):
        kwargs["dtype"] = d.dtype()
    if d.chance(0.1):
        kwargs["casting"] = d.one("no", "safe", "same_kind", "unsafe")


row("concatenate concat", large=True)(concatenate)


def stack(d, name):
    parts = several(d)
    kwargs = {"axis": d.randint(-parts[0].ndim - 1, parts[0].ndim)} if d.chance(0.8) else {}
    joining(d, kwargs)
    return [parts], kwargs


row("stack")(stack)


def stacked(d, name):
    kwargs = {}
    if name in ("hstack", "vstack", "row_stack"):
        joining(d, kwargs)
    least = 0 if d.chance(0.1) else 1
    return [several(d, d.chance(0.5), {"hstack": 1, "dstack": 2}.get(name, 0), 3, least)], kwargs


row("hstack vstack dstack column_stack row_stack")(stacked)
row("block")(lambda d, name: ([d.one([d.array((2, 3)), d.array((2, 1))], [[d.array((2, 3))], [d.array((1, 3))]],
    [d.array((3,)), d.scalar()], d.array(),
                                     [[d.array((2, 2)), d.array((2, 3))], [d.array((1, 5))]])], {}))  # fmt: skip


def split(d, name):
    array = d.array(least=1)
    axis = d.randint(-array.ndim, array.ndim - 1)
    sections = d.one(1, 2, 3, 5, [1, 3], [2, 2, 40], [-1], 0) if d.chance(0.9) else Code("np.array([1, 4])")
    return [array, sections], {"axis": axis} if "d" not in name[0] and name in ("split", "array_split") and d.chance(
        0.8
    ) else {}


row("split array_split hsplit vsplit dsplit")(split)
row("unstack")(
    lambda d, name: (lambda array: ([array], {"axis": d.one_axis(array.ndim)} if d.chance(0.6) else {}))(
        d.array(most=3)
    )
)


def tile(d, name):
    array = d.array(d.shape(0, 3) if d.chance(0.5) else (3, 2))
    array = array if array.size < 400 else d.array((3, 2))
    return [array, d.one(2, 0, (2, 3), (1, 2, 1), (), [2, 2], -1 if d.chance(0.1) else 3)], {}


row("tile")(tile)


def repeat(d, name):
    array = d.array()
    axis = d.one_axis(array.ndim, 0.3)
    count = (
        array.size
        if axis is None
        else array.shape[axis]
        if isinstance(axis, int) and -array.ndim <= axis < array.ndim
        else 1
    )
    if d.chance(0.5) or count > 200:
        repeats = d.one(0, 1, 2, 3, [2], -1 if d.chance(0.1) else 4)
    else:
        repeats = [d.randint(0, 3) for _ in range(count)]
        repeats = repeats if d.chance(0.5) else Code(f"xp.asarray(np.array({repeats}, 'int64'))")
    return [array, repeats], {"axis": axis} if d.chance(0.8) else {}


row("repeat ndarray.repeat")(repeat)


def broadcast_to(d, name):
    array = d.array(d.fellow(shape := d.shape()))
    return [array, shape if d.chance(0.95) else d.shape()], {}


row("broadcast_to")(broadcast_to)
row("broadcast_arrays")(
    lambda d, name: (lambda s: ([d.array(d.fellow(s)) for _ in range(d.randint(0, 3))], {}))(d.shape())
)
row("broadcast_shapes")(lambda d, name: (lambda s: ([d.fellow(s) for _ in range(d.randint(0, 4))], {}))(d.shape()))
row("broadcast", target="lambda *a: (lambda b: (b.shape, b.size, b.ndim, b.nd, b.numiter))(xp.broadcast(*a))")(
    lambda d, name: (lambda s: ([d.array(d.fellow(s)) for _ in range(d.randint(1, 3))], {}))(d.shape()))  # fmt: skip


def pad(d, name):
    array = d.array(d.shape(1, 3) if d.chance(0.95) else (), classes="biufc")
    if array.size > 2000:
        array = d.array((7, 5))
    mode = d.one(
        "constant",
        "edge",
        "linear_ramp",
        "maximum",
        "mean",
        "median",
        "minimum",
        "reflect",
        "symmetric",
        "wrap",
        "empty",
        "none",
    )
    width = d.one(0, 1, 2, 5, (1, 2), (0, 7), (3,))
    if d.chance(0.3):
        width = [(d.randint(0, 4), d.randint(0, 9)) for _ in range(array.ndim)]
    kwargs = {"mode": mode} if mode != "constant" or d.chance(0.5) else {}
    if mode == "constant" and d.chance(0.5):
        kwargs["constant_values"] = d.one(1, 2.5, (1, 2), 300, -1)
    if mode == "linear_ramp" and d.chance(0.5):
        kwargs["end_values"] = d.one(0, 5, (1, -2))
    if mode in ("maximum", "mean", "median", "minimum") and d.chance(0.4):
        kwargs["stat_length"] = d.one(1, 2, 3, (2, 1), None)
    if mode in ("reflect", "symmetric") and d.chance(0.3):
        kwargs["reflect_type"] = d.one("even", "odd")
    undefined = None
    if mode == "empty":
        kwargs["mode"] = "edge"
    return [array, width], kwargs, undefined


row("pad", near(8, "max"), kinds=["small", "unit", "edge", "full", "ties"])(pad)


def append(d, name):
    array = d.array()
    axis = d.one_axis(array.ndim, 0.4)
    shape = list(array.shape)
    if isinstance(axis, int) and -array.ndim <= axis < array.ndim:
        shape[axis] = d.size()
    return [array, d.operand(shape) if d.chance(0.3) else d.array(shape)], {"axis": axis} if axis is not None else {}


row("append")(append)


def position(d, size):
    how = d.random()
    if how < 0.35:
        return d.randint(-size - 1, size)
    if how < 0.7:
        return [d.randint(-size, size - 1) if size else 0 for _ in range(d.randint(0, 4))]
    if how < 0.85:
        return slice(d.one(None, 1), d.one(None, -1, 5), d.one(None, 2, -1))
    return d.indices(size) if d.chance(0.6) else d.array((size,), "bool")


def insert(d, name):
    array = d.array(most=3)
    axis = d.one_axis(array.ndim, 0.4)
    size = (
        array.size
        if axis is None
        else array.shape[axis]
        if isinstance(axis, int) and -array.ndim <= axis < array.ndim
        else 1
    )
    values = (
        d.scalar(array.dtype)
        if d.chance(0.5)
        else d.array(d.one((), (1,), array.shape), None if d.chance(0.3) else array.dtype)
    )
    return [array, position(d, size), values], {"axis": axis} if d.chance(0.9) else {}


def delete(d, name):
    array = d.array(most=3)
    axis = d.one_axis(array.ndim, 0.4)
    size = (
        array.size
        if axis is None
        else array.shape[axis]
        if isinstance(axis, int) and -array.ndim <= axis < array.ndim
        else 1
    )
    return [array, position(d, size)], {"axis": axis} if d.chance(0.9) else {}


row("insert")(insert)
row("delete", large=True)(delete)
row("resize")(lambda d, name: ([d.array(d.shape(most=3)), d.one(d.shape(most=3), 5, (2, 3), -1)], {}))
row("ndarray.resize", target="lambda x, *a: (x.resize(*a, refcheck=False), x)[1]")(
    lambda d, name: ([Array(base := Base(d.shape(most=3), d.dtype(), "small", d.getrandbits(32)), "x.copy()",
        base.shape, base.dtype), d.one(d.shape(most=3), 5, (2, 3), -1)], {}))  # fmt: skip


def trim(d, name):
    return [d.array(d.shape(1, 1 if d.chance(0.7) else 3), kind=d.one("ties", "zeros", "small"))], {
        "trim": d.one("f", "b", "fb", "x")
    } if d.chance(0.5) else {}


row("trim_zeros")(trim)
row("diag")(
    lambda d, name: (
        [d.array(d.shape(1, 2 if d.chance(0.95) else 3)), *([d.randint(-4, 4)] if d.chance(0.6) else [])],
        {},
    )
)
row("diagflat")(
    lambda d, name: (
        lambda a: ([a if a.size < 200 else d.array((3, 2)), *([d.randint(-4, 4)] if d.chance(0.6) else [])], {})
    )(d.array())
)


def diagonal(d, name):
    array = d.array(least=2 if d.chance(0.95) else 1)
    kwargs = {"offset": d.randint(-4, 4)} if d.chance(0.5) else {}
    if d.chance(0.5) and name[:3] != "lin":
        kwargs |= {"axis1": d.one_axis(array.ndim), "axis2": d.one_axis(array.ndim)}
    if "trace" in name and d.chance(0.2):
        kwargs["dtype"] = d.dtype("iufc")
    return [array], kwargs


row("diagonal ndarray.diagonal linalg.diagonal")(diagonal)
row("trace ndarray.trace linalg.trace", Rule(8, True, "abs", True))(diagonal)
row("tril triu")(lambda d, name: ([d.array(least=1)], {"k": d.randint(-5, 5)} if d.chance(0.6) else {}))


def astype(d, name):
    array = d.array()
    kwargs = (
        {"casting": d.one("no", "equiv", "safe", "same_kind", "unsafe")} if d.chance(0.3) and "ndarray" in name else {}
    )
    if d.chance(0.2):
        kwargs["copy"] = d.one(True, False)
    if d.chance(0.2) and "ndarray" in name:
        kwargs["order"] = d.one("C", "F", "A", "K")
    return [array, d.dtype() if "ndarray" in name else Code(f"np.dtype('{d.dtype()}')")], kwargs


row("ndarray.astype astype", large=True)(astype)
row("ndarray.view")(lambda d, name: ([d.array(), d.dtype()], {}))
row("ndarray.byteswap")(lambda d, name: ([d.array()], {"inplace": True} if d.chance(0.1) else {}))
row("ndarray.getfield", target="lambda x, dtype, offset: x.getfield(dtype, offset)")(
    lambda d, name: ([d.array(), d.dtype(), d.one(0, 0, 1, 4)], {})
)
row("ndarray.setfield", target="lambda x, v, dtype, offset: (x.setfield(v, dtype, offset), x)[1]")(
    lambda d, name: ([d.writable(d.shape(), d.dtype()), d.number("i"), d.dtype(), d.one(0, 0, 1, 4)], {}))  # fmt: skip
row("real imag iscomplex isreal", large=True)(subject)
row("iscomplexobj isrealobj isfortran isscalar iterable")(
    lambda d, name: ([d.array() if d.chance(0.8) else d.scalar()], {})
)
row("real_if_close")(
    lambda d, name: (
        [d.array(kind=d.one("zeros", "small", "unit"))],
        {"tol": d.one(0, 100, 1e6)} if d.chance(0.3) else {},
    )
)
row("array asarray asanyarray require", target="lambda x, *a, **k: getattr(xp, '{}'.split('.')[0])(x, *a, **k)")(
    lambda d, name: ([d.array() if d.chance(0.6) else OfNumPy(d.array()) if d.chance(0.5) else d.one([[1, 2], [3, 4.5]],
        3, [], [[], []], [[1], [2, 3]], [1, 2j], [True, 2], (1, 2), [2**63], [-1, 2**63], [2**64], "text", None)],
                     {"dtype": d.dtype()} if d.chance(0.3) else {}))  # fmt: skip
row("asarray_chkfinite")(lambda d, name: ([d.array()], {}))
row("ndarray.conj ndarray.conjugate", large=True)(subject)
