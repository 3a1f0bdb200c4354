"""Bodies that compute: perceptron, Mandelbrot, Black-Scholes, n-body, binary search, Runge-Kutta."""

import numpy as np

from body import Body, body, equal, mostly, near, numba_peer, numpy_peer
from peers import intrinsics_peer, ispc_peer


@body
def perceptron():
    voxels, inputs, hidden, outputs = 2**19, 8, 32, 4
    rng = np.random.default_rng(0)
    normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)
    x, w1, b1, w2, b2 = (
        normal(voxels, inputs),
        normal(hidden, inputs),
        normal(hidden),
        normal(outputs, hidden),
        normal(outputs),
    )
    arrays, y = [x, w1, b1, w2, b2], np.zeros((voxels, outputs), np.float32)

    def by_numba(numba):
        @numba.njit(parallel=True)
        def layers(x, w1, b1, w2, b2, y):
            for i in numba.prange(voxels):
                inner = np.empty(hidden, np.float32)
                for r in range(hidden):
                    total = b1[r]
                    for c in range(inputs):
                        total += w1[r, c] * x[i, c]
                    inner[r] = max(total, np.float32(0))
                for o in range(outputs):
                    total = b2[o]
                    for r in range(hidden):
                        total += w2[o, r] * inner[r]
                    y[i, o] = total

        def call():
            layers(*arrays, y)
            return [y]

        return call

    return Body(
        title="perceptron per voxel, 8 -> 32 -> 4, float32, 2^19 voxels",
        kernel=dict(
            in_params="raw float32 x, raw float32 w1, raw float32 b1, raw float32 w2, raw float32 b2",
            out_params="raw float32 y",
            operation="""
            float hidden[32];
            for (int r = 0; r < 32; r++) {
                float sum = b1[r];
                for (int c = 0; c < 8; c++) sum += w1[r * 8 + c] * x[i * 8 + c];
                hidden[r] = max(sum, 0.0f);
            }
            for (int o = 0; o < 4; o++) {
                float sum = b2[o];
                for (int r = 0; r < 32; r++) sum += w2[o * 32 + r] * hidden[r];
                y[i * 4 + o] = sum;
            }
            """,
        ),
        inputs=arrays,
        outputs=[np.zeros_like(y)],
        size=voxels,
        items=voxels,
        unit="voxels/s",
        flops=voxels * 2 * (inputs * hidden + hidden * outputs),
        peers={
            "numpy": numpy_peer(lambda: [np.maximum(x @ w1.T + b1, 0) @ w2.T + b2]),
            "numba": numba_peer(by_numba),
            "intrinsics": intrinsics_peer("perceptron", [*arrays, voxels], [np.zeros_like(y)]),
            "ispc": ispc_peer("perceptron", [*arrays, voxels], [np.zeros_like(y)]),
        },
        close=near(1e-5, scale=1),
    )


@body
def mandelbrot():
    height, width, limit = 768, 1024, 256
    counts = np.zeros((height, width), np.int32)
    column, row = np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)[:, None]

    def by_numpy():
        f = np.float32
        real, imaginary = np.broadcast_arrays(column * f(3 / width) - f(2.1), row * f(2.4 / height) - f(1.2))
        found = np.zeros((height, width), np.int32)
        alive = np.arange(height * width)
        cr, ci = real.ravel(), imaginary.ravel()
        zr, zi = cr.copy(), ci.copy()
        for k in range(limit):
            inside = zr * zr + zi * zi <= 4
            alive, cr, ci, zr, zi = alive[inside], cr[inside], ci[inside], zr[inside], zi[inside]
            found.flat[alive] = k + 1
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        return [found]

    def by_numba(numba):
        @numba.vectorize(["int32(int32, int32)"], target="parallel")
        def count(x, y):
            cr = np.float32(x) * np.float32(3 / width) - np.float32(2.1)
            ci = np.float32(y) * np.float32(2.4 / height) - np.float32(1.2)
            zr, zi = cr, ci
            for k in range(limit):
                if zr * zr + zi * zi > np.float32(4):
                    return k
                zr, zi = zr * zr - zi * zi + cr, np.float32(2) * zr * zi + ci
            return limit

        columns, rows = np.arange(width, dtype=np.int32)[None], np.arange(height, dtype=np.int32)[:, None]

        def call():
            count(columns, rows, out=counts)
            return [counts]

        return call

    return Body(
        title="Mandelbrot, float32, at most 256 steps, early exit, 1024x768",
        kernel=dict(
            in_params="int32 width, int32 height, int32 limit, float32 step_x, float32 step_y",
            out_params="int32 count",
            operation="""
            float cr = (i % width) * step_x - 2.1f, ci = (i / width) * step_y - 1.2f;
            float zr = cr, zi = ci;
            int k = 0;
            for (; k < limit; k++) {
                if (zr * zr + zi * zi > 4) break;
                float next = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = next;
            }
            count = k;
            """,
        ),
        inputs=[width, height, limit, float(np.float32(3 / width)), float(np.float32(2.4 / height))],
        outputs=[np.zeros_like(counts)],
        items=height * width,
        unit="pixels/s",
        peers={
            "numpy": numpy_peer(by_numpy),
            "numba": numba_peer(by_numba),
            "intrinsics": intrinsics_peer("mandelbrot", [width, height, limit], [np.zeros_like(counts)]),
            "ispc": ispc_peer("mandelbrot", [width, height, limit], [np.zeros_like(counts)]),
        },
        close=mostly(0.02),
    )  # orbits near the border turn on the last bit, and peers fuse products in their own way


