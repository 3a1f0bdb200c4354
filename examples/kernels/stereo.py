"""How far away is each pixel of a pair of stereo photographs? Block matching over shared memory, a RawKernel.

A point appears in the right photograph further left, the further the nearer it is. For each pixel the shift
(disparity) is found at which the windows around it and around the shifted pixel differ least.

    python examples/kernels/stereo.py [--output out/stereo.jpg]
"""

import importlib.resources

import numpy as np
from pictures import colours, command_line, photograph, write

import iruka

SEARCH = np.dtype([("width", np.int32), ("height", np.int32), ("radius", np.int32), ("shifts", np.int32)])
BLOCK = 32, 8

match = iruka.RawKernel(
    r"""
struct search { int width, height, radius, shifts; };

// Copies rows of a picture to shared memory; pixels outside are those at the border.
__device__ void load(const unsigned char* picture, search s, int top, int left, int rows, int columns, float* tile) {
    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < rows * columns; k += blockDim.x * blockDim.y) {
        int y = min(max(top + k / columns, 0), s.height - 1), x = min(max(left + k % columns, 0), s.width - 1);
        tile[k] = picture[y * s.width + x];
    }
}

extern "C" __global__ void match(const unsigned char* left, const unsigned char* right, search s, float* disparity) {
    extern __shared__ float tiles[];
    int rows = blockDim.y + 2 * s.radius, columns = blockDim.x + 2 * s.radius, wide = columns + s.shifts;
    float *of_left = tiles, *of_right = tiles + rows * columns;
    int top = blockIdx.y * blockDim.y - s.radius, first = blockIdx.x * blockDim.x - s.radius;
    load(left, s, top, first, rows, columns, of_left);
    load(right, s, top, first - s.shifts, rows, wide, of_right);
    __syncthreads();

    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= s.width || y >= s.height) return;
    float least = INFINITY, best = 0;
    for (int shift = 0; shift < s.shifts; shift++) {
        float sum = 0;
        for (int dy = 0; dy <= 2 * s.radius; dy++) {
            const float* here = of_left + (threadIdx.y + dy) * columns + threadIdx.x;
            const float* there = of_right + (threadIdx.y + dy) * wide + threadIdx.x + s.shifts - shift;
            for (int dx = 0; dx <= 2 * s.radius; dx++) sum += fabsf(here[dx] - there[dx]);
        }
        if (sum < least) {
            least = sum;
            best = shift;
        }
    }
    disparity[y * s.width + x] = best;
}""",
    "match",
)


def disparities(left, right, radius=4, shifts=64):
    """float32 (height, width): 0...shifts - 1, by the least sum of absolute differences; the first of equal ones."""
    height, width = left.shape
    out = iruka.empty((height, width), np.float32)
    rows, columns = BLOCK[1] + 2 * radius, BLOCK[0] + 2 * radius
    search = np.array((width, height, radius, shifts), SEARCH)[()]
    grid = (width + BLOCK[0] - 1) // BLOCK[0], (height + BLOCK[1] - 1) // BLOCK[1]
    match(grid, BLOCK, (left, right, search, out), shared_mem=4 * rows * (2 * columns + shifts))
    return out


def measured_truth():
    """float32 (height, width): disparities that were measured with structured light; NaN where there are none."""
    with np.load(str(importlib.resources.files("skimage") / "data" / "motorcycle_disp.npz")) as file:
        truth = file["arr_0"]
    return np.where(np.isfinite(truth), truth, np.nan)


def main():
    options = command_line(__doc__).parse_args()
    left, right = photograph("motorcycle_left.png", "gray"), photograph("motorcycle_right.png", "gray")
    found, truth = disparities(left, right), measured_truth()
    near = np.abs(iruka.asnumpy(found) - truth)[np.isfinite(truth)] <= 1.5
    print(f"{100 * near.mean():.1f} % of {near.size} pixels lie within 1.5 of the measured disparity")
    third = np.s_[::3, ::3]
    write(options.output, left[third], colours(found[third], 5, 60), colours(truth[third], 5, 60))


if __name__ == "__main__":
    main()
