// Scans, variance, order statistics, histograms and searches.
#pragma once

#include <optional>
#include <span>

#include "iruka/array.h"
#include "iruka/ops.h"

namespace iruka {

/// What a scan combines elements by.
enum class ScanOperation : uint8_t { add, multiply, minimum, maximum };

/// How a scan is to run.
struct ScanOptions {
  /// Of the result; by default NumPy's: 64 bits for smaller integers in sums and products.
  std::optional<Dtype> dtype{};
  bool skips_nan = false;         ///< NaN counts as the operation's identity
  bool includes_initial = false;  ///< the result begins with the identity and is one element longer
};

/// Every prefix of `axis` combined: cumsum, cumprod, minimum.accumulate, maximum.accumulate. float32 is carried in
/// float64. The order of additions depends only on shape and layout, so that results do not change from run to run.
/// CUDA: one pass, after Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016).
/// Raises AxisError; ValueError for the initial value of minimum and maximum, which have none.
IRUKA_API Array scan(const Array& x, ScanOperation operation, int64_t axis, const ScanOptions& options = {});

/// Which elements take part in a reduction, and what it starts from.
struct ReductionOptions {
  std::optional<Dims> axes{};  ///< all of them by default
  bool keepdims = false;
  std::optional<Dtype> dtype{};
  std::optional<Scalar> initial{};  ///< combined with each result
  const Array* where = nullptr;     ///< bool, broadcast against x: the elements that count
};

/// A reduction with NumPy's `initial` and `where`. Raises ValueError where min, max, argmin... need an initial value.
IRUKA_API Array reduce(const ReductionFunction& function, const Array& x, const ReductionOptions& options);

/// Mean of squared distances from the mean: sum |x - mean|^2 / (n - correction), in one pass over memory (pairs of
/// mean and sum of squares joined as in Chan, Golub and LeVeque, 1979). `root`: its square root.
IRUKA_API Array variance(const Array& x, const std::optional<Dims>& axes, bool keepdims, double correction, bool root);

}  // namespace iruka
