#pragma once

namespace iruka::op {

template <class T> inline T floor(T x) { return x; }
template <class T> inline T ceil(T x) { return x; }
template <class T> inline T trunc(T x) { return x; }
inline float floor(float x) { return ::floor(x); }
inline float ceil(float x) { return ::ceil(x); }
inline float trunc(float x) { return ::trunc(x); }
inline double floor(double x) { return ::floor(x); }
inline double ceil(double x) { return ::ceil(x); }
inline double trunc(double x) { return ::trunc(x); }
inline float rint(float x) { return ::rint(x); }
inline double rint(double x) { return ::rint(x); }
template <class F> inline complex<F> rint(complex<F> x) { return complex<F>(::rint(x.real()), ::rint(x.imag())); }

}  // namespace iruka::op
