"""Differences, interpolation, rounding, polynomials, convolution."""

from cases import Code
from compare import EXACT, Rule, near
from table import row

FREE = Rule(signed=False)
SUMS = Rule(16, True, "abs")


def diff(d, name):
    array = d.array(least=1)
    kwargs = {"n": d.one(0, 1, 2, 3, -1 if d.chance(0.1) else 1)} if d.chance(0.4) else {}
    if d.chance(0.5):
        kwargs["axis"] = d.one_axis(array.ndim)
    if d.chance(0.15):
        kwargs[d.one("prepend", "append")] = d.number("if")
    return [array], kwargs


row("diff", EXACT, large=True)(diff)
row("ediff1d", EXACT, large=True)(
    lambda d, name: (
        [d.array()],
        {k: v for k, v in {"to_begin": d.number("i"), "to_end": [1, 2]}.items() if d.chance(0.2)},
    )
)


def gradient(d, name):
    array = d.array(d.shape(1, 3), tame=True)
    args = [array]
    kwargs = {}
    if d.chance(0.3):
        args.append(d.one(2, 0.5, Code("np.float32(0.1)")))
    elif d.chance(0.1) and array.ndim == 1:
        args.append(Code(f"xp.asarray(np.cumsum(values.make('float64', 'positive', 3, {array.shape})))"))
    if d.chance(0.3):
        kwargs["axis"] = d.axis(array.ndim)
    if d.chance(0.3):
        kwargs["edge_order"] = d.one(1, 2, 3)
    return args, kwargs


row("gradient", near(64, "max"), large=True)(gradient)
row("trapezoid", near(32, "max", True))(
    lambda d, name: (
        lambda a: (
            [a],
            {
                k: v
                for k, v in {
                    "dx": d.one(2, 0.5),
                    "axis": d.one_axis(a.ndim),
                    "x": d.array(a.shape, classes="iuf"),
                }.items()
                if d.chance(0.35)
            },
        )
    )(d.array(least=1))
)


def interp(d, name):
    n = d.one(1, 2, 5, 9, 0 if d.chance(0.1) else 4)
    kwargs = {
        k: v
        for k, v in {"left": d.number("if"), "right": d.number("if"), "period": d.one(3, 2.5, 360)}.items()
        if d.chance(0.15)
    }
    xp = Code(
        f"xp.asarray(np.sort(values.make('{d.dtype('if')}', '{d.one('small', 'mixed', 'unit')}', {d.getrandbits(20)}, ({n},))))"
    )
    return [d.array(classes="biuf"), xp, d.array((n,), classes="biuf" if d.chance(0.9) else "c")], kwargs


row("interp", near(64, "max"))(interp)


def clip(d, name):
    array = d.array(classes="biufc")
    low, high = (d.operand(array.shape, array.dtype) if d.chance(0.8) else None for _ in range(2))
    kwargs = {}
    if d.chance(0.1):
        kwargs["out"] = d.writable(array.shape, array.dtype)
    return [array, low, high], kwargs


row("clip ndarray.clip", FREE, large=True)(clip)


def rounding(d, name):
    args = [d.array()]
    if d.chance(0.6):
        args.append(d.one(0, 1, 2, 3, -1, -2, 5, 12, -20, 400))
    return args, {"out": d.writable(args[0].shape, args[0].dtype)} if d.chance(0.08) else {}


row("round around ndarray.round", near(4))(rounding)
row("fix isneginf isposinf", EXACT)(lambda d, name: ([d.array()], {}))
row("nan_to_num", EXACT, large=True)(
    lambda d, name: (
        [d.array()],
        {
            k: v
            for k, v in {"nan": d.number("f"), "posinf": d.number("f"), "neginf": d.number("f")}.items()
            if d.chance(0.25)
        },
    )
)
row("sinc", near(16, "max"))(lambda d, name: ([d.array()], {}))
row("i0", near(64))(lambda d, name: ([d.array(classes="biuf")], {}))
row("angle", near(8))(lambda d, name: ([d.array()], {"deg": True} if d.chance(0.3) else {}))
row("unwrap", near(64, "max"))(
    lambda d, name: (
        lambda a: (
            [a],
            {
                k: v
                for k, v in {"axis": d.one_axis(a.ndim), "period": d.one(4, 6.5), "discont": d.one(1, 5.0)}.items()
                if d.chance(0.3)
            },
        )
    )(d.array(least=1, classes="iuf", tame=True))
)


