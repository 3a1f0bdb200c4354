// NumPy's scalars and Python's numbers in one function: variables of several types, and what raises exceptions.
#pragma once

#include "jit/kernels/python.h"

namespace iruka::python {

/// A number of one of up to four types; `kind` tells which of the fields holds it.
template <class A, class B, class C = bool, class D = bool> struct OneOf {
  int kind;
  A v0;
  B v1;
  C v2;
  D v3;
};

// What a function cannot do in a kernel for this slice: raise an exception, or compute with integers of many digits.
constexpr int64_t kRaises = 1, kIsLong = 2;
inline void fail_if(int64_t& failed, bool fails, int64_t reason = kRaises) {
  failed = fails && !failed ? reason : failed;
}
template <class T> inline T failing(int64_t& failed) {
  fail_if(failed, true);
  return T{};
}

// Python's integers.
inline int64_t added(int64_t& failed, int64_t a, int64_t b) {
  const int64_t sum = wrapping_add(a, b);
  fail_if(failed, ((a ^ sum) & (b ^ sum)) < 0, kIsLong);
  return sum;
}
inline int64_t subtracted(int64_t& failed, int64_t a, int64_t b) {
  const int64_t difference = wrapping_subtract(a, b);
  fail_if(failed, ((a ^ b) & (a ^ difference)) < 0, kIsLong);
  return difference;
}
constexpr double kLongest = 9.2e18;  // a little below 2^63
inline int64_t multiplied(int64_t& failed, int64_t a, int64_t b) {
  fail_if(failed, fabs((double)a * (double)b) > kLongest, kIsLong);
  return wrapping_multiply(a, b);
}
inline int64_t negated(int64_t& failed, int64_t x) { return subtracted(failed, 0, x); }
inline int64_t magnitude(int64_t& failed, int64_t x) { return x < 0 ? negated(failed, x) : x; }
/// A negative exponent gives a float in Python.
inline int64_t raised(int64_t& failed, int64_t a, int64_t b) {
  fail_if(failed, b < 0 || pow(fabs((double)a), (double)b) > kLongest, kIsLong);
  return power(a, b);
}
inline int64_t shifted_left(int64_t& failed, int64_t a, int64_t b) {
  fail_if(failed, b < 0);
  fail_if(failed, a != 0 && (b > 62 || right_shift(left_shift(a, b), b) != a), kIsLong);
  return left_shift(a, b);
}
inline int64_t shifted_right(int64_t& failed, int64_t a, int64_t b) {
  fail_if(failed, b < 0);
  return right_shift(a, b);
}
template <class T> inline T divisor(int64_t& failed, T x) {
  fail_if(failed, x == T(0));
  return x;
}
inline int64_t floor_divided(int64_t& failed, int64_t a, int64_t b) {
  fail_if(failed, b == -1 && a == lowest<int64_t>(), kIsLong);
  return floor_divide(a, divisor(failed, b));
}
inline double floor_divided(int64_t& failed, double a, double b) { return floor_divide(a, divisor(failed, b)); }

/// Integers, which Python rounds only once where they have more digits than a float.
inline double quotient(int64_t& failed, int64_t a, int64_t b) {
  constexpr int64_t kMost = 1ll << 53;
  fail_if(failed, b == 0);
  fail_if(failed, a < -kMost || a > kMost || b < -kMost || b > kMost, kIsLong);
  return (double)a / (double)b;
}

/// The order of an integer and a float by their values: below 0, 0 or above it, and NaN for NaN.
inline double order(int64_t a, double b) {
  const double rounded = (double)a;
  if (rounded != b) return rounded < b ? -1.0 : rounded > b ? 1.0 : NAN;
  return b < 0x1p63 ? (double)(a - (int64_t)b) : -1.0;
}
inline bool is_equal(int64_t a, complex<double> b) { return order(a, b.real()) == 0 && b.imag() == 0; }

// Conversions that raise an exception where the number has no place in the type.
template <class T> inline T fitting(int64_t& failed, int64_t x) {
  const T result = (T)x;
  fail_if(failed, (int64_t)result != x || (result < T(0)) != (x < 0));
  return result;
}
inline int64_t truncated(int64_t& failed, double x) {
  fail_if(failed, !(fabs(x) <= INFINITY));
  fail_if(failed, !(x >= -9223372036854775808.0 && x < 9223372036854775808.0), kIsLong);
  return (int64_t)x;
}
inline int64_t whole_of(int64_t& failed, uint64_t x) {
  fail_if(failed, x >> 63 != 0, kIsLong);
  return (int64_t)x;
}

/// The result of a function of Python's floats, which raises an exception where it has no value or a pole.
template <class... Floats> inline double defined(int64_t& failed, double result, Floats... given) {
  fail_if(failed, !isfinite(result) && (isfinite(given) && ...));
  fail_if(failed, isnan(result) && !(isnan(given) || ...));
  return result;
}
inline double raised(int64_t& failed, double a, double b) { return defined(failed, pow(a, b), a, b); }

/// NumPy's order of complex numbers: by the real parts, then by the imaginary ones; NaN is before nothing.
template <class T> inline bool before(complex<T> a, complex<T> b) {
  return (a.real() < b.real() && !isnan(a.imag()) && !isnan(b.imag())) || (a.real() == b.real() && a.imag() < b.imag());
}
template <class T> inline bool not_behind(complex<T> a, complex<T> b) {
  return before(a, b) || (a.real() == b.real() && a.imag() == b.imag());
}

/// NumPy's integers have no negative powers.
template <class T> inline T power_of(int64_t& failed, T a, T b) {
  fail_if(failed, b < T(0));
  return power(a, b);
}

}  // namespace iruka::python
