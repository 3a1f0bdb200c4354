// Parts of the logarithms of probabilities. Loader, "Fast and accurate computation of binomial probabilities", 2000.
#pragma once

namespace iruka::random {

/// log(k!) - ((k + 1/2) log(k) - k + log(2 pi) / 2).
static inline double stirling_error(double k) {
  if (k < 0.5) return 0;
  if (k < 9.5) {
    const double table[10] = {0,
                              0.08106146679532726,
                              0.04134069595540929,
                              0.02767792568499834,
                              0.02079067210376509,
                              0.01664469118982119,
                              0.01387612882307075,
                              0.01189670994589177,
                              0.01041126526197209,
                              0.00925546218271273};
    return table[(int)k];
  }
  const double r = 1 / (k * k);
  return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / k;
}
static inline double log_factorial(double k) {
  return k < 0.5 ? 0 : (k + 0.5) * log(k) - k + 0.9189385332046727 + stirling_error(k);
}
/// k log(k / mean) + mean - k, without cancellation where k is near the mean.
static inline double deviance(double k, double mean) {
  if (k < 0.5) return mean;
  const double t = (mean - k) / k;
  return -k * (log1p(t) - t);
}

}  // namespace iruka::random
