#pragma once

namespace iruka::op {

template <class T> inline T absolute(T x) { return x < T(0) ? iruka::wrapping_negate(x) : x; }
inline bool absolute(bool x) { return x; }
inline float absolute(float x) { return fabs(x); }
inline double absolute(double x) { return fabs(x); }
template <class F> inline F absolute(complex<F> x) { return hypot(x.real(), x.imag()); }

}  // namespace iruka::op
