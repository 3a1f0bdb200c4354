// Poisson deviates whose mean is a gamma deviate.
#pragma once

#include "ops/random/kernels/gamma.h"
#include "ops/random/kernels/poisson.h"

namespace iruka::random {

static inline double draw_negative_binomial(Draws<double>& d, double n, double p) {
  return draw_poisson(d, min(draw_gamma(d, n) * ((1 - p) / p), 9.2e18));
}

}  // namespace iruka::random
