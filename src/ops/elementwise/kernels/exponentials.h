// Complex expm1 and log1p by NumPy's formulas.
#pragma once

namespace iruka::op {

inline float exp2(float x) { return ::exp2(x); }
inline double exp2(double x) { return ::exp2(x); }
inline float expm1(float x) { return ::expm1(x); }
inline double expm1(double x) { return ::expm1(x); }
inline float log2(float x) { return ::log2(x); }
inline double log2(double x) { return ::log2(x); }
inline float log10(float x) { return ::log10(x); }
inline double log10(double x) { return ::log10(x); }
inline float log1p(float x) { return ::log1p(x); }
inline double log1p(double x) { return ::log1p(x); }
template <class F> inline complex<F> times(complex<F> x, F factor) {
  return complex<F>(x.real() * factor, x.imag() * factor);
}
template <class F> inline complex<F> exp2(complex<F> x) { return exp(times(x, F(0.6931471805599453))); }
template <class F> inline complex<F> log2(complex<F> x) { return times(log(x), F(1.4426950408889634)); }
template <class F> inline complex<F> log10(complex<F> x) { return times(log(x), F(0.4342944819032518)); }
template <class F> inline complex<F> expm1(complex<F> x) {
  const F half_sine = sin(x.imag() / F(2));
  return complex<F>(::expm1(x.real()) * cos(x.imag()) - F(2) * half_sine * half_sine, exp(x.real()) * sin(x.imag()));
}
template <class F> inline complex<F> log1p(complex<F> x) {
  return complex<F>(log(hypot(x.real() + F(1), x.imag())), atan2(x.imag(), x.real() + F(1)));
}
/// NaN, with the floating-point exception that reports an invalid operand: a root of -1. Branches that the compiler
/// computes for all elements raise none of a number.
template <class F> inline F invalid_nan(F nan) { return sqrt(fmax(fabs(nan), F(-1))); }
template <class F> inline F logaddexp(F x, F y) {
  if (x == y) return x + F(0.6931471805599453);
  const F difference = x - y;
  if (difference > 0) return x + ::log1p(exp(-difference));
  return difference <= 0 ? y + ::log1p(exp(difference)) : invalid_nan(difference);
}
template <class F> inline F logaddexp2(F x, F y) {
  if (x == y) return x + F(1);
  const F difference = x - y;
  if (difference > 0) return x + F(1.4426950408889634) * ::log1p(::exp2(-difference));
  return difference <= 0 ? y + F(1.4426950408889634) * ::log1p(::exp2(difference)) : invalid_nan(difference);
}

}  // namespace iruka::op
