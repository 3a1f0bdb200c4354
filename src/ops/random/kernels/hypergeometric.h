// HRUA* of Stadlober, "The ratio of uniforms approach for generating discrete random variates", 1990.
#pragma once

#include "ops/random/kernels/draws.h"
#include "ops/random/kernels/stirling.h"

namespace iruka::random {

/// The number of `good` ones among `taken`, drawn one after the other.
static inline double hypergeometric_small(Draws<double>& d, double good, double bad, double taken) {
  double hits = 0, total = good + bad;
  for (int k = 0; k < 10 && k < taken; ++k) {
    if (draw_unit(d) * (total - k) <= good - hits) hits += 1;
  }
  return hits;
}
static inline double log_hypergeometric(double k, double rarer, double commoner, double taken) {
  return -log_factorial(k) - log_factorial(rarer - k) - log_factorial(taken - k) - log_factorial(commoner - taken + k);
}
static inline double hypergeometric_large(Draws<double>& d, double rarer, double commoner, double taken) {
  const double total = rarer + commoner, p = rarer / total, centre = taken * p + 0.5;
  const double width = sqrt((total - taken) * taken * p * (1 - p) / (total - 1) + 0.5);
  const double h = 1.7155277699214135 * width + 0.8989161620588988;
  const double mode = floor((taken + 1) * (rarer + 1) / (total + 2));
  const double highest = log_hypergeometric(mode, rarer, commoner, taken);
  const double end = min(min(taken, rarer) + 1, floor(centre + 16 * width));
  double k = mode;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double u = unit_above_zero<double>(w.w0, w.w1),
                 x = centre + h * (unit_above_zero<double>(w.w2, w.w3) - 0.5) / u;
    if (x < 0 || x >= end) continue;
    const double candidate = floor(x), t = log_hypergeometric(candidate, rarer, commoner, taken) - highest;
    if (u * (4 - u) - 3 <= t || (u * (u - t) < 1 && 2 * log(u) <= t)) {
      k = candidate;
      break;
    }
  }
  return k;
}
static inline double draw_hypergeometric(Draws<double>& d, double good, double bad, double taken) {
  const double drawn = min(taken, good + bad - taken);
  double hits;
  if (drawn <= 10) {
    hits = hypergeometric_small(d, good, bad, drawn);
  } else {
    hits = hypergeometric_large(d, min(good, bad), max(good, bad), drawn);
    if (good > bad) hits = drawn - hits;
  }
  return drawn < taken ? good - hits : hits;
}

}  // namespace iruka::random
