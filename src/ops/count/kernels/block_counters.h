struct Arguments {
  const char* x;
  unsigned long long* out;
  ptrdiff_t stride, n, bins;
};
extern "C" __global__ void __launch_bounds__(256) iruka_entry(
    const Arguments a, const ptrdiff_t begin, const ptrdiff_t) {
  __shared__ unsigned counts[4096];
  for (int k = threadIdx.x; k < a.bins; k += 256) counts[k] = 0;
  __syncthreads();
  const ptrdiff_t first = (begin + blockIdx.x) * 65536, last = min(a.n, first + 65536);
#pragma unroll 4
  for (ptrdiff_t k = first + threadIdx.x; k < last; k += 256) {
    const ptrdiff_t index = *(const Index*)(a.x + k * a.stride);
    if (index >= 0 && index < a.bins) atomicAdd(&counts[index], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < a.bins; k += 256)
    if (counts[k]) atomicAdd(&a.out[k], (unsigned long long)counts[k]);
}
