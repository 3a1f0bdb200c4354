"""Random permutations and shapes, files in memory, what asks about arrays."""

import numpy as np

import compare
from compare import SHAPES, Rule
from table import row


def permuted(case, ours, theirs):
    """The same elements in some order, with the dtype and the shape of NumPy's."""
    if tuple(ours.shape) != theirs.shape or np.dtype(ours.dtype) != theirs.dtype:
        return f"{ours.dtype}{tuple(ours.shape)} where NumPy has {theirs.dtype}{theirs.shape}"
    own = compare.host(ours)
    if theirs.dtype.kind in "fc":
        own, theirs = np.nan_to_num(own, nan=99), np.nan_to_num(theirs, nan=99)
    if theirs.dtype == "float16":  # some of which NumPy 2.4 sorts wrongly
        own, theirs = own.astype("float32"), theirs.astype("float32")
    return None if (np.sort(own, axis=None) == np.sort(theirs, axis=None)).all() else "other elements than NumPy's"


row("random.permutation", Rule(check=permuted), large=True)(
    lambda d, name: ([d.one(d.randint(0, 50), d.array(least=1), [1, 2, 3])], {})
)
row("random.shuffle", Rule(check=permuted, memory=False), "lambda x: (xp.random.shuffle(x), x)[1]")(
    lambda d, name: ([d.writable(d.shape(1, 3), d.dtype())], {})
)
row("Generator.permutation", Rule(check=permuted), "lambda *a, **k: xp.random.default_rng(3).permutation(*a, **k)")(
    # fmt: skip
    lambda d, name: (lambda a: ([a], {"axis": d.one_axis(a.ndim)} if d.chance(0.5) else {}))(d.array(least=1))
)
row("Generator.permuted", Rule(check=permuted), "lambda *a, **k: xp.random.default_rng(3).permuted(*a, **k)")(
    # fmt: skip
    lambda d, name: (lambda a: ([a], {"axis": d.one_axis(a.ndim, 0.2)} if d.chance(0.7) else {}))(d.array(least=1))
)


def size_of(d):
    return d.one(None, 3, (), (2, 3), (0,), d.shape(most=3), -1 if d.chance(0.1) else 1)


NONE = [
    "random.standard_normal",
    "random.standard_exponential",
    "random.standard_cauchy",
    "random.random_sample",
    "random.random",
    "random.ranf",
    "random.sample",
]
ONE = {"chisquare": 1, "exponential": 1, "gamma": 1, "geometric": 0.5, "logseries": 0.5, "pareto": 1, "poisson": 1,
    "power": 1,
       "rayleigh": 1, "standard_gamma": 1, "standard_t": 1, "weibull": 1, "zipf": 2}  # fmt: skip
TWO = "normal uniform laplace logistic lognormal gumbel beta f vonmises wald binomial negative_binomial noncentral_chisquare".split()


def parameter(d, low, shape=()):
    return low if d.chance(0.6) else d.array(d.fellow(shape), "float64", "positive") if low == 1 else [low, low]


row(NONE, SHAPES)(lambda d, name: ([size_of(d)] if d.chance(0.9) else [], {}))
row([f"random.{name}" for name in ONE], SHAPES)(
    lambda d, name: (
        [parameter(d, ONE[name[7:]]) if d.chance(0.95) else -1.0],
        {"size": size_of(d)} if d.chance(0.7) else {},
    )
)
row([f"random.{name}" for name in TWO], SHAPES)(
    lambda d, name: ([d.one(1, 2, d.array((3,), "int64", "positive")), 0.5 if "binomial" in name else 2.0],
        {"size": d.one(3, (2, 3), None, 2)} if d.chance(0.7) else {}))  # fmt: skip
