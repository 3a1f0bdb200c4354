"""Reductions, statistics and scans, as functions and as methods."""

from cases import OfNumPy
from compare import EXACT, Rule, near, sums
from draw import TAME
from table import row

FREE = Rule(signed=False)
SUMS = sums(8)
TAME_WIDE = [*TAME, "wide", "zeros", "edge", "mixed", "full"]


def options(d, array, name, several=True):
    kwargs = {}
    if d.chance(0.75):
        kwargs["axis"] = d.axis(array.ndim, 0.15, 0.3 if several else 0.02)
    if d.chance(0.2):
        kwargs["keepdims"] = d.one(True, False)
    if d.chance(0.1):
        shape = d.reduced(array.shape, kwargs.get("axis"), kwargs.get("keepdims", False))
        dtype = {"all": "bool", "any": "bool"}.get(
            name, "int64" if name.endswith(("argmin", "argmax")) else array.dtype
        )
        kwargs["out"] = d.writable(shape, dtype if d.chance(0.9) else d.dtype())
    return kwargs


def subject(d, **more):
    array = d.array(least=0 if d.chance(0.12) else 1, **more)
    return array if d.chance(0.97) or array.size > 64 else OfNumPy(array)


def shaped(array):
    return array.array if isinstance(array, OfNumPy) else array


def plain(d, name):
    """max, all, argmax, ...: no dtype."""
    short = name.removeprefix("ndarray.").removeprefix("nan")
    array = d.array(least=0 if d.chance(0.12) else 1)
    kwargs = options(d, array, short, not short.startswith("arg"))
    if short in ("max", "min", "amax", "amin", "any", "all"):
        if d.chance(0.12):
            kwargs["where"] = d.mask(array.shape)
        if short[-3:] in ("max", "min") and (d.chance(0.1) or "where" in kwargs):
            kwargs["initial"] = d.number("if")
    if d.chance(0.05) and "axis" in kwargs:
        return [array, kwargs.pop("axis")], kwargs
    return [array], kwargs


def counted(d, name):
    array = subject(d)
    kwargs = options(d, shaped(array), name)
    kwargs.pop("out", None)
    return [array], kwargs if isinstance(array, OfNumPy) is False else {}


def added(d, name):
    """sum, prod, mean, var, ...: with a dtype."""
    short = name.removeprefix("ndarray.").removeprefix("nan")
    array = d.array(least=0 if d.chance(0.12) else 1)
    kwargs = options(d, array, short)
    if d.chance(0.15):
        is_sum = short in ("sum", "prod")  # means in a dtype of integers are means of casts, which are not NumPy's
        kwargs["dtype"] = d.dtype("iufc" if is_sum or array.dtype[0] in "iu" and d.chance(0.1) else "fc")
    if d.chance(0.12):
        kwargs["where"] = d.mask(array.shape)
    if short in ("sum", "prod") and d.chance(0.1):
        kwargs["initial"] = d.number("if")
    if short in ("var", "std"):
        if d.chance(0.3):
            kwargs[d.one("ddof", "ddof", "correction")] = d.one(0, 1, 2, 0.5)
        if d.chance(0.05):
            kwargs["mean"] = d.array(d.reduced(array.shape, kwargs.get("axis"), True), "float64", "small")
    return [array], kwargs


def scanned(d, name):
    array = d.array(least=0 if d.chance(0.12) else 1)
    kwargs = {}
    if d.chance(0.75):
        kwargs["axis"] = d.one_axis(array.ndim, 0.15)
    if d.chance(0.15):
        kwargs["dtype"] = d.dtype("iufc")
    if d.chance(0.1):
        kwargs["out"] = d.writable(array.shape if "axis" in kwargs else (array.size,), kwargs.get("dtype", array.dtype))
    if name.startswith("cumulative") and d.chance(0.3):
        kwargs["include_initial"] = d.one(True, False)
    return [array], kwargs


