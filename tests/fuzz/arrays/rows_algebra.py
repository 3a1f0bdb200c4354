"""Products, decompositions, transforms."""

import numpy as np

import cases
import compare
from cases import OfNumPy
from compare import EXACT, Rule, near
from draw import TAME
from table import row

PRODUCT = Rule(16, True, "abs")
TAME_FULL = [*TAME, "zeros", "full", "mixed"]


def pair(d, shapes, classes="biufc"):
    dtype = d.dtype(classes)
    return [d.array(shape, dtype if i == 0 or d.chance(0.7) else d.dtype(classes)) for i, shape in enumerate(shapes)]


def products(d, name):
    short = name.split(".")[-1]
    m, n, k = d.size(), d.size(), d.size()
    stack = d.shape(most=2) if d.chance(0.3) else ()
    stack = stack if np.prod(stack, initial=1) < 40 else (2,)
    other = d.fellow(stack)
    shapes = {
        "vecdot": [(*stack, n), (*other, n)],
        "matvec": [(*stack, m, n), (*other, n)],
        "vecmat": [(*stack, n), (*other, n, k)],
        "vdot": [(m, n), (m, n)],
        "inner": [(m, n), (k, n)] if d.chance(0.5) else [(n,), (n,)],
        "outer": [(m,), (n,)],
        "kron": [(min(m, 5), min(n, 5)), (min(k, 5), 2)],
        "dot": d.one([(n,), (n,)], [(m, n), (n, k)], [(m, n), (n,)], [(n,), (n, k)], [(), (m, n)], [(m, n), (2, n, k)]),
        "matmul": d.one(
            [(n,), (n,)],
            [(*stack, m, n), (*other, n, k)],
            [(m, n), (n,)],
            [(n,), (n, k)],
            [(*stack, m, n), (*other, n, k)],
        ),
    }[short]
    if d.chance(0.03):
        shapes[0] = d.shape()
    args, kwargs = pair(d, shapes), {}
    if d.chance(0.04) and args[1].size < 50:
        args[1] = OfNumPy(args[1])
    if short in ("matmul", "vecdot", "matvec", "vecmat") and name != "linalg.matmul" and name != "linalg.vecdot":
        if d.chance(0.1):
            kwargs["dtype"] = d.dtype()
        if d.chance(0.08):
            kwargs["casting"] = d.one("no", "safe", "same_kind", "unsafe")
    if short in ("matmul", "dot") and name in ("matmul", "dot") and d.chance(0.1):
        try:
            shape = getattr(np, short)(np.zeros(shapes[0], "u1"), np.zeros(shapes[1], "u1")).shape
            kwargs["out"] = d.writable(shape, args[0].dtype if d.chance(0.85) else d.dtype())
        except ValueError:
            pass
    return args, kwargs


row(
    "dot ndarray.dot vdot inner outer kron matmul vecdot matvec vecmat linalg.matmul linalg.vecdot linalg.outer",
    PRODUCT,
    kinds=TAME_FULL,
)(products)
row("operator.matmul", PRODUCT, "lambda x, y: x @ y", kinds=TAME_FULL)(lambda d, name: (products(d, "matmul")[0], {}))


def tensordot(d, name):
    m, n, k = d.one(1, 2, 3, 5), d.one(0, 1, 2, 4), d.one(1, 2, 3)
    shapes, axes = d.one(
        ([(m, n), (n, k)], 1), ([(m, n, k), (n, k, 2)], 2), ([(m, n), (k,)], 0), ([(n, m), (n, k)], ([0], [0])),
        ([(m, n, k), (k, n)], ([1, 2], [1, 0])), ([(m, n), (k, n)], (1, 1)), ([(m, n), (k, m)], 1))  # fmt: skip
    return pair(d, shapes), {"axes": axes}


row("tensordot linalg.tensordot", PRODUCT, kinds=TAME_FULL)(tensordot)


