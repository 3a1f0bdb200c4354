// var of one thread's part of a row: joins the moments of each few loads to the thread's.
#pragma once

#include "ops/reduce/kernels/cuda/row_ends.h"

namespace iruka::reduction {

template <class Partials>
struct MomentsWalk : Partials {
  using typename Partials::A;
  using typename Partials::Partial;
  using typename Partials::R;

  static inline Partial walk(const char* p, int n, ptrdiff_t stride, int lane, int lanes, long long, ptrdiff_t) {
    constexpr int kLanes = Partials::kLanes, kLoads = Partials::kLoads;
    const RowEnds<Partials> ends(p, n);
    Partial all = Partials::start_partial();
#pragma unroll 1
    for (int k = kLanes > 1 ? lane : ends.edges; k < ends.edges; k += lanes)
      all = Partials::join(all, Partials::of(Partials::element(p, ends.edge(k), stride), 0));
    p += ends.head * stride;
#pragma unroll 1
    for (int k = lane; k < ends.words; k += kLoads * lanes) {
      typename Partials::Word word[kLoads];
      A sum = Partials::start(), pivot = Partials::start();
      R squares = R(0);
      int count = 0;
#pragma unroll
      for (int u = 0; u < kLoads; ++u)
        if (k + u * lanes < ends.words) word[u] = Partials::load(p, k + u * lanes, stride), count += kLanes;
      pivot = Partials::map(Partials::lane_of(word[0], 0));
#pragma unroll
      for (int u = 0; u < kLoads; ++u)
        if (k + u * lanes < ends.words) {
#pragma unroll
          for (int v = 0; v < kLanes; ++v)
            sum = Partials::combine(sum, Partials::map(Partials::lane_of(word[u], v)) - pivot);
        }
      const A mean = sum / R(count);
#pragma unroll
      for (int u = 0; u < kLoads; ++u)
        if (k + u * lanes < ends.words) {
#pragma unroll
          for (int v = 0; v < kLanes; ++v)
            squares += Partials::square_of((Partials::map(Partials::lane_of(word[u], v)) - pivot) - mean);
        }
      all = Partials::join(all, Partial{pivot, mean, squares, (double)count});
    }
    return all;
  }
};

}  // namespace iruka::reduction
