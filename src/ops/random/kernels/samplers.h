// Samplers by rejection, or with several draws. An element's Draws use blocks that no other element reads. Every loop
// ends, because a kernel on a GPU must: the probability of `kAttempts` rejections is below 2^-100.
// Gamma: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. Poisson: PTRS, Hörmann, "The
// transformed rejection method for generating Poisson random variables", 1993. Binomial: BTRS, Hörmann, "The generation
// of binomial random variates", 1993. Their probabilities: Loader, "Fast and accurate computation of binomial
// probabilities", 2000. Hypergeometric: HRUA*, Stadlober, "The ratio of uniforms approach for generating discrete
// random variates", 1990. Von Mises: Best and Fisher, 1979. Zipf: Devroye, "Non-uniform random variate generation",
// 1986, X.6. Logarithmic series: Kemp, "Efficient generation of logarithmically distributed pseudo-random variables",
// 1981. Wald: Michael, Schucany and Haas, 1976, with the smaller root as a quotient, which does not cancel.
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

/// log(u) < x^2 / 2 + b (1 - cube + log(cube)), decided in float where possible, as in binomial_accepts().
static inline bool gamma_accepts(T x, T b, T cube, T u) {
  if (sizeof(T) == 8) {
    const float half = (float)x, ratio = (float)cube, scale = (float)b;
    const float slack = 0.5f * half * half + scale * (1.0f - ratio + log(ratio)) - log((float)u);
    if (fabs(slack) > 1e-4f + 2e-6f * scale * (1.0f + ratio)) return slack > 0.0f;
  }
  return log(u) < (T)0.5 * x * x + b * ((T)1 - cube + log(cube));
}
/// For shape >= 1.
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
/// For shape < 1: a deviate of shape + 1, times a uniform number to the power 1 / shape.
static inline T draw_gamma(Draws& d, T shape) {
  const T above = gamma_above_one(d, shape < 1 ? shape + (T)1 : shape);
  if (shape >= 1) return above;
  return shape > 0 ? above * pow(draw_unit(d), (T)1 / shape) : (T)0;
}
/// The logarithm of a gamma deviate. For a small shape the deviate itself is too small for a float.
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
