// Random deviates in the kernel language, after kPhilox and `using T = float or double`.
#pragma once

namespace iruka::ops {

/// Deviates of which one block of words gives several: Unit (one a word or two) and NormalPair (Box and Muller).
/// float takes 31 or 32 bits where a logarithm follows: with 24, no exponential would lie beyond 16.7.
inline constexpr const char* kDeviates = R"(
/// `half_open` in [0, 1); independent of one another: `u` in (0, 1], exact near 0, and a sign.
struct Unit {
  T half_open, u, sign;
};
static inline double unit_above_zero(unsigned high, unsigned low, double) { return unit_double(high, low) + 0x1p-53; }
static inline float unit_above_zero(unsigned high, unsigned, float) {
  const float upper = (float)(int)(high >> 16), lower = (float)(int)(high & 0xffffu);
  return (upper * 65536.0f + (lower + 0.5f)) * 0x1p-32f;
}
static inline T unit_above_zero(unsigned high, unsigned low) { return unit_above_zero(high, low, T()); }
static inline double unit_angle(unsigned high, unsigned low, double) { return 6.283185307179586 * unit_double(high, low); }
static inline float unit_angle(unsigned high, unsigned, float) { return 6.2831853f * unit_float(high); }
static inline Unit unit_of(unsigned high, unsigned low, double) {
  const double half_open = unit_double(high, low);
  return Unit{(T)half_open, (T)(half_open + 0x1p-53), (T)(low & 1u ? 1 : -1)};
}
static inline Unit unit_of(unsigned word, unsigned, float) {
  const float upper = (float)(int)(word >> 17), lower = (float)(int)(word >> 1 & 0xffffu);
  return Unit{(T)unit_float(word), (T)((upper * 65536.0f + (lower + 0.5f)) * 0x1p-31f), (T)(word & 1u ? 1 : -1)};
}
static inline Unit unit_of(unsigned high, unsigned low) { return unit_of(high, low, T()); }
struct NormalPair {
  T first, second;
};
static inline NormalPair normal_pair(unsigned a, unsigned b, unsigned c, unsigned d) {
  const T radius = sqrt((T)-2 * log(unit_above_zero(a, b, T()))), angle = unit_angle(c, d, T());
  return NormalPair{radius * cos(angle), radius * sin(angle)};
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
  return sqrt((T)-2 * log(unit_above_zero(w.w0, w.w1))) * cos(unit_angle(w.w2, w.w3, T()));
}
static inline T word_unit(unsigned word) { return ((T)(int)(word >> 8) + (T)0.5) * (T)0x1p-24; }

/// For a shape of 1 or more.
static inline T gamma_above_one(Draws& d, T shape) {
  const T b = shape - (T)(1.0 / 3), c = (T)1 / sqrt((T)9 * b);
  T value = b;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const T x = sqrt((T)-2 * log(unit_above_zero(w.w0, w.w1))) * cos((T)6.283185307179586 * word_unit(w.w2));
    const T root = (T)1 + c * x, cube = root * root * root, u = word_unit(w.w3);
    if (root <= 0) continue;
    if (u < (T)1 - (T)0.0331 * x * x * x * x || log(u) < (T)0.5 * x * x + b * ((T)1 - cube + log(cube))) {
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

static inline double poisson_small(Draws& d, double mean) {
  double u = draw_unit(d), probability = exp(-mean), k = 0;
  while (u > probability && k < 200) {
    u -= probability;
    k += 1;
    probability *= mean / k;
  }
  return k;
}
static inline double poisson_large(Draws& d, double mean) {
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), accepted = 0.9277 - 3.6224 / (b - 2);
  double k = floor(mean);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double u = unit_above_zero(w.w0, w.w1) - 0.5, v = unit_above_zero(w.w2, w.w3), us = 0.5 - fabs(u);
    const double candidate = floor((2 * a / us + b) * u + mean + 0.43);
    if (candidate < 0 || us <= 0 || (us < 0.013 && v > us)) continue;
    if ((us >= 0.07 && v <= accepted) ||
        log(v * inverse_alpha / (a / (us * us) + b)) <= log_poisson(candidate, mean)) {
      k = candidate;
      break;
    }
  }
  return k;
}
static inline double draw_poisson(Draws& d, double mean) {
  return mean < 10 ? poisson_small(d, mean) : poisson_large(d, mean);
}

static inline double binomial_small(Draws& d, double n, double p) {
  double u = draw_unit(d), probability = exp(n * log1p(-p)), k = 0;
  const double odds = p / (1 - p);
  while (u > probability && k < n && k < 200) {
    u -= probability;
    k += 1;
    probability *= odds * (n - k + 1) / k;
  }
  return k;
}
static inline double binomial_large(Draws& d, double n, double p) {
  const double deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double accepted = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = floor((n + 1) * p), highest = log_binomial(mode, n, p);
  double k = mode;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const double u = unit_above_zero(w.w0, w.w1) - 0.5, v = unit_above_zero(w.w2, w.w3), us = 0.5 - fabs(u);
    const double candidate = floor((2 * a / us + b) * u + n * p + 0.5);
    if (candidate < 0 || candidate > n || us <= 0) continue;
    if ((us >= 0.07 && v <= accepted) ||
        log(v * alpha / (a / (us * us) + b)) <= log_binomial(candidate, n, p) - highest) {
      k = candidate;
      break;
    }
  }
  return k;
}
static inline double draw_binomial(Draws& d, double n, double p) {
  const double rarer = p > 0.5 ? 1 - p : p;
  if (n <= 0 || rarer <= 0) return p > 0.5 ? n : 0;
  const double k = n * rarer < 10 ? binomial_small(d, n, rarer) : binomial_large(d, n, rarer);
  return p > 0.5 ? n - k : k;
}

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
