"""The outlines in a photograph by Canny's method (1986): a module with a template and a constant.

The picture is smoothed by a Gaussian; the gradient's ridges are thinned to one pixel. Ridges above `high` are edges;
those above `low` are, if they are connected to an edge.

    python examples/kernels/edges.py [--output out/edges.png]
"""

import functools

import numpy as np
from coins import components
from pictures import command_line, photograph, write

import iruka

CODE = r"""
__constant__ float weights[32];    // of the Gaussian, from its middle

__device__ int inside(int k, int extent) { return min(max(k, 0), extent - 1); }

template <class T, int radius>     // the compiler knows the radius and unrolls the loop
__global__ void smooth(const T* in, float* out, int width, int height, bool along_x) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = weights[0] * in[y * width + x];
    for (int k = 1; k <= radius; k++) {
        if (along_x) sum += weights[k] * (in[y * width + inside(x - k, width)] + in[y * width + inside(x + k, width)]);
        else sum += weights[k] * (in[inside(y - k, height) * width + x] + in[inside(y + k, height) * width + x]);
    }
    out[y * width + x] = sum;
}

__device__ float slope(const float* in, int width, int height, int x, int y, float& dx, float& dy) {
    const float *above = in + inside(y - 1, height) * width, *row = in + inside(y, height) * width;
    const float* below = in + inside(y + 1, height) * width;
    int left = inside(x - 1, width), right = inside(x + 1, width), here = inside(x, width);
    dx = above[right] + 2 * row[right] + below[right] - above[left] - 2 * row[left] - below[left];
    dy = below[left] + 2 * below[here] + below[right] - above[left] - 2 * above[here] - above[right];
    return sqrtf(dx * dx + dy * dy);
}

// The gradient's length where it is largest along its direction, which is rounded to 45 degrees; elsewhere 0.
__global__ void thin(const float* in, float* ridges, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float dx, dy, a, b, length = slope(in, width, height, x, y, dx, dy);
    int step_x = fabsf(dx) > 0.41421356f * fabsf(dy), step_y = fabsf(dy) > 0.41421356f * fabsf(dx);
    if (dx * dy < 0) step_y = -step_y;
    bool is_ridge = length > slope(in, width, height, x - step_x, y - step_y, a, b) &&
        length >= slope(in, width, height, x + step_x, y + step_y, a, b);
    ridges[y * width + x] = is_ridge ? length : 0;
}"""


@functools.cache
def module(radius):
    names = [f"smooth<{pixel}, {radius}>" for pixel in ("unsigned char", "float")]
    return iruka.RawModule(code=CODE, name_expressions=names)


def launch(kernel, picture, *more):
    """The result of a kernel with a thread for each pixel: float32, of the picture's shape."""
    height, width = picture.shape
    out = iruka.empty((height, width), np.float32)
    kernel(((width + 31) // 32, (height + 7) // 8), (32, 8), (picture, out, width, height, *more))
    return out


def smoothed(picture, sigma):
    """float32 (height, width): a uint8 or float32 picture under a Gaussian of 3 sigma to each side, sigma up to 10."""
    radius = int(3 * sigma + 0.5)
    code = module(radius)
    gaussian = np.exp(-0.5 * (np.arange(radius + 1) / sigma) ** 2)
    weights = iruka.ndarray(radius + 1, np.float32, code.get_global("weights"))
    weights[...] = iruka.asarray(gaussian / (2 * gaussian.sum() - 1))
    pixel = "unsigned char" if picture.dtype == np.uint8 else "float"
    along_x = launch(code.get_function(f"smooth<{pixel}, {radius}>"), picture, True)
    return launch(code.get_function(f"smooth<float, {radius}>"), along_x, False)


def ridges(smooth):
    """float32 (height, width): the length of the gradient (Sobel's) on its ridges, 0 elsewhere."""
    return launch(module(1).get_function("thin"), smooth)


def connected(lengths, low, high):
    """bool (height, width): what exceeds `high`, and what exceeds `low` and is connected to it."""
    numbers = components(lengths > low)
    holds = iruka.zeros(int(numbers.max()) + 1, bool)  # whether a component has a pixel above `high`
    holds[numbers[lengths > high]] = True
    return holds[numbers] & (numbers > 0)


def main():
    options = command_line(__doc__).parse_args()
    picture = photograph("camera.png", "gray")
    edges = connected(ridges(smoothed(picture, 1.5)), 20, 60)
    print(f"{int(edges.sum())} of {edges.size} pixels are edges")
    part = np.s_[40:340, 100:400]
    write(options.output, picture[part], 255 * (1 - edges[part].astype(np.uint8)))


if __name__ == "__main__":
    main()
