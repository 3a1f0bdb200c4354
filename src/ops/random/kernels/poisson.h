// PTRS of Hörmann, "The transformed rejection method for generating Poisson random variables", 1993.
#pragma once

#include "ops/random/kernels/draws.h"
#include "ops/random/kernels/stirling.h"

namespace iruka::random {

static inline double log_poisson(double k, double mean) {
  return -stirling_error(k) - deviance(k, mean) - (k < 0.5 ? 0 : 0.5 * log(6.283185307179586 * k));
}

/// Constants for one mean: `growth` is exp(mean); the other fields are for a mean of 10 or more.
struct PoissonPlan {
  double mean, growth, inverse_mean, a, b, inverse_alpha, accepted;
};
static inline PoissonPlan poisson_plan(double mean) {
  PoissonPlan plan{mean, 1, 0, 0, 0, 0, 0};
  if (mean < 10) {
    plan.growth = exp(mean);
    plan.inverse_mean = 1 / mean;
  } else {
    plan.b = 0.931 + 2.53 * sqrt(mean);
    plan.a = -0.059 + 0.02483 * plan.b;
    plan.inverse_alpha = 1.1239 + 1.1328 / (plan.b - 3.4);
    plan.accepted = 0.9277 - 3.6224 / (plan.b - 2);
  }
  return plan;
}
/// Inversion: `left` is the uniform number minus the probabilities so far, divided by the next probability.
static inline double poisson_small(Draws<double>& d, const PoissonPlan& plan) {
  double left = draw_unit(d) * plan.growth, k = 0;
#pragma unroll 1
  while (left > 1 && k < 200) {
    k += 1;
    left = (left - 1) * (k * plan.inverse_mean);
  }
  return k;
}
static inline double poisson_large(Draws<double>& d, const PoissonPlan& plan) {
  double k = floor(plan.mean);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double u = unit_above_zero<double>(w.w0, w.w1) - 0.5, v = unit_above_zero<double>(w.w2, w.w3),
                 us = 0.5 - fabs(u);
    const double candidate = floor((2 * plan.a / us + plan.b) * u + plan.mean + 0.43);
    if (candidate < 0 || us <= 0 || (us < 0.013 && v > us)) continue;
    if ((us >= 0.07 && v <= plan.accepted) ||
        log(v * plan.inverse_alpha / (plan.a / (us * us) + plan.b)) <= log_poisson(candidate, plan.mean)) {
      k = candidate;
      break;
    }
  }
  return k;
}
static inline double draw_poisson(Draws<double>& d, const PoissonPlan& plan) {
  return plan.mean < 10 ? poisson_small(d, plan) : poisson_large(d, plan);
}
static inline double draw_poisson(Draws<double>& d, double mean) { return draw_poisson(d, poisson_plan(mean)); }

}  // namespace iruka::random
