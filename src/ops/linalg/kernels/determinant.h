// Determinants from LU factors: the products of the diagonals.
#pragma once

#include "ops/elementwise/kernels/absolute.h"

namespace iruka::linear_algebra {

/// Element k of matrix i's diagonal, negated where rows were exchanged.
template <class T, class Factors, class Pivots>
IRUKA_INLINE T signed_pivot(const Factors& lu, const Pivots& pivots, int64_t extent, int64_t i, int64_t k) {
  const T pivot = lu[(i * extent + k) * extent + k];
  return pivots[i * extent + k] != k + 1 ? -pivot : pivot;
}

template <class T, class Factors, class Pivots>
IRUKA_INLINE void find_determinant(const Factors& lu, const Pivots& pivots, int64_t extent, int64_t i, T& result) {
  T product = T(1);
  for (int64_t k = 0; k < extent; ++k) product = product * signed_pivot<T>(lu, pivots, extent, i, k);
  result = product;
}

/// The determinant is sign * exp(logarithm).
template <class T, class F, class Factors, class Pivots>
IRUKA_INLINE void find_sign_and_logarithm(const Factors& lu, const Pivots& pivots, int64_t extent, int64_t i, T& sign,
                                          F& logarithm) {
  T product = T(1);
  F sum = 0;
  for (int64_t k = 0; k < extent; ++k) {
    const T pivot = signed_pivot<T>(lu, pivots, extent, i, k);
    const F size = op::absolute(pivot);
    sum += log(size);
    product = size == 0 ? T(0) : product * (pivot / size);
  }
  sign = product;
  logarithm = sum;
}

}  // namespace iruka::linear_algebra
