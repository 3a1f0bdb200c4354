// Two values at once. Sums are of few elements at first, and then in wider types.
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
