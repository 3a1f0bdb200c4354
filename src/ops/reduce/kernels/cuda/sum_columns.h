// Adds a thread's columns of some rows to its accumulators.
#pragma once

namespace iruka::reduction {

template <class Partials>
struct SumColumns : Partials {
  using typename Partials::A;
  using typename Partials::Word;

  template <int kRows>
  static inline void add_rows(A* sums, const Word* word, const ptrdiff_t*) {
#pragma unroll
    for (int v = 0; v < Partials::kLanes; ++v) {
      const auto mapped = [&](int u) { return Partials::map(Partials::lane_of(word[u], v)); };
      typename Partials::Narrow x = mapped(0);
      if constexpr (kRows >= 2) x = Partials::combine(x, mapped(1));
      if constexpr (kRows == 4) x = Partials::combine(x, Partials::combine(mapped(2), mapped(3)));
      sums[v] = Partials::combine(sums[v], A(x));
    }
  }
};

}  // namespace iruka::reduction
