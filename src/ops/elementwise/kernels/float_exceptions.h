// Raises floating-point exceptions for functions of the vector library that do not raise them, so that
// python/iruka/_array/float_errors.py searches their results. Each function returns its argument, or a value with the
// same result.
#pragma once

namespace iruka::op {

#ifdef __CUDA_ARCH__
template <class T> inline T with_exceptions(T result) { return result; }
template <class T> inline T with_exceptions(T result, T) { return result; }
template <class T> inline T at_most(T x, float) { return x; }
#else
// Returns the result, and raises an exception where `scaled` is infinite or NaN: infinity times zero, and the
// processor's minimum with NaN, are invalid operations.
template <class F> inline F with_exceptions(F result, F scaled) {
  const F above = scaled * F(0) + F(INFINITY);
  return above < result ? above : result;  // never greater
}
template <class F> inline F with_exceptions(F result) { return with_exceptions(result, result); }
template <class F> inline complex<F> with_exceptions(complex<F> x) {
  return complex<F>(with_exceptions(x.real()), with_exceptions(x.imag()));
}
// For exponentials, whose vector versions raise an overflow only up to some argument: `limit` for float, eight times it
// for double.
template <class T> inline T at_most(T x, float) { return x; }
inline float at_most(float x, float limit) { return limit < x ? limit : x; }
inline double at_most(double x, float limit) { return 8 * limit < x ? 8 * limit : x; }
#endif

}  // namespace iruka::op
