// The bin of a number among n that lie between n + 1 edges; n if it is in none.
#pragma once

#include "ops/sort/kernels/search.h"

namespace iruka::count {

template <class T, class Edges>
IRUKA_INLINE bool is_in_bins(T x, const Edges& edges, int n) {
  return x >= edges[0] && x <= edges[n];
}

/// Among bins of equal width. The estimate is off by at most one.
template <class T, class Edges>
IRUKA_INLINE int even_bin(T x, const Edges& edges, double first, double scale, int n) {
  int k = (int)(((double)x - first) * scale);
  k = k < 0 ? 0 : k > n - 1 ? n - 1 : k;
  const int down = x < edges[k] && k > 0, up = k < n - 1 && x >= edges[k + 1];
  return is_in_bins(x, edges, n) ? k - down + up : n;
}

template <class T, class Edges>
IRUKA_INLINE int uneven_bin(T x, const Edges& edges, int n) {
  const int bin = order::count_first(n - 1, [&](int k) { return !(x < edges[k + 1]); });
  return is_in_bins(x, edges, n) ? bin : n;
}

}  // namespace iruka::count
