"""Bodies where lanes could cost more than they bring: sums, gathers, atomics, tables, two heavy sides, float16."""

import numpy as np

from body import Body, body, equal, near, numpy_peer


def simple(title, dtype, operation, inputs, outputs, by_numpy, close=equal, names="xyw"):
    """A body of plain parameters of one dtype."""
    return Body(
        title=title,
        kernel=dict(
            in_params=", ".join(f"{dtype} {name}" for name, _ in zip(names, inputs)),
            out_params=f"{dtype} z",
            operation=operation,
        ),
        inputs=inputs,
        outputs=outputs,
        items=inputs[0].size,
        unit="elements/s",
        peers={"numpy": numpy_peer(by_numpy)},
        close=close,
    )


def add(dtype, count):
    x, y = (np.random.default_rng(seed).integers(0, 100, count).astype(dtype) for seed in (0, 1))
    return simple(
        f"z = x + y, {dtype}, {count} elements", dtype, "z = x + y;", [x, y], [np.zeros_like(x)], lambda: [x + y]
    )


for dtype in ("float32", "float64", "int8", "int16", "int64", "float16"):

    def make(dtype=dtype):
        return add(dtype, 2**22)

    make.__name__ = f"add_{dtype}"
    body(make)


@body
def add_small():
    return add("float32", 4096)


@body
def add_strided():
    x = np.random.default_rng(0).random((2048, 2048), dtype=np.float32)
    return simple(
        "z = x[:, ::2] + x[:, 1::2], float32",
        "float32",
        "z = x + y;",
        [x[:, ::2], x[:, 1::2]],
        [np.zeros((2048, 1024), np.float32)],
        lambda: [x[:, ::2] + x[:, 1::2]],
    )


@body
def gather_copy():
    count = 2**20
    x = np.random.default_rng(0).random(count, dtype=np.float32)
    return Body(
        title="z = x[17 i mod n], float32, 2^20 elements",
        kernel=dict(in_params="raw float32 x, int32 mask", out_params="float32 z", operation="z = x[i * 17 & mask];"),
        inputs=[x, count - 1],
        outputs=[np.zeros_like(x)],
        items=count,
        unit="elements/s",
        peers={"numpy": numpy_peer(lambda: [x[np.arange(count) * 17 & count - 1]])},
        close=equal,
    )


@body
def raw_transposed():
    """A raw array that is not contiguous: finding element k of it takes a division."""
    height, width = 512, 768
    x = np.random.default_rng(0).random((width, height), dtype=np.float32).T
    return Body(
        title="sum of three neighbours of a transposed raw array by one index, float32, 768x512",
        kernel=dict(
            in_params="raw float32 x",
            out_params="float32 z",
            operation="z = 0; for (int k = -1; k <= 1; k++) z += x[min(max((int)i + k, 0), (int)n - 1)];",
        ),
        inputs=[x],
        outputs=[np.zeros(x.size, np.float32)],
        items=x.size,
        unit="elements/s",
        peers={
            "numpy": numpy_peer(
                lambda: [sum(x.ravel()[np.clip(np.arange(x.size) + k, 0, x.size - 1)] for k in (-1, 0, 1))]
            )
        },
        close=equal,
    )


@body
def reverse():
    count = 2**21
    x = np.random.default_rng(0).random(count, dtype=np.float32)
    return Body(
        title="z = x[n - 1 - i], float32, 2^21 elements",
        kernel=dict(in_params="raw float32 x", out_params="float32 z", operation="z = x[n - 1 - i];"),
        inputs=[x],
        outputs=[np.zeros_like(x)],
        items=count,
        unit="elements/s",
        peers={"numpy": numpy_peer(lambda: [x[::-1].copy()])},
        close=equal,
    )


@body
def histogram():
    count = 2**20
    x = np.random.default_rng(0).integers(0, 256, count).astype(np.uint8)
    return Body(
        title="histogram by atomicAdd, 256 bins, 2^20 uint8",
        kernel=dict(in_params="uint8 x", out_params="raw int32 bins", operation="atomicAdd(&bins[x], 1);"),
        inputs=[x],
        outputs=[np.zeros(256, np.int32)],
        size=None,
        items=count,
        unit="elements/s",
        peers={"numpy": numpy_peer(lambda: [np.bincount(x, minlength=256).astype(np.int32)])},
        close=equal,
    )


@body
def table_lookup():
    count = 2**21
    rng = np.random.default_rng(0)
    x, table = rng.integers(0, 256, count).astype(np.uint8), rng.random(256, dtype=np.float32)
    return Body(
        title="z = table[x], uint8 to float32, 2^21 elements",
        kernel=dict(in_params="uint8 x, raw float32 table", out_params="float32 z", operation="z = table[x];"),
        inputs=[x, table],
        outputs=[np.zeros(count, np.float32)],
        items=count,
        unit="elements/s",
        peers={"numpy": numpy_peer(lambda: [table[x]])},
        close=equal,
    )


