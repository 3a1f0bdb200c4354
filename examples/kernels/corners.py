"""Finds the corners in a photograph, to which other photographs can be aligned: Harris and Stephens' detector (1988).

A corner is where the grey changes in every direction. That takes three steps, each of which needs its neighbours'
results of the one before: slopes, the sums of their products around each pixel, and the search for local maxima. They
are the stages of one StagedKernel.

    python examples/kernels/corners.py [--count 200] [--output out/corners.jpg]
"""

import numpy as np
from pictures import command_line, photograph, write

import iruka

SLOPES = """
    int x = i % width, y = i / width;
    int left = max(x - 1, 0), right = min(x + 1, width - 1);
    int above = max(y - 1, 0) * width, here = y * width, below = min(y + 1, height - 1) * width;
    float dx = image[above + right] + 2 * image[here + right] + image[below + right] -
        image[above + left] - 2 * image[here + left] - image[below + left];
    float dy = image[below + left] + 2 * image[below + x] + image[below + right] -
        image[above + left] - 2 * image[above + x] - image[above + right];
    xx[i] = dx * dx;
    xy[i] = dx * dy;
    yy[i] = dy * dy;
"""
RESPONSES = """
    int x = i % width, y = i / width;
    float a = 0, b = 0, c = 0;
    for (int dy = -2; dy <= 2; dy++) {
        for (int dx = -2; dx <= 2; dx++) {
            if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
            float weight = weights[dy + 2] * weights[dx + 2];
            a += weight * xx[i + dy * width + dx];
            b += weight * xy[i + dy * width + dx];
            c += weight * yy[i + dy * width + dx];
        }
    }
    response[i] = a * c - b * b - 0.05f * (a + c) * (a + c);
"""
MAXIMA = """
    int x = i % width, y = i / width;
    float value = response[i];
    bool is_largest = value > 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
            float other = response[i + dy * width + dx];
            is_largest = is_largest && (dy < 0 || (dy == 0 && dx < 0) ? value > other : value >= other);
        }
    }
    corner = is_largest ? value : 0;
"""

harris = iruka.StagedKernel(
    "raw const float32 image, int32 width, int32 height",
    "float32 corner",
    "float32 xx, float32 xy, float32 yy, float32 response",  # what the stages leave for each other
    [SLOPES, RESPONSES, MAXIMA],
    "harris",
    preamble="__device__ const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};",
)


def corners(picture):
    """float32 (height, width): the response where it is positive and the largest of 3 x 3, else 0."""
    height, width = picture.shape
    return harris(picture, width, height, iruka.empty((height, width), np.float32))


def strongest(strengths, count):
    """int64 (count, 2): rows and columns of the strongest corners, those first."""
    order = iruka.argsort(strengths.ravel())[::-1][:count]
    return iruka.stack(iruka.unravel_index(order, strengths.shape), 1)


def main():
    parser = command_line(__doc__)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    picture = photograph("camera.png", "gray").astype(np.float32)
    strengths = corners(picture)
    places = iruka.asnumpy(strongest(strengths, options.count))
    print(f"{int((strengths > 0).sum())} corners; the strongest is at row {places[0, 0]}, column {places[0, 1]}")
    marked = np.dstack([iruka.asnumpy(picture)] * 3)
    for y, x in places:
        marked[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3] = (255, 60, 40)
    part = np.s_[80:380, 150:510]
    write(options.output, picture[part], marked[part])


if __name__ == "__main__":
    main()
