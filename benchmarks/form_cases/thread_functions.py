"""The kernels of raw.cu as Python functions, in the names that iruka.jit and cupyx.jit have in common.

Numbers of threads are int32, because CuPy's are unsigned and Iruka's have 64 bits; CuPy's shuffles take uint32.
"""

import numpy as np


def kernels(jit):
    """The functions by name, for the module `jit`."""

    def add3(x, y, out, n):
        i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
        if i < n:
            out[i] = x[i] + y[i]

    def add8(a, b, c, d, e, f, g, out, n):
        i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
        if i < n:
            out[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i]

    def saxpy(a, x, y, out, n):
        i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
        if i < n:
            out[i] = a * x[i] + y[i]

    def product(x, y, out, n):
        a = jit.shared_memory(np.float32, 1024)
        b = jit.shared_memory(np.float32, 1024)
        tx = np.int32(jit.threadIdx.x)
        ty = np.int32(jit.threadIdx.y)
        row = np.int32(jit.blockIdx.y) * 32 + ty
        column = np.int32(jit.blockIdx.x) * 32 + tx
        total = np.float32(0)
        for start in range(0, n, 32):
            a[ty * 32 + tx] = x[row * n + start + tx]
            b[ty * 32 + tx] = y[(start + ty) * n + column]
            jit.syncthreads()
            for k in range(32):
                total += a[ty * 32 + k] * b[k * 32 + tx]
            jit.syncthreads()
        out[row * n + column] = total

    def sums_shared(x, sums, n):
        shared = jit.shared_memory(np.float32, 256)
        t = np.int32(jit.threadIdx.x)
        first = np.int32(jit.blockIdx.x) * 256 + t
        step = np.int32(jit.gridDim.x) * 256
        total = np.float32(0)
        for i in range(first, n, step):
            total += x[i]
        shared[t] = total
        jit.syncthreads()
        half = np.int32(128)
        while half > 0:
            if t < half:
                shared[t] += shared[t + half]
            jit.syncthreads()
            half = half >> 1
        if t == 0:
            sums[jit.blockIdx.x] = shared[0]

    def sums_shuffled(x, sums, n):
        shared = jit.shared_memory(np.float32, 8)
        t = np.int32(jit.threadIdx.x)
        first = np.int32(jit.blockIdx.x) * 256 + t
        step = np.int32(jit.gridDim.x) * 256
        total = np.float32(0)
        for i in range(first, n, step):
            total += x[i]
        half = np.uint32(16)
        while half > 0:
            total += jit.shfl_down_sync(0xFFFFFFFF, total, half)
            half = half >> 1
        if t & 31 == 0:
            shared[t >> 5] = total
        jit.syncthreads()
        if t < 32:
            part = np.float32(0)
            if t < 8:
                part = shared[t]
            half = np.uint32(4)
            while half > 0:
                part += jit.shfl_down_sync(0xFFFFFFFF, part, half)
                half = half >> 1
            if t == 0:
                sums[jit.blockIdx.x] = part

    def stencil(x, out, n):
        tile = jit.shared_memory(np.float32, 340)
        tx = np.int32(jit.threadIdx.x)
        ty = np.int32(jit.threadIdx.y)
        left = np.int32(jit.blockIdx.x) * 32
        top = np.int32(jit.blockIdx.y) * 8
        for r in range(ty, 10, 8):
            for c in range(tx, 34, 32):
                i = min(max(top + r - 1, 0), n - 1)
                j = min(max(left + c - 1, 0), n - 1)
                tile[r * 34 + c] = x[i * n + j]
        jit.syncthreads()
        if top + ty < n and left + tx < n:
            here = (ty + 1) * 34 + tx + 1
            total = tile[here] + tile[here - 34] + tile[here + 34] + tile[here - 1] + tile[here + 1]
            out[(top + ty) * n + left + tx] = total * np.float32(0.2)

    def histogram(x, counts, n):
        shared = jit.shared_memory(np.int32, 256)
        t = np.int32(jit.threadIdx.x)
        first = np.int32(jit.blockIdx.x) * 256 + t
        step = np.int32(jit.gridDim.x) * 256
        shared[t] = 0
        jit.syncthreads()
        for i in range(first, n, step):
            jit.atomic_add(shared, x[i], 1)
        jit.syncthreads()
        counts[np.int32(jit.blockIdx.x) * 256 + t] = shared[t]

    def scan(x, out, n):
        shared = jit.shared_memory(np.float32, 32)
        t = np.int32(jit.threadIdx.x)
        i = np.int32(jit.blockIdx.x) * 1024 + t
        lane = t & 31
        warp = t >> 5
        total = x[i]
        step = np.uint32(1)
        while step < 32:
            below = jit.shfl_up_sync(0xFFFFFFFF, total, step)
            if lane >= step:
                total += below
            step = step * 2
        if lane == 31:
            shared[warp] = total
        jit.syncthreads()
        if warp == 0:
            part = shared[lane]
            step = np.uint32(1)
            while step < 32:
                below = jit.shfl_up_sync(0xFFFFFFFF, part, step)
                if lane >= step:
                    part += below
                step = step * 2
            shared[lane] = part
        jit.syncthreads()
        if warp > 0:
            total += shared[warp - 1]
        out[i] = total

    functions = add3, add8, saxpy, product, sums_shared, sums_shuffled, stencil, histogram, scan
    return {function.__name__: function for function in functions}
