// The order of sorted arrays: NaN comes last. Complex numbers are ordered by which parts are NaN, then by real part,
// then by imaginary part.
#pragma once

namespace iruka::order {

template <class T> inline bool before(T a, T b) { return (a < b) | ((b != b) & (a == a)); }
template <class F> inline bool before(complex<F> a, complex<F> b) {
  const bool a_whole = a.imag() == a.imag(), b_whole = b.imag() == b.imag();
  if (a.real() < b.real()) return a_whole || !b_whole;
  if (a.real() > b.real()) return a_whole && !b_whole;
  if (a.real() == b.real() || (a.real() != a.real() && b.real() != b.real())) return before(a.imag(), b.imag());
  return b.real() != b.real();
}

}  // namespace iruka::order
