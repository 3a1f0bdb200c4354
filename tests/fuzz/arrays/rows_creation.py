"""New arrays: filled, ranges, windows, from bytes."""

import dataclasses

import numpy as np

import cases
import compare
from cases import Code
from compare import SHAPES, Rule, near
from table import row


def a_shape(d):
    return d.shape(most=3) if d.chance(0.9) else d.one(5, [2, 3], -1, (2, -1), 2.5, (3.0,), Code("np.int32(4)"), "3")


def filled(d, name):
    kwargs = {"dtype": d.dtype() if d.chance(0.95) else d.one("nothing", None)} if d.chance(0.6) else {}
    if d.chance(0.2):
        kwargs["order"] = d.one("C", "F", "c", "A")
    args = [a_shape(d)]
    if name == "full":
        args.append(d.scalar() if d.chance(0.8) else d.array((1,)))
    return args, kwargs


row("zeros ones full")(filled)
row("empty", SHAPES)(filled)


def like(d, name):
    kwargs = {"dtype": d.dtype()} if d.chance(0.4) else {}
    if d.chance(0.2):
        kwargs["order"] = d.one("C", "F", "K", "A")
    if d.chance(0.2):
        kwargs["shape"] = a_shape(d)
    args = [d.array() if d.chance(0.95) else [1, 2.5]]
    if name == "full_like":
        args.append(d.scalar() if d.chance(0.8) else d.array((1,)))
    return args, kwargs


row("zeros_like ones_like full_like")(like)
row("empty_like", SHAPES)(like)
row("eye")(
    lambda d, name: (
        [d.randint(0, 9), *([d.randint(0, 9)] if d.chance(0.4) else [])],
        {k: v for k, v in {"k": d.randint(-4, 4), "dtype": d.dtype()}.items() if d.chance(0.4)},
    )
)
row("identity")(lambda d, name: ([d.randint(-1, 9)], {"dtype": d.dtype()} if d.chance(0.4) else {}))
row("tri")(
    lambda d, name: (
        [d.randint(0, 9), *([d.randint(0, 9)] if d.chance(0.4) else [])],
        {k: v for k, v in {"k": d.randint(-4, 4), "dtype": d.dtype()}.items() if d.chance(0.4)},
    )
)
row("vander", near(64))(
    lambda d, name: (
        [d.array(d.shape(1, 1 if d.chance(0.95) else 2), tame=True)],
        {k: v for k, v in {"N": d.randint(0, 6), "increasing": True}.items() if d.chance(0.4)},
    )
)


def bound(d):
    return (
        d.one(0, 1, 5, -3, 2.5, 10, 0.1, -0.5, 100, 1e3)
        if d.chance(0.9)
        else d.one(Code("np.float32(2.5)"), Code("np.int8(7)"), Code("np.uint8(200)"), 1 + 2j, True)
    )


def arange(d, name):
    args = [bound(d)]
    if d.chance(0.7):
        args.append(bound(d))
        if d.chance(0.7):
            args.append(d.one(1, 2, 0.5, -1, -0.25, 0.1, 3, 7.5, 0 if d.chance(0.1) else 1))
    return args, {"dtype": d.dtype()} if d.chance(0.4) else {}


row("arange", near(16, "", False))(arange)


def spaced(d, name):
    args = [bound(d), bound(d)]
    if name == "geomspace":
        args = [d.one(1, 2, 0.5, 1e-3, -4, 100, 1j), d.one(1, 8, 256, 1e3, -64, 0.25)]
    if name == "logspace":
        args = [d.one(0, 1, -2, 0.5, 1.5, 2), d.one(0, 3, 2.5, -1, 4)]
    if d.chance(0.15):
        args[d.randint(0, 1)] = d.array(d.shape(1, 2), d.dtype("iuf"), "positive")
    kwargs = {"num": d.one(0, 1, 2, 3, 5, 10, 50, -1 if d.chance(0.1) else 7)} if d.chance(0.8) else {}
    if d.chance(0.3):
        kwargs["endpoint"] = d.one(True, False)
    if d.chance(0.3):
        kwargs["dtype"] = d.dtype("iufc")
    if d.chance(0.1):
        kwargs["axis"] = d.one(0, -1)
    if name == "linspace" and d.chance(0.3):
        kwargs["retstep"] = True
    if name == "logspace" and d.chance(0.3):
        kwargs["base"] = d.one(2, 2.5, 10.0)
    return args, kwargs


def powers_cast(case, ours, theirs):
    """Powers that are cast to integers may lie on either side of one where rounding decides."""
    found = compare.difference(dataclasses.replace(case, rule=near(64)), ours, theirs)
    if not found or found[0] != "value" or theirs.dtype.kind not in "iu":
        return found and found[1]
    floats = {key: value for key, value in case.kwargs.items() if key != "dtype"}
    powers, own = cases.Run(np).call(dataclasses.replace(case, kwargs=floats)).real, compare.host(ours)
    error = 64 * np.finfo(powers.dtype).eps * np.abs(powers)
    fine = (
        (own >= np.floor(powers - error))
        & (own <= np.ceil(powers + error))
        & (np.abs(powers - np.rint(powers)) <= error)
    )
    return None if np.all(fine | (own == theirs)) else found[1]