row("max min amax amin ndarray.max ndarray.min nanmax nanmin", FREE, large=True)(plain)
row(
    "any all argmax argmin ndarray.any ndarray.all ndarray.argmax ndarray.argmin nanargmax nanargmin", EXACT, large=True
)(plain)
row("count_nonzero", EXACT, large=True)(counted)
row("ptp", FREE, large=True)(lambda d, name: plain(d, name))
row("sum ndarray.sum nansum", SUMS, large=True, kinds=TAME_WIDE)(added)
row("mean ndarray.mean nanmean", SUMS, large=True, kinds=TAME_WIDE)(added)
row("prod ndarray.prod nanprod", near(512), kinds=TAME)(added)
row(
    "var ndarray.var nanvar std ndarray.std nanstd",
    Rule(64, True, "max", True),
    large=True,
    kinds=[*TAME, "zeros", "full", "mixed"],
)(added)
row("cumsum ndarray.cumsum nancumsum cumulative_sum", Rule(8, True, "abs"), large=True, kinds=TAME_WIDE)(scanned)
row("cumprod ndarray.cumprod nancumprod cumulative_prod", near(512), kinds=TAME)(scanned)


def average(d, name):
    array = subject(d, tame=True)
    shape, axis = shaped(array).shape, d.axis(shaped(array).ndim, 0.3, 0.2)
    kwargs = {"axis": axis} if d.chance(0.7) else {}
    if d.chance(0.6):
        along = (
            shape
            if axis is None or isinstance(axis, tuple) or d.chance(0.3)
            else (shape[axis],)
            if isinstance(axis, int) and -len(shape) <= axis < len(shape)
            else shape
        )
        kwargs["weights"] = d.array(along, d.dtype("iuf"), "positive")
    if d.chance(0.2):
        kwargs["returned"] = True
    if d.chance(0.2):
        kwargs["keepdims"] = True
    return [array], kwargs


row("average", Rule(32, True, "abs", True))(average)


def quantiles(d, name):
    array = d.array(least=0 if d.chance(0.1) else 1, classes="biuf" if d.chance(0.95) else "c")
    hundred = 100 if "percentile" in name else 1
    if d.chance(0.5):
        q = d.one(0, 1, 0.5, 0.25, 0.1, 0.99, 1 / 3, 0.75) * hundred
    elif d.chance(0.8):
        q = [d.one(0, 1, 0.5, 0.25, 0.1, 0.9) * hundred for _ in range(d.randint(1, 4))]
    else:
        q = d.array(d.shape(most=2), "float64", "zeros") if d.chance(0.8) else d.one(-0.1, 1.5 * hundred)
    kwargs = {"axis": d.axis(array.ndim)} if d.chance(0.6) else {}
    if d.chance(0.5):
        kwargs["method"] = d.one("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf",
            "averaged_inverted_cdf",
                                 "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
                                 "median_unbiased",
                                 "normal_unbiased", "none")  # fmt: skip
    if d.chance(0.2):
        kwargs["keepdims"] = True
    if d.chance(0.08):
        kwargs |= {"weights": d.array(array.shape, "float64", "positive"), "method": "inverted_cdf"}
    if d.chance(0.05):
        kwargs["overwrite_input"] = False
    return [array, q], kwargs


def medians(d, name):
    array = d.array(least=0 if d.chance(0.1) else 1, classes="biuf" if d.chance(0.95) else "c")
    kwargs = options(d, array, name)
    kwargs.pop("out", None)
    return [array], kwargs


QUANTILE = Rule(8, True, "max", True)
row("percentile quantile nanpercentile nanquantile", QUANTILE, large=True)(quantiles)
row("median nanmedian", near(2), large=True)(medians)


def covariance(d, name):
    array = d.array(d.shape(1 if d.chance(0.3) else 2, 2), tame=True)
    kwargs = {}
    if d.chance(0.2):
        kwargs["rowvar"] = False
    if d.chance(0.15):
        kwargs["y"] = d.array(array.shape, tame=True)
    if name == "cov":
        if d.chance(0.2):
            kwargs["ddof"] = d.one(0, 1, 2)
        if d.chance(0.1):
            kwargs["bias"] = True
        count = array.shape[-1 if kwargs.get("rowvar", True) else 0]
        if d.chance(0.1):
            kwargs["fweights"] = d.array((count,), "int64", "positive")
        if d.chance(0.1):
            kwargs["aweights"] = d.array((count,), "float64", "positive")
    if d.chance(0.1):
        kwargs["dtype"] = d.dtype("f")
    return [array], kwargs


row("cov", Rule(64, True, "max", True))(covariance)


