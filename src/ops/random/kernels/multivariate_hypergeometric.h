// Counts of colours among items taken from an urn, one colour after the other.
#pragma once

#include "ops/random/kernels/hypergeometric.h"

namespace iruka::random {

/// Row `row` of counts, of `taken` out of `total` items.
template <class Colors, class Counts>
IRUKA_INLINE void draw_colors(Draws<double> d, long long row, Colors& colors, long long taken, long long total,
                              Counts& counts) {
  const long long categories = colors.size();
  double left = (double)taken, rest = (double)total;
  for (long long k = 0; k < categories; ++k) {
    const double good = (double)colors[k];
    rest -= good;
    const double hits = left <= 0 ? 0 : rest <= 0 ? left : draw_hypergeometric(d, good, rest, left);
    counts[{row, k}] = (long long)hits;
    left -= hits;
  }
}

}  // namespace iruka::random