row("linspace", near(4, "max"))(spaced)
row("logspace geomspace", Rule(check=powers_cast))(spaced)
row("bartlett blackman hamming hanning", Rule(16, True, "max"))(
    lambda d, name: ([d.one(0, 1, 2, 5, 10, 33, -1, 2.5, Code("np.float32(7)"))], {})
)
row("kaiser", near(64))(lambda d, name: ([d.one(0, 1, 2, 5, 33), d.one(0, 1.5, 14.0, 5)], {}))
row("meshgrid")(
    lambda d, name: (
        [d.array(d.shape(most=1)) for _ in range(d.randint(0, 3))],
        {
            k: v
            for k, v in {"indexing": d.one("xy", "ij", "no"), "sparse": True, "copy": False}.items()
            if d.chance(0.3)
        },
    )
)
row("fromfunction")(
    lambda d, name: (
        [Code("lambda *i: sum(i) + 1" if d.chance(0.7) else "lambda *i: i[0] * 2"), d.shape(1, 3)],
        {"dtype": d.dtype("iuf")} if d.chance(0.4) else {},
    )
)
row("fromiter")(
    lambda d, name: (
        [[d.randint(0, 9) for _ in range(d.size())], d.dtype()],
        {"count": d.one(-1, 2, 40)} if d.chance(0.3) else {},
    )
)


def frombuffer(d, name):
    data = bytes(d.getrandbits(8) for _ in range(d.one(0, 8, 16, 24, 40, 7)))
    kwargs = {"dtype": d.dtype()} if d.chance(0.8) else {}
    if d.chance(0.3):
        kwargs["count"] = d.one(-1, 0, 1, 2, 10)
    if d.chance(0.3):
        kwargs["offset"] = d.one(0, 1, 8, 100)
    return [data], kwargs


row("frombuffer")(frombuffer)
row("fromstring")(
    lambda d, name: (
        [d.one("1 2 3", "1, 2, 3", "", "1.5 -2e3", "a b")],
        {"sep": d.one(" ", ","), "dtype": d.dtype("iuf")} if d.chance(0.9) else {},
    )
)
row("packbits")(lambda d, name: (lambda a: ([a], {k: v for k,
    v in {"axis": d.one_axis(a.ndim, 0.2), "bitorder": d.one("big", "little", "x")}.items() if d.chance(0.5)}))(
    d.array(dtype=d.dtype("bu" if d.chance(0.95) else "biuf"))))  # fmt: skip
row("unpackbits")(lambda d, name: (lambda a: ([a], {k: v for k,
    v in {"axis": d.one_axis(a.ndim, 0.2), "bitorder": d.one("big", "little"),
        "count": d.one(None, 0, 3, 8, 11, -2, 100)}.items() if d.chance(0.5)}))(
    d.array(dtype="uint8" if d.chance(0.95) else None, kind="full")))  # fmt: skip
row("base_repr")(
    lambda d, name: (
        [
            d.randint(-300, 300),
            *([d.one(2, 8, 16, 36, 37)] if d.chance(0.7) else []),
            *([d.one(0, 3)] if d.chance(0.0) else []),
        ],
        {},
    )
)
row("binary_repr")(lambda d, name: ([d.randint(-300, 300), *([d.one(None, 4, 12)] if d.chance(0.5) else [])], {}))
row("result_type promote_types can_cast min_scalar_type common_type issubdtype isdtype",
    target="lambda *a, **k: str(xp.{}(*a, **k))")(
    lambda d, name: types(d, name))  # fmt: skip


def types(d, name):
    if name == "promote_types":
        return [d.dtype(), d.dtype()], {}
    if name == "can_cast":
        return [
            d.dtype() if d.chance(0.7) else Code(f"np.dtype('{d.dtype()}')"),
            d.dtype(),
            d.one("no", "equiv", "safe", "same_kind", "unsafe"),
        ], {}
    if name == "min_scalar_type":
        return [d.scalar()], {}
    if name == "issubdtype":
        return [
            d.dtype(),
            d.dtype()
            if d.chance(0.5)
            else Code("np." + d.one("integer", "floating", "number", "generic", "signedinteger")),
        ], {}
    if name == "isdtype":
        return [
            Code(f"np.dtype('{d.dtype()}')"),
            d.one("integral", "bool", "real floating", "numeric", ("bool", "complex floating"), "x"),
        ], {}
    if name == "common_type":
        return [d.array() for _ in range(d.randint(1, 3))], {}
    return [d.one(d.array(most=2), d.number("ifc"), d.dtype()) for _ in range(d.randint(1, 3))], {}


row("finfo iinfo", target="lambda t: [str(getattr(xp.{}(t), n)) for n in ('bits', 'max', 'min', 'dtype')]")(
    lambda d, name: ([d.dtype()], {})
)
