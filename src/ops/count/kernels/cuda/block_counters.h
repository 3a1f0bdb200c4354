// Every block counts in shared memory and adds its counts to the global ones at its end.
#pragma once

namespace iruka::counting {

struct CountArguments {
  const char* x;
  unsigned long long* out;
  ptrdiff_t stride, n, bins;
};

/// A block counts kPerBlock indices in shared memory.
template <class Index, int kThreads, int kBins, int kPerBlock>
IRUKA_INLINE void count_bins(const CountArguments& a, ptrdiff_t begin, ptrdiff_t) {
  __shared__ unsigned counts[kBins];
  for (int k = threadIdx.x; k < a.bins; k += kThreads) counts[k] = 0;
  __syncthreads();
  const ptrdiff_t first = (begin + blockIdx.x) * kPerBlock, last = min(a.n, first + kPerBlock);
#pragma unroll 4
  for (ptrdiff_t k = first + threadIdx.x; k < last; k += kThreads) {
    const ptrdiff_t index = *(const Index*)(a.x + k * a.stride);
    if (index >= 0 && index < a.bins) atomicAdd(&counts[index], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < a.bins; k += kThreads)
    if (counts[k]) atomicAdd(&a.out[k], (unsigned long long)counts[k]);
}

}  // namespace iruka::counting
