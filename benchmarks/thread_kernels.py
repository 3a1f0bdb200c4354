"""jit.rawkernel beside RawKernels written by hand: benchmarks/thread_kernels.py [--size 4194304] [--only NAME...]

Per kernel, milliseconds of a launch over float32 arrays, and microseconds of a launch of one block on 16 elements, by
kernel(grid, block, args) and kernel[grid, block](*args). IRUKA_DEVICE=cuda measures the GPU, where Numba's cuda.jit
stands beside both if it is installed.
"""

import argparse
import inspect
import os

import numpy as np

import iruka
from iruka import jit
from measure import device_timer, interleaved, markdown, per_call, processor

ON_GPU = os.environ.get("IRUKA_DEVICE") == "cuda"
try:
    from numba import cuda as numba_cuda
except ImportError:
    numba_cuda = None


@jit.rawkernel()
def by_grid(x, y, z):
    i = jit.grid(1)
    if i < x.size:
        z[i] = x[i] * 2 + y[i]


@jit.rawkernel()
def by_blocks(x, y, z):
    i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    if i < x.size:
        z[i] = x[i] * 2 + y[i]


@jit.rawkernel()
def with_size(x, y, z, n):
    i = jit.grid(1)
    if i < n:
        z[i] = x[i] * 2 + y[i]


@jit.rawkernel()
def strided_range(x, y, z):
    for i in range(jit.grid(1), x.size, jit.gridsize(1)):
        z[i] = x[i] * 2 + y[i]


@jit.rawkernel()
def strided_while(x, y, z):
    i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    while i < x.size:
        z[i] = x[i] * 2 + y[i]
        i += jit.gridDim.x * jit.blockDim.x


@jit.rawkernel()
def stencil(x, y):
    j, i = jit.grid(2)
    rows, columns = x.shape
    if i > 0 and j > 0 and i < rows - 1 and j < columns - 1:
        y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4 * x[i, j]


@jit.rawkernel()
def gathered(x, places, y):
    i = jit.grid(1)
    if i < places.size:
        y[i] = x[places[i]]


@jit.rawkernel()
def reversed_rows(x, y):
    j, i = jit.grid(2)
    rows, columns = x.shape
    if i < rows and j < columns:
        y[i, columns - 1 - j] = x[i, j]


@jit.rawkernel()
def window(x, y):
    i = jit.grid(1)
    if i >= 8 and i < x.size - 8:
        total = x[i] * 0
        for k in range(-8, 9):
            total += x[i + k]
        y[i] = total


@jit.rawkernel()
def block_sums(x, sums):
    shared = jit.shared_memory(np.float32, 256)
    thread = jit.threadIdx.x
    place = jit.grid(1)
    shared[thread] = x[place] if place < x.size else 0
    jit.syncthreads()
    half = 128
    while half > 0:
        if thread < half:
            shared[thread] += shared[thread + half]
        jit.syncthreads()
        half //= 2
    if thread == 0:
        sums[jit.blockIdx.x] = shared[0]


PLACE = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
THREE = "const float* x, const float* y, float* z, int n"
IMAGE = "const float* x, float* y, int rows, int columns"
BY_HAND = {
    "place": (THREE, PLACE + "if (i < n) z[i] = x[i] * 2 + y[i];"),
    "strided": (THREE, PLACE + "for (; i < n; i += gridDim.x * blockDim.x) z[i] = x[i] * 2 + y[i];"),
    "stencil": (IMAGE, """
int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
if (i > 0 && j > 0 && i < rows - 1 && j < columns - 1)
  y[i * columns + j] = x[(i - 1) * columns + j] + x[(i + 1) * columns + j] + x[i * columns + j - 1] +
                       x[i * columns + j + 1] - 4 * x[i * columns + j];"""),
    "gathered": ("const float* x, const int* places, float* y, int n", PLACE + "if (i < n) y[i] = x[places[i]];"),
    "reversed_rows": (IMAGE, """
int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
if (i < rows && j < columns) y[i * columns + columns - 1 - j] = x[i * columns + j];"""),
    "window": ("const float* x, float* y, int n", PLACE + """
if (i >= 8 && i < n - 8) {
  float total = 0;
  for (int k = -8; k < 9; ++k) total += x[i + k];
  y[i] = total;
}"""),
    "block_sums": ("const float* x, float* sums, int n", """
__shared__ float shared[256];
int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
shared[thread] = i < n ? x[i] : 0;
__syncthreads();
for (int half = 128; half > 0; half /= 2) {
  if (thread < half) shared[thread] += shared[thread + half];
  __syncthreads();
}
if (thread == 0) sums[blockIdx.x] = shared[0];"""),
}  # fmt: skip


