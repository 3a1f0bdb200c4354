// Best and Fisher, 1979.
#pragma once

#include "ops/random/kernels/draws.h"

namespace iruka::random {

static inline double draw_vonmises(Draws<double>& d, double mu, double kappa) {
  double angle;
  if (kappa > 1e6) {
    angle = draw_normal(d) / sqrt(kappa);
  } else {
    const double root = 1 + sqrt(1 + 4 * kappa * kappa), rho = (root - sqrt(2 * root)) / (2 * kappa);
    const double s = kappa < 1e-5 ? 1 / kappa + kappa : (1 + rho * rho) / (2 * rho);
    double cosine = 1;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const PhiloxWords w = draw_words(d);
      const double z = cos(3.141592653589793 * unit_above_zero<double>(w.w0, w.w1)),
                   v = unit_above_zero<double>(w.w2, w.w3);
      cosine = kappa < 1e-8 ? z : (1 + s * z) / (s + z);
      const double y = kappa * (s - cosine);
      if (kappa < 1e-8 || y * (2 - y) >= v || log(y / v) + 1 - y >= 0) break;
    }
    angle = copysign(acos(min(max(cosine, -1.0), 1.0)), draw_unit(d) - 0.5);
  }
  angle += mu;
  return angle - 6.283185307179586 * floor((angle + 3.141592653589793) / 6.283185307179586);
}

}  // namespace iruka::random
