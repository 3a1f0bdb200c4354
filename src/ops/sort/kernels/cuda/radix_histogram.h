// The first kernel of a radix sort: it counts digits.
#pragma once

#include "ops/sort/kernels/cuda/radix.h"

namespace iruka::sorting {

template <class Count>
struct HistogramArguments {
  const void* x;
  Count* histogram;
  unsigned *done, *moving;
  ptrdiff_t n, chunks;
};

/// Counts the digits of all passes at once. The row's last block replaces the counts by the places where each digit's
/// keys begin, and sets a bit for each pass that moves keys: a pass where all keys have the same digit is skipped.
template <class Sort>
IRUKA_INLINE void count_digits(const HistogramArguments<typename Sort::Count>& a, ptrdiff_t begin, ptrdiff_t) {
  using X = typename Sort::X;
  using Key = typename Sort::Key;
  using Count = typename Sort::Count;
  constexpr int kPasses = Sort::kPasses, kThreads = Sort::kThreads, kWarps = kThreads / 32, kChunk = Sort::kChunk;
  __shared__ unsigned counts[kPasses * kDigits];
  __shared__ Count warp_sums[kWarps];
  __shared__ bool is_last;
  __shared__ unsigned still;
  const int thread = threadIdx.x;
  const ptrdiff_t unit = begin + blockIdx.x, row = unit / a.chunks, first = (unit - row * a.chunks) * kChunk;
  const int count = (int)min((ptrdiff_t)kChunk, a.n - first);
  const X* const x = (const X*)a.x + row * a.n + first;
  Count* const histogram = a.histogram + row * (kPasses * kDigits);
#pragma unroll 1
  for (int k = thread; k < kPasses * kDigits; k += kThreads) counts[k] = 0;
  __syncthreads();
#pragma unroll 4
  for (int k = thread; k < count; k += kThreads) {
    const Key key = Sort::key_of(x[k]);
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) atomicAdd(counts + pass * kDigits + (int)(key >> 8 * pass & 255), 1u);
  }
  __syncthreads();
#pragma unroll 1
  for (int k = thread; k < kPasses * kDigits; k += kThreads)
    if (counts[k]) atomicAdd(histogram + k, (Count)counts[k]);
  __threadfence();
  __syncthreads();
  if (thread == 0) is_last = atomicAdd(a.done + row, 1u) == (unsigned)a.chunks - 1, still = 0;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    volatile Count* const own = histogram + pass * kDigits + thread;
    const Count found = thread < kDigits ? *own : (Count)0, before = before_thread<kWarps>(found, warp_sums, thread);
    if (thread < kDigits) *own = before;
    if (found == (Count)a.n) still |= 1u << pass;  // true for at most one thread
  }
  __syncthreads();
  // If all keys are equal, the last pass still runs and copies them to the output.
  const unsigned all = (1u << kPasses) - 1, moving = all & ~still;
  if (thread == 0) a.moving[row] = moving ? moving : 1u << (kPasses - 1);
}

}  // namespace iruka::sorting