CND = """
__device__ float cumulative_normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float polynomial = 1.781477937f + k * (-1.821255978f + k * 1.330274429f);
    polynomial = k * (0.319381530f + k * (-0.356563782f + k * polynomial));
    float tail = 0.398942280f * expf(-0.5f * d * d) * polynomial;
    return d > 0 ? 1.0f - tail : tail;
}
"""


@body
def black_scholes():
    options = 2**20
    rng = np.random.default_rng(0)
    price, strike, years = (
        rng.uniform(low, high, options).astype(np.float32) for low, high in ((5, 30), (1, 100), (0.25, 10))
    )
    rate, volatility = 0.02, 0.3
    outputs = [np.zeros(options, np.float32) for _ in range(2)]
    f = np.float32

    def by_numpy():
        def normal(d):
            k = f(1) / (f(1) + f(0.2316419) * np.abs(d))
            polynomial = k * (
                f(0.319381530)
                + k * (f(-0.356563782) + k * (f(1.781477937) + k * (f(-1.821255978) + k * f(1.330274429))))
            )
            tail = f(0.398942280) * np.exp(f(-0.5) * d * d) * polynomial
            return np.where(d > 0, f(1) - tail, tail)

        root = f(volatility) * np.sqrt(years)
        d1 = (np.log(price / strike) + (f(rate) + f(0.5) * f(volatility) * f(volatility)) * years) / root
        d2 = d1 - root
        discounted = strike * np.exp(-f(rate) * years)
        return [price * normal(d1) - discounted * normal(d2), discounted * normal(-d2) - price * normal(-d1)]

    def by_numba(numba):
        @numba.njit
        def normal(d):
            k = f(1) / (f(1) + f(0.2316419) * abs(d))
            polynomial = k * (
                f(0.319381530)
                + k * (f(-0.356563782) + k * (f(1.781477937) + k * (f(-1.821255978) + k * f(1.330274429))))
            )
            tail = f(0.398942280) * np.exp(f(-0.5) * d * d) * polynomial
            return f(1) - tail if d > 0 else tail

        @numba.njit(parallel=True)
        def prices(price, strike, years, call, put):
            for i in numba.prange(options):
                root = f(volatility) * np.sqrt(years[i])
                d1 = (
                    np.log(price[i] / strike[i]) + (f(rate) + f(0.5) * f(volatility) * f(volatility)) * years[i]
                ) / root
                d2 = d1 - root
                discounted = strike[i] * np.exp(-f(rate) * years[i])
                call[i] = price[i] * normal(d1) - discounted * normal(d2)
                put[i] = discounted * normal(-d2) - price[i] * normal(-d1)

        def call():
            prices(price, strike, years, *outputs)
            return outputs

        return call

    return Body(
        title="Black-Scholes, call and put, float32, 2^20 options",
        kernel=dict(
            in_params="float32 price, float32 strike, float32 years, float32 rate, float32 volatility",
            out_params="float32 call, float32 put",
            preamble=CND,
            operation="""
            float root = volatility * sqrtf(years);
            float d1 = (logf(price / strike) + (rate + 0.5f * volatility * volatility) * years) / root;
            float d2 = d1 - root;
            float discounted = strike * expf(-rate * years);
            call = price * cumulative_normal(d1) - discounted * cumulative_normal(d2);
            put = discounted * cumulative_normal(-d2) - price * cumulative_normal(-d1);
            """,
        ),
        inputs=[price, strike, years, rate, volatility],
        outputs=[np.zeros_like(price) for _ in range(2)],
        items=options,
        unit="options/s",
        peers={
            "numpy": numpy_peer(by_numpy),
            "numba": numba_peer(by_numba),
            "ispc": ispc_peer(
                "black_scholes",
                [price, strike, years, rate, volatility, options],
                [np.zeros_like(price) for _ in range(2)],
            ),
        },
        close=near(2e-5, scale=1),
    )


