// The sum of one thread's part of a row.
#pragma once

#include "ops/reduce/kernels/cuda/row_ends.h"
#include "ops/reduce/kernels/cuda/word_sums.h"

namespace iruka::reduction {

template <class Partials>
struct SumWalk : WordSums<Partials> {
  using typename Partials::A;

  static inline A walk(const char* p, int n, ptrdiff_t stride, int lane, int lanes, long long, ptrdiff_t) {
    constexpr int kLanes = Partials::kLanes, kLoads = Partials::kLoads;
    const RowEnds<Partials> ends(p, n);
    A sums[kLoads];
#pragma unroll
    for (int u = 0; u < kLoads; ++u) sums[u] = Partials::start();
#pragma unroll 1
    for (int k = kLanes > 1 ? lane : ends.edges; k < ends.edges; k += lanes)
      sums[1] = Partials::combine(sums[1], A(Partials::map(Partials::element(p, ends.edge(k), stride))));
    p += ends.head * stride;
#pragma unroll 1
    for (int k = lane; k < ends.words; k += kLoads * lanes) {
      typename Partials::Word word[kLoads];
      load_words<Partials>(word, p, k, lanes, ends.words, stride);
#pragma unroll
      for (int u = 0; u < kLoads; ++u)
        if (k + u * lanes < ends.words) sums[u] = Partials::combine(sums[u], SumWalk::value_of(word[u]));
    }
    if constexpr (kLoads == 4)
      sums[0] = Partials::combine(sums[0], sums[2]), sums[1] = Partials::combine(sums[1], sums[3]);
    return Partials::combine(sums[0], sums[1]);
  }
};

}  // namespace iruka::reduction