def einsum(d, name):
    sizes = {letter: d.one(0, 1, 2, 3, 5) if d.chance(0.1) else d.one(1, 2, 3, 5) for letter in "ijkl"}
    text = d.one("ij,jk->ik", "ii", "ii->i", "ij->ji", "i,i", "i,j->ij", "ij,ij->", "ijk,jil->kl", "ij,j", "i...->...",
        "...ij,...jk->...ik",
                 "ij,jk,kl->il", "ij->", "ijk->kj", "i,i->i", "ij,ji->j")  # fmt: skip
    shapes = [tuple(sizes[c] for c in part.replace("...", "")) for part in text.split("->")[0].split(",")]
    kwargs = {"optimize": d.one(True, False, "greedy")} if d.chance(0.3) and name == "einsum" else {}
    if d.chance(0.1) and name == "einsum":
        kwargs["dtype"] = d.dtype("fc")
    return [text, *pair(d, shapes)], kwargs


row("einsum", PRODUCT, kinds=TAME_FULL)(einsum)
row("cross linalg.cross", Rule(16, True, "max"), kinds=TAME)(
    lambda d, name: (lambda s: (pair(d, [s, s], "iufc"), {}))(
        (*d.shape(most=2), d.one(3, 3, 3, 2, 4) if d.chance(0.2) else 3)
    )
)
row("linalg.multi_dot", PRODUCT, kinds=TAME)(
    lambda d, name: (
        lambda n: ([pair(d, [(n[0], n[1]), (n[1], n[2]), (n[2], n[3]), (n[3], 2)][: d.randint(2, 4)])], {})
    )([d.one(1, 2, 3, 5) for _ in range(4)])
)
row("linalg.matrix_power", Rule(64, True, "max"), kinds=["ties"])(
    lambda d, name: ([d.array((*d.one((), (2,)), n := d.randint(1, 4), n), classes="iufc"), d.one(0, 1, 2, 3, 5)], {})
)


def same_form(ours, theirs):
    """A text where structures, shapes or dtypes differ."""
    if isinstance(theirs, tuple):
        if not isinstance(ours, tuple) or len(ours) != len(theirs):
            return f"{type(ours).__name__} where NumPy has {len(theirs)} results"
        return next(filter(None, map(same_form, ours, theirs)), None)
    if not compare.is_array(theirs):
        theirs = np.asarray(theirs)
    if tuple(np.shape(ours)) != theirs.shape or np.dtype(getattr(ours, "dtype", type(ours))) != theirs.dtype:
        return (
            f"{getattr(ours, 'dtype', type(ours))}{tuple(np.shape(ours))} where NumPy has {theirs.dtype}{theirs.shape}"
        )
    return None


def close(own, right, eps, factor=1e4):
    own, right = np.asarray(own), np.asarray(right)
    size = max(1.0, float(np.max(np.abs(right), initial=0)) if np.isfinite(right).all() else 1.0)
    return np.allclose(own, right, rtol=factor * eps, atol=factor * eps * size, equal_nan=True)


def host_of(x):
    if isinstance(x, tuple):
        return tuple(map(host_of, x))
    return np.asarray(compare.host(x)) if compare.is_array(x) else np.asarray(x)


def check(values_of):
    """A check of form, then of values_of(case's arguments, ours, theirs, eps)."""

    def compared(case, ours, theirs):
        words = same_form(ours, theirs)
        if words:
            return words
        args, own, right = cases.Run(np).value(case.args), host_of(ours), host_of(theirs)
        parts = right if isinstance(right, tuple) else (right,)
        eps = max([np.finfo(p.dtype).eps for p in parts if p.dtype.kind in "fc"] or [2e-16])
        with np.errstate(all="ignore"):
            good = values_of(case, args, own, right, eps)
        return None if good else f"{own!r:.300} where NumPy has {right!r:.300}"

    return Rule(check=compared)


