// The bin of a number among sorted edges.
#pragma once

#include "ops/index/kernels/cuda/report.h"
#include "ops/sort/kernels/before.h"
#include "ops/sort/kernels/search.h"

namespace iruka::count {

/// As in NumPy, the first two different bins tell whether bins descend; NaN counts as greater than every number. The
/// first of `threads` elements check all bins.
template <class I, class T, class Edges, class Bins>
IRUKA_INLINE I digitize(T x, const Edges& edges, const Bins& bins, I n, bool right, int64_t* report, int64_t i,
                        int64_t threads) {
  I unlike = 1;
  while (unlike < n && bins[unlike] == bins[0]) ++unlike;
  const bool descends = unlike < n && !(bins[0] < bins[unlike]);
  for (int64_t k = i; k + 1 < n; k += threads)
    if (descends ? bins[k] < bins[k + 1] : bins[k + 1] < bins[k]) iruka_report(report, iruka_bad_bins, 0, 0, 0);
  const I below = order::count_first(n, [&](I k) {
    const T edge = edges[descends ? n - 1 - k : k];
    return right ? order::before(edge, x) : !order::before(x, edge);
  });
  return descends ? n - below : below;
}

}  // namespace iruka::count
