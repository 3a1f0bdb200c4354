#pragma once

namespace iruka::op {

template <class A> inline bool is_less(A a, A b) { return a < b; }
template <class A> inline bool is_less_equal(A a, A b) { return a <= b; }
template <class A> inline bool is_equal(A a, A b) { return a == b; }
inline bool is_less(int64_t a, uint64_t b) { return a < 0 || (uint64_t)a < b; }
inline bool is_less(uint64_t a, int64_t b) { return b > 0 && a < (uint64_t)b; }
inline bool is_less_equal(int64_t a, uint64_t b) { return a < 0 || (uint64_t)a <= b; }
inline bool is_less_equal(uint64_t a, int64_t b) { return b >= 0 && a <= (uint64_t)b; }
inline bool is_equal(int64_t a, uint64_t b) { return a >= 0 && (uint64_t)a == b; }
inline bool is_equal(uint64_t a, int64_t b) { return is_equal(b, a); }
template <class F> inline bool is_ordered(complex<F> a, complex<F> b) {
  return a.imag() == a.imag() && b.imag() == b.imag();
}
template <class F> inline bool is_less(complex<F> a, complex<F> b) {
  return (a.real() < b.real() && is_ordered(a, b)) || (a.real() == b.real() && a.imag() < b.imag());
}
template <class F> inline bool is_less_equal(complex<F> a, complex<F> b) {
  return (a.real() < b.real() && is_ordered(a, b)) || (a.real() == b.real() && a.imag() <= b.imag());
}
template <class F> inline bool is_equal(complex<F> a, complex<F> b) {
  return a.real() == b.real() && a.imag() == b.imag();
}

}  // namespace iruka::op
