#pragma once

namespace iruka::op {

template <class T> inline bool is_nan(T x) { return x != x; }
template <class T> inline bool is_finite(T x) { return x - x == T(0); }
inline bool is_finite(bool) { return true; }
template <class T> inline bool is_inf(T x) { return !is_nan(x) && !is_finite(x); }
template <class F> inline bool is_nan(complex<F> x) { return is_nan(x.real()) || is_nan(x.imag()); }
template <class F> inline bool is_finite(complex<F> x) { return is_finite(x.real()) && is_finite(x.imag()); }
template <class F> inline bool is_inf(complex<F> x) { return is_inf(x.real()) || is_inf(x.imag()); }

}  // namespace iruka::op