row("random.randint", SHAPES)(
    lambda d, name: (
        [d.one(5, 1, 0), d.one(None, 10, 300, 5)],
        {k: v for k, v in {"size": size_of(d), "dtype": d.dtype("iuf")}.items() if d.chance(0.6)},
    )
)
row("random.rand random.randn", SHAPES)(lambda d, name: ([d.one(0, 1, 3) for _ in range(d.randint(0, 3))], {}))
row("random.choice", SHAPES)(
    lambda d, name: (
        [d.one(5, 0, [1, 2, 3], d.array((4,)), d.array((2, 2)))],
        {k: v for k, v in {"size": size_of(d), "replace": False}.items() if d.chance(0.5)},
    )
)
row(
    "random.multinomial random.dirichlet random.multivariate_normal random.hypergeometric random.triangular random.noncentral_f",
    SHAPES,
)(
    lambda d, name: (
        {
            "multinomial": [10, [0.2, 0.3, 0.5]],
            "dirichlet": [[1.0, 2, 3]],
            "multivariate_normal": [[0.0, 1], [[2.0, 0.5], [0.5, 1]]],
            "hypergeometric": [5, 4, 3],
            # fmt: skip
            "triangular": [0, 1, 2],
            "noncentral_f": [3, 4, 1.5],
        }[name[7:]],
        {"size": size_of(d)} if d.chance(0.7) else {},
    )
)

row("may_share_memory shares_memory")(
    lambda d, name: (
        (lambda a: [*d.overlapping(a)])(d.array(layout="c")) if d.chance(0.6) else [d.array(), d.array()],
        {},
    )
)
row(
    "array_repr array_str array2string ndarray.__repr__",
    target="lambda x: __import__('builtins').str(getattr(xp, '{}', repr)(x))",
)(lambda d, name: ([d.array(d.shape(most=3), kind=d.one("small", "ties"))], {}))
row("save load", target="lambda x: (lambda f: (xp.save(f, x), f.seek(0), xp.load(f))[2])(__import__('io').BytesIO())")(
    lambda d, name: ([d.array()], {})
)
row(
    "savez savez_compressed",
    target="lambda x: (lambda f: (xp.{}(f, x=x), f.seek(0), xp.load(f)['x'])[2])(__import__('io').BytesIO())",
)(lambda d, name: ([d.array()], {}))
row("savetxt", target="lambda x: (lambda f: (xp.savetxt(f, x), f.getvalue())[1])(__import__('io').StringIO())")(
    lambda d, name: ([d.array(d.shape(1, 2), tame=True)], {})
)
row("loadtxt genfromtxt", target="lambda t, **k: xp.{}(__import__('io').StringIO(t), **k)")(
    lambda d, name: (
        [d.one("1 2\n3 4", "1.5", "", "1 2\n3", "# a\n1 2")],
        {"dtype": d.dtype("if")} if d.chance(0.4) else {},
    )
)
row(
    "ndarray.tofile fromfile",
    target="lambda x: (lambda f: (x.tofile(f), f.flush(), f.seek(0), xp.fromfile(f, x.dtype))[3])(__import__('tempfile').TemporaryFile())",
)(lambda d, name: ([d.array()], {}))
row("ndarray.dumps", target="lambda x: __import__('pickle').loads(x.dumps())")(lambda d, name: ([d.array()], {}))
row("pickle", target="lambda x: __import__('pickle').loads(__import__('pickle').dumps(x))")(
    lambda d, name: ([d.array()], {})
)
row("from_dlpack", target="lambda x: xp.from_dlpack(x)")(lambda d, name: ([d.array()], {}))
row(
    "ndarray.flags",
    target="lambda x: [x.flags.c_contiguous, x.flags.f_contiguous, x.flags.writeable] if x.size > 1 else None",
)(lambda d, name: ([d.array()], {}))
row("ndarray.setflags", target="lambda x, w: (x.setflags(write=w), x.flags.writeable)[1]")(
    lambda d, name: ([d.array(), d.one(True, False)], {})
)
row("format_float_positional format_float_scientific")(
    lambda d, name: (
        [d.one(1.5, 0.1, 1e20, -3.25, 0.0, 1e-7)],
        {k: v for k, v in {"precision": d.one(0, 3, 8), "unique": True}.items() if d.chance(0.4)},
    )
)
