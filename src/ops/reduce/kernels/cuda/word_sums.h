// Reduces the elements of a word.
#pragma once

namespace iruka::reduction {

template <class Partials>
struct WordSums : Partials {
  using typename Partials::Narrow;
  using typename Partials::Word;

  template <int half>
  static IRUKA_INLINE void halve(Narrow* x) {
    if constexpr (half > 0) {
#pragma unroll
      for (int v = 0; v < half; ++v) x[v] = Partials::combine(x[v], x[v + half]);
      halve<half / 2>(x);
    }
  }
  static inline typename Partials::A value_of(const Word& word) {
    constexpr int kLanes = Partials::kLanes;
    Narrow x[kLanes];
#pragma unroll
    for (int v = 0; v < kLanes; ++v) x[v] = Partials::map(Partials::lane_of(word, v));
    halve<kLanes / 2>(x);
    return typename Partials::A(x[0]);
  }
};

}  // namespace iruka::reduction
