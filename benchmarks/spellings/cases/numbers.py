"""Numbers: networks, iterations, points, filters over time, random numbers, sparse matrices."""

import numpy as np

from ..computation import Computation, computation


@computation(full=(500_000,), small=(3,), odd=(1001,))
def perceptron(count):
    rng = np.random.default_rng(1)
    x, w1, b1, w2, b2 = (
        rng.standard_normal(shape, dtype=np.float32) for shape in ((count, 8), (32, 8), (32,), (4, 32), (4,))
    )

    def expected():
        hidden = np.maximum(x.astype(np.float64) @ w1.T + b1, 0)
        return {"y": (hidden @ w2.T + b2).astype(np.float32)}

    return Computation(
        title=f"perceptron 8-32-4, {count} rows",
        data=dict(
            x=x, w1=w1, b1=b1, w2=w2, b2=b2, w1t=w1.T.copy(), w2t=w2.T.copy(), inputs=8, hiddens=32, outputs=4,
            count=count,
        ),
        outputs=dict(y=np.zeros((count, 4), np.float32)),
        views={**{f"x{c}": ("x", (..., c)) for c in range(8)}, **{f"y{c}": ("y", (..., c)) for c in range(4)}},
        expected=expected,
        rtol=1e-4,
        atol=1e-4,
        native=("x", "w1", "b1", "w2", "b2", "count", "y"),
    )  # fmt: skip


@computation(full=(800, 1200), small=(2, 3), odd=(13, 37))
def mandelbrot(height, width):
    im, re = np.meshgrid(*(np.linspace(*each, dtype=np.float32) for each in ((-1.2, 1.2, height), (-2.2, 0.8, width))),
                         indexing="ij")  # fmt: skip
    most = 200

    def expected():
        x, y = np.zeros_like(re), np.zeros_like(re)
        steps, inside = np.zeros(re.shape, np.int32), np.ones(re.shape, bool)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(most):
                inside &= x * x + y * y <= 4
                steps += inside
                x, y = x * x - y * y + re, 2 * x * y + im
        return {"steps": steps}

    return Computation(
        title=f"Mandelbrot set, {width}x{height}, {most} steps",
        data=dict(re=re, im=im, most=most, count=re.size),
        outputs=dict(steps=np.zeros(re.shape, np.int32)),
        expected=expected,
        portion=0.02,
        native=("re", "im", "most", "count", "steps"),
    )


@computation(full=(1000, 1400), small=(2, 3), odd=(13, 37))
def newton(height, width):
    im, re = np.meshgrid(*(np.linspace(-1.5, 1.6, size, dtype=np.float32) for size in (height, width)), indexing="ij")
    most = 40

    def expected():
        z = re.astype(np.complex128) + 1j * im
        steps, active = np.zeros(re.shape, np.int32), np.ones(re.shape, bool)
        for _ in range(most):
            f = z**3 - 1
            active &= np.abs(f) ** 2 >= 1e-6
            steps += active
            z = np.where(active, z - f / np.where(active, 3 * z * z, 1), z)
        return {"steps": steps, "root": np.where(z.real > 0, 0, np.where(z.imag > 0, 1, 2)).astype(np.int32)}

    return Computation(
        title=f"Newton's method for z^3 = 1, {width}x{height}",
        data=dict(re=re, im=im, most=most, count=re.size),
        outputs=dict(root=np.zeros(re.shape, np.int32), steps=np.zeros(re.shape, np.int32)),
        expected=expected,
        portion=0.02,
        native=("re", "im", "most", "count", "root", "steps"),
    )


@computation(full=(60_000, 512), small=(3, 512), odd=(1001, 512))
def nearest(count, point_count):
    rng = np.random.default_rng(2)
    x, points = (rng.random((size, 3), dtype=np.float32) for size in (count, point_count))

    def expected():
        found = np.empty(count, np.int32)
        for begin in range(0, count, 4096):
            part = x[begin : begin + 4096, None].astype(np.float64) - points
            found[begin : begin + 4096] = (part**2).sum(-1).argmin(1)
        return {"nearest": found}

    return Computation(
        title=f"nearest of {point_count} points, {count} rows",
        data=dict(x=x, points=points, count=point_count, rows=count),
        outputs=dict(nearest=np.zeros(count, np.int32)),
        views={
            **{f"x{j}": ("x", (..., j)) for j in range(3)},
            **{f"p{j}": ("points", (..., j)) for j in range(3)},
        },
        expected=expected,
        portion=0.001,
        native=("x", "points", "count", "rows", "nearest"),
    )