@body
def nbody():
    count = 4096
    rng = np.random.default_rng(0)
    x, y, z, mass = (rng.random(count, dtype=np.float32) for _ in range(4))
    outputs, f = [np.zeros(count, np.float32) for _ in range(3)], np.float32

    def by_numpy():
        forces = [np.empty(count, np.float32) for _ in range(3)]
        for block in range(0, count, 128):
            rows = slice(block, block + 128)
            offsets = [each[None] - each[rows, None] for each in (x, y, z)]
            squared = offsets[0] ** 2 + offsets[1] ** 2 + offsets[2] ** 2 + f(1e-4)
            weight = mass / (squared * np.sqrt(squared))
            for force, offset in zip(forces, offsets):
                force[rows] = (weight * offset).sum(1)
        return forces

    def by_numba(numba):
        @numba.njit(parallel=True)
        def attract(x, y, z, mass, ax, ay, az):
            for i in numba.prange(count):
                fx = fy = fz = f(0)
                for j in range(count):
                    dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                    squared = dx * dx + dy * dy + dz * dz + f(1e-4)
                    weight = mass[j] / (squared * np.sqrt(squared))
                    fx += weight * dx
                    fy += weight * dy
                    fz += weight * dz
                ax[i], ay[i], az[i] = fx, fy, fz

        def call():
            attract(x, y, z, mass, *outputs)
            return outputs

        return call

    return Body(
        title="n-body forces, all pairs, float32, 4096 bodies",
        kernel=dict(
            in_params="raw float32 x, raw float32 y, raw float32 z, raw float32 mass, int32 bodies",
            out_params="float32 ax, float32 ay, float32 az",
            operation="""
            float fx = 0, fy = 0, fz = 0;
            for (int j = 0; j < bodies; j++) {
                float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
                float squared = dx * dx + dy * dy + dz * dz + 1e-4f;
                float weight = mass[j] / (squared * sqrtf(squared));
                fx += weight * dx;
                fy += weight * dy;
                fz += weight * dz;
            }
            ax = fx; ay = fy; az = fz;
            """,
        ),
        inputs=[x, y, z, mass, count],
        outputs=[np.zeros(count, np.float32) for _ in range(3)],
        items=count * count,
        unit="pairs/s",
        peers={
            "numpy": numpy_peer(by_numpy),
            "numba": numba_peer(by_numba),
            "ispc": ispc_peer("nbody", [x, y, z, mass, count], [np.zeros(count, np.float32) for _ in range(3)]),
        },
        close=near(1e-3, scale=0.1),
        small_inputs=[x, y, z, mass, 64],
    )


@body
def binary_search():
    count, entries = 2**20, 2**16
    rng = np.random.default_rng(0)
    table, x = np.sort(rng.random(entries, dtype=np.float32)), rng.random(count, dtype=np.float32)
    places = np.zeros(count, np.int32)

    def by_numba(numba):
        @numba.njit(parallel=True)
        def search(table, x, places):
            for i in numba.prange(x.size):
                low, high = 0, table.size
                while low < high:
                    middle = (low + high) >> 1
                    if table[middle] < x[i]:
                        low = middle + 1
                    else:
                        high = middle
                places[i] = low

        def call():
            search(table, x, places)
            return [places]

        return call

    return Body(
        title="binary search, 2^20 float32 in a table of 2^16",
        kernel=dict(
            in_params="float32 x, raw float32 table, int32 entries",
            out_params="int32 place",
            operation="""
            int low = 0, high = entries;
            while (low < high) {
                int middle = (low + high) / 2;
                if (table[middle] < x) low = middle + 1;
                else high = middle;
            }
            place = low;
            """,
        ),
        inputs=[x, table, entries],
        outputs=[np.zeros_like(places)],
        items=count,
        unit="searches/s",
        peers={
            "numpy": numpy_peer(lambda: [np.searchsorted(table, x).astype(np.int32)]),
            "numba": numba_peer(by_numba),
            "ispc": ispc_peer("binary_search", [x, table, entries, count], [np.zeros_like(places)]),
        },
        close=equal,
    )


