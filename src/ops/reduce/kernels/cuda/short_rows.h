// Dense rows of a few elements: a block copies a tile of rows to shared memory, then each thread reduces a row.
#pragma once

#include "ops/reduce/kernels/cuda/words.h"

namespace iruka::reduction {

template <class Partials, int kTileBytes, int kKeptRank, int kReducedRank>
IRUKA_INLINE void reduce_short_rows(const BlockArguments<kKeptRank, kReducedRank>& a, ptrdiff_t begin, ptrdiff_t end) {
  using In = typename Partials::In;
  using Word = typename Partials::Word;
  constexpr int kThreads = Partials::kThreads, kLanes = Partials::kLanes;
  __shared__ uint4 memory[kTileBytes / 16];
  const int thread = threadIdx.x, n = (int)a.extent;
  const ptrdiff_t first = begin + (ptrdiff_t)blockIdx.x * a.units;
  const int rows = (int)min((ptrdiff_t)a.units, end - first), count = rows * n, words = count / kLanes;
  const char* p = a.x + first * n * (ptrdiff_t)sizeof(In);
  In* tile = (In*)memory;
#pragma unroll 4
  for (int k = thread; k < words; k += kThreads) ((Word*)memory)[k] = Partials::load(p, k, sizeof(In));
#pragma unroll 1
  for (int k = words * kLanes + thread; k < count; k += kThreads) tile[k] = ((const In*)p)[k];
  __syncthreads();
#pragma unroll 1
  for (int row = thread; row < rows; row += kThreads) {
    typename Partials::Partial value = Partials::start_partial();
#pragma unroll 1
    for (int k = 0; k < n; ++k) value = Partials::join(value, Partials::of(Partials::computed(tile[row * n + k]), k));
    ((typename Partials::Out*)a.out)[a.out_offset + first + row] = Partials::finish(value, a.count);
  }
}

}  // namespace iruka::reduction
