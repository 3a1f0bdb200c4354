// argmin: compares a thread's columns of some rows with its best values.
#pragma once

namespace iruka::reduction {

template <class Partials>
struct BestColumns : Partials {
  using typename Partials::Partial;

  template <int kRows>
  static inline void add_rows(Partial* sums, const typename Partials::Word* word, const ptrdiff_t* index) {
#pragma unroll
    for (int u = 0; u < kRows; ++u)
#pragma unroll
      for (int v = 0; v < Partials::kLanes; ++v)
        sums[v] = Partials::join(sums[v], Partial{Partials::lane_of(word[u], v), index[u]});
  }
};

}  // namespace iruka::reduction
