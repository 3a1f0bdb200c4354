// Complex numbers are ordered by real, then imaginary part. If a part is NaN, the number counts as NaN.
#pragma once

#include "ops/elementwise/kernels/classify.h"

namespace iruka::op {

template <class T> inline bool not_less(T a, T b) { return a >= b; }
template <class F> inline bool not_less(complex<F> a, complex<F> b) {
  if (is_nan(a) || is_nan(b)) return false;
  return a.real() > b.real() || (a.real() == b.real() && a.imag() >= b.imag());
}
template <class T> inline T maximum(T a, T b) { return not_less(a, b) || is_nan(a) ? a : b; }
template <class T> inline T minimum(T a, T b) { return not_less(b, a) || is_nan(a) ? a : b; }
template <class T> inline T fmax(T a, T b) { return not_less(a, b) || is_nan(b) ? a : b; }
template <class T> inline T fmin(T a, T b) { return not_less(b, a) || is_nan(b) ? a : b; }

}  // namespace iruka::op
