// Comparisons as in NumPy's clip: of complex numbers a NaN imaginary part counts only where the real parts are equal.
#pragma once

#include "ops/elementwise/kernels/classify.h"

namespace iruka::op {

template <class T> inline bool is_below(T a, T b) { return a < b; }
template <class F> inline bool is_below(complex<F> a, complex<F> b) {
  return a.real() == b.real() ? a.imag() < b.imag() : a.real() < b.real();
}
template <class T> inline T clip(T x, T low, T high) {
  const T raised = is_nan(x) || is_below(low, x) ? x : low;
  return is_nan(raised) || is_below(raised, high) ? raised : high;
}

}  // namespace iruka::op
