// Raw kernels that benchmarks/forms.py compiles by Iruka and by CuPy.

extern "C" __global__ void add3(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}

extern "C" __global__ void add8(const float* a, const float* b, const float* c, const float* d, const float* e,
                                const float* f, const float* g, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i];
}

extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}

// Square matrices whose edge is a multiple of 32, by blocks of 32 x 32 threads.
extern "C" __global__ void product(const float* x, const float* y, float* out, int n) {
  __shared__ float a[32][32], b[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
  float total = 0;
  for (int start = 0; start < n; start += 32) {
    a[ty][tx] = x[row * n + start + tx];
    b[ty][tx] = y[(start + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < 32; ++k) total += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  out[row * n + column] = total;
}

// One sum for each block of 256 threads.
extern "C" __global__ void sums_shared(const float* x, float* sums, int n) {
  __shared__ float shared[256];
  int t = threadIdx.x;
  float total = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) total += x[i];
  shared[t] = total;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = shared[0];
}

extern "C" __global__ void sums_shuffled(const float* x, float* sums, int n) {
  __shared__ float shared[8];
  int t = threadIdx.x;
  float total = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) total += x[i];
  for (int half = 16; half > 0; half /= 2) total += __shfl_down_sync(0xffffffff, total, half);
  if (t % 32 == 0) shared[t / 32] = total;
  __syncthreads();
  if (t < 32) {
    float part = t < 8 ? shared[t] : 0;
    for (int half = 4; half > 0; half /= 2) part += __shfl_down_sync(0xffffffff, part, half);
    if (t == 0) sums[blockIdx.x] = part;
  }
}

// The mean of five neighbours; blocks of 32 x 8 threads read a tile with its halo.
extern "C" __global__ void stencil(const float* x, float* out, int n) {
  __shared__ float tile[10][34];
  int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 8;
  for (int r = ty; r < 10; r += 8)
    for (int c = tx; c < 34; c += 32) {
      int i = min(max(top + r - 1, 0), n - 1), j = min(max(left + c - 1, 0), n - 1);
      tile[r][c] = x[i * n + j];
    }
  __syncthreads();
  if (top + ty < n && left + tx < n)
    out[(top + ty) * n + left + tx] = (tile[ty + 1][tx + 1] + tile[ty][tx + 1] + tile[ty + 2][tx + 1] +
                                       tile[ty + 1][tx] + tile[ty + 1][tx + 2]) * 0.2f;
}

// One histogram for each block of 256 threads.
extern "C" __global__ void histogram(const unsigned char* x, int* counts, int n) {
  __shared__ int shared[256];
  int t = threadIdx.x;
  shared[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) atomicAdd(&shared[x[i]], 1);
  __syncthreads();
  counts[blockIdx.x * 256 + t] = shared[t];
}

// Prefix sums of each 1024 elements; n is a multiple of 1024.
extern "C" __global__ void scan(const float* x, float* out, int n) {
  __shared__ float shared[32];
  int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = x[i];
  for (int step = 1; step < 32; step *= 2) {
    float below = __shfl_up_sync(0xffffffff, sum, step);
    if (lane >= step) sum += below;
  }
  if (lane == 31) shared[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    float total = shared[lane];
    for (int step = 1; step < 32; step *= 2) {
      float below = __shfl_up_sync(0xffffffff, total, step);
      if (lane >= step) total += below;
    }
    shared[lane] = total;
  }
  __syncthreads();
  if (warp > 0) sum += shared[warp - 1];
  out[i] = sum;
}
