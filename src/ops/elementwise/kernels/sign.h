#pragma once

namespace iruka::op {

template <class T> inline T sign(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x == T(0) ? T(0) : x; }
template <class F> inline complex<F> sign(complex<F> z) {
  const F larger = ::fmax(fabs(z.real()), fabs(z.imag()));
  // Scales z so that |z| neither overflows nor is subnormal; 18446744073709551616 is 2 ** 64.
  const F scale = larger > F(1) ? F(0.5) : larger < F(1e-19) ? F(18446744073709551616.0) : F(1);
  const F x = z.real() * scale, y = z.imag() * scale;
  const bool infinite = fabs(x) == F(INFINITY) || fabs(y) == F(INFINITY);
  const F length = infinite ? F(INFINITY) : hypot(x, y);
  if (length == 0) return complex<F>(0, 0);
  if (length != length) return complex<F>(length, length);
  if (length - length == 0) return complex<F>(x / length, y / length);
  const bool x_infinite = fabs(x) == F(INFINITY), y_infinite = fabs(y) == F(INFINITY);
  if (x_infinite && y_infinite) return complex<F>(F(NAN), F(NAN));
  return y_infinite ? complex<F>(0, copysign(F(1), y)) : complex<F>(copysign(F(1), x), 0);
}
/// The quotient of floats, 1 and -1; 0 for other integers. The division raises NumPy's exceptions.
template <class T> inline T reciprocal(T x) {
  if constexpr (T(0.5f) != T(0)) return T(1) / x;
  const float quotient = 1 / float(x);
  return quotient == 1 || quotient == -1 ? x : T(0);
}
template <class F> inline complex<F> reciprocal(complex<F> x) {
  if (fabs(x.imag()) <= fabs(x.real())) {
    const F ratio = x.imag() / x.real(), denominator = x.real() + x.imag() * ratio;
    return complex<F>(F(1) / denominator, -ratio / denominator);
  }
  const F ratio = x.real() / x.imag(), denominator = x.imag() + x.real() * ratio;
  return complex<F>(ratio / denominator, F(-1) / denominator);
}

}  // namespace iruka::op
