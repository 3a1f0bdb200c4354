// BTRS of Hörmann, "The generation of binomial random variates", 1993.
#pragma once

#include "ops/random/kernels/draws.h"
#include "ops/random/kernels/stirling.h"

namespace iruka::random {

/// For 0 < p < 1 and 0 <= k <= n, n > 0.
static inline double log_binomial(double k, double n, double p) {
  const double rest = n - k;
  if (k < 0.5) return n * log1p(-p);
  if (rest < 0.5) return n * log(p);
  return stirling_error(n) - stirling_error(k) - stirling_error(rest) - deviance(k, n * p) -
         deviance(rest, n * (1 - p)) + 0.5 * log(n / (6.283185307179586 * k * rest));
}

/// Constants for one n and p, where `p` is the rarer outcome's. `growth` is (1 - p)^-n, for n p below 10; the later
/// fields are for a larger n p.
struct BinomialPlan {
  double n, p, growth, inverse_odds, a, b, accepted, alpha, mode, highest;
  float offset;
  bool is_turned;
};
static inline BinomialPlan binomial_plan(double n, double given) {
  const double p = given > 0.5 ? 1 - given : given;
  BinomialPlan plan{n, p, 1, 0, 0, 0, 0, 0, 0, 0, 0, given > 0.5};
  if (n <= 0 || p <= 0) return plan;
  if (n * p < 10) {
    plan.growth = exp(-n * log1p(-p));
    plan.inverse_odds = (1 - p) / p;
  } else {
    const double deviation = sqrt(n * p * (1 - p));
    plan.b = 1.15 + 2.53 * deviation;
    plan.a = -0.0873 + 0.0248 * plan.b + 0.01 * p;
    plan.accepted = 0.92 - 4.2 / plan.b;
    plan.alpha = (2.83 + 5.1 / plan.b) * deviation;
    plan.mode = floor((n + 1) * p);
    plan.highest = log_binomial(plan.mode, n, p);
    plan.offset = (float)(stirling_error(n) + 0.5 * log(n / 6.283185307179586) - plan.highest);
  }
  return plan;
}
static inline double binomial_small(Draws<double>& d, const BinomialPlan& plan) {
  double left = draw_unit(d) * plan.growth, k = 0;
#pragma unroll 1
  while (left > 1 && k < plan.n && k < 200) {
    k += 1;
    left = (left - 1) * (k * plan.inverse_odds / (plan.n - k + 1));
  }
  return k;
}
/// On a GPU rarely needed functions are calls, which keeps loops short.
#ifdef __CUDA_ARCH__
__noinline__
#else
inline
#endif
    static bool binomial_decides(double k, double n, double p, double ratio, double highest) {
  return log(ratio) <= log_binomial(k, n, p) - highest;
}
/// log(ratio) <= log_binomial(k) - highest. float decides if the two sides differ by more than its error, as they do
/// for nearly every candidate; otherwise double does. The result is the same, in a fifth of the time.
static inline bool binomial_accepts(const BinomialPlan& plan, double k, double ratio) {
  const float hits = (float)k, rest = (float)(plan.n - k), x = (float)(k - plan.n * plan.p), share = (float)ratio;
  const float slack = plan.offset - 1.0f / (12.0f * hits + 0.4f / hits) - 1.0f / (12.0f * rest + 0.4f / rest) +
                      hits * log1p(-x / hits) + rest * log1p(x / rest) - 0.5f * log(share * share * hits * rest);
  if (hits >= 1.0f && rest >= 1.0f && share > 1e-12f && fabs(slack) > 1e-3f + 2e-6f * fabs(x)) return slack > 0.0f;
  return binomial_decides(k, plan.n, plan.p, ratio, plan.highest);
}
static inline double binomial_large(Draws<double>& d, const BinomialPlan& plan) {
  double k = plan.mode;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double u = unit_above_zero<double>(w.w0, w.w1) - 0.5, v = unit_above_zero<double>(w.w2, w.w3),
                 us = 0.5 - fabs(u);
    if (us <= 0) continue;
    const double inverse = 1 / us, candidate = floor((2 * plan.a * inverse + plan.b) * u + plan.n * plan.p + 0.5);
    if (candidate < 0 || candidate > plan.n) continue;
    if ((us >= 0.07 && v <= plan.accepted) ||
        binomial_accepts(plan, candidate, v * plan.alpha / (plan.a * inverse * inverse + plan.b))) {
      k = candidate;
      break;
    }
  }
  return k;
}
static inline double draw_binomial(Draws<double>& d, const BinomialPlan& plan) {
  double k = 0;
  if (plan.n > 0 && plan.p > 0) k = plan.n * plan.p < 10 ? binomial_small(d, plan) : binomial_large(d, plan);
  return plan.is_turned ? plan.n - k : k;
}
static inline double draw_binomial(Draws<double>& d, double n, double p) {
  return draw_binomial(d, binomial_plan(n, p));
}

}  // namespace iruka::random
