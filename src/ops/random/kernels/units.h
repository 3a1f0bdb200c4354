// Uniform numbers, of which one block of words gives two (double) or four (float). Where a logarithm follows, float
// uses 31 bits: 24 bits would limit exponentials to 16.7. The logarithm is a polynomial of Moshier's Cephes library
// without the cases for arguments that do not occur. It is within 2 ulp and the same on every device.
#pragma once

#include "ops/random/kernels/philox.h"

namespace iruka::random {

/// A double in [0, 1) from 53 bits of two words.
static inline double unit_double(unsigned high, unsigned low) {
  return ((double)(int)(high >> 5) * 67108864.0 + (double)(int)(low >> 6)) * 0x1p-53;
}
/// A float in [0, 1) from 24 bits of a word.
static inline float unit_float(unsigned word) { return (float)(int)(word >> 8) * 0x1p-24f; }
/// In (0, 1], from one word (`high`) for a float and from two for a double.
template <class T> static inline T unit_above_zero(unsigned high, unsigned low) {
  if constexpr (sizeof(T) == 8)
    return unit_double(high, low) + 0x1p-53;
  else
    return (float)(int)(high >> 1) * 0x1p-31f + 0x1p-32f;
}

/// `half_open` is in [0, 1). `u` is in (0, 1] and exact near 0; `sign` is 1 or -1; these two are independent of one
/// another.
template <class T> struct Unit {
  T half_open, u, sign;
};
template <class T> static inline Unit<T> unit_of(unsigned high, unsigned low) {
  if constexpr (sizeof(T) == 8) {
    const double half_open = unit_double(high, low);
    return Unit<T>{half_open, half_open + 0x1p-53, low & 1u ? 1.0 : -1.0};
  } else {
    return Unit<T>{unit_float(high), unit_above_zero<float>(high, 0), high & 1u ? 1.0f : -1.0f};
  }
}
/// Calls take(place, unit) for the units of one block of words.
template <class T, class Take> IRUKA_INLINE void each_unit(PhiloxWords w, Take take) {
  if constexpr (sizeof(T) == 8) {
    take(0, unit_of<T>(w.w0, w.w1));
    take(1, unit_of<T>(w.w2, w.w3));
  } else {
    take(0, unit_of<T>(w.w0, 0));
    take(1, unit_of<T>(w.w1, 0));
    take(2, unit_of<T>(w.w2, 0));
    take(3, unit_of<T>(w.w3, 0));
  }
}
/// Unit number i of the stream.
template <class T> IRUKA_INLINE Unit<T> unit_at(unsigned long long seed, unsigned long long stream, long long i) {
  if constexpr (sizeof(T) == 8) {
    const PhiloxWords w = philox_block(seed, stream, i >> 1, 0);
    return i & 1 ? unit_of<T>(w.w2, w.w3) : unit_of<T>(w.w0, w.w1);
  } else {
    const PhiloxWords w = philox_block(seed, stream, i >> 2, 0);
    return unit_of<T>(i & 2 ? (i & 1 ? w.w3 : w.w2) : (i & 1 ? w.w1 : w.w0), 0);
  }
}

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

}  // namespace iruka::random