def biquad(x, b0, b1, b2, a1, a2):
    """Over the first axis, in float64."""
    z1, z2 = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    y = np.empty(x.shape)
    for t, each in enumerate(x.astype(np.float64)):
        y[t] = b0 * each + z1
        z1 = b1 * each - a1 * y[t] + z2
        z2 = b2 * each - a2 * y[t]
    return y.astype(np.float32)


COEFFICIENTS = dict(b0=0.2, b1=0.4, b2=0.2, a1=-0.5, a2=0.3)


@computation(full=(1000, 8192), small=(3, 2), odd=(37, 101))
def iir(steps, channels):
    x = np.random.default_rng(3).standard_normal((steps, channels), dtype=np.float32)
    return Computation(
        title=f"biquad filter over time, {steps} steps of {channels} channels",
        data=dict(
            x=x, steps=steps, channels=channels, **COEFFICIENTS,
            coefficients=np.array([*COEFFICIENTS.values()], np.float32),
        ),
        outputs=dict(y=np.zeros_like(x)),
        expected=lambda: {"y": biquad(x, **COEFFICIENTS)},
        rtol=1e-4,
        atol=1e-4,
        native=("x", "steps", "channels", "b0", "b1", "b2", "a1", "a2", "y"),
    )  # fmt: skip


@computation(full=(4096, 1000), small=(2, 3), odd=(101, 37))
def iir_rows(channels, steps):
    x = np.random.default_rng(4).standard_normal((channels, steps), dtype=np.float32)
    return Computation(
        title=f"biquad filter of rows, {channels} channels of {steps} steps",
        data=dict(x=x, steps=steps, channels=channels, **COEFFICIENTS),
        outputs=dict(y=np.zeros_like(x)),
        views=dict(xt=("x", "T"), yt=("y", "T")),
        expected=lambda: {"y": np.ascontiguousarray(biquad(x.T, **COEFFICIENTS).T)},
        rtol=1e-4,
        atol=1e-4,
        native=("x", "steps", "channels", "b0", "b1", "b2", "a1", "a2", "y"),
    )


@computation(full=(150_000,), small=(3,), odd=(1001,))
def monte_carlo(count):
    samples = 256

    def expected():
        state = np.arange(count, dtype=np.uint32) * np.uint32(747796405) + np.uint32(2891336453)
        hits = np.zeros(count, np.int32)
        for _ in range(samples):
            point = []
            for _ in range(2):
                state = state * np.uint32(1664525) + np.uint32(1013904223)
                point.append((state >> 8).astype(np.uint64))
            hits += point[0] ** 2 + point[1] ** 2 < 1 << 48
        return {"hits": hits}

    return Computation(
        title=f"points in a circle, {count} elements, {samples} samples",
        data=dict(samples=samples, count=count, seed=np.arange(count, dtype=np.uint32)),
        outputs=dict(hits=np.zeros(count, np.int32)),
        expected=expected,
        portion=0.001,
        native=("samples", "count", "hits"),
    )


@computation(full=(200_000,), small=(3,), odd=(1001,))
def sparse(rows):
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, 33, rows)
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, rows, begins[-1]).astype(np.int32)
    values = rng.standard_normal(begins[-1] + 1, dtype=np.float32)[:-1]
    x = rng.standard_normal(rows, dtype=np.float32)

    def expected():
        total = np.zeros(rows)
        np.add.at(total, np.repeat(np.arange(rows), lengths), values.astype(np.float64) * x[columns])
        return {"y": total.astype(np.float32)}

    return Computation(
        title=f"product of a sparse matrix, {rows} rows of 0 to 32 numbers",
        data=dict(begins=begins, columns=columns, values=values, x=x, rows=rows),
        outputs=dict(y=np.zeros(rows, np.float32)),
        views=dict(begin=("begins", slice(None, -1)), end=("begins", slice(1, None))),
        expected=expected,
        rtol=1e-4,
        atol=1e-4,
        native=("begins", "columns", "values", "x", "rows", "y"),
    )


@computation(full=(200_000,), small=(3,), odd=(1001,))
def viterbi(count):
    rng = np.random.default_rng(6)
    scores, moves = (rng.standard_normal(shape, dtype=np.float32) for shape in ((count, 16, 4), (4, 4)))

    def expected():
        now = scores[:, 0].astype(np.float64)
        for t in range(1, 16):
            now = (now[:, :, None] + moves).max(1) + scores[:, t]
        return {"best": now.max(1).astype(np.float32)}

    return Computation(
        title=f"best paths through 4 states in 16 steps, {count} elements",
        data=dict(scores=scores, moves=moves, steps=16, states=4, count=count),
        outputs=dict(best=np.zeros(count, np.float32)),
        expected=expected,
        rtol=1e-5,
        atol=1e-5,
        native=("scores", "moves", "count", "best"),
    )