def closeness(d, name):
    shape = d.shape(most=3)
    dtype = d.dtype()
    first = d.array(shape, dtype)
    second = d.operand(shape, dtype if d.chance(0.7) else None) if d.chance(0.8) else first
    kwargs = {
        k: v
        for k, v in {"rtol": d.one(0, 1e-3, 0.5), "atol": d.one(0, 1e-3, 1), "equal_nan": True}.items()
        if d.chance(0.3)
    }
    if name.startswith("array_"):
        kwargs = {"equal_nan": True} if name == "array_equal" and d.chance(0.3) else {}
    return [first, second], kwargs


row("isclose allclose array_equal array_equiv", EXACT, large=True)(closeness)


def convolution(d, name):
    dtype = d.dtype()
    kwargs = {"mode": d.one("full", "same", "valid", "x" if d.chance(0.1) else "full")} if d.chance(0.7) else {}
    return [
        d.array((d.size(),), dtype, tame=True),
        d.array((d.size(),), dtype if d.chance(0.6) else None, tame=True),
    ], kwargs


row("convolve correlate", SUMS)(convolution)


def coefficients(d, classes="iufc"):
    return d.array(
        (d.one(1, 2, 3, 5, 0 if d.chance(0.1) else 4),), d.dtype(classes), d.one("small", "ties", "positive")
    )


row("polyadd polysub", EXACT)(lambda d, name: ([coefficients(d), coefficients(d)], {}))
row("polymul", SUMS)(lambda d, name: ([coefficients(d), coefficients(d)], {}))
row("polydiv", near(1e4, "max"))(lambda d, name: ([coefficients(d, "if"), coefficients(d, "if")], {}))
row("polyval", SUMS)(
    lambda d, name: ([coefficients(d, "biufc"), d.array(tame=True, most=3) if d.chance(0.9) else d.scalar()], {})
)
row("polyder", EXACT)(lambda d, name: ([coefficients(d)], {"m": d.one(0, 1, 2, -1)} if d.chance(0.5) else {}))
row("polyint", near(8))(
    lambda d, name: (
        [coefficients(d)],
        {k: v for k, v in {"m": d.one(0, 1, 2), "k": d.one(1, 2.5)}.items() if d.chance(0.4)},
    )
)
row("poly", Rule(64, True, "abs"))(lambda d, name: ([coefficients(d)], {}))
row("poly1d", Rule(16, True, "abs"),
    "lambda c, x: (lambda p: [p.coeffs, p.order, p(x), (p * p).coeffs, p.deriv().coeffs, (p + 2).coeffs, list(p)])(xp.poly1d(c))")(
    lambda d, name: ([coefficients(d), d.array(tame=True, most=2)], {}))  # fmt: skip
row("apply_along_axis", EXACT)(
    lambda d, name: (
        lambda a: (
            [
                Code(d.one("lambda v: v[::-1]", "lambda v: v.max()", "lambda v: v[:1]", "lambda v: xp.sort(v)")),
                d.one_axis(a.ndim),
                a,
            ],
            {},
        )
    )(d.array(d.shape(1, 3), kind="small"))
)
row("apply_over_axes", FREE)(
    lambda d, name: (
        lambda a: (
            [Code("xp.max" if d.chance(0.5) else "xp.min"), a, d.sample(range(a.ndim), d.randint(1, a.ndim))],
            {},
        )
    )(d.array(d.shape(1, 3)))
)
row("vectorize", EXACT, "lambda f, *a: xp.vectorize(f)(*a)")(
    lambda d, name: (
        [Code("lambda v, w: v + w"), d.array((3,), "int64", "small"), d.one(2, d.array((3,), "int64", "small"))],
        {},
    )
)
row("frompyfunc", EXACT, "lambda x: [int(v) for v in xp.frompyfunc(lambda v: v + 1, 1, 1)(x)]")(
    lambda d, name: ([d.array((4,), "int64", "small")], {})
)
row("polyfit", near(1e6, "max"))(
    lambda d, name: ([Code("xp.asarray(np.arange(9.0))"), d.array((9,), "float64", "small"), d.one(0, 1, 2, 3)], {})
)