def correlation(case, ours, theirs):
    """Coefficients of rows without variance are noise; the others agree."""
    import numpy as np

    import compare

    if tuple(ours.shape) != np.shape(theirs) or np.dtype(ours.dtype) != theirs.dtype:
        return f"{ours.dtype}{ours.shape} where NumPy has {theirs.dtype}{np.shape(theirs)}"
    own, theirs = np.asarray(compare.host(ours)), np.asarray(theirs)
    eps = np.finfo(theirs.dtype).eps
    with np.errstate(all="ignore"):
        steady = np.isfinite(theirs) & (np.abs(np.abs(theirs) - 1) > eps) & (np.abs(theirs) > 1e-3)
    if not np.allclose(own[steady], theirs[steady], rtol=2000 * eps, atol=2000 * eps):
        return f"{own!r:.200} where NumPy has {theirs!r:.200}"
    return None


row("corrcoef", Rule(check=correlation), kinds=["unit", "small"])(lambda d, name: covariance(d, name))


def histogram_data(d, least=1, most=1):
    return d.array(
        d.shape(least, most), classes="biuf", kind=d.one("small", "unit", "ties", "positive", "small", "full")
    )


def bins(d):
    how = d.random()
    if how < 0.5:
        return d.one(1, 2, 5, 10, 17, 0)
    if how < 0.8:
        edges = sorted(d.sample([-9, -5, -2.5, -1, 0, 0.25, 0.5, 1, 3, 7, 9.0], d.randint(1, 6)))
        return edges if d.chance(0.95) else edges[::-1]
    return d.one("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


def histogram(d, name):
    array = histogram_data(d, 0, 3)
    kwargs = {"bins": bins(d)} if d.chance(0.8) else {}
    if d.chance(0.3):
        kwargs["range"] = d.one((-5, 5), (0, 1), (0, 10.5), (3, 3), (2, 1))
    if name == "histogram" and d.chance(0.2):
        kwargs["density"] = True
    if d.chance(0.2):
        kwargs["weights"] = d.array(array.shape, d.dtype("iuf"), "small")
    return [array], kwargs


row("histogram histogram_bin_edges", near(16, "max"), large=True)(histogram)


def histogram2d(d, name):
    shape = d.shape(1, 1)
    kwargs = {"bins": d.one(3, (2, 4), [[-5, 0, 5], [-2, -1, 0, 9.5]], [4, [0.0, 1, 7]])} if d.chance(0.8) else {}
    if d.chance(0.3):
        kwargs["range"] = [[-5, 5], [0, 9]]
    if d.chance(0.2):
        kwargs["density"] = True
    if d.chance(0.2):
        kwargs["weights"] = d.array(shape, "float64", "small")
    return [d.array(shape, classes="iuf", kind="small"), d.array(shape, classes="iuf", kind="small")], kwargs


def histogramdd(d, name):
    count, ndim = d.size(), d.randint(1, 3)
    kwargs = {"bins": d.one(2, [3] * ndim, [[-9, 0, 4, 9.5]] * ndim)} if d.chance(0.8) else {}
    if d.chance(0.2):
        kwargs["density"] = True
    if d.chance(0.2):
        kwargs["weights"] = d.array((count,), "float64", "small")
    return [d.array((count, ndim), classes="iuf", kind="small")], kwargs


row("histogram2d", near(16, "max"))(histogram2d)
row("histogramdd", near(16, "max"))(histogramdd)


def bincount(d, name):
    array = d.array(d.shape(1, 1), d.dtype("iu"), d.one("ties", "positive", "small"))
    kwargs = {}
    if d.chance(0.4):
        kwargs["weights"] = d.array(array.shape, d.dtype("biuf"))
    if d.chance(0.3):
        kwargs["minlength"] = d.one(0, 3, 20, -1)
    return [array], kwargs


row("bincount", near(64, "max"), large=True)(bincount)


def digitize(d, name):
    kind = d.one("small", "mixed", "unit")
    edges = sorted(d.sample([-9, -5, -2, -1, 0, 1, 3, 7, 9], d.randint(0, 6)))
    if d.chance(0.3):
        edges = edges[::-1]
    if d.chance(0.05):
        edges = edges + [0, 4]
    return [d.array(classes="biuf", kind=kind), edges if d.chance(0.5) else _given(edges, d)], {
        "right": True
    } if d.chance(0.4) else {}


def _given(edges, d):
    from cases import Code

    return Code(f"xp.asarray(np.array({edges}, '{d.dtype('if')}'))")


row("digitize", EXACT, large=True)(digitize)
