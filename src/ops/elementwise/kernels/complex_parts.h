#pragma once

namespace iruka::op {

template <class T> inline T conjugate(T x) { return x; }
template <class F> inline complex<F> conjugate(complex<F> x) { return complex<F>(x.real(), -x.imag()); }
template <class T> inline T real(T x) { return x; }
template <class F> inline F real(complex<F> x) { return x.real(); }
template <class T> inline T imaginary(T) { return T(0); }
template <class F> inline F imaginary(complex<F> x) { return x.imag(); }
template <class T> inline T angle(T x) { return atan2(T(0), x); }
template <class F> inline F angle(complex<F> x) { return atan2(x.imag(), x.real()); }

}  // namespace iruka::op
