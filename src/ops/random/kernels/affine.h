// Vectors of deviates, multiplied by a matrix and moved.
#pragma once

namespace iruka::random {

/// Element i of deviates @ rows + mean, whose rows have n elements.
template <class Deviates, class Rows, class Mean>
IRUKA_INLINE double affine(const Deviates& deviates, const Rows& rows, const Mean& mean, int64_t n, int64_t i) {
  const int64_t row = i / n, column = i - row * n;
  double sum = mean[column];
  for (int64_t k = 0; k < n; ++k) sum += deviates[row * n + k] * rows[{k, column}];
  return sum;
}

}  // namespace iruka::random
