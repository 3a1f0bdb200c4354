// Normals, by Box and Muller. Sine and cosine are polynomials of Moshier's Cephes library, like log_unit(); the square
// root of float is the device's own.
#pragma once

#include "ops/random/kernels/units.h"

namespace iruka::random {

/// Sine and cosine on [-pi/4, pi/4].
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
/// An angle in [-pi/4, pi/4) from the low 30 bits of `high` and, for a double, from `low`.
static inline float quarter_angle(unsigned high, unsigned, float) { return (float)(int)(high << 2) * 3.6572952e-10f; }
static inline double quarter_angle(unsigned high, unsigned low, double) {
  return ((double)(int)(high << 2) + (double)(int)(low >> 1) * 0x1p-29) * 3.657295198167899e-10;
}
/// `x` with its sign flipped where the highest bit of `word` is set.
static inline float signed_by(unsigned word, float x) {
  return __int_as_float(__float_as_int(x) ^ (int)(word & 0x80000000u));
}
static inline double signed_by(unsigned word, double x) {
  return __longlong_as_double(__double_as_longlong(x) ^ (long long)((unsigned long long)(word & 0x80000000u) << 32));
}
/// A GPU uses its approximate square root, within 1 ulp, because the correctly rounded one takes ten instructions.
static inline double unit_root(double x) { return sqrt(x); }
static inline float unit_root(float x) {
#ifdef __CUDA_ARCH__
  asm("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return sqrt(x);
#endif
}
template <class T> struct NormalPair {
  T first, second;
};
/// Box and Muller's transform. The angle is in a quarter circle, turned by pi/4; two bits give the signs.
template <class T> static inline NormalPair<T> normal_pair(unsigned a, unsigned b, unsigned c, unsigned d) {
  const T radius = unit_root(-log_unit(unit_above_zero<T>(a, b))), angle = quarter_angle(c, d, T());
  const T sine = quarter_sine(angle), cosine = quarter_cosine(angle);
  return NormalPair<T>{signed_by(c, radius * (cosine - sine)), signed_by(c << 1, radius * (cosine + sine))};
}
/// Calls take(place, normal) for the normals of one block of words.
template <class T, class Take> IRUKA_INLINE void each_normal(PhiloxWords w, Take take) {
  if constexpr (sizeof(T) == 8) {
    const NormalPair<T> p = normal_pair<T>(w.w0, w.w1, w.w2, w.w3);
    take(0, p.first);
    take(1, p.second);
  } else {
    const NormalPair<T> p = normal_pair<T>(w.w0, 0, w.w1, 0), q = normal_pair<T>(w.w2, 0, w.w3, 0);
    take(0, p.first);
    take(1, p.second);
    take(2, q.first);
    take(3, q.second);
  }
}
/// Normal number i of the stream.
template <class T> IRUKA_INLINE T normal_at(unsigned long long seed, unsigned long long stream, long long i) {
  NormalPair<T> p;
  if constexpr (sizeof(T) == 8) {
    const PhiloxWords w = philox_block(seed, stream, i >> 1, 0);
    p = normal_pair<T>(w.w0, w.w1, w.w2, w.w3);
  } else {
    const PhiloxWords w = philox_block(seed, stream, i >> 2, 0);
    p = i & 2 ? normal_pair<T>(w.w2, 0, w.w3, 0) : normal_pair<T>(w.w0, 0, w.w1, 0);
  }
  return i & 1 ? p.second : p.first;
}

}  // namespace iruka::random