def square(d, definite=False):
    n = d.one(1, 2, 3, 4, 7, 0 if d.chance(0.3) else 5)
    stack = d.one((), (), (2,), (0,) if d.chance(0.2) else (3,))
    return d.array(
        (*stack, n, n) if not d.chance(0.02) else d.shape(), classes="biufc", kind=d.one("small", "unit", "ties")
    )


def condition(a):
    a = np.asarray(a)
    a = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    if not a.size or a.ndim < 2:
        return 1.0
    s = np.linalg.svd(a, compute_uv=False)
    return np.max(s[..., 0] / np.maximum(s[..., -1], 1e-300))


def regular(case, args, own, right, eps):
    """Equal within what the condition allows; nothing is asked of nearly singular matrices."""
    worst = condition(args[0])
    if worst * eps > 1e-3:
        return True
    return close(own, right, eps, 1e3 * max(1, worst))


row("linalg.inv", check(regular))(lambda d, name: ([square(d)], {}))


def solve(d, name):
    a = square(d)
    shape = a.shape[:-1] if a.ndim == 2 and d.chance(0.5) else (*a.shape[:-1], d.one(1, 2, 3))
    return [a, d.array(shape, classes="biufc", kind="small")], {}


row("linalg.solve", check(regular))(solve)


def determinant(case, args, own, right, eps):
    a = np.abs(np.asarray(args[0], np.complex128 if np.asarray(args[0]).dtype.kind == "c" else np.float64))
    bound = np.prod(np.sqrt((a**2).sum(-1)), axis=-1) if a.size else np.float64(1)
    if isinstance(own, tuple):
        own, right = own[0] * np.exp(own[1]), right[0] * np.exp(right[1])
    return bool(np.all(np.abs(own - right) <= 1e3 * eps * np.maximum(bound, 1e-300) + 1e-30))


row("linalg.det linalg.slogdet", check(determinant))(lambda d, name: ([square(d)], {}))


def near_some(case, args, own, right, eps):
    if own.ndim > 1:
        return all(near_some(case, args, o, r, eps) for o, r in zip(own, right))
    worst = max(1.0, float(np.max(np.abs(right), initial=0)))
    distances = np.abs(own[:, None] - right[None, :]) if own.size else np.zeros((0, 0))
    return bool(np.all(distances.min(axis=1, initial=np.inf) <= 1e2 * worst * eps ** (1 / 3))) if own.size else True


row("linalg.eigvals", check(near_some))(lambda d, name: ([square(d)], {}))
row("linalg.eigvalsh", check(lambda case, args, own, right, eps: close(own, right, eps)))(
    lambda d, name: ([square(d)], {"UPLO": d.one("L", "U", "x")} if d.chance(0.4) else {})
)


def eigen(case, args, own, right, eps):
    a = np.asarray(args[0])
    a = a.astype(np.float64) if a.dtype.kind in "biu" else a
    w, v = own
    if case.name.endswith("eigh"):
        lower = case.kwargs.get("UPLO", "L").upper() == "L"
        half = np.tril(a) if lower else np.triu(a)
        strict = np.tril(a, -1) if lower else np.triu(a, 1)
        diagonal = np.real(half - strict)
        a = strict + np.conj(np.swapaxes(strict, -1, -2)) + diagonal
    size = max(1.0, float(np.max(np.abs(a), initial=0)))
    return close(a @ v, w[..., None, :] * v, eps, 1e4 * size)


row("linalg.eig", check(eigen))(lambda d, name: ([square(d)], {}))
row("linalg.eigh", check(eigen))(lambda d, name: ([square(d)], {"UPLO": d.one("L", "U")} if d.chance(0.4) else {}))


def matrix(d):
    stack = d.one((), (), (), (2,))
    return d.array((*stack, d.one(1, 2, 3, 5, 8, 0 if d.chance(0.2) else 4),
        d.one(1, 2, 3, 5, 7)) if not d.chance(0.02) else d.shape(),
                   classes="biufc", kind=d.one("small", "unit"))  # fmt: skip


