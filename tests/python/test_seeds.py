"""The articles' programs, run unchanged if they are available, compared with the output they must print."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import iruka
from helpers import PATIENCE

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "shared" / "seeds" / "scripts"
NAMES = [
    "mat_add",
    "roll_1d",
    "indexing_2d",
    "indexing_3ch",
    "local_mean",
    "linear_layers",
    "basics",
    "patch_match",
    "vectorize",
]


@pytest.mark.parametrize("name", NAMES)
def test_program(name, tmp_path, rng):
    if not SCRIPTS.exists():
        pytest.skip("the articles' programs are not beside this repository")
    arguments = []
    if name == "patch_match":
        for file in ("a.png", "b.png"):
            smooth = np.cumsum(rng.integers(-4, 5, (18, 24, 3)), axis=1) + rng.integers(80, 160, (18, 1, 3))
            iruka.image.imwrite(tmp_path / file, np.clip(smooth, 0, 255).astype("uint8"))
            arguments.append(str(tmp_path / file))
        arguments.append(str(tmp_path / "out.png"))
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"{name}.py", *arguments],
        capture_output=True,
        text=True,
        env=os.environ,
        timeout=300 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (SCRIPTS / f"{name}.expected").read_text()


def test_roll():
    x = iruka.random.randint(low=0, high=10, size=15).astype(iruka.int16)
    z = iruka.zeros_like(x)
    iruka.ElementwiseKernel("raw int16 x", "int16 z", "int idx = (i + 1) % _ind.size(); z = x[idx];", "roll")(x, z)
    np.testing.assert_array_equal(iruka.asnumpy(z), np.roll(iruka.asnumpy(x), -1))


def test_local_mean_of_a_ramp():
    height, width = 9, 13
    x = np.arange(height * width, dtype="float32").reshape(height, width)
    kernel = iruka.ElementwiseKernel(
        "raw float32 input, int16 width, int16 height",
        "float32 output",
        "output = local_mean(i % width, i / width, width, height, input);",
        "local_mean",
        preamble="""
        __device__ float local_mean(int x_idx, int y_idx, int width, int height, CArray<float, 2> &input) {
            float mean = 0;
            int count = 0;
            for (int dy = -1; dy <= 1; dy++) {
                for (int dx = -1; dx <= 1; dx++) {
                    int x = x_idx + dx;
                    int y = y_idx + dy;
                    if (x < 0 || x >= width || y < 0 || y >= height) continue;
                    int idx[] = {y, x};
                    mean += input[idx];
                    count += 1;
                }
            }
            return mean / count;
        }""",
    )
    out = iruka.zeros((height, width), "float32")
    kernel(iruka.asarray(x), width, height, out)
    padded = np.pad(x.astype("float64"), 1, constant_values=np.nan)
    expected = np.nanmean(np.lib.stride_tricks.sliding_window_view(padded, (3, 3)), axis=(2, 3))
    np.testing.assert_allclose(iruka.asnumpy(out), expected, rtol=1e-6)


def test_interleaved_channels():
    x = iruka.transpose(iruka.arange(27).reshape(3, 3, 3).astype(iruka.int16), axes=(1, 2, 0))
    z = iruka.zeros((3, 3, 2)).astype(iruka.int16)
    k = iruka.ElementwiseKernel(
        "raw int16 x", "raw int16 z", "z[i*2] = x[i*3] + x[i*3+1]; z[i*2+1] = x[i*3+1] + x[i*3+2];", "channels"
    )
    k(x, z, size=9)
    same = iruka.asnumpy(x)
    np.testing.assert_array_equal(
        iruka.asnumpy(z), np.stack([same[..., 0] + same[..., 1], same[..., 1] + same[..., 2]], -1)
    )


def test_linear_layer(rng):
    inputs, weight, bias = (rng.standard_normal(s).astype("float32") for s in ((6, 7, 5), (4, 5), (4,)))
    k = iruka.ElementwiseKernel(
        "raw float32 x, int16 n, int16 m, raw float32 weight, raw float32 bias",
        "raw float32 y",
        """
        for (int r = 0; r < m; r++) {
            float product = 0;
            for (int c = 0; c < n; c++) product += weight[r * n + c] * x[i * n + c];
            y[i * m + r] = product + bias[r];
        }""",
        "linear_layer",
    )
    out = iruka.zeros((6, 7, 4), "float32")
    k(iruka.asarray(inputs), 5, 4, iruka.asarray(weight), iruka.asarray(bias), out, size=42)
    np.testing.assert_allclose(iruka.asnumpy(out), inputs.astype("float64") @ weight.T + bias, rtol=1e-4, atol=1e-5)
