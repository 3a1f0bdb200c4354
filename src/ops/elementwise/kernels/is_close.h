#pragma once

#include "ops/elementwise/kernels/classify.h"

namespace iruka::op {

template <class F> inline F distance(F a, F b) { return fabs(a - b); }
template <class F> inline F distance(complex<F> a, complex<F> b) {
  return hypot(a.real() - b.real(), a.imag() - b.imag());
}
template <class F> inline F length(F a) { return fabs(a); }
template <class F> inline F length(complex<F> a) { return hypot(a.real(), a.imag()); }
template <class T, class F> inline bool is_close(T a, T b, F relative, F absolute, bool equal_nan) {
  return (is_finite(b) && distance(a, b) <= absolute + relative * length(b)) || a == b ||
         (equal_nan && is_nan(a) && is_nan(b));
}

}  // namespace iruka::op
