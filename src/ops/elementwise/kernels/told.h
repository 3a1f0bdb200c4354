// What makes functions raise exceptions that do not by themselves, so that whoever launched learns of results to look
// at (python/iruka/_array/float_errors.py): each returns what it is given, or what gives the same result.
#pragma once

namespace iruka::op {

#ifdef __CUDA_ARCH__
template <class T> inline T told(T result) { return result; }
template <class T> inline T told(T result, T) { return result; }
template <class T> inline T bounded(T x, float) { return x; }
#else
// The result itself, told of where `scaled` is infinite or NaN: infinity times zero and the processor's minimum with
// NaN are invalid operations.
template <class F> inline F told(F result, F scaled) {
  const F above = scaled * F(0) + F(INFINITY);
  return above < result ? above : result;  // never above
}
template <class F> inline F told(F result) { return told(result, result); }
template <class F> inline complex<F> told(complex<F> x) { return complex<F>(told(x.real()), told(x.imag())); }
// For exponentials, which overflow by computing up to some limit alone: that of float, and eight times it of double.
template <class T> inline T bounded(T x, float) { return x; }
inline float bounded(float x, float limit) { return limit < x ? limit : x; }
inline double bounded(double x, float limit) { return 8 * limit < x ? 8 * limit : x; }
#endif

}  // namespace iruka::op
