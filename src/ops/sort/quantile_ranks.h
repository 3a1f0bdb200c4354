// Where quantiles stand among sorted elements.
#pragma once

#include <vector>

#include "iruka/quantiles.h"

namespace iruka::ops {

/// Shares of elements, as the caller gave them.
struct Shares {
  std::vector<double> values;
  Dtype dtype = Dtype::float64;  ///< in which positions are computed
  bool is_weak = false;          ///< a number, which leaves the dtype of the elements as it is
  Dims shape;
};

/// For each share: the ranks below and above, and the upper one's weight.
struct Neighbours {
  std::vector<int64_t> lower, upper;
  std::vector<double> weight;
  bool is_discrete = false;  ///< lower alone counts
};

/// For each share, then each of `counts`, the number of elements. Positions are rounded to the shares' dtype after each
/// operation, to float64 where counts are `many`.
Neighbours neighbours(const std::vector<int64_t>& counts, bool many, const Shares& shares, QuantileMethod method);

}  // namespace iruka::ops
