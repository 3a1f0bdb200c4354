// The positions of quantiles among sorted elements.
#pragma once

#include <vector>

#include "iruka/quantiles.h"

namespace iruka::ops {

/// The requested quantiles as shares from 0 to 1.
struct Shares {
  std::vector<double> values;
  Dtype dtype = Dtype::float64;  ///< in which positions are computed
  bool is_weak = false;          ///< a Python number, which does not change the elements' dtype
  Dims shape;
};

/// For each share: the ranks below and above, and the upper one's weight.
struct Neighbours {
  std::vector<int64_t> lower, upper;
  std::vector<double> weight;
  bool is_discrete = false;  ///< lower alone counts
};

/// For each share, then each of `counts`, the number of elements. Positions are rounded to the shares' dtype after each
/// operation.
Neighbours neighbours(const std::vector<int64_t>& counts, const Shares& shares, QuantileMethod method);

}  // namespace iruka::ops
