// argmin of one thread's part of a row: finds the word with the best element, then the element in it.
#pragma once

#include "ops/reduce/kernels/cuda/row_ends.h"
#include "ops/reduce/kernels/cuda/word_sums.h"

namespace iruka::reduction {

template <class Partials>
struct BestWalk : WordSums<Partials> {
  using typename Partials::C;
  using typename Partials::Partial;

  static inline Partial walk(const char* p, int n, ptrdiff_t stride, int lane, int lanes, long long first,
                             ptrdiff_t step) {
    constexpr int kLanes = Partials::kLanes, kLoads = Partials::kLoads;
    const RowEnds<Partials> ends(p, n);
    Partial best = Partials::start_partial();
#pragma unroll 1
    for (int k = kLanes > 1 ? lane : ends.edges; k < ends.edges; k += lanes) {
      const int i = ends.edge(k);
      best = Partials::join(best, Partial{Partials::element(p, i, stride), first + i * step});
    }
    p += ends.head * stride;
    C value = Partials::start();
    int at = -1;
#pragma unroll 1
    for (int k = lane; k < ends.words; k += kLoads * lanes) {
      typename Partials::Word word[kLoads];
      load_words<Partials>(word, p, k, lanes, ends.words, stride);
#pragma unroll
      for (int u = 0; u < kLoads; ++u)
        if (k + u * lanes < ends.words) {
          const C found = BestWalk::value_of(word[u]);
          if ((at < 0) | Partials::beats(found, value)) value = found, at = k + u * lanes;
        }
    }
    if (at < 0) return best;
    int i = at * kLanes;
#pragma unroll 1
    while (kLanes > 1 && !Partials::ties(Partials::element(p, i, stride), value)) ++i;
    return Partials::join(best, Partial{value, first + (ends.head + i) * step});
  }
};

}  // namespace iruka::reduction