def by_hand(name):
    parameters, body = BY_HAND[name]
    return iruka.RawKernel(f'extern "C" __global__ void {name}({parameters}) {{ {body} }}', name)


def cases(size):
    """Per kernel: the RawKernel that it stands beside, the grid, the block, its arguments, and those of the other."""
    rng = np.random.default_rng(1)
    x, y = (iruka.asarray(rng.random(size, dtype="float32")) for _ in range(2))
    z, sums = iruka.zeros(size, "float32"), iruka.zeros(size // 256 + 1, "float32")
    places = iruka.asarray(rng.permutation(size).astype("int32"))
    side = int(size**0.5)
    image, result = x[: side * side].reshape(side, side), iruka.zeros((side, side), "float32")
    blocks, tiles = (size + 255) // 256, ((side + 31) // 32, (side + 7) // 8)
    three, hand = (x, y, z), (x, y, z, size)
    images, image_hand = (image, result), (image, result, side, side)
    return {
        by_grid: ("place", blocks, 256, three, hand),
        by_blocks: ("place", blocks, 256, three, hand),
        with_size: ("place", blocks, 256, hand, hand),
        strided_range: ("strided", 64, 256, three, hand),
        strided_while: ("strided", 64, 256, three, hand),
        stencil: ("stencil", tiles, (32, 8), images, image_hand),
        reversed_rows: ("reversed_rows", tiles, (32, 8), images, image_hand),
        gathered: ("gathered", blocks, 256, (x, places, z), (x, places, z, size)),
        window: ("window", blocks, 256, (x, z), (x, z, size)),
        block_sums: ("block_sums", blocks, 256, (x, sums), (x, sums, size)),
    }


def numbas(kernel):
    """The same function by Numba, whose names of threads are those of its module."""
    names = {"jit": numba_cuda, "np": np}
    exec(inspect.getsource(kernel.function).split("\n", 1)[1], names)
    return numba_cuda.jit(names[kernel.__name__])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=2**22)
    options.add_argument("--only", nargs="+", default=[""])
    options = options.parse_args()
    rows, timer = [], device_timer(iruka.default_device().synchronize)
    for kernel, (name, grid, block, own, theirs) in cases(options.size).items():
        if not any(text in kernel.__name__ for text in options.only):
            continue
        hand = by_hand(name)
        calls = {
            "jit": lambda k=kernel, g=grid, b=block, a=own: k(g, b, a),
            "RawKernel": lambda k=hand, g=grid, b=block, a=theirs: k(g, b, a),
        }
        seconds = interleaved(calls, repeats=15, timer=timer)
        ratio = seconds["jit"] / seconds["RawKernel"]
        texts = [f"{seconds[each] * 1e3:.3f}" for each in ("jit", "RawKernel")]
        rows.append([kernel.__name__, *texts, f"{ratio:.2f}"])
    print(f"{processor()}, {iruka.default_device()}, {options.size} elements\n")
    print(markdown(rows, ["kernel", "jit ms", "RawKernel ms", "jit / RawKernel"]))
    few = tuple(iruka.zeros(16, "float32") for _ in range(3))
    hand = by_hand("place")
    launches = {
        "jit, kernel(grid, block, args)": lambda: by_grid((1,), (16,), few),
        "jit, kernel[grid, block](*args)": lambda: by_grid[1, 16](*few),
        "RawKernel, kernel(grid, block, args)": lambda: hand((1,), (16,), (*few, 16)),
    }
    if ON_GPU and numba_cuda:
        theirs, given = numbas(by_grid), tuple(numba_cuda.as_cuda_array(each) for each in few)
        launches["numba.cuda.jit"] = lambda: theirs[1, 16](*given)
    print()
    print(markdown([[name, f"{per_call(call) * 1e6:.2f}"] for name, call in launches.items()], ["launch", "µs"]))


if __name__ == "__main__":
    main()
