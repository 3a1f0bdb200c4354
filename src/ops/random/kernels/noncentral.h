// Chi-square deviates about a mean that is not 0: a square of a normal more, or more degrees of freedom.
#pragma once

#include "ops/random/kernels/gamma.h"
#include "ops/random/kernels/poisson.h"

namespace iruka::random {

static inline double draw_noncentral_chisquare(Draws<double>& d, double df, double nonc) {
  double freedom = df, square = 0;
  if (nonc > 0 && df > 1) {
    const double shifted = draw_normal(d) + sqrt(nonc);
    freedom = df - 1;
    square = shifted * shifted;
  } else if (nonc > 0) {
    freedom = df + 2 * draw_poisson(d, nonc / 2);
  }
  return draw_chisquare(d, freedom) + square;
}

}  // namespace iruka::random