def qr(case, args, own, right, eps):
    a = np.asarray(args[0], np.result_type(right[0] if isinstance(right, tuple) else right))
    if not isinstance(own, tuple):  # of dependent columns more than one R will do
        squared = [np.conj(np.swapaxes(m, -1, -2)) @ m for m in (own, a)]
        return own.shape == right.shape and close(np.triu(own), own, eps) and close(*squared, eps)
    if case.kwargs.get("mode") == "raw":
        return True
    q, r = own
    return close(q @ r, a, eps) and close(
        np.conj(np.swapaxes(q, -1, -2)) @ q,
        np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], q.shape[-1], q.shape[-1])),
        eps,
    )


row("linalg.qr", check(qr))(
    lambda d, name: ([matrix(d)], {"mode": d.one("reduced", "complete", "r", "raw", "x")} if d.chance(0.6) else {})
)


def svd(case, args, own, right, eps):
    if not isinstance(own, tuple):
        return close(own, right, eps)
    a = np.asarray(args[0])
    u, s, v = own
    k = s.shape[-1]
    return close(s, right[1], eps) and close((u[..., :, :k] * s[..., None, :]) @ v[..., :k, :], a, eps)


row("linalg.svd", check(svd))(
    lambda d, name: (
        [matrix(d)],
        {
            k: v
            for k, v in {"full_matrices": d.one(True, False), "compute_uv": d.one(True, False)}.items()
            if d.chance(0.5)
        },
    )
)
row("linalg.svdvals", check(svd))(lambda d, name: ([matrix(d)], {}))


def positive(d, name):
    a = square(d)
    return [a], {"upper": True} if d.chance(0.2) else {}


def cholesky(case, args, own, right, eps):
    return close(own, right, eps, 1e5)


row(
    "linalg.cholesky",
    check(cholesky),
    "lambda a, **k: xp.linalg.cholesky(xp.matmul(a, xp.conj(xp.swapaxes(a, -1, -2))) + 3 * xp.eye(a.shape[-1], dtype=a.dtype), **k)",
)(positive)


def pseudo(case, args, own, right, eps):
    worst = condition(args[0])
    return worst * eps > 1e-4 or close(own, right, eps, 1e3 * worst)


row("linalg.pinv", check(pseudo))(lambda d, name: ([matrix(d)], {"rcond": 1e-3} if d.chance(0.2) else {}))
row(
    "linalg.matrix_rank",
    check(lambda case, args, own, right, eps: condition(args[0]) > 1e4 or bool(np.all(own == right))),
)(lambda d, name: ([matrix(d)], {}))
row("linalg.cond", check(lambda case, args, own, right, eps: condition(args[0]) > 1e3 or close(own, right, eps)))(
    lambda d, name: ([square(d) if d.chance(0.7) else matrix(d),
        *([d.one(2, -2, 1, -1, "fro", np_inf(d), "nuc")] if d.chance(0.5) else [])], {}))  # fmt: skip


def np_inf(d):
    return d.one(float("inf"), -float("inf"))


def lstsq(d, name):
    m, n = d.one(1, 3, 5, 8), d.one(1, 2, 3, 5)
    return [
        d.array((m, n), classes="iufc", kind=d.one("small", "unit")),
        d.array((m,) if d.chance(0.5) else (m, 2), classes="iufc", kind="small"),
    ], {"rcond": d.one(None, 1e-6)} if d.chance(0.5) else {}


def least(case, args, own, right, eps):
    worst = condition(args[0])
    return worst > 1e4 or all(
        close(o, r, max(eps, np.finfo(right[0].dtype).eps), 1e3 * worst) for o, r in zip(own, right)
    )


row("linalg.lstsq", check(least))(lstsq)


