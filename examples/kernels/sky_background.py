"""The brightness of the sky between the galaxies of the Hubble deep field, and the objects that stand out of it.

A telescope's picture is cut into tiles. The mean and the deviation of each tile are computed, pixels more than three
deviations away are left out, and so on: sigma clipping, as SExtractor does it (Bertin and Arnouts 1996).

    python examples/kernels/sky_background.py [--output out/sky_background.jpg]
"""

import numpy as np
from pictures import command_line, photograph, write

import iruka

# Mean and squared deviations of two sets from those of each (Chan, Golub and LeVeque 1979): one pass over the pixels.
clipped_moments = iruka.ReductionKernel(
    "T pixel, float64 low, float64 high",
    "float64 mean, float64 deviation",
    "pixel >= low && pixel <= high ? moments{1, double(pixel), 0} : moments{0, 0, 0}",
    "joined(a, b)",
    "mean = a.count > 0 ? a.mean : NAN; deviation = sqrt(a.squares / a.count)",
    "moments{0, 0, 0}",
    "clipped_moments",
    reduce_type="moments",
    preamble="""
    struct moments { double count, mean, squares; };
    __device__ moments joined(moments a, moments b) {
        if (a.count == 0) return b;
        if (b.count == 0) return a;
        double count = a.count + b.count, step = b.mean - a.mean;
        double squares = a.squares + b.squares + step * step * a.count * b.count / count;
        return {count, a.mean + step * b.count / count, squares};
    }""",
)

brightest_around = iruka.ElementwiseKernel(
    "raw const float64 significance, int32 width, int32 height, float64 least",
    "bool peak",
    """
    int x = i % width, y = i / width;
    double value = significance[i];
    peak = value >= least && x >= 2 && y >= 2 && x < width - 2 && y < height - 2;
    for (int k = 0; k < 25 && peak; k++) {
        double other = significance[i + (k / 5 - 2) * width + k % 5 - 2];
        peak = k < 12 ? value > other : value >= other;   // the first of equal ones
    }
    """,
    "brightest_around",
)


def background(picture, tile=32, rounds=5, deviations=3.0):
    """Mean and deviation of the sky in each whole tile: float64 (rows of tiles, columns of tiles)."""
    rows, columns = (extent // tile for extent in picture.shape)
    tiles = picture[: rows * tile, : columns * tile].reshape(rows, tile, columns, tile)
    low, high = -np.inf, np.inf
    for _ in range(rounds):
        mean, deviation = clipped_moments(tiles, low, high, axis=(1, 3), keepdims=True)
        low, high = mean - deviations * deviation, mean + deviations * deviation  # these broadcast over the tiles
    return mean[:, 0, :, 0], deviation[:, 0, :, 0]


def peaks(picture, mean, deviation, tile=32, least=12.0):
    """bool (height, width): pixels that are the brightest of 5 x 5 and `least` deviations above the sky."""
    mean, deviation = (values.repeat(tile, 0).repeat(tile, 1) for values in (mean, deviation))
    height, width = mean.shape
    significance = (picture[:height, :width] - mean) / deviation
    return brightest_around(significance, width, height, least, iruka.empty(mean.shape, bool))


def main():
    options = command_line(__doc__).parse_args()
    picture = photograph("hubble_deep_field.jpg").astype(np.float32).mean(axis=2)
    mean, deviation = background(picture)
    found = peaks(picture, mean, deviation)
    print(f"{mean.size} tiles: sky {float(mean.mean()):.1f}, deviation {float(deviation.mean()):.1f}")
    print(f"{int(found.sum())} objects")
    part, marked = np.s_[340:590, 220:540], iruka.asnumpy(picture)
    marked = np.dstack([marked] * 3)
    for y, x in np.argwhere(iruka.asnumpy(found)):
        frame = marked[max(y - 5, 0) : y + 6, max(x - 5, 0) : x + 6]
        frame[[0, -1]] = frame[:, [0, -1]] = (255, 80, 60)
    write(options.output, picture[part], marked[part])


if __name__ == "__main__":
    main()
