// Kemp, "Efficient generation of logarithmically distributed pseudo-random variables", 1981.
#pragma once

#include "ops/random/kernels/draws.h"

namespace iruka::random {

static inline double draw_logseries(Draws<double>& d, double p) {
  const double r = log1p(-p);
  const PhiloxWords w = draw_words(d);
  const double v = unit_above_zero<double>(w.w0, w.w1), q = -expm1(r * unit_above_zero<double>(w.w2, w.w3));
  if (v >= p) return 1;
  if (v <= q * q) return max(floor(1 + log(v) / log(q)), 1.0);
  return v >= q ? 1 : 2;
}

}  // namespace iruka::random