def norm(d, name):
    array = d.array(least=1, tame=True)
    kwargs = {}
    if name == "linalg.norm":
        how = d.random()
        if how < 0.3:
            kwargs = {"axis": d.one_axis(array.ndim), "ord": d.one(None, 0, 1, 2, 3, -1, 0.5, np_inf(d))}
        elif how < 0.6 and array.ndim >= 2:
            kwargs = {
                "axis": tuple(d.sample(range(array.ndim), 2)),
                "ord": d.one(None, "fro", 1, -1, 2, -2, "nuc", np_inf(d)),
            }
        elif how < 0.7:
            kwargs = {"ord": d.one(1, 2, "fro", 0, 3)}
    elif name == "linalg.vector_norm":
        kwargs = {
            k: v for k, v in {"axis": d.axis(array.ndim), "ord": d.one(0, 1, 2, 3, np_inf(d))}.items() if d.chance(0.5)
        }
    elif d.chance(0.5):
        kwargs = {"ord": d.one("fro", 1, -1, 2, -2, "nuc", np_inf(d))}
    if d.chance(0.2):
        kwargs["keepdims"] = True
    return [array], kwargs


row(
    "linalg.norm linalg.vector_norm linalg.matrix_norm",
    check(lambda case, args, own, right, eps: close(own, right, eps, 200 * max(1, np.size(args[0])))),
)(norm)
row("linalg.tensorinv", check(lambda case, args, own, right, eps: close(own, right, eps, 1e6)))(
    lambda d, name: (
        [d.array((2, 3, 6) if d.chance(0.8) else (4, 2, 2), classes="f", kind="unit")],
        {"ind": d.one(1, 2)},
    )
)
row("linalg.tensorsolve", check(lambda case, args, own, right, eps: close(own, right, eps, 1e6)))(
    lambda d, name: ([d.array((2, 3, 6), classes="f", kind="unit"), d.array((2, 3), classes="f", kind="unit")], {})
)

TRANSFORM = Rule(64, True, "max", True)


def transform(d, name):
    many = name.endswith(("n", "2"))
    array = d.array(
        least=(2 if name.endswith("2") else 1) if d.chance(0.97) else 0,
        classes="biuf" if name.split(".")[1][0] == "r" and d.chance(0.95) else "biufc",
    )
    if not array.size and array.ndim:  # NumPy leaves results of nothing unset
        array = d.array((4,) * array.ndim, array.dtype)
    kwargs = {}
    if many:
        if d.chance(0.3):
            axes = tuple(d.sample(range(array.ndim), d.randint(1, array.ndim))) if array.ndim else (0,)
            kwargs["axes"] = axes
            if d.chance(0.5):
                kwargs["s"] = tuple(d.one(1, 2, 5, 8, -1, 13) for _ in axes)
        elif d.chance(0.1) and array.ndim:
            kwargs["s"] = tuple(d.one(1, 2, 5, 8, 13) for _ in range(array.ndim))
    else:
        if d.chance(0.3):
            kwargs["n"] = d.one(1, 2, 3, 7, 8, 16, 17, 33, 0 if d.chance(0.2) else 4)
        if d.chance(0.4):
            kwargs["axis"] = d.one_axis(array.ndim)
    if d.chance(0.3):
        kwargs["norm"] = d.one(None, "ortho", "forward", "backward", "x")
    return [array], kwargs


row(
    "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.fftn fft.ifftn fft.rfftn fft.irfftn",
    TRANSFORM,
    kinds=[*TAME, "zeros", "full"],
)(transform)
row("fft.fftshift fft.ifftshift", EXACT)(
    lambda d, name: (lambda a: ([a], {"axes": d.axis(a.ndim)} if d.chance(0.5) else {}))(d.array())
)
row("fft.fftfreq fft.rfftfreq", near(4))(
    lambda d, name: ([d.one(1, 2, 5, 8, 0 if d.chance(0.1) else 9)], {"d": d.one(0.1, 2, 2.5)} if d.chance(0.5) else {})
)
