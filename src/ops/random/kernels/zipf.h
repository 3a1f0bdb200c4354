// Devroye, "Non-uniform random variate generation", 1986, X.6.
#pragma once

#include "ops/random/kernels/draws.h"

namespace iruka::random {

static inline double draw_zipf(Draws<double>& d, double a) {
  const double b = exp2(a - 1), lowest = pow(9223372036854775807.0, 1 - a);
  double value = 1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double unit = unit_above_zero<double>(w.w0, w.w1), v = unit_above_zero<double>(w.w2, w.w3);
    const double x = floor(pow(unit + (1 - unit) * lowest, -1 / (a - 1)));
    if (x < 1 || x >= 9223372036854775807.0) continue;
    const double t = pow(1 + 1 / x, a - 1);
    if (v * x * (t - 1) / (b - 1) <= t / b) {
      value = x;
      break;
    }
  }
  return value;
}

}  // namespace iruka::random
