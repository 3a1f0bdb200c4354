// Random deviates in the kernel language, after kPhilox and `using T = float or double`.
#pragma once

namespace iruka::ops {

/// Deviates of which one block of words gives several: Unit (one a word or two) and NormalPair (Box and Muller).
/// float takes 31 bits where a logarithm follows: with 24, no exponential would lie beyond 16.7. The logarithm, sine
/// and cosine are polynomials of Moshier's Cephes library, the same on every device and without its library's care for
/// arguments that do not occur, within 2 ulp. float's root is the device's own (unit_root).
inline constexpr const char* kDeviates = R"(
/// `half_open` in [0, 1); independent of one another: `u` in (0, 1], exact near 0, and a sign.
struct Unit {
  T half_open, u, sign;
};
static inline double unit_above_zero(unsigned high, unsigned low, double) { return unit_double(high, low) + 0x1p-53; }
static inline float unit_above_zero(unsigned word, unsigned, float) {
  return (float)(int)(word >> 1) * 0x1p-31f + 0x1p-32f;
}
static inline T unit_above_zero(unsigned high, unsigned low) { return unit_above_zero(high, low, T()); }
static inline Unit unit_of(unsigned high, unsigned low, double) {
  const double half_open = unit_double(high, low);
  return Unit{(T)half_open, (T)(half_open + 0x1p-53), (T)(low & 1u ? 1 : -1)};
}
static inline Unit unit_of(unsigned word, unsigned, float) {
  return Unit{(T)unit_float(word), (T)unit_above_zero(word, 0, float()), (T)(word & 1u ? 1 : -1)};
}
static inline Unit unit_of(unsigned high, unsigned low) { return unit_of(high, low, T()); }

/// The natural logarithm of what unit_above_zero() gives.
static inline double log_unit(double u) { return log(u); }
static inline float log_unit(float u) {
  const int bits = __float_as_int(u), exponent = (bits - 0x3f3504f3) >> 23;
  const float f = __int_as_float(bits - exponent * 0x800000) - 1.0f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  return (float)exponent * 0.69314718f + (f * f * (p * f - 0.5f) + f);
}
/// On [-pi/4, pi/4].
static inline float quarter_sine(float x) {
  const float z = x * x;
  return ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * (z * x) + x;
}
static inline float quarter_cosine(float x) {
  const float z = x * x;
  return (((2.4433157118e-5f * z - 1.3887316255e-3f) * z + 4.1666645683e-2f) * z - 0.5f) * z + 1.0f;
}
static inline double quarter_sine(double x) {
  const double z = x * x;
  double p = 1.58962301576546568060e-10;
  p = p * z - 2.50507477628578072866e-8;
  p = p * z + 2.75573136213857245213e-6;
  p = p * z - 1.98412698295895385996e-4;
  p = p * z + 8.33333333332211858878e-3;
  p = p * z - 1.66666666666666307295e-1;
  return p * (z * x) + x;
}
static inline double quarter_cosine(double x) {
  const double z = x * x;
  double p = -1.13585365213876817300e-11;
  p = p * z + 2.08757008419747316778e-9;
  p = p * z - 2.75573141792967388112e-7;
  p = p * z + 2.48015872888517045348e-5;
  p = p * z - 1.38888888888730564116e-3;
  p = p * z + 4.16666666666665929218e-2;
  return (p * z - 0.5) * z + 1.0;
}
/// An angle in [-pi/4, pi/4) from 30 bits of `high`, without its first two, and, for a double, from `low`.
static inline float quarter_angle(unsigned high, unsigned, float) { return (float)(int)(high << 2) * 3.6572952e-10f; }
static inline double quarter_angle(unsigned high, unsigned low, double) {
  return ((double)(int)(high << 2) + (double)(int)(low >> 1) * 0x1p-29) * 3.657295198167899e-10;
}
/// Negative where the first bit of `word` is set.
static inline float signed_by(unsigned word, float x) {
  return __int_as_float(__float_as_int(x) ^ (int)(word & 0x80000000u));
}
static inline double signed_by(unsigned word, double x) {
  return __longlong_as_double(__double_as_longlong(x) ^ (long long)((unsigned long long)(word & 0x80000000u) << 32));
}
/// A GPU's own root, within 1 ulp, where the rounded one takes ten instructions.
static inline double unit_root(double x) { return sqrt(x); }
static inline float unit_root(float x) {
#ifdef __CUDA_ARCH__
  asm("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return sqrt(x);
#endif
}
struct NormalPair {
  T first, second;
};
/// Box and Muller's transform. The angle is one of a quarter circle, turned by pi/4, and two signs.
static inline NormalPair normal_pair(unsigned a, unsigned b, unsigned c, unsigned d) {
  const T radius = unit_root(-log_unit(unit_above_zero(a, b))), angle = quarter_angle(c, d, T());
  const T sine = quarter_sine(angle), cosine = quarter_cosine(angle);
  return NormalPair{signed_by(c, radius * (cosine - sine)), signed_by(c << 1, radius * (cosine + sine))};
}
)";

/// Deviates by rejection or several draws. An element's Draws are blocks that no other element reads, and every loop
/// ends, so that a kernel on a GPU does too: the odds of `kAttempts` rejections are below 2^-100.
/// Gamma: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. Poisson: PTRS, Hörmann, "The
/// transformed rejection method for generating Poisson random variables", 1993. Binomial: BTRS, Hörmann, "The
/// generation of binomial random variates", 1993. Their probabilities: Loader, "Fast and accurate computation of
/// binomial probabilities", 2000. Hypergeometric: HRUA*, Stadlober, "The ratio of uniforms approach for generating
/// discrete random variates", 1990. Von Mises: Best and Fisher, 1979. Zipf: Devroye, "Non-uniform random variate
/// generation", 1986, X.6. Logarithmic series: Kemp, "Efficient generation of logarithmically distributed pseudo-random
/// variables", 1981. Wald: Michael, Schucany and Haas, 1976, with the smaller root as a quotient, which does not
/// cancel.
inline constexpr const char* kSamplers = R"(
struct Draws {
  unsigned long long seed, stream, element;
  unsigned next;
};
#define kAttempts 512
static inline PhiloxWords draw_words(Draws& d) { return philox_block(d.seed, d.stream, d.element, d.next++); }
static inline T draw_unit(Draws& d) {
  const PhiloxWords w = draw_words(d);
  return unit_above_zero(w.w0, w.w1);
}
static inline T draw_normal(Draws& d) {
  const PhiloxWords w = draw_words(d);
  return normal_pair(w.w0, w.w1, w.w2, w.w3).first;
}
static inline T word_unit(unsigned word) { return ((T)(int)(word >> 8) + (T)0.5) * (T)0x1p-24; }

/// log(u) < x^2 / 2 + b (1 - cube + log(cube)), as binomial_accepts() decides it.
static inline bool gamma_accepts(T x, T b, T cube, T u) {
  if (sizeof(T) == 8) {
    const float half = (float)x, ratio = (float)cube, scale = (float)b;
    const float slack = 0.5f * half * half + scale * (1.0f - ratio + log(ratio)) - log((float)u);
    if (fabs(slack) > 1e-4f + 2e-6f * scale * (1.0f + ratio)) return slack > 0.0f;
  }
  return log(u) < (T)0.5 * x * x + b * ((T)1 - cube + log(cube));
}
/// For a shape of 1 or more.
static inline T gamma_above_one(Draws& d, T shape) {
  const T b = shape - (T)(1.0 / 3), c = (T)1 / sqrt((T)9 * b);
  T value = b;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const T x = normal_pair(w.w0, w.w1, w.w2, 0).first;
    const T root = (T)1 + c * x, cube = root * root * root, u = word_unit(w.w3);
    if (root <= 0) continue;
    if (u < (T)1 - (T)0.0331 * x * x * x * x || gamma_accepts(x, b, cube, u)) {
      value = b * cube;
      break;
    }
  }
  return value;
}
/// A deviate of shape + 1 times a unit to the power 1 / shape is one of `shape`.
static inline T draw_gamma(Draws& d, T shape) {
  const T above = gamma_above_one(d, shape < 1 ? shape + (T)1 : shape);
  if (shape >= 1) return above;
  return shape > 0 ? above * pow(draw_unit(d), (T)1 / shape) : (T)0;
}
/// The logarithm of a gamma deviate, which for a small shape is itself too small for a float.
static inline T draw_log_gamma(Draws& d, T shape) {
  const T above = log(gamma_above_one(d, shape < 1 ? shape + (T)1 : shape));
  return shape < 1 ? above + log(draw_unit(d)) / shape : above;
}
static inline T draw_chisquare(Draws& d, T df) { return (T)2 * draw_gamma(d, df / (T)2); }
static inline T draw_beta(Draws& d, T a, T b) {
  const T x = gamma_above_one(d, a < 1 ? a + (T)1 : a), y = gamma_above_one(d, b < 1 ? b + (T)1 : b);
  if (a >= 1 && b >= 1) return x / (x + y);
  const PhiloxWords w = draw_words(d);
  const T log_x = log(x) + (a < 1 ? log(unit_above_zero(w.w0, w.w1)) / a : (T)0);
  const T log_y = log(y) + (b < 1 ? log(unit_above_zero(w.w2, w.w3)) / b : (T)0);
  return (T)1 / ((T)1 + exp(log_y - log_x));
}
static inline T draw_wald(Draws& d, T mean, T scale) {
  const T z = draw_normal(d), w = mean * z * z / ((T)2 * scale), sum = (T)1 + w + sqrt(w * (w + (T)2));
  return draw_unit(d) <= sum / (sum + (T)1) ? mean / sum : mean * sum;
}
)";