@body
def runge_kutta():
    count, steps, f = 2**15, 100, np.float32
    rng = np.random.default_rng(0)
    starts = [rng.uniform(-10, 10, count).astype(np.float32) for _ in range(3)]
    outputs = [np.zeros(count, np.float32) for _ in range(3)]
    h, third = f(0.005), f(8) / f(3)

    def slope(x, y, z):
        return f(10) * (y - x), x * (f(28) - z) - y, x * y - third * z

    def step(slope, x, y, z):
        ax, ay, az = slope(x, y, z)
        bx, by, bz = slope(x + f(0.5) * h * ax, y + f(0.5) * h * ay, z + f(0.5) * h * az)
        cx, cy, cz = slope(x + f(0.5) * h * bx, y + f(0.5) * h * by, z + f(0.5) * h * bz)
        dx, dy, dz = slope(x + h * cx, y + h * cy, z + h * cz)
        sixth = h / f(6)
        return (
            x + sixth * (ax + f(2) * bx + f(2) * cx + dx),
            y + sixth * (ay + f(2) * by + f(2) * cy + dy),
            z + sixth * (az + f(2) * bz + f(2) * cz + dz),
        )

    def by_numpy():
        state = tuple(starts)
        for _ in range(steps):
            state = step(slope, *state)
        return list(state)

    def by_numba(numba):
        fast_slope, fast_step = numba.njit(slope), numba.njit(step)

        @numba.njit(parallel=True)
        def integrate(x0, y0, z0, x1, y1, z1):
            for i in numba.prange(count):
                x, y, z = x0[i], y0[i], z0[i]
                for _ in range(steps):
                    x, y, z = fast_step(fast_slope, x, y, z)
                x1[i], y1[i], z1[i] = x, y, z

        def call():
            integrate(*starts, *outputs)
            return outputs

        return call

    return Body(
        title="Lorenz system by Runge-Kutta, 100 steps, float32, 2^15 starts",
        kernel=dict(
            in_params="float32 x0, float32 y0, float32 z0, int32 steps, float32 h",
            out_params="float32 x1, float32 y1, float32 z1",
            preamble="""
            struct State { float x, y, z; };
            __device__ State slope(State s) {
                return {10.0f * (s.y - s.x), s.x * (28.0f - s.z) - s.y, s.x * s.y - 8.0f / 3.0f * s.z};
            }
            __device__ State moved(State s, State d, float h) { return {s.x + h * d.x, s.y + h * d.y, s.z + h * d.z}; }
            """,
            operation="""
            State s = {x0, y0, z0};
            for (int k = 0; k < steps; k++) {
                State a = slope(s);
                State b = slope(moved(s, a, 0.5f * h));
                State c = slope(moved(s, b, 0.5f * h));
                State d = slope(moved(s, c, h));
                State sum = {a.x + 2 * b.x + 2 * c.x + d.x, a.y + 2 * b.y + 2 * c.y + d.y,
                             a.z + 2 * b.z + 2 * c.z + d.z};
                s = moved(s, sum, h / 6);
            }
            x1 = s.x; y1 = s.y; z1 = s.z;
            """,
        ),
        inputs=[*starts, steps, float(h)],
        outputs=[np.zeros(count, np.float32) for _ in range(3)],
        items=count * steps,
        unit="steps/s",
        peers={
            "numpy": numpy_peer(by_numpy),
            "numba": numba_peer(by_numba),
            "ispc": ispc_peer(
                "runge_kutta", [*starts, steps, float(h), count], [np.zeros(count, np.float32) for _ in range(3)]
            ),
        },
        close=near(1e-3, scale=1),
    )
