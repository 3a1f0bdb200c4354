// Two values that are reduced together. A pair converts, because sums of a few elements use narrower types.
#pragma once

namespace iruka::reduction {

template <class F, class S>
struct Pair {
  F first;
  S second;
  Pair() = default;
  Pair(F a, S b) : first(a), second(b) {}
  template <class G, class T>
  explicit Pair(const Pair<G, T>& other) : first(F(other.first)), second(S(other.second)) {}
};

}  // namespace iruka::reduction
