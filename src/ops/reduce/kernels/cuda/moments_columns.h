// var: joins the moments of a thread's columns of some rows to its own.
#pragma once

namespace iruka::reduction {

template <class Partials>
struct MomentsColumns : Partials {
  using typename Partials::A;
  using typename Partials::Partial;
  using typename Partials::R;

  template <int kRows>
  static inline void add_rows(Partial* sums, const typename Partials::Word* word, const ptrdiff_t*) {
#pragma unroll
    for (int v = 0; v < Partials::kLanes; ++v) {
      const A pivot = Partials::map(Partials::lane_of(word[0], v));
      A mean = Partials::start();
      R squares = R(0);
#pragma unroll
      for (int u = 1; u < kRows; ++u)
        mean = Partials::combine(mean, Partials::map(Partials::lane_of(word[u], v)) - pivot);
      mean = mean / R(kRows);
#pragma unroll
      for (int u = 0; u < kRows; ++u)
        squares += Partials::square_of((Partials::map(Partials::lane_of(word[u], v)) - pivot) - mean);
      sums[v] = Partials::join(sums[v], Partial{pivot, mean, squares, (double)kRows});
    }
  }
};

}  // namespace iruka::reduction
