"""Addresses that 32 bits, large steps or conditions bound: no element outside of an array is read."""

import numpy as np
import pytest

import iruka

Kernel = iruka.ElementwiseKernel
OPTIONS = [(), ("--lanes=1",), ("--lanes=8",)]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("step", [1, 2, 3, 5, 7])
def test_unsigned_indices_that_go_down(step, options):
    for text in (
        f"a[last - {step}u * (unsigned)i]",
        f"a[(unsigned)(last - {step} * (int)i)]",
        f"a[(unsigned)((int)last - (int)i * {step})]",
        f"*(const float *)((const char *)&a[0] + ((unsigned long long)(last - {step}u * (unsigned)i) << 2))",
    ):
        k = Kernel(
            "float32 x, raw float32 a, uint32 last",
            "float32 y",
            f"if (x > 0) y = {text}; else y = -1;",
            options=options,
        )
        for n in (1, 5, 33, 1000):
            a = np.arange(step * (n - 1) + 1, dtype="float32")
            x = np.where(np.arange(n) % 4 == 2, -1, 1).astype("float32")
            expected = np.where(x > 0, a[::-step], -1)
            y = k(iruka.array(x), iruka.array(a), len(a) - 1)
            np.testing.assert_array_equal(iruka.asnumpy(y), expected, err_msg=text)


@pytest.mark.cpu_only  # two billion rounds in one thread
def test_steps_whose_product_with_the_rounds_wraps():
    k = Kernel(
        "float32 x, int64 m, raw float32 a",
        "int32 z",
        "int c = 0; for (long long k = 0; k < m; ++k) c += k * 0.5f < x && a[k << 31] > 0.5f; z = c;",
        "far_steps",
        options=("--lanes=1",),
    )
    assert k(iruka.full(1, -1, "float32"), 2**31 + 1, iruka.zeros(1000, "float32")).tolist() == [0]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_neighbours_that_only_some_rounds_read(dtype, options, rng):
    k = Kernel(
        "raw T a, int32 width",
        "int32 up, int32 within",
        """
        int count = 0;
        for (int k = 0; k < width; k++)
            if (a[i * width + k] == 1 && a[i * width + k + 1] == 2) count++;
        up = count;
        count = 0;
        for (int k = 0; k < 2 * width; k++)
            if (k < width && a[i * width + k] > 1) count += k;
        within = count;
        """,
        "neighbours",
        options=options,
    )
    for rows, width in ((1, 1), (3, 2), (9, 40), (50, 129)):
        a = rng.integers(0, 3, (rows, width)).astype(dtype)
        a[-1, -1] = 0  # nothing lies behind it
        flat = a.ravel()
        pairs = np.zeros(a.size, "int32")
        pairs[:-1] = (flat[:-1] == 1) & (flat[1:] == 2)
        up, within = k(iruka.array(a), width, size=rows)
        np.testing.assert_array_equal(iruka.asnumpy(up), pairs.reshape(a.shape).sum(1))
        np.testing.assert_array_equal(iruka.asnumpy(within), (np.arange(width) * (a > 1)).sum(1))
