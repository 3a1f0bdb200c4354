// Python's division: floats follow NumPy's npy_divmod. Integers round down; x / 0 is 0, and the smallest integer
// divided by -1 wraps.
#pragma once

namespace iruka::op {

#ifdef __CUDA_ARCH__
// CUDA does not define division by zero, nor of the smallest integer by -1.
template <class T> inline constexpr bool is_signed = T(-1) < T(0);
template <class T> inline T floor_divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (is_signed<T>) {
    if (b == T(-1)) return iruka::wrapping_negate(a);
    return T(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));
  }
  return T(a / b);
}
template <class T> inline T truncated_remainder(T a, T b) {
  if (b == 0 || (is_signed<T> && b == T(-1))) return 0;
  return T(a % b);
}
template <class T> inline T remainder(T a, T b) {
  const T r = truncated_remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
}
#else
// Returns 0 and raises the floating-point exception that reports an integer division by zero: a / 0 is infinity, whose
// last bit is 0. The call of sqrt lets vector code skip this side where no lane needs it.
template <class T> inline T by_zero(T a, T zero) {
  return T(__float_as_int(sqrt(fabs(float(a) + 0.5f)) / float(zero)) & 1);
}
template <class T> inline T floor_divide(T a, T b) {
  if (b == 0) return by_zero(a, b);
  const T quotient = T(a / b), rest = T(a - quotient * b);
  return T(quotient - ((rest != 0) & ((rest < 0) != (b < 0))));
}
template <class T> inline T truncated_remainder(T a, T b) { return b == 0 ? by_zero(a, b) : T(a % b); }
template <class T> inline T remainder(T a, T b) {
  const T rest = T(a % b), moved = (rest != 0) & ((rest < 0) != (b < 0)) ? T(rest + b) : rest;
  return b == 0 ? by_zero(a, b) : moved;
}
#endif
template <class T> inline T float_floor_divide(T a, T b) {
  if (b == 0) return a / b;
  const T mod = fmod(a, b);
  T div = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) div -= T(1);
  if (div == 0) return copysign(T(0), a / b);
  const T whole = ::floor(div);
  return div - whole > T(0.5) ? whole + T(1) : whole;
}
template <class T> inline T float_remainder(T a, T b) {
  const T mod = fmod(a, b);
  if (b == 0) return mod;
  if (mod == 0) return copysign(T(0), b);
  return (b < 0) != (mod < 0) ? mod + b : mod;
}
inline float floor_divide(float a, float b) { return float_floor_divide(a, b); }
inline double floor_divide(double a, double b) { return float_floor_divide(a, b); }
inline float remainder(float a, float b) { return float_remainder(a, b); }
inline double remainder(double a, double b) { return float_remainder(a, b); }
inline float truncated_remainder(float a, float b) { return fmod(a, b); }
inline double truncated_remainder(double a, double b) { return fmod(a, b); }

}  // namespace iruka::op
