// Gamma deviates and what is made of them. Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
#pragma once

#include "ops/random/kernels/draws.h"

namespace iruka::random {

template <class T> static inline T word_unit(unsigned word) { return ((T)(int)(word >> 8) + (T)0.5) * (T)0x1p-24; }

/// log(u) < x^2 / 2 + b (1 - cube + log(cube)). For double, float decides if the two sides differ by more than its
/// error.
template <class T> static inline bool gamma_accepts(T x, T b, T cube, T u) {
  if (sizeof(T) == 8) {
    const float half = (float)x, ratio = (float)cube, scale = (float)b;
    const float slack = 0.5f * half * half + scale * (1.0f - ratio + log(ratio)) - log((float)u);
    if (fabs(slack) > 1e-4f + 2e-6f * scale * (1.0f + ratio)) return slack > 0.0f;
  }
  return log(u) < (T)0.5 * x * x + b * ((T)1 - cube + log(cube));
}
/// For shape >= 1.
template <class T> static inline T gamma_above_one(Draws<T>& d, T shape) {
  const T b = shape - (T)(1.0 / 3), c = (T)1 / sqrt((T)9 * b);
  T value = b;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PhiloxWords w = draw_words(d);
    const T x = normal_pair<T>(w.w0, w.w1, w.w2, 0).first;
    const T root = (T)1 + c * x, cube = root * root * root, u = word_unit<T>(w.w3);
    if (root <= 0) continue;
    if (u < (T)1 - (T)0.0331 * x * x * x * x || gamma_accepts(x, b, cube, u)) {
      value = b * cube;
      break;
    }
  }
  return value;
}
/// For shape < 1: a deviate of shape + 1, times a uniform number to the power 1 / shape.
template <class T> static inline T draw_gamma(Draws<T>& d, T shape) {
  const T above = gamma_above_one(d, shape < 1 ? shape + (T)1 : shape);
  if (shape >= 1) return above;
  return shape > 0 ? above * pow(draw_unit(d), (T)1 / shape) : (T)0;
}
/// The logarithm of a gamma deviate. For a small shape the deviate itself is too small for a float.
template <class T> static inline T draw_log_gamma(Draws<T>& d, T shape) {
  const T above = log(gamma_above_one(d, shape < 1 ? shape + (T)1 : shape));
  return shape < 1 ? above + log(draw_unit(d)) / shape : above;
}
template <class T> static inline T draw_chisquare(Draws<T>& d, T df) { return (T)2 * draw_gamma(d, df / (T)2); }
template <class T> static inline T draw_beta(Draws<T>& d, T a, T b) {
  const T x = gamma_above_one(d, a < 1 ? a + (T)1 : a), y = gamma_above_one(d, b < 1 ? b + (T)1 : b);
  if (a >= 1 && b >= 1) return x / (x + y);
  const PhiloxWords w = draw_words(d);
  const T log_x = log(x) + (a < 1 ? log(unit_above_zero<T>(w.w0, w.w1)) / a : (T)0);
  const T log_y = log(y) + (b < 1 ? log(unit_above_zero<T>(w.w2, w.w3)) / b : (T)0);
  return (T)1 / ((T)1 + exp(log_y - log_x));
}

}  // namespace iruka::random
