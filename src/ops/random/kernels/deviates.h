// Deviates of which one block of words gives several: Unit (from one word or two) and NormalPair (Box and Muller).
// Where a logarithm follows, float uses 31 bits: 24 bits would limit exponentials to 16.7. The logarithm, sine and
// cosine are polynomials of Moshier's Cephes library without the cases for arguments that do not occur. They are within
// 2 ulp and the same on every device; the square root of float is the device's own (unit_root).
/// `half_open` is in [0, 1). `u` is in (0, 1] and exact near 0; `sign` is 1 or -1; these two are independent of one
/// another.
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

/// The natural logarithm of a result of unit_above_zero().
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
struct NormalPair {
  T first, second;
};
/// Box and Muller's transform. The angle is in a quarter circle, turned by pi/4; two bits give the signs.
static inline NormalPair normal_pair(unsigned a, unsigned b, unsigned c, unsigned d) {
  const T radius = unit_root(-log_unit(unit_above_zero(a, b))), angle = quarter_angle(c, d, T());
  const T sine = quarter_sine(angle), cosine = quarter_cosine(angle);
  return NormalPair{signed_by(c, radius * (cosine - sine)), signed_by(c << 1, radius * (cosine + sine))};
}
