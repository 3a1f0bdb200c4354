// Integer powers by repeated squaring; they wrap.
#pragma once

namespace iruka::op {

template <class T, class N> inline T repeated_square(T base, N exponent) {
  T result = T(1);
  for (; exponent != 0; exponent = N(exponent >> 1)) {
    if (exponent & 1) result = T(result * base);
    base = T(base * base);
  }
  return result;
}
template <class T> inline T power(T base, T exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base != T(-1) ? T(0) : exponent & 1 ? T(-1) : T(1);
  return repeated_square(base, exponent);
}
inline float power(float base, float exponent) { return exponent == 1 ? base : pow(base, exponent); }
inline double power(double base, double exponent) { return exponent == 1 ? base : pow(base, exponent); }
template <class F> inline complex<F> power(complex<F> base, complex<F> exponent) { return pow(base, exponent); }

}  // namespace iruka::op
