// Samplers of integers, and samplers that compute in double whatever type is stored.
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
static inline double log_poisson(double k, double mean) {
  return -stirling_error(k) - deviance(k, mean) - (k < 0.5 ? 0 : 0.5 * log(6.283185307179586 * k));
}
/// For 0 < p < 1 and 0 <= k <= n, n > 0.
static inline double log_binomial(double k, double n, double p) {
  const double rest = n - k;
  if (k < 0.5) return n * log1p(-p);
  if (rest < 0.5) return n * log(p);
  return stirling_error(n) - stirling_error(k) - stirling_error(rest) - deviance(k, n * p) -
         deviance(rest, n * (1 - p)) + 0.5 * log(n / (6.283185307179586 * k * rest));
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
static inline double poisson_small(Draws& d, const PoissonPlan& plan) {
  double left = draw_unit(d) * plan.growth, k = 0;
#pragma unroll 1
  while (left > 1 && k < 200) {
    k += 1;
    left = (left - 1) * (k * plan.inverse_mean);
  }
  return k;
}
static inline double poisson_large(Draws& d, const PoissonPlan& plan) {
  double k = floor(plan.mean);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double u = unit_above_zero(w.w0, w.w1) - 0.5, v = unit_above_zero(w.w2, w.w3), us = 0.5 - fabs(u);
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
static inline double draw_poisson(Draws& d, const PoissonPlan& plan) {
  return plan.mean < 10 ? poisson_small(d, plan) : poisson_large(d, plan);
}
static inline double draw_poisson(Draws& d, double mean) { return draw_poisson(d, poisson_plan(mean)); }

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
static inline double binomial_small(Draws& d, const BinomialPlan& plan) {
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
#define kSeldom static __noinline__
#else
#define kSeldom static inline
#endif
kSeldom bool binomial_decides(double k, double n, double p, double ratio, double highest) {
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
static inline double binomial_large(Draws& d, const BinomialPlan& plan) {
  double k = plan.mode;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double u = unit_above_zero(w.w0, w.w1) - 0.5, v = unit_above_zero(w.w2, w.w3), us = 0.5 - fabs(u);
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
static inline double draw_binomial(Draws& d, const BinomialPlan& plan) {
  double k = 0;
  if (plan.n > 0 && plan.p > 0) k = plan.n * plan.p < 10 ? binomial_small(d, plan) : binomial_large(d, plan);
  return plan.is_turned ? plan.n - k : k;
}
static inline double draw_binomial(Draws& d, double n, double p) { return draw_binomial(d, binomial_plan(n, p)); }

/// The number of `good` ones among `taken`, drawn one after the other.
static inline double hypergeometric_small(Draws& d, double good, double bad, double taken) {
  double hits = 0, total = good + bad;
  for (int k = 0; k < 10 && k < taken; ++k) {
    if (draw_unit(d) * (total - k) <= good - hits) hits += 1;
  }
  return hits;
}
static inline double log_hypergeometric(double k, double rarer, double commoner, double taken) {
  return -log_factorial(k) - log_factorial(rarer - k) - log_factorial(taken - k) - log_factorial(commoner - taken + k);
}
static inline double hypergeometric_large(Draws& d, double rarer, double commoner, double taken) {
  const double total = rarer + commoner, p = rarer / total, centre = taken * p + 0.5;
  const double width = sqrt((total - taken) * taken * p * (1 - p) / (total - 1) + 0.5);
  const double h = 1.7155277699214135 * width + 0.8989161620588988;
  const double mode = floor((taken + 1) * (rarer + 1) / (total + 2));
  const double highest = log_hypergeometric(mode, rarer, commoner, taken);
  const double end = min(min(taken, rarer) + 1, floor(centre + 16 * width));
  double k = mode;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double u = unit_above_zero(w.w0, w.w1), x = centre + h * (unit_above_zero(w.w2, w.w3) - 0.5) / u;
    if (x < 0 || x >= end) continue;
    const double candidate = floor(x), t = log_hypergeometric(candidate, rarer, commoner, taken) - highest;
    if (u * (4 - u) - 3 <= t || (u * (u - t) < 1 && 2 * log(u) <= t)) {
      k = candidate;
      break;
    }
  }
  return k;
}
static inline double draw_hypergeometric(Draws& d, double good, double bad, double taken) {
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

static inline double draw_zipf(Draws& d, double a) {
  const double b = exp2(a - 1), lowest = pow(9223372036854775807.0, 1 - a);
  double value = 1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double unit = unit_above_zero(w.w0, w.w1), v = unit_above_zero(w.w2, w.w3);
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
static inline double draw_logseries(Draws& d, double p) {
  const double r = log1p(-p);
  const PhiloxWords w = draw_words(d);
  const double v = unit_above_zero(w.w0, w.w1), q = -expm1(r * unit_above_zero(w.w2, w.w3));
  if (v >= p) return 1;
  if (v <= q * q) return max(floor(1 + log(v) / log(q)), 1.0);
  return v >= q ? 1 : 2;
}
static inline double draw_vonmises(Draws& d, double mu, double kappa) {
  double angle;
  if (kappa > 1e6) {
    angle = draw_normal(d) / sqrt(kappa);
  } else {
    const double root = 1 + sqrt(1 + 4 * kappa * kappa), rho = (root - sqrt(2 * root)) / (2 * kappa);
    const double s = kappa < 1e-5 ? 1 / kappa + kappa : (1 + rho * rho) / (2 * rho);
    double cosine = 1;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const PhiloxWords w = draw_words(d);
      const double z = cos(3.141592653589793 * unit_above_zero(w.w0, w.w1)), v = unit_above_zero(w.w2, w.w3);
      cosine = kappa < 1e-8 ? z : (1 + s * z) / (s + z);
      const double y = kappa * (s - cosine);
      if (kappa < 1e-8 || y * (2 - y) >= v || log(y / v) + 1 - y >= 0) break;
    }
    angle = copysign(acos(min(max(cosine, -1.0), 1.0)), draw_unit(d) - 0.5);
  }
  angle += mu;
  return angle - 6.283185307179586 * floor((angle + 3.141592653589793) / 6.283185307179586);
}
static inline double draw_noncentral_chisquare(Draws& d, double df, double nonc) {
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