@body
def table_uint8():
    count = 2**21
    rng = np.random.default_rng(0)
    x, table = rng.integers(0, 256, count).astype(np.uint8), rng.integers(0, 256, 256).astype(np.uint8)
    return Body(
        title="z = table[x], uint8 to uint8, 2^21 elements",
        kernel=dict(in_params="uint8 x, raw uint8 table", out_params="uint8 z", operation="z = table[x];"),
        inputs=[x, table],
        outputs=[np.zeros(count, np.uint8)],
        items=count,
        unit="elements/s",
        peers={"numpy": numpy_peer(lambda: [table[x]])},
        close=equal,
    )


SIDES = """
if (x < border) {
    float value = x + 2;
    for (int k = 0; k < 12; k++) value = 0.5f * (value + (x + 2) / value);
    z = value;
} else {
    float sum = 0, power = 1;
    for (int k = 1; k < 16; k++) {
        power *= x;
        sum += power / k;
    }
    z = expf(sum * 0.1f);
}
"""


def sides(title, x):
    def by_numpy():
        f = np.float32
        value, total, power = x + f(2), np.zeros_like(x), np.ones_like(x)
        for _ in range(12):
            value = f(0.5) * (value + (x + f(2)) / value)
        for k in range(1, 16):
            power = power * x
            total += power / f(k)
        return [np.where(x < f(0.5), value, np.exp(total * f(0.1)))]

    return Body(
        title=title,
        kernel=dict(in_params="float32 x, float32 border", out_params="float32 z", operation=SIDES),
        inputs=[x, 0.5],
        outputs=[np.zeros_like(x)],
        items=x.size,
        unit="elements/s",
        peers={"numpy": numpy_peer(by_numpy)},
        close=near(1e-5),
    )


@body
def sides_random():
    return sides(
        "two heavy sides, chosen at random, float32, 2^18 elements",
        np.random.default_rng(0).random(2**18, dtype=np.float32),
    )


@body
def sides_sorted():
    return sides(
        "two heavy sides, in long runs, float32, 2^18 elements",
        np.sort(np.random.default_rng(0).random(2**18, dtype=np.float32)),
    )


@body
def lone_lane():
    """One element in 64 runs a long loop: every vector waits for it."""
    count = 2**19
    rng = np.random.default_rng(0)
    steps = np.where(rng.integers(0, 64, count) == 0, 200, 1).astype(np.int32)

    def by_numpy():
        state, left = np.arange(count, dtype=np.uint32), steps.copy()
        alive = np.arange(count)
        while alive.size:
            state[alive] = state[alive] * np.uint32(1664525) + np.uint32(1013904223)
            left[alive] -= 1
            alive = alive[left[alive] > 0]
        return [state]

    return Body(
        title="one element in 64 loops 200 times, the others once, 2^19 elements",
        kernel=dict(
            in_params="int32 steps",
            out_params="uint32 z",
            operation="""
            uint32_t state = i;
            for (int k = 0; k < steps; k++) state = state * 1664525u + 1013904223u;
            z = state;
            """,
        ),
        inputs=[steps],
        outputs=[np.zeros(count, np.uint32)],
        items=count,
        unit="elements/s",
        peers={"numpy": numpy_peer(by_numpy)},
        close=equal,
    )


@body
def float16_blend():
    x, y, w = (np.random.default_rng(seed).random(2**20).astype(np.float16) for seed in range(3))
    return simple(
        "z = x * w + y * (1 - w), float16, 2^20 elements",
        "float16",
        "z = x * w + y * (float16(1) - w);",
        [x, y, w],
        [np.zeros_like(x)],
        lambda: [x * w + y * (np.float16(1) - w)],
        close=near(2e-3, scale=1),
    )


@body
def float16_mean():
    height, width = 512, 1024
    x = np.random.default_rng(0).random((height, width)).astype(np.float16)

    def by_numpy():
        total = np.zeros((height, width), np.float32)
        for k in range(5):
            total += x[:, np.clip(np.arange(width) + k - 2, 0, width - 1)]
        return [(total / np.float32(5)).astype(np.float16)]

    return Body(
        title="mean of five neighbours, float16 by way of float32, 1024x512",
        kernel=dict(
            in_params="raw float16 image, int32 width",
            out_params="float16 z",
            operation="""
                    int x = i % width, row = i - x;
                    float sum = 0;
                    for (int k = -2; k <= 2; k++) sum += (float)image[row + min(max(x + k, 0), width - 1)];
                    z = float16(sum / 5);
                    """,
        ),
        inputs=[x, width],
        outputs=[np.zeros_like(x)],
        items=x.size,
        unit="elements/s",
        peers={"numpy": numpy_peer(by_numpy)},
        close=near(2e-3),
    )