/// Deviates of integers and those that need double whatever they are stored in.
inline constexpr const char* kDoubleSamplers = R"(
/// log(k!) - ((k + 1/2) log(k) - k + log(2 pi) / 2).
static inline double stirling_error(double k) {
  if (k < 0.5) return 0;
  if (k < 9.5) {
    const double table[10] = {0,
                              0.08106146679532726, 0.04134069595540929, 0.02767792568499834,
                              0.02079067210376509, 0.01664469118982119, 0.01387612882307075,
                              0.01189670994589177, 0.01041126526197209, 0.00925546218271273};
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

/// What all deviates of one mean share: `growth` is exp(mean), the rest is for a mean of 10 or more.
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
/// By inversion: `left` is the unit less the probabilities so far, over the next one.
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

/// What all deviates of one n and p share. `p` is the rarer outcome's; `growth` is (1 - p)^-n, for n p below 10; the
/// rest is for more.
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
/// A GPU calls what is seldom needed, which keeps a loop short.
#ifdef __CUDA_ARCH__
#define kSeldom static __noinline__
#else
#define kSeldom static inline
#endif
kSeldom bool binomial_decides(double k, double n, double p, double ratio, double highest) {
  return log(ratio) <= log_binomial(k, n, p) - highest;
}
/// log(ratio) <= log_binomial(k) - highest. Floats decide where the two differ by more than their error, which is what
/// nearly every candidate does: the same decision for a fifth of the time.
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

/// Hits among `taken` of `good` + `bad`, one after the other.
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
)";

/// Lemire, "Fast random integer generation in an interval", 2019. A rejected element draws the same place of its block
/// again with the next attempt, so that it stays a function of its index. `threshold` is the word's range modulo the
/// span.
inline constexpr const char* kBounded = R"(
static inline unsigned word_at(PhiloxWords w, int place) {
  return place == 0 ? w.w0 : place == 1 ? w.w1 : place == 2 ? w.w2 : w.w3;
}
static inline unsigned long long double_word_at(PhiloxWords w, int place) {
  return place ? (unsigned long long)w.w2 << 32 | w.w3 : (unsigned long long)w.w0 << 32 | w.w1;
}
/// W: unsigned for pieces of one word, unsigned long long for two.
template <class W> static inline W piece_at(PhiloxWords w, int place) {
  return sizeof(W) == 4 ? (W)word_at(w, place) : (W)double_word_at(w, place);
}
template <class W> static inline bool is_rejected(W word, W span, W threshold) { return (W)(word * span) < threshold; }
template <class W> static inline W bounded(W word, W span) {
  return sizeof(W) == 4 ? (W)__umulhi((unsigned)word, (unsigned)span) : (W)__umul64hi(word, span);
}
template <class W>
static inline W redrawn(unsigned long long seed, unsigned long long stream, unsigned long long block, int place, W span,
                        W threshold) {
  W word = 0;
  for (unsigned attempt = 1; attempt < 512; ++attempt) {
    word = piece_at<W>(seldom_philox_block(seed, stream, block, attempt), place);
    if (!is_rejected<W>(word, span, threshold)) break;
  }
  return bounded<W>(word, span);
}
/// The first place of a block; a span of 0 stands for 2^64.
static inline unsigned long long bounded_block(unsigned long long seed, unsigned long long stream,
                                               unsigned long long block, unsigned long long span) {
  const unsigned long long word = double_word_at(philox_block(seed, stream, block, 0), 0);
  if (span == 0) return word;
  if (word * span < span) {
    const unsigned long long threshold = (0 - span) % span;
    if (is_rejected(word, span, threshold)) return redrawn(seed, stream, block, 0, span, threshold);
  }
  return bounded(word, span);
}
)";

}  // namespace iruka::ops
